-- The four cells of each pair of models, on the questions that both answered,
-- for paired_diff_ci_counts and its like.
-- Standard SQL, as models.sql.  Which model of a pair comes first depends on the
-- warehouse's collation; finish.sql puts them in SQLite's order.
SELECT a.model                                                       AS model_a,
       b.model                                                       AS model_b,
       count(CASE WHEN a.correct = 1 AND b.correct = 1 THEN 1 END)   AS both,
       count(CASE WHEN a.correct = 1 AND b.correct = 0 THEN 1 END)   AS only_a,
       count(CASE WHEN a.correct = 0 AND b.correct = 1 THEN 1 END)   AS only_b,
       count(CASE WHEN a.correct = 0 AND b.correct = 0 THEN 1 END)   AS neither
FROM results AS a
JOIN results AS b
  ON a.task = b.task AND a.item = b.item AND a.attempt = b.attempt AND a.model < b.model
WHERE a.correct IS NOT NULL AND b.correct IS NOT NULL
GROUP BY a.model, b.model;
