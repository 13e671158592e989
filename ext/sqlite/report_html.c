/*
** What the parts of the report share: text, numbers, tables, axes and drawn intervals.
*/
#include <math.h>
#include <string.h>

#include "report.h"

void report_add(report *r, const char *html) {
  sqlite3_str_appendall(r->out, html);
}

void report_text(report *r, const char *text) {
  evalci_append_escaped(r->out, text, strlen(text));
}

void report_count(report *r, double n) {
  sqlite3_str_appendf(r->out, "%,lld", (sqlite3_int64)n);
}

void report_things(report *r, double n, const char *thing) {
  report_count(r, n);
  sqlite3_str_appendf(r->out, n == 1 ? " %s" : " %ss", thing);
}

void report_percent(report *r, double x, int digits) {
  evalci_append_fixed(r->out, 100 * x, digits);
  report_add(r, "%");
}

void report_chance(report *r, double p) {
  if (p >= 0.995)
    report_add(r, "&gt;99%");
  else if (p < 0.005)
    report_add(r, "&lt;1%");
  else
    report_percent(r, p, 0);
}

void report_points(report *r, double x) {
  if (100 * x >= 0.05) report_add(r, "+");
  evalci_append_number(r->out, 100 * x, 1);
}

void report_range(report *r, ev_interval ci) {
  evalci_append_fixed(r->out, 100 * ci.lo, 1);
  report_add(r, "–");
  report_percent(r, ci.hi, 1);
}

void report_share(report *r, double x) {
  double percent = 100 * x;
  int digits = 0;
  for (double scaled = percent; digits < 6 && fabs(scaled - round(scaled)) > 1e-7; scaled *= 10)
    digits++;
  evalci_append_fixed(r->out, percent, digits);
  report_add(r, "%");
}

void report_level(report *r) {
  report_share(r, r->level);
}

const char *report_measure(const report *r) {
  return r->graded ? "score" : "accuracy";
}

/*
** Tables
*/
void report_open_table(report *r, const char *id, const char *class) {
  sqlite3_str_appendf(r->out, "<table id=\"%s\" class=\"%s\">\n<thead><tr>", id, class);
}

void report_head(report *r, const char *class, const char *text) {
  sqlite3_str_appendf(r->out, "<th class=\"%s\" scope=\"col\">%s</th>", class, text);
}

void report_level_head(report *r, const char *class) {
  sqlite3_str_appendf(r->out, "<th class=\"%s level\" scope=\"col\">", class);
  report_level(r);
  report_add(r, " interval</th>");
}

void report_open_rows(report *r) {
  report_add(r, "</tr></thead>\n<tbody>\n");
}

void report_close_table(report *r) {
  report_add(r, "</tbody></table>\n");
}

void report_name_cell(report *r, const char *class, const char *name) {
  sqlite3_str_appendf(r->out, "<td class=\"%s\">", class);
  report_text(r, name);
  report_close_cell(r);
}

/* Writes all digits, and no minus before a zero. */
static void report_digits(report *r, double x) {
  char number[EVALCI_NUMBER_SIZE];
  sqlite3_str_append(r->out, number, evalci_write_number(x + 0.0, number));
}

void report_open_cell(report *r, const char *class, double value) {
  sqlite3_str_appendf(r->out, "<td class=\"%s\" data-value=\"", class);
  if (!isnan(value)) report_digits(r, value);
  report_add(r, "\">");
}

void report_open_ci_cell(report *r, const char *class, ev_interval ci) {
  sqlite3_str_appendf(r->out, "<td class=\"%s\" data-value=\"", class);
  if (!isnan(ci.lo)) {
    report_add(r, "[");
    report_digits(r, ci.lo);
    report_add(r, ",");
    report_digits(r, ci.hi);
    report_add(r, "]");
  }
  report_add(r, "\">");
}

void report_close_cell(report *r) {
  report_add(r, "</td>");
}

void report_count_cell(report *r, const char *class, double n) {
  sqlite3_str_appendf(r->out, "<td class=\"%s\" data-value=\"%lld\">", class, (sqlite3_int64)n);
  report_count(r, n);
  report_close_cell(r);
}

void report_percent_cell(report *r, const char *class, double x) {
  report_open_cell(r, class, x);
  if (!isnan(x)) report_percent(r, x, 1);
  report_close_cell(r);
}

void report_ci_cell(report *r, const char *class, ev_interval ci) {
  report_open_ci_cell(r, class, ci);
  if (!isnan(ci.lo)) report_range(r, ci);
  report_close_cell(r);
}

/*
** Axes
*/

/* Chooses the finest step of which at most six hold every number. */
report_axis report_axis_for(double least, double most, report_scale scale) {
  static const double steps[] = {0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
                                 0.1,    0.2,    0.5,    1,     2,     5,     10,   20,   50,
                                 100,    200,    500,    1000,  2000,  5000,  10000};
  enum { STEPS = sizeof steps / sizeof *steps, MOST_STEPS = 6 };
  for (int i = 0; i < STEPS; i++) {
    double first = floor(least / steps[i] + 1e-9), last = ceil(most / steps[i] - 1e-9);
    if (last - first > MOST_STEPS) continue;
    return (report_axis){.least = first * steps[i],
                         .step = steps[i],
                         .steps = (int)fmax(1, last - first),
                         .scale = scale};
  }
  return scale == REPORT_DIFFERENCES ? (report_axis){-1, 0.5, 4, scale}
                                     : (report_axis){0, 0.2, 5, scale};
}

/* The position along the axis, in per cent. */
static double report_along(const report_axis *axis, double x) {
  return 100 * (x - axis->least) / axis->step / axis->steps;
}

/* Opens an element at a position, as in <s style="left:12.34%. */
static void report_at(report *r, const char *element, double percent) {
  sqlite3_str_appendf(r->out, "<%s style=\"left:", element);
  evalci_append_fixed(r->out, percent, 2);
  report_add(r, "%");
}

void report_axis_numbers(report *r, const report_axis *axis) {
  double unit = axis->scale == REPORT_RATINGS ? 1 : 100;
  int digits = unit * axis->step > 0.99 ? 0 : unit * axis->step > 0.099 ? 1 : 2;
  report_add(r, "<span class=\"numbers\">");
  for (int i = 0; i <= axis->steps; i++) {
    report_at(r, "span", 100.0 * i / axis->steps);
    report_add(r, "\">");
    evalci_append_number(r->out, unit * (axis->least + i * axis->step), digits);
    report_add(r, axis->scale == REPORT_SHARES ? "%</span>" : "</span>");
  }
  report_add(r, "</span>");
}

void report_axis_head(report *r, const char *class, const report_axis *axis) {
  sqlite3_str_appendf(r->out, "<th class=\"%s\" scope=\"col\">", class);
  report_axis_numbers(r, axis);
  report_add(r, "</th>");
}

static void report_bar(report *r, const report_axis *axis, const char *element, ev_interval ci) {
  report_at(r, element, report_along(axis, ci.lo));
  report_add(r, ";width:");
  evalci_append_fixed(r->out, report_along(axis, ci.hi) - report_along(axis, ci.lo), 2);
  sqlite3_str_appendf(r->out, "%%\"></%s>", element);
}

/* Draws the point, and for differences the line at 0. */
static void report_close_plot(report *r, const report_axis *axis, double point) {
  report_at(r, "u", report_along(axis, point));
  report_add(r, "\"></u>");
  if (axis->scale == REPORT_DIFFERENCES) {
    report_at(r, "s", report_along(axis, 0));
    report_add(r, "\"></s>");
  }
  report_add(r, "</span>");
}

void report_plot(report *r, const report_axis *axis, double point, ev_interval ci,
                 ev_interval bounded) {
  if (isnan(point) || isnan(ci.lo)) return;
  sqlite3_str_appendf(r->out, "<span class=\"plot\" style=\"--n:%d\">", axis->steps);
  if (!isnan(bounded.lo)) report_bar(r, axis, "b", bounded);
  report_bar(r, axis, "i", ci);
  report_close_plot(r, axis, point);
}

void report_plot_cell(report *r, const report_axis *axis, double point, ev_interval ci) {
  report_add(r, "<td class=\"picture\">");
  report_plot(r, axis, point, ci, (ev_interval){NAN, NAN});
  report_close_cell(r);
}
