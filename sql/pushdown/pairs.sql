-- For each pair of models, the number of questions that both answered with the same pair of
-- results.  For right or wrong answers with one attempt per question these are the four
-- cells of paired_diff_ci_counts; otherwise their means are for paired_mean_diff_ci_counts.
SELECT model_a, model_b, graded, outside, total_a, n_a, total_b, n_b, count(*) AS items
FROM met
GROUP BY model_a, model_b, graded, outside, total_a, n_a, total_b, n_b;
