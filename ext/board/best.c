/*
** How sure it is that each model is the best of all: ev_ranks, of independent posteriors.
**
** A model whose answers are all right or wrong and asked once has its counts.  Any other
** has as many right and wrong answers as give an interval like its own: a Beta posterior
** with the middle m and the standard deviation s of an interval has m (1 - m) / s^2 - 1
** answers, two of them the uniform prior's.
*/
#include "../stats/ranks.h"

#include <stdlib.h>

#include "inside.h"

/* A 95% interval is so many standard deviations wide. */
static const double USUAL_DEVIATIONS = 3.92;

static ev_answered answers_like(ev_interval ci) {
  double middle = (ci.lo + ci.hi) / 2, width = ci.hi - ci.lo;
  double size =
      USUAL_DEVIATIONS * USUAL_DEVIATIONS * (ci.lo + ci.hi) / 2 * (1 - middle) / width / width - 3;
  size = fmax(1, round(size));
  return (ev_answered){fmax(0, fmin(size, round(middle * (size + 2) - 1))), size};
}

/* The interval of a model at 95%, whatever the board's level is. */
static ev_status usual_interval(board *b, size_t model, ev_host host, ev_interval *ci) {
  double level = b->options.level;
  if (level == 0.95) return board_model_interval(b, model, host, ci);
  board_total kept = b->totals[model];
  b->options.level = 0.95;
  b->totals[model].ci.known = b->totals[model].macro.known = false;
  ev_status status = board_model_interval(b, model, host, ci);
  b->options.level = level;
  b->totals[model] = kept;
  return status;
}

static ev_status answers_of(board *b, size_t model, ev_host host, ev_answered *a) {
  const board_standing *s = &b->totals[model].standing;
  bool counts = !s->graded && !s->repeated && !(b->settings.by_task && s->tasks > 1);
  ev_interval ci;
  *a = (ev_answered){s->correct, s->n};
  if (s->n == 0 || s->outside) *a = (ev_answered){0, 0};
  if (a->n == 0 || counts) return EV_OK;
  ev_status status = usual_interval(b, model, host, &ci);
  if (status == EV_OK) *a = answers_like(ci);
  return status;
}

static ev_status rank_models(board *b, ev_host host, ev_answered *answered, ev_rank *ranks,
                             uint32_t *who) {
  size_t count = 0;
  for (size_t i = 0; i < b->models.count; i++) {
    uint32_t model = b->model_order[i];
    ev_status status = answers_of(b, model, host, &answered[count]);
    if (status != EV_OK) return status;
    if (answered[count].n > 0) who[count++] = model;
  }
  if (count == 0 || count > EV_MOST_RANKED) return EV_OK;
  ev_status status = ev_ranks(answered, count, &b->options, host, ranks, NULL);
  for (size_t i = 0; status == EV_OK && i < count; i++) b->totals[who[i]].best = ranks[i].best;
  return status;
}

ev_status board_best(board *b, size_t model, ev_host host, double *p) {
  ev_status status = EV_OK;
  if (!b->best_known) {
    size_t room = b->models.count + 1;
    ev_answered *answered = malloc(room * sizeof *answered);
    ev_rank *ranks = malloc(room * sizeof *ranks);
    uint32_t *who = malloc(room * sizeof *who);
    status = answered && ranks && who ? rank_models(b, host, answered, ranks, who) : EV_NO_MEMORY;
    b->best_known = status == EV_OK;
    free(answered);
    free(ranks);
    free(who);
  }
  *p = b->totals[model].best;
  return status;
}
