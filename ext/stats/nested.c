/*
** theta, and each task's own accuracy, in the nested model: nested.h.
**
**   1. theta: its interval comes from the lines of d1, as clustered_ci's does (hierarchy_theta.c).
**   2. theta_t: given a point its density is that of Beta(d1 theta, d1 (1-theta)) times the
**      task's likelihood over their integral.  The sum over points, at any logit theta_t, is
**      integrated as clustered_each's is (each.c).
*/
#include "nested.h"

#include <math.h>
#include <stdlib.h>

#include "nested_posterior.h"

/*
** One attempt at every question: two levels
*/
static bool any_asked_again(const ev_items *items) {
  for (size_t i = 0; i < items->count; i++)
    if (items->list[i].n > 1) return true;
  return false;
}

/* With tasks as clusters, the interval of theta; or that of each task if `each` is not NULL. */
static ev_status answer_by_clusters(const ev_items *items, const ev_options *options, ev_host host,
                                    ev_interval *ci, ev_each *each) {
  ev_cluster *clusters = calloc(items->tasks, sizeof *clusters);
  if (!clusters) return EV_NO_MEMORY;
  for (size_t i = 0; i < items->count; i++) {
    ev_cluster *c = &clusters[items->list[i].task];
    c->k += items->list[i].k * items->list[i].times;
    c->n += items->list[i].n * items->list[i].times;
    c->times = 1;
  }
  ev_status status = each ? ev_clustered_each(clusters, items->tasks, options, host, each)
                          : ev_clustered(clusters, items->tasks, options, host, ci);
  free(clusters);
  return status;
}

/*
** theta
*/
ev_status ev_nested(const ev_items *items, const ev_options *options, ev_host host,
                    ev_interval *ci) {
  if (!any_asked_again(items)) return answer_by_clusters(items, options, host, ci, NULL);
  ev_nested_posterior p;
  ev_status status = ev_nested_posterior_make(items, options, host, EV_NESTED_THETA, &p);
  if (status == EV_OK) status = ev_hierarchy_interval(&p.h, options, ci);
  ev_nested_posterior_free(&p);
  return status;
}

/*
** Each task
*/

/* The posterior of logit theta_t, at any place: by points of (theta, d1), in lanes. */
typedef struct task_density {
  ev_nested_posterior *p;
  ev_nested_task *task;
  size_t groups;        /* of EV_LANES points */
  ev_beta *beta;        /* owned: of each point, Beta(d1 theta, d1 (1-theta)) */
  ev_nested_rule *rule; /* owned: the same, as it is summed on the grid of `task` */
  double *a, *b;        /* owned: its shapes, and as much for the rest: */
  double *ln_scale;     /* ln density of logit Beta(a, b) at the origin */
  double *share;        /* [group][node][lane]: weight over the task's likelihood there */
  double *ln, *z;       /* room, by node */
  double origin_logit;
  ev_point origin;
} task_density;

static ev_status make_density(ev_nested_posterior *p, task_density *d) {
  size_t nodes = p->tasks.nodes, groups = (p->h.count + EV_LANES - 1) / EV_LANES;
  size_t points = groups * EV_LANES;
  *d = (task_density){.p = p, .groups = groups};
  d->beta = malloc(points * sizeof *d->beta);
  d->a = malloc((points * (3 + nodes) + 2 * nodes) * sizeof *d->a);
  d->rule = malloc(points * sizeof *d->rule);
  if (!d->beta || !d->rule || !d->a) return EV_NO_MEMORY;
  d->b = d->a + points;
  d->ln_scale = d->b + points;
  d->share = d->ln_scale + points;
  d->ln = d->share + points * nodes;
  d->z = d->ln + nodes;
  for (size_t i = 0; i < points; i++) {
    const ev_hierarchy_point *at = &p->h.points[i < p->h.count ? i : 0];
    d->beta[i] = ev_nested_kernel((ev_point){at->theta, at->other}, at->d);
    d->a[i] = d->beta[i].a;
    d->b[i] = d->beta[i].b;
  }
  return EV_OK;
}

/* The mean of theta_t, and its sd, roughly: that of theta_t's mean given the point, and of a
** Beta of the task's size about it. */
typedef struct task_scale {
  double mean, comean, sd;
} task_scale;

/* Goes to a grid: the rules of its points. */
static void set_rules(task_density *d, int grid) {
  for (size_t i = 0; i < d->groups * EV_LANES; i++)
    ev_nested_make_rule(&d->p->tasks, grid, &d->beta[i], &d->rule[i]);
}

/* Goes to a task: the shares of its points. */
static task_scale set_task(task_density *d, ev_nested_task *task) {
  const ev_nested_posterior *p = d->p;
  const ev_nested_sums *sums = &p->tasks.sums;
  size_t nodes = p->tasks.nodes;
  double mean = 0, square = 0, within = 0;
  if (!d->task || d->task->grid != task->grid) set_rules(d, task->grid);
  d->task = task;
  for (size_t i = 0; i < d->groups * EV_LANES; i++) {
    double *share = d->share + i / EV_LANES * nodes * EV_LANES + i % EV_LANES;
    bool real = i < p->h.count;
    double d1 = d->a[i] + d->b[i];
    const double *weight = p->weight + (real ? i : 0) * nodes;
    ev_nested_one(&d->p->tasks, task, &d->rule[i]);
    for (size_t b = 0; b < nodes; b++) {
      double z = sums->z[b];
      bool any = real && weight[b] > 0 && z > 0;
      double x = any ? sums->z_right[b] / z : 0;
      share[b * EV_LANES] = any ? weight[b] / z : 0;
      mean += any ? weight[b] * x : 0;
      square += any ? weight[b] * x * x : 0;
      within +=
          any ? weight[b] * x * (1 - x) / (1 + d1 + ev_nested_worth(task, p->tasks.d2[b])) : 0;
    }
  }
  return (task_scale){mean, 1 - mean, sqrt(fmax(0, square - mean * mean) + within)};
}

/* Takes densities relative to those at the mean, so that large shapes cost no digits near it. */
static void set_origin(task_density *d, task_scale scale) {
  d->origin_logit = log(scale.mean / scale.comean);
  d->origin = ev_at_logit(d->origin_logit);
  for (size_t i = 0; i < d->groups * EV_LANES; i++)
    d->ln_scale[i] = ev_beta_ln_logit_density(&d->beta[i], d->origin);
}

/* The sum over points of x^a y^b / B(a, b) times the sum over nodes of share and likelihood. */
EV_WIDE static double sum_points(const task_density *d, size_t nodes, double ln_x, double ln_y) {
  ev_lanes sum = {0};
  for (size_t i = 0; i < d->groups; i++) {
    const double *share = d->share + i * nodes * EV_LANES;
    ev_lanes inner[4] = {{0}}, ln = *(const ev_lanes_of *)(d->a + i * EV_LANES) * ln_x +
                                    *(const ev_lanes_of *)(d->b + i * EV_LANES) * ln_y +
                                    *(const ev_lanes_of *)(d->ln_scale + i * EV_LANES);
    for (size_t b = 0; b < nodes; b += 4)
#pragma GCC unroll 4
      for (size_t k = 0; k < 4; k++)
        inner[k] += d->z[b + k] * *(const ev_lanes_of *)(share + (b + k) * EV_LANES);
    ev_exp(&ln, 1);
    sum += ((inner[0] + inner[1]) + (inner[2] + inner[3])) * ln;
  }
  return ev_sum(&sum);
}

/* ln of the density of u = asinh(logit theta_t). */
static double ln_task_density_of_asinh(double u, void *context) {
  task_density *d = context;
  size_t nodes = d->p->tasks.nodes;
  double v = sinh(u), away = v - d->origin_logit, most = -HUGE_VAL;
  ev_nested_ln_nodes(&d->p->tasks, d->task, v, d->ln);
  for (size_t b = 0; b < nodes; b++) most = fmax(most, d->ln[b]);
  for (size_t b = 0; b < nodes; b++) d->z[b] = exp(d->ln[b] - most);
  ev_point ln = ev_ln_from(d->origin, away);
  return most + log(sum_points(d, nodes, ln.x, ln.y)) + log(cosh(u));
}

static ev_status find_task(task_density *d, ev_nested_task *task, ev_each *each) {
  task_scale scale = set_task(d, task);
  ev_interval ci = {NAN, NAN};
  if (!(scale.mean > 0 && scale.comean > 0)) return EV_NOT_CONVERGED;
  set_origin(d, scale);
  ev_status status = ev_each_interval(ln_task_density_of_asinh, d, d->origin_logit,
                                      scale.sd / (scale.mean * scale.comean), d->p->options, &ci);
  *each = (ev_each){scale.mean, ci.lo, ci.hi};
  return status;
}

static ev_status find_each_task(ev_nested_posterior *p, size_t tasks, ev_each *each) {
  ev_each *kinds = malloc(p->tasks.count * sizeof *kinds);
  task_density d = {0};
  ev_status status = kinds ? make_density(p, &d) : EV_NO_MEMORY;
  for (int grid = 0; grid < EV_NESTED_GRIDS; grid++)
    for (size_t i = 0; i < p->tasks.count && status == EV_OK; i++)
      if (p->tasks.list[i].grid == grid)
        status =
            ev_interrupted(p->host) ? EV_INTERRUPTED : find_task(&d, &p->tasks.list[i], &kinds[i]);
  for (size_t i = 0; i < tasks && status == EV_OK; i++) each[i] = kinds[p->tasks.kind[i]];
  free(d.beta);
  free(d.rule);
  free(d.a);
  free(kinds);
  return status;
}

ev_status ev_nested_each(const ev_items *items, const ev_options *options, ev_host host,
                         ev_each *each) {
  if (!any_asked_again(items)) return answer_by_clusters(items, options, host, NULL, each);
  ev_nested_posterior p;
  ev_status status = ev_nested_posterior_make(items, options, host, EV_NESTED_EACH, &p);
  if (status == EV_OK) status = find_each_task(&p, items->tasks, each);
  ev_nested_posterior_free(&p);
  return status;
}
