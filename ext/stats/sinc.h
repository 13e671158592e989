/*
** Quantiles of a density that is known on a lattice, by the sinc functions through its
** values.  Used within ext/stats.
**
** Where a density is analytic in a strip about the axis and falls off at least
** exponentially, these converge exponentially as the lattice is refined: the sum of every
** point, less that of every other doubled, is about the error of such a quantile, and its
** square that of the sum.
**
** Stenger, "Numerical Methods Based on Sinc and Analytic Functions", 1993, sections 1.5
** and 3.6.
*/
#ifndef EV_SINC_H
#define EV_SINC_H

#include <stdbool.h>

/* The point, in steps from the first, below which the density has so much mass: up to half
** of the sum of its `count` values, which are at least 2 and not negative.  `signs` is room
** for as many.  False when the search for it does not converge. */
bool ev_sinc_quantile(const double *density, int count, double mass, double *signs, double *at);

#endif
