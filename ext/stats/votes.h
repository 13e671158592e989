/*
** Ratings from votes between two models at a time: Bradley and Terry's model, with Davidson's ties.
*/
#ifndef EV_VOTES_H
#define EV_VOTES_H

#include <stddef.h>

#include "model.h"

/* The most models whose ratings, and whose pairs, take seconds; pairs take a sum over all pairs
** each. */
enum { EV_MOST_RATED = 1000, EV_MOST_PAIRED = 200 };

/* More models than the first number need the second's votes for each, or their bounds would take
** minutes. */
enum { EV_MANY_RATED = 250, EV_VOTES_OF_MANY = 50 };

/* All votes together, so that rounding stays far below a standard deviation. */
static const double EV_MOST_VOTES = 1e12;

/* Votes in which model i was shown first and model j second are at [i * models + j]. */
typedef struct ev_votes {
  size_t models; /* 2 to EV_MOST_RATED, or EV_MOST_PAIRED */
  const double *wins, *losses, *ties;
  bool position; /* the place that a model is shown in may give an advantage */
  size_t anchor; /* ratings are relative to this model, or to the mean of all if it is `models` */
} ev_votes;

/* A contrast of abilities: its value at the posterior's maximum, and its interval. */
typedef struct ev_contrast {
  double at;
  ev_interval ci;
} ev_contrast;

typedef struct ev_rating {
  ev_contrast rating, average; /* relative to the anchor, if there is one; to the mean of all */
  double rank;                 /* 1, and the chance of every other model to be better */
  size_t rank_lo, rank_hi;     /* by Holm's test of all pairs */
} ev_rating;

/* The ratings of all models, and the advantage of the first place, which is 0 unless `position`. */
ev_status ev_rate(const ev_votes *votes, const ev_options *options, ev_host host,
                  ev_rating *ratings, ev_contrast *first_place);

/* Two models: the difference of their abilities, and the chances that it is positive and negative.
 */
typedef struct ev_rated_pair {
  size_t a, b; /* a < b */
  ev_contrast diff;
  double above, below;
} ev_rated_pair;

/* All models * (models - 1) / 2 pairs, by a and b. */
ev_status ev_rate_pairs(const ev_votes *votes, const ev_options *options, ev_host host,
                        ev_rated_pair *pairs);

#endif
