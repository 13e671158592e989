/*
** The bivariate probit of Bowyer et al. 2025, section 3.4: on each question
** the models have latent scores (a, b), normal with unit variances, means
** Phi^-1(theta_A) and Phi^-1(theta_B) and correlation rho; a score above zero
** is a right answer.  theta_A, theta_B ~ U(0,1), (1+rho)/2 ~ Beta(4,2).
**
** The likelihood is that of the four cells: both right, only A, only B,
** neither.  With delta = theta_A - theta_B > 0 and I the chance that only B is
** right, they are
**
**     low - I,  delta + I,  I,  high - I,   low = theta_B, high = 1 - theta_A
**
** (and likewise for delta < 0), so one number I(theta_A, theta_B, rho) in
** (0, min(low, high)) gives them all, and only by sums and differences that are
** harmless.  Its derivative by rho is minus the normal density (Plackett,
** Biometrika 41 (1954) 351-360).  On the scale x, e^x = sqrt((1-rho)/(1+rho)),
** that is
**
**     dI/dx = exp(-(D^2 (1 + e^-2x) + S^2 (1 + e^2x)) / 8) / (2 pi cosh x),
**
** D and S being the difference and the sum of the means: one exponential a
** node.  At x = 0 the models are independent and I = low * high.
**
** The loops, from the outside in:
**
**   delta         ev_marginal evaluates ln_delta_density() at some 60 values of
**                 z = atanh delta.  At each, theta_A and theta_B lie on the line
**                 theta_A - theta_B = delta.
**   position      ln_on_line() walks along that line, as a normal score t of the
**                 share of it, by the trapezoid rule: some 20 pairs of thetas.
**   rho           ln_over_rho() integrates over x at one such pair, by the
**                 trapezoid rule too: a panel (add_panel) of 4, 8 or 16 points
**                 about where the last line peaked, and more either way as long
**                 as anything is left there.
**   nodes         paired_rates() has dI/dx at the 16 Gauss-Legendre nodes of a
**                 panel, from which I at its points is had by fixed weights.
**
** Both trapezoid rules are on the whole axis, where everything falls off
** exponentially.  The density has a corner at delta = 0, which is kept between
** panels while there are fewer than 40 discordant pairs, or when the mass above it
** is asked for.
**
** The counts are the problem; the grid in x is laid once for them; the cursor is where
** the walk along the lines stands, and each line begins where the last one peaked.
**
** That is for many questions.  Where the likelihood is not that sharp in rho, which is nearly
** always, the three inner loops are those of paired_few.c, several times as fast.
*/
#include "paired.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "beta.h"
#include "lanes.h"
#include "marginal.h"
#include "normal.h"
#include "paired_few.h"

/* Points of the trapezoid rule on a panel, fewer on wide ones; and how many groups of
** EV_LANES points there are either way of the middle, at each of which a panel may begin.
** There were 8 points, and a panel began where the last ended. */
enum { PAIRED_EVEN = 16, PAIRED_SIDE_GROUPS = 40, PAIRED_GROUPS = 2 * PAIRED_SIDE_GROUPS + 1 };

/* Nodes and points in lanes. */
enum { PAIRED_NODES = EV_NODES / EV_LANES, PAIRED_POINTS = PAIRED_EVEN / EV_LANES };

/* The widest panel.  Was 0.9, on which 16 nodes follow the rate to 1e-10; bounds are the
** same to 1e-10 with this. */
static const double PAIRED_WIDEST_PANEL = 1.81;

/* The longest step along a line, and how many there may be either way.  There were 400
** of at most 0.3 before the step was chosen by its error and lengthened where an end
** was not reached. */
static const double PAIRED_LONGEST_STEP = 0.6;
enum { PAIRED_STEPS = 200 };

/* ln of the relative error of a line's step that is wished, and how far above it will do.
** The error is guessed, and the worse the fewer concordant pairs there are: with the same
** wish throughout, bounds of fewer than 20 pairs were off by up to 5e-8. */
static const double PAIRED_LN_STEP_ERROR = -28, PAIRED_LN_STEP_ERROR_OF_NONE = -36;
static const double PAIRED_STEP_SLACK = 5.3;

static double ln_step_error(double concordant) {
  return PAIRED_LN_STEP_ERROR +
         (PAIRED_LN_STEP_ERROR_OF_NONE - PAIRED_LN_STEP_ERROR) / (1 + concordant / 2);
}

/* Walks of a line until its step suits it: 2 or 3, but for rounding, which beyond 10^13
** questions keeps the sums apart whatever the step. */
enum { PAIRED_WALKS = 20 };

/* How far below their peaks the integrals over x and along a line go: e^-18 is 1.5e-8,
** of a tail that is thinner still.  Was 20, then 19; the bounds stayed within 1e-8. */
static const double PAIRED_LN_DROP = 18;

/* The same of the integrals over x along a line, at its peak; beside it less, by as much as
** they are below, and at the least this. */
static const double PAIRED_RHO_LN_DROP = 18, PAIRED_LEAST_LN_DROP = 5;

/* The nodes in x of a panel, with all of dI/dx that is the same for every pair of
** thetas: e^2x, e^-2x, and what does not depend on them times half the length. */
typedef struct paired_nodes {
  ev_lanes square[PAIRED_NODES], inverse[PAIRED_NODES], factor[PAIRED_NODES];
} paired_nodes;

/* From x = 0 to another x, in panels as wide as the widest: with 24 x may be 43,
** and 2^53 questions have it within 37.  There were 8 before, which lost pairs that
** nearly always agree. */
enum { PAIRED_PATH_PANELS = 24 };
typedef struct paired_path {
  int panels;
  paired_nodes nodes[PAIRED_PATH_PANELS];
} paired_path;

/* A panel of the grid in x: its nodes, and the prior at its points. */
typedef struct paired_panel {
  bool ready;
  paired_nodes nodes;
  ev_lanes ln_prior[PAIRED_POINTS];
  double below; /* the prior summed over all points before, once it was asked for */
} paired_panel;

/* The counts, and the logarithms of the cells where the posterior about is: the likelihood is
** relative to theirs, because a logarithm of 10^14 is itself rounded to 0.01. */
typedef struct paired_problem {
  double both, only_a, only_b, neither;
  double ln_both, ln_only_a, ln_only_b, ln_neither;
} paired_problem;

typedef struct paired_grid {
  double middle, step;                       /* of the trapezoid rule: where a group begins */
  int points;                                /* on a panel, in lanes: PAIRED_POINTS or fewer */
  ev_lanes weight[PAIRED_NODES];             /* of a panel's nodes */
  ev_lanes to_even[EV_NODES][PAIRED_POINTS]; /* from a rate at them to I at its points */
  paired_panel panels[PAIRED_GROUPS];        /* set up when they are first met */
} paired_grid;

typedef struct paired_cursor {
  double delta, length; /* the line, and 1 - |delta| */
  double origin, step;  /* of the trapezoid rule in the position on it */
  int peak;             /* the point at which the last integral over rho peaked */
  double ln_drop;       /* how far below its peak such an integral goes */
  paired_path path;     /* from x = 0 to the beginning of a panel, */
  int path_end;         /* which is this one */
  double ln_truncated;  /* ln of the most that an integral over rho lost at the grid's ends */
  double ln_residual;   /* ln of the largest error a line was left with, times its density */
} paired_cursor;

typedef struct paired_model {
  paired_problem problem;
  paired_grid grid;
  paired_cursor cursor;
  double tolerance; /* of the density, relative */
} paired_model;

/* One pair of thetas. */
typedef struct paired_means {
  double low, high;   /* distances of the pair from the ends of its line */
  double d2, s2;      /* (mu_A - mu_B)^2 / 8 and (mu_A + mu_B)^2 / 8 */
  double counts[4];   /* of the cells low - I, high - I, |delta| + I, I; */
  double ln_cells[4]; /* their logarithms where the posterior about is */
  double by_I;        /* how much ln of the likelihood changes by I */
} paired_means;

/*
** I along rho
*/
static void set_nodes(paired_nodes *n, double from, double to) {
  for (int i = 0; i < EV_NODES; i++) {
    double e = exp(from + (to - from) / 2 * (1 + ev_node(i)));
    n->square[i / EV_LANES][i % EV_LANES] = e * e;
    n->inverse[i / EV_LANES][i % EV_LANES] = 1 / (e * e);
    n->factor[i / EV_LANES][i % EV_LANES] = (to - from) / 2 * e / (M_PI * (1 + e * e));
  }
}

/* dI/dx at the nodes, times half the length of their panel; gives its integral. */
EV_INLINE double paired_rates(const ev_lanes *weight, const paired_nodes *n, const paired_means *m,
                              ev_lanes f[PAIRED_NODES]) {
  ev_lanes sum = {0};
  for (int i = 0; i < PAIRED_NODES; i++)
    f[i] = -m->d2 * (1 + n->inverse[i]) - m->s2 * (1 + n->square[i]);
  ev_exp(f, PAIRED_NODES);
  for (int i = 0; i < PAIRED_NODES; i++) {
    f[i] *= n->factor[i];
    sum += f[i] * weight[i];
  }
  return ev_sum(&sum);
}

static void set_path(paired_path *path, double x) {
  path->panels = (int)fmin(PAIRED_PATH_PANELS, 1 + fabs(x) / PAIRED_WIDEST_PANEL);
  for (int i = 0; i < path->panels; i++)
    set_nodes(&path->nodes[i], x * i / path->panels, x * (i + 1) / path->panels);
}

/* I at the end of a path; at its beginning, x = 0, it is low * high. */
EV_INLINE double I_at_path_end(const ev_lanes *weight, const paired_path *path,
                               const paired_means *m) {
  ev_lanes f[PAIRED_NODES];
  double I = m->low * m->high;
  for (int p = 0; p < path->panels; p++) I += paired_rates(weight, &path->nodes[p], m, f);
  return fmax(0, I);
}

/* Where group k begins, and with it the panel of that number. */
static double panel_beginning(const paired_grid *g, int k) {
  return g->middle + (k - PAIRED_SIDE_GROUPS) * EV_LANES * g->step;
}

/* (1+rho)^3 (1-rho) drho = e^4x / (1+e^2x)^6 dx, up to a constant. */
static double ln_rho_prior(double x) {
  return 4 * x - 6 * log1p(exp(2 * x));
}

static const paired_panel *panel_of_grid(paired_grid *g, int k) {
  paired_panel *p = &g->panels[k];
  if (p->ready) return p;
  double from = panel_beginning(g, k);
  set_nodes(&p->nodes, from, from + g->points * EV_LANES * g->step);
  for (int i = 0; i < g->points * EV_LANES; i++)
    p->ln_prior[i / EV_LANES][i % EV_LANES] = ln_rho_prior(from + g->step * (i + 1));
  p->ready = true;
  return p;
}

/* The sum of the prior over all of the grid's points up to where panel k begins. */
static double prior_below(paired_grid *g, int k) {
  double *sum = &g->panels[k].below;
  if (*sum == 0)
    for (double x = panel_beginning(g, k), end = x - 10; x > end; x -= g->step)
      *sum += exp(ln_rho_prior(x));
  return *sum;
}

/*
** The integral over rho
*/

/* The logarithms at the points that were walked over, and the largest. */
typedef struct rho_terms {
  int count;
  double most, last; /* the last is the outermost of the panel that was added last */
  ev_lanes ln[PAIRED_GROUPS + 2 * PAIRED_POINTS];
} rho_terms;

/* ln of the likelihood and the prior at the points of a panel, given the rates at its
** nodes and I where it begins. */
EV_INLINE void terms_of_panel(const paired_model *q, const paired_means *m, const paired_panel *p,
                              const ev_lanes f[PAIRED_NODES], double begin, ev_lanes *ln) {
  const paired_grid *g = &q->grid;
  for (int i = 0; i < g->points; i++) {
    ev_lanes part[PAIRED_NODES], J;
    for (int n = 0, j = 0; n < PAIRED_NODES; n++, j += EV_LANES)
      part[n] = (g->to_even[j][i] * f[n][0] + g->to_even[j + 1][i] * f[n][1]) +
                (g->to_even[j + 2][i] * f[n][2] + g->to_even[j + 3][i] * f[n][3]);
    J = begin + ((part[0] + part[1]) + (part[2] + part[3]));
    const ev_lanes cells[] = {m->low - J, m->high - J, fabs(q->cursor.delta) + J, J};
    ln[i] = p->ln_prior[i];
    for (int c = 0; c < 4; c++) {
      ev_lanes ln_cell = cells[c];
      if (m->counts[c] == 0) continue;
      ev_log(&ln_cell, 1);
      ln[i] += m->counts[c] * (ln_cell - m->ln_cells[c]);
    }
  }
}

/* Adds the points of panel k, and moves *I, which is at the end where the walk
** comes in, to the other.  Says whether to walk on. */
EV_INLINE bool add_panel(paired_model *q, const paired_means *m, int k, bool backward, double *I,
                         rho_terms *t) {
  const paired_panel *p = panel_of_grid(&q->grid, k);
  int points = q->grid.points;
  ev_lanes f[PAIRED_NODES], *here = &t->ln[t->count];
  double whole = paired_rates(q->grid.weight, &p->nodes, m, f), begin = backward ? *I - whole : *I;
  *I = backward ? begin : begin + whole;
  terms_of_panel(q, m, p, f, begin, here);
  for (int i = 0; i < points; i++)
    for (int j = 0; j < EV_LANES; j++)
      if (here[i][j] > t->most) {
        t->most = here[i][j];
        q->cursor.peak = EV_LANES * (k + i) + j;
      }
  t->count += points;
  t->last = backward ? here[0][0] : here[points - 1][EV_LANES - 1];
  return t->last > t->most - q->cursor.ln_drop;
}

/* ln of the likelihood where the models differ as little as they can, I = 0. */
static double ln_without_I(const paired_means *m, double d) {
  const double cells[] = {m->low, m->high, d};
  double sum = 0;
  for (int c = 0; c < 3; c++)
    sum += m->counts[c] > 0 ? m->counts[c] * (log(cells[c]) - m->ln_cells[c]) : 0;
  return sum;
}

/* The panel in the middle of which the last line peaked. */
static int panel_about_peak(const paired_cursor *at, int points) {
  int group = (at->peak - EV_LANES * points / 2 + EV_LANES / 2 + 1) / EV_LANES;
  return group < 0 ? 0 : group < PAIRED_GROUPS - points ? group : PAIRED_GROUPS - points;
}

/* A panel about where the last line peaked, and others either way of it until nothing is
** left.  When no pair has to be explained by I and it has become too small to matter,
** what is left is the prior: its sum, relative to the largest term, is what this gives. */
EV_INLINE double walk_over_rho(paired_model *q, const paired_means *m, rho_terms *t) {
  int points = q->grid.points, start = panel_about_peak(&q->cursor, points);
  int up = start, down = start - points;
  if (q->cursor.path_end != start) set_path(&q->cursor.path, panel_beginning(&q->grid, start));
  q->cursor.path_end = start;
  double begin = I_at_path_end(q->grid.weight, &q->cursor.path, m), I = begin;
  while (up <= PAIRED_GROUPS - points && add_panel(q, m, up, false, &I, t)) up += points;
  double cut_off = up > PAIRED_GROUPS - points ? t->last : -HUGE_VAL;
  I = begin;
  t->last = t->ln[0][0];
  while (t->last > t->most - q->cursor.ln_drop && down >= 0) {
    if (m->counts[3] == 0 && I * m->by_I < 1e-11)
      return exp(ln_without_I(m, fabs(q->cursor.delta)) - t->most) *
             prior_below(&q->grid, down + points);
    add_panel(q, m, down, true, &I, t);
    down -= points;
  }
  if (t->last > t->most - q->cursor.ln_drop) cut_off = fmax(cut_off, t->last);
  q->cursor.ln_truncated = fmax(q->cursor.ln_truncated, cut_off - t->most);
  return 0;
}

/* ln of the likelihood integrated over rho. */
EV_WIDE static double ln_over_rho(paired_model *q, const paired_means *m) {
  rho_terms t;
  t.count = 0;
  t.most = t.last = -HUGE_VAL;
  double below = walk_over_rho(q, m, &t);
  ev_lanes sum = {0};
  for (int i = 0; i < t.count; i++) {
    t.ln[i] -= t.most;
    ev_exp(&t.ln[i], 1);
    sum += t.ln[i];
  }
  return t.most + log(ev_sum(&sum) + below);
}

/*
** The integral along a line
*/

/* The pair of thetas at distances low and high from the ends of a line of
** |delta| = d: the lesser is low, or 1 - high - d; the greater low + d, or
** 1 - high. */
static paired_means means_at(double low, double high, double d) {
  double lesser = low < 0.5 ? gsl_cdf_ugaussian_Pinv(low) : gsl_cdf_ugaussian_Qinv(high + d);
  double greater = high > 0.5 ? gsl_cdf_ugaussian_Pinv(low + d) : gsl_cdf_ugaussian_Qinv(high);
  return (paired_means){.low = low,
                        .high = high,
                        .d2 = gsl_pow_2(greater - lesser) / 8,
                        .s2 = gsl_pow_2(greater + lesser) / 8};
}

/* At the position t on the line, as a normal score of the share of it. */
static double ln_at_position(paired_model *q, double t) {
  const paired_problem *p = &q->problem;
  double length = q->cursor.length, delta = q->cursor.delta, d = fabs(delta);
  paired_means m = means_at(length * gsl_cdf_ugaussian_P(t), length * gsl_cdf_ugaussian_Q(t), d);
  m.counts[0] = p->both;
  m.counts[1] = p->neither;
  m.counts[2] = delta > 0 ? p->only_a : p->only_b;
  m.counts[3] = delta > 0 ? p->only_b : p->only_a;
  m.ln_cells[0] = p->ln_both;
  m.ln_cells[1] = p->ln_neither;
  m.ln_cells[2] = delta > 0 ? p->ln_only_a : p->ln_only_b;
  m.ln_cells[3] = delta > 0 ? p->ln_only_b : p->ln_only_a;
  m.by_I = p->both / m.low + p->neither / m.high + m.counts[2] / d;
  return ln_over_rho(q, &m) - t * t / 2;
}

/* One walk along a line: ln_at_position() at whole steps from where the last line
** peaked, which is entry PAIRED_STEPS. */
typedef struct line_walk {
  int first, last, peak;
  double ln[2 * PAIRED_STEPS + 1];
} line_walk;

static void walk_line(paired_model *q, line_walk *l) {
  paired_cursor *at = &q->cursor;
  l->first = l->last = l->peak = PAIRED_STEPS;
  at->ln_drop = PAIRED_RHO_LN_DROP;
  l->ln[PAIRED_STEPS] = ln_at_position(q, at->origin);
  for (int side = 1; side >= -1; side -= 2) {
    int *end = side > 0 ? &l->last : &l->first;
    do {
      double below = l->ln[l->peak] - l->ln[*end];
      at->ln_drop = fmax(PAIRED_LEAST_LN_DROP, PAIRED_RHO_LN_DROP - below);
      *end += side;
      l->ln[*end] = ln_at_position(q, at->origin + (*end - PAIRED_STEPS) * at->step);
      if (l->ln[*end] > l->ln[l->peak]) l->peak = *end;
    } while (l->ln[*end] > l->ln[l->peak] - PAIRED_LN_DROP && *end > 0 && *end < 2 * PAIRED_STEPS);
  }
}

/* How far the higher end of a walk lies below its peak. */
static double walk_drop(const line_walk *l) {
  return l->ln[l->peak] - fmax(l->ln[l->first], l->ln[l->last]);
}

/* The sum over a walk, and what the trapezoid rule makes of its step: ln of the error,
** about, and the power of 1/step that this goes by. */
typedef struct walk_sum {
  double sum, ln_error, power;
} walk_sum;

/* The rule leaves out the line's Fourier transform at one turn a step.  At a third and a
** fourth of a turn that is had from the points themselves; where it falls off as
** exp(-c turn^power), 2 for a normal and 1 for what has a pole somewhere off the axis, the
** two give the power, and so what there is at one turn. */
static walk_sum sum_of_walk(const line_walk *l) {
  double thirds[3] = {0}, fourths[4] = {0};
  for (int j = l->first; j <= l->last; j++) {
    double term = exp(l->ln[j] - l->ln[l->peak]);
    thirds[j % 3] += term;
    fourths[j % 4] += term;
  }
  double sum = thirds[0] + thirds[1] + thirds[2];
  double third = hypot(thirds[0] - (thirds[1] + thirds[2]) / 2,
                       (thirds[1] - thirds[2]) * (M_SQRT3 / 2)),
         fourth = hypot(fourths[0] - fourths[2], fourths[1] - fourths[3]);
  /* Where one point is all there is, both are 1. */
  double ln_third = log(fmax(1e-15, fmin(0.99, third / sum)));
  double ln_fourth = log(fmax(1e-15, fmin(0.995, fourth / sum)));
  double power = fmax(1, fmin(2, log(ln_third / ln_fourth) / log(4.0 / 3) * 2 - 2));
  return (walk_sum){sum, ln_third * pow(3, power), power};
}

/* The step that suits a line which was walked with another.  Where the walk did not come to
** an end, one that would have, were the line normal; otherwise by the error. */
static double suitable_step(const line_walk *l, double step, const walk_sum *s, double ln_wished) {
  double drop = walk_drop(l);
  if (drop < PAIRED_LN_DROP)
    return step * PAIRED_STEPS / 20 * sqrt(PAIRED_LN_DROP / fmax(drop, 0.1));
  return step * fmax(0.4, fmin(1.3, pow(s->ln_error / ln_wished, 1 / s->power)));
}

/* ln of the integral along a line, walked in the steps that suited the last one, and
** again if they do not suit this one.  *error is what is left beyond that: at the grid's
** ends, or when no step suits. */
static double ln_on_line(paired_model *q, double *error) {
  line_walk l;
  walk_sum s = {0};
  double step = q->cursor.step, wished = ln_step_error(q->problem.both + q->problem.neither);
  bool suits = false;
  for (int i = 0; i < PAIRED_WALKS && !suits; i++) {
    q->cursor.ln_truncated = -HUGE_VAL;
    walk_line(q, &l);
    s = sum_of_walk(&l);
    step = q->cursor.step;
    suits = s.ln_error < wished + PAIRED_STEP_SLACK && l.first > 0 && l.last < 2 * PAIRED_STEPS;
    q->cursor.origin += (l.peak - PAIRED_STEPS) * step;
    q->cursor.step = fmin(PAIRED_LONGEST_STEP, suitable_step(&l, step, &s, wished));
  }
  *error = exp(q->cursor.ln_truncated);
  if (!suits) *error = fmax(*error, fmax(exp(s.ln_error), exp(-walk_drop(&l))));
  return l.ln[l.peak] + log(s.sum * step);
}

/* ln of the density of z, delta = tanh(z). */
static double ln_delta_density(double z, void *context) {
  paired_model *q = context;
  paired_cursor *at = &q->cursor;
  double error;
  at->delta = tanh(z);
  at->length = 2 / (1 + exp(2 * fabs(z)));
  double by_z = at->length * (1 + fabs(at->delta));
  double ln = ln_on_line(q, &error) + log(at->length * by_z);
  if (error > q->tolerance) at->ln_residual = fmax(at->ln_residual, ln + log(error));
  return ln;
}

/*
** Laying the grid
*/

static void set_weights(ev_lanes weight[PAIRED_NODES]) {
  for (int i = 0; i < EV_NODES; i++) weight[i / EV_LANES][i % EV_LANES] = ev_weight(i);
}

/* The weights that integrate from -1 to each point of a panel the polynomial through
** values at the nodes. */
static void set_to_even(paired_grid *g) {
  int even = g->points * EV_LANES;
  double at[EV_NODES][EV_NODES + 1], p[EV_NODES + 1];
  for (int j = 0; j < EV_NODES; j++) ev_legendre(ev_node(j), at[j]);
  for (int i = 0; i < even; i++) {
    double x = 2 * (i + 1.0) / even - 1;
    ev_legendre(x, p);
    for (int j = 0; j < EV_NODES; j++) {
      double sum = x + 1;
      for (int k = 1; k < EV_NODES; k++) sum += at[j][k] * (p[k + 1] - p[k - 1]);
      g->to_even[j][i / EV_LANES][i % EV_LANES] = sum / 2 * ev_weight(j);
    }
  }
}

/* Where the posterior about is: the cells as observed, with one more in each; the pair of
** thetas and I that give them; and with these the position on the line, as a normal score,
** with its standard deviation, and x, with that given the position. */
typedef struct paired_guess {
  double n, p11, p10, p01, p00;
  double I, low, high;
  double t, t_sd, x, x_sd;
} paired_guess;

static paired_guess guess_cells(const paired_problem *p) {
  double n = p->both + p->only_a + p->only_b + p->neither + 4;
  paired_guess c = {.n = n,
                    .p11 = (p->both + 1) / n,
                    .p10 = (p->only_a + 1) / n,
                    .p01 = (p->only_b + 1) / n,
                    .p00 = (p->neither + 1) / n};
  c.I = fmin(c.p10, c.p01);
  c.low = c.p11 + c.I;
  c.high = c.p00 + c.I;
  return c;
}

/* dI/dx. */
static double rate_at(const paired_means *m, double x) {
  return exp(-m->d2 * (1 + exp(-2 * x)) - m->s2 * (1 + exp(2 * x))) / (2 * M_PI * cosh(x));
}

/* The x at which I is as guessed, to a fraction of a standard deviation: Newton's method on
** ln I from independence, or bisection where that leads out.  I is about e^x for x < 0, and
** about e^-x short of its most for x > 0: with 2^53 questions it is told from 0 and from
** that to -37 and 37. */
static double x_of_I(const paired_guess *c, const paired_means *m) {
  paired_path path;
  ev_lanes weight[PAIRED_NODES];
  double least = -40, most = 40, x = 0, tolerance = fmin(1e-3, 1 / sqrt(c->n));
  set_weights(weight);
  while (most - least > tolerance) {
    set_path(&path, x);
    double I = I_at_path_end(weight, &path, m);
    if (I < c->I)
      least = x;
    else
      most = x;
    double step = log(c->I / I) * I / rate_at(m, x);
    if (fabs(step) < tolerance) break;
    x = x + step > least && x + step < most ? x + step : (least + most) / 2;
  }
  return x;
}

/* The standard deviation of x there, given the position. */
static double sd_of_x(const paired_guess *c, const paired_means *m, double x) {
  return 1 / (rate_at(m, x) * sqrt(c->n * (1 / c->p11 + 1 / c->p10 + 1 / c->p01 + 1 / c->p00)));
}

static paired_guess guess_posterior(const paired_problem *p) {
  paired_guess c = guess_cells(p);
  paired_means m = means_at(c.low, c.high, fabs(c.p10 - c.p01));
  c.t = gsl_cdf_ugaussian_Pinv(c.low / (c.low + c.high));
  double by_t = (c.low + c.high) * gsl_ran_ugaussian_pdf(c.t);
  double inner = 1 / c.p11 + 1 / c.p00, outer = 1 / c.p10 + 1 / c.p01;
  c.t_sd = sqrt((inner + outer) / (c.n * (4 / (c.p11 * c.p00) + inner * outer))) / by_t;
  c.x = x_of_I(&c, &m);
  c.x_sd = sd_of_x(&c, &m, c.x);
  return c;
}

/* The trapezoid rule leaves out exp(-2 pi^2 (sd/step)^2) where the posterior is
** nearly normal in x, and exp(-pi^2 / 2 step) where it is as wide as can be.
** Far out in delta x is narrower than here, the more so the farther the tail that
** is asked about: these many sd suit a level of 95%, where ln_drop is 22.  Was 0.6; with
** 0.85 for all, bounds of some 100 pairs were off by 1e-8. */
static const double PAIRED_X_STEP = 0.7, PAIRED_NARROW_X_STEP = 0.85, PAIRED_NARROW_X = 0.15;
static const double PAIRED_LONGEST_X_STEP = 0.225;

static double x_step(double sd, double ln_drop) {
  double sds = sd < PAIRED_NARROW_X ? PAIRED_NARROW_X_STEP : PAIRED_X_STEP;
  return fmin(PAIRED_LONGEST_X_STEP, sds * sd * sqrt(22 / ln_drop));
}

static void lay_grid(paired_model *q, const paired_guess *c, double ln_drop) {
  paired_grid *g = &q->grid;
  set_weights(g->weight);
  g->step = x_step(c->x_sd, ln_drop);
  g->points = PAIRED_POINTS;
  while (g->points > 1 && g->points * EV_LANES * g->step > PAIRED_WIDEST_PANEL) g->points /= 2;
  g->middle = c->x;
  set_to_even(g);
  q->cursor.origin = c->t;
  q->cursor.step = fmin(PAIRED_LONGEST_STEP, c->t_sd);
  q->cursor.peak = EV_LANES * PAIRED_SIDE_GROUPS;
  q->cursor.path_end = -1;
}

/*
** The posterior of delta
*/

/* By the grids of paired_few.h; false where they do not serve. */
static bool find_delta_of_few(const double *c, const paired_guess *guess, ev_search search,
                              ev_marginal *m) {
  ev_paired_few few;
  ev_few_guess about = {.x = guess->x,
                        .x_step = x_step(guess->x_sd, search.ln_drop),
                        .share = guess->low / (guess->low + guess->high),
                        .sd = guess->t_sd};
  if (!ev_paired_few_set(&few, c, &about)) return false;
  double ln_tail = log(search.tail), off = search.width * sqrt(-ln_tail / search.ln_drop);
  if (!ev_paired_few_fit(&few, search.start, off, ln_tail)) return false;
  search.ln_density = ev_paired_few_ln;
  search.context = &few;
  return ev_marginal_find(m, &search) == EV_OK && !few.failed;
}

static ev_status find_delta_of_many(const double *c, const paired_guess *guess, ev_search search,
                                    ev_marginal *m) {
  paired_model q = {.problem = {.both = c[0],
                                .only_a = c[1],
                                .only_b = c[2],
                                .neither = c[3],
                                .ln_both = log(guess->p11),
                                .ln_only_a = log(guess->p10),
                                .ln_only_b = log(guess->p01),
                                .ln_neither = log(guess->p00)}};
  lay_grid(&q, guess, search.ln_drop);
  q.tolerance = search.tolerance;
  q.cursor.ln_residual = -HUGE_VAL;
  search.ln_density = ln_delta_density;
  search.context = &q;
  ev_status status = ev_marginal_find(m, &search);
  bool lines = ev_marginal_negligible(m, q.cursor.ln_residual, q.tolerance * search.tail);
  return lines ? status : EV_NOT_CONVERGED;
}

/* To be asked about a tail.  1e-7 of the density moves a bound
** by less than 1e-8; beyond 10^8 questions the cells' rounding leaves it less sharp, and
** since panels could then be halved without end, they are few: some 60 to 340 evaluations
** were taken of 1,600 below 10^8 and 130, about, above. */
static ev_status find_delta(const double *c, double tail, ev_marginal *m) {
  paired_problem problem = {.both = c[0], .only_a = c[1], .only_b = c[2], .neither = c[3]};
  paired_guess guess = guess_posterior(&problem);
  double n = c[0] + c[1] + c[2] + c[3], mean = (c[1] - c[2]) / (n + 4);
  double sd = sqrt(((c[1] + c[2] + 1) / (n + 4) - mean * mean) / (n + 4));
  double ln_drop = PAIRED_LN_DROP - log(tail);
  ev_search search = {.start = atanh(mean),
                      .width = sd / (1 - mean * mean) * sqrt(2 * ln_drop),
                      /* The corner at 0 is of the order of the discordant pairs: with many
                      ** there is none to see. */
                      .has_corner = c[1] + c[2] < 40,
                      .corner = 0,
                      .graded = true,
                      .ln_drop = ln_drop,
                      .tolerance = fmax(1e-7, 1e-15 * n),
                      .tail = tail,
                      .budget = n < 1e8 ? 1600 : 130,
                      /* From 10^8 questions on an interval is at most 1e-3 wide: 1e-5 of
                      ** that is the 1e-8 that is promised.  The tolerance alone refused
                      ** (0, 0, 683116584, 1) for a residual of 1.04e-6, whose bounds are a
                      ** gamma's to 1e-14. */
                      .acceptable = n < 1e8 ? 0 : 1e-5};
  if (find_delta_of_few(c, &guess, search, m)) return EV_OK;
  return find_delta_of_many(c, &guess, search, m);
}

/* The tail that any posterior will be asked about, at the least: that of a level of 95%,
** so that its interval and P are of one posterior.  P was of one to be asked about a tail of
** 0.001; its references are met as well. */
static const double PAIRED_TAIL = 0.025;

void ev_paired_forget(ev_paired_memo *memo) {
  free(memo->posterior);
  memo->posterior = NULL;
}

static bool memo_has(const ev_paired_memo *memo, const double *c, double tail) {
  return memo->posterior && memcmp(memo->counts, c, sizeof memo->counts) == 0 && memo->tail == tail;
}

/* Leaves in the memo the posterior of delta, in the order in which A has no fewer wins, so
** that exchanging the models repeats the same arithmetic. */
static ev_status find_posterior(const double *c, double tail, ev_paired_memo *memo) {
  double ordered[] = {c[0], fmax(c[1], c[2]), fmin(c[1], c[2]), c[3]};
  tail = fmin(tail, PAIRED_TAIL);
  if (memo_has(memo, ordered, tail)) return EV_OK;
  if (!memo->posterior) memo->posterior = malloc(sizeof *memo->posterior);
  if (!memo->posterior) return EV_NO_MEMORY;
  ev_status status = find_delta(ordered, tail, memo->posterior);
  memcpy(memo->counts, ordered, sizeof ordered);
  memo->tail = status == EV_OK ? tail : NAN;
  return status;
}

static void assert_pairs(const double *c) {
  assert(c[0] >= 0 && c[1] >= 0 && c[2] >= 0 && c[3] >= 0);
  assert(c[0] + c[1] + c[2] + c[3] >= 1);
  (void)c;
}

static ev_status interval_of(const ev_marginal *m, const double *c, double tail, ev_interval *ci) {
  ev_interval z;
  ev_status status = ev_marginal_interval(m, tail, &z);
  if (status != EV_OK) return status;
  double hi = tanh(z.hi), lo = c[1] == c[2] ? -hi : tanh(z.lo);
  *ci = c[1] >= c[2] ? (ev_interval){lo, hi} : (ev_interval){-hi, -lo};
  return ev_interval_status(*ci);
}

ev_status ev_paired_diff(const double *c, const ev_options *options, ev_interval *ci) {
  ev_paired_memo own = {.posterior = NULL}, *memo = options->memo ? options->memo : &own;
  double tail = ev_tail(options);
  assert_pairs(c);
  assert(options->level > 0 && options->level < 1);
  ev_status status = find_posterior(c, tail, memo);
  if (status == EV_OK) status = interval_of(memo->posterior, c, tail, ci);
  ev_paired_forget(&own);
  return status;
}

static double share_beyond(const ev_marginal *m, double margin, bool exchanged) {
  double z = atanh(margin), above = ev_marginal_beyond(m, z, true);
  bool mostly_above = above > 0.5;
  double smaller = mostly_above ? ev_marginal_beyond(m, z, false) : above;
  smaller = ev_with_exact_complement(smaller);
  return mostly_above != exchanged ? 1 - smaller : smaller;
}

/* Where both have as many wins, on the order in which the margin is not negative:
** exchanging the models, and the margin's sign, repeats the same arithmetic. */
ev_status ev_paired_prob_better(const double *c, const ev_options *options, double *p) {
  ev_paired_memo own = {.posterior = NULL}, *memo = options->memo ? options->memo : &own;
  bool exchanged = c[1] != c[2] ? c[1] < c[2] : options->margin < 0;
  double margin = exchanged ? -options->margin : options->margin;
  assert_pairs(c);
  assert(fabs(margin) <= 1);
  *p = 0.5;
  if (c[1] == c[2] && margin == 0) return EV_OK;
  ev_status status = find_posterior(c, PAIRED_TAIL, memo);
  if (status == EV_OK) *p = share_beyond(memo->posterior, margin, exchanged);
  ev_paired_forget(&own);
  return status == EV_OK && isnan(*p) ? EV_NOT_CONVERGED : status;
}

/* n^2 times the variance, (only_a + only_b) n - (only_a - only_b)^2, in the form that does
** not cancel where nearly all pairs are discordant. */
ev_status ev_paired_diff_clt(const double *c, const ev_options *options, ev_interval *ci) {
  double n = c[0] + c[1] + c[2] + c[3], discordant = c[1] + c[2], concordant = c[0] + c[3];
  assert_pairs(c);
  assert(options->level > 0 && options->level < 1);
  double variance = 4 * (c[1] / n) * (c[2] / n) + discordant / n * (concordant / n);
  *ci = ev_plus_minus((c[1] - c[2]) / n, ev_deviate(options) * sqrt(variance / n));
  return ev_interval_status(*ci);
}
