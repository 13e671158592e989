/*
** The odds ratio of two models on different questions, whose logarithm is the difference
** of the logits
**
** Its density is an integral over the logit t of A, that of B being t less the difference,
** by the trapezoid rule outward from the peak.  v beyond the peak, the density of a logit
** is e^(a v) (1 + x (e^v - 1))^-(a+b) of what it is there, or the same with b, y and -v.
*/
#include "unpaired.h"

#include <math.h>
#include <stdbool.h>

#include "beta.h"
#include "contrast.h"
#include "lanes.h"
#include "marginal.h"

/* The longest step of the trapezoid rule leaves out exp(-pi^2/step), or 7e-18, where a factor
** like exp(-b e^t) makes the integrand analytic to within pi/2 of the axis. */
static const double ODDS_MOST_STEP = 0.25;

/* Room on either side for 144 logits in steps of 0.225: between two posteriors that are so
** far apart that both have their tails there the integrand may be flat, and at a level of
** 1 - 1e-15 they are up to 65 apart. */
enum { ODDS_GROUPS = 160, ODDS_PEAK_STEPS = 100 };

/* The lattice: e^v - 1 at whole steps v in lanes, and e^-v - 1. */
typedef struct odds_lattice {
  double step;
  int filled;
  ev_lanes up[ODDS_GROUPS], down[ODDS_GROUPS];
} odds_lattice;

typedef struct odds_shift {
  ev_beta a, b;
  double by;
  double peak; /* of the last line */
  double ln_residual;
  odds_lattice lattice;
} odds_shift;

/* e^(rate v) prod (1 + share (e^v - 1))^-power, or e^-v where `mirrored`. */
typedef struct odds_powers {
  double rate, share[2], power[2];
  bool mirrored[2];
} odds_powers;

static odds_powers odds_powers_at(const odds_shift *s, ev_point x, ev_point u) {
  odds_powers f = {.rate = 0};
  for (int i = 0; i < 2; i++) {
    const ev_beta *d = i == 0 ? &s->a : &s->b;
    ev_point at = i == 0 ? x : u;
    f.mirrored[i] = at.x > at.y;
    f.share[i] = fmin(at.x, at.y);
    f.power[i] = d->a + d->b;
    f.rate += f.mirrored[i] ? -d->b : d->a;
  }
  return f;
}

static void lay_odds_lattice(odds_lattice *l, double step) {
  l->step = step;
  l->filled = 0;
}

static void fill_odds_lattice(odds_lattice *l, int groups) {
  for (; l->filled < groups; l->filled++)
    for (int j = 0; j < EV_LANES; j++) {
      double v = (EV_LANES * l->filled + j + 1) * l->step;
      l->up[l->filled][j] = expm1(v);
      l->down[l->filled][j] = expm1(-v);
    }
}

/* Adds the terms of groups g and g + 1 above the peak, or below it; gives ln of the
** outermost. */
EV_WIDE static double odds_terms(const odds_powers *f, const odds_lattice *l, int g, bool above,
                                 double *sum) {
  double rate = above ? f->rate * l->step : -f->rate * l->step;
  ev_lanes v = (ev_lanes){1, 2, 3, 4} + EV_LANES * g, ln[] = {rate * v, rate * (v + EV_LANES)};
  for (int i = 0; i < 2; i++) {
    const ev_lanes *by = (f->mirrored[i] != above ? l->up : l->down) + g;
    ev_lanes part[] = {f->share[i] * by[0], f->share[i] * by[1]};
    ev_log1p(part, 2);
    ln[0] -= f->power[i] * part[0];
    ln[1] -= f->power[i] * part[1];
  }
  double last = ln[1][EV_LANES - 1];
  ev_exp(ln, 2);
  ln[0] += ln[1];
  *sum += ev_sum(&ln[0]);
  return last;
}

/* ln of the largest term that the lattice's ends cut off, or -HUGE_VAL. */
static double odds_sum(const odds_powers *f, odds_lattice *l, double *sum) {
  double truncated = -HUGE_VAL;
  for (int side = 0; side < 2; side++) {
    double last = 0;
    for (int g = 0; g < ODDS_GROUPS && last > -EV_INNER_LN_DROP; g += 2) {
      fill_odds_lattice(l, g + 2);
      last = odds_terms(f, l, g, side == 0, sum);
    }
    if (last > -EV_INNER_LN_DROP) truncated = fmax(truncated, last);
  }
  return truncated;
}

/* The peak, to a hundredth of a standard deviation, is left in s->peak; the slope falls
** along the line: Newton's method, or bisection where that leads out. */
static double odds_bend_at_peak(odds_shift *s, ev_point *x, ev_point *u) {
  double least = fmin(log(s->a.a / s->a.b), log(s->b.a / s->b.b) + s->by) - 1e-6;
  double most = fmax(log(s->a.a / s->a.b), log(s->b.a / s->b.b) + s->by) + 1e-6, bend = NAN;
  s->peak = fmax(least, fmin(most, s->peak));
  for (int i = 0; i < ODDS_PEAK_STEPS; i++) {
    *x = ev_at_logit(s->peak);
    *u = ev_at_logit(s->peak - s->by);
    double slope = ev_logit_slope(&s->a, *x) + ev_logit_slope(&s->b, *u);
    bend = ev_logit_curvature(&s->a, *x) + ev_logit_curvature(&s->b, *u);
    if (slope * slope <= 1e-4 * bend || most - least < 1e-12) break;
    if (slope > 0)
      least = s->peak;
    else
      most = s->peak;
    double next = s->peak + slope / bend;
    s->peak = next > least && next < most ? next : (least + most) / 2;
  }
  return bend;
}

/* Up to a constant.  The lattice is laid anew where a line wants steps half as long again,
** or shorter. */
static double ln_odds_ratio_density(double by, void *context) {
  odds_shift *s = context;
  ev_point x, u;
  s->by = by;
  double bend = odds_bend_at_peak(s, &x, &u), sum = 1;
  double step = fmin(ODDS_MOST_STEP, 0.65 / sqrt(bend));
  if (step > 1.5 * s->lattice.step || step < s->lattice.step)
    lay_odds_lattice(&s->lattice, 0.9 * step);
  odds_powers f = odds_powers_at(s, x, u);
  double truncated = odds_sum(&f, &s->lattice, &sum);
  double ln = ev_ln_powers(&s->a, x, 0) + ev_ln_powers(&s->b, u, 0);
  s->ln_residual = fmax(s->ln_residual, ln + truncated);
  return ln + log(sum * s->lattice.step);
}

static ev_status ln_odds_ratio_ordered(const double *c, const ev_options *options,
                                       ev_interval *ci) {
  odds_shift s = {
      .a = ev_uniform_posterior(c), .b = ev_uniform_posterior(c + 2), .ln_residual = -HUGE_VAL};
  double variance = 1 / s.a.a + 1 / s.a.b + 1 / s.b.a + 1 / s.b.b;
  ev_search search = {.ln_density = ln_odds_ratio_density,
                      .context = &s,
                      .start = log(s.a.a / s.a.b) - log(s.b.a / s.b.b),
                      .width = fmin(3, 6 * sqrt(variance))};
  return ev_contrast_interval(&search, options, &s.ln_residual, ci);
}

ev_status ev_odds_ratio(const double *counts, const ev_options *options, ev_interval *ci) {
  ev_interval ln;
  ev_status status = ev_antisymmetric(counts, options, ln_odds_ratio_ordered, &ln);
  if (status == EV_OK) *ci = (ev_interval){exp(ln.lo), exp(ln.hi)};
  return status;
}
