/*
** tau-bench and tau2-bench: trajectories.
**
** An array of task_id, reward, info, traj and trial, as tau-bench's run.py writes it; or
** timestamp, info, tasks and simulations in one document, as tau2-bench does; or, of its runs
** by voice, simulation_index in the document, and a file for each simulation, which is not read.
**
**   model     info.agent_info.llm, which tau2-bench alone writes; else the file's name, up to
**             _range_
**   task      the domain that tau2-bench names; in tau-bench airline where the tasks ask to
**             change reservations, and retail where orders
**   item      task_id
**   attempt   the trial, counted from 1
**   score     the reward; within a millionth of 1 it is 1, as in tau-bench's pass^k
**   error     what the run failed with: tau-bench's info.error, to which it gives the reward 0;
**             'infrastructure_error', which tau2-bench's own metrics leave out too; or 'score
**             is missing'
**   cost, latency   agent_cost and duration, of tau2-bench
*/
#include "formats.h"

static bool is_second(import_run *run, const import_file *file) {
  return file->kind == IMPORT_JSON && import_has(run, file, "$.info.environment_info") &&
         import_has(run, file, "$.info.agent_info");
}

static bool knows(import_run *run, const import_file *file) {
  return is_second(run, file) ||
         (file->kind == IMPORT_JSONL && import_has(run, file, "$.task_id") &&
          import_has(run, file, "$.reward") && import_has(run, file, "$.traj"));
}

static const char domains[] =
    "SELECT 'domain' AS what, "
    "       CASE WHEN action LIKE '%reservation%' THEN 'airline' ELSE 'retail' END AS name, "
    "       0 AS rank "
    "FROM (SELECT value ->> '$.name' AS action FROM json_each(:record, '$.info.task.actions') "
    "      WHERE type = 'object') "
    "WHERE action LIKE '%reservation%' OR action LIKE '%order%'";

static const char about[] =
    "SELECT coalesce(:head ->> '$.info.agent_info.llm', "
    "                substr(:stem, 1, instr(:stem || '_range_', '_range_') - 1)) AS model, "
    "       coalesce(:head ->> '$.info.environment_info.domain_name', "
    "                (SELECT name FROM import_taken WHERE what = 'domain')) AS task, "
    "       :head ->> '$.timestamp' AS created";

static const char needed[] =
    "task_id,trial,reward,reward_info,termination_reason,info,agent_cost,duration";

static const char answers[] =
    "WITH told AS ("
    "  SELECT coalesce(:record ->> '$.reward_info.reward', :record ->> '$.reward') AS reward, "
    "         coalesce(:record ->> '$.trial', 0) AS trial, "
    "         CASE WHEN :record ->> '$.termination_reason' IS NULL THEN :record ->> '$.info.error' "
    "              WHEN :record ->> '$.termination_reason' = 'infrastructure_error' "
    "              THEN 'infrastructure_error' END AS error"
    ") "
    "SELECT :record ->> '$.task_id' AS item, trial + 1 AS attempt, "
    "       CASE WHEN abs(reward - 1) <= 1e-6 THEN 1.0 ELSE reward END AS score, "
    "       coalesce(error, CASE WHEN reward IS NULL THEN 'score is missing' END) AS error, "
    "       :record ->> '$.agent_cost' AS cost, :record ->> '$.duration' AS latency, "
    "       CASE WHEN :record ->> '$.task_id' IS NULL THEN 'there is no task_id' "
    "            WHEN typeof(trial) <> 'integer' THEN 'trial is no whole number' END AS refused "
    "FROM told";

static bool read_second(import_run *run, import_file *file) {
  const char *at = import_has(run, file, "$.simulations") ? "$.simulations" : "$.simulation_index";
  return import_head(run, file, at) && import_about(run, file, about, NULL) &&
         import_each(run, file, at, needed, answers);
}

static bool read(import_run *run, import_file *file) {
  if (!import_set(run, &file->unit, "run")) return false;
  if (is_second(run, file)) return read_second(run, file);
  if (!import_set_head(run, "{}") || !import_names(run, file, NULL, "info", domains, false) ||
      !import_about(run, file, about, NULL))
    return false;
  if (!file->task)
    return import_skip(run, file,
                       "not imported: the domain is unknown; name it by --task-name NAME");
  return import_each(run, file, NULL, needed, answers);
}

const import_format import_tau_bench = {
    .name = "tau_bench",
    .reads = "tau-bench's and tau2-bench's trajectories",
    .recognised_by = "task_id, reward and traj; or info with agent_info and environment_info",
    .becomes = "the task is the domain, an attempt a trial, the score the reward; a run that "
               "failed is an error",
    .knows = knows,
    .read = read};
