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

#include "beta.h"
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

/* The derivatives of ln of the density of a share: the second with its sign changed. */
static double share_slope(const ev_beta *d, ev_point x) {
  return (d->a - 1) / x.x - (d->b - 1) / x.y;
}

static double share_curvature(const ev_beta *d, ev_point x) {
  return (d->a - 1) / (x.x * x.x) + (d->b - 1) / (x.y * x.y);
}

static double beta_variance(const ev_beta *d) {
  return d->mean * d->comean / (d->a + d->b + 1);
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

/* Integrating over the narrower posterior keeps the other's tail smooth on the
** scale of the trapezoid rule's steps, however unequal they are. */
static ev_status prob_ahead(const double *c, double *p) {
  int which = order_of_models(c);
  *p = 0.5;
  if (which == 0) return EV_OK;
  ev_beta a = uniform_posterior(c), b = uniform_posterior(c + 2);
  double spread_a = 1 / a.a + 1 / a.b, spread_b = 1 / b.a + 1 / b.b;
  bool a_narrow = spread_a != spread_b ? spread_a < spread_b : which < 0;
  crossing cross = {a_narrow ? a : b, a_narrow ? b : a, true};
  double smaller = exp(ln_crossing_mass(&cross));
  if (smaller > 1) smaller = 1;
  bool narrow_better = smaller > 0.5;
  if (narrow_better) {
    cross.below = false;
    smaller = exp(ln_crossing_mass(&cross));
  }
  smaller = ev_with_exact_complement(smaller);
  *p = narrow_better == a_narrow ? 1 - smaller : smaller;
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
** constant, x - u or x + u, with x and u the distances.  Both that and the
** position along the line on which it is constant are mapped to the whole real
** axis, where the densities fall off exponentially.
*/
typedef struct diff_line {
  ev_beta x, u;  /* the distances' distributions */
  bool sum;      /* x + u - 1 is sought, not x - u */
  double at;     /* its value */
  double length; /* of the line */
  double ln_residual;
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

static double ln_along_diff_line(double s, void *context) {
  const diff_line *l = context;
  ev_point t = ev_at_logit(s);
  diff_pair p = diff_pair_at(l, t);
  return ev_beta_ln_logit_density(&l->x, p.x) + ev_beta_ln_logit_density(&l->u, p.u) +
         log(l->length * t.x * t.y / (p.x.x * p.x.y) / (p.u.x * p.u.y));
}

static double slope_along_diff_line(double s, void *context) {
  const diff_line *l = context;
  ev_point t = ev_at_logit(s);
  diff_pair p = diff_pair_at(l, t);
  double other = share_slope(&l->u, p.u);
  return share_slope(&l->x, p.x) + (l->sum ? -other : other);
}

static double diff_at(double z) {
  return tanh(z / 2);
}

static double ln_diff_density(double z, void *context) {
  diff_line *l = context;
  l->at = diff_at(z);
  /* 1 - |at|, which has no digits left where |at| rounds to 1; nearer to 0 the last
  ** digits of the bounds rest on the difference. */
  l->length = fabs(z) < 30 ? 1 - fabs(l->at) : 2 / (1 + exp(fabs(z)));
  double peak = falling_zero(slope_along_diff_line, l, -60, 60, 1e-12);
  ev_point t = ev_at_logit(peak);
  diff_pair p = diff_pair_at(l, t);
  double by_logit = t.x * t.y, dx = l->length * by_logit;
  double bend =
      (share_curvature(&l->x, p.x) + share_curvature(&l->u, p.u)) * dx * dx + 2 * by_logit;
  return inner_integral(ln_along_diff_line, l, peak, inner_step(bend, SQUARED_EXPONENTIAL_STEP),
                        &l->ln_residual) +
         log(l->length * (1 + fabs(l->at)) / 2);
}

static ev_status diff_ordered(const double *c, const ev_options *options, ev_interval *ci) {
  ev_beta a = uniform_posterior(c), b = uniform_posterior(c + 2);
  bool a_high = a.mean > 0.5, b_high = b.mean > 0.5;
  diff_line l = {.x = a_high ? ev_beta_make(a.b, a.a) : a,
                 .u = b_high ? ev_beta_make(b.b, b.a) : b,
                 .sum = a_high != b_high,
                 .ln_residual = -HUGE_VAL};
  double start = l.sum ? l.x.mean + l.u.mean - 1 : l.x.mean - l.u.mean;
  double sd = 2 * sqrt(beta_variance(&l.x) + beta_variance(&l.u)) / (1 - start * start);
  /* The corner is at 0, where the line changes ends. */
  ev_search search = {.ln_density = ln_diff_density,
                      .context = &l,
                      .start = 2 * atanh(start),
                      .width = fmin(3, 6 * sd),
                      .has_corner = true,
                      .corner = 0};
  ev_interval z;
  ev_status status = outer_interval(&search, options, &l.ln_residual, &z);
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
*/
typedef struct odds_shift {
  ev_beta a, b;
  double by;
  double ln_residual;
} odds_shift;

static double ln_shifted(double t, void *context) {
  const odds_shift *s = context;
  return ev_beta_ln_logit_density(&s->a, ev_at_logit(t)) +
         ev_beta_ln_logit_density(&s->b, ev_at_logit(t - s->by));
}

static double shifted_slope(double t, void *context) {
  const odds_shift *s = context;
  return logit_slope(&s->a, ev_at_logit(t)) + logit_slope(&s->b, ev_at_logit(t - s->by));
}

static double ln_odds_ratio_density(double by, void *context) {
  odds_shift *s = context;
  s->by = by;
  double centre_a = log(s->a.a / s->a.b), centre_b = log(s->b.a / s->b.b) + by;
  double peak = falling_zero(shifted_slope, s, fmin(centre_a, centre_b), fmax(centre_a, centre_b),
                             1e-9 * (1 + fabs(centre_a)));
  double bend =
      logit_curvature(&s->a, ev_at_logit(peak)) + logit_curvature(&s->b, ev_at_logit(peak - by));
  return inner_integral(ln_shifted, s, peak, inner_step(bend, ONE_EXPONENTIAL_STEP),
                        &s->ln_residual);
}

static ev_status ln_odds_ratio_ordered(const double *c, const ev_options *options,
                                       ev_interval *ci) {
  odds_shift s = {uniform_posterior(c), uniform_posterior(c + 2), 0, -HUGE_VAL};
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
