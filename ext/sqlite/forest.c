/*
** forest_svg: a line a row, with its label, its interval drawn to a common
** scale, and both in figures.
*/
#include <math.h>
#include <string.h>

#include "svg.h"

/* All in pixels but the labels' width, which is in ems of 13. */
static const double EM = 13, MOST_LABEL = 20, PLOT = 420, LINE = 28, TOP = 14, BOTTOM = 34,
                    GAP = 12;

/* From the left end of the scale to the right, and from one mark on it to the
** next. */
typedef struct scale {
  double from, to, apart;
  bool percent;
  int digits; /* after the point, of the numbers under it */
} scale;

/* 1, 2 or 5 times a power of ten, that goes about five times into a length. */
static double round_step(double length) {
  double power = pow(10, floor(log10(length / 5))), times = length / 5 / power;
  return power * (times < 1.5 ? 1 : times < 3.5 ? 2 : times < 7.5 ? 5 : 10);
}

/* What is beyond any sense is drawn as an arrow. */
static const double BEYOND = 1e9;

/* How many digits after the point tell numbers apart that differ by so much. */
static int digits_for(double apart, bool percent) {
  double shown = percent ? 100 * apart : apart;
  return (int)fmax(0, fmin(12, -floor(log10(shown) + 1e-9)));
}

/* From 0 to 1 if that holds everything, as it does for accuracies; otherwise
** whatever holds everything and 0, with room to show that an infinite interval
** goes on. */
static scale scale_of(const evalci_mark *marks, int count) {
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
  if (least >= 0 && most <= 1 && !down && !up) return (scale){0, 1, 0.2, true, 0};
  if (most - least < 1e-9) most = least + 1;
  double room = (most - least) / 4;
  if (down) least -= room;
  if (up) most += room;
  double apart = round_step(most - least);
  return (scale){apart * floor(least / apart), apart * ceil(most / apart), apart, percent,
                 digits_for(apart, percent)};
}

static double x_of(const scale *s, double left, double value) {
  return left + PLOT * (value - s->from) / (s->to - s->from);
}

static void append_number(sqlite3_str *out, const scale *s, double x, int digits) {
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

/* One digit more than tells an interval's ends apart. */
static int digits_of(const scale *s, const evalci_mark *mark) {
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

static void draw_scale(sqlite3_str *out, const scale *s, double left, double bottom) {
  int marks = (int)lround((s->to - s->from) / s->apart);
  for (int i = 0; i <= marks; i++) {
    double value = s->from + i * s->apart, x = x_of(s, left, value);
    bool zero = fabs(value) < s->apart / 2 && s->from < 0;
    open_path(out, zero ? "zero" : "grid", x, TOP - 6);
    line_to(out, 'V', bottom);
    open_text(out, "\"soft\" text-anchor=\"middle\"", x, bottom + 18);
    append_number(out, s, zero ? 0 : value, s->digits);
    sqlite3_str_appendall(out, "</text>\n");
  }
}

/* The interval's bar.  An end beyond the scale is an arrow; when both are, beyond
** the same end, there is only that. */
static void draw_bar(sqlite3_str *out, const scale *s, const double *ends, double left, double y) {
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
static void append_point(sqlite3_str *out, const scale *s, const evalci_mark *mark) {
  if (!isnan(mark->numbers[0])) append_number(out, s, mark->numbers[0], digits_of(s, mark));
}

static void append_interval(sqlite3_str *out, const scale *s, const evalci_mark *mark) {
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
static bool measure(const scale *s, const evalci_mark *marks, int count,
                    void (*append)(sqlite3_str *, const scale *, const evalci_mark *),
                    double *width) {
  sqlite3_str *text = sqlite3_str_new(NULL);
  *width = 0;
  for (int i = 0; i < count; i++) {
    sqlite3_str_reset(text);
    append(text, s, &marks[i]);
    const char *written = sqlite3_str_value(text);
    if (written) *width = fmax(*width, EM * evalci_label_width(written, 60));
  }
  bool done = sqlite3_str_errcode(text) == SQLITE_OK;
  sqlite3_free(sqlite3_str_finish(text));
  return done;
}

static void draw_row(sqlite3_str *out, const scale *s, const evalci_mark *mark, double left,
                     double figures, double y) {
  double point = mark->numbers[0];
  open_text(out, "\"ink\" text-anchor=\"end\"", left - GAP, y + 4.5);
  evalci_append_label(out, mark->labels[0], MOST_LABEL);
  sqlite3_str_appendall(out, "</text>");
  if (!isnan(mark->numbers[1])) draw_bar(out, s, mark->numbers + 1, left, y);
  if (point >= s->from && point <= s->to) {
    sqlite3_str_appendall(out, "<circle class=\"dot\" r=\"4.5\"");
    evalci_append_at(out, "cx", x_of(s, left, point));
    evalci_append_at(out, "cy", y);
    sqlite3_str_appendall(out, "/>");
  }
  open_text(out, "\"ink\"", left + PLOT + GAP, y + 4.5);
  append_point(out, s, mark);
  sqlite3_str_appendall(out, "</text>");
  open_text(out, "\"soft\"", figures, y + 4.5);
  append_interval(out, s, mark);
  sqlite3_str_appendall(out, "</text>\n");
}

bool evalci_draw_forest(evalci_call *call, const evalci_mark *marks, int count, sqlite3_str *out) {
  (void)call;
  scale s = scale_of(marks, count);
  double label = 3;
  for (int i = 0; i < count; i++)
    label = fmax(label, evalci_label_width(marks[i].labels[0], MOST_LABEL));
  double left = GAP + EM * label + GAP, bottom = TOP + LINE * count, points, intervals;
  if (!measure(&s, marks, count, append_point, &points) ||
      !measure(&s, marks, count, append_interval, &intervals))
    return false;
  double figures = left + PLOT + GAP + points + GAP, right = figures + intervals + GAP;
  evalci_open_svg(out, right, bottom + BOTTOM, "Intervals");
  draw_scale(out, &s, left, bottom);
  for (int i = 0; i < count; i++)
    draw_row(out, &s, &marks[i], left, figures, TOP + LINE * (i + 0.5));
  evalci_close_svg(out);
  return true;
}
