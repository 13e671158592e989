-- Arize Phoenix's database as results (see ../schema.sql): views, nothing copied.
--
--   sqlite3 ~/.phoenix/phoenix.db '.backup evals.db'
--   sqlite3 evals.db '.load build/evalci' '.read sql/adapters/phoenix.sql' \
--     '.read sql/leaderboard.sql' 'SELECT * FROM leaderboard'
--
-- Not cp: the latest runs may still be in the file's write-ahead log.  To read
-- the database where it is and leave it so, make the views temporary:
--
--   sed 's/^CREATE VIEW/CREATE TEMP VIEW/' sql/adapters/phoenix.sql sql/leaderboard.sql >views.sql
--   sqlite3 -readonly ~/.phoenix/phoenix.db '.load build/evalci' '.read views.sql' \
--     'SELECT * FROM leaderboard'
--
--   model     the experiment's name, with its number where its dataset has
--             several of that name
--   task      the dataset's name
--   item      the example, so that experiments on one dataset are paired by it
--   attempt   the repetition
--   correct   the annotation's score if it is 0 or 1; else its label if that is
--             correct, true, yes, pass or passed (1) or incorrect, false, no,
--             fail or failed (0); NULL where the run errored, where the evaluator
--             did, where there is no annotation, and where it says neither
--   score     the annotation's; NULL where the run errored
--   error     why correct is NULL: what errored, 'score is missing', or 'score is
--             not 0 or 1: ...'
--   then      annotation, its name; errored, 1 where the run did; experiment_id
--
-- A run can have many annotations, one a name.  Counting each as an answer would
-- count every answer several times, so results has one: for each dataset the
-- name that settles the most runs, as 0 or 1 (of equals, the first by name).
-- phoenix_results has them all.  To choose another for every dataset:
--
--   DROP VIEW results;
--   CREATE VIEW results AS SELECT * FROM phoenix_results WHERE annotation = 'correctness';
--
-- To count errored runs as wrong:
--
--   DROP VIEW results;
--   CREATE VIEW results AS
--   SELECT model, task, item, attempt, CASE WHEN errored THEN 0 ELSE correct END AS correct, score, error
--   FROM phoenix_results JOIN phoenix_chosen USING (dataset_id, annotation);
--
-- To pass a graded score from 0.5 up, write coalesce(correct, score >= 0.5) for
-- correct there.  An annotation whose 1 is the bad end, such as one named
-- hallucination, has to be turned round: 1 - correct.
--
-- Written for the tables as Phoenix's migrations make them, from the first (2024)
-- to version 20.3 (2026); not run against Phoenix itself.
DROP VIEW IF EXISTS phoenix_results;
CREATE VIEW phoenix_results AS
WITH models AS (
  SELECT id, dataset_id,
         CASE WHEN count(*) OVER (PARTITION BY dataset_id, name) > 1 THEN name || ' #' || id
              ELSE name END AS model
  FROM experiments
), names AS (
  SELECT DISTINCT e.dataset_id, a.name
  FROM experiment_run_annotations AS a
  JOIN experiment_runs AS r ON r.id = a.experiment_run_id
  JOIN experiments AS e ON e.id = r.experiment_id
), asked AS (
  -- Every run under every name that its dataset uses, annotated or not; a run
  -- of a dataset without any is there once.
  SELECT m.model, m.dataset_id, r.*, n.name AS annotation
  FROM experiment_runs AS r
  JOIN models AS m ON m.id = r.experiment_id
  LEFT JOIN names AS n ON n.dataset_id = m.dataset_id
), judged AS (
  SELECT q.*, a.score, a.label, a.error AS evaluator_error,
         CASE WHEN q.error IS NOT NULL OR a.error IS NOT NULL THEN NULL
              WHEN a.score IN (0, 1) THEN CAST(a.score AS INTEGER)
              WHEN lower(a.label) IN ('correct', 'true', 'yes', 'pass', 'passed') THEN 1
              WHEN lower(a.label) IN ('incorrect', 'false', 'no', 'fail', 'failed') THEN 0 END AS correct
  FROM asked AS q
  LEFT JOIN experiment_run_annotations AS a ON a.experiment_run_id = q.id AND a.name = q.annotation
)
SELECT j.model,
       d.name                                               AS task,
       j.dataset_example_id                                 AS item,
       j.repetition_number                                  AS attempt,
       j.correct,
       CASE WHEN j.error IS NULL THEN j.score END           AS score,
       CASE WHEN j.correct IS NOT NULL THEN NULL
            WHEN j.error IS NOT NULL THEN j.error
            WHEN j.evaluator_error IS NOT NULL THEN 'evaluator: ' || j.evaluator_error
            WHEN j.score IS NULL AND j.label IS NULL THEN 'score is missing'
            ELSE 'score is not 0 or 1: ' || coalesce(j.score, j.label) END AS error,
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
             row_number() OVER (PARTITION BY dataset_id ORDER BY count(correct) DESC, annotation) AS place
      FROM phoenix_results GROUP BY dataset_id, annotation)
WHERE place = 1;
DROP VIEW IF EXISTS results;
CREATE VIEW results AS SELECT * FROM phoenix_results JOIN phoenix_chosen USING (dataset_id, annotation);
