/*
** Many atoms of one size, merged.
**
** The functions summed over the atoms are analytic in an atom's mean except at 1/s, which is
** far from the atoms compared with their spread: about sqrt(n)/z of their standard
** deviations, z the normal deviate of the tail.  So their support is cut into bins, and a
** bin with a large share of the weight is cut again.  In a bin with more than MERGE_NODES
** atoms, Chebyshev nodes between its first and its last atom take the atoms' place, with
** weights of either sign that give every polynomial of degree below MERGE_NODES the same
** integral.
*/
#include "merge.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_math.h>

/* Where a tail down to 1e-300 is sought, 1/s may be as near to the atoms as 0.01 of their support,
** and 128 bins keep the bin there to 1e-11; where it is 1e-40, 0.1, and 32 bins keep it to 1e-14.
** With 128, means of 10^6 different scores are within 9e-14 of the range of their references
** (tests/measured/accuracy.md).  They are up to 1,536 atoms, too few to be worth merging from less
** than MERGE_FROM, and fewer bins from as many times less.  A bin with more than MERGE_SHARE of the
** weight is cut again, because it alone may decide the spread; each cut is by as many bins, so that
** 16 exceed the digits of a double. */
enum {
  MERGE_BINS = 128,
  MERGE_BINS_OF_MORE = 32,
  MERGE_NODES = 12,
  MERGE_DEPTH = 16,
  MERGE_FROM = 4000
};
static const double MERGE_SHARE = 0.1;

static int compare_above(const void *left, const void *right) {
  const ev_atom *a = left, *b = right;
  return (a->above > b->above) - (a->above < b->above);
}

/* Replaces a run of atoms, in rising order, by nodes. */
static void set_nodes_for(const ev_atom *run, size_t count, ev_atom *nodes) {
  ev_atom first = run[0], last = run[count - 1];
  double width = last.above - first.above, moments[MERGE_NODES] = {0};
  for (size_t i = 0; i < count; i++) {
    double x = 2 * (run[i].above - first.above) / width - 1, before = x, now = 1;
    for (int k = 0; k < MERGE_NODES; k++) {
      moments[k] += run[i].weight * now;
      double after = 2 * x * now - before;
      before = now, now = after;
    }
  }
  for (int node = 0; node < MERGE_NODES; node++) {
    double angle = M_PI * (node + 0.5) / MERGE_NODES, weight = moments[0];
    for (int k = 1; k < MERGE_NODES; k++) weight += 2 * moments[k] * cos(k * angle);
    double up = (1 + cos(angle)) / 2, down = (1 - cos(angle)) / 2;
    nodes[node] = (ev_atom){first.above + up * width,
                            last.below + down * (first.below - last.below), weight / MERGE_NODES};
  }
}

/* Merges a run of atoms, in rising order, into `to`, which is the run or lies before it: no
** bin yields more atoms than it has. */
static size_t merge_run(const ev_atom *run, size_t count, int bins, double heavy, int depth,
                        ev_atom *to) {
  double low = run[0].above, width = (run[count - 1].above - low) / bins;
  size_t merged = 0;
  for (size_t from = 0, next; from < count; from = next) {
    double bin = floor((run[from].above - low) / width), weight = 0;
    for (next = from; next < count && floor((run[next].above - low) / width) == bin; next++)
      weight += run[next].weight;
    size_t size = next - from;
    bool even = size > MERGE_NODES && run[from].above < run[next - 1].above;
    if (even && weight > heavy && depth < MERGE_DEPTH) {
      merged += merge_run(run + from, size, bins, heavy, depth + 1, to + merged);
    } else if (even) {
      set_nodes_for(run + from, size, to + merged);
      merged += MERGE_NODES;
    } else {
      memmove(to + merged, run + from, size * sizeof *to);
      merged += size;
    }
  }
  return merged;
}

size_t ev_merge_atoms(ev_atom *atoms, size_t count, ev_merging merging, double weight) {
  int bins = merging == EV_MERGE_MORE ? MERGE_BINS_OF_MORE : MERGE_BINS;
  if (merging == EV_MERGE_NONE || count < (size_t)bins * MERGE_FROM / MERGE_BINS) return count;
  bool rising = true;
  for (size_t i = 1; i < count && rising; i++) rising = atoms[i - 1].above <= atoms[i].above;
  if (!rising) qsort(atoms, count, sizeof *atoms, compare_above);
  if (atoms[0].above == atoms[count - 1].above) return count;
  return merge_run(atoms, count, bins, MERGE_SHARE * weight, 0, atoms);
}
