/*
** SQLite databases: opened to be read, and trusting nothing in them.
**
** 1. Open the database read-only, and read its schema.
** 2. Where a program that wrote to it was killed, or its disk was full, its journal holds what has
**    to be put back, which only a connection that writes can do: open it so once, and go to 1.
** 3. SQLite reads a database in WAL mode together with two files beside it, and creates them if
**    they are missing.  Where it cannot, a database without a log is complete, and is read as
**    immutable.
**
** Views, triggers, generated columns and the like may call SQLite's own harmless functions
** only, no extension is loaded, nothing is attached, and a database that is locked is waited
** for, five seconds.
*/
#include <string.h>

#include "inside.h"

enum { WAIT = 5000 };

/* Names such as file:a.db and :memory: mean something else to SQLite without a URI, and ./ hides
** the second one in it.  %, ? and # are quoted. */
char *import_database_uri(const char *path, const char *parameters) {
  sqlite3_str *out = sqlite3_str_new(NULL);
#ifdef _WIN32
  const char *begin = path[0] && path[1] == ':' ? "file:///" : "file:";
#else
  const char *begin = "file:./";
#endif
  /* Two slashes begin the name of a machine, which is empty. */
  sqlite3_str_appendall(out, path[0] == '/' ? "file://" : begin);
  for (const char *c = path; *c; c++) {
    if (*c == '%' || *c == '?' || *c == '#')
      sqlite3_str_appendf(out, "%%%02x", *c);
    else
      sqlite3_str_appendchar(out, 1, *c);
  }
  sqlite3_str_appendf(out, "?%s", parameters);
  return sqlite3_str_finish(out);
}

bool import_has_safe_json(void) {
  int version = sqlite3_libversion_number();
  return version < 3038000 || version >= 3041000;
}

/* The connection has SQLite's own functions and no others. */
static int harden(sqlite3 *db) {
  bool hard = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) == SQLITE_OK &&
              sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, !import_has_safe_json(),
                                NULL) == SQLITE_OK &&
              sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) == SQLITE_OK &&
              sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL) == SQLITE_OK &&
              sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, NULL) == SQLITE_OK &&
              sqlite3_busy_timeout(db, WAIT) == SQLITE_OK &&
              sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0) >= 0 &&
              sqlite3_limit(db, SQLITE_LIMIT_LENGTH, IMPORT_LONGEST) >= 0;
  return hard ? SQLITE_OK : SQLITE_NOMEM;
}

/* Also if one may not read them. */
static bool has_bytes_beside(const char *path, const char *suffix) {
  char *name = sqlite3_mprintf("%s%s", path, suffix);
  import_stamp about;
  bool has = !name || (import_is_file(name, &about) && about.size > 0);
  sqlite3_free(name);
  return has;
}

/* Whether the journal is this database's alone.  Otherwise it ends with the name of a file about
** all of them, which SQLite deletes when it has put the pages back: a journal that comes from
** somewhere else could so name any file. */
static bool has_own_journal(const char *path) {
  static const char last[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  char end[8] = {0};
  char *name = sqlite3_mprintf("%s-journal", path);
  FILE *file = name ? import_file_open(name) : NULL;
  bool whole = file && fseek(file, -8, SEEK_END) == 0 && fread(end, 1, 8, file) == 8;
  if (file) fclose(file);
  sqlite3_free(name);
  return whole && memcmp(end, last, 8) != 0;
}

static int open_as(const char *path, const char *parameters, int (*prepare)(sqlite3 *),
                   sqlite3 **db) {
  char *uri = import_database_uri(path, parameters);
  sqlite3_close(*db);
  *db = NULL;
  int rc =
      uri ? sqlite3_open_v2(uri, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL) : SQLITE_NOMEM;
  sqlite3_free(uri);
  if (rc == SQLITE_OK) rc = prepare(*db);
  if (rc != SQLITE_OK) return rc;
  rc = sqlite3_exec(*db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL);
  return rc == SQLITE_OK ? rc : sqlite3_extended_errcode(*db);
}

static bool cannot_make_files(int rc) {
  return (rc & 0xff) == SQLITE_CANTOPEN || rc == SQLITE_READONLY_DIRECTORY;
}

int import_database_open(const char *path, int (*prepare)(sqlite3 *), sqlite3 **db) {
  int rc = open_as(path, "mode=ro", prepare, db);
  if (rc == SQLITE_READONLY_ROLLBACK && has_own_journal(path) &&
      open_as(path, "mode=rw", prepare, db) == SQLITE_OK)
    rc = open_as(path, "mode=ro", prepare, db);
  if (cannot_make_files(rc) && !has_bytes_beside(path, "-wal") &&
      !has_bytes_beside(path, "-journal"))
    rc = open_as(path, "mode=ro&immutable=1", prepare, db);
  return rc;
}

char *import_database_problem(const char *path, sqlite3 *db) {
  int rc = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
  if (rc == SQLITE_READONLY_ROLLBACK)
    return sqlite3_mprintf("'%s-journal' holds a change that was cut off; undo it by opening both "
                           "where you may write, as in sqlite3 '%s' .tables",
                           path, path);
  if (cannot_make_files(rc) && has_bytes_beside(path, "-wal"))
    return sqlite3_mprintf("'%s-wal' holds answers that can be read only where files can be made; "
                           "copy both elsewhere",
                           path);
  return sqlite3_mprintf("%s", db ? sqlite3_errmsg(db) : "out of memory");
}

sqlite3 *import_database(import_run *run, const import_file *file) {
  sqlite3 *db = NULL;
  if (!file->source->path) {
    import_fail(run, file, "a database cannot come from standard input; name the file");
    return NULL;
  }
  int rc = import_database_open(file->source->path, harden, &db);
  if (rc == SQLITE_OK) return db;
  char *problem =
      (rc & 0xff) == SQLITE_NOMEM ? NULL : import_database_problem(file->source->path, db);
  if (problem)
    import_fail(run, file, "the database cannot be read: %s", problem);
  else
    import_no_memory(run);
  sqlite3_free(problem);
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
