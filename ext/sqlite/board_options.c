/*
** The options of the board: a flat object of JSON.
**
**   "model", "task", "item", "attempt", "correct", "score", "error", "score_lo", "score_hi"
**   "cost", "latency", "k", "n"  the name of the column that is that
**   "level"   of intervals and verdicts, 0.95
**   "by"      "question", or "task": each task counts the same
**   "errors"  "skip", or "wrong": what an answer that is not known counts as
**   "lo", "hi"  the range of scores, in tasks whose rows do not declare one
**   "pairs"   "holm": the correction for testing all pairs
**   "title", "note", "date"  of eval_report: its heading, a text below that, its date
**   "origin"  likewise: where the rows are from, in place of the database's name
*/
#include <string.h>

#include "boards.h"
#include "object.h"
#include "svg.h"

enum {
  LEVEL_KEY = EVALCI_ROLES,
  BY_KEY,
  ERRORS_KEY,
  LO_KEY,
  HI_KEY,
  PAIRS_KEY,
  TITLE_KEY, /* this one and those after it belong to eval_report alone */
  NOTE_KEY,
  DATE_KEY,
  ORIGIN_KEY,
  BOARD_KEYS
};
static const char *const board_keys[BOARD_KEYS] = {
    "model",   "task",     "item",     "attempt", "correct", "score", "error", "cost",
    "latency", "score_lo", "score_hi", "n",       "k",       "level", "by",    "errors",
    "lo",      "hi",       "pairs",    "title",   "note",    "date",  "origin"};

typedef struct reading_options {
  evalci_board_options *out;
  unsigned seen;
} reading_options;

static bool read_column_name(evalci_call *call, int key, evalci_part value, char **out) {
  size_t size = 0;
  if (*value.at != '"')
    return evalci_fail(call, "%s in options must be the name of a column, got %s", board_keys[key],
                       evalci_show_part(value).text);
  *out = evalci_part_text(value, &size);
  if (!*out) return false;
  if (size > 0 && strlen(*out) == size) return true;
  return evalci_fail(call, "%s in options must be the name of a column, got %s", board_keys[key],
                     evalci_show_part(value).text);
}

static bool read_board_number(evalci_call *call, int key, evalci_part value, double *out) {
  const char *end = evalci_parse_number(value.at, out);
  if (end == value.end && fabs(*out) <= 0x1p500) return true;
  return evalci_fail(call, "%s in options must be a number, got %s", board_keys[key],
                     evalci_show_part(value).text);
}

/* An upper limit for text: enough for a page. */
enum { MOST_TITLE = 300, MOST_NOTE = 10000 };

static bool read_report_text(evalci_call *call, int key, evalci_part value, char **out) {
  size_t size = 0;
  if (*value.at != '"')
    return evalci_fail(call, "%s in options must be text, got %s", board_keys[key],
                       evalci_show_part(value).text);
  char *text = evalci_part_text(value, &size);
  if (text) *out = evalci_clean_to(text, size, key == NOTE_KEY ? MOST_NOTE : MOST_TITLE);
  sqlite3_free(text);
  return *out;
}

/* Reads one of two words; the flag is set by the second. */
static bool read_choice(evalci_call *call, int key, evalci_part value, const char *no,
                        const char *yes, bool *flag) {
  *flag = evalci_part_is(value, yes);
  if (*flag || evalci_part_is(value, no)) return true;
  if (no == yes)
    return evalci_fail(call, "%s in options must be %s, got %s", board_keys[key], yes,
                       evalci_show_part(value).text);
  return evalci_fail(call, "%s in options must be %s or %s, got %s", board_keys[key], no, yes,
                     evalci_show_part(value).text);
}

static bool read_board_level(evalci_call *call, evalci_part value, double *level) {
  if (!read_board_number(call, LEVEL_KEY, value, level)) return false;
  if (*level > 0 && *level < 1) return true;
  return evalci_fail(call,
                     "level in options must be strictly between 0 and 1, got %s; "
                     "0.95 is usual",
                     evalci_show_part(value).text);
}

static bool read_board_option(evalci_call *call, int key, evalci_part value,
                              evalci_board_options *out) {
  static const char holm[] = "\"holm\"";
  board_settings *s = &out->settings;
  bool given;
  if (evalci_part_is(value, "null")) return true;
  switch (key) {
  case LEVEL_KEY:
    return read_board_level(call, value, &s->level);
  case BY_KEY:
    return read_choice(call, key, value, "\"question\"", "\"task\"", &s->by_task);
  case ERRORS_KEY:
    s->errors_given = true;
    return read_choice(call, key, value, "\"skip\"", "\"wrong\"", &s->errors_wrong);
  case LO_KEY:
    s->ranged = true;
    return read_board_number(call, key, value, &s->lo);
  case HI_KEY:
    s->ranged = true;
    return read_board_number(call, key, value, &s->hi);
  case PAIRS_KEY:
    return read_choice(call, key, value, holm, holm, &given);
  case TITLE_KEY:
    return read_report_text(call, key, value, &out->title);
  case NOTE_KEY:
    return read_report_text(call, key, value, &out->note);
  case DATE_KEY:
    return read_report_text(call, key, value, &out->date);
  case ORIGIN_KEY:
    return read_report_text(call, key, value, &out->origin);
  default:
    return read_column_name(call, key, value, &out->columns[key]);
  }
}

static bool read_board_member(evalci_call *call, evalci_part name, evalci_part value, void *out) {
  reading_options *r = out;
  bool page = strcmp(call->name, "eval_report") == 0;
  int key = evalci_key_of(name, board_keys, page ? BOARD_KEYS : TITLE_KEY);
  if (key < 0)
    return evalci_fail(call,
                       "options has no key %s; it may have level, by, errors, lo, hi, pairs%s, and "
                       "the names of columns: model, task, item, attempt, correct, score, error, "
                       "score_lo, score_hi, cost and latency, or k and n of counts",
                       evalci_show_part(name).text, page ? ", title, note, date, origin" : "");
  if (r->seen & 1u << key)
    return evalci_fail(call, "options has the key %s twice", evalci_show_part(name).text);
  r->seen |= 1u << key;
  return read_board_option(call, key, value, r->out);
}

bool evalci_read_board_options(evalci_call *call, sqlite3_value *value, evalci_board_options *out) {
  reading_options r = {out, 0};
  *out = (evalci_board_options){.settings = {.level = 0.95, .lo = 0, .hi = 1}};
  if (!value || sqlite3_value_type(value) == SQLITE_NULL) return true;
  if (!evalci_read_object(call, value, "{\"item\":\"question_id\"}", read_board_member, &r))
    return false;
  if (out->settings.lo < out->settings.hi) return true;
  return evalci_fail(call, "lo in options must be below hi, got %.15g and %.15g", out->settings.lo,
                     out->settings.hi);
}

void evalci_free_board_options(evalci_board_options *options) {
  for (int i = 0; i < EVALCI_ROLES; i++) sqlite3_free(options->columns[i]);
  sqlite3_free(options->title);
  sqlite3_free(options->note);
  sqlite3_free(options->date);
  sqlite3_free(options->origin);
}
