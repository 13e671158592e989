/*
** Private to ext/sqlite: table-valued functions.
**
** A descriptor says what a function is called, which columns it gives and how its
** rows are computed; table.c makes an eponymous virtual table of it.
*/
#ifndef EVALCI_TABLE_H
#define EVALCI_TABLE_H

#include "surface.h"

enum { EVALCI_TABLE_ARGUMENTS = 3, EVALCI_TABLE_COLUMNS = 3 };

/* One cell of a row: text, or a number, or NULL where that is NAN. */
typedef struct evalci_cell {
  const char *text; /* static */
  double number;
} evalci_cell;

typedef struct evalci_table {
  const char *name;
  /* The columns and then, hidden, the arguments.  The hidden columns do not have the names used
  ** in the documentation: in f(k, n) the arguments would otherwise refer to the function's own
  ** columns instead of the caller's. */
  const char *schema;
  int columns, arguments, required, rows;
  const char *usage; /* the message for a call without arguments */
  size_t size;       /* size of what read() stores for row() */
  /* Reads the arguments, none of which is NULL; false after leaving a message. */
  bool (*read)(evalci_call *call, int argc, sqlite3_value **argv, void *data);
  /* Fills one row; `data` is NULL if an argument is NULL.  Cells are NULL at first. */
  ev_status (*row)(const void *data, int row, evalci_cell *cells);
} evalci_table;

int evalci_register_table(sqlite3 *db, const evalci_table *table);

/* ci_methods.c: ci_methods(k, n [, level]) */
extern const evalci_table evalci_ci_methods;

#endif
