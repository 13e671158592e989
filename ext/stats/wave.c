/*
** Three expansions of 1F1(a; a+b; iz).
**
** - Its logarithm's power series: u = (ln 1F1)' solves t (u' + u^2) + (c - t) u = a, c = a+b,
**   which is a recursion for the cumulants.  It converges to the first zero, at |z| of about
**   c + pi.
** - Chebyshev's series of exp(izx) on [0,1], whose coefficients are Bessel functions, times
**   the moments of Chebyshev's polynomials, which follow from integrating
**   ((1-y^2) T_k' w) by parts, w the Beta's density:
**   (k + c) m_{k+1} = 2 (a - b) m_k + (k - c) m_{k-1}.  Nothing cancels; it takes z/2 terms.
** - The integral of exp(izx) x^(a-1) (1-x)^(b-1) along [0,1], turned to steepest descent from
**   either end.  With x = w/Z and Z = s + b-1 the part of x = 0 is the mean over w ~ Gamma(a)
**   of ((1-w/Z) e^(w/Z))^(b-1), whose power series in 1/Z is asymptotic, and good where
**   either s or b is large.  (DLMF 13.7 has the series in 1/s.)
*/
#include "wave.h"

#include <math.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_gamma.h>

/* What a series may leave out; a branch is wanted where phi is small. */
static const double WAVE_PRECISION = 1e-13, BRANCH_PRECISION = 1e-12;

double ev_wave_cumulants(double a, double b, double goal, double *u) {
  double c = a + b, within = HUGE_VAL, power = goal;
  int size = EV_WAVE_CUMULANTS, small = 0;
  u[0] = a / c;
  u[1] = a / c * (b / c) / (c + 1);
  for (int j = 2; j < size; j++) {
    double sum = 0;
    for (int i = 1; 2 * i < j - 1; i++) sum += u[i] * u[j - 1 - i];
    sum = u[j - 1] * ((b - a) / c) - 2 * sum;
    if (j % 2 && j > 2) sum -= u[j / 2] * u[j / 2];
    u[j] = sum / (c + j);
    power *= goal;
    small = fabs(u[j]) * power * goal < WAVE_PRECISION / 8 ? small + 1 : 0;
    if (small == 3) size = j + 1;
  }
  for (int j = size - 3; j < size; j++)
    within = fmin(within, pow(WAVE_PRECISION * (j + 1) / fabs(u[j]), 1.0 / (j + 1)));
  for (int j = size; j < EV_WAVE_CUMULANTS; j++) u[j] = 0;
  return within;
}

void ev_wave_moments(double a, double b, int from, int to, double *moments) {
  double c = a + b;
  for (int k = from; k < to; k++) {
    if (k < 2)
      moments[k] = k == 0 ? 1 : (a - b) / c;
    else
      moments[k] = (2 * (a - b) * moments[k - 1] + (k - 1 - c) * moments[k - 2]) / (k - 1 + c);
  }
}

int ev_wave_moments_for(double z) {
  return (int)fmin(1e6, 18 + z / 2 + 9 * cbrt(z / 2));
}

/* Bessel functions J_k(z/2) by Miller's recurrence downward from where they are nothing. */
void ev_wave_moment_weights(double z, int count, double *weights) {
  double x = z / 2, above = 0, now = 1e-290, sum = 0;
  for (int k = count + 20; k >= 0; k--) {
    if (k < count) weights[k] = now;
    sum += k % 2 == 0 ? (k == 0 ? now : 2 * now) : 0;
    double below = k > 0 ? 2 * k / x * now - above : 0;
    above = now;
    now = below;
    if (fabs(now) > 1e250) {
      for (int i = k; i < count; i++) weights[i] *= 1e-250;
      now *= 1e-250, above *= 1e-250, sum *= 1e-250;
    }
  }
  for (int k = 0; k < count; k++) weights[k] *= (k == 0 ? 1 : 2) * (k % 4 < 2 ? 1 : -1) / sum;
}

/* ln Gamma(b+a) - ln Gamma(b). */
static double ln_rising(double b, double a) {
  if (b < 30) return gsl_sf_lngamma(a + b) - gsl_sf_lngamma(b);
  double u = 1 / (a + b), w = 1 / b;
  double series = (u - w) / 12 - (u * u * u - w * w * w) / 360 + (pow(u, 5) - pow(w, 5)) / 1260;
  return (b - 0.5) * log1p(a / b) - a + a * log(a + b) + series;
}

/* ln of how large a branch is at |Z|, but for its series. */
static double ln_size(const ev_wave_branch *b, double distance) {
  return b->ln_scale - b->shape * log(distance);
}

/* Sets the terms of the series in 1/(s + shift); false when it is not good enough at |Z|. */
static bool set_terms(ev_wave_branch *branch, double other, double shift, double least) {
  double before = 0, h = 1, rising = 1, power = 1;
  branch->shift = shift;
  branch->terms[0] = 1;
  branch->count = EV_WAVE_TERMS;
  for (int k = 1, small = 0; k < EV_WAVE_TERMS && small < 2; k++) {
    double next = ((k - other + shift) * h - shift * before) / k;
    before = h;
    h = next;
    rising *= branch->shape + k - 1;
    branch->terms[k] = h * rising;
    power /= least;
    small = fabs(branch->terms[k]) * power < BRANCH_PRECISION ? small + 1 : 0;
    if (small == 2) branch->count = k;
  }
  return branch->count < EV_WAVE_TERMS;
}

/* A branch in 1/s where that does, because s is the same for all tasks. */
static bool set_branch(double shape, double other, double from, ev_wave_branch *branch) {
  double least = fmax(from, (from + other - 1) / M_SQRT2);
  *branch = (ev_wave_branch){.shape = shape, .ln_scale = ln_rising(other, shape)};
  branch->absent = ln_size(branch, least) < -34;
  return branch->absent || (other < 20 && set_terms(branch, other, 0, from)) ||
         set_terms(branch, other, other - 1, least);
}

bool ev_wave_branches_make(double a, double b, double from, ev_wave_branch *low,
                           ev_wave_branch *high) {
  bool low_serves = set_branch(a, b, from, low), high_serves = set_branch(b, a, from, high);
  /* Where an end has next to no mass, and z does not tell it from the middle, the other end's
  ** branch is the whole. */
  if (low_serves && !low->absent && b >= 36 && from < b) high->absent = high_serves = true;
  if (high_serves && !high->absent && a >= 36 && from < a) low->absent = low_serves = true;
  return low_serves && high_serves;
}

int ev_wave_terms_at(const ev_wave_branch *b, double distance) {
  double power = 1, before = 1;
  for (int k = 1; k < b->count; k++) {
    power /= distance;
    double now = fabs(b->terms[k]) * power;
    if (now < BRANCH_PRECISION && before < BRANCH_PRECISION) return k;
    before = now;
  }
  return b->count;
}
