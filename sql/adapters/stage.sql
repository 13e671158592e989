-- The beginning of every import: tables, gone when it ends, for what a tool's files
-- hold, before results gets any of it.  The adapters .read this, fill the tables,
-- and .read take.sql, which moves what they hold to results or says why not.
--
--   import_files     what was looked at; note says why a file was left out, or
--                    what to know of it
--   import_answers   place says where in its file it is.  correct where the tool
--                    has a verdict of its own, NULL where the score decides; error
--                    where the answer is not known
--   import_refused   what stops the import
DROP TABLE IF EXISTS temp.import_files;
DROP TABLE IF EXISTS temp.import_answers;
DROP TABLE IF EXISTS temp.import_refused;
DROP TABLE IF EXISTS temp.import_range;
CREATE TEMP TABLE import_files(path TEXT, model TEXT, task TEXT, metric TEXT, created TEXT, note TEXT, body TEXT);
CREATE TEMP TABLE import_answers(path TEXT, place TEXT, created TEXT, model TEXT, task TEXT, item, attempt,
                                 correct INTEGER, score REAL, error TEXT);
CREATE TEMP TABLE import_refused(path TEXT, reason TEXT);
CREATE TEMP TABLE import_range(lo NUMERIC, hi NUMERIC);
CREATE TEMP TRIGGER import_stops AFTER UPDATE ON import_refused
BEGIN SELECT RAISE(ABORT, 'nothing was imported, because of what is listed'); END;
INSERT INTO temp.import_range VALUES (nullif(@lo, ''), nullif(@hi, ''));
INSERT INTO temp.import_refused
SELECT NULL, 'a range of scores must be two numbers, the lower first, got ' || coalesce(@lo, 'nothing') || ' and ' || coalesce(@hi, 'nothing')
FROM temp.import_range
WHERE (lo IS NOT NULL OR hi IS NOT NULL) AND (typeof(lo) NOT IN ('integer', 'real') OR typeof(hi) NOT IN ('integer', 'real') OR lo >= hi);
