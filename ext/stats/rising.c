/*
** Sums of ln(1 + x/i), three ways put together.
**
** Factors below EV_RISING_HEAD: one logarithm serves all clusters that have the factor.
** Longer products: by Stirling's series from there on.  Where many different k share
** a bin of ln k, the function of k is interpolated at the bin's Chebyshev points, so
** that a sum over any number of clusters is one over 20 weighted points: its
** singularities are pi away from a bin of half-length 1, which leaves 6.4^-20 out.
**
** Because even that sum is long, it is tabulated: as Chebyshev series in v = ln(1+x) on cells,
** for the same reason; and beyond four times the largest k, the sum minus its logarithms as a
** series in 1/(1+x), which is as short.
*/
#include "rising.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "chebyshev.h"

/* ln Gamma(z) less (z-1/2) ln z - z + ln(2 pi)/2 from 1/z, for z >= 64: the next term is
** 4e-20. */
EV_INLINE void stirling_series(const ev_lanes *inverse, ev_lanes *out) {
  ev_lanes w = *inverse * *inverse, w2 = w * w;
  *out = *inverse * ((1.0 / 12 - w * (1.0 / 360)) + w2 * (1.0 / 1260 - w * (1.0 / 1680)));
}

static double stirling_rest(double z) {
  ev_lanes inverse = {1 / z, 1, 1, 1}, out;
  stirling_series(&inverse, &out);
  return out[0];
}

/* The length of a cell, and half of it.  L's singularities are pi away from ln(1+x), and 16 terms
** leave out 7.3^-16 of what its logarithms weigh. */
static const double RISING_CELL = 1.75, RISING_HALF = 0.875;

/* How many lanes' worth of x are taken at once: a cell's. */
enum { RISING_BATCH = EV_RISING_TERMS / EV_LANES };

/* Factor by factor. */
EV_INLINE void add_head(const ev_rising *r, const ev_lanes *x, ev_lanes *sum) {
  for (int i = 1; i < r->head_size; i++)
    for (int j = 0; j < RISING_BATCH; j++) {
      ev_lanes ln = x[j] * (1.0 / i);
      ev_log1p(&ln, 1);
      sum[j] += r->above[i] * ln;
    }
}

/* With h = EV_RISING_HEAD, the sum of ln(1 + x/i) over h <= i < k is
**
**     (k - 1/2) ln(1 + x/k) - (h - 1/2) ln(1 + x/h) + x ln((k+x)/(h+x))
**
** and differences of Stirling's series.  Neither a large k nor a large x costs digits. */
EV_INLINE void add_tail(const ev_rising *r, const ev_lanes *x, ev_lanes *out) {
  const double h = EV_RISING_HEAD;
  ev_lanes ln = *x * (1 / h), inverse = 1 / (h + *x), rest, sum = {0};
  ev_log1p(&ln, 1);
  stirling_series(&inverse, &rest);
  ev_lanes head = (h - 0.5) * ln + rest;
  for (int i = 0; i < r->tail_size; i++) {
    double k = r->tail[i].k;
    ev_lanes over = 1 / (k + *x), ratio = (k - h) * inverse;
    ln = *x * (1 / k);
    ev_log1p(&ln, 1);
    ev_log1p(&ratio, 1);
    stirling_series(&over, &rest);
    sum += r->tail[i].times * ((k - 0.5) * ln + *x * ratio + rest);
  }
  *out += (sum - r->tail_times * head) + r->tail_constant;
}

/* L at RISING_BATCH lanes' worth of x. */
EV_WIDE static void sum_of_factors(const ev_rising *r, const ev_lanes *x, ev_lanes *sum) {
  for (int j = 0; j < RISING_BATCH; j++) sum[j] = x[j] * 0;
  add_head(r, x, sum);
  for (int j = 0; j < RISING_BATCH; j++) add_tail(r, &x[j], &sum[j]);
}

static int tallies_by_count(const void *a, const void *b) {
  double x = ((const ev_tally *)a)->k, y = ((const ev_tally *)b)->k;
  return (x > y) - (x < y);
}

static double rising_bin(double k) {
  return floor(log(k / EV_RISING_HEAD) / 2);
}

static void push_node(ev_rising *r, double k, double times) {
  r->tail[r->tail_size++] = (ev_tally){k, times};
  r->tail_times += times;
  r->tail_constant += times * (stirling_rest(EV_RISING_HEAD) - stirling_rest(k));
}

/* Counts of one bin as weights of its Chebyshev points: Lagrange's polynomials, by the barycentric
** formula, whose weights are sines with alternating signs. */
static void spread_over_bin(ev_rising *r, double bin, const ev_tally *counts, size_t size) {
  double at[EV_RISING_NODES], share[EV_RISING_NODES], times[EV_RISING_NODES] = {0};
  for (int j = 0; j < EV_RISING_NODES; j++) {
    double angle = M_PI * (j + 0.5) / EV_RISING_NODES;
    at[j] = 2 * bin + 1 + cos(angle);
    share[j] = j % 2 ? -sin(angle) : sin(angle);
  }
  for (size_t i = 0; i < size; i++) {
    double x = log(counts[i].k / EV_RISING_HEAD), part[EV_RISING_NODES], sum = 0;
    for (int j = 0; j < EV_RISING_NODES; j++) {
      /* At a point itself the quotient would be infinite; next to it, it is as good. */
      part[j] = share[j] / (x == at[j] ? 1e-300 : x - at[j]);
      sum += part[j];
    }
    for (int j = 0; j < EV_RISING_NODES; j++) times[j] += counts[i].times * part[j] / sum;
  }
  for (int j = 0; j < EV_RISING_NODES; j++) push_node(r, EV_RISING_HEAD * exp(at[j]), times[j]);
}

/* Sorted, different counts from EV_RISING_HEAD + 1 on, bin by bin. */
static void gather_tail(ev_rising *r, const ev_tally *counts, size_t size) {
  for (size_t from = 0, to; from < size; from = to) {
    double bin = rising_bin(counts[from].k);
    for (to = from + 1; to < size && rising_bin(counts[to].k) == bin;) to++;
    if (to - from > EV_RISING_NODES) {
      spread_over_bin(r, bin, counts + from, to - from);
    } else {
      for (size_t i = from; i < to; i++) push_node(r, counts[i].k, counts[i].times);
    }
  }
}

/* Sorts counts, and merges equal ones; returns how many are left. */
static size_t sort_counts(ev_tally *counts, size_t size) {
  size_t kept = 0;
  qsort(counts, size, sizeof *counts, tallies_by_count);
  for (size_t i = 0; i < size; i++)
    if (kept > 0 && counts[kept - 1].k == counts[i].k)
      counts[kept - 1].times += counts[i].times;
    else
      counts[kept++] = counts[i];
  return kept;
}

/* Adds clusters with k >= 1, those beyond EV_RISING_HEAD with it. */
static void add_clusters(ev_rising *r, double k, double times) {
  int head = (int)fmin(k, EV_RISING_HEAD);
  r->clusters += times;
  r->answers += k * times;
  r->factors += (k - 1) * times;
  r->above[head - 1] += times;
  if (head > r->head_size) r->head_size = head;
}

/* The sums do not depend on the order of counts: they are those of whole numbers, or taken
** in rising order. */
void ev_rising_make(ev_rising *r, ev_tally *counts, size_t size) {
  size_t tail = 0;
  *r = (ev_rising){.head_size = 1};
  for (size_t i = 0; i < size; i++)
    if (counts[i].k > EV_RISING_HEAD)
      counts[tail++] = counts[i];
    else if (counts[i].k >= 1)
      add_clusters(r, counts[i].k, counts[i].times);
  tail = sort_counts(counts, tail);
  for (size_t i = 0; i < tail; i++) add_clusters(r, counts[i].k, counts[i].times);
  for (int i = EV_RISING_HEAD - 1; i > 0; i--) r->above[i - 1] += r->above[i];
  gather_tail(r, counts, tail);
  double most = tail > 0 ? counts[tail - 1].k : r->head_size;
  r->cells = (int)ceil(log1p(4 * most) / RISING_CELL);
  r->last_cell = exp(RISING_CELL * r->cells);
  assert(r->cells < EV_RISING_CELLS);
}

static void fill_cell(ev_rising *r, int cell) {
  double roots[EV_RISING_TERMS], values[EV_RISING_TERMS];
  ev_lanes x[RISING_BATCH], sum[RISING_BATCH];
  bool last = cell == r->cells;
  for (int i = 0; i < EV_RISING_TERMS; i++) {
    roots[i] = cos(M_PI * (i + 0.5) / EV_RISING_TERMS);
    double v = RISING_CELL * cell + RISING_HALF * (1 + roots[i]);
    x[i / EV_LANES][i % EV_LANES] = last ? 2 * r->last_cell / (1 + roots[i]) - 1 : expm1(v);
  }
  sum_of_factors(r, x, sum);
  for (int i = 0; i < EV_RISING_TERMS; i++) {
    values[i] = sum[i / EV_LANES][i % EV_LANES];
    if (last) values[i] -= r->factors * log1p(x[i / EV_LANES][i % EV_LANES]);
  }
  ev_chebyshev_from_roots(EV_RISING_TERMS, roots, values, r->series[cell]);
  r->filled[cell] = true;
}

/* Where ln(1+x) = v is in its cell, from -1 to 1; its series is filled in when needed, and adds to
** *sum what the one beyond the last cell leaves out. */
EV_INLINE double place_in_cell(ev_rising *r, double x, double v, const double **series,
                               double *sum) {
  int cell = v < RISING_CELL * r->cells ? (int)(v / RISING_CELL) : r->cells;
  if (!r->filled[cell]) fill_cell(r, cell);
  *series = r->series[cell];
  if (cell < r->cells) return (v - RISING_CELL * cell) * (1 / RISING_HALF) - 1;
  *sum += r->factors * v;
  return 2 * r->last_cell / (1 + x) - 1;
}

/* The steps of a series wait for each other, those of two series do not: two take as long as one.
 */
EV_WIDE static void add_series(ev_rising *const r[2], const ev_lanes x[2], ev_lanes *sum) {
  ev_lanes v[2] = {1 + x[0], 1 + x[1]}, u[2], b0[2] = {{0}}, b1[2] = {{0}};
  const double *c[2][EV_LANES];
  ev_log(v, 2);
  for (int j = 0; j < 2; j++)
    for (int i = 0; i < EV_LANES; i++) {
      double beyond = 0;
      u[j][i] = place_in_cell(r[j], x[j][i], v[j][i], &c[j][i], &beyond);
      (*sum)[i] += beyond;
    }
  for (int k = EV_RISING_TERMS - 1; k >= 0; k--)
    for (int j = 0; j < 2; j++) {
      ev_lanes b2 = b1[j];
      b1[j] = b0[j];
      b0[j] = ((ev_lanes){c[j][0][k], c[j][1][k], c[j][2][k], c[j][3][k]} - b2) + 2 * u[j] * b1[j];
    }
  for (int j = 0; j < 2; j++) *sum += b0[j] - u[j] * b1[j];
}

/* A clone for wider registers is seen from outside the library unless it is static. */
void ev_rising_add(ev_rising *r, const ev_lanes *x, ev_rising *s, const ev_lanes *y,
                   ev_lanes *sum) {
  if (r->factors > 0 || s->factors > 0)
    add_series((ev_rising *const[]){r, s}, (ev_lanes[]){*x, *y}, sum);
}

double ev_rising_at(ev_rising *r, double x) {
  const double *c;
  double sum = 0, b0 = 0, b1 = 0;
  assert(x >= 0);
  if (r->factors == 0) return 0;
  double u = place_in_cell(r, x, log1p(x), &c, &sum);
  for (int k = EV_RISING_TERMS - 1; k >= 0; k--) {
    double b2 = b1;
    b1 = b0;
    b0 = c[k] - b2 + 2 * u * b1;
  }
  return sum + b0 - u * b1;
}
