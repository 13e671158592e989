/*
** Sums of ln(1 + x/i), three ways put together.
**
** Factors below EV_RISING_HEAD: one running product serves all clusters.
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

/* Below this x one logarithm a count will do: x ln((k+x)/(h+x)) out of its parts costs no
** more digits than the sum has. */
static const double RISING_NEAR = 200;

/* How many lanes' worth of x are taken at once: a cell's. */
enum { RISING_BATCH = EV_RISING_TERMS / EV_LANES };

/* So many clusters of one count are multiplied, rather than its logarithm by their number. */
enum { RISING_TIMES = 4 };

/* Numbers from 1 on as m 2^e, so that their products do not overflow. */
typedef struct rising_product {
  ev_lanes m[RISING_BATCH], e[RISING_BATCH];
} rising_product;

/* With m from 1 to 2. */
EV_INLINE void normalise(rising_product *x) {
  const uint64_t one = 0x3ff0000000000000, two_52 = 0x4330000000000000;
  const uint64_t mantissa = 0xfffffffffffff;
  for (int j = 0; j < RISING_BATCH; j++) {
    ev_bits bits = (ev_bits)x->m[j];
    x->e[j] += (ev_lanes)((bits >> 52) | two_52) - (0x1p52 + 1023);
    x->m[j] = (ev_lanes)((bits & mantissa) | one);
  }
}

/* Whether it may overflow with a few more factors, or times another that is not: the points
** of a cell rise or fall, so the first or the last is the largest. */
EV_INLINE bool is_large(const rising_product *x) {
  return x->m[0][0] > 0x1p400 || x->m[RISING_BATCH - 1][EV_LANES - 1] > 0x1p400;
}

EV_INLINE void add_times_ln(const rising_product *x, double times, ev_lanes *sum) {
  for (int j = 0; j < RISING_BATCH; j++) {
    ev_lanes ln = x->m[j];
    ev_log(&ln, 1);
    sum[j] += times * (x->e[j] * EV_LN2_HIGH + (x->e[j] * EV_LN2_LOW + ln));
  }
}

/* The product of the first factors is that of every cluster with as many. */
EV_INLINE void add_head(const ev_rising *r, const ev_lanes *x, ev_lanes *sum) {
  rising_product rise, product;
  for (int j = 0; j < RISING_BATCH; j++) {
    rise.e[j] = product.e[j] = x[j] * 0;
    rise.m[j] = product.m[j] = rise.e[j] + 1;
  }
  for (int i = 1; i < r->head_size; i++) {
    double inverse = 1.0 / i;
    for (int j = 0; j < RISING_BATCH; j++) rise.m[j] *= 1 + x[j] * inverse;
    if (is_large(&rise)) normalise(&rise);
    if (r->ends[i] > RISING_TIMES) {
      add_times_ln(&rise, r->ends[i], sum);
    } else {
      for (int times = (int)r->ends[i]; times > 0; times--) {
        for (int j = 0; j < RISING_BATCH; j++) {
          product.m[j] *= rise.m[j];
          product.e[j] += rise.e[j];
        }
        if (is_large(&product)) normalise(&product);
      }
    }
  }
  add_times_ln(&product, 1, sum);
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
  ev_lanes head = (h - 0.5) * ln_head + rest, ln_h_x = ln_head + M_LN2 * 6;
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

/* So many counts are sorted by insertion. */
enum { RISING_FEW_COUNTS = 64 };

static int tallies_by_count(const void *a, const void *b) {
  double x = ((const ev_tally *)a)->k, y = ((const ev_tally *)b)->k;
  return (x > y) - (x < y);
}

static double rising_bin(double k) {
  return floor(log(k / EV_RISING_HEAD) / 2);
}

static void push_node(ev_rising *r, double k, double ln, double times) {
  r->tail[r->tail_size++] = (ev_rising_node){k, times, 1 / k, ln};
  r->tail_times += times;
  r->tail_constant += times * (stirling_rest(EV_RISING_HEAD) - stirling_rest(k));
}

enum { NODE_GROUPS = EV_RISING_NODES / EV_LANES };

/* cos(pi (j + 1/2) / 20), and the sine with every other sign changed: the barycentric
** weights. */
static const double bin_nodes[EV_RISING_NODES] = {
    0.9969173337331279762,   0.97236992039767660183,   0.92387953251128675613,
    0.85264016435409222152,  0.76040596560003093817,   0.64944804833018365573,
    0.52249856471594886499,  0.38268343236508977173,   0.23344536385590541177,
    0.078459095727844945033, -0.078459095727844945033, -0.23344536385590541177,
    -0.38268343236508977173, -0.52249856471594886499,  -0.64944804833018365573,
    -0.76040596560003093817, -0.85264016435409222152,  -0.92387953251128675613,
    -0.97236992039767660183, -0.9969173337331279762,
};
static const double bin_shares[EV_RISING_NODES] = {
    0.078459095727844945033, -0.23344536385590541177,  0.38268343236508977173,
    -0.52249856471594886499, 0.64944804833018365573,   -0.76040596560003093817,
    0.85264016435409222152,  -0.92387953251128675613,  0.97236992039767660183,
    -0.9969173337331279762,  0.9969173337331279762,    -0.97236992039767660183,
    0.92387953251128675613,  -0.85264016435409222152,  0.76040596560003093817,
    -0.64944804833018365573, 0.52249856471594886499,   -0.38268343236508977173,
    0.23344536385590541177,  -0.078459095727844945033,
};

/* Counts of one bin as weights of its Chebyshev points: Lagrange's polynomials, by
** the barycentric formula. */
EV_WIDE static void spread_over_bin(ev_rising *r, double bin, const ev_tally *counts, size_t size) {
  ev_lanes at[NODE_GROUPS], share[NODE_GROUPS], times[NODE_GROUPS] = {{0}};
  for (int j = 0; j < EV_RISING_NODES; j++) {
    at[j / EV_LANES][j % EV_LANES] = 2 * bin + 1 + bin_nodes[j];
    share[j / EV_LANES][j % EV_LANES] = bin_shares[j];
  }
  for (size_t i = 0; i < size; i++) {
    double x = log(counts[i].k / EV_RISING_HEAD);
    ev_lanes part[NODE_GROUPS], sum = {0};
    for (int j = 0; j < NODE_GROUPS; j++) {
      ev_lanes away = x - at[j];
      /* At a point itself the quotient would be infinite; next to it, it is as good. */
      for (int lane = 0; lane < EV_LANES; lane++)
        if (away[lane] == 0) away[lane] = 1e-300;
      part[j] = share[j] / away;
      sum += part[j];
    }
    double times_each = counts[i].times / ev_sum(&sum);
    for (int j = 0; j < NODE_GROUPS; j++) times[j] += times_each * part[j];
  }
  for (int j = 0; j < EV_RISING_NODES; j++) {
    double away = at[j / EV_LANES][j % EV_LANES];
    push_node(r, EV_RISING_HEAD * exp(away), log(EV_RISING_HEAD) + away,
              times[j / EV_LANES][j % EV_LANES]);
  }
}

/* Sorted, different counts from EV_RISING_HEAD + 1 on, bin by bin. */
static void gather_tail(ev_rising *r, const ev_tally *counts, size_t size) {
  for (size_t from = 0, to; from < size; from = to) {
    double bin = rising_bin(counts[from].k);
    for (to = from + 1; to < size && rising_bin(counts[to].k) == bin;) to++;
    if (to - from > EV_RISING_NODES) {
      spread_over_bin(r, bin, counts + from, to - from);
    } else {
      for (size_t i = from; i < to; i++)
        push_node(r, counts[i].k, log(counts[i].k), counts[i].times);
    }
  }
}

/* In rising order, and different ones only; returns how many. */
static size_t sort_counts(ev_tally *counts, size_t size) {
  size_t kept = 0;
  if (size > RISING_FEW_COUNTS) qsort(counts, size, sizeof *counts, tallies_by_count);
  for (size_t i = 0; i < size; i++) {
    ev_tally t = counts[i];
    size_t at = kept;
    while (at > 0 && counts[at - 1].k > t.k) at--;
    if (at > 0 && counts[at - 1].k == t.k) {
      counts[at - 1].times += t.times;
      continue;
    }
    for (size_t j = kept++; j > at; j--) counts[j] = counts[j - 1];
    counts[at] = t;
  }
  return kept;
}

/* The sums do not depend on the order of counts: they are those of whole numbers, or taken
** in rising order. */
void ev_rising_make(ev_rising *r, ev_tally *counts, size_t size) {
  size_t tail = 0;
  r->clusters = r->answers = r->factors = r->tail_times = r->tail_constant = 0;
  r->head_size = 1;
  r->tail_size = 0;
  for (int i = 0; i < EV_RISING_HEAD; i++) r->ends[i] = 0;
  for (int i = 0; i < EV_RISING_CELLS; i++) r->filled[i] = false;
  for (size_t i = 0; i < size; i++)
    if (counts[i].k > EV_RISING_HEAD)
      counts[tail++] = counts[i];
    else if (counts[i].k >= 1)
      r->ends[(int)counts[i].k - 1] += counts[i].times;
  for (int i = 0; i < EV_RISING_HEAD; i++) {
    r->clusters += r->ends[i];
    r->answers += (i + 1) * r->ends[i];
    r->factors += i * r->ends[i];
    if (r->ends[i] > 0) r->head_size = i + 1;
  }
  double most = r->head_size;
  tail = sort_counts(counts, tail);
  for (size_t i = 0; i < tail; i++) {
    most = counts[i].k;
    r->clusters += counts[i].times;
    r->answers += most * counts[i].times;
    r->factors += (most - 1) * counts[i].times;
    r->ends[EV_RISING_HEAD - 1] += counts[i].times;
    r->head_size = EV_RISING_HEAD;
  }
  gather_tail(r, counts, tail);
  r->cells = (int)ceil(log1p(4 * most) / EV_RISING_CELL);
  r->last_cell = exp(EV_RISING_CELL * r->cells);
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
  double from = exp(EV_RISING_CELL * cell);
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
    double sum = 0, times = 0;
    for (int i = r->head_size - 1; i > 0; i--) {
      times += r->ends[i];
      sum += times * log1p(x / i);
    }
    return sum;
  }
  double v = log1p(x), sum;
  int cell = ev_rising_cell(r, v);
  const double *series = r->series[cell];
  bool last = cell == r->cells;
  double u =
      last ? 2 * r->last_cell / (1 + x) - 1 : (v - EV_RISING_CELL * cell) / EV_RISING_HALF - 1;
  ev_chebyshev_each(1, &series, EV_RISING_TERMS, &u, &sum);
  return last ? sum + r->factors * v : sum;
}

EV_WIDE static void add_apart(ev_rising *r, const ev_lanes *x, ev_lanes *sum) {
  ev_lanes v = 1 + *x, u = v, b0 = {0}, b1 = {0};
  const double *series[EV_LANES];
  ev_log(&v, 1);
  for (int i = 0; i < EV_LANES; i++) {
    int cell = ev_rising_cell(r, v[i]);
    series[i] = r->series[cell];
    if (cell < r->cells) {
      u[i] = (v[i] - EV_RISING_CELL * cell) * (1 / EV_RISING_HALF) - 1;
    } else {
      u[i] = 2 * r->last_cell / (1 + (*x)[i]) - 1;
      (*sum)[i] += r->factors * v[i];
    }
  }
  ev_lanes twice = 2 * u;
  for (int k = EV_RISING_TERMS - 1; k > 0; k--) {
    ev_lanes b2 = b1, c = {series[0][k], series[1][k], series[2][k], series[3][k]};
    b1 = b0;
    b0 = (c - b2) + twice * b1;
  }
  ev_lanes c = {series[0][0], series[1][0], series[2][0], series[3][0]};
  *sum += (c - b1) + u * b0;
}

void ev_rising_add_apart(ev_rising *r, const ev_lanes *x, ev_lanes *sum) {
  add_apart(r, x, sum);
}
