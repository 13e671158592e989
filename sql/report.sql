-- A report over results (see schema.sql): one self-contained page of HTML with the
-- leaderboard, every pair of models, every task, and how it was done.  In the top folder
-- of the project:
--
--   sqlite3 -bail evals.db '.load build/evalci' '.read sql/report.sql' > report.html
--
-- evalci report evals.db -o report.html does that without the shell.  Nothing is written
-- to the database, which may be read-only.
SELECT eval_report('results', '{"date":"' || strftime('%Y-%m-%d %H:%M', 'now') || ' UTC"}');
