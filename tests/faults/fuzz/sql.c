/*
** Fuzzes the SQL surface: bytes become a call of some function with some arity,
** over rows of values of every type, as a scalar, an aggregate, a group or a
** window frame.  The result must keep the promises of every function.
**
** Built for libFuzzer, or with -DREPLAY as a program that runs files, or random bytes
** for some seconds, and reports which single call took longest:
**
**     sql CORPUS...              libFuzzer's own options
**     replay-sql FILE...         as fast as users run it
**     replay-sql --random SECONDS SEED
**
** Functions and their arguments come from the catalogue, so a new function is fuzzed at once.
*/
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "../../../ext/evalci.h"
#include "../../catalogue.h"
#include "../../input.h"
#include "fuzz.h"

enum { MOST_ROWS = 24 };

static cell rows[MOST_ROWS][INPUT_WIDTH];
static input_table input = {.rows = rows}; /* the rows that SQL sees */

/*
** Functions, and the ways to call them
*/
typedef struct call {
  const function *function;
  int arity;
} call;

static catalogue *listed;
static call calls[CATALOGUE_FUNCTIONS * 3];
static int call_count;

/* Windows: the frames, and what is left out of each. */
static const char *const frames[] = {
    "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN 1.5 PRECEDING AND 2 FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
};
enum { FRAMES = sizeof frames / sizeof *frames };
static const char *const excludes[] = {"", "EXCLUDE CURRENT ROW", "EXCLUDE GROUP", "EXCLUDE TIES"};

/* PLAIN and READ are for every function, the others for aggregates only.  SLIDING is a window, and
** each of its frames is computed again as an aggregate. */
enum { PLAIN, READ, GROUPED, FILTERED, ORDERED, SLIDING, FRAMED, WAYS = FRAMED + 4 * FRAMES };

static sqlite3 *db;
static sqlite3_stmt *statements[CATALOGUE_FUNCTIONS * 3][WAYS];

static void start(void) {
  if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
      sqlite3_evalci_init(db, NULL, NULL) != SQLITE_OK ||
      sqlite3_create_module(db, "input", &input_module, &input) != SQLITE_OK)
    fuzz_die("cannot start: %s", sqlite3_errmsg(db));
  listed = catalogue_read();
  for (int i = 0; i < listed->function_count; i++)
    for (int j = 0; j < listed->functions[i].arity_count; j++)
      calls[call_count++] = (call){&listed->functions[i], listed->functions[i].arities[j]};
}

/* The tables of the board read the rows themselves. */
#define BOARD_OPTIONS                                                                              \
  "{\"model\":\"c0\",\"task\":\"c1\",\"item\":\"c2\",\"correct\":\"c3\",\"score\":\"c4\","         \
  "\"error\":\"c5\",\"score_lo\":\"c6\",\"score_hi\":\"c7\"}"
enum { BOARD_CELLS = 8 };

/* The statement that makes a call in one of these ways. */
static sqlite3_stmt *statement_of(int which, int way) {
  sqlite3_stmt *statement = statements[which][way];
  if (statement) return statement;
  char *made = function_call(calls[which].function, calls[which].arity, "c"), *sql;
  if (calls[which].function->result == RESULT_BOARD && calls[which].function->arities[0] > 2)
    sql = sqlite3_mprintf("SELECT board.* FROM (SELECT min(c0) AS a, max(c0) AS b FROM input), "
                          "%s('input', '" BOARD_OPTIONS "', a, b) AS board",
                          calls[which].function->name);
  else if (calls[which].function->result == RESULT_BOARD)
    sql = sqlite3_mprintf(calls[which].function->kind == 's'
                              ? "SELECT %s('input', '" BOARD_OPTIONS "')"
                              : "SELECT board.* FROM %s('input', '" BOARD_OPTIONS "') AS board",
                          calls[which].function->name);
  else if (calls[which].function->kind == 't')
    sql = sqlite3_mprintf("SELECT lo, hi, method FROM input, %s", made);
  else if (way == PLAIN)
    sql = sqlite3_mprintf("SELECT %s FROM input", made);
  else if (way == READ)
    sql = sqlite3_mprintf("SELECT ci, ci_lo(ci), ci_hi(ci), ci_width(ci), ci_text(ci), ci_bar(ci) "
                          "FROM (SELECT %s AS ci FROM input LIMIT -1)",
                          made);
  else if (way == GROUPED)
    sql = sqlite3_mprintf("SELECT %s FROM input GROUP BY rank", made);
  else if (way == FILTERED)
    sql = sqlite3_mprintf("SELECT %s FILTER (WHERE rank) FROM input", made);
  else if (way == ORDERED)
    sql = sqlite3_mprintf("SELECT %s OVER (PARTITION BY part ORDER BY rank) FROM input", made);
  else if (way == SLIDING)
    sql = sqlite3_mprintf("SELECT %s OVER (ORDER BY at ROWS 2 PRECEDING) FROM input", made);
  else
    sql = sqlite3_mprintf("SELECT %s OVER (ORDER BY rank %s %s) FROM input", made,
                          frames[(way - FRAMED) / 4], excludes[(way - FRAMED) % 4]);
  if (!sql) fuzz_die("no memory");
  if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
    fuzz_die("%s: %s", sql, sqlite3_errmsg(db));
  sqlite3_free(made);
  sqlite3_free(sql);
  return statements[which][way] = statement;
}

/*
** Bytes to values
*/
static const double reals[] = {
    0.0,     -0.0,   1.0,   0.5, 0.95, 0.9,      0.99,    1 - 0x1p-53,     0x1p-1074, DBL_MIN, -1.0,
    DBL_MAX, 1e-300, 1e300, 2.0, 20.0, 95.0,     0x1p53,  0x1p53 + 2,      0x1p63,    -0x1p63, 1e15,
    3.5,     1e-17,  1e-8,  1e6, 1e9,  0.999999, 1.5e308, 0.9999999999999, 1000.0,    0.05,
};
static const char *const texts[] = {
    "0",
    "1",
    "1.0",
    " 1",
    "1 ",
    "1e0",
    "0x1",
    "1abc",
    "nan",
    "inf",
    "-0",
    "0.5",
    "95%",
    "",
    "yes",
    "[0.1,0.9]",
    "[0,1]",
    "[-9e999,9e999]",
    "[1,0]",
    "[0.1, 0.2 ]",
    "[0.1,0.2",
    "[1e-320,2]",
    "9007199254740993",
    "1e999",
    "-1",
    "18",
    "20",
    "0.95",
    "\xff\xfe",
    "a",
    "1.00000000000000000000001",
    "\xe2\x82\xac",
};

/* Options of pictures, good and bad. */
static const char *const drawings[] = {
    "{}",
    "{\"title\":\"<\\u00e9\\ud83d\\ude00\\ud800\"}",
    "{\"axis\":\"a\\\"b\\\\\",\"title\":null}",
    " { \"title\" : \"\\n\" } ",
    "{\"scale\":\"log\"}",
    "{\"scale\":\"log\",\"from\":1e-9,\"to\":1e9}",
    "{\"scale\":\"log\",\"line\":2,\"unit\":\"%\"}",
    "{\"scale\":\"linear\",\"unit\":\"\"}",
    "{\"unit\":\"%\",\"from\":0,\"to\":1}",
    "{\"from\":0.999999999,\"line\":-1e9}",
    "{\"to\":-1e9}",
    "{\"from\":1e9}",
    "{\"title\":\"\\u12\"}",
    "{\"title\":[1]}",
    "{\"title\"}",
    "{\"from\":1,}",
};

static cell read_cell(fuzz_bytes *in) {
  cell c = {.type = SQLITE_NULL};
  unsigned tag = fuzz_byte(in), low = tag >> 4;
  switch (tag & 15) {
  case 0:
    if (low < 4) break;
    /* fall through */
  case 1:
  case 2:
  case 3:
    c.type = SQLITE_INTEGER;
    c.integer = low & 1;
    break;
  case 4:
  case 5:
    c.type = SQLITE_INTEGER;
    c.integer = fuzz_byte(in);
    break;
  case 6: /* of many sizes, so that two of a row are often in order, as k <= n */
    c.type = SQLITE_INTEGER;
    c.integer = (sqlite3_int64)fuzz_byte(in) << 2 * low;
    break;
  case 7:
    c.type = SQLITE_INTEGER;
    c.integer = (sqlite3_int64)fuzz_word(in);
    break;
  case 8:
    c.type = SQLITE_INTEGER;
    c.integer = (sqlite3_int64)(((sqlite3_uint64)1 << (fuzz_byte(in) & 63)) + low - 8);
    break;
  case 9: {
    uint64_t bits = fuzz_word(in);
    c.type = SQLITE_FLOAT;
    memcpy(&c.real, &bits, sizeof bits);
    break;
  }
  case 10:
    c.type = SQLITE_FLOAT;
    c.real = reals[fuzz_byte(in) % (sizeof reals / sizeof *reals)];
    if (low >= 14) c.real = low == 15 ? HUGE_VAL : -HUGE_VAL;
    break;
  case 11:
  case 12:
    c.type = SQLITE_FLOAT;
    c.real = (fuzz_byte(in) + 0.5) / 256;
    break;
  case 13: {
    const char *text = texts[fuzz_byte(in) % (sizeof texts / sizeof *texts)];
    c.type = low == 15 ? SQLITE_BLOB : SQLITE_TEXT;
    c.size = (int)strlen(text) + (low == 14); /* with its NUL */
    memcpy(c.bytes, text, (size_t)c.size);
    break;
  }
  case 14:
    c.type = low & 1 ? SQLITE_TEXT : SQLITE_BLOB;
    c.size = (int)fuzz_byte(in) % INPUT_BYTES;
    for (int i = 0; i < c.size; i++) c.bytes[i] = (unsigned char)fuzz_byte(in);
    break;
  default:
    if (low < 2) {
      c.type = SQLITE_BLOB;
      c.zeros = 1 + 256 * (int)fuzz_byte(in);
    } else {
      c.type = SQLITE_TEXT;
      double lo = reals[low], width = fuzz_byte(in) / 16.0;
      c.size = snprintf((char *)c.bytes, sizeof c.bytes, "[%.17g,%.3g]", lo, lo + width);
    }
  }
  return c;
}

/* A result in one of the forms in which CSV imports and clients give it, or NULL. */
static cell valid_result(unsigned byte) {
  static const char digits[] = "01";
  cell c = {.integer = byte & 1, .real = byte & 1, .size = 1};
  c.bytes[0] = (unsigned char)digits[byte & 1];
  c.type = byte < 200   ? SQLITE_INTEGER
           : byte < 220 ? SQLITE_NULL
           : byte < 240 ? SQLITE_FLOAT
                        : SQLITE_TEXT;
  return c;
}

static cell valid_text(const char *text) {
  cell c = {.type = SQLITE_TEXT};
  c.size = snprintf((char *)c.bytes, sizeof c.bytes, "%s", text);
  return c;
}

static cell valid_real(double x) {
  return (cell){.type = SQLITE_FLOAT, .real = x};
}

static cell valid_whole(double x) {
  return (cell){.type = SQLITE_INTEGER, .integer = (sqlite3_int64)x};
}

/* A count up to 2^50, mostly a small one. */
static cell valid_count(unsigned byte) {
  return valid_whole(ldexp(byte & 31, byte < 160 ? 0 : ((int)byte - 160) / 2));
}

/* A key: one of a few integers, real numbers, texts and blobs. */
static cell valid_key(unsigned byte) {
  cell c = valid_result(byte);
  c.integer = byte / 16;
  c.type = 1 + (int)byte % 4;
  return c;
}

/* A valid argument. */
static cell read_valid_cell(fuzz_bytes *in, const argument *a, const cell *before) {
  unsigned byte = fuzz_byte(in);
  double share = byte / 255.0;
  char interval[40];
  cell c;
  switch (a->class) {
  case ARG_RESULT:
    return valid_result(byte);
  case ARG_PART:
  case ARG_CELL:
    return valid_count(byte);
  case ARG_SIZE: /* the part before it, and more */
    c = valid_count(byte);
    if (before) c.integer += before->integer;
    return c;
  case ARG_LEVEL:
    return valid_real(byte < 240 ? (byte + 0.5) / 240 : reals[byte % 16]);
  case ARG_POSITIVE:
    return valid_real(ldexp(1 + (byte & 15), (int)(byte >> 4) - 8));
  case ARG_KEY:
    return valid_key(byte);
  case ARG_LABEL:
    return valid_text(texts[byte % (sizeof texts / sizeof *texts)]);
  case ARG_CI:
    snprintf(interval, sizeof interval, "[%.3g,%.3g]", share, share + fuzz_byte(in) / 500.0);
    return valid_text(interval);
  case ARG_REAL:
    return valid_real(a->least + (a->most - a->least) * share);
  case ARG_WHOLE:
    return valid_whole(a->least + floor((a->most - a->least) * share));
  case ARG_OPTIONS:
    return valid_text(drawings[byte % (sizeof drawings / sizeof *drawings)]);
  default:
    return valid_text(a->words[byte % 2]);
  }
}

/*
** The call as a user would type it
*/
static void print_cell(FILE *out, const cell *c) {
  if (c->type == SQLITE_NULL) {
    fprintf(out, "NULL");
  } else if (c->type == SQLITE_INTEGER) {
    fprintf(out, "%lld", c->integer);
  } else if (c->type == SQLITE_FLOAT) {
    fprintf(out, "%.17g", c->real);
  } else if (c->zeros) {
    fprintf(out, "zeroblob(%d)", c->zeros);
  } else {
    fprintf(out, c->type == SQLITE_TEXT ? "CAST(x'" : "x'");
    for (int i = 0; i < c->size; i++) fprintf(out, "%02x", c->bytes[i]);
    fprintf(out, c->type == SQLITE_TEXT ? "' AS TEXT)" : "'");
  }
}

static void print_call(FILE *out, int which, int way) {
  fprintf(out, "  %s\n  input:", sqlite3_sql(statements[which][way]));
  for (int i = input.first; i < input.end; i++) {
    fprintf(out, "%s", i > input.first ? ", (" : " (");
    for (int j = 0; j < INPUT_WIDTH; j++) {
      if (j) fprintf(out, ", ");
      print_cell(out, &rows[i][j]);
    }
    fprintf(out, ")");
  }
  fprintf(out, "\n");
}

/*
** Checks
*/
static int current, current_way; /* for wrong() */

static void wrong(const char *what, const char *got) {
  printf("WRONG %s: %s\n", what, got);
  print_call(stdout, current, current_way);
  fflush(stdout);
  abort();
}

static void check_number(const function *f, double x, const char *shown) {
  if (isnan(x)) wrong("not a number", shown);
  if (x < result_least(f->result) || x > result_most(f->result))
    wrong("outside its support", shown);
}

/* Checks an interval with a reader of its own. */
static void check_interval(const function *f, const char *text) {
  char *end;
  if (text[0] != '[') wrong("an interval begins with [", text);
  double lo = strtod(text + 1, &end);
  if (*end != ',') wrong("a comma between bounds", text);
  double hi = strtod(end + 1, &end);
  if (strcmp(end, "]")) wrong("an interval ends with ]", text);
  check_number(f, lo, text);
  check_number(f, hi, text);
  if (!(lo <= hi)) wrong("bounds out of order", text);
}

static void check_row(const function *f, int way, sqlite3_stmt *s) {
  int type = sqlite3_column_type(s, 0);
  if (type == SQLITE_NULL || f->result == RESULT_BOARD) return;
  const char *text = (const char *)sqlite3_column_text(s, 0);
  if (f->result == RESULT_ROWS) {
    double lo = sqlite3_column_double(s, 0), hi = sqlite3_column_double(s, 1);
    if (type != SQLITE_FLOAT || !(lo <= hi)) wrong("a method's bounds", text);
  } else if (result_is_interval(f->result)) {
    if (type != SQLITE_TEXT) wrong("an interval is text", text);
    check_interval(f, text);
    if (way != READ) return;
    double lo = sqlite3_column_double(s, 1), hi = sqlite3_column_double(s, 2);
    if (lo != strtod(text + 1, NULL) || hi != strtod(strchr(text, ',') + 1, NULL))
      wrong("ci_lo and ci_hi read what was written", text);
    if (sqlite3_column_double(s, 3) != (lo < hi ? hi - lo : 0)) wrong("ci_width", text);
    const char *shown = (const char *)sqlite3_column_text(s, 4);
    if (!strstr(shown, strstr(shown, "−") ? " to " : "–")) wrong("ci_text", shown);
    if (sqlite3_column_type(s, 5) != SQLITE_TEXT) wrong("ci_bar", text);
  } else if (f->result != RESULT_TEXT) {
    bool whole = f->result == RESULT_WHOLE;
    if (type != (whole ? SQLITE_INTEGER : SQLITE_FLOAT)) wrong("a number is of its type", text);
    check_number(f, sqlite3_column_double(s, 0), text);
  } else if (type != SQLITE_TEXT) {
    wrong("text is text", text);
  }
}

/* An error names the function, or the reader that was given something other than an interval. */
static void check_error(const function *f, int way) {
  const char *message = sqlite3_errmsg(db);
  size_t n = strlen(f->name);
  if (strncmp(message, f->name, n) == 0 && message[n] == ':') return;
  if (way == READ && !result_is_interval(f->result) && strncmp(message, "ci_", 3) == 0) return;
  wrong("an error names its function", message);
}

/* Runs the current call, and stores the results as text in out[] if that is not NULL.  Returns
** their number, or -1 after an error. */
static int run(int which, int way, char **out) {
  const function *f = calls[which].function;
  sqlite3_stmt *s = statement_of(which, way);
  int count = 0, rc;
  current = which;
  current_way = way;
  double from = fuzz_ms();
  while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
    if (way != READ && fuzz_slowest(from)) {
      FILE *to = fuzz_describe();
      print_call(to, which, way);
      fclose(to);
    }
    check_row(f, way, s);
    if (out && count < MOST_ROWS) {
      const char *text = (const char *)sqlite3_column_text(s, 0);
      out[count] = text ? strdup(text) : NULL;
    }
    count++;
    from = fuzz_ms();
  }
  if (rc != SQLITE_DONE) {
    check_error(f, way);
    for (int i = 0; out && i < count; i++) free(out[i]);
    count = -1;
  }
  sqlite3_reset(s);
  return count;
}

/* Checks that each frame gives the result of an aggregate over its rows. */
static void run_sliding(int which) {
  char *slid[MOST_ROWS], *whole[MOST_ROWS];
  int from = input.first, to = input.end, count = run(which, SLIDING, slid);
  for (int i = from; i < from + count; i++) {
    input.first = i - 2 > from ? i - 2 : from;
    input.end = i + 1;
    const char *frame = slid[i - from];
    if (run(which, PLAIN, whole) != 1) wrong("a frame's rows fail alone", frame ? frame : "NULL");
    const char *alone = whole[0];
    if ((!frame != !alone) || (frame && strcmp(frame, alone)))
      wrong("frame and rows differ", frame ? frame : "NULL");
    free(whole[0]);
    free(slid[i - from]);
  }
  input.first = from;
  input.end = to;
}

/* Whether an input is left out.  Some functions take milliseconds, the others microseconds.  Of the
** inputs that call a slow one only some are run, chosen by a hash, so that a few functions do not
** take most of the time.  A replay runs them all. */
static bool left_out(const uint8_t *data, size_t size) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < size; i++) h = (h ^ data[i]) * 16777619u;
  return FUZZ_SEARCHES && (h ^ h >> 16) % 4096 != 0;
}

/* A cell of a row of results: one of a few models, tasks and questions, and sometimes a score, an
** error or a range. */
static cell read_board_cell(fuzz_bytes *in, int column) {
  unsigned byte = fuzz_byte(in);
  if (column < 3) return valid_key(byte % 64);
  if (column == 3) return valid_result(byte);
  if (byte < 128 || (column > 4 && byte < 224)) return (cell){.type = SQLITE_NULL};
  return column == 5 ? valid_text("down") : valid_real(column == 7 ? 1 : (byte - 128) / 127.0);
}

/* Reads the rows of a call.  Values are valid, and options the same on every row, unless a byte
** says otherwise. */
static void read_rows(fuzz_bytes *in, const function *f, int arity, int most) {
  unsigned manner = fuzz_byte(in);
  bool loose = manner % 8 == 0, wild = manner / 8 % 4 == 0;
  cell options[INPUT_WIDTH];
  for (int j = f->columns; j < arity; j++)
    options[j] = wild ? read_cell(in) : read_valid_cell(in, f->arguments[j], NULL);
  input.first = input.end = 0;
  do {
    for (int j = 0; j < INPUT_WIDTH; j++) {
      cell *c = &rows[input.end][j];
      if (f->result == RESULT_BOARD && j < BOARD_CELLS)
        *c = wild && fuzz_byte(in) < 16 ? read_cell(in) : read_board_cell(in, j);
      else if (j >= f->columns && j < arity && f->kind == 'a' && !loose)
        *c = options[j];
      else if (j >= arity && j < INPUT_WIDTH - 2)
        *c = (cell){.type = SQLITE_NULL};
      else if (wild || j >= arity)
        *c = read_cell(in);
      else
        *c = read_valid_cell(in, f->arguments[j], j ? c - 1 : NULL);
    }
    input.end++;
  } while (in->left > 0 && input.end < most);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!db) start();
  fuzz_bytes in = {data, size};
  int which = (int)(fuzz_byte(&in) << 8 | fuzz_byte(&in)) % call_count;
  const function *f = calls[which].function;
  if (function_is_slow(f) && left_out(data, size)) return 0;
  int way = (int)fuzz_byte(&in) % (f->kind == 'a' ? WAYS : READ + 1);
  if (f->kind == 't' || f->result == RESULT_BOARD) way = PLAIN;
  /* Each row of a scalar or a window is a call of its own. */
  bool one = f->kind != 'a' && f->result != RESULT_BOARD;
  int most = one ? 1 : way <= FILTERED ? MOST_ROWS : function_is_slow(f) ? 3 : 6;
  read_rows(&in, f, calls[which].arity, most);
  if (way == SLIDING)
    run_sliding(which);
  else
    run(which, way, NULL);
  return 0;
}
