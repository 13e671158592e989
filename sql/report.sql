-- A report over results (see schema.sql): one page of HTML that needs nothing
-- else, with the leaderboard, who is tied with whom, every two models, every task,
-- and how it was done.  From the top of the project:
--
--   sqlite3 -bail evals.db '.load build/evalci' '.read sql/report.sql' > report.html
--
-- make report DB=evals.db OUT=report.html does that, by report.sh.  Nothing is
-- written to the database, which may be one that cannot be: the views are made
-- temporary, and hide those that it has.  The transaction is for reading all of it
-- as of one moment.
--
-- Every number is a view's (views.sql), and the cell that shows it has all its
-- digits in data-value.  Of many models the first 30 are shown in pairs and by task;
-- ranks and ties are by all pairs, which cost little without their intervals.
BEGIN;
.read "|sed '/^DROP VIEW/d; s/^CREATE VIEW/CREATE TEMP VIEW/' sql/views.sql"
.mode list
.headers off
.separator "" "\n"

-- What the views share is computed once: a table takes the view's place, and the views
-- over it read that.  What is dear is computed for the models that are shown.
CREATE TEMP TABLE kept_kinds AS SELECT * FROM kinds;
DROP VIEW temp.kinds;
CREATE TEMP VIEW kinds AS SELECT * FROM kept_kinds;
CREATE TEMP TABLE kept_numbered AS SELECT * FROM numbered;
DROP VIEW temp.numbered;
CREATE TEMP VIEW numbered AS SELECT * FROM kept_numbered;
CREATE TEMP TABLE kept_words AS SELECT * FROM words;
DROP VIEW temp.words;
CREATE TEMP VIEW words AS SELECT * FROM kept_words;
CREATE TEMP TABLE kept_standings AS SELECT * FROM standings;
DROP VIEW temp.standings;
CREATE TEMP VIEW standings AS SELECT * FROM kept_standings;
CREATE TEMP TABLE decided AS SELECT * FROM verdicts;
CREATE TEMP TABLE board AS SELECT row_number() OVER () AS place, * FROM leaderboard;
DROP VIEW temp.leaderboard;
CREATE TEMP VIEW leaderboard AS SELECT * FROM board;
CREATE TEMP TABLE shown AS SELECT place, model FROM board WHERE place <= 30 AND ci IS NOT NULL;
CREATE TEMP TABLE in_tasks AS SELECT * FROM by_task;

-- Names are anybody's text: as HTML; and cut to 14 characters, of long ones without what
-- all models' names begin with, which the first and the last in the alphabet show.
CREATE TEMP TABLE names AS
WITH RECURSIVE every(name) AS (
  SELECT model FROM board UNION SELECT task FROM in_tasks
), ends(first, last) AS (
  SELECT min(CAST(model AS TEXT)), max(CAST(model AS TEXT)) FROM shown
), alike(i) AS (
  SELECT 0 UNION ALL
  SELECT i + 1 FROM alike, ends WHERE i < 200 AND i < length(first) AND substr(first, i + 1, 1) = substr(last, i + 1, 1)
), rest AS (
  SELECT name, CASE WHEN length(name) > max(14, (SELECT max(i) FROM alike)) AND (SELECT max(i) FROM alike) > 2
                    THEN '…' || substr(name, 1 + (SELECT max(i) FROM alike)) ELSE name END AS own
  FROM every
), cut(name, whole, short) AS (
  SELECT name, name, CASE WHEN length(own) > 14 THEN substr(own, 1, 7) || '…' || substr(own, -6) ELSE own END FROM rest
)
SELECT name, replace(replace(replace(replace(replace(coalesce(nullif(whole, ''), '(no name)'), char(0), '�'), '&', '&amp;'),
                     '<', '&lt;'), '>', '&gt;'), '"', '&quot;') AS html,
       replace(replace(replace(replace(replace(coalesce(nullif(short, ''), '(no name)'), char(0), '�'), '&', '&amp;'),
               '<', '&lt;'), '>', '&gt;'), '"', '&quot;') AS short
FROM cut;
CREATE TEMP TABLE ranked AS
SELECT html AS name, b.* FROM board AS b JOIN names ON names.name IS b.model ORDER BY place;

-- The pairs of the models shown, the better of two first; with intervals, which compare
-- computes for the pairs that it is given.
DROP VIEW temp.verdicts;
CREATE TEMP VIEW verdicts AS
SELECT * FROM decided WHERE model_a IN (SELECT model FROM shown) AND model_b IN (SELECT model FROM shown);
CREATE TEMP TABLE pairs AS
SELECT a.place AS place_a, b.place AS place_b, c.*
FROM compare AS c JOIN shown AS a ON a.model IS c.model_a JOIN shown AS b ON b.model IS c.model_b;
CREATE TEMP TABLE duels AS
WITH turned AS (
  SELECT *, diff < 0 OR (diff = 0 AND place_b < place_a) AS turn FROM pairs
)
SELECT iif(turn, place_b, place_a) AS place, iif(turn, place_a, place_b) AS other,
       iif(turn, -diff, diff) AS diff, iif(turn, -hi, lo) AS lo, iif(turn, -lo, hi) AS hi,
       -- turned as text, which keeps all digits: minus the upper end, minus the lower
       iif(turn, replace('[-' || substr(ci, instr(ci, ',') + 1, length(ci) - instr(ci, ',') - 1) || ',-' ||
                         substr(ci, 2, instr(ci, ',') - 2) || ']', '--', ''), ci) AS ci,
       iif(turn, 1 - prob_a_better, prob_a_better) AS sure, n, p_all,
       -- in words: of all pairs together, of this pair alone, or not at all
       CASE WHEN verdict_all <> 'not separated' THEN 'better'
            WHEN verdict <> 'not separated' THEN 'better only as a single pair'
            WHEN diff IS NULL THEN '' ELSE 'tied' END AS verdict
FROM turned;

CREATE TEMP TABLE tasks AS
SELECT s.place, t.* FROM in_tasks AS t JOIN shown AS s ON s.model IS t.model;

-- Every pair that was tested, both ways, and whether it is tied.
CREATE TEMP TABLE tested AS
SELECT a.place AS place, b.place AS other, verdict_all = 'not separated' AS tie FROM decided
JOIN board AS a ON a.model IS model_a JOIN board AS b ON b.model IS model_b
WHERE verdict_all IS NOT NULL;
INSERT INTO tested SELECT other, place, tie FROM tested;

-- The axes: from 0 to 1, or as near to the intervals as half of that allows, on ticks
-- that are 1, 2 or 5 times a power of ten apart.  Differences have 0 on theirs.
CREATE TEMP TABLE axes AS
WITH extent(kind, least, most) AS (
  SELECT 'board', min(lo), max(hi) FROM ranked UNION ALL
  SELECT 'task', min(lo), max(hi) FROM tasks UNION ALL
  SELECT 'pair', min(0, min(lo)), max(0, max(hi)) FROM duels
), steps(step) AS (
  VALUES (0.0001), (0.0002), (0.0005), (0.001), (0.002), (0.005), (0.01), (0.02), (0.05), (0.1), (0.2), (0.5)
), fitting AS (
  -- whole steps below and above; CAST cuts towards 0
  SELECT kind, step, CAST(least / step + 1e6 + 1e-9 AS INTEGER) - 1000000 AS first,
         1000000 - CAST(1e6 - most / step + 1e-9 AS INTEGER) AS last
  FROM extent, steps
), fitted AS (
  SELECT kind, min(step) AS step, first, last FROM fitting WHERE last - first <= 6 GROUP BY kind
), chosen AS (
  SELECT kind, iif(wide, 0.2, step) AS step, iif(wide, 0, first) AS first, iif(wide, 5, last) AS last
  FROM (SELECT *, kind <> 'pair' AND (last - first) * step > 0.501 AS wide FROM fitted)
), ticks(kind, step, first, last, tick) AS (
  SELECT kind, step, first, last, first FROM chosen UNION ALL
  SELECT kind, step, first, last, tick + 1 FROM ticks WHERE tick < last
)
SELECT kind, first * step AS least, (last - first) * step AS length, last - first AS steps,
       group_concat(printf('<span style="left:%.2f%%">%s</span>', 100.0 * (tick - first) / (last - first),
         replace(printf(iif(step < 0.0099, iif(step < 0.00099, '%.2f', '%.1f'), '%.0f'), 100 * tick * step), '-', '−') ||
         iif(kind = 'pair', '', '%')), '') AS numbers
FROM ticks GROUP BY kind;

-- A point and its interval, drawn: each as far along the axis as it lies, in per cent.
CREATE TEMP VIEW drawn AS
WITH rows(kind, a, b, point, lo, hi) AS (
  SELECT 'board', place, '', accuracy, lo, hi FROM ranked UNION ALL
  SELECT 'task', place, task, accuracy, lo, hi FROM tasks UNION ALL
  SELECT 'pair', place, other, diff, lo, hi FROM duels
)
SELECT kind, a, b,
       printf('<span class="plot" style="--n:%d"><i style="left:%.2f%%;width:%.2f%%"></i><u style="left:%.2f%%"></u>%s</span>',
         steps, 100 * (lo - least) / length, 100 * (hi - lo) / length, 100 * (point - least) / length,
         iif(kind = 'pair', printf('<s style="left:%.2f%%"></s>', -100 * least / length), '')) AS html
FROM rows JOIN axes USING (kind) WHERE lo IS NOT NULL AND point IS NOT NULL;
CREATE TEMP TABLE plots AS SELECT * FROM drawn;
CREATE INDEX temp.plots_of ON plots(kind, a, b);

-- How many there are of what, and how they are called.
CREATE TEMP TABLE facts AS
SELECT (SELECT count(*) FROM ranked) AS models,
       (SELECT count(ci) FROM ranked) AS answering,
       (SELECT count(DISTINCT task) FROM in_tasks) AS tasks,
       (SELECT coalesce(sum(n), 0) FROM ranked) AS answers,
       (SELECT coalesce(sum(errored), 0) FROM ranked) AS errored,
       (SELECT max(questions) FROM ranked) AS questions,
       (SELECT max(common) FROM ranked) AS common,
       (SELECT count(*) FROM decided) AS pairs,
       (SELECT count(*) FROM decided WHERE verdict_all <> 'not separated') AS apart,
       (SELECT count(*) FROM decided WHERE verdict_all = 'not separated') AS tied,
       (SELECT count(*) FROM ranked WHERE rank_lo = 1) AS firsts,
       (SELECT iif(max(method LIKE 'mean%'), 'score', 'accuracy') FROM ranked) AS measure,
       coalesce((SELECT nullif(file, '') FROM pragma_database_list WHERE name = 'main'), 'a database in memory') AS path;

SELECT '<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Eval report</title>
<style>
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d8dee4;--mark:#0b5fa5;--zero:#57606a}
@media (prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e6edf3;--soft:#9aa4af;--line:#2f363d;--mark:#7cc0ff;--zero:#9aa4af}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:66rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
h1{font-size:1.6rem;margin:.5rem 0 0}h2{font-size:1.2rem;margin:2.5rem 0 .5rem}h3{font-size:.95rem;margin:0;overflow-wrap:anywhere}
p,ul{max-width:46rem}li{margin:.2rem 0}.soft{color:var(--soft)}.said{overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums;margin:.5rem 0}
th,td{padding:.3rem .9rem .3rem 0;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600;vertical-align:bottom;white-space:normal}
.name{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:8rem;max-width:18rem}.text{text-align:left;white-space:normal}
.picture{width:36%;min-width:13rem;padding:.3rem 1.6rem .3rem .6rem}.two .picture{width:22%;min-width:11rem}
.plot,.numbers{display:block;position:relative;height:1.1rem}
.plot{background:repeating-linear-gradient(to right,var(--line) 0 1px,transparent 1px calc((100% - 1px)/var(--n)));print-color-adjust:exact;-webkit-print-color-adjust:exact}
.plot i{position:absolute;top:calc(50% - 5px);height:10px;border:2px solid var(--mark);border-width:0 2px;min-width:2px}
.plot i::after{content:"";position:absolute;left:0;right:0;top:4px;border-top:2.5px solid var(--mark)}
.plot u{position:absolute;top:calc(50% - 4.5px);width:9px;height:9px;margin-left:-4.5px;border-radius:50%;border:4.5px solid var(--mark)}
.plot s{position:absolute;top:-.3rem;bottom:-.3rem;border-left:1px solid var(--zero)}
.numbers span{position:absolute;transform:translateX(-50%);font-weight:400;font-size:.75rem}
.narrow{width:auto}.wide{overflow-x:auto}.wide svg{display:block;height:auto}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(19rem,1fr));gap:1.25rem 2rem;margin:1rem 0}
.panel{min-width:0}.panel .numbers span:not(:first-child):not(:last-child){display:none}
.row{display:grid;grid-template-columns:minmax(0,8rem) minmax(0,1fr) 3.2rem;gap:.75rem;align-items:center;font-size:.8rem;font-variant-numeric:tabular-nums}
.row>:first-child{overflow-wrap:anywhere;line-height:1.2;padding:.1rem 0}.row>:last-child{text-align:right}
#squares{display:none;grid-template-columns:auto repeat(var(--m),minmax(0,1fr));gap:1px;font-size:.7rem;line-height:1.6;text-align:center;font-variant-numeric:tabular-nums}
#squares span{text-align:left;padding-right:.4rem;white-space:nowrap}#squares i{font-style:normal;color:#000;min-width:0;overflow:hidden;print-color-adjust:exact;-webkit-print-color-adjust:exact}
#squares em{font-style:normal;color:var(--soft);min-width:0}#squares.tight,#squares.close{font-size:.6rem}#squares.close i{font-size:.55rem;line-height:1rem}#squares i{align-content:center}#squares.tight{padding-right:.3rem}#squares.tight i{font-size:0}#squares.tight em{margin:0 -.3rem}#squares.tight em:nth-of-type(even){visibility:hidden}
details{margin:.75rem 0}summary{cursor:pointer;color:var(--soft)}
@media (max-width:44rem){
h2{margin-top:2rem}
#heatmap{display:none}#squares{display:grid}
table.plotted,.plotted tbody{display:block}
.plotted tr{display:grid;grid-template-columns:3.2rem minmax(0,1fr) auto;border-bottom:1px solid var(--line);padding:.35rem 0}
.plotted th,.plotted td{display:none;border:0;padding:0 .4rem 0 0;max-width:none;min-width:0}
.plotted .keep{display:block}.plotted td:first-child{text-align:left}
.plotted .picture{display:block;grid-column:1/-1;grid-row:2;width:auto;padding:.3rem 1rem}
.plotted.two tr{grid-template-columns:minmax(0,1fr) minmax(0,1fr) minmax(0,auto)}.plotted.alone tr{grid-template-columns:minmax(0,1fr) auto}
.narrow th,.narrow td{padding-right:.5rem}.narrow .name{min-width:5rem}#common th:last-child,#common td:last-child{display:none}
}
@media print{body{max-width:none}.wide{overflow:visible}}
</style>
</head>
<body>
<h1>Eval report</h1>';

SELECT '<p class="soft">' || html || iif(changed IS NULL, '', ', last changed ' || changed || ' UTC') ||
       '; this page was made on ' || strftime('%Y-%m-%d %H:%M', 'now') || ' UTC.<br>' ||
       printf('%,d', models) || iif(models = 1, ' model, ', ' models, ') ||
       printf('%,d', tasks) || iif(tasks = 1, ' task, ', ' tasks, ') ||
       printf('%,d', answers) || iif(answers = 1, ' answer', ' answers') ||
       iif(errored > 0, printf(', %,d more that are not known', errored), '') || '. Error bars are 95% intervals.</p>'
FROM (
  SELECT facts.*, '<span class="said">' || replace(replace(replace(replace(path, rtrim(path, replace(path, '/', '')), ''), '&', '&amp;'), '<', '&lt;'), '>', '&gt;') || '</span>' AS html,
         (SELECT strftime('%Y-%m-%d %H:%M', mtime, 'unixepoch') FROM fsdir(facts.path) WHERE facts.path LIKE '/%') AS changed
  FROM facts
);

-- In words: who is first, and how much is tied.
CREATE TEMP TABLE leaders AS
SELECT name, row_number() OVER (ORDER BY place) AS i FROM ranked WHERE rank_lo = 1;
SELECT '<p id="summary" class="said">' ||
  CASE WHEN firsts = 1 AND (SELECT rank_hi FROM ranked WHERE rank_lo = 1) = 1
       THEN '<strong>' || (SELECT name FROM leaders) || '</strong> is the best of these models: it is told apart from every other.'
       WHEN firsts = 1
       THEN '<strong>' || (SELECT name FROM leaders) || '</strong> is ahead: no model is told to be better, though some are tied with it.'
       ELSE (SELECT group_concat(iif(i = 1, '', iif(i = min(firsts, 8), ' and ', ', ')) ||
                      iif(i = 8 AND firsts > 8, printf('%,d others', firsts - 7), '<strong>' || name || '</strong>'), '')
             FROM (SELECT * FROM leaders ORDER BY i) WHERE i <= 8) ||
            ' are tied for the first place: none of them is told to be worse than any other model.' END ||
  iif(pairs > 1, printf(' Of %,d pairs of models %,d %s told apart and %,d %s tied.', pairs,
         apart, iif(apart = 1, 'is', 'are'), tied, iif(tied = 1, 'is', 'are')), '') ||
  CASE WHEN common = 0 THEN ' The models answered different questions: no question was answered by all.'
       WHEN common < questions
       THEN printf(' Not every model answered the same questions: %,d of up to %,d are common to all.', common, questions) ELSE '' END || '</p>'
FROM facts WHERE pairs > 0;

SELECT '<h2>Leaderboard</h2>' || iif(answering = 0, '<p>No answers yet.</p>', '') || '
<table id="leaderboard" class="plotted' || iif(pairs > 0, '', ' alone') || '">
<tr>' || iif(pairs > 0, '<th>rank</th>', '') || '<th class="name">model</th><th class="picture"><span class="numbers">' ||
  coalesce((SELECT numbers FROM axes WHERE kind = 'board'), '') || '</span></th><th>' || measure || '</th><th>95% interval</th>' ||
  iif(pairs > 0, '<th>P(best)</th>', '') || '<th>answers</th>' || iif(errored > 0, '<th>not known</th>', '') || '</tr>'
FROM facts;
SELECT '<tr>' || iif(pairs > 0, '<td class="keep" data-value="' || coalesce(rank_lo || '-' || rank_hi, '') || '">' ||
         coalesce(iif(rank_lo = rank_hi, rank_lo, rank_lo || '–' || rank_hi), '') || '</td>', '') ||
       '<td class="name keep">' || name || '</td><td class="picture">' || coalesce(html, '') ||
       '</td><td class="keep" data-value="' || coalesce(accuracy, '') || '">' ||
       iif(accuracy IS NULL, '', printf('%.1f%%', 100 * accuracy)) ||
       '</td><td data-value="' || coalesce(ci, '') || '">' ||
       coalesce(ci_text(ci), iif(method = 'score out of range', method, 'no answers')) || '</td>' ||
       iif(pairs > 0, '<td data-value="' || coalesce(p_best, '') || '">' ||
         CASE WHEN p_best IS NULL THEN '' WHEN p_best >= 0.995 THEN '&gt;99%' WHEN p_best < 0.005 THEN '&lt;1%'
              ELSE printf('%.0f%%', 100 * p_best) END || '</td>', '') ||
       '<td data-value="' || n || '">' || printf('%,d', n) || '</td>' ||
       iif(facts.errored > 0, '<td data-value="' || ranked.errored || '">' || printf('%,d', ranked.errored) || '</td>', '') || '</tr>'
FROM ranked JOIN facts LEFT JOIN plots ON kind = 'board' AND a = place
ORDER BY place;
SELECT '</table>';
SELECT '<p class="soft">A rank is a range where models are tied: the best and the worst place that these answers leave open. P(best) is the chance of being the best.</p>'
FROM facts WHERE pairs > 0;

SELECT '<details' || iif(answering <= 12, ' open', '') || '><summary>Who is tied with whom</summary>
<ul id="ties" class="said">' FROM facts WHERE pairs > 0;
SELECT '<li><strong>' || name || '</strong> is ' ||
  CASE WHEN met = 0 THEN 'compared with no other model: none answered its questions'
       WHEN ties = 0 THEN iif(met = answering - 1, 'told apart from every other model', 'told apart from every model that answered its questions')
       WHEN ties = answering - 1 AND ties > 1 THEN 'tied with every other model'
       ELSE 'tied with ' || (
         SELECT group_concat(iif(i = 1, '', iif(i = min(ties, 8), ' and ', ', ')) ||
                             iif(i = 8 AND ties > 8, printf('%,d others', ties - 7), name), '')
         FROM (SELECT name, row_number() OVER (ORDER BY other) AS i
               FROM tested AS t JOIN ranked ON ranked.place = t.other WHERE tie AND t.place = r.place ORDER BY other) WHERE i <= 8)
  END || '.</li>'
FROM (SELECT place, name, (SELECT count(*) FROM tested AS t WHERE t.place = ranked.place) AS met,
             (SELECT count(*) FROM tested AS t WHERE t.place = ranked.place AND tie) AS ties
      FROM ranked WHERE place IN (SELECT place FROM shown)) AS r, facts
WHERE pairs > 0 ORDER BY r.place;
SELECT '</ul></details>' FROM facts WHERE pairs > 0;

-- As one value, for which alone the view is asked.
SELECT '<h2>On the questions that all answered</h2>
<p>' || printf('%,d', common) || iif(common = 1, ' question was', ' questions were') || ' answered by every model.</p>
<div class="wide"><table id="common" class="narrow"><tr><th>place</th><th class="name">model</th><th>' || measure || '</th><th>95% interval</th><th>answers</th></tr>
' || (
  SELECT group_concat('<tr><td data-value="' || rank || '">' || rank || '</td><td class="name">' || html ||
           '</td><td data-value="' || coalesce(accuracy, '') || '">' || iif(accuracy IS NULL, '', printf('%.1f%%', 100 * accuracy)) ||
           '</td><td data-value="' || coalesce(ci, '') || '">' || coalesce(ci_text(ci), method) ||
           '</td><td data-value="' || n || '">' || printf('%,d', n) || '</td></tr>', '
') FROM (SELECT * FROM common ORDER BY rank, model) AS c JOIN names ON names.name IS c.model
) || '
</table></div>'
FROM facts WHERE common < questions AND common > 0 AND pairs > 0;

SELECT '<h2>Every two models</h2>' FROM facts WHERE pairs > 0;
SELECT '<p>How sure, in per cent, that the model of the row is better than the model of the column, from the questions that both answered.' ||
       iif(answering > 30, ' The first 30 models.', '') || '</p>
<div class="wide" id="heatmap" style="--least:' || (220 + 34 * min(answering, 30)) || 'px">' FROM facts WHERE pairs > 1;
SELECT replace(svg, '<svg ', '<svg style="max-width:100%;min-width:var(--least)" ') FROM (
  SELECT heatmap_svg(row, col, p) AS svg FROM (
    SELECT a.model AS row, b.model AS col, iif(d.place = a.place, sure, 1 - sure) AS p
    FROM shown AS a CROSS JOIN shown AS b
    LEFT JOIN duels AS d ON d.place = min(a.place, b.place) AND d.other = max(a.place, b.place)
                         OR d.place = max(a.place, b.place) AND d.other = min(a.place, b.place)
    WHERE (SELECT pairs > 1 FROM facts)
    ORDER BY a.place, b.place)
) WHERE svg IS NOT NULL;
-- On a phone, as squares that fit: with their numbers where there is room for them.
SELECT '</div>
<div id="squares" style="--m:' || min(answering, 30) || '" class="' || CASE WHEN answering > 12 THEN 'tight' WHEN answering > 9 THEN 'close' ELSE 'roomy' END || '"><span></span>' ||
  (SELECT group_concat('<em>' || place || '</em>', '') FROM (SELECT place FROM shown ORDER BY place)) FROM facts WHERE pairs > 1;
SELECT '<span>' || a.place || ' ' || short || '</span>' || (
    SELECT group_concat(iif(p IS NULL, '<i></i>', printf('<i style="background:#%02x%02x%02x%s" data-value="%s">%s</i>',
             round(242 + far * iif(p < 0.5, -63, -211)), round(242 + far * iif(p < 0.5, -153, -147)), round(240 + far * iif(p < 0.5, -240, -72)),
             iif(p BETWEEN 0.018 AND 0.914, '', ';color:#fff'), p,
             CASE WHEN p >= 0.995 THEN '&gt;99' WHEN p < 0.005 THEN '&lt;1' ELSE printf('%.0f', 100 * p) END)), '')
    FROM (SELECT p, abs(2 * p - 1) AS far
          FROM (SELECT b.place, iif(d.place = a.place, sure, 1 - sure) AS p
                FROM shown AS b LEFT JOIN duels AS d ON d.place = min(a.place, b.place) AND d.other = max(a.place, b.place)
                                                     OR d.place = max(a.place, b.place) AND d.other = min(a.place, b.place)
                ORDER BY b.place)))
FROM shown AS a JOIN names ON names.name IS a.model, facts WHERE pairs > 1 ORDER BY a.place;
SELECT '</div>' FROM facts WHERE pairs > 1;
SELECT '<details' || iif((SELECT count(*) FROM duels) <= 45, ' open', '') || '><summary>Every pair, the better one first</summary>
<table id="compare" class="plotted two">
<tr><th class="name">model</th><th class="name">against</th><th class="text">verdict</th><th class="picture"><span class="numbers">' ||
  coalesce((SELECT numbers FROM axes WHERE kind = 'pair'), '') || '</span></th><th>difference, points</th><th>95% interval</th><th>sure</th><th>questions</th></tr>'
FROM facts WHERE pairs > 0;
SELECT '<tr><td class="name keep">' || a.name || '</td><td class="name keep">' || b.name ||
       '</td><td class="text keep">' || verdict || '</td><td class="picture">' || coalesce(html, '') ||
       '</td><td data-value="' || coalesce(diff, '') || '">' ||
       iif(diff IS NULL, '', replace(replace(replace(printf('%+.1f', 100 * diff), '+0.0', '0.0'), '-0.0', '0.0'), '-', '−')) ||
       '</td><td data-value="' || coalesce(d.ci, '') || '">' ||
       iif(d.ci IS NULL, '', replace(printf('%+.1f to %+.1f', 100 * d.lo, 100 * d.hi), '-', '−')) ||
       '</td><td data-value="' || coalesce(sure, '') || '">' ||
       CASE WHEN sure IS NULL THEN '' WHEN sure >= 0.995 THEN '&gt;99%' WHEN sure < 0.005 THEN '&lt;1%' ELSE printf('%.0f%%', 100 * sure) END ||
       '</td><td data-value="' || d.n || '">' || printf('%,d', d.n) || '</td></tr>'
FROM duels AS d JOIN ranked AS a ON a.place = d.place JOIN ranked AS b ON b.place = d.other
LEFT JOIN plots ON kind = 'pair' AND plots.a = d.place AND plots.b = d.other
ORDER BY min(d.place, other), max(d.place, other);
SELECT '</table></details>' FROM facts WHERE pairs > 0;

-- Tasks: only where there are several.
SELECT '<h2>Every task</h2>
<div class="panels">' FROM facts WHERE tasks > 1;
SELECT CASE WHEN place = first THEN
         '<section class="panel"><h3>' || task_html || '</h3><div class="row"><span class="soft">' ||
         printf('%,d %s', asked, iif(asked = 1, 'question', 'questions')) || '</span><span class="numbers soft">' || numbers || '</span><span></span></div>' ELSE '' END ||
       '<div class="row"><span>' || model_html || '</span>' || coalesce(plot, '<span></span>') ||
       '<span>' || iif(accuracy IS NULL, '', printf('%.1f%%', 100 * accuracy)) || '</span></div>' ||
       iif(place = last, '</section>', '')
FROM (
  SELECT t.place, t.accuracy, m.html AS model_html, k.html AS task_html, plots.html AS plot,
         max(t.questions) OVER this AS asked, min(t.place) OVER this AS first, max(t.place) OVER this AS last, t.task
  FROM tasks AS t JOIN names AS m ON m.name IS t.model JOIN names AS k ON k.name IS t.task
  LEFT JOIN plots ON plots.kind = 'task' AND plots.a = t.place AND plots.b IS t.task
  WHERE t.place <= 12
  WINDOW this AS (PARTITION BY t.task)
), (SELECT coalesce((SELECT numbers FROM axes WHERE kind = 'task'), '') AS numbers), facts
WHERE tasks > 1
ORDER BY task, place;
SELECT '</div>' || iif(answering > 12, '<p class="soft">The first 12 models; the table has the first 30.</p>', '') || '
<div class="wide"><table id="across" class="narrow"><tr><th class="name">model</th><th>mean of the tasks</th><th>95% interval</th>' ||
  iif((SELECT count(task_ci) FROM ranked) > 0, '<th>on other tasks</th>', '') || '</tr>'
FROM facts WHERE tasks > 1;
SELECT '<tr><td class="name">' || name || '</td><td data-value="' || coalesce(macro, '') || '">' || iif(macro IS NULL, '', printf('%.1f%%', 100 * macro)) ||
       '</td><td data-value="' || coalesce(macro_ci, '') || '">' || coalesce(ci_text(macro_ci), '') || '</td>' ||
       iif((SELECT count(task_ci) FROM ranked) > 0, '<td data-value="' || coalesce(task_ci, '') || '">' || coalesce(ci_text(task_ci), '') || '</td>', '') || '</tr>'
FROM ranked, facts WHERE facts.tasks > 1 AND place IN (SELECT place FROM shown WHERE place <= 12) ORDER BY place;
SELECT '</table></div>
<details><summary>Every task and model as a table</summary>
<table id="tasks" class="plotted two">
<tr><th class="name">task</th><th class="name">model</th><th class="picture"><span class="numbers">' ||
  coalesce((SELECT numbers FROM axes WHERE kind = 'task'), '') || '</span></th><th>' || measure || '</th><th>95% interval</th><th>answers</th></tr>'
FROM facts WHERE tasks > 1;
SELECT '<tr><td class="name keep">' || k.html || '</td><td class="name keep">' || m.html || '</td><td class="picture">' || coalesce(plots.html, '') ||
       '</td><td class="keep" data-value="' || coalesce(accuracy, '') || '">' || iif(accuracy IS NULL, '', printf('%.1f%%', 100 * accuracy)) ||
       '</td><td data-value="' || coalesce(ci, '') || '">' || coalesce(ci_text(ci), iif(method = 'score out of range', method, 'no answers')) ||
       '</td><td data-value="' || n || '">' || printf('%,d', n) || '</td></tr>'
FROM tasks AS t JOIN names AS m ON m.name IS t.model JOIN names AS k ON k.name IS t.task
LEFT JOIN plots ON plots.kind = 'task' AND plots.a = t.place AND plots.b IS t.task, facts
WHERE facts.tasks > 1
ORDER BY t.task, t.place;
SELECT '</table></details>' FROM facts WHERE tasks > 1;

SELECT '<h2>How it was done</h2>
<p>A 95% interval holds what it is of with a probability of 95%, given these answers and no opinion beforehand.
It does not rest on the central limit theorem, so it is right for 15 questions as for 15,000.</p>
<ul>' ||
  iif(max(method = 'bayes'), '
<li>Right or wrong, each question asked once: a Beta-Bernoulli credible interval with a uniform prior (<code>bayes_ci</code>).</li>', '') ||
  iif(max(method = 'clustered by item'), '
<li>Right or wrong, some questions asked again: answers are clustered by question, in a Beta-binomial hierarchy whose intraclass correlation is uniform (<code>clustered_ci</code>).</li>', '') ||
  iif(max(method = 'mean'), '
<li>Graded answers: the mean of the scores, as shares of their range, with Dirichlet weights and an imagined question at the end on the side of each bound (<code>mean_ci</code>).</li>', '') ||
  iif(max(method = 'mean, clustered by item'), '
<li>Graded answers, some questions asked again: the same, clustered by question (<code>clustered_mean_ci</code>).</li>', '') ||
  iif((SELECT pairs > 0 FROM facts), '
<li>Two models: from the questions that both answered' ||
    iif((SELECT max(method = 'paired') FROM decided), '; right or wrong and asked once, a bivariate probit, uniform priors, rho = 2 Beta(4,2) &#8722; 1 (<code>paired_diff_ci</code>, <code>paired_prob_better</code>)', '') ||
    iif((SELECT max(method = 'paired means') FROM decided), '; graded or asked again, the differences of each question''s mean scores (<code>paired_mean_diff_ci</code>, <code>paired_mean_prob_better</code>)', '') || '.</li>
<li>Verdicts are held to all pairs at once: a pair is told apart when its p value, adjusted by Holm over all ' || (SELECT printf('%,d', pairs) FROM facts) || ' pairs, is at most 5%, so that a single wrong verdict anywhere on this page has at most that chance. A rank runs from one more than the models that are better to the last that it does not beat. A pair that its own 95% interval separates, but all pairs together do not, is called better only as a single pair.</li>
<li>The chance of being the best takes the models'' accuracies as independent.</li>', '') ||
  iif((SELECT tasks > 1 FROM facts), '
<li>Within a task: the same, from the answers to that task alone. The mean of the tasks counts each alike (<code>macro_ci</code>).</li>', '') ||
  iif(max(task_ci IS NOT NULL), '
<li>On other tasks: answers clustered by task. It says how the model would do on other tasks like these, and is wide when there are few.</li>', '') ||
  iif((SELECT errored > 0 FROM facts), '
<li>Answers that are not known (the run errored) are left out, not counted as wrong.</li>', '') || '
</ul>
<p class="soft">evalci ' || evalci_version() || ', SQLite ' || sqlite_version() || '. No random numbers: the same data give the same page, but for its date.
Methods: Bowyer, Aitchison and Ivanova, &#8220;Don''t use the CLT in LLM evals with fewer than a few hundred datapoints&#8221;, ICML 2025.</p>
</body>
</html>' FROM ranked;
ROLLBACK;
