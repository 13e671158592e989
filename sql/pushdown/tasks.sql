-- The counts of each model on each task, for clustered_ci_counts, and the sum of its scores
-- if the task is graded, for clustered_mean_ci_counts: one row per cluster.
SELECT model, task, graded,
       sum(outside)                          AS outside,
       count(CASE WHEN share = 1 THEN 1 END) AS k,
       count(*)                              AS n,
       sum(CAST(units AS BIGINT))            AS units,
       sum(CAST(rest AS BIGINT))             AS rest
FROM shares
GROUP BY model, task, graded;
