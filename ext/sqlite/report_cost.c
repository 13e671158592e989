/*
** The report's table of costs and latencies, where the source has them.
*/
#include <math.h>

#include "report.h"

static void report_amount(report *r, double x) {
  if (isinf(x))
    report_add(r, "∞");
  else
    sqlite3_str_appendf(r->out, "%.3g", x);
}

static void report_amount_cell(report *r, double x) {
  report_open_cell(r, "", x);
  if (!isnan(x)) report_amount(r, x);
  report_close_cell(r);
}

static void report_amounts_cell(report *r, ev_interval ci) {
  report_open_ci_cell(r, "extra", ci);
  if (!isnan(ci.lo)) {
    report_amount(r, ci.lo);
    report_add(r, "–");
    report_amount(r, ci.hi);
  }
  report_close_cell(r);
}

static void report_cost_heads(report *r, const board_settings *s) {
  report_head(r, "name", "model");
  if (s->costed) {
    report_head(r, "", "cost of an answer");
    report_level_head(r, "extra");
    report_head(r, "", "cost of a right answer");
    report_level_head(r, "extra");
    report_head(r, "text", "beaten on both accuracy and cost?");
  }
  if (s->timed) {
    report_head(r, "", "median latency");
    report_level_head(r, "extra");
    report_head(r, "", "95% of answers within");
    report_level_head(r, "extra");
  }
}

static void report_cost_cells(report *r, size_t model, double *missing) {
  static const char *const words[] = {"", "yes", "undecided", "no"};
  board_costs costs;
  ev_interval mean, per_right;
  board_frontier_word word;
  if (!report_ok(r, board_cost(r->board, model, &costs)) ||
      !report_ok(r, board_cost_interval(r->board, model, r->host, &mean)) ||
      !report_ok(r, board_per_right_interval(r->board, model, r->host, &per_right)) ||
      !report_ok(r, board_frontier(r->board, model, r->host, &word)))
    return;
  report_amount_cell(r, costs.mean);
  report_amounts_cell(r, mean);
  report_amount_cell(r, costs.per_right);
  report_amounts_cell(r, per_right);
  sqlite3_str_appendf(r->out, "<td class=\"text\">%s</td>", words[word]);
  *missing += costs.missing;
}

static void report_latency_cells(report *r, size_t model, double *missing) {
  board_latencies l;
  if (!report_ok(r, board_latency(r->board, model, &l))) return;
  report_amount_cell(r, l.median.value);
  report_amounts_cell(r, l.median.ci);
  report_amount_cell(r, l.slow.value);
  report_amounts_cell(r, l.slow.ci);
  *missing += l.missing;
}

static void report_missing(report *r, double missing, const char *what) {
  if (missing == 0) return;
  report_add(r, " ");
  report_things(r, missing, "answer");
  report_add(r, " without a ");
  report_add(r, what);
  report_add(r, missing == 1 ? " is left out here." : " are left out here.");
}

/* Explains the columns. */
static void report_cost_words(report *r, const board_settings *s, double uncosted, double untimed) {
  report_add(r, "<p class=\"soft\">");
  if (s->costed)
    report_add(r,
               "The cost of a right answer is all money spent, including that on wrong and errored "
               "answers, divided by the number of right answers. A model is beaten on both if "
               "another is clearly more accurate and clearly cheaper. It is not beaten if it is "
               "clearly more accurate or clearly cheaper than each of the others; otherwise more "
               "answers would decide. "
               "<span class=\"soft\">(<code>ratio_ci</code>, "
               "<code>paired_p</code>)</span>");
  if (s->timed)
    report_add(r, " Half of the answers took no longer than the median. An interval that ends at "
                  "infinity needs more answers. "
                  "<span class=\"soft\">(<code>quantile_ci</code>)</span>");
  report_missing(r, uncosted, "cost");
  report_missing(r, untimed, "latency");
  report_add(r, "</p>\n");
}

/* Whether any answer has a cost, and whether any has a latency. */
static board_settings report_spent(report *r) {
  board_settings any = {.costed = false};
  for (size_t i = 0; i < r->count && r->status == EV_OK; i++) {
    board_costs costs;
    board_latencies l;
    if (!report_ok(r, board_cost(r->board, r->models[i].model, &costs)) ||
        !report_ok(r, board_latency(r->board, r->models[i].model, &l)))
      break;
    any.costed |= !isnan(costs.mean);
    any.timed |= !isnan(l.median.value);
  }
  return any;
}

void report_costs(report *r) {
  board_settings s = report_spent(r);
  double uncosted = 0, untimed = 0;
  if (!s.costed && !s.timed) return;
  report_add(r, s.costed && s.timed ? "<h2>Cost and latency</h2>\n"
                : s.costed          ? "<h2>Cost</h2>\n"
                                    : "<h2>Latency</h2>\n");
  report_add(r, "<div class=\"wide\">");
  report_open_table(r, "costs", "narrow");
  report_cost_heads(r, &s);
  report_open_rows(r);
  for (size_t i = 0; i < r->count && r->status == EV_OK; i++) {
    report_add(r, "<tr>");
    report_name_cell(r, "name", r->models[i].name);
    if (s.costed) report_cost_cells(r, r->models[i].model, &uncosted);
    if (s.timed) report_latency_cells(r, r->models[i].model, &untimed);
    report_add(r, "</tr>\n");
  }
  report_close_table(r);
  report_add(r, "</div>\n");
  report_cost_words(r, &s, uncosted, untimed);
}
