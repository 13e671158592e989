/*
** Krippendorff's alpha from units that are rated twice or more, by any number of raters.
**
** 1. A unit u with n_uc ratings c, m_u in all, has the disagreement
**    D_u = n_u'd n_u / (m_u - 1), d the distances between categories.
** 2. The weights of units are Dirichlet, 1 each.  Imagined units have the mean number m of ratings:
**    an agreement on each category, with weight 1/k; and, for the lower bound alone, a
**    disagreement on each pair of categories, half and half, with weights that sum to 1: equal
**    where categories are names, in proportion to 1/steps where they are ordered.
** 3. The disagreement expected is pi'd pi for each rating, where pi are the shares of the
**    categories: its tangent is 2 n_u'd pi - m_u pi'd pi in the unit u.
** 4. The mean of the term left out is m_u q, q = sum p_u z_u'd z_u / (m^2 (A+1)), with
**    z_u = n_u - m_u pi and A the sum of the weights.
** 5. The rest is agreement_tilted.c's.  Where every unit has two ratings of two categories it is
**    agreement.c's.
**
** Units with the same ratings are one atom.  For the point, the disagreement expected is
** multiplied by n/(n-1), n the number of ratings, as Krippendorff defines it.
**
** Reference: Krippendorff, Content Analysis (2004), chapter 11; Computing Krippendorff's
** alpha-reliability (2011).
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"

/* An atom: its ratings, or those that are imagined. */
typedef struct atom {
  const ev_unit_rating *list;
  size_t count;
  double times;   /* the number of such units */
  double size;    /* m_u */
  double squares; /* n_u'd n_u */
} atom;

typedef struct units {
  ev_ratings r;
  double *distance;         /* by pair of categories, the largest 1 */
  double *share, *expected; /* pi and d pi */
  atom *atoms;
  ev_unit_rating *imagined;
} units;

static int by_ratings(const void *x, const void *y) {
  const atom *a = x, *b = y;
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  for (size_t i = 0; i < a->count; i++) {
    const ev_unit_rating *p = &a->list[i], *q = &b->list[i];
    if (p->category != q->category) return p->category < q->category ? -1 : 1;
    if (p->count != q->count) return p->count < q->count ? -1 : 1;
  }
  return 0;
}

/* The distance of Krippendorff's ordinal metric: the ratings from one category to the other, of
** these two half. */
static double ratings_between(const double *totals, size_t a, size_t b) {
  double sum = (totals[a] + totals[b]) / 2;
  for (size_t c = a + 1; c < b; c++) sum += totals[c];
  return sum;
}

/* `totals` are the numbers of ratings by category. */
static void set_distances(units *u, ev_distance distance, const double *totals) {
  size_t k = u->r.categories;
  double most = 0;
  for (size_t a = 0; a < k; a++)
    for (size_t b = a; b < k; b++) {
      double apart = distance == EV_NOMINAL    ? 1
                     : distance == EV_INTERVAL ? u->r.values[b] - u->r.values[a]
                                               : ratings_between(totals, a, b);
      if (a == b) apart = 0;
      u->distance[a * k + b] = u->distance[b * k + a] = apart;
      most = fmax(most, apart);
    }
  for (size_t i = 0; i < k * k; i++) {
    double apart = u->distance[i] / most;
    u->distance[i] = apart * apart;
  }
}

static double product(const atom *a, const double *of_category) {
  double sum = 0;
  for (size_t i = 0; i < a->count; i++) sum += a->list[i].count * of_category[a->list[i].category];
  return sum;
}

static void measure_unit(const units *u, atom *a) {
  a->size = a->squares = 0;
  for (size_t i = 0; i < a->count; i++) {
    a->size += a->list[i].count;
    a->squares +=
        a->list[i].count * product(a, u->distance + a->list[i].category * u->r.categories);
  }
}

/* Steps 3 and 4. */
static void expect_alpha(ev_tilted *t, void *context) {
  const units *u = context;
  size_t k = u->r.categories;
  double size = 0, chance = 0, left_out = 0;
  memset(u->share, 0, k * sizeof *u->share);
  for (size_t i = 0; i < t->count; i++) {
    const atom *a = &u->atoms[i];
    size += t->share[i] * a->size;
    for (size_t j = 0; j < a->count; j++)
      u->share[a->list[j].category] += t->share[i] * a->list[j].count;
  }
  for (size_t c = 0; c < k; c++) u->share[c] /= size;
  for (size_t c = 0; c < k; c++) {
    u->expected[c] = 0;
    for (size_t d = 0; d < k; d++) u->expected[c] += u->distance[c * k + d] * u->share[d];
    chance += u->share[c] * u->expected[c];
  }
  for (size_t i = 0; i < t->count; i++) {
    const atom *a = &u->atoms[i];
    double mixed = product(a, u->expected);
    left_out += t->share[i] * (a->squares - 2 * a->size * mixed + a->size * a->size * chance);
    t->expected[i] = 2 * mixed - a->size * chance;
  }
  double q = t->curvature * left_out / (size * size);
  for (size_t i = 0; i < t->count; i++) t->expected[i] += u->atoms[i].size * q;
}

/* Step 2: appends the imagined atoms; returns the number of all atoms. */
static size_t imagine_units(units *u, ev_distance distance, double size, bool disagreement,
                            ev_tilted *t) {
  size_t k = u->r.categories, count = t->count;
  ev_unit_rating *next = u->imagined;
  double all = 0;
  for (size_t steps = 1; steps < k; steps++)
    all += (double)(k - steps) / (distance == EV_NOMINAL ? 1 : (double)steps);
  for (size_t a = 0; a < k; a++)
    for (size_t b = a; b < k; b++, count++) {
      double steps = distance == EV_NOMINAL ? 1 : (double)(b - a);
      u->atoms[count] = (atom){.list = next, .count = a == b ? 1 : 2};
      *next++ = (ev_unit_rating){0, a, a == b ? size : size / 2};
      if (a != b) *next++ = (ev_unit_rating){0, b, size / 2};
      measure_unit(u, &u->atoms[count]);
      t->weight[count] = a == b ? 1 / (double)k : disagreement / (steps * all);
      t->seen[count] = size * u->distance[a * k + b];
    }
  return count;
}

/* The units as atoms, those with the same ratings as one; gives the number of ratings. */
static double gather_units(units *u, ev_tilted *t) {
  size_t count = 0;
  double ratings = 0;
  for (size_t i = 0; i < u->r.count; count++) {
    atom *a = &u->atoms[count];
    *a = (atom){.list = &u->r.list[i]};
    while (i < u->r.count && u->r.list[i].unit == a->list->unit) i++, a->count++;
    measure_unit(u, a);
    a->times = u->r.times ? u->r.times[a->list->unit] : 1;
    ratings += a->times * a->size;
    t->total += a->times;
  }
  qsort(u->atoms, count, sizeof *u->atoms, by_ratings);
  for (size_t i = 0; i < count; i++) {
    if (t->count > 0 && by_ratings(&u->atoms[t->count - 1], &u->atoms[i]) == 0) {
      t->weight[t->count - 1] += u->atoms[i].times;
      continue;
    }
    u->atoms[t->count] = u->atoms[i];
    t->seen[t->count] = u->atoms[i].squares / (u->atoms[i].size - 1);
    t->weight[t->count++] = u->atoms[i].times;
  }
  return ratings;
}

/* Counts of pairs of ratings of two categories; false where a unit has more ratings. */
static bool only_pairs(const units *u, const ev_tilted *t, double *counts) {
  memset(counts, 0, 4 * sizeof *counts);
  for (size_t i = 0; i < t->count; i++) {
    const atom *a = &u->atoms[i];
    if (u->r.categories > 2 || a->size > 2) return false;
    counts[a->count == 2 ? 1 : a->list->category == 0 ? 0 : 3] += t->weight[i];
  }
  return true;
}

/* A bound with the imagined units of step 2 beside the data. */
static ev_status alpha_bound(units *u, const ev_tilted *data, const ev_options *options,
                             double size, bool upper, ev_host host, double *bound) {
  ev_tilted t = *data;
  t.count = imagine_units(u, options->distance, size, !upper, &t);
  t.total += upper ? 1 : 2;
  t.curvature = 1 / (t.total + 1);
  return ev_tilted_bound(&t, ev_tail(options), upper, host, bound);
}

static ev_status alpha_of(units *u, ev_tilted *t, const ev_options *options, bool point,
                          ev_host host, ev_interval *ci) {
  size_t k = u->r.categories;
  double *totals = u->share, counts[4];
  memset(totals, 0, k * sizeof *totals);
  for (size_t i = 0; i < u->r.count; i++) totals[u->r.list[i].category] += u->r.list[i].count;
  set_distances(u, options->distance, totals);
  double ratings = gather_units(u, t);
  if (point) {
    ci->lo = ci->hi = 1 - ev_tilted_ratio(t) * (ratings - 1) / ratings;
    return EV_OK;
  }
  if (only_pairs(u, t, counts)) return ev_pair_alpha(counts, options, host, ci);
  ev_status status = alpha_bound(u, t, options, ratings / t->total, false, host, &ci->lo);
  return status == EV_OK ? alpha_bound(u, t, options, ratings / t->total, true, host, &ci->hi)
                         : status;
}

static ev_status make_alpha(ev_ratings r, const ev_options *options, bool point, ev_host host,
                            ev_interval *ci) {
  size_t k = r.categories, most = r.count + k * (k + 1) / 2;
  ev_status status = EV_NO_MEMORY;
  double *room = malloc((4 * most + k * k + 2 * k) * sizeof *room);
  units u = {.r = r,
             .atoms = malloc(most * sizeof *u.atoms),
             .imagined = malloc(k * k * sizeof *u.imagined)};
  if (room && u.atoms && u.imagined) {
    ev_tilted t = {.weight = room,
                   .seen = room + most,
                   .share = room + 2 * most,
                   .expected = room + 3 * most,
                   .expect = expect_alpha,
                   .context = &u};
    u.distance = room + 4 * most;
    u.share = u.distance + k * k;
    u.expected = u.share + k;
    status = alpha_of(&u, &t, options, point, host, ci);
  }
  free(room);
  free(u.atoms);
  free(u.imagined);
  return status;
}

ev_status ev_alpha(ev_ratings r, const ev_options *options, ev_host host, ev_interval *ci) {
  return make_alpha(r, options, false, host, ci);
}

ev_status ev_alpha_point(ev_ratings r, const ev_options *options, ev_host host, ev_interval *ci) {
  return make_alpha(r, options, true, host, ci);
}
