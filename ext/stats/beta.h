/*
** The beta distribution to near machine precision, for every a, b > 0 up to
** and beyond the counts a double can hold.  Used by the models in ext/stats;
** knows nothing of SQL.
*/
#ifndef EV_BETA_H
#define EV_BETA_H

#include <stdbool.h>

/* A probability kept with its complement, so that neither end of [0,1] loses
** digits: y = 1 - x, each to full relative precision. */
typedef struct ev_point {
  double x, y;
} ev_point;

/* The point whose logit is t. */
ev_point ev_at_logit(double t);

/* A beta distribution with the constants that every evaluation shares. */
typedef struct ev_beta {
  double a, b;
  double mean, comean; /* a/(a+b) and b/(a+b) */
  ev_point rest;       /* what their rounding lost: 1e-9 standard deviations at 10^14 */
  double ln_peak;      /* ln of x^a y^b / B(a,b) at the mean */
} ev_beta;

/* A probability of at most 1/2, rounded where that costs nothing so that it and
** 1 minus it are exact complements. */
static inline double ev_with_exact_complement(double smaller) {
  return smaller > 0x1p-10 ? 1 - (1 - smaller) : smaller;
}

/* ln of x / from.x and of y / from.y at the point whose logit is `away` above from's. */
ev_point ev_ln_from(ev_point from, double away);

/* Needs finite a, b > 0. */
ev_beta ev_beta_make(double a, double b);

/* Beta(a + k, b + m); what these sums lose of a and b is put into the mean. */
ev_beta ev_beta_posterior(double a, double b, double k, double m);

/* x - mean, from whichever side keeps its digits. */
double ev_beta_deviation(const ev_beta *d, ev_point t);

/* ln of x^a y^b / B(a,b): the density of logit(x), which is also the density
** of x times x*y. */
double ev_beta_ln_logit_density(const ev_beta *d, ev_point t);

/* The logit, above the mean's (side 1) or below it (-1), beyond which the density of the
** logit is negligible, less than e^-ln_drop of its peak; to a hundredth of the distance. */
double ev_beta_negligible_beyond(const ev_beta *d, double side, double ln_drop);

/* P(X <= x) as point.x and P(X > x) as point.y; the smaller of the two has
** full relative precision, less the digits that 1/min(a,b) costs below 1.  Both are
** NaN where a series does not converge; so are their logarithms. */
ev_point ev_beta_cdf(const ev_beta *d, ev_point t);

/* ln P(X <= x) and ln P(X > x), which do not underflow. */
ev_point ev_beta_ln_cdf(const ev_beta *d, ev_point t);

/* The point whose CDF is p; p.x + p.y = 1, and the smaller is trusted.  False
** when the search for it does not converge. */
bool ev_beta_quantile(const ev_beta *d, ev_point p, ev_point *x);

#endif
