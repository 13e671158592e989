/*
** The report's leaderboard, the questions that all models answered, and attempts.
*/
#include <math.h>

#include "report.h"

/*
** The leaderboard
*/
static report_axis report_board_axis(const report *r) {
  double least = 1, most = 0;
  for (size_t i = 0; i < r->ranked; i++) {
    const report_model *m = &r->models[i]; /* fmin and fmax ignore a NAN */
    least = fmin(fmin(least, m->ci.lo), m->bounded.lo);
    most = fmax(fmax(most, m->ci.hi), m->bounded.hi);
  }
  return report_axis_for(fmin(least, most), most, REPORT_SHARES);
}

/* Whether missing answers have bounds of their own: not where they count as wrong. */
static bool report_has_bounds(const report *r) {
  return r->errored > 0 && !board_settings_of(r->board)->errors_wrong;
}

static bool report_has(const report *r, report_stand stand) {
  for (size_t i = 0; i < r->ranked; i++)
    if (r->models[i].stand == stand) return true;
  return false;
}

static bool report_has_shades(const report *r) {
  return report_has(r, REPORT_LIKELY) || report_has(r, REPORT_BEHIND);
}

static void report_board_key(report *r) {
  if (!report_has_shades(r)) return;
  report_add(r, "<p class=\"key\"><span class=\"near\">may be the best</span>");
  if (report_has(r, REPORT_LIKELY))
    report_add(r, " <span class=\"likely\">is probably not the best</span>");
  report_add(r, "</p>\n");
}

static void report_board_heads(report *r, const report_axis *axis) {
  if (r->placed) report_head(r, "keep", "rank");
  report_head(r, "name keep", "model");
  report_axis_head(r, "picture", axis);
  report_head(r, "keep", report_measure(r));
  report_level_head(r, "third");
  if (r->placed) report_head(r, "third end", "chance of being best");
  report_head(r, "", "questions");
  if (r->repeated) report_head(r, "", "answers");
  if (r->errored > 0) report_head(r, "fourth", "errored");
  if (report_has_bounds(r)) report_head(r, "fourth end", "interval incl. errored");
}

static void report_rank_cell(report *r, const report_model *m) {
  sqlite3_int64 lo = (sqlite3_int64)m->place.lo, hi = (sqlite3_int64)m->place.hi;
  if (isnan(m->place.lo))
    report_add(r, "<td class=\"keep\"></td>");
  else if (lo == hi)
    sqlite3_str_appendf(r->out, "<td class=\"keep\" data-value=\"%lld-%lld\">%lld</td>", lo, hi,
                        lo);
  else
    sqlite3_str_appendf(r->out, "<td class=\"keep\" data-value=\"%lld-%lld\">%lld–%lld</td>", lo,
                        hi, lo, hi);
}

/* Models that may be the best are shaded, unless every model may. */
static void report_open_board_row(report *r, const report_model *m) {
  bool shaded = m->stand == REPORT_OPEN || m->stand == REPORT_LIKELY;
  if (!shaded || !report_has_shades(r))
    report_add(r, "<tr>");
  else
    report_add(r, m->stand == REPORT_LIKELY ? "<tr class=\"likely\">" : "<tr class=\"near\">");
}

static void report_board_row(report *r, const report_axis *axis, const report_model *m) {
  report_open_board_row(r, m);
  if (r->placed) report_rank_cell(r, m);
  report_name_cell(r, "name keep", m->name);
  report_add(r, "<td class=\"picture\">");
  report_plot(r, axis, m->s.accuracy, m->ci, m->bounded);
  report_close_cell(r);
  report_percent_cell(r, "keep", m->s.accuracy);
  report_open_ci_cell(r, "third", m->ci);
  if (!isnan(m->ci.lo))
    report_range(r, m->ci);
  else
    report_add(r, "no answers");
  report_close_cell(r);
  if (r->placed) {
    report_open_cell(r, "third end", m->place.best);
    if (!isnan(m->place.best)) report_chance(r, m->place.best);
    report_close_cell(r);
  }
  report_count_cell(r, "", m->s.questions);
  if (r->repeated) report_count_cell(r, "", m->s.n);
  if (r->errored > 0) report_count_cell(r, m->s.errored > 0 ? "fourth" : "", m->s.errored);
  if (report_has_bounds(r)) report_ci_cell(r, m->s.errored > 0 ? "fourth end" : "", m->bounded);
  report_add(r, "</tr>\n");
}

void report_leaderboard(report *r) {
  report_axis axis = report_board_axis(r);
  report_add(r, "<section class=\"chart\"><h2>Leaderboard</h2>\n");
  if (r->ranked == 0) report_add(r, "<p>No answers yet.</p>\n");
  report_board_key(r);
  report_open_table(r, "leaderboard", r->placed ? "plotted" : "plotted alone");
  report_board_heads(r, &axis);
  report_open_rows(r);
  for (size_t i = 0; i < r->count; i++) report_board_row(r, &axis, &r->models[i]);
  report_close_table(r);
  report_add(r, "<p class=\"soft\">The dot is what the model scored, the bar its interval.");
  if (r->placed)
    report_add(r, " A rank of 2–4 means that one model is clearly better, and that this one may be "
                  "anywhere from second to fourth.");
  if (report_has_bounds(r))
    report_add(r, " Ranks and chances use only the answers that exist; the dotted line shows how "
                  "far the missing ones could move the bar.");
  report_add(r, "</p>\n");
  report_add(r, "</section>\n");
}

/*
** The questions that all models answered, shown where they change the order.
*/
static size_t report_sort_common(const report *r, evalci_sorted_row *rows) {
  size_t count = 0;
  for (size_t i = 0; i < r->ranked; i++) {
    board_standing s;
    board_common_standing(r->board, r->models[i].model, &s);
    if (s.asked)
      rows[count++] =
          (evalci_sorted_row){.row = {.model = (uint32_t)i}, .accuracy = s.accuracy, .next = i};
  }
  evalci_sort_rows(rows, count);
  return count;
}

static void report_common_row(report *r, const report_model *m) {
  board_standing s;
  ev_interval ci = {NAN, NAN};
  if (!report_ok(r, EV_OK)) return;
  board_common_standing(r->board, m->model, &s);
  report_ok(r, board_common_interval(r->board, m->model, r->host, &ci));
  report_add(r, "<tr>");
  report_rank_cell(r, m);
  report_name_cell(r, "name", m->name);
  report_percent_cell(r, "", s.accuracy);
  report_ci_cell(r, "", ci);
  report_percent_cell(r, "extra", m->s.accuracy);
  report_count_cell(r, "extra", m->s.questions);
  report_add(r, "</tr>\n");
}

static void report_common_table(report *r, const evalci_sorted_row *rows, size_t count) {
  report_add(r, "<h2>On the questions that all answered</h2>\n<p>");
  report_things(r, board_common_questions(r->board), "question");
  report_add(r, board_common_questions(r->board) == 1 ? " was" : " were");
  report_add(r,
             " answered by every model. On these, the order differs from the leaderboard.</p>\n");
  sqlite3_str_appendf(
      r->out, "<details%s><summary>The order on these questions</summary>\n<div class=\"wide\">",
      count <= REPORT_PANEL ? " open" : "");
  report_open_table(r, "common", "narrow");
  report_head(r, "", "rank");
  report_head(r, "name", "model");
  report_head(r, "", report_measure(r));
  report_level_head(r, "");
  report_head(r, "extra", "on all its questions");
  report_head(r, "extra", "its questions");
  report_open_rows(r);
  for (size_t i = 0; i < count; i++) report_common_row(r, &r->models[rows[i].row.model]);
  report_close_table(r);
  report_add(r, "</div></details>\n");
}

void report_common(report *r) {
  double common = board_common_questions(r->board);
  if (!report_ok(r, EV_OK) || !r->tested || common == 0 || common == r->most_questions) return;
  evalci_sorted_row *rows = sqlite3_malloc64((r->ranked + 1) * sizeof *rows);
  if (!report_ok(r, rows ? EV_OK : EV_NO_MEMORY)) return;
  size_t count = report_sort_common(r, rows);
  bool differs = false;
  for (size_t i = 0; i < count; i++) differs |= rows[i].row.model != i;
  if (differs) report_common_table(r, rows, count);
  sqlite3_free(rows);
}

/*
** Attempts: at least one of them right, and all of them
*/

/* Intervals are left out of these cells: on a phone there is no room beside a task's name. */
static const char *report_pass_class(const report *r) {
  return r->task_count > 1 ? "extra" : "";
}

static void report_pass_row(report *r, size_t task, const report_model *m, size_t k) {
  board_pass pass;
  size_t t = board_task_at(r->board, task);
  if (!report_ok(r, board_passes(r->board, m->model, t, (double)k, &pass))) return;
  if (!report_ok(r, board_pass_intervals(r->board, m->model, t, (double)k, r->host, &pass))) return;
  report_add(r, "<tr>");
  if (r->task_count > 1) report_name_cell(r, "name", r->tasks[task]);
  report_name_cell(r, "name", m->name);
  report_count_cell(r, "", (double)k);
  report_percent_cell(r, "", pass.at);
  report_ci_cell(r, report_pass_class(r), pass.at_ci);
  report_percent_cell(r, "", pass.hat);
  report_ci_cell(r, report_pass_class(r), pass.hat_ci);
  report_count_cell(r, "extra", pass.questions);
  report_add(r, "</tr>\n");
}

/* Every k of eval_passes, or only the largest. */
static void report_pass_rows(report *r, bool every) {
  for (size_t t = 0; t < r->task_count; t++)
    for (size_t i = 0; i < r->shown; i++) {
      const report_model *m = &r->models[i];
      size_t most = board_attempts(r->board, m->model, board_task_at(r->board, t));
      for (size_t k = every ? 1 : most; most && r->status == EV_OK;
           k = 2 * k < most ? 2 * k : most) {
        report_pass_row(r, t, m, k);
        if (k == most) break;
      }
    }
}

static void report_pass_table(report *r, const char *id, bool every) {
  report_add(r, "<div class=\"wide\">");
  report_open_table(r, id, "narrow");
  if (r->task_count > 1) report_head(r, "name", "task");
  report_head(r, "name", "model");
  report_head(r, "", "k");
  report_head(r, "", "pass@k");
  report_level_head(r, report_pass_class(r));
  report_head(r, "", "pass^k");
  report_level_head(r, report_pass_class(r));
  report_head(r, "extra", "questions");
  report_open_rows(r);
  report_pass_rows(r, every);
  report_close_table(r);
  report_add(r, "</div>\n");
}

static size_t report_most_attempts(const report *r) {
  size_t most = 0;
  for (size_t t = 0; t < r->task_count; t++)
    for (size_t i = 0; i < r->shown; i++) {
      size_t n = board_attempts(r->board, r->models[i].model, t);
      if (n > most) most = n;
    }
  return most;
}

/* Rows shown without a click. */
enum { REPORT_ATTEMPTS = 60 };

void report_passes(report *r) {
  size_t most = report_most_attempts(r);
  if (most == 0) return;
  report_add(r, "<h2>Several attempts</h2>\n<p>Questions were asked up to ");
  report_count(r, (double)most);
  report_add(r, " times. <b>pass@k</b> is the share of questions with at least one right answer "
                "in k attempts, <b>pass^k</b> the share where all k are right.</p>\n");
  bool long_one = r->task_count * r->shown > REPORT_ATTEMPTS;
  if (long_one) report_add(r, "<details><summary>Every task and model</summary>\n");
  report_pass_table(r, "attempts", false);
  if (long_one) report_add(r, "</details>\n");
  if (most == 2) return;
  report_add(r, "<details><summary>With fewer attempts too</summary>\n");
  report_pass_table(r, "passes", true);
  report_add(r, "</details>\n");
}
