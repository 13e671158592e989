/*
** What contrasts of two models on different questions share: P(theta_A > theta_B) and the
** difference of independent theta ~ Beta(k+1, n-k+1).  Used within ext/stats.
*/
#ifndef EV_CONTRAST_H
#define EV_CONTRAST_H

#include "beta.h"
#include "model.h"

/* How far below its peak an inner integral goes, in logarithms: e^-36 is 2e-16. */
static const double EV_INNER_LN_DROP = 36;

/* An order of A and B that does not depend on which is called which, so that
** exchanging them repeats the same arithmetic: -1, 0 when they are alike, 1. */
int ev_order_of_models(const double *counts);

ev_beta ev_uniform_posterior(const double *counts);

/* Runs a model whose results are negated and reversed by the exchange of A and
** B, on the canonical order. */
ev_status ev_antisymmetric(const double *counts, const ev_options *options, ev_model *model,
                           ev_interval *ci);

double ev_beta_variance(const ev_beta *d);

/* ln of the density of x.  At an end, where it is not 0 only beside a shape of 1, it is the
** other shape. */
double ev_ln_share_density(const ev_beta *d, ev_point x);

/* The derivative of ln_logit_density by the logit, and its curvature. */
static inline double ev_logit_slope(const ev_beta *d, ev_point t) {
  return d->a * t.y - d->b * t.x;
}

static inline double ev_logit_curvature(const ev_beta *d, ev_point t) {
  return (d->a + d->b) * t.x * t.y;
}

#endif
