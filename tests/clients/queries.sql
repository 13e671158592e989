-- The queries of every client, after rows.sql, besides every function of the catalogue.
SELECT sqlite_version();

SELECT * FROM eval_leaderboard;

SELECT * FROM eval_compare;

SELECT * FROM eval_tasks;

SELECT * FROM eval_common;

SELECT * FROM eval_passes;

-- So many sizes of clusters that the host is asked, if it can be, whether it was interrupted.
WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 3000) SELECT clustered_ci_counts(i / 3, i) FROM r;

-- Pictures in parts, since not every client gives a long text whole.
SELECT length(forest), substr(forest, -280), length(heatmap), substr(heatmap, -280)
FROM (SELECT forest_svg(model, accuracy, ci) AS forest, heatmap_svg(model, 'accuracy', accuracy) AS heatmap FROM (SELECT * FROM eval_leaderboard ORDER BY model));

SELECT item, bayes_ci(correct) OVER last AS ci, ci_width(clustered_ci(correct, task) OVER last) AS width
FROM results WHERE model = '🦜; -- no comment' AND task = 'lecture 🎓' AND attempt = 1
WINDOW last AS (ORDER BY item ROWS 3 PRECEDING);
