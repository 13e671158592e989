/*
** The interval of the mean of tasks' means, as of a stratified sample.
**
** T tasks, w = 1/T each, n_t answers with the mean m_t; N answers in all.
**
**   1. Strata: a task each.  Tasks of one answer, which say nothing of their own spread,
**      are one stratum together; a single such task joins the smallest other one, and of
**      several the one whose mean is farthest from it, so that exchanging right and wrong
**      mirrors the choice.
**   2. th = the mean of the m_t.  An answer x of a task becomes
**      z = th + (N w / n_t) sqrt(u / (u - 1)) (x - m_s), with m_s the plain mean of the m_t
**      of its stratum and u = n_t; in a stratum of several tasks u is their number.  The
**      plain mean of the N z then has the variance that stratified sampling has.
**   3. Likewise the range: from th + f (lo - th) to th + f (hi - th), f = N sum w^2 / n_t,
**      widened to hold every z.
**   4. The interval of the mean of the z, by ev_mean, cut to [lo, hi].
**
** One pair of imagined scores serves all tasks of a group: a pair for each would pull every
** task toward the middle of the range.  One task alone is ev_mean.
**
**   5. Tasks of very different sizes are not one sample: a task of two questions would be
**      represented by two z among hundreds, and the interval covered 50% beside four tasks of
**      200.  So the tasks are sorted by size, and a task joins the group while its size is at
**      most 4 times the group's smallest; steps 1 to 4 are done in each group alone.  With w_g
**      the group's share of the tasks, m_g its mean and [lo_g, hi_g] its interval, the bounds
**      are th - sqrt(sum (w_g (m_g - lo_g))^2) and th + sqrt(sum (w_g (hi_g - m_g))^2).
**
** Cochran, Sampling Techniques, 3rd edition (1977), chapter 5 (strata) and 5A.12 (one
** unit per stratum, collapsed strata); Zou and Donner, Stat. Med. 27 (2008) 1693-1702 (step 5,
** called MOVER).
*/
#include "macro.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "atoms.h"

typedef struct stratum {
  const ev_task_score *scores; /* in rising order */
  size_t count;
  double n, mean;
} stratum;

static int compare_scores(const void *left, const void *right) {
  const ev_task_score *a = left, *b = right;
  if (a->task != b->task) return a->task < b->task ? -1 : 1;
  return ev_compare_numbers(a->score, b->score);
}

/* By their contents, so that strata which compare equal have the same results. */
static int compare_strata(const void *left, const void *right) {
  const stratum *a = left, *b = right;
  int order = ev_compare_numbers(a->n, b->n);
  if (order == 0) order = (a->count > b->count) - (a->count < b->count);
  for (size_t i = 0; i < a->count && order == 0; i++) {
    order = ev_compare_numbers(a->scores[i].score, b->scores[i].score);
    if (order == 0) order = ev_compare_numbers(a->scores[i].times, b->scores[i].times);
  }
  return order;
}

/* Scores in the order of tasks and scores, equal ones merged; gives how many are left. */
static size_t sort_scores(ev_task_score *scores, size_t count) {
  size_t left = 0;
  qsort(scores, count, sizeof *scores, compare_scores);
  for (size_t i = 0; i < count; i++) {
    if (left > 0 && compare_scores(&scores[left - 1], &scores[i]) == 0)
      scores[left - 1].times += scores[i].times;
    else
      scores[left++] = scores[i];
  }
  return left;
}

/* A stratum per task.  If all its scores are equal, its mean is exactly that score. */
static void make_strata(const ev_task_score *scores, size_t count, stratum *strata) {
  for (size_t i = 0; i < count; i++) {
    stratum *s = &strata[scores[i].task];
    if (s->count == 0) *s = (stratum){.scores = &scores[i], .mean = scores[i].score};
    s->count++;
    s->n += scores[i].times;
    s->mean += (scores[i].score - s->mean) * (scores[i].times / s->n);
  }
}

/* The plain mean of strata's means. */
static double mean_of_strata(const stratum *strata, size_t count) {
  double mean = strata[0].mean;
  for (size_t i = 1; i < count; i++) mean += (strata[i].mean - mean) / (double)(i + 1);
  return mean;
}

/* The stratum that a single task of one answer joins, next to it. */
static void place_partner(stratum *strata, size_t tasks) {
  size_t farthest = 1;
  for (size_t i = 2; i < tasks && strata[i].n == strata[1].n; i++)
    if (fabs(strata[i].mean - strata[0].mean) > fabs(strata[farthest].mean - strata[0].mean))
      farthest = i;
  stratum partner = strata[farthest];
  strata[farthest] = strata[1];
  strata[1] = partner;
}

/* The number of first strata that are joined into one: those of one answer, and with a single such
** stratum, its partner. */
static size_t join_strata(stratum *strata, size_t tasks) {
  size_t joined = 0;
  while (joined < tasks && strata[joined].n == 1) joined++;
  if (joined != 1) return joined;
  place_partner(strata, tasks);
  return 2;
}

/* The z of step 2, and the range of step 3. */
typedef struct stratified {
  ev_score *z;
  size_t count;
  double mean, total, tasks;
  double stretch; /* f */
  double least, most;
} stratified;

/* Joins the strata from `first` to `end`.  Each answer keeps the weight that it has in its task. */
static void add_stratum(stratified *s, const stratum *first, const stratum *end) {
  size_t joined = (size_t)(end - first);
  double mean = mean_of_strata(first, joined), n = joined > 1 ? (double)joined : first->n;
  for (const stratum *t = first; t < end; t++) {
    double weight = s->total / s->tasks / t->n;
    s->stretch += weight / s->tasks;
    for (size_t i = 0; i < t->count; i++) {
      double z = s->mean + weight * sqrt(n / (n - 1)) * (t->scores[i].score - mean);
      s->z[s->count++] = (ev_score){z, t->scores[i].times};
      s->least = fmin(s->least, z);
      s->most = fmax(s->most, z);
    }
  }
}

static ev_status stratified_interval(stratum *strata, size_t tasks, ev_score *z,
                                     const ev_options *options, ev_host host, ev_interval *ci) {
  double mean = mean_of_strata(strata, tasks);
  stratified s = {.z = z, .mean = mean, .tasks = (double)tasks, .least = mean, .most = mean};
  for (size_t i = 0; i < tasks; i++) s.total += strata[i].n;
  size_t joined = join_strata(strata, tasks);
  if (joined > 0) add_stratum(&s, strata, strata + joined);
  for (size_t i = joined; i < tasks; i++) add_stratum(&s, &strata[i], &strata[i + 1]);
  ev_options stretched = *options;
  stretched.lo = fmin(s.least, mean + s.stretch * (options->lo - mean));
  stretched.hi = fmax(s.most, mean + s.stretch * (options->hi - mean));
  ev_status status = ev_mean(z, s.count, &stretched, host, ci);
  if (status == EV_OK) *ci = (ev_interval){fmax(ci->lo, options->lo), fmin(ci->hi, options->hi)};
  return status;
}

/* Steps 1 to 4. */
static ev_status group_interval(stratum *strata, size_t tasks, ev_score *z,
                                const ev_options *options, ev_host host, ev_interval *ci) {
  if (tasks > 1) return stratified_interval(strata, tasks, z, options, host, ci);
  for (size_t i = 0; i < strata->count; i++)
    z[i] = (ev_score){strata->scores[i].score, strata->scores[i].times};
  return ev_mean(z, strata->count, options, host, ci);
}

/* The largest size in a group, as a multiple of the smallest. */
static const double WIDEST_GROUP = 4;

/* Step 5, for strata in rising size. */
static ev_status grouped_interval(stratum *strata, size_t tasks, ev_score *z,
                                  const ev_options *options, ev_host host, ev_interval *ci) {
  double mean = mean_of_strata(strata, tasks), below = 0, above = 0;
  for (size_t first = 0, end = 0; first < tasks; first = end) {
    while (end < tasks && strata[end].n <= WIDEST_GROUP * strata[first].n) end++;
    ev_status status = group_interval(strata + first, end - first, z, options, host, ci);
    if (status != EV_OK || end - first == tasks) return status;
    double share = (double)(end - first) / (double)tasks;
    double group_mean = mean_of_strata(strata + first, end - first);
    /* at low levels an interval may lie beside the mean */
    below = hypot(below, share * fmax(0, group_mean - ci->lo));
    above = hypot(above, share * fmax(0, ci->hi - group_mean));
  }
  *ci = (ev_interval){fmax(mean - below, options->lo), fmin(mean + above, options->hi)};
  return EV_OK;
}

ev_status ev_macro(const ev_task_score *scores, size_t count, size_t tasks,
                   const ev_options *options, ev_host host, ev_interval *ci) {
  ev_task_score *sorted = malloc(count * sizeof *sorted);
  ev_score *z = malloc(count * sizeof *z);
  stratum *strata = calloc(tasks, sizeof *strata);
  ev_status status = EV_NO_MEMORY;
  if (sorted && z && strata) {
    memcpy(sorted, scores, count * sizeof *sorted);
    count = sort_scores(sorted, count);
    make_strata(sorted, count, strata);
    qsort(strata, tasks, sizeof *strata, compare_strata);
    status = grouped_interval(strata, tasks, z, options, host, ci);
  }
  free(sorted);
  free(z);
  free(strata);
  return status;
}

ev_status ev_macro_counts(const ev_cluster *tasks, size_t count, const ev_options *options,
                          ev_host host, ev_interval *ci) {
  size_t total = 0, task = 0, listed = 0;
  for (size_t i = 0; i < count; i++) total += (size_t)tasks[i].times;
  ev_task_score *scores = calloc(total, 2 * sizeof *scores); /* refuses a size that overflows */
  if (!scores) return EV_NO_MEMORY;
  for (size_t i = 0; i < count; i++)
    for (double j = 0; j < tasks[i].times; j++, task++) {
      double right = tasks[i].k, wrong = tasks[i].n - right;
      if (right > 0) scores[listed++] = (ev_task_score){1, right, task};
      if (wrong > 0) scores[listed++] = (ev_task_score){0, wrong, task};
    }
  ev_status status = ev_macro(scores, listed, total, options, host, ci);
  free(scores);
  return status;
}
