/*
** How sure it is that each model is the best of all.
**
** 1. Every model gets a Beta posterior with a uniform prior and an effective number of answers:
**    their actual number if they are right or wrong and asked once, else
**    m (1 - m) / se^2 - 1, with m its accuracy and se the standard error over questions,
**    s^2 / (n + 1) of n question means with the variance s^2: that of the Bayesian
**    bootstrap, by which right or wrong answers asked once are worth n.
** 2. Models that answered the same questions err together, and a difference between them
**    is known better than each by itself.  For equally correlated normals this is the same
**    as if they were independent with variances times 1 - rho: so the posteriors have
**    1 / (1 - rho) times the answers.
** 3. rho is the mean over pairs of contenders of the correlation of their question
**    scores, times the shared questions over the geometric mean of how many each answered;
**    not below 0, and 0 where none are shared.
** 4. ev_ranks of these.
**
** tests/board/best.py compares the result with a joint Bayesian bootstrap over questions.
*/
#include <stdlib.h>

#include "../stats/ranks.h"
#include "inside.h"

/*
** Moments
*/

/* Moments of the question means x and y of two models, over questions that both answered.  The
** means and their products lie in [0,1], so that sums in fixed point do not depend on the order. */
typedef struct moments {
  double n;
  board_sum x, y, xx, yy, xy;
} moments;

static void count_cells(moments *m, board_cell x, board_cell y) {
  if (x.n == 0 || y.n == 0 || x.outside || y.outside) return;
  double u = x.total / x.n, v = y.total / y.n;
  m->n++;
  board_add_share(&m->x, u);
  board_add_share(&m->y, v);
  board_add_share(&m->xx, u * u);
  board_add_share(&m->yy, v * v);
  board_add_share(&m->xy, u * v);
}

static moments count_all(const board *b, size_t model, size_t other) {
  const board_word *x = b->model[model].words, *y = b->model[other].words;
  uint64_t right_x = 0, right_y = 0, both = 0;
  moments m = {0};
  for (size_t w = 0; w < b->words; w++) {
    m.n += board_popcount(x[w].known & y[w].known);
    right_x += board_popcount(x[w].right & y[w].known);
    right_y += board_popcount(x[w].known & y[w].right);
    both += board_popcount(x[w].right & y[w].right);
  }
  board_add_right(&m.x, right_x);
  board_add_right(&m.xx, right_x);
  board_add_right(&m.y, right_y);
  board_add_right(&m.yy, right_y);
  board_add_right(&m.xy, both);
  for (size_t r = 0; r < b->row_count; r++)
    count_cells(&m, board_cells_of(b, model)[r], board_cells_of(b, other)[r]);
  return m;
}

static moments count_task(const board *b, size_t model, size_t other, size_t task) {
  moments m = {0};
  for (size_t i = b->task_begin[task]; i < b->task_begin[task + 1]; i++) {
    uint32_t question = b->by_task[i];
    count_cells(&m, board_answer(b, model, question), board_answer(b, other, question));
  }
  return m;
}

/* Variances and the covariance of two means over the same questions. */
typedef struct variation {
  double n, xx, yy, xy;
} variation;

static void add_variation(variation *s, const moments *m) {
  if (m->n == 0) return;
  double x = board_sum_of(m->x) / m->n, y = board_sum_of(m->y) / m->n;
  s->n += m->n;
  s->xx += (board_sum_of(m->xx) / m->n - x * x) / m->n;
  s->yy += (board_sum_of(m->yy) / m->n - y * y) / m->n;
  s->xy += (board_sum_of(m->xy) / m->n - x * y) / m->n;
}

/* The same where each task counts the same, for the mean of task means; tasks in the order of their
** names, so that the digits do not depend on the order of rows. */
static variation variation_of(const board *b, size_t model, size_t other) {
  variation s = {0};
  moments m;
  if (!b->settings.by_task) {
    m = count_all(b, model, other);
    add_variation(&s, &m);
    return s;
  }
  for (size_t i = 0; i < b->tasks.count; i++) {
    m = count_task(b, model, other, b->task_order[i]);
    add_variation(&s, &m);
  }
  return s;
}

/*
** Effective numbers of answers
*/

/* The largest count that a double represents exactly. */
static const double MOST_ANSWERS = 0x1p53;

/* The width of a 95% normal interval in standard deviations. */
static const double USUAL_DEVIATIONS = 3.92;

/* The 95% interval of a model, whatever the board's level. */
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

/* For a mean of tasks, the interval already accounts for strata and for tasks with one question:
** take the Beta posterior with its midpoint and its standard deviation, less the two answers of
** the prior. */
static ev_status answers_like(board *b, size_t model, ev_host host, ev_answered *a) {
  ev_interval ci;
  ev_status status = usual_interval(b, model, host, &ci);
  if (status != EV_OK) return status;
  double middle = (ci.lo + ci.hi) / 2, deviation = (ci.hi - ci.lo) / USUAL_DEVIATIONS;
  a->n = fmax(1, middle * (1 - middle) / deviation / deviation - 3);
  a->k = fmin(a->n, fmax(0, middle * (a->n + 2) - 1));
  return EV_OK;
}

/* n question means that are nearly equal do not show that all other questions are like them:
** their standard deviation is taken as at least 1/n of the largest possible, which is at most
** n^3 answers.  Right and wrong answers are worth no more than their number. */
static ev_answered answers_worth(const board *b, size_t model) {
  const board_standing *s = &b->totals[model].standing;
  variation of = variation_of(b, model, model);
  double mean = s->accuracy, most = s->graded ? of.n * of.n * of.n : s->n;
  double variance = of.xx * of.n / (of.n + 1);
  double size = variance > 0 ? mean * (1 - mean) / variance - 1 : most;
  size = fmax(1, fmin(size, most));
  return (ev_answered){mean * size, size};
}

static ev_status answers_of(board *b, size_t model, ev_host host, ev_answered *a) {
  const board_standing *s = &b->totals[model].standing;
  *a = (ev_answered){0, 0};
  if (s->n == 0 || s->outside) return EV_OK;
  if (board_over_tasks(b, s)) return answers_like(b, model, host, a);
  *a = s->graded || s->repeated ? answers_worth(b, model) : (ev_answered){s->correct, s->n};
  return EV_OK;
}

/*
** The correlation of the contenders
*/

/* The largest number of contenders: with 30 in place of 10, P(best) changed by less than 0.002
** on simulated boards. */
enum { MOST_CONTENDERS = 10 };

/* A contender is at most this many standard deviations of the difference behind the leader.  Of
** 1, 2 and 3 this was the closest to the bootstrap. */
static const double REACH = 3;

static double beta_mean(ev_answered a) {
  return (a.k + 1) / (a.n + 2);
}

static double beta_variance(ev_answered a) {
  return beta_mean(a) * (1 - beta_mean(a)) / (a.n + 3);
}

static bool within_reach(ev_answered leader, ev_answered a) {
  double behind = beta_mean(leader) - beta_mean(a);
  return behind * behind < REACH * REACH * (beta_variance(leader) + beta_variance(a));
}

/* The leading models: at least two if there are two; of equal ones the first. */
static size_t find_contenders(const ev_answered *answered, size_t count, size_t *leading) {
  size_t found = 0, kept = 0;
  for (size_t i = 0; i < count; i++) {
    size_t at = found;
    while (at > 0 && beta_mean(answered[i]) > beta_mean(answered[leading[at - 1]])) at--;
    if (at == MOST_CONTENDERS) continue;
    found += found < MOST_CONTENDERS;
    for (size_t j = found - 1; j > at; j--) leading[j] = leading[j - 1];
    leading[at] = i;
  }
  while (kept < found && (kept < 2 || within_reach(answered[leading[0]], answered[leading[kept]])))
    kept++;
  return kept;
}

/* The correlation of the means of two models.  As for one model, equal question scores do not
** exclude a difference on other questions: it is at most 1 - 1/n^2.  A variance below rounding
** error counts as 0. */
static double correlation(const board *b, size_t model, size_t other) {
  static const double ROUNDING = 1e-13;
  variation s = variation_of(b, model, other);
  double questions = b->totals[model].standing.questions,
         others = b->totals[other].standing.questions;
  if (s.n == 0 || s.xx * s.n <= ROUNDING || s.yy * s.n <= ROUNDING) return 0;
  double r = s.xy / sqrt(s.xx * s.yy);
  return fmin(r, 1 - 1 / (s.n * s.n)) * s.n / sqrt(questions * others);
}

static ev_status common_part(const board *b, const ev_answered *answered, const uint32_t *who,
                             size_t count, ev_host host, double *rho) {
  size_t leading[MOST_CONTENDERS], contenders = find_contenders(answered, count, leading);
  double sum = 0, pairs = 0;
  for (size_t i = 0; i < contenders; i++)
    for (size_t j = i + 1; j < contenders; j++, pairs++) {
      if (ev_interrupted(host)) return EV_INTERRUPTED;
      sum += correlation(b, who[leading[i]], who[leading[j]]);
    }
  *rho = pairs > 0 ? fmax(0, sum / pairs) : 0;
  return EV_OK;
}

/*
** All models
*/
static ev_status rank_models(board *b, ev_host host, ev_answered *answered, ev_rank *ranks,
                             uint32_t *who) {
  size_t count = 0;
  double rho;
  for (size_t i = 0; i < b->models.count; i++) {
    uint32_t model = b->model_order[i];
    ev_status status = answers_of(b, model, host, &answered[count]);
    if (status != EV_OK) return status;
    if (answered[count].n > 0) who[count++] = model;
  }
  if (count == 0 || count > EV_MOST_RANKED) return EV_OK;
  ev_status status = common_part(b, answered, who, count, host, &rho);
  if (status != EV_OK) return status;
  for (size_t i = 0; i < count; i++) {
    double n = fmin(MOST_ANSWERS, answered[i].n / (1 - rho));
    answered[i] = (ev_answered){fmin(n, answered[i].k * (n / answered[i].n)), n};
  }
  status = ev_ranks(answered, count, &b->options, host, ranks, NULL);
  for (size_t i = 0; status == EV_OK && i < count; i++) {
    b->totals[who[i]].best = ranks[i].best;
    b->totals[who[i]].ranks = (ev_interval){ranks[i].lo, ranks[i].hi};
  }
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

ev_status board_open_ranks(board *b, size_t model, ev_host host, double *lo, double *hi) {
  double best;
  ev_status status =
      b->settings.counts ? board_best(b, model, host, &best) : board_test_pairs(b, host);
  *lo = b->totals[model].ranks.lo;
  *hi = b->totals[model].ranks.hi;
  if (status == EV_OK && !b->settings.counts) board_ranks(b, model, lo, hi);
  return status;
}
