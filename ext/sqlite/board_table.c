/*
** The tables of the board as eponymous virtual tables: the source and the options are
** hidden columns, which SQLite hands over as equality constraints.
**
** They are neither innocuous, because under trusted_schema=off a view could then read an
** attached database through them, nor for direct use only, because views over them are
** useful.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boards.h"

/* The module's client data. */
typedef struct board_module {
  const evalci_board_table *table;
  evalci_boards *boards;
} board_module;

typedef struct board_instance {
  sqlite3_vtab base;
  sqlite3 *db;
  const evalci_board_table *table;
  int columns;
  evalci_boards *boards;
} board_instance;

static int count_columns(const evalci_board_table *table) {
  int count = 0;
  while (table->columns[count]) count++;
  return count;
}

/*
** The table
*/
static int declare_board(sqlite3 *db, const evalci_board_table *table) {
  sqlite3_str *sql = sqlite3_str_new(db);
  sqlite3_str_appendall(sql, "CREATE TABLE x(");
  for (int i = 0; table->columns[i]; i++) sqlite3_str_appendf(sql, "%s, ", table->columns[i]);
  sqlite3_str_appendall(sql, "source HIDDEN, options HIDDEN)");
  char *text = sqlite3_str_finish(sql);
  int rc = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
  sqlite3_free(text);
  return rc;
}

static int board_connect(sqlite3 *db, void *data, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **error) {
  const board_module *module = data;
  (void)argc;
  (void)argv;
  (void)error;
  int rc = declare_board(db, module->table);
  if (rc != SQLITE_OK) return rc;
  board_instance *instance = sqlite3_malloc(sizeof *instance);
  if (!instance) return SQLITE_NOMEM;
  *instance = (board_instance){.db = db,
                               .table = module->table,
                               .columns = count_columns(module->table),
                               .boards = evalci_boards_retain(module->boards)};
  *out = &instance->base;
  return SQLITE_OK;
}

static int board_disconnect(sqlite3_vtab *base) {
  evalci_boards_release(((board_instance *)base)->boards);
  sqlite3_free(base);
  return SQLITE_OK;
}

/* The constraints used, in this order; bits of idxNum. */
enum { GIVEN_SOURCE, GIVEN_OPTIONS, ARGUMENTS, GIVEN_A = ARGUMENTS, GIVEN_B, GIVENS };

/* The bit of idxNum that says that the query uses a column of cost or latency. */
enum { COSTS_USED = 1 << GIVENS };

static bool uses_costs(const board_instance *t, const sqlite3_index_info *info) {
  sqlite3_uint64 costs = 0;
  for (int i = t->table->costs; i > 0 && i < t->columns; i++) costs |= (sqlite3_uint64)1 << i;
  return info->colUsed & costs;
}

/* The model of a pair that a constraint names, 0 or 1; -1 for other constraints. */
static int named_by(const board_instance *t, sqlite3_index_info *info, int which) {
  int column = info->aConstraint[which].iColumn;
  if (info->aConstraint[which].op != SQLITE_INDEX_CONSTRAINT_EQ) return -1;
  if (!(t->table->traits & EVALCI_PAIRED) || column < 0 || column > 1) return -1;
  /* Names are looked up by their bytes. */
  return sqlite3_stricmp(sqlite3_vtab_collation(info, which), "BINARY") == 0 ? column : -1;
}

/* A named pair costs one pair, in the order named.  A plan that cannot use the constraint gets
** the highest cost. */
static int board_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
  const board_instance *t = (const board_instance *)base;
  int constraint[2] = {0}; /* 1 + the constraint that names the model */
  bool withheld[2] = {false};
  for (int i = 0; i < info->nConstraint; i++) {
    int model = named_by(t, info, i);
    if (model < 0) continue;
    if (info->aConstraint[i].usable)
      constraint[model] = i + 1;
    else
      withheld[model] = true;
  }
  bool both = constraint[0] && constraint[1];
  bool lacks = (withheld[0] && !constraint[0]) || (withheld[1] && !constraint[1]);
  int rc = evalci_plan_arguments(info, t->columns, ARGUMENTS, both ? 1 : lacks ? 1e15 : 1e9);
  if (rc != SQLITE_OK) return rc;
  int place = (info->idxNum & 1 << GIVEN_SOURCE) != 0;
  place += (info->idxNum & 1 << GIVEN_OPTIONS) != 0;
  for (int i = 0; i < 2; i++) {
    if (!constraint[i]) continue;
    info->idxNum |= 1 << (GIVEN_A + i);
    info->aConstraintUsage[constraint[i] - 1].argvIndex = ++place;
  }
  if (uses_costs(t, info)) info->idxNum |= COSTS_USED;
  info->estimatedRows = both ? 1 : t->table->traits & EVALCI_PAIRED ? 1000 : 50;
  return SQLITE_OK;
}

/*
** The cursor
*/

/* Older SQLite versions open a new cursor for each row of a correlated subquery, and close the
** old one only afterwards; the new cursor takes over its board. */
static int board_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
  evalci_board_cursor *c = sqlite3_malloc(sizeof *c);
  if (!c) return SQLITE_NOMEM;
  memset(c, 0, sizeof *c);
  c->held = evalci_hold_last(((board_instance *)base)->boards);
  *out = &c->base;
  return SQLITE_OK;
}

static int board_close(sqlite3_vtab_cursor *base) {
  evalci_board_cursor *c = (evalci_board_cursor *)base;
  evalci_release(c->held);
  sqlite3_free(c->rows);
  sqlite3_free(c);
  return SQLITE_OK;
}

bool evalci_room_for_rows(evalci_board_cursor *c, size_t rows) {
  sqlite3_free(c->rows);
  c->count = 0;
  c->rows = sqlite3_malloc64((rows + 1) * sizeof *c->rows);
  return c->rows;
}

bool evalci_read_source_name(evalci_call *call, sqlite3_value *value, const char *usual,
                             const char **name) {
  *name = usual;
  if (!value || sqlite3_value_type(value) == SQLITE_NULL) return true;
  *name = (const char *)sqlite3_value_text(value);
  if (!*name) return false;
  if (sqlite3_value_type(value) == SQLITE_TEXT &&
      strlen(*name) == (size_t)sqlite3_value_bytes(value) && **name)
    return true;
  return evalci_fail(call, "source must be the name of a table or view, got %s; as in %s('%s')",
                     evalci_show(value).text, call->name, usual);
}

static int code_of(ev_status status) {
  return status == EV_OK            ? SQLITE_OK
         : status == EV_INTERRUPTED ? SQLITE_INTERRUPT
         : status == EV_NO_MEMORY   ? SQLITE_NOMEM
                                    : SQLITE_ERROR;
}

/* Finds the models that WHERE names. */
static int list_rows(const board_instance *t, evalci_call *call, evalci_board_cursor *c,
                     sqlite3_value **models) {
  size_t numbers[2], *named[2] = {NULL, NULL};
  for (int i = 0; i < 2; i++) {
    char room[8];
    board_name name;
    if (!models[i]) continue;
    if (sqlite3_value_type(models[i]) == SQLITE_NULL) return SQLITE_OK; /* equal to nothing */
    if (!evalci_name_of_value(models[i], room, &name)) return SQLITE_NOMEM;
    numbers[i] = board_model_named(c->board, name);
    named[i] = &numbers[i];
    if (numbers[i] < board_models(c->board)) continue;
    evalci_fail_model(call, c->held->source, c->board, models[i]);
    return SQLITE_ERROR;
  }
  ev_host host = evalci_host_of_db(t->db);
  ev_status status = board_prepare(c->board);
  if (status == EV_OK) status = t->table->list(c, (const size_t *const *)named, host);
  return code_of(status);
}

static int board_filter(sqlite3_vtab_cursor *base, int given, const char *unused, int argc,
                        sqlite3_value **argv) {
  (void)unused;
  (void)argc;
  board_instance *t = (board_instance *)base->pVtab;
  evalci_board_cursor *c = (evalci_board_cursor *)base;
  evalci_call call = {t->table->name, NULL};
  sqlite3_value *values[GIVENS] = {NULL};
  const char *source;
  evalci_shared_board *held = NULL;
  for (int i = 0; i < GIVENS; i++)
    if (given & 1 << i) values[i] = *argv++;
  if (values[GIVEN_OPTIONS] && sqlite3_value_type(values[GIVEN_OPTIONS]) == SQLITE_NULL)
    values[GIVEN_OPTIONS] = NULL;
  c->at = c->count = 0;
  c->known = false;
  int rc = SQLITE_ERROR;
  if (evalci_read_source_name(&call, values[GIVEN_SOURCE], "results", &source))
    rc = (t->table->traits & EVALCI_COUNTED ? evalci_hold_counts : evalci_hold_board)(
        &call, t->boards, t->db, source, values[GIVEN_OPTIONS], given & COSTS_USED,
        c->board ? c->held : NULL, &held);
  if (rc == SQLITE_OK) {
    evalci_release(c->held);
    c->held = held;
    c->board = held->board;
    rc = list_rows(t, &call, c, values + GIVEN_A);
  }
  if (rc == SQLITE_OK) return SQLITE_OK;
  sqlite3_free(base->pVtab->zErrMsg);
  base->pVtab->zErrMsg = call.message;
  return rc == SQLITE_ERROR && !call.message ? SQLITE_NOMEM : rc;
}

static int board_next(sqlite3_vtab_cursor *base) {
  evalci_board_cursor *c = (evalci_board_cursor *)base;
  c->at++;
  c->known = false;
  return SQLITE_OK;
}

static int board_at_end(sqlite3_vtab_cursor *base) {
  const evalci_board_cursor *c = (const evalci_board_cursor *)base;
  return c->at >= c->count;
}

static int board_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int which) {
  const board_instance *t = (const board_instance *)base->pVtab;
  evalci_board_cursor *c = (evalci_board_cursor *)base;
  if (which < t->columns)
    t->table->show(c, context, which);
  else
    evalci_result_words(context, which == t->columns ? c->held->source : c->held->options);
  return SQLITE_OK;
}

/* SQLite joins the two sides of an OR by rowid, so two different rows must have different
** rowids: a hash of all that identifies the row. */
static int board_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  const evalci_board_cursor *c = (const evalci_board_cursor *)base;
  const evalci_board_row *row = &c->rows[c->at];
  const uint32_t parts[] = {row->model, row->other, row->task, row->question, row->attempts};
  const char *options = c->held->options ? c->held->options : "";
  sqlite3_uint64 h = EVALCI_HASH;
  h = evalci_hash_bytes(h, c->held->source, strlen(c->held->source) + 1);
  h = evalci_hash_bytes(h, options, strlen(options) + 1);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    h = (h ^ parts[i]) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  *rowid = (sqlite3_int64)(h >> 1);
  return SQLITE_OK;
}

static const sqlite3_module board_methods = {
    .xConnect = board_connect,
    .xBestIndex = board_best_index,
    .xDisconnect = board_disconnect,
    .xOpen = board_open,
    .xClose = board_close,
    .xFilter = board_filter,
    .xNext = board_next,
    .xEof = board_at_end,
    .xColumn = board_column,
    .xRowid = board_rowid,
};

static void free_module(void *data) {
  board_module *module = data;
  evalci_boards_release(module->boards);
  sqlite3_free(module);
}

static int register_board(sqlite3 *db, const evalci_board_table *table, evalci_boards *boards) {
  board_module *module = sqlite3_malloc(sizeof *module);
  if (!module) return SQLITE_NOMEM;
  *module = (board_module){table, evalci_boards_retain(boards)};
  return sqlite3_create_module_v2(db, table->name, &board_methods, module, free_module);
}

int evalci_register_boards(sqlite3 *db) {
  static const evalci_board_table *const tables[] = {
      &evalci_leaderboard_table, &evalci_compare_table, &evalci_tasks_table,
      &evalci_common_table,      &evalci_passes_table,  &evalci_slices_table,
      &evalci_questions_table,   &evalci_noise_table};
  evalci_boards *boards = evalci_boards_new();
  int rc = boards ? SQLITE_OK : SQLITE_NOMEM;
  for (size_t i = 0; i < sizeof tables / sizeof *tables && rc == SQLITE_OK; i++)
    rc = register_board(db, tables[i], boards);
  if (rc == SQLITE_OK) rc = evalci_register_gate(db, boards);
  if (rc == SQLITE_OK) rc = evalci_register_votes(db, boards);
  if (rc == SQLITE_OK) rc = evalci_register_report(db, boards);
  if (rc == SQLITE_OK) rc = evalci_register_judge(db, boards);
  evalci_boards_release(boards);
  return rc;
}
