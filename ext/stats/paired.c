/*
** Two models on the same questions: paired_density.c has the bivariate probit and its posterior
** of theta_A - theta_B.
**
**   1. Order the models so that A has no fewer wins, so that exchanging them repeats the same
**      arithmetic.
**   2. Find the posterior of z = atanh(theta_A - theta_B), or take it from the memo.
**   3. Bounds are tanh of its quantiles; P is its mass beyond atanh of the margin.
*/
#include "paired.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "beta.h"
#include "marginal.h"
#include "normal.h"

/* Every posterior is accurate at least to this tail, that of a level of 95%, so that an interval
** and a P share one posterior.  References of P that were met with a tail of 0.001 are met with
** this as well. */
static const double PAIRED_TAIL = 0.025;

void ev_paired_forget(ev_paired_memo *memo) {
  free(memo->posterior);
  memo->posterior = NULL;
}

static bool memo_has(const ev_paired_memo *memo, const double *c, double tail) {
  return memo->posterior && memcmp(memo->counts, c, sizeof memo->counts) == 0 && memo->tail == tail;
}

/* Leaves in the memo the posterior of delta, in the order in which A has no fewer wins, so
** that exchanging the models repeats the same arithmetic. */
static ev_status find_posterior(const double *c, double tail, ev_paired_memo *memo) {
  double ordered[] = {c[0], fmax(c[1], c[2]), fmin(c[1], c[2]), c[3]};
  tail = fmin(tail, PAIRED_TAIL);
  if (memo_has(memo, ordered, tail)) return EV_OK;
  if (!memo->posterior) memo->posterior = malloc(sizeof *memo->posterior);
  if (!memo->posterior) return EV_NO_MEMORY;
  ev_status status = ev_paired_posterior(ordered, tail, memo->posterior);
  memcpy(memo->counts, ordered, sizeof ordered);
  memo->tail = status == EV_OK ? tail : NAN;
  return status;
}

static void assert_pairs(const double *c) {
  assert(c[0] >= 0 && c[1] >= 0 && c[2] >= 0 && c[3] >= 0);
  assert(c[0] + c[1] + c[2] + c[3] >= 1);
  (void)c;
}

static ev_status interval_of(const ev_marginal *m, const double *c, double tail, ev_interval *ci) {
  ev_interval z;
  ev_status status = ev_marginal_interval(m, tail, &z);
  if (status != EV_OK) return status;
  double hi = tanh(z.hi), lo = c[1] == c[2] ? -hi : tanh(z.lo);
  *ci = c[1] >= c[2] ? (ev_interval){lo, hi} : (ev_interval){-hi, -lo};
  return ev_interval_status(*ci);
}

ev_status ev_paired_diff(const double *c, const ev_options *options, ev_host host,
                         ev_interval *ci) {
  ev_paired_memo own = {.posterior = NULL}, *memo = host.memo ? host.memo : &own;
  double tail = ev_tail(options);
  assert_pairs(c);
  assert(options->level > 0 && options->level < 1);
  ev_status status = find_posterior(c, tail, memo);
  if (status == EV_OK) status = interval_of(memo->posterior, c, tail, ci);
  ev_paired_forget(&own);
  return status;
}

static double share_beyond(const ev_marginal *m, double margin, bool exchanged) {
  double z = atanh(margin), above = ev_marginal_beyond(m, z, true);
  bool mostly_above = above > 0.5;
  double smaller = mostly_above ? ev_marginal_beyond(m, z, false) : above;
  smaller = ev_with_exact_complement(smaller);
  return mostly_above != exchanged ? 1 - smaller : smaller;
}

/* If both have the same number of wins, the order in which the margin is not negative: exchanging
** the models and the margin's sign repeats the same arithmetic. */
ev_status ev_paired_prob_better(const double *c, const ev_options *options, ev_host host,
                                double *p) {
  ev_paired_memo own = {.posterior = NULL}, *memo = host.memo ? host.memo : &own;
  bool exchanged = c[1] != c[2] ? c[1] < c[2] : options->margin < 0;
  double margin = exchanged ? -options->margin : options->margin;
  assert_pairs(c);
  assert(fabs(margin) <= 1);
  *p = 0.5;
  if (c[1] == c[2] && margin == 0) return EV_OK;
  ev_status status = find_posterior(c, PAIRED_TAIL, memo);
  if (status == EV_OK) *p = share_beyond(memo->posterior, margin, exchanged);
  ev_paired_forget(&own);
  return status == EV_OK && isnan(*p) ? EV_NOT_CONVERGED : status;
}

/* n^2 times the variance, (only_a + only_b) n - (only_a - only_b)^2, in the form that does
** not cancel where nearly all pairs are discordant. */
ev_status ev_paired_diff_clt(const double *c, const ev_options *options, ev_host host,
                             ev_interval *ci) {
  (void)host;
  double n = c[0] + c[1] + c[2] + c[3], discordant = c[1] + c[2], concordant = c[0] + c[3];
  assert_pairs(c);
  assert(options->level > 0 && options->level < 1);
  double variance = 4 * (c[1] / n) * (c[2] / n) + discordant / n * (concordant / n);
  *ci = ev_plus_minus((c[1] - c[2]) / n, ev_deviate(options) * sqrt(variance / n));
  return ev_interval_status(*ci);
}
