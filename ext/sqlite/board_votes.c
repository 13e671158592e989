/*
** eval_votes([source [, options]]): one row per model of a table of votes, the best first.
**
**   SELECT model, rating, lo, hi, rank_lo, rank_hi FROM eval_votes('votes', '{"anchor":"gpt-4"}');
**
** The source is a table or view, votes unless named; its columns are model_a, model_b and winner,
** or those that the options name.
*/
#include <string.h>

#include "boards.h"
#include "votes.h"

static const char votes_name[] = "eval_votes";

enum {
  VT_MODEL,
  VT_RATING,
  VT_CI,
  VT_LO,
  VT_HI,
  VT_VOTES,
  VT_WINS,
  VT_LOSSES,
  VT_TIES,
  VT_P_AVERAGE,
  VT_P_AVERAGE_LO,
  VT_P_AVERAGE_HI,
  VT_RANK,
  VT_RANK_LO,
  VT_RANK_HI,
  VT_FIRST_PLACE,
  VT_FIRST_PLACE_LO,
  VT_FIRST_PLACE_HI,
  VT_SOURCE,
  VT_OPTIONS,
  VT_COLUMNS
};

static const char votes_columns[] =
    "CREATE TABLE x(model, rating REAL, ci TEXT, lo REAL, hi REAL, votes INTEGER, wins INTEGER, "
    "losses INTEGER, ties INTEGER, p_average REAL, p_average_lo REAL, p_average_hi REAL, "
    "rank REAL, rank_lo INTEGER, rank_hi INTEGER, first_place REAL, first_place_lo REAL, "
    "first_place_hi REAL, source HIDDEN, options HIDDEN)";

typedef struct votes_instance {
  sqlite3_vtab base;
  sqlite3 *db;
  evalci_boards *boards;
} votes_instance;

typedef struct votes_cursor {
  sqlite3_vtab_cursor base;
  evalci_ratings ratings;
  size_t at;
  sqlite3_value *given[2]; /* source and options; NULL where not given */
} votes_cursor;

static int votes_connect(sqlite3 *db, void *boards, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **error) {
  (void)argc;
  (void)argv;
  (void)error;
  int rc = sqlite3_declare_vtab(db, votes_columns);
  if (rc != SQLITE_OK) return rc;
  votes_instance *instance = sqlite3_malloc(sizeof *instance);
  if (!instance) return SQLITE_NOMEM;
  *instance = (votes_instance){.db = db, .boards = evalci_boards_retain(boards)};
  *out = &instance->base;
  return SQLITE_OK;
}

static int votes_disconnect(sqlite3_vtab *base) {
  evalci_boards_release(((votes_instance *)base)->boards);
  sqlite3_free(base);
  return SQLITE_OK;
}

static int votes_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
  (void)base;
  info->estimatedRows = 50;
  return evalci_plan_arguments(info, VT_SOURCE, 2, 1e6);
}

static int votes_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
  (void)base;
  votes_cursor *c = sqlite3_malloc(sizeof *c);
  if (!c) return SQLITE_NOMEM;
  memset(c, 0, sizeof *c);
  *out = &c->base;
  return SQLITE_OK;
}

static void forget(votes_cursor *c) {
  evalci_free_ratings(&c->ratings);
  c->ratings = (evalci_ratings){.rated = NULL};
  for (int i = 0; i < 2; i++) {
    sqlite3_value_free(c->given[i]);
    c->given[i] = NULL;
  }
  c->at = 0;
}

static int votes_close(sqlite3_vtab_cursor *base) {
  forget((votes_cursor *)base);
  sqlite3_free(base);
  return SQLITE_OK;
}

/* Reads the votes into pairs; a SQLite code. */
static int read_votes(evalci_call *call, sqlite3 *db, sqlite3_stmt *rows, evalci_keys *pairs) {
  int rc;
  pairs->width = EVALCI_VOTE_COUNTS;
  while ((rc = sqlite3_step(rows)) == SQLITE_ROW) {
    sqlite3_value *vote[EVALCI_VOTE_COLUMNS];
    for (int i = 0; i < EVALCI_VOTE_COLUMNS; i++) vote[i] = sqlite3_column_value(rows, i);
    if (!evalci_add_vote(call, pairs, vote, 1)) return call->message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  if (rc == SQLITE_DONE) return SQLITE_OK;
  return evalci_fail_rows(call, db, rc);
}

static int rate_source(evalci_call *call, const votes_instance *t, const char *source,
                       const evalci_voting *voting, evalci_ratings *out) {
  static const char *const usual[] = {"model_a", "model_b", "winner"};
  const char *columns[EVALCI_VOTE_COLUMNS];
  sqlite3_stmt *rows = NULL;
  evalci_keys pairs = {0};
  for (int i = 0; i < EVALCI_VOTE_COLUMNS; i++)
    columns[i] = voting->columns[i] ? voting->columns[i] : usual[i];
  if (!evalci_begin_reading(call, t->boards, t->db, source)) return SQLITE_ERROR;
  int rc = evalci_open_columns(call, t->db, source, columns, usual, EVALCI_VOTE_COLUMNS, &rows);
  if (rc == SQLITE_OK) rc = read_votes(call, t->db, rows, &pairs);
  sqlite3_finalize(rows);
  evalci_end_reading(t->boards, t->db);
  if (rc == SQLITE_OK) {
    ev_options options = {.level = voting->level};
    ev_status status =
        evalci_rate_votes(call, &pairs, voting, &options, evalci_host_of_db(t->db), out);
    rc = call->message ? SQLITE_ERROR : evalci_code_of(call, status);
  }
  evalci_free_keys(&pairs);
  return rc;
}

static int votes_filter(sqlite3_vtab_cursor *base, int which, const char *unused, int argc,
                        sqlite3_value **argv) {
  (void)unused;
  (void)argc;
  votes_cursor *c = (votes_cursor *)base;
  evalci_call call = {votes_name, NULL};
  evalci_voting voting = {0};
  const char *source;
  forget(c);
  for (int i = 0; i < 2; i++)
    if (which & 1 << i && !(c->given[i] = sqlite3_value_dup(*argv++))) return SQLITE_NOMEM;
  int rc = SQLITE_ERROR;
  if (evalci_read_source_name(&call, c->given[0], "votes", &source) &&
      evalci_read_voting(&call, c->given[1], true, &voting))
    rc = rate_source(&call, (const votes_instance *)base->pVtab, source, &voting, &c->ratings);
  evalci_free_voting(&voting);
  if (rc == SQLITE_OK) return SQLITE_OK;
  sqlite3_free(base->pVtab->zErrMsg);
  base->pVtab->zErrMsg = call.message;
  return rc == SQLITE_ERROR && !call.message ? SQLITE_NOMEM : rc;
}

static int votes_next(sqlite3_vtab_cursor *base) {
  ((votes_cursor *)base)->at++;
  return SQLITE_OK;
}

static int votes_at_end(sqlite3_vtab_cursor *base) {
  const votes_cursor *c = (const votes_cursor *)base;
  return c->at >= c->ratings.count;
}

static void show_contrast(sqlite3_context *context, const ev_contrast *c, int part) {
  evalci_result_number(context, part == 0 ? c->at : part == 1 ? c->ci.lo : c->ci.hi);
}

static int votes_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  const votes_cursor *c = (const votes_cursor *)base;
  if (column >= VT_SOURCE) {
    if (c->given[column - VT_SOURCE]) sqlite3_result_value(context, c->given[column - VT_SOURCE]);
    return SQLITE_OK;
  }
  const evalci_rated *rated = &c->ratings.rated[c->at];
  const ev_rating *r = &rated->r;
  switch (column) {
  case VT_MODEL:
    evalci_result_key(context, rated->model);
    break;
  case VT_RATING:
    evalci_result_number(context, r->rating.at);
    break;
  case VT_CI:
    evalci_result_interval(context, votes_name, EV_OK, r->rating.ci);
    break;
  case VT_LO:
  case VT_HI:
    show_contrast(context, &r->rating, column - VT_LO + 1);
    break;
  case VT_VOTES:
    evalci_result_count(context, rated->wins + rated->losses + rated->ties);
    break;
  case VT_WINS:
    evalci_result_count(context, rated->wins);
    break;
  case VT_LOSSES:
    evalci_result_count(context, rated->losses);
    break;
  case VT_TIES:
    evalci_result_count(context, rated->ties);
    break;
  case VT_RANK:
    evalci_result_number(context, r->rank);
    break;
  case VT_RANK_LO:
    evalci_result_count(context, (double)r->rank_lo);
    break;
  case VT_RANK_HI:
    evalci_result_count(context, (double)r->rank_hi);
    break;
  case VT_P_AVERAGE:
  case VT_P_AVERAGE_LO:
  case VT_P_AVERAGE_HI:
    show_contrast(context, &r->average, column - VT_P_AVERAGE);
    break;
  default: /* VT_FIRST_PLACE and its two ends */
    show_contrast(context, &c->ratings.first_place, column - VT_FIRST_PLACE);
  }
  return SQLITE_OK;
}

static int votes_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  const votes_cursor *c = (const votes_cursor *)base;
  *rowid = evalci_call_rowid(c->given, 2, (sqlite3_int64)c->at);
  return SQLITE_OK;
}

static const sqlite3_module votes_methods = {
    .xConnect = votes_connect,
    .xBestIndex = votes_best_index,
    .xDisconnect = votes_disconnect,
    .xOpen = votes_open,
    .xClose = votes_close,
    .xFilter = votes_filter,
    .xNext = votes_next,
    .xEof = votes_at_end,
    .xColumn = votes_column,
    .xRowid = votes_rowid,
};

static void free_ratings_board(void *boards) {
  evalci_boards_release(boards);
}

int evalci_register_votes(sqlite3 *db, evalci_boards *boards) {
  return sqlite3_create_module_v2(db, votes_name, &votes_methods, evalci_boards_retain(boards),
                                  free_ratings_board);
}
