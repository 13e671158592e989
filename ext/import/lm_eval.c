/*
** lm-evaluation-harness: samples_TASK_DATE.jsonl, as `lm_eval --log_samples` writes them since
** 0.4.7 (2024).
**
**   model     model_name in the results file of the same date beside it; else the folder's name
**   task      from the file's name
**   item      doc_id
**   attempt   the repeat, of a question with scores_per_repeat, as 0.5 writes them; else 1: 0.4
**             lets the filter settle repeats before they are scored
**   score     the metric: a number, true or false, also as text
**   error     'score is missing' for null and NaN; 'score is not a number: ...' otherwise
**
** A file has a record for each filter, and in it every metric: several readings of one answer.
** One is taken, or every answer would count several times: the first filter and its first
** metric unless others are chosen.  Of two runs of a task by a model the later is taken.
*/
#include <string.h>

#include "formats.h"

static bool knows(import_run *run, const import_file *file) {
  return file->kind == IMPORT_JSONL && import_has(run, file, "$.doc_id") &&
         (import_named(file, "samples_*.jsonl") || import_has(run, file, "$.filtered_resps"));
}

/* Where the date begins in samples_gsm8k_2025-01-02T03-04-05.678901; NULL if there is none. */
static const char *date_of(const char *stem) {
  static const char pattern[] =
      "_[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]-[0-9][0-9]-[0-9][0-9]*";
  const char *date = strrchr(stem, '_');
  return date && !sqlite3_strglob(pattern, date) ? date + 1 : NULL;
}

/* Names of filters and metrics.  Where a question was repeated its scores stand under the name
** that the metric had before they became one: exact_match, of pass@3(exact_match). */
static const char names[] =
    "SELECT 'filter' AS what, :record ->> '$.filter' AS name, 0 AS rank UNION ALL "
    "SELECT 'metric', coalesce("
    "  (SELECT r.key FROM json_each(:record, '$.scores_per_repeat') AS r "
    "   WHERE '(' || r.key || ')' = substr(m.value, -length(r.key) - 2)), m.value), 0 "
    "FROM json_each(:record, '$.metrics') AS m UNION ALL "
    "SELECT 'metric', value, 0 FROM json_each(:record, '$.metrics')";

#define FILTER "(SELECT name FROM import_taken WHERE what = 'filter')"
#define METRIC "(SELECT name FROM import_taken WHERE what = 'metric')"

/* :record is the results file. */
static const char about[] =
    "SELECT :record ->> '$.model_name' AS model, " FILTER " || ', ' || " METRIC " AS metric, "
    "       CASE WHEN " FILTER " IS NULL OR " METRIC " IS NULL "
    "            THEN 'not imported: no filter and metrics in its records' END AS skip";

#define REPEATS                                                                                    \
  "json_each(:record, '$.scores_per_repeat') AS r WHERE r.type = 'array' AND "                     \
  "(r.key = " METRIC " OR '(' || r.key || ')' = substr(" METRIC ", -length(r.key) - 2))"

static const char answers[] =
    "WITH given AS ("
    "  SELECT k.key + 1 AS attempt, k.type, k.value "
    "  FROM (SELECT r.value FROM " REPEATS ") AS s, json_each(s.value) AS k UNION ALL "
    "  SELECT 1, k.type, k.value FROM (SELECT 1) LEFT JOIN json_each(:record) AS k "
    "  ON k.key = " METRIC " WHERE NOT EXISTS (SELECT 1 FROM " REPEATS ")"
    "), scored AS (SELECT attempt, value, " IMPORT_NUMBER " AS score FROM given) "
    "SELECT :record ->> '$.doc_id' AS item, attempt, score, " IMPORT_NO_NUMBER " AS error, "
    "       CASE WHEN :record ->> '$.filter' IS NULL THEN 'there is no filter' "
    "            WHEN :record ->> '$.doc_id' IS NULL THEN 'there is no doc_id' END AS refused "
    "FROM scored WHERE coalesce(:record ->> '$.filter', " FILTER ") = " FILTER;

/* Model, task and date, from the file's name, its folder, and the results file beside it. */
static bool name_run(import_run *run, import_file *file) {
  const char *date = date_of(file->stem), *task = file->stem;
  if (!strncmp(task, "samples_", 8)) task += 8;
  int length = date ? (int)(date - 1 - task) : (int)strlen(task);
  file->one_run = true;
  return import_set(run, &file->task, "%.*s", length, task) &&
         import_folder(run, file, 0, &file->model) &&
         (!date || import_set(run, &file->created, "%.13s:%.2s:%s", date, date + 14, date + 17));
}

/* lm_eval calls it results_DATE.json, or NAME_DATE.json where --output_path is NAME.json. */
static bool find_results(import_run *run, const import_file *file, char **out) {
  const char *date = date_of(file->stem);
  char *pattern = NULL, *name = NULL;
  if (!date) return true;
  bool ok = import_set(run, &pattern, "*_%s.json", date) &&
            import_near(run, file, "", pattern, &name) &&
            (!name || import_beside(run, file, name, out));
  sqlite3_free(pattern);
  sqlite3_free(name);
  return ok;
}

static bool read_answers(import_run *run, import_file *file) {
  char *metric, *keys = NULL;
  if (!import_taken(run, "metric", &metric)) return false;
  bool ok = import_set(run, &keys, "doc_id,filter,scores_per_repeat,%s", metric) &&
            import_each(run, file, NULL, strchr(metric, ',') ? NULL : keys, answers);
  sqlite3_free(metric);
  sqlite3_free(keys);
  return ok;
}

static bool read(import_run *run, import_file *file) {
  char *results = NULL;
  bool ok = name_run(run, file) && find_results(run, file, &results) &&
            import_names(run, file, NULL, "filter,metrics,scores_per_repeat", names, false) &&
            import_about(run, file, about, results);
  sqlite3_free(results);
  if (ok && !file->skipped && !file->model)
    return import_skip(run, file,
                       "not imported: the model has no name; name it by --model-name NAME");
  return ok && (file->skipped || read_answers(run, file));
}

const import_format import_lm_eval = {
    .name = "lm_eval",
    .reads = "lm-evaluation-harness's samples_*.jsonl",
    .recognised_by = "records with doc_id, filter and metrics",
    .becomes = "the task is in the file's name, the model in the results file beside it; an item "
               "is a doc_id; one filter and metric is taken (--filter, --metric)",
    .knows = knows,
    .read = read};
