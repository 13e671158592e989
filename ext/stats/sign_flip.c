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
**  1. The differences are gathered by size |d|, each size with the number of its differences.
**     Sizes that differ by less than SAME, relative to the largest, are one size, so that
**     2/3 - 1/3 is 1/3; those closer to 0 than that are left out.  Sizes that are whole multiples
**     of a unit become whole numbers.
**  2. One size: ev_mid_p().
**  3. Exactly, if the tables below stay small: two sorted lists of the sums of two parts of the
**     sizes, each sum with its probability.  A size enters the shorter list: what the list has,
**     and the same with the size added, are merged, and equal sums become one.  Sums above x
**     are dropped.  For whole sizes the lists stay as short as the range of sums, which is
**     dynamic programming; otherwise they are a meet in the middle.  One pass over both lists
**     adds up the pairs with a sum up to x.  All terms are positive, so that a small p keeps its
**     digits.
**  4. Otherwise by inversion of the moment generating function: flip_inversion.c.
**  5. Where that does not converge, the largest difference is taken with either sign on its own.
**
** References:
**   Fisher, The Design of Experiments (1935), section 21; Pitman, J. R. Stat. Soc. Suppl. 4
**     (1937) 119-130: the test.
**   Lancaster, J. Am. Stat. Assoc. 56 (1961) 223-234: the mid-p.
**   Horowitz and Sahni, J. ACM 21 (1974) 277-292: sums of subsets, from two lists.
*/
#include "sign_flip.h"

#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_math.h>

#include "flips.h"
#include "mcnemar.h"

/* Numbers this close, relative to the largest difference, or to the sum of all for sums, are equal:
** the rounding of scores and of ten thousand additions is less. */
static const double SAME = 1e-12;

bool ev_flips_interrupted(ev_flips *f, double work) {
  f->work += work; /* 1e5 of it take a millisecond */
  if (f->work < 1e5) return false;
  f->work = 0;
  return ev_interrupted(f->host);
}

/*
** Sizes
*/

/* Descending by size; equal ones by sign, which decides no sum. */
static int by_size(const void *left, const void *right) {
  const ev_flip_size *a = left, *b = right;
  return a->d != b->d ? (a->d < b->d ? 1 : -1) : (a->times < b->times) - (a->times > b->times);
}

/* The most frequent first, then the largest. */
static int by_times(const void *left, const void *right) {
  const ev_flip_size *a = left, *b = right;
  return a->times != b->times ? (a->times < b->times ? 1 : -1) : by_size(left, right);
}

static void sort_sizes(ev_flips *f, int (*order)(const void *, const void *)) {
  qsort(f->sizes, f->count, sizeof *f->sizes, order);
}

/* The sizes of differences, in units of a power of 2 about the largest.  While they are sorted, a
** negative difference has a negative count.  Sums run over sizes, not over
** rows, so that differences given in several rows have the same sums. */
static void gather_sizes(ev_flips *f, const ev_score *diffs, size_t count) {
  int exponent;
  double largest = 0, sum = 0;
  for (size_t i = 0; i < count; i++) largest = GSL_MAX_DBL(largest, fabs(diffs[i].score));
  frexp(largest, &exponent);
  /* Their product may not be a normal double. */
  double root = ldexp(1, -exponent / 2), other = ldexp(1, -exponent - -exponent / 2);
  for (size_t i = 0; i < count; i++)
    f->sizes[i] = (ev_flip_size){fabs(diffs[i].score) * root * other,
                                 copysign(diffs[i].times, diffs[i].score)};
  f->count = count;
  sort_sizes(f, by_size);
  f->count = 0;
  for (size_t i = 0; i < count;) {
    double d = f->sizes[i].d, times = 0, net = 0;
    if (d <= SAME) break;
    for (; i < count && d - f->sizes[i].d <= SAME; i++) {
      double signed_times = f->sizes[i].times;
      times += fabs(signed_times);
      net += signed_times;
      f->sign[signed_times < 0] += fabs(signed_times);
    }
    f->sizes[f->count++] = (ev_flip_size){d, times};
    f->of += times;
    f->all += d * times;
    sum += d * net;
  }
  f->t = fabs(sum);
}

/* The least unit, relative to the largest size.  Among 10^7 sums of 41 differences or more there is
** no smaller one. */
static const double LEAST_UNIT = 1e-6;

/* The largest number of which all sizes are whole multiples, by Euclid's algorithm, or 0.  The
** unit is taken anew from each larger size, so that it keeps the digits of the largest. */
static double unit_of(const ev_flips *f) {
  double unit = f->count ? f->sizes[f->count - 1].d : 0;
  for (size_t i = f->count; i-- > 0 && unit >= LEAST_UNIT;) {
    double d = f->sizes[i].d, rest = fabs(remainder(d, unit));
    while (rest > LEAST_UNIT / 2) {
      double less = fabs(remainder(unit, rest));
      unit = rest, rest = less;
    }
    unit = d / rint(d / unit);
  }
  bool whole = unit >= LEAST_UNIT;
  for (size_t i = 0; i < f->count && whole; i++)
    whole = fabs(remainder(f->sizes[i].d, unit)) <= SAME;
  return whole ? unit : 0;
}

/* The limit of nodes along a period times sizes, of which about 64 matter at a node: 10 ms, and
** 1 ms of many sizes. */
static const double PERIOD_FACTORS = 3e6, MANY_PERIOD_FACTORS = 3e5;

/* Makes sizes whole numbers if they have a unit. */
static void take_unit(ev_flips *f) {
  double unit = unit_of(f), squares = 0;
  if (unit == 0) return;
  for (size_t i = 0; i < f->count; i++) {
    f->sizes[i].d = rint(f->sizes[i].d / unit);
    squares += f->sizes[i].times * gsl_pow_2(f->sizes[i].d);
  }
  f->all = rint(f->all / unit);
  f->t = rint(f->t / unit);
  double factors = 2.5 * sqrt(squares) * fmin((double)f->count, 64);
  f->period = factors <= (f->count < EV_MANY_SIZES ? PERIOD_FACTORS : MANY_PERIOD_FACTORS);
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

/* When the lists are given up as too long.
**   MOST_CELLS      sums made and still to be made
**   MANY_CELLS      the limit instead of many sizes; either half of 30 differences without a unit
**                   has 2^15
**   SOME_CELLS      the limit instead if inversion over a period can replace the lists, or if
**                   the number of pairs of sums may exceed
**   MOST_PAIRS      while all sums are different, or
**   MOST_PAIRS_IF_EQUAL  once some were equal, because equal sums keep the lists short. */
static const double MOST_CELLS = 1e7, MANY_CELLS = 1e5, SOME_CELLS = 3e4, MOST_PAIRS = 0x1p40,
                    MOST_PAIRS_IF_EQUAL = 0x1p80;

/* A size with more occurrences starts a list by its binomial distribution. */
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

/* Replaces the list by the sums without and with d, up to `most`; merged from the top down, in
** place. */
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
  if (last - least >= MOST_CELLS / 10) return EV_TOO_LARGE;
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

/* 2 P(X < x) + P(X = x) for the sum of both; b's probabilities are cumulated first. */
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

static double bits_of_sums(const ev_flip_size *s) {
  return s->times == 1 ? 1 : log2(1 + s->times);
}

/* Enters all sizes into the lists; EV_TOO_LARGE if these would be too long. */
static ev_status fill_sums(ev_flips *f, flip_sums lists[2], double same, double *unused) {
  double cells = 0, left = f->of, bits = 0;
  double most = f->count < EV_MANY_SIZES ? MOST_CELLS : MANY_CELLS;
  for (size_t i = 0; i < f->count; i++) bits += bits_of_sums(&f->sizes[i]);
  for (size_t i = 0; i < f->count; i++) {
    ev_flip_size s = f->sizes[i];
    flip_sums *l = &lists[lists[1].count < lists[0].count];
    bits -= bits_of_sums(&s);
    if (s.d > f->x + same) {
      *unused += s.times;
      left -= s.times;
      continue;
    }
    bool often = s.times > OFTEN && l->count == 1;
    ev_status status = often ? start_with(l, s.d, s.times, f->x + same) : EV_OK;
    left -= often ? s.times : 0;
    for (double k = 0; !often && k < s.times && status == EV_OK; k++, left--) {
      double pairs =
          (double)lists[0].count * (double)lists[1].count * exp2(bits) * (1 + s.times) / (1 + k);
      bool soon =
          (f->period && f->of > 40) || pairs > (l->apart ? MOST_PAIRS : MOST_PAIRS_IF_EQUAL);
      cells += (double)l->count;
      if (cells + left * (double)l->count > (soon ? SOME_CELLS : most)) return EV_TOO_LARGE;
      if (ev_flips_interrupted(f, (double)l->count)) return EV_INTERRUPTED;
      status = room_to_double(l);
      if (status == EV_OK) add_size(l, s.d, f->x + same, same);
    }
    if (status != EV_OK) return status;
  }
  return EV_OK;
}

static ev_status exact_p(ev_flips *f, double *p) {
  flip_sums lists[2] = {{.list = NULL}, {.list = NULL}};
  double same = SAME * f->all, unused = 0; /* halvings; from 5,000 on p is 0 */
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
** One way or the other
*/

/* A few differences may outweigh all others, whose sums are then too close to be told apart: the
** largest is taken with either sign on its own, as long as there are not too many inversions
** to try, up to 0.1 s each. */
enum { MOST_TRIES = 8 };

static ev_status twice_tail(ev_flips *f, double t, double *p);

static ev_status split_largest(ev_flips *f, double t, double *p) {
  size_t at = 0;
  for (size_t i = 1; i < f->count; i++)
    if (f->sizes[i].d > f->sizes[at].d) at = i;
  ev_flips rest = *f;
  double d = f->sizes[at].d, with = NAN, without = NAN;
  rest.sizes = malloc(f->count * sizeof *rest.sizes);
  if (!rest.sizes) return EV_NO_MEMORY;
  memcpy(rest.sizes, f->sizes, f->count * sizeof *rest.sizes);
  rest.of -= 1;
  rest.all -= d;
  if (--rest.sizes[at].times == 0) rest.sizes[at] = rest.sizes[--rest.count];
  sort_sizes(&rest, by_times);
  ev_status status = twice_tail(&rest, t - d, &with);
  if (status == EV_OK) status = twice_tail(&rest, t + d, &without);
  f->tries = rest.tries;
  free(rest.sizes);
  *p = (with + without) / 2;
  return status;
}

/* 2 P(T > t) + P(T = t). */
static ev_status twice_tail(ev_flips *f, double t, double *p) {
  f->t = fabs(t);
  f->x = (f->all - f->t) / 2;
  *p = f->t <= SAME * f->all ? 1 : 0;
  ev_status status = EV_OK;
  if (*p == 0 && f->x >= -SAME * f->all) {
    status = exact_p(f, p);
    if (status == EV_TOO_LARGE) status = ev_flips_inverted(f, p);
    if (status == EV_NOT_CONVERGED && f->tries < MOST_TRIES) status = split_largest(f, f->t, p);
  }
  if (t < 0) *p = 2 - *p;
  return status;
}

static ev_status p_of_sizes(ev_flips *f, double *p) {
  if (f->count != 1) return twice_tail(f, f->t, p);
  *p = ev_mid_p(fmin(f->sign[0], f->sign[1]), fmax(f->sign[0], f->sign[1]));
  return EV_OK;
}

ev_status ev_paired_p(const ev_score *diffs, size_t count, const ev_options *options, ev_host host,
                      double *p) {
  (void)options;
  ev_flips f = {.sizes = malloc((count + 1) * sizeof *f.sizes), .host = host};
  if (!f.sizes) return EV_NO_MEMORY;
  gather_sizes(&f, diffs, count);
  take_unit(&f);
  sort_sizes(&f, by_times);
  ev_status status = p_of_sizes(&f, p);
  free(f.sizes);
  if (status == EV_OK) *p = fmin(1, *p);
  return status == EV_OK && isnan(*p) ? EV_NOT_CONVERGED : status;
}

ev_interval ev_paired_p_bounds(const ev_score *diffs, size_t count) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < count; i++) {
    sum += diffs[i].times * diffs[i].score;
    squares += diffs[i].times * diffs[i].score * diffs[i].score;
  }
  if (sum * sum <= squares) return (ev_interval){0.05, 1};
  return (ev_interval){0, fmin(1, 2 * exp(-sum * sum / (2 * squares)))};
}
