/*
** Accuracy of models: counts and means by task and over all tasks, and their intervals.
*/
#include <stdlib.h>

#include "../stats/other_tasks.h"
#include "inside.h"

/*
** Counts
*/
static void count_bits(const board *b, size_t model, board_part *parts) {
  for (size_t w = 0; w < b->words; w++) {
    const board_word *word = &b->model[model].words[w];
    for (uint64_t left = word->known; left; left &= left - 1) {
      uint64_t bit = left & (~left + 1);
      board_part *part = &parts[board_task_of(b, 64 * w + board_popcount(bit - 1))];
      part->questions++;
      if (word->right & bit) board_add_right(&part->sum, 1);
    }
  }
}

static void count_rows(const board *b, size_t model, board_part *parts) {
  const board_cell *cells = board_cells_of(b, model);
  for (size_t r = 0; r < b->row_count; r++) {
    if (cells[r].n == 0) continue;
    board_part *part = &parts[board_task_of(b, b->rows[r])];
    part->questions++;
    part->repeated |= cells[r].n > 1;
    board_add_share(&part->sum, cells[r].total / cells[r].n);
  }
}

static void count_parts(const board *b, size_t model, board_part *parts) {
  for (size_t t = 0; t < b->tasks.count; t++) {
    const board_tally *tally = &b->model[model].tasks[t];
    parts[t] = (board_part){.n = tally->n,
                            .correct = tally->correct,
                            .errored = tally->unknown,
                            .asked = tally->asked > 0};
    if (b->row_count) continue;
    parts[t].questions = tally->n;
    if (!b->settings.counts) board_add_right(&parts[t].sum, (uint64_t)tally->correct);
  }
  if (!b->row_count) return;
  count_bits(b, model, parts);
  count_rows(b, model, parts);
}

/* The mean of question means; of counts, which may be too large for their sum, their quotient. */
static double accuracy_of(const board *b, const board_standing *s, board_sum sum) {
  if (s->n == 0) return NAN;
  return (b->settings.counts ? s->correct : board_sum_of(sum)) / s->questions;
}

board_standing board_task_standing(const board *b, size_t model, size_t task) {
  const board_part *part = &b->parts[model * b->tasks.count + task];
  board_standing s = {.n = part->n,
                      .correct = part->correct,
                      .errored = part->errored,
                      .questions = part->questions,
                      .tasks = part->n > 0,
                      .asked = part->asked,
                      .graded = b->task[task].graded,
                      .repeated = part->repeated};
  s.accuracy = accuracy_of(b, &s, part->sum);
  return s;
}

static board_standing add_up(const board *b, size_t model) {
  board_standing all = {0};
  board_sum sum = {0, 0};
  for (size_t t = 0; t < b->tasks.count; t++) {
    board_standing s = board_task_standing(b, model, t);
    const board_part *part = &b->parts[model * b->tasks.count + t];
    all.n += s.n;
    all.correct += s.correct;
    all.errored += s.errored;
    all.questions += s.questions;
    all.tasks += s.tasks;
    all.asked |= s.asked;
    all.graded |= s.graded && s.n > 0;
    all.repeated |= s.repeated;
    sum.units += part->sum.units;
    sum.rest += part->sum.rest;
  }
  all.accuracy = accuracy_of(b, &all, sum);
  return all;
}

ev_status board_prepare(board *b) {
  size_t models = b->models.count, tasks = b->tasks.count;
  if (b->totals) return EV_OK;
  if (!b->parts) b->parts = malloc((models * tasks + 1) * sizeof *b->parts);
  board_total *totals = calloc(models + 1, sizeof *totals);
  if (!b->parts || !totals) {
    free(totals);
    return EV_NO_MEMORY;
  }
  b->totals = totals;
  for (size_t m = 0; m < models; m++) {
    count_parts(b, m, b->parts + m * tasks);
    totals[m].standing = add_up(b, m);
    totals[m].place = (ev_place){NAN, NAN, NAN, NAN};
    if (board_over_tasks(b, &totals[m].standing)) totals[m].standing.accuracy = board_macro(b, m);
  }
  return EV_OK;
}

board_standing board_model_standing(const board *b, size_t model) {
  return b->totals[model].standing;
}

bool board_task_range(const board *b, size_t task, double *lo, double *hi) {
  *lo = b->task[task].lo;
  *hi = b->task[task].hi;
  return b->task[task].graded;
}

bool board_task_declared(const board *b, size_t task) {
  return b->task[task].declared;
}

/* Rows that repeat a question without an attempt number are taken for attempts, and the name of the
** method says so. */
const char *board_method(const board *b, const board_standing *s, bool tasks) {
  bool guessed = s->repeated && !b->settings.numbered;
  if (s->n == 0) return NULL;
  if (tasks && board_over_tasks(b, s))
    return guessed ? "mean of tasks, repeated rows as attempts" : "mean of tasks";
  if (!s->repeated) return s->graded ? "mean" : "bayes";
  return guessed ? "mean of questions, repeated rows as attempts" : "mean of questions";
}

/*
** Intervals
*/
/* The interval over some tasks together. */
static ev_status questions_interval(const board *b, size_t model, size_t from, size_t to,
                                    const board_standing *s, ev_host host, ev_interval *ci) {
  board_units units = {0};
  ev_status status = EV_OK;
  *ci = board_no_interval();
  if (s->n == 0) return EV_OK;
  if (!s->graded && !s->repeated) /* the counts are there already */
    return board_right_interval(s->correct, s->n, &b->options, host, ci);
  for (size_t t = from; t < to && status == EV_OK; t++)
    status = board_gather(b, model, t, false, NULL, &units);
  if (status == EV_OK) status = board_units_interval(&units, &b->options, host, ci);
  board_free_units(&units);
  return status;
}

ev_status board_task_interval(const board *b, size_t model, size_t task, ev_host host,
                              ev_interval *ci) {
  board_standing s = board_task_standing(b, model, task);
  return questions_interval(b, model, task, task + 1, &s, host, ci);
}

ev_status board_model_interval(board *b, size_t model, ev_host host, ev_interval *ci) {
  board_total *total = &b->totals[model];
  if (board_over_tasks(b, &total->standing)) return board_macro_interval(b, model, host, ci);
  *ci = total->ci.ci;
  if (total->ci.known) return EV_OK;
  ev_status status = questions_interval(b, model, 0, b->tasks.count, &total->standing, host, ci);
  return board_keep(&total->ci, status, ci);
}

double board_macro(const board *b, size_t model) {
  const board_standing *all = &b->totals[model].standing;
  double sum = 0;
  if (all->tasks < 2) return NAN;
  for (size_t t = 0; t < b->tasks.count; t++) {
    board_standing s = board_task_standing(b, model, t);
    if (s.n > 0) sum += s.accuracy;
  }
  return board_round(sum / all->tasks);
}

ev_status board_macro_interval(board *b, size_t model, ev_host host, ev_interval *ci) {
  board_total *total = &b->totals[model];
  *ci = board_no_interval();
  if (total->standing.tasks < 2) return EV_OK;
  *ci = total->macro.ci;
  if (total->macro.known) return EV_OK;
  return board_keep(&total->macro, board_tasks_interval(b, model, false, NULL, host, ci), ci);
}

/* With fewer tasks nothing can be said about other tasks. */
enum { FEWEST_TASKS = 5 };

/* The accuracy on another task like these: the tasks are the clusters, sorted by name, so that
** the digits do not depend on the order of rows. */
static ev_status other_tasks(const board *b, size_t model, ev_host host, ev_interval *ci) {
  size_t count = 0;
  bool alike = board_over_tasks(b, &b->totals[model].standing);
  ev_score_cluster *list = malloc((b->tasks.count + 1) * sizeof *list);
  if (!list) return EV_NO_MEMORY;
  for (size_t t = 0; t < b->tasks.count; t++) {
    board_standing s = board_task_standing(b, model, b->task_order[t]);
    double size = alike ? 1 : s.questions;
    if (s.n > 0) list[count++] = (ev_score_cluster){s.accuracy * size, size, 1};
  }
  ev_status status = ev_other_tasks(list, count, &b->options, host, ci);
  free(list);
  return status;
}

ev_status board_other_tasks(board *b, size_t model, ev_host host, ev_interval *ci) {
  board_total *total = &b->totals[model];
  *ci = board_no_interval();
  if (total->standing.tasks < FEWEST_TASKS) return EV_OK;
  *ci = total->other_tasks.ci;
  if (total->other_tasks.known) return EV_OK;
  return board_keep(&total->other_tasks, other_tasks(b, model, host, ci), ci);
}
