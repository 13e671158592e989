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
**      s - t (c's)/(c't).  The search starts from the nearest x solved before, along
**      d theta / dx = t / (c't).  Among the lambdas H is a Laplacian without the reference's row:
**      its pivots are sums of positive terms if it is kept as its off-diagonal entries and its
**      row sums (Grassmann, Taksar and Heyman, Oper. Res. 33 (1985) 1107-1116), so that H may be
**      all but singular, as it is far out and between groups that never met.  g and the pivots of
**      ln nu and gamma still cancel there: votes_twofold.c sums them.
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
  }
}

/*
** ln post and its derivatives at a distance phi from the maximum
*/
/* The change of ln post, of each pair by the change of its chances beside that of the outcome that
** is likeliest at the maximum: where that is all but certain, all terms are small. */
static double ln_post(const ev_votes_posterior *v, const double *phi) {
  double sum = 0, gamma = v->position < v->size ? phi[v->position] : 0;
  double tie = v->tie < v->size ? phi[v->tie] : 0;
  for (const votes_cell *c = v->cells; c < v->cells + v->cell_count; c++) {
    double d = gamma;
    if (c->first < v->lambdas) d += phi[c->first];
    if (c->second < v->lambdas) d -= phi[c->second];
    double likeliest = c->won >= c->lost ? d / 2 : -d / 2;
    if (c->tied > c->won && c->tied > c->lost) likeliest = tie;
    double won = d / 2 - likeliest, lost = -d / 2 - likeliest, tied = tie - likeliest;
    double q = c->won * expm1(won) + c->lost * expm1(lost);
    if (c->tied > 0) q += c->tied * expm1(tied);
    sum += c->wins * won + c->losses * lost + c->ties * tied + (won + lost) / v->share -
           c->n * log1p(q);
  }
  return sum;
}

static double *row_of(const ev_votes_posterior *v, size_t i) {
  return v->matrix + i * v->row;
}

static void move_to(ev_votes_posterior *v, const double *phi) {
  double gamma = v->position < v->size ? phi[v->position] : 0;
  for (size_t i = 0; i < v->models; i++) {
    double lambda = i < v->lambdas ? phi[i] : 0;
    v->first[i] = (votes_side){exp((lambda + gamma) / 2), exp(-(lambda + gamma) / 2)};
    v->second[i] = (votes_side){exp(lambda / 2), exp(-lambda / 2)};
  }
  v->tie_up = v->tie < v->size ? exp(phi[v->tie]) : 1;
}

void ev_votes_chances(const ev_votes_posterior *v, const votes_cell *c, double *won, double *lost,
                      double *tied) {
  const votes_side *a = &v->first[c->first], *b = &v->second[c->second];
  *won = c->won * a->up * b->down, *lost = c->lost * a->down * b->up, *tied = c->tied * v->tie_up;
  double scale = 1 / (*won + *lost + *tied);
  *won *= scale, *lost *= scale, *tied *= scale;
}

/* The derivatives of a cell, by D and by ln nu, as a whole number of halves of a share, and a rest
** that vanishes where the likeliest outcome is certain.  The wholes
** are added up apart: far out they cancel, and only the rests are left. */
typedef struct votes_slope {
  double whole, rest, tie_whole, tie_rest;
} votes_slope;

static votes_slope slope_of(const votes_cell *c, double share, double won, double lost,
                            double tied) {
  votes_slope s = {.tie_whole = 2 * share * c->ties, .tie_rest = -c->n * tied};
  if (tied >= won && tied >= lost) {
    s.whole = share * (c->wins - c->losses);
    s.rest = -c->n * (won - lost) / 2;
    s.tie_whole = -2 * (share * (c->wins + c->losses) + 2);
    s.tie_rest = c->n * (won + lost);
  } else if (won >= lost) {
    s.whole = -(share * (2 * c->losses + c->ties) + 2);
    s.rest = c->n * (lost + tied / 2);
  } else {
    s.whole = share * (2 * c->wins + c->ties) + 2;
    s.rest = -c->n * (won + tied / 2);
  }
  return s;
}

static void add_slope(ev_votes_posterior *v, size_t i, double whole, double rest) {
  v->whole[i] += whole;
  v->g[i] += rest;
}

/* The matrix at phi: in the rows of the lambdas, minus H right of the diagonal, and the row's sum
** in the last column; in those of ln nu and gamma, H itself; in the others' columns for them, H. */
static void fill_matrix(ev_votes_posterior *v, const double *phi) {
  size_t tie = v->tie, position = v->position, sum = v->size + 2;
  bool ties = tie < v->size, positions = position < v->size;
  memset(v->matrix, 0, v->size * v->row * sizeof *v->matrix);
  memset(v->whole, 0, v->size * sizeof *v->whole);
  memset(v->g, 0, v->size * sizeof *v->g);
  memset(v->diagonal, 0, v->size * sizeof *v->diagonal);
  move_to(v, phi);
  for (const votes_cell *c = v->cells; c < v->cells + v->cell_count; c++) {
    double won, lost, tied;
    ev_votes_chances(v, c, &won, &lost, &tied);
    double h = c->n * (won * lost + tied * (won + lost) / 4);
    double cross = -c->n * (won - lost) / 2 * tied;
    votes_slope slope = slope_of(c, v->share, won, lost, tied);
    /* i is never the reference, which is last */
    double sign = c->first < c->second ? 1 : -1;
    size_t i = sign > 0 ? c->first : c->second, j = sign > 0 ? c->second : c->first;
    bool both = j < v->lambdas;
    add_slope(v, i, sign * slope.whole, sign * slope.rest);
    row_of(v, i)[both ? j : sum] += h;
    v->diagonal[i] += h;
    if (both) v->diagonal[j] += h;
    if (both) add_slope(v, j, -sign * slope.whole, -sign * slope.rest);
    if (ties) {
      add_slope(v, tie, slope.tie_whole, slope.tie_rest);
      row_of(v, tie)[tie] += c->n * tied * (won + lost);
      row_of(v, i)[tie] += sign * cross;
      if (both) row_of(v, j)[tie] -= sign * cross;
    }
    if (positions) {
      add_slope(v, position, slope.whole, slope.rest);
      row_of(v, position)[position] += h;
      row_of(v, i)[position] += sign * h;
      if (both) row_of(v, j)[position] -= sign * h;
      if (ties) row_of(v, tie)[position] += cross;
    }
  }
  for (size_t i = 0; i < v->size; i++) v->g[i] += v->whole[i] / (2 * v->share);
  for (size_t i = v->lambdas; i < v->size; i++) v->diagonal[i] = row_of(v, i)[i];
}

/*
** Linear algebra
*/

/* Row i less a multiple of the pivot's row, from column i on.  Columns before it, up to three of
** which share its lanes, are spoilt. */
EV_INLINE void reduce_row(ev_votes_posterior *v, size_t i, const double *pivot, double multiple) {
  double *to = v->matrix + i * v->row;
  ev_lanes factor = {multiple, multiple, multiple, multiple};
  for (size_t j = i & ~(size_t)(EV_LANES - 1); j < v->row; j += EV_LANES)
    *(ev_lanes_of *)(to + j) -= factor * *(const ev_lanes_of *)(pivot + j);
}

/* The least share of H's diagonal that a pivot keeps without rounding deciding: what is left then
** has 11 digits. */
static const double THIN = 1e-5;

/* Step 3's elimination, which leaves the pivots on the diagonal; false where one is too thin. */
EV_WIDE static bool eliminate(ev_votes_posterior *v) {
  for (size_t k = 0; k < v->size; k++) {
    double *pivot = v->matrix + k * v->row;
    if (k < v->lambdas) {
      pivot[k] = pivot[v->size + 2];
      for (size_t j = k + 1; j < v->lambdas; j++) pivot[k] += pivot[j];
    }
    if (!(pivot[k] > THIN * v->diagonal[k])) return false;
    double over = 1 / pivot[k];
    for (size_t i = k + 1; i < v->size; i++)
      reduce_row(v, i, pivot, (i < v->lambdas ? -1 : 1) * pivot[i] * over);
  }
  return true;
}

/* The solution for the right-hand side in a column, after elimination. */
static void substitute(const ev_votes_posterior *v, size_t column, double *x) {
  for (size_t i = v->size; i-- > 0;) {
    const double *row = row_of(v, i);
    double sum = row[column];
    for (size_t j = i + 1; j < v->lambdas; j++) sum += row[j] * x[j];
    for (size_t j = v->lambdas > i + 1 ? v->lambdas : i + 1; j < v->size; j++) sum -= row[j] * x[j];
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
    row_of(v, i)[v->size] -= multiple * row_of(v, i)[v->size + 1];
  }
}

/* Leaves d phi / dx, the determinant and d ln post / dx. */
static void find_slope(ev_votes_posterior *v) {
  size_t p = v->size;
  substitute(v, p + 1, v->slope);
  double through = 0, ln_det = 0;
  for (size_t i = 0; i < p; i++) {
    through += row_of(v, i)[p + 1] * row_of(v, i)[p + 1] / row_of(v, i)[i];
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
  fill_matrix(v, phi);
  for (size_t i = 0; i < p; i++) row_of(v, i)[p] = v->g[i], row_of(v, i)[p + 1] = v->c[i];
  v->gradient = 0;
  if (v->c2 > 0) project(v, dot(v, v->g, v->c) / v->c2);
  if (!eliminate(v) && !ev_votes_eliminate_twofold(v)) return false;
  if (v->c2 > 0) find_slope(v);
  substitute(v, p, v->step);
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
    idle = fabs(gain) < least / 2 ? 0 : idle + 1;
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
  p->x = 0;
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
** e^-100 the density is nothing, and goes on as the tangent does. */
static const double LONGEST_LEAP = 32, VOTES_LN_NOTHING = -100;

/* From the maximum at c'phi = *at to that at x, or until nothing is left. */
static bool follow(ev_votes_posterior *v, double *at, double x) {
  do {
    double leap = LONGEST_LEAP / longest_of(v, v->slope);
    double next = fabs(x - *at) <= leap ? x : *at + copysign(leap, x - *at);
    if (ev_interrupted(v->host)) v->status = EV_INTERRUPTED;
    if (v->status != EV_OK) return false;
    add_to(v, v->phi, next - *at, v->slope);
    add_to(v, v->phi, (next - dot(v, v->c, v->phi)) / v->c2, v->c);
    if (!climb_to_maximum(v, v->phi)) return false;
    v->ln_post = ln_post(v, v->phi);
    *at = next;
  } while (*at != x && v->ln_post > VOTES_LN_NOTHING);
  return true;
}

/* Step 3: leaves phi, the slope, the gradient and the determinant at c'phi = x, and returns the
** logarithm of step 4 relative to the maximum; NAN when interrupted, or not converged. */
double ev_votes_ln_marginal(double x, void *context) {
  ev_votes_posterior *v = context;
  const votes_point *near = &v->kept[0];
  if (v->status == EV_OK && ev_interrupted(v->host)) v->status = EV_INTERRUPTED;
  if (v->status != EV_OK) return NAN;
  for (size_t i = 1; i < v->kept_count; i++)
    if (fabs(v->kept[i].x - x) < fabs(near->x - x)) near = &v->kept[i];
  double at = near->x;
  memcpy(v->phi, near->phi, v->size * sizeof *v->phi);
  memcpy(v->slope, near->slope, v->size * sizeof *v->slope);
  if (!follow(v, &at, x)) {
    if (v->status == EV_OK) v->status = EV_NOT_CONVERGED;
    return NAN;
  }
  if (v->kept_count < VOTES_KEPT) {
    votes_point *p = &v->kept[v->kept_count++];
    memcpy(p->phi, v->phi, v->size * sizeof *p->phi);
    memcpy(p->slope, v->slope, v->size * sizeof *p->slope);
    p->x = at;
  }
  if (at != x) v->ln_post += v->gradient * (x - at);
  return v->ln_post - (v->ln_det - v->ln_det_max) / 2;
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
  size_t count = 2 * p * v->row + (9 + 2 * VOTES_KEPT) * p + m;
  double *block = v->numbers = calloc(count, sizeof *block);
  v->cells = calloc(m * m, sizeof *v->cells);
  v->first = calloc(2 * m, sizeof *v->first);
  v->order = calloc(m, sizeof *v->order);
  if (!block || !v->cells || !v->first || !v->order) return false;
  v->second = v->first + m;
  v->matrix = take(&block, p * v->row);
  v->low = take(&block, p * v->row);
  double **vectors[] = {&v->theta, &v->diagonal, &v->whole, &v->g,    &v->step,
                        &v->last,  &v->c,        &v->phi,   &v->slope};
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
