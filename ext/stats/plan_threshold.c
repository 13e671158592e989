/*
** How many questions settle on which side of a threshold an accuracy is.
**
** Approximately, by the sample size of the one-sided test of one proportion (Fleiss,
** Statistical Methods for Rates and Proportions, 2.5),
**
**   n = v ((z_level sqrt(t (1-t)) + z_power sqrt(p (1-p))) / (p - t))^2.
**
** Exactly, where k of n right answers pass if 1 - I_t(1 + k, 1 + n - k) >= sure:
**
**   1. P(Bin(n, p) >= r + 1), with r the real k at which that is an equation, is a lower limit of
**      the power, for the least whole k that passes is below r + 1.  It rises with n: from the
**      least n at which it is enough, every n is.
**   2. From there n is lowered while the exact power is enough.
*/
#include <assert.h>

#include <gsl/gsl_cdf.h>

#include "binomial.h"
#include "planning.h"
#include "root.h"

double ev_plan_threshold(double p, double t, double v, double sure, double power) {
  double deviate = gsl_cdf_ugaussian_Pinv(sure), reserve = gsl_cdf_ugaussian_Pinv(power);
  double root = (deviate * sqrt(t * (1 - t)) + reserve * sqrt(p * (1 - p))) / (p - t);
  double n = ceil(v * root * root);
  return n < EV_MOST_QUESTIONS ? fmax(1, n) : HUGE_VAL;
}

typedef struct gate_plan {
  ev_point p, t;
  double sure, power;
} gate_plan;

/* Whether k right answers of n pass. */
static bool passes(const gate_plan *w, double k, double n) {
  ev_beta posterior = ev_beta_make(1 + k, 1 + n - k);
  return ev_beta_cdf(&posterior, w->t).y >= w->sure;
}

/* The real number of right answers from which on they pass, to 1e-9 of an answer; above n where
** not even n pass. */
static double least_passing(const gate_plan *w, double n) {
  ev_bracket in = {0, n};
  if (!passes(w, n, n)) return n + 1;
  for (double k = n * w->t.x; in.high - in.low > 1e-9;) {
    double middle = ev_bracket_next(&in, k, passes(w, k, n), NAN);
    if (middle == k) break;
    k = middle;
  }
  return in.high;
}

/* The power if k right answers of n are needed. */
static double chance_of_at_least(const gate_plan *w, double k, double n) {
  return k <= n ? ev_binomial_at_least(k, n, w->p) : 0;
}

/* Whether the lower limit of the power suffices; if p is 1, whether n right of n pass. */
static bool passes_surely(double n, void *context) {
  const gate_plan *w = context;
  if (w->p.y == 0) return passes(w, n, n);
  return chance_of_at_least(w, least_passing(w, n) + 1, n) >= w->power;
}

static bool passes_often(double n, void *context) {
  const gate_plan *w = context;
  double k = floor(least_passing(w, n));
  if (k <= n && !passes(w, k, n)) k++;
  return w->p.y == 0 ? k <= n : chance_of_at_least(w, k, n) >= w->power;
}

/* The most numbers of questions to try, which takes less than a second. */
static const double MOST_GATE_EVALUATIONS = 10000;

/* From n, which is enough, down to the first that is not: by strides, in the last of which a
** bisection finds it.  Both limits are a count apart, which is 1/(p - t) questions. */
static ev_status search_down_gate(gate_plan *w, ev_host host, double *n) {
  double stride = ev_trial_stride(*n, fmin(w->t.x, w->t.y));
  if (w->p.y == 0 || 1 / (w->p.x - w->t.x) > MOST_GATE_EVALUATIONS * stride) return EV_OK;
  return ev_search_down(1, stride, HUGE_VAL, passes_often, w, host, n);
}

ev_status ev_plan_gate(double p, double t, double sure, double power, ev_host host, double *n) {
  gate_plan w = {{p, 1 - p}, {t, 1 - t}, sure, power};
  assert(p > t && t > 0);
  double guess = ev_plan_threshold(p, t, 1, sure, power);
  *n = ev_least_whole(1, EV_MOST_QUESTIONS, guess, passes_surely, &w);
  if (*n < EV_MOST_QUESTIONS) return search_down_gate(&w, host, n);
  *n = HUGE_VAL;
  return EV_OK;
}
