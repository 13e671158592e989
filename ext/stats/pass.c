/*
** Questions attempted several times: pass@k, the chance that at least one of k attempts
** is right, and pass^k, the chance that all are.
**
**   1. A question with c right of n attempts has unbiased estimates of both for k <= n,
**      as of k attempts drawn from the n without replacement:
**      1 - C(n-c,k) / C(n,k) and C(c,k) / C(n,k).
**   2. The interval is that of the questions' mean estimate, by ev_mean.  No model of how
**      hard questions are enters, so that half of them always right and the others
**      a coin's toss are covered as well as any.
**
** References: Chen et al. 2021, arXiv:2107.03374 (pass@k); Yao et al. 2024,
** arXiv:2406.12045 (pass^k).
*/
#include "pass.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "logs.h"

/*
** ln of prod_{j<k} (a + j) / (a + b + j)
*/
enum { PASS_FACTORS = 32 }; /* factors multiplied one by one; Stirling's series for the others */

/* ln(part / (part + rest)), from the side that keeps its digits. */
static double ln_share(double part, double rest) {
  double whole = part + rest;
  return rest < part ? log1p(-rest / whole) : log(part / whole);
}

/* Stirling's series at a + b less that at a, for a >= 32; the next term is below 2e-17. */
static double stirling_change(double a, double b) {
  double u = 1 / (a + b), w = 1 / a, uw = u * w;
  double q3 = u * u + uw + w * w;
  double q5 = gsl_pow_4(u) + uw * q3 + gsl_pow_4(w);
  double q7 = gsl_pow_6(u) + uw * q5 + gsl_pow_6(w);
  return -b * uw * (1.0 / 12 - q3 / 360 + q5 / 1260 - q7 / 1680);
}

/* ln Gamma(a+b) - ln Gamma(a) - b ln(a+b), for a >= 32: with t = b/(a+b) it is
** (a+b) [-(1-t) ln(1-t) - t] and little more, where the linear terms cancel. */
static double ln_gamma_excess(double a, double b) {
  double z = a + b, t = b / z, ln = ln_share(a, b);
  double bent = t < 0.5 ? -t * t - a / z * ev_ln1p_less(-t) : -a / z * ln - t;
  return z * bent + ln / 2 + stirling_change(a, b);
}

static double ln_falling_ratio(double a, double b, double k) {
  double sum = 0, h = PASS_FACTORS;
  for (double j = 0; j < fmin(k, h); j++) sum += ln_share(a + j, b);
  if (k > h)
    sum += ln_gamma_excess(a + h, b) - ln_gamma_excess(a + k, b) - b * log1p((k - h) / (a + b + h));
  return sum;
}

/* One question: the chance that k attempts, drawn from n without replacement, avoid c of them.  k
** and c may be exchanged. */

/* The chance as a quotient of whole numbers, as long as a double holds both exactly. */
static bool exact_quotient(double c, double n, double k, double *above, double *below) {
  *above = *below = 1;
  for (double j = 0; j < fmin(c, k); j++) {
    *above *= fmax(0, n - fmax(c, k) - j);
    *below *= n - j;
    if (*below > 0x1p53) return false;
  }
  return true;
}

static double ln_chance_to_avoid(double c, double n, double k) {
  double few = fmin(c, k), many = fmax(c, k);
  return many > n - few ? -HUGE_VAL : ln_falling_ratio(n - many - few + 1, many, few);
}

/* A product of few factors keeps more digits than its logarithm. */
static double chance_to_avoid(double c, double n, double k) {
  double few = fmin(c, k), many = fmax(c, k), product = 1;
  if (few > 2 * PASS_FACTORS) return exp(ln_chance_to_avoid(c, n, k));
  for (double j = 0; j < few; j++) product *= fmax(0, n - many - j) / (n - j);
  return product;
}

double ev_pass_at_k_estimate(double c, double n, double k) {
  double above, below;
  if (exact_quotient(c, n, k, &above, &below)) return (below - above) / below;
  return 0 - expm1(ln_chance_to_avoid(c, n, k)); /* not -0 */
}

double ev_pass_hat_k_estimate(double c, double n, double k) {
  double above, below;
  if (exact_quotient(n - c, n, k, &above, &below)) return above / below;
  return chance_to_avoid(n - c, n, k);
}

static ev_status mean_estimate(const ev_cluster *questions, size_t count, const ev_options *options,
                               ev_host host, double (*estimate)(double c, double n, double k),
                               ev_interval *ci) {
  ev_score *scores = malloc(count * sizeof *scores);
  if (!scores) return EV_NO_MEMORY;
  for (size_t i = 0; i < count; i++) {
    double share = estimate(questions[i].k, questions[i].n, options->attempts);
    scores[i] = (ev_score){share, questions[i].times};
  }
  ev_options unit = {.level = options->level, .lo = 0, .hi = 1};
  ev_status status = ev_mean(scores, count, &unit, host, ci);
  free(scores);
  return status;
}

ev_status ev_pass_at_k(const ev_cluster *questions, size_t count, const ev_options *options,
                       ev_host host, ev_interval *ci) {
  return mean_estimate(questions, count, options, host, ev_pass_at_k_estimate, ci);
}

ev_status ev_pass_hat_k(const ev_cluster *questions, size_t count, const ev_options *options,
                        ev_host host, ev_interval *ci) {
  return mean_estimate(questions, count, options, host, ev_pass_hat_k_estimate, ci);
}
