/*
** The axis of a forest: from where to where, linear or logarithmic, and its ticks.
**
** Shares are drawn from 0 to 1, unless half of that range holds them all: then the axis is
** fitted to them.  Every other axis is fitted too, and includes 0 if some number is negative,
** as with differences, or if 0 is near.
** The options may fix either end.
*/
#include <math.h>

#include "axis.h"
#include "function.h"

/* The range of the numbers in the marks and of the reference line. */
typedef struct extent {
  double least, most;
  bool down, up; /* some interval is infinite or too large to draw */
  bool shares;   /* all between 0 and 1 */
  bool percent;  /* all of the size of shares and their differences, with room for CLT intervals of
                    them */
} extent;

static void hold(extent *e, double x) {
  e->least = fmin(e->least, x);
  e->most = fmax(e->most, x);
}

static extent extent_of(const evalci_mark *marks, int count, bool logarithmic) {
  extent e = {HUGE_VAL, -HUGE_VAL, false, false, true, true};
  double below = logarithmic ? 1 / EVALCI_BEYOND : -EVALCI_BEYOND;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < 3; j++) {
      double x = marks[i].numbers[j];
      if (isnan(x)) continue;
      e.down = e.down || x <= below;
      e.up = e.up || x >= EVALCI_BEYOND;
      e.shares = e.shares && x >= 0 && x <= 1;
      e.percent = e.percent && fabs(x) <= 1.5;
      if (x > below && x < EVALCI_BEYOND) hold(&e, x);
    }
  return e;
}

/* The number 1, 2 or 5 times a power of ten that divides a length into about five steps. */
static double round_step(double length) {
  double power = pow(10, floor(log10(length / 5))), times = length / 5 / power;
  return power * (times < 1.5 ? 1 : times < 3.5 ? 2 : times < 7.5 ? 5 : 10);
}

/* A length to draw when all numbers are equal: half of their size, or a few points for shares. */
static void widen(extent *e) {
  double size = fmax(fabs(e->least), fabs(e->most));
  if (e->most - e->least > 1e-9 * fmax(size, e->shares ? 1 : 1e-9)) return;
  double more = e->shares ? 0.05 : size > 1e-9 ? size / 2 : 1;
  e->least -= more;
  e->most += more;
}

/* Moves the ends to ticks, with room for the arrow of an infinite interval. */
static void fit(evalci_axis *a, extent e) {
  widen(&e);
  double span = e.most - e.least;
  if (!e.shares) {
    /* a range with negative numbers already includes 0 */
    if (e.least > 0 && e.least <= span) e.least = 0;
    span = e.most - e.least;
  }
  if (e.down) e.least -= span / 4;
  if (e.up) e.most += span / 4;
  /* the longer range may need longer steps */
  double step = round_step(e.most - e.least);
  for (int i = 0; i < 2; i++) {
    a->from = step * floor(e.least / step + 1e-9);
    a->to = step * ceil(e.most / step - 1e-9);
    step = round_step(a->to - a->from);
  }
  if (!e.shares) return;
  a->from = fmax(0, a->from);
  a->to = fmin(1, a->to);
  if (a->to - a->from <= 0.5 + 1e-9) return;
  a->from = 0;
  a->to = 1;
}

static void linear_ticks(evalci_axis *a) {
  a->step = round_step(a->to - a->from);
  double first = ceil(a->from / a->step - 1e-6);
  for (int i = 0; i < EVALCI_MOST_TICKS; i++) {
    double value = (first + i) * a->step;
    if (value > a->to + a->step / 1e6) break;
    a->tick[a->ticks++] = value;
  }
}

/* The n-th number of the series 1, 2, 5, 10, 20, 50 and so on, starting at 1. */
static double third_of_decade(int third) {
  static const double times[] = {1, 2, 5};
  int decade = (int)floor(third / 3.0);
  return times[third - 3 * decade] * pow(10, decade);
}

static int third_below(double x) {
  int third = 3 * (int)floor(log10(x)) + 3;
  while (third_of_decade(third) > x * (1 + 1e-9)) third--;
  return third;
}

static void fit_logarithmic(evalci_axis *a, extent e) {
  if (e.down) e.least /= 4;
  if (e.up) e.most *= 4;
  a->from = third_of_decade(third_below(e.least));
  int above = third_below(e.most);
  while (third_of_decade(above) < e.most * (1 - 1e-9)) above++;
  a->to = third_of_decade(above);
  if (a->to > a->from * 1.5) return;
  a->from = third_of_decade(third_below(e.least) - 1);
  a->to = third_of_decade(above + 1);
}

/* Ticks at 1, 2 and 5 times powers of ten, or at as many powers of ten as fit; where fewer than
** two of those lie on the axis, the ticks of a linear axis. */
enum { MOST_LOG_TICKS = 10 };
static void logarithmic_ticks(evalci_axis *a) {
  static const int strides[] = {1, 3, 6, 9};
  for (int i = 0; i < 4; i++) {
    int third = third_below(a->from);
    a->ticks = 0;
    for (; third_of_decade(third) <= a->to * (1 + 1e-9); third++) {
      if (third % strides[i] != 0 || third_of_decade(third) < a->from * (1 - 1e-9)) continue;
      if (a->ticks == MOST_LOG_TICKS) break;
      a->tick[a->ticks++] = third_of_decade(third);
    }
    if (a->ticks < MOST_LOG_TICKS) break;
  }
  if (a->ticks >= 2) return;
  a->ticks = 0;
  linear_ticks(a);
}

/* The reference line is at 0, or at 1 where the numbers are ratios. */
static double line_of(const evalci_drawing *options, const extent *e) {
  if (!isnan(options->line)) return options->line;
  if (options->logarithmic) return 1;
  return e->least < 0 ? 0 : NAN;
}

/* Sets the ends that the options fix.  If they fix one, the other is moved to its right side. */
static void fix_ends(evalci_axis *a, const evalci_drawing *options) {
  if (!isnan(options->from)) a->from = options->from;
  if (!isnan(options->to)) a->to = options->to;
  if (a->to - a->from > (a->logarithmic ? 1e-6 * a->from : 1e-12)) return;
  double more = a->logarithmic ? 0 : fmax(1, fabs(a->from) / 2), times = a->logarithmic ? 10 : 1;
  if (isnan(options->to))
    a->to = a->from * times + more;
  else
    a->from = a->to / times - more;
}

evalci_axis evalci_axis_of(const evalci_drawing *options, const evalci_mark *marks, int count) {
  evalci_axis a = {.logarithmic = options->logarithmic};
  extent e = extent_of(marks, count, a.logarithmic);
  a.percent = options->unit ? *options->unit == '%' : e.percent && !a.logarithmic;
  e.shares = e.shares && a.percent;
  a.line = line_of(options, &e);
  if (!isnan(a.line)) {
    e.shares = e.shares && a.line >= 0 && a.line <= 1;
    hold(&e, a.line);
  }
  /* nothing to draw: no number, or only numbers too large to draw */
  if (e.least > e.most) hold(&e, 0), hold(&e, 1);
  if (a.logarithmic)
    fit_logarithmic(&a, e);
  else
    fit(&a, e);
  fix_ends(&a, options);
  if (a.logarithmic)
    logarithmic_ticks(&a);
  else
    linear_ticks(&a);
  return a;
}

double evalci_along(const evalci_axis *a, double value) {
  double inside = fmax(a->from, fmin(a->to, value));
  if (a->logarithmic) return log(inside / a->from) / log(a->to / a->from);
  return (inside - a->from) / (a->to - a->from);
}

int evalci_digits_for(const evalci_axis *axis, double difference) {
  double shown = axis->percent ? 100 * difference : difference;
  return (int)fmax(0, fmin(12, -floor(log10(shown) + 1e-9)));
}

int evalci_tick_digits(const evalci_axis *axis, double tick) {
  return evalci_digits_for(axis, axis->step > 0 ? axis->step : tick);
}

void evalci_append_value(sqlite3_str *out, const evalci_axis *axis, double x, int digits) {
  double shown = axis->percent ? 100 * x : x;
  if (isinf(x)) {
    sqlite3_str_appendall(out, x < 0 ? "−∞" : "∞");
    return;
  }
  if (fabs(shown) < 1e6) {
    evalci_append_number(out, shown, digits);
  } else {
    /* large numbers keep four digits */
    char number[EVALCI_NUMBER_SIZE];
    double power = pow(10, floor(log10(fabs(shown))) - 3);
    number[evalci_write_number(rint(fabs(shown) / power) * power, number)] = 0;
    sqlite3_str_appendf(out, "%s%s", shown < 0 ? "−" : "", number);
  }
  if (axis->percent) sqlite3_str_appendall(out, "%");
}
