/*
** Questions attempted several times: the chance that one of k attempts is right,
** and that all are.
*/
#ifndef EV_PASS_H
#define EV_PASS_H

#include "clustered.h"

/* At a new question, k = options->attempts, under the hierarchy of ev_clustered;
** k = 1 is ev_clustered. */
ev_cluster_model ev_pass_at_k;  /* 1 - E[(1-theta_t)^k] */
ev_cluster_model ev_pass_hat_k; /* E[theta_t^k] */

/* At one question, c right of n attempts, unbiased; whole numbers, 0 <= c <= n,
** 1 <= k <= n. */
double ev_pass_at_k_estimate(double c, double n, double k);  /* 1 - C(n-c,k) / C(n,k) */
double ev_pass_hat_k_estimate(double c, double n, double k); /* C(c,k) / C(n,k) */

#endif
