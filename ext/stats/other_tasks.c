/*
** The mean of graded scores on other tasks like these.
**
** It is the mean of clusters, ev_clustered_mean, with its imagined tasks just beyond the seen
** ones.  At the ends of the range, where imagined questions lie, they would make the interval of
** five tasks too wide: no model scores 0 or 1 on a whole task.
**
**   1. m and M are the least and the greatest of the tasks' linearised values (imagined.c),
**      R = M - m, s = 2 r - m - M says which tail is the longer, and T tasks count.
**   2. The range becomes m - c R - max(0, s) to M + c R + max(0, -s), c = 2 / (T - 7/4), cut to
**      [lo, hi] and widened to hold every task's own mean.  Tasks that are all alike keep
**      [lo, hi].
**   3. ev_clustered_mean over that range.
**
** tests/measured/verdicts.md has its coverage.
*/
#include "other_tasks.h"

#include <math.h>

#include "imagined.h"

ev_status ev_other_tasks(const ev_score_cluster *tasks, size_t count, const ev_options *options,
                         ev_host host, ev_interval *ci) {
  ev_score_range range = ev_range_of(options->lo, options->hi);
  ev_atoms atoms;
  ev_status status = ev_atoms_of_clusters(tasks, count, &range, &atoms);
  if (status == EV_OK) {
    ev_interval beyond = ev_beyond_units(&atoms);
    ev_options near = *options;
    near.lo = ev_range_value(&range, (ev_point){beyond.lo, 1 - beyond.lo});
    near.hi = ev_range_value(&range, (ev_point){beyond.hi, 1 - beyond.hi});
    for (size_t i = 0; i < count; i++) {
      near.lo = fmin(near.lo, tasks[i].total / tasks[i].size);
      near.hi = fmax(near.hi, tasks[i].total / tasks[i].size);
    }
    status = ev_clustered_mean(tasks, count, &near, host, ci);
  }
  ev_atoms_free(&atoms);
  return status;
}
