/*
** Inserts the staged answers into the table results, in the order of its key.
**
** 1. taken.c chooses which answers are taken, and gives them in that order.
** 2. Whether answers are right or wrong or graded is decided for all answers of a model to a
**    task together, including those already in results: one score other than 0 and 1 makes them
**    graded, and then a score of 1 does not mean "right".  The stage guessed from all answers;
**    if the guess was wrong because of answers that were not taken, the insertion is repeated.
** 3. summary.c counts the result.
*/
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

/* A table of the person's own, or of an earlier version, may lack required columns. */
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

/* Adds the columns that the table lacks and the files have. */
static bool add_columns(import_run *run) {
  static const char *const types[IMPORT_COLUMNS] = {
      [IMPORT_COST] = "REAL", [IMPORT_LATENCY] = "REAL", [IMPORT_TOKENS] = "INTEGER"};
  bool ok = true;
  for (int i = IMPORT_COST; ok && i < IMPORT_COLUMNS; i++)
    if (run->stage->has[i] && !import_has_column(run, "results", import_column_names[i]))
      ok = !run->error && import_exec(run, "ALTER TABLE main.results ADD COLUMN %s %s",
                                      import_column_names[i], types[i]);
  for (int i = 0; ok && run->keep[i]; i++)
    if ((i < run->asked || run->stage->has[IMPORT_COLUMNS + i]) &&
        !import_has_column(run, "results", run->keep[i]))
      ok = !run->error &&
           import_exec(run, "ALTER TABLE main.results ADD COLUMN \"%w\"", run->keep[i]);
  return ok;
}

/*
** Inserting
*/

/* Inserts everything by one statement.  Rows that are there already are not written again. */
static bool insert_all(import_run *run) {
  static const char fixed[] =
      "model, task, item, attempt, correct, score, error, score_lo, score_hi";
  sqlite3_str *names = sqlite3_str_new(run->db), *sets = sqlite3_str_new(run->db);
  sqlite3_str *changed = sqlite3_str_new(run->db);
  for (int i = IMPORT_COST; i < IMPORT_COLUMNS + IMPORT_MOST_KEPT; i++) {
    const char *name = i < IMPORT_COLUMNS ? import_column_names[i] : run->keep[i - IMPORT_COLUMNS];
    if (!name) break;
    bool asked = i >= IMPORT_COLUMNS && i - IMPORT_COLUMNS < run->asked;
    if (!asked && !run->stage->has[i]) continue;
    sqlite3_str_appendf(names, ", \"%w\"", name);
    sqlite3_str_appendf(sets, ", \"%w\" = excluded.\"%w\"", name, name);
    sqlite3_str_appendf(changed, " OR results.\"%w\" IS NOT excluded.\"%w\"", name, name);
  }
  char *more = sqlite3_str_finish(names), *set = sqlite3_str_finish(sets);
  char *differs = sqlite3_str_finish(changed);
  bool ok = import_exec(
      run,
      "INSERT INTO main.results(%s%s) SELECT %s%s FROM import_taken WHERE true "
      "ON CONFLICT (task, item, model, attempt) DO UPDATE SET "
      "correct = excluded.correct, score = excluded.score, error = excluded.error, "
      "score_lo = excluded.score_lo, score_hi = excluded.score_hi%s "
      "WHERE results.correct IS NOT excluded.correct OR results.score IS NOT excluded.score OR "
      "results.error IS NOT excluded.error OR results.score_lo IS NOT excluded.score_lo OR "
      "results.score_hi IS NOT excluded.score_hi%s",
      fixed, more ? more : "", fixed, more ? more : "", set ? set : "", differs ? differs : "");
  sqlite3_free(more);
  sqlite3_free(set);
  sqlite3_free(differs);
  return ok;
}

/* Checks the guesses of the stage, and corrects them. */
static bool were_guesses_right(import_run *run) {
  bool right = true;
  for (size_t i = 0; i < import_map_count(run->stage->pairs); i++) {
    import_pair *p = import_map_entry(run->stage->pairs, i);
    right = right && p->graded == p->found;
    p->graded = p->found;
  }
  return right;
}

static bool insert_twice(import_run *run) {
  if (!import_exec(run, "SAVEPOINT import_insert") || !insert_all(run)) return false;
  if (run->refusals == 0 && !were_guesses_right(run))
    return import_exec(run, "ROLLBACK TO import_insert; RELEASE import_insert") && insert_all(run);
  return import_exec(run, "RELEASE import_insert");
}

/* Finds files that are older runs of the same model and task. */
static bool find_replaced(import_run *run, import_taking *t) {
  import_map *latest = import_map_new(sizeof(import_file *));
  bool ok = latest || import_no_memory(run);
  for (import_file *f = run->files; ok && f; f = f->next) {
    if (!f->one_run || f->skipped || !f->model || !f->task) continue;
    char *name = sqlite3_mprintf("%s\n%s", f->model, f->task);
    import_file **at = name ? import_map_at(latest, name, strlen(name), true) : NULL;
    sqlite3_free(name);
    if (!at) {
      ok = import_no_memory(run);
      break;
    }
    import_file *old = *at;
    bool later =
        !old || strcmp(f->created ? f->created : "", old->created ? old->created : "") >= 0;
    import_file *loser = later ? old : f;
    if (later) *at = f;
    if (!loser) continue;
    t->replaced[loser->id] = true;
    ok = import_skip(run, loser, "not imported: there is a later run");
  }
  import_map_free(latest);
  return ok;
}

static bool insert(import_run *run, import_done *done) {
  import_taking t = {.run = run};
  size_t files = (size_t)run->file_count + 1;
  t.files = sqlite3_malloc64(files * sizeof *t.files);
  t.replaced = sqlite3_malloc64(files);
  bool ok = (t.files && t.replaced) || import_no_memory(run);
  if (ok) memset(t.replaced, 0, files);
  for (const import_file *f = run->files; ok && f; f = f->next) t.files[f->id] = f;
  ok = ok && find_replaced(run, &t) && import_taken_begin(&t) && insert_twice(run);
  import_taken_end(&t);
  done->rows = run->taken;
  done->questions = t.questions;
  sqlite3_free(t.files);
  sqlite3_free(t.replaced);
  return ok;
}

/*
** Together with earlier rows
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

/* Notes on attempts that were counted, at the first of a person's own tables. */
static bool note_repeated(import_run *run) {
  for (import_file *f = run->files; run->repeated && f; f = f->next)
    if (f->format && !f->skipped && f->strict)
      return import_note(run, f,
                         "%lld questions occur several times without an attempt: taken as attempts",
                         run->repeated);
  return true;
}

bool import_settle(import_run *run, import_done *done) {
  bool existed;
  done->table = "results";
  return import_exec(run, "%s", schema) && check_table(run) && add_columns(run) &&
         ask(run, "SELECT EXISTS (SELECT 1 FROM main.results)", &existed) && insert(run, done) &&
         run->refusals == 0 && note_repeated(run) &&
         (existed ? settle_with_others(run) && import_recount(run, done)
                  : import_count_names(run, done)) &&
         import_summarize(run);
}
