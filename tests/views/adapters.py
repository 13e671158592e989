#!/usr/bin/python3
"""From rows of results to a leaderboard: sql/ in the real sqlite3 shell.

    adapters.py EXTENSION

Intervals are compared with the functions over counts, called with counts that were
counted by hand.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from checks import SQLITE  # noqa: E402


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
        """The shell's output, followed by its errors."""
        done = subprocess.run([*SQLITE, *options, database, self.load, *commands], cwd=ROOT,
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


BOARD = "SELECT model, n, correct, errored FROM eval_leaderboard"
PAIRS = "SELECT model_a, model_b, n, both, only_a, only_b, neither, verdict FROM eval_compare"
TABLE = "results(model, task, item, attempt, correct, score, error)"


def over(t, name, database, board, pairs):
    """The leaderboard and the comparison over an adapter: counts, then intervals from these.  Of pairs whose questions
    were asked again the names and the number of questions: views.py has the rest."""
    t.check(f"{name}: wilson.sql says nothing", t.shell(database, ".read sql/wilson.sql"), "")
    t.check(f"{name}: leaderboard", t.rows(database, BOARD), board)
    again = {(a, b) for a, b in t.rows(database, "SELECT model_a, model_b FROM eval_compare WHERE method = 'paired means'")}
    t.check(f"{name}: compare", [row[:3] if row[:2] in again else row for row in t.rows(database, PAIRS)],
            [row[:3] if row[:2] in again else row for row in pairs])
    for model, n, k, errored in board:
        where, k = f"WHERE model = '{model}'", k or 0
        if n:
            t.check(f"{name}: accuracy of {model}",
                    t.number(database, f"abs(accuracy - (SELECT avg(m) FROM (SELECT avg(correct) AS m FROM results {where} "
                                       f"AND correct IS NOT NULL GROUP BY task, item))) < 1e-15 FROM eval_leaderboard {where}"), 1)
        t.check(f"{name}: plain SQL's Wilson interval of {model}",
                t.rows(database, f"SELECT n, coalesce(correct, 0), errored, abs(lo - ci_lo(wilson_ci_counts({k}, {n}))) <= 1e-15 "
                                 f"AND abs(hi - ci_hi(wilson_ci_counts({k}, {n}))) <= 1e-15 AS near FROM leaderboard_wilson {where}"),
                [(n, k, errored, 1 if n else None)])
    for a, b, n, both, only_a, only_b, neither, _ in (row for row in pairs if row[:2] not in again):
        cells = f"{both}, {only_a}, {only_b}, {neither}"
        t.check(f"{name}: {a} against {b}",
                t.rows(database, f"SELECT ci = paired_diff_ci_counts({cells}), lo = ci_lo(ci), hi = ci_hi(ci), "
                                 f"prob_a_better = paired_prob_better_counts({cells}), "
                                 f"abs(diff - ({only_a} - {only_b}) / {n}.0) < 1e-15 "
                                 f"FROM eval_compare WHERE model_a = '{a}' AND model_b = '{b}'"), [(1, 1, 1, 1, 1)])


def schema(t):
    db = t.path("schema.db")
    t.check("schema: makes a table", t.shell(db, ".read sql/schema.sql"), "")
    t.check("schema: again keeps it", t.shell(db, "INSERT INTO results(model, task, item) VALUES ('keep', 't', 1)",
                                              ".read sql/schema.sql", "SELECT count(*) FROM results"), "1\n")
    taken = ["('m', 't', 1, 1, 1, 1.0, NULL)", "('m', 't', 'q', 1, 0, 0.5, NULL)", "('m', 't', '', 1, NULL, NULL, 'down')",
             "('m', '', 1, 1, 1, NULL, NULL)", "('m', 't', 1, 2, 1, NULL, NULL)", "('m', 't', 2, 1, '1', '0.5', NULL)",
             "('m', 't', 3, 1, 1.0, 1, NULL)"]
    for row in taken:
        t.check(f"schema: takes {row}", t.shell(db, f"INSERT INTO {TABLE} VALUES {row}"), "")
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
        said = t.shell(db, f"INSERT INTO {TABLE} VALUES {row}")
        t.check(f"schema: refuses {row}", f"{constraint} constraint failed" in said, True)
    for lo, hi, said in (("1", "10", ""), ("NULL", "NULL", ""), ("10", "1", "CHECK"), ("1", "NULL", "CHECK"), ("1", "1", "CHECK")):
        answer = t.shell(db, f"INSERT INTO results(model, task, item, score, score_lo, score_hi) VALUES ('m', 'r', '{lo} {hi}', 5, {lo}, {hi})")
        t.check(f"schema: a range from {lo} to {hi}", said in answer if said else answer == "", True)


def verdicts(t):
    """The three verdicts, and rows without a counterpart."""
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
         [("same", "good", 20, 18, 1, 1, 0, "not separated"), ("same", "poor", 20, 8, 11, 1, 0, "A better"),
          ("good", "poor", 20, 9, 10, 0, 1, "A better")])
    t.check("verdicts: independent questions", t.rows(
        db, "SELECT model, method, lo = ci_lo(bayes_ci_counts(correct, n)), hi = iif(correct = n, 1.0, ci_hi(bayes_ci_counts(correct, n))), "
            "task_ci, tasks FROM eval_leaderboard WHERE n ORDER BY model"),
        [(m, "bayes", 1, 1, None, 1) for m in ("elsewhere", "good", "poor", "same")])
    t.check("verdicts: a model without an answer", t.rows(
        db, "SELECT accuracy, ci, lo, hi, tasks, task_ci, bar FROM eval_leaderboard WHERE model = 'down'"),
        [(None, None, None, None, 0, None, None)])
    head = [line[5:] for line in (ROOT / "sql/wilson.sql").read_text().splitlines() if line.startswith("--   ")]
    bare = "\n".join(head[next(i for i, line in enumerate(head) if line.startswith("SELECT model, n, k / n")):])
    t.check("wilson: the query in its head", t.rows(
        db, f"SELECT count(*), sum(abs(q.lo - w.lo) + abs(q.hi - w.hi) < 1e-15) FROM ({bare.strip().rstrip(';')}) AS q JOIN leaderboard_wilson AS w USING (model)"),
        [(4, 4)])


def attempts(t):
    """Attempts at a question are its mean; two tasks may have items of the same name."""
    db = t.path("attempts.db")
    t.shell(db, ".read sql/schema.sql", """
      INSERT INTO results(model, task, item, attempt, correct) VALUES
      ('m', 't', 1, 1, 1), ('m', 't', 1, 2, 1), ('m', 't', 2, 1, 0), ('m', 'u', 1, 1, 0), ('m', 'u', 1, 2, 0), ('m', 'u', 2, 1, 1)""")
    t.check("attempts: four questions, two of them right", t.rows(
        db, "SELECT method, ci = bayes_ci_counts(2, 4) AS same, questions FROM eval_leaderboard"), [("mean of questions", 1, 4)])
    t.shell(db, "INSERT INTO results(model, task, item, attempt, correct) VALUES ('m', 'u', 2, 2, 0)")
    t.check("attempts: one of them half right", t.rows(
        db, "SELECT accuracy, ci = (SELECT mean_ci(column1) FROM (VALUES (1), (0), (0), (0.5))) AS same, n, questions FROM eval_leaderboard"), [(0.375, 1, 7, 4)])
    t.shell(db, """INSERT INTO results(model, task, item, correct) VALUES ('once', 't', 1, 1), ('once', 't', 2, 1)""")
    t.check("attempts: of one model alone", t.rows(db, "SELECT model, method FROM eval_leaderboard ORDER BY model"),
            [("m", "mean of questions"), ("once", "bayes")])


def own_tables(t):
    """A table of the user's own: no key, NULLs where schema.sql has none, numbers as text."""
    db = t.path("own.db")
    t.shell(db, "CREATE TABLE results(model, task, item, attempt, correct)", ".read sql/wilson.sql",
            "INSERT INTO results VALUES ('a', NULL, 1, NULL, 1), ('a', NULL, 2, NULL, '0'), ('b', NULL, '1', NULL, 0), ('b', NULL, '2', NULL, '1'), "
            "('a', NULL, 1, NULL, 1), ('a', NULL, 1, NULL, 1), ('b', NULL, NULL, NULL, 1)")
    t.check("own: plain SQL counts text too", t.rows(db, "SELECT model, n, correct, invalid FROM leaderboard_wilson"), [("a", 4, 3, 0), ("b", 3, 2, 0)])
    t.check("own: a question has a name", "the item of a row of model 'b' is NULL" in t.shell(db, "SELECT * FROM eval_leaderboard"), True)
    t.shell(db, "DELETE FROM results WHERE item IS NULL")
    t.check("own: no task and no attempt", t.rows(db, "SELECT model, n, correct, tasks, task_ci IS NOT NULL FROM eval_leaderboard"),
            [("a", 4, 3, 1, 0), ("b", 2, 1, 1, 0)])
    t.check("own: an item is the same as text", t.rows(db, "SELECT n, mean_a, mean_b, method FROM eval_compare"), [(2, 0.5, 0.5, "paired means")])
    t.shell(db, "INSERT INTO results VALUES ('c', 't', 1, 1, 0.7), ('d', 't', 1, 1, 'yes'), ('d', 't', 2, 1, 1)")
    t.check("own: plain SQL does not guess", t.rows(db, "SELECT model, n, correct, invalid, accuracy, lo, hi FROM leaderboard_wilson WHERE model > 'b' ORDER BY 1"),
            [("c", 1, None, 1, None, None, None), ("d", 2, None, 1, None, None, None)])
    for name in ("leaderboard", "compare", "tasks", "common", "passes"):
        t.check(f"own: nor does eval_{name}", "correct must be 0, 1, true or false, got 0.7" in t.shell(db, f"SELECT * FROM eval_{name}"), True)
    t.shell(db, "DELETE FROM results", "WITH r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 10) "
            "INSERT INTO results SELECT 'm', 't', CAST('p' || char(0) || i AS BLOB), 1, i % 2 FROM r UNION ALL SELECT 'm', 't', 'q', 1, 1 FROM r WHERE i < 3")
    t.check("own: items of bytes that differ after a zero differ", t.rows(
        db, "SELECT ci = bayes_ci_counts(6, 11), questions FROM eval_leaderboard"), [(1, 11)])


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


def by_hand(t):
    """The report by the shell, over a database that it may only read and that has tables and views of the board's
    names."""
    db = t.path("hand.db")
    t.shell(db, ".read sql/schema.sql", "INSERT INTO results(model, task, item, correct) VALUES ('a', 't', 1, 1), ('a', 't', 2, 0), ('b', 't', 1, 1)",
            "CREATE VIEW leaderboard AS SELECT 1 AS mine", "CREATE TABLE pairs(mine)", "CREATE TABLE tasks(mine)")
    before = pathlib.Path(db).read_bytes()
    page = t.shell(db, ".read sql/report.sql", options=["-bail", "-readonly"])
    t.check("report.sql: a whole page", (page[:15].lower(), page[-8:], ">a<" in page and ">b<" in page), ("<!doctype html>", "</html>\n", True))
    t.check("report.sql: the database is as it was", pathlib.Path(db).read_bytes() == before, True)


def main():
    t = Suite(sys.argv[1].rsplit(".", 1)[0])
    schema(t)
    verdicts(t)
    attempts(t)
    own_tables(t)
    wilson(t)
    by_hand(t)
    t.end()


if __name__ == "__main__":
    main()
