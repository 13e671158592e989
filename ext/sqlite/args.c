/*
** Reads arguments, and reports what is wrong with them: the function's name first, then what the
** value must be, the value, and what to do (contract 12).
*/
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "function.h"

/* 2^53: every whole number up to here is exact in a double. */
static const double MOST_COUNT = 0x1p53;

evalci_call evalci_call_of(sqlite3_context *context) {
  const evalci_function *f = sqlite3_user_data(context);
  return (evalci_call){f->name, NULL};
}

bool evalci_fail(evalci_call *call, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *what = sqlite3_vmprintf(format, args);
  va_end(args);
  sqlite3_free(call->message);
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
  call->message = NULL;
}

/* Quotes the value on one line, shows control characters as ?, and cuts long text at a character
** boundary. */
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

/* Whether the value is a whole number in the range.  An integer beyond 2^53 would be rounded
** into it. */
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

/* Contract 10.  The message covers the usual mistakes: rates and percentages. */
bool evalci_read_count(evalci_call *call, const char *name, sqlite3_value *value, double *count) {
  if (whole_within(value, 0, MOST_COUNT, count)) return true;
  return evalci_fail(call,
                     "%s must be a whole number from 0 to 2^53, got %s; pass counts, not rates",
                     name, evalci_show(value).text);
}

bool evalci_read_k_n(evalci_call *call, const char *const *names, sqlite3_value **argv,
                     double *counts) {
  const char *k = names[0], *n = names[1];
  if (!evalci_read_count(call, k, argv[0], &counts[0]) ||
      !evalci_read_count(call, n, argv[1], &counts[1]))
    return false;
  if (counts[0] <= counts[1]) return true;
  return evalci_fail(call, "%s must be at most %s, got %s = %s and %s = %s; %s is how many of %s",
                     k, n, k, evalci_show(argv[0]).text, n, evalci_show(argv[1]).text, k, n);
}

bool evalci_amount(sqlite3_value *value, double *amount) {
  if (!evalci_read_number(value, amount)) return false;
  *amount += 0.0; /* -0.0 is 0.0 */
  return *amount == 0 || (*amount >= 0x1p-500 && *amount <= 0x1p500);
}

bool evalci_read_amount(evalci_call *call, const char *name, sqlite3_value *value, double *amount) {
  if (evalci_amount(value, amount)) return true;
  bool small = evalci_read_number(value, amount) && *amount > 0 && *amount < 1;
  return evalci_fail(call, "%s must be %s, got %s; leave rows out with WHERE", name,
                     small ? "0 or at least 3e-151" : "a number from 0 to 3e150",
                     evalci_show(value).text);
}

bool evalci_any_null(int argc, sqlite3_value **argv) {
  for (int i = 0; i < argc; i++)
    if (sqlite3_value_type(argv[i]) == SQLITE_NULL) return true;
  return false;
}

/* Contract 4. */
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

bool evalci_fail_result(evalci_call *call, sqlite3_value *value, bool alone) {
  double y;
  bool number = evalci_read_number(value, &y);
  bool blank = sqlite3_value_type(value) == SQLITE_TEXT && sqlite3_value_bytes(value) == 0;
  const char *made = number ? "score >= 0.5" : blank ? "nullif(correct, '')" : "grade = 'correct'";
  return evalci_fail(call, "a result must be 0 or 1, got %s; turn %s first, as in %s%s%s%s",
                     evalci_show(value).text,
                     number  ? "a score into one"
                     : blank ? "a missing one into NULL"
                             : "it into one",
                     alone ? call->name : "", alone ? "(" : "", made, alone ? ")" : "");
}

/* The message covers the usual mistake: percentages or stars without the range. */
static bool fail_range(evalci_call *call, const char *what, sqlite3_value *value, double lo,
                       double hi) {
  return evalci_fail(call,
                     "%s must be a number from %.15g to %.15g, got %s; "
                     "give another range as the last arguments, lo and hi",
                     what, lo, hi, evalci_show(value).text);
}

bool evalci_read_score(evalci_call *call, sqlite3_value *value, const ev_options *options,
                       double *score) {
  if (evalci_read_number(value, score) && *score >= options->lo && *score <= options->hi)
    return true;
  return fail_range(call, "a score", value, options->lo, options->hi);
}

bool evalci_read_finite(evalci_call *call, const char *name, sqlite3_value *value, double *number) {
  bool finite = evalci_read_number(value, number) && isfinite(*number);
  if (finite && fabs(*number) <= 0x1p500) return true;
  return evalci_fail(call, "%s must be %s, got %s; leave rows out with WHERE", name,
                     finite ? "a number from -3e150 to 3e150" : "a finite number",
                     evalci_show(value).text);
}

bool evalci_read_any_score(evalci_call *call, sqlite3_value *value, double *score) {
  return evalci_read_finite(call, "a score", value, score);
}

bool evalci_read_difference(evalci_call *call, sqlite3_value *value, const ev_options *options,
                            double *difference) {
  if (!options) return evalci_read_finite(call, "a difference", value, difference);
  double most = options->hi - options->lo;
  if (evalci_read_number(value, difference) && fabs(*difference) <= most) return true;
  return fail_range(call, "a difference", value, -most, most);
}

bool evalci_read_score_difference(evalci_call *call, sqlite3_value **argv,
                                  const ev_options *options, bool *both, double *difference) {
  double scores[2] = {0, 0};
  *both = true;
  for (int i = 0; i < 2; i++) {
    if (sqlite3_value_type(argv[i]) == SQLITE_NULL)
      *both = false;
    else if (!(options ? evalci_read_score(call, argv[i], options, &scores[i])
                       : evalci_read_any_score(call, argv[i], &scores[i])))
      return false;
  }
  *difference = scores[0] - scores[1];
  return true;
}
