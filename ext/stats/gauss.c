/*
** The eigenvalues of a symmetric tridiagonal matrix, and the first components of its
** eigenvectors, by QL steps with Wilkinson's shift.
**
** GSL has gsl_eigen_symmv, which needs a BLAS besides, keeps whole eigenvectors and
** allocates; Debian's static BLAS cannot be linked into a shared object.
*/
#include "gauss.h"

#include <float.h>
#include <math.h>

/* Sweeps for one eigenvalue: two or three are the rule. */
enum { GAUSS_SWEEPS = 60 };

/* One sweep over rows first to last: a shift near an eigenvalue, chased off the diagonal
** from the bottom by plane rotations, which also turn the first components. */
static void ql_sweep(double *d, double *e, double *z, size_t first, size_t last) {
  double g = (d[first + 1] - d[first]) / (2 * e[first]);
  double shift = d[first] - e[first] / (g + copysign(hypot(g, 1), g));
  double sine = 1, cosine = 1, p = 0;
  g = d[last] - shift;
  for (size_t i = last; i-- > first;) {
    double f = sine * e[i], b = cosine * e[i], r = hypot(f, g);
    if (i + 1 < last) e[i + 1] = r;
    if (r == 0) {
      d[i + 1] -= p;
      return;
    }
    sine = f / r;
    cosine = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * sine + 2 * cosine * b;
    p = sine * r;
    d[i + 1] = g + p;
    g = cosine * r - b;
    double rotated = z[i + 1];
    z[i + 1] = sine * z[i] + cosine * rotated;
    z[i] = cosine * z[i] - sine * rotated;
  }
  d[first] -= p;
  e[first] = g;
}

/* The last row of the block that begins with `first`: an off-diagonal element that is negligible
** relative to its neighbours ends the block. */
static size_t block_end(const double *d, const double *e, size_t first, size_t count) {
  size_t last = first;
  while (last + 1 < count && fabs(e[last]) > DBL_EPSILON * (fabs(d[last]) + fabs(d[last + 1])))
    last++;
  return last;
}

ev_status ev_gauss_rule(double *diagonal, double *off, size_t count, double *weights) {
  for (size_t i = 0; i < count; i++) weights[i] = i == 0;
  for (size_t first = 0; first < count; first++) {
    int sweeps = 0;
    for (size_t last; (last = block_end(diagonal, off, first, count)) > first; sweeps++) {
      if (sweeps == GAUSS_SWEEPS) return EV_NOT_CONVERGED;
      ql_sweep(diagonal, off, weights, first, last);
    }
  }
  for (size_t i = 0; i < count; i++) weights[i] *= weights[i];
  return EV_OK;
}
