/*
** The posterior of votes.h's model: its maximum, and the marginals of contrasts.  Used within
** ext/stats.
*/
#ifndef EV_VOTES_POSTERIOR_H
#define EV_VOTES_POSTERIOR_H

#include "lanes.h"
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

/* Four cells of votes_cells.c, of one model with four that are next to each other in theta: n, the
** probabilities at the maximum, and the wholes by D where the outcome is surely that it won, or
** lost; twice: the whole by ln nu, unless it is a tie. */
typedef struct votes_four {
  ev_lanes_kept n, won, lost, tied, behind, ahead, twice;
} votes_four;

/* Of four models next to each other: their phi and sides, and sums over their cells: the
** derivative in two parts, H's diagonal, and H by ln nu and gamma. */
typedef struct votes_others {
  ev_lanes_kept phi, up, down, whole, rest, h, cross, place;
} votes_others;

/* Solved points that a search may start from; a marginal takes 20 to 60. */
enum { VOTES_KEPT = 64 };

typedef struct votes_point {
  double x, ln_post, ln_marginal, gradient;
  double *phi, *slope; /* d phi / dx */
} votes_point;

typedef struct ev_votes_posterior {
  size_t models, lambdas, size; /* lambdas: models - 1, without the reference; size of theta */
  size_t tie, position;         /* indices of ln nu and gamma in theta; `size` where left out */
  size_t row;                   /* numbers in a row of the matrix, whole lanes: the models, the
                                ** reference last, then the rest of theta, g and c */
  size_t cell_count, *order;    /* order: the place of each model in theta */
  double share;                 /* every cell has 1 / share imagined wins and losses */
  double rounding;              /* of ln post, where some models have all votes */
  votes_cell *cells;
  votes_side *first, *second;
  votes_four *fours; /* [model before the reference][block], and again with gamma reversed */
  votes_others *others;
  size_t blocks; /* of four models */
  double tie_up, tie_phi, place_up;
  double *theta;            /* the maximum */
  double *matrix, *low;     /* step 3; low: what votes_twofold.c adds to it */
  double *diagonal, *scale; /* of H; and with the wholes, what a pivot must not be thin beside */
  double *whole, *g, *step, *last;
  double *c, c2, sd; /* the contrast, c'c and the root of c't at the maximum; c2 is 0 while
                     ** there is none */
  double ln_det_max; /* ln of det H c't at the maximum */
  double *from_phi, *from_slope; /* where a leap began */
  double *phi, *slope;           /* at a constrained maximum: phi, d phi / dx, */
  double through, ln_det;        /* c't, ln of det H c't, */
  double gradient, ln_post;      /* d ln post / dx, and ln post relative to the maximum, */
  double ln_marginal;            /* and what ev_votes_ln_marginal() returns */
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

/* A cell, among the four where it belongs. */
void ev_votes_set_four(ev_votes_posterior *v, const votes_cell *c);

/* The matrix, g and the diagonal at phi: in the rows of the lambdas, minus H right of the diagonal;
** in those of ln nu and gamma, and in the others' columns for them, H. */
void ev_votes_fill(ev_votes_posterior *v, const double *phi);

/* The change of ln post from the maximum, of each cell by the change of its chances beside that of
** the outcome that is likeliest there: where that is all but certain, all terms are small. */
double ev_votes_ln_post(ev_votes_posterior *v, const double *phi);

/* The chances of a cell's outcomes where the search is. */
void ev_votes_chances(const ev_votes_posterior *v, const votes_cell *c, double *won, double *lost,
                      double *tied);

/* A step of votes_posterior.c's step 3 with its gain, and the slope, gradient and determinant, with
** 32 digits in between; false if a pivot is not positive. */
bool ev_votes_step_twofold(ev_votes_posterior *v, double *gain);

/* Votes of models i and j: those in this order if `position`, else those in both orders. */
double ev_votes_wins(const ev_votes *votes, size_t i, size_t j);
double ev_votes_losses(const ev_votes *votes, size_t i, size_t j);
double ev_votes_ties(const ev_votes *votes, size_t i, size_t j);

#endif
