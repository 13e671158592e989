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

evalci_call evalci_call_of(sqlite3_context *context) {
  const evalci_function *f = sqlite3_user_data(context);
  return (evalci_call){f->name, NULL};
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

bool evalci_read_counts(evalci_call *call, sqlite3_value **argv, double counts[2]) {
  if (!read_count(call, "k", argv[0], &counts[0])) return false;
  if (!read_count(call, "n", argv[1], &counts[1])) return false;
  if (counts[0] <= counts[1]) return true;
  return evalci_fail(call, "k must be at most n, got k = %s and n = %s; k is how many of n",
                     evalci_show(argv[0]).text, evalci_show(argv[1]).text);
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
