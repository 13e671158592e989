/*
** Private to ext/sqlite: the rows of the table in evalci.c.
**
** Every row begins with the same head, which is all that registration and the
** messages about arity need.  What follows it is its family's, and a kind only
** ever runs rows of its own family: the macros in evalci.c see to that.
*/
#ifndef EVALCI_FUNCTION_H
#define EVALCI_FUNCTION_H

#include "../stats/clustered.h"
#include "surface.h"

typedef struct evalci_function evalci_function;

/* How SQLite runs a function: once a call; or a row at a time, the rows of a
** frame coming and going. */
typedef struct evalci_kind {
  /* The names of the arguments that a row of this kind must be given, NULL after
  ** the last. */
  const char *const *(*arguments)(const evalci_function *f);
  bool json; /* its result is marked as JSON */
  void (*scalar)(sqlite3_context *, int, sqlite3_value **);
  void (*step)(sqlite3_context *, int, sqlite3_value **);
  void (*final)(sqlite3_context *);
  void (*value)(sqlite3_context *);
  void (*inverse)(sqlite3_context *, int, sqlite3_value **);
} evalci_kind;

/* The head of every row; a function's user data in SQLite. */
struct evalci_function {
  const char *name;
  const evalci_kind *kind;
  unsigned options; /* that may follow its arguments: EVALCI_LEVEL and so on */
};

/* How many arguments come before its options. */
int evalci_arguments_of(const evalci_function *f);

/* How many arguments it takes, without the options that need not be given, with the
** first of them, with two and so on; -1 when there are no more. */
int evalci_arity_of(const evalci_function *f, int options_given);

/*
** tally.c: 0/1 rows to counts, or counts as given, to an interval or a
** probability.
*/

/* What the counts of a method are, and how rows become them. */
typedef struct evalci_layout {
  const char *columns[3];  /* of 0/1 results that the aggregate takes: one or two */
  const char *counts[5];   /* that its twin takes */
  bool separate_questions; /* the counts are k, n for each column; else cells of a 2 x 2 table */
  int cells[4]; /* which cell each is: 0 both, 1 only the first, 2 only the second, 3 none */
} evalci_layout;

/* What every method over counts has. */
typedef struct evalci_method {
  evalci_function function;
  const evalci_layout *layout;
} evalci_method;

typedef struct evalci_interval_method {
  evalci_method method;
  ev_model *model;
} evalci_interval_method;

typedef struct evalci_probability_method {
  evalci_method method;
  ev_probability *model;
} evalci_probability_method;

extern const evalci_kind evalci_interval_of_rows, evalci_interval_of_counts;
extern const evalci_kind evalci_probability_of_rows, evalci_probability_of_counts;

/*
** clustered.c: rows to clusters, or clusters as given, to an interval.
*/
typedef struct evalci_cluster_source evalci_cluster_source;
extern const evalci_cluster_source evalci_clustered_results, evalci_given_clusters;

typedef struct evalci_cluster_method {
  evalci_function function;
  const evalci_cluster_source *source;
  ev_cluster_model *model;
} evalci_cluster_method;

extern const evalci_kind evalci_interval_of_clusters;

/*
** reading.c: functions that read an interval, and are nothing but their kind.
*/
extern const evalci_kind evalci_lo, evalci_hi, evalci_width, evalci_text, evalci_bar;

/*
** picture.c: rows to an SVG document.
*/
typedef struct evalci_picture_function {
  evalci_function function;
  const struct evalci_picture *picture;
} evalci_picture_function;

extern const evalci_kind evalci_picture_of_rows;
extern const struct evalci_picture evalci_forest, evalci_heatmap;

/*
** arity.c: a wrong number of arguments (contract 8).
*/

/* A kind that has nothing but errors, for every arity a function does not take. */
const evalci_kind *evalci_wrong_arity_for(const evalci_kind *kind);

/* The function of a name; NULL if there is none. */
const evalci_function *evalci_function_named(const char *name);

#endif
