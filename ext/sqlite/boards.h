/*
** Private to ext/sqlite: the tables of the board, eval_leaderboard and its like.
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

/* `value` is NULL where no options are given; false after leaving a message.  What was
** read is freed in either case. */
bool evalci_read_board_options(evalci_call *call, sqlite3_value *value, evalci_board_options *out);
void evalci_free_board_options(evalci_board_options *options);

/* board_source.c */
typedef struct evalci_source {
  sqlite3_stmt *rows;
  int columns[EVALCI_ROLES]; /* place in the result; -1 where there is none */
  bool counts;               /* rows have k and n, and no item */
} evalci_source;

/* Finds the table and its columns, those of `costs` too if they are asked for; a code of
** SQLite, with a message in the call unless memory is short. */
int evalci_open_source(evalci_call *call, sqlite3 *db, const char *source,
                       const evalci_board_options *options, bool costs, evalci_source *out);

/* board_read.c */
int evalci_read_source(evalci_call *call, sqlite3 *db, const evalci_source *source, board *b);

/* Any value as the name of a model; the bytes are the value's, or in `room`. */
bool evalci_name_of_value(sqlite3_value *value, char room[8], board_name *name);

/* board_share.c */
typedef struct evalci_boards evalci_boards; /* of a connection */

/* A board, and what it was read from. */
typedef struct evalci_held {
  board *board;
  char *source, *options; /* as given; options may be NULL */
  bool costs;             /* cost and latency were read */
  int references;
  evalci_boards *among;
  struct evalci_held *next;
} evalci_held;

evalci_boards *evalci_boards_new(void);
evalci_boards *evalci_boards_again(evalci_boards *boards); /* one reference more */
void evalci_boards_let_go(evalci_boards *boards);

/* The board of a source: a cursor's own, one that another cursor of the same statement
** has, or a new one; with cost and latency, if they are asked for. */
int evalci_hold_board(evalci_call *call, evalci_boards *boards, sqlite3 *db, const char *source,
                      sqlite3_value *options, bool costs, evalci_held *own, evalci_held **out);

/* Likewise, where counts will do, which evalci_hold_board() refuses. */
int evalci_hold_counts(evalci_call *call, evalci_boards *boards, sqlite3 *db, const char *source,
                       sqlite3_value *options, bool costs, evalci_held *own, evalci_held **out);

/* The board that was read last, if one is held; for a cursor that takes the place of another. */
evalci_held *evalci_hold_last(evalci_boards *boards);
void evalci_let_go(evalci_held *held);

/* board_table.c */

/* What a row is of: one model or two, a task, a question, a number of attempts; and its rank. */
typedef struct evalci_board_row {
  uint32_t model, other, task, question, attempts, rank;
} evalci_board_row;

typedef struct evalci_board_cursor {
  sqlite3_vtab_cursor base;
  evalci_held *held;
  board *board; /* held->board */
  evalci_board_row *rows;
  size_t count, at;
  /* What is known of the row, once it is asked for; the tables use what they need. */
  bool known, has_ci;
  ev_status status;
  board_standing standing;
  ev_interval ci;
  board_pair pair;
  board_pass pass;
  board_question question;
} evalci_board_cursor;

enum {
  EVALCI_PAIRED = 1, /* the first two columns are models, which WHERE may name */
  EVALCI_COUNTED = 2 /* counts suffice; any other table needs the answers */
};

typedef struct evalci_board_table {
  const char *name;
  const char *const *columns; /* name and type each, NULL after the last */
  int traits;                 /* EVALCI_PAIRED, EVALCI_COUNTED */
  int costs; /* the first of the columns that need cost or latency, which are last; 0 for none */
  /* Lists the rows; of pairs, those of the models that are not NULL. */
  ev_status (*list)(evalci_board_cursor *c, const size_t *const *models, ev_host host);
  void (*show)(evalci_board_cursor *c, sqlite3_context *context, int column);
} evalci_board_table;

int evalci_register_boards(sqlite3 *db);

/* board_gate.c */
int evalci_register_gate(sqlite3 *db, evalci_boards *boards);

/* The source's name, "results" where `value` is NULL or none; false after leaving a message. */
bool evalci_read_source_name(evalci_call *call, sqlite3_value *value, const char **name);

/* board_report.c */
int evalci_register_report(sqlite3 *db, evalci_boards *boards);

/* Makes room for so many rows. */
bool evalci_room_for_rows(evalci_board_cursor *c, size_t rows);

/* Results of a column; NAN is NULL. */
void evalci_result_name(sqlite3_context *context, board_name name);
void evalci_result_number(sqlite3_context *context, double x);
void evalci_result_count(sqlite3_context *context, double x);
void evalci_result_words(sqlite3_context *context, const char *words);

/* A part of an interval: as text, its ends, how far it reaches below and above a point. */
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

/* Sorts rows: `key` is the first place, `accuracy` the second, the best first and NAN
** last, `next` the third.  False without memory. */
typedef struct evalci_sorted_row {
  evalci_board_row row;
  double accuracy;
  size_t key, next;
} evalci_sorted_row;
void evalci_sort_rows(evalci_sorted_row *rows, size_t count);

extern const evalci_board_table evalci_leaderboard_table, evalci_compare_table;
extern const evalci_board_table evalci_tasks_table, evalci_common_table, evalci_passes_table;
extern const evalci_board_table evalci_slices_table, evalci_questions_table;

#endif
