/*
** Private to ext/sqlite: the tables of the board, eval_leaderboard and the others.
**
** board_options.c and board_source.c say what to read, board_read.c reads it into a board
** of ext/board, board_share.c keeps it for the cursors of a statement, and board_table.c
** makes a table-valued function of a descriptor.  Each table has a file with its columns.
*/
#ifndef EVALCI_BOARDS_H
#define EVALCI_BOARDS_H

#include "../board/board.h"
#include "roles.h"
#include "surface.h"

/* board_options.c */
typedef struct evalci_board_options {
  board_settings settings;
  char *columns[EVALCI_ROLES];        /* as given, sqlite3_malloc'ed; NULL where not */
  char *title, *note, *date, *origin; /* likewise; of eval_report alone */
} evalci_board_options;

/* Reads the options; `value` is NULL where none are given.  False after leaving a message.  The
** caller frees what was read in either case. */
bool evalci_read_board_options(evalci_call *call, sqlite3_value *value, evalci_board_options *out);
void evalci_free_board_options(evalci_board_options *options);

/* board_source.c */

/* A table that is searched for columns. */
typedef struct evalci_found_table {
  evalci_call *call;
  sqlite3 *db;
  const char *name;   /* of the source, as given */
  char *const *given; /* the column that the options name for each role, or NULL */
  int roles;
  char *from;        /* the source's name, quoted */
  sqlite3_stmt *all; /* SELECT * FROM the source; NULL where that is not allowed */
} evalci_found_table;

/* A column's own name, its common names, NULL after the last, and one used where none of these is
** found. */
typedef struct evalci_column_names {
  const char *own;
  const char *const *aliases;
  const char *last;
} evalci_column_names;

/* Finds the table and fills in `from` and `all`, which evalci_end_search() frees; and a column,
** NULL if there is none.  Both return a SQLite code, with a message in the call unless memory is
** short. */
int evalci_find_table(evalci_found_table *s);
int evalci_find_column(const evalci_found_table *s, int role, const evalci_column_names *names,
                       const char **found);
int evalci_fail_missing(const evalci_found_table *s, const char *what, const char *key);
void evalci_end_search(evalci_found_table *s);

typedef struct evalci_source {
  sqlite3_stmt *rows;
  int columns[EVALCI_ROLES]; /* index in the result; -1 if there is no such column */
  bool counts;               /* rows have k and n, and no item */
} evalci_source;

/* Finds the table and its columns, including those of cost and latency if `costs`.  Returns a
** SQLite code, with a message in the call unless memory is short. */
int evalci_open_source(evalci_call *call, sqlite3 *db, const char *source,
                       const evalci_board_options *options, bool costs, evalci_source *out);

/* Finds the table, and prepares a statement that reads these columns of it; `keys` are their names
** in the options. */
int evalci_open_columns(evalci_call *call, sqlite3 *db, const char *source,
                        const char *const *columns, const char *const *keys, int count,
                        sqlite3_stmt **rows);

/* board_read.c */
int evalci_read_source(evalci_call *call, sqlite3 *db, const evalci_source *source, board *b);

/* The name of a model, from any value; its bytes are the value's, or in `room`. */
bool evalci_name_of_value(sqlite3_value *value, char room[8], board_name *name);

/* board_range.c: false after leaving a message, if a score is outside its task's range. */
bool evalci_check_range(evalci_call *call, const board *b);

/* board_share.c */
typedef struct evalci_boards evalci_boards; /* of a connection */

/* A board, and what it was read from. */
typedef struct evalci_shared_board {
  board *board;
  char *source, *options; /* as given; options may be NULL */
  bool costs;             /* cost and latency were read */
  int references;
  evalci_boards *among;
  struct evalci_shared_board *next;
} evalci_shared_board;

evalci_boards *evalci_boards_new(void);
evalci_boards *evalci_boards_retain(evalci_boards *boards); /* references */
void evalci_boards_release(evalci_boards *boards);

/* A source is read between these two calls, in which no value may be longer than
** EVALCI_LONGEST_VALUE; false after leaving a message, if too many sources are being read. */
bool evalci_begin_reading(evalci_call *call, evalci_boards *boards, sqlite3 *db,
                          const char *source);
void evalci_end_reading(evalci_boards *boards, sqlite3 *db);

/* Says why the last row of a source could not be read; returns the code. */
int evalci_fail_rows(evalci_call *call, sqlite3 *db, int rc);

/* The board of a source: the cursor's own, one that another cursor of the same statement holds,
** or a new one; with cost and latency if they are asked for. */
int evalci_hold_board(evalci_call *call, evalci_boards *boards, sqlite3 *db, const char *source,
                      sqlite3_value *options, bool costs, evalci_shared_board *own,
                      evalci_shared_board **out);

/* The same for tables that can also be computed from counts, which evalci_hold_board() refuses. */
int evalci_hold_counts(evalci_call *call, evalci_boards *boards, sqlite3 *db, const char *source,
                       sqlite3_value *options, bool costs, evalci_shared_board *own,
                       evalci_shared_board **out);

/* The board that was read last, if it is still held; for a cursor that replaces another. */
evalci_shared_board *evalci_hold_last(evalci_boards *boards);
void evalci_release(evalci_shared_board *held);

/* board_table.c */

/* What identifies a row: one model or two, a task, a question, a number of attempts; and its
** rank. */
typedef struct evalci_board_row {
  uint32_t model, other, task, question, attempts, rank;
} evalci_board_row;

typedef struct evalci_board_cursor {
  sqlite3_vtab_cursor base;
  evalci_shared_board *held;
  board *board; /* held->board */
  evalci_board_row *rows;
  size_t count, at;
  /* Results of the row, computed when first asked for; each table uses those it needs. */
  bool known, has_ci;
  ev_status status;
  board_standing standing;
  ev_interval ci;
  board_pair pair;
  board_pass pass;
  board_question question;
  board_noise_parts noise;
} evalci_board_cursor;

enum {
  EVALCI_PAIRED = 1, /* the first two columns are models, which WHERE may name */
  EVALCI_COUNTED = 2 /* the table can be computed from counts; every other table needs answers */
};

typedef struct evalci_board_table {
  const char *name;
  const char *const *columns; /* name and type of each, NULL after the last */
  int traits;                 /* EVALCI_PAIRED, EVALCI_COUNTED */
  int costs; /* index of the first column of cost or latency, which come last; 0 for none */
  /* Lists the rows; for pairs, only those with the models that are not NULL in these places. */
  ev_status (*list)(evalci_board_cursor *c, const size_t *const *models, ev_host host);
  void (*show)(evalci_board_cursor *c, sqlite3_context *context, int column);
} evalci_board_table;

int evalci_register_boards(sqlite3 *db);

/* board_compare.c: the pairs of models: each once, in the order of the leaderboard, the better
** placed one first; or, if WHERE names models, every pair of these in the places named.  For
** sqlite3_free(); false without memory, and then there is none. */
bool evalci_list_pairs(const board *b, const size_t *const *named, evalci_board_row **pairs,
                       size_t *count);

/* near.c: says that no model has this name, and which have one near it; returns false. */
bool evalci_fail_model(evalci_call *call, const char *source, const board *b, sqlite3_value *value);

/* board_gate.c */
int evalci_register_gate(sqlite3 *db, evalci_boards *boards);

/* The source's name, the usual one where `value` is NULL or none; false after leaving a message. */
bool evalci_read_source_name(evalci_call *call, sqlite3_value *value, const char *usual,
                             const char **name);

/* board_votes.c */
int evalci_register_votes(sqlite3 *db, evalci_boards *boards);

/* The SQLite code of a status, with a message in the call unless the code says everything. */
int evalci_code_of(evalci_call *call, ev_status status);

/* board_judge.c */
int evalci_register_judge(sqlite3 *db, evalci_boards *boards);

/* board_report.c */
int evalci_register_report(sqlite3 *db, evalci_boards *boards);

/* The text of a name, for people; NULL without memory. */
char *evalci_board_label(board_name name);

/* What is to be known of the ranks, or why there are none; NULL for nothing, or without memory. */
char *evalci_rank_note(const board *b, const board_joint *joint);

/* Makes room for this number of rows. */
bool evalci_room_for_rows(evalci_board_cursor *c, size_t rows);

/* Delivers the result of a column; NAN is delivered as NULL. */
void evalci_result_name(sqlite3_context *context, board_name name);
void evalci_result_number(sqlite3_context *context, double x);
void evalci_result_count(sqlite3_context *context, double x);
void evalci_result_words(sqlite3_context *context, const char *words);

/* Delivers part of an interval: its text, one end, or the distance from a point to an end. */
typedef enum evalci_ci_part {
  EVALCI_CI,
  EVALCI_CI_LO,
  EVALCI_CI_HI,
  EVALCI_CI_BELOW,
  EVALCI_CI_ABOVE,
  EVALCI_CI_BAR
} evalci_ci_part;
void evalci_result_ci(sqlite3_context *context, const char *name, ev_status status, ev_interval ci,
                      evalci_ci_part part, double point);

/* Plans a table whose arguments are `count` hidden columns from `first` on, the source being the
** first of them: passes those that are given to xFilter in their order, and sets a bit of idxNum
** for each.  A plan that would have to do without one that the query gives is a SQLITE_CONSTRAINT.
** `cost` is that of a plan with all arguments that the query reads. */
int evalci_plan_arguments(sqlite3_index_info *info, int first, int count, double cost);

/* SQLite joins the two sides of an OR by rowid, so rows of different calls must have different
** rowids: a hash of the arguments, as given or NULL, and of the row's place. */
sqlite3_int64 evalci_call_rowid(sqlite3_value *const *given, int count, sqlite3_int64 at);

/* Sorts rows by `key`, then by `accuracy` (the best first, NAN last), then by `next`.  False
** without memory. */
typedef struct evalci_sorted_row {
  evalci_board_row row;
  double accuracy;
  size_t key, next;
} evalci_sorted_row;
void evalci_sort_rows(evalci_sorted_row *rows, size_t count);

extern const evalci_board_table evalci_leaderboard_table, evalci_compare_table;
extern const evalci_board_table evalci_tasks_table, evalci_common_table, evalci_passes_table;
extern const evalci_board_table evalci_slices_table, evalci_questions_table, evalci_noise_table;

#endif
