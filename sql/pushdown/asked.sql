-- Three views that the other queries here count.  They are created in the warehouse that
-- has the results table of schema.sql:
--
--   shares   one row per known answer
--   asked    one row per model and question, with its known answers added up
--   met      one row per question and pair of models that both answered it
--
-- All files here except finish.sql and cluster.sql are standard SQL: the same text runs on
-- PostgreSQL, DuckDB and SQLite.  If the results table lacks score, error, score_lo and
-- score_hi, replace it by a view that has them, as NULL.
--
--   graded        whether the task is graded; share is the score as a part of its range, as in
--                 eval_leaderboard
--   outside       1 if the share is not from 0 to 1; the share then is 0
--   units, rest   the share in whole numbers of 2^-31 and of 2^-62, whose sums are the same
--                 in any order
CREATE VIEW shares AS
WITH kinds AS (
  SELECT task, coalesce(min(score_lo), 0) AS least, coalesce(max(score_hi), 1) AS most,
         max(CASE WHEN score_lo IS NOT NULL OR (correct IS NULL AND score IS NOT NULL AND error IS NULL) THEN 1 ELSE 0 END) AS graded
  FROM results
  GROUP BY task
), scaled AS (
  SELECT model, task, item, graded,
         CASE WHEN graded = 0 THEN correct ELSE coalesce((score - least) / (most - least), correct) END AS share
  FROM results JOIN kinds USING (task)
  WHERE correct IS NOT NULL OR (graded = 1 AND score IS NOT NULL AND error IS NULL)
), kept AS (
  SELECT model, task, item, graded,
         CASE WHEN share BETWEEN 0 AND 1 THEN share ELSE 0 END AS share,
         CASE WHEN share BETWEEN 0 AND 1 THEN 0 ELSE 1 END     AS outside
  FROM scaled
)
SELECT model, task, item, graded, outside, share,
       floor(share * 2147483648)                                               AS units,
       floor((share * 2147483648 - floor(share * 2147483648)) * 2147483648)    AS rest
FROM kept;

CREATE VIEW asked AS
SELECT model, task, item, graded,
       max(outside) AS outside,
       count(*)     AS n,
       CASE WHEN count(*) = 1 THEN max(share)
            ELSE sum(units) / 2147483648.0 + sum(rest) / 4611686018427387904.0 END AS total
FROM shares
GROUP BY model, task, item, graded;

-- The warehouse's collation decides which model of a pair comes first; finish.sql sorts
-- them in SQLite's order.
CREATE VIEW met AS
WITH once AS ( -- read twice, so that it is made once
  SELECT * FROM asked
)
SELECT a.model AS model_a,
       b.model AS model_b,
       task, item, a.graded,
       CASE WHEN a.outside = 1 OR b.outside = 1 THEN 1 ELSE 0 END AS outside,
       a.total AS total_a, a.n AS n_a,
       b.total AS total_b, b.n AS n_b
FROM once AS a
JOIN once AS b USING (item, task)
WHERE a.model < b.model;
