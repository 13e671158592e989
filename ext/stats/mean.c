/*
** The mean of graded scores, of one model.
**
**   1. Rows, weighted rows or clusters of rows become the atoms of a Dirichlet.
**   2. Each bound gets its imagined atoms: imagined.c; of ev_mean_lmt one, of
**      weight 1 at the bound's own end of the range.
**   3. A bound is a quantile of the posterior mean: dirichlet.c.
**
** On scores at both ends ev_mean is Beta(1 + k, 1 + n - k), and on scores at the ends
** ev_mean_lmt is the interval of Clopper and Pearson: those functions are called, so
** that not a bit differs.
**
** References:
**   Rubin, Ann. Statist. 9 (1981) 130-134: the Bayesian bootstrap, which this is with
**     a prior that keeps it from collapsing.
**   Learned-Miller and Thomas, arXiv:1905.06208 (2019), and Gaffke (2005): the bound.
*/
#include "mean.h"

#include <math.h>

#include "atoms.h"
#include "imagined.h"
#include "proportion.h"

/* The interval of a proportion, as one of the range. */
static ev_status proportion_interval(ev_model *model, const double counts[2],
                                     const ev_options *options, const ev_score_range *range,
                                     ev_host host, ev_interval *ci) {
  ev_options uniform = {.level = options->level, .a = 1, .b = 1};
  ev_interval share;
  ev_status status = model(counts, &uniform, host, &share);
  if (status != EV_OK) return status;
  *ci = (ev_interval){ev_range_value(range, (ev_point){share.lo, 1 - share.lo}),
                      ev_range_value(range, (ev_point){share.hi, 1 - share.hi})};
  return EV_OK;
}

static ev_status posterior_interval(const ev_atoms *atoms, bool sized, const ev_score_range *range,
                                    const ev_options *options, ev_host host, ev_interval *ci) {
  ev_imagined imagined = ev_imagine_mean(atoms, sized);
  ev_point low, high;
  ev_status status = ev_posterior_bounds(atoms, &imagined, options, host, &low, &high);
  if (status == EV_OK) *ci = ev_range_interval(range, low, high);
  return status;
}

ev_status ev_mean(const ev_score *scores, size_t count, const ev_options *options, ev_host host,
                  ev_interval *ci) {
  ev_score_range range = ev_range_of(options->lo, options->hi);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_scores(scores, count, &range, &atoms);
  double counts[2];
  if (status == EV_OK && ev_atoms_at_ends(&atoms, counts)) {
    status = proportion_interval(ev_bayes, counts, options, &range, host, ci);
    if (counts[0] == 0) ci->lo = options->lo;
    if (counts[0] == counts[1]) ci->hi = options->hi;
  } else if (status == EV_OK) {
    status = posterior_interval(&atoms, false, &range, options, host, ci);
  }
  ev_atoms_free(&atoms);
  return status;
}

ev_status ev_mean_prob_above(const ev_score *scores, size_t count, const ev_options *options,
                             ev_host host, double *p) {
  ev_score_range range = ev_range_of(options->lo, options->hi);
  double at = ldexp(options->threshold, -range.exponent), width = range.hi - range.lo;
  ev_point m = {(at - range.lo) / width, (range.hi - at) / width}, sides;
  if (m.x <= 0 || m.y <= 0) {
    *p = m.x <= 0 ? 1 : 0;
    return EV_OK;
  }
  ev_atoms atoms;
  ev_status status = ev_atoms_of_scores(scores, count, &range, &atoms);
  if (status == EV_OK) {
    ev_imagined imagined = ev_imagine_mean(&atoms, false);
    status = ev_posterior_at(&atoms, &imagined, m, host, &sides);
    if (status == EV_OK) *p = sides.y;
  }
  ev_atoms_free(&atoms);
  return status;
}

/* One bound of the posterior with one imagined atom, at the bound's own end. */
static ev_status lmt_bound(const ev_atoms *atoms, const ev_score_range *range,
                           const ev_options *options, bool upper, ev_host host, ev_point *m) {
  double size = range->hi - range->lo;
  ev_atom imagined = {upper ? size : 0, upper ? 0 : size, 1};
  ev_dirichlet d;
  ev_status status = ev_posterior_make(&d, atoms, &imagined, 1, host);
  if (status == EV_OK)
    status = upper ? ev_dirichlet_upper(&d, ev_tail(options), m)
                   : ev_dirichlet_lower(&d, ev_tail(options), m);
  ev_dirichlet_free(&d);
  return status;
}

ev_status ev_mean_lmt(const ev_score *scores, size_t count, const ev_options *options, ev_host host,
                      ev_interval *ci) {
  ev_score_range range = ev_range_of(options->lo, options->hi);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_scores(scores, count, &range, &atoms);
  double counts[2];
  ev_point low, high;
  if (status == EV_OK && ev_atoms_at_ends(&atoms, counts)) {
    status = proportion_interval(ev_cp, counts, options, &range, host, ci);
  } else if (status == EV_OK) {
    status = lmt_bound(&atoms, &range, options, true, host, &high);
    if (status == EV_OK) status = lmt_bound(&atoms, &range, options, false, host, &low);
    if (status == EV_OK) *ci = ev_range_interval(&range, low, high);
  }
  ev_atoms_free(&atoms);
  return status;
}

ev_status ev_weighted_mean(const ev_weighted_score *scores, size_t count, const ev_options *options,
                           ev_host host, ev_interval *ci) {
  ev_score_range range = ev_range_of(options->lo, options->hi);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_weighted(scores, count, &range, &atoms);
  if (status == EV_OK) status = posterior_interval(&atoms, true, &range, options, host, ci);
  ev_atoms_free(&atoms);
  return status;
}

ev_status ev_clustered_mean(const ev_score_cluster *clusters, size_t count,
                            const ev_options *options, ev_host host, ev_interval *ci) {
  ev_score_range range = ev_range_of(options->lo, options->hi);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_clusters(clusters, count, &range, &atoms);
  if (status == EV_OK) status = posterior_interval(&atoms, true, &range, options, host, ci);
  ev_atoms_free(&atoms);
  return status;
}
