-- For each model, the number of questions with the same number of answers and the same
-- total: k right of n, for pass_at_k_ci_counts, or a sum of scores.  total / n is the question's
-- mean, for mean_ci_counts; it is enough to count the questions that are alike.
SELECT model, graded, outside, total, n, count(*) AS items
FROM asked
GROUP BY model, graded, outside, total, n;
