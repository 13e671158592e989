-- How often each model got each score, for mean_ci_counts and its like.  Scores are as
-- many as there are different ones: right and wrong are two, a judge's stars five,
-- hundredths 101.  Where nearly every score is another, send the rows.
-- The CSV must have every digit of a score, as
-- PostgreSQL and DuckDB write them; SQLite's shell writes 15.
SELECT model,
       score,
       count(*) AS n
FROM results
WHERE score IS NOT NULL
GROUP BY model, score;
