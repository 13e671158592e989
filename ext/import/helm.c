/*
** HELM: per_instance_stats.json, each with the run_spec.json beside it, as HELM writes them
** since 0.2 (2023).
**
**   model     run_spec's adapter_spec.model
**   task      the run's name without its model, such as
**             mmlu:subject=anatomy,method=multiple_choice_joint
**   item      instance_id
**   attempt   train_trial_index, counted from 1
**   score     the mean of the metric over the instance's completions
**   error     'score is missing' where the instance has not got the metric
**
** An instance has dozens of metrics, its token counts among them.  One is taken, of one split:
**
** 1. those that are chosen;
** 2. main_name and main_split, which the first of the run's groups that has them has in
**    schema.json, as helm-summarize writes it, or in schema*.yaml, in the run's folder or one
**    of the three above;
** 3. the first of these that the file has: exact_match, quasi_exact_match, prefix_exact_match,
**    quasi_prefix_exact_match, final_number_exact_match, math_equiv_chain_of_thought,
**    chain_of_thought_correctness, ifeval_strict_accuracy, f1_score, rouge_l, bleu_4; and of the
**    splits test, else valid, else the first.
**
** Instances of other splits, and those that HELM perturbed to see how robust a model is, are
** left out, and a note says how many.
*/
#include <string.h>

#include "inside.h"

static bool knows(import_run *run, const import_file *file) {
  return file->kind == IMPORT_JSONL && import_has(run, file, "$.stats") &&
         (import_has(run, file, "$.instance_id") || import_named(file, "per_instance_stats.json"));
}

/*
** The schema
*/

/* The value of a key in a line of YAML, without its quotes. */
static bool value_of(const char *line, const char *key, char value[100]) {
  const char *at = strstr(line, key);
  if (!at || (at > line && !strchr(" {", at[-1]))) return false;
  at += strlen(key);
  at += strspn(at, " \"'");
  sqlite3_snprintf(100, value, "%.*s", (int)strcspn(at, " \t\r,}#\"'\\"), at);
  for (at = value; *at; at++)
    if ((unsigned char)*at < ' ') return false;
  return *value != 0;
}

/* The run_groups of a schema in YAML, each with its name, main_name and main_split: read line by
** line, as a group begins with "- name:" and its environment, which has the others, follows. */
static char *groups_of_yaml(import_run *run, const char *text) {
  static const char *const keys[] = {"main_name", "main_split"};
  sqlite3_str *out = sqlite3_str_new(run->scratch);
  bool within = false, open = false;
  sqlite3_str_appendall(out, "{\"run_groups\":[");
  for (size_t length; *text; text += length + (text[length] != 0)) {
    char line[1000], value[100], key[20];
    length = strcspn(text, "\n");
    sqlite3_snprintf(sizeof line, line, "%.*s", (int)length, text);
    const char *at = line + strspn(line, " ");
    if (at == line && !strchr("#-\r", *at)) within = !strncmp(line, "run_groups:", 11);
    if (!within || *at == '#') continue;
    if (!strncmp(at, "- name:", 7) && value_of(at, "name:", value)) {
      sqlite3_str_appendf(out, "%s{\"name\":\"%s\"", open ? "}," : "", value);
      open = true;
    }
    for (int i = 0; open && i < 2; i++) {
      sqlite3_snprintf(sizeof key, key, "%s:", keys[i]);
      if (value_of(at, key, value)) sqlite3_str_appendf(out, ",\"%s\":\"%s\"", keys[i], value);
    }
  }
  sqlite3_str_appendall(out, open ? "}]}" : "]}");
  return sqlite3_str_finish(out);
}

/* ?1 is the run's specification and ?2 a schema: its main metric and split, by the first of the
** run's groups that has them. */
static const char main_of[] =
    "SELECT json_object('main_name', main_name, 'main_split', main_split) "
    "FROM json_each(?1, '$.groups') AS s JOIN ("
    "  SELECT value ->> '$.name' AS name, "
    "         coalesce(value ->> '$.environment.main_name', value ->> '$.main_name') AS main_name, "
    "         coalesce(value ->> '$.environment.main_split', value ->> '$.main_split') "
    "         AS main_split "
    "  FROM json_each(?2, '$.run_groups') WHERE type = 'object') AS g ON g.name = s.value "
    "WHERE main_name <> 'none' ORDER BY s.key LIMIT 1";

static bool look_up(import_run *run, const import_file *file, const char *spec, const char *schema,
                    char **found) {
  const char *const texts[] = {spec, schema};
  return !schema || import_ask(run, file, main_of, texts, 2, found);
}

/* What the schemas in one folder say; NULL if none has the run's groups. */
static bool find_main(import_run *run, const import_file *file, const char *spec, const char *up,
                      char **found) {
  char *json = NULL, *name = NULL, *yaml = NULL, *path = NULL, *schema = NULL;
  bool ok = import_set(run, &name, "%sschema.json", up) && import_beside(run, file, name, &json) &&
            look_up(run, file, spec, json, found);
  sqlite3_free(name);
  name = NULL;
  ok = ok && (*found || import_near(run, file, up, "schema*.yaml", &name));
  if (ok && name)
    ok = import_set(run, &path, "%s%s", file->folder, name) && import_text(run, path, &yaml) &&
         ((schema = groups_of_yaml(run, yaml)) || import_no_memory(run)) &&
         look_up(run, file, spec, schema, found);
  sqlite3_free(json);
  sqlite3_free(name);
  sqlite3_free(yaml);
  sqlite3_free(path);
  sqlite3_free(schema);
  return ok;
}

/* Sets :head to {"spec":..., "main_name":..., "main_split":...}. */
static bool find_spec(import_run *run, import_file *file) {
  static const char *const above[] = {"", "../", "../../", "../../../"};
  static const char both[] = "SELECT json_patch(json_object('spec', json(?1)), coalesce(?2, '{}'))";
  char *spec = NULL, *found = NULL, *head = NULL;
  bool ok = import_beside(run, file, "run_spec.json", &spec);
  for (size_t i = 0; ok && spec && !found && i < sizeof above / sizeof *above; i++)
    ok = find_main(run, file, spec, above[i], &found);
  const char *const texts[] = {spec, found};
  ok = ok && import_ask(run, file, both, texts, 2, &head) && import_set_head(run, head);
  sqlite3_free(spec);
  sqlite3_free(found);
  sqlite3_free(head);
  return ok;
}

/*
** The file
*/

/* The usual metrics; the rank of one is its position. */
#define USUAL                                                                                      \
  "' exact_match quasi_exact_match prefix_exact_match quasi_prefix_exact_match "                   \
  "final_number_exact_match math_equiv_chain_of_thought chain_of_thought_correctness "             \
  "ifeval_strict_accuracy f1_score rouge_l bleu_4 '"

/* Splits are those of instances that are not perturbed; they and the perturbed are counted. */
static const char names[] =
    "WITH stats AS ("
    "  SELECT value ->> '$.name.name' AS metric, value ->> '$.name.split' AS split, "
    "         :record ->> '$.perturbation' IS NOT NULL AS perturbed "
    "  FROM json_each(:record, '$.stats') WHERE type = 'object'"
    ") "
    "SELECT DISTINCT 'perturbed' AS what, '' AS name, 0 AS rank FROM stats WHERE perturbed "
    "UNION ALL "
    "SELECT DISTINCT 'split', split, CASE "
    "         WHEN :head ->> '$.main_split' IS NOT NULL "
    "         THEN CASE split WHEN :head ->> '$.main_split' THEN 0 END "
    "         ELSE CASE split WHEN 'test' THEN 0 WHEN 'valid' THEN 1 ELSE 2 END END "
    "FROM stats WHERE NOT perturbed "
    "UNION ALL "
    "SELECT DISTINCT 'metric', metric, CASE "
    "         WHEN :head ->> '$.main_name' IS NOT NULL "
    "         THEN CASE metric WHEN :head ->> '$.main_name' THEN 0 END "
    "         ELSE nullif(instr(" USUAL ", ' ' || metric || ' '), 0) END "
    "FROM stats";

#define METRIC "(SELECT name FROM import_taken WHERE what = 'metric')"
#define SPLIT "(SELECT name FROM import_taken WHERE what = 'split')"

/* Says why no metric, or no split, can be taken. */
#define LACKS(what, main, usual)                                                                   \
  "'not imported: ' || coalesce("                                                                  \
  "  'the schema''s main " what ", ' || (:head ->> '$." main "') || ', is not in it', "            \
  "  '" usual "') || coalesce('; choose one of ' || (SELECT group_concat(name, ', ') FROM "        \
  "  (SELECT name FROM import_names WHERE what = '" what "' ORDER BY name)) || "                   \
  "  ' by --" what "', '') "

#define NO_METRIC LACKS("metric", "main_name", "none of the usual metrics is in it")
#define NO_SPLIT LACKS("split", "main_split", "no split is named in it")

/* The task is the run's name, scenario:key=value,key=value, without the model. */
static const char about[] =
    "WITH named AS ("
    "  SELECT :head ->> '$.spec.adapter_spec.model' AS model, "
    "         replace(:head ->> '$.spec.name', '\\', '/') AS name"
    "), cut AS ("
    "  SELECT model, substr(name, 1, instr(name || ':', ':') - 1) AS scenario, "
    "         replace(substr(name, instr(name || ':', ':') + 1), '\"', '') AS parts FROM named"
    "), run AS ("
    "  SELECT model, scenario || coalesce(':' || ("
    "    SELECT group_concat(value, ',') "
    "    FROM json_each('[\"' || replace(parts, ',', '\",\"') || '\"]') "
    "    WHERE value NOT LIKE 'model=%' AND value <> ''), '') AS task FROM cut"
    ") "
    "SELECT model, task, " METRIC " || coalesce(', ' || " SPLIT ", '') AS metric, ("
    "    SELECT group_concat(left_out, '; ') FROM ("
    "      SELECT sum(n) || ' instances of other splits are left out' AS left_out "
    "      FROM import_names WHERE what = 'split' AND name <> " SPLIT " UNION ALL "
    "      SELECT n || ' perturbed instances are left out' "
    "      FROM import_names WHERE what = 'perturbed')) AS note, "
    "  CASE WHEN model IS NULL OR task IS NULL "
    "       THEN 'not imported: no run_spec.json beside it that names the run and its model' "
    "       WHEN " METRIC " IS NULL THEN " NO_METRIC "       WHEN " SPLIT
    " IS NULL AND EXISTS (SELECT 1 FROM import_names WHERE what = 'split') "
    "       THEN " NO_SPLIT " END AS skip FROM run";

static const char answers[] =
    "WITH instance AS ("
    "  SELECT max(CASE WHEN name = " METRIC " AND split IS " SPLIT " THEN mean END) AS score, "
    "         count(split) AS splits, sum(split = " SPLIT ") AS of_split "
    "  FROM (SELECT value ->> '$.name.name' AS name, value ->> '$.name.split' AS split, "
    "               value ->> '$.mean' AS mean "
    "        FROM json_each(:record, '$.stats') WHERE type = 'object')"
    ") "
    "SELECT :record ->> '$.instance_id' AS item, "
    "       coalesce(:record ->> '$.train_trial_index', 0) + 1 AS attempt, score, "
    "       CASE WHEN score IS NULL THEN 'score is missing' END AS error, "
    "       CASE WHEN :record ->> '$.instance_id' IS NULL THEN 'there is no instance_id' "
    "            WHEN json_type(:record, '$.train_trial_index') NOT IN ('integer', 'null') "
    "            THEN 'train_trial_index is not a whole number' END AS refused "
    "FROM instance WHERE :record ->> '$.perturbation' IS NULL AND (of_split > 0 OR splits = 0)";

static bool read(import_run *run, import_file *file) {
  static const char needed[] = "instance_id,train_trial_index,perturbation,stats";
  return import_set(run, &file->unit, "instance") && find_spec(run, file) &&
         import_names(run, file, NULL, "stats,perturbation", names, true) &&
         import_about(run, file, about, NULL) &&
         (file->skipped || import_each(run, file, NULL, needed, answers));
}

const import_format import_helm = {
    .name = "helm",
    .reads = "HELM's per_instance_stats.json, with run_spec.json beside it",
    .recognised_by = "records with instance_id and stats",
    .becomes = "an item is an instance, an attempt a train trial; one metric and split is taken, "
               "by HELM's schema if it is in or above the run's folder (--metric, --split)",
    .knows = knows,
    .read = read};
