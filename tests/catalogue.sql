-- The rows over which the functions of catalogue.txt are called: the answers of two models,
-- with numbers as CSV imports leave them, and NULLs.
CREATE TABLE t(i INTEGER PRIMARY KEY, y, a, b, passage TEXT, k, n);
INSERT INTO t VALUES (1, 1, 1, 0, 'first', 3, 4), (2, '0', 0, 0, 'first', 0, 2), (3, 1.0, 1, 1, 'second', 5, 5),
  (4, NULL, 1, NULL, 'third', NULL, 1), (5, 0, 0, 1, 'a passage with a name of some length', 1, 7);
-- The rows that the tables of the board read: right or wrong, graded, repeated, errored, with costs.
CREATE TABLE answers(model, task, item, attempt, correct, score, error, cost, latency);
INSERT INTO answers VALUES ('a model', 's', 1, 1, 1, NULL, NULL, 0.25, 2), ('a model', 's', 2, 1, 0, NULL, NULL, 0.5, 9),
  ('a model', 's', 2, 2, 1, NULL, NULL, '0.75', 3.5), ('another', 's', '1', 1, 0, NULL, NULL, 0.1, NULL), ('another', 's', 2.0, 1, 1, NULL, NULL, 0.2, 1),
  ('a model', 'g', 1, 1, NULL, 0.25, NULL, 0.3, 4), ('another', 'g', 1, 1, NULL, 0.7, NULL, 0.7, 1), ('another', 'g', 'two', 1, NULL, NULL, 'down', 0.4, 30),
  ('third', 'g', 1, 1, NULL, 1, NULL, NULL, NULL);
ALTER TABLE answers ADD COLUMN judge;
ALTER TABLE answers ADD COLUMN truth;
UPDATE answers SET judge = correct, truth = CASE WHEN item = 1 THEN 1 END WHERE correct IS NOT NULL;
CREATE TABLE halves(model, item, correct);
INSERT INTO halves VALUES ('a', 1, 1), ('b', 1, 0), ('c', 2, 1), ('d', 2, 1);
CREATE TABLE counted(model, task, k, n);
INSERT INTO counted VALUES ('a model', 's', 3, 4), ('a model', 'g', 0, 2), ('another', 's', 2, 4), ('another', 'g', 2, 2);
CREATE TABLE ballots(model_a, model_b, winner);
INSERT INTO ballots VALUES ('a model', 'rival', 'a'), ('rival', 'another', 'TIE'), ('another', 'a model', NULL), ('a model', 'rival', 0), ('another', 'rival', '1');
CREATE VIEW IF NOT EXISTS votes AS SELECT * FROM ballots;
-- The source where none is named; clients have one.
CREATE VIEW IF NOT EXISTS results AS SELECT * FROM answers;
