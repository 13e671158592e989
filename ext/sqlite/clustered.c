/*
** Clustered questions in SQL: clustered_ci(y, cluster [, level [, prior]]) over rows of
** results, clustered_ci_counts(k, n [, level [, prior]]) over one row per cluster, and
** the other functions of clusters: clustered_prob_above, clustered_each and so on.
**
** Clusters of rows of results are kept by their key, with k and n; so are clusters that
** have a label.  Others are kept as pairs (k, n), blobs of two doubles, with the number of
** clusters that have them.
*/
#include <math.h>
#include <string.h>

#include "../stats/each.h"
#include "function.h"

static bool add_to_named(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                         const char *argument, int times) {
  int y = evalci_read_result(argv[0]);
  evalci_key key;
  if (y == EVALCI_BAD_RESULT) return evalci_fail_result(call, argv[0], false);
  if (y == EVALCI_NO_RESULT) return true;
  if (!evalci_read_name(call, argument, argv[1], &key)) return false;
  evalci_entry *e = evalci_entry_of(&g->keys, &key);
  if (!e) return false;
  evalci_add_to_entry(&g->keys, e, (sqlite3_int64[]){y, 1}, times);
  return true;
}

static bool add_result(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  return add_to_named(call, g, argv, "cluster", times);
}

static bool add_attempt(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  return add_to_named(call, g, argv, "item", times);
}

/* NULL counts are skipped, and so is a cluster without questions. */
static bool read_cluster_counts(evalci_call *call, const char *const *names, sqlite3_value **argv,
                                double *counts) {
  counts[1] = 0;
  return evalci_any_null(2, argv) || evalci_read_k_n(call, names, argv, counts);
}

static const char *const cluster_counts[] = {"k", "n"}, *const item_counts[] = {"c", "n"};

static bool add_counts(evalci_call *call, evalci_group *g, const char *const *names,
                       sqlite3_value **argv, int times) {
  double counts[2];
  if (!read_cluster_counts(call, names, argv, counts)) return false;
  if (counts[1] == 0) return true;
  evalci_key key = {.type = SQLITE_BLOB, .bytes = counts, .size = sizeof counts};
  evalci_entry *e = evalci_entry_of(&g->keys, &key);
  if (!e) return false;
  evalci_add_to_entry(&g->keys, e, (sqlite3_int64[]){1}, times);
  return true;
}

static bool add_cluster(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  return add_counts(call, g, cluster_counts, argv, times);
}

static bool add_item(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  return add_counts(call, g, item_counts, argv, times);
}

/* Rows of one label are one cluster. */
static bool add_labelled(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  double counts[2];
  evalci_key key;
  if (!read_cluster_counts(call, cluster_counts, argv + 1, counts)) return false;
  if (counts[1] == 0) return true;
  if (!evalci_read_name(call, "label", argv[0], &key)) return false;
  evalci_entry *e = evalci_entry_of(&g->keys, &key);
  if (!e) return false;
  sqlite3_int64 added[] = {(sqlite3_int64)counts[0], (sqlite3_int64)counts[1]};
  if (times > 0 && e->counts[1] + added[1] > (sqlite3_int64)1 << 53)
    return evalci_fail(call, "n of one label must add up to at most 2^53, got %s and more",
                       evalci_show(argv[2]).text);
  evalci_add_to_entry(&g->keys, e, added, times);
  return true;
}

/* Adds a cluster to the list, from an entry by key or by its counts. */
static ev_cluster cluster_of(const evalci_group *g, const evalci_entry *e) {
  double counts[2];
  if (g->keys.width == 2) return (ev_cluster){(double)e->counts[0], (double)e->counts[1], 1};
  memcpy(counts, e->key.bytes, sizeof counts);
  return (ev_cluster){counts[0], counts[1], (double)e->counts[0]};
}

const evalci_rows evalci_clustered_results = {{"y", "cluster"}, 2, add_result};
const evalci_rows evalci_given_clusters = {{"k", "n"}, 1, add_cluster};
const evalci_rows evalci_labelled_clusters = {{"label", "k", "n"}, 2, add_labelled};
const evalci_rows evalci_attempted_items = {{"y", "item"}, 2, add_attempt};
const evalci_rows evalci_given_items = {{"c", "n"}, 1, add_item};

ev_cluster *evalci_list_clusters(sqlite3_context *context, const evalci_group *g, size_t *count) {
  *count = 0;
  if (evalci_count_entries(&g->keys) == 0) return NULL;
  ev_cluster *listed = sqlite3_malloc64(evalci_count_entries(&g->keys) * sizeof *listed);
  if (!listed) {
    sqlite3_result_error_nomem(context);
    return NULL;
  }
  for (const evalci_entry *e = NULL; (e = evalci_next_entry(&g->keys, e));)
    listed[(*count)++] = cluster_of(g, e);
  return listed;
}

static void answer_clusters(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  ev_host host = evalci_host_of(context);
  ev_interval out = {NAN, NAN};
  size_t count;
  ev_cluster *listed = evalci_list_clusters(context, g, &count);
  if (!listed) return;
  ev_status status = f->p.clusters ? f->p.clusters(listed, count, &g->options, host, &out.lo)
                                   : f->ci.clusters(listed, count, &g->options, host, &out);
  sqlite3_free(listed);
  evalci_result(context, status, out);
}

/* A question attempted n times says nothing about k > n attempts. */
static void answer_attempts(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  size_t count;
  ev_cluster *listed = evalci_list_clusters(context, g, &count);
  if (!listed) return;
  double fewest = HUGE_VAL;
  for (size_t i = 0; i < count; i++) fewest = fmin(fewest, listed[i].n);
  if (fewest < g->options.attempts) {
    evalci_call call = {.name = f->name};
    evalci_fail(&call,
                "every question needs at least k attempts, got k = %.0f and a question with %.0f; "
                "take a smaller k, or leave such questions out",
                g->options.attempts, fewest);
    evalci_report(context, &call);
  } else {
    ev_interval ci = {NAN, NAN};
    ev_status status = f->ci.clusters(listed, count, &g->options, evalci_host_of(context), &ci);
    evalci_result(context, status, ci);
  }
  sqlite3_free(listed);
}

/*
** Each cluster's own accuracy, as JSON
*/
static void result_each(sqlite3_context *context, const evalci_entry **entries, const ev_each *each,
                        size_t count) {
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(context));
  for (size_t i = 0; i < count; i++) {
    sqlite3_str_appendall(out, i ? ",{\"cluster\":" : "[{\"cluster\":");
    evalci_append_key(out, entries[i]);
    sqlite3_str_appendf(out, ",\"k\":%lld,\"n\":%lld", entries[i]->counts[0],
                        entries[i]->counts[1]);
    evalci_append_member(out, "mean", each[i].mean);
    evalci_append_member(out, "lo", each[i].lo);
    evalci_append_member(out, "hi", each[i].hi);
    sqlite3_str_appendchar(out, 1, '}');
  }
  sqlite3_str_appendchar(out, 1, ']');
  evalci_result_json(context, out);
}

/* Sorted by key; the models do not see keys. */
static void answer_each(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  size_t count = 0, room = evalci_count_entries(&g->keys);
  if (room == 0) return;
  const evalci_entry **entries = sqlite3_malloc64(room * sizeof *entries);
  ev_cluster *listed = sqlite3_malloc64(room * sizeof *listed);
  ev_each *each = sqlite3_malloc64(room * sizeof *each);
  ev_status status = EV_NO_MEMORY;
  if (entries && listed && each) {
    count = evalci_sort_entries(&g->keys, entries);
    for (size_t i = 0; i < count; i++) listed[i] = cluster_of(g, entries[i]);
    status = ev_clustered_each(listed, count, &g->options, evalci_host_of(context), each);
  }
  if (evalci_check_status(context, f->name, status)) result_each(context, entries, each, count);
  sqlite3_free(entries);
  sqlite3_free(listed);
  sqlite3_free(each);
}

const evalci_kind evalci_of_clusters = {.answer = answer_clusters};
const evalci_kind evalci_of_attempts = {.answer = answer_attempts};
const evalci_kind evalci_each_of_clusters = {.json = true, .answer = answer_each};
