/*
** A number as text that is also JSON; and back.
**
** Numbers go through printf and strtod as digits and an exponent, never with a
** decimal point: the point is the locale's, and a host may have set one.
*/
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "surface.h"

/* 0.d1d2d3... * 10^point */
typedef struct decimal {
  char digits[48];
  int count, point;
} decimal;

static double decimal_value(const decimal *d) {
  char text[80];
  snprintf(text, sizeof text, "%.*se%d", d->count, d->digits, d->point - d->count);
  return strtod(text, NULL);
}

/* x to so many digits, its trailing zeros dropped. */
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
  for (int digits = x < DBL_MIN ? 1 : 15;; digits++) {
    decimal d = to_digits(x, digits);
    if (digits == 17 || decimal_value(&d) == x) return d;
  }
}

int evalci_write_number(double x, char text[EVALCI_NUMBER_SIZE]) {
  const char *sign = x < 0 ? "-" : "";
  if (isnan(x)) return snprintf(text, EVALCI_NUMBER_SIZE, "null");
  if (isinf(x)) return snprintf(text, EVALCI_NUMBER_SIZE, "%s9e999", sign);
  if (x == 0) return snprintf(text, EVALCI_NUMBER_SIZE, "0.0");
  decimal d = shortest(fabs(x));
  int whole = d.point;
  if (whole > 0 && whole <= 16 && d.count <= whole)
    return snprintf(text, EVALCI_NUMBER_SIZE, "%s%.*s%.*s.0", sign, d.count, d.digits,
                    whole - d.count, "0000000000000000");
  if (whole > 0 && whole <= 16)
    return snprintf(text, EVALCI_NUMBER_SIZE, "%s%.*s.%.*s", sign, whole, d.digits, d.count - whole,
                    d.digits + whole);
  if (whole <= 0 && whole > -4)
    return snprintf(text, EVALCI_NUMBER_SIZE, "%s0.%.*s%.*s", sign, -whole, "0000", d.count,
                    d.digits);
  return snprintf(text, EVALCI_NUMBER_SIZE, "%s%c%s%.*se%d", sign, d.digits[0],
                  d.count > 1 ? "." : "", d.count - 1, d.digits + 1, whole - 1);
}

/* Reads digits into d, whose point moves with them when they are whole ones. */
static const char *read_digits(const char *c, decimal *d, bool whole) {
  for (; isdigit((unsigned char)*c); c++) {
    bool leading_zero = d->count == 0 && *c == '0';
    bool kept = !leading_zero && d->count < 40;
    if (kept) d->digits[d->count++] = *c;
    if (whole && !leading_zero) d->point++;
    if (!whole && leading_zero) d->point--;
  }
  return c;
}

const char *evalci_parse_number(const char *c, double *number) {
  decimal d = {.count = 0};
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
    for (; isdigit((unsigned char)*c); c++)
      if (exponent < 100000) exponent = 10 * exponent + (*c - '0');
    if (c == start) return NULL;
    d.point += down ? -exponent : exponent;
  }
  *number = d.count == 0 ? 0 : decimal_value(&d);
  if (minus) *number = -*number;
  return c;
}
