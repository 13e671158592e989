/*
** Compares the models with tests/reference/proportion.csv, row by row, prints
** the worst error of each method, and checks identities that need no
** reference.
**
**     numeric tests/reference/proportion.csv
**
** A bound passes within its method's relative bar, or within one unit in the
** last place where a double holds no more digits than that.
*/
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "../ext/stats/beta.h"
#include "../ext/stats/lanes.h"
#include "../ext/stats/proportion.h"
#include "check.h"

/*
** References
*/
typedef struct method {
  const char *name;
  ev_model *model;
  bool absolute;       /* the bars are absolute, not relative */
  double small, large; /* bars for n <= 10^4 and for n <= 10^9 */
  int least;           /* how many rows the file has, or more */
  double worst_small, worst_large, worst_ulps;
  int rows;
} method;

/* bayes, cp and wilson have the bars the project promises; the closed forms of
** the rest allow a few roundings. */
static method methods[] = {
    {"bayes", ev_bayes, false, 1e-12, 1e-10, 900, 0, 0, 0, 0},
    {"cp", ev_cp, false, 1e-12, 1e-10, 350, 0, 0, 0, 0},
    {"hdi", ev_hdi, false, 1e-12, 1e-10, 120, 0, 0, 0, 0},
    {"jeffreys", ev_jeffreys, false, 1e-12, 1e-10, 60, 0, 0, 0, 0},
    {"wilson", ev_wilson, true, 1e-15, 1e-15, 1048, 0, 0, 0, 0},
    {"agresti_coull", ev_agresti_coull, true, 1e-15, 1e-15, 200, 0, 0, 0, 0},
    {"clt", ev_clt, true, 1e-15, 1e-15, 200, 0, 0, 0, 0},
};
enum { METHODS = sizeof methods / sizeof *methods };

static void compare(method *m, double n, double got, double wanted, const char *line) {
  double error = fabs(got - wanted);
  double ulp = nextafter(fabs(wanted), INFINITY) - fabs(wanted);
  if (!m->absolute && wanted != 0) error /= fabs(wanted);
  double *worst = n <= 1e4 ? &m->worst_small : &m->worst_large;
  if (!(error <= *worst)) *worst = error;
  if (wanted > 0.5) m->worst_ulps = fmax(m->worst_ulps, fabs(got - wanted) / ulp);
  check(error <= (n <= 1e4 ? m->small : m->large) &&
            (m->absolute || wanted < 0.999 || fabs(got - wanted) <= ulp),
        line, got, wanted);
}

static int compare_file(const char *path) {
  FILE *file = fopen(path, "r");
  char line[400], name[32];
  if (!file) {
    fprintf(stderr, "numeric: cannot open %s\n", path);
    return 1;
  }
  while (fgets(line, sizeof line, file)) {
    double counts[2], lo, hi;
    ev_options options;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%31[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf", name, &counts[0], &counts[1],
               &options.level, &options.a, &options.b, &lo, &hi) != 8)
      continue;
    for (int i = 0; i < METHODS; i++) {
      if (strcmp(methods[i].name, name)) continue;
      ev_interval ci = methods[i].model(counts, &options);
      compare(&methods[i], counts[1], ci.lo, lo, line);
      compare(&methods[i], counts[1], ci.hi, hi, line);
      methods[i].rows++;
    }
  }
  fclose(file);
  printf("%-14s %6s  %-9s %-9s %-9s %s\n", "method", "rows", "n<=1e4", "n<=1e9", "bars",
         "ulps above 0.5");
  for (int i = 0; i < METHODS; i++) {
    const method *m = &methods[i];
    printf("%-14s %6d  %-9.1e %-9.1e %.0e/%.0e %s %.1f\n", m->name, m->rows, m->worst_small,
           m->worst_large, m->small, m->large, m->absolute ? "abs" : "rel", m->worst_ulps);
    check(m->rows >= m->least, "rows of the reference", m->rows, m->least);
  }
  return 0;
}

/*
** Identities
*/
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

static void quantiles_are_inside_and_rise(void) {
  for (int i = 0; i < SHAPES; i++)
    for (int j = 0; j < SHAPES; j++) {
      ev_beta d = ev_beta_make(shapes[i], shapes[j]);
      double last = 0;
      bool ok = true;
      for (int t = 0; t < 2 * TAILS; t++) {
        ev_point p = t < TAILS ? lower(tails[t]) : upper(tails[2 * TAILS - 1 - t]);
        double x = ev_beta_quantile(&d, p).x;
        ok = ok && x >= 0 && x <= 1 && x >= last;
        last = x;
      }
      check(ok, "quantiles lie in [0,1] and rise with p", shapes[i], shapes[j]);
    }
}

/* Where the CDF is steep its input's last digit is worth more than eps; the
** factor is the density of the logit over the tail. */
static void cdf_undoes_quantile(void) {
  for (int i = 2; i < SHAPES; i++)
    for (int j = 2; j < SHAPES; j++)
      for (int t = 0; t < TAILS; t++) {
        ev_beta d = ev_beta_make(shapes[i], shapes[j]);
        ev_point x = ev_beta_quantile(&d, lower(tails[t]));
        if (x.x < 1e-290) continue;
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
      double got_x = ev_beta_quantile(&first, lower(p)).x;
      double got_y = ev_beta_quantile(&second, lower(p)).y;
      check(near(got_x, x, 1e-13), "Beta(1,b) quantile", got_x, x);
      check(near(got_y, y, 1e-13), "Beta(a,1) quantile, from above", got_y, y);
    }
  ev_beta arcsine = ev_beta_make(0.5, 0.5);
  for (int t = 0; t < TAILS; t++) {
    double x = pow(sin(M_PI * tails[t] / 2), 2),
           got = ev_beta_quantile(&arcsine, lower(tails[t])).x;
    check(near(got, x, 1e-14), "Beta(1/2,1/2) quantile", got, x);
  }
}

/* At n = 2^53 the posterior is normal for all purposes. */
static void largest_counts_are_normal(void) {
  double n = 9007199254740992.0, counts[] = {n / 4, n};
  ev_options options = {0.95, 1, 1};
  double half = 1.9599639845400545 * sqrt(0.25 * 0.75 / n);
  ev_interval bayes = ev_bayes(counts, &options), hdi = ev_hdi(counts, &options);
  check(near(bayes.hi - 0.25, half, 1e-6), "bayes at n = 2^53", bayes.hi - 0.25, half);
  check(near(0.25 - bayes.lo, half, 1e-6), "bayes at n = 2^53", 0.25 - bayes.lo, half);
  check(near(hdi.hi - hdi.lo, 2 * half, 1e-6), "hdi at n = 2^53", hdi.hi - hdi.lo, 2 * half);
}

/* Swapping right and wrong, and the prior, mirrors the interval exactly. */
static void mirrored(ev_model *model, double k, double n, double a, double b) {
  double counts[] = {k, n}, swapped[] = {n - k, n};
  ev_interval one = model(counts, &(ev_options){0.95, a, b});
  ev_interval two = model(swapped, &(ev_options){0.95, b, a});
  check(two.hi == 1 - one.lo || one.lo == 1 - two.hi, "mirror", two.hi, 1 - one.lo);
}

static void symmetries(void) {
  for (int i = 0; i < 5; i++) {
    double n = (double[]){1, 7, 20, 1000, 1e7}[i];
    for (double k = 0; k <= n; k = k * 3 + 1) {
      mirrored(ev_bayes, k, n, 0.3, 2);
      mirrored(ev_cp, k, n, 1, 1);
      mirrored(ev_wilson, k, n, 1, 1);
    }
  }
}

/* The HDI holds its mass, ends at equal density, and is never the wider. */
static void hdi_defined(double k, double n, double level) {
  double counts[] = {k, n};
  ev_options options = {level, 1, 1};
  ev_interval hdi = ev_hdi(counts, &options), equal = ev_bayes(counts, &options);
  ev_beta d = ev_beta_make(k + 1, n - k + 1);
  ev_point lo = {hdi.lo, 1 - hdi.lo}, hi = {hdi.hi, 1 - hdi.hi};
  double mass = 1 - ev_beta_cdf(&d, lo).x - ev_beta_cdf(&d, hi).y;
  check(near(mass, level, 1e-12), "hdi mass", mass, level);
  check(hdi.hi - hdi.lo <= (equal.hi - equal.lo) * (1 + 1e-12), "hdi width", hdi.hi - hdi.lo,
        equal.hi - equal.lo);
  if (k == 0 || k == n) return;
  double ln_lo = ev_beta_ln_logit_density(&d, lo) - log(lo.x * lo.y);
  double ln_hi = ev_beta_ln_logit_density(&d, hi) - log(hi.x * hi.y);
  /* A bound near 1 has few digits left for its distance from 1. */
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

/* However small the level, lo <= hi. */
static void bounds_are_ordered(void) {
  static const double sizes[] = {1, 77, 69902, 5752734505431350.0};
  for (int i = 0; i < 4; i++)
    for (double level = 1e-18; level < 1e-7; level *= 7)
      for (double share = 0; share <= 1; share += 0.0625) {
        double counts[] = {floor(share * sizes[i]), sizes[i]};
        for (int m = 0; m < METHODS; m++) {
          ev_interval ci = methods[m].model(counts, &(ev_options){level, 1, 1});
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
    ev_interval ci = model(counts, &(ev_options){0.95, 1, 1});
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

/* Units of the last place between two numbers. */
static double ulps(double got, double wanted) {
  return fabs(got - wanted) / (nextafter(fabs(wanted), HUGE_VAL) - fabs(wanted));
}

/* exp and log of four lanes against the C library's, which are within one unit:
** over all of their domains, and finely about 0 and 1. */
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

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: numeric tests/reference/proportion.csv\n");
    return 2;
  }
  gsl_set_error_handler_off();
  if (compare_file(argv[1])) return 2;
  quantiles_are_inside_and_rise();
  cdf_undoes_quantile();
  closed_forms();
  largest_counts_are_normal();
  symmetries();
  hdis_defined();
  bounds_are_ordered();
  coverages();
  lanes_agree_with_libm();
  return check_summary();
}
