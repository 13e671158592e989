/*
** Tests parts of the SQL surface that SQL cannot reach: numbers as text, and the errors of models
** that fail (contract 2 and 9).
*/
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ext/sqlite/surface.h"
#include "../check.h"

/*
** Numbers
*/
static void written_as(double x, const char *wanted) {
  char text[EVALCI_NUMBER_SIZE];
  double back = 0;
  text[evalci_write_number(x, text)] = 0;
  check(strcmp(text, wanted) == 0, wanted, strtod(text, NULL), x);
  const char *end = evalci_parse_number(text, &back);
  check(end && *end == 0 && back == x && signbit(back) == (x < 0), wanted, back, x);
}

static void numbers_have_one_form(void) {
  written_as(0, "0.0");
  written_as(-0.0, "0.0");
  written_as(1, "1.0");
  written_as(-1, "-1.0");
  written_as(0.1, "0.1");
  written_as(-0.25, "-0.25");
  written_as(12.5, "12.5");
  written_as(0.001, "0.001");
  written_as(0.0001, "0.0001");
  written_as(0.00012345, "0.00012345");
  written_as(0.00001, "1e-5");
  written_as(0.000012345, "1.2345e-5");
  written_as(123456789012345680.0, "1.2345678901234568e17");
  written_as(1e15, "1000000000000000.0");
  written_as(1234567890123456.0, "1234567890123456.0");
  written_as(12345678901234.5, "12345678901234.5");
  written_as(1e16, "1e16");
  written_as(0x1p53, "9007199254740992.0");
  written_as(1e300, "1e300");
  written_as(0.1 + 0.2, "0.30000000000000004");
  written_as(5e-324, "5e-324");
  written_as(1.5e-323, "1.5e-323");
  written_as(2.2250738585072014e-308, "2.2250738585072014e-308");
  written_as(1.7976931348623157e308, "1.7976931348623157e308");
  written_as(HUGE_VAL, "9e999");
  written_as(-HUGE_VAL, "-9e999");
}

/* The number of digits of a decimal, without zeros at either end. */
static int digits_of(const char *text) {
  int count = 0, zeros = 0;
  for (; *text && *text != 'e'; text++) {
    if (*text == '0' && count > 0) zeros++;
    if (*text < '1' || *text > '9') continue;
    count += zeros + 1;
    zeros = 0;
  }
  return count;
}

static int fewest_digits(double x) {
  char text[40];
  for (int digits = 1;; digits++) {
    snprintf(text, sizeof text, "%.*e", digits - 1, x);
    if (strtod(text, NULL) == x) return digits_of(text);
  }
}

/* Every double reads back from its text, which has as few digits as possible. */
static void numbers_read_back(void) {
  uint64_t state = 1;
  for (int i = 0; i < 30000; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = state ^ state >> 29;
    double x, back = 0;
    char text[EVALCI_NUMBER_SIZE];
    if (i % 3 == 0) bits &= 0x800fffffffffffff; /* subnormal */
    memcpy(&x, &bits, sizeof x);
    if (i % 3 == 1) x = ldexp((double)(bits >> 40), -(int)(bits % 60)); /* short */
    if (i % 3 == 2 && i % 2) x = ldexp((double)(bits >> 11), -53);      /* a share */
    if (!isfinite(x)) continue;
    text[evalci_write_number(x, text)] = 0;
    const char *end = evalci_parse_number(text, &back);
    check(end && *end == 0 && back == x && strtod(text, NULL) == x, text, back, x);
    check(digits_of(text) == fewest_digits(x), text, digits_of(text), fewest_digits(x));
  }
}

/* The digits are the fewest of the C library's that read back. */
static void written_as_printed(double x) {
  char text[EVALCI_NUMBER_SIZE], printed[40];
  double back = 0;
  text[evalci_write_number(x, text)] = 0;
  int digits = 15;
  do snprintf(printed, sizeof printed, "%.*e", digits - 1, x);
  while (strtod(printed, NULL) != x && ++digits <= 17);
  evalci_parse_number(text, &back);
  check(digits_of(text) == digits_of(printed) && back == x, text, back, x);
}

static void read_as_strtod(const char *text) {
  double x = 0, wanted = strtod(text, NULL);
  const char *end = evalci_parse_number(text, &x);
  check(end && *end == 0 && x == wanted, text, x, wanted);
}

/* Powers of two, below which doubles are twice as dense, and decimals half way between doubles. */
static void numbers_at_edges(void) {
  char text[40];
  for (int e = -60; e <= 60; e++) {
    double x = ldexp(1, e);
    written_as_printed(x);
    written_as_printed(nextafter(x, 0));
    written_as_printed(nextafter(x, 1e300));
  }
  for (int e = -15; e <= 15; e++) {
    snprintf(text, sizeof text, "1e%d", e);
    double x = strtod(text, NULL);
    written_as_printed(x);
    written_as_printed(nextafter(x, 0));
    written_as_printed(nextafter(x, 1e300));
  }
  for (int i = -40; i <= 40; i++) {
    snprintf(text, sizeof text, "%lld", (1LL << 53) + i);
    read_as_strtod(text);
    snprintf(text, sizeof text, "%lld.5", (1LL << 52) + i);
    read_as_strtod(text);
    snprintf(text, sizeof text, "%lld.%d5", (1LL << 52) + i, abs(i));
    read_as_strtod(text);
    snprintf(text, sizeof text, "9999999999999999%02de%d", abs(i), i - 15);
    read_as_strtod(text);
  }
}

/*
** Statuses
*/
static ev_status status;
static ev_interval answer;

static void answer_interval(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc, (void)argv;
  evalci_result_interval(context, "f", status, answer);
}

static void answer_probability(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc, (void)argv;
  evalci_result_probability(context, "f", status, answer.lo);
}

/* Checks the result of a statement, or the message of its error. */
static void gives(sqlite3 *db, const char *sql, int code, const char *wanted) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) exit(2);
  int rc = sqlite3_step(statement);
  const char *text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
  if (rc != SQLITE_ROW) text = sqlite3_errmsg(db);
  check(rc == code && text && strcmp(text, wanted) == 0, wanted, rc, code);
  if (text && strcmp(text, wanted)) printf("  %s\n", text);
  sqlite3_finalize(statement);
}

static void every_status_is_told(void) {
  static const struct {
    ev_status status;
    ev_interval answer;
    int code;
    const char *interval, *probability;
  } cases[] = {
      {EV_OK, {0.25, 0.5}, SQLITE_ROW, "[0.25,0.5]", "0.25"},
      {EV_OK, {0.5, 0.25}, SQLITE_ROW, "[0.25,0.5]", "0.5"},
      {EV_NO_MEMORY, {0, 1}, SQLITE_NOMEM, "out of memory", "out of memory"},
      {EV_INTERRUPTED, {0, 1}, SQLITE_INTERRUPT, "interrupted", "interrupted"},
      {EV_TOO_LARGE,
       {0, 1},
       SQLITE_ERROR,
       "f: there are too many questions or attempts to compute with; pass fewer, or "
       "scale k and n down",
       "f: there are too many questions or attempts to compute with; pass fewer, or "
       "scale k and n down"},
      {EV_NOT_CONVERGED,
       {0, 1},
       SQLITE_ERROR,
       "f: the computation did not converge on these data; please report them",
       "f: the computation did not converge on these data; please report them"},
      {EV_OK,
       {NAN, NAN},
       SQLITE_ERROR,
       "f: the computation did not converge on these data; please report them",
       "f: the computation did not converge on these data; please report them"},
  };
  sqlite3 *db;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
      sqlite3_create_function(db, "interval", 0, SQLITE_UTF8, NULL, answer_interval, NULL, NULL) ||
      sqlite3_create_function(db, "p", 0, SQLITE_UTF8, NULL, answer_probability, NULL, NULL))
    exit(2);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    status = cases[i].status;
    answer = cases[i].answer;
    gives(db, "SELECT interval()", cases[i].code, cases[i].interval);
    gives(db, "SELECT p()", cases[i].code, cases[i].probability);
  }
  sqlite3_close(db);
}

int main(void) {
  numbers_have_one_form();
  numbers_read_back();
  numbers_at_edges();
  every_status_is_told();
  return check_summary();
}
