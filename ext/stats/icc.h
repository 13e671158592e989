/*
** Questions asked several times: how much of an answer's variance is the question's, and
** what a rerun of the same questions would score.  The latter under the Beta-binomial hierarchy
** of clustered.h with the intraclass correlation uniform.
*/
#ifndef EV_ICC_H
#define EV_ICC_H

#include "clustered.h"

/* The share of a single answer's variance that is due to the question; the rest is due to the
** attempt. */
ev_cluster_model ev_icc;

/* The interval of the score, as a share of right answers, of one new attempt at every question: at
** most (1 - level) / 2 of the distribution is outside on each side. */
ev_cluster_model ev_rerun;

/* The probability that A is ahead of B when both answer the same questions once more, plus half the
** probability of a tie.  a[i] and b[i] are of one question each, or of several equal ones; both
** have the same number of questions.  Exchanging them gives 1 minus this. */
ev_status ev_rerun_prob(const ev_cluster *a, size_t count_a, const ev_cluster *b, size_t count_b,
                        ev_host host, double *p);

#endif
