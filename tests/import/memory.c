/*
** Lets each allocation of an import fail in turn, alone and together with all later ones.  The
** import must end with a message and an unchanged database, or with all answers of the file.
**
**   memory TABLE=FILE...     each has three rows for the table
*/
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "../../ext/import/import.h"
#include "../check.h"

static sqlite3_mem_methods real;
static long left; /* the number of allocations before one is refused; negative: none is refused */
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

static sqlite3_int64 rows_in(sqlite3 *db, const char *table) {
  sqlite3_stmt *one = NULL;
  sqlite3_int64 rows = -1;
  char *sql = sqlite3_mprintf("SELECT count(*) FROM %s", table);
  if (sql && sqlite3_prepare_v2(db, sql, -1, &one, NULL) == SQLITE_OK &&
      sqlite3_step(one) == SQLITE_ROW)
    rows = sqlite3_column_int64(one, 0);
  sqlite3_finalize(one);
  sqlite3_free(sql);
  return rows;
}

/* Whether the file was imported.  The database then has three rows, else no table. */
static int import(const char *table, const char *path, long refuse, int all) {
  sqlite3 *db;
  import_choices choices = {.keep = strcmp(table, "results") == 0 ? "lang" : NULL};
  import_done done;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) return 1;
  left = refuse;
  lasting = all;
  char *error = import_results(db, &path, 1, &choices, &done);
  left = -1;
  int ok = !error && done.table;
  check(!error || strstr(error, "memory"), error, 0, 1); /* the message names what was missing */
  /* A rollback needs memory too. */
  if (!sqlite3_get_autocommit(db))
    check(all && sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK, "undone", 0, 1);
  sqlite3_int64 rows = rows_in(db, table), wanted = ok ? 3 : -1;
  check(rows == wanted, path, (double)rows, (double)wanted);
  check(!ok || done.rows == 3, "rows that it tells of", (double)done.rows, 3);
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
  for (int i = 1; i < argc; i++) {
    char *path = strchr(argv[i], '=');
    if (!path) return 2;
    *path++ = '\0';
    for (int all = 0; all < 2; all++) {
      long n = 0;
      while (!import(argv[i], path, n, all) && n < 100000) n++;
      check(n < 100000, path, (double)n, 100000);
    }
  }
  return check_summary();
}
