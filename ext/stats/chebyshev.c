/*
** Chebyshev series.
**
** References:
**   Clenshaw, Math. Tables Aids Comput. 9 (1955) 118-120: the sum.
**   Trefethen, Approximation Theory and Approximation Practice, 2013, chapter 3:
**     series through values at the extrema and at the roots.
*/
#include "chebyshev.h"

#include <assert.h>

void ev_chebyshev_from_extrema(int degree, const double *values, const double *cosine,
                               int half_period, double *series) {
  int n = degree, stride = half_period / n;
  assert(n > 0 && half_period % n == 0);
  for (int k = 0; k <= n; k++) {
    double sum = (values[0] + (k % 2 ? -values[n] : values[n])) / 2;
    int angle = 0, step = k * stride; /* at most half a period */
    for (int i = 1; i < n; i++) {
      angle += step;
      if (angle >= 2 * half_period) angle -= 2 * half_period;
      sum += values[i] * cosine[angle];
    }
    series[k] = sum * (k == 0 || k == n ? 1 : 2) / n;
  }
}

void ev_chebyshev_from_roots(int terms, const double *roots, const double *values, double *series) {
  for (int k = 0; k < terms; k++) series[k] = 0;
  for (int i = 0; i < terms; i++) {
    double f = values[i] * 2 / terms;
    /* cos(k angle) by its recurrence in k */
    double now = 1, next = roots[i];
    for (int k = 0; k < terms; k++) {
      series[k] += f * now;
      double after = 2 * roots[i] * next - now;
      now = next;
      next = after;
    }
  }
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
