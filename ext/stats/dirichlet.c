/*
** A linear functional of a Dirichlet, by inversion of a moment generating function.
**
** Dirichlet weights are independent Gammas over their sum, so with
** d_t = above_t y - below_t x, the signed excess of unit t over the mean m = (x, y),
**
**     P(mean <= m) = P(Q <= 0),   Q = sum G_t d_t,   G_t ~ Gamma(a_t),
**
** and ln E[e^(sQ)] = K(s) = -sum a_t ln(1 - s d_t), convex for
** 1/min d < s < 1/max d.  A tail is (1/2 pi i) times the integral of e^K(s)/s along
** a path through the saddle point s0, K'(s0) = 0, and the density of the mean that
** of e^K(s) sum a_t size_t/(1 - s d_t): no term is larger than the result, so the
** smaller tail comes with full relative precision, however small.
**
** The path is s = c + sigma z, z = i sinh u + kappa (cosh u - 1), with
** sigma = K''(c)^(-1/2).  kappa bends it as the path of steepest descent bends at
** the saddle point, kappa = sigma^3 K'''(c)/3: along a straight path e^K oscillates
** where one unit with a small weight decides, as 10^9 scores on one side of m and one
** imagined question on the other.  The integrand is analytic about the path and falls
** off at least exponentially in u, so the plain trapezoid rule converges
** exponentially; what half the nodes give is compared with what all of them give.
** c is s0, but not nearer than PATH_FROM_POLE to the pole at s = 0.
**
** References:
**   Imhof, Biometrika 48 (1961) 419-426: a tail as one integral.
**   Rice, SIAM J. Sci. Stat. Comput. 1 (1980) 438-448: through the saddle point, by
**     the trapezoid rule.
**   Diaconis and Kemperman, Bayesian Statistics 5 (1996) 97-106: means of Dirichlets.
*/
#include "dirichlet.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_math.h>

#include "lanes.h"
#include "merge.h"
#include "root.h"

/*
** Sums over the atoms
*/

/* The derivatives of K at s, each over the factorial of the order before. */
typedef struct tilt_sums {
  double first, second, third;
} tilt_sums;

static tilt_sums sum_tilted(const double *excess, const double *weight, size_t count, double s) {
  tilt_sums sums = {0, 0, 0};
  for (size_t i = 0; i < count; i++) {
    double e = excess[i] / (1 - s * excess[i]), term = weight[i] * e;
    sums.first += term;
    sums.second += term * e;
    sums.third += term * e * e;
  }
  return sums;
}

static double tilted_K(const double *excess, const double *weight, size_t count, double s) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += weight[i] * log1p(-s * excess[i]);
  return -sum;
}

/* At four points z of a path: sum a_t ln(1 - z e_t), and sum g_t / (1 - z e_t). */
typedef struct path_sums {
  ev_lanes ln, angle, re, im;
} path_sums;

typedef struct path_atoms {
  const double *e, *weight, *gain;
  size_t count, single; /* the first `single` weigh 1 */
} path_atoms;

/* The number of atoms of weight 1 that share a logarithm.  Whole periods of the angle do not
** matter.  A product of this many does not overflow before PATH_END; its square may, which does not
** matter. */
enum { SINGLES = 8 };

EV_INLINE void add_singles(const double *e, size_t count, const ev_lanes z[2], path_sums *s) {
  ev_lanes re = 1 - e[0] * z[0], im = -e[0] * z[1];
  for (size_t i = 1; i < count; i++) {
    ev_lanes x = 1 - e[i] * z[0], y = -e[i] * z[1], last = re;
    re = last * x - im * y;
    im = last * y + im * x;
  }
  ev_lanes ln = re * re + im * im, angle;
  ev_log(&ln, 1);
  ev_angle(&re, &im, &angle);
  s->ln += ln;
  s->angle += angle;
}

EV_WIDE static void sum_on_path(const path_atoms *atoms, const ev_lanes z[2], path_sums *sums) {
  path_sums s = {{0}, {0}, {0}, {0}};
  for (size_t i = 0; i < atoms->single; i += SINGLES)
    add_singles(atoms->e + i, i + SINGLES < atoms->single ? SINGLES : atoms->single - i, z, &s);
  ev_lanes twice = -2 * z[0], square = z[0] * z[0] + z[1] * z[1];
  for (size_t i = atoms->single; i < atoms->count; i++) {
    double e = atoms->e[i], a = atoms->weight[i];
    ev_lanes re = 1 - e * z[0], im = -e * z[1], ln = e * (twice + e * square), angle;
    ev_log1p(&ln, 1);
    ev_angle(&re, &im, &angle);
    s.ln += a * ln;
    s.angle += a * angle;
  }
  s.ln *= 0.5;
  for (size_t i = 0; i < atoms->count && atoms->gain; i++) {
    double e = atoms->e[i];
    ev_lanes re = 1 - e * z[0], im = -e * z[1], g = atoms->gain[i] / (re * re + im * im);
    s.re += g * re;
    s.im -= g * im;
  }
  *sums = s;
}

/*
** The distribution of the mean at one m
*/
typedef struct tilted {
  double *excess, *weight, *e, *gain; /* one number per atom */
  size_t count;
  double scale;       /* a power of 2, the excesses' unit, so that their squares do not underflow */
  double least, most; /* of the excesses: negative and positive */
  double s, sigma;    /* the saddle point, and about one standard deviation of s there */
  tilt_sums sums;     /* at s */
} tilted;

static tilted tilt_at(const ev_dirichlet *d, ev_point m) {
  tilted t = {.excess = d->scratch,
              .weight = d->scratch + d->count,
              .e = d->scratch + 2 * d->count,
              .gain = d->scratch + 3 * d->count,
              .count = d->count};
  for (size_t i = 0; i < d->count; i++) {
    double excess = d->atoms[i].above * m.y - d->atoms[i].below * m.x;
    t.excess[i] = excess;
    t.least = excess < t.least ? excess : t.least;
    t.most = excess > t.most ? excess : t.most;
  }
  int exponent;
  frexp(t.most - t.least, &exponent);
  t.scale = ldexp(1, exponent);
  for (size_t i = 0; i < d->count; i++) t.excess[i] /= t.scale;
  t.least /= t.scale;
  t.most /= t.scale;
  return t;
}

/* Newton's method on K' times the factors that are 0 at its poles, in a bracket, to within 1e-4
** sigma, which suffices for a path. */
static ev_status find_saddle(tilted *t) {
  ev_bracket in = {1 / t->least, 1 / t->most};
  double s = 0;
  for (int i = 0; i < 200; i++) {
    t->sums = sum_tilted(t->excess, t->weight, t->count, s);
    double first = t->sums.first, second = t->sums.second;
    if (second > 0 && first * first <= 1e-8 * second) {
      t->s = s;
      t->sigma = 1 / sqrt(second);
      return EV_OK;
    }
    double p = 1 - s * t->most, q = 1 - s * t->least;
    double slope = second * p * q - first * (t->most * q + t->least * p);
    s = ev_bracket_next(&in, s, first > 0, slope > 0 ? s - first * p * q / slope : NAN);
  }
  t->s = s;
  return EV_NOT_CONVERGED;
}

/* A tail below this is not a normal number.  Far from the mean, with weights of 10^14 or m of
** 10^-200, the saddle point is too close to a pole to be found, but any s bounds the tail by e^K(s)
** (Chernoff). */
static const double LN_VANISHED = -708;

static bool tail_vanishes(const tilted *t) {
  return tilted_K(t->excess, t->weight, t->count, t->s) < LN_VANISHED;
}

/* The distance, in sigmas, from the pole at 0 to where the path crosses the real axis.  A larger
** distance widens the strip in which the integrand is analytic, and enlarges the terms, by e^(1/4)
** here.  It is at most half the way to where K ends. */
static const double PATH_FROM_POLE = 0.7;

static double path_crossing(const tilted *t) {
  double end = t->s > 0 ? 1 / t->most : 1 / t->least;
  double away = fmin(PATH_FROM_POLE * t->sigma, fabs(end) / 2);
  return copysign(fmax(fabs(t->s), away), end);
}

typedef struct path {
  path_atoms atoms;
  double kappa, cross; /* the bend, and c/sigma */
} path;

/* The integrands of the tail and of the density, up to constants, at nodes u = first, first + step,
** ...; and their absolute value at the last node. */
typedef struct path_block {
  ev_lanes tail, density;
  double last_tail, last_density;
} path_block;

static path_block path_nodes(const path *p, double first, double step) {
  ev_lanes z[2], dz[2];
  for (int i = 0; i < EV_LANES; i++) {
    double up = exp(first + step * i), down = 1 / up;
    double sinh_u = (up - down) / 2, cosh_u = (up + down) / 2;
    z[0][i] = p->kappa * (cosh_u - 1), z[1][i] = sinh_u;
    dz[0][i] = p->kappa * sinh_u, dz[1][i] = cosh_u;
  }
  path_sums s;
  sum_on_path(&p->atoms, z, &s);
  ev_lanes re = {0}, im = {0};
  for (int i = 0; i < EV_LANES; i++) {
    double size = exp(-s.ln[i]);
    re[i] = size * cos(s.angle[i]), im[i] = -size * sin(s.angle[i]);
  }
  ev_lanes a = re * dz[0] - im * dz[1], b = re * dz[1] + im * dz[0];
  ev_lanes from_pole = z[0] + p->cross, distance = from_pole * from_pole + z[1] * z[1];
  enum { LAST = EV_LANES - 1 };
  double last = exp(-s.ln[LAST]) * dz[1][LAST];
  return (path_block){.tail = (b * from_pole - a * z[1]) / distance,
                      .density = p->atoms.gain ? a * s.im + b * s.re : b,
                      .last_tail = last / sqrt(distance[LAST]),
                      .last_density = p->atoms.gain ? last * hypot(s.re[LAST], s.im[LAST]) : last};
}

/* Sums over the nodes, the even ones and the odd ones, and the largest terms. */
typedef struct path_total {
  double tail[2], density[2], most_tail, most_density;
  bool density_ends; /* the integrand is negligible where the nodes end */
} path_total;

static void add_block(path_total *sum, const path_block *b) {
  for (int i = 0; i < EV_LANES; i++) {
    sum->tail[i % 2] += b->tail[i];
    sum->density[i % 2] += b->density[i];
    sum->most_tail = fmax(sum->most_tail, fabs(b->tail[i]));
    sum->most_density = fmax(sum->most_density, fabs(b->density[i]));
  }
}

/* Nodes end where the integrand has fallen to this share of its maximum, or at this u: the slowest
** decay of a tail is e^-u. */
static const double PATH_NEGLIGIBLE = 1e-16, PATH_END = 60;

/* If the integrand grows by this factor from its value at the saddle point, the path bends the
** wrong way. */
static const double PATH_GROWN = 100;

static ev_status sum_path(const path *p, double first, double step, ev_host host, path_total *sum) {
  *sum = (path_total){.density_ends = false};
  for (double u = first;; u += EV_LANES * step) {
    path_block b = path_nodes(p, u, step);
    /* The whole path is this half and its mirror image, which share u = 0. */
    if (u == 0) b.tail[0] /= 2, b.density[0] /= 2;
    add_block(sum, &b);
    sum->density_ends = b.last_density <= PATH_NEGLIGIBLE * sum->most_density;
    bool ended = b.last_tail <= PATH_NEGLIGIBLE * sum->most_tail && sum->density_ends;
    if (ended || u > PATH_END) return EV_OK;
    if (!(b.last_tail * fabs(p->cross) < PATH_GROWN)) return EV_NOT_CONVERGED;
    if (p->atoms.count > 1000 && ev_interrupted(host)) return EV_INTERRUPTED;
  }
}

/* The step to begin with, the difference between two steps at which the shorter has
** converged, since halving a step about squares its error, and how often to halve: 3 times is
** enough for scores, 6 where imagined cells of ordered categories weigh far below 1. */
static const double PATH_STEP = 0.16, PATH_CONVERGED = 1e-7;
enum { PATH_HALVINGS = 8 };

static bool path_converged(double coarse, double fine) {
  return isfinite(fine) && fabs(coarse - fine) <= PATH_CONVERGED * fabs(fine);
}

typedef struct path_integral {
  double tail, density;
} path_integral;

static ev_status integrate_bend(const path *p, ev_host host, path_integral *out) {
  path_total sum;
  double step = PATH_STEP;
  ev_status status = sum_path(p, 0, step, host, &sum);
  if (status != EV_OK) return status;
  path_integral coarse = {2 * step * sum.tail[0], 2 * step * sum.density[0]};
  path_integral fine = {coarse.tail / 2 + step * sum.tail[1],
                        coarse.density / 2 + step * sum.density[1]};
  for (int i = 0;; i++) {
    bool density_done = !sum.density_ends || path_converged(coarse.density, fine.density);
    if (path_converged(coarse.tail, fine.tail) && density_done) break;
    if (i == PATH_HALVINGS) return EV_NOT_CONVERGED;
    status = sum_path(p, step / 2, step, host, &sum);
    if (status != EV_OK) return status;
    coarse = fine;
    fine.tail = (coarse.tail + step * (sum.tail[0] + sum.tail[1])) / 2;
    fine.density = (coarse.density + step * (sum.density[0] + sum.density[1])) / 2;
    step /= 2;
  }
  *out = (path_integral){fine.tail, sum.density_ends ? fine.density : NAN};
  return EV_OK;
}

/* If few atoms make e^K decay, and many contribute only their drift, e^(z sum a e), the path must
** bend against that drift.  At a distance `reach`, the atoms that count as drift are those with |e|
** < 1/reach. */
static double path_drift(const path *p, double reach) {
  double drift = 0;
  for (size_t i = 0; i < p->atoms.count; i++) {
    double e = p->atoms.e[i], far = reach * e;
    drift += p->atoms.weight[i] * e / (1 + far * far);
  }
  return drift;
}

/* The bends to try, one after the other, if steepest descent at the saddle point did not converge.
** Of 7,000 quantiles of hard atoms, with weights up to 10^9 and sizes from 10^-18 to 10^18, 285
** needed the first three, and 9 the last. */
static const struct path_bend {
  double reach, bend;
} PATH_BENDS[] = {{10, 0.7}, {100, 0.7}, {1000, 0.7}, {10, -0.7}};
enum { PATH_BEND_COUNT = sizeof PATH_BENDS / sizeof *PATH_BENDS };

static ev_status integrate_path(path p, ev_host host, path_integral *out) {
  ev_status status = integrate_bend(&p, host, out);
  for (int i = 0; i < PATH_BEND_COUNT && status == EV_NOT_CONVERGED; i++) {
    p.kappa = copysign(1, -path_drift(&p, PATH_BENDS[i].reach)) * PATH_BENDS[i].bend;
    status = integrate_bend(&p, host, out);
  }
  return status;
}

/* The atoms in units of the path: from where it crosses the real axis, in sigmas. */
static path cross_saddle(const ev_dirichlet *d, tilted *t) {
  double c = path_crossing(t);
  if (c != t->s) t->sums = sum_tilted(t->excess, t->weight, t->count, c);
  double sigma = 1 / sqrt(t->sums.second);
  for (size_t i = 0; i < t->count; i++) {
    double e = 1 / (1 - c * t->excess[i]);
    t->e[i] = sigma * t->excess[i] * e;
    if (d->size == 0) t->gain[i] = t->weight[i] * (d->atoms[i].above + d->atoms[i].below) * e;
  }
  t->s = c;
  t->sigma = sigma;
  double bend = 2 * t->sums.third * sigma * sigma * sigma / 3;
  return (path){.atoms = {t->e, t->weight, d->size == 0 ? t->gain : NULL, t->count, d->single},
                .kappa = fmax(-1, fmin(1, bend)),
                .cross = c / sigma};
}

/* All of the mass is on one side. */
static ev_status one_sided(bool below, ev_dirichlet_value *value) {
  *value = (ev_dirichlet_value){below ? 0 : -HUGE_VAL, below ? -HUGE_VAL : 0, -HUGE_VAL};
  return EV_OK;
}

/* The host is polled at first, and then after this many atoms, which take some milliseconds. */
static const double ATOMS_PER_POLL = 1000;

static bool dirichlet_interrupted(ev_dirichlet *d) {
  if (d->until_poll > 0) {
    d->until_poll -= (double)d->count;
    return false;
  }
  d->until_poll = ATOMS_PER_POLL;
  return ev_interrupted(d->host);
}

ev_status ev_dirichlet_at(ev_dirichlet *d, ev_point m, ev_dirichlet_value *value) {
  assert(m.x >= 0 && m.y >= 0);
  tilted t = tilt_at(d, m);
  if (t.most <= 0 || t.least >= 0) return one_sided(t.most <= 0, value);
  if (dirichlet_interrupted(d)) return EV_INTERRUPTED;
  ev_status status = find_saddle(&t);
  if (status == EV_NOT_CONVERGED && tail_vanishes(&t)) return one_sided(t.s > 0, value);
  if (status != EV_OK) return status;
  path_integral integral = {NAN, NAN};
  status = integrate_path(cross_saddle(d, &t), d->host, &integral);
  if (status != EV_OK) return status;
  double K = tilted_K(t.excess, t.weight, t.count, t.s);
  double tail = K + log(copysign(integral.tail / M_PI, integral.tail * t.s));
  if (isnan(tail)) return EV_NOT_CONVERGED;
  tail = fmin(0, tail);
  double rest = log1p(-exp(tail));
  /* If all sizes are equal, an integration by parts gives the number of weights less one. */
  double gain = d->size > 0 ? d->size * (d->weight - 1) : 1;
  value->ln_below = t.s < 0 ? tail : rest;
  value->ln_above = t.s < 0 ? rest : tail;
  value->ln_density =
      K + log(m.x * m.y * (t.sigma * gain * integral.density / M_PI)) - log(t.scale);
  return EV_OK;
}

/*
** Making and freeing
*/

/* Copies the atoms that weigh 1, or those that do not. */
static size_t copy_atoms(const ev_atom *from, size_t count, bool single, ev_atom *to) {
  size_t copied = 0;
  for (size_t i = 0; i < count; i++)
    if ((from[i].weight == 1) == single) to[copied++] = from[i];
  return copied;
}

static void summarize_atoms(ev_dirichlet *d, const ev_atom *atoms, size_t count) {
  d->size = atoms[0].above + atoms[0].below;
  d->least = (ev_point){1, 0};
  d->most = (ev_point){0, 1};
  for (size_t i = 0; i < count; i++) {
    double size = atoms[i].above + atoms[i].below;
    ev_point mean = {atoms[i].above / size, atoms[i].below / size};
    assert(atoms[i].above >= 0 && atoms[i].below >= 0 && size > 0 && atoms[i].weight > 0);
    if (mean.x < d->least.x || mean.y > d->least.y) d->least = mean;
    if (mean.x > d->most.x || mean.y < d->most.y) d->most = mean;
    d->weight += atoms[i].weight;
    if (fabs(size - d->size) > 4 * DBL_EPSILON * size) d->size = 0;
  }
}

static void locate_atoms(ev_dirichlet *d) {
  double above = 0, below = 0, square = 0;
  for (size_t i = 0; i < d->count; i++) {
    above += d->atoms[i].weight * d->atoms[i].above;
    below += d->atoms[i].weight * d->atoms[i].below;
  }
  double size = above + below;
  d->mean = (ev_point){above / size, below / size};
  for (size_t i = 0; i < d->count; i++) {
    double excess = d->atoms[i].above * d->mean.y - d->atoms[i].below * d->mean.x;
    square += d->atoms[i].weight * (excess / size) * (excess / size);
  }
  d->spread = sqrt(square) / (d->mean.x * d->mean.y);
}

/* Takes the atoms, which the caller frees, and may merge them in place. */
static ev_status fill_dirichlet(ev_dirichlet *d, ev_atom *atoms, size_t count, ev_merging merging) {
  summarize_atoms(d, atoms, count);
  if (d->size > 0) count = ev_merge_atoms(atoms, count, merging, d->weight);
  d->atoms = malloc(count * sizeof *atoms);
  d->scratch = calloc(4 * count, sizeof *d->scratch);
  if (!d->atoms || !d->scratch) return EV_NO_MEMORY;
  d->count = count;
  d->single = copy_atoms(atoms, count, true, d->atoms);
  copy_atoms(atoms, count, false, d->atoms + d->single);
  for (size_t i = 0; i < count; i++) d->scratch[count + i] = d->atoms[i].weight;
  locate_atoms(d);
  return EV_OK;
}

ev_status ev_dirichlet_make(ev_dirichlet *d, const ev_atom *atoms, size_t count, ev_merging merging,
                            ev_host host) {
  assert(count > 0);
  *d = (ev_dirichlet){.host = host};
  ev_atom *copy = malloc(count * sizeof *copy);
  if (!copy) return EV_NO_MEMORY;
  memcpy(copy, atoms, count * sizeof *copy);
  ev_status status = fill_dirichlet(d, copy, count, merging);
  free(copy);
  if (status != EV_OK) ev_dirichlet_free(d);
  return status;
}

void ev_dirichlet_free(ev_dirichlet *d) {
  free(d->atoms);
  free(d->scratch);
  *d = (ev_dirichlet){.count = 0};
}
