-- Arize Phoenix's database as results (see ../schema.sql), by views; nothing is copied.
--
--   evalci import ~/.phoenix/phoenix.db -o evals.db
--
-- contains these views, and copies their rows to a table; evalci leaderboard reads the
-- database without copying it.  To use the views yourself:
--
--   sqlite3 ~/.phoenix/phoenix.db '.backup evals.db'
--   sqlite3 evals.db '.load build/evalci' '.read sql/adapters/phoenix.sql' \
--     'SELECT * FROM eval_leaderboard'
--
-- Do not use cp: the latest runs may still be in the file's write-ahead log.
--
--   model     the experiment's name, with its number if its dataset has several of
--             that name.  Experiments that Phoenix marks ephemeral, trials in its
--             playground that it will delete, are left out
--   task      the dataset's name
--   item      the example, so that experiments on one dataset are paired by it
--   attempt   the repetition
--   score     the annotation's; NULL if the run or the evaluator errored
--   correct   for an experiment and annotation as a whole: the score, if it is 0 or 1
--             throughout (a label replaces a missing score); else the label, if
--             it is correct, true, yes, pass or passed (1) or incorrect, false, no,
--             fail or failed (0) throughout; else NULL, and the scores are graded
--   error     why an answer is not known: the error of the run or the evaluator; 'score is
--             missing'; or 'score is missing, and the label says neither: ...'
--   latency   from the run's start to its end, in seconds
--   then      annotation, its name; errored, 1 if the run errored; experiment_id
--
-- A run can have many annotations, one per name.  Counting each would count every
-- answer several times, so results has one: for each dataset the name that settles
-- the most runs as right or wrong, or else has the most scores (in a tie, the first
-- by name).  phoenix_results has all of them.  To choose another for every dataset:
--
--   DROP VIEW results;
--   CREATE VIEW results AS SELECT * FROM phoenix_results WHERE annotation = 'correctness';
--
-- To count errored runs as wrong:
--
--   DROP VIEW results;
--   CREATE VIEW results AS
--   SELECT model, task, item, attempt, CASE WHEN errored THEN 0 ELSE correct END AS correct,
--          CASE WHEN errored THEN 0.0 ELSE score END AS score, CASE WHEN NOT errored THEN error END AS error
--   FROM phoenix_results JOIN phoenix_chosen USING (dataset_id, annotation);
--
-- To count a graded score of 0.5 or more as right, write coalesce(correct, score >= 0.5)
-- for correct there.  If an annotation's 1 is the bad end, as in one named hallucination,
-- write 1 - correct.
--
-- Tested on databases that Phoenix's own migrations created, from the first with
-- experiments (2024) to version 20.3 (2026), and that were filled by hand; not tested
-- with Phoenix itself.
DROP VIEW IF EXISTS phoenix_experiments;
CREATE VIEW phoenix_experiments AS
-- In a database older than the column, the name resolves to the 0 beside the table.
SELECT e.id, e.dataset_id, e.name,
       (SELECT is_ephemeral FROM experiments AS same WHERE same.id = e.id) AS ephemeral
FROM experiments AS e, (SELECT 0 AS is_ephemeral);
DROP VIEW IF EXISTS phoenix_results;
CREATE VIEW phoenix_results AS
WITH models AS (
  SELECT id, dataset_id,
         CASE WHEN count(*) OVER (PARTITION BY dataset_id, name) > 1 THEN name || ' #' || id
              ELSE name END AS model
  FROM phoenix_experiments WHERE NOT ephemeral
), names AS (
  SELECT DISTINCT m.dataset_id, a.name
  FROM experiment_run_annotations AS a
  JOIN experiment_runs AS r ON r.id = a.experiment_run_id
  JOIN models AS m ON m.id = r.experiment_id
), asked AS (
  -- Every run, once for every name that its dataset uses, whether annotated or not; once
  -- if the dataset uses none.
  SELECT m.model, m.dataset_id, r.*, n.name AS annotation
  FROM experiment_runs AS r
  JOIN models AS m ON m.id = r.experiment_id
  LEFT JOIN names AS n ON n.dataset_id = m.dataset_id
), told AS (
  SELECT q.*, a.label, a.error AS evaluator_error,
         CASE WHEN q.error IS NULL AND a.error IS NULL THEN a.score END AS score,
         CASE WHEN q.error IS NOT NULL OR a.error IS NOT NULL THEN NULL
              WHEN lower(a.label) IN ('correct', 'true', 'yes', 'pass', 'passed') THEN 1
              WHEN lower(a.label) IN ('incorrect', 'false', 'no', 'fail', 'failed') THEN 0 END AS verdict
  FROM asked AS q
  LEFT JOIN experiment_run_annotations AS a ON a.experiment_run_id = q.id AND a.name = q.annotation
), judged AS (
  SELECT *,
         CASE WHEN min(score IN (0, 1)) OVER whole IS NOT 0 THEN coalesce(CAST(score AS INTEGER), verdict)
              WHEN min(CASE WHEN score IS NOT NULL OR label IS NOT NULL AND error IS NULL AND evaluator_error IS NULL
                            THEN verdict IS NOT NULL END) OVER whole THEN verdict END AS correct
  FROM told WINDOW whole AS (PARTITION BY experiment_id, annotation)
)
SELECT j.model,
       d.name                                               AS task,
       j.dataset_example_id                                 AS item,
       j.repetition_number                                  AS attempt,
       j.correct,
       j.score,
       CASE WHEN j.error IS NOT NULL THEN j.error
            WHEN j.evaluator_error IS NOT NULL THEN 'evaluator: ' || j.evaluator_error
            WHEN j.correct IS NOT NULL OR j.score IS NOT NULL THEN NULL
            ELSE 'score is missing' || coalesce(', and the label says neither: ' || j.label, '') END AS error,
       round((julianday(j.end_time) - julianday(j.start_time)) * 86400, 3) AS latency,
       coalesce(j.annotation, '')                           AS annotation,
       j.error IS NOT NULL                                  AS errored,
       j.experiment_id,
       j.dataset_id
FROM judged AS j
JOIN datasets AS d ON d.id = j.dataset_id;
DROP VIEW IF EXISTS phoenix_chosen;
CREATE VIEW phoenix_chosen AS
SELECT dataset_id, annotation
FROM (SELECT dataset_id, annotation,
             row_number() OVER (PARTITION BY dataset_id ORDER BY count(correct) DESC, count(score) DESC, annotation) AS place
      FROM phoenix_results GROUP BY dataset_id, annotation)
WHERE place = 1;
DROP VIEW IF EXISTS phoenix_skipped;
CREATE VIEW phoenix_skipped AS
SELECT name || ' #' || id AS what, 'not imported: an ephemeral experiment' AS note FROM phoenix_experiments WHERE ephemeral
UNION ALL
SELECT r.task || ', ' || r.annotation, 'not imported: judged by ' || c.annotation || ' instead'
FROM (SELECT DISTINCT dataset_id, task, annotation FROM phoenix_results) AS r JOIN phoenix_chosen AS c USING (dataset_id)
WHERE r.annotation <> c.annotation;
DROP VIEW IF EXISTS results;
CREATE VIEW results AS SELECT * FROM phoenix_results JOIN phoenix_chosen USING (dataset_id, annotation);
