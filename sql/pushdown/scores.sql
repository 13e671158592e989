-- For each model, the number of times it got each score, for mean_ci_counts and the like.
-- There is one row per different score: two for right and wrong, five for a judge's stars,
-- 101 for hundredths.  If nearly every score is different, send the rows instead.  The CSV
-- must have every digit of a score, as PostgreSQL and DuckDB write them; SQLite's shell
-- writes 15.
SELECT model,
       score,
       count(*) AS n
FROM results
WHERE score IS NOT NULL
GROUP BY model, score;
