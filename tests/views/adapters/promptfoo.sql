-- A database in promptfoo's form, as version 0.123.1 leaves it (its migrations rebuilt eval_results
-- without keys), with invented answers: one eval of six tests run twice (--repeat 2), by two
-- providers with two prompts.
CREATE TABLE evals(
  id TEXT PRIMARY KEY NOT NULL,
  created_at INTEGER DEFAULT CURRENT_TIMESTAMP NOT NULL,
  description TEXT,
  results TEXT NOT NULL,
  config TEXT NOT NULL,
  author TEXT, prompts TEXT, vars TEXT, is_redteam INTEGER DEFAULT false NOT NULL, runtime_options TEXT
);
CREATE TABLE eval_results(
  id TEXT, created_at INT, updated_at INT,
  eval_id TEXT, prompt_idx INT, test_idx INT,
  test_case TEXT, prompt TEXT, prompt_id TEXT, provider TEXT,
  latency_ms INT, cost REAL, response TEXT, error TEXT,
  success INT, score REAL, grading_result TEXT, named_scores TEXT, metadata TEXT,
  failure_reason INTEGER DEFAULT 0 NOT NULL
);
INSERT INTO evals(id, created_at, description, results, config, runtime_options)
VALUES ('eval-Ab1-2025-05-01T09:00:00', 1746090000000, 'capitals', '{}', '{}', '{"repeat":2}');

-- One character per result: 1 passed, 0 failed, E errored.
WITH asked(test_idx, country, came) AS (
  VALUES (0, 'France', '1110'), (1, 'France', '1110'), (2, 'Chile', '1100'), (3, 'Chile', '1000'),
         (4, 'Japan', '1111'), (5, 'Japan', '1111'), (6, 'Kenya', '100E'), (7, 'Kenya', '1000'),
         (8, 'Côte d''Ivoire', '1101'), (9, 'Côte d''Ivoire', '1001'), (10, 'Nauru', '0100'), (11, 'Nauru', '1E10')
), columns(prompt_idx, provider, label, template) AS (
  VALUES (0, '{"id":"openai:gpt-4.1","label":"","config":{}}', 'reasoned', 'Think first. Capital of '),
         (1, '{"id":"openai:gpt-4.1","label":"","config":{}}', 'short', 'Capital of '),
         (2, '{"id":"openai:gpt-4.1-mini","label":"mini","config":{}}', 'reasoned', 'Think first. Capital of '),
         (3, '{"id":"openai:gpt-4.1-mini","label":"mini","config":{}}', 'short', 'Capital of ')
), answers AS (
  SELECT *, substr(came, prompt_idx + 1, 1) AS answer FROM asked, columns
)
INSERT INTO eval_results(id, eval_id, prompt_idx, test_idx, test_case, prompt, provider,
                         error, success, score, failure_reason)
SELECT printf('%d-%d', test_idx, prompt_idx), 'eval-Ab1-2025-05-01T09:00:00', prompt_idx, test_idx,
       json_object('vars', json_object('country', country), 'assert', json('[{"type":"factuality"}]'),
                   'options', json('{}'), 'metadata', json('{}')),
       json_object('raw', template || country, 'label', label, 'config', json('{}')),
       provider,
       CASE answer WHEN '0' THEN 'Expected another capital' WHEN 'E' THEN 'API error: 429' END,
       answer = '1', answer = '1', CASE answer WHEN '1' THEN 0 WHEN '0' THEN 1 ELSE 2 END
FROM answers;
