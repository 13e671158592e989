/* Normal deviates, and a difference of products that keeps its digits.  Used within ext/stats. */
#ifndef EV_NORMAL_H
#define EV_NORMAL_H

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "model.h"

/* The two-sided standard normal deviate of the level. */
static inline double ev_deviate(const ev_options *options) {
  return gsl_cdf_ugaussian_Qinv(ev_tail(options));
}

/* The normal deviate of a probability p, of which q = 1 - p, each with its digits. */
static inline double ev_deviate_of(double p, double q) {
  return p < q ? gsl_cdf_ugaussian_Pinv(p) : gsl_cdf_ugaussian_Qinv(q);
}

/* ab - cd, where the products may be nearly equal: each rounds, but what it loses
** is itself a double. */
static inline double ev_cross_difference(double a, double b, double c, double d) {
  double ab = a * b, cd = c * d;
  return (ab - cd) + (fma(a, b, -ab) - fma(c, d, -cd));
}

/* An estimate plus and minus the same amount. */
static inline ev_interval ev_plus_minus(double estimate, double half) {
  return (ev_interval){estimate - half, estimate + half};
}

#endif
