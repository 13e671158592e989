/*
** Sums over clusters of the logarithms of rising factorials, which are what the
** Beta-binomial likelihood is made of.  Used within ext/stats.
**
** (x)_k = x (x+1) .. (x+k-1).  With the first factor and (k-1)! taken out,
**
**     L(x) = sum of times * sum_{0<i<k} ln(1 + x/i)  over the clusters
**
** is smooth for x > -1 and small for small x.
*/
#ifndef EV_RISING_H
#define EV_RISING_H

#include <stdbool.h>
#include <stddef.h>

#include "lanes.h"

enum {
  EV_RISING_HEAD = 64,  /* factors taken one by one; Stirling's series from here on */
  EV_RISING_BINS = 17,  /* of ln k, two long: from there to 2^53 */
  EV_RISING_NODES = 20, /* Chebyshev points of a bin */
  EV_RISING_CELLS = 24, /* of ln(1+x), and the one beyond */
  EV_RISING_TERMS = 16  /* Chebyshev coefficients of a cell */
};

/* A count of answers, and how many clusters have it. */
typedef struct ev_tally {
  double k, times;
} ev_tally;

/* A count, or a weighted point that represents many. */
typedef struct ev_rising_node {
  double k, times, inverse, ln;
} ev_rising_node;

typedef struct ev_rising {
  double clusters;              /* those with k >= 1, whose first factor is left out */
  double answers;               /* the sum of k */
  double factors;               /* the sum of k-1 over those: L grows as so many ln x */
  double above[EV_RISING_HEAD]; /* [i]: the clusters with k > i */
  int head_size;                /* above[] is 0 from here on */
  int tail_size;
  double tail_times, tail_constant;                      /* sums over the tail */
  ev_rising_node tail[EV_RISING_BINS * EV_RISING_NODES]; /* k > EV_RISING_HEAD */
  int cells;        /* of ln(1+x) until x is large beside every k */
  double last_cell; /* 1+x there */
  bool filled[EV_RISING_CELLS];
  double series[EV_RISING_CELLS][EV_RISING_TERMS];
} ev_rising;

/* Prepares the sums for counts, which are sorted in place; their order changes no digit. */
void ev_rising_make(ev_rising *r, ev_tally *counts, size_t size);

/* L at x >= 0 up to 10^20, from a table whose cells are filled when needed. */
double ev_rising_at(ev_rising *r, double x);

/* Fills a cell of the table. */
void ev_rising_fill(ev_rising *r, int cell);

/* The length of a cell, and half of it. */
#define EV_RISING_CELL 1.75
#define EV_RISING_HALF 0.875

/* The cell of ln(1+x), filled now if it was not. */
EV_INLINE int ev_rising_cell(ev_rising *r, double v) {
  int cell = v < EV_RISING_CELL * r->cells ? (int)(v / EV_RISING_CELL) : r->cells;
  if (!r->filled[cell]) ev_rising_fill(r, cell);
  return cell;
}

/* Adds L(x) to each lane of *sum, whose ln(1+x) may be of different cells. */
void ev_rising_add_apart(ev_rising *r, const ev_lanes *x, ev_lanes *sum);

/* Adds L(x) to each lane of *sum; the lanes of x >= 0 rise or fall, and so are of one cell
** if the first and the last are.  L's singularities are pi away from ln(1+x), and 16 terms
** leave out 7.3^-16 of what its logarithms weigh.  Beyond the last cell L less its
** logarithms is a series in 1/(1+x). */
EV_INLINE void ev_rising_add(ev_rising *r, const ev_lanes *x, ev_lanes *sum) {
  if (r->factors == 0) return;
  ev_lanes v = 1 + *x, u, b0 = {0}, b1 = {0};
  ev_log(&v, 1);
  int cell = ev_rising_cell(r, v[0]);
  if (cell != ev_rising_cell(r, v[EV_LANES - 1])) {
    ev_rising_add_apart(r, x, sum);
    return;
  }
  if (cell < r->cells) {
    u = (v - EV_RISING_CELL * cell) * (1 / EV_RISING_HALF) - 1;
  } else {
    u = 2 * r->last_cell / (1 + *x) - 1;
    *sum += r->factors * v;
  }
  ev_lanes twice = 2 * u;
  const double *series = r->series[cell];
#pragma GCC unroll 16
  for (int k = EV_RISING_TERMS - 1; k > 0; k--) {
    ev_lanes b2 = b1;
    b1 = b0;
    b0 = (series[k] - b2) + twice * b1;
  }
  *sum += (series[0] - b1) + u * b0;
}

#endif
