/*
** The bivariate probit of Bowyer et al. 2025, section 3.4: on each question the models have
** latent scores (a, b), normal with unit variances, means mu_A = Phi^-1(theta_A) and
** mu_B = Phi^-1(theta_B) and correlation rho; a score above zero is a right answer.
** theta_A, theta_B ~ U(0,1), (1+rho)/2 ~ Beta(4,2).
**
** With d = theta_A - theta_B > 0 and I the probability that only B is right, the four cells are
**
**     both low - I,  neither high - I,  only A d + I,  only B I,
**     low = theta_B,  high = 1 - theta_A,  low + high = 1 - d
**
** (for theta_A < theta_B the models change places).  On the scale x, e^x = sqrt((1-rho)/(1+rho)),
** Plackett's formula (Biometrika 41 (1954) 351-360) is
**
**     dI/dx = exp(-d2 (1 + e^-2x) - s2 (1 + e^2x)) / (2 pi cosh x),
**     d2 = (mu_A - mu_B)^2 / 8,  s2 = (mu_A + mu_B)^2 / 8,
**
** and I = low high at x = 0, where the scores are independent.
**
** marginal.c asks for the density of z = atanh(theta_A - theta_B) at 15 to 340 values.  At each
** it is a double integral, over the position on the line theta_A - theta_B = const and over x:
**
**   1. Find where the line peaks: the cells that maximize the likelihood among those of this
**      difference, from a quadratic.  Likelihoods are computed relative to that.
**   2. Walk from there both ways along the line by the trapezoid rule, a block of four positions
**      at a time, until the terms are negligible.  A position is a score s; t = c sinh(s/c);
**      low and high are shares of the line by a logistic of a cubic in t that is within 2e-4 of
**      the normal distribution.
**   3. At a block, compute dI/dx at nodes ln 2 / 8 apart in x.  e^2x doubles every four nodes,
**      so that 1 - exp(-s2 e^2x) = u becomes u (2 - u), and likewise 1 - exp(-d2 e^-2x)
**      downward: no exponential is computed.
**   4. Sum over x by the trapezoid rule, a chunk of four points at a time, both ways from where
**      the last block peaked, until the terms are negligible.  I at a point is the sum of the
**      rates up to there and a combination of the 12 about it.  The likelihood is a product of
**      whole powers, by repeated squaring.
**   5. Terms with alternating signs sum to the error of a step twice as long.  If that is more
**      than allowed in s or in x, shorten that step for this and all lines to come, and go to 2.
**
** References:
**   Golub and Van Loan, Matrix Computations, 4.6: the Vandermonde systems of step 4's weights.
**   Trefethen and Weideman, SIAM Review 56 (2014) 385-458: the trapezoid rule's error.
*/
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "lanes.h"
#include "marginal.h"
#include "normal.h"
#include "paired.h"
#include "root.h"

/* Nodes per doubling of e^2x; twice as many from PAIRED_DENSE_FROM pairs on, which resolve an error
** of I of 1e-10 of the rates.  800 nodes span 69 units of x, or 34; 10^14 questions need 30. */
enum { PAIRED_OCTAVE = 4, PAIRED_DENSE_OCTAVE = 8, PAIRED_NODES = 800 };
static const double PAIRED_DENSE_FROM = 20000;

/* The most chunks that a sum took were 75, of (201783128, 5591945, 1078652, 0), and the most
** blocks one way 60, of (10^9, 0, 0, 0). */
enum { PAIRED_CHUNKS = 120, PAIRED_BLOCKS = 100 };

/* Nodes that I is interpolated from, and the first of them from the node at or below a point. */
enum { PAIRED_STENCIL = 12, PAIRED_STENCIL_FIRST = -5 };

/* The logistic of SCORE t + CUBIC t^3 is nearly the normal distribution. */
static const double PAIRED_SCORE = 1.5976, PAIRED_CUBIC = 0.07056;

/* A sum ends where its terms are less than this share of the largest: with 1e-10 bounds are the
** same to 1e-9, with 5e-8 to 5e-9. */
static const double PAIRED_DROP = 5e-9;

/* The density is followed so far below the tail that is asked about: e^-18 is 1.5e-8. */
static const double PAIRED_LN_DROP = 18;

/* Four points x of the sum: the node at or below each, the prior, and the weights that give I. */
typedef struct paired_chunk {
  bool ready;
  int node[EV_LANES];
  double prior[EV_LANES], weight[EV_LANES][PAIRED_STENCIL];
} paired_chunk;

/* Cells are in the order both, neither, only A, only B; on a line: both, neither, only the
** better model, only the other, which is I. */
typedef struct paired_model {
  double counts[4], n; /* n is their sum and 4 */
  double cells[4];     /* about where the posterior peaks: one pair more in each */
  uint64_t top_bit;    /* of the largest count */
  double ln_tail;
  int octave, zero;            /* nodes to a doubling of e^2x, and the node at x = 0 */
  double node_step;            /* in x */
  double square[PAIRED_NODES]; /* e^2x */
  double factor[PAIRED_NODES]; /* what of dI/dx does not depend on the thetas, times the step */
  double first_x, x_step;      /* points of the sum over x */
  paired_chunk chunks[PAIRED_CHUNKS];
  int low, high;  /* chunks that sums took so far */
  double bend;    /* c of t = c sinh(s/c) */
  double s_step;  /* in standard deviations of a line */
  double ln_most; /* the highest density so far */
  bool failed;    /* a sum did not end within the grid, or no step suits */
} paired_model;

typedef struct paired_line {
  double d, length;   /* |theta_A - theta_B| and 1 less that */
  uint64_t counts[4]; /* of the cells; */
  double inverse[4];  /* 1 over the cells where the line peaks, */
  double ln_peak;     /* ln of the likelihood there, relative to the model's cells, */
  double s, sd;       /* the position there, and the standard deviation about it */
  double step;        /* between positions */
  int chunk;          /* where the last of them peaked; -1 before */
  double most;        /* the largest term so far */
  ev_lanes sum;       /* of the terms, each lane apart */
  double x_error;     /* of their sum, with a step in x twice as long */
} paired_line;

/* A pair of thetas in each lane, and the weight of its position. */
typedef struct paired_thetas {
  ev_lanes low, high, weight, d2, s2;
} paired_thetas;

/* dI/dx at the nodes, times their step and without exp(-d2 - s2); and its sums. */
typedef struct paired_rates {
  ev_lanes rate[PAIRED_NODES], sum[PAIRED_NODES];
  ev_lanes begin, height; /* I is begin + height times the integral of the rates */
} paired_rates;

EV_INLINE double larger(double a, double b) {
  return a > b ? a : b;
}

EV_INLINE double most_of_lanes(const ev_lanes *x) {
  return larger(larger((*x)[0], (*x)[1]), larger((*x)[2], (*x)[3]));
}

/* Step 1: where a line peaks */

/* The t at which low is this share of the line: Cardano's formula. */
static double t_of_share(double share, double rest) {
  double p = PAIRED_SCORE / PAIRED_CUBIC, q = log(share / rest) / PAIRED_CUBIC;
  return 2 * sqrt(p / 3) * sinh(asinh(1.5 * q / p * sqrt(3 / p)) / 3);
}

/* The standard deviation of t on a line, about: from the curvature of the likelihood, with one
** pair more in each cell, and that of the normal prior. */
static double sd_of_t(const double counts[4], const double cells[4], double t) {
  double a[4];
  for (int i = 0; i < 4; i++) a[i] = (counts[i] + 1) / gsl_pow_2(cells[i]);
  double same = a[0] + a[1], differ = a[2] + a[3];
  double by_t =
      (cells[0] + cells[1] + 2 * fmin(cells[2], cells[3])) * exp(-t * t / 2) / sqrt(2 * M_PI);
  return 1 / sqrt(1 + gsl_pow_2(by_t) * (4 * a[0] * a[1] + same * differ) / (same + differ));
}

/* With one pair more in each cell, I is the positive root of
** 2 n I^2 - half I - behind d (1 - d) = 0, in the form that does not cancel. */
static void find_line_peak(const paired_model *q, bool a_ahead, paired_line *l) {
  const int at[] = {0, 1, a_ahead ? 2 : 3, a_ahead ? 3 : 2};
  const double *c = q->counts;
  double counts[4], same = c[0] + c[1] + 2, differ = c[2] + c[3] + 2, behind = c[at[3]] + 1;
  double product = behind * l->d * l->length;
  double half = differ * l->length - 2 * l->d * (behind + same);
  double root = sqrt(half * half + 8 * q->n * product);
  double I = half > 0 ? (half + root) / (4 * q->n) : 2 * product / (root - half);
  double rest = (l->length - 2 * I) / same;
  const double cells[] = {rest * (c[0] + 1), rest * (c[1] + 1), l->d + I, I};
  l->ln_peak = 0;
  for (int i = 0; i < 4; i++) {
    counts[i] = c[at[i]];
    l->counts[i] = (uint64_t)counts[i];
    l->inverse[i] = 1 / cells[i];
    /* of 1 / cell as it is rounded, which 10^14 questions make 0.02 of the likelihood */
    l->ln_peak -= counts[i] * log1p(fma(l->inverse[i], q->cells[at[i]], -1));
  }
  double t = t_of_share(cells[0] + I, cells[1] + I);
  l->s = q->bend * asinh(t / q->bend);
  l->sd = sd_of_t(counts, cells, t) / hypot(1, t / q->bend);
}

/* Step 2: positions on a line */

EV_INLINE void set_means(double d, paired_thetas *p) {
  ev_lanes lesser = {0}, greater = {0};
  for (int i = 0; i < EV_LANES; i++) {
    lesser[i] = ev_deviate_of(p->low[i], p->high[i] + d);
    greater[i] = ev_deviate_of(p->low[i] + d, p->high[i]);
  }
  p->d2 = (greater - lesser) * (greater - lesser) / 8;
  p->s2 = (greater + lesser) * (greater + lesser) / 8;
}

/* The pairs at the scores s. */
EV_INLINE void thetas_at(const ev_lanes *s, double bend, const paired_line *l, paired_thetas *p) {
  ev_lanes up = *s / bend;
  ev_exp(&up, 1);
  ev_lanes t = (up - 1 / up) * (bend / 2), by_s = (up + 1 / up) / 2, t2 = t * t;
  ev_lanes e = -t * (PAIRED_SCORE + PAIRED_CUBIC * t2);
  ev_exp(&e, 1);
  ev_lanes share = 1 / (1 + e), rest = e * share;
  p->weight = share * rest * (PAIRED_SCORE + 3 * PAIRED_CUBIC * t2) * by_s;
  p->low = l->length * share;
  p->high = l->length * rest;
  set_means(l->d, p);
}

/* Step 3: I along x */

/* Makes 1 - e^-a of a: by its series, once a is halved until it is small. */
EV_INLINE void complements(ev_lanes *a, int octave) {
  double most = larger(most_of_lanes(&a[0]), most_of_lanes(&a[octave - 1])), half = 1;
  int halvings = 0;
  for (; most * half > 0.25; halvings++) half /= 2;
#pragma GCC unroll 4
  for (int i = 0; i < octave; i++) {
    ev_lanes x = a[i] * half, series = 1 - x * (1.0 / 10);
#pragma GCC unroll 8
    for (int k = 9; k > 1; k--) series = 1 - x * (1.0 / k) * series;
    a[i] = x * series;
  }
  for (; halvings > 0; halvings--)
#pragma GCC unroll 4
    for (int i = 0; i < octave; i++) a[i] *= 2 - a[i];
}

/* The rates at the nodes from one up to another, whole octaves of them. */
EV_INLINE void rates_by_octaves(const paired_model *q, const paired_thetas *p, int from, int to,
                                int octave, paired_rates *r) {
  ev_lanes u[PAIRED_DENSE_OCTAVE], v[PAIRED_DENSE_OCTAVE], sum = {0};
  assert(octave > 0 && octave <= PAIRED_DENSE_OCTAVE);
  for (int i = 0; i < octave; i++) {
    u[i] = p->s2 * q->square[from + i];
    v[i] = p->d2 / q->square[to - octave + i];
  }
  complements(u, octave);
  complements(v, octave);
  for (int k = to - octave; k >= from; k -= octave)
#pragma GCC unroll 4
    for (int i = 0; i < octave; i++) {
      r->rate[k + i] = (1 - v[i]) * q->factor[k + i];
      v[i] *= 2 - v[i];
    }
  for (int k = from; k < to; k += octave)
#pragma GCC unroll 4
    for (int i = 0; i < octave; i++) {
      r->rate[k + i] *= 1 - u[i];
      sum += r->rate[k + i];
      r->sum[k + i] = sum;
      u[i] *= 2 - u[i];
    }
}

/* The weights of the rates at nodes -5 to 6 that make of their sum up to node 0 the integral up
** to f, 0 <= f < 1: right for s^m, m up to 11, if the sum over nodes j of weight_j j^m is
** (f^(m+1) - B_(m+1)) / (m+1), B being Bernoulli's numbers with B_1 = 1/2. */
static void set_weights(double f, double w[PAIRED_STENCIL]) {
  static const double bernoulli[PAIRED_STENCIL] = {
      1.0 / 2, 1.0 / 6, 0, -1.0 / 30, 0, 1.0 / 42, 0, -1.0 / 30, 0, 5.0 / 66, 0, -691.0 / 2730};
  const int n = PAIRED_STENCIL - 1;
  double power = f;
  for (int m = 0; m <= n; m++, power *= f) w[m] = (power - bernoulli[m]) / (m + 1);
  for (int k = 0; k < n; k++)
    for (int i = n; i > k; i--) w[i] -= (PAIRED_STENCIL_FIRST + k) * w[i - 1];
  for (int k = n - 1; k >= 0; k--) {
    for (int i = k + 1; i <= n; i++) w[i] /= k + 1;
    for (int i = k; i < n; i++) w[i] -= w[i + 1];
  }
}

/* The integral of the rates up to a point at or above a node. */
EV_INLINE void integral_at(const double *weight, const paired_rates *r, int node, ev_lanes *out) {
  const ev_lanes *rate = &r->rate[node + PAIRED_STENCIL_FIRST];
  *out = r->sum[node];
#pragma GCC unroll 12
  for (int j = 0; j < PAIRED_STENCIL; j++) *out += weight[j] * rate[j];
}

/* The integral of the rates up to x = 0 is their sum, less half of the last, and these weights
** times the differences of the rates equally far on either side: right for polynomials of degree
** 20, if the sum over i of 2 weight_i i^(2j-1) is -B_2j / 2j, j from 1 to 10.  Every I is off by
** what this is, and a cell of 10^14 may be 1e-13 of I, so it takes in more nodes. */
enum { PAIRED_DIFFERENCES = 10 };
static const double to_zero[PAIRED_DIFFERENCES] = {
    -0.080365661345810828717,    0.032613978070275402413,    -0.013652438870049956188,
    0.0051601020228053844153,    -0.0016575675651416164179,  0.00043258169685274427981,
    -0.000087357695672355695049, 0.000012750610206552040168, -1.1937472380896441179e-6,
    5.3741531018487757092e-8};

/* Nodes that rates are computed at beyond those that are asked for, at the least and the most. */
enum { PAIRED_NEAR = 12, PAIRED_MARGIN = PAIRED_NEAR + PAIRED_DENSE_OCTAVE };

/* The rates at the nodes from one to another, at x = 0, and at all that I there needs. */
EV_INLINE void set_rates(const paired_model *q, const paired_thetas *p, int from, int to,
                         paired_rates *r) {
  from = (from < q->zero ? from : q->zero) - PAIRED_NEAR;
  to = (to > q->zero ? to : q->zero) + PAIRED_NEAR;
  to += (q->octave - (to - from) % q->octave) % q->octave;
  /* Compiled apart for 4 nodes to an octave, which stay in registers. */
  if (q->octave == PAIRED_OCTAVE)
    rates_by_octaves(q, p, from, to, PAIRED_OCTAVE, r);
  else
    rates_by_octaves(q, p, from, to, q->octave, r);
  const ev_lanes *zero = &r->rate[q->zero];
  ev_lanes at_zero = r->sum[q->zero] - 0.5 * zero[0];
  for (int i = 0; i < PAIRED_DIFFERENCES; i++) at_zero += to_zero[i] * (zero[i + 1] - zero[-i - 1]);
  r->height = -p->d2 - p->s2;
  ev_exp(&r->height, 1);
  r->begin = p->low * p->high - r->height * at_zero;
}

/* The x at which I, in the first lane, is as large as given, between two nodes: bisection to one
** node, then Newton's method where points are closer than nodes. */
EV_INLINE double x_of_I(const paired_model *q, const paired_rates *r, double I, int from, int to) {
  double integral = (I - r->begin[0]) / r->height[0];
  while (to - from > 1) {
    int middle = (from + to) / 2;
    bool below = r->sum[middle][0] - r->rate[middle][0] / 2 < integral;
    from = below ? middle : from;
    to = below ? to : middle;
  }
  double here = r->rate[from][0], next = r->rate[to][0];
  double f = fmax(0, fmin(1, 2 * (integral - r->sum[from][0] + here / 2) / (here + next)));
  for (int i = 0; i < 5 && q->node_step > 8 * q->x_step; i++) {
    double w[PAIRED_STENCIL];
    ev_lanes at;
    set_weights(f, w);
    integral_at(w, r, from, &at);
    /* Bisection may have missed the node by a little. */
    f = fmax(-0.5, fmin(1.5, f + (integral - at[0]) / (here + f * (next - here))));
  }
  return (from + f - q->zero) * q->node_step;
}

/* Step 4: the sum over x */

static double chunk_x(const paired_model *q, int chunk) {
  return q->first_x + EV_LANES * chunk * q->x_step;
}
static int node_below(const paired_model *q, double x) {
  return q->zero + (int)floor(x / q->node_step);
}

/* The prior is (1+rho)^3 (1-rho) drho = e^4x / (1+e^2x)^6 dx, up to a constant. */
static void set_chunk(const paired_model *q, int chunk, paired_chunk *p) {
  for (int i = 0; i < EV_LANES; i++) {
    double x = chunk_x(q, chunk) + i * q->x_step, e2 = exp(2 * x);
    p->prior[i] = e2 * e2 / gsl_pow_6(1 + e2);
    p->node[i] = node_below(q, x);
    set_weights(x / q->node_step - (p->node[i] - q->zero), p->weight[i]);
  }
  p->ready = true;
}

/* The likelihood, relative to the line's peak, times the prior at the points of a chunk. */
EV_INLINE void terms_of_chunk(const paired_model *q, const paired_line *l, const paired_thetas *p,
                              const paired_rates *r, const paired_chunk *at,
                              ev_lanes term[EV_LANES]) {
  ev_lanes cell[4][EV_LANES];
#pragma GCC unroll 4
  for (int i = 0; i < EV_LANES; i++) {
    ev_lanes I;
    integral_at(at->weight[i], r, at->node[i], &I);
    I = r->begin + r->height * I;
    ev_at_least(&I, 0);
    ev_lanes both = p->low - I, neither = p->high - I;
    ev_at_least(&both, 0);
    ev_at_least(&neither, 0);
    cell[0][i] = both * l->inverse[0];
    cell[1][i] = neither * l->inverse[1];
    cell[2][i] = (l->d + I) * l->inverse[2];
    cell[3][i] = I * l->inverse[3];
    term[i] = (ev_lanes){1, 1, 1, 1};
  }
  for (uint64_t bit = q->top_bit; bit; bit /= 2) {
#pragma GCC unroll 4
    for (int i = 0; i < EV_LANES; i++) term[i] *= term[i];
    for (int c = 0; c < 4; c++)
      if (l->counts[c] & bit)
#pragma GCC unroll 4
        for (int i = 0; i < EV_LANES; i++) term[i] *= cell[c][i];
  }
#pragma GCC unroll 4
  for (int i = 0; i < EV_LANES; i++) term[i] *= at->prior[i];
}

typedef struct paired_sum {
  ev_lanes total, alternating; /* the latter with signs that alternate */
  double most, negligible;     /* the largest sum of a chunk, and what ends the sum */
  int peak;                    /* the chunk of the largest */
} paired_sum;

/* Adds a chunk.  Says whether to go on, up or down. */
EV_INLINE bool add_chunk(paired_model *q, const paired_line *l, const paired_thetas *p,
                         const paired_rates *r, int chunk, bool up, paired_sum *sum) {
  ev_lanes term[EV_LANES];
  if (!q->chunks[chunk].ready) set_chunk(q, chunk, &q->chunks[chunk]);
  terms_of_chunk(q, l, p, r, &q->chunks[chunk], term);
  ev_lanes part = (term[0] + term[1]) + (term[2] + term[3]);
  sum->total += part;
  sum->alternating += (term[0] - term[1]) + (term[2] - term[3]);
  double here = most_of_lanes(&part), last = most_of_lanes(&term[up ? EV_LANES - 1 : 0]);
  if (here > sum->most) {
    sum->most = here;
    sum->peak = chunk;
  }
  bool rising = sum->peak == chunk && last > 0 && last >= most_of_lanes(&term[up ? 0 : 3]);
  return rising || last > larger(sum->negligible, PAIRED_DROP * sum->most);
}

/* Sums both ways from where the last block peaked, within the chunks in use.  Gives 1 if more
** are needed above, -1 if below, else 0. */
EV_INLINE int sum_chunks(paired_model *q, const paired_line *l, const paired_thetas *p,
                         const paired_rates *r, paired_sum *sum) {
  bool on = true;
  sum->total = sum->alternating = (ev_lanes){0};
  sum->most = 0;
  sum->peak = l->chunk;
  for (int k = l->chunk; on && k <= q->high; k++) on = add_chunk(q, l, p, r, k, true, sum);
  if (on) return 1;
  on = true;
  for (int k = l->chunk - 1; on && k >= q->low; k--) on = add_chunk(q, l, p, r, k, false, sum);
  return on ? -1 : 0;
}

/* The chunk that the first block's sum begins with: there I maximizes the likelihood at the first
** position, with one pair more in each cell. */
EV_INLINE int first_chunk(const paired_model *q, const paired_line *l, const paired_thetas *p,
                          const paired_rates *r, int from, int to) {
  double low = p->low[0], high = p->high[0], edge = fmin(low, high), I = edge / 2, c[4];
  ev_bracket in = {0, edge};
  for (int i = 0; i < 4; i++) c[i] = (double)l->counts[i] + 1;
  for (int i = 0; i < 60 && in.high - in.low > 0.25 * q->x_step * fmin(in.low, edge - in.high);
       i++) {
    double slope = c[2] / (l->d + I) + c[3] / I - c[0] / (low - I) - c[1] / (high - I);
    I = ev_bracket_next(&in, I, !(slope > 0), NAN);
  }
  double x = x_of_I(q, r, I, from, to);
  return (int)fmax(0, fmin(PAIRED_CHUNKS - 1, (x - q->first_x) / (EV_LANES * q->x_step)));
}

/* The terms of a block of four positions, counted in blocks from s = 0: weighted sums over x.
** Chunks that are needed but not yet in use are used from here on. */
EV_WIDE static void sum_block(paired_model *q, paired_line *l, double block, ev_lanes *term) {
  paired_thetas p;
  paired_rates r;
  paired_sum sum;
  double s = block * EV_LANES * l->step;
  ev_lanes score = {s, s + l->step, s + 2 * l->step, s + 3 * l->step};
  thetas_at(&score, q->bend, l, &p);
  sum.negligible = PAIRED_DROP * l->most / most_of_lanes(&p.weight);
  int beyond = q->node_step > 8 * q->x_step ? 4 : 0; /* nodes, where points are closer than these */
  for (int more = 1; more;) {
    int from = node_below(q, chunk_x(q, q->low)), to = node_below(q, chunk_x(q, q->high + 1));
    q->failed |= q->low < 0 || q->high >= PAIRED_CHUNKS || from < PAIRED_MARGIN ||
                 to > PAIRED_NODES - PAIRED_MARGIN;
    if (q->failed) return;
    set_rates(q, &p, from, to, &r);
    if (l->chunk < 0) l->chunk = first_chunk(q, l, &p, &r, from - beyond, to + beyond);
    if (l->chunk >= q->low && l->chunk <= q->high) {
      more = sum_chunks(q, l, &p, &r, &sum);
      if (more > 0) q->high += 2;
      if (more < 0) q->low -= 2;
    }
    q->low = l->chunk < q->low ? l->chunk : q->low;
    q->high = l->chunk > q->high ? l->chunk : q->high;
  }
  l->chunk = sum.peak;
  *term = sum.total * p.weight;
  for (int i = 0; i < EV_LANES; i++) l->x_error += fabs(sum.alternating[i]) * p.weight[i];
}

/* Step 5: a line, in steps that suit it */

/* Sums blocks in one direction, beginning with one, until the terms are negligible. */
static void walk_line(paired_model *q, paired_line *l, double block, int by) {
  double outer = HUGE_VAL;
  for (int i = 0; outer > PAIRED_DROP * l->most && !q->failed; i++) {
    ev_lanes term = {0};
    q->failed |= i == PAIRED_BLOCKS;
    if (!q->failed) sum_block(q, l, block + by * i, &term);
    l->sum += term;
    l->most = larger(l->most, most_of_lanes(&term));
    outer = term[by > 0 ? EV_LANES - 1 : 0];
  }
}

/* The relative error that is allowed of a step twice as long.  That of the step itself is the
** square where the integrand has a pole off the axis, and the fourth power where it is normal, as
** it nearly is in x.  Of 9,700 random tables up to 10^9, bounds were within 4e-9 of another
** program's.  The first line's x is held to a quarter, so that later ones keep its step. */
static const double PAIRED_S_ERROR = 4.5e-5, PAIRED_SMALL_S_ERROR = 1e-7;
static const double PAIRED_X_ERROR = 2e-4, PAIRED_FIRST_LINE = 0.25;

/* A line farther out than the requested tail may have a larger error in x, by the factor that its
** density is lower, up to e^8; with e^4 it took a tenth more time.  The relative rounding of the
** likelihood per question, and the most that is allowed for it. */
static const double PAIRED_LN_OUT = 8, PAIRED_ROUNDING = 1e-15, PAIRED_MOST_ROUNDING = 0.5;

/* The longest steps, which suffice for the prior alone.  A line is summed again with other steps at
** most 10 times; 6 was the largest number observed. */
static const double PAIRED_LONGEST_S_STEP = 0.45, PAIRED_LONGEST_X_STEP = 0.225;
enum { PAIRED_WALKS = 10 };

/* The prior falls as e^4x left of the peak and as e^-8x right of it: more points lie left. */
static void set_x_step(paired_model *q, double step) {
  const int peak = PAIRED_CHUNKS * 2 / 3;
  q->first_x += EV_LANES * peak * (q->x_step - step);
  q->x_step = step;
  q->low = peak - 2;
  q->high = peak + 1;
  q->ln_most = -HUGE_VAL;
  for (int i = 0; i < PAIRED_CHUNKS; i++) q->chunks[i].ready = false;
}

/* Adapts the steps to the errors of a line; true if the errors were small enough.  Steps change by
** fixed factors, because errors are close to rounding, which would then affect every digit. */
static bool adapt_steps(paired_model *q, const paired_line *l, double s_error, double x_error,
                        double ln) {
  double first = q->ln_most == -HUGE_VAL ? PAIRED_FIRST_LINE : 1;
  q->ln_most = fmax(q->ln_most, ln);
  double out = fmin(PAIRED_LN_OUT, fmax(0, q->ln_most - ln + q->ln_tail - 1));
  double rounding = fmin(PAIRED_MOST_ROUNDING, PAIRED_ROUNDING * q->n);
  double s_times = log(s_error) / log(PAIRED_S_ERROR + rounding);
  double x_times = log(x_error) / log(PAIRED_X_ERROR * first * exp(out / 2) + rounding);
  if (s_times < 1) q->s_step = l->step / l->sd * (s_times > 0.7 ? 0.8 : 0.5);
  if (s_error < PAIRED_SMALL_S_ERROR) q->s_step = l->step / l->sd * 1.25;
  if (x_times < 1) set_x_step(q, q->x_step * (x_times > 0.7 ? 0.8 : 0.6));
  return s_times >= 1 && x_times >= 1;
}

/* ln of the density of z, up to a constant; an ev_ln_density. */
static double paired_ln_density(double z, void *model) {
  paired_model *q = model;
  paired_line l = {.d = fabs(tanh(z)), .length = 2 / (1 + exp(2 * fabs(z)))};
  double ln = NAN;
  find_line_peak(q, z > 0, &l);
  for (int i = 0; !q->failed; i++) {
    l.step = fmin(PAIRED_LONGEST_S_STEP, q->s_step * l.sd);
    double block = floor(l.s / (EV_LANES * l.step));
    l.most = l.x_error = 0;
    l.sum = (ev_lanes){0};
    l.chunk = -1;
    walk_line(q, &l, block, 1);
    walk_line(q, &l, block - 1, -1);
    double sum = ev_sum(&l.sum);
    double s_error = fabs((l.sum[0] - l.sum[1]) + (l.sum[2] - l.sum[3])) / sum;
    ln = log(sum * l.step * q->x_step * l.length * l.length * (1 + l.d)) + l.ln_peak;
    if (adapt_steps(q, &l, s_error, l.x_error / sum, ln)) break;
    q->failed |= !(sum > 0) || i == PAIRED_WALKS;
  }
  return q->failed ? NAN : ln;
}

/* Setting up */

static void set_nodes(paired_model *q, int octave, double middle) {
  q->octave = octave;
  q->node_step = M_LN2 / (2 * octave);
  q->zero = PAIRED_NODES / 2 - (int)(middle / q->node_step);
  for (int k = 0; k < PAIRED_NODES; k++) {
    double e = exp((k - q->zero) * q->node_step);
    q->square[k] = e * e;
    q->factor[k] = q->node_step * e / (M_PI * (1 + e * e));
  }
}

/* Estimates the peak of x and its sd at a given position: the sd of I, by the information in the
** cells that have pairs, over the largest dI/dx within one sd of I. */
EV_WIDE static void guess_x(const paired_model *q, double *x, double *sd) {
  const int from = PAIRED_MARGIN, to = PAIRED_NODES - PAIRED_MARGIN;
  paired_rates r;
  double I = fmin(q->cells[2], q->cells[3]), information = 0, most = 0;
  for (int i = 0; i < 4; i++) information += q->counts[i] / gsl_pow_2(q->cells[i]);
  paired_thetas p = {.low = (ev_lanes){0} + (q->cells[0] + I),
                     .high = (ev_lanes){0} + (q->cells[1] + I)};
  set_means(fabs(q->cells[2] - q->cells[3]), &p);
  set_rates(q, &p, from, to, &r);
  *x = x_of_I(q, &r, I, from, to);
  for (int side = -1; side <= 1; side++) {
    double at = x_of_I(q, &r, I + side / sqrt(information), from, to);
    most = fmax(most, r.height[0] * r.rate[node_below(q, at)][0]);
  }
  *sd = q->node_step / (most * sqrt(information));
}

/* c of t = c sinh(s/c), how soon steps lengthen away from the middle: any from 1 to 3 does for a
** wide line.  A narrow one there, as with no pair that both or neither had right, falls off as
** exp(-|t|), and takes a third of the positions with a c of some standard deviations. */
static const double PAIRED_BEND = 1.4, PAIRED_BEND_SDS = 4;

/* The first steps, in standard deviations: for a normal integrand the errors of steps twice as long
** are 4e-5 and 2e-4.  And roughly how far x goes below and above its peak. */
static const double PAIRED_FIRST_S_STEP = 0.7, PAIRED_FIRST_X_STEP = 0.75;
static const double PAIRED_X_BELOW = 5, PAIRED_X_ABOVE = 3;

static void set_model(paired_model *q, const double *c, double tail) {
  const double counts[] = {c[0], c[3], c[1], c[2]};
  double most = 0, x, sd;
  q->n = c[0] + c[1] + c[2] + c[3] + 4;
  for (int i = 0; i < 4; i++) {
    q->counts[i] = counts[i];
    q->cells[i] = (counts[i] + 1) / q->n;
    most = fmax(most, counts[i]);
  }
  for (q->top_bit = 1; 2 * q->top_bit <= (uint64_t)most;) q->top_bit *= 2;
  q->ln_tail = log(tail);
  q->failed = false;
  q->x_step = 0;
  set_nodes(q, PAIRED_OCTAVE, 0);
  guess_x(q, &x, &sd);
  q->first_x = x;
  double shorter = sqrt((PAIRED_LN_DROP - log(0.025)) / (PAIRED_LN_DROP - q->ln_tail));
  set_x_step(q, fmin(PAIRED_LONGEST_X_STEP, PAIRED_FIRST_X_STEP * sd * shorter));
  double I = fmin(q->cells[2], q->cells[3]), t = t_of_share(q->cells[0] + I, q->cells[1] + I);
  q->bend = fmin(PAIRED_BEND, PAIRED_BEND_SDS * hypot(sd_of_t(q->counts, q->cells, t), t));
  q->s_step = PAIRED_FIRST_S_STEP;
  double left = fmin(0, x - PAIRED_X_BELOW), right = fmax(0, x + PAIRED_X_ABOVE);
  double dense = (right - left) / (M_LN2 / (2 * PAIRED_DENSE_OCTAVE)) + 2 * PAIRED_MARGIN;
  bool many = q->n > PAIRED_DENSE_FROM && dense < PAIRED_NODES;
  set_nodes(q, many ? PAIRED_DENSE_OCTAVE : PAIRED_OCTAVE, (left + right) / 2);
}

/* An error of 1e-7 in the density moves a bound by less than 1e-8.  From 10^8 questions on its
** rounding could halve panels without end: 60 evaluations are usual there, below 15 to 340.  An
** interval then is at most 1e-3 wide, of which 1e-5 is acceptable: with the tolerance alone
** (0, 0, 683116584, 1) was refused.  With many discordant pairs the corner at 0 is invisible. */
ev_status ev_paired_posterior(const double *c, double tail, ev_marginal *m) {
  paired_model *q = malloc(sizeof *q); /* 70 kB: hosts' stacks are small */
  if (!q) return EV_NO_MEMORY;
  double n = c[0] + c[1] + c[2] + c[3], mean = (c[1] - c[2]) / (n + 4);
  double sd = sqrt(((c[1] + c[2] + 1) / (n + 4) - mean * mean) / (n + 4));
  double ln_drop = PAIRED_LN_DROP - log(tail);
  const ev_search search = {.ln_density = paired_ln_density,
                            .context = q,
                            .start = atanh(mean),
                            .width = sd / (1 - mean * mean) * sqrt(2 * ln_drop),
                            .has_corner = c[1] + c[2] < 40,
                            .corner = 0,
                            .graded = true,
                            .ln_drop = ln_drop,
                            .tolerance = fmax(1e-7, PAIRED_ROUNDING * n),
                            .tail = tail,
                            .budget = n < 1e8 ? 1600 : 130,
                            .acceptable = n < 1e8 ? 0 : 1e-5};
  set_model(q, c, tail);
  ev_status status = ev_marginal_find(m, &search);
  free(q);
  return status;
}
