/*
** The boards of a connection: each is read once for all cursors of a statement, and kept
** as long as one of them is open.  Nothing is kept from one statement to the next, because
** no counter of SQLite tells whether the rows changed.
*/
#include <string.h>

#include "boards.h"

/* How deep sources may read the board themselves: a limit, so that a source that reads itself
** ends. */
enum { MOST_DEPTH = 4 };

struct evalci_boards {
  int references;
  int depth;   /* number of nested sources being read */
  int longest; /* the host's limit of a value's length, while a source is being read */
  evalci_shared_board *first;
};

evalci_boards *evalci_boards_new(void) {
  evalci_boards *boards = sqlite3_malloc(sizeof *boards);
  if (boards) *boards = (evalci_boards){.references = 1};
  return boards;
}

evalci_boards *evalci_boards_retain(evalci_boards *boards) {
  boards->references++;
  return boards;
}

void evalci_boards_release(evalci_boards *boards) {
  if (boards && --boards->references == 0) sqlite3_free(boards);
}

void evalci_release(evalci_shared_board *held) {
  if (!held || --held->references > 0) return;
  for (evalci_shared_board **at = &held->among->first; *at; at = &(*at)->next)
    if (*at == held) {
      *at = held->next;
      break;
    }
  evalci_boards_release(held->among);
  board_free(held->board);
  sqlite3_free(held->source);
  sqlite3_free(held->options);
  sqlite3_free(held);
}

evalci_shared_board *evalci_hold_last(evalci_boards *boards) {
  if (boards->first) boards->first->references++;
  return boards->first;
}

/* Boards are held by open cursors alone, so by running statements.  If a single statement runs,
** apart from those that read its sources, the boards held are its own. */
static bool one_statement(const evalci_boards *boards, sqlite3 *db) {
  int busy = 0;
  for (sqlite3_stmt *s = NULL; (s = sqlite3_next_stmt(db, s));) busy += sqlite3_stmt_busy(s) != 0;
  return busy == 1 + boards->depth;
}

static bool is_of(const evalci_shared_board *held, const char *source, const char *options,
                  bool costs) {
  return held->costs >= costs && strcmp(held->source, source) == 0 && !held->options == !options &&
         (!options || strcmp(held->options, options) == 0);
}

static evalci_shared_board *find_held(const evalci_boards *boards, sqlite3 *db, const char *source,
                                      const char *options, bool costs) {
  for (evalci_shared_board *held = boards->first; held; held = held->next)
    if (is_of(held, source, options, costs)) return one_statement(boards, db) ? held : NULL;
  return NULL;
}

bool evalci_begin_reading(evalci_call *call, evalci_boards *boards, sqlite3 *db,
                          const char *source) {
  if (boards->depth == 0) {
    boards->longest = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
    if (boards->longest > EVALCI_LONGEST_VALUE)
      sqlite3_limit(db, SQLITE_LIMIT_LENGTH, EVALCI_LONGEST_VALUE);
  }
  if (boards->depth < MOST_DEPTH) return ++boards->depth;
  return evalci_fail(call,
                     "%s reads itself, or is a view over more than %d others that read a board",
                     source, MOST_DEPTH);
}

void evalci_end_reading(evalci_boards *boards, sqlite3 *db) {
  if (--boards->depth == 0) sqlite3_limit(db, SQLITE_LIMIT_LENGTH, boards->longest);
}

int evalci_fail_rows(evalci_call *call, sqlite3 *db, int rc) {
  if (rc == SQLITE_TOOBIG)
    evalci_fail(call, "a value has over %d bytes; leave such rows out with a view",
                EVALCI_LONGEST_VALUE);
  else if (rc != SQLITE_NOMEM && rc != SQLITE_INTERRUPT)
    evalci_fail(call, "%s", sqlite3_errmsg(db));
  return rc;
}

static int read_board(evalci_call *call, evalci_boards *boards, sqlite3 *db, const char *source,
                      sqlite3_value *given, bool costs, board **out) {
  evalci_board_options options = {0};
  evalci_source rows = {0};
  int rc = SQLITE_NOMEM;
  if (!evalci_read_board_options(call, given, &options)) {
    if (call->message) rc = SQLITE_ERROR;
  } else if (!evalci_begin_reading(call, boards, db, source)) {
    if (call->message) rc = SQLITE_ERROR;
  } else {
    rc = evalci_open_source(call, db, source, &options, costs, &rows);
    options.settings.numbered = rows.columns[EVALCI_ATTEMPT] >= 0;
    options.settings.counts = rows.counts;
    options.settings.costed = rows.columns[EVALCI_COST] >= 0;
    options.settings.timed = rows.columns[EVALCI_LATENCY] >= 0;
    if (rc == SQLITE_OK && !(*out = board_new(&options.settings))) rc = SQLITE_NOMEM;
    if (rc == SQLITE_OK) rc = evalci_read_source(call, db, &rows, *out);
    if (rc == SQLITE_OK && !evalci_check_range(call, *out))
      rc = call->message ? SQLITE_ERROR : SQLITE_NOMEM;
    sqlite3_finalize(rows.rows);
    evalci_end_reading(boards, db);
  }
  evalci_free_board_options(&options);
  return rc;
}

int evalci_hold_counts(evalci_call *call, evalci_boards *boards, sqlite3 *db, const char *source,
                       sqlite3_value *given, bool costs, evalci_shared_board *own,
                       evalci_shared_board **out) {
  const char *options = given ? (const char *)sqlite3_value_text(given) : NULL;
  if (given && !options) return SQLITE_NOMEM;
  evalci_shared_board *held = own && is_of(own, source, options, costs)
                                  ? own
                                  : find_held(boards, db, source, options, costs);
  *out = held;
  if (held) {
    held->references++;
    return SQLITE_OK;
  }
  held = sqlite3_malloc(sizeof *held);
  if (!held) return SQLITE_NOMEM;
  *held =
      (evalci_shared_board){.costs = costs, .references = 1, .among = evalci_boards_retain(boards)};
  held->source = sqlite3_mprintf("%s", source);
  held->options = options ? sqlite3_mprintf("%s", options) : NULL;
  int rc = SQLITE_NOMEM;
  if (held->source && !held->options == !options)
    rc = read_board(call, boards, db, source, given, costs, &held->board);
  if (rc != SQLITE_OK) {
    evalci_release(held);
    return rc;
  }
  held->next = boards->first;
  boards->first = held;
  *out = held;
  return SQLITE_OK;
}

int evalci_hold_board(evalci_call *call, evalci_boards *boards, sqlite3 *db, const char *source,
                      sqlite3_value *given, bool costs, evalci_shared_board *own,
                      evalci_shared_board **out) {
  int rc = evalci_hold_counts(call, boards, db, source, given, costs, own, out);
  if (rc != SQLITE_OK || !board_settings_of((*out)->board)->counts) return rc;
  evalci_release(*out);
  *out = NULL;
  evalci_fail(call, "needs an item column, one row per answer; the source has counts (k, n), of "
                    "which eval_leaderboard and eval_tasks can be made");
  return SQLITE_ERROR;
}
