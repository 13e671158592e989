/*
** Confidence sequences: the rates at which the likelihood of the data is more than
** 1 - level of its mean over a prior.
**
** Under the true rate that ratio, mean over likelihood, is a martingale that starts at 1,
** so the chance that it ever exceeds 1 / (1 - level) is at most 1 - level (Ville's
** inequality): the interval holds at every number of questions at once.  For a paired
** difference the likelihood is the largest that three cells, only A, only B and the rest,
** can have with that difference, which is no less than the true one's.
**
** In logarithms: with D = ln L(estimate) - ln L(rate), which is 0 at the estimate and
** convex, the interval is D < ln L(estimate) - ln mean + ln 1/(1-level).  The likelihood
** at the estimate is no less than its mean, so the right side is positive and the interval
** is never empty.
**
** Robbins, Ann. Math. Statist. 41 (1970) 1397; Howard, Ramdas, McAuliffe and Sekhon,
** Ann. Statist. 49 (2021) 1055.
*/
#include "anytime.h"

#include <assert.h>
#include <float.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_gamma.h>

#include "beta.h"
#include "logs.h"
#include "root.h"

/* The part of one cell in D: seen ln(estimate / p) + total (p - estimate).  The second terms sum to
** 0 over the cells, and make each part positive, so that nothing cancels however many questions
** there are. */
static double deviance(double seen, double total, double p) {
  double estimate = seen / total, u = (p - estimate) / estimate;
  if (seen == 0) return total * p;
  if (fabs(u) < 0.5) return -seen * ev_ln1p_less(u);
  return seen * (log(estimate) - log(p)) + total * (p - estimate);
}

/*
** One proportion
*/

/* ln L(estimate) - ln mean, which is a ratio of beta functions.  Each is a peak times two powers of
** its mean; the powers combine to the distances of the posterior's mean from the estimate and from
** the prior's mean. */
static double ln_gain(double k, double n, double a, double b) {
  ev_beta posterior = ev_beta_make(k + a, n - k + b), prior = ev_beta_make(a, b);
  double x = posterior.mean, y = posterior.comean;
  return posterior.ln_peak - prior.ln_peak + deviance(k, n, x) + deviance(n - k, n, y) +
         deviance(a, a + b, x) + deviance(b, a + b, y);
}

/* D as a function of the logit is convex, so Newton's method from beyond the root reaches it
** without passing it. */
enum { ANYTIME_STEPS = 100 };

/* The point below the estimate, k >= 1, at which D equals `most`. */
static bool lower_point(double k, double n, double most, ev_point *p) {
  /* D >= k ln(estimate / p) + (n-k) ln(1 - estimate) */
  double off = k < n ? (n - k) * log1p(-k / n) : 0;
  double t = log(k / n) - (most - off) / k;
  for (int i = 0; i < ANYTIME_STEPS; i++) {
    *p = ev_at_logit(t);
    if (p->x == 0) return true;
    double excess = deviance(k, n, p->x) + deviance(n - k, n, p->y) - most;
    double step = excess / (k - n * p->x);
    t += step;
    if (!(fabs(step) > 4 * DBL_EPSILON * fmax(1, fabs(t)))) {
      *p = ev_at_logit(t);
      return true;
    }
  }
  return false;
}

ev_status ev_anytime(const double *c, const ev_options *options, ev_host host, ev_interval *ci) {
  (void)host;
  double k = c[0], n = c[1], most = ln_gain(k, n, options->a, options->b) - log1p(-options->level);
  assert(k >= 0 && k <= n && n >= 1);
  ev_point lower = {0, 1}, upper = {0, 1};
  if ((k > 0 && !lower_point(k, n, most, &lower)) ||
      (k < n && !lower_point(n - k, n, most, &upper)))
    return EV_NOT_CONVERGED;
  *ci = (ev_interval){lower.x, upper.y};
  return ev_interval_status(*ci);
}

/*
** A paired difference
*/

/* The counts: pairs that A alone got right, B alone, and the rest. */
typedef struct triple {
  double a, b, rest, total;
} triple;

/* The smallest D with p_a - p_b = d, d at least 0, which maximizes the likelihood; p_b is a root of
** a quadratic. */
static double profile(triple t, double d) {
  double linear = (2 * t.total - t.a + t.b) * d - t.a - t.b, product = t.b * d * (1 - d);
  double root = sqrt(linear * linear + 8 * t.total * product);
  double p_b = linear > 0 ? 2 * product / (linear + root) : (root - linear) / (4 * t.total);
  double rest = fmax(0, 1 - d - 2 * p_b);
  return deviance(t.a, t.total, p_b + d) + deviance(t.b, t.total, p_b) +
         deviance(t.rest, t.total, rest);
}

static triple exchanged(triple t) {
  return (triple){t.b, t.a, t.rest, t.total};
}

/* The difference above the estimate at which D equals `most`, by bisection, to the last digit. */
static double upper_difference(triple t, double most) {
  ev_bracket in = {(t.a - t.b) / t.total, 1};
  double x = (in.low + in.high) / 2;
  for (int i = 0; i < 200 && in.high - in.low > DBL_EPSILON / 2 * fabs(in.high); i++) {
    double here = x < 0 ? profile(exchanged(t), -x) : profile(t, x);
    if (isnan(here)) return NAN;
    x = ev_bracket_next(&in, x, here >= most, NAN);
  }
  return in.high;
}

/* ln(n!) - (n ln n - n); 0 for n = 0. */
static double stirling(double n) {
  return n > 0 ? 0.5 * log(2 * M_PI * n) + log(gsl_sf_gammastar(n)) : 0;
}

ev_status ev_anytime_paired_diff(const double *c, const ev_options *options, ev_host host,
                                 ev_interval *ci) {
  (void)host;
  triple t = {c[1], c[2], c[0] + c[3], c[0] + c[1] + c[2] + c[3]};
  assert(t.total >= 1);
  /* The mean over Dirichlet(1,1,1) is 2 a! b! rest! / (n+2)!. */
  double gain = stirling(t.total) - stirling(fmin(t.a, t.b)) - stirling(fmax(t.a, t.b)) -
                stirling(t.rest) + log1p(t.total) + log1p(t.total / 2);
  double most = gain - log1p(-options->level);
  *ci = (ev_interval){-upper_difference(exchanged(t), most), upper_difference(t, most)};
  return ev_interval_status(*ci);
}
