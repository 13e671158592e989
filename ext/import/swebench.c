/*
** SWE-bench: which instances were resolved.  Four kinds of JSON:
**
**   a run's report        MODEL.RUN.json, of the harness since 2.0: lists such as resolved_ids
**   an instance's report  RUN/MODEL/INSTANCE/report.json, of the same
**   verdicts              eval_results.json, of SWE-bench Pro: true or false by instance
**   what was resolved     MODEL/results/results.json, as submitted to the leaderboard: a list,
**                         and not of what was asked.  --items names a file with the ids that
**                         were; without it such a file is left out
**
**   model     MODEL.RUN, or MODEL as the folder's name
**   task      the repository, so that instances cluster by it
**   item      the instance
**   correct   1 if it was resolved.  Else 0, whether its patch was empty, failed or could not be
**             run, as SWE-bench counts
**   error     'infrastructure: ...' where the harness takes its machine for the cause
**             (infra_failure_ids).  SWE-bench counts these as not resolved
**
** Instances without a prediction (incomplete_ids) are left out, and a note says how many.
*/
#include <string.h>

#include "inside.h"

/* By their names: owner__repository-number, and in SWE-bench Pro a commit of 40 digits for the
** number, after instance_ and before an optional -v and more. */
#define BY_REPOSITORY                                                                              \
  "), ids AS ("                                                                                    \
  "  SELECT item, max(correct) AS correct, max(error) AS error, "                                  \
  "         CASE WHEN item LIKE 'instance\\_%' ESCAPE '\\' "                                       \
  "              THEN substr(item, 10) ELSE item END AS id FROM told GROUP BY item"                \
  "), bare AS ("                                                                                   \
  "  SELECT *, rtrim(id, '0123456789') AS numbered, "                                              \
  "         rtrim(CASE WHEN id GLOB '*-[0-9a-f]*-v*' THEN rtrim(id, replace(id, '-', '')) "        \
  "                    ELSE id END, '-') AS committed FROM ids"                                    \
  ") "                                                                                             \
  "SELECT item, correct, error, item AS place, replace("                                           \
  "         CASE WHEN numbered LIKE '%\\_\\_%-' ESCAPE '\\' AND numbered <> id "                   \
  "              THEN rtrim(numbered, '-') "                                                       \
  "              WHEN length(committed) > 41 AND substr(committed, -41, 1) = '-' "                 \
  "              THEN substr(committed, 1, length(committed) - 41) "                               \
  "              ELSE 'swe-bench' END, '__', '/') AS task FROM bare"

static const char run_report[] =
    "WITH told AS ("
    "  SELECT i.value AS item, l.key = 'resolved_ids' AS correct, "
    "         CASE WHEN i.value IN (SELECT value FROM json_each(:record, '$.infra_failure_ids')) "
    "              THEN 'infrastructure: ' || coalesce("
    "                (SELECT value FROM json_each(:record, '$.failure_reasons') "
    "                 WHERE key = i.value), 'failed') END AS error "
    "  FROM json_each(:record) AS l, json_each(l.value) AS i "
    "  WHERE l.type = 'array' AND l.key IN ('resolved_ids', 'unresolved_ids', 'empty_patch_ids', "
    "                                       'error_ids')" BY_REPOSITORY;

/* Also of an instance. */
static const char verdicts[] =
    "WITH told AS ("
    "  SELECT key AS item, "
    "         CASE type WHEN 'object' THEN value ->> '$.resolved' ELSE value END AS correct, "
    "         NULL AS error FROM json_each(:record)" BY_REPOSITORY;

/* :head has the ids that were asked. */
static const char resolved[] =
    "WITH told AS ("
    "  SELECT i.value AS item, l.key = 'resolved' AS correct, NULL AS error "
    "  FROM json_each(:record) AS l, "
    "       json_each(CASE l.type WHEN 'array' THEN l.value ELSE '[]' END) AS i "
    "  UNION ALL SELECT trim(value), 0, NULL FROM json_each(coalesce(:head, '[]')) "
    "  WHERE trim(value) <> ''" BY_REPOSITORY;

static const char about[] = "SELECT nullif(json_array_length(:record, '$.incomplete_ids'), 0) || "
                            "       ' instances without a prediction are left out' AS note";

/* ?1 is the outline. */
static const char kind_of[] =
    "SELECT CASE WHEN json_type(?1, '$.resolved_ids') = 'array' THEN 'run' "
    "            WHEN json_type(?1, '$.resolved') = 'array' THEN 'resolved' "
    "            WHEN max(key LIKE '%\\_\\_%-%' ESCAPE '\\') AND "
    "                 min(coalesce(CASE type WHEN 'object' THEN json_type(value, '$.resolved') "
    "END, "
    "                              type) IN ('true', 'false')) THEN 'verdicts' END "
    "FROM json_each(?1)";

static char *find_kind(import_run *run, const import_file *file) {
  char *kind = NULL;
  if (file->kind == IMPORT_JSON) import_ask(run, file, kind_of, &file->outline, 1, &kind);
  return kind;
}

static bool knows(import_run *run, const import_file *file) {
  char *kind = find_kind(run, file);
  sqlite3_free(kind);
  return kind;
}

/* Sets :head to the ids that were asked: a JSON array, or made of one per line. */
static bool read_asked(import_run *run) {
  const char *const valid = "SELECT 1 WHERE json_valid(?1)";
  char *text = NULL, *json = NULL;
  import_buffer list = {0};
  if (!import_chosen(run)->items) return true;
  bool ok = import_text(run, import_chosen(run)->items, &text);
  const char *const texts[] = {text};
  ok = ok && import_ask(run, NULL, valid, texts, 1, &json);
  for (const char *at = text; ok && !json && *at;
       at += strcspn(at, "\r\n"), at += strspn(at, "\r\n"))
    ok = import_append(run, &list, list.length ? "," : "[", 1) &&
         import_append_quoted(run, &list, at, strcspn(at, "\r\n"));
  ok = ok && import_append(run, &list, list.length ? "]" : "[]", list.length ? 2 : 3) &&
       import_set_head(run, json ? text : list.text);
  sqlite3_free(text);
  sqlite3_free(json);
  import_buffer_free(&list);
  return ok;
}

static bool read_resolved(import_run *run, import_file *file) {
  if (!import_chosen(run)->items && !import_has(run, file, "$.generated") &&
      !import_has(run, file, "$.unresolved"))
    return import_skip(run, file,
                       "not imported: it lists the resolved instances alone; name a file with the "
                       "ids of all by --items FILE");
  return read_asked(run) && import_each(run, file, NULL, NULL, resolved);
}

/* With a note on the instances without a prediction. */
static bool read_report(import_run *run, import_file *file) {
  import_records *records = import_open(run, file, NULL, "incomplete_ids");
  const char *text;
  size_t length;
  bool ok = records && import_next(records, &text, &length, NULL) == 1 &&
            import_about(run, file, about, text);
  import_close(records);
  return ok && import_each(run, file, NULL, NULL, run_report);
}

static bool read(import_run *run, import_file *file) {
  char *kind = find_kind(run, file), *folder = NULL;
  bool ok = import_folder(run, file, 0, &folder);
  bool report = kind && !strcmp(kind, "run"), list = kind && !strcmp(kind, "resolved");
  bool above = import_named(file, "report.json") || (folder && !strcmp(folder, "results"));
  if (ok && !kind) ok = import_fail(run, file, "this is not a report of SWE-bench");
  sqlite3_free(kind);
  sqlite3_free(folder);
  if (!ok || !(report ? import_set(run, &file->model, "%s", file->stem)
                      : import_folder(run, file, above, &file->model)))
    return false;
  if (import_named(file, "report.json")) import_report_together(run, file);
  return report ? read_report(run, file)
         : list ? read_resolved(run, file)
                : import_each(run, file, NULL, NULL, verdicts);
}

const import_format import_swebench = {
    .name = "swebench",
    .reads = "SWE-bench's reports, and SWE-bench Pro's eval_results.json",
    .recognised_by = "resolved_ids, resolved, or true and false by instance",
    .becomes = "a task is a repository, an item an instance; a failure of the machine is "
               "an error (a list of resolved instances needs --items)",
    .knows = knows,
    .read = read};
