/*
** Many atoms as fewer, for sums over them of functions that are analytic about them.
** Used by ext/stats/dirichlet.c.
*/
#ifndef EV_MERGE_H
#define EV_MERGE_H

#include <stddef.h>

#include "dirichlet.h"

/* Merges atoms of one size in place, where they are many and close, and gives how many
** are left: of either sign of weight, and with the same sums to rounding.  `weight` is
** that of all. */
size_t ev_merge_atoms(ev_atom *atoms, size_t count, ev_merging merging, double weight);

#endif
