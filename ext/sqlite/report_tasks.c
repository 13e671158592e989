/*
** The report's tasks: one panel per task, all on one axis; the mean of tasks; and a table.  If
** there are too many tasks, the panels show those that separate the models best.
*/
#include <math.h>
#include <stdlib.h>

#include "report.h"

/* Reads a model's interval on a task; false where it was not asked. */
typedef struct report_task_cell {
  board_standing s;
  ev_interval ci;
} report_task_cell;

static report_task_cell report_task_of(report *r, size_t task, size_t place) {
  size_t t = board_task_at(r->board, task), model = r->models[place].model;
  report_task_cell cell = {board_task_standing(r->board, model, t), {NAN, NAN}};
  if (report_ok(r, EV_OK)) report_ok(r, board_task_interval(r->board, model, t, r->host, &cell.ci));
  return cell;
}

static report_axis report_task_axis(const report *r, const report_task_cell *cells) {
  double least = 1, most = 0;
  for (size_t i = 0; i < r->task_count * r->shown; i++) {
    if (isnan(cells[i].ci.lo)) continue;
    least = fmin(least, cells[i].ci.lo);
    most = fmax(most, cells[i].ci.hi);
  }
  return report_axis_for(fmin(least, most), most, REPORT_SHARES);
}

static void report_panel_row(report *r, const report_axis *axis, const char *name,
                             const report_task_cell *cell, bool best) {
  report_add(r, best ? "<div class=\"row best\"><span>" : "<div class=\"row\"><span>");
  report_text(r, name);
  report_add(r, "</span>");
  report_plot(r, axis, cell->s.accuracy, cell->ci, (ev_interval){NAN, NAN});
  if (isnan(cell->ci.lo)) report_add(r, "<span></span>");
  report_add(r, "<span>");
  if (!isnan(cell->s.accuracy)) report_percent(r, cell->s.accuracy, 1);
  report_add(r, "</span></div>\n");
}

static size_t report_panel_models(const report *r) {
  return r->shown < REPORT_PANEL ? r->shown : REPORT_PANEL;
}

static void report_panel(report *r, const report_axis *axis, size_t task,
                         const report_task_cell *cells) {
  double best = -1, questions = 0;
  size_t count = report_panel_models(r);
  for (size_t i = 0; i < count; i++) {
    best = fmax(best, cells[i].s.accuracy);
    questions = fmax(questions, cells[i].s.questions);
  }
  report_add(r, "<section class=\"panel\"><h3>");
  report_text(r, r->tasks[task]);
  report_add(r, "</h3><div class=\"row\"><span class=\"soft\">");
  report_things(r, questions, "question");
  report_add(r, "</span>");
  report_axis_numbers(r, axis);
  report_add(r, "<span></span></div>\n");
  for (size_t i = 0; i < count; i++)
    if (cells[i].s.asked)
      report_panel_row(r, axis, r->models[i].name, &cells[i], cells[i].s.accuracy == best);
  report_add(r, "</section>\n");
}

/* The gap between the intervals of a task's best and worst model: negative where they overlap,
** NAN where the panel would be empty. */
typedef struct report_gap {
  double gap;
  size_t task;
} report_gap;

static report_gap report_gap_of(size_t task, const report_task_cell *cells, size_t count) {
  double highest = NAN, lowest = NAN;
  for (size_t i = 0; i < count; i++) {
    highest = fmax(highest, cells[i].ci.lo); /* fmax of a number and NAN is the number */
    lowest = fmin(lowest, cells[i].ci.hi);
  }
  return (report_gap){highest - lowest, task};
}

static int report_by_gap(const void *x, const void *y) {
  const report_gap *a = x, *b = y;
  if (a->gap != b->gap) return a->gap < b->gap ? 1 : -1;
  return a->task < b->task ? -1 : 1;
}

static int report_by_task(const void *x, const void *y) {
  const report_gap *a = x, *b = y;
  return a->task < b->task ? -1 : 1;
}

static void report_panels(report *r, const report_axis *axis, const report_task_cell *cells) {
  size_t count = 0;
  report_gap *gaps = sqlite3_malloc64(r->task_count * sizeof *gaps);
  if (!report_ok(r, gaps ? EV_OK : EV_NO_MEMORY)) return;
  for (size_t t = 0; t < r->task_count; t++) {
    gaps[count] = report_gap_of(t, cells + t * r->shown, report_panel_models(r));
    if (!isnan(gaps[count].gap)) count++;
  }
  qsort(gaps, count, sizeof *gaps, report_by_gap);
  if (count > REPORT_TASKS) count = REPORT_TASKS;
  qsort(gaps, count, sizeof *gaps, report_by_task);
  report_add(r, "<div class=\"panels\">");
  for (size_t i = 0; i < count; i++)
    report_panel(r, axis, gaps[i].task, cells + gaps[i].task * r->shown);
  report_add(r, "</div>\n");
  sqlite3_free(gaps);
}

static void report_panels_words(report *r) {
  bool fewer = r->task_count > REPORT_TASKS;
  report_add(r, fewer ? "<h2>Tasks</h2>\n<p>Of " : "<h2>Every task</h2>\n<p>");
  if (fewer) {
    report_things(r, (double)r->task_count, "task");
    sqlite3_str_appendf(
        r->out,
        ", here are the %d on which the best and the worst model are farthest apart, "
        "partly by luck; the table below has all. ",
        REPORT_TASKS);
  }
  report_add(r, "All panels have the same axis; the highest ");
  report_add(r, report_measure(r));
  report_add(r, " in each is in bold.");
  if (r->shown > REPORT_PANEL)
    sqlite3_str_appendf(r->out, " Panels show the first %d models, the table %d.", REPORT_PANEL,
                        (int)r->shown);
  report_add(r, "</p>\n");
}

/* The mean of these tasks, each with the same weight; and the accuracy on other tasks like
** these. */
static void report_across_row(report *r, const report_model *m, bool others) {
  ev_interval macro = {NAN, NAN}, other = {NAN, NAN};
  if (!report_ok(r, board_macro_interval(r->board, m->model, r->host, &macro))) return;
  if (!report_ok(r, board_other_tasks(r->board, m->model, r->host, &other))) return;
  report_add(r, "<tr>");
  report_name_cell(r, "name", m->name);
  report_percent_cell(r, "", board_macro(r->board, m->model));
  report_ci_cell(r, "", macro);
  if (others) report_ci_cell(r, "extra", other);
  report_add(r, "</tr>\n");
}

/* Whether any model has enough tasks for an interval of other tasks. */
static bool report_has_others(report *r) {
  for (size_t i = 0; i < r->shown; i++) {
    ev_interval ci;
    if (!report_ok(r, board_other_tasks(r->board, r->models[i].model, r->host, &ci))) return false;
    if (!isnan(ci.lo)) return true;
  }
  return false;
}

static void report_across(report *r) {
  bool others = report_has_others(r);
  report_add(r, "<h3>Average of the tasks, each counting the same</h3>\n<div class=\"wide\">");
  report_open_table(r, "across", "narrow");
  report_head(r, "name", "model");
  report_head(r, "", "mean of the tasks");
  report_level_head(r, "");
  if (others) report_head(r, "extra", "on other tasks like these");
  report_open_rows(r);
  for (size_t i = 0; i < r->shown && r->status == EV_OK; i++)
    report_across_row(r, &r->models[i], others);
  report_close_table(r);
  report_add(r, "</div>\n");
}

static void report_task_table(report *r, const report_axis *axis, const report_task_cell *cells) {
  report_add(r, "<details><summary>Every task and model as a table</summary>\n");
  report_open_table(r, "tasks", "plotted two");
  report_head(r, "name keep", "task");
  report_head(r, "name keep", "model");
  report_axis_head(r, "picture", axis);
  report_head(r, "keep", report_measure(r));
  report_level_head(r, "");
  report_head(r, "", "questions");
  report_head(r, "", "answers");
  report_open_rows(r);
  for (size_t i = 0; i < r->task_count * r->shown; i++) {
    if (!cells[i].s.asked) continue;
    report_add(r, "<tr>");
    report_name_cell(r, "name keep", r->tasks[i / r->shown]);
    report_name_cell(r, "name keep", r->models[i % r->shown].name);
    report_plot_cell(r, axis, cells[i].s.accuracy, cells[i].ci);
    report_percent_cell(r, "keep", cells[i].s.accuracy);
    report_ci_cell(r, "", cells[i].ci);
    report_count_cell(r, "", cells[i].s.questions);
    report_count_cell(r, "", cells[i].s.n);
    report_add(r, "</tr>\n");
  }
  report_close_table(r);
  report_add(r, "</details>\n");
}

static void report_all_tasks(report *r, report_task_cell *cells) {
  for (size_t i = 0; i < r->task_count * r->shown && r->status == EV_OK; i++)
    cells[i] = report_task_of(r, i / r->shown, i % r->shown);
  if (r->status != EV_OK) return;
  report_axis axis = report_task_axis(r, cells);
  report_panels_words(r);
  report_panels(r, &axis, cells);
  report_across(r);
  report_task_table(r, &axis, cells);
}

/* Shown only where there are several tasks. */
void report_tasks(report *r) {
  if (r->task_count < 2 || r->shown == 0) return;
  report_task_cell *cells = sqlite3_malloc64(r->task_count * r->shown * sizeof *cells);
  if (report_ok(r, cells ? EV_OK : EV_NO_MEMORY)) report_all_tasks(r, cells);
  sqlite3_free(cells);
}
