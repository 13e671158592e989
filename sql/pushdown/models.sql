-- The counts of each model: k right of n known answers, and the number of unknown ones.
-- bayes_ci_counts and the like take one row, diff_ci_counts and the like two.  This query
-- reads results itself; the others read the views of asked.sql.
--
-- invalid must be 0: it counts results other than 0 and 1, which evalci would refuse and
-- which the other counts cannot show.
SELECT model,
       count(CASE WHEN correct = 1 THEN 1 END)            AS k,
       count(CASE WHEN correct IS NOT NULL OR (score IS NOT NULL AND error IS NULL) THEN 1 END) AS n,
       count(CASE WHEN correct IS NULL AND (score IS NULL OR error IS NOT NULL) THEN 1 END)     AS errored,
       count(CASE WHEN correct NOT IN (0, 1) THEN 1 END)  AS invalid
FROM results
GROUP BY model;
