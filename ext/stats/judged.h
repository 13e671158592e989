/*
** The true accuracy behind the verdicts of a judge that errs.
*/
#ifndef EV_JUDGED_H
#define EV_JUDGED_H

#include "model.h"

/* What a judge said, and what is true of the answers that a person looked at. */
typedef struct ev_judged {
  double right_right, right_wrong; /* labelled: judged right, and so they are, or not */
  double wrong_right, wrong_wrong;
  double judged_right, judged; /* the rest: judged right, and all of them */
} ev_judged;

/* At least one verdict. */
ev_status ev_judged_accuracy(const ev_judged *j, const ev_options *options, ev_host host,
                             ev_interval *ci);

#endif
