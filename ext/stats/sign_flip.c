/*
** The sign-flip test of paired scores.
**
** If the models do not differ, a question's difference d_i is as likely to have either sign.
** T = sum s_i d_i with fair signs s_i, and t = sum d_i is what was seen.  With X the sum of a
** random half of the |d_i|, each taken with the chance 1/2, S the sum of all and x the smaller
** of what the positive and the negative ones add up to, T = S - 2X and |t| = S - 2x.  X is
** symmetric about S/2, so
**
**     p = P(|T| > |t|) + P(|T| = |t|)/2 = 2 P(X < x) + P(X = x),
**
** which is McNemar's mid-p where all |d_i| are one.
**
**  1. Differences become sizes |d| with how often each came.  Sizes within SAME of the largest
**     are one, so that 2/3 - 1/3 is 1/3, and what is so close to 0 is no difference.
**  2. One size: ev_mid_p().
**  3. Exactly, if the tables below stay small: two sorted lists of the sums of two parts of the
**     sizes, each sum with its probability.  A size enters the shorter list: what the list has,
**     and the same with the size added, are merged, and equal sums become one.  Sums above x
**     are dropped.  If all sizes are whole multiples of a unit the lists stay as short as the
**     range of sums, which is dynamic programming; otherwise they are a meet in the middle.
**     One pass over both lists adds up the pairs with a sum up to x.  All terms are
**     positive, so that a small p keeps its digits.
**  4. Otherwise by inversion of E e^(sT) = e^K(s), K(s) = sum ln cosh(s d_i):
**
**         p = 2 (1/2 pi i) integral of e^(K(s) - s|t|) g(s)/s ds  along Re s = c > 0
**
**     by the trapezoid rule, c being the saddle point K'(c) = |t|, or further from the pole at 0.
**     g(s) = e^(-36 (s/tau)^4) ends the integral at Im s = tau: it is the transform of a symmetric
**     kernel, by which X is smeared over a few units of 1/tau, and a sum at x keeps its
**     half weight.  Where sums are multiples of a unit above 80/tau nothing is lost; otherwise
**     it depends on how evenly the sums lie about x.  Measured: 1e-8 for 41 differences without
**     a unit, half of that for every two more; 2e-6 where three sizes without a unit came
**     3,000 times each.  |e^K| has a narrow peak near every multiple of pi/d for a d that came
**     often; in between nothing is summed.  p with half of tau must agree.
**  5. Where it does not, the largest difference is taken with either sign on its own.
**
** References:
**   Fisher, The Design of Experiments (1935), section 21; Pitman, J. R. Stat. Soc. Suppl. 4
**     (1937) 119-130: the test.
**   Lancaster, J. Am. Stat. Assoc. 56 (1961) 223-234: the mid-p.
**   Horowitz and Sahni, J. ACM 21 (1974) 277-292: sums of subsets, from two lists.
**   Rice, SIAM J. Sci. Stat. Comput. 1 (1980) 438-448: a tail through the saddle point, by the
**     trapezoid rule.
*/
#include "sign_flip.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_math.h>

#include "lanes.h"
#include "mcnemar.h"

/* Of the largest difference, or of the sum of all for sums: what rounding of scores and of ten
** thousand additions stays below. */
static const double SAME = 1e-12;

typedef struct flip_size {
  double d, times, positive; /* how often it came, and how often as a positive difference */
} flip_size;

typedef struct flips {
  flip_size *sizes; /* the most frequent first */
  size_t count;
  double of, all; /* how many differences there are, and S */
  double x, t;    /* what is seen, t >= 0 */
  int tries;      /* of an inversion */
  ev_host host;
  double work; /* since the host was asked */
} flips;

/* Adds to the work done; asks the host every millisecond or so. */
static bool flips_interrupted(flips *f, double work) {
  f->work += work;
  if (f->work < 1e5) return false;
  f->work = 0;
  return f->host.interrupted && f->host.interrupted(f->host.context);
}

/*
** Sizes
*/
static int by_magnitude(const void *a, const void *b) {
  const ev_score *l = a, *r = b;
  double u = fabs(l->score), v = fabs(r->score);
  if (u != v) return u < v ? -1 : 1;
  return (l->score > r->score) - (l->score < r->score);
}

static int by_frequency(const void *a, const void *b) {
  const flip_size *l = a, *r = b;
  if (l->times != r->times) return l->times > r->times ? -1 : 1;
  return (l->d < r->d) - (l->d > r->d);
}

/* The sizes of sorted differences, in units of a power of 2 about the largest. */
static void gather_sizes(flips *f, const ev_score *sorted, size_t count) {
  int exponent;
  frexp(sorted[count - 1].score, &exponent);
  for (size_t i = 0; i < count; i++) {
    double d = ldexp(fabs(sorted[i].score), -exponent), times = sorted[i].times;
    if (d <= SAME) continue;
    if (f->count == 0 || d - f->sizes[f->count - 1].d > SAME)
      f->sizes[f->count++] = (flip_size){d, 0, 0};
    flip_size *last = &f->sizes[f->count - 1];
    last->times += times;
    last->positive += sorted[i].score > 0 ? times : 0;
  }
}

/* From the sizes, not from rows, so that it is the same for differences that come apart. */
static void sum_sides(flips *f) {
  double positive = 0, negative = 0;
  for (size_t i = 0; i < f->count; i++) {
    const flip_size *s = &f->sizes[i];
    positive += s->d * s->positive;
    negative += s->d * (s->times - s->positive);
    f->of += s->times;
  }
  f->t = fabs(positive - negative);
  f->all = positive + negative;
  qsort(f->sizes, f->count, sizeof *f->sizes, by_frequency);
}

/*
** Exactly
*/
typedef struct flip_sum {
  double at, p;
} flip_sum;

typedef struct flip_sums {
  flip_sum *list; /* ascending */
  size_t count, room;
  bool apart; /* no two sums were equal */
} flip_sums;

/* A list may double once more, to 2^20 sums of 16 bytes: either half of 40 differences has so
** many if they have no unit. */
enum { MOST_SUMS = 1 << 19 };
static const double MOST_PAIRS = 0x1p40, MOST_CELLS = 1e7; /* 0.1 s */

/* A list so long without two equal sums will never have many. */
enum { TELLING_SUMS = 1 << 13 };

/* A size that came more often begins a list by its binomial distribution. */
static const double OFTEN = 100;

/* Probabilities are kept times 2^500 in either list: those of more than 1,000 differences would
** underflow. */
enum { SUM_SCALE = 500 };

static ev_status begin_sums(flip_sums *s) {
  s->room = 64;
  s->list = malloc(s->room * sizeof *s->list);
  if (!s->list) return EV_NO_MEMORY;
  s->list[0] = (flip_sum){0, ldexp(1, SUM_SCALE)};
  s->count = 1;
  s->apart = true;
  return EV_OK;
}

static ev_status room_to_double(flip_sums *s) {
  if (2 * s->count <= s->room) return EV_OK;
  flip_sum *list = realloc(s->list, 2 * s->room * sizeof *list);
  if (!list) return EV_NO_MEMORY;
  s->list = list;
  s->room *= 2;
  return EV_OK;
}

/* The sums without and with d, those up to `most`; merged from the top down, in place. */
static void add_size(flip_sums *s, double d, double most, double same) {
  size_t with = s->count, without = with, to = 2 * with, end;
  flip_sum *list = s->list;
  while (with && list[with - 1].at + d > most) with--, to--;
  for (end = to; without; to--) {
    double above = with ? list[with - 1].at + d - list[without - 1].at : -INFINITY;
    flip_sum next =
        above > same ? (flip_sum){list[with - 1].at + d, list[with - 1].p} : list[without - 1];
    if (fabs(above) <= same) next.p += list[with - 1].p, s->apart = false;
    without -= above <= same;
    with -= above >= -same;
    next.p /= 2;
    list[to - 1] = next;
  }
  s->count = end - to;
  for (size_t i = 0; to && i < s->count; i++) list[i] = list[to + i];
}

/* A size that came often, into a list of the sum 0 alone: k d with the binomial probability of
** k, as ratios outward from the middle, whose sum is 1.  Beyond 20 sqrt(times), which is 40
** standard deviations, p underflows. */
static ev_status start_with(flip_sums *s, double d, double times, double most) {
  double middle = floor(times / 2), steps = fmin(middle, ceil(20 * sqrt(times))), total = 1;
  double least = middle - steps, last = fmin(times, middle + steps + 1), start = s->list[0].p;
  if (last - least >= 2 * MOST_SUMS) return EV_TOO_LARGE;
  size_t count = (size_t)(last - least) + 1, at = (size_t)steps;
  flip_sum *list = realloc(s->list, count * sizeof *list);
  if (!list) return EV_NO_MEMORY;
  s->list = list;
  s->room = s->count = count;
  list[at].p = 1;
  for (size_t i = at; i > 0; i--) {
    double k = least + (double)i;
    total += list[i - 1].p = list[i].p * k / (times - k + 1);
  }
  for (size_t i = at + 1; i < count; i++) {
    double k = least + (double)i;
    total += list[i].p = list[i - 1].p * (times - k + 1) / k;
  }
  for (size_t i = 0; i < count; i++)
    list[i] = (flip_sum){(least + (double)i) * d, list[i].p / total * start};
  while (s->count > 1 && list[s->count - 1].at > most) s->count--;
  if (list[0].at > most) list[0] = (flip_sum){0, 0};
  return EV_OK;
}

/* 2 P(X < x) + P(X = x) of the sum of both; b's probabilities are added up first. */
static double mid_p_of(const flip_sums *a, flip_sums *b, double x, double same) {
  double total = 0;
  for (size_t i = 1; i < b->count; i++) b->list[i].p += b->list[i - 1].p;
  size_t below = b->count, up_to = below;
  for (size_t i = 0; i < a->count; i++) {
    double left = x - a->list[i].at;
    while (up_to && b->list[up_to - 1].at > left + same) up_to--;
    while (below && b->list[below - 1].at >= left - same) below--;
    if (!up_to) break;
    total += a->list[i].p * (b->list[up_to - 1].p + (below ? b->list[below - 1].p : 0));
  }
  return total;
}

/* Whether the lists will be too long, `left` differences being left. */
static bool too_long(const flip_sums *l, const flip_sums lists[2], double cells, double left) {
  double shorter = fmin((double)lists[0].count, (double)lists[1].count);
  double pairs = (double)lists[0].count * (double)lists[1].count * exp2(left);
  if (l->apart && l->count >= TELLING_SUMS && pairs > MOST_PAIRS) return true;
  return l->count > MOST_SUMS || cells + left * shorter > MOST_CELLS;
}

/* All sizes into the lists; EV_TOO_LARGE where these would be too long. */
static ev_status fill_sums(flips *f, flip_sums lists[2], double same, double *unused) {
  double cells = 0, left = f->of;
  for (size_t i = 0; i < f->count; i++) {
    flip_size s = f->sizes[i];
    flip_sums *l = &lists[lists[1].count < lists[0].count];
    bool used = s.d <= f->x + same;
    left -= used ? 0 : s.times;
    *unused += used ? 0 : s.times;
    if (used && s.times > OFTEN && l->count == 1) {
      ev_status status = start_with(l, s.d, s.times, f->x + same);
      if (status != EV_OK) return status;
      left -= s.times;
      used = false;
    }
    for (double k = 0; used && k < s.times; k++, left--) {
      cells += (double)l->count;
      if (too_long(l, lists, cells, left)) return EV_TOO_LARGE;
      ev_status status = room_to_double(l);
      if (status != EV_OK) return status;
      if (flips_interrupted(f, (double)l->count)) return EV_INTERRUPTED;
      add_size(l, s.d, f->x + same, same);
    }
  }
  return EV_OK;
}

static ev_status exact_p(flips *f, double *p) {
  flip_sums lists[2] = {{.list = NULL}, {.list = NULL}};
  double same = SAME * f->all, unused = 0;
  ev_status status = begin_sums(&lists[0]);
  if (status == EV_OK) status = begin_sums(&lists[1]);
  if (status == EV_OK) status = fill_sums(f, lists, same, &unused);
  if (status == EV_OK)
    *p =
        ldexp(mid_p_of(&lists[0], &lists[1], f->x, same), -2 * SUM_SCALE - (int)fmin(unused, 5000));
  free(lists[0].list);
  free(lists[1].list);
  return status;
}

/*
** By inversion
*/

/* e^-NOTHING of the integrand's peak is not summed: 5e-15. */
static const double NOTHING = 33, NOTHING_SQUARED = 2e-29;

/* So many factors cosh are multiplied at the most, some 10 ms, but at this many nodes at least,
** with which the kernel is off by 1e-11 on a normal distribution. */
static const double MOST_FACTORS = 3e6, LEAST_NODES = 4000;

/* Im s times the largest d: beyond it the rounding of Im s |t| would tell. */
static const double MOST_ANGLE = 1e4;

/* On a path at c, signs of a difference with cd above this are all but surely positive. */
static const double SURE = 20;

typedef struct flip_factor {
  double d, times, th, sech2; /* tanh(cd), 1/cosh(cd)^2 */
} flip_factor;

typedef struct inversion {
  flips *f;
  flip_factor *factors;     /* of the sizes that are not sure */
  size_t count, powers;     /* the first so many came more than once */
  double c, K, variance, t; /* on the path: Re s, K(c), K''(c), and |t| less what is sure */
  double largest;           /* size that is not sure */
} inversion;

static double ln_cosh(double y) {
  return y < 0.5 ? log1p(gsl_pow_2(sinh(y))) / 2 : y - M_LN2 + log1p(exp(-2 * y));
}

/* Puts the path at c, and gives K'(c). */
static double set_flip_path(inversion *v, double c) {
  double slope = 0;
  v->c = c;
  v->K = v->variance = 0;
  v->count = v->powers = 0;
  v->t = v->f->t;
  v->largest = 0;
  for (size_t i = 0; i < v->f->count; i++) {
    double d = v->f->sizes[i].d, times = v->f->sizes[i].times;
    double th = tanh(c * d), sech2 = gsl_pow_2(1 / cosh(fmin(c * d, 300)));
    v->K += times * ln_cosh(c * d);
    v->variance += times * d * d * sech2;
    slope += times * d * th;
    if (c * d > SURE) {
      v->t -= times * d;
      continue;
    }
    v->largest = fmax(v->largest, d);
    v->factors[v->count++] = (flip_factor){d, times, th, sech2};
    if (times > 1) v->powers++;
  }
  return slope;
}

/* e^(K(c) - c|t|) is a bound of p for every c: at less than this p underflows. */
static const double LEAST_LN_PEAK = -750;

/* To where K' is |t|, from below: K' is concave there, so that Newton's steps never pass it.  Then
** away from the pole at 0, by two standard deviations of s, as long as the integrand's peak does
** not grow by more than e^3. */
static ev_status find_flip_path(inversion *v) {
  double slope = set_flip_path(v, 0), sd = sqrt(v->variance);
  for (int i = 0; i < 100; i++) {
    double step = (v->f->t - slope) / v->variance;
    if (v->K - v->c * v->f->t < LEAST_LN_PEAK || !(step > 1e-6 * v->c)) break;
    if (flips_interrupted(v->f, 50 * (double)v->f->count)) return EV_INTERRUPTED;
    slope = set_flip_path(v, v->c + step);
  }
  double ln_peak = v->K - v->c * v->f->t;
  while (v->c * sqrt(v->variance) < 2 && v->K - v->c * v->f->t < ln_peak + 3) {
    if (flips_interrupted(v->f, 50 * (double)v->f->count)) return EV_INTERRUPTED;
    set_flip_path(v, fmax(1.5 * v->c, 1 / sd));
  }
  return EV_OK;
}

static bool all_below(const ev_lanes *x, double most) {
  return (*x)[0] < most && (*x)[1] < most && (*x)[2] < most && (*x)[3] < most;
}

/* At s = c + iy, four y at a time, the product of (cosh(sd)/cosh(cd))^times: as a logarithm, an
** angle and a sign, since -1 to the power of 10^15 has no digits left as an angle.  Stops
** where it is e^-NOTHING or less. */
EV_WIDE static void multiply_powers(const flip_factor *q, size_t count, const ev_lanes *y,
                                    ev_lanes *ln, ev_lanes *angle, ev_lanes *sign) {
  for (size_t i = 0; i < count && !all_below(ln, -NOTHING); i++, q++) {
    ev_lanes at = *y * q->d, re, si, im, w, other;
    ev_turn(&at, &re, &si);
    im = q->th * si;
    w = -q->sech2 * si * si;
    ev_bits left = (ev_bits)(re < 0);
    other = -re, ev_choose(&left, &other, &re, &re);
    other = -im, ev_choose(&left, &other, &im, &im);
    if (fmod(q->times, 2) == 1) other = -*sign, ev_choose(&left, &other, sign, sign);
    ev_at_least(&w, -1 + DBL_EPSILON);
    ev_log1p(&w, 1);
    ev_angle(&re, &im, &at);
    *ln += q->times / 2 * w;
    *angle += q->times * at;
  }
}

/* Likewise of those that came once, times (a + ib). */
EV_WIDE static void multiply_single(const flip_factor *q, size_t count, const ev_lanes *y,
                                    ev_lanes *a, ev_lanes *b) {
  for (size_t i = 0; i < count; i++, q++) {
    ev_lanes at = *y * q->d, re, im, last = *a;
    ev_turn(&at, &re, &im);
    im *= q->th;
    *a = last * re - *b * im;
    *b = last * im + *b * re;
    at = *a * *a + *b * *b;
    if (i % 8 == 0 && all_below(&at, NOTHING_SQUARED)) {
      *a = *b = (ev_lanes){0};
      return;
    }
  }
}

/* e^(K(s) - s|t|) at four s = c + iy, over its value at y = 0. */
static void flip_integrand(const inversion *v, const ev_lanes *y, ev_lanes *re, ev_lanes *im) {
  ev_lanes ln = {0}, angle = -*y * v->t, sign = {1, 1, 1, 1};
  multiply_powers(v->factors, v->powers, y, &ln, &angle, &sign);
  for (int i = 0; i < EV_LANES; i++) {
    double r = ln[i] < -NOTHING ? 0 : sign[i] * exp(ln[i]);
    (*re)[i] = r == 0 ? 0 : r * cos(angle[i]);
    (*im)[i] = r == 0 ? 0 : r * sin(angle[i]);
  }
  multiply_single(v->factors + v->powers, v->count - v->powers, y, re, im);
}

/* Re of (re + i im) g(s)/s at s = c + iy, g(s) = exp(-36 (s/tau)^4). */
static double weighed(double c, double y, double tau, double re, double im) {
  if (re == 0 && im == 0) return 0;
  double square = (c * c - y * y) / (tau * tau), twice = 2 * c * y / (tau * tau);
  double g = exp(-36 * (square * square - twice * twice)), angle = -72 * square * twice;
  double u = g * cos(angle), w = g * sin(angle);
  return ((u * re - w * im) * c + (u * im + w * re) * y) / (c * c + y * y);
}

/* How far from a multiple of pi an angle y d of the most frequent size may be. */
static double peak_width(const inversion *v) {
  const flip_factor *q = v->factors;
  double most = -expm1(-2 * NOTHING / q->times) / q->sech2;
  return most < 1 ? asin(sqrt(most)) : M_PI_2;
}

/* How far p may change as the kernel becomes half as wide. */
static const double CONVERGED = 1e-7;

static ev_status inverted_p(inversion *v, double *p) {
  double sd = sqrt(v->variance), ln_peak = v->K - v->c * v->f->t, d = v->factors[0].d;
  *p = 0;
  if (ln_peak < LEAST_LN_PEAK) return EV_OK;
  /* Step 2 pi/span: the rule's error is P(T > |t| - span) e^(-c span) on one side, and
  ** e^-(span/sd)^2/2 on the other. */
  double span = fmax(10 * sd, (40 - ln_peak) / v->c), h = 2 * M_PI / span;
  double width = peak_width(v), visited = 2 * width / M_PI, total = 0, coarse = 0;
  double nodes = fmax(LEAST_NODES, MOST_FACTORS / visited / (double)v->count);
  /* g(s) is nearly real from 40 c on. */
  double tau = fmax(fmin(nodes * h, MOST_ANGLE / v->largest), 80 * v->c);
  for (double n = 0; n * h < 1.1 * tau; n += EV_LANES) {
    double peak = M_PI * floor(n * h * d / M_PI + 0.5);
    if (n * h * d > peak + width) peak += M_PI;
    n = fmax(n, ceil((peak - width) / (h * d)));
    ev_lanes y = {n * h, (n + 1) * h, (n + 2) * h, (n + 3) * h}, re = {0}, im = {0};
    flip_integrand(v, &y, &re, &im);
    for (int i = 0; i < EV_LANES; i++) {
      double share = y[i] == 0 ? 0.5 : 1;
      total += share * weighed(v->c, y[i], tau, re[i], im[i]);
      coarse += share * weighed(v->c, y[i], tau / 2, re[i], im[i]);
    }
    if (flips_interrupted(v->f, 10 * (double)v->count)) return EV_INTERRUPTED;
  }
  double scale = 2 * exp(ln_peak) * h / M_PI;
  *p = fmin(2, fmax(0, scale * total));
  return fabs(scale * (total - coarse)) <= CONVERGED ? EV_OK : EV_NOT_CONVERGED;
}

static ev_status smooth_p(flips *f, double *p) {
  inversion v = {.f = f, .factors = malloc(f->count * sizeof *v.factors)};
  if (!v.factors) return EV_NO_MEMORY;
  f->tries++;
  ev_status status = find_flip_path(&v);
  if (status == EV_OK) status = inverted_p(&v, p);
  free(v.factors);
  return status;
}

/*
** One way or the other
*/

/* A few differences may outweigh all others, whose sums are then too close to be told apart: the
** largest is taken with either sign on its own, as long as there are not too many inversions
** to try, up to 0.1 s each. */
enum { MOST_TRIES = 8 };

static ev_status twice_tail(flips *f, double t, double *p);

static ev_status split_largest(flips *f, double t, double *p) {
  size_t at = 0;
  for (size_t i = 1; i < f->count; i++)
    if (f->sizes[i].d > f->sizes[at].d) at = i;
  flips rest = *f;
  double d = f->sizes[at].d, with = NAN, without = NAN;
  rest.sizes = malloc(f->count * sizeof *rest.sizes);
  if (!rest.sizes) return EV_NO_MEMORY;
  memcpy(rest.sizes, f->sizes, f->count * sizeof *rest.sizes);
  rest.of -= 1;
  rest.all -= d;
  if (--rest.sizes[at].times == 0) rest.sizes[at] = rest.sizes[--rest.count];
  qsort(rest.sizes, rest.count, sizeof *rest.sizes, by_frequency);
  ev_status status = twice_tail(&rest, t - d, &with);
  if (status == EV_OK) status = twice_tail(&rest, t + d, &without);
  f->tries = rest.tries;
  free(rest.sizes);
  *p = (with + without) / 2;
  return status;
}

/* 2 P(T > t) + P(T = t). */
static ev_status twice_tail(flips *f, double t, double *p) {
  f->t = fabs(t);
  f->x = (f->all - f->t) / 2;
  *p = f->t <= SAME * f->all ? 1 : 0;
  ev_status status = EV_OK;
  if (*p == 0 && f->x >= -SAME * f->all) {
    status = exact_p(f, p);
    if (status == EV_TOO_LARGE) status = smooth_p(f, p);
    if (status == EV_NOT_CONVERGED && f->tries < MOST_TRIES) status = split_largest(f, f->t, p);
  }
  if (t < 0) *p = 2 - *p;
  return status;
}

static ev_status p_of_sizes(flips *f, double *p) {
  if (f->count != 1) return twice_tail(f, f->t, p);
  double positive = f->sizes[0].positive, negative = f->of - positive;
  *p = ev_mid_p(fmin(positive, negative), fmax(positive, negative));
  return EV_OK;
}

ev_status ev_paired_p(const ev_score *diffs, size_t count, const ev_options *options, ev_host host,
                      double *p) {
  (void)options;
  flips f = {.sizes = malloc(count * sizeof *f.sizes), .host = host};
  ev_score *sorted = malloc(count * sizeof *sorted);
  ev_status status = f.sizes && sorted ? EV_OK : EV_NO_MEMORY;
  if (status == EV_OK) {
    for (size_t i = 0; i < count; i++) sorted[i] = diffs[i];
    qsort(sorted, count, sizeof *sorted, by_magnitude);
    gather_sizes(&f, sorted, count);
    sum_sides(&f);
    status = p_of_sizes(&f, p);
  }
  free(f.sizes);
  free(sorted);
  if (status == EV_OK) *p = fmin(1, *p);
  return status == EV_OK && isnan(*p) ? EV_NOT_CONVERGED : status;
}
