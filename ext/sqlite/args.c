/*
** Reading arguments, and saying what is wrong with them: lower case, the
** function's name first, the value shown, the way out last.
*/
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "surface.h"

/* Every whole number up to here is a double: 2^53. */
static const double MOST = 9007199254740992.0;

const evalci_function *evalci_function_of(sqlite3_context *context) {
  return sqlite3_user_data(context);
}

evalci_call evalci_call_of(sqlite3_context *context) {
  return (evalci_call){evalci_function_of(context)->name, NULL};
}

bool evalci_fail(evalci_call *call, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *what = sqlite3_vmprintf(format, args);
  va_end(args);
  call->message = what ? sqlite3_mprintf("%s: %s", call->name, what) : NULL;
  sqlite3_free(what);
  return false;
}

void evalci_report(sqlite3_context *context, evalci_call *call) {
  if (call->message)
    sqlite3_result_error(context, call->message, -1);
  else
    sqlite3_result_error_nomem(context);
  sqlite3_free(call->message);
}

/* Quoted, one line, control characters as ?, and cut at a character's boundary
** when long. */
static void show_text(sqlite3_value *value, evalci_shown *shown) {
  const char *text = (const char *)sqlite3_value_text(value);
  int size = text ? sqlite3_value_bytes(value) : 0, keep = size <= 40 ? size : 40;
  while (keep < size && keep > 0 && (text[keep] & 0xC0) == 0x80) keep--;
  char *out = shown->text;
  *out++ = '\'';
  for (int i = 0; i < keep; i++) *out++ = (unsigned char)text[i] < ' ' ? '?' : text[i];
  strcpy(out, keep < size ? "...'" : "'");
}

evalci_shown evalci_show(sqlite3_value *value) {
  evalci_shown shown;
  switch (sqlite3_value_type(value)) {
  case SQLITE_INTEGER:
    sqlite3_snprintf(sizeof shown.text, shown.text, "%lld", sqlite3_value_int64(value));
    break;
  case SQLITE_FLOAT:
    shown.text[evalci_write_number(sqlite3_value_double(value), shown.text)] = 0;
    break;
  case SQLITE_TEXT:
    show_text(value, &shown);
    break;
  case SQLITE_BLOB:
    sqlite3_snprintf(sizeof shown.text, shown.text, "a blob of %d bytes",
                     sqlite3_value_bytes(value));
    break;
  default:
    sqlite3_snprintf(sizeof shown.text, shown.text, "NULL");
  }
  return shown;
}

bool evalci_read_number(sqlite3_value *value, double *number) {
  int type = sqlite3_value_numeric_type(value);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return false;
  *number = sqlite3_value_double(value);
  return true;
}

bool evalci_read_point(evalci_call *call, sqlite3_value *value, double *point) {
  if (evalci_read_number(value, point)) return true;
  return evalci_fail(call, "point must be a number, got %s; pass the mark to draw, as avg(correct)",
                     evalci_show(value).text);
}

/* Whole, and in the range.  An integer beyond 2^53 would round into it. */
static bool whole_within(sqlite3_value *value, double least, double most, double *number) {
  if (!evalci_read_number(value, number) || *number < least || *number > most) return false;
  if (sqlite3_value_type(value) == SQLITE_INTEGER)
    return sqlite3_value_int64(value) <= (sqlite3_int64)most;
  return *number == floor(*number);
}

bool evalci_read_whole(evalci_call *call, const char *name, sqlite3_value *value, double least,
                       double most, double *number) {
  if (whole_within(value, least, most, number)) return true;
  return evalci_fail(call, "%s must be a whole number from %d to %d, got %s", name, (int)least,
                     (int)most, evalci_show(value).text);
}

/* Rates and percentages are what people pass instead. */
static bool read_count(evalci_call *call, const char *name, sqlite3_value *value, double *count) {
  if (whole_within(value, 0, MOST, count)) return true;
  return evalci_fail(call,
                     "%s must be a whole number from 0 to 2^53, got %s; pass counts, not rates",
                     name, evalci_show(value).text);
}

bool evalci_read_counts(evalci_call *call, const evalci_shape *shape, sqlite3_value **argv,
                        double *counts) {
  double total = 0;
  for (int i = 0; i < shape->size; i++) {
    const char *name = shape->names[i];
    if (!read_count(call, name, argv[i], &counts[i])) return false;
    total += counts[i];
    if (!shape->pairs || i % 2 == 0 || counts[i - 1] <= counts[i]) continue;
    const char *below = shape->names[i - 1];
    return evalci_fail(call, "%s must be at most %s, got %s = %s and %s = %s; %s is how many of %s",
                       below, name, below, evalci_show(argv[i - 1]).text, name,
                       evalci_show(argv[i]).text, below, name);
  }
  if (shape->pairs || total <= MOST) return true;
  return evalci_fail(call,
                     "the counts must add up to at most 2^53, got %s and more; scale them down",
                     evalci_show(argv[0]).text);
}

static bool read_level(evalci_call *call, sqlite3_value *value, double *level) {
  bool number = evalci_read_number(value, level);
  if (number && *level > 0 && *level < 1) return true;
  evalci_shown shown = evalci_show(value);
  if (number && *level >= 50 && *level < 100)
    return evalci_fail(call, "level must be strictly between 0 and 1, got %s; did you mean %.12g?",
                       shown.text, *level / 100);
  return evalci_fail(call, "level must be strictly between 0 and 1, got %s; 0.95 is usual",
                     shown.text);
}

/* Below 1e-300 a shape could underflow beside the counts. */
static bool read_shape(evalci_call *call, const char *name, sqlite3_value *value, double *shape) {
  if (evalci_read_number(value, shape) && *shape >= 1e-300 && *shape <= MOST) return true;
  return evalci_fail(call,
                     "prior %s must be a positive number from 1e-300 to 2^53, got %s; "
                     "a = b = 1 is uniform, a = b = 0.5 is Jeffreys",
                     name, evalci_show(value).text);
}

bool evalci_read_options(evalci_call *call, int argc, sqlite3_value **argv, ev_options *options) {
  *options = (ev_options){.level = 0.95, .a = 1, .b = 1};
  if (argc > 0 && !read_level(call, argv[0], &options->level)) return false;
  if (argc > 1 && !read_shape(call, "a", argv[1], &options->a)) return false;
  if (argc > 2 && !read_shape(call, "b", argv[2], &options->b)) return false;
  return true;
}

bool evalci_any_null(int argc, sqlite3_value **argv) {
  for (int i = 0; i < argc; i++)
    if (sqlite3_value_type(argv[i]) == SQLITE_NULL) return true;
  return false;
}

int evalci_read_result(sqlite3_value *value) {
  int type = sqlite3_value_type(value);
  double y;
  if (type == SQLITE_INTEGER) {
    sqlite3_int64 i = sqlite3_value_int64(value);
    return i == 0 || i == 1 ? (int)i : EVALCI_BAD_RESULT;
  }
  if (type == SQLITE_NULL) return EVALCI_NO_RESULT;
  if (evalci_read_number(value, &y) && (y == 0 || y == 1)) return (int)y;
  return EVALCI_BAD_RESULT;
}

bool evalci_fail_result(evalci_call *call, sqlite3_value *value) {
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

bool evalci_same_options(evalci_call *call, int argc, sqlite3_value **argv, bool first,
                         ev_options *options) {
  static const char *const names[] = {"level", "prior a", "prior b"};
  /* The level again, as a constant is: nothing to check. */
  if (!first && argc == 1 && sqlite3_value_type(argv[0]) == SQLITE_FLOAT &&
      sqlite3_value_double(argv[0]) == options->level)
    return true;
  ev_options here;
  if (!evalci_read_options(call, argc, argv, &here)) return false;
  if (first) *options = here;
  int differs = here.level != options->level ? 0 : here.a != options->a ? 1 : 2;
  if (differs == 2 && here.b == options->b) return true;
  return evalci_fail(call,
                     "%s must be the same on every row of a group, got %s after another; "
                     "group by it, or pass a constant",
                     names[differs], evalci_show(argv[differs]).text);
}
