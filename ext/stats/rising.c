/*
** Sums of logarithms of rising factorials.
**
** Taking the first factor x out of each leaves sums of ln (1 + x/i), which are
** smooth in v = ln(1+x) up to a distance pi from the real axis, and so have short
** Chebyshev series there.
*/
#include "rising.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_gamma.h>

#include "chebyshev.h"

/* Counts up to this are products, larger ones go by Stirling's series: the first term
** it leaves out, z^-7 / 1680, is 1e-16 at 64, and would be 3e-10 at 8. */
enum { RISING_DIRECT = 64 };

/* ln Gamma(z) - [(z - 1/2) ln z - z + ln(2 pi)/2] */
static double stirling_series(double z) {
  double w = 1 / (z * z);
  return (1.0 / 12 - w * (1.0 / 360 - w * (1.0 / 1260))) / z;
}

/* ln Gamma(k+x) - ln Gamma(k) for k >= RISING_DIRECT, arranged so that a large k costs
** no digits. */
static double ln_gamma_rise(double k, double x) {
  return (k - 0.5) * log1p(x / k) + x * log(k + x) - x +
         (stirling_series(k + x) - stirling_series(k));
}

/* Beyond this x, which the prior e^-d never lets matter, x ln(k+x) - x would round away
** what depends on k: at x = e^30 it is 3e14. */
static const double RISING_LARGE = 1e4;

/* ln[(x+1)..(x+k-1) / (k-1)!], from the end that is the larger. */
static double ln_rise_at_large(double k, double x) {
  return ln_gamma_rise(x + 1, k - 1) - gsl_sf_lngamma(k);
}

double ev_rising_ln(const ev_rising *t, double x) {
  double sum = 0, ln_rise = 0;
  size_t i = 0;
  assert(x >= 0);
  for (int factor = 1; factor < RISING_DIRECT && i < t->size; factor++) {
    ln_rise += log1p(x / factor);
    if (t->items[i].count == factor + 1) sum += t->items[i++].times * ln_rise;
  }
  if (x > RISING_LARGE) {
    for (; i < t->size; i++) sum += t->items[i].times * ln_rise_at_large(t->items[i].count, x);
    return sum;
  }
  double from = i < t->size ? ln_rise - ln_gamma_rise(RISING_DIRECT, x) : 0;
  for (; i < t->size; i++) sum += t->items[i].times * (from + ln_gamma_rise(t->items[i].count, x));
  return sum;
}

static int tallies_by_count(const void *a, const void *b) {
  double x = ((const ev_tally *)a)->count, y = ((const ev_tally *)b)->count;
  return (x > y) - (x < y);
}

/* More different counts than RISING_MOST are thinned to about RISING_CLASSES classes of
** equal ratio, each left as two counts with the class's mean and variance in ln k.  A
** class spans a thousandth at the most, and ln_gamma_rise is nearly a straight line in
** ln k: measured at 10^5 different counts, the bounds move by 5e-12, and a
** million take a second. */
enum { RISING_MOST = 20000, RISING_CLASSES = 8000 };

/* The class that begins with item i, as its total and moments about the first ln k;
** moves *i past it. */
typedef struct tally_class {
  double times, sum, square, origin;
} tally_class;

static tally_class gather_class(const ev_rising *t, double end, size_t *i) {
  tally_class c = {0, 0, 0, log(t->items[*i].count)};
  for (bool inside = true; inside; inside = *i < t->size && log(t->items[*i].count) < end) {
    const ev_tally *item = &t->items[(*i)++];
    double from_origin = log(item->count) - c.origin;
    c.times += item->times;
    c.sum += item->times * from_origin;
    c.square += item->times * from_origin * from_origin;
  }
  return c;
}

static void thin_tallies(ev_rising *t) {
  size_t i = 0;
  if (t->size <= RISING_MOST) return;
  while (t->items[i].count < RISING_DIRECT) i++;
  size_t kept = i;
  double first = log(t->items[i].count);
  double width = (log(t->items[t->size - 1].count) - first) / RISING_CLASSES;
  while (i < t->size) {
    double end = first + width * (floor((log(t->items[i].count) - first) / width) + 1);
    tally_class c = gather_class(t, end, &i);
    double mean = c.sum / c.times, sd = sqrt(fmax(0, c.square / c.times - mean * mean));
    t->items[kept++] = (ev_tally){exp(c.origin + mean - sd), sd > 0 ? c.times / 2 : c.times};
    if (sd > 0) t->items[kept++] = (ev_tally){exp(c.origin + mean + sd), c.times / 2};
  }
  t->size = kept;
}

void ev_rising_settle(ev_rising *t) {
  qsort(t->items, t->size, sizeof *t->items, tallies_by_count);
  size_t kept = 0;
  t->clusters = 0;
  for (size_t i = 0; i < t->size; i++) {
    ev_tally next = t->items[i];
    if (next.count >= 1) t->clusters += next.times;
    if (next.count < 2) continue;
    if (kept > 0 && t->items[kept - 1].count == next.count)
      t->items[kept - 1].times += next.times;
    else
      t->items[kept++] = next;
  }
  t->size = kept;
  thin_tallies(t);
}

/* The singularities are pi away, so coefficients fall as exp(-k asinh(pi/half)), half
** being half a cell: the terms are as many as leave out e^-30, or 1e-13.  Short cells
** are the faster to read and long ones the fewer to fill, which is what counts when
** there are many different counts.  Neither cells nor terms come to what there is room
** for: the tables span 80 in v at the most, and x is never negative. */
void ev_rising_lay_out(ev_rising_table *table, const ev_rising *t, double from, double to) {
  double cell = t->size < 1000 ? 0.4 : 4;
  table->cells = (int)fmax(1, fmin(EV_RISING_CELLS, ceil((to - from) / cell)));
  table->from = from;
  table->width = (to - from) / table->cells;
  table->terms = t->size ? (int)fmin(EV_RISING_TERMS, 2 + 30 / asinh(2 * M_PI / table->width)) : 0;
  assert(table->cells * table->terms <= EV_RISING_COEFFICIENTS);
}

void ev_rising_fill(ev_rising_table *table, const ev_rising *t, int cell) {
  double roots[EV_RISING_TERMS], values[EV_RISING_TERMS], half = table->width / 2;
  double from = table->from + cell * table->width;
  for (int i = 0; i < table->terms; i++) {
    roots[i] = cos(M_PI * (i + 0.5) / table->terms);
    values[i] = ev_rising_ln(t, expm1(from + half * (1 + roots[i])));
  }
  ev_chebyshev_from_roots(table->terms, roots, values, table->c + cell * table->terms);
}

/* The cell of a table that x falls in, and where in it, from -1 to 1. */
static const double *table_cell(const ev_rising_table *t, double x, double *u) {
  double at = (log1p(x) - t->from) / t->width;
  int cell = at < t->cells ? (at > 0 ? (int)at : 0) : t->cells - 1;
  *u = 2 * (at - cell) - 1;
  return t->c + cell * t->terms;
}

double ev_rising_read(const ev_rising_table *t, double x) {
  if (t->terms == 0) return 0;
  double u, sum;
  const double *series = table_cell(t, x, &u);
  ev_chebyshev_each(1, &series, t->terms, &u, &sum);
  return sum;
}

double ev_rising_read_both(const ev_rising_table *t, double x, const ev_rising_table *s, double y) {
  if (t->terms != s->terms || t->terms == 0) return ev_rising_read(t, x) + ev_rising_read(s, y);
  double u[2], sums[2];
  const double *series[] = {table_cell(t, x, &u[0]), table_cell(s, y, &u[1])};
  ev_chebyshev_each(2, series, t->terms, u, sums);
  return sums[0] + sums[1];
}
