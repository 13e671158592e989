/*
** eval_gate(source, options, baseline, candidate [, margin [, sure]]): one row, which says
** whether the candidate may replace the baseline, or whether it reaches a threshold.
**
**   SELECT result, message FROM eval_gate('results', NULL, 'old', 'new', 0.02, 0.95);
**   SELECT result, message FROM eval_gate('results', NULL, 0.85, 'new');
**
** The arguments are hidden columns.  A source that is NULL or '' is results.  What cannot be
** judged is an error, or unsure; never pass.
*/
#include <math.h>
#include <string.h>

#include "board_gate.h"

static const char gate_name[] = "eval_gate";

enum {
  GT_RESULT,
  GT_MESSAGE,
  GT_DIFF,
  GT_LO,
  GT_HI,
  GT_PROB,
  GT_QUESTIONS,
  GT_ERRORED_BASELINE,
  GT_ERRORED_CANDIDATE,
  GT_MORE,
  GT_METHOD,
  GT_ACCURACY_BASELINE,
  GT_ACCURACY_CANDIDATE,
  GT_SOURCE, /* the first argument */
  GT_OPTIONS,
  GT_BASELINE,
  GT_CANDIDATE,
  GT_MARGIN,
  GT_SURE,
  GT_COLUMNS,
  GT_ARGUMENTS = GT_COLUMNS - GT_SOURCE
};

static const char gate_columns[] =
    "CREATE TABLE x(result TEXT, message TEXT, diff REAL, lo REAL, hi REAL, prob REAL, "
    "questions INTEGER, errored_baseline INTEGER, errored_candidate INTEGER, more INTEGER, "
    "method TEXT, accuracy_baseline REAL, accuracy_candidate REAL, source HIDDEN, "
    "options HIDDEN, baseline HIDDEN, candidate HIDDEN, margin HIDDEN, sure HIDDEN)";

typedef struct gate_instance {
  sqlite3_vtab base;
  sqlite3 *db;
  evalci_boards *boards;
} gate_instance;

typedef struct gate_cursor {
  sqlite3_vtab_cursor base;
  evalci_shared_board *held;
  bool done;
  board_gate_request wish;
  board_gate gate;
  char *message;
} gate_cursor;

/*
** Arguments
*/
/* Reads the source as the other tables do; '' also means results, for callers that always pass
** text. */
static bool read_gate_source(evalci_call *call, sqlite3_value *value, const char **source) {
  bool empty = value && sqlite3_value_type(value) == SQLITE_TEXT && sqlite3_value_bytes(value) == 0;
  return evalci_read_source_name(call, empty ? NULL : value, "results", source);
}

/* Reads an optional share.  The message covers the usual mistake: a percentage. */
typedef struct gate_share {
  const char *name, *must;
  double least, usual; /* below 1, whatever `most` is */
  bool strict;         /* above the least */
} gate_share;
static const gate_share gate_margin = {"margin", "from 0 to below 1", 0, 0.02, false};
static const gate_share gate_sure = {"sure", "between 0.5 and 1", 0.5, 0.95, true};

static bool is_within(const gate_share *share, double x) {
  return x < 1 && (share->strict ? x > share->least : x >= share->least);
}

static bool read_share(evalci_call *call, const gate_share *share, sqlite3_value *value,
                       double *out) {
  double x;
  *out = share->usual;
  if (!value) return true;
  evalci_shown shown = evalci_show(value);
  bool number = evalci_read_number(value, &x);
  if (number && is_within(share, x)) {
    *out = x;
    return true;
  }
  if (number && x >= 1 && is_within(share, x / 100))
    return evalci_fail(call, "%s must be a number %s, got %s; did you mean %.15g?", share->name,
                       share->must, shown.text, x / 100);
  return evalci_fail(call, "%s must be a number %s, got %s; %.2f unless given", share->name,
                     share->must, shown.text, share->usual);
}

/* Finds a model by its name; board_models() means that there is none.  False without memory. */
static bool find_model(const board *b, sqlite3_value *value, size_t *model) {
  char room[8];
  board_name name;
  if (!evalci_name_of_value(value, room, &name)) return false;
  *model = board_model_named(b, name);
  return true;
}

/* Likewise, but the text '7' also finds the model 7 and the reverse, since one import may write
** 7 and another '7'. */
static bool find_likely(const board *b, sqlite3_value *value, size_t *model) {
  double x;
  if (!find_model(b, value, model)) return false;
  if (*model < board_models(b)) return true;
  sqlite3_value *copy = sqlite3_value_dup(value);
  bool ok = copy;
  if (ok && sqlite3_value_type(copy) == SQLITE_TEXT) {
    ok = !evalci_read_number(copy, &x) || find_model(b, copy, model);
  } else if (ok) {
    const void *text = sqlite3_value_text(copy);
    ok = text;
    if (ok)
      *model =
          board_model_named(b, (board_name){BOARD_TEXT, (uint32_t)sqlite3_value_bytes(copy), text});
  }
  sqlite3_value_free(copy);
  return ok;
}

static bool fail_null(evalci_call *call, const char *what, bool given) {
  return evalci_fail(call, "%s must be %s, got %s; as in eval_gate('results', NULL, 'old', 'new')",
                     what, *what == 'b' ? "a model, or a number between 0 and 1" : "a model",
                     given ? "NULL" : "none");
}

static bool read_candidate(evalci_call *call, const char *source, const board *b,
                           sqlite3_value *value, size_t *model) {
  if (!find_likely(b, value, model)) return false;
  return *model < board_models(b) || evalci_fail_model(call, source, b, value);
}

/* Reads the baseline: the name of a model, else a threshold.  A number is a threshold even if a
** model's name is the same text.  The message covers the usual mistake: a percentage. */
static bool read_baseline(evalci_call *call, const char *source, const board *b,
                          sqlite3_value *value, board_gate_request *wish) {
  double t;
  wish->threshold = NAN;
  bool text = sqlite3_value_type(value) == SQLITE_TEXT;
  if (!(text ? find_likely : find_model)(b, value, &wish->model[BOARD_BASELINE])) return false;
  if (wish->model[BOARD_BASELINE] < board_models(b)) return true;
  evalci_shown shown = evalci_show(value);
  if (!evalci_read_number(value, &t)) return evalci_fail_model(call, source, b, value);
  wish->threshold = t;
  if (t > 0 && t < 1) return true;
  if (t > 1 && t < 100)
    return evalci_fail(call,
                       "baseline must be a model, or a number between 0 and 1, got %s; did you "
                       "mean %.15g?",
                       shown.text, t / 100);
  return evalci_fail(call, "baseline must be a model, or a number between 0 and 1, got %s",
                     shown.text);
}

/* Reads the arguments that do not depend on the board. */
static bool read_numbers(evalci_call *call, sqlite3_value **given, board_gate_request *wish) {
  static const char *const names[] = {"baseline", "candidate"};
  for (int i = 0; i < 2; i++) {
    sqlite3_value *value = given[GT_BASELINE - GT_SOURCE + i];
    if (!value || sqlite3_value_type(value) == SQLITE_NULL)
      return fail_null(call, names[i], value != NULL);
  }
  return read_share(call, &gate_margin, given[GT_MARGIN - GT_SOURCE], &wish->margin) &&
         read_share(call, &gate_sure, given[GT_SURE - GT_SOURCE], &wish->sure);
}

static bool read_models(evalci_call *call, const char *source, const board *b,
                        sqlite3_value **given, board_gate_request *wish) {
  if (!read_candidate(call, source, b, given[GT_CANDIDATE - GT_SOURCE],
                      &wish->model[BOARD_CANDIDATE]) ||
      !read_baseline(call, source, b, given[GT_BASELINE - GT_SOURCE], wish))
    return false;
  if (isnan(wish->threshold) && wish->model[BOARD_BASELINE] == wish->model[BOARD_CANDIDATE])
    return evalci_fail(call, "candidate must not be the baseline, got %s for both",
                       evalci_show(given[GT_CANDIDATE - GT_SOURCE]).text);
  if (!board_settings_of(b)->by_task) return true;
  return evalci_fail(call, "by in options must be \"question\" here, got \"task\"; a gate counts "
                           "every question alike");
}

/*
** The table
*/
static int gate_connect(sqlite3 *db, void *boards, int argc, const char *const *argv,
                        sqlite3_vtab **out, char **error) {
  (void)argc;
  (void)argv;
  (void)error;
  int rc = sqlite3_declare_vtab(db, gate_columns);
  if (rc != SQLITE_OK) return rc;
  gate_instance *instance = sqlite3_malloc(sizeof *instance);
  if (!instance) return SQLITE_NOMEM;
  *instance = (gate_instance){.db = db, .boards = evalci_boards_retain(boards)};
  *out = &instance->base;
  return SQLITE_OK;
}

static int gate_disconnect(sqlite3_vtab *base) {
  evalci_boards_release(((gate_instance *)base)->boards);
  sqlite3_free(base);
  return SQLITE_OK;
}

static int gate_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
  (void)base;
  info->estimatedRows = 1;
  return evalci_plan_arguments(info, GT_SOURCE, GT_ARGUMENTS, 1e5);
}

static int gate_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
  (void)base;
  gate_cursor *c = sqlite3_malloc(sizeof *c);
  if (!c) return SQLITE_NOMEM;
  memset(c, 0, sizeof *c);
  c->done = true;
  *out = &c->base;
  return SQLITE_OK;
}

static int gate_close(sqlite3_vtab_cursor *base) {
  gate_cursor *c = (gate_cursor *)base;
  evalci_release(c->held);
  sqlite3_free(c->message);
  sqlite3_free(c);
  return SQLITE_OK;
}

static int judge_arguments(evalci_call *call, const gate_instance *t, gate_cursor *c,
                           const char *source, sqlite3_value **given) {
  sqlite3_value *options = given[GT_OPTIONS - GT_SOURCE];
  evalci_shared_board *held = NULL;
  if (options && sqlite3_value_type(options) == SQLITE_NULL) options = NULL;
  int rc = evalci_hold_board(call, t->boards, t->db, source, options, false, c->held, &held);
  if (rc != SQLITE_OK) return rc;
  evalci_release(c->held);
  c->held = held;
  if (!read_models(call, source, held->board, given, &c->wish)) return SQLITE_ERROR;
  rc = evalci_code_of(call, board_judge(held->board, &c->wish, evalci_host_of_db(t->db), &c->gate));
  if (rc != SQLITE_OK) return rc;
  c->message = evalci_gate_message(held->board, &c->wish, &c->gate);
  return c->message ? SQLITE_OK : SQLITE_NOMEM;
}

static int gate_filter(sqlite3_vtab_cursor *base, int which, const char *unused, int argc,
                       sqlite3_value **argv) {
  (void)unused;
  (void)argc;
  gate_cursor *c = (gate_cursor *)base;
  const gate_instance *t = (const gate_instance *)base->pVtab;
  evalci_call call = {gate_name, NULL};
  sqlite3_value *given[GT_ARGUMENTS] = {NULL};
  const char *source;
  for (int i = 0; i < GT_ARGUMENTS; i++)
    if (which & 1 << i) given[i] = *argv++;
  c->done = true;
  sqlite3_free(c->message);
  c->message = NULL;
  int rc = SQLITE_ERROR;
  if (read_gate_source(&call, given[0], &source) && read_numbers(&call, given, &c->wish))
    rc = judge_arguments(&call, t, c, source, given);
  c->done = rc != SQLITE_OK;
  if (rc == SQLITE_OK) return SQLITE_OK;
  sqlite3_free(base->pVtab->zErrMsg);
  base->pVtab->zErrMsg = call.message;
  return rc == SQLITE_ERROR && !call.message ? SQLITE_NOMEM : rc;
}

static int gate_next(sqlite3_vtab_cursor *base) {
  ((gate_cursor *)base)->done = true;
  return SQLITE_OK;
}

static int gate_at_end(sqlite3_vtab_cursor *base) {
  return ((const gate_cursor *)base)->done;
}

static void show_argument(const gate_cursor *c, sqlite3_context *context, int column) {
  const board_gate_request *wish = &c->wish;
  bool models = isnan(wish->threshold);
  switch (column) {
  case GT_SOURCE:
    evalci_result_words(context, c->held->source);
    break;
  case GT_OPTIONS:
    evalci_result_words(context, c->held->options);
    break;
  case GT_CANDIDATE:
    evalci_result_name(context, board_model_name(c->held->board, wish->model[BOARD_CANDIDATE]));
    break;
  case GT_BASELINE:
    if (models)
      evalci_result_name(context, board_model_name(c->held->board, wish->model[BOARD_BASELINE]));
    else
      sqlite3_result_double(context, wish->threshold);
    break;
  case GT_MARGIN:
    if (models) sqlite3_result_double(context, wish->margin);
    break;
  default: /* GT_SURE */
    sqlite3_result_double(context, wish->sure);
  }
}

static int gate_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  static const char *const results[] = {
      [BOARD_UNSURE] = "unsure", [BOARD_PASS] = "pass", [BOARD_FAIL] = "fail"};
  const gate_cursor *c = (const gate_cursor *)base;
  const board_gate *g = &c->gate;
  switch (column) {
  case GT_RESULT:
    evalci_result_words(context, results[g->result]);
    break;
  case GT_MESSAGE:
    evalci_result_words(context, c->message);
    break;
  case GT_DIFF:
    evalci_result_number(context, g->accuracy[BOARD_CANDIDATE] - g->accuracy[BOARD_BASELINE]);
    break;
  case GT_LO:
    evalci_result_number(context, g->ci.lo);
    break;
  case GT_HI:
    evalci_result_number(context, g->ci.hi);
    break;
  case GT_PROB:
    evalci_result_number(context, g->prob);
    break;
  case GT_QUESTIONS:
    evalci_result_count(context, g->questions);
    break;
  case GT_ERRORED_BASELINE:
    if (isnan(c->wish.threshold)) evalci_result_count(context, g->errored[BOARD_BASELINE]);
    break;
  case GT_ERRORED_CANDIDATE:
    evalci_result_count(context, g->errored[BOARD_CANDIDATE]);
    break;
  case GT_MORE:
    evalci_result_count(context, g->more);
    break;
  case GT_METHOD:
    evalci_result_words(context, g->method);
    break;
  case GT_ACCURACY_BASELINE:
    evalci_result_number(context, g->accuracy[BOARD_BASELINE]);
    break;
  case GT_ACCURACY_CANDIDATE:
    evalci_result_number(context, g->accuracy[BOARD_CANDIDATE]);
    break;
  default:
    show_argument(c, context, column);
  }
  return SQLITE_OK;
}

/* SQLite joins the two sides of an OR by rowid, so rowids must differ where the arguments do. */
static int gate_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  const gate_cursor *c = (const gate_cursor *)base;
  const board_gate_request *w = &c->wish;
  const char *options = c->held->options ? c->held->options : "";
  bool models = isnan(w->threshold);
  sqlite3_uint64 h = EVALCI_HASH;
  h = evalci_hash_bytes(h, c->held->source, strlen(c->held->source) + 1);
  h = evalci_hash_bytes(h, options, strlen(options) + 1);
  h = evalci_hash_bytes(h, &w->model[BOARD_CANDIDATE], sizeof w->model[BOARD_CANDIDATE]);
  h = models ? evalci_hash_bytes(h, &w->model[BOARD_BASELINE], sizeof w->model[BOARD_BASELINE])
             : evalci_hash_bytes(h, &w->threshold, sizeof w->threshold);
  h = evalci_hash_bytes(h, &w->margin, sizeof w->margin);
  h = evalci_hash_bytes(h, &w->sure, sizeof w->sure);
  *rowid = (sqlite3_int64)(h >> 1);
  return SQLITE_OK;
}

static const sqlite3_module gate_methods = {
    .xConnect = gate_connect,
    .xBestIndex = gate_best_index,
    .xDisconnect = gate_disconnect,
    .xOpen = gate_open,
    .xClose = gate_close,
    .xFilter = gate_filter,
    .xNext = gate_next,
    .xEof = gate_at_end,
    .xColumn = gate_column,
    .xRowid = gate_rowid,
};

static void free_gate(void *boards) {
  evalci_boards_release(boards);
}

int evalci_register_gate(sqlite3 *db, evalci_boards *boards) {
  return sqlite3_create_module_v2(db, gate_name, &gate_methods, evalci_boards_retain(boards),
                                  free_gate);
}
