/*
** The odds ratio by inverting Fisher's exact test.
**
** Given both margins, the number X of A's right answers is noncentral
** hypergeometric, f(j) proportional to C(n_a, j) C(n_b, m-j) psi^j, and the
** lower bound is the psi at which P(X >= k_a) is half of what the level leaves
** out.  The upper bound is the reciprocal of the lower bound of the table with
** right and wrong exchanged.
**
** Sums are run outward from k_a until their terms vanish, which takes some
** standard deviations of X; beyond some thousand of them they become an
** integral with the first two Euler-Maclaurin corrections, whose error falls as
** the fifth power of the standard deviation.
*/
#include "fisher.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>

#include "beta.h"
#include "marginal.h"
#include "root.h"

/* The observed cells: A's right and wrong answers, and B's.  A table is described by its X - a,
** because sums of cells can need more digits than a double has. */
typedef struct fisher_table {
  double a, b, c, d;
  double tail; /* what P(X >= a) is to be */
  double psi;
} fisher_table;

/* f(a+j+1) / f(a+j); 0 at the greatest X, and infinite below the least. */
static double fisher_ratio(const fisher_table *t, double j) {
  return t->psi * ((t->b - j) / (t->a + j + 1)) * ((t->c - j) / (t->d + j + 1));
}

/* The sum of f above a, or below it, relative to f(a).  A sum that passes 1e290 is abandoned: the
** tail then is so far from the wanted one that only its side matters. */
static double fisher_sum_beyond(const fisher_table *t, bool above) {
  double sum = 0, term = 1;
  for (double j = 0; term > 1e-17 * (1 + sum) && sum < 1e290; j++)
    sum += term = above ? term * fisher_ratio(t, j) : term / fisher_ratio(t, -j - 1);
  return sum;
}

/* ln f(a+j) at any real j, relative to its value at the mean: as two binomial
** probabilities, whose own means are there. */
typedef struct fisher_continuous {
  const fisher_table *table;
  double mean;
} fisher_continuous;

/* For x right answers and y wrong ones, of which `right` and `wrong` are expected. */
static double fisher_ln_binomial(double x, double y, double right, double wrong) {
  double n = right + wrong, p = right / n, q = wrong / n;
  if (x <= 0) return n * log(q);
  if (y <= 0) return n * log(p);
  ev_beta d = ev_beta_make(x, y);
  return ev_beta_ln_logit_density(&d, (ev_point){p, q}) + log(n / x / y);
}

static double fisher_ln_f(double j, void *context) {
  const fisher_continuous *s = context;
  const fisher_table *t = s->table;
  return fisher_ln_binomial(t->a + j, t->b - j, t->a + s->mean, t->b - s->mean) +
         fisher_ln_binomial(t->c - j, t->d + j, t->c - s->mean, t->d + s->mean);
}

/* The mode of X, less a, at which fisher_ratio() passes 1, neglecting 1 beside large numbers: by
** bisection, to the last digit. */
static double fisher_mode(const fisher_table *t) {
  ev_bracket in = {-fmin(t->a, t->d), fmin(t->b, t->c)};
  double j = 0, last = NAN;
  while (j != last) {
    bool too_high = t->psi * (t->b - j) * (t->c - j) < (t->a + j) * (t->d + j);
    last = j;
    j = ev_bracket_next(&in, j, too_high, NAN);
  }
  return j;
}

/* ln P(X >= a) by the integral of f above a - 1/2, with the midpoint rule's first two
** corrections: 1/24 of the derivative, and -7/5760 of the third derivative, approximated by the
** cube of the slope, because it matters only far out, and from FISHER_INTEGRAL_SD on it is at
** most 1e-15 of the tail.  NaN if the integral does not converge; 440 was the largest number
** of evaluations observed. */
static double fisher_ln_tail_by_integral(const fisher_table *t, double sd) {
  fisher_continuous s = {t, fisher_mode(t)};
  double edge = -0.5;
  ev_search search = {.ln_density = fisher_ln_f,
                      .context = &s,
                      .start = s.mean,
                      .width = 7 * sd,
                      .bounded = true,
                      .least = -fmin(t->a, t->d),
                      .most = fmin(t->b, t->c),
                      .has_corner = true,
                      .corner = edge,
                      .ln_drop = 40 - log(t->tail),
                      .tolerance = 1e-11,
                      .tail = t->tail,
                      .budget = 1600};
  ev_marginal m;
  if (ev_marginal_find(&m, &search) != EV_OK) return NAN;
  double slope = log(fisher_ratio(t, -1));
  double correction = exp(fisher_ln_f(edge, &s) - ev_marginal_ln_total(&m)) *
                      (slope / 24 - 7 * slope * slope * slope / 5760);
  return log(ev_marginal_beyond(&m, edge, true) + correction);
}

/* From this standard deviation of X on tails are integrals. */
static const double FISHER_INTEGRAL_SD = 3000;

static double fisher_ln_tail_by_sum(const fisher_table *t) {
  double up = 1 + fisher_sum_beyond(t, true);
  return log(up) - log(up + fisher_sum_beyond(t, false));
}

/* ln P(X >= a) at ln(psi). */
static double fisher_ln_tail(const fisher_table *given, double ln_psi, double sd) {
  fisher_table t = *given;
  t.psi = exp(ln_psi);
  return sd > FISHER_INTEGRAL_SD ? fisher_ln_tail_by_integral(&t, sd) : fisher_ln_tail_by_sum(&t);
}

/* About the standard deviation of X, where the cells are as observed. */
static double fisher_sd(const fisher_table *t) {
  return 1 / sqrt(1 / (t->a + 0.5) + 1 / (t->b + 0.5) + 1 / (t->c + 0.5) + 1 / (t->d + 0.5));
}

double ev_fisher_ln_tail(const double *cells, double ln_psi, double tail, bool by_integral) {
  fisher_table t = {cells[0], cells[1], cells[2], cells[3], tail, exp(ln_psi)};
  return by_integral ? fisher_ln_tail_by_integral(&t, fisher_sd(&t)) : fisher_ln_tail_by_sum(&t);
}

/* The ln(psi) at which P(X >= a) is the tail: the secant method in a bracket, from where a normal
** log odds ratio would have its bound.  A sum left at 1e290 tells no more than the side, so a step
** goes to that side, and no further than 1.5 times the step before could have gone.  12 steps were
** the most in 49,000 random tables of up to 10^15 answers. */
enum { FISHER_STEPS = 200 };
static const double FISHER_LN_TOLERANCE = 1e-13;

static bool fisher_ln_lower(const fisher_table *t, double *ln_psi) {
  const double cells[] = {t->a, t->b, t->c, t->d};
  double odds = 0, sd = fisher_sd(t), reach = 1 / sd, last = NAN, excess_last = NAN;
  for (int i = 0; i < 4; i++) odds += (i == 0 || i == 3 ? 1 : -1) * log(cells[i] + 0.5);
  ev_bracket in = {-HUGE_VAL, HUGE_VAL};
  *ln_psi = odds - gsl_cdf_ugaussian_Qinv(t->tail) * reach;
  for (int i = 0; i < FISHER_STEPS; i++, reach *= 1.5) {
    double x = *ln_psi, excess = fisher_ln_tail(t, x, sd) - log(t->tail);
    double step =
        copysign(fmin(reach, fabs(excess * (x - last) / (excess - excess_last))), -excess);
    if (isnan(excess)) return false;
    *ln_psi = x + step;
    if (fabs(excess) < FISHER_LN_TOLERANCE || fabs(step) < 1e-15 * (1 + fabs(x))) return true;
    *ln_psi = ev_bracket_next(&in, x, excess > 0, x + step);
    last = x;
    excess_last = excess;
  }
  return false;
}

ev_status ev_fisher_or(const double *c, const ev_options *options, ev_host host, ev_interval *ci) {
  (void)host;
  double tail = ev_tail(options), ln_psi;
  double a_wrong = c[1] - c[0], b_wrong = c[3] - c[2];
  assert(c[0] >= 0 && a_wrong >= 0 && c[1] >= 1 && c[2] >= 0 && b_wrong >= 0 && c[3] >= 1);
  assert(options->level > 0 && options->level < 1);
  fisher_table t = {c[0], a_wrong, c[2], b_wrong, tail, 1};
  fisher_table wrong = {a_wrong, c[0], b_wrong, c[2], tail, 1};
  *ci = (ev_interval){0, HUGE_VAL};
  if (c[0] > 0 && b_wrong > 0) {
    if (!fisher_ln_lower(&t, &ln_psi)) return EV_NOT_CONVERGED;
    ci->lo = exp(ln_psi);
  }
  if (a_wrong > 0 && c[2] > 0) {
    if (!fisher_ln_lower(&wrong, &ln_psi)) return EV_NOT_CONVERGED;
    ci->hi = exp(-ln_psi);
  }
  return ev_interval_status(*ci);
}
