/*
** The posterior of the intraclass correlation rho = 1/(1+d) in the hierarchy of clustered.c,
** with rho uniform:
**
**     L(rho) / int_0^1 L,   L = int_0^1 prod (d theta)_k (d (1-theta))_(n-k) / (d)_n dtheta.
**
**   1. The points of hierarchy.c say where r = ln d is.
**   2. The density of r at any r is that of a line of hierarchy.c.
**   3. ev_marginal finds the quantiles of r.  rho falls as r rises.
**
** With one attempt at every question L is constant, and the interval the prior's.
*/
#include "icc.h"

#include <math.h>

#include "beta.h"
#include "hierarchy.h"
#include "marginal.h"

/* The posterior's points; each density adds a line to them and removes it again. */
typedef struct icc_posterior {
  ev_hierarchy h;
  ev_status status; /* of the lines */
} icc_posterior;

static double ln_density_of_r(double r, void *context) {
  icc_posterior *p = context;
  size_t points = p->h.count, lines = p->h.line_count;
  double ln = NAN;
  if (p->status == EV_OK) p->status = ev_hierarchy_line_at(&p->h, exp(r), &ln);
  p->h.count = points;
  p->h.line_count = lines;
  return ln;
}

/* The location of the posterior of r: its mean and standard deviation. */
static void start_at_points(const ev_hierarchy *h, ev_search *search) {
  double mean = 0, square = 0;
  for (size_t i = 0; i < h->count; i++) mean += h->points[i].weight * log(h->points[i].d);
  for (size_t i = 0; i < h->count; i++) {
    double apart = log(h->points[i].d) - mean;
    square += h->points[i].weight * apart * apart;
  }
  search->start = mean;
  search->width = 3 * sqrt(square);
}

/* 1e-9 of the density moves a bound by less than 1e-9. */
static ev_status find_icc(icc_posterior *p, const ev_options *options, ev_interval *ci) {
  ev_marginal m;
  ev_interval r;
  double tail = ev_tail(options);
  ev_search search = {.ln_density = ln_density_of_r,
                      .context = p,
                      .ln_drop = 25 - log(tail),
                      .tolerance = 1e-9,
                      .tail = tail,
                      .budget = 4000};
  start_at_points(&p->h, &search);
  ev_status status = ev_marginal_find(&m, &search);
  if (p->status != EV_OK) return p->status;
  if (status == EV_OK) status = ev_marginal_interval(&m, tail, &r);
  if (status == EV_OK) *ci = (ev_interval){ev_at_logit(-r.hi).x, ev_at_logit(-r.lo).x};
  return status;
}

ev_status ev_icc(const ev_cluster *clusters, size_t count, const ev_options *options, ev_host host,
                 ev_interval *ci) {
  ev_options icc = {.level = options->level, .prior = EV_PRIOR_ICC};
  icc_posterior p = {.status = EV_OK};
  if (ev_clusters_single(clusters, count)) {
    *ci = (ev_interval){ev_tail(options), 1 - ev_tail(options)};
    return EV_OK;
  }
  ev_status status = ev_hierarchy_make(clusters, count, &icc, host, EV_FOR_THETA, &p.h);
  if (status == EV_OK) status = find_icc(&p, options, ci);
  ev_hierarchy_free(&p.h);
  return status;
}
