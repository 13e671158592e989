/*
** The shares of the variance of an answer that are the tasks', the questions' and the reruns'
** (ext/stats/nested.h), where answers are right or wrong.
*/
#include "../stats/nested.h"

#include <stdlib.h>

#include "inside.h"

/* A model's questions, by task.  Tasks of the board without one have no number here. */
typedef struct suite {
  ev_item *list;
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
  s->tasks++;
  return EV_OK;
}

/* To be freed whatever the status. */
static ev_status gather_suite(const board *b, size_t model, suite *s) {
  board_units units = {0};
  ev_status status = EV_OK;
  *s = (suite){0};
  for (size_t i = 0; i < board_tasks(b) && status == EV_OK; i++) {
    size_t task = board_task_at(b, i);
    if (!b->task[task].graded) status = add_task(b, model, task, &units, s);
  }
  board_free_units(&units);
  return status;
}

/* Whether the board shows no shares after this status, and no error. */
static bool gives_up(ev_status status) {
  return status == EV_NOT_CONVERGED || status == EV_TOO_LARGE;
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
    ev_items items = {s.list, s.count, s.tasks};
    status = ev_nested_noise(&items, &b->options, host, &noise);
  }
  if (status == EV_OK) {
    const ev_each *shares[BOARD_PARTS] = {&noise.tasks, &noise.questions, &noise.reruns};
    for (int i = 0; i < BOARD_PARTS; i++) {
      parts->share[i] = shares[i]->mean;
      parts->ci[i] = (ev_interval){shares[i]->lo, shares[i]->hi};
    }
  }
  free(s.list);
  return gives_up(status) ? EV_OK : status;
}
