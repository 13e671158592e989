/*
** The posterior of the model in votes.c.
**
**   1. theta is the lambdas, ln nu and gamma; the model with the most votes is the reference, which
**      is last among the lambdas and does not move.  Newton's method finds the maximum, with
**      H = U'DU, the negative Hessian, by four pivots at a time; V = H^-1 there.  Among the lambdas
**      H is a Laplacian: its pivots are sums of positive terms, the rows' other elements with the
**      reference's (Grassmann, Taksar and Heyman, Oper. Res. 33 (1985) 1107-1116), so that H may be
**      all but singular, as it is far out and between groups that never met.
**   2. A cell is a multinomial logit of statistics (1/2, 0), (-1/2, 0) and (0, 1) of a win, a loss
**      and a tie, by D and ln nu.  So all derivatives of ln post from the second on are sums over
**      the cells of n times cumulants of these.
**   3. Along a contrast c: t = Vc, sd^2 = c't, s = t/sd, P = V - ss'.  With y = s'statistics, the
**      third derivative of ln post with two arguments s is b = -sum n k(y,y,.); the profile's
**      derivatives per sd are l3 = b's and l4 = -sum n k(y,y,y,y) + 3 b'Pb; those of ln det of H
**      orthogonal to c are tau'Vc/sd + l3, tau the gradient of tr VH, and
**      sum n k(y,y,.,.):P + tau'Pb + b'Pb, which leaves out tr(PH'PH').
**   4. r* = r + ln(q/r)/r (Barndorff-Nielsen; DiCiccio and Martin, Biometrika 78 (1991) 891-902):
**      r is the signed root of twice the fall of ln post, q minus its slope times
**      (det at u / det at 0)^(1/2).  By shape, ln post is a Beta's of a logit with the same second
**      to fourth derivatives, whose tails are those of few votes, or a polynomial where there is no
**      such Beta, or only one of very many votes.
**   5. By the profile, ln post is the maximum subject to c'theta, by Newton's method: with H of
**      each point for few models; else the steps are Pg with V fixed, unless these do not contract.
**      The determinant is the point's own, or the shape's of very many models.
**   6. The marginal of c'theta by Laplace's method (Tierney and Kadane, J. Am. Stat. Assoc. 81
**      (1986) 82-86) is exp(ln post - 1/2 ln det N'HN), N the complement of c;
**      det N'HN = det H c't / c'c.
*/
#include "votes_posterior.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

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

/* The models in theta: the one with the most votes changes places with the last. */
size_t ev_votes_place(const ev_votes_posterior *v, size_t model) {
  size_t last = v->models - 1;
  return model == v->reference ? last : model == last ? v->reference : model;
}

static size_t most_voted(const ev_votes *votes) {
  size_t best = 0;
  double most = -1;
  for (size_t i = 0; i < votes->models; i++) {
    double sum = 0;
    for (size_t j = 0; j < votes->models; j++)
      for (int k = 0; k < 2; k++) {
        size_t at = k ? i * votes->models + j : j * votes->models + i;
        sum += votes->wins[at] + votes->losses[at] + votes->ties[at];
      }
    if (sum > most) most = sum, best = i;
  }
  return best;
}

static bool goes_on(ev_votes_posterior *v) {
  if (v->status == EV_OK && ev_interrupted(v->host)) v->status = EV_INTERRUPTED;
  return v->status == EV_OK;
}

/*
** Linear algebra
*/
static double votes_dot(const ev_votes_posterior *v, const double *x, const double *y) {
  double sum = 0;
  for (size_t i = 0; i < v->size; i++) sum += x[i] * y[i];
  return sum;
}

/* to += scale x */
static void add_scaled(const ev_votes_posterior *v, double *to, double scale, const double *x) {
  for (size_t i = 0; i < v->size; i++) to[i] += scale * x[i];
}

/* A row less multiples of up to four others that follow each other, from a column on.  Columns
** before it, up to three that share its lanes, are spoilt. */
EV_INLINE void take_rows(double *to, const double *rows, size_t row, size_t count,
                         const double *multiple, size_t from) {
  for (size_t j = from & ~(size_t)(EV_LANES - 1); j < row; j += EV_LANES) {
    ev_lanes x = *(ev_lanes_of *)(to + j);
    for (size_t k = 0; k < count; k++)
      x -= multiple[k] * *(const ev_lanes_of *)(rows + k * row + j);
    *(ev_lanes_of *)(to + j) = x;
  }
}

/* Steps of a sum over rows by fours, so that the sum passes through the processor a fourth as
** often: to -= sum multiple[k] rows[k]. */
EV_WIDE static void take_many(double *to, const double *rows, size_t row, size_t count,
                              const double *multiple, size_t from) {
  size_t k = 0;
  for (; k + EV_LANES <= count; k += EV_LANES)
    take_rows(to, rows + k * row, row, EV_LANES, multiple + k, from);
  for (; k < count; k++) take_rows(to, rows + k * row, row, 1, multiple + k, from);
}

/* The least that a pivot of ln nu or gamma is of its place in the diagonal: what is left below is
** rounding. */
static const double LEAST_PIVOT = 1e-15;

/* A pivot of H in rows that others have been taken from; infinite for the reference. */
static double pivot_of(const ev_votes_posterior *v, size_t k) {
  const double *row = v->factor + k * v->row;
  size_t last = v->models - 1;
  double sum = 0;
  if (k == last) return HUGE_VAL;
  if (k > last) return fmax(row[k], LEAST_PIVOT * v->h[k]);
  for (size_t j = k + 1; j <= last; j++) sum -= row[j];
  return fmax(sum, DBL_MIN);
}

/* H in the factor's upper half becomes D U, with D on the diagonal; ln det H is returned. */
static double eliminate(ev_votes_posterior *v) {
  size_t p = v->size, row = v->row;
  double *a = v->factor, multiple[EV_LANES], ln_det = 0;
  for (size_t first = 0; first < p && goes_on(v); first += EV_LANES) {
    size_t end = first + EV_LANES < p ? first + EV_LANES : p;
    for (size_t k = first; k < end; k++) {
      double pivot = a[k * row + k] = pivot_of(v, k);
      if (k != v->models - 1) ln_det += log(pivot);
      for (size_t i = k + 1; i < end; i++) {
        multiple[0] = a[k * row + i] / pivot;
        take_many(a + i * row, a + k * row, row, 1, multiple, i);
      }
    }
    for (size_t i = end; i < p; i++) {
      for (size_t k = first; k < end; k++) multiple[k - first] = a[k * row + i] / a[k * row + k];
      take_many(a + i * row, a + first * row, row, end - first, multiple, i);
    }
  }
  return ln_det;
}

/* x becomes H^-1 x. */
static void substitute(const ev_votes_posterior *v, double *x) {
  size_t p = v->size;
  for (size_t i = 0; i < p; i++) {
    const double *u = v->factor + i * v->row;
    x[i] /= u[i];
    for (size_t j = i + 1; j < p; j++) x[j] -= u[j] * x[i];
  }
  for (size_t i = p; i-- > 0;) {
    const double *u = v->factor + i * v->row;
    double sum = 0;
    for (size_t j = i + 1; j < p; j++) sum += u[j] * x[j];
    x[i] -= sum / u[i];
  }
}

/* V from the factors, from the last row on: U V = D^-1 U'^-1 is D^-1 on its diagonal, and 0 above
** (Takahashi, Fagan and Chin 1973). */
static void invert_votes(ev_votes_posterior *v) {
  size_t p = v->size, row = v->row;
  for (size_t i = p; i-- > 0 && goes_on(v);) {
    double *to = v->inverse + i * row, *u = v->factor + i * row, own = 0;
    for (size_t k = i + 1; k < p; k++) v->spare[k] = u[k] / u[i];
    memset(to, 0, row * sizeof *to);
    take_many(to, v->inverse + (i + 1) * row, row, p - i - 1, v->spare + i + 1, i + 1);
    for (size_t k = i + 1; k < p; k++) own += v->spare[k] * to[k];
    memset(to, 0, i * sizeof *to);
    to[i] = v->diagonal[i] = 1 / u[i] - own;
    for (size_t k = i + 1; k < p; k++) v->inverse[k * row + i] = to[k];
  }
}

/* to = V x */
EV_WIDE static void multiply(const ev_votes_posterior *v, const double *x, double *to) {
  for (size_t i = 0; i < v->size; i++) {
    const double *from = v->inverse + i * v->row;
    ev_lanes sum = {0};
    for (size_t j = 0; j < v->row; j += EV_LANES)
      sum += *(const ev_lanes_of *)(from + j) * *(const ev_lanes_of *)(x + j);
    to[i] = ev_sum(&sum);
  }
}

/*
** Sums over cells, a model with four others at a time
*/
/* The first block of four that has cells with model i. */
static size_t first_block(const ev_votes_posterior *v, size_t i) {
  return v->place < v->size ? 0 : (i + 1) / EV_LANES * EV_LANES;
}

static double at_tie(const ev_votes_posterior *v, const double *x) {
  return v->tie < v->size ? x[v->tie] : 0;
}

static double at_place(const ev_votes_posterior *v, const double *x) {
  return v->place < v->size ? x[v->place] : 0;
}

/* The cells of model i and those from j on: counts, and e^(D/2), e^(-D/2) and nu over their sum.
** The caller's loop is over j. */
typedef struct votes_four {
  ev_lanes won, lost, tied, n, win, loss, tie;
} votes_four;

/* What of the point move_to() belongs to model i. */
typedef struct votes_one {
  size_t i;
  double up, down, nu;
} votes_one;

static void move_to(ev_votes_posterior *v, const double *x) {
  for (size_t i = 0; i < v->models; i++) {
    v->up[i] = exp(x[i] / 2);
    v->down[i] = 1 / v->up[i];
  }
}

static votes_one one_of(const ev_votes_posterior *v, const double *x, size_t i) {
  double up = v->up[i] * exp(at_place(v, x) / 2);
  return (votes_one){i, up, 1 / up, v->tie < v->size ? exp(x[v->tie]) : 0};
}

EV_INLINE void read_four(const ev_votes_posterior *v, const votes_one *one, size_t j,
                         votes_four *f) {
  size_t at = one->i * v->row + j;
  f->won = *(const ev_lanes_of *)(v->won + at);
  f->lost = *(const ev_lanes_of *)(v->lost + at);
  f->tied = *(const ev_lanes_of *)(v->tied + at);
  f->n = f->won + f->lost + f->tied;
  f->win = one->up * *(const ev_lanes_of *)(v->down + j);
  f->loss = one->down * *(const ev_lanes_of *)(v->up + j);
  ev_lanes scale = 1 / (f->win + f->loss + one->nu);
  f->win *= scale, f->loss *= scale, f->tie = one->nu * scale;
}

/* Sums of one model's cells, by D and by ln nu. */
typedef struct votes_sums {
  ev_lanes g, h, cross, tie_g, tie_h;
} votes_sums;

/* The derivatives of four cells, by what is not the likeliest outcome: where that is all but
** certain, no digit is lost. */
EV_INLINE void derive_four(const votes_four *f, ev_lanes *g, ev_lanes *tie_g) {
  ev_lanes half = f->tie * 0.5, counted = f->tied * 0.5;
  ev_lanes if_won = f->n * (f->loss + half) - (f->lost + counted);
  ev_lanes if_lost = (f->won + counted) - f->n * (f->win + half);
  ev_lanes won = f->won - f->n * f->win, lost = f->lost - f->n * f->loss;
  ev_lanes if_tied = (won - lost) * 0.5, decided = -(won + lost);
  ev_lanes ties = f->tied - f->n * f->tie;
  ev_bits ahead = (ev_bits)(f->win >= f->loss);
  ev_bits even = (ev_bits)(f->tie >= f->win) & (ev_bits)(f->tie >= f->loss);
  ev_choose(&ahead, &if_won, &if_lost, g);
  ev_choose(&even, &if_tied, g, g);
  ev_choose(&even, &decided, &ties, tie_g);
}

/* Adds model i's cells to the gradient and, unless the matrix is NULL, to H's parts. */
EV_INLINE void sum_row(ev_votes_posterior *v, const votes_one *one, double *matrix,
                       votes_sums *sum) {
  for (size_t j = first_block(v, one->i); j < v->models; j += EV_LANES) {
    votes_four f;
    ev_lanes g, tie_g;
    read_four(v, one, j, &f);
    derive_four(&f, &g, &tie_g);
    sum->g += g, sum->tie_g += tie_g;
    *(ev_lanes_of *)(v->g + j) -= g;
    if (!matrix) continue;
    ev_lanes decided = f.win + f.loss, h = f.n * (f.win * f.loss + f.tie * decided * 0.25);
    ev_lanes cross = f.n * f.tie * ((f.loss - f.win) * 0.5);
    sum->h += h, sum->cross += cross, sum->tie_h += f.n * f.tie * decided;
    *(ev_lanes_of *)(matrix + one->i * v->row + j) = -h;
    *(ev_lanes_of *)(v->h + j) += h;
    *(ev_lanes_of *)(v->cross + j) -= cross;
    *(ev_lanes_of *)(v->place_h + j) -= h;
  }
}

EV_WIDE static void sum_gradient(ev_votes_posterior *v, const double *x, double *matrix) {
  votes_sums all = {.g = {0}};
  for (size_t i = 0; i < v->models; i++) {
    votes_one one = one_of(v, x, i);
    votes_sums sum = {.g = {0}};
    sum_row(v, &one, matrix, &sum);
    v->g[i] += ev_sum(&sum.g), v->h[i] += ev_sum(&sum.h);
    v->cross[i] += ev_sum(&sum.cross), v->place_h[i] += ev_sum(&sum.h);
    all.g += sum.g, all.h += sum.h, all.cross += sum.cross;
    all.tie_g += sum.tie_g, all.tie_h += sum.tie_h;
  }
  for (size_t i = v->models; i < v->row; i++) v->g[i] = 0;
  size_t p = v->size;
  if (v->tie < p) v->g[v->tie] = ev_sum(&all.tie_g), v->h[v->tie] = ev_sum(&all.tie_h);
  if (v->place < p) v->g[v->place] = ev_sum(&all.g), v->h[v->place] = ev_sum(&all.h);
  if (v->place < p && v->tie < p) v->cross[v->place] = ev_sum(&all.cross);
}

/* Leaves the gradient at x, and H there in the factor's upper half. */
static void fill_matrix(ev_votes_posterior *v, const double *x) {
  size_t p = v->size, m = v->models, row = v->row;
  double *a = v->factor;
  for (size_t i = 0; i < row; i++) v->g[i] = v->h[i] = v->cross[i] = v->place_h[i] = 0;
  move_to(v, x);
  sum_gradient(v, x, a);
  for (size_t i = 0; i < m; i++) {
    if (v->place < p)
      for (size_t j = i + 1; j < m; j++) a[i * row + j] += a[j * row + i];
    if (v->tie < p) a[i * row + v->tie] = v->cross[i];
    if (v->place < p) a[i * row + v->place] = v->place_h[i];
  }
  for (size_t i = m; i < p; i++) a[i * row + i] = v->h[i];
  if (v->tie < p && v->place < p) a[v->tie * row + v->place] = v->cross[v->place];
}

static void fill_gradient(ev_votes_posterior *v, const double *x) {
  memset(v->g, 0, v->row * sizeof *v->g);
  move_to(v, x);
  sum_gradient(v, x, NULL);
}

/* Of ln P = -ln(1 + the others / the likeliest) no digit is lost where one is all but certain. */
EV_WIDE static double sum_ln_post(const ev_votes_posterior *v, const double *x) {
  ev_lanes all = {0};
  for (size_t i = 0; i < v->models; i++) {
    votes_one one = one_of(v, x, i);
    double mine = x[i] + at_place(v, x), ln_nu = at_tie(v, x);
    for (size_t j = first_block(v, i); j < v->models; j += EV_LANES) {
      votes_four f;
      read_four(v, &one, j, &f);
      ev_lanes d = mine - *(const ev_lanes_of *)(x + j), minus = -d, likely, less, apart, other;
      ev_bits ahead = (ev_bits)(f.win >= f.loss);
      ev_choose(&ahead, &f.win, &f.loss, &likely);
      ev_choose(&ahead, &f.loss, &f.win, &other);
      ev_choose(&ahead, &f.lost, &f.won, &less);
      ev_choose(&ahead, &d, &minus, &apart);
      other = (other + f.tie) / likely;
      ev_log1p(&other, 1);
      all += f.tied * (ln_nu - apart * 0.5) - less * apart - f.n * other;
    }
  }
  return ev_sum(&all);
}

static double ln_post_at(ev_votes_posterior *v, const double *x) {
  move_to(v, x);
  return sum_ln_post(v, x);
}

/* The statistics of step 2 less their means, in a win, a loss and a tie, and V of the two. */
typedef struct votes_outcomes {
  ev_lanes p[3], u[3], x[3], uu, ux;
  double xx;
} votes_outcomes;

EV_INLINE void read_outcomes(const ev_votes_posterior *v, const votes_four *f, size_t i, size_t j,
                             bool ties, votes_outcomes *o) {
  const double *mine = v->inverse + i * v->row;
  ev_lanes half = f->tie * 0.5;
  o->p[0] = f->win, o->p[1] = f->loss, o->p[2] = f->tie;
  o->u[0] = f->loss + half, o->u[1] = -(f->win + half), o->u[2] = (f->loss - f->win) * 0.5;
  o->x[0] = o->x[1] = -f->tie, o->x[2] = f->win + f->loss;
  o->uu = mine[i] + *(const ev_lanes_of *)(v->diagonal + j) - 2 * *(const ev_lanes_of *)(mine + j);
  if (v->place < v->size) {
    const double *place = v->inverse + v->place * v->row;
    o->uu += place[v->place] + 2 * (place[i] - *(const ev_lanes_of *)(place + j));
  }
  if (!ties) return;
  const double *tie = v->inverse + v->tie * v->row;
  o->ux = tie[i] - *(const ev_lanes_of *)(tie + j);
  if (v->place < v->size) o->ux += tie[v->place];
  o->xx = tie[v->tie];
}

/* Adds a sum over a model's cells, by D and by ln nu, to an array like theta. */
EV_INLINE void spread(const ev_votes_posterior *v, double *to, size_t i, const ev_lanes *sum,
                      const ev_lanes *tie_sum) {
  double d = ev_sum(sum);
  to[i] += d;
  if (v->place < v->size) to[v->place] += d;
  if (v->tie < v->size) to[v->tie] += ev_sum(tie_sum);
}

/* tau of step 3: of each cell, third cumulants with V of its two statistics. */
EV_WIDE static void find_turn(ev_votes_posterior *v) {
  bool ties = v->tie < v->size;
  memset(v->turn, 0, v->row * sizeof *v->turn);
  for (size_t i = 0; i < v->models; i++) {
    votes_one one = one_of(v, v->theta, i);
    ev_lanes sum = {0}, tie_sum = {0};
    for (size_t j = first_block(v, i); j < v->models; j += EV_LANES) {
      votes_four f;
      votes_outcomes o;
      ev_lanes by_d = {0}, by_tie = {0};
      read_four(v, &one, j, &f);
      read_outcomes(v, &f, i, j, ties, &o);
      for (int k = 0; k < (ties ? 3 : 2); k++) {
        ev_lanes square = o.uu * o.u[k] * o.u[k];
        if (ties) square += (2 * o.ux * o.u[k] + o.xx * o.x[k]) * o.x[k];
        by_d += o.p[k] * o.u[k] * square;
        if (ties) by_tie += o.p[k] * o.x[k] * square;
      }
      sum += f.n * by_d, tie_sum += f.n * by_tie;
      *(ev_lanes_of *)(v->turn + j) -= f.n * by_d;
    }
    spread(v, v->turn, i, &sum, &tie_sum);
  }
}

/* Sums over all cells along s: k(y,y,y,y), and k(y,y,.,.):V. */
typedef struct shape_sums {
  ev_lanes fourth, bent;
} shape_sums;

/* Leaves -b, too. */
EV_INLINE void sum_shape(ev_votes_posterior *v, bool ties, shape_sums *all) {
  double e = at_tie(v, v->s);
  for (size_t i = 0; i < v->models; i++) {
    votes_one one = one_of(v, v->theta, i);
    ev_lanes sum = {0}, tie_sum = {0};
    double mine = v->s[i] + at_place(v, v->s);
    for (size_t j = first_block(v, i); j < v->models; j += EV_LANES) {
      votes_four f;
      votes_outcomes o;
      ev_lanes d = mine - *(const ev_lanes_of *)(v->s + j), none = {0};
      ev_lanes yy = none, yu = none, yx = none, uu = none, ux = none, xx = none;
      ev_lanes yyu = none, yyx = none, yyuu = none, yyux = none, yyxx = none;
      read_four(v, &one, j, &f);
      read_outcomes(v, &f, i, j, ties, &o);
      for (int k = 0; k < (ties ? 3 : 2); k++) {
        ev_lanes u = o.u[k], x = o.x[k], y = ties ? u * d + x * e : u * d, py = o.p[k] * y;
        ev_lanes pyy = py * y;
        yy += pyy, yu += py * u, uu += o.p[k] * u * u, yyu += pyy * u, yyuu += pyy * u * u;
        if (!ties) continue;
        yx += py * x, ux += o.p[k] * u * x, xx += o.p[k] * x * x;
        yyx += pyy * x, yyux += pyy * u * x, yyxx += pyy * x * x;
      }
      yyuu -= yy * uu + 2 * yu * yu;
      ev_lanes along = d * d * yyuu, trace = o.uu * yyuu;
      if (ties) {
        yyux -= yy * ux + 2 * yu * yx, yyxx -= yy * xx + 2 * yx * yx;
        along += e * (2 * d * yyux + e * yyxx), trace += 2 * o.ux * yyux + o.xx * yyxx;
        tie_sum += f.n * yyx;
      }
      yyu *= f.n;
      sum += yyu, all->fourth += f.n * along, all->bent += f.n * trace;
      *(ev_lanes_of *)(v->bend + j) -= yyu;
    }
    spread(v, v->bend, i, &sum, &tie_sum);
  }
}

EV_WIDE static void sum_shapes(ev_votes_posterior *v, shape_sums *all) {
  if (v->tie < v->size)
    sum_shape(v, true, all);
  else
    sum_shape(v, false, all);
}

/*
** The maximum, and maxima of the profile
*/

/* A step moves nothing by more than 3, which is far on the scale of a logit. */
enum { VOTES_STEPS = 200 };
static const double LONGEST_STEP = 3;

/* The square of the distance to the maximum: g'step in standard deviations, which is what ln post
** lacks, and the longest step on the scale of a logit, on which H changes.  Newton's step squares
** both; one by V fixed is a hundredth, and one that is no quarter is not worth it.  A search that
** is this near and comes no nearer has met rounding, and is done. */
static const double VOTES_CONVERGED = 1e-20, VOTES_ROUNDING = 1e-8, VOTES_NEAR = 1e-14;

/* Far out ln post is flat in some direction to the last digit: steps along it are rounding, and may
** be long.  While the search comes nearer the gain falls by e or more in a step. */
enum { VOTES_IDLE = 8 };

/* Takes a multiple of c out of g: no step is along c, and rounding of one must not gain. */
static void project(ev_votes_posterior *v, const double *c, double multiple) {
  add_scaled(v, v->g, -multiple, c);
  v->slope += multiple * v->sd;
}

/* The next step from x along which c'x stays, unless c is NULL; the gain g'step is returned. Leaves
** the slope of ln post by u, and ln det of what is orthogonal to c unless V is fixed. */
static double find_step(ev_votes_posterior *v, const double *c, bool fixed) {
  if (fixed) {
    fill_gradient(v, v->x);
    multiply(v, v->g, v->step);
    v->slope = votes_dot(v, v->s, v->g);
    add_scaled(v, v->step, -v->slope, v->s);
    return votes_dot(v, v->g, v->step);
  }
  fill_matrix(v, v->x);
  v->slope = 0;
  if (c) project(v, c, votes_dot(v, v->g, c) / votes_dot(v, c, c));
  v->ln_det = eliminate(v);
  memcpy(v->step, v->g, v->row * sizeof *v->step);
  substitute(v, v->step);
  if (!c) return votes_dot(v, v->g, v->step);
  memcpy(v->spare, c, v->row * sizeof *v->spare);
  substitute(v, v->spare);
  double through = votes_dot(v, c, v->spare), rest = votes_dot(v, v->g, v->spare) / through;
  project(v, c, rest);
  add_scaled(v, v->step, -rest, v->spare);
  add_scaled(v, v->step, -votes_dot(v, c, v->step) / through, v->spare);
  v->ln_det += log(through);
  return votes_dot(v, v->g, v->step);
}

static double longest_of(const ev_votes_posterior *v, const double *x) {
  double longest = 0;
  for (size_t i = 0; i < v->size; i++) longest = fmax(longest, fabs(x[i]));
  return longest;
}

/* Moves x by a step of at most LONGEST_STEP, and back by halves of it while it went too far: ln
** post is concave, and its slope along the step has turned around. */
static double take_newton_step(ev_votes_posterior *v, const double *c, bool fixed, double gain) {
  double length = fmin(1, LONGEST_STEP / longest_of(v, v->step)), slope = gain * length;
  for (size_t i = 0; i < v->size; i++) v->last[i] = length * v->step[i];
  add_scaled(v, v->x, 1, v->last);
  gain = find_step(v, c, fixed);
  for (; slope > VOTES_ROUNDING && votes_dot(v, v->g, v->last) < -slope / 2; slope /= 2) {
    for (size_t i = 0; i < v->size; i++) v->last[i] /= 2;
    add_scaled(v, v->x, -1, v->last);
    gain = find_step(v, c, fixed);
  }
  return gain;
}

/* Newton's method from x, subject to c'x unless c is NULL; `fixed` is whether to step by V, and
** whether it did to the end.  False if it does not converge. */
static bool climb(ev_votes_posterior *v, const double *c, bool *fixed) {
  double gain = find_step(v, c, *fixed), before = HUGE_VAL, least = HUGE_VAL;
  int idle = 0;
  for (int i = 0; i < VOTES_STEPS && goes_on(v) && isfinite(gain); i++) {
    double longest = longest_of(v, v->step), apart = gain + longest * longest;
    if (apart <= (*fixed ? VOTES_NEAR : VOTES_CONVERGED) ||
        (!*fixed && apart < VOTES_ROUNDING && apart > before / 4)) {
      add_scaled(v, v->x, 1, v->step);
      return true;
    }
    idle = fabs(gain) < least / 2 || longest > LONGEST_STEP ? 0 : idle + 1;
    least = fmin(least, fabs(gain));
    if (idle >= VOTES_IDLE && fabs(gain) < fmax(VOTES_ROUNDING, 10 * v->rounding)) return true;
    if (*fixed && apart > before / 4) {
      *fixed = false, before = HUGE_VAL;
      gain = find_step(v, c, false);
      continue;
    }
    before = apart;
    gain = take_newton_step(v, c, *fixed, gain);
  }
  return false;
}

/*
** Contrasts
*/
void ev_votes_contrast(ev_votes_posterior *v) {
  shape_sums sums = {.fourth = {0}};
  if (!goes_on(v)) return;
  multiply(v, v->c, v->s);
  v->sd = sqrt(votes_dot(v, v->c, v->s));
  for (size_t i = 0; i < v->size; i++) v->s[i] /= v->sd;
  v->solved = 0;
  memset(v->bend, 0, v->row * sizeof *v->bend);
  move_to(v, v->theta);
  sum_shapes(v, &sums);
  for (size_t i = 0; i < v->size; i++) v->bend[i] = -v->bend[i];
  multiply(v, v->bend, v->spare);
  double third = votes_dot(v, v->bend, v->s), turn = votes_dot(v, v->turn, v->s);
  double rest = votes_dot(v, v->bend, v->spare) - third * third, fourth = ev_sum(&sums.fourth);
  double bent = ev_sum(&sums.bent) - fourth + votes_dot(v, v->turn, v->spare) - turn * third;
  v->shape = (votes_shape){third, 3 * rest - fourth, turn + third, bent + rest};
}

/* ln of the rest's determinant at u, beside the maximum.  Where nearly all models have a handful of
** votes it does not go on as a parabola, of which r* would turn back. */
static const double MOST_DET2 = 0.1;

static double ln_det_by_shape(const votes_shape *s, double u) {
  return u * (s->det + fmax(-MOST_DET2, fmin(MOST_DET2, s->det2)) * u / 2);
}

/* Beta(np, nq) of a logit x has, by x, -ln post'' = N = npq, ln post''' = -N (q-p) and
** ln post'''' = -N (1-6pq): so N is 1 / (3 l3^2 + 2 l4), and q - p = -l3 N^(1/2). */
static const double MOST_OF_BETA = 1e5, LEAST_OF_BETA = 0.1;

/* Within this many standard deviations of the maximum, more with many votes, r is lost to rounding:
** r* is interpolated linearly between both ends. */
static const double AT_MAXIMUM = 2e-4, AT_SHAPE = 0.01;

static double star_by_shape(const votes_shape *s, double u) {
  double third = s->third, fourth = s->fourth, votes = 1 / (3 * third * third + 2 * fourth);
  double lean = third * sqrt(fmax(0, votes)), fall, slope;
  if (votes > LEAST_OF_BETA && votes < MOST_OF_BETA && fabs(lean) < 1) {
    double p = (1 + lean) / 2, q = (1 - lean) / 2, x = u / sqrt(votes), gone = expm1(x);
    fall = votes / (p * q) * (log1p(p * gone) - p * x);
    slope = sqrt(votes) * gone / (1 + p * gone);
  } else {
    fall = u * u / 2 * fmax(0.1, 1 - u * (third / 3 + u * fourth / 12));
    slope = u * fmax(0.1, 1 - u * (third / 2 + u * fourth / 6));
  }
  double r = copysign(sqrt(2 * fall), u);
  return r + (log(slope / r) + ln_det_by_shape(s, u) / 2) / r;
}

double ev_votes_star_by_shape(const votes_shape *s, double u) {
  if (fabs(u) > AT_SHAPE) return star_by_shape(s, u);
  double low = star_by_shape(s, -AT_SHAPE), high = star_by_shape(s, AT_SHAPE);
  return (low * (AT_SHAPE - u) + high * (AT_SHAPE + u)) / (2 * AT_SHAPE);
}

/* Moves x to where c'x is u's, along the line through where it was solved, if that is as far. */
static void start_at(ev_votes_posterior *v, double u) {
  double along = u / v->solved;
  bool kept = along > 0.5 && along < 2;
  for (size_t i = 0; i < v->size; i++)
    v->x[i] = v->theta[i] + (kept ? along * (v->x[i] - v->theta[i]) : u * v->s[i]);
}

/* A search that misses starts again from where one that goes less far ends. */
enum { VOTES_HALTS = 8 };

static bool solve_profile(ev_votes_posterior *v, double u, bool *fixed, int halts) {
  start_at(v, u);
  v->solved = 0;
  bool found = climb(v, v->c, fixed);
  if (!found && halts > 0 && solve_profile(v, 0.7 * u, fixed, halts - 1)) {
    start_at(v, u);
    found = climb(v, v->c, fixed);
  }
  v->solved = found ? u : 0;
  return found;
}

/* Half of the change of ln det at u, where the profile was solved. */
static double half_ln_det(ev_votes_posterior *v, double u, bool fixed) {
  if (fixed && v->models > EV_VOTES_MANY) return ln_det_by_shape(&v->shape, u) / 2;
  if (fixed) find_step(v, v->c, false);
  return (v->ln_det - v->ln_det_max) / 2 - log(v->sd);
}

/* Far out, where ln post falls along a line, it goes on as it does where the profile is last found,
** if that is at least this part of the way. */
static const double LEAST_TO_GO_ON = 0.1;

double ev_votes_ln_marginal(double u, void *context) {
  ev_votes_posterior *v = context;
  bool fixed = v->models > EV_VOTES_FEW;
  double at = u;
  for (; !solve_profile(v, at, &fixed, VOTES_HALTS); at *= 0.9)
    if (v->status != EV_OK || fabs(at) < LEAST_TO_GO_ON * fabs(u)) return NAN;
  double ln_post = ln_post_at(v, v->x) - v->ln_post;
  return ln_post - half_ln_det(v, at, fixed) + v->slope * (u - at);
}

/* r* with its r. */
static double solve_star(ev_votes_posterior *v, double u, double *r) {
  bool fixed = v->models > EV_VOTES_FEW;
  if (!solve_profile(v, u, &fixed, VOTES_HALTS)) return *r = NAN;
  double fall = v->ln_post - ln_post_at(v, v->x);
  *r = copysign(sqrt(2 * fmax(0, fall)), u);
  double half = half_ln_det(v, u, fixed), ratio = -v->slope / *r;
  return ratio > 0 ? *r + (log(ratio) + half) / *r : *r;
}

/* The nearest of some points on a side where r is more than rounding. */
static double end_of(ev_votes_posterior *v, double side, double least, double *star) {
  double r, u = side * AT_MAXIMUM;
  while (*star = solve_star(v, u, &r), fabs(r) < least && v->status == EV_OK) u *= 2;
  return u;
}

double ev_votes_star_by_profile(ev_votes_posterior *v, double u) {
  double least = fmax(AT_MAXIMUM, cbrt(1000 * v->rounding)) / 2, r = 0, below, above;
  double star = fabs(u) < AT_MAXIMUM ? 0 : solve_star(v, u, &r);
  if (!(fabs(r) < least)) return star;
  double low = end_of(v, -1, least, &below), high = end_of(v, 1, least, &above);
  return (below * (high - u) + above * (u - low)) / (high - low);
}

/*
** Making one
*/
/* Gives out `count` numbers of the block. */
static double *take(double **block, size_t count) {
  double *numbers = *block;
  *block += count;
  return numbers;
}

static bool make_workspace(ev_votes_posterior *v) {
  size_t row = v->row;
  double **matrices[] = {&v->won, &v->lost, &v->tied, &v->inverse, &v->factor};
  double **vectors[] = {&v->theta, &v->diagonal, &v->turn,  &v->c,      &v->s,     &v->bend,
                        &v->x,     &v->g,        &v->step,  &v->last,   &v->spare, &v->up,
                        &v->down,  &v->h,        &v->cross, &v->place_h};
  size_t m = sizeof matrices / sizeof *matrices, n = sizeof vectors / sizeof *vectors;
  double *block = v->numbers = calloc((m * row + n) * row, sizeof *block);
  if (!block) return false;
  for (size_t k = 0; k < m; k++) *matrices[k] = take(&block, row * row);
  for (size_t k = 0; k < n; k++) *vectors[k] = take(&block, row);
  for (size_t i = 0; i < row; i++) v->up[i] = v->down[i] = 1;
  return true;
}

void ev_votes_free(ev_votes_posterior *v) {
  if (v) free(v->numbers);
  free(v);
}

/* Fills the cells; all votes and the ties are counted. */
static void fill_vote_cells(ev_votes_posterior *v, const ev_votes *votes, double *all,
                            double *ties) {
  double share = 1 / ((double)(v->models - 1) * (votes->position ? 2 : 1));
  for (size_t i = 0; i < v->models; i++)
    for (size_t j = votes->position ? 0 : i + 1; j < v->models; j++) {
      size_t at = i * v->row + j, a = ev_votes_place(v, i), b = ev_votes_place(v, j);
      if (i == j) continue;
      v->won[at] = ev_votes_wins(votes, a, b) + share;
      v->lost[at] = ev_votes_losses(votes, a, b) + share;
      v->tied[at] = ev_votes_ties(votes, a, b);
      *ties += v->tied[at];
      *all += v->won[at] + v->lost[at] + v->tied[at];
    }
}

/* Steps 1 and 3. */
static ev_status find_maximum(ev_votes_posterior *v, double all, double ties) {
  bool fixed = false;
  v->rounding = DBL_EPSILON * all;
  if (v->tie < v->size) v->x[v->tie] = log(2 * ties / (all - ties));
  if (!climb(v, NULL, &fixed)) return v->status == EV_OK ? EV_NOT_CONVERGED : v->status;
  memcpy(v->theta, v->x, v->row * sizeof *v->theta);
  v->ln_post = ln_post_at(v, v->theta);
  fill_matrix(v, v->theta);
  v->ln_det_max = eliminate(v);
  invert_votes(v);
  move_to(v, v->theta);
  find_turn(v);
  return v->status;
}

static double total_ties(const ev_votes *votes) {
  double sum = 0;
  for (size_t i = 0; i < votes->models * votes->models; i++) sum += votes->ties[i];
  return sum;
}

static ev_status fill_posterior(ev_votes_posterior *v, const ev_votes *votes, ev_host host) {
  double all = 0, ties = 0;
  bool tied = total_ties(votes) > 0;
  v->host = host;
  v->models = votes->models;
  v->reference = most_voted(votes);
  v->size = v->models + tied + votes->position;
  v->tie = tied ? v->models : v->size;
  v->place = votes->position ? v->size - 1 : v->size;
  v->row = (v->size + EV_LANES - 1) & ~(size_t)(EV_LANES - 1);
  if (!make_workspace(v)) return EV_NO_MEMORY;
  fill_vote_cells(v, votes, &all, &ties);
  return find_maximum(v, all, ties);
}

ev_status ev_votes_make(const ev_votes *votes, ev_host host, ev_votes_posterior **out) {
  *out = calloc(1, sizeof **out);
  return *out ? fill_posterior(*out, votes, host) : EV_NO_MEMORY;
}
