-- What every client is asked, after rows.sql and the views, besides every function of
-- the catalogue.
SELECT sqlite_version();

SELECT * FROM leaderboard;

SELECT * FROM compare;

SELECT * FROM by_task;

SELECT * FROM common;

SELECT * FROM passes;

-- So many sizes of clusters that the host is asked, where it can be, whether to go on.
WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 3000) SELECT clustered_ci_counts(i / 3, i) FROM r;

-- Pictures in parts, since not every client gives a long text whole.
SELECT length(forest), substr(forest, -280), length(heatmap), substr(heatmap, -280)
FROM (SELECT forest_svg(model, accuracy, ci) AS forest, heatmap_svg(model, 'accuracy', accuracy) AS heatmap FROM (SELECT * FROM leaderboard ORDER BY model));

SELECT item, bayes_ci(correct) OVER last AS ci, ci_width(clustered_ci(correct, task) OVER last) AS width
FROM results WHERE model = '🦜; -- no comment' AND task = 'lecture 🎓' AND attempt = 1
WINDOW last AS (ORDER BY item ROWS 3 PRECEDING);
