/*
** Methods that need only counts: rows of 0/1 results tallied to counts, or
** counts given as they are, to an interval or a probability.  One step and one
** value serve every method; its row of the table in evalci.c says what its counts
** are and which model finishes them.
**
** What holds here, and is tested in tests/sql/:
**   1. NULL results are skipped: one column's on its own where columns are
**      different questions, the row's where they are the same.  No data gives
**      NULL.
**   2. 0, 1, 0.0, 1.0 and the texts '0' and '1' are results; all else is an
**      error, never coerced.
**   3. Options are checked on every row, and are the same on every row of a
**      group or frame.
**   4. Every aggregate has an inverse, so a frame gives what its rows give.
*/
#include "surface.h"

typedef struct tally {
  sqlite3_int64 cells[4];
  sqlite3_int64 rows; /* in the group or frame, NULL results included */
  ev_options options; /* as the first of those rows had them */
} tally;

/* Adds the results of one row `times`, which is 1 or -1. */
static void count(const evalci_shape *shape, const int *y, int times, tally *t) {
  if (shape->pairs) {
    for (int i = 0; i < shape->columns; i++) {
      if (y[i] == EVALCI_NO_RESULT) continue;
      t->cells[2 * i] += y[i] * times;
      t->cells[2 * i + 1] += times;
    }
  } else if (y[0] != EVALCI_NO_RESULT && y[1] != EVALCI_NO_RESULT) {
    t->cells[2 * (1 - y[0]) + (1 - y[1])] += times;
  }
}

/* wilson_ci(18, 20): somebody has counts and took the aggregate for the
** scalar.  A y that is a result and a level like 95 are a percentage, not
** counts. */
static bool looks_like_counts(const evalci_shape *shape, int argc, sqlite3_value **argv) {
  double y, level;
  return shape->columns == 1 && argc == 2 && evalci_read_number(argv[0], &y) &&
         evalci_read_number(argv[1], &level) && y >= 0 && y <= level && level > 1 && level < 1e15 &&
         y == (double)(sqlite3_int64)y && level == (double)(sqlite3_int64)level &&
         (y > 1 || level < 50 || level >= 100);
}

static bool check_options(const evalci_function *f, evalci_call *call, int argc,
                          sqlite3_value **argv, tally *t) {
  int columns = f->shape->columns;
  if (evalci_same_options(call, argc - columns, argv + columns, t->rows == 0, &t->options))
    return true;
  if (!looks_like_counts(f->shape, argc, argv)) return false;
  sqlite3_free(call->message);
  return evalci_fail(call,
                     "level must be strictly between 0 and 1, got %s; "
                     "for counts use %s_counts(%s, %s)",
                     evalci_show(argv[1]).text, f->name, evalci_show(argv[0]).text,
                     evalci_show(argv[1]).text);
}

static void step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  tally *t = sqlite3_aggregate_context(context, sizeof *t);
  if (!t) {
    sqlite3_result_error_nomem(context);
    return;
  }
  /* Nearly every row of a long table: one result, no options, not the first. */
  if (argc == 1 && t->rows > 0 && sqlite3_value_type(argv[0]) == SQLITE_INTEGER) {
    sqlite3_int64 result = sqlite3_value_int64(argv[0]);
    if (result == 0 || result == 1) {
      t->cells[0] += result;
      t->cells[1]++;
      t->rows++;
      return;
    }
  }
  const evalci_function *f = evalci_function_of(context);
  int y[2] = {0, 0}, columns = f->shape->columns, bad = -1;
  for (int i = 0; i < columns; i++)
    if ((y[i] = evalci_read_result(argv[i])) == EVALCI_BAD_RESULT) bad = i;
  if (t->rows == 0 || argc > columns || bad >= 0) {
    evalci_call call = {f->name, NULL};
    if (!check_options(f, &call, argc, argv, t) ||
        (bad >= 0 && !evalci_fail_result(&call, argv[bad]))) {
      evalci_report(context, &call);
      return;
    }
  }
  t->rows++;
  count(f->shape, y, 1, t);
}

/* The row leaving the frame was checked when it came. */
static void inverse(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  const evalci_shape *shape = evalci_function_of(context)->shape;
  tally *t = sqlite3_aggregate_context(context, sizeof *t);
  if (!t) return;
  int y[2] = {0, 0};
  for (int i = 0; i < shape->columns; i++) y[i] = evalci_read_result(argv[i]);
  t->rows--;
  count(shape, y, -1, t);
}

/* Whether there is anything to compute from. */
static bool any_data(const evalci_shape *shape, const double *counts) {
  double total = 0;
  for (int i = 0; i < shape->size; i++) {
    if (shape->pairs && i % 2 && counts[i] == 0) return false;
    total += counts[i];
  }
  return shape->pairs || total > 0;
}

static void answer(sqlite3_context *context, const double *counts, const ev_options *options) {
  const evalci_function *f = evalci_function_of(context);
  if (!any_data(f->shape, counts)) return;
  if (f->model)
    evalci_result_interval(context, f->model(counts, options));
  else
    sqlite3_result_double(context, f->probability(counts));
}

/* What both the current frame and the whole group are answered with. */
static void value(sqlite3_context *context) {
  const evalci_shape *shape = evalci_function_of(context)->shape;
  const tally *t = sqlite3_aggregate_context(context, 0);
  double counts[4];
  if (!t) return;
  for (int i = 0; i < shape->size; i++)
    counts[i] = (double)t->cells[shape->pairs ? i : shape->cells[i]];
  answer(context, counts, &t->options);
}

static void over_counts(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const evalci_function *f = evalci_function_of(context);
  evalci_call call = {f->name, NULL};
  int size = f->shape->size;
  double counts[4];
  ev_options options;
  if (evalci_any_null(argc, argv)) return;
  if (evalci_read_counts(&call, f->shape, argv, counts) &&
      evalci_read_options(&call, argc - size, argv + size, &options))
    answer(context, counts, &options);
  else
    evalci_report(context, &call);
}

const evalci_kind evalci_over_rows = {
    .step = step, .final = value, .value = value, .inverse = inverse};
const evalci_kind evalci_over_counts = {.scalar = over_counts};
