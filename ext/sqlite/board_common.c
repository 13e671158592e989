/*
** eval_common([source [, options]]): one row per model, on the questions that every model
** answered.  A model without any answer is left out.
*/
#include <math.h>

#include "boards.h"

enum {
  CO_MODEL,
  CO_N,
  CO_CORRECT,
  CO_ACCURACY,
  CO_CI,
  CO_LO,
  CO_HI,
  CO_METHOD,
  CO_QUESTIONS,
  CO_ERR_LO,
  CO_ERR_HI,
  CO_BAR,
  CO_RANK,
  CO_RANK_LO,
  CO_RANK_HI,
  CO_COLUMNS
};

static const char *const common_columns[CO_COLUMNS + 1] = {
    "model",       "n INTEGER", "correct INTEGER", "accuracy REAL",     "ci TEXT",
    "lo REAL",     "hi REAL",   "method TEXT",     "questions INTEGER", "err_lo REAL",
    "err_hi REAL", "bar TEXT",  "rank INTEGER",    "rank_lo INTEGER",   "rank_hi INTEGER"};

static const char common_name[] = "eval_common";

static bool same_accuracy(double x, double y) {
  return x == y || (isnan(x) && isnan(y));
}

/* The rank of a row is 1 plus the number of more accurate models. */
static ev_status list_common(evalci_board_cursor *c, const size_t *const *named, ev_host host) {
  (void)named;
  (void)host;
  size_t models = board_models(c->board), count = 0;
  evalci_sorted_row *sorted = sqlite3_malloc64((models + 1) * sizeof *sorted);
  bool room = sorted && evalci_room_for_rows(c, models);
  for (size_t m = 0; room && m < models; m++) {
    board_standing s;
    board_common_standing(c->board, m, &s);
    if (s.asked)
      sorted[count++] = (evalci_sorted_row){.row = {.model = (uint32_t)m},
                                            .accuracy = s.accuracy,
                                            .next = board_model_place(c->board, m)};
  }
  if (room) evalci_sort_rows(sorted, count);
  for (size_t i = 0, rank = 1; room && i < count; i++) {
    if (i > 0 && !same_accuracy(sorted[i].accuracy, sorted[i - 1].accuracy)) rank = i + 1;
    sorted[i].row.rank = (uint32_t)rank;
    c->rows[c->count++] = sorted[i].row;
  }
  sqlite3_free(sorted);
  return room ? EV_OK : EV_NO_MEMORY;
}

static void show_common_interval(evalci_board_cursor *c, sqlite3_context *context,
                                 evalci_ci_part part) {
  if (!c->has_ci)
    c->status =
        board_common_interval(c->board, c->rows[c->at].model, evalci_host_of(context), &c->ci);
  c->has_ci = true;
  evalci_result_ci(context, common_name, c->status, c->ci, part, c->standing.accuracy);
}

/* As in eval_leaderboard: of all answers, not only those to these questions. */
static void show_common_rank(evalci_board_cursor *c, sqlite3_context *context, bool lo) {
  ev_place place;
  ev_status status = board_place(c->board, c->rows[c->at].model, evalci_host_of(context), &place);
  if (evalci_check_status(context, common_name, status) && !isnan(place.lo))
    evalci_result_count(context, lo ? place.lo : place.hi);
}

static void show_common(evalci_board_cursor *c, sqlite3_context *context, int column) {
  const evalci_board_row *row = &c->rows[c->at];
  const board_standing *s = &c->standing;
  if (!c->known) {
    board_common_standing(c->board, row->model, &c->standing);
    c->known = true;
    c->has_ci = false;
  }
  switch (column) {
  case CO_MODEL:
    evalci_result_name(context, board_model_name(c->board, row->model));
    break;
  case CO_N:
    evalci_result_count(context, s->n);
    break;
  case CO_CORRECT:
    evalci_result_count(context, s->correct);
    break;
  case CO_ACCURACY:
    evalci_result_number(context, s->accuracy);
    break;
  case CO_METHOD:
    evalci_result_words(context, board_method(c->board, s, true));
    break;
  case CO_QUESTIONS:
    evalci_result_count(context, s->questions);
    break;
  case CO_RANK:
    evalci_result_count(context, row->rank);
    break;
  case CO_RANK_LO:
  case CO_RANK_HI:
    show_common_rank(c, context, column == CO_RANK_LO);
    break;
  case CO_CI:
  case CO_LO:
  case CO_HI:
    show_common_interval(c, context, (evalci_ci_part)(EVALCI_CI + column - CO_CI));
    break;
  default: /* CO_ERR_LO, CO_ERR_HI, CO_BAR */
    show_common_interval(c, context, (evalci_ci_part)(EVALCI_CI_BELOW + column - CO_ERR_LO));
  }
}

const evalci_board_table evalci_common_table = {"eval_common", common_columns, 0, 0,
                                                list_common,   show_common};
