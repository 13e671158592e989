/*
** The ranks of models with independent Beta posteriors, exactly.
**
** Given that model i's accuracy is x, the models above it number r with the chance
** PB_r, the Poisson-binomial distribution of trials that succeed with q_j = P(theta_j > x),
** j != i.  So P(rank_i = r + 1) = int f_i(x) PB_r dx.  One set of nodes serves all models:
** at each the distribution over all of them is built by its recursion, and model i's own
** trial is taken out again, from the end where that is stable: upward while q_i <= 1/2,
** downward beyond.
**
** The axis is the logit of x, on which every posterior is log-concave.  It is walked from
** left to right in panels of 16 Gauss-Legendre nodes.  A panel is as long as the
** narrowest of the posteriors in it allows, and as the count of the models above x, which
** changes over sqrt(its variance) / (its slope), allows: with a thousand equal models
** that is 25 times narrower than a posterior, and what PB_r needs.  Values at the nodes
** give each tail up to there from the panel's own integral, so that no distribution
** function is ever evaluated.
**
** Models with equal counts are one class, and classes have an order of their own.
*/
#include "ranks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "beta.h"
#include "marginal.h"

/* How far below its peak a posterior is negligible, in logarithms: 4e-20. */
static const double RANK_LN_DROP = 44.6;

/* How long a panel may be, in standard deviations of the posteriors in it, and in lengths
** over which the count of models above changes.  16 nodes integrate a normal density of
** five standard deviations to 1e-15; at 6 and 6 the rows of a thousand models were off
** by 4e-13. */
static const double POSTERIOR_PANEL = 3.5, COUNT_PANEL = 4;

/* What the Poisson-binomial distribution has beyond its window. */
static const double OUTSIDE = 1e-24;

typedef struct rank_class {
  double k, n, times;
  ev_beta posterior;
  double from, to; /* where it is not negligible, in logits */
  double mass;     /* left of the walk */
  double best, rank;
} rank_class;

/* A posterior at the nodes of a panel, and its mass below them. */
typedef struct rank_values {
  double density[EV_NODES], below[EV_NODES];
} rank_values;

typedef struct rank_walk {
  size_t models, count; /* of models and of classes */
  rank_class *classes;
  size_t *active, active_count;          /* the classes with mass in the panel */
  rank_values *values;                   /* one each */
  size_t surely_above;                   /* models right of the panel */
  double *counts[2], *block;             /* PB, and the next of its recursion; where both are */
  size_t least, most;                    /* its window */
  double *chances;                       /* of rank r + 1 and class i at [r * count + i] */
  double cumulative[EV_NODES][EV_NODES]; /* integrals from a panel's left end to a node */
} rank_walk;

/*
** Classes
*/
static int by_counts(const void *x, const void *y) {
  const rank_class *a = x, *b = y;
  double mean_a = a->posterior.mean, mean_b = b->posterior.mean;
  if (mean_a != mean_b) return mean_a < mean_b ? -1 : 1;
  if (a->n != b->n) return a->n < b->n ? -1 : 1;
  return (a->k > b->k) - (a->k < b->k);
}

/* Sorts the models into classes; returns how many there are. */
static size_t make_classes(const ev_answered *models, size_t count, rank_class *classes) {
  for (size_t i = 0; i < count; i++) {
    assert(models[i].k >= 0 && models[i].k <= models[i].n && models[i].n >= 1);
    classes[i] = (rank_class){.k = models[i].k, .n = models[i].n, .times = 1};
    classes[i].posterior = ev_beta_make(models[i].k + 1, models[i].n - models[i].k + 1);
  }
  qsort(classes, count, sizeof *classes, by_counts);
  size_t kept = 0;
  for (size_t i = 1; i < count; i++) {
    if (by_counts(&classes[kept], &classes[i]) == 0)
      classes[kept].times++;
    else
      classes[++kept] = classes[i];
  }
  for (size_t i = 0; i <= kept; i++) {
    classes[i].from = ev_beta_negligible_beyond(&classes[i].posterior, -1, RANK_LN_DROP);
    classes[i].to = ev_beta_negligible_beyond(&classes[i].posterior, 1, RANK_LN_DROP);
  }
  return kept + 1;
}

/*
** Panels
*/

/* Legendre's polynomials 0 to EV_NODES at x. */
static void legendre(double x, double *p) {
  p[0] = 1;
  p[1] = x;
  for (int i = 1; i < EV_NODES; i++) p[i + 1] = ((2 * i + 1) * x * p[i] - i * p[i - 1]) / (i + 1);
}

/* The integral from -1 to node i of the polynomial through the values at the nodes. */
static void fill_cumulative(rank_walk *w) {
  double at[EV_NODES][EV_NODES + 1];
  for (int i = 0; i < EV_NODES; i++) legendre(ev_node(i), at[i]);
  for (int i = 0; i < EV_NODES; i++)
    for (int j = 0; j < EV_NODES; j++) {
      double sum = (ev_node(i) + 1) / 2;
      for (int k = 1; k < EV_NODES; k++) sum += at[j][k] * (at[i][k + 1] - at[i][k - 1]) / 2;
      w->cumulative[i][j] = ev_weight(j) * sum;
    }
}

/* The standard deviation that the curvature here amounts to.  Curvature grows by a factor
** of e in a logit at the most, so where there is hardly any, as in a tail that is
** exponential, one logit is no step too far. */
static double local_width(const ev_beta *d, double t) {
  ev_point x = ev_at_logit(t);
  return 1 / sqrt(fmax(1, (d->a + d->b) * x.x * x.y));
}

/* How long a panel from t may be for the posteriors' sake: as long as each of them
** allows, or up to where that begins. */
static double posterior_limit(const rank_walk *w, double t, double end) {
  double length = end - t;
  for (size_t i = 0; i < w->count; i++) {
    const rank_class *c = &w->classes[i];
    if (c->to <= t || c->from >= t + length) continue;
    double start = fmax(t, c->from), limit = POSTERIOR_PANEL * local_width(&c->posterior, start);
    limit = fmin(limit, POSTERIOR_PANEL * local_width(&c->posterior, start + limit));
    length = fmin(length, fmax(c->from - t, limit));
  }
  return length;
}

/* Sorts the classes into those with mass in the panel from t, and those right of it. */
static void find_active(rank_walk *w, double t, double length) {
  w->active_count = w->surely_above = 0;
  for (size_t i = 0; i < w->count; i++) {
    const rank_class *c = &w->classes[i];
    if (c->from >= t + length)
      w->surely_above += (size_t)c->times;
    else if (c->to > t)
      w->active[w->active_count++] = i;
  }
}

/* The posteriors at the nodes of the panel from t, and their tails. */
static void evaluate_panel(rank_walk *w, double t, double length) {
  ev_point x[EV_NODES];
  for (int j = 0; j < EV_NODES; j++) x[j] = ev_at_logit(t + length * (ev_node(j) + 1) / 2);
  find_active(w, t, length);
  for (size_t i = 0; i < w->active_count; i++) {
    const rank_class *c = &w->classes[w->active[i]];
    rank_values *v = &w->values[i];
    for (int j = 0; j < EV_NODES; j++)
      v->density[j] = exp(ev_beta_ln_logit_density(&c->posterior, x[j]));
    for (int j = 0; j < EV_NODES; j++) {
      double part = 0;
      for (int l = 0; l < EV_NODES; l++) part += w->cumulative[j][l] * v->density[l];
      v->below[j] = fmin(1, fmax(0, c->mass + part * length / 2));
    }
  }
}

/* In how many of its own lengths the count of models above changes over the panel. */
static double count_lengths(const rank_walk *w, double length) {
  double most = 0;
  for (int j = 0; j < EV_NODES; j++) {
    double slope = 0, variance = 1;
    for (size_t i = 0; i < w->active_count; i++) {
      const rank_values *v = &w->values[i];
      double times = w->classes[w->active[i]].times;
      slope += times * v->density[j];
      variance += times * v->below[j] * (1 - v->below[j]);
    }
    most = fmax(most, length * slope / sqrt(variance));
  }
  return most;
}

/*
** A node
*/

/* One more trial: PB_r becomes PB_r p + PB_(r-1) q. */
static void add_trial(rank_walk *w, double p, double q) {
  const double *restrict from = w->counts[0];
  double *restrict to = w->counts[1];
  size_t least = w->least, most = w->most;
  to[least] = from[least] * p;
  for (size_t r = least + 1; r <= most; r++) to[r] = from[r] * p + from[r - 1] * q;
  to[most + 1] = from[most] * q;
  most++;
  while (to[least] < OUTSIDE) least++;
  while (to[most] < OUTSIDE) most--;
  w->least = least;
  w->most = most;
  double *swap = w->counts[0];
  w->counts[0] = w->counts[1];
  w->counts[1] = swap;
}

/* PB over all models at node j. */
static void count_above(rank_walk *w, int j) {
  w->least = w->most = w->surely_above;
  w->counts[0][w->surely_above] = 1;
  for (size_t i = 0; i < w->active_count; i++) {
    double below = w->values[i].below[j];
    for (double times = w->classes[w->active[i]].times; times > 0; times--)
      add_trial(w, below, 1 - below);
  }
}

/* How many classes are taken out together: independent recursions, side by side, hide
** that each waits for its last. */
enum { RANK_LANES = 8 };

/* The trials of a block of classes that are to be taken out in one direction. */
typedef struct rank_block {
  size_t lanes, classes[RANK_LANES];
  double scale[RANK_LANES], ratio[RANK_LANES], share[RANK_LANES], left[RANK_LANES];
} rank_block;

/* Adds what is left of PB, by its share, to the chances of one rank. */
static void add_chances(const rank_block *b, double *chances) {
  if (b->lanes == RANK_LANES && b->classes[RANK_LANES - 1] == b->classes[0] + RANK_LANES - 1) {
    chances += b->classes[0];
    for (int l = 0; l < RANK_LANES; l++) chances[l] += b->share[l] * b->left[l];
  } else {
    for (size_t l = 0; l < b->lanes; l++) chances[b->classes[l]] += b->share[l] * b->left[l];
  }
}

/* Takes the trials of a block out of PB, from its lower end or from its upper, and adds
** what is left. */
static void take_out(rank_walk *w, rank_block *b, bool upward) {
  const double *counts = w->counts[0];
  for (size_t s = w->least; s <= w->most; s++) {
    size_t r = upward ? s : w->least + w->most - s;
    for (int l = 0; l < RANK_LANES; l++)
      b->left[l] = counts[r] * b->scale[l] - b->ratio[l] * b->left[l];
    if (!upward && r == 0) break;
    add_chances(b, w->chances + (upward ? r : r - 1) * w->count);
  }
}

/* Likewise of all classes with mass at node j whose trials go in one direction. */
static void take_all_out(rank_walk *w, int j, double weight, bool upward) {
  rank_block b = {.lanes = 0};
  for (size_t i = 0; i < w->active_count; i++) {
    double below = w->values[i].below[j], share = weight * w->values[i].density[j];
    if (share < OUTSIDE || upward != (below >= 0.5)) continue;
    double larger = upward ? below : 1 - below;
    b.classes[b.lanes] = w->active[i];
    b.scale[b.lanes] = 1 / larger;
    b.ratio[b.lanes] = (1 - larger) / larger;
    b.share[b.lanes++] = share;
    if (b.lanes < RANK_LANES) continue;
    take_out(w, &b, upward);
    b = (rank_block){.lanes = 0};
  }
  if (b.lanes > 0) take_out(w, &b, upward);
}

/* The chance that all other models are below: their product, without the class's own. */
static void add_best(rank_walk *w, int j, double weight) {
  double ln_all = 0, impossible = 0;
  if (w->surely_above > 0) return;
  for (size_t i = 0; i < w->active_count; i++) {
    double below = w->values[i].below[j], times = w->classes[w->active[i]].times;
    if (below > 0)
      ln_all += times * log(below);
    else
      impossible += times;
  }
  for (size_t i = 0; i < w->active_count; i++) {
    double below = w->values[i].below[j], own = below > 0 ? log(below) : 0;
    if (impossible == (below > 0 ? 0 : 1))
      w->classes[w->active[i]].best += weight * w->values[i].density[j] * exp(ln_all - own);
  }
}

static void add_node(rank_walk *w, int j, double weight) {
  double above = (double)w->surely_above;
  for (size_t i = 0; i < w->active_count; i++)
    above += w->classes[w->active[i]].times * (1 - w->values[i].below[j]);
  for (size_t i = 0; i < w->active_count; i++) {
    rank_class *c = &w->classes[w->active[i]];
    double own = 1 - w->values[i].below[j], share = weight * w->values[i].density[j];
    c->mass += share;
    c->rank += share * (1 + fmax(0, above - own));
  }
  add_best(w, j, weight);
  count_above(w, j);
  take_all_out(w, j, weight, true);
  take_all_out(w, j, weight, false);
}

/* Walks the axis. */
static ev_status walk(rank_walk *w, ev_host host) {
  double t = HUGE_VAL, end = -HUGE_VAL;
  for (size_t i = 0; i < w->count; i++) {
    t = fmin(t, w->classes[i].from);
    end = fmax(end, w->classes[i].to);
  }
  while (t < end) {
    if (host.interrupted && host.interrupted(host.context)) return EV_INTERRUPTED;
    double length = posterior_limit(w, t, end), lengths;
    evaluate_panel(w, t, length);
    while ((lengths = count_lengths(w, length)) > COUNT_PANEL) {
      length *= fmax(0.25, 0.9 * COUNT_PANEL / lengths);
      evaluate_panel(w, t, length);
    }
    for (int j = 0; j < EV_NODES; j++) add_node(w, j, ev_weight(j) * length / 2);
    if (!(t + length > t)) return EV_NOT_CONVERGED;
    t += length;
  }
  return EV_OK;
}

/*
** Answers
*/

/* Equal models have ranks whose chances add up to the tail exactly; rounding must not
** decide on which side of it they are. */
static const double SLACK_OF_TAIL = 1e-12;

/* The ranks of a class that leave at most `tail` on either side. */
static void rank_bounds(const rank_walk *w, size_t class, double tail, ev_rank *rank) {
  double beyond = 0, allowed = (tail + SLACK_OF_TAIL) * w->classes[class].mass;
  size_t r = 0;
  while (r + 1 < w->models && (beyond += w->chances[r * w->count + class]) <= allowed) r++;
  rank->lo = (double)r + 1;
  beyond = 0;
  r = w->models - 1;
  while (r > 0 && (beyond += w->chances[r * w->count + class]) <= allowed) r--;
  rank->hi = (double)r + 1;
}

/* What a class is told, and its row of the distribution. */
static void answer_class(const rank_walk *w, size_t class, const ev_options *options, ev_rank *rank,
                         double *row) {
  const rank_class *c = &w->classes[class];
  rank->mean = c->posterior.mean;
  rank->best = fmin(1, c->best / c->mass);
  rank->rank = c->rank / c->mass;
  rank_bounds(w, class, ev_tail(options), rank);
  for (size_t r = 0; row && r < w->models; r++) row[r] = w->chances[r * w->count + class] / c->mass;
}

/* A posterior that was not resolved does not integrate to 1.  Its density has lost as
** many digits as its questions leave it: with 2^53, all but eight. */
static ev_status check_masses(const rank_walk *w) {
  for (size_t i = 0; i < w->count; i++)
    if (!(fabs(w->classes[i].mass - 1) < 1e-10 + 1e-15 * sqrt(w->classes[i].n)))
      return EV_NOT_CONVERGED;
  return EV_OK;
}

static int by_counts_of_class(const ev_answered *model, const rank_class *c) {
  rank_class key = {.k = model->k, .n = model->n};
  key.posterior.mean = (model->k + 1) / (model->k + 1 + (model->n - model->k + 1));
  return by_counts(&key, c);
}

static void answer(const rank_walk *w, const ev_answered *models, const ev_options *options,
                   ev_rank *ranks, double *distribution) {
  for (size_t i = 0; i < w->models; i++) {
    size_t low = 0, high = w->count - 1;
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (by_counts_of_class(&models[i], &w->classes[middle]) > 0)
        low = middle + 1;
      else
        high = middle;
    }
    answer_class(w, low, options, &ranks[i], distribution ? distribution + i * w->models : NULL);
  }
}

static bool allocate(rank_walk *w) {
  w->active = malloc(w->count * sizeof *w->active);
  w->values = malloc(w->count * sizeof *w->values);
  w->block = malloc(2 * (w->models + 2) * sizeof *w->block);
  w->chances = calloc((w->models + 1) * w->count, sizeof *w->chances);
  if (!w->active || !w->values || !w->block || !w->chances) return false;
  w->counts[0] = w->block;
  w->counts[1] = w->block + w->models + 2;
  return true;
}

ev_status ev_ranks(const ev_answered *models, size_t count, const ev_options *options, ev_host host,
                   ev_rank *ranks, double *distribution) {
  assert(count >= 1 && count <= EV_MOST_RANKED);
  rank_walk *w = calloc(1, sizeof *w);
  rank_class *classes = malloc(count * sizeof *classes);
  ev_status status = EV_NO_MEMORY;
  if (w && classes) {
    w->models = count;
    w->classes = classes;
    w->count = make_classes(models, count, classes);
    if (allocate(w)) {
      fill_cumulative(w);
      status = walk(w, host);
      if (status == EV_OK) status = check_masses(w);
      if (status == EV_OK) answer(w, models, options, ranks, distribution);
    }
    free(w->values);
    free(w->active);
    free(w->block);
    free(w->chances);
  }
  free(classes);
  free(w);
  return status;
}
