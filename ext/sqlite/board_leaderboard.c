/*
** eval_leaderboard([source [, options]]): one row per model, the best first.
**
**   SELECT model, accuracy, ci, rank_lo, rank_hi FROM eval_leaderboard('results');
*/
#include <math.h>

#include "boards.h"

enum {
  LB_MODEL,
  LB_N,
  LB_CORRECT,
  LB_ERRORED,
  LB_ACCURACY,
  LB_CI,
  LB_LO,
  LB_HI,
  LB_METHOD,
  LB_TASKS,
  LB_TASK_CI,
  LB_TASK_LO,
  LB_TASK_HI,
  LB_BAR,
  LB_QUESTIONS,
  LB_COMMON,
  LB_ERR_LO,
  LB_ERR_HI,
  LB_RANK,
  LB_RANK_LO,
  LB_RANK_HI,
  LB_P_BEST,
  LB_RANK_NOTE,
  LB_MACRO,
  LB_MACRO_CI,
  LB_MACRO_LO,
  LB_MACRO_HI,
  LB_BOUNDED_CI,
  LB_BOUNDED_LO,
  LB_BOUNDED_HI,
  LB_COST, /* the columns from here on are cost and latency */
  LB_COST_CI,
  LB_COST_LO,
  LB_COST_HI,
  LB_RIGHT,
  LB_RIGHT_CI,
  LB_RIGHT_LO,
  LB_RIGHT_HI,
  LB_NO_COST,
  LB_MEDIAN,
  LB_MEDIAN_CI,
  LB_MEDIAN_LO,
  LB_MEDIAN_HI,
  LB_SLOW,
  LB_SLOW_CI,
  LB_SLOW_LO,
  LB_SLOW_HI,
  LB_NO_LATENCY,
  LB_FRONTIER,
  LB_COLUMNS
};

static const char *const leaderboard_columns[LB_COLUMNS + 1] = {"model",
                                                                "n INTEGER",
                                                                "correct INTEGER",
                                                                "errored INTEGER",
                                                                "accuracy REAL",
                                                                "ci TEXT",
                                                                "lo REAL",
                                                                "hi REAL",
                                                                "method TEXT",
                                                                "tasks INTEGER",
                                                                "task_ci TEXT",
                                                                "task_lo REAL",
                                                                "task_hi REAL",
                                                                "bar TEXT",
                                                                "questions INTEGER",
                                                                "common INTEGER",
                                                                "err_lo REAL",
                                                                "err_hi REAL",
                                                                "rank REAL",
                                                                "rank_lo INTEGER",
                                                                "rank_hi INTEGER",
                                                                "p_best REAL",
                                                                "rank_note TEXT",
                                                                "macro REAL",
                                                                "macro_ci TEXT",
                                                                "macro_lo REAL",
                                                                "macro_hi REAL",
                                                                "bounded_ci TEXT",
                                                                "bounded_lo REAL",
                                                                "bounded_hi REAL",
                                                                "cost REAL",
                                                                "cost_ci TEXT",
                                                                "cost_lo REAL",
                                                                "cost_hi REAL",
                                                                "cost_per_right REAL",
                                                                "cost_per_right_ci TEXT",
                                                                "cost_per_right_lo REAL",
                                                                "cost_per_right_hi REAL",
                                                                "no_cost INTEGER",
                                                                "latency REAL",
                                                                "latency_ci TEXT",
                                                                "latency_lo REAL",
                                                                "latency_hi REAL",
                                                                "latency_p95 REAL",
                                                                "latency_p95_ci TEXT",
                                                                "latency_p95_lo REAL",
                                                                "latency_p95_hi REAL",
                                                                "no_latency INTEGER",
                                                                "frontier TEXT"};

static ev_status list_leaderboard(evalci_board_cursor *c, const size_t *const *models,
                                  ev_host host) {
  (void)models;
  (void)host;
  size_t count = board_models(c->board);
  evalci_sorted_row *sorted = sqlite3_malloc64((count + 1) * sizeof *sorted);
  bool room = sorted && evalci_room_for_rows(c, count);
  for (size_t m = 0; room && m < count; m++)
    sorted[m] = (evalci_sorted_row){.row = {.model = (uint32_t)m},
                                    .accuracy = board_model_standing(c->board, m).accuracy,
                                    .next = board_model_place(c->board, m)};
  if (room) evalci_sort_rows(sorted, count);
  for (size_t i = 0; room && i < count; i++) c->rows[c->count++] = sorted[i].row;
  sqlite3_free(sorted);
  return room ? EV_OK : EV_NO_MEMORY;
}

static void show_place(evalci_board_cursor *c, sqlite3_context *context, size_t model, int column) {
  ev_place place;
  ev_status status = board_place(c->board, model, evalci_host_of(context), &place);
  if (!evalci_check_status(context, "eval_leaderboard", status)) return;
  if (column == LB_P_BEST || column == LB_RANK)
    evalci_result_number(context, column == LB_RANK ? place.rank : place.best);
  else if (!isnan(place.lo))
    evalci_result_count(context, column == LB_RANK_LO ? place.lo : place.hi);
}

/* What is to be known of the ranks, or why there are none. */
static void show_rank_note(evalci_board_cursor *c, sqlite3_context *context, size_t model) {
  const board_joint *joint;
  if (board_model_standing(c->board, model).n == 0) {
    evalci_result_words(context, "no known answer: left out of the ranks and P(best)");
    return;
  }
  ev_status status = board_joint_of(c->board, evalci_host_of(context), &joint);
  if (!evalci_check_status(context, "eval_leaderboard", status)) return;
  char *note = evalci_rank_note(c->board, joint);
  if (note)
    sqlite3_result_text(context, note, -1, sqlite3_free);
  else if (joint->kind != BOARD_JOINED)
    sqlite3_result_error_nomem(context);
}

/* Which interval a column belongs to, and which part of it the column shows. */
static void show_interval(evalci_board_cursor *c, sqlite3_context *context, size_t model,
                          ev_status (*interval)(board *, size_t, ev_host, ev_interval *),
                          evalci_ci_part part, double point) {
  ev_interval ci = {NAN, NAN};
  ev_status status = interval(c->board, model, evalci_host_of(context), &ci);
  evalci_result_ci(context, "eval_leaderboard", status, ci, part, point);
}

static void show_cost(evalci_board_cursor *c, sqlite3_context *context, size_t model, int column) {
  board_costs costs;
  if (!evalci_check_status(context, "eval_leaderboard", board_cost(c->board, model, &costs)))
    return;
  if (column == LB_NO_COST)
    evalci_result_count(context, costs.missing);
  else
    evalci_result_number(context, column == LB_COST ? costs.mean : costs.per_right);
}

/* Which quantile a column belongs to, and which part of its interval the column shows. */
static void show_latency(evalci_board_cursor *c, sqlite3_context *context, size_t model,
                         int column) {
  board_latencies l;
  ev_status status = board_latency(c->board, model, &l);
  int first = column < LB_SLOW ? LB_MEDIAN : LB_SLOW;
  const board_quantile *q = column < LB_SLOW ? &l.median : &l.slow;
  if (!evalci_check_status(context, "eval_leaderboard", status)) return;
  if (column == LB_NO_LATENCY)
    evalci_result_count(context, l.missing);
  else if (column == first)
    evalci_result_number(context, q->value);
  else
    evalci_result_ci(context, "eval_leaderboard", status, q->ci,
                     (evalci_ci_part)(EVALCI_CI + column - first - 1), 0);
}

static void show_frontier(evalci_board_cursor *c, sqlite3_context *context, size_t model) {
  board_frontier_word word;
  ev_status status = board_frontier(c->board, model, evalci_host_of(context), &word);
  if (!evalci_check_status(context, "eval_leaderboard", status)) return;
  if (word == BOARD_SURE || word == BOARD_OPEN)
    evalci_result_words(context, word == BOARD_SURE ? "sure" : "open");
}

/* A model's costs and latencies; NULL where the source has none. */
static void show_spent(evalci_board_cursor *c, sqlite3_context *context, size_t model, int column) {
  evalci_ci_part part = EVALCI_CI;
  switch (column) {
  case LB_COST:
  case LB_RIGHT:
  case LB_NO_COST:
    show_cost(c, context, model, column);
    break;
  case LB_COST_CI:
  case LB_COST_LO:
  case LB_COST_HI:
    part = (evalci_ci_part)(EVALCI_CI + column - LB_COST_CI);
    show_interval(c, context, model, board_cost_interval, part, 0);
    break;
  case LB_RIGHT_CI:
  case LB_RIGHT_LO:
  case LB_RIGHT_HI:
    part = (evalci_ci_part)(EVALCI_CI + column - LB_RIGHT_CI);
    show_interval(c, context, model, board_per_right_interval, part, 0);
    break;
  case LB_FRONTIER:
    show_frontier(c, context, model);
    break;
  default:
    show_latency(c, context, model, column);
  }
}

static void show_leaderboard(evalci_board_cursor *c, sqlite3_context *context, int column) {
  size_t model = c->rows[c->at].model;
  board_standing s = board_model_standing(c->board, model);
  evalci_ci_part part = EVALCI_CI;
  switch (column) {
  case LB_MODEL:
    evalci_result_name(context, board_model_name(c->board, model));
    break;
  case LB_N:
    evalci_result_count(context, s.n);
    break;
  case LB_CORRECT:
    if (s.n > 0 && !s.graded) evalci_result_count(context, s.correct);
    break;
  case LB_ERRORED:
    evalci_result_count(context, s.errored);
    break;
  case LB_ACCURACY:
    evalci_result_number(context, s.accuracy);
    break;
  case LB_METHOD:
    evalci_result_words(context, board_method(c->board, &s, true));
    break;
  case LB_TASKS:
    evalci_result_count(context, s.tasks);
    break;
  case LB_QUESTIONS:
    evalci_result_count(context, s.questions);
    break;
  case LB_COMMON:
    if (!board_settings_of(c->board)->counts)
      evalci_result_count(context, board_common_questions(c->board));
    break;
  case LB_BAR:
    show_interval(c, context, model, board_model_interval, EVALCI_CI_BAR, s.accuracy);
    break;
  case LB_ERR_LO:
  case LB_ERR_HI:
    part = column == LB_ERR_LO ? EVALCI_CI_BELOW : EVALCI_CI_ABOVE;
    show_interval(c, context, model, board_model_interval, part, s.accuracy);
    break;
  case LB_RANK:
  case LB_RANK_LO:
  case LB_RANK_HI:
  case LB_P_BEST:
    show_place(c, context, model, column);
    break;
  case LB_RANK_NOTE:
    show_rank_note(c, context, model);
    break;
  case LB_MACRO:
    evalci_result_number(context, board_macro(c->board, model));
    break;
  case LB_CI:
  case LB_LO:
  case LB_HI:
    part = (evalci_ci_part)(EVALCI_CI + column - LB_CI);
    show_interval(c, context, model, board_model_interval, part, 0);
    break;
  case LB_TASK_CI:
  case LB_TASK_LO:
  case LB_TASK_HI:
    part = (evalci_ci_part)(EVALCI_CI + column - LB_TASK_CI);
    show_interval(c, context, model, board_other_tasks, part, 0);
    break;
  case LB_MACRO_CI:
  case LB_MACRO_LO:
  case LB_MACRO_HI:
    part = (evalci_ci_part)(EVALCI_CI + column - LB_MACRO_CI);
    show_interval(c, context, model, board_macro_interval, part, 0);
    break;
  case LB_BOUNDED_CI:
  case LB_BOUNDED_LO:
  case LB_BOUNDED_HI:
    part = (evalci_ci_part)(EVALCI_CI + column - LB_BOUNDED_CI);
    show_interval(c, context, model, board_bounded, part, 0);
    break;
  default:
    show_spent(c, context, model, column);
  }
}

const evalci_board_table evalci_leaderboard_table = {"eval_leaderboard", leaderboard_columns,
                                                     EVALCI_COUNTED,     LB_COST,
                                                     list_leaderboard,   show_leaderboard};
