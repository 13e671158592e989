-- A leaderboard in plain SQL, for hosts that cannot load extensions: a view over
-- results (see schema.sql), one row per model, the best first, with the 95% Wilson
-- score interval of its accuracy.
--
--   sqlite3 evals.db '.read sql/wilson.sql' 'SELECT * FROM leaderboard_wilson'
--
--   n, correct, errored   answers known, right ones, and those not known (NULL)
--   invalid               answers that are neither 0 nor 1; if there are any, there
--                         is no accuracy and no interval
--   accuracy              correct / n
--   lo, hi                the interval
--
-- lo and hi equal those of wilson_ci to 1e-15.  Like wilson_ci, they assume
-- independent answers, which attempts at one question are not.  For such attempts,
-- and for comparisons of models, there is no short formula.
--
-- The view needs sqrt(), which SQLite has if it is built with
-- SQLITE_ENABLE_MATH_FUNCTIONS (3.35 of 2021 and later; Debian's is); otherwise
-- SQLite says "no such function".
--
-- The same over any table with a 0/1 column, without a view; z is the normal quantile of
-- (1 + 0.95) / 2 (for 90% 1.6448536269514726, for 99% 2.575829303548901):
--
--   SELECT model, n, k / n AS accuracy,
--          2 * k * (k / n) / (2 * k + z * z + z * sqrt(z * z + 4 * k * ((n - k) / n))) AS lo,
--          1 - 2 * (n - k) * ((n - k) / n) / (2 * (n - k) + z * z + z * sqrt(z * z + 4 * k * ((n - k) / n))) AS hi
--   FROM (SELECT model, count(correct) * 1.0 AS n, sum(correct) * 1.0 AS k, 1.9599639845400543 AS z
--         FROM results GROUP BY model) AS counted
--   WHERE n > 0;
--
-- The textbook form, centre plus or minus half the width, loses digits if the two
-- are nearly equal; this form divides instead.
DROP VIEW IF EXISTS leaderboard_wilson;
CREATE VIEW leaderboard_wilson AS
WITH counted AS (
  SELECT model,
         count(*)               AS asked,
         count(correct) * 1.0   AS n,
         sum(correct NOT IN (0, 1, '0', '1')) AS invalid,
         CASE WHEN sum(correct NOT IN (0, 1, '0', '1')) = 0 THEN sum(correct) * 1.0 END AS k,
         1.9599639845400543     AS z
  FROM results
  GROUP BY model
), rooted AS (
  SELECT *, z * z + z * sqrt(z * z + 4 * k * ((n - k) / n)) AS w FROM counted
)
SELECT model,
       CAST(n AS INTEGER)                                   AS n,
       CAST(k AS INTEGER)                                   AS correct,
       CAST(asked - n AS INTEGER)                           AS errored,
       coalesce(invalid, 0)                                 AS invalid,
       k / n                                                AS accuracy,
       2 * k * (k / n) / (2 * k + w)                        AS lo,
       1 - 2 * (n - k) * ((n - k) / n) / (2 * (n - k) + w)  AS hi
FROM rooted
ORDER BY accuracy DESC, model;
