-- A gate for CI: may the candidate replace the baseline?  From the top of the
-- project, over results (see schema.sql), which is only read:
--
--   sqlite3 -bail evals.db '.load build/evalci' ".parameter set @baseline \"'old'\"" \
--     ".parameter set @candidate \"'new'\"" '.read sql/gate.sql'
--
-- sql/gate.sh does that with any names, and ends with a status for CI.
--
--   @baseline, @candidate   the two models, compared on the questions both answered
--   @margin                 how much worse is still acceptable, 0.02 unless set
--   @sure                   how sure to be, 0.95 unless set, between 0.5 and 1
--
-- It prints a line for people and one of JSON.  The result is
--
--   pass     that surely, the candidate is no worse than the margin: no_worse_prob
--   fail     that surely, it is worse than the margin: the same with the models exchanged
--   unsure   neither: there are not enough questions.  more says how many more
--            would probably (8 times of 10) settle it if the two go on as they did
--            here, by plan_paired_n; NULL if the difference sits on the margin
--
-- prob is how sure it is that the candidate is no worse than the margin: one imagined
-- question on which it fails outright keeps a candidate that breaks on few questions
-- from passing by luck.  So a margin needs a number of questions even if nothing
-- differs: 149 for 0.02 at 0.95.  Every attempt counts, by question means; method is
-- that of compare (see views.sql), and so is the interval lo to hi of diff, the candidate
-- minus the baseline.
.read "|sed '/^DROP VIEW/d; s/^CREATE VIEW/CREATE TEMP VIEW/' sql/views.sql"
.mode list
.headers off
CREATE TEMP TABLE gate AS
WITH RECURSIVE asked AS MATERIALIZED (
  SELECT model, task, item, total / n AS mean, graded OR n > 1 AS scored, outside
  FROM questions WHERE n > 0 AND model IN (@baseline, @candidate)
), wish AS (
  SELECT CAST(coalesce(@margin, 0.02) AS REAL) AS margin, CAST(coalesce(@sure, 0.95) AS REAL) AS sure
), paired AS (
  SELECT count(*) AS n, max(c.outside OR b.outside) AS outside, NOT max(c.scored OR b.scored) AS once,
         sum(c.mean = 1 AND b.mean = 1) AS both, sum(c.mean = 1 AND b.mean = 0) AS only_c,
         sum(c.mean = 0 AND b.mean = 1) AS only_b, sum(c.mean = 0 AND b.mean = 0) AS neither,
         avg(c.mean - b.mean) AS diff, avg((c.mean - b.mean) * (c.mean - b.mean)) AS square,
         paired_mean_diff_ci(c.mean, b.mean) FILTER (WHERE NOT c.outside AND NOT b.outside) AS ci,
         no_worse_prob(c.mean, b.mean, margin) FILTER (WHERE NOT c.outside AND NOT b.outside) AS prob,
         no_worse_prob(b.mean, c.mean, -margin) FILTER (WHERE NOT c.outside AND NOT b.outside) AS worse
  FROM wish, asked AS c JOIN asked AS b USING (task, item)
  WHERE c.model = @candidate AND b.model = @baseline
), judged AS (
  SELECT n, margin, sure, diff, square - diff * diff AS variance,
         CASE WHEN outside THEN 'score out of range' WHEN once THEN 'paired' WHEN n > 0 THEN 'paired means' END AS method,
         CASE WHEN outside THEN NULL WHEN once THEN paired_diff_ci_counts(both, only_c, only_b, neither) ELSE ci END AS ci,
         CASE WHEN NOT outside THEN prob END AS prob, CASE WHEN NOT outside THEN worse END AS worse
  FROM wish, paired
), least(n, left) AS (
  -- The questions that the margin needs if nothing differs: (1 - margin)^n is left to doubt.
  SELECT 1, 1 - margin FROM wish WHERE margin > 0
  UNION ALL
  SELECT n + 1, left * (1 - margin) FROM least, wish WHERE left > 1 - sure AND n < 100000
), planned AS (
  -- As right and wrong answers: how often the candidate alone and the baseline alone
  -- would have to be right for the same distance from the margin, with the same variance.
  SELECT *, diff + margin AS beyond, min(1, max(abs(diff + margin), variance + (diff + margin) * (diff + margin))) AS discordant,
         (SELECT min(l.n) FROM least AS l, wish WHERE l.left <= 1 - wish.sure) AS least
  FROM judged
)
SELECT *,
       CASE WHEN prob >= sure THEN 'pass' WHEN worse >= sure THEN 'fail' ELSE 'unsure' END AS result,
       CASE WHEN prob < sure AND worse < sure AND abs(beyond) >= 0.0005
            THEN max(1, coalesce(least, 0) - n, plan_paired_n((discordant + beyond) / 2, (discordant - beyond) / 2, 0.8, 2 * sure - 1) - n) END AS more
FROM planned;
SELECT CASE result
       WHEN 'pass' THEN printf('pass: %s is no more than %.1f points worse than %s, %s sure', @candidate, 100 * margin, @baseline, share)
       WHEN 'fail' THEN printf('fail: %s is more than %.1f points worse than %s, %s sure', @candidate, 100 * margin, @baseline, rest)
       ELSE printf('unsure: %s may be more than %.1f points worse than %s, %s sure that it is not', @candidate, 100 * margin, @baseline, coalesce(share, 'not')) END ||
       CASE WHEN method = 'score out of range' THEN ': a score is out of its range, see score_lo in sql/schema.sql'
            WHEN n = 0 THEN ': no question was answered by both'
            ELSE printf('; %+.1f points, 95%% interval %+.1f to %+.1f, on %d question%s', 100 * diff, 100 * ci_lo(ci), 100 * ci_hi(ci), n, CASE WHEN n = 1 THEN '' ELSE 's' END) END ||
       CASE WHEN result <> 'unsure' OR n = 0 OR method = 'score out of range' THEN ''
            WHEN n < least THEN printf('; a margin of %.1f points needs %d questions even if nothing differs', 100 * margin, least)
            WHEN more > 0 THEN printf('; about %d more would say', more)
            ELSE '; the difference sits on the margin: no number of questions is likely to say' END
FROM (SELECT *, CASE WHEN prob > 0.9995 THEN '>99.9%' WHEN prob < 0.0005 THEN '<0.1%' ELSE printf('%.1f%%', 100 * prob) END AS share,
                CASE WHEN worse > 0.9995 THEN '>99.9%' ELSE printf('%.1f%%', 100 * worse) END AS rest FROM gate);
SELECT json_object('result', result, 'baseline', @baseline, 'candidate', @candidate, 'questions', n, 'method', method,
                   'diff', diff, 'lo', ci_lo(ci), 'hi', ci_hi(ci), 'margin', margin, 'sure', sure, 'prob', prob, 'more', more)
FROM gate;
