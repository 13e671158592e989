/*
** The difference of two means of graded scores, of two models on different questions:
** the mean of each as in mean.h, independent.  Used by the SQL surface and the tests;
** knows nothing of SQL.
*/
#ifndef EV_MEAN_DIFF_H
#define EV_MEAN_DIFF_H

#include "mean.h"
#include "mean_table.h"

/* The scores of one model; at least one. */
typedef struct ev_score_list {
  const ev_score *scores;
  size_t count;
} ev_score_list;

/* The interval of the mean of a minus that of b.  Exchanging them negates the bounds exactly. */
ev_status ev_mean_diff(const ev_score_list *a, const ev_score_list *b, const ev_options *options,
                       ev_host host, ev_interval *ci);

/* P(mean of a > mean of b + margin).  Exchanging them, and the margin's sign, gives 1 minus
** this. */
ev_status ev_mean_prob_better(const ev_score_list *a, const ev_score_list *b,
                              const ev_options *options, ev_host host, double *p);

/* The difference a - b of two tabulated means, as a share of the range that both tables have,
** with `mass`, at most 1/2, below it or, if `upper`, above it. */
ev_status ev_table_diff_quantile(const ev_mean_table *a, const ev_mean_table *b, double mass,
                                 bool upper, ev_host host, double *delta);

#endif
