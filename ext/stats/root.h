/*
** One step of a search for a root in a bracket.  Used within ext/stats.
**
**   1. Evaluate the function at x, which lies in the bracket.
**   2. Narrow the bracket: the root is below x, or above.
**   3. Go to where Newton's method, or the secant, proposes if that is within the bracket, else to
**      the middle.  A proposal of NaN is bisection.
*/
#ifndef EV_ROOT_H
#define EV_ROOT_H

#include <math.h>
#include <stdbool.h>

typedef struct ev_bracket {
  double low, high;
} ev_bracket;

/* Steps 2 and 3. */
static inline double ev_bracket_next(ev_bracket *in, double x, bool too_high, double proposal) {
  if (too_high)
    in->high = x;
  else
    in->low = x;
  return proposal > in->low && proposal < in->high ? proposal : (in->low + in->high) / 2;
}

/* The least whole number from `least` on for which holds() is true, if it is false below some
** number and true from there on; `most` if it is true for none below that.  The search goes outward
** from a guess by steps that double, and then bisects. */
static inline double ev_least_whole(double least, double most, double guess,
                                    bool (*holds)(double x, void *context), void *context) {
  ev_bracket in = {least - 1, most};
  double x = ceil(fmax(least, fmin(guess, most - 1))), step = 1;
  for (; in.high - in.low > 1; step *= 2) {
    bool true_here = holds(x, context);
    double proposal = true_here         ? (in.low < least ? x - step : NAN)
                      : in.high == most ? x + step
                                        : NAN;
    x = floor(ev_bracket_next(&in, x, true_here, proposal));
  }
  return in.high;
}

#endif
