/*
** A model's answers as ext/stats takes them, and the one rule for the interval of an accuracy.
**
** The accuracy is the mean of question means: attempts at a question are its mean, and every
** question has the same weight.  The interval is ev_mean of the question means.  If every question
** is right or wrong, and all attempts at it agree, that is ev_bayes of the questions, except that
** it reaches the end where all are right, or all wrong, so that it holds the accuracy.
*/
#include <stdlib.h>

#include "../stats/macro.h"
#include "inside.h"

static bool append_unit(board_units *units, double total, double n, double times) {
  if (times == 0) return true;
  if (!board_grow(&units->list, &units->room, units->count + 1, sizeof *units->list)) return false;
  units->list[units->count++] = (ev_score_cluster){total, n, times};
  units->questions += times;
  return true;
}

ev_status board_gather(const board *b, size_t model, size_t task, bool common,
                       const board_missing *missing, board_units *units) {
  double once[2] = {0, 0}; /* questions asked once that are wrong, and right */
  for (size_t i = b->task_begin[task]; i < b->task_begin[task + 1]; i++) {
    uint32_t question = b->by_task[i];
    if (common && !board_bit(b->common, question)) continue;
    board_cell cell = board_answer(b, model, question);
    if (missing) {
      cell.n += missing->of[question];
      cell.total += missing->of[question] * missing->share;
    }
    if (cell.n == 0) continue;
    if (cell.n == 1 && (cell.total == 0 || cell.total == 1))
      once[cell.total == 1]++;
    else if (!append_unit(units, cell.total, cell.n, 1))
      return EV_NO_MEMORY;
  }
  bool ok = append_unit(units, 0, 1, once[0]) && append_unit(units, 1, 1, once[1]);
  return ok ? EV_OK : EV_NO_MEMORY;
}

void board_free_units(board_units *units) {
  free(units->list);
  *units = (board_units){0};
}

ev_status board_units_interval(const board_units *units, const ev_options *options, ev_host host,
                               ev_interval *ci) {
  *ci = board_no_interval();
  if (units->count == 0) return EV_OK;
  ev_score *list = malloc(units->count * sizeof *list);
  if (!list) return EV_NO_MEMORY;
  for (size_t i = 0; i < units->count; i++)
    list[i] = (ev_score){units->list[i].total / units->list[i].size, units->list[i].times};
  ev_status status = ev_mean(list, units->count, options, host, ci);
  free(list);
  return status;
}

ev_status board_right_interval(double right, double n, const ev_options *options, ev_host host,
                               ev_interval *ci) {
  ev_score list[] = {{0, n - right}, {1, right}};
  return right == 0   ? ev_mean(list, 1, options, host, ci)
         : right == n ? ev_mean(list + 1, 1, options, host, ci)
                      : ev_mean(list, 2, options, host, ci);
}

/*
** The mean of tasks: question means by their task.
*/
typedef struct task_scores {
  ev_task_score *list;
  size_t count, room, tasks;
} task_scores;

static bool append_score(task_scores *scores, double score, double times) {
  if (times == 0) return true;
  if (!board_grow(&scores->list, &scores->room, scores->count + 1, sizeof *scores->list))
    return false;
  scores->list[scores->count++] = (ev_task_score){score, times, scores->tasks};
  return true;
}

/* The answers of a task, if there are any. */
static ev_status append_task(const board *b, size_t model, size_t task, bool common,
                             const board_missing *missing, board_units *units,
                             task_scores *scores) {
  const board_standing *s = &b->totals[model].standing;
  const board_tally *tally = &b->model[model].tasks[task];
  size_t before = scores->count;
  bool ok = true;
  if (!common && !missing && !s->graded && !s->repeated) { /* the counts are there already */
    ok = append_score(scores, 1, tally->correct) &&
         append_score(scores, 0, tally->n - tally->correct);
  } else {
    units->count = 0;
    ok = board_gather(b, model, task, common, missing, units) == EV_OK;
    for (size_t i = 0; i < units->count && ok; i++)
      ok = append_score(scores, units->list[i].total / units->list[i].size, units->list[i].times);
  }
  scores->tasks += scores->count > before;
  return ok ? EV_OK : EV_NO_MEMORY;
}

ev_status board_tasks_interval(const board *b, size_t model, bool common,
                               const board_missing *missing, ev_host host, ev_interval *ci) {
  task_scores scores = {0};
  board_units units = {0};
  ev_status status = EV_OK;
  *ci = board_no_interval();
  for (size_t t = 0; t < b->tasks.count && status == EV_OK; t++)
    status = append_task(b, model, t, common, missing, &units, &scores);
  if (status == EV_OK && scores.count)
    status = ev_macro(scores.list, scores.count, scores.tasks, &b->options, host, ci);
  board_free_units(&units);
  free(scores.list);
  return status;
}

double board_round(double x) {
  return nearbyint(x * 1e12) / 1e12;
}
