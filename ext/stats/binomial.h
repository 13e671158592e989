/*
** The binomial distribution, by the beta's.  Used within ext/stats, to plan.
*/
#ifndef EV_BINOMIAL_H
#define EV_BINOMIAL_H

#include <math.h>

#include "beta.h"

/* k of n with the chance p, 0 < p < 1; k need not be whole, but lies in [0, n]. */
double ev_binomial_pmf(double k, double n, ev_point p);

/* P(K <= k) and P(K >= k), of real k too; nothing for k below 0 and above n. */
double ev_binomial_at_most(double k, double n, ev_point p);
double ev_binomial_at_least(double k, double n, ev_point p);

/* P(K <= k) and P(K = k) of whole k, which follow from those of one count or one trial
** fewer: a few nanoseconds, where a beta function takes microseconds.  k from -1 on. */
typedef struct ev_cumulative {
  double k, n;
  ev_point p;
  double at_most, at;
  int steps; /* since both were computed afresh */
} ev_cumulative;
ev_cumulative ev_cumulative_at(double k, double n, ev_point p);
void ev_next_count(ev_cumulative *c);
void ev_next_trial(ev_cumulative *c);

/* The counts beyond which nothing is: nine standard deviations and more. */
typedef struct ev_window {
  double least, most, mean, sd;
} ev_window;
ev_window ev_binomial_window(double n, ev_point p);

/* Between numbers of trials, up to n, a chance that rests on counts of that rate hardly
** changes: by a hundredth of a count. */
static inline double ev_look_stride(double n, double rate) {
  return fmax(1, fmin(n, floor(0.01 / rate)));
}

#endif
