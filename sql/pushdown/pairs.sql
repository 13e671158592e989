-- The four cells of each pair of models, on the questions that both answered,
-- for paired_diff_ci_counts and its like.  A question counts once, with each
-- model's first known answer.
-- Standard SQL, as models.sql.  Which model of a pair comes first depends on the
-- warehouse's collation; finish.sql puts them in SQLite's order.
WITH answers AS (
  SELECT model, task, item, correct,
         row_number() OVER (PARTITION BY model, task, item ORDER BY attempt) AS nth
  FROM results
  WHERE correct IS NOT NULL
)
SELECT a.model                                                       AS model_a,
       b.model                                                       AS model_b,
       count(CASE WHEN a.correct = 1 AND b.correct = 1 THEN 1 END)   AS both,
       count(CASE WHEN a.correct = 1 AND b.correct = 0 THEN 1 END)   AS only_a,
       count(CASE WHEN a.correct = 0 AND b.correct = 1 THEN 1 END)   AS only_b,
       count(CASE WHEN a.correct = 0 AND b.correct = 0 THEN 1 END)   AS neither
FROM answers AS a
JOIN answers AS b
  ON a.task = b.task AND a.item = b.item AND a.model < b.model
WHERE a.nth = 1 AND b.nth = 1
GROUP BY a.model, b.model;
