/*
** Two models on the questions that both answered.
**
** 1. Questions that are bits are compared sixty-four at a time: how many both know, both
**    have right, one has right.
** 2. Questions that are rows are compared one by one.  A graded question, and one that
**    either was asked again, makes the pair a scored one: a sample of differences of
**    question means, to which the bits add their -1, 0 and 1.
** 3. If every task counts the same, every pair is a scored one, and a difference has the
**    weight 1 / (number of shared questions of its task).
** 4. p is that of the sign-flip test of the differences, which is McNemar's mid-p if all
**    are -1, 0 and 1.  A posterior's tail is not used: with 15 questions it never gets as
**    low as Holm's method requires for 171 pairs.
** 5. p is corrected for testing all pairs by Holm's method: in the order of p, the i-th of k,
**    from 0, is multiplied by k - i, and none is less than the one before.
** 6. The interval of 2 knows only differences like those seen.  If a model's scores are a little
**    higher on many questions, and the worst on a few, it is called better in 18 to 65% of evals of
**    15 questions, and in 4 to 7% of 100, although it is not, with ties or without
**    (tests/measured/verdicts.md).  A second interval, that of a mean of scores from -1 to 1,
**    allows for it.  Where answers are right or wrong, also asked four or ten times, such verdicts
**    are 2 to 3%, as they should be.
*/
#include <stdlib.h>
#include <string.h>

#include "../stats/macro.h"
#include "../stats/mcnemar.h"
#include "../stats/sign_flip.h"
#include "inside.h"

/* Differences of question means by task, and the weight of a difference in each task. */
typedef struct differences {
  ev_task_score *list;
  double *weights;
  size_t count, room, tasks, weights_room;
} differences;

static void free_differences(differences *d) {
  free(d->list);
  free(d->weights);
}

static bool append_difference(differences *d, double difference, double times) {
  if (times == 0) return true;
  if (!board_grow(&d->list, &d->room, d->count + 1, sizeof *d->list)) return false;
  d->list[d->count++] = (ev_task_score){difference, times, d->tasks};
  return true;
}

/* Closes a task: the differences appended since the last call belong to it, or to all tasks. */
static bool end_task(differences *d, double weight) {
  if (!board_grow(&d->weights, &d->weights_room, d->tasks + 1, sizeof *d->weights)) return false;
  d->weights[d->tasks++] = weight;
  return true;
}

/* The counts of the questions that two models share, in one task or in all. */
typedef struct shared {
  uint64_t n, both, right_a, right_b; /* questions that are right or wrong and asked once */
  uint64_t scored;                    /* the others */
  board_sum sum_a, sum_b;             /* sums of the question means of the others */
  /* among the others: one is graded; some means differ */
  bool graded, differs;
} shared;

static void count_shared_bits(const board *b, const board_pair *p, shared *s) {
  const board_word *x = b->model[p->a].words, *y = b->model[p->b].words;
  for (size_t w = 0; w < b->words; w++) {
    s->n += board_popcount(x[w].known & y[w].known);
    s->both += board_popcount(x[w].right & y[w].right);
    s->right_a += board_popcount(x[w].right & y[w].known);
    s->right_b += board_popcount(x[w].known & y[w].right);
  }
}

/* Adds one question; `d` is NULL if only counts are wanted. */
static bool count_question(const board *b, uint32_t question, board_cell x, board_cell y, shared *s,
                           differences *d) {
  if (x.n == 0 || y.n == 0) return true;
  if (x.n == 1 && y.n == 1 && !b->task[board_task_of(b, question)].graded) {
    bool a = x.total == 1, c = y.total == 1;
    s->n++;
    s->both += a && c;
    s->right_a += a;
    s->right_b += c;
    return true;
  }
  s->scored++;
  s->graded |= b->task[board_task_of(b, question)].graded;
  double mean_a = x.total / x.n, mean_b = y.total / y.n;
  board_add_share(&s->sum_a, mean_a);
  board_add_share(&s->sum_b, mean_b);
  s->differs |= mean_a != mean_b;
  return !d || append_difference(d, mean_a - mean_b, 1);
}

/* Appends the differences -1, 0 and 1 of questions asked once. */
static bool append_bits(differences *d, const shared *s) {
  double only_a = (double)(s->right_a - s->both), only_b = (double)(s->right_b - s->both);
  return append_difference(d, 1, only_a) && append_difference(d, -1, only_b) &&
         append_difference(d, 0, (double)s->n - only_a - only_b);
}

static bool walk_questions(const board *b, const board_pair *p, shared *s, differences *d) {
  count_shared_bits(b, p, s);
  if (b->row_count) {
    const board_cell *x = board_cells_of(b, p->a), *y = board_cells_of(b, p->b);
    for (size_t r = 0; r < b->row_count; r++)
      if (!count_question(b, b->rows[r], x[r], y[r], s, d)) return false;
  }
  return !d || (append_bits(d, s) && end_task(d, 1));
}

/* Sums of shares to means over all questions counted. */
static double mean_of(board_sum sum, uint64_t right, uint64_t questions) {
  board_add_right(&sum, right);
  return board_sum_of(sum) / (double)questions;
}

static bool walk_task(const board *b, const board_pair *p, size_t task, shared *s, differences *d) {
  for (size_t i = b->task_begin[task]; i < b->task_begin[task + 1]; i++) {
    uint32_t q = b->by_task[i];
    if (!count_question(b, q, board_answer(b, p->a, q), board_answer(b, p->b, q), s, d))
      return false;
  }
  return true;
}

static bool walk_slice(const board *b, const board_pair *p, shared *s, differences *d) {
  return walk_task(b, p, p->slice - 1, s, d) && (!d || (append_bits(d, s) && end_task(d, 1)));
}

/* The same where each task counts the same: the means are those of task means. */
static bool walk_tasks(const board *b, board_pair *p, shared *all, differences *d) {
  board_sum sum_a = {0, 0}, sum_b = {0, 0};
  double tasks = 0;
  for (size_t t = 0; t < b->tasks.count; t++) {
    shared s = {0};
    if (!walk_task(b, p, t, &s, d)) return false;
    uint64_t questions = s.n + s.scored;
    if (questions == 0) continue;
    if (d && !(append_bits(d, &s) && end_task(d, 1 / (double)questions))) return false;
    tasks++;
    all->n += s.n;
    all->both += s.both;
    all->right_a += s.right_a;
    all->right_b += s.right_b;
    all->scored += s.scored;
    all->graded |= s.graded;
    all->differs |= s.differs;
    board_add_share(&sum_a, mean_of(s.sum_a, s.right_a, questions));
    board_add_share(&sum_b, mean_of(s.sum_b, s.right_b, questions));
  }
  p->mean_a = board_sum_of(sum_a) / tasks;
  p->mean_b = board_sum_of(sum_b) / tasks;
  return true;
}

static bool means_of_tasks(const board *b, const board_pair *p) {
  return b->settings.by_task && !p->slice;
}

static bool count_pair(const board *b, board_pair *p, differences *d) {
  shared s = {0};
  bool by_task = means_of_tasks(b, p);
  if (!(p->slice  ? walk_slice(b, p, &s, d)
        : by_task ? walk_tasks(b, p, &s, d)
                  : walk_questions(b, p, &s, d)))
    return false;
  uint64_t n = s.n + s.scored;
  p->n = (uint32_t)n;
  p->both = (uint32_t)s.both;
  p->only_a = (uint32_t)(s.right_a - s.both);
  p->only_b = (uint32_t)(s.right_b - s.both);
  p->scored = by_task || s.scored;
  p->graded = s.graded;
  p->tied = !s.differs && p->only_a + p->only_b == 0 &&
            b->totals[p->a].standing.questions == (double)n &&
            b->totals[p->b].standing.questions == (double)n;
  if (n == 0) {
    p->mean_a = p->mean_b = NAN;
  } else if (!by_task) {
    p->mean_a = mean_of(s.sum_a, s.right_a, n);
    p->mean_b = mean_of(s.sum_b, s.right_b, n);
  }
  return true;
}

/* Counts one task if `slice` is 1 + its number, and all tasks if it is 0. */
static ev_status count_slice(const board *b, size_t model_a, size_t model_b, size_t slice,
                             board_pair *p) {
  *p = (board_pair){.a = (uint32_t)model_a, .b = (uint32_t)model_b, .slice = (uint32_t)slice};
  p->p = p->p_all = p->prob = p->mean_a = p->mean_b = NAN;
  /* A model that does not exist is compared with no other. */
  if (model_a == model_b || board_model_name(b, model_a).kind == BOARD_NULL ||
      board_model_name(b, model_b).kind == BOARD_NULL)
    return EV_OK;
  return count_pair(b, p, NULL) ? EV_OK : EV_NO_MEMORY;
}

const char *board_pair_method(const board *b, const board_pair *p) {
  if (means_of_tasks(b, p)) return "paired means of tasks";
  return p->scored ? "paired means" : "paired";
}

/*
** Intervals and tests
*/

/* Merges equal scores in place, by a hash table, and returns how many are left.  It changes no
** digit, and saves time: most scores have few different values, and ext/stats would sort them
** all. */
static size_t merge_scores(ev_score *scores, size_t count, uint32_t *slots, size_t slot_count) {
  size_t left = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    double score = scores[i].score + 0.0; /* no -0 */
    memcpy(&bits, &score, sizeof bits);
    size_t at = (size_t)((bits ^ bits >> 32) * 0x9e3779b97f4a7c15u >> 32) & (slot_count - 1);
    while (slots[at] && !(scores[slots[at] - 1].score == score)) at = (at + 1) & (slot_count - 1);
    if (slots[at]) {
      scores[slots[at] - 1].times += scores[i].times;
    } else {
      scores[left] = (ev_score){score, scores[i].times};
      slots[at] = (uint32_t)++left;
    }
  }
  return left;
}

/* The differences of a scored pair as ev_paired_mean_diff takes them, each times its weight over
** the largest weight: their sum has the sign of the weighted mean. */
static ev_score *weighted_scores(const differences *d, size_t *count) {
  size_t slot_count = 16;
  while (slot_count < 2 * d->count) slot_count *= 2;
  ev_score *scores = malloc((d->count + 1) * sizeof *scores);
  uint32_t *slots = calloc(slot_count, sizeof *slots);
  double most = 0;
  for (size_t t = 0; t < d->tasks; t++) most = fmax(most, d->weights[t]);
  for (size_t i = 0; scores && i < d->count; i++) {
    double weight = d->weights[d->list[i].task] / most;
    scores[i] = (ev_score){d->list[i].score * weight, d->list[i].times};
  }
  if (scores && slots) {
    *count = merge_scores(scores, d->count, slots, slot_count);
  } else {
    free(scores);
    scores = NULL;
  }
  free(slots);
  return scores;
}

static bool gather_differences(const board *b, const board_pair *p, differences *d) {
  board_pair copy = *p;
  return count_pair(b, &copy, d);
}

static ev_score *scores_of(const board *b, const board_pair *p, size_t *count) {
  differences d = {0};
  ev_score *scores = gather_differences(b, p, &d) ? weighted_scores(&d, count) : NULL;
  free_differences(&d);
  return scores;
}

/* The interval of the differences by `model`; over tasks, that of the mean of their means, whose
** rule allows for differences from -1 to 1. */
static ev_status scored_interval(const board *b, const board_pair *p, ev_score_model *model,
                                 const ev_options *options, ev_host host, ev_interval *ci) {
  differences d = {0};
  size_t count;
  ev_options wide = b->options;
  ev_status status = EV_NO_MEMORY;
  ev_score *scores = NULL;
  wide.lo = -1;
  if (!gather_differences(b, p, &d)) goto done;
  if (d.tasks > 1)
    status = ev_macro(d.list, d.count, d.tasks, &wide, host, ci);
  else if ((scores = weighted_scores(&d, &count)))
    status = model(scores, count, options, host, ci);
done:
  free(scores);
  free_differences(&d);
  return status;
}

static ev_status scored_prob(const board *b, const board_pair *p, ev_host host, double *prob) {
  size_t count;
  ev_score *scores = scores_of(b, p, &count);
  if (!scores) return EV_NO_MEMORY;
  ev_status status = ev_paired_mean_prob_better(scores, count, &b->options, host, prob);
  free(scores);
  return status;
}

/* The sign-flip test cannot be computed where three or more sizes of differences without a
** common unit occur hundreds of times each.  The posterior of so many questions is close to
** normal, and twice its smaller tail is close to p. */
ev_status board_flip_test(const board *b, const ev_score *diffs, size_t count, ev_host host,
                          double *p) {
  ev_status status = ev_paired_p(diffs, count, &b->options, host, p);
  if (status != EV_NOT_CONVERGED) return status;
  status = ev_paired_mean_prob_better(diffs, count, &b->options, host, p);
  *p = 2 * fmin(*p, 1 - *p);
  return status;
}

static ev_status scored_test(const board *b, const board_pair *p, ev_host host, double *chance) {
  size_t count;
  ev_score *scores = scores_of(b, p, &count);
  if (!scores) return EV_NO_MEMORY;
  ev_status status = board_flip_test(b, scores, count, host, chance);
  free(scores);
  return status;
}

static void cells_of(const board_pair *p, double cells[4]) {
  cells[0] = p->both;
  cells[1] = p->only_a;
  cells[2] = p->only_b;
  cells[3] = (double)p->n - p->both - p->only_a - p->only_b;
}

/* Exchanges A and B. */
static board_pair exchanged_pair(board_pair p) {
  board_pair q = p;
  q.a = p.b, q.b = p.a;
  q.only_a = p.only_b, q.only_b = p.only_a;
  q.mean_a = p.mean_b, q.mean_b = p.mean_a;
  q.verdict = (signed char)-p.verdict;
  q.prob = 1 - p.prob;
  return q;
}

ev_status board_pair_interval(board *b, board_pair *p, ev_host host, ev_interval *ci) {
  *ci = board_no_interval();
  if (p->n == 0) return EV_OK;
  if (p->scored) return scored_interval(b, p, ev_paired_mean_diff, &b->options, host, ci);
  double cells[4];
  cells_of(p, cells);
  host.memo = &b->memo;
  ev_status status = ev_paired_diff(cells, &b->options, host, ci);
  if (status == EV_OK) board_hold(ci, p->mean_a - p->mean_b);
  return status;
}

/* A mean of scores is mirrored to within a rounding only, so the better model comes first. */
ev_status board_pair_unseen(const board *b, const board_pair *p, ev_host host, ev_interval *ci) {
  bool back = p->mean_a < p->mean_b ||
              (p->mean_a == p->mean_b && b->model_place[p->a] > b->model_place[p->b]);
  board_pair first = back ? exchanged_pair(*p) : *p;
  ev_options wide = b->options;
  *ci = board_no_interval();
  wide.lo = -1;
  if (p->n == 0) return EV_OK;
  ev_status status = scored_interval(b, &first, ev_mean, &wide, host, ci);
  if (back) *ci = (ev_interval){-ci->hi, -ci->lo};
  return status;
}

/* Whether a difference is neither -1, 0 nor 1. */
static ev_status find_partial(const board *b, const board_pair *p, bool *partial) {
  size_t count = 0;
  ev_score *scores = scores_of(b, p, &count);
  for (size_t i = 0; i < count; i++) *partial |= scores[i].score != 0 && fabs(scores[i].score) != 1;
  free(scores);
  return scores ? EV_OK : EV_NO_MEMORY;
}

ev_status board_pair_hedged(const board *b, const board_pair *p, const ev_interval *ci,
                            ev_host host, bool *hedged) {
  ev_interval unseen;
  *hedged = false;
  if (!p->graded || !(ci->lo > 0 || ci->hi < 0)) return EV_OK;
  ev_status status = find_partial(b, p, hedged);
  if (status != EV_OK || !*hedged) return status;
  status = board_pair_unseen(b, p, host, &unseen);
  *hedged = !(unseen.lo > 0 || unseen.hi < 0);
  return status;
}

ev_status board_pair_prob(board *b, board_pair *p, ev_host host) {
  if (p->n == 0 || !isnan(p->prob)) return EV_OK;
  if (p->scored) return scored_prob(b, p, host, &p->prob);
  double cells[4];
  cells_of(p, cells);
  host.memo = &b->memo;
  return ev_paired_prob_better(cells, &b->options, host, &p->prob);
}

ev_status board_test_pair(const board *b, board_pair *p, ev_host host) {
  if (p->tested || p->n == 0) return EV_OK;
  double only[2] = {p->only_a, p->only_b};
  ev_status status =
      p->scored ? scored_test(b, p, host, &p->p) : ev_mcnemar_p(only, &b->options, host, &p->p);
  if (status != EV_OK) return status;
  p->tested = true;
  return EV_OK;
}

/*
** All pairs
*/
static size_t pairs_of(size_t models) {
  return models ? models * (models - 1) / 2 : 0;
}

/* The index of the pair at positions i < j in a triangle stored by rows. */
static size_t pair_index(size_t models, size_t i, size_t j) {
  return i * (2 * models - i - 1) / 2 + (j - i - 1);
}

const board_pair *board_pair_at(const board *b, size_t place_a, size_t place_b) {
  return &b->pairs[pair_index(b->models.count, place_a, place_b)];
}

ev_status board_count_pair(const board *b, size_t model_a, size_t model_b, board_pair *p) {
  size_t a = b->model_place[model_a], c = b->model_place[model_b];
  if (!b->pairs || a == c) return count_slice(b, model_a, model_b, 0, p);
  *p = a < c ? *board_pair_at(b, a, c) : exchanged_pair(*board_pair_at(b, c, a));
  return EV_OK;
}

ev_status board_count_slice(const board *b, size_t model_a, size_t model_b, size_t task,
                            board_pair *p) {
  return count_slice(b, model_a, model_b, task + 1, p);
}

ev_status board_count_pairs(board *b, ev_host host) {
  size_t models = b->models.count, at = 0;
  if (b->pairs) return EV_OK;
  board_pair *pairs = malloc((pairs_of(models) + 1) * sizeof *pairs);
  ev_status status = pairs ? EV_OK : EV_NO_MEMORY;
  for (size_t i = 0; i < models && status == EV_OK; i++) {
    if (ev_interrupted(host)) status = EV_INTERRUPTED;
    for (size_t j = i + 1; j < models && status == EV_OK; j++)
      status = count_slice(b, b->model_order[i], b->model_order[j], 0, &pairs[at++]);
  }
  if (status == EV_OK)
    b->pairs = pairs;
  else
    free(pairs);
  return status;
}

static int by_p(const void *x, const void *y) {
  double p = (*(board_pair *const *)x)->p, q = (*(board_pair *const *)y)->p;
  return (p > q) - (p < q);
}

static void hold_pairs(const board *b, board_pair **sorted, size_t count) {
  double step = 0;
  qsort(sorted, count, sizeof *sorted, by_p);
  for (size_t i = 0; i < count; i++) {
    board_pair *p = sorted[i];
    step = fmax(step, p->p * (double)(count - i));
    p->p_all = fmin(1, step);
    if (p->p_all > 1 - b->settings.level) continue;
    p->verdict = p->mean_a > p->mean_b ? 1 : -1;
  }
}

ev_status board_test_pairs(board *b, ev_host host) {
  ev_status status = board_count_pairs(b, host);
  if (b->pairs_tested || status != EV_OK) return status;
  size_t all = pairs_of(b->models.count), count = 0;
  board_pair **sorted = malloc((all + 1) * sizeof *sorted);
  if (!sorted) status = EV_NO_MEMORY;
  for (size_t i = 0; i < all && status == EV_OK; i++) {
    if (i % 64 == 0 && ev_interrupted(host)) status = EV_INTERRUPTED;
    if (status == EV_OK) status = board_test_pair(b, &b->pairs[i], host);
    if (b->pairs[i].tested) sorted[count++] = &b->pairs[i];
  }
  if (status == EV_OK) hold_pairs(b, sorted, count);
  b->pairs_tested = status == EV_OK;
  free(sorted);
  return status;
}
