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

/* A count of answers, and how many clusters have it; or a weighted point that represents many. */
typedef struct ev_tally {
  double k, times;
} ev_tally;

typedef struct ev_rising {
  double clusters;              /* those with k >= 1, whose first factor is left out */
  double answers;               /* the sum of k */
  double factors;               /* the sum of k-1 over those: L grows like this times ln x */
  double above[EV_RISING_HEAD]; /* [i]: the clusters with k > i */
  int head_size;                /* above[] is 0 from here on */
  int tail_size;
  double tail_times, tail_constant;                /* sums over the tail */
  ev_tally tail[EV_RISING_BINS * EV_RISING_NODES]; /* k > EV_RISING_HEAD */
  int cells;                                       /* of ln(1+x) until x is large beside every k */
  double last_cell;                                /* 1+x there */
  bool filled[EV_RISING_CELLS];
  double series[EV_RISING_CELLS][EV_RISING_TERMS];
} ev_rising;

/* Prepares the sums for counts, which are sorted in place; their order changes no digit. */
void ev_rising_make(ev_rising *r, ev_tally *counts, size_t size);

/* L at x >= 0 up to 10^20, from a table whose cells are filled when needed. */
double ev_rising_at(ev_rising *r, double x);

/* Adds L(x) of one and L(y) of another to each lane of *sum. */
void ev_rising_add(ev_rising *r, const ev_lanes *x, ev_rising *s, const ev_lanes *y, ev_lanes *sum);

#endif
