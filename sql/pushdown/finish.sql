-- The leaderboard and the comparison from counts that a warehouse made with the
-- other files here: of the columns that ../views.sql has over the rows those that
-- counts can give, to the digit.  Where questions were asked again compare takes
-- each model's first known answer, as pairs.sql counts them, and not the mean of
-- all.  In a database of its own:
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
-- Those of queries that were not run are left out, and their views stay empty.
-- The tables are made here and not by .import, which would give every column
-- numeric affinity and so turn a model named 1.10 into 1.1.
CREATE TABLE IF NOT EXISTS model_counts(
  model   TEXT PRIMARY KEY,
  k       INTEGER NOT NULL,
  n       INTEGER NOT NULL,
  errored INTEGER NOT NULL,
  invalid INTEGER NOT NULL CONSTRAINT "a result must be 0 or 1" CHECK (invalid = 0),
  CHECK (k BETWEEN 0 AND n)
);
CREATE TABLE IF NOT EXISTS task_counts(
  model TEXT,
  task  TEXT,
  k     INTEGER NOT NULL,
  n     INTEGER NOT NULL,
  PRIMARY KEY (model, task),
  CHECK (k BETWEEN 0 AND n)
);
CREATE TABLE IF NOT EXISTS item_counts(
  model TEXT,
  k     INTEGER,
  n     INTEGER,
  items INTEGER NOT NULL CHECK (items > 0),
  PRIMARY KEY (model, k, n),
  CHECK (k BETWEEN 0 AND n)
);
CREATE TABLE IF NOT EXISTS pair_counts(
  model_a TEXT,
  model_b TEXT,
  both    INTEGER NOT NULL,
  only_a  INTEGER NOT NULL,
  only_b  INTEGER NOT NULL,
  neither INTEGER NOT NULL,
  PRIMARY KEY (model_a, model_b)
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
  total   REAL NOT NULL,
  n       INTEGER NOT NULL CHECK (n > 0),
  PRIMARY KEY (model_a, model_b, task)
);

DROP VIEW IF EXISTS leaderboard;
CREATE VIEW leaderboard AS
WITH by_item AS MATERIALIZED ( -- or it would be computed anew for every column that shows it
  -- Where questions were asked again, one row a question; a model at a time,
  -- which spares sorting them all.
  SELECT model,
         (WITH again(k, n, items) AS (
            SELECT k, n, items FROM item_counts AS i
            WHERE i.model = m.model AND n > 0 AND (SELECT max(n) > 1 FROM item_counts)
            UNION ALL
            SELECT k, n, items - 1 FROM again WHERE items > 1
          )
          SELECT clustered_ci_counts(k, n, 0.95, 'icc') FROM again) AS ci
  FROM model_counts AS m
), by_task AS (
  SELECT model, sum(n > 0) AS tasks,
         CASE WHEN sum(n > 0) >= 5 THEN clustered_ci_counts(k, n, 0.95, 'icc') END AS ci
  FROM task_counts GROUP BY model
), counted AS (
  SELECT model, n,
         CASE WHEN n > 0 THEN k END                  AS correct,
         errored,
         1.0 * k / n                                 AS accuracy,
         coalesce(by_item.ci, bayes_ci_counts(k, n)) AS ci,
         CASE WHEN n = 0 THEN NULL WHEN by_item.ci IS NULL THEN 'bayes' ELSE 'clustered by item' END AS method,
         tasks,
         by_task.ci                                  AS task_ci
  FROM model_counts
  JOIN by_item USING (model)
  LEFT JOIN by_task USING (model)
)
SELECT model, n, correct, errored, accuracy,
       ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi, method,
       tasks,
       task_ci, ci_lo(task_ci) AS task_lo, ci_hi(task_ci) AS task_hi,
       ci_bar(ci, accuracy) AS bar
FROM counted
ORDER BY accuracy DESC, model;

DROP VIEW IF EXISTS compare;
CREATE VIEW compare AS
WITH ordered AS (
  SELECT min(model_a, model_b)                                   AS model_a,
         max(model_a, model_b)                                   AS model_b,
         both + only_a + only_b + neither                        AS n,
         both,
         CASE WHEN model_a < model_b THEN only_a ELSE only_b END AS only_a,
         CASE WHEN model_a < model_b THEN only_b ELSE only_a END AS only_b,
         neither
  FROM pair_counts
), paired AS MATERIALIZED (
  SELECT *,
         1.0 * (both + only_a) / n - 1.0 * (both + only_b) / n    AS diff,
         paired_diff_ci_counts(both, only_a, only_b, neither)     AS ci,
         paired_prob_better_counts(both, only_a, only_b, neither) AS prob_a_better
  FROM ordered
)
SELECT model_a, model_b, n, both, only_a, only_b, neither, diff,
       ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi, prob_a_better,
       CASE WHEN ci_lo(ci) > 0 THEN 'A better'
            WHEN ci_hi(ci) < 0 THEN 'B better'
            ELSE 'not separated' END AS verdict
FROM paired
ORDER BY model_a, model_b;

-- The mean score of each model, of scores from 0 to 1.
DROP VIEW IF EXISTS scores;
CREATE VIEW scores AS
WITH counted AS (
  SELECT model, sum(n) AS n, sum(score * n) / sum(n) AS mean, mean_ci_counts(score, n) AS ci
  FROM score_counts GROUP BY model
)
SELECT model, n, mean, ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi
FROM counted
ORDER BY mean DESC, model;

-- As compare, where the tasks are drawn from many such: questions count by cluster.
DROP VIEW IF EXISTS task_compare;
CREATE VIEW task_compare AS
WITH ordered AS (
  SELECT min(model_a, model_b) AS model_a, max(model_a, model_b) AS model_b, n,
         CASE WHEN model_a < model_b THEN total ELSE -total END AS total
  FROM diff_counts
), compared AS (
  SELECT model_a, model_b, count(*) AS tasks, sum(n) AS n, 1.0 * sum(total) / sum(n) AS diff,
         clustered_diff_ci_counts(total, n)      AS ci,
         clustered_prob_better_counts(total, n)  AS prob_a_better
  FROM ordered GROUP BY model_a, model_b
)
SELECT model_a, model_b, tasks, n, diff, ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi, prob_a_better
FROM compared
ORDER BY model_a, model_b;
