/*
** forest_svg: one line per row, with its label, its interval drawn to a common scale, and its
** numbers as text.
*/
#include <math.h>

#include "axis.h"
#include "function.h"

/* The label's width is in ems of 13 pixels, all else in pixels. */
static const double FOREST_EM = 13, FOREST_LABEL = 20, PLOT = 420, LINE = 28, TOP = 32, BOTTOM = 34,
                    FOREST_GAP = 12, AXIS_TITLE = 20;

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

static double x_of(const evalci_axis *s, double left, double value) {
  return left + PLOT * evalci_along(s, value);
}

/* The digits to show: one more than it takes to tell the interval's ends apart; or to tell them
** from 0, where they are ratios or one of them is infinite. */
static int digits_of(const evalci_axis *s, const evalci_mark *mark) {
  double lo = mark->numbers[1], hi = mark->numbers[2], width = hi - lo;
  if (isinf(width)) width = isinf(hi) ? fabs(lo) : fabs(hi);
  if (s->logarithmic && lo > 0) width = fmin(width, lo);
  if (!(width > 0 && width < EVALCI_BEYOND)) return s->percent ? 1 : 3;
  return evalci_digits_for(s, width) + 1;
}

/* Draws a path: moves to x, y and then follows `path`. */
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

static void draw_axis(sqlite3_str *out, const evalci_axis *s, double left, double top,
                      double bottom) {
  for (int i = 0; i < s->ticks; i++) {
    double x = x_of(s, left, s->tick[i]);
    open_path(out, "grid", x, top - 6);
    line_to(out, 'V', bottom);
    evalci_open_text(out, "\"soft\" text-anchor=\"middle\"", x, bottom + 18);
    evalci_append_value(out, s, s->tick[i], evalci_tick_digits(s, s->tick[i]));
    evalci_close_text(out);
  }
  if (!(s->line >= s->from && s->line <= s->to)) return;
  open_path(out, "zero", x_of(s, left, s->line), top - 6);
  line_to(out, 'V', bottom);
}

/* Draws the interval's bar.  An end beyond the scale is an arrow; if both ends lie beyond the
** same end of the scale, only the arrow is drawn. */
static void draw_bar(sqlite3_str *out, const evalci_axis *s, const double *ends, double left,
                     double y) {
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

/* The numbers of a row as text, in two columns. */
static void append_point(sqlite3_str *out, const evalci_axis *s, const evalci_mark *mark) {
  if (!isnan(mark->numbers[0])) evalci_append_value(out, s, mark->numbers[0], digits_of(s, mark));
}

static void append_interval(sqlite3_str *out, const evalci_axis *s, const evalci_mark *mark) {
  if (isnan(mark->numbers[1])) {
    if (isnan(mark->numbers[0])) sqlite3_str_appendall(out, "no answers");
    return;
  }
  evalci_append_value(out, s, mark->numbers[1], digits_of(s, mark));
  /* a dash after a minus would read as another one */
  sqlite3_str_appendall(out, mark->numbers[1] < 0 ? " to " : "–");
  evalci_append_value(out, s, mark->numbers[2], digits_of(s, mark));
}

/* Measures how wide a column of numbers is, in pixels; false without memory. */
static bool measure(const evalci_axis *s, const evalci_mark *marks, int count,
                    void (*append)(sqlite3_str *, const evalci_axis *, const evalci_mark *),
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

/* Positions of the parts of the picture. */
typedef struct places {
  double left, figures, right, top, bottom;
  double head; /* the share of a cut label that is kept at its beginning */
} places;

static void draw_row(sqlite3_str *out, const evalci_axis *s, const evalci_mark *mark,
                     const places *at, double y) {
  double point = mark->numbers[0];
  evalci_open_text(out, "\"ink\" text-anchor=\"end\"", at->left - FOREST_GAP, y + 4.5);
  evalci_append_label(out, mark->labels[0], FOREST_LABEL, at->head);
  sqlite3_str_appendall(out, "</text>");
  if (!isnan(mark->numbers[1])) draw_bar(out, s, mark->numbers + 1, at->left, y);
  if (point >= s->from && point <= s->to) {
    sqlite3_str_appendall(out, "<circle class=\"dot\" r=\"4.5\"");
    evalci_append_at(out, "cx", x_of(s, at->left, point));
    evalci_append_at(out, "cy", y);
    sqlite3_str_appendall(out, "/>");
  }
  evalci_open_text(out, "\"ink\"", at->left + PLOT + FOREST_GAP, y + 4.5);
  append_point(out, s, mark);
  sqlite3_str_appendall(out, "</text>");
  evalci_open_text(out, "\"soft\"", at->figures, y + 4.5);
  append_interval(out, s, mark);
  evalci_close_text(out);
}

/* Headings of the columns of numbers, and of the axis. */
static const char POINT[] = "estimate", INTERVAL[] = "interval";

static void draw_headings(sqlite3_str *out, const evalci_drawing *options, const places *at) {
  evalci_open_text(out, "\"soft\"", at->left + PLOT + FOREST_GAP, at->top - 12);
  sqlite3_str_appendf(out, "%s</text>", POINT);
  evalci_open_text(out, "\"soft\"", at->figures, at->top - 12);
  sqlite3_str_appendall(out, INTERVAL);
  evalci_close_text(out);
  if (!options->axis) return;
  evalci_open_text(out, "\"soft\" text-anchor=\"middle\"", at->left + PLOT / 2,
                   at->bottom + BOTTOM + 4);
  evalci_append_label(out, options->axis, PLOT / FOREST_EM, 0.5);
  evalci_close_text(out);
}

/* Computes the layout; false without memory. */
static bool place(const evalci_drawing *options, const evalci_axis *s, const evalci_mark *marks,
                  int count, places *at) {
  const char *labels[EVALCI_MOST_LABELS];
  double label = 3, points, intervals;
  for (int i = 0; i < count; i++) {
    labels[i] = marks[i].labels[0];
    label = fmax(label, evalci_label_width(labels[i], FOREST_LABEL));
  }
  if (!measure(s, marks, count, append_point, &points) ||
      !measure(s, marks, count, append_interval, &intervals))
    return false;
  points = fmax(points, FOREST_EM * evalci_label_width(POINT, 60));
  intervals = fmax(intervals, FOREST_EM * evalci_label_width(INTERVAL, 60));
  at->head = evalci_head_of(labels, count, FOREST_LABEL);
  at->left = FOREST_GAP + FOREST_EM * label + FOREST_GAP;
  at->top = TOP + evalci_title_height(options);
  at->bottom = at->top + LINE * count;
  at->figures = at->left + PLOT + FOREST_GAP + points + FOREST_GAP;
  at->right = at->figures + intervals + FOREST_GAP;
  return true;
}

static bool draw_forest(evalci_call *call, const evalci_drawing *options, const evalci_mark *marks,
                        int count, sqlite3_str *out) {
  (void)call;
  evalci_axis s = evalci_axis_of(options, marks, count);
  places at;
  if (!place(options, &s, marks, count, &at)) return false;
  evalci_open_svg(out, at.right, at.bottom + BOTTOM + (options->axis ? AXIS_TITLE : 0),
                  options->title ? options->title : "Intervals");
  evalci_draw_title(out, options, FOREST_GAP, at.right);
  draw_axis(out, &s, at.left, at.top, at.bottom);
  for (int i = 0; i < count; i++) draw_row(out, &s, &marks[i], &at, at.top + LINE * (i + 0.5));
  draw_headings(out, options, &at);
  evalci_close_svg(out);
  return true;
}

const evalci_picture evalci_forest = {.arguments = {"label", "point", "ci"},
                                      .labels = 1,
                                      .most = EVALCI_MOST_LABELS,
                                      .instead = "draw fewer, with LIMIT in a subquery",
                                      .read = read_forest,
                                      .draw = draw_forest};
