/*
** Intervals that hold at every number of questions at once, so that an eval may be looked
** at while it runs, and stopped.
*/
#ifndef EV_ANYTIME_H
#define EV_ANYTIME_H

#include "model.h"

ev_model ev_anytime;             /* counts: k, n with 0 <= k <= n and n >= 1; a Beta prior */
ev_model ev_anytime_paired_diff; /* counts: both, only_a, only_b, neither; not all zero */

#endif
