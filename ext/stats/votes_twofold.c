/*
** Steps of votes_posterior.c where H is all but singular, with every number as a sum of two.
**
**   1. Far out, and between groups that hardly met, H has directions in which it is 10^-20 of what
**      it is elsewhere, and what the elimination leaves for them is rounding.  But H and g are sums
**      over the cells, whose own rounding changes each by some 1e-16 of itself: as long as every
**      sum is exact, H is that of weights that are 1e-16 off, and g pushes both models of a cell
**      alike.
**   2. So a cell's numbers are n won lost, n won tied and n lost tied for H; n won, n lost and
**      n tied for g, which comes with the whole numbers of step 3 there, times 2 share.
**   3. Sums and products have 32 digits (Dekker, Numer. Math. 18 (1971) 224-242).
*/
#include "votes_posterior.h"

#include <string.h>

/* hi + lo, lo at most half a unit of hi's last place. */
typedef struct twofold {
  double hi, lo;
} twofold;

/* x + y, |x| >= |y|. */
static twofold renormalise(double x, double y) {
  double sum = x + y;
  return (twofold){sum, y - (sum - x)};
}

static twofold sum_of(double x, double y) {
  double sum = x + y, kept = sum - x;
  return (twofold){sum, (x - (sum - kept)) + (y - kept)};
}

static twofold plus(twofold x, twofold y) {
  twofold sum = sum_of(x.hi, y.hi), low = sum_of(x.lo, y.lo);
  sum = renormalise(sum.hi, sum.lo + low.hi);
  return renormalise(sum.hi, sum.lo + low.lo);
}

/* The first 26 bits. */
static double head(double x) {
  double shifted = x * 0x1.0000002p27;
  return shifted - (shifted - x);
}

static twofold times(twofold x, twofold y) {
  double product = x.hi * y.hi, a = head(x.hi), b = x.hi - a, c = head(y.hi), d = y.hi - c;
  double rest = ((a * c - product) + a * d + b * c) + b * d;
  return renormalise(product, rest + (x.hi * y.lo + x.lo * y.hi));
}

static twofold minus(twofold x) {
  return (twofold){-x.hi, -x.lo};
}

static twofold over(twofold x, twofold y) {
  double first = x.hi / y.hi;
  twofold rest = plus(x, minus(times((twofold){first, 0}, y)));
  return renormalise(first, rest.hi / y.hi);
}

static twofold get(const ev_votes_posterior *v, size_t i, size_t j) {
  return (twofold){v->matrix[i * v->row + j], v->low[i * v->row + j]};
}

static void put(ev_votes_posterior *v, size_t i, size_t j, twofold x) {
  v->matrix[i * v->row + j] = x.hi;
  v->low[i * v->row + j] = x.lo;
}

static void add(ev_votes_posterior *v, size_t i, size_t j, twofold x) {
  put(v, i, j, plus(get(v, i, j), x));
}

/* The derivatives of a cell by D and by ln nu. */
typedef struct twofold_slope {
  double whole, tie_whole;
  twofold rest, tie_rest;
} twofold_slope;

static twofold_slope slope_of(const votes_cell *c, double share, double won, double lost,
                              double tied) {
  double n = 2 * share * c->n, w = n * won, l = n * lost, t = n * tied;
  twofold_slope s = {.tie_whole = 2 * share * c->ties, .tie_rest = {-t, 0}};
  if (tied >= won && tied >= lost) {
    s.whole = share * (c->wins - c->losses);
    s.rest = sum_of(-w / 2, l / 2);
    s.tie_whole = -2 * (share * (c->wins + c->losses) + 2);
    s.tie_rest = sum_of(w, l);
  } else if (won >= lost) {
    s.whole = -(share * (2 * c->losses + c->ties) + 2);
    s.rest = sum_of(l, t / 2);
  } else {
    s.whole = share * (2 * c->wins + c->ties) + 2;
    s.rest = sum_of(-w, -t / 2);
  }
  return s;
}

static twofold signed_by(double sign, twofold x) {
  return sign > 0 ? x : minus(x);
}

static void add_cell(ev_votes_posterior *v, const votes_cell *cell) {
  size_t tie = v->tie, position = v->position, g = v->size, sum = g + 2;
  double won, lost, tied;
  ev_votes_chances(v, cell, &won, &lost, &tied);
  double wl = cell->n * won * lost, wt = cell->n * won * tied, lt = cell->n * lost * tied;
  twofold h = plus(sum_of(wl, wt / 4), (twofold){lt / 4, 0}), cross = sum_of(lt / 2, -wt / 2);
  twofold_slope s = slope_of(cell, v->share, won, lost, tied);
  double sign = cell->first < cell->second ? 1 : -1;
  size_t i = sign > 0 ? cell->first : cell->second, j = sign > 0 ? cell->second : cell->first;
  bool both = j < v->lambdas;
  add(v, i, both ? j : sum, h);
  v->whole[i] += sign * s.whole, add(v, i, g, signed_by(sign, s.rest));
  if (both) v->whole[j] -= sign * s.whole, add(v, j, g, signed_by(-sign, s.rest));
  if (tie < v->size) {
    v->whole[tie] += s.tie_whole, add(v, tie, g, s.tie_rest);
    add(v, tie, tie, sum_of(wt, lt));
    add(v, i, tie, signed_by(sign, cross));
    if (both) add(v, j, tie, signed_by(-sign, cross));
  }
  if (position < v->size) {
    v->whole[position] += s.whole, add(v, position, g, s.rest);
    add(v, position, position, h);
    add(v, i, position, signed_by(sign, h));
    if (both) add(v, j, position, signed_by(-sign, h));
    if (tie < v->size) add(v, tie, position, cross);
  }
}

/* g less its multiple of c, which is taken out. */
static void set_gradients(ev_votes_posterior *v) {
  size_t p = v->size;
  twofold scale = {2 * v->share, 0}, along = {0, 0};
  for (size_t i = 0; i < p; i++) {
    put(v, i, p, over(plus(get(v, i, p), (twofold){v->whole[i], 0}), scale));
    put(v, i, p + 1, (twofold){v->c[i], 0});
    along = plus(along, times(get(v, i, p), (twofold){v->c[i], 0}));
  }
  if (v->c2 > 0) {
    twofold multiple = over(along, (twofold){v->c2, 0});
    v->gradient = multiple.hi;
    for (size_t i = 0; i < p; i++) add(v, i, p, minus(times(multiple, (twofold){v->c[i], 0})));
  }
  for (size_t i = 0; i < p; i++) v->g[i] = v->matrix[i * v->row + p];
}

/* What is left of a pivot of ln nu or gamma where it cancels wholly, which must be positive. */
static const double TWOFOLD_EPSILON = 0x1p-100;

static bool eliminate(ev_votes_posterior *v) {
  size_t p = v->size;
  double least[2] = {0, 0};
  for (size_t k = v->lambdas; k < p; k++)
    least[k - v->lambdas] = TWOFOLD_EPSILON * v->matrix[k * v->row + k];
  for (size_t k = 0; k < p; k++) {
    twofold pivot = get(v, k, k < v->lambdas ? p + 2 : k);
    for (size_t j = k + 1; j < v->lambdas; j++) pivot = plus(pivot, get(v, k, j));
    if (k >= v->lambdas && !(pivot.hi > least[k - v->lambdas]))
      pivot = (twofold){least[k - v->lambdas], 0};
    if (!(pivot.hi > 0)) return false;
    put(v, k, k, pivot);
    for (size_t i = k + 1; i < p; i++) {
      twofold multiple = over(get(v, k, i), pivot);
      if (i >= v->lambdas) multiple = minus(multiple);
      if (multiple.hi == 0) continue;
      for (size_t j = i + (i < v->lambdas); j < p + 3; j++)
        add(v, i, j, times(multiple, get(v, k, j)));
    }
  }
  return true;
}

bool ev_votes_eliminate_twofold(ev_votes_posterior *v) {
  memset(v->matrix, 0, v->size * v->row * sizeof *v->matrix);
  memset(v->low, 0, v->size * v->row * sizeof *v->low);
  memset(v->whole, 0, v->size * sizeof *v->whole);
  for (const votes_cell *c = v->cells; c < v->cells + v->cell_count; c++) add_cell(v, c);
  set_gradients(v);
  return eliminate(v);
}
