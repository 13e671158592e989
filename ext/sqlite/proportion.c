/*
** One proportion in SQL: 0/1 rows tallied to k and n, and counts given as they
** are.  One pair of step and value serves every such method; the row of the
** registration table says which model finishes it.
**
** What holds here, and is tested in tests/sql/proportion.test:
**   1. NULL results are skipped; no rows, or none that is not NULL, give NULL.
**   2. 0, 1, 0.0, 1.0 and the texts '0' and '1' are results; all else is an
**      error, never coerced.
**   3. level, a and b are checked on every row, and are the same on every row
**      of a group or frame.
**   4. Every aggregate has an inverse, so a frame gives what its rows give.
*/
#include "surface.h"

typedef struct tally {
  sqlite3_int64 k, n;
  sqlite3_int64 rows; /* in the group or frame, NULL results included */
  ev_options options; /* as the first of those rows had them */
} tally;

static const evalci_function *function_of(sqlite3_context *context) {
  return sqlite3_user_data(context);
}

enum { NO_RESULT = -1, BAD_RESULT = -2 };

/* 0, 1, NO_RESULT for NULL, or BAD_RESULT. */
static int read_result(sqlite3_value *value) {
  int type = sqlite3_value_type(value);
  double y;
  if (type == SQLITE_INTEGER) {
    sqlite3_int64 i = sqlite3_value_int64(value);
    return i == 0 || i == 1 ? (int)i : BAD_RESULT;
  }
  if (type == SQLITE_NULL) return NO_RESULT;
  if (evalci_read_number(value, &y) && (y == 0 || y == 1)) return (int)y;
  return BAD_RESULT;
}

static bool fail_result(evalci_call *call, sqlite3_value *value) {
  double y;
  evalci_shown shown = evalci_show(value);
  if (evalci_read_number(value, &y))
    return evalci_fail(call,
                       "a result must be 0 or 1, got %s; "
                       "turn a score into one first, as in %s(score >= 0.5)",
                       shown.text, call->name);
  return evalci_fail(call,
                     "a result must be 0 or 1, got %s; "
                     "turn it into one first, as in %s(grade = 'correct')",
                     shown.text, call->name);
}

/* wilson_ci(18, 20): somebody has counts and took the aggregate for the
** scalar.  A y that is a result and a level like 95 are a percentage, not counts. */
static bool looks_like_counts(sqlite3_value **argv) {
  double y, level;
  return evalci_read_number(argv[0], &y) && evalci_read_number(argv[1], &level) && y >= 0 &&
         y <= level && level > 1 && y == (double)(sqlite3_int64)y &&
         level == (double)(sqlite3_int64)level && (y > 1 || level < 50 || level >= 100);
}

static bool read_row_options(evalci_call *call, int argc, sqlite3_value **argv,
                             ev_options *options) {
  if (evalci_read_options(call, argc - 1, argv + 1, options)) return true;
  if (!looks_like_counts(argv)) return false;
  sqlite3_free(call->message);
  return evalci_fail(call,
                     "level must be strictly between 0 and 1, got %s; "
                     "for counts use %s_counts(%s, %s)",
                     evalci_show(argv[1]).text, call->name, evalci_show(argv[0]).text,
                     evalci_show(argv[1]).text);
}

static bool check_options(evalci_call *call, int argc, sqlite3_value **argv, tally *t) {
  ev_options here;
  if (!read_row_options(call, argc, argv, &here)) return false;
  if (t->rows == 0) t->options = here;
  int differs = here.level != t->options.level ? 1
                : here.a != t->options.a       ? 2
                : here.b != t->options.b       ? 3
                                               : 0;
  if (!differs) return true;
  static const char *const names[] = {"", "level", "prior a", "prior b"};
  return evalci_fail(call,
                     "%s must be the same on every row of a group, got %s after another; "
                     "group by it, or pass a constant",
                     names[differs], evalci_show(argv[differs]).text);
}

void evalci_proportion_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  tally *t = sqlite3_aggregate_context(context, sizeof *t);
  if (!t) {
    sqlite3_result_error_nomem(context);
    return;
  }
  int y = read_result(argv[0]);
  if (t->rows == 0 || argc > 1 || y == BAD_RESULT) {
    evalci_call call = evalci_call_of(context);
    if (!check_options(&call, argc, argv, t) || (y == BAD_RESULT && !fail_result(&call, argv[0]))) {
      evalci_report(context, &call);
      return;
    }
  }
  t->rows++;
  if (y == NO_RESULT) return;
  t->k += y;
  t->n++;
}

/* The row leaving the frame was checked when it came. */
void evalci_proportion_inverse(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  tally *t = sqlite3_aggregate_context(context, sizeof *t);
  if (!t) return;
  int y = read_result(argv[0]);
  t->rows--;
  if (y == NO_RESULT) return;
  t->k -= y;
  t->n--;
}

/* What both the current frame and the whole group are answered with. */
void evalci_proportion_value(sqlite3_context *context) {
  const tally *t = sqlite3_aggregate_context(context, 0);
  if (!t || t->n == 0) return;
  double counts[] = {(double)t->k, (double)t->n};
  evalci_result_interval(context, function_of(context)->model(counts, &t->options));
}

void evalci_proportion_counts(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const evalci_function *f = function_of(context);
  evalci_call call = evalci_call_of(context);
  double counts[2];
  ev_options options;
  if (evalci_any_null(argc, argv)) return;
  if (!evalci_read_counts(&call, argv, counts) ||
      !evalci_read_options(&call, argc - 2, argv + 2, &options)) {
    evalci_report(context, &call);
    return;
  }
  if (counts[1] > 0) evalci_result_interval(context, f->model(counts, &options));
}
