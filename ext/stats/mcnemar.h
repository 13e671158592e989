/*
** McNemar's test: whether two models that answered the same questions differ.
*/
#ifndef EV_MCNEMAR_H
#define EV_MCNEMAR_H

#include "model.h"

/* Counts: only_a, only_b, the pairs that one model alone got right; they may be 0. The two-sided
** mid-p; 1 if they are equal. */
ev_probability ev_mcnemar_p;

/* Likewise, of `fewer` and `more` pairs, the former at most the latter. */
double ev_mid_p(double fewer, double more);

#endif
