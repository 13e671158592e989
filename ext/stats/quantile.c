/*
** A quantile of any distribution, by order statistics.
**
**   1. x_(1) <= ... <= x_(n) are the values, and B ~ Binomial(n, q) counts those at or below
**      the quantile.
**   2. The lower bound is x_(l), l the largest with P(B <= l-1) <= alpha/2; -infinity if l = 0.
**   3. The upper bound is x_(u), u the smallest with P(B >= u) <= alpha/2; infinity if
**      u = n+1.  It is n+1 - l of n - B ~ Binomial(n, 1-q).
**   4. Whatever the distribution, ties included, each bound misses the quantile with a chance
**      of at most alpha/2: the interval never covers less than its level.
**   5. If only m of the n values are independent, as with m questions asked several times, l and
**      u are those of m values; x_(l) is the first value with more than l-1 of m equal parts of
**      the sample at or below it, x_(u) the first with u parts.  So equal answers to a question
**      count as one, and different ones make the interval too wide rather than too narrow.
**
** Reference: David and Nagaraja, Order Statistics (2003), 7.1.
*/
#include "quantile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "atoms.h"
#include "binomial.h"
#include "root.h"

/* Probabilities that are equal but for rounding count as equal: P(B <= 0) = 1/4 = alpha/2 of
** two values at q = 1/2 and level 1/2. */
static const double ROUNDING = 1e-12;

typedef struct count_below {
  double n, tail;
  ev_point q;
} count_below;

static bool too_likely(double l, void *context) {
  const count_below *c = context;
  return !(ev_binomial_at_most(l, c->n, c->q) <= c->tail * (1 + ROUNDING));
}

/* The largest l from 0 to n with P(B <= l-1) <= tail. */
static double lower_place(double n, ev_point q, double tail) {
  return ev_least_whole(0, n, floor(n * q.x), too_likely, &(count_below){n, tail, q});
}

static int compare_values(const void *left, const void *right) {
  const ev_score *a = left, *b = right;
  return ev_compare_numbers(a->score, b->score);
}

void ev_sort_values(ev_score *values, size_t count) {
  qsort(values, count, sizeof *values, compare_values);
}

static double count_values(const ev_score *values, size_t count) {
  double n = 0;
  for (size_t i = 0; i < count; i++) n += values[i].times;
  return n;
}

/* The first value with at least, or more than, this many values at or below it. */
static double order_value(const ev_score *sorted, size_t count, double many, bool more) {
  double n = 0;
  for (size_t i = 0; i < count; i++) {
    n += sorted[i].times;
    if (more ? n > many : n >= many) return sorted[i].score;
  }
  return sorted[count - 1].score;
}

ev_status ev_quantile_of_sorted(const ev_score *values, size_t count, double units,
                                const ev_options *options, ev_interval *ci) {
  double q = options->quantile, tail = ev_tail(options), n = count_values(values, count);
  assert(count > 0 && units > 0 && units <= n && q > 0 && q < 1);
  double l = lower_place(units, (ev_point){q, 1 - q}, tail);
  double u = units + 1 - lower_place(units, (ev_point){1 - q, q}, tail);
  double part = n / units;
  ci->lo = l > 0 ? order_value(values, count, (l - 1) * part, true) : -HUGE_VAL;
  ci->hi = u <= units ? order_value(values, count, u * part, false) : HUGE_VAL;
  return ev_interval_status(*ci);
}

ev_status ev_quantile(const ev_score *values, size_t count, const ev_options *options, ev_host host,
                      ev_interval *ci) {
  (void)host;
  ev_score *sorted = malloc(count * sizeof *sorted);
  if (!sorted) return EV_NO_MEMORY;
  memcpy(sorted, values, count * sizeof *sorted);
  ev_sort_values(sorted, count);
  ev_status status = ev_quantile_of_sorted(sorted, count, count_values(sorted, count), options, ci);
  free(sorted);
  return status;
}

double ev_sample_quantile(const ev_score *sorted, size_t count, double q) {
  double place = q * (count_values(sorted, count) - 1), whole = floor(place);
  double below = order_value(sorted, count, whole, true);
  double above = order_value(sorted, count, whole + 1, true);
  return below + (place - whole) * (above - below);
}
