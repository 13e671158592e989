/*
** The score of a rerun: the same questions, one new attempt each.
**
**   1. Given theta and d, a question with k of n right is right again with probability
**      (d theta + k) / (d + n), independently of the others.  Questions are counted by (k, n).
**   2. So the number S of right answers has the characteristic function
**      prod (1 - p + p e^it)^times, mixed over the posterior's points (hierarchy.c).
**   3. S lies between two whole numbers except with probability 1e-13, by Bernstein's inequality
**      at every point.  With as many frequencies as there are numbers between them, the discrete
**      Fourier transform gives P(S = s) exactly, up to that probability.
**   4. Two models are independent: P(S_A > S_B) and P(S_A = S_B) are sums.
**
** The modulus of a factor falls from t = 0 to pi, so that a point's frequencies end where it is
** negligible: of 10,000 questions 30 or so are left.  Types of few questions have their factors
** multiplied, the others are powers by a logarithm and an angle.
*/
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "hierarchy.h"
#include "icc.h"
#include "lanes.h"

/* Questions by (k, n), and the posterior. */
typedef struct rerun_model {
  ev_cluster *types; /* owned */
  size_t count, few; /* those of few questions come first */
  double questions;
  ev_hierarchy h;
  ev_host host;
} rerun_model;

/* P(S = first + i). */
typedef struct rerun_scores {
  double first;
  size_t count;
  double *p; /* owned */
} rerun_scores;

/* A type of at most this many questions has a factor for each in a product; the logarithm of a
** power takes the time of about eight. */
enum { RERUN_FEW = 8 };

/* Moves the types of few questions to the front. */
static void part_types(rerun_model *m) {
  for (size_t i = 0; i < m->count; i++) {
    ev_cluster type = m->types[i];
    if (type.times > RERUN_FEW) continue;
    m->types[i] = m->types[m->few];
    m->types[m->few++] = type;
  }
}

static ev_status make_model(rerun_model *m, const ev_cluster *clusters, size_t count,
                            ev_host host) {
  *m = (rerun_model){.host = host};
  m->types = malloc(count * sizeof *m->types);
  if (!m->types) return EV_NO_MEMORY;
  m->count = ev_clusters_merge(clusters, count, m->types);
  for (size_t i = 0; i < m->count; i++) m->questions += m->types[i].times;
  /* The points leave 1e-13 of the posterior out at this level. */
  ev_options icc = {.prior = EV_PRIOR_ICC, .level = 0.999};
  ev_status status = ev_hierarchy_make(m->types, m->count, &icc, host, EV_FOR_THETA, &m->h);
  part_types(m);
  return status;
}

static void free_model(rerun_model *m) {
  free(m->types);
  ev_hierarchy_free(&m->h);
}

/* The probabilities that a question of a type is right, and that it is wrong. */
static ev_point chance_of(const ev_cluster *type, const ev_hierarchy_point *at) {
  double all = at->d + type->n;
  return (ev_point){(at->d * at->theta + type->k) / all,
                    (at->d * at->other + (type->n - type->k)) / all};
}

/* Points of lower weight are left out; there are about ten thousand. */
static const double RERUN_LEAST_WEIGHT = 1e-16;

/* -ln of the mass that Bernstein's inequality may leave outside, on each side. */
static const double RERUN_LN_OUTSIDE = 30;

/* The range of S. */
static void find_window(const rerun_model *m, rerun_scores *s) {
  double low = HUGE_VAL, high = 0, third = RERUN_LN_OUTSIDE / 3;
  for (size_t i = 0; i < m->h.count; i++) {
    double mean = 0, variance = 0;
    if (m->h.points[i].weight < RERUN_LEAST_WEIGHT) continue;
    for (size_t t = 0; t < m->count; t++) {
      ev_point p = chance_of(&m->types[t], &m->h.points[i]);
      mean += m->types[t].times * p.x;
      variance += m->types[t].times * p.x * p.y;
    }
    double reach = third + sqrt(third * third + 2 * RERUN_LN_OUTSIDE * variance);
    low = fmin(low, mean - reach);
    high = fmax(high, mean + reach);
  }
  s->first = fmax(0, floor(low));
  s->count = (size_t)(fmin(m->questions, ceil(high)) - s->first) + 1;
}

/* Frequencies t = 2 pi j / count, four at a time. */
typedef struct frequencies {
  size_t groups;
  ev_lanes_kept *sine, *half_square; /* sin t and sin^2(t/2) */
  ev_lanes_kept *real, *imaginary;   /* the characteristic function of S - first */
  void *room;                        /* owned */
  ev_point *chances;                 /* owned; of the questions of types of few, at a point */
} frequencies;

/* Products that are multiplied side by side. */
enum { RERUN_CHAINS = 4 };

static ev_status make_frequencies(size_t count, size_t types, frequencies *f) {
  f->groups = count / 2 / EV_LANES + 1;
  ev_lanes_kept *room = f->room = calloc(4 * f->groups, sizeof *room);
  f->chances = malloc((RERUN_FEW * types + RERUN_CHAINS) * sizeof *f->chances);
  if (!room || !f->chances) return EV_NO_MEMORY;
  f->sine = room, f->half_square = room + f->groups;
  f->real = room + 2 * f->groups, f->imaginary = room + 3 * f->groups;
  for (size_t j = 0; j < f->groups * EV_LANES; j++) {
    double t = 2 * M_PI * (double)j / (double)count;
    f->sine[j / EV_LANES][j % EV_LANES] = sin(t);
    f->half_square[j / EV_LANES][j % EV_LANES] = gsl_pow_2(sin(t / 2));
  }
  return EV_OK;
}

/* -ln of the modulus at which a point no longer contributes. */
static const double RERUN_LN_CUT = 40;

EV_INLINE void multiply_by(const ev_lanes *x, const ev_lanes *y, ev_lanes *re, ev_lanes *im) {
  ev_lanes last = *re;
  *re = last * *x - *im * *y;
  *im = last * *y + *im * *x;
}

/* The product of factors, whose number is a multiple of RERUN_CHAINS.  Its modulus is at most 1;
** where it underflows it is negligible. */
EV_INLINE void multiply_factors(const ev_point *p, size_t count, const ev_lanes *sine,
                                const ev_lanes *half_square, ev_lanes *re, ev_lanes *im) {
  ev_lanes x[RERUN_CHAINS], y[RERUN_CHAINS];
  for (int c = 0; c < RERUN_CHAINS; c++) x[c] = (ev_lanes){1, 1, 1, 1}, y[c] = (ev_lanes){0};
  for (size_t i = 0; i < count; i += RERUN_CHAINS)
    for (int c = 0; c < RERUN_CHAINS; c++) {
      ev_lanes right = 1 - 2 * p[i + (size_t)c].x * *half_square, up = p[i + (size_t)c].x * *sine;
      multiply_by(&right, &up, &x[c], &y[c]);
    }
  *re = x[0], *im = y[0];
  for (int c = 1; c < RERUN_CHAINS; c++) multiply_by(&x[c], &y[c], re, im);
}

/* Adds a point's characteristic function, of S less the whole number that is first. */
EV_WIDE static void add_point(const rerun_model *m, const ev_hierarchy_point *at, double first,
                              size_t count, frequencies *f) {
  size_t factors = 0;
  for (size_t t = 0; t < m->few; t++)
    for (double i = 0; i < m->types[t].times; i++)
      f->chances[factors++] = chance_of(&m->types[t], at);
  while (factors % RERUN_CHAINS) f->chances[factors++].x = 0; /* factors of 1 */
  for (size_t g = 0; g < f->groups; g++) {
    ev_lanes ln = {0}, angle = {0}, re, im, cosine, sine, turns;
    ev_lanes sine_t = f->sine[g], half_square = f->half_square[g];
    for (int j = 0; j < EV_LANES; j++)
      angle[j] = -first * (2 * M_PI * (double)(g * EV_LANES + (size_t)j) / (double)count);
    multiply_factors(f->chances, factors, &sine_t, &half_square, &re, &im);
    for (size_t t = m->few; t < m->count; t++) {
      ev_point p = chance_of(&m->types[t], at);
      ev_lanes x = 1 - 2 * p.x * half_square, y = p.x * sine_t, of;
      ev_lanes square = 1 - 4 * p.x * p.y * half_square;
      ev_log(&square, 1);
      ev_angle(&x, &y, &of);
      ln += m->types[t].times / 2 * square;
      angle += m->types[t].times * of;
    }
    if (ln[0] + log(re[0] * re[0] + im[0] * im[0]) / 2 < -RERUN_LN_CUT) return;
    turns = angle * (1 / (2 * M_PI));
    for (int j = 0; j < EV_LANES; j++) turns[j] = rint(turns[j]);
    angle -= turns * (2 * M_PI);
    ev_sincos(&angle, &cosine, &sine);
    ev_exp(&ln, 1);
    multiply_by(&cosine, &sine, &re, &im);
    f->real[g] += at->weight * ln * re;
    f->imaginary[g] += at->weight * ln * im;
  }
}

/* P(S = first + i) from the characteristic function. */
static void invert(const frequencies *f, rerun_scores *s) {
  double n = (double)s->count;
  for (size_t i = 0; i < s->count; i++) {
    double sum = f->real[0][0];
    for (size_t j = 1; 2 * j <= s->count; j++) {
      double re = f->real[j / EV_LANES][j % EV_LANES],
             im = f->imaginary[j / EV_LANES][j % EV_LANES];
      if (re == 0 && im == 0) break;
      double angle = 2 * M_PI * (double)(i * j % s->count) / n;
      sum += (2 * j == s->count ? 1 : 2) * (re * cos(angle) + im * sin(angle));
    }
    s->p[i] = fmax(0, sum / n);
  }
}

static ev_status find_scores(const rerun_model *m, rerun_scores *s) {
  frequencies f = {0};
  find_window(m, s);
  s->p = malloc(s->count * sizeof *s->p);
  ev_status status = s->p ? make_frequencies(s->count, m->count, &f) : EV_NO_MEMORY;
  for (size_t i = 0; i < m->h.count && status == EV_OK; i++) {
    if (m->h.points[i].weight < RERUN_LEAST_WEIGHT) continue;
    add_point(m, &m->h.points[i], s->first, s->count, &f);
    if (ev_interrupted(m->host)) status = EV_INTERRUPTED;
  }
  if (status == EV_OK) invert(&f, s);
  free(f.room);
  free(f.chances);
  return status;
}

/* The distribution of the score of these questions; to be freed whatever the status. */
static ev_status rerun(const ev_cluster *clusters, size_t count, ev_host host, rerun_scores *s) {
  rerun_model m;
  *s = (rerun_scores){0};
  ev_status status = make_model(&m, clusters, count, host);
  if (status == EV_OK) status = find_scores(&m, s);
  free_model(&m);
  return status;
}

/* Probabilities this close to the tail, as a share of it, are equal to it. */
static const double RERUN_TIE = 1e-9;

ev_status ev_rerun(const ev_cluster *clusters, size_t count, const ev_options *options,
                   ev_host host, ev_interval *ci) {
  rerun_scores s;
  double tail = ev_tail(options) * (1 + RERUN_TIE), questions = 0;
  for (size_t i = 0; i < count; i++) questions += clusters[i].times;
  ev_status status = rerun(clusters, count, host, &s);
  if (status == EV_OK) {
    size_t low = 0, high = s.count - 1;
    double below = 0, above = 0;
    while (low < high && (below += s.p[low]) <= tail) low++;
    while (high > low && (above += s.p[high]) <= tail) high--;
    *ci = (ev_interval){(s.first + (double)low) / questions, (s.first + (double)high) / questions};
  }
  free(s.p);
  return status;
}

/* P(S_x > S_y), and P(S_x = S_y). */
static double chance_ahead(const rerun_scores *x, const rerun_scores *y, double *tie) {
  double ahead = 0, below = 0; /* P(S_y < s) */
  size_t j = 0;
  *tie = 0;
  for (size_t i = 0; i < x->count; i++) {
    double score = x->first + (double)i;
    for (; j < y->count && y->first + (double)j < score; j++) below += y->p[j];
    ahead += x->p[i] * below;
    if (j < y->count && y->first + (double)j == score) *tie += x->p[i] * y->p[j];
  }
  return ahead;
}

ev_status ev_rerun_prob(const ev_cluster *a, size_t count_a, const ev_cluster *b, size_t count_b,
                        ev_host host, double *p) {
  rerun_scores x = {0}, y = {0};
  ev_status status = rerun(a, count_a, host, &x);
  if (status == EV_OK) status = rerun(b, count_b, host, &y);
  if (status == EV_OK) {
    double tie, ahead = chance_ahead(&x, &y, &tie), behind = chance_ahead(&y, &x, &tie);
    double smaller =
        ev_with_exact_complement((fmin(ahead, behind) + tie / 2) / (ahead + behind + tie));
    *p = ahead < behind ? smaller : 1 - smaller;
  }
  free(x.p);
  free(y.p);
  return status;
}
