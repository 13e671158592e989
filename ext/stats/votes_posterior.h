/*
** The posterior of votes.h's model: its maximum, and what there is to know along contrasts.  Used
** within ext/stats.
*/
#ifndef EV_VOTES_POSTERIOR_H
#define EV_VOTES_POSTERIOR_H

#include "lanes.h"
#include "votes.h"

/* Up to these numbers of models a factorisation costs less than sums over cells; and is not too
** long for the determinant at one point. */
enum { EV_VOTES_FEW = 40, EV_VOTES_MANY = EV_MANY_RATED };

/* Derivatives along a contrast, by standard deviations from the maximum: the third and fourth of
** ln post, the first and second of ln det of the rest of H. */
typedef struct votes_shape {
  double third, fourth, det, det2;
} votes_shape;

/* Matrices have `row` numbers in a row, and cells are theirs: of models i and j, i shown first; or
** i < j in any order, unless the place matters. */
typedef struct ev_votes_posterior {
  size_t models, size, row;    /* size: of theta, which is the lambdas, ln nu and gamma */
  size_t tie, place;           /* of ln nu and gamma in theta; `size` where left out */
  size_t reference;            /* the model that is last in theta */
  double *won, *lost, *tied;   /* counts with the imagined ones; 0 where there is no cell */
  double *inverse, *factor;    /* V; and H, or its factors */
  double *theta, *diagonal;    /* the maximum; the diagonal of V */
  double *turn;                /* grad tr VH at the maximum */
  double *c, *s, *bend;        /* a contrast, its tangent per sd, the third derivative along it */
  double *x, *g, *step, *last; /* a point of the profile, the gradient there and a step from it */
  double *spare, *up, *down, *h, *cross, *place_h; /* within functions */
  double *numbers;                                 /* all of the above */
  double ln_post, ln_det_max, rounding;            /* at the maximum; rounding: of ln post */
  double sd;                                       /* of the contrast */
  double slope, ln_det;                            /* where the profile is */
  double solved; /* where x was solved, in sd from the maximum; 0 where not yet */
  votes_shape shape;
  ev_host host;
  ev_status status; /* of the searches */
} ev_votes_posterior;

/* To be freed in any case. */
ev_status ev_votes_make(const ev_votes *votes, ev_host host, ev_votes_posterior **out);
void ev_votes_free(ev_votes_posterior *v);

/* Where a model is in theta. */
size_t ev_votes_place(const ev_votes_posterior *v, size_t model);

/* Finds the sd, the tangent and the shape along c, which the caller has set. */
void ev_votes_contrast(ev_votes_posterior *v);

/* r* at u standard deviations from the maximum, by a shape, or by the profile of c; NAN where the
** search failed or was interrupted, as `status` says. */
double ev_votes_star_by_shape(const votes_shape *shape, double u);
double ev_votes_star_by_profile(ev_votes_posterior *v, double u);

/* ln of Laplace's marginal density at u standard deviations from the maximum, and beside it. */
double ev_votes_ln_marginal(double u, void *v);

/* Votes of models i and j: those in this order if `position`, else those in both orders. */
double ev_votes_wins(const ev_votes *votes, size_t i, size_t j);
double ev_votes_losses(const ev_votes *votes, size_t i, size_t j);
double ev_votes_ties(const ev_votes *votes, size_t i, size_t j);

#endif
