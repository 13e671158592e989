-- Imports a CSV file into results, the table of ../schema.sql.  For the sqlite3
-- shell, started in the project's directory.
--
--   make import FROM=csv FILE=results.csv DB=evals.db
--   sqlite3 -bail evals.db '.read sql/schema.sql' ".parameter set @path results.csv" '.read sql/adapters/csv.sql'
--
-- Columns are found by their names in the first line, in any order and case, and
-- others are passed over.
--
--   model     else @model
--   item      the question; asked for
--   task      else @task, or else the file's name without its ending
--   attempt   a whole number; else 1
--   correct   1, true, yes, C, correct, pass, passed: 1; 0, false, no, I, incorrect, fail,
--             failed: 0, in any case.  Blank, NULL, NA, NaN, None: not known
--   score     a number, or one of those words.  A column correct or score is asked for
--   error     why an answer is not known; else 'the answer is blank'
--
-- Where both are there correct is the verdict and score stands beside it.  A score
-- alone is right or wrong where it is 0 or 1 throughout a model and task, and graded
-- elsewhere; @lo and @hi are its range if that is not 0 to 1.
--
-- Fields are as RFC 4180 has them: between commas (or semicolons, or tabs, if the
-- first line has more of them), in quotes where they hold one or a line's end.  What
-- cannot be read is listed with the number of its line, counted as an editor counts.
.read sql/adapters/stage.sql
DROP TABLE IF EXISTS temp.import_rows;
CREATE TEMP TABLE import_rows(line INTEGER, model TEXT, task TEXT, item TEXT, attempt NUMERIC, correct NUMERIC, score NUMERIC, error TEXT);

-- Of the control characters, three stand in for a separator, a line's end and a
-- quote that are part of a field, until the fields are cut.
DROP TABLE IF EXISTS temp.import_text;
CREATE TEMP TABLE import_text(bytes BLOB, task TEXT, body TEXT, mark TEXT);
INSERT INTO temp.import_text(bytes, task, body)
SELECT bytes, substr(name, 1, length(name) - CASE WHEN name LIKE '%_.csv' THEN 4 ELSE 0 END),
       CASE WHEN instr(text, char(10)) THEN replace(text, char(13, 10), char(10)) ELSE replace(text, char(13), char(10)) END
FROM (SELECT replace(@path, rtrim(@path, replace(@path, '/', '')), '') AS name, readfile(@path) AS bytes,
             ltrim(CAST(readfile(@path) AS TEXT), char(65279)) AS text);
INSERT INTO temp.import_refused
SELECT @path, CASE WHEN bytes IS NULL THEN 'it cannot be read as a file' ELSE 'this is not text in UTF-8: it holds control characters' END
FROM temp.import_text
WHERE bytes IS NULL OR instr(bytes, x'00') OR instr(bytes, x'1C') OR instr(bytes, x'1D') OR instr(bytes, x'1E');
UPDATE temp.import_text SET bytes = NULL, body = CASE WHEN EXISTS (SELECT 1 FROM temp.import_refused) THEN '' ELSE body END;
UPDATE temp.import_text SET mark = (
  SELECT CASE WHEN commas >= semicolons AND commas >= tabs THEN ',' WHEN semicolons >= tabs THEN ';' ELSE char(9) END
  FROM (SELECT length(line) - length(replace(line, ',', '')) AS commas, length(line) - length(replace(line, ';', '')) AS semicolons,
               length(line) - length(replace(line, char(9), '')) AS tabs
        FROM (SELECT substr(body, 1, instr(body || char(10), char(10))) AS line)));

DROP TABLE IF EXISTS temp.import_parts;
CREATE TEMP TABLE import_parts AS
SELECT p.key AS part, p.value AS text, f.mark, lead(p.key) OVER (ORDER BY p.key) IS NULL AS last,
       length(p.value) - length(replace(p.value, char(10), '')) AS ends
FROM (SELECT mark, '[' || replace(replace(replace(json_quote(body), '\\', char(1)), '\"', '","'), char(1), '\\') || ']' AS parts
      FROM temp.import_text) AS f, json_each(f.parts) AS p;
-- A quote opens after a separator or a line's end and closes before one, unless two of
-- them, with nothing between, stand for one; the last part is outside of any.
INSERT INTO temp.import_refused
SELECT @path, 'line ' || CASE WHEN within THEN first || ': a quote is not closed'
                              ELSE CASE WHEN closes THEN last_line ELSE first END ||
                                   ': a quote within a field; put the field in quotes, and the quote twice' END
FROM (SELECT part, part % 2 AS within, last, text, 1 + sum(ends) OVER (ORDER BY part) - ends AS first, 1 + sum(ends) OVER (ORDER BY part) AS last_line,
             part = 0 OR ltrim(text, ' ') = '' AND last OR ltrim(text, ' ') LIKE mark || '%' OR ltrim(text, ' ') LIKE char(10) || '%' AS closes,
             last OR rtrim(text, ' ') = '' AND part = 0 OR rtrim(text, ' ') LIKE '%' || mark OR rtrim(text, ' ') LIKE '%' || char(10) AS opens
      FROM temp.import_parts)
WHERE CASE WHEN within THEN last ELSE text <> '' AND NOT (closes AND opens) END
ORDER BY part LIMIT 1;
UPDATE temp.import_text SET body = (
  SELECT group_concat(CASE WHEN part % 2 THEN replace(replace(text, mark, char(28)), char(10), char(29))
                           WHEN text = '' AND part > 0 AND NOT last THEN char(30)
                           ELSE text END, '')
  FROM (SELECT * FROM temp.import_parts ORDER BY part));
DROP TABLE temp.import_parts;

-- One row a record that is not blank, with its fields as JSON; the first is the header.
DROP TABLE IF EXISTS temp.import_records;
CREATE TEMP TABLE import_records AS
SELECT row_number() OVER (ORDER BY line) - 1 AS record, line, fields
FROM (SELECT 1 + r.key + coalesce(sum(length(r.value) - length(replace(r.value, char(29), ''))) OVER
                                  (ORDER BY r.key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS line,
             trim(r.value, ' ' || f.mark) = '' AS blank,
             '[' || replace(replace(replace(replace(replace(replace(json_quote(r.value), '\\', char(1)), f.quoted, '","'),
                                                    '\u001c', f.quoted), '\u001d', '\n'), '\u001e', '\"'), char(1), '\\') || ']' AS fields
      FROM (SELECT mark, trim(json_quote(mark), '"') AS quoted, '[' || replace(replace(replace(json_quote(body), '\\', char(1)), '\n', '","'), char(1), '\\') || ']' AS records
            FROM temp.import_text) AS f, json_each(f.records) AS r)
WHERE NOT blank;
DROP TABLE IF EXISTS temp.import_columns;
CREATE TEMP TABLE import_columns AS
SELECT h.key AS place, lower(trim(h.value)) AS name FROM temp.import_records, json_each(fields) AS h WHERE record = 0;
INSERT INTO temp.import_refused
SELECT @path, 'there is no column ' || column1 || '; there are: ' || coalesce((SELECT group_concat(name, ', ') FROM temp.import_columns), 'none')
FROM (VALUES ('model', 'model'), ('item', 'item'), ('correct or score', 'correct'))
WHERE column2 NOT IN (SELECT replace(name, 'score', 'correct') FROM temp.import_columns) AND (column2 <> 'model' OR coalesce(@model, '') = '')
      AND NOT EXISTS (SELECT 1 FROM temp.import_refused);
INSERT INTO temp.import_refused
SELECT @path, 'there are ' || count(*) || ' columns ' || name FROM temp.import_columns
WHERE name IN ('model', 'task', 'item', 'attempt', 'correct', 'score', 'error') GROUP BY name HAVING count(*) > 1;
INSERT INTO temp.import_refused
SELECT @path, 'line ' || line || ' has ' || json_array_length(fields) || ' fields, and the first line ' || (SELECT count(*) FROM temp.import_columns)
FROM temp.import_records
WHERE json_array_length(fields) <> (SELECT count(*) FROM temp.import_columns) AND NOT EXISTS (SELECT 1 FROM temp.import_refused)
ORDER BY line;

WITH columns AS MATERIALIZED (
  SELECT max('$[' || place || ']') FILTER (WHERE name = 'model') AS model,
         max('$[' || place || ']') FILTER (WHERE name = 'task') AS task,
         max('$[' || place || ']') FILTER (WHERE name = 'item') AS item,
         max('$[' || place || ']') FILTER (WHERE name = 'attempt') AS attempt,
         max('$[' || place || ']') FILTER (WHERE name = 'correct') AS correct,
         max('$[' || place || ']') FILTER (WHERE name = 'score') AS score,
         max('$[' || place || ']') FILTER (WHERE name = 'error') AS error
  FROM temp.import_columns
), rows AS MATERIALIZED (
  SELECT r.line, trim(json_extract(r.fields, c.model)) AS model, trim(json_extract(r.fields, c.task)) AS task,
         trim(json_extract(r.fields, c.item)) AS item, trim(json_extract(r.fields, c.attempt)) AS attempt,
         trim(json_extract(r.fields, c.correct)) AS correct, trim(json_extract(r.fields, c.score)) AS score,
         trim(json_extract(r.fields, c.error)) AS error
  FROM temp.import_records AS r, columns AS c WHERE r.record > 0 AND NOT EXISTS (SELECT 1 FROM temp.import_refused)
), words(word, value) AS (
  VALUES ('true', 1), ('yes', 1), ('c', 1), ('correct', 1), ('pass', 1), ('passed', 1),
         ('false', 0), ('no', 0), ('i', 0), ('incorrect', 0), ('fail', 0), ('failed', 0),
         ('', NULL), ('null', NULL), ('na', NULL), ('nan', NULL), ('none', NULL)
)
INSERT INTO temp.import_rows
SELECT r.line, coalesce(r.model, @model), coalesce(r.task, nullif(@task, ''), (SELECT task FROM temp.import_text)), r.item, coalesce(r.attempt, 1),
       CASE WHEN c.word IS NULL THEN r.correct ELSE c.value END, CASE WHEN s.word IS NULL THEN r.score ELSE s.value END,
       nullif(r.error, '')
FROM rows AS r LEFT JOIN words AS c ON c.word = lower(r.correct) LEFT JOIN words AS s ON s.word = lower(r.score);
DROP TABLE temp.import_records;
DROP TABLE temp.import_columns;

INSERT INTO temp.import_refused
SELECT @path, 'line ' || line || ': ' || CASE
         WHEN model = '' THEN 'model is blank'
         WHEN item = '' THEN 'item is blank'
         WHEN typeof(attempt) <> 'integer' THEN 'attempt must be a whole number, got ' || quote(attempt)
         WHEN correct NOT IN (0, 1) THEN 'correct must be 1 or 0, true or false, yes or no, C or I, pass or fail, got ' || quote(correct) ||
                                         '; a number between belongs in a column score'
         ELSE 'score must be a number, got ' || quote(score) END
FROM temp.import_rows
WHERE model = '' OR item = '' OR typeof(attempt) <> 'integer' OR correct NOT IN (0, 1) OR typeof(score) = 'text' OR abs(score) = 9e999
ORDER BY line;
INSERT INTO temp.import_refused
SELECT @path, 'line ' || line || ': the same model, task, item and attempt as line ' || first
FROM (SELECT line, first_value(line) OVER (PARTITION BY model, task, item, attempt ORDER BY line) AS first FROM temp.import_rows)
WHERE line > first ORDER BY line;
INSERT INTO temp.import_answers
SELECT @path, 'line ' || line, NULL, model, task,
       -- A number is one, as the other imports write it.
       CASE WHEN CAST(CAST(item AS INTEGER) AS TEXT) = item THEN CAST(item AS INTEGER) ELSE item END,
       attempt, correct, score,
       CASE WHEN coalesce(correct, score) IS NULL THEN coalesce(error, 'the answer is blank') ELSE error END
FROM temp.import_rows;
-- One line of the summary a model.
INSERT INTO temp.import_files(path, model) SELECT DISTINCT path, model FROM temp.import_answers;
INSERT INTO temp.import_refused
SELECT @path, 'there are no answers in it' WHERE NOT EXISTS (SELECT 1 FROM temp.import_rows) AND NOT EXISTS (SELECT 1 FROM temp.import_refused);
DROP TABLE temp.import_rows;
DROP TABLE temp.import_text;
.read sql/adapters/take.sql
