/*
** Opens RESULTS.
**
** 1. A single database that has the table is read in place: read-only, and so that no code of
**    its own runs.
** 2. Everything else is imported into a temporary database, which is on the disk if it is
**    large, and gone when the program ends.
*/
#include <errno.h>
#include <string.h>

#include "../evalci.h"
#include "cli.h"

/*
** Connections
*/

/* Views and triggers of a database may call innocuous functions only.  Where JSON functions are
** not among those (SQLite before 3.41) the schema is trusted: this program contains only
** SQLite's and evalci's functions, none of which does harm. */
static int secure(sqlite3 *db) {
  int rc = sqlite3_busy_timeout(db, 5000);
  if (rc == SQLITE_OK) rc = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, !import_has_safe_json(), NULL);
  if (rc == SQLITE_OK) rc = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_exec(db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
  return rc == SQLITE_OK ? sqlite3_evalci_init(db, NULL, NULL) : rc;
}

static int fail_connection(const cli *c, const char *path, sqlite3 *db) {
  int rc = db ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM;
  if (rc == SQLITE_BUSY)
    return cli_fail(c, "'%s' is locked by another program; try again when that is done", path);
  char *problem = import_database_problem(path, db);
  cli_fail(c, "cannot read '%s': %s", path, problem ? problem : "out of memory");
  sqlite3_free(problem);
  return CLI_ERROR;
}

sqlite3 *cli_connect(const cli *c, const char *path) {
  sqlite3 *db = NULL;
  char *uri = path ? import_database_uri(path, "mode=rwc") : sqlite3_mprintf("");
  int rc = uri ? sqlite3_open_v2(uri, &db,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL)
               : SQLITE_NOMEM;
  sqlite3_free(uri);
  if (rc == SQLITE_OK && secure(db) == SQLITE_OK) return db;
  fail_connection(c, path ? path : "the temporary database", db);
  sqlite3_close(db);
  return NULL;
}

/*
** A database in place
*/
bool cli_is_database(const char *path) {
  char head[16];
  FILE *file = cli_is_file(path) ? fopen(path, "rb") : NULL;
  bool is = file && fread(head, 1, sizeof head, file) == sizeof head &&
            memcmp(head, "SQLite format 3", sizeof head) == 0;
  if (file) fclose(file);
  return is;
}

/* Whether the schema has a table; returns a SQLite code. */
static int look_for_table(sqlite3 *db, const char *table, bool *there) {
  static const char sql[] = "SELECT count(*) FROM sqlite_schema "
                            "WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE";
  sqlite3_stmt *count = NULL;
  int rc = sqlite3_prepare_v2(db, sql, -1, &count, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_bind_text(count, 1, table, -1, SQLITE_STATIC);
  if (rc == SQLITE_OK && sqlite3_step(count) == SQLITE_ROW)
    *there = sqlite3_column_int(count, 0) > 0;
  int ended = sqlite3_finalize(count);
  return rc == SQLITE_OK ? ended : rc;
}

static bool reads_votes(const cli *c) {
  return strcmp(c->verb->name, "votes") == 0;
}

/* The table that was named, else results or votes, else counts (if an import found no answers). */
static int find_table_in(const cli *c, cli_results *out, bool *there) {
  int rc = look_for_table(out->db, out->source, there);
  if (rc != SQLITE_OK || *there || c->values[CLI_TABLE] || reads_votes(c)) return rc;
  rc = look_for_table(out->db, "counts", there);
  if (*there) out->source = "counts";
  return rc;
}

/* Opens the database if it has the table, and sets `there`.  False after an error. */
static bool try_in_place(const cli *c, const char *path, cli_results *out, bool *there) {
  int rc = import_database_open(path, secure, &out->db);
  if (rc == SQLITE_OK) rc = find_table_in(c, out, there);
  if (rc != SQLITE_OK) fail_connection(c, path, out->db);
  return rc == SQLITE_OK;
}

/* Whether options are given that only an import can follow. */
static bool wants_import(const cli *c) {
  static const cli_choice all[] = {CLI_FROM,   CLI_MODEL_NAME, CLI_TASK_NAME, CLI_SCORER,
                                   CLI_METRIC, CLI_FILTER,     CLI_SPLIT,     CLI_ITEMS};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (c->values[all[i]]) return true;
  return false;
}

/*
** Imports
*/
typedef struct cli_progress {
  double began, shown; /* seconds; 0 before anything was shown */
  bool wanted;
} cli_progress;

/* Shows progress after one second, five times a second. */
static int show_progress(void *host, sqlite3_int64 rows, sqlite3_int64 files) {
  cli_progress *p = host;
  double now = p->wanted ? cli_seconds() : 0;
  if (p->wanted && now - p->began > 1 && now - p->shown > 0.2) {
    sqlite3_str *line = sqlite3_str_new(NULL);
    cli_add_count(line, "\rread ", rows, "answer");
    cli_add_count(line, " in ", files, "file");
    char *text = sqlite3_str_finish(line);
    if (text) fprintf(stderr, "%s ", text);
    fflush(stderr);
    sqlite3_free(text);
    p->shown = now;
  }
  return cli_interrupted();
}

char *cli_import_files(const cli *c, sqlite3 *db, const char *const *paths, int count,
                       import_done *done) {
  cli_progress progress = {.wanted = !c->values[CLI_QUIET] && cli_is_terminal(stderr)};
  import_choices choices = {.from = c->values[CLI_FROM],
                            .table = c->values[CLI_TABLE],
                            .keep = c->values[CLI_KEEP],
                            .model_name = c->values[CLI_MODEL_NAME],
                            .task_name = c->values[CLI_TASK_NAME],
                            .scorer = c->values[CLI_SCORER],
                            .metric = c->values[CLI_METRIC],
                            .filter = c->values[CLI_FILTER],
                            .split = c->values[CLI_SPLIT],
                            .items = c->values[CLI_ITEMS],
                            .has_range = c->values[CLI_LO] || c->values[CLI_HI],
                            .progress = show_progress,
                            .host = &progress};
  for (int i = 0; i < IMPORT_COLUMNS; i++) choices.columns[i] = c->values[CLI_MODEL + i];
  for (int i = 0; i < 3; i++) choices.of_votes[i] = c->values[CLI_MODEL_A + i];
  if (reads_votes(c) && !choices.from) choices.from = "votes";
  cli_number(c, CLI_LO, 0, &choices.lo);
  cli_number(c, CLI_HI, 1, &choices.hi);
  if (progress.wanted) progress.began = cli_seconds();
  char *error = import_results(db, paths, count, &choices, done);
  if (progress.shown > 0) fprintf(stderr, "\r%60s\r", "");
  return error;
}

static bool import_all(const cli *c, const char *const *paths, int count, cli_results *out) {
  out->db = cli_connect(c, NULL);
  if (!out->db) return false;
  /* No safety is needed: the database ends with the program. */
  sqlite3_exec(out->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL);
  char *error = cli_import_files(c, out->db, paths, count, &out->done);
  if (error) cli_fail_lines(c, error);
  sqlite3_free(error);
  out->source = out->done.table;
  return !error;
}

/*
** The board's options
*/
static int bind_option(sqlite3_stmt *json, int i, const char *text) {
  return text ? sqlite3_bind_text(json, i, text, -1, SQLITE_STATIC) : SQLITE_OK;
}

static int bind_share(const cli *c, sqlite3_stmt *json, int i, cli_choice choice) {
  double x;
  if (!c->values[choice]) return SQLITE_OK;
  return cli_number(c, choice, 0, &x) ? sqlite3_bind_double(json, i, x) : SQLITE_ABORT;
}

/* Columns by their names in the database; in an import they have our names. */
static int bind_options(const cli *c, sqlite3_stmt *json, bool in_place) {
  int rc = SQLITE_OK;
  for (int i = 0; rc == SQLITE_OK && in_place && i <= IMPORT_ERROR; i++)
    rc = bind_option(json, i + 1, c->values[CLI_MODEL + i]);
  if (rc == SQLITE_OK) rc = bind_option(json, 8, c->values[CLI_BY]);
  if (rc == SQLITE_OK) rc = bind_option(json, 9, c->values[CLI_ERRORS]);
  if (rc == SQLITE_OK) rc = bind_share(c, json, 10, CLI_LEVEL);
  if (rc == SQLITE_OK && in_place) rc = bind_share(c, json, 11, CLI_LO);
  if (rc == SQLITE_OK && in_place) rc = bind_share(c, json, 12, CLI_HI);
  return rc;
}

static int bind_voting(const cli *c, sqlite3_stmt *json, bool in_place) {
  int rc = bind_option(json, 1, c->values[CLI_ANCHOR]);
  if (rc == SQLITE_OK) rc = bind_share(c, json, 2, CLI_SCALE);
  if (rc == SQLITE_OK) rc = bind_share(c, json, 3, CLI_BASE);
  if (rc == SQLITE_OK && c->values[CLI_POSITION]) rc = bind_option(json, 4, "true");
  if (rc == SQLITE_OK) rc = bind_share(c, json, 5, CLI_LEVEL);
  for (int i = 0; rc == SQLITE_OK && in_place && i < 3; i++)
    rc = bind_option(json, i + 6, c->values[CLI_MODEL_A + i]);
  return rc;
}

static bool write_options(const cli *c, cli_results *r) {
  static const char voting[] = "SELECT json_object('anchor', ?1, 'scale', ?2, 'base', ?3, "
                               "'position', json(?4), 'level', ?5, 'model_a', ?6, 'model_b', ?7, "
                               "'winner', ?8)";
  static const char sql[] =
      "SELECT json_object('model', ?1, 'task', ?2, 'item', ?3, 'attempt', ?4, 'correct', ?5, "
      "'score', ?6, 'error', ?7, 'by', ?8, 'errors', ?9, 'level', ?10, 'lo', ?11, 'hi', ?12)";
  sqlite3_stmt *json = NULL;
  int rc = sqlite3_prepare_v2(r->db, reads_votes(c) ? voting : sql, -1, &json, NULL);
  if (rc == SQLITE_OK)
    rc = reads_votes(c) ? bind_voting(c, json, r->path) : bind_options(c, json, r->path);
  if (rc == SQLITE_OK && sqlite3_step(json) == SQLITE_ROW)
    r->options = sqlite3_mprintf("%s", sqlite3_column_text(json, 0));
  sqlite3_finalize(json);
  if (!r->options && rc != SQLITE_ABORT) cli_fail_memory(c);
  return r->options;
}

bool cli_check_choices(const cli *c) {
  double level, lo, hi, scale, base;
  if (!cli_number(c, CLI_SCALE, 400, &scale) || !cli_number(c, CLI_BASE, 1000, &base) ||
      !cli_one_of(c, CLI_BY, "question", "task") || !cli_one_of(c, CLI_ERRORS, "skip", "wrong") ||
      !cli_number(c, CLI_LEVEL, 0, &level) || !cli_number(c, CLI_LO, 0, &lo) ||
      !cli_number(c, CLI_HI, 1, &hi))
    return false;
  if (lo >= hi) cli_fail(c, "--lo must be below --hi, got %.15g and %.15g", lo, hi);
  return lo < hi;
}

bool cli_open_results(const cli *c, const char *const *paths, int count, cli_results *out) {
  bool there = false;
  const char *usual = reads_votes(c) ? "votes" : "results";
  *out = (cli_results){.source = c->values[CLI_TABLE] ? c->values[CLI_TABLE] : usual};
  if (count == 0) {
    cli_fail(c, "RESULTS must be named, got none; as in evalci %s results.csv", c->verb->name);
    return false;
  }
  if (!cli_check_choices(c)) return false;
  if (count == 1 && !wants_import(c) && cli_is_database(paths[0]) &&
      !try_in_place(c, paths[0], out, &there)) {
    cli_close_results(out);
    return false;
  }
  if (there) {
    out->path = sqlite3_mprintf("%s", paths[0]);
  } else {
    cli_close_results(out);
    if (!import_all(c, paths, count, out)) {
      cli_close_results(out);
      return false;
    }
  }
  if (write_options(c, out)) return true;
  cli_close_results(out);
  return false;
}

void cli_close_results(cli_results *r) {
  sqlite3_free(r->options);
  sqlite3_free(r->path);
  sqlite3_close(r->db);
  r->options = r->path = NULL;
  r->db = NULL;
}
