/* Many models at once: the chance that each is best, and the ranks that each may have. */
#ifndef EV_RANKS_H
#define EV_RANKS_H

#include <stddef.h>

#include "model.h"

/* k of n questions right; n >= 1. */
typedef struct ev_answered {
  double k, n;
} ev_answered;

typedef struct ev_rank {
  double mean;   /* of the posterior of the accuracy */
  double best;   /* the probability of being the best */
  double rank;   /* expected rank, 1 being the best */
  double lo, hi; /* the ranks that leave at most half of 1 - level on each side */
} ev_rank;

/* More models would take more than a second or two, and a matrix of more than 8 MB. */
enum { EV_MOST_RANKED = 1000 };

/* Of `count` models, from 1 to EV_MOST_RANKED, with independent posteriors
** Beta(1+k, 1+n-k).  Models with equal counts get equal numbers, and no order of the
** models changes a digit.  `distribution`, unless NULL, has room for count x count
** numbers: row i becomes the chances of ranks 1, 2, ... of model i. */
ev_status ev_ranks(const ev_answered *models, size_t count, const ev_options *options, ev_host host,
                   ev_rank *ranks, double *distribution);

#endif
