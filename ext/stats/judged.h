/*
** The true accuracy behind the verdicts of a judge that errs.
*/
#ifndef EV_JUDGED_H
#define EV_JUDGED_H

#include <stddef.h>

#include "model.h"

/* Counts of the labelled answers by verdict and truth: both right, judged right but wrong, judged
** wrong but right, both wrong; then, of the other answers, those judged right, and all of them.  At
** least one verdict. */
ev_model ev_judged;

/* Answers to which a judge gave this score, and a person that one; NAN where no person looked. */
typedef struct ev_judged_score {
  double judge, truth, times;
} ev_judged_score;

/* The mean of a person's scores, had all answers been labelled; scores are in [lo, hi] of the
** options.  Rows, at least one, come in any order, and different ones are different.  Scores with
** their signs changed, over a range that is symmetric about 0, change those of the bounds. */
ev_status ev_judged_mean(const ev_judged_score *scores, size_t count, const ev_options *options,
                         ev_host host, ev_interval *ci);

#endif
