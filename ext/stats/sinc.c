/*
** The integral of the sinc function through 0 up to x is 1/2 + Si(pi x) / pi.
*/
#include "sinc.h"

#include <math.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_expint.h>

double ev_sinc_below(const double *density, size_t count, double at) {
  double below = 0;
  if (!(at > 0)) return 0;
  at = fmin(at, (double)count - 1);
  for (size_t j = 0; j < count; j++)
    below += density[j] * (0.5 + gsl_sf_Si(M_PI * (at - (double)j)) / M_PI);
  return below;
}
