/*
** ci_methods(k, n [, level]): one row a method, to see them side by side.
**
** An eponymous virtual table, that is, a table-valued function: its arguments
** are hidden columns, and SQLite hands them over as equality constraints.  A
** NULL argument, or n = 0, leaves lo and hi NULL, so a join keeps its rows.
** The hidden columns are not called k, n and level: in ci_methods(k, n) those
** would take the place of the caller's own columns.
*/
#include <string.h>

#include "../stats/proportion.h"
#include "surface.h"

static const struct {
  const char *name;
  ev_model *model;
} methods[] = {
    {"bayes", ev_bayes}, {"jeffreys", ev_jeffreys},
    {"hdi", ev_hdi},     {"wilson", ev_wilson},
    {"cp", ev_cp},       {"agresti_coull", ev_agresti_coull},
    {"clt", ev_clt},
};
enum { METHODS = sizeof methods / sizeof *methods };

enum { METHOD, LO, HI, K, N, LEVEL, COLUMNS };

typedef struct cursor {
  sqlite3_vtab_cursor base;
  int row;
  bool known; /* whether there is anything to compute from */
  double counts[2];
  ev_options options;
  sqlite3_value *given[3]; /* k, n and level as they came, for the hidden columns */
} cursor;

static int connect(sqlite3 *db, void *data, int argc, const char *const *argv, sqlite3_vtab **table,
                   char **error) {
  (void)data;
  (void)argc;
  (void)argv;
  (void)error;
  int rc = sqlite3_declare_vtab(
      db, "CREATE TABLE x(method TEXT, lo REAL, hi REAL, given_k HIDDEN, given_n HIDDEN, "
          "given_level HIDDEN, PRIMARY KEY(method, given_k, given_n, given_level)) WITHOUT ROWID");
  /* SQLITE_VTAB_INNOCUOUS came with 3.31; an older host has no need of it. */
  if (rc == SQLITE_OK && sqlite3_libversion_number() >= 3031000)
    rc = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  if (rc != SQLITE_OK) return rc;
  *table = sqlite3_malloc(sizeof **table);
  if (!*table) return SQLITE_NOMEM;
  memset(*table, 0, sizeof **table);
  return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *table) {
  sqlite3_free(table);
  return SQLITE_OK;
}

/* Passes k, n and level on to filter() in that order; idxNum counts them.  A
** plan without k and n must not fail here: SQLite asks for such plans too when
** it weighs an OR, and turns them down for their cost. */
static int best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
  (void)table;
  int found[COLUMNS] = {0};
  bool withheld[COLUMNS] = {false};
  for (int i = 0; i < info->nConstraint; i++) {
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    if (c->iColumn < K || c->op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (c->usable)
      found[c->iColumn] = i + 1;
    else
      withheld[c->iColumn] = true;
  }
  for (int i = K; i <= LEVEL; i++)
    if (withheld[i] && !found[i]) return SQLITE_CONSTRAINT;
  info->estimatedCost = 1e12;
  if (!found[K] || !found[N]) return SQLITE_OK;
  for (int i = K; i <= LEVEL; i++) {
    if (!found[i]) continue;
    info->aConstraintUsage[found[i] - 1].argvIndex = ++info->idxNum;
    info->aConstraintUsage[found[i] - 1].omit = 1;
  }
  info->estimatedCost = METHODS;
  info->estimatedRows = METHODS;
  return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out) {
  (void)table;
  cursor *c = sqlite3_malloc(sizeof *c);
  if (!c) return SQLITE_NOMEM;
  memset(c, 0, sizeof *c);
  *out = &c->base;
  return SQLITE_OK;
}

static void forget_arguments(cursor *c) {
  for (int i = 0; i < 3; i++) {
    sqlite3_value_free(c->given[i]);
    c->given[i] = NULL;
  }
}

static int close_cursor(sqlite3_vtab_cursor *base) {
  forget_arguments((cursor *)base);
  sqlite3_free(base);
  return SQLITE_OK;
}

static bool read_arguments(evalci_call *call, int argc, sqlite3_value **argv, cursor *c) {
  if (argc < 2) return evalci_fail(call, "needs k and n, as in ci_methods(18, 20)");
  return evalci_read_counts(call, &evalci_k_n, argv, c->counts) &&
         evalci_read_options(call, argc - 2, argv + 2, &c->options);
}

static int filter(sqlite3_vtab_cursor *base, int given, const char *unused, int argc,
                  sqlite3_value **argv) {
  (void)given;
  (void)unused;
  cursor *c = (cursor *)base;
  evalci_call call = {"ci_methods", NULL};
  c->row = 0;
  c->known = false;
  forget_arguments(c);
  for (int i = 0; i < argc; i++)
    if (!(c->given[i] = sqlite3_value_dup(argv[i]))) return SQLITE_NOMEM;
  if (evalci_any_null(argc, argv)) return SQLITE_OK;
  if (!read_arguments(&call, argc, argv, c)) {
    sqlite3_free(base->pVtab->zErrMsg);
    base->pVtab->zErrMsg = call.message;
    return call.message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  c->known = c->counts[1] > 0;
  return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base) {
  ((cursor *)base)->row++;
  return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base) {
  return ((cursor *)base)->row >= METHODS;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int which) {
  const cursor *c = (const cursor *)base;
  if (which == METHOD) {
    sqlite3_result_text(context, methods[c->row].name, -1, SQLITE_STATIC);
  } else if (which >= K) {
    if (c->given[which - K]) sqlite3_result_value(context, c->given[which - K]);
  } else if (c->known) {
    ev_interval ci = methods[c->row].model(c->counts, &c->options);
    sqlite3_result_double(context, which == LO ? ci.lo : ci.hi);
  }
  return SQLITE_OK;
}

/* No xCreate: the table exists by its name alone, as json_each does.  No
** rowids: an OR joins its sides by them, and would take two arguments' rows for
** one. */
static const sqlite3_module module = {
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
};

int evalci_register_ci_methods(sqlite3 *db) {
  return sqlite3_create_module_v2(db, "ci_methods", &module, NULL, NULL);
}
