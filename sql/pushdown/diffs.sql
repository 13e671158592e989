-- The sum of the differences between two models' question means on each task, in whole
-- numbers as in asked.sql, and the number of questions: one row per cluster, for
-- clustered_diff_ci_counts and clustered_prob_better_counts.
SELECT model_a, model_b, task,
       sum(outside)                                                          AS outside,
       sum(CAST(floor(diff * 2147483648) AS BIGINT))                         AS units,
       sum(CAST(floor((diff * 2147483648 - floor(diff * 2147483648)) * 2147483648) AS BIGINT)) AS rest,
       count(*)                                                              AS n
FROM (SELECT model_a, model_b, task, outside, total_a / n_a - total_b / n_b AS diff FROM met) AS differed
GROUP BY model_a, model_b, task;
