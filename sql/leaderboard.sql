-- A view over results (see schema.sql): one row a model, the best first.
--
--   sqlite3 evals.db '.load build/evalci' '.read sql/leaderboard.sql' 'SELECT * FROM leaderboard'
--
--   n, correct, errored        answers known, right ones, and those not known (NULL)
--   accuracy                   correct / n
--   ci, lo, hi                 its 95% credible interval; as text, and as numbers
--   method                     how: 'bayes' where each question was asked once, so
--                              that answers are independent; 'clustered by item'
--                              where some were asked again, since a second attempt
--                              at a question is worth less than another question
--   tasks                      how many
--   task_ci, task_lo, task_hi  the interval clustered by task: how the model would
--                              do on other tasks like these.  Wide with few tasks
--   bar                        ci, drawn from 0 to 1
DROP VIEW IF EXISTS leaderboard;
CREATE VIEW leaderboard AS
WITH repeated(again) AS (
  SELECT EXISTS (SELECT 1 FROM results WHERE correct IS NOT NULL
                 GROUP BY model, task, item HAVING count(*) > 1)
), counted AS (
  SELECT model,
         count(correct)              AS n,
         sum(correct)                AS correct,
         count(*) - count(correct)   AS errored,
         avg(correct)                AS accuracy,
         bayes_ci(correct)           AS iid,
         clustered_ci(CASE WHEN again THEN correct END, hex(task) || '/' || hex(item)) AS by_item,
         count(DISTINCT CASE WHEN correct IS NOT NULL THEN coalesce(task, '') END)  AS tasks,
         clustered_ci(correct, coalesce(task, '')) AS by_task
  FROM results, repeated
  GROUP BY model
)
SELECT model, n, correct, errored, accuracy,
       coalesce(by_item, iid)                                           AS ci,
       ci_lo(coalesce(by_item, iid))                                    AS lo,
       ci_hi(coalesce(by_item, iid))                                    AS hi,
       CASE WHEN by_item IS NULL THEN 'bayes' ELSE 'clustered by item' END AS method,
       tasks,
       by_task                                                          AS task_ci,
       ci_lo(by_task)                                                   AS task_lo,
       ci_hi(by_task)                                                   AS task_hi,
       ci_bar(coalesce(by_item, iid), accuracy)                         AS bar
FROM counted
ORDER BY accuracy DESC, model;
