/*
** Planning for McNemar's mid-p test.
**
** Of n questions m ~ Bin(n, d) tell the models apart, d = only_a + only_b, and of those
** B ~ Bin(m, r) favour A, r = only_a / d.  Given m the test rejects when B <= c or
** B >= m - c, where c is the largest count whose mid-p is at most 1 - level.  So the power
** is a sum over m of two binomial tails, within nine standard deviations of its mean.
**
** c is whole, so that the power is a saw-tooth: it falls from one m to the next when c stays, and
** leaps when c grows.  Where the sum has more than 10,000 terms the saw-tooth has long
** averaged out: c is then replaced by the real number at which the mid-p is 1 - level,
** less a half, and the sum by every so manyth term of it.
*/
#include "planning.h"

#include <assert.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "binomial.h"
#include "mcnemar.h"

static const double MOST_PAIRED_TERMS = 10000;

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

/* The real count of many pairs whose mid-p is alpha: the secant method on its logarithm. */
static double real_critical(const pairs *p, double m) {
  double c = m / 2 - p->deviate * sqrt(m) / 2, last = c - 1, ln_alpha = log(p->alpha);
  double f_last = log(ev_mid_p(last, m - last)) - ln_alpha;
  for (int i = 0; i < 8; i++) {
    double f = log(ev_mid_p(c, m - c)) - ln_alpha;
    if (fabs(f) < 1e-13 || f == f_last) break;
    double next = c - f * (c - last) / (f - f_last);
    last = c;
    f_last = f;
    c = fmin(m / 2 - 0.25, fmax(0, next));
  }
  return c;
}

/* P(reject) given m and its critical count, whole or real. */
static double power_given(const pairs *p, double m, double c) {
  if (c < 0) return 0;
  return ev_binomial_at_most(c, m, p->favour) + ev_binomial_at_least(m - c, m, p->favour);
}

/* Fewer pairs than this are not averaged over. */
static const double MANY_DISCORDANT = 1000;

static double power_averaged(const pairs *p, double n) {
  ev_window w = ev_binomial_window(n, p->discordant);
  double stride = fmax(1, floor(w.sd / 4)), sum = 0, mass = 0;
  for (double m = w.least; m <= w.most; m += stride) {
    double chance = ev_binomial_pmf(m, n, p->discordant);
    double c = m < MANY_DISCORDANT ? critical(p, m, normal_guess(p, m)) : real_critical(p, m) - 0.5;
    sum += chance * power_given(p, m, c);
    mass += chance;
  }
  return fmin(1, sum / mass);
}

static double power_summed(const pairs *p, double n) {
  ev_window w = ev_binomial_window(n, p->discordant);
  double sum = 0, c = normal_guess(p, w.least);
  for (double m = w.least; m <= w.most; m++) {
    c = critical(p, m, c);
    sum += ev_binomial_pmf(m, n, p->discordant) * power_given(p, m, c);
  }
  return fmin(1, sum);
}

static bool few_terms(ev_window w) {
  return w.most - w.least <= MOST_PAIRED_TERMS;
}

static double paired_power_of(const pairs *p, double n) {
  if (few_terms(ev_binomial_window(n, p->discordant))) return power_summed(p, n);
  return power_averaged(p, n);
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
  double c = normal_guess(p, least);
  for (size_t i = 0; i < t->count; i++) {
    double m = least + (double)i;
    c = critical(p, m, c);
    t->powers[i] = power_given(p, m, c);
  }
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

/* The least n with the averaged power, which rises with n. */
static double paired_crossing(const pairs *p, double power) {
  double most = 1;
  while (most < EV_MOST_QUESTIONS && power_averaged(p, most) < power) most *= 2;
  if (most >= EV_MOST_QUESTIONS && power_averaged(p, EV_MOST_QUESTIONS) < power) return HUGE_VAL;
  double least = floor(most / 2);
  most = fmin(most, EV_MOST_QUESTIONS);
  while (most - least > 1) {
    double middle = floor((least + most) / 2);
    if (power_averaged(p, middle) < power)
      least = middle;
    else
      most = middle;
  }
  return most;
}

/* How far around the averaged crossing the saw-tooth may cross the power: it is about as
** high as one count's chance, which is 1/sqrt(m), and the averaging over m lowers it by
** exp(-19 (1-d)), if not in the first hundred questions. */
static double saw_tooth_reach(const pairs *p, double n) {
  return floor(fmin(50000, 120 + 8 * sqrt(n) * exp(-15 * p->discordant.y)));
}

/* The last n from `most` down whose power is too low, and one more; `least` if none is. */
static ev_status last_below(const pairs *p, double least, double most, double power, ev_host host,
                            double *n) {
  ev_window low = ev_binomial_window(least, p->discordant);
  ev_window high = ev_binomial_window(most, p->discordant);
  power_table t;
  if (!fill_power_table(p, low.least, high.most, &t)) return EV_NO_MEMORY;
  ev_status status = EV_OK;
  for (*n = most; *n >= least && power_from(p, &t, *n) >= power; --*n)
    if (host.interrupted && host.interrupted(host.context)) status = EV_INTERRUPTED;
  ++*n;
  free(t.powers);
  return status;
}

ev_status ev_plan_paired(double only_a, double only_b, double power, const ev_options *options,
                         ev_host host, double *n) {
  assert(only_a != only_b);
  pairs p = make_pairs(only_a, only_b, options);
  *n = paired_crossing(&p, power);
  if (isinf(*n)) return EV_OK;
  double reach = saw_tooth_reach(&p, *n), least = fmax(1, *n - reach), most = *n + reach;
  if (!few_terms(ev_binomial_window(most, p.discordant)) || most > EV_MOST_QUESTIONS) return EV_OK;
  return last_below(&p, least, most, power, host, n);
}

/*
** What so many questions find
*/
static double power_at(double n, double discordant, double difference, const ev_options *options,
                       double (*power)(const pairs *, double)) {
  pairs p = make_pairs((discordant + difference) / 2, (discordant - difference) / 2, options);
  return power(&p, n);
}

/* The averaged power rises with the difference, and is quick: a bisection.  From there the
** secant method, on the power itself. */
ev_status ev_detectable(double n, double discordant, double power, const ev_options *options,
                        double *difference) {
  double least = 0, most = discordant;
  *difference = HUGE_VAL;
  if (discordant == 0 || power_at(n, discordant, most, options, paired_power_of) < power)
    return EV_OK;
  for (int i = 0; i < 60 && most - least > 1e-9 * most; i++) {
    double middle = (least + most) / 2;
    if (power_at(n, discordant, middle, options, power_averaged) < power)
      least = middle;
    else
      most = middle;
  }
  double x = most, last = most * (1 - 1e-4);
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
