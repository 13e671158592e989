#!/usr/bin/python3
"""The board: eval_leaderboard, eval_compare, eval_tasks, eval_common and eval_passes.

    board.py EXTENSION

Every cell is compared with the views of oracle.sql, which compute the same in SQL, over the tables of
tests/views/views.py; p, verdicts, ranks and P(best), for which the views have another rule, are compared with anew.py.
Further tests cover what views cannot do: options, names of tables and columns, errors, recursion, pairs chosen by
WHERE.
"""
import contextlib
import itertools
import json
import math
import pathlib
import sqlite3
import sys
import threading
import time

import numpy as np
from scipy import stats

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/views")]
import views  # noqa: E402
from anew import Anew  # noqa: E402
from checks import check, finish, seeded  # noqa: E402

ORACLE = (ROOT / "tests/board/oracle.sql").read_text()
SCHEMA = (ROOT / "sql/schema.sql").read_text()
TABLES = {"leaderboard": "eval_leaderboard", "compare": "eval_compare", "by_task": "eval_tasks", "common": "eval_common",
          "passes": "eval_passes"}
# The view adds doubles in the order of rows, anew.py those of question means; posterior.py has other nodes.
ROUNDED = {"pass_at_k": 1e-14, "pass_hat_k": 1e-14, "p": 1e-9, "p_all": 1e-9, "task_lo": 1e-12, "task_hi": 1e-12,
           "p_best": 1e-9, "rank": 1e-8, "prob_all": 1e-9, "diff_all": 1e-9, "ci_unseen_lo": 1e-12, "ci_unseen_hi": 1e-12}


def filled(rows):
    db = views.opened()
    db.executescript(SCHEMA + ORACLE)
    db.executemany(f"INSERT INTO results({', '.join(views.COLUMNS)}) VALUES ({', '.join('?' * len(views.COLUMNS))})", rows)
    db.commit()
    return db


def table(db, sql, *arguments):
    return [dict(row) for row in db.execute(sql, arguments)]


def one(db, sql, *arguments):
    return db.execute(sql, arguments).fetchone()[0]


def fails(db, sql, *words):
    """The statement is an error whose message has all these words, and the connection still works."""
    try:
        got = str(table(db, sql))
    except sqlite3.Error as error:
        got = str(error)
        check(f"{sql}: {got!r} has {words}", all(w in got for w in words))
    else:
        check(f"{sql} fails, with {words}, not {got[:200]}", False)
    check(f"after {sql}", one(db, "SELECT 1") == 1)


def same_cell(column, a, b):
    if a is None or b is None or isinstance(a, (str, bytes)) or isinstance(b, (str, bytes)):
        return a == b
    return abs(a - b) <= ROUNDED.get(column, 0)


def in_order(rows, models):
    """Each pair once, with the model that is higher in the leaderboard as A."""
    place = {model: i for i, model in enumerate(models)}
    rows = [row if place[row["model_a"]] < place[row["model_b"]] else views.turned(row) for row in rows]
    return sorted(rows, key=lambda row: (place[row["model_a"]], place[row["model_b"]]))


def corrected(anew, view, rows, pairs, places, among_all):
    """The rows of a view, with the values of anew.py where it has any."""
    if view == "compare":
        rows = in_order(rows, [r["model"] for r in table(anew.db, "SELECT model FROM leaderboard")])
    for row in rows:
        if view == "compare" and row["p"] is not None:
            found = pairs[row["model_a"], row["model_b"]]
            row |= {k: found[k] for k in ("p", "p_all", "verdict_all")}
            row["verdict"] = "tied" if found["tied"] else found["hedge"] or row["verdict"]
            row |= {f"ci_unseen_{end}": x for end, x in zip(("lo", "hi"), found["unseen"])}
        if view == "compare":
            row["prob_all"], row["diff_all"] = among_all.get((row["model_a"], row["model_b"]), (None, None))
        if view in ("leaderboard", "common"):
            best, mean, row["rank_lo"], row["rank_hi"] = places.get(row["model"], (None,) * 4)
        if view == "leaderboard":
            row["p_best"], row["rank"] = best, mean
            row["task_lo"], row["task_hi"] = anew.other_tasks(row["model"])
    return rows


def equal(name, db):
    anew = Anew(db)
    pairs, (places, among_all) = anew.held(), anew.places()
    for view, function in TABLES.items():
        wanted, got = corrected(anew, view, table(db, f"SELECT * FROM {view}"), pairs, places, among_all), table(db, f"SELECT * FROM {function}")
        check(f"{name}: {function} has as many rows as {view}", len(wanted) == len(got))
        for w, g in zip(wanted, got):
            for column in w:
                check(f"{name}: {function}.{column} is {g.get(column)!r}, not {w[column]!r}", same_cell(column, w[column], g[column]))


def hold(name, rows):
    db = filled(rows)
    equal(name, db)
    return db


def shapes():
    views.hold = hold
    views.shapes()
    equal("many tasks", filled(views.answers(20, 3, 12, 7, attempts=(1, 2), graded=(3, 7), missing=0.1)))
    beside = [(m, "t", i, a, (i + a) % 2, 0.3, None, None, None) for m in "ab" for i in range(8) for a in (1, 2)]
    equal("a verdict with a score beside it, asked again", filled(beside))
    equal("hundreds of questions", filled(views.answers(21, 6, 3, 200, missing=0.2)))


def any_names():
    """Models named by values of every type and by NULL; 7, '7' and 7.0 are one question."""
    db = views.opened()
    db.executescript("CREATE TABLE results(model, task, item, attempt, correct); INSERT INTO results VALUES (4, '', 1, 1, 1), (1, NULL, 1, 1, 1), (2, NULL, 1, 1, 0),"
                     "(NULL, '', 1, 1, '1'), (NULL, '', 1, 2, 0), (x'0102', '', 1, 1, 1), ('a' || char(1), '', 1, 1, 1),"
                     "('a' || char(1) || 'z', '', 1, 1, 0), (2.5, '', '1', 1, 1), (-3, '', 1.0, 1, 0), ('1', '', x'31', 1, 1);" + ORACLE)
    equal("names of any kind", db)
    check("no pair without a name", len(table(db, "SELECT * FROM eval_compare")) == 36)
    check("a model without a name can be asked for", len(table(db, "SELECT * FROM eval_leaderboard WHERE model IS NULL")) == 1)


def attempts():
    """Attempts at a question are its mean, and every question has the same weight."""
    db = filled([("new", "t", i, a, int(i < 120 or a < 2), None, None, None, None) for i in range(300) for a in range(10)])
    row, = table(db, "SELECT * FROM eval_leaderboard")
    lo, hi = stats.beta.ppf([0.025, 0.975], 121, 181)  # a share of .2 + .8 of the questions, but for the imagined ones
    check(f"two lumps: {row['accuracy']}, {row['ci']}", row["accuracy"] == 0.52 and abs(row["lo"] - (0.2 + 0.8 * lo)) < 0.01 and abs(row["hi"] - (0.2 + 0.8 * hi)) < 0.01)
    check("and on its task", table(db, "SELECT accuracy, ci, method FROM eval_tasks") == [{k: row[k] for k in ("accuracy", "ci", "method")}])
    # One question asked ten times and always right, ten asked once and always wrong.
    db = filled([("m", "t", 0, a, 1, None, None, None, None) for a in range(10)] + [("m", "t", i, 1, 0, None, None, None, None) for i in range(1, 11)])
    row, = table(db, "SELECT * FROM eval_leaderboard")
    check(f"one of eleven: {row['accuracy']}", (row["n"], row["correct"], row["questions"]) == (20, 10, 11) and abs(row["accuracy"] - 1 / 11) < 1e-15)
    check("and its interval", [row["lo"], row["hi"]] == sorted(row[k] for k in ("lo", "hi")) and
          max(abs(np.array([row["lo"], row["hi"]]) - stats.beta.ppf([0.025, 0.975], 2, 11))) < 1e-12)


def duplicates():
    """Rows that are in a table twice change neither an accuracy nor an interval, nor a pair."""
    for seed, right in ((31, None), (32, 1), (33, 0)):
        draw = seeded(seed)
        rows = [(m, t, q, int(draw.random() < 0.7) if right is None else right) for m in "abc" for t in "tu" for q in range(25)]
        found = []
        for more in ([], rows[20:30], rows):
            db = views.opened()
            db.execute("CREATE TABLE results(model, task, item, correct)")
            db.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", rows + more)
            found.append([table(db, "SELECT model, accuracy, ci, questions, rank_lo, rank_hi FROM eval_leaderboard"),
                          table(db, "SELECT model, task, accuracy, ci, questions FROM eval_tasks"),
                          table(db, "SELECT model, accuracy, ci, questions FROM eval_common"),
                          table(db, "SELECT model_a, model_b, n, diff FROM eval_compare")])
        check(f"duplicates change nothing: {found[0][0]} {found[1][0]}", found[0] == found[1] == found[2])


def order_of_rows():
    rows = [(*r[:5], r[5] and r[5] * 0.7, *r[6:]) for r in views.answers(12, 4, 5, 30, attempts=3, graded=(0, 1, 2, 3))]
    found = []
    for seed in range(3):
        seeded(seed).shuffle(rows)
        db = views.opened()
        db.execute(f"CREATE TABLE results({', '.join(views.COLUMNS)})")
        db.executemany(f"INSERT INTO results VALUES ({', '.join('?' * len(views.COLUMNS))})", rows)
        found.append([repr(table(db, f"SELECT * FROM {t}({o})")) for t in TABLES.values() for o in ("", "NULL, '{\"by\":\"task\"}'")])
    check("the order of rows changes no digit", found[0] == found[1] == found[2])


# Options


def levels():
    db = filled(views.answers(1, 4, 6, 50))
    for row in table(db, "SELECT * FROM eval_leaderboard('results', '{\"level\":0.8}')"):
        check("level", row["ci"] == one(db, "SELECT bayes_ci_counts(?, ?, 0.8)", row["correct"], row["n"]))
    check("p_best does not depend on the level", table(db, "SELECT p_best FROM eval_leaderboard") ==
          table(db, "SELECT p_best FROM eval_leaderboard('results', '{\"level\":0.8}')"))
    graded = filled(views.answers(4, 4, 5, 10, graded=(0, 1, 2, 3, 4)))
    check("nor where graded", table(graded, "SELECT p_best FROM eval_leaderboard") ==
          table(graded, "SELECT p_best FROM eval_leaderboard('results', '{\"level\":0.8}')"))
    loose, strict = (table(db, f"SELECT p_all, verdict_all FROM eval_compare('results', '{{\"level\":{level}}}')") for level in (0.01, 0.999999))
    check("verdicts are at the level", all((r["verdict_all"] == "not separated") == (r["p_all"] > 0.99) for r in loose))
    check("and at a strict one", all((r["verdict_all"] == "not separated") == (r["p_all"] > 1e-6) for r in strict))
    for options, words in (("{\"level\":95}", ["level", "95"]), ("{\"level\":\"0.9\"}", ["level"]), ("{\"lever\":0.9}", ["no key", "lever"]),
                           ("{\"level\":0.9,\"level\":0.8}", ["twice"]), ("{\"by\":\"answer\"}", ["by", "question", "task"]),
                           ("{\"errors\":\"right\"}", ["errors", "skip", "wrong"]), ("{\"lo\":1}", ["below hi"]), ("{\"pairs\":\"all\"}", ["holm"]),
                           ("{\"model\":7}", ["model", "column"]), ("{\"model\":\"\"}", ["model", "column"]), ("[]", ["object"]), ("level", ["object"]),
                           ("{\"item\":\"x\\u0000y\"}", ["item", "column"])):
        for function in TABLES.values():
            fails(db, f"SELECT * FROM {function}('results', '{options}')", function, *words)
    check("null is as not given", table(db, "SELECT * FROM eval_leaderboard('results', '{\"level\":null,\"task\":null}')") ==
          table(db, "SELECT * FROM eval_leaderboard(NULL, NULL)"))


def by_task():
    """Every task counts the same: the value of macro becomes the headline."""
    rows = [(m, t, q, 1, int(q % (3 + i) > 0 if t == "t" else q % 2 == i), None, None, None, None)
            for i, m in enumerate("ab") for t, n in (("t", 60), ("u", 5)) for q in range(n)]
    db = filled(rows)
    plain = {r["model"]: r for r in table(db, "SELECT * FROM eval_leaderboard")}
    tasks = table(db, "SELECT * FROM eval_leaderboard('results', '{\"by\":\"task\"}')")
    for row in tasks:
        was = plain[row["model"]]
        check("the headline is macro", (row["accuracy"], row["ci"], row["lo"], row["hi"]) == (was["macro"], was["macro_ci"], was["macro_lo"], was["macro_hi"]))
        check("and it says so", row["method"] == "mean of tasks" and row["n"] == was["n"])
    check("and the order", [r["model"] for r in tasks] == sorted(plain, key=lambda m: (-plain[m]["macro"], m)))
    pair, = table(db, "SELECT * FROM eval_compare('results', '{\"by\":\"task\"}')")
    check("the difference is macro's", abs(pair["diff"] - (plain["a"]["macro"] - plain["b"]["macro"])) < 1e-12)
    joined = "FROM results AS a JOIN results AS b USING (task, item) WHERE a.model = 'a' AND b.model = 'b'"
    check("and its interval", pair["ci"] == one(db, f"SELECT macro_ci(a.correct - b.correct, task, 0.95, -1, 1) {joined}") and pair["method"] == "paired means of tasks")
    wanted = one(db, f"SELECT paired_p(a.correct / n, b.correct / n) FROM (SELECT 't' AS task, 12.0 AS n UNION SELECT 'u', 1) JOIN results AS a USING (task) JOIN results AS b USING (task, item) WHERE a.model = 'a' AND b.model = 'b'")
    check(f"and its p {pair['p']}, {wanted}: a question of 60 weighs a twelfth of one of 5", abs(pair["p"] - wanted) < 1e-12)
    alone = [r for r in rows if r[1] == "t"]
    check("one task is as it was", [r["ci"] for r in table(filled(alone), "SELECT ci FROM eval_leaderboard('results', '{\"by\":\"task\"}')")] ==
          [r["ci"] for r in table(filled(alone), "SELECT ci FROM eval_leaderboard")])
    common = table(db, "SELECT model, accuracy, ci FROM eval_common('results', '{\"by\":\"task\"}')")
    check("on common questions too", common == [{k: r[k] for k in ("model", "accuracy", "ci")} for r in tasks])
    graded = filled(views.answers(6, 3, 3, 9, attempts=(1, 3), graded=(1, 2), missing=0.3))
    for row in table(graded, "SELECT * FROM eval_leaderboard('results', '{\"by\":\"task\"}')"):
        check("graded and asked again", (row["accuracy"], row["ci"]) == (row["macro"], row["macro_ci"]))
    for row in table(graded, "SELECT * FROM eval_compare('results', '{\"by\":\"task\"}')"):
        wanted = one(graded, "SELECT macro_ci(a.total / a.n - b.total / b.n, task, 0.95, -1, 1) FROM questions AS a JOIN questions AS b USING (task, item)"
                             " WHERE a.model = ?1 AND b.model = ?2 AND a.n > 0 AND b.n > 0", row["model_a"], row["model_b"])
        check(f"its interval is of the tasks' means: {row['ci']} {wanted}", row["ci"] == wanted)


def errored():
    """An unknown answer is left out, or counts as wrong."""
    rows = views.answers(5, 3, 3, 12, graded=(1,), error=0.3)
    counted = [(*r[:4], 0, None, None, None, None) if r[4] is None and r[5] is None else r for r in rows]
    got, wanted = table(filled(rows), "SELECT * FROM eval_leaderboard('results', '{\"errors\":\"wrong\"}')"), table(filled(counted), "SELECT * FROM eval_leaderboard")
    skipped = {r["model"]: r["errored"] for r in table(filled(rows), "SELECT * FROM eval_leaderboard('results', '{\"errors\":\"skip\"}')")}
    for g, w in zip(got, wanted):
        check("errored answers are wrong ones", {**g, "errored": 0} == w)
        check("and still counted as errored", g["errored"] == skipped[g["model"]] > 0)
    timeouts()
    for function in ("eval_compare", "eval_common"):
        check(f"{function}, too", table(filled(rows), f"SELECT * FROM {function}('results', '{{\"errors\":\"wrong\"}}')") == table(filled(counted), f"SELECT * FROM {function}"))


def timeouts():
    """A candidate whose 61 wrong answers became errors leads with 100%; its row shows the errors, and the interval that
    includes them."""
    rows = [("old", "t", i, 1, int(i % 3 > 0), None, None, None, None) for i in range(100)]
    rows += [("new", "t", i, 1, None if i < 61 else 1, None, "timeout" if i < 61 else None, None, None) for i in range(100)]
    db = filled(rows)
    new = table(db, "SELECT * FROM eval_leaderboard")[0]
    check(f"the row says how many are not known: {new}", (new["model"], new["n"], new["accuracy"], new["errored"]) == ("new", 39, 1, 61))
    check("and what they leave open", new["bounded_lo"] == one(db, "SELECT ci_lo(bounded_ci_counts(39, 0, 61))") and new["bounded_lo"] < 0.4 and new["bounded_hi"] == 1)
    old = table(db, "SELECT * FROM eval_leaderboard WHERE model = 'old'")[0]
    check("whoever answered all has nothing left open", old["errored"] == 0 and old["bounded_ci"] == old["ci"])
    first, second = table(db, "SELECT * FROM eval_leaderboard('results', '{\"errors\":\"wrong\"}')")
    check(f"as wrong ones they undo it: {second}", (first["model"], second["accuracy"], second["errored"]) == ("old", 0.39, 61) and second["p_best"] < 0.001)
    check("and nothing is left open", second["bounded_ci"] == second["ci"])


def extremes():
    """What the report says that the leader would have if its missing answers were wrong: of questions, or of tasks.
    t has ten questions, u three; a lacks one answer in each, and b has one wrong."""
    def page(options, twice=False):
        rows = [("a", "t", q, 1, 1 if q else None, None, None, None, None) for q in range(10)] + [("b", "t", q, 1, int(q > 0), None, None, None, None) for q in range(10)]
        rows += [(m, "u", q, 1, 1 if q or m == "b" else None, None, None, None, None) for m in "ab" for q in range(3)]
        rows += [("a", "t", 0, 2, 1, None, None, None, None)] if twice else []
        return one(filled(rows), "SELECT eval_report('results', ?)", options)

    for options, twice, wanted in (("{}", False, "85%"), ('{"by":"task"}', False, "78%"), ("{}", True, "88%"), ('{"by":"task"}', True, "81%")):
        said = page(options, twice)
        check(f"{options} {twice}: if they were wrong it would have {wanted}", f"If they were wrong, it would have {wanted}." in said)


def bounded():
    """Attempts that are missing: their questions' means go from that with all of them wrong to that with all right."""
    rows = [("m", "t", q, a, None if (q * 5 + a) % 7 == 0 else int((q * a) % 3 > 0), None, None, None, None) for q in range(12) for a in (1, 2, 3)]
    rows += [("m", "t", 12, 1, None, None, None, None, None)]
    db = filled(rows)
    row, = table(db, "SELECT bounded_lo, bounded_hi, accuracy, questions, errored FROM eval_leaderboard")
    filling = "(SELECT avg(coalesce(correct, ?)) AS m FROM results GROUP BY item)"
    lo, hi = (one(db, f"SELECT ci_{end}(mean_ci(m)) FROM {filling}", share) for end, share in (("lo", 0), ("hi", 1)))
    check(f"bounded: {row}, {lo} to {hi}", abs(row["bounded_lo"] - lo) < 1e-14 and abs(row["bounded_hi"] - hi) < 1e-14 and row["errored"] == 6)
    known = one(db, "SELECT avg(m) FROM (SELECT avg(correct) AS m FROM results WHERE correct IS NOT NULL GROUP BY item)")
    check("of the known ones", abs(row["accuracy"] - known) < 1e-14 and row["questions"] == 12)
    # An unknown attempt at a question with a known one is no question of its own.
    db = filled([("m", "t", q, a, 1 if a == 1 else None, None, None, None, None) for q in range(5) for a in (1, 2)])
    row, = table(db, "SELECT bounded_lo, bounded_hi FROM eval_leaderboard")
    lo, hi = one(db, "SELECT ci_lo(mean_ci_counts(0.5, 5))"), 1
    check(f"half of each missing: {row}", abs(row["bounded_lo"] - lo) < 1e-14 and abs(row["bounded_hi"] - hi) < 1e-14)


def ranges():
    """lo and hi are for tasks without a range, and make those that have scores graded."""
    rows = views.answers(7, 3, 2, 10, graded=(0, 1), ranges={0: (1, 10), 1: (1, 10)})
    bare = [(*r[:7], None, None) for r in rows]
    for function in TABLES.values():
        check(f"{function}: a range by options", table(filled(bare), f"SELECT * FROM {function}('results', '{{\"lo\":1,\"hi\":10}}')") ==
              table(filled(rows), f"SELECT * FROM {function}"))
    beside = filled([(m, "t", i, 1, i % 2, 3.0, None, None, None) for m in "ab" for i in range(8)])
    check("a verdict with a score beside it", {r["method"] for r in table(beside, "SELECT method FROM eval_leaderboard")} == {"bayes"})
    check("is graded by a range", [r["mean"] for r in table(beside, "SELECT mean FROM eval_tasks('results', '{\"lo\":1,\"hi\":5}')")] == [3.0, 3.0])


def out_of_range():
    """One score outside its task's range, of any model: every table is an error that says what was seen and what to add."""
    tables = [*TABLES.values(), "eval_noise", "eval_slices", "eval_questions"]

    def board(*scores, declared=(None, None), more=()):
        rows = [(m, "essays", i, 1, None, s, None, *declared) for m in "ab" for i, s in enumerate(scores)]
        return filled(rows + [("c", t, 0, 1, None if isinstance(s, float) else s, s if isinstance(s, float) else None, None, None, None) for t, s in more])

    for function in tables:
        fails(board(1, 5, 3), f"SELECT * FROM {function}", f"{function}: scores of task 'essays' go from 1 to 5; add \"lo\":1,\"hi\":5 to options")
    fails(board(1, 5), "SELECT eval_report()", "eval_report: scores of task 'essays' go from 1 to 5")
    fails(board(1, 5), "SELECT * FROM eval_gate(NULL, NULL, 'a', 'b')", "eval_gate: scores of task 'essays' go from 1 to 5")
    fails(board(1, 5, more=[("b", 1)]), "SELECT model FROM eval_leaderboard WHERE model = 'c'", "scores of task 'essays' go from 1 to 5; add \"lo\":1,\"hi\":5")
    for scores, lo, hi in (((-0.1, 1), -1, 1), ((-0.5, -0.1), -1, 1), ((0, 1.2), 0, 5), ((2, 4), 1, 5), ((0, 3), 0, 5), ((1, 10), 1, 10), ((0, 87), 0, 100),
                           ((150, 900), 0, 1000), ((-3, 4), -5, 5), ((-35, -2), -100, 0), ((-1, 3), -1, 5), ((-87, 20), -100, 100), ((1e140, 2e140), 0, 1e141)):
        db = board(*scores)
        fails(db, "SELECT * FROM eval_leaderboard", f'add "lo":{lo:.15g},"hi":{hi:.15g} to options')
        inside = table(db, f"SELECT accuracy, method FROM eval_leaderboard('results', '{{\"lo\":{lo},\"hi\":{hi}}}')")
        check(f"{scores} are from {lo} to {hi}", len(inside) == 2 and all(0 <= r["accuracy"] <= 1 for r in inside))
    # A score at the end of its range is inside, and a verdict beside a score is what counts.
    check("the ends", table(board(0.0, 1.0), "SELECT accuracy FROM eval_leaderboard") == [{"accuracy": 0.5}] * 2)
    fails(board(1, 5, more=[("b", 0.5)]), "SELECT * FROM eval_tasks", "go from 1 to 5, and those of other tasks from 0 to 1", "; lo and hi in options are for all tasks, so give the rows of this one 1 as score_lo and 5 as score_hi")
    fails(board(0.5, 0.7, more=[("b", 3.0)]), "SELECT * FROM eval_tasks('results', '{\"lo\":1,\"hi\":5}')", "scores of task 'essays' go from 0.5 to 0.7, and those of other tasks from 1 to 5")
    fails(board(1, 7, declared=(1, 5)), "SELECT * FROM eval_tasks", "scores of task 'essays' go from 1 to 7, and score_lo and score_hi from 1 to 5; correct them")
    for lo, hi, shown in ((5, 5, "5 and 5"), (4, 1, "4 and 1"), (-math.inf, 5, " and 5")):
        loose = views.opened()
        loose.execute("CREATE TABLE results(model, task, item, score, score_lo, score_hi)")
        loose.execute("INSERT INTO results VALUES ('m', 'essays', 1, 5, ?, ?)", (lo, hi))
        fails(loose, "SELECT * FROM eval_tasks", "score_lo must be below score_hi of task 'essays', got ", shown)
    for bad in ("good", 1e200, float("inf")):
        loose = views.opened()
        loose.execute("CREATE TABLE results(model, task, item, score)")
        loose.executemany("INSERT INTO results VALUES ('m', 'essays', ?, ?)", enumerate((bad, 0.5)))
        fails(loose, "SELECT * FROM eval_tasks", "a score of task 'essays' is not a number, or beyond 3e150; make it NULL")
        loose.execute("DELETE FROM results WHERE score = 0.5")
        fails(loose, "SELECT * FROM eval_tasks", "a score of task 'essays' is not a number")
    fails(filled([("m", "a\nb" + "x" * 500, 1, 1, None, 5.0, None, None, None)]), "SELECT * FROM eval_tasks", "scores of task 'a?b", "…' go from 5 to 5; add \"lo\":1")
    fails(filled([("m", "", 1, 1, None, 5.0, None, None, None)]), "SELECT * FROM eval_tasks", "eval_tasks: scores go from 5 to 5")
    # The score of an answer that errored, and one beside a verdict, are not what counts.
    for correct, error in ((None, "down"), (1, None)):
        rows = [("m", "t", i, 1, i % 2, None, None, None, None) for i in range(8)] + [("m", "t", 8, 1, correct, 99.0, error, None, None)]
        check(f"a score beside {correct or error}", table(filled(rows), "SELECT n, method FROM eval_leaderboard") == [{"n": 8 + (correct or 0), "method": "bayes"}])
    # The first task by name, whichever came first.
    fails(filled([("m", t, 1, 1, None, s, None, None, None) for t, s in (("b", 9.0), ("a", 5.0))]), "SELECT * FROM eval_tasks", "task 'a' go from 5 to 5")


def widest_range():
    """Rows of a task that declare several ranges: the widest counts, in any order of rows."""
    rows = [("m", "t", i, 1, None, s, None, lo, hi) for i, (s, lo, hi) in enumerate(((4.0, 2, 8), (1.0, 0, 5), (9.0, 3, 10), (5.0, 1, 6)))]
    for turn in range(4):
        row, = table(filled(rows[turn:] + rows[:turn]), "SELECT accuracy, mean, score_lo, score_hi FROM eval_tasks")
        check(f"the widest range, from row {turn}: {row}", (row["mean"], row["score_lo"], row["score_hi"]) == (4.75, 0, 10) and abs(row["accuracy"] - 0.475) < 1e-15)


def tied():
    """Models are tied only if they answered the same questions, all of them alike."""
    def verdict(a, b):
        rows = [("a", "t", q, 1, y, None, None, None, None) for q, y in a.items()] + [("b", "t", q, 1, y, None, None, None, None) for q, y in b.items()]
        return table(filled(rows), "SELECT verdict, verdict_all FROM eval_compare")[0]

    both = {q: q % 2 for q in range(12)}
    for a, b, word in ((both, both, "tied"), (both, {**both, 12: 1}, "not separated"), ({**both, 12: 1}, both, "not separated"),
                       ({**both, 12: 1}, {**both, 13: 1}, "not separated"), (both, {**both, 11: 0}, "not separated")):
        check(f"{len(a)} and {len(b)} questions: {word}", verdict(a, b) == {"verdict": word, "verdict_all": word})


# Columns


def columns():
    db = views.opened()
    db.executescript("""
        CREATE TABLE plain(model, item, correct); INSERT INTO plain VALUES ('a', 1, 1), ('a', 2, 0), ('b', 1, 0), ('b', 2, 0);
        CREATE TABLE aliased(LLM, Question_ID, Passed); INSERT INTO aliased SELECT * FROM plain;
        CREATE TABLE both_items(model, qid, sample_id, correct); INSERT INTO both_items SELECT model, item, item, correct FROM plain;
        CREATE TABLE own_and_alias(model, item, id, correct); INSERT INTO own_and_alias SELECT model, item, rowid, correct FROM plain;
        CREATE TABLE none(a, b); CREATE TABLE no_item(model, correct); CREATE TABLE no_answer(model, item);
        CREATE TABLE scores(model, item, correct); INSERT INTO scores VALUES ('a', 1, 0.5), ('a', 2, 0.25), ('b', 1, 1), ('b', 2, 0);
        CREATE TABLE words(model, item, correct); INSERT INTO words VALUES ('a', 1, 'True'), ('a', 2, 'false'), ('b', 1, 'FALSE'), ('b', 2, '0');
        CREATE TABLE graded(model, item, score); INSERT INTO graded VALUES ('a', 1, '0.5'), ('a', 2, 1), ('b', 1, 'much'), ('b', 2, 1);
        CREATE TABLE "odd names"("the "" model", "x;--", "y'"); INSERT INTO "odd names" SELECT * FROM plain;
        CREATE TABLE empty(model, item, correct); CREATE TABLE alone(model, item, correct); INSERT INTO alone VALUES ('a', 1, 1);
        CREATE TABLE gaps(model, item, correct); INSERT INTO gaps VALUES ('a', NULL, 1);
        CREATE TABLE twice(model, item, correct); INSERT INTO twice SELECT * FROM plain; INSERT INTO twice VALUES ('a', 1, 0);
    """)
    wanted = table(db, "SELECT * FROM eval_compare('plain')")
    check("a model, an item and correct are enough", len(wanted) == 1 and wanted[0]["n"] == 2)
    for source, options in (("aliased", "{}"), ("own_and_alias", "{}"), ("both_items", '{"item":"qid"}'), ("plain", '{"item":"rowid"}'),
                            ("odd names", '{"model":"the \\" model","item":"x;--","correct":"y\'"}'), ("words", "{}")):
        got = table(db, "SELECT * FROM eval_compare(?, ?)", source, options)
        check(f"{source} {options}", got == ([] if "rowid" in options else wanted))
    for sql, words in (("eval_tasks('both_items')", ["eval_tasks", "qid", "sample_id", '{"item":"qid"}']), ("eval_compare('none')", ["no column model"]),
                       ("eval_common('no_item')", ["no column item", '{"item":"..."}']), ("eval_leaderboard('no_answer')", ["correct or score"]),
                       ("eval_leaderboard('plain', '{\"item\":\"question\"}')", ["no column question", "item"]),
                       ("eval_leaderboard('scores')", ["got 0.5 of model 'a', item 1", '{"score":"correct"}']),
                       ("eval_leaderboard('gaps')", ["item", "NULL", "'a'"]), ("eval_leaderboard('nowhere')", ["no such table: nowhere"]),
                       ("eval_leaderboard('')", ["name of a table"]), ("eval_leaderboard(7)", ["name of a table"]), ("eval_leaderboard(x'61')", ["name of a table"])):
        fails(db, f"SELECT * FROM {sql}", *words)
    db.execute("UPDATE plain SET correct = 'yes' WHERE model = 'b' AND item = 2")
    fails(db, "SELECT * FROM eval_leaderboard('plain')", "'yes'", "model 'b', item 2", '{"correct":"..."}')
    check("scores are read where they are named", [r["accuracy"] for r in table(db, "SELECT accuracy FROM eval_leaderboard('scores', '{\"score\":\"correct\"}')")] == [0.5, 0.375])
    fails(db, "SELECT * FROM eval_leaderboard('graded')", "a score is not a number")
    db.execute("UPDATE graded SET score = '0.25' WHERE score = 'much'")
    check("text of a number is one", [(r["accuracy"], r["method"]) for r in table(db, "SELECT * FROM eval_leaderboard('graded')")] == [(0.75, "mean"), (0.625, "mean")])
    for function in TABLES.values():
        check(f"{function} of nothing", table(db, f"SELECT * FROM {function}('empty')") == [])
        check(f"{function} of one model", len(table(db, f"SELECT * FROM {function}('alone')")) == (function in ("eval_leaderboard", "eval_tasks", "eval_common")))
    again = table(db, "SELECT model, method, n FROM eval_leaderboard('twice') ORDER BY model")
    check(f"a row that repeats a question is an attempt, which the method says: {again}",
          [(r["method"], r["n"]) for r in again] == [("mean of questions, repeated rows as attempts", 3), ("bayes", 2)])
    check("nothing is made in the database", one(db, "SELECT count(*) FROM sqlite_master WHERE type = 'view'") == 0)


def sources():
    """The source is a name, also quoted, with a schema or of a view, and never SQL."""
    db = views.opened()
    db.executescript("""ATTACH ':memory:' AS other; CREATE TABLE other."a.b"(model, item, correct);
        CREATE TABLE "main.t"(model, item, correct); CREATE TABLE t(model, item, correct); CREATE TABLE "a;b'c""d"(model, item, correct);
        INSERT INTO "main.t" VALUES ('dotted', 1, 1); INSERT INTO t VALUES ('plain', 1, 1); INSERT INTO other."a.b" VALUES ('other', 1, 1);
        INSERT INTO "a;b'c""d" VALUES ('hostile', 1, 1); CREATE VIEW v AS SELECT 'view' AS model, 1 AS item, 1 AS correct;
        CREATE TEMP TABLE t(model, item, correct); INSERT INTO temp.t VALUES ('temporary', 1, 1);""")
    for source, model in (("main.t", "dotted"), ("t", "temporary"), ("temp.t", "temporary"), ("other.a.b", "other"), ('"other"."a.b"', "other"), ('"other".a.b', "other"),
                          ('"main"."t"', "plain"), ("a;b'c\"d", "hostile"), ('"a;b\'c""d"', "hostile"), ("v", "view"), ("V", "view"), ("main.v", "view")):
        got = [r["model"] for r in table(db, "SELECT model FROM eval_leaderboard(?)", source)]
        check(f"{source} is {model}'s, not {got}", got == [model])
    for source in ("t; DROP TABLE t", "(SELECT * FROM t)", "t AS r JOIN v", 'main."t', '"', '""', ".", "main.", "main.t.u", "t\n", "t--"):
        fails(db, f"SELECT * FROM eval_leaderboard('{source}')", "eval_leaderboard: cannot read")
    check("and the table is there", one(db, "SELECT count(*) FROM main.t") == 1)
    db.executescript("CREATE VIEW broken AS SELECT model, item, gone FROM main.t; CREATE VIEW over AS SELECT * FROM eval_leaderboard('main.v')")
    fails(db, "SELECT * FROM eval_leaderboard('broken')", "gone")
    check("a view over the board", [r["model"] for r in table(db, "SELECT * FROM over")] == ["view"])
    db.execute("PRAGMA trusted_schema = off")
    fails(db, "SELECT * FROM over", "unsafe use of virtual table")
    check("trusted or not, by itself", len(table(db, "SELECT * FROM eval_leaderboard('main.t')")) == 1)


def recursion():
    db = views.opened()
    db.executescript("""CREATE TABLE results(model, item, correct); INSERT INTO results VALUES ('a', 1, 1), ('b', 1, 0);
        CREATE VIEW itself AS SELECT model, n AS item, 1 AS correct FROM eval_leaderboard('itself');
        CREATE VIEW one AS SELECT model, n AS item, 1 AS correct FROM eval_tasks('two');
        CREATE VIEW two AS SELECT model_a AS model, n AS item, 1 AS correct FROM eval_compare('one');
        CREATE VIEW deep AS SELECT model, n AS item, 1 AS correct FROM eval_leaderboard;
        CREATE VIEW deeper AS SELECT model, n AS item, 0 AS correct FROM eval_leaderboard('deep')""")
    for view in ("itself", "one", "two"):
        for function in TABLES.values():
            fails(db, f"SELECT * FROM {function}('{view}')", "reads itself")
    check("a view over a board over a view is read", [r["accuracy"] for r in table(db, "SELECT * FROM eval_leaderboard('deeper')")] == [0, 0])
    check("and the board is as it was", len(table(db, "SELECT * FROM eval_leaderboard")) == 2)


# Pairs, joins, statements


def pushdown():
    db = filled(views.answers(22, 5, 3, 40, attempts=(1, 2), graded=(1,), missing=0.1))
    rows = {(r["model_a"], r["model_b"]): r for r in table(db, "SELECT * FROM eval_compare")}
    plain = filled(views.answers(23, 5, 3, 40))
    for base in (db, plain):
        rows = {(r["model_a"], r["model_b"]): r for r in table(base, "SELECT * FROM eval_compare")}
        for (a, b), row in rows.items():
            sql = "SELECT * FROM eval_compare WHERE model_a = ? AND model_b = ?"
            check("a pair by its models", table(base, sql, a, b) == [row])
            (other,) = table(base, sql, b, a)
            for column, wanted in views.turned(row).items():
                got = other[column]
                near = wanted == got or (isinstance(got, float) and abs(wanted - got) < 1e-12)
                check(f"and the other way round: {column} is {got}, not {wanted}", near)
            for ci in ("ci", "ci_unseen"):
                check(f"{ci} has its ends", json.loads(other[ci]) == [other[f"{ci}_lo"[3 * (ci == "ci"):]], other[f"{ci}_hi"[3 * (ci == "ci"):]]])
        models = [r["model"] for r in table(base, "SELECT model FROM eval_leaderboard")]
        check("each pair once, by the leaderboard", list(rows) == list(itertools.combinations(models, 2)))
        for model in models:
            others = [m for m in models if m != model]
            for given, other in (("model_a", "model_b"), ("model_b", "model_a")):
                found = table(base, f"SELECT * FROM eval_compare WHERE {given} = ?", model)
                check(f"every pair of {model} as {given}", [(r[given], r[other]) for r in found] == [(model, m) for m in others])
                check("is the pair by its models", found == [table(base, sql, r["model_a"], r["model_b"])[0] for r in found])
        first = models[0]
        joined = table(base, "SELECT model, model_b FROM eval_leaderboard JOIN eval_compare ON model_a = model")
        check("a join names each model", [tuple(r.values()) for r in joined] == [(a, b) for a in models for b in models if a != b])
        fails(base, "SELECT * FROM eval_compare WHERE model_a = 'nobody' AND model_b = 'model 1'", "results has no model 'nobody'; SELECT model FROM eval_leaderboard")
        fails(base, "SELECT * FROM eval_compare WHERE model_b = 'modle 1'", "eval_compare: results has no model 'modle 1'; did you mean 'model 1'?")
        fails(base, "SELECT * FROM eval_compare WHERE model_a = 'MODEL'", "did you mean 'model 0', 'model 1' or 'model 2'?")
        fails(base, "SELECT * FROM eval_compare WHERE model_a = 'model 77'", "did you mean 'model 0', 'model 1' or 'model 2'?")
        fails(base, "SELECT * FROM eval_compare WHERE model_a = 1", "has no model 1; SELECT model")
        check("itself", table(base, "SELECT * FROM eval_compare WHERE model_a = ?1 AND model_b = ?1", first) == [])
        check("NULL", table(base, "SELECT * FROM eval_compare WHERE model_a = NULL AND model_b = ?1", first) == [])
        check("another collation", len(table(base, "SELECT * FROM eval_compare WHERE model_a = ? COLLATE NOCASE AND model_b = ? COLLATE NOCASE",
                                             models[0].upper(), models[1].title())) == 1)
        check("some models", len(table(base, "SELECT * FROM eval_compare WHERE model_a IN ('model 0', 'model 1') AND model_b IN ('model 1', 'model 2')")) == 3)


def joins():
    db = filled(views.answers(24, 6, 2, 30))
    pairs = table(db, "SELECT * FROM eval_compare")
    joined = table(db, "SELECT l.model, c.model_b, c.ci FROM eval_leaderboard AS l JOIN eval_compare AS c ON c.model_a = l.model ORDER BY 1, 2")
    wanted = sorted([(p["model_a"], p["model_b"]) for p in pairs] + [(p["model_b"], p["model_a"]) for p in pairs])
    check("a join", [(r["model"], r["model_b"]) for r in joined] == wanted and {r["ci"] for r in joined} >= {p["ci"] for p in pairs})
    both = table(db, "SELECT a.diff, b.diff AS other FROM eval_compare('results') AS a JOIN eval_compare('results', '{\"errors\":\"wrong\"}') AS b USING (model_a, model_b)")
    check("a join of two boards", len(both) == 15)
    found = table(db, "SELECT model, (SELECT count(*) FROM eval_compare WHERE model_a = l.model OR model_b = l.model) AS n FROM eval_leaderboard AS l")
    check("a correlated subquery", [r["n"] for r in found] == [5] * 6)
    ordered = table(db, "SELECT x.model AS a, y.model AS b, diff FROM eval_leaderboard AS x, eval_leaderboard AS y, eval_compare ON model_a = x.model AND model_b = y.model")
    check("every order of every pair", len(ordered) == 30)
    other = table(db, "SELECT source, options, count(*) AS n FROM eval_leaderboard WHERE source = 'results' OR (source = 'results' AND options = '{}') GROUP BY 1, 2")
    check(f"OR: {other}", sum(r["n"] for r in other) == 12 or other == [{"source": "results", "options": None, "n": 6}])
    check("hidden columns", one(db, "SELECT source FROM eval_leaderboard('main.results', '{}')") == "main.results")
    check("sorted and grouped", one(db, "SELECT count(DISTINCT task) FROM eval_tasks") == 2)
    # With all columns, so that both statements would want the same board.
    with contextlib.closing(db.execute("SELECT * FROM eval_leaderboard")) as reading:
        next(reading)
        check("while another statement reads", len(table(db, "SELECT * FROM eval_compare")) == 15)
        db.execute("DELETE FROM results WHERE model = 'model 3'")
        check("rows that went are gone, though the other goes on", len(table(db, "SELECT * FROM eval_leaderboard")) == 5)
        check("which has its own", len(reading.fetchall()) == 5)
    db.rollback()
    check("a rollback brings them back", len(table(db, "SELECT * FROM eval_leaderboard")) == 6)
    db.execute("CREATE TABLE kept AS SELECT * FROM eval_leaderboard")
    check("into a table", one(db, "SELECT count(*) FROM kept") == 6)


def read_once():
    """A statement reads a source once for all tables that it names with the same options, also within a source."""
    db = filled(views.answers(27, 4, 1, 30))
    read = []
    db.create_function("seen", 1, lambda x: read.append(x) or x)
    db.execute("CREATE TEMP VIEW watched AS SELECT model, item, seen(correct) AS correct FROM results")
    db.execute("""CREATE TEMP VIEW twice AS SELECT a.model AS model, b.model AS item, a.accuracy > b.accuracy AS correct
                  FROM eval_leaderboard('watched') AS a, eval_leaderboard('watched') AS b""")
    rows = one(db, "SELECT count(*) FROM results")
    for sql, times in (("SELECT count(*) FROM eval_leaderboard('watched') AS a JOIN eval_leaderboard('watched') AS b USING (model)", 1),
                       ("SELECT count(*) FROM eval_leaderboard('watched') JOIN eval_compare('watched') ON model_a = model", 1),
                       ("SELECT count(*) FROM eval_leaderboard('watched') JOIN eval_leaderboard('watched', '{}') USING (model)", 2),
                       ("SELECT count(*) FROM eval_leaderboard('watched', '{\"level\":0.8}') JOIN eval_leaderboard('watched', '{\"level\":0.9}') USING (model)", 2),
                       ("SELECT count(*) FROM eval_leaderboard('twice')", 1)):
        read.clear()
        check(f"{sql} has rows", one(db, sql) >= 4)
        check(f"{sql} reads each row {times} times, not {len(read) / rows:g}", len(read) == times * rows)


def denied():
    """An authorizer may deny columns; denying one that is not needed changes nothing."""
    db = filled(views.answers(25, 3, 2, 20))
    wanted = table(db, "SELECT * FROM eval_leaderboard")
    refused = set()

    def authorize(action, first, second, *_):
        return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_READ and (first, second) in refused else sqlite3.SQLITE_OK

    db.set_authorizer(authorize)
    refused.add(("results", "attempt"))
    got = table(db, "SELECT * FROM eval_leaderboard")
    check("a column that nobody needs", got == wanted)
    refused.add(("results", "correct"))
    refused.add(("results", "score"))
    fails(db, "SELECT * FROM eval_leaderboard", "correct or score")
    refused.add(("results", "model"))
    fails(db, "SELECT * FROM eval_compare", "no column model")
    refused.clear()
    check("and then it is allowed", table(db, "SELECT * FROM eval_leaderboard") == wanted)
    db.set_authorizer(None)


def unseen():
    """A model that gains a little on every question is better unless it sometimes fails outright; one whose answers are
    right or wrong is better."""
    draw = seeded(6)
    base = [round(draw.uniform(0.6, 0.8), 3) for _ in range(30)]
    gained = [round(x + draw.uniform(0.005, 0.035), 3) for x in base]
    db = filled([(m, "t", q, 1, None, x, None, None, None) for m, xs in (("new", gained), ("old", base)) for q, x in enumerate(xs)])
    wanted = json.loads(one(db, "SELECT mean_ci(column1, 0.95, -1, 1) FROM (VALUES " + ", ".join(f"({x!r} - {y!r})" for x, y in zip(gained, base)) + ")"))
    ask = "SELECT *, ci_lo(ci_unseen) AS lo_of, ci_hi(ci_unseen) AS hi_of FROM eval_compare"
    for where, name, sign in (("", "A", 1), (" WHERE model_a = 'old'", "B", -1)):
        row, = table(db, ask + where)
        ends = [row["ci_unseen_lo"], row["ci_unseen_hi"]]
        check("ci_unseen is mean_ci of the differences", np.allclose(ends, sorted(sign * x for x in wanted), rtol=0, atol=1e-12) and ends == [row["lo_of"], row["hi_of"]])
        check(f"it holds 0 and ci does not: {row}", ends[0] < 0 < ends[1] and (row["lo"] > 0 or row["hi"] < 0))
        check("which the verdict says", row["verdict"] == f"{name} better unless it sometimes fails outright" and row["verdict_all"] == f"{name} better")
    seen = filled([(m, "t", q, 1, None, x, None, None, None) for m, xs in (("new", gained), ("old", [x / 4 for x in base])) for q, x in enumerate(xs)])
    check("a difference that a few failures cannot undo", one(seen, "SELECT verdict FROM eval_compare") == "A better")
    again = [("ab"[m], "t", q, k, int(k < 3 + (1 + q % 3) * (m == 0)), None, None, None, None) for m in (0, 1) for q in range(15) for k in range(12)]
    row, = table(filled(again), "SELECT * FROM eval_compare")
    check(f"right or wrong, asked again: {row}", row["ci_unseen_lo"] < 0 < row["lo"] and row["verdict"] == "A better")
    halves = [(m, "t", q, int(m == "a" or q > 6)) for m in "ab" for q in range(15)]
    for place in (4, 5):
        rows = [(*r[:3], 1, *[r[3] if i == place else None for i in range(4, 6)], None, None, None) for r in halves]
        check("right or wrong, in either column", one(filled(rows), "SELECT verdict FROM eval_compare") == "A better")
    tasks = [(m, t, q, 1, None, x / 2, None, None, None) for t in "tu" for m, xs in (("new", gained), ("old", base)) for q, x in enumerate(xs)]
    row, = table(filled(tasks), "SELECT * FROM eval_compare('results', '{\"by\":\"task\"}')")
    check("over tasks ci allows for it", row["ci_unseen"] == row["ci"] and row["verdict"] == "not separated")


def exact_flips(sizes, times, total):
    """The two-sided mid-p of a sum of three sizes, each occurring several times with random signs, by enumerating the
    counts of two sizes with the tail of the third."""
    chances = stats.binom.pmf(range(times + 1), times, 0.5)
    tail = stats.binom.sf(np.arange(-1, times + 1), times, 0.5)  # P(count >= i), 0 after the last
    signed = 2 * np.arange(times + 1) - times
    rest = sizes[0] * signed[:, None] + sizes[1] * signed[None, :]
    need = ((abs(total) - rest) / sizes[2] + times) / 2  # of the third, to reach the total
    least = np.clip(np.ceil(need - 1e-9), 0, times + 1).astype(int)
    at = np.rint(need)
    equal = np.where((abs(need - at) < 1e-9) & (at >= 0) & (at <= times), stats.binom.pmf(at, times, 0.5), 0)
    return 2 * float((chances[:, None] * chances[None, :] * (tail[least] - equal / 2)).sum())


def without_a_unit():
    """The sign-flip test cannot be computed for three sizes of differences without a common unit, 700 times each; p is
    then twice the smaller tail of the posterior, which is close to it."""
    draw, times = seeded(1), 700
    sizes = [1 / math.pi, 1 / math.e, 1 / math.sqrt(2)]
    db = views.opened()
    db.execute("CREATE TABLE results(model, item, score)")
    total = 0
    for q in range(3 * times):
        size = sizes[q % 3]
        for_a = draw.random() < 0.52
        total += size if for_a else -size
        db.executemany("INSERT INTO results VALUES (?, ?, ?)", [("a", q, size if for_a else 0), ("b", q, 0 if for_a else size)])
    p = db.execute("SELECT p FROM eval_compare").fetchone()[0]
    wanted = exact_flips(sizes, times, total)
    check(f"without a unit: {p} is {wanted}", abs(p - wanted) < 0.0005)


def graded_board():
    """A table whose report takes a second, nearly all of it after the rows are read."""
    db = views.opened()
    db.execute("CREATE TABLE results(model, item, score)")
    draw = seeded(4)
    db.executemany("INSERT INTO results VALUES (?, ?, ?)",
                   [(model, item, round(draw.random(), 3)) for model in range(12) for item in range(4000)])
    return db


def ends_when_interrupted(db, sql, after):
    """An interrupt after so many seconds ends the statement, unless that is done."""
    timer = threading.Timer(after, db.interrupt)
    timer.start()
    began = time.monotonic()
    try:
        db.execute(sql).fetchall()
    except sqlite3.Error as error:
        check("interrupted", "interrupted" in str(error))
    timer.join()
    check(f"{sql}: an interrupt ends it, in {time.monotonic() - began:.2f} s", time.monotonic() - began < 3)


def counted(db, sql, every, at=None):
    """Runs a statement with a progress handler that interrupts it at its call number `at`: how often it was called, and
    the processor's seconds from the interrupt to the end."""
    calls, since = 0, -math.inf

    def progress():
        nonlocal calls, since
        calls += 1
        if calls == at:
            since = time.process_time()
            db.interrupt()

    db.set_progress_handler(progress, every)
    if at is None:
        db.execute(sql).fetchall()
    else:
        fails(db, sql, "interrupted")
    took = time.process_time() - since
    db.set_progress_handler(None, 0)
    return calls, took


def heard(sql, db, within, every=1, whole=None):
    """A statement is interrupted at five moments, by a progress handler, which does not depend on how busy the machine
    is: the median time until it ends is below `within`.  Before SQLite 3.41 computations poll by a statement, which
    calls the handler; later ones call it only between rows.  `whole` is the number of calls, if it would take long to
    count them."""
    whole = whole or counted(db, sql, every)[0]
    took = sorted(counted(db, sql, every, int(whole * (moment + 0.5) / 6) + 1)[1] for moment in range(5))
    check(f"{sql}: an interrupt is heard in {1000 * took[2]:.1f} ms, one of {whole}", took[2] < within)


def interrupts():
    """An interrupt and a progress handler end the reading of many rows; then the connection still works
    (contract 13)."""
    heard("SELECT eval_report()", graded_board(), 0.1)
    heard("SELECT * FROM eval_compare", graded_board(), 0.1)
    db = views.opened()
    db.executescript("CREATE VIEW results AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 50000000) SELECT i % 3 AS model, i AS item, i % 2 AS correct FROM r")
    heard("SELECT * FROM eval_leaderboard", db, 0.01, every=1000, whole=5000)
    db.set_progress_handler(lambda: 1, 100000)
    fails(db, "SELECT * FROM eval_compare", "interrupted")
    db.set_progress_handler(None, 0)
    db.executescript("DROP VIEW results; CREATE TABLE results(model, item, correct); INSERT INTO results VALUES ('a', 1, 1)")
    check("and the next reads", len(table(db, "SELECT * FROM eval_leaderboard")) == 1)


def main():
    shapes()
    any_names()
    attempts()
    duplicates()
    order_of_rows()
    levels()
    by_task()
    errored()
    extremes()
    bounded()
    ranges()
    out_of_range()
    widest_range()
    tied()
    columns()
    sources()
    recursion()
    pushdown()
    joins()
    read_once()
    denied()
    unseen()
    without_a_unit()
    interrupts()
    finish()


if __name__ == "__main__":
    main()
