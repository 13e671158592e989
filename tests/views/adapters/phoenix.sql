-- A database in Phoenix's form (version 20.3: the columns that its migrations make, in the tables
-- that an adapter reads), with invented answers: two datasets, two experiments on each, and several
-- annotations per run.
CREATE TABLE datasets(
  id INTEGER PRIMARY KEY, name VARCHAR NOT NULL UNIQUE, description VARCHAR, metadata JSONB NOT NULL,
  created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE experiments(
  id INTEGER PRIMARY KEY,
  dataset_id INTEGER NOT NULL REFERENCES datasets(id) ON DELETE CASCADE,
  dataset_version_id INTEGER NOT NULL,
  name VARCHAR NOT NULL, description VARCHAR, repetitions INTEGER NOT NULL, metadata JSONB NOT NULL,
  project_name VARCHAR, user_id INTEGER, is_ephemeral BOOLEAN NOT NULL DEFAULT 0,
  created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE experiment_runs(
  id INTEGER PRIMARY KEY,
  experiment_id INTEGER NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
  dataset_example_id INTEGER NOT NULL,
  repetition_number INTEGER NOT NULL,
  trace_id VARCHAR, output JSONB NOT NULL, start_time TIMESTAMP NOT NULL, end_time TIMESTAMP NOT NULL,
  prompt_token_count INTEGER, completion_token_count INTEGER, error VARCHAR,
  UNIQUE (experiment_id, dataset_example_id, repetition_number)
);
CREATE TABLE experiment_run_annotations(
  id INTEGER PRIMARY KEY,
  experiment_run_id INTEGER NOT NULL REFERENCES experiment_runs(id) ON DELETE CASCADE,
  name VARCHAR NOT NULL,
  annotator_kind VARCHAR NOT NULL CHECK (annotator_kind IN ('LLM', 'CODE', 'HUMAN')),
  label VARCHAR, score FLOAT, explanation VARCHAR, trace_id VARCHAR, error VARCHAR, metadata JSONB NOT NULL,
  start_time TIMESTAMP NOT NULL, end_time TIMESTAMP NOT NULL,
  UNIQUE (experiment_run_id, name)
);
INSERT INTO datasets(id, name, metadata) VALUES (1, 'support', '{}'), (2, 'sql', '{}');
INSERT INTO experiments(id, dataset_id, dataset_version_id, name, repetitions, metadata) VALUES
  (1, 1, 1, 'baseline', 2, '{}'), (2, 1, 1, 'new prompt', 2, '{}'),
  (3, 2, 2, 'nightly', 1, '{}'), (4, 2, 2, 'nightly', 1, '{}');

-- support: correctness has the scores 0 and 1, tone is graded, and a person judged two runs. 1
-- right, 0 wrong, E the run errored (and the judge gave 0 to its empty answer), J its judge
-- errored, - not judged yet.
WITH asked(example, repetition, came) AS (
  VALUES (101, 1, '11'), (101, 2, '01'), (102, 1, '01'), (102, 2, '01'), (103, 1, 'E1'), (103, 2, '11'),
         (104, 1, '0J'), (104, 2, '0-')
), runs AS (
  SELECT experiment, example, repetition, substr(came, experiment, 1) AS answer
  FROM asked, (SELECT 1 AS experiment UNION ALL SELECT 2)
)
INSERT INTO experiment_runs(id, experiment_id, dataset_example_id, repetition_number, output, start_time, end_time, error)
SELECT experiment * 1000 + example * 10 + repetition, experiment, example, repetition,
       json_object('task_output', answer), '2025-05-01 09:00:00', '2025-05-01 09:00:01',
       CASE answer WHEN 'E' THEN 'TimeoutError()' END
FROM runs;
INSERT INTO experiment_run_annotations(experiment_run_id, name, annotator_kind, score, label, error, metadata, start_time, end_time)
SELECT id, 'correctness', 'LLM', CASE answer WHEN '1' THEN 1 WHEN 'J' THEN NULL ELSE 0 END, NULL,
       CASE answer WHEN 'J' THEN 'rate limited' END, '{}', '2025-05-01 09:00:02', '2025-05-01 09:00:03'
FROM (SELECT id, output ->> '$.task_output' AS answer FROM experiment_runs) WHERE answer IN ('0', '1', 'E', 'J')
UNION ALL
SELECT id, 'a tone', 'LLM', 0.25, NULL, NULL, '{}', '2025-05-01 09:00:02', '2025-05-01 09:00:03' FROM experiment_runs
UNION ALL
SELECT id, 'by hand', 'HUMAN', NULL, CASE repetition_number WHEN 1 THEN 'Correct' ELSE 'incorrect' END, NULL,
       '{}', '2025-05-01 09:00:02', '2025-05-01 09:00:03'
FROM experiment_runs WHERE experiment_id = 2 AND dataset_example_id = 104;

-- sql: judged by labels, one of which is neither right nor wrong.
INSERT INTO experiment_runs(id, experiment_id, dataset_example_id, repetition_number, output, start_time, end_time) VALUES
  (31, 3, 201, 1, '{}', '', ''), (32, 3, 202, 1, '{}', '', ''), (33, 3, 203, 1, '{}', '', ''),
  (41, 4, 201, 1, '{}', '', ''), (42, 4, 202, 1, '{}', '', ''), (43, 4, 203, 1, '{}', '', '');
INSERT INTO experiment_run_annotations(experiment_run_id, name, annotator_kind, score, label, metadata, start_time, end_time) VALUES
  (31, 'runs', 'CODE', 1, 'True', '{}', '', ''), (32, 'runs', 'CODE', 0.8, 'pass', '{}', '', ''), (33, 'runs', 'CODE', NULL, 'slow', '{}', '', ''),
  (41, 'runs', 'CODE', 0, 'False', '{}', '', ''), (42, 'runs', 'CODE', NULL, 'FAIL', '{}', '', ''), (43, 'runs', 'CODE', NULL, 'yes', '{}', '', '');
