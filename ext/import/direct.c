/*
** Tables of votes and of counts, which hold rows as the files have them.
*/
#include <string.h>

#include "inside.h"

bool import_direct_begin(import_run *run, const import_file *file, const char *table,
                         const char *definition, const char *columns) {
  import_stage *s = run->stage;
  if (s->direct && strcmp(s->direct, table) != 0)
    return import_fail(run, file, "these are %s, and others are %s; import them apart", table,
                       s->direct);
  if (s->direct) return true;
  s->direct = table;
  bool ok =
      import_exec(run, "CREATE TABLE IF NOT EXISTS main.%s(%s) WITHOUT ROWID", table, definition);
  sqlite3_str *names = sqlite3_str_new(run->db), *values = sqlite3_str_new(run->db);
  sqlite3_str_appendall(names, columns);
  sqlite3_str_appendall(values, "?");
  for (const char *comma = columns; (comma = strchr(comma, ',')); comma++)
    sqlite3_str_appendall(values, ", ?");
  for (int i = 0; ok && i < run->asked; i++) {
    if (!import_has_column(run, table, run->keep[i]))
      ok = import_exec(run, "ALTER TABLE main.%s ADD COLUMN \"%w\"", table, run->keep[i]);
    sqlite3_str_appendf(names, ", \"%w\"", run->keep[i]);
    sqlite3_str_appendall(values, ", ?");
  }
  char *n = sqlite3_str_finish(names), *v = sqlite3_str_finish(values);
  ok = ok && ((n && v) || import_no_memory(run)) &&
       import_prepare(run, &s->insert, "INSERT OR REPLACE INTO main.%s(%s) VALUES (%s)", table, n,
                      v);
  sqlite3_free(n);
  sqlite3_free(v);
  return ok;
}

static int bind(sqlite3_stmt *to, int at, import_value v) {
  switch (v.type) {
  case IMPORT_INTEGER:
    return sqlite3_bind_int64(to, at, v.integer);
  case IMPORT_REAL:
    return sqlite3_bind_double(to, at, v.real);
  case IMPORT_TEXT:
    return sqlite3_bind_text(to, at, v.text, (int)v.length, SQLITE_STATIC);
  default:
    return sqlite3_bind_null(to, at);
  }
}

bool import_direct_add(import_run *run, import_file *file, const import_value *values, int count,
                       const import_value *kept) {
  sqlite3_stmt *insert = run->stage->insert;
  int rc = SQLITE_OK;
  for (int i = 0; i < count; i++) rc |= bind(insert, i + 1, values[i]);
  for (int i = 0; i < run->asked; i++)
    rc |= bind(insert, count + i + 1, kept ? kept[i] : (import_value){0});
  file->rows++;
  run->rows++;
  return (rc == SQLITE_OK && sqlite3_step(insert) == SQLITE_DONE &&
          sqlite3_reset(insert) == SQLITE_OK) ||
         import_db_failed(run);
}

bool import_direct_end(import_run *run, import_done *done) {
  sqlite3_stmt *all = NULL;
  const char *table = run->stage->direct;
  done->table = table;
  bool votes = strcmp(table, "votes") == 0;
  bool ok =
      votes ? import_prepare(run, &all,
                             "SELECT count(*), (SELECT count(*) FROM (SELECT model_a FROM "
                             "main.votes UNION SELECT model_b FROM main.votes)), 0 FROM main.votes")
            : import_prepare(run, &all,
                             "SELECT count(*), count(DISTINCT model), count(DISTINCT task) "
                             "FROM main.counts");
  if (ok && sqlite3_step(all) == SQLITE_ROW) {
    done->rows = sqlite3_column_int64(all, 0);
    done->models = sqlite3_column_int64(all, 1);
    done->tasks = sqlite3_column_int64(all, 2);
  } else if (ok) {
    ok = import_db_failed(run);
  }
  sqlite3_finalize(all);
  return ok && import_summarize(run);
}
