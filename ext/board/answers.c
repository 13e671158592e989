/*
** Reads rows into answers.
**
** The first answer of a model to a question is stored in two bits if it is right or wrong.
** Everything else (a score, a second answer) is kept in a list until the last row, because only
** then is it known whether its task is graded.
*/
#include <stdlib.h>

#include "inside.h"

board *board_new(const board_settings *settings) {
  board *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  b->settings = *settings;
  b->options = (ev_options){.level = settings->level,
                            .a = 1,
                            .b = 1,
                            .lo = 0,
                            .hi = 1,
                            .power = 0.8,
                            .attempts = 1,
                            .prior = EV_PRIOR_ICC};
  return b;
}

void board_free(board *b) {
  if (!b) return;
  for (size_t m = 0; m < b->models.count; m++) {
    free(b->model[m].words);
    free(b->model[m].tasks);
  }
  board_free_names(&b->models);
  board_free_names(&b->tasks);
  board_free_names(&b->questions);
  ev_paired_forget(&b->memo);
  free(b->held_slices.held);
  free(b->shrunken_slices.shrunken);
  void *const owned[] = {
      b->model,      b->task,    b->extras,   b->model_order, b->model_place, b->task_place,
      b->task_order, b->by_task, b->rows,     b->row_of,      b->cells,       b->sums,
      b->task_begin, b->common,  b->parts,    b->totals,      b->pairs,       b->prob_all,
      b->unknown,    b->rests,   b->miskeyed, b->spent,       b->spent_begin, b->latencies,
      b->costs,      b->frontier};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(b);
}

static const double SHARE_UNIT = 0x1p31;

void board_add_share(board_sum *sum, double share) {
  int64_t units = (int64_t)(share * SHARE_UNIT);
  sum->units += units;
  sum->rest += (int64_t)((share * SHARE_UNIT - (double)units) * SHARE_UNIT);
}

void board_add_shares(board_sum *sum, double share, double times) {
  board_sum one = {0, 0};
  board_add_share(&one, share);
  sum->units += one.units * (int64_t)times;
  sum->rest += one.rest * (int64_t)times;
}

void board_add_right(board_sum *sum, uint64_t answers) {
  sum->units += (int64_t)(answers << 31);
}

double board_sum_of(board_sum sum) {
  return (double)sum.units / SHARE_UNIT + (double)sum.rest / (SHARE_UNIT * SHARE_UNIT);
}

/* Numbers the names of a row.  Arrays grow before the names do, so that every number has an
** element. */
static bool number_names(board *b, const board_row *row) {
  uint32_t *m = &b->last_model, *t = &b->last_task, *q = &b->last_question;
  return board_grow(&b->model, &b->model_room, b->models.count + 1, sizeof *b->model) &&
         board_grow(&b->task, &b->task_room, b->tasks.count + 1, sizeof *b->task) &&
         board_name_number(&b->models, row->model, 0, *m, m) &&
         board_name_number(&b->tasks, row->task, 0, *t, t) &&
         (b->settings.counts || board_name_number(&b->questions, row->question, *t, *q, q));
}

/* The tally of a row's model and task; NULL without memory. */
static board_tally *tally_of(board *b, const board_row *row) {
  if (!number_names(b, row)) return NULL;
  board_model *model = &b->model[b->last_model];
  if (b->last_task >= model->tasks_room &&
      !board_grow(&model->tasks, &model->tasks_room, (size_t)b->last_task + 1,
                  sizeof *model->tasks))
    return NULL;
  board_tally *tally = &model->tasks[b->last_task];
  tally->asked++;
  return tally;
}

/* The range of scores that the rows of a task declare: the widest of them. */
static void declare_range(board_task *task, double lo, double hi) {
  task->lo = task->declared ? fmin(task->lo, lo) : lo;
  task->hi = task->declared ? fmax(task->hi, hi) : hi;
  task->declared = task->graded = true;
}

static bool keep_answer(board *b, const board_row *row, int correct, bool scored) {
  uint32_t question = b->last_question;
  board_model *model = &b->model[b->last_model];
  size_t at = question >> 6;
  uint64_t bit = (uint64_t)1 << (question & 63);
  if (at >= model->words_room &&
      !board_grow(&model->words, &model->words_room, at + 1, sizeof *model->words))
    return false;
  bool first = !(model->words[at].known & bit);
  if (first) {
    model->words[at].known |= bit;
    if (correct > 0) model->words[at].right |= bit;
    if (!scored) return true;
  }
  if (!board_grow(&b->extras, &b->extra_room, b->extra_count + 1, sizeof *b->extras)) return false;
  b->extras[b->extra_count++] =
      (board_extra){row->score, b->last_model, question, (signed char)correct, scored, first};
  b->repeated |= !first;
  return true;
}

static bool keep_unknown(board *b) {
  if (!board_grow(&b->unknown, &b->unknown_room, b->unknown_count + 1, sizeof *b->unknown))
    return false;
  b->unknown[b->unknown_count++] = (board_unknown){b->last_model, b->last_question};
  return true;
}

/* An answer is known if it is right or wrong, or has a score and no error. */
ev_status board_add(board *b, const board_row *row) {
  board_tally *tally = tally_of(b, row);
  if (!tally || !board_keep_spent(b, row)) return EV_NO_MEMORY;
  board_task *task = &b->task[b->last_task];
  if (row->ranged)
    declare_range(task, row->lo, row->hi);
  else if (b->settings.ranged && row->scored)
    task->graded = true;
  bool known = row->correct >= 0, counts = row->scored && (known || !row->failed);
  if (!known && counts) task->graded = true;
  int correct = row->correct;
  if (!known && !counts) {
    tally->unknown++;
    if (!keep_unknown(b)) return EV_NO_MEMORY;
    if (!b->settings.errors_wrong) return EV_OK;
    correct = 0;
  }
  tally->n++;
  tally->correct += correct > 0;
  return keep_answer(b, row, correct, counts) ? EV_OK : EV_NO_MEMORY;
}

ev_status board_add_counts(board *b, const board_row *row, double k, double n) {
  board_tally *tally = tally_of(b, row);
  if (!tally) return EV_NO_MEMORY;
  tally->n += n;
  tally->correct += k;
  return EV_OK;
}
