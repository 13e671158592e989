/*
** The posterior of the nested model (nested.h) as weighted points of (theta, d1, d2).  Used by
** ext/stats/nested*.c.
*/
#ifndef EV_NESTED_POSTERIOR_H
#define EV_NESTED_POSTERIOR_H

#include "hierarchy.h"
#include "nested_tasks.h"

typedef struct ev_nested_posterior {
  ev_nested_tasks tasks;
  const ev_options *options;
  ev_host host;
  double first_r, step_r; /* ln d2 of node i is first_r + i step_r */
  double *ln_prior;       /* owned: of each node, with the step */
  double *ln;             /* room for as many */
  double d1;              /* of the line that is looked at */
  ev_hierarchy h;         /* lines of d1, points of theta */
  double *weight;         /* owned: [points][nodes], all of which sum to 1 */
} ev_nested_posterior;

/* What the posterior is wanted for. */
typedef enum ev_nested_use { EV_NESTED_THETA, EV_NESTED_EACH, EV_NESTED_NOISE } ev_nested_use;

/* To be freed whatever the status. */
ev_status ev_nested_posterior_make(const ev_items *items, const ev_options *options, ev_host host,
                                   ev_nested_use use, ev_nested_posterior *p);
void ev_nested_posterior_free(ev_nested_posterior *p);

#endif
