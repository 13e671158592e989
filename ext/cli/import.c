/*
** evalci import: files into the table results of a database, all or nothing.
**
** 1. A new database is made beside its place, and linked there when it is complete and on
**    the disk.  A link never replaces a file: where another program has made the database
**    meanwhile, or the file system has no links, the import is done again, in place.
** 2. In place it is one transaction, which waits up to 5 seconds for other writers.
** 3. In place, too, where a journal lies without its database: SQLite deletes such a journal
**    when it makes a database, but would play it back into one that is linked there.
**
** Nothing is ever deleted but the file of step 1, and those that killed programs left of it.
*/
#include <errno.h>
#include <string.h>

#include "cli.h"

enum { MOST_LINES = 20 };

/* The summary that is printed at the end. */
typedef struct cli_summary {
  import_done done;
  cli_table *lines;
  sqlite3_int64 lines_there;
} cli_summary;

/*
** Reading
*/
static int fail_import(const cli *c, const char *path, sqlite3 *db) {
  int code = sqlite3_errcode(db) & 0xff;
  if (code == SQLITE_BUSY)
    return cli_fail(c, "'%s' is locked by another program; nothing was imported", path);
  return cli_fail(c, "cannot write '%s': %s; nothing was imported", path, sqlite3_errmsg(db));
}

/* Ends the transaction.  It is in the database once its journal is gone, whether or not the lock
** can then be let go. */
static bool commit(sqlite3 *db) {
  if (sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK) return true;
  int code = sqlite3_extended_errcode(db);
  return code == SQLITE_IOERR_UNLOCK || code == SQLITE_IOERR_RDLOCK;
}

static void collect_summary(sqlite3 *db, cli_summary *summary) {
  static const char sql[] =
      "SELECT path AS file, model AS \"?model\", task AS \"?task\", "
      "metric AS \"?metric\", n AS rows, "
      "iif(mean IS NULL, NULL, printf('%.4g', mean)) AS \"?mean\", "
      "nullif(errored, 0) AS \"?errored\", note AS \"?note\" FROM temp.import_summary LIMIT 20";
  sqlite3_stmt *rows = NULL;
  if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK) summary->lines = cli_collect(rows);
  sqlite3_finalize(rows);
  if (sqlite3_prepare_v2(db, "SELECT count(*) FROM temp.import_summary", -1, &rows, NULL) ==
          SQLITE_OK &&
      sqlite3_step(rows) == SQLITE_ROW)
    summary->lines_there = sqlite3_column_int64(rows, 0);
  sqlite3_finalize(rows);
}

/* One transaction over a connection. */
static int import_into(const cli *c, sqlite3 *db, const char *path, cli_summary *summary) {
  if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
    return fail_import(c, path, db);
  char *error = cli_import_files(c, db, c->names, c->count, &summary->done);
  int status = error ? CLI_ERROR : CLI_OK;
  if (error && !cli_interrupted()) cli_fail_lines(c, error);
  sqlite3_free(error);
  if (status == CLI_OK && !cli_interrupted()) {
    collect_summary(db, summary);
    if (!commit(db)) status = fail_import(c, path, db);
  }
  if (!sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  /* Where a full disk stopped even that, reading puts back what the journal holds. */
  if (status != CLI_OK) sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
  return cli_interrupted() ? CLI_ERROR : status;
}

static int import_in_place(const cli *c, const char *target, cli_summary *summary) {
  sqlite3 *db = cli_connect(c, target);
  if (!db) return CLI_ERROR;
  cli_begin_guard(NULL, db);
  int status = import_into(c, db, target, summary);
  cli_begin_guard(NULL, NULL);
  sqlite3_close(db);
  cli_end_guard();
  return status;
}

/*
** A new database
*/
static bool reads_input(const cli *c) {
  for (int i = 0; i < c->count; i++)
    if (strcmp(c->names[i], "-") == 0) return true;
  return false;
}

/* Writes a new file; it needs no journal, since it is thrown away unless all goes well. */
static int fill_part(const cli *c, const char *part, const char *target, cli_summary *summary) {
  sqlite3 *db = cli_connect(c, part);
  if (!db) return CLI_ERROR;
  int status = CLI_ERROR;
  if (sqlite3_exec(db, "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF", NULL, NULL,
                   NULL) == SQLITE_OK)
    status = import_into(c, db, target, summary);
  else
    fail_import(c, target, db);
  if (sqlite3_close(db) != SQLITE_OK && status == CLI_OK)
    status = cli_fail(c, "cannot close '%s'; nothing was imported", target);
  return status;
}

/* Sets `in_place` if the import must be done in place. */
static int import_new(const cli *c, const char *target, cli_summary *summary, bool *in_place) {
  int error;
  char *part = cli_guard_beside(target, &error);
  if (!part) return cli_fail(c, "cannot write '%s': %s", target, strerror(error));
  int status = fill_part(c, part, target, summary);
  error = status == CLI_OK ? cli_sync(part) : 0;
  if (error)
    status = cli_fail(c, "cannot write '%s': %s; nothing was imported", target, strerror(error));
  if (status == CLI_OK) *in_place = (error = cli_place(part, target)) != 0;
  if (status != CLI_OK || *in_place) cli_remove(part);
  cli_end_guard();
  sqlite3_free(part);
  if (*in_place && reads_input(c)) {
    *in_place = false;
    return cli_fail(c,
                    "'%s' cannot be put into its place (%s), and standard input cannot be read "
                    "again; nothing was imported, try once more",
                    target, strerror(error));
  }
  return status;
}

/*
** The verb
*/

static void print_summary(const cli *c, const char *target, const cli_summary *summary) {
  int columns = cli_columns(stdout);
  bool votes = strcmp(summary->done.table, "votes") == 0;
  if (c->values[CLI_QUIET]) return;
  if (summary->lines && !cli_print_table(summary->lines, stdout, columns)) putchar('\n');
  if (summary->lines_there > MOST_LINES)
    printf("... and %lld more line%s\n", summary->lines_there - MOST_LINES,
           summary->lines_there == MOST_LINES + 1 ? "" : "s");
  sqlite3_str *now = sqlite3_str_new(NULL);
  sqlite3_str_appendf(now, "'%s' now has ", target);
  cli_add_done(now, &summary->done);
  putchar('\n');
  cli_put_lines(now);
  printf(votes ? "Next: evalci votes " : "Next: evalci leaderboard ");
  cli_put_shell_word(stdout, target);
  putchar('\n');
}

static bool check_target(const cli *c, const char *target) {
  if (!target || !*target || strcmp(target, "-") == 0 || cli_is_folder(target)) {
    cli_fail(c, "-o must name a database, got %s%s%s; as in evalci import results.csv -o evals.db",
             target ? "'" : "", target ? target : "none", target ? "'" : "");
    return false;
  }
  for (int i = 0; i < c->count; i++)
    if (cli_same_file(c->names[i], target)) {
      cli_fail(c, "'%s' cannot be imported into itself; name another database", target);
      return false;
    }
  if (c->count > 0) return true;
  cli_fail(c, "RESULTS must be named, got none; as in evalci import results.csv -o evals.db");
  return false;
}

static bool has_beside(const char *target, const char *suffix) {
  char *path = sqlite3_mprintf("%s%s", target, suffix);
  bool there = !path || cli_exists(path);
  sqlite3_free(path);
  return there;
}

int cli_run_import(cli *c) {
  const char *target = c->values[CLI_OUTPUT];
  cli_summary summary = {0};
  if (!check_target(c, target) || !cli_check_choices(c)) return CLI_ERROR;
  bool in_place =
      cli_exists(target) || has_beside(target, "-journal") || has_beside(target, "-wal");
  int status = in_place ? CLI_OK : import_new(c, target, &summary, &in_place);
  if (in_place && status == CLI_OK) {
    cli_free_table(summary.lines);
    summary = (cli_summary){0};
    status = import_in_place(c, target, &summary);
  }
  if (status == CLI_OK) print_summary(c, target, &summary);
  cli_free_table(summary.lines);
  return status;
}
