/*
** Planning for McNemar's mid-p test.
**
** Of n questions m ~ Bin(n, d) tell the models apart, d = only_a + only_b, and of those
** B ~ Bin(m, r) favour A, r = only_a / d.  Given m the test rejects when B <= c or
** B >= m - c, where c is the largest count whose mid-p is at most 1 - level.  So the power
** is a sum over m of two binomial tails, within nine standard deviations of its mean.  From
** one m to the next the tails and the mid-p change by what is known in closed form
** (binomial.h), so that a term takes nanoseconds.
**
** c is whole, so that the power is a saw-tooth: it falls from one m to the next when c stays, and
** leaps when c grows.  Where the sum has more than 500,000 terms, c is replaced by the real
** number at which the mid-p is 1 - level, less a half, and the sum by every so manyth term
** of it: what is left of the saw-tooth then is less than 4e-6.
*/
#include "planning.h"

#include <assert.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "binomial.h"
#include "mcnemar.h"
#include "root.h"

static const double MOST_PAIRED_TERMS = 500000;

typedef struct pairs {
  ev_point discordant, favour; /* d and r */
  double alpha, deviate;       /* of the test, and the normal one of half of it */
} pairs;

static pairs make_pairs(double only_a, double only_b, const ev_options *options) {
  double d = fmin(1, only_a + only_b);
  assert(only_a >= 0 && only_b >= 0 && d > 0);
  pairs p = {{d, fmax(0, 1 - d)},
             {only_a / (only_a + only_b), only_b / (only_a + only_b)},
             1 - options->level,
             0};
  p.deviate = gsl_cdf_ugaussian_Qinv(p.alpha / 2);
  return p;
}

/* The largest count of m discordant pairs that rejects, -1 when none does; sought from a
** guess outward. */
static double critical(const pairs *p, double m, double guess) {
  double half = ceil(m / 2), c = fmax(0, fmin(guess, half - 1)), step = 1, rejects, keeps;
  if (m < 1 || ev_mid_p(0, m) > p->alpha) return -1;
  if (ev_mid_p(c, m - c) <= p->alpha) {
    for (rejects = c; (keeps = fmin(half, rejects + step)) < half; step *= 2) {
      if (ev_mid_p(keeps, m - keeps) > p->alpha) break;
      rejects = keeps;
    }
  } else {
    for (keeps = c; (rejects = fmax(0, keeps - step)) > 0; step *= 2) {
      if (ev_mid_p(rejects, m - rejects) <= p->alpha) break;
      keeps = rejects;
    }
  }
  while (keeps - rejects > 1) {
    double middle = floor((rejects + keeps) / 2);
    if (ev_mid_p(middle, m - middle) <= p->alpha)
      rejects = middle;
    else
      keeps = middle;
  }
  return rejects;
}

static double normal_guess(const pairs *p, double m) {
  return floor(m / 2 - p->deviate * sqrt(m) / 2);
}

/* The real count whose mid-p is alpha, -1 when none is: the secant method on its logarithm,
** in a bracket. */
static double real_critical(const pairs *p, double m) {
  ev_bracket in = {0, m / 2};
  double c = m / 2 - p->deviate * sqrt(m) / 2, last = NAN, f_last = NAN;
  if (m < 1 || ev_mid_p(0, m) > p->alpha) return -1;
  for (int i = 0; i < 100; i++) {
    if (!(c > in.low && c < in.high)) c = (in.low + in.high) / 2;
    double f = log(ev_mid_p(c, m - c) / p->alpha);
    if (isnan(f)) return NAN;
    double step = i ? f * (c - last) / (f - f_last) : f * sqrt(m) / (2 * fmax(0.1, p->deviate));
    double next = ev_bracket_next(&in, c, f > 0, c - step);
    if (fabs(step) < 1e-9 * fmax(1, c) || in.high - in.low < 1e-12 * in.high) return c;
    last = c;
    f_last = f;
    c = next;
  }
  return NAN;
}

/* P(reject) given m and its critical count, whole or real. */
static double power_given(const pairs *p, double m, double c) {
  if (c < 0) return 0;
  return ev_binomial_at_most(c, m, p->favour) + ev_binomial_at_least(m - c, m, p->favour);
}

/* With real critical counts, less what they may have on whole ones: a half is the average, 1
** is a lower limit of the power, for no whole one is that much lower, and 0 an upper. */
static double smooth_power(const pairs *p, double n, double less) {
  ev_window w = ev_binomial_window(n, p->discordant);
  double stride = fmax(1, floor(w.sd / 4)), sum = 0, mass = 0;
  /* By distances: from 2^53 on there is no next number. */
  for (double i = 0; i <= w.most - w.least; i += stride) {
    double m = w.least + i, chance = ev_binomial_pmf(m, n, p->discordant);
    if (chance < 1e-18) continue;
    sum += chance * power_given(p, m, real_critical(p, m) - less);
    mass += chance;
  }
  return fmin(1, sum / mass);
}

static double averaged_power(const pairs *p, double n) {
  return smooth_power(p, n, 0.5);
}

/*
** From one number of discordant pairs to the next
*/
typedef struct pairs_walk {
  const pairs *p;
  double m, rejecting;     /* counts that reject on either side: 0 up to one less than this */
  ev_cumulative half;      /* at the first that does not, of Bin(m, 1/2) */
  ev_cumulative low, high; /* at the last that does, of Bin(m, r) and of Bin(m, 1 - r) */
} pairs_walk;

static pairs_walk start_pairs(const pairs *p, double m) {
  pairs_walk w = {.p = p, .m = m, .rejecting = critical(p, m, normal_guess(p, m)) + 1};
  ev_point even = {0.5, 0.5}, reversed = {p->favour.y, p->favour.x};
  w.half = ev_cumulative_at(w.rejecting, m, even);
  w.low = ev_cumulative_at(w.rejecting - 1, m, p->favour);
  w.high = ev_cumulative_at(w.rejecting - 1, m, reversed);
  return w;
}

/* What rounding could decide, the mid-p afresh does. */
static bool next_rejects(const pairs_walk *w) {
  if (2 * w->rejecting >= w->m) return false;
  double mid_p = 2 * w->half.at_most - w->half.at;
  if (fabs(mid_p - w->p->alpha) < 1e-8 * w->p->alpha)
    mid_p = ev_mid_p(w->rejecting, w->m - w->rejecting);
  return mid_p <= w->p->alpha;
}

static void next_pairs(pairs_walk *w) {
  w->m++;
  ev_next_trial(&w->half);
  ev_next_trial(&w->low);
  ev_next_trial(&w->high);
  while (next_rejects(w)) {
    w->rejecting++;
    ev_next_count(&w->half);
    ev_next_count(&w->low);
    ev_next_count(&w->high);
  }
}

static double power_here(const pairs_walk *w) {
  return w->low.at_most + w->high.at_most;
}

static double summed_power(const pairs *p, double n) {
  ev_window window = ev_binomial_window(n, p->discordant);
  pairs_walk w = start_pairs(p, window.least);
  ev_cumulative chance = ev_cumulative_at(window.least, n, p->discordant);
  double sum = chance.at * power_here(&w);
  while (w.m < window.most) {
    next_pairs(&w);
    ev_next_count(&chance);
    sum += chance.at * power_here(&w);
  }
  return fmin(1, sum);
}

static bool few_terms(ev_window w) {
  return w.most - w.least <= MOST_PAIRED_TERMS;
}

static double paired_power_of(const pairs *p, double n) {
  if (few_terms(ev_binomial_window(n, p->discordant))) return summed_power(p, n);
  return averaged_power(p, n);
}

ev_status ev_power_paired(double n, double only_a, double only_b, const ev_options *options,
                          double *power) {
  *power = 0;
  if (only_a + only_b == 0) return EV_OK;
  pairs p = make_pairs(only_a, only_b, options);
  *power = paired_power_of(&p, n);
  return isnan(*power) ? EV_NOT_CONVERGED : EV_OK;
}

/*
** How many questions
*/

/* The powers given m, of a range of m: they serve every n. */
typedef struct power_table {
  double first, *powers;
  size_t count;
} power_table;

static bool fill_power_table(const pairs *p, double least, double most, power_table *t) {
  *t = (power_table){least, NULL, (size_t)(most - least) + 1};
  t->powers = malloc(t->count * sizeof *t->powers);
  if (!t->powers) return false;
  pairs_walk w = start_pairs(p, least);
  for (size_t i = 0; i < t->count; i++, next_pairs(&w)) t->powers[i] = power_here(&w);
  return true;
}

/* The chance of each m follows from that of the last. */
static double power_from(const pairs *p, const power_table *t, double n) {
  ev_window w = ev_binomial_window(n, p->discordant);
  double chance = ev_binomial_pmf(w.least, n, p->discordant), sum = 0;
  double odds = p->discordant.x / p->discordant.y;
  for (double m = w.least; m <= w.most; m++) {
    sum += chance * t->powers[(size_t)(m - t->first)];
    if (m < w.most) chance *= (n - m) / (m + 1) * odds;
  }
  return sum;
}

/* The least n, above one that is not, whose smooth power is enough: it rises with n. */
static double paired_crossing(const pairs *p, double above, double power, double less) {
  double least = above, most = fmax(1, above);
  for (double more = 1; smooth_power(p, most, less) < power; more *= 2) {
    if (most == EV_MOST_QUESTIONS) return HUGE_VAL;
    least = most;
    most = fmin(EV_MOST_QUESTIONS, above + more);
  }
  while (most - least > 1) {
    double middle = floor((least + most) / 2);
    if (smooth_power(p, middle, less) < power)
      least = middle;
    else
      most = middle;
  }
  return most;
}

/* From `most`, which is enough, down to the first n that is not, or to one below `least`,
** which is none; by strides, in the last of which a bisection finds it. */
static ev_status last_enough(const pairs *p, double least, double most, double power, ev_host host,
                             double *n) {
  ev_window low = ev_binomial_window(least, p->discordant);
  ev_window high = ev_binomial_window(most, p->discordant);
  power_table t;
  if (!fill_power_table(p, low.least, high.most, &t)) return EV_NO_MEMORY;
  ev_status status = EV_OK;
  double stride = ev_look_stride(most, p->discordant.x), below = most - stride;
  while (status == EV_OK && below >= least && power_from(p, &t, below) >= power) {
    below -= stride;
    if (ev_interrupted(host)) status = EV_INTERRUPTED;
  }
  *n = below + stride;
  below = fmax(below, least - 1);
  while (*n - below > 1) {
    double middle = floor((below + *n) / 2);
    if (power_from(p, &t, middle) >= power)
      *n = middle;
    else
      below = middle;
  }
  free(t.powers);
  return status;
}

/* How many terms are summed in a fraction of a second. */
static const double MOST_SUMMED = 5e7;

/* No n below the crossing of the upper limit has the power, every n from that of the lower
** on has it: between, where there is time for that, the saw-tooth is looked through. */
ev_status ev_plan_paired(double only_a, double only_b, double power, const ev_options *options,
                         ev_host host, double *n) {
  assert(only_a != only_b);
  pairs p = make_pairs(only_a, only_b, options);
  double least = paired_crossing(&p, 0, power, 0);
  *n = isinf(least) ? HUGE_VAL : paired_crossing(&p, least - 1, power, 1);
  if (isinf(*n)) return EV_OK;
  ev_window low = ev_binomial_window(least, p.discordant), w = ev_binomial_window(*n, p.discordant);
  double looks = (*n - least) / ev_look_stride(*n, p.discordant.x);
  if ((w.most - w.least + 1) * looks > MOST_SUMMED || w.most - low.least > MOST_PAIRED_TERMS)
    return EV_OK;
  return last_enough(&p, least, *n, power, host, n);
}

/*
** What so many questions find
*/
static double power_at(double n, double discordant, double difference, const ev_options *options,
                       double (*power)(const pairs *, double)) {
  pairs p = make_pairs((discordant + difference) / 2, (discordant - difference) / 2, options);
  return power(&p, n);
}

/* From so many pairs on the averaged power is near the power. */
static const double MANY_DISCORDANT = 1000;

/* The averaged power rises with the difference, and is quick: a bisection.  From there the
** secant method, on the power itself. */
ev_status ev_detectable(double n, double discordant, double power, const ev_options *options,
                        double *difference) {
  ev_window w = ev_binomial_window(n, (ev_point){discordant, 1 - discordant});
  double (*quick)(const pairs *, double) =
      w.least < MANY_DISCORDANT ? summed_power : averaged_power;
  ev_bracket in = {0, discordant};
  double x = discordant / 2;
  *difference = HUGE_VAL;
  if (discordant == 0 || power_at(n, discordant, discordant, options, paired_power_of) < power)
    return EV_OK;
  for (int i = 0; i < 60 && in.high - in.low > 1e-9 * in.high; i++)
    x = ev_bracket_next(&in, x, power_at(n, discordant, x, options, quick) >= power, NAN);
  x = in.high;
  double last = x * (1 - 1e-4);
  double f_last = power_at(n, discordant, last, options, paired_power_of) - power;
  for (int i = 0; i < 12; i++) {
    double f = power_at(n, discordant, x, options, paired_power_of) - power;
    *difference = x;
    if (fabs(f) < 1e-13 || f == f_last) return EV_OK;
    double next = x - f * (x - last) / (f - f_last);
    last = x;
    f_last = f;
    x = fmin(discordant, fmax(0, next));
    if (fabs(x - last) <= 1e-15 * x) return EV_OK;
  }
  return fabs(f_last) < 1e-10 ? EV_OK : EV_NOT_CONVERGED;
}
