/*
** The odds ratio of two models on different questions.  Its logarithm X is the difference of the
** logits of independent theta_A and theta_B, Beta(a+k, b+n-k) each.
**
**   1. X is also logit(1 - theta_B) - logit(1 - theta_A): take the form whose first share has the
**      narrower posterior, f, the other's being g with the distribution G.
**   2. P(X > x) = int f(t) G(t - x) dt over the first logit, t, by the trapezoid rule outward from
**      the peak.  ln f and ln G are concave, so there is one.  t is measured from f's peak, so
**      that the last digit of a logit does not matter, however narrow f is.
**   3. The density of X at x is int f(t) g(t - x) dt, in the same way.
**   4. Newton's method on ln P(X > x), which is concave: after one step every x is above the
**      quantile, and it settles from there.
**   5. The lower bound is minus the upper one of -X, which exchanges right and wrong in both.
*/
#include "unpaired.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>

#include "beta.h"
#include "logs.h"
#include "marginal.h"
#include "root.h"

/* The trapezoid rule's longest step, its step in standard deviations, and how far below the peak it
** goes.  The longest step has an error of exp(-pi^2/step), or 7e-18, where a factor like exp(-b
** e^t) makes the integrand analytic to within pi/2 of the axis; the other step exp(-2 pi^2/step^2)
** where it is normal.  The first x need only be within about 1e-2. */
typedef struct odds_rule {
  double longest, step, ln_drop;
} odds_rule;
static const odds_rule odds_rough = {0.5, 1.2, 9}, odds_exact = {0.25, 0.45, 36};

/* The errors of ln P at which the search leaves the rough rule, and at which it ends: the next step
** of Newton's method squares the error. */
static const double ODDS_ROUGH = 0.03, ODDS_CLOSE = 1e-7;
enum { ODDS_STEPS = 60, ODDS_PEAK_STEPS = 100 };

typedef struct odds_shift {
  ev_beta narrow, wide;
  double centre; /* the logit at which f peaks */
  double off;    /* centre - x */
  bool density;  /* g instead of G */
  double peak;   /* of the last integrand */
} odds_shift;

/* ln f at v from its peak.  With m the mean it exceeds ln f at the peak by a v - (a + b) ln(1 + m
** (e^v - 1)), or the same from the other end; for small v in a form that does not cancel. */
static double odds_ln_narrow(const ev_beta *d, double v) {
  bool mirrored = d->mean > d->comean;
  double a = mirrored ? d->b : d->a, w = mirrored ? -v : v, power = d->a + d->b, sum = 1;
  double y = fmin(d->mean, d->comean) * expm1(w);
  if (fabs(w) > 0.5) return d->ln_peak + a * w - power * log1p(y);
  for (int k = 14; k > 2; k--) sum = 1 + w / k * sum; /* 2 (e^w - 1 - w) / w^2 */
  return d->ln_peak - a * (w * w / 2 * sum) - power * ev_ln1p_less(y);
}

static double odds_ln_term(double v, void *context) {
  const odds_shift *s = context;
  ev_point at = ev_at_logit(s->off + v);
  double ln = s->density ? ev_beta_ln_logit_density(&s->wide, at) : ev_beta_ln_cdf(&s->wide, at).x;
  return odds_ln_narrow(&s->narrow, v) + ln;
}

/* The derivative of ln of the density of a logit, and minus the second one. */
static double odds_logit_slope(const ev_beta *d, ev_point t) {
  return d->a * t.y - d->b * t.x;
}

static double odds_logit_curvature(const ev_beta *d, ev_point t) {
  return (d->a + d->b) * t.x * t.y;
}

/* The derivative of ln of the integrand, and minus the second one: of ln G they are r = g / G and
** r (r - (ln g)'). */
static double odds_slope(const odds_shift *s, double v, double *bend) {
  ev_point narrow = ev_at_logit(s->centre + v), wide = ev_at_logit(s->off + v);
  double slope = odds_logit_slope(&s->wide, wide), by_wide = odds_logit_curvature(&s->wide, wide);
  if (!s->density) {
    double r = exp(ev_beta_ln_logit_density(&s->wide, wide) - ev_beta_ln_cdf(&s->wide, wide).x);
    by_wide = r * (r - slope);
    slope = r;
  }
  *bend = odds_logit_curvature(&s->narrow, narrow) + by_wide;
  return odds_logit_slope(&s->narrow, narrow) + slope;
}

/* ln of the integral; NaN where that does not converge.  The peak is found to a tenth of a standard
** deviation. */
static double odds_ln_integral(odds_shift *s, const odds_rule *rule, bool density) {
  double other = log(s->wide.a / s->wide.b) - s->off, bend, truncated;
  ev_bracket in = {fmin(0, other) - 1, fmax(0, other) + 50};
  double peak = fmax(in.low, fmin(in.high, s->peak));
  s->density = density;
  for (int i = 0; i < ODDS_PEAK_STEPS; i++) {
    double slope = odds_slope(s, peak, &bend);
    if (slope * slope <= 0.01 * bend) break;
    peak = ev_bracket_next(&in, peak, slope < 0, peak + slope / bend);
  }
  s->peak = peak;
  double step = fmin(rule->longest, rule->step / sqrt(bend));
  double ln = ev_ln_integral(odds_ln_term, s, peak, step, rule->ln_drop, &truncated);
  return truncated > -HUGE_VAL ? NAN : ln;
}

/* The x that X is above with the probability `tail`. */
static ev_status odds_upper(odds_shift *s, double tail, double *upper) {
  const ev_beta *a = &s->narrow, *b = &s->wide;
  double variance = 1 / a->a + 1 / a->b + 1 / b->a + 1 / b->b;
  s->centre = log(a->a / a->b);
  s->off = log(b->a / b->b) - gsl_cdf_ugaussian_Qinv(tail) * sqrt(variance);
  const odds_rule *rule = &odds_rough;
  for (int i = 0; i < ODDS_STEPS; i++) {
    double ln_p = odds_ln_integral(s, rule, false), off = ln_p - log(tail);
    if (isnan(ln_p)) break;
    s->off -= fmin(3, off) * exp(ln_p - odds_ln_integral(s, rule, true));
    if (rule == &odds_exact && fabs(off) < ODDS_CLOSE) {
      *upper = s->centre - s->off;
      return EV_OK;
    }
    if (fabs(off) < ODDS_ROUGH) rule = &odds_exact;
  }
  return EV_NOT_CONVERGED;
}

static double odds_spread(const double *shapes) {
  return 1 / shapes[0] + 1 / shapes[1];
}

/* Exchanging A and B, or right and wrong in both, at most exchanges the two searches. */
static odds_shift odds_of_shapes(const double *a, const double *b) {
  double spread = odds_spread(a) - odds_spread(b);
  bool first = spread < 0 || (spread == 0 && (a[0] < b[1] || (a[0] == b[1] && a[1] <= b[0])));
  if (first)
    return (odds_shift){.narrow = ev_beta_make(a[0], a[1]), .wide = ev_beta_make(b[0], b[1])};
  return (odds_shift){.narrow = ev_beta_make(b[1], b[0]), .wide = ev_beta_make(a[1], a[0])};
}

ev_status ev_odds_ratio(const double *c, const ev_options *options, ev_host host, ev_interval *ci) {
  (void)host;
  assert(c[0] >= 0 && c[0] <= c[1] && c[1] >= 1);
  assert(c[2] >= 0 && c[2] <= c[3] && c[3] >= 1);
  const double prior_a = options->a, prior_b = options->b;
  const double a[] = {c[0] + prior_a, c[1] - c[0] + prior_b}, wrong_a[] = {a[1], a[0]};
  const double b[] = {c[2] + prior_a, c[3] - c[2] + prior_b}, wrong_b[] = {b[1], b[0]};
  odds_shift right = odds_of_shapes(a, b), wrong = odds_of_shapes(wrong_a, wrong_b);
  double lower, upper, tail = ev_tail(options);
  ev_status status = odds_upper(&right, tail, &upper);
  if (status == EV_OK) status = odds_upper(&wrong, tail, &lower);
  /* With 10^15 questions and a level near 0 both bounds may round to one number. */
  if (status == EV_OK) *ci = (ev_interval){exp(fmin(-lower, upper)), exp(fmax(-lower, upper))};
  return status;
}
