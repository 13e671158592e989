/*
** How many questions one model needs: until bayes_ci is expected to be so narrow.
**
** The expected width is the mean over k ~ Bin(n, p) of the width at k.  The width is smooth
** in k, so that where the standard deviation is large every stride-th k is as good as all.
*/
#include "planning.h"

#include "binomial.h"
#include "proportion.h"
#include "root.h"

ev_status ev_expected_width(double n, double p, const ev_options *options, double *width) {
  ev_point point = {p, 1 - p};
  ev_window w = ev_binomial_window(n, point);
  ev_options uniform = {.level = options->level, .a = 1, .b = 1};
  /* A sum over every quarter sd is that over all: a normal's trapezoid rule errs by e^-(32 pi^2).
   */
  double stride = fmax(1, floor(w.sd / 4)), sum = 0, mass = 0;
  /* Counted from w.least, because from 2^53 on k + 1 is not a double. */
  for (double i = 0; i <= w.most - w.least; i += stride) {
    double k = w.least + i, chance = ev_binomial_pmf(k, n, point), counts[] = {k, n};
    ev_interval ci;
    if (chance < 1e-18) continue; /* all of these together are below 1e-12 */
    ev_status status = ev_bayes(counts, &uniform, (ev_host){0}, &ci);
    if (status != EV_OK) return status;
    sum += chance * (ci.hi - ci.lo);
    mass += chance;
  }
  *width = sum / mass;
  return EV_OK;
}

typedef struct width_plan {
  double p, width;
  const ev_options *options;
  ev_status status;
} width_plan;

static bool narrow_enough(double n, void *context) {
  width_plan *plan = context;
  double expected = 0;
  if (plan->status == EV_OK) plan->status = ev_expected_width(n, plan->p, plan->options, &expected);
  return expected <= plan->width;
}

ev_status ev_plan_n(double p, double width, const ev_options *options, double *n) {
  width_plan plan = {p, width, options, EV_OK};
  *n = ev_least_whole(1, EV_MOST_QUESTIONS, 1, narrow_enough, &plan);
  if (*n == EV_MOST_QUESTIONS) *n = HUGE_VAL;
  return plan.status;
}
