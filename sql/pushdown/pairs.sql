-- How many questions that two models both answered are alike in what each made of
-- them: of right and wrong answers asked once these are the four cells, for
-- paired_diff_ci_counts; else, by the means, paired_mean_diff_ci_counts.
SELECT model_a, model_b, graded, outside, total_a, n_a, total_b, n_b, count(*) AS items
FROM met
GROUP BY model_a, model_b, graded, outside, total_a, n_a, total_b, n_b;
