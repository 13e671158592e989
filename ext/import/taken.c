/*
** A virtual table of the answers that are taken from the stage, in the order of results' key.
**
** Of answers with the same model, task, item and attempt the one in the later file is taken,
** and the last of those in one file.  Answers without an attempt number are numbered within
** their file, or over all files that ask for it.
**
** One INSERT reads the table, which is twice as fast as an INSERT for each answer.
*/
#include <string.h>

#include "inside.h"

typedef struct taken_table {
  sqlite3_vtab base;
  import_taking *taking;
} taken_table;

static const char columns[] =
    "CREATE TABLE taken(model, task, item, attempt, correct, score, error, score_lo, score_hi";
enum { FIXED = 9 };

/*
** Choosing
*/

/* Whether an answer makes its model and task graded. */
bool import_grades(const import_choices *c, const import_staged *r) {
  bool range = c->has_range && (c->lo != 0 || c->hi != 1);
  return r->error.type == IMPORT_NOTHING && r->correct < 0 && r->score.type == IMPORT_REAL &&
         (range || (r->score.real != 0 && r->score.real != 1));
}

/* Whether the row is taken; numbers the attempts that have no number. */
static bool choose(import_taking *t, bool *taken) {
  import_run *run = t->run;
  import_staged *r = &t->row;
  bool same = t->last.length == r->same && memcmp(t->last.text, r->key, r->same) == 0;
  *taken = false;
  if (t->replaced[r->file]) return true;
  if (!same) {
    size_t question = (size_t)(r->model - (const char *)r->key);
    t->questions += t->last.length < question || memcmp(t->last.text, r->key, question) != 0;
    t->last.length = 0;
    t->counted = 0;
    t->file = r->file;
    if (!import_append(run, &t->last, r->key, r->same)) return false;
  } else if (t->file != r->file && !t->files[r->file]->adds) {
    return true;
  } else if (r->has_attempt) {
    const import_file *file = t->files[r->file];
    const import_answer answer = {.number = r->number};
    char place[60];
    return !file->strict || import_refuse(run, file, import_place_of(file, &answer, place),
                                          "the same model, task, item and attempt as another one");
  }
  *taken = true;
  if (r->has_attempt) return true;
  r->attempt = ++t->counted;
  if (t->counted == 2) run->repeated++;
  return true;
}

/* The model and task of the row, as the stage knows them. */
static bool find_pair(import_taking *t) {
  import_buffer *name = &t->run->stage->pair_name;
  name->length = 0;
  if (!import_append(t->run, name, t->row.model, strlen(t->row.model) + 1) ||
      !import_append(t->run, name, t->row.task, strlen(t->row.task)))
    return false;
  t->pair = import_map_at(t->run->stage->pairs, name->text, name->length, false);
  return t->pair;
}

static bool is_ranged(const import_taking *t) {
  const import_choices *c = t->run->choices;
  return t->pair->graded && t->row.score.type == IMPORT_REAL && c->has_range &&
         (c->lo != 0 || c->hi != 1);
}

/* Counts what results will hold of the row. */
static void count_row(import_taking *t) {
  const import_staged *r = &t->row;
  bool scored = r->score.type == IMPORT_REAL, graded = t->pair->graded && scored;
  import_held held = {.errored = r->error.type != IMPORT_NOTHING,
                      .verdict = !graded,
                      .ranged = is_ranged(t),
                      .value = graded || r->correct < 0 ? r->score.real : r->correct};
  t->pair->found |= import_grades(t->run->choices, r);
  import_count(t->pair, held);
}

/* Moves to the next row that is taken. */
static bool next_taken(import_taking *t) {
  const unsigned char *key, *row;
  size_t key_length, row_length;
  for (bool taken = false; !taken;) {
    int found = import_sort_next(t->run->stage->sort, &key, &key_length, &row, &row_length);
    if (found < 0) return import_fail(t->run, NULL, "a temporary file cannot be read");
    t->ended = found == 0;
    if (t->ended) return true;
    import_staged_read(t->run, key, key_length, row, &t->row);
    if (!choose(t, &taken)) return false;
  }
  if (!find_pair(t)) return false;
  count_row(t);
  t->run->taken++;
  return (t->run->taken & 0xFFFF) || import_progress(t->run);
}

/*
** The virtual table
*/

static int connect(sqlite3 *db, void *taking, int argc, const char *const *argv, sqlite3_vtab **out,
                   char **error) {
  (void)argc, (void)argv, (void)error;
  const import_taking *t = taking;
  sqlite3_str *sql = sqlite3_str_new(db);
  sqlite3_str_appendall(sql, columns);
  for (int i = IMPORT_COST; i < IMPORT_COLUMNS; i++)
    sqlite3_str_appendf(sql, ", %s", import_column_names[i]);
  for (int i = 0; t->run->keep[i]; i++) sqlite3_str_appendf(sql, ", \"%w\"", t->run->keep[i]);
  sqlite3_str_appendall(sql, ")");
  char *text = sqlite3_str_finish(sql);
  int rc = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
  sqlite3_free(text);
  taken_table *table = rc == SQLITE_OK ? sqlite3_malloc64(sizeof *table) : NULL;
  if (rc == SQLITE_OK && !table) rc = SQLITE_NOMEM;
  if (table) *table = (taken_table){.taking = taking};
  if (table) *out = &table->base;
  return rc;
}

static int disconnect(sqlite3_vtab *table) {
  sqlite3_free(table);
  return SQLITE_OK;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
  (void)table;
  info->estimatedCost = 1e6;
  return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out) {
  (void)table;
  *out = sqlite3_malloc64(sizeof **out);
  if (*out) **out = (sqlite3_vtab_cursor){0};
  return *out ? SQLITE_OK : SQLITE_NOMEM;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
  sqlite3_free(cursor);
  return SQLITE_OK;
}

static import_taking *taking_of(sqlite3_vtab_cursor *cursor) {
  return ((taken_table *)cursor->pVtab)->taking;
}

static int next(sqlite3_vtab_cursor *cursor) {
  return next_taken(taking_of(cursor)) ? SQLITE_OK : SQLITE_ERROR;
}

static int filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
                  sqlite3_value **argv) {
  (void)plan, (void)text, (void)argc, (void)argv;
  import_taking *t = taking_of(cursor);
  t->last.length = 0;
  t->run->repeated = t->run->taken = t->questions = 0;
  import_uncount(t->run);
  if (!import_sort_start(t->run->stage->sort)) {
    import_fail(t->run, NULL, "there is no memory or no room for temporary files");
    return SQLITE_ERROR;
  }
  return next(cursor);
}

static int at_end(sqlite3_vtab_cursor *cursor) {
  return taking_of(cursor)->ended;
}

static void give(sqlite3_context *to, import_value v) {
  if (v.type == IMPORT_INTEGER) sqlite3_result_int64(to, v.integer);
  if (v.type == IMPORT_REAL) sqlite3_result_double(to, v.real);
  if (v.type == IMPORT_TEXT) sqlite3_result_text(to, v.text, (int)v.length, SQLITE_STATIC);
}

/* A graded answer is neither right nor wrong. */
static void give_correct(const import_taking *t, sqlite3_context *to) {
  const import_staged *r = &t->row;
  bool scored = r->score.type == IMPORT_REAL;
  if (r->error.type != IMPORT_NOTHING || (t->pair->graded && scored)) return;
  sqlite3_result_int(to, r->correct >= 0 ? r->correct : (int)r->score.real);
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int i) {
  const import_taking *t = taking_of(cursor);
  const import_staged *r = &t->row;
  const import_choices *c = t->run->choices;
  switch (i) {
  case 0:
    sqlite3_result_text(to, r->model, -1, SQLITE_STATIC);
    break;
  case 1:
    sqlite3_result_text(to, r->task, -1, SQLITE_STATIC);
    break;
  case 2:
    give(to, r->item);
    break;
  case 3:
    sqlite3_result_int64(to, r->attempt);
    break;
  case 4:
    give_correct(t, to);
    break;
  case 5:
    give(to, r->score);
    break;
  case 6:
    give(to, r->error);
    break;
  case 7:
  case 8:
    if (is_ranged(t)) sqlite3_result_double(to, i == 7 ? c->lo : c->hi);
    break;
  case FIXED:
    give(to, r->cost);
    break;
  case FIXED + 1:
    give(to, r->latency);
    break;
  case FIXED + 2:
    give(to, r->tokens);
    break;
  default:
    give(to, r->kept[i - FIXED - 3]);
  }
  return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out) {
  *out = taking_of(cursor)->run->taken;
  return SQLITE_OK;
}

static const sqlite3_module module = {.xConnect = connect,
                                      .xBestIndex = best_index,
                                      .xDisconnect = disconnect,
                                      .xOpen = open_cursor,
                                      .xClose = close_cursor,
                                      .xFilter = filter,
                                      .xNext = next,
                                      .xEof = at_end,
                                      .xColumn = column,
                                      .xRowid = rowid};

bool import_taken_begin(import_taking *t) {
  return sqlite3_create_module(t->run->db, "import_taken", &module, t) == SQLITE_OK ||
         import_db_failed(t->run);
}

void import_taken_end(import_taking *t) {
  sqlite3_create_module(t->run->db, "import_taken", NULL, NULL);
  import_buffer_free(&t->last);
}
