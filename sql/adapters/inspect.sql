-- Imports Inspect's logs into results, the table of ../schema.sql.  For the sqlite3
-- shell with zipfile, as Debian's, started in the project's directory.
--
--   make import FROM=inspect FILE=logs DB=evals.db
--   sqlite3 -bail evals.db '.read sql/schema.sql' '.parameter set @path logs' '.read sql/adapters/inspect.sql'
--
-- @path is a log or a directory, searched to the bottom.  Read are JSON logs, and
-- .eval logs that are stored or deflated, as Inspect wrote them before 0.3.206 (April
-- 2026).  Since then it compresses with zstd, which SQLite cannot read:
--
--   inspect log convert logs --to json --output-dir logs_json
--
-- It prints a line a log: what it took, and what results now has of it; note tells
-- of a log that was cancelled, errored or did not end, of which the samples so far
-- are taken.  The same logs again change nothing; of two logs with the same model,
-- task, sample and epoch the later is taken (so a retried eval counts once), and a
-- later import replaces answers of an earlier one.
--
-- All or nothing: a sample without an id or a whole number for its epoch stops the
-- import.  These are listed in place of the lines above; results stays as it was, and
-- the shell ends with an error.
--
--   model     @model if set (do, to keep apart two runs that differ in their
--             prompt or solver only); else eval.model
--   task      @task if set; else eval.task
--   item      the sample's id
--   attempt   the epoch
--   score     the number that Inspect's accuracy would take: 1 for C, yes, true; 0
--             for I, N (no answer), no, false; 0.5 for P (partial)
--   correct   the score, if it is 0 or 1 in all samples of the model and task; else
--             they are graded, and correct is NULL in all of them.  A rating of 1 to
--             10 has its range in @lo and @hi
--   error     what the sample errored with; 'invalidated'; 'score is missing'; or
--             'score is not a number: ...' for a list, an object or another text
--
-- A sample can have several scorers, which judge one answer.  One is taken, or
-- every answer would count several times: the first, unless the log has the one
-- you ask for.  Asking for another replaces what was imported before.
--
--   .parameter set @scorer model_graded_fact
--
-- An errored sample is not known even if score_on_error had it scored.  To take that
-- score, or to count every errored sample as wrong:
--
--   UPDATE results SET correct = score, error = NULL WHERE error NOT LIKE 'score is %' AND score IN (0, 1);
--   UPDATE results SET correct = 0, error = NULL WHERE error NOT LIKE 'score is %';
--
-- Partial credit and graded scores have an interval of their mean.  To count them as
-- right or wrong instead, from 0.5 up:
--
--   UPDATE results SET correct = score >= 0.5 WHERE correct IS NULL AND error IS NULL;
--
-- A log is read whole: under SQLite's limit of a billion bytes.
-- Written from the source of 0.3.260, and tried on the logs among its tests, where it
-- gives Inspect's own accuracies.
.read sql/adapters/stage.sql
DROP TABLE IF EXISTS temp.inspect_samples;
CREATE TEMP TABLE inspect_samples(path TEXT, place TEXT, item, epoch, failure TEXT, scores TEXT);

-- A log in body, or its header where the samples are in files of their own.
WITH found AS (
  SELECT name AS path, name GLOB '*.eval' AS zipped, readfile(name) AS bytes
  FROM fsdir(@path) WHERE name GLOB '*.json' OR name GLOB '*.eval'
), whole AS MATERIALIZED (
  -- A zip ends with its directory; one that is still written to has none yet.
  SELECT path, zipped, CASE WHEN NOT zipped THEN CAST(bytes AS TEXT) END AS log,
         zipped AND instr(substr(bytes, -65557), x'504B0506') > 0 AS readable
  FROM found
), opened AS MATERIALIZED (
  SELECT path, zipped, readable, log FROM whole WHERE NOT readable
  UNION ALL
  SELECT path, zipped, NOT coalesce(max(z.method NOT IN (0, 8)), 0),
         coalesce(max(CASE WHEN z.name = 'header.json' AND method IN (0, 8) THEN CAST(z.data AS TEXT) END),
                  max(CASE WHEN z.name = '_journal/start.json' AND method IN (0, 8) THEN CAST(z.data AS TEXT) END))
  FROM whole, zipfile(path) AS z WHERE readable GROUP BY path
), mended AS MATERIALIZED (
  -- Inspect writes NaN for a sample without a score, which JSON does not have.
  SELECT path, zipped, readable,
         CASE WHEN json_valid(log) THEN log
              ELSE replace(replace(replace(log, ' NaN', ' null'), ' -Infinity', ' null'), ' Infinity', ' null') END AS log
  FROM opened
), named AS MATERIALIZED (
  SELECT path, zipped, readable, CASE WHEN json_valid(log) THEN log END AS log FROM mended
)
INSERT INTO temp.import_files(path, model, task, created, body, note)
SELECT path, nullif(coalesce(nullif(@model, ''), json_extract(log, '$.eval.model')), ''),
       coalesce(nullif(@task, ''), json_extract(log, '$.eval.task')), json_extract(log, '$.eval.created'), log,
       CASE WHEN zipped AND NOT readable THEN 'not imported: compressed with zstd, or cut short; inspect log convert ' || path || ' --to json --output-dir logs_json'
            WHEN log IS NULL THEN 'not imported: not JSON'
            WHEN json_extract(log, '$.eval.model') IS NULL OR json_extract(log, '$.eval.task') IS NULL THEN 'not imported: not a log of Inspect'
            WHEN coalesce(nullif(@model, ''), json_extract(log, '$.eval.model')) = '' THEN 'not imported: no model''s name, set one' END
FROM named
UNION ALL
SELECT @path, NULL, NULL, NULL, NULL, 'nothing found: no *.json or *.eval here' WHERE NOT EXISTS (SELECT 1 FROM named);

WITH texts AS (
  SELECT f.path, 'sample ' || (s.key + 1) AS place, CASE WHEN s.type = 'object' THEN s.value ELSE '{}' END AS text
  FROM temp.import_files AS f, json_each(f.body, '$.samples') AS s WHERE f.note IS NULL AND f.path GLOB '*.json'
  UNION ALL
  SELECT f.path, z.name, CAST(z.data AS TEXT)
  FROM temp.import_files AS f, zipfile(f.path) AS z
  WHERE f.note IS NULL AND f.path GLOB '*.eval' AND z.name GLOB 'samples/*.json'
), mended AS (
  SELECT path, place, CASE WHEN json_valid(text) THEN text
                           ELSE replace(replace(replace(text, ' NaN', ' null'), ' -Infinity', ' null'), ' Infinity', ' null') END AS text
  FROM texts
), objects AS (
  SELECT path, place, CASE WHEN json_valid(text) THEN text ELSE '{}' END AS object FROM mended
)
INSERT INTO temp.inspect_samples
SELECT path, place, json_extract(object, '$.id'), json_extract(object, '$.epoch'),
       CASE WHEN json_type(object, '$.error') <> 'null'
            THEN coalesce(json_extract(object, '$.error.message'), 'errored')
            WHEN json_type(object, '$.invalidation') <> 'null' THEN 'invalidated' END,
       CASE WHEN json_type(object, '$.scores') = 'object' THEN json_extract(object, '$.scores') END
FROM objects;
INSERT INTO temp.import_refused
SELECT path, place || CASE WHEN item IS NULL THEN ' has no id' ELSE ' has no epoch' END
FROM temp.inspect_samples WHERE item IS NULL OR typeof(epoch) <> 'integer' ORDER BY path, rowid;

-- What became of a log, and how much of it there is.
UPDATE temp.import_files AS f SET
  metric = (SELECT k.key FROM temp.inspect_samples AS s, json_each(s.scores) AS k
            WHERE s.path = f.path ORDER BY k.key = @scorer DESC, s.rowid, k.id LIMIT 1),
  note = CASE WHEN NOT EXISTS (SELECT 1 FROM temp.inspect_samples AS s WHERE s.path = f.path) THEN 'not imported: no samples in it'
              WHEN coalesce(json_extract(body, '$.status'), 'started') = 'success' THEN NULL
              ELSE (SELECT CASE json_extract(body, '$.status') WHEN 'cancelled' THEN 'cancelled' WHEN 'error' THEN 'errored' ELSE 'did not end' END ||
                           ': ' || count(*) || coalesce(' of ' || expected, '') || ' samples' || coalesce(': ' || json_extract(body, '$.error.message'), '')
                    FROM temp.inspect_samples AS s,
                         (SELECT json_array_length(body, '$.eval.dataset.sample_ids') * coalesce(json_extract(body, '$.eval.config.epochs'), 1) AS expected)
                    WHERE s.path = f.path) END
WHERE note IS NULL;

WITH given AS (
  SELECT f.path, f.created, f.model, f.task, s.place, s.item, s.epoch, s.failure,
         json_type(k.value, '$.value') AS type, json_extract(k.value, '$.value') AS value
  FROM temp.inspect_samples AS s JOIN temp.import_files AS f ON f.path = s.path
  LEFT JOIN json_each(s.scores) AS k ON k.key = f.metric
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
INSERT INTO temp.import_answers
SELECT path, place, created, model, task, item, epoch, NULL, score,
       CASE WHEN failure IS NOT NULL THEN failure
            WHEN value IS NULL THEN 'score is missing'
            WHEN score IS NULL THEN 'score is not a number: ' || substr(value, 1, 100) END
FROM read;
DROP TABLE temp.inspect_samples;
.read sql/adapters/take.sql
