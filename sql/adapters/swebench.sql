-- Imports what SWE-bench resolved into results, the table of ../schema.sql.  For the
-- sqlite3 shell, started in the project's directory.
--
--   make import FROM=swebench FILE=openai__gpt-5.run1.json DB=evals.db
--   sqlite3 -bail evals.db '.read sql/schema.sql' '.parameter set @path reports' '.read sql/adapters/swebench.sql'
--
-- @path is a file or a directory, searched to the bottom.  Four kinds of JSON are
-- known:
--
--   a run's report        MODEL.RUN.json, of the harness since 2.0 (schema_version 2;
--                         5.0.2 is the latest read): lists such as resolved_ids
--   an instance's report  RUN/MODEL/INSTANCE/report.json, of the same
--   verdicts              eval_results.json, of SWE-bench Pro: true or false by id
--   what was resolved     MODEL/results/results.json, as submitted to the leaderboard:
--                         a list, and not of what was asked.  @items names a file with
--                         the ids that were, one a line or as a JSON array; without it
--                         such a file is left out
--
--   model     @model if set; else MODEL.RUN, or MODEL as the directory's name
--   task      @task if set; else the repository, so that instances cluster by it
--   item      the instance
--   correct   1 if it was resolved.  Else 0, whether its patch was empty, failed or
--             could not be run, as SWE-bench counts
--   error     'infrastructure: ...' where the harness takes its machine for the cause
--             (infra_failure_ids)
--
-- Instances without a prediction (incomplete_ids) are left out, and the summary tells
-- how many.  SWE-bench counts those and the machine's failures as not resolved.  To do
-- so with the latter:
--
--   UPDATE results SET correct = 0, error = NULL WHERE error LIKE 'infrastructure: %';
--
-- Tried on reports that the harness 5.0.2 wrote, of patches that were made up, and on
-- the nine published files of verdicts of SWE-bench Pro.
.read sql/adapters/files.sql
WITH named AS (
  -- rtrim() by every other character leaves what comes up to the last slash.
  SELECT path, rtrim(rtrim(path, replace(path, '/', '')), '/') AS folder FROM temp.import_files
), parents AS (
  SELECT path, substr(path, length(folder) + 2) AS name, folder, rtrim(rtrim(folder, replace(folder, '/', '')), '/') AS above FROM named
), places AS (
  SELECT path, name, replace(folder, above || '/', '') AS folder, substr(above, length(rtrim(above, replace(above, '/', ''))) + 1) AS above FROM parents
)
UPDATE temp.import_files AS f SET
  model = coalesce(nullif(@model, ''),
                   (SELECT CASE WHEN json_type(body, '$.resolved_ids') = 'array' THEN substr(name, 1, length(name) - 5)
                                WHEN name = 'report.json' OR folder = 'results' THEN above
                                ELSE folder END FROM places WHERE places.path = f.path)),
  -- The reports of a model's instances are one line of the summary.
  path = (SELECT CASE WHEN name = 'report.json' THEN substr(f.path, 1, length(f.path) - length(folder) - length(name) - 1) ELSE f.path END
          FROM places WHERE places.path = f.path),
  note = CASE WHEN json_type(body, '$.resolved_ids') = 'array'
              THEN (SELECT nullif(json_array_length(body, '$.incomplete_ids'), 0) || ' instances without a prediction are left out')
              WHEN json_type(body, '$.resolved') = 'array'
              THEN CASE WHEN @items IS NULL AND json_type(body, '$.generated') IS NULL AND json_type(body, '$.unresolved') IS NULL
                        THEN 'not imported: it lists what was resolved, not what was asked: name a file with the ids, items' END
              WHEN json_type(body) = 'object' AND NOT EXISTS (SELECT 1 FROM json_each(body) AS k
                                                              WHERE coalesce(json_type(k.value, '$.resolved'), k.type) NOT IN ('true', 'false'))
              THEN NULL
              ELSE 'not imported: not a report of SWE-bench' END
WHERE note IS NULL;

DROP TABLE IF EXISTS temp.swebench_asked;
CREATE TEMP TABLE swebench_asked AS
WITH given AS (SELECT CAST(readfile(@items) AS TEXT) AS text)
SELECT DISTINCT trim(i.value) AS item
FROM given, json_each(CASE WHEN json_valid(text) THEN text
                           ELSE '[' || replace(replace(json_quote(text), '\r', ''), '\n', '","') || ']' END) AS i
WHERE trim(i.value) <> '';
INSERT INTO temp.import_refused
SELECT @items, 'there is no such file' WHERE @items IS NOT NULL AND readfile(@items) IS NULL;

WITH taken AS (
  SELECT path, model, body, coalesce(json_type(body, '$.resolved_ids'), '') = 'array' AS report, coalesce(json_type(body, '$.resolved'), '') = 'array' AS list
  FROM temp.import_files WHERE coalesce(note, '') NOT LIKE 'not%'
), told AS (
  SELECT t.path, t.model, i.value AS item, l.key = 'resolved_ids' AS correct,
         CASE WHEN i.value IN (SELECT value FROM json_each(t.body, '$.infra_failure_ids'))
              THEN 'infrastructure: ' || coalesce((SELECT value FROM json_each(t.body, '$.failure_reasons') WHERE key = i.value), 'failed') END AS error
  FROM taken AS t, json_each(t.body) AS l, json_each(l.value) AS i
  WHERE t.report AND l.key IN ('resolved_ids', 'unresolved_ids', 'empty_patch_ids', 'error_ids')
  UNION ALL
  SELECT t.path, t.model, i.value, l.key = 'resolved', NULL
  FROM taken AS t, json_each(t.body) AS l, json_each(CASE WHEN l.type = 'array' THEN l.value ELSE '[]' END) AS i WHERE t.list
  UNION ALL
  SELECT t.path, t.model, a.item, 0, NULL FROM taken AS t, temp.swebench_asked AS a WHERE t.list
  UNION ALL
  SELECT t.path, t.model, k.key, coalesce(json_extract(k.value, '$.resolved'), k.value), NULL
  FROM taken AS t, json_each(t.body) AS k WHERE NOT t.report AND NOT t.list
), ids AS (
  -- owner__repository-number, and in SWE-bench Pro a commit of 40 digits for the
  -- number, after instance_ and before an optional -v and more.
  SELECT path, model, item, max(correct) AS correct, max(error) AS error,
         CASE WHEN item LIKE 'instance\_%' ESCAPE '\' THEN substr(item, 10) ELSE item END AS id
  FROM told GROUP BY path, model, item
), bare AS (
  SELECT *, rtrim(id, '0123456789') AS numbered,
         rtrim(CASE WHEN id GLOB '*-[0-9a-f]*-v*' THEN rtrim(id, replace(id, '-', '')) ELSE id END, '-') AS committed FROM ids
)
INSERT INTO temp.import_answers
SELECT path, item, NULL, model,
       coalesce(nullif(@task, ''), replace(CASE WHEN numbered LIKE '%\_\_%-' ESCAPE '\' AND numbered <> id THEN rtrim(numbered, '-')
                                                WHEN length(committed) > 41 AND substr(committed, -41, 1) = '-' THEN substr(committed, 1, length(committed) - 41)
                                                ELSE 'swe-bench' END, '__', '/')),
       item, 1, correct, NULL, error
FROM bare;
DROP TABLE temp.swebench_asked;
DELETE FROM temp.import_files WHERE rowid NOT IN (SELECT min(rowid) FROM temp.import_files GROUP BY path);
.read sql/adapters/take.sql
