-- The canonical table of results, for those who have none: one row per answer.
--
--   sqlite3 evals.db '.read sql/schema.sql'
--
-- evalci import puts other tools' results into it, the views of sql/adapters show them
-- in this form, and eval_leaderboard and the other eval_ tables read it.  They also read
-- your own table or view, by its name, if it has a model, an item, and correct or score.
--
-- An answer is right or wrong, or it has a score:
--
--   right or wrong   correct is 1 or 0; score, if there is one, is not used
--   a score          correct is NULL, score is the number and error is NULL.  One
--                    such answer makes its whole task graded: every answer to it
--                    counts with its score
--   not known        everything else: the run errored, or nobody judged it
--
-- Scores are from 0 to 1 unless score_lo and score_hi give another range, which also
-- makes a task graded.
CREATE TABLE IF NOT EXISTS results(
  model    TEXT NOT NULL,
  task     TEXT NOT NULL,              -- a benchmark, a suite, a category: questions cluster by it
  item     NOT NULL,                   -- the question, unique within its task; models are paired by it
  attempt  INTEGER NOT NULL DEFAULT 1, -- numbers the answers to the same question
  correct  INTEGER,                    -- 1 right, 0 wrong; NULL if graded or not known
  score    REAL,                       -- the tool's own score, if it has one
  error    TEXT,                       -- why the answer is not known
  score_lo REAL,                       -- the range of a graded task's scores, if it is not 0 to 1;
  score_hi REAL,                       --   the same on all of its rows
  cost     REAL,                       -- of the answer, if known: in US dollars,
  latency  REAL,                       --   in seconds,
  tokens   INTEGER,                    --   in tokens
  PRIMARY KEY (task, item, model, attempt), -- in this order, so that a question's answers are together
  CHECK (model <> ''),
  CHECK (typeof(attempt) = 'integer'),
  CHECK (typeof(correct) IN ('integer', 'null') AND correct IN (0, 1)),
  CHECK (typeof(score) IN ('real', 'null')),
  CHECK (score_lo < score_hi),
  CHECK ((score_lo IS NULL) = (score_hi IS NULL))
) WITHOUT ROWID;
