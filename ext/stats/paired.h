/*
** Two models on the same questions.
*/
#ifndef EV_PAIRED_H
#define EV_PAIRED_H

#include "model.h"

/* The last posterior, so that an interval and a P of the same counts cost one computation; {0} is
** empty, and ev_paired_forget() frees it.  It changes no digit. */
typedef struct ev_paired_memo {
  double counts[4], tail;        /* what the posterior is of */
  struct ev_marginal *posterior; /* NULL before the first */
} ev_paired_memo;
void ev_paired_forget(ev_paired_memo *memo);

/* The posterior of atanh(theta_A - theta_B), for tails of `tail` or more. */
ev_status ev_paired_posterior(const double *counts, double tail, struct ev_marginal *m);

/* Counts: questions that both got right, only A, only B, neither; not all
** zero.  Exchanging A and B gives exactly the negated, reversed interval, and
** 1 - P. */
ev_model ev_paired_diff;              /* theta_A - theta_B, bivariate probit */
ev_probability ev_paired_prob_better; /* P(theta_A > theta_B) under the same posterior */
ev_model ev_paired_diff_clt;          /* for comparison */

#endif
