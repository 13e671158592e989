/*
** Agreement of raters beyond chance: Cohen's kappa, Gwet's AC1, Krippendorff's alpha.  A
** coefficient is 1 - (disagreement seen) / (disagreement expected by chance).
*/
#ifndef EV_AGREEMENT_H
#define EV_AGREEMENT_H

#include <stddef.h>

#include "model.h"

/* agreement.c: two raters, two categories, exactly.  Counts: both, only_a, only_b, neither.
** Alpha depends on only_a + only_b alone. */
ev_model ev_kappa, ev_ac1, ev_pair_alpha;

/* agreement_table.c: two raters, `categories` of them from 2 up, in order; the counts by the
** category of the first rater, then by the second's.  Two categories are answered exactly. */
typedef struct ev_table {
  const double *counts;
  size_t categories;
} ev_table;

/* A point, which is both ends of the interval, is of the data alone; NaN where no disagreement is
** expected. */
typedef ev_status ev_table_model(ev_table table, const ev_options *options, ev_host host,
                                 ev_interval *ci);
ev_table_model ev_table_kappa, ev_table_ac1, ev_table_kappa_point, ev_table_ac1_point;

/* agreement_units.c: units, each rated twice or more, as their ratings in order: so many of a
** category.  `values` are those of the categories, which EV_INTERVAL needs. */
typedef struct ev_unit_rating {
  size_t unit, category;
  double count;
} ev_unit_rating;

typedef struct ev_ratings {
  const ev_unit_rating *list;
  size_t count, categories;
  const double *values;
} ev_ratings;

typedef ev_status ev_ratings_model(ev_ratings r, const ev_options *options, ev_host host,
                                   ev_interval *ci);
ev_ratings_model ev_alpha, ev_alpha_point;

/* The search for bounds.  A tail of the posterior, above t or up to it, NaN where it fails, or t
** alone; t rises with v, which is 0 near the middle and about a normal deviate there. */
typedef enum ev_effort { EV_PLACE, EV_QUICK, EV_FINE } ev_effort;
typedef double ev_tail_at(double v, bool upper, ev_effort effort, void *context, double *t);
ev_status ev_agreement_bounds(ev_tail_at *tail, void *context, double mass, ev_interval *ci);

/* agreement_tilted.c: the bounds of 1 - seen/expected under Dirichlet weights, which have a
** disagreement seen that is linear in the weights, and one expected that is quadratic. */
typedef struct ev_tilted {
  size_t count;
  double *weight;   /* of the atoms, positive */
  double *seen;     /* an atom's part of the disagreement seen */
  double *share;    /* weights that sum to 1, about which `expected` is linear */
  double *expected; /* an atom's part of the disagreement expected */
  double total;     /* of the weights */
  /* Sets `expected` by `share`: the tangent there, and so much of the term left out as its mean
  ** has: 1/(total + 1), or 0 for the data alone. */
  void (*expect)(struct ev_tilted *t, void *context);
  double curvature;
  void *context;
} ev_tilted;

/* Seen/expected at the weights' mean. */
double ev_tilted_ratio(ev_tilted *t);

ev_status ev_tilted_bounds(ev_tilted *t, double mass, ev_host host, ev_interval *ci);

#endif
