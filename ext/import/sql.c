/*
** Formats in SQL: a SELECT over one record at a time, or over another tool's database, whose
** rows are answers.  formats.h says which parameters and columns it has.
*/
#include <string.h>

#include "inside.h"

enum { MOST_RESULTS = 64 };

/* The meaning of a column of the result. */
enum { IS_PLACE = IMPORT_COLUMNS, IS_REFUSED, IS_KEPT, IS_OTHER = IS_KEPT + IMPORT_MOST_KEPT };

struct import_query {
  import_run *run;
  import_file *file;
  sqlite3 *db;
  sqlite3_stmt *select;
  const import_shape *shape; /* of its rows */
  int meaning[MOST_RESULTS], count;
};

static bool select_failed(const import_query *q) {
  if (sqlite3_errcode(q->db) == SQLITE_NOMEM) return import_no_memory(q->run);
  return import_fail(q->run, q->file, "it cannot be read as %s: %s",
                     q->file->format ? q->file->format->name : "this", sqlite3_errmsg(q->db));
}

static int meaning_of(const import_run *run, const import_shape *shape, const char *name) {
  for (int i = 0; i < shape->count; i++)
    if (strcmp(name, shape->names[i]) == 0) return i;
  if (strcmp(name, "place") == 0) return IS_PLACE;
  if (strcmp(name, "refused") == 0) return IS_REFUSED;
  for (int i = 0; run->keep[i]; i++)
    if (sqlite3_stricmp(name, run->keep[i]) == 0) return IS_KEPT + i;
  return IS_OTHER;
}

/* Binds the parameters that do not depend on a record. */
static int bind_choices(import_query *q) {
  const import_choices *c = q->run->choices;
  const import_file *f = q->file;
  const struct {
    const char *name, *value;
  } known[] = {{":head", q->run->head},   {":path", f->path},      {":name", f->name},
               {":stem", f->stem},        {":folder", f->folder},  {":scorer", c->scorer},
               {":metric", c->metric},    {":filter", c->filter},  {":split", c->split},
               {":file_model", f->model}, {":file_task", f->task}, {":file_metric", f->metric}};
  int rc = SQLITE_OK;
  for (size_t i = 0; i < sizeof known / sizeof *known && rc == SQLITE_OK; i++) {
    int at = sqlite3_bind_parameter_index(q->select, known[i].name);
    if (at) rc = sqlite3_bind_text(q->select, at, known[i].value, -1, SQLITE_STATIC);
  }
  return rc;
}

static bool prepare(import_query *q, const char *sql) {
  if (sqlite3_prepare_v2(q->db, sql, -1, &q->select, NULL) != SQLITE_OK ||
      bind_choices(q) != SQLITE_OK)
    return select_failed(q);
  q->count = sqlite3_column_count(q->select);
  if (q->count > MOST_RESULTS) q->count = MOST_RESULTS;
  for (int i = 0; i < q->count; i++) {
    const char *name = sqlite3_column_name(q->select, i);
    if (!name) return import_no_memory(q->run);
    q->meaning[i] = meaning_of(q->run, q->shape, name);
  }
  return true;
}

static import_value value_of(sqlite3_stmt *row, int i) {
  switch (sqlite3_column_type(row, i)) {
  case SQLITE_INTEGER:
    return (import_value){.type = IMPORT_INTEGER, .integer = sqlite3_column_int64(row, i)};
  case SQLITE_FLOAT:
    return (import_value){.type = IMPORT_REAL, .real = sqlite3_column_double(row, i)};
  case SQLITE_NULL:
    return (import_value){0};
  default:
    return (import_value){.type = IMPORT_TEXT,
                          .text = (const char *)sqlite3_column_text(row, i),
                          .length = (size_t)sqlite3_column_bytes(row, i)};
  }
}

static bool take_row(import_query *q, sqlite3_int64 number) {
  import_value kept[IMPORT_MOST_KEPT] = {{0}};
  import_answer a = {.number = number};
  const char *refused = NULL;
  for (int i = 0; i < q->count; i++) {
    import_value v = value_of(q->select, i);
    if (v.type == IMPORT_TEXT && !v.text) return import_no_memory(q->run);
    int meaning = q->meaning[i];
    if (meaning < IMPORT_COLUMNS) a.of[meaning] = v;
    if (meaning == IS_PLACE) a.place = (const char *)sqlite3_column_text(q->select, i);
    if (meaning == IS_REFUSED) refused = (const char *)sqlite3_column_text(q->select, i);
    if (meaning >= IS_KEPT && meaning < IS_OTHER) kept[meaning - IS_KEPT] = v;
  }
  a.kept = kept;
  if (!refused) return q->shape->take(q->run, q->file, &a);
  char place[60];
  return import_refuse(q->run, q->file, import_place_of(q->file, &a, place), "%s", refused);
}

/* Steps through the rows. */
static bool take_rows(import_query *q, sqlite3_int64 number, bool counted) {
  int rc;
  while ((rc = sqlite3_step(q->select)) == SQLITE_ROW)
    if (!take_row(q, counted ? ++number : number)) return false;
  return (rc == SQLITE_DONE && sqlite3_reset(q->select) == SQLITE_OK) || select_failed(q);
}

static bool bind_record(import_query *q, sqlite3_int64 number, const char *record, size_t length) {
  int at = sqlite3_bind_parameter_index(q->select, ":record");
  int rc = at ? sqlite3_bind_text64(q->select, at, record, length, SQLITE_STATIC, SQLITE_UTF8)
              : SQLITE_OK;
  at = sqlite3_bind_parameter_index(q->select, ":number");
  if (rc == SQLITE_OK && at) rc = sqlite3_bind_int64(q->select, at, number);
  return rc == SQLITE_OK || select_failed(q);
}

bool import_query_new(import_run *run, import_file *file, const char *sql, import_query **out) {
  import_query *q = *out = sqlite3_malloc64(sizeof *q);
  if (!q) return import_no_memory(run);
  *q = (import_query){.run = run, .file = file, .db = run->scratch, .shape = &import_answers};
  return prepare(q, sql);
}

bool import_query_run(import_query *q, sqlite3_int64 number, const char *record, size_t length) {
  return bind_record(q, number, record, length) && take_rows(q, number, false);
}

void import_query_free(import_query *q) {
  if (q) sqlite3_finalize(q->select);
  sqlite3_free(q);
}

bool import_each(import_run *run, import_file *file, const char *at, const char *keys,
                 const char *sql) {
  import_query *q = NULL;
  import_records *records = NULL;
  const char *text;
  size_t length;
  int found = 1;
  bool ok = import_query_new(run, file, sql, &q) && (records = import_open(run, file, at, keys));
  while (ok && (found = import_next(records, &text, &length, NULL)) == 1)
    ok = import_query_run(q, import_number(records), text, length);
  import_close(records);
  import_query_free(q);
  return ok && found == 0;
}

bool import_select_as(import_run *run, import_file *file, sqlite3 *db, const char *sql,
                      const import_shape *shape) {
  import_query q = {.run = run, .file = file, .db = db, .shape = shape};
  bool ok = prepare(&q, sql) && take_rows(&q, 0, true);
  sqlite3_finalize(q.select);
  return ok;
}

bool import_select(import_run *run, import_file *file, sqlite3 *db, const char *sql) {
  return import_select_as(run, file, db, sql, &import_answers);
}

/* Sets the fields of a file from a row. */
static bool take_about(import_query *q) {
  import_file *f = q->file;
  struct {
    const char *name;
    char **to;
  } known[] = {{"model", &f->model},
               {"task", &f->task},
               {"metric", &f->metric},
               {"created", &f->created},
               {"note", &f->note}};
  bool ok = true;
  for (int i = 0; i < q->count && ok; i++) {
    const char *name = sqlite3_column_name(q->select, i),
               *text = (const char *)sqlite3_column_text(q->select, i);
    if (!name) return import_no_memory(q->run);
    if (!text) continue;
    for (size_t k = 0; k < sizeof known / sizeof *known && ok; k++)
      if (strcmp(name, known[k].name) == 0) ok = import_set(q->run, known[k].to, "%s", text);
    if (ok && strcmp(name, "skip") == 0) ok = import_skip(q->run, f, "%s", text);
  }
  return ok;
}

bool import_about(import_run *run, import_file *file, const char *sql, const char *record) {
  import_query q = {.run = run, .file = file, .db = run->scratch, .shape = &import_answers};
  const import_choices *c = run->choices;
  bool ok = prepare(&q, sql) && bind_record(&q, 0, record, record ? strlen(record) : 0);
  if (ok) {
    int rc = sqlite3_step(q.select);
    ok = rc == SQLITE_ROW ? take_about(&q) : rc == SQLITE_DONE || select_failed(&q);
  }
  sqlite3_finalize(q.select);
  if (ok && c->model_name) ok = import_set(run, &file->model, "%s", c->model_name);
  if (ok && c->task_name) ok = import_set(run, &file->task, "%s", c->task_name);
  return ok;
}

bool import_beside(import_run *run, const import_file *file, const char *name, char **out) {
  import_source source = {.path = sqlite3_mprintf("%s%s", file->folder, name)};
  import_file beside = {.path = source.path, .name = name, .kind = IMPORT_JSON, .source = &source};
  *out = NULL;
  if (!source.path) return import_no_memory(run);
  bool there = import_is_file(source.path, NULL);
  import_records *records = there ? import_open(run, &beside, NULL, NULL) : NULL;
  const char *text;
  size_t length;
  bool ok = !there || records;
  if (records && import_next(records, &text, &length, NULL) == 1) {
    *out = sqlite3_mprintf("%s", text);
    ok = *out || import_no_memory(run);
  }
  import_close(records);
  sqlite3_free(source.path);
  /* A document that is not JSON counts as missing. */
  if (run->no_memory) return false;
  sqlite3_free(run->error);
  run->error = NULL;
  return ok;
}
