/*
** The Gauss rule of the tasks' own distribution of ln n: few sizes with weights that give
** the same sums of powers.
**
** What is summed, the logarithm of a Beta's characteristic function at s, bends most where n
** is near -s, which is a quarter of pi beside the real axis of ln n, and no nearer.  Eight
** sizes for a factor of four leave 2e-7 of it, and M is the narrower for the tasks' size.
*/
#include "grouped.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gauss.h"

enum {
  GROUP_NODES = 8,
  GROUP_LEAST = 12 /* fewer tasks are not worth it */
};

/* From here on a task has next to nothing at its other end. */
static const double GROUP_FROM = 40;
static const double GROUP_FACTOR = 4;

/* The recurrence of the polynomials orthogonal over the tasks, in x = ln n - middle: Stieltjes'
** procedure. */
static void set_recurrence(const ev_cluster *tasks, size_t count, double middle, double *diagonal,
                           double *off) {
  double before = 0, square[GROUP_NODES] = {0};
  for (int k = 0; k < GROUP_NODES; k++) {
    double norm = 0, moment = 0;
    for (size_t t = 0; t < count; t++) {
      double x = log(tasks[t].n) - middle, last = 0, now = 1;
      for (int j = 0; j < k; j++) {
        double next = (x - diagonal[j]) * now - square[j] * last;
        last = now;
        now = next;
      }
      norm += tasks[t].times * now * now;
      moment += tasks[t].times * now * now * x;
    }
    diagonal[k] = moment / norm;
    if (k > 0) {
      square[k] = norm / before;
      off[k - 1] = sqrt(square[k]);
    }
    before = norm;
  }
}

static ev_status make_group(const ev_cluster *tasks, size_t count, double middle,
                            ev_cluster *group) {
  double diagonal[GROUP_NODES] = {0}, off[GROUP_NODES] = {0}, weights[GROUP_NODES], total = 0;
  bool right = tasks[0].k > 0;
  for (size_t t = 0; t < count; t++) total += tasks[t].times;
  set_recurrence(tasks, count, middle, diagonal, off);
  ev_status status = ev_gauss_rule(diagonal, off, GROUP_NODES, weights);
  for (int i = 0; i < GROUP_NODES && status == EV_OK; i++) {
    double n = exp(middle + diagonal[i]);
    group[i] = (ev_cluster){right ? n : 0, n, weights[i] * total};
  }
  return status;
}

/* Groups the tasks of one side from n to four times it; the others keep their order. */
static ev_status group_sizes(ev_cluster *tasks, size_t *count, bool right, double from,
                             ev_cluster *members) {
  size_t kept = 0, found = 0;
  for (size_t t = 0; t < *count; t++) {
    bool one = tasks[t].n >= from && tasks[t].n < GROUP_FACTOR * from;
    if (one && tasks[t].k == (right ? tasks[t].n : 0)) members[found++] = tasks[t];
  }
  if (found < GROUP_LEAST) return EV_OK;
  for (size_t t = 0; t < *count; t++) {
    bool one = tasks[t].n >= from && tasks[t].n < GROUP_FACTOR * from;
    if (!one || tasks[t].k != (right ? tasks[t].n : 0)) tasks[kept++] = tasks[t];
  }
  *count = kept + GROUP_NODES;
  return make_group(members, found, log(from * sqrt(GROUP_FACTOR)), tasks + kept);
}

ev_status ev_group_tasks(ev_cluster *tasks, size_t *count) {
  ev_cluster *members = malloc(*count * sizeof *members);
  ev_status status = members ? EV_OK : EV_NO_MEMORY;
  double most = 0;
  for (size_t t = 0; t < *count; t++) most = fmax(most, tasks[t].n);
  for (double from = GROUP_FROM; from <= most && status == EV_OK; from *= GROUP_FACTOR) {
    status = group_sizes(tasks, count, false, from, members);
    if (status == EV_OK) status = group_sizes(tasks, count, true, from, members);
  }
  free(members);
  return status;
}
