/*
** Chebyshev series on [-1,1]: made from values, and summed by Clenshaw's
** recurrence.  Used within ext/stats.
*/
#ifndef EV_CHEBYSHEV_H
#define EV_CHEBYSHEV_H

/* cos(pi i / degree), i from 0 to degree. */
double ev_chebyshev_extremum(int i, int degree);

/* The series of `degree` through values at the extrema. */
void ev_chebyshev_from_extrema(int degree, const double *values, double *series);

/* The series of `terms` through values at the roots cos(pi (i + 1/2) / terms), i from
** 0 to terms - 1. */
void ev_chebyshev_from_roots(int terms, const double *roots, const double *values, double *series);

/* The sum of a series of `degree` at x. */
double ev_chebyshev_at(const double *series, int degree, double x);

#endif
