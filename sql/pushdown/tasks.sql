-- The counts of each model on each task, for clustered_ci_counts: one row a
-- cluster.  Group by another column, and these are the counts of other clusters.
-- Standard SQL, as models.sql.
SELECT model,
       task,
       count(CASE WHEN correct = 1 THEN 1 END)  AS k,
       count(correct)                           AS n
FROM results
GROUP BY model, task;
