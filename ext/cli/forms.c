/*
** Rows as JSON and as CSV, each printed as it comes.
*/
#include <math.h>
#include <string.h>

#include "../sqlite/surface.h"
#include "cli.h"

bool cli_is_plain(const cli *c) {
  return !c->values[CLI_JSON] && !c->values[CLI_CSV];
}

/* Without memory they are empty, and the next step reports it. */
static const char *text_at(sqlite3_stmt *rows, int i) {
  const char *text = (const char *)sqlite3_column_text(rows, i);
  return text ? text : "";
}

static const char *name_at(sqlite3_stmt *rows, int i) {
  const char *name = sqlite3_column_name(rows, i);
  return name ? name : "";
}

/* Writes text in quotes; invalid UTF-8 becomes U+FFFD. */
static void put_json_text(const char *text) {
  putchar('"');
  for (size_t size; *text; text += size) {
    int columns;
    unsigned char first = (unsigned char)*text;
    size = cli_character(text, &columns);
    if (first == '"' || first == '\\')
      printf("\\%c", first);
    else if (first < 0x20 || first == 0x7f)
      printf("\\u%04x", first);
    else if (first >= 0x80 && size == 1)
      fputs("\\ufffd", stdout);
    else
      fwrite(text, 1, size, stdout);
  }
  putchar('"');
}

/* Writes every digit, as the board's own intervals do. */
static void put_real(double x) {
  char text[EVALCI_NUMBER_SIZE];
  printf("%.*s", evalci_write_number(x, text), text);
}

static void put_hex(const unsigned char *bytes, int size) {
  for (int i = 0; i < size; i++) printf("%02x", bytes[i]);
}

static void put_json_value(sqlite3_stmt *rows, int i) {
  switch (sqlite3_column_type(rows, i)) {
  case SQLITE_NULL:
    fputs("null", stdout);
    break;
  case SQLITE_INTEGER:
    printf("%lld", sqlite3_column_int64(rows, i));
    break;
  case SQLITE_FLOAT:
    put_real(sqlite3_column_double(rows, i));
    break;
  case SQLITE_BLOB:
    putchar('"');
    put_hex(sqlite3_column_blob(rows, i), sqlite3_column_bytes(rows, i));
    putchar('"');
    break;
  default:
    put_json_text(text_at(rows, i));
  }
}

void cli_put_json(sqlite3_stmt *rows) {
  for (int i = 0; i < sqlite3_column_count(rows); i++) {
    putchar(i ? ',' : '{');
    put_json_text(name_at(rows, i));
    putchar(':');
    put_json_value(rows, i);
  }
  putchar('}');
}

/* Writes a field, quoted where CSV requires it. */
static void put_csv_text(const char *text) {
  bool quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted) putchar('"');
  for (; *text; text++) {
    if (*text == '"') putchar('"');
    putchar(*text);
  }
  if (quoted) putchar('"');
}

static void put_csv_value(sqlite3_stmt *rows, int i) {
  int type = sqlite3_column_type(rows, i);
  if (type == SQLITE_FLOAT)
    put_real(sqlite3_column_double(rows, i));
  else if (type == SQLITE_BLOB)
    put_hex(sqlite3_column_blob(rows, i), sqlite3_column_bytes(rows, i));
  else if (type != SQLITE_NULL)
    put_csv_text(text_at(rows, i));
}

static void put_csv_row(sqlite3_stmt *rows, int count, bool names) {
  for (int i = 0; i < count; i++) {
    if (i) putchar(',');
    if (names)
      put_csv_text(name_at(rows, i));
    else
      put_csv_value(rows, i);
  }
  putchar('\n');
}

int cli_stream_rows(const cli *c, sqlite3_stmt *rows) {
  int count = sqlite3_column_count(rows), rc = SQLITE_ROW;
  bool json = c->values[CLI_JSON], first = true;
  while ((rc = sqlite3_step(rows)) == SQLITE_ROW) {
    if (json) {
      fputs(first ? "[" : ",\n ", stdout);
      cli_put_json(rows);
    } else {
      if (first) put_csv_row(rows, count, true);
      put_csv_row(rows, count, false);
    }
    first = false;
  }
  if (rc != SQLITE_DONE) return rc;
  if (first && !json) put_csv_row(rows, count, true);
  if (json) puts(first ? "[]" : "]");
  return rc;
}
