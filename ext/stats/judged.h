/*
** The true accuracy behind the verdicts of a judge that errs.
*/
#ifndef EV_JUDGED_H
#define EV_JUDGED_H

#include "model.h"

/* Counts: of the answers that a person looked at, judged right and so they are, judged right
** but wrong, judged wrong but right, judged wrong and so they are; of the rest, judged right,
** and all of them.  At least one verdict. */
ev_status ev_judged(const double *counts, const ev_options *options, ev_host host, ev_interval *ci);

#endif
