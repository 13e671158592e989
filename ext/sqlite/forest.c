/*
** forest_svg: a line a row, with its label, its interval drawn to a common
** scale, and both in figures.
*/
#include <math.h>

#include "svg.h"

/* All in pixels but the labels' width, which is in ems of 13. */
static const double EM = 13, MOST_LABEL = 20, PLOT = 420, FIGURES = 172, LINE = 28, TOP = 14,
                    BOTTOM = 34, GAP = 12;

/* From the left end of the scale to the right, and from one mark on it to the
** next. */
typedef struct scale {
  double from, to, apart;
  bool percent;
} scale;

/* 1, 2 or 5 times a power of ten, that goes about five times into a length. */
static double round_step(double length) {
  double power = pow(10, floor(log10(length / 5))), times = length / 5 / power;
  return power * (times < 1.5 ? 1 : times < 3.5 ? 2 : times < 7.5 ? 5 : 10);
}

/* From 0 to 1 if that holds everything, as it does for accuracies; otherwise
** whatever holds everything and 0.  What is beyond any sense is drawn as an
** arrow. */
static const double BEYOND = 1e9;

static scale scale_of(const evalci_mark *marks, int count) {
  double least = 0, most = 0;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < 3; j++) {
      double x = marks[i].numbers[j];
      if (!(fabs(x) < BEYOND)) continue;
      least = fmin(least, x);
      most = fmax(most, x);
    }
  if ((least >= 0 && most <= 1) || most - least < 1e-9) return (scale){0, 1, 0.2, true};
  double apart = round_step(most - least);
  return (scale){apart * floor(least / apart), apart * ceil(most / apart), apart,
                 fmax(-least, most) <= 1.5};
}

static double x_of(const scale *s, double left, double value) {
  return left + PLOT * (value - s->from) / (s->to - s->from);
}

static void append_number(sqlite3_str *out, const scale *s, double x, int digits) {
  if (isinf(x))
    sqlite3_str_appendall(out, x < 0 ? "-∞" : "∞");
  else if (s->percent)
    sqlite3_str_appendf(out, "%.*f%%", digits, fabs(x) < 5e-5 ? 0.0 : 100 * x);
  else
    sqlite3_str_appendf(out, "%.*g", digits + 3, x);
}

static void draw_scale(sqlite3_str *out, const scale *s, double left, double bottom) {
  int marks = (int)lround((s->to - s->from) / s->apart);
  for (int i = 0; i <= marks; i++) {
    double value = s->from + i * s->apart, x = x_of(s, left, value);
    bool zero = fabs(value) < s->apart / 2 && s->from < 0;
    sqlite3_str_appendf(out, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>", zero ? "zero" : "grid",
                        x, TOP - 6, bottom);
    sqlite3_str_appendf(out, "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                        x, bottom + 18);
    append_number(out, s, zero ? 0 : value, 0);
    sqlite3_str_appendall(out, "</text>\n");
  }
}

/* The interval's bar, cut off at the ends of the scale with an arrow. */
static void draw_bar(sqlite3_str *out, const scale *s, const double *ends, double left, double y) {
  double x[2];
  for (int i = 0; i < 2; i++) {
    double inside = fmax(s->from, fmin(s->to, ends[i])), way = i ? 1 : -1;
    x[i] = x_of(s, left, inside);
    if (inside == ends[i])
      sqlite3_str_appendf(out, "<path class=\"bar\" d=\"M%.1f %.1fv10\"/>", x[i], y - 5);
    else
      sqlite3_str_appendf(out, "<path class=\"dot\" d=\"M%.1f %.1fl%.0f 5l%.0f 5z\"/>", x[i], y - 5,
                          7 * way, -7 * way);
  }
  sqlite3_str_appendf(out, "<path class=\"bar\" d=\"M%.1f %.1fH%.1f\"/>", x[0], y, x[1]);
}

static void draw_row(sqlite3_str *out, const scale *s, const evalci_mark *mark, double left,
                     double y) {
  double point = mark->numbers[0];
  bool has_point = !isnan(point), has_bar = !isnan(mark->numbers[1]);
  sqlite3_str_appendf(out, "<text class=\"ink\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">",
                      left - GAP, y + 4.5);
  evalci_append_label(out, mark->labels[0], MOST_LABEL);
  sqlite3_str_appendall(out, "</text>");
  if (has_bar) draw_bar(out, s, mark->numbers + 1, left, y);
  if (has_point && point >= s->from && point <= s->to)
    sqlite3_str_appendf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>",
                        x_of(s, left, point), y);
  sqlite3_str_appendf(out, "<text class=\"ink\" x=\"%.1f\" y=\"%.1f\">", left + PLOT + GAP,
                      y + 4.5);
  if (has_point) append_number(out, s, point, 1);
  sqlite3_str_appendf(out, "</text><text class=\"soft\" x=\"%.1f\" y=\"%.1f\">",
                      left + PLOT + GAP + 58, y + 4.5);
  if (has_bar) {
    append_number(out, s, mark->numbers[1], 1);
    sqlite3_str_appendall(out, mark->numbers[2] < 0 ? " to " : "–");
    append_number(out, s, mark->numbers[2], 1);
  } else if (!has_point) {
    sqlite3_str_appendall(out, "no answers");
  }
  sqlite3_str_appendall(out, "</text>\n");
}

bool evalci_draw_forest(evalci_call *call, const evalci_mark *marks, int count, sqlite3_str *out) {
  (void)call;
  scale s = scale_of(marks, count);
  double label = 3;
  for (int i = 0; i < count; i++)
    label = fmax(label, evalci_label_width(marks[i].labels[0], MOST_LABEL));
  double left = GAP + EM * label + GAP, bottom = TOP + LINE * count;
  evalci_open_svg(out, left + PLOT + GAP + FIGURES + GAP, bottom + BOTTOM, "Intervals");
  draw_scale(out, &s, left, bottom);
  for (int i = 0; i < count; i++) draw_row(out, &s, &marks[i], left, TOP + LINE * (i + 0.5));
  evalci_close_svg(out);
  return true;
}
