/*
** The exact sum and sum of squares of numbers that come and go.  Used by the SQL surface and the
** tests; knows nothing of SQL.
**
** A sum is a whole number of units of 2^-1074, a sum of squares of 2^-2148, in signed bins of 32
** bits each.  Nothing is rounded, so that the order does not matter and taking a number away
** undoes adding it.
*/
#ifndef EV_MOMENTS_H
#define EV_MOMENTS_H

#include <stdint.h>

#include "model.h"

enum { EV_SUM_BINS = 68, EV_SQUARE_BINS = 134 };

/* Zeroed before the first number. */
typedef struct ev_moments {
  double n;      /* how many numbers; at most 2^53 */
  double last;   /* the number added last */
  uint32_t adds; /* since the bins were carried */
  int64_t sum[EV_SUM_BINS], square[EV_SQUARE_BINS];
} ev_moments;

/* Adds a finite number `times` times: a whole number, negative to take away. */
void ev_moments_add(ev_moments *m, double x, double times);

typedef ev_status ev_moment_model(const ev_moments *m, const ev_options *options, ev_host host,
                                  ev_interval *ci);

/* The mean +- q s/sqrt(n), s over n - 1, with q of the normal distribution, for comparison, or of
** Student's t.  They need two numbers, have no range, and may collapse or leave it. */
ev_moment_model ev_mean_clt, ev_mean_t;

#endif
