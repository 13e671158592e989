"""Boards of the sizes for which eval_leaderboard and the other tables have an aim, for bench.py."""
import collections
import pathlib
import re

import yaml

PAGES = pathlib.Path(__file__).resolve().parent.parent.parent / "sql/datasette/metadata.yaml"
LEADERBOARD = "SELECT * FROM eval_leaderboard"
RANKS = "SELECT model, accuracy, ci, rank_lo, rank_hi, p_best FROM eval_leaderboard"
PAIRS = "SELECT * FROM eval_compare"
# Every model against the leader: a query that would read one board per model if they did not share one.
JOINED = """SELECT l.model, c.diff FROM eval_leaderboard AS l JOIN eval_compare AS c ON c.model_a = l.model
            AND c.model_b = (SELECT model FROM eval_leaderboard LIMIT 1)"""
CORRELATED = """SELECT model, (SELECT count(*) FROM eval_compare AS c WHERE c.model_a = l.model AND c.verdict_all = 'A better')
                FROM eval_leaderboard AS l"""

# The number of tasks, of ten, that are graded in hundredths.
Shape = collections.namedtuple("Shape", "models questions graded attempts", defaults=(0, 1))
# The queries, and their aims in seconds.
HELD = (
    (Shape(5, 100), (("the leaderboard", LEADERBOARD, 0.005), ("every pair", PAIRS, 0.005))),
    (Shape(100, 500), (("ranks and intervals", RANKS, 0.02), ("every pair with its interval", PAIRS, 0.6),
                       ("a join with `eval_compare`", JOINED, 0.15), ("a correlated subquery of it", CORRELATED, 0.15))),
    (Shape(1000, 1000), (("the leaderboard", LEADERBOARD, 1),)),
    (Shape(20, 50_000), (("the leaderboard", LEADERBOARD, 0.5),)),
    (Shape(20, 50_000, 5), (("the leaderboard", LEADERBOARD, 1.7),)),
    (Shape(20, 10_000, 0, 5), (("the leaderboard", LEADERBOARD, 0.6),)),
    (Shape(10, 1_000_000), (("the leaderboard", LEADERBOARD, 4),)),
)
PAGE_SHAPES = ((Shape(5, 100), 0.2), (Shape(5, 100, 5), 0.2), (Shape(20, 5000), 1), (Shape(20, 5000, 5), 1),
               (Shape(100, 1000), 1), (Shape(100, 1000, 5), 1))
# One row more than Datasette shows, which tells it that there are more.
PAGE_ROWS = 1001
LARGEST_MIB = 130


def name_of(shape):
    return (f"{shape.models:,} models, {shape.questions:,} questions" + (", half graded" if shape.graded else "")
            + (f", {shape.attempts} attempts" if shape.attempts > 1 else ""))


def smaller(shape, times):
    """The same board with a fraction of the questions."""
    return shape._replace(questions=max(100, shape.questions // times))


def peer(shape):
    return f"SELECT model, avg({'coalesce(correct, score)' if shape.graded else 'correct'}) FROM results GROUP BY model"


def fill(query, shape, indexed=False):
    """Models of different ability on questions of different difficulty, with a hash as the random number; rows in the order of a run."""
    query("DROP TABLE IF EXISTS results")
    query("CREATE TABLE results(model TEXT, task TEXT, item INTEGER, attempt INTEGER, correct INTEGER, score REAL)")
    query(f"""WITH m(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM m WHERE i < {shape.models} - 1),
                   q(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM q WHERE i < {shape.questions} - 1),
                   a(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM a WHERE i < {shape.attempts}),
                   hash AS (SELECT m.i AS m, q.i AS q, a.i AS a, (m.i * 40503 + q.i * 69069 + a.i * 97) * 2654435761 % 4294967296 AS h
                            FROM m CROSS JOIN q CROSS JOIN a),
                   level AS (SELECT m, q, a, (q * 7919 % 1009) / 1009.0 + 0.5 * m / {shape.models}
                                    + (h / 65536 + 1) * (h % 65536 + 1) % 10007 / 10007.0 AS x FROM hash)
              INSERT INTO results SELECT printf('model %03d', m), 'task ' || q % 10, q, a, iif(q % 10 < {shape.graded}, NULL, x > 1.2),
                     iif(q % 10 < {shape.graded}, round(x / 2.5, 2), NULL) FROM level""")
    if indexed:
        query("CREATE UNIQUE INDEX answers ON results(task, item, model, attempt)")


def pages():
    """Datasette's queries, with every field of their forms empty."""
    queries = yaml.safe_load(PAGES.read_text())["databases"]["evals"]["queries"]
    return {name: re.sub(r":\w+", "''", query["sql"]) for name, query in queries.items()}
