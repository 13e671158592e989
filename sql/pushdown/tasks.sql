-- The counts of each model on each task: answers and right ones, and questions and the sum of their
-- means, in whole numbers of 2^-31 and of 2^-62.  A task is one cluster.
SELECT model, task, graded,
       sum(outside)                                                     AS outside,
       CASE WHEN graded = 0 THEN CAST(sum(total) AS BIGINT) ELSE 0 END  AS k,
       sum(n)                                                           AS n,
       count(*)                                                         AS questions,
       sum(CAST(floor(total / n * 2147483648) AS BIGINT))               AS units,
       sum(CAST(floor((total / n * 2147483648 - floor(total / n * 2147483648)) * 2147483648) AS BIGINT)) AS rest
FROM asked
GROUP BY model, task, graded;
