/*
** One step of a search for a root in a bracket.  Used within ext/stats.
**
**   1. Evaluate the function at x, which lies in the bracket.
**   2. Narrow the bracket: the root is below x, or above.
**   3. Go to where Newton's method, or the secant, wishes if that is within the bracket, else to
**      the middle.  A wish of NaN is bisection.
*/
#ifndef EV_ROOT_H
#define EV_ROOT_H

#include <stdbool.h>

typedef struct ev_bracket {
  double low, high;
} ev_bracket;

/* Steps 2 and 3. */
static inline double ev_bracket_next(ev_bracket *in, double x, bool too_high, double wish) {
  if (too_high)
    in->high = x;
  else
    in->low = x;
  return wish > in->low && wish < in->high ? wish : (in->low + in->high) / 2;
}

#endif
