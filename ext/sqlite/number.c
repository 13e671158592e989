/*
** A number as text that is also JSON; and back.
**
** Both ways are exact.  From 2^-36 to 10^15, where bounds are, x = m 2^e times a power
** of ten is m 5^k 2^(e+k), and 64 by 64 bits hold m 5^k to the last one; so do they a
** decimal of 19 digits and its power of ten.  Everything else goes through printf and
** strtod, as digits and an exponent, never with a decimal point: the point is the
** locale's, and a host may have set one.
*/
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "surface.h"

/* 0.d1d2d3... * 10^point */
typedef struct decimal {
  char digits[48];
  int count, point;
} decimal;

/*
** Exact conversion in 128 bits
*/
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

/* The powers of five that fit in 63 bits. */
static const uint64_t powers_of_five[] = {1,
                                          5,
                                          25,
                                          125,
                                          625,
                                          3125,
                                          15625,
                                          78125,
                                          390625,
                                          1953125,
                                          9765625,
                                          48828125,
                                          244140625,
                                          1220703125,
                                          6103515625,
                                          30517578125,
                                          152587890625,
                                          762939453125,
                                          3814697265625,
                                          19073486328125,
                                          95367431640625,
                                          476837158203125,
                                          2384185791015625,
                                          11920928955078125,
                                          59604644775390625,
                                          298023223876953125,
                                          1490116119384765625,
                                          7450580596923828125};
enum { MOST_POWER = sizeof powers_of_five / sizeof *powers_of_five - 1 };

/* x = m 2^e scaled by 10^k so that it has 17 digits before the point, as a product over 2^shift. */
typedef struct scaled {
  uint64_t m, whole; /* whole is what stands before the point */
  int k, shift;
  wide product;
} scaled;

static scaled scale_to(uint64_t m, int e, int k) {
  scaled v = {.m = m, .k = k, .shift = -e - k, .product = (wide)m * powers_of_five[k]};
  v.whole = (uint64_t)(v.product >> v.shift);
  return v;
}

/* Whether the decimal c reads back as v: it is nearer to v than to any other double, or halfway
** and v is even.  Doubles next to v are one unit of m away, half of that below a power of two. */
static bool reads_back(const scaled *v, uint64_t c) {
  wide there = (wide)c << v->shift;
  bool below = there < v->product;
  wide off = below ? v->product - there : there - v->product;
  off *= below && v->m == (uint64_t)1 << 52 ? 4 : 2;
  uint64_t unit = powers_of_five[v->k];
  return off < unit || (off == unit && v->m % 2 == 0);
}

/* v rounded to a multiple of 1, 10 or 100; ties go to the even multiple. */
static uint64_t round_to(const scaled *v, uint64_t multiple) {
  uint64_t below = v->whole / multiple;
  wide off = v->product - ((wide)(below * multiple) << v->shift);
  wide half = (wide)multiple << (v->shift - 1);
  return (below + (off > half || (off == half && below % 2))) * multiple;
}

/* Finds the fewest of 15, 16 and 17 digits that read back, without trailing zeros; 15 digits
** hold every shorter decimal.  False where x is out of range. */
static bool shortest_exactly(double x, decimal *d) {
  if (x < 0x1p-36 || x >= 1e15) return false;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52) - 1023; /* of two; 0.30103 times it is that of ten, or 1 less */
  uint64_t m = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
  int ten = (exponent * 30103 - (exponent < 0 ? 99999 : 0)) / 100000;
  scaled v = scale_to(m, exponent - 52, 16 - ten);
  if (v.whole >= 100000000000000000) v = scale_to(m, exponent - 52, 16 - ++ten);
  uint64_t c = round_to(&v, 100);
  if (!reads_back(&v, c)) c = round_to(&v, 10);
  if (!reads_back(&v, c)) c = round_to(&v, 1);
  d->point = ten + 1 + (c == 100000000000000000);
  d->count = 17;
  uint64_t low = c % 1000000000, high = c / 1000000000;
  for (int i = 16; i >= 8; i--, low /= 10) d->digits[i] = (char)('0' + low % 10);
  for (int i = 7; i >= 0; i--, high /= 10) d->digits[i] = (char)('0' + high % 10);
  if (high > 0) d->digits[0] = '1';
  while (d->count > 1 && d->digits[d->count - 1] == '0') d->count--;
  return true;
}

/* n 2^exponent, where both factors are doubles. */
static double times_power_of_two(uint64_t n, int exponent) {
  uint64_t bits = (uint64_t)(1023 + exponent) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return (double)n * power;
}

/* The double nearest to a positive q, ties to even; `more` says that q has a fraction besides. */
static double nearest_double(wide q, bool more, int exponent) {
  uint64_t high = (uint64_t)(q >> 64);
  int size = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)q);
  if (size <= 53) return times_power_of_two((uint64_t)q, exponent);
  int drop = size - 54; /* one bit more than a double has, and a sticky bit for the rest */
  uint64_t kept = (uint64_t)(q >> drop);
  more = more || ((wide)kept << drop) != q;
  kept = kept / 2 + (kept % 2 && (more || kept / 2 % 2));
  return times_power_of_two(kept, exponent + drop + 1);
}

/* Converts up to 19 digits and a power of ten in range; false for others. */
static bool value_exactly(const decimal *d, double *x) {
  int ten = d->point - d->count, power = abs(ten);
  if (d->count > 19 || power > MOST_POWER) return false;
  uint64_t digits = 0;
  for (int i = 0; i < d->count; i++) digits = 10 * digits + (uint64_t)(d->digits[i] - '0');
  uint64_t five = powers_of_five[power];
  if (ten >= 0) {
    *x = nearest_double((wide)digits * five, false, ten);
    return true;
  }
  int shift = 63 + __builtin_clzll(digits); /* so that the quotient has 64 bits or more */
  wide dividend = (wide)digits << shift, q = dividend / five;
  *x = nearest_double(q, q * five != dividend, ten - shift);
  return true;
}
#else
static bool shortest_exactly(double x, decimal *d) {
  return (void)x, (void)d, false;
}

static bool value_exactly(const decimal *d, double *x) {
  return (void)d, (void)x, false;
}
#endif

/*
** Conversion by the C library
*/
static double decimal_value(const decimal *d) {
  double x;
  if (value_exactly(d, &x)) return x;
  char text[80];
  snprintf(text, sizeof text, "%.*se%d", d->count, d->digits, d->point - d->count);
  return strtod(text, NULL);
}

/* x to `digits` digits, without trailing zeros. */
static decimal to_digits(double x, int digits) {
  char text[EVALCI_NUMBER_SIZE];
  decimal d = {.count = 0};
  snprintf(text, sizeof text, "%.*e", digits - 1, x);
  const char *c = text;
  for (; *c != 'e'; c++)
    if (isdigit((unsigned char)*c)) d.digits[d.count++] = *c;
  d.point = atoi(c + 1) + 1;
  while (d.count > 1 && d.digits[d.count - 1] == '0') d.count--;
  return d;
}

/* Seventeen digits always read back, and often fewer do.  Fifteen hold every
** shorter decimal too, zeros aside, unless x is subnormal. */
static decimal shortest(double x) {
  decimal d;
  if (shortest_exactly(x, &d)) return d;
  for (int digits = x < DBL_MIN ? 1 : 15;; digits++) {
    d = to_digits(x, digits);
    if (digits == 17 || decimal_value(&d) == x) return d;
  }
}

/*
** Text
*/
static int append(char *text, int size, const char *what, int count) {
  memcpy(text + size, what, (size_t)count);
  return size + count;
}

int evalci_write_number(double x, char text[EVALCI_NUMBER_SIZE]) {
  static const char zeros[] = "0000000000000000";
  if (isnan(x)) return append(text, 0, "null", 4);
  int size = x < 0 ? append(text, 0, "-", 1) : 0;
  if (isinf(x)) return append(text, size, "9e999", 5);
  if (x == 0) return append(text, 0, "0.0", 3);
  decimal d = shortest(fabs(x));
  int whole = d.point;
  if (whole <= -4 || whole > 16)
    return size + snprintf(text + size, (size_t)(EVALCI_NUMBER_SIZE - size), "%c%s%.*se%d",
                           d.digits[0], d.count > 1 ? "." : "", d.count - 1, d.digits + 1,
                           whole - 1);
  if (whole <= 0) {
    size = append(text, size, "0.", 2);
    size = append(text, size, zeros, -whole);
    return append(text, size, d.digits, d.count);
  }
  int before = d.count < whole ? d.count : whole;
  size = append(text, size, d.digits, before);
  size = append(text, size, zeros, whole - before);
  size = append(text, size, ".", 1);
  return d.count > whole ? append(text, size, d.digits + whole, d.count - whole)
                         : append(text, size, "0", 1);
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Reads digits into d.  Digits before the decimal point move d's point; leading zeros only move
** it; digits beyond the fortieth are dropped. */
static const char *read_digits(const char *c, decimal *d, bool whole) {
  const char *zeros = c;
  while (d->count == 0 && *c == '0') c++;
  if (!whole) d->point -= (int)(c - zeros);
  const char *first = c;
  for (; is_digit(*c); c++)
    if (d->count < 40) d->digits[d->count++] = *c;
  if (whole) d->point += (int)(c - first);
  return c;
}

const char *evalci_parse_number(const char *c, double *number) {
  decimal d;
  d.count = d.point = 0;
  bool minus = *c == '-';
  const char *start = c += minus;
  c = read_digits(c, &d, true);
  if (c == start || (*start == '0' && c > start + 1)) return NULL;
  if (*c == '.') {
    start = ++c;
    c = read_digits(c, &d, false);
    if (c == start) return NULL;
  }
  if (*c == 'e' || *c == 'E') {
    c++;
    bool down = *c == '-';
    start = c += *c == '-' || *c == '+';
    int exponent = 0;
    for (; is_digit(*c); c++)
      if (exponent < 100000) exponent = 10 * exponent + (*c - '0');
    if (c == start) return NULL;
    d.point += down ? -exponent : exponent;
  }
  *number = d.count == 0 ? 0 : decimal_value(&d);
  if (minus) *number = -*number;
  return c;
}
