/*
** The posterior of the model in votes.c.
**
**   1. The model with the most votes is the reference, lambda = 0: theta is the other lambdas,
**      ln nu and gamma.  The models are ordered by their votes, so that the elimination of
**      step 3 begins with those of which least is known.
**   2. Newton's method finds the maximum of ln post.  From there on the unknown is phi, the
**      distance from the maximum, and ln post is summed as its change, which does not cancel
**      where there are many votes: ln(Z / Z_max) = log1p(sum p_max expm1(change of exponent)).
**   3. The maximum subject to c'theta = x: one elimination of [H | g | c], H the negative Hessian
**      and g the gradient, gives s = H^-1 g, t = H^-1 c and det H; Newton's step is
**      s - t (c's)/(c't).  The search starts where the nearest x solved before, and their
**      d theta / dx = t / (c't), foretell it.  Among the lambdas H is a Laplacian without one row:
**      its pivots are sums of positive terms if it is kept as its off-diagonal entries and its
**      row sums (Grassmann, Taksar and Heyman, Oper. Res. 33 (1985) 1107-1116), so that H may be
**      all but singular, as it is far out and between groups that never met.  g and the pivots of
**      ln nu and gamma still cancel there: votes_twofold.c sums them.  votes_cells.c has all sums
**      over pairs of models.
**   4. The marginal of c'theta by Laplace's method (Tierney and Kadane, J. Am. Stat. Assoc. 81
**      (1986) 82-86) is exp(ln post - 1/2 ln det N'HN), N the complement of c, normalised by
**      marginal.h, which finds its quantiles.  det N'HN = det H c't / c'c.
*/
#include "votes_posterior.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "lanes.h"

/*
** The votes
*/

/* A count of two models in this order, or in both orders unless the place matters. */
static double count_of(const ev_votes *v, size_t i, size_t j, const double *here,
                       const double *reversed) {
  return here[i * v->models + j] + (v->position ? 0 : reversed[j * v->models + i]);
}

double ev_votes_wins(const ev_votes *v, size_t i, size_t j) {
  return count_of(v, i, j, v->wins, v->losses);
}

double ev_votes_losses(const ev_votes *v, size_t i, size_t j) {
  return count_of(v, i, j, v->losses, v->wins);
}

double ev_votes_ties(const ev_votes *v, size_t i, size_t j) {
  return count_of(v, i, j, v->ties, v->ties);
}

/* The place of a model is how many have fewer votes, or as many and come before it. */
static void order_by_records(ev_votes_posterior *v, const ev_votes *votes) {
  double *n = v->sums;
  for (size_t i = 0; i < v->models; i++)
    for (size_t j = 0; j < v->models; j++) {
      double both =
          ev_votes_wins(votes, i, j) + ev_votes_losses(votes, i, j) + ev_votes_ties(votes, i, j);
      n[i] += both, n[j] += both;
    }
  for (size_t i = 0; i < v->models; i++)
    for (size_t j = 0; j < v->models; j++) v->order[i] += j < i ? n[j] <= n[i] : n[j] < n[i];
}

static void make_pairs_of_models(ev_votes_posterior *v, const ev_votes *votes) {
  for (size_t i = 0; i < v->models; i++)
    for (size_t j = votes->position ? 0 : i + 1; j < v->models; j++) {
      double wins = ev_votes_wins(votes, i, j), losses = ev_votes_losses(votes, i, j);
      double ties = ev_votes_ties(votes, i, j);
      if (i == j) continue;
      v->cells[v->cell_count++] = (votes_cell){.first = v->order[i],
                                               .second = v->order[j],
                                               .wins = wins,
                                               .losses = losses,
                                               .ties = ties,
                                               .n = wins + losses + ties + 2 / v->share};
    }
}

/* The chances at theta. */
static void set_chances(ev_votes_posterior *v) {
  double gamma = v->position < v->size ? v->theta[v->position] : 0;
  double nu = v->tie < v->size ? exp(v->theta[v->tie]) : 0;
  for (votes_cell *c = v->cells; c < v->cells + v->cell_count; c++) {
    double d = gamma;
    if (c->first < v->lambdas) d += v->theta[c->first];
    if (c->second < v->lambdas) d -= v->theta[c->second];
    double half = exp(-fabs(d) / 2), z = 1 + half * half + nu * half;
    c->won = d > 0 ? 1 / z : half * half / z;
    c->lost = d > 0 ? half * half / z : 1 / z;
    c->tied = nu * half / z;
    ev_votes_set_four(v, c);
  }
}

/*
** Linear algebra
*/

static double *row_of(const ev_votes_posterior *v, size_t i) {
  return v->matrix + i * v->row;
}

/* Row i less a multiple of a pivot's row, from column i on.  Columns before it, up to three that
** share its lanes, are spoilt. */
EV_INLINE void reduce_row(ev_votes_posterior *v, size_t i, size_t k, double multiple) {
  double *to = v->matrix + i * v->row;
  const double *pivot = v->matrix + k * v->row;
  for (size_t j = i & ~(size_t)(EV_LANES - 1); j < v->row; j += EV_LANES)
    *(ev_lanes_of *)(to + j) -= multiple * *(const ev_lanes_of *)(pivot + j);
}

/* The same of four pivots' rows, one after another. */
EV_INLINE void reduce_row_by_four(ev_votes_posterior *v, size_t i, size_t first,
                                  const double *multiple) {
  double *to = v->matrix + i * v->row, a = multiple[0], b = multiple[1], c = multiple[2];
  double d = multiple[3];
  const double *p = v->matrix + first * v->row, *q = p + v->row, *r = q + v->row, *s = r + v->row;
  for (size_t j = i & ~(size_t)(EV_LANES - 1); j < v->row; j += EV_LANES) {
    ev_lanes x = *(ev_lanes_of *)(to + j) - a * *(const ev_lanes_of *)(p + j);
    x -= b * *(const ev_lanes_of *)(q + j);
    x -= c * *(const ev_lanes_of *)(r + j);
    *(ev_lanes_of *)(to + j) = x - d * *(const ev_lanes_of *)(s + j);
  }
}

/* The sum of a row between two columns, or of its products with x. */
EV_INLINE double sum_between(const double *row, size_t from, size_t to, const double *x) {
  ev_lanes sums = {0};
  double sum = 0;
  for (; from + EV_LANES <= to; from += EV_LANES) {
    ev_lanes y = *(const ev_lanes_of *)(row + from);
    sums += x ? y * *(const ev_lanes_of *)(x + from) : y;
  }
  for (; from < to; from++) sum += x ? row[from] * x[from] : row[from];
  return sum + ev_sum(&sums);
}

/* The least that a pivot is of H's diagonal and of the wholes in g without their rounding deciding:
** what is left then has 11 digits. */
static const double THIN = 1e-5;

/* Makes the pivot of a row that others have been taken from; false where it is too thin. */
EV_INLINE bool make_pivot(ev_votes_posterior *v, size_t k) {
  double *row = v->matrix + k * v->row;
  row[k] = k < v->lambdas ? sum_between(row, k + 1, v->models, NULL) : row[k + 1];
  return row[k] > THIN * v->scale[k];
}

EV_INLINE double multiple_of(const ev_votes_posterior *v, size_t k, size_t i) {
  const double *row = v->matrix + k * v->row;
  return i < v->lambdas ? -row[i] / row[k] : row[i + 1] / row[k];
}

/* Step 3's elimination, which leaves the pivots on the diagonal; false where one is too thin.  By
** four rows at a time, so that the matrix passes through the processor a fourth as often. */
EV_WIDE static bool eliminate(ev_votes_posterior *v) {
  for (size_t first = 0; first < v->size; first += EV_LANES) {
    size_t end = first + EV_LANES < v->size ? first + EV_LANES : v->size;
    for (size_t k = first; k < end; k++) {
      if (!make_pivot(v, k)) return false;
      for (size_t i = k + 1; i < end; i++) reduce_row(v, i, k, multiple_of(v, k, i));
    }
    for (size_t i = end; i < v->size; i++) {
      double multiple[EV_LANES];
      for (size_t k = 0; k < EV_LANES; k++) multiple[k] = multiple_of(v, first + k, i);
      reduce_row_by_four(v, i, first, multiple);
    }
  }
  return true;
}

/* The solution for the right-hand side in a column, after elimination. */
EV_WIDE static void substitute(const ev_votes_posterior *v, size_t column, double *x) {
  for (size_t i = v->size; i-- > 0;) {
    const double *row = row_of(v, i);
    double sum = row[column] + sum_between(row, i + 1, v->lambdas, x);
    for (size_t j = v->lambdas > i + 1 ? v->lambdas : i + 1; j < v->size; j++)
      sum -= row[j + 1] * x[j];
    x[i] = sum / row[i];
  }
}

static double dot(const ev_votes_posterior *v, const double *x, const double *y) {
  double sum = 0;
  for (size_t i = 0; i < v->size; i++) sum += x[i] * y[i];
  return sum;
}

/* x += scale y */
static void add_to(const ev_votes_posterior *v, double *x, double scale, const double *y) {
  for (size_t i = 0; i < v->size; i++) x[i] += scale * y[i];
}

/*
** Maxima
*/

/* A step moves nothing by more than 3, which is far on the scale of a logit; some 4 steps
** suffice, and 30 where votes say nothing and x is far out. */
enum { VOTES_STEPS = 200 };
static const double LONGEST_STEP = 3;

/* The square of the distance to the maximum: g'step in standard deviations, which is what ln post
** lacks, and the longest step on the scale of a logit, on which H changes.  A step squares both.
** A search that is this near and comes no nearer has met rounding, and is done. */
static const double VOTES_CONVERGED = 1e-20, VOTES_ROUNDING = 1e-8;

/* Far out ln post is flat in some direction to the last digit: steps along it are rounding, and may
** be long.  While the search comes nearer the gain falls by e or more in a step. */
enum { VOTES_IDLE = 8 };

/* Takes a multiple of c out of g, before and after elimination: no step is along c, and rounding
** of one must not gain. */
static void project(ev_votes_posterior *v, double multiple) {
  v->gradient += multiple;
  for (size_t i = 0; i < v->size; i++) {
    v->g[i] -= multiple * v->c[i];
    row_of(v, i)[v->size + 1] -= multiple * row_of(v, i)[v->size + 2];
  }
}

/* Leaves d phi / dx, the determinant and d ln post / dx. */
static void find_slope(ev_votes_posterior *v) {
  size_t p = v->size;
  substitute(v, p + 2, v->slope);
  double through = 0, ln_det = 0;
  for (size_t i = 0; i < p; i++) {
    through += row_of(v, i)[p + 2] * row_of(v, i)[p + 2] / row_of(v, i)[i];
    ln_det += log(row_of(v, i)[i]);
  }
  v->through = through;
  v->ln_det = ln_det + log(fmax(DBL_MIN, through));
  for (size_t i = 0; i < p; i++) v->slope[i] /= v->through;
  project(v, dot(v, v->g, v->slope));
}

/* The next step at phi, with its gain g'step; false where the matrix is singular. */
static bool find_step(ev_votes_posterior *v, const double *phi, double *gain) {
  size_t p = v->size;
  ev_votes_fill(v, phi);
  for (size_t i = 0; i < p; i++) row_of(v, i)[p + 1] = v->g[i], row_of(v, i)[p + 2] = v->c[i];
  v->gradient = 0;
  if (v->c2 > 0) project(v, dot(v, v->g, v->c) / v->c2);
  if (!eliminate(v)) return ev_votes_step_twofold(v, gain);
  if (v->c2 > 0) find_slope(v);
  substitute(v, p + 1, v->step);
  if (v->c2 > 0) add_to(v, v->step, -dot(v, v->c, v->step), v->slope);
  *gain = dot(v, v->g, v->step);
  return isfinite(*gain);
}

static double longest_of(const ev_votes_posterior *v, const double *x) {
  double longest = 0;
  for (size_t i = 0; i < v->size; i++) longest = fmax(longest, fabs(x[i]));
  return longest;
}

/* Moves phi by a step of at most LONGEST_STEP, and back by halves of it while it went too far:
** ln post is concave, and its slope along the step has turned around. */
static bool take_newton_step(ev_votes_posterior *v, double *phi, double *gain) {
  double length = fmin(1, LONGEST_STEP / longest_of(v, v->step)), slope = *gain * length;
  for (size_t i = 0; i < v->size; i++) v->last[i] = length * v->step[i];
  add_to(v, phi, 1, v->last);
  if (!find_step(v, phi, gain)) return false;
  for (; slope > VOTES_ROUNDING && dot(v, v->g, v->last) < -slope / 2; slope /= 2) {
    for (size_t i = 0; i < v->size; i++) v->last[i] /= 2;
    add_to(v, phi, -1, v->last);
    if (!find_step(v, phi, gain)) return false;
  }
  return true;
}

/* Newton's method from phi, along which c'phi stays; false if it does not converge. */
static bool climb_to_maximum(ev_votes_posterior *v, double *phi) {
  double gain, before = HUGE_VAL, least = HUGE_VAL;
  int idle = 0;
  if (!find_step(v, phi, &gain)) return false;
  for (int i = 0; i < VOTES_STEPS; i++) {
    double longest = longest_of(v, v->step), apart = gain + longest * longest;
    if (apart <= VOTES_CONVERGED || (apart < VOTES_ROUNDING && apart > before / 4)) {
      add_to(v, phi, 1, v->step);
      return true;
    }
    idle = fabs(gain) < least / 2 || longest > LONGEST_STEP ? 0 : idle + 1;
    least = fmin(least, fabs(gain));
    if (idle >= VOTES_IDLE && fabs(gain) < fmax(VOTES_ROUNDING, 10 * v->rounding)) return true;
    before = apart;
    if (!take_newton_step(v, phi, &gain)) return false;
  }
  return false;
}

/* Makes c the contrast of step 3, whose searches begin at the maximum. */
void ev_votes_contrast(ev_votes_posterior *v) {
  votes_point *p = &v->kept[0];
  double gain;
  p->x = p->ln_post = p->ln_marginal = p->gradient = 0;
  memset(p->phi, 0, v->size * sizeof *p->phi);
  v->kept_count = 1;
  v->c2 = dot(v, v->c, v->c);
  if (!find_step(v, p->phi, &gain)) v->status = EV_NOT_CONVERGED;
  memcpy(p->slope, v->slope, v->size * sizeof *p->slope);
  v->sd = sqrt(v->through);
  v->ln_det_max = v->ln_det;
}

/* Along the tangent no number changes by more than this in one go, which is 30 standard deviations
** of few votes: where H is all but singular at the maximum, the tangent leads anywhere.  Below
** e^-70 the density is nothing, and below e^-45 a search that fails matters to no bound: it then
** goes on as the tangent does. */
static const double LONGEST_LEAP = 32, SHORTEST_LEAP = 0.1;
static const double VOTES_LN_NOTHING = -70, VOTES_LN_LITTLE = -45;

/* Six points foretell a search so well that 1.5 steps are left; 8 and 12 were not faster.  None is
** kept within KEPT_APART standard deviations of another, which would cost interpolation digits. */
enum { VOTES_NEAREST = 6 };
static const double KEPT_APART = 1e-3;

/* Solves at c'phi = x from where it leads to along the tangent. */
static bool leap_to(ev_votes_posterior *v, double at, double x) {
  add_to(v, v->phi, x - at, v->slope);
  add_to(v, v->phi, (x - dot(v, v->c, v->phi)) / v->c2, v->c);
  if (!climb_to_maximum(v, v->phi)) return false;
  v->ln_post = ev_votes_ln_post(v, v->phi);
  v->ln_marginal = v->ln_post - (v->ln_det - v->ln_det_max) / 2;
  return true;
}

/* Back to where the last leap began. */
static void leap_back(ev_votes_posterior *v, const votes_point *from) {
  memcpy(v->phi, v->from_phi, v->size * sizeof *v->phi);
  memcpy(v->slope, v->from_slope, v->size * sizeof *v->slope);
  v->ln_post = from->ln_post, v->ln_marginal = from->ln_marginal, v->gradient = from->gradient;
}

/* From the maximum at c'phi = *at to that at x, or until nothing is left.  A leap that misses is
** halved. */
static bool follow(ev_votes_posterior *v, double *at, double x) {
  double longest = LONGEST_LEAP;
  do {
    double leap = longest / longest_of(v, v->slope);
    double next = fabs(x - *at) <= leap ? x : *at + copysign(leap, x - *at);
    votes_point from = {*at, v->ln_post, v->ln_marginal, v->gradient, NULL, NULL};
    if (ev_interrupted(v->host)) v->status = EV_INTERRUPTED;
    if (v->status != EV_OK) return false;
    memcpy(v->from_phi, v->phi, v->size * sizeof *v->phi);
    memcpy(v->from_slope, v->slope, v->size * sizeof *v->slope);
    if (leap_to(v, *at, next)) {
      *at = next;
    } else {
      leap_back(v, &from);
      if ((longest /= 2) < SHORTEST_LEAP) return v->ln_marginal < VOTES_LN_LITTLE;
    }
  } while (*at != x && v->ln_marginal > VOTES_LN_NOTHING);
  return true;
}

/* The point nearest to x that is not among the first `used` of order[], which it joins. */
static const votes_point *next_nearest(const ev_votes_posterior *v, double x, size_t used,
                                       const votes_point **order) {
  const votes_point *best = NULL;
  for (size_t i = 0; i < v->kept_count; i++) {
    const votes_point *p = &v->kept[i];
    bool taken = best && fabs(p->x - x) >= fabs(best->x - x);
    for (size_t k = 0; k < used && !taken; k++) taken = order[k] == p;
    if (!taken) best = p;
  }
  return order[used] = best;
}

/* Moves phi and the slope to what the nearest points and their slopes foretell at x by Hermite's
** interpolation, which leaves 1 or 2 steps to go where tangents leave 3.  If x is not between some,
** or this leads far from the nearest one's tangent, it leaves the nearest one's. */
static void foretell(ev_votes_posterior *v, double x, bool interpolate, double *at) {
  const votes_point *near[VOTES_NEAREST];
  size_t count = (size_t)fmin((double)v->kept_count, VOTES_NEAREST);
  double least = HUGE_VAL, most = -HUGE_VAL;
  assert(count > 0);
  for (size_t k = 0; k < count; k++) {
    const votes_point *p = next_nearest(v, x, k, near);
    least = fmin(least, p->x), most = fmax(most, p->x);
  }
  *at = near[0]->x;
  v->ln_post = near[0]->ln_post, v->ln_marginal = near[0]->ln_marginal;
  v->gradient = near[0]->gradient;
  memcpy(v->phi, near[0]->phi, v->size * sizeof *v->phi);
  memcpy(v->slope, near[0]->slope, v->size * sizeof *v->slope);
  if (!interpolate || !(least < x && x < most)) return;
  memset(v->step, 0, v->size * sizeof *v->step);
  for (size_t k = 0; k < count; k++) {
    double product = 1, sum = 0, from = x - near[k]->x;
    for (size_t i = 0; i < count; i++)
      if (i != k) {
        double apart = near[k]->x - near[i]->x;
        product *= (x - near[i]->x) / apart, sum += 1 / apart;
      }
    add_to(v, v->step, product * product * (1 - 2 * sum * from), near[k]->phi);
    add_to(v, v->step, product * product * from, near[k]->slope);
  }
  add_to(v, v->step, -1, v->phi);
  add_to(v, v->step, *at - x, v->slope);
  if (!(longest_of(v, v->step) < LONGEST_STEP)) return;
  add_to(v, v->phi, x - *at, v->slope);
  add_to(v, v->phi, 1, v->step);
  *at = x;
}

/* Keeps a solved point, unless another is so near that interpolation would lose digits. */
static void keep(ev_votes_posterior *v, double x) {
  votes_point *p = &v->kept[v->kept_count];
  if (v->kept_count == VOTES_KEPT) return;
  for (size_t i = 0; i < v->kept_count; i++)
    if (fabs(v->kept[i].x - x) < KEPT_APART * v->sd) return;
  memcpy(p->phi, v->phi, v->size * sizeof *p->phi);
  memcpy(p->slope, v->slope, v->size * sizeof *p->slope);
  p->x = x, p->ln_post = v->ln_post, p->ln_marginal = v->ln_marginal, p->gradient = v->gradient;
  v->kept_count++;
}

/* Step 3: leaves phi, the slope, the gradient and the determinant at c'phi = x, and returns the
** logarithm of step 4 relative to the maximum; NAN when interrupted, or not converged. */
double ev_votes_ln_marginal(double x, void *context) {
  ev_votes_posterior *v = context;
  double at;
  if (v->status == EV_OK && ev_interrupted(v->host)) v->status = EV_INTERRUPTED;
  if (v->status != EV_OK) return NAN;
  if (x == 0) return 0;
  foretell(v, x, true, &at);
  bool found = follow(v, &at, x);
  if (!found && v->status == EV_OK) {
    foretell(v, x, false, &at);
    found = follow(v, &at, x);
  }
  if (!found) {
    if (v->status == EV_OK) v->status = EV_NOT_CONVERGED;
    return NAN;
  }
  keep(v, at);
  if (at == x) return v->ln_marginal;
  v->ln_post += v->gradient * (x - at);
  return v->ln_marginal + v->gradient * (x - at);
}

static double total_ties(const ev_votes *votes) {
  double sum = 0;
  for (size_t i = 0; i < votes->models * votes->models; i++) sum += votes->ties[i];
  return sum;
}

/* Gives out `count` numbers of the block. */
static double *take(double **block, size_t count) {
  double *numbers = *block;
  *block += count;
  return numbers;
}

/* Everything in one allocation each of numbers, cells, sides and places. */
static bool make_workspace(ev_votes_posterior *v) {
  size_t p = v->size, m = v->models;
  size_t count = 2 * p * v->row + (12 + 2 * VOTES_KEPT) * p + m;
  double *block = v->numbers = calloc(count, sizeof *block);
  v->cells = calloc(m * m, sizeof *v->cells);
  v->first = calloc(2 * m, sizeof *v->first);
  v->order = calloc(m, sizeof *v->order);
  v->blocks = (m + EV_LANES - 1) / EV_LANES;
  v->fours = calloc(2 * v->lambdas * v->blocks, sizeof *v->fours);
  v->others = calloc(v->blocks, sizeof *v->others);
  if (!block || !v->cells || !v->first || !v->order || !v->fours || !v->others) return false;
  v->second = v->first + m;
  for (size_t i = 0; i < 2 * v->lambdas * v->blocks; i++) v->fours[i].won += 1;
  for (size_t i = 0; i < v->blocks; i++) v->others[i].up += 1, v->others[i].down += 1;
  v->matrix = take(&block, p * v->row);
  v->low = take(&block, p * v->row);
  double **vectors[] = {&v->theta,      &v->diagonal, &v->scale, &v->from_phi,
                        &v->from_slope, &v->whole,    &v->g,     &v->step,
                        &v->last,       &v->c,        &v->phi,   &v->slope};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = take(&block, p);
  for (size_t i = 0; i < VOTES_KEPT; i++) {
    v->kept[i].phi = take(&block, p);
    v->kept[i].slope = take(&block, p);
  }
  v->sums = take(&block, m);
  return true;
}

void ev_votes_free(ev_votes_posterior *v) {
  if (!v) return;
  free(v->numbers);
  free(v->cells);
  free(v->first);
  free(v->fours);
  free(v->others);
  free(v->order);
  free(v);
}

/* Step 2.  The second search begins at the maximum, and finds it to the last digit. */
static ev_status find_maximum(ev_votes_posterior *v, const ev_votes *votes) {
  double ties = total_ties(votes), all = 0;
  for (size_t i = 0; i < v->cell_count; i++) all += v->cells[i].n;
  v->rounding = DBL_EPSILON * all;
  if (v->tie < v->size) v->theta[v->tie] = log(2 * ties / (all - ties));
  for (int i = 0; i < 2; i++) {
    set_chances(v);
    memset(v->phi, 0, v->size * sizeof *v->phi);
    if (!climb_to_maximum(v, v->phi)) return EV_NOT_CONVERGED;
    add_to(v, v->theta, 1, v->phi);
  }
  set_chances(v);
  return EV_OK;
}

static ev_status fill_posterior(ev_votes_posterior *v, const ev_votes *votes, ev_host host) {
  assert(votes->models >= 2 && votes->models <= EV_MOST_RATED);
  v->host = host;
  v->models = votes->models;
  v->lambdas = v->size = votes->models - 1;
  v->share = (double)v->lambdas * (votes->position ? 2 : 1);
  if (total_ties(votes) > 0) v->size++;
  if (votes->position) v->size++;
  v->position = votes->position ? v->size - 1 : v->size;
  v->tie = total_ties(votes) > 0 ? v->lambdas : v->size;
  v->row = (v->size + 3 + EV_LANES - 1) & ~(size_t)(EV_LANES - 1);
  if (!make_workspace(v)) return EV_NO_MEMORY;
  order_by_records(v, votes);
  make_pairs_of_models(v, votes);
  return find_maximum(v, votes);
}

ev_status ev_votes_make(const ev_votes *votes, ev_host host, ev_votes_posterior **out) {
  *out = calloc(1, sizeof **out);
  return *out ? fill_posterior(*out, votes, host) : EV_NO_MEMORY;
}
