/*
** Whether a question is answered right by the models that do well on the rest.  Used by the
** board and the tests; knows nothing of SQL.
*/
#ifndef EV_ITEM_REST_H
#define EV_ITEM_REST_H

#include <stddef.h>

#include "model.h"

/* A model's score on a question, 1 and 0 for right and wrong, and its mean on the rest. */
typedef struct ev_item_answer {
  double y, rest;
} ev_item_answer;

/* Pearson's correlation, NAN where either side has no spread; and its interval by Fisher's
** z, NAN also below four models or where they are on a line. */
void ev_item_rest(const ev_item_answer *answers, size_t count, const ev_options *options, double *r,
                  ev_interval *ci);

/* The rank-sum test of answers that are right or wrong, which are sorted.  `auc` is the
** chance that a right model has a higher rest than a wrong one, ties being half; `p`, unless
** NULL, is the one-sided mid-p that right answers come from low scorers: small where they do.
** Both are NAN where all are right, or wrong. */
ev_status ev_item_low(ev_item_answer *answers, size_t count, double *auc, double *p);

#endif
