/*
** Which tasks got better or worse between two models, A the old one and B the new one.
**
** 1. Every task on its own: the pair on the task's questions (pairs.c), and its p.
** 2. p is corrected for testing all tasks of the pair, by the methods of Holm (1979) and of
**    Benjamini and Hochberg (1995).
** 3. Partial pooling: of the questions that one model alone has right, the share that B
**    has right, each task a cluster of the hierarchy, shrunken toward the other tasks.
**
** The results of 2 and 3 are kept for one pair, because rows come pair by pair.
*/
#include <stdlib.h>

#include "../stats/each.h"
#include "inside.h"

/* At this level at most about 5% of the tasks that the hierarchy calls worse are not worse; at
** 0.95 up to 11% are not.  Simulated with 20 and 57 tasks of 10 to 50 questions. */
static const double SHRUNKEN_LEVEL = 0.98;

static int by_tested_p(const void *x, const void *y) {
  double p = (*(board_adjusted *const *)x)->p, q = (*(board_adjusted *const *)y)->p;
  return (p > q) - (p < q);
}

ev_status board_adjust(board_adjusted *list, size_t count) {
  board_adjusted **sorted = malloc((count + 1) * sizeof *sorted);
  size_t tests = 0;
  double holm = 0, bh = 1;
  if (!sorted) return EV_NO_MEMORY;
  for (size_t i = 0; i < count; i++) {
    list[i].holm = list[i].bh = NAN;
    if (!isnan(list[i].p)) sorted[tests++] = &list[i];
  }
  qsort(sorted, tests, sizeof *sorted, by_tested_p);
  for (size_t i = 0; i < tests; i++) {
    holm = fmax(holm, sorted[i]->p * (double)(tests - i));
    sorted[i]->holm = fmin(1, holm);
  }
  for (size_t i = tests; i-- > 0;) {
    bh = fmin(bh, sorted[i]->p * (double)tests / (double)(i + 1));
    sorted[i]->bh = bh;
  }
  free(sorted);
  return EV_OK;
}

static ev_status test_slices(const board *b, size_t model_a, size_t model_b, ev_host host,
                             board_adjusted *list) {
  for (size_t t = 0; t < b->tasks.count; t++) {
    board_pair p;
    ev_status status = board_count_slice(b, model_a, model_b, t, &p);
    if (status == EV_OK) status = board_test_pair(b, &p, host);
    if (status != EV_OK) return status;
    list[t].p = p.p;
  }
  return board_adjust(list, b->tasks.count);
}

static bool is_kept(const board_slices *kept, size_t model_a, size_t model_b) {
  return kept->known && kept->a == model_a && kept->b == model_b;
}

ev_status board_adjusted_slice(board *b, size_t model_a, size_t model_b, size_t task, ev_host host,
                               board_adjusted *held) {
  board_slices *kept = &b->held_slices;
  ev_status status = EV_OK;
  if (!kept->held) kept->held = malloc((b->tasks.count + 1) * sizeof *kept->held);
  if (!kept->held) return EV_NO_MEMORY;
  if (!is_kept(kept, model_a, model_b)) {
    status = test_slices(b, model_a, model_b, host, kept->held);
    kept->known = status == EV_OK;
    kept->a = model_a;
    kept->b = model_b;
  }
  *held = kept->held[task];
  return status;
}

/* The clusters of the hierarchy, indexed by task.  Tasks without a question that exactly one
** model has right, and scored tasks, are not clusters and have n = 0. */
static ev_status shrink_slices(const board *b, size_t model_a, size_t model_b, ev_host host,
                               ev_cluster *clusters, ev_each *each, ev_interval *shrunken) {
  size_t count = 0, at = 0;
  ev_options options = b->options;
  options.level = SHRUNKEN_LEVEL;
  for (size_t t = 0; t < b->tasks.count; t++) {
    board_pair p;
    ev_status status = board_count_slice(b, model_a, model_b, t, &p);
    if (status != EV_OK) return status;
    double only = (double)p.only_a + p.only_b;
    bool has = !p.scored && only > 0;
    shrunken[t] = has ? (ev_interval){0, 1} : board_no_interval();
    if (has) clusters[count++] = (ev_cluster){p.only_b, only, 1};
  }
  if (count == 0) return EV_OK;
  ev_status status = ev_clustered_each(clusters, count, &options, host, each);
  for (size_t t = 0; t < b->tasks.count && status == EV_OK; t++) {
    if (isnan(shrunken[t].lo)) continue;
    shrunken[t] = (ev_interval){each[at].lo, each[at].hi};
    at++;
  }
  return status;
}

ev_status board_shrunken_slice(board *b, size_t model_a, size_t model_b, size_t task, ev_host host,
                               ev_interval *ci) {
  board_slices *kept = &b->shrunken_slices;
  size_t room = b->tasks.count + 1;
  ev_status status = EV_OK;
  if (!kept->shrunken) kept->shrunken = malloc(room * sizeof *kept->shrunken);
  if (!kept->shrunken) return EV_NO_MEMORY;
  if (!is_kept(kept, model_a, model_b)) {
    ev_cluster *clusters = malloc(room * sizeof *clusters);
    ev_each *each = malloc(room * sizeof *each);
    status = clusters && each
                 ? shrink_slices(b, model_a, model_b, host, clusters, each, kept->shrunken)
                 : EV_NO_MEMORY;
    free(clusters);
    free(each);
    kept->known = status == EV_OK;
    kept->a = model_a;
    kept->b = model_b;
  }
  *ci = kept->shrunken[task];
  return status;
}

ev_status board_slice_verdict(board *b, const board_pair *p, ev_host host, const char **words) {
  board_adjusted held;
  ev_interval shrunken;
  size_t task = p->slice - 1;
  *words = NULL;
  ev_status status = board_adjusted_slice(b, p->a, p->b, task, host, &held);
  if (status != EV_OK || isnan(held.bh)) return status;
  if (held.bh <= 1 - b->settings.level && p->mean_a != p->mean_b) {
    *words = p->mean_a > p->mean_b ? "regressed" : "improved";
    return EV_OK;
  }
  status = board_shrunken_slice(b, p->a, p->b, task, host, &shrunken);
  *words = shrunken.hi < 0.5   ? "perhaps regressed"
           : shrunken.lo > 0.5 ? "perhaps improved"
                               : "not separated";
  return status;
}
