/*
** Calls every function of the catalogue that promises an interval or a probability with
** random arguments, and checks properties that always hold (contract 2, 14, 17 and 18):
**
**     bounds are ordered and lie in the support,
**     a wider level contains a narrower one,
**     bounds rise with every right answer and fall with every wrong one,
**     exchanging right and wrong mirrors them, and so does exchanging the models.
**
** Each row of the catalogue says which of these its function has, and how far rounding and
** quadrature may violate them; the largest violation found is printed beside that.
**
**     properties ROUNDS [SEED]
*/
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "../../ext/evalci.h"
#include "../catalogue.h"
#include "../check.h"
#include "../input.h"
#include "../random.h"

/*
** Random numbers
*/
static double uniform(double least, double most) {
  return least + (most - least) * random_share();
}

static int one_of(int n) {
  return (int)(random_bits() % (unsigned)n);
}

/* A whole number from 0, as likely between 10 and 100 as between 100 and 1000. */
static double random_size(double most) {
  return fmin(floor(most), floor(exp(uniform(0, log1p(most)))) - one_of(2));
}

/* Any level: usual ones, very high ones and very low ones. */
static double random_level(void) {
  switch (one_of(6)) {
  case 0:
    return 1 - pow(10, uniform(-15, -1));
  case 1:
    return pow(10, uniform(-18, -1));
  case 2:
    return 0.95;
  default:
    return uniform(1e-3, 1 - 1e-3);
  }
}

/* k of n, anywhere or near either end. */
static double random_part(double n) {
  switch (one_of(4)) {
  case 0:
    return random_size(n);
  case 1:
    return n - random_size(n);
  default:
    return floor(uniform(0, n + 1));
  }
}

/*
** One call: rows of numbers, and how often each row occurs
*/
enum { MOST_ROWS = 12 };

typedef struct trial {
  const function *function;
  int arity, level; /* the index of the level, -1 if there is none */
  int rows;
  double values[MOST_ROWS][CATALOGUE_ARITY];
  long times[MOST_ROWS];
} trial;

/* A change of the counts that raises the bounds of a function. */
typedef struct move {
  const char *up, *down; /* names of arguments; NULL if there is none */
} move;

static const move moves[] = {
    {"k", NULL},
    {"k_a", NULL},
    {NULL, "k_b"},
    {"only_a", "only_b"},
    {"only_a", "neither"},
    {"both", "only_b"},
    {"tp", NULL},
    {NULL, "fp"},
    {NULL, "fn"},
    {"right", "wrong"},
    {"right", "not_graded"},
    {"not_graded", "wrong"},
};

/* The largest violation of each kind. */
typedef struct record {
  long cases, calls, refused;
  double unordered, unnested, falling, unmirrored;
} record;

static cell cells[MOST_ROWS][INPUT_WIDTH];
static input_table input = {.rows = cells};
static sqlite3 *db;
static catalogue *listed;
static sqlite3_stmt *statements[CATALOGUE_FUNCTIONS][CATALOGUE_ARITY + 1];

static void start(void) {
  listed = catalogue_read();
  if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
      sqlite3_evalci_init(db, NULL, NULL) == SQLITE_OK &&
      sqlite3_create_module(db, "input", &input_module, &input) == SQLITE_OK)
    return;
  fprintf(stderr, "properties: %s\n", sqlite3_errmsg(db));
  exit(2);
}

static void finish(void) {
  for (int i = 0; i < CATALOGUE_FUNCTIONS; i++)
    for (int j = 0; j <= CATALOGUE_ARITY; j++) sqlite3_finalize(statements[i][j]);
  sqlite3_close(db);
  catalogue_free(listed);
}

static sqlite3_stmt *statement_of(const trial *t) {
  sqlite3_stmt **statement = &statements[t->function - listed->functions][t->arity];
  if (*statement != NULL) return *statement;
  char *call = function_call(t->function, t->arity, "c");
  char *sql = sqlite3_mprintf("SELECT %s FROM input", call);
  if (!sql || sqlite3_prepare_v2(db, sql, -1, statement, NULL) != SQLITE_OK) {
    fprintf(stderr, "properties: %s: %s\n", call, sqlite3_errmsg(db));
    exit(2);
  }
  sqlite3_free(sql);
  sqlite3_free(call);
  return *statement;
}

static bool is_whole(argument_class class) {
  return class != ARG_LEVEL && class != ARG_POSITIVE && class != ARG_REAL;
}

typedef struct interval {
  double lo, hi;
} interval;

/* Sets a cell to one of the two words of an argument. */
static void word_cell(const trial *t, int which, cell *c) {
  const char *word = t->function->arguments[which]->words[t->values[0][which] != 0];
  c->type = SQLITE_TEXT;
  c->size = snprintf((char *)c->bytes, sizeof c->bytes, "%s", word);
}

/* The interval, or the probability as both bounds; false if the call is refused, and counts it. */
static bool ask(const trial *t, interval *ci, record *r) {
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->arity; j++) {
      bool whole = is_whole(t->function->arguments[j]->class);
      cells[i][j] = (cell){.type = whole ? SQLITE_INTEGER : SQLITE_FLOAT,
                           .integer = whole ? (sqlite3_int64)t->values[i][j] : 0,
                           .real = t->values[i][j]};
      if (t->function->arguments[j]->class == ARG_WORD) word_cell(t, j, &cells[i][j]);
    }
  input.end = t->rows;
  input.times = t->times;
  sqlite3_stmt *s = statement_of(t);
  bool answered = sqlite3_step(s) == SQLITE_ROW;
  const char *text = answered ? (const char *)sqlite3_column_text(s, 0) : NULL;
  *ci = (interval){NAN, NAN};
  if (text && text[0] == '[') {
    char *comma;
    ci->lo = strtod(text + 1, &comma);
    ci->hi = strtod(comma + 1, NULL);
  } else if (text) {
    ci->lo = ci->hi = sqlite3_column_double(s, 0);
  }
  sqlite3_reset(s);
  r->calls++;
  r->refused += !answered;
  return answered;
}

/*
** Random calls
*/
static double random_value(const function *f, const argument *a, int cell_count) {
  switch (a->class) {
  case ARG_SIZE:
    return fmax(1, random_size(f->most));
  case ARG_CELL:
    return random_size(f->most / cell_count);
  case ARG_POSITIVE:
    return pow(10, uniform(-3, 6));
  case ARG_REAL:
    return one_of(4) ? uniform(a->least, a->most) : one_of(2) ? a->least : a->most;
  case ARG_WHOLE:
    return a->least + random_size(a->most - a->least);
  case ARG_LEVEL: /* an aggregate's models are slow where its tails are thin */
    return f->kind == 's' ? random_level() : uniform(0.01, 1 - pow(10, uniform(-9, -2)));
  default:
    return one_of(2);
  }
}

static int index_of(const function *f, const char *name) {
  for (int i = 0; name && i < f->count; i++)
    if (strcmp(f->arguments[i]->name, name) == 0) return i;
  return -1;
}

/* Whether an argument is the same on every row, as options are. */
static bool is_constant(const function *f, int which) {
  const char *name = f->arguments[which]->name;
  return strcmp(name, "attempts") == 0 || strcmp(name, "threshold") == 0 ||
         strcmp(name, "loss") == 0;
}

static void random_row(trial *t, int row) {
  const function *f = t->function;
  double *v = t->values[row], total = 0;
  int cell_count = 0;
  for (int j = 0; j < f->columns; j++) cell_count += f->arguments[j]->class == ARG_CELL;
  for (int j = t->arity - 1; j >= 0; j--) {
    argument_class class = f->arguments[j]->class;
    v[j] = class == ARG_PART ? random_part(v[j + 1]) : random_value(f, f->arguments[j], cell_count);
    if (class == ARG_CELL) total += v[j];
    if (row > 0 && (j >= f->columns || is_constant(f, j))) v[j] = t->values[0][j];
  }
  if (cell_count && total == 0) v[one_of(cell_count)] = 1;
  /* Sometimes many equal rows; more often for functions whose time does not depend on the rows. */
  bool many = one_of(function_is_slow(f) ? 3 : 200) == 0;
  t->times[row] = f->kind == 's' ? 1 : (long)fmax(1, random_size(many ? 1000 : 3));
}

/* Keeps k at most the number of attempts at each question. */
static void limit_attempts(trial *t) {
  int attempts = index_of(t->function, "attempts"), n = index_of(t->function, "n");
  double fewest = HUGE_VAL;
  for (int i = 0; i < t->rows && n >= 0; i++) fewest = fmin(fewest, t->values[i][n]);
  for (int i = 0; i < t->rows && attempts >= 0; i++)
    t->values[i][attempts] = fmin(t->values[i][attempts], fewest);
}

/* A random call: with the level, if the function has one, and sometimes the options after it. */
static trial random_trial(const function *f) {
  trial t = {.function = f,
             .level = index_of(f, "level"),
             .rows = f->kind == 's' ? 1 : 1 + one_of(MOST_ROWS)};
  do t.arity = f->arities[one_of(f->arity_count)];
  while (t.arity <= t.level);
  for (int i = 0; i < t.rows; i++) random_row(&t, i);
  limit_attempts(&t);
  return t;
}

static void set_level(trial *t, double level) {
  for (int i = 0; i < t->rows; i++) t->values[i][t->level] = level;
}

/*
** What holds
*/
static void print_trial(const trial *t) {
  printf("  %s of", t->function->name);
  for (int i = 0; i < t->rows; i++) {
    printf(" (");
    for (int j = 0; j < t->arity; j++) printf(j ? ", %.17g" : "%.17g", t->values[i][j]);
    printf(t->times[i] > 1 ? ") x %ld" : ")", t->times[i]);
  }
  printf("\n");
}

/* From 10^9 questions on, a difference under a prior that is not whole keeps what is promised of
** every difference (contract 25), not the digits of the usual prior. */
static tolerance slack_of(const trial *t) {
  tolerance slack = t->function->slack;
  int a = index_of(t->function, "alpha");
  double most = 0;
  for (int j = 0; j < t->arity; j++) most = fmax(most, t->values[0][j]);
  if (a < 0 || a + 1 >= t->arity || most < 1e9) return slack;
  bool whole = t->values[0][a] == floor(t->values[0][a]) &&
               t->values[0][a + 1] == floor(t->values[0][a + 1]);
  if (!whole) slack.size = fmax(slack.size, 1e-11);
  return slack;
}

/* Checks that an excess is within the slack, and keeps the largest. */
static void within(const trial *t, double excess, double scale, const char *what, double *worst) {
  tolerance slack = slack_of(t);
  if (!slack.relative) scale = 1;
  if (!(excess <= *worst * scale)) *worst = excess / scale;
  if (excess <= slack.size * scale) { /* not when it is NaN */
    passed++;
    return;
  }
  failed++;
  printf("FAILED %s %s by %.3g\n", t->function->name, what, excess);
  print_trial(t);
}

static void at_most(const trial *t, double x, double y, const char *what, double *worst) {
  within(t, x <= y ? 0 : x - y, fmin(fabs(x), fabs(y)), what, worst);
}

static void check_interval(const trial *t, interval ci, record *r) {
  result_class result = t->function->result;
  at_most(t, ci.lo, ci.hi, "is out of order", &r->unordered);
  check(ci.lo >= result_least(result) && ci.hi <= result_most(result), t->function->name, ci.lo,
        ci.hi);
}

static void check_nested(trial t, interval ci, record *r) {
  double narrow = t.values[0][t.level],
         wide = random_value(t.function, t.function->arguments[t.level], 0);
  interval other;
  set_level(&t, wide);
  if (!ask(&t, &other, r)) return;
  interval inner = wide > narrow ? ci : other, outer = wide > narrow ? other : ci;
  at_most(&t, outer.lo, inner.lo, "is not contained in a wider level's", &r->unnested);
  at_most(&t, inner.hi, outer.hi, "is not contained in a wider level's", &r->unnested);
}

/* Raises the counts of one row as far as they can be; false if they cannot. */
static bool raise(trial *t, const move *m) {
  const function *f = t->function;
  int up = index_of(f, m->up), down = index_of(f, m->down);
  if ((m->up && up < 0) || (m->down && down < 0)) return false;
  double *v = t->values[one_of(t->rows)], most = fmax(1, random_size(f->most)), total = 0;
  if (down >= 0) most = fmin(most, v[down]);
  if (up >= 0)
    most = fmin(most, (f->arguments[up]->class == ARG_PART ? v[up + 1] : f->most) - v[up]);
  if (most < 1) return false;
  double by = floor(exp(uniform(0, log(most))));
  if (up >= 0) v[up] += by;
  if (down >= 0) v[down] -= by;
  for (int j = 0; j < f->columns; j++) total += v[j];
  return total > 0;
}

static void check_rising(trial t, interval ci, record *r) {
  enum { MOVES = sizeof moves / sizeof *moves };
  int first = one_of(MOVES);
  interval raised;
  for (int i = 0; i < MOVES; i++) {
    if (!raise(&t, &moves[(first + i) % MOVES])) continue;
    if (!ask(&t, &raised, r)) return;
    at_most(&t, ci.lo, raised.lo, "falls when raised", &r->falling);
    at_most(&t, ci.hi, raised.hi, "falls when raised", &r->falling);
    return;
  }
}

static void exchange(trial *t, int i, int j) {
  for (int row = 0; row < t->rows; row++) {
    double kept = t->values[row][i];
    t->values[row][i] = t->values[row][j];
    t->values[row][j] = kept;
  }
}

/* Bounds that mirror others about a centre err by at most the slack and the rounding of a number
** near 1. */
static void check_mirrored(const trial *t, interval ci, double sum, const char *what, record *r) {
  interval mirrored;
  if (!ask(t, &mirrored, r)) return;
  within(t, fmax(0, fabs(ci.lo + mirrored.hi - sum) - 0x1p-52), 1, what, &r->unmirrored);
  within(t, fmax(0, fabs(ci.hi + mirrored.lo - sum) - 0x1p-52), 1, what, &r->unmirrored);
}

/* Exchanges right and wrong: every k becomes n - k, and the shapes of the prior change places. */
static void check_wrong_for_right(trial t, interval ci, record *r) {
  const function *f = t.function;
  int a = index_of(f, "prior_a");
  for (int j = 0; j < f->columns; j++)
    for (int row = 0; row < t.rows && f->arguments[j]->class == ARG_PART; row++)
      t.values[row][j] = t.values[row][j + 1] - t.values[row][j];
  if (a >= 0 && t.arity > a) exchange(&t, a, a + 1);
  check_mirrored(&t, ci, 1, "is not mirrored by wrong for right", r);
}

/* Exchanges the models: the arguments _a and _b, and the sign of the margin. */
static void check_exchanged(trial t, interval ci, record *r) {
  const function *f = t.function;
  for (int j = 0; j < f->columns; j++) {
    char other[24];
    size_t length = strlen(f->arguments[j]->name);
    snprintf(other, sizeof other, "%s", f->arguments[j]->name);
    if (strcmp(other + length - 2, "_a")) continue;
    other[length - 1] = 'b';
    exchange(&t, j, index_of(f, other));
  }
  int margin = index_of(f, "margin");
  for (int row = 0; row < t.rows && margin >= 0 && t.arity > margin; row++)
    t.values[row][margin] = -t.values[row][margin];
  double sum = f->result == RESULT_PROBABILITY ? 1 : 0;
  check_mirrored(&t, ci, sum, "is not mirrored by one model for the other", r);
}

static void try_once(const function *f, record *r) {
  trial t = random_trial(f);
  interval ci;
  r->cases++;
  if (!ask(&t, &ci, r)) return;
  check_interval(&t, ci, r);
  if (function_holds(f, 'n')) check_nested(t, ci, r);
  if (function_holds(f, 'r')) check_rising(t, ci, r);
  if (function_holds(f, 'm')) check_wrong_for_right(t, ci, r);
  if (function_holds(f, 'x')) check_exchanged(t, ci, r);
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: properties ROUNDS [SEED]\n");
    return 2;
  }
  long rounds = atol(argv[1]);
  random_seed(argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
  start();
  printf("%-26s %8s  %-9s %-9s %-9s %-9s %s\n", "function", "cases", "disorder", "unnested",
         "falling", "mirror", "slack");
  for (int i = 0; i < listed->function_count; i++) {
    const function *f = &listed->functions[i];
    record r = {0};
    if (f->slack.size == 0) continue;
    for (long j = 0; j <= rounds / (long)f->cost; j++) try_once(f, &r);
    printf("%-26s %8ld  %-9.1e %-9.1e %-9.1e %-9.1e %.0e %s\n", f->name, r.cases, r.unordered,
           r.unnested, r.falling, r.unmirrored, f->slack.size,
           f->slack.relative ? "relative" : "absolute");
    check(r.refused <= r.calls / 20, "calls refused", (double)r.refused, (double)r.calls / 20);
  }
  finish();
  return check_summary();
}
