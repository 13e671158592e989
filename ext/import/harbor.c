/*
** Harbor (a folder of trials, each with result.json) and Terminal-Bench before it (results.json
** of a run, with run_metadata.json beside it).
**
**   model     agent / model, or the agent alone; of Terminal-Bench without run_metadata.json
**             the name of the folder
**   task      the dataset: source, or dataset_name; else adhoc, as Harbor says
**   item      the task: task_name, or task_id
**   attempt   the trials of a task are counted, over all files
**   score     the reward, of several the one named reward, or the chosen metric;
**             Terminal-Bench: is_resolved
**   error     the exception that ended a trial.  Harbor often gives such a trial the reward 0:
**             that is not taken, nor is any other.  Terminal-Bench: the failure_mode of a trial
**             that was neither resolved nor not; 'score is missing'
**   cost, tokens   the agent's cost_usd, input and output tokens
**   latency   from the start to the end of the agent
**
** Tried on 23 runs in Terminal-Bench's leaderboard: n_resolved as each results.json has it (of
** orchestrator, claude-4-sonnet: 144 of 400, with 29 errors).  No files of Harbor 0.18 were
** available: tests/import writes them by its data models.
*/
#include "formats.h"

static bool is_trial(import_run *run, const import_file *file) {
  return import_has(run, file, "$.trial_name") && import_has(run, file, "$.task_name");
}

static bool is_job(import_run *run, const import_file *file) {
  return import_has(run, file, "$.n_total_trials") && import_has(run, file, "$.stats");
}

static bool is_run(import_run *run, const import_file *file) {
  return import_has(run, file, "$.results[0].is_resolved") &&
         import_has(run, file, "$.results[0].task_id");
}

static bool is_old(import_run *run, const import_file *file) {
  return import_has(run, file, "$.trial_name") && import_has(run, file, "$.is_resolved");
}

/* A job's summary and old trials are read only if they are named, not with their folder. */
static bool knows(import_run *run, const import_file *file) {
  return file->kind == IMPORT_JSON && (is_trial(run, file) || is_run(run, file) ||
                                       (file->given && (is_job(run, file) || is_old(run, file))));
}

static const char trial[] =
    "WITH rewards AS MATERIALIZED ("
    "  SELECT key, value FROM json_each(:record, '$.verifier_result.rewards') "
    "  WHERE type IN ('integer', 'real')"
    "), reward AS ("
    "  SELECT value FROM rewards WHERE key = :metric OR :metric IS NULL AND "
    "    (key = 'reward' OR (SELECT count(*) FROM rewards) = 1)"
    "), told AS ("
    "  SELECT (SELECT value FROM reward) AS reward, "
    "         (SELECT group_concat(key, ', ') FROM rewards) AS names, "
    "         json_type(:record, '$.exception_info') IS 'object' AS failed"
    ") "
    "SELECT coalesce(:record ->> '$.agent_info.name', :record ->> '$.config.agent.name') || "
    "         coalesce(' / ' || coalesce(:record ->> '$.agent_info.model_info.name', "
    "                                    :record ->> '$.config.agent.model_name'), '') AS model, "
    "       coalesce(:record ->> '$.source', 'adhoc') AS task, :record ->> '$.task_name' AS item, "
    "       CASE WHEN NOT failed THEN reward END AS score, "
    "       CASE WHEN failed THEN coalesce(:record ->> '$.exception_info.exception_type', '') || "
    "              coalesce(': ' || (:record ->> '$.exception_info.exception_message'), '') "
    "            WHEN reward IS NULL THEN 'score is missing' END AS error, "
    "       :record ->> '$.agent_result.cost_usd' AS cost, "
    "       nullif((:record ->> '$.agent_result.n_input_tokens') + "
    "              (:record ->> '$.agent_result.n_output_tokens'), 0) AS tokens, "
    "       round((julianday(:record ->> '$.agent_execution.finished_at') - "
    "              julianday(:record ->> '$.agent_execution.started_at')) * 86400, 3) AS latency, "
    "       :record ->> '$.trial_name' AS place, "
    "       CASE WHEN :record ->> '$.task_name' IS NULL THEN 'has no task_name' "
    "            WHEN reward IS NULL AND names IS NOT NULL AND NOT failed THEN "
    "              'has no reward named ' || coalesce(:metric, 'reward') || '; choose one of ' || "
    "              names || ' by --metric' END AS refused "
    "FROM told";

/* :record is run_metadata.json. */
static const char about_run[] =
    "SELECT coalesce(:record ->> '$.agent_name' || "
    "                  coalesce(' / ' || (:record ->> '$.model_name'), ''), "
    "                replace(folder, rtrim(folder, replace(folder, '/', '')), '')) AS model, "
    "       coalesce(:record ->> '$.dataset_name', 'terminal-bench') AS task, "
    "       :record ->> '$.end_time' AS created "
    "FROM (SELECT rtrim(:folder, '/') AS folder)";

static const char resolved[] =
    "SELECT :record ->> '$.task_id' AS item, :record ->> '$.is_resolved' AS correct, "
    "       CASE WHEN :record ->> '$.is_resolved' IS NULL THEN "
    "         coalesce(nullif(:record ->> '$.failure_mode', 'unset'), 'score is missing') END "
    "         AS error, "
    "       nullif((:record ->> '$.total_input_tokens') + "
    "              (:record ->> '$.total_output_tokens'), 0) AS tokens, "
    "       round((julianday(:record ->> '$.agent_ended_at') - "
    "              julianday(:record ->> '$.agent_started_at')) * 86400, 3) AS latency, "
    "       :record ->> '$.trial_name' AS place, "
    "       CASE WHEN :record ->> '$.task_id' IS NULL THEN 'has no task_id' END AS refused";

static const char trial_keys[] = "task_name,trial_name,source,agent_info,agent_result,"
                                 "verifier_result,exception_info,agent_execution,config";
static const char resolved_keys[] =
    "task_id,trial_name,is_resolved,failure_mode,total_input_tokens,total_output_tokens,"
    "agent_started_at,agent_ended_at";

static bool read_run(import_run *run, import_file *file, const char *at) {
  char *beside = NULL;
  bool ok = import_beside(run, file, "run_metadata.json", &beside) &&
            import_about(run, file, about_run, beside) &&
            import_each(run, file, at, resolved_keys, resolved);
  sqlite3_free(beside);
  return ok;
}

static bool read(import_run *run, import_file *file) {
  file->adds = true;
  if (is_trial(run, file))
    return import_each(run, file, NULL, trial_keys, trial) &&
           import_set(run, &file->metric, "%s", import_chosen(run)->metric);
  if (is_job(run, file))
    return import_fail(run, file, "has only a summary of trials: give its folder");
  return read_run(run, file, is_run(run, file) ? "$.results" : NULL);
}

const import_format import_harbor = {
    .name = "harbor",
    .reads = "folders of Harbor trials (result.json), and Terminal-Bench's results.json",
    .recognised_by = "task_name and trial_name; is_resolved",
    .becomes = "a model per agent and model, the rewards as scores; a trial that ended with an "
               "exception is an error, whatever its reward",
    .knows = knows,
    .read = read};
