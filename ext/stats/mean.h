/*
** The mean of graded scores: scores are numbers in [lo, hi] of the options.  The
** nonparametric twin of the Beta-Bernoulli model: the rows' weights are Dirichlet, and
** imagined rows (imagined.h) keep the interval from collapsing.  Used by the SQL surface
** and the tests; knows nothing of SQL.
**
** Rows come in any order, merged or not, and give the same digits; `times` is how
** often a row is there, a whole number of at least 1; there is at least one row.  A
** bound lies in the range, and the upper above the lower.
*/
#ifndef EV_MEAN_H
#define EV_MEAN_H

#include <stddef.h>

#include "model.h"

typedef struct ev_score {
  double score, times;
} ev_score;

typedef struct ev_weighted_score {
  double score, weight, times; /* the weight is positive */
} ev_weighted_score;

/* A cluster of questions: the sum of its scores, and their number. */
typedef struct ev_score_cluster {
  double total, size, times;
} ev_score_cluster;

typedef ev_status ev_score_model(const ev_score *scores, size_t count, const ev_options *options,
                                 ev_host host, ev_interval *ci);
typedef ev_status ev_score_cluster_model(const ev_score_cluster *clusters, size_t count,
                                         const ev_options *options, ev_host host, ev_interval *ci);

/* If all scores are at the ends, and both ends occur, the result has the digits of ev_bayes with
** a uniform prior, and ev_mean_lmt those of ev_cp.  If all are at one end, the interval ends
** there. */
ev_score_model ev_mean;
ev_score_model ev_mean_lmt; /* Learned-Miller and Thomas */

/* P(mean > threshold), which is the level's tail at a bound of ev_mean. */
ev_status ev_mean_prob_above(const ev_score *scores, size_t count, const ev_options *options,
                             ev_host host, double *p);

ev_score_cluster_model ev_clustered_mean;

ev_status ev_weighted_mean(const ev_weighted_score *scores, size_t count, const ev_options *options,
                           ev_host host, ev_interval *ci);

/* Two models, the same questions: the score of a row is the difference, and the total of a
** cluster the sum of its differences, each between lo - hi and hi - lo.  Differences with their
** signs changed give exactly the negated bounds, and at the negated margin the complementary
** probability. */
ev_score_model ev_paired_mean_diff;
ev_score_cluster_model ev_clustered_mean_diff;

/* P(difference > margin). */
ev_status ev_paired_mean_prob_better(const ev_score *diffs, size_t count, const ev_options *options,
                                     ev_host host, double *p);
ev_status ev_clustered_mean_prob_better(const ev_score_cluster *diffs, size_t count,
                                        const ev_options *options, ev_host host, double *p);

/* How sure a gate may be that the mean difference is above -margin, with one imagined
** difference at the worst end. */
ev_status ev_no_worse_prob(const ev_score *diffs, size_t count, const ev_options *options,
                           ev_host host, double *p);

#endif
