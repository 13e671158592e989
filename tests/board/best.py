#!/usr/bin/python3
"""P(best) against a joint Bayesian bootstrap over questions, and its corner cases.

    best.py EXTENSION

The boards are in data/, three of them real; data/best.csv has the results of the bootstrap, which bootstrap.py writes.
"""
import collections
import csv
import json
import math
import pathlib
import sqlite3
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from checks import check, finish  # noqa: E402

DATA = ROOT / "tests/board/data"
EXTENSION = str(pathlib.Path(sys.argv[1]).resolve().with_suffix(""))
NEAR = 0.03


def board(rows, column="correct"):
    """A table of (model, item, answer)."""
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    db.execute(f"CREATE TABLE results(model, item, {column})")
    db.executemany("INSERT INTO results VALUES (?, ?, ?)", rows)
    return db


def best(rows, column="correct", options="{}"):
    return dict(board(rows, column).execute("SELECT model, p_best FROM eval_leaderboard('results', ?)", (options,)).fetchall())


def stored(name, left_out):
    """The rows of a board in data/, and the name of their last column."""
    rows, column = [], "correct"
    with open(DATA / f"{name}.csv") as file:
        for line in csv.DictReader(file):
            item = line.pop("item")
            for model, cell in line.items():
                right, slash, of = cell.partition("/")
                if cell == "" or model in left_out:
                    continue
                if slash:
                    rows += [(model, item, int(i < int(right))) for i in range(int(of))]
                else:
                    column = "score"
                    rows.append((model, item, float(cell)))
    return rows, column


def bootstrapped():
    wanted = collections.defaultdict(dict)
    with open(DATA / "best.csv") as file:
        for row in csv.DictReader(file):
            wanted[row["board"], row["file"], row["left_out"]][row["model"]] = float(row["p_best"])
    check("there are boards", len(wanted) >= 9)
    for (name, file, left_out), chances in wanted.items():
        rows, column = stored(file, left_out.split(";"))
        got = best(rows, column)
        check(f"{name}: every model has its P(best)", got.keys() == chances.keys())
        check(f"{name}: and they add up to 1", abs(math.fsum(got.values()) - 1) < 1e-9)
        for model, p in chances.items():
            check(f"{name}: P({model} is best) is {got[model]:.4f}, the bootstrap says {p:.4f}", abs(got[model] - p) <= NEAR)


def apart():
    """Without shared questions, or with a correlation of at most 0, the digits are those of ranks_counts."""
    def ranked(rows):
        db = board(rows)
        found = db.execute("SELECT ranks_counts(model, k, n) FROM (SELECT model, sum(correct) AS k, count(*) AS n FROM results GROUP BY model)").fetchone()[0]
        return {r["label"]: r["p_best"] for r in json.loads(found)}

    for name, rows in (("apart", stored("drawn_apart", ())[0]),
                       ("a question each", [("a", 1, 1), ("b", 2, 0)]),
                       ("against each other", [(m, i, int(i % 2 == k)) for k, m in enumerate("ab") for i in range(20)] + [("a", 20, 1), ("b", 20, 1)]),
                       ("uncorrelated", [(m, i, int(i % 4 in right)) for m, right in (("a", (0, 1)), ("b", (0, 2))) for i in range(40)])):
        check(f"{name}: as ranks_counts has it", best(rows) == ranked(rows))


def near(got, wanted):
    return got.keys() == wanted.keys() and all(abs(got[m] - p) < 1e-9 for m, p in wanted.items())


def corners():
    again = [(m, i, 1) for m in "ab" for i in range(15) for _ in range(4)]
    check("one model", best([("a", 1, 1)]) == {"a": 1} and best([("a", i, 0.5) for i in range(9)], "score") == {"a": 1})
    check("all right, asked again", near(best(again), {"a": 0.5, "b": 0.5}))
    almost = best([*again[:-1], ("b", 14, 0)])
    check(f"one wrong of sixty is not surely worse, and not better: {almost}", 0.6 < almost["a"] < 0.9)
    check("all wrong", near(best([(m, i, 0) for m, i, _ in again]), {"a": 0.5, "b": 0.5}))
    alike = best([(m, i, x) for m, x in (("a", 0.7), ("b", 0.69)) for i in range(30)], "score")
    check(f"graded, all alike: {alike}", alike["a"] > 0.8)
    few = [best([(m, i, x) for m, x in (("a", 0.7), ("b", 0.69)) for i in range(n)], "score")["a"] for n in (1, 2, 3)]
    check(f"a question or three decide nothing: {few}", all(0.5 < p < 0.7 for p in few))
    twins = [(m, i, int(i % 3 > 0)) for m in "ab" for i in range(60)]
    check("the same data", near(best(twins), {"a": 0.5, "b": 0.5}))
    third = best(twins + [("c", i, int(i % 2 > 0)) for i in range(60)])
    check(f"twins ahead of another share the rest: {third}", third["a"] == third["b"] > 0.45 > third["c"])
    check("no answer, no chance", best([("a", 1, 1), ("b", 1, None)]) == {"a": 1, "b": None})
    large = best([(m, i, (i * 7 % 100 + (i % 50 == 0) * (m == "a")) / 100 * 0.9) for m in "ab" for i in range(20000)], "score")
    check(f"twenty thousand questions, the same on nearly all: {large}", large["a"] > 0.999999)


def order_and_level():
    rows, column = stored("matharena", ())
    check("the order of rows changes no digit", best(rows) == best(rows[::-1]))
    check("nor does the level", best(rows) == best(rows, options='{"level":0.5}') == best(rows, options='{"level":0.999999}'))
    check("one task is no strata", best(rows) == best(rows, options='{"by":"task"}'))


def main():
    bootstrapped()
    apart()
    corners()
    order_and_level()
    finish()


if __name__ == "__main__":
    main()
