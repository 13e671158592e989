/*
** eval_tasks([source [, options]]): one row per model and task, the tasks in the order of
** their names and in each the best first.
*/
#include <math.h>

#include "boards.h"

enum {
  TK_MODEL,
  TK_TASK,
  TK_N,
  TK_CORRECT,
  TK_ERRORED,
  TK_ACCURACY,
  TK_CI,
  TK_LO,
  TK_HI,
  TK_METHOD,
  TK_QUESTIONS,
  TK_ERR_LO,
  TK_ERR_HI,
  TK_BAR,
  TK_MEAN,
  TK_SCORE_LO,
  TK_SCORE_HI,
  TK_COLUMNS
};

static const char *const tasks_columns[TK_COLUMNS + 1] = {
    "model",       "task",     "n INTEGER", "correct INTEGER", "errored INTEGER",   "accuracy REAL",
    "ci TEXT",     "lo REAL",  "hi REAL",   "method TEXT",     "questions INTEGER", "err_lo REAL",
    "err_hi REAL", "bar TEXT", "mean REAL", "score_lo REAL",   "score_hi REAL"};

static ev_status list_tasks(evalci_board_cursor *c, const size_t *const *named, ev_host host) {
  (void)named;
  (void)host;
  size_t models = board_models(c->board), tasks = board_tasks(c->board), count = 0;
  evalci_sorted_row *sorted = sqlite3_malloc64((models * tasks + 1) * sizeof *sorted);
  bool room = sorted && evalci_room_for_rows(c, models * tasks);
  for (size_t m = 0; room && m < models; m++)
    for (size_t t = 0; t < tasks; t++) {
      board_standing s = board_task_standing(c->board, m, t);
      if (!s.asked) continue;
      sorted[count++] = (evalci_sorted_row){.row = {.model = (uint32_t)m, .task = (uint32_t)t},
                                            .key = board_task_place(c->board, t),
                                            .accuracy = s.accuracy,
                                            .next = board_model_place(c->board, m)};
    }
  if (room) evalci_sort_rows(sorted, count);
  for (size_t i = 0; room && i < count; i++) c->rows[c->count++] = sorted[i].row;
  sqlite3_free(sorted);
  return room ? EV_OK : EV_NO_MEMORY;
}

static void show_task_interval(evalci_board_cursor *c, sqlite3_context *context,
                               evalci_ci_part part) {
  const evalci_board_row *row = &c->rows[c->at];
  if (!c->has_ci)
    c->status =
        board_task_interval(c->board, row->model, row->task, evalci_host_of(context), &c->ci);
  c->has_ci = true;
  evalci_result_ci(context, "eval_tasks", c->status, c->ci, part, c->standing.accuracy);
}

static void show_tasks(evalci_board_cursor *c, sqlite3_context *context, int column) {
  const evalci_board_row *row = &c->rows[c->at];
  const board_standing *s = &c->standing;
  double lo, hi;
  bool graded = board_task_range(c->board, row->task, &lo, &hi);
  if (!c->known) {
    c->standing = board_task_standing(c->board, row->model, row->task);
    c->known = true;
    c->has_ci = false;
  }
  switch (column) {
  case TK_MODEL:
    evalci_result_name(context, board_model_name(c->board, row->model));
    break;
  case TK_TASK:
    evalci_result_name(context, board_task_name(c->board, row->task));
    break;
  case TK_N:
    evalci_result_count(context, s->n);
    break;
  case TK_CORRECT:
    if (s->n > 0 && !s->graded) evalci_result_count(context, s->correct);
    break;
  case TK_ERRORED:
    evalci_result_count(context, s->errored);
    break;
  case TK_ACCURACY:
    evalci_result_number(context, s->accuracy);
    break;
  case TK_METHOD:
    evalci_result_words(context, board_method(c->board, s, false));
    break;
  case TK_QUESTIONS:
    evalci_result_count(context, s->questions);
    break;
  case TK_MEAN:
    evalci_result_number(context, graded ? lo + s->accuracy * (hi - lo) : s->accuracy);
    break;
  case TK_SCORE_LO:
    if (graded) evalci_result_number(context, lo);
    break;
  case TK_SCORE_HI:
    if (graded) evalci_result_number(context, hi);
    break;
  case TK_CI:
  case TK_LO:
  case TK_HI:
    show_task_interval(c, context, (evalci_ci_part)(EVALCI_CI + column - TK_CI));
    break;
  default: /* TK_ERR_LO, TK_ERR_HI, TK_BAR */
    show_task_interval(c, context, (evalci_ci_part)(EVALCI_CI_BELOW + column - TK_ERR_LO));
  }
}

const evalci_board_table evalci_tasks_table = {"eval_tasks", tasks_columns, EVALCI_COUNTED, 0,
                                               list_tasks,   show_tasks};
