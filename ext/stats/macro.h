/*
** The plain mean of these tasks' accuracies, under the hierarchy of ev_clustered.
*/
#ifndef EV_MACRO_H
#define EV_MACRO_H

#include "clustered.h"

/* Credible interval of the mean of theta_t over the clusters, each counting alike. */
ev_cluster_model ev_macro;

#endif
