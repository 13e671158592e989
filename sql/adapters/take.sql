-- The end of every import: what stage.sql's tables hold goes to results, all of it
-- or none.  A refusal is listed with its place, at most twenty of them, and ends the
-- import with an error; so does an import of nothing at all.  results changes in one
-- statement, which is undone as a whole if it fails.  Paths are shown without @within,
-- the directory that they are told from.
-- A table of the person's own, or of an earlier version, may lack what follows needs.
INSERT INTO temp.import_refused
SELECT NULL, 'there is no table results: make it by .read sql/schema.sql' WHERE NOT EXISTS (SELECT 1 FROM pragma_table_info('results'))
UNION ALL
SELECT NULL, 'results is a view here: import into another database' FROM sqlite_master WHERE name = 'results' AND type = 'view';
INSERT INTO temp.import_refused
SELECT NULL, 'results has no column ' || column1 || ': add it by ALTER TABLE results ADD COLUMN ' || column1 || ' ' || column2
FROM (VALUES ('attempt', 'INTEGER NOT NULL DEFAULT 1'), ('correct', 'INTEGER'), ('score', 'REAL'), ('error', 'TEXT'), ('score_lo', 'REAL'), ('score_hi', 'REAL'))
WHERE column1 NOT IN (SELECT name FROM pragma_table_info('results')) AND NOT EXISTS (SELECT 1 FROM temp.import_refused);
INSERT INTO temp.import_refused
SELECT NULL, 'results has no key by which an answer is found again: make it by CREATE UNIQUE INDEX results_key ON results(task, item, model, attempt)'
WHERE NOT EXISTS (
  SELECT 1 FROM pragma_index_list('results') AS i WHERE i."unique" AND NOT i.partial AND
    (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY name)) = 'attempt,item,model,task'
) AND NOT EXISTS (SELECT 1 FROM temp.import_refused);
INSERT INTO temp.import_refused
SELECT path, place || ' has score ' || score || ', outside the range from ' || lo || ' to ' || hi
FROM temp.import_answers, temp.import_range
WHERE score NOT BETWEEN lo AND hi AND error IS NULL AND correct IS NULL;
INSERT INTO temp.import_refused
SELECT path, note FROM temp.import_files
WHERE NOT EXISTS (SELECT 1 FROM temp.import_answers) AND NOT EXISTS (SELECT 1 FROM temp.import_refused);
SELECT replace(path, coalesce(@within, ''), '') AS path, reason FROM temp.import_refused WHERE rowid <= 20
UNION ALL
SELECT NULL, 'and ' || (n - 20) || ' more' FROM (SELECT count(*) AS n FROM temp.import_refused) WHERE n > 20;
UPDATE temp.import_refused SET reason = reason;

-- Right or wrong is decided for all answers of a model to a task together, those that
-- results has already included: one score that is neither 0 nor 1 makes them graded,
-- and a graded 1 is not an answer that is right.
WITH latest AS (
  SELECT *, row_number() OVER (PARTITION BY model, task, item, attempt
                               ORDER BY julianday(created) DESC, path DESC, rowid DESC) AS age
  FROM temp.import_answers WHERE NOT EXISTS (SELECT 1 FROM temp.import_refused)
), fresh AS MATERIALIZED (
  SELECT model, task, item, attempt, correct, score, error,
         CASE WHEN lo <> 0 OR hi <> 1 THEN lo END AS score_lo, CASE WHEN lo <> 0 OR hi <> 1 THEN hi END AS score_hi
  FROM latest, temp.import_range WHERE age = 1
), together AS MATERIALIZED (
  SELECT * FROM fresh
  UNION ALL
  SELECT model, task, item, attempt, correct, score, error, score_lo, score_hi
  FROM results WHERE score IS NOT NULL AND error IS NULL AND (model, task) IN (SELECT model, task FROM fresh)
                     AND (model, task, item, attempt) NOT IN (SELECT model, task, item, attempt FROM fresh)
), graded AS MATERIALIZED (
  SELECT DISTINCT model, task FROM together
  WHERE error IS NULL AND correct IS NULL AND (score NOT IN (0, 1) OR score_lo IS NOT NULL)
), settled AS (
  SELECT *, score IS NOT NULL AND (model, task) IN (SELECT model, task FROM graded) AS is_graded FROM together
)
INSERT INTO results(model, task, item, attempt, correct, score, error, score_lo, score_hi)
SELECT model, task, item, attempt,
       CASE WHEN error IS NULL AND NOT is_graded THEN coalesce(correct, CAST(score AS INTEGER)) END,
       score, error,
       CASE WHEN is_graded THEN score_lo END, CASE WHEN is_graded THEN score_hi END
FROM settled WHERE true
ON CONFLICT (model, task, item, attempt)
DO UPDATE SET correct = excluded.correct, score = excluded.score, error = excluded.error,
              score_lo = excluded.score_lo, score_hi = excluded.score_hi;

-- A line a file and model: what results now has of those tasks.  None of it if
-- results took nothing.
WITH asked AS MATERIALIZED (
  SELECT path, model, task FROM temp.import_answers WHERE changes() > 0 GROUP BY path, model, task
), held AS (
  SELECT a.path, a.model, a.task, r.correct, r.error, r.score, r.score_lo,
         CASE WHEN r.error IS NULL THEN coalesce(r.correct, r.score) END AS answer
  FROM asked AS a JOIN results AS r ON r.model = a.model AND r.task = a.task
), counted AS (
  SELECT path, model,
         CASE WHEN min(task) = max(task) THEN min(task) ELSE count(DISTINCT task) || ' tasks' END AS task,
         count(answer)                                                                 AS n,
         CASE WHEN count(correct) = count(answer) THEN sum(correct) END                AS correct,
         avg(answer)                                                                   AS mean,
         count(*) - count(answer)                                                      AS errored,
         min(CASE WHEN correct IS NULL AND score_lo IS NULL THEN answer END)           AS least,
         max(CASE WHEN correct IS NULL AND score_lo IS NULL THEN answer END)           AS most
  FROM held GROUP BY path, model
)
SELECT coalesce(c.model, f.model) AS model, coalesce(c.task, f.task) AS task, f.metric, coalesce(c.n, 0) AS n, c.correct,
       round(c.mean, 6) AS mean, coalesce(c.errored, 0) AS errored, replace(f.path, coalesce(@within, ''), '') AS path,
       CASE WHEN c.least < 0 OR c.most > 1
            THEN coalesce(f.note || '; ', '') || 'scores from ' || c.least || ' to ' || c.most || ': import again with their range, lo and hi'
            ELSE f.note END AS note
FROM temp.import_files AS f LEFT JOIN counted AS c ON c.path = f.path AND (c.model = f.model OR f.model IS NULL)
WHERE EXISTS (SELECT 1 FROM asked)
ORDER BY f.path, 1;
DROP TABLE temp.import_files;
DROP TABLE temp.import_answers;
DROP TABLE temp.import_refused;
DROP TABLE temp.import_range;
