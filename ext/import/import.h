/*
** Reads results of other tools into a table of a database.
**
** Called by the program (ext/cli) and the page (ext/page).  Each format is a file of its own;
** formats.h says how one is made.  Files are read in pieces, so that memory does not grow with
** them.
*/
#ifndef EVALCI_IMPORT_H
#define EVALCI_IMPORT_H

#include <sqlite3.h>
#include <stdbool.h>

/* Columns of a table of the person's own: a CSV file, JSON records, or a table of a database.
** Their names are those of sql/schema.sql, or the aliases of ext/sqlite/roles.c. */
typedef enum import_column {
  IMPORT_MODEL,
  IMPORT_TASK,
  IMPORT_ITEM,
  IMPORT_ATTEMPT,
  IMPORT_CORRECT,
  IMPORT_SCORE,
  IMPORT_ERROR,
  IMPORT_COST,
  IMPORT_LATENCY,
  IMPORT_TOKENS,
  IMPORT_COLUMNS
} import_column;

/* The person's choices; NULL where nothing was chosen. */
typedef struct import_choices {
  const char *from;                    /* the format's name; NULL: found by looking into the file */
  const char *columns[IMPORT_COLUMNS]; /* columns by their names in the file */
  const char *of_votes[3];             /* the columns of votes: model_a, model_b, winner */
  const char *table;                   /* table of a database; results by default */
  const char *keep;                    /* further columns to keep, separated by commas */
  const char *model_name, *task_name;  /* for all answers, whatever the files say */
  const char *scorer, *metric, *filter, *split; /* which one to take, where a tool wrote several */
  const char *items;                            /* SWE-bench: a list of all questions */
  bool has_range;                               /* the range of scores that are not from 0 to 1 */
  double lo, hi;
  /* Called now and then with what was read so far; nonzero stops the import.  May be NULL. */
  int (*progress)(void *host, sqlite3_int64 rows, sqlite3_int64 files);
  void *host;
} import_choices;

/* The result of an import.  The table temp.import_summary has one row per file and model: path,
** format, model, task, metric, n, correct, mean, errored, note. */
typedef struct import_done {
  const char *table;  /* "results"; "counts" or "votes" if the files have no answers */
  const char *format; /* the name of the format, or "several" */
  sqlite3_int64 rows, models, tasks, questions; /* rows in the table now */
} import_done;

/* Reads files and folders ("-" is standard input) into the table of `db`, which is created if
** missing: all of them or none.  Returns NULL, or an error message for sqlite3_free().  Without
** memory even for a message it returns NULL with done->table NULL; the changes are then undone
** when the transaction is rolled back or the database closed. */
char *import_results(sqlite3 *db, const char *const *paths, int n, const import_choices *choices,
                     import_done *done);

/* Whether this SQLite counts its JSON functions as innocuous, so that a database's views and
** indexes may call them under trusted_schema=off; 3.38 to 3.40 do not.  There a schema has to be
** trusted, by a connection without any function that does harm. */
bool import_has_safe_json(void);

/* Opens a database to be read, calls `prepare` before anything of it is, and reads its schema.
** Returns a SQLite code; close *db in either case. */
int import_database_open(const char *path, int (*prepare)(sqlite3 *), sqlite3 **db);
/* Why that failed, or another reading; for sqlite3_free(). */
char *import_database_problem(const char *path, sqlite3 *db);
/* A path as a URI that means that file, whatever its name; for sqlite3_free(). */
char *import_database_uri(const char *path, const char *parameters);

/* The formats, in the order in which they are tried; NULL ends them. */
typedef struct import_format import_format;
const import_format *import_formats(int i, const char **name, const char **reads,
                                    const char **recognised_by, const char **becomes);

#endif
