-- Earlier releases created views in the database (leaderboard, compare and those that they
-- read).  eval_leaderboard and the other eval_ tables need none.  This file prints the
-- statements that drop them, and
--
--   sqlite3 evals.db '.read sql/drop_views.sql' | sqlite3 evals.db
--
-- runs them.  A view of your own with such a name is kept: evalci's are recognised because
-- they call its functions or read each other.  The views of pushdown/finish.sql are kept too.
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
