-- Imports lm-evaluation-harness's samples_*.jsonl into results, the table of
-- ../schema.sql.  For the sqlite3 shell, which can read files.
--
--   lm_eval ... --output_path out --log_samples
--   sqlite3 -bail evals.db '.read sql/schema.sql' ".parameter set @path \"'out'\"" '.read sql/adapters/lm_eval.sql'
--
-- @path is a samples file or a directory, searched to the bottom.  It prints a
-- line a file: what it took, and what results now has of it.  The same files
-- again change nothing; of two runs of one task by one model the later is taken,
-- and a later import replaces answers of an earlier one.
--
-- All or nothing: a record without a doc_id or a filter stops the import.  Then
-- each such file is listed with the first of these records, in place of the lines
-- above; results stays as it was, and the shell ends with an error.
--
--   model     @model if set; else model_name in the results_*.json beside the
--             file; else the name of the file's directory
--   task      from the file's name
--   item      doc_id
--   attempt   1: repeats are settled by the filter before they are scored
--   correct   the metric if it is 0 or 1 (also true, false, and texts of these)
--   score     the metric, if it is a number
--   error     why correct is NULL: 'score is missing' for null and NaN, and
--             'score is not 0 or 1: ...' for a graded metric
--
-- A file has a record for each filter, and in it each metric: several readings
-- of one answer.  One is taken, or every answer would count several times: the
-- first filter and its first metric, unless the file has the ones you ask for.
-- Asking for others replaces those imported before.
--
--   .parameter set @filter "'flexible-extract'"
--   .parameter set @metric "'acc_norm'"
--
-- lm_eval stops at an error, so none is recorded; a missing score is the nearest
-- thing.  To count it as wrong:
--
--   UPDATE results SET correct = 0 WHERE correct IS NULL AND error = 'score is missing';
--
-- To pass a graded metric from 0.5 up:
--
--   UPDATE results SET correct = score >= 0.5, error = NULL WHERE error LIKE 'score is not 0 or 1:%' AND score IS NOT NULL;
--
-- Files need the keys filter and metrics, which lm_eval writes since 0.4.7 (2024).
-- A file is read whole: under SQLite's limit of a billion bytes, and in eleven
-- times its size of memory (100 MB: 50,000 records, 5 seconds).  Written from
-- the source of 0.4.13.dev0; not run against lm_eval itself.
DROP TABLE IF EXISTS temp.lm_eval;
DROP TABLE IF EXISTS temp.lm_eval_answers;
DROP TABLE IF EXISTS temp.lm_eval_refused;
CREATE TEMP TABLE lm_eval(path TEXT, model TEXT, task TEXT, filter TEXT, metric TEXT, records TEXT, note TEXT);
CREATE TEMP TABLE lm_eval_refused(path TEXT, reason TEXT);
CREATE TEMP TRIGGER lm_eval_stops AFTER UPDATE ON lm_eval_refused
BEGIN SELECT RAISE(ABORT, 'lm_eval.sql: nothing was imported, because of the files listed'); END;

WITH found AS (
  -- rtrim() by every other character leaves what comes up to the last slash.
  SELECT name AS path, rtrim(name, replace(name, '/', '')) AS folder
  FROM fsdir(@path) WHERE name GLOB '*samples_*.jsonl'
), stems AS (
  SELECT *, substr(path, length(folder) + 9, length(path) - length(folder) - 14) AS stem
  FROM found WHERE substr(path, length(folder) + 1) GLOB 'samples_*.jsonl'
), cut AS (
  SELECT *, substr(stem, length(rtrim(stem, replace(stem, '_', ''))) + 1) AS date FROM stems
), dated AS (
  SELECT path, folder, rtrim(folder, '/') AS directory,
         CASE WHEN date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T*'
              THEN date ELSE '' END AS date,
         CASE WHEN date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T*'
              THEN substr(stem, 1, length(stem) - length(date) - 1) ELSE stem END AS task
  FROM cut
), beside AS (
  SELECT *, CAST(readfile(folder || 'results_' || date || '.json') AS TEXT) AS aggregated FROM dated
), named AS (
  SELECT path, task, date,
         coalesce(nullif(@model, ''),
                  CASE WHEN json_valid(aggregated) THEN nullif(json_extract(aggregated, '$.model_name'), '') END,
                  nullif(substr(directory, length(rtrim(directory, replace(directory, '/', ''))) + 1), '')) AS model
  FROM beside
), latest AS (
  SELECT *, row_number() OVER (PARTITION BY model, task ORDER BY date DESC, path DESC) = 1 AS last FROM named
), arrays AS MATERIALIZED (
  -- A line's end before a brace becomes a comma: empty lines and carriage
  -- returns are then white space, and any number of lines is one JSON array.
  SELECT path, model, task, last,
         CASE WHEN last THEN '[' || replace(trim(CAST(readfile(path) AS TEXT), char(9, 10, 13, 32, 65279)), char(10) || '{', ',{') || ']' END AS records
  FROM latest
), mended AS MATERIALIZED (
  -- Python writes NaN and Infinity, which JSON does not have.
  SELECT path, model, task, last,
         CASE WHEN json_valid(records) THEN records
              ELSE replace(replace(replace(replace(replace(replace(records,
                     ' NaN', ' null'), '[NaN', '[null'), ' Infinity', ' null'), '[Infinity', '[null'),
                     ' -Infinity', ' null'), '[-Infinity', '[null') END AS records
  FROM arrays
)
INSERT INTO temp.lm_eval(path, model, task, records, note)
SELECT path, model, task,
       CASE WHEN model IS NOT NULL AND json_valid(records) THEN records END,
       CASE WHEN NOT last THEN 'not imported: there is a later run'
            WHEN model IS NULL THEN 'not imported: no model''s name, set @model'
            WHEN NOT json_valid(records) THEN 'not imported: not JSON lines' END
FROM mended
UNION ALL
SELECT NULL, NULL, NULL, NULL, 'nothing found: no samples_*.jsonl in @path' WHERE NOT EXISTS (SELECT 1 FROM mended);

UPDATE temp.lm_eval SET
  filter = coalesce((SELECT @filter FROM json_each(records) WHERE type = 'object' AND json_extract(value, '$.filter') = @filter LIMIT 1),
                    json_extract(records, '$[0].filter')),
  metric = coalesce((SELECT value FROM json_each(records, '$[0].metrics') WHERE value = @metric),
                    json_extract(records, '$[0].metrics[0]'));
UPDATE temp.lm_eval SET note = 'not imported: no filter and metrics in its records'
WHERE note IS NULL AND (filter IS NULL OR metric IS NULL);

-- What results would get, before it gets any of it.
CREATE TEMP TABLE lm_eval_answers AS
WITH taken AS (
  SELECT f.path, f.model, f.task, f.filter, f.metric, r.key + 1  AS record,
         CASE WHEN r.type = 'object' THEN r.value ELSE '{}' END  AS object
  FROM temp.lm_eval AS f, json_each(f.records) AS r
  WHERE f.note IS NULL
), read AS (
  SELECT path, record, model, task,
         json_extract(object, '$.filter')                  AS filter,
         json_extract(object, '$.doc_id')                  AS item,
         json_type(object, '$."' || metric || '"')         AS type,
         json_extract(object, '$."' || metric || '"')      AS value
  FROM taken WHERE coalesce(json_extract(object, '$.filter'), filter) = filter
)
-- NumPy's booleans and small floats arrive as text.
SELECT path, record, model, task, filter, item, value,
       CASE WHEN type IN ('true', 'false', 'integer', 'real') THEN CAST(value AS REAL)
            WHEN type <> 'text' THEN NULL
            WHEN lower(value) IN ('true', 'false') THEN CAST(lower(value) = 'true' AS REAL)
            WHEN json_valid(value) AND json_type(value) IN ('integer', 'real') THEN CAST(value AS REAL) END AS score
FROM read;

INSERT INTO temp.lm_eval_refused
SELECT path, 'record ' || min(record) || CASE WHEN filter IS NULL THEN ' has no filter' ELSE ' has no doc_id' END
FROM temp.lm_eval_answers WHERE filter IS NULL OR item IS NULL GROUP BY path;
SELECT path, reason FROM temp.lm_eval_refused ORDER BY path;
UPDATE temp.lm_eval_refused SET reason = reason;

INSERT INTO results(model, task, item, attempt, correct, score, error)
SELECT model, task, item, 1,
       CASE WHEN score IN (0, 1) THEN CAST(score AS INTEGER) END,
       score,
       CASE WHEN value IS NULL THEN 'score is missing'
            WHEN score IS NULL OR score NOT IN (0, 1) THEN 'score is not 0 or 1: ' || substr(value, 1, 100) END
FROM temp.lm_eval_answers WHERE NOT EXISTS (SELECT 1 FROM temp.lm_eval_refused)
ON CONFLICT (model, task, item, attempt)
DO UPDATE SET correct = excluded.correct, score = excluded.score, error = excluded.error;

-- Nothing of this if results took none of the answers there were.
SELECT f.model, f.task, f.filter, f.metric,
       count(r.item)                    AS n,
       coalesce(sum(r.correct), 0)      AS correct,
       count(r.item) - count(r.correct) AS errored,
       f.path, f.note
FROM temp.lm_eval AS f
LEFT JOIN results AS r ON f.note IS NULL AND r.model = f.model AND r.task = f.task
WHERE changes() > 0 OR NOT EXISTS (SELECT 1 FROM temp.lm_eval_answers)
GROUP BY f.path ORDER BY f.path;
DROP TABLE temp.lm_eval;
DROP TABLE temp.lm_eval_answers;
DROP TABLE temp.lm_eval_refused;
