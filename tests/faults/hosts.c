/*
** Tests the extension in hosts that this machine does not have: older and newer SQLite versions,
** and hosts that run out of memory where SQLite itself would report it first. sqlite3_evalci_init()
** gets the test's own table of routines, which are SQLite's except for those that imitate the host.
*/
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

/* The table's type, without the names that call through it. */
#define SQLITE_CORE
#include <sqlite3ext.h>

#include "../../ext/evalci.h"
#include "../check.h"

/* From 3.41 on the table has more routines than these headers may know. */
typedef struct host_table {
  sqlite3_api_routines routines;
  int (*is_interrupted)(sqlite3 *);
} host_table;

static sqlite3_api_routines real;

static int capture(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  (void)db, (void)error;
  real = *api;
  return SQLITE_OK;
}

static void find_routines(void) {
  sqlite3 *db = NULL;
  sqlite3_auto_extension((void (*)(void))capture);
  if (sqlite3_open(":memory:", &db) != SQLITE_OK || !real.libversion_number) {
    fprintf(stderr, "hosts: SQLite hands out no table of routines\n");
    exit(2);
  }
  sqlite3_close(db);
  sqlite3_reset_auto_extension();
}

/*
** The behaviour of the host
*/
static struct {
  int version;
  char version_text[20];
  bool interrupted;
  int asked; /* how often it was asked whether it was interrupted */
  bool no_state, no_text, no_blob;
  int answers;                  /* how many texts and numbers were returned */
  int configured;               /* how often a table was configured */
  int configuration;            /* and how */
  const sqlite3_module *module; /* of the table last registered */
  void *module_data;
  bool undeclared; /* tables need not be declared */
  double number;   /* the last result that had no receiver */
  int json, other; /* functions registered with the flag for JSON results, and without it */
} host;

static int host_version(void) {
  return host.version;
}

static const char *host_version_text(void) {
  return host.version_text;
}

static int host_is_interrupted(sqlite3 *db) {
  (void)db;
  host.asked++;
  return host.interrupted;
}

static void *host_aggregate_context(sqlite3_context *context, int size) {
  return host.no_state ? NULL : real.aggregate_context(context, size);
}

static const unsigned char *host_value_text(sqlite3_value *value) {
  return host.no_text ? NULL : real.value_text(value);
}

static const void *host_value_blob(sqlite3_value *value) {
  return host.no_blob ? NULL : real.value_blob(value);
}

static void host_result_text(sqlite3_context *context, const char *text, int size,
                             void (*destroy)(void *)) {
  host.answers++;
  real.result_text(context, text, size, destroy);
}

static void host_result_double(sqlite3_context *context, double number) {
  if (!context) {
    host.number = number;
    return;
  }
  host.answers++;
  real.result_double(context, number);
}

static int host_vtab_config(sqlite3 *db, int what, ...) {
  host.configured++;
  host.configuration = what;
  return real.vtab_config(db, what);
}

static void count_flags(const char *name, int flags) {
  size_t length = strlen(name);
  bool interval = strstr(name, "_ci") && strncmp(name, "ci_", 3) && length > 3;
  bool objects = strncmp(name, "clustered_each", strlen("clustered_each")) == 0 ||
                 strncmp(name, "nested_each", strlen("nested_each")) == 0 ||
                 strncmp(name, "noise", strlen("noise")) == 0 ||
                 strncmp(name, "bt_", strlen("bt_")) == 0 || strcmp(name, "plan_runs") == 0 ||
                 strncmp(name, "ranks", strlen("ranks")) == 0;
  bool json = flags & 0x001000000; /* SQLITE_RESULT_SUBTYPE, which older headers lack */
  host.json += json;
  host.other += !json;
  check(json == (interval || objects), name, json, interval || objects);
}

static int host_create_function(sqlite3 *db, const char *name, int arity, int flags, void *data,
                                void (*scalar)(sqlite3_context *, int, sqlite3_value **),
                                void (*step)(sqlite3_context *, int, sqlite3_value **),
                                void (*final)(sqlite3_context *), void (*destroy)(void *)) {
  if (arity >= 0) count_flags(name, flags);
  return real.create_function_v2(db, name, arity, flags, data, scalar, step, final, destroy);
}

static int host_create_window_function(sqlite3 *db, const char *name, int arity, int flags,
                                       void *data,
                                       void (*step)(sqlite3_context *, int, sqlite3_value **),
                                       void (*final)(sqlite3_context *),
                                       void (*value)(sqlite3_context *),
                                       void (*inverse)(sqlite3_context *, int, sqlite3_value **),
                                       void (*destroy)(void *)) {
  if (arity >= 0) count_flags(name, flags);
  return real.create_window_function(db, name, arity, flags, data, step, final, value, inverse,
                                     destroy);
}

static int host_declare_vtab(sqlite3 *db, const char *sql) {
  return host.undeclared ? SQLITE_OK : real.declare_vtab(db, sql);
}

static int host_create_module(sqlite3 *db, const char *name, const sqlite3_module *module,
                              void *data, void (*destroy)(void *)) {
  host.module = module;
  host.module_data = data;
  return real.create_module_v2(db, name, module, data, destroy);
}

static void set_version(int version) {
  host.version = version;
  snprintf(host.version_text, sizeof host.version_text, "%d.%d.%d", version / 1000000,
           version / 1000 % 1000, version % 1000);
}

/* A connection with evalci, in a host of that version. */
static int open_in(int version, sqlite3 **db, char **error) {
  static host_table table;
  memset(&host, 0, sizeof host);
  set_version(version);
  table.routines = real;
  table.routines.libversion_number = host_version;
  table.routines.libversion = host_version_text;
  table.routines.aggregate_context = host_aggregate_context;
  table.routines.value_text = host_value_text;
  table.routines.value_blob = host_value_blob;
  table.routines.result_text = host_result_text;
  table.routines.result_double = host_result_double;
  table.routines.vtab_config = host_vtab_config;
  table.routines.create_function_v2 = host_create_function;
  table.routines.create_window_function = host_create_window_function;
  table.routines.declare_vtab = host_declare_vtab;
  table.routines.create_module_v2 = host_create_module;
#if SQLITE_VERSION_NUMBER >= 3041000
  table.routines.is_interrupted = host_is_interrupted;
#endif
  table.is_interrupted = host_is_interrupted;
  if (sqlite3_open(":memory:", db) != SQLITE_OK) exit(2);
  return sqlite3_evalci_init(*db, error, &table.routines);
}

static sqlite3 *open_now(void) {
  sqlite3 *db;
  if (open_in(sqlite3_libversion_number(), &db, NULL) != SQLITE_OK) exit(2);
  return db;
}

static void expect(bool ok, const char *what, sqlite3 *db) {
  check(ok, what, sqlite3_errcode(db), sqlite3_extended_errcode(db));
  if (!ok) printf("  %s\n", sqlite3_errmsg(db));
}

static int run(sqlite3 *db, const char *sql) {
  return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/*
** Versions
*/
static void an_old_host_is_refused(void) {
  sqlite3 *db;
  char *error = NULL;
  int rc = open_in(3024000, &db, &error);
  check(rc == SQLITE_ERROR, "3.24 is refused", rc, SQLITE_ERROR);
  check(error && strcmp(error, "evalci needs SQLite 3.25 or newer, this is 3.24.0") == 0,
        "3.24 is told why", 0, 0);
  expect(run(db, "SELECT wilson_ci_counts(1, 2)") == SQLITE_ERROR, "nothing is registered", db);
  sqlite3_free(error);
  sqlite3_close(db);
  rc = open_in(3024000, &db, NULL);
  check(rc == SQLITE_ERROR, "3.24 is refused without a message", rc, SQLITE_ERROR);
  sqlite3_close(db);
}

static void the_oldest_host_works(void) {
  sqlite3 *db;
  int rc = open_in(3025000, &db, NULL);
  check(rc == SQLITE_OK, "3.25 is taken", rc, SQLITE_OK);
  expect(run(db, "SELECT wilson_ci(1), clustered_ci(1, 'a')") == SQLITE_OK, "and answers", db);
  sqlite3_close(db);
}

/* Tables can be called innocuous from 3.31 on, and are. */
static void tables_are_innocuous_where_they_can_be(void) {
  static const char sql[] = "SELECT count(*) FROM ci_methods(18, 20)";
  sqlite3 *db;
  open_in(3030999, &db, NULL);
  expect(run(db, sql) == SQLITE_OK && host.configured == 0, "3.30 is not asked", db);
  sqlite3_close(db);
  open_in(3031000, &db, NULL);
  expect(run(db, sql) == SQLITE_OK && host.configured == 1 &&
             host.configuration == SQLITE_VTAB_INNOCUOUS,
         "3.31 is told", db);
  sqlite3_close(db);
}

/* From 3.45 on SQLite wants to know which functions mark their result as JSON. */
static void intervals_are_announced_as_json(void) {
  sqlite3 *db = open_now();
  check(host.json > 20 && host.other > 5, "functions with the flag, and without", host.json,
        host.other);
  sqlite3_close(db);
}

/* So many sizes of clusters that the host is asked whether it was interrupted. */
static const char many_sizes[] =
    "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 3000)"
    " SELECT clustered_ci_counts(i / 3, i) FROM r";

static void a_new_host_can_interrupt(void) {
#if SQLITE_VERSION_NUMBER >= 3040000
  sqlite3 *db;
  open_in(3041000, &db, NULL);
  expect(run(db, many_sizes) == SQLITE_OK && host.asked > 0, "3.41 is asked", db);
  host.interrupted = true;
  expect(run(db, many_sizes) == SQLITE_INTERRUPT, "3.41 is heard", db);
  host.interrupted = false;
  expect(run(db, many_sizes) == SQLITE_OK, "and may go on", db);
  sqlite3_close(db);
#endif
}

/* Interrupts the statement that calls it, and is 0. */
static void stop(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc, (void)argv;
  sqlite3_interrupt(sqlite3_context_db_handle(context));
  sqlite3_result_int(context, 0);
}

static int first_step(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement = NULL;
  sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  int rc = sqlite3_step(statement);
  sqlite3_finalize(statement);
  return rc;
}

/* Before 3.41 a host cannot be asked, but a nested statement fails after an interrupt.  The sum is
** computed before SQLite itself checks for one. */
static void an_old_host_can_interrupt(void) {
  sqlite3 *db;
  open_in(3040999, &db, NULL);
  sqlite3_create_function(db, "stop", 0, SQLITE_UTF8, NULL, stop, NULL, NULL);
  expect(first_step(db, "SELECT 0.6 + stop()") == SQLITE_ROW, "SQLite looks too late", db);
  expect(first_step(db, "SELECT plan_diff_n(0.5, 0.6)") == SQLITE_ROW, "3.40 goes on", db);
  expect(first_step(db, "SELECT plan_diff_n(0.5, 0.6 + stop())") == SQLITE_INTERRUPT,
         "3.40 is heard", db);
  expect(first_step(db, "SELECT plan_diff_n(0.5, 0.6)") == SQLITE_ROW && host.asked == 0,
         "and may go on", db);
  expect(sqlite3_close(db) == SQLITE_OK, "and close", db);
}

/*
** Failures
*/
static int gsl_errors;

static void count_gsl_error(const char *reason, const char *file, int line, int number) {
  (void)reason, (void)file, (void)line, (void)number;
  gsl_errors++;
}

/* GSL's own handler ends the process. */
static void gsl_does_not_abort(void) {
  gsl_set_error_handler(count_gsl_error);
  sqlite3_close(open_now());
  gsl_error("a test", __FILE__, __LINE__, GSL_EDOM);
  check(gsl_errors == 0, "an error in GSL reaches a handler", gsl_errors, 0);
}

/* A group whose state could not be allocated is an error, not an empty group. */
static void missing_state_is_an_error(void) {
  static const char *const calls[] = {"SELECT bayes_ci(1)",
                                      "SELECT bayes_ci(1, 0.9)",
                                      "SELECT prob_better(1, 0)",
                                      "SELECT clustered_ci(1, 'a')",
                                      "SELECT clustered_ci_counts(1, 2)",
                                      "SELECT clustered_each(1, 'a')",
                                      "SELECT pass_at_k_ci(1, 'a', 1)",
                                      "SELECT macro_ci(1, 'a')",
                                      "SELECT ranks('a', 1)",
                                      "SELECT ranks_counts('a', 1, 2)",
                                      "SELECT judged_ci(1, 1)",
                                      "SELECT mean_ci(0.5)",
                                      "SELECT mean_diff_ci(0.5, 0.25)",
                                      "SELECT clustered_mean_ci(0.5, 'a')",
                                      "SELECT clustered_prob_better(0.5, 0.25, 'a')",
                                      "SELECT forest_svg('a', 0.5, '[0,1]')",
                                      "SELECT heatmap_svg('a', 'b', 0.5)"};
  sqlite3 *db = open_now();
  host.no_state = true;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    expect(run(db, calls[i]) == SQLITE_NOMEM, calls[i], db);
  sqlite3_close(db);
}

static void missing_bytes_are_an_error(void) {
  static const char *const texts[] = {
      "SELECT clustered_ci(1, 'a')",       "SELECT ci_lo('[0,1]')",
      "SELECT forest_svg('a', 0.5, NULL)", "SELECT heatmap_svg('a', 'b', 0.5)",
      "SELECT ci_text('[0,1]', 1, '%')",   "SELECT forest_svg(1, 0.5, NULL, '{}')"};
  sqlite3 *db = open_now();
  host.no_text = true;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    expect(run(db, texts[i]) == SQLITE_NOMEM, texts[i], db);
  host.no_text = false;
  host.no_blob = true;
  expect(run(db, "SELECT clustered_ci(1, x'61')") == SQLITE_NOMEM, "a key's blob", db);
  /* SQLite gives no bytes for a blob without any */
  expect(run(db, "SELECT clustered_ci(1, x'')") == SQLITE_OK, "an empty blob", db);
  sqlite3_close(db);
}

/* SQLite calls xFinal of a group in which a row failed, and discards the result. */
static void nothing_is_computed_after_a_failure(void) {
  static const char *const calls[] = {
      "SELECT bayes_ci(column1) FROM (VALUES (1), (2))",
      "SELECT prob_better(column1, 1) FROM (VALUES (1), (2))",
      "SELECT clustered_ci(column1, 'a') FROM (VALUES (1), (2))",
      "SELECT clustered_ci_counts(column1, 2) FROM (VALUES (1), (3))",
      "SELECT clustered_each(column1, 'a') FROM (VALUES (1), (2))",
      "SELECT pass_at_k_ci(column1, 'a', 1) FROM (VALUES (1), (2))",
      "SELECT ranks('a', column1) FROM (VALUES (1), (2))",
      "SELECT ranks_counts('a', column1, 2) FROM (VALUES (1), (3))",
      "SELECT judged_ci(column1, 1) FROM (VALUES (1), (2))",
      "SELECT mean_ci(column1) FROM (VALUES (1), (2))",
      "SELECT mean_prob_better(column1, 0) FROM (VALUES (1), (2))",
      "SELECT clustered_mean_ci(column1, 'a') FROM (VALUES (1), (2))",
      "SELECT clustered_prob_better(column1, 0, 'a') FROM (VALUES (1), (2))",
      "SELECT forest_svg('a', column1, NULL) FROM (VALUES (1), ('x'))",
      "SELECT heatmap_svg(column1, 'a', column1) FROM (VALUES (1), (2))"};
  sqlite3 *db = open_now();
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    host.answers = 0;
    expect(run(db, calls[i]) == SQLITE_ERROR && host.answers == 0, calls[i], db);
  }
  sqlite3_close(db);
}

/* The most memory that a call over short frames of many rows takes. */
static double frames_take(sqlite3 *db, const char *call) {
  char *sql = sqlite3_mprintf(
      "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 20000)"
      " SELECT max(length(x)) FROM (SELECT %s OVER (ORDER BY i ROWS 3 PRECEDING) AS x FROM r)",
      call);
  sqlite3_memory_highwater(1);
  sqlite3_int64 before = sqlite3_memory_used();
  expect(run(db, sql) == SQLITE_OK, sql, db);
  sqlite3_free(sql);
  return (double)(sqlite3_memory_highwater(0) - before);
}

/* Rows that have left a frame release their memory: beyond what SQLite needs to sort 20,000 rows, a
** call takes no more memory than for a few rows. */
static void frames_stay_small(void) {
  static const char *const calls[][2] = {
      {"clustered_clt_ci(1, 'a key of some length ' || i)", "max('a key of some length ' || i)"},
      {"clustered_clt_ci_counts(1, i)", "max(i)"},
      {"forest_svg('a label of some length ' || i, 0.5, NULL)",
       "max('a label of some length ' || i)"}};
  sqlite3 *db = open_now();
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    double more = frames_take(db, calls[i][0]) - frames_take(db, calls[i][1]);
    check(more < 100e3, calls[i][0], more, 100e3);
  }
  sqlite3_close(db);
}

/*
** The table-valued function, called in ways that SQLite does not use
*/
static sqlite3_value *value_of(sqlite3 *db, const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK ||
      sqlite3_step(statement) != SQLITE_ROW)
    exit(2);
  sqlite3_value *value = sqlite3_value_dup(sqlite3_column_value(statement, 0));
  sqlite3_finalize(statement);
  return value;
}

typedef struct opened_table {
  sqlite3_vtab *table;
  sqlite3_vtab_cursor *cursor;
} opened_table;

/* Opens the table without SQLite, which alone can declare one. */
static opened_table open_table(sqlite3 *db) {
  opened_table o = {NULL, NULL};
  host.undeclared = true;
  if (host.module->xConnect(db, host.module_data, 0, NULL, &o.table, NULL) != SQLITE_OK ||
      host.module->xOpen(o.table, &o.cursor) != SQLITE_OK)
    exit(2);
  o.cursor->pVtab = o.table;
  return o;
}

static void close_table(const opened_table *o) {
  host.module->xClose(o->cursor);
  host.module->xDisconnect(o->table);
}

/* A message that was not fetched is freed when another replaces it. */
static void a_second_message_replaces_the_first(void) {
  sqlite3_int64 before = sqlite3_memory_used();
  sqlite3 *db;
  open_in(3030000, &db, NULL);
  opened_table o = open_table(db);
  sqlite3_value *bad[] = {value_of(db, "SELECT 'x'"), value_of(db, "SELECT 20")};
  for (int i = 0; i < 2; i++) {
    int rc = host.module->xFilter(o.cursor, 0, NULL, 2, bad);
    check(rc == SQLITE_ERROR && o.table->zErrMsg, "a message", rc, SQLITE_ERROR);
  }
  sqlite3_free(o.table->zErrMsg);
  close_table(&o);
  sqlite3_value_free(bad[0]);
  sqlite3_value_free(bad[1]);
  sqlite3_close(db);
  check(sqlite3_memory_used() == before, "memory leaks", (double)sqlite3_memory_used(),
        (double)before);
}

/* The rows are requested again before all of the old ones were read. */
static void a_cursor_forgets_its_row(void) {
  sqlite3 *db;
  open_in(3030000, &db, NULL);
  opened_table o = open_table(db);
  double lo[2];
  sqlite3_value *n = value_of(db, "SELECT 9");
  for (int i = 0; i < 2; i++) {
    sqlite3_value *k = value_of(db, i ? "SELECT 2" : "SELECT 1");
    host.module->xFilter(o.cursor, 0, NULL, 2, (sqlite3_value *[]){k, n});
    host.module->xColumn(o.cursor, NULL, 1);
    lo[i] = host.number;
    sqlite3_value_free(k);
  }
  check(lo[0] < lo[1], "2 of 9 are more than 1 of 9", lo[0], lo[1]);
  sqlite3_value_free(n);
  close_table(&o);
  sqlite3_close(db);
}

/* Makes a plan for constraints on the columns of ci_methods, where given_k is column 3, given_n 4
** and given_level 5.  A letter is an equality, a capital letter one that cannot be used, and >
** another comparison on given_k.  Writes which argument each becomes. */
static int plan(const opened_table *o, const char *constraints, char *arguments, double *cost) {
  struct sqlite3_index_constraint given[4];
  struct sqlite3_index_constraint_usage used[4];
  sqlite3_index_info info = {
      .nConstraint = (int)strlen(constraints), .aConstraint = given, .aConstraintUsage = used};
  memset(given, 0, sizeof given);
  memset(used, 0, sizeof used);
  for (int i = 0; i < info.nConstraint; i++) {
    static const char columns[] = "mlhkna", unusable[] = "MLHKNA";
    const char *at = strchr(unusable, constraints[i]);
    given[i].usable = !at;
    given[i].op = SQLITE_INDEX_CONSTRAINT_EQ;
    given[i].iColumn = at ? (int)(at - unusable) : 3;
    if ((at = strchr(columns, constraints[i]))) given[i].iColumn = (int)(at - columns);
    if (constraints[i] == '>') given[i].op = SQLITE_INDEX_CONSTRAINT_GT;
  }
  int rc = host.module->xBestIndex(o->table, &info);
  for (int i = 0; i < info.nConstraint; i++) arguments[i] = (char)('0' + used[i].argvIndex);
  arguments[info.nConstraint] = 0;
  *cost = info.estimatedCost;
  return rc;
}

/* Equalities are used in the order of the arguments; a plan is refused if an argument is given but
** not usable in it; and a plan without k and n has a high cost. */
static void plans_use_what_they_can(void) {
  static const struct {
    const char *constraints, *arguments;
    int rc;
    bool costly;
  } plans[] = {
      {"kn", "12", SQLITE_OK, false},
      {"nk", "21", SQLITE_OK, false},
      {"akn", "312", SQLITE_OK, false},
      {"mkn", "012", SQLITE_OK, false},
      {"Kn", "00", SQLITE_CONSTRAINT, false},
      {"kN", "00", SQLITE_CONSTRAINT, false},
      {"knA", "000", SQLITE_CONSTRAINT, false},
      {"KNkn", "0012", SQLITE_OK, false},
      {"knM", "120", SQLITE_OK, false},
      {"k", "0", SQLITE_OK, true},
      {"na", "00", SQLITE_OK, true},
      {"", "", SQLITE_OK, true},
      {">n", "00", SQLITE_OK, true},
  };
  sqlite3 *db;
  open_in(3030000, &db, NULL);
  opened_table o = open_table(db);
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    char arguments[5];
    double cost;
    int rc = plan(&o, plans[i].constraints, arguments, &cost);
    check(rc == plans[i].rc, plans[i].constraints, rc, plans[i].rc);
    check(strcmp(arguments, plans[i].arguments) == 0, plans[i].constraints, atof(arguments),
          atof(plans[i].arguments));
    if (rc == SQLITE_OK) check((cost > 1e9) == plans[i].costly, "the cost of a plan", cost, 1e9);
  }
  close_table(&o);
  sqlite3_close(db);
}

int main(void) {
  find_routines();
  an_old_host_is_refused();
  the_oldest_host_works();
  tables_are_innocuous_where_they_can_be();
  intervals_are_announced_as_json();
  a_new_host_can_interrupt();
  an_old_host_can_interrupt();
  gsl_does_not_abort();
  missing_state_is_an_error();
  missing_bytes_are_an_error();
  nothing_is_computed_after_a_failure();
  frames_stay_small();
  a_second_message_replaces_the_first();
  a_cursor_forgets_its_row();
  plans_use_what_they_can();
  return check_summary();
}
