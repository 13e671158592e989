/*
** Intervals of a mean by normal theory: mean +- q s / sqrt(n), s over n - 1, with q the
** deviate of the normal distribution (the CLT) or of Student's t.
**
** Sums are kept with what their roundings lost, over scores in rising order, so that
** 10^9 scores close to each other have their digits.
**
** Student's deviate comes from the beta quantile of beta.c: t^2 = v y / x with
** x ~ Beta(v/2, 1/2) and y = 1 - x (Abramowitz and Stegun 26.7.1).
*/
#include <math.h>

#include "atoms.h"
#include "mean.h"
#include "normal.h"

/* A sum with the rounding errors of its terms. */
typedef struct exact_sum {
  double sum, lost;
} exact_sum;

/* Neumaier's, of a product. */
static void add_exact_product(exact_sum *s, double a, double b) {
  double product = a * b, next = s->sum + product;
  s->lost += fabs(s->sum) >= fabs(product) ? (s->sum - next) + product : (product - next) + s->sum;
  s->lost += fma(a, b, -product);
  s->sum = next;
}

static double summed(const exact_sum *s) {
  return s->sum + s->lost;
}

/* Of atoms' distances above the range's lower end. */
typedef struct sample_moments {
  double n, mean, variance;
} sample_moments;

static sample_moments moments_of(const ev_atoms *atoms) {
  exact_sum total = {0, 0}, deviation = {0, 0}, square = {0, 0};
  sample_moments m = {0, 0, 0};
  for (size_t i = 0; i < atoms->count; i++) {
    add_exact_product(&total, atoms->list[i].weight, atoms->list[i].above);
    m.n += atoms->list[i].weight;
  }
  m.mean = summed(&total) / m.n;
  for (size_t i = 0; i < atoms->count; i++) {
    double off = atoms->list[i].above - m.mean;
    add_exact_product(&deviation, atoms->list[i].weight, off);
    add_exact_product(&square, atoms->list[i].weight * off, off);
  }
  double rest = summed(&deviation);
  m.mean += rest / m.n;
  m.variance = (summed(&square) - rest * rest / m.n) / (m.n - 1);
  return m;
}

/* The mean +- deviate * s / sqrt(n).  The range is that of the scores, and serves to
** scale, to sort and to merge them. */
static ev_status normal_interval(const ev_score *scores, size_t count, double deviate,
                                 ev_interval *ci) {
  double least = scores[0].score, most = scores[0].score;
  for (size_t i = 1; i < count; i++) {
    least = fmin(least, scores[i].score);
    most = fmax(most, scores[i].score);
  }
  *ci = (ev_interval){least, most};
  if (least == most) return EV_OK;
  ev_score_range range = ev_range_of(least, most);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_scores(scores, count, &range, &atoms);
  if (status == EV_OK) {
    sample_moments m = moments_of(&atoms);
    double half = deviate * sqrt(m.variance / m.n);
    *ci = ev_plus_minus(ldexp(range.lo + m.mean, range.exponent), ldexp(half, range.exponent));
  }
  ev_atoms_free(&atoms);
  return status;
}

ev_status ev_mean_clt(const ev_score *scores, size_t count, const ev_options *options, ev_host host,
                      ev_interval *ci) {
  (void)host;
  return normal_interval(scores, count, ev_deviate(options), ci);
}

ev_status ev_mean_t(const ev_score *scores, size_t count, const ev_options *options, ev_host host,
                    ev_interval *ci) {
  (void)host;
  double n = 0;
  for (size_t i = 0; i < count; i++) n += scores[i].times;
  ev_beta beta = ev_beta_make((n - 1) / 2, 0.5);
  ev_point x;
  if (!ev_beta_quantile(&beta, (ev_point){1 - options->level, options->level}, &x))
    return EV_NOT_CONVERGED;
  return normal_interval(scores, count, sqrt((n - 1) * x.y / x.x), ci);
}
