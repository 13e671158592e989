/*
** The accuracy theta = q u + (1-q) v, where a judge calls a share q of the answers right,
** of which a share u is right, and of the others a share v.  Uniform priors: q is known
** from every verdict, u and v from the labelled ones, each a Beta.
**
** The density of theta at x is an integral over q, within one along the line of the
** (u, v) with q u + (1-q) v = x.  That line ends on the sides of the unit square, on
** others as q passes x and 1-x: the integral over q is parted there, and is smooth
** between.  The inner one is a trapezoid sum, by ev_ln_integral(), over the logit of the
** position on the line.  marginal.c turns the density of logit theta into quantiles.
*/
#include "judged.h"

#include <assert.h>

#include <gsl/gsl_integration.h>

#include "beta.h"
#include "marginal.h"
#include "root.h"

/* How far below its peak the integral along a line goes, in logarithms, and its step: in
** standard deviations, and where the integrand is no wider than the logistic density.  A
** step leaves out exp(-2 pi^2 sd^2 / step^2), and exp(-pi^2 / step). */
static const double JUDGED_LN_DROP = 32, LINE_STEP = 0.7, LONGEST_LINE_STEP = 0.4;

/* The integral over q: the wanted relative error, by the Gauss-Kronrod rule's estimate, which is
** many times the true one, and the largest that is accepted; SHARE_HALVINGS is how often a part of
** it may be halved. */
static const double SHARE_TOLERANCE = 1e-7, MOST_SHARE_ERROR = 1e-6;
/* Lines in all: over 40,000 are needed where labels of one verdict are never wrong, as for
** (30, 69, 101, 0); millions of such labels would have their rounding halved in vain. */
enum { JUDGED_LINES = 200000 };
enum { MOST_PARTS = 16, SHARE_HALVINGS = 9 };

typedef struct judge {
  ev_beta q, u, v;
  double ln_scale_u, ln_scale_v; /* -ln B of their shapes */
  double q_from, q_to;           /* where q's density is not negligible */
  ev_point x;                    /* theta */
  double z;                      /* its logit */
  double origin;                 /* logits of q are measured from this: z or -z */
  ev_point u_ends[2], v_ends[2]; /* of the line */
  ev_host host;
  long lines; /* integrated along so far */
  bool interrupted;
} judge;

/*
** Along a line
*/
static ev_point between(const ev_point *ends, ev_point share) {
  return (ev_point){ends[0].x * share.y + ends[1].x * share.x,
                    ends[0].y * share.y + ends[1].y * share.x};
}

/* The distance of one end from the other, by the coordinate in which less cancels. */
static double distance(const ev_point *ends) {
  double x = fmax(ends[0].x, ends[1].x), y = fmax(ends[0].y, ends[1].y);
  return x < y ? ends[1].x - ends[0].x : ends[0].y - ends[1].y;
}

/* With this many labels the powers would cancel; below, direct powers are faster. */
static const double MANY_LABELS = 1e5;

static double power(double exponent, double x) {
  return exponent > 0 ? exponent * log(x) : 0;
}

static double ln_density(const ev_beta *d, double ln_scale, ev_point x) {
  if (d->a + d->b < MANY_LABELS) return ln_scale + power(d->a - 1, x.x) + power(d->b - 1, x.y);
  return ev_beta_ln_logit_density(d, x) - log(x.x * x.y);
}

static double ln_line(double t, void *context) {
  const judge *j = context;
  ev_point share = ev_at_logit(t);
  return ln_density(&j->u, j->ln_scale_u, between(j->u_ends, share)) +
         ln_density(&j->v, j->ln_scale_v, between(j->v_ends, share)) + log(share.x * share.y);
}

/* The contributions of a posterior to the first and second derivative of ln_line in the share. */
typedef struct bend {
  double slope, curvature;
} bend;

static bend share_bend(const ev_beta *d, const ev_point *ends, ev_point share) {
  ev_point x = between(ends, share);
  double by = distance(ends), rise = (d->a - 1) / x.x, fall = (d->b - 1) / x.y;
  return (bend){by * (rise - fall), by * by * (rise / x.x + fall / x.y)};
}

static bend line_bend(const judge *j, double t) {
  ev_point s = ev_at_logit(t);
  double spread = s.x * s.y;
  bend u = share_bend(&j->u, j->u_ends, s), v = share_bend(&j->v, j->v_ends, s);
  return (bend){spread * (u.slope + v.slope) + s.y - s.x,
                spread * spread * (u.curvature + v.curvature) + 2 * spread};
}

/* The peak of ln_line, to a tenth of its width: in the share itself both posteriors are
** log-concave, so that there is one in its logit too. */
static double judged_line_peak(const judge *j) {
  ev_bracket in = {-60, 60};
  double peak = 0;
  for (int i = 0; i < 100; i++) {
    bend b = line_bend(j, peak);
    peak = ev_bracket_next(&in, peak, !(b.slope > 0), NAN);
    double width = in.high - in.low;
    if (width * sqrt(b.curvature) < 0.1 && width < 0.5) break;
  }
  return peak;
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

/* With few labels the integrand is a polynomial in the share, for which 16 Gauss-Legendre nodes are
** exact. */
static const double FEW_LABELS = 2 * EV_NODES - 1;

static double polynomial_line(const judge *j) {
  double sum = 0;
  for (int i = 0; i < EV_NODES; i++) {
    ev_point share = {(1 + ev_node(i)) / 2, (1 - ev_node(i)) / 2};
    sum += ev_weight(i) / 2 *
           exp(ln_density(&j->u, j->ln_scale_u, between(j->u_ends, share)) +
               ln_density(&j->v, j->ln_scale_v, between(j->v_ends, share)));
  }
  return sum;
}

/* The density of theta at x given q, whose logit is `away` from the origin. */
static double density_given(judge *j, ev_point q, double away) {
  set_line(j, q, away);
  /* Both quotients equal the density; the one with the longer distance has more digits. */
  double length = q.x > q.y ? distance(j->v_ends) / q.x : -distance(j->u_ends) / q.y;
  if (j->u.a + j->u.b + j->v.a + j->v.b - 4 <= FEW_LABELS) return length * polynomial_line(j);
  if (++j->lines > JUDGED_LINES) return NAN;
  double peak = judged_line_peak(j), truncated;
  double step = fmin(LONGEST_LINE_STEP, LINE_STEP / sqrt(line_bend(j, peak).curvature));
  double ln = ev_ln_integral(ln_line, j, peak, step, JUDGED_LN_DROP, &truncated);
  return length * exp(ln);
}

/*
** Over q
*/
static double at_logit_of_share(double away, void *context) {
  judge *j = context;
  ev_point q = ev_at_logit(j->origin + away);
  return exp(ev_beta_ln_logit_density(&j->q, q)) * density_given(j, q, away);
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

static double standard_deviation(const ev_beta *d) {
  return sqrt(d->mean * d->comean / (d->a + d->b + 1));
}

static double logit(double x) {
  return log(x) - log1p(-x);
}

/* The points at which the integral over the logit of q is split, as distances from the origin:
** where it is not smooth; around the mean of q; and around the q at which u and v have their most
** likely values, where a tail may be exponential. */
static size_t part_shares(const judge *j, double *points) {
  static const double around[] = {-40, -8, -2.5, 2.5, 8, 40};
  double from = j->q_from - j->origin, to = j->q_to - j->origin, apart = j->u.mean - j->v.mean;
  double sd_q = standard_deviation(&j->q), likely = (j->x.x - j->v.mean) / apart;
  double sd = hypot(likely * standard_deviation(&j->u), (1 - likely) * standard_deviation(&j->v));
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
  gsl_function f = {at_logit_of_share, j};
  estimate e;
  double resabs, resasc;
  gsl_integration_qk21(&f, from, to, &e.value, &e.error, &resabs, &resasc);
  return e;
}

/* Halves a part until its error is within its share of `allowed`.  GSL's adaptive integration also
** extrapolates, and then mistakes its own rounding for an error of 1e-5. */
static estimate refine_part(judge *j, double from, double to, estimate e, double allowed,
                            int halvings) {
  if (e.error <= allowed || halvings == 0 || isnan(e.value)) return e;
  double middle = (from + to) / 2;
  estimate left = integrate_part(j, from, middle), right = integrate_part(j, middle, to);
  left = refine_part(j, from, middle, left, allowed / 2, halvings - 1);
  right = refine_part(j, middle, to, right, allowed / 2, halvings - 1);
  return (estimate){left.value + right.value, left.error + right.error};
}

static double ln_density_at(double z, void *context) {
  judge *j = context;
  double points[MOST_PARTS], total = 0, error = 0, sum = 0;
  estimate parts[MOST_PARTS];
  if (ev_interrupted(j->host)) j->interrupted = true;
  if (j->interrupted) return NAN;
  j->x = ev_at_logit(z);
  j->z = z;
  j->origin = j->u.mean < j->v.mean ? -z : z;
  size_t count = part_shares(j, points);
  for (size_t i = 0; i + 1 < count; i++) {
    parts[i] = integrate_part(j, points[i], points[i + 1]);
    total += parts[i].value;
  }
  for (size_t i = 0; i + 1 < count; i++) {
    estimate e = refine_part(j, points[i], points[i + 1], parts[i],
                             SHARE_TOLERANCE * total / MOST_PARTS, SHARE_HALVINGS);
    sum += e.value;
    error += e.error;
  }
  if (isnan(sum)) return NAN;
  if (!(error <= MOST_SHARE_ERROR * sum)) return sum > 0 ? NAN : -HUGE_VAL;
  return log(sum) + log(j->x.x * j->x.y);
}

/* theta's mean and, by first order, its standard deviation. */
static void start_search(const judge *j, ev_search *search) {
  double q = j->q.mean, mean = q * j->u.mean + (1 - q) * j->v.mean;
  double sd = hypot(standard_deviation(&j->q) * (j->u.mean - j->v.mean),
                    hypot(q * standard_deviation(&j->u), (1 - q) * standard_deviation(&j->v)));
  search->start = logit(mean);
  search->width = 3 * sd / (mean * (1 - mean));
}

/* The error of the density, which moves a bound by less. */
static const double JUDGED_TOLERANCE = 1e-8;

static ev_status find_interval(judge *j, const ev_options *options, ev_interval *ci) {
  ev_marginal m;
  ev_interval z;
  ev_search search = {.ln_density = ln_density_at, .context = j, .budget = 6000};
  search.tail = ev_tail(options);
  search.ln_drop = 25 - log(search.tail);
  search.tolerance = JUDGED_TOLERANCE;
  start_search(j, &search);
  ev_status status = ev_marginal_find(&m, &search);
  if (status == EV_OK) status = ev_marginal_interval(&m, search.tail, &z);
  if (j->interrupted) return EV_INTERRUPTED;
  if (status == EV_OK) *ci = (ev_interval){ev_at_logit(z.lo).x, ev_at_logit(z.hi).x};
  return status;
}

static double ln_scale(const ev_beta *d) {
  return d->ln_peak - d->a * log(d->mean) - d->b * log(d->comean);
}

ev_status ev_judged(const double *counts, const ev_options *options, ev_host host,
                    ev_interval *ci) {
  judge j = {.host = host};
  double right_right = counts[0], right_wrong = counts[1];
  double wrong_right = counts[2], wrong_wrong = counts[3];
  double judged_right = counts[4], judged_wrong = counts[5] - judged_right;
  assert(judged_wrong >= 0);
  j.q = ev_beta_make(1 + right_right + right_wrong + judged_right,
                     1 + wrong_right + wrong_wrong + judged_wrong);
  j.u = ev_beta_make(1 + right_right, 1 + right_wrong);
  j.v = ev_beta_make(1 + wrong_right, 1 + wrong_wrong);
  j.ln_scale_u = ln_scale(&j.u);
  j.ln_scale_v = ln_scale(&j.v);
  double ln_drop = 60 - log(ev_tail(options));
  j.q_from = ev_beta_negligible_beyond(&j.q, -1, ln_drop);
  j.q_to = ev_beta_negligible_beyond(&j.q, 1, ln_drop);
  return find_interval(&j, options, ci);
}
