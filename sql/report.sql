-- A report over results (see schema.sql): one page of HTML that needs nothing else, with
-- the leaderboard, every two models, every task, and how it was done.  From the top of
-- the project:
--
--   sqlite3 -bail evals.db '.load build/evalci' '.read sql/report.sql' > report.html
--
-- make report DB=evals.db OUT=report.html does that, by report.sh.  Nothing is written to
-- the database, which may be one that cannot be.
SELECT eval_report('results', '{"date":"' || strftime('%Y-%m-%d %H:%M', 'now') || ' UTC"}');
