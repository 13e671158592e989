/*
** Runs test files in the format of SQLite's sqllogictest program, on SQLite.
**
**     sqllogictest [--load EXTENSION] [--within NAME] FILE...
**
** Each file gets a new in-memory database.  Compiled with SQLITE_CORE, the extension is built in
** instead of loaded.  skipif and onlyif may also name the program within which this one runs, such
** as valgrind.
**
** The format, as https://sqlite.org/sqllogictest/doc/trunk/about.wiki has it:
** records are parted by blank lines, lines that begin with # are dropped
** wherever they stand, and a record is one of
**
**     statement ok | statement error [MESSAGE]
**     query TYPES [nosort|rowsort|valuesort] [LABEL]
**     hash-threshold N
**     halt
**
** after any number of "skipif ENGINE" and "onlyif ENGINE" lines.  More than N values,
** 8 unless it is set, and not 0, are given as their number and hash.  Values are
** rendered as the original does: I as %d, R as %.3f, NULL as NULL, an empty
** text as (empty), and bytes outside ' '..'~' as @.  One extension: MESSAGE
** must be part of the error's text.
*/
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <md5.h>
#include <sqlite3.h>

#ifdef SQLITE_CORE
#include "../../ext/evalci.h"
#endif

enum { HASH_THRESHOLD = 8 }; /* the original's, unless the script sets another */

static const char engine[] = "sqlite";
static const char *within = "";

static void *must(void *memory) {
  if (memory) return memory;
  fprintf(stderr, "sqllogictest: out of memory\n");
  exit(2);
}

/*
** Lists of strings, which own them
*/
typedef struct list {
  char **items;
  int count, room;
} list;

static void list_add(list *l, const char *text) {
  if (l->count == l->room) {
    l->room = l->room ? 2 * l->room : 64;
    l->items = must(realloc(l->items, (size_t)l->room * sizeof *l->items));
  }
  l->items[l->count++] = must(strdup(text));
}

static void list_clear(list *l) {
  for (int i = 0; i < l->count; i++) free(l->items[i]);
  free(l->items);
  *l = (list){0};
}

static char *list_join(const list *l) {
  size_t size = 1;
  for (int i = 0; i < l->count; i++) size += strlen(l->items[i]) + 1;
  char *text = must(calloc(1, size)), *end = text;
  for (int i = 0; i < l->count; i++) end += sprintf(end, i ? "\n%s" : "%s", l->items[i]);
  return text;
}

/*
** The script
*/
typedef struct script {
  const char *path;
  char *text, *rest; /* the whole text, and the part not read yet */
  int line;          /* number of the line last read */
  int record;        /* number of the line that began the record */
  int results;       /* number of the line where its results begin */
  int hash_threshold;
  list labels, label_hashes;
  int passed, failed, skipped;
} script;

static void fail(script *s, int line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  printf("%s:%d: ", s->path, line);
  vprintf(format, args);
  printf("\n");
  va_end(args);
}

static bool is_blank(const char *line) {
  return line[strspn(line, " \t\r\v\f")] == 0;
}

/* The next line that is no comment, without its end; "" when it is blank, NULL
** at the end of the script. */
static char *next_line(script *s) {
  while (*s->rest) {
    char *line = s->rest, *end = line + strcspn(line, "\n");
    s->rest = *end ? end + 1 : end;
    *end = 0;
    s->line++;
    if (end > line && end[-1] == '\r') end[-1] = 0;
    if (line[0] == '#') continue;
    if (is_blank(line)) *line = 0;
    return line;
  }
  return NULL;
}

/* Adds lines up to the end of the record, or to a line "----" if one is allowed.  Returns whether
** there was one. */
static bool read_lines(script *s, list *lines, bool separator) {
  for (char *line; (line = next_line(s)) && *line;) {
    if (separator && strcmp(line, "----") == 0) return true;
    list_add(lines, line);
  }
  return false;
}

/*
** Running SQL
*/

/* %.3f as SQLite's own printf writes it, with 16 significant digits.  SQLite's is not called,
** because before 3.43 its last digit was wrong. */
static void render_real(double r, char *text, size_t size) {
  char digits[32];
  snprintf(text, size, "%.3f", r);
  snprintf(digits, sizeof digits, "%.15e", fabs(r));
  if (!isfinite(r) || fabs(r) < 1e13) return;
  memmove(digits + 1, digits + 2, 15); /* over the point */
  int given = 0;
  for (char *c = text; *c; c++)
    if (*c >= '0' && *c <= '9') *c = given < 16 ? digits[given++] : '0';
}

/* One column of a row as the original program renders it. */
static void render(sqlite3_stmt *statement, int column, char type, list *values) {
  char number[400];
  const char *text = number;
  if (sqlite3_column_type(statement, column) == SQLITE_NULL) {
    text = "NULL";
  } else if (type == 'I') {
    sqlite3_snprintf(sizeof number, number, "%d", sqlite3_column_int(statement, column));
  } else if (type == 'R') {
    render_real(sqlite3_column_double(statement, column), number, sizeof number);
  } else {
    text = (const char *)sqlite3_column_text(statement, column);
    if (!text || !*text) text = "(empty)";
  }
  list_add(values, text);
  for (char *c = values->items[values->count - 1]; *c; c++)
    if (*c < ' ' || *c > '~') *c = '@';
}

/* Runs one query; an error is written to *message, to be freed.  As in the original, a query that
** fails before its first row gives no rows, which is right if none are wanted. */
static bool run_query(sqlite3 *db, const char *sql, const char *types, bool none_wanted,
                      list *values, char **message) {
  sqlite3_stmt *statement = NULL;
  int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  int columns = sqlite3_column_count(statement);
  if (rc == SQLITE_OK && columns != (int)strlen(types)) {
    *message = sqlite3_mprintf("expected %d columns, got %d", (int)strlen(types), columns);
    sqlite3_finalize(statement);
    return false;
  }
  while (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
    for (int i = 0; i < columns; i++) render(statement, i, types[i], values);
    rc = SQLITE_OK;
  }
  bool ok = rc == SQLITE_DONE || (statement && none_wanted && values->count == 0);
  if (!ok) *message = sqlite3_mprintf("%s", sqlite3_errmsg(db));
  sqlite3_finalize(statement);
  return ok;
}

/* Sorts rows of `width` values, as strcmp orders them. */
static int sort_width;

static int compare_rows(const void *a, const void *b) {
  char *const *x = a, *const *y = b;
  int order = 0;
  for (int i = 0; i < sort_width && order == 0; i++) order = strcmp(x[i], y[i]);
  return order;
}

static void sort_rows(list *values, int width) {
  sort_width = width;
  if (values->count)
    qsort(values->items, (size_t)(values->count / width), (size_t)width * sizeof(char *),
          compare_rows);
}

typedef struct hash {
  char digest[MD5_DIGEST_STRING_LENGTH];
  char text[80]; /* "30 values hashing to 3c13dee48d9356ae19af2515e05e6b54" */
} hash;

static hash hash_values(const list *values) {
  MD5_CTX md5;
  hash h = {"", ""};
  MD5Init(&md5);
  for (int i = 0; i < values->count; i++) {
    MD5Update(&md5, (const uint8_t *)values->items[i], strlen(values->items[i]));
    MD5Update(&md5, (const uint8_t *)"\n", 1);
  }
  MD5End(&md5, h.digest);
  snprintf(h.text, sizeof h.text, "%d values hashing to %s", values->count, h.digest);
  return h;
}

/* Results of one label must all have one hash.  A label's first use sets it. */
static bool label_agrees(script *s, const char *label, const char *digest) {
  for (int i = 0; i < s->labels.count; i++)
    if (strcmp(s->labels.items[i], label) == 0)
      return strcmp(s->label_hashes.items[i], digest) == 0;
  list_add(&s->labels, label);
  list_add(&s->label_hashes, digest);
  return true;
}

/*
** Records
*/
static bool statement_record(script *s, sqlite3 *db, const char *verdict, const char *wanted,
                             const char *sql) {
  char *message = NULL;
  bool ok = sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, right = false;
  if (strcmp(verdict, "ok") == 0) {
    right = ok;
    if (!ok) fail(s, s->record, "statement failed\n  sql:    %s\n  error:  %s", sql, message);
  } else if (strcmp(verdict, "error") == 0) {
    right = !ok && strstr(message ? message : "", wanted);
    if (!right)
      fail(s, s->record, "statement should fail\n  sql:      %s\n  expected: %s\n  actual:   %s",
           sql, *wanted ? wanted : "an error", ok ? "ok" : message);
  } else {
    fail(s, s->record, "expected 'statement ok' or 'statement error', got '%s'", verdict);
  }
  sqlite3_free(message);
  return right;
}

/* Values against the lines of the script, or the hash of many against its one line. */
static bool values_match(script *s, const list *values, const list *wanted, const hash *h) {
  if (s->hash_threshold > 0 && values->count > s->hash_threshold) {
    if (wanted->count == 1 && strcmp(wanted->items[0], h->text) == 0) return true;
    fail(s, s->record, "wrong hash\n  expected: %s\n  actual:   %s",
         wanted->count ? wanted->items[0] : "nothing", h->text);
    return false;
  }
  for (int i = 0; i < values->count && i < wanted->count; i++) {
    if (strcmp(values->items[i], wanted->items[i]) == 0) continue;
    fail(s, s->results + i, "wrong value\n  expected: %s\n  actual:   %s", wanted->items[i],
         values->items[i]);
    return false;
  }
  if (values->count == wanted->count) return true;
  fail(s, s->record, "expected %d values, got %d", wanted->count, values->count);
  for (int i = 0; i < values->count && i < 20; i++) printf("  actual:   %s\n", values->items[i]);
  return false;
}

typedef struct query {
  char types[200], sort[200], label[200];
} query;

static bool query_record(script *s, sqlite3 *db, const query *q, const char *sql,
                         const list *wanted) {
  list values = {0};
  char *message = NULL;
  bool right = false;
  if (!*q->types || strspn(q->types, "TIR") != strlen(q->types)) {
    fail(s, s->record, "types must be one or more of T, I and R, got '%s'", q->types);
  } else if (!run_query(db, sql, q->types, wanted->count == 0, &values, &message)) {
    fail(s, s->record, "query failed\n  sql:    %s\n  error:  %s", sql, message);
  } else if (*q->sort && strcmp(q->sort, "nosort") && strcmp(q->sort, "rowsort") &&
             strcmp(q->sort, "valuesort")) {
    fail(s, s->record, "unknown sort mode '%s'", q->sort);
  } else {
    if (strcmp(q->sort, "rowsort") == 0) sort_rows(&values, (int)strlen(q->types));
    if (strcmp(q->sort, "valuesort") == 0) sort_rows(&values, 1);
    hash h = hash_values(&values);
    right = values_match(s, &values, wanted, &h);
    if (*q->label && !label_agrees(s, q->label, h.digest)) {
      fail(s, s->record, "result differs from an earlier one labelled '%s'", q->label);
      right = false;
    }
  }
  sqlite3_free(message);
  list_clear(&values);
  return right;
}

/* Lines of SQL and of results, and what the first line says of them. */
static void read_query(script *s, const char *line, query *q, list *sql, list *wanted) {
  *q = (query){"", "", ""};
  sscanf(line, "%*s %199s %199s %199s", q->types, q->sort, q->label);
  bool results = read_lines(s, sql, true);
  s->results = s->line + 1;
  if (results) read_lines(s, wanted, false);
}

/* Passes over a record of any type.  A query still holds its label to the results
** written in the script. */
static bool skip_record(script *s, const char *line) {
  static const char hashing[] = " values hashing to ";
  query q = {"", "", ""};
  list lines = {0}, wanted = {0};
  bool agrees = true;
  if (strncmp(line, "query ", 6) == 0)
    read_query(s, line, &q, &lines, &wanted);
  else
    read_lines(s, &lines, false);
  if (*q.label && wanted.count > 0) {
    const char *given = wanted.count == 1 ? strstr(wanted.items[0], hashing) : NULL;
    hash h = hash_values(&wanted);
    agrees = label_agrees(s, q.label, given ? given + strlen(hashing) : h.digest);
    if (!agrees) fail(s, s->record, "result differs from an earlier one labelled '%s'", q.label);
  }
  list_clear(&lines);
  list_clear(&wanted);
  return agrees;
}

/* skipif and onlyif lines before a record; the line after them. */
static char *conditions(script *s, char *line, bool *skip) {
  char word[200], name[200];
  *skip = false;
  while (line && sscanf(line, "%199s %199s", word, name) == 2 &&
         (strcmp(word, "skipif") == 0 || strcmp(word, "onlyif") == 0)) {
    bool here = strcasecmp(name, engine) == 0 || strcasecmp(name, within) == 0;
    if (here == (strcmp(word, "skipif") == 0)) *skip = true;
    line = next_line(s);
  }
  return line;
}

/* Runs a statement or a query, which begins at `line`. */
static bool run_sql(script *s, sqlite3 *db, const char *line, bool is_query) {
  query q;
  list lines = {0}, wanted = {0};
  char verdict[200] = "";
  int after = 0;
  sscanf(line, "%*s %199s %n", verdict, &after);
  if (is_query)
    read_query(s, line, &q, &lines, &wanted);
  else
    read_lines(s, &lines, false);
  char *sql = list_join(&lines);
  bool right = is_query ? query_record(s, db, &q, sql, &wanted)
                        : statement_record(s, db, verdict, after ? line + after : "", sql);
  free(sql);
  list_clear(&lines);
  list_clear(&wanted);
  return right;
}

/* Runs the record that begins at `line`; false when the script is to stop. */
static bool run_record(script *s, sqlite3 *db, char *line) {
  char word[200] = "";
  bool skip, right;
  s->record = s->line;
  line = conditions(s, line, &skip);
  if (!line) return false;
  sscanf(line, "%199s", word);
  if (skip) {
    right = skip_record(s, line);
    s->skipped += right;
  } else if (strcmp(word, "statement") == 0 || strcmp(word, "query") == 0) {
    right = run_sql(s, db, line, *word == 'q');
    s->passed += right;
  } else if (strcmp(word, "hash-threshold") == 0) {
    right = sscanf(line, "%*s %d", &s->hash_threshold) == 1;
    if (!right) fail(s, s->record, "hash-threshold takes a number");
  } else {
    right = strcmp(word, "halt") == 0;
    if (!right) fail(s, s->record, "unknown record '%s'", word);
    s->failed += !right;
    return false;
  }
  s->failed += !right;
  return true;
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  size_t size = 0, room = 1 << 16;
  char *text = must(malloc(room));
  for (size_t got; (got = fread(text + size, 1, room - size - 1, file)) > 0;) {
    size += got;
    if (room - size < 2) text = must(realloc(text, room *= 2));
  }
  bool whole = !ferror(file);
  fclose(file);
  text[size] = 0;
  if (whole) return text;
  free(text);
  return NULL;
}

static sqlite3 *open_database(const char *extension) {
  sqlite3 *db = NULL;
  char *message = NULL;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) {
    fprintf(stderr, "sqllogictest: %s\n", sqlite3_errmsg(db));
    exit(2);
  }
#ifdef SQLITE_CORE
  if (sqlite3_evalci_init(db, &message, NULL) != SQLITE_OK) {
    fprintf(stderr, "sqllogictest: cannot start evalci: %s\n", message ? message : "no memory");
    exit(2);
  }
#endif
  if (extension) {
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
    if (sqlite3_load_extension(db, extension, NULL, &message) != SQLITE_OK) {
      fprintf(stderr, "sqllogictest: cannot load %s: %s\n", extension, message);
      exit(2);
    }
  }
  return db;
}

/* Runs one file and adds to the totals. */
static void run_file(const char *path, const char *extension, script *totals) {
  script s = {.path = path, .text = read_file(path), .hash_threshold = HASH_THRESHOLD};
  if (!s.text) {
    fail(&s, 0, "cannot read");
    totals->failed++;
    return;
  }
  s.rest = s.text;
  sqlite3 *db = open_database(extension);
  for (char *line; (line = next_line(&s));)
    if (*line && !run_record(&s, db, line)) break;
  if (sqlite3_close(db) != SQLITE_OK || sqlite3_memory_used() > 0) {
    fail(&s, s.line, "the connection leaks %lld bytes", sqlite3_memory_used());
    s.failed++;
  }
  totals->passed += s.passed;
  totals->failed += s.failed;
  totals->skipped += s.skipped;
  list_clear(&s.labels);
  list_clear(&s.label_hashes);
  free(s.text);
}

int main(int argc, char **argv) {
  const char *extension = NULL;
  script totals = {0};
  int first = 1;
  for (; first + 1 < argc && strncmp(argv[first], "--", 2) == 0; first += 2) {
    if (strcmp(argv[first], "--load") == 0)
      extension = argv[first + 1];
    else if (strcmp(argv[first], "--within") == 0)
      within = argv[first + 1];
    else
      break;
  }
  if (first >= argc || argv[first][0] == '-') {
    fprintf(stderr, "usage: sqllogictest [--load EXTENSION] [--within NAME] FILE...\n");
    return 2;
  }
  for (int i = first; i < argc; i++) run_file(argv[i], extension, &totals);
  printf("%d passed, %d failed", totals.passed, totals.failed);
  if (totals.skipped) printf(", %d skipped", totals.skipped);
  printf("\n");
  return totals.failed ? 1 : 0;
}
