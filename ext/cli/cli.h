/*
** Shared by the files of the program evalci.
**
** main.c finds the verb, options.c reads the options, results.c opens the results, one file per
** verb queries them in SQL, and table.c prints the answer.  host.c has what depends on the system.
** There are no formulas here, and no text of the user becomes part of a statement: it is bound.
*/
#ifndef EVALCI_CLI_H
#define EVALCI_CLI_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../import/import.h"

/* Exit statuses; every verb but gate ends with 0 or CLI_ERROR. */
enum { CLI_OK, CLI_GATE_FAILS, CLI_GATE_UNSURE, CLI_ERROR };

/* The message for models that share no question. */
#define CLI_TASK_ADVICE                                                                            \
  "Where there is no column task, a file's name is its task: if the files "                        \
  "ask the same questions, add --task-name NAME."

/* The options, in the order in which help lists them. */
typedef enum cli_choice {
  CLI_OUTPUT,
  CLI_KEEP,
  CLI_BASELINE,
  CLI_CANDIDATE,
  CLI_MIN,
  CLI_MARGIN,
  CLI_SURE,
  CLI_A,
  CLI_B,
  CLI_TITLE,
  CLI_NOTE,
  CLI_WIDTH,
  CLI_ICC,
  CLI_COST_QUESTION,
  CLI_COST_ATTEMPT,
  CLI_DISAGREE,
  CLI_QUESTIONS,
  CLI_POWER,
  CLI_ANCHOR,
  CLI_SCALE,
  CLI_BASE,
  CLI_POSITION,
  CLI_LEVEL,
  CLI_BY,
  CLI_ERRORS,
  CLI_LO,
  CLI_HI,
  CLI_JSON,
  CLI_CSV,
  CLI_MARKDOWN,
  CLI_FROM,
  CLI_TABLE,
  CLI_MODEL, /* columns, in the order of import_column */
  CLI_TASK,
  CLI_ITEM,
  CLI_ATTEMPT,
  CLI_CORRECT,
  CLI_SCORE,
  CLI_FAILURE,
  CLI_COST,
  CLI_LATENCY,
  CLI_TOKENS,
  CLI_MODEL_A, /* columns of votes */
  CLI_MODEL_B,
  CLI_WINNER,
  CLI_MODEL_NAME,
  CLI_TASK_NAME,
  CLI_SCORER,
  CLI_METRIC,
  CLI_FILTER,
  CLI_SPLIT,
  CLI_ITEMS,
  CLI_QUIET,
  CLI_HELP,
  CLI_CHOICES
} cli_choice;

typedef struct cli cli;

typedef struct cli_verb {
  const char *name;
  const char *arguments; /* what follows the name in its usage line */
  const char *summary;   /* half a line */
  const char *const
      *help; /* paragraphs, wrapped when shown; a line that begins with "  " is printed as it is */
  int (*run)(cli *c);
} cli_verb;

struct cli {
  const cli_verb *verb;            /* NULL before it is known */
  const char *values[CLI_CHOICES]; /* NULL where not given; "" for a flag */
  const char **names;              /* arguments that are not options: files */
  int count;
};

/* main.c */
extern const cli_verb cli_verbs[]; /* verbs.c; the list ends with one that has no name */
const cli_verb *cli_verb_named(const char *name);

/* Prints an error after the name of the verb; returns CLI_ERROR. */
int cli_fail(const cli *c, const char *format, ...);
int cli_fail_memory(const cli *c);
int cli_fail_lines(const cli *c, char *lines); /* a message of several lines, which it splits */

/* Prints text on one line, without control characters. */
void cli_put_clean(FILE *to, const char *text);

/* As a shell reads it back, those characters as in $'\033' (bash, zsh, ksh, POSIX of 2024). */
void cli_put_shell_word(FILE *to, const char *word);

/* options.c */
typedef struct cli_option {
  const char *name;     /* without its dashes */
  const char *argument; /* NULL for a flag */
  const char *help;
  const char *verbs; /* the verbs that take it, with a space around each; NULL for all */
} cli_option;

extern const cli_option cli_options[CLI_CHOICES];
bool cli_takes(const cli_verb *verb, cli_choice choice);

/* Reads the arguments after the verb; false after printing an error. */
bool cli_read_options(cli *c, char **arguments);

/* The number that was given, checked against its range; `usual` if none was. */
bool cli_number(const cli *c, cli_choice choice, double usual, double *out);
bool cli_read_number(const char *text, double *out);

/* Whether the text is one of two words, or was not given. */
bool cli_one_of(const cli *c, cli_choice choice, const char *one, const char *other);

/* The nearest of `count` names, NULL where none is near. */
const char *cli_nearest(const char *name, const char *(*at)(int i), int count);

/* help.c */
void cli_help(FILE *to);
void cli_help_verb(FILE *to, const cli_verb *verb);
void cli_put_wrapped(FILE *to, const char *text, int indent, int columns);

/* host.c: the system.  Functions that return an int return 0 or an errno. */
void cli_start(void);
bool cli_is_terminal(FILE *stream);
bool cli_has_colour(FILE *stream);
int cli_columns(FILE *stream); /* of the terminal, 80 where there is none */
double cli_seconds(void);      /* since some fixed moment */
bool cli_exists(const char *path);
bool cli_is_folder(const char *path);
bool cli_is_file(const char *path); /* a regular file: not a pipe, not a device */
bool cli_same_file(const char *a, const char *b);
char *cli_resolve(const char *path); /* the path with links resolved; for sqlite3_free */
/* A new empty file, for sqlite3_free; removes those that killed programs left there. */
char *cli_beside(const char *target, int *error);
int cli_sync(const char *path);
int cli_place(const char *made, const char *target);   /* never replaces: EEXIST */
int cli_replace(const char *made, const char *target); /* replaces, with its permissions */
void cli_remove(const char *path);

/* guard.c.  Between these two calls a signal removes the unfinished file and ends the program.
** While a database is being written, a signal interrupts the transaction instead, and
** cli_end_guard() ends the program. */
void cli_begin_guard(const char *made, sqlite3 *db);
char *cli_guard_beside(const char *target, int *error); /* cli_beside(), guarded from the first */
bool cli_interrupted(void);
void cli_end_guard(void);

/* results.c */
typedef struct cli_results {
  sqlite3 *db;
  const char *source; /* the table */
  char *options;      /* the board's options, as JSON */
  char *path;         /* the path of a database that is read in place, else NULL */
  import_done done;   /* a summary of the import, if there was one */
} cli_results;

bool cli_is_database(const char *path); /* by its first bytes */
bool cli_check_choices(const cli *c);   /* errors that can be found without reading anything */
bool cli_open_results(const cli *c, const char *const *paths, int count, cli_results *out);
void cli_close_results(cli_results *r);

/* ask.c.  Prepares a statement whose ?1 and ?2 are the source and the options; NULL after
** printing an error. */
sqlite3_stmt *cli_ask(const cli *c, const cli_results *r, const char *sql);
int cli_fail_results(const cli *c, const cli_results *r);
void cli_add_count(sqlite3_str *to, const char *before, sqlite3_int64 n, const char *what);
void cli_add_done(sqlite3_str *to, const import_done *d); /* appends how much the table has */
void cli_put_lines(sqlite3_str *text);                    /* prints it, and frees it */
void cli_put_origin(const cli *c, const cli_results *r);  /* a line that says what was read */

/* Opens a database, or a temporary one if `path` is NULL, with evalci in it, that runs no code of
** its own; NULL after printing an error. */
sqlite3 *cli_connect(const cli *c, const char *path);
char *cli_import_files(const cli *c, sqlite3 *db, const char *const *paths, int count,
                       import_done *done);

/* table.c */
typedef struct cli_table cli_table;

/* Collects the rows of a statement, to be printed as aligned text that fits in `width` columns
** (0: any width).  A column whose name begins with ? is left out where it is empty; one that
** begins with ! is not shown, but can be read by the last two functions. */
cli_table *cli_collect(sqlite3_stmt *rows); /* NULL: see the connection's error */
bool cli_print_table(const cli_table *t, FILE *to, int columns); /* false without memory */
bool cli_print_markdown(const cli_table *t, FILE *to);
size_t cli_table_rows(const cli_table *t);
void cli_free_table(cli_table *t);

/* The first cell that is not shown and has this part, or NULL; and the first cell of a column, by
** its name. */
const char *cli_table_noted(const cli_table *t, const char *part);
const char *cli_table_first(const cli_table *t, const char *name);

/* forms.c */
bool cli_is_plain(const cli *c); /* neither JSON nor CSV */
int cli_stream_rows(
    const cli *c,
    sqlite3_stmt *rows); /* prints all rows in one of these forms; returns SQLite's code */
void cli_put_json(sqlite3_stmt *rows); /* the row as an object */

/* utf8.c */
size_t cli_character(const char *text, int *columns); /* bytes and columns of the first */
int cli_text_columns(const char *text);

/* The verbs. */
int cli_run_board(cli *c);
int cli_run_report(cli *c);
int cli_run_import(cli *c);
int cli_run_gate(cli *c);
int cli_run_plan(cli *c);
int cli_run_sql(cli *c);
int cli_run_formats(cli *c);
int cli_run_help(cli *c);

#endif
