/*
** The density of theta_A - theta_B of two models on the same questions, where these are
** few, or few in some cell of the table.  Used within ext/stats.
*/
#ifndef EV_PAIRED_FEW_H
#define EV_PAIRED_FEW_H

#include <stdbool.h>

#include "lanes.h"

/* Nodes in x to a doubling of e^2x, the fewest and the most; how many there are in all, and
** which of them is x = 0 where that is the guess. */
enum { FEW_OCTAVE = 4, FEW_MOST_OCTAVE = 16 };
enum { FEW_NODES = 296, FEW_ZERO = 176 };

/* Points of the sum over x that are taken at once. */
enum { FEW_CHUNK = 4, FEW_POINTS = 2 * FEW_NODES };

/* Multiplications that make the likelihood of the cells: 20 squarings, and up to 4 before
** each and after the last. */
enum { FEW_BITS = 20, FEW_FACTORS = 5 * FEW_BITS + 5 };

/* Blocks of EV_LANES positions along a line. */
enum { FEW_BLOCKS = 300 };

/* Where a line is walked: it begins where the nearest of the last ones was. */
enum { FEW_PLACES = 64 };
typedef struct few_place {
  double z, ln;
  double score;  /* of the position at which it peaked, */
  int chunk;     /* and the points in x at which that did */
  int low, high; /* all such points that it took */
} few_place;

typedef struct ev_paired_few {
  double counts[2][4]; /* of the cells low - I, high - I, |delta| + I, I; where B is ahead, */
  int factors[2][FEW_FACTORS]; /* and where A is; the factors of the likelihood, */
  int scaled[2];               /* the cell of the largest count, */
  double scale, ln_scale;      /* which is scaled, so that the likelihood peaks near 1 */
  int octave;                  /* nodes to a doubling of e^2x, */
  double node_step;            /* and their distance in x; */
  int zero;                    /* that of x = 0 */
  double square[FEW_NODES];    /* e^2x */
  double factor[FEW_NODES];    /* what of dI/dx does not depend on the thetas, times the step */
  int stride, first, chunks;   /* of the sum over x, in halves of a node's step */
  double prior[FEW_POINTS];
  double below[FEW_POINTS / FEW_CHUNK]; /* the prior below a chunk, relative to its first point */
  double bend;                          /* of the positions */
  double step;                          /* from one position to the next */
  double drop;    /* of a line, what is left out relative to the largest term */
  bool symmetric; /* about z = 0 */
  few_place at;
  int lost;  /* lines of which every term was 0 */
  int lines; /* that were walked, the last FEW_PLACES of which were here */
  few_place walked[FEW_PLACES];
  bool failed; /* a line did not end within the grid */
} ev_paired_few;

/* What is known of the posterior: where x = ln sqrt((1-rho)/(1+rho)) about is and by what
** steps to sum over it; the position on a line, as a share of it, and the standard
** deviation of its normal score. */
typedef struct ev_few_guess {
  double x, x_step, share, sd;
} ev_few_guess;

/* Of counts in the order of paired.h.  False where they are too many, or too sharp. */
bool ev_paired_few_set(ev_paired_few *f, const double *counts, const ev_few_guess *guess);

/* Chooses the step along the lines by what those take at z = atanh delta, near the middle of
** the posterior, and about so far off it either way, where the density is of the order of
** the tail that is asked about.  False where no step will do. */
bool ev_paired_few_fit(ev_paired_few *f, double z, double off, double ln_tail);

/* ln of the density of z, up to a constant; an ev_ln_density. */
double ev_paired_few_ln(double z, void *few);

#endif
