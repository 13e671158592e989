-- The view leaderboard, one row a model: views.sql has it, with what it is made of.  From the
-- top of the project, in the sqlite3 shell:
--
--   sqlite3 evals.db '.load build/evalci' '.read sql/leaderboard.sql' 'SELECT * FROM leaderboard'
.read sql/views.sql
