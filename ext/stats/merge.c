/*
** Many atoms of one size, merged.
**
** The sums over atoms are of functions analytic in an atom's mean, and 1/s, where they
** are not, is far from the atoms beside the distance at which many lie: about
** sqrt(n)/z of their standard deviations, z that of the tail.  So their support is cut
** into bins, a bin with a large share of the weight likewise, and where a bin has more
** atoms than MERGE_NODES, Chebyshev nodes between its first and its last take their
** place, with weights, of either sign, that integrate every polynomial of lower
** degree alike.
*/
#include "merge.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_math.h>

enum { MERGE_BINS = 128, MERGE_NODES = 12, MERGE_DEPTH = 16, MERGE_FROM = 4000 };
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

/* Merges a run of atoms, in rising order, from a place at or after where they go.  No
** bin puts out more than it takes in. */
static size_t merge_run(const ev_atom *run, size_t count, double heavy, int depth, ev_atom *to) {
  double low = run[0].above, width = (run[count - 1].above - low) / MERGE_BINS;
  size_t merged = 0;
  for (size_t from = 0, next; from < count; from = next) {
    double bin = floor((run[from].above - low) / width), weight = 0;
    for (next = from; next < count && floor((run[next].above - low) / width) == bin; next++)
      weight += run[next].weight;
    size_t size = next - from;
    bool even = size > MERGE_NODES && run[from].above < run[next - 1].above;
    if (even && weight > heavy && depth < MERGE_DEPTH) {
      merged += merge_run(run + from, size, heavy, depth + 1, to + merged);
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

size_t ev_merge_atoms(ev_atom *atoms, size_t count, double weight) {
  if (count < MERGE_FROM) return count;
  bool rising = true;
  for (size_t i = 1; i < count && rising; i++) rising = atoms[i - 1].above <= atoms[i].above;
  if (!rising) qsort(atoms, count, sizeof *atoms, compare_above);
  if (atoms[0].above == atoms[count - 1].above) return count;
  return merge_run(atoms, count, MERGE_SHARE * weight, 0, atoms);
}
