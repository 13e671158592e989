-- promptfoo's database as results (see ../schema.sql), by views; nothing is copied.
--
--   evalci import ~/.promptfoo/promptfoo.db -o evals.db
--
-- contains these views, and copies their rows to a table; evalci leaderboard reads the
-- database without copying it.  To use the views yourself:
--
--   sqlite3 ~/.promptfoo/promptfoo.db '.backup evals.db'
--   sqlite3 evals.db '.load build/evalci' '.read sql/adapters/promptfoo.sql' \
--     'SELECT * FROM eval_leaderboard'
--
-- Do not use cp: the latest evals may still be in the file's write-ahead log.
--
--   model     the provider's label, or else its id.  If the eval has several prompts,
--             the prompt's label follows, cut to 60 characters; if two columns would
--             still share a name, the column's number follows
--   task      the eval's description, or else its id.  If several evals share a
--             description, results has the latest; promptfoo_results has all of them,
--             with the id as their task, and promptfoo_runs says which is which
--   item      test_idx; for a repeated test, that of its first run.  It identifies a
--             test within one eval only, so models are paired within an eval
--   attempt   --repeat gives every repetition a test_idx of its own and does not
--             store which repetition it is; the number of repetitions is in the eval's
--             runtime_options, or else its config's evaluateOptions.  So in an eval
--             repeated three times, every three tests that are equal in all fields are
--             attempts at one question, in order.  If nothing was repeated, equal tests
--             are separate questions
--   correct   success; NULL if the run errored (failure_reason 2)
--   score     promptfoo's; NULL if the run errored (promptfoo writes 0)
--   error     why it errored.  The message of a failed assertion is in eval_results
--   cost, latency   in US dollars and seconds
--   then      eval_id, test_idx, prompt_idx: the origin of the row
--
-- To count errored runs as wrong:
--
--   DROP VIEW results;
--   CREATE VIEW results AS
--   SELECT a.model, r.task, item, attempt, coalesce(correct, 0) AS correct, coalesce(score, 0) AS score
--   FROM promptfoo_results AS a JOIN promptfoo_runs AS r USING (eval_id) WHERE r.latest;
--
-- To see all runs, each as a task of its own:
--
--   DROP VIEW results;
--   CREATE VIEW results AS SELECT * FROM promptfoo_results;
--
-- make test-promptfoo checks this on a database that promptfoo wrote; last with
-- 0.123.1.  It needs the column eval_results.failure_reason (2025), which promptfoo
-- adds to an older database when it opens it.
DROP VIEW IF EXISTS promptfoo_runs;
CREATE VIEW promptfoo_runs AS
WITH told AS (
  -- In a database older than the column, the name resolves to the NULL beside the table.
  SELECT e.id, e.created_at, coalesce(nullif(trim(e.description), ''), e.id) AS task,
         coalesce((SELECT json_extract(runtime_options, '$.repeat') FROM evals AS same WHERE same.id = e.id),
                  json_extract(e.config, '$.evaluateOptions.repeat')) AS repeat
  FROM evals AS e, (SELECT NULL AS runtime_options)
  WHERE EXISTS (SELECT 1 FROM eval_results AS r WHERE r.eval_id = e.id)
)
SELECT id AS eval_id, task, created_at, CASE WHEN repeat > 1 THEN CAST(repeat AS INTEGER) ELSE 1 END AS repeat,
       row_number() OVER (PARTITION BY task ORDER BY created_at DESC, id DESC) = 1 AS latest
FROM told;
DROP VIEW IF EXISTS promptfoo_results;
CREATE VIEW promptfoo_results AS
WITH raw AS (
  -- Without variables (there are none, or PROMPTFOO_STRIP_TEST_VARS removed them),
  -- the prompt distinguishes tests.
  SELECT eval_id, test_idx, prompt_idx, success, score, error, failure_reason = 2 AS errored, repeat, cost, latency_ms,
         coalesce(nullif(json_extract(provider, '$.label'), ''), json_extract(provider, '$.id')) AS provider,
         coalesce(nullif(json_extract(prompt, '$.label'), ''), json_extract(prompt, '$.raw'))    AS prompt,
         CASE WHEN json_type(test_case, '$.vars') IS NULL THEN test_case || prompt ELSE test_case END AS test
  FROM eval_results JOIN promptfoo_runs USING (eval_id)
), settled AS (
  -- One name per column and one text per test, whichever of their rows is read.
  SELECT eval_id, test_idx, prompt_idx, success, score, error, errored, repeat, cost, latency_ms,
         min(provider) OVER (PARTITION BY eval_id, prompt_idx) AS provider,
         min(prompt) OVER (PARTITION BY eval_id, prompt_idx)   AS prompt,
         min(test) OVER (PARTITION BY eval_id, test_idx)       AS test
  FROM raw
), placed AS (
  -- A prompt without a label uses its whole text as the label.
  SELECT eval_id, test_idx, prompt_idx, success, score, error, errored, repeat, cost, latency_ms, test,
         provider || CASE WHEN min(prompt) OVER (PARTITION BY eval_id) = max(prompt) OVER (PARTITION BY eval_id) THEN ''
                          WHEN length(prompt) <= 60 THEN ' / ' || prompt
                          ELSE ' / ' || substr(replace(prompt, char(10), ' '), 1, 59) || '…' END AS name,
         dense_rank() OVER (PARTITION BY eval_id, test ORDER BY test_idx) - 1 AS place
  FROM settled
), named AS (
  SELECT *, min(test_idx) OVER (PARTITION BY eval_id, test, place / repeat) AS item, place % repeat + 1 AS attempt FROM placed
)
SELECT CASE WHEN min(prompt_idx) OVER (PARTITION BY eval_id, name) < max(prompt_idx) OVER (PARTITION BY eval_id, name)
            THEN name || ' #' || prompt_idx ELSE name END    AS model,
       eval_id                                               AS task,
       item,
       attempt,
       CASE WHEN errored THEN NULL ELSE success END          AS correct,
       CASE WHEN errored THEN NULL ELSE score END            AS score,
       CASE WHEN errored THEN coalesce(error, 'errored') END AS error,
       cost,
       latency_ms / 1000.0                                   AS latency,
       eval_id, test_idx, prompt_idx
FROM named;
DROP VIEW IF EXISTS promptfoo_skipped;
CREATE VIEW promptfoo_skipped AS
SELECT eval_id AS what, 'not imported: there is a later run of ' || task AS note FROM promptfoo_runs WHERE NOT latest;
DROP VIEW IF EXISTS results;
CREATE VIEW results AS
SELECT a.model, r.task, a.item, a.attempt, a.correct, a.score, a.error, a.cost, a.latency, a.eval_id, a.test_idx, a.prompt_idx
FROM promptfoo_results AS a JOIN promptfoo_runs AS r USING (eval_id) WHERE r.latest;
