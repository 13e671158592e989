/*
** How many questions one model needs: until bayes_ci is expected to be so narrow.
**
** The expected width is the mean over k ~ Bin(n, p) of the width at k.  The width is smooth
** in k, so that where the standard deviation is large every so manyth k is as good as all.
*/
#include "planning.h"

#include "binomial.h"
#include "proportion.h"
#include "root.h"

ev_status ev_expected_width(double n, double p, const ev_options *options, double *width) {
  ev_point point = {p, 1 - p};
  ev_window w = ev_binomial_window(n, point);
  ev_options uniform = {.level = options->level, .a = 1, .b = 1};
  double stride = fmax(1, floor(w.sd / 4)), sum = 0, mass = 0;
  /* By distances: from 2^53 on there is no next count. */
  for (double i = 0; i <= w.most - w.least; i += stride) {
    double k = w.least + i, chance = ev_binomial_pmf(k, n, point), counts[] = {k, n};
    ev_interval ci;
    if (chance < 1e-20) continue;
    ev_status status = ev_bayes(counts, &uniform, &ci);
    if (status != EV_OK) return status;
    sum += chance * (ci.hi - ci.lo);
    mass += chance;
  }
  *width = sum / mass;
  return EV_OK;
}

ev_status ev_plan_n(double p, double width, const ev_options *options, double *n) {
  ev_bracket in = {0, 1};
  double expected = HUGE_VAL;
  ev_status status = EV_OK;
  for (;; in.high *= 2) {
    status = ev_expected_width(in.high, p, options, &expected);
    if (status != EV_OK || expected <= width || in.high >= EV_MOST_QUESTIONS) break;
    in.low = in.high;
  }
  if (status != EV_OK) return status;
  for (double k = (in.low + in.high) / 2; expected <= width && in.high - in.low > 1;) {
    double here;
    k = floor(k);
    status = ev_expected_width(k, p, options, &here);
    if (status != EV_OK) return status;
    k = ev_bracket_next(&in, k, here <= width, NAN);
  }
  *n = expected <= width ? in.high : HUGE_VAL;
  return EV_OK;
}
