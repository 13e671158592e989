/*
** The mean of graded scores on other tasks like these.
**
** It is the mean of clusters, ev_clustered_mean, with its imagined tasks just beyond the seen
** ones.  At the ends of the range, where an unseen question may well be, they are too much
** for five tasks: nobody scores 0 or 1 on all questions of one.
**
**   1. r = sum S / sum N; a task's linearised value is u = r + (S - r N) / mean N, and
**      T = (sum N)^2 / sum N^2 tasks count.
**   2. m and M are the least and the greatest u, R = M - m, and s = 2 r - m - M says which
**      tail is the longer.
**   3. The range becomes m - c R - max(0, s) to M + c R + max(0, -s), c = 2 / (T - 7/4), cut to
**      [lo, hi] and widened to hold every task's own mean.  Tasks that are all alike keep
**      [lo, hi].
**   4. ev_clustered_mean over that range.
**
** tests/measured/verdicts.md has its coverage.
*/
#include "other_tasks.h"

#include <math.h>

/* Values that are so close, as shares of the range, are alike. */
static const double TASKS_ALIKE = 1e-12;

/* Two tasks at least count, so that c is finite and positive. */
static const double FEWEST_EFFECTIVE = 2;

ev_status ev_other_tasks(const ev_score_cluster *tasks, size_t count, const ev_options *options,
                         ev_host host, ev_interval *ci) {
  ev_options near = *options;
  double total = 0, size = 0, squares = 0, number = 0;
  double least = INFINITY, most = -INFINITY, lowest = INFINITY, highest = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    total += tasks[i].total * tasks[i].times;
    size += tasks[i].size * tasks[i].times;
    squares += tasks[i].size * tasks[i].size * tasks[i].times;
    number += tasks[i].times;
  }
  double mean = total / size, each = size / number;
  for (size_t i = 0; i < count; i++) {
    double own = tasks[i].total / tasks[i].size;
    double value = mean + (tasks[i].total - mean * tasks[i].size) / each;
    least = fmin(least, value);
    most = fmax(most, value);
    lowest = fmin(lowest, own);
    highest = fmax(highest, own);
  }
  if (most - least > TASKS_ALIKE * (options->hi - options->lo)) {
    double effective = fmax(FEWEST_EFFECTIVE, size / squares * size);
    double beyond = 2 / (effective - 1.75) * (most - least), skew = 2 * mean - least - most;
    near.lo = fmin(lowest, fmax(options->lo, least - beyond - fmax(0, skew)));
    near.hi = fmax(highest, fmin(options->hi, most + beyond + fmax(0, -skew)));
  }
  return ev_clustered_mean(tasks, count, &near, host, ci);
}
