/*
** The odds ratio of two models on different questions, by Fisher's exact test.
*/
#ifndef EV_FISHER_H
#define EV_FISHER_H

#include <stdbool.h>

#include "model.h"

/* Counts: k_a, n_a, k_b, n_b with 0 <= k <= n and n >= 1.  Fisher's exact test
** inverted; 0 and infinity at empty cells.  Exchanging A and B gives the
** reciprocal interval. */
ev_model ev_fisher_or;

/* The function that this inverts: ln P(X >= a) at an odds ratio, given the margins and the observed
** cells a, b, c, d (A's right and wrong answers, and B's).  X is A's right answers, and `tail` the
** approximate value of P.  It is a sum, or an integral if X varies by thousands; NaN if that does
** not converge. */
double ev_fisher_ln_tail(const double *cells, double ln_psi, double tail, bool by_integral);

#endif
