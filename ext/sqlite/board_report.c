/*
** eval_report([source [, options]]): the board as one page of HTML, which needs nothing else.
** Beside the options of the tables it has "title", "note", "date" and "origin", which are shown as
** they are: the page itself reads no clock, so that the same data give the same page.
**
**   SELECT eval_report('results', '{"title":"Spring eval"}');
**
** The source 'votes', if it is a table of votes, gives the ratings alone; a page of results has
** them too, where there is such a table.
**
** 1. Reads the board, as the tables do.
** 2. Computes what several parts of the page need: the order of models, intervals, ranks,
**    and every pair of the models shown.
** 3. Writes the parts in their order.
*/
#include <math.h>
#include <string.h>

#include "../evalci.h"
#include "report.h"

static const char report_name[] = "eval_report";

bool report_ok(report *r, ev_status status) {
  if (r->status == EV_OK) r->status = status;
  return r->status == EV_OK;
}

/*
** The page's data
*/

static ev_status order_models(report *r) {
  evalci_sorted_row *rows = sqlite3_malloc64((r->count + 1) * sizeof *rows);
  if (!rows) return EV_NO_MEMORY;
  for (size_t m = 0; m < r->count; m++)
    rows[m] = (evalci_sorted_row){.row = {.model = (uint32_t)m},
                                  .accuracy = board_model_standing(r->board, m).accuracy,
                                  .next = board_model_place(r->board, m)};
  evalci_sort_rows(rows, r->count);
  for (size_t i = 0; i < r->count; i++) r->models[i].model = rows[i].row.model;
  sqlite3_free(rows);
  return EV_OK;
}

static void add_to_totals(report *r, const board_standing *s) {
  bool known = !isnan(s->accuracy);
  r->answers += s->n;
  r->errored += s->errored;
  r->repeated |= s->repeated;
  if (!known) return;
  r->graded |= s->graded;
  r->least_questions = r->ranked ? fmin(r->least_questions, s->questions) : s->questions;
  r->most_questions = fmax(r->most_questions, s->questions);
  r->ranked++;
}

static ev_status prepare_model(report *r, report_model *m) {
  m->s = board_model_standing(r->board, m->model);
  m->name = evalci_board_label(board_model_name(r->board, m->model));
  if (!m->name) return EV_NO_MEMORY;
  add_to_totals(r, &m->s);
  ev_status status = board_model_interval(r->board, m->model, r->host, &m->ci);
  m->bounded = (ev_interval){NAN, NAN};
  if (status == EV_OK && m->s.errored > 0)
    status = board_bounded(r->board, m->model, r->host, &m->bounded);
  return status == EV_OK ? board_place(r->board, m->model, r->host, &m->place) : status;
}

/* Finds the pair of two models among all pairs, in either order. */
static const board_pair *held_pair_of(const report *r, size_t x, size_t y) {
  size_t a = board_model_place(r->board, x), b = board_model_place(r->board, y);
  return board_pair_at(r->board, a < b ? a : b, a < b ? b : a);
}

/* Whether two models are in order: by the posterior, or without it by the test of all pairs. */
static ev_status in_order(const report *r, size_t x, size_t y, double *prob, bool *apart) {
  double diff, other;
  ev_status status = board_prob_all(r->board, x, y, r->host, prob, &diff);
  if (status == EV_OK) status = board_prob_all(r->board, y, x, r->host, &other, &diff);
  if (status != EV_OK) return status;
  *apart = r->placed ? fmin(*prob, other) <= r->joint->least : held_pair_of(r, x, y)->verdict != 0;
  return EV_OK;
}

static ev_status count_pairs_apart(report *r) {
  ev_status status = EV_OK;
  double prob;
  bool apart;
  for (size_t i = 0; i < r->ranked; i++)
    for (size_t j = i + 1; j < r->ranked && status == EV_OK; j++) {
      size_t x = r->models[i].model, y = r->models[j].model;
      const board_pair *p = held_pair_of(r, x, y);
      status = in_order(r, x, y, &prob, &apart);
      r->tested += p->n > 0;
      r->apart += apart;
    }
  return status;
}

const report_pair *report_pair_of(const report *r, size_t place, size_t other) {
  size_t i = place < other ? place : other, j = place < other ? other : place;
  return &r->pairs[i * r->shown + j];
}

/* Orders a pair: the better model first, and equal ones as they are. */
static report_pair turn_pair(report_pair p) {
  static const double ROUNDING = 1e-12;
  if (isnan(p.sure) || p.sure > 0.5 - ROUNDING) return p;
  return (report_pair){p.second, p.first,  p.n,    -p.diff, 1 - p.sure, {-p.ci.hi, -p.ci.lo},
                       p.apart,  p.likely, p.tied, p.hedged};
}

static ev_status read_pair(report *r, size_t i, size_t j, report_pair *read) {
  board_pair p = {0};
  ev_interval ci = {NAN, NAN};
  size_t x = r->models[i].model, y = r->models[j].model;
  double prob;
  bool apart, hedged = false;
  ev_status status = board_count_pair(r->board, x, y, &p);
  if (status == EV_OK && p.n > 0) status = board_pair_interval(r->board, &p, r->host, &ci);
  if (status == EV_OK && p.n > 0) status = board_pair_hedged(r->board, &p, &ci, r->host, &hedged);
  if (status == EV_OK) status = in_order(r, x, y, &prob, &apart);
  if (status == EV_OK && !r->placed && p.n > 0) status = board_pair_prob(r->board, &p, r->host);
  if (status != EV_OK) return status;
  double sure = r->placed ? prob : p.prob;
  bool likely = r->placed ? fmin(sure, 1 - sure) <= (1 - r->level) / 2 : ci.lo > 0 || ci.hi < 0;
  *read = turn_pair(
      (report_pair){i, j, p.n, p.mean_a - p.mean_b, sure, ci, apart, likely, p.tied, hedged});
  return EV_OK;
}

static ev_status prepare_pairs(report *r) {
  ev_status status = EV_OK;
  r->pairs = sqlite3_malloc64((r->shown * r->shown + 1) * sizeof *r->pairs);
  if (!r->pairs) return EV_NO_MEMORY;
  for (size_t i = 0; i < r->shown && status == EV_OK; i++)
    for (size_t j = i + 1; j < r->shown && status == EV_OK; j++)
      status = read_pair(r, i, j, &r->pairs[i * r->shown + j]);
  return status;
}

/* The models by falling probability of being the best, equal ones in the order of the leaderboard;
** and the smallest set of them that has the best one with the page's level. */
static ev_status prepare_favourites(report *r) {
  evalci_sorted_row *rows = sqlite3_malloc64((r->ranked + 1) * sizeof *rows);
  r->favoured = sqlite3_malloc64((r->ranked + 1) * sizeof *r->favoured);
  bool room = rows && r->favoured;
  double sum = 0;
  for (size_t i = 0; room && i < r->ranked; i++)
    rows[i] = (evalci_sorted_row){.row = {.model = (uint32_t)i},
                                  .accuracy = nearbyint(1e12 * r->models[i].place.best),
                                  .next = i};
  if (room) evalci_sort_rows(rows, r->ranked);
  for (size_t i = 0; room && i < r->ranked; i++) {
    report_model *m = &r->models[r->favoured[i] = rows[i].row.model];
    m->stand = m->place.lo > 1 ? REPORT_BEHIND : REPORT_LIKELY;
    if (sum >= r->level) continue;
    m->stand = REPORT_OPEN;
    r->favourites++;
    sum += m->place.best;
  }
  sqlite3_free(rows);
  return room ? EV_OK : EV_NO_MEMORY;
}

static ev_status prepare_tasks(report *r) {
  size_t count = board_tasks(r->board);
  r->tasks = sqlite3_malloc64((count + 1) * sizeof *r->tasks);
  if (!r->tasks) return EV_NO_MEMORY;
  for (; r->task_count < count; r->task_count++) {
    size_t task = board_task_at(r->board, r->task_count);
    char *name = evalci_board_label(board_task_name(r->board, task));
    if (!name) return EV_NO_MEMORY;
    r->tasks[r->task_count] = name;
  }
  return EV_OK;
}

static ev_status prepare_report(report *r) {
  size_t count = board_models(r->board);
  ev_status status = board_prepare(r->board);
  if (status == EV_OK) status = board_joint_of(r->board, r->host, &r->joint);
  if (status != EV_OK) return status;
  r->placed = r->joint->kind == BOARD_JOINED || r->joint->kind == BOARD_ALIKE;
  status = r->placed ? board_count_pairs(r->board, r->host) : board_test_pairs(r->board, r->host);
  if (status != EV_OK) return status;
  r->models = sqlite3_malloc64((count + 1) * sizeof *r->models);
  if (!r->models) return EV_NO_MEMORY;
  memset(r->models, 0, (count + 1) * sizeof *r->models);
  r->count = count;
  status = order_models(r);
  for (size_t i = 0; i < count && status == EV_OK; i++) status = prepare_model(r, &r->models[i]);
  if (status != EV_OK) return status;
  r->shown = r->ranked < REPORT_SHOWN ? r->ranked : REPORT_SHOWN;
  r->placed = r->placed && r->ranked > 1;
  status = count_pairs_apart(r);
  if (status == EV_OK) status = prepare_pairs(r);
  if (status == EV_OK && r->placed) status = prepare_favourites(r);
  return status == EV_OK ? prepare_tasks(r) : status;
}

static void free_report(report *r) {
  for (size_t i = 0; i < r->count; i++) sqlite3_free(r->models[i].name);
  for (size_t i = 0; i < r->task_count; i++) sqlite3_free(r->tasks[i]);
  sqlite3_free(r->models);
  sqlite3_free(r->tasks);
  sqlite3_free(r->pairs);
  sqlite3_free(r->favoured);
}

/*
** The page
*/
static void report_lines(report *r, const char *const *lines) {
  while (*lines) report_add(r, *lines++);
}

static void report_header(report *r) {
  report_add(r, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
  report_text(r, r->title ? r->title : "Eval report");
  report_add(r, "</title>\n<style>\n");
  report_lines(r, report_style);
  report_add(r, "</style>\n</head>\n<body>\n<h1>");
  report_text(r, r->title ? r->title : "Eval report");
  report_add(r, "</h1>\n");
}

/* Writes where the data come from, and how much there is. */
static void report_origin(report *r) {
  report_add(r, "<p class=\"soft\"><span class=\"said\">");
  report_text(r, r->database);
  if (strcmp(r->source, "results") != 0) {
    report_add(r, ", ");
    report_text(r, r->source);
  }
  report_add(r, "</span>");
  if (r->date) {
    report_add(r, "; this page was made on ");
    report_text(r, r->date);
  }
  report_add(r, r->board ? ".<br>" : ".</p>\n");
  if (!r->board) return;
  report_things(r, (double)r->count, "model");
  report_add(r, ", ");
  report_things(r, (double)r->task_count, "task");
  report_add(r, ", ");
  report_things(r, r->answers, "answer");
  if (r->errored > 0) {
    report_add(r, ", ");
    report_count(r, r->errored);
    report_add(r, " errored");
  }
  report_add(r, ".</p>\n");
}

static void report_footer(report *r) {
  sqlite3_str_appendf(
      r->out,
      "<p class=\"soft\">evalci %s, SQLite %s. No random numbers: the same data give the same "
      "page. Methods: Bowyer, Aitchison and Ivanova, &#8220;Don't use the CLT "
      "in LLM evals with fewer than a few hundred datapoints&#8221;, ICML 2025.</p>\n<script>\n",
      EVALCI_VERSION, sqlite3_libversion());
  report_lines(r, report_script);
  report_add(r, "</script>\n</body>\n</html>");
}

static void write_results(report *r) {
  report_leaderboard(r);
  report_costs(r);
  report_common(r);
  report_pairs(r);
  report_passes(r);
  report_tasks(r);
  report_votes(r);
  report_method(r);
}

static void write_report(report *r) {
  report_header(r);
  if (r->board) report_summary(r);
  if (r->note) {
    report_add(r, "<p class=\"note said\">");
    report_text(r, r->note);
    report_add(r, "</p>\n");
  }
  report_origin(r);
  if (r->board)
    write_results(r);
  else
    report_votes(r);
  report_footer(r);
}

/*
** The function
*/

/* The name of the database's file, without its folder. */
static const char *database_name(sqlite3 *db) {
  const char *path = sqlite3_db_filename(db, "main"), *name = path;
  for (const char *c = path; c && *c; c++)
    if (*c == '/' || *c == '\\') name = c + 1;
  return name && *name ? name : "a database in memory";
}

static void result_report(sqlite3_context *context, report *r) {
  r->out = sqlite3_str_new(sqlite3_context_db_handle(context));
  if (!r->board || report_ok(r, prepare_report(r))) write_report(r);
  int error = sqlite3_str_errcode(r->out), size = sqlite3_str_length(r->out);
  char *text = sqlite3_str_finish(r->out);
  if (!evalci_check_status(context, report_name, r->status)) {
    sqlite3_free(text);
  } else if (error != SQLITE_OK) {
    sqlite3_free(text);
    sqlite3_result_error_code(context, error);
  } else {
    sqlite3_result_text(context, text, size, sqlite3_free);
  }
  free_report(r);
}

/* Reports an error of the source: its message, or SQLite's own. */
static void refuse_source(sqlite3_context *context, evalci_call *call, int rc) {
  if (call->message || rc == SQLITE_ERROR)
    evalci_report(context, call);
  else
    sqlite3_result_error_code(context, rc);
}

static void eval_report(sqlite3_context *context, int argc, sqlite3_value **argv) {
  sqlite3 *db = sqlite3_context_db_handle(context);
  evalci_call call = {report_name, NULL};
  evalci_board_options options = {0};
  evalci_shared_board *held = NULL;
  const char *source;
  if (argc > 0 && sqlite3_value_type(argv[0]) == SQLITE_NULL) return;
  sqlite3_value *given = argc > 1 && sqlite3_value_type(argv[1]) != SQLITE_NULL ? argv[1] : NULL;
  int rc = SQLITE_ERROR;
  bool named = evalci_read_source_name(&call, argc > 0 ? argv[0] : NULL, "results", &source);
  bool votes = named && strcmp(source, "votes") == 0 && report_has_votes(db);
  if (votes)
    rc = SQLITE_OK;
  else if (named)
    rc = evalci_hold_board(&call, sqlite3_user_data(context), db, source, given, true, NULL, &held);
  if (rc == SQLITE_OK && !evalci_read_board_options(&call, given, &options)) rc = SQLITE_ERROR;
  if (rc != SQLITE_OK) {
    refuse_source(context, &call, rc);
  } else {
    report r = {.db = db,
                .board = votes ? NULL : held->board,
                .level = options.settings.level,
                .host = evalci_host_of(context),
                .title = options.title,
                .note = options.note,
                .source = votes ? source : held->source,
                .database = options.origin ? options.origin : database_name(db),
                .date = options.date};
    result_report(context, &r);
  }
  evalci_free_board_options(&options);
  evalci_release(held);
}

static void wrong_arity_of_report(sqlite3_context *context, int argc, sqlite3_value **argv) {
  evalci_call call = {report_name, NULL};
  (void)argv;
  evalci_fail(&call,
              "wrong number of arguments, got %d; call it as eval_report([source [, options]])",
              argc);
  evalci_report(context, &call);
}

static void free_boards(void *boards) {
  evalci_boards_release(boards);
}

/* Neither INNOCUOUS nor DIRECTONLY, like the tables of the board. */
int evalci_register_report(sqlite3 *db, evalci_boards *boards) {
  int rc = SQLITE_OK;
  for (int arity = 0; arity <= 2 && rc == SQLITE_OK; arity++)
    rc = sqlite3_create_function_v2(db, report_name, arity, SQLITE_UTF8,
                                    evalci_boards_retain(boards), eval_report, NULL, NULL,
                                    free_boards);
  if (rc == SQLITE_OK)
    rc = sqlite3_create_function_v2(db, report_name, -1, SQLITE_UTF8, NULL, wrong_arity_of_report,
                                    NULL, NULL, NULL);
  return rc;
}
