/*
** promptfoo's output files: `promptfoo eval -o output.json`, also .jsonl and .csv.
**
**   model     the provider's label, or else its id; with the prompt's label, cut to 60
**             characters, after it where there are several prompts; and with the column's
**             number where two columns would still share a name
**   task      the eval's description, or else its id; of .jsonl and .csv the file's name
**   item      testIdx; of a test that was repeated, its first.  Of .csv the line, from 0,
**             which is the same
**   attempt   --repeat gives every repetition a testIdx of its own, and only .json says how
**             often: each so many tests that are equal in every field are attempts at one
**             question.  Of .jsonl and .csv every test is a question
**   correct   success; nothing where the run errored (failureReason 2)
**   score     promptfoo's; nothing where the run errored (promptfoo writes 0)
**   error     why it errored
**   cost, latency, tokens   cost, latencyMs, tokenUsage.total; a cost or count of 0 is not
**             known: promptfoo writes 0 where the provider says nothing
**
** Tried on what promptfoo 0.121.20 wrote of 3 tests, 2 prompts, 2 providers, --repeat 2: 12
** passed, 8 failed, 4 errors, as it says itself; the same from .json, .jsonl and .csv.
*/
#include "formats.h"

/* The name of a column, of provider, prompt and prompt_idx, as in sql/adapters/promptfoo.sql. */
#define NAMES                                                                                      \
  "named AS ("                                                                                     \
  "  SELECT *, coalesce(provider, prompt) || CASE "                                                \
  "    WHEN provider IS NULL OR min(prompt) OVER () = max(prompt) OVER () THEN '' "                \
  "    WHEN length(prompt) <= 60 THEN ' / ' || prompt "                                            \
  "    ELSE ' / ' || substr(replace(prompt, char(10), ' '), 1, 59) || char(8230) END AS name "     \
  "  FROM columns"                                                                                 \
  "), models AS MATERIALIZED ("                                                                    \
  "  SELECT *, CASE WHEN count(*) OVER (PARTITION BY name) > 1 "                                   \
  "                 THEN name || ' #' || prompt_idx ELSE name END AS model FROM named)"

static bool knows(import_run *run, const import_file *file) {
  switch (file->kind) {
  case IMPORT_JSON:
    return import_has(run, file, "$.evalId") && import_has(run, file, "$.results.version");
  case IMPORT_JSONL:
    return import_has(run, file, "$.testIdx") && import_has(run, file, "$.promptIdx") &&
           import_has(run, file, "$.success");
  case IMPORT_CSV:
    return import_has(run, file, "$.Status") && import_has(run, file, "$.Score") &&
           import_has(run, file, "$.\"Grader Reason\"");
  default:
    return false;
  }
}

static const char about[] =
    "SELECT coalesce(nullif(trim(:head ->> '$.config.description'), ''), :head ->> '$.evalId', "
    "                :stem) AS task, "
    "       :head ->> '$.results.timestamp' AS created, "
    "       CASE WHEN :head ->> '$.results.version' < 3 THEN "
    "         'is of version ' || (:head ->> '$.results.version') || ', which does not number its "
    "tests; write it again by promptfoo export eval' END AS skip";

/* Without variables (there are none, or PROMPTFOO_STRIP_TEST_VARS took them out) the prompt is
** what tells tests apart. */
static const char answers[] =
    "WITH results AS MATERIALIZED ("
    "  SELECT number, record ->> '$.testIdx' AS test_idx, record ->> '$.promptIdx' AS prompt_idx, "
    "         record ->> '$.success' AS success, record ->> '$.score' AS score, "
    "         record ->> '$.error' AS error, record ->> '$.failureReason' AS reason, "
    "         coalesce(nullif(record ->> '$.provider.label', ''), record ->> '$.provider.id', "
    "                  record ->> '$.provider') AS provider, "
    "         coalesce(nullif(record ->> '$.prompt.label', ''), record ->> '$.prompt.raw', '') "
    "           AS prompt, "
    "         (record -> '$.testCase') || CASE WHEN json_type(record, '$.testCase.vars') IS NULL "
    "           THEN record -> '$.prompt' ELSE '' END AS test, "
    "         nullif(record ->> '$.cost', 0) AS cost, "
    "         (record ->> '$.latencyMs') / 1000.0 AS latency, "
    "         nullif(record ->> '$.tokenUsage.total', 0) AS tokens "
    "  FROM records"
    "), columns AS ("
    "  SELECT prompt_idx, min(provider) AS provider, min(prompt) AS prompt "
    "  FROM results GROUP BY prompt_idx"
    "), " NAMES ", repeated AS ("
    "  SELECT max(1, CAST(coalesce(:head ->> '$.runtimeOptions.repeat', "
    "                              :head ->> '$.config.evaluateOptions.repeat', 1) AS INTEGER)) "
    "           AS times"
    "), tests AS ("
    "  SELECT *, min(test) OVER (PARTITION BY test_idx) AS same FROM results"
    "), placed AS ("
    "  SELECT *, dense_rank() OVER (PARTITION BY same ORDER BY test_idx) - 1 AS place FROM tests"
    "), asked AS ("
    "  SELECT *, place % times + 1 AS attempt, "
    "         min(test_idx) OVER (PARTITION BY same, place / times) AS item FROM placed, repeated"
    ") "
    "SELECT model, item, attempt, success AS correct, "
    "       CASE WHEN reason <> 2 THEN score END AS score, "
    "       CASE WHEN reason = 2 THEN coalesce(error, 'errored') END AS error, "
    "       cost, latency, tokens, 'result ' || number AS place, "
    "       CASE WHEN test_idx IS NULL THEN 'has no testIdx' "
    "            WHEN prompt_idx IS NULL THEN 'has no promptIdx' "
    "            WHEN r.provider IS NULL THEN 'has no provider' "
    "            WHEN success IS NULL THEN 'has no success' "
    "            WHEN reason IS NULL THEN 'has no failureReason, which promptfoo writes since 2025 "
    "and which says whether it errored' END AS refused "
    "FROM asked AS r LEFT JOIN models USING (prompt_idx)";

/* A prompt's column is followed by Status, Score, Named Scores and more. */
static const char cells[] =
    "WITH heads AS MATERIALIZED (SELECT key, value FROM json_each(:head)), labels AS ("
    "  SELECT s.key AS at, l.value AS label, row_number() OVER (ORDER BY s.key) - 1 AS prompt_idx "
    "  FROM heads AS s JOIN heads AS l ON l.key = s.key - 1 JOIN heads AS n ON n.key = s.key + 1 "
    "  WHERE s.value = 'Status' AND n.value = 'Score'"
    "), columns AS ("
    "  SELECT at, prompt_idx, "
    "         CASE WHEN label GLOB '[[]*] *' THEN substr(label, 2, instr(label, '] ') - 2) END "
    "           AS provider, "
    "         CASE WHEN label GLOB '[[]*] *' THEN substr(label, instr(label, '] ') + 2) "
    "              ELSE label END AS prompt FROM labels"
    "), " NAMES ", told AS ("
    "  SELECT number, model, json_extract(record, '$[' || (at - 1) || ']') AS output, "
    "         json_extract(record, '$[' || at || ']') AS status, "
    "         json_extract(record, '$[' || (at + 1) || ']') AS score FROM records, models"
    ") "
    "SELECT model, number - 1 AS item, 1 AS attempt, "
    "       CASE status WHEN 'PASS' THEN 1 WHEN 'FAIL' THEN 0 END AS correct, "
    "       CASE WHEN status <> 'ERROR' THEN score END AS score, "
    "       CASE WHEN status = 'ERROR' THEN coalesce(nullif(output, ''), 'errored') END AS error, "
    "       'test ' || number AS place, "
    "       CASE WHEN status NOT IN ('PASS', 'FAIL', 'ERROR') "
    "            THEN 'has Status ' || status || ', not PASS, FAIL or ERROR' END AS refused "
    "FROM told WHERE status <> ''";

static const char keys[] = "testIdx,promptIdx,success,score,error,failureReason,provider,prompt,"
                           "testCase,cost,latencyMs,tokenUsage";

static bool read(import_run *run, import_file *file) {
  bool csv = file->kind == IMPORT_CSV;
  sqlite3 *db = import_table(run, file, file->kind == IMPORT_JSON ? "$.results.results" : NULL,
                             csv ? NULL : keys);
  bool ok = db && import_about(run, file, about, NULL) &&
            (file->skipped || import_select(run, file, db, csv ? cells : answers));
  sqlite3_close(db);
  return ok;
}

const import_format import_promptfoo_output = {
    .name = "promptfoo_output",
    .reads = "promptfoo's output.json, output.jsonl and output.csv",
    .recognised_by = "evalId and results.version; testIdx and promptIdx; columns Status, Score and "
                     "Grader Reason",
    .becomes = "a model per provider and prompt, a question per test; --repeat of output.json "
               "gives attempts; a run with failureReason 2 is an error",
    .knows = knows,
    .read = read};
