/*
** The aggregates that draw: rows are kept as marks in the order they come, and handed to a
** picture (contract 23).  Rows leave a window's frame oldest first.
*/
#include <string.h>

#include "function.h"
#include "svg.h"

static const char *const *picture_arguments(const evalci_function *f) {
  return f->picture->arguments;
}

typedef struct picture_state {
  int first, end, room; /* marks first to end are in the frame */
  bool started, failed;
  evalci_mark *marks;
  evalci_drawing options; /* of the first row */
  evalci_kept_text given;
} picture_state;

static void free_mark(evalci_mark *mark) {
  for (int i = 0; i < 2; i++) sqlite3_free(mark->labels[i]);
  *mark = (evalci_mark){{NULL, NULL}, {0}, {0}};
}

/* Makes room for one more mark: by removing marks that have left the frame before allocating. */
static evalci_mark *next_mark(picture_state *a) {
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

static bool add_mark(const evalci_picture *p, evalci_call *call, picture_state *a,
                     sqlite3_value **argv) {
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

static bool start_picture(const evalci_picture *p, evalci_call *call, picture_state *a,
                          sqlite3_value *options) {
  a->started = true;
  if (!evalci_read_drawing(call, p->plain_options, options, &a->options)) return false;
  return evalci_keep_text(&a->given, options);
}

static void picture_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const evalci_function *f = sqlite3_user_data(context);
  const evalci_picture *p = f->picture;
  int arguments = evalci_arguments_of(f);
  sqlite3_value *options = argc > arguments ? argv[arguments] : NULL;
  picture_state *a = sqlite3_aggregate_context(context, sizeof *a);
  evalci_call call = evalci_call_of(context);
  if (a &&
      (a->started ? evalci_same_text(&call, &a->given, options)
                  : start_picture(p, &call, a, options)) &&
      add_mark(p, &call, a, argv))
    return;
  if (a) a->failed = true;
  evalci_report(context, &call);
}

static void picture_inverse(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  (void)argv;
  picture_state *a = sqlite3_aggregate_context(context, sizeof *a);
  if (a && a->first < a->end) free_mark(&a->marks[a->first++]);
}

static void picture_value(sqlite3_context *context) {
  const evalci_picture *p = ((const evalci_function *)sqlite3_user_data(context))->picture;
  const picture_state *a = sqlite3_aggregate_context(context, 0);
  evalci_call call = evalci_call_of(context);
  if (!a || a->failed || a->first == a->end) return;
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(context));
  bool drawn = p->draw(&call, &a->options, a->marks + a->first, a->end - a->first, out);
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

static void picture_final(sqlite3_context *context) {
  picture_state *a = sqlite3_aggregate_context(context, 0);
  if (!a) return;
  picture_value(context);
  for (int i = a->first; i < a->end; i++) free_mark(&a->marks[i]);
  sqlite3_free(a->marks);
  sqlite3_free(a->given.text);
  evalci_free_drawing(&a->options);
}

const evalci_kind evalci_picture_of_rows = {.arguments = picture_arguments,
                                            .step = picture_step,
                                            .final = picture_final,
                                            .value = picture_value,
                                            .inverse = picture_inverse};
