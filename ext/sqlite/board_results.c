/*
** What the tables of the board have in common: cells, and the order of rows.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boards.h"
#include "svg.h"

void evalci_result_name(sqlite3_context *context, board_name name) {
  sqlite3_int64 i;
  double x;
  switch (name.kind) {
  case BOARD_NULL:
    break;
  case BOARD_INTEGER:
    memcpy(&i, name.bytes, sizeof i);
    sqlite3_result_int64(context, i);
    break;
  case BOARD_REAL:
    memcpy(&x, name.bytes, sizeof x);
    sqlite3_result_double(context, x);
    break;
  case BOARD_TEXT:
    sqlite3_result_text(context, name.bytes, (int)name.size, SQLITE_TRANSIENT);
    break;
  case BOARD_BLOB:
    sqlite3_result_blob(context, name.bytes, (int)name.size, SQLITE_TRANSIENT);
  }
}

char *evalci_board_label(board_name name) {
  if (name.kind == BOARD_INTEGER) {
    sqlite3_int64 i;
    memcpy(&i, name.bytes, sizeof i);
    return sqlite3_mprintf("%lld", i);
  }
  if (name.kind == BOARD_REAL) {
    char text[EVALCI_NUMBER_SIZE];
    double x;
    memcpy(&x, name.bytes, sizeof x);
    return sqlite3_mprintf("%.*s", evalci_write_number(x, text), text);
  }
  if (name.kind == BOARD_NULL || name.size == 0) return sqlite3_mprintf("(no name)");
  return evalci_clean(name.bytes, name.size);
}

char *evalci_rank_note(const board *b, const board_joint *joint) {
  switch (joint->kind) {
  case BOARD_ALIKE:
    return sqlite3_mprintf("no two models share a question: their questions are taken to be alike");
  case BOARD_MANY:
    return sqlite3_mprintf("%d models, more than 1000", (int)board_models(b));
  case BOARD_CUT: {
    char *x = evalci_board_label(board_model_name(b, joint->apart[0]));
    char *y = evalci_board_label(board_model_name(b, joint->apart[1]));
    char *note = x && y ? sqlite3_mprintf("no shared questions join %s and %s", x, y) : NULL;
    sqlite3_free(x);
    sqlite3_free(y);
    return note;
  }
  default:
    return NULL;
  }
}

void evalci_result_number(sqlite3_context *context, double x) {
  if (!isnan(x)) sqlite3_result_double(context, x);
}

void evalci_result_count(sqlite3_context *context, double x) {
  if (!isnan(x)) sqlite3_result_int64(context, (sqlite3_int64)x);
}

/* Whether the query reads a column; beyond 62 columns it may. */
static bool is_used(const sqlite3_index_info *info, int column) {
  return info->colUsed & (sqlite3_uint64)1 << (column < 63 ? column : 63);
}

/* SQLite compares a plan for the query with one plan for each side of an OR, and runs the cheapest.
** A plan that lacks an argument reads another table than the query names, so it must cost more than
** the plans for many sides together. */
int evalci_plan_arguments(sqlite3_index_info *info, int first, int count, double cost) {
  enum { MOST_ARGUMENTS = 8 };
  static const double without_source = 1e2, without_another = 1e5;
  int constraint[MOST_ARGUMENTS] = {0}; /* 1 + the constraint that gives the argument */
  unsigned withheld = 0;
  for (int i = 0; i < info->nConstraint; i++) {
    int argument = info->aConstraint[i].iColumn - first;
    if (argument < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (info->aConstraint[i].usable)
      constraint[argument] = i + 1;
    else
      withheld |= 1u << argument;
  }
  info->estimatedCost = cost;
  for (int i = 0, place = 0; i < count; i++) {
    if (!constraint[i] && withheld & 1u << i) return SQLITE_CONSTRAINT;
    if (!constraint[i] && is_used(info, first + i))
      info->estimatedCost *= i == 0 ? without_source : without_another;
    if (!constraint[i]) continue;
    info->idxNum |= 1 << i;
    info->aConstraintUsage[constraint[i] - 1].argvIndex = ++place;
    info->aConstraintUsage[constraint[i] - 1].omit = 1;
  }
  return SQLITE_OK;
}

void evalci_result_words(sqlite3_context *context, const char *words) {
  if (words) sqlite3_result_text(context, words, -1, SQLITE_TRANSIENT);
}

void evalci_result_ci(sqlite3_context *context, const char *name, ev_status status, ev_interval ci,
                      evalci_ci_part part, double point) {
  if (!evalci_check_status(context, name, status) || isnan(ci.lo)) return;
  switch (part) {
  case EVALCI_CI:
    evalci_result_interval(context, name, status, ci);
    break;
  case EVALCI_CI_LO:
    sqlite3_result_double(context, ci.lo);
    break;
  case EVALCI_CI_HI:
    sqlite3_result_double(context, ci.hi);
    break;
  case EVALCI_CI_BELOW:
    sqlite3_result_double(context, fmax(0, point - ci.lo));
    break;
  case EVALCI_CI_ABOVE:
    sqlite3_result_double(context, fmax(0, ci.hi - point));
    break;
  case EVALCI_CI_BAR:
    evalci_result_bar(context, ci, point);
  }
}

static int by_place(const void *a, const void *b) {
  const evalci_sorted_row *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (isnan(x->accuracy) != isnan(y->accuracy)) return isnan(x->accuracy) ? 1 : -1;
  if (x->accuracy > y->accuracy || x->accuracy < y->accuracy)
    return x->accuracy > y->accuracy ? -1 : 1;
  return (x->next > y->next) - (x->next < y->next);
}

void evalci_sort_rows(evalci_sorted_row *rows, size_t count) {
  qsort(rows, count, sizeof *rows, by_place);
}

sqlite3_int64 evalci_call_rowid(sqlite3_value *const *given, int count, sqlite3_int64 at) {
  sqlite3_uint64 h = evalci_hash_bytes(EVALCI_HASH, &at, sizeof at);
  for (int i = 0; i < count; i++) {
    const char *text = given[i] ? (const char *)sqlite3_value_text(given[i]) : NULL;
    h = evalci_hash_bytes(h, text ? text : "", text ? strlen(text) + 1 : 0);
  }
  return (sqlite3_int64)(h >> 1);
}

int evalci_code_of(evalci_call *call, ev_status status) {
  if (status == EV_OK) return SQLITE_OK;
  if (status == EV_INTERRUPTED) return SQLITE_INTERRUPT;
  if (status == EV_NO_MEMORY) return SQLITE_NOMEM;
  evalci_fail(call, "the computation did not converge on these data; please report them");
  return SQLITE_ERROR;
}
