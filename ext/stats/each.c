/*
** Given theta and d, a cluster with k right answers of n has
** theta_t ~ Beta(d theta + k, d (1-theta) + n-k): its posterior is the mixture of these
** over the points of the posterior of (theta, d).  The mean is a sum; the bounds come
** from the density, by ev_marginal, which is over u = asinh(logit theta_t).  Where a
** cluster is all wrong, d near 0 leaves the logit a tail that falls off like 1/t^2 only,
** and e^-|u| in u.
*/
#include "each.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_math.h>

#include "beta.h"
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

/* ln of the sum of exp(ln_weight + a ln_x + b ln_y), four at a time. */
EV_WIDE static double ln_mixture(const mixture *m, double ln_x, double ln_y) {
  double most = -HUGE_VAL;
  ev_lanes sum = {0, 0, 0, 0};
  for (size_t i = 0; i < m->count; i += EV_LANES) {
    ev_lanes ln = *(const ev_lanes_of *)(m->a + i) * ln_x + *(const ev_lanes_of *)(m->b + i) * ln_y;
    *(ev_lanes_of *)(m->ln + i) = ln += *(const ev_lanes_of *)(m->ln_weight + i);
    for (int j = 0; j < EV_LANES; j++) most = ln[j] > most ? ln[j] : most;
  }
  for (size_t i = 0; i < m->count; i += EV_LANES) {
    ev_lanes part = *(const ev_lanes_of *)(m->ln + i) - most;
    ev_exp(&part, 1);
    sum += part;
  }
  return most + log(ev_sum(&sum));
}

/* ln of the density of u = asinh(logit theta_t). */
static double ln_density_of_asinh(double u, void *context) {
  const mixture *m = context;
  double away = sinh(u) - m->origin_logit;
  ev_point ln = ev_ln_from(m->origin, away);
  return ln_mixture(m, ln.x, ln.y) + log(cosh(u));
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
  /* The last group of four may be incomplete. */
  for (size_t i = m->count; i % EV_LANES; i++) {
    m->a[i] = m->b[i] = 0;
    m->ln_weight[i] = -1e300;
  }
}

/* The error of the density, which moves a bound by less; and the part of a tail beyond an end that
** is neglected. */
static const double EACH_TOLERANCE = 1e-10, EACH_NEGLIGIBLE = 1e-9;

/* Below e^-745 a double is 0.  If no answer is right, the mass there is 1 minus that of the
** density, unless it is negligible: the difference would be rounding. */
static double mass_at_end(ev_ln_density *ln_density, void *context, double end, double mass,
                          double tail) {
  bool matters = exp(ln_density(end, context)) > EACH_NEGLIGIBLE * tail;
  return matters ? fmax(0, 1 - mass) : 0;
}

/* The u with the mass `tail` on its outer side, of which `beyond` lies outside the domain.  If
** `beyond` is all of the tail, u is infinite on that side; if the rest of the tail exceeds the
** mass inside the domain, on the other. */
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

ev_status ev_each_interval(ev_ln_density *ln_density, void *context, double logit, double sd,
                           const ev_options *options, ev_interval *ci) {
  double tail = ev_tail(options), end = asinh(745), width = sd / sqrt(1 + logit * logit);
  ev_marginal density;
  ev_status status = ev_marginal_find(&density, &(ev_search){.ln_density = ln_density,
                                                             .context = context,
                                                             .start = asinh(logit),
                                                             .width = fmin(2, 4 * width),
                                                             .bounded = true,
                                                             .least = -end,
                                                             .most = end,
                                                             .ln_drop = 20 - log(tail),
                                                             .tolerance = EACH_TOLERANCE,
                                                             .tail = tail,
                                                             .budget = 4800});
  if (status != EV_OK) return status;
  double mass = exp(ev_marginal_ln_total(&density));
  ev_interval beyond = {mass_at_end(ln_density, context, -end, mass, tail),
                        mass_at_end(ln_density, context, end, mass, tail)};
  ev_interval u = {0, 0};
  status = bounds_of_asinh(&density, mass, tail, beyond, &u);
  *ci = (ev_interval){ev_at_logit(sinh(u.lo)).x, ev_at_logit(sinh(u.hi)).x};
  return status == EV_OK ? ev_interval_status(*ci) : status;
}

static ev_status bounds_of_mixture(mixture *m, const ev_options *options, mixture_scale scale,
                                   ev_each *each) {
  double sd = scale.sd / (scale.mean * scale.comean);
  ev_interval ci = {NAN, NAN};
  ev_status status = ev_each_interval(ln_density_of_asinh, m, m->origin_logit, sd, options, &ci);
  *each = (ev_each){scale.mean, ci.lo, ci.hi};
  return status;
}

/*
** All clusters
*/
typedef struct ranked {
  ev_cluster cluster;
  size_t index;
} ranked;

static ev_status work_out_each(mixture *m, const ranked *order, size_t count,
                               const ev_options *options, ev_host host, ev_each *each) {
  ev_status status = EV_OK;
  for (size_t i = 0; i < count && status == EV_OK; i++) {
    if (i > 0 && ev_clusters_by_counts(&order[i - 1], &order[i]) == 0) {
      each[order[i].index] = each[order[i - 1].index];
      continue;
    }
    if (ev_interrupted(host)) return EV_INTERRUPTED;
    mixture_scale scale = scale_of_mixture(m, order[i].cluster.k, order[i].cluster.n);
    set_betas(m, order[i].cluster.k, order[i].cluster.n, scale);
    status = bounds_of_mixture(m, options, scale, &each[order[i].index]);
  }
  return status;
}

ev_status ev_clustered_each(const ev_cluster *clusters, size_t count, const ev_options *options,
                            ev_host host, ev_each *each) {
  ev_hierarchy h;
  double *room = NULL;
  ranked *order = malloc(count * sizeof *order);
  ev_status status = ev_hierarchy_make(clusters, count, options, host, EV_FOR_BETAS, &h);
  if (status == EV_OK) room = malloc(4 * (h.count + EV_LANES) * sizeof *room);
  if (status == EV_OK && !(order && room)) status = EV_NO_MEMORY;
  if (status == EV_OK) {
    size_t width = h.count + EV_LANES;
    mixture m = {.points = h.points, .count = h.count, .a = room, .b = room + width};
    m.ln_weight = room + 2 * width;
    m.ln = room + 3 * width;
    for (size_t i = 0; i < count; i++) order[i] = (ranked){clusters[i], i};
    qsort(order, count, sizeof *order, ev_clusters_by_counts);
    status = work_out_each(&m, order, count, options, host, each);
  }
  free(order);
  free(room);
  ev_hierarchy_free(&h);
  return status;
}
