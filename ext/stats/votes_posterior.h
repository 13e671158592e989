/*
** The posterior of votes.h's model: its maximum, and the marginals of contrasts.  Used within
** ext/stats.
*/
#ifndef EV_VOTES_POSTERIOR_H
#define EV_VOTES_POSTERIOR_H

#include "marginal.h"
#include "votes.h"

/* An ordered pair: its votes, n with the imagined ones, and the probabilities at the maximum. */
typedef struct votes_cell {
  size_t first, second;
  double wins, losses, ties, n;
  double won, lost, tied;
} votes_cell;

/* e^y and e^-y of half a model's phi. */
typedef struct votes_side {
  double up, down;
} votes_side;

/* Solved points that a search may start from; a marginal takes 20 to 60. */
enum { VOTES_KEPT = 64 };

typedef struct votes_point {
  double x;
  double *phi, *slope; /* d phi / dx */
} votes_point;

typedef struct ev_votes_posterior {
  size_t models, lambdas, size; /* lambdas: models - 1, without the reference; size of theta */
  size_t tie, position;         /* indices of ln nu and gamma in theta; `size` where left out */
  size_t row;                   /* numbers in a row of the matrix, whole lanes */
  size_t cell_count, *order;    /* order: the place of each model in theta */
  double share;                 /* every cell has 1 / share imagined wins and losses */
  double rounding;              /* of ln post, where some models have all votes */
  votes_cell *cells;
  votes_side *first, *second;
  double tie_up;
  double *theta;        /* the maximum */
  double *matrix, *low; /* step 3; low: what votes_twofold.c adds to it */
  double *diagonal;     /* of H */
  double *whole, *g, *step, *last;
  double *c, c2, sd;        /* the contrast, c'c and the root of c't at the maximum; c2 is 0 while
                            ** there is none */
  double ln_det_max;        /* ln of det H c't at the maximum */
  double *phi, *slope;      /* at a constrained maximum: phi, d phi / dx, */
  double through, ln_det;   /* c't, ln of det H c't, */
  double gradient, ln_post; /* d ln post / dx, and ln post relative to the maximum */
  votes_point kept[VOTES_KEPT];
  size_t kept_count;
  ev_marginal marginal;
  double *sums;    /* votes of each model */
  double *numbers; /* all of the above */
  ev_host host;
  ev_status status; /* of the searches */
} ev_votes_posterior;

/* To be freed in any case. */
ev_status ev_votes_make(const ev_votes *votes, ev_host host, ev_votes_posterior **out);
void ev_votes_free(ev_votes_posterior *v);

/* Makes c, which was set to it, the contrast whose searches begin at the maximum. */
void ev_votes_contrast(ev_votes_posterior *v);

/* The logarithm of the marginal density at c'phi = x, relative to the maximum, and what comes with
** it; NAN when interrupted, or not converged. */
double ev_votes_ln_marginal(double x, void *v);

/* The chances of a cell's outcomes where the search is. */
void ev_votes_chances(const ev_votes_posterior *v, const votes_cell *c, double *won, double *lost,
                      double *tied);

/* Fills and eliminates the matrix of step 3 in votes_posterior.c with 32 digits, of which it leaves
** the first 16, with g and the gradient; false if a pivot is not positive. */
bool ev_votes_eliminate_twofold(ev_votes_posterior *v);

/* Votes of models i and j: those in this order if `position`, else those in both orders. */
double ev_votes_wins(const ev_votes *votes, size_t i, size_t j);
double ev_votes_losses(const ev_votes *votes, size_t i, size_t j);
double ev_votes_ties(const ev_votes *votes, size_t i, size_t j);

#endif
