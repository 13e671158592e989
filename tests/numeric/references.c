/*
** Compares functions with their references, row by row, and prints the worst error of
** each beside its bar in the catalogue (contract 25).
**
**     references [--load EXTENSION] [--digits] [--part] FILE.csv...
**
** The first line of a file names its columns: `method`, which is the name of a function or becomes
** one by _ci_counts or _counts; arguments, by the catalogue's names; `lo` and `hi`; and for an
** aggregate `rows`, which lists its rows as 3/5 or, for 12 such rows, 3/5x12.  A probability has
** its complement as hi: that of the models exchanged.
**
** Every function with a bar must have references in the files together (not checked with
** --part), and every reference must be of such a function.
**
** Compiled without SQLITE_CORE, the extension is loaded instead of built in.  With
** --digits what came out is printed too, every bit of it, to compare platforms by.
*/
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "../../ext/evalci.h"
#include "../catalogue.h"
#include "../check.h"
#include "../input.h"

enum { MOST_COLUMNS = 16, MOST_ROWS = 1 << 17, LEAST_REFERENCES = 15 };

/* From 10^9 questions on, the last digit of a theta is worth 1e-11 of P, or of a difference of
** rates near 1/2. */
static const double many_questions = 1e9, bar_of_many = 1e-11;

typedef struct record {
  int rows;
  double worst, worst_of_many;
} record;

/* One line of a file. */
typedef struct line {
  int count;
  char *columns[MOST_COLUMNS];
} line;

static catalogue *listed;
static record records[CATALOGUE_FUNCTIONS];
static cell (*cells)[INPUT_WIDTH];
static long *times;
static input_table input;
static sqlite3 *db;
static bool digits_shown;

static void die(const char *what, const char *which) {
  fprintf(stderr, "references: %s: %s\n", what, which);
  exit(2);
}

/* Splits the text at its commas. */
static line split(char *text) {
  line l = {0};
  for (char *at = strtok(text, ",\n"); at; at = strtok(NULL, ",\n")) {
    if (l.count == MOST_COLUMNS) die("too many columns", at);
    l.columns[l.count++] = at;
  }
  return l;
}

static const char *column(const line *head, const line *l, const char *name) {
  for (int i = 0; i < head->count && i < l->count; i++)
    if (strcmp(head->columns[i], name) == 0) return l->columns[i];
  return NULL;
}

static const function *function_of(const char *method) {
  static const char *const endings[] = {"", "_ci_counts", "_counts"};
  for (int i = 0; i < 3; i++) {
    char name[60];
    snprintf(name, sizeof name, "%s%s", method, endings[i]);
    const function *f = catalogue_function(listed, name);
    if (f && f->bar.size > 0) return f;
  }
  return NULL;
}

static cell number(const char *text) {
  cell c = {.type = SQLITE_FLOAT, .real = strtod(text, NULL)};
  if (strncmp(text, "NULL", 4) == 0)
    c.type = SQLITE_NULL;
  else if (c.real == floor(c.real) && fabs(c.real) < 0x1p60) {
    c.type = SQLITE_INTEGER;
    c.integer = (sqlite3_int64)c.real;
  }
  return c;
}

static cell word(const char *text) {
  cell c = {.type = SQLITE_TEXT};
  c.size = snprintf((char *)c.bytes, sizeof c.bytes, "%s", text);
  return c;
}

/* The number of columns of the first row. */
static int columns_of(const char *rows) {
  int count = 1;
  for (; *rows && *rows != ' '; rows++) count += *rows == '/';
  return count;
}

/* Reads the rows of an aggregate, whose columns are separated by slashes. */
static void read_rows(const function *f, const char *text, int columns) {
  char *at = (char *)text;
  for (input.end = 0; *at && *at != '\r'; at += *at == ' ') {
    if (input.end == MOST_ROWS) die("too many rows", f->name);
    for (int j = 0; j < columns; j++) {
      cells[input.end][j] = number(at);
      at += strcspn(at, "/x \r");
      at += *at == '/';
    }
    times[input.end++] = *at == 'x' ? strtol(at + 1, &at, 10) : 1;
  }
}

/* Reads the arguments by name; with the models exchanged, k_b in place of k_a and so on.  Returns
** how many are given. */
static int read_arguments(const function *f, const line *head, const line *l, bool exchanged) {
  const char *rows = column(head, l, "rows");
  int columns = rows ? columns_of(rows) : 0, arity = columns;
  input.end = 1;
  times[0] = 1;
  if (rows) read_rows(f, rows, columns);
  for (int j = columns; j < f->count; j++) {
    char name[24];
    snprintf(name, sizeof name, "%s", f->arguments[j]->name);
    size_t last = strlen(name) - 1;
    if (exchanged && last > 0 && name[last - 1] == '_') name[last] ^= 'a' ^ 'b';
    /* The columns lo and hi are the bounds; the range of scores, which comes last, is 0 to 1. */
    const char *text = strcmp(name, "lo") ? column(head, l, name) : NULL;
    if (!text) break;
    for (int i = 0; i < input.end; i++)
      cells[i][j] = f->arguments[j]->class == ARG_WORD ? word(text) : number(text);
    arity = j + 1;
  }
  return arity;
}

/* Every file has its functions one after another, so one statement is kept. */
static sqlite3_stmt *prepare(const function *f, int arity) {
  static sqlite3_stmt *statement;
  static char *last;
  char *call = f ? function_call(f, arity, "c") : NULL;
  if (call && last && strcmp(call, last) == 0) {
    sqlite3_free(call);
    return statement;
  }
  sqlite3_finalize(statement);
  statement = NULL;
  sqlite3_free(last);
  last = call;
  if (!call) return NULL;
  char *sql = sqlite3_mprintf("SELECT %s FROM input", call);
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) die(call, sqlite3_errmsg(db));
  sqlite3_free(sql);
  return statement;
}

/* Lower and upper bound, or the probability in both. */
static void ask(const function *f, int arity, double *lo, double *hi) {
  sqlite3_stmt *s = prepare(f, arity);
  *lo = *hi = NAN;
  if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) == SQLITE_TEXT) {
    char *comma;
    *lo = strtod((const char *)sqlite3_column_text(s, 0) + 1, &comma);
    *hi = strtod(comma + 1, NULL);
  } else if (sqlite3_column_type(s, 0) == SQLITE_FLOAT) {
    *lo = *hi = sqlite3_column_double(s, 0);
  }
  sqlite3_reset(s);
}

/* Near 1 a share may err by the last digit of a double.  A probability below 1e-12 has no promised
** bar, but is compared with one here. */
static void compare(const function *f, double n, double got, double wanted, const char *shown) {
  record *r = &records[f - listed->functions];
  double error = got == wanted ? 0 : fabs(got - wanted), bar = f->bar.size;
  double last_place = nextafter(fabs(wanted), HUGE_VAL) - fabs(wanted);
  if (f->bar.relative && f->result == RESULT_PROBABILITY && wanted < 1e-12) {
    check(error <= 1e-9 * wanted, shown, got, wanted);
    return;
  }
  bool to_the_last = !f->bar.relative || f->result != RESULT_SHARE || wanted < 0.999 ||
                     fabs(got - wanted) <= last_place;
  if (f->bar.relative && error > 0) error /= fabs(wanted);
  double *worst = n < many_questions ? &r->worst : &r->worst_of_many;
  if (!(error <= *worst)) *worst = error;
  if (n >= many_questions && f->result != RESULT_SHARE) bar = fmax(bar, bar_of_many);
  check(error <= bar && to_the_last, shown, got, wanted);
}

static void compare_line(const line *head, char *text) {
  char shown[100];
  snprintf(shown, sizeof shown, "%.90s", text);
  line l = split(text);
  const char *method = column(head, &l, "method"), *lo = column(head, &l, "lo"),
             *hi = column(head, &l, "hi");
  const function *f = method ? function_of(method) : NULL;
  if (!f || !lo || !hi) {
    check(false, shown, NAN, NAN);
    return;
  }
  double got_lo, got_hi, n = 0, unused;
  int arity = read_arguments(f, head, &l, false);
  for (int i = 0; i < f->columns; i++) n = fmax(n, (double)cells[0][i].integer);
  ask(f, arity, &got_lo, &got_hi);
  if (f->result == RESULT_PROBABILITY) {
    read_arguments(f, head, &l, true);
    ask(f, arity, &got_hi, &unused);
  }
  if (digits_shown) printf("digits %s %a %a\n", f->name, got_lo, got_hi);
  compare(f, n, got_lo, strtod(lo, NULL), shown);
  compare(f, n, got_hi, strtod(hi, NULL), shown);
  records[f - listed->functions].rows++;
}

static void compare_file(const char *path) {
  static char first[400], text[1 << 22];
  FILE *file = fopen(path, "r");
  if (!file || !fgets(first, sizeof first, file)) die("cannot read", path);
  line head = split(first);
  while (fgets(text, sizeof text, file)) compare_line(&head, text);
  fclose(file);
}

/* Makes the functions known to the connection. */
static bool extend(const char *extension) {
#ifdef SQLITE_CORE
  return !extension && sqlite3_evalci_init(db, NULL, NULL) == SQLITE_OK;
#else
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
  return extension && sqlite3_load_extension(db, extension, NULL, NULL) == SQLITE_OK;
#endif
}

static void start(const char *extension) {
  listed = catalogue_read();
  cells = calloc(MOST_ROWS, sizeof *cells);
  times = calloc(MOST_ROWS, sizeof *times);
  if (!cells || !times) die("no memory", "");
  input = (input_table){.rows = cells, .times = times};
  if (sqlite3_open(":memory:", &db) != SQLITE_OK || !extend(extension) ||
      sqlite3_create_module(db, "input", &input_module, &input) != SQLITE_OK)
    die("cannot start", sqlite3_errmsg(db));
}

int main(int argc, char **argv) {
  const char *extension = NULL;
  bool part = false;
  int first = 1;
  if (first + 1 < argc && strcmp(argv[first], "--load") == 0) extension = argv[2], first = 3;
  if (first < argc && strcmp(argv[first], "--digits") == 0) digits_shown = true, first++;
  if (first < argc && strcmp(argv[first], "--part") == 0) part = true, first++;
  if (first >= argc) die("usage", "references [--load EXTENSION] [--digits] [--part] FILE.csv...");
  start(extension);
  for (int i = first; i < argc; i++) compare_file(argv[i]);
  printf("%-26s %5s  %-9s %-9s %s\n", "function", "rows", "worst", "n >= 1e9", "bar");
  for (int i = 0; i < listed->function_count; i++) {
    const function *f = &listed->functions[i];
    const record *r = &records[i];
    if (f->bar.size == 0) continue;
    printf("%-26s %5d  %-9.1e %-9.1e %.0e %s\n", f->name, r->rows, r->worst, r->worst_of_many,
           f->bar.size, f->bar.relative ? "relative" : "absolute");
    if (!part) check(r->rows >= LEAST_REFERENCES, f->name, r->rows, LEAST_REFERENCES);
  }
  prepare(NULL, 0);
  sqlite3_close(db);
  catalogue_free(listed);
  free(cells);
  free(times);
  return check_summary();
}
