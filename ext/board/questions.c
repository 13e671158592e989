/*
** Questions: how many models have each right, and whether these are the models that do better on
** the rest.
**
** A model's score on a question is its share, the mean share if it was asked again; its rest
** score is the mean of its scores on all other questions that it answered.
*/
#include <stdlib.h>

#include "../stats/item_rest.h"
#include "inside.h"

/*
** Order
*/
typedef struct sorted_question {
  board_name name;
  uint32_t number, place; /* of its task */
} sorted_question;

static int by_task_and_name(const void *a, const void *b) {
  const sorted_question *x = a, *y = b;
  if (x->place != y->place) return x->place < y->place ? -1 : 1;
  return board_compare_names(x->name, y->name);
}

size_t board_questions(const board *b) {
  return b->questions.count;
}

board_name board_question_name(const board *b, size_t question) {
  return board_name_at(&b->questions, question);
}

size_t board_question_task(const board *b, size_t question) {
  return board_task_of(b, question);
}

ev_status board_sort_questions(const board *b, uint32_t *order) {
  size_t count = b->questions.count;
  sorted_question *sorted = malloc((count + 1) * sizeof *sorted);
  if (!sorted) return EV_NO_MEMORY;
  for (uint32_t q = 0; q < count; q++)
    sorted[q] =
        (sorted_question){board_name_at(&b->questions, q), q, b->task_place[board_task_of(b, q)]};
  qsort(sorted, count, sizeof *sorted, by_task_and_name);
  for (size_t i = 0; i < count; i++) order[i] = sorted[i].number;
  free(sorted);
  return EV_OK;
}

/*
** Difficulty
*/
board_question board_question_standing(const board *b, size_t question) {
  board_question s = {.scored = b->task[board_task_of(b, question)].graded};
  board_sum sum = {0, 0};
  for (size_t m = 0; m < b->models.count; m++) {
    board_cell cell = board_answer(b, m, question);
    if (cell.n == 0) continue;
    s.models++;
    s.scored |= cell.n > 1;
    board_add_share(&sum, cell.total / cell.n);
  }
  s.mean = s.models == 0 ? NAN : board_sum_of(sum) / s.models;
  s.right = s.scored || s.models == 0 ? NAN : board_sum_of(sum);
  return s;
}

ev_status board_question_interval(const board *b, size_t question, ev_host host, ev_interval *ci) {
  board_question s = board_question_standing(b, question);
  board_units units = {0};
  *ci = board_no_interval();
  if (s.models == 0) return EV_OK;
  if (!s.scored) return board_right_interval(s.models - s.right, s.models, &b->options, host, ci);
  for (size_t m = 0; m < b->models.count; m++) {
    board_cell cell = board_answer(b, m, question);
    if (cell.n == 0) continue;
    if (!board_grow(&units.list, &units.room, units.count + 1, sizeof *units.list)) {
      board_free_units(&units);
      return EV_NO_MEMORY;
    }
    units.list[units.count++] = (ev_score_cluster){1 - cell.total / cell.n, 1, 1};
  }
  ev_status status = board_units_interval(&units, &b->options, host, ci);
  board_free_units(&units);
  return status;
}

/*
** The rest
*/
static void add_rests(const board *b, size_t model, board_rest *rest) {
  for (size_t w = 0; w < b->words; w++) {
    rest->n += board_popcount(b->model[model].words[w].known);
    board_add_right(&rest->sum, board_popcount(b->model[model].words[w].right));
  }
  for (size_t r = 0; r < b->row_count; r++) {
    const board_cell *cell = &board_cells_of(b, model)[r];
    if (cell->n == 0) continue;
    rest->n++;
    board_add_share(&rest->sum, cell->total / cell->n);
  }
}

static bool compute_rests(board *b) {
  if (b->rests) return true;
  b->rests = calloc(b->models.count + 1, sizeof *b->rests);
  for (size_t m = 0; b->rests && m < b->models.count; m++) add_rests(b, m, &b->rests[m]);
  return b->rests;
}

/* The answers to a question by models that also answered another one, in the order of their
** names.  There is room for all models. */
static size_t list_answers(const board *b, size_t question, ev_item_answer *list) {
  size_t count = 0;
  for (size_t i = 0; i < b->models.count; i++) {
    size_t m = b->model_order[i];
    board_cell cell = board_answer(b, m, question);
    board_sum own = {0, 0}, sum = b->rests[m].sum;
    if (cell.n == 0 || b->rests[m].n < 2) continue;
    double y = cell.total / cell.n;
    board_add_share(&own, y);
    sum.units -= own.units;
    sum.rest -= own.rest;
    list[count++] = (ev_item_answer){y, board_sum_of(sum) / (b->rests[m].n - 1)};
  }
  return count;
}

/* `list` is to be freed; NULL without memory. */
static ev_item_answer *answers_to(board *b, size_t question, size_t *count) {
  if (!compute_rests(b)) return NULL;
  ev_item_answer *list = malloc((b->models.count + 1) * sizeof *list);
  if (list) *count = list_answers(b, question, list);
  return list;
}

ev_status board_item_rest(board *b, size_t question, double *r, ev_interval *ci) {
  size_t count;
  ev_item_answer *list = answers_to(b, question, &count);
  if (!list) return EV_NO_MEMORY;
  ev_item_rest(list, count, &b->options, r, ci);
  free(list);
  return EV_OK;
}

/* `p` is NULL if it is not wanted. */
static ev_status item_low(board *b, size_t question, double *auc, double *p) {
  size_t count;
  *auc = NAN;
  if (p) *p = NAN;
  if (board_question_standing(b, question).scored) return EV_OK;
  ev_item_answer *list = answers_to(b, question, &count);
  ev_status status = list ? ev_item_low(list, count, auc, p) : EV_NO_MEMORY;
  free(list);
  return status;
}

ev_status board_item_auc(board *b, size_t question, double *auc) {
  return item_low(b, question, auc, NULL);
}

ev_status board_miskeyed(board *b, size_t question, ev_host host, board_adjusted *held) {
  size_t count = b->questions.count;
  *held = (board_adjusted){NAN, NAN, NAN};
  if (!b->miskeyed) {
    board_adjusted *list = malloc((count + 1) * sizeof *list);
    ev_status status = list ? EV_OK : EV_NO_MEMORY;
    for (size_t q = 0; q < count && status == EV_OK; q++) {
      double auc;
      status = ev_interrupted(host) ? EV_INTERRUPTED : item_low(b, q, &auc, &list[q].p);
    }
    if (status == EV_OK) status = board_adjust(list, count);
    if (status != EV_OK) {
      free(list);
      return status;
    }
    b->miskeyed = list;
  }
  *held = b->miskeyed[question];
  return EV_OK;
}

ev_status board_question_note(board *b, size_t question, ev_host host, const char **words) {
  board_question s = board_question_standing(b, question);
  board_adjusted held;
  ev_status status = EV_OK;
  *words = s.mean == 1 ? "always right" : s.mean == 0 ? "always wrong" : NULL;
  if (*words || s.scored) return status;
  status = board_miskeyed(b, question, host, &held);
  if (status == EV_OK && held.bh <= 1 - b->settings.level) *words = "perhaps miskeyed";
  return status;
}
