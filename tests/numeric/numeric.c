/*
** Tests identities of the models of one proportion and of the functions that they use; identities
** need no reference.
*/
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_log.h>

#include "../../ext/stats/beta.h"
#include "../../ext/stats/lanes.h"
#include "../../ext/stats/proportion.h"
#include "../check.h"

/* A model's interval, or NaNs, which fail every comparison. */
static ev_interval interval(ev_model *model, const double *counts, const ev_options *options) {
  ev_interval ci;
  return model(counts, options, (ev_host){0}, &ci) == EV_OK ? ci : (ev_interval){NAN, NAN};
}

static const double shapes[] = {1e-300, 1e-9, 0.05, 0.5, 1,   1.0001, 2,   19,
                                400,    3001, 1e5,  1e8, 1e9, 1e12,   9e15};
static const double tails[] = {1e-17, 5e-7, 0.0005, 0.025, 0.25, 0.495, 0.5};
enum { SHAPES = sizeof shapes / sizeof *shapes, TAILS = sizeof tails / sizeof *tails };

static bool near(double got, double wanted, double relative) {
  return fabs(got - wanted) <= relative * fabs(wanted);
}

static ev_point lower(double p) {
  return (ev_point){p, 1 - p};
}

static ev_point upper(double q) {
  return (ev_point){1 - q, q};
}

/* The quantile, or NaNs, which fail every comparison. */
static ev_point quantile(const ev_beta *d, ev_point p) {
  ev_point x;
  return ev_beta_quantile(d, p, &x) ? x : (ev_point){NAN, NAN};
}

static void quantiles_are_inside_and_rise(void) {
  for (int i = 0; i < SHAPES; i++)
    for (int j = 0; j < SHAPES; j++) {
      ev_beta d = ev_beta_make(shapes[i], shapes[j]);
      double last = 0;
      bool ok = true;
      for (int t = 0; t < 2 * TAILS; t++) {
        ev_point p = t < TAILS ? lower(tails[t]) : upper(tails[2 * TAILS - 1 - t]);
        double x = quantile(&d, p).x;
        ok = ok && x >= 0 && x <= 1 && x >= last;
        last = x;
      }
      check(ok, "quantiles lie in [0,1] and rise with p", shapes[i], shapes[j]);
    }
}

/* Where the CDF is steep, the last digit of its argument is worth more than eps; the factor is the
** density of the logit divided by the tail. */
static void cdf_undoes_quantile(void) {
  for (int i = 2; i < SHAPES; i++)
    for (int j = 2; j < SHAPES; j++)
      for (int t = 0; t < TAILS; t++) {
        ev_beta d = ev_beta_make(shapes[i], shapes[j]);
        ev_point x = quantile(&d, lower(tails[t]));
        if (x.x < 1e-290) { /* the quantile underflows: a larger argument must have more mass */
          double more = ev_beta_cdf(&d, (ev_point){1e-290, 1}).x;
          check(more >= tails[t], "CDF above a quantile of nothing", more, tails[t]);
          continue;
        }
        double steepness = exp(ev_beta_ln_logit_density(&d, x)) / tails[t];
        double p = ev_beta_cdf(&d, x).x;
        check(near(p, tails[t], 1e-13 + 1e-15 * steepness), "CDF of quantile", p, tails[t]);
      }
}

static void closed_forms(void) {
  for (int i = 2; i < SHAPES; i++)
    for (int t = 0; t < TAILS; t++) {
      double s = shapes[i], p = tails[t];
      ev_beta first = ev_beta_make(1, s), second = ev_beta_make(s, 1);
      double x = -expm1(log1p(-p) / s), y = -expm1(log(p) / s);
      double got_x = quantile(&first, lower(p)).x;
      double got_y = quantile(&second, lower(p)).y;
      check(near(got_x, x, 1e-13), "Beta(1,b) quantile", got_x, x);
      check(near(got_y, y, 1e-13), "Beta(a,1) quantile, from above", got_y, y);
    }
  ev_beta arcsine = ev_beta_make(0.5, 0.5);
  for (int t = 0; t < TAILS; t++) {
    double x = pow(sin(M_PI * tails[t] / 2), 2), got = quantile(&arcsine, lower(tails[t])).x;
    check(near(got, x, 1e-14), "Beta(1/2,1/2) quantile", got, x);
  }
}

/* Both tails have all their digits, however small they are: each is the other tail of the mirrored
** distribution. */
static void tails_mirror(void) {
  for (int i = 2; shapes[i] < 1e6; i++)
    for (int j = 2; shapes[j] < 1e6; j++) {
      ev_beta d = ev_beta_make(shapes[i], shapes[j]), mirror = ev_beta_make(shapes[j], shapes[i]);
      for (double t = -40; t <= 40; t += 0.625) {
        ev_point at = ev_at_logit(t), across = {at.y, at.x};
        ev_point one = ev_beta_cdf(&d, at), two = ev_beta_cdf(&mirror, across);
        check(near(one.y, two.x, 1e-12) && near(one.x, two.y, 1e-12), "tails mirror", one.y, two.x);
      }
    }
}

/* With equal shapes the CDF at the mean is 1/2, and the continued fraction is longest: 175 terms
** just below the shapes for which a quadrature takes over. */
static void half_lies_below_the_middle(void) {
  for (double s = 0.75; s < 4000; s *= 1.1) {
    ev_beta d = ev_beta_make(s, s);
    ev_point p = ev_beta_cdf(&d, (ev_point){0.5, 0.5});
    check(near(p.x, 0.5, 1e-14) && near(p.y, 0.5, 1e-14), "half lies below the middle", p.x, s);
  }
  ev_beta longest = ev_beta_make(3000, 3000);
  double x = 0.4875, below = ev_beta_cdf(&longest, (ev_point){x, 1 - x}).x;
  check(near(below, 0.026390177607397962, 1e-13), "Beta(3000,3000) at 0.4875", below,
        0.026390177607397962);
}

/* A closed form near 0 keeps its relative digits, because it is not computed as 1 minus a number
** near 1.  In long doubles the formulas are those of the textbooks, except for a root that would
** cancel. */
static void closed_forms_keep_digits_at_both_ends(void) {
  static const double levels[] = {0.01, 0.5, 0.8, 0.95, 0.999999};
  for (int i = 0; i < 5; i++)
    for (double n = 1; n < 1e15; n = floor(n * 7.3) + 1)
      for (double k = 0; k <= n; k = floor(k * 5.7) + 1) {
        ev_options options = {.level = levels[i], .a = 1, .b = 1};
        long double z = gsl_cdf_ugaussian_Qinv(ev_tail(&options)), z2 = z * z,
                    p = k / (long double)n;
        long double root = z * sqrtl(z2 / 4 + k * (n - k) / (long double)n);
        long double hi = (k + z2 / 2 + root) / (n + z2), lo = k * p / (k + z2 / 2 + root);
        long double q = (k + z2 / 2) / (n + z2), half = z * sqrtl(q * (1 - q) / (n + z2));
        long double se = z * sqrtl(k * (n - k) / (long double)n) / n;
        ev_interval w = interval(ev_wilson, (double[]){k, n}, &options);
        ev_interval ac = interval(ev_agresti_coull, (double[]){k, n}, &options);
        ev_interval clt = interval(ev_clt, (double[]){k, n}, &options);
        check(near(w.lo, (double)lo, 2e-15), "wilson, lower", w.lo, (double)lo);
        check(near(w.hi, (double)hi, 2e-15), "wilson, upper", w.hi, (double)hi);
        check(near(ac.hi, (double)(q + half), 2e-15), "agresti_coull", ac.hi, (double)(q + half));
        check(fabsl(ac.lo - (q - half)) <= 2e-15L * q, "agresti_coull", ac.lo, (double)(q - half));
        check(near(clt.hi, (double)(p + se), 2e-15), "clt", clt.hi, (double)(p + se));
        check(fabsl(clt.lo - (p - se)) <= 2e-15L * p, "clt", clt.lo, (double)(p - se));
      }
  ev_interval none =
      interval(ev_wilson, (double[]){0, 1e8}, &(ev_options){.level = 0.8, .a = 1, .b = 1});
  check(near(none.hi, 1.642374388175879634e-8, 1e-15), "0 of 10^8", none.hi, 1.6423743881758796e-8);
  check(none.lo == 0, "0 of 10^8", none.lo, 0);
}

/* At n = 2^53 the posterior is normal to all digits. */
static void largest_counts_are_normal(void) {
  double n = 9007199254740992.0, counts[] = {n / 4, n};
  ev_options options = {.level = 0.95, .a = 1, .b = 1};
  double half = 1.9599639845400545 * sqrt(0.25 * 0.75 / n);
  ev_interval bayes = interval(ev_bayes, counts, &options),
              hdi = interval(ev_hdi, counts, &options);
  check(near(bayes.hi - 0.25, half, 1e-6), "bayes at n = 2^53", bayes.hi - 0.25, half);
  check(near(0.25 - bayes.lo, half, 1e-6), "bayes at n = 2^53", 0.25 - bayes.lo, half);
  check(near(hdi.hi - hdi.lo, 2 * half, 1e-6), "hdi at n = 2^53", hdi.hi - hdi.lo, 2 * half);
}

/* Exchanging right and wrong, and the shapes of the prior, mirrors the interval up to the rounding
** of the bound nearer to 1. */
static void mirrored(ev_model *model, double k, double n, double a, double b) {
  double counts[] = {k, n}, swapped[] = {n - k, n};
  ev_interval one = interval(model, counts, &(ev_options){.level = 0.95, .a = a, .b = b});
  ev_interval two = interval(model, swapped, &(ev_options){.level = 0.95, .a = b, .b = a});
  check(fabsl((long double)one.lo + two.hi - 1) <= DBL_EPSILON, "mirror", two.hi, 1 - one.lo);
  check(fabsl((long double)two.lo + one.hi - 1) <= DBL_EPSILON, "mirror", one.hi, 1 - two.lo);
}

static void symmetries(void) {
  for (int i = 0; i < 5; i++) {
    double n = (double[]){1, 7, 20, 1000, 1e7}[i];
    for (double k = 0; k <= n; k = k * 3 + 1) {
      mirrored(ev_bayes, k, n, 0.3, 2);
      mirrored(ev_cp, k, n, 1, 1);
      mirrored(ev_midp, k, n, 1, 1);
      mirrored(ev_wilson, k, n, 1, 1);
    }
  }
}

/* The HDI has its mass, ends at equal densities, and is at most as wide as the equal-tailed
** interval. */
static void hdi_defined(double k, double n, double level) {
  double counts[] = {k, n};
  ev_options options = {.level = level, .a = 1, .b = 1};
  ev_interval hdi = interval(ev_hdi, counts, &options),
              equal = interval(ev_bayes, counts, &options);
  ev_beta d = ev_beta_make(k + 1, n - k + 1);
  ev_point lo = {hdi.lo, 1 - hdi.lo}, hi = {hdi.hi, 1 - hdi.hi};
  double mass = 1 - ev_beta_cdf(&d, lo).x - ev_beta_cdf(&d, hi).y;
  check(near(mass, level, 1e-12), "hdi mass", mass, level);
  check(hdi.hi - hdi.lo <= (equal.hi - equal.lo) * (1 + 1e-12), "hdi width", hdi.hi - hdi.lo,
        equal.hi - equal.lo);
  if (k == 0 || k == n) return;
  double ln_lo = ev_beta_ln_logit_density(&d, lo) - log(lo.x * lo.y);
  double ln_hi = ev_beta_ln_logit_density(&d, hi) - log(hi.x * hi.y);
  /* A bound near 1 has few digits for its distance from 1. */
  double rounding = n * DBL_EPSILON / fmin(lo.x, hi.y);
  check(fabs(ln_lo - ln_hi) < 1e-10 + rounding, "hdi ends at equal density", ln_lo, ln_hi);
}

static void hdis_defined(void) {
  static const double levels[] = {0.01, 0.5, 0.95, 0.99, 0.999999};
  for (int i = 0; i < 5; i++) {
    for (double n = 1; n <= 60; n++)
      for (double k = 0; k <= n; k++) hdi_defined(k, n, levels[i]);
    for (double n = 125; n < 2e4; n *= 5)
      for (double k = 0; k <= n; k = 2 * k + 1) hdi_defined(k, n, levels[i]);
  }
}

/* The mass that corresponds to the last digit of a bound near 1. */
static double mass_of_last_digit(const ev_beta *d, ev_point t) {
  return exp(ev_beta_ln_logit_density(d, t)) / (t.x * t.y) * DBL_EPSILON;
}

/* The less likely of X (all ungraded answers wrong) and Y (all right) lies inside with probability
** `level`, and both tails outside are equal. */
static void bounded_defined(const double *counts, double level) {
  ev_options options = {.level = level};
  ev_interval ci = interval(ev_bounded, counts, &options);
  ev_beta least = ev_beta_make(1 + counts[0], 1 + counts[1] + counts[2]);
  ev_beta most = ev_beta_make(1 + counts[0] + counts[2], 1 + counts[1]);
  ev_point lo = {ci.lo, 1 - ci.lo}, hi = {ci.hi, 1 - ci.hi};
  double below = ev_beta_cdf(&least, lo).x, above = ev_beta_cdf(&most, hi).y;
  double outside = below + fmax(ev_beta_cdf(&least, hi).y, ev_beta_cdf(&most, lo).x);
  double slack = 1e-10 * (1 - level);
  slack += mass_of_last_digit(&most, hi) + mass_of_last_digit(&least, hi);
  check(fabs(below - above) <= slack, "tails of a bounded interval", below, above);
  check(fabs(outside - (1 - level)) <= slack, "outside a bounded interval", outside, 1 - level);
}

static void bounded_intervals_are_defined(void) {
  static const double cells[] = {0, 1, 2, 20, 300, 4000, 1e6};
  static const double levels[] = {0.01, 0.5, 0.95, 0.999, 0.999999};
  enum { CELLS = sizeof cells / sizeof *cells, LEVELS = sizeof levels / sizeof *levels };
  for (int i = 0; i < CELLS * CELLS * (CELLS - 1); i++)
    for (int l = 0; l < LEVELS; l++)
      bounded_defined(
          (double[]){cells[i % CELLS], cells[i / CELLS % CELLS], cells[1 + i / CELLS / CELLS]},
          levels[l]);
}

/* At a level close to 0 the HDI stays in [0,1], however close to an end its mode is. */
static void flat_hdis_stay_inside(void) {
  for (double level = 1e-18; level < 1e-6; level *= 10)
    for (double above = 1e-15; above < 1e-3; above *= 10)
      for (int right = 0; right < 2; right++) {
        double counts[] = {right ? 5 : 0, 5};
        ev_options options = {
            .level = level, .a = right ? 1 : 1 + above, .b = right ? 1 + above : 1};
        ev_interval ci = interval(ev_hdi, counts, &options);
        check(ci.lo >= 0 && ci.hi <= 1 && ci.lo <= ci.hi, "a flat hdi", ci.lo, ci.hi);
      }
}

/* lo <= hi, however small the level is. */
static void bounds_are_ordered(void) {
  static ev_model *const models[] = {ev_bayes,         ev_cp,  ev_hdi, ev_jeffreys, ev_wilson,
                                     ev_agresti_coull, ev_clt, ev_midp};
  static const double sizes[] = {1, 77, 69902, 5752734505431350.0};
  for (int i = 0; i < 4; i++)
    for (double level = 1e-18; level < 1e-7; level *= 7)
      for (double share = 0; share <= 1; share += 0.0625) {
        double counts[] = {floor(share * sizes[i]), sizes[i]};
        for (int m = 0; m < 8; m++) {
          ev_interval ci =
              interval(models[m], counts, &(ev_options){.level = level, .a = 1, .b = 1});
          check(ci.lo <= ci.hi, "bounds are ordered", ci.lo, ci.hi);
        }
      }
}

/* Coverage of a 95% interval averaged over theta ~ U(0,1), exactly: the
** posterior mass of each interval, averaged over k.  The figures for CLT,
** Wilson and Clopper-Pearson are known to four digits; Bayes is 0.95. */
static double coverage(ev_model *model, int n) {
  double sum = 0;
  for (int k = 0; k <= n; k++) {
    double counts[] = {k, n};
    ev_interval ci = interval(model, counts, &(ev_options){.level = 0.95, .a = 1, .b = 1});
    ev_beta d = ev_beta_make(k + 1, n - k + 1);
    sum += ev_beta_cdf(&d, (ev_point){ci.hi, 1 - ci.hi}).x -
           ev_beta_cdf(&d, (ev_point){ci.lo, 1 - ci.lo}).x;
  }
  return sum / (n + 1);
}

static void coverages(void) {
  static const struct {
    const char *name;
    ev_model *model;
    double n3, n10, n30, n100, tolerance;
  } known[] = {
      {"clt coverage", ev_clt, 0.4957, 0.7693, 0.8749, 0.9223, 5e-5},
      {"wilson coverage", ev_wilson, 0.9560, 0.9541, 0.9524, 0.9511, 5e-5},
      {"cp coverage", ev_cp, 0.9946, 0.9838, 0.9734, 0.9646, 5e-5},
      {"bayes coverage", ev_bayes, 0.95, 0.95, 0.95, 0.95, 1e-14},
      {"hdi coverage", ev_hdi, 0.95, 0.95, 0.95, 0.95, 1e-13},
  };
  for (int i = 0; i < 5; i++) {
    double wanted[] = {known[i].n3, known[i].n10, known[i].n30, known[i].n100};
    for (int j = 0; j < 4; j++) {
      double got = coverage(known[i].model, (int[]){3, 10, 30, 100}[j]);
      check(fabs(got - wanted[j]) <= known[i].tolerance, known[i].name, got, wanted[j]);
    }
  }
}

/* Units of the last place between two numbers; infinite for NaN. */
static double ulps(double got, double wanted) {
  double units = fabs(got - wanted) / (nextafter(fabs(wanted), HUGE_VAL) - fabs(wanted));
  return isnan(units) ? HUGE_VAL : units;
}

/* exp and log in four lanes against the C library's, which err by at most one unit: over their
** whole domains, and densely around 0 and 1. */
static void lanes_agree_with_libm(void) {
  double worst_exp = 0, worst_log = 0;
  for (int i = 0; i <= 400000; i++) {
    double x = i % 2 ? -60 + 760 * (i / 400000.0) : (i - 200000) / 200000.0;
    double y = i % 2 ? exp(-690 + 1390 * (i / 400000.0)) : 1 + (i - 200000) / 300000.0;
    ev_lanes e = {x, 0, -x, -1e4}, l = {y, 1, 1 / y, -1};
    ev_exp(&e, 1);
    ev_log(&l, 1);
    worst_exp = fmax(worst_exp, fmax(ulps(e[0], exp(x)), ulps(e[2], exp(fmax(-60, -x)))));
    worst_log = fmax(worst_log, fmax(ulps(l[0], log(y)), ulps(l[2], log(fmax(1e-300, 1 / y)))));
    if (e[1] != 1 || l[1] != 0 || ulps(e[3], exp(-60)) > 3 || ulps(l[3], log(1e-300)) > 3)
      check(false, "lanes beside", e[1], l[1]);
  }
  check(worst_exp <= 3, "units of the last place of exp", worst_exp, 3);
  check(worst_log <= 3, "units of the last place of log", worst_log, 3);
  printf("lanes: exp within %.1f units of the last place, log within %.1f\n", worst_exp, worst_log);
}

/* ln(1 + w) - w against GSL's, which does not cancel either: relative where w is small, and
** to the rounding of 1 + w where it is not. */
static void lanes_keep_small_logarithms(void) {
  double worst = 0;
  for (double w = 1e-12; w < 0x1p40; w *= 1.09) {
    double below = -w / (1 + w);
    ev_lanes at = {w, below, 0, 1};
    ev_log1p_less(&at, 1);
    for (int i = 0; i < 2; i++) {
      double wanted = gsl_sf_log_1plusx_mx(i ? below : w);
      worst = fmax(worst, fabs(at[i] - wanted) / (fabs(wanted) + (w > 0.25)));
    }
    if (at[2] != 0 || fabs(at[3] - (M_LN2 - 1)) > 2e-16) check(false, "beside", at[2], at[3]);
  }
  check(worst <= 2e-15, "ln(1 + w) - w", worst, 2e-15);
}

/* Cosines and sines in four lanes likewise: in every quadrant, of either sign, of many turns. */
static void turns_agree_with_libm(void) {
  double worst = 0;
  for (int i = 0; i <= 400000; i++) {
    double x = i % 2 ? (i - 200000) * 5.0 : (i - 200000) / 20000.0;
    ev_lanes angle = {x, 0, -x, x / 7}, cosine, sine;
    ev_sincos(&angle, &cosine, &sine);
    for (int j = 0; j < EV_LANES; j++)
      worst = fmax(worst, fmax(fabs(cosine[j] - cos(angle[j])), fabs(sine[j] - sin(angle[j]))));
    if (cosine[1] != 1 || sine[1] != 0) check(false, "no turn", cosine[1], sine[1]);
  }
  check(worst < 3e-16, "cosines and sines in lanes", worst, 0);
}

int main(void) {
  gsl_set_error_handler_off();
  quantiles_are_inside_and_rise();
  cdf_undoes_quantile();
  closed_forms();
  tails_mirror();
  half_lies_below_the_middle();
  closed_forms_keep_digits_at_both_ends();
  largest_counts_are_normal();
  symmetries();
  hdis_defined();
  bounded_intervals_are_defined();
  flat_hdis_stay_inside();
  bounds_are_ordered();
  coverages();
  lanes_agree_with_libm();
  lanes_keep_small_logarithms();
  turns_agree_with_libm();
  return check_summary();
}
