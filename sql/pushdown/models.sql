-- The counts of each model, for bayes_ci_counts and its like, and in pairs for
-- diff_ci_counts and its like: k right of n known, and how many were not known.
-- Standard SQL, for the warehouse that has the results table of sql/schema.sql:
-- the same text runs on PostgreSQL, DuckDB and SQLite.
--
-- invalid must come out 0: a result other than 0 and 1, which evalci would have
-- refused, cannot be seen in the other counts.
SELECT model,
       count(CASE WHEN correct = 1 THEN 1 END)            AS k,
       count(correct)                                     AS n,
       count(*) - count(correct)                          AS errored,
       count(CASE WHEN correct NOT IN (0, 1) THEN 1 END)  AS invalid
FROM results
GROUP BY model;
