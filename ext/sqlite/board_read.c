/*
** Rows of a source to answers of a board.
**
** Models and tasks are named as GROUP BY tells them apart: a whole REAL is the INTEGER
** that it equals, and a task that is NULL is ''.  Questions are named by their text, since
** one import may write 7, another '7' and a third 7.0.
*/
#include <math.h>
#include <string.h>

#include "boards.h"

enum { NAME_ROOM = 24 /* a sign and 19 digits */ };

/* The largest public leaderboards have about 4,600 models; all pairs of 5,000 take 1 GB.  5,000,000
** tasks of all models take 0.4 GB. */
enum { MOST_MODELS = 5000, MOST_MODEL_TASKS = 5000000 };

static bool whole_number(double x, sqlite3_int64 *whole) {
  static const double end = 9223372036854775808.0; /* 2^63 */
  if (x != floor(x) || x < -end || x >= end) return false;
  *whole = (sqlite3_int64)x;
  return true;
}

bool evalci_name_of_value(sqlite3_value *value, char room[8], board_name *name) {
  sqlite3_int64 i;
  double x;
  *name = (board_name){BOARD_NULL, 0, ""};
  switch (sqlite3_value_type(value)) {
  case SQLITE_INTEGER:
    i = sqlite3_value_int64(value);
    *name = (board_name){BOARD_INTEGER, sizeof i, memcpy(room, &i, sizeof i)};
    return true;
  case SQLITE_FLOAT:
    x = sqlite3_value_double(value);
    if (whole_number(x, &i))
      *name = (board_name){BOARD_INTEGER, sizeof i, memcpy(room, &i, sizeof i)};
    else
      *name = (board_name){BOARD_REAL, sizeof x, memcpy(room, &x, sizeof x)};
    return true;
  case SQLITE_TEXT:
    name->bytes = sqlite3_value_text(value);
    *name = (board_name){BOARD_TEXT, (uint32_t)sqlite3_value_bytes(value), name->bytes};
    return name->bytes;
  case SQLITE_BLOB:
    name->bytes = sqlite3_value_blob(value);
    *name = (board_name){BOARD_BLOB, (uint32_t)sqlite3_value_bytes(value), name->bytes};
    if (!name->bytes && name->size) return false;
    if (!name->bytes) name->bytes = "";
  }
  return true;
}

/* Writes a whole number so that it ends at the end of `room`. */
static board_name text_of_whole(sqlite3_int64 i, char room[NAME_ROOM]) {
  uint32_t at = NAME_ROOM;
  sqlite3_uint64 left = i < 0 ? 0 - (sqlite3_uint64)i : (sqlite3_uint64)i;
  do room[--at] = (char)('0' + left % 10);
  while (left /= 10);
  if (i < 0) room[--at] = '-';
  return (board_name){BOARD_TEXT, NAME_ROOM - at, room + at};
}

/* The name of an item: its text, whatever its type. */
static bool name_of_question(sqlite3_value *value, char room[NAME_ROOM], board_name *name) {
  int type = sqlite3_value_type(value);
  sqlite3_int64 i;
  if (type == SQLITE_INTEGER) {
    *name = text_of_whole(sqlite3_value_int64(value), room);
  } else if (type == SQLITE_FLOAT && whole_number(sqlite3_value_double(value), &i)) {
    *name = text_of_whole(i, room);
  } else {
    bool blob = type == SQLITE_BLOB;
    name->bytes = blob ? sqlite3_value_blob(value) : (const void *)sqlite3_value_text(value);
    name->size = (uint32_t)sqlite3_value_bytes(value);
    name->kind = BOARD_TEXT;
    if (!name->bytes && blob && name->size == 0) name->bytes = "";
    return name->bytes;
  }
  return true;
}

/* The row being read. */
typedef struct reader {
  evalci_call *call;
  const evalci_source *source;
  char model[8], task[8], question[NAME_ROOM];
  board_row row;
  double counts[2], total; /* k and n; and the sum of n over all rows */
} reader;

static sqlite3_value *column_of(const reader *r, evalci_role role) {
  int place = r->source->columns[role];
  return place < 0 ? NULL : sqlite3_column_value(r->source->rows, place);
}

static bool is_null(sqlite3_value *value) {
  return !value || sqlite3_value_type(value) == SQLITE_NULL;
}

/* An empty text is a missing value, as a CSV reader left it. */
static bool is_blank_value(sqlite3_value *value) {
  return is_null(value) ||
         (sqlite3_value_type(value) == SQLITE_TEXT && sqlite3_value_bytes(value) == 0);
}

/* Refuses the names that imports refuse. */
static bool check_name(reader *r, evalci_role role) {
  sqlite3_value *value = column_of(r, role);
  int type = value ? sqlite3_value_type(value) : SQLITE_NULL;
  if (type != SQLITE_TEXT && type != SQLITE_BLOB) return true;
  const void *text = type == SQLITE_TEXT ? sqlite3_value_text(value) : NULL;
  int size = sqlite3_value_bytes(value);
  if (size <= EVALCI_LONGEST_NAME && !(text && memchr(text, 0, (size_t)size))) return true;
  return evalci_fail(r->call,
                     "the %s %s holds a zero character or over a million bytes; leave such rows "
                     "out with a view",
                     evalci_role_names[role], evalci_show(value).text);
}

static bool read_names(reader *r) {
  if (!check_name(r, EVALCI_MODEL) || !check_name(r, EVALCI_TASK) || !check_name(r, EVALCI_ITEM))
    return false;
  board_row *row = &r->row;
  sqlite3_value *task = column_of(r, EVALCI_TASK), *item = column_of(r, EVALCI_ITEM);
  if (!evalci_name_of_value(column_of(r, EVALCI_MODEL), r->model, &row->model)) return false;
  row->task = (board_name){BOARD_TEXT, 0, ""};
  if (!is_null(task) && !evalci_name_of_value(task, r->task, &row->task)) return false;
  if (r->source->counts) return true;
  if (is_null(item))
    return evalci_fail(r->call,
                       "the item of a row of model %s is NULL; leave such rows out with a view, "
                       "or name another column in options, as in {\"item\":\"...\"}",
                       evalci_show(column_of(r, EVALCI_MODEL)).text);
  return name_of_question(item, r->question, &row->question);
}

/* Reads a result: what the functions take (contract 4), true and false as CSV files spell them,
** and nothing. */
static int read_correct(sqlite3_value *value) {
  int result = is_blank_value(value) ? EVALCI_NO_RESULT : evalci_read_result(value);
  if (result != EVALCI_BAD_RESULT || sqlite3_value_type(value) != SQLITE_TEXT) return result;
  const char *text = (const char *)sqlite3_value_text(value);
  if (text && sqlite3_stricmp(text, "true") == 0) return 1;
  return text && sqlite3_stricmp(text, "false") == 0 ? 0 : EVALCI_BAD_RESULT;
}

static bool fail_correct(reader *r) {
  sqlite3_value *value = column_of(r, EVALCI_CORRECT);
  double y;
  const char *column = sqlite3_column_name(r->source->rows, r->source->columns[EVALCI_CORRECT]);
  bool number = evalci_read_number(value, &y);
  return evalci_fail(
      r->call, "%s must be 0, 1, true or false, got %s of model %s, item %s; %s {\"%s\":\"%s\"}",
      column ? column : "correct", evalci_show(value).text,
      evalci_show(column_of(r, EVALCI_MODEL)).text, evalci_show(column_of(r, EVALCI_ITEM)).text,
      number ? "a column of scores is named in options, as in"
             : "another column is named in options, as in",
      number ? "score" : "correct", number && column ? column : "...");
}

static void read_score(reader *r) {
  board_row *row = &r->row;
  sqlite3_value *score = column_of(r, EVALCI_SCORE), *lo = column_of(r, EVALCI_SCORE_LO);
  sqlite3_value *hi = column_of(r, EVALCI_SCORE_HI);
  row->scored = !is_blank_value(score);
  row->score = NAN;
  if (row->scored && !evalci_read_number(score, &row->score)) row->score = NAN;
  row->failed = !is_blank_value(column_of(r, EVALCI_ERROR));
  row->ranged = !is_blank_value(lo);
  if (!row->ranged) return;
  row->lo = sqlite3_value_double(lo);
  row->hi = is_blank_value(hi) ? 1 : sqlite3_value_double(hi);
}

static bool fail_amount(reader *r, evalci_role role) {
  const char *column = sqlite3_column_name(r->source->rows, r->source->columns[role]);
  return evalci_fail(
      r->call,
      "%s must be a number from 0 to 3e150, got %s of model %s, item %s; make it NULL where it is "
      "not known, or name another column in options, as in {\"%s\":\"...\"}",
      column ? column : evalci_role_names[role], evalci_show(column_of(r, role)).text,
      evalci_show(column_of(r, EVALCI_MODEL)).text, evalci_show(column_of(r, EVALCI_ITEM)).text,
      evalci_role_names[role]);
}

static bool read_spent(reader *r, evalci_role role, double *amount) {
  sqlite3_value *value = column_of(r, role);
  *amount = NAN;
  return is_null(value) || evalci_amount(value, amount) || fail_amount(r, role);
}

static int status_code(ev_status status) {
  return status == EV_OK ? SQLITE_OK : SQLITE_NOMEM;
}

static bool read_count_row(reader *r) {
  static const char *const names[] = {"k", "n"};
  sqlite3_value *given[] = {column_of(r, EVALCI_K), column_of(r, EVALCI_N)};
  if (!evalci_read_k_n(r->call, names, given, r->counts)) return false;
  r->total += r->counts[1];
  if (r->total <= 0x1p53) return true;
  return evalci_fail(r->call, "the counts must add up to at most 2^53; scale them down");
}

/* False after leaving a message, or without memory. */
static bool read_row(reader *r) {
  if (!read_names(r)) return false;
  if (r->source->counts) return read_count_row(r);
  r->row.correct = read_correct(column_of(r, EVALCI_CORRECT));
  if (r->row.correct == EVALCI_BAD_RESULT) return fail_correct(r);
  read_score(r);
  return read_spent(r, EVALCI_COST, &r->row.cost) && read_spent(r, EVALCI_LATENCY, &r->row.latency);
}

/* Refuses a source, usually one of whose columns is taken for another, before it takes all the
** memory: that of a board grows with the square of the number of models. */
static bool check_size(reader *r, const board *b) {
  size_t models = board_models(b), tasks = board_tasks(b);
  if (models <= MOST_MODELS && models * tasks <= MOST_MODEL_TASKS) return true;
  evalci_role role = models > MOST_MODELS ? EVALCI_MODEL : EVALCI_TASK;
  const char *column = sqlite3_column_name(r->source->rows, r->source->columns[role]);
  if (!column) return false;
  if (role == EVALCI_MODEL)
    return evalci_fail(r->call,
                       "%s has more than %d values, such as %s, and a board has at most that many "
                       "models; name it in options, as in {\"model\":\"...\"}, or choose models "
                       "with a view",
                       column, MOST_MODELS, evalci_show(column_of(r, role)).text);
  return evalci_fail(r->call,
                     "%s has %d values, such as %s, and a board of %d models has at most %d tasks; "
                     "name it in options, as in {\"task\":\"...\"}, or choose tasks with a view",
                     column, (int)tasks, evalci_show(column_of(r, role)).text, (int)models,
                     (int)(MOST_MODEL_TASKS / models));
}

int evalci_read_source(evalci_call *call, sqlite3 *db, const evalci_source *source, board *b) {
  reader r = {.call = call, .source = source};
  int rc;
  while ((rc = sqlite3_step(source->rows)) == SQLITE_ROW) {
    if (!read_row(&r)) return call->message ? SQLITE_ERROR : SQLITE_NOMEM;
    ev_status status = source->counts ? board_add_counts(b, &r.row, r.counts[0], r.counts[1])
                                      : board_add(b, &r.row);
    if ((rc = status_code(status)) != SQLITE_OK) return rc;
    if (!check_size(&r, b)) return call->message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  if (rc == SQLITE_DONE) return status_code(board_settle(b));
  return evalci_fail_rows(call, db, rc);
}
