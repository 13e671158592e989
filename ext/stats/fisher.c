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
#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_cdf.h>

#include "beta.h"
#include "marginal.h"
#include "unpaired.h"

typedef struct table {
  double x, n1, n2, m; /* X, the sizes of A and B, and right answers in all */
  double tail;         /* what P(X >= x) is to be */
  double psi;
} table;

/* f(j+1) / f(j) */
static double ratio(const table *t, double j) {
  return t->psi * ((t->n1 - j) / (j + 1)) * ((t->m - j) / (t->n2 - t->m + j + 1));
}

/* The sums of f over [x, ..) and over (.., x), relative to f(x). */
static double sum_up(const table *t) {
  double sum = 1, term = 1;
  for (double j = t->x; term > 1e-17 * sum && sum < 1e290; j++) sum += term *= ratio(t, j);
  return sum;
}

static double sum_down(const table *t) {
  double sum = 0, term = 1;
  for (double j = t->x; j > 0 && sum < 1e290; j--) {
    double r = ratio(t, j - 1);
    if (r == 0) break;
    sum += term /= r;
    if (term <= 1e-17 * sum) break;
  }
  return sum;
}

/* ln f(t) at any real t, relative to its value at the mean: as two binomial
** probabilities, whose own means are there. */
typedef struct smooth {
  const table *table;
  double mean;
} smooth;

static double ln_binomial(double t, double n, double p, double q) {
  if (t <= 0) return n * log(q);
  if (t >= n) return n * log(p);
  ev_beta d = ev_beta_make(t, n - t);
  return ev_beta_ln_logit_density(&d, (ev_point){p, q}) + log(n / t / (n - t));
}

static double ln_f(double t, void *context) {
  const smooth *s = context;
  const table *w = s->table;
  double other = w->m - s->mean;
  return ln_binomial(t, w->n1, s->mean / w->n1, (w->n1 - s->mean) / w->n1) +
         ln_binomial(w->m - t, w->n2, other / w->n2, (w->n2 - other) / w->n2);
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

/* The mode of X.  When X is not the smallest cell, it moves with the one that is. */
static double mode(const table *t) {
  double a = t->x, b = t->n1 - a, c = t->m - a, d = t->n2 - c, psi = t->psi;
  if (a <= fmin(b, fmin(c, d))) return cell_at_mode(a, b, c, d, psi);
  if (d <= fmin(b, c)) return a + (cell_at_mode(d, c, b, a, psi) - d);
  if (b <= c) return a - (cell_at_mode(b, a, d, c, 1 / psi) - b);
  return a - (cell_at_mode(c, d, a, b, 1 / psi) - c);
}

static double ln_tail_by_integral(const table *t, double sd) {
  smooth s = {t, mode(t)};
  double edge = t->x - 0.5, least = fmax(0, t->m - t->n2), most = fmin(t->n1, t->m);
  ev_marginal m;
  ev_marginal_find(&m, &(ev_search){.ln_density = ln_f,
                                    .context = &s,
                                    .start = s.mean,
                                    .width = 7 * sd,
                                    .least = least,
                                    .most = most,
                                    .corner = edge,
                                    .cut = 40 - log(t->tail),
                                    .tolerance = 1e-11,
                                    .tail = t->tail,
                                    .budget = 1600});
  double slope = log(ratio(t, t->x - 1));
  double correction = exp(ln_f(edge, &s) - ev_marginal_ln_total(&m)) *
                      (slope / 24 - 7 * slope * slope * slope / 5760);
  return log(ev_marginal_above(&m, edge) + correction);
}

/* ln P(X >= x) at ln(psi). */
static double ln_tail(const table *given, double ln_psi, double sd) {
  table t = *given;
  t.psi = exp(ln_psi);
  if (sd > 3000) return ln_tail_by_integral(&t, sd);
  double up = sum_up(&t), down = sum_down(&t);
  return log(up) - log(up + down);
}

/* The ln(psi) at which P(X >= x) is the tail: regula falsi in a bracket, halving
** the weight of an end that stays (the Illinois rule). */
static double ln_lower(const table *t) {
  const double cells[] = {t->x, t->n1 - t->x, t->m - t->x, t->n2 - t->m + t->x};
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
  table t = {c[0], c[1], c[3], c[0] + c[2], tail, 1};
  table wrong = {c[1] - c[0], c[1], c[3], c[1] - c[0] + c[3] - c[2], tail, 1};
  ev_interval ci = {0, HUGE_VAL};
  if (c[0] > 0 && c[2] < c[3]) ci.lo = exp(ln_lower(&t));
  if (c[0] < c[1] && c[2] > 0) ci.hi = exp(-ln_lower(&wrong));
  return ci;
}
