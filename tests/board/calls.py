#!/usr/bin/python3
"""The tables of the board: calls that an OR names, and what they refuse to read.

    calls.py EXTENSION

The rows of an OR are compared with those of its calls, asked one at a time.
"""
import collections
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/views")]
import views  # noqa: E402
from board import fails, one, table  # noqa: E402
from checks import check, finish  # noqa: E402

ARGUMENTS = ("source", "options")
GATED = (*ARGUMENTS, "baseline", "candidate", "margin", "sure")
METHODS = ("given_k", "given_n", "given_level")
NARROW, WIDE = '{"level":0.8}', '{"level":0.99}'


def two_sources():
    """Answers in ra and rb, with attempts, two tasks, verdicts of a judge and votes; and decoys in results."""
    db = views.opened()
    for name, shift in (("ra", 0), ("rb", 3), ("results", 5)):
        db.execute(f"CREATE TABLE {name}(model, task, item, attempt, correct, judge, truth)")
        db.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?, ?, ?)",
                       [(m, t, i, a, int((i * 7 + a + shift + ord(m)) % 5 > 1), int(i % 3 > 0), int(i % 4 > 0)) for m in "abc" for t in "xy" for i in range(12) for a in (1, 2, 3)])
    for name, shift in (("va", 0), ("vb", 1), ("votes", 2)):
        db.execute(f"CREATE TABLE {name}(model_a, model_b, winner)")
        db.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", [(a, b, ("model_a", "model_b", "tie")[(i + shift) % 3]) for a, b in ("ab", "bc", "ca") for i in range(5 + shift)])
    return db


def quoted(value):
    return repr(value) if isinstance(value, (int, float)) else "'" + value + "'"


def counted(rows):
    return collections.Counter(tuple(row.values()) for row in rows)


def check_or(db, name, arguments, *calls, more=""):
    """`more` is a condition of the last call."""
    hidden = ", ".join(arguments)
    wheres = [" AND ".join(f"{argument} = {quoted(value)}" for argument, value in zip(arguments, call) if value is not None) for call in calls]
    wheres[-1] += more
    found = counted(table(db, f"SELECT *, {hidden} FROM {name} WHERE {' OR '.join(f'({where})' for where in wheres)}"))
    asked = [counted(table(db, f"SELECT *, {hidden} FROM {name} WHERE {where}")) for where in wheres]
    check(f"{name}: each of {calls} has rows of its own", all(asked) and len(set.union(*map(set, asked))) == sum(map(len, asked)))
    check(f"{name}: the rows of {' OR '.join(wheres)}: {sum(found.values())} of {[sum(rows.values()) for rows in asked]}", found == sum(asked, collections.Counter()))


def ors():
    db = two_sources()
    for name in ("eval_judge", "eval_votes", *(f"eval_{name}" for name in views.TABLES)):
        a, b = ("va", "vb") if name == "eval_votes" else ("ra", "rb")
        check_or(db, name, ARGUMENTS, (a, NARROW), (b, WIDE))
        check_or(db, name, ARGUMENTS, (a, NARROW), (b, NARROW), (a, WIDE), (b, WIDE))
        check_or(db, name, ARGUMENTS, (a, None), (b, WIDE))
        check_or(db, name, ARGUMENTS, *((a, f'{{"level":{level / 100}}}') for level in range(60, 90)), (b, WIDE))
        # SQLite makes an IN of two such calls if nothing else differs.
        column = one(db, f"SELECT name FROM pragma_table_info('{name}') LIMIT 1")
        check_or(db, name, ARGUMENTS, (a, NARROW), (a, WIDE), more=f" AND {column} IS NOT 'none'")
        rows = table(db, f"SELECT * FROM {name}('{a}') WHERE options = '{NARROW}' OR (options = '{WIDE}' AND {column} IS NOT 'none')")
        check(f"{name}: of one source, an OR of options", len(rows) == 2 * one(db, f"SELECT count(*) FROM {name}('{a}')") > 0)
        ids = [row[0] for row in db.execute(f"SELECT rowid FROM {name}('{a}')")]
        check(f"{name}: every row has its rowid", len(set(ids)) == len(ids))
    check_or(db, "eval_gate", GATED, ("ra", NARROW, "a", "b", 0.02, 0.9), ("rb", WIDE, "b", "c", 0.03, 0.8))
    check_or(db, "eval_gate", GATED, ("ra", NARROW, "a", "b", 0.02, 0.9), ("ra", NARROW, "a", "b", 0.02, 0.8), ("ra", NARROW, 0.4, "b", None, None))
    check_or(db, "ci_methods", METHODS, (3, 10, 0.9), (4, 20, 0.8), (4, 20, 0.7))
    check_or(db, "ci_methods", METHODS, (3, 10, None), (4, 20, 0.8))
    for name in ("eval_compare", "eval_slices"):
        pairs = table(db, f"SELECT model_a, model_b, n FROM {name}('ra') WHERE (model_a = 'b' AND model_b = 'a') OR (model_a = 'c' AND model_b = 'b')")
        check(f"{name}: an OR of two pairs", {(p["model_a"], p["model_b"]) for p in pairs} == {("b", "a"), ("c", "b")})


def named(values, column="model"):
    """A table in which these are models, tasks or items."""
    db = views.opened()
    db.execute("CREATE TABLE results(model, task, item, correct)")
    db.executemany(f"INSERT INTO results({column}, {', '.join({'model', 'task', 'item'} - {column})}, correct) VALUES (?, 'u', 'v', 1)", [(value,) for value in values])
    return db


def refused_names():
    for column in ("model", "task", "item"):
        for value in ("b\0c", "\0", "x" * (2**20 + 1), "\0" + "x" * 2**21, b"x" * (2**20 + 1)):
            fails(named(["a", value], column), "SELECT * FROM eval_leaderboard", f"the {column} ", " holds a zero character or over a million bytes; leave such rows out with a view")
        rows = table(named(["x" * 2**20, b"a\0b"], column), "SELECT * FROM eval_leaderboard")
        check(f"a {column} of a million bytes, and one of binary bytes", sum(row["n"] for row in rows) == 2)


# Measured in a process of its own: the memory of this one never shrinks.
PEAK = """
import resource, sqlite3, sys
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
db.executescript(sys.argv[2])
try:
    print(db.execute(sys.argv[3]).fetchone())
except sqlite3.Error as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def peak(made, asked):
    """The first row or the error, and the megabytes that the process took."""
    done = subprocess.run([sys.executable, "-c", PEAK, views.EXTENSION, made, asked], capture_output=True, text=True)
    *said, memory = done.stdout.splitlines()
    return "\n".join(said), int(memory)


def refused_sizes():
    usual = peak("CREATE TABLE results AS SELECT 'm' AS model, 1 AS item, 1 AS correct", "SELECT n FROM eval_leaderboard")[1]
    huge = "zeroblob(900000000)"
    for asked, row in (("eval_leaderboard('v')", f"'m' AS model, {huge} AS item, 1 AS correct"), ("eval_leaderboard('v')", f"'m' AS model, 1 AS item, CAST({huge} AS TEXT) AS correct"),
                       ("eval_leaderboard('v', '{\"model\":\"m\"}')", f"CAST({huge} AS TEXT) AS m, 1 AS item, 1 AS correct"),
                       ("eval_votes('v')", f"'a' AS model_a, {huge} AS model_b, 1 AS winner"), ("eval_judge('v')", f"1 AS judge, {huge} AS truth")):
        said, memory = peak(f"CREATE VIEW v AS SELECT {row}", f"SELECT * FROM {asked}")
        check(f"{asked} of {row} takes {memory} MB, {usual} with nothing: {said}", memory < usual + 100 and ("too big" if "judge" in asked else "a value has over 67108864 bytes") in said)
    db = named(["a"])
    before = db.execute("SELECT length(zeroblob(100000000))").fetchone()[0]
    table(db, "SELECT * FROM eval_leaderboard")
    fails(db, "SELECT * FROM eval_leaderboard('none')", "none")
    db.execute("CREATE VIEW itself AS SELECT * FROM eval_leaderboard('itself')")
    fails(db, "SELECT * FROM eval_leaderboard('itself')", "reads itself")
    check("the connection keeps its own limit", one(db, "SELECT length(zeroblob(100000000))") == before)
    grid = "CREATE TABLE results AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT {} AS model, {} AS task, i AS item, i % 3 > 0 AS correct FROM n"
    said, memory = peak(grid.format(49999, "'m' || (i % 10000)", "'t'"), "SELECT max(rank_hi) FROM eval_leaderboard")
    check(f"10,000 models: {said}, {memory} MB", memory < usual + 100 and "eval_leaderboard: model has more than 5000 values, such as 'm5000', and a board has at most that many models" in said)
    said, memory = peak(grid.format(9999, "'m' || (i % 2000)", "'t'"), "SELECT count(*), max(rank_hi) FROM eval_leaderboard")
    check(f"2,000 models: {said}, {memory} MB", said == "(2000, None)" and memory < usual + 300)
    said, memory = peak(grid.format(29999, "'m' || (i % 1000)", "'t' || i"), "SELECT count(*) FROM eval_tasks")
    check(f"1,000 models, 30,000 tasks: {said}, {memory} MB", memory < usual + 300 and "task has 5001 values, such as 't5000', and a board of 1000 models has at most 5000 tasks" in said)


def blanks():
    """'' is a missing answer, as a CSV reader left it."""
    db = views.opened()
    for name, nothing in (("blank", ""), ("missing", None)):
        db.execute(f"CREATE TABLE {name}(model, item, correct, score, error, score_lo, score_hi)")
        db.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?, ?, ?)",
                       [(m, i, nothing if i % 4 == 0 else str(int(i % n > 0)), nothing, nothing, nothing, nothing) for m, n in (("a", 3), ("b", 5)) for i in range(20)] +
                       [(m, i, nothing, nothing if i % 4 == 0 else str(i % 3 / 2), nothing, nothing, nothing) for m in "cd" for i in range(20)])
    for name in views.TABLES:
        for options in ("{}", '{"errors":"wrong"}'):
            blank, missing = (counted(table(db, f"SELECT * FROM eval_{name}(?, ?)", source, options)) for source in ("blank", "missing"))
            check(f"eval_{name}: '' is what NULL is, with {options}", blank == missing)
    check("and is an error that is counted", [row["errored"] for row in table(db, "SELECT * FROM eval_leaderboard('blank') WHERE model IN ('a', 'b')")] == [5, 5])
    db.execute("INSERT INTO blank VALUES ('a', 99, ' ', NULL, NULL, NULL, NULL)")
    fails(db, "SELECT * FROM eval_leaderboard('blank')", "correct must be 0, 1, true or false, got ' '")
    for call in ("bayes_ci(correct)", "icc_ci(correct, item)", "mcnemar_p(correct, correct)"):
        fails(db, f"SELECT {call} FROM blank", "a result must be 0 or 1, got ''; turn a missing one into NULL first, as in ", "nullif(correct, '')")


def ranges():
    """One end of a range declares it, the other end being 0 or 1."""
    db = views.opened()
    db.execute("CREATE TABLE results(model, item, correct, score)")
    db.executemany("INSERT INTO results VALUES ('m', ?, NULL, ?)", enumerate((20, 50, 80, 90)))
    check("hi alone", table(db, "SELECT accuracy FROM eval_leaderboard(NULL, '{\"hi\":100}')") == [{"accuracy": 0.6}])
    db.execute("UPDATE results SET score = -score / 100.0, correct = 1")
    check("lo alone, of verdicts with a score", table(db, "SELECT round(accuracy, 12) AS x FROM eval_leaderboard(NULL, '{\"lo\":-1}')") == [{"x": 0.2}])
    db.execute("UPDATE results SET score = -score * 100")
    check("hi alone, of verdicts with a score", table(db, "SELECT round(accuracy, 12) AS x FROM eval_leaderboard(NULL, '{\"hi\":100}')") == [{"x": 0.6}])


def reports():
    db = named(["a"])
    check("a report of NULL is NULL", table(db, "SELECT eval_report(NULL) AS a, eval_report(NULL, '{}') AS b") == [{"a": None, "b": None}])
    check("options that are NULL are none", one(db, "SELECT eval_report('results', NULL) = eval_report()") == 1)


for part in (ors, refused_names, refused_sizes, blanks, ranges, reports):
    part()
finish()
