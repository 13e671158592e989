/*
** Intervals for one proportion: k right answers out of n independent
** questions.  Used by the SQL surface and by the tests; knows nothing of SQL.
*/
#ifndef EV_PROPORTION_H
#define EV_PROPORTION_H

#include "model.h"

/* Counts: k, n with 0 <= k <= n and n >= 1. */
ev_model ev_bayes;         /* equal-tailed, Beta(a+k, b+n-k) */
ev_model ev_hdi;           /* highest density of the same posterior */
ev_model ev_jeffreys;      /* ev_bayes with a = b = 1/2 */
ev_model ev_wilson;        /* score interval */
ev_model ev_cp;            /* Clopper-Pearson */
ev_model ev_midp;          /* Clopper-Pearson with half the probability of the outcome */
ev_model ev_agresti_coull; /* may leave [0,1] */
ev_model ev_clt;           /* may collapse or leave [0,1] */

/* The same counts: P(theta > options->threshold) for theta ~ Beta(a+k, b+n-k). */
ev_probability ev_prob_above;

/* bounded.c.  Counts: right, wrong, not graded, at least one in all. */
ev_model ev_bounded;

#endif
