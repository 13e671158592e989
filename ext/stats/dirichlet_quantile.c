/*
** Quantiles of a linear functional of a Dirichlet.  They are first sought by the
** saddlepoint approximation of the tail, which needs real sums only; two or three
** integrals then polish them.  Both searches go by the logit of the mean, and a step
** multiplies its odds, so that a quantile near either end keeps its digits.
*/
#include "dirichlet.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>

static double logit_of(ev_point m) {
  return log(m.x) - log(m.y);
}

static ev_point logit_moved(ev_point m, double by) {
  double odds = m.x * exp(by), sum = odds + m.y;
  return (ev_point){odds / sum, m.y / sum};
}

/* Where a quantile must lie, by its logit; and how far to go from the last logit
** while one side is still the end of the support. */
typedef struct logit_bracket {
  double low, high, reach;
  bool low_tried, high_tried;
} logit_bracket;

/* Beyond these the smaller of a point and its complement is no longer normal. */
static const double LEAST_LOGIT = -708, MOST_LOGIT = 708;

static logit_bracket support_of(const ev_dirichlet *d) {
  return (logit_bracket){.low = fmax(LEAST_LOGIT, logit_of(d->least)),
                         .high = fmin(MOST_LOGIT, logit_of(d->most)),
                         .reach = 2 * d->spread};
}

/* Takes note of a logit that is too high, or too low; gives the next one, which is the
** one wished for if the bracket has it. */
static double next_logit(logit_bracket *in, double logit, bool too_high, double wish) {
  if (too_high)
    in->high = logit, in->high_tried = true;
  else
    in->low = logit, in->low_tried = true;
  double onward = too_high ? logit - in->reach : logit + in->reach;
  bool open = too_high ? !in->low_tried : !in->high_tried;
  bool far = open && fabs(wish - logit) > in->reach;
  if (wish > in->low && wish < in->high && !far) return wish;
  in->reach *= 2;
  return open && onward > in->low && onward < in->high ? onward : (in->low + in->high) / 2;
}

/* A logit near the one whose deviate is z: the secant method, in a bracket.  Where it
** has not converged soon, what there is will do to start from. */
static void approximate_quantile(const ev_dirichlet *d, double z, double *logit) {
  logit_bracket in = support_of(d);
  double t = logit_of(d->mean) + z * d->spread, slope = 1 / d->spread, last = 0, last_gap = 0;
  if (!(t > in.low && t < in.high)) t = logit_of(d->mean);
  for (int i = 0; i < 20; i++) {
    double deviate;
    *logit = t;
    if (ev_dirichlet_deviate(d, ev_at_logit(t), &deviate) != EV_OK) return;
    double gap = deviate - z;
    if (fabs(gap) < 1e-3) return;
    if (i > 0) slope = (gap - last_gap) / (t - last);
    last = t, last_gap = gap;
    t = next_logit(&in, t, gap > 0, slope > 0 ? t - gap / slope : NAN);
  }
}

/* An evaluated tail: ln of it over the mass that is sought, rising with the logit,
** and the logits that a rise of 1 takes. */
typedef struct tail_gap {
  double gap, pace;
} tail_gap;

static ev_status gap_at(ev_dirichlet *d, ev_point m, bool upper, double ln_mass, tail_gap *out) {
  ev_dirichlet_value value;
  ev_status status = ev_dirichlet_at(d, m, &value);
  if (status != EV_OK) return status;
  double ln_tail = upper ? value.ln_above : value.ln_below;
  out->gap = upper ? ln_mass - ln_tail : ln_tail - ln_mass;
  out->pace = exp(ln_tail - value.ln_density);
  return EV_OK;
}

/* The step from the second of two tails, `apart` logits after the first, to where the
** gap is 0, by the cubic in the gap with the values and slopes of both. */
static double cubic_step(tail_gap first, tail_gap second, double apart) {
  double rise = second.gap - first.gap, q = second.gap / rise, p = 1 - q;
  return q * q * (p * rise * first.pace - (3 - 2 * q) * apart) - p * p * q * rise * second.pace;
}

/* Weights other than the heaviest atom's from which on the density has so many
** derivatives that a cubic serves: it is piecewise a polynomial of one degree less
** than all weights, and at an atom loses as many derivatives as the atom weighs. */
static const double SMOOTH_WEIGHT = 8;

/* Newton's method on ln of the tail, or that cubic, in a bracket. */
static ev_status polish_quantile(ev_dirichlet *d, double mass, bool upper, ev_point *m) {
  logit_bracket in = support_of(d);
  double ln_mass = log(mass), step = 0;
  bool smooth = d->weight - d->heaviest >= SMOOTH_WEIGHT;
  tail_gap last = {HUGE_VAL, 0}, at;
  for (int i = 0; i < 200; i++) {
    ev_status status = gap_at(d, *m, upper, ln_mass, &at);
    if (status != EV_OK) return status;
    bool cubic = smooth && fabs(last.gap) < 0.1;
    double logit = logit_of(*m), newton = -at.gap * at.pace;
    step = cubic ? cubic_step(last, at, step) : newton;
    double next = next_logit(&in, logit, at.gap > 0, logit + step);
    /* Newton's step leaves the square of the gap.  The cubic's, which leaves that of
    ** both gaps, is taken where the two hardly differ. */
    double resolution = 8 * DBL_EPSILON * (1 + fabs(logit));
    bool done = fabs(at.gap) < 1e-7 || fabs(step) <= resolution || in.high - in.low <= resolution ||
                (cubic && fabs(at.gap * last.gap) < 1e-8 && fabs(step - newton) < 1e-11 * at.pace);
    if (done) {
      if (fabs(step) < 1) *m = logit_moved(*m, step);
      return EV_OK;
    }
    if (next != logit + step) step = next - logit;
    *m = logit_moved(*m, step);
    last = at;
  }
  return EV_NOT_CONVERGED;
}

static ev_status dirichlet_quantile(ev_dirichlet *d, double mass, bool upper, ev_point *m) {
  assert(mass > 0 && mass <= 0.5);
  double z = gsl_cdf_ugaussian_Pinv(mass), logit;
  if (d->least.x == d->most.x && d->least.y == d->most.y) {
    *m = d->least;
    return EV_OK;
  }
  approximate_quantile(d, upper ? -z : z, &logit);
  *m = ev_at_logit(logit);
  ev_status status = polish_quantile(d, mass, upper, m);
  /* The smaller is trusted. */
  if (m->x < m->y)
    m->y = 1 - m->x;
  else
    m->x = 1 - m->y;
  return status;
}

ev_status ev_dirichlet_lower(ev_dirichlet *d, double mass, ev_point *m) {
  return dirichlet_quantile(d, mass, false, m);
}

ev_status ev_dirichlet_upper(ev_dirichlet *d, double mass, ev_point *m) {
  return dirichlet_quantile(d, mass, true, m);
}
