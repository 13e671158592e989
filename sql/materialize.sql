-- The board as tables, for tools that cannot load an extension: Metabase, Grafana,
-- Superset, Excel by ODBC.
--
--   sqlite3 -bail evals.db '.load build/evalci' '.read sql/materialize.sql'
--
-- creates the tables evals_leaderboard, evals_compare, evals_tasks, evals_common,
-- evals_passes, evals_noise, evals_slices and evals_questions, with the columns of
-- eval_leaderboard and so on.  Run it again when answers were added.  All of the tables are
-- created, or none.
--
-- evals_slices has one row per pair and task, at some 1.5 ms each: 3 s with 20 models and
-- ten tasks, 70 s with 100 models.  If that is too long, add WHERE model_b = '...' to its line.
--
-- If earlier releases left views in the database, such a tool cannot even list its tables;
-- sql/drop_views.sql drops the views.
BEGIN IMMEDIATE;

DROP TABLE IF EXISTS evals_leaderboard;
CREATE TABLE evals_leaderboard AS SELECT * FROM eval_leaderboard;

DROP TABLE IF EXISTS evals_compare;
CREATE TABLE evals_compare AS SELECT * FROM eval_compare;

DROP TABLE IF EXISTS evals_tasks;
DROP TABLE IF EXISTS evals_by_task; -- its name in an earlier release
CREATE TABLE evals_tasks AS SELECT * FROM eval_tasks;

DROP TABLE IF EXISTS evals_common;
CREATE TABLE evals_common AS SELECT * FROM eval_common;

DROP TABLE IF EXISTS evals_passes;
CREATE TABLE evals_passes AS SELECT * FROM eval_passes;

DROP TABLE IF EXISTS evals_noise;
CREATE TABLE evals_noise AS SELECT * FROM eval_noise;

DROP TABLE IF EXISTS evals_slices;
CREATE TABLE evals_slices AS SELECT * FROM eval_slices;

DROP TABLE IF EXISTS evals_questions;
CREATE TABLE evals_questions AS SELECT * FROM eval_questions;

COMMIT;
