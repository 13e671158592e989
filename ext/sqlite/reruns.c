/*
** The score of a rerun in SQL: rerun_ci(y, item [, level]) and rerun_prob(a, b, item).
**
** How often an answer changes is known only from questions with a second attempt; it is an error if
** no question has one.
*/
#include "../stats/icc.h"

#include "function.h"

/* Each model's attempts are counted on their own: k and n of A, then of B. */
static bool add_attempts(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  sqlite3_int64 added[4] = {0, 0, 0, 0};
  evalci_key key;
  for (int i = 0; i < 2; i++) {
    int y = evalci_read_result(argv[i]);
    if (y == EVALCI_BAD_RESULT) return evalci_fail_result(call, argv[i], false);
    if (y == EVALCI_NO_RESULT) continue;
    added[2 * i] = y;
    added[2 * i + 1] = 1;
  }
  if (added[1] == 0 && added[3] == 0) return true;
  if (!evalci_read_name(call, "item", argv[2], &key)) return false;
  evalci_entry *e = evalci_entry_of(&g->keys, &key);
  if (!e) return false;
  evalci_add_to_entry(&g->keys, e, added, times);
  return true;
}

const evalci_rows evalci_two_attempted = {{"a", "b", "item"}, 4, add_attempts};

/* Delivers an error where no question was attempted twice. */
static bool any_repeated(sqlite3_context *context, const ev_cluster *list, size_t count,
                         const char *whose) {
  const evalci_function *f = sqlite3_user_data(context);
  evalci_call call = {.name = f->name};
  for (size_t i = 0; i < count; i++)
    if (list[i].n > 1) return true;
  evalci_fail(
      &call,
      "some question must have two attempts%s, got %lld with one each; ask again to see how "
      "often an answer changes",
      whose, (sqlite3_int64)count);
  evalci_report(context, &call);
  return false;
}

static void answer_reruns(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  size_t count;
  ev_cluster *list = evalci_list_clusters(context, g, &count);
  if (list && any_repeated(context, list, count, "")) {
    ev_interval ci = {NAN, NAN};
    ev_status status = f->ci.clusters(list, count, &g->options, evalci_host_of(context), &ci);
    evalci_result(context, status, ci);
  }
  sqlite3_free(list);
}

/* The questions that both models answered; how many. */
static size_t list_shared(const evalci_group *g, ev_cluster *a, ev_cluster *b) {
  size_t count = 0;
  for (const evalci_entry *e = NULL; (e = evalci_next_entry(&g->keys, e));) {
    if (e->counts[1] == 0 || e->counts[3] == 0) continue;
    a[count] = (ev_cluster){(double)e->counts[0], (double)e->counts[1], 1};
    b[count++] = (ev_cluster){(double)e->counts[2], (double)e->counts[3], 1};
  }
  return count;
}

static void answer_two_reruns(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  size_t room = evalci_count_entries(&g->keys);
  if (room == 0) return;
  ev_cluster *a = sqlite3_malloc64(2 * room * sizeof *a);
  if (!a) {
    sqlite3_result_error_nomem(context);
    return;
  }
  ev_cluster *b = a + room;
  size_t count = list_shared(g, a, b);
  if (count > 0 && any_repeated(context, a, count, " of a") &&
      any_repeated(context, b, count, " of b")) {
    double p = NAN;
    ev_status status = ev_rerun_prob(a, count, b, count, evalci_host_of(context), &p);
    evalci_result_probability(context, f->name, status, p);
  }
  sqlite3_free(a);
}

const evalci_kind evalci_of_reruns = {.answer = answer_reruns};
const evalci_kind evalci_of_two_reruns = {.answer = answer_two_reruns};
