/*
** Two models on the same questions.
*/
#ifndef EV_PAIRED_H
#define EV_PAIRED_H

#include "model.h"

/* Counts: questions that both got right, only A, only B, neither; not all
** zero.  Exchanging A and B gives exactly the negated, reversed interval, and
** 1 - P. */
ev_model ev_paired_diff;              /* theta_A - theta_B, bivariate probit */
ev_probability ev_paired_prob_better; /* P(theta_A > theta_B) under the same posterior */
ev_model ev_paired_diff_clt;          /* for comparison */

#endif
