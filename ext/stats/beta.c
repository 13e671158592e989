/*
** The beta distribution: density, distribution function, quantile.
**
** GSL 2.7.1 has all three, and they are measured to be unfit here:
** gsl_cdf_beta_Pinv returns NaN at Beta(5001,5001), p = 0.005 and never
** returns at Beta(1e9,1e9), p = 0.025; gsl_cdf_beta_P drifts to 1e-9 at
** n = 10^6 and is NaN near the centre from n = 10^8.  The parts that are sound
** (gammastar, ln(1+x)-x, the normal quantile) are GSL's.
**
** Everything is written around the density of t = logit(x),
**
**     w(x) = x^a y^b / B(a,b),   y = 1 - x,
**
** because it is log-concave for every a, b > 0 (that of x is not below 1), and
** because it gives the two pieces a quantile needs: dP/dt = w, and
** d(ln w)/dt = a y - b x.  A tail is computed as a ratio to w, so it cannot
** underflow before its logarithm is taken.
**
** References:
**   Loader, "Fast and accurate computation of binomial probabilities", 2000:
**     the density as a deviance from its peak, with no large terms to cancel.
**   DiDonato and Morris, ACM TOMS 18 (1992) 360-373 (TOMS 708), equation 9:
**     the continued fraction; power series in section 3.
**   Abramowitz and Stegun 26.5.22: where the quantile search starts.
*/
#include "beta.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_gamma.h>

#include "lanes.h"
#include "logs.h"
#include "root.h"

ev_point ev_ln_from(ev_point from, double away) {
  ev_point by = {away < 700 ? log1p(from.x * expm1(away)) : away + log(from.x),
                 away > -700 ? log1p(from.y * expm1(-away)) : log(from.y) - away};
  return (ev_point){-by.y, -by.x};
}

/* What a + b loses in rounding; both positive. */
static double lost_in_sum(double a, double b) {
  return fmin(a, b) - ((a + b) - fmax(a, b));
}

ev_beta ev_beta_make(double a, double b) {
  assert(a > 0 && b > 0 && isfinite(a) && isfinite(b));
  ev_beta d = {.a = a, .b = b};
  d.mean = a / (a + b);
  d.comean = b / (a + b);
  double sum = a + b, lost = lost_in_sum(a, b);
  d.rest = (ev_point){(fma(-d.mean, sum, a) - d.mean * lost) / sum,
                      (fma(-d.comean, sum, b) - d.comean * lost) / sum};
  /* B(a,b) by Stirling's formula: the powers cancel against the peak's and
  ** leave the three correction factors. */
  d.ln_peak = 0.5 * (log(d.mean) + log(b) - log(2 * M_PI)) +
              log(gsl_sf_gammastar(a + b) / gsl_sf_gammastar(a) / gsl_sf_gammastar(b));
  return d;
}

ev_beta ev_beta_posterior(double a, double b, double k, double m) {
  ev_beta d = ev_beta_make(a + k, b + m);
  double shift = d.comean * lost_in_sum(a, k) - d.mean * lost_in_sum(b, m);
  d.rest.x += shift / (d.a + d.b);
  d.rest.y -= shift / (d.a + d.b);
  return d;
}

double ev_beta_deviation(const ev_beta *d, ev_point t) {
  return t.x <= t.y ? (t.x - d->mean) - d->rest.x : (d->comean - t.y) + d->rest.y;
}

/* shape * ln(x / mean) - sum * dx, where dx = x - mean.  The linear part goes
** because near the mean it is large and the two axes' parts cancel exactly. */
static double beta_bent_log(double shape, double x, double mean, double dx, double sum) {
  double u = dx / mean;
  if (fabs(u) < 0.5) return shape * ev_ln1p_less(u);
  return shape * (log(x) - log(mean)) - sum * dx;
}

double ev_beta_ln_logit_density(const ev_beta *d, ev_point t) {
  double dx = ev_beta_deviation(d, t), sum = d->a + d->b;
  return d->ln_peak + beta_bent_log(d->a, t.x, d->mean, dx, sum) +
         beta_bent_log(d->b, t.y, d->comean, -dx, sum);
}

double ev_beta_negligible_beyond(const ev_beta *d, double side, double ln_drop) {
  double peak = log(d->a / d->b), least = d->ln_peak - ln_drop;
  ev_bracket in = {0, 1 / sqrt(d->a * d->comean)};
  for (; ev_beta_ln_logit_density(d, ev_at_logit(peak + side * in.high)) > least; in.high *= 2)
    in.low = in.high;
  for (double x = (in.low + in.high) / 2; in.high - in.low > 0.01 * in.high;) {
    double ln = ev_beta_ln_logit_density(d, ev_at_logit(peak + side * x));
    x = ev_bracket_next(&in, x, ln <= least, NAN);
  }
  return peak + side * in.high;
}

/*
** Three methods for the ratio P/w of the lower tail of Beta(a,b) to w.  The upper
** tail is the lower tail of the mirrored distribution.  A series or fraction
** that has not converged gives NaN.
*/

/* The power series in x.  Its terms alternate in sign when b > 1, which costs
** no digits while b x < 1.  It is used up to x = 0.7, where 97 terms were the most
** seen in a million random calls: 0.7^100 is 3e-16. */
enum { BETA_SERIES_TERMS = 200 };

static double beta_ratio_by_series(const ev_beta *d, ev_point t) {
  double term = 1, sum = 1 / d->a;
  for (int i = 1; i < BETA_SERIES_TERMS; i++) {
    term *= (i - d->b) / i * t.x;
    double add = term / (d->a + i);
    sum += add;
    if (fabs(add) <= 0.25 * DBL_EPSILON * sum) return sum * exp(-d->b * log1p(-t.x));
  }
  return NAN;
}

/* The continued fraction, below the mean.  lambda = a y - b x comes from the
** ev_beta_deviation, never from that difference: this is what keeps large a and b
** exact.  It is longest at the mean of equal shapes: 175 terms were the most seen in a
** million random calls below BETA_LARGE_SHAPE. */
enum { BETA_FRACTION_TERMS = 1000 };

static double beta_ratio_by_fraction(const ev_beta *d, ev_point t) {
  double a = d->a, b = d->b, sum = a + b;
  double lambda = -sum * ev_beta_deviation(d, t);
  double num0 = 0, num1 = 1, den0 = 1, den1 = a * (lambda + 1) / (a + 1);
  double ratio = 1 / den1;
  for (int m = 1; m < BETA_FRACTION_TERMS; m++) {
    double r = 1 / (a + 2 * m - 1);
    double w = m * (b - m) * t.x * r;
    double alpha = (a + m - 1) * ((sum + m - 1) * r) * (w * t.x);
    double beta = m + w + (a + m) * (lambda + 1 + m * (1 + t.y)) / (a + 2 * m + 1);
    double num = beta * num1 + alpha * num0, den = beta * den1 + alpha * den0;
    double last = ratio;
    ratio = num / den;
    if (fabs(ratio - last) <= 0.5 * DBL_EPSILON * fabs(ratio)) return ratio;
    /* Scale by the newest denominator: the recurrence is homogeneous. */
    num0 = num1 / den;
    den0 = den1 / den;
    num1 = ratio;
    den1 = 1;
  }
  return NAN;
}

/* The positive ones of 24 Gauss-Legendre nodes on [-1,1], and their weights. */
enum { BETA_GROUPS = 3 };

static const double beta_nodes[BETA_GROUPS * EV_LANES] = {
    0.064056892862605626085, 0.19111886747361630916, 0.31504267969616337439,
    0.43379350762604513849,  0.54542147138883953566, 0.64809365193697556925,
    0.74012419157855436424,  0.82000198597390292195, 0.88641552700440103421,
    0.93827455200273275852,  0.9747285559713094982,  0.99518721999702136018};
static const double beta_weights[BETA_GROUPS * EV_LANES] = {
    0.12793819534675215697,  0.12583745634682829612,  0.1216704729278033912,
    0.11550566805372560135,  0.10744427011596563478,  0.09761865210411388827,
    0.086190161531953275917, 0.073346481411080305734, 0.059298584915436780746,
    0.044277438817419806169, 0.028531388628933663181, 0.012341229799987199547};

/* The density itself, integrated from the point outward on its own scale: for
** shapes so large that it is nearly normal and the fraction is long.  Its logarithm falls by
** rate v + bend v^2 / 2, and a little.  The linear part is taken from the ev_beta_deviation: as
** two parts it is large, and they cancel. */
EV_WIDE static double beta_ratio_by_quadrature(const ev_beta *d, ev_point t) {
  double a = d->a - 1, b = d->b - 1;
  double rate = -((d->a + d->b) * ev_beta_deviation(d, t) + (t.y - t.x)) / (t.x * t.y);
  double bend = a / t.x / t.x + b / t.y / t.y;
  /* Where rate v + bend v^2 / 2 is 45: exp(-45) of the starting density, and well under eps of
  ** the tail. */
  double range = fmin(90 / (sqrt(rate * rate + 90 * bend) + rate), t.x);
  ev_lanes sum = {0};
  for (int i = 0; i < 2 * BETA_GROUPS; i++) {
    int from = i % BETA_GROUPS * EV_LANES;
    ev_lanes node = *(const ev_lanes_of *)(beta_nodes + from);
    ev_lanes weight = *(const ev_lanes_of *)(beta_weights + from);
    ev_lanes v = range / 2 * (i < BETA_GROUPS ? 1 - node : 1 + node);
    ev_lanes below = v / -t.x, above = v / t.y;
    ev_log1p_less(&below, 1);
    ev_log1p_less(&above, 1);
    ev_lanes ln = a * below + b * above - rate * v;
    ev_exp(&ln, 1);
    sum += weight * ln;
  }
  return range / 2 * ev_sum(&sum) / (t.x * t.y);
}

/* Above this the quadrature is the faster, and its range is safe: the skewness
** is under 0.04. */
static const double BETA_LARGE_SHAPE = 3000;

/* One tail at t, whichever is direct, as a ratio to w. */
typedef struct beta_tail {
  bool lower;
  double ratio;
} beta_tail;

/* The distribution of 1 - X. */
static ev_beta beta_mirror(const ev_beta *d) {
  return (ev_beta){d->b, d->a, d->comean, d->mean, {d->rest.y, d->rest.x}, d->ln_peak};
}

static beta_tail beta_direct_tail(const ev_beta *d, ev_point t) {
  ev_beta mirror = beta_mirror(d);
  ev_point mirrored = {t.y, t.x};
  if (d->b * t.x <= 0.7 && t.x <= 0.7) return (beta_tail){true, beta_ratio_by_series(d, t)};
  if (d->a * t.y <= 0.7 && t.y <= 0.7)
    return (beta_tail){false, beta_ratio_by_series(&mirror, mirrored)};
  double (*ratio)(const ev_beta *, ev_point) =
      fmin(d->a, d->b) > BETA_LARGE_SHAPE ? beta_ratio_by_quadrature : beta_ratio_by_fraction;
  if (ev_beta_deviation(d, t) <= 0) return (beta_tail){true, ratio(d, t)};
  return (beta_tail){false, ratio(&mirror, mirrored)};
}

ev_point ev_beta_ln_cdf(const ev_beta *d, ev_point t) {
  if (t.x <= 0) return (ev_point){-HUGE_VAL, 0};
  if (t.y <= 0) return (ev_point){0, -HUGE_VAL};
  beta_tail u = beta_direct_tail(d, t);
  if (isnan(u.ratio)) return (ev_point){NAN, NAN};
  double ln_p = fmin(0, ev_beta_ln_logit_density(d, t) + log(u.ratio));
  return u.lower ? (ev_point){ln_p, log1p(-exp(ln_p))} : (ev_point){log1p(-exp(ln_p)), ln_p};
}

ev_point ev_beta_cdf(const ev_beta *d, ev_point t) {
  ev_point ln = ev_beta_ln_cdf(d, t);
  if (ln.x <= ln.y) return (ev_point){exp(ln.x), -expm1(ln.x)};
  return (ev_point){-expm1(ln.y), exp(ln.y)};
}

ev_point ev_at_logit(double t) {
  return (ev_point){1 / (1 + exp(-t)), 1 / (1 + exp(t))};
}

/* A first guess at the logit of the lower p-quantile, by Abramowitz and Stegun 26.5.22, which needs
** shapes above a half. */
static double beta_guess_logit(const ev_beta *d, double p) {
  double z = gsl_cdf_ugaussian_Pinv(p);
  double ra = 1 / (2 * fmax(d->a, 0.75) - 1), rb = 1 / (2 * fmax(d->b, 0.75) - 1);
  double h = 2 / (ra + rb), lambda = (z * z - 3) / 6;
  double w = -z * sqrt(fmax(0, h + lambda)) / h - (rb - ra) * (lambda + 5.0 / 6 - 2 / (3 * h));
  return log(d->a) - log(d->b) - 2 * w;
}

/* The lower tail at t: its logarithm, and its ratio to w. */
typedef struct beta_lower {
  double ln_P, ratio;
} beta_lower;

static beta_lower beta_lower_at(const ev_beta *d, ev_point t) {
  double ln_w = ev_beta_ln_logit_density(d, t);
  beta_tail u = beta_direct_tail(d, t);
  if (u.lower) return (beta_lower){ln_w + log(u.ratio), u.ratio};
  double w = exp(ln_w), P = 1 - u.ratio * w;
  if (P < DBL_MIN) P = DBL_MIN;
  return (beta_lower){log(P), P / fmax(w, DBL_MIN)};
}

/* One step of Newton's method for ln P = ln_p on the logit, with Halley's correction, which makes
** convergence cubic, where that is safe.  True if the remaining error, cubic in the step, is
** negligible; for a short step, so is its rounding. */
static bool beta_quantile_step(const ev_beta *d, double ln_p, ev_point *t) {
  beta_lower at = beta_lower_at(d, *t);
  double bend = -(d->a + d->b) * ev_beta_deviation(d, *t) - 1 / at.ratio;
  double step = at.ratio * (ln_p - at.ln_P);
  double halley = step / (1 + 0.5 * step * bend);
  if (fabs(step * bend) < 0.5) step = halley;
  double odds = t->x * exp(step);
  *t = (ev_point){odds / (t->y + odds), t->y / (t->y + odds)};
  double curvature = bend * bend + (d->a + d->b) * t->x * t->y;
  return fabs(step) < 0.1 && fabs(step) * step * step * curvature < 0.1 * DBL_EPSILON;
}

/* The quantile if b is so small, as under a prior of 1e-15, that it rounds to 1.  There the upper
** tail is y^b / (b B), and the lower tail, which is 1 minus that, has no digits for Newton's
** method.  b B(a,b) is Gamma(1+b) Gamma(a) / Gamma(a+b).  False if the quantile is not that close
** to 1. */
static bool beta_quantile_at_end(const ev_beta *d, double p, ev_point *t) {
  double ln_bB = gsl_sf_lngamma(1 + d->b) - gsl_sf_lnpoch(d->a, d->b);
  double y = exp((log1p(-p) + ln_bB) / d->b);
  if (!(y < DBL_EPSILON / 8)) return false;
  *t = (ev_point){1, y};
  return true;
}

/* The lower p-quantile, p <= 1/2.  ln P is concave in the logit, so Newton's
** method lands left of the root from anywhere and then climbs to it: it cannot
** diverge. */
enum { BETA_QUANTILE_STEPS = 50 };

static bool beta_lower_quantile(const ev_beta *d, double p, ev_point *x) {
  double ln_p = log(p);
  /* P <= e^(a t) / (a B): the root is never left of this, and in the far tail
  ** it is exactly here. */
  double ln_B = d->a * log(d->mean) + d->b * log(d->comean) - d->ln_peak;
  double floor_logit = (ln_p + log(d->a) + ln_B) / d->a;
  ev_point t = ev_at_logit(fmax(floor_logit, beta_guess_logit(d, p)));
  bool converged = false;
  for (int i = 0; i < BETA_QUANTILE_STEPS && !converged && t.x > 0 && t.y > 0; i++)
    converged = beta_quantile_step(d, ln_p, &t);
  if (!converged) converged = beta_quantile_at_end(d, p, &t);
  /* A root that underflows is the end of [0,1], or has no digits to settle. */
  if (!converged && !(fmin(t.x, t.y) < DBL_MIN)) return false;
  *x = t.x < t.y ? (ev_point){t.x, 1 - t.x} : (ev_point){1 - t.y, t.y};
  return true;
}

bool ev_beta_quantile(const ev_beta *d, ev_point p, ev_point *x) {
  assert(p.x >= 0 && p.y >= 0);
  if (p.x <= 0 || p.y <= 0) {
    *x = (ev_point){p.x > 0, p.y > 0};
    return true;
  }
  if (p.x <= p.y) return beta_lower_quantile(d, p.x, x);
  ev_beta mirror = beta_mirror(d);
  ev_point t;
  if (!beta_lower_quantile(&mirror, p.y, &t)) return false;
  *x = (ev_point){t.y, t.x};
  return true;
}
