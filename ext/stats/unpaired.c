/*
** Two models on different questions.
**
** P(theta_A > theta_B) is one integral of a density times a tail; the
** difference and the log odds ratio have a density that is one integral, of
** two densities along the line on which they differ by so much, and that
** ev_marginal turns into quantiles.  On the logit scale both factors are
** log-concave for every count, so each integrand has one peak, where its
** derivative changes sign.
*/
#include "unpaired.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "beta.h"
#include "lanes.h"
#include "legendre.h"
#include "marginal.h"
#include "normal.h"

/* How far below its peak an inner integral goes, in logarithms: e^-36 is 2e-16. */
static const double INNER_LN_DROP = 36;

/* The step of an inner integral.  It leaves out exp(-pi^2/step) where a factor
** like exp(-b e^t) makes the integrand analytic to within pi/2 of the axis, twice
** that for one like exp(-b e^(2t)), and exp(-2 pi^2 (sd/step)^2) where it is
** nearly normal: under 1e-13 with these. */
static const double ONE_EXPONENTIAL_STEP = 0.25, SQUARED_EXPONENTIAL_STEP = 0.125;

static double inner_step(double curvature, double most) {
  return fmin(most, 0.5 / sqrt(curvature));
}

/* The inner integral.  Where its steps end before it does, which is seen only far out on
** lines that do not matter, the largest density that was cut off goes to *ln_residual. */
static double inner_integral(ev_ln_density *ln_density, void *context, double peak, double step,
                             double *ln_residual) {
  double truncated;
  double ln = ev_ln_integral(ln_density, context, peak, step, INNER_LN_DROP, &truncated);
  *ln_residual = fmax(*ln_residual, truncated);
  return ln;
}

/* What both outer searches ask for: e^-30, or 1e-13, of the tail that a quantile leaves
** is negligible.  1e-11 of the density is a tenth of what is promised of a bound; but
** with 10^13 questions and more on one side rounding may leave less than that, and
** panels are then spent on it until there is no room: 1e-9 has to do.  Some 50
** evaluations are the rule, 900 were the most seen but for sizes a billionfold apart,
** where one search in a thousand came to the 4,800; before, when they were counted in
** panels of 16, it was 300 of those. */
static ev_status outer_interval(ev_search *search, const ev_options *options,
                                const double *ln_residual, ev_interval *z) {
  static const double tolerances[] = {1e-11, 1e-9};
  ev_status status = EV_NOT_CONVERGED;
  ev_marginal m;
  search->tail = ev_tail(options);
  search->ln_drop = 30 - log(search->tail);
  search->budget = 4800;
  for (int i = 0; i < 2 && status == EV_NOT_CONVERGED; i++) {
    search->tolerance = tolerances[i];
    status = ev_marginal_find(&m, search);
    if (!ev_marginal_negligible(&m, *ln_residual, 1e-8 * search->tail)) status = EV_NOT_CONVERGED;
  }
  return status == EV_OK ? ev_marginal_interval(&m, search->tail, z) : status;
}

/* The derivative of ln_logit_density by the logit, and its curvature. */
static double logit_slope(const ev_beta *d, ev_point t) {
  return d->a * t.y - d->b * t.x;
}

static double logit_curvature(const ev_beta *d, ev_point t) {
  return (d->a + d->b) * t.x * t.y;
}

/* The zero of a falling function between two points, by bisection; NaN if a hundred
** halvings do not bring them within the tolerance. */
static double falling_zero(double (*f)(double, void *), void *context, double least, double most,
                           double tolerance) {
  for (int i = 0; i < 100 && most - least > tolerance; i++) {
    double mid = (least + most) / 2;
    if (f(mid, context) > 0)
      least = mid;
    else
      most = mid;
  }
  return most - least <= tolerance ? (least + most) / 2 : NAN;
}

/* An order of A and B that does not depend on which is called which, so that
** exchanging them repeats the same arithmetic: -1, 0 when they are alike, 1. */
static int order_of_models(const double *c) {
  assert(c[0] >= 0 && c[0] <= c[1] && c[1] >= 1);
  assert(c[2] >= 0 && c[2] <= c[3] && c[3] >= 1);
  if (c[1] != c[3]) return c[1] < c[3] ? -1 : 1;
  return c[0] < c[2] ? -1 : c[0] > c[2];
}

static ev_beta uniform_posterior(const double *counts) {
  return ev_beta_make(counts[0] + 1, counts[1] - counts[0] + 1);
}

/* Runs a model whose results are negated and reversed by the exchange of A and
** B, on the canonical order. */
static ev_status antisymmetric(const double *c, const ev_options *options, ev_model *model,
                               ev_interval *ci) {
  int which = order_of_models(c);
  assert(options->level > 0 && options->level < 1);
  if (which < 0) return model(c, options, ci);
  double swapped[] = {c[2], c[3], c[0], c[1]};
  ev_interval mirror;
  ev_status status = model(swapped, options, &mirror);
  if (status == EV_OK) *ci = (ev_interval){-mirror.hi, which == 0 ? mirror.hi : -mirror.lo};
  return status;
}

/* The derivative of ln of the density of a share. */
static double share_slope(const ev_beta *d, ev_point x) {
  return (d->a - 1) / x.x - (d->b - 1) / x.y;
}

static double beta_variance(const ev_beta *d) {
  return d->mean * d->comean / (d->a + d->b + 1);
}

/* ln of x^(a - less) y^(b - less), over that at the mean: from the side that keeps its
** digits, and nothing of a power of 0. */
static double ln_powers(const ev_beta *d, ev_point x, double less) {
  double dx = x.x <= x.y ? x.x - d->mean : d->comean - x.y;
  double u = dx / d->mean, v = -dx / d->comean, ln = 0;
  if (d->a > less) ln += (d->a - less) * (fabs(u) < 0.5 ? log1p(u) : log(x.x / d->mean));
  if (d->b > less) ln += (d->b - less) * (fabs(v) < 0.5 ? log1p(v) : log(x.y / d->comean));
  return ln;
}

/*
** P(theta_A > theta_B)
*/

/* The density of `narrow` times the tail of `wide`, below or above. */
typedef struct crossing {
  ev_beta narrow, wide;
  bool below;
} crossing;

static double ln_crossing(double t, void *context) {
  const crossing *c = context;
  ev_point x = ev_at_logit(t), ln = ev_beta_ln_cdf(&c->wide, x);
  return ev_beta_ln_logit_density(&c->narrow, x) + (c->below ? ln.x : ln.y);
}

static double crossing_slope(double t, void *context) {
  const crossing *c = context;
  ev_point x = ev_at_logit(t), ln = ev_beta_ln_cdf(&c->wide, x);
  double ln_w = ev_beta_ln_logit_density(&c->wide, x);
  return logit_slope(&c->narrow, x) + (c->below ? exp(ln_w - ln.x) : -exp(ln_w - ln.y));
}

/* ln of P(narrow > wide), or of P(narrow < wide); NaN if that does not converge. */
static double ln_crossing_mass(crossing *c) {
  double centre = log(c->narrow.a / c->narrow.b), other = log(c->wide.a / c->wide.b);
  double sd = 1 / sqrt(logit_curvature(&c->narrow, ev_at_logit(centre))), near = 0.05 * fmin(sd, 1);
  double peak =
      falling_zero(crossing_slope, c, fmin(centre, other) - 50, fmax(centre, other) + 50, near);
  if (ln_crossing(peak, c) < -1000) return -HUGE_VAL;
  double bend = (crossing_slope(peak - near, c) - crossing_slope(peak + near, c)) / (2 * near);
  double residual = -HUGE_VAL, step = inner_step(bend, ONE_EXPONENTIAL_STEP);
  double ln = inner_integral(ln_crossing, c, peak, step, &residual);
  return residual > -HUGE_VAL ? NAN : ln;
}

/* P(a > b) and P(a < b), of which the smaller is computed.  Integrating over the narrower
** posterior keeps the other's tail smooth on the scale of the trapezoid rule's steps,
** however unequal they are. */
static ev_point prob_by_crossing(const ev_beta *a, const ev_beta *b, bool a_narrow) {
  crossing cross = {a_narrow ? *a : *b, a_narrow ? *b : *a, true};
  double smaller = exp(ln_crossing_mass(&cross));
  if (smaller > 1) smaller = 1;
  bool narrow_better = smaller > 0.5;
  if (narrow_better) {
    cross.below = false;
    smaller = exp(ln_crossing_mass(&cross));
  }
  smaller = ev_with_exact_complement(smaller);
  return narrow_better == a_narrow ? (ev_point){1 - smaller, smaller}
                                   : (ev_point){smaller, 1 - smaller};
}

static double spread(const ev_beta *d) {
  return 1 / d->a + 1 / d->b;
}

ev_point ev_beta_prob_better(const ev_beta *a, const ev_beta *b) {
  return prob_by_crossing(a, b, spread(a) < spread(b));
}

static ev_status prob_ahead(const double *c, double *p) {
  int which = order_of_models(c);
  *p = 0.5;
  if (which == 0) return EV_OK;
  ev_beta a = uniform_posterior(c), b = uniform_posterior(c + 2);
  bool a_narrow = spread(&a) != spread(&b) ? spread(&a) < spread(&b) : which < 0;
  *p = prob_by_crossing(&a, &b, a_narrow).x;
  return isnan(*p) ? EV_NOT_CONVERGED : EV_OK;
}

/*
** P(theta_A > theta_B + margin)
**
** Call the model that a positive margin asks to be the better by it the leader, and the
** other the trailer.  Along the line on which they differ by the margin the density of
** the one, times the tail of the other, is integrated over the logit of the share of
** the line; in the shares themselves the integrand is log-concave, so that it has one
** peak in the logit too.  That gives the chance that the lead is beyond the margin; the
** chance that it is within has, besides, what the narrower has off the line.
*/
typedef struct margin_line {
  ev_beta leader, trailer;
  double margin, length; /* positive, and 1 less it */
  bool over_leader;      /* whose density is integrated: the narrower's */
  bool beyond;
} margin_line;

typedef struct margin_pair {
  ev_point leader, trailer;
} margin_pair;

static margin_pair margin_pair_at(const margin_line *l, ev_point share) {
  double low = l->length * share.x, high = l->length * share.y;
  return (margin_pair){{l->margin + low, high}, {low, l->margin + high}};
}

static double ln_share_density(const ev_beta *d, ev_point x) {
  return ev_beta_ln_logit_density(d, x) - log(x.x * x.y);
}

/* The tail is the one below exactly when a leader beyond the margin, or a trailer within
** it, is integrated over. */
static double ln_along_margin(double t, void *context) {
  const margin_line *l = context;
  ev_point share = ev_at_logit(t);
  margin_pair p = margin_pair_at(l, share);
  ev_point tail = l->over_leader ? ev_beta_ln_cdf(&l->trailer, p.trailer)
                                 : ev_beta_ln_cdf(&l->leader, p.leader);
  double ln_density = l->over_leader ? ln_share_density(&l->leader, p.leader)
                                     : ln_share_density(&l->trailer, p.trailer);
  return ln_density + (l->over_leader == l->beyond ? tail.x : tail.y) +
         log(l->length * share.x * share.y);
}

static double slope_along_margin(double t, void *context) {
  const margin_line *l = context;
  ev_point share = ev_at_logit(t);
  margin_pair p = margin_pair_at(l, share);
  const ev_beta *narrow = l->over_leader ? &l->leader : &l->trailer;
  const ev_beta *wide = l->over_leader ? &l->trailer : &l->leader;
  ev_point at = l->over_leader ? p.leader : p.trailer,
           other = l->over_leader ? p.trailer : p.leader;
  ev_point tail = ev_beta_ln_cdf(wide, other);
  double ln_wide = ln_share_density(wide, other);
  double slope = share_slope(narrow, at) +
                 (l->over_leader == l->beyond ? exp(ln_wide - tail.x) : -exp(ln_wide - tail.y));
  return slope * l->length * share.x * share.y + (share.y - share.x);
}

/* The chance of the event, from positive parts alone. */
static double margin_mass(margin_line *l) {
  const ev_beta *narrow = l->over_leader ? &l->leader : &l->trailer;
  double off_line = 0;
  if (!l->beyond)
    off_line = l->over_leader ? ev_beta_cdf(narrow, (ev_point){l->margin, l->length}).x
                              : ev_beta_cdf(narrow, (ev_point){l->length, l->margin}).y;
  double peak = falling_zero(slope_along_margin, l, -60, 60, 1e-12);
  if (ln_along_margin(peak, l) < -1000) return off_line;
  ev_point share = ev_at_logit(peak);
  double sd = sqrt(beta_variance(narrow)) / (l->length * share.x * share.y);
  double near = 0.05 * fmin(sd, 1);
  double bend =
      (slope_along_margin(peak - near, l) - slope_along_margin(peak + near, l)) / (2 * near);
  double truncated, step = inner_step(bend, SQUARED_EXPONENTIAL_STEP);
  double ln_mass = ev_ln_integral(ln_along_margin, l, peak, step, INNER_LN_DROP, &truncated);
  if (truncated > -HUGE_VAL) return NAN;
  return off_line + exp(ln_mass);
}

/* A negative margin is the other model's positive one: exchanging the models and the
** margin's sign repeats the same arithmetic. */
static ev_status prob_beyond(const double *c, double margin, double *p) {
  ev_beta a = uniform_posterior(c), b = uniform_posterior(c + 2);
  margin_line l = {.leader = margin > 0 ? a : b,
                   .trailer = margin > 0 ? b : a,
                   .margin = fabs(margin),
                   .length = 1 - fabs(margin),
                   .beyond = true};
  if (l.length <= 0) {
    *p = margin > 0 ? 0 : 1;
    return EV_OK;
  }
  l.over_leader = beta_variance(&l.leader) < beta_variance(&l.trailer);
  double smaller = margin_mass(&l);
  bool mostly_beyond = smaller > 0.5;
  if (mostly_beyond) {
    l.beyond = false;
    smaller = margin_mass(&l);
  }
  smaller = ev_with_exact_complement(smaller);
  *p = mostly_beyond == (margin > 0) ? 1 - smaller : smaller;
  return isnan(*p) ? EV_NOT_CONVERGED : EV_OK;
}

ev_status ev_prob_better(const double *c, const ev_options *options, double *p) {
  assert(fabs(options->margin) <= 1);
  return options->margin == 0 ? prob_ahead(c, p) : prob_beyond(c, options->margin, p);
}

/*
** theta_A - theta_B
**
** Each theta is measured from the end of [0,1] it is nearer to, so that small
** error rates keep their digits: the difference is then, up to sign and a
** constant, x - u or x + u, with x and u the distances.  The line on which that is
** constant is told by the share of it that lies before; along it the density is a
** product of four powers, of the distances of x and u from 0 and from 1, and
** log-concave.  Told by how far they are from their peak, powers of any size lose no
** digits.
*/
typedef struct diff_line {
  ev_beta x, u;  /* the distances' distributions */
  bool sum;      /* x + u - 1 is sought, not x - u */
  double at;     /* its value */
  double length; /* of the line */
  double peak;   /* logit of the share at the last line's peak */
} diff_line;

/* x and u where a line is divided: share.x of it lies before, share.y behind.  Each
** distance comes from the form that does not cancel. */
typedef struct diff_pair {
  ev_point x, u;
} diff_pair;

static diff_pair diff_pair_at(const diff_line *l, ev_point share) {
  double low = l->length * share.x, high = l->length * share.y;
  diff_pair p;
  if (l->sum) {
    double gap = fabs(l->at);
    p.x.x = l->at <= 0 ? low : low + gap;
    p.u.x = l->at <= 0 ? high : high + gap;
    p.x.y = l->at <= 0 ? high + gap : high;
    p.u.y = l->at <= 0 ? low + gap : low;
  } else {
    p.x.x = l->at >= 0 ? l->at + low : low;
    p.u.x = l->at >= 0 ? low : low - l->at;
    p.x.y = l->at >= 0 ? high : high - l->at;
    p.u.y = l->at >= 0 ? high + l->at : high;
  }
  return p;
}

/* The product of (1 + by v)^power over the lanes, which are x.x, x.y, u.x and u.y. */
typedef struct diff_powers {
  ev_lanes power, by;
} diff_powers;

/* About the pair p, v being a way along the line. */
static void set_diff_powers(const diff_line *l, const diff_pair *p, diff_powers *f) {
  double u = l->sum ? -l->length : l->length;
  f->power = (ev_lanes){l->x.a - 1, l->x.b - 1, l->u.a - 1, l->u.b - 1};
  f->by = (ev_lanes){l->length / p->x.x, -l->length / p->x.y, u / p->u.x, -u / p->u.y};
  /* At an end of the line only such can be as large as they like. */
  for (int i = 0; i < EV_LANES; i++)
    if (f->power[i] == 0) f->by[i] = 0;
}

/* ln of the product, v being a way of its own for each. */
EV_WIDE static double ln_diff_powers(const ev_lanes *power, const ev_lanes *v) {
  ev_lanes ln = *v;
  ev_log1p(&ln, 1);
  ln *= *power;
  return ev_sum(&ln);
}

/* The slope of ln of the product at v = 0, and its curvature with the sign changed. */
static double diff_slope(const diff_powers *f) {
  ev_lanes each = f->power * f->by;
  return ev_sum(&each);
}

static double diff_curvature(const diff_powers *f) {
  ev_lanes each = f->power * f->by * f->by;
  return ev_sum(&each);
}

/* The powers at a line's peak, or next to it, or beside the end of the line that it is
** at; the logit of its share there is left in l->peak.  The slope falls along the line:
** Newton's method on its logit, or bisection where that leads out.  Anything within a
** hundredth of a standard deviation will do. */
static const double DIFF_ENDS = 30;
enum { DIFF_PEAK_STEPS = 100 };

static void diff_powers_at_peak(diff_line *l, diff_pair *p, diff_powers *f) {
  double least = -DIFF_ENDS, most = DIFF_ENDS;
  for (int i = 0; i < DIFF_PEAK_STEPS; i++) {
    ev_point share = ev_at_logit(l->peak);
    double by_logit = share.x * share.y;
    *p = diff_pair_at(l, share);
    set_diff_powers(l, p, f);
    double slope = diff_slope(f) * by_logit, curvature = diff_curvature(f) * by_logit * by_logit;
    double bend = curvature - slope * (share.y - share.x);
    if (slope > 0)
      least = l->peak;
    else
      most = l->peak;
    if (slope * slope <= 1e-4 * curvature || most - least < 1e-9) return;
    double next = l->peak + slope / bend;
    bool inside = bend > 0 && next > least && next < most;
    l->peak = inside ? next : (least + most) / 2;
  }
}

/* Up to this degree of all powers together the product is integrated exactly over all of
** the line. */
static const double DIFF_EXACT_DEGREE = 4 * EV_LEGENDRE_HALF - 1;

/* How far from the peak, at most `most`, which is the end of the line, the product has
** become negligible: anything from e^-36 to e^-58 of the peak will do.  Were ln of it a
** parabola, the first try would; else Newton's method on ln of what is left of the line,
** where a power that ends there is a straight line, or bisection. */
static double diff_reach(const diff_powers *f, double side, double most) {
  double down = fmax(0, -side * diff_slope(f)), curvature = diff_curvature(f);
  double reach = 84 / (down + sqrt(down * down + 84 * curvature)), near = 0, far = most;
  if (ev_sum(&f->power) <= DIFF_EXACT_DEGREE) return most;
  if (reach >= most) reach = 0.9 * most;
  for (int i = 0; i < DIFF_PEAK_STEPS; i++) {
    ev_lanes v = side * reach * f->by, falls = f->power * f->by / (1 + v);
    double drop = -ln_diff_powers(&f->power, &v), left = most - reach;
    if (drop > INNER_LN_DROP && drop < 58) return reach;
    if (drop <= INNER_LN_DROP)
      near = reach;
    else
      far = reach;
    if (most - near < 1e-6 * most) return most;
    double rate = fmax(0.5, -side * ev_sum(&falls) * left);
    reach = most - left * exp((drop - 44) / rate);
    if (!(reach > near && reach < far)) reach = far < most ? (near + far) / 2 : most - left / 1e3;
  }
  return most;
}

/* The integral of the product from v = from to v = to. */
EV_WIDE static double diff_integral(const diff_powers *f, double from, double to) {
  ev_lanes sum = {0};
  double mid = (from + to) / 2, half = (to - from) / 2;
  for (int i = 0; i < EV_LEGENDRE_HALF; i += EV_LANES) {
    ev_lanes weight, node, ln[2] = {{0}};
    memcpy(&node, ev_legendre_nodes + i, sizeof node);
    memcpy(&weight, ev_legendre_weights + i, sizeof weight);
    for (int j = 0; j < EV_LANES; j++) {
      ev_lanes part[] = {(mid - half * node) * f->by[j], (mid + half * node) * f->by[j]};
      ev_log1p(part, 2);
      ln[0] += f->power[j] * part[0];
      ln[1] += f->power[j] * part[1];
    }
    ev_exp(ln, 2);
    sum += weight * (ln[0] + ln[1]);
  }
  return ev_sum(&sum) * half;
}

static double diff_at(double z) {
  return tanh(z / 2);
}

/* Up to a constant. */
static double ln_diff_density(double z, void *context) {
  diff_line *l = context;
  diff_pair p;
  diff_powers f;
  l->at = diff_at(z);
  /* 1 - |at|, which has no digits left where |at| rounds to 1; nearer to 0 the last
  ** digits of the bounds rest on the difference. */
  l->length = fabs(z) < 30 ? 1 - fabs(l->at) : 2 / (1 + exp(fabs(z)));
  diff_powers_at_peak(l, &p, &f);
  ev_point share = ev_at_logit(l->peak);
  double before = diff_reach(&f, -1, share.x), behind = diff_reach(&f, 1, share.y);
  return ln_powers(&l->x, p.x, 1) + ln_powers(&l->u, p.u, 1) +
         log(diff_integral(&f, -before, behind) * l->length * l->length * (1 + fabs(l->at)));
}

/* The line changes ends at a difference of 0, and where there are so few counts that the
** thetas may both be there, the density has a corner. */
static const double DIFF_CORNER_COUNTS = 60;

static ev_status diff_ordered(const double *c, const ev_options *options, ev_interval *ci) {
  ev_beta a = uniform_posterior(c), b = uniform_posterior(c + 2);
  bool a_high = a.mean > 0.5, b_high = b.mean > 0.5;
  diff_line l = {.x = a_high ? ev_beta_make(a.b, a.a) : a,
                 .u = b_high ? ev_beta_make(b.b, b.a) : b,
                 .sum = a_high != b_high};
  double start = l.sum ? l.x.mean + l.u.mean - 1 : l.x.mean - l.u.mean;
  double sd = 2 * sqrt(beta_variance(&l.x) + beta_variance(&l.u)) / (1 - start * start);
  ev_search search = {.ln_density = ln_diff_density,
                      .context = &l,
                      .start = 2 * atanh(start),
                      .width = fmin(3, 6 * sd),
                      .has_corner = fmin(a.a + b.a, a.b + b.b) < DIFF_CORNER_COUNTS,
                      .corner = 0};
  ev_interval z;
  double residual = -HUGE_VAL;
  ev_status status = outer_interval(&search, options, &residual, &z);
  if (status != EV_OK) return status;
  double lo = diff_at(z.lo), hi = diff_at(z.hi);
  /* 1 - A' - B' = -(A' + B' - 1), and so on: a high A turns the sign. */
  *ci = a_high ? (ev_interval){-hi, -lo} : (ev_interval){lo, hi};
  return ev_interval_status(*ci);
}

ev_status ev_diff(const double *counts, const ev_options *options, ev_interval *ci) {
  return antisymmetric(counts, options, diff_ordered, ci);
}

/*
** The odds ratio, whose logarithm is the difference of the logits
**
** Its density is an integral over the logit t of A, that of B being t less the difference,
** by the trapezoid rule outward from the peak.  v beyond the peak, the density of a logit
** is e^(a v) (1 + x (e^v - 1))^-(a+b) of what it is there, or the same with b, y and -v.
*/

/* Room on either side for 144 logits in steps of 0.225: between two posteriors that are so
** far apart that both have their tails there the integrand may be flat, and at a level of
** 1 - 1e-15 they are up to 65 apart. */
enum { ODDS_GROUPS = 160, ODDS_PEAK_STEPS = 100 };

/* The lattice: e^v - 1 at whole steps v in lanes, and e^-v - 1. */
typedef struct odds_lattice {
  double step;
  int filled;
  ev_lanes up[ODDS_GROUPS], down[ODDS_GROUPS];
} odds_lattice;

typedef struct odds_shift {
  ev_beta a, b;
  double by;
  double peak; /* of the last line */
  double ln_residual;
  odds_lattice lattice;
} odds_shift;

/* e^(rate v) prod (1 + share (e^v - 1))^-power, or e^-v where `mirrored`. */
typedef struct odds_powers {
  double rate, share[2], power[2];
  bool mirrored[2];
} odds_powers;

static odds_powers odds_powers_at(const odds_shift *s, ev_point x, ev_point u) {
  odds_powers f = {.rate = 0};
  for (int i = 0; i < 2; i++) {
    const ev_beta *d = i == 0 ? &s->a : &s->b;
    ev_point at = i == 0 ? x : u;
    f.mirrored[i] = at.x > at.y;
    f.share[i] = fmin(at.x, at.y);
    f.power[i] = d->a + d->b;
    f.rate += f.mirrored[i] ? -d->b : d->a;
  }
  return f;
}

static void lay_odds_lattice(odds_lattice *l, double step) {
  l->step = step;
  l->filled = 0;
}

static void fill_odds_lattice(odds_lattice *l, int groups) {
  for (; l->filled < groups; l->filled++)
    for (int j = 0; j < EV_LANES; j++) {
      double v = (EV_LANES * l->filled + j + 1) * l->step;
      l->up[l->filled][j] = expm1(v);
      l->down[l->filled][j] = expm1(-v);
    }
}

/* Adds the terms of groups g and g + 1 above the peak, or below it; gives ln of the
** outermost. */
EV_WIDE static double odds_terms(const odds_powers *f, const odds_lattice *l, int g, bool above,
                                 double *sum) {
  double rate = above ? f->rate * l->step : -f->rate * l->step;
  ev_lanes v = (ev_lanes){1, 2, 3, 4} + EV_LANES * g, ln[] = {rate * v, rate * (v + EV_LANES)};
  for (int i = 0; i < 2; i++) {
    const ev_lanes *by = (f->mirrored[i] != above ? l->up : l->down) + g;
    ev_lanes part[] = {f->share[i] * by[0], f->share[i] * by[1]};
    ev_log1p(part, 2);
    ln[0] -= f->power[i] * part[0];
    ln[1] -= f->power[i] * part[1];
  }
  double last = ln[1][EV_LANES - 1];
  ev_exp(ln, 2);
  ln[0] += ln[1];
  *sum += ev_sum(&ln[0]);
  return last;
}

/* ln of the largest term that the lattice's ends cut off, or -HUGE_VAL. */
static double odds_sum(const odds_powers *f, odds_lattice *l, double *sum) {
  double truncated = -HUGE_VAL;
  for (int side = 0; side < 2; side++) {
    double last = 0;
    for (int g = 0; g < ODDS_GROUPS && last > -INNER_LN_DROP; g += 2) {
      fill_odds_lattice(l, g + 2);
      last = odds_terms(f, l, g, side == 0, sum);
    }
    if (last > -INNER_LN_DROP) truncated = fmax(truncated, last);
  }
  return truncated;
}

/* The peak, to a hundredth of a standard deviation, is left in s->peak; the slope falls
** along the line: Newton's method, or bisection where that leads out. */
static double odds_bend_at_peak(odds_shift *s, ev_point *x, ev_point *u) {
  double least = fmin(log(s->a.a / s->a.b), log(s->b.a / s->b.b) + s->by) - 1e-6;
  double most = fmax(log(s->a.a / s->a.b), log(s->b.a / s->b.b) + s->by) + 1e-6, bend = NAN;
  s->peak = fmax(least, fmin(most, s->peak));
  for (int i = 0; i < ODDS_PEAK_STEPS; i++) {
    *x = ev_at_logit(s->peak);
    *u = ev_at_logit(s->peak - s->by);
    double slope = logit_slope(&s->a, *x) + logit_slope(&s->b, *u);
    bend = logit_curvature(&s->a, *x) + logit_curvature(&s->b, *u);
    if (slope * slope <= 1e-4 * bend || most - least < 1e-12) break;
    if (slope > 0)
      least = s->peak;
    else
      most = s->peak;
    double next = s->peak + slope / bend;
    s->peak = next > least && next < most ? next : (least + most) / 2;
  }
  return bend;
}

/* Up to a constant.  The lattice is laid anew where a line wants steps half as long again,
** or shorter. */
static double ln_odds_ratio_density(double by, void *context) {
  odds_shift *s = context;
  ev_point x, u;
  s->by = by;
  double bend = odds_bend_at_peak(s, &x, &u), sum = 1;
  double step = fmin(ONE_EXPONENTIAL_STEP, 0.65 / sqrt(bend));
  if (step > 1.5 * s->lattice.step || step < s->lattice.step)
    lay_odds_lattice(&s->lattice, 0.9 * step);
  odds_powers f = odds_powers_at(s, x, u);
  double truncated = odds_sum(&f, &s->lattice, &sum);
  double ln = ln_powers(&s->a, x, 0) + ln_powers(&s->b, u, 0);
  s->ln_residual = fmax(s->ln_residual, ln + truncated);
  return ln + log(sum * s->lattice.step);
}

static ev_status ln_odds_ratio_ordered(const double *c, const ev_options *options,
                                       ev_interval *ci) {
  odds_shift s = {
      .a = uniform_posterior(c), .b = uniform_posterior(c + 2), .ln_residual = -HUGE_VAL};
  double variance = 1 / s.a.a + 1 / s.a.b + 1 / s.b.a + 1 / s.b.b;
  ev_search search = {.ln_density = ln_odds_ratio_density,
                      .context = &s,
                      .start = log(s.a.a / s.a.b) - log(s.b.a / s.b.b),
                      .width = fmin(3, 6 * sqrt(variance))};
  return outer_interval(&search, options, &s.ln_residual, ci);
}

ev_status ev_odds_ratio(const double *counts, const ev_options *options, ev_interval *ci) {
  ev_interval ln;
  ev_status status = antisymmetric(counts, options, ln_odds_ratio_ordered, &ln);
  if (status == EV_OK) *ci = (ev_interval){exp(ln.lo), exp(ln.hi)};
  return status;
}

static ev_status diff_clt_ordered(const double *c, const ev_options *options, ev_interval *ci) {
  double a_wrong = c[1] - c[0], b_wrong = c[3] - c[2];
  double a_variance = c[0] / c[1] * (a_wrong / c[1]) / c[1];
  double b_variance = c[2] / c[3] * (b_wrong / c[3]) / c[3];
  double mean = ev_cross_difference(c[0], c[3], c[2], c[1]) / c[1] / c[3];
  *ci = ev_plus_minus(mean, ev_deviate(options) * sqrt(a_variance + b_variance));
  return ev_interval_status(*ci);
}

ev_status ev_diff_clt(const double *counts, const ev_options *options, ev_interval *ci) {
  return antisymmetric(counts, options, diff_clt_ordered, ci);
}
