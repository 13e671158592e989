/*
** An interval for people: ci_text as percentages, ci_bar as a drawing.
*/
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "surface.h"

enum { MOST_DIGITS = 15, LEAST_WIDTH = 5, MOST_WIDTH = 500 };

/* Room for a percentage: 309 digits of the largest double, a sign, a point. */
enum { PERCENT_SIZE = 340 };

/* 100 x with so many digits, a plain point whatever the locale's is, and no
** minus before a zero. */
static size_t write_percent(double x, int digits, char text[PERCENT_SIZE]) {
  char local[PERCENT_SIZE];
  size_t used = 0;
  double percent = 100 * x;
  if (isinf(percent)) return (size_t)snprintf(text, PERCENT_SIZE, "%s∞", x < 0 ? "-" : "");
  snprintf(local, sizeof local, "%.*f", digits, percent);
  bool zero = !strpbrk(local, "123456789");
  for (const char *c = local + (zero && percent < 0); *c; c++) {
    bool plain = *c == '-' || (*c >= '0' && *c <= '9');
    if (plain)
      text[used++] = *c;
    else if (text[used - 1] != '.')
      text[used++] = '.';
  }
  text[used++] = '%';
  return used;
}

void evalci_text(sqlite3_context *context, int argc, sqlite3_value **argv) {
  evalci_call call = evalci_call_of(context);
  ev_interval ci;
  double digits = 1;
  if (evalci_any_null(argc, argv)) return;
  if (!evalci_read_interval(&call, argv[0], &ci) ||
      (argc > 1 && !evalci_read_whole(&call, "digits", argv[1], 0, MOST_DIGITS, &digits))) {
    evalci_report(context, &call);
    return;
  }
  char text[2 * PERCENT_SIZE + sizeof "–"];
  size_t used = write_percent(ci.lo, (int)digits, text);
  memcpy(text + used, "–", strlen("–"));
  used += strlen("–");
  used += write_percent(ci.hi, (int)digits, text + used);
  sqlite3_result_text(context, text, (int)used, SQLITE_TRANSIENT);
}

/* The cell of [0,1] that x falls in; -1 and `width` are beyond its ends. */
static int cell_of(double x, int width) {
  if (x < 0) return -1;
  if (x > 1) return width;
  return x < 1 ? (int)(x * width) : width - 1;
}

/* The glyph of one cell.  An end that lies beyond [0,1] is an arrow head; an
** interval within one cell is a stroke, so a collapsed one is seen to be. */
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

void evalci_bar(sqlite3_context *context, int argc, sqlite3_value **argv) {
  evalci_call call = evalci_call_of(context);
  ev_interval ci;
  double at = -1, width = 30;
  if (evalci_any_null(argc, argv)) return;
  bool ok = evalci_read_interval(&call, argv[0], &ci);
  if (ok && argc > 1) ok = evalci_read_point(&call, argv[1], &at);
  if (ok && argc > 2)
    ok = evalci_read_whole(&call, "width", argv[2], LEAST_WIDTH, MOST_WIDTH, &width);
  if (!ok) {
    evalci_report(context, &call);
    return;
  }
  char text[MOST_WIDTH * sizeof "─"];
  size_t used = 0;
  int cells = (int)width, lo = cell_of(ci.lo, cells), hi = cell_of(ci.hi, cells);
  int point = cell_of(at, cells);
  for (int cell = 0; cell < cells; cell++) {
    const char *drawn = glyph(cell, lo, hi, point, cells);
    memcpy(text + used, drawn, strlen(drawn));
    used += strlen(drawn);
  }
  sqlite3_result_text(context, text, (int)used, SQLITE_TRANSIENT);
}
