/*
** How many questions one model needs: until bayes_ci is expected to be so narrow.
**
** The expected width is the mean over k ~ Bin(n, p) of the width at k.  The width is smooth
** in k, so that where the standard deviation is large every so manyth k is as good as all.
*/
#include "planning.h"

#include "binomial.h"
#include "proportion.h"

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
  double least = 0, most = 1, expected = HUGE_VAL;
  ev_status status = EV_OK;
  for (;; most *= 2) {
    status = ev_expected_width(most, p, options, &expected);
    if (status != EV_OK || expected <= width || most >= EV_MOST_QUESTIONS) break;
    least = most;
  }
  if (status != EV_OK) return status;
  while (expected <= width && most - least > 1) {
    double middle = floor((least + most) / 2), at_middle;
    status = ev_expected_width(middle, p, options, &at_middle);
    if (status != EV_OK) return status;
    if (at_middle <= width)
      most = middle;
    else
      least = middle;
  }
  *n = expected <= width ? most : HUGE_VAL;
  return EV_OK;
}
