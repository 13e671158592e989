/*
** Graded scores in SQL: mean_ci and the other functions of means, over rows with one or two
** scores, or over one row per different score.
**
** Scores are kept as a table of different scores with their counts: one table, or two where the
** columns are different questions.  Paired columns are kept by their difference.  Normal theory
** needs only sums.
*/
#include <math.h>
#include <string.h>

#include "function.h"

/*
** Rows
*/
static bool add_ranged_score(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  double score;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return true;
  return evalci_read_score(call, argv[0], &g->options, &score) &&
         evalci_add_score(&g->scores[0], score, times);
}

/* Sums are allocated with the first row; false without memory. */
static bool add_to_sums(evalci_group *g, double score, double times) {
  if (!g->moments) {
    if (!(g->moments = sqlite3_malloc64(sizeof *g->moments))) return false;
    memset(g->moments, 0, sizeof *g->moments);
  }
  if (times != 0) ev_moments_add(g->moments, score, times);
  return true;
}

static bool add_summed_score(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  double score;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return true;
  return evalci_read_any_score(call, argv[0], &score) && add_to_sums(g, score, times);
}

static bool add_value(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  double value;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return true;
  return evalci_read_finite(call, "x", argv[0], &value) &&
         evalci_add_score(&g->scores[0], value, times);
}

/* NULLs are skipped in each column on its own. */
static bool add_two_scores(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  for (int i = 0; i < 2; i++) {
    double score;
    if (sqlite3_value_type(argv[i]) == SQLITE_NULL) continue;
    if (!evalci_read_score(call, argv[i], &g->options, &score) ||
        !evalci_add_score(&g->scores[i], score, times))
      return false;
  }
  return true;
}

static bool add_score_pair(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times,
                           const ev_options *options) {
  double difference;
  bool both;
  if (!evalci_read_score_difference(call, argv, options, &both, &difference)) return false;
  return !both || evalci_add_score(&g->scores[0], difference, times);
}

static bool add_difference(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  return add_score_pair(call, g, argv, times, &g->options);
}

static bool add_any_difference(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                               int times) {
  return add_score_pair(call, g, argv, times, NULL);
}

/*
** One row per different score: NULLs are skipped, and so is a score that came 0 times
*/
static bool read_times(evalci_call *call, sqlite3_value *n, double before, int times,
                       double *count) {
  if (!evalci_read_count(call, "n", n, count)) return false;
  if (times > 0 && before + *count > 0x1p53)
    return evalci_fail(call, "n must add up to at most 2^53, got %s and more; scale them down",
                       evalci_show(n).text);
  return true;
}

static bool add_counted(evalci_call *call, evalci_group *g, double score, sqlite3_value *n,
                        int times) {
  double count;
  return read_times(call, n, g->scores[0].total, times, &count) &&
         evalci_add_score(&g->scores[0], score, times * count);
}

static bool add_ranged_count(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  double score;
  if (evalci_any_null(2, argv)) return true;
  return evalci_read_score(call, argv[0], &g->options, &score) &&
         add_counted(call, g, score, argv[1], times);
}

static bool add_summed_count(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  double score, count;
  if (evalci_any_null(2, argv)) return true;
  return evalci_read_any_score(call, argv[0], &score) &&
         read_times(call, argv[1], g->moments ? g->moments->n : 0, times, &count) &&
         add_to_sums(g, score, times * count);
}

static bool add_value_count(evalci_call *call, evalci_group *g, sqlite3_value **argv, int times) {
  double value;
  if (evalci_any_null(2, argv)) return true;
  return evalci_read_finite(call, "x", argv[0], &value) &&
         add_counted(call, g, value, argv[1], times);
}

static bool add_counted_difference(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                                   int times, const ev_options *options) {
  double difference;
  if (evalci_any_null(2, argv)) return true;
  return evalci_read_difference(call, argv[0], options, &difference) &&
         add_counted(call, g, difference, argv[1], times);
}

static bool add_difference_count(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                                 int times) {
  return add_counted_difference(call, g, argv, times, &g->options);
}

static bool add_any_difference_count(evalci_call *call, evalci_group *g, sqlite3_value **argv,
                                     int times) {
  return add_counted_difference(call, g, argv, times, NULL);
}

const evalci_rows evalci_ranged_scores = {{"score"}, 0, add_ranged_score};
const evalci_rows evalci_ranged_counts = {{"score", "n"}, 0, add_ranged_count};
const evalci_rows evalci_summed_scores = {{"score"}, 0, add_summed_score};
const evalci_rows evalci_summed_counts = {{"score", "n"}, 0, add_summed_count};
const evalci_rows evalci_values = {{"x"}, 0, add_value};
const evalci_rows evalci_value_counts = {{"x", "n"}, 0, add_value_count};
const evalci_rows evalci_unpaired_scores = {{"a", "b"}, 0, add_two_scores};
const evalci_rows evalci_paired_scores = {{"a", "b"}, 0, add_difference};
const evalci_rows evalci_paired_counts = {{"diff", "n"}, 0, add_difference_count};
const evalci_rows evalci_paired_any_scores = {{"a", "b"}, 0, add_any_difference};
const evalci_rows evalci_paired_any_counts = {{"diff", "n"}, 0, add_any_difference_count};

/*
** Answers
*/

/* The scores of the frame or group, as models take them. */
typedef struct score_lists {
  ev_score *scores[2];
  size_t count[2];
} score_lists;

static void free_lists(score_lists *lists) {
  for (int i = 0; i < 2; i++) sqlite3_free(lists->scores[i]);
}

/* Lists the first table or both; false where there is nothing to answer, or after reporting that
** memory is short. */
static bool list_tables(sqlite3_context *context, const evalci_group *g, int tables,
                        score_lists *lists) {
  *lists = (score_lists){{NULL, NULL}, {0, 0}};
  for (int i = 0; i < tables; i++)
    if (g->scores[i].total == 0) return false;
  for (int i = 0; i < tables; i++) {
    lists->scores[i] = evalci_list_scores(&g->scores[i], &lists->count[i]);
    if (lists->scores[i]) continue;
    free_lists(lists);
    sqlite3_result_error_nomem(context);
    return false;
  }
  return true;
}

static void answer_scores(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  ev_host host = evalci_host_of(context);
  ev_interval out = {NAN, NAN};
  score_lists l;
  if (!list_tables(context, g, 1, &l)) return;
  ev_status status = f->p.scores ? f->p.scores(l.scores[0], l.count[0], &g->options, host, &out.lo)
                                 : f->ci.scores(l.scores[0], l.count[0], &g->options, host, &out);
  free_lists(&l);
  evalci_result(context, status, out);
}

static void answer_two_scores(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  ev_host host = evalci_host_of(context);
  ev_interval out = {NAN, NAN};
  score_lists l;
  if (!list_tables(context, g, 2, &l)) return;
  ev_score_list a = {l.scores[0], l.count[0]}, b = {l.scores[1], l.count[1]};
  ev_status status = f->p.two_scores ? f->p.two_scores(&a, &b, &g->options, host, &out.lo)
                                     : f->ci.two_scores(&a, &b, &g->options, host, &out);
  free_lists(&l);
  evalci_result(context, status, out);
}

/* One number has no standard deviation. */
static void answer_moments(sqlite3_context *context, const evalci_group *g) {
  const evalci_function *f = sqlite3_user_data(context);
  ev_interval out = {NAN, NAN};
  if (!g->moments || g->moments->n < 2) return;
  ev_status status = f->ci.moments(g->moments, &g->options, evalci_host_of(context), &out);
  evalci_result(context, status, out);
}

const evalci_kind evalci_of_scores = {.answer = answer_scores};
const evalci_kind evalci_of_two_scores = {.answer = answer_two_scores};
const evalci_kind evalci_of_moments = {.answer = answer_moments};
