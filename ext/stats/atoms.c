/*
** Rows of scores as atoms of a Dirichlet.
*/
#include "atoms.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

ev_score_range ev_range_of(double lo, double hi) {
  assert(lo < hi && isfinite(lo) && isfinite(hi));
  int exponent;
  frexp(fmax(fabs(lo), fabs(hi)), &exponent);
  return (ev_score_range){ldexp(lo, -exponent), ldexp(hi, -exponent), exponent};
}

double ev_range_value(const ev_score_range *range, ev_point share) {
  double width = range->hi - range->lo;
  double value = share.x <= share.y ? range->lo + width * share.x : range->hi - width * share.y;
  return ldexp(fmin(fmax(value, range->lo), range->hi), range->exponent);
}

ev_interval ev_range_interval(const ev_score_range *range, ev_point low, ev_point high) {
  double lo = ev_range_value(range, low), hi = ev_range_value(range, high);
  ev_interval ci = {fmin(lo, hi), fmax(lo, hi)};
  if (ci.lo < ci.hi) return ci;
  return (ev_interval){fmax(nextafter(ci.lo, -HUGE_VAL), ldexp(range->lo, range->exponent)),
                       fmin(nextafter(ci.hi, HUGE_VAL), ldexp(range->hi, range->exponent))};
}

static int compare_atoms(const void *left, const void *right) {
  const ev_atom *a = left, *b = right;
  int order = ev_compare_numbers(a->above, b->above);
  return order ? order : ev_compare_numbers(b->below, a->below);
}

static void sort_and_merge(ev_atoms *atoms) {
  qsort(atoms->list, atoms->count, sizeof *atoms->list, compare_atoms);
  size_t count = 0;
  for (size_t i = 0; i < atoms->count; i++) {
    ev_atom *last = count ? &atoms->list[count - 1] : NULL;
    if (last && compare_atoms(last, &atoms->list[i]) == 0)
      last->weight += atoms->list[i].weight;
    else
      atoms->list[count++] = atoms->list[i];
  }
  atoms->count = count;
}

static ev_status allocate_atoms(ev_atoms *atoms, size_t count) {
  assert(count > 0);
  *atoms = (ev_atoms){NULL, count};
  atoms->list = malloc(count * sizeof *atoms->list);
  return atoms->list ? EV_OK : EV_NO_MEMORY;
}

void ev_atoms_free(ev_atoms *atoms) {
  free(atoms->list);
  *atoms = (ev_atoms){NULL, 0};
}

/* Sums of many rows may leave the range by their rounding. */
static ev_atom atom_between(double above, double below, double times) {
  return (ev_atom){fmax(above, 0), fmax(below, 0), times};
}

ev_status ev_atoms_of_scores(const ev_score *scores, size_t count, const ev_score_range *range,
                             ev_atoms *atoms) {
  ev_status status = allocate_atoms(atoms, count);
  if (status != EV_OK) return status;
  for (size_t i = 0; i < count; i++) {
    double score = ldexp(scores[i].score, -range->exponent);
    atoms->list[i] = atom_between(score - range->lo, range->hi - score, scores[i].times);
  }
  sort_and_merge(atoms);
  return EV_OK;
}

/* Relative to the largest weight: a smaller one changes no digit, but could underflow. */
static const double LEAST_WEIGHT = 1e-100;

ev_status ev_atoms_of_weighted(const ev_weighted_score *scores, size_t count,
                               const ev_score_range *range, ev_atoms *atoms) {
  ev_status status = allocate_atoms(atoms, count);
  if (status != EV_OK) return status;
  double most = 0;
  int exponent;
  for (size_t i = 0; i < count; i++) most = fmax(most, scores[i].weight);
  frexp(most, &exponent);
  for (size_t i = 0; i < count; i++) {
    double score = ldexp(scores[i].score, -range->exponent);
    double weight = fmax(ldexp(scores[i].weight, -exponent), LEAST_WEIGHT);
    atoms->list[i] =
        atom_between(weight * (score - range->lo), weight * (range->hi - score), scores[i].times);
  }
  sort_and_merge(atoms);
  return EV_OK;
}

ev_status ev_atoms_of_clusters(const ev_score_cluster *clusters, size_t count,
                               const ev_score_range *range, ev_atoms *atoms) {
  ev_status status = allocate_atoms(atoms, count);
  if (status != EV_OK) return status;
  for (size_t i = 0; i < count; i++) {
    double total = ldexp(clusters[i].total, -range->exponent), size = clusters[i].size;
    atoms->list[i] =
        atom_between(total - range->lo * size, range->hi * size - total, clusters[i].times);
  }
  sort_and_merge(atoms);
  return EV_OK;
}

ev_status ev_atoms_of_ratios(const ev_score_cluster *rows, size_t count, int total_exponent,
                             int size_exponent, ev_atoms *atoms) {
  ev_status status = allocate_atoms(atoms, count);
  if (status != EV_OK) return status;
  atoms->count = 0;
  for (size_t i = 0; i < count; i++)
    if (rows[i].total > 0 || rows[i].size > 0)
      atoms->list[atoms->count++] = (ev_atom){ldexp(rows[i].total, -total_exponent),
                                              ldexp(rows[i].size, -size_exponent), rows[i].times};
  sort_and_merge(atoms);
  return EV_OK;
}

ev_status ev_atoms_mirror(const ev_atoms *atoms, ev_atoms *mirror) {
  ev_status status = allocate_atoms(mirror, atoms->count);
  if (status != EV_OK) return status;
  for (size_t i = 0; i < atoms->count; i++) {
    const ev_atom *atom = &atoms->list[atoms->count - 1 - i];
    mirror->list[i] = (ev_atom){atom->below, atom->above, atom->weight};
  }
  sort_and_merge(mirror);
  return EV_OK;
}

bool ev_atoms_at_ends(const ev_atoms *atoms, double counts[2]) {
  counts[0] = counts[1] = 0;
  for (size_t i = 0; i < atoms->count; i++) {
    const ev_atom *atom = &atoms->list[i];
    if (atom->above > 0 && atom->below > 0) return false;
    if (atom->above > 0) counts[0] += atom->weight;
    counts[1] += atom->weight;
  }
  return true;
}

int ev_atoms_compare(const ev_atoms *a, const ev_atoms *b) {
  int order = (a->count > b->count) - (a->count < b->count);
  for (size_t i = 0; i < a->count && order == 0; i++) {
    order = compare_atoms(&a->list[i], &b->list[i]);
    if (order == 0) order = ev_compare_numbers(a->list[i].weight, b->list[i].weight);
  }
  return order;
}

ev_status ev_atoms_with(const ev_atoms *atoms, const ev_atom *more, size_t count, ev_atoms *with) {
  ev_status status = allocate_atoms(with, atoms->count + count);
  if (status != EV_OK) return status;
  with->count = atoms->count;
  memcpy(with->list, atoms->list, atoms->count * sizeof *with->list);
  for (size_t i = 0; i < count; i++) {
    size_t at = 0;
    while (at < with->count && compare_atoms(&with->list[at], &more[i]) < 0) at++;
    if (at < with->count && compare_atoms(&with->list[at], &more[i]) == 0) {
      with->list[at].weight += more[i].weight;
      continue;
    }
    memmove(with->list + at + 1, with->list + at, (with->count++ - at) * sizeof *with->list);
    with->list[at] = more[i];
  }
  return EV_OK;
}
