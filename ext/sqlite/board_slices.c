/*
** eval_slices([source [, options]]): one row per pair of models and task that both answered
** questions of, the pairs as in eval_compare.  A is the old model and B the new one; diff is
** A - B, as in eval_compare, so a positive difference means that the new one got worse.
**
**   SELECT task, diff, ci, p_bh, verdict FROM eval_slices
**    WHERE model_a = 'old' AND model_b = 'new' AND verdict LIKE '%regressed';
*/
#include <math.h>

#include "boards.h"

enum {
  SL_MODEL_A,
  SL_MODEL_B,
  SL_TASK,
  SL_N,
  SL_BOTH,
  SL_ONLY_A,
  SL_ONLY_B,
  SL_DIFF,
  SL_CI,
  SL_LO,
  SL_HI,
  SL_P,
  SL_P_HOLM,
  SL_P_BH,
  SL_SHRUNKEN,
  SL_SHRUNKEN_LO,
  SL_SHRUNKEN_HI,
  SL_VERDICT,
  SL_COLUMNS
};

static const char *const slices_columns[SL_COLUMNS + 1] = {
    "model_a",          "model_b",          "task",        "n INTEGER", "\"both\" INTEGER",
    "only_a INTEGER",   "only_b INTEGER",   "diff REAL",   "ci TEXT",   "lo REAL",
    "hi REAL",          "p REAL",           "p_holm REAL", "p_bh REAL", "shrunken TEXT",
    "shrunken_lo REAL", "shrunken_hi REAL", "verdict TEXT"};

static const char slices_name[] = "eval_slices";

/* The tasks of a pair, in the order of their names. */
static ev_status list_tasks_of(evalci_board_cursor *c, size_t a, size_t b) {
  for (size_t i = 0; i < board_tasks(c->board); i++) {
    board_pair p;
    size_t task = board_task_at(c->board, i);
    ev_status status = board_count_slice(c->board, a, b, task, &p);
    if (status != EV_OK) return status;
    if (p.n > 0)
      c->rows[c->count++] =
          (evalci_board_row){.model = (uint32_t)a, .other = (uint32_t)b, .task = (uint32_t)task};
  }
  return EV_OK;
}

static ev_status list_slices(evalci_board_cursor *c, const size_t *const *named, ev_host host) {
  evalci_board_row *pairs;
  size_t count;
  ev_status status = EV_OK;
  if (!evalci_list_pairs(c->board, named, &pairs, &count) ||
      !evalci_room_for_rows(c, count * board_tasks(c->board)))
    status = EV_NO_MEMORY;
  for (size_t i = 0; i < count && status == EV_OK; i++)
    status =
        ev_interrupted(host) ? EV_INTERRUPTED : list_tasks_of(c, pairs[i].model, pairs[i].other);
  sqlite3_free(pairs);
  return status;
}

static void show_slice_interval(evalci_board_cursor *c, sqlite3_context *context,
                                evalci_ci_part part) {
  if (!c->has_ci)
    c->status = board_pair_interval(c->board, &c->pair, evalci_host_of(context), &c->ci);
  c->has_ci = true;
  evalci_result_ci(context, slices_name, c->status, c->ci, part, 0);
}

static void show_shrunken(evalci_board_cursor *c, sqlite3_context *context, evalci_ci_part part) {
  const evalci_board_row *row = &c->rows[c->at];
  ev_interval ci = {NAN, NAN};
  ev_status status = board_shrunken_slice(c->board, row->model, row->other, row->task,
                                          evalci_host_of(context), &ci);
  evalci_result_ci(context, slices_name, status, ci, part, 0);
}

static void show_slice_p(evalci_board_cursor *c, sqlite3_context *context, int column) {
  const evalci_board_row *row = &c->rows[c->at];
  ev_host host = evalci_host_of(context);
  board_adjusted held = {NAN, NAN, NAN};
  ev_status status;
  if (column == SL_P) {
    status = board_test_pair(c->board, &c->pair, host);
    held.p = c->pair.p;
  } else {
    status = board_adjusted_slice(c->board, row->model, row->other, row->task, host, &held);
  }
  if (evalci_check_status(context, slices_name, status))
    evalci_result_number(context, column == SL_P        ? held.p
                                  : column == SL_P_HOLM ? held.holm
                                                        : held.bh);
}

static void show_slice_verdict(evalci_board_cursor *c, sqlite3_context *context) {
  const char *words;
  ev_status status = board_slice_verdict(c->board, &c->pair, evalci_host_of(context), &words);
  if (evalci_check_status(context, slices_name, status)) evalci_result_words(context, words);
}

static void show_slices(evalci_board_cursor *c, sqlite3_context *context, int column) {
  const evalci_board_row *row = &c->rows[c->at];
  const board_pair *p = &c->pair;
  if (!c->known) {
    c->status = board_count_slice(c->board, row->model, row->other, row->task, &c->pair);
    c->known = true;
    c->has_ci = false;
  }
  if (!c->has_ci && !evalci_check_status(context, slices_name, c->status)) return;
  switch (column) {
  case SL_MODEL_A:
    evalci_result_name(context, board_model_name(c->board, row->model));
    break;
  case SL_MODEL_B:
    evalci_result_name(context, board_model_name(c->board, row->other));
    break;
  case SL_TASK:
    evalci_result_name(context, board_task_name(c->board, row->task));
    break;
  case SL_N:
    evalci_result_count(context, p->n);
    break;
  case SL_BOTH:
    if (!p->scored) evalci_result_count(context, p->both);
    break;
  case SL_ONLY_A:
    if (!p->scored) evalci_result_count(context, p->only_a);
    break;
  case SL_ONLY_B:
    if (!p->scored) evalci_result_count(context, p->only_b);
    break;
  case SL_DIFF:
    evalci_result_number(context, p->mean_a - p->mean_b);
    break;
  case SL_P:
  case SL_P_HOLM:
  case SL_P_BH:
    show_slice_p(c, context, column);
    break;
  case SL_VERDICT:
    show_slice_verdict(c, context);
    break;
  case SL_CI:
  case SL_LO:
  case SL_HI:
    show_slice_interval(c, context, (evalci_ci_part)(EVALCI_CI + column - SL_CI));
    break;
  default: /* SL_SHRUNKEN and its two ends */
    show_shrunken(c, context, (evalci_ci_part)(EVALCI_CI + column - SL_SHRUNKEN));
  }
}

const evalci_board_table evalci_slices_table = {slices_name, slices_columns, EVALCI_PAIRED,
                                                0,           list_slices,    show_slices};
