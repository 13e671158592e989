/*
** The difference of two means of graded scores, of two models on different questions:
** the mean of each as in mean.h, independent.  Used by the SQL surface and the tests;
** knows nothing of SQL.
*/
#ifndef EV_MEAN_DIFF_H
#define EV_MEAN_DIFF_H

#include "mean.h"

/* The scores of one model; at least one. */
typedef struct ev_score_list {
  const ev_score *scores;
  size_t count;
} ev_score_list;

/* Of the mean of a less that of b.  Exchanging them changes the signs of the bounds,
** exactly. */
ev_status ev_mean_diff(const ev_score_list *a, const ev_score_list *b, const ev_options *options,
                       ev_host host, ev_interval *ci);

/* P(mean of a > mean of b + margin).  Exchanging them, and the margin's sign, gives what
** this leaves of 1. */
ev_status ev_mean_prob_better(const ev_score_list *a, const ev_score_list *b,
                              const ev_options *options, ev_host host, double *p);

#endif
