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

enum { SINC_TABLE = 24 };

/* 1/2 - Si(pi k)/pi for k >= 0: what the sinc function has beyond k.  The series is good to
** 3e-15 from 24 on. */
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
      0.0084316483313991208897,
      -0.0077846578125660734018,
      0.007229790625196866246,
      -0.0067486944720115782763,
      0.0063275848217790425348,
      -0.0059559079171768311904,
      0.0056254471663374799831,
      -0.0053297104401588615093,
      0.0050635004293045289452,
      -0.004822607304171875759,
      0.0046035849151428428737,
      -0.0044035851980504334402,
  };
  if (k < SINC_TABLE) return table[k];
  double w = 1 / gsl_pow_2(M_PI * k), sum = 1 - w * (2 - w * (24 - w * (720 - w * 40320)));
  return (k % 2 ? -1 : 1) * sum / (M_PI * M_PI * k);
}

enum { SINC_GROUPS = EV_NODES / EV_LANES };

EV_INLINE void sinc_sums(const double *signs, int count, int groups, const ev_lanes *at,
                         ev_lanes *sum) {
  for (int i = 0; i < groups; i++) sum[i] = at[i] * 0;
  for (int j = 0; j < count; j++)
    for (int i = 0; i < groups; i++) sum[i] += signs[j] / (at[i] - j);
}

/* The density at EV_NODES points within a step of point `near`, or at the first EV_LANES of
** them; `signs` is the density with every other sign changed. */
EV_WIDE static void sinc_densities(const double *signs, int count, int near, int points,
                                   double *x) {
  ev_lanes at[SINC_GROUPS], sum[SINC_GROUPS];
  for (int i = 0; i < EV_NODES; i++) at[i / EV_LANES][i % EV_LANES] = x[i];
  if (points > EV_LANES)
    sinc_sums(signs, count, SINC_GROUPS, at, sum);
  else
    sinc_sums(signs, count, 1, at, sum);
  for (int i = 0; i < points; i++)
    x[i] = (near % 2 ? -1 : 1) * sin(M_PI * (x[i] - near)) / M_PI * sum[i / EV_LANES][i % EV_LANES];
}

/* So little of a step is integrated by the rule of 4 nodes, to 1e-12. */
static const double SINC_SHORT = 0.1;

/* The integral from one point to another, both within a step of point `near`, and the density
** a little short of the second. */
static double sinc_integral(const double *signs, int count, int near, double from, double to,
                            double *density) {
  static const double nodes[EV_LANES] = {-0.86113631159405257522, -0.33998104358485626480,
                                         0.33998104358485626480, 0.86113631159405257522};
  static const double weights[EV_LANES] = {0.34785484513745385737, 0.65214515486254614263,
                                           0.65214515486254614263, 0.34785484513745385737};
  bool few = fabs(to - from) < SINC_SHORT;
  int points = few ? EV_LANES : EV_NODES;
  double x[EV_NODES] = {0}, half = (to - from) / 2, sum = 0;
  for (int i = 0; i < points; i++) x[i] = from + half * (1 + (few ? nodes[i] : ev_node(i)));
  sinc_densities(signs, count, near, points, x);
  for (int i = 0; i < points; i++) sum += (few ? weights[i] : ev_weight(i)) * x[i];
  *density = x[points - 1];
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
  double from = near;
  for (int i = 0; i < SINC_STEPS; i++) {
    double away = fmax(-2, fmin(2, x - near)), slope;
    if (fabs(away) < SINC_TOLERANCE / 2) away = SINC_TOLERANCE / 2;
    below += sinc_integral(signs, count, near, from, near + away, &slope);
    from = near + away;
    double excess = (below - mass) / slope;
    x = from - excess;
    if (fabs(excess) < SINC_TOLERANCE) {
      *at = x;
      return true;
    }
  }
  return false;
}
