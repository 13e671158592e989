/*
** Other tools' databases, through the views of sql/adapters: promptfoo's and Phoenix's.
**
** The head of each of these files says what becomes model, task, item and so on.  A rule of
** the Makefile makes C of them: temporary views, so that the database is only read.
*/
#include "inside.h"

static const char *const promptfoo[] = {
#include "../../build/sql/promptfoo.inc"
};

static const char *const phoenix[] = {
#include "../../build/sql/phoenix.inc"
};

/* The database with the views; NULL after leaving a message. */
static sqlite3 *open_with(import_run *run, const import_file *file, const char *const *lines,
                          size_t count) {
  sqlite3 *db = import_database(run, file);
  sqlite3_str *text = sqlite3_str_new(db);
  for (size_t i = 0; i < count; i++) sqlite3_str_appendall(text, lines[i]);
  char *sql = sqlite3_str_finish(text);
  bool ok = db && (sql || import_no_memory(run));
  if (ok && sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
    ok = import_fail(run, file, "it cannot be read as %s: %s", file->format->name,
                     sqlite3_errmsg(db));
  sqlite3_free(sql);
  if (ok) return db;
  sqlite3_close(db);
  return NULL;
}

/* The text that a SELECT returns, or NULL; for sqlite3_free(). */
static bool text_of(import_run *run, const import_file *file, sqlite3 *db, const char *sql,
                    char **out) {
  sqlite3_stmt *s = NULL;
  int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_step(s);
  bool ok = rc == SQLITE_ROW || rc == SQLITE_DONE ||
            import_fail(run, file, "it cannot be read: %s", sqlite3_errmsg(db));
  const unsigned char *text = rc == SQLITE_ROW ? sqlite3_column_text(s, 0) : NULL;
  *out = text ? sqlite3_mprintf("%s", text) : NULL;
  if (text && !*out) ok = import_no_memory(run);
  sqlite3_finalize(s);
  return ok;
}

/* The note on what a view skipped: the first five, and the number of others. */
#define SKIPPED(view)                                                                              \
  "SELECT group_concat(what || ': ' || note, '; ') || "                                            \
  "       CASE WHEN n > 5 THEN '; and ' || (n - 5) || ' more' ELSE '' END "                        \
  "FROM (SELECT what, note, count(*) OVER () AS n FROM " view " ORDER BY what LIMIT 5)"

static bool read_with(import_run *run, import_file *file, sqlite3 *db, const char *skipped,
                      const char *answers) {
  char *note = NULL;
  bool ok = text_of(run, file, db, skipped, &note) &&
            (!note || import_note(run, file, "%s", note)) && import_select(run, file, db, answers);
  sqlite3_free(note);
  return ok;
}

static bool knows_promptfoo(import_run *run, const import_file *file) {
  return file->kind == IMPORT_DATABASE && import_has(run, file, "$.evals.config") &&
         import_has(run, file, "$.eval_results.failure_reason");
}

static bool read_promptfoo(import_run *run, import_file *file) {
  sqlite3 *db = open_with(run, file, promptfoo, sizeof promptfoo / sizeof *promptfoo);
  bool ok =
      db && read_with(run, file, db, SKIPPED("promptfoo_skipped"), "SELECT * FROM temp.results");
  sqlite3_close(db);
  return ok;
}

static bool knows_phoenix(import_run *run, const import_file *file) {
  return file->kind == IMPORT_DATABASE &&
         import_has(run, file, "$.experiment_runs.dataset_example_id") &&
         import_has(run, file, "$.experiment_run_annotations.score");
}

/* The view takes one annotation for each dataset, unless one is chosen for all. */
static bool read_phoenix(import_run *run, import_file *file) {
  static const char annotations[] =
      "SELECT json_group_array(annotation) FROM "
      "(SELECT DISTINCT annotation FROM phoenix_results WHERE annotation <> '' ORDER BY 1)";
  sqlite3 *db = open_with(run, file, phoenix, sizeof phoenix / sizeof *phoenix);
  char *names = NULL, *chosen = NULL;
  bool ok =
      db && text_of(run, file, db, annotations, &names) &&
      import_names_add(run, file, "SELECT 'metric', value, NULL FROM json_each(:record)", names) &&
      import_names_take(run, file) && import_taken(run, "metric", &chosen);
  if (ok && chosen)
    ok = import_set(run, &file->metric, "%s", chosen) &&
         import_select(run, file, db, "SELECT * FROM phoenix_results WHERE annotation = :metric");
  else if (ok)
    ok = read_with(run, file, db, SKIPPED("phoenix_skipped"), "SELECT * FROM temp.results");
  sqlite3_free(names);
  sqlite3_free(chosen);
  sqlite3_close(db);
  return ok;
}

const import_format import_promptfoo_database = {
    .name = "promptfoo",
    .reads = "promptfoo's database, ~/.promptfoo/promptfoo.db",
    .recognised_by = "tables evals and eval_results",
    .becomes = "a model is a provider and prompt, a task an eval's description; the latest run of "
               "an eval is taken; a run that errored is an error",
    .knows = knows_promptfoo,
    .read = read_promptfoo};

const import_format import_phoenix = {
    .name = "phoenix",
    .reads = "Arize Phoenix's database, ~/.phoenix/phoenix.db",
    .recognised_by = "tables experiment_runs and experiment_run_annotations",
    .becomes = "a model is an experiment, a task a dataset, an attempt a repetition; one "
               "annotation is taken (--metric)",
    .knows = knows_phoenix,
    .read = read_phoenix};
