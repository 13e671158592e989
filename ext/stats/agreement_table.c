/*
** Cohen's kappa, also weighted, and Gwet's AC1 from a table of two raters' categories.
**
** 1. The weights of the cells are Dirichlet: the counts, an imagined agreement spread evenly over
**    the diagonal, and an imagined disagreement over the rest: evenly where categories are names,
**    in proportion to 1/steps where they are ordered.  The upper bound of kappa has no imagined
**    disagreement.  That of AC1 has it: it covers 93 to 98% as it is.
** 2. With r and c the shares of the categories by each rater and D the distances, the tangent of
**    the disagreement expected, r'Dc, is (D'r)_b + (Dc)_a - r'Dc in the cell (a, b).
** 3. The term left out is (r - r*)'D(c - c*), with mean (sum D p* - r*'Dc*) / (A+1) where A is
**    the sum of the weights.  AC1 expects 1 - (1 - m'm)/(k-1), with m the mean of r and c.
** 4. The rest is agreement_tilted.c's.  Two categories are agreement.c's.
**
** References: Cohen, Psychol. Bull. 70 (1968) 213-220; Gwet, Br. J. Math. Stat. Psychol. 61
** (2008) 29-48.
*/
#include <math.h>
#include <stdlib.h>

#include "agreement.h"

static double steps_between(size_t a, size_t b) {
  return a < b ? (double)(b - a) : (double)(a - b);
}

static double distance_of(ev_distance distance, size_t categories, size_t a, size_t b) {
  double apart = steps_between(a, b) / (double)(categories - 1);
  if (distance == EV_NOMINAL) return a != b;
  return distance == EV_LINEAR ? apart : apart * apart;
}

typedef struct margins {
  size_t k;
  double *row, *column;         /* shares of the categories */
  double *from_row, *to_column; /* D'r and Dc */
} margins;

/* Sums of the shares by rows and columns. */
static void sum_margins(const double *share, const margins *m) {
  for (size_t a = 0; a < m->k; a++) m->row[a] = m->column[a] = 0;
  for (size_t i = 0; i < m->k * m->k; i++) {
    m->row[i / m->k] += share[i];
    m->column[i % m->k] += share[i];
  }
}

static void expect_kappa(ev_tilted *t, void *context) {
  const margins *m = context;
  size_t k = m->k;
  double seen = 0, expected = 0;
  sum_margins(t->share, m);
  for (size_t a = 0; a < k; a++) m->from_row[a] = m->to_column[a] = 0;
  for (size_t i = 0; i < t->count; i++) {
    m->from_row[i % k] += t->seen[i] * m->row[i / k];
    m->to_column[i / k] += t->seen[i] * m->column[i % k];
    seen += t->seen[i] * t->share[i];
  }
  for (size_t a = 0; a < k; a++) expected += m->row[a] * m->to_column[a];
  double rest = t->curvature * (seen - expected) - expected;
  for (size_t i = 0; i < t->count; i++)
    t->expected[i] = m->from_row[i % k] + m->to_column[i / k] + rest;
}

static void expect_ac1(ev_tilted *t, void *context) {
  const margins *m = context;
  size_t k = m->k;
  double square = 0, same = 0, scale = 1 / (double)(k - 1);
  sum_margins(t->share, m);
  for (size_t a = 0; a < k; a++) {
    m->row[a] = (m->row[a] + m->column[a]) / 2;
    square += m->row[a] * m->row[a];
    same += t->share[a * (k + 1)];
  }
  double rest = 1 + square - t->curvature * ((1 + same) / 2 - square);
  for (size_t i = 0; i < t->count; i++)
    t->expected[i] = 1 - scale * (rest - m->row[i / k] - m->row[i % k]);
}

/* Step 1. */
static void imagine_cells(const ev_table *table, ev_distance distance, bool disagreement,
                          ev_tilted *t) {
  size_t k = table->categories;
  double all = 0;
  for (size_t i = 0; i < t->count; i++)
    if (t->seen[i] > 0) all += distance == EV_NOMINAL ? 1 : 1 / steps_between(i / k, i % k);
  t->total = disagreement ? 2 : 1;
  for (size_t i = 0; i < t->count; i++) {
    double steps = distance == EV_NOMINAL ? 1 : steps_between(i / k, i % k);
    double share = t->seen[i] > 0 ? disagreement / (steps * all) : 1 / (double)k;
    t->weight[i] = table->counts[i] + share;
    t->total += table->counts[i];
  }
  t->curvature = 1 / (t->total + 1);
}

static ev_status table_interval(const ev_table *table, ev_distance distance, bool ac1, double mass,
                                ev_tilted *t, ev_host host, ev_interval *ci) {
  imagine_cells(table, distance, true, t);
  ev_status status = ev_tilted_bound(t, mass, false, host, &ci->lo);
  if (!ac1) imagine_cells(table, distance, false, t);
  return status == EV_OK ? ev_tilted_bound(t, mass, true, host, &ci->hi) : status;
}

static ev_status coefficient_of_table(ev_table table, ev_distance distance,
                                      void (*expect)(ev_tilted *, void *), double mass,
                                      ev_host host, ev_interval *ci) {
  size_t k = table.categories, count = k * k;
  double *room = malloc((4 * count + 4 * k) * sizeof *room);
  if (!room) return EV_NO_MEMORY;
  double *margin = room + 4 * count;
  margins m = {k, margin, margin + k, margin + 2 * k, margin + 3 * k};
  ev_tilted t = {.count = count,
                 .weight = room,
                 .seen = room + count,
                 .share = room + 2 * count,
                 .expected = room + 3 * count,
                 .expect = expect,
                 .context = &m};
  for (size_t i = 0; i < count; i++) {
    t.weight[i] = table.counts[i];
    t.total += table.counts[i];
    t.seen[i] = distance_of(distance, k, i / k, i % k);
  }
  ev_status status = EV_OK;
  if (mass > 0) {
    status = table_interval(&table, distance, expect == expect_ac1, mass, &t, host, ci);
  } else {
    ci->lo = ci->hi = 1 - ev_tilted_ratio(&t);
  }
  free(room);
  return status;
}

ev_status ev_table_kappa(ev_table table, const ev_options *options, ev_host host, ev_interval *ci) {
  if (table.categories == 2) return ev_kappa(table.counts, options, host, ci);
  return coefficient_of_table(table, options->distance, expect_kappa, ev_tail(options), host, ci);
}

ev_status ev_table_ac1(ev_table table, const ev_options *options, ev_host host, ev_interval *ci) {
  if (table.categories == 2) return ev_ac1(table.counts, options, host, ci);
  return coefficient_of_table(table, EV_NOMINAL, expect_ac1, ev_tail(options), host, ci);
}

ev_status ev_table_kappa_point(ev_table table, const ev_options *options, ev_host host,
                               ev_interval *ci) {
  return coefficient_of_table(table, options->distance, expect_kappa, 0, host, ci);
}

ev_status ev_table_ac1_point(ev_table table, const ev_options *options, ev_host host,
                             ev_interval *ci) {
  (void)options;
  return coefficient_of_table(table, EV_NOMINAL, expect_ac1, 0, host, ci);
}
