-- Imports HELM's per-instance statistics into results, the table of ../schema.sql.
-- For the sqlite3 shell, started in the project's directory.
--
--   make import FROM=helm FILE=benchmark_output/runs/my-suite METRIC=exact_match DB=evals.db
--   sqlite3 -bail evals.db '.read sql/schema.sql' '.parameter set @path benchmark_output/runs/my-suite' '.read sql/adapters/helm.sql'
--
-- @path is a run's directory or one above it, searched to the bottom for
-- per_instance_stats.json, each with the run_spec.json beside it; as HELM writes them
-- since 0.2 (2023), 0.5.16 the latest read.
--
--   model     @model if set; else run_spec's adapter_spec.model
--   task      @task if set; else the run's name without its model, such as
--             mmlu:subject=anatomy,method=multiple_choice_joint
--   item      instance_id
--   attempt   train_trial_index, counted from 1
--   score     the mean of the metric over the instance's completions
--   correct   the score, if it is 0 or 1 in all answers of the model to the task; else
--             they are graded, and correct is NULL in all of them
--   error     'score is missing' where the instance has not got the metric
--
-- An instance has dozens of metrics, its token counts among them.  @metric says which
-- is taken; without it the first of those that HELM's leaderboards lead with and the
-- file has: exact_match, quasi_exact_match, prefix_exact_match, quasi_prefix_exact_match,
-- final_number_exact_match, math_equiv_chain_of_thought, chain_of_thought_correctness,
-- ifeval_strict_accuracy, f1_score, rouge_l, bleu_4.  Instances that HELM perturbed, to
-- see how robust a model is, are left out, and the summary tells how many.
--
-- Tried on statistics that the classes of 0.5.16 wrote, of answers that were made up.
.parameter set @ending /per_instance_stats.json
.read sql/adapters/files.sql
.parameter unset @ending
UPDATE temp.import_files AS f SET (model, task) = (
  SELECT coalesce(nullif(@model, ''), json_extract(spec, '$.adapter_spec.model')),
         coalesce(nullif(@task, ''), (
           SELECT scenario || coalesce(':' || group_concat(value, ','), '')
           FROM (SELECT p.value FROM json_each('["' || replace(parts, ',', '","') || '"]') AS p WHERE p.value NOT LIKE 'model=%' AND p.value <> '')))
  FROM (SELECT spec, substr(name, 1, instr(name || ':', ':') - 1) AS scenario, replace(substr(name, instr(name || ':', ':') + 1), '"', '') AS parts
        FROM (SELECT spec, replace(json_extract(spec, '$.name'), '\', '/') AS name
              FROM (SELECT CASE WHEN json_valid(text) THEN text END AS spec
                    FROM (SELECT CAST(readfile(replace(f.path, 'per_instance_stats.json', 'run_spec.json')) AS TEXT) AS text)))))
WHERE note IS NULL;
UPDATE temp.import_files SET note = 'not imported: no run_spec.json beside it that names the run and its model'
WHERE note IS NULL AND (model IS NULL OR task IS NULL);

DROP TABLE IF EXISTS temp.helm_stats;
CREATE TEMP TABLE helm_stats AS
SELECT f.path, i.key + 1 AS place, i.value AS instance, json_extract(i.value, '$.perturbation') IS NOT NULL AS perturbed,
       json_extract(s.value, '$.name.name') AS metric, json_extract(s.value, '$.mean') AS mean
FROM temp.import_files AS f, json_each(f.body) AS i
LEFT JOIN json_each(CASE WHEN i.type = 'object' THEN i.value END, '$.stats') AS s
WHERE f.note IS NULL;
UPDATE temp.import_files AS f SET metric = coalesce(nullif(@metric, ''), (
  SELECT m.value FROM json_each('["exact_match","quasi_exact_match","prefix_exact_match","quasi_prefix_exact_match","final_number_exact_match",
                                  "math_equiv_chain_of_thought","chain_of_thought_correctness","ifeval_strict_accuracy","f1_score","rouge_l","bleu_4"]') AS m
  WHERE m.value IN (SELECT metric FROM temp.helm_stats AS s WHERE s.path = f.path) ORDER BY m.key LIMIT 1))
WHERE note IS NULL;
UPDATE temp.import_files AS f SET note = CASE
  WHEN NOT EXISTS (SELECT 1 FROM temp.helm_stats AS s WHERE s.path = f.path AND s.metric = f.metric)
  THEN 'not imported: set a metric, of ' || coalesce((SELECT group_concat(metric, ', ') FROM
         (SELECT DISTINCT metric FROM temp.helm_stats AS s WHERE s.path = f.path AND metric IS NOT NULL ORDER BY metric)), 'none')
  ELSE (SELECT nullif(count(DISTINCT place), 0) || ' perturbed instances are left out' FROM temp.helm_stats AS s WHERE s.path = f.path AND perturbed) END
WHERE note IS NULL;

WITH instances AS (
  SELECT path, place, instance FROM temp.helm_stats WHERE NOT perturbed GROUP BY path, place
)
INSERT INTO temp.import_answers
SELECT f.path, 'instance ' || i.place, NULL, f.model, f.task, json_extract(i.instance, '$.instance_id'),
       coalesce(json_extract(i.instance, '$.train_trial_index'), 0) + 1, NULL, s.mean, CASE WHEN s.mean IS NULL THEN 'score is missing' END
FROM instances AS i JOIN temp.import_files AS f USING (path)
LEFT JOIN temp.helm_stats AS s ON s.path = i.path AND s.place = i.place AND s.metric = f.metric
WHERE coalesce(f.note, '') NOT LIKE 'not%';
INSERT INTO temp.import_refused
SELECT path, place || CASE WHEN item IS NULL THEN ' has no instance_id' ELSE ' has no whole number for its trial' END
FROM temp.import_answers WHERE item IS NULL OR typeof(attempt) <> 'integer';
DROP TABLE temp.helm_stats;
.read sql/adapters/take.sql
