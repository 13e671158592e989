/*
** Where the posterior of the nested model is, and points to sum over it.
**
**   1. A pilot of d2 with a uniform prior of every theta_t: its mode, by climbing, and its scale.
**   2. A lattice of ln d2 for the trapezoid rule, and each task's tables on it (nested_tasks.c).
**   3. Lines of d1 and points of theta on them by hierarchy.c, for the likelihood summed over d2,
**      on a lattice of three times the step: only the points' places are wanted.
**   4. The lattice for the greatest of these points.  Where the sum of every other node is not near
**      enough that of all, the step of ln d2 is shortened; where an end of the lattice has weight
**      left, it is moved out.
**   5. The weights of all (point, node).  The same checks of their sum; of every other point of
**      lines, whose step is shortened; and of panels of lines, which are made narrower.  If any
**      fails, go to 3.
*/
#include "nested_posterior.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "marginal.h"

static double ln_prior_of(ev_prior prior, double r) {
  return r - (prior == EV_PRIOR_ICC ? 2 * log1p(exp(r)) : exp(r));
}

/*
** The pilot
*/
typedef struct pilot_task {
  ev_nested_task *task;
  double d2;
} pilot_task;

static double ln_pilot_task(double v, void *context) {
  const pilot_task *p = context;
  return ev_nested_ln_task(p->task, v, p->d2) - log1p(exp(-v)) - log1p(exp(v));
}

static double ln_pilot(double r, void *context) {
  ev_nested_posterior *p = context;
  double sum = ln_prior_of(p->options->prior, r);
  for (size_t i = 0; i < p->tasks.count; i++) {
    ev_nested_task *task = &p->tasks.list[i];
    pilot_task at = {task, exp(r)};
    double guess = log((task->of.right.answers + 1) / (task->of.wrong.answers + 1)), truncated;
    double step = fmin(0.7, 2 / sqrt(ev_nested_worth(task, at.d2) + 4));
    sum += task->times * ev_ln_integral(ln_pilot_task, &at, guess, step, 16, &truncated);
  }
  return sum;
}

static void ln_pilots(const double *r, int count, double *ln, void *context) {
  for (int i = 0; i < count; i++) ln[i] = ln_pilot(r[i], context);
}

/* Where ln d2 is: the ends of its lattice, and its sd. */
typedef struct pilot {
  ev_interval ends;
  double mode, sd;
} pilot;

/* The mode may be a thousand sd away from where d2 = 1, so it is climbed to before any width
** is measured. */
static ev_status find_pilot(ev_nested_posterior *p, pilot *found) {
  double tail = ev_tail(p->options);
  ev_marginal density;
  ev_summit top = {0, 0, 0};
  ev_interval middle = {0, 0};
  ev_status status = ev_climb(ln_pilots, p, 0, 1, &top);
  if (status != EV_OK) return status;
  status = ev_marginal_find(&density, &(ev_search){.ln_density = ln_pilot,
                                                   .context = p,
                                                   .start = top.at,
                                                   .width = fmin(3, 8 * top.sd),
                                                   .ln_drop = 22 - log(tail),
                                                   .tolerance = 0.02,
                                                   .acceptable = 0.1,
                                                   .tail = 1e-9 * tail,
                                                   .budget = 400});
  if (status == EV_OK) status = ev_marginal_interval(&density, 0.16, &middle);
  if (status == EV_OK) status = ev_marginal_interval(&density, 1e-9 * tail, &found->ends);
  found->mode = (middle.lo + middle.hi) / 2;
  found->sd = (middle.hi - middle.lo) / 2;
  return status;
}

/*
** Lines
*/
static double go_to_nested_line(double d, void *context) {
  ((ev_nested_posterior *)context)->d1 = d;
  return 0;
}

/* ln of the likelihood at a point, summed over d2. */
static double ln_likelihood(ev_nested_posterior *p, ev_point theta) {
  double most = -HUGE_VAL, sum = 0;
  ev_nested_ln(&p->tasks, theta, p->d1, p->ln);
  for (size_t i = 0; i < p->tasks.nodes; i++) most = fmax(most, p->ln[i] += p->ln_prior[i]);
  for (size_t i = 0; i < p->tasks.nodes; i++) sum += exp(p->ln[i] - most);
  return sum > 0 ? most + log(sum) : NAN;
}

static void ln_at(const double *s, int count, double *ln, void *context) {
  for (int i = 0; i < count; i++) {
    ev_point theta = ev_at_logit(s[i]);
    ln[i] = ln_likelihood(context, theta) + log(theta.x * theta.y);
  }
}

/* How close points are laid. */
typedef struct spacing {
  double panel_sd, step_sd; /* as ev_line_model has them */
  double low, high, step;   /* the lattice of ln d2, */
  double most;              /* and what it is hardly beyond */
} spacing;

/* Nodes of a lattice of ln d2: 480 was the largest number observed. */
static const double NESTED_NODES = 4096;

static ev_status lay_nodes(ev_nested_posterior *p, const spacing *by, double coarse) {
  p->step_r = coarse * by->step;
  double wanted = p->tasks.repeated ? ceil((by->high - by->low) / p->step_r) : 1;
  if (!(wanted <= NESTED_NODES)) return EV_NOT_CONVERGED;
  size_t nodes = ((size_t)wanted + EV_NESTED_PAD) / EV_NESTED_PAD * EV_NESTED_PAD;
  p->first_r = (by->low + by->high) / 2 - p->step_r * (double)(nodes - 1) / 2;
  free(p->ln_prior);
  p->ln_prior = malloc(2 * nodes * sizeof *p->ln_prior);
  if (!p->ln_prior) return EV_NO_MEMORY;
  p->ln = p->ln_prior + nodes;
  for (size_t i = 0; i < nodes; i++)
    p->ln_prior[i] =
        ln_prior_of(p->options->prior, p->first_r + p->step_r * (double)i) + log(p->step_r);
  return ev_nested_tables(&p->tasks, p->first_r, p->step_r, nodes, exp(by->most));
}

/* How many answers of new questions all are worth at the largest d2. */
static double worth_of_all(const ev_nested_posterior *p, double d2) {
  double sum = 0;
  for (size_t i = 0; i < p->tasks.count; i++)
    sum += p->tasks.list[i].times * ev_nested_worth(&p->tasks.list[i], d2);
  return sum;
}

static ev_status lay_points(ev_nested_posterior *p, const spacing *by, ev_nested_use use) {
  ev_line_model model = {.go_to_line = go_to_nested_line,
                         .ln_at = ln_at,
                         .context = p,
                         .prior = p->options->prior,
                         .host = p->host,
                         .poll_lines = 1,
                         .answers = worth_of_all(p, exp(by->most)),
                         .guess = log((p->tasks.right + 1) / (p->tasks.wrong + 1)),
                         .panel_sd = by->panel_sd,
                         .step_sd = by->step_sd,
                         .step_most = use == EV_NESTED_THETA ? 0.27 : 0.66,
                         .betas = use == EV_NESTED_EACH,
                         .betas_drop = 23,
                         .cut_off = (use == EV_NESTED_NOISE ? 30 : 25) - log(ev_tail(p->options)),
                         .margin = use == EV_NESTED_THETA ? 8 : 0};
  ev_hierarchy_free(&p->h);
  return ev_hierarchy_of_model(&model, &p->h);
}

static ev_status weigh_points(ev_nested_posterior *p) {
  size_t nodes = p->tasks.nodes;
  double most = -HUGE_VAL, sum = 0;
  free(p->weight);
  p->weight = malloc(p->h.count * nodes * sizeof *p->weight);
  if (!p->weight) return EV_NO_MEMORY;
  for (size_t i = 0; i < p->h.line_count; i++) {
    const ev_hierarchy_line *line = &p->h.lines[i];
    for (size_t j = line->first; j < line->first + line->count; j++) {
      const ev_hierarchy_point *at = &p->h.points[j];
      double *weight = p->weight + j * nodes, ln = line->ln_measure + log(at->theta * at->other);
      ev_nested_ln(&p->tasks, (ev_point){at->theta, at->other}, at->d, weight);
      for (size_t b = 0; b < nodes; b++) most = fmax(most, weight[b] += ln + p->ln_prior[b]);
    }
    if (ev_interrupted(p->host)) return EV_INTERRUPTED;
  }
  for (size_t i = 0; i < p->h.count * nodes; i++) sum += p->weight[i] = exp(p->weight[i] - most);
  if (!(sum > 0 && isfinite(sum))) return EV_NOT_CONVERGED;
  for (size_t i = 0; i < p->h.count; i++) {
    double all = 0;
    for (size_t b = 0; b < nodes; b++) all += p->weight[i * nodes + b] /= sum;
    p->h.points[i].weight = all;
  }
  return EV_OK;
}

/*
** Checks
*/

/* How far twice the weight of every other node, or point of a line, is from 1; what the panels of
** lines have of Legendre's polynomial of the highest degree; and the weight at either end of the
** lattice of ln d2, with the steps that it takes to fall by e there. */
typedef struct doubt {
  double nodes, points, lines, below, above, below_steps, above_steps;
} doubt;

/* Of the weights of nodes, whose sum is 1. */
static doubt doubt_of_nodes(const double *weight, size_t nodes) {
  doubt is = {.below = weight[0], .above = weight[nodes - 1]};
  for (size_t b = 0; b < nodes; b++) is.nodes += b % 2 ? weight[b] : -weight[b];
  is.nodes = fabs(is.nodes);
  is.below_steps = 1 / fmax(0, log(weight[1] / weight[0]));
  is.above_steps = 1 / fmax(0, log(weight[nodes - 2] / weight[nodes - 1]));
  return is;
}

static doubt find_doubt(const ev_nested_posterior *p) {
  size_t nodes = p->tasks.nodes;
  double points = 0, lines = 0, panel = 0, legendre[EV_NODES + 1];
  for (size_t b = 0; b < nodes; b++) p->ln[b] = 0;
  for (size_t i = 0; i < p->h.line_count; i++) {
    const ev_hierarchy_line *line = &p->h.lines[i];
    ev_legendre(ev_node(line->node), legendre);
    if (i > 0 && line->panel != line[-1].panel) {
      lines += fabs(panel);
      panel = 0;
    }
    for (size_t j = 0; j < line->count; j++) {
      double all = p->h.points[line->first + j].weight;
      points += j % 2 ? all : -all;
      panel += legendre[EV_NODES - 1] * all;
      for (size_t b = 0; b < nodes; b++) p->ln[b] += p->weight[(line->first + j) * nodes + b];
    }
  }
  doubt is = p->tasks.repeated ? doubt_of_nodes(p->ln, nodes) : (doubt){0};
  is.points = fabs(points);
  is.lines = lines + fabs(panel);
  return is;
}

/* How far an end with weight left is moved out: to where, falling as it does there, or faster, it
** is negligible; by as much as the lattice has at the most. */
static double extension(const ev_nested_posterior *p, double weight, double left, double steps) {
  if (!(weight > left)) return 0;
  return p->step_r * fmin((double)p->tasks.nodes, 1 + steps * log(weight / left));
}

/* Densities of shares are interpolated between lines, which takes more of them than sums do. */
static const double LINES_OF_PLANE = 2e-5;

/* Refines the spacing if it is too coarse; false if it is not.  Bounds of shares, found by
** sinc functions, have an error of about the doubt; sums, of its square. */
static bool refine_spacing(const ev_nested_posterior *p, ev_nested_use use, doubt is, spacing *by) {
  double tail = ev_tail(p->options), precise = 1e-6 * tail, sums = 1e-4 * sqrt(fmin(1, 40 * tail));
  double left = 1e-8 * tail;
  spacing before = *by;
  bool noise = use == EV_NESTED_NOISE;
  if (is.points > sums) by->step_sd *= 0.7;
  if (is.lines > (noise ? LINES_OF_PLANE : sums)) by->panel_sd *= 0.7;
  if (is.nodes > (noise ? precise : sums)) by->step *= 0.6;
  by->low -= extension(p, is.below, left, is.below_steps);
  by->high += extension(p, is.above, left, is.above_steps);
  return by->step_sd < before.step_sd || by->panel_sd < before.panel_sd || by->step < before.step ||
         by->low < before.low || by->high > before.high;
}

/* Rounds of mending: one or two are the rule where any are. */
enum { NESTED_ROUNDS = 12 };

/* A normal's weight beyond 4 sd. */
static const double HARDLY = 3e-5;

/* Lays the nodes for the point of the greatest weight until its weights leave no doubt. */
static ev_status settle_nodes(ev_nested_posterior *p, ev_nested_use use, spacing *by) {
  const ev_hierarchy_point *best = p->h.points;
  for (size_t i = 1; i < p->h.count; i++)
    if (p->h.points[i].weight > best->weight) best = &p->h.points[i];
  for (int i = 0; i < NESTED_ROUNDS; i++) {
    ev_status status = lay_nodes(p, by, 1);
    if (status != EV_OK || !p->tasks.repeated) return status;
    p->d1 = best->d;
    double ln = ln_likelihood(p, (ev_point){best->theta, best->other}), beyond = 0;
    if (isnan(ln)) return EV_NOT_CONVERGED;
    for (size_t b = p->tasks.nodes; b-- > 0 && beyond < HARDLY;) {
      by->most = p->first_r + p->step_r * (double)b;
      beyond += exp(p->ln[b] - ln);
    }
    for (size_t b = 0; b < p->tasks.nodes; b++) p->ln[b] = exp(p->ln[b] - ln);
    if (!refine_spacing(p, use, doubt_of_nodes(p->ln, p->tasks.nodes), by)) return EV_OK;
  }
  return EV_NOT_CONVERGED;
}

/* How far rounding may move the logarithm of the likelihood. */
static double rounding_of(ev_nested_posterior *p, const pilot *found) {
  double sum = 0, d2 = exp(found->mode);
  for (size_t i = 0; i < p->tasks.count; i++) {
    ev_nested_task *task = &p->tasks.list[i];
    sum += task->times * (task->of.mixed * fabs(found->mode) + ev_rising_at(&task->of.all, d2));
  }
  return DBL_EPSILON * sum;
}

ev_status ev_nested_posterior_make(const ev_items *items, const ev_options *options, ev_host host,
                                   ev_nested_use use, ev_nested_posterior *p) {
  *p = (ev_nested_posterior){.options = options, .host = host};
  pilot found = {{0, 0}, 0, 1};
  bool noise = use == EV_NESTED_NOISE;
  ev_status status = ev_nested_tasks_make(items, &p->tasks);
  if (status == EV_OK && p->tasks.repeated) status = find_pilot(p, &found);
  if (status == EV_OK && rounding_of(p, &found) > 1e-3) status = EV_TOO_LARGE;
  spacing by = {.panel_sd = noise || ev_tail(options) < 1e-4 ? 5.7 : 8,
                .step_sd = 0.65,
                .low = found.ends.lo,
                .high = found.ends.hi,
                .step = fmin(0.6, (noise ? 0.5 : 0.7) * found.sd),
                .most = found.mode + 4 * found.sd};
  for (int i = 0; i < NESTED_ROUNDS && status == EV_OK; i++) {
    status = lay_nodes(p, &by, 3);
    if (status == EV_OK) status = lay_points(p, &by, use);
    if (status == EV_OK) status = settle_nodes(p, use, &by);
    if (status == EV_OK) status = weigh_points(p);
    if (status == EV_OK && !refine_spacing(p, use, find_doubt(p), &by)) return EV_OK;
  }
  return status == EV_OK ? EV_NOT_CONVERGED : status;
}

void ev_nested_posterior_free(ev_nested_posterior *p) {
  ev_nested_tasks_free(&p->tasks);
  ev_hierarchy_free(&p->h);
  free(p->ln_prior);
  free(p->weight);
  *p = (ev_nested_posterior){0};
}
