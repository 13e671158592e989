/*
** SQLite databases: opened to be read, and trusting nothing in them.
**
** Views, triggers, generated columns and the like may call SQLite's own harmless functions
** only, no extension is loaded, nothing is attached, and a database that is locked is waited
** for, five seconds.
*/
#include <string.h>

#include "inside.h"

enum { WAIT = 5000 };

/* The path as a URI, in which %, ? and # are quoted. */
static char *uri_of(const char *path) {
  sqlite3_str *out = sqlite3_str_new(NULL);
#ifdef _WIN32
  sqlite3_str_appendall(out, path[0] && path[1] == ':' ? "file:///" : "file:");
#else
  sqlite3_str_appendall(out, "file:");
  /* Two slashes would begin the name of a machine. */
  if (path[0] == '/') sqlite3_str_appendall(out, "//");
#endif
  for (const char *c = path; *c; c++) {
    if (*c == '%' || *c == '?' || *c == '#')
      sqlite3_str_appendf(out, "%%%02x", *c);
    else
      sqlite3_str_appendchar(out, 1, *c);
  }
  sqlite3_str_appendall(out, "?mode=ro");
  return sqlite3_str_finish(out);
}

bool import_has_safe_json(void) {
  int version = sqlite3_libversion_number();
  return version < 3038000 || version >= 3041000;
}

/* The connection has SQLite's own functions and no others. */
static bool harden(sqlite3 *db) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) == SQLITE_OK &&
         sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, !import_has_safe_json(), NULL) ==
             SQLITE_OK &&
         sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) == SQLITE_OK &&
         sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL) == SQLITE_OK &&
         sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, NULL) == SQLITE_OK &&
         sqlite3_busy_timeout(db, WAIT) == SQLITE_OK &&
         sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0) >= 0 &&
         sqlite3_limit(db, SQLITE_LIMIT_LENGTH, IMPORT_LONGEST) >= 0;
}

sqlite3 *import_database(import_run *run, const import_file *file) {
  sqlite3 *db = NULL;
  if (!file->source->path) {
    import_fail(run, file, "a database cannot come from standard input; name the file");
    return NULL;
  }
  char *uri = uri_of(file->source->path);
  int rc =
      uri ? sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) : SQLITE_NOMEM;
  if (rc == SQLITE_OK && !harden(db)) rc = SQLITE_NOMEM;
  if (rc == SQLITE_OK)
    rc = sqlite3_exec(db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL);
  sqlite3_free(uri);
  if (rc == SQLITE_OK) return db;
  if (rc == SQLITE_NOMEM)
    import_no_memory(run);
  else
    import_fail(run, file, "the database cannot be read: %s", sqlite3_errmsg(db));
  sqlite3_close(db);
  return NULL;
}

/* The columns of a table; a view that cannot be read has none. */
static bool outline_table(import_run *run, sqlite3_stmt *columns, const char *table,
                          import_buffer *out) {
  const char *text = NULL;
  if (sqlite3_bind_text(columns, 1, table, -1, SQLITE_STATIC) == SQLITE_OK &&
      sqlite3_step(columns) == SQLITE_ROW)
    text = (const char *)sqlite3_column_text(columns, 0);
  if (!text) text = "{}";
  bool ok = (out->length == 1 || import_append(run, out, ",", 1)) &&
            import_append_quoted(run, out, table, strlen(table)) &&
            import_append(run, out, ":", 1) && import_append(run, out, text, strlen(text));
  sqlite3_reset(columns);
  return ok;
}

/* {"table":{"column":"type",...},...} */
char *import_outline_database(import_run *run, const import_file *file) {
  sqlite3 *db = import_database(run, file);
  sqlite3_stmt *tables = NULL, *columns = NULL;
  import_buffer out = {0};
  if (!db) return NULL;
  int rc = sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')",
                              -1, &tables, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite3_prepare_v2(db, "SELECT json_group_object(name, type) FROM pragma_table_info(?)",
                            -1, &columns, NULL);
  bool ok = rc == SQLITE_OK && import_append(run, &out, "{", 1);
  while (ok && (rc = sqlite3_step(tables)) == SQLITE_ROW) {
    const char *table = (const char *)sqlite3_column_text(tables, 0);
    ok = !table || outline_table(run, columns, table, &out);
  }
  if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW)
    ok = import_fail(run, file, "the database cannot be read: %s", sqlite3_errmsg(db));
  ok = ok && import_append(run, &out, "}", 2);
  sqlite3_finalize(tables);
  sqlite3_finalize(columns);
  sqlite3_close(db);
  if (ok) return out.text;
  import_buffer_free(&out);
  return NULL;
}
