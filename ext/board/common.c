/*
** The accuracy of models on the questions that every model answered.
*/
#include "inside.h"

double board_common_questions(const board *b) {
  return b->common_count;
}

static void add_common(const board *b, size_t model, uint32_t question, board_standing *s,
                       board_sum *sum) {
  board_cell cell = board_answer(b, model, question);
  s->n += cell.n;
  s->correct += cell.total;
  s->questions++;
  s->graded |= b->task[board_task_of(b, question)].graded;
  s->repeated |= cell.n > 1;
  board_add_share(sum, cell.total / cell.n);
}

void board_common_standing(const board *b, size_t model, board_standing *s) {
  board_sum all = {0, 0};
  double means = 0;
  *s = (board_standing){.asked = b->totals[model].standing.n > 0 && b->common_count > 0};
  for (size_t t = 0; s->asked && t < b->tasks.count; t++) {
    board_sum sum = {0, 0};
    double before = s->questions;
    for (size_t i = b->task_begin[t]; i < b->task_begin[t + 1]; i++)
      if (board_bit(b->common, b->by_task[i])) add_common(b, model, b->by_task[i], s, &sum);
    if (s->questions == before) continue;
    s->tasks++;
    means += board_sum_of(sum) / (s->questions - before);
    all.units += sum.units;
    all.rest += sum.rest;
  }
  if (s->graded) s->correct = NAN;
  s->accuracy = s->n == 0 ? NAN : board_sum_of(all) / s->questions;
  if (b->settings.by_task && s->tasks > 1) s->accuracy = board_round(means / s->tasks);
}

ev_status board_common_interval(const board *b, size_t model, ev_host host, ev_interval *ci) {
  board_standing s;
  board_units units = {0};
  *ci = board_no_interval();
  ev_status status = EV_OK;
  board_common_standing(b, model, &s);
  if (s.n == 0) return EV_OK;
  if (b->settings.by_task && s.tasks > 1)
    return board_tasks_interval(b, model, true, NULL, host, ci);
  for (size_t t = 0; t < b->tasks.count && status == EV_OK; t++)
    status = board_gather(b, model, t, true, NULL, &units);
  if (status == EV_OK) status = board_units_interval(&units, &b->options, host, ci);
  board_free_units(&units);
  return status;
}
