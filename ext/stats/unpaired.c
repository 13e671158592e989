/*
** Two models on different questions: P(theta_A > theta_B + x), and the interval of the difference.
**
** Let A and B be independent Betas with the densities f and g, and G the distribution of B.  Then
**
**     P(A - B > x) = int f(a) G(a - x) da + P(A > 1 + x),   -d/dx of it = int f(a) g(a - x) da.
**
**   1. A - B is also (1 - B) - (1 - A).  Take the form whose first share has the smaller variance,
**      so that G is smooth on the scale of f.
**   2. (a, a - x) runs along a line of length 1 - |x|, and the integrand is log-concave there.
**      Find its peak by Newton's method on the logit of the position.
**   3. Go from the peak both ways until the integrand is negligible, or to the line's end.
**   4. Integrate between by the Gauss-Kronrod rule of 61 points.  With uniform priors the integrand
**      is a polynomial of degree n_A + n_B + 1, for which the rule is exact up to 91; with more
**      questions it is smooth on the scale of this window.  Every part is positive: a small chance
**      keeps its digits.  Of P and 1 - P the smaller is computed.
**   5. A shape below LEAD_SMOOTH that is not whole, as under a Beta(1/2,1/2) prior, leaves a power
**      in the integrand that is no polynomial, and may be infinite, at an end of the line.  By the
**      logit of the position on the line it falls off exponentially, and by u, sinh(u) being that
**      logit from the peak, twice exponentially (Takahasi and Mori, Publ. RIMS 9 (1974) 721-741):
**      the trapezoid rule, with a step that is halved until the integral stays.
**   6. A bound is found by Newton's method on ln P(A - B > x), in z = 2 artanh(x), so that 1 - |x|
**      keeps its digits.  With shapes from 1 on ln P is concave in x: after one step every x is
**      above the root.  Else a bracket keeps the search from going astray.  The lower bound is
**      minus the upper one of B - A: exchanging A and B repeats the arithmetic.
*/
#include "unpaired.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_integration.h>

#include "atoms.h"
#include "beta.h"
#include "logs.h"
#include "marginal.h"
#include "normal.h"
#include "root.h"

/* How far below its peak the integrand is negligible, in logarithms: e^-36 is 2e-16, and what is
** left out is less than that of the integral.  A window's end may be as far as e^-60. */
static const double LEAD_LN_DROP = 36, LEAD_LN_MOST_DROP = 60;

typedef struct lead_line {
  ev_beta a, b;
  double x, length;     /* A - B along the line, and 1 - |x| */
  double low, high;     /* from the peak of f G to the ends of the line */
  double from, to;      /* the window of integration, from the peak */
  ev_point at_a, at_b;  /* A and B at the peak */
  double ln_a, ln_b;    /* ln of f and of g there */
  double ln_below;      /* ln of G there */
  bool density;         /* the integrand is f g instead of f G */
  bool by_logit;        /* step 5 instead of steps 3 and 4, with u = 0 at the logit `centre`, */
  double centre, width; /* where the logit's derivative by u is `width` */
} lead_line;

static double share_variance(const ev_beta *d) {
  return d->mean * d->comean / (d->a + d->b + 1);
}

static ev_beta share_posterior(const double *counts, const ev_options *options) {
  return ev_beta_posterior(options->a, options->b, counts[0], counts[1] - counts[0]);
}

/* From this shape on the power at an end is so small that Gauss's rule does not see it. */
static const double LEAD_SMOOTH = 8;

static bool is_smooth(const ev_beta *d) {
  return (d->a >= LEAD_SMOOTH || d->a == floor(d->a)) &&
         (d->b >= LEAD_SMOOTH || d->b == floor(d->b));
}

/* The distribution of 1 - X. */
static ev_beta wrong_share(const ev_beta *d) {
  ev_beta wrong = ev_beta_make(d->b, d->a);
  wrong.rest = (ev_point){d->rest.y, d->rest.x};
  return wrong;
}

/* Step 1. */
static lead_line lead_line_of(const ev_beta *a, const ev_beta *b) {
  bool by_logit = !is_smooth(a) || !is_smooth(b);
  if (share_variance(a) <= share_variance(b))
    return (lead_line){.a = *a, .b = *b, .by_logit = by_logit};
  return (lead_line){.a = wrong_share(b), .b = wrong_share(a), .by_logit = by_logit};
}

/* ln of the density of a share. */
static double ln_share_density(const ev_beta *d, ev_point x) {
  return ev_beta_ln_logit_density(d, x) - log(x.x * x.y);
}

/* ln of that at x + v over that at x, in a form that does not cancel where v is small.  At an end
** it is not -infinity only beside a shape of 1. */
static double ln_density_ratio(const ev_beta *d, ev_point x, double v) {
  double up = v / x.x, down = -v / x.y, slope = (d->a - 1) / x.x - (d->b - 1) / x.y;
  double ln = slope * v;
  if ((up <= -1 && d->a > 1) || (down <= -1 && d->b > 1)) return -HUGE_VAL;
  if (d->a > 1) ln += (d->a - 1) * ev_ln1p_less(up);
  if (d->b > 1) ln += (d->b - 1) * ev_ln1p_less(down);
  return ln;
}

/* ln of the integrand at v from the peak of f G, over f G there. */
static double lead_ln_term(const lead_line *l, double v) {
  ev_point b = {l->at_b.x + v, l->at_b.y - v};
  double ln =
      l->density ? l->ln_b + ln_density_ratio(&l->b, l->at_b, v) : ev_beta_ln_cdf(&l->b, b).x;
  return ln_density_ratio(&l->a, l->at_a, v) + ln - l->ln_below;
}

/* The derivative of ln of the density of a share, and minus the second one. */
static ev_point share_slope(const ev_beta *d, ev_point x) {
  double up = (d->a - 1) / x.x, down = (d->b - 1) / x.y;
  return (ev_point){up - down, up / x.x + down / x.y};
}

/* Step 2.  Of ln G the derivatives are r = g / G and -r (r - (ln g)'), the latter without digits
** where G is e^-10^5: then bisection goes on.  A thousandth of f's standard deviation off the peak
** moves ln f there, with 10^15 questions, by 1e-11.  The ends are looked at first: with 2^53
** questions a share is 5e-17 at the least, and its logit -37. */
static const double LEAD_END = 39, LEAD_OFF_PEAK = 1e-3;
enum { LEAD_NEWTON_STEPS = 20, LEAD_PEAK_STEPS = 100 };

/* To the point of the line at a logit. */
static void go_along_lead(lead_line *l, ev_point share) {
  const double ahead = fmax(0, l->x), behind = fmax(0, -l->x);
  l->low = l->length * share.x;
  l->high = l->length * share.y;
  l->at_a = (ev_point){ahead + l->low, behind + l->high};
  l->at_b = (ev_point){behind + l->low, ahead + l->high};
}

static void find_lead_peak(lead_line *l) {
  const double guess = log((l->a.mean + l->b.mean) / (l->a.comean + l->b.comean));
  ev_bracket in = {-LEAD_END - 1, LEAD_END + 1};
  double t = -LEAD_END;
  for (int i = 0; i < LEAD_PEAK_STEPS; i++) {
    ev_point share = ev_at_logit(t);
    go_along_lead(l, share);
    l->ln_b = ln_share_density(&l->b, l->at_b);
    l->ln_below = ev_beta_ln_cdf(&l->b, l->at_b).x;
    ev_point of_a = share_slope(&l->a, l->at_a), of_b = share_slope(&l->b, l->at_b);
    double r = exp(l->ln_b - l->ln_below);
    double by_logit = l->length * share.x * share.y, slope = (of_a.x + r) * by_logit;
    double curvature = (of_a.y + r * (r - of_b.x)) * by_logit * by_logit;
    double bend = curvature - slope * (share.y - share.x), off = slope / sqrt(of_a.y) / by_logit;
    if (fabs(off) <= LEAD_OFF_PEAK || (i < 2 && slope * t >= 0)) break;
    double wish = i == 0                  ? LEAD_END
                  : i == 1                ? guess
                  : i < LEAD_NEWTON_STEPS ? t + slope / bend
                                          : NAN;
    t = ev_bracket_next(&in, t, !(slope > 0), wish);
  }
  l->ln_a = ln_share_density(&l->a, l->at_a);
}

/* Step 3, on one side of the peak, up to `most`.  ln of the integrand is about a parabola, and 48
** between enough and too far; 1e-3 of the distance more does no harm. */
static double lead_reach(const lead_line *l, double side, double most) {
  ev_bracket in = {0, most};
  for (double reach = most; in.high - in.low > 1e-3 * in.high;) {
    double drop = -lead_ln_term(l, side * reach);
    bool enough = !(drop < LEAD_LN_DROP);
    if (enough ? drop <= LEAD_LN_MOST_DROP : reach == most) return reach;
    reach = ev_bracket_next(&in, reach, enough, reach * sqrt(48 / drop));
  }
  return in.high;
}

static double lead_term(double v, void *context) {
  return exp(lead_ln_term(context, v));
}

static double lead_integral(lead_line *l, bool density) {
  gsl_function term = {lead_term, l};
  double area, unused[3];
  l->density = density;
  gsl_integration_qk61(&term, l->from, l->to, &area, &unused[0], &unused[1], &unused[2]);
  return area;
}

/* Step 5.  The trapezoid rule errs by exp(-c/step): where halving the step changes ln of the
** integral by this much, the square of it is left.  With many questions the rounding of a share is
** so many standard deviations of the narrowest posterior.  What underflows needs no digits. */
static const double LEAD_LN_CHANGE = 1e-10, LEAD_LN_ROUNDING = 1e-15, LEAD_LN_NOTHING = -1e5,
                    LEAD_LONGEST_STEP = 0.5, LEAD_FAR = 600;
enum { LEAD_HALVINGS = 8 };

/* ln of the integrand by u, the logit of the position being centre + width sinh(u). */
static double lead_ln_term_by_logit(double u, void *context) {
  lead_line *l = context;
  ev_point share = ev_at_logit(l->centre + l->width * sinh(u));
  go_along_lead(l, share);
  if (l->low == 0 || l->high == 0) return -HUGE_VAL;
  double ln = l->density ? ln_share_density(&l->b, l->at_b) : ev_beta_ln_cdf(&l->b, l->at_b).x;
  return ln_share_density(&l->a, l->at_a) + ln + log(l->low * l->width * cosh(u)) + log(share.y);
}

/* The derivative of ln of the density of a share, and minus the second one, by what moves the share
** by that much. */
static ev_point share_slope_by(const ev_beta *d, ev_point x, double by) {
  double up = by / x.x, down = by / x.y;
  return (ev_point){(d->a - 1) * up - (d->b - 1) * down,
                    (d->a - 1) * up * up + (d->b - 1) * down * down};
}

/* The same of the integrand by the logit t of the position: of ln G they are as in step 2, the
** second one NaN where it has no digits, for G is e^-10^5 or less. */
static const double LEAD_DIGITS = 1e-14;

static ev_point lead_slope_by_logit(lead_line *l, double t) {
  ev_point share = ev_at_logit(t);
  go_along_lead(l, share);
  double by = l->low * share.y, off_middle = share.y - share.x;
  ev_point of_a = share_slope_by(&l->a, l->at_a, by), of_b = share_slope_by(&l->b, l->at_b, by);
  if (!l->density) {
    double ln_below = ev_beta_ln_cdf(&l->b, l->at_b).x;
    double r = exp(ln_share_density(&l->b, l->at_b) - ln_below) * by, excess = r - of_b.x;
    bool has_digits = excess > LEAD_DIGITS * (1e6 - ln_below) * r;
    of_b = (ev_point){r, has_digits ? r * excess : NAN};
  }
  double slope = of_a.x + of_b.x;
  return (ev_point){slope + off_middle,
                    of_a.y + of_b.y - slope * off_middle + 2 * share.x * share.y};
}

/* ln of the integral of f G, or of f g.  The search for the peak ends within a tenth of a standard
** deviation, or where its bracket is closed: the sum finds it from near by. */
static double lead_ln_integral(lead_line *l, bool density) {
  ev_bracket in = {-LEAD_FAR, LEAD_FAR};
  double most = fmax(l->a.a + l->a.b, l->b.a + l->b.b), step = LEAD_LONGEST_STEP;
  double change = fmax(LEAD_LN_CHANGE, LEAD_LN_ROUNDING * sqrt(most)), ln = HUGE_VAL, truncated;
  ev_point slope = {0, 0};
  l->density = density;
  l->centre = 0;
  for (int i = 0; i < LEAD_PEAK_STEPS; i++) {
    slope = lead_slope_by_logit(l, l->centre);
    if (slope.x * slope.x <= 0.01 * slope.y) break;
    l->centre = ev_bracket_next(&in, l->centre, !(slope.x > 0),
                                slope.y > 0 ? l->centre + slope.x / slope.y : NAN);
  }
  l->width = fmin(1, 1 / sqrt(slope.y));
  for (int i = 0; i <= LEAD_HALVINGS; i++, step /= 2) {
    double before = ln;
    ln = ev_ln_integral(lead_ln_term_by_logit, l, 0, step, LEAD_LN_DROP, &truncated);
    if (fabs(ln - before) <= change || ln < LEAD_LN_NOTHING)
      return truncated > -HUGE_VAL ? NAN : ln;
  }
  return NAN;
}

/* ln P(A - B > x). */
static double ln_chance_of_lead(lead_line *l, double x, double length) {
  l->x = x;
  l->length = length;
  l->density = false;
  double ln_beyond = x < 0 ? ev_beta_ln_cdf(&l->a, (ev_point){length, -x}).y : -HUGE_VAL;
  if (l->by_logit) {
    double ln = lead_ln_integral(l, false);
    double sum = fmax(ln, ln_beyond) + log1p(exp(-fabs(ln - ln_beyond)));
    return sum > 0 ? 0 : sum;
  }
  find_lead_peak(l);
  l->from = -lead_reach(l, -1, l->low);
  l->to = lead_reach(l, 1, l->high);
  double ln_peak = l->ln_a + l->ln_below, chance = lead_integral(l, false);
  if (x < 0) chance += exp(ln_beyond - ln_peak);
  return fmin(0, ln_peak + log(chance));
}

/* Minus the derivative of that by x. */
static double lead_falls(lead_line *l, double ln_chance) {
  if (l->by_logit) return exp(lead_ln_integral(l, true) - ln_chance);
  return lead_integral(l, true) * exp(l->ln_a + l->ln_below - ln_chance);
}

/* P(A - B > x) and P(A - B < x). */
static ev_point prob_of_lead(const ev_beta *a, const ev_beta *b, double x) {
  lead_line ahead = lead_line_of(a, b), behind = lead_line_of(b, a);
  double smaller = exp(ln_chance_of_lead(&ahead, x, 1 - fabs(x)));
  bool mostly_ahead = smaller > 0.5;
  if (mostly_ahead) smaller = exp(ln_chance_of_lead(&behind, -x, 1 - fabs(x)));
  smaller = ev_with_exact_complement(smaller);
  return mostly_ahead ? (ev_point){1 - smaller, smaller} : (ev_point){smaller, 1 - smaller};
}

ev_point ev_beta_prob_better(const ev_beta *a, const ev_beta *b) {
  return prob_of_lead(a, b, 0);
}

/* An order of A and B that does not depend on their names, so that exchanging them repeats the same
** arithmetic: -1, 0 if they are equal, 1. */
static int order_of_models(const double *c) {
  assert(c[0] >= 0 && c[0] <= c[1] && c[1] >= 1);
  assert(c[2] >= 0 && c[2] <= c[3] && c[3] >= 1);
  return ev_compare_counts(c[0], c[1], c[2], c[3]);
}

ev_status ev_prob_better(const double *c, const ev_options *options, ev_host host, double *p) {
  (void)host;
  ev_beta a = share_posterior(c, options), b = share_posterior(c + 2, options);
  double margin = options->margin;
  int order = order_of_models(c);
  assert(fabs(margin) <= 1);
  bool exchanged = order ? order > 0 : margin < 0;
  if (order == 0 && margin == 0)
    *p = 0.5;
  else if (fabs(margin) == 1)
    *p = margin < 0;
  else
    *p = exchanged ? prob_of_lead(&b, &a, -margin).y : prob_of_lead(&a, &b, margin).x;
  return isnan(*p) ? EV_NOT_CONVERGED : EV_OK;
}

/* Where the search begins: from the difference of the means as far as both models' own bounds are
** from theirs, squared and added (Newcombe 1998 does so with Wilson's bounds).  1 + x and 1 - x
** are sums, so that the smaller has its digits; NaN if a bound is not found. */
static double first_lead(const ev_beta *a, const ev_beta *b, double tail) {
  ev_point upper, lower;
  if (!ev_beta_quantile(a, (ev_point){1 - tail, tail}, &upper) ||
      !ev_beta_quantile(b, (ev_point){tail, 1 - tail}, &lower))
    return NAN;
  double far = hypot(ev_beta_deviation(a, upper), ev_beta_deviation(b, lower));
  double up = a->mean + b->comean + far, down = a->comean + b->mean - far;
  return up < down ? log(up / (2 - up)) : log((2 - down) / down);
}

/* Step 6: the lead of A that is exceeded with the chance `tail`.  The last step of Newton's method
** leaves the square of what it mends; or it is the rounding of the lead, which with 10^15 questions
** is no smaller. */
enum { LEAD_STEPS = 50 };
static const double LEAD_LN_TOLERANCE = 1e-7, LEAD_ROUNDING = 1e-15;

static bool find_lead(const ev_beta *a, const ev_beta *b, double tail, double *lead) {
  lead_line l = lead_line_of(a, b);
  ev_bracket in = {-LEAD_FAR, LEAD_FAR};
  double z = first_lead(a, b, tail);
  bool done = false;
  for (int i = 0; i < LEAD_STEPS && !done; i++) {
    double x = tanh(z / 2), length = fabs(z) < 1 ? 1 - fabs(x) : 2 / (1 + exp(fabs(z)));
    double ln = ln_chance_of_lead(&l, x, length), excess = ln - log(tail);
    double step = 2 * excess / (lead_falls(&l, ln) * length * (1 + fabs(x)));
    done = fabs(excess) <= LEAD_LN_TOLERANCE || fabs(step) <= LEAD_ROUNDING;
    z = done ? z + step : ev_bracket_next(&in, z, excess < 0, z + step);
  }
  *lead = tanh(z / 2);
  return done;
}

/* With 10^15 questions and a level of 1e-9 the bounds may be in either order. */
ev_status ev_diff(const double *counts, const ev_options *options, ev_host host, ev_interval *ci) {
  (void)host;
  ev_beta a = share_posterior(counts, options), b = share_posterior(counts + 2, options);
  double tail = ev_tail(options), a_lead, b_lead;
  assert(options->level > 0 && options->level < 1);
  if (!find_lead(&a, &b, tail, &a_lead) || !find_lead(&b, &a, tail, &b_lead))
    return EV_NOT_CONVERGED;
  *ci = (ev_interval){fmin(-b_lead, a_lead), fmax(-b_lead, a_lead)};
  return ev_interval_status(*ci);
}

/* Exchanging A and B negates every term exactly. */
ev_status ev_diff_clt(const double *c, const ev_options *options, ev_host host, ev_interval *ci) {
  (void)host;
  double a_wrong = c[1] - c[0], b_wrong = c[3] - c[2];
  double a_variance = c[0] / c[1] * (a_wrong / c[1]) / c[1];
  double b_variance = c[2] / c[3] * (b_wrong / c[3]) / c[3];
  double mean = ev_cross_difference(c[0], c[3], c[2], c[1]) / (c[1] * c[3]);
  *ci = ev_plus_minus(mean, ev_deviate(options) * sqrt(a_variance + b_variance));
  return ev_interval_status(*ci);
}
