/*
** Every allocation of an import refused in turn, alone and with all that follow: it ends with a
** message or with all of the answers, and the database is as it was or has them.
*/
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "../../ext/import/import.h"
#include "../check.h"

static sqlite3_mem_methods real;
static long left; /* allocations that are given before one is refused; negative: all are */
static int lasting;

static int refused(void) {
  if (left < 0) return 0;
  if (left > 0) return left--, 0;
  if (!lasting) left = -1;
  return 1;
}

static void *give(int size) {
  return refused() ? NULL : real.xMalloc(size);
}

static void *give_more(void *memory, int size) {
  return refused() ? NULL : real.xRealloc(memory, size);
}

static sqlite3_int64 rows_in(sqlite3 *db) {
  sqlite3_stmt *one = NULL;
  sqlite3_int64 rows = -1;
  if (sqlite3_prepare_v2(db, "SELECT count(*) FROM results", -1, &one, NULL) == SQLITE_OK &&
      sqlite3_step(one) == SQLITE_ROW)
    rows = sqlite3_column_int64(one, 0);
  sqlite3_finalize(one);
  return rows;
}

/* Whether it was imported; the database has three rows then, and no table else. */
static int import(const char *path, long refuse, int all) {
  sqlite3 *db;
  import_choices choices = {.keep = "lang"};
  import_done done;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) return 1;
  left = refuse;
  lasting = all;
  char *error = import_results(db, &path, 1, &choices, &done);
  left = -1;
  int ok = !error && done.table;
  /* Undoing takes memory too. */
  if (!sqlite3_get_autocommit(db))
    check(all && sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK, "undone", 0, 1);
  sqlite3_int64 rows = rows_in(db), wanted = ok ? 3 : -1;
  check(rows == wanted, path, (double)rows, (double)wanted);
  sqlite3_free(error);
  int rc = sqlite3_close(db);
  check(rc == SQLITE_OK, "closing", rc, SQLITE_OK);
  return ok;
}

int main(int argc, char **argv) {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real) != SQLITE_OK) return 2;
  sqlite3_mem_methods ours = real;
  ours.xMalloc = give;
  ours.xRealloc = give_more;
  left = -1;
  if (sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) != SQLITE_OK) return 2;
  for (int i = 1; i < argc; i++)
    for (int all = 0; all < 2; all++) {
      long n = 0;
      while (!import(argv[i], n, all) && n < 100000) n++;
      check(n < 100000, argv[i], (double)n, 100000);
    }
  return check_summary();
}
