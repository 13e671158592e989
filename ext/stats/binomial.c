/*
** The binomial distribution, by the beta's: P(K <= k) = P(Beta(k+1, n-k) > p).
*/
#include "binomial.h"

#include <math.h>

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

/* How many steps rounding may add up over; and with nothing to step from, because P(K = k)
** underflows, how many are skipped. */
enum { MOST_STEPS = 256, MOST_SKIPPED = 8 };

ev_cumulative ev_cumulative_at(double k, double n, ev_point p) {
  double at = k < 0 || k > n ? 0 : ev_binomial_pmf(k, n, p);
  return (ev_cumulative){k, n, p, ev_binomial_at_most(k, n, p), at, 0};
}

/* Whether the next step is to be computed afresh. */
static bool stale(ev_cumulative *c) {
  return ++c->steps >= (c->at > 0 ? MOST_STEPS : MOST_SKIPPED) || c->k < 0;
}

void ev_next_count(ev_cumulative *c) {
  if (stale(c)) {
    *c = ev_cumulative_at(c->k + 1, c->n, c->p);
    return;
  }
  if (c->at > 0) c->at *= (c->n - c->k) / (c->k + 1) * (c->p.x / c->p.y);
  c->k++;
  c->at_most = c->k < c->n ? c->at_most + c->at : 1;
}

/* K of n + 1 is at most k if K of n is, unless it is k and the last trial is a success. */
void ev_next_trial(ev_cumulative *c) {
  if (stale(c)) {
    *c = ev_cumulative_at(c->k, c->n + 1, c->p);
    return;
  }
  c->n++;
  c->at_most -= c->p.x * c->at;
  if (c->at > 0) c->at *= c->n * c->p.y / (c->n - c->k);
}

ev_window ev_binomial_window(double n, ev_point p) {
  double mean = n * p.x, sd = sqrt(n * p.x * p.y), reach = p.x > 0 && p.y > 0 ? 9 * sd + 25 : 0;
  return (ev_window){floor(fmax(0, mean - reach)), ceil(fmin(n, mean + reach)), mean, sd};
}
