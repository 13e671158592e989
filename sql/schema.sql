-- The canonical table, for those who have none: one row an answer.
--
--   sqlite3 evals.db '.read sql/schema.sql'
--
-- evalci import puts other tools' results into it, the views of sql/adapters show them
-- in this shape, and eval_leaderboard and its like read it.  They read a table or view
-- of your own as well, by its name, if it has a model, an item, and correct or score.
--
-- An answer is right or wrong, or it has a score:
--
--   right or wrong   correct is 1 or 0; score, if there is one, is shown nowhere
--   a score          correct is NULL, score is the number and error is NULL.  One
--                    such answer makes its task a graded one, in which every
--                    answer counts with its score
--   not known        everything else: the run errored, or nobody judged it
--
-- Scores are from 0 to 1 unless score_lo and score_hi say otherwise, which also makes
-- a task a graded one.
CREATE TABLE IF NOT EXISTS results(
  model    TEXT NOT NULL,
  task     TEXT NOT NULL,              -- a benchmark, a suite, a category: what questions cluster by
  item     NOT NULL,                   -- the question, unique within its task; what models are paired by
  attempt  INTEGER NOT NULL DEFAULT 1, -- the same question asked again
  correct  INTEGER,                    -- 1 right, 0 wrong, NULL graded or not known
  score    REAL,                       -- the tool's own score, where it has one
  error    TEXT,                       -- why the answer is not known
  score_lo REAL,                       -- the range of a graded task's scores, where it is not 0 to 1;
  score_hi REAL,                       --   the same on all of its rows
  cost     REAL,                       -- of the answer: in US dollars,
  latency  REAL,                       --   in seconds,
  tokens   INTEGER,                    --   in tokens, where they are known
  PRIMARY KEY (task, item, model, attempt), -- in this order, so that a question's answers are together
  CHECK (model <> ''),
  CHECK (typeof(attempt) = 'integer'),
  CHECK (typeof(correct) IN ('integer', 'null') AND correct IN (0, 1)),
  CHECK (typeof(score) IN ('real', 'null')),
  CHECK (score_lo < score_hi),
  CHECK ((score_lo IS NULL) = (score_hi IS NULL))
) WITHOUT ROWID;
