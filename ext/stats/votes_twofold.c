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

#include <float.h>
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

/* Where in the matrix is H by i and j, both in theta; j may be `size` for g and more for c, and
** REFERENCE. */
enum { REFERENCE = EV_MOST_RATED + 10 };

static size_t place_of(const ev_votes_posterior *v, size_t i, size_t j) {
  return i * v->row + (j == REFERENCE ? v->lambdas : j < v->lambdas || j == i ? j : j + 1);
}

static twofold get(const ev_votes_posterior *v, size_t i, size_t j) {
  size_t at = place_of(v, i, j);
  return (twofold){v->matrix[at], v->low[at]};
}

static void put(ev_votes_posterior *v, size_t i, size_t j, twofold x) {
  size_t at = place_of(v, i, j);
  v->matrix[at] = x.hi;
  v->low[at] = x.lo;
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

static void add_twofold_cell(ev_votes_posterior *v, const votes_cell *cell) {
  size_t tie = v->tie, position = v->position, g = v->size;
  double won, lost, tied;
  ev_votes_chances(v, cell, &won, &lost, &tied);
  double wl = cell->n * won * lost, wt = cell->n * won * tied, lt = cell->n * lost * tied;
  twofold h = plus(sum_of(wl, wt / 4), (twofold){lt / 4, 0}), cross = sum_of(lt / 2, -wt / 2);
  twofold_slope s = slope_of(cell, v->share, won, lost, tied);
  double sign = cell->first < cell->second ? 1 : -1;
  size_t i = sign > 0 ? cell->first : cell->second, j = sign > 0 ? cell->second : cell->first;
  bool both = j < v->lambdas;
  add(v, i, both ? j : REFERENCE, h);
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

/* Column g, less its multiple of c, which is returned. */
static twofold take_out_of_rests(ev_votes_posterior *v) {
  twofold along = {0, 0}, multiple;
  for (size_t i = 0; i < v->size; i++)
    along = plus(along, times(get(v, i, v->size), (twofold){v->c[i], 0}));
  multiple = over(along, (twofold){v->c2, 0});
  for (size_t i = 0; i < v->size; i++)
    add(v, i, v->size, minus(times(multiple, (twofold){v->c[i], 0})));
  return multiple;
}

/* The wholes less their multiple of c.  All entries of c are whole multiples of 1/models, or whole,
** so that wholes along c leave nothing, and do not hide the rests. */
static twofold take_out_of_wholes(ev_votes_posterior *v, twofold *wholes) {
  double along = 0, square = 0, models = (double)v->models;
  for (size_t i = 0; i < v->size; i++) {
    double c = floor(v->c[i] * models + 0.5);
    along += v->whole[i] * c, square += c * c;
  }
  twofold multiple = over((twofold){along, 0}, (twofold){square, 0});
  for (size_t i = 0; i < v->size; i++) {
    double c = floor(v->c[i] * models + 0.5);
    wholes[i] = plus((twofold){v->whole[i], 0}, minus(times(multiple, (twofold){c, 0})));
  }
  return times(multiple, (twofold){models, 0});
}

static void set_gradients(ev_votes_posterior *v) {
  size_t p = v->size;
  twofold scale = {2 * v->share, 0}, wholes[EV_MOST_RATED + 2], multiple = {0, 0};
  for (size_t i = 0; i < p; i++) wholes[i] = (twofold){v->whole[i], 0};
  if (v->c2 > 0) multiple = plus(take_out_of_rests(v), take_out_of_wholes(v, wholes));
  v->gradient = over(multiple, scale).hi;
  for (size_t i = 0; i < p; i++) {
    put(v, i, p, over(plus(get(v, i, p), wholes[i]), scale));
    put(v, i, p + 1, (twofold){v->c[i], 0});
    v->g[i] = get(v, i, p).hi;
  }
}

/* What is left of a pivot of ln nu or gamma where it cancels wholly, which must be positive. */
static const double TWOFOLD_EPSILON = 0x1p-100;

static bool eliminate_twofold(ev_votes_posterior *v) {
  size_t p = v->size;
  double least[2] = {0, 0};
  for (size_t k = v->lambdas; k < p; k++) least[k - v->lambdas] = TWOFOLD_EPSILON * get(v, k, k).hi;
  for (size_t k = 0; k < p; k++) {
    twofold pivot = get(v, k, k < v->lambdas ? REFERENCE : k);
    for (size_t j = k + 1; j < v->lambdas; j++) pivot = plus(pivot, get(v, k, j));
    if (k >= v->lambdas && !(pivot.hi > least[k - v->lambdas]))
      pivot = (twofold){least[k - v->lambdas], 0};
    if (!(pivot.hi > 0)) return false;
    put(v, k, k, pivot);
    for (size_t i = k + 1; i < p; i++) {
      twofold multiple = over(get(v, k, i), pivot);
      if (i >= v->lambdas) multiple = minus(multiple);
      if (multiple.hi == 0) continue;
      for (size_t j = i + (i < v->lambdas); j < p + 2; j++)
        add(v, i, j, times(multiple, get(v, k, j)));
      if (i < v->lambdas) add(v, i, REFERENCE, times(multiple, get(v, k, REFERENCE)));
    }
  }
  return true;
}

/* Leaves in a column, `size` or the one after it, the solution for what was there. */
static void substitute_twofold(ev_votes_posterior *v, size_t column) {
  for (size_t i = v->size; i-- > 0;) {
    twofold sum = get(v, i, column);
    for (size_t j = i + 1; j < v->size; j++) {
      twofold product = times(get(v, i, j), get(v, j, column));
      sum = plus(sum, j < v->lambdas ? product : minus(product));
    }
    put(v, i, column, over(sum, get(v, i, i)));
  }
}

static twofold product_with_c(const ev_votes_posterior *v, size_t column) {
  twofold sum = {0, 0};
  for (size_t i = 0; i < v->size; i++)
    sum = plus(sum, times(get(v, i, column), (twofold){v->c[i], 0}));
  return sum;
}

/* s and t of step 3 in votes_posterior.c cancel where t is long. */
static void find_twofold_slope(ev_votes_posterior *v) {
  size_t p = v->size;
  substitute_twofold(v, p + 1);
  twofold through = product_with_c(v, p + 1), multiple = over(product_with_c(v, p), through);
  v->through = through.hi;
  v->gradient += multiple.hi;
  for (size_t i = 0; i < p; i++) {
    twofold t = get(v, i, p + 1);
    v->slope[i] = over(t, through).hi;
    add(v, i, p, minus(times(multiple, t)));
  }
}

bool ev_votes_step_twofold(ev_votes_posterior *v, double *gain) {
  memset(v->matrix, 0, v->size * v->row * sizeof *v->matrix);
  memset(v->low, 0, v->size * v->row * sizeof *v->low);
  memset(v->whole, 0, v->size * sizeof *v->whole);
  for (const votes_cell *c = v->cells; c < v->cells + v->cell_count; c++) add_twofold_cell(v, c);
  set_gradients(v);
  if (!eliminate_twofold(v)) return false;
  substitute_twofold(v, v->size);
  if (v->c2 > 0) find_twofold_slope(v);
  *gain = v->ln_det = 0;
  for (size_t i = 0; i < v->size; i++) {
    v->step[i] = get(v, i, v->size).hi;
    v->ln_det += log(get(v, i, i).hi);
    *gain += v->g[i] * v->step[i];
  }
  if (v->c2 > 0) v->ln_det += log(fmax(DBL_MIN, v->through));
  return isfinite(*gain);
}
