/*
** Each cluster's own accuracy under the hierarchy of ev_clustered: shrunken toward
** the others as far as the data say.
*/
#ifndef EV_EACH_H
#define EV_EACH_H

#include "clustered.h"

/* The posterior of theta_t. */
typedef struct ev_each {
  double mean, lo, hi;
} ev_each;

/* each[i] is that of clusters[i]; the order of clusters changes no digit.  Clusters
** that are alike are worked out once. */
ev_status ev_clustered_each(const ev_cluster *clusters, size_t count, const ev_options *options,
                            ev_host host, ev_each *each);

#endif
