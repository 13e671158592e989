/*
** Metrics that are not averages of independent answers.
*/
#ifndef EV_METRICS_H
#define EV_METRICS_H

#include "model.h"

ev_model ev_f1;        /* counts: tp, fp, fn; not all zero */
ev_model ev_precision; /* counts: tp, fp; not both zero */
ev_model ev_recall;    /* counts: tp, fn; not both zero */

#endif
