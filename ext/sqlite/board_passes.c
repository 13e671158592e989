/*
** eval_passes([source [, options]]): one row per model, task and k, where some question
** was asked again and answers are right or wrong.  k is 1, 2, 4 and so on, and the most
** attempts that there are.
*/
#include <math.h>

#include "boards.h"

enum {
  PS_MODEL,
  PS_TASK,
  PS_K,
  PS_QUESTIONS,
  PS_AT,
  PS_AT_CI,
  PS_AT_LO,
  PS_AT_HI,
  PS_HAT,
  PS_HAT_CI,
  PS_HAT_LO,
  PS_HAT_HI,
  PS_COLUMNS
};

static const char *const passes_columns[PS_COLUMNS + 1] = {
    "model",           "task",        "k INTEGER",   "questions INTEGER",
    "pass_at_k REAL",  "at_ci TEXT",  "at_lo REAL",  "at_hi REAL",
    "pass_hat_k REAL", "hat_ci TEXT", "hat_lo REAL", "hat_hi REAL"};

static const char passes_name[] = "eval_passes";

/* The number of rows (values of k) for this number of attempts. */
static size_t rows_of(size_t most) {
  size_t rows = most > 0;
  for (size_t k = 1; k < most; k = 2 * k < most ? 2 * k : most) rows++;
  return rows;
}

static ev_status list_passes(evalci_board_cursor *c, const size_t *const *named, ev_host host) {
  (void)named;
  (void)host;
  size_t models = board_models(c->board), tasks = board_tasks(c->board), count = 0;
  for (size_t t = 0; t < tasks; t++)
    for (size_t m = 0; m < models; m++) count += rows_of(board_attempts(c->board, m, t));
  if (!evalci_room_for_rows(c, count)) return EV_NO_MEMORY;
  for (size_t i = 0; i < tasks && c->count < count; i++)
    for (size_t j = 0; j < models; j++) {
      size_t task = board_task_at(c->board, i), model = board_model_at(c->board, j);
      size_t most = board_attempts(c->board, model, task);
      for (size_t k = 1, n = rows_of(most); n > 0; n--, k = 2 * k < most ? 2 * k : most)
        c->rows[c->count++] = (evalci_board_row){
            .model = (uint32_t)model, .task = (uint32_t)task, .attempts = (uint32_t)k};
    }
  return EV_OK;
}

static void show_pass_interval(evalci_board_cursor *c, sqlite3_context *context, int column) {
  const evalci_board_row *row = &c->rows[c->at];
  bool hat = column >= PS_HAT_CI;
  if (!c->has_ci)
    c->status = board_pass_intervals(c->board, row->model, row->task, row->attempts,
                                     evalci_host_of(context), &c->pass);
  c->has_ci = true;
  evalci_result_ci(context, passes_name, c->status, hat ? c->pass.hat_ci : c->pass.at_ci,
                   (evalci_ci_part)(EVALCI_CI + column - (hat ? PS_HAT_CI : PS_AT_CI)), 0);
}

static void show_passes(evalci_board_cursor *c, sqlite3_context *context, int column) {
  const evalci_board_row *row = &c->rows[c->at];
  if (!c->known) {
    c->status = board_passes(c->board, row->model, row->task, row->attempts, &c->pass);
    c->known = true;
    c->has_ci = false;
  }
  switch (column) {
  case PS_MODEL:
    evalci_result_name(context, board_model_name(c->board, row->model));
    break;
  case PS_TASK:
    evalci_result_name(context, board_task_name(c->board, row->task));
    break;
  case PS_K:
    evalci_result_count(context, row->attempts);
    break;
  case PS_QUESTIONS:
  case PS_AT:
  case PS_HAT:
    if (!evalci_check_status(context, passes_name, c->status)) return;
    if (column == PS_QUESTIONS)
      evalci_result_count(context, c->pass.questions);
    else
      evalci_result_number(context, column == PS_AT ? c->pass.at : c->pass.hat);
    break;
  default:
    show_pass_interval(c, context, column);
  }
}

const evalci_board_table evalci_passes_table = {"eval_passes", passes_columns, 0, 0,
                                                list_passes,   show_passes};
