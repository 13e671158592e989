/*
** A model's answers as ext/stats takes them, and the method for each kind:
**
**                      asked once     asked again
**   right or wrong     ev_bayes       ev_clustered, by question
**   graded             ev_mean        ev_clustered_mean, by question
*/
#include <stdlib.h>

#include "../stats/clustered.h"
#include "../stats/macro.h"
#include "../stats/proportion.h"
#include "inside.h"

static bool append_unit(board_units *units, double total, double n, double times) {
  if (times == 0) return true;
  if (!board_grow(&units->list, &units->room, units->count + 1, sizeof *units->list)) return false;
  units->list[units->count++] = (ev_score_cluster){total, n, times};
  units->questions += times;
  return true;
}

ev_status board_gather(const board *b, size_t model, size_t task, bool common, board_units *units) {
  double once[2] = {0, 0}; /* questions asked once that are wrong, and right */
  for (size_t i = b->task_begin[task]; i < b->task_begin[task + 1]; i++) {
    uint32_t question = b->by_task[i];
    if (common && !board_bit(b->common, question)) continue;
    board_cell cell = board_answer(b, model, question);
    if (cell.n == 0 || cell.outside) continue;
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

static ev_status clustered_interval(const board_units *units, const ev_options *options,
                                    ev_host host, ev_interval *ci) {
  ev_cluster *list = malloc((units->count + 1) * sizeof *list);
  if (!list) return EV_NO_MEMORY;
  for (size_t i = 0; i < units->count; i++)
    list[i] = (ev_cluster){units->list[i].total, units->list[i].size, units->list[i].times};
  ev_status status = ev_clustered(list, units->count, options, host, ci);
  free(list);
  return status;
}

static ev_status mean_interval(const board_units *units, const ev_options *options, ev_host host,
                               ev_interval *ci) {
  ev_score *list = malloc((units->count + 1) * sizeof *list);
  if (!list) return EV_NO_MEMORY;
  for (size_t i = 0; i < units->count; i++)
    list[i] = (ev_score){units->list[i].total, units->list[i].times};
  ev_status status = ev_mean(list, units->count, options, host, ci);
  free(list);
  return status;
}

static ev_status bayes_interval(const board_units *units, const ev_options *options,
                                ev_interval *ci) {
  double counts[2] = {0, 0};
  for (size_t i = 0; i < units->count; i++) {
    counts[0] += units->list[i].total * units->list[i].times;
    counts[1] += units->list[i].times;
  }
  return ev_bayes(counts, options, ci);
}

ev_status board_units_interval(const board_units *units, bool graded, bool repeated,
                               const ev_options *options, ev_host host, ev_interval *ci) {
  *ci = board_no_interval();
  if (units->count == 0) return EV_OK;
  if (graded && repeated) return ev_clustered_mean(units->list, units->count, options, host, ci);
  if (graded) return mean_interval(units, options, host, ci);
  if (repeated) return clustered_interval(units, options, host, ci);
  return bayes_interval(units, options, ci);
}

/*
** The mean of tasks.  Right or wrong answers, each asked once, are clusters of ev_macro;
** others are question means that weigh as one over the questions of their task.
*/
static ev_status weigh_task(const board_units *units, ev_weighted_score **list, size_t *count,
                            size_t *room) {
  if (!board_grow(list, room, *count + units->count, sizeof **list)) return EV_NO_MEMORY;
  for (size_t i = 0; i < units->count; i++) {
    const ev_score_cluster *u = &units->list[i];
    (*list)[(*count)++] = (ev_weighted_score){u->total / u->size, 1 / units->questions, u->times};
  }
  return EV_OK;
}

static ev_status weighted_tasks(const board *b, size_t model, bool common, ev_host host,
                                ev_interval *ci) {
  ev_weighted_score *list = NULL;
  size_t count = 0, room = 0;
  board_units units = {0};
  ev_status status = EV_OK;
  for (size_t t = 0; t < b->tasks.count && status == EV_OK; t++) {
    units.count = 0;
    units.questions = 0;
    status = board_gather(b, model, t, common, &units);
    if (status == EV_OK && units.count) status = weigh_task(&units, &list, &count, &room);
  }
  if (status == EV_OK && count) status = ev_weighted_mean(list, count, &b->options, host, ci);
  board_free_units(&units);
  free(list);
  return status;
}

/* Right answers and answers of a task. */
static ev_status count_task(const board *b, size_t model, size_t task, bool common,
                            ev_cluster *cluster) {
  const board_tally *tally = &b->model[model].tasks[task];
  *cluster = (ev_cluster){tally->correct, tally->n, 1};
  if (!common) return EV_OK;
  board_units units = {0};
  ev_status status = board_gather(b, model, task, true, &units);
  *cluster = (ev_cluster){0, units.questions, 1};
  for (size_t i = 0; i < units.count; i++) cluster->k += units.list[i].total * units.list[i].times;
  board_free_units(&units);
  return status;
}

static ev_status counted_tasks(const board *b, size_t model, bool common, ev_host host,
                               ev_interval *ci) {
  ev_cluster *list = malloc((b->tasks.count + 1) * sizeof *list);
  size_t count = 0;
  ev_status status = list ? EV_OK : EV_NO_MEMORY;
  for (size_t t = 0; t < b->tasks.count && status == EV_OK; t++) {
    status = count_task(b, model, t, common, &list[count]);
    count += list[count].n > 0;
  }
  if (status == EV_OK && count) status = ev_macro(list, count, &b->options, host, ci);
  free(list);
  return status;
}

ev_status board_tasks_interval(const board *b, size_t model, bool common, ev_host host,
                               ev_interval *ci) {
  const board_standing *s = &b->totals[model].standing;
  *ci = board_no_interval();
  return s->graded || s->repeated ? weighted_tasks(b, model, common, host, ci)
                                  : counted_tasks(b, model, common, host, ci);
}

double board_round(double x) {
  return nearbyint(x * 1e12) / 1e12;
}
