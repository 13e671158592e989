/* The plain mean of these tasks' means: every task counts the same, however many questions it has.
** The tasks are fixed; their questions are a sample. */
#ifndef EV_MACRO_H
#define EV_MACRO_H

#include "clustered.h"
#include "mean.h"

/* A score of a task; tasks are numbered from 0, each number below `tasks` has a score. */
typedef struct ev_task_score {
  double score, times;
  size_t task;
} ev_task_score;

/* Scores are in [lo, hi] of the options, in any order, merged or not; the order of tasks
** changes no digit. */
ev_status ev_macro(const ev_task_score *scores, size_t count, size_t tasks,
                   const ev_options *options, ev_host host, ev_interval *ci);

/* The same for tasks with k right of n answers. */
ev_cluster_model ev_macro_counts;

#endif
