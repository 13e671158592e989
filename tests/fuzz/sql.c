/*
** Fuzzes the SQL surface: bytes become a call of some function with some arity,
** over rows of values of every type, as a scalar, an aggregate, a group or a
** window frame.  What comes back is held to what every function promises.
**
** Built for libFuzzer; with -DREPLAY, a program that runs files, or random bytes
** for some seconds, and tells which single call took longest:
**
**     sql CORPUS...              libFuzzer's own options
**     replay-sql FILE...         as fast as users run it
**     replay-sql --random SECONDS SEED
**
** Functions come from pragma_function_list, so a new one is fuzzed at once.
*/
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "../../ext/evalci.h"
#include "../functions.h"
#include "fuzz.h"

/*
** Rows of values, which a table-valued function of this program hands to SQL: no
** binding, no parsing, and any number of rows for one prepared statement
*/
enum { WIDTH = 6, MOST_ROWS = 24, MOST_BYTES = 48 };

typedef struct cell {
  int type;
  sqlite3_int64 integer;
  double real;
  unsigned char bytes[MOST_BYTES];
  int size, zeros; /* zeros follow the bytes of a blob */
} cell;

static cell rows[MOST_ROWS][WIDTH];
static int first_row, end_row; /* those that SQL sees */

typedef struct cursor {
  sqlite3_vtab_cursor base;
  int row;
} cursor;

static int connect(sqlite3 *db, void *data, int argc, const char *const *argv, sqlite3_vtab **table,
                   char **error) {
  (void)data, (void)argc, (void)argv, (void)error;
  *table = sqlite3_malloc(sizeof **table);
  if (!*table) return SQLITE_NOMEM;
  memset(*table, 0, sizeof **table);
  return sqlite3_declare_vtab(db, "CREATE TABLE x(c0, c1, c2, c3, c4, c5, at INTEGER)");
}

static int disconnect(sqlite3_vtab *table) {
  sqlite3_free(table);
  return SQLITE_OK;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
  (void)table;
  info->estimatedCost = MOST_ROWS;
  return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out) {
  (void)table;
  cursor *c = sqlite3_malloc(sizeof *c);
  if (!c) return SQLITE_NOMEM;
  memset(c, 0, sizeof *c);
  *out = &c->base;
  return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
  sqlite3_free(base);
  return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
                  sqlite3_value **argv) {
  (void)number, (void)text, (void)argc, (void)argv;
  ((cursor *)base)->row = first_row;
  return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base) {
  ((cursor *)base)->row++;
  return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base) {
  return ((cursor *)base)->row >= end_row;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id) {
  *id = ((cursor *)base)->row;
  return SQLITE_OK;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int which) {
  int row = ((cursor *)base)->row;
  if (which >= WIDTH) {
    sqlite3_result_int(context, row);
    return SQLITE_OK;
  }
  const cell *c = &rows[row][which];
  switch (c->type) {
  case SQLITE_INTEGER:
    sqlite3_result_int64(context, c->integer);
    break;
  case SQLITE_FLOAT:
    sqlite3_result_double(context, c->real);
    break;
  case SQLITE_TEXT:
    sqlite3_result_text(context, (const char *)c->bytes, c->size, SQLITE_STATIC);
    break;
  case SQLITE_BLOB:
    if (c->zeros)
      sqlite3_result_zeroblob(context, c->zeros);
    else
      sqlite3_result_blob(context, c->bytes, c->size, SQLITE_STATIC);
  }
  return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = rowid,
};

/*
** Functions, and the ways to call them
*/
typedef struct function {
  char name[64];
  int arity, columns; /* options follow the columns */
  bool aggregate, heavy;
  double least, most; /* the support of its interval or number */
} function;

/* ci_methods is a table, and is listed by hand. */
static function functions[200] = {
    {"ci_methods", 2, 2, false, false, -HUGE_VAL, HUGE_VAL},
    {"ci_methods", 3, 2, false, false, -HUGE_VAL, HUGE_VAL},
};
static int function_count = 2;

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

/* PLAIN and READ serve every function, the rest aggregates only.  SLIDING is a
** window whose every frame is asked again as an aggregate. */
enum { PLAIN, READ, GROUPED, FILTERED, ORDERED, SLIDING, FRAMED, WAYS = FRAMED + 4 * FRAMES };

static sqlite3 *db;
static sqlite3_stmt *statements[200][WAYS];

static bool ends_in(const char *name, const char *end) {
  size_t n = strlen(name), e = strlen(end);
  return n >= e && strcmp(name + n - e, end) == 0;
}

static bool is_interval(const function *f) {
  return ends_in(f->name, "_ci") || ends_in(f->name, "_ci_counts");
}

static bool is_number(const function *f) {
  return strstr(f->name, "prob_better") || strcmp(f->name, "ci_lo") == 0 ||
         strcmp(f->name, "ci_hi") == 0 || strcmp(f->name, "ci_width") == 0;
}

static void set_support(function *f) {
  f->least = 0;
  f->most = 1;
  if (strstr(f->name, "clt") || strcmp(f->name, "ci_lo") == 0 || strcmp(f->name, "ci_hi") == 0)
    f->least = -HUGE_VAL, f->most = HUGE_VAL;
  else if (strstr(f->name, "odds") || strstr(f->name, "_or_") || strcmp(f->name, "ci_width") == 0)
    f->most = HUGE_VAL;
  else if (strstr(f->name, "diff"))
    f->least = -1;
}

static void start(void) {
  sqlite3_stmt *list = NULL;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
      sqlite3_evalci_init(db, NULL, NULL) != SQLITE_OK ||
      sqlite3_create_module(db, "input", &module, NULL) != SQLITE_OK ||
      sqlite3_prepare_v2(db, EVALCI_FUNCTIONS, -1, &list, NULL) != SQLITE_OK)
    fuzz_die("cannot start: %s", sqlite3_errmsg(db));
  while (sqlite3_step(list) == SQLITE_ROW) {
    function *f = &functions[function_count++];
    snprintf(f->name, sizeof f->name, "%s", (const char *)sqlite3_column_text(list, 0));
    f->arity = sqlite3_column_int(list, 1);
    f->aggregate = strcmp((const char *)sqlite3_column_text(list, 2), "s") != 0;
    f->heavy = !strstr(f->name, "clt") &&
               (strstr(f->name, "paired") || strstr(f->name, "clustered") ||
                strstr(f->name, "diff") || strstr(f->name, "odds") || strstr(f->name, "fisher"));
    /* Listed by arity: the least of a name is its columns. */
    f->columns = strcmp(f->name, f[-1].name) == 0 ? f[-1].columns : f->arity;
    set_support(f);
  }
  sqlite3_finalize(list);
}

/* The statement of a function called in a way, or NULL when SQLite has none. */
static sqlite3_stmt *statement_of(int which, int way) {
  const function *f = &functions[which];
  sqlite3_stmt *statement = statements[which][way];
  if (statement) return statement;
  char call[200], *sql;
  int used = snprintf(call, sizeof call, "%s(", f->name);
  for (int i = 0; i < f->arity; i++)
    used += snprintf(call + used, sizeof call - (size_t)used, "%sc%d", i ? ", " : "", i);
  snprintf(call + used, sizeof call - (size_t)used, ")");
  if (strcmp(f->name, "ci_methods") == 0)
    sql = sqlite3_mprintf("SELECT lo, hi, method FROM input, %s", call);
  else if (way == PLAIN)
    sql = sqlite3_mprintf("SELECT %s FROM input", call);
  else if (way == READ)
    sql = sqlite3_mprintf("SELECT ci, ci_lo(ci), ci_hi(ci), ci_width(ci), ci_text(ci), ci_bar(ci) "
                          "FROM (SELECT %s AS ci FROM input LIMIT -1)",
                          call);
  else if (way == GROUPED)
    sql = sqlite3_mprintf("SELECT %s FROM input GROUP BY c5", call);
  else if (way == FILTERED)
    sql = sqlite3_mprintf("SELECT %s FILTER (WHERE c5) FROM input", call);
  else if (way == ORDERED)
    sql = sqlite3_mprintf("SELECT %s OVER (PARTITION BY c4 ORDER BY c5) FROM input", call);
  else if (way == SLIDING)
    sql = sqlite3_mprintf("SELECT %s OVER (ORDER BY at ROWS 2 PRECEDING) FROM input", call);
  else
    sql = sqlite3_mprintf("SELECT %s OVER (ORDER BY c5 %s %s) FROM input", call,
                          frames[(way - FRAMED) / 4], excludes[(way - FRAMED) % 4]);
  if (!sql) fuzz_die("no memory");
  if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
    fuzz_die("%s: %s", sql, sqlite3_errmsg(db));
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
  case 6: /* two numbers of one row are often in order: k <= n */
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
    c.size = (int)fuzz_byte(in) % MOST_BYTES;
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

/* What a call that succeeds would be given: results, counts, a level, a prior or
** an interval. */
static cell read_tame_cell(fuzz_bytes *in, const function *f, int j, const cell *before) {
  unsigned byte = fuzz_byte(in);
  cell c = {.type = SQLITE_INTEGER};
  if (j >= f->columns || j >= f->arity) {
    c.type = SQLITE_FLOAT;
    c.real = byte < 240 ? (byte + 0.5) / 240 : reals[byte % 16];
    if (j > f->columns) c.real = ldexp(1 + (byte & 15), (int)(byte >> 4) - 8);
  } else if (strncmp(f->name, "ci_", 3) == 0 && f->columns == 1) {
    c.type = SQLITE_TEXT;
    c.size = snprintf((char *)c.bytes, sizeof c.bytes, "[%.3g,%.3g]", byte / 300.0,
                      byte / 300.0 + fuzz_byte(in) / 500.0);
  } else if (f->aggregate && !ends_in(f->name, "_counts")) {
    static const char digits[] = "01";
    c.integer = byte & 1;
    c.real = byte & 1;
    c.bytes[0] = (unsigned char)digits[byte & 1];
    c.size = 1;
    c.type = byte < 200   ? SQLITE_INTEGER
             : byte < 220 ? SQLITE_NULL
             : byte < 240 ? SQLITE_FLOAT
                          : SQLITE_TEXT;
    if (strstr(f->name, "clustered") && j == 1) c.integer = byte / 16, c.type = 1 + byte % 4;
  } else {
    /* up to 2^50, small ones the most; n is k and some more */
    c.integer = (sqlite3_int64)(byte & 31) << (byte < 160 ? 0 : (byte - 160) / 2);
    if (j % 2 && before) c.integer += before->integer;
  }
  return c;
}

/*
** The call as a person would type it
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
  for (int i = first_row; i < end_row; i++) {
    fprintf(out, "%s", i > first_row ? ", (" : " (");
    for (int j = 0; j < WIDTH; j++) {
      if (j) fprintf(out, ", ");
      print_cell(out, &rows[i][j]);
    }
    fprintf(out, ")");
  }
  fprintf(out, "\n");
}

/*
** What holds
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
  if (x < f->least || x > f->most) wrong("outside its support", shown);
}

/* An interval as an independent reader takes it. */
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
  if (type == SQLITE_NULL) return;
  const char *text = (const char *)sqlite3_column_text(s, 0);
  if (strcmp(f->name, "ci_methods") == 0) {
    double lo = sqlite3_column_double(s, 0), hi = sqlite3_column_double(s, 1);
    if (type != SQLITE_FLOAT || !(lo <= hi)) wrong("a method's bounds", text);
  } else if (is_interval(f)) {
    if (type != SQLITE_TEXT) wrong("an interval is text", text);
    check_interval(f, text);
    if (way != READ) return;
    double lo = sqlite3_column_double(s, 1), hi = sqlite3_column_double(s, 2);
    if (lo != strtod(text + 1, NULL) || hi != strtod(strchr(text, ',') + 1, NULL))
      wrong("ci_lo and ci_hi read what was written", text);
    if (sqlite3_column_double(s, 3) != (lo < hi ? hi - lo : 0)) wrong("ci_width", text);
    if (!strstr((const char *)sqlite3_column_text(s, 4), "–")) wrong("ci_text", text);
    if (sqlite3_column_type(s, 5) != SQLITE_TEXT) wrong("ci_bar", text);
  } else if (is_number(f)) {
    if (type != SQLITE_FLOAT) wrong("a number is real", text);
    check_number(f, sqlite3_column_double(s, 0), text);
  } else if (type != SQLITE_TEXT) {
    wrong("all else is text", text);
  }
}

/* An error names the function, or the reader that was handed no interval. */
static void check_error(const function *f, int way) {
  const char *message = sqlite3_errmsg(db);
  size_t n = strlen(f->name);
  if (strncmp(message, f->name, n) == 0 && message[n] == ':') return;
  if (way == READ && !is_interval(f) && strncmp(message, "ci_", 3) == 0) return;
  wrong("an error names its function", message);
}

/* Runs the current call; the answers go to out[], as text, when it is not NULL.
** -1 after an error. */
static int run(int which, int way, char **out) {
  const function *f = &functions[which];
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

/* A frame gives what an aggregate over its rows gives. */
static void run_sliding(int which) {
  char *slid[MOST_ROWS], *whole[MOST_ROWS];
  int from = first_row, to = end_row, count = run(which, SLIDING, slid);
  for (int i = from; i < from + count; i++) {
    first_row = i - 2 > from ? i - 2 : from;
    end_row = i + 1;
    const char *frame = slid[i - from];
    if (run(which, PLAIN, whole) != 1) wrong("a frame's rows fail alone", frame ? frame : "NULL");
    const char *alone = whole[0];
    if ((!frame != !alone) || (frame && strcmp(frame, alone)))
      wrong("frame and rows differ", frame ? frame : "NULL");
    free(whole[0]);
    free(slid[i - from]);
  }
  first_row = from;
  end_row = to;
}

/* A heavy function takes milliseconds, a light one microseconds: of the bytes
** that name a heavy one, only some are run, chosen by their hash, so that most of
** a minute does not go to a few of the functions.  A replay runs them all. */
static bool left_out(const uint8_t *data, size_t size) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < size; i++) h = (h ^ data[i]) * 16777619u;
  return FUZZ_SEARCHES && (h ^ h >> 16) % 4096 != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!db) start();
  fuzz_bytes in = {data, size};
  int which = (int)fuzz_byte(&in) % function_count;
  const function *f = &functions[which];
  if (f->heavy && left_out(data, size)) return 0;
  int way = (int)fuzz_byte(&in) % (f->aggregate ? WAYS : READ + 1);
  if (strcmp(f->name, "ci_methods") == 0) way = PLAIN;
  /* Each row of a scalar or a window is a call of its own. */
  int most = !f->aggregate ? 1 : way <= FILTERED ? MOST_ROWS : f->heavy ? 3 : 6;
  /* Values are tame, and options the same on every row, but when a byte says
  ** otherwise. */
  unsigned manner = fuzz_byte(&in);
  bool loose = manner % 8 == 0, wild = manner / 8 % 4 == 0;
  cell shared[WIDTH];
  for (int j = 0; j < WIDTH; j++)
    shared[j] = wild ? read_cell(&in) : read_tame_cell(&in, f, j, NULL);
  first_row = end_row = 0;
  do {
    for (int j = 0; j < WIDTH; j++) {
      bool option = f->aggregate && j >= f->columns && j < f->arity;
      cell *c = &rows[end_row][j];
      if (option && !loose)
        *c = shared[j];
      else if (wild || j >= f->arity)
        *c = read_cell(&in);
      else
        *c = read_tame_cell(&in, f, j, j ? c - 1 : NULL);
    }
    end_row++;
  } while (in.left > 0 && end_row < most);
  if (way == SLIDING)
    run_sliding(which);
  else
    run(which, way, NULL);
  return 0;
}
