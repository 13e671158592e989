/*
** Every pair of models in the report: a triangle of the probabilities that the better placed
** model is better, with the pairs that are too close to call in colour; and a table.
*/
#include <math.h>

#include "report.h"

/* The pair in words. */
static void report_verdict_cell(report *r, const report_pair *p) {
  bool better = p->apart || p->likely;
  const char *words = p->apart         ? "clearly better"
                      : p->likely      ? "probably better"
                      : isnan(p->sure) ? ""
                      : p->tied        ? "tied"
                                       : "not separated";
  sqlite3_str_appendf(r->out, "<td class=\"text keep\">%s%s</td>", words,
                      better && p->hedged ? " unless it sometimes fails outright" : "");
}

/* The pair's class in the triangle. */
static const char *report_shade(const report_pair *p) {
  return p->apart ? "apart" : p->likely ? "single" : "open";
}

/* The probability that the better placed model, that of the column, is better. */
static void report_square(report *r, size_t row, size_t column) {
  const report_pair *p = report_pair_of(r, column, row);
  if (isnan(p->sure)) {
    report_add(r, "<i class=\"none\"></i>");
    return;
  }
  double sure = p->first == column ? p->sure : 1 - p->sure;
  char number[EVALCI_NUMBER_SIZE];
  int size = evalci_write_number(sure, number);
  sqlite3_str_appendf(r->out, "<i class=\"%s\" data-value=\"%.*s\" title=\"", report_shade(p), size,
                      number);
  report_text(r, r->models[p->first].name);
  report_add(r, " against ");
  report_text(r, r->models[p->second].name);
  if (p->n > 0) {
    report_add(r, ": ");
    report_points(r, p->diff);
    report_add(r, " points on the questions that both answered");
  }
  report_add(r, "\">");
  if (sure >= 0.995)
    report_add(r, "&gt;99");
  else if (sure < 0.005)
    report_add(r, "&lt;1");
  else
    evalci_append_fixed(r->out, 100 * sure, 0);
  report_add(r, "</i>");
}

static void report_triangle(report *r) {
  size_t last = r->shown - 1;
  report_add(r,
             "<p>The probability, in per cent, that the column's model is better than the row's");
  report_add(r, r->placed ? ", given the answers of all models." : ", each pair by itself.");
  if (r->ranked > r->shown)
    sqlite3_str_appendf(r->out, " The first %d models are shown.", (int)r->shown);
  report_add(r,
             "</p>\n<p class=\"key\"><span class=\"open\">not separated, too close to call</span> "
             "<span class=\"single\">probably better</span> "
             "<span class=\"apart\">clearly better</span></p>\n");
  sqlite3_str_appendf(r->out, "<div id=\"triangle\" class=\"%s\" style=\"--m:%d\">",
                      last > 9 ? "tight" : "roomy", (int)last);
  for (size_t row = 0; row <= last; row++) {
    sqlite3_str_appendf(r->out, "<span><b>%d</b> ", (int)row + 1);
    report_text(r, r->models[row].name);
    report_add(r, "</span>");
    for (size_t column = 0; column < row; column++) report_square(r, row, column);
    for (size_t column = row; column < last; column++) report_add(r, "<s></s>");
    report_add(r, "\n");
  }
  report_add(r, "<span></span>");
  for (size_t column = 0; column < last; column++)
    sqlite3_str_appendf(r->out, "<em>%d</em>", (int)column + 1);
  report_add(r, "</div>\n");
}

static report_axis report_pair_axis(const report *r) {
  double least = 0, most = 0;
  for (size_t i = 0; i < r->shown; i++)
    for (size_t j = i + 1; j < r->shown; j++) {
      const report_pair *p = report_pair_of(r, i, j);
      if (p->n == 0 || isnan(p->ci.lo)) continue;
      least = fmin(least, p->ci.lo);
      most = fmax(most, p->ci.hi);
    }
  return report_axis_for(least, most, REPORT_DIFFERENCES);
}

static void report_pair_row(report *r, const report_axis *axis, const report_pair *p) {
  report_add(r, p->apart ? "<tr>" : p->likely ? "<tr class=\"likely\">" : "<tr class=\"near\">");
  report_name_cell(r, "name keep", r->models[p->first].name);
  report_name_cell(r, "name keep", r->models[p->second].name);
  report_verdict_cell(r, p);
  report_plot_cell(r, axis, p->diff, p->ci);
  report_open_cell(r, "", p->diff);
  if (!isnan(p->diff)) report_points(r, p->diff);
  report_close_cell(r);
  report_open_ci_cell(r, "", p->ci);
  if (!isnan(p->ci.lo)) {
    report_points(r, p->ci.lo);
    report_add(r, " to ");
    report_points(r, p->ci.hi);
  }
  report_close_cell(r);
  report_open_cell(r, "", p->sure);
  if (!isnan(p->sure)) report_chance(r, p->sure);
  report_close_cell(r);
  report_count_cell(r, "", p->n);
  report_add(r, "</tr>\n");
}

static bool report_any_hedged(const report *r) {
  for (size_t i = 0; i < r->shown; i++)
    for (size_t j = i + 1; j < r->shown; j++)
      if (report_pair_of(r, i, j)->hedged) return true;
  return false;
}

static void report_pair_table(report *r) {
  report_axis axis = report_pair_axis(r);
  sqlite3_str_appendf(r->out, "<details%s><summary>Every pair, the better one first</summary>\n",
                      r->shown <= 6 ? " open" : "");
  report_open_table(r, "compare", "plotted two");
  report_head(r, "name keep", "model");
  report_head(r, "name keep", "against");
  report_head(r, "text keep", "verdict");
  report_axis_head(r, "picture", &axis);
  report_head(r, "", "difference, points");
  report_level_head(r, "");
  report_head(r, "", "sure");
  report_head(r, "", "questions");
  report_open_rows(r);
  for (size_t i = 0; i < r->shown; i++)
    for (size_t j = i + 1; j < r->shown; j++)
      if (report_pair_of(r, i, j)->n > 0) report_pair_row(r, &axis, report_pair_of(r, i, j));
  report_close_table(r);
  if (r->placed && r->ranked > 2)
    report_add(r, "<p class=\"soft\">The verdict and how sure it is come from the answers of all "
                  "models, the difference and its interval from the questions that both answered: "
                  "they may disagree.</p>\n");
  if (report_any_hedged(r))
    report_add(r,
               "<p class=\"soft\">Unless it sometimes fails outright: a few answers with the worst "
               "score could undo the lead, which is clear on answers like those seen. "
               "<span class=\"soft\">(<code>ci_unseen</code>)</span></p>\n");
  report_add(r, "</details>\n");
}

void report_pairs(report *r) {
  bool triangle = r->shown > 2 && (r->placed || r->tested);
  if (!triangle && !r->tested) return;
  report_add(r, "<section class=\"chart\"><h2>Every pair of models</h2>\n");
  if (triangle) report_triangle(r);
  if (r->tested) report_pair_table(r);
  report_add(r, "</section>\n");
}
