/*
** The integral of the sinc function through 0 up to a lattice point k is Si(pi k)/pi + 1/2.
** Within half a step from there the interpolated density itself is integrated, by Gauss and
** Legendre's rule: it varies little there, and its sines are the same for every point.
*/
#include "sinc.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "lanes.h"

enum { SINC_TABLE = 24 };

/* 1/2 - Si(pi k)/pi for k >= 0: what the sinc function has beyond k.  The series is good to
** 3e-15 from 24 on. */
static double sinc_beyond(int k) {
  static const double table[SINC_TABLE] = {
      0.500000000000000000000,   -0.089489872236083635116,  0.048588333209859686602,
      -0.033093237618271982549,  0.025030330116344922673,   -0.02010716419130851736,
      0.016794782502252867534,   -0.014415997123305251036,  0.012625774942180028276,
      -0.011230152636997456828,  0.010111828846121340417,   -0.0091957420082166162723,
      0.0084316483313991208897,  -0.0077846578125660734018, 0.007229790625196866246,
      -0.0067486944720115782763, 0.0063275848217790425348,  -0.0059559079171768311904,
      0.0056254471663374799831,  -0.0053297104401588615093, 0.0050635004293045289452,
      -0.004822607304171875759,  0.0046035849151428428737,  -0.0044035851980504334402};
  if (k < SINC_TABLE) return table[k];
  double w = 1 / gsl_pow_2(M_PI * k), sum = 1 - w * (2 - w * (24 - w * (720 - w * 40320)));
  return (k % 2 ? -1 : 1) * sum / (M_PI * M_PI * k);
}

/* Eight nodes integrate e^(i pi x) on half a step to 1e-16. */
enum { SINC_NODES = 8, SINC_GROUPS = SINC_NODES / EV_LANES };

static const double sinc_nodes[SINC_NODES] = {-0.96028985649753623168, -0.79666647741362673959,
                                              -0.52553240991632898582, -0.18343464249564980494,
                                              0.18343464249564980494,  0.52553240991632898582,
                                              0.79666647741362673959,  0.96028985649753623168};
static const double sinc_weights[SINC_NODES] = {
    0.10122853629037625915, 0.22238103445337447054, 0.31370664587788728734, 0.36268378337836198297,
    0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054, 0.10122853629037625915};

/* The integral from lattice point `near` over `way` steps, half a step at the most.
** The interpolant at near + x is sin(pi x)/pi times the sum of +-density / (x + near - j). */
EV_WIDE static double sinc_integral(const double *density, int count, int near, double way) {
  ev_lanes x[SINC_GROUPS], sum[SINC_GROUPS] = {{0}};
  double integral = 0, sign = near % 2 ? -1 : 1;
  for (int i = 0; i < SINC_NODES; i++)
    x[i / EV_LANES][i % EV_LANES] = way / 2 * (1 + sinc_nodes[i]);
  for (int j = 0; j < count; j++, sign = -sign)
    for (int i = 0; i < SINC_GROUPS; i++) sum[i] += sign * density[j] / (x[i] + (near - j));
  for (int i = 0; i < SINC_NODES; i++) {
    double sine = sin(M_PI * x[i / EV_LANES][i % EV_LANES]) / M_PI;
    integral += sinc_weights[i] * sine * sum[i / EV_LANES][i % EV_LANES];
  }
  return way / 2 * integral;
}

double ev_sinc_below(const double *density, size_t count, double at) {
  double below = 0, last = (double)count - 1;
  if (!(at > 0)) return 0;
  int near = (int)round(fmin(at, last));
  for (size_t j = 0; j < count; j++) {
    double beyond = sinc_beyond(abs(near - (int)j));
    below += density[j] * ((int)j < near ? 1 - beyond : beyond);
  }
  double way = fmin(at, last) - near;
  return fabs(way) > 1e-15 ? below + sinc_integral(density, (int)count, near, way) : below;
}
