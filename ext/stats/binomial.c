/*
** The binomial distribution, by the beta's: P(K <= k) = P(Beta(k+1, n-k) > p).
*/
#include "binomial.h"

#include <math.h>

#include "root.h"

double ev_binomial_pmf(double k, double n, ev_point p) {
  if (p.x == 0 || p.y == 0) return k == (p.x == 0 ? 0 : n);
  ev_beta d = ev_beta_make(k + 1, n - k + 1);
  return exp(ev_beta_ln_logit_density(&d, p) - log(p.x) - log(p.y) - log1p(n));
}

double ev_binomial_at_most(double k, double n, ev_point p) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  ev_beta d = ev_beta_make(k + 1, n - k);
  return ev_beta_cdf(&d, p).y;
}

double ev_binomial_at_least(double k, double n, ev_point p) {
  return ev_binomial_at_most(n - k, n, (ev_point){p.y, p.x});
}

/* Nine standard deviations leave 2e-19 of a normal distribution.  The 25 are for small means, where
** a Poisson distribution has longer tails: with a mean of 1, 1e-42 lies beyond 1 + 9 + 25. */
ev_window ev_binomial_window(double n, ev_point p) {
  double mean = n * p.x, sd = sqrt(n * p.x * p.y), reach = p.x > 0 && p.y > 0 ? 9 * sd + 25 : 0;
  return (ev_window){floor(fmax(0, mean - reach)), ceil(fmin(n, mean + reach)), mean, sd};
}

ev_status ev_search_down(double least, double stride, double evaluations,
                         bool (*holds)(double n, void *context), void *context, ev_host host,
                         double *n) {
  double below = *n - stride;
  for (double i = 0; i < evaluations && below >= least && holds(below, context);
       i++, below -= stride)
    if (ev_interrupted(host)) return EV_INTERRUPTED;
  *n = ev_least_whole(fmax(below + 1, least), below + stride, below + stride / 2, holds, context);
  return EV_OK;
}
