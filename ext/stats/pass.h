/* Questions with several attempts: the chance that at least one of k attempts is right, and that
** all are. */
#ifndef EV_PASS_H
#define EV_PASS_H

#include "clustered.h"
#include "mean.h"

/* The interval of the mean of the questions' estimates, k = options->attempts.  Each cluster is a
** question with k right of n attempts, n at least options->attempts. */
ev_cluster_model ev_pass_at_k, ev_pass_hat_k;

/* At one question, c right of n attempts, unbiased; whole numbers, 0 <= c <= n,
** 1 <= k <= n. */
double ev_pass_at_k_estimate(double c, double n, double k);  /* 1 - C(n-c,k) / C(n,k) */
double ev_pass_hat_k_estimate(double c, double n, double k); /* C(c,k) / C(n,k) */

#endif
