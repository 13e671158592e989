/*
** One posterior of the accuracies of many models.
**
** y estimates theta with normal errors of the covariance S, of which only differences are known.
**
** 1. theta_i ~ N(mu, tau^2), mu flat and tau ~ U(0, 1/2).  With errors of the variances v_i,
**    o_i = 1 / (tau^2 + v_i) and mu = sum o y / sum o,
**      ln p(tau | y) = 1/2 (sum ln o_i - ln sum o_i - sum o_i (y_i - mu)^2)
**    up to a constant.  48 Gauss-Legendre nodes lie where this is above e^-30 of its maximum on
**    401 points, which are denser towards 0, one point further at both ends.  Two models do not
**    show how much models differ: tau is infinite.
** 2. At a node, B_i = tau^2 o_i; the mean of theta_i is m_i = mu + B_i (y_i - mu), and the
**    covariance C_ij = sqrt(B_i B_j) S_ij + (1 - B_i) (1 - B_j) / sum o.  The means are those of
**    errors v_i, because noise in S would order close models against their estimates; S enters
**    the spread.
** 3. P(theta_i > theta_j) is the mean over nodes of Phi((m_i - m_j) / sqrt(C_ii + C_jj - 2 C_ij)).
** 4. The least of these bounds a model's probability of being the best.  Models with a bound
**    above 1e-10 are contenders.  The probability that one is ahead of all others is taken one
**    rival at a time, the most dangerous first, by Mendell and Elston (Biometrics 30 (1974) 41):
**    a factor Phi(a), and the others are as if normal given that this one is behind.  More than
**    40 contenders: independent errors of quasi-variances (Firth and de Menezes, Biometrika 91
**    (2004) 65), and one integral per node.
** 5. The probabilities are scaled to the sum 1, each at most its bound.  The bounds sum to at
**    least 1, since the model with the most pairs above 1/2 is one of them.
** 6. Holm's method on the smaller probability of each pair, doubled, accepts orderings; a model's
**    rank begins after those accepted above it and ends before those accepted below.
**
** tests/board/joint.py compares the numbers with those of a different route by mpmath, and says
** how often they are right.
*/
#include "pooled.h"

#include <assert.h>
#include <stdlib.h>

#include "gauss.h"

enum { POOLED_NODES = 48, POOLED_GRID = 400, POOLED_MANY = 40, POOLED_STEPS = 200 };

/* Accuracies that differ by more than this have nothing to pool. */
static const double POOLED_MOST_TAU = 0.5;

static const double POOLED_LN_DROP = 30;

/* A model with a smaller bound is no contender. */
static const double POOLED_LEAST = 1e-10;

/* The smallest variance of a difference: two models may have the same answers. */
static const double POOLED_NO_VARIANCE = 1e-300;

/*
** The normal distribution
*/
static double pooled_phi(double x) {
  return erfc(-x / sqrt(2)) / 2;
}

static double pooled_ln_phi(double x) {
  static const double LN_ROOT_TWO_PI = 0.91893853320467274178;
  if (x > -25) return log(pooled_phi(x));
  double z = 1 / (x * x); /* the asymptotic series, to 1e-12 */
  return -x * x / 2 - log(-x) - LN_ROOT_TWO_PI + log1p(-z * (1 - z * (3 - 15 * z * (1 - 7 * z))));
}

/*
** Nodes
*/
typedef struct pooled_nodes {
  const double *y, *s, *v; /* given */
  size_t models, count;
  double weight[POOLED_NODES], inverse[POOLED_NODES]; /* inverse: 1 / sum o */
  double *mean, *root, *rest;                         /* nodes x models: m, sqrt(B), 1 - B */
} pooled_nodes;

/* ln p(tau | y), and mu and sum o there. */
static double pooled_density(const pooled_nodes *p, double tau, double *mu, double *total) {
  double sum = 0, weighted = 0, logs = 0, squares = 0;
  assert(p->models >= 2);
  for (size_t i = 0; i < p->models; i++) {
    double o = 1 / (tau * tau + p->v[i]);
    sum += o;
    weighted += o * p->y[i];
    logs += log(o);
  }
  *mu = weighted / sum;
  *total = sum;
  for (size_t i = 0; i < p->models; i++)
    squares += (p->y[i] - *mu) * (p->y[i] - *mu) / (tau * tau + p->v[i]);
  return (logs - log(sum) - squares) / 2;
}

static double pooled_grid_point(int k) {
  double x = (double)k / POOLED_GRID;
  return POOLED_MOST_TAU * x * x;
}

/* The stretch of tau that matters. */
static void pooled_stretch(const pooled_nodes *p, double *from, double *to) {
  double ln[POOLED_GRID + 1], most = -HUGE_VAL, mu, total;
  int first = POOLED_GRID, last = 0;
  for (int k = 0; k <= POOLED_GRID; k++) {
    ln[k] = pooled_density(p, pooled_grid_point(k), &mu, &total);
    most = fmax(most, ln[k]);
  }
  for (int k = 0; k <= POOLED_GRID; k++) {
    if (!(ln[k] > most - POOLED_LN_DROP)) continue;
    if (k < first) first = k;
    last = k;
  }
  *from = pooled_grid_point(first > 0 ? first - 1 : 0);
  *to = pooled_grid_point(last < POOLED_GRID ? last + 1 : POOLED_GRID);
}

static ev_status pooled_legendre(double *nodes, double *weights) {
  double off[POOLED_NODES];
  for (int k = 0; k < POOLED_NODES; k++) {
    double j = k + 1;
    nodes[k] = 0;
    off[k] = j / sqrt(4 * j * j - 1);
  }
  return ev_gauss_rule(nodes, off, POOLED_NODES, weights);
}

static ev_status pooled_find_nodes(pooled_nodes *p) {
  double from, to, x[POOLED_NODES], mu[POOLED_NODES], total, most = -HUGE_VAL, sum = 0;
  size_t models = p->models;
  if (models == 2) {
    p->count = 1;
    p->weight[0] = 1;
    p->inverse[0] = 0;
    for (size_t i = 0; i < models; i++) {
      p->mean[i] = p->y[i];
      p->root[i] = 1;
      p->rest[i] = 0;
    }
    return EV_OK;
  }
  p->count = POOLED_NODES;
  ev_status status = pooled_legendre(x, p->weight);
  if (status != EV_OK) return status;
  pooled_stretch(p, &from, &to);
  double ln[POOLED_NODES];
  for (size_t t = 0; t < p->count; t++) {
    double tau = from + (to - from) * (x[t] + 1) / 2;
    ln[t] = pooled_density(p, tau, &mu[t], &total);
    most = fmax(most, ln[t]);
    p->inverse[t] = 1 / total;
    for (size_t i = 0; i < models; i++) {
      double b = tau * tau / (tau * tau + p->v[i]);
      p->mean[t * models + i] = mu[t] + b * (p->y[i] - mu[t]);
      p->root[t * models + i] = sqrt(b);
      p->rest[t * models + i] = p->v[i] / (tau * tau + p->v[i]);
    }
  }
  for (size_t t = 0; t < p->count; t++) sum += p->weight[t] *= exp(ln[t] - most);
  for (size_t t = 0; t < p->count; t++) p->weight[t] /= sum;
  return isfinite(sum) && sum > 0 ? EV_OK : EV_NOT_CONVERGED;
}

static double pooled_covariance(const pooled_nodes *p, size_t t, size_t i, size_t j) {
  const double *root = p->root + t * p->models, *rest = p->rest + t * p->models;
  return root[i] * root[j] * p->s[i * p->models + j] + rest[i] * rest[j] * p->inverse[t];
}

static double pooled_difference(const pooled_nodes *p, size_t t, size_t i, size_t j) {
  return fmax(pooled_covariance(p, t, i, i) + pooled_covariance(p, t, j, j) -
                  2 * pooled_covariance(p, t, i, j),
              POOLED_NO_VARIANCE);
}

/*
** Pairs
*/
static void pooled_pair(const pooled_nodes *p, size_t i, size_t j, double *better, double *worse) {
  *better = *worse = 0;
  for (size_t t = 0; t < p->count; t++) {
    const double *m = p->mean + t * p->models;
    double z = (m[i] - m[j]) / sqrt(pooled_difference(p, t, i, j));
    double tail = pooled_phi(-fabs(z)) * p->weight[t], rest = p->weight[t] - tail;
    *better += z < 0 ? tail : rest;
    *worse += z < 0 ? rest : tail;
  }
  double sum = *better + *worse;
  *better /= sum;
  *worse /= sum;
}

static ev_status pooled_pairs(const pooled_nodes *p, ev_host host, double *prob) {
  size_t n = p->models;
  for (size_t i = 0; i < n; i++) {
    if (ev_interrupted(host)) return EV_INTERRUPTED;
    prob[i * n + i] = 0.5;
    for (size_t j = i + 1; j < n; j++) pooled_pair(p, i, j, &prob[i * n + j], &prob[j * n + i]);
  }
  return EV_OK;
}

/*
** The best
*/

/* A number to sort by, and the model that it is of. */
typedef struct pooled_key {
  double key;
  size_t model;
} pooled_key;

static int pooled_by_key(const void *a, const void *b) {
  const pooled_key *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->model > y->model) - (x->model < y->model);
}

/* The order of a contender's rivals must not hang on rounding errors. */
static double pooled_round(double x) {
  return nearbyint(x * 1e12);
}

/* Room for the recursion over the rivals of a contender. */
typedef struct pooled_ahead {
  pooled_key rivals[POOLED_MANY];
  size_t count;
  double mean[POOLED_MANY], covariance[POOLED_MANY][POOLED_MANY];
} pooled_ahead;

/* The differences to the rivals at a node. */
static void pooled_rivals(const pooled_nodes *p, size_t t, size_t i, pooled_ahead *a) {
  const double *m = p->mean + t * p->models;
  double own = pooled_covariance(p, t, i, i);
  for (size_t k = 0; k < a->count; k++) {
    size_t j = a->rivals[k].model;
    double with = pooled_covariance(p, t, i, j);
    a->mean[k] = m[i] - m[j];
    for (size_t l = k; l < a->count; l++) {
      size_t other = a->rivals[l].model;
      a->covariance[k][l] =
          pooled_covariance(p, t, j, other) - with - pooled_covariance(p, t, i, other) + own;
    }
  }
}

/* ln P(ahead of all rivals) at a node.  Only the triangle above the diagonal is kept. */
static double pooled_ln_ahead(pooled_ahead *a) {
  static const double LN_ROOT_TWO_PI = 0.91893853320467274178;
  double ln = 0;
  for (size_t k = 0; k < a->count; k++) {
    double sd = sqrt(fmax(a->covariance[k][k], POOLED_NO_VARIANCE)), x = a->mean[k] / sd;
    double ln_phi = pooled_ln_phi(x), mills = exp(-x * x / 2 - ln_phi - LN_ROOT_TWO_PI);
    double shrink = mills * (mills + x);
    ln += ln_phi;
    for (size_t l = k + 1; l < a->count; l++) a->covariance[k][l] /= sd;
    for (size_t l = k + 1; l < a->count; l++) {
      double by = shrink * a->covariance[k][l];
      a->mean[l] += mills * a->covariance[k][l];
      for (size_t r = l; r < a->count; r++) a->covariance[l][r] -= by * a->covariance[k][r];
    }
  }
  return ln;
}

static ev_status pooled_few(const pooled_nodes *p, const double *prob, const size_t *who,
                            size_t count, ev_host host, double *best) {
  pooled_ahead a;
  for (size_t c = 0; c < count; c++) {
    if (ev_interrupted(host)) return EV_INTERRUPTED;
    size_t i = who[c];
    a.count = 0;
    for (size_t d = 0; d < count; d++)
      if (d != c)
        a.rivals[a.count++] = (pooled_key){pooled_round(prob[i * p->models + who[d]]), who[d]};
    qsort(a.rivals, a.count, sizeof *a.rivals, pooled_by_key);
    for (size_t t = 0; t < p->count; t++) {
      pooled_rivals(p, t, i, &a);
      best[i] += p->weight[t] * exp(pooled_ln_ahead(&a));
    }
  }
  return EV_OK;
}

/* Standard deviations of independent errors, whose differences have nearly the given variances. */
static void pooled_quasi(const pooled_nodes *p, size_t t, const size_t *who, size_t count,
                         double *sd) {
  double total = 0, n = (double)count;
  for (size_t c = 0; c < count; c++) {
    sd[c] = 0;
    for (size_t d = 0; d < count; d++)
      if (d != c) sd[c] += pooled_difference(p, t, who[c], who[d]);
    total += sd[c];
  }
  total /= 2 * (n - 1);
  for (size_t c = 0; c < count; c++)
    sd[c] = sqrt(fmax((sd[c] - total) / (n - 2), total / n / 1000));
}

/* One node: an integral over the highest accuracy. */
static void pooled_many_at(const pooled_nodes *p, size_t t, const size_t *who, size_t count,
                           double *room, double *best) {
  const double *m = p->mean + t * p->models;
  double *sd = room, *ln = room + count, *share = room + 2 * count;
  double low = -HUGE_VAL, top = -HUGE_VAL, high = -HUGE_VAL, least = HUGE_VAL, sum = 0;
  pooled_quasi(p, t, who, count, sd);
  for (size_t c = 0; c < count; c++) {
    low = fmax(low, m[who[c]] - 4 * sd[c]);
    top = fmax(top, m[who[c]]);
    high = fmax(high, m[who[c]] + 7 * sd[c]);
    least = fmin(least, sd[c]);
    share[c] = 0;
  }
  low = fmin(low, top - 7 * least);
  for (int k = 0; k < POOLED_STEPS; k++) {
    double x = low + (high - low) * k / (POOLED_STEPS - 1), all = 0;
    for (size_t c = 0; c < count; c++) all += ln[c] = pooled_ln_phi((x - m[who[c]]) / sd[c]);
    for (size_t c = 0; c < count; c++) {
      double z = (x - m[who[c]]) / sd[c];
      share[c] += exp(all - ln[c] - z * z / 2) / sd[c];
    }
  }
  for (size_t c = 0; c < count; c++) sum += share[c];
  for (size_t c = 0; c < count; c++) best[who[c]] += p->weight[t] * share[c] / sum;
}

static ev_status pooled_many(const pooled_nodes *p, const size_t *who, size_t count, ev_host host,
                             double *best) {
  double *room = malloc(3 * count * sizeof *room);
  if (!room) return EV_NO_MEMORY;
  ev_status status = EV_OK;
  for (size_t t = 0; t < p->count && status == EV_OK; t++) {
    if (ev_interrupted(host)) status = EV_INTERRUPTED;
    pooled_many_at(p, t, who, count, room, best);
  }
  free(room);
  return status;
}

/* min(c best, bound), with the c at which the sum is 1. */
static ev_status pooled_fill(size_t count, const double *bound, double *best) {
  pooled_key *order = malloc(count * sizeof *order);
  double left = 1;
  if (!order) return EV_NO_MEMORY;
  for (size_t i = 0; i < count; i++)
    order[i] = (pooled_key){best[i] > 0 ? bound[i] / best[i] : HUGE_VAL, i};
  qsort(order, count, sizeof *order, pooled_by_key);
  for (size_t k = 0; k < count; k++) {
    double rest = 0; /* from the smallest on */
    for (size_t l = count; l-- > k;) rest += best[order[l].model];
    double scale = rest > 0 ? fmax(0, left) / rest : 0;
    if (scale <= order[k].key) {
      for (size_t l = k; l < count; l++) best[order[l].model] *= scale;
      break;
    }
    best[order[k].model] = bound[order[k].model];
    left -= bound[order[k].model];
  }
  free(order);
  return EV_OK;
}

static ev_status pooled_best(const pooled_nodes *p, const double *prob, ev_host host,
                             double *best) {
  size_t n = p->models, count = 0;
  double *bound = malloc(n * sizeof *bound);
  size_t *who = malloc(n * sizeof *who);
  ev_status status = bound && who ? EV_OK : EV_NO_MEMORY;
  for (size_t i = 0; i < n && status == EV_OK; i++) {
    best[i] = 0;
    bound[i] = 1;
    for (size_t j = 0; j < n; j++)
      if (j != i) bound[i] = fmin(bound[i], prob[i * n + j]);
    if (bound[i] > POOLED_LEAST) who[count++] = i;
  }
  if (status == EV_OK)
    status = count > POOLED_MANY ? pooled_many(p, who, count, host, best)
                                 : pooled_few(p, prob, who, count, host, best);
  if (status == EV_OK) status = pooled_fill(n, bound, best);
  free(bound);
  free(who);
  return status;
}

ev_status ev_pooled(const double *y, const double *covariance, const double *v, size_t count,
                    ev_host host, double *prob, ev_place *places) {
  pooled_nodes p = {.y = y, .s = covariance, .v = v, .models = count};
  double *room = malloc((3 * POOLED_NODES + 1) * count * sizeof *room);
  if (!room) return EV_NO_MEMORY;
  p.mean = room;
  p.root = room + POOLED_NODES * count;
  p.rest = room + 2 * POOLED_NODES * count;
  double *best = room + 3 * POOLED_NODES * count;
  ev_status status = pooled_find_nodes(&p);
  if (status == EV_OK) status = pooled_pairs(&p, host, prob);
  if (status == EV_OK) status = pooled_best(&p, prob, host, best);
  for (size_t i = 0; i < count && status == EV_OK; i++) places[i].best = best[i];
  free(room);
  return status;
}

/*
** Ranks
*/
ev_status ev_pooled_ranks(const double *prob, size_t count, const ev_options *options,
                          ev_place *places, double *least) {
  size_t pairs = count * (count - 1) / 2, at = 0;
  pooled_key *order = malloc((pairs + 1) * sizeof *order);
  if (!order) return EV_NO_MEMORY;
  for (size_t i = 0; i < count; i++) {
    places[i].rank = places[i].lo = 1;
    places[i].hi = (double)count;
    for (size_t j = 0; j < count; j++) {
      if (j != i) places[i].rank += prob[j * count + i];
      if (j > i)
        order[at++] = (pooled_key){fmin(prob[i * count + j], prob[j * count + i]), i * count + j};
    }
  }
  qsort(order, pairs, sizeof *order, pooled_by_key);
  *least = -1;
  for (size_t k = 0; k < pairs; k++) {
    if (2 * order[k].key * (double)(pairs - k) > 1 - options->level) break;
    *least = order[k].key;
    size_t i = order[k].model / count, j = order[k].model % count;
    bool first = prob[i * count + j] > prob[j * count + i];
    places[first ? i : j].hi--;
    places[first ? j : i].lo++;
  }
  free(order);
  return EV_OK;
}
