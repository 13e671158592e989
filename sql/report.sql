-- A report over results (see schema.sql): one page of HTML that needs nothing else, with
-- the leaderboard, every two models, every task, and how it was done.  From the top of
-- the project:
--
--   sqlite3 -bail evals.db '.load build/evalci' '.read sql/report.sql' > report.html
--
-- evalci report evals.db -o report.html does that without the shell.  Nothing is written
-- to the database, which may be one that cannot be.
SELECT eval_report('results', '{"date":"' || strftime('%Y-%m-%d %H:%M', 'now') || ' UTC"}');
