/*
** A ratio of two sums over rows, as cost per right answer: E[total] / E[count].
**
**   1. Rows have Dirichlet weights w, as in ev_mean: the ratio is sum w total / sum w count.
**   2. Two imagined rows of weight 1 keep it from collapsing: one with the greatest total
**      seen that counts nothing, one with the least total that counts 1, or as much as the
**      greatest count seen.  Where the total is c on every row, and counts are 0 or 1, the
**      ratio is c / Beta(1 + k, 1 + n - k).
**   3. With `above` the total and `below` the count of a row, the Dirichlet mean
**      m = sum w above / sum w (above + below) of dirichlet.c is a rising function of the
**      ratio, which is m / (1 - m); so are their quantiles.
**   4. Totals and counts are over powers of 2, so that none is above 1.
**
** The imagined failure at the greatest total is what makes skewed costs covered, up to a
** standard deviation of their logarithms of 1: tests/measured/coverage.md.
*/
#include "ratio.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "atoms.h"

/* The extremes of the rows. */
typedef struct ratio_span {
  double least_total, most_total, most_count;
} ratio_span;

static ratio_span span_of_rows(const ev_score_cluster *rows, size_t count) {
  ratio_span span = {rows[0].total, rows[0].total, 1};
  for (size_t i = 0; i < count; i++) {
    span.least_total = fmin(span.least_total, rows[i].total);
    span.most_total = fmax(span.most_total, rows[i].total);
    span.most_count = fmax(span.most_count, rows[i].size);
  }
  return span;
}

/* The power of 2 that keeps a positive number, and all below it, at most 1. */
static int exponent_of(double most) {
  int exponent;
  frexp(most, &exponent);
  return exponent;
}

static ev_status ratio_atoms(const ev_score_cluster *rows, size_t count, const ratio_span *span,
                             ev_atoms *atoms) {
  ev_score_cluster *list = malloc((count + 2) * sizeof *list);
  *atoms = (ev_atoms){NULL, 0};
  if (!list) return EV_NO_MEMORY;
  memcpy(list, rows, count * sizeof *list);
  list[count] = (ev_score_cluster){span->most_total, 0, 1};
  list[count + 1] = (ev_score_cluster){span->least_total, span->most_count, 1};
  ev_status status = ev_atoms_of_ratios(list, count + 2, exponent_of(span->most_total),
                                        exponent_of(span->most_count), atoms);
  free(list);
  return status;
}

static double ratio_at(ev_point m, const ratio_span *span) {
  return ldexp(m.x / m.y, exponent_of(span->most_total) - exponent_of(span->most_count));
}

ev_status ev_ratio(const ev_score_cluster *rows, size_t count, const ev_options *options,
                   ev_host host, ev_interval *ci) {
  assert(count > 0);
  ratio_span span = span_of_rows(rows, count);
  ev_atoms atoms;
  ev_dirichlet d = {.count = 0};
  ev_point low, high;
  *ci = (ev_interval){0, 0};
  if (span.most_total == 0) return EV_OK;
  ev_status status = ratio_atoms(rows, count, &span, &atoms);
  if (status == EV_OK) status = ev_dirichlet_make(&d, atoms.list, atoms.count, EV_MERGE_MANY, host);
  if (status == EV_OK) status = ev_dirichlet_lower(&d, ev_tail(options), &low);
  if (status == EV_OK) status = ev_dirichlet_upper(&d, ev_tail(options), &high);
  if (status == EV_OK) *ci = (ev_interval){ratio_at(low, &span), ratio_at(high, &span)};
  ev_dirichlet_free(&d);
  ev_atoms_free(&atoms);
  return status;
}
