/*
** Many tasks that are all right or all wrong, of different sizes, as few.  Used by
** ext/stats/macro.c.
*/
#ifndef EV_GROUPED_H
#define EV_GROUPED_H

#include "clustered.h"

/* Replaces tasks in place by fewer, whose n and times need not be whole: a sum over them of
** what is smooth in ln n is the same.  Smaller tasks, mixed ones and few stay as they are. */
ev_status ev_group_tasks(ev_cluster *tasks, size_t *count);

#endif
