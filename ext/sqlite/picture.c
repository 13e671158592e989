/*
** The aggregates that draw: forest_svg(label, point, ci) and
** heatmap_svg(row, col, value).  Rows are kept in the order they come, and those
** that leave a window's frame are the oldest.
*/
#include <math.h>

#include "svg.h"

static bool read_forest(evalci_call *call, sqlite3_value **argv, double *numbers) {
  ev_interval ci = {NAN, NAN};
  numbers[0] = NAN;
  if (sqlite3_value_type(argv[0]) != SQLITE_NULL && !evalci_read_point(call, argv[0], &numbers[0]))
    return false;
  if (sqlite3_value_type(argv[1]) != SQLITE_NULL && !evalci_read_interval(call, argv[1], &ci))
    return false;
  numbers[1] = ci.lo;
  numbers[2] = ci.hi;
  return true;
}

static bool read_heatmap(evalci_call *call, sqlite3_value **argv, double *numbers) {
  numbers[0] = NAN;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return true;
  if (evalci_read_number(argv[0], &numbers[0]) && numbers[0] >= 0 && numbers[0] <= 1) return true;
  return evalci_fail(call,
                     "value must be a probability from 0 to 1, got %s; "
                     "pass what prob_better() or avg() gives",
                     evalci_show(argv[0]).text);
}

const evalci_picture evalci_forest = {1, 1000, "draw fewer, with LIMIT in a subquery", read_forest,
                                      evalci_draw_forest};
const evalci_picture evalci_heatmap = {2, 40000, "draw fewer, with WHERE", read_heatmap,
                                       evalci_draw_heatmap};

typedef struct album {
  int first, end, room; /* marks first to end are in the frame */
  bool failed;
  evalci_mark *marks;
} album;

static void free_mark(evalci_mark *mark) {
  for (int i = 0; i < 2; i++) sqlite3_free(mark->labels[i]);
  *mark = (evalci_mark){{NULL, NULL}, {0}, {0}};
}

/* A place for one more: marks that have left make room before more is taken. */
static evalci_mark *next_mark(album *a) {
  if (a->end == a->room && a->first > a->room / 2) {
    for (int i = a->first; i < a->end; i++) a->marks[i - a->first] = a->marks[i];
    a->end -= a->first;
    a->first = 0;
  }
  if (a->end == a->room) {
    int room = a->room ? 2 * a->room : 16;
    evalci_mark *more = sqlite3_realloc64(a->marks, (sqlite3_uint64)room * sizeof *more);
    if (!more) return NULL;
    a->marks = more;
    a->room = room;
  }
  return &a->marks[a->end];
}

static bool add(const evalci_picture *p, evalci_call *call, album *a, sqlite3_value **argv) {
  evalci_mark mark = {{NULL, NULL}, {0}, {0}};
  if (a->end - a->first == p->most)
    return evalci_fail(call, "at most %d rows can be drawn; %s", p->most, p->instead);
  if (!p->read(call, argv + p->labels, mark.numbers)) return false;
  evalci_mark *place = next_mark(a);
  bool done = place != NULL;
  for (int i = 0; i < p->labels && done; i++) {
    mark.values[i] = evalci_hash(argv[i]);
    done = (mark.labels[i] = evalci_label(argv[i])) != NULL;
  }
  if (done) {
    *place = mark;
    a->end++;
  } else {
    free_mark(&mark);
  }
  return done;
}

static void step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  const evalci_picture *p = evalci_function_of(context)->picture;
  album *a = sqlite3_aggregate_context(context, sizeof *a);
  evalci_call call = evalci_call_of(context);
  if (a && add(p, &call, a, argv)) return;
  if (a) a->failed = true;
  evalci_report(context, &call);
}

static void inverse(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  album *a = sqlite3_aggregate_context(context, sizeof *a);
  if (a && a->first < a->end) free_mark(&a->marks[a->first++]);
}

static void value(sqlite3_context *context) {
  const evalci_picture *p = evalci_function_of(context)->picture;
  const album *a = sqlite3_aggregate_context(context, 0);
  evalci_call call = evalci_call_of(context);
  if (!a || a->failed || a->first == a->end) return;
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(context));
  bool drawn = p->draw(&call, a->marks + a->first, a->end - a->first, out);
  int error = sqlite3_str_errcode(out), size = sqlite3_str_length(out);
  char *text = sqlite3_str_finish(out);
  if (drawn && error == SQLITE_OK) {
    sqlite3_result_text(context, text, size, sqlite3_free);
    return;
  }
  sqlite3_free(text);
  if (!drawn)
    evalci_report(context, &call);
  else
    sqlite3_result_error_code(context, error);
}

static void final(sqlite3_context *context) {
  album *a = sqlite3_aggregate_context(context, 0);
  if (!a) return;
  value(context);
  for (int i = a->first; i < a->end; i++) free_mark(&a->marks[i]);
  sqlite3_free(a->marks);
}

const evalci_kind evalci_over_marks = {
    .step = step, .final = final, .value = value, .inverse = inverse};
