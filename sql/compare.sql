-- The view compare, one row a pair of models: views.sql has it, with what it is made of.  From the
-- top of the project, in the sqlite3 shell:
--
--   sqlite3 evals.db '.load build/evalci' '.read sql/compare.sql' 'SELECT * FROM compare'
.read sql/views.sql
