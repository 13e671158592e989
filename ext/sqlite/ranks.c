/*
** ranks(label, y [, level]) over rows of results, and ranks_counts(label, k, n [, level])
** over one row a label: JSON, an object a label, best first.
**
** A label is any SQL value but NULL, as a cluster key is (contract 11); rows of one label
** are one model.
*/
#include "../stats/ranks.h"

#include <stdlib.h>

#include "function.h"
#include "keys.h"

typedef struct labels {
  evalci_group group;
  evalci_keys keys;
} labels;

/* What the rows are, and how one of them is read: k and n of 0 when it is to be skipped.
** False after leaving a message. */
struct evalci_label_source {
  const char *arguments[4];
  bool (*read)(evalci_call *call, sqlite3_value **argv, sqlite3_int64 *counts);
};

static const evalci_label_source *label_source_of(const evalci_function *f) {
  return f->labels;
}

static const char *const *label_arguments(const evalci_function *f) {
  return label_source_of(f)->arguments;
}

static bool read_labelled_result(evalci_call *call, sqlite3_value **argv, sqlite3_int64 *counts) {
  int y = evalci_read_result(argv[1]);
  if (y == EVALCI_BAD_RESULT) return evalci_fail_result(call, argv[1], false);
  counts[0] = y == 1;
  counts[1] = y != EVALCI_NO_RESULT;
  return true;
}

static bool read_labelled_counts(evalci_call *call, sqlite3_value **argv, sqlite3_int64 *counts) {
  static const char *const names[] = {"k", "n"};
  double given[2] = {0, 0};
  if (!evalci_any_null(2, argv + 1) && !evalci_read_k_n(call, names, argv + 1, given)) return false;
  counts[0] = (sqlite3_int64)given[0];
  counts[1] = (sqlite3_int64)given[1];
  return true;
}

const evalci_label_source evalci_labelled_results = {{"label", "y"}, read_labelled_result};
const evalci_label_source evalci_labelled_counts = {{"label", "k", "n"}, read_labelled_counts};

static void begin_labels(const evalci_function *f, evalci_group *g) {
  (void)f;
  ((labels *)g)->keys.width = 2;
}

static bool add_to_labels(evalci_call *call, const evalci_function *f, evalci_group *g,
                          sqlite3_value **argv, int times) {
  labels *l = (labels *)g;
  sqlite3_int64 counts[2];
  evalci_key key;
  if (!label_source_of(f)->read(call, argv, counts)) return false;
  if (counts[1] == 0) return true;
  if (!evalci_read_label(call, argv[0], &key)) return false;
  evalci_entry *e = evalci_entry_of(&l->keys, &key);
  if (!e) return false;
  if (times > 0 && e->counts[1] + counts[1] > (sqlite3_int64)1 << 53)
    return evalci_fail(call, "n of one label must add up to at most 2^53, got %lld and more",
                       counts[1]);
  evalci_add_to_entry(&l->keys, e, counts, times);
  return true;
}

static void free_labels(evalci_group *g) {
  evalci_free_keys(&((labels *)g)->keys);
}

static const evalci_gathering label_rows = {sizeof(labels), begin_labels, add_to_labels,
                                            free_labels};

/* A label and what became of it. */
typedef struct ranked_label {
  const evalci_entry *entry;
  ev_rank rank;
} ranked_label;

/* By expected rank, and where that is the same, but for rounding, by label. */
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

static ev_status rank_labels(sqlite3_context *context, const labels *l, size_t count,
                             ranked_label *r) {
  ev_answered *models = sqlite3_malloc64(count * sizeof *models);
  ev_rank *ranks = sqlite3_malloc64(count * sizeof *ranks);
  ev_status status = EV_NO_MEMORY;
  if (models && ranks) {
    size_t i = 0;
    for (const evalci_entry *e = NULL; (e = evalci_next_entry(&l->keys, e)); i++) {
      models[i] = (ev_answered){(double)e->counts[0], (double)e->counts[1]};
      r[i].entry = e;
    }
    status = ev_ranks(models, count, &l->group.options, evalci_host_of(context), ranks, NULL);
    for (i = 0; status == EV_OK && i < count; i++) r[i].rank = ranks[i];
  }
  sqlite3_free(models);
  sqlite3_free(ranks);
  return status;
}

static void answer_ranks(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  const labels *l = (const labels *)g;
  evalci_call call = {f->name, NULL};
  size_t count = evalci_count_entries(&l->keys);
  if (count == 0) return;
  if (count > EV_MOST_RANKED) {
    evalci_fail(&call, "up to %d labels can be ranked, got %d; leave the last out, or group",
                EV_MOST_RANKED, (int)count);
    evalci_report(context, &call);
    return;
  }
  ranked_label *r = sqlite3_malloc64(count * sizeof *r);
  ev_status status = r ? rank_labels(context, l, count, r) : EV_NO_MEMORY;
  if (evalci_check_status(context, f->name, status)) result_ranks(context, r, count);
  sqlite3_free(r);
}

const evalci_kind evalci_ranks_of_labels = {
    .arguments = label_arguments, .json = true, .gathering = &label_rows, .answer = answer_ranks};
