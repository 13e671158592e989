/*
** Questions attempted several times: the chance that at least one of k attempts is right,
** and that all are.
*/
#ifndef EV_PASS_H
#define EV_PASS_H

#include "clustered.h"
#include "mean.h"

/* The interval of the questions' mean, k = options->attempts; every question has at least
** k attempts, k right of n in a cluster's words. */
ev_cluster_model ev_pass_at_k, ev_pass_hat_k;

/* At one question, c right of n attempts, unbiased; whole numbers, 0 <= c <= n,
** 1 <= k <= n. */
double ev_pass_at_k_estimate(double c, double n, double k);  /* 1 - C(n-c,k) / C(n,k) */
double ev_pass_hat_k_estimate(double c, double n, double k); /* C(c,k) / C(n,k) */

#endif
