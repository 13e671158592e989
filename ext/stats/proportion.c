/*
** Intervals for one proportion.
**
** References:
**   Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212.
**   Clopper and Pearson, Biometrika 26 (1934) 404-413.
**   Agresti and Coull, Am. Stat. 52 (1998) 119-126.
**   Brown, Cai and DasGupta, Statist. Sci. 16 (2001) 101-133: all of them.
**   Bowyer, Aitchison and Ivanova, ICML 2025: which to use for LLM evals.
*/
#include "proportion.h"

#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>

#include "beta.h"

static double lower_bound(const ev_beta *d, double mass) {
  return ev_beta_quantile(d, (ev_point){mass, 1 - mass}).x;
}

static double upper_bound(const ev_beta *d, double mass) {
  return ev_beta_quantile(d, (ev_point){1 - mass, mass}).x;
}

/* At a level of nearly nothing the ends are one point, and its roundings from
** either side may cross. */
static ev_interval ordered(double lo, double hi) {
  return (ev_interval){fmin(lo, hi), fmax(lo, hi)};
}

static ev_beta posterior(const double *counts, const ev_options *options) {
  double k = counts[0], n = counts[1];
  return ev_beta_make(options->a + k, options->b + (n - k));
}

ev_interval ev_bayes(const double *counts, const ev_options *options) {
  ev_beta d = posterior(counts, options);
  double mass = ev_tail(options);
  return ordered(lower_bound(&d, mass), upper_bound(&d, mass));
}

ev_interval ev_jeffreys(const double *counts, const ev_options *options) {
  ev_options jeffreys = {.level = options->level, .a = 0.5, .b = 0.5};
  return ev_bayes(counts, &jeffreys);
}

/* ln of the density of x at t, and how it changes as mass moves below t, by the
** logarithm of that mass. */
static double ln_density(const ev_beta *d, ev_point t, double ln_mass, double *by_ln_mass) {
  double ln_w = ev_beta_ln_logit_density(d, t);
  double by_logit = (d->a - 1) * t.y - (d->b - 1) * t.x;
  *by_ln_mass = by_logit * exp(ln_mass - ln_w);
  return ln_w - log(t.x) - log(t.y);
}

/* The HDI at a level of nearly nothing, which leaves too few digits to the mass
** outside for its split: around the mode, where the density is flat.  What that
** leaves out is of the order of level^2 standard deviations. */
static const double FLAT = 1e-6;

static ev_interval around_mode(const ev_beta *d, double level) {
  double rest = (d->a - 1) + (d->b - 1);
  ev_point mode = {(d->a - 1) / rest, (d->b - 1) / rest};
  double width = level * mode.x * mode.y / exp(ev_beta_ln_logit_density(d, mode));
  if (width / 2 > mode.y) return (ev_interval){1 - width, 1};
  double lo = fmax(0, mode.x - width / 2);
  return (ev_interval){lo, lo + width};
}

/* With n >= 1 one of the shapes exceeds 1, so the posterior is never U-shaped:
** it has one mode.  That is an end of [0,1] when the other shape is at most 1, and the interval
** touches that end; otherwise both ends have equal density.  What is sought is
** the log ratio in which the mass outside splits between the two sides.  The
** difference of the log densities rises with it, and nearly in a straight line
** (a shape just above 1 leaves e^-100 of the mass on its side), so: Newton,
** in a bracket. */
ev_interval ev_hdi(const double *counts, const ev_options *options) {
  ev_beta d = posterior(counts, options);
  double outside = 1 - options->level;
  if (d.a <= 1) return (ev_interval){0, upper_bound(&d, outside)};
  if (d.b <= 1) return (ev_interval){lower_bound(&d, outside), 1};
  if (options->level < FLAT) return around_mode(&d, options->level);
  double least = -700, most = 700, split = 0;
  ev_point lo, hi;
  bool close = false;
  for (int i = 0;; i++) {
    double below = outside / (1 + exp(-split)), above = outside / (1 + exp(split));
    double ln_mass = log(below) + log(above) - log(outside), lo_slope, hi_slope;
    lo = ev_beta_quantile(&d, (ev_point){below, 1 - below});
    hi = ev_beta_quantile(&d, (ev_point){1 - above, above});
    if (close || lo.x == 0 || hi.y == 0 || i == 60) break;
    double gap = ln_density(&d, lo, ln_mass, &lo_slope) - ln_density(&d, hi, ln_mass, &hi_slope);
    if (gap > 0) most = split;
    if (gap < 0) least = split;
    double next = split - gap / (lo_slope - hi_slope);
    /* Newton squares the error: what is left after 1e-9 is under eps. */
    close = fabs(next - split) <= 1e-9;
    split = close || (next > least && next < most) ? next : (least + most) / 2;
  }
  return ordered(lo.x, hi.x);
}

ev_interval ev_cp(const double *counts, const ev_options *options) {
  double k = counts[0], n = counts[1], mass = ev_tail(options);
  ev_interval ci = {0, 1};
  if (k > 0) {
    ev_beta d = ev_beta_make(k, n - k + 1);
    ci.lo = lower_bound(&d, mass);
  }
  if (k < n) {
    ev_beta d = ev_beta_make(k + 1, n - k);
    ci.hi = upper_bound(&d, mass);
  }
  return ci;
}

/* The two-sided standard normal deviate of the level. */
static double deviate(const ev_options *options) {
  return gsl_cdf_ugaussian_Qinv(ev_tail(options));
}

/* The smaller root of the score equation, in the form that does not cancel:
** exactly 0 at k = 0. */
static double wilson_lower(double k, double n, double z) {
  double z2 = z * z;
  return 2 * k * (k / n) / (2 * k + z2 + z * sqrt(z2 + 4 * k * ((n - k) / n)));
}

ev_interval ev_wilson(const double *counts, const ev_options *options) {
  double k = counts[0], n = counts[1], z = deviate(options);
  return ordered(wilson_lower(k, n, z), 1 - wilson_lower(n - k, n, z));
}

/* estimate +- z standard errors of a proportion p over n */
static ev_interval wald(double p, double n, double z) {
  double half = z * sqrt(p * (1 - p) / n);
  return (ev_interval){p - half, p + half};
}

ev_interval ev_agresti_coull(const double *counts, const ev_options *options) {
  double k = counts[0], n = counts[1], z = deviate(options), z2 = z * z;
  return wald((k + z2 / 2) / (n + z2), n + z2, z);
}

ev_interval ev_clt(const double *counts, const ev_options *options) {
  double k = counts[0], n = counts[1];
  return wald(k / n, n, deviate(options));
}
