/*
** judged_ci(verdict, truth [, level]) over rows, and judged_ci_counts() over their counts:
** the true accuracy where a judge marked every answer and a person some of them.
**
** A row without a verdict is skipped; one without a truth was not looked at by a person.
*/
#include "../stats/judged.h"

#include "function.h"

/* Rows by verdict, 1 or 0, and by truth: 1, 0, or none. */
typedef struct verdicts {
  evalci_group group;
  sqlite3_int64 cells[2][3];
} verdicts;

static const char *const *columns(const evalci_function *f) {
  static const char *const names[] = {"verdict", "truth", NULL};
  (void)f;
  return names;
}

static const char *const count_names[] = {
    "right_right", "right_wrong", "wrong_right", "wrong_wrong", "judged_right", "judged", NULL};

static const char *const *counts(const evalci_function *f) {
  (void)f;
  return count_names;
}

static bool add_verdict(evalci_call *call, const evalci_function *f, evalci_group *g,
                        sqlite3_value **argv, int times) {
  verdicts *v = (verdicts *)g;
  int y[2];
  (void)f;
  for (int i = 0; i < 2; i++) {
    y[i] = evalci_read_result(argv[i]);
    if (y[i] == EVALCI_BAD_RESULT) return evalci_fail_result(call, argv[i], false);
  }
  if (y[0] != EVALCI_NO_RESULT) v->cells[y[0]][y[1] == EVALCI_NO_RESULT ? 2 : y[1]] += times;
  return true;
}

static const evalci_gathering verdict_rows = {.size = sizeof(verdicts), .add = add_verdict};

static void result_judged(sqlite3_context *context, const ev_judged *j, const ev_options *options) {
  const evalci_function *f = sqlite3_user_data(context);
  ev_interval ci = {NAN, NAN};
  if (j->right_right + j->right_wrong + j->wrong_right + j->wrong_wrong + j->judged == 0) return;
  ev_status status = ev_judged_accuracy(j, options, evalci_host_of(context), &ci);
  evalci_result_interval(context, f->name, status, ci);
}

static void answer_judged(sqlite3_context *context, const evalci_group *g) {
  const verdicts *v = (const verdicts *)g;
  ev_judged j = {.right_right = (double)v->cells[1][1],
                 .right_wrong = (double)v->cells[1][0],
                 .wrong_right = (double)v->cells[0][1],
                 .wrong_wrong = (double)v->cells[0][0],
                 .judged_right = (double)v->cells[1][2],
                 .judged = (double)(v->cells[1][2] + v->cells[0][2])};
  result_judged(context, &j, &g->options);
}

/* Each a count, judged_right at most judged, and at most 2^53 together. */
static bool read_judged_counts(evalci_call *call, sqlite3_value **argv, ev_judged *j) {
  double c[6], total = 0;
  for (int i = 0; i < 4; i++)
    if (!evalci_read_count(call, count_names[i], argv[i], &c[i])) return false;
  if (!evalci_read_k_n(call, count_names + 4, argv + 4, c + 4)) return false;
  for (int i = 0; i < 6; i++) total += i == 4 ? 0 : c[i];
  if (total > 0x1p53)
    return evalci_fail(call,
                       "the counts must add up to at most 2^53, got %s and more; scale them down",
                       evalci_show(argv[0]).text);
  *j = (ev_judged){c[0], c[1], c[2], c[3], c[4], c[5]};
  return true;
}

static void judged_given(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const evalci_function *f = sqlite3_user_data(context);
  evalci_call call = {f->name, NULL};
  ev_judged j;
  ev_options options;
  if (evalci_any_null(argc, argv)) return;
  if (read_judged_counts(&call, argv, &j) &&
      evalci_read_options(&call, f->options, argc - 6, argv + 6, &options))
    result_judged(context, &j, &options);
  else
    evalci_report(context, &call);
}

const evalci_kind evalci_judged_rows = {
    .arguments = columns, .json = true, .gathering = &verdict_rows, .answer = answer_judged};
const evalci_kind evalci_judged_counts = {
    .arguments = counts, .json = true, .scalar = judged_given};
