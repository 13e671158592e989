-- The canonical table, for those who have none: one row an answer.
--
--   sqlite3 evals.db '.read sql/schema.sql'
--
-- The adapters in sql/adapters present other tools' storage in this shape;
-- leaderboard.sql, compare.sql and report.sql read it.  A table or view of your
-- own serves as well if it is named results and has the first five columns.
CREATE TABLE IF NOT EXISTS results(
  model   TEXT NOT NULL,
  task    TEXT NOT NULL,              -- a benchmark, a suite, a category: what questions cluster by
  item    NOT NULL,                   -- the question, unique within its task; what models are paired by
  attempt INTEGER NOT NULL DEFAULT 1, -- the same question asked again
  correct INTEGER,                    -- 1 right, 0 wrong, NULL not known: the run errored
  score   REAL,                       -- the tool's own score, where it has one
  error   TEXT,                       -- why correct is NULL
  PRIMARY KEY (task, item, attempt, model), -- in this order, so that pairing models is a look-up
  CHECK (model <> ''),
  CHECK (typeof(attempt) = 'integer'),
  CHECK (typeof(correct) IN ('integer', 'null') AND correct IN (0, 1)),
  CHECK (typeof(score) IN ('real', 'null'))
) WITHOUT ROWID;
