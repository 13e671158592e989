/*
** The mean difference of two models on the same questions.
**
**   1. Differences of rows, or of clusters of rows, become the atoms of a Dirichlet.
**   2. Their signs are chosen so that either order of the models gives the same digits.
**   3. Each bound gets its imagined differences: imagined.c.
**   4. A bound is a quantile of the posterior mean, and P(difference > margin) its tail.
**
** A gate must not pass a candidate by luck: ev_no_worse_prob has one imagined
** difference of weight 1 at the worst end, as the lower bound of Learned-Miller and
** Thomas has, so that a candidate which breaks on few questions passes in at most
** 5% of evals (tests/measured/coverage.md).
*/
#include <math.h>
#include <stdbool.h>

#include "imagined.h"
#include "mean.h"

/* The range of a difference. */
static ev_score_range diff_range(const ev_options *options) {
  ev_score_range range = ev_range_of(options->lo, options->hi);
  double width = range.hi - range.lo;
  return (ev_score_range){-width, width, range.exponent};
}

/* The differences or their negatives, whichever come first in an order that does not depend on
** signs, so that both give the same digits. */
static ev_status orient_diffs(ev_atoms *atoms, int tie, bool *mirrored, bool *symmetric) {
  ev_atoms mirror;
  ev_status status = ev_atoms_mirror(atoms, &mirror);
  if (status != EV_OK) return status;
  int order = ev_atoms_compare(atoms, &mirror);
  *symmetric = order == 0 && tie == 0;
  *mirrored = order != 0 ? order > 0 : tie > 0;
  if (*mirrored) {
    ev_atoms plain = *atoms;
    *atoms = mirror, mirror = plain;
  }
  ev_atoms_free(&mirror);
  return EV_OK;
}

static ev_status diff_interval(ev_atoms *atoms, bool sized, const ev_options *options, ev_host host,
                               ev_interval *ci) {
  bool mirrored, symmetric;
  ev_status status = orient_diffs(atoms, 0, &mirrored, &symmetric);
  if (status != EV_OK) return status;
  ev_score_range range = diff_range(options);
  ev_imagined imagined = ev_imagine_diff(atoms, sized);
  ev_point low, high;
  status = ev_posterior_bounds(atoms, &imagined, options, host, &low, &high);
  if (status != EV_OK) return status;
  if (symmetric) low = (ev_point){high.y, high.x};
  *ci = ev_range_interval(&range, low, high);
  if (mirrored) *ci = (ev_interval){-ci->hi, -ci->lo};
  return EV_OK;
}

/* The margin as a share of the differences' range. */
static ev_point margin_share(double margin, const ev_score_range *range) {
  double scaled = ldexp(margin, -range->exponent), width = 2 * range->hi;
  return (ev_point){(scaled - range->lo) / width, (range->hi - scaled) / width};
}

static ev_status diff_probability(ev_atoms *atoms, bool sized, const ev_options *options,
                                  ev_host host, double *p) {
  ev_score_range range = diff_range(options);
  ev_point m = margin_share(options->margin, &range), sides;
  if (m.x <= 0 || m.y <= 0) {
    *p = m.x <= 0 ? 1 : 0;
    return EV_OK;
  }
  bool mirrored, symmetric;
  ev_status status = orient_diffs(atoms, (m.x > m.y) - (m.x < m.y), &mirrored, &symmetric);
  if (status != EV_OK) return status;
  if (symmetric) {
    *p = 0.5;
    return EV_OK;
  }
  if (mirrored) m = (ev_point){m.y, m.x};
  ev_imagined imagined = ev_imagine_diff(atoms, sized);
  status = ev_posterior_at(atoms, &imagined, m, host, &sides);
  if (status == EV_OK) *p = mirrored ? sides.x : sides.y;
  return status;
}

/* Of rows' differences, or those of clusters: the interval, or P(difference > margin). */
static ev_status of_diffs(const ev_score *rows, const ev_score_cluster *clusters, size_t count,
                          const ev_options *options, ev_host host, ev_interval *ci, double *p) {
  ev_score_range range = diff_range(options);
  ev_atoms atoms;
  ev_status status = rows ? ev_atoms_of_scores(rows, count, &range, &atoms)
                          : ev_atoms_of_clusters(clusters, count, &range, &atoms);
  if (status == EV_OK)
    status = ci ? diff_interval(&atoms, clusters, options, host, ci)
                : diff_probability(&atoms, clusters, options, host, p);
  ev_atoms_free(&atoms);
  return status;
}

ev_status ev_paired_mean_diff(const ev_score *diffs, size_t count, const ev_options *options,
                              ev_host host, ev_interval *ci) {
  return of_diffs(diffs, NULL, count, options, host, ci, NULL);
}

ev_status ev_clustered_mean_diff(const ev_score_cluster *diffs, size_t count,
                                 const ev_options *options, ev_host host, ev_interval *ci) {
  return of_diffs(NULL, diffs, count, options, host, ci, NULL);
}

ev_status ev_paired_mean_prob_better(const ev_score *diffs, size_t count, const ev_options *options,
                                     ev_host host, double *p) {
  return of_diffs(diffs, NULL, count, options, host, NULL, p);
}

ev_status ev_clustered_mean_prob_better(const ev_score_cluster *diffs, size_t count,
                                        const ev_options *options, ev_host host, double *p) {
  return of_diffs(NULL, diffs, count, options, host, NULL, p);
}

ev_status ev_no_worse_prob(const ev_score *diffs, size_t count, const ev_options *options,
                           ev_host host, double *p) {
  ev_score_range range = diff_range(options);
  ev_point m = margin_share(-options->margin, &range);
  if (m.x <= 0 || m.y <= 0) {
    *p = m.x <= 0 ? 1 : 0;
    return EV_OK;
  }
  ev_atom worst = {0, 2 * range.hi, 1};
  ev_atoms atoms;
  ev_dirichlet d;
  ev_dirichlet_value value = {0, 0, 0};
  ev_status status = ev_atoms_of_scores(diffs, count, &range, &atoms);
  if (status == EV_OK) {
    status = ev_posterior_make(&d, &atoms, &worst, 1, host);
    if (status == EV_OK) status = ev_dirichlet_at(&d, m, &value);
    ev_dirichlet_free(&d);
  }
  ev_atoms_free(&atoms);
  if (status == EV_OK) *p = exp(value.ln_above);
  return status;
}
