/*
** Questions that were asked again: the probability that at least one of k attempts is right,
** and that all are.  For tasks whose answers are right or wrong.
*/
#include "../stats/pass.h"

#include <stdlib.h>

#include "inside.h"

size_t board_attempts(const board *b, size_t model, size_t task) {
  size_t most = 0;
  if (!b->row_of || b->task[task].graded) return 0;
  for (size_t i = b->task_begin[task]; i < b->task_begin[task + 1]; i++) {
    size_t n = board_answer(b, model, b->by_task[i]).n;
    if (n > most) most = n;
  }
  return most > 1 ? most : 0;
}

/* The questions with at least k attempts; NULL without memory. */
static ev_cluster *attempted(const board *b, size_t model, size_t task, double k, size_t *count) {
  board_units units = {0};
  *count = 0;
  ev_cluster *list = NULL;
  if (board_gather(b, model, task, false, NULL, &units) == EV_OK)
    list = malloc((units.count + 1) * sizeof *list);
  for (size_t i = 0; list && i < units.count; i++) {
    const ev_score_cluster *u = &units.list[i];
    if (u->size >= k) list[(*count)++] = (ev_cluster){u->total, u->size, u->times};
  }
  board_free_units(&units);
  return list;
}

ev_status board_passes(const board *b, size_t model, size_t task, double k, board_pass *pass) {
  size_t count;
  board_sum at = {0, 0}, hat = {0, 0};
  *pass = (board_pass){.at = NAN, .hat = NAN};
  ev_cluster *list = attempted(b, model, task, k, &count);
  if (!list) return EV_NO_MEMORY;
  for (size_t i = 0; i < count; i++) {
    pass->questions += list[i].times;
    board_add_shares(&at, ev_pass_at_k_estimate(list[i].k, list[i].n, k), list[i].times);
    board_add_shares(&hat, ev_pass_hat_k_estimate(list[i].k, list[i].n, k), list[i].times);
  }
  free(list);
  if (pass->questions > 0) {
    pass->at = board_sum_of(at) / pass->questions;
    pass->hat = board_sum_of(hat) / pass->questions;
  }
  return EV_OK;
}

ev_status board_pass_intervals(const board *b, size_t model, size_t task, double k, ev_host host,
                               board_pass *pass) {
  size_t count;
  ev_options options = b->options;
  options.attempts = k;
  pass->at_ci = pass->hat_ci = board_no_interval();
  ev_cluster *list = attempted(b, model, task, k, &count);
  ev_status status = list ? EV_OK : EV_NO_MEMORY;
  if (list && count) {
    status = ev_pass_at_k(list, count, &options, host, &pass->at_ci);
    if (status == EV_OK) status = ev_pass_hat_k(list, count, &options, host, &pass->hat_ci);
  }
  free(list);
  return status;
}
