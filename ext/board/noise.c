/*
** Tasks, questions and attempts at once (ext/stats/nested.h), where answers are right or wrong:
** each task's accuracy on new questions, and the shares of the variance.
*/
#include "../stats/nested.h"

#include <stdlib.h>

#include "inside.h"

/* A model's questions, by task.  Tasks of the board without one have no number here. */
typedef struct suite {
  ev_item *list;
  size_t *number; /* of each task of the board; its `tasks` where it has no question */
  size_t count, room, tasks;
} suite;

static ev_status add_task(const board *b, size_t model, size_t task, board_units *units, suite *s) {
  units->count = 0;
  ev_status status = board_gather(b, model, task, false, NULL, units);
  if (status != EV_OK || units->count == 0) return status;
  if (!board_grow(&s->list, &s->room, s->count + units->count, sizeof *s->list))
    return EV_NO_MEMORY;
  for (size_t i = 0; i < units->count; i++) {
    const ev_score_cluster *u = &units->list[i];
    s->list[s->count++] = (ev_item){u->total, u->size, u->times, s->tasks};
  }
  s->number[task] = s->tasks++;
  return EV_OK;
}

static void free_suite(suite *s) {
  free(s->list);
  free(s->number);
}

/* To be freed whatever the status. */
static ev_status gather_suite(const board *b, size_t model, suite *s) {
  board_units units = {0};
  *s = (suite){.number = malloc((b->tasks.count + 1) * sizeof *s->number)};
  ev_status status = s->number ? EV_OK : EV_NO_MEMORY;
  for (size_t i = 0; i < board_tasks(b) && status == EV_OK; i++) {
    size_t task = board_task_at(b, i);
    s->number[task] = SIZE_MAX;
    if (!b->task[task].graded) status = add_task(b, model, task, &units, s);
  }
  board_free_units(&units);
  return status;
}

static ev_items items_of(const suite *s) {
  return (ev_items){s->list, s->count, s->tasks};
}

/* Whether the board falls back to methods without the nested model after this status. */
static bool gives_up(ev_status status) {
  return status == EV_NOT_CONVERGED || status == EV_TOO_LARGE;
}

static bool asked_again_among_others(const board *b, size_t model, size_t task) {
  size_t others = 0;
  const board_part *parts = &b->parts[model * b->tasks.count];
  for (size_t t = 0; t < b->tasks.count; t++)
    others += t != task && !b->task[t].graded && parts[t].n > 0;
  return b->row_of && !b->task[task].graded && parts[task].repeated && others > 0;
}

/* Marks tasks for which the nested model failed; NaN marks those not yet computed. */
static const ev_interval GAVE_UP = {HUGE_VAL, HUGE_VAL};

/* Fills in the model's row of b->nested. */
static ev_status find_tasks(board *b, size_t model, ev_host host) {
  suite s;
  ev_interval *row = &b->nested[model * b->tasks.count];
  ev_status status = gather_suite(b, model, &s);
  ev_each *each = calloc(s.tasks + 1, sizeof *each);
  if (!each) status = EV_NO_MEMORY;
  if (status == EV_OK) {
    ev_items items = items_of(&s);
    status = ev_nested_each(&items, &b->options, host, each);
  }
  for (size_t t = 0; t < b->tasks.count; t++) {
    if (gives_up(status)) row[t] = GAVE_UP;
    if (status == EV_OK && s.number[t] < s.tasks)
      row[t] = (ev_interval){each[s.number[t]].lo, each[s.number[t]].hi};
  }
  free(each);
  free_suite(&s);
  return gives_up(status) ? EV_OK : status;
}

ev_status board_nested_interval(board *b, size_t model, size_t task, ev_host host, bool *nested,
                                ev_interval *ci) {
  size_t tasks = b->tasks.count;
  *nested = asked_again_among_others(b, model, task);
  if (!*nested) return EV_OK;
  if (!b->nested) {
    b->nested = malloc(board_models(b) * tasks * sizeof *b->nested);
    if (!b->nested) return EV_NO_MEMORY;
    for (size_t i = 0; i < board_models(b) * tasks; i++) b->nested[i] = board_no_interval();
  }
  ev_interval *kept = &b->nested[model * tasks + task];
  ev_status status = isnan(kept->lo) ? find_tasks(b, model, host) : EV_OK;
  *nested = isfinite(kept->lo);
  if (*nested) *ci = *kept;
  return status;
}

bool board_asked_again(const board *b, size_t model) {
  for (size_t t = 0; t < b->tasks.count; t++)
    if (board_attempts(b, model, t) > 0) return true;
  return false;
}

ev_status board_noise(const board *b, size_t model, ev_host host, board_noise_parts *parts) {
  suite s;
  ev_noise noise;
  ev_status status = gather_suite(b, model, &s);
  *parts = (board_noise_parts){.tasks = (double)s.tasks};
  for (int i = 0; i < BOARD_PARTS; i++) {
    parts->share[i] = NAN;
    parts->ci[i] = board_no_interval();
  }
  for (size_t i = 0; i < s.count; i++) {
    parts->questions += s.list[i].times;
    parts->n += s.list[i].n * s.list[i].times;
  }
  if (status == EV_OK) {
    ev_items items = items_of(&s);
    status = ev_nested_noise(&items, &b->options, host, &noise);
  }
  if (status == EV_OK) {
    const ev_each *shares[BOARD_PARTS] = {&noise.tasks, &noise.questions, &noise.reruns};
    for (int i = 0; i < BOARD_PARTS; i++) {
      parts->share[i] = shares[i]->mean;
      parts->ci[i] = (ev_interval){shares[i]->lo, shares[i]->hi};
    }
  }
  free_suite(&s);
  return gives_up(status) ? EV_OK : status;
}
