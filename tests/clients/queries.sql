-- What every client is asked, after rows.sql and the views.
SELECT sqlite_version();

SELECT * FROM leaderboard;

SELECT * FROM compare;

-- Every aggregate at every arity, over pairs of answers to the same questions.
-- tests/clients/check.py refuses this file when it leaves a function out.
WITH answers AS (
  SELECT a.correct AS a, b.correct AS b, a.task AS task, a.item % 7 AS k, 7 AS n
  FROM results AS a JOIN results AS b USING (task, item, attempt)
  WHERE a.model = 'naïve-模型' AND b.model = 'o''brien "quoted"'
)
SELECT bayes_ci(a), bayes_ci(a, 0.9), bayes_ci(a, 0.9, 2, 0.5),
       hdi_ci(a), hdi_ci(a, 0.9), hdi_ci(a, 0.9, 2, 0.5),
       wilson_ci(a), wilson_ci(a, 0.9), cp_ci(a), cp_ci(a, 0.9), clt_ci(a), clt_ci(a, 0.9),
       clustered_ci(a, task), clustered_ci(a, task, 0.9),
       clustered_clt_ci(a, task), clustered_clt_ci(a, task, 0.9),
       clustered_ci_counts(k, n), clustered_ci_counts(k, n, 0.9),
       clustered_clt_ci_counts(k, n), clustered_clt_ci_counts(k, n, 0.9),
       prob_better(a, b), diff_ci(a, b), diff_ci(a, b, 0.9),
       odds_ratio_ci(a, b), odds_ratio_ci(a, b, 0.9),
       fisher_or_ci(a, b), fisher_or_ci(a, b, 0.9), diff_clt_ci(a, b), diff_clt_ci(a, b, 0.9),
       paired_prob_better(a, b), paired_diff_ci(a, b), paired_diff_ci(a, b, 0.9),
       paired_diff_clt_ci(a, b), paired_diff_clt_ci(a, b, 0.9),
       f1_ci(a, b), f1_ci(a, b, 0.9), precision_ci(a, b), precision_ci(a, b, 0.9),
       recall_ci(a, b), recall_ci(a, b, 0.9)
FROM answers;

-- Every function over counts and every reader of an interval.
SELECT bayes_ci_counts(18, 20), bayes_ci_counts(18, 20, 0.9), bayes_ci_counts(18, 20, 0.9, 2, 0.5),
       hdi_ci_counts(18, 20), hdi_ci_counts(18, 20, 0.9), hdi_ci_counts(18, 20, 0.9, 2, 0.5),
       wilson_ci_counts(18, 20), wilson_ci_counts(18, 20, 0.9),
       cp_ci_counts(18, 20), cp_ci_counts(18, 20, 0.9),
       clt_ci_counts(18, 20), clt_ci_counts(18, 20, 0.9), clt_ci_counts(0, 0),
       prob_better_counts(20, 20, 18, 20),
       diff_ci_counts(20, 20, 18, 20), diff_ci_counts(20, 20, 18, 20, 0.9),
       odds_ratio_ci_counts(20, 20, 18, 20), odds_ratio_ci_counts(20, 20, 18, 20, 0.9),
       fisher_or_ci_counts(20, 20, 18, 20), fisher_or_ci_counts(20, 20, 18, 20, 0.9),
       diff_clt_ci_counts(20, 20, 18, 20), diff_clt_ci_counts(20, 20, 18, 20, 0.9),
       paired_prob_better_counts(12, 6, 0, 2),
       paired_diff_ci_counts(12, 6, 0, 2), paired_diff_ci_counts(12, 6, 0, 2, 0.9),
       paired_diff_clt_ci_counts(12, 6, 0, 2), paired_diff_clt_ci_counts(12, 6, 0, 2, 0.9),
       f1_ci_counts(8, 2, 3), f1_ci_counts(8, 2, 3, 0.9),
       precision_ci_counts(8, 2), precision_ci_counts(8, 2, 0.9),
       recall_ci_counts(8, 3), recall_ci_counts(8, 3, 0.9),
       ci_lo('[0.1,0.7]'), ci_hi('[0.1,0.7]'), ci_width('[0.1,0.7]'),
       ci_text('[0.1,0.7]'), ci_text('[0.1,0.7]', 3),
       ci_bar('[0.1,0.7]'), ci_bar('[0.1,0.7]', 0.5), ci_bar('[0.1,0.7]', 0.5, 12),
       evalci_version();

-- So many sizes of clusters that the host is asked, where it can be, whether to go on.
WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 3000) SELECT clustered_ci_counts(i / 3, i) FROM r;

-- Pictures in parts, since not every client gives a long text whole.
SELECT length(forest), substr(forest, -280), length(heatmap), substr(heatmap, -280)
FROM (SELECT forest_svg(model, accuracy, ci) AS forest, heatmap_svg(model, 'accuracy', accuracy) AS heatmap FROM (SELECT * FROM leaderboard ORDER BY model));

SELECT * FROM ci_methods(18, 20) UNION ALL SELECT * FROM ci_methods(18, 20, 0.9);

SELECT item, bayes_ci(correct) OVER last AS ci, ci_width(clustered_ci(correct, task) OVER last) AS width
FROM results WHERE model = '🦜; -- no comment' AND task = 'lecture 🎓' AND attempt = 1
WINDOW last AS (ORDER BY item ROWS 3 PRECEDING);
