/*
** Clustered questions: several on one passage, one repository, one document.
*/
#ifndef EV_CLUSTERED_H
#define EV_CLUSTERED_H

#include <stdbool.h>
#include <stddef.h>

#include "model.h"

typedef struct ev_cluster {
  double k, n;  /* right answers and questions, n >= 1 */
  double times; /* how many clusters are like this */
} ev_cluster;

/* Asked now and then whether to give up. */
typedef struct ev_host {
  bool (*stop)(void *context);
  void *context;
} ev_host;

/* Too large: where rounding of the likelihood is no longer small beside 1. */
typedef enum ev_status { EV_DONE, EV_NO_MEMORY, EV_STOPPED, EV_TOO_LARGE } ev_status;

/* A model from clusters, whose order changes no digit. */
typedef ev_status ev_cluster_model(const ev_cluster *clusters, size_t count,
                                   const ev_options *options, ev_host host, ev_interval *ci);

/* Credible interval of theta in the Beta-binomial hierarchy. */
ev_cluster_model ev_clustered;

/* Miller's clustered standard error, for comparison. */
ev_cluster_model ev_clustered_clt;

#endif
