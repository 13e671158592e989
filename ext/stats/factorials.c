/*
** Sums of ln(1 + x/i), three ways put together.
**
** Factors below EV_FACTORIALS_HEAD: the clusters that have each factor are counted once.
** Longer products: by Stirling's series from there on, in a form where neither a
** large k nor a large x costs digits.  Where many different k share a bin of ln k,
** the function of k is interpolated at the bin's Chebyshev points, so that a sum over
** any number of clusters is one over 16 weighted points: its singularities are pi
** away from a bin of half-length 1/2, which leaves 12.6^-16 out.
**
** Where even that sum is long, it is tabulated in v = ln(1+x) as Chebyshev series on
** cells of length one, 12.6^-14 from the truth, for the same reason.
*/
#include "factorials.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "chebyshev.h"

/* ln Gamma(z) less (z-1/2) ln z - z + ln(2 pi)/2, for z >= 32: the next term is 2e-17. */
static double stirling_rest(double z) {
  double w = 1 / (z * z);
  return (1.0 / 12 - w * (1.0 / 360 - w * (1.0 / 1260 - w * (1.0 / 1680)))) / z;
}

/* sum of ln(1 + x/i) over EV_FACTORIALS_HEAD <= i < k. */
static double ln_factors_beyond_head(double k, double x) {
  double h = EV_FACTORIALS_HEAD;
  return (k - 0.5) * log1p(x / k) - (h - 0.5) * log1p(x / h) + x * log1p((k - h) / (h + x)) +
         (stirling_rest(k + x) - stirling_rest(h + x)) - (stirling_rest(k) - stirling_rest(h));
}

static double sum_of_factors(const ev_factorials *r, double x) {
  double sum = 0;
  for (int i = 1; i < r->head_size; i++) sum += r->head[i] * log1p(x / i);
  for (int i = 0; i < r->tail_size; i++)
    sum += r->tail[i].times * ln_factors_beyond_head(r->tail[i].k, x);
  return sum;
}

static int by_factorial_count(const void *a, const void *b) {
  double x = ((const ev_factorial_count *)a)->k, y = ((const ev_factorial_count *)b)->k;
  return (x > y) - (x < y);
}

static int factorial_bin(double k) {
  return (int)log(k / EV_FACTORIALS_HEAD);
}

/* Counts of one bin as weights of its Chebyshev points: Lagrange's polynomials, by
** the barycentric formula. */
static void spread_over_bin(ev_factorials *r, int bin, const ev_factorial_count *counts,
                            size_t size) {
  ev_factorial_count *nodes = r->tail + r->tail_size;
  double at[EV_FACTORIALS_NODES], share[EV_FACTORIALS_NODES];
  for (int j = 0; j < EV_FACTORIALS_NODES; j++) {
    double angle = M_PI * (j + 0.5) / EV_FACTORIALS_NODES;
    at[j] = bin + (1 + cos(angle)) / 2;
    share[j] = j % 2 ? -sin(angle) : sin(angle);
    nodes[j] = (ev_factorial_count){EV_FACTORIALS_HEAD * exp(at[j]), 0};
  }
  for (size_t i = 0; i < size; i++) {
    double x = log(counts[i].k / EV_FACTORIALS_HEAD), part[EV_FACTORIALS_NODES], sum = 0;
    for (int j = 0; j < EV_FACTORIALS_NODES; j++) {
      /* At a point itself the quotient would be infinite; next to it, it is as good. */
      double away = x == at[j] ? 1e-300 : x - at[j];
      part[j] = share[j] / away;
      sum += part[j];
    }
    for (int j = 0; j < EV_FACTORIALS_NODES; j++) nodes[j].times += counts[i].times * part[j] / sum;
  }
  r->tail_size += EV_FACTORIALS_NODES;
}

/* Sorted, different counts from EV_FACTORIALS_HEAD + 1 on, bin by bin. */
static void gather_factorial_tail(ev_factorials *r, const ev_factorial_count *counts, size_t size) {
  for (size_t from = 0, to; from < size; from = to) {
    int bin = factorial_bin(counts[from].k);
    for (to = from + 1; to < size && factorial_bin(counts[to].k) == bin;) to++;
    if (to - from > EV_FACTORIALS_NODES) {
      spread_over_bin(r, bin, counts + from, to - from);
    } else {
      for (size_t i = from; i < to; i++) r->tail[r->tail_size++] = counts[i];
    }
  }
}

void ev_factorials_make(ev_factorials *r, ev_factorial_count *counts, size_t size) {
  *r = (ev_factorials){0};
  qsort(counts, size, sizeof *counts, by_factorial_count);
  size_t kept = 0, tail = 0;
  for (size_t i = 0; i < size; i++) {
    double k = counts[i].k, times = counts[i].times;
    if (k >= 1) r->clusters += times;
    for (int j = 1; j < EV_FACTORIALS_HEAD && j < k; j++) r->head[j] += times;
    if (kept > 0 && counts[kept - 1].k == k)
      counts[kept - 1].times += times;
    else
      counts[kept++] = counts[i];
  }
  for (size_t i = 0; i < kept; i++) r->answers += counts[i].k * counts[i].times;
  while (tail < kept && counts[tail].k <= EV_FACTORIALS_HEAD) tail++;
  gather_factorial_tail(r, counts + tail, kept - tail);
  for (int j = 1; j < EV_FACTORIALS_HEAD && r->head[j] > 0; j++) r->head_size = j + 1;
}

static void fill_factorial_cell(ev_factorials *r, int cell) {
  double roots[EV_FACTORIALS_TERMS], values[EV_FACTORIALS_TERMS];
  for (int i = 0; i < EV_FACTORIALS_TERMS; i++) {
    roots[i] = cos(M_PI * (i + 0.5) / EV_FACTORIALS_TERMS);
    values[i] = sum_of_factors(r, expm1(cell + (1 + roots[i]) / 2));
  }
  ev_chebyshev_from_roots(EV_FACTORIALS_TERMS, roots, values, r->series[cell]);
  r->filled[cell] = true;
}

double ev_factorials_at(ev_factorials *r, double x) {
  /* So few logarithms are as fast as the series. */
  if (r->head_size + 4 * r->tail_size <= 4) return sum_of_factors(r, x);
  double v = log1p(x);
  int cell = (int)fmin(v, EV_FACTORIALS_CELLS - 1);
  if (!r->filled[cell]) fill_factorial_cell(r, cell);
  const double *series = r->series[cell];
  double u = 2 * (v - cell) - 1, sum;
  ev_chebyshev_each(1, &series, EV_FACTORIALS_TERMS, &u, &sum);
  return sum;
}
