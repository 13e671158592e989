/*
** Results of other tools, read into a table of a database.
**
** The program (ext/cli) and the page (ext/page) call this; a format is a file of its own,
** formats.h says how one is made.  Files are read in pieces: memory does not grow with them.
*/
#ifndef EVALCI_IMPORT_H
#define EVALCI_IMPORT_H

#include <sqlite3.h>
#include <stdbool.h>

/* Columns of a table of the person's own: a CSV file, JSON records, a table of a database.
** They are called as in sql/schema.sql, or by the aliases of ext/sqlite/board_source.c. */
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

/* What the person chose; NULL where nothing was said. */
typedef struct import_choices {
  const char *from;                    /* the format's name; NULL: found by looking inside */
  const char *columns[IMPORT_COLUMNS]; /* by their names in the file */
  const char *table;                   /* of a database; results */
  const char *keep;                    /* columns to keep beside these, comma between them */
  const char *model_name, *task_name;  /* of all answers, whatever the files say */
  const char *scorer, *metric, *filter, *split; /* which, where a tool wrote several */
  const char *items;                            /* SWE-bench: a list of all questions */
  bool has_range;                               /* of scores that are not from 0 to 1 */
  double lo, hi;
  /* Now and then, with what was read so far; nonzero stops the import.  May be NULL. */
  int (*progress)(void *host, sqlite3_int64 rows, sqlite3_int64 files);
  void *host;
} import_choices;

/* What an import did.  A line for each file and model is in the table temp.import_told:
** path, format, model, task, metric, n, correct, mean, errored, note. */
typedef struct import_done {
  const char *table;  /* "results"; "counts" or "votes" where the files have no answers */
  const char *format; /* the name of the format, or "several" */
  sqlite3_int64 rows, models, tasks, questions; /* in the table now */
} import_done;

/* Reads files and folders ("-" is standard input) into the table of `db`, which is made if
** there is none: all of them or nothing.  NULL, or what was wrong, for sqlite3_free.  Without
** memory even for a message it is NULL too, and done->table is; what there is of it is then undone
** when the transaction is, or the database is closed. */
char *import_results(sqlite3 *db, const char *const *paths, int n, const import_choices *choices,
                     import_done *done);

/* Whether this SQLite counts its JSON functions among the harmless ones, which a database's views
** and indexes may call under trusted_schema=off; 3.38 to 3.40 do not.  There a schema has to be
** trusted, by a connection that has no function which does harm. */
bool import_has_safe_json(void);

/* The formats, in the order in which they are tried; NULL ends them. */
typedef struct import_format import_format;
const import_format *import_formats(int i, const char **name, const char **reads,
                                    const char **told_by, const char **becomes);

#endif
