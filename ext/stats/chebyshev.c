/*
** Chebyshev series.
**
** References:
**   Clenshaw, Math. Tables Aids Comput. 9 (1955) 118-120: the sum.
**   Trefethen, Approximation Theory and Approximation Practice, 2013, chapter 3:
**     series through values at the extrema and at the roots.
*/
#include "chebyshev.h"

#include <math.h>

#include <gsl/gsl_math.h>

/* A sine, so that the extrema are exactly symmetric. */
double ev_chebyshev_extremum(int i, int degree) {
  return sin(M_PI * (degree - 2 * i) / (2 * degree));
}

/* Adds f T_k(x) to each coefficient. */
static void add_to_series(int terms, double x, double f, double *series) {
  double now = 1, next = x;
  for (int k = 0; k < terms; k++) {
    series[k] += f * now;
    double after = 2 * x * next - now;
    now = next;
    next = after;
  }
}

void ev_chebyshev_from_extrema(int degree, const double *values, double *series) {
  for (int k = 0; k <= degree; k++) series[k] = 0;
  for (int i = 0; i <= degree; i++) {
    double share = i == 0 || i == degree ? 1 : 2;
    add_to_series(degree + 1, ev_chebyshev_extremum(i, degree), values[i] * share / degree, series);
  }
  series[0] /= 2;
  series[degree] /= 2;
}

void ev_chebyshev_from_roots(int terms, const double *roots, const double *values, double *series) {
  for (int k = 0; k < terms; k++) series[k] = 0;
  for (int i = 0; i < terms; i++) add_to_series(terms, roots[i], values[i] * 2 / terms, series);
  series[0] /= 2;
}

double ev_chebyshev_at(const double *series, int degree, double x) {
  double b0 = 0, b1 = 0;
  for (int k = degree; k > 0; k--) {
    double b2 = b1;
    b1 = b0;
    b0 = series[k] + 2 * x * b1 - b2;
  }
  return series[0] + x * b0 - b1;
}
