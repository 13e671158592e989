/*
** ranks(label, y [, level]) over rows of results, and ranks_counts(label, k, n [, level]) over
** one row per label: JSON, one object per label, best first.
**
** A label is any SQL value but NULL, as a cluster key is (contract 11); rows of one label are
** one model.
*/
#include "../stats/ranks.h"

#include <stdlib.h>

#include "function.h"

/* Adds k and n of a row to its label; a row with n = 0 adds nothing. */
static bool add_to_label(evalci_call *call, evalci_group *g, sqlite3_value *label,
                         const sqlite3_int64 *counts, int times) {
  evalci_key key;
  if (counts[1] == 0) return true;
  if (!evalci_read_name(call, "label", label, &key)) return false;
  evalci_entry *e = evalci_entry_of(&g->keys, &key);
  if (!e) return false;
  if (times > 0 && e->counts[1] + counts[1] > (sqlite3_int64)1 << 53)
    return evalci_fail(call, "n of one label must add up to at most 2^53, got %lld and more",
                       counts[1]);
  evalci_add_to_entry(&g->keys, e, counts, times);
  return true;
}

static bool add_labelled_result(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                                int times) {
  int y = evalci_read_result(argv[1]);
  if (y == EVALCI_BAD_RESULT) return evalci_fail_result(call, argv[1], false);
  return add_to_label(call, g, argv[0], (sqlite3_int64[]){y == 1, y != EVALCI_NO_RESULT}, times);
}

static bool add_labelled_counts(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                                int times) {
  static const char *const names[] = {"k", "n"};
  double given[2] = {0, 0};
  if (!evalci_any_null(2, argv + 1) && !evalci_read_k_n(call, names, argv + 1, given)) return false;
  sqlite3_int64 counts[] = {(sqlite3_int64)given[0], (sqlite3_int64)given[1]};
  return add_to_label(call, g, argv[0], counts, times);
}

const evalci_rows evalci_labelled_results = {{"label", "y"}, 2, add_labelled_result};
const evalci_rows evalci_labelled_counts = {{"label", "k", "n"}, 2, add_labelled_counts};

/* A label and its result. */
typedef struct ranked_label {
  const evalci_entry *entry;
  ev_rank rank;
} ranked_label;

/* Compares expected ranks; those that differ by rounding only are ordered by label. */
static int best_first(const void *a, const void *b) {
  const ranked_label *x = a, *y = b;
  double rank_x = nearbyint(x->rank.rank * 1e9), rank_y = nearbyint(y->rank.rank * 1e9);
  if (rank_x != rank_y) return rank_x < rank_y ? -1 : 1;
  return evalci_compare_keys(x->entry, y->entry);
}

static void result_ranks(sqlite3_context *context, ranked_label *r, size_t count) {
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(context));
  qsort(r, count, sizeof *r, best_first);
  for (size_t i = 0; i < count; i++) {
    sqlite3_str_appendall(out, i ? ",{\"label\":" : "[{\"label\":");
    evalci_append_key(out, r[i].entry);
    evalci_append_member(out, "mean", r[i].rank.mean);
    evalci_append_member(out, "p_best", r[i].rank.best);
    evalci_append_member(out, "rank", r[i].rank.rank);
    sqlite3_str_appendf(out, ",\"lo\":%d,\"hi\":%d}", (int)r[i].rank.lo, (int)r[i].rank.hi);
  }
  sqlite3_str_appendchar(out, 1, ']');
  evalci_result_json(context, out);
}

static ev_status rank_labels(sqlite3_context *context, const evalci_group *g, size_t count,
                             ranked_label *r) {
  ev_answered *models = sqlite3_malloc64(count * sizeof *models);
  ev_rank *ranks = sqlite3_malloc64(count * sizeof *ranks);
  ev_status status = EV_NO_MEMORY;
  if (models && ranks) {
    size_t i = 0;
    for (const evalci_entry *e = NULL; (e = evalci_next_entry(&g->keys, e)); i++) {
      models[i] = (ev_answered){(double)e->counts[0], (double)e->counts[1]};
      r[i].entry = e;
    }
    status = ev_ranks(models, count, &g->options, evalci_host_of(context), ranks, NULL);
    for (i = 0; status == EV_OK && i < count; i++) r[i].rank = ranks[i];
  }
  sqlite3_free(models);
  sqlite3_free(ranks);
  return status;
}

static void answer_ranks(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  evalci_call call = {f->name, NULL};
  size_t count = evalci_count_entries(&g->keys);
  if (count == 0) return;
  if (count > EV_MOST_RANKED) {
    evalci_fail(&call, "up to %d labels can be ranked, got %d; leave out the worst, or group them",
                EV_MOST_RANKED, (int)count);
    evalci_report(context, &call);
    return;
  }
  ranked_label *r = sqlite3_malloc64(count * sizeof *r);
  ev_status status = r ? rank_labels(context, g, count, r) : EV_NO_MEMORY;
  if (evalci_check_status(context, f->name, status)) result_ranks(context, r, count);
  sqlite3_free(r);
}

const evalci_kind evalci_ranks_of_labels = {.json = true, .answer = answer_ranks};
