/*
** eval_noise([source [, options]]): one row per model of which some question was asked again:
** the share of the variance of one answer that is the tasks', the questions' and the reruns'.
*/
#include "boards.h"

enum {
  NS_MODEL,
  NS_TASKS,
  NS_QUESTIONS,
  NS_N,
  NS_PARTS, /* from here on share, ci, lo and hi of each part */
  NS_PER_PART = 4
};

static const char *const noise_columns[] = {"model",
                                            "tasks INTEGER",
                                            "questions INTEGER",
                                            "n INTEGER",
                                            "task_share REAL",
                                            "task_ci TEXT",
                                            "task_lo REAL",
                                            "task_hi REAL",
                                            "question_share REAL",
                                            "question_ci TEXT",
                                            "question_lo REAL",
                                            "question_hi REAL",
                                            "rerun_share REAL",
                                            "rerun_ci TEXT",
                                            "rerun_lo REAL",
                                            "rerun_hi REAL",
                                            NULL};

static ev_status list_noise(evalci_board_cursor *c, const size_t *const *named, ev_host host) {
  (void)named;
  (void)host;
  size_t models = board_models(c->board);
  if (!evalci_room_for_rows(c, models)) return EV_NO_MEMORY;
  for (size_t i = 0; i < models; i++) {
    size_t model = board_model_at(c->board, i);
    if (board_asked_again(c->board, model))
      c->rows[c->count++] = (evalci_board_row){.model = (uint32_t)model};
  }
  return EV_OK;
}

static void show_noise(evalci_board_cursor *c, sqlite3_context *context, int column) {
  const evalci_board_row *row = &c->rows[c->at];
  int part = (column - NS_PARTS) / NS_PER_PART, of = (column - NS_PARTS) % NS_PER_PART;
  if (column == NS_MODEL) {
    evalci_result_name(context, board_model_name(c->board, row->model));
    return;
  }
  if (!c->known) c->status = board_noise(c->board, row->model, evalci_host_of(context), &c->noise);
  c->known = true;
  if (!evalci_check_status(context, "eval_noise", c->status)) return;
  if (column < NS_PARTS)
    evalci_result_count(context, column == NS_TASKS       ? c->noise.tasks
                                 : column == NS_QUESTIONS ? c->noise.questions
                                                          : c->noise.n);
  else if (of == 0)
    evalci_result_number(context, c->noise.share[part]);
  else
    evalci_result_ci(context, "eval_noise", c->status, c->noise.ci[part],
                     (evalci_ci_part)(EVALCI_CI + of - 1), 0);
}

const evalci_board_table evalci_noise_table = {"eval_noise", noise_columns, 0, 0,
                                               list_noise,   show_noise};
