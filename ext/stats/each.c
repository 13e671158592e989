/*
** Given theta and d, a cluster with k right answers of n has
** theta_t ~ Beta(d theta + k, d (1-theta) + n-k): its posterior is the mixture of these
** over the points of the posterior of (theta, d).  The mean is a sum; the bounds come
** from the density, by ev_marginal, which is over u = asinh(logit theta_t).  Where a
** cluster is all wrong, d near 0 leaves the logit a tail that falls off like 1/t^2 only,
** and e^-|u| in u.
**
** The mixture would have some thousands of points, but a Beta's density, as a function
** of theta and d, is seldom narrow.  Where it is wide beside a line of the posterior, a
** Gauss rule for that line does as well, and where many clusters make the posterior
** narrow, one across lines too.
*/
#include "each.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "atoms.h"
#include "beta.h"
#include "gauss.h"
#include "hierarchy.h"
#include "lanes.h"
#include "marginal.h"

/*
** A mixture of Betas
*/
typedef struct mixture {
  const ev_hierarchy_point *points;
  size_t count;
  double *a, *b, *ln_weight; /* of each Beta; the weight is its density's at `origin` */
  double *ln;                /* scratch: of each at one logit */
  ev_point origin;
  double origin_logit;
} mixture;

/* ln of (1-x) + x e^z, x and 1-x being given. */
static double ln_tilt(double x, double z) {
  return z < 700 ? log1p(x * expm1(z)) : z + log(x);
}

EV_INLINE void read_four(const double *x, ev_lanes *out) {
  *out = (ev_lanes){x[0], x[1], x[2], x[3]};
}

/* ln of the sum of exp(ln_weight + a ln_x + b ln_y), four at a time. */
EV_WIDE static double ln_mixture(const mixture *m, double ln_x, double ln_y) {
  double most = -HUGE_VAL;
  ev_lanes sum = {0, 0, 0, 0};
  for (size_t i = 0; i < m->count; i += EV_LANES) {
    ev_lanes ln, a, b;
    read_four(m->ln_weight + i, &ln);
    read_four(m->a + i, &a);
    read_four(m->b + i, &b);
    ln += a * ln_x + b * ln_y;
    for (int j = 0; j < EV_LANES; j++) {
      m->ln[i + (size_t)j] = ln[j];
      most = ln[j] > most ? ln[j] : most;
    }
  }
  for (size_t i = 0; i < m->count; i += EV_LANES) {
    ev_lanes part;
    read_four(m->ln + i, &part);
    part -= most;
    ev_exp(&part, 1);
    sum += part;
  }
  return most + log(ev_sum(&sum));
}

/* ln of the density of u = asinh(logit theta_t). */
static double ln_density_of_asinh(double u, void *context) {
  const mixture *m = context;
  double away = sinh(u) - m->origin_logit;
  double ln_x = -ln_tilt(m->origin.y, -away), ln_y = -ln_tilt(m->origin.x, away);
  return ln_mixture(m, ln_x, ln_y) + log(cosh(u));
}

/* The mean of the mixture with k of n answers right, its complement, and its sd. */
typedef struct mixture_scale {
  double mean, comean, sd;
} mixture_scale;

static mixture_scale scale_of_mixture(const mixture *m, double k, double n) {
  double mean = 0, comean = 0, variance = 0;
  for (size_t i = 0; i < m->count; i++) {
    const ev_hierarchy_point *p = &m->points[i];
    mean += p->weight * (p->d * p->theta + k) / (p->d + n);
    comean += p->weight * (p->d * p->other + (n - k)) / (p->d + n);
  }
  for (size_t i = 0; i < m->count; i++) {
    const ev_hierarchy_point *p = &m->points[i];
    double x = (p->d * p->theta + k) / (p->d + n), y = (p->d * p->other + (n - k)) / (p->d + n);
    variance += p->weight * (x * y / (p->d + n + 1) + gsl_pow_2(x - mean));
  }
  return (mixture_scale){mean, comean, sqrt(variance)};
}

/* The Betas of a cluster with k of n.  Weights are taken at the mean, so that large
** shapes cost no digits near it. */
static void set_betas(mixture *m, double k, double n, mixture_scale scale) {
  m->origin_logit = log(scale.mean / scale.comean);
  m->origin = ev_at_logit(m->origin_logit);
  for (size_t i = 0; i < m->count; i++) {
    const ev_hierarchy_point *p = &m->points[i];
    m->a[i] = p->d * p->theta + k;
    m->b[i] = p->d * p->other + (n - k);
    ev_beta beta = ev_beta_make(m->a[i], m->b[i]);
    m->ln_weight[i] = log(p->weight) + ev_beta_ln_logit_density(&beta, m->origin);
  }
  /* The last four may want filling up. */
  for (size_t i = m->count; i % EV_LANES; i++) {
    m->a[i] = m->b[i] = 0;
    m->ln_weight[i] = -1e300;
  }
}

/* Below e^-745 a double is 0.  What lies there, when no answer is right, is what the
** density leaves of 1, unless it is too little there to tell. */
static double mass_at_end(mixture *m, double end, double mass, double tail) {
  bool matters = exp(ln_density_of_asinh(end, m)) > 1e-9 * tail;
  return matters ? fmax(0, 1 - mass) : 0;
}

/* One point of u with the tail beyond it, of which the part `beyond` lies beyond the end
** on its side: that end where it is all of it, and the other where the rest is more than
** there is between the ends. */
static ev_status bound_of_asinh(const ev_marginal *density, double mass, double tail, double beyond,
                                bool lower, double *u) {
  double share = (tail - beyond) / mass;
  ev_interval found = {-HUGE_VAL, HUGE_VAL};
  ev_status status = EV_OK;
  if (share >= 1) found = (ev_interval){HUGE_VAL, -HUGE_VAL};
  if (share > 0 && share < 1) status = ev_marginal_interval(density, share, &found);
  *u = lower ? found.lo : found.hi;
  return status;
}

static ev_status bounds_of_asinh(const ev_marginal *density, double mass, double tail,
                                 ev_interval beyond, ev_interval *u) {
  if (beyond.lo == 0 && beyond.hi == 0) return ev_marginal_interval(density, tail, u);
  ev_status status = bound_of_asinh(density, mass, tail, beyond.lo, true, &u->lo);
  return status == EV_OK ? bound_of_asinh(density, mass, tail, beyond.hi, false, &u->hi) : status;
}

static ev_status bounds_of_mixture(mixture *m, const ev_options *options, mixture_scale scale,
                                   ev_each *each) {
  double tail = ev_tail(options), end = asinh(745), t = m->origin_logit;
  double width = scale.sd / (scale.mean * scale.comean) / sqrt(1 + t * t);
  ev_marginal density;
  ev_status status = ev_marginal_find(&density, &(ev_search){.ln_density = ln_density_of_asinh,
                                                             .context = m,
                                                             .start = asinh(t),
                                                             .width = fmin(2, 4 * width),
                                                             .bounded = true,
                                                             .least = -end,
                                                             .most = end,
                                                             .ln_drop = 20 - log(tail),
                                                             .tolerance = 1e-10,
                                                             .tail = tail,
                                                             .budget = 4800});
  if (status != EV_OK) return status;
  double mass = exp(ev_marginal_ln_total(&density));
  ev_interval beyond = {mass_at_end(m, -end, mass, tail), mass_at_end(m, end, mass, tail)};
  ev_interval u = {0, 0};
  status = bounds_of_asinh(&density, mass, tail, beyond, &u);
  *each = (ev_each){scale.mean, ev_at_logit(sinh(u.lo)).x, ev_at_logit(sinh(u.hi)).x};
  return status == EV_OK ? ev_interval_status((ev_interval){each->lo, each->hi}) : status;
}

/*
** Gauss rules for the posterior
*/
enum { GAUSS_MOST = 12 };

typedef struct gauss_rule {
  size_t count;
  double x[GAUSS_MOST], weight[GAUSS_MOST];
} gauss_rule;

/* How many points do, when a measure has `ratio` times the sd of what is integrated:
** (q/(2+q))^points is left out for normals, where q is the square of the ratio.  That is
** 1e-12 for the most points at a ratio of a half, beyond which there is no rule. */
static size_t gauss_points(double ratio) {
  return (size_t)fmin(GAUSS_MOST, 1 + ceil(26 / log1p(2 / (ratio * ratio))));
}

/* Points and weights whose orthogonal polynomials are wanted. */
typedef struct point_measure {
  double *x, *weight, *now, *before; /* the last two are scratch */
  size_t count;
  double mass, mean, sd;
} point_measure;

static void scale_measure(point_measure *m) {
  double sum = 0, square = 0;
  m->mass = 0;
  for (size_t i = 0; i < m->count; i++) {
    m->mass += m->weight[i];
    sum += m->weight[i] * m->x[i];
  }
  m->mean = sum / m->mass;
  for (size_t i = 0; i < m->count; i++) square += m->weight[i] * gsl_pow_2(m->x[i] - m->mean);
  m->sd = sqrt(square / m->mass);
}

/* The Jacobi matrix of a measure, its diagonal and what is beside it, by Stieltjes'
** recurrence. */
static void fill_jacobi(point_measure *m, size_t points, double *diagonal, double *off) {
  double norm_before = 1;
  for (size_t i = 0; i < m->count; i++) {
    m->now[i] = 1;
    m->before[i] = 0;
  }
  for (size_t k = 0; k < points; k++) {
    double norm = 0, moment = 0;
    for (size_t i = 0; i < m->count; i++) {
      double square = m->weight[i] * m->now[i] * m->now[i];
      norm += square;
      moment += square * (m->x[i] - m->mean) / m->sd;
    }
    double alpha = moment / norm, beta = k ? norm / norm_before : 0;
    diagonal[k] = alpha;
    if (k > 0) off[k - 1] = sqrt(beta);
    norm_before = norm;
    for (size_t i = 0; i < m->count; i++) {
      double next = ((m->x[i] - m->mean) / m->sd - alpha) * m->now[i] - beta * m->before[i];
      m->before[i] = m->now[i];
      m->now[i] = next;
    }
  }
}

static ev_status find_gauss_rule(point_measure *m, size_t points, gauss_rule *rule) {
  double off[GAUSS_MOST];
  rule->count = points;
  fill_jacobi(m, points, rule->x, off);
  ev_status status = ev_gauss_rule(rule->x, off, points, rule->weight);
  for (size_t k = 0; k < points; k++) rule->x[k] = m->mean + m->sd * rule->x[k];
  return status;
}

static ev_status make_measure(point_measure *m, size_t count) {
  m->x = malloc(4 * count * sizeof *m->x);
  m->weight = m->x + count;
  m->now = m->x + 2 * count;
  m->before = m->x + 3 * count;
  m->count = count;
  return m->x ? EV_OK : EV_NO_MEMORY;
}

/* Of ln d, from the lines' masses. */
static ev_status measure_lines(const ev_hierarchy *h, point_measure *m) {
  ev_status status = make_measure(m, h->line_count);
  for (size_t i = 0; i < m->count && status == EV_OK; i++) {
    const ev_hierarchy_line *line = &h->lines[i];
    m->x[i] = log(line->d);
    m->weight[i] = 0;
    for (size_t j = 0; j < line->count; j++) m->weight[i] += h->points[line->first + j].weight;
  }
  if (status == EV_OK) scale_measure(m);
  return status;
}

/* Of logit theta, along a line. */
static ev_status measure_line(const ev_hierarchy *h, const ev_hierarchy_line *line,
                              point_measure *m) {
  ev_status status = make_measure(m, line->count);
  for (size_t i = 0; i < m->count && status == EV_OK; i++) {
    m->x[i] = line->first_s + (double)i * line->step_s;
    m->weight[i] = h->points[line->first + i].weight;
  }
  if (status == EV_OK) scale_measure(m);
  return status;
}

/* Points that stand for the posterior. */
typedef struct compressed {
  ev_hierarchy_point *points; /* owned */
  size_t count;
} compressed;

/* The sd of logit theta along a line beside that of a Beta(d theta, d (1-theta)), or
** beside 1 where that is less. */
static double line_ratio(const ev_hierarchy_line *line) {
  ev_point theta = ev_at_logit(line->mode);
  return line->sd * sqrt(1 + line->d * theta.x * theta.y);
}

static void copy_line(const ev_hierarchy *h, const ev_hierarchy_line *line, double factor,
                      compressed *c) {
  for (size_t i = line->first; i < line->first + line->count; i++) {
    c->points[c->count] = h->points[i];
    c->points[c->count++].weight *= factor;
  }
}

/* Adds a line's points, or those of its rule, with a factor to their weights. */
static ev_status compress_line(const ev_hierarchy *h, const ev_hierarchy_line *line, double factor,
                               compressed *c) {
  point_measure along = {0};
  gauss_rule rule = {0};
  double ratio = line_ratio(line);
  if (ratio >= 0.5 || line->count <= 2 * GAUSS_MOST) {
    copy_line(h, line, factor, c);
    return EV_OK;
  }
  ev_status status = measure_line(h, line, &along);
  if (status == EV_OK) status = find_gauss_rule(&along, gauss_points(ratio), &rule);
  for (size_t i = 0; i < rule.count && status == EV_OK; i++) {
    ev_point theta = ev_at_logit(rule.x[i]);
    double weight = factor * along.mass * rule.weight[i];
    c->points[c->count++] = (ev_hierarchy_point){theta.x, theta.y, line->d, weight};
  }
  free(along.x);
  return status;
}

/* In place of the lines there are, those of a Gauss rule for ln d.  A Beta's density
** changes with ln d on a scale of 1/2 or more. */
static ev_status compress_lines(ev_hierarchy *h, point_measure *across, gauss_rule *factors) {
  ev_status status = find_gauss_rule(across, gauss_points(2 * across->sd), factors);
  for (size_t i = 0; i < factors->count && status == EV_OK; i++)
    status = ev_hierarchy_line_at(h, exp(factors->x[i]));
  return status;
}

static ev_status compress(ev_hierarchy *h, compressed *c) {
  point_measure across = {0};
  gauss_rule factors = {0};
  size_t first = 0;
  ev_status status = measure_lines(h, &across);
  if (status == EV_OK && across.sd < 0.25) {
    first = h->line_count;
    status = compress_lines(h, &across, &factors);
  }
  if (status == EV_OK) {
    c->points = malloc(h->count * sizeof *c->points);
    if (!c->points) status = EV_NO_MEMORY;
  }
  for (size_t i = first; i < h->line_count && status == EV_OK; i++)
    status = compress_line(h, &h->lines[i], first ? factors.weight[i - first] : 1, c);
  free(across.x);
  return status;
}

/*
** All clusters
*/
typedef struct ranked {
  double k, n;
  size_t index;
} ranked;

static int by_k_and_n(const void *a, const void *b) {
  const ranked *p = a, *q = b;
  return ev_compare_counts(p->k, p->n, q->k, q->n);
}

static ev_status work_out_each(mixture *m, const ranked *order, size_t count,
                               const ev_options *options, ev_host host, ev_each *each) {
  ev_status status = EV_OK;
  for (size_t i = 0; i < count && status == EV_OK; i++) {
    if (i > 0 && by_k_and_n(&order[i - 1], &order[i]) == 0) {
      each[order[i].index] = each[order[i - 1].index];
      continue;
    }
    if (ev_interrupted(host)) return EV_INTERRUPTED;
    mixture_scale scale = scale_of_mixture(m, order[i].k, order[i].n);
    set_betas(m, order[i].k, order[i].n, scale);
    status = bounds_of_mixture(m, options, scale, &each[order[i].index]);
  }
  return status;
}

ev_status ev_clustered_each(const ev_cluster *clusters, size_t count, const ev_options *options,
                            ev_host host, ev_each *each) {
  ev_hierarchy h;
  compressed c = {NULL, 0};
  double *room = NULL;
  ranked *order = malloc(count * sizeof *order);
  ev_status status = ev_hierarchy_make(clusters, count, options, host, &h);
  if (status == EV_OK) status = compress(&h, &c);
  ev_hierarchy_free(&h);
  if (status == EV_OK) room = malloc(4 * (c.count + EV_LANES) * sizeof *room);
  if (status == EV_OK && !(order && room)) status = EV_NO_MEMORY;
  if (status == EV_OK) {
    size_t width = c.count + EV_LANES;
    mixture m = {.points = c.points, .count = c.count, .a = room, .b = room + width};
    m.ln_weight = room + 2 * width;
    m.ln = room + 3 * width;
    for (size_t i = 0; i < count; i++) order[i] = (ranked){clusters[i].k, clusters[i].n, i};
    qsort(order, count, sizeof *order, by_k_and_n);
    status = work_out_each(&m, order, count, options, host, each);
  }
  free(order);
  free(room);
  free(c.points);
  return status;
}
