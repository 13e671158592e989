/*
** Every Eval Ever's samples: UUID_samples.jsonl, beside UUID.json, which has the averages.
**
**   model     model_id
**   task      evaluation_name
**   item      sample_id
**   attempt   the same sample again
**   score     evaluation.score.  is_correct is not read: of scores between 0 and 1 it says what
**             a converter made of them, which is score > 0 in one and score = 1 in another
**   error     what the record says; 'score is missing'
**   latency, tokens   performance.latency_ms, token_usage.total_tokens
**
** A sample has a record for each metric, told apart by evaluation_result_id.  One is taken: for
** each evaluation_name the first, or the chosen metric.
**
** By schema 0.3.0.  Tried on the samples in the project's tests (skill_reference_conversion: one,
** right); tests/import writes others as its converters of HELM, Inspect and lm_eval do.
*/
#include <string.h>

#include "formats.h"

static bool is_samples(import_run *run, const import_file *file) {
  return file->kind == IMPORT_JSONL && import_has(run, file, "$.sample_id") &&
         import_has(run, file, "$.evaluation_name") && import_has(run, file, "$.evaluation.score");
}

/* Files of averages are skipped without a note when a folder is read. */
static bool knows(import_run *run, const import_file *file) {
  return is_samples(run, file) ||
         (file->given && file->kind == IMPORT_JSON && import_has(run, file, "$.schema_version") &&
          import_has(run, file, "$.evaluation_results") && import_has(run, file, "$.model_info"));
}

/* :record is UUID.json, :head the metrics that there are. */
static const char about[] =
    "WITH lower_is_better AS ("
    "  SELECT group_concat(value ->> '$.evaluation_name', ', ') AS names "
    "  FROM json_each(coalesce(:record, '{}'), '$.evaluation_results') "
    "  WHERE value ->> '$.metric_config.lower_is_better'"
    ") "
    "SELECT datetime(CAST(:record ->> '$.evaluation_timestamp' AS INTEGER), 'unixepoch') "
    "         AS created, "
    "       :metric AS metric, names || ': lower is better, and scores are as they are' AS note, "
    "       CASE WHEN :metric NOT IN (SELECT value FROM json_each(:head)) THEN "
    "         'has no evaluation_result_id ' || :metric || '; choose one of ' || "
    "         (SELECT group_concat(value, ', ') FROM json_each(:head)) || ' by --metric' END AS "
    "skip "
    "FROM lower_is_better";

/* first: the metric of each evaluation_name. */
static const char make_first[] =
    "CREATE TABLE first(name TEXT PRIMARY KEY, first_id TEXT) WITHOUT ROWID; "
    "INSERT OR IGNORE INTO first "
    "SELECT record ->> '$.evaluation_name', record ->> '$.evaluation_result_id' FROM records "
    "WHERE record ->> '$.evaluation_name' IS NOT NULL ORDER BY number";

static const char metrics[] =
    "SELECT json_group_array(DISTINCT record ->> '$.evaluation_result_id') FROM records";

static const char answers[] =
    "WITH samples AS ("
    "  SELECT number, record ->> '$.evaluation_name' AS name, "
    "         record ->> '$.evaluation_result_id' AS id, record ->> '$.model_id' AS model, "
    "         record ->> '$.sample_id' AS item, record ->> '$.evaluation.score' AS score, "
    "         record ->> '$.error' AS error, "
    "         (record ->> '$.performance.latency_ms') / 1000.0 AS latency, "
    "         record ->> '$.token_usage.total_tokens' AS tokens FROM records"
    ") "
    "SELECT model, name AS task, item, CASE WHEN error IS NULL THEN score END AS score, "
    "       coalesce(error, CASE WHEN score IS NULL THEN 'score is missing' END) AS error, "
    "       latency, tokens, 'record ' || number AS place, "
    "       CASE WHEN model IS NULL THEN 'has no model_id' WHEN name IS NULL THEN "
    "         'has no evaluation_name' WHEN item IS NULL THEN 'has no sample_id' END AS refused "
    "FROM samples LEFT JOIN first USING (name) "
    "WHERE CASE WHEN :metric IS NULL THEN name IS NULL OR id IS first_id ELSE id = :metric END";

static const char keys[] = "model_id,evaluation_name,evaluation_result_id,sample_id,evaluation,"
                           "error,performance,token_usage";

static bool list_metrics(import_run *run, import_file *file, sqlite3 *db) {
  sqlite3_stmt *stmt = NULL;
  bool ok = sqlite3_exec(db, make_first, NULL, NULL, NULL) == SQLITE_OK &&
            sqlite3_prepare_v2(db, metrics, -1, &stmt, NULL) == SQLITE_OK &&
            sqlite3_step(stmt) == SQLITE_ROW;
  ok = ok ? import_set_head(run, (const char *)sqlite3_column_text(stmt, 0))
          : import_fail(run, file, "its records cannot be read: %s", sqlite3_errmsg(db));
  sqlite3_finalize(stmt);
  return ok;
}

/* What UUID.json says about UUID_samples.jsonl. */
static bool read_about(import_run *run, import_file *file) {
  char *averages = NULL, *name = NULL;
  bool ok = import_set(run, &name, "%.*s.json", (int)strcspn(file->stem, "_"), file->stem) &&
            import_beside(run, file, name, &averages) && import_about(run, file, about, averages);
  sqlite3_free(averages);
  sqlite3_free(name);
  return ok;
}

static bool read(import_run *run, import_file *file) {
  if (!is_samples(run, file))
    return import_fail(run, file, "has only averages: give its _samples.jsonl, or the folder");
  sqlite3 *db = import_table(run, file, NULL, keys);
  bool ok = db && list_metrics(run, file, db) && read_about(run, file) &&
            (file->skipped || import_select(run, file, db, answers));
  sqlite3_close(db);
  return ok;
}

const import_format import_every_eval_ever = {
    .name = "every_eval_ever",
    .reads = "Every Eval Ever's _samples.jsonl",
    .recognised_by = "sample_id, evaluation_name and evaluation.score",
    .becomes = "a task per evaluation_name, with its first metric, or the one that --metric names",
    .knows = knows,
    .read = read};
