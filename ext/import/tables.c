/*
** A person's own tables: CSV, records of JSON, a table of a database.
**
** Columns are found by columns.c; the person may name them.  A row is an answer, with the
** words that stage.c knows.  Without a column for it, the task is the file's name.
*/
#include <string.h>

#include "inside.h"

/* The keys of a compact object of JSON, one after the other: false after the last. */
typedef struct pairs {
  const char *at;
  const char *key, *key_end, *value, *value_end;
} pairs;

static bool next_pair(pairs *p) {
  if (*p->at != '{' && *p->at != ',') return false;
  if (*++p->at != '"') return false;
  p->key = p->at;
  p->key_end = import_skip_value(p->key);
  p->value = p->key_end + 1;
  p->at = p->value_end = import_skip_value(p->value);
  return true;
}

/* Whether the keys of an object are the columns of a table. */
static bool knows_keys(const import_run *run, const char *object, const import_shape *shape) {
  pairs p = {.at = object};
  bool there[IMPORT_COLUMNS] = {false};
  while (next_pair(&p))
    for (int i = 0; i < shape->count; i++)
      there[i] = there[i] || shape->suits(run, i, p.key + 1, (size_t)(p.key_end - p.key) - 2) > 0;
  return shape->enough(run, there);
}

/*
** CSV
*/

static bool take_lines(import_run *run, import_file *file, const import_shape *shape,
                       import_csv *csv, const import_roles *roles) {
  import_value kept[IMPORT_MOST_KEPT] = {{0}};
  import_answer a = {.comma = import_csv_has_commas(csv)};
  int got;
  while ((got = import_csv_next(csv)) == 1) {
    for (int i = 0; i < shape->count; i++)
      if (roles->of[i] >= 0) a.of[i] = import_csv_field(csv, (size_t)roles->of[i]);
    for (int i = 0; run->keep[i]; i++)
      if (roles->kept[i] >= 0) kept[i] = import_csv_field(csv, (size_t)roles->kept[i]);
    a.kept = kept;
    a.number = import_csv_line(csv);
    if (!shape->take(run, file, &a)) return false;
  }
  return got == 0;
}

static bool read_csv(import_run *run, import_file *file, const import_shape *shape) {
  import_csv *csv = import_csv_open(run, file);
  import_roles roles;
  size_t width = csv ? import_csv_width(csv) : 0;
  const char **names = csv ? sqlite3_malloc64(width * sizeof *names) : NULL;
  if (csv && !names) import_no_memory(run);
  for (size_t i = 0; names && i < width; i++) names[i] = import_csv_name(csv, i);
  bool ok = names && import_set(run, &file->unit, "line") &&
            import_find_roles(run, file, shape, names, width, &roles);
  for (size_t i = 0; ok && i < width; i++) import_csv_want(csv, i, false);
  for (int i = 0; ok && i < shape->count; i++)
    if (roles.of[i] >= 0) import_csv_want(csv, (size_t)roles.of[i], true);
  for (int i = 0; ok && run->keep[i]; i++)
    if (roles.kept[i] >= 0) import_csv_want(csv, (size_t)roles.kept[i], true);
  ok = ok && take_lines(run, file, shape, csv, &roles);
  sqlite3_free(names);
  import_csv_close(csv);
  return ok;
}

/*
** JSON
*/

/* The meaning of a key that occurred in the records. */
typedef struct meaning {
  int role, suits; /* role is -1 where it is none */
  int kept;        /* -1 where it is not */
  char *name;
} meaning;

typedef struct reading {
  import_run *run;
  import_file *file;
  const import_shape *shape;
  import_map *keys;                                              /* meanings, by key as JSON */
  const meaning *roles[IMPORT_COLUMNS], *rivals[IMPORT_COLUMNS]; /* rivals suit as well */
  import_buffer text; /* strings of the record, unquoted */
  import_value kept[IMPORT_MOST_KEPT];
  import_answer answer;
} reading;

enum { MOST_KEYS = 10000 }; /* that are remembered */

/* A key that was not met before. */
static bool add_key(reading *r, meaning *m, const char *key, size_t length) {
  m->role = m->kept = -1;
  m->name = sqlite3_malloc64(length + 1);
  if (!m->name) return import_no_memory(r->run);
  size_t n = import_unquote(key, key + length, m->name);
  m->name[n] = 0;
  for (int i = 0; r->run->keep[i]; i++)
    if (sqlite3_stricmp(m->name, r->run->keep[i]) == 0) m->kept = i;
  for (int i = 0; i < r->shape->count; i++) {
    int suits = r->shape->suits(r->run, i, m->name, n);
    if (suits <= m->suits) continue;
    m->role = i;
    m->suits = suits;
  }
  if (m->role < 0) return true;
  const meaning **now = &r->roles[m->role], **rival = &r->rivals[m->role];
  if (*now && (*now)->suits > m->suits) return true;
  *rival = *now && (*now)->suits == m->suits ? m : NULL;
  if (!*rival) *now = m;
  return true;
}

static bool check_rivals(reading *r) {
  for (int i = 0; i < r->shape->count; i++)
    if (r->rivals[i])
      return import_fail(
          r->run, r->file, "both %s and %s may be the %s; say which it is by --%s COLUMN",
          r->roles[i]->name, r->rivals[i]->name, r->shape->names[i], r->shape->names[i]);
  return true;
}

/* A value of JSON: true is 1, and an array or object its text. */
static import_value read_value(reading *r, const char *json, const char *end) {
  import_value v = {.type = IMPORT_TEXT, .text = json, .length = (size_t)(end - json)};
  if (*json == 't' || *json == 'f')
    return (import_value){.type = IMPORT_INTEGER, .integer = *json == 't'};
  if (*json == 'n') return (import_value){0};
  if (*json != '"') return v;
  if (!memchr(json, '\\', v.length)) {
    v.text++;
    v.length -= 2;
    return v;
  }
  /* As much room as the record needs was made at its start. */
  v.text = r->text.text + r->text.length;
  v.length = import_unquote(json, end, r->text.text + r->text.length);
  r->text.length += v.length;
  return v;
}

static bool take_pair(reading *r, const pairs *p) {
  size_t length = (size_t)(p->key_end - p->key);
  bool make = import_map_count(r->keys) < MOST_KEYS;
  meaning *m = import_map_at(r->keys, p->key, length, make);
  if (!m) return !make || import_no_memory(r->run);
  if (!m->name && !add_key(r, m, p->key, length)) return false;
  bool is_role = m->role >= 0 && r->roles[m->role] == m;
  if (!is_role && m->kept < 0) return true;
  import_value v = read_value(r, p->value, p->value_end);
  if (is_role) r->answer.of[m->role] = v;
  if (m->kept >= 0) r->kept[m->kept] = v;
  return true;
}

/* After the first record: that what is needed is there. */
static bool check_keys(reading *r) {
  bool there[IMPORT_COLUMNS];
  sqlite3_str *names = sqlite3_str_new(NULL);
  for (int i = 0; i < r->shape->count; i++) there[i] = r->roles[i];
  for (size_t i = 0; i < import_map_count(r->keys) && sqlite3_str_length(names) < 1000; i++)
    sqlite3_str_appendf(names, "%s%.60s", i ? ", " : "",
                        ((const meaning *)import_map_entry(r->keys, i))->name);
  char *all = sqlite3_str_finish(names);
  bool ok = r->shape->check(r->run, r->file, there, all ? all : "none");
  sqlite3_free(all);
  return ok;
}

static bool take_record(reading *r, const char *text, size_t length, sqlite3_int64 number) {
  pairs p = {.at = text};
  if (*text != '{') return import_fail(r->run, r->file, "record %lld is not an object", number);
  r->answer = (import_answer){.kept = r->kept, .number = number};
  for (int i = 0; r->run->keep[i]; i++) r->kept[i] = (import_value){0};
  r->text.length = 0;
  if (r->text.room < length && !import_append(r->run, &r->text, text, length)) return false;
  r->text.length = 0;
  while (next_pair(&p))
    if (!take_pair(r, &p)) return false;
  return check_rivals(r) && (number > 1 || check_keys(r)) &&
         r->shape->take(r->run, r->file, &r->answer);
}

/* The path of the records if they are an array in an object, such as {"results":[...]}. */
static bool find_records(const import_run *run, const import_file *file, const import_shape *shape,
                         char at[80]) {
  pairs p = {.at = file->outline};
  *at = 0;
  if (file->kind != IMPORT_JSON || knows_keys(run, file->outline, shape)) return true;
  while (next_pair(&p)) {
    size_t length = (size_t)(p.key_end - p.key) - 2;
    if (p.value[0] != '[' || p.value[1] != '{' || length > 70 || memchr(p.key, '.', length))
      continue;
    if (!knows_keys(run, p.value + 1, shape)) continue;
    sqlite3_snprintf(80, at, "$.%.*s", (int)length, p.key + 1);
    return true;
  }
  return false;
}

static bool read_json(import_run *run, import_file *file, const import_shape *shape) {
  reading r = {.run = run, .file = file, .shape = shape, .keys = import_map_new(sizeof(meaning))};
  const char *text;
  size_t length;
  int got = -1;
  bool ok = r.keys || import_no_memory(run);
  char at[80];
  if (!find_records(run, file, shape, at)) *at = 0;
  import_records *records = ok ? import_open(run, file, *at ? at : NULL, NULL) : NULL;
  while (records && (got = import_next(records, &text, &length, NULL)) == 1)
    if (!take_record(&r, text, length, import_number(records))) break;
  import_close(records);
  for (size_t i = 0; r.keys && i < import_map_count(r.keys); i++)
    sqlite3_free(((meaning *)import_map_entry(r.keys, i))->name);
  import_map_free(r.keys);
  import_buffer_free(&r.text);
  return got == 0;
}

/*
** Databases
*/

static const char *table_of(const import_run *run, const import_shape *shape) {
  return run->choices->table ? run->choices->table : shape->table;
}

/* The names of the first tables and views, for sqlite3_free(). */
static char *list_tables(sqlite3 *db) {
  sqlite3_stmt *names = NULL;
  char *list = NULL;
  int rc = sqlite3_prepare_v2(
      db,
      "SELECT coalesce(group_concat(name, ', '), '') FROM (SELECT name FROM sqlite_schema "
      "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY name LIMIT 20)",
      -1, &names, NULL);
  if (rc == SQLITE_OK && sqlite3_step(names) == SQLITE_ROW)
    list = sqlite3_mprintf("%s", sqlite3_column_text(names, 0));
  sqlite3_finalize(names);
  return list ? list : sqlite3_mprintf("");
}

/* The table with all of its columns. */
static bool prepare_table(import_run *run, const import_file *file, const char *table, sqlite3 *db,
                          sqlite3_stmt **out) {
  char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
  if (!sql) return import_no_memory(run);
  int rc = sqlite3_prepare_v2(db, sql, -1, out, NULL);
  sqlite3_free(sql);
  if (rc == SQLITE_OK) return true;
  char *why = sqlite3_mprintf("%s", sqlite3_errmsg(db)), *there = list_tables(db);
  bool done = why && there
                  ? import_fail(run, file,
                                "the table %s cannot be read: %s; there are: %s; name one by "
                                "--table TABLE",
                                table, why, *there ? there : "none")
                  : import_no_memory(run);
  sqlite3_free(why);
  sqlite3_free(there);
  return done;
}

/* Whether the outline has the table, with such columns. */
static bool has_table(const import_run *run, const import_file *file, const import_shape *shape) {
  const char *table = table_of(run, shape);
  pairs p = {.at = file->outline};
  while (next_pair(&p))
    if (import_is_name(p.key + 1, (size_t)(p.key_end - p.key) - 2, table))
      return knows_keys(run, p.value, shape);
  return false;
}

/* SELECT "its column" AS model, ... */
static char *select_roles(const import_run *run, const import_shape *shape,
                          const char *const *names, const import_roles *roles) {
  sqlite3_str *sql = sqlite3_str_new(NULL);
  const char *comma = "SELECT ";
  for (int i = 0; i < shape->count; i++) {
    if (roles->of[i] < 0) continue;
    sqlite3_str_appendf(sql, "%sr.\"%w\" AS %s", comma, names[roles->of[i]], shape->names[i]);
    comma = ", ";
  }
  for (int i = 0; run->keep[i]; i++)
    if (roles->kept[i] >= 0)
      sqlite3_str_appendf(sql, "%sr.\"%w\" AS \"%w\"", comma, names[roles->kept[i]], run->keep[i]);
  sqlite3_str_appendf(sql, " FROM \"%w\" AS r", table_of(run, shape));
  return sqlite3_str_finish(sql);
}

static bool read_database(import_run *run, import_file *file, const import_shape *shape) {
  sqlite3 *db = import_database(run, file);
  sqlite3_stmt *all = NULL;
  import_roles roles;
  bool ok = db && prepare_table(run, file, table_of(run, shape), db, &all);
  int count = ok ? sqlite3_column_count(all) : 0;
  const char **names = ok ? sqlite3_malloc64((size_t)count * sizeof *names) : NULL;
  if (ok && !names) ok = import_no_memory(run);
  for (int i = 0; ok && i < count; i++)
    if (!(names[i] = sqlite3_column_name(all, i))) ok = import_no_memory(run);
  ok = ok && import_set(run, &file->unit, "row") &&
       import_find_roles(run, file, shape, names, (size_t)count, &roles);
  char *sql = ok ? select_roles(run, shape, names, &roles) : NULL;
  if (ok) ok = sql ? import_select_as(run, file, db, sql, shape) : import_no_memory(run);
  sqlite3_free(sql);
  sqlite3_free(names);
  sqlite3_finalize(all);
  sqlite3_close(db);
  return ok;
}

/*
** Any kind of file
*/

bool import_knows_table(import_run *run, const import_file *file, const import_shape *shape) {
  if (file->kind == IMPORT_JSON) {
    char at[80];
    return find_records(run, file, shape, at);
  }
  if (file->kind == IMPORT_DATABASE) return has_table(run, file, shape);
  return file->kind != IMPORT_ZIP && knows_keys(run, file->outline, shape);
}

bool import_read_table(import_run *run, import_file *file, const import_shape *shape) {
  if (file->kind == IMPORT_ZIP) return import_fail(run, file, "this is a zip archive, not a table");
  file->strict = true;
  if (file->kind == IMPORT_CSV) return read_csv(run, file, shape);
  if (file->kind == IMPORT_DATABASE) return read_database(run, file, shape);
  return read_json(run, file, shape);
}

/*
** Answers, by the kind of file
*/

static bool knows_csv(import_run *run, const import_file *file) {
  return file->kind == IMPORT_CSV && import_knows_table(run, file, &import_answers);
}

static bool knows_json(import_run *run, const import_file *file) {
  return (file->kind == IMPORT_JSON || file->kind == IMPORT_JSONL) &&
         import_knows_table(run, file, &import_answers);
}

static bool knows_database(import_run *run, const import_file *file) {
  return file->kind == IMPORT_DATABASE && import_knows_table(run, file, &import_answers);
}

static bool read_answers(import_run *run, import_file *file) {
  return import_read_table(run, file, &import_answers);
}

const import_format import_csv_table = {
    .name = "csv",
    .reads = "CSV, TSV or semicolons, a row per answer",
    .recognised_by = "a first line with columns for model, item, and correct or score",
    .becomes = "an answer per row; --model COLUMN, --item, --task, --correct, --score name columns",
    .knows = knows_csv,
    .read = read_answers};

const import_format import_json_records = {
    .name = "json",
    .reads = "JSON lines, or an array of objects, one per answer",
    .recognised_by = "keys for model, item, and correct or score in the first record",
    .becomes = "an answer per record; --model KEY, --item, --task, --correct, --score name keys",
    .knows = knows_json,
    .read = read_answers};

const import_format import_database_table = {
    .name = "database",
    .reads = "a SQLite database with a table of answers",
    .recognised_by = "a table or view results, or the one that --table names",
    .becomes = "an answer per row; columns as in a CSV file",
    .knows = knows_database,
    .read = read_answers};
