-- Imports tau-bench's trajectories into results, the table of ../schema.sql.  For the
-- sqlite3 shell, started in the project's directory.
--
--   make import FROM=tau_bench FILE=results DB=evals.db
--   sqlite3 -bail evals.db '.read sql/schema.sql' '.parameter set @path results' '.read sql/adapters/tau_bench.sql'
--
-- @path is a file or a directory, searched to the bottom, of JSON as tau-bench's run.py
-- writes it (an array of task_id, reward, info, traj and trial; the same since 2024), or
-- as tau2-bench does (0.1 to 1.0: info, tasks and simulations in one file; not voice
-- runs, which have a file a simulation).
--
--   model     @model if set; else what the file says (info.agent_info.llm), which is
--             tau2-bench's alone; else the file's name, up to _range_
--   task      @task if set; else the domain that the file says; else, in tau-bench,
--             airline where tasks ask to change reservations and retail where orders
--   item      task_id
--   attempt   the trial, counted from 1
--   score     the reward; within a millionth of 1 it is 1, as in tau-bench's pass^k
--   correct   the score, if it is 0 or 1 in all answers of the model to the task; else
--             they are graded, and correct is NULL in all of them
--   error     what the run failed with: tau-bench's info.error, to which it gives the
--             reward 0; of tau2-bench, 'infrastructure_error', which its own metrics
--             leave out too; or 'score is missing'
--
-- To count failed runs as wrong, as tau-bench does:
--
--   UPDATE results SET correct = 0, score = 0, error = NULL WHERE score = 0 AND error IS NOT NULL;
--
-- Tried on the trajectories of gpt-4o that tau-bench publishes, where it gives their
-- average reward and pass^4; tau2-bench's shape is from its source, 1.0.1.
.read sql/adapters/files.sql
DROP TABLE IF EXISTS temp.tau_bench_runs;
CREATE TEMP TABLE tau_bench_runs AS
SELECT f.path, r.key + 1 AS place, r.type, r.value AS run, json_type(f.body) = 'object' AS second
FROM temp.import_files AS f, json_each(f.body, CASE json_type(f.body) WHEN 'array' THEN '$' ELSE '$.simulations' END) AS r
WHERE f.note IS NULL;
UPDATE temp.tau_bench_runs SET run = '{}' WHERE type <> 'object';

WITH named AS (
  SELECT path, substr(path, length(rtrim(path, replace(path, '/', ''))) + 1) AS name FROM temp.import_files
)
UPDATE temp.import_files AS f SET
  created = json_extract(body, '$.timestamp'),
  model = coalesce(nullif(@model, ''), json_extract(body, '$.info.agent_info.llm'),
                   (SELECT substr(name, 1, coalesce(nullif(instr(name, '_range_'), 0), length(name) - 4) - 1) FROM named WHERE named.path = f.path)),
  task = coalesce(nullif(@task, ''), json_extract(body, '$.info.environment_info.domain_name'),
                  (SELECT CASE WHEN a.value LIKE '%reservation%' THEN 'airline' ELSE 'retail' END
                   FROM temp.tau_bench_runs AS r, json_each(r.run, '$.info.task.actions') AS t, json_each(t.value) AS a
                   WHERE r.path = f.path AND a.key = 'name' AND (a.value LIKE '%reservation%' OR a.value LIKE '%order%') LIMIT 1));
UPDATE temp.import_files AS f SET note = CASE
  WHEN NOT EXISTS (SELECT 1 FROM temp.tau_bench_runs AS r WHERE r.path = f.path AND json_type(run, '$.task_id') IS NOT NULL) THEN 'not imported: no trajectories in it'
  WHEN task IS NULL THEN 'not imported: no domain is told, set the task' END
WHERE note IS NULL;

WITH told AS (
  SELECT f.path, f.created, f.model, f.task, r.place, r.second,
         json_extract(run, '$.task_id') AS item, json_extract(run, '$.trial') AS trial,
         CASE WHEN second THEN json_extract(run, '$.reward_info.reward') ELSE json_extract(run, '$.reward') END AS reward,
         CASE WHEN second THEN CASE json_extract(run, '$.termination_reason') WHEN 'infrastructure_error' THEN 'infrastructure_error' END
              ELSE json_extract(run, '$.info.error') END AS error
  FROM temp.tau_bench_runs AS r JOIN temp.import_files AS f USING (path) WHERE f.note IS NULL
)
INSERT INTO temp.import_answers
SELECT path, 'run ' || place, created, model, task, item, coalesce(trial, 0) + 1, NULL,
       CASE WHEN abs(reward - 1) <= 1e-6 THEN 1.0 ELSE reward END, coalesce(error, CASE WHEN reward IS NULL THEN 'score is missing' END)
FROM told;
INSERT INTO temp.import_refused
SELECT path, place || CASE WHEN item IS NULL THEN ' has no task_id' ELSE ' has no whole number for its trial' END
FROM temp.import_answers WHERE item IS NULL OR typeof(attempt) <> 'integer';
DROP TABLE temp.tau_bench_runs;
.read sql/adapters/take.sql
