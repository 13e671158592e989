/*
** The mean under random weights: a linear functional of a Dirichlet.  Used by
** the models of graded scores in ext/stats; knows nothing of SQL.
**
** Units, which are rows or clusters of rows, have a total and a size; the mean is
** sum w_t total_t / sum w_t size_t with w ~ Dirichlet(weights).  A unit is given
** by how far its total is above the least and below the most that its size
** allows, so that a mean near either end keeps its digits.  Means are shares of
** the range, from 0 to 1, with their complements.
*/
#ifndef EV_DIRICHLET_H
#define EV_DIRICHLET_H

#include <stddef.h>

#include "beta.h"
#include "model.h"

typedef struct ev_atom {
  double above, below; /* neither negative, one of them positive; their sum is the size */
  double weight;       /* positive; a whole number for data */
} ev_atom;

/* Merges atoms into fewer with the same distribution, up to rounding; or, where no tail below 1e-40
** is sought, into fewer still. */
typedef enum ev_merging { EV_MERGE_MANY, EV_MERGE_MORE, EV_MERGE_NONE } ev_merging;

typedef struct ev_dirichlet {
  ev_atom *atoms;       /* owned; merged ones may have a negative weight */
  size_t count, single; /* those that weigh 1 come first */
  ev_point least, most; /* of the atoms' own means: the ends of the support */
  double weight;        /* of all atoms */
  double size;          /* of every atom alike, or 0 */
  ev_point mean;        /* of all atoms */
  double spread;        /* about a standard deviation of logit(mean) */
  double *scratch;      /* owned; a few numbers per atom */
  ev_host host;
  double until_poll; /* atoms to evaluate before the host is asked again */
} ev_dirichlet;

/* Copies the atoms.  Equal ones should be merged already, which saves time. */
ev_status ev_dirichlet_make(ev_dirichlet *d, const ev_atom *atoms, size_t count, ev_merging merging,
                            ev_host host);
void ev_dirichlet_free(ev_dirichlet *d);

/* At a mean m: ln P(mean <= m) and ln P(mean > m), the smaller computed directly and to full
** relative precision; and ln of the density of logit(mean), -HUGE_VAL outside the support. */
typedef struct ev_dirichlet_value {
  double ln_below, ln_above, ln_density;
} ev_dirichlet_value;

ev_status ev_dirichlet_at(ev_dirichlet *d, ev_point m, ev_dirichlet_value *value);

/* The mean with `mass`, at most 1/2, below it or above it. */
ev_status ev_dirichlet_lower(ev_dirichlet *d, double mass, ev_point *m);
ev_status ev_dirichlet_upper(ev_dirichlet *d, double mass, ev_point *m);

#endif
