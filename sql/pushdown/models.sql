-- The counts of each model, for bayes_ci_counts and its like, and in pairs for
-- diff_ci_counts and its like: k right of n known, and how many were not known.
-- It reads results itself; the others read the views of asked.sql.
--
-- invalid must come out 0: a result other than 0 and 1, which evalci would have
-- refused, cannot be seen in the other counts.
SELECT model,
       count(CASE WHEN correct = 1 THEN 1 END)            AS k,
       count(CASE WHEN correct IS NOT NULL OR (score IS NOT NULL AND error IS NULL) THEN 1 END) AS n,
       count(CASE WHEN correct IS NULL AND (score IS NULL OR error IS NOT NULL) THEN 1 END)     AS errored,
       count(CASE WHEN correct NOT IN (0, 1) THEN 1 END)  AS invalid
FROM results
GROUP BY model;
