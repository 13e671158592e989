#!/usr/bin/python3
"""From other tools' storage to a leaderboard: sql/ in the real sqlite3 shell.

    adapters.py EXTENSION

Each adapter runs on a small database or on files of its tool's shape, kept in
tests/views/adapters; expected rows and counts were read off those by eye, and intervals
are compared with the counts forms of the functions, called with such counts.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILES = "tests/views/adapters"


class Suite:
    def __init__(self, extension):
        self.load = f".load {extension}"
        self.passed = self.failed = 0
        self.folder = tempfile.TemporaryDirectory()
        self.count = 0

    def check(self, what, actual, expected):
        if actual == expected:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}\n  expected {expected!r}\n  actual   {actual!r}")

    def path(self, name):
        self.count += 1
        return str(pathlib.Path(self.folder.name) / f"{self.count}_{name}")

    def shell(self, database, *commands, options=()):
        """What the shell prints, and its errors after that."""
        done = subprocess.run(["sqlite3", *options, database, self.load, *commands], cwd=ROOT,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout

    def rows(self, database, query, *before):
        text = self.shell(database, *before, ".mode json", query)
        try:
            return [tuple(row.values()) for row in json.loads(text or "[]")]
        except ValueError:
            return text

    def number(self, database, expression):
        rows = self.rows(database, f"SELECT {expression}")
        return rows[0][0] if rows and isinstance(rows, list) else rows

    def end(self):
        self.folder.cleanup()
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(self.failed > 0)


RESULTS = "SELECT model, task, item, attempt, correct, score, error FROM results ORDER BY model, task, item, attempt"
BOARD = "SELECT model, n, correct, errored FROM leaderboard"
PAIRS = "SELECT model_a, model_b, n, both, only_a, only_b, neither, verdict FROM compare"
UNIQUE = "SELECT count(*) - count(DISTINCT json_array(model, task, item, attempt)) FROM results"
# Every row of a view must be one that the canonical table takes.
FITS = ("CREATE TEMP TABLE seen AS SELECT * FROM results; DROP VIEW IF EXISTS results;",
        ".read sql/schema.sql",
        "INSERT INTO results SELECT model, task, item, attempt, correct, score, error FROM temp.seen;")


def over(t, name, database, board, pairs):
    """The leaderboard and the comparison over an adapter: counts, then intervals from these."""
    for view in ("leaderboard", "compare", "wilson"):
        t.check(f"{name}: {view}.sql says nothing", t.shell(database, f".read sql/{view}.sql"), "")
    t.check(f"{name}: leaderboard", t.rows(database, BOARD), board)
    t.check(f"{name}: compare", t.rows(database, PAIRS), pairs)
    for model, n, k, errored in board:
        where, k = f"WHERE model = '{model}'", k or 0
        if n:
            t.check(f"{name}: accuracy of {model}",
                    t.number(database, f"abs(accuracy - {k}.0 / {n}) < 1e-15 FROM leaderboard {where}"), 1)
        t.check(f"{name}: plain SQL's Wilson interval of {model}",
                t.rows(database, f"SELECT n, coalesce(correct, 0), errored, abs(lo - ci_lo(wilson_ci_counts({k}, {n}))) <= 1e-15 "
                                 f"AND abs(hi - ci_hi(wilson_ci_counts({k}, {n}))) <= 1e-15 AS near FROM leaderboard_wilson {where}"),
                [(n, k, errored, 1 if n else None)])
    for a, b, n, both, only_a, only_b, neither, _ in pairs:
        cells = f"{both}, {only_a}, {only_b}, {neither}"
        t.check(f"{name}: {a} against {b}",
                t.rows(database, f"SELECT ci = paired_diff_ci_counts({cells}), lo = ci_lo(ci), hi = ci_hi(ci), "
                                 f"prob_a_better = paired_prob_better_counts({cells}), "
                                 f"abs(diff - ({only_a} - {only_b}) / {n}.0) < 1e-15 "
                                 f"FROM compare WHERE model_a = '{a}' AND model_b = '{b}'"), [(1, 1, 1, 1, 1)])


def schema(t):
    db = t.path("schema.db")
    t.check("schema: makes a table", t.shell(db, ".read sql/schema.sql"), "")
    t.check("schema: again keeps it", t.shell(db, "INSERT INTO results(model, task, item) VALUES ('keep', 't', 1)",
                                              ".read sql/schema.sql", "SELECT count(*) FROM results"), "1\n")
    taken = ["('m', 't', 1, 1, 1, 1.0, NULL)", "('m', 't', 'q', 1, 0, 0.5, NULL)", "('m', 't', '', 1, NULL, NULL, 'down')",
             "('m', '', 1, 1, 1, NULL, NULL)", "('m', 't', 1, 2, 1, NULL, NULL)", "('m', 't', 2, 1, '1', '0.5', NULL)",
             "('m', 't', 3, 1, 1.0, 1, NULL)"]
    for row in taken:
        t.check(f"schema: takes {row}", t.shell(db, f"INSERT INTO results VALUES {row}"), "")
    t.check("schema: keeps types", t.rows(db, "SELECT DISTINCT typeof(correct), typeof(score) FROM results "
                                              "WHERE item IN (2, 3) ORDER BY 1, 2"), [("integer", "real")])
    refused = {"('m', 't', 1, 1, 0, NULL, NULL)": "UNIQUE", "(NULL, 't', 9, 1, 1, NULL, NULL)": "NOT NULL",
               "('m', NULL, 9, 1, 1, NULL, NULL)": "NOT NULL", "('m', 't', NULL, 1, 1, NULL, NULL)": "NOT NULL",
               "('m', 't', 9, NULL, 1, NULL, NULL)": "NOT NULL", "('', 't', 9, 1, 1, NULL, NULL)": "CHECK",
               "('m', 't', 9, 'two', 1, NULL, NULL)": "CHECK", "('m', 't', 9, 1.5, 1, NULL, NULL)": "CHECK",
               "('m', 't', 9, 1, 2, NULL, NULL)": "CHECK", "('m', 't', 9, 1, -1, NULL, NULL)": "CHECK",
               "('m', 't', 9, 1, 0.5, NULL, NULL)": "CHECK", "('m', 't', 9, 1, 'yes', NULL, NULL)": "CHECK",
               "('m', 't', 9, 1, x'01', NULL, NULL)": "CHECK", "('m', 't', 9, 1, 1, 'good', NULL)": "CHECK"}
    for row, constraint in refused.items():
        said = t.shell(db, f"INSERT INTO results VALUES {row}")
        t.check(f"schema: refuses {row}", f"{constraint} constraint failed" in said, True)


def verdicts(t):
    """The three verdicts, and rows that pair with nothing."""
    db = t.path("verdicts.db")
    t.shell(db, ".read sql/schema.sql", """
      WITH q(item) AS (SELECT 1 UNION ALL SELECT item + 1 FROM q WHERE item < 20)
      INSERT INTO results(model, task, item, correct)
      SELECT 'good', 't', item, item <= 19 FROM q UNION ALL
      SELECT 'poor', 't', item, item <= 9 FROM q UNION ALL
      SELECT 'same', 't', item, item >= 2 FROM q UNION ALL
      SELECT 'elsewhere', 'u', item, 1 FROM q;""",
            "INSERT INTO results(model, task, item, error) VALUES ('good', 't', 21, 'down'), ('down', 't', 1, 'down')",
            "INSERT INTO results(model, task, item, correct) VALUES ('poor', 't', 21, 1), ('same', 't', 22, 1)")
    over(t, "verdicts", db,
         [("elsewhere", 20, 20, 0), ("same", 21, 20, 0), ("good", 20, 19, 1), ("poor", 21, 10, 0), ("down", 0, None, 1)],
         [("good", "poor", 20, 9, 10, 0, 1, "A better"), ("good", "same", 20, 18, 1, 1, 0, "not separated"),
          ("poor", "same", 20, 8, 1, 11, 0, "B better")])
    t.check("verdicts: independent questions", t.rows(
        db, "SELECT model, method, ci = bayes_ci_counts(correct, n), task_ci = clustered_ci_counts(correct, n), tasks "
            "FROM leaderboard JOIN (SELECT 1) WHERE n GROUP BY model ORDER BY model"),
        [(m, "bayes", 1, 1, 1) for m in ("elsewhere", "good", "poor", "same")])
    t.check("verdicts: a model without an answer", t.rows(
        db, "SELECT accuracy, ci, lo, hi, tasks, task_ci, bar FROM leaderboard WHERE model = 'down'"),
        [(None, None, None, None, 0, None, None)])
    head = [line[5:] for line in (ROOT / "sql/wilson.sql").read_text().splitlines() if line.startswith("--   ")]
    bare = "\n".join(head[next(i for i, line in enumerate(head) if line.startswith("SELECT model, n, k / n")):])
    t.check("wilson: the query in its head", t.rows(
        db, f"SELECT count(*), sum(abs(q.lo - w.lo) + abs(q.hi - w.hi) < 1e-15) FROM ({bare.strip().rstrip(';')}) AS q JOIN leaderboard_wilson AS w USING (model)"),
        [(4, 4)])


def attempts(t):
    """Questions asked again cluster by task and item; two tasks may name their items alike."""
    db = t.path("attempts.db")
    t.shell(db, ".read sql/schema.sql", ".read sql/leaderboard.sql", """
      INSERT INTO results(model, task, item, attempt, correct) VALUES
      ('m', 't', 1, 1, 1), ('m', 't', 1, 2, 1), ('m', 't', 2, 1, 0), ('m', 'u', 1, 1, 0), ('m', 'u', 1, 2, 0), ('m', 'u', 2, 1, 1)""")
    t.check("attempts: cluster by task and item", t.rows(
        db, "SELECT method, ci = (SELECT clustered_ci_counts(column1, column2) FROM (VALUES (2, 2), (0, 1), (0, 2), (1, 1))) AS same, "
            "task_ci = (SELECT clustered_ci_counts(column1, column2) FROM (VALUES (2, 3), (1, 3))) AS tasks FROM leaderboard"),
        [("clustered by item", 1, 1)])
    t.shell(db, ".read sql/compare.sql", """
      WITH q(item) AS (SELECT 1 UNION ALL SELECT item + 1 FROM q WHERE item < 6),
           again(attempt) AS (SELECT 1 UNION ALL SELECT attempt + 1 FROM again WHERE attempt < 5)
      INSERT INTO results(model, task, item, attempt, correct)
      SELECT 'a', 'v', item, attempt, item <> 1 FROM q, again UNION ALL
      SELECT 'b', 'v', item, attempt, item > 3 AND (item < 6 OR attempt > 1) FROM q, again UNION ALL
      SELECT 'b', 'v', 7, 1, NULL FROM q WHERE item = 1 UNION ALL SELECT 'b', 'v', 7, 2, 1 FROM q WHERE item = 1 UNION ALL
      SELECT 'a', 'v', 7, 3, 0 FROM q WHERE item = 1""")
    t.check("attempts: a question is compared once, by the first answer known",
            t.rows(db, PAIRS + " WHERE model_a = 'a' AND model_b = 'b'"), [("a", "b", 7, 2, 3, 1, 1, "not separated")])


def own_tables(t):
    """A table of the user's own: no key, NULLs where schema.sql has none, numbers as text."""
    db = t.path("own.db")
    t.shell(db, "CREATE TABLE results(model, task, item, attempt, correct)", ".read sql/leaderboard.sql", ".read sql/compare.sql", ".read sql/wilson.sql",
            "INSERT INTO results VALUES ('a', NULL, 1, NULL, 1), ('a', NULL, 2, NULL, '0'), ('b', NULL, '1', NULL, 0), ('b', NULL, '2', NULL, '1'), "
            "('a', NULL, 1, NULL, 1), ('a', NULL, 1, NULL, 1), ('b', NULL, NULL, NULL, 1)")
    t.check("own: no task and no attempt", t.rows(db, "SELECT model, n, correct, tasks, task_ci IS NOT NULL FROM leaderboard"),
            [("a", 4, 3, 1, 1), ("b", 3, 2, 1, 1)])
    t.check("own: an item is the same as text", t.rows(db, PAIRS), [("a", "b", 2, 0, 1, 1, 0, "not separated")])
    t.check("own: plain SQL counts text too", t.rows(db, "SELECT model, n, correct, invalid FROM leaderboard_wilson"), [("a", 4, 3, 0), ("b", 3, 2, 0)])
    t.shell(db, "INSERT INTO results VALUES ('c', 't', 1, 1, 0.7), ('d', 't', 1, 1, 'yes'), ('d', 't', 2, 1, 1)")
    t.check("own: plain SQL does not guess", t.rows(db, "SELECT model, n, correct, invalid, accuracy, lo, hi FROM leaderboard_wilson WHERE model > 'b' ORDER BY 1"),
            [("c", 1, None, 1, None, None, None), ("d", 2, None, 1, None, None, None)])
    t.check("own: nor does the leaderboard", "a result must be 0 or 1, got 0.7" in t.shell(db, "SELECT * FROM leaderboard"), True)
    t.shell(db, "DELETE FROM results", "WITH r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 10) "
            "INSERT INTO results SELECT 'm', 't', 'p' || char(0) || i, 1, i % 2 FROM r UNION ALL SELECT 'm', 't', 'q', 1, 1 FROM r WHERE i < 3")
    t.check("own: items that differ after a NUL differ", t.rows(
        db, "SELECT ci = (WITH r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 10) SELECT clustered_ci_counts(k, n) FROM "
            "(SELECT i % 2 AS k, 1 AS n FROM r UNION ALL SELECT 2, 2)) FROM leaderboard"), [(1,)])


def wilson(t):
    """Every count to 40 and a few large ones, as rows, so that the view itself is measured."""
    db = t.path("wilson.db")
    t.shell(db, ".read sql/wilson.sql", "CREATE TABLE results(model, correct)", """
      WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < 40),
      c(k, n) AS (SELECT k.n, n.n FROM i AS k, i AS n WHERE k.n <= n.n AND n.n > 0 UNION ALL VALUES (1, 20000), (19999, 20000), (7, 3000)),
      r(model, k, n, j) AS (SELECT k || '/' || n, k, n, 1 FROM c UNION ALL SELECT model, k, n, j + 1 FROM r WHERE j < n)
      INSERT INTO results SELECT model, j <= k FROM r""")
    t.check("wilson: equals wilson_ci to 1e-15", t.rows(
        db, "SELECT count(*), max(max(abs(lo - ci_lo(ci)), abs(hi - ci_hi(ci)))) <= 1e-15, sum(lo = 0 AND correct = 0), sum(hi = 1 AND correct = n) "
            "FROM leaderboard_wilson JOIN (SELECT model, wilson_ci(correct) AS ci FROM results GROUP BY model) USING (model)"),
        [(863, 1, 40, 40)])


def promptfoo(t):
    db = t.path("promptfoo.db")
    t.check("promptfoo: says nothing", t.shell(db, f".read {FILES}/promptfoo.sql", ".read sql/adapters/promptfoo.sql"), "")
    big, mini = "openai:gpt-4.1", "mini"
    # Item by item: the two attempts at tests 0, 2, 4, 6, 8, 10.
    came = {f"{mini} / reasoned": "11 00 11 00 00 01", f"{mini} / short": "00 00 11 E0 11 00",
            f"{big} / reasoned": "11 11 11 11 11 01", f"{big} / short": "11 10 11 00 10 1E"}
    rows = [(model, "eval-Ab1-2025-05-01T09:00:00", 2 * item, attempt + 1,
             *((None, None, "API error: 429") if one == "E" else (int(one), float(one), None)))
            for model, answers in came.items() for item, pair in enumerate(answers.split()) for attempt, one in enumerate(pair)]
    t.check("promptfoo: rows", t.rows(db, RESULTS), rows)
    t.check("promptfoo: where a row comes from", t.rows(
        db, "SELECT eval_id, test_idx, prompt_idx FROM results WHERE model = 'mini / short' AND item = 6 AND attempt = 2"),
        [("eval-Ab1-2025-05-01T09:00:00", 7, 3)])
    over(t, "promptfoo", db,
         [(f"{big} / reasoned", 12, 11, 0), (f"{big} / short", 11, 7, 1), (f"{mini} / reasoned", 12, 5, 0), (f"{mini} / short", 11, 4, 1)],
         [(f"{mini} / reasoned", f"{mini} / short", 6, 1, 1, 1, 3, "not separated"),
          (f"{mini} / reasoned", f"{big} / reasoned", 6, 2, 0, 3, 1, "not separated"),
          (f"{mini} / reasoned", f"{big} / short", 6, 2, 0, 3, 1, "not separated"),
          (f"{mini} / short", f"{big} / reasoned", 6, 2, 0, 3, 1, "not separated"),
          (f"{mini} / short", f"{big} / short", 6, 2, 0, 3, 1, "not separated"),
          (f"{big} / reasoned", f"{big} / short", 6, 4, 1, 1, 0, "not separated")])
    t.check("promptfoo: attempts cluster by item", t.rows(
        db, "SELECT method, ci = (SELECT clustered_ci_counts(column1, column2) FROM (VALUES (2, 2), (1, 2), (2, 2), (0, 2), (1, 2), (1, 1))) AS same "
            f"FROM leaderboard WHERE model = '{big} / short'"), [("clustered by item", 1)])
    head = (ROOT / "sql/adapters/promptfoo.sql").read_text()
    t.shell(db, pasted(head, "To count errored runs as wrong:"))
    t.check("promptfoo: errored runs as wrong", t.rows(db, BOARD), [
        (f"{big} / reasoned", 12, 11, 0), (f"{big} / short", 12, 7, 0), (f"{mini} / reasoned", 12, 5, 0), (f"{mini} / short", 12, 4, 0)])

    # Later evals: one prompt and twin providers; prompts that share their first 60
    # characters; tests without variables, which only their prompts tell apart; and
    # the twins' tests in another eval, at other places.
    long = "You are a careful assistant.\nAnswer in one word, with no more punctuation than "
    new = "INSERT INTO evals(id, created_at, results, config) VALUES ('{0}', {1}, '{{}}', '{{}}');"
    row = ("INSERT INTO eval_results(eval_id, prompt_idx, test_idx, test_case, prompt, provider, success, score, failure_reason, error) "
           "VALUES ('{}', {}, {}, '{}', json_object('raw', '{}', 'label', '{}'), '{}', {}, 0.5, {}, {});")
    one = '{{"vars":{{"q":"{}"}}}}'
    twins = ["openai:o3", "openai:o3", "openai:o4"]
    t.shell(db, ".read sql/adapters/promptfoo.sql", new.format("twins", 1746090000001), new.format("long", 1746090000002),
            new.format("bare", 1746090000003), new.format("again", 1746090000000),
            *[row.format("again", 5, i + 3, one.format(i), "Say", "Say", '{"id":"openai:o4"}', 1, 0, "NULL") for i in range(2)],
            *[row.format("twins", c, i, one.format(i), "Say", "Say", json.dumps({"id": p}), (c + i) % 2, 0, "NULL")
              for c, p in enumerate(twins) for i in range(2)],
            *[row.format("long", c, 0, one.format(0), "x", label, '{"id":"echo"}', 1, 0, "NULL")
              for c, label in enumerate([long + "needed", long + "usual", "short"])],
            *[row.format("bare", 0, i, '{"assert":[]}', f"question {i // 2}", "p", '{"id":"echo","label":"E"}', 0, 2, "NULL") for i in range(4)])
    t.check("promptfoo: twins stay apart", t.rows(
        db, "SELECT model, item, attempt, correct FROM results WHERE task = 'twins' ORDER BY model, item"),
        [("openai:o3 #0", 0, 1, 0), ("openai:o3 #0", 1, 1, 1), ("openai:o3 #1", 0, 1, 1), ("openai:o3 #1", 1, 1, 0),
         ("openai:o4", 0, 1, 0), ("openai:o4", 1, 1, 1)])
    t.check("promptfoo: evals stay apart", t.rows(db, "SELECT model, item, attempt FROM results WHERE task = 'again' ORDER BY item"),
            [("openai:o4", 3, 1), ("openai:o4", 4, 1)])
    cut = "echo / " + long.replace("\n", " ")[:59] + "…"
    t.check("promptfoo: long prompts", t.rows(db, "SELECT model, attempt FROM results WHERE task = 'long' ORDER BY model"),
            [(cut + " #0", 1), (cut + " #1", 1), ("echo / short", 1)])
    t.check("promptfoo: tests without variables", t.rows(
        db, "SELECT model, item, attempt, correct, score, error FROM results WHERE task = 'bare' ORDER BY test_idx"),
        [("E", item, attempt, None, None, "errored") for item in (0, 2) for attempt in (1, 2)])
    t.check("promptfoo: rows are unique", t.number(db, f"({UNIQUE})"), 0)
    t.shell(db, pasted(head, "To see the latest eval only:"))
    t.check("promptfoo: the latest eval", t.rows(db, "SELECT DISTINCT task FROM results"), [("bare",)])
    t.check("promptfoo: back to all", t.rows(db, "SELECT count(DISTINCT task) FROM results", ".read sql/adapters/promptfoo.sql"), [(5,)])
    t.check("promptfoo: fits the canonical table", t.rows(db, "SELECT count(*) FROM results", *FITS), [(48 + 6 + 3 + 4 + 2,)])
    views(t, "promptfoo", f"{big} / reasoned")


def views(t, tool, best):
    """A table of the person's own is not dropped; a read-only database is read through temporary views."""
    db = t.path("own.db")
    said = t.shell(db, "CREATE TABLE results(mine)", "INSERT INTO results VALUES (1)", f".read sql/adapters/{tool}.sql")
    t.check(f"{tool}: a table named results is kept", ("use DROP TABLE to delete table results" in said,
                                                      t.number(db, "mine FROM results")), (True, 1))
    db = t.path("plan.db")
    plan = t.shell(db, f".read {FILES}/{tool}.sql", f".read sql/adapters/{tool}.sql", ".read sql/compare.sql",
                   "EXPLAIN QUERY PLAN SELECT * FROM compare")
    t.check(f"{tool}: compare pairs answers by an index", [end in plan for end in ("-SCAN a\n", "-SCAN b\n")].count(True), 1)
    db = t.path("readonly.db")
    t.shell(db, f".read {FILES}/{tool}.sql")
    pathlib.Path(db).chmod(0o444)
    made = subprocess.run(["sed", "s/^CREATE VIEW/CREATE TEMP VIEW/", f"sql/adapters/{tool}.sql", "sql/leaderboard.sql"],
                          cwd=ROOT, text=True, stdout=subprocess.PIPE).stdout
    script = t.path("views.sql")
    pathlib.Path(script).write_text(made)
    t.check(f"{tool}: read-only", t.shell(db, f".read {script}", "SELECT model FROM leaderboard LIMIT 1", options=["-readonly"]), best + "\n")


def pasted(text, after):
    """The statements that a head offers under a heading, as they would be pasted."""
    lines = text[text.index(after):].splitlines()[2:]
    return "\n".join(line[5:] for line in lines[:next(i for i, line in enumerate(lines) if not line.startswith("--   "))])


def phoenix(t):
    db = t.path("phoenix.db")
    t.check("phoenix: says nothing", t.shell(db, f".read {FILES}/phoenix.sql", ".read sql/adapters/phoenix.sql"), "")
    right, wrong = (1, 1.0, None), (0, 0.0, None)
    support = {"baseline": [right, wrong, wrong, wrong, (None, None, "TimeoutError()"), right, wrong, wrong],
               "new prompt": [right] * 6 + [(None, None, "evaluator: rate limited"), (None, None, "score is missing")]}
    t.check("phoenix: rows", t.rows(db, RESULTS),
            [(m, "support", 101 + i // 2, 1 + i % 2, *a) for m, came in support.items() for i, a in enumerate(came)] +
            [("nightly #3", "sql", 201, 1, *right), ("nightly #3", "sql", 202, 1, 1, 0.8, None),
             ("nightly #3", "sql", 203, 1, None, None, "score is not 0 or 1: slow"),
             ("nightly #4", "sql", 201, 1, *wrong), ("nightly #4", "sql", 202, 1, 0, None, None), ("nightly #4", "sql", 203, 1, 1, None, None)])
    t.check("phoenix: the annotations chosen", t.rows(db, "SELECT dataset_id, annotation FROM phoenix_chosen ORDER BY 1"),
            [(1, "correctness"), (2, "runs")])
    over(t, "phoenix", db,
         [("new prompt", 6, 6, 2), ("nightly #3", 2, 2, 1), ("nightly #4", 3, 1, 0), ("baseline", 7, 2, 1)],
         [("baseline", "new prompt", 3, 2, 0, 1, 0, "not separated"), ("nightly #3", "nightly #4", 2, 0, 2, 0, 0, "not separated")])
    t.check("phoenix: repetitions cluster by example", t.rows(
        db, "SELECT method, ci = (SELECT clustered_ci_counts(column1, column2) FROM (VALUES (1, 2), (0, 2), (1, 1), (0, 2))) AS same "
            "FROM leaderboard WHERE model = 'baseline'"), [("clustered by item", 1)])
    head = (ROOT / "sql/adapters/phoenix.sql").read_text()
    t.shell(db, pasted(head, "To count errored runs as wrong:"))
    t.check("phoenix: errored runs as wrong", t.rows(db, BOARD), [
        ("new prompt", 6, 6, 2), ("nightly #3", 2, 2, 1), ("nightly #4", 3, 1, 0), ("baseline", 8, 2, 0)])
    t.shell(db, pasted(head, "phoenix_results has them all.").replace("'correctness'", "'by hand'"))
    t.check("phoenix: another annotation", t.rows(db, "SELECT model, item, attempt, correct FROM results WHERE correct IS NOT NULL ORDER BY 3"),
            [("new prompt", 104, 1, 1), ("new prompt", 104, 2, 0)])
    t.shell(db, "DROP VIEW results", "CREATE VIEW results AS SELECT * FROM phoenix_results WHERE annotation = 'a tone'")
    t.check("phoenix: a graded annotation", t.rows(db, "SELECT DISTINCT correct, score, error FROM results WHERE task = 'support' ORDER BY error"),
            [(None, None, "TimeoutError()"), (None, 0.25, "score is not 0 or 1: 0.25")])
    t.check("phoenix: back to the chosen", t.rows(db, "SELECT count(*) FROM results", ".read sql/adapters/phoenix.sql"), [(22,)])
    t.shell(db, "DELETE FROM experiment_run_annotations WHERE name = 'runs'")
    t.check("phoenix: nothing annotated", t.rows(db, "SELECT DISTINCT correct, error FROM results WHERE task = 'sql'"), [(None, "score is missing")])
    t.check("phoenix: rows are unique", t.number(db, f"({UNIQUE})"), 0)
    t.check("phoenix: fits the canonical table", t.rows(db, "SELECT count(*) FROM results", *FITS), [(22,)])
    views(t, "phoenix", "new prompt")


def importing(t, db, tool, path, **parameters):
    """Runs an import; gives what it printed, as rows without the files' names."""
    setting = [f".parameter set @{name} \"'{value}'\"" for name, value in dict(path=path, **parameters).items()]
    text = t.shell(db, *setting, ".mode json", f".read sql/adapters/{tool}.sql")
    try:
        return [tuple(v for k, v in row.items() if k != "path") for row in json.loads(text)]
    except ValueError:
        return text


def leaves_settings(t, tool, path):
    """The shell's settings, its temporary tables and the parameters are as they were."""
    db = t.path("settings.db")
    setting = [".read sql/schema.sql", f".parameter set @path \"'{path}'\"", ".mode insert other", ".headers on", ".nullvalue none"]
    show = [".show", "SELECT name FROM temp.sqlite_master", "SELECT key, value FROM temp.sqlite_parameters"]
    before = t.shell(db, *setting, *show)
    after = t.shell(db, *setting, f".read sql/adapters/{tool}.sql", *show)
    t.check(f"{tool}: leaves the shell's settings", (after.endswith(before), "colseparator" in before, "@path" in before), (True, True, True))


def lm_eval(t):
    db = t.path("lm_eval.db")
    t.shell(db, ".read sql/schema.sql")
    said = [("org__large", "arc_easy", None, None, 0, 0, 0, "not imported: there is a later run"),
            ("org__large", "arc_easy", "none", "acc", 5, 4, 0, None), ("org__large", "gsm8k", "strict-match", "exact_match", 8, 6, 0, None),
            ("org/small", "arc_easy", "none", "acc", 5, 3, 0, None), ("org/small", "gsm8k", "strict-match", "exact_match", 8, 3, 0, None),
            ("org/small", "squad", "none", "f1", 5, 1, 3, None)]
    t.check("lm_eval: imports", importing(t, db, "lm_eval", f"{FILES}/lm_eval"), said)
    plain = {("org/small", "gsm8k"): "10010100", ("org/small", "arc_easy"): "11001", ("org__large", "gsm8k"): "11110110", ("org__large", "arc_easy"): "11101"}
    squad = [(None, 0.5, "score is not 0 or 1: 0.5"), (1, 1.0, None), (0, 0.0, None), (None, None, "score is missing"),
             (None, None, "score is not 0 or 1: [1,2]")]
    rows = sorted([(m, task, i, 1, int(c), float(c), None) for (m, task), came in plain.items() for i, c in enumerate(came)] +
                  [("org/small", "squad", i, 1, *a) for i, a in enumerate(squad)])
    t.check("lm_eval: rows", t.rows(db, RESULTS), rows)
    t.check("lm_eval: the same again", importing(t, db, "lm_eval", f"{FILES}/lm_eval"), said)
    t.check("lm_eval: changes nothing", t.rows(db, RESULTS), rows)
    over(t, "lm_eval", db, [("org__large", 13, 10, 0), ("org/small", 15, 7, 3)],
         [("org/small", "org__large", 13, 6, 0, 4, 3, "B better")])
    t.check("lm_eval: tasks", t.rows(
        db, "SELECT tasks, method, task_ci = (SELECT clustered_ci_counts(column1, column2) FROM (VALUES (4, 5), (6, 8))) AS same "
            "FROM leaderboard WHERE model = 'org__large'"), [(2, "bayes", 1)])
    head = (ROOT / "sql/adapters/lm_eval.sql").read_text()
    t.shell(db, pasted(head, "thing.  To count it as wrong:"))
    t.check("lm_eval: a missing score as wrong", t.rows(db, BOARD)[1], ("org/small", 16, 7, 2))
    t.shell(db, pasted(head, "To pass a graded metric from 0.5 up:"))
    t.check("lm_eval: a graded metric passed", t.rows(db, BOARD)[1], ("org/small", 17, 8, 1))

    db = t.path("lm_eval.db")
    t.shell(db, ".read sql/schema.sql", ".read sql/leaderboard.sql")
    t.check("lm_eval: another filter and metric", importing(t, db, "lm_eval", f"{FILES}/lm_eval", filter="flexible-extract", metric="acc_norm"),
            [said[0], ("org__large", "arc_easy", "none", "acc_norm", 5, 3, 0, None), ("org__large", "gsm8k", "flexible-extract", "exact_match", 8, 7, 0, None),
             ("org/small", "arc_easy", "none", "acc_norm", 5, 2, 0, None), ("org/small", "gsm8k", "flexible-extract", "exact_match", 8, 5, 0, None), said[5]])
    t.check("lm_eval: texts of booleans", t.rows(db, "SELECT correct FROM results WHERE model = 'org__large' AND task = 'arc_easy' ORDER BY item"),
            [(1,), (0,), (1,), (0,), (1,)])
    t.check("lm_eval: the first ones replace them", importing(t, db, "lm_eval", f"{FILES}/lm_eval"), said)
    one = f"{FILES}/lm_eval/org__small/samples_gsm8k_2025-01-02T03-04-05.678901.jsonl"
    t.check("lm_eval: one file, under another name", importing(t, db, "lm_eval", one, model="small 2"),
            [("small 2", "gsm8k", "strict-match", "exact_match", 8, 3, 0, None)])
    leaves_settings(t, "lm_eval", f"{FILES}/lm_eval")

    # Files as they come: a byte-order mark, carriage returns, empty lines, no end
    # of the last line; one cut short; one of another age; one without a home.
    folder = pathlib.Path(t.path("out"))
    (folder / "modèle").mkdir(parents=True)
    line = '{{"doc_id": {}, "doc": {{"q": "a {{b}}\\n{{c}} \U0001f642"}}, "filter": "none", "metrics": ["acc"], "acc": {}}}'
    texts = {"crlf": "\ufeff\r\n" + "\r\n\r\n".join(line.format(i, i % 2) for i in range(4)),
             "gaps": "\n\n" + "\n \n\n\n".join(line.format(i, ["true", "false", "null", "-Infinity"][i]) for i in range(4)) + "\n\n\n",
             "short": line.format(0, 1) + "\n" + line.format(1, 1)[:40], "empty": "",
             "old": '{"doc_id": 0, "acc": 1.0}\n', "my_task_2025-13-01": line.format("\"q\"", 1)}
    for name, text in texts.items():
        (folder / "modèle" / f"samples_{name}.jsonl").write_text(text, newline="")
    with open(folder / "modèle" / "samples_big_2025-01-01T00-00-00.jsonl", "w") as big:
        for i in range(20000):
            big.write(line.format(i, float(i % 5 == 0)).replace("a {", "long " * 60 + "{") + "\n")
    t.check("lm_eval: files as they come", importing(t, db, "lm_eval", folder), [
        ("modèle", "big", "none", "acc", 20000, 4000, 0, None), ("modèle", "crlf", "none", "acc", 4, 2, 0, None),
        ("modèle", "empty", None, None, 0, 0, 0, "not imported: no filter and metrics in its records"),
        ("modèle", "gaps", "none", "acc", 4, 1, 2, None), ("modèle", "my_task_2025-13-01", "none", "acc", 1, 1, 0, None),
        ("modèle", "old", None, None, 0, 0, 0, "not imported: no filter and metrics in its records"),
        ("modèle", "short", None, None, 0, 0, 0, "not imported: not JSON lines")])
    t.check("lm_eval: a text for a question", t.rows(db, "SELECT item FROM results WHERE task LIKE 'my_task%'"), [("q",)])
    t.check("lm_eval: nothing there", importing(t, db, "lm_eval", "sql"), [(None, None, None, None, 0, 0, 0, "nothing found: no samples_*.jsonl in @path")])
    t.check("lm_eval: no such path", "cannot stat file: /nowhere" in importing(t, db, "lm_eval", "/nowhere"), True)
    t.check("lm_eval: needs the table", "no such table: results" in importing(t, t.path("bare.db"), "lm_eval", one), True)


def inspect(t):
    db = t.path("inspect.db")
    t.shell(db, ".read sql/schema.sql")
    said = [("openai/a", "arith", "match", 8, 6, 0, None), ("openai/a", "arith", "match", 8, 6, 0, None), ("openai/b", "arith", "match", 8, 3, 0, None),
            ("openai/a", "essay", "graded", 10, 2, 7, None), ("openai/a", "empty", None, 0, 0, 0, "not imported: no samples in it"),
            (None, None, None, 0, 0, 0, "not imported: not a log of Inspect")]
    t.check("inspect: imports", importing(t, db, "inspect", f"{FILES}/inspect"), said)
    arith = {"openai/a": "11 01 11 01", "openai/b": "10 00 10 01"}
    essay = [(None, 0.5, "score is not 0 or 1: P"), (None, 0.25, "score is not 0 or 1: 0.25"), (1, 1.0, None), (1, 1.0, None), (0, 0.0, None),
             (None, None, "score is missing"), (None, None, 'score is not 0 or 1: {"style":1,"facts":0}'), (None, None, "score is not 0 or 1: A"),
             (None, 1.0, "RuntimeError('rate limit')"), (None, 1.0, "invalidated")]
    rows = [(m, "arith", item, epoch + 1, int(c), float(c), None) for m, came in arith.items()
            for item, pair in zip((1, 2, "four", "três"), came.split()) for epoch, c in enumerate(pair)]
    rows[8:8] = [("openai/a", "essay", i + 1, 1, *a) for i, a in enumerate(essay)]
    t.check("inspect: rows", t.rows(db, RESULTS), rows)
    t.check("inspect: the same again", importing(t, db, "inspect", f"{FILES}/inspect"), said)
    t.check("inspect: changes nothing", t.rows(db, RESULTS), rows)
    over(t, "inspect", db, [("openai/a", 11, 8, 7), ("openai/b", 8, 3, 0)], [("openai/a", "openai/b", 4, 2, 0, 0, 2, "not separated")])
    t.check("inspect: epochs cluster by sample", t.rows(
        db, "SELECT method, ci = (SELECT clustered_ci_counts(column1, column2) FROM (VALUES (1, 2), (0, 2), (1, 2), (1, 2))) AS same "
            "FROM leaderboard WHERE model = 'openai/b'"), [("clustered by item", 1)])
    head = (ROOT / "sql/adapters/inspect.sql").read_text()
    errored = pasted(head, "score, or to count every errored sample as wrong:").splitlines()
    partial = pasted(head, "from 0.5 up:").splitlines()
    for what, statement, settled in (("scores of errored samples", errored[0], {9: 1, 10: 1}), ("errored samples as wrong", errored[1], {9: 0, 10: 0}),
                                     ("partial credit as wrong", partial[0], {1: 0, 2: 0}), ("partial credit passed", partial[1], {1: 1, 2: 0})):
        t.check(f"inspect: {what}", t.rows(db, "SELECT item, correct FROM results WHERE task = 'essay' AND item NOT IN (3, 4, 5) ORDER BY item",
                                           "BEGIN", statement), [(i, settled.get(i)) for i in (1, 2, 6, 7, 8, 9, 10)])
    t.check("inspect: another scorer", importing(t, db, "inspect", f"{FILES}/inspect/2025-03-02T09-00-00+00-00_essay_a.json", scorer="strict"),
            [("openai/a", "essay", "strict", 10, 4, 2, None)])
    t.check("inspect: under another name", importing(t, db, "inspect", f"{FILES}/inspect/2025-03-01T10-00-00+00-00_arith_a.json", model="a, before"),
            [("a, before", "arith", "match", 8, 5, 1, None)])
    t.check("inspect: an errored sample", t.rows(db, "SELECT item, attempt, correct, score, error FROM results WHERE model = 'a, before' AND correct IS NULL"),
            [("four", 1, None, None, "RuntimeError('rate limit')")])
    folder = pathlib.Path(t.path("logs"))
    folder.mkdir()
    (folder / "zipped.eval").write_bytes(b"PK")
    log = (ROOT / FILES / "inspect/2025-03-01T11-00-00+00-00_arith_b.json").read_text()
    (folder / "cut.json").write_text(log[:2000])
    (folder / "crlf.json").write_text(log.replace("openai/b", "modèle"), newline="\r\n")
    t.check("inspect: files as they come", importing(t, db, "inspect", folder), [
        ("modèle", "arith", "match", 8, 3, 0, None), (None, None, None, 0, 0, 0, "not imported: not JSON"),
        (None, None, None, 0, 0, 0, "not imported: zipped, see inspect log convert")])
    t.check("inspect: nothing there", importing(t, db, "inspect", "sql"), [(None, None, None, 0, 0, 0, "nothing found: no *.json in @path")])
    t.check("inspect: needs the table", "no such table: results" in importing(t, t.path("bare.db"), "inspect", f"{FILES}/inspect"), True)
    leaves_settings(t, "inspect", f"{FILES}/inspect")


def all_or_nothing(t):
    """An import that cannot take every record takes none, and says why in place of its summary; one that the
    database refuses says that and no more."""
    record = '{"doc_id": %s, "filter": "none", "metrics": ["acc"], "acc": 1}\n'
    no_id, no_filter = '{"filter": "none", "metrics": ["acc"], "acc": 1}\n', '{"doc_id": 4, "metrics": ["acc"], "acc": 1}\n'
    log = '{"eval": {"model": "m", "task": "t", "created": "2025-01-01"}, "samples": [%s]}'
    sample, no_epoch, bare = '{"id": %s, "epoch": 1}', '{"id": 7}', '{"epoch": 1}'
    for tool, files, listed in (
            ("lm_eval", {"samples_a.jsonl": record % 0 + record % 1 + no_id + no_id, "samples_b.jsonl": record % 0,
                         "samples_c.jsonl": record % 1 + no_filter}, ["a.jsonl|record 3 has no doc_id", "c.jsonl|record 2 has no filter"]),
            ("inspect", {"a.json": log % ",".join((sample % 1, sample % 2, no_epoch, bare)), "b.json": log % (sample % 9),
                         "c.json": log % f"5, {bare}"}, ["a.json|sample 3 has no epoch", "c.json|sample 1 has no id"])):
        folder, db = pathlib.Path(t.path("mixed")), t.path("mixed.db")
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
        t.shell(db, ".read sql/schema.sql", "INSERT INTO results(model, task, item, correct) VALUES ('kept', 't', 1, 1)")
        before = pathlib.Path(db).read_bytes()
        command = [f".parameter set @path \"'{folder}'\"", f".read sql/adapters/{tool}.sql"]
        for bail in ([], ["-bail"]):
            done = subprocess.run(["sqlite3", *bail, db, *command, "SELECT 'went on'"], cwd=ROOT, text=True, capture_output=True)
            lines = [line.removeprefix(f"{folder}/").removeprefix("samples_") for line in done.stdout.splitlines()]
            t.check(f"{tool} {bail}: lists what stopped it, and no more", lines, listed)
            t.check(f"{tool} {bail}: one error", (done.returncode, done.stderr.count("\n"), "nothing was imported" in done.stderr), (1, 1, True))
            t.check(f"{tool} {bail}: leaves the database as it was", pathlib.Path(db).read_bytes() == before, True)
        for name in ("samples_a.jsonl", "samples_c.jsonl", "a.json", "c.json"):
            (folder / name).unlink(missing_ok=True)
        done = subprocess.run(["sqlite3", "-readonly", db, *command], cwd=ROOT, text=True, capture_output=True)
        t.check(f"{tool}: a database that takes nothing", (done.returncode, done.stdout, done.stderr.count("\n"), "readonly" in done.stderr),
                (1, "", 1, True))
        done = subprocess.run(["sqlite3", "-bail", db, *command], cwd=ROOT, text=True, capture_output=True)
        t.check(f"{tool}: the rest is imported", (done.returncode, done.stdout.count("\n"), done.stderr), (0, 1, ""))
        t.check(f"{tool}: and is there", t.number(db, "count(*) FROM results"), 2)
        said = t.shell(db, ".parameter set @path \"'/nowhere'\"", command[1])
        t.check(f"{tool}: no such path, and no summary", (said.count("\n"), "cannot stat file: /nowhere" in said), (1, True))


def main():
    t = Suite(sys.argv[1].rsplit(".", 1)[0])
    schema(t)
    verdicts(t)
    attempts(t)
    own_tables(t)
    wilson(t)
    promptfoo(t)
    phoenix(t)
    lm_eval(t)
    inspect(t)
    all_or_nothing(t)
    t.end()


if __name__ == "__main__":
    main()
