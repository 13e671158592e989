/*
** A table-valued function that hands a test's own rows to SQL, without binding or parsing; one
** prepared statement serves any number of rows.
*/
#ifndef INPUT_H
#define INPUT_H

#include <sqlite3.h>

#include "catalogue.h"

/* Arguments, and two columns to group and to order by. */
enum { INPUT_WIDTH = CATALOGUE_ARITY + 2, INPUT_BYTES = 48 };

typedef struct cell {
  int type;
  sqlite3_int64 integer;
  double real;
  unsigned char bytes[INPUT_BYTES];
  int size, zeros; /* zeros follow the bytes of a blob */
} cell;

typedef struct input_table {
  cell (*rows)[INPUT_WIDTH];
  const long *times; /* how often each row occurs; NULL means once */
  int first, end;    /* the rows that SQL sees */
} input_table;

typedef struct input_vtab {
  sqlite3_vtab base;
  const input_table *table;
} input_vtab;

typedef struct input_cursor {
  sqlite3_vtab_cursor base;
  const input_table *table;
  int row;
  long left; /* how often the row is still to come */
} input_cursor;

static inline void input_go(input_cursor *c, int row) {
  c->row = row;
  c->left = row < c->table->end && c->table->times ? c->table->times[row] : 1;
}

static inline int input_connect(sqlite3 *db, void *data, int argc, const char *const *argv,
                                sqlite3_vtab **out, char **error) {
  (void)argc, (void)argv, (void)error;
  input_vtab *v = sqlite3_malloc(sizeof *v);
  if (!v) return SQLITE_NOMEM;
  *v = (input_vtab){.table = data};
  *out = &v->base;
  return sqlite3_declare_vtab(
      db, "CREATE TABLE x(c0, c1, c2, c3, c4, c5, c6, c7, part, rank, at INTEGER)");
}

static inline int input_disconnect(sqlite3_vtab *table) {
  sqlite3_free(table);
  return SQLITE_OK;
}

static inline int input_best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
  (void)table;
  info->estimatedCost = 100;
  return SQLITE_OK;
}

static inline int input_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
  input_cursor *c = sqlite3_malloc(sizeof *c);
  if (!c) return SQLITE_NOMEM;
  *c = (input_cursor){.table = ((input_vtab *)vtab)->table};
  *out = &c->base;
  return SQLITE_OK;
}

static inline int input_close(sqlite3_vtab_cursor *base) {
  sqlite3_free(base);
  return SQLITE_OK;
}

static inline int input_filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
                               sqlite3_value **argv) {
  (void)number, (void)text, (void)argc, (void)argv;
  input_cursor *c = (input_cursor *)base;
  input_go(c, c->table->first);
  return SQLITE_OK;
}

static inline int input_next(sqlite3_vtab_cursor *base) {
  input_cursor *c = (input_cursor *)base;
  if (--c->left <= 0) input_go(c, c->row + 1);
  return SQLITE_OK;
}

static inline int input_eof(sqlite3_vtab_cursor *base) {
  const input_cursor *c = (input_cursor *)base;
  return c->row >= c->table->end;
}

static inline int input_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id) {
  *id = ((input_cursor *)base)->row;
  return SQLITE_OK;
}

static inline int input_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int which) {
  const input_cursor *cursor = (input_cursor *)base;
  if (which >= INPUT_WIDTH) {
    sqlite3_result_int(context, cursor->row);
    return SQLITE_OK;
  }
  const cell *c = &cursor->table->rows[cursor->row][which];
  switch (c->type) {
  case SQLITE_INTEGER:
    sqlite3_result_int64(context, c->integer);
    break;
  case SQLITE_FLOAT:
    sqlite3_result_double(context, c->real);
    break;
  case SQLITE_TEXT:
    sqlite3_result_text(context, (const char *)c->bytes, c->size, SQLITE_STATIC);
    break;
  case SQLITE_BLOB:
    if (c->zeros)
      sqlite3_result_zeroblob(context, c->zeros);
    else
      sqlite3_result_blob(context, c->bytes, c->size, SQLITE_STATIC);
  }
  return SQLITE_OK;
}

/* Registered with an input_table as its data. */
static const sqlite3_module input_module = {
    .xConnect = input_connect,
    .xBestIndex = input_best_index,
    .xDisconnect = input_disconnect,
    .xOpen = input_open,
    .xClose = input_close,
    .xFilter = input_filter,
    .xNext = input_next,
    .xEof = input_eof,
    .xColumn = input_column,
    .xRowid = input_rowid,
};

#endif
