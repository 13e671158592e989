/*
** Methods that need only counts: rows of 0/1 results tallied to counts, or
** counts given as they are, to an interval or a probability.  One step and one
** value serve every method; its row of the table in evalci.c says what its counts
** are and which model finishes them.
**
** NULL results are skipped (contract 3): one column's on its own where columns are
** different questions, the row's where they are the same.  bounded_ci counts them.
*/
#include <math.h>

#include "function.h"

/* The results that a column can have in a row, including EVALCI_NO_RESULT: a cell is bit
** OUTCOMES (1 - first) + (1 - second). */
enum { OUTCOMES = 3 };

typedef struct tally {
  sqlite3_int64 seen[OUTCOMES][OUTCOMES]; /* rows by their results, each plus 1 */
  sqlite3_int64 rows;                     /* in the group or frame, including NULL results */
  int columns;                            /* the number of arguments; 0 before the first row */
  bool only_real;                         /* the first row's options were one number, */
  double real;                            /* which is this */
  bool failed;                            /* a row was refused, so there is no answer */
  ev_options options;                     /* the options of the first row */
} tally;

static const char *const *tally_columns(const evalci_function *f) {
  return f->layout->columns;
}

static const char *const *tally_counts(const evalci_function *f) {
  return f->layout->counts;
}

/*
** Rows
*/

/* The counter of rows with the results y; a method of one column has no second result. */
static sqlite3_int64 *rows_like(tally *t, const int *y) {
  return &t->seen[y[0] + 1][y[1] + 1];
}

/* Whether a call like wilson_ci(18, 20) comes from somebody with counts who mistook the aggregate
** for the scalar.  If y is 0 or 1 and the level is like 95, it is a percentage instead. */
static bool looks_like_k_n(const evalci_function *f, int argc, sqlite3_value **argv) {
  double y, level;
  const evalci_layout *layout = f->layout;
  return layout->separate_questions && !layout->columns[1] && f->options & EVALCI_LEVEL &&
         argc == 2 && evalci_read_number(argv[0], &y) && evalci_read_number(argv[1], &level) &&
         y >= 0 && y <= level && level > 1 && level < 1e15 && y == (double)(sqlite3_int64)y &&
         level == (double)(sqlite3_int64)level && (y > 1 || level < 50 || level >= 100);
}

static bool check_tally_options(const evalci_function *f, evalci_call *call, int argc,
                                sqlite3_value **argv, tally *t) {
  int columns = evalci_arguments_of(f);
  if (evalci_same_options(call, f->options, argc - columns, argv + columns, t->rows == 0,
                          &t->options))
    return true;
  if (!looks_like_k_n(f, argc, argv)) return false;
  return evalci_fail(call,
                     "level must be strictly between 0 and 1, got %s; "
                     "for counts use %s_counts(%s, %s)",
                     evalci_show(argv[1]).text, f->name, evalci_show(argv[0]).text,
                     evalci_show(argv[1]).text);
}

/* The same for precision_ci(8, 2) and f1_ci(8, 2, 1), where the scalar takes the same number of
** arguments. */
static void suggest_counts(const evalci_function *f, evalci_call *call, int wrong, int argc,
                           sqlite3_value **argv) {
  char *twin = evalci_twin_call(f, argc, argv);
  double x;
  if (twin && evalci_read_number(argv[wrong], &x) && x >= 1)
    evalci_fail(call, "%s, got %s; for counts use %s",
                wrong < 2 ? "a result must be 0 or 1" : "level must be strictly between 0 and 1",
                evalci_show(argv[wrong]).text, twin);
  sqlite3_free(twin);
}

/* The fast path: most rows are integers, without options or with a constant level; after the
** first of them only the results need checking.  Returns the counter, or NULL for any other row.
** No array is used, since the compiler would add a stack guard to each call. */
static sqlite3_int64 *usual_rows(tally *t, int argc, sqlite3_value **argv) {
  int columns = t->columns;
  if (argc > columns + t->only_real) return NULL;
  if (argc > columns && (sqlite3_value_type(argv[columns]) != SQLITE_FLOAT ||
                         sqlite3_value_double(argv[columns]) != t->real))
    return NULL;
  if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER) return NULL;
  sqlite3_uint64 a = (sqlite3_uint64)sqlite3_value_int64(argv[0]);
  if (a > 1) return NULL;
  if (columns == 1) return &t->seen[a + 1][EVALCI_NO_RESULT + 1];
  if (sqlite3_value_type(argv[1]) != SQLITE_INTEGER) return NULL;
  sqlite3_uint64 b = (sqlite3_uint64)sqlite3_value_int64(argv[1]);
  return b > 1 ? NULL : &t->seen[a + 1][b + 1];
}

/* The counter of any other row; NULL when the row is refused. */
static sqlite3_int64 *other_rows(tally *t, const evalci_function *f, evalci_call *call, int argc,
                                 sqlite3_value **argv) {
  int columns = evalci_arguments_of(f), bad = -1;
  int y[2] = {EVALCI_NO_RESULT, EVALCI_NO_RESULT};
  for (int i = 0; i < columns; i++)
    if ((y[i] = evalci_read_result(argv[i])) == EVALCI_BAD_RESULT) bad = i;
  bool checked = (t->rows > 0 && argc == columns) || check_tally_options(f, call, argc, argv, t);
  if (!checked || (bad >= 0 && !evalci_fail_result(call, argv[bad], columns == 1))) {
    if (columns == 2) suggest_counts(f, call, bad < 0 ? argc - 1 : bad, argc, argv);
    return NULL;
  }
  t->columns = columns;
  if (t->rows == 0 && argc == columns + 1) {
    t->only_real = sqlite3_value_type(argv[columns]) == SQLITE_FLOAT;
    t->real = sqlite3_value_double(argv[columns]);
  }
  return rows_like(t, y);
}

static void unusual_step(sqlite3_context *context, int argc, sqlite3_value **argv, tally *t) {
  const evalci_function *f = sqlite3_user_data(context);
  evalci_call call = {f->name, NULL};
  sqlite3_int64 *rows = other_rows(t, f, &call, argc, argv);
  if (rows) {
    t->rows++;
    ++*rows;
  } else {
    t->failed = true;
    evalci_report(context, &call);
  }
}

static void tally_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  tally *t = sqlite3_aggregate_context(context, sizeof *t);
  if (!t) {
    sqlite3_result_error_nomem(context);
    return;
  }
  sqlite3_int64 *rows = usual_rows(t, argc, argv);
  if (!rows) {
    unusual_step(context, argc, argv, t);
    return;
  }
  t->rows++;
  ++*rows;
}

/* The row leaving the frame was checked when it came (contract 6). */
static void tally_inverse(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  const evalci_layout *layout = ((const evalci_function *)sqlite3_user_data(context))->layout;
  tally *t = sqlite3_aggregate_context(context, sizeof *t);
  if (!t) return;
  int y[2] = {EVALCI_NO_RESULT, EVALCI_NO_RESULT};
  for (int i = 0; layout->columns[i]; i++) y[i] = evalci_read_result(argv[i]);
  t->rows--;
  --*rows_like(t, y);
}

/*
** Answers
*/

/* Whether a count is the k of the next count. */
static bool is_k(const evalci_layout *layout, int i) {
  return layout->counts[i + 1] && (layout->cells[i] & ~layout->cells[i + 1]) == 0;
}

/* Whether there is any data. */
static bool any_data(const evalci_layout *layout, const double *counts) {
  double total = 0;
  if (layout->none_counts) return true;
  for (int i = 0; layout->counts[i]; i++) {
    if (layout->separate_questions && !is_k(layout, i) && counts[i] == 0) return false;
    total += counts[i];
  }
  return layout->separate_questions || total > 0;
}

static void answer_counts(sqlite3_context *context, const double *counts,
                          const ev_options *options) {
  const evalci_function *f = sqlite3_user_data(context);
  ev_interval out = {NAN, NAN};
  ev_host host = evalci_host_of(context);
  if (!any_data(f->layout, counts)) return;
  host.memo = f->memo;
  ev_status status = f->p.counts ? f->p.counts(counts, options, host, &out.lo)
                                 : f->ci.counts(counts, options, host, &out);
  evalci_result(context, status, out);
}

/* The number of rows in these cells. */
static double rows_in(const tally *t, unsigned cells) {
  sqlite3_int64 rows = 0;
  for (int i = 0; cells >> i; i++)
    if (cells >> i & 1) rows += t->seen[2 - i / OUTCOMES][2 - i % OUTCOMES];
  return (double)rows;
}

/* Whether a row has a result in both columns. */
static bool any_pair(const tally *t) {
  return (t->seen[1][1] | t->seen[1][2] | t->seen[2][1] | t->seen[2][2]) != 0;
}

/* The result of the frame or group; NULL if there were no rows, or one was refused. */
static void answer_tally(sqlite3_context *context) {
  const evalci_layout *layout = ((const evalci_function *)sqlite3_user_data(context))->layout;
  const tally *t = sqlite3_aggregate_context(context, 0);
  double counts[EVALCI_MOST_COUNTS];
  if (!t || t->failed) return;
  if (layout->none_counts && !any_pair(t)) return;
  for (int i = 0; layout->counts[i]; i++) counts[i] = rows_in(t, layout->cells[i]);
  answer_counts(context, counts, &t->options);
}

/*
** Counts as given
*/

/* Checks the counts: whole numbers, each k at most its n; and counts of the same questions at
** most 2^53 in sum. */
static bool read_counts(evalci_call *call, const evalci_layout *layout, sqlite3_value **argv,
                        double *counts) {
  double total = 0;
  for (int i = 0; layout->counts[i]; i++) {
    bool k_n = is_k(layout, i);
    if (!(k_n ? evalci_read_k_n(call, &layout->counts[i], argv + i, counts + i)
              : evalci_read_count(call, layout->counts[i], argv[i], &counts[i])))
      return false;
    i += k_n;
    total += counts[i];
  }
  if (layout->separate_questions || total <= 0x1p53) return true;
  return evalci_fail(call, "the counts must add up to at most 2^53, got %lld; scale them down",
                     (sqlite3_int64)total);
}

static void answer_given(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const evalci_function *f = sqlite3_user_data(context);
  evalci_call call = {f->name, NULL};
  int size = evalci_arguments_of(f);
  double counts[EVALCI_MOST_COUNTS];
  ev_options options;
  if (evalci_any_null(argc, argv)) return;
  if (read_counts(&call, f->layout, argv, counts) &&
      evalci_read_options(&call, f->options, argc - size, argv + size, &options))
    answer_counts(context, counts, &options);
  else
    evalci_report(context, &call);
}

const evalci_kind evalci_of_rows = {.arguments = tally_columns,
                                    .step = tally_step,
                                    .final = answer_tally,
                                    .value = answer_tally,
                                    .inverse = tally_inverse};
const evalci_kind evalci_of_counts = {.arguments = tally_counts, .scalar = answer_given};
