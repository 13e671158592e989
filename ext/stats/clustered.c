/*
** The Beta-binomial hierarchy of Bowyer et al. 2025, section 3.2:
**
**     theta ~ U(0,1),  d ~ Gamma(1,1),  theta_t ~ Beta(d theta, d (1-theta)),
**     k_t ~ Binomial(n_t, theta_t);
**
** or, by its prior EV_PRIOR_ICC, with the intraclass correlation 1/(1+d) uniform, that
** is, a density of (1+d)^-2.
**
** d is how closely the clusters follow theta:
** Var(theta_t) = theta (1-theta) / (d+1), so a large d means similar clusters
** and a small one means that each cluster is all right or all wrong.
**
** The posterior of (theta, d) comes as weighted points from hierarchy.c, and from them the
** distribution of theta.  Where every cluster has one question d is not in the likelihood, and
** theta's posterior is a Beta's.
*/
#include "clustered.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "atoms.h"
#include "hierarchy.h"
#include "normal.h"
#include "proportion.h"

int ev_clusters_by_counts(const void *a, const void *b) {
  const ev_cluster *x = a, *y = b;
  return ev_compare_counts(x->k, x->n, y->k, y->n);
}

size_t ev_clusters_merge(const ev_cluster *clusters, size_t count, ev_cluster *merged) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    merged[i] = clusters[i];
    assert(merged[i].k >= 0 && merged[i].k <= merged[i].n && merged[i].n >= 1);
    assert(merged[i].times >= 1);
  }
  qsort(merged, count, sizeof *merged, ev_clusters_by_counts);
  for (size_t i = 0; i < count; i++)
    if (kept > 0 && ev_clusters_by_counts(&merged[kept - 1], &merged[i]) == 0)
      merged[kept - 1].times += merged[i].times;
    else
      merged[kept++] = merged[i];
  return kept;
}

/* All questions of all clusters. */
typedef struct pooled_counts {
  double right, all;
} pooled_counts;

static pooled_counts pool_clusters(const ev_cluster *clusters, size_t count) {
  pooled_counts sum = {0, 0};
  for (size_t i = 0; i < count; i++) {
    sum.right += clusters[i].k * clusters[i].times;
    sum.all += clusters[i].n * clusters[i].times;
  }
  return sum;
}

bool ev_clusters_single(const ev_cluster *clusters, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (clusters[i].n > 1) return false;
  return true;
}

ev_status ev_clustered(const ev_cluster *clusters, size_t count, const ev_options *options,
                       ev_host host, ev_interval *ci) {
  assert(options->level > 0 && options->level < 1 && count > 0);
  if (ev_clusters_single(clusters, count)) {
    pooled_counts pooled = pool_clusters(clusters, count);
    ev_options uniform = {.level = options->level, .a = 1, .b = 1};
    return ev_bayes((double[]){pooled.right, pooled.all}, &uniform, host, ci);
  }
  ev_hierarchy h;
  ev_status status = ev_hierarchy_make(clusters, count, options, host, EV_FOR_THETA, &h);
  if (status == EV_OK) status = ev_hierarchy_interval(&h, options, ci);
  ev_hierarchy_free(&h);
  return status;
}

/* The promise for a share is 1e-8; this leaves 1e-8 of a share of 1e-6. */
static const double LEAST_SHARE = 1e-6;

/* The smaller share is summed, and the larger is 1 minus it. */
static ev_status share_above(const ev_hierarchy *h, double logit, double *p) {
  ev_marginal m;
  ev_status status = ev_hierarchy_theta(h, LEAST_SHARE, &m);
  if (status != EV_OK) return status;
  double above = ev_marginal_beyond(&m, logit, true);
  *p = above <= 0.5 ? above : 1 - ev_marginal_beyond(&m, logit, false);
  return EV_OK;
}

ev_status ev_clustered_prob_above(const ev_cluster *clusters, size_t count,
                                  const ev_options *options, ev_host host, double *p) {
  double t = options->threshold;
  assert(t >= 0 && t <= 1 && count > 0);
  if (t == 0 || t == 1 || ev_clusters_single(clusters, count)) {
    pooled_counts pooled = pool_clusters(clusters, count);
    /* The level is not used, but must be one. */
    ev_options uniform = {.level = 0.95, .a = 1, .b = 1, .threshold = t};
    return ev_prob_above((double[]){pooled.right, pooled.all}, &uniform, host, p);
  }
  ev_hierarchy h;
  ev_options of = {.level = 1 - 2 * LEAST_SHARE, .prior = options->prior};
  ev_status status = ev_hierarchy_make(clusters, count, &of, host, EV_FOR_THETA, &h);
  if (status == EV_OK) status = share_above(&h, log(t) - log1p(-t), p);
  ev_hierarchy_free(&h);
  return status;
}

/* k_t - n_t ybar comes from integers, so that clusters of one rate give exactly 0. */
ev_status ev_clustered_clt(const ev_cluster *clusters, size_t count, const ev_options *options,
                           ev_host host, ev_interval *ci) {
  (void)host;
  assert(options->level > 0 && options->level < 1);
  ev_cluster *merged = malloc(count * sizeof *merged);
  if (!merged) return EV_NO_MEMORY;
  count = ev_clusters_merge(clusters, count, merged);
  pooled_counts sum = pool_clusters(merged, count);
  double square = 0;
  for (size_t i = 0; i < count; i++) {
    double excess = ev_cross_difference(merged[i].k, sum.all, merged[i].n, sum.right) / sum.all;
    square += merged[i].times * gsl_pow_2(excess);
  }
  free(merged);
  *ci = ev_plus_minus(sum.right / sum.all, ev_deviate(options) * sqrt(square) / sum.all);
  return ev_interval_status(*ci);
}
