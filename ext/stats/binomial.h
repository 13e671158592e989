/*
** The binomial distribution, by the beta's.  Used within ext/stats, to plan.
*/
#ifndef EV_BINOMIAL_H
#define EV_BINOMIAL_H

#include "beta.h"

/* k of n with the chance p, 0 < p < 1; k need not be whole, but lies in [0, n]. */
double ev_binomial_pmf(double k, double n, ev_point p);

/* P(K <= k) and P(K >= k), of real k too; nothing for k below 0 and above n. */
double ev_binomial_at_most(double k, double n, ev_point p);
double ev_binomial_at_least(double k, double n, ev_point p);

/* The counts beyond which nothing is: nine standard deviations and more. */
typedef struct ev_window {
  double least, most, mean, sd;
} ev_window;
ev_window ev_binomial_window(double n, ev_point p);

#endif
