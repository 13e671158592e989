/*
** The integrals of paired.c where the likelihood is no sharper in rho than ten thousand
** questions make it, or a million with no pair, or few, in one of the cells: the same
** posterior, on grids that do not depend on the data but for their steps.  paired.c has the
** model, and I.
**
** A line of constant delta is walked by EV_LANES positions at a time, one a lane.
**
**   position   a score s, and t = c sinh(s/c): low and high are shares of the line by a
**              logistic of an odd cubic in t that is within 2e-4 of the normal
**              distribution.  The trapezoid rule in s, at whole steps from s = 0, where low
**              and high are equal: as rho nears -1, I is the lesser of the two, and bends
**              there.
**   rates      dI/dx at nodes whose step is ln 2 / 8: e^2x doubles every four nodes, so that
**              1 - exp(-s2 e^2x) is had from that four nodes before as u(2 - u), and
**              likewise 1 - exp(-d2 e^-2x), downward.  No exponential is taken.  Where the
**              likelihood is too sharp for that step, it is a half or a quarter of it.
**   I          at a node, or half way between two, is the sum of the rates up to there and
**              a correction by odd differences of them, as Gregory's.
**   rho        the trapezoid rule at every so manyth half node.  The likelihood is a product
**              of whole powers, by repeated squaring: no logarithm is taken.
**
** On one grid for all lines the sums are smooth functions of delta even where they are not
** yet the integrals; so the step along the lines need only suit a line as well as the line
** matters.
**
** References:
**   Wichura, Applied Statistics 37 (1988) 477-484: AS 241, the normal deviate.
**   Hildebrand, Introduction to Numerical Analysis, 1974, 5.8: Gregory's formula.
*/
#include "paired_few.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_math.h>

/* What ln of the likelihood may change by I before it is taken for 0. */
static const double FEW_NO_I = 1e-10;

/* What of I, relative to that of independent models, is taken for 0. */
static const double FEW_LEAST_I = 1e-11;

/* What is left out of a line, relative to its largest term; and while its step is chosen,
** which asks for errors that are smaller.  With 1e-10 throughout bounds are the same to
** 1e-10. */
static const double FEW_DROP = 5e-9, FEW_FIT_DROP = 1e-11;

/* The cubic of the score. */
static const double FEW_SCORE = 1.5976, FEW_CUBIC = 0.07056;

/* How soon steps lengthen away from s = 0, c: any bend from 1 to 3 takes about as many
** positions where a line is as wide as that.  Where it is narrow and about the middle, as with
** no pair that both or neither had right, it falls off there as exp(-|t|), and takes 3 times as
** many with the longest bend as with one of some standard deviations. */
static const double FEW_BEND = 1.4, FEW_BEND_SDS = 4;

/* Lines may be so far out that all of their terms are 0, while the ends are sought; more of them
** than this mean that a line is so narrow that it is missed from where another peaked. */
enum { FEW_LOST = 4 };

/* The longest step in s, and that of the first line that the step is fitted to, in standard
** deviations as guessed. */
static const double FEW_LONGEST_STEP = 0.6, FEW_FIRST_STEP = 0.4;

/* ln of the error of a line's sum that is wished, as far out as the density, relative to its
** peak and in logarithms, is this much more than the tail that is asked about; farther out,
** relative to that density.  Of 2,500 random tables bounds were within 2.1e-9; with -20 and
** 1.5 of some within 2e-7, at a level of 0.999999. */
static const double FEW_LN_STEP_ERROR = -22, FEW_LN_TAIL_DENSITY = -1;

/* A pair of thetas in each lane. */
typedef struct few_pairs {
  ev_lanes low, high; /* distances of the pair from the ends of its line */
  ev_lanes weight;    /* of the position */
  ev_lanes d2, s2;    /* (mu_A - mu_B)^2 / 8 and (mu_A + mu_B)^2 / 8 */
} few_pairs;

/* dI/dx at the nodes, times their step and without exp(-d2 - s2); and its sums. */
typedef struct few_rates {
  ev_lanes rate[FEW_NODES], sum[FEW_NODES];
  ev_lanes begin, height; /* I is the one and the other times the integral of the rates */
  ev_lanes least;         /* below which I is its rounding */
} few_rates;

EV_INLINE double few_larger(double a, double b) {
  return a > b ? a : b;
}

EV_INLINE double most_of_lanes(const ev_lanes *x) {
  return few_larger(few_larger((*x)[0], (*x)[1]), few_larger((*x)[2], (*x)[3]));
}

/*
** Positions
*/

/* The quotient of two polynomials in r, the coefficients from the lowest on. */
EV_INLINE void few_quotient(const ev_lanes *r, const double c[2][8], ev_lanes *out) {
  ev_lanes over = (ev_lanes){0} + c[0][7], under = (ev_lanes){0} + c[1][7];
#pragma GCC unroll 8
  for (int i = 6; i >= 0; i--) {
    over = over * *r + c[0][i];
    under = under * *r + c[1][i];
  }
  *out = over / under;
}

static const double few_central[2][8] = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
     1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
     3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
     2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
     5.2264952788528545610e+3}};
static const double few_tail[2][8] = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
static const double few_far_tail[2][8] = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

/* Minus the normal deviate of a share of less than 0.075. */
EV_INLINE void few_tail_deviate(const ev_lanes *share, ev_lanes *out) {
  ev_lanes root = *share, r, far;
  ev_log(&root, 1);
  for (int i = 0; i < EV_LANES; i++) root[i] = sqrt(-root[i]);
  r = root - 1.6;
  few_quotient(&r, few_tail, out);
  if (most_of_lanes(&root) <= 5) return;
  ev_bits is_far = (ev_bits)(root > 5);
  r = root - 5;
  few_quotient(&r, few_far_tail, &far);
  ev_choose(&is_far, &far, out, out);
}

/* The normal deviate of the share p, q being 1 - p. */
EV_INLINE void few_deviate(const ev_lanes *p, const ev_lanes *q, ev_lanes *out) {
  ev_lanes off = (*p - *q) / 2, r = 0.180625 - off * off, lesser, tail;
  few_quotient(&r, few_central, out);
  *out *= off;
  ev_bits in_tail = (ev_bits)(r < 0), below = (ev_bits)(off < 0);
  if (!(in_tail[0] | in_tail[1] | in_tail[2] | in_tail[3])) return;
  ev_choose(&below, p, q, &lesser);
  few_tail_deviate(&lesser, &tail);
  ev_lanes negative = -tail;
  ev_choose(&below, &negative, &tail, &tail);
  ev_choose(&in_tail, &tail, out, out);
}

/* The pairs at the scores s on the line of |delta| = d, the steps lengthening by a bend. */
EV_INLINE void few_pairs_at(const ev_lanes *s, double bend, double d, double length, few_pairs *p) {
  ev_lanes up = *s / bend, lesser, greater;
  ev_exp(&up, 1);
  ev_lanes t = (up - 1 / up) * (bend / 2), by_s = (up + 1 / up) / 2, t2 = t * t;
  ev_lanes e = -t * (FEW_SCORE + FEW_CUBIC * t2);
  ev_exp(&e, 1);
  ev_lanes share = 1 / (1 + e), rest = e * share;
  p->weight = share * rest * (FEW_SCORE + 3 * FEW_CUBIC * t2) * by_s;
  p->low = length * share;
  p->high = length * rest;
  ev_lanes above_low = p->high + d, above_high = p->low + d;
  few_deviate(&p->low, &above_low, &lesser);
  few_deviate(&above_high, &p->high, &greater);
  p->d2 = (greater - lesser) * (greater - lesser) / 8;
  p->s2 = (greater + lesser) * (greater + lesser) / 8;
}

/*
** I along rho
*/

/* Makes 1 - e^-a of a, by its series, once a is halved until it is small. */
EV_INLINE void few_complements(ev_lanes *a, int octave) {
  double most = few_larger(most_of_lanes(&a[0]), most_of_lanes(&a[octave - 1])), half = 1;
  int halvings = 0;
  for (; most * half > 0.25; halvings++) half /= 2;
#pragma GCC unroll 4
  for (int i = 0; i < octave; i++) {
    ev_lanes x = a[i] * half, series = 1 - x * (1.0 / 10);
#pragma GCC unroll 8
    for (int k = 9; k > 1; k--) series = 1 - x * (1.0 / k) * series;
    a[i] = x * series;
  }
  for (; halvings > 0; halvings--)
#pragma GCC unroll 4
    for (int i = 0; i < octave; i++) a[i] *= 2 - a[i];
}

/* The rates at the nodes from one up to another, whole octaves of so many of them. */
EV_INLINE void few_rates_by_octaves(const ev_paired_few *f, const few_pairs *p, int from, int to,
                                    int octave, few_rates *r) {
  ev_lanes u[FEW_MOST_OCTAVE], v[FEW_MOST_OCTAVE], sum = {0};
  assert(octave > 0 && octave <= FEW_MOST_OCTAVE);
  for (int i = 0; i < octave; i++) {
    u[i] = p->s2 * f->square[from + i];
    v[i] = p->d2 / f->square[to - octave + i];
  }
  few_complements(u, octave);
  few_complements(v, octave);
  for (int k = to - octave; k >= from; k -= octave)
#pragma GCC unroll 4
    for (int i = 0; i < octave; i++) {
      r->rate[k + i] = (1 - v[i]) * f->factor[k + i];
      v[i] *= 2 - v[i];
    }
  for (int k = from; k < to; k += octave)
#pragma GCC unroll 4
    for (int i = 0; i < octave; i++) {
      r->rate[k + i] *= 1 - u[i];
      sum += r->rate[k + i];
      r->sum[k + i] = sum;
      u[i] *= 2 - u[i];
    }
}

/* Compiled once for the octave that is nearly always the one, which then needs no memory. */
EV_INLINE void few_rates_between(const ev_paired_few *f, const few_pairs *p, int from, int to,
                                 few_rates *r) {
  if (f->octave == FEW_OCTAVE)
    few_rates_by_octaves(f, p, from, to, FEW_OCTAVE, r);
  else
    few_rates_by_octaves(f, p, from, to, f->octave, r);
}

/* What an integral up to a node, or to half way to the next, is beyond the sum up to there,
** half of the last value in the first case: these times the differences of the values
** equally far on either side.  They are right for polynomials up to degree 12.  The rates'
** integral is within 1e-10 of their largest, mostly. */
enum { FEW_DIFFERENCES = 6 };
static const double few_to_node[FEW_DIFFERENCES] = {
    -0.075232409136737013721, 0.025394303871718926282,    -0.0076722338511876375633,
    0.0017393660399406100464, -0.00025392974399877508343, 0.000017670140071140401828};
static const double few_to_half[FEW_DIFFERENCES] = {
    0.058663459455945434814,    -0.0076515397264337989513,  0.0015078622384041639858,
    -0.00026452902283724173773, 0.000032456388271135349844, -1.9899215070652006158e-6};

EV_INLINE void few_integral(const few_rates *r, int half_node, ev_lanes *out) {
  int k = half_node / 2;
  const ev_lanes *at = &r->rate[k];
  if (half_node % 2) {
    *out = r->sum[k];
#pragma GCC unroll 6
    for (int i = 0; i < FEW_DIFFERENCES; i++) *out += few_to_half[i] * (at[1 + i] - at[-i]);
  } else {
    *out = r->sum[k] - 0.5 * at[0];
#pragma GCC unroll 6
    for (int i = 0; i < FEW_DIFFERENCES; i++) *out += few_to_node[i] * (at[1 + i] - at[-1 - i]);
  }
}

/* The node at or below the first point of a chunk. */
static int node_of_chunk(const ev_paired_few *f, int chunk) {
  return (f->first + chunk * FEW_CHUNK * f->stride) / 2;
}

/* Rates for the chunks from one to another; at x = 0 I is low * high. */
EV_INLINE void few_rates_for(const ev_paired_few *f, const few_pairs *p, int low, int high,
                             few_rates *r) {
  int from = node_of_chunk(f, low), to = node_of_chunk(f, high + 1);
  from = (from < f->zero ? from : f->zero) - FEW_DIFFERENCES;
  to = (to > f->zero ? to : f->zero) + FEW_DIFFERENCES + 2;
  to += (f->octave - (to - from) % f->octave) % f->octave;
  few_rates_between(f, p, from, to, r);
  ev_lanes to_zero;
  few_integral(r, 2 * f->zero, &to_zero);
  r->height = -p->d2 - p->s2;
  ev_exp(&r->height, 1);
  r->begin = p->low * p->high - r->height * to_zero;
  r->least = FEW_LEAST_I * p->low * p->high;
}

/*
** The sum over rho
*/

/* A factor that squares the product of those before; others are cells. */
enum { FEW_SQUARED = 4, FEW_END = 5 };

/* Makes 0 of what is below the least. */
EV_INLINE void few_at_least_0(ev_lanes *x, const ev_lanes *least) {
  *x = (ev_lanes)((ev_bits)*x & (ev_bits)(*x > *least));
}

/* The likelihood times the prior at the points of a chunk, and I at the first. */
EV_INLINE void terms_of_chunk(const ev_paired_few *f, const few_pairs *p, const few_rates *r,
                              double d, bool a_ahead, int chunk, ev_lanes term[FEW_CHUNK],
                              ev_lanes *first_I) {
  const double *prior = &f->prior[chunk * FEW_CHUNK];
  int half_node = f->first + chunk * FEW_CHUNK * f->stride;
  ev_lanes cell[4][FEW_CHUNK], product[FEW_CHUNK], *scaled = cell[f->scaled[a_ahead]];
#pragma GCC unroll 4
  for (int i = 0; i < FEW_CHUNK; i++, half_node += f->stride) {
    ev_lanes I;
    few_integral(r, half_node, &I);
    I = r->begin + r->height * I;
    few_at_least_0(&I, &r->least);
    cell[0][i] = p->low - I;
    cell[1][i] = p->high - I;
    cell[2][i] = d + I;
    cell[3][i] = I;
    product[i] = (ev_lanes){1, 1, 1, 1};
  }
  *first_I = cell[3][0];
#pragma GCC unroll 4
  for (int i = 0; i < FEW_CHUNK; i++) scaled[i] *= f->scale;
  for (const int *factor = f->factors[a_ahead]; *factor != FEW_END; factor++) {
    if (*factor == FEW_SQUARED)
#pragma GCC unroll 4
      for (int i = 0; i < FEW_CHUNK; i++) product[i] *= product[i];
    else
#pragma GCC unroll 4
      for (int i = 0; i < FEW_CHUNK; i++) product[i] *= cell[*factor][i];
  }
#pragma GCC unroll 4
  for (int i = 0; i < FEW_CHUNK; i++) term[i] = product[i] * prior[i];
}

/* A line, and what was summed of it. */
typedef struct few_line {
  double delta, length;
  double origin;   /* blocks from s = 0 to the first that may be walked */
  double most;     /* the largest term along it so far */
  int first, last; /* blocks that were walked */
  few_place peak;
  ev_lanes term[FEW_BLOCKS];
} few_line;

/* The sum over x at a block of positions, and the chunk at which it peaked. */
typedef struct few_sum {
  ev_lanes total;
  bool I_may_vanish; /* no pair has to be explained by I; */
  ev_lanes by_I;     /* how much ln of the likelihood changes by it */
  double most, negligible;
  int peak, low, high;
} few_sum;

/* Whether I has become too small, in every lane, to change the likelihood. */
EV_INLINE bool few_without_I(const few_sum *sum, const ev_lanes *I) {
  ev_lanes change = *I * sum->by_I, square = change * change;
  return sum->I_may_vanish && most_of_lanes(&square) < FEW_NO_I * FEW_NO_I;
}

/* Adds a chunk.  Says whether to walk on, up or down.  Where no pair has to be explained by I
** and it has become too small to matter, only the prior changes from there on down, and its
** sum is known. */
EV_INLINE bool few_add(const ev_paired_few *f, const few_line *l, const few_pairs *p,
                       const few_rates *r, int chunk, bool up, few_sum *sum) {
  ev_lanes term[FEW_CHUNK], I;
  terms_of_chunk(f, p, r, fabs(l->delta), l->delta > 0, chunk, term, &I);
  ev_lanes part = (term[0] + term[1]) + (term[2] + term[3]);
  bool ended = !up && few_without_I(sum, &I);
  if (ended) part += term[0] * f->below[chunk];
  sum->total += part;
  double here = most_of_lanes(&part), first = most_of_lanes(&term[up ? 0 : FEW_CHUNK - 1]),
         last = most_of_lanes(&term[up ? FEW_CHUNK - 1 : 0]);
  if (here > sum->most) {
    sum->most = here;
    sum->peak = chunk;
  }
  bool rising = sum->peak == chunk && last >= first;
  return !ended && (rising || last > few_larger(sum->negligible, f->drop * sum->most));
}

/* Walks both ways from where the last block peaked, within the chunks from one to another,
** and says whether either was too near. */
EV_INLINE bool few_walk_over_rho(const ev_paired_few *f, const few_line *l, const few_pairs *p,
                                 const few_rates *r, int low, int high, few_sum *sum) {
  bool on = true;
  sum->total = (ev_lanes){0};
  sum->most = 0;
  sum->low = sum->high = sum->peak = f->at.chunk;
  for (int k = f->at.chunk; k <= high && on; k++) {
    on = few_add(f, l, p, r, k, true, sum);
    sum->high = k;
  }
  if (on) {
    sum->high++;
    return false;
  }
  on = true;
  for (int k = f->at.chunk - 1; k >= low && on; k--) {
    on = few_add(f, l, p, r, k, false, sum);
    sum->low = k;
  }
  if (on) sum->low--;
  return !on;
}

EV_INLINE void set_by_I(const ev_paired_few *f, const few_line *l, const few_pairs *p,
                        few_sum *sum) {
  const double *counts = f->counts[l->delta > 0];
  sum->I_may_vanish = counts[3] == 0;
  sum->by_I = counts[0] / p->low + counts[1] / p->high + counts[2] / fabs(l->delta);
}

/* The terms of a block of positions: the sums over x, weighted. */
EV_WIDE static void few_block(ev_paired_few *f, few_line *l, int block) {
  few_pairs p;
  few_rates r;
  few_sum sum;
  double s = (l->origin + block) * EV_LANES * f->step;
  ev_lanes score = {s, s + f->step, s + 2 * f->step, s + 3 * f->step};
  few_pairs_at(&score, f->bend, fabs(l->delta), l->length, &p);
  set_by_I(f, l, &p, &sum);
  sum.negligible = f->drop * l->most / most_of_lanes(&p.weight);
  for (;;) {
    few_rates_for(f, &p, f->at.low, f->at.high, &r);
    bool ended = few_walk_over_rho(f, l, &p, &r, f->at.low, f->at.high, &sum);
    if (ended) break;
    f->at.low = sum.low < f->at.low ? sum.low : f->at.low;
    f->at.high = sum.high > f->at.high ? sum.high : f->at.high;
    f->failed |= f->at.low < 0 || f->at.high >= f->chunks;
    if (f->failed) break;
  }
  f->at.chunk = sum.peak;
  l->peak.low = sum.low < l->peak.low ? sum.low : l->peak.low;
  l->peak.high = sum.high > l->peak.high ? sum.high : l->peak.high;
  l->term[block] = sum.total * p.weight;
}

/*
** The integral along a line
*/

/* Adds blocks in one direction, beginning with one, until nothing is left. */
static void few_walk(ev_paired_few *f, few_line *l, int block, int by) {
  const int outer = by > 0 ? EV_LANES - 1 : 0;
  for (bool on = true; on && !f->failed; block += by) {
    f->failed |= block < 0 || block >= FEW_BLOCKS;
    if (f->failed) break;
    few_block(f, l, block);
    l->first = block < l->first ? block : l->first;
    l->last = block > l->last ? block : l->last;
    double most = most_of_lanes(&l->term[block]);
    if (most > l->most) {
      l->most = most;
      l->peak.score = (l->origin + block + 0.5) * EV_LANES * f->step;
      l->peak.chunk = f->at.chunk;
    }
    on = l->term[block][outer] > f->drop * l->most;
  }
}

static int kept_places(const ev_paired_few *f) {
  return f->lines < FEW_PLACES ? f->lines : FEW_PLACES;
}

static void few_begin_near(ev_paired_few *f, double z) {
  for (int i = 0; i < kept_places(f); i++)
    if (fabs(f->walked[i].z - z) < fabs(f->at.z - z)) f->at = f->walked[i];
}

/* ln of the density of z = atanh delta, and the terms that it is the sum of. */
static double few_ln_on_line(ev_paired_few *f, double z, few_line *l) {
  few_begin_near(f, z);
  const int start = FEW_BLOCKS / 2;
  l->origin = floor(f->at.score / (EV_LANES * f->step)) - start;
  l->delta = tanh(z);
  l->length = 2 / (1 + exp(2 * fabs(z)));
  l->most = 0;
  l->first = l->last = start;
  l->peak = f->at;
  l->peak.z = z;
  l->peak.low = l->peak.high = f->at.chunk;
  few_walk(f, l, start, 1);
  f->at.chunk = l->peak.chunk;
  few_walk(f, l, start - 1, -1);
  f->lost += l->most == 0;
  f->failed |= f->lost > FEW_LOST;
  if (f->failed) return NAN;
  ev_lanes sum = {0};
  for (int b = l->first; b <= l->last; b++) sum += l->term[b];
  double by_z = l->length * (1 + fabs(l->delta));
  l->peak.ln = log(ev_sum(&sum) * f->step * l->length * by_z) + f->ln_scale;
  f->at = f->walked[f->lines++ % FEW_PLACES] = l->peak;
  return l->peak.ln;
}

/* Where both models have as many wins, a line is that on the other side of 0. */
double ev_paired_few_ln(double z, void *few) {
  const ev_paired_few *f = few;
  few_line l;
  if (f->symmetric)
    for (int i = 0; i < kept_places(f); i++)
      if (f->walked[i].z == -z) return f->walked[i].ln;
  return few_ln_on_line(few, z, &l);
}

/*
** The step along the lines
*/

/* ln of a line's Fourier transform at some turns a step, relative to that at none: at a turn
** of step/h it is the error of the trapezoid rule with the step h. */
enum { FEW_TURNS = 4, FEW_LONGEST_PERIOD = 5 };
static const double few_turns[FEW_TURNS] = {1.0 / 4, 1.0 / 3, 2.0 / 5, 1.0 / 2};

/* The turns' cosines and sines after so many steps, written out: some compilers compute them,
** to another last digit than libm. */
static const int few_period[FEW_TURNS] = {4, 3, 5, 2};
static const double few_cosine[FEW_TURNS][FEW_LONGEST_PERIOD] = {
    {1, 0, -1, 0},
    {1, -0.5, -0.5},
    {1, -0.80901699437494742, 0.30901699437494742, 0.30901699437494742, -0.80901699437494742},
    {1, -1}};
static const double few_sine[FEW_TURNS][FEW_LONGEST_PERIOD] = {
    {0, 1, 0, -1},
    {0, 0.86602540378443865, -0.86602540378443865},
    {0, 0.58778525229247313, -0.95105651629515357, 0.95105651629515357, -0.58778525229247313},
    {0, 0}};

static void few_transform(const few_line *l, double ln[FEW_TURNS]) {
  double x[FEW_TURNS] = {0}, y[FEW_TURNS] = {0}, sum = 0;
  for (int j = l->first * EV_LANES; j < (l->last + 1) * EV_LANES; j++) {
    double term = l->term[j / EV_LANES][j % EV_LANES];
    sum += term;
    for (int t = 0; t < FEW_TURNS; t++) {
      x[t] += term * few_cosine[t][j % few_period[t]];
      y[t] += term * few_sine[t][j % few_period[t]];
    }
  }
  for (int t = 0; t < FEW_TURNS; t++) ln[t] = log(fmax(1e-15, hypot(x[t], y[t]) / sum));
}

/* The longest step with which a line's error is as wished, as a multiple of the step that it
** was walked with; less than 2 where that is itself too long. */
static double few_suitable(const double ln[FEW_TURNS], double wished) {
  int t = 0;
  while (t < FEW_TURNS && ln[t] > wished) t++;
  if (t == 0) return 1 / few_turns[0];
  if (t == FEW_TURNS) return 1.2;
  double share = (ln[t - 1] - wished) / (ln[t - 1] - ln[t]);
  return 1 / (few_turns[t - 1] + (few_turns[t] - few_turns[t - 1]) * share);
}

/* The next shorter of 32 steps to a doubling: a transform is near its rounding, which would
** sway every digit of the step. */
static double few_settled(double step) {
  int exponent;
  double part = frexp(step, &exponent);
  return ldexp(floor(part * 64) / 64, exponent);
}

/* What lines take: each is walked by steps that are shortened until one of twice them will
** do for it. */
typedef struct few_fit {
  double ln_tail, highest; /* the highest ln of a line so far */
  double step, longest;    /* to walk by, and that suits all so far */
} few_fit;

enum { FEW_FITS = 12 };

/* Fits a line; gives how far, in logarithms, it is below the highest. */
static double few_fit_line(ev_paired_few *f, double z, few_fit *fit) {
  few_line l;
  double times = 0, below = 0;
  for (int i = 0; i < FEW_FITS && times < 2 && !f->failed; i++) {
    double transform[FEW_TURNS];
    f->step = fit->step;
    double here = few_ln_on_line(f, z, &l);
    if (f->failed) break; /* and the line has no terms */
    fit->highest = fmax(fit->highest, here);
    below = fit->highest - here;
    few_transform(&l, transform);
    times = few_suitable(transform,
                         FEW_LN_STEP_ERROR + fmax(0, below + fit->ln_tail + FEW_LN_TAIL_DENSITY));
    if (times < 2) fit->step *= times / 2;
  }
  f->failed |= times < 2;
  fit->longest = fmin(fit->longest, times * fit->step);
  return below;
}

/* How often a line off the middle is chosen anew, where the posterior is far from normal and
** it is not as low as it was meant to be. */
enum { FEW_OFFS = 3 };

bool ev_paired_few_fit(ev_paired_few *f, double z, double off, double ln_tail) {
  few_fit fit = {ln_tail, -HUGE_VAL, FEW_FIRST_STEP * f->step, FEW_LONGEST_STEP};
  f->drop = FEW_FIT_DROP;
  few_fit_line(f, z, &fit);
  for (int side = -1; side <= (f->symmetric ? -1 : 1); side += 2) {
    double share = 1;
    for (int i = 0; i < FEW_OFFS && !f->failed; i++) {
      double by = few_fit_line(f, z + side * share * off, &fit) / -ln_tail;
      if (by > 0.6 && by < 1.4) break;
      share *= fmax(0.4, fmin(1.6, 1 / sqrt(fmax(by, 0.1))));
    }
  }
  f->step = few_settled(fit.longest);
  f->drop = FEW_DROP;
  f->lines = 0;
  return !f->failed;
}

/*
** Setting up
*/

/* The cells' powers as squarings and factors, from the highest bit of the counts on. */
static void few_set_factors(const double counts[4], int *factor) {
  const int bits[] = {(int)counts[0], (int)counts[1], (int)counts[2], (int)counts[3]};
  int all = bits[0] | bits[1] | bits[2] | bits[3], bit = 1;
  while (2 * bit <= all) bit *= 2;
  for (bool first = true; bit > 0; bit /= 2, first = false) {
    if (!first) *factor++ = FEW_SQUARED;
    for (int i = 0; i < 4; i++)
      if (bits[i] & bit) *factor++ = i;
  }
  *factor = FEW_END;
}

static void few_set_likelihood(ev_paired_few *f, const double *c) {
  const double n = c[0] + c[1] + c[2] + c[3];
  double ln = 0, most = 0;
  for (int a_ahead = 0; a_ahead < 2; a_ahead++) {
    const double counts[] = {c[0], c[3], c[a_ahead ? 1 : 2], c[a_ahead ? 2 : 1]};
    memcpy(f->counts[a_ahead], counts, sizeof counts);
    few_set_factors(counts, f->factors[a_ahead]);
    f->scaled[a_ahead] = 0;
    for (int i = 1; i < 4; i++)
      if (counts[i] > counts[f->scaled[a_ahead]]) f->scaled[a_ahead] = i;
  }
  for (int i = 0; i < 4; i++) {
    ln += c[i] * log((c[i] + 1) / (n + 4));
    most = fmax(most, c[i]);
  }
  f->ln_scale = ln;
  f->scale = exp(-ln / most);
}

/* Nodes that rates are wanted at beyond a point, at the most. */
static int few_margin(const ev_paired_few *f) {
  return FEW_DIFFERENCES + 2 + f->octave;
}

/* The fewest nodes to an octave that leave a stride of at least half their distance; and so
** placed that x, as guessed, and 0 are as far from the ends. */
static void few_set_octave(ev_paired_few *f, double x, double x_step) {
  f->octave = FEW_OCTAVE / 2;
  do {
    f->octave *= 2;
    f->node_step = M_LN2 / (2 * f->octave);
    f->stride = (int)fmin(6, floor(2 * x_step / f->node_step));
  } while (f->stride < 1 && f->octave < FEW_MOST_OCTAVE);
  int margin = few_margin(f);
  f->zero = (int)fmax(margin, fmin(FEW_NODES - margin, FEW_ZERO + 0.5 - x / 2 / f->node_step));
}

static void few_set_nodes(ev_paired_few *f) {
  for (int k = 0; k < FEW_NODES; k++) {
    double e = exp((k - f->zero) * f->node_step);
    f->square[k] = e * e;
    f->factor[k] = f->node_step * e / (M_PI * (1 + e * e));
  }
}

/* (1+rho)^3 (1-rho) drho = e^4x / (1+e^2x)^6 dx, up to a constant. */
static void few_set_points(ev_paired_few *f, double x) {
  int ends = 2 * few_margin(f), middle = 2 * f->zero;
  double sum = 0;
  f->first = ends;
  f->chunks = (FEW_POINTS - 2 * ends) / (f->stride * FEW_CHUNK);
  for (int i = 0; i < f->chunks * FEW_CHUNK; i++) {
    double e2 = exp((f->first + i * f->stride - middle) * f->node_step);
    f->prior[i] = e2 * e2 / gsl_pow_6(1 + e2);
    if (i % FEW_CHUNK == 0) f->below[i / FEW_CHUNK] = sum / f->prior[i];
    sum += f->prior[i];
  }
  double chunk = (middle + 2 * x / f->node_step - f->first) / (f->stride * FEW_CHUNK);
  f->at.chunk = (int)fmax(1, fmin(f->chunks - 2, chunk));
  f->at.low = f->at.chunk - 1;
  f->at.high = f->at.chunk + 1;
}

/* The cubic's argument at a share. */
static double few_score(double share) {
  double logit = log(share / (1 - share)), t = 0;
  for (int i = 0; i < 20; i++)
    t -= (t * (FEW_SCORE + FEW_CUBIC * t * t) - logit) / (FEW_SCORE + 3 * FEW_CUBIC * t * t);
  return t;
}

bool ev_paired_few_set(ev_paired_few *f, const double *c, const ev_few_guess *guess) {
  double most = fmax(fmax(c[0], c[1]), fmax(c[2], c[3]));
  few_set_octave(f, guess->x, guess->x_step);
  if (most >= 2 << FEW_BITS || f->stride < 1) return false;
  few_set_likelihood(f, c);
  few_set_nodes(f);
  few_set_points(f, guess->x);
  double t = few_score(guess->share);
  f->bend = few_settled(fmin(FEW_BEND, FEW_BEND_SDS * hypot(guess->sd, t)));
  f->at.score = f->bend * asinh(t / f->bend);
  f->step = fmin(FEW_LONGEST_STEP, guess->sd / cosh(f->at.score / f->bend));
  f->drop = FEW_DROP;
  f->at.z = HUGE_VAL;
  f->lines = f->lost = 0;
  f->symmetric = c[1] == c[2];
  f->failed = false;
  return true;
}
