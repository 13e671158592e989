-- A view over results (see schema.sql): one row a pair of models, on the
-- questions that both answered, paired by task and item.
--
--   sqlite3 evals.db '.load build/evalci' '.read sql/compare.sql' 'SELECT * FROM compare'
--
--   model_a, model_b                the pair, in alphabetical order
--   n                               questions both answered
--   both, only_a, only_b, neither   of which right by both, by one, by none
--   diff                            accuracy of A minus accuracy of B, on these
--   ci, lo, hi                      its 95% credible interval; as text, and as numbers
--   prob_a_better                   how sure that A is better
--   verdict                         'A better' or 'B better' when the interval leaves
--                                   0 out, else 'not separated'
--
-- A question counts once, with each model's first known answer: more attempts at
-- it are not more questions, and taking them for such would make every interval
-- too short.  Items are compared as text, since one import may write 7 and
-- another '7'.
DROP VIEW IF EXISTS compare;
CREATE VIEW compare AS
WITH answers AS MATERIALIZED (
  -- SQLite takes correct from the row that has the least attempt
  SELECT model, coalesce(task, '') AS task, CAST(item AS TEXT) AS item, correct, min(attempt)
  FROM results WHERE correct IS NOT NULL GROUP BY 1, 2, 3
), paired AS (
  SELECT a.model                                AS model_a,
         b.model                                AS model_b,
         count(*)                               AS n,
         sum(a.correct AND b.correct)           AS both,
         sum(a.correct AND NOT b.correct)       AS only_a,
         sum(b.correct AND NOT a.correct)       AS only_b,
         sum(NOT a.correct AND NOT b.correct)   AS neither,
         avg(a.correct) - avg(b.correct)        AS diff,
         paired_diff_ci(a.correct, b.correct)   AS ci,
         paired_prob_better(a.correct, b.correct) AS prob_a_better
  FROM answers AS a
  JOIN answers AS b USING (task, item)
  WHERE a.model < b.model
  GROUP BY a.model, b.model
)
SELECT model_a, model_b, n, both, only_a, only_b, neither, diff,
       ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi, prob_a_better,
       CASE WHEN ci_lo(ci) > 0 THEN 'A better'
            WHEN ci_hi(ci) < 0 THEN 'B better'
            ELSE 'not separated' END AS verdict
FROM paired
ORDER BY model_a, model_b;
