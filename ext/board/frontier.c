/*
** The frontier: the models that no other model beats on both accuracy and cost.
**
** 1. Of every two models with an accuracy and a cost, whether one is demonstrably more
**    accurate: its p, corrected for all pairs by Holm's method (pairs.c), is at most (1 - level)/2.
** 2. Likewise whether one is demonstrably cheaper: the sign-flip test of the differences of
**    the mean costs of questions that both have a cost for.  Where a bound of p decides, p
**    itself is not computed.
** 3. A model is surely on the frontier if it is demonstrably more accurate or demonstrably
**    cheaper than every other; beaten, if another is demonstrably both; and else open.
**
** All verdicts of both kinds are right together with probability `level`.
*/
#include <stdlib.h>

#include "../stats/sign_flip.h"
#include "inside.h"

typedef struct frontier_model {
  size_t model, count;
  board_question_cost *questions;
} frontier_model;

/* The data of the comparison, in the order of the models' names. */
typedef struct frontier {
  frontier_model *models;
  size_t count, room; /* room for the questions that two models share */
  ev_score *diffs;
  board_adjusted *cheaper; /* of pairs i < j, row by row of a square matrix */
  double *sums;            /* p of the differences in cost, likewise */
} frontier;

static void free_frontier(frontier *f) {
  for (size_t i = 0; i < f->count; i++) free(f->models[i].questions);
  free(f->models);
  free(f->diffs);
  free(f->cheaper);
  free(f->sums);
}

static ev_status list_frontier(board *b, frontier *f) {
  f->models = calloc(b->models.count + 1, sizeof *f->models);
  if (!f->models) return EV_NO_MEMORY;
  for (size_t place = 0; place < b->models.count; place++) {
    frontier_model m = {.model = b->model_order[place]};
    if (isnan(b->totals[m.model].standing.accuracy) ||
        board_model_name(b, m.model).kind == BOARD_NULL)
      continue;
    if (!board_question_costs(b, m.model, &m.questions, &m.count)) return EV_NO_MEMORY;
    if (m.count > f->room) f->room = m.count;
    if (m.count)
      f->models[f->count++] = m;
    else
      free(m.questions);
  }
  f->diffs = malloc((f->room + 1) * sizeof *f->diffs);
  f->cheaper = malloc((f->count * f->count + 1) * sizeof *f->cheaper);
  f->sums = malloc((f->count * f->count + 1) * sizeof *f->sums);
  return f->diffs && f->cheaper && f->sums ? EV_OK : EV_NO_MEMORY;
}

/* Differences of two models' mean costs per question, divided by the largest, so that they lie
** in [-1,1]; `sum` is their sum. */
static size_t cost_differences(const frontier_model *x, const frontier_model *y, ev_score *diffs,
                               double *sum) {
  size_t count = 0;
  double most = 0;
  *sum = 0;
  for (size_t i = 0, j = 0; i < x->count && j < y->count;) {
    const board_question_cost *p = &x->questions[i], *q = &y->questions[j];
    if (p->question == q->question)
      diffs[count++] = (ev_score){p->total / p->costed - q->total / q->costed, 1};
    i += p->question <= q->question;
    j += q->question <= p->question;
  }
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs(diffs[i].score));
  for (size_t i = 0; i < count; i++) {
    if (most > 0) diffs[i].score /= most;
    *sum += diffs[i].score;
  }
  return count;
}

/* p, or 0 or 1 where bounds of p decide: `most` is the largest p that Holm's method can reject,
** `least` the smallest that it cannot. */
static ev_status cheaper_p(const board *b, const ev_score *diffs, size_t count, double least,
                           double most, ev_host host, double *p) {
  ev_interval bounds = ev_paired_p_bounds(diffs, count);
  *p = bounds.hi <= least ? 0 : 1;
  if (bounds.hi <= least || bounds.lo > most) return EV_OK;
  return board_flip_test(b, diffs, count, host, p);
}

static ev_status test_costs(const board *b, frontier *f, ev_host host) {
  double most = (1 - b->settings.level) / 2, pairs = (double)(f->count * f->count) / 2;
  ev_status status = EV_OK;
  for (size_t i = 0; i < f->count && status == EV_OK; i++)
    for (size_t j = 0; j < f->count && status == EV_OK; j++) {
      size_t at = i * f->count + j;
      f->cheaper[at].p = NAN;
      if (i >= j) continue;
      size_t count = cost_differences(&f->models[i], &f->models[j], f->diffs, &f->sums[at]);
      if (ev_interrupted(host)) status = EV_INTERRUPTED;
      if (count && status == EV_OK)
        status = cheaper_p(b, f->diffs, count, most / pairs, most, host, &f->cheaper[at].p);
    }
  return status == EV_OK ? board_adjust(f->cheaper, f->count * f->count) : status;
}

/* 1 where the first model is demonstrably better, or cheaper; -1 where the second is. */
static int sign_if(double p, double allowed, double sign) {
  return p <= allowed ? (sign > 0) - (sign < 0) : 0;
}

static board_frontier_word frontier_word(const board *b, const frontier *f, size_t i) {
  double allowed = (1 - b->settings.level) / 2;
  bool sure = true;
  for (size_t j = 0; j < f->count; j++) {
    if (j == i) continue;
    size_t first = i < j ? i : j, second = i < j ? j : i, at = first * f->count + second;
    int sign = i < j ? 1 : -1;
    const board_pair *p = board_pair_at(b, b->model_place[f->models[first].model],
                                        b->model_place[f->models[second].model]);
    int better = sign * sign_if(p->p_all, allowed, p->mean_a - p->mean_b);
    int cheaper = sign * sign_if(f->cheaper[at].holm, allowed, -f->sums[at]);
    if (better < 0 && cheaper < 0) return BOARD_BEATEN;
    sure &= better > 0 || cheaper > 0;
  }
  return sure ? BOARD_SURE : BOARD_OPEN;
}

static ev_status find_frontier(board *b, ev_host host, board_frontier_word *words) {
  frontier f = {0};
  ev_status status = board_test_pairs(b, host);
  if (status == EV_OK) status = list_frontier(b, &f);
  if (status == EV_OK) status = test_costs(b, &f, host);
  for (size_t i = 0; i < f.count && status == EV_OK; i++)
    words[f.models[i].model] = frontier_word(b, &f, i);
  free_frontier(&f);
  return status;
}

ev_status board_frontier(board *b, size_t model, ev_host host, board_frontier_word *word) {
  *word = BOARD_NO_WORD;
  if (!b->settings.costed) return EV_OK;
  if (!b->frontier) {
    board_frontier_word *words = calloc(b->models.count + 1, sizeof *words);
    ev_status status = words ? find_frontier(b, host, words) : EV_NO_MEMORY;
    if (status != EV_OK) {
      free(words);
      return status;
    }
    b->frontier = words;
  }
  *word = b->frontier[model];
  return EV_OK;
}
