/*
** eval_questions([source [, options]]): one row per question, by task and name.
**
**   SELECT task, item, difficulty, note FROM eval_questions ORDER BY difficulty DESC;
*/
#include <math.h>

#include "boards.h"

enum {
  QU_TASK,
  QU_ITEM,
  QU_MODELS,
  QU_RIGHT,
  QU_MEAN,
  QU_DIFFICULTY,
  QU_CI,
  QU_LO,
  QU_HI,
  QU_ITEM_REST,
  QU_REST_CI,
  QU_REST_LO,
  QU_REST_HI,
  QU_AUC,
  QU_P_MISKEYED,
  QU_P_BH,
  QU_NOTE,
  QU_COLUMNS
};

static const char *const questions_columns[QU_COLUMNS + 1] = {"task",
                                                              "item",
                                                              "models INTEGER",
                                                              "\"right\" INTEGER",
                                                              "mean REAL",
                                                              "difficulty REAL",
                                                              "ci TEXT",
                                                              "lo REAL",
                                                              "hi REAL",
                                                              "item_rest REAL",
                                                              "item_rest_ci TEXT",
                                                              "item_rest_lo REAL",
                                                              "item_rest_hi REAL",
                                                              "auc REAL",
                                                              "p_miskeyed REAL",
                                                              "p_bh REAL",
                                                              "note TEXT"};

static const char questions_name[] = "eval_questions";

static ev_status list_questions(evalci_board_cursor *c, const size_t *const *named, ev_host host) {
  (void)named;
  (void)host;
  size_t count = board_questions(c->board);
  uint32_t *order = sqlite3_malloc64((count + 1) * sizeof *order);
  ev_status status = order && evalci_room_for_rows(c, count) ? EV_OK : EV_NO_MEMORY;
  if (status == EV_OK) status = board_sort_questions(c->board, order);
  for (size_t i = 0; status == EV_OK && i < count; i++)
    c->rows[c->count++] = (evalci_board_row){.question = order[i]};
  sqlite3_free(order);
  return status;
}

static void show_question_interval(evalci_board_cursor *c, sqlite3_context *context,
                                   evalci_ci_part part) {
  if (!c->has_ci)
    c->status =
        board_question_interval(c->board, c->rows[c->at].question, evalci_host_of(context), &c->ci);
  c->has_ci = true;
  evalci_result_ci(context, questions_name, c->status, c->ci, part, 0);
}

static void show_rest(evalci_board_cursor *c, sqlite3_context *context, int column) {
  double r = NAN;
  ev_interval ci = {NAN, NAN};
  ev_status status = board_item_rest(c->board, c->rows[c->at].question, &r, &ci);
  if (column != QU_ITEM_REST)
    evalci_result_ci(context, questions_name, status, ci,
                     (evalci_ci_part)(EVALCI_CI + column - QU_REST_CI), 0);
  else if (evalci_check_status(context, questions_name, status))
    evalci_result_number(context, r);
}

static void show_miskeyed(evalci_board_cursor *c, sqlite3_context *context, int column) {
  size_t question = c->rows[c->at].question;
  ev_host host = evalci_host_of(context);
  board_adjusted held = {NAN, NAN, NAN};
  double auc = NAN;
  const char *words = NULL;
  ev_status status = column == QU_AUC    ? board_item_auc(c->board, question, &auc)
                     : column == QU_NOTE ? board_question_note(c->board, question, host, &words)
                                         : board_miskeyed(c->board, question, host, &held);
  if (!evalci_check_status(context, questions_name, status)) return;
  if (column == QU_NOTE)
    evalci_result_words(context, words);
  else
    evalci_result_number(context, column == QU_AUC ? auc : column == QU_P_BH ? held.bh : held.p);
}

static void show_questions(evalci_board_cursor *c, sqlite3_context *context, int column) {
  size_t question = c->rows[c->at].question;
  const board_question *s = &c->question;
  if (!c->known) {
    c->question = board_question_standing(c->board, question);
    c->known = true;
    c->has_ci = false;
  }
  switch (column) {
  case QU_TASK:
    evalci_result_name(context, board_task_name(c->board, board_question_task(c->board, question)));
    break;
  case QU_ITEM:
    evalci_result_name(context, board_question_name(c->board, question));
    break;
  case QU_MODELS:
    evalci_result_count(context, s->models);
    break;
  case QU_RIGHT:
    evalci_result_count(context, s->right);
    break;
  case QU_MEAN:
    evalci_result_number(context, s->mean);
    break;
  case QU_DIFFICULTY:
    evalci_result_number(context, 1 - s->mean);
    break;
  case QU_CI:
  case QU_LO:
  case QU_HI:
    show_question_interval(c, context, (evalci_ci_part)(EVALCI_CI + column - QU_CI));
    break;
  case QU_ITEM_REST:
  case QU_REST_CI:
  case QU_REST_LO:
  case QU_REST_HI:
    show_rest(c, context, column);
    break;
  default: /* QU_AUC, QU_P_MISKEYED, QU_P_BH, QU_NOTE */
    show_miskeyed(c, context, column);
  }
}

const evalci_board_table evalci_questions_table = {questions_name, questions_columns, 0, 0,
                                                   list_questions, show_questions};
