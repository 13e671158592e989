/*
** eval_judge([source [, options]]): how well a judge's verdicts or scores agree with a person's,
** one row per model, or one row if there is no column of models.
**
**   SELECT model, labelled, kappa_ci, bias_ci, corrected_ci FROM eval_judge('verdicts');
**
** The row is a query over the source in the functions of this extension: agreement on the
** answers that a person labelled, also beyond chance, the judge's bias there, and the mean
** corrected for it.  Where every judgement and label is 0 or 1 that is judged_ci, elsewhere
** judged_mean_ci, and kappa has quadratic weights.
*/
#include <math.h>

#include "boards.h"
#include "object.h"

enum { JUDGE_ROLE, TRUTH_ROLE, MODEL, JUDGE_ROLES };
enum { JUDGE_LEVEL_KEY = JUDGE_ROLES, JUDGE_LO_KEY, JUDGE_HI_KEY, JUDGE_KEYS };

static const char *const judge_keys[JUDGE_KEYS] = {"judge", "truth", "model", "level", "lo", "hi"};

static const char *const judge_aliases[JUDGE_ROLES][EVALCI_MOST_ALIASES] = {
    [JUDGE_ROLE] = {"verdict", "judge_score", "llm_judge", "judgement", "judgment"},
    [TRUTH_ROLE] = {"human", "label", "human_score", "human_label", "gold"},
    [MODEL] = {"model_name", "llm", "provider"},
};

/* The options: names of columns, which the query quotes, and numbers, which are bound to it. */
typedef struct judge_options {
  char *columns[JUDGE_ROLES]; /* sqlite3_malloc'ed; NULL where not given */
  double level, lo, hi;
  bool ranged;
  unsigned seen;
} judge_options;

/*
** Options
*/
static bool read_judge_number(evalci_call *call, int key, evalci_part value, double *out) {
  if (evalci_parse_number(value.at, out) == value.end &&
      (key == JUDGE_LEVEL_KEY ? *out > 0 && *out < 1 : fabs(*out) <= 0x1p500))
    return true;
  return evalci_fail(call, "%s in options must be %s, got %s", judge_keys[key],
                     key == JUDGE_LEVEL_KEY ? "strictly between 0 and 1" : "a number",
                     evalci_show_part(value).text);
}

static bool read_judge_member(evalci_call *call, evalci_part name, evalci_part value, void *data) {
  judge_options *out = data;
  int key = evalci_key_of(name, judge_keys, JUDGE_KEYS);
  size_t size;
  if (key < 0)
    return evalci_fail(call,
                       "options has no key %s; it may have level, lo and hi, and the names of "
                       "columns: judge, truth, model",
                       evalci_show_part(name).text);
  if (out->seen & 1u << key)
    return evalci_fail(call, "options has the key %s twice", evalci_show_part(name).text);
  out->seen |= 1u << key;
  if (evalci_part_is(value, "null")) return true;
  if (key == JUDGE_LEVEL_KEY) return read_judge_number(call, key, value, &out->level);
  out->ranged |= key > JUDGE_LEVEL_KEY;
  if (key == JUDGE_LO_KEY) return read_judge_number(call, key, value, &out->lo);
  if (key == JUDGE_HI_KEY) return read_judge_number(call, key, value, &out->hi);
  if (*value.at != '"')
    return evalci_fail(call, "%s in options must be the name of a column, got %s", judge_keys[key],
                       evalci_show_part(value).text);
  return (out->columns[key] = evalci_part_text(value, &size)) != NULL;
}

static bool read_judge_options(evalci_call *call, sqlite3_value *value, judge_options *out) {
  *out = (judge_options){.level = 0.95, .lo = 0, .hi = 1};
  if (!value || sqlite3_value_type(value) == SQLITE_NULL) return true;
  if (!evalci_read_object(call, value, "{\"judge\":\"verdict\"}", read_judge_member, out))
    return false;
  if (out->lo < out->hi) return true;
  return evalci_fail(call,
                     "lo in options must be below hi, got %.15g and %.15g; give both ends of the "
                     "range, as in {\"lo\":1,\"hi\":5}",
                     out->lo, out->hi);
}

/*
** The query
*/

/* The query's own table of answers.  It would hide a source of the same name. */
#define JUDGE_ANSWERS "\"answers of eval_judge\""

/* Krippendorff's alpha takes one row per rating: two of each labelled answer of the model. */
#define ALPHA(call)                                                                                \
  "(SELECT " call " FROM (SELECT row_number() OVER () AS u, * FROM " JUDGE_ANSWERS ") AS a "       \
  "CROSS JOIN (SELECT 0 AS x UNION ALL SELECT 1) "                                                 \
  "WHERE ?4 AND a.j + a.t IS NOT NULL AND a.m IS " JUDGE_ANSWERS ".m)"
#define RATING "CASE WHEN x THEN a.j ELSE a.t END, a.u"

/* A column, and how it is computed from j, the judgement, and t, the label, where both are 0 or
** 1, and where they are scores: NULL for the same.  ?1, ?2 and ?3 are level, lo and hi, and ?4 is
** whether the scores are few enough for kappa; at a level of 1e-12 a bound is the median. */
static const struct judge_column {
  const char *name, *of_verdicts, *of_scores;
} judge_columns[] = {
    {"model", "m", NULL},
    {"answers INTEGER", "count(j)", NULL},
    {"labelled INTEGER", "count(j + t)", NULL},
    {"agreement REAL", "avg(j + 0 = t + 0)", NULL},
    {"agreement_ci TEXT", "bayes_ci(j + 0 = t + 0, ?1)", NULL},
    {"kappa REAL", "kappa(j, t)", "kappa(CASE WHEN ?4 THEN j END, t, 'quadratic')"},
    {"kappa_ci TEXT", "kappa_ci(j, t, ?1)",
     "kappa_ci(CASE WHEN ?4 THEN j END, t, ?1, 'quadratic')"},
    {"ac1 REAL", "ac1(j, t)", "NULL"},
    {"ac1_ci TEXT", "ac1_ci(j, t, ?1)", "NULL"},
    {"alpha REAL", ALPHA("alpha(" RATING ")"), ALPHA("alpha(" RATING ", 'interval')")},
    {"alpha_ci TEXT", ALPHA("alpha_ci(" RATING ", ?1)"),
     ALPHA("alpha_ci(" RATING ", ?1, 'interval')")},
    {"bias REAL", "avg(j - t)", NULL},
    {"bias_ci TEXT", "paired_mean_diff_ci(j, t, ?1, ?2, ?3)", NULL},
    {"judged REAL", "avg(j + 0)", NULL},
    {"corrected REAL", "ci_lo(judged_ci(j, t, 1e-12))",
     "ci_lo(judged_mean_ci(j, t, 1e-12, ?2, ?3))"},
    {"corrected_ci TEXT", "judged_ci(j, t, ?1)", "judged_mean_ci(j, t, ?1, ?2, ?3)"},
};
enum { ANSWERS = 1, JUDGE_COLUMNS = sizeof judge_columns / sizeof *judge_columns };

/* Prepares SQL over JUDGE_ANSWERS, the source as a table of j, t and m. */
static int prepare_over(const evalci_found_table *s, const char *const *found, const char *select,
                        const char *rest, sqlite3_stmt **out) {
  sqlite3_str *sql = sqlite3_str_new(s->db);
  sqlite3_str_appendf(sql, "WITH " JUDGE_ANSWERS " AS (SELECT r.\"%w\" AS j, r.\"%w\" AS t, ",
                      found[JUDGE_ROLE], found[TRUTH_ROLE]);
  if (found[MODEL])
    sqlite3_str_appendf(sql, "r.\"%w\" AS m", found[MODEL]);
  else
    sqlite3_str_appendall(sql, "NULL AS m");
  sqlite3_str_appendf(sql, " FROM %s AS r) SELECT %s FROM " JUDGE_ANSWERS "%s", s->from, select,
                      rest);
  char *text = sqlite3_str_finish(sql);
  int rc = text ? sqlite3_prepare_v2(s->db, text, -1, out, NULL) : SQLITE_NOMEM;
  sqlite3_free(text);
  return rc;
}

/* A judgement or label; false after leaving a message. */
static bool read_judged(evalci_call *call, const char *column, sqlite3_value *value,
                        const judge_options *options, double *x) {
  if (!evalci_read_number(value, x))
    return evalci_fail(call, "%s must be a number, got %s; make it one in a view, as in %s = 'yes'",
                       column, evalci_show(value).text, column);
  if (*x >= options->lo && *x <= options->hi) return true;
  return evalci_fail(call,
                     "%s must be a number from %.15g to %.15g, got %s; give the range of the "
                     "scores in the options, as in {\"lo\":1,\"hi\":5}",
                     column, options->lo, options->hi, evalci_show(value).text);
}

/* Reads every judgement and label, and sets whether all are 0 or 1. */
static int check_judgements(const evalci_found_table *s, const char *const *found,
                            const judge_options *options, bool *verdicts) {
  sqlite3_stmt *statement = NULL;
  int rc = prepare_over(s, found, "j, t", "", &statement);
  *verdicts = !options->ranged;
  while (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
    rc = SQLITE_OK;
    for (int i = 0; i <= TRUTH_ROLE && rc == SQLITE_OK; i++) {
      sqlite3_value *value = sqlite3_column_value(statement, i);
      double x = 0;
      if (sqlite3_value_type(value) == SQLITE_NULL) continue;
      if (!read_judged(s->call, found[i], value, options, &x)) rc = SQLITE_ERROR;
      *verdicts = *verdicts && (x == 0 || x == 1);
    }
  }
  sqlite3_finalize(statement);
  return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Whether the different judgements and labels of labelled answers are few enough for kappa. */
static int count_categories(const evalci_found_table *s, const char *const *found, bool *few) {
  sqlite3_stmt *statement = NULL;
  int rc = prepare_over(
      s, found,
      "count(DISTINCT CASE WHEN j + t IS NULL THEN NULL WHEN x THEN j + 0 ELSE t + 0 END)",
      " CROSS JOIN (SELECT 0 AS x UNION ALL SELECT 1)", &statement);
  if (rc == SQLITE_OK) rc = sqlite3_step(statement);
  *few = sqlite3_column_int64(statement, 0) <= EVALCI_MOST_CATEGORIES;
  sqlite3_finalize(statement);
  return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* `used` has a bit for each column that the statement reads.  The others are not computed, except
** the number of answers: a query without any aggregate would have one row per answer. */
static int prepare_judge(const evalci_found_table *s, const char *const *found,
                         const judge_options *options, unsigned used, sqlite3_stmt **out) {
  bool verdicts, few;
  int rc = check_judgements(s, found, options, &verdicts);
  if (rc == SQLITE_OK) rc = count_categories(s, found, &few);
  if (rc != SQLITE_OK) return rc;
  used |= 1u << ANSWERS;
  sqlite3_str *select = sqlite3_str_new(s->db);
  for (int i = 0; i < JUDGE_COLUMNS; i++) {
    const struct judge_column *column = &judge_columns[i];
    const char *of = verdicts || !column->of_scores ? column->of_verdicts : column->of_scores;
    bool needed = used & 1u << i;
    sqlite3_str_appendf(select, "%s%s", i ? ", " : "", needed ? of : "NULL");
  }
  char *text = sqlite3_str_finish(select);
  rc = text ? prepare_over(s, found, text, found[MODEL] ? " GROUP BY m ORDER BY m" : "", out)
            : SQLITE_NOMEM;
  sqlite3_free(text);
  const double values[] = {options->level, options->lo, options->hi, few};
  for (int i = 0; i < 4 && rc == SQLITE_OK; i++)
    if (i < sqlite3_bind_parameter_count(*out)) rc = sqlite3_bind_double(*out, i + 1, values[i]);
  return rc;
}

/*
** The table
*/

typedef struct judge_instance {
  sqlite3_vtab base;
  sqlite3 *db;
  evalci_boards *boards;
} judge_instance;

typedef struct judge_cursor {
  sqlite3_vtab_cursor base;
  sqlite3_value **cells; /* JUDGE_COLUMNS to a row; owned, and so are the values */
  sqlite3_int64 rows, at;
  sqlite3_value *given[2]; /* source and options; owned */
} judge_cursor;

static const char judge_name[] = "eval_judge";

static int judge_connect(sqlite3 *db, void *boards, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **error) {
  (void)argc, (void)argv, (void)error;
  sqlite3_str *sql = sqlite3_str_new(db);
  sqlite3_str_appendall(sql, "CREATE TABLE x(");
  for (int i = 0; i < JUDGE_COLUMNS; i++) sqlite3_str_appendf(sql, "%s, ", judge_columns[i].name);
  sqlite3_str_appendall(sql, "source HIDDEN, options HIDDEN)");
  char *text = sqlite3_str_finish(sql);
  int rc = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
  sqlite3_free(text);
  judge_instance *instance = rc == SQLITE_OK ? sqlite3_malloc(sizeof *instance) : NULL;
  if (!instance) return rc == SQLITE_OK ? SQLITE_NOMEM : rc;
  *instance = (judge_instance){.db = db, .boards = evalci_boards_retain(boards)};
  *out = &instance->base;
  return SQLITE_OK;
}

static int judge_disconnect(sqlite3_vtab *base) {
  evalci_boards_release(((judge_instance *)base)->boards);
  sqlite3_free(base);
  return SQLITE_OK;
}

/* idxNum has a bit for the source, one for the options, and one for each column used. */
static int judge_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
  (void)base;
  for (int i = 0; i < JUDGE_COLUMNS; i++)
    if (info->colUsed & (sqlite3_uint64)1 << i) info->idxNum |= 4 << i;
  info->estimatedRows = 50;
  return evalci_plan_arguments(info, JUDGE_COLUMNS, 2, 1e6);
}

static int judge_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
  (void)base;
  judge_cursor *c = sqlite3_malloc(sizeof *c);
  if (!c) return SQLITE_NOMEM;
  *c = (judge_cursor){.rows = 0};
  *out = &c->base;
  return SQLITE_OK;
}

static void forget_rows(judge_cursor *c) {
  for (sqlite3_int64 i = 0; i < c->rows * JUDGE_COLUMNS; i++) sqlite3_value_free(c->cells[i]);
  for (int i = 0; i < 2; i++) sqlite3_value_free(c->given[i]);
  sqlite3_free(c->cells);
  *c = (judge_cursor){.base = c->base};
}

static int judge_close(sqlite3_vtab_cursor *base) {
  forget_rows((judge_cursor *)base);
  sqlite3_free(base);
  return SQLITE_OK;
}

/* Keeps a copy of the statement's row. */
static bool keep_row(judge_cursor *c, sqlite3_stmt *statement) {
  sqlite3_uint64 size = (sqlite3_uint64)(c->rows + 1) * JUDGE_COLUMNS * sizeof *c->cells;
  sqlite3_value **cells = sqlite3_realloc64(c->cells, size);
  if (!cells) return false;
  c->cells = cells;
  sqlite3_value **row = cells + c->rows++ * JUDGE_COLUMNS;
  for (int i = 0; i < JUDGE_COLUMNS; i++)
    row[i] = sqlite3_value_dup(sqlite3_column_value(statement, i));
  for (int i = 0; i < JUDGE_COLUMNS; i++)
    if (!row[i]) return false;
  return true;
}

static int find_judge_columns(const evalci_found_table *s, const char **found) {
  int rc = SQLITE_OK;
  for (int i = 0; i < JUDGE_ROLES && rc == SQLITE_OK; i++) {
    evalci_column_names names = {judge_keys[i], judge_aliases[i], NULL};
    rc = evalci_find_column(s, i, &names, &found[i]);
    if (rc == SQLITE_OK && !found[i] && i != MODEL)
      rc = evalci_fail_missing(s, judge_keys[i], judge_keys[i]);
  }
  return rc;
}

static int read_rows(judge_cursor *c, evalci_call *call, sqlite3 *db, const char *source,
                     const judge_options *options, unsigned used) {
  evalci_found_table s = {call, db, source, options->columns, JUDGE_ROLES, NULL, NULL};
  const char *found[JUDGE_ROLES] = {NULL};
  sqlite3_stmt *statement = NULL;
  int rc = evalci_find_table(&s);
  if (rc == SQLITE_OK) rc = find_judge_columns(&s, found);
  if (rc == SQLITE_OK) rc = prepare_judge(&s, found, options, used, &statement);
  while (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW)
    rc = keep_row(c, statement) ? SQLITE_OK : SQLITE_NOMEM;
  if (rc == SQLITE_DONE) rc = SQLITE_OK;
  if (rc != SQLITE_OK && rc != SQLITE_NOMEM && !call->message)
    evalci_fail(call, "cannot read %s: %s", source, sqlite3_errmsg(db));
  sqlite3_finalize(statement);
  evalci_end_search(&s);
  return rc;
}

static int judge_filter(sqlite3_vtab_cursor *base, int given, const char *unused, int argc,
                        sqlite3_value **argv) {
  (void)unused, (void)argc;
  judge_cursor *c = (judge_cursor *)base;
  judge_instance *t = (judge_instance *)base->pVtab;
  evalci_call call = {judge_name, NULL};
  judge_options options = {.level = 0};
  const char *source;
  forget_rows(c);
  for (int i = 0; i < 2; i++)
    if (given & 1 << i && !(c->given[i] = sqlite3_value_dup(*argv++))) return SQLITE_NOMEM;
  int rc = SQLITE_ERROR;
  if (evalci_read_source_name(&call, c->given[0], "results", &source) &&
      read_judge_options(&call, c->given[1], &options) &&
      evalci_begin_reading(&call, t->boards, t->db, source)) {
    rc = read_rows(c, &call, t->db, source, &options, (unsigned)given >> 2);
    evalci_end_reading(t->boards, t->db);
  }
  for (int i = 0; i < JUDGE_ROLES; i++) sqlite3_free(options.columns[i]);
  if (rc == SQLITE_OK) return SQLITE_OK;
  sqlite3_free(base->pVtab->zErrMsg);
  base->pVtab->zErrMsg = call.message;
  return rc == SQLITE_ERROR && !call.message ? SQLITE_NOMEM : rc;
}

static int judge_next(sqlite3_vtab_cursor *base) {
  ((judge_cursor *)base)->at++;
  return SQLITE_OK;
}

static int judge_at_end(sqlite3_vtab_cursor *base) {
  const judge_cursor *c = (const judge_cursor *)base;
  return c->at >= c->rows;
}

static int judge_cell(sqlite3_vtab_cursor *base, sqlite3_context *context, int which) {
  const judge_cursor *c = (const judge_cursor *)base;
  sqlite3_value *value = which < JUDGE_COLUMNS ? c->cells[c->at * JUDGE_COLUMNS + which]
                                               : c->given[which - JUDGE_COLUMNS];
  if (value) sqlite3_result_value(context, value);
  return SQLITE_OK;
}

static int judge_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  const judge_cursor *c = (const judge_cursor *)base;
  *rowid = evalci_call_rowid(c->given, 2, c->at);
  return SQLITE_OK;
}

static const sqlite3_module judge_methods = {
    .xConnect = judge_connect,
    .xBestIndex = judge_best_index,
    .xDisconnect = judge_disconnect,
    .xOpen = judge_open,
    .xClose = judge_close,
    .xFilter = judge_filter,
    .xNext = judge_next,
    .xEof = judge_at_end,
    .xColumn = judge_cell,
    .xRowid = judge_rowid,
};

static void free_judged_boards(void *boards) {
  evalci_boards_release(boards);
}

int evalci_register_judge(sqlite3 *db, evalci_boards *boards) {
  return sqlite3_create_module_v2(db, judge_name, &judge_methods, evalci_boards_retain(boards),
                                  free_judged_boards);
}
