/*
** The imagined units of a mean: what keeps a posterior of few scores from collapsing.
** Used by the models of graded scores in ext/stats; knows nothing of SQL.
*/
#ifndef EV_IMAGINED_H
#define EV_IMAGINED_H

#include <stdbool.h>

#include "atoms.h"
#include "dirichlet.h"

/* The two imagined units of each bound.  Lower and upper bound have posteriors of their
** own, because an imagined unit belongs on the side where it can do harm. */
typedef struct ev_imagined {
  ev_atom lower[2], upper[2];
} ev_imagined;

/* The imagined units of a mean, and of a mean difference, over a range that is symmetric about 0.
** For units that are `sized`, clusters or weighted rows, the linearised values count. */
ev_imagined ev_imagine_mean(const ev_atoms *atoms, bool sized);
ev_imagined ev_imagine_diff(const ev_atoms *atoms, bool sized);

/* Places just beyond the linearised values of units, as shares of the range; its ends where
** the values are all alike. */
ev_interval ev_beyond_units(const ev_atoms *atoms);

/* Whether both bounds have the same imagined units, and so one posterior. */
bool ev_imagined_once(const ev_imagined *imagined);

/* The posterior of the atoms with imagined ones beside them, by ev_dirichlet_make(). */
ev_status ev_posterior_make(ev_dirichlet *d, const ev_atoms *atoms, const ev_atom *imagined,
                            size_t count, ev_host host);

/* The lower and the upper bound, as shares of the range. */
ev_status ev_posterior_bounds(const ev_atoms *atoms, const ev_imagined *imagined,
                              const ev_options *options, ev_host host, ev_point *low,
                              ev_point *high);

/* P(mean <= m) and P(mean > m), which sum to 1; the smaller keeps its digits.  At a bound of a
** level it equals that level's tail.  The lower posterior decides if it gives P(mean > m) > 1/2,
** the upper if it gives less than 1/2; otherwise both are 1/2. */
ev_status ev_posterior_at(const ev_atoms *atoms, const ev_imagined *imagined, ev_point m,
                          ev_host host, ev_point *p);

#endif
