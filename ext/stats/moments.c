/*
** Intervals of a mean by normal theory, from exact sums: mean +- q s / sqrt(n), s over n - 1, with
** q the deviate of the normal distribution (the CLT) or of Student's t.
**
** 1. A double is m 2^e with m of 53 bits, or two limbs of 32 bits, and m^2 is four limbs.  Each
**    limb, times how often the number came, is shifted by e mod 32 and added to three bins.
** 2. S is the sum, Q the sum of squares.  n Q - S^2 is computed exactly, and rounded once; s^2 is
**    that over n (n - 1).  So numbers close to each other have their digits, whatever their size.
** 3. Bins are carried once in 2^26 numbers; each adds less than 2^36 to a bin.
**
** Student's deviate comes from the beta quantile of beta.c: t^2 = v y / x with
** x ~ Beta(v/2, 1/2) and y = 1 - x (Abramowitz and Stegun 26.7.1).
*/
#include "moments.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "beta.h"
#include "normal.h"

/* The product of two numbers of nx and ny limbs has nx + ny. */
static void multiply_limbs(const uint32_t *x, int nx, const uint32_t *y, int ny,
                           uint32_t *product) {
  memset(product, 0, (size_t)(nx + ny) * sizeof *product);
  for (int i = 0; i < nx; i++) {
    uint64_t carry = 0;
    if (x[i] == 0) continue;
    for (int j = 0; j < ny; j++, carry >>= 32) {
      carry += (uint64_t)x[i] * y[j] + product[i + j];
      product[i + j] = (uint32_t)carry;
    }
    product[i + ny] = (uint32_t)carry;
  }
}

/* Adds a number times 2^shift. */
static inline void add_shifted(int64_t *bins, uint64_t x, int shift, int64_t sign) {
  uint64_t low = (x & 0xffffffff) << shift % 32, high = (x >> 32) << shift % 32;
  bins += shift / 32;
  bins[0] += sign * (int64_t)(low & 0xffffffff);
  bins[1] += sign * (int64_t)((low >> 32) + (high & 0xffffffff));
  bins[2] += sign * (int64_t)(high >> 32);
}

/* Leaves 32 bits in every bin but the last. */
static void carry_bins(int64_t *bins, int count) {
  for (int i = 0; i + 1 < count; i++) {
    int64_t carry = bins[i] >> 32;
    bins[i] -= carry * ((int64_t)1 << 32);
    bins[i + 1] += carry;
  }
}

void ev_moments_add(ev_moments *m, double x, double times) {
  static const uint32_t CARRY_AFTER = (uint32_t)1 << 26;
  int64_t sign = times < 0 ? -1 : 1;
  uint64_t bits, count = (uint64_t)fabs(times);
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff), shift = exponent > 0 ? exponent - 1 : 0;
  uint64_t low = bits & 0xffffffff, high = (bits >> 32 & 0xfffff) | (uint64_t)(exponent > 0) << 20;
  uint64_t first = low * low, second = 2 * low * high + (first >> 32),
           third = high * high + (second >> 32);
  if (count == 1) { /* pieces of 64 bits in place of limbs, for speed */
    add_shifted(m->sum, high << 32 | low, shift, bits >> 63 ? -sign : sign);
    add_shifted(m->square, second << 32 | (first & 0xffffffff), 2 * shift, sign);
    add_shifted(m->square, third, 2 * shift + 64, sign);
    count = 0;
  }
  for (int at = 0; count > 0; at += 32, count >>= 32) {
    uint64_t by = count & 0xffffffff;
    add_shifted(m->sum, low * by, shift + at, bits >> 63 ? -sign : sign);
    add_shifted(m->sum, high * by, shift + at + 32, bits >> 63 ? -sign : sign);
    add_shifted(m->square, (first & 0xffffffff) * by, 2 * shift + at, sign);
    add_shifted(m->square, (second & 0xffffffff) * by, 2 * shift + at + 32, sign);
    add_shifted(m->square, (third & 0xffffffff) * by, 2 * shift + at + 64, sign);
    add_shifted(m->square, (third >> 32) * by, 2 * shift + at + 96, sign);
  }
  m->n += times;
  if (times > 0) m->last = x;
  if (++m->adds < CARRY_AFTER) return;
  carry_bins(m->sum, EV_SUM_BINS);
  carry_bins(m->square, EV_SQUARE_BINS);
  m->adds = 0;
}

/* The limbs of the magnitude of a sum, two more than its bins. */
static void limbs_of(const int64_t *bins, int count, uint32_t *limbs, bool *negative) {
  int64_t carried[EV_SQUARE_BINS];
  memcpy(carried, bins, (size_t)count * sizeof *bins);
  carry_bins(carried, count);
  *negative = carried[count - 1] < 0;
  if (*negative) {
    for (int i = 0; i < count; i++) carried[i] = -carried[i];
    carry_bins(carried, count);
  }
  for (int i = 0; i < count; i++) limbs[i] = (uint32_t)carried[i];
  limbs[count] = (uint32_t)(carried[count - 1] >> 32);
  limbs[count + 1] = 0;
}

/* A number of limbs as a double times 2^exponent, to about an ulp. */
static double limbs_value(const uint32_t *limbs, int count, int *exponent) {
  int top = count - 1;
  while (top > 2 && limbs[top] == 0) top--;
  *exponent = 32 * (top - 2);
  return ldexp((double)limbs[top], 64) + ldexp((double)limbs[top - 1], 32) + limbs[top - 2];
}

enum { SUM_LIMBS = EV_SUM_BINS + 2, SQUARE_LIMBS = EV_SQUARE_BINS + 2 };

/* n Q - S^2, which is not negative. */
static double spread_of(const ev_moments *m, const uint32_t *sum, int *exponent) {
  uint32_t squares[SQUARE_LIMBS], whole[2 * SUM_LIMBS] = {0}, less[2 * SUM_LIMBS];
  uint64_t n = (uint64_t)m->n;
  bool negative;
  int64_t borrow = 0;
  limbs_of(m->square, EV_SQUARE_BINS, squares, &negative);
  multiply_limbs((uint32_t[]){(uint32_t)n, (uint32_t)(n >> 32)}, 2, squares, SQUARE_LIMBS, whole);
  multiply_limbs(sum, SUM_LIMBS, sum, SUM_LIMBS, less);
  for (int i = 0; i < 2 * SUM_LIMBS; i++) {
    borrow += (int64_t)whole[i] - less[i];
    whole[i] = (uint32_t)borrow;
    borrow >>= 32;
  }
  return limbs_value(whole, 2 * SUM_LIMBS, exponent);
}

static ev_interval normal_interval(const ev_moments *m, double deviate) {
  /* The exponents of the units: of the sum, and of the root of the sum of squares. */
  static const int UNIT = -1074;
  uint32_t sum[SUM_LIMBS];
  bool negative;
  int shift, spread_shift;
  limbs_of(m->sum, EV_SUM_BINS, sum, &negative);
  double total = limbs_value(sum, SUM_LIMBS, &shift);
  double spread = spread_of(m, sum, &spread_shift);
  if (spread == 0) return (ev_interval){m->last + 0.0, m->last + 0.0};
  double half = deviate * sqrt(spread / (m->n - 1)) / m->n;
  return ev_plus_minus(ldexp((negative ? -total : total) / m->n, shift + UNIT),
                       ldexp(half, spread_shift / 2 + UNIT));
}

ev_status ev_mean_clt(const ev_moments *m, const ev_options *options, ev_host host,
                      ev_interval *ci) {
  (void)host;
  *ci = normal_interval(m, ev_deviate(options));
  return EV_OK;
}

ev_status ev_mean_t(const ev_moments *m, const ev_options *options, ev_host host, ev_interval *ci) {
  (void)host;
  ev_beta beta = ev_beta_make((m->n - 1) / 2, 0.5);
  ev_point x;
  if (!ev_beta_quantile(&beta, (ev_point){1 - options->level, options->level}, &x))
    return EV_NOT_CONVERGED;
  *ci = normal_interval(m, sqrt((m->n - 1) * x.y / x.x));
  return EV_OK;
}
