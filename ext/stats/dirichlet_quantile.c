/*
** Quantiles of a linear functional of a Dirichlet.
**
**   1. Start where a normal distribution of the logit of the mean would have it.
**   2. Newton's method on the logarithm of the tail, in a bracket: each step takes one integral,
**      which gives the tail and the density.  The logarithm of a tail is concave nearly everywhere,
**      and nearly a line far out, so that a few steps do.
**   3. Where an integral does not converge, far from the mean, go half the way back.
**   4. Below the second least atom, where the least one, a, weighs 1, the tail has a closed form:
**      P(mean <= m) = (m - a)^(W - 1) / prod (x_j - a)^w_j, with W the sum of the weights w_j.
**      Bounds of one row, and most of two, lie there.
**   5. A step multiplies the odds of the mean, so that a quantile near either end keeps its digits.
*/
#include "dirichlet.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include <gsl/gsl_cdf.h>

#include "root.h"

static double logit_of(ev_point m) {
  return log(m.x) - log(m.y);
}

static ev_point logit_moved(ev_point m, double by) {
  double odds = m.x * exp(by), sum = odds + m.y;
  return (ev_point){odds / sum, m.y / sum};
}

/* Beyond this logit, either way, the smaller of a point and its complement is no longer normal. */
static const double MOST_LOGIT = 708;

/* Four steps usually suffice.  With few atoms of very different sizes a tail has plateaus, between
** which Newton's method may oscillate: beyond this many steps, every other one bisects. */
enum { NEWTON_STEPS = 12 };

/* More atoms are rarely spread so that a quantile lies beyond the second, and may be merged. */
enum { MOST_ATOMS_IN_CLOSED_FORM = 8 };

static double side_of(const ev_atom *atom, bool upper) {
  return upper ? atom->below : atom->above;
}

/* Step 4; false where it does not apply. */
static bool closed_quantile(const ev_dirichlet *d, double mass, bool upper, ev_point *m) {
  size_t end = 0;
  double next = HUGE_VAL, ln = log(mass);
  if (d->size == 0 || d->count > MOST_ATOMS_IN_CLOSED_FORM) return false;
  for (size_t i = 1; i < d->count; i++)
    if (side_of(&d->atoms[i], upper) < side_of(&d->atoms[end], upper)) end = i;
  for (size_t i = 0; i < d->count; i++) {
    double gap = side_of(&d->atoms[i], upper) - side_of(&d->atoms[end], upper);
    if (i == end) continue;
    next = fmin(next, gap);
    ln += d->atoms[i].weight * log(gap);
  }
  double off = exp(ln / (d->weight - 1));
  if (d->atoms[end].weight != 1 || !(next > 0 && off <= next)) return false;
  double share = (side_of(&d->atoms[end], upper) + off) / d->size;
  *m = upper ? (ev_point){1 - share, share} : (ev_point){share, 1 - share};
  return true;
}

static ev_status dirichlet_quantile(ev_dirichlet *d, double mass, bool upper, ev_point *m) {
  assert(mass > 0 && mass <= 0.5);
  *m = d->least;
  if (d->least.x == d->most.x && d->least.y == d->most.y) return EV_OK;
  if (closed_quantile(d, mass, upper, m)) return EV_OK;
  ev_bracket in = {fmax(-MOST_LOGIT, logit_of(d->least)), fmin(MOST_LOGIT, logit_of(d->most))};
  double z = gsl_cdf_ugaussian_Pinv(mass), ln_mass = log(mass);
  double logit = logit_of(d->mean) + (upper ? -z : z) * d->spread;
  double good = logit_of(d->mean);
  *m = logit > in.low && logit < in.high ? ev_at_logit(logit) : d->mean;
  for (int i = 0; i < 200; i++) {
    ev_dirichlet_value value;
    ev_status status = ev_dirichlet_at(d, *m, &value);
    logit = logit_of(*m);
    if (status == EV_NOT_CONVERGED) {
      *m = logit_moved(*m, (good - logit) / 2);
      continue;
    }
    if (status != EV_OK) return status;
    good = logit;
    double ln_tail = upper ? value.ln_above : value.ln_below;
    double gap = upper ? ln_mass - ln_tail : ln_tail - ln_mass;
    double step = -gap * exp(ln_tail - value.ln_density);
    bool halve = i >= NEWTON_STEPS && i % 2 == 0;
    double next = ev_bracket_next(&in, logit, gap > 0, halve ? NAN : logit + step);
    double resolution = 8 * DBL_EPSILON * (1 + fabs(logit));
    /* Newton's step leaves the square of the gap. */
    if (fabs(gap) < 1e-7 || fabs(step) <= resolution || in.high - in.low <= resolution) {
      if (fabs(step) < 1) *m = logit_moved(*m, step);
      /* The smaller is trusted. */
      *m = m->x < m->y ? (ev_point){m->x, 1 - m->x} : (ev_point){1 - m->y, m->y};
      return EV_OK;
    }
    *m = logit_moved(*m, next - logit);
  }
  return EV_NOT_CONVERGED;
}

ev_status ev_dirichlet_lower(ev_dirichlet *d, double mass, ev_point *m) {
  return dirichlet_quantile(d, mass, false, m);
}

ev_status ev_dirichlet_upper(ev_dirichlet *d, double mass, ev_point *m) {
  return dirichlet_quantile(d, mass, true, m);
}
