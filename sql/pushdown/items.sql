-- For each model, the number of questions with the same number of answers and the same
-- total: k right of n, for clustered_ci_counts and pass_at_k_ci_counts, or a sum of scores,
-- for mean_ci_counts and clustered_mean_ci_counts.  Each question is a cluster, and it is
-- enough to count those that are alike.
SELECT model, graded, outside, total, n, count(*) AS items
FROM asked
GROUP BY model, graded, outside, total, n;
