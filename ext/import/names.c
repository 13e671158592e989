/*
** Which of several metrics, scorers, filters or splits is taken.
**
** 1. A format runs a SELECT over the records of a file, whose rows are names that it has.
** 2. Of each kind of name the one that the person chose is taken, or else that of the least
**    rank, or else the first.  Where the file lacks the chosen one, a note says so.
** 3. When all files are read, a choice that none of them had is an error.
**
** The names are in tables of the scratch database, where the SQL of a format finds them.
*/
#include "inside.h"

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS import_chosen(what TEXT PRIMARY KEY, name TEXT);"
    "CREATE TABLE IF NOT EXISTS import_names("
    "  what TEXT, name TEXT, rank REAL, n INTEGER, UNIQUE (what, name));"
    "CREATE TABLE IF NOT EXISTS import_taken(what TEXT PRIMARY KEY, name TEXT);"
    "CREATE TABLE IF NOT EXISTS import_offered(what TEXT, name TEXT, UNIQUE (what, name));"
    "DELETE FROM import_names;"
    "DELETE FROM import_taken;";

static const char choose[] =
    "INSERT OR REPLACE INTO import_chosen SELECT * FROM "
    "(VALUES ('metric', ?1), ('scorer', ?2), ('filter', ?3), ('split', ?4)) "
    "WHERE column2 IS NOT NULL";

static const char add[] = "INSERT INTO import_names SELECT ?1, ?2, ?3, 1 WHERE ?2 IS NOT NULL "
                          "ON CONFLICT DO UPDATE SET n = n + 1";

static const char take[] =
    "INSERT INTO import_taken SELECT what, name FROM ("
    "  SELECT n.what, n.name, row_number() OVER ("
    "    PARTITION BY n.what ORDER BY n.name = c.name DESC, n.rank, n.rowid) AS place "
    "  FROM import_names AS n LEFT JOIN import_chosen AS c ON c.what = n.what "
    "  WHERE n.name = c.name OR n.rank IS NOT NULL) WHERE place = 1;"
    "INSERT OR IGNORE INTO import_offered SELECT what, name FROM import_names ORDER BY rowid;";

/* Choices that the file does not have, though it has others of that kind. */
static const char missing[] =
    "SELECT group_concat('there is no ' || what || ' ' || name || ' in it', '; ') "
    "FROM import_chosen AS c WHERE what IN (SELECT what FROM import_names) AND "
    "name NOT IN (SELECT name FROM import_names AS n WHERE n.what = c.what)";

/* Formats that do not use these tables check their own: the metric that they took is there. */
static const char had[] = "INSERT OR IGNORE INTO import_offered SELECT what, name FROM "
                          "import_chosen WHERE what = 'metric' AND name = ?1";

/* Choices that no file has. */
static const char nowhere[] =
    "SELECT '--' || what || coalesce(' must be one of ' || "
    "  (SELECT group_concat(name, ', ') FROM import_offered AS o WHERE o.what = c.what), "
    "  ' is not for these files') || ', got ' || name "
    "FROM import_chosen AS c WHERE EXISTS (SELECT 1 FROM import_offered) AND NOT EXISTS "
    "  (SELECT 1 FROM import_offered AS o WHERE o.what = c.what AND o.name = c.name)";

/* If nothing was chosen, the first names suffice. */
static const char enough_names[] =
    "SELECT 1 FROM import_names WHERE NOT EXISTS (SELECT 1 FROM import_chosen) LIMIT 1";

static bool failed(import_run *run, const import_file *file) {
  if (sqlite3_errcode(run->scratch) == SQLITE_NOMEM) return import_no_memory(run);
  return import_fail(run, file, "%s", sqlite3_errmsg(run->scratch));
}

static bool exec(import_run *run, const import_file *file, const char *sql) {
  return sqlite3_exec(run->scratch, sql, NULL, NULL, NULL) == SQLITE_OK || failed(run, file);
}

bool import_ask(import_run *run, const import_file *file, const char *sql, const char *const *texts,
                int count, char **out) {
  sqlite3_stmt *s = NULL;
  int rc = sqlite3_prepare_v2(run->scratch, sql, -1, &s, NULL);
  for (int i = 0; rc == SQLITE_OK && i < count; i++)
    rc = sqlite3_bind_text(s, i + 1, texts[i], -1, SQLITE_STATIC);
  if (rc == SQLITE_OK) rc = sqlite3_step(s);
  *out = NULL;
  bool ok = rc == SQLITE_ROW || rc == SQLITE_DONE || failed(run, file);
  if (rc == SQLITE_ROW && sqlite3_column_text(s, 0)) {
    *out = sqlite3_mprintf("%s", sqlite3_column_text(s, 0));
    ok = *out || import_no_memory(run);
  }
  sqlite3_finalize(s);
  return ok;
}

bool import_names_begin(import_run *run, const import_file *file) {
  const import_choices *c = run->choices;
  const char *const texts[] = {c->metric, c->scorer, c->filter, c->split};
  char *none;
  return exec(run, file, tables) && import_ask(run, file, choose, texts, 4, &none);
}

static bool bind_named(sqlite3_stmt *s, const char *name, const char *text) {
  int i = sqlite3_bind_parameter_index(s, name);
  return i == 0 || sqlite3_bind_text(s, i, text, -1, SQLITE_STATIC) == SQLITE_OK;
}

/* The statement that selects names, and the one that adds them. */
typedef struct adding {
  sqlite3_stmt *from, *into;
} adding;

static bool start(import_run *run, const import_file *file, const char *sql, adding *a) {
  *a = (adding){NULL, NULL};
  return (sqlite3_prepare_v2(run->scratch, sql, -1, &a->from, NULL) == SQLITE_OK &&
          sqlite3_prepare_v2(run->scratch, add, -1, &a->into, NULL) == SQLITE_OK &&
          bind_named(a->from, ":head", run->head)) ||
         failed(run, file);
}

static bool add_names(import_run *run, const import_file *file, const adding *a,
                      const char *record) {
  bool ok = bind_named(a->from, ":record", record);
  int rc = SQLITE_DONE;
  while (ok && (rc = sqlite3_step(a->from)) == SQLITE_ROW) {
    for (int i = 0; i < 3; i++)
      ok = ok && sqlite3_bind_value(a->into, i + 1, sqlite3_column_value(a->from, i)) == SQLITE_OK;
    ok = ok && sqlite3_step(a->into) == SQLITE_DONE && sqlite3_reset(a->into) == SQLITE_OK;
  }
  return (ok && rc == SQLITE_DONE && sqlite3_reset(a->from) == SQLITE_OK) || failed(run, file);
}

static void stop(const adding *a) {
  sqlite3_finalize(a->from);
  sqlite3_finalize(a->into);
}

bool import_names_add(import_run *run, const import_file *file, const char *sql,
                      const char *record) {
  adding a;
  bool ok = start(run, file, sql, &a) && add_names(run, file, &a, record);
  stop(&a);
  return ok;
}

bool import_names_enough(import_run *run, const import_file *file, bool *enough) {
  char *one;
  bool ok = import_ask(run, file, enough_names, NULL, 0, &one);
  *enough = one;
  sqlite3_free(one);
  return ok;
}

bool import_names_take(import_run *run, const import_file *file) {
  return exec(run, file, take);
}

bool import_names_end(import_run *run, import_file *file) {
  char *note = NULL, *none;
  const char *metric = file->metric;
  if (file->skipped) return true;
  bool ok = import_ask(run, file, had, &metric, 1, &none) &&
            import_ask(run, file, missing, NULL, 0, &note) &&
            (!note || import_note(run, file, "%s", note));
  sqlite3_free(note);
  return ok;
}

bool import_names(import_run *run, import_file *file, const char *at, const char *keys,
                  const char *sql, bool all) {
  import_records *records = NULL;
  adding a;
  const char *text;
  size_t length;
  int got = 0;
  bool enough = false,
       ok = start(run, file, sql, &a) && (records = import_open(run, file, at, keys));
  while (ok && !enough && (got = import_next(records, &text, &length, NULL)) > 0)
    ok = add_names(run, file, &a, text) && (all || import_names_enough(run, file, &enough));
  import_close(records);
  stop(&a);
  return ok && got >= 0 && import_names_take(run, file);
}

bool import_taken(import_run *run, const char *what, char **out) {
  return import_ask(run, NULL, "SELECT name FROM import_taken WHERE what = ?1", &what, 1, out);
}

bool import_names_check(import_run *run) {
  char *wrong;
  if (!import_names_begin(run, NULL) || !import_ask(run, NULL, nowhere, NULL, 0, &wrong))
    return false;
  if (wrong) import_fail(run, NULL, "%s", wrong);
  bool ok = !wrong;
  sqlite3_free(wrong);
  return ok;
}
