-- By how much the means of two models differ on each task, added up in whole numbers as
-- in asked.sql, and on how many questions: one row a cluster, for
-- clustered_diff_ci_counts and its like.
SELECT model_a, model_b, task,
       sum(outside)                                                          AS outside,
       sum(CAST(floor(diff * 2147483648) AS BIGINT))                         AS units,
       sum(CAST(floor((diff * 2147483648 - floor(diff * 2147483648)) * 2147483648) AS BIGINT)) AS rest,
       count(*)                                                              AS n
FROM (SELECT model_a, model_b, task, outside, total_a / n_a - total_b / n_b AS diff FROM met) AS differed
GROUP BY model_a, model_b, task;
