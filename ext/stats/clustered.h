/*
** Clustered questions: several on one passage, one repository, one document.
*/
#ifndef EV_CLUSTERED_H
#define EV_CLUSTERED_H

#include <stddef.h>

#include "model.h"

typedef struct ev_cluster {
  double k, n;  /* right answers and questions, 0 <= k <= n and n >= 1 */
  double times; /* the number of clusters like this, at least 1 */
} ev_cluster;

/* By n, then by k: for qsort(), also of structs that begin with a cluster. */
int ev_clusters_by_counts(const void *a, const void *b);

/* Copies clusters in that order, and merges equal ones, so that sums round alike in any input
** order; returns how many are left. */
size_t ev_clusters_merge(const ev_cluster *clusters, size_t count, ev_cluster *merged);

/* One question per cluster. */
bool ev_clusters_single(const ev_cluster *clusters, size_t count);

/* A model from one cluster or more.  Neither their order nor how equal ones are merged
** changes a digit. */
typedef ev_status ev_cluster_model(const ev_cluster *clusters, size_t count,
                                   const ev_options *options, ev_host host, ev_interval *ci);

/* The same for a probability. */
typedef ev_status ev_cluster_probability(const ev_cluster *clusters, size_t count,
                                         const ev_options *options, ev_host host, double *p);

/* Credible interval of theta in the Beta-binomial hierarchy.  theta is the mean of a Beta, which is
** not that of the clusters where their accuracies come in two lumps and n is large (METHODS.md). */
ev_cluster_model ev_clustered;

/* P(theta > options->threshold) under the same posterior. */
ev_cluster_probability ev_clustered_prob_above;

/* Miller's clustered standard error, for comparison. */
ev_cluster_model ev_clustered_clt;

#endif
