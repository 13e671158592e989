/*
** Fuzzes imports: any bytes as a file of any name.  An import ends with answers, or with a
** message and an unchanged database; importing the same file again changes nothing.
** See sql.c for how it is run.
**
** Bytes: one for the name, which some formats depend on; then the file.
*/
#include <sqlite3.h>
#include <unistd.h>

#include "../../../ext/import/import.h"
#include "fuzz.h"

static const char *const names[] = {"a.csv",
                                    "a.jsonl",
                                    "a.json",
                                    "a.eval",
                                    "a.db",
                                    "samples_t_2024-01-01T00-00-00.000000.jsonl",
                                    "per_instance_stats.json",
                                    "result.json",
                                    "report.json",
                                    "x_samples.jsonl"};
enum { NAMES = sizeof names / sizeof *names };

/* A folder in memory, if the system has one. */
static char place[40] = "/dev/shm/fuzz-import-XXXXXX";

static void leave(void) {
  rmdir(place);
}

static void start(void) {
  if (!mkdtemp(place)) {
    strcpy(place, "/tmp/fuzz-import-XXXXXX");
    if (!mkdtemp(place)) fuzz_die("no folder");
  }
  if (atexit(leave)) fuzz_die("cannot tidy up");
}

static void write_file(const char *path, fuzz_bytes in) {
  FILE *out = fopen(path, "wb");
  if (!out || fwrite(in.at, 1, in.left, out) < in.left || fclose(out)) fuzz_die("cannot write");
}

static sqlite3_int64 ask(sqlite3 *db, const char *sql) {
  sqlite3_stmt *one = NULL;
  if (sqlite3_prepare_v2(db, sql, -1, &one, NULL) || sqlite3_step(one) != SQLITE_ROW)
    fuzz_die("%s: %s", sql, sqlite3_errmsg(db));
  sqlite3_int64 n = sqlite3_column_int64(one, 0);
  sqlite3_finalize(one);
  return n;
}

/* Whether it was imported. */
static bool import(sqlite3 *db, const char *path, import_done *done) {
  import_choices choices = {0};
  char *error = import_results(db, &path, 1, &choices, done);
  bool ok = !error;
  if (error && strlen(error) < 5) fuzz_die("a message that says nothing");
  if (error && !sqlite3_get_autocommit(db)) fuzz_die("a transaction is left open");
  sqlite3_free(error);
  return ok;
}

static void check(const char *path) {
  sqlite3 *db;
  import_done first, again;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) fuzz_die("no database");
  if (!import(db, path, &first)) {
    if (ask(db, "SELECT count(*) FROM sqlite_schema")) fuzz_die("half an import");
  } else {
    if (first.rows < 1) fuzz_die("an import of nothing");
    if (!import(db, path, &again)) fuzz_die("the same file is refused");
    if (again.rows != first.rows || again.models != first.models || again.tasks != first.tasks ||
        again.questions != first.questions)
      fuzz_die("the same file changed %lld rows, %lld models, %lld tasks, %lld questions to %lld, "
               "%lld, %lld, %lld",
               first.rows, first.models, first.tasks, first.questions, again.rows, again.models,
               again.tasks, again.questions);
  }
  if (sqlite3_close(db) != SQLITE_OK) fuzz_die("something is left open");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool started;
  fuzz_bytes in = {data, size};
  char path[200];
  if (!started) start();
  started = true;
  snprintf(path, sizeof path, "%s/%s", place, names[fuzz_byte(&in) % NAMES]);
  write_file(path, in);
  check(path);
  unlink(path);
  return 0;
}
