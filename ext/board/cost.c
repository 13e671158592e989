/*
** The cost of answers and their latency.
**
** Every answer with a cost or a latency counts, including errored ones, which cost money and time
** too.  Unknown costs (NAN) are left out, and counted.
**
** 1. The mean cost of an answer.  Costs have no upper limit, so the interval is
**    ev_other_tasks(), a mean over questions with imagined questions just beyond those seen,
**    and a range from 0. If all costs are equal, the interval is that number; one question has
**    no interval.
** 2. The cost per right answer: ev_ratio() of questions, each with the cost of its answers and
**    the sum of their shares.  An unknown answer is not right.  A question is left out if one
**    of its answers has no cost.
** 3. The median and the 95th percentile of latency: ev_quantile_of_sorted().  Where questions
**    were asked again, n is the number of questions.  No latency is below 0.
**
** Sums run over sorted numbers, so that the digits do not depend on the order of rows.
*/
#include <stdlib.h>

#include "../stats/other_tasks.h"
#include "../stats/quantile.h"
#include "../stats/ratio.h"
#include "inside.h"

bool board_keep_spent(board *b, const board_row *row) {
  bool costed = b->settings.costed && !isnan(row->cost);
  bool timed = b->settings.timed && !isnan(row->latency);
  if (!costed && !timed) return true;
  if (!board_grow(&b->spent, &b->spent_room, b->spent_count + 1, sizeof *b->spent)) return false;
  b->spent[b->spent_count++] = (board_spent){costed ? row->cost : NAN, timed ? row->latency : NAN,
                                             b->last_model, b->last_question};
  return true;
}

/* Compares by model, question and cost; missing costs come last. */
static int compare_spent(const void *left, const void *right) {
  const board_spent *x = left, *y = right;
  if (x->model != y->model) return x->model < y->model ? -1 : 1;
  if (x->question != y->question) return x->question < y->question ? -1 : 1;
  if (isnan(x->cost) || isnan(y->cost)) return !isnan(y->cost) - !isnan(x->cost);
  return (x->cost > y->cost) - (x->cost < y->cost);
}

/* Sorts the costs, once, and finds where each model begins. */
static bool sort_spent(board *b) {
  if (b->spent_begin) return true;
  if (!b->costs) b->costs = calloc(b->models.count + 1, sizeof *b->costs);
  if (!b->latencies) b->latencies = calloc(b->models.count + 1, sizeof *b->latencies);
  if (!b->costs || !b->latencies) return false;
  b->spent_begin = malloc((b->models.count + 1) * sizeof *b->spent_begin);
  if (!b->spent_begin) return false;
  if (b->spent_count) qsort(b->spent, b->spent_count, sizeof *b->spent, compare_spent);
  for (size_t m = 0, at = 0; m <= b->models.count; m++) {
    while (at < b->spent_count && b->spent[at].model < m) at++;
    b->spent_begin[m] = at;
  }
  return true;
}

/*
** Costs
*/

/* The number of a model's answers, known or not. */
static double answers_asked(const board *b, size_t model) {
  double asked = 0;
  for (size_t t = 0; t < b->tasks.count; t++) asked += b->model[model].tasks[t].asked;
  return asked;
}

/* Reads the question that begins at a position, and moves the position to the next. */
static board_question_cost next_question(const board *b, size_t *at, size_t end) {
  board_question_cost q = {.question = b->spent[*at].question};
  for (; *at < end && b->spent[*at].question == q.question; ++*at) {
    if (isnan(b->spent[*at].cost)) continue;
    q.total += b->spent[*at].cost;
    q.costed++;
  }
  return q;
}

static int compare_units(const void *left, const void *right) {
  const ev_score_cluster *x = left, *y = right;
  if (x->total < y->total || x->total > y->total) return x->total < y->total ? -1 : 1;
  return (x->size > y->size) - (x->size < y->size);
}

/* The questions of a model as units: the total cost of their answers, and their number; sorted.
** NULL without memory. */
static ev_score_cluster *list_costs(const board *b, size_t model, size_t *count) {
  size_t at = b->spent_begin[model], end = b->spent_begin[model + 1];
  ev_score_cluster *list = malloc((end - at + 1) * sizeof *list);
  *count = 0;
  while (list && at < end) {
    board_question_cost q = next_question(b, &at, end);
    if (q.costed > 0) list[(*count)++] = (ev_score_cluster){q.total, q.costed, 1};
  }
  if (list) qsort(list, *count, sizeof *list, compare_units);
  return list;
}

/* The same with the sum of their shares, for questions all of whose answers have a cost. */
static ev_score_cluster *list_rights(const board *b, size_t model, size_t *count) {
  size_t at = b->spent_begin[model], end = b->spent_begin[model + 1];
  ev_score_cluster *list = malloc((end - at + 1) * sizeof *list);
  uint32_t *unknown = board_unknown_of(b, model);
  *count = 0;
  while (list && unknown && at < end) {
    board_question_cost q = next_question(b, &at, end);
    board_cell cell = board_answer(b, model, q.question);
    double answers = (double)cell.n + (b->settings.errors_wrong ? 0 : unknown[q.question]);
    if (q.costed == answers) list[(*count)++] = (ev_score_cluster){q.total, cell.total, 1};
  }
  if (list && unknown) {
    qsort(list, *count, sizeof *list, compare_units);
  } else {
    free(list);
    list = NULL;
  }
  free(unknown);
  return list;
}

/* The least and the greatest cost per answer of a question. */
static ev_interval cost_range(const ev_score_cluster *list, size_t count) {
  ev_interval range = {HUGE_VAL, 0};
  for (size_t i = 0; i < count; i++) {
    range.lo = fmin(range.lo, list[i].total / list[i].size);
    range.hi = fmax(range.hi, list[i].total / list[i].size);
  }
  return range;
}

/* The sum of totals over the sum of sizes; NAN if that is 0. */
static double ratio_of(const ev_score_cluster *list, size_t count) {
  double total = 0, size = 0;
  for (size_t i = 0; i < count; i++) {
    total += list[i].total;
    size += list[i].size;
  }
  return size > 0 ? total / size : NAN;
}

/* The mean cost: equal costs have themselves, without the rounding of their sum. */
static double mean_cost(const ev_score_cluster *list, size_t count) {
  ev_interval range = cost_range(list, count);
  return count > 0 ? fmax(range.lo, fmin(range.hi, ratio_of(list, count))) : NAN;
}

static bool count_costs(const board *b, size_t model, board_costs *costs) {
  size_t count = 0, rights = 0;
  ev_score_cluster *all = list_costs(b, model, &count);
  ev_score_cluster *right = list_rights(b, model, &rights);
  bool ok = all && right;
  if (ok) {
    double missing = answers_asked(b, model);
    for (size_t i = 0; i < count; i++) missing -= all[i].size;
    *costs = (board_costs){true, missing, mean_cost(all, count), ratio_of(right, rights)};
  }
  free(all);
  free(right);
  return ok;
}

ev_status board_cost(board *b, size_t model, board_costs *costs) {
  *costs = (board_costs){true, NAN, NAN, NAN};
  if (!b->settings.costed) return EV_OK;
  if (!sort_spent(b)) return EV_NO_MEMORY;
  if (!b->costs[model].known && !count_costs(b, model, &b->costs[model])) return EV_NO_MEMORY;
  *costs = b->costs[model];
  return EV_OK;
}

/* An upper limit beyond the imagined question at the greatest cost, which is at most about ten
** times the greatest seen. */
static const double FAR = 16;

static ev_status cost_interval(const board *b, const ev_score_cluster *list, size_t count,
                               ev_host host, ev_interval *ci) {
  ev_options options = b->options;
  *ci = cost_range(list, count);
  if (ci->lo == ci->hi) return EV_OK;
  options.lo = 0;
  options.hi = FAR * ci->hi;
  return ev_other_tasks(list, count, &options, host, ci);
}

ev_status board_cost_interval(board *b, size_t model, ev_host host, ev_interval *ci) {
  board_cached *kept = &b->totals[model].cost;
  size_t count;
  *ci = kept->known ? kept->ci : board_no_interval();
  if (kept->known || !b->settings.costed) return EV_OK;
  if (!sort_spent(b)) return EV_NO_MEMORY;
  ev_score_cluster *list = list_costs(b, model, &count);
  if (!list) return EV_NO_MEMORY;
  ev_status status = count > 1 ? cost_interval(b, list, count, host, ci) : EV_OK;
  free(list);
  return board_keep(kept, status, ci);
}

ev_status board_per_right_interval(board *b, size_t model, ev_host host, ev_interval *ci) {
  board_cached *kept = &b->totals[model].per_right;
  size_t count;
  *ci = kept->known ? kept->ci : board_no_interval();
  if (kept->known || !b->settings.costed) return EV_OK;
  if (!sort_spent(b)) return EV_NO_MEMORY;
  ev_score_cluster *list = list_rights(b, model, &count);
  if (!list) return EV_NO_MEMORY;
  ev_status status = count > 0 ? ev_ratio(list, count, &b->options, host, ci) : EV_OK;
  free(list);
  return board_keep(kept, status, ci);
}

/*
** Latencies
*/

/* The latencies of a model, in increasing order, and the number of their questions. */
static ev_score *list_latencies(const board *b, size_t model, size_t *count, double *questions) {
  size_t at = b->spent_begin[model], end = b->spent_begin[model + 1];
  ev_score *list = malloc((end - at + 1) * sizeof *list);
  *count = 0;
  *questions = 0;
  for (uint32_t last = UINT32_MAX; list && at < end; at++) {
    if (isnan(b->spent[at].latency)) continue;
    list[(*count)++] = (ev_score){b->spent[at].latency, 1};
    *questions += b->spent[at].question != last;
    last = b->spent[at].question;
  }
  if (list) ev_sort_values(list, *count);
  return list;
}

static ev_status latency_quantile(const board *b, const ev_score *list, size_t count,
                                  double questions, double q, board_quantile *out) {
  ev_options options = b->options;
  options.quantile = q;
  out->value = ev_sample_quantile(list, count, q);
  ev_status status = ev_quantile_of_sorted(list, count, questions, &options, &out->ci);
  /* A quantile of few values lies between two of them, perhaps outside the bounds, which are
  ** values. */
  out->ci.lo = fmax(0, fmin(out->ci.lo, out->value));
  out->ci.hi = fmax(out->ci.hi, out->value);
  return status;
}

ev_status board_latency(board *b, size_t model, board_latencies *out) {
  const board_quantile none = {NAN, {NAN, NAN}};
  size_t count;
  double questions;
  *out = (board_latencies){true, NAN, none, none};
  if (!b->settings.timed) return EV_OK;
  if (!sort_spent(b)) return EV_NO_MEMORY;
  if (b->latencies[model].known) {
    *out = b->latencies[model];
    return EV_OK;
  }
  ev_score *list = list_latencies(b, model, &count, &questions);
  if (!list) return EV_NO_MEMORY;
  ev_status status = EV_OK;
  out->missing = answers_asked(b, model) - (double)count;
  if (count) status = latency_quantile(b, list, count, questions, 0.5, &out->median);
  if (count && status == EV_OK)
    status = latency_quantile(b, list, count, questions, 0.95, &out->slow);
  free(list);
  if (status == EV_OK) b->latencies[model] = *out;
  return status;
}

bool board_question_costs(board *b, size_t model, board_question_cost **out, size_t *count) {
  *count = 0;
  if (!sort_spent(b)) return false;
  size_t at = b->spent_begin[model], end = b->spent_begin[model + 1];
  *out = malloc((end - at + 1) * sizeof **out);
  while (*out && at < end) {
    board_question_cost q = next_question(b, &at, end);
    if (q.costed > 0) (*out)[(*count)++] = q;
  }
  return *out;
}
