/*
** The ranks of models with independent Beta posteriors, exactly.
**
** Given that model i's accuracy is x, the models above it number r with the chance PB_r, the
** Poisson-binomial distribution of trials that succeed with q_j = P(theta_j > x), j != i.  So
** P(rank_i = r + 1) = int f_i(x) PB_r dx.  The axis is the logit of x, on which every posterior is
** log-concave.
**
**   1. Models with equal counts are one class, and classes have an order of their own.
**   2. Walk the axis from left to right in panels of 16 Gauss-Legendre nodes, the same for all
**      models.  A panel is as long as the narrowest of the posteriors in it allows, and as the
**      count of the models above x, which changes over sqrt(its variance) / (its slope), allows:
**      with a thousand equal models that is 25 times narrower than a posterior, and what PB_r
**      needs.
**   3. The densities at the nodes give each tail up to there by the panel's own integral, so that
**      no distribution function is ever evaluated.
**   4. At a node build PB over all models by its recursion, and take each model's own trial out
**      again, from the end where that is stable: upward while q_i <= 1/2, downward beyond.
*/
#include "ranks.h"

#include <assert.h>
#include <stdlib.h>

#include "atoms.h"
#include "beta.h"
#include "marginal.h"

/* How far below its peak a posterior is negligible, in logarithms: 4e-20. */
static const double RANK_LN_DROP = 44.6;

/* How long a panel may be, in standard deviations of the posteriors in it, and in lengths
** over which the count of models above changes.  16 nodes integrate a normal density of
** five standard deviations to 1e-15; at 6 and 6 the rows of a thousand models were off
** by 4e-13. */
static const double POSTERIOR_PANEL = 3.5, COUNT_PANEL = 4;

/* The mass of the Poisson-binomial distribution outside its window. */
static const double OUTSIDE = 1e-24;

/* The value of a tail that rounding would make 0 or less, so that it can be divided by. */
static const double LEAST_BELOW = 1e-300;

typedef struct rank_class {
  double k, n, times;
  size_t model; /* one of them */
  ev_beta posterior;
  double from, to; /* where it is not negligible, in logits */
  double mass;     /* left of the walk */
} rank_class;

/* A posterior at the nodes of a panel, and its mass below them. */
typedef struct rank_values {
  double density[EV_NODES], below[EV_NODES];
} rank_values;

typedef struct rank_walk {
  size_t models, count; /* of models and of classes */
  rank_class *classes;
  size_t *class_of;                      /* of each model */
  size_t *active, active_count;          /* the classes with mass in the panel */
  rank_values *values;                   /* one each */
  size_t surely_above;                   /* models right of the panel */
  double *counts;                        /* PB at a node, which is nothing beyond its window: */
  size_t least, most;                    /* from the least to the most */
  double *chances;                       /* of class i and rank r + 1 at [i * (models + 1) + r] */
  double cumulative[EV_NODES][EV_NODES]; /* integrals from a panel's left end to a node */
} rank_walk;

/*
** Classes
*/
static int by_counts(const void *x, const void *y) {
  const rank_class *a = x, *b = y;
  return ev_compare_counts(a->k, a->n, b->k, b->n);
}

static void make_classes(rank_walk *w, const ev_answered *models) {
  for (size_t i = 0; i < w->models; i++) {
    double k = models[i].k, n = models[i].n;
    assert(k >= 0 && k <= n && n >= 1);
    w->classes[i] = (rank_class){.k = k, .n = n, .model = i};
  }
  qsort(w->classes, w->models, sizeof *w->classes, by_counts);
  for (size_t i = 0; i < w->models; i++) {
    rank_class next = w->classes[i];
    if (i == 0 || by_counts(&w->classes[w->count - 1], &next) != 0) w->classes[w->count++] = next;
    w->classes[w->count - 1].times++;
    w->class_of[next.model] = w->count - 1;
  }
  for (rank_class *c = w->classes; c < w->classes + w->count; c++) {
    c->posterior = ev_beta_make(c->k + 1, c->n - c->k + 1);
    c->from = ev_beta_negligible_beyond(&c->posterior, -1, RANK_LN_DROP);
    c->to = ev_beta_negligible_beyond(&c->posterior, 1, RANK_LN_DROP);
  }
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

/* The standard deviation of a normal density with the curvature here.  Curvature grows by at most a
** factor of e per logit, so where there is hardly any, as in an exponential tail, a step of one
** logit is safe. */
static double local_width(const ev_beta *d, double t) {
  ev_point x = ev_at_logit(t);
  return 1 / sqrt(fmax(1, (d->a + d->b) * x.x * x.y));
}

/* The length of a panel from t that the posteriors allow: the shortest that any of them allows, or
** up to where a posterior begins. */
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
      v->below[j] = fmin(1, fmax(LEAST_BELOW, c->mass + part * length / 2));
    }
  }
}

/* The number of lengths, over which the count of models above changes, in the panel. */
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

/* PB over all models, one trial after the other. */
static void count_above(rank_walk *w, int j) {
  double *counts = w->counts;
  w->least = w->most = w->surely_above;
  counts[w->least] = 1;
  for (size_t i = 0; i < w->active_count; i++) {
    double below = w->values[i].below[j], above = 1 - below;
    for (double times = w->classes[w->active[i]].times; times > 0; times--) {
      counts[++w->most] = 0;
      for (size_t r = w->most; r > w->least; r--)
        counts[r] = counts[r] * below + counts[r - 1] * above;
      counts[w->least] *= below;
      while (counts[w->least] < OUTSIDE) w->least++;
      while (counts[w->most] < OUTSIDE) w->most--;
    }
  }
}

/* Takes a trial that fails with the chance `below` out of PB, and adds what is left, by its share,
** to the chances of each rank. */
static void take_out_trial(const rank_walk *w, double below, double share, double *chances) {
  double larger = fmax(below, 1 - below), scale = 1 / larger, ratio = (1 - larger) / larger;
  double left = 0;
  if (below >= 0.5)
    for (size_t r = w->least; r <= w->most; r++) {
      left = w->counts[r] * scale - ratio * left;
      chances[r] += share * left;
    }
  else
    for (size_t r = w->most; r > 0 && r >= w->least; r--) {
      left = w->counts[r] * scale - ratio * left;
      chances[r - 1] += share * left;
    }
}

static void add_node(rank_walk *w, int j, double weight) {
  count_above(w, j);
  for (size_t i = 0; i < w->active_count; i++) {
    double below = w->values[i].below[j], share = weight * w->values[i].density[j];
    w->classes[w->active[i]].mass += share;
    if (share >= OUTSIDE)
      take_out_trial(w, below, share, w->chances + w->active[i] * (w->models + 1));
  }
}

/* The host is polled at first, and then after this many models, of one panel each. */
static const double RANKS_PER_POLL = 100;

/* Walks the axis. */
static ev_status walk(rank_walk *w, ev_host host) {
  double t = HUGE_VAL, end = -HUGE_VAL;
  for (size_t i = 0; i < w->count; i++) {
    t = fmin(t, w->classes[i].from);
    end = fmax(end, w->classes[i].to);
  }
  for (double until_poll = 0; t < end; until_poll -= (double)w->count) {
    if (until_poll <= 0) {
      if (ev_interrupted(host)) return EV_INTERRUPTED;
      until_poll = RANKS_PER_POLL;
    }
    double length = posterior_limit(w, t, end), lengths;
    evaluate_panel(w, t, length);
    /* To nine tenths of the length that promises to suit, since counts change with it. */
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

/* The ranks that leave at most `tail` on either side. */
static void rank_bounds(const double *row, size_t count, double tail, ev_rank *rank) {
  double beyond = 0, allowed = tail + SLACK_OF_TAIL;
  size_t lo = 0, hi = count - 1;
  while (lo + 1 < count && (beyond += row[lo]) <= allowed) lo++;
  beyond = 0;
  while (hi > 0 && (beyond += row[hi]) <= allowed) hi--;
  rank->lo = (double)lo + 1;
  rank->hi = (double)hi + 1;
}

/* A posterior that was not resolved does not integrate to 1.  Its density loses digits with the
** number of questions: with 2^53, all but eight are left. */
static ev_status normalise_ranks(const rank_walk *w) {
  for (size_t i = 0; i < w->count; i++) {
    rank_class *c = &w->classes[i];
    if (!(fabs(c->mass - 1) < 1e-10 + 1e-15 * sqrt(c->n))) return EV_NOT_CONVERGED;
    for (size_t r = 0; r < w->models; r++) w->chances[i * (w->models + 1) + r] /= c->mass;
  }
  return EV_OK;
}

static void answer(const rank_walk *w, const ev_options *options, ev_rank *ranks,
                   double *distribution) {
  for (size_t i = 0; i < w->models; i++) {
    const rank_class *c = &w->classes[w->class_of[i]];
    const double *row = w->chances + w->class_of[i] * (w->models + 1);
    ranks[i] = (ev_rank){.mean = c->posterior.mean, .best = fmax(0, fmin(1, row[0]))};
    rank_bounds(row, w->models, ev_tail(options), &ranks[i]);
    for (size_t r = 0; r < w->models; r++) ranks[i].rank += (double)(r + 1) * row[r];
    for (size_t r = 0; distribution && r < w->models; r++) *distribution++ = row[r];
  }
}

ev_status ev_ranks(const ev_answered *models, size_t count, const ev_options *options, ev_host host,
                   ev_rank *ranks, double *distribution) {
  assert(count >= 1 && count <= EV_MOST_RANKED);
  rank_walk w = {.models = count,
                 .classes = malloc(count * sizeof *w.classes),
                 .class_of = malloc(count * sizeof *w.class_of),
                 .active = malloc(count * sizeof *w.active),
                 .values = malloc(count * sizeof *w.values),
                 .counts = malloc((count + 2) * sizeof *w.counts),
                 .chances = calloc(count * (count + 1), sizeof *w.chances)};
  ev_status status = EV_NO_MEMORY;
  if (w.classes && w.class_of && w.active && w.values && w.counts && w.chances) {
    make_classes(&w, models);
    fill_cumulative(&w);
    status = walk(&w, host);
    if (status == EV_OK) status = normalise_ranks(&w);
    if (status == EV_OK) answer(&w, options, ranks, distribution);
  }
  free(w.classes);
  free(w.class_of);
  free(w.active);
  free(w.values);
  free(w.counts);
  free(w.chances);
  return status;
}
