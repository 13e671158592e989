-- Earlier releases made views in the database (leaderboard, compare and what they read).
-- The tables of the board, eval_leaderboard and its like, need none.  This prints the
-- statements that drop them, and
--
--   sqlite3 evals.db '.read sql/drop_views.sql' | sqlite3 evals.db
--
-- runs these.  A view of your own by such a name is left, since those of evalci call its
-- functions or read each other; and so are the views of pushdown/finish.sql.
SELECT 'DROP VIEW ' || name || ';'
FROM sqlite_master
WHERE type = 'view'
  AND name IN ('leaderboard', 'compare', 'by_task', 'common', 'passes', 'kinds', 'numbered', 'words', 'marks', 'shares',
               'questions', 'standings', 'verdicts', 'tallies', 'macros')
  AND EXISTS (SELECT 1
              FROM (VALUES ('%\_ci(%'), ('%\_ci\_counts(%'), ('%NATURAL LEFT JOIN (SELECT NULL AS score%'), ('%FROM kinds%'), ('%JOIN kinds%'),
                           ('%FROM numbered%'), ('%JOIN numbered%'), ('%FROM tallies%'), ('%FROM standings%'), ('%FROM verdicts%'), ('%FROM words%'))
              WHERE sql LIKE column1 ESCAPE '\')
  AND sql NOT LIKE '%model\_counts%' ESCAPE '\' AND sql NOT LIKE '%pair\_counts%' ESCAPE '\'
ORDER BY rowid DESC;
