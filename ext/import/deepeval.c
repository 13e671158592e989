/*
** DeepEval's test runs: .deepeval/.latest_run_full.json, .latest_test_run.json, and
** test_run_DATE.json in DEEPEVAL_RESULTS_FOLDER.
**
**   model     the run's identifier, or else the hyperparameter called model, or the file's name
**   task      the dataset's alias, or else the test file, or deepeval
**   item      the input; of a conversation its scenario, or else its name.  Names such as
**             test_case_0 count the cases of a run, and pair nothing
**   attempt   the same input again
**   correct   success: every metric passed that is not flaky.  Or of the chosen metric, and
**             then cases without it are left out
**   score     of the chosen metric, or of the only one
**   error     what a metric failed with.  DeepEval fails such a test: here it is not known,
**             unless another metric failed it too
**   cost, latency   tokenCost; completionTime, in seconds
**
** By the models of deepeval 4.1.10 (test_run/api.py, test_run.py).  Tried on the
** test_run_sample.json in it: 0 passed and 1 failed, as it says.
*/
#include "formats.h"

static bool knows(import_run *run, const import_file *file) {
  return file->kind == IMPORT_JSON && (import_has(run, file, "$.testCases[0].metricsData") ||
                                       import_has(run, file, "$.conversationalTestCases") ||
                                       import_has(run, file, "$.testRunData"));
}

/* :head is the run without its cases, or has it as testRunData. */
static const char about[] =
    "WITH told AS (SELECT coalesce(:head -> '$.testRunData', :head) AS run), metrics AS ("
    "  SELECT value ->> '$.metric' AS name FROM told, json_each(run, '$.metricsScores')"
    ") "
    "SELECT coalesce(nullif(run ->> '$.identifier', ''), "
    "                (SELECT value FROM json_each(run, '$.hyperparameters') "
    "                 WHERE lower(key) IN ('model', 'model_name', 'llm') AND type = 'text' "
    "                 LIMIT 1), "
    "                :stem) AS model, "
    "       coalesce(run ->> '$.datasetAlias', run ->> '$.testFile', 'deepeval') AS task, "
    "       CASE WHEN :stem GLOB 'test_run_[0-9]*_[0-9]*' THEN "
    "         substr(:stem, 10, 4) || '-' || substr(:stem, 14, 2) || '-' || "
    "         substr(:stem, 16, 2) || ' ' || substr(:stem, 19, 2) || ':' || "
    "         substr(:stem, 21, 2) || ':' || substr(:stem, 23, 2) END AS created, "
    "       coalesce(:metric, 'success') AS metric, "
    "       CASE WHEN :metric NOT IN (SELECT name FROM metrics) THEN "
    "         'has no metric named ' || :metric || '; choose one of ' || "
    "         (SELECT group_concat(name, ', ') FROM metrics) || ' by --metric' END AS skip "
    "FROM told";

static const char answers[] =
    "WITH metrics AS MATERIALIZED ("
    "  SELECT value ->> '$.name' AS name, value ->> '$.success' AS success, "
    "         value ->> '$.score' AS score, "
    "         coalesce(value ->> '$.error', "
    "                  CASE WHEN value ->> '$.score' IS NULL THEN 'score is missing' END) AS error "
    "  FROM json_each(:record, '$.metricsData') "
    "  WHERE CASE WHEN :metric IS NULL THEN value ->> '$.flaky' IS NOT 1 "
    "             ELSE value ->> '$.name' = :metric END"
    "), told AS ("
    "  SELECT count(*) AS n, max(score) AS score, max(name || ': ' || error) AS error, "
    "         max(error IS NULL AND NOT success) AS failed, "
    "         CASE WHEN :metric IS NULL THEN :record ->> '$.success' ELSE min(success) END "
    "           AS success, "
    "         coalesce(:record ->> '$.input', :record ->> '$.scenario', :record ->> '$.name') "
    "           AS item "
    "  FROM metrics"
    "), settled AS ("
    "  SELECT *, CASE WHEN error IS NULL OR failed THEN success END AS correct FROM told"
    ") "
    "SELECT item, correct, CASE WHEN n = 1 AND error IS NULL THEN score END AS score, "
    "       CASE WHEN correct IS NULL THEN coalesce(error, 'was not evaluated') END AS error, "
    "       :record ->> '$.tokenCost' AS cost, :record ->> '$.completionTime' AS latency, "
    "       :record ->> '$.name' AS place, "
    "       CASE WHEN item IS NULL THEN 'has no input' END AS refused "
    "FROM settled WHERE n > 0 OR :metric IS NULL";

static const char keys[] = "name,input,scenario,success,metricsData,tokenCost,completionTime";

/* DeepEval writes the latest run to two files. */
static bool is_twin(import_run *run, const import_file *file, bool *out) {
  char *full = NULL;
  if (!import_beside(run, file, ".latest_run_full.json", &full)) return false;
  *out = full;
  sqlite3_free(full);
  return true;
}

static bool read(import_run *run, import_file *file) {
  bool wrapped = import_has(run, file, "$.testRunData"), twin = false;
  if (wrapped && !file->given && !is_twin(run, file, &twin)) return false;
  if (twin) return import_skip(run, file, "the run that .latest_run_full.json has");
  const char *cases = wrapped ? "$.testRunData.testCases" : "$.testCases";
  const char *talks =
      wrapped ? "$.testRunData.conversationalTestCases" : "$.conversationalTestCases";
  if (!import_head(run, file, cases) || !import_about(run, file, about, NULL)) return false;
  return file->skipped || (import_each(run, file, cases, keys, answers) &&
                           import_each(run, file, talks, keys, answers));
}

const import_format import_deepeval = {
    .name = "deepeval",
    .reads = "DeepEval's test runs: .latest_run_full.json, .latest_test_run.json, test_run_*.json",
    .recognised_by = "testCases with metricsData, or testRunData",
    .becomes = "a model per run, a question per input, right if every metric passed; --metric "
               "takes one metric instead",
    .knows = knows,
    .read = read};
