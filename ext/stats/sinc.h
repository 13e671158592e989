/*
** The distribution of a density that is known on a lattice, by the integrals of the sinc
** functions through its values.  Used within ext/stats.
**
** Where a density is analytic in a strip about the axis and falls off at least
** exponentially, these converge exponentially as the lattice is refined: the sum over all points
** minus twice the sum over every other point is about the error of the mass below a point, and
** its square about the error of the sum.
**
** Stenger, "Numerical Methods Based on Sinc and Analytic Functions", 1993, sections 1.5
** and 3.6.
*/
#ifndef EV_SINC_H
#define EV_SINC_H

#include <stddef.h>

/* The mass below a point, given in steps from the first of `count` values, outside which the
** density is negligible. */
double ev_sinc_below(const double *density, size_t count, double at);

#endif
