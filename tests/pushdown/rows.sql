-- Three million answers, the same in every engine: five models, 200 tasks of 2,500 questions, every
-- tenth question asked three times.  Integer arithmetic only, without division, which engines
-- define differently; scores are eighths, which every engine adds and prints exactly.  The names
-- would reveal a wrong collation, wrong CSV quoting or numeric affinity.
INSERT INTO answers(model, task, item, attempt, correct, score, error)
WITH d(x) AS (
  VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)
), models(m, model) AS (
  VALUES (1, 'B-large'), (2, 'a-small'), (3, '1.10'), (4, 'comma, "quoted"'), (5, 'Ångström 7b')
), tasks(t) AS (
  SELECT a.x + 10 * b.x + 100 * c.x FROM d AS a, d AS b, d AS c
  WHERE a.x + 10 * b.x + 100 * c.x < 200
), items(i) AS (
  SELECT a.x + 10 * b.x + 100 * c.x + 1000 * e.x FROM d AS a, d AS b, d AS c, d AS e
  WHERE a.x + 10 * b.x + 100 * c.x + 1000 * e.x < 2500
), attempts(r) AS (
  VALUES (1), (2), (3)
), asked AS (
  SELECT m, model, t, i, r, CAST(t * 2500 + i AS BIGINT) AS q
  FROM models, tasks, items, attempts
  WHERE r = 1 OR i % 10 = 0
)
SELECT model, task, q, r, correct, score, CASE WHEN correct IS NULL THEN 'errored' END
FROM (SELECT model, 'task ' || t AS task, q, r,
             CASE WHEN (q * 13 + m * 7 + r * 5) % 97 = 0 OR (m = 1 AND t = 0) THEN NULL -- errored; all of one task
                  WHEN q * 7919 % 1009 + (q * 104729 + m * 15485863 + r * 32452843) % 1013
                       < 800 + m * m % 7 * 20 + t * 37 % 301 THEN 1
                  ELSE 0 END AS correct,
             CASE WHEN (q * 17 + m * 5 + r) % 89 > 0 THEN (q * 31 + m * 17 + r * 11) % (7 + m % 3) * 0.125 END AS score
      FROM asked) AS answered;
-- A model without a known answer.
INSERT INTO answers(model, task, item, attempt, correct)
SELECT 'down', task, item, attempt, NULL FROM answers WHERE model = 'a-small' AND item < 100;
