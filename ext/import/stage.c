/*
** Checks answers as they are found, and keeps them until all files are read.
**
**   model, item   may not be blank
**   attempt       a whole number; where there is none, settle.c counts
**   correct       1, true, yes, C, correct, pass, passed: 1; 0, false, no, I, incorrect, fail,
**                 failed: 0, in any case.  Blank, null, NA, NaN, None: not known
**   score         a number, or one of those words
**   error         why an answer is not known; 'the answer is blank' if nothing says
**
** A row's key is ordered as results is, by task, item, model and attempt, then the later file
** first; so that the first of those with the same key is the one to take.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

/*
** Values
*/

static bool is_word(import_value v, const char *word) {
  return strlen(word) == v.length && sqlite3_strnicmp(v.text, word, (int)v.length) == 0;
}

/* 1 right, 0 wrong, -1 unknown, -2 not such a word. */
static int read_word(import_value v) {
  static const char *const words[3][7] = {
      {"false", "no", "i", "incorrect", "fail", "failed"},
      {"true", "yes", "c", "correct", "pass", "passed"},
      {"", "null", "na", "nan", "none"},
  };
  if (v.length > 9) return -2;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 7 && words[i][k]; k++)
      if (is_word(v, words[i][k])) return i == 2 ? -1 : i;
  return -2;
}

/* Converts short decimals exactly, others by strtod() in the C locale. */
static bool read_number(import_value v, double *out) {
  char text[64], *end;
  int64_t digits = 0;
  size_t i = v.length > 0 && (v.text[0] == '-' || v.text[0] == '+'), point = 0, first = i;
  static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  for (; i < v.length && v.length <= 16; i++) {
    if (v.text[i] >= '0' && v.text[i] <= '9')
      digits = 10 * digits + (v.text[i] - '0');
    else if (v.text[i] == '.' && !point)
      point = i + 1;
    else
      break;
  }
  if (i == v.length && i > first + (point > 0)) {
    double x = (double)digits / powers[point ? v.length - point : 0];
    *out = v.text[0] == '-' ? -x : x;
    return true;
  }
  if (v.length == 0 || v.length >= sizeof text || strchr("nNiI \t\n", v.text[first])) return false;
  memcpy(text, v.text, v.length);
  text[v.length] = 0;
  if (strpbrk(text, "xXpP")) return false;
  *out = strtod(text, &end);
  return end == text + v.length;
}

bool import_read_score(import_value v, import_value *out) {
  *out = v;
  if (v.type == IMPORT_INTEGER)
    *out = (import_value){.type = IMPORT_REAL, .real = (double)v.integer};
  if (v.type == IMPORT_TEXT) {
    int word = read_word(v);
    *out = (import_value){.type = word == -1 ? IMPORT_NOTHING : IMPORT_REAL, .real = word};
    if (word == -2 && !read_number(v, &out->real)) return false;
  }
  return out->type == IMPORT_NOTHING || isfinite(out->real);
}

/* The text of a number with its decimal comma turned into a point; `room` has space for it. */
static import_value with_point(const import_answer *a, import_column column, char room[32]) {
  import_value v = a->of[column];
  bool may = a->comma && v.type == IMPORT_TEXT && v.length < 32;
  const char *comma = may ? memchr(v.text, ',', v.length) : NULL;
  if (!comma || memchr(v.text, '.', v.length)) return v;
  memcpy(room, v.text, v.length);
  room[comma - v.text] = '.';
  v.text = room;
  return v;
}

/* 1, 0, -1 unknown; -2 if it is none of these. */
static int read_correct(import_value v) {
  import_value number;
  if (!import_read_score(v, &number)) return -2;
  if (number.type == IMPORT_NOTHING) return -1;
  return number.real == 0 ? 0 : number.real == 1 ? 1 : -2;
}

/* Reads a whole number, if the text has the form of one. */
static bool read_integer(import_value v, sqlite3_int64 *out) {
  bool minus = v.type == IMPORT_TEXT && v.length > 1 && v.text[0] == '-';
  if (v.type == IMPORT_INTEGER) return *out = v.integer, true;
  if (v.type == IMPORT_REAL)
    return *out = fabs(v.real) < 0x1p53 ? (sqlite3_int64)v.real : 0, (double)*out == v.real;
  if (v.type == IMPORT_NOTHING || v.length == 0 || v.length > 18) return false;
  *out = 0;
  for (size_t i = minus; i < v.length; i++) {
    if (v.text[i] < '0' || v.text[i] > '9') return false;
    *out = 10 * *out + (v.text[i] - '0');
  }
  if (v.text[minus] == '0' && (v.length > (size_t)minus + 1 || minus)) return false;
  if (minus) *out = -*out;
  return true;
}

static bool has_percent(import_value v) {
  return v.type == IMPORT_TEXT && v.length > 0 && v.text[v.length - 1] == '%';
}

static bool is_blank(import_value v) {
  return v.type == IMPORT_NOTHING || (v.type == IMPORT_TEXT && v.length == 0);
}

import_value import_as_text(import_value v, char room[40]) {
  if (v.type == IMPORT_TEXT || v.type == IMPORT_NOTHING) return v;
  if (v.type == IMPORT_INTEGER)
    sqlite3_snprintf(40, room, "%lld", v.integer);
  else
    sqlite3_snprintf(40, room, "%!.15g", v.real);
  return (import_value){.type = IMPORT_TEXT, .text = room, .length = strlen(room)};
}

static import_value text_value(const char *text) {
  return (import_value){
      .type = text ? IMPORT_TEXT : IMPORT_NOTHING, .text = text, .length = text ? strlen(text) : 0};
}

/*
** Keys and rows
*/

static bool put(import_run *run, import_buffer *out, const void *bytes, size_t length) {
  return import_append(run, out, bytes, length);
}

static bool put_text(import_run *run, import_buffer *out, import_value v) {
  return put(run, out, v.text, v.length) && put(run, out, "", 1);
}

/* Encodes a number in eight bytes that sort as the numbers do. */
static bool put_ordered(import_run *run, import_buffer *out, uint64_t x) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(x >> (56 - 8 * i));
  return put(run, out, bytes, 8);
}

static uint64_t get_ordered(const unsigned char *at) {
  uint64_t x = 0;
  for (int i = 0; i < 8; i++) x = x << 8 | at[i];
  return x;
}

static uint64_t order_of_integer(sqlite3_int64 x) {
  return (uint64_t)x ^ (uint64_t)1 << 63;
}

static uint64_t order_of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* As in SQLite, numbers sort before texts. */
static bool put_item(import_run *run, import_buffer *out, import_value v) {
  char type = (char)('0' + (int)v.type);
  if (!put(run, out, &type, 1)) return false;
  if (v.type == IMPORT_TEXT) return put_text(run, out, v);
  if (v.type == IMPORT_INTEGER) return put_ordered(run, out, order_of_integer(v.integer));
  return put_ordered(run, out, order_of_double(v.real)) && put(run, out, &v.real, sizeof v.real);
}

static bool put_value(import_run *run, import_buffer *out, import_value v) {
  char type = (char)v.type;
  uint32_t length = (uint32_t)v.length;
  if (!put(run, out, &type, 1)) return false;
  if (v.type == IMPORT_INTEGER) return put(run, out, &v.integer, sizeof v.integer);
  if (v.type == IMPORT_REAL) return put(run, out, &v.real, sizeof v.real);
  return v.type == IMPORT_NOTHING ||
         (put(run, out, &length, sizeof length) && put(run, out, v.text, length));
}

static const unsigned char *get_value(const unsigned char *at, import_value *out) {
  uint32_t length = 0;
  *out = (import_value){.type = (import_type)*at++};
  switch (out->type) {
  case IMPORT_INTEGER:
    memcpy(&out->integer, at, sizeof out->integer);
    return at + sizeof out->integer;
  case IMPORT_REAL:
    memcpy(&out->real, at, sizeof out->real);
    return at + sizeof out->real;
  case IMPORT_TEXT:
    memcpy(&length, at, sizeof length);
    out->text = (const char *)at + sizeof length;
    out->length = length;
    return at + sizeof length + length;
  default:
    return at;
  }
}

/* Makes a row's sort key; the head of this file says in which order it sorts. */
static bool put_key(import_run *run, import_buffer *key, const import_staged *r, import_value model,
                    import_value task) {
  const import_stage *s = run->stage;
  uint64_t number = (uint64_t)s->count;
  key->length = 0;
  return put_text(run, key, task) && put_item(run, key, r->item) && put_text(run, key, model) &&
         put(run, key, r->has_attempt ? "1" : "0", 1) &&
         put_ordered(run, key, order_of_integer(r->attempt)) &&
         put_ordered(run, key, ~order_of_double(s->created)) &&
         put_ordered(run, key, ~(uint64_t)r->file) &&
         put_ordered(run, key, r->has_attempt ? ~number : number);
}

enum { KEY_TAIL = 24 }; /* after the attempt */

static bool put_row(import_run *run, import_buffer *row, const import_staged *r,
                    const import_value *kept) {
  signed char correct = (signed char)r->correct;
  row->length = 0;
  bool ok = put(run, row, &r->file, sizeof r->file) &&
            put(run, row, &r->number, sizeof r->number) && put(run, row, &correct, 1) &&
            put_value(run, row, r->score) && put_value(run, row, r->error) &&
            put_value(run, row, r->cost) && put_value(run, row, r->latency) &&
            put_value(run, row, r->tokens);
  for (int i = 0; ok && run->keep[i]; i++)
    ok = put_value(run, row, kept ? kept[i] : (import_value){0});
  return ok;
}

void import_staged_read(import_run *run, const unsigned char *key, size_t key_length,
                        const unsigned char *row, import_staged *out) {
  *out = (import_staged){.key = key,
                         .key_length = key_length,
                         .same = key_length - KEY_TAIL,
                         .task = (const char *)key};
  const unsigned char *at = key + strlen(out->task) + 1;
  out->item.type = (import_type)(*at++ - '0');
  if (out->item.type == IMPORT_TEXT) {
    out->item.text = (const char *)at;
    out->item.length = strlen(out->item.text);
    at += out->item.length + 1;
  } else if (out->item.type == IMPORT_INTEGER) {
    out->item.integer = (sqlite3_int64)(get_ordered(at) ^ (uint64_t)1 << 63);
    at += 8;
  } else {
    memcpy(&out->item.real, at + 8, sizeof(double));
    at += 16;
  }
  out->model = (const char *)at;
  at += strlen(out->model) + 1;
  out->has_attempt = *at == '1';
  out->attempt = (sqlite3_int64)(get_ordered(at + 1) ^ (uint64_t)1 << 63);
  memcpy(&out->file, row, sizeof out->file);
  memcpy(&out->number, row + 8, sizeof out->number);
  out->correct = (signed char)row[16];
  at = get_value(get_value(get_value(row + 17, &out->score), &out->error), &out->cost);
  at = get_value(get_value(at, &out->latency), &out->tokens);
  for (int i = 0; run->keep[i]; i++) at = get_value(at, &out->kept[i]);
}

/*
** Taking an answer
*/

/* The file's date, as a day. */
static bool note_file(import_run *run, const import_file *file) {
  import_stage *s = run->stage;
  sqlite3_stmt *day = NULL;
  s->file = file;
  s->pair_name.length = 0;
  s->created = -INFINITY;
  if (!file->created) return true;
  int rc = sqlite3_prepare_v2(run->scratch, "SELECT julianday(?)", -1, &day, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_bind_text(day, 1, file->created, -1, SQLITE_STATIC);
  if (rc == SQLITE_OK && sqlite3_step(day) == SQLITE_ROW &&
      sqlite3_column_type(day, 0) == SQLITE_FLOAT)
    s->created = sqlite3_column_double(day, 0);
  sqlite3_finalize(day);
  return rc == SQLITE_OK || import_no_memory(run);
}

/* The pair of a model and a task; notes that this file has it. */
static import_pair *pair_of(import_run *run, import_value model, import_value task) {
  import_stage *s = run->stage;
  import_buffer *name = &s->pair_name;
  if (name->length == model.length + task.length + 1 &&
      memcmp(name->text, model.text, model.length) == 0 && name->text[model.length] == 0 &&
      memcmp(name->text + model.length + 1, task.text, task.length) == 0)
    return s->pair;
  name->length = 0;
  if (!put_text(run, name, model) || !put(run, name, task.text, task.length)) return NULL;
  s->pair = import_map_at(s->pairs, name->text, name->length, true);
  const import_file *told = s->file->told_with ? s->file->told_with : s->file;
  const void *asked[2] = {told, s->pair};
  if (!s->pair || !import_map_at(s->asked, asked, sizeof asked, true)) {
    import_no_memory(run);
    return NULL;
  }
  if (!s->pair->made) s->pair->index = import_map_count(s->pairs) - 1;
  s->pair->made = true;
  return s->pair;
}

const char *import_place_of(const import_file *file, const import_answer *a, char room[60]) {
  if (a->place) return a->place;
  sqlite3_snprintf(60, room, "%.30s %lld", file->unit ? file->unit : "record", a->number);
  return room;
}

bool import_refuse_value(import_run *run, const import_file *file, const import_answer *a,
                         const char *what, import_value v) {
  char place[60], room[40];
  v = import_as_text(v, room);
  return import_refuse(run, file, import_place_of(file, a, place), "%s, got '%.*s'", what,
                       v.length > 60 ? 60 : (int)v.length, v.text ? v.text : "");
}

bool import_refuse_answer(import_run *run, const import_file *file, const import_answer *a,
                          const char *what) {
  char place[60];
  return import_refuse(run, file, import_place_of(file, a, place), "%s", what);
}

static bool is_bad_text(import_value v) {
  return v.type == IMPORT_TEXT && (v.length > IMPORT_FIELD || memchr(v.text, 0, v.length));
}

/* Reads a cost, latency or number of tokens: a number, or nothing. */
static import_value as_number(import_value v) {
  import_value out;
  return import_read_score(v, &out) ? out : (import_value){0};
}

static import_value as_count(import_value v) {
  sqlite3_int64 n;
  if (v.type != IMPORT_NOTHING && read_integer(v, &n))
    return (import_value){.type = IMPORT_INTEGER, .integer = n};
  return (import_value){0};
}

static bool stage_row(import_run *run, import_file *file, import_staged *r, const import_answer *a,
                      import_value model, import_value task) {
  import_stage *s = run->stage;
  import_pair *pair = pair_of(run, model, task);
  if (!pair) return false;
  r->file = file->id;
  r->number = a->number;
  pair->graded |= import_grades(run->choices, r);
  s->has[IMPORT_COST] |= r->cost.type != IMPORT_NOTHING;
  s->has[IMPORT_LATENCY] |= r->latency.type != IMPORT_NOTHING;
  s->has[IMPORT_TOKENS] |= r->tokens.type != IMPORT_NOTHING;
  for (int i = 0; a->kept && run->keep[i]; i++)
    s->has[IMPORT_COLUMNS + i] |= a->kept[i].type != IMPORT_NOTHING;
  s->count++;
  run->rows++;
  if (!put_key(run, &s->key, r, model, task) || !put_row(run, &s->row, r, a->kept)) return false;
  return import_sort_add(s->sort, s->key.text, s->key.length, s->row.text, s->row.length) ||
         import_fail(run, file, "there is no memory or no room for temporary files");
}

bool import_take(import_run *run, import_file *file, const import_answer *a) {
  static const import_value blank = {
      .type = IMPORT_TEXT, .text = "the answer is blank", .length = 19};
  const import_choices *c = run->choices;
  char rooms[3][40], points[3][32];
  import_value model = import_as_text(a->of[IMPORT_MODEL], rooms[0]),
               task = import_as_text(a->of[IMPORT_TASK], rooms[1]);
  import_value score = with_point(a, IMPORT_SCORE, points[0]),
               cost = with_point(a, IMPORT_COST, points[1]),
               latency = with_point(a, IMPORT_LATENCY, points[2]);
  import_value item = a->of[IMPORT_ITEM], attempt = a->of[IMPORT_ATTEMPT];
  import_staged r = {.correct = read_correct(a->of[IMPORT_CORRECT]),
                     .has_attempt = attempt.type != IMPORT_NOTHING};
  if (run->stage->file != file && !note_file(run, file)) return false;

  if (c->model_name) model = text_value(c->model_name);
  if (is_blank(model)) model = text_value(file->model);
  if (c->task_name) task = text_value(c->task_name);
  if (is_blank(task)) task = text_value(file->task ? file->task : file->stem);
  if (is_blank(model)) return import_refuse_answer(run, file, a, "model is blank");
  if (is_blank(item)) return import_refuse_answer(run, file, a, "item is blank");
  if (is_bad_text(model) || is_bad_text(task) || is_bad_text(item))
    return import_refuse_answer(
        run, file, a, "a model, task or item holds a zero character or over a million bytes");
  if (r.has_attempt && !read_integer(attempt, &r.attempt))
    return import_refuse_value(run, file, a, "attempt must be a whole number", attempt);
  if (r.correct == -2)
    return import_refuse_value(
        run, file, a,
        "correct must be 1 or 0, true or false, yes or no, C or I, pass or fail (a number between "
        "belongs in a column score)",
        a->of[IMPORT_CORRECT]);
  if (!import_read_score(score, &r.score))
    return import_refuse_value(run, file, a,
                               has_percent(score)
                                   ? "score must be a number without a per cent sign (and --hi 100)"
                                   : "score must be a number",
                               score);

  r.item = item;
  if (read_integer(item, &r.item.integer)) r.item.type = IMPORT_INTEGER;
  if (!is_blank(a->of[IMPORT_ERROR])) r.error = import_as_text(a->of[IMPORT_ERROR], rooms[2]);
  if (is_bad_text(r.error))
    return import_refuse_answer(run, file, a,
                                "error holds a zero character or over a million bytes");
  bool known = r.correct >= 0 || r.score.type != IMPORT_NOTHING;
  if (!known && r.error.type == IMPORT_NOTHING) r.error = blank;
  if (c->has_range && r.error.type == IMPORT_NOTHING && r.correct < 0 &&
      (r.score.real < c->lo || r.score.real > c->hi))
    return import_refuse_value(run, file, a, "score is outside the range that was given", r.score);
  r.cost = as_number(cost);
  r.latency = as_number(latency);
  r.tokens = as_count(a->of[IMPORT_TOKENS]);
  return stage_row(run, file, &r, a, model, task);
}

/*
** The stage
*/

bool import_stage_begin(import_run *run) {
  import_stage *s = run->stage = sqlite3_malloc64(sizeof *s);
  if (!s) return import_no_memory(run);
  *s = (import_stage){.sort = import_sort_new(),
                      .pairs = import_map_new(sizeof(import_pair)),
                      .asked = import_map_new(1)};
  return (s->sort && s->pairs && s->asked) || import_no_memory(run);
}

void import_stage_end(import_run *run) {
  import_stage *s = run->stage;
  if (!s) return;
  sqlite3_finalize(s->insert);
  import_sort_free(s->sort);
  import_map_free(s->pairs);
  import_map_free(s->asked);
  import_buffer_free(&s->key);
  import_buffer_free(&s->row);
  import_buffer_free(&s->pair_name);
  sqlite3_free(s);
  run->stage = NULL;
}
