/* Many models at once, from estimates of their accuracies with correlated errors: the probability
** that each is better than each other one, that it is the best, and the ranks that it may have. */
#ifndef EV_POOLED_H
#define EV_POOLED_H

#include <stddef.h>

#include "model.h"

typedef struct ev_place {
  double best; /* the probability of being the best; over all models they sum to 1 */
  double rank; /* expected rank, 1 being the best */
  double lo, hi;
} ev_place;

/* `count` models, at least 2, with the estimates y and their errors' covariances, of which only
** those of differences matter; v are the variances of the errors if all were equal.  prob[i][j]
** becomes the probability that i is better than j, and place[i].best at most the least of row i. */
ev_status ev_pooled(const double *y, const double *covariance, const double *v, size_t count,
                    ev_host host, double *prob, ev_place *places);

/* The expected ranks, and by Holm's method at the level the ranges of ranks, from prob.  Two models
** are in order if the smaller probability of their pair is at most *least, which is negative if no
** two are. */
ev_status ev_pooled_ranks(const double *prob, size_t count, const ev_options *options,
                          ev_place *places, double *least);

#endif
