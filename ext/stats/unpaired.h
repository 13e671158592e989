/*
** Two models on different questions: independent posteriors
** theta ~ Beta(a+k, b+n-k) each.
*/
#ifndef EV_UNPAIRED_H
#define EV_UNPAIRED_H

#include "beta.h"
#include "model.h"

/* Counts: k_a, n_a, k_b, n_b with 0 <= k <= n and n >= 1.  Exchanging A and B gives
** exactly the negated, reversed interval, the reciprocal one for odds ratios, and
** 1 - P. */
ev_probability ev_prob_better; /* P(theta_A > theta_B) */
ev_model ev_diff;              /* theta_A - theta_B */
ev_model ev_odds_ratio;        /* odds(theta_A) / odds(theta_B) */
ev_model ev_diff_clt;          /* for comparison */

/* P(A > B) and P(A < B) for any two Betas; the smaller keeps its digits.  NaN if that does not
** converge. */
ev_point ev_beta_prob_better(const ev_beta *a, const ev_beta *b);

#endif
