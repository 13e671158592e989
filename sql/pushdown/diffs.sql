-- By how many right answers each pair of models differs on each task, and on how many
-- questions that both answered, for clustered_diff_ci_counts and its like: one row a
-- cluster.  A question counts once, as in pairs.sql; write score for correct, and it is
-- about scores.
-- Standard SQL, as models.sql; the order of a pair as in pairs.sql.
WITH answers AS (
  SELECT model, task, item, correct,
         row_number() OVER (PARTITION BY model, task, item ORDER BY attempt) AS nth
  FROM results
  WHERE correct IS NOT NULL
)
SELECT a.model                    AS model_a,
       b.model                    AS model_b,
       a.task                     AS task,
       sum(a.correct - b.correct) AS total,
       count(*)                   AS n
FROM answers AS a
JOIN answers AS b
  ON a.task = b.task AND a.item = b.item AND a.model < b.model
WHERE a.nth = 1 AND b.nth = 1
GROUP BY a.model, b.model, a.task;
