/*
** heatmap_svg: a matrix of probabilities and a legend.  Rows come in the order in which they
** first appear; columns whose names are also rows come first, in the order of the rows, and
** then the others as they appear.
*/
#include <math.h>
#include <string.h>

#include "function.h"
#include "svg.h"

enum { MOST_NAMES = 200 };

/* The labels' widths are in ems of 13 pixels, all else in pixels. */
static const double HEATMAP_EM = 13, HEATMAP_LABEL = 18, ACROSS = 48, DOWN = 30, HEATMAP_GAP = 10;

/* The number of a mark: the probability. */
static bool read_heatmap(evalci_call *call, sqlite3_value **argv, double *numbers) {
  numbers[0] = NAN;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return true;
  if (evalci_read_number(argv[0], &numbers[0]) && numbers[0] >= 0 && numbers[0] <= 1) return true;
  return evalci_fail(call,
                     "value must be a probability from 0 to 1, got %s; "
                     "pass what prob_better() or avg() gives",
                     evalci_show(argv[0]).text);
}

/* The different labels of an axis, and hashes of the values they were made from. */
typedef struct names {
  int count;
  const char *name[MOST_NAMES];
  sqlite3_uint64 value[MOST_NAMES];
} names;

/* The index of a name in the list; -1 if it is not there. */
static int place_among(const names *n, const char *name, sqlite3_uint64 value) {
  for (int i = 0; i < n->count; i++)
    if (n->value[i] == value && strcmp(n->name[i], name) == 0) return i;
  return -1;
}

/* The index of label `which` of a mark; new labels are added, and -1 means that there are too
** many.  Labels are compared by their hashes, since two values may look alike once cleaned and
** cut. */
static int index_of(names *n, const evalci_mark *mark, int which) {
  int known = place_among(n, mark->labels[which], mark->values[which]);
  if (known >= 0) return known;
  if (n->count == MOST_NAMES) return -1;
  n->name[n->count] = mark->labels[which];
  n->value[n->count] = mark->values[which];
  return n->count++;
}

/* The columns that are rows too, in the order of the rows; then the others.  Returns how
** many are both. */
static int order_columns(names *columns, const names *rows) {
  names ordered = {0};
  int both = 0;
  for (int pass = 0; pass < 2; pass++) {
    const names *from = pass ? columns : rows, *other = pass ? rows : columns;
    for (int i = 0; i < from->count; i++) {
      bool shared = place_among(other, from->name[i], from->value[i]) >= 0;
      if (shared == (pass == 1)) continue;
      ordered.name[ordered.count] = from->name[i];
      ordered.value[ordered.count++] = from->value[i];
    }
    if (pass == 0) both = ordered.count;
  }
  *columns = ordered;
  return both;
}

static double names_width(const names *n) {
  double width = 2;
  for (int i = 0; i < n->count; i++)
    width = fmax(width, evalci_label_width(n->name[i], HEATMAP_LABEL));
  return HEATMAP_EM * width;
}

/* The colour scale: orange at 0, nearly white at 1/2, blue at 1. */
static unsigned colour_of(double p) {
  static const int middle[] = {242, 242, 240}, low[] = {179, 89, 0}, high[] = {31, 95, 168};
  const int *end = p < 0.5 ? low : high;
  unsigned colour = 0;
  for (int i = 0; i < 3; i++)
    colour = colour << 8 | (unsigned)lround(middle[i] + fabs(2 * p - 1) * (end[i] - middle[i]));
  return colour;
}

/* How light a colour is, as WCAG 2.1 defines relative luminance. */
static double luminance(unsigned colour) {
  static const double share[] = {0.0722, 0.7152, 0.2126};
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    double part = (double)(colour >> (8 * i) & 0xFF) / 255;
    sum += share[i] * (part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4));
  }
  return sum;
}

/* Black or white, whichever has more contrast: they are equal at a luminance of 0.18. */
static const char *ink_on(unsigned colour) {
  return luminance(colour) > 0.18 ? "#000" : "#fff";
}

/* Writes per cent, but never 0 or 100 unless the probability is exactly that: a posterior
** probability never is, though a double may round to it. */
static void append_percent(sqlite3_str *out, double p, bool against) {
  if (p < 0.005 && (p > 0 || against))
    sqlite3_str_appendall(out, "&lt;1");
  else if (p >= 0.995 && (p < 1 || against))
    sqlite3_str_appendall(out, "&gt;99");
  else
    evalci_append_fixed(out, 100 * p, 0);
}

static void draw_cell(sqlite3_str *out, double p, bool against, double x, double y) {
  sqlite3_str_appendall(out, "<rect class=\"empty\"");
  evalci_append_at(out, "x", x);
  evalci_append_at(out, "y", y);
  evalci_append_at(out, "width", ACROSS - 2);
  evalci_append_at(out, "height", DOWN - 2);
  if (isnan(p)) {
    sqlite3_str_appendall(out, "/>\n");
    return;
  }
  char number[EVALCI_NUMBER_SIZE];
  number[evalci_write_number(p, number)] = 0;
  unsigned colour = colour_of(p);
  sqlite3_str_appendf(out, " style=\"fill:#%06x\"><title>%s</title></rect>", colour, number);
  sqlite3_str_appendf(out, "<text class=\"cell\" text-anchor=\"middle\" fill=\"%s\"",
                      ink_on(colour));
  evalci_append_at(out, "x", x + ACROSS / 2 - 1);
  evalci_append_at(out, "y", y + DOWN / 2 + 3);
  sqlite3_str_appendall(out, ">");
  append_percent(out, p, against);
  sqlite3_str_appendall(out, "</text>\n");
}

static void draw_name(sqlite3_str *out, const char *name, double head, double x, double y,
                      bool slanted) {
  sqlite3_str_appendall(out, slanted ? "<text class=\"ink\" transform=\"translate("
                                     : "<text class=\"ink\" text-anchor=\"end\"");
  if (slanted) {
    evalci_append_fixed(out, x, 1);
    sqlite3_str_appendall(out, " ");
    evalci_append_fixed(out, y, 1);
    sqlite3_str_appendall(out, ") rotate(-45)\"");
  } else {
    evalci_append_at(out, "x", x);
    evalci_append_at(out, "y", y);
  }
  sqlite3_str_appendall(out, ">");
  evalci_append_label(out, name, HEATMAP_LABEL, head);
  sqlite3_str_appendall(out, "</text>\n");
}

static void draw_names(sqlite3_str *out, const names *rows, const names *columns, double left,
                       double top) {
  double head = evalci_head_of(rows->name, rows->count, HEATMAP_LABEL);
  for (int i = 0; i < rows->count; i++)
    draw_name(out, rows->name[i], head, left - HEATMAP_GAP, top + DOWN * i + DOWN / 2 + 3.5, false);
  head = evalci_head_of(columns->name, columns->count, HEATMAP_LABEL);
  for (int i = 0; i < columns->count; i++)
    draw_name(out, columns->name[i], head, left + ACROSS * (i + 0.5), top - HEATMAP_GAP, true);
}

/* The legend: what a cell means, and the colours from 0 to 100. */
static const double LEGEND = 34, SWATCH = 12;
enum { SWATCHES = 21 };

static double legend_width(const char *meaning) {
  return SWATCH * SWATCHES + 2 * HEATMAP_EM + HEATMAP_EM * evalci_label_width(meaning, 60);
}

static void draw_legend(sqlite3_str *out, const char *meaning, double left, double top) {
  for (int i = 0; i < SWATCHES; i++) {
    sqlite3_str_appendall(out, "<rect");
    evalci_append_at(out, "x", left + SWATCH * i);
    evalci_append_at(out, "y", top);
    evalci_append_at(out, "width", SWATCH);
    evalci_append_at(out, "height", 8);
    sqlite3_str_appendf(out, " style=\"fill:#%06x\"/>", colour_of(i / (SWATCHES - 1.0)));
  }
  static const char *const ends[] = {"0", "50", "100"};
  for (int i = 0; i < 3; i++) {
    double x = left + SWATCH * SWATCHES * i / 2;
    evalci_open_text(out,
                     i == 0   ? "\"soft\""
                     : i == 1 ? "\"soft\" text-anchor=\"middle\""
                              : "\"soft\" text-anchor=\"end\"",
                     x, top + 22);
    sqlite3_str_appendf(out, "%s</text>", ends[i]);
  }
  evalci_open_text(out, "\"soft\"", left + SWATCH * SWATCHES + HEATMAP_EM, top + 9);
  evalci_append_label(out, meaning, 60, 0.5);
  evalci_close_text(out);
}

static bool index_names(evalci_call *call, const evalci_mark *marks, int count, names *rows,
                        names *columns) {
  for (int i = 0; i < count; i++)
    if (index_of(rows, &marks[i], 0) < 0 || index_of(columns, &marks[i], 1) < 0)
      return evalci_fail(call,
                         "at most %d rows and as many columns can be drawn; "
                         "draw fewer, with WHERE",
                         MOST_NAMES);
  return true;
}

/* The number of each cell; NAN where there is none.  NULL after leaving a message, or without
** memory. */
static double *matrix_of(evalci_call *call, const evalci_mark *marks, int count, names *rows,
                         names *columns) {
  int size = rows->count * columns->count;
  double *cells = sqlite3_malloc64((sqlite3_uint64)size * sizeof *cells);
  for (int i = 0; cells && i < size; i++) cells[i] = NAN;
  for (int i = 0; cells && i < count; i++) {
    double *cell =
        &cells[index_of(rows, &marks[i], 0) * columns->count + index_of(columns, &marks[i], 1)];
    if (isnan(marks[i].numbers[0])) continue;
    if (!isnan(*cell)) {
      evalci_fail(call,
                  "two values for one cell, the row '%!.40s' and the column '%!.40s'; "
                  "group by both",
                  marks[i].labels[0], marks[i].labels[1]);
      sqlite3_free(cells);
      return NULL;
    }
    *cell = marks[i].numbers[0];
  }
  return cells;
}

/* The caption: what the numbers are; where rows and columns have the same names, the probability
** that one beats the other. */
static const char *meaning_of(const evalci_drawing *options, bool against) {
  if (options->axis) return options->axis;
  return against ? "% sure that the row beats the column" : "%";
}

static bool draw_heatmap(evalci_call *call, const evalci_drawing *options, const evalci_mark *marks,
                         int count, sqlite3_str *out) {
  names rows = {0}, columns = {0};
  if (!index_names(call, marks, count, &rows, &columns)) return false;
  bool against = order_columns(&columns, &rows) > 0;
  const char *meaning = meaning_of(options, against);
  double *cells = matrix_of(call, marks, count, &rows, &columns);
  if (!cells) return false;
  double slant = sqrt(0.5) * (names_width(&columns) + HEATMAP_EM),
         left = HEATMAP_GAP + names_width(&rows) + HEATMAP_GAP;
  double top = evalci_title_height(options) + HEATMAP_GAP + slant + HEATMAP_GAP,
         bottom = top + DOWN * rows.count + HEATMAP_GAP;
  double right = fmax(left + ACROSS * (columns.count - 0.5) + fmax(slant, ACROSS / 2),
                      HEATMAP_GAP + legend_width(meaning));
  evalci_open_svg(out, right + HEATMAP_GAP, bottom + LEGEND,
                  options->title ? options->title : "Probabilities");
  evalci_draw_title(out, options, HEATMAP_GAP, right);
  draw_names(out, &rows, &columns, left, top);
  for (int i = 0; i < rows.count * columns.count; i++)
    draw_cell(out, cells[i], against, left + ACROSS * (i % columns.count),
              top + DOWN * (i / columns.count));
  draw_legend(out, meaning, HEATMAP_GAP, bottom);
  evalci_close_svg(out);
  sqlite3_free(cells);
  return true;
}

const evalci_picture evalci_heatmap = {.arguments = {"row", "col", "value"},
                                       .plain_options = true,
                                       .labels = 2,
                                       .most = 40000,
                                       .instead = "draw fewer, with WHERE",
                                       .read = read_heatmap,
                                       .draw = draw_heatmap};
