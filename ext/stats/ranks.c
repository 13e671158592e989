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
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_math.h>

#include "atoms.h"
#include "beta.h"
#include "lanes.h"
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

/* Where a panel is short beside a posterior, the logarithm of its density at so many nodes
** of Chebyshev's gives it at all. */
enum { RANK_COARSE = 6 };

/* PB within its window, which is where nothing but it is. */
typedef struct rank_counts {
  double *chances;
  size_t least, most;
} rank_counts;

typedef struct rank_walk {
  size_t models, count; /* of models and of classes */
  rank_class *classes;
  size_t *active, active_count;          /* the classes with mass in the panel */
  rank_values *values;                   /* one each */
  size_t surely_above;                   /* models right of the panel */
  double *counts[2], *block;             /* PB, and the next of its recursion; where all are */
  size_t least, most;                    /* its window */
  rank_counts at[EV_NODES];              /* PB at the nodes of the panel */
  ev_lanes_kept *sums;                   /* of a block of classes over the panel */
  double *chances;                       /* of rank r + 1 and class i at [r * count + i] */
  double cumulative[EV_NODES][EV_NODES]; /* integrals from a panel's left end to a node */
  double coarse[EV_NODES][RANK_COARSE];  /* what a node takes from coarse ones */
} rank_walk;

/*
** Classes
*/
static int by_counts(const void *x, const void *y) {
  const rank_class *a = x, *b = y;
  double mean_a = a->posterior.mean, mean_b = b->posterior.mean;
  if (mean_a != mean_b) return ev_compare_numbers(mean_a, mean_b);
  return ev_compare_counts(a->k, a->n, b->k, b->n);
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

/* The integral from -1 to node i of the polynomial through the values at the nodes. */
static void fill_cumulative(rank_walk *w) {
  double at[EV_NODES][EV_NODES + 1];
  for (int i = 0; i < EV_NODES; i++) ev_legendre(ev_node(i), at[i]);
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

/* What a polynomial through the coarse nodes leaves out is less than 1e-15: the sixth derivative,
 *at most
 ** (a+b)/4, times length^6 / (6! 2^11). */
static bool panel_is_short(const ev_beta *d, double length) {
  double square = length * length;
  return (d->a + d->b) / 4 * square * square * square < 1e-10;
}

static double coarse_node(int i) {
  return sin(M_PI * (2 * i + 1 - RANK_COARSE) / (2 * RANK_COARSE));
}

/* Lagrange's polynomials of the coarse nodes, at the others. */
static void fill_coarse(rank_walk *w) {
  for (int j = 0; j < EV_NODES; j++)
    for (int i = 0; i < RANK_COARSE; i++) {
      w->coarse[j][i] = 1;
      for (int l = 0; l < RANK_COARSE; l++)
        if (l != i)
          w->coarse[j][i] *= (ev_node(j) - coarse_node(l)) / (coarse_node(i) - coarse_node(l));
    }
}

/* A posterior's density at the nodes of a panel, from the logarithms at coarse ones. */
static void density_from_coarse(const rank_walk *w, const ev_beta *posterior, const ev_point *x,
                                double *density) {
  double ln[RANK_COARSE];
  for (int i = 0; i < RANK_COARSE; i++) ln[i] = ev_beta_ln_logit_density(posterior, x[i]);
  for (int j = 0; j < EV_NODES; j++) {
    double sum = 0;
    for (int i = 0; i < RANK_COARSE; i++) sum += w->coarse[j][i] * ln[i];
    density[j] = exp(sum);
  }
}

/* The posteriors at the nodes of the panel from t, and their tails. */
static void evaluate_panel(rank_walk *w, double t, double length) {
  ev_point x[EV_NODES], coarse[RANK_COARSE];
  for (int j = 0; j < EV_NODES; j++) x[j] = ev_at_logit(t + length * (ev_node(j) + 1) / 2);
  for (int i = 0; i < RANK_COARSE; i++)
    coarse[i] = ev_at_logit(t + length * (coarse_node(i) + 1) / 2);
  find_active(w, t, length);
  for (size_t i = 0; i < w->active_count; i++) {
    const rank_class *c = &w->classes[w->active[i]];
    rank_values *v = &w->values[i];
    if (panel_is_short(&c->posterior, length))
      density_from_coarse(w, &c->posterior, coarse, v->density);
    else
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

/* What a row of PB has before its first element and beyond its last, so that four at a time
** may be read and written: zeros beside the window. */
enum { RANK_MARGIN = 2 * EV_LANES };

/* Two more trials, which fail with chances p and q: PB_r becomes
** PB_r p q + PB_(r-1) (p (1-q) + (1-p) q) + PB_(r-2) (1-p)(1-q). */
EV_WIDE static void add_trials(rank_walk *w, double p, double q) {
  double *from = w->counts[0], *to = w->counts[1];
  double none = p * q, one = p * (1 - q) + (1 - p) * q, both = (1 - p) * (1 - q);
  size_t least = w->least, most = w->most + 2;
  double *first = from + least;
  first[-1] = first[-2] = 0;
  for (size_t r = w->most + 1; r < most + EV_LANES; r++) from[r] = 0;
  for (size_t r = least; r <= most; r += EV_LANES) {
    ev_lanes same, fewer, fewest;
    memcpy(&same, from + r, sizeof same);
    memcpy(&fewer, from + r - 1, sizeof fewer);
    memcpy(&fewest, from + r - 2, sizeof fewest);
    same = same * none + fewer * one + fewest * both;
    memcpy(to + r, &same, sizeof same);
  }
  while (to[least] < OUTSIDE) least++;
  while (to[most] < OUTSIDE) most--;
  w->least = least;
  w->most = most;
  w->counts[0] = to;
  w->counts[1] = from;
}

/* PB over all models at node j.  The last may want a trial beside it that never succeeds. */
static void count_above(rank_walk *w, int j) {
  double waiting = -1;
  w->least = w->most = w->surely_above;
  w->counts[0][w->surely_above] = 1;
  for (size_t i = 0; i < w->active_count; i++) {
    double below = w->values[i].below[j];
    for (double times = w->classes[w->active[i]].times; times > 0; times--) {
      if (waiting >= 0) add_trials(w, waiting, below);
      waiting = waiting >= 0 ? -1 : below;
    }
  }
  if (waiting >= 0) add_trials(w, waiting, 1);
  rank_counts *at = &w->at[j];
  at->least = w->least;
  at->most = w->most;
  memcpy(at->chances + w->least, w->counts[0] + w->least,
         (w->most - w->least + 1) * sizeof *at->chances);
}

/* How many classes are taken out together: independent recursions, side by side, hide
** that each waits for its last. */
enum { RANK_VECTORS = 4, RANK_LANES = RANK_VECTORS * EV_LANES };

/* The trials of a block of classes at a node, in one direction; the share of those that go in
** the other is 0. */
typedef struct rank_block {
  ev_lanes scale[RANK_VECTORS], ratio[RANK_VECTORS], share[RANK_VECTORS];
} rank_block;

/* Takes the trials of a block out of PB, from its lower end or from its upper, and adds
** what is left, by its share, to the sums of each rank. */
EV_WIDE static void take_out(const rank_counts *at, const rank_block *b, bool upward,
                             ev_lanes_kept *sums) {
  ev_lanes left[RANK_VECTORS] = {{0}};
  for (size_t s = at->least; s <= at->most; s++) {
    size_t r = upward ? s : at->least + at->most - s;
    for (int v = 0; v < RANK_VECTORS; v++)
      left[v] = at->chances[r] * b->scale[v] - b->ratio[v] * left[v];
    if (!upward && r == 0) break;
    ev_lanes_kept *sum = sums + (upward ? r : r - 1) * RANK_VECTORS;
    for (int v = 0; v < RANK_VECTORS; v++) sum[v] += b->share[v] * left[v];
  }
}

/* Likewise of the classes from active[first] on whose trials at node j go in one direction. */
static void take_block_out(rank_walk *w, size_t first, int j, double weight, bool upward) {
  rank_block b;
  memset(&b, 0, sizeof b);
  bool any = false;
  for (size_t l = 0; l < RANK_LANES && first + l < w->active_count; l++) {
    const rank_values *values = &w->values[first + l];
    double below = values->below[j], share = weight * values->density[j];
    if (share < OUTSIDE || upward != (below >= 0.5)) continue;
    double larger = upward ? below : 1 - below;
    b.scale[l / EV_LANES][l % EV_LANES] = 1 / larger;
    b.ratio[l / EV_LANES][l % EV_LANES] = (1 - larger) / larger;
    b.share[l / EV_LANES][l % EV_LANES] = share;
    any = true;
  }
  if (any) take_out(&w->at[j], &b, upward, w->sums);
}

/* The chances of all classes with mass in the panel, block by block: the sums over its nodes
** first, so that the ranks of a block stay in the processor's nearest memory. */
static void add_chances(rank_walk *w, double length) {
  size_t least = SIZE_MAX, most = 0;
  for (int j = 0; j < EV_NODES; j++) {
    least = w->at[j].least < least ? w->at[j].least : least;
    most = w->at[j].most > most ? w->at[j].most : most;
  }
  if (least > 0) least--;
  for (size_t first = 0; first < w->active_count; first += RANK_LANES) {
    memset(w->sums + least * RANK_VECTORS, 0, (most - least + 1) * RANK_VECTORS * sizeof *w->sums);
    for (int j = 0; j < EV_NODES; j++) {
      take_block_out(w, first, j, ev_weight(j) * length / 2, true);
      take_block_out(w, first, j, ev_weight(j) * length / 2, false);
    }
    for (size_t r = least; r <= most; r++)
      for (size_t l = 0; l < RANK_LANES && first + l < w->active_count; l++)
        w->chances[r * w->count + w->active[first + l]] +=
            w->sums[r * RANK_VECTORS + l / EV_LANES][l % EV_LANES];
  }
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
}

/* The host is asked at first, and then after so many models, of a panel each. */
static const double RANKS_UNASKED = 100;

/* Walks the axis. */
static ev_status walk(rank_walk *w, ev_host host) {
  double t = HUGE_VAL, end = -HUGE_VAL;
  for (size_t i = 0; i < w->count; i++) {
    t = fmin(t, w->classes[i].from);
    end = fmax(end, w->classes[i].to);
  }
  for (double unasked = 0; t < end; unasked -= (double)w->count) {
    if (unasked <= 0) {
      if (ev_interrupted(host)) return EV_INTERRUPTED;
      unasked = RANKS_UNASKED;
    }
    double length = posterior_limit(w, t, end), lengths;
    evaluate_panel(w, t, length);
    while ((lengths = count_lengths(w, length)) > COUNT_PANEL) {
      length *= fmax(0.25, 0.9 * COUNT_PANEL / lengths);
      evaluate_panel(w, t, length);
    }
    for (int j = 0; j < EV_NODES; j++) add_node(w, j, ev_weight(j) * length / 2);
    add_chances(w, length);
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
  size_t row = w->models + 1 + 2 * RANK_MARGIN;
  w->block = malloc((2 + EV_NODES) * row * sizeof *w->block);
  w->sums = malloc((w->models + 1) * RANK_VECTORS * sizeof *w->sums);
  w->chances = calloc((w->models + 1) * w->count, sizeof *w->chances);
  if (!w->active || !w->values || !w->block || !w->sums || !w->chances) return false;
  for (size_t i = 0; i < 2; i++) w->counts[i] = w->block + i * row + RANK_MARGIN;
  for (size_t j = 0; j < EV_NODES; j++) w->at[j].chances = w->block + (2 + j) * row + RANK_MARGIN;
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
      fill_coarse(w);
      status = walk(w, host);
      if (status == EV_OK) status = check_masses(w);
      if (status == EV_OK) answer(w, models, options, ranks, distribution);
    }
    free(w->values);
    free(w->active);
    free(w->block);
    free(w->sums);
    free(w->chances);
  }
  free(classes);
  free(w);
  return status;
}
