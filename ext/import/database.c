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
      sqlite3_str_appendchar(out, 1, *c == '\\' && '\\' != '/' ? *c : *c);
  }
  sqlite3_str_appendall(out, "?mode=ro");
  return sqlite3_str_finish(out);
}

static bool harden(sqlite3 *db) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) == SQLITE_OK &&
         sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) == SQLITE_OK &&
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

/* {"table":{"column":"type",...},...}; a view that cannot be read has no columns. */
char *import_outline_database(import_run *run, const import_file *file) {
  sqlite3 *db = import_database(run, file);
  sqlite3_stmt *one = NULL;
  char *text = NULL;
  if (!db) return NULL;
  int rc = sqlite3_prepare_v2(
      db,
      "SELECT json_group_object(s.name, json((SELECT json_group_object(name, type) FROM "
      "pragma_table_info(s.name)))) FROM sqlite_schema AS s WHERE s.type IN ('table', 'view')",
      -1, &one, NULL);
  if (rc == SQLITE_OK && (rc = sqlite3_step(one)) == SQLITE_ROW) {
    text = sqlite3_mprintf("%s", sqlite3_column_text(one, 0));
    if (!text) import_no_memory(run);
  } else {
    import_fail(run, file, "the database cannot be read: %s", sqlite3_errmsg(db));
  }
  sqlite3_finalize(one);
  sqlite3_close(db);
  return text;
}
