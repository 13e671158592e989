/*
** An interval as text, [lo,hi], which is also JSON (contract 2); and back.
*/
#include <math.h>
#include <string.h>

#include "surface.h"

void evalci_result_interval(sqlite3_context *context, const char *name, ev_status status,
                            ev_interval ci) {
  char text[2 * EVALCI_NUMBER_SIZE + 3];
  if (status == EV_OK && (isnan(ci.lo) || isnan(ci.hi))) status = EV_NOT_CONVERGED;
  if (!evalci_check_status(context, name, status)) return;
  /* At a very low level the ends are one point, rounded twice. */
  if (ci.lo > ci.hi) ci = (ev_interval){ci.hi, ci.lo};
  int size = 0;
  text[size++] = '[';
  size += evalci_write_number(ci.lo, text + size);
  text[size++] = ',';
  size += evalci_write_number(ci.hi, text + size);
  text[size++] = ']';
  sqlite3_result_text(context, text, size, SQLITE_TRANSIENT);
  sqlite3_result_subtype(context, 'J');
}

const char *evalci_skip_space(const char *c) {
  while (*c == ' ' || *c == '\t' || *c == '\n' || *c == '\r') c++;
  return c;
}

static bool parse_interval(const char *c, ev_interval *ci) {
  c = evalci_skip_space(c);
  if (*c++ != '[') return false;
  if (!(c = evalci_parse_number(evalci_skip_space(c), &ci->lo))) return false;
  c = evalci_skip_space(c);
  if (*c++ != ',') return false;
  if (!(c = evalci_parse_number(evalci_skip_space(c), &ci->hi))) return false;
  c = evalci_skip_space(c);
  return *c++ == ']' && *evalci_skip_space(c) == 0 && ci->lo <= ci->hi;
}

bool evalci_read_interval(evalci_call *call, sqlite3_value *value, ev_interval *ci) {
  if (sqlite3_value_type(value) == SQLITE_TEXT) {
    const char *text = (const char *)sqlite3_value_text(value);
    if (!text) return false;
    if (strlen(text) == (size_t)sqlite3_value_bytes(value) && parse_interval(text, ci)) return true;
  }
  return evalci_fail(call,
                     "expected an interval like [0.7,0.97], got %s; "
                     "pass what a _ci function returned",
                     evalci_show(value).text);
}
