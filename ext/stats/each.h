/* Each cluster's own accuracy under the hierarchy of ev_clustered, shrunken toward the others as
** far as the data say. */
#ifndef EV_EACH_H
#define EV_EACH_H

#include "clustered.h"
#include "marginal.h"

/* The posterior of theta_t. */
typedef struct ev_each {
  double mean, lo, hi;
} ev_each;

/* each[i] is that of clusters[i]; the order of clusters changes no digit.  Equal clusters are
** computed once. */
ev_status ev_clustered_each(const ev_cluster *clusters, size_t count, const ev_options *options,
                            ev_host host, ev_each *each);

/* The interval of theta_t from ln of the density of asinh(logit theta_t), which integrates to
** 1; logit theta_t is about `logit`, with an sd of about `sd`. */
ev_status ev_each_interval(ev_ln_density *ln_density, void *context, double logit, double sd,
                           const ev_options *options, ev_interval *ci);

#endif
