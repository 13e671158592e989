-- How many questions of each model have the same number of answers and the same total:
-- right k times of n, for clustered_ci_counts and pass_at_k_ci_counts, or a score, for
-- mean_ci_counts and clustered_mean_ci_counts.  Clusters as small as a question are as
-- many as the questions, but it is enough to say how many are alike.
SELECT model, graded, outside, total, n, count(*) AS items
FROM asked
GROUP BY model, graded, outside, total, n;
