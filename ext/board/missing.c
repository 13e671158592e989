/*
** Bounds on a model's accuracy, whatever its unknown answers were.
*/
#include <stdlib.h>

#include "../stats/proportion.h"
#include "inside.h"

uint32_t *board_unknown_of(const board *b, size_t model) {
  uint32_t *of = calloc(b->questions.count + 1, sizeof *of);
  for (size_t i = 0; of && i < b->unknown_count; i++)
    if (b->unknown[i].model == model) of[b->unknown[i].question]++;
  return of;
}

/* Adds the question means of a task, and counts its questions. */
static ev_status add_means(const board *b, size_t model, size_t task, const board_missing *missing,
                           board_sum *sum, double *questions) {
  board_units units = {0};
  ev_status status = board_gather(b, model, task, false, missing, &units);
  for (size_t i = 0; i < units.count; i++) {
    const ev_score_cluster *u = &units.list[i];
    board_add_shares(sum, u->total / u->size, u->times);
  }
  *questions += units.questions;
  board_free_units(&units);
  return status;
}

/* The accuracy with the unknown answers as `missing` says; as a share, for graded answers too. */
static ev_status accuracy_with(const board *b, size_t model, const board_missing *missing,
                               double *accuracy) {
  ev_status status = EV_OK;
  double means = 0, counted = 0, questions = 0;
  board_sum sum = {0, 0};
  for (size_t t = 0; t < b->tasks.count && status == EV_OK; t++) {
    status = add_means(b, model, b->task_order[t], missing, &sum, &questions);
    if (questions == 0 || (!b->settings.by_task && t + 1 < b->tasks.count)) continue;
    means += board_sum_of(sum) / questions;
    counted++;
    sum = (board_sum){0, 0};
    questions = 0;
  }
  *accuracy = counted > 0 ? means / counted : NAN;
  return status;
}

/* The unknown answers of a model, by question; none where they count as wrong already. */
static uint32_t *missing_of(const board *b, size_t model) {
  if (b->settings.errors_wrong) return calloc(b->questions.count + 1, sizeof(uint32_t));
  return board_unknown_of(b, model);
}

ev_status board_extremes(const board *b, size_t model, double *lowest, double *highest) {
  uint32_t *unknown = missing_of(b, model);
  board_missing missing = {unknown, 0};
  if (!unknown) return EV_NO_MEMORY;
  ev_status status = accuracy_with(b, model, &missing, lowest);
  missing.share = 1;
  if (status == EV_OK) status = accuracy_with(b, model, &missing, highest);
  free(unknown);
  return status;
}

/*
** The interval that holds whatever they were:
**
** 1. Right or wrong and asked once: ev_bounded(), of the counts.
** 2. Else the lower bound of the model's interval with all of them wrong, or at the low end of
**    the range, and the upper bound with all of them right, or at the high end.  It covers the
**    accuracy at least as often as the model's interval does.
*/

/* What a model was asked, whether it answered or not. */
typedef struct missing_asked {
  size_t tasks;
  bool graded, repeated;
} missing_asked;

static missing_asked find_asked(const board *b, size_t model, const uint32_t *unknown) {
  missing_asked asked = {0, false, b->totals[model].standing.repeated};
  for (size_t t = 0; t < b->tasks.count; t++) {
    if (!b->model[model].tasks[t].asked) continue;
    asked.graded |= b->task[t].graded;
    asked.tasks++;
  }
  for (size_t q = 0; q < b->questions.count; q++)
    asked.repeated |= unknown[q] && unknown[q] + board_answer(b, model, q).n > 1;
  return asked;
}

static ev_status missing_interval(const board *b, size_t model, const board_missing *missing,
                                  const missing_asked *asked, ev_host host, ev_interval *ci) {
  board_units units = {0};
  ev_status status = EV_OK;
  if (b->settings.by_task && asked->tasks > 1)
    return board_tasks_interval(b, model, false, missing, host, ci);
  for (size_t t = 0; t < b->tasks.count && status == EV_OK; t++)
    status = board_gather(b, model, t, false, missing, &units);
  if (status == EV_OK) status = board_units_interval(&units, &b->options, host, ci);
  board_free_units(&units);
  return status;
}

static ev_status find_bounded(const board *b, size_t model, const uint32_t *unknown, ev_host host,
                              ev_interval *ci) {
  const board_standing *s = &b->totals[model].standing;
  missing_asked asked = find_asked(b, model, unknown);
  board_missing missing = {unknown, 0};
  ev_interval highest;
  ev_status status;
  if (!asked.graded && !asked.repeated && !(b->settings.by_task && asked.tasks > 1)) {
    double counts[] = {s->correct, s->n - s->correct, s->errored};
    status = ev_bounded(counts, &b->options, host, ci);
    if (counts[0] == 0) ci->lo = 0;
    if (counts[1] == 0) ci->hi = 1;
    return status;
  }
  status = missing_interval(b, model, &missing, &asked, host, ci);
  missing.share = 1;
  if (status == EV_OK) status = missing_interval(b, model, &missing, &asked, host, &highest);
  if (status == EV_OK) ci->hi = highest.hi;
  return status;
}

ev_status board_bounded(board *b, size_t model, ev_host host, ev_interval *ci) {
  board_total *total = &b->totals[model];
  const board_standing *s = &total->standing;
  *ci = board_no_interval();
  if (s->errored == 0 || b->settings.errors_wrong) return board_model_interval(b, model, host, ci);
  *ci = total->bounded.ci;
  if (total->bounded.known) return EV_OK;
  uint32_t *unknown = board_unknown_of(b, model);
  ev_status status = unknown ? find_bounded(b, model, unknown, host, ci) : EV_NO_MEMORY;
  free(unknown);
  return board_keep(&total->bounded, status, ci);
}
