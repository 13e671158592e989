/* ln(1 + w) - w.  Used within ext/stats. */
#ifndef EV_LOGS_H
#define EV_LOGS_H

#include <math.h>

/* Where |w| is at most 1/2, with s = w / (2 + w), at most 1/3, it is 2 artanh(s) - 2 s - s w, of
** which nothing cancels.  The series ends where the next term is below 1e-17 of it: after 17 terms
*of
** s^2 at most 1/9, and 6 of 0.002, which is the usual case near a mode.  Within 4e-16, in half the
** time of gsl_sf_log_1plusx_mx(). */
static inline double ev_ln1p_less(double w) {
  if (fabs(w) > 0.5) return log1p(w) - w;
  double s = w / (2 + w), square = s * s, sum = 0;
  for (int k = square < 0.002 ? 6 : square < 0.02 ? 10 : 17; k >= 1; k--)
    sum = 1.0 / (2 * k + 1) + square * sum;
  return 2 * s * square * sum - s * w;
}

#endif
