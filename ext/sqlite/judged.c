/*
** A judge's scores in SQL, corrected by a person's: judged_mean_ci(judge, truth) and
** judged_diff_ci(judge_a, judge_b, truth_a, truth_b), over rows or over one row per different pair
** of scores.  An entry is such a pair, with NAN as the truth if no person labelled it, and counts
** its rows.
**
** A row without the judge's score is skipped.  A difference is labelled where both truths are.
*/
#include <math.h>
#include <string.h>

#include "../stats/judged.h"
#include "function.h"

enum { JUDGE, TRUTH };

static bool read_judgement(evalci_call *call, const evalci_group *g, sqlite3_value *value,
                           double *score) {
  *score = NAN;
  return sqlite3_value_type(value) == SQLITE_NULL ||
         evalci_read_score(call, value, &g->options, score);
}

static bool add_scores(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  double pair[2] = {NAN, NAN};
  return read_judgement(call, g, argv[0], &pair[JUDGE]) &&
         read_judgement(call, g, argv[1], &pair[TRUTH]) &&
         (isnan(pair[JUDGE]) || evalci_add_numbers(call, g, pair, 1, times));
}

static bool add_judged_counts(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  double pair[2] = {NAN, NAN};
  double n;
  if (evalci_any_null(1, argv) || evalci_any_null(1, argv + 2)) return true;
  return read_judgement(call, g, argv[0], &pair[JUDGE]) &&
         read_judgement(call, g, argv[1], &pair[TRUTH]) &&
         evalci_read_count(call, "n", argv[2], &n) && evalci_add_numbers(call, g, pair, n, times);
}

static bool add_differences(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  double pair[2];
  bool judged, labelled;
  if (!evalci_read_score_difference(call, argv, &g->options, &judged, &pair[JUDGE]) ||
      !evalci_read_score_difference(call, argv + 2, &g->options, &labelled, &pair[TRUTH]))
    return false;
  if (!labelled) pair[TRUTH] = NAN;
  return !judged || evalci_add_numbers(call, g, pair, 1, times);
}

static bool add_difference_counts(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                                  int times) {
  double pair[2] = {NAN, NAN};
  double n;
  if (evalci_any_null(1, argv) || evalci_any_null(1, argv + 2)) return true;
  return evalci_read_difference(call, argv[0], &g->options, &pair[JUDGE]) &&
         (evalci_any_null(1, argv + 1) ||
          evalci_read_difference(call, argv[1], &g->options, &pair[TRUTH])) &&
         evalci_read_count(call, "n", argv[2], &n) && evalci_add_numbers(call, g, pair, n, times);
}

const evalci_rows evalci_judged_scores = {{"judge", "truth"}, 1, add_scores};
const evalci_rows evalci_judged_counts = {{"judge", "truth", "n"}, 1, add_judged_counts};
const evalci_rows evalci_judged_differences = {
    {"judge_a", "judge_b", "truth_a", "truth_b"}, 1, add_differences};
const evalci_rows evalci_judged_difference_counts = {
    {"judge_diff", "truth_diff", "n"}, 1, add_difference_counts};

static void answer_by(sqlite3_context *context, const evalci_group *g, const ev_options *options) {
  size_t count = 0;
  ev_interval ci = {NAN, NAN};
  if (evalci_count_entries(&g->keys) == 0) return;
  ev_judged_score *list = sqlite3_malloc64(evalci_count_entries(&g->keys) * sizeof *list);
  for (const evalci_entry *e = NULL; list && (e = evalci_next_entry(&g->keys, e));) {
    double pair[2];
    memcpy(pair, e->key.bytes, sizeof pair);
    list[count++] = (ev_judged_score){pair[JUDGE], pair[TRUTH], (double)e->counts[0]};
  }
  ev_status status = EV_NO_MEMORY;
  if (list) status = ev_judged_mean(list, count, options, evalci_host_of(context), &ci);
  sqlite3_free(list);
  evalci_result(context, status, ci);
}

static void answer_judged(sqlite3_context *context, const evalci_group *g) {
  answer_by(context, g, &g->options);
}

static void answer_differences(sqlite3_context *context, const evalci_group *g) {
  ev_options options = g->options;
  options.hi -= options.lo;
  options.lo = -options.hi;
  answer_by(context, g, &options);
}

const evalci_kind evalci_of_judged = {.json = true, .answer = answer_judged};
const evalci_kind evalci_of_judged_differences = {.json = true, .answer = answer_differences};
