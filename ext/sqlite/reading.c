/*
** Functions that read an interval: ci_lo, ci_hi, ci_width as numbers, ci_text as
** text for people, ci_bar as a drawing.
*/
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "function.h"

/*
** Numbers
*/
static void result_part(sqlite3_context *context, sqlite3_value *value,
                        double (*part)(ev_interval)) {
  evalci_call call = evalci_call_of(context);
  ev_interval ci;
  if (sqlite3_value_type(value) == SQLITE_NULL) return;
  if (evalci_read_interval(&call, value, &ci))
    sqlite3_result_double(context, part(ci));
  else
    evalci_report(context, &call);
}

static double lo_part(ev_interval ci) {
  return ci.lo;
}

static double hi_part(ev_interval ci) {
  return ci.hi;
}

static double width_part(ev_interval ci) {
  return ci.lo < ci.hi ? ci.hi - ci.lo : 0;
}

static void ci_lo(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  result_part(context, argv[0], lo_part);
}

static void ci_hi(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  result_part(context, argv[0], hi_part);
}

static void ci_width(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  result_part(context, argv[0], width_part);
}

const evalci_kind evalci_lo = {.names = {"ci"}, .scalar = ci_lo};
const evalci_kind evalci_hi = {.names = {"ci"}, .scalar = ci_hi};
const evalci_kind evalci_width = {.names = {"ci"}, .scalar = ci_width};

/*
** Text (contract 21)
*/
enum { MOST_DIGITS = 15, FIXED_SIZE = 340 /* 309 digits of the largest double, a sign, a point */ };

/* A bound as people read it. */
typedef struct bound_text {
  char text[FIXED_SIZE + sizeof "−∞"];
  size_t size;
  bool negative; /* the sign as written: -0.0001 with one digit is 0.0, and not negative */
} bound_text;

static void append_text(bound_text *b, const char *text) {
  memcpy(b->text + b->size, text, strlen(text));
  b->size += strlen(text);
}

/* Writes x with `digits` and a unit; the decimal point is a point whatever the locale. */
static bound_text write_bound(double x, int digits, const char *unit) {
  char local[FIXED_SIZE];
  bound_text b = {.negative = false};
  double scaled = *unit == '%' ? 100 * x : x;
  snprintf(local, sizeof local, "%.*f", digits, fabs(scaled));
  b.negative = scaled < 0 && (isinf(scaled) || strpbrk(local, "123456789"));
  if (b.negative) append_text(&b, "−");
  if (isinf(scaled)) {
    append_text(&b, "∞");
    return b;
  }
  for (const char *c = local; *c; c++) {
    if (*c >= '0' && *c <= '9')
      b.text[b.size++] = *c;
    else if (b.text[b.size - 1] != '.')
      b.text[b.size++] = '.';
  }
  append_text(&b, unit);
  return b;
}

/* '%', or nothing for a plain number. */
static bool read_unit(evalci_call *call, sqlite3_value *value, const char **unit) {
  if (sqlite3_value_type(value) == SQLITE_TEXT) {
    const char *text = (const char *)sqlite3_value_text(value);
    if (!text) return false;
    *unit = *text == '%' ? "%" : "";
    if (strcmp(text, *unit) == 0) return true;
  }
  return evalci_fail(call, "unit must be '%%', or '' for plain numbers, got %s",
                     evalci_show(value).text);
}

/* A dash after a minus would read as another one. */
static void ci_text(sqlite3_context *context, int argc, sqlite3_value **argv) {
  evalci_call call = evalci_call_of(context);
  ev_interval ci;
  double digits = 1;
  const char *unit = "%";
  if (evalci_any_null(argc, argv)) return;
  bool ok = evalci_read_interval(&call, argv[0], &ci);
  if (ok && argc > 1) ok = evalci_read_whole(&call, "digits", argv[1], 0, MOST_DIGITS, &digits);
  if (ok && argc > 2) ok = read_unit(&call, argv[2], &unit);
  if (!ok) {
    evalci_report(context, &call);
    return;
  }
  bound_text lo = write_bound(ci.lo, (int)digits, unit), hi = write_bound(ci.hi, (int)digits, unit);
  char text[sizeof lo.text + sizeof " to " + sizeof hi.text];
  int size = snprintf(text, sizeof text, "%.*s%s%.*s", (int)lo.size, lo.text,
                      lo.negative || hi.negative ? " to " : "–", (int)hi.size, hi.text);
  sqlite3_result_text(context, text, size, SQLITE_TRANSIENT);
}

const evalci_kind evalci_text = {.names = {"ci"}, .scalar = ci_text};

/*
** A drawing on [0,1] (contract 22)
*/
enum { LEAST_WIDTH = 5, MOST_WIDTH = 500, NO_CELL = -2 };

/* The cell of [0,1] that contains x; -1 and `width` are beyond its ends. */
static int cell_at(double x, int width) {
  if (x < 0) return -1;
  if (x > 1) return width;
  return x < 1 ? (int)(x * width) : width - 1;
}

/* The glyph of one cell.  An end beyond [0,1] is an arrow head.  An interval inside one cell is
** a stroke, so that a collapsed interval is visible. */
static const char *glyph(int cell, int lo, int hi, int point, int width) {
  bool first = cell == 0, last = cell == width - 1;
  if (cell == point) return "●";
  if (first && lo < 0) return "<";
  if (last && hi >= width) return ">";
  if (cell == lo && cell == hi) return "│";
  if (cell == lo) return "├";
  if (cell == hi) return "┤";
  return cell > lo && cell < hi ? "─" : "·";
}

/* Whether x lies in [0,1], where it can be drawn. */
static bool read_bar_point(evalci_call *call, sqlite3_value *value, double *point) {
  if (!evalci_read_point(call, value, point)) return false;
  if (*point >= 0 && *point <= 1) return true;
  return evalci_fail(call,
                     "point must be from 0 to 1, where the bar is drawn, got %s; "
                     "pass a share, as avg(correct), or draw with forest_svg()",
                     evalci_show(value).text);
}

static const int USUAL_WIDTH = 30;

/* `point` is NO_CELL if no point is marked. */
static void result_bar(sqlite3_context *context, ev_interval ci, int point, int cells) {
  char text[MOST_WIDTH * sizeof "─"];
  size_t used = 0;
  int lo = cell_at(ci.lo, cells), hi = cell_at(ci.hi, cells);
  /* a point beside an arrow head, not over it */
  if (point == 0 && lo < 0) point = 1;
  if (point == cells - 1 && hi >= cells) point = cells - 2;
  for (int cell = 0; cell < cells; cell++) {
    const char *drawn = glyph(cell, lo, hi, point, cells);
    memcpy(text + used, drawn, strlen(drawn));
    used += strlen(drawn);
  }
  sqlite3_result_text(context, text, (int)used, SQLITE_TRANSIENT);
}

void evalci_result_bar(sqlite3_context *context, ev_interval ci, double point) {
  result_bar(context, ci, cell_at(point, USUAL_WIDTH), USUAL_WIDTH);
}

static void ci_bar(sqlite3_context *context, int argc, sqlite3_value **argv) {
  evalci_call call = evalci_call_of(context);
  ev_interval ci;
  double at = 0, width = USUAL_WIDTH;
  if (evalci_any_null(argc, argv)) return;
  bool ok = evalci_read_interval(&call, argv[0], &ci);
  if (ok && argc > 1) ok = read_bar_point(&call, argv[1], &at);
  if (ok && argc > 2)
    ok = evalci_read_whole(&call, "width", argv[2], LEAST_WIDTH, MOST_WIDTH, &width);
  if (ok)
    result_bar(context, ci, argc > 1 ? cell_at(at, (int)width) : NO_CELL, (int)width);
  else
    evalci_report(context, &call);
}

const evalci_kind evalci_bar = {.names = {"ci"}, .scalar = ci_bar};
