/*
** The binomial distribution, by the beta's.  Used within ext/stats, to plan.
*/
#ifndef EV_BINOMIAL_H
#define EV_BINOMIAL_H

#include <math.h>

#include "beta.h"
#include "model.h"

/* The probability of k of n with the rate p, 0 < p < 1; k need not be whole, but lies in [0, n]. */
double ev_binomial_pmf(double k, double n, ev_point p);

/* P(K <= k) and P(K >= k), also for real k; 0 for k below 0, or above n. */
double ev_binomial_at_most(double k, double n, ev_point p);
double ev_binomial_at_least(double k, double n, ev_point p);

/* The counts beyond which probabilities are negligible: nine standard deviations and more. */
typedef struct ev_window {
  double least, most, mean, sd;
} ev_window;
ev_window ev_binomial_window(double n, ev_point p);

/* A step in the number of trials, from 1 to n, over which the expected count at this rate changes
** by about 0.01, so that a probability hardly changes. */
static inline double ev_trial_stride(double n, double rate) {
  return fmax(1, fmin(n, floor(0.01 / rate)));
}

/* Goes from n, where holds() is true, down by strides to the first number where it is not, or below
** `least`, or after that number of evaluations; then bisects the last stride. */
ev_status ev_search_down(double least, double stride, double evaluations,
                         bool (*holds)(double n, void *context), void *context, ev_host host,
                         double *n);

#endif
