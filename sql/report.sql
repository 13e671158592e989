-- A report over results (see schema.sql): one page of HTML that needs nothing
-- else, with the leaderboard, every two models, every task, and how it was done.
-- From the top of the project:
--
--   sqlite3 -bail evals.db '.load build/evalci' '.read sql/report.sql' > report.html
--
-- make report DB=evals.db OUT=report.html does that, by report.sh.  Nothing is
-- written to the database, which may be one that cannot be: the views are made
-- temporary, and hide those that it has.  The transaction is for reading all of it
-- as of one moment.
BEGIN;
.read "|sed '/^DROP VIEW/d; s/^CREATE VIEW/CREATE TEMP VIEW/' sql/views.sql"
.mode list
.headers off
.separator "" "\n"

-- Names are anybody's text: from here on, as HTML.
CREATE TEMP TABLE ranked AS
SELECT row_number() OVER (ORDER BY accuracy DESC, model) AS rank, *,
       replace(replace(replace(replace(replace(coalesce(model, '(no name)'), char(0), '�'), '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;') AS name
FROM leaderboard;

CREATE TEMP TABLE pairs AS
SELECT a.rank AS rank_a, b.rank AS rank_b, a.name AS name_a, b.name AS name_b, c.*
FROM compare AS c
JOIN ranked AS a ON a.model = c.model_a AND a.rank <= 30
JOIN ranked AS b ON b.model = c.model_b AND b.rank <= 30;

CREATE TEMP TABLE tasks AS
SELECT replace(replace(replace(replace(replace(t.task, char(0), '�'), '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;') AS name_task,
       t.task, rank, name, t.n, t.accuracy, t.ci
FROM by_task AS t JOIN ranked USING (model);

SELECT '<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Eval report</title>
<style>
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d8dee4}
@media (prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e6edf3;--soft:#9aa4af;--line:#2f363d}}
body{margin:0 auto;padding:1rem;max-width:62rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.2rem;margin:2rem 0 .5rem}p{max-width:44rem}.soft{color:var(--soft)}
.wide{overflow-x:auto}.wide svg{display:block}#forest svg{max-width:100%;min-width:36rem;height:auto}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;margin:.5rem 0}
th,td{padding:.25rem .75rem .25rem 0;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600}.name{text-align:left;max-width:13rem;overflow:hidden;text-overflow:ellipsis}
@media (max-width:40rem){.name{max-width:8rem}}
.bar{font-family:ui-monospace,"DejaVu Sans Mono",monospace;white-space:pre}
</style>
</head>
<body>
<h1>Eval report</h1>';

SELECT '<p class="soft">' || count(*) || iif(count(*) = 1, ' model, ', ' models, ') ||
       (SELECT count(DISTINCT task) FROM tasks) || iif((SELECT count(DISTINCT task) FROM tasks) = 1, ' task, ', ' tasks, ') ||
       coalesce(sum(n), 0) || ' answers, ' || coalesce(sum(errored), 0) ||
       ' more that are not known. Error bars are 95% intervals.' ||
       iif(count(*) > 200, ' The picture has the first 200 models.', '') || '</p>'
FROM ranked;

SELECT '<h2>Leaderboard</h2>
<div class="wide" id="forest">';
SELECT coalesce(forest_svg(model, accuracy, ci), '<p>No answers yet.</p>')
FROM (SELECT * FROM ranked ORDER BY rank LIMIT 200);
SELECT '</div>
<div class="wide"><table id="leaderboard">
<tr><th class="name">model</th><th>accuracy</th><th>95% interval</th><th>on other tasks</th><th>right</th><th>answers</th><th>not known</th></tr>';
SELECT '<tr><td class="name" title="' || name || '">' || name || '</td><td data-value="' || coalesce(accuracy, '') || '">' ||
       iif(accuracy IS NULL, '', printf('%.1f%%', 100 * accuracy)) || '</td><td data-value="' || coalesce(ci, '') || '">' ||
       coalesce(ci_text(ci), 'no answers') || '</td><td data-value="' || coalesce(task_ci, '') || '">' ||
       coalesce(ci_text(task_ci), '') || '</td><td>' || coalesce(correct, 0) || '</td><td>' || n || '</td><td>' ||
       errored || '</td></tr>'
FROM ranked ORDER BY rank;
SELECT '</table></div>';

SELECT '<h2>Every two models</h2>
<p>How sure, in per cent, that the model of the row is better than the model of the column, from the questions that both answered.' ||
       iif(count(*) > 30, ' The first 30 models.', '') || '</p>
<div class="wide">' FROM ranked;
SELECT coalesce(heatmap_svg(row, col, p), '') FROM (
  SELECT a.model AS row, b.model AS col,
         (SELECT prob_a_better FROM pairs WHERE rank_a = a.rank AND rank_b = b.rank
          UNION ALL SELECT 1 - prob_a_better FROM pairs WHERE rank_a = b.rank AND rank_b = a.rank) AS p
  FROM ranked AS a, ranked AS b
  WHERE a.rank <= 30 AND b.rank <= 30 AND (SELECT count(*) FROM ranked) > 1
  ORDER BY a.rank, b.rank);
SELECT '</div>
<div class="wide"><table id="compare">
<tr><th class="name">A</th><th class="name">B</th><th class="name">verdict</th><th>A minus B</th><th>95% interval</th><th>P(A better)</th><th>questions</th></tr>';
SELECT '<tr><td class="name" title="' || name_a || '">' || name_a || '</td><td class="name" title="' || name_b || '">' || name_b ||
       '</td><td class="name">' || verdict || '</td><td data-value="' || diff || '">' || printf('%+.1f%%', 100 * diff) ||
       '</td><td data-value="' || ci || '">' || printf('%+.1f%% to %+.1f%%', 100 * lo, 100 * hi) ||
       '</td><td data-value="' || prob_a_better || '">' || iif(prob_a_better > 0.999, '&gt;0.999', iif(prob_a_better < 0.001, '&lt;0.001', printf('%.3f', prob_a_better))) || '</td><td>' || n || '</td></tr>'
FROM pairs ORDER BY min(rank_a, rank_b), max(rank_a, rank_b);
SELECT '</table></div>';

SELECT '<h2>Every task</h2>
<div class="wide"><table id="tasks">
<tr><th class="name">task</th><th class="name">model</th><th>answers</th><th>accuracy</th><th>95% interval</th><th class="name">0% to 100%</th></tr>';
SELECT '<tr><td class="name" title="' || name_task || '">' || name_task || '</td><td class="name" title="' || name || '">' || name ||
       '</td><td>' || n || '</td><td data-value="' || coalesce(accuracy, '') || '">' ||
       iif(accuracy IS NULL, '', printf('%.1f%%', 100 * accuracy)) || '</td><td data-value="' || coalesce(ci, '') || '">' ||
       coalesce(ci_text(ci), 'no answers') || '</td><td class="name bar">' || coalesce(ci_bar(ci, accuracy, 20), '') || '</td></tr>'
FROM tasks ORDER BY task, rank;
SELECT '</table></div>';

SELECT '<h2>How it was done</h2>
<p>A 95% interval holds the model''s true accuracy with a probability of 95%, given these answers and no opinion beforehand.
It does not rest on the central limit theorem, so it is right for 15 questions as for 15,000.</p>
<ul>
<li>Accuracy: ' || iif(count(*) FILTER (WHERE method <> 'bayes') = 0,
  'a Beta-Bernoulli credible interval with a uniform prior (<code>bayes_ci</code>).',
  'some questions were asked more than once, so answers are clustered by question: a Beta-binomial hierarchy, theta ~ U(0,1), d ~ Gamma(1,1) (<code>clustered_ci</code>).') || '</li>
<li>On other tasks: the same hierarchy, clustered by task. It says how the model would do on other tasks like these, and is wide when there are few.</li>
<li>Two models: a bivariate probit on the questions both answered, each counted once with the first known answer, uniform priors, rho = 2 Beta(4,2) - 1 (<code>paired_diff_ci</code>, <code>paired_prob_better</code>).
A verdict is given when the 95% interval of the difference leaves 0 out.</li>
<li>Within a task: as accuracy, from the answers to that task alone.</li>
<li>Answers that are not known (the run errored) are left out, not counted as wrong.</li>
</ul>
<p class="soft">evalci ' || evalci_version() || ', SQLite ' || sqlite_version() || '. No random numbers: the same data give the same page.
Methods: Bowyer, Aitchison and Ivanova, &#8220;Don''t use the CLT in LLM evals with fewer than a few hundred datapoints&#8221;, ICML 2025.</p>
</body>
</html>' FROM ranked;
ROLLBACK;
