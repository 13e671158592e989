-- What imports of JSON files begin with: stage.sql's tables, and in import_files every
-- file of @path, a file or a directory searched to the bottom, whose name ends with
-- @ending, or with .json.  What is not JSON has a note that says so; the adapters look
-- at the rest.
.read sql/adapters/stage.sql
WITH texts AS MATERIALIZED (
  SELECT name AS path, CAST(readfile(name) AS TEXT) AS text FROM fsdir(@path) WHERE name GLOB '*' || coalesce(@ending, '.json')
), mended AS MATERIALIZED (
  -- Python writes NaN and Infinity, which JSON does not have.
  SELECT path, CASE WHEN json_valid(text) THEN text
                    ELSE replace(replace(replace(text, ' NaN', ' null'), ' -Infinity', ' null'), ' Infinity', ' null') END AS text
  FROM texts
)
INSERT INTO temp.import_files(path, body, note)
SELECT path, CASE WHEN json_valid(text) THEN text END, CASE WHEN NOT json_valid(text) THEN 'not imported: not JSON' END FROM mended
UNION ALL
SELECT @path, NULL, 'nothing found: no *' || coalesce(@ending, '.json') || ' here' WHERE NOT EXISTS (SELECT 1 FROM mended);
