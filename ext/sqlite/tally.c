/*
** Methods that need only counts: rows of 0/1 results tallied to counts, or
** counts given as they are, to an interval or a probability.  One step and one
** value serve every method; the row of the table says what its counts are and
** which model finishes them.
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
#include "../stats/metrics.h"
#include "../stats/paired.h"
#include "../stats/proportion.h"
#include "../stats/unpaired.h"
#include "surface.h"

/*                                columns, size, pairs, names, cells */
const evalci_shape evalci_k_n = {1, 2, true, {"k", "n"}, {0}};
static const evalci_shape unpaired = {2, 4, true, {"k_a", "n_a", "k_b", "n_b"}, {0}};
static const evalci_shape paired = {
    2, 4, false, {"both", "only_a", "only_b", "neither"}, {0, 1, 2, 3}};
/* Rows are (truth, predicted): only the first is a false negative. */
static const evalci_shape confusion = {2, 3, false, {"tp", "fp", "fn"}, {0, 2, 1}};
static const evalci_shape found = {2, 2, false, {"tp", "fp"}, {0, 2}};
static const evalci_shape wanted = {2, 2, false, {"tp", "fn"}, {0, 1}};

#define NAMES(name) name, name "_counts"

static const evalci_method methods[] = {
    {NAMES("bayes_ci"), &evalci_k_n, 3, ev_bayes, NULL},
    {NAMES("hdi_ci"), &evalci_k_n, 3, ev_hdi, NULL},
    {NAMES("wilson_ci"), &evalci_k_n, 1, ev_wilson, NULL},
    {NAMES("cp_ci"), &evalci_k_n, 1, ev_cp, NULL},
    {NAMES("clt_ci"), &evalci_k_n, 1, ev_clt, NULL},

    {NAMES("prob_better"), &unpaired, 0, NULL, ev_prob_better},
    {NAMES("diff_ci"), &unpaired, 1, ev_diff, NULL},
    {NAMES("odds_ratio_ci"), &unpaired, 1, ev_odds_ratio, NULL},
    {NAMES("fisher_or_ci"), &unpaired, 1, ev_fisher_or, NULL},
    {NAMES("diff_clt_ci"), &unpaired, 1, ev_diff_clt, NULL},

    {NAMES("paired_prob_better"), &paired, 0, NULL, ev_paired_prob_better},
    {NAMES("paired_diff_ci"), &paired, 1, ev_paired_diff, NULL},
    {NAMES("paired_diff_clt_ci"), &paired, 1, ev_paired_diff_clt, NULL},

    {NAMES("f1_ci"), &confusion, 1, ev_f1, NULL},
    {NAMES("precision_ci"), &found, 1, ev_precision, NULL},
    {NAMES("recall_ci"), &wanted, 1, ev_recall, NULL},
};

typedef struct tally {
  sqlite3_int64 cells[4];
  sqlite3_int64 rows; /* in the group or frame, NULL results included */
  ev_options options; /* as the first of those rows had them */
} tally;

static const evalci_method *method_of(sqlite3_context *context) {
  return sqlite3_user_data(context);
}

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

static bool check_options(const evalci_method *f, evalci_call *call, int argc, sqlite3_value **argv,
                          tally *t) {
  int columns = f->shape->columns;
  if (evalci_same_options(call, argc - columns, argv + columns, t->rows == 0, &t->options))
    return true;
  if (!looks_like_counts(f->shape, argc, argv)) return false;
  sqlite3_free(call->message);
  return evalci_fail(call,
                     "level must be strictly between 0 and 1, got %s; "
                     "for counts use %s(%s, %s)",
                     evalci_show(argv[1]).text, f->counts_name, evalci_show(argv[0]).text,
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
  const evalci_method *f = method_of(context);
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
  const evalci_shape *shape = method_of(context)->shape;
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
  const evalci_method *f = method_of(context);
  if (!any_data(f->shape, counts)) return;
  if (f->model)
    evalci_result_interval(context, f->model(counts, options));
  else
    sqlite3_result_double(context, f->probability(counts));
}

/* What both the current frame and the whole group are answered with. */
static void value(sqlite3_context *context) {
  const evalci_shape *shape = method_of(context)->shape;
  const tally *t = sqlite3_aggregate_context(context, 0);
  double counts[4];
  if (!t) return;
  for (int i = 0; i < shape->size; i++)
    counts[i] = (double)t->cells[shape->pairs ? i : shape->cells[i]];
  answer(context, counts, &t->options);
}

static void over_counts(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const evalci_method *f = method_of(context);
  evalci_call call = {f->counts_name, NULL};
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

int evalci_register_methods(sqlite3 *db) {
  int rc = SQLITE_OK;
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    const evalci_method *f = &methods[i];
    int flags = EVALCI_FLAGS | (f->model ? SQLITE_RESULT_SUBTYPE : 0);
    /* A prior takes both its shapes, so two options are never given. */
    for (int options = 0; options <= f->options && rc == SQLITE_OK; options += 1 + (options == 1)) {
      rc = sqlite3_create_window_function(db, f->name, f->shape->columns + options, flags,
                                          (void *)f, step, value, value, inverse, NULL);
      if (rc == SQLITE_OK)
        rc = sqlite3_create_function_v2(db, f->counts_name, f->shape->size + options, flags,
                                        (void *)f, over_counts, NULL, NULL, NULL);
    }
  }
  return rc;
}
