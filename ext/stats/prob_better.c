/*
** P(theta_A > theta_B) of two models on different questions, or that it is by more than
** a margin: one integral of a density times a tail.  On the logit scale both factors are
** log-concave for every count, so each integrand has one peak, where its derivative
** changes sign.
*/
#include "unpaired.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "beta.h"
#include "contrast.h"
#include "marginal.h"
#include "root.h"

/* The step of an inner integral.  It leaves out exp(-pi^2/step) where a factor
** like exp(-b e^t) makes the integrand analytic to within pi/2 of the axis, twice
** that for one like exp(-b e^(2t)), and exp(-2 pi^2 (sd/step)^2) where it is
** nearly normal: under 1e-13 with these. */
static const double ONE_EXPONENTIAL_STEP = 0.25, SQUARED_EXPONENTIAL_STEP = 0.125;

static double inner_step(double curvature, double most) {
  return fmin(most, 0.5 / sqrt(curvature));
}

/* The zero of a falling function between two points, by bisection; NaN if a hundred
** halvings do not bring them within the tolerance. */
static double falling_zero(double (*f)(double, void *), void *context, double least, double most,
                           double tolerance) {
  ev_bracket in = {least, most};
  double x = (least + most) / 2;
  for (int i = 0; i < 100 && in.high - in.low > tolerance; i++)
    x = ev_bracket_next(&in, x, !(f(x, context) > 0), NAN);
  return in.high - in.low <= tolerance ? x : NAN;
}

/* The derivative of ln of the density of a share. */
static double share_slope(const ev_beta *d, ev_point x) {
  return (d->a - 1) / x.x - (d->b - 1) / x.y;
}

/*
** P(theta_A > theta_B)
*/

/* The density of `narrow` times the tail of `wide`, below or above. */
typedef struct crossing {
  ev_beta narrow, wide;
  bool below;
} crossing;

static double ln_crossing(double t, void *context) {
  const crossing *c = context;
  ev_point x = ev_at_logit(t), ln = ev_beta_ln_cdf(&c->wide, x);
  return ev_beta_ln_logit_density(&c->narrow, x) + (c->below ? ln.x : ln.y);
}

static double crossing_slope(double t, void *context) {
  const crossing *c = context;
  ev_point x = ev_at_logit(t), ln = ev_beta_ln_cdf(&c->wide, x);
  double ln_w = ev_beta_ln_logit_density(&c->wide, x);
  return ev_logit_slope(&c->narrow, x) + (c->below ? exp(ln_w - ln.x) : -exp(ln_w - ln.y));
}

/* ln of P(narrow > wide), or of P(narrow < wide); NaN if that does not converge. */
static double ln_crossing_mass(crossing *c) {
  double centre = log(c->narrow.a / c->narrow.b), other = log(c->wide.a / c->wide.b);
  double sd = 1 / sqrt(ev_logit_curvature(&c->narrow, ev_at_logit(centre))),
         near = 0.05 * fmin(sd, 1);
  double peak =
      falling_zero(crossing_slope, c, fmin(centre, other) - 50, fmax(centre, other) + 50, near);
  if (ln_crossing(peak, c) < -1000) return -HUGE_VAL;
  double bend = (crossing_slope(peak - near, c) - crossing_slope(peak + near, c)) / (2 * near);
  double truncated, step = inner_step(bend, ONE_EXPONENTIAL_STEP);
  double ln = ev_ln_integral(ln_crossing, c, peak, step, EV_INNER_LN_DROP, &truncated);
  return truncated > -HUGE_VAL ? NAN : ln;
}

/* P(a > b) and P(a < b), of which the smaller is computed.  Integrating over the narrower
** posterior keeps the other's tail smooth on the scale of the trapezoid rule's steps,
** however unequal they are. */
static ev_point prob_by_crossing(const ev_beta *a, const ev_beta *b, bool a_narrow) {
  crossing cross = {a_narrow ? *a : *b, a_narrow ? *b : *a, true};
  double smaller = exp(ln_crossing_mass(&cross));
  if (smaller > 1) smaller = 1;
  bool narrow_better = smaller > 0.5;
  if (narrow_better) {
    cross.below = false;
    smaller = exp(ln_crossing_mass(&cross));
  }
  smaller = ev_with_exact_complement(smaller);
  return narrow_better == a_narrow ? (ev_point){1 - smaller, smaller}
                                   : (ev_point){smaller, 1 - smaller};
}

static double spread(const ev_beta *d) {
  return 1 / d->a + 1 / d->b;
}

ev_point ev_beta_prob_better(const ev_beta *a, const ev_beta *b) {
  return prob_by_crossing(a, b, spread(a) < spread(b));
}

static ev_status prob_ahead(const double *c, double *p) {
  int which = ev_order_of_models(c);
  *p = 0.5;
  if (which == 0) return EV_OK;
  ev_beta a = ev_uniform_posterior(c), b = ev_uniform_posterior(c + 2);
  bool a_narrow = spread(&a) != spread(&b) ? spread(&a) < spread(&b) : which < 0;
  *p = prob_by_crossing(&a, &b, a_narrow).x;
  return isnan(*p) ? EV_NOT_CONVERGED : EV_OK;
}

/*
** P(theta_A > theta_B + margin)
**
** Call the model that a positive margin asks to be the better by it the leader, and the
** other the trailer.  Along the line on which they differ by the margin the density of
** the one, times the tail of the other, is integrated over the logit of the share of
** the line; in the shares themselves the integrand is log-concave, so that it has one
** peak in the logit too.  That gives the chance that the lead is beyond the margin; the
** chance that it is within has, besides, what the narrower has off the line.
*/
typedef struct margin_line {
  ev_beta leader, trailer;
  double margin, length; /* positive, and 1 less it */
  bool over_leader;      /* whose density is integrated: the narrower's */
  bool beyond;
} margin_line;

typedef struct margin_pair {
  ev_point leader, trailer;
} margin_pair;

static margin_pair margin_pair_at(const margin_line *l, ev_point share) {
  double low = l->length * share.x, high = l->length * share.y;
  return (margin_pair){{l->margin + low, high}, {low, l->margin + high}};
}

/* The tail is the one below exactly when a leader beyond the margin, or a trailer within
** it, is integrated over. */
static double ln_along_margin(double t, void *context) {
  const margin_line *l = context;
  ev_point share = ev_at_logit(t);
  margin_pair p = margin_pair_at(l, share);
  ev_point tail = l->over_leader ? ev_beta_ln_cdf(&l->trailer, p.trailer)
                                 : ev_beta_ln_cdf(&l->leader, p.leader);
  double ln_density = l->over_leader ? ev_ln_share_density(&l->leader, p.leader)
                                     : ev_ln_share_density(&l->trailer, p.trailer);
  return ln_density + (l->over_leader == l->beyond ? tail.x : tail.y) +
         log(l->length * share.x * share.y);
}

static double slope_along_margin(double t, void *context) {
  const margin_line *l = context;
  ev_point share = ev_at_logit(t);
  margin_pair p = margin_pair_at(l, share);
  const ev_beta *narrow = l->over_leader ? &l->leader : &l->trailer;
  const ev_beta *wide = l->over_leader ? &l->trailer : &l->leader;
  ev_point at = l->over_leader ? p.leader : p.trailer,
           other = l->over_leader ? p.trailer : p.leader;
  ev_point tail = ev_beta_ln_cdf(wide, other);
  double ln_wide = ev_ln_share_density(wide, other);
  double slope = share_slope(narrow, at) +
                 (l->over_leader == l->beyond ? exp(ln_wide - tail.x) : -exp(ln_wide - tail.y));
  return slope * l->length * share.x * share.y + (share.y - share.x);
}

/* The chance of the event, from positive parts alone. */
static double margin_mass(margin_line *l) {
  const ev_beta *narrow = l->over_leader ? &l->leader : &l->trailer;
  double off_line = 0;
  if (!l->beyond)
    off_line = l->over_leader ? ev_beta_cdf(narrow, (ev_point){l->margin, l->length}).x
                              : ev_beta_cdf(narrow, (ev_point){l->length, l->margin}).y;
  double peak = falling_zero(slope_along_margin, l, -60, 60, 1e-12);
  if (ln_along_margin(peak, l) < -1000) return off_line;
  ev_point share = ev_at_logit(peak);
  double sd = sqrt(ev_beta_variance(narrow)) / (l->length * share.x * share.y);
  double near = 0.05 * fmin(sd, 1);
  double bend =
      (slope_along_margin(peak - near, l) - slope_along_margin(peak + near, l)) / (2 * near);
  double truncated, step = inner_step(bend, SQUARED_EXPONENTIAL_STEP);
  double ln_mass = ev_ln_integral(ln_along_margin, l, peak, step, EV_INNER_LN_DROP, &truncated);
  if (truncated > -HUGE_VAL) return NAN;
  return off_line + exp(ln_mass);
}

/* A negative margin is the other model's positive one: exchanging the models and the
** margin's sign repeats the same arithmetic. */
static ev_status prob_beyond(const double *c, double margin, double *p) {
  ev_beta a = ev_uniform_posterior(c), b = ev_uniform_posterior(c + 2);
  margin_line l = {.leader = margin > 0 ? a : b,
                   .trailer = margin > 0 ? b : a,
                   .margin = fabs(margin),
                   .length = 1 - fabs(margin),
                   .beyond = true};
  if (l.length <= 0) {
    *p = margin > 0 ? 0 : 1;
    return EV_OK;
  }
  l.over_leader = ev_beta_variance(&l.leader) < ev_beta_variance(&l.trailer);
  double smaller = margin_mass(&l);
  bool mostly_beyond = smaller > 0.5;
  if (mostly_beyond) {
    l.beyond = false;
    smaller = margin_mass(&l);
  }
  smaller = ev_with_exact_complement(smaller);
  *p = mostly_beyond == (margin > 0) ? 1 - smaller : smaller;
  return isnan(*p) ? EV_NOT_CONVERGED : EV_OK;
}

ev_status ev_prob_better(const double *c, const ev_options *options, double *p) {
  assert(fabs(options->margin) <= 1);
  return options->margin == 0 ? prob_ahead(c, p) : prob_beyond(c, options->margin, p);
}
