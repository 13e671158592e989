/*
** Is it worth asking again?  Q questions with R attempts at each have the variance
** theta (1 - theta) / Q (icc + (1 - icc) / R), so that as many questions are needed as
** plan_n asks for, times the design effect (1 + (R - 1) icc) / R.
**
**   1. n = plan_n(p, width), one attempt at each question.
**   2. For R from 1 to 200: Q = n (1 + (R - 1) icc) / R, rounded up, at a cost of
**      Q (question + R attempt).
**   3. The cheapest; fewer attempts where two cost the same.
**
** Were Q not rounded, the best R would be sqrt(question / attempt (1 - icc) / icc).
** Reference: Miller 2024, arXiv:2411.00640 (resampling answers).
*/
#include "planning.h"

/* Contract 53.  Nobody asks a question more often. */
enum { MOST_RUNS = 200 };

/* Rounding of n (1 + (R - 1) icc) / R must not ask for a question more, nor that of a cost for
** another attempt. */
static const double RUNS_SLACK = 1e-12;

ev_status ev_plan_runs(double p, double width, double icc, ev_run_costs costs,
                       const ev_options *options, double plan[3]) {
  double n;
  ev_status status = ev_plan_n(p, width, options, &n);
  plan[0] = n, plan[1] = 1, plan[2] = HUGE_VAL;
  if (status != EV_OK || isinf(n)) return status;
  for (double runs = 1; runs <= MOST_RUNS; runs++) {
    double questions = ceil(n * (1 + (runs - 1) * icc) / runs * (1 - RUNS_SLACK));
    double cost = questions * costs.question + questions * runs * costs.attempt;
    if (cost >= plan[2] * (1 - RUNS_SLACK)) continue;
    plan[0] = questions, plan[1] = runs, plan[2] = cost;
  }
  return EV_OK;
}
