/*
** Chebyshev series on [-1,1]: made from values, and summed by Clenshaw's
** recurrence.  Used within ext/stats.
*/
#ifndef EV_CHEBYSHEV_H
#define EV_CHEBYSHEV_H

#include "lanes.h"

/* The number of points at which one series is summed side by side.  Each sum only waits for itself,
** so several take little more time than one. */
enum { EV_CHEBYSHEV_POINTS = 16 };

/* The series of `degree` through values at the extrema cos(pi i / degree), i from 0
** to degree.  cosine[i] is cos(pi i / half_period), and half_period a multiple of
** degree. */
void ev_chebyshev_from_extrema(int degree, const double *values, const double *cosine,
                               int half_period, double *series);

/* The series of `terms` through values at the roots cos(pi (i + 1/2) / terms), i from
** 0 to terms - 1. */
void ev_chebyshev_from_roots(int terms, const double *roots, const double *values, double *series);

/* A series of `degree` at up to EV_CHEBYSHEV_POINTS points x; `out` may be x. */
void ev_chebyshev_at(const double *series, int degree, int count, const double *x, double *out);

/* The same at points in lanes, in the same order; up to EV_CHEBYSHEV_POINTS of them. */
EV_INLINE void ev_chebyshev_in_lanes(const double *series, int degree, int count, const ev_lanes *x,
                                     ev_lanes *out) {
  ev_lanes b0[EV_CHEBYSHEV_POINTS / EV_LANES] = {{0}}, b1[EV_CHEBYSHEV_POINTS / EV_LANES] = {{0}};
  for (int k = degree; k > 0; k--) {
    ev_lanes c = {series[k], series[k], series[k], series[k]};
#pragma GCC unroll 4
    for (int i = 0; i < count; i++) {
      ev_lanes b2 = b1[i];
      b1[i] = b0[i];
      b0[i] = c + 2 * x[i] * b1[i] - b2;
    }
  }
  for (int i = 0; i < count; i++) out[i] = series[0] + x[i] * b0[i] - b1[i];
}

#endif
