/* The mean score on other tasks like these: tasks are a sample, as questions are in the other
** models. Used by ext/board and the tests; knows nothing of SQL. */
#ifndef EV_OTHER_TASKS_H
#define EV_OTHER_TASKS_H

#include "mean.h"

/* Tasks are clusters of graded answers, scores in [lo, hi] of the options; their order changes
** no digit. */
ev_score_cluster_model ev_other_tasks;

#endif
