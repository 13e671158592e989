/*
** Tests ranks of many models and plans: compares them with references, and checks identities that
** need no reference.
**
**     decisions RANKS.csv
*/
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>

#include "../../ext/stats/beta.h"
#include "../../ext/stats/mcnemar.h"
#include "../../ext/stats/planning.h"
#include "../../ext/stats/ranks.h"
#include "../../ext/stats/unpaired.h"
#include "../check.h"
#include "../random.h"

static const ev_host nobody = {0};

static ev_options at_level(double level) {
  return (ev_options){.level = level, .a = 1, .b = 1};
}

static void near(double got, double wanted, double tolerance, const char *what) {
  check(fabs(got - wanted) <= tolerance, what, got, wanted);
}

/* A random whole number from 0 to `most`. */
static double random_whole(double most) {
  return floor(random_share() * (most + 1));
}

/*
** Ranks
*/
enum { MOST_MODELS = EV_MOST_RANKED };

static ev_answered models[MOST_MODELS];
static ev_rank ranks[MOST_MODELS];
static double chances[MOST_MODELS * MOST_MODELS];

static void rank(size_t count, double level) {
  ev_options options = at_level(level);
  check(ev_ranks(models, count, &options, nobody, ranks, chances) == EV_OK, "ranks", 0, 1);
}

/* Splits a line at its commas. */
static int split(char *line, char **columns, int most) {
  int count = 0;
  for (char *at = strtok(line, ",\n"); at && count < most; at = strtok(NULL, ",\n"))
    columns[count++] = at;
  return count;
}

static size_t read_models(char *text) {
  size_t count = 0;
  for (char *at = text; *at; at += *at == ' ', count++) {
    models[count].k = strtod(at, &at);
    models[count].n = strtod(at + 1, &at);
  }
  return count;
}

static void compare_ranks(const char *path) {
  static char line[1 << 14];
  FILE *file = fopen(path, "r");
  char *c[8];
  double worst = 0;
  if (!file || !fgets(line, sizeof line, file)) exit(2);
  while (fgets(line, sizeof line, file)) {
    if (split(line, c, 8) != 8) exit(2);
    size_t count = read_models(c[1]), which = (size_t)strtol(c[2], NULL, 10);
    rank(count, strtod(c[0], NULL));
    const ev_rank *r = &ranks[which];
    near(r->mean, strtod(c[3], NULL), 1e-15, "mean of a model");
    near(r->rank, strtod(c[4], NULL), 1e-12 * (double)count, "expected rank");
    check(r->lo == strtod(c[5], NULL), "lowest rank", r->lo, strtod(c[5], NULL));
    check(r->hi == strtod(c[6], NULL), "highest rank", r->hi, strtod(c[6], NULL));
    char *at = c[7];
    for (size_t i = 0; i < count; i++) {
      double wanted = strtod(at, &at), got = chances[which * count + i];
      if (i == 0) near(r->best, wanted, 1e-12, "chance of being the best");
      near(got, wanted, 1e-12, "chance of a rank");
      worst = fmax(worst, fabs(got - wanted));
    }
  }
  fclose(file);
  printf("chances of ranks: worst error %.1e\n", worst);
}

/* Every model has some rank, and every rank some model. */
static void chances_add_up(size_t count, double tolerance, const char *what) {
  double best = 0;
  for (size_t i = 0; i < count; i++) {
    double row = 0, column = 0, expected = 0;
    for (size_t j = 0; j < count; j++) {
      check(chances[i * count + j] > -1e-15, what, chances[i * count + j], 0);
      row += chances[i * count + j];
      expected += (double)(j + 1) * chances[i * count + j];
      column += chances[j * count + i];
    }
    best += ranks[i].best;
    near(row, 1, 1e-12, what);
    near(column, 1, tolerance, what);
    near(expected, ranks[i].rank, tolerance * (double)count, what);
    near(chances[i * count], ranks[i].best, tolerance, what);
    check(ranks[i].lo <= ranks[i].hi, what, ranks[i].lo, ranks[i].hi);
  }
  near(best, 1, tolerance, what);
}

static void many_models(void) {
  for (size_t i = 0; i < 1000; i++) models[i] = (ev_answered){70, 100};
  rank(1000, 0.95);
  chances_add_up(1000, 5e-12, "a thousand equal models");
  check(ranks[0].lo == 26 && ranks[0].hi == 975, "ranks of equal models", ranks[0].lo, 26);
  near(chances[500], 0.001, 1e-15, "the middle rank of equal models");
  for (size_t i = 0; i < 1000; i++) models[i] = (ev_answered){(double)i, 1000};
  rank(1000, 0.95);
  chances_add_up(1000, 5e-12, "a thousand models side by side");
  for (size_t i = 0; i < 1000; i++)
    models[i] = (ev_answered){700 + (double)(i % 7), 1000 + (double)i};
  rank(1000, 0.5);
  chances_add_up(1000, 5e-12, "a thousand models, nearly equal");
  for (size_t i = 0; i < 300; i++) {
    double n = 1 + floor(exp(36.6 * (double)i / 300));
    models[i] = (ev_answered){i % 3 == 0 ? 0 : i % 3 == 1 ? n : floor(n / 2), n};
  }
  rank(300, 0.95);
  chances_add_up(300, 2e-9, "sizes from 2 to 2^53");
}

/* The ranks of two models; and expected ranks of many models, from their pairs. */
static void ranks_of_pairs(void) {
  ev_options options = at_level(0.95);
  for (int i = 0; i < 300; i++) {
    double p = NAN, most = pow(10, 1 + i % 12);
    for (size_t j = 0; j < 2; j++) {
      models[j].n = 1 + random_whole(j ? most : 1000);
      models[j].k = random_whole(models[j].n);
    }
    double counts[] = {models[0].k, models[0].n, models[1].k, models[1].n};
    ev_prob_better(counts, &options, nobody, &p);
    rank(2, 0.95);
    near(ranks[0].best, p, most < 1e9 ? 1e-12 : 1e-9, "the better of two");
    near(ranks[1].rank, 1 + p, most < 1e9 ? 1e-12 : 1e-9, "the worse of two");
  }
  for (size_t i = 0; i < 40; i++) {
    models[i].n = 1 + random_whole(i % 2 ? 30 : 3000);
    models[i].k = random_whole(models[i].n);
  }
  rank(40, 0.95);
  chances_add_up(40, 1e-12, "forty models");
  for (size_t i = 0; i < 40; i++) {
    double expected = 1, p = NAN;
    for (size_t j = 0; j < 40; j++) {
      double counts[] = {models[j].k, models[j].n, models[i].k, models[i].n};
      if (j == i) continue;
      ev_prob_better(counts, &options, nobody, &p);
      expected += p;
    }
    near(ranks[i].rank, expected, 1e-11, "expected rank from pairs");
  }
}

/* The order of the models changes no digit, and exchanging right and wrong reverses the ranks. */
static void orders_of_models(void) {
  enum { COUNT = 23 };
  ev_rank first[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    models[i].n = 10 + random_whole(15);
    models[i].k = random_whole(models[i].n);
  }
  rank(COUNT, 0.95);
  memcpy(first, ranks, sizeof first);
  for (size_t i = 0; i < COUNT / 2; i++) {
    ev_answered kept = models[i];
    models[i] = models[COUNT - 1 - i];
    models[COUNT - 1 - i] = kept;
  }
  rank(COUNT, 0.95);
  for (size_t i = 0; i < COUNT; i++)
    check(memcmp(&first[i], &ranks[COUNT - 1 - i], sizeof first[i]) == 0, "order of models",
          ranks[COUNT - 1 - i].rank, first[i].rank);
  for (size_t i = 0; i < COUNT; i++) models[i].k = models[i].n - models[i].k;
  rank(COUNT, 0.95);
  for (size_t i = 0; i < COUNT; i++) {
    near(ranks[COUNT - 1 - i].rank, COUNT + 1 - first[i].rank, 1e-11, "wrong for right");
    check(ranks[COUNT - 1 - i].lo == COUNT + 1 - first[i].hi, "wrong for right",
          ranks[COUNT - 1 - i].lo, COUNT + 1 - first[i].hi);
  }
}

/*
** Planning
*/
static double paired_power(double n, double a, double b, double level) {
  ev_options options = at_level(level);
  double power = NAN;
  check(ev_power_paired(n, a, b, &options, &power) == EV_OK, "power_paired", 0, 1);
  return power;
}

static double diff_power(double n, double a, double b, double level) {
  ev_options options = at_level(level);
  double power = NAN;
  check(ev_power_diff(n, n, a, b, &options, &power) == EV_OK, "power_diff", 0, 1);
  return power;
}

/* The planned number and those after it have the power; the one before it does not. */
static void plans_of_pairs(void) {
  for (int i = 0; i < 60; i++) {
    double d = i % 6 == 0 ? 1 : (1 + random_whole(98)) / 100, share = (1 + random_whole(99)) / 100;
    double a = d * (1 + share) / 2, b = fmin(1 - a, d * (1 - share) / 2), n = 0;
    double power = (20 + random_whole(79)) / 100,
           level = i % 3 ? 0.95 : 0.5 + random_whole(49) / 100;
    ev_options options = at_level(level);
    check(ev_plan_paired(a, b, power, &options, nobody, &n) == EV_OK, "plan_paired_n", n, 0);
    if (n > 1) check(paired_power(n - 1, a, b, level) < power, "one fewer", n, power);
    for (int j = 0; j < 30; j++)
      check(paired_power(n + j, a, b, level) >= power, "from the plan on", n + j, power);
  }
}

/* The probability that the test's p is at most 1 - level, by enumerating every outcome of n
** questions. */
static double power_by_p(int n, double a, double b, double level) {
  double power = 0;
  for (int told = 1; told <= n; told++)
    for (int for_a = 0; for_a <= told; for_a++)
      if (ev_mid_p(fmin(for_a, told - for_a), fmax(for_a, told - for_a)) <= 1 - level)
        power += gsl_ran_binomial_pdf((unsigned)told, a + b, (unsigned)n) *
                 gsl_ran_binomial_pdf((unsigned)for_a, a / (a + b), (unsigned)told);
  return power;
}

/* Also at levels that are 1 minus the p of some counts, a fraction of 2^m.  There the last digit of
** p decides whether these counts reject. */
static void power_is_of_the_test(void) {
  for (int m = 12; m <= 40; m++)
    for (int k = m / 4; k < m / 2 - 1; k++) {
      double level = 1 - ldexp(nearbyint(ldexp(ev_mid_p(k, m - k), m)), -m);
      near(paired_power(40, 0.4, 0.3, level), power_by_p(40, 0.4, 0.3, level), 1e-12,
           "power at a level that is a p-value's");
    }
}

/* P(theta_B > theta_A), k of n and j of m being right. */
static double behind(double k, double n, double j, double m) {
  ev_beta a = ev_beta_make(k + 1, n - k + 1), b = ev_beta_make(j + 1, m - j + 1);
  return ev_beta_prob_better(&a, &b).y;
}

/* The probability that one model is called better, by enumerating every outcome of 10 and 14
** questions. */
static double power_by_posterior(double p_a, double p_b, double level) {
  ev_options options = at_level(level);
  double power = 0;
  for (unsigned k = 0; k <= 10; k++)
    for (unsigned j = 0; j <= 14; j++)
      if (behind(k, 10, j, 14) <= ev_tail(&options) ||
          behind(10 - k, 10, 14 - j, 14) <= ev_tail(&options))
        power += gsl_ran_binomial_pdf(k, p_a, 10) * gsl_ran_binomial_pdf(j, p_b, 14);
  return power;
}

/* Likewise for two posteriors, at levels whose tail is the P of some outcome. */
static void power_is_of_the_posterior(void) {
  for (int k = 1; k < 10; k++)
    for (int j = 1; j < 14; j++) {
      double p = behind(k, 10, j, 14), power = NAN;
      ev_options options = at_level(1 - 2 * p);
      if (p > 0.49) continue;
      check(ev_power_diff(10, 14, 0.7, 0.6, &options, &power) == EV_OK, "power_diff", k, j);
      near(power, power_by_posterior(0.7, 0.6, options.level), 1e-12,
           "power at a tail that is an outcome's");
    }
}

/* The power does not fall below the one asked for as far above the plan as the saw-tooth could
** reach; a few numbers are tried. */
static void plans_of_two(void) {
  static const double levels[] = {0.95, 0.95, 0.5, 0.99, 0.05, 0.8};
  for (int i = 0; i < 60; i++) {
    double a = random_whole(50) / 50, apart = pow(10, -0.2 - random_whole(13) / 10), n = 0;
    double b = a < 0.5 ? a + apart : a - apart, power = (20 + random_whole(79)) / 100;
    double level = levels[i % 6];
    ev_options options = at_level(level);
    check(ev_plan_diff(a, b, power, &options, nobody, &n) == EV_OK, "plan_diff_n", n, 0);
    if (n > 1) check(diff_power(n - 1, a, b, level) < power, "one fewer of each", n, power);
    for (int j = 0; j < 8; j++)
      check(diff_power(n + j, a, b, level) >= power, "from the plan on", n + j, power);
    for (int j = 1; j < 40; j++) {
      double more = ceil(n + j * sqrt(n) / 10);
      check(diff_power(more, a, b, level) >= power, "well above the plan", more, power);
    }
  }
}

/* A long plan is surely enough but not the least number: it exceeds that by at most one tooth of
** two counts. */
static void plans_beyond_looking(void) {
  static const double apart[] = {3e-3, 1e-4, 1e-5};
  for (int i = 0; i < 3; i++) {
    double n = 0, power = NAN;
    ev_options options = at_level(0.95);
    check(ev_plan_diff(0.5, 0.5 + apart[i], 0.8, &options, nobody, &n) == EV_OK, "a long plan", n,
          0);
    power = diff_power(n, 0.5, 0.5 + apart[i], 0.95);
    check(power >= 0.8 && power < 0.8 + 2 / sqrt(n), "power of a long plan", power, 0.8);
    check(ev_plan_paired(0.3 + apart[i] / 2, 0.3 - apart[i] / 2, 0.8, &options, nobody, &n) ==
              EV_OK,
          "a long plan of pairs", n, 0);
    power = paired_power(n, 0.3 + apart[i] / 2, 0.3 - apart[i] / 2, 0.95);
    check(power >= 0.8 && power < 0.8 + 2 / sqrt(n), "power of a long plan of pairs", power, 0.8);
  }
}

/* Rates so low that one count more takes thousands of questions: the search goes by strides. */
static void plans_of_rare_counts(void) {
  static const double rates[][2] = {{1e-6, 0}, {2e-5, 1e-6}, {3e-4, 1e-5}};
  ev_options options = at_level(0.95);
  for (int i = 0; i < 3; i++) {
    double n = 0, a = rates[i][0], b = rates[i][1];
    check(ev_plan_paired(a, b, 0.8, &options, nobody, &n) == EV_OK, "rare pairs", n, 0);
    check(paired_power(n, a, b, 0.95) >= 0.8, "power of rare pairs", n, 0.8);
    check(paired_power(n - 1, a, b, 0.95) < 0.8, "one rare pair fewer", n, 0.8);
    check(ev_plan_diff(a, b, 0.8, &options, nobody, &n) == EV_OK, "rare answers", n, 0);
    check(diff_power(n, a, b, 0.95) >= 0.8, "power of rare answers", n, 0.8);
    check(diff_power(n - 1, a, b, 0.95) < 0.8, "one fewer", n, 0.8);
    for (int j = 1; j < 20; j++)
      check(diff_power(ceil(n * (1 + j / 20.0)), a, b, 0.95) >= 0.8, "more rare answers", n, 0.8);
  }
  /* Five pairs, all on one side, reject: the probability of five of n must be 0.8. */
  double n = 0;
  ev_plan_paired(1e-6, 0, 0.8, &options, nobody, &n);
  double least = gsl_cdf_binomial_Q(4, 1e-6, (unsigned)n);
  check(least >= 0.8 && gsl_cdf_binomial_Q(4, 1e-6, (unsigned)n - 1) < 0.8, "five rare pairs",
        least, 0.8);
}

static void plans_of_widths(void) {
  for (int i = 0; i < 20; i++) {
    double p = random_whole(50) / 50, width = pow(10, -random_whole(30) / 10) * 0.8, n = 0, wide,
           narrow;
    ev_options options = at_level(0.95);
    check(ev_plan_n(p, width, &options, &n) == EV_OK, "plan_n", n, 0);
    ev_expected_width(n, p, &options, &narrow);
    check(narrow <= width, "the planned width", narrow, width);
    if (n == 1) continue;
    ev_expected_width(n - 1, p, &options, &wide);
    check(wide > width, "one question fewer is wider", wide, width);
  }
  /* k = 0 surely: the upper bound is 1 - tail^(1/(n+1)) */
  double width;
  ev_options options = at_level(0.95);
  ev_expected_width(50, 0, &options, &width);
  near(width, pow(0.975, 1.0 / 51) - pow(0.025, 1.0 / 51), 1e-14, "width at none right");
}

static void detectable_differences(void) {
  for (int i = 0; i < 20; i++) {
    double n = 20 + random_whole(3000), d = 0.3 + random_whole(7) / 10, difference = 0;
    ev_options options = at_level(0.95);
    check(ev_detectable(n, d, 0.8, &options, &difference) == EV_OK, "detectable", n, d);
    near(paired_power(n, (d + difference) / 2, (d - difference) / 2, 0.95), 0.8, 1e-10,
         "power at what is detectable");
  }
}

/* No jump where exact sums give way to averages. */
static void averages_join_sums(void) {
  static const double ends[] = {1.276e8, 1.284e8, 1.292e8};
  double power[3];
  for (int i = 0; i < 3; i++) power[i] = paired_power(ends[i], 0.3001, 0.2999, 0.95);
  near(power[0] + power[2], 2 * power[1], 4e-5, "powers of pairs");
  near(paired_power(ends[1], 0.3, 0.3, 0.95), 0.05, 2e-8, "level of the test, summed");
  near(paired_power(ends[2], 0.3, 0.3, 0.95), 0.05, 2e-8, "level of the test, averaged");
  /* Nearly equal numbers of counts, one summed exactly and one averaged, have the same power up to
  ** one tooth. */
  near(diff_power(7.5e8, 0.5, 0.50006, 0.95),
       diff_power(8e8, 0.5, 0.5 + 0.00006 * sqrt(15.0 / 16), 0.95), 1e-5, "powers of two models");
  ev_options options = at_level(0.95);
  double few = NAN, many = NAN;
  ev_power_diff(1000, 3e5, 0.3, 0.35, &options, &few);
  ev_power_diff(1000, 3e8, 0.3, 0.35, &options, &many);
  near(few, many, 2e-3, "one model with far more questions");
  ev_power_diff(1e6, 1e9, 0.5, 0.5001, &options, &many);
  near(many, 0.0545899, 1e-6, "both with many");
  /* 28,000 counts, summed with a stride: the power of the normal distribution. */
  ev_power_diff(1e7, 1e10, 0.5, 0.50003, &options, &many);
  double z = 0.00003 / sqrt(0.25 / 1e7 + 0.25 / 1e10), bound = gsl_cdf_ugaussian_Qinv(0.025);
  near(many, gsl_cdf_ugaussian_Q(bound - z) + gsl_cdf_ugaussian_P(-bound - z), 1e-5,
       "by steps of the one with more");
}

static bool stop(void *context) {
  (void)context;
  return true;
}

static void an_interrupt_is_heard(void) {
  ev_options options = at_level(0.95);
  ev_host host = {.interrupted = stop};
  models[0] = (ev_answered){1, 2};
  check(ev_ranks(models, 1, &options, host, ranks, NULL) == EV_INTERRUPTED, "interrupt", 0, 1);
  double n = 0;
  ev_status paired = ev_plan_paired(0.65, 0.35, 0.8, &options, host, &n),
            diff = ev_plan_diff(0.5, 0.75, 0.9, &options, host, &n);
  check(paired == EV_INTERRUPTED, "a plan of pairs, interrupted", paired, EV_INTERRUPTED);
  check(diff == EV_INTERRUPTED, "a plan of two, interrupted", diff, EV_INTERRUPTED);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: decisions RANKS.csv\n");
    return 2;
  }
  random_seed(11);
  gsl_set_error_handler_off();
  compare_ranks(argv[1]);
  many_models();
  ranks_of_pairs();
  orders_of_models();
  power_is_of_the_test();
  power_is_of_the_posterior();
  plans_of_pairs();
  plans_of_two();
  plans_beyond_looking();
  plans_of_rare_counts();
  plans_of_widths();
  detectable_differences();
  averages_join_sums();
  an_interrupt_is_heard();
  return check_summary();
}
