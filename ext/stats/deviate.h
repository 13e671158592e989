/*
** The normal deviate of four probabilities at a time.  Used within ext/stats.
**
** Reference: Wichura, Applied Statistics 37 (1988) 477-484, AS 241, within 1e-15 relative.
*/
#ifndef EV_DEVIATE_H
#define EV_DEVIATE_H

#include <math.h>

#include "lanes.h"

static const double ev_deviate_central[2][8] = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
     1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
     3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
     2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
     5.2264952788528545610e+3}};
static const double ev_deviate_tail[2][8] = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
static const double ev_deviate_far_tail[2][8] = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

/* The quotient of two polynomials in r, the coefficients from the lowest on. */
EV_INLINE void ev_quotient(const ev_lanes *r, const double c[2][8], ev_lanes *out) {
  ev_lanes over = (ev_lanes){0} + c[0][7], under = (ev_lanes){0} + c[1][7];
#pragma GCC unroll 8
  for (int i = 6; i >= 0; i--) {
    over = over * *r + c[0][i];
    under = under * *r + c[1][i];
  }
  *out = over / under;
}

/* Minus the deviate of a probability of less than 0.075. */
EV_INLINE void ev_tail_deviates(const ev_lanes *p, ev_lanes *out) {
  ev_lanes root = *p, r, far;
  ev_log(&root, 1);
  for (int i = 0; i < EV_LANES; i++) root[i] = sqrt(-root[i]);
  r = root - 1.6;
  ev_quotient(&r, ev_deviate_tail, out);
  ev_bits is_far = (ev_bits)(root > 5);
  if (!(is_far[0] | is_far[1] | is_far[2] | is_far[3])) return;
  r = root - 5;
  ev_quotient(&r, ev_deviate_far_tail, &far);
  ev_choose(&is_far, &far, out, out);
}

/* The deviate of each probability p; q is 1 - p, so that neither loses digits. */
EV_INLINE void ev_deviates(const ev_lanes *p, const ev_lanes *q, ev_lanes *out) {
  ev_lanes off = (*p - *q) / 2, r = 0.180625 - off * off, lesser, tail;
  ev_quotient(&r, ev_deviate_central, out);
  *out *= off;
  ev_bits in_tail = (ev_bits)(r < 0), below = (ev_bits)(off < 0);
  if (!(in_tail[0] | in_tail[1] | in_tail[2] | in_tail[3])) return;
  ev_choose(&below, p, q, &lesser);
  ev_tail_deviates(&lesser, &tail);
  ev_lanes negative = -tail;
  ev_choose(&below, &negative, &tail, &tail);
  ev_choose(&in_tail, &tail, out, out);
}

#endif
