/*
** The records of a file as a table, for formats in which other records say what one means:
**
**   records(number, record)   in a temporary database, which SQLite keeps in a file where it
**                             gets large
**
** and the rest of the document is :head, as after import_head().
*/
#include "formats.h"

static bool fill(import_run *run, const import_file *file, import_records *in, sqlite3 *db,
                 sqlite3_stmt *insert) {
  const char *text;
  size_t length;
  int more;
  while ((more = import_next(in, &text, &length, NULL)) > 0)
    if (sqlite3_bind_text64(insert, 1, text, length, SQLITE_STATIC, SQLITE_UTF8) ||
        sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert))
      return import_fail(run, file, "cannot be kept in a temporary table: %s", sqlite3_errmsg(db));
  return !more && import_rest(in, &text) && import_set_head(run, text);
}

sqlite3 *import_table(import_run *run, const import_file *file, const char *at, const char *keys) {
  sqlite3 *db = NULL;
  sqlite3_stmt *insert = NULL;
  import_records *in = import_open(run, file, at, keys);
  bool ok = in != NULL;
  if (ok && (sqlite3_open_v2("", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ||
             sqlite3_exec(db,
                          "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                          "CREATE TABLE records(number INTEGER PRIMARY KEY, record TEXT); BEGIN",
                          NULL, NULL, NULL) ||
             sqlite3_prepare_v2(db, "INSERT INTO records(record) VALUES (?1)", -1, &insert, NULL)))
    ok = import_fail(run, file, "cannot be kept in a temporary table: %s", sqlite3_errmsg(db));
  ok = ok && fill(run, file, in, db, insert);
  sqlite3_finalize(insert);
  import_close(in);
  if (ok) return db;
  sqlite3_close(db);
  return NULL;
}
