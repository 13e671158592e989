-- The views of views.sql as tables, for tools that cannot load an extension: Metabase,
-- Grafana, Superset, Excel by ODBC.
--
--   sqlite3 -bail evals.db '.load build/evalci' '.read sql/views.sql' '.read sql/materialize.sql'
--
-- makes the tables evals_leaderboard, evals_by_task, evals_compare, evals_common and
-- evals_passes, with the columns of the views, and drops the views: a tool that does
-- not know the functions in them cannot even list the tables.  After more answers,
-- run both again.  All of the tables are made, or none.
BEGIN IMMEDIATE;

-- What the views are made of, once instead of once a view.
CREATE TABLE evals_kinds AS SELECT * FROM kinds;
DROP VIEW kinds;
CREATE VIEW kinds AS SELECT * FROM evals_kinds;
CREATE TABLE evals_numbered AS SELECT * FROM numbered;
DROP VIEW numbered;
CREATE VIEW numbered AS SELECT * FROM evals_numbered;
CREATE TABLE evals_words AS SELECT * FROM words;
DROP VIEW words;
CREATE VIEW words AS SELECT * FROM evals_words;
CREATE TABLE evals_standings AS SELECT * FROM standings;
DROP VIEW standings;
CREATE VIEW standings AS SELECT * FROM evals_standings;

DROP TABLE IF EXISTS evals_leaderboard;
CREATE TABLE evals_leaderboard(
  model TEXT, n INTEGER, correct INTEGER, errored INTEGER, accuracy REAL, ci TEXT, lo REAL, hi REAL,
  method TEXT, tasks INTEGER, task_ci TEXT, task_lo REAL, task_hi REAL, bar TEXT, questions INTEGER,
  common INTEGER, err_lo REAL, err_hi REAL, rank_lo INTEGER, rank_hi INTEGER, p_best REAL,
  macro REAL, macro_ci TEXT, macro_lo REAL, macro_hi REAL
);
INSERT INTO evals_leaderboard SELECT * FROM leaderboard;
DROP VIEW leaderboard;
CREATE VIEW leaderboard AS SELECT * FROM evals_leaderboard;

DROP TABLE IF EXISTS evals_by_task;
CREATE TABLE evals_by_task(
  model TEXT, task TEXT, n INTEGER, correct INTEGER, errored INTEGER, accuracy REAL, ci TEXT,
  lo REAL, hi REAL, method TEXT, questions INTEGER, err_lo REAL, err_hi REAL, bar TEXT, mean REAL,
  score_lo REAL, score_hi REAL
);
INSERT INTO evals_by_task SELECT * FROM by_task;

DROP TABLE IF EXISTS evals_compare;
CREATE TABLE evals_compare(
  model_a TEXT, model_b TEXT, n INTEGER, both INTEGER, only_a INTEGER, only_b INTEGER,
  neither INTEGER, diff REAL, ci TEXT, lo REAL, hi REAL, prob_a_better REAL, verdict TEXT, p REAL,
  p_all REAL, verdict_all TEXT, method TEXT, mean_a REAL, mean_b REAL, err_lo REAL, err_hi REAL
);
INSERT INTO evals_compare SELECT * FROM compare;

DROP TABLE IF EXISTS evals_common;
CREATE TABLE evals_common(
  model TEXT, n INTEGER, correct INTEGER, accuracy REAL, ci TEXT, lo REAL, hi REAL, method TEXT,
  questions INTEGER, err_lo REAL, err_hi REAL, bar TEXT, rank INTEGER, rank_lo INTEGER,
  rank_hi INTEGER
);
INSERT INTO evals_common SELECT * FROM common;

DROP TABLE IF EXISTS evals_passes;
CREATE TABLE evals_passes(
  model TEXT, task TEXT, k INTEGER, questions INTEGER, pass_at_k REAL, at_ci TEXT, at_lo REAL,
  at_hi REAL, pass_hat_k REAL, hat_ci TEXT, hat_lo REAL, hat_hi REAL
);
INSERT INTO evals_passes SELECT * FROM passes;

DROP VIEW passes;
DROP VIEW common;
DROP VIEW leaderboard;
DROP VIEW compare;
DROP VIEW by_task;
DROP VIEW verdicts;
DROP VIEW tallies;
DROP VIEW standings;
DROP VIEW questions;
DROP VIEW marks;
DROP VIEW words;
DROP VIEW numbered;
DROP VIEW kinds;
DROP TABLE evals_kinds;
DROP TABLE evals_numbered;
DROP TABLE evals_words;
DROP TABLE evals_standings;
COMMIT;
