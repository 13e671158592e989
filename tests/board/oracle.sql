-- Views over results (see schema.sql), in plain SQL, with which the tables of the board are
-- compared:
--
--   sqlite3 evals.db '.load build/evalci' '.read tests/board/oracle.sql' 'SELECT * FROM leaderboard'
--
--   leaderboard   one row per model, the best first
--   compare       one row per pair of models, on the questions that both answered
--   by_task       one row per model and task
--   common        one row per model, on the questions that every model answered
--   passes        one row per model, task and k: one of k attempts right, and all k
--
-- and the views behind them: kinds, numbered, words, marks, questions, standings, verdicts,
-- tallies.
--
-- Whether a task is graded is decided in kinds, and whether a question was asked
-- again in words; every view, the report and Datasette follow these.  A share is
-- always from 0 to 1: a graded score as its part of the task's range.  A score outside that range is
-- an error of the tables; of the views it leaves no accuracy.
--
-- Intervals have the level 95%. err_lo and err_hi are their lengths below and above the point,
-- never negative, for tools that draw error bars.

-- kinds: one row per task.
--
--   graded               1 if some answer, of any model, has a score alone, or if a range
--                        was declared
--   score_lo, score_hi   the range of its scores: as declared, or 0 and 1
--   number               of the task, from 1
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
       coalesce(min(score_lo), 0.0) AS score_lo, coalesce(max(score_hi), 1.0) AS score_hi,
       row_number() OVER (ORDER BY coalesce(task, '')) AS number
FROM named GROUP BY 1;

-- numbered: one row per question, as results has it.
--
--   task, item   as there
--   name, text   the same as texts, since one import may write 7, another '7' and a
--                third 7.0
--   question     its number within its task: the same for the same text
--   word         which 40 questions that is one of
--   id           its number among the questions of all tasks, with gaps: 40 times that of
--                a word and a bit
--   graded, score_lo, score_hi   of its task, from kinds
DROP VIEW IF EXISTS numbered;
CREATE VIEW numbered AS
SELECT q.task, item, name, text, dense_rank() OVER within - 1 AS question, (dense_rank() OVER within - 1) / 40 AS word,
       (number * 40 << 32) + dense_rank() OVER within - 1 AS id, graded, score_lo, score_hi
FROM (
  -- Questions alone, of which there are fewer than answers, and which the canonical
  -- table's key has in order.
  SELECT task, item, coalesce(task, '') AS name,
         CAST(CASE WHEN item = CAST(item AS INTEGER) AND typeof(item) = 'real' THEN CAST(item AS INTEGER) ELSE item END AS TEXT) AS text
  FROM (SELECT DISTINCT task, item FROM results)
) AS q CROSS JOIN kinds AS k ON k.task = name
WINDOW within AS (PARTITION BY name ORDER BY text);

-- words: a model's answers to up to 40 questions of a task, a bit for each, so that
-- two models are compared 40 questions at a time.
--
--   word         which 40
--   asked, n     rows, and answers known among them
--   correct      right answers
--   known_bits   bit i is set where question i has a known answer
--   right_bits   and where it is right
--   graded       of its task, from kinds
--   again        1 if some question has more than one known answer.  Then the bits
--                say nothing
DROP VIEW IF EXISTS words;
CREATE VIEW words AS
WITH answered AS (
  SELECT model, name AS task, word, question, graded, correct, correct IS NOT NULL OR (score IS NOT NULL AND error IS NULL) AS known
  FROM numbered AS q JOIN (SELECT * FROM results NATURAL LEFT JOIN (SELECT NULL AS score, NULL AS error)) AS r
       ON r.task IS q.task AND r.item IS q.item
), summed AS (
  SELECT model, task, word, graded, count(*) AS asked, sum(known) AS n, sum(correct) AS correct,
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
FROM fours;

-- marks: one row per answer.
--
--   share     its part of the task's range, or whether it is right; NULL if unknown
--   text      1 if it is a score that is not a number
--   invalid   a result that is neither right nor wrong, in a task that is not graded
DROP VIEW IF EXISTS marks;
CREATE VIEW marks AS
SELECT model, name AS task, q.text AS item, id, word, graded,
       CASE WHEN NOT graded THEN correct + 0
            WHEN correct IS NOT NULL OR error IS NULL
            THEN coalesce((score - q.score_lo) / (q.score_hi - q.score_lo), correct + 0) END AS share,
       graded AND typeof(score) = 'text' AS text,
       CASE WHEN NOT graded AND correct <> 0 AND correct <> 1 AND correct NOT IN ('0', '1') THEN correct END AS invalid
FROM numbered AS q JOIN (SELECT * FROM results NATURAL LEFT JOIN (SELECT NULL AS score, NULL AS error)) AS r
     ON r.task IS q.task AND r.item IS q.item;

-- questions: one row per model and question.
--
--   n, total      answers known, and the sum of their shares
--   units, rest   that sum in whole numbers of 2^-31 and of 2^-62, which add up to the
--                 same in whatever order, by whatever SQLite and in a warehouse (see
--                 pushdown)
--   outside       1 if a score is outside its task's range, or is no number
DROP VIEW IF EXISTS questions;
CREATE VIEW questions AS
WITH shared AS (
  -- LIMIT keeps SQLite from working out a subquery's column again wherever it is used.
  SELECT * FROM marks LIMIT -1
), whole AS (
  SELECT *, CASE WHEN share BETWEEN 0 AND 1 THEN CAST(share * 0x80000000 AS INTEGER) END AS units FROM shared
), parted AS (
  SELECT *, CAST((share * 0x80000000 - units) * 0x80000000 AS INTEGER) AS rest FROM whole
)
SELECT model, task, item, graded, count(share) AS n,
       CASE WHEN count(share) = 1 THEN 1.0 * max(share) ELSE sum(units) / 2147483648.0 + sum(rest) / 4611686018427387904.0 END AS total,
       sum(units) AS units, sum(rest) AS rest,
       coalesce(min(share) < 0 OR max(share) > 1 OR max(text), 0) AS outside
FROM parted GROUP BY id, model
HAVING bayes_ci(invalid) FILTER (WHERE invalid IS NOT NULL) IS NULL; -- or bayes_ci's error

-- standings: four kinds of rows in one view, so that the answers are read once for
-- all: every pair of models (row is 'pair'), every model and task ('task'); if all
-- answers are right or wrong and asked once, every model on the questions that all
-- answered ('common'), and if not, every model and question ('question').  verdicts,
-- tallies, by_task, leaderboard, common and passes show them apart.
--
-- A word of 40 questions is taken as bits if no answer in it is graded or repeated, of
-- any model, and its questions one by one if not.
DROP VIEW IF EXISTS standings;
CREATE VIEW standings AS
WITH RECURSIVE worded AS MATERIALIZED (
  -- m is a number in the place of the model's name, which SQLite compares and sorts
  -- faster; 0 for no name, which is compared with no other.
  SELECT *, max((graded AND n > 0) OR again) OVER (PARTITION BY task, word) AS by_row,
         CASE WHEN model IS NULL THEN 0 ELSE dense_rank() OVER (ORDER BY model) END AS m
  FROM words
), everyone(task, word, bits, rest) AS (
  -- The questions that all models answered, from a list of the models' bits, read one at a time.
  SELECT task, word, 0xffffffffff, group_concat(known_bits, ',') || ',' FROM worded WHERE n > 0 AND NOT by_row
  GROUP BY task, word HAVING count(*) = (SELECT count(DISTINCT m) FROM worded WHERE n > 0)
  UNION ALL
  SELECT task, word, bits & CAST(rest AS INTEGER), substr(rest, instr(rest, ',') + 1) FROM everyone WHERE rest <> ''
), met AS MATERIALIZED (
  SELECT task, word, bits FROM everyone WHERE rest = ''
), answered AS NOT MATERIALIZED (
  SELECT m, w.model, w.task, w.graded, w.again, id, share, share NOT BETWEEN 0 AND 1 OR text AS outside
  FROM worded AS w CROSS JOIN marks AS s ON s.task = w.task AND s.word = w.word AND s.model IS w.model
  WHERE n > 0 AND by_row AND share IS NOT NULL
), whole AS NOT MATERIALIZED (
  -- LIMIT keeps SQLite from working out a subquery's column again wherever it is used.
  SELECT *, CASE WHEN share BETWEEN 0 AND 1 THEN CAST(share * 0x80000000 AS INTEGER) END AS units FROM (SELECT * FROM answered LIMIT -1)
), parted AS NOT MATERIALIZED (
  SELECT *, CAST((share * 0x80000000 - units) * 0x80000000 AS INTEGER) AS rest FROM whole
), summed AS NOT MATERIALIZED (
  SELECT m, model, task, graded, id, 1 AS n, 1.0 * share AS total, units, rest, outside FROM parted WHERE NOT again
  UNION ALL
  SELECT m, model, task, graded, id, count(*),
         CASE WHEN count(*) = 1 THEN 1.0 * max(share) ELSE sum(units) / 2147483648.0 + sum(rest) / 4611686018427387904.0 END,
         sum(units), sum(rest), max(outside)
  FROM parted WHERE again GROUP BY id, m
), meant AS NOT MATERIALIZED (
  SELECT *, graded OR n > 1 AS scored, CASE WHEN NOT outside THEN total / n END AS mean FROM (SELECT * FROM summed LIMIT -1)
), asked AS MATERIALIZED (
  -- The questions one by one.  units and rest are of total, the others of the mean.
  SELECT *, coalesce(CAST((mean * 0x80000000 - mean_units) * 0x80000000 AS INTEGER), 0) AS mean_rest
  FROM (SELECT *, CAST(mean * 0x80000000 AS INTEGER) AS mean_units FROM meant)
), bits AS MATERIALIZED (
  -- And as bits: words, and in the others the questions that are right or wrong and asked once.
  SELECT m, task, word, known_bits, right_bits FROM worded WHERE n > 0 AND NOT by_row
  UNION ALL
  SELECT m, task, id / 40, sum(1 << id % 40), sum((total = 1) << id % 40) FROM asked WHERE NOT scored GROUP BY m, id / 40
), counted AS MATERIALIZED (
  -- Pairs of models on the questions that are bits; and, as a pair without a second, what
  -- every model answered of these.
  SELECT pair, sum(((n + (n >> 3)) & 0x071c71c71c7) % 63) AS n, sum(((both + (both >> 3)) & 0x071c71c71c7) % 63) AS both,
         sum(((right_a + (right_a >> 3)) & 0x071c71c71c7) % 63) AS right_a,
         sum(((right_b + (right_b >> 3)) & 0x071c71c71c7) % 63) AS right_b
  FROM (
    SELECT pair,
           n - ((n >> 1) & 0x1b6db6db6db) - ((n >> 2) & 0x09249249249) AS n,
           both - ((both >> 1) & 0x1b6db6db6db) - ((both >> 2) & 0x09249249249) AS both,
           right_a - ((right_a >> 1) & 0x1b6db6db6db) - ((right_a >> 2) & 0x09249249249) AS right_a,
           right_b - ((right_b >> 1) & 0x1b6db6db6db) - ((right_b >> 2) & 0x09249249249) AS right_b
    FROM (
      SELECT a.m << 32 | b.m AS pair, a.known_bits & b.known_bits AS n, a.right_bits & b.right_bits AS both,
             a.right_bits & b.known_bits AS right_a, a.known_bits & b.right_bits AS right_b
      FROM bits AS a JOIN bits AS b USING (task, word)
      WHERE a.m < b.m AND a.m > 0 AND a.known_bits & b.known_bits
      UNION ALL
      SELECT m << 32, bits, 0, bits & right_bits, 0 FROM met JOIN worded USING (task, word) WHERE bits AND worded.n > 0
      LIMIT -1
    )
    LIMIT -1
  )
  GROUP BY pair
), scored AS (
  -- Pairs with some question that is graded or was asked again: each such question's
  -- difference, and those of the bits, whose rest is NULL, by how often they came.
  SELECT pair, sum(times) AS n, count(*) > count(diff) AS outside,
         (sum(units_a) / 2147483648.0 + sum(rest_a) / 4611686018427387904.0) / sum(times) AS mean_a,
         (sum(units_b) / 2147483648.0 + sum(rest_b) / 4611686018427387904.0) / sum(times) AS mean_b,
         paired_mean_diff_ci_counts(diff, times) AS ci, paired_mean_prob_better_counts(diff, times) AS prob
  FROM (
    SELECT a.m << 32 | b.m AS pair, a.mean - b.mean AS diff, 1 AS times,
           a.mean_units AS units_a, a.mean_rest AS rest_a, b.mean_units AS units_b, b.mean_rest AS rest_b
    FROM asked AS a JOIN asked AS b USING (id)
    WHERE a.m < b.m AND a.m > 0 AND (a.scored OR b.scored)
    UNION ALL
    SELECT pair, d, CASE d WHEN 1 THEN right_a - both WHEN -1 THEN right_b - both ELSE n - right_a - right_b + 2 * both END,
           CASE d WHEN 1 THEN right_a - both WHEN -1 THEN 0 ELSE both END << 31, NULL,
           CASE d WHEN 1 THEN 0 WHEN -1 THEN right_b - both ELSE both END << 31, NULL
    FROM counted CROSS JOIN (SELECT -1 AS d UNION ALL SELECT 0 UNION ALL SELECT 1)
    WHERE pair & 0xffffffff AND EXISTS (SELECT 1 FROM worded WHERE by_row)
  )
  GROUP BY pair HAVING count(rest_a) > 0
), tested AS (
  -- A pair that is in both is taken from scored.
  SELECT pair, max(kind), n, both, only_a, only_b, neither, mean_a, mean_b, method, means_ci, means_prob, p
  FROM (
    SELECT pair, 1 AS kind, n, both, right_a - both AS only_a, right_b - both AS only_b, n - right_a - right_b + both AS neither,
           1.0 * right_a / n AS mean_a, 1.0 * right_b / n AS mean_b, 'paired' AS method, NULL AS means_ci, NULL AS means_prob,
           CASE WHEN pair & 0xffffffff THEN mcnemar_p_counts(right_a - both, right_b - both) END AS p
    FROM counted
    UNION ALL
    SELECT pair, 2, n, NULL, NULL, NULL, NULL, CASE WHEN NOT outside THEN mean_a END, CASE WHEN NOT outside THEN mean_b END,
           CASE WHEN outside THEN 'score out of range' ELSE 'paired means' END,
           CASE WHEN NOT outside THEN ci END, CASE WHEN NOT outside THEN prob END,
           CASE WHEN NOT outside THEN 2 * min(prob, 1 - prob) END
    FROM scored
  )
  GROUP BY pair
), stepped AS (
  SELECT *, p * (1 + count(p) OVER () - row_number() OVER (ORDER BY p IS NULL, p)) AS step,
         max(CASE WHEN NOT pair & 0xffffffff THEN n ELSE 0 END) OVER () AS common
  FROM tested
), held AS (
  SELECT *, CASE WHEN p IS NOT NULL THEN min(1, max(step) OVER (ORDER BY p IS NULL, p)) END AS p_all FROM stepped
), models AS MATERIALIZED (
  SELECT DISTINCT m, model FROM worded WHERE n > 0
), shared AS MATERIALIZED (
  SELECT id FROM asked GROUP BY id HAVING count(*) = (SELECT count(DISTINCT m) FROM worded WHERE n > 0)
), tasked AS MATERIALIZED (
  -- The values of tasks that the words do not have come from asked.
  SELECT w.m, model, w.task, graded, again, w.n, correct, errored,
         coalesce(bits, 0) + coalesce(questions, 0) AS questions,
         coalesce(rights << 31, 0) + coalesce(units, 0) AS units, coalesce(rest, 0) AS rest, coalesce(outside, 0) AS outside
  FROM (SELECT m, model, task, max(graded) AS graded, max(again) AS again,
               sum(n) AS n, coalesce(sum(correct), 0) AS correct, sum(asked) - sum(n) AS errored,
               sum(n) FILTER (WHERE NOT by_row) AS bits, sum(correct) FILTER (WHERE NOT by_row) AS rights
        FROM worded GROUP BY m, task) AS w
  LEFT JOIN (SELECT m, task, count(*) AS questions, sum(mean_units) AS units, sum(mean_rest) AS rest, max(outside) AS outside
             FROM asked GROUP BY m, task) AS a ON a.m = w.m AND a.task = w.task
)
SELECT 'pair' AS row, a.model AS model_a, b.model AS model_b, n, both, only_a, only_b, neither, mean_a, mean_b, mean_a - mean_b AS diff,
       method, means_ci, means_prob, p, p_all,
       CASE WHEN p_all IS NULL THEN NULL WHEN p_all > 0.05 THEN 'not separated'
            WHEN mean_a > mean_b THEN 'A better' ELSE 'B better' END AS verdict_all,
       common + (SELECT count(*) FROM shared) AS common,
       NULL AS task, NULL AS graded, NULL AS again, NULL AS correct, NULL AS errored,
       NULL AS questions, NULL AS total, NULL AS mean, NULL AS units, NULL AS rest, NULL AS outside
FROM held CROSS JOIN models AS a ON a.m = pair >> 32 CROSS JOIN models AS b ON b.m = pair & 0xffffffff
WHERE pair & 0xffffffff
UNION ALL
SELECT 'task', model, NULL, n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       task, graded, again, correct, errored,
       questions, NULL, (units / 2147483648.0 + rest / 4611686018427387904.0) / questions, units, rest, outside
FROM tasked
UNION ALL
SELECT 'common', model, NULL, n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, 0, 0, right_a, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM counted JOIN models ON m = pair >> 32 WHERE NOT pair & 0xffffffff AND NOT EXISTS (SELECT 1 FROM worded WHERE by_row)
UNION ALL
SELECT 'question', a.model, NULL, a.n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, id IN (SELECT id FROM shared),
       a.task, a.graded, t.again, NULL, NULL, t.questions, a.total, a.mean, a.mean_units, a.mean_rest, a.outside
FROM asked AS a CROSS JOIN tasked AS t ON t.m = a.m AND t.task = a.task
UNION ALL
SELECT 'question', w.model, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, coalesce(bits, 0) >> bit & 1,
       w.task, 0, t.again, NULL, NULL, t.questions, 1.0 * (right_bits >> bit & 1), 1.0 * (right_bits >> bit & 1), (right_bits >> bit & 1) << 31, 0, 0
FROM (SELECT * FROM worded WHERE n > 0 AND NOT by_row AND EXISTS (SELECT 1 FROM worded WHERE by_row)) AS w
CROSS JOIN tasked AS t ON t.m = w.m AND t.task = w.task
LEFT JOIN met ON met.task = w.task AND met.word = w.word
CROSS JOIN (WITH RECURSIVE places(bit) AS (SELECT 0 UNION ALL SELECT bit + 1 FROM places WHERE bit < 39) SELECT bit FROM places) AS places
WHERE known_bits >> bit & 1;

-- verdicts: one row per pair of models, the first in the alphabet as A, corrected for
-- testing all pairs.  compare shows them with their intervals.
--
--   n                               questions both answered
--   both, only_a, only_b, neither   of which right by both, by one, by none; NULL
--                                   unless the method is 'paired'
--   mean_a, mean_b, diff            accuracy of A, of B, and A minus B, on these:
--                                   each question counts the same
--   method                          'paired' where each was asked once and is right or
--                                   wrong, else 'paired means', of each question's
--                                   mean over all attempts
--   means_ci, means_prob            of 'paired means': paired_mean_diff_ci and
--                                   paired_mean_prob_better
--   p                               'paired': mcnemar_p; 'paired means': the posterior
--                                   tail 2 min(P, 1 - P)
--   p_all                           p corrected for all pairs by Holm's method: with 30 equal
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

-- tallies: one row per model and task, of what can be counted without looking at
-- scores.  correct is the number of right answers, and means nothing where graded.
DROP VIEW IF EXISTS tallies;
CREATE VIEW tallies AS
SELECT model_a AS model, task, graded, again, n, correct, errored FROM standings WHERE row = 'task';

-- by_task: one row per model and task.
--
--   n, correct, errored   answers known, right ones (NULL where graded), and not known
--   accuracy              the mean of question means: attempts at a question are their mean,
--                         and every question has the same weight
--   ci, lo, hi            its credible interval; as text, and as numbers
--   method                'bayes' where answers are right or wrong and each question was asked
--                         once, 'mean' where they are graded, 'mean of questions' where some
--                         question was asked again: mean_ci of question means, which is bayes_ci
--                         where they are right or wrong, but for the end where all are alike
--   questions             different ones
--   bar                   ci, drawn from 0 to 1
--   mean                  as accuracy, in the task's own units
--   score_lo, score_hi    their range; NULL where answers are right or wrong
DROP VIEW IF EXISTS by_task;
CREATE VIEW by_task AS
WITH stood AS MATERIALIZED (
  SELECT row, model_a AS model, task, graded, again, n, correct, errored, questions, mean, outside FROM standings WHERE row <> 'pair'
), scored AS (
  SELECT model, task,
         CASE WHEN max(outside) THEN NULL
              ELSE mean_ci(mean) END AS ci
  FROM stood WHERE row = 'question' AND (graded OR again)
  GROUP BY model, task
), counted AS (
  SELECT t.model, t.task, t.n, t.errored, t.graded, t.questions,
         CASE WHEN NOT t.graded AND t.n > 0 THEN t.correct END AS correct,
         CASE WHEN NOT t.outside AND t.n > 0 THEN t.mean END AS accuracy,
         CASE WHEN t.graded OR t.again THEN s.ci ELSE (SELECT mean_ci_counts(y, c) FROM (SELECT 1 AS y, t.correct AS c UNION ALL SELECT 0, t.n - t.correct)) END AS ci,
         CASE WHEN t.n = 0 THEN NULL WHEN t.outside THEN 'score out of range'
              WHEN t.again THEN 'mean of questions' WHEN t.graded THEN 'mean' ELSE 'bayes' END AS method
  FROM (SELECT * FROM stood WHERE row = 'task') AS t LEFT JOIN scored AS s ON s.model IS t.model AND s.task = t.task
)
SELECT model, task, n, correct, errored, accuracy, ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi, method, questions,
       max(0, accuracy - ci_lo(ci)) AS err_lo, max(0, ci_hi(ci) - accuracy) AS err_hi, ci_bar(ci, accuracy) AS bar,
       CASE WHEN c.graded THEN score_lo + accuracy * (score_hi - score_lo) ELSE accuracy END AS mean,
       CASE WHEN c.graded THEN score_lo END AS score_lo, CASE WHEN c.graded THEN score_hi END AS score_hi
FROM counted AS c JOIN kinds USING (task)
ORDER BY task, accuracy DESC, model;

-- compare: one row per pair of models, the first in the alphabet as A.
--
--   n, both, only_a, only_b, neither, diff, p, p_all, verdict_all, method,
--   mean_a, mean_b    as in verdicts
--   ci, lo, hi        the credible interval of diff; as text, and as numbers
--   prob_a_better     the probability that A is better
--   verdict           'A better' or 'B better' if the interval excludes 0, else 'not
--                     separated': for this pair alone.  Among many pairs some are called
--                     different by chance; verdict_all allows for that
DROP VIEW IF EXISTS compare;
CREATE VIEW compare AS
WITH counted AS MATERIALIZED (
  SELECT *,
         paired_diff_ci_counts(both, only_a, only_b, neither)                           AS counts_ci,
         coalesce(means_prob, paired_prob_better_counts(both, only_a, only_b, neither)) AS prob_a_better
  FROM verdicts
), paired AS MATERIALIZED (
  -- Where every question separates the two, the interval reaches the difference, 1 or -1.
  SELECT *,
         coalesce(means_ci, CASE n WHEN only_a THEN printf('[%s,1.0]', substr(counts_ci, 2, instr(counts_ci, ',') - 2))
                                   WHEN only_b THEN '[-1.0' || substr(counts_ci, instr(counts_ci, ',')) ELSE counts_ci END) AS ci
  FROM counted
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

-- leaderboard: one row per model, the best first.
--
--   n, correct, errored, accuracy, ci, lo, hi, method, bar, questions
--                              as in by_task, over all tasks.  Models may have
--                              answered different questions: see common
--   tasks                      how many
--   common                     how many questions all models answered
--   macro, macro_ci, macro_lo, macro_hi
--                              the mean of these tasks' accuracies, each task counting the same,
--                              and its interval: macro_ci, over question means if graded or
--                              repeated. NULL with one task
DROP VIEW IF EXISTS leaderboard;
DROP VIEW IF EXISTS macros; -- which leaderboard once read
CREATE VIEW leaderboard AS
WITH stood AS MATERIALIZED (
  SELECT row, model_a, model_b, n, verdict_all, common, task, graded, again, correct, errored, questions, mean, units, rest, outside
  FROM standings
), tallied AS MATERIALIZED (
  SELECT model_a AS model, task, n, correct, errored, questions, mean, units, rest, outside,
         max(graded AND n > 0) OVER model AS graded, max(again) OVER model AS again,
         max((graded AND n > 0) OR again) OVER model AS by_row
  FROM stood WHERE row = 'task' WINDOW model AS (PARTITION BY model_a)
), totals AS MATERIALIZED (
  SELECT model, max(by_row) AS by_row, max(graded) AS graded, max(again) AS again,
         sum(n) AS n, sum(correct) AS correct, sum(errored) AS errored, sum(n > 0) AS tasks, sum(questions) AS questions, max(outside) AS outside,
         (sum(units) / 2147483648.0 + sum(rest) / 4611686018427387904.0) / sum(questions) AS mean,
         round(avg(CASE WHEN n > 0 THEN mean END), 12) AS macro -- avg's last digits depend on SQLite's version
  FROM tallied GROUP BY model
), macros AS (
  SELECT model, macro_ci_counts(correct, n) AS macro_ci
  FROM tallied WHERE n > 0 AND NOT by_row GROUP BY model HAVING count(*) > 1
), scored AS (
  SELECT m.model,
         mean_ci(q.mean) FILTER (WHERE NOT q.outside) AS ci,
         macro_ci(q.mean, q.task) FILTER (WHERE NOT q.outside) AS macro_ci
  FROM (SELECT * FROM stood WHERE row = 'question') AS q CROSS JOIN (SELECT * FROM totals WHERE by_row) AS m ON m.model IS q.model_a
  GROUP BY m.model
), joined AS MATERIALIZED (
  SELECT t.model, t.n, t.errored, t.tasks, t.by_row, t.questions,
         CASE WHEN t.n > 0 AND NOT t.graded THEN t.correct END AS correct,
         CASE WHEN NOT t.outside THEN t.mean END AS accuracy,
         CASE WHEN t.outside THEN NULL WHEN t.by_row THEN s.ci ELSE (SELECT mean_ci_counts(y, c) FROM (SELECT 1 AS y, t.correct AS c UNION ALL SELECT 0, t.n - t.correct)) END AS ci,
         CASE WHEN t.n = 0 THEN NULL WHEN t.outside THEN 'score out of range'
              WHEN t.again THEN 'mean of questions' WHEN t.graded THEN 'mean' ELSE 'bayes' END AS method,
         CASE WHEN t.outside OR t.tasks < 2 THEN NULL ELSE t.macro END AS macro,
         CASE WHEN t.outside OR t.tasks < 2 THEN NULL WHEN t.by_row THEN s.macro_ci ELSE m.macro_ci END AS macro_ci
  FROM totals AS t LEFT JOIN scored AS s ON s.model IS t.model LEFT JOIN macros AS m ON m.model IS t.model
), alike AS MATERIALIZED (
  SELECT *, sum(n > 0) OVER () AS answering, sum(questions) OVER () AS questions_of_all FROM joined
), paired AS (
  SELECT common FROM stood WHERE row = 'pair'
)
SELECT j.model, n, correct, errored, accuracy, ci, ci_lo(ci) AS lo, ci_hi(ci) AS hi, method, tasks,
       ci_bar(ci, accuracy) AS bar, questions,
       CASE WHEN answering = 1 THEN questions_of_all ELSE coalesce((SELECT max(common) FROM paired), 0) END AS common,
       max(0, accuracy - ci_lo(ci)) AS err_lo, max(0, ci_hi(ci) - accuracy) AS err_hi,
       macro, macro_ci, ci_lo(macro_ci) AS macro_lo, ci_hi(macro_ci) AS macro_hi
FROM alike AS j
ORDER BY accuracy DESC, j.model;

-- common: one row per model, on the questions that every model answered; models without any answer
-- are ignored.
--
--   n, correct, accuracy, ci, lo, hi, method, questions, err_lo, err_hi, bar
--                      as in leaderboard, on these
--   rank               1 plus the number of models that are more accurate on these
DROP VIEW IF EXISTS common;
CREATE VIEW common AS
WITH stood AS MATERIALIZED (
  SELECT row, model_a, n, correct, graded, total, mean, units, rest, outside FROM standings WHERE row = 'common' OR (row = 'question' AND common)
), joined AS MATERIALIZED (
  -- The questions one by one, if they are not all right or wrong and asked once.
  SELECT model_a AS model, sum(n) AS n, count(*) AS questions,
         CASE WHEN NOT max(graded) THEN CAST(sum(total) AS INTEGER) END AS correct,
         CASE WHEN NOT max(outside) THEN (sum(units) / 2147483648.0 + sum(rest) / 4611686018427387904.0) / count(*) END AS accuracy,
         CASE WHEN max(outside) THEN NULL
              ELSE mean_ci(mean) FILTER (WHERE NOT outside) END AS ci,
         CASE WHEN max(outside) THEN 'score out of range' WHEN max(n > 1) THEN 'mean of questions' WHEN max(graded) THEN 'mean' ELSE 'bayes' END AS method
  FROM stood WHERE row = 'question' GROUP BY model_a
  UNION ALL
  SELECT model_a, n, n, correct, 1.0 * correct / n, (SELECT mean_ci_counts(y, c) FROM (SELECT 1 AS y, correct AS c UNION ALL SELECT 0, n - correct)), 'bayes' FROM stood WHERE row = 'common'
)
SELECT j.model, j.n, j.correct, j.accuracy, j.ci, ci_lo(j.ci) AS lo, ci_hi(j.ci) AS hi, j.method, j.questions,
       max(0, j.accuracy - ci_lo(j.ci)) AS err_lo, max(0, ci_hi(j.ci) - j.accuracy) AS err_hi, ci_bar(j.ci, j.accuracy) AS bar,
       rank() OVER (ORDER BY j.accuracy DESC) AS rank
FROM joined AS j
ORDER BY rank, j.model;

-- passes: one row per model, task and k, where some question was asked again and
-- answers are right or wrong.  k is 1, 2, 4 and so on, and the most attempts there are.
--
--   questions                           those with at least k known answers, of which:
--   pass_at_k, at_ci, at_lo, at_hi      the chance that at least one of k attempts is right,
--                                       the mean of the questions' estimates; its interval
--   pass_hat_k, hat_ci, hat_lo, hat_hi  the chance that all k are
DROP VIEW IF EXISTS passes;
CREATE VIEW passes AS
WITH RECURSIVE asked AS MATERIALIZED (
  SELECT model_a AS model, task, n, CAST(total AS INTEGER) AS c FROM standings WHERE row = 'question' AND NOT graded AND again
), tried AS (
  SELECT model, task, max(n) AS most FROM asked GROUP BY model, task HAVING most > 1
), doubled(model, task, k, most) AS (
  SELECT model, task, 1, most FROM tried
  UNION ALL
  SELECT model, task, min(2 * k, most), most FROM doubled WHERE k < most
), passed AS (
  SELECT d.model, d.task, d.k, count(*) AS questions,
         avg(pass_at_k(c, n, k)) AS pass_at_k, pass_at_k_ci_counts(c, n, k) AS at_ci,
         avg(pass_hat_k(c, n, k)) AS pass_hat_k, pass_hat_k_ci_counts(c, n, k) AS hat_ci
  FROM doubled AS d JOIN asked AS a ON a.model IS d.model AND a.task = d.task AND a.n >= d.k
  GROUP BY d.model, d.task, d.k
)
SELECT model, task, k, questions, pass_at_k, at_ci, ci_lo(at_ci) AS at_lo, ci_hi(at_ci) AS at_hi,
       pass_hat_k, hat_ci, ci_lo(hat_ci) AS hat_lo, ci_hi(hat_ci) AS hat_hi
FROM passed
ORDER BY task, model, k;
