-- How many questions each model got right k times of n, for clustered_ci_counts
-- where questions were asked again.  Clusters as small as a question are as many
-- as the questions; but those with the same k and n are alike, so it is enough
-- to say how many there are.
-- Standard SQL, as models.sql.
SELECT model, k, n, count(*) AS items
FROM (SELECT model,
             count(CASE WHEN correct = 1 THEN 1 END)  AS k,
             count(correct)                           AS n
      FROM results
      GROUP BY model, task, item) AS asked
GROUP BY model, k, n;
