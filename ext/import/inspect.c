/*
** Inspect: logs, as .json, and as .eval, a zip archive with a header and a file per sample.
**
**   model     eval.model.  Two runs that differ only in their prompt or solver have the same
**             name unless they are given others
**   task      eval.task
**   item      the sample's id
**   attempt   the epoch
**   score     the number that Inspect's accuracy would take: 1 for C, yes, true; 0 for I, N (no
**             answer), no, false; 0.5 for P (partial)
**   error     what the sample errored with, even if it was scored; 'invalidated'; 'score is
**             missing'; or 'score is not a number: ...' for a list, an object, another text
**   cost, latency, tokens   of all models that the sample used; from its start to its end
**
** Several scorers judge one answer.  One is taken, or every answer would count several times:
** the first unless another is chosen.  Of a log that was cancelled, errored or did not end the
** samples so far are taken, and a note says so.  Of two logs with the same sample and epoch the
** later is taken, so that a retried eval counts once.
*/
#include <string.h>

#include "inside.h"

static bool knows(import_run *run, const import_file *file) {
  if (file->kind == IMPORT_ZIP)
    return import_has(run, file, "$.\"_journal/start.json\"") ||
           import_has(run, file, "$.\"header.json\"");
  return file->kind == IMPORT_JSON && import_has(run, file, "$.eval.task") &&
         import_has(run, file, "$.eval.model");
}

static const char needed[] = "id,epoch,scores,error,invalidation,total_time,model_usage";

static const char scorers[] =
    "SELECT 'scorer' AS what, key AS name, 0 AS rank FROM json_each(:record, '$.scores') "
    "WHERE json_type(:record, '$.scores') = 'object'";

static const char about[] =
    "SELECT :head ->> '$.eval.model' AS model, :head ->> '$.eval.task' AS task, "
    "       :head ->> '$.eval.created' AS created, "
    "       (SELECT name FROM import_taken WHERE what = 'scorer') AS metric, "
    "       CASE WHEN :head ->> '$.eval.model' IS NULL OR :head ->> '$.eval.task' IS NULL "
    "            THEN 'not imported: not a log of Inspect' END AS skip";

static const char answers[] =
    "WITH judged AS ("
    "  SELECT (SELECT k.value FROM json_each(:record, '$.scores') AS k "
    "          WHERE k.key = :file_metric AND k.type = 'object') AS score"
    "), given AS ("
    "  SELECT json_type(score, '$.value') AS type, score ->> '$.value' AS value FROM judged"
    "), scored AS ("
    "  SELECT value, CASE WHEN value = 'C' OR lower(value) = 'yes' THEN 1.0 "
    "                     WHEN value IN ('I', 'N') OR lower(value) = 'no' THEN 0.0 "
    "                     WHEN value = 'P' THEN 0.5 "
    "                     ELSE " IMPORT_NUMBER " END AS score FROM given"
    "), used AS ("
    "  SELECT sum(value ->> '$.total_cost') AS cost, sum(value ->> '$.total_tokens') AS tokens "
    "  FROM json_each(:record, '$.model_usage') WHERE type = 'object'"
    ") "
    "SELECT :record ->> '$.id' AS item, :record ->> '$.epoch' AS attempt, score, "
    "       CASE WHEN json_type(:record, '$.error') <> 'null' "
    "            THEN coalesce(:record ->> '$.error.message', 'errored') "
    "            WHEN json_type(:record, '$.invalidation') <> 'null' THEN 'invalidated' "
    "            ELSE " IMPORT_NO_NUMBER " END AS error, "
    "       cost, :record ->> '$.total_time' AS latency, tokens, "
    "       CASE WHEN :record ->> '$.id' IS NULL THEN 'there is no id' "
    "            WHEN json_type(:record, '$.epoch') IS NOT 'integer' "
    "            THEN 'there is no epoch' END AS refused "
    "FROM scored, used";

/* The log's status; :record is the number of samples. */
static const char ended[] =
    "SELECT CASE status WHEN 'success' THEN NULL ELSE "
    "         CASE status WHEN 'cancelled' THEN 'cancelled' WHEN 'error' THEN 'errored' "
    "                     ELSE 'did not end' END || ': ' || :record || "
    "         coalesce(' of ' || expected, '') || ' samples' || "
    "         coalesce(': ' || (:head ->> '$.error.message'), '') END AS note, "
    "       CASE :record WHEN '0' THEN 'not imported: no samples in it' END AS skip "
    "FROM (SELECT coalesce(:head ->> '$.status', 'started') AS status, "
    "             json_array_length(:head, '$.eval.dataset.sample_ids') * "
    "             coalesce(:head ->> '$.eval.config.epochs', 1) AS expected)";

/* An entry of an archive: the only record in it. */
typedef struct entry {
  import_file as; /* the archive, under a path that names the entry in messages */
  char *path;
  import_records *records;
  const char *text;
  size_t length;
} entry;

static bool open_entry(import_run *run, const import_file *file, const char *name, const char *keys,
                       entry *out) {
  *out = (entry){.as = *file, .path = sqlite3_mprintf("%s/%s", file->path, name)};
  if (!out->path) return import_no_memory(run);
  out->as.path = out->path;
  out->records = import_open_entry(run, &out->as, name, NULL, keys);
  if (!out->records) return false;
  int got = import_next(out->records, &out->text, &out->length, NULL);
  if (got == 0) import_fail(run, &out->as, "it is empty");
  if (got <= 0) return false;
  const char *more;
  size_t length_of_more;
  got = import_next(out->records, &more, &length_of_more, NULL);
  return got == 0 || (got > 0 && import_fail(run, &out->as, "it has more than one document"));
}

static void close_entry(entry *e) {
  import_close(e->records);
  sqlite3_free(e->path);
}

/* The header of an archive.  A log that has not ended has only the one that it started with. */
static bool read_header(import_run *run, import_file *file) {
  const char *name, *found = NULL;
  entry e;
  for (int i = 0; (name = import_entry(run, file, i)); i++)
    if (!strcmp(name, "header.json") || (!found && !strcmp(name, "_journal/start.json")))
      found = name;
  if (!found) return import_fail(run, file, "the archive has no header.json");
  bool ok = open_entry(run, file, found, "eval,status,error", &e) && import_set_head(run, e.text);
  close_entry(&e);
  return ok;
}

static bool is_sample(const char *name) {
  return sqlite3_strglob("samples/*.json", name) == 0;
}

static bool find_scorers(import_run *run, import_file *file) {
  const char *name;
  bool enough = false, ok = true;
  for (int i = 0; ok && !enough && (name = import_entry(run, file, i)); i++) {
    entry e;
    if (!is_sample(name)) continue;
    ok = open_entry(run, file, name, "scores", &e) &&
         import_names_add(run, file, scorers, e.text) && import_names_enough(run, file, &enough);
    close_entry(&e);
  }
  return ok && import_names_take(run, file);
}

static bool read_samples(import_run *run, import_file *file) {
  import_query *query = NULL;
  const char *name;
  sqlite3_int64 number = 0;
  bool ok = import_query_new(run, file, answers, &query);
  for (int i = 0; ok && (name = import_entry(run, file, i)); i++) {
    entry e;
    if (!is_sample(name)) continue;
    ok = open_entry(run, file, name, needed, &e) &&
         import_query_run(query, ++number, e.text, e.length);
    close_entry(&e);
  }
  import_query_free(query);
  return ok;
}

static bool read_header_of(import_run *run, import_file *file) {
  if (file->kind == IMPORT_ZIP) return read_header(run, file) && find_scorers(run, file);
  return import_head(run, file, "$.samples") &&
         import_names(run, file, "$.samples", "scores", scorers, false);
}

static bool read(import_run *run, import_file *file) {
  sqlite3_int64 before = run->rows;
  char count[24];
  if (!import_set(run, &file->unit, "sample") || !read_header_of(run, file) ||
      !import_about(run, file, about, NULL))
    return false;
  if (file->skipped) return true;
  if (!(file->kind == IMPORT_ZIP ? read_samples(run, file)
                                 : import_each(run, file, "$.samples", needed, answers)))
    return false;
  sqlite3_snprintf(sizeof count, count, "%lld", run->rows - before);
  return import_about(run, file, ended, count);
}

const import_format import_inspect = {
    .name = "inspect",
    .reads = "Inspect's logs, .eval and .json",
    .recognised_by = "eval.task and eval.model; in an archive, header.json",
    .becomes = "an attempt is an epoch; one scorer is taken (--scorer); a sample that errored is "
               "an error",
    .knows = knows,
    .read = read};
