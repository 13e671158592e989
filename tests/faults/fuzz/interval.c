/*
** Fuzzes the readers of an interval's text: ci_lo, ci_hi, ci_width, ci_text and
** ci_bar on any bytes.  A text that one accepts, all must accept, and read as strtod does
** and, if it is JSON, as SQLite does.  See sql.c for how it is run.
**
** Bytes: one for the digits of ci_text, one for the point and one for the width of
** ci_bar, then the text.
*/
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "../../../ext/evalci.h"
#include "fuzz.h"

static sqlite3 *db;
static sqlite3_stmt *readers[5], *json;
static const uint8_t *text;
static size_t text_size;

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
    fuzz_die("%s: %s", sql, sqlite3_errmsg(db));
  return statement;
}

static void start(void) {
  static const char *const calls[] = {"ci_lo(?1)", "ci_hi(?1)", "ci_width(?1)", "ci_text(?1, ?2)",
                                      "ci_bar(?1, ?3, ?4)"};
  if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
      sqlite3_evalci_init(db, NULL, NULL) != SQLITE_OK)
    fuzz_die("cannot start: %s", sqlite3_errmsg(db));
  for (int i = 0; i < 5; i++) {
    char sql[100];
    snprintf(sql, sizeof sql, "SELECT %s", calls[i]);
    readers[i] = prepare(sql);
  }
  /* a list of two numbers in order, as JSON: what must be accepted */
  json = prepare("SELECT ?1->>0, ?1->>1 WHERE json_valid(?1) AND json_type(?1) = 'array' "
                 "AND json_array_length(?1) = 2 AND json_type(?1, '$[0]') IN ('integer', 'real') "
                 "AND json_type(?1, '$[1]') IN ('integer', 'real')");
}

static void wrong(const char *what) {
  printf("WRONG %s: ", what);
  for (size_t i = 0; i < text_size; i++) printf(isprint(text[i]) ? "%c" : "\\x%02x", text[i]);
  printf("\n");
  fflush(stdout);
  abort();
}

/* From 5 to 500, as ci_bar takes it. */
static int width_of(const unsigned *options) {
  return 5 + (int)options[2] * 2 % 496;
}

/* Calls one reader with the text; false if it refuses the text. */
static bool read_with(int i, const unsigned *options) {
  sqlite3_stmt *s = readers[i];
  sqlite3_bind_text(s, 1, (const char *)text, (int)text_size, SQLITE_STATIC);
  if (i == 3) sqlite3_bind_int(s, 2, (int)(options[0] % 16));
  if (i == 4) {
    sqlite3_bind_double(s, 3, options[1] / 255.0);
    sqlite3_bind_int(s, 4, width_of(options));
  }
  double from = fuzz_ms();
  int rc = sqlite3_step(s);
  if (fuzz_slowest(from)) {
    FILE *out = fuzz_describe();
    fprintf(out, "  %s of %d bytes\n", sqlite3_sql(s), (int)text_size);
    fclose(out);
  }
  if (rc != SQLITE_ROW && !strstr(sqlite3_errmsg(db), ": expected an interval like"))
    wrong("error");
  return rc == SQLITE_ROW;
}

/* Equal, but for the last digit: beyond 40 digits ours stops reading, and SQLite
** before 3.43 rounds as it goes. */
static bool close_to(double x, double y) {
  return x == y || fabs(x - y) <= 4e-16 * fabs(y) || fabs(x - y) <= 0x1p-1074;
}

static void check_accepted(void) {
  double lo = sqlite3_column_double(readers[0], 0), hi = sqlite3_column_double(readers[1], 0);
  const char *open = memchr(text, '[', text_size), *comma = memchr(text, ',', text_size);
  if (!open || !comma) wrong("accepted without [ and ,");
  if (!(lo <= hi)) wrong("bounds out of order");
  if (!close_to(lo, strtod(open + 1, NULL)) || !close_to(hi, strtod(comma + 1, NULL)))
    wrong("not the number written");
  if (sqlite3_column_double(readers[2], 0) != (lo < hi ? hi - lo : 0)) wrong("ci_width");
}

static void check_drawn(const unsigned *options) {
  const unsigned char *shown = sqlite3_column_text(readers[3], 0);
  int size = sqlite3_column_bytes(readers[3], 0), cells = 0;
  bool minus = strstr((const char *)shown, "−");
  if (!strstr((const char *)shown, minus ? " to " : "–")) wrong("ci_text parts its bounds");
  if ((int)strlen((const char *)shown) != size) wrong("ci_text has a NUL");
  const unsigned char *bar = sqlite3_column_text(readers[4], 0);
  for (int i = 0; i < sqlite3_column_bytes(readers[4], 0); i++) cells += (bar[i] & 0xC0) != 0x80;
  if (cells != width_of(options)) wrong("ci_bar is as wide as asked");
}

/* What SQLite takes for two numbers in order, we take too; but SQLite stops at a
** NUL, and we refuse it. */
static void check_json(bool accepted) {
  if (strlen((const char *)text) < text_size) {
    if (accepted) wrong("accepted with a NUL");
    return;
  }
  sqlite3_bind_text(json, 1, (const char *)text, (int)text_size, SQLITE_STATIC);
  if (sqlite3_step(json) == SQLITE_ROW) {
    double lo = sqlite3_column_double(json, 0), hi = sqlite3_column_double(json, 1);
    if (!accepted && lo < hi && !close_to(lo, hi)) wrong("refused, but JSON");
    if (accepted && (!close_to(sqlite3_column_double(readers[0], 0), lo) ||
                     !close_to(sqlite3_column_double(readers[1], 0), hi)))
      wrong("not as SQLite reads it");
  } else if (accepted) {
    wrong("accepted, but not JSON");
  }
  sqlite3_reset(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!db) start();
  fuzz_bytes in = {data, size};
  unsigned options[3];
  for (int i = 0; i < 3; i++) options[i] = fuzz_byte(&in);
  /* a copy that ends in a NUL, for strtod */
  char *copy = malloc(in.left + 1);
  if (!copy) fuzz_die("no memory");
  if (in.left) memcpy(copy, in.at, in.left);
  copy[in.left] = 0;
  text = (const uint8_t *)copy;
  text_size = in.left;
  bool accepted = read_with(0, options);
  for (int i = 1; i < 5; i++)
    if (read_with(i, options) != accepted) wrong("readers differ");
  if (accepted) {
    check_accepted();
    check_drawn(options);
  }
  check_json(accepted);
  for (int i = 0; i < 5; i++) sqlite3_reset(readers[i]);
  free(copy);
  return 0;
}
