/*
** The integral of the sinc function through 0 up to a lattice point k is Si(pi k)/pi + 1/2.
** Within a step from there the interpolated density itself is integrated, by Gauss and
** Legendre's rule: it varies little there, and its sines are the same for every point.
*/
#include "sinc.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "lanes.h"
#include "marginal.h"

enum { SINC_TABLE = 12 };

/* 1/2 - Si(pi k)/pi for k >= 0: what the sinc function has beyond k.  The series is good to
** 2e-15 from 12 on. */
static double sinc_beyond(int k) {
  static const double table[SINC_TABLE] = {
      0.5,
      -0.089489872236083635116,
      0.048588333209859686602,
      -0.033093237618271982549,
      0.025030330116344922673,
      -0.02010716419130851736,
      0.016794782502252867534,
      -0.014415997123305251036,
      0.012625774942180028276,
      -0.011230152636997456828,
      0.010111828846121340417,
      -0.0091957420082166162723,
  };
  if (k < SINC_TABLE) return table[k];
  double w = 1 / gsl_pow_2(M_PI * k), sum = 1 - w * (2 - w * (24 - w * (720 - w * 40320)));
  return (k % 2 ? -1 : 1) * sum / (M_PI * M_PI * k);
}

enum { SINC_GROUPS = EV_NODES / EV_LANES };

/* The density at EV_NODES points within a step of point `near`; `signs` is the density with
** every other sign changed. */
EV_WIDE static void sinc_densities(const double *signs, int count, int near, double *x) {
  ev_lanes at[SINC_GROUPS], sum[SINC_GROUPS];
  for (int i = 0; i < EV_NODES; i++) at[i / EV_LANES][i % EV_LANES] = x[i];
  for (int i = 0; i < SINC_GROUPS; i++) sum[i] = at[i] * 0;
  for (int j = 0; j < count; j++)
    for (int i = 0; i < SINC_GROUPS; i++) sum[i] += signs[j] / (at[i] - j);
  for (int i = 0; i < EV_NODES; i++)
    x[i] = (near % 2 ? -1 : 1) * sin(M_PI * (x[i] - near)) / M_PI * sum[i / EV_LANES][i % EV_LANES];
}

/* The integral from point `near` to `to`, and the density there. */
static double sinc_integral(const double *signs, int count, int near, double to, double *density) {
  double x[EV_NODES], half = (to - near) / 2, sum = 0;
  for (int i = 0; i < EV_NODES; i++) x[i] = near + half * (1 + ev_node(i));
  sinc_densities(signs, count, near, x);
  for (int i = 0; i < EV_NODES; i++) sum += ev_weight(i) * x[i];
  *density = x[EV_NODES - 1];
  return half * sum;
}

/* Newton's method takes some 4 steps; the slope is had a little short of the point, so
** that a step leaves a thousandth of itself. */
enum { SINC_STEPS = 50 };
static const double SINC_TOLERANCE = 2e-6;

/* How far to go for so much of a density that is 1 at first and grows as exp(bend x). */
static double growing_share(double mass, double bend) {
  return fabs(bend) > 1e-3 && bend * mass > -0.9 ? log1p(bend * mass) / bend : mass;
}

bool ev_sinc_quantile(const double *density, int count, double mass, double *signs, double *at) {
  int near = 0;
  double below = 0, sum = 0;
  for (; near < count - 1 && sum + density[near] < mass; near++) sum += density[near];
  for (int j = 0; j < count; j++) {
    double beyond = sinc_beyond(abs(near - j));
    below += density[j] * (j < near ? 1 - beyond : beyond);
    signs[j] = j % 2 ? -density[j] : density[j];
  }
  double bend = near > 0 && near < count - 1 ? log(density[near + 1] / density[near - 1]) / 2 : 0;
  double x = near + growing_share((mass - below) / density[near], bend);
  for (int i = 0; i < SINC_STEPS; i++) {
    double away = fmax(-2, fmin(2, x - near)), slope;
    if (fabs(away) < SINC_TOLERANCE / 2) away = SINC_TOLERANCE / 2;
    double excess = below + sinc_integral(signs, count, near, near + away, &slope) - mass;
    x = near + away - excess / slope;
    if (fabs(excess / slope) < SINC_TOLERANCE) {
      *at = x;
      return true;
    }
  }
  return false;
}
