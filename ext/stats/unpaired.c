/*
** Two models on different questions.
**
** P(theta_A > theta_B) is one integral of a density times a tail; the
** difference and the log odds ratio have a density that is one integral, of
** two densities along the line on which they differ by so much, and that
** ev_marginal turns into quantiles.  On the logit scale both factors are
** log-concave for every count, so each integrand has one peak, where its
** derivative changes sign.
*/
#include "unpaired.h"

#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>

#include "beta.h"
#include "marginal.h"

/* How far below its peak an inner integral goes. */
static const double CUT = 36;

/* The step of an inner integral.  It leaves out exp(-pi^2/step) where a factor
** like exp(-b e^t) makes the integrand analytic to within pi/2 of the axis, twice
** that for one like exp(-b e^(2t)), and exp(-2 pi^2 (sd/step)^2) where it is
** nearly normal: under 1e-13 with these. */
static const double ONE_EXPONENTIAL = 0.25, SQUARED_EXPONENTIAL = 0.125;

static double step_for(double curvature, double most) {
  return fmin(most, 0.5 / sqrt(curvature));
}

/* Beyond this the mass is under 1e-11 of the tail that a quantile cuts off. */
static double quantile_cut(const ev_options *options) {
  return 30 - log(ev_tail(options));
}

/* The derivative of ln_logit_density by the logit, and its curvature. */
static double slope(const ev_beta *d, ev_point t) {
  return d->a * t.y - d->b * t.x;
}

static double curvature(const ev_beta *d, ev_point t) {
  return (d->a + d->b) * t.x * t.y;
}

/* The zero of a falling function between two points, to within `close`. */
static double falling_zero(double (*f)(double, void *), void *context, double least, double most,
                           double close) {
  for (int i = 0; i < 100 && most - least > close; i++) {
    double mid = (least + most) / 2;
    if (f(mid, context) > 0)
      least = mid;
    else
      most = mid;
  }
  return (least + most) / 2;
}

/* An order of A and B that does not depend on which is called which, so that
** exchanging them repeats the same arithmetic: -1, 0 when they are alike, 1. */
static int order(const double *c) {
  if (c[1] != c[3]) return c[1] < c[3] ? -1 : 1;
  return c[0] < c[2] ? -1 : c[0] > c[2];
}

static ev_beta posterior(const double *counts) {
  return ev_beta_make(counts[0] + 1, counts[1] - counts[0] + 1);
}

/* Runs a model whose results are negated and reversed by the exchange of A and
** B, on the canonical order. */
static ev_interval antisymmetric(const double *c, const ev_options *options, ev_model *model) {
  int which = order(c);
  if (which < 0) return model(c, options);
  double swapped[] = {c[2], c[3], c[0], c[1]};
  ev_interval ci = model(swapped, options);
  if (which == 0) return (ev_interval){-ci.hi, ci.hi};
  return (ev_interval){-ci.hi, -ci.lo};
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
  return slope(&c->narrow, x) + (c->below ? exp(ln_w - ln.x) : -exp(ln_w - ln.y));
}

/* ln of P(narrow > wide), or of P(narrow < wide). */
static double ln_crossing_mass(crossing *c) {
  double centre = log(c->narrow.a / c->narrow.b), other = log(c->wide.a / c->wide.b);
  double sd = 1 / sqrt(curvature(&c->narrow, ev_at_logit(centre))), near = 0.05 * fmin(sd, 1);
  double peak =
      falling_zero(crossing_slope, c, fmin(centre, other) - 50, fmax(centre, other) + 50, near);
  if (ln_crossing(peak, c) < -1000) return -HUGE_VAL;
  double bend = (crossing_slope(peak - near, c) - crossing_slope(peak + near, c)) / (2 * near);
  return ev_ln_integral(ln_crossing, c, peak, step_for(bend, ONE_EXPONENTIAL), CUT);
}

/* Integrating over the narrower posterior keeps the other's tail smooth on the
** scale of the trapezoid rule's steps, however unequal they are. */
double ev_prob_better(const double *c) {
  int which = order(c);
  if (which == 0) return 0.5;
  ev_beta a = posterior(c), b = posterior(c + 2);
  double spread_a = 1 / a.a + 1 / a.b, spread_b = 1 / b.a + 1 / b.b;
  bool a_narrow = spread_a != spread_b ? spread_a < spread_b : which < 0;
  crossing cross = {a_narrow ? a : b, a_narrow ? b : a, true};
  double smaller = fmin(1, exp(ln_crossing_mass(&cross)));
  bool narrow_better = smaller > 0.5;
  if (narrow_better) {
    cross.below = false;
    smaller = exp(ln_crossing_mass(&cross));
  }
  /* Where it costs nothing, both P and 1 - P are made exact complements. */
  if (smaller > 0x1p-10) smaller = 1 - (1 - smaller);
  return narrow_better == a_narrow ? 1 - smaller : smaller;
}

/*
** theta_A - theta_B
**
** Each theta is measured from the end of [0,1] it is nearer to, so that small
** error rates keep their digits: the difference is then, up to sign and a
** constant, x - u or x + u, with x and u the distances.  Both that and the
** position along the line on which it is constant are mapped to the whole real
** axis, where the densities fall off exponentially.
*/
typedef struct line {
  ev_beta x, u;  /* the distances' distributions */
  bool sum;      /* x + u - 1 is sought, not x - u */
  double at;     /* its value */
  double length; /* of the line */
} line;

/* x and u at a share of the way along the line, and the rest of it.  Each
** distance comes from the form that does not cancel. */
typedef struct pair {
  ev_point x, u;
} pair;

static pair along(const line *l, double share, double rest) {
  double low = l->length * share, high = l->length * rest;
  pair p;
  if (l->sum) {
    double gap = fabs(l->at);
    p.x.x = l->at <= 0 ? low : low + gap;
    p.u.x = l->at <= 0 ? high : high + gap;
    p.x.y = l->at <= 0 ? high + gap : high;
    p.u.y = l->at <= 0 ? low + gap : low;
  } else {
    p.x.x = l->at >= 0 ? l->at + low : low;
    p.u.x = l->at >= 0 ? low : low - l->at;
    p.x.y = l->at >= 0 ? high : high - l->at;
    p.u.y = l->at >= 0 ? high + l->at : high;
  }
  return p;
}

/* The derivatives of ln of the density of x: the second with its sign changed. */
static double x_slope(const ev_beta *d, ev_point x) {
  return (d->a - 1) / x.x - (d->b - 1) / x.y;
}

static double x_bend(const ev_beta *d, ev_point x) {
  return (d->a - 1) / (x.x * x.x) + (d->b - 1) / (x.y * x.y);
}

static double ln_along(double s, void *context) {
  const line *l = context;
  ev_point t = ev_at_logit(s);
  pair p = along(l, t.x, t.y);
  return ev_beta_ln_logit_density(&l->x, p.x) + ev_beta_ln_logit_density(&l->u, p.u) +
         log(l->length * t.x * t.y / (p.x.x * p.x.y) / (p.u.x * p.u.y));
}

static double slope_along(double s, void *context) {
  const line *l = context;
  ev_point t = ev_at_logit(s);
  pair p = along(l, t.x, t.y);
  double other = x_slope(&l->u, p.u);
  return x_slope(&l->x, p.x) + (l->sum ? -other : other);
}

static double line_at(double z) {
  return tanh(z / 2);
}

static double ln_line_mass(double z, void *context) {
  line *l = context;
  l->at = line_at(z);
  l->length = 1 - fabs(l->at);
  double peak = falling_zero(slope_along, l, -60, 60, 1e-12);
  ev_point t = ev_at_logit(peak);
  pair p = along(l, t.x, t.y);
  double by_logit = t.x * t.y, dx = l->length * by_logit;
  double bend = (x_bend(&l->x, p.x) + x_bend(&l->u, p.u)) * dx * dx + 2 * by_logit;
  return ev_ln_integral(ln_along, l, peak, step_for(bend, SQUARED_EXPONENTIAL), CUT) +
         log(l->length * (1 + fabs(l->at)) / 2);
}

static double variance(const ev_beta *d) {
  return d->mean * d->comean / (d->a + d->b + 1);
}

static ev_interval diff(const double *c, const ev_options *options) {
  ev_beta a = posterior(c), b = posterior(c + 2);
  bool a_high = a.mean > 0.5, b_high = b.mean > 0.5;
  line l = {.x = a_high ? ev_beta_make(a.b, a.a) : a,
            .u = b_high ? ev_beta_make(b.b, b.a) : b,
            .sum = a_high != b_high};
  double start = l.sum ? l.x.mean + l.u.mean - 1 : l.x.mean - l.u.mean;
  double sd = 2 * sqrt(variance(&l.x) + variance(&l.u)) / (1 - start * start);
  ev_marginal m;
  ev_marginal_find(&m, &(ev_search){.ln_density = ln_line_mass,
                                    .context = &l,
                                    .start = 2 * atanh(start),
                                    .width = fmin(3, 6 * sd),
                                    .least = -HUGE_VAL,
                                    .most = HUGE_VAL,
                                    .corner = 0,
                                    .cut = quantile_cut(options),
                                    .tolerance = 1e-11,
                                    .tail = ev_tail(options),
                                    .budget = 4800});
  double lo = line_at(ev_marginal_lower(&m, ev_tail(options)));
  double hi = line_at(ev_marginal_upper(&m, ev_tail(options)));
  /* 1 - A' - B' = -(A' + B' - 1), and so on: a high A turns the sign. */
  return a_high ? (ev_interval){-hi, -lo} : (ev_interval){lo, hi};
}

ev_interval ev_diff(const double *counts, const ev_options *options) {
  return antisymmetric(counts, options, diff);
}

/*
** The odds ratio, whose logarithm is the difference of the logits
*/
typedef struct shift {
  ev_beta a, b;
  double by;
} shift;

static double ln_shifted(double t, void *context) {
  const shift *s = context;
  return ev_beta_ln_logit_density(&s->a, ev_at_logit(t)) +
         ev_beta_ln_logit_density(&s->b, ev_at_logit(t - s->by));
}

static double shifted_slope(double t, void *context) {
  const shift *s = context;
  return slope(&s->a, ev_at_logit(t)) + slope(&s->b, ev_at_logit(t - s->by));
}

static double ln_shift_mass(double by, void *context) {
  shift *s = context;
  s->by = by;
  double centre_a = log(s->a.a / s->a.b), centre_b = log(s->b.a / s->b.b) + by;
  double peak = falling_zero(shifted_slope, s, fmin(centre_a, centre_b), fmax(centre_a, centre_b),
                             1e-9 * (1 + fabs(centre_a)));
  double bend = curvature(&s->a, ev_at_logit(peak)) + curvature(&s->b, ev_at_logit(peak - by));
  return ev_ln_integral(ln_shifted, s, peak, step_for(bend, ONE_EXPONENTIAL), CUT);
}

static ev_interval ln_odds_ratio(const double *c, const ev_options *options) {
  shift s = {posterior(c), posterior(c + 2), 0};
  ev_marginal m;
  ev_marginal_find(
      &m, &(ev_search){.ln_density = ln_shift_mass,
                       .context = &s,
                       .start = log(s.a.a / s.a.b) - log(s.b.a / s.b.b),
                       .width = fmin(3, 6 * sqrt(1 / s.a.a + 1 / s.a.b + 1 / s.b.a + 1 / s.b.b)),
                       .least = -HUGE_VAL,
                       .most = HUGE_VAL,
                       .corner = HUGE_VAL,
                       .cut = quantile_cut(options),
                       .tolerance = 1e-11,
                       .tail = ev_tail(options),
                       .budget = 4800});
  return (ev_interval){ev_marginal_lower(&m, ev_tail(options)),
                       ev_marginal_upper(&m, ev_tail(options))};
}

ev_interval ev_odds_ratio(const double *counts, const ev_options *options) {
  ev_interval ln = antisymmetric(counts, options, ln_odds_ratio);
  return (ev_interval){exp(ln.lo), exp(ln.hi)};
}

static ev_interval diff_clt(const double *c, const ev_options *options) {
  double a = c[0] / c[1], b = c[2] / c[3], z = gsl_cdf_ugaussian_Qinv(ev_tail(options));
  double half = z * sqrt(a * (1 - a) / c[1] + b * (1 - b) / c[3]);
  return (ev_interval){a - b - half, a - b + half};
}

ev_interval ev_diff_clt(const double *counts, const ev_options *options) {
  return antisymmetric(counts, options, diff_clt);
}
