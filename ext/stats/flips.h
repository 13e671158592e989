/*
** Differences of the sign-flip test as their sizes, and the inversion of its distribution.  Used by
** ext/stats/sign_flip.c.
*/
#ifndef EV_FLIPS_H
#define EV_FLIPS_H

#include <stdbool.h>
#include <stddef.h>

#include "model.h"

typedef struct ev_flip_size {
  double d, times;
} ev_flip_size;

/* Sums of so many different sizes lie evenly: shorter lists and coarser kernels suffice. */
enum { EV_MANY_SIZES = 24 };

typedef struct ev_flips {
  ev_flip_size *sizes; /* the most frequent first, and of those the largest */
  size_t count;
  bool period;    /* sizes are whole numbers, and the nodes of a period not too many */
  double sign[2]; /* how many differences are positive, and negative */
  double of, all; /* how many there are, and S */
  double x, t;    /* what is seen, t >= 0 */
  int tries;      /* of an inversion */
  ev_host host;
  double work; /* since the host was asked */
} ev_flips;

/* Adds to the work done; asks the host every millisecond or so. */
bool ev_flips_interrupted(ev_flips *f, double work);

/* 2 P(T > t) + P(T = t), t > 0; EV_NOT_CONVERGED where the sums lie too unevenly about it. */
ev_status ev_flips_inverted(ev_flips *f, double *p);

#endif
