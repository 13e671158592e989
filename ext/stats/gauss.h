/*
** A Gauss rule from the recurrence of its orthogonal polynomials.  Used within ext/stats.
*/
#ifndef EV_GAUSS_H
#define EV_GAUSS_H

#include <stddef.h>

#include "model.h"

/* The nodes are the eigenvalues of the symmetric tridiagonal matrix with `diagonal` and
** off[0 .. count-2] beside it, and become the diagonal; the weights, which sum to 1, are
** the squares of the first components of its eigenvectors (Golub and Welsch, Math. Comp.
** 23 (1969) 221-230).  off[] is used up. */
ev_status ev_gauss_rule(double *diagonal, double *off, size_t count, double *weights);

#endif
