/*
** From the stage to the table results, in the order of its key.
**
** 1. Of answers with the same model, task, item and attempt the later file's is taken, and
**    the last of those in it.  Answers without an attempt are counted within their file.
** 2. Right or wrong is decided for all answers of a model to a task together, those that
**    results has already included: one score that is neither 0 nor 1 makes them graded, and
**    a graded 1 is not an answer that is right.  The stage guessed which are, from all answers;
**    where those that were not taken made the difference, the insertion is done again.
** 3. One reading of results then counts what there is, for temp.import_told and the caller.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

/* As sql/schema.sql has it; tests/import compares them. */
static const char schema[] =
    "CREATE TABLE IF NOT EXISTS main.results("
    "model TEXT NOT NULL, task TEXT NOT NULL, item NOT NULL, attempt INTEGER NOT NULL DEFAULT 1, "
    "correct INTEGER, score REAL, error TEXT, score_lo REAL, score_hi REAL, cost REAL, latency "
    "REAL, "
    "tokens INTEGER, PRIMARY KEY (task, item, model, attempt), CHECK (model <> ''), "
    "CHECK (typeof(attempt) = 'integer'), "
    "CHECK (typeof(correct) IN ('integer', 'null') AND correct IN (0, 1)), "
    "CHECK (typeof(score) IN ('real', 'null')), CHECK (score_lo < score_hi), "
    "CHECK ((score_lo IS NULL) = (score_hi IS NULL))) WITHOUT ROWID";

/*
** The table
*/

static bool ask(import_run *run, const char *sql, bool *out) {
  sqlite3_stmt *one = NULL;
  if (!import_prepare(run, &one, "%s", sql)) return false;
  int rc = sqlite3_step(one);
  *out = rc == SQLITE_ROW && sqlite3_column_int(one, 0);
  sqlite3_finalize(one);
  return rc == SQLITE_ROW || import_db_failed(run);
}

/* A table of the person's own, or of an earlier version, may lack what is needed. */
static bool check_table(import_run *run) {
  static const char *const needed[][2] = {
      {"model", "TEXT"},      {"task", "TEXT"},
      {"item", ""},           {"attempt", "INTEGER NOT NULL DEFAULT 1"},
      {"correct", "INTEGER"}, {"score", "REAL"},
      {"error", "TEXT"},      {"score_lo", "REAL"},
      {"score_hi", "REAL"}};
  bool view, key;
  if (!ask(run,
           "SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE name = 'results' COLLATE NOCASE "
           "AND type = 'view')",
           &view))
    return false;
  if (view) return import_fail(run, NULL, "results is a view here; import into another database");
  for (int i = 0; i < 9; i++)
    if (!import_has_column(run, "results", needed[i][0]))
      return !run->error &&
             import_fail(run, NULL,
                         "results has no column %s; add it by ALTER TABLE results ADD COLUMN %s %s",
                         needed[i][0], needed[i][0], needed[i][1]);
  if (!ask(run,
           "SELECT EXISTS (SELECT 1 FROM pragma_index_list('results', 'main') AS i WHERE "
           "i.\"unique\" AND NOT i.partial AND "
           "(SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(i.name, 'main') "
           "ORDER BY name)) = "
           "'attempt,item,model,task')",
           &key))
    return false;
  return key ||
         import_fail(run, NULL,
                     "results has no key by which an answer is found again; make it by "
                     "CREATE UNIQUE INDEX results_key ON results(task, item, model, attempt)");
}

/* What the table lacks and the files have. */
static bool add_columns(import_run *run) {
  static const char *const types[IMPORT_COLUMNS] = {
      [IMPORT_COST] = "REAL", [IMPORT_LATENCY] = "REAL", [IMPORT_TOKENS] = "INTEGER"};
  bool ok = true;
  for (int i = IMPORT_COST; ok && i < IMPORT_COLUMNS; i++)
    if (run->stage->has[i] && !import_has_column(run, "results", import_column_names[i]))
      ok = !run->error && import_exec(run, "ALTER TABLE main.results ADD COLUMN %s %s",
                                      import_column_names[i], types[i]);
  for (int i = 0; ok && run->keep[i]; i++)
    if (!import_has_column(run, "results", run->keep[i]))
      ok = !run->error &&
           import_exec(run, "ALTER TABLE main.results ADD COLUMN \"%w\"", run->keep[i]);
  return ok;
}

/*
** Inserting
*/

typedef struct inserting {
  import_run *run;
  sqlite3_stmt *insert;
  const import_file **files; /* by number */
  bool *replaced;            /* of which another run is the later */
  import_buffer last;        /* the key of the row before */
  sqlite3_int64 file, counted;
} inserting;

enum { FIXED = 9 };

static bool prepare_insert(import_run *run, sqlite3_stmt **out) {
  sqlite3_str *names = sqlite3_str_new(run->db), *values = sqlite3_str_new(run->db),
              *sets = sqlite3_str_new(run->db);
  sqlite3_str_appendall(names,
                        "model, task, item, attempt, correct, score, error, score_lo, score_hi");
  sqlite3_str_appendall(values, "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9");
  sqlite3_str_appendall(
      sets, "correct = excluded.correct, score = excluded.score, error = excluded.error, "
            "score_lo = excluded.score_lo, score_hi = excluded.score_hi");
  int n = FIXED;
  for (int i = IMPORT_COST; i < IMPORT_COLUMNS + IMPORT_MOST_KEPT; i++) {
    const char *name = i < IMPORT_COLUMNS ? import_column_names[i] : run->keep[i - IMPORT_COLUMNS];
    if (!name) break;
    if (i < IMPORT_COLUMNS && !run->stage->has[i]) continue;
    sqlite3_str_appendf(names, ", \"%w\"", name);
    sqlite3_str_appendf(values, ", ?%d", ++n);
    sqlite3_str_appendf(sets, ", \"%w\" = excluded.\"%w\"", name, name);
  }
  char *texts[3] = {sqlite3_str_finish(names), sqlite3_str_finish(values),
                    sqlite3_str_finish(sets)};
  bool ok = (texts[0] && texts[1] && texts[2]) || import_no_memory(run);
  ok = ok && import_prepare(run, out,
                            "INSERT INTO main.results(%s) VALUES (%s) ON CONFLICT (task, item, "
                            "model, attempt) DO UPDATE SET %s",
                            texts[0], texts[1], texts[2]);
  for (int i = 0; i < 3; i++) sqlite3_free(texts[i]);
  return ok;
}

static int bind(sqlite3_stmt *to, int at, import_value v) {
  switch (v.type) {
  case IMPORT_INTEGER:
    return sqlite3_bind_int64(to, at, v.integer);
  case IMPORT_REAL:
    return sqlite3_bind_double(to, at, v.real);
  case IMPORT_TEXT:
    return sqlite3_bind_text(to, at, v.text, (int)v.length, SQLITE_STATIC);
  default:
    return sqlite3_bind_null(to, at);
  }
}

static int bind_row(inserting *in, const import_staged *r, bool graded) {
  import_run *run = in->run;
  const import_choices *c = run->choices;
  bool by_score = graded && r->score.type == IMPORT_REAL, unknown = r->error.type != IMPORT_NOTHING;
  bool range = by_score && c->has_range && (c->lo != 0 || c->hi != 1);
  import_value correct = {0};
  if (!unknown && !by_score) {
    correct = (import_value){.type = IMPORT_INTEGER, .integer = r->correct};
    if (r->correct < 0) correct.integer = (sqlite3_int64)r->score.real;
  }
  sqlite3_stmt *to = in->insert;
  int rc = sqlite3_bind_text(to, 1, r->model, -1, SQLITE_STATIC) |
           sqlite3_bind_text(to, 2, r->task, -1, SQLITE_STATIC) | bind(to, 3, r->item) |
           sqlite3_bind_int64(to, 4, r->attempt) | bind(to, 5, correct) | bind(to, 6, r->score) |
           bind(to, 7, r->error);
  rc |= range ? sqlite3_bind_double(to, 8, c->lo) | sqlite3_bind_double(to, 9, c->hi)
              : sqlite3_bind_null(to, 8) | sqlite3_bind_null(to, 9);
  import_value more[] = {r->cost, r->latency, r->tokens};
  int n = FIXED;
  for (int i = IMPORT_COST; i < IMPORT_COLUMNS; i++)
    if (run->stage->has[i]) rc |= bind(to, ++n, more[i - IMPORT_COST]);
  for (int i = 0; run->keep[i]; i++) rc |= bind(to, ++n, r->kept[i]);
  return rc;
}

static bool insert_row(inserting *in, const import_staged *r) {
  import_run *run = in->run;
  import_buffer *name = &run->stage->pair_name;
  name->length = 0;
  if (!import_append(run, name, r->model, strlen(r->model) + 1) ||
      !import_append(run, name, r->task, strlen(r->task)))
    return false;
  import_pair *pair = import_map_at(run->stage->pairs, name->text, name->length, false);
  const import_choices *c = run->choices;
  if (r->error.type == IMPORT_NOTHING && r->correct < 0 && r->score.type == IMPORT_REAL)
    pair->found |=
        (r->score.real != 0 && r->score.real != 1) || (c->has_range && (c->lo != 0 || c->hi != 1));
  if (bind_row(in, r, pair->graded)) return import_no_memory(run);
  int rc = sqlite3_step(in->insert);
  if (rc == SQLITE_DONE) rc = sqlite3_reset(in->insert);
  return rc == SQLITE_OK || import_db_failed(run);
}

/* Whether the row is to be taken; counts the attempts of those that have none. */
static bool choose(inserting *in, import_staged *r, bool *taken) {
  import_run *run = in->run;
  bool same = in->last.length == r->same && memcmp(in->last.text, r->key, r->same) == 0;
  *taken = false;
  if (in->replaced[r->file]) return true;
  if (!same) {
    in->last.length = 0;
    in->counted = 0;
    in->file = r->file;
    if (!import_append(run, &in->last, r->key, r->same)) return false;
  } else if (in->file != r->file) {
    return true;
  } else if (r->has_attempt) {
    const import_file *file = in->files[r->file];
    char place[60];
    sqlite3_snprintf(sizeof place, place, "%.30s %lld", file->unit ? file->unit : "record",
                     r->number);
    return !file->strict ||
           import_refuse(run, file, place, "the same model, task, item and attempt as another one");
  }
  *taken = true;
  if (!r->has_attempt) r->attempt = ++in->counted;
  if (!r->has_attempt && in->counted == 2) run->repeated++;
  return true;
}

static bool insert_all(inserting *in) {
  import_run *run = in->run;
  const unsigned char *key, *row;
  size_t key_length, row_length;
  int found;
  in->last.length = 0;
  run->repeated = 0;
  if (!import_sort_start(run->stage->sort))
    return import_fail(run, NULL, "there is no memory or no room for temporary files");
  while ((found = import_sort_next(run->stage->sort, &key, &key_length, &row, &row_length)) == 1) {
    import_staged r;
    bool taken;
    import_staged_read(run, key, key_length, row, &r);
    if (!choose(in, &r, &taken) || (taken && !insert_row(in, &r))) return false;
  }
  return found == 0 || import_fail(run, NULL, "a temporary file cannot be read");
}

/* Whether the guesses of the stage were right; puts them right. */
static bool were_guesses_right(import_run *run) {
  bool right = true;
  for (size_t i = 0; i < import_map_count(run->stage->pairs); i++) {
    import_pair *p = import_map_entry(run->stage->pairs, i);
    right = right && p->graded == p->found;
    p->graded = p->found;
  }
  return right;
}

static bool insert_twice(inserting *in) {
  import_run *run = in->run;
  if (!import_exec(run, "SAVEPOINT import_insert") || !insert_all(in)) return false;
  if (run->refusals == 0 && !were_guesses_right(run))
    return import_exec(run, "ROLLBACK TO import_insert; RELEASE import_insert") && insert_all(in);
  return import_exec(run, "RELEASE import_insert");
}

/* Of files that are one run each of the same model and task, all but the latest. */
static bool find_replaced(import_run *run, inserting *in) {
  import_map *latest = import_map_new(sizeof(import_file *));
  bool ok = latest || import_no_memory(run);
  for (import_file *f = run->files; ok && f; f = f->next) {
    if (!f->one_run || f->skipped || !f->model || !f->task) continue;
    char *name = sqlite3_mprintf("%s\n%s", f->model, f->task);
    import_file **at = name ? import_map_at(latest, name, strlen(name), true) : NULL;
    sqlite3_free(name);
    if (!at) ok = import_no_memory(run);
    if (!at) break;
    import_file *old = *at;
    bool later =
        !old || strcmp(f->created ? f->created : "", old->created ? old->created : "") >= 0;
    import_file *loser = later ? old : f;
    if (later) *at = f;
    if (!loser) continue;
    in->replaced[loser->id] = true;
    ok = import_skip(run, loser, "not imported: there is a later run");
  }
  import_map_free(latest);
  return ok;
}

static bool insert(import_run *run) {
  inserting in = {.run = run};
  size_t files = (size_t)run->file_count + 1;
  in.files = sqlite3_malloc64(files * sizeof *in.files);
  in.replaced = sqlite3_malloc64(files);
  bool ok = (in.files && in.replaced) || import_no_memory(run);
  if (ok) memset(in.replaced, 0, files);
  for (const import_file *f = run->files; ok && f; f = f->next) in.files[f->id] = f;
  ok = ok && find_replaced(run, &in) && prepare_insert(run, &in.insert) && insert_twice(&in);
  sqlite3_finalize(in.insert);
  sqlite3_free(in.files);
  sqlite3_free(in.replaced);
  import_buffer_free(&in.last);
  return ok;
}

/*
** With what was there before
*/

static bool list_pairs(import_run *run) {
  sqlite3_stmt *add = NULL;
  bool ok = import_exec(run, "CREATE TEMP TABLE import_pairs(model, task, graded, PRIMARY KEY "
                             "(model, task)) WITHOUT ROWID") &&
            import_prepare(run, &add, "INSERT INTO temp.import_pairs VALUES (?, ?, ?)");
  for (size_t i = 0; ok && i < import_map_count(run->stage->pairs); i++) {
    const char *model = import_map_name(run->stage->pairs, i, NULL);
    const import_pair *p = import_map_entry(run->stage->pairs, i);
    int rc = sqlite3_bind_text(add, 1, model, -1, SQLITE_STATIC) |
             sqlite3_bind_text(add, 2, model + strlen(model) + 1, -1, SQLITE_STATIC) |
             sqlite3_bind_int(add, 3, p->graded);
    ok = (rc == SQLITE_OK && sqlite3_step(add) == SQLITE_DONE && sqlite3_reset(add) == SQLITE_OK) ||
         import_db_failed(run);
  }
  sqlite3_finalize(add);
  return ok;
}

static bool settle_with_others(import_run *run) {
  return list_pairs(run) && import_exec(run, "UPDATE temp.import_pairs AS p SET graded = 1 FROM "
                                             "(SELECT DISTINCT model, task FROM main.results "
                                             "WHERE error IS NULL AND correct IS NULL AND (score "
                                             "NOT IN (0, 1) OR score_lo IS NOT NULL)) AS e "
                                             "WHERE p.model = e.model AND p.task = e.task;"
                                             "UPDATE main.results AS r SET correct = NULL WHERE "
                                             "correct IS NOT NULL AND score IS NOT NULL AND EXISTS "
                                             "(SELECT 1 FROM temp.import_pairs AS p WHERE p.model "
                                             "= r.model AND p.task = r.task AND p.graded);"
                                             "UPDATE main.results AS r SET correct = CAST(score AS "
                                             "INTEGER) WHERE correct IS NULL AND error IS NULL "
                                             "AND score IN (0, 1) AND EXISTS "
                                             "(SELECT 1 FROM temp.import_pairs AS p WHERE p.model "
                                             "= r.model AND p.task = r.task AND NOT p.graded);"
                                             "DROP TABLE temp.import_pairs");
}

/*
** What there is now
*/

/* Adds a row of results: model, task, correct, score, error, score_lo. */
static void count_row(import_pair *p, sqlite3_stmt *row) {
  bool errored = sqlite3_column_type(row, 5) != SQLITE_NULL,
       verdict = sqlite3_column_type(row, 3) != SQLITE_NULL;
  bool scored = sqlite3_column_type(row, 4) != SQLITE_NULL;
  double score = verdict ? sqlite3_column_double(row, 3) : sqlite3_column_double(row, 4);
  p->rows++;
  if (errored || (!verdict && !scored)) return;
  p->answers++;
  p->verdicts += verdict;
  p->correct += verdict && score != 0;
  p->sum += score;
  if (verdict || sqlite3_column_type(row, 6) != SQLITE_NULL) return;
  if (!p->has_scores || score < p->least) p->least = score;
  if (!p->has_scores || score > p->most) p->most = score;
  p->has_scores = true;
}

typedef struct counting {
  import_run *run;
  import_done *done;
  import_map *models;
  import_buffer now, last; /* a question: task, zero, type, item */
  size_t task_length;      /* in `last` */
} counting;

/* Whether the row's question or task is another than before. */
static bool count_question(counting *c, sqlite3_stmt *row, const char *task, size_t task_length) {
  char type = (char)sqlite3_column_type(row, 1);
  sqlite3_int64 number = type == SQLITE_INTEGER ? sqlite3_column_int64(row, 1) : 0;
  const void *item = &number;
  size_t length = sizeof number;
  if (type != SQLITE_INTEGER) {
    item = sqlite3_column_blob(row, 1);
    length = (size_t)sqlite3_column_bytes(row, 1);
  }
  c->now.length = 0;
  if (!import_append(c->run, &c->now, task, task_length + 1) ||
      !import_append(c->run, &c->now, &type, 1) || !import_append(c->run, &c->now, item, length))
    return false;
  bool first = c->done->rows++ == 0;
  bool same_task =
      !first && c->task_length == task_length && memcmp(c->last.text, task, task_length) == 0;
  bool same = same_task && c->now.length == c->last.length &&
              memcmp(c->now.text, c->last.text, c->now.length) == 0;
  import_buffer other = c->last;
  c->last = c->now;
  c->now = other;
  c->task_length = task_length;
  c->done->tasks += !same_task;
  c->done->questions += !same;
  return true;
}

static bool count_one(counting *c, sqlite3_stmt *row) {
  import_stage *s = c->run->stage;
  const char *task = (const char *)sqlite3_column_text(row, 0),
             *model = (const char *)sqlite3_column_text(row, 2);
  size_t task_length = (size_t)sqlite3_column_bytes(row, 0),
         model_length = (size_t)sqlite3_column_bytes(row, 2);
  if (!task || !model) return true;
  s->pair_name.length = 0;
  if (!count_question(c, row, task, task_length) ||
      !import_append(c->run, &s->pair_name, model, model_length + 1) ||
      !import_append(c->run, &s->pair_name, task, task_length))
    return false;
  import_pair *p = import_map_at(s->pairs, s->pair_name.text, s->pair_name.length, false);
  if (p) count_row(p, row);
  return import_map_at(c->models, model, model_length, true) || import_no_memory(c->run);
}

static bool count_table(import_run *run, import_done *done) {
  counting c = {.run = run, .done = done, .models = import_map_new(1)};
  sqlite3_stmt *row = NULL;
  bool ok = (c.models || import_no_memory(run)) &&
            import_prepare(run, &row,
                           "SELECT task, item, model, correct, score, error, score_lo FROM "
                           "main.results ORDER BY task, item");
  int rc = SQLITE_DONE;
  while (ok && (rc = sqlite3_step(row)) == SQLITE_ROW) ok = count_one(&c, row);
  if (ok && rc != SQLITE_DONE) ok = import_db_failed(run);
  if (ok) done->models = (sqlite3_int64)import_map_count(c.models);
  sqlite3_finalize(row);
  import_map_free(c.models);
  import_buffer_free(&c.now);
  import_buffer_free(&c.last);
  return ok;
}

/*
** What people are told
*/

typedef struct line {
  const import_file *file;
  const char *model, *task;
  const import_pair *pair;
} line;

static int compare_lines(const void *a, const void *b) {
  const line *x = a, *y = b;
  int by_file = (x->file->id > y->file->id) - (x->file->id < y->file->id);
  int by_model = by_file ? by_file : strcmp(x->model, y->model);
  return by_model ? by_model : strcmp(x->task, y->task);
}

/* The lines from `from` to `to` are of one file and model. */
static bool tell(import_run *run, sqlite3_stmt *add, const import_file *f, const line *from,
                 const line *to) {
  import_pair sum = {.least = INFINITY, .most = -INFINITY};
  for (const line *l = from; l < to; l++) {
    sum.rows += l->pair->rows;
    sum.answers += l->pair->answers;
    sum.verdicts += l->pair->verdicts;
    sum.correct += l->pair->correct;
    sum.sum += l->pair->sum;
    if (l->pair->has_scores) sum.least = fmin(sum.least, l->pair->least);
    if (l->pair->has_scores) sum.most = fmax(sum.most, l->pair->most);
  }
  bool outside = from < to && (sum.least < 0 || sum.most > 1) && sum.least <= sum.most;
  char *tasks = to - from == 1 ? sqlite3_mprintf("%s", from->task)
                : from < to    ? sqlite3_mprintf("%d tasks", (int)(to - from))
                               : NULL;
  char *note =
      outside ? sqlite3_mprintf(
                    "%s%sscores from %!.6g to %!.6g: import again with their range, --lo and --hi",
                    f->note ? f->note : "", f->note ? "; " : "", sum.least, sum.most)
              : NULL;
  int rc = sqlite3_bind_text(add, 1, f->path, -1, SQLITE_STATIC) |
           sqlite3_bind_text(add, 2, f->format ? f->format->name : NULL, -1, SQLITE_STATIC) |
           sqlite3_bind_text(add, 3, from < to ? from->model : f->model, -1, SQLITE_STATIC) |
           sqlite3_bind_text(add, 4, from < to ? tasks : f->task, -1, SQLITE_STATIC) |
           sqlite3_bind_text(add, 5, f->metric, -1, SQLITE_STATIC) |
           sqlite3_bind_int64(add, 6, sum.answers) |
           (sum.answers && sum.verdicts == sum.answers ? sqlite3_bind_int64(add, 7, sum.correct)
                                                       : sqlite3_bind_null(add, 7)) |
           (sum.answers ? sqlite3_bind_double(add, 8, sum.sum / (double)sum.answers)
                        : sqlite3_bind_null(add, 8)) |
           sqlite3_bind_int64(add, 9, sum.rows - sum.answers) |
           sqlite3_bind_text(add, 10, note ? note : f->note, -1, SQLITE_STATIC);
  bool ok =
      (rc == SQLITE_OK && sqlite3_step(add) == SQLITE_DONE && sqlite3_reset(add) == SQLITE_OK) ||
      import_db_failed(run);
  sqlite3_free(tasks);
  sqlite3_free(note);
  return ok;
}

static bool tell_all(import_run *run) {
  import_stage *s = run->stage;
  size_t count = import_map_count(s->asked), at = 0;
  line *lines = sqlite3_malloc64((count + 1) * sizeof *lines);
  sqlite3_stmt *add = NULL;
  bool ok = (lines || import_no_memory(run)) &&
            import_exec(run, "DROP TABLE IF EXISTS temp.import_told; CREATE TEMP TABLE "
                             "import_told(path TEXT, format TEXT, model TEXT, "
                             "task TEXT, metric TEXT, n INTEGER, correct INTEGER, mean REAL, "
                             "errored INTEGER, note TEXT)") &&
            import_prepare(run, &add,
                           "INSERT INTO temp.import_told VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (size_t i = 0; ok && i < count; i++) {
    const void *asked[2];
    memcpy(asked, import_map_name(s->asked, i, NULL), sizeof asked);
    lines[i] = (line){.file = asked[0], .pair = asked[1]};
    lines[i].model = import_map_name(s->pairs, lines[i].pair->index, NULL);
    lines[i].task = lines[i].model + strlen(lines[i].model) + 1;
  }
  if (ok) qsort(lines, count, sizeof *lines, compare_lines);
  for (const import_file *f = run->files; ok && f; f = f->next) {
    size_t before = at;
    while (ok && !f->skipped && at < count && lines[at].file == f) {
      size_t to = at;
      while (to < count && lines[to].file == f && strcmp(lines[to].model, lines[at].model) == 0)
        to++;
      ok = tell(run, add, f, lines + at, lines + to);
      at = to;
    }
    while (at < count && lines[at].file == f) at++;
    if (ok && (before == at || f->skipped) && (f->note || f->given))
      ok = tell(run, add, f, lines, lines);
  }
  sqlite3_finalize(add);
  sqlite3_free(lines);
  return ok;
}

/* Notes on attempts that were counted, at the first file of a person's own table. */
static bool note_repeated(import_run *run) {
  for (import_file *f = run->files; run->repeated && f; f = f->next)
    if (f->format && !f->skipped && f->strict)
      return import_note(
          run, f, "%lld questions come several times without an attempt: counted as attempts",
          run->repeated);
  return true;
}

bool import_settle(import_run *run, import_done *done) {
  bool existed;
  done->table = "results";
  return import_exec(run, "%s", schema) && check_table(run) && add_columns(run) &&
         ask(run, "SELECT EXISTS (SELECT 1 FROM main.results)", &existed) && insert(run) &&
         run->refusals == 0 && (!existed || settle_with_others(run)) && note_repeated(run) &&
         count_table(run, done) && tell_all(run);
}
