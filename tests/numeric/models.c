/*
** Tests identities, which need no reference, of the models of two proportions and of
** clusters, and of the engine that both use.
*/
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>

#include "../../ext/stats/clustered.h"
#include "../../ext/stats/fisher.h"
#include "../../ext/stats/marginal.h"
#include "../../ext/stats/paired.h"
#include "../../ext/stats/proportion.h"
#include "../../ext/stats/rising.h"
#include "../../ext/stats/sinc.h"
#include "../../ext/stats/unpaired.h"
#include "../check.h"

/* A model's interval, or NaNs, which fail every comparison. */
static ev_interval interval(ev_model *model, const double *counts, const ev_options *options) {
  ev_interval ci;
  return model(counts, options, (ev_host){0}, &ci) == EV_OK ? ci : (ev_interval){NAN, NAN};
}

static double chance(ev_probability *probability, const double *counts) {
  double p;
  ev_status status =
      probability(counts, &(ev_options){.level = 0.95, .a = 1, .b = 1}, (ev_host){0}, &p);
  return status == EV_OK ? p : NAN;
}

static const double unpaired_counts[][4] = {
    {18, 20, 12, 20}, {0, 1, 1, 1},   {5, 7, 3, 1000}, {999, 1000, 998, 1000},
    {3, 9, 3, 9},     {0, 30, 0, 40}, {1, 2, 2, 2},    {4, 10, 6, 10},
};
static const double paired_counts[][4] = {
    {12, 6, 0, 2}, {53, 16, 8, 9}, {3, 1, 2, 0}, {0, 4, 4, 0}, {40, 0, 0, 7}, {700, 120, 80, 100},
};

static void exchanging_mirrors(ev_model *model, ev_probability *probability, const double *a,
                               const double *b) {
  ev_options options = {.level = 0.9, .a = 1, .b = 1};
  ev_interval x = interval(model, a, &options), y = interval(model, b, &options);
  check(x.lo == -y.hi && x.hi == -y.lo, "exchanging A and B mirrors the interval", x.lo, -y.hi);
  /* A P below 2^-10 has more digits than 1 minus its complement. */
  double p = chance(probability, a), q = chance(probability, b), greater = fmax(p, q),
         less = fmin(p, q);
  check(greater == 1 - less, "exchanging A and B gives 1 - P", greater, 1 - less);
  check(less == 1 - greater || less < 0x1p-10, "and back", less, 1 - greater);
}

static void exchanges(void) {
  for (size_t i = 0; i < sizeof unpaired_counts / sizeof *unpaired_counts; i++) {
    const double *c = unpaired_counts[i];
    double swapped[] = {c[2], c[3], c[0], c[1]};
    exchanging_mirrors(ev_diff, ev_prob_better, c, swapped);
  }
  for (size_t i = 0; i < sizeof paired_counts / sizeof *paired_counts; i++) {
    const double *c = paired_counts[i];
    double swapped[] = {c[0], c[2], c[1], c[3]};
    exchanging_mirrors(ev_paired_diff, ev_paired_prob_better, c, swapped);
  }
}

/* Exchanging right and wrong changes the sign of a difference, and so does exchanging A and B; both
** together leave it.  The two calls compute with different thetas, from the other ends of [0,1]. */
static void wrong_for_right_changes_nothing_of_pairs(void) {
  for (size_t i = 0; i < sizeof paired_counts / sizeof *paired_counts; i++) {
    const double *c = paired_counts[i];
    double mirror[] = {c[3], c[1], c[2], c[0]};
    ev_options options = {.level = 0.9, .a = 1, .b = 1};
    ev_interval x = interval(ev_paired_diff, c, &options),
                y = interval(ev_paired_diff, mirror, &options);
    double p = chance(ev_paired_prob_better, c), q = chance(ev_paired_prob_better, mirror);
    check(fabs(x.lo - y.lo) < 1e-8, "wrong for right", x.lo, y.lo);
    check(fabs(x.hi - y.hi) < 1e-8, "wrong for right", x.hi, y.hi);
    check(fabs(p - q) < 1e-8, "wrong for right, P", p, q);
  }
}

/* With 10^15 questions a difference has few digits left.  At one level these must do; at the other
** the bounds are the same double or neighbours. */
static void differences_of_most_questions(void) {
  static const double most[][4] = {
      {8044058169243026, 8044058169243026, 3911086723936992, 8044058169243026},
      {5225785527457729, 8368035290110796, 5902779356584060, 8368035290110796},
      {2633884141764694, 8448459032538021, 7386681393483350, 8448459032538021},
  };
  static const double levels[] = {1 - 1e-9, 1e-9};
  for (size_t i = 0; i < sizeof most / sizeof *most; i++)
    for (int j = 0; j < 2; j++) {
      ev_interval ci =
          interval(ev_diff, most[i], &(ev_options){.level = levels[j], .a = 1, .b = 1});
      check(ci.lo <= ci.hi, "bounds of 10^15 questions in order", ci.lo, ci.hi);
    }
}

/* Exchanging A and B inverts an odds ratio, and so does exchanging right and wrong; both together
** leave every bit. */
static void wrong_for_right_changes_nothing_of_odds(void) {
  for (size_t i = 0; i < sizeof unpaired_counts / sizeof *unpaired_counts; i++) {
    const double *c = unpaired_counts[i];
    double swapped[] = {c[2], c[3], c[0], c[1]};
    double both[] = {c[3] - c[2], c[3], c[1] - c[0], c[1]};
    ev_options options = {.level = 0.9, .a = 1, .b = 1};
    ev_interval x = interval(ev_odds_ratio, c, &options);
    ev_interval y = interval(ev_odds_ratio, swapped, &options);
    ev_interval z = interval(ev_odds_ratio, both, &options);
    check(fabs(x.lo * y.hi - 1) < 1e-15, "exchanging A and B inverts the odds ratio", x.lo, y.hi);
    check(fabs(x.hi * y.lo - 1) < 1e-15, "exchanging A and B inverts the odds ratio", x.hi, y.lo);
    check(x.lo == z.lo && x.hi == z.hi, "exchanging both leaves it", x.lo, z.lo);
  }
}

/* With very many questions and a very low level the bounds are nearly equal, and do not cross. */
static void odds_ratios_are_in_order(void) {
  for (int i = 0; i < 1000; i++) {
    double counts[] = {4e15 + 1e12 * i, 9e15, 3e15 + 7e11 * i, 8e15};
    ev_options options = {.level = 1e-10, .a = 1, .b = 1};
    ev_interval x = interval(ev_odds_ratio, counts, &options);
    check(x.lo <= x.hi, "bounds in order", x.lo, x.hi);
  }
}

/* P(A > B) of two beta posteriors with integer parameters is a finite sum:
** sum over i <= k_a of B(b.a+i, a.b+b.b) / ((a.b+i) B(1+i, a.b) B(b.a, b.b)). */
static void prob_better_is_the_finite_sum(void) {
  for (size_t i = 0; i < sizeof unpaired_counts / sizeof *unpaired_counts; i++) {
    const double *c = unpaired_counts[i];
    double a1 = c[0] + 1, b1 = c[1] - c[0] + 1, a2 = c[2] + 1, b2 = c[3] - c[2] + 1, sum = 0;
    for (double j = 0; j < a1; j++)
      sum += exp(lgamma(a2 + j) + lgamma(b1 + b2) - lgamma(a2 + j + b1 + b2) - log(b1 + j) -
                 (lgamma(1 + j) + lgamma(b1) - lgamma(1 + j + b1)) -
                 (lgamma(a2) + lgamma(b2) - lgamma(a2 + b2)));
    /* The sum runs over A's counts, another form of P(B < A). */
    check(fabs(chance(ev_prob_better, c) - sum) < 1e-11, "P as a finite sum",
          chance(ev_prob_better, c), sum);
  }
}

/* P(A > B + margin) is the integral of B's density times A's tail, which are polynomials for whole
** counts: 64 Gauss-Legendre nodes from 0 to 1 - margin are exact. */
static void a_margin_is_the_integral_of_polynomials(void) {
  static const double counts[][4] = {{18, 20, 12, 20}, {0, 1, 1, 1}, {5, 7, 3, 30}, {3, 9, 3, 9},
                                     {0, 30, 0, 40},   {1, 2, 2, 2}, {4, 10, 6, 10}};
  gsl_integration_glfixed_table *rule = gsl_integration_glfixed_table_alloc(64);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (double margin = 0.01; margin < 1; margin += 0.07) {
      const double *c = counts[i];
      ev_options options = {.level = 0.95, .a = 1, .b = 1, .margin = margin};
      double sum = 0, p = NAN;
      for (size_t j = 0; j < 64; j++) {
        double x, weight;
        gsl_integration_glfixed_point(0, 1 - margin, j, &x, &weight, rule);
        sum += weight * gsl_ran_beta_pdf(x, c[2] + 1, c[3] - c[2] + 1) *
               gsl_cdf_beta_Q(x + margin, c[0] + 1, c[1] - c[0] + 1);
      }
      ev_prob_better(c, &options, (ev_host){0}, &p);
      check(fabs(p - sum) < 1e-12, "P beyond a margin", p, sum);
    }
  gsl_integration_glfixed_table_free(rule);
}

/* B's density times A's tail. */
typedef struct lead {
  double a[2], b[2], margin;
} lead;

static double lead_density(double x, void *context) {
  const lead *l = context;
  return gsl_ran_beta_pdf(x, l->b[0], l->b[1]) *
         gsl_cdf_beta_Q(fmin(1, x + l->margin), l->a[0], l->a[1]);
}

static const double shapes_of_priors[][2] = {{0.5, 0.5}, {0.1, 0.1},   {2.5, 0.3},
                                             {1, 0.7},   {30.5, 0.25}, {7.9, 8.1}};

/* With any prior P(A > B + margin) is an integral, powers at whose ends GSL's adaptive rule takes
** into account; A is above B + margin for certain where B is below -margin. */
static void a_margin_with_a_prior_is_the_integral(void) {
  gsl_integration_workspace *room = gsl_integration_workspace_alloc(1000);
  for (size_t i = 0; i < sizeof unpaired_counts / sizeof *unpaired_counts; i++)
    for (size_t j = 0; j < sizeof shapes_of_priors / sizeof *shapes_of_priors; j++)
      for (double margin = -0.9; margin < 1; margin += 0.36) {
        const double *c = unpaired_counts[i], *s = shapes_of_priors[j];
        ev_options options = {.level = 0.95, .a = s[0], .b = s[1], .margin = margin};
        lead l = {{c[0] + s[0], c[1] - c[0] + s[1]}, {c[2] + s[0], c[3] - c[2] + s[1]}, margin};
        gsl_function f = {lead_density, &l};
        double from = fmax(0, -margin), to = fmin(1, 1 - margin), sum, error, p = NAN;
        gsl_integration_qags(&f, from, to, 0, 1e-11, 1000, room, &sum, &error);
        sum += gsl_cdf_beta_P(from, l.b[0], l.b[1]);
        ev_prob_better(c, &options, (ev_host){0}, &p);
        check(fabs(p - sum) < 1e-9, "P beyond a margin with a prior", p, sum);
      }
  gsl_integration_workspace_free(room);
}

/* At the bounds of a difference P is the tail of the level, unless they round to -1 or 1; and
** exchanging the models mirrors. */
static void bounds_with_a_prior_leave_the_tails(void) {
  for (size_t i = 0; i < sizeof unpaired_counts / sizeof *unpaired_counts; i++)
    for (size_t j = 0; j < sizeof shapes_of_priors / sizeof *shapes_of_priors; j++)
      for (int k = 0; k < 3; k++) {
        const double *c = unpaired_counts[i], *s = shapes_of_priors[j];
        double swapped[] = {c[2], c[3], c[0], c[1]}, level = (double[]){0.95, 0.5, 0.9999}[k], p;
        ev_options options = {.level = level, .a = s[0], .b = s[1]};
        ev_interval x = interval(ev_diff, c, &options), y = interval(ev_diff, swapped, &options);
        ev_interval odds = interval(ev_odds_ratio, c, &options);
        ev_interval other = interval(ev_odds_ratio, swapped, &options);
        check(x.lo == -y.hi && x.hi == -y.lo, "mirrored with a prior", x.lo, -y.hi);
        check(fabs(odds.lo * other.hi - 1) < 1e-14, "odds with a prior", odds.lo, 1 / other.hi);
        options.margin = x.hi;
        check(ev_prob_better(c, &options, (ev_host){0}, &p) == EV_OK, "at the upper bound", k, 0);
        check(x.hi == 1 || fabs(p / ev_tail(&options) - 1) < 1e-6, "at the upper bound", p,
              ev_tail(&options));
        options.margin = -x.lo;
        check(ev_prob_better(swapped, &options, (ev_host){0}, &p) == EV_OK, "at the lower bound", k,
              0);
        check(x.lo == -1 || fabs(p / ev_tail(&options) - 1) < 1e-6, "at the lower bound", p,
              ev_tail(&options));
      }
}

/* Masses of a normal density from its values on a lattice: sinc interpolation errs by
** exp(-(pi/step)^2/2). */
static void sinc_masses_are_the_normals(void) {
  enum { HALF = 60 };
  double density[2 * HALF + 1];
  for (double step = 0.2; step < 0.37; step += 0.02)
    for (double z = -6; z < 6; z += 0.07) {
      for (int i = 0; i <= 2 * HALF; i++) density[i] = gsl_ran_ugaussian_pdf((i - HALF) * step);
      double below = step * ev_sinc_below(density, 2 * HALF + 1, z / step + HALF);
      double mass = gsl_cdf_ugaussian_P(z);
      check(fabs(below - mass) < 1e-15 + exp(-gsl_pow_2(M_PI / step) / 2), "the mass below a point",
            below, mass);
    }
}

static void close_to(ev_interval got, double lo, double hi, double bar, const char *what) {
  check(fabs(got.lo - lo) <= bar * lo, what, got.lo, lo);
  check(fabs(got.hi - hi) <= bar * hi, what, got.hi, hi);
}

/* With so many questions, each of the three right answers is A's or B's as by a coin, so the odds
** ratio is the odds of Clopper and Pearson's bound for that share.  The sum of the counts is not
** exact in a double. */
static void fisher_keeps_small_cells_of_large_tables(void) {
  static const double sizes[] = {0x1p50, 0x1p52, 0x1p52 + 1, 0x1p53 - 1, 0x1p53};
  ev_options options = {.level = 0.95, .a = 1, .b = 1};
  ev_interval share = interval(ev_cp, (double[]){1, 3}, &options);
  double lo = share.lo / (1 - share.lo), hi = share.hi / (1 - share.hi);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    double n = sizes[i];
    close_to(interval(ev_fisher_or, (double[]){1, n, 2, n}, &options), lo, hi, 1e-12,
             "one of three");
    close_to(interval(ev_fisher_or, (double[]){2, n, 1, n}, &options), 1 / hi, 1 / lo, 1e-12,
             "exchanged");
    close_to(interval(ev_fisher_or, (double[]){n - 1, n, n - 2, n}, &options), 1 / hi, 1 / lo,
             1e-12, "wrong for right");
  }
}

/* The integral of a tail equals the sum: nearly so where the standard deviation of X is 42, and far
** out, where the second Euler-Maclaurin correction, 2e-6 of the tail, approximates the third
** derivative by the cube of the slope. */
static void fisher_integral_is_the_sum(void) {
  const double cells[] = {3000, 4000, 3500, 3800}, many[] = {3e7, 4e7, 3.5e7, 3.8e7};
  for (double ln_psi = -0.42; ln_psi < -0.37; ln_psi += 0.01) {
    double sum = ev_fisher_ln_tail(cells, ln_psi, 1e-15, false);
    double integral = ev_fisher_ln_tail(cells, ln_psi, 1e-15, true);
    check(fabs(integral - sum) < 3e-7, "ln of Fisher's tail", integral, sum);
  }
  for (double ln_psi = -0.2073; ln_psi < -0.2035; ln_psi += 0.0005) {
    double sum = ev_fisher_ln_tail(many, ln_psi, 1e-15, false);
    double integral = ev_fisher_ln_tail(many, ln_psi, 1e-15, true);
    check(fabs(integral - sum) < 1e-11, "ln of Fisher's tail", integral, sum);
  }
}

/* With very many questions the posterior of a difference is the CLT's normal, also where the models
** nearly always, or nearly never, agree. */
static void many_pairs_are_normal(void) {
  static const double counts[][4] = {
      {0, 71678145, 14626960, 1},
      {72, 14073006, 47143728, 18},
      {724, 14350255631, 310249320, 14},
      {1e8, 3e7, 4e6, 2e8},
      {9e11, 2e11, 8e11, 2e12},
      {1e11, 4e4, 7e4, 3e11},
      {23, 11240360144615, 204170129047276, 469487},
  };
  ev_options options = {.level = 0.95, .a = 1, .b = 1};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    ev_interval ci = interval(ev_paired_diff, counts[i], &options);
    ev_interval clt = interval(ev_paired_diff_clt, counts[i], &options);
    double bar = 0.001 * (clt.hi - clt.lo);
    check(fabs(ci.lo - clt.lo) < bar, "many pairs", ci.lo, clt.lo);
    check(fabs(ci.hi - clt.hi) < bar, "many pairs", ci.hi, clt.hi);
  }
}

/*
** The engine, with densities made for the test
*/
static double ln_normal(double z, void *context) {
  (void)context;
  return -z * z / 2;
}

static double ln_no_number(double z, void *context) {
  (void)context;
  return z > 1 ? NAN : -z * z / 2;
}

static double ln_nothing(double z, void *context) {
  (void)z;
  (void)context;
  return -HUGE_VAL;
}

/* Has waves only in its tail. */
static double ln_wavy_tail(double z, void *context) {
  (void)context;
  return -z * z / 2 + (z > 6.8 ? 0.3 * sin(640 * (z - 6.8)) : 0);
}

/* Smooth, but with so many waves that it takes most of the available panels. */
static double ln_wavy(double z, void *context) {
  (void)context;
  return -z * z / 2 + 0.5 * sin(64 * z);
}

/* Rough, with jumps at -5 and 5 between which a search for the ends alternates. */
static double ln_cliffs(double z, void *context) {
  (void)context;
  return fabs(z) < 5 ? -z * z / 8 + 0.5 * fabs(sin(100 * z)) : -1e6 - fabs(z);
}

/* Has more corners than there are panels. */
static double ln_rough(double z, void *context) {
  (void)context;
  return -z * z / 2 + fabs(sin(100 * z));
}

/* Constant from 2 on, without end. */
static double ln_endless(double z, void *context) {
  (void)context;
  return -fmin(z * z, 4) / 2;
}

/* The power of z that is added to the normal density above a corner. */
static const double corner_power = 1.5;

static double ln_cornered(double z, void *context) {
  (void)context;
  return -z * z / 2 + log1p(pow(fmax(0, z), corner_power));
}

/* A normal density around 4, whose corner lies far below the peak. */
static double ln_far_normal(double z, void *context) {
  (void)context;
  return -(z - 4) * (z - 4) / 2;
}

static ev_search search_for(ev_ln_density *ln_density) {
  return (ev_search){.ln_density = ln_density,
                     .start = 0.3,
                     .width = 1,
                     .has_corner = true,
                     .corner = 0,
                     .ln_drop = 40,
                     .tolerance = 1e-11,
                     .tail = 0.025,
                     .budget = 100000};
}

static ev_status find(ev_marginal *m, ev_ln_density *ln_density) {
  ev_search search = search_for(ln_density);
  return ev_marginal_find(m, &search);
}

static void the_engine_knows_the_normal(void) {
  ev_marginal m;
  ev_interval ci = {NAN, NAN};
  ev_status found = find(&m, ln_normal), status = ev_marginal_interval(&m, 0.025, &ci);
  double z = 1.959963984540054, ln_total = 0.91893853320467274;
  check(found == EV_OK && status == EV_OK, "the normal", found, status);
  check(fabs(ci.lo + z) < 1e-10, "2.5%", ci.lo, -z);
  check(fabs(ci.hi - z) < 1e-10, "97.5%", ci.hi, z);
  check(fabs(ev_marginal_beyond(&m, 0, true) - 0.5) < 1e-12, "half",
        ev_marginal_beyond(&m, 0, true), 0.5);
  check(fabs(ev_marginal_ln_total(&m) - ln_total) < 1e-11, "all", ev_marginal_ln_total(&m),
        ln_total);
}

/* Panels graded toward a corner approximate a power of the distance from it with a fifth of the
** evaluations of equal panels; the integrals are gamma functions. */
static void a_corner_is_graded(void) {
  ev_marginal m;
  ev_interval ci = {NAN, NAN};
  ev_search search = search_for(ln_cornered);
  search.tolerance = 1e-9;
  ev_marginal_find(&m, &search);
  int ungraded = m.evaluated;
  search.graded = true;
  ev_status found = ev_marginal_find(&m, &search), status = ev_marginal_interval(&m, 0.025, &ci);
  double half = sqrt(M_PI / 2);
  double added = pow(2, (corner_power - 1) / 2) * tgamma((corner_power + 1) / 2);
  double above = (half + added) / (2 * half + added), below = 1 - above;
  check(found == EV_OK && status == EV_OK, "a corner", found, status);
  check(5 * m.evaluated < ungraded, "evaluations", m.evaluated, ungraded);
  check(fabs(exp(ev_marginal_ln_total(&m)) - 2 * half - added) < 1e-9, "all of it",
        exp(ev_marginal_ln_total(&m)), 2 * half + added);
  check(fabs(ev_marginal_beyond(&m, 0, true) - above) < 1e-9, "above the corner",
        ev_marginal_beyond(&m, 0, true), above);
  /* below the corner it is the normal's */
  double left = gsl_cdf_ugaussian_P(-0.7) / 0.5 * below;
  check(fabs(ev_marginal_beyond(&m, -0.7, false) - left) < 1e-9, "below -0.7",
        ev_marginal_beyond(&m, -0.7, false), left);
  check(fabs(ev_marginal_beyond(&m, ci.lo, false) - 0.025) < 1e-11, "below the lower bound",
        ev_marginal_beyond(&m, ci.lo, false), 0.025);
  check(fabs(ev_marginal_beyond(&m, ci.hi, true) - 0.025) < 1e-11, "above the upper bound",
        ev_marginal_beyond(&m, ci.hi, true), 0.025);
  check(fabs(gsl_cdf_ugaussian_P(ci.lo) / 0.5 * below - 0.025) < 1e-9, "the lower bound",
        gsl_cdf_ugaussian_P(ci.lo) / 0.5 * below, 0.025);
}

/* Panels are graded also toward a corner at which the density is low. */
static void a_low_corner_is_graded(void) {
  ev_marginal m;
  ev_interval ci = {NAN, NAN};
  ev_search search = search_for(ln_far_normal);
  search.graded = true;
  ev_status found = ev_marginal_find(&m, &search), status = ev_marginal_interval(&m, 0.025, &ci);
  double z = 1.959963984540054, below = gsl_cdf_ugaussian_P(-3.5);
  check(found == EV_OK && status == EV_OK, "a low corner", found, status);
  check(fabs(ci.lo - 4 + z) < 1e-10, "2.5%", ci.lo, 4 - z);
  check(fabs(ci.hi - 4 - z) < 1e-10, "97.5%", ci.hi, 4 + z);
  check(fabs(ev_marginal_beyond(&m, 0.5, false) - below) < 1e-11 * below, "below 0.5",
        ev_marginal_beyond(&m, 0.5, false), below);
}

/* A density that is NaN somewhere, zero everywhere, too rough for the available panels, or without
** end gives EV_NOT_CONVERGED (contract 9). */
static void a_density_that_cannot_be_followed_is_not_converged(void) {
  static ev_ln_density *const broken[] = {ln_no_number, ln_nothing, ln_rough, ln_endless};
  for (int i = 0; i < 4; i++) {
    ev_marginal m;
    ev_status status = find(&m, broken[i]);
    check(status == EV_NOT_CONVERGED, "not converged", status, EV_NOT_CONVERGED);
  }
}

/* So does one for which the budget is too small, but not one for which it just suffices. */
static void a_budget_that_runs_out_is_told(void) {
  ev_marginal m;
  ev_search search = search_for(ln_wavy);
  search.budget = 60;
  ev_status status = ev_marginal_find(&m, &search);
  check(status == EV_NOT_CONVERGED, "a budget of 60", status, EV_NOT_CONVERGED);
  search.budget = 3000;
  status = ev_marginal_find(&m, &search);
  check(status == EV_OK, "a budget of 3000", status, EV_OK);
}

/* A panel that has not converged when the budget is spent is accepted if its residual, here 0.22,
** is acceptable, or if its mass is negligible. */
static void what_is_acceptable_is_taken(void) {
  ev_marginal m;
  ev_search search = search_for(ln_wavy);
  search.budget = 60;
  search.acceptable = 0.1;
  ev_status status = ev_marginal_find(&m, &search);
  check(status == EV_NOT_CONVERGED, "acceptable: 0.1", status, EV_NOT_CONVERGED);
  search.acceptable = 0.5;
  status = ev_marginal_find(&m, &search);
  check(status == EV_OK, "acceptable: 0.5", status, EV_OK);
  search = search_for(ln_wavy_tail);
  search.budget = 300;
  status = ev_marginal_find(&m, &search);
  int gave_up = 0;
  for (int i = 0; i < m.count; i++) gave_up += m.panels[i].gave_up;
  check(gave_up > 0, "panels that gave up", gave_up, 1);
  check(status == EV_OK, "in a tail", status, EV_OK);
  check(fabs(ev_marginal_beyond(&m, 1, true) - 0.15865525393145707) < 1e-9, "beyond 1",
        ev_marginal_beyond(&m, 1, true), 0.15865525393145707);
}

/* The mass of a wavy density between two points, by Simpson's rule on a million parts. */
static double wavy_mass(double from, double to) {
  enum { PARTS = 1000000 };
  double step = (to - from) / PARTS, sum = exp(ln_wavy(from, NULL)) + exp(ln_wavy(to, NULL));
  for (int i = 1; i < PARTS; i++) sum += (i % 2 ? 4 : 2) * exp(ln_wavy(from + i * step, NULL));
  return sum * step / 3;
}

/* Panels are halved until the series of a density with many waves converges: its total, and the
** mass outside its bounds, agree with Simpson's rule. */
static void waves_are_followed(void) {
  ev_marginal m;
  ev_interval ci = {NAN, NAN};
  ev_status status = find(&m, ln_wavy);
  if (status == EV_OK) status = ev_marginal_interval(&m, 0.025, &ci);
  double all = wavy_mass(-12, 12), below = wavy_mass(-12, ci.lo), above = wavy_mass(ci.hi, 12);
  check(status == EV_OK && m.count > 55, "panels of a wavy density", m.count, 55);
  check(fabs(ev_marginal_ln_total(&m) - log(all)) < 1e-11, "its total", ev_marginal_ln_total(&m),
        log(all));
  check(fabs(below / all - 0.025) < 1e-11, "below its lower bound", below / all, 0.025);
  check(fabs(above / all - 0.025) < 1e-11, "above its upper bound", above / all, 0.025);
}

/* If the search for the ends stops before them, panels remain to go on from there, even if the
** density is rough. */
static void panels_are_kept_for_the_ends(void) {
  for (double width = 3.25; width < 5; width += 0.125) {
    ev_marginal m;
    ev_search search = search_for(ln_cliffs);
    search.width = width;
    ev_marginal_find(&m, &search);
    double first = m.panels[0].shape.from, last = m.panels[m.count - 1].shape.to;
    check(m.count > EV_PANELS / 2, "panels between cliffs", m.count, EV_PANELS / 2);
    check(first <= -5, "the lower cliff", first, -5);
    check(last >= 5, "the upper cliff", last, 5);
  }
}

/* Panels have no gaps, however rough the density is. */
static void panels_touch(void) {
  ev_marginal m;
  find(&m, ln_rough);
  check(m.count > EV_PANELS / 2 && m.count <= EV_PANELS, "panels", m.count, EV_PANELS);
  for (int i = 1; i < m.count; i++)
    check(m.panels[i].shape.from == m.panels[i - 1].shape.to, "panels touch",
          m.panels[i].shape.from, m.panels[i - 1].shape.to);
  check(m.panels[0].shape.from < -7, "the first", m.panels[0].shape.from, -7);
  check(m.panels[m.count - 1].shape.to > 7, "the last", m.panels[m.count - 1].shape.to, 7);
}

/* With one question per cluster, the questions are independent: Beta(k+1, n-k+1). */
static void single_questions_are_independent(ev_prior prior) {
  for (double n = 1; n < 3000; n = 3 * n + 1)
    for (double k = 0; k <= n; k = 2 * k + 1) {
      ev_cluster clusters[] = {{1, 1, k}, {0, 1, n - k}};
      const ev_cluster *given = k > 0 ? clusters : clusters + 1;
      size_t count = k > 0 && k < n ? 2 : 1;
      ev_options options = {.level = 0.95, .a = 1, .b = 1, .prior = prior};
      ev_interval ci = {0, 0}, bayes = interval(ev_bayes, (double[]){k, n}, &options);
      ev_clustered(given, count, &options, (ev_host){0}, &ci);
      check(fabs(ci.lo - bayes.lo) < 1e-11, "clusters of one", ci.lo, bayes.lo);
      check(fabs(ci.hi - bayes.hi) < 1e-11, "clusters of one", ci.hi, bayes.hi);
    }
}

/* The number of times that a count occurs. */
static double times_of(double count) {
  return 1 + fmod(count, 3);
}

/* L(x) of the counts from `least` to `most`, computed factor by factor. */
static double ln_rising(double least, double most, double x) {
  long double sum = 0, rise = 0;
  for (double k = 2; k <= most; k++) {
    rise += log1pl(x / (k - 1.0L));
    if (k >= least) sum += (long double)times_of(k) * rise;
  }
  return (double)sum;
}

/* Sums of rising factorials against their products: of small counts; of larger ones, by Stirling's
** series; and of 25,000 different ones, by weighted points; one at a time and four at a time. */
static void rising_factorials_are_products(void) {
  static const double ranges[][2] = {{2, 3}, {2, 60}, {9, 200}, {15, 17}, {64, 10000}, {64, 25100}};
  static ev_tally items[30000];
  static ev_rising r;
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    size_t size = 0;
    for (double k = ranges[i][0]; k <= ranges[i][1]; k++)
      items[size++] = (ev_tally){k, times_of(k)};
    ev_rising_make(&r, items, size);
    double least = ln_rising(ranges[i][0], ranges[i][1], 0.1);
    for (double x = 1e-3; x < 1e9; x *= 7) {
      double wanted = ln_rising(ranges[i][0], ranges[i][1], x), scale = fmax(wanted, least);
      for (double ratio = 1; ratio < 4; ratio += 2) {
        ev_lanes at = {x, x * ratio, x * ratio * ratio, x * ratio * ratio * ratio}, sum = {0};
        ev_rising none;
        ev_rising_make(&none, items, 0);
        ev_rising_add(&r, &at, &none, &at, &sum);
        for (int lane = 0; lane < 4; lane++) {
          double there = ln_rising(ranges[i][0], ranges[i][1], at[lane]);
          check(fabs(sum[lane] - there) <= 1e-13 * fmax(there, least),
                "four sums of rising factorials", sum[lane], there);
        }
      }
      double got = ev_rising_at(&r, x);
      check(fabs(got - wanted) <= 1e-13 * scale, "a sum of rising factorials", got, wanted);
    }
  }
}

/* Neither the order of clusters nor how equal ones are merged changes a digit. */
static void order_of_clusters_changes_no_digit(void) {
  enum { COUNT = 60 };
  static ev_cluster_model *const models[] = {ev_clustered, ev_clustered_clt};
  ev_cluster merged[COUNT / 2], shuffled[COUNT];
  ev_options options = {.level = 0.95, .a = 1, .b = 1};
  for (int round = 0; round < 200; round++) {
    options.prior = round % 2 ? EV_PRIOR_ICC : EV_PRIOR_GAMMA;
    for (int i = 0; i < COUNT / 2; i++) {
      double n = 1 + (i * 7919 + round * 104729) % 977,
             k = floor(n * ((i * 31 + round) % 101) / 101);
      merged[i] = (ev_cluster){k, n, 2};
      shuffled[(i * 17 + round) % COUNT] = shuffled[(i * 17 + 30 + round) % COUNT] =
          (ev_cluster){k, n, 1};
    }
    for (int m = 0; m < (round % 10 ? 1 : 2); m++) {
      ev_interval x = {0, 0}, y = {1, 1};
      models[1 - m](merged, COUNT / 2, &options, (ev_host){0}, &x);
      models[1 - m](shuffled, COUNT, &options, (ev_host){0}, &y);
      check(x.lo == y.lo && x.hi == y.hi, "order and merging", x.lo, y.lo);
    }
  }
}

/* P(theta > bound) at a bound of ev_clustered is the tail of the level, and neither order nor
** merging changes a digit. */
static void shares_above_bounds_are_the_tails(void) {
  enum { COUNT = 12 };
  static const double levels[] = {0.95, 0.5, 0.999999, 0.8, 0.99};
  const ev_host nobody = {0};
  for (int round = 0; round < 300; round++) {
    ev_cluster clusters[2 * COUNT], merged[COUNT];
    int count = 1 + round % COUNT;
    for (int i = 0; i < count; i++) {
      double n = 1 + (i * 7919 + round * 104729) % (round % 3 ? 20 : 977);
      double k = floor((n + 1) * ((i * 31 + round * 7) % 101) / 101);
      merged[i] = (ev_cluster){k, n, 2};
      clusters[i] = clusters[2 * count - 1 - i] = (ev_cluster){k, n, 1};
    }
    ev_options options = {.level = levels[round % 5], .prior = (ev_prior)(round % 2)};
    double tail = ev_tail(&options), p = NAN, same = NAN;
    ev_interval ci = {NAN, NAN};
    ev_clustered(merged, (size_t)count, &options, nobody, &ci);
    options.threshold = ci.hi;
    ev_clustered_prob_above(merged, (size_t)count, &options, nobody, &p);
    ev_clustered_prob_above(clusters, 2 * (size_t)count, &options, nobody, &same);
    check(fabs(p - tail) < 1e-8, "share above the upper bound", p, tail);
    check(p == same, "order and merging of a share", p, same);
    options.threshold = ci.lo;
    ev_clustered_prob_above(merged, (size_t)count, &options, nobody, &p);
    check(fabs(1 - p - tail) < 1e-8, "share above the lower bound", 1 - p, tail);
  }
}

/* Of more than 10^7 questions a share is promised to 1e-14 of their number (contract 34).  The
** value is that of tests/numeric/reference/clustered_above.py. */
static void shares_of_many_questions(void) {
  ev_cluster clusters[] = {{300000, 1e6, 1000}};
  ev_options options = {.threshold = 0.300004, .prior = EV_PRIOR_ICC};
  double p = NAN, wanted = 0.3913881549666376;
  ev_clustered_prob_above(clusters, 1, &options, (ev_host){0}, &p);
  check(fabs(p - wanted) < 1e-5, "share of 10^9 questions", p, wanted);
}

/* If rounding would decide the result, the status says so (contract 9). */
static void too_many_questions_are_refused(ev_prior prior) {
  ev_cluster clusters[] = {{4e8, 1e9, 5e7}};
  ev_options options = {.level = 0.95, .a = 1, .b = 1, .prior = prior};
  ev_interval ci;
  ev_status status = ev_clustered(clusters, 1, &options, (ev_host){0}, &ci);
  check(status == EV_TOO_LARGE, "5e7 clusters of 1e9", status, EV_TOO_LARGE);
}

static bool stop_at_once(void *context) {
  ++*(int *)context;
  return true;
}

/* A computation that the host interrupts stops early. */
static void many_sizes_can_be_stopped(void) {
  enum { COUNT = 3000 };
  static ev_cluster clusters[COUNT];
  for (int i = 0; i < COUNT; i++) clusters[i] = (ev_cluster){i / 2, i + 1, 1};
  int asked = 0;
  ev_interval ci;
  ev_status status = ev_clustered(clusters, COUNT, &(ev_options){.level = 0.95, .a = 1, .b = 1},
                                  (ev_host){.interrupted = stop_at_once, .context = &asked}, &ci);
  check(status == EV_INTERRUPTED && asked == 1, "stopping", asked, 1);
}

int main(void) {
  gsl_set_error_handler_off();
  exchanges();
  wrong_for_right_changes_nothing_of_pairs();
  differences_of_most_questions();
  wrong_for_right_changes_nothing_of_odds();
  odds_ratios_are_in_order();
  prob_better_is_the_finite_sum();
  a_margin_is_the_integral_of_polynomials();
  a_margin_with_a_prior_is_the_integral();
  bounds_with_a_prior_leave_the_tails();
  sinc_masses_are_the_normals();
  fisher_keeps_small_cells_of_large_tables();
  fisher_integral_is_the_sum();
  many_pairs_are_normal();
  the_engine_knows_the_normal();
  a_corner_is_graded();
  a_low_corner_is_graded();
  a_density_that_cannot_be_followed_is_not_converged();
  a_budget_that_runs_out_is_told();
  what_is_acceptable_is_taken();
  waves_are_followed();
  panels_are_kept_for_the_ends();
  panels_touch();
  rising_factorials_are_products();
  order_of_clusters_changes_no_digit();
  shares_above_bounds_are_the_tails();
  shares_of_many_questions();
  many_sizes_can_be_stopped();
  for (int prior = EV_PRIOR_GAMMA; prior <= EV_PRIOR_ICC; prior++) {
    single_questions_are_independent((ev_prior)prior);
    too_many_questions_are_refused((ev_prior)prior);
  }
  return check_summary();
}
