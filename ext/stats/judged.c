/*
** The accuracy theta = q u + (1-q) v, where a judge calls a share q of the answers right,
** of which a share u is right, and of the others a share v.  q is known from every verdict and
** has a uniform prior; u and v, from the labelled answers, have Jeffreys' Beta(1/2, 1/2); each is
** a Beta.  With a uniform prior of u and v, whose imagined error is as much as fifty labels say
** of a model that is nearly always right, 95% intervals covered 74% at accuracy .99; now 90%.
**
** 1. P(theta <= x) is an integral over q of P(q u + (1-q) v <= x), which is one along the line of
**    the (u, v) with q u + (1-q) v = x: of the density of that variable whose part of theta is the
**    narrower, times the distribution function of the other.
** 2. That line ends on the sides of the unit square, on others as q passes x and 1-x: the integral
**    over q is parted there, and where q, or u and v, have their most likely values.
** 3. The variable of the inner integral is the angle whose squared sine is u or 1-u: there
**    Jeffreys' density and its distribution function are analytic.  The latter is a Chebyshev
**    series in its own angle.
** 4. Where a line ends inside, the other angle begins like a square root; and as q passes x the
**    inner integral has a logarithm of q-x.  So each integral has a further variable s, of which
**    3 s^2 - 2 s^3 is the share of its range.
** 5. Bounds: the search of agreement.c.
*/
#include "judged.h"

#include <assert.h>
#include <math.h>

#include <gsl/gsl_integration.h>
#include <gsl/gsl_math.h>

#include "agreement.h"
#include "beta.h"
#include "chebyshev.h"
#include "marginal.h"

/* The integral over q: the relative error that is allowed, by the Gauss-Kronrod rule's estimate,
** which is many times the true one; how often a part of it may be halved; and for how many lines in
** all. */
static const double QUICK_SHARE = 0.1, FINE_SHARE = 1e-6;
enum { MOST_PARTS = 16, SHARE_HALVINGS = 12, JUDGED_LINES = 400000 };

/* Panels of the inner integral: sixteen nodes on each, 5.7 standard deviations at the most. */
enum { LINE_PANELS = 3 };

/* Of the distribution function in its angle, over 8 standard deviations to either side: 1e-14. */
enum { TABLE_DEGREE = 64 };

/* A share of right answers by its angle, where its density is not negligible. */
typedef struct share_angle {
  ev_beta beta;
  bool mirrored; /* the squared sine is 1 less the share */
  double from, to, sd;
  double series[TABLE_DEGREE + 1]; /* P(angle <= x) */
} share_angle;

typedef struct judge {
  ev_beta q;
  share_angle u, v;
  double q_from, q_to; /* where q's density is not negligible */
  ev_point x;          /* theta */
  double z;            /* its logit */
  double origin;       /* logits of q are measured from this: z or -z */
  double middle, spread;
  ev_point u_ends[2], v_ends[2]; /* of the line */
  double from, to;               /* the part of q that is integrated over */
  bool upper;                    /* the tail is P(theta > x) */
  ev_host host;
  long lines; /* integrated along so far */
  bool interrupted;
} judge;

/* Step 4: the share of a range, and its derivative. */
static double part_share(double s) {
  return s * s * (3 - 2 * s);
}

static double part_slope(double s) {
  return 6 * s * (1 - s);
}

static double standard_deviation(const ev_beta *d) {
  return sqrt(d->mean * d->comean / (d->a + d->b + 1));
}

static double logit(double x) {
  return log(x) - log1p(-x);
}

/*
** Shares by their angles
*/
static double angle_of(const share_angle *a, ev_point x) {
  return a->mirrored ? atan2(sqrt(x.y), sqrt(x.x)) : atan2(sqrt(x.x), sqrt(x.y));
}

static ev_point share_at(const share_angle *a, double angle) {
  double sine = sin(angle), cosine = cos(angle);
  ev_point x = {sine * sine, cosine * cosine};
  return a->mirrored ? (ev_point){x.y, x.x} : x;
}

static double angle_density(const share_angle *a, double angle) {
  ev_point x = share_at(a, angle);
  return 2 * exp(ev_beta_ln_logit_density(&a->beta, x)) / sqrt(x.x * x.y);
}

static void make_angle(share_angle *a, double right, double wrong, double ln_drop) {
  double values[TABLE_DEGREE + 1];
  a->beta = ev_beta_make(0.5 + right, 0.5 + wrong);
  a->mirrored = right > wrong;
  a->sd = standard_deviation(&a->beta);
  double low = angle_of(a, ev_at_logit(ev_beta_negligible_beyond(&a->beta, -1, ln_drop)));
  double high = angle_of(a, ev_at_logit(ev_beta_negligible_beyond(&a->beta, 1, ln_drop)));
  a->from = fmin(low, high);
  a->to = fmax(low, high);
  for (int i = 0; i <= TABLE_DEGREE; i++) {
    double at = (a->from + a->to + (a->to - a->from) * ev_chebyshev_extremum(i, TABLE_DEGREE)) / 2;
    ev_point p = ev_beta_cdf(&a->beta, share_at(a, at));
    values[i] = a->mirrored ? p.y : p.x;
  }
  ev_chebyshev_from_extrema(TABLE_DEGREE, values, a->series);
}

/* P(share <= x) and P(share > x). */
static ev_point table_cdf(const share_angle *a, ev_point x) {
  double at = angle_of(a, x), p = at <= a->from ? 0 : 1;
  if (at > a->from && at < a->to)
    p = ev_chebyshev_at(a->series, TABLE_DEGREE, (2 * at - a->from - a->to) / (a->to - a->from));
  return a->mirrored ? (ev_point){1 - p, p} : (ev_point){p, 1 - p};
}

/*
** Along a line
*/
static ev_point between(const ev_point *ends, ev_point share) {
  return (ev_point){ends[0].x * share.y + ends[1].x * share.x,
                    ends[0].y * share.y + ends[1].y * share.x};
}

/* The line of the pairs (u, v) that give theta at q, from its end at small v and large u;
** the logit of q is `away` from the origin.  With many labels of which hardly any is wrong, q
** nearly equals x or 1-x, and only the difference of the logits keeps the distance's digits. */
static void set_line(judge *j, ev_point q, double away) {
  ev_point x = j->x;
  double q_less_x = -q.x * x.y * expm1(-(away + (j->origin - j->z)));
  double co_less_x = -q.y * x.y * expm1(away + (j->origin + j->z)); /* 1 - q - x */
  if (q_less_x >= 0) {                                              /* begins at v = 0 */
    j->v_ends[0] = (ev_point){0, 1};
    j->u_ends[0] = (ev_point){x.x / q.x, q_less_x / q.x};
  } else { /* at u = 1 */
    j->u_ends[0] = (ev_point){1, 0};
    j->v_ends[0] = (ev_point){-q_less_x / q.y, x.y / q.y};
  }
  if (co_less_x >= 0) { /* ends at u = 0 */
    j->u_ends[1] = (ev_point){0, 1};
    j->v_ends[1] = (ev_point){x.x / q.y, co_less_x / q.y};
  } else { /* at v = 1 */
    j->v_ends[1] = (ev_point){1, 0};
    j->u_ends[1] = (ev_point){-co_less_x / q.x, x.y / q.x};
  }
}

/* The line's ends in the angle of one variable, and what is left of it where its density is not
** negligible. */
typedef struct line_range {
  double low, high, from, to;
  bool turned; /* the line's first end is `high` */
} line_range;

static line_range range_on_line(const share_angle *of, const ev_point *ends) {
  double first = angle_of(of, ends[0]), last = angle_of(of, ends[1]);
  line_range r = {fmin(first, last), fmax(first, last), 0, 0, first > last};
  r.from = fmax(r.low, of->from);
  r.to = fmin(r.high, of->to);
  return r;
}

/* The position on the line at s of the range; sin^2 a - sin^2 b = sin(a-b) sin(a+b). */
static ev_point line_position(const line_range *r, double s, double *angle) {
  double width = r->to - r->from, below = width * part_share(s), above = width * part_share(1 - s);
  *angle = s < 0.5 ? r->from + below : r->to - above;
  double all = sin(r->high - r->low) * sin(r->high + r->low);
  double share = sin(r->from - r->low + below) * sin(*angle + r->low) / all;
  double rest = sin(r->high - r->to + above) * sin(*angle + r->high) / all;
  return r->turned ? (ev_point){rest, share} : (ev_point){share, rest};
}

/* The integral of the density of `of` times the tail of the other. */
static double along_line(const judge *j, const share_angle *of, const ev_point *ends,
                         const share_angle *other, const ev_point *other_ends) {
  line_range r = range_on_line(of, ends);
  double sum = 0;
  if (!(r.from < r.to)) return 0;
  for (int panel = 0; panel < LINE_PANELS; panel++)
    for (int i = 0; i < EV_NODES; i++) {
      double s = (panel + (1 + ev_node(i)) / 2) / LINE_PANELS, angle;
      ev_point share = line_position(&r, s, &angle);
      ev_point tail = table_cdf(other, between(other_ends, share));
      sum += ev_weight(i) * part_slope(s) * angle_density(of, angle) * (j->upper ? tail.y : tail.x);
    }
  return sum * (r.to - r.from) / (2 * LINE_PANELS);
}

/* Step 1: P(q u + (1-q) v <= x), or > x, at the q whose logit is `away` from the origin. */
static double tail_given(judge *j, ev_point q, double away) {
  set_line(j, q, away);
  if (++j->lines > JUDGED_LINES) return NAN;
  if (q.x * j->u.sd < q.y * j->v.sd) { /* beyond the line's ends every v counts */
    ev_point sure = j->upper ? table_cdf(&j->u, j->u_ends[0]) : table_cdf(&j->u, j->u_ends[1]);
    return (j->upper ? sure.y : sure.x) + along_line(j, &j->u, j->u_ends, &j->v, j->v_ends);
  }
  ev_point sure = j->upper ? table_cdf(&j->v, j->v_ends[1]) : table_cdf(&j->v, j->v_ends[0]);
  return (j->upper ? sure.y : sure.x) + along_line(j, &j->v, j->v_ends, &j->u, j->u_ends);
}

/*
** Over q
*/
static double at_part_of_q(double s, void *context) {
  judge *j = context;
  double width = j->to - j->from;
  double away = s < 0.5 ? j->from + width * part_share(s) : j->to - width * part_share(1 - s);
  ev_point q = ev_at_logit(j->origin + away);
  return width * part_slope(s) * exp(ev_beta_ln_logit_density(&j->q, q)) * tail_given(j, q, away);
}

/* Inserts x into the sorted points, unless it is NaN, outside [from, to] or there already. */
static void insert(double *points, size_t *count, double x, double from, double to) {
  size_t at = *count;
  if (!(x >= from && x <= to)) return;
  while (at > 0 && points[at - 1] > x) at--;
  if (at > 0 && points[at - 1] == x) return;
  for (size_t i = *count; i > at; i--) points[i] = points[i - 1];
  points[at] = x;
  (*count)++;
}

/* The points at which the integral over the logit of q is split, as distances from the origin:
** where it is not smooth; around the mean of q; and around the q at which u and v have their most
** likely values, where a tail may be exponential. */
static size_t part_shares(const judge *j, double *points) {
  static const double around[] = {-40, -8, -2.5, 2.5, 8, 40};
  double from = j->q_from - j->origin, to = j->q_to - j->origin,
         apart = j->u.beta.mean - j->v.beta.mean;
  double sd_q = standard_deviation(&j->q), likely = (j->x.x - j->v.beta.mean) / apart;
  double sd = hypot(likely * j->u.sd, (1 - likely) * j->v.sd);
  size_t count = 0;
  insert(points, &count, from, from, to);
  insert(points, &count, to, from, to);
  insert(points, &count, j->z - j->origin, from, to);
  insert(points, &count, -j->z - j->origin, from, to);
  for (int i = 0; i < 6; i++) {
    insert(points, &count, logit(j->q.mean + around[i] * sd_q) - j->origin, from, to);
    if (sd < sd_q * fabs(apart))
      insert(points, &count, logit(likely + around[i] * sd / fabs(apart)) - j->origin, from, to);
  }
  return count;
}

/* An integral and the estimate of its error. */
typedef struct estimate {
  double value, error;
} estimate;

static estimate integrate_part(judge *j, double from, double to) {
  gsl_function f = {at_part_of_q, j};
  estimate e;
  double resabs, resasc;
  if (!j->interrupted) j->interrupted = ev_interrupted(j->host);
  if (j->interrupted) return (estimate){NAN, NAN};
  j->from = from;
  j->to = to;
  gsl_integration_qk21(&f, 0, 1, &e.value, &e.error, &resabs, &resasc);
  return e;
}

/* Halves a part until its error is within its share of `allowed`.  GSL's adaptive integration also
** extrapolates, and then mistakes its own rounding for an error of 1e-5. */
static double refine_part(judge *j, double from, double to, estimate e, double allowed,
                          int halvings) {
  if (e.error <= allowed || isnan(e.value)) return e.value;
  if (halvings == 0) return NAN;
  double middle = (from + to) / 2;
  estimate left = integrate_part(j, from, middle), right = integrate_part(j, middle, to);
  return refine_part(j, from, middle, left, allowed / 2, halvings - 1) +
         refine_part(j, middle, to, right, allowed / 2, halvings - 1);
}

/* The tail beyond theta's logit middle + spread sinh(v). */
static double judged_tail(double v, bool upper, ev_effort effort, void *context, double *theta) {
  judge *j = context;
  double points[MOST_PARTS], total = 0, sum = 0;
  estimate parts[MOST_PARTS];
  j->z = j->middle + j->spread * sinh(v);
  j->x = ev_at_logit(j->z);
  *theta = j->x.x;
  if (effort == EV_PLACE) return 0;
  j->upper = upper;
  j->origin = j->u.beta.mean < j->v.beta.mean ? -j->z : j->z;
  size_t count = part_shares(j, points);
  for (size_t i = 0; i + 1 < count; i++) {
    parts[i] = integrate_part(j, points[i], points[i + 1]);
    total += parts[i].value;
  }
  double allowed = (effort == EV_FINE ? FINE_SHARE : QUICK_SHARE) * total / MOST_PARTS;
  for (size_t i = 0; i + 1 < count; i++)
    sum += refine_part(j, points[i], points[i + 1], parts[i], allowed, SHARE_HALVINGS);
  return sum;
}

/* theta's mean and, by first order, its standard deviation. */
static void locate_theta(judge *j) {
  const ev_beta *q = &j->q, *u = &j->u.beta, *v = &j->v.beta;
  double mean = q->mean * u->mean + q->comean * v->mean;
  double comean = q->mean * u->comean + q->comean * v->comean;
  double sd = hypot(standard_deviation(q) * (u->mean - v->mean),
                    hypot(q->mean * j->u.sd, q->comean * j->v.sd));
  j->middle = log(mean) - log(comean);
  j->spread = sd / (mean * comean);
}

ev_status ev_judged(const double *counts, const ev_options *options, ev_host host,
                    ev_interval *ci) {
  judge j = {.host = host};
  double right_right = counts[0], right_wrong = counts[1];
  double wrong_right = counts[2], wrong_wrong = counts[3];
  double judged_right = counts[4], judged_wrong = counts[5] - judged_right;
  double tail = ev_tail(options), ln_drop = 32 - log(tail);
  assert(judged_wrong >= 0);
  j.q = ev_beta_make(1 + right_right + right_wrong + judged_right,
                     1 + wrong_right + wrong_wrong + judged_wrong);
  make_angle(&j.u, right_right, right_wrong, ln_drop);
  make_angle(&j.v, wrong_right, wrong_wrong, ln_drop);
  j.q_from = ev_beta_negligible_beyond(&j.q, -1, ln_drop);
  j.q_to = ev_beta_negligible_beyond(&j.q, 1, ln_drop);
  locate_theta(&j);
  ev_status status = ev_agreement_bound(judged_tail, &j, tail, false, &ci->lo);
  if (status == EV_OK) status = ev_agreement_bound(judged_tail, &j, tail, true, &ci->hi);
  return j.interrupted ? EV_INTERRUPTED : status;
}
