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
#include "unpaired.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "beta.h"
#include "marginal.h"

/* The cells observed: A's right and wrong answers, and B's.  Everything is told by
** how much larger than a another X would be, for their sums can need more digits
** than a double has. */
typedef struct table {
  double a, b, c, d;
  double tail; /* what P(X >= a) is to be */
  double psi;
} table;

/* f(a+j+1) / f(a+j) */
static double ratio(const table *t, double j) {
  return t->psi * ((t->b - j) / (t->a + j + 1)) * ((t->c - j) / (t->d + j + 1));
}

/* The sums of f over [a, ..) and over (.., a), relative to f(a). */
static double sum_up(const table *t) {
  double sum = 1, term = 1;
  for (double j = 0; term > 1e-17 * sum && sum < 1e290; j++) sum += term *= ratio(t, j);
  return sum;
}

static double sum_down(const table *t) {
  double sum = 0, term = 1;
  for (double j = 0; t->a + j > 0 && sum < 1e290; j--) {
    double r = ratio(t, j - 1);
    if (r == 0) break;
    sum += term /= r;
    if (term <= 1e-17 * sum) break;
  }
  return sum;
}

/* ln f(a+j) at any real j, relative to its value at the mean: as two binomial
** probabilities, whose own means are there. */
typedef struct smooth {
  const table *table;
  double mean;
} smooth;

/* Of x right answers and y wrong ones, expected to be `right` and `wrong`. */
static double ln_binomial(double x, double y, double right, double wrong) {
  double n = right + wrong, p = right / n, q = wrong / n;
  if (x <= 0) return n * log(q);
  if (y <= 0) return n * log(p);
  ev_beta d = ev_beta_make(x, y);
  return ev_beta_ln_logit_density(&d, (ev_point){p, q}) + log(n / x / y);
}

static double ln_f(double j, void *context) {
  const smooth *s = context;
  const table *t = s->table;
  return ln_binomial(t->a + j, t->b - j, t->a + s->mean, t->b - s->mean) +
         ln_binomial(t->c - j, t->d + j, t->c - s->mean, t->d + s->mean);
}

/* The smallest cell j of a table where ratio() passes 1, but for the ones beside
** large numbers: a root of (psi-1) j^2 - s j + c, in the form that does not cancel.
** The other root is twice as large at the least.  Given are the cells observed: it,
** its mates in row and column, and the one opposite. */
static double cell_at_mode(double cell, double row, double column, double opposite, double psi) {
  double n = cell + row, m = cell + column, s = (n + m) * psi + (opposite - cell), c = psi * n * m;
  double root = sqrt(fmax(0, s * s - 4 * (psi - 1) * c));
  return s > 0 ? 2 * c / (s + root) : (s - root) / 2 / (psi - 1);
}

/* The mode of X, less a: as much as the smallest cell moves. */
static double mode(const table *t) {
  double a = t->a, b = t->b, c = t->c, d = t->d, psi = t->psi;
  if (a <= fmin(b, fmin(c, d))) return cell_at_mode(a, b, c, d, psi) - a;
  if (d <= fmin(b, c)) return cell_at_mode(d, c, b, a, psi) - d;
  if (b <= c) return b - cell_at_mode(b, a, d, c, 1 / psi);
  return c - cell_at_mode(c, d, a, b, 1 / psi);
}

static double ln_tail_by_integral(const table *t, double sd) {
  smooth s = {t, mode(t)};
  double edge = -0.5;
  ev_marginal m;
  ev_marginal_find(&m, &(ev_search){.ln_density = ln_f,
                                    .context = &s,
                                    .start = s.mean,
                                    .width = 7 * sd,
                                    .least = -fmin(t->a, t->d),
                                    .most = fmin(t->b, t->c),
                                    .corner = edge,
                                    .cut = 40 - log(t->tail),
                                    .tolerance = 1e-11,
                                    .tail = t->tail,
                                    .budget = 1600});
  double slope = log(ratio(t, -1));
  double correction = exp(ln_f(edge, &s) - ev_marginal_ln_total(&m)) *
                      (slope / 24 - 7 * slope * slope * slope / 5760);
  return log(ev_marginal_above(&m, edge) + correction);
}

/* ln P(X >= a) at ln(psi). */
static double ln_tail(const table *given, double ln_psi, double sd) {
  table t = *given;
  t.psi = exp(ln_psi);
  if (sd > 3000) return ln_tail_by_integral(&t, sd);
  double up = sum_up(&t), down = sum_down(&t);
  return log(up) - log(up + down);
}

/* The ln(psi) at which P(X >= a) is the tail: regula falsi in a bracket, halving
** the weight of an end that stays (the Illinois rule). */
static double ln_lower(const table *t) {
  const double cells[] = {t->a, t->b, t->c, t->d};
  double inverse = 0, odds = 0;
  for (int i = 0; i < 4; i++) inverse += 1 / (cells[i] + 0.5);
  for (int i = 0; i < 4; i++) odds += (i == 0 || i == 3 ? 1 : -1) * log(cells[i] + 0.5);
  double sd = 1 / sqrt(inverse), step = sqrt(inverse), wanted = log(t->tail);
  double least = odds - gsl_cdf_ugaussian_Qinv(t->tail) * step, most = least;
  double below = ln_tail(t, least, sd) - wanted, above = below;
  for (int i = 0; i < 200 && below > 0; i++, step *= 1.5) {
    most = least;
    above = below;
    below = ln_tail(t, least -= step, sd) - wanted;
  }
  for (int i = 0; i < 200 && above <= 0; i++, step *= 1.5) {
    least = most;
    below = above;
    above = ln_tail(t, most += step, sd) - wanted;
  }
  for (int i = 0, stayed = 0; i < 100; i++) {
    double next = (least * above - most * below) / (above - below);
    double there = ln_tail(t, next, sd) - wanted;
    if (fabs(there) < 1e-14 || most - least < 1e-15 * (1 + fabs(next))) return next;
    if (there < 0) {
      least = next;
      below = there;
      if (stayed < 0) above /= 2;
      stayed = -1;
    } else {
      most = next;
      above = there;
      if (stayed > 0) below /= 2;
      stayed = 1;
    }
  }
  return (least + most) / 2;
}

ev_interval ev_fisher_or(const double *c, const ev_options *options) {
  double tail = ev_tail(options);
  double a_wrong = c[1] - c[0], b_wrong = c[3] - c[2];
  table t = {c[0], a_wrong, c[2], b_wrong, tail, 1};
  table wrong = {a_wrong, c[0], b_wrong, c[2], tail, 1};
  ev_interval ci = {0, HUGE_VAL};
  if (c[0] > 0 && b_wrong > 0) ci.lo = exp(ln_lower(&t));
  if (a_wrong > 0 && c[2] > 0) ci.hi = exp(-ln_lower(&wrong));
  return ci;
}
