/*
** Sums of ln(1 + x/i), three ways put together.
**
** Factors below EV_RISING_HEAD: the clusters that have each factor are counted once.
** Longer products: by Stirling's series from there on.  Where many different k share
** a bin of ln k, the function of k is interpolated at the bin's Chebyshev points, so
** that a sum over any number of clusters is one over 20 weighted points: its
** singularities are pi away from a bin of half-length 1, which leaves 6.4^-20 out.
**
** Where even that sum is long, it is tabulated: as Chebyshev series in v = ln(1+x) on
** cells, for the same reason; and from where x is four times the largest k, the
** sum less its logarithms in 1/(1+x), where they are as short.
*/
#include "rising.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "chebyshev.h"

/* ln Gamma(z) less (z-1/2) ln z - z + ln(2 pi)/2 from 1/z, for z >= 16: the next term is
** 1e-18. */
EV_INLINE void stirling_series(const ev_lanes *inverse, ev_lanes *out) {
  ev_lanes w = *inverse * *inverse, w2 = w * w;
  *out = *inverse * ((1.0 / 12 - w * (1.0 / 360)) + w2 * (1.0 / 1260 - w * (1.0 / 1680)) +
                     w2 * w2 * (1.0 / 1188 - w * (691.0 / 360360)));
}

static double stirling_rest(double z) {
  ev_lanes inverse = {1 / z, 1, 1, 1}, out;
  stirling_series(&inverse, &out);
  return out[0];
}

/* Below this x one logarithm a count will do: x ln((k+x)/(h+x)) out of its parts costs no
** more digits than the sum has. */
static const double RISING_NEAR = 200;

/* How many lanes' worth of x are taken at once: a cell's. */
enum { RISING_BATCH = EV_RISING_TERMS / EV_LANES };

/* Factors that as many clusters have are multiplied, so many of them, before the logarithm
** is taken: of 10^20 each they would not overflow. */
enum { RISING_PRODUCT = 8 };

EV_INLINE void add_head(const ev_rising *r, const ev_lanes *x, ev_lanes *sum) {
  ev_lanes product[RISING_BATCH];
  for (int j = 0; j < RISING_BATCH; j++) product[j] = x[j] * 0 + 1;
  for (int i = 1, taken = 0; i < r->head_size; i++) {
    double inverse = 1.0 / i;
    for (int j = 0; j < RISING_BATCH; j++) product[j] *= 1 + x[j] * inverse;
    bool more = i + 1 < r->head_size && r->head[i + 1] == r->head[i];
    if (more && ++taken < RISING_PRODUCT) continue;
    ev_log(product, RISING_BATCH);
    for (int j = 0; j < RISING_BATCH; j++) {
      sum[j] += r->head[i] * product[j];
      product[j] = x[j] * 0 + 1;
    }
    taken = 0;
  }
}

/* ln(1+w) and 1/(1+w). */
EV_INLINE void ln_and_inverse(const ev_lanes *w, ev_lanes *ln, ev_lanes *inverse) {
  ev_lanes f = 1 + *w;
  *inverse = 1 / f;
  *ln = f;
  ev_log(ln, 1);
  *ln += (*w - (f - 1)) * *inverse;
}

/* With h = EV_RISING_HEAD, the sum of ln(1 + x/i) over h <= i < k is
**
**     (k - 1/2) ln(1 + x/k) - (h - 1/2) ln(1 + x/h) + x ln((k+x)/(h+x))
**
** and differences of Stirling's series.  Neither a large k nor a large x costs digits. */
EV_INLINE void add_tail(const ev_rising *r, const ev_lanes *x, ev_lanes *out, bool near) {
  const double h = EV_RISING_HEAD;
  ev_lanes w = *x * (1 / h), ln_head, inverse, rest, sum = {0};
  ln_and_inverse(&w, &ln_head, &inverse);
  inverse *= 1 / h;
  stirling_series(&inverse, &rest);
  ev_lanes head = (h - 0.5) * ln_head + rest, ln_h_x = ln_head + M_LN2 * 4;
  for (int i = 0; i < r->tail_size; i++) {
    const ev_rising_node *node = &r->tail[i];
    ev_lanes ln, over, part;
    w = *x * node->inverse;
    ln_and_inverse(&w, &ln, &over);
    over *= node->inverse;
    stirling_series(&over, &rest);
    if (near) {
      part = (node->k - 0.5 + *x) * ln + *x * (node->ln - ln_h_x);
    } else {
      ev_lanes ratio = (node->k - h) * inverse;
      part = (node->k - 0.5) * ln;
      ev_log1p(&ratio, 1);
      part += *x * ratio;
    }
    sum += node->times * (part + rest);
  }
  *out += (sum - r->tail_times * head) + r->tail_constant;
}

/* L at RISING_BATCH lanes' worth of x. */
EV_WIDE static void sum_of_factors(const ev_rising *r, const ev_lanes *x, ev_lanes *sum) {
  for (int j = 0; j < RISING_BATCH; j++) sum[j] = x[j] * 0;
  add_head(r, x, sum);
  if (r->tail_size == 0) return;
  for (int j = 0; j < RISING_BATCH; j++) {
    double most = fmax(fmax(x[j][0], x[j][1]), fmax(x[j][2], x[j][3]));
    if (most < RISING_NEAR)
      add_tail(r, &x[j], &sum[j], true);
    else
      add_tail(r, &x[j], &sum[j], false);
  }
}

static int tallies_by_count(const void *a, const void *b) {
  double x = ((const ev_tally *)a)->k, y = ((const ev_tally *)b)->k;
  return (x > y) - (x < y);
}

static double rising_bin(double k) {
  return floor(log(k / EV_RISING_HEAD) / 2);
}

static void push_node(ev_rising *r, double k, double times) {
  r->tail[r->tail_size++] = (ev_rising_node){k, times, 1 / k, log(k)};
  r->tail_times += times;
  r->tail_constant += times * (stirling_rest(EV_RISING_HEAD) - stirling_rest(k));
}

/* Counts of one bin as weights of its Chebyshev points: Lagrange's polynomials, by
** the barycentric formula. */
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
      double away = x == at[j] ? 1e-300 : x - at[j];
      part[j] = share[j] / away;
      sum += part[j];
    }
    double times_each = counts[i].times / sum;
    for (int j = 0; j < EV_RISING_NODES; j++) times[j] += times_each * part[j];
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

void ev_rising_make(ev_rising *r, ev_tally *counts, size_t size) {
  size_t kept = 0, tail = 0;
  r->clusters = r->answers = r->factors = r->tail_times = r->tail_constant = 0;
  r->head_size = r->tail_size = 0;
  for (int i = 0; i < EV_RISING_HEAD; i++) r->head[i] = 0;
  for (int i = 0; i < EV_RISING_CELLS; i++) r->filled[i] = false;
  qsort(counts, size, sizeof *counts, tallies_by_count);
  for (size_t i = 0; i < size; i++)
    if (kept > 0 && counts[kept - 1].k == counts[i].k)
      counts[kept - 1].times += counts[i].times;
    else
      counts[kept++] = counts[i];
  for (size_t i = 0; i < kept; i++) {
    double k = counts[i].k, times = counts[i].times;
    r->answers += k * times;
    if (k < 1) continue;
    r->clusters += times;
    r->factors += (k - 1) * times;
    for (int j = 1; j < EV_RISING_HEAD && j < k; j++) r->head[j] += times;
  }
  while (tail < kept && counts[tail].k <= EV_RISING_HEAD) tail++;
  gather_tail(r, counts + tail, kept - tail);
  for (int j = 1; j < EV_RISING_HEAD && r->head[j] > 0; j++) r->head_size = j + 1;
  double most = kept ? counts[kept - 1].k : 1;
  r->cells = (int)ceil(log1p(4 * most) / EV_RISING_STEP);
  r->last_cell = exp(EV_RISING_STEP * r->cells);
  assert(r->cells < EV_RISING_CELLS);
}

/* cos(pi (i + 1/2) / 16), and how much farther than the begin of its cell 1+x is there. */
static const double roots[EV_RISING_TERMS] = {
    0.9951847266721969287,   0.9569403357322088244,  0.8819212643483550496,  0.7730104533627369934,
    0.6343932841636454878,   0.4713967368259978086,  0.2902846772544623311,  0.09801714032956077016,
    -0.09801714032956064526, -0.2902846772544621645, -0.4713967368259976976, -0.6343932841636453768,
    -0.7730104533627369934,  -0.8819212643483549385, -0.9569403357322088244, -0.9951847266721968177,
};
static const double growth[EV_RISING_TERMS] = {
    5.730407446774635538, 5.541819041828973447, 5.189727060546323933, 4.717996063806849882,
    4.179092524825656518, 3.623614994160801128, 3.09255958473992898,  2.613695179854695017,
    2.201711477436191,    1.860789588146178897, 1.588083360202136696, 1.376998150153615263,
    1.219713327052346807, 1.108844956366538126, 1.038395991022206033, 1.004222252859997555,
};

/* The series through values at the roots; cos(k angle) by its recurrence in k. */
EV_WIDE static void series_through(const ev_lanes *values, double *series) {
  ev_lanes now[RISING_BATCH], next[RISING_BATCH], root[RISING_BATCH];
  for (int i = 0; i < EV_RISING_TERMS; i++) root[i / EV_LANES][i % EV_LANES] = roots[i];
  for (int j = 0; j < RISING_BATCH; j++) {
    now[j] = root[j] * 0 + 1;
    next[j] = root[j];
  }
  for (int k = 0; k < EV_RISING_TERMS; k++) {
    ev_lanes sum = {0};
    for (int j = 0; j < RISING_BATCH; j++) {
      ev_lanes after = 2 * root[j] * next[j] - now[j];
      sum += values[j] * now[j];
      now[j] = next[j];
      next[j] = after;
    }
    series[k] = ev_sum(&sum) * ((k ? 2.0 : 1.0) / EV_RISING_TERMS);
  }
}

void ev_rising_fill(ev_rising *r, int cell) {
  ev_lanes x[RISING_BATCH], sum[RISING_BATCH];
  bool last = cell == r->cells;
  double from = exp(EV_RISING_STEP * cell);
  for (int i = 0; i < EV_RISING_TERMS; i++)
    x[i / EV_LANES][i % EV_LANES] = (last ? 2 * from / (1 + roots[i]) : from * growth[i]) - 1;
  sum_of_factors(r, x, sum);
  for (int i = 0; i < EV_RISING_TERMS && last; i++)
    sum[i / EV_LANES][i % EV_LANES] -= r->factors * log(2 * from / (1 + roots[i]));
  series_through(sum, r->series[cell]);
  r->filled[cell] = true;
}

/* So few logarithms are as fast as the series. */
enum { RISING_FEW = 4 };

double ev_rising_at(ev_rising *r, double x) {
  assert(x >= 0);
  if (r->factors == 0) return 0;
  if (r->head_size <= RISING_FEW) {
    double sum = 0;
    for (int i = 1; i < r->head_size; i++) sum += r->head[i] * log1p(x / i);
    return sum;
  }
  double v = log1p(x), sum;
  int cell = (int)fmin(v / EV_RISING_STEP, r->cells);
  if (!r->filled[cell]) ev_rising_fill(r, cell);
  const double *series = r->series[cell];
  bool last = cell == r->cells;
  double u =
      last ? 2 * r->last_cell / (1 + x) - 1 : (v - EV_RISING_STEP * cell) / EV_RISING_HALF - 1;
  ev_chebyshev_each(1, &series, EV_RISING_TERMS, &u, &sum);
  return last ? sum + r->factors * v : sum;
}
