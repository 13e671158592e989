/*
** forest_svg: a line a row, with its label, its interval drawn to a common
** scale, and both in figures.
*/
#include <math.h>
#include <string.h>

#include "function.h"
#include "svg.h"

/* The label's width is in ems of 13 pixels, all else in pixels. */
static const double FOREST_EM = 13, FOREST_LABEL = 20, PLOT = 420, LINE = 28, TOP = 14, BOTTOM = 34,
                    FOREST_GAP = 12;

/* The numbers of a mark: the point, and the ends of the interval. */
static bool read_forest(evalci_call *call, sqlite3_value **argv, double *numbers) {
  ev_interval ci = {NAN, NAN};
  numbers[0] = NAN;
  if (sqlite3_value_type(argv[0]) != SQLITE_NULL && !evalci_read_point(call, argv[0], &numbers[0]))
    return false;
  if (sqlite3_value_type(argv[1]) != SQLITE_NULL && !evalci_read_interval(call, argv[1], &ci))
    return false;
  numbers[1] = ci.lo;
  numbers[2] = ci.hi;
  return true;
}

/* The axis: its ends, and the distance of its ticks. */
typedef struct axis {
  double from, to, tick;
  bool percent;
  int digits; /* after the point, of the numbers under it */
} axis;

/* 1, 2 or 5 times a power of ten, that goes about five times into a length. */
static double round_step(double length) {
  double power = pow(10, floor(log10(length / 5))), times = length / 5 / power;
  return power * (times < 1.5 ? 1 : times < 3.5 ? 2 : times < 7.5 ? 5 : 10);
}

/* What is beyond any sense is drawn as an arrow. */
static const double BEYOND = 1e9;

/* How many digits after the point tell two numbers from each other that differ by
** so much. */
static int digits_for(double difference, bool percent) {
  double shown = percent ? 100 * difference : difference;
  return (int)fmax(0, fmin(12, -floor(log10(shown) + 1e-9)));
}

/* From 0 to 1 if that holds everything, as it does for accuracies; otherwise
** whatever holds everything and 0, with room to show that an infinite interval
** goes on. */
static axis axis_of(const evalci_mark *marks, int count) {
  double least = 0, most = 0;
  bool percent = true, down = false, up = false;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < 3; j++) {
      double x = marks[i].numbers[j];
      down = down || x <= -BEYOND;
      up = up || x >= BEYOND;
      percent = percent && !(fabs(x) > 1.5);
      if (!(fabs(x) < BEYOND)) continue;
      least = fmin(least, x);
      most = fmax(most, x);
    }
  if (least >= 0 && most <= 1 && !down && !up) return (axis){0, 1, 0.2, true, 0};
  if (most - least < 1e-9) most = least + 1;
  double room = (most - least) / 4;
  if (down) least -= room;
  if (up) most += room;
  double tick = round_step(most - least);
  return (axis){tick * floor(least / tick), tick * ceil(most / tick), tick, percent,
                digits_for(tick, percent)};
}

static double x_of(const axis *s, double left, double value) {
  return left + PLOT * (value - s->from) / (s->to - s->from);
}

static void append_number(sqlite3_str *out, const axis *s, double x, int digits) {
  char number[EVALCI_NUMBER_SIZE];
  if (isinf(x)) {
    sqlite3_str_appendall(out, x < 0 ? "-∞" : "∞");
  } else if (s->percent) {
    evalci_append_fixed(out, 100 * x, digits);
    sqlite3_str_appendall(out, "%");
  } else if (fabs(x) < 1e6) {
    evalci_append_fixed(out, x, digits);
  } else {
    /* four digits of what is large */
    double power = pow(10, floor(log10(fabs(x))) - 3);
    number[evalci_write_number(rint(x / power) * power, number)] = 0;
    sqlite3_str_appendall(out, number);
  }
}

/* One digit more than tells an interval's ends from each other. */
static int digits_of(const axis *s, const evalci_mark *mark) {
  double width = mark->numbers[2] - mark->numbers[1];
  if (!(width > 0 && width < BEYOND)) return s->percent ? 1 : 3;
  return digits_for(width, s->percent) + 1;
}

static void open_text(sqlite3_str *out, const char *attributes, double x, double y) {
  sqlite3_str_appendf(out, "<text class=%s", attributes);
  evalci_append_at(out, "x", x);
  evalci_append_at(out, "y", y);
  sqlite3_str_appendall(out, ">");
}

/* A path: a move to x, y and what it does from there. */
static void open_path(sqlite3_str *out, const char *kind, double x, double y) {
  sqlite3_str_appendf(out, "<path class=\"%s\" d=\"M", kind);
  evalci_append_fixed(out, x, 1);
  sqlite3_str_appendall(out, " ");
  evalci_append_fixed(out, y, 1);
}

static void line_to(sqlite3_str *out, char command, double to) {
  sqlite3_str_appendchar(out, 1, command);
  evalci_append_fixed(out, to, 1);
  sqlite3_str_appendall(out, "\"/>");
}

static void draw_axis(sqlite3_str *out, const axis *s, double left, double bottom) {
  int marks = (int)lround((s->to - s->from) / s->tick);
  for (int i = 0; i <= marks; i++) {
    double value = s->from + i * s->tick, x = x_of(s, left, value);
    bool zero = fabs(value) < s->tick / 2 && s->from < 0;
    open_path(out, zero ? "zero" : "grid", x, TOP - 6);
    line_to(out, 'V', bottom);
    open_text(out, "\"soft\" text-anchor=\"middle\"", x, bottom + 18);
    append_number(out, s, zero ? 0 : value, s->digits);
    sqlite3_str_appendall(out, "</text>\n");
  }
}

/* The interval's bar.  An end beyond the scale is an arrow; when both are, beyond
** the same end, there is only that. */
static void draw_bar(sqlite3_str *out, const axis *s, const double *ends, double left, double y) {
  double x[2];
  for (int i = 0; i < 2; i++) {
    double inside = fmax(s->from, fmin(s->to, ends[i]));
    x[i] = x_of(s, left, inside);
    if (inside == ends[i]) {
      open_path(out, "bar", x[i], y - 5);
      sqlite3_str_appendall(out, "v10\"/>");
    } else if (i == (ends[i] > inside)) {
      open_path(out, "dot", x[i], y - 5);
      sqlite3_str_appendall(out, i ? "l7 5l-7 5z\"/>" : "l-7 5l7 5z\"/>");
    }
  }
  if (x[0] == x[1] && ends[0] != ends[1]) return;
  open_path(out, "bar", x[0], y);
  line_to(out, 'H', x[1]);
}

/* The figures of a row, in two columns. */
static void append_point(sqlite3_str *out, const axis *s, const evalci_mark *mark) {
  if (!isnan(mark->numbers[0])) append_number(out, s, mark->numbers[0], digits_of(s, mark));
}

static void append_interval(sqlite3_str *out, const axis *s, const evalci_mark *mark) {
  if (isnan(mark->numbers[1])) {
    if (isnan(mark->numbers[0])) sqlite3_str_appendall(out, "no answers");
    return;
  }
  append_number(out, s, mark->numbers[1], digits_of(s, mark));
  sqlite3_str_appendall(out, s->from < 0 ? " to " : "–");
  append_number(out, s, mark->numbers[2], digits_of(s, mark));
}

/* How wide a column of figures is, in pixels; false when there is no memory to
** write them. */
static bool measure(const axis *s, const evalci_mark *marks, int count,
                    void (*append)(sqlite3_str *, const axis *, const evalci_mark *),
                    double *width) {
  sqlite3_str *text = sqlite3_str_new(NULL);
  *width = 0;
  for (int i = 0; i < count; i++) {
    sqlite3_str_reset(text);
    append(text, s, &marks[i]);
    const char *written = sqlite3_str_value(text);
    if (written) *width = fmax(*width, FOREST_EM * evalci_label_width(written, 60));
  }
  bool done = sqlite3_str_errcode(text) == SQLITE_OK;
  sqlite3_free(sqlite3_str_finish(text));
  return done;
}

static void draw_row(sqlite3_str *out, const axis *s, const evalci_mark *mark, double left,
                     double figures, double y) {
  double point = mark->numbers[0];
  open_text(out, "\"ink\" text-anchor=\"end\"", left - FOREST_GAP, y + 4.5);
  evalci_append_label(out, mark->labels[0], FOREST_LABEL);
  sqlite3_str_appendall(out, "</text>");
  if (!isnan(mark->numbers[1])) draw_bar(out, s, mark->numbers + 1, left, y);
  if (point >= s->from && point <= s->to) {
    sqlite3_str_appendall(out, "<circle class=\"dot\" r=\"4.5\"");
    evalci_append_at(out, "cx", x_of(s, left, point));
    evalci_append_at(out, "cy", y);
    sqlite3_str_appendall(out, "/>");
  }
  open_text(out, "\"ink\"", left + PLOT + FOREST_GAP, y + 4.5);
  append_point(out, s, mark);
  sqlite3_str_appendall(out, "</text>");
  open_text(out, "\"soft\"", figures, y + 4.5);
  append_interval(out, s, mark);
  sqlite3_str_appendall(out, "</text>\n");
}

static bool draw_forest(evalci_call *call, const evalci_mark *marks, int count, sqlite3_str *out) {
  (void)call;
  axis s = axis_of(marks, count);
  double label = 3;
  for (int i = 0; i < count; i++)
    label = fmax(label, evalci_label_width(marks[i].labels[0], FOREST_LABEL));
  double left = FOREST_GAP + FOREST_EM * label + FOREST_GAP, bottom = TOP + LINE * count, points,
         intervals;
  if (!measure(&s, marks, count, append_point, &points) ||
      !measure(&s, marks, count, append_interval, &intervals))
    return false;
  double figures = left + PLOT + FOREST_GAP + points + FOREST_GAP,
         right = figures + intervals + FOREST_GAP;
  evalci_open_svg(out, right, bottom + BOTTOM, "Intervals");
  draw_axis(out, &s, left, bottom);
  for (int i = 0; i < count; i++)
    draw_row(out, &s, &marks[i], left, figures, TOP + LINE * (i + 0.5));
  evalci_close_svg(out);
  return true;
}

const evalci_picture evalci_forest = {{"label", "point", "ci"},
                                      1,
                                      1000,
                                      "draw fewer, with LIMIT in a subquery",
                                      read_forest,
                                      draw_forest};
