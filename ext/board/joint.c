/*
** One posterior of the accuracies of all models, from which come P(best), the probability that a
** model is better than another, and ranks; so that they cannot contradict each other.
**
** Questions are the units, with the mean of a model's attempts at each; a question that fewer
** than two models answered is left out.  a_iq is 1 where model i answered question q, n_q the
** number of models that did.
**
** 1. Differences, by least squares with an effect of every question.  One imagined question, to
**    which all models have the same answer, has the weight of one question.  With J = 11'/M,
**    L = diag(sum_q a_iq) - sum_q a_q a_q' / n_q + (I - J) and G = (L + J)^-1 - J, the estimates
**    are y = G sum_q (Y_q - mean_q).  Without gaps, y is the models' means times N/(N+1).
** 2. The imagined question has differences of the usual size: W2 is the mean square of the
**    differences between two models at a question that are not 0; it is 1 if the differences do
**    not vary between questions.
** 3. The covariance of y: S0 = (N+1)/(N+2) G (sum_q u_q u_q' + W2/2 (I - J) + y y') G, where u_q
**    are the residuals of question q less their mean, and N is the number of questions per model.
** 4. Few questions do not show covariances: with T = G trace(S0) / trace(G) and
**    lambda = 60 / (60 + N), S = (1 - lambda) S0 + lambda T.  v_i = T_ii M / (M - 1).
** 5. The posterior, its pairs, P(best) and ranks are those of ev_pooled().
**
** Where every task counts the same, a question of a task with n_t questions per model has the
** weight N / (K n_t), with K tasks and N = K^2 / sum_t 1 / n_t: without gaps the estimates are
** differences of task means, and S0 has the sum of the tasks' variances over K^2.
**
** Two models with shared questions are compared as board_pair_prob() does, without pooling.
** Models of which no two share a question, and counts, have independent errors: y and v = S are
** the mean and variance of each mean in a Bayesian bootstrap with an imagined right and an
** imagined wrong question, which for right and wrong answers is the Beta posterior with a uniform
** prior.  If a chain of shared questions joins some models but not all, there is no answer.
*/
#include <stdlib.h>
#include <string.h>

#include "../stats/unpaired.h"
#include "inside.h"

/* Differences between question means below this are rounding errors. */
static const double JOINT_SAME = 1e-9;

/* Half of what the covariances say is believed at this number of questions. */
static const double JOINT_HALF = 60;

/* The work grows with the third power of the number of models: a thousand take seconds. */
enum { JOINT_MOST = 1000 };

/* What is being fitted.  Models are by their place among `who`, sorted by name; a matrix is
** models x models. */
typedef struct joint_fit {
  const board *b;
  ev_host host;
  uint32_t *who, *order, *at; /* models; questions, sorted; the models asked a question */
  size_t models;
  double *x;                          /* their means, then residuals */
  double *weight;                     /* of a question of each task */
  double questions;                   /* N */
  double *graph, *factor;             /* L without the imagined question; a Cholesky factor */
  double *inverse, *product;          /* G; and room for a product */
  double *sums;                       /* sum_q w (Y_q - mean_q) */
  double *y, *plain, *v, *covariance; /* plain: the fit without the imagined question */
} joint_fit;

/*
** Questions
*/

/* The models that answered a question, and their means; fewer than two do not matter. */
static size_t joint_question(joint_fit *f, size_t question) {
  size_t count = 0;
  for (size_t i = 0; i < f->models; i++) {
    board_cell cell = board_answer(f->b, f->who[i], question);
    if (cell.n == 0) continue;
    f->at[count] = (uint32_t)i;
    f->x[count++] = cell.total / cell.n;
  }
  return count < 2 ? 0 : count;
}

static double joint_weight(const joint_fit *f, size_t question) {
  return f->weight[board_task_of(f->b, question)];
}

/* Takes the fit, unless that is NULL, and then their mean from the means of a question. */
static void joint_residuals(joint_fit *f, size_t count, const double *fit) {
  double sum = 0;
  for (size_t k = 0; k < count; k++) {
    if (fit) f->x[k] -= fit[f->at[k]];
    sum += f->x[k];
  }
  for (size_t k = 0; k < count; k++) f->x[k] -= sum / (double)count;
}

/* Weights of questions, and N. */
static ev_status joint_weigh(joint_fit *f) {
  const board *b = f->b;
  size_t tasks = b->tasks.count;
  double *size = f->weight, inverse = 0, used = 0, total = 0; /* questions per model of a task */
  memset(size, 0, tasks * sizeof *size);
  for (size_t q = 0; q < b->questions.count; q++) {
    if (q % 4096 == 0 && ev_interrupted(f->host)) return EV_INTERRUPTED;
    size[board_task_of(b, q)] += (double)joint_question(f, q);
  }
  for (size_t t = 0; t < tasks; t++) {
    double n = size[b->task_order[t]] / (double)f->models;
    total += n;
    if (n == 0) continue;
    used++;
    inverse += 1 / n;
  }
  bool each = b->settings.by_task && used > 1;
  f->questions = each ? used * used / inverse : total;
  for (size_t t = 0; t < tasks; t++)
    size[t] = each && size[t] > 0 ? f->questions / (used * size[t] / (double)f->models) : 1;
  return EV_OK;
}

/* Step 1's sums, and W2 if the differences vary. */
static ev_status joint_add_up(joint_fit *f, double *usual) {
  size_t n = f->models;
  double squares = 0, differ = 0;
  for (size_t k = 0; k < f->b->questions.count; k++) {
    uint32_t question = f->order[k];
    size_t count = joint_question(f, question);
    double w = joint_weight(f, question), each = w / (double)count;
    if (ev_interrupted(f->host)) return EV_INTERRUPTED;
    for (size_t i = 0; i < count; i++) {
      double *row = f->graph + f->at[i] * n;
      row[f->at[i]] += w;
      for (size_t j = 0; j < count; j++) row[f->at[j]] -= each;
      for (size_t j = 0; j < i; j++) {
        double d = f->x[i] - f->x[j];
        squares += d * d;
        differ += fabs(d) > JOINT_SAME;
      }
    }
    joint_residuals(f, count, NULL);
    for (size_t i = 0; i < count; i++) f->sums[f->at[i]] += w * f->x[i];
  }
  *usual = squares / differ;
  return EV_OK;
}

/* Whether the residuals of the plain fit vary. */
static ev_status joint_varies(joint_fit *f, bool *varies) {
  *varies = false;
  for (size_t k = 0; k < f->b->questions.count && !*varies; k++) {
    size_t count = joint_question(f, f->order[k]);
    if (ev_interrupted(f->host)) return EV_INTERRUPTED;
    joint_residuals(f, count, f->plain);
    for (size_t i = 0; i < count; i++) *varies |= fabs(f->x[i]) > JOINT_SAME;
  }
  return EV_OK;
}

/* Adds the squares of the residuals to the lower triangle of the covariance. */
static ev_status joint_add_squares(joint_fit *f) {
  for (size_t k = 0; k < f->b->questions.count; k++) {
    size_t count = joint_question(f, f->order[k]);
    double w = joint_weight(f, f->order[k]);
    if (ev_interrupted(f->host)) return EV_INTERRUPTED;
    joint_residuals(f, count, f->y);
    for (size_t i = 0; i < count; i++) {
      double *row = f->covariance + f->at[i] * f->models, by = w * w * f->x[i];
      for (size_t j = 0; j <= i; j++) row[f->at[j]] += by * f->x[j];
    }
  }
  return EV_OK;
}

/*
** Matrices.  L + J has no eigenvalue below 1, and without the imagined question it is positive
** definite where a chain of shared questions joins all models.
*/

/* Factors L + J, with or without the imagined question. */
static ev_status joint_factor(joint_fit *f, bool imagined) {
  size_t n = f->models;
  for (size_t i = 0; i < n; i++) {
    double *row = f->factor + i * n;
    if (ev_interrupted(f->host)) return EV_INTERRUPTED;
    for (size_t j = 0; j <= i; j++) {
      const double *other = f->factor + j * n;
      double sum = f->graph[i * n + j] + (imagined ? i == j : 1 / (double)n);
      for (size_t k = 0; k < j; k++) sum -= row[k] * other[k];
      if (i == j && !(sum > 0)) return EV_NOT_CONVERGED;
      row[j] = i == j ? sqrt(sum) : sum / other[j];
    }
  }
  return EV_OK;
}

static void joint_solve(const joint_fit *f, double *x) {
  size_t n = f->models;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < i; k++) x[i] -= f->factor[i * n + k] * x[k];
    x[i] /= f->factor[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    x[i] /= f->factor[i * n + i];
    for (size_t k = 0; k < i; k++) x[k] -= f->factor[i * n + k] * x[i];
  }
}

/* G: the columns of (L + J)^-1, less J. */
static ev_status joint_invert(joint_fit *f) {
  size_t n = f->models;
  memset(f->inverse, 0, n * n * sizeof *f->inverse);
  for (size_t i = 0; i < n; i++) {
    double *column = f->inverse + i * n;
    if (ev_interrupted(f->host)) return EV_INTERRUPTED;
    column[i] = 1;
    joint_solve(f, column);
    for (size_t j = 0; j < n; j++) column[j] -= 1 / (double)n;
  }
  return EV_OK;
}

/* out = x G, of symmetric matrices. */
static ev_status joint_multiply(const joint_fit *f, const double *x, double *out) {
  size_t n = f->models;
  memset(out, 0, n * n * sizeof *out);
  for (size_t i = 0; i < n; i++) {
    if (ev_interrupted(f->host)) return EV_INTERRUPTED;
    for (size_t k = 0; k < n; k++)
      for (size_t j = 0; j < n; j++) out[i * n + j] += x[i * n + k] * f->inverse[k * n + j];
  }
  return EV_OK;
}

/* Adds what the imagined question says, and makes the covariance that of y. */
static ev_status joint_cover(joint_fit *f, double usual) {
  size_t n = f->models;
  double *s = f->covariance, N = f->questions, trace = 0, of_inverse = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double imagined = usual / 2 * ((i == j) - 1 / (double)n) + f->y[i] * f->y[j];
      s[j * n + i] = s[i * n + j] += imagined;
    }
  ev_status status = joint_multiply(f, s, f->product);
  for (size_t i = 0; i < n; i++) /* G times the sum, from the sum times G */
    for (size_t j = 0; j < i; j++) {
      double kept = f->product[i * n + j];
      f->product[i * n + j] = f->product[j * n + i];
      f->product[j * n + i] = kept;
    }
  if (status == EV_OK) status = joint_multiply(f, f->product, s);
  for (size_t i = 0; i < n; i++) {
    trace += s[i * n + i];
    of_inverse += f->inverse[i * n + i];
  }
  double scale = (N + 1) / (N + 2), alike = scale * trace / of_inverse;
  double lambda = JOINT_HALF / (JOINT_HALF + N);
  for (size_t i = 0; i < n * n; i++)
    s[i] = (1 - lambda) * scale * s[i] + lambda * alike * f->inverse[i];
  for (size_t i = 0; i < n; i++)
    f->v[i] = alike * f->inverse[i * n + i] * (double)n / (double)(n - 1);
  return status;
}

/* Steps 1 to 4. */
static ev_status joint_estimate(joint_fit *f, double usual) {
  size_t n = f->models;
  bool varies = false;
  ev_status status = joint_factor(f, false);
  if (status != EV_OK) return status;
  memcpy(f->plain, f->sums, n * sizeof *f->plain);
  joint_solve(f, f->plain);
  status = joint_varies(f, &varies);
  if (status == EV_OK) status = joint_factor(f, true);
  if (status == EV_OK) status = joint_invert(f);
  if (status != EV_OK) return status;
  memcpy(f->y, f->sums, n * sizeof *f->y);
  joint_solve(f, f->y);
  status = joint_add_squares(f);
  return status == EV_OK ? joint_cover(f, varies ? usual : 1) : status;
}

/*
** Which models share questions
*/

/* The number of models that a chain of shared questions joins to the first one, and one that it
** does not; *shares: some two models share a question. */
static size_t joint_chain(const joint_fit *f, bool *shares, size_t *apart) {
  size_t n = f->models, found = 1;
  uint32_t *queue = f->at;
  double *joined = f->v; /* room that is free as yet */
  for (size_t i = 0; i < n; i++) joined[i] = i == 0;
  queue[0] = 0;
  *shares = false;
  for (size_t i = 0; i < n * n; i++) *shares |= f->graph[i] < 0;
  for (size_t done = 0; done < found; done++)
    for (size_t j = 0; j < n; j++) {
      if (joined[j] > 0 || !(f->graph[queue[done] * n + j] < 0)) continue;
      joined[j] = 1;
      queue[found++] = (uint32_t)j;
    }
  for (*apart = 0; *apart < n && joined[*apart] > 0;) ++*apart;
  return found;
}

/*
** Independent errors
*/

/* Question means of a model and a task: their number, sum, and sum of squares. */
typedef struct joint_moments {
  double n, sum, squares;
} joint_moments;

static joint_moments joint_task_moments(const board *b, size_t model, size_t task) {
  const board_part *part = &b->parts[model * b->tasks.count + task];
  board_sum sum = {0, 0}, squares = {0, 0};
  if (b->settings.counts) return (joint_moments){part->n, part->correct, part->correct};
  for (size_t i = b->task_begin[task]; i < b->task_begin[task + 1]; i++) {
    board_cell cell = board_answer(b, model, b->by_task[i]);
    if (cell.n == 0) continue;
    double x = cell.total / cell.n;
    board_add_share(&sum, x);
    board_add_share(&squares, x * x);
  }
  return (joint_moments){part->questions, board_sum_of(sum), board_sum_of(squares)};
}

/* The mean and its variance, with an imagined right and an imagined wrong question. */
static void joint_alone(joint_fit *f, size_t i) {
  const board *b = f->b;
  joint_moments all = {0, 0, 0};
  const board_standing *s = &b->totals[f->who[i]].standing;
  bool each = board_over_tasks(b, s);
  double inverse = 0;
  for (size_t t = 0; t < b->tasks.count; t++) {
    joint_moments m = joint_task_moments(b, f->who[i], b->task_order[t]);
    if (m.n == 0) continue;
    double weight = each ? 1 / m.n : 1;
    inverse += 1 / m.n;
    all.n += m.n;
    all.sum += weight * m.sum;
    all.squares += weight * m.squares;
  }
  if (each) {
    all.n = s->tasks * s->tasks / inverse;
    all.sum *= all.n / s->tasks;
    all.squares *= all.n / s->tasks;
  }
  f->y[i] = (all.sum + 1) / (all.n + 2);
  f->v[i] = ((all.squares + 1) / (all.n + 2) - f->y[i] * f->y[i]) / (all.n + 3);
  f->covariance[i * f->models + i] = f->v[i];
}

/*
** Two models
*/
static bool joint_once(const board_standing *s) {
  return !s->graded && !s->repeated;
}

/* The probability that the first is better; NAN where the general way must do. */
static ev_status joint_two(joint_fit *f, board *b, board_joint_kind kind, double *prob) {
  const board_standing *x = &b->totals[f->who[0]].standing, *y = &b->totals[f->who[1]].standing;
  board_pair p = {.prob = NAN};
  *prob = NAN;
  if (kind == BOARD_ALIKE) {
    if (board_over_tasks(b, x) || board_over_tasks(b, y) || !joint_once(x) || !joint_once(y))
      return EV_OK;
    double counts[4] = {x->correct, x->n, y->correct, y->n};
    return ev_prob_better(counts, &b->options, f->host, prob);
  }
  ev_status status = board_count_pair(b, f->who[0], f->who[1], &p);
  if (status == EV_OK) status = board_pair_prob(b, &p, f->host);
  *prob = p.prob;
  return status;
}

static ev_status joint_posterior(joint_fit *f, board *b, board_joint_kind kind, double *prob,
                                 ev_place *places) {
  double first = NAN;
  ev_status status = EV_OK;
  if (f->models == 2) status = joint_two(f, b, kind, &first);
  if (status != EV_OK) return status;
  if (!isnan(first)) {
    prob[0] = prob[3] = 0.5;
    prob[1] = places[0].best = first;
    prob[2] = places[1].best = 1 - first;
  } else {
    status = ev_pooled(f->y, f->covariance, f->v, f->models, f->host, prob, places);
  }
  return status == EV_OK ? ev_pooled_ranks(prob, f->models, &b->options, places, &b->joint.least)
                         : status;
}

/*
** All models
*/
static ev_status joint_models(joint_fit *f, board *b, double *prob, ev_place *places,
                              board_joint_kind *kind) {
  size_t n = f->models, apart = n;
  double usual = 1;
  bool shares = false;
  ev_status status = EV_OK;
  if (!b->settings.counts) {
    status = board_sort_questions(b, f->order);
    if (status == EV_OK) status = joint_weigh(f);
    if (status == EV_OK) status = joint_add_up(f, &usual);
    if (status != EV_OK) return status;
    joint_chain(f, &shares, &apart);
  }
  *kind = !shares ? BOARD_ALIKE : apart < n ? BOARD_CUT : BOARD_JOINED;
  if (*kind == BOARD_CUT) {
    b->joint.apart[0] = f->who[0];
    b->joint.apart[1] = f->who[apart];
    return EV_OK;
  }
  for (size_t i = 0; i < n && !shares; i++) joint_alone(f, i);
  if (shares) status = joint_estimate(f, usual);
  return status == EV_OK ? joint_posterior(f, b, *kind, prob, places) : status;
}

/* Keeps what was computed. */
static void joint_keep(board *b, const joint_fit *f, double *prob, const ev_place *places) {
  free(b->prob_all);
  b->prob_all = prob;
  for (size_t i = 0; i < f->models; i++) {
    board_total *total = &b->totals[f->who[i]];
    total->place = places[i];
    total->fitted = f->plain[i];
    total->joint_at = i;
  }
  b->joint_models = f->models;
}

static ev_status joint_with_room(joint_fit *f, board *b, board_joint_kind *kind) {
  size_t n = f->models, questions = b->questions.count;
  double *room = calloc(4 * n * n + 5 * n + b->tasks.count + 1, sizeof *room);
  double *prob = malloc(n * n * sizeof *prob);
  ev_place *places = malloc(n * sizeof *places);
  f->order = malloc((questions + 1) * sizeof *f->order);
  f->at = malloc(n * sizeof *f->at);
  ev_status status = room && prob && places && f->order && f->at ? EV_OK : EV_NO_MEMORY;
  if (status == EV_OK) {
    f->graph = room;
    f->factor = f->product = f->graph + n * n;
    f->inverse = f->factor + n * n;
    f->covariance = f->inverse + n * n;
    f->x = f->covariance + n * n;
    f->sums = f->x + n;
    f->y = f->sums + n;
    f->plain = f->y + n;
    f->v = f->plain + n;
    f->weight = f->v + n;
    status = joint_models(f, b, prob, places, kind);
  }
  bool keeps = status == EV_OK && *kind != BOARD_CUT;
  if (keeps) joint_keep(b, f, prob, places);
  if (!keeps) free(prob);
  free(room);
  free(places);
  free(f->order);
  free(f->at);
  return status;
}

static ev_status joint_compute(board *b, ev_host host, board_joint_kind *kind) {
  joint_fit f = {.b = b, .host = host, .who = malloc((b->models.count + 1) * sizeof *f.who)};
  ev_status status = f.who ? EV_OK : EV_NO_MEMORY;
  for (size_t i = 0; i < b->models.count && status == EV_OK; i++) {
    const board_standing *s = &b->totals[b->model_order[i]].standing;
    if (s->n > 0) f.who[f.models++] = b->model_order[i];
  }
  *kind = f.models > JOINT_MOST ? BOARD_MANY : BOARD_JOINED;
  if (status == EV_OK && *kind == BOARD_JOINED && f.models == 1)
    b->totals[f.who[0]].place = (ev_place){1, 1, 1, 1};
  if (status == EV_OK && *kind == BOARD_JOINED && f.models > 1)
    status = joint_with_room(&f, b, kind);
  free(f.who);
  return status;
}

ev_status board_joint_of(board *b, ev_host host, const board_joint **joint) {
  *joint = &b->joint;
  if (b->joint_known) return EV_OK;
  ev_status status = joint_compute(b, host, &b->joint.kind);
  b->joint_known = status == EV_OK;
  return status;
}

ev_status board_place(board *b, size_t model, ev_host host, ev_place *place) {
  const board_joint *joint;
  ev_status status = board_joint_of(b, host, &joint);
  *place = b->totals[model].place;
  return status;
}

ev_status board_prob_all(board *b, size_t model_a, size_t model_b, ev_host host, double *prob,
                         double *diff) {
  const board_joint *joint;
  ev_status status = board_joint_of(b, host, &joint);
  const board_total *x = &b->totals[model_a], *y = &b->totals[model_b];
  *prob = *diff = NAN;
  if (status != EV_OK || !b->prob_all || isnan(x->place.best) || isnan(y->place.best))
    return status;
  *prob = b->prob_all[x->joint_at * b->joint_models + y->joint_at];
  *diff = x->fitted - y->fitted;
  return EV_OK;
}
