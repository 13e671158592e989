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

#include "../stats/clustered.h"
#include "../stats/model.h"

#ifndef SQLITE_CORE
extern const sqlite3_api_routines *sqlite3_api;
#endif

/* What the counts of a method are, and how rows become them. */
typedef struct evalci_shape {
  int columns;          /* of 0/1 results that the aggregate takes: one or two */
  int size;             /* how many counts its scalar takes */
  bool pairs;           /* they are k, n for each column; else cells of a 2 x 2 table */
  const char *names[4]; /* of the counts */
  int cells[4]; /* which cell each is: 0 both, 1 only the first, 2 only the second, 3 none */
} evalci_shape;

/* How SQLite runs a function: once a call; or a row at a time, the rows of a
** frame coming and going. */
typedef struct evalci_kind {
  void (*scalar)(sqlite3_context *, int, sqlite3_value **);
  void (*step)(sqlite3_context *, int, sqlite3_value **);
  void (*final)(sqlite3_context *);
  void (*value)(sqlite3_context *);
  void (*inverse)(sqlite3_context *, int, sqlite3_value **);
} evalci_kind;

/* One SQL function: a row of the table in evalci.c, and its own user data. */
typedef struct evalci_function {
  const char *name;
  const evalci_kind *kind;
  int arguments, options;      /* how many it takes, and how many may follow */
  const evalci_shape *shape;   /* of the counts it takes or makes, unless it makes clusters */
  ev_model *model;             /* what such a method computes: an interval, */
  ev_probability *probability; /* or this */
  ev_cluster_model *clustered; /* what one over clusters computes */
  const struct evalci_picture *picture;
} evalci_function;

const evalci_function *evalci_function_of(sqlite3_context *context);

/*
** args.c: reading arguments.  A reader returns false after leaving a message
** in the call; whoever owns the call delivers it.
*/
typedef struct evalci_call {
  const char *name; /* of the SQL function, which opens every message */
  char *message;    /* sqlite3_malloc'ed; NULL after a failure means no memory */
} evalci_call;

/* The call of the function that runs. */
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

/* The point to mark in a drawing of an interval. */
bool evalci_read_point(evalci_call *call, sqlite3_value *value, double *point);

/* A whole number from least to most, both within an int; `name` names it in the
** message. */
bool evalci_read_whole(evalci_call *call, const char *name, sqlite3_value *value, double least,
                       double most, double *number);

/* The counts of a shape: whole numbers that add up to at most 2^53, each k at
** most its n. */
bool evalci_read_counts(evalci_call *call, const evalci_shape *shape, sqlite3_value **argv,
                        double *counts);

/* [level [, a, b]], each with its default when absent. */
bool evalci_read_options(evalci_call *call, int argc, sqlite3_value **argv, ev_options *options);

bool evalci_any_null(int argc, sqlite3_value **argv);

/* 0 or 1; EVALCI_NO_RESULT for NULL, EVALCI_BAD_RESULT for anything else. */
enum { EVALCI_NO_RESULT = -1, EVALCI_BAD_RESULT = -2 };
int evalci_read_result(sqlite3_value *value);
bool evalci_fail_result(evalci_call *call, sqlite3_value *value);

/* Options are the same on every row of a group: the first row's are kept, and
** every other's compared. */
bool evalci_same_options(evalci_call *call, int argc, sqlite3_value **argv, bool first,
                         ev_options *options);

/*
** tally.c: 0/1 rows to counts, or counts as given, to an interval or a
** probability.
*/
extern const evalci_shape evalci_k_n;
extern const evalci_kind evalci_over_rows, evalci_over_counts;

/*
** clustered.c: rows to clusters, or clusters as given, to an interval.
*/
extern const evalci_kind evalci_over_clusters;

/* SQLite 3.45; older hosts mask flags they do not know. */
#ifndef SQLITE_RESULT_SUBTYPE
#define SQLITE_RESULT_SUBTYPE 0x001000000
#endif

/* What every function is: the same answer to the same question, and harmless. */
#define EVALCI_FLAGS (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

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
** picture.c: rows to an SVG document.
*/
extern const evalci_kind evalci_over_marks;
extern const struct evalci_picture evalci_forest, evalci_heatmap;

/*
** ci_methods.c: the table-valued function ci_methods(k, n [, level]).
*/
int evalci_register_ci_methods(sqlite3 *db);

#endif
