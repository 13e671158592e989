/*
** Planning for McNemar's mid-p test.
**
** Of n questions m ~ Bin(n, d) tell the models apart, d = only_a + only_b, and of those
** B ~ Bin(m, r) favour A, r = only_a / d.
**
**   1. Given m the test rejects when B <= c or B >= m - c, where c is the largest count whose
**      mid-p is at most 1 - level.  That grows by at most 1 from one m to the next.
**   2. The power is the sum of the two binomial tails, averaged over m within nine standard
**      deviations of its mean.
**   3. c is whole, so that the power is a saw-tooth: it falls from one m to the next when c stays,
**      and leaps when c grows.  Where the sum has more than 100,000 terms, c is replaced by the
**      real number at which the mid-p is 1 - level, less a half, and the sum takes every
**      `stride`-th term: the rest of the saw-tooth then is less than 1e-5.
**   4. A plan: with real critical counts the power rises with n.  With c itself it is an upper
**      limit of the power, with c less 1 a lower.  Between the two n at which they are enough, the
**      saw-tooth is looked through from above.
*/
#include "planning.h"

#include <assert.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "binomial.h"
#include "mcnemar.h"
#include "root.h"

/* Each takes some microseconds. */
static const double MOST_PAIRED_TERMS = 100000;

typedef struct pairs {
  ev_point discordant, favour; /* d and r */
  double alpha, deviate;       /* of the test, and the normal one of half of it */
  double power;                /* that a plan wishes for */
  double m;                    /* discordant pairs whose critical count is sought */
  double less;                 /* than a real critical count */
  double first, *given;        /* the powers given m, from the first on: they serve every n */
} pairs;

static pairs make_pairs(double only_a, double only_b, const ev_options *options) {
  double d = fmin(1, only_a + only_b);
  assert(only_a >= 0 && only_b >= 0 && d > 0);
  pairs p = {.discordant = {d, fmax(0, 1 - d)},
             .favour = {only_a / (only_a + only_b), only_b / (only_a + only_b)},
             .alpha = 1 - options->level};
  p.deviate = gsl_cdf_ugaussian_Qinv(p.alpha / 2);
  return p;
}

static bool keeps(double c, void *context) {
  const pairs *p = context;
  return !(ev_mid_p(c, p->m - c) <= p->alpha);
}

/* The number of counts of m discordant pairs that reject: 0 up to this minus one. */
static double rejecting(pairs *p, double m) {
  p->m = m;
  return ev_least_whole(0, ceil(m / 2), m / 2 - p->deviate * sqrt(m) / 2, keeps, p);
}

/* P(reject) given m and its critical count, whole or real. */
static double power_given(const pairs *p, double m, double c) {
  if (c < 0) return 0;
  return ev_binomial_at_most(c, m, p->favour) + ev_binomial_at_least(m - c, m, p->favour);
}

/*
** With whole critical counts
*/

/* Fills in the powers given m, for m from least to most; false without memory. */
static bool fill_given(pairs *p, double least, double most) {
  p->first = least;
  p->given = malloc((size_t)(most - least + 1) * sizeof *p->given);
  if (!p->given) return false;
  double reject = rejecting(p, least);
  for (double m = least; m <= most; m++) {
    p->m = m;
    if (2 * reject < m && !keeps(reject, p)) reject++;
    p->given[(size_t)(m - least)] = power_given(p, m, reject - 1);
  }
  return true;
}

/* The power of n questions.  The chance of each m follows from that of the last, by a ratio whose
** rounding would add up but for the division by the sum of chances. */
static double summed_power(const pairs *p, double n) {
  ev_window w = ev_binomial_window(n, p->discordant);
  double chance = ev_binomial_pmf(w.least, n, p->discordant), sum = 0, mass = 0;
  for (double m = w.least; m <= w.most; m++) {
    sum += chance * p->given[(size_t)(m - p->first)];
    mass += chance;
    if (m < w.most) chance *= (n - m) / (m + 1) * (p->discordant.x / p->discordant.y);
  }
  return fmin(1, sum / mass);
}

/*
** With real critical counts
*/

/* The real count whose mid-p is alpha, between the last whole one that rejects and the next, on
** the logarithm of the mid-p; -1 when none rejects. */
static double real_critical(pairs *p, double m) {
  double c = rejecting(p, m) - 1;
  if (c < 0) return c;
  double last = log(ev_mid_p(c, m - c)), next = log(ev_mid_p(c + 1, m - c - 1));
  return c + (log(p->alpha) - last) / (next - last);
}

static double smooth_power(pairs *p, double n) {
  ev_window w = ev_binomial_window(n, p->discordant);
  /* As in ev_expected_width(). */
  double stride = fmax(1, floor(w.sd / 4)), sum = 0, mass = 0;
  /* Counted from w.least, because from 2^53 on m + 1 is not a double. */
  for (double i = 0; i <= w.most - w.least; i += stride) {
    double m = w.least + i, chance = ev_binomial_pmf(m, n, p->discordant);
    if (chance < 1e-18) continue;
    sum += chance * power_given(p, m, real_critical(p, m) - p->less);
    mass += chance;
  }
  return fmin(1, sum / mass);
}

static ev_status paired_power(pairs *p, double n, double *power) {
  ev_window w = ev_binomial_window(n, p->discordant);
  if (w.most - w.least > MOST_PAIRED_TERMS) {
    p->less = 0.5;
    *power = smooth_power(p, n);
  } else {
    if (!fill_given(p, w.least, w.most)) return EV_NO_MEMORY;
    *power = summed_power(p, n);
    free(p->given);
  }
  return isnan(*power) ? EV_NOT_CONVERGED : EV_OK;
}

ev_status ev_power_paired(double n, double only_a, double only_b, const ev_options *options,
                          double *power) {
  *power = 0;
  if (only_a + only_b == 0) return EV_OK;
  pairs p = make_pairs(only_a, only_b, options);
  return paired_power(&p, n, power);
}

/*
** How many questions
*/
static bool pairs_enough(double n, void *context) {
  const pairs *p = context;
  return summed_power(p, n) >= p->power;
}

static bool smoothly_enough(double n, void *context) {
  pairs *p = context;
  return smooth_power(p, n) >= p->power;
}

/* The least n from `least` on with the smooth power; infinite if there is none. */
static double smooth_plan(pairs *p, double least, double less) {
  p->less = less;
  double n = ev_least_whole(least, EV_MOST_QUESTIONS, least, smoothly_enough, p);
  return n < EV_MOST_QUESTIONS ? n : HUGE_VAL;
}

/* The number of terms that are summed in a fraction of a second. */
static const double MOST_SUMMED = 5e7;

ev_status ev_plan_paired(double only_a, double only_b, double power, const ev_options *options,
                         ev_host host, double *n) {
  assert(only_a != only_b);
  pairs p = make_pairs(only_a, only_b, options);
  p.power = power;
  double least = smooth_plan(&p, 1, 0);
  *n = isinf(least) ? HUGE_VAL : smooth_plan(&p, least, 1);
  if (isinf(*n)) return EV_OK;
  ev_window low = ev_binomial_window(least, p.discordant), w = ev_binomial_window(*n, p.discordant);
  double stride = ev_trial_stride(*n, p.discordant.x), looks = (*n - least) / stride;
  if ((w.most - w.least + 1) * looks > MOST_SUMMED || w.most - low.least > MOST_PAIRED_TERMS)
    return EV_OK;
  if (!fill_given(&p, low.least, w.most)) return EV_NO_MEMORY;
  ev_status status = ev_search_down(least, stride, HUGE_VAL, pairs_enough, &p, host, n);
  free(p.given);
  return status;
}

/* The difference that n questions find: the secant method in a bracket, because the power is smooth
** in the difference and rises with it.  1e-13 is the rounding of a power. */
ev_status ev_detectable(double n, double discordant, double power, const ev_options *options,
                        double *difference) {
  ev_bracket in = {0, discordant};
  double x = discordant, last = 0, f_last = 0;
  *difference = HUGE_VAL;
  for (int i = 0; i < 100 && discordant > 0; i++) {
    double f;
    ev_status status = ev_power_paired(n, (discordant + x) / 2, (discordant - x) / 2, options, &f);
    f -= power;
    if (status != EV_OK || (i == 0 && f < 0)) return status;
    double wish = i > 0 ? x - f * (x - last) / (f - f_last) : NAN;
    *difference = x;
    if (fabs(f) < 1e-13 || fabs(wish - x) <= 1e-15 * x) return EV_OK;
    last = x;
    f_last = f;
    x = ev_bracket_next(&in, x, f > 0, wish);
  }
  return discordant > 0 ? EV_NOT_CONVERGED : EV_OK;
}
