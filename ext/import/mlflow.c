/*
** MLflow's mlflow.db: what judges, code and people said of traces.
**
**   model     the run that made the trace, or else the run that assessed it, or the logged
**             model, or the experiment: by its name, with the start of its id where an
**             experiment has two of that name.  Deleted runs are left out
**   task      the experiment's name
**   item      the start of the request that MLflow keeps, by which runs are paired; the
**             trace's id where that is missing or cut, at 1000 characters
**   score     what the judge or code said, or else a person: numbers, true and false, and
**             words such as yes and no
**   judge, human   both, side by side: SELECT model, judged_ci(judge, human) FROM results
**             GROUP BY model.  A judgement that a person replaced is still the judge's
**   error     what the judge failed with; 'the trace ended with an error'
**   cost, latency, tokens   mlflow.trace.cost, execution_time_ms, mlflow.trace.tokenUsage
**
** A trace has an assessment for each name, and each is a reading of the same answer.  One is
** taken: for each experiment the name with the most judgements by people, then with the most
** numbers and verdicts, then the first; or the one that is chosen as metric.
**
** Tried on a database that the SqlAlchemyStore of MLflow 3.15.2.dev0 wrote: 12 traces of 2 runs,
** 63 assessments, of which 11 judgements of correctness, 8 with a person's beside them.
*/
#include "formats.h"

static bool knows(import_run *run, const import_file *file) {
  return file->kind == IMPORT_DATABASE && import_has(run, file, "$.assessments.assessment_type") &&
         import_has(run, file, "$.trace_info.request_id");
}

/* said: the latest of each kind of source about a trace.  taken: the name for each experiment. */
#define TAKEN                                                                                      \
  "WITH told AS ("                                                                                 \
  "  SELECT trace_id, name, run_id, source_type = 'HUMAN' AS by_human, error, "                    \
  "         CASE WHEN json_valid(value) THEN json_type(value) END AS type, "                       \
  "         CASE WHEN json_valid(value) THEN value ->> '$' END AS value, "                         \
  "         row_number() OVER (PARTITION BY trace_id, name, source_type = 'HUMAN' "                \
  "                            ORDER BY created_timestamp DESC, assessment_id DESC) AS back "      \
  "  FROM assessments "                                                                            \
  "  WHERE assessment_type = 'feedback' AND (valid OR assessment_id IN "                           \
  "    (SELECT overrides FROM assessments WHERE source_type = 'HUMAN' AND overrides IS NOT NULL))" \
  "), said AS MATERIALIZED ("                                                                      \
  "  SELECT trace_id, name, by_human, run_id, "                                                    \
  "         CASE WHEN json_valid(error) THEN coalesce(error ->> '$.error_message', "               \
  "                   error ->> '$.error_code', error) ELSE error END AS error, "                  \
  "         CASE WHEN type IN ('true', 'false', 'integer', 'real') THEN value "                    \
  "              WHEN lower(value) IN ('yes', 'true', 'pass', 'passed', 'correct') THEN 1 "        \
  "              WHEN lower(value) IN ('no', 'false', 'fail', 'failed', 'incorrect') THEN 0 "      \
  "         END AS value FROM told WHERE back = 1"                                                 \
  "), names AS MATERIALIZED ("                                                                     \
  "  SELECT experiment_id, name, row_number() OVER (PARTITION BY experiment_id ORDER BY "          \
  "           count(value) FILTER (WHERE by_human) DESC, count(value) DESC, name) AS rank "        \
  "  FROM said JOIN trace_info ON request_id = trace_id "                                          \
  "  GROUP BY experiment_id, name HAVING count(value) > 0"                                         \
  "), taken AS MATERIALIZED ("                                                                     \
  "  SELECT experiment_id, name FROM names "                                                       \
  "  WHERE CASE WHEN :metric IS NULL THEN rank = 1 ELSE name = :metric END) "

static const char names[] =
    TAKEN "SELECT (SELECT group_concat(name, ', ') FROM (SELECT DISTINCT name FROM taken)), "
          "       (SELECT group_concat(name, ', ') FROM (SELECT DISTINCT name FROM names))";

static const char answers[] = TAKEN
    ", run AS MATERIALIZED ("
    "  SELECT run_uuid, lifecycle_stage = 'deleted' AS deleted, "
    "         CASE WHEN count(*) OVER (PARTITION BY experiment_id, name) > 1 OR name IS NULL "
    "              THEN coalesce(name || ' ', '') || substr(run_uuid, 1, 8) ELSE name END AS name "
    "  FROM runs"
    "), trace AS MATERIALIZED ("
    "  SELECT t.request_id AS trace_id, t.experiment_id, t.status = 'ERROR' AS failed, "
    "         t.execution_time_ms / 1000.0 AS latency, "
    "         CASE WHEN length(t.request_preview) < 1000 THEN nullif(t.request_preview, '') END "
    "           AS request, "
    "         max(m.value) FILTER (WHERE m.key = 'mlflow.sourceRun') AS made_by, "
    "         max(m.value) FILTER (WHERE m.key = 'mlflow.modelId') AS model_id, "
    "         max(CASE WHEN json_valid(m.value) THEN m.value ->> '$.total_cost' END) "
    "           FILTER (WHERE m.key = 'mlflow.trace.cost') AS cost, "
    "         max(CASE WHEN json_valid(m.value) THEN m.value ->> '$.total_tokens' END) "
    "           FILTER (WHERE m.key = 'mlflow.trace.tokenUsage') AS tokens "
    "  FROM trace_info AS t LEFT JOIN trace_request_metadata AS m ON m.request_id = t.request_id "
    "  GROUP BY t.request_id"
    "), judged AS MATERIALIZED ("
    "  SELECT trace_id, max(value) FILTER (WHERE NOT by_human) AS judge, "
    "         max(value) FILTER (WHERE by_human) AS human, "
    "         max(error) FILTER (WHERE NOT by_human) AS error, max(run_id) AS judged_by "
    "  FROM said JOIN trace USING (trace_id) JOIN taken USING (experiment_id, name) "
    "  GROUP BY trace_id"
    ") "
    "SELECT coalesce(run.name, l.name, e.name) AS model, e.name AS task, "
    "       coalesce(request, trace_id) AS item, coalesce(judge, human) AS score, "
    "       CASE WHEN coalesce(judge, human) IS NULL THEN "
    "         coalesce(error, CASE WHEN failed THEN 'the trace ended with an error' "
    "                              ELSE 'score is missing' END) END AS error, "
    "       cost, latency, tokens, judge, human, 'trace ' || trace_id AS place "
    "FROM trace JOIN taken USING (experiment_id) JOIN experiments AS e USING (experiment_id) "
    "LEFT JOIN judged USING (trace_id) LEFT JOIN run ON run_uuid = coalesce(made_by, judged_by) "
    "LEFT JOIN logged_models AS l ON l.model_id = trace.model_id "
    "WHERE run.deleted IS NOT 1 AND "
    "  (judged.trace_id IS NOT NULL OR made_by IS NOT NULL AND failed)";

/* Chooses the name to import, and notes it, or that there is none. */
static bool choose(import_run *run, import_file *file, sqlite3 *db) {
  const char *metric = import_chosen(run)->metric;
  sqlite3_stmt *stmt = NULL;
  int rc = sqlite3_prepare_v2(db, names, -1, &stmt, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_bind_text(stmt, 1, metric, -1, SQLITE_STATIC);
  if (rc == SQLITE_OK) rc = sqlite3_step(stmt);
  bool ok;
  if (rc != SQLITE_ROW)
    ok = import_fail(run, file, "cannot be read as MLflow's database: %s", sqlite3_errmsg(db));
  else if (sqlite3_column_type(stmt, 0) != SQLITE_NULL)
    ok = import_set(run, &file->metric, "%s", sqlite3_column_text(stmt, 0));
  else if (sqlite3_column_type(stmt, 1) == SQLITE_NULL)
    ok = import_skip(run, file, "no assessments in it that are numbers or verdicts");
  else
    ok = import_skip(run, file, "has no assessment named %s; choose one of %s by --metric", metric,
                     sqlite3_column_text(stmt, 1));
  sqlite3_finalize(stmt);
  return ok;
}

static bool read(import_run *run, import_file *file) {
  sqlite3 *db = import_database(run, file);
  bool ok = db && choose(run, file, db) && (file->skipped || import_select(run, file, db, answers));
  sqlite3_close(db);
  return ok;
}

const import_format import_mlflow = {
    .name = "mlflow",
    .reads = "MLflow's mlflow.db",
    .recognised_by = "tables assessments and trace_info",
    .becomes = "a model per run, a question per request, scored by the judge or else by a person; "
               "columns judge and human hold both, for judged_ci(judge, human)",
    .keeps = "judge,human",
    .knows = knows,
    .read = read};
