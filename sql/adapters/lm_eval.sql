-- Imports lm-evaluation-harness's samples_*.jsonl into results, the table of
-- ../schema.sql.  For the sqlite3 shell, started in the project's directory.
--
--   lm_eval ... --output_path out --log_samples
--   make import FROM=lm_eval FILE=out DB=evals.db
--   sqlite3 -bail evals.db '.read sql/schema.sql' '.parameter set @path out' '.read sql/adapters/lm_eval.sql'
--
-- The second line or the third.  @path is a samples file or a directory, searched to
-- the bottom.  It prints a line a file: what it took, and what results now has of it.
-- The same files again change nothing; of two runs of one task by one model the later
-- is taken, and a later import replaces answers of an earlier one.
--
-- All or nothing: a record without a doc_id or a filter stops the import.  These are
-- listed in place of the lines above; results stays as it was, and the shell ends with
-- an error.
--
--   model     @model if set; else model_name in the results_*.json beside the
--             file; else the name of the file's directory
--   task      @task if set; else from the file's name
--   item      doc_id
--   attempt   the repeat, of a question with scores_per_repeat, as 0.5 writes them;
--             else 1: 0.4 lets the filter settle repeats before they are scored
--   score     the metric, a number or true or false, also as text
--   correct   the score, if it is 0 or 1 in all answers of the model to the task; else
--             they are graded, and correct is NULL in all of them.  A metric from 0 to
--             100 has its range in @lo and @hi
--   error     'score is missing' for null and NaN, and 'score is not a number: ...'
--
-- A file has a record for each filter, and in it each metric: several readings
-- of one answer.  One is taken, or every answer would count several times: the
-- first filter and its first metric, unless the file has the ones you ask for.
-- Asking for others replaces those imported before.
--
--   .parameter set @filter flexible-extract
--   .parameter set @metric acc_norm
--
-- lm_eval stops at an error, so none is recorded; a missing score is the nearest
-- thing.  To count it as wrong:
--
--   UPDATE results SET correct = 0, error = NULL WHERE error = 'score is missing';
--
-- A graded metric has an interval of its mean.  To pass it from 0.5 up instead:
--
--   UPDATE results SET correct = score >= 0.5 WHERE correct IS NULL AND error IS NULL;
--
-- Files need the keys filter and metrics, which lm_eval writes since 0.4.7 (2024).
-- A file is read whole: under SQLite's limit of a billion bytes, and in eleven
-- times its size of memory (100 MB: 50,000 records, 5 seconds).  Tried on files that
-- the writers of 0.4.13.dev0 and 0.5.0.dev2 wrote, of answers that were made up.
.read sql/adapters/stage.sql
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
  SELECT path, coalesce(nullif(@task, ''), task) AS task, date,
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
INSERT INTO temp.import_files(path, model, task, body, note)
SELECT path, model, task,
       CASE WHEN model IS NOT NULL AND json_valid(records) THEN records END,
       CASE WHEN NOT last THEN 'not imported: there is a later run'
            WHEN model IS NULL THEN 'not imported: no model''s name, set one'
            WHEN NOT json_valid(records) THEN 'not imported: not JSON lines' END
FROM mended
UNION ALL
SELECT @path, NULL, NULL, NULL, 'nothing found: no samples_*.jsonl here' WHERE NOT EXISTS (SELECT 1 FROM mended);

-- The filter and the metric of each file.  Where a question was repeated its scores
-- stand under the name that the metric had before they became one: exact_match, of
-- pass@3(exact_match).
DROP TABLE IF EXISTS temp.lm_eval_chosen;
CREATE TEMP TABLE lm_eval_chosen AS
SELECT path,
       coalesce((SELECT @filter FROM json_each(body) WHERE type = 'object' AND json_extract(value, '$.filter') = @filter LIMIT 1),
                json_extract(body, '$[0].filter')) AS filter,
       coalesce((SELECT value FROM json_each(body, '$[0].metrics') WHERE value = @metric),
                (SELECT key FROM json_each(body, '$[0].scores_per_repeat') WHERE key = @metric),
                json_extract(body, '$[0].metrics[0]')) AS metric
FROM temp.import_files WHERE note IS NULL;
UPDATE temp.lm_eval_chosen AS c SET metric = coalesce((
  SELECT r.key FROM temp.import_files AS f, json_each(f.body, '$[0].scores_per_repeat') AS r
  WHERE f.path = c.path AND '(' || r.key || ')' = substr(c.metric, -length(r.key) - 2)), metric);
UPDATE temp.import_files AS f SET metric = (SELECT filter || ', ' || metric FROM temp.lm_eval_chosen AS c WHERE c.path = f.path);
UPDATE temp.import_files SET note = 'not imported: no filter and metrics in its records' WHERE note IS NULL AND metric IS NULL;

DROP TABLE IF EXISTS temp.lm_eval_records;
CREATE TEMP TABLE lm_eval_records AS
WITH taken AS (
  SELECT f.path, f.model, f.task, c.filter, c.metric, r.key + 1  AS record,
         CASE WHEN r.type = 'object' THEN r.value ELSE '{}' END  AS object
  FROM temp.import_files AS f JOIN temp.lm_eval_chosen AS c USING (path), json_each(f.body) AS r
  WHERE f.note IS NULL
)
SELECT path, model, task, record, json_extract(object, '$.filter') AS filter, json_extract(object, '$.doc_id') AS item,
       json_type(object, '$."' || metric || '"')                 AS type,
       json_extract(object, '$."' || metric || '"')              AS value,
       json_extract(object, '$.scores_per_repeat."' || metric || '"') AS repeats
FROM taken WHERE coalesce(json_extract(object, '$.filter'), filter) = filter;
INSERT INTO temp.import_refused
SELECT path, 'record ' || record || CASE WHEN filter IS NULL THEN ' has no filter' ELSE ' has no doc_id' END
FROM temp.lm_eval_records WHERE filter IS NULL OR item IS NULL ORDER BY path, record;

WITH given AS (
  SELECT path, record, model, task, item, 1 AS attempt, type, value FROM temp.lm_eval_records WHERE repeats IS NULL
  UNION ALL
  SELECT r.path, record, model, task, item, k.key + 1, k.type, k.value FROM temp.lm_eval_records AS r, json_each(r.repeats) AS k
), read AS (
  -- NumPy's booleans and small floats arrive as text.
  SELECT *,
         CASE WHEN type IN ('true', 'false', 'integer', 'real') THEN CAST(value AS REAL)
              WHEN type <> 'text' THEN NULL
              WHEN lower(value) IN ('true', 'false') THEN CAST(lower(value) = 'true' AS REAL)
              WHEN json_valid(value) AND json_type(value) IN ('integer', 'real') THEN CAST(value AS REAL) END AS score
  FROM given
)
INSERT INTO temp.import_answers
SELECT path, 'record ' || record, NULL, model, task, item, attempt, NULL, score,
       CASE WHEN value IS NULL THEN 'score is missing'
            WHEN score IS NULL THEN 'score is not a number: ' || substr(value, 1, 100) END
FROM read;
DROP TABLE temp.lm_eval_chosen;
DROP TABLE temp.lm_eval_records;
.read sql/adapters/take.sql
