-- The leaderboard and the comparison from counts that a warehouse made with the other
-- files here.  Every digit equals that of eval_compare over the rows, and of
-- eval_leaderboard in the columns that counts can give; A is the first model in the alphabet.  In a database of its own:
--
--   sqlite3 counts.db '.load build/evalci' '.read sql/pushdown/finish.sql' \
--     '.import --csv --skip 1 models.csv model_counts' \
--     '.import --csv --skip 1 tasks.csv task_counts' \
--     '.import --csv --skip 1 items.csv item_counts' \
--     '.import --csv --skip 1 pairs.csv pair_counts' \
--     '.import --csv --skip 1 scores.csv score_counts' \
--     '.import --csv --skip 1 diffs.csv diff_counts' \
--     'SELECT * FROM leaderboard' 'SELECT * FROM compare' 'SELECT * FROM scores' 'SELECT * FROM task_compare'
--
-- Leave out the tables of queries that you did not run; their views stay empty.  The view
-- leaderboard needs models, tasks and items, or models alone if all answers are right or
-- wrong and each question was asked once.  If an import says "INSERT failed", rows are
-- missing: correct the counts, and create the database again.  The tables are created here
-- and not by .import, which would give every column numeric affinity and turn a model named
-- 1.10 into 1.1.
CREATE TABLE IF NOT EXISTS model_counts(
  model   TEXT PRIMARY KEY,
  k       INTEGER NOT NULL,
  n       INTEGER NOT NULL,
  errored INTEGER NOT NULL,
  invalid INTEGER NOT NULL CONSTRAINT "a result must be 0 or 1" CHECK (invalid = 0),
  CHECK (k BETWEEN 0 AND n)
);
CREATE TABLE IF NOT EXISTS task_counts(
  model   TEXT,
  task    TEXT,
  graded  INTEGER NOT NULL,
  outside INTEGER NOT NULL CONSTRAINT "a score must be in its task's range" CHECK (outside = 0),
  k       INTEGER NOT NULL,
  n       INTEGER NOT NULL CHECK (n > 0),
  questions INTEGER NOT NULL CHECK (questions BETWEEN 1 AND n),
  units   INTEGER NOT NULL,
  rest    INTEGER NOT NULL,
  PRIMARY KEY (task, model),
  CHECK (k BETWEEN 0 AND n)
);
-- On a cluster, each server decides whether its part of a task is graded.
CREATE TRIGGER IF NOT EXISTS task_counts_agree BEFORE INSERT ON task_counts
WHEN EXISTS (SELECT 1 FROM task_counts WHERE task = NEW.task AND graded <> NEW.graded)
BEGIN
  SELECT RAISE(ABORT, 'a task must be graded on all servers or on none; declare its score_lo and score_hi');
END;
CREATE TABLE IF NOT EXISTS item_counts(
  model   TEXT,
  graded  INTEGER,
  outside INTEGER CONSTRAINT "a score must be in its task's range" CHECK (outside = 0),
  total   REAL,
  n       INTEGER,
  items   INTEGER NOT NULL CHECK (items > 0),
  PRIMARY KEY (model, graded, outside, total, n),
  CHECK (total BETWEEN 0 AND n)
);
CREATE TABLE IF NOT EXISTS pair_counts(
  model_a TEXT,
  model_b TEXT,
  graded  INTEGER,
  outside INTEGER CONSTRAINT "a score must be in its task's range" CHECK (outside = 0),
  total_a REAL,
  n_a     INTEGER,
  total_b REAL,
  n_b     INTEGER,
  items   INTEGER NOT NULL CHECK (items > 0),
  PRIMARY KEY (model_a, model_b, graded, outside, total_a, n_a, total_b, n_b),
  CHECK (total_a BETWEEN 0 AND n_a AND total_b BETWEEN 0 AND n_b)
);
CREATE TABLE IF NOT EXISTS score_counts(
  model TEXT,
  score REAL,
  n     INTEGER NOT NULL CHECK (n > 0),
  PRIMARY KEY (model, score)
);
CREATE TABLE IF NOT EXISTS diff_counts(
  model_a TEXT,
  model_b TEXT,
  task    TEXT,
  outside INTEGER NOT NULL CONSTRAINT "a score must be in its task's range" CHECK (outside = 0),
  units   INTEGER NOT NULL,
  rest    INTEGER NOT NULL,
  n       INTEGER NOT NULL CHECK (n > 0),
  PRIMARY KEY (model_a, model_b, task)
);

DROP VIEW IF EXISTS leaderboard;
CREATE VIEW leaderboard AS
WITH totals AS (
  SELECT *, units / 2147483648.0 + rest / 4611686018427387904.0 AS total FROM task_counts
), averaged AS (
  SELECT *, sum(total) OVER own / sum(questions) OVER own AS mean, avg(questions) OVER own AS each,
         max(2.0, 1.0 * sum(questions) OVER own * sum(questions) OVER own / sum(questions * questions) OVER own) AS effective
  FROM totals WINDOW own AS (PARTITION BY model)
), spread AS (
  SELECT model, mean, effective,
         min(mean + (total - mean * questions) / each) AS least, max(mean + (total - mean * questions) / each) AS most,
         min(total / questions) AS lowest, max(total / questions) AS highest
  FROM averaged GROUP BY model
), near AS ( -- imagined tasks lie just beyond the seen ones: ext/stats/other_tasks.c
  SELECT model, most - least > 1e-12 AS differ,
         min(lowest, max(0.0, least - 2 / (effective - 1.75) * (most - least) - max(0.0, 2 * mean - least - most))) AS lo,
         max(highest, min(1.0, most + 2 / (effective - 1.75) * (most - least) + max(0.0, least + most - 2 * mean))) AS hi
  FROM spread
), by_task AS (
  SELECT model, count(*) AS tasks, max(graded) AS graded,
         (sum(units) / 2147483648.0 + sum(rest) / 4611686018427387904.0) / sum(questions) AS accuracy,
         clustered_mean_ci_counts(total, questions, 0.95, iif(differ, lo, 0.0), iif(differ, hi, 1.0)) AS ci
  FROM totals LEFT JOIN near USING (model) GROUP BY model
), by_item AS MATERIALIZED ( -- or it would be computed anew for every column that shows it
  SELECT model, max(n > 1) AS again,
         mean_ci_counts(total / n, items) AS ci
  FROM item_counts GROUP BY model
), counted AS (
  SELECT m.model, m.n, m.errored, coalesce(t.tasks, 0) AS tasks,
         CASE WHEN m.n > 0 AND t.graded IS NOT 1 THEN m.k END AS correct,
         coalesce(t.accuracy, 1.0 * m.k / m.n) AS accuracy, coalesce(i.ci, (SELECT mean_ci_counts(y, c) FROM (SELECT 1 AS y, m.k AS c UNION ALL SELECT 0, m.n - m.k))) AS ci,
         CASE WHEN m.n = 0 THEN NULL
              WHEN i.again THEN 'mean of questions' WHEN t.graded THEN 'mean' ELSE 'bayes' END AS method,
         CASE WHEN t.tasks >= 5 THEN t.ci END AS task_ci
  FROM model_counts AS m LEFT JOIN by_task AS t USING (model) LEFT JOIN by_item AS i USING (model)
)
SELECT model, n, correct, errored, accuracy,
       ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi, method,
       tasks,
       task_ci, ci_lo(task_ci) AS task_lo, ci_hi(task_ci) AS task_hi,
       ci_bar(ci, accuracy) AS bar,
       max(0.0, accuracy - ci_lo(ci)) AS err_lo, max(0.0, ci_hi(ci) - accuracy) AS err_hi
FROM counted
ORDER BY accuracy DESC, model;

DROP VIEW IF EXISTS compare;
CREATE VIEW compare AS
WITH ordered AS (
  SELECT min(model_a, model_b) AS model_a, max(model_a, model_b) AS model_b, items, graded, graded OR n_a > 1 OR n_b > 1 AS scored,
         CASE WHEN model_a < model_b THEN total_a / n_a ELSE total_b / n_b END AS mean_a,
         CASE WHEN model_a < model_b THEN total_b / n_b ELSE total_a / n_a END AS mean_b
  FROM pair_counts
), whole AS (
  SELECT model_a, model_b, items, mean_a, mean_b, max(scored) OVER pair AS scored,
         max(graded) OVER pair AS graded, CAST(mean_a * 0x80000000 AS INTEGER) AS units_a, CAST(mean_b * 0x80000000 AS INTEGER) AS units_b
  FROM ordered WINDOW pair AS (PARTITION BY model_a, model_b)
), summed AS (
  SELECT model_a, model_b, scored, sum(items) AS n, max(mean_a <> mean_b) AS differ,
         sum(items * (mean_a = 1 AND mean_b = 1)) FILTER (WHERE NOT scored) AS both,
         sum(items * (mean_a > mean_b)) FILTER (WHERE NOT scored) AS only_a,
         sum(items * (mean_a < mean_b)) FILTER (WHERE NOT scored) AS only_b,
         sum(items * (mean_a = 0 AND mean_b = 0)) FILTER (WHERE NOT scored) AS neither,
         sum(items * units_a) / 2147483648.0
           + sum(items * CAST((mean_a * 0x80000000 - units_a) * 0x80000000 AS INTEGER)) / 4611686018427387904.0 AS total_a,
         sum(items * units_b) / 2147483648.0
           + sum(items * CAST((mean_b * 0x80000000 - units_b) * 0x80000000 AS INTEGER)) / 4611686018427387904.0 AS total_b,
         paired_mean_diff_ci_counts(mean_a - mean_b, items) FILTER (WHERE scored) AS ci,
         paired_mean_prob_better_counts(mean_a - mean_b, items) FILTER (WHERE scored) AS prob,
         paired_p_counts(mean_a - mean_b, items) FILTER (WHERE scored) AS p,
         -- Graded differences that may be larger than those seen.
         CASE WHEN max(graded AND abs(mean_a - mean_b) NOT IN (0, 1))
              THEN mean_ci_counts(mean_a - mean_b, items, 0.95, -1, 1) FILTER (WHERE graded) END AS unseen
  FROM whole GROUP BY model_a, model_b
), tested AS MATERIALIZED (
  SELECT model_a, model_b, n, both, only_a, only_b, neither,
         total_a / n AS mean_a, total_b / n AS mean_b, CASE WHEN scored THEN 'paired means' ELSE 'paired' END AS method,
         -- The interval of counts reaches the difference where every question separates the two.
         coalesce(CASE n WHEN only_a THEN printf('[%s,1.0]', substr(paired_diff_ci_counts(both, only_a, only_b, neither), 2, instr(paired_diff_ci_counts(both, only_a, only_b, neither), ',') - 2))
                         WHEN only_b THEN '[-1.0' || substr(paired_diff_ci_counts(both, only_a, only_b, neither), instr(paired_diff_ci_counts(both, only_a, only_b, neither), ','))
                         ELSE paired_diff_ci_counts(both, only_a, only_b, neither) END, ci) AS ci,
         coalesce(paired_prob_better_counts(both, only_a, only_b, neither), prob) AS prob_a_better,
         coalesce(mcnemar_p_counts(only_a, only_b), p) AS p, unseen,
         -- Models with the same data, on all of their questions.
         CASE WHEN NOT differ AND n = (SELECT sum(items) FROM item_counts WHERE model = model_a)
                   AND n = (SELECT sum(items) FROM item_counts WHERE model = model_b)
              THEN 'tied' ELSE 'not separated' END AS open
  FROM summed
), stepped AS (
  SELECT *, p * (1 + count(p) OVER () - row_number() OVER (ORDER BY p IS NULL, p)) AS step FROM tested
), held AS (
  SELECT *, mean_a - mean_b AS diff,
         CASE WHEN p IS NOT NULL THEN min(1.0, max(step) OVER (ORDER BY p IS NULL, p)) END AS p_all FROM stepped
)
SELECT model_a, model_b, n, both, only_a, only_b, neither, diff,
       ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi, prob_a_better,
       CASE WHEN ci IS NULL THEN NULL
            WHEN ci_lo(ci) <= 0 AND ci_hi(ci) >= 0 THEN open
            ELSE CASE WHEN ci_lo(ci) > 0 THEN 'A better' ELSE 'B better' END ||
                 CASE WHEN ci_lo(unseen) <= 0 AND ci_hi(unseen) >= 0 THEN ' unless it sometimes fails outright' ELSE '' END
       END AS verdict,
       p, p_all,
       CASE WHEN p_all IS NULL THEN NULL WHEN p_all > 0.05 THEN open
            WHEN mean_a > mean_b THEN 'A better' ELSE 'B better' END AS verdict_all,
       method, mean_a, mean_b,
       max(0.0, diff - ci_lo(ci)) AS err_lo, max(0.0, ci_hi(ci) - diff) AS err_hi
FROM held
ORDER BY model_a, model_b;

-- The mean score of each model, for scores from 0 to 1.
DROP VIEW IF EXISTS scores;
CREATE VIEW scores AS
WITH counted AS (
  SELECT model, sum(n) AS n, sum(score * n) / sum(n) AS mean, mean_ci_counts(score, n) AS ci
  FROM score_counts GROUP BY model
)
SELECT model, n, mean, ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi
FROM counted
ORDER BY mean DESC, model;

-- Like compare, but with questions clustered by task, for tasks drawn from many like them.
DROP VIEW IF EXISTS task_compare;
CREATE VIEW task_compare AS
WITH ordered AS (
  SELECT min(model_a, model_b) AS model_a, max(model_a, model_b) AS model_b, n,
         iif(model_a < model_b, 1, -1) * units AS units, iif(model_a < model_b, 1, -1) * rest AS rest
  FROM diff_counts
), known AS (
  SELECT model_a, model_b, count(*) AS tasks, sum(n) AS n,
         (sum(units) / 2147483648.0 + sum(rest) / 4611686018427387904.0) / sum(n) AS diff,
         clustered_diff_ci_counts(units / 2147483648.0 + rest / 4611686018427387904.0, n)     AS ci,
         clustered_prob_better_counts(units / 2147483648.0 + rest / 4611686018427387904.0, n) AS prob_a_better
  FROM ordered GROUP BY model_a, model_b
)
SELECT model_a, model_b, tasks, n, diff, ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi, prob_a_better
FROM known
ORDER BY model_a, model_b;
