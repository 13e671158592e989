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

/* agreement_table.c: two raters, at least two categories, in order; counts[i * categories + j] is
** how often the first rater said i and the second j.  Two categories are computed exactly. */
typedef struct ev_table {
  const double *counts;
  size_t categories;
} ev_table;

/* The _point models give the coefficient of the data alone, as both ends of the interval; NaN if no
** disagreement is expected. */
typedef ev_status ev_table_model(ev_table table, const ev_options *options, ev_host host,
                                 ev_interval *ci);
ev_table_model ev_table_kappa, ev_table_ac1, ev_table_kappa_point, ev_table_ac1_point;

/* agreement_units.c: units that are rated at least twice; the list, ordered by unit, has how often
** each category was given to it.  `values` are the categories' numbers, which EV_INTERVAL needs. */
typedef struct ev_unit_rating {
  size_t unit, category;
  double count;
} ev_unit_rating;

typedef struct ev_ratings {
  const ev_unit_rating *list;
  size_t count, categories;
  const double *values;
  const double *times; /* by unit, how many such units there are; NULL for one of each */
} ev_ratings;

typedef ev_status ev_ratings_model(ev_ratings r, const ev_options *options, ev_host host,
                                   ev_interval *ci);
ev_ratings_model ev_alpha, ev_alpha_point;

/* The search for a bound.  Sets *t, which rises with v (0 near the middle, about a normal deviate
** there), and returns P(> t) if `upper`, else P(<= t); NaN on failure; EV_PLACE sets *t alone. */
typedef enum ev_effort { EV_PLACE, EV_QUICK, EV_FINE } ev_effort;
typedef double ev_tail_at(double v, bool upper, ev_effort effort, void *context, double *t);
ev_status ev_agreement_bound(ev_tail_at *tail, void *context, double mass, bool upper, double *t);

/* agreement_tilted.c: a bound of 1 - seen/expected under Dirichlet weights.  The disagreement
** seen is linear in the weights, the disagreement expected is quadratic. */
typedef struct ev_tilted {
  size_t count;
  double *weight;   /* of the atoms; those of weight 0 do not count */
  double *seen;     /* an atom's part of the disagreement seen */
  double *share;    /* weights that sum to 1, about which `expected` is linear */
  double *expected; /* an atom's part of the disagreement expected */
  double total;     /* of the weights */
  /* Sets `expected` to the tangent at `share`, plus `curvature` times the term left out: its mean
  ** with 1/(total + 1), nothing with 0, which is for the data alone. */
  void (*expect)(struct ev_tilted *t, void *context);
  double curvature;
  void *context;
} ev_tilted;

/* Seen/expected at the weights' mean. */
double ev_tilted_ratio(ev_tilted *t);

ev_status ev_tilted_bound(ev_tilted *t, double mass, bool upper, ev_host host, double *bound);

#endif
