-- Imports Inspect's logs into results, the table of ../schema.sql.  For the
-- sqlite3 shell, which can read files.
--
--   inspect log convert logs --to json --output-dir logs_json
--   sqlite3 -bail evals.db '.read sql/schema.sql' ".parameter set @path \"'logs_json'\"" '.read sql/adapters/inspect.sql'
--
-- The first line is for Inspect's usual .eval files, which are zipped; logs
-- written with --log-format json need no converting.  @path is a log or a
-- directory, searched to the bottom.  It prints a line a log: what it took, and
-- what results now has of it.  The same logs again change nothing; of two logs
-- with the same model, task, sample and epoch the later is taken (so a retried
-- eval counts once), and a later import replaces answers of an earlier one.
--
-- All or nothing: a sample without an id or a whole number for its epoch stops
-- the import.  Then each such log is listed with the first of these samples, in
-- place of the lines above; results stays as it was, and the shell ends with an
-- error.
--
--   model     @model if set (do, to keep apart two runs that differ in their
--             prompt or solver only); else eval.model
--   task      eval.task
--   item      the sample's id
--   attempt   the epoch
--   correct   C, yes, true, 1: 1.  I, N (no answer), no, false, 0: 0, as in
--             Inspect's own accuracy.  NULL for everything else
--   score     the number that Inspect's accuracy would take: 0.5 for P (partial)
--   error     why correct is NULL: what the sample errored with; 'invalidated';
--             'score is missing'; or 'score is not 0 or 1: ...' for P, for a graded
--             score and for one that is a list or an object
--
-- A sample can have several scorers, which judge one answer.  One is taken, or
-- every answer would count several times: the first, unless the log has the one
-- you ask for.  Asking for another replaces what was imported before.
--
--   .parameter set @scorer "'model_graded_fact'"
--
-- An errored sample is NULL even if score_on_error had it scored.  To take that
-- score, or to count every errored sample as wrong:
--
--   UPDATE results SET correct = score WHERE correct IS NULL AND error NOT LIKE 'score is %' AND score IN (0, 1);
--   UPDATE results SET correct = 0 WHERE correct IS NULL AND error NOT LIKE 'score is %';
--
-- Partial credit is neither right nor wrong, and half an answer is not a number
-- of answers.  To count it, and graded scores, as wrong below 1; or to pass them
-- from 0.5 up:
--
--   UPDATE results SET correct = score >= 1, error = NULL WHERE error LIKE 'score is not 0 or 1:%' AND score IS NOT NULL;
--   UPDATE results SET correct = score >= 0.5, error = NULL WHERE error LIKE 'score is not 0 or 1:%' AND score IS NOT NULL;
--
-- A log is read whole: under SQLite's limit of a billion bytes.  Written from the
-- source of 0.3.260, and tried on the JSON logs among its tests.
DROP TABLE IF EXISTS temp.inspect;
DROP TABLE IF EXISTS temp.inspect_samples;
DROP TABLE IF EXISTS temp.inspect_refused;
CREATE TEMP TABLE inspect(path TEXT, model TEXT, task TEXT, created TEXT, scorer TEXT, log TEXT, note TEXT);
CREATE TEMP TABLE inspect_refused(path TEXT, reason TEXT);
CREATE TEMP TRIGGER inspect_stops AFTER UPDATE ON inspect_refused
BEGIN SELECT RAISE(ABORT, 'inspect.sql: nothing was imported, because of the logs listed'); END;

WITH texts AS MATERIALIZED (
  SELECT name AS path, CASE WHEN name GLOB '*.json' THEN CAST(readfile(name) AS TEXT) END AS log
  FROM fsdir(@path) WHERE name GLOB '*.json' OR name GLOB '*.eval'
), mended AS MATERIALIZED (
  -- Inspect writes NaN for a sample without a score, which JSON does not have.
  SELECT path, CASE WHEN json_valid(log) THEN log
                    ELSE replace(replace(replace(log, ' NaN', ' null'), ' -Infinity', ' null'), ' Infinity', ' null') END AS log
  FROM texts
), checked AS MATERIALIZED (
  SELECT path, CASE WHEN json_valid(log) THEN log END AS log, json_valid(log) AS valid FROM mended
), named AS MATERIALIZED (
  SELECT path, log, valid,
         nullif(coalesce(nullif(@model, ''), json_extract(log, '$.eval.model')), '') AS model,
         json_extract(log, '$.eval.task') AS task, json_extract(log, '$.eval.model') IS NULL AS nameless
  FROM checked
)
INSERT INTO temp.inspect(path, model, task, created, log, note)
SELECT path, model, task, json_extract(log, '$.eval.created'), log,
       CASE WHEN path GLOB '*.eval' THEN 'not imported: zipped, see inspect log convert'
            WHEN NOT valid THEN 'not imported: not JSON'
            WHEN nameless OR task IS NULL THEN 'not imported: not a log of Inspect'
            WHEN model IS NULL THEN 'not imported: no model''s name, set @model'
            WHEN coalesce(json_array_length(log, '$.samples'), 0) = 0 THEN 'not imported: no samples in it' END
FROM named
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, 'nothing found: no *.json in @path' WHERE NOT EXISTS (SELECT 1 FROM named);

UPDATE temp.inspect SET scorer = (
  SELECT k.key FROM json_each(log, '$.samples') AS s, json_each(CASE WHEN s.type = 'object' THEN s.value END, '$.scores') AS k
  ORDER BY k.key = @scorer DESC, s.id, k.id LIMIT 1)
WHERE note IS NULL;

-- What results would get, before it gets any of it.
CREATE TEMP TABLE inspect_samples AS
WITH taken AS (
  SELECT l.path, l.model, l.task, l.created, l.scorer, s.key + 1 AS sample,
         CASE WHEN s.type = 'object' THEN s.value ELSE '{}' END  AS object
  FROM temp.inspect AS l, json_each(l.log, '$.samples') AS s
  WHERE l.note IS NULL
)
SELECT path, model, task, created, scorer, sample,
       json_extract(object, '$.id')             AS item,
       json_extract(object, '$.epoch')          AS attempt,
       CASE WHEN json_type(object, '$.error') <> 'null'
            THEN coalesce(json_extract(object, '$.error.message'), 'errored')
            WHEN json_type(object, '$.invalidation') <> 'null' THEN 'invalidated' END AS failure,
       json_extract(object, '$.scores')         AS scores
FROM taken;

INSERT INTO temp.inspect_refused
SELECT path, 'sample ' || min(sample) || CASE WHEN item IS NULL THEN ' has no id' ELSE ' has no epoch' END
FROM temp.inspect_samples WHERE item IS NULL OR typeof(attempt) <> 'integer' GROUP BY path;
SELECT path, reason FROM temp.inspect_refused ORDER BY path;
UPDATE temp.inspect_refused SET reason = reason;

WITH latest AS (
  SELECT *, row_number() OVER (PARTITION BY model, task, item, attempt
                               ORDER BY julianday(created) DESC, path DESC) AS place
  FROM temp.inspect_samples WHERE NOT EXISTS (SELECT 1 FROM temp.inspect_refused)
), given AS (
  SELECT l.model, l.task, l.item, l.attempt, l.failure,
         json_type(k.value, '$.value') AS type, json_extract(k.value, '$.value') AS value
  FROM latest AS l LEFT JOIN json_each(l.scores) AS k ON k.key = l.scorer
  WHERE l.place = 1
), read AS (
  SELECT *,
         CASE WHEN type IN ('true', 'false', 'integer', 'real') THEN CAST(value AS REAL)
              WHEN type <> 'text' THEN NULL
              WHEN value = 'C' OR lower(value) IN ('yes', 'true') THEN 1.0
              WHEN value IN ('I', 'N') OR lower(value) IN ('no', 'false') THEN 0.0
              WHEN value = 'P' THEN 0.5
              WHEN json_valid(value) AND json_type(value) IN ('integer', 'real') THEN CAST(value AS REAL) END AS score
  FROM given
)
INSERT INTO results(model, task, item, attempt, correct, score, error)
SELECT model, task, item, attempt,
       CASE WHEN failure IS NULL AND score IN (0, 1) THEN CAST(score AS INTEGER) END,
       score,
       CASE WHEN failure IS NOT NULL THEN failure
            WHEN value IS NULL THEN 'score is missing'
            WHEN score IS NULL OR score NOT IN (0, 1) THEN 'score is not 0 or 1: ' || substr(value, 1, 100) END
FROM read WHERE true
ON CONFLICT (model, task, item, attempt)
DO UPDATE SET correct = excluded.correct, score = excluded.score, error = excluded.error;

-- Nothing of this if results took none of the samples there were.
SELECT l.model, l.task, l.scorer,
       count(r.item)                    AS n,
       coalesce(sum(r.correct), 0)      AS correct,
       count(r.item) - count(r.correct) AS errored,
       l.path, l.note
FROM temp.inspect AS l
LEFT JOIN results AS r ON l.note IS NULL AND r.model = l.model AND r.task = l.task
WHERE changes() > 0 OR NOT EXISTS (SELECT 1 FROM temp.inspect_samples)
GROUP BY l.path ORDER BY l.path;
DROP TABLE temp.inspect;
DROP TABLE temp.inspect_samples;
DROP TABLE temp.inspect_refused;
