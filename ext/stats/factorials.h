/*
** Sums over clusters of the logarithms of rising factorials, which are what the
** Beta-binomial likelihood is made of.  Used within ext/stats.
**
** (x)_k = x (x+1) .. (x+k-1).  With the first factor and (k-1)! taken out,
**
**     R(x) = sum of times * sum_{i<k} ln(1 + x/i)  over the clusters
**
** is smooth for x > -1 and small for small x.
*/
#ifndef EV_FACTORIALS_H
#define EV_FACTORIALS_H

#include <stdbool.h>
#include <stddef.h>

enum {
  EV_FACTORIALS_HEAD = 32,  /* factors taken one by one; Stirling's series from here on */
  EV_FACTORIALS_BINS = 34,  /* of ln k, one long: from there to 2^53 */
  EV_FACTORIALS_NODES = 16, /* Chebyshev points of a bin */
  EV_FACTORIALS_CELLS = 48, /* of ln(1+x), one long */
  EV_FACTORIALS_TERMS = 14  /* Chebyshev coefficients of a cell */
};

/* A count of answers, and how many clusters have it. */
typedef struct ev_factorial_count {
  double k, times;
} ev_factorial_count;

typedef struct ev_factorials {
  double clusters;                 /* those with k >= 1, whose first factor is left out */
  double answers;                  /* the sum of k */
  double head[EV_FACTORIALS_HEAD]; /* [i]: the clusters with k > i */
  int head_size;                   /* its last entry that is not 0, and 1 */
  ev_factorial_count tail[EV_FACTORIALS_BINS * EV_FACTORIALS_NODES]; /* k >= EV_FACTORIALS_HEAD */
  int tail_size;
  bool filled[EV_FACTORIALS_CELLS];
  double series[EV_FACTORIALS_CELLS][EV_FACTORIALS_TERMS];
} ev_factorials;

/* From counts, which are sorted in place; their order changes no digit. */
void ev_factorials_make(ev_factorials *r, ev_factorial_count *counts, size_t size);

/* R at x >= 0 up to 10^20, from a table that is filled where it is asked about. */
double ev_factorials_at(ev_factorials *r, double x);

#endif
