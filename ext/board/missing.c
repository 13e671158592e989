/*
** Bounds on a model's accuracy, whatever its unknown answers were.
*/
#include <stdlib.h>

#include "../stats/proportion.h"
#include "inside.h"

/* Sums over the questions of some tasks. */
typedef struct missing_sum {
  double total, known, missing;
} missing_sum;

static missing_sum sum_missing(const board *b, size_t model, size_t from, size_t to) {
  missing_sum sum = {0, 0, 0};
  for (size_t t = from; t < to; t++) {
    board_standing s = board_task_standing(b, model, t);
    if (s.n > 0) sum.total += s.accuracy * s.n;
    sum.known += s.n;
    sum.missing += b->settings.errors_wrong ? 0 : s.errored;
  }
  return sum;
}

/* The accuracy with all of them wrong, and with all of them right; as shares, for graded answers
** too. */
void board_extremes(const board *b, size_t model, double *lowest, double *highest) {
  size_t each = b->settings.by_task ? 1 : b->tasks.count, counted = 0;
  double low = 0, high = 0;
  for (size_t t = 0; t < b->tasks.count; t += each) {
    missing_sum sum = sum_missing(b, model, t, t + each);
    double all = sum.known + sum.missing;
    if (all == 0) continue;
    low += sum.total / all;
    high += (sum.total + sum.missing) / all;
    counted++;
  }
  *lowest = counted ? low / (double)counted : NAN;
  *highest = counted ? high / (double)counted : NAN;
}

/*
** The interval that holds whatever they were:
**
** 1. Right or wrong and asked once: ev_bounded(), of the counts.
** 2. Else the lower bound of the model's interval with all of them wrong, or at the low end of
**    the range, and the upper bound with all of them right, or at the high end.  It covers the
**    accuracy at least as often as the model's interval does.
*/

/* Whether a model was asked something graded, and how many tasks it was asked. */
static size_t asked_tasks(const board *b, size_t model, bool *graded) {
  size_t count = 0;
  *graded = false;
  for (size_t t = 0; t < b->tasks.count; t++) {
    if (!b->model[model].tasks[t].asked) continue;
    *graded |= b->task[t].graded;
    count++;
  }
  return count;
}

static ev_status missing_interval(const board *b, size_t model, const board_missing *missing,
                                  bool graded, bool over_tasks, ev_host host, ev_interval *ci) {
  board_units units = {0};
  ev_status status = EV_OK;
  bool repeated = false;
  if (over_tasks) return board_tasks_interval(b, model, false, missing, host, ci);
  for (size_t t = 0; t < b->tasks.count && status == EV_OK; t++)
    status = board_gather(b, model, t, false, missing, &units);
  for (size_t i = 0; i < units.count; i++) repeated |= units.list[i].size > 1;
  if (status == EV_OK)
    status = board_units_interval(&units, graded, repeated, &b->options, host, ci);
  board_free_units(&units);
  return status;
}

uint32_t *board_unknown_of(const board *b, size_t model) {
  uint32_t *of = calloc(b->questions.count + 1, sizeof *of);
  for (size_t i = 0; of && i < b->unknown_count; i++)
    if (b->unknown[i].model == model) of[b->unknown[i].question]++;
  return of;
}

/* Case 2 above. */
static ev_status extreme_interval(const board *b, size_t model, bool graded, bool over_tasks,
                                  ev_host host, ev_interval *ci) {
  uint32_t *unknown = board_unknown_of(b, model);
  board_missing missing = {unknown, 0};
  ev_interval highest;
  if (!unknown) return EV_NO_MEMORY;
  ev_status status = missing_interval(b, model, &missing, graded, over_tasks, host, ci);
  missing.share = 1;
  if (status == EV_OK)
    status = missing_interval(b, model, &missing, graded, over_tasks, host, &highest);
  if (status == EV_OK) ci->hi = highest.hi;
  free(unknown);
  return status;
}

ev_status board_bounded(board *b, size_t model, ev_host host, ev_interval *ci) {
  board_total *total = &b->totals[model];
  const board_standing *s = &total->standing;
  double unknown = b->settings.errors_wrong ? 0 : s->errored;
  bool graded, over_tasks = asked_tasks(b, model, &graded) > 1 && b->settings.by_task;
  *ci = board_no_interval();
  if (s->n + unknown == 0 || s->outside) return EV_OK;
  if (!graded && !s->repeated && !over_tasks)
    return ev_bounded((double[]){s->correct, s->n - s->correct, unknown}, &b->options, host, ci);
  if (unknown == 0) return board_model_interval(b, model, host, ci);
  *ci = total->bounded.ci;
  if (total->bounded.known) return EV_OK;
  ev_status status = extreme_interval(b, model, graded, over_tasks, host, ci);
  return board_keep(&total->bounded, status, ci);
}
