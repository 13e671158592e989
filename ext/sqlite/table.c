/*
** Table-valued functions: eponymous virtual tables, whose arguments are hidden
** columns that SQLite hands over as equality constraints.
**
** A NULL argument leaves the computed columns NULL (contract 3), so that a join keeps
** its rows.
*/
#include "table.h"

#include <math.h>
#include <string.h>

typedef struct table_instance {
  sqlite3_vtab base;
  const evalci_table *table;
} table_instance;

typedef struct table_cursor {
  sqlite3_vtab_cursor base;
  int row;
  bool computed;    /* the cells are those of the row */
  bool has_data;    /* no argument is NULL */
  ev_status status; /* the status of computing them */
  evalci_cell cells[EVALCI_TABLE_COLUMNS];
  sqlite3_value *given[EVALCI_TABLE_ARGUMENTS]; /* for the hidden columns */
  double data[]; /* as read() left them: sqlite3_malloc aligns to 8 bytes */
} table_cursor;

static const evalci_table *table_of(const sqlite3_vtab *base) {
  return ((const table_instance *)base)->table;
}

static int table_connect(sqlite3 *db, void *data, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **error) {
  const evalci_table *table = data;
  (void)argc;
  (void)argv;
  (void)error;
  int rc = sqlite3_declare_vtab(db, table->schema);
  /* SQLITE_VTAB_INNOCUOUS came with 3.31; an older host has no need of it. */
  if (rc == SQLITE_OK && sqlite3_libversion_number() >= 3031000)
    rc = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  if (rc != SQLITE_OK) return rc;
  table_instance *instance = sqlite3_malloc(sizeof *instance);
  if (!instance) return SQLITE_NOMEM;
  memset(instance, 0, sizeof *instance);
  instance->table = table;
  *out = &instance->base;
  return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *base) {
  sqlite3_free(base);
  return SQLITE_OK;
}

/* Passes the arguments to filter() in their order; idxNum counts them.  A plan without the
** required ones must not fail here: SQLite also asks for such plans when it considers an OR, and
** rejects them by their cost. */
static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
  const evalci_table *table = table_of(base);
  int constraint[EVALCI_TABLE_ARGUMENTS] = {0}; /* 1 + the constraint that gives an argument */
  bool withheld[EVALCI_TABLE_ARGUMENTS] = {false};
  for (int i = 0; i < info->nConstraint; i++) {
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    int argument = c->iColumn - table->columns;
    if (argument < 0 || c->op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (c->usable)
      constraint[argument] = i + 1;
    else
      withheld[argument] = true;
  }
  for (int i = 0; i < table->arguments; i++)
    if (withheld[i] && !constraint[i]) return SQLITE_CONSTRAINT;
  info->estimatedCost = 1e12;
  for (int i = 0; i < table->required; i++)
    if (!constraint[i]) return SQLITE_OK;
  for (int i = 0; i < table->arguments; i++) {
    if (!constraint[i]) continue;
    info->aConstraintUsage[constraint[i] - 1].argvIndex = ++info->idxNum;
    info->aConstraintUsage[constraint[i] - 1].omit = 1;
  }
  info->estimatedCost = table->rows;
  info->estimatedRows = table->rows;
  return SQLITE_OK;
}

static int table_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
  size_t size = sizeof(table_cursor) + table_of(base)->size;
  table_cursor *c = sqlite3_malloc64(size);
  if (!c) return SQLITE_NOMEM;
  memset(c, 0, size);
  *out = &c->base;
  return SQLITE_OK;
}

static void forget_arguments(table_cursor *c) {
  for (int i = 0; i < EVALCI_TABLE_ARGUMENTS; i++) {
    sqlite3_value_free(c->given[i]);
    c->given[i] = NULL;
  }
}

static int table_close(sqlite3_vtab_cursor *base) {
  forget_arguments((table_cursor *)base);
  sqlite3_free(base);
  return SQLITE_OK;
}

static int table_filter(sqlite3_vtab_cursor *base, int given, const char *unused, int argc,
                        sqlite3_value **argv) {
  (void)given;
  (void)unused;
  const evalci_table *table = table_of(base->pVtab);
  table_cursor *c = (table_cursor *)base;
  evalci_call call = {table->name, NULL};
  c->row = 0;
  c->computed = c->has_data = false;
  forget_arguments(c);
  for (int i = 0; i < argc; i++)
    if (!(c->given[i] = sqlite3_value_dup(argv[i]))) return SQLITE_NOMEM;
  if (evalci_any_null(argc, argv)) return SQLITE_OK;
  c->has_data = argc < table->required ? evalci_fail(&call, "%s", table->usage)
                                       : table->read(&call, argc, argv, c->data);
  if (c->has_data) return SQLITE_OK;
  sqlite3_free(base->pVtab->zErrMsg);
  base->pVtab->zErrMsg = call.message;
  return call.message ? SQLITE_ERROR : SQLITE_NOMEM;
}

static int table_next(sqlite3_vtab_cursor *base) {
  table_cursor *c = (table_cursor *)base;
  c->row++;
  c->computed = false;
  return SQLITE_OK;
}

static int table_at_end(sqlite3_vtab_cursor *base) {
  return ((table_cursor *)base)->row >= table_of(base->pVtab)->rows;
}

/* Computes the row's cells when the first of them is asked for. */
static void compute_row(const evalci_table *table, table_cursor *c) {
  if (c->computed) return;
  for (int i = 0; i < table->columns; i++) c->cells[i] = (evalci_cell){NULL, NAN};
  c->status = table->row(c->has_data ? c->data : NULL, c->row, c->cells);
  c->computed = true;
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int which) {
  const evalci_table *table = table_of(base->pVtab);
  table_cursor *c = (table_cursor *)base;
  if (which >= table->columns) {
    sqlite3_value *given = c->given[which - table->columns];
    if (given) sqlite3_result_value(context, given);
    return SQLITE_OK;
  }
  compute_row(table, c);
  const evalci_cell *cell = &c->cells[which];
  if (!evalci_check_status(context, table->name, c->status)) return SQLITE_OK;
  if (cell->text)
    sqlite3_result_text(context, cell->text, -1, SQLITE_STATIC);
  else if (!isnan(cell->number))
    sqlite3_result_double(context, cell->number);
  return SQLITE_OK;
}

/* No xCreate: the table exists by its name alone, as json_each does.  No rowids: SQLite joins the
** two sides of an OR by rowid, and would take rows of different arguments for the same row. */
static const sqlite3_module table_module = {
    .xConnect = table_connect,
    .xBestIndex = table_best_index,
    .xDisconnect = table_disconnect,
    .xOpen = table_open,
    .xClose = table_close,
    .xFilter = table_filter,
    .xNext = table_next,
    .xEof = table_at_end,
    .xColumn = table_column,
};

int evalci_register_table(sqlite3 *db, const evalci_table *table) {
  return sqlite3_create_module_v2(db, table->name, &table_module, (void *)table, NULL);
}
