-- Imports what promptfoo.sql or phoenix.sql shows of a tool's database into results.
-- For sql/import.sh, which copies those views' rows to @copy: their tables cannot be
-- looked up in a database that has tables of its own.
.read sql/adapters/stage.sql
ATTACH @copy AS copy;
INSERT INTO temp.import_answers
SELECT @path, task || ', ' || item, NULL, coalesce(nullif(@model, ''), model), coalesce(nullif(@task, ''), task), item, attempt, correct, score, error
FROM copy.answers;
INSERT INTO temp.import_files(path, model) SELECT DISTINCT path, model FROM temp.import_answers;
INSERT INTO temp.import_files(path, note) SELECT what, note FROM copy.skipped;
INSERT INTO temp.import_files(path, note)
SELECT @path, 'there are no answers in it' WHERE NOT EXISTS (SELECT 1 FROM temp.import_files);
.read sql/adapters/take.sql
