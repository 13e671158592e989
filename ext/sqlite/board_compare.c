/*
** eval_compare([source [, options]]): one row per pair of models, in the order of the
** leaderboard, with the better placed one as A.  A pair that WHERE names is computed alone, in
** the order named; of one model that it names there is every pair:
**
**   SELECT diff, ci FROM eval_compare WHERE model_a = 'old' AND model_b = 'new';
**   SELECT model_b, diff, ci FROM eval_compare WHERE model_a = 'new';
*/
#include <math.h>

#include "boards.h"

enum {
  CM_MODEL_A,
  CM_MODEL_B,
  CM_N,
  CM_BOTH,
  CM_ONLY_A,
  CM_ONLY_B,
  CM_NEITHER,
  CM_DIFF,
  CM_CI,
  CM_LO,
  CM_HI,
  CM_PROB,
  CM_VERDICT,
  CM_P,
  CM_P_ALL,
  CM_VERDICT_ALL,
  CM_METHOD,
  CM_MEAN_A,
  CM_MEAN_B,
  CM_ERR_LO,
  CM_ERR_HI,
  CM_CI_UNSEEN,
  CM_UNSEEN_LO,
  CM_UNSEEN_HI,
  CM_PROB_ALL,
  CM_DIFF_ALL,
  CM_COLUMNS
};

static const char *const compare_columns[CM_COLUMNS + 1] = {
    "model_a",        "model_b",        "n INTEGER",         "\"both\" INTEGER",
    "only_a INTEGER", "only_b INTEGER", "neither INTEGER",   "diff REAL",
    "ci TEXT",        "lo REAL",        "hi REAL",           "prob_a_better REAL",
    "verdict TEXT",   "p REAL",         "p_all REAL",        "verdict_all TEXT",
    "method TEXT",    "mean_a REAL",    "mean_b REAL",       "err_lo REAL",
    "err_hi REAL",    "ci_unseen TEXT", "ci_unseen_lo REAL", "ci_unseen_hi REAL",
    "prob_all REAL",  "diff_all REAL"};

static const char compare_name[] = "eval_compare";

/* Models in the order of the leaderboard; for sqlite3_free(), NULL without memory. */
static uint32_t *models_in_order(const board *b) {
  size_t count = board_models(b);
  evalci_sorted_row *sorted = sqlite3_malloc64((count + 1) * sizeof *sorted);
  uint32_t *order = sqlite3_malloc64((count + 1) * sizeof *order);
  for (size_t m = 0; sorted && m < count; m++)
    sorted[m] = (evalci_sorted_row){.row = {.model = (uint32_t)m},
                                    .accuracy = board_model_standing(b, m).accuracy,
                                    .next = board_model_place(b, m)};
  if (sorted) evalci_sort_rows(sorted, count);
  for (size_t i = 0; sorted && order && i < count; i++) order[i] = sorted[i].row.model;
  if (!sorted) {
    sqlite3_free(order);
    order = NULL;
  }
  sqlite3_free(sorted);
  return order;
}

bool evalci_list_pairs(const board *b, const size_t *const *named, evalci_board_row **pairs,
                       size_t *count) {
  size_t models = board_models(b);
  const size_t *a = named[0], *c = named[1];
  uint32_t *order = models_in_order(b);
  size_t room = a && c ? 1 : a || c ? models : models * models / 2;
  *pairs = order ? sqlite3_malloc64((room + 1) * sizeof **pairs) : NULL;
  *count = 0;
  for (size_t i = 0; *pairs && i < models; i++) {
    if (a && *a != order[i]) continue;
    for (size_t j = a || c ? 0 : i + 1; j < models; j++)
      if (i != j && (!c || *c == order[j]))
        (*pairs)[(*count)++] = (evalci_board_row){.model = order[i], .other = order[j]};
  }
  sqlite3_free(order);
  return *pairs;
}

/* A list of all pairs counts them all first. */
static ev_status list_pairs(evalci_board_cursor *c, const size_t *const *named, ev_host host) {
  evalci_board_row *pairs;
  size_t count;
  ev_status status = named[0] || named[1] ? EV_OK : board_count_pairs(c->board, host);
  if (status != EV_OK) return status;
  if (!evalci_list_pairs(c->board, named, &pairs, &count) || !evalci_room_for_rows(c, count))
    status = EV_NO_MEMORY;
  for (size_t i = 0; i < count && status == EV_OK; i++) {
    board_pair p;
    status = board_count_pair(c->board, pairs[i].model, pairs[i].other, &p);
    if (status == EV_OK && p.n > 0) c->rows[c->count++] = pairs[i];
    if (status == EV_OK && i % 64 == 0 && ev_interrupted(host)) status = EV_INTERRUPTED;
  }
  sqlite3_free(pairs);
  return status;
}

/* Computes the counts of the row's pair once. */
static ev_status count_row_pair(evalci_board_cursor *c) {
  const evalci_board_row *row = &c->rows[c->at];
  if (c->known) return c->status;
  c->status = board_count_pair(c->board, row->model, row->other, &c->pair);
  c->known = true;
  c->has_ci = false;
  return c->status;
}

static ev_status compute_interval(evalci_board_cursor *c, ev_host host) {
  if (c->has_ci) return c->status;
  c->status = board_pair_interval(c->board, &c->pair, host, &c->ci);
  c->has_ci = true;
  return c->status;
}

/* The same pair in the list of all pairs, where its models may be in the other order. */
static ev_status tested_pair(evalci_board_cursor *c, ev_host host, double *p_all, int *verdict) {
  size_t a = board_model_place(c->board, c->pair.a), b = board_model_place(c->board, c->pair.b);
  ev_status status = board_test_pairs(c->board, host);
  if (status != EV_OK) return status;
  const board_pair *p = board_pair_at(c->board, a < b ? a : b, a < b ? b : a);
  *p_all = p->p_all;
  *verdict = a < b ? p->verdict : -p->verdict;
  return EV_OK;
}

/* Models are tied if their data are the same; otherwise the verdict is NULL. */
static const char *verdict_words(const board_pair *p, int verdict) {
  return verdict > 0 ? "A better" : verdict < 0 ? "B better" : p->tied ? "tied" : "not separated";
}

/* The pair's own verdict, by its interval. */
static void show_verdict(evalci_board_cursor *c, sqlite3_context *context) {
  static const char *const hedges[] = {"A better unless it sometimes fails outright",
                                       "B better unless it sometimes fails outright"};
  ev_host host = evalci_host_of(context);
  ev_status status = compute_interval(c, host);
  bool hedged = false;
  if (status == EV_OK) status = board_pair_hedged(c->board, &c->pair, &c->ci, host, &hedged);
  if (!evalci_check_status(context, compare_name, status) || isnan(c->ci.lo)) return;
  evalci_result_words(context, hedged ? hedges[c->ci.hi < 0]
                                      : verdict_words(&c->pair, (c->ci.lo > 0) - (c->ci.hi < 0)));
}

static void show_held(evalci_board_cursor *c, sqlite3_context *context, bool words) {
  double p_all = NAN;
  int verdict = 0;
  ev_status status = tested_pair(c, evalci_host_of(context), &p_all, &verdict);
  if (!evalci_check_status(context, compare_name, status) || isnan(p_all)) return;
  if (words)
    evalci_result_words(context, verdict_words(&c->pair, verdict));
  else
    sqlite3_result_double(context, p_all);
}

static void show_pair_interval(evalci_board_cursor *c, sqlite3_context *context, int column) {
  ev_status status = compute_interval(c, evalci_host_of(context));
  double diff = c->pair.mean_a - c->pair.mean_b;
  evalci_ci_part part = column == CM_ERR_LO   ? EVALCI_CI_BELOW
                        : column == CM_ERR_HI ? EVALCI_CI_ABOVE
                                              : (evalci_ci_part)(EVALCI_CI + column - CM_CI);
  evalci_result_ci(context, compare_name, status, c->ci, part, diff);
}

static void show_unseen(evalci_board_cursor *c, sqlite3_context *context, int column) {
  ev_interval ci;
  ev_status status = board_pair_unseen(c->board, &c->pair, evalci_host_of(context), &ci);
  evalci_result_ci(context, compare_name, status, ci,
                   (evalci_ci_part)(EVALCI_CI + column - CM_CI_UNSEEN), 0);
}

/* Delivers the p-value of the test, or the posterior probability. */
static void show_chance(evalci_board_cursor *c, sqlite3_context *context, bool test) {
  ev_host host = evalci_host_of(context);
  ev_status status =
      test ? board_test_pair(c->board, &c->pair, host) : board_pair_prob(c->board, &c->pair, host);
  if (evalci_check_status(context, compare_name, status))
    evalci_result_number(context, test ? c->pair.p : c->pair.prob);
}

/* The pair in the posterior of all models. */
static void show_among_all(evalci_board_cursor *c, sqlite3_context *context, bool prob) {
  double better, diff;
  ev_status status =
      board_prob_all(c->board, c->pair.a, c->pair.b, evalci_host_of(context), &better, &diff);
  if (evalci_check_status(context, compare_name, status))
    evalci_result_number(context, prob ? better : diff);
}

static void show_compare(evalci_board_cursor *c, sqlite3_context *context, int column) {
  const evalci_board_row *row = &c->rows[c->at];
  const board_pair *p = &c->pair;
  if (!evalci_check_status(context, compare_name, count_row_pair(c))) return;
  switch (column) {
  case CM_MODEL_A:
    evalci_result_name(context, board_model_name(c->board, row->model));
    break;
  case CM_MODEL_B:
    evalci_result_name(context, board_model_name(c->board, row->other));
    break;
  case CM_N:
    evalci_result_count(context, p->n);
    break;
  case CM_BOTH:
    if (!p->scored) evalci_result_count(context, p->both);
    break;
  case CM_ONLY_A:
    if (!p->scored) evalci_result_count(context, p->only_a);
    break;
  case CM_ONLY_B:
    if (!p->scored) evalci_result_count(context, p->only_b);
    break;
  case CM_NEITHER:
    if (!p->scored) evalci_result_count(context, (double)p->n - p->both - p->only_a - p->only_b);
    break;
  case CM_DIFF:
    evalci_result_number(context, p->mean_a - p->mean_b);
    break;
  case CM_MEAN_A:
    evalci_result_number(context, p->mean_a);
    break;
  case CM_MEAN_B:
    evalci_result_number(context, p->mean_b);
    break;
  case CM_METHOD:
    evalci_result_words(context, board_pair_method(c->board, p));
    break;
  case CM_P:
  case CM_PROB:
    show_chance(c, context, column == CM_P);
    break;
  case CM_P_ALL:
  case CM_VERDICT_ALL:
    show_held(c, context, column == CM_VERDICT_ALL);
    break;
  case CM_VERDICT:
    show_verdict(c, context);
    break;
  case CM_CI_UNSEEN:
  case CM_UNSEEN_LO:
  case CM_UNSEEN_HI:
    show_unseen(c, context, column);
    break;
  case CM_PROB_ALL:
  case CM_DIFF_ALL:
    show_among_all(c, context, column == CM_PROB_ALL);
    break;
  default:
    show_pair_interval(c, context, column);
  }
}

const evalci_board_table evalci_compare_table = {"eval_compare", compare_columns, EVALCI_PAIRED, 0,
                                                 list_pairs,     show_compare};
