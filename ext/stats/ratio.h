/*
** A ratio of two sums over rows, as cost per right answer.  Used by the SQL surface, the
** board and the tests; knows nothing of SQL.
*/
#ifndef EV_RATIO_H
#define EV_RATIO_H

#include "mean.h"

/* The interval of the totals over the sizes, which are the counts.  Both are at least 0 and at most
** 2^500, and 0 or at least 2^-500.  [0, 0] if every total is 0. */
ev_score_cluster_model ev_ratio;

#endif
