-- Answers for the table of sql/schema.sql, made by arithmetic so that they are the same everywhere:
-- labels that clients may garble, questions asked twice, errors, a model that is always right, one
-- that is always wrong, and one without an answer.
WITH RECURSIVE
models(model, m, skill) AS (VALUES
  ('naïve-模型', 1, 11), ('o''brien "quoted"', 2, 13), ('🦜; -- no comment', 3, 8),
  ('back\slash 100%', 4, 14), ('perfect', 5, 17), ('hopeless', 6, 0), ('silent', 7, NULL)),
tasks(task, t, size) AS (VALUES
  ('算術', 1, 23), ('it''s "code"', 2, 17), ('single', 3, 1), ('lecture 🎓', 4, 40), ('a|b', 5, 5)),
items(item) AS (SELECT 1 UNION ALL SELECT item + 1 FROM items WHERE item < 40),
attempts(attempt) AS (VALUES (1), (2)),
asked AS (
  SELECT *, (m * 7919 + t * 104729 + item * 1299709 + attempt * 15485863) % 2147483647 AS x
  FROM models, tasks, items, attempts
  WHERE item <= size AND (attempt = 1 OR item % 3 = 0))
INSERT INTO results(model, task, item, attempt, correct, error)
SELECT model, task, item, attempt,
       CASE WHEN x % 19 <> 0 THEN x / 19 % 17 < skill END,
       CASE WHEN x % 19 = 0 OR skill IS NULL THEN 'time''s up' END
FROM asked;
