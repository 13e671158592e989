/*
** Private to ext/sqlite: what the files of the SQL surface share.
**
** Data flows one way: rows -> counts -> model (ext/stats) -> interval -> text.
** No file here contains a formula.
*/
#ifndef EVALCI_SURFACE_H
#define EVALCI_SURFACE_H

#include <stdbool.h>
#include <stddef.h>

#include <sqlite3ext.h>

#include "../stats/proportion.h"

#ifndef SQLITE_CORE
extern const sqlite3_api_routines *sqlite3_api;
#endif

/* One row of the registration table, and the user data of its function. */
typedef struct evalci_function {
  const char *name;
  unsigned arities; /* bit i is set when it takes i arguments */
  int flags;        /* SQLITE_RESULT_SUBTYPE for what returns an interval */
  void (*scalar)(sqlite3_context *, int, sqlite3_value **); /* or NULL for an aggregate */
  ev_model *model;                                          /* or NULL when it needs none */
} evalci_function;

/*
** args.c: reading arguments.  A reader returns false after leaving a message
** in the call; whoever owns the call delivers it.
*/
typedef struct evalci_call {
  const char *name; /* of the SQL function, which opens every message */
  char *message;    /* sqlite3_malloc'ed; NULL after a failure means no memory */
} evalci_call;

evalci_call evalci_call_of(sqlite3_context *context);
bool evalci_fail(evalci_call *call, const char *format, ...);
void evalci_report(sqlite3_context *context, evalci_call *call);

/* A value as an error message shows it, on the stack. */
typedef struct evalci_shown {
  char text[80];
} evalci_shown;
evalci_shown evalci_show(sqlite3_value *value);

/* Text that is wholly a number counts as one, because .import and web forms
** make text of everything. */
bool evalci_read_number(sqlite3_value *value, double *number);

/* A whole number from least to most, both within an int; `name` names it in the
** message. */
bool evalci_read_whole(evalci_call *call, const char *name, sqlite3_value *value, double least,
                       double most, double *number);

/* k, n with 0 <= k <= n <= 2^53. */
bool evalci_read_counts(evalci_call *call, sqlite3_value **argv, double counts[2]);

/* [level [, a, b]], each with its default when absent. */
bool evalci_read_options(evalci_call *call, int argc, sqlite3_value **argv, ev_options *options);

bool evalci_any_null(int argc, sqlite3_value **argv);

/*
** proportion.c: 0/1 rows to counts to an interval.
*/
void evalci_proportion_step(sqlite3_context *, int, sqlite3_value **);
void evalci_proportion_inverse(sqlite3_context *, int, sqlite3_value **);
void evalci_proportion_value(sqlite3_context *);
void evalci_proportion_counts(sqlite3_context *, int, sqlite3_value **);

/*
** interval.c: an interval as text, and back.
*/
enum { EVALCI_NUMBER_SIZE = 32 };

/* Writes the shortest decimal that reads back as the same double, as JSON;
** infinity as 9e999.  Returns its length. */
int evalci_write_number(double x, char text[EVALCI_NUMBER_SIZE]);

void evalci_result_interval(sqlite3_context *context, ev_interval ci);
bool evalci_read_interval(evalci_call *call, sqlite3_value *value, ev_interval *ci);
void evalci_lo(sqlite3_context *, int, sqlite3_value **);
void evalci_hi(sqlite3_context *, int, sqlite3_value **);
void evalci_width(sqlite3_context *, int, sqlite3_value **);

/*
** draw.c: an interval for people.
*/
void evalci_text(sqlite3_context *, int, sqlite3_value **);
void evalci_bar(sqlite3_context *, int, sqlite3_value **);

/*
** ci_methods.c: the table-valued function ci_methods(k, n [, level]).
*/
int evalci_register_ci_methods(sqlite3 *db);

#endif
