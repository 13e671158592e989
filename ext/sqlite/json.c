/*
** JSON that is more than an interval: lists of objects.
*/
#include "surface.h"

void evalci_append_member(sqlite3_str *out, const char *name, double x) {
  char number[EVALCI_NUMBER_SIZE];
  number[evalci_write_number(x, number)] = 0;
  sqlite3_str_appendf(out, ",\"%s\":%s", name, number);
}

void evalci_result_json(sqlite3_context *context, sqlite3_str *out) {
  int error = sqlite3_str_errcode(out), size = sqlite3_str_length(out);
  char *text = sqlite3_str_finish(out);
  if (error != SQLITE_OK) {
    sqlite3_free(text);
    sqlite3_result_error_code(context, error);
    return;
  }
  sqlite3_result_text(context, text, size, sqlite3_free);
  sqlite3_result_subtype(context, 'J');
}
