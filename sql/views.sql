-- The views over results (see schema.sql), all of them in plain SQL:
--
--   sqlite3 evals.db '.load build/evalci' '.read sql/views.sql' 'SELECT * FROM leaderboard'
--
--   leaderboard   one row a model, the best first
--   compare       one row a pair of models, on the questions that both answered
--   by_task       one row a model and task
--   common        one row a model, on the questions that every model answered
--   passes        one row a model, task and k: one of k attempts right, and all k
--
-- and what those are made of: kinds, words, questions, standings, verdicts, tallies.
--
-- Whether a task is graded is decided in kinds, and whether a question was asked
-- again in words; every view, the report and Datasette follow these.  A share is
-- always from 0 to 1: a graded score as its part of the task's range.  A score
-- outside that range leaves no accuracy and no interval of its task, its model and
-- its pairs, and their method says 'score out of range'.
--
-- Intervals are at 95%.  err_lo and err_hi are how far they reach below and above
-- the point, never less than 0, for tools that draw error bars.

-- kinds: one row a task.
--
--   graded               1 if some answer to it, of any model, has a score only, or if
--                        a range was declared
--   score_lo, score_hi   the range of its scores: as declared, or 0 and 1
DROP VIEW IF EXISTS kinds;
CREATE VIEW kinds AS
WITH named AS (
  -- A table may lack the columns that the other side of the join has: a NULL equals
  -- nothing, so each comes from the table where the table has it.
  SELECT task,
         max(score_lo IS NOT NULL OR (correct IS NULL AND score IS NOT NULL AND error IS NULL)) AS graded,
         min(score_lo) AS score_lo, max(score_hi) AS score_hi
  FROM results NATURAL LEFT JOIN (SELECT NULL AS score, NULL AS error, NULL AS score_lo, NULL AS score_hi)
  GROUP BY task
)
SELECT coalesce(task, '') AS task, max(graded) AS graded,
       coalesce(min(score_lo), 0.0) AS score_lo, coalesce(max(score_hi), 1.0) AS score_hi
FROM named GROUP BY 1;

-- words: a model's answers to up to 40 questions of a task, a bit for each, so that
-- two models are compared 40 questions at a time.
--
--   word         which 40: questions are numbered within their task, as texts, since
--                one import may write 7, another '7' and a third 7.0
--   asked, n     rows, and answers known among them
--   correct      right answers
--   known_bits   bit i is set where question i has a known answer
--   right_bits   and where it is right
--   graded       of its task, from kinds
--   again        1 if some question has more than one known answer.  Then the bits
--                say nothing
DROP VIEW IF EXISTS words;
CREATE VIEW words AS
WITH numbered AS (
  -- Questions alone, of which there are fewer than answers, and which the canonical
  -- table's key has in order.
  SELECT task, item, coalesce(task, '') AS name,
         dense_rank() OVER (PARTITION BY coalesce(task, '') ORDER BY CAST(CASE WHEN item = CAST(item AS INTEGER) AND typeof(item) = 'real'
                                                                               THEN CAST(item AS INTEGER) ELSE item END AS TEXT)) - 1 AS question
  FROM (SELECT DISTINCT task, item FROM results)
), answered AS (
  SELECT model, name AS task, question, correct, correct IS NOT NULL OR (score IS NOT NULL AND error IS NULL) AS known
  FROM numbered AS q JOIN (SELECT * FROM results NATURAL LEFT JOIN (SELECT NULL AS score, NULL AS error)) AS r
       ON r.task IS q.task AND r.item IS q.item
), summed AS (
  SELECT model, task, question / 40 AS word, count(*) AS asked, sum(known) AS n, sum(correct) AS correct,
         sum(known << question % 40) AS known_bits,
         sum(coalesce(correct, 0) << question % 40) AS right_bits
  FROM answered GROUP BY task, word, model
  HAVING bayes_ci(correct) FILTER (WHERE correct <> 0 AND correct <> 1 AND correct NOT IN ('0', '1')) IS NULL -- or bayes_ci's error
), twos AS (
  -- How many bits are set: sums of neighbours, two, four and eight bits wide, and the
  -- sum of bytes is the remainder by 255.  A sum of powers of 2 has as many bits as
  -- powers if they all differ, and fewer if one came twice.
  SELECT *, known_bits - ((known_bits >> 1) & 0x5555555555) AS two FROM summed
), fours AS (
  SELECT *, (two & 0x3333333333) + ((two >> 2) & 0x3333333333) AS four FROM twos
)
SELECT model, task, word, asked, n, correct, known_bits, right_bits, graded,
       n > ((four + (four >> 4)) & 0x0f0f0f0f0f) % 255 AS again
FROM fours JOIN kinds USING (task);

-- questions: one row a model and question.
--
--   n, total      answers known, and the sum of their shares
--   units, rest   that sum in whole numbers of 2^-31 and of 2^-62, which add up to the
--                 same in whatever order, by whatever SQLite and in a warehouse (see
--                 pushdown)
--   outside       1 if a score is outside its task's range, or is no number
DROP VIEW IF EXISTS questions;
CREATE VIEW questions AS
WITH scaled AS (
  SELECT model, k.task, graded,
         CAST(CASE WHEN item = CAST(item AS INTEGER) AND typeof(item) = 'real' THEN CAST(item AS INTEGER) ELSE item END AS TEXT) AS item,
         CASE WHEN NOT graded THEN correct + 0
              WHEN correct IS NOT NULL OR error IS NULL
              THEN coalesce((score - k.score_lo) / (k.score_hi - k.score_lo), correct + 0) END AS share,
         graded AND typeof(score) = 'text' AS text,
         CASE WHEN NOT graded AND correct NOT IN (0, 1, '0', '1') THEN correct END AS invalid
  FROM (SELECT * FROM results NATURAL LEFT JOIN (SELECT NULL AS score, NULL AS error)) AS r
  JOIN kinds AS k ON k.task = coalesce(r.task, '')
), whole AS (
  SELECT *, CASE WHEN share BETWEEN 0 AND 1 THEN CAST(share * 0x80000000 AS INTEGER) END AS units FROM scaled
), parted AS (
  SELECT *, CAST((share * 0x80000000 - units) * 0x80000000 AS INTEGER) AS rest FROM whole
)
SELECT model, task, item, graded, count(share) AS n,
       CASE WHEN count(share) = 1 THEN 1.0 * max(share) ELSE sum(units) / 2147483648.0 + sum(rest) / 4611686018427387904.0 END AS total,
       sum(units) AS units, sum(rest) AS rest,
       coalesce(max(share NOT BETWEEN 0 AND 1 OR text), 0) AS outside
FROM parted GROUP BY task, item, model
HAVING bayes_ci(invalid) IS NULL; -- or bayes_ci's error

-- standings: three kinds of rows in one view, so that words is read once for all:
-- every pair of models (row is 'pair'), every model and task ('task'), and, if all
-- answers are right or wrong and asked once, every model on the questions that all
-- answered ('common').  verdicts, tallies and common show them apart.
DROP VIEW IF EXISTS standings;
CREATE VIEW standings AS
WITH RECURSIVE worded AS MATERIALIZED (
  SELECT *, max((graded AND n > 0) OR again) OVER (PARTITION BY model) AS by_row FROM words
), everyone(task, word, bits, rest) AS (
  -- What all models answered, from a list of their bits, one of which is taken at a time.
  SELECT task, word, 0xffffffffff, group_concat(known_bits, ',') || ',' FROM worded WHERE n > 0
  GROUP BY task, word HAVING count(*) = (SELECT count(*) FROM (SELECT DISTINCT model FROM worded WHERE n > 0))
  UNION ALL
  SELECT task, word, bits & CAST(rest AS INTEGER), substr(rest, instr(rest, ',') + 1) FROM everyone WHERE rest <> ''
), counted AS MATERIALIZED (
  -- Pairs of models whose answers are all of them bits; and, as a pair without a second,
  -- what every model answered.  LIMIT keeps SQLite from working out a subquery's column
  -- again wherever it is used.
  SELECT model_a, model_b, 0 AS outside, 1 AS once, NULL AS mean_a, NULL AS mean_b, NULL AS ci, NULL AS prob,
         sum(((n + (n >> 3)) & 0x071c71c71c7) % 63) AS n, sum(((both + (both >> 3)) & 0x071c71c71c7) % 63) AS both,
         sum(((right_a + (right_a >> 3)) & 0x071c71c71c7) % 63) AS right_a,
         sum(((right_b + (right_b >> 3)) & 0x071c71c71c7) % 63) AS right_b
  FROM (
    SELECT model_a, model_b,
           n - ((n >> 1) & 0x1b6db6db6db) - ((n >> 2) & 0x09249249249) AS n,
           both - ((both >> 1) & 0x1b6db6db6db) - ((both >> 2) & 0x09249249249) AS both,
           right_a - ((right_a >> 1) & 0x1b6db6db6db) - ((right_a >> 2) & 0x09249249249) AS right_a,
           right_b - ((right_b >> 1) & 0x1b6db6db6db) - ((right_b >> 2) & 0x09249249249) AS right_b
    FROM (
      SELECT a.model AS model_a, b.model AS model_b,
             a.known_bits & b.known_bits AS n, a.right_bits & b.right_bits AS both,
             a.right_bits & b.known_bits AS right_a, a.known_bits & b.right_bits AS right_b
      FROM worded AS a JOIN worded AS b USING (task, word)
      WHERE a.model < b.model AND a.n > 0 AND b.n > 0 AND NOT a.by_row AND NOT b.by_row
      UNION ALL
      SELECT model, NULL, bits, 0, bits & right_bits, 0 FROM everyone JOIN worded USING (task, word) WHERE rest = '' AND worded.n > 0
      LIMIT -1
    )
    LIMIT -1
  )
  GROUP BY model_a, model_b HAVING n > 0
), asked AS MATERIALIZED (
  -- The questions one by one, if some model's are not bits; units and rest are of the mean.
  SELECT *, CAST((mean * 0x80000000 - units) * 0x80000000 AS INTEGER) AS rest
  FROM (SELECT model, task, item, total / n AS mean, graded OR n > 1 AS scored, outside,
               CASE WHEN NOT outside THEN CAST(total / n * 0x80000000 AS INTEGER) END AS units,
               model IN (SELECT model FROM worded WHERE by_row) AS by_row
        FROM (SELECT 1 FROM worded WHERE by_row LIMIT 1) CROSS JOIN questions WHERE n > 0)
), scored AS (
  SELECT a.model AS model_a, b.model AS model_b,
         max(a.outside OR b.outside) AS outside, NOT max(a.scored OR b.scored) AS once,
         (sum(a.units) / 2147483648.0 + sum(a.rest) / 4611686018427387904.0) / count(*) AS mean_a,
         (sum(b.units) / 2147483648.0 + sum(b.rest) / 4611686018427387904.0) / count(*) AS mean_b,
         paired_mean_diff_ci(a.mean, b.mean) FILTER (WHERE NOT a.outside AND NOT b.outside) AS ci,
         paired_mean_prob_better(a.mean, b.mean) FILTER (WHERE NOT a.outside AND NOT b.outside) AS prob,
         count(*) AS n, sum(a.mean = 1 AND b.mean = 1) AS both, sum(a.mean = 1) AS right_a, sum(b.mean = 1) AS right_b
  FROM asked AS a JOIN asked AS b USING (task, item)
  WHERE a.model < b.model AND (a.by_row OR b.by_row)
  GROUP BY a.model, b.model
), tested AS (
  SELECT model_a, model_b, n,
         CASE WHEN once THEN both END AS both, CASE WHEN once THEN right_a - both END AS only_a,
         CASE WHEN once THEN right_b - both END AS only_b, CASE WHEN once THEN n - right_a - right_b + both END AS neither,
         CASE WHEN once THEN 1.0 * right_a / n WHEN NOT outside THEN mean_a END AS mean_a,
         CASE WHEN once THEN 1.0 * right_b / n WHEN NOT outside THEN mean_b END AS mean_b,
         CASE WHEN outside THEN 'score out of range' WHEN once THEN 'paired' ELSE 'paired means' END AS method,
         CASE WHEN NOT once AND NOT outside THEN ci END AS means_ci, CASE WHEN NOT once AND NOT outside THEN prob END AS means_prob,
         CASE WHEN once THEN mcnemar_p_counts(right_a - both, right_b - both)
              WHEN NOT outside THEN 2 * min(prob, 1 - prob) END AS p
  FROM (SELECT * FROM counted WHERE model_b IS NOT NULL UNION ALL SELECT * FROM scored)
), shared AS MATERIALIZED (
  SELECT CASE WHEN (SELECT max(again) FROM worded)
              THEN (SELECT count(*) FROM (SELECT 1 FROM asked GROUP BY task, item HAVING count(*) = (SELECT count(*) FROM (SELECT DISTINCT model FROM worded WHERE n > 0))))
              ELSE coalesce((SELECT max(n) FROM counted WHERE model_b IS NULL), 0) END AS common
), stepped AS (
  SELECT *, p * (1 + count(p) OVER () - row_number() OVER (ORDER BY p IS NULL, p)) AS step FROM tested
), held AS (
  SELECT *, CASE WHEN p IS NOT NULL THEN min(1, max(step) OVER (ORDER BY p IS NULL, p)) END AS p_all FROM stepped
), tasked AS (
  SELECT model, task, max(graded) AS graded, max(again) AS again,
         sum(n) AS n, coalesce(sum(correct), 0) AS correct, sum(asked) - sum(n) AS errored
  FROM worded GROUP BY model, task
)
SELECT 'pair' AS row, model_a, model_b, n, both, only_a, only_b, neither, mean_a, mean_b, mean_a - mean_b AS diff,
       method, means_ci, means_prob, p, p_all,
       CASE WHEN p_all IS NULL THEN NULL WHEN p_all > 0.05 THEN 'not separated'
            WHEN mean_a > mean_b THEN 'A better' ELSE 'B better' END AS verdict_all,
       common, NULL AS task, NULL AS graded, NULL AS again, NULL AS correct, NULL AS errored
FROM held, shared
UNION ALL
SELECT 'task', model, NULL, n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       task, graded, again, correct, errored
FROM tasked
UNION ALL
SELECT 'common', model_a, NULL, n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, 0, 0, right_a, NULL
FROM counted WHERE model_b IS NULL AND NOT EXISTS (SELECT 1 FROM worded WHERE by_row);

-- verdicts: one row a pair of models, the first in the alphabet as A, held to all
-- pairs at once.  compare shows them with their intervals.
--
--   n                               questions both answered
--   both, only_a, only_b, neither   of which right by both, by one, by none; NULL
--                                   unless the method is 'paired'
--   mean_a, mean_b, diff            accuracy of A, of B, and A minus B, on these:
--                                   each question counts alike
--   method                          'paired' where each was asked once and is right or
--                                   wrong, else 'paired means', of each question's
--                                   mean over all attempts
--   means_ci, means_prob            of 'paired means': paired_mean_diff_ci and
--                                   paired_mean_prob_better
--   p                               'paired': mcnemar_p; 'paired means': the posterior
--                                   tail 2 min(P, 1 - P)
--   p_all                           p held to all pairs by Holm's method: with 30 equal
--                                   models, some pair falls below 0.05 in at most one
--                                   eval of 20
--   verdict_all                     'A better' or 'B better' where p_all is at most
--                                   0.05, else 'not separated'
--   common                          questions that all models answered, the same on
--                                   each row
DROP VIEW IF EXISTS verdicts;
CREATE VIEW verdicts AS
SELECT model_a, model_b, n, both, only_a, only_b, neither, mean_a, mean_b, diff, method, means_ci, means_prob, p, p_all, verdict_all, common
FROM standings WHERE row = 'pair';

-- tallies: one row a model and task, of what can be counted without looking at
-- scores.  correct is the number of right answers, and means nothing where graded.
DROP VIEW IF EXISTS tallies;
CREATE VIEW tallies AS
SELECT model_a AS model, task, graded, again, n, correct, errored FROM standings WHERE row = 'task';

-- by_task: one row a model and task.
--
--   n, correct, errored   answers known, right ones (NULL where graded), and not known
--   accuracy              the share of right answers; where graded, the mean share
--   ci, lo, hi            its credible interval; as text, and as numbers
--   method                how, by questions asked once and by questions asked again:
--                         'bayes' (bayes_ci) and 'clustered by item' (clustered_ci),
--                         since a second attempt at a question is worth less than
--                         another question; where graded 'mean' (mean_ci) and 'mean,
--                         clustered by item' (clustered_mean_ci)
--   questions             different ones
--   bar                   ci, drawn from 0 to 1
--   mean                  as accuracy, in the task's own units
--   score_lo, score_hi    their range; NULL where answers are right or wrong
DROP VIEW IF EXISTS by_task;
CREATE VIEW by_task AS
WITH tallied AS MATERIALIZED (
  SELECT * FROM tallies
), scored AS (
  SELECT t.model, t.task, count(*) AS questions, max(q.outside) AS outside,
         (sum(q.units) / 2147483648.0 + sum(q.rest) / 4611686018427387904.0) / sum(q.n) AS accuracy,
         CASE WHEN max(q.outside) THEN NULL
              WHEN NOT t.graded THEN clustered_ci_counts(q.total, q.n, 0.95, 'icc') FILTER (WHERE NOT q.graded)
              WHEN NOT t.again  THEN mean_ci(q.total) FILTER (WHERE q.graded AND NOT t.again AND NOT q.outside)
              ELSE clustered_mean_ci_counts(q.total, q.n) FILTER (WHERE q.graded AND t.again AND NOT q.outside) END AS ci
  FROM (SELECT * FROM tallied WHERE graded OR again) AS t
  CROSS JOIN questions AS q ON q.model IS t.model AND q.task = t.task AND q.n > 0
  GROUP BY t.model, t.task
), counted AS (
  SELECT t.model, t.task, t.n, t.errored, t.graded,
         CASE WHEN NOT t.graded AND t.n > 0 THEN t.correct END AS correct,
         CASE WHEN outside THEN NULL WHEN t.graded THEN s.accuracy ELSE 1.0 * t.correct / t.n END AS accuracy,
         CASE WHEN t.graded OR t.again THEN s.ci ELSE bayes_ci_counts(t.correct, t.n) END AS ci,
         CASE WHEN t.n = 0 THEN NULL
              WHEN outside THEN 'score out of range'
              ELSE CASE WHEN t.graded AND t.again THEN 'mean, clustered by item'
                        WHEN t.graded THEN 'mean' WHEN t.again THEN 'clustered by item' ELSE 'bayes' END END AS method,
         coalesce(s.questions, t.n) AS questions
  FROM tallied AS t LEFT JOIN scored AS s ON s.model IS t.model AND s.task = t.task
)
SELECT model, task, n, correct, errored, accuracy, ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi, method, questions,
       max(0, accuracy - ci_lo(ci)) AS err_lo, max(0, ci_hi(ci) - accuracy) AS err_hi, ci_bar(ci, accuracy) AS bar,
       CASE WHEN c.graded THEN score_lo + accuracy * (score_hi - score_lo) ELSE accuracy END AS mean,
       CASE WHEN c.graded THEN score_lo END AS score_lo, CASE WHEN c.graded THEN score_hi END AS score_hi
FROM counted AS c JOIN kinds USING (task)
ORDER BY task, accuracy DESC, model;

-- compare: one row a pair of models, the first in the alphabet as A.
--
--   n, both, only_a, only_b, neither, diff, p, p_all, verdict_all, method,
--   mean_a, mean_b    as in verdicts
--   ci, lo, hi        the credible interval of diff; as text, and as numbers
--   prob_a_better     how sure that A is better
--   verdict           'A better' or 'B better' when the interval leaves 0 out, else
--                     'not separated': of this pair alone.  Among many pairs some
--                     come out so by chance, and verdict_all allows for that
DROP VIEW IF EXISTS compare;
CREATE VIEW compare AS
WITH paired AS MATERIALIZED (
  SELECT *,
         coalesce(means_ci, paired_diff_ci_counts(both, only_a, only_b, neither))       AS ci,
         coalesce(means_prob, paired_prob_better_counts(both, only_a, only_b, neither)) AS prob_a_better
  FROM verdicts
)
SELECT model_a, model_b, n, both, only_a, only_b, neither, diff,
       ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi, prob_a_better,
       CASE WHEN ci IS NULL THEN NULL
            WHEN ci_lo(ci) > 0 THEN 'A better'
            WHEN ci_hi(ci) < 0 THEN 'B better'
            ELSE 'not separated' END AS verdict,
       p, p_all, verdict_all, method, mean_a, mean_b,
       max(0, diff - ci_lo(ci)) AS err_lo, max(0, ci_hi(ci) - diff) AS err_hi
FROM paired
ORDER BY model_a, model_b;

-- leaderboard: one row a model, the best first.
--
--   n, correct, errored, accuracy, ci, lo, hi, method, bar, questions
--                              as in by_task, over all tasks.  Models may have
--                              answered different questions: see common
--   tasks                      how many
--   task_ci, task_lo, task_hi  the interval clustered by task: how the model would do
--                              on other tasks like these.  NULL below 5 tasks, of
--                              which nobody can say what others are like
--   common                     how many questions all models answered
--   rank_lo, rank_hi           the ranks that the pairs leave open: 1 and the models
--                              that beat it, and all but the models that it beats,
--                              by verdict_all.  Models that share a rank are tied
--   p_best                     how sure that it is the best of all, by ranks_counts:
--                              each model on its own answers.  Where these are
--                              graded or repeated, of as many right and wrong answers
--                              as have an interval like its own
--   macro, macro_ci, macro_lo, macro_hi
--                              the mean of these tasks' accuracies, each task counting
--                              alike, and its interval: macro_ci, or where graded or
--                              repeated weighted_mean_ci over questions.  NULL with
--                              one task
DROP VIEW IF EXISTS leaderboard;
DROP VIEW IF EXISTS macros; -- which leaderboard once read
CREATE VIEW leaderboard AS
WITH stood AS MATERIALIZED (
  SELECT row, model_a, model_b, n, verdict_all, common, task, graded, again, correct, errored FROM standings
), tallied AS MATERIALIZED (
  SELECT model_a AS model, task, graded, again, n, correct, errored,
         max((graded AND n > 0) OR again) OVER (PARTITION BY model_a) AS by_row
  FROM stood WHERE row = 'task'
), totals AS (
  SELECT model, max(by_row) AS by_row, max(graded AND n > 0) AS graded, max(again) AS again,
         sum(n) AS n, sum(correct) AS correct, sum(errored) AS errored, sum(n > 0) AS tasks,
         clustered_ci_counts(correct, n, 0.95, 'icc') FILTER (WHERE n > 0 AND NOT by_row) AS task_ci,
         round(avg(1.0 * correct / n), 12) AS macro -- avg's last digits depend on SQLite's version
  FROM tallied GROUP BY model
), macros AS (
  -- The dearest number there is: the report, which computes it for the models that it
  -- shows, takes it out of here.
  SELECT model, macro_ci_counts(correct, n, 0.95, 'icc') AS macro_ci
  FROM tallied WHERE n > 0 AND NOT by_row GROUP BY model HAVING count(*) > 1
), asked AS MATERIALIZED (
  SELECT q.model, task, q.graded, n, total, units, rest, outside, count(*) OVER (PARTITION BY q.model, task ORDER BY total ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS size,
         m.graded AS by_mean, m.again
  FROM (SELECT model, max(graded AND n > 0) AS graded, max(again) AS again FROM tallied WHERE by_row GROUP BY model) AS m
  CROSS JOIN questions AS q ON q.model IS m.model WHERE n > 0
), tasked AS (
  SELECT model, max(outside) AS outside, sum(questions) AS questions, round(avg(total / n), 12) AS macro,
         (sum(units) / 2147483648.0 + sum(rest) / 4611686018427387904.0) / sum(n) AS accuracy,
         clustered_ci_counts(total, n, 0.95, 'icc') FILTER (WHERE NOT by_mean) AS by_task,
         clustered_mean_ci_counts(total, n) FILTER (WHERE by_mean AND NOT outside) AS by_graded_task
  FROM (SELECT model, task, max(outside) AS outside, max(by_mean) AS by_mean, count(*) AS questions, sum(n) AS n,
               sum(units) AS units, sum(rest) AS rest, sum(units) / 2147483648.0 + sum(rest) / 4611686018427387904.0 AS total
        FROM asked GROUP BY model, task)
  GROUP BY model
), scored AS (
  SELECT model,
         clustered_ci_counts(total, n, 0.95, 'icc') FILTER (WHERE NOT by_mean) AS by_item,
         mean_ci(total) FILTER (WHERE by_mean AND NOT again AND NOT outside) AS mean_once,
         clustered_mean_ci_counts(total, n) FILTER (WHERE by_mean AND again AND NOT outside) AS mean_by_item,
         weighted_mean_ci(total / n, 1.0 / size) FILTER (WHERE NOT outside) AS macro_ci
  FROM asked GROUP BY model
), joined AS MATERIALIZED (
  SELECT t.model, t.n, t.errored, t.tasks, t.by_row, coalesce(k.questions, t.n) AS questions,
         CASE WHEN t.n > 0 AND NOT t.graded THEN t.correct END AS correct,
         CASE WHEN k.outside THEN NULL WHEN t.graded THEN k.accuracy ELSE 1.0 * t.correct / t.n END AS accuracy,
         CASE WHEN k.outside THEN NULL WHEN NOT t.by_row THEN bayes_ci_counts(t.correct, t.n)
              WHEN NOT t.graded THEN s.by_item WHEN t.again THEN s.mean_by_item ELSE s.mean_once END AS ci,
         CASE WHEN t.n = 0 THEN NULL WHEN k.outside THEN 'score out of range'
              WHEN t.graded AND t.again THEN 'mean, clustered by item' WHEN t.graded THEN 'mean'
              WHEN t.again THEN 'clustered by item' ELSE 'bayes' END AS method,
         CASE WHEN k.outside OR t.tasks < 5 THEN NULL WHEN NOT t.by_row THEN t.task_ci
              WHEN t.graded THEN k.by_graded_task ELSE k.by_task END AS task_ci,
         CASE WHEN k.outside OR t.tasks < 2 THEN NULL WHEN t.graded THEN k.macro ELSE t.macro END AS macro,
         CASE WHEN k.outside OR t.tasks < 2 THEN NULL WHEN t.by_row THEN s.macro_ci ELSE m.macro_ci END AS macro_ci
  FROM totals AS t LEFT JOIN tasked AS k ON k.model IS t.model LEFT JOIN scored AS s ON s.model IS t.model
  LEFT JOIN macros AS m ON m.model IS t.model
), alike AS MATERIALIZED (
  -- A Beta posterior with the middle m and the standard deviation s of an interval
  -- has m (1 - m) / s^2 - 1 answers, two of them the uniform prior's.
  SELECT row_number() OVER (ORDER BY model) AS number, model, correct, n, by_row, (ci_lo(ci) + ci_hi(ci)) / 2 AS m,
         CAST(max(1, round(3.92 * 3.92 * (ci_lo(ci) + ci_hi(ci)) / 2 * (1 - (ci_lo(ci) + ci_hi(ci)) / 2) / ci_width(ci) / ci_width(ci) - 3)) AS INTEGER) AS size
  FROM joined WHERE ci IS NOT NULL
), best AS (
  SELECT alike.model, json_extract(value, '$.p_best') AS p_best
  FROM json_each((SELECT ranks_counts(number, CASE WHEN by_row THEN max(0, min(size, CAST(round(m * (size + 2) - 1) AS INTEGER))) ELSE correct END,
                                      CASE WHEN by_row THEN size ELSE n END)
                  FROM alike WHERE (SELECT count(*) FROM alike) <= 1000))
  JOIN alike ON alike.number = CAST(json_extract(value, '$.label') AS INTEGER)
), paired AS MATERIALIZED (
  SELECT CASE verdict_all WHEN 'A better' THEN model_a WHEN 'B better' THEN model_b END AS winner,
         CASE verdict_all WHEN 'A better' THEN model_b WHEN 'B better' THEN model_a END AS loser, common
  FROM stood WHERE row = 'pair'
), shared AS MATERIALIZED (
  SELECT CASE WHEN sum(n > 0) = 1 THEN sum(questions) ELSE coalesce((SELECT max(common) FROM paired), 0) END AS common,
         count(ci) AS models
  FROM joined
)
SELECT j.model, n, correct, errored, accuracy, ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi, method, tasks,
       task_ci, ci_lo(task_ci) AS task_lo, ci_hi(task_ci) AS task_hi, ci_bar(ci, accuracy) AS bar, questions, common,
       max(0, accuracy - ci_lo(ci)) AS err_lo, max(0, ci_hi(ci) - accuracy) AS err_hi,
       CASE WHEN ci IS NOT NULL THEN 1 + (SELECT count(*) FROM paired WHERE loser = j.model) END AS rank_lo,
       CASE WHEN ci IS NOT NULL THEN models - (SELECT count(*) FROM paired WHERE winner = j.model) END AS rank_hi,
       p_best, macro, macro_ci, ci_lo(macro_ci) AS macro_lo, ci_hi(macro_ci) AS macro_hi
FROM joined AS j, shared LEFT JOIN best ON best.model IS j.model
ORDER BY accuracy DESC, j.model;

-- common: one row a model, on the questions that every model answered; a model
-- without an answer is none of them.
--
--   n, correct, accuracy, ci, lo, hi, method, questions, err_lo, err_hi, bar
--                      as in leaderboard, on these
--   rank               1 and the models that are more accurate on these
--   rank_lo, rank_hi   as in leaderboard: from pairs, each on all that both answered
DROP VIEW IF EXISTS common;
CREATE VIEW common AS
WITH stood AS MATERIALIZED (
  SELECT row, model_a, n, correct, graded, again FROM standings WHERE row <> 'pair'
), asked AS MATERIALIZED (
  -- The questions one by one, if they are not all right or wrong and asked once.
  SELECT model, task, item, q.graded, q.n, total, units, rest, outside
  FROM (SELECT 1 FROM stood WHERE (graded AND n > 0) OR again LIMIT 1) CROSS JOIN questions AS q WHERE q.n > 0
), shared AS MATERIALIZED (
  SELECT asked.*
  FROM (SELECT task, item FROM asked GROUP BY task, item HAVING count(*) = (SELECT count(*) FROM (SELECT DISTINCT model FROM asked)))
  JOIN asked USING (task, item)
), summed AS MATERIALIZED (
  SELECT model, sum(n) AS n, count(*) AS questions, sum(units) / 2147483648.0 + sum(rest) / 4611686018427387904.0 AS total,
         max(outside) AS outside, max(graded) AS graded, max(n > 1) AS again
  FROM shared GROUP BY model
), scored AS (
  SELECT s.*,
         clustered_ci_counts(a.total, a.n, 0.95, 'icc') FILTER (WHERE s.again AND NOT s.graded) AS by_item,
         mean_ci(a.total) FILTER (WHERE s.graded AND NOT s.again AND NOT a.outside) AS mean_once,
         clustered_mean_ci_counts(a.total, a.n) FILTER (WHERE s.graded AND s.again AND NOT a.outside) AS mean_by_item
  FROM summed AS s JOIN shared AS a ON a.model IS s.model GROUP BY s.model
  UNION ALL
  SELECT model_a, n, n, correct, 0, 0, 0, NULL, NULL, NULL FROM stood WHERE row = 'common'
), joined AS MATERIALIZED (
  SELECT model, n, questions,
         CASE WHEN NOT graded THEN CAST(total AS INTEGER) END AS correct,
         CASE WHEN NOT outside THEN 1.0 * total / n END AS accuracy,
         CASE WHEN outside THEN NULL WHEN NOT graded AND NOT again THEN bayes_ci_counts(total, n)
              WHEN NOT graded THEN by_item WHEN again THEN mean_by_item ELSE mean_once END AS ci,
         CASE WHEN outside THEN 'score out of range' WHEN graded AND again THEN 'mean, clustered by item'
              WHEN graded THEN 'mean' WHEN again THEN 'clustered by item' ELSE 'bayes' END AS method
  FROM scored
)
SELECT j.model, j.n, j.correct, j.accuracy, j.ci, ci_lo(j.ci) AS lo, ci_hi(j.ci) AS hi, j.method, j.questions,
       max(0, j.accuracy - ci_lo(j.ci)) AS err_lo, max(0, ci_hi(j.ci) - j.accuracy) AS err_hi, ci_bar(j.ci, j.accuracy) AS bar,
       rank() OVER (ORDER BY j.accuracy DESC) AS rank, rank_lo, rank_hi
FROM joined AS j LEFT JOIN leaderboard AS l ON l.model IS j.model
ORDER BY rank, j.model;

-- passes: one row a model, task and k, where some question was asked again and
-- answers are right or wrong.  k is 1, 2, 4 and so on, and the most attempts there are.
--
--   questions                           those with at least k known answers, of which:
--   pass_at_k, at_ci, at_lo, at_hi      the chance that one of k attempts is right, and
--                                       its interval for a new question like these
--   pass_hat_k, hat_ci, hat_lo, hat_hi  the chance that all k are
DROP VIEW IF EXISTS passes;
CREATE VIEW passes AS
WITH RECURSIVE asked AS MATERIALIZED (
  SELECT model, task, n, CAST(total AS INTEGER) AS c FROM questions WHERE n > 0 AND NOT graded
), tried AS (
  SELECT model, task, max(n) AS most FROM asked GROUP BY model, task HAVING most > 1
), doubled(model, task, k, most) AS (
  SELECT model, task, 1, most FROM tried
  UNION ALL
  SELECT model, task, min(2 * k, most), most FROM doubled WHERE k < most
), passed AS (
  SELECT d.model, d.task, d.k, count(*) AS questions,
         avg(pass_at_k(c, n, k)) AS pass_at_k, pass_at_k_ci_counts(c, n, k, 0.95, 'icc') AS at_ci,
         avg(pass_hat_k(c, n, k)) AS pass_hat_k, pass_hat_k_ci_counts(c, n, k, 0.95, 'icc') AS hat_ci
  FROM doubled AS d JOIN asked AS a ON a.model IS d.model AND a.task = d.task AND a.n >= d.k
  GROUP BY d.model, d.task, d.k
)
SELECT model, task, k, questions, pass_at_k, at_ci, ci_lo(at_ci) AS at_lo, ci_hi(at_ci) AS at_hi,
       pass_hat_k, hat_ci, ci_lo(hat_ci) AS hat_lo, ci_hi(hat_ci) AS hat_hi
FROM passed
ORDER BY task, model, k;
