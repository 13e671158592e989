/*
** Rows of scores as atoms of a Dirichlet: within a range, sorted and merged, so that
** neither the order of rows nor how they come merged changes a digit.  Used by the
** models of graded scores in ext/stats; knows nothing of SQL.
*/
#ifndef EV_ATOMS_H
#define EV_ATOMS_H

#include <stddef.h>

#include "dirichlet.h"
#include "mean.h"

/* A range over a power of 2 that keeps its ends, and all between, at most 1. */
typedef struct ev_score_range {
  double lo, hi;
  int exponent;
} ev_score_range;

ev_score_range ev_range_of(double lo, double hi);

/* The value, between the ends as they were given, of a share of the range. */
double ev_range_value(const ev_score_range *range, ev_point share);

/* The interval between two shares, in order, and of some width. */
ev_interval ev_range_interval(const ev_score_range *range, ev_point low, ev_point high);

typedef struct ev_atoms {
  ev_atom *list;
  size_t count;
} ev_atoms;

/* Whatever the status, ev_atoms_free() must follow. */
ev_status ev_atoms_of_scores(const ev_score *scores, size_t count, const ev_score_range *range,
                             ev_atoms *atoms);
ev_status ev_atoms_of_weighted(const ev_weighted_score *scores, size_t count,
                               const ev_score_range *range, ev_atoms *atoms);
ev_status ev_atoms_of_clusters(const ev_score_cluster *clusters, size_t count,
                               const ev_score_range *range, ev_atoms *atoms);
/* Atoms with above = total / 2^total_exponent and below = size / 2^size_exponent.  Rows where both
** are 0 are left out; at least one row must remain. */
ev_status ev_atoms_of_ratios(const ev_score_cluster *rows, size_t count, int total_exponent,
                             int size_exponent, ev_atoms *atoms);
void ev_atoms_free(ev_atoms *atoms);

/* The atoms of the scores with their signs changed. */
ev_status ev_atoms_mirror(const ev_atoms *atoms, ev_atoms *mirror);

/* Less than, equal to or more than 0, as strcmp() returns. */
static inline int ev_compare_numbers(double a, double b) {
  return (a > b) - (a < b);
}

/* Counts k of n: by n, then by k. */
static inline int ev_compare_counts(double k_a, double n_a, double k_b, double n_b) {
  return n_a != n_b ? ev_compare_numbers(n_a, n_b) : ev_compare_numbers(k_a, k_b);
}
int ev_atoms_compare(const ev_atoms *a, const ev_atoms *b);

/* Whether every score is an end of the range; if so, counts[] = {those at the upper end, all}. */
bool ev_atoms_at_ends(const ev_atoms *atoms, double counts[2]);

/* A copy with further atoms inserted; an equal atom gains the weight. */
ev_status ev_atoms_with(const ev_atoms *atoms, const ev_atom *more, size_t count, ev_atoms *with);

#endif
