/*
** Intervals for one proportion.
**
** References:
**   Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212.
**   Clopper and Pearson, Biometrika 26 (1934) 404-413.
**   Lancaster, J. Am. Stat. Assoc. 56 (1961) 223-234: mid-p.
**   Agresti and Coull, Am. Stat. 52 (1998) 119-126.
**   Brown, Cai and DasGupta, Statist. Sci. 16 (2001) 101-133: all of them.
**   Bowyer, Aitchison and Ivanova, ICML 2025: which to use for LLM evals.
*/
#include "proportion.h"

#include <assert.h>
#include <math.h>

#include "beta.h"
#include "normal.h"
#include "root.h"

static void assert_proportion(const double *counts, const ev_options *options) {
  assert(counts[0] >= 0 && counts[0] <= counts[1] && counts[1] >= 1);
  assert(options->level > 0 && options->level < 1);
  (void)counts;
  (void)options;
}

/* The bound with `mass` below it, or above it if `upper`. */
static bool beta_bound(const ev_beta *d, double mass, bool upper, double *bound) {
  ev_point x, p = upper ? (ev_point){1 - mass, mass} : (ev_point){mass, 1 - mass};
  if (!ev_beta_quantile(d, p, &x)) return false;
  *bound = x.x;
  return true;
}

/* At a level near 0 the ends are one point, and its roundings from either side may cross. */
static ev_interval ordered_interval(double lo, double hi) {
  return (ev_interval){fmin(lo, hi), fmax(lo, hi)};
}

static ev_beta proportion_posterior(const double *counts, const ev_options *options) {
  double k = counts[0], n = counts[1];
  assert_proportion(counts, options);
  assert(options->a > 0 && options->b > 0);
  return ev_beta_posterior(options->a, options->b, k, n - k);
}

ev_status ev_bayes(const double *counts, const ev_options *options, ev_host host, ev_interval *ci) {
  (void)host;
  ev_beta d = proportion_posterior(counts, options);
  double mass = ev_tail(options), lo, hi;
  if (!beta_bound(&d, mass, false, &lo) || !beta_bound(&d, mass, true, &hi))
    return EV_NOT_CONVERGED;
  *ci = ordered_interval(lo, hi);
  return ev_interval_status(*ci);
}

ev_status ev_prob_above(const double *counts, const ev_options *options, ev_host host, double *p) {
  (void)host;
  ev_beta d = proportion_posterior(counts, options);
  double t = options->threshold;
  assert(t >= 0 && t <= 1);
  *p = ev_beta_cdf(&d, (ev_point){t, 1 - t}).y;
  return isnan(*p) ? EV_NOT_CONVERGED : EV_OK;
}

ev_status ev_jeffreys(const double *counts, const ev_options *options, ev_host host,
                      ev_interval *ci) {
  ev_options jeffreys = {.level = options->level, .a = 0.5, .b = 0.5};
  return ev_bayes(counts, &jeffreys, host, ci);
}

/* ln of the density of x at t, and its derivative by the logarithm of the mass below t. */
static double hdi_ln_density(const ev_beta *d, ev_point t, double ln_mass, double *by_ln_mass) {
  double ln_w = ev_beta_ln_logit_density(d, t);
  double by_logit = (d->a - 1) * t.y - (d->b - 1) * t.x;
  *by_ln_mass = by_logit * exp(ln_mass - ln_w);
  return ln_w - log(t.x) - log(t.y);
}

/* The HDI at a level near 0, which leaves too few digits in the mass outside for its split: an
** interval around the mode, where the density is flat.  The error is of the order of level^2
** standard deviations. */
static const double HDI_FLAT_LEVEL = 1e-6;

static ev_interval hdi_around_mode(const ev_beta *d, double level) {
  double sum = (d->a - 1) + (d->b - 1);
  ev_point mode = {(d->a - 1) / sum, (d->b - 1) / sum};
  double width = level * mode.x * mode.y / exp(ev_beta_ln_logit_density(d, mode));
  if (width / 2 > mode.y) return (ev_interval){1 - width, 1};
  double lo = fmax(0, mode.x - width / 2);
  return (ev_interval){lo, lo + width};
}

/* Newton's method squares the error, so that after a step of 1e-9 the split has all digits.  Beyond
** some 10^13 questions the rounding of the densities keeps steps above that, but below 1e-7, which
** moves a bound by less than its own rounding.  A shape just above 1 puts the split beyond 700,
** where e^-700 of the mass is outside an end that rounds to 0 or 1: then the bracket closes. */
enum { HDI_STEPS = 60 };

/* Searches for the split, the log ratio in which the mass outside is divided between both sides. */
static bool hdi_find(const ev_beta *d, double outside, ev_point *lo, ev_point *hi) {
  ev_bracket in = {-700, 700};
  double split = 0, step = HUGE_VAL, lo_slope, hi_slope;
  for (int i = 0; i < HDI_STEPS; i++) {
    double below = outside / (1 + exp(-split)), above = outside / (1 + exp(split));
    double ln_mass = log(below) + log(above) - log(outside);
    if (!ev_beta_quantile(d, (ev_point){below, 1 - below}, lo) ||
        !ev_beta_quantile(d, (ev_point){1 - above, above}, hi))
      return false;
    if (step <= 1e-9 || lo->x == 0 || hi->y == 0) return true;
    double gap =
        hdi_ln_density(d, *lo, ln_mass, &lo_slope) - hdi_ln_density(d, *hi, ln_mass, &hi_slope);
    double wish = split - gap / (lo_slope - hi_slope);
    step = fabs(wish - split);
    double next = ev_bracket_next(&in, split, gap > 0, wish);
    split = step <= 1e-9 ? wish : next;
  }
  return step <= 1e-7 || in.high - in.low <= 1e-9 * fmax(1, fabs(split));
}

/* With n >= 1 one of the shapes exceeds 1, so the posterior is never U-shaped:
** it has one mode.  That is an end of [0,1] when the other shape is at most 1, and the
** interval touches that end; otherwise both ends have equal density.  The difference
** of the log densities rises with the split, and nearly in a straight line (a shape
** just above 1 leaves e^-100 of the mass on its side), so: Newton, in a bracket. */
ev_status ev_hdi(const double *counts, const ev_options *options, ev_host host, ev_interval *ci) {
  (void)host;
  ev_beta d = proportion_posterior(counts, options);
  double outside = 1 - options->level;
  ev_point lo, hi;
  bool converged = true;
  *ci = (ev_interval){0, 1};
  if (d.a <= 1) {
    converged = beta_bound(&d, outside, true, &ci->hi);
  } else if (d.b <= 1) {
    converged = beta_bound(&d, outside, false, &ci->lo);
  } else if (options->level < HDI_FLAT_LEVEL) {
    *ci = hdi_around_mode(&d, options->level);
  } else {
    converged = hdi_find(&d, outside, &lo, &hi);
    if (converged) *ci = ordered_interval(lo.x, hi.x);
  }
  return converged ? ev_interval_status(*ci) : EV_NOT_CONVERGED;
}

ev_status ev_cp(const double *counts, const ev_options *options, ev_host host, ev_interval *ci) {
  (void)host;
  double k = counts[0], n = counts[1], mass = ev_tail(options);
  bool converged = true;
  assert_proportion(counts, options);
  *ci = (ev_interval){0, 1};
  if (k > 0) {
    ev_beta d = ev_beta_make(k, n - k + 1);
    converged = beta_bound(&d, mass, false, &ci->lo);
  }
  if (k < n) {
    ev_beta d = ev_beta_make(k + 1, n - k);
    converged = beta_bound(&d, mass, true, &ci->hi) && converged;
  }
  return converged ? ev_interval_status(*ci) : EV_NOT_CONVERGED;
}

/* The mid-p bound is found by Newton's method on ln M(q), M(q) = P(X > k; q) + P(X = k; q)/2, as a
** function of logit q.  M is the mean of the distributions of Beta(k, n-k+1) and Beta(k+1, n-k).
** The logarithm of its density, k ln q + (n-k) ln(1-q) + ln((n-k) q + k (1-q)) + constant, is
** concave in logit q, and so is ln M: the search cannot diverge.  It begins at the quantile of
** Beta(k+1/2, n-k+1/2), which is near.  An error of 1e-8 in ln M is squared by the last step; with
** 10^15 questions the rounding of q is worth more than that. */
enum { MIDP_STEPS = 60 };
static const double MIDP_LN_TOLERANCE = 1e-8, MIDP_ROUNDING = 1e-15;

/* The lower bound of k right answers, 0 < k < n. */
static bool midp_find(double k, double n, double mass, ev_point *t) {
  ev_beta start = ev_beta_make(k + 0.5, n - k + 0.5), d = ev_beta_make(k + 1, n - k);
  if (!ev_beta_quantile(&start, (ev_point){mass, 1 - mass}, t)) return false;
  for (int i = 0; i < MIDP_STEPS; i++) {
    double ln_pmf = ev_beta_ln_logit_density(&d, *t) - log((n - k) * t->x);
    double above = exp(ev_beta_ln_cdf(&d, *t).x - ln_pmf); /* P(X > k) / P(X = k) */
    double excess = ln_pmf + log(above + 0.5) - log(mass);
    double step = -excess * (1 + 2 * above) / ((n - k) * t->x + k * t->y);
    double odds = t->x * exp(step);
    *t = (ev_point){odds / (t->y + odds), t->y / (t->y + odds)};
    if (fabs(excess) <= MIDP_LN_TOLERANCE || fabs(step) <= MIDP_ROUNDING) return true;
  }
  return false;
}

/* The lower bound of k right answers; 1 minus it is the upper one of k wrong answers. */
static bool midp_lower(double k, double n, const ev_options *options, ev_point *t) {
  double ln_all_right = log1p(-options->level) / n; /* q^n / 2 is the mass */
  bool converged = true;
  *t = (ev_point){0, 1};
  if (k == n)
    *t = (ev_point){exp(ln_all_right), -expm1(ln_all_right)};
  else if (k > 0)
    converged = midp_find(k, n, ev_tail(options), t);
  *t = t->x < t->y ? (ev_point){t->x, 1 - t->x} : (ev_point){1 - t->y, t->y};
  return converged;
}

ev_status ev_midp(const double *counts, const ev_options *options, ev_host host, ev_interval *ci) {
  (void)host;
  double k = counts[0], n = counts[1];
  ev_point right, wrong;
  assert_proportion(counts, options);
  if (!midp_lower(k, n, options, &right) || !midp_lower(n - k, n, options, &wrong))
    return EV_NOT_CONVERGED;
  *ci = ordered_interval(right.x, wrong.y);
  return ev_interval_status(*ci);
}

/* The roots of the score equation, each in the form that does not cancel: the
** smaller is exactly 0 at k = 0, the larger exactly 1 at k = n. */
static double wilson_smaller(double k, double n, double z) {
  double z2 = z * z;
  return 2 * k * (k / n) / (2 * k + z2 + z * sqrt(z2 + 4 * k * ((n - k) / n)));
}

static double wilson_larger(double k, double n, double z) {
  double z2 = z * z;
  return (2 * k + z2 + z * sqrt(z2 + 4 * k * ((n - k) / n))) / (2 * (n + z2));
}

/* A bound below 1/2 is a root of its own; one above is 1 minus the mirrored
** question's, so that exchanging right and wrong mirrors the interval exactly. */
ev_status ev_wilson(const double *counts, const ev_options *options, ev_host host,
                    ev_interval *ci) {
  (void)host;
  double k = counts[0], n = counts[1], z = ev_deviate(options);
  assert_proportion(counts, options);
  double wrong_hi = wilson_larger(n - k, n, z), right_hi = wilson_larger(k, n, z);
  double lo = wrong_hi < 0.5 ? 1 - wrong_hi : wilson_smaller(k, n, z);
  double hi = right_hi < 0.5 ? right_hi : 1 - wilson_smaller(n - k, n, z);
  *ci = ordered_interval(lo, hi);
  return ev_interval_status(*ci);
}

/* right / n +- z standard errors, from `right` and `wrong`, which add up to n: computing 1 - p from
** p would lose digits of an accuracy near 1. */
static ev_status wald_interval(double right, double wrong, double n, double z, ev_interval *ci) {
  *ci = ev_plus_minus(right / n, z * sqrt(right / n * (wrong / n) / n));
  return ev_interval_status(*ci);
}

ev_status ev_agresti_coull(const double *counts, const ev_options *options, ev_host host,
                           ev_interval *ci) {
  (void)host;
  double k = counts[0], n = counts[1], z = ev_deviate(options), z2 = z * z;
  assert_proportion(counts, options);
  return wald_interval(k + z2 / 2, n - k + z2 / 2, n + z2, z, ci);
}

ev_status ev_clt(const double *counts, const ev_options *options, ev_host host, ev_interval *ci) {
  (void)host;
  double k = counts[0], n = counts[1];
  assert_proportion(counts, options);
  return wald_interval(k, n - k, n, ev_deviate(options), ci);
}
