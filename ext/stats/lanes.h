/*
** exp, log, angle, sine and cosine of four numbers at a time, for the innermost loops:
** three times as fast as one by one if the processor has wide instructions.  Sums are paired:
** in nested ones each addition waits for the one before.  Used within ext/stats.
**
** All lanes are treated alike, by sums, products and quotients only: with wide instructions
** or without, the digits are the same, as long as the compiler makes no fused
** multiply-add of a product and a sum, which rounds once less.  clang is told here;
** GCC, which knows no pragma for it, by -ffp-contract=off, and by -std=c11 too.  exp and
** log are within 3 units of the last place, fused or not.  Vector types are
** GCC's and clang's.
*/
#ifndef EV_LANES_H
#define EV_LANES_H

#include <stdint.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

enum { EV_LANES = 4 };

typedef double ev_lanes __attribute__((vector_size(EV_LANES * sizeof(double))));
/* Lanes in memory from malloc(), which need not be aligned for vectors. */
typedef ev_lanes ev_lanes_kept __attribute__((aligned(sizeof(double))));
/* Four consecutive numbers of an array, beginning anywhere. */
typedef ev_lanes ev_lanes_of __attribute__((aligned(sizeof(double)), may_alias));
typedef uint64_t ev_bits __attribute__((vector_size(EV_LANES * sizeof(double))));

/* A function marked with this is compiled with AVX2 and without; the best one that a processor can
** run is chosen when the library is loaded, which is before the thread sanitizer is ready for it.
** Functions that it calls must be inlined to be compiled for both. */
#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__ &&                           \
    !defined __SANITIZE_THREAD__
#define EV_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define EV_WIDE
#endif
#define EV_INLINE static inline __attribute__((always_inline))

/* ln 2 in two parts; the first is so short that whole multiples of it are exact. */
static const double EV_LN2_HIGH = 0x1.62e42fee00000p-1, EV_LN2_LOW = 0x1.a39ef35793c76p-33;

/* The larger of each lane and x. */
EV_INLINE void ev_at_least(ev_lanes *at, double x) {
  ev_bits low = (ev_bits)(*at < x);
  *at = (ev_lanes)((low & (ev_bits)(ev_lanes){x, x, x, x}) | (~low & (ev_bits)*at));
}

/* The exponential of each lane, of any number up to 700, and of `least` for lower ones, which is
** at least -700, or -60 in ev_exp; lanes must not be NaN. With n the nearest whole multiple of
** ln 2, the remainder is at most 0.35, and its series is cut off below 2e-16. Adding 1.5 * 2^52
** rounds to n, and leaves it in the last bits. */
EV_INLINE void ev_exp_from(ev_lanes *at, int count, double least) {
  for (int i = 0; i < count; i++) {
    ev_at_least(&at[i], least);
    ev_lanes shifted = at[i] * 0x1.71547652b82fep+0 + 0x1.8p52, n = shifted - 0x1.8p52;
    ev_lanes r = (at[i] - n * EV_LN2_HIGH) - n * EV_LN2_LOW;
    ev_lanes r2 = r * r, r4 = r2 * r2;
    ev_lanes low = (1 + r) + r2 * (0.5 + r * (1.0 / 6));
    ev_lanes middle = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
    ev_lanes high = (1.0 / 40320 + r * (1.0 / 362880)) +
                    r2 * (1.0 / 3628800 + r * (1.0 / 39916800)) + r4 * (1.0 / 479001600);
    ev_lanes sum = low + r4 * (middle + r4 * high);
    at[i] = (ev_lanes)((ev_bits)sum + ((ev_bits)shifted << 52));
  }
}

EV_INLINE void ev_exp(ev_lanes *at, int count) {
  ev_exp_from(at, count, -60);
}

/* Each lane x = 2^e m with m within a factor sqrt(2) of 1. */
EV_INLINE void ev_split(const ev_lanes *x, ev_lanes *e, ev_lanes *m) {
  const uint64_t one = 0x3ff0000000000000, sqrt_half = 0x3fe6a09e667f3bcd;
  const uint64_t two_52 = 0x4330000000000000, mantissa = 0xfffffffffffff;
  ev_bits bits = (ev_bits)*x + (one - sqrt_half);
  *e = (ev_lanes)((bits >> 52) | two_52) - (0x1p52 + 1023);
  *m = (ev_lanes)((bits & mantissa) + sqrt_half);
}

/* Each lane's 2 artanh(s) - 2 s, of s = (m-1)/(m+1) with such an m: the series is cut off
** below 1e-17. */
EV_INLINE void ev_artanh_less(const ev_lanes *s, ev_lanes *out) {
  ev_lanes z = *s * *s, z2 = z * z, z4 = z2 * z2;
  ev_lanes low = (2.0 / 3 + z * (2.0 / 5)) + z2 * (2.0 / 7 + z * (2.0 / 9));
  ev_lanes high = (2.0 / 11 + z * (2.0 / 13)) + z2 * (2.0 / 15 + z * (2.0 / 17)) +
                  z4 * (2.0 / 19 + z * (2.0 / 21));
  *out = *s * z * (low + z4 * high);
}

/* The logarithm of each lane, of any finite number, and of 1e-300 for lower ones; lanes must not be
** NaN.  ln m = 2 artanh((m-1)/(m+1)). */
EV_INLINE void ev_log(ev_lanes *at, int count) {
  for (int i = 0; i < count; i++) {
    ev_lanes e, m, rest;
    ev_at_least(&at[i], 1e-300);
    ev_split(&at[i], &e, &m);
    ev_lanes s = (m - 1) / (m + 1);
    ev_artanh_less(&s, &rest);
    at[i] = e * EV_LN2_HIGH + (e * EV_LN2_LOW + (rest + 2 * s));
  }
}

/* Each lane's ln(1 + w), w > -1, with the digits that 1 + w loses put back. */
EV_INLINE void ev_log1p(ev_lanes *at, int count) {
  for (int i = 0; i < count; i++) {
    ev_lanes w = at[i], f = 1 + w;
    at[i] = f;
    ev_log(&at[i], 1);
    at[i] += (w - (f - 1)) / f;
  }
}

/* In each lane *yes where the bits of *choice are all ones, *no where they are 0. */
EV_INLINE void ev_choose(const ev_bits *choice, const ev_lanes *yes, const ev_lanes *no,
                         ev_lanes *out) {
  *out = (ev_lanes)((*choice & (ev_bits)*yes) | (~*choice & (ev_bits)*no));
}

/* Each lane's ln(1 + w) - w, w > -1, which does not cancel where w is small: with
** s = w / (2 + w) it is 2 artanh(s) - 2 s - s w. */
EV_INLINE void ev_log1p_less(ev_lanes *at, int count) {
  for (int i = 0; i < count; i++) {
    ev_lanes w = at[i], f = 1 + w, e, m, rest;
    ev_split(&f, &e, &m);
    ev_bits about_one = (ev_bits)(e == 0);
    m -= 1;
    ev_choose(&about_one, &w, &m, &m);
    ev_lanes s = m / (m + 2);
    ev_artanh_less(&s, &rest);
    ev_lanes small = rest - s * w, large = e * EV_LN2_HIGH + (e * EV_LN2_LOW + (rest + 2 * s)) - w;
    ev_choose(&about_one, &small, &large, &at[i]);
  }
}

/* The angle of x + iy in each lane, from -pi to pi; x and y must not both be 0.  It is reflected
** into the first eighth of the circle, then measured from the middle of that, which leaves an
** arctangent of at most tan(pi/8), by the rational approximation of Cephes' atan. */
EV_INLINE void ev_angle(const ev_lanes *x, const ev_lanes *y, ev_lanes *out) {
  const double pi = 0x1.921fb54442d18p+1;
  ev_lanes ax, ay, small, large, t, other;
  ev_bits left = (ev_bits)(*x < 0), under = (ev_bits)(*y < 0);
  other = -*x, ev_choose(&left, &other, x, &ax);
  other = -*y, ev_choose(&under, &other, y, &ay);
  ev_bits steep = (ev_bits)(ay > ax);
  ev_choose(&steep, &ax, &ay, &small);
  ev_choose(&steep, &ay, &ax, &large);
  ev_bits wide = (ev_bits)(small > 0.41421356237309503 * large);
  other = small - large, ev_choose(&wide, &other, &small, &t);
  other = small + large, ev_choose(&wide, &other, &large, &large);
  t /= large;
  ev_lanes z = t * t, z2 = z * z;
  ev_lanes p = (-6.485021904942025371773e1 + z * -1.228866684490136173410e2) +
               z2 * ((-7.500855792314704667340e1 + z * -1.615753718733365076637e1) +
                     z2 * -8.750608600031904122785e-1);
  ev_lanes q = (1.945506571482613964425e2 + z * 4.853903996359136964868e2) +
               z2 * ((4.328810604912902668951e2 + z * 1.650270098316988542046e2) +
                     z2 * (2.485846490142306297962e1 + z));
  t += t * (z * p / q);
  other = pi / 4 + t, ev_choose(&wide, &other, &t, &t);
  other = pi / 2 - t, ev_choose(&steep, &other, &t, &t);
  other = pi - t, ev_choose(&left, &other, &t, &t);
  other = -t, ev_choose(&under, &other, &t, out);
}

/* The cosine and the sine of each lane's angle, of at most a million either way.  With n the
** nearest whole number of quarter turns, the rest is at most pi/4, and the series are cut off
** below 5e-17; n is left in the last bits as in ev_exp. */
EV_INLINE void ev_sincos(const ev_lanes *angle, ev_lanes *cosine, ev_lanes *sine) {
  const double quarter_high = 0x1.921fb54400000p+0, quarter_low = 0x1.0b4611a626331p-34;
  ev_lanes shifted = *angle * 0x1.45f306dc9c883p-1 + 0x1.8p52, n = shifted - 0x1.8p52;
  ev_lanes r = (*angle - n * quarter_high) - n * quarter_low, z = r * r, z2 = z * z, z4 = z2 * z2;
  ev_lanes s = (-1.0 / 6 + z * (1.0 / 120)) + z2 * (-1.0 / 5040 + z * (1.0 / 362880)) +
               z4 * ((-1.0 / 39916800 + z * (1.0 / 6227020800)) + z2 * (-1.0 / 1307674368000));
  ev_lanes c = (1.0 / 24 + z * (-1.0 / 720)) + z2 * (1.0 / 40320 + z * (-1.0 / 3628800)) +
               z4 * ((1.0 / 479001600 + z * (-1.0 / 87178291200)) + z2 * (1.0 / 20922789888000));
  s = r + r * (z * s);
  c = 1 - (0.5 * z - z2 * c);
  ev_bits turns = (ev_bits)shifted, odd = 0 - (turns & 1);
  ev_choose(&odd, &s, &c, cosine);
  ev_choose(&odd, &c, &s, sine);
  *cosine = (ev_lanes)((ev_bits)*cosine ^ ((turns + 1) >> 1 << 63));
  *sine = (ev_lanes)((ev_bits)*sine ^ (turns >> 1 << 63));
}

/* The sum of the lanes, always in the same order. */
EV_INLINE double ev_sum(const ev_lanes *x) {
  return ((*x)[0] + (*x)[1]) + ((*x)[2] + (*x)[3]);
}

#endif
