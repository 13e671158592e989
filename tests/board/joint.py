#!/usr/bin/python3
"""The joint posterior of a board: p_best, rank, rank_lo, rank_hi, prob_all and diff_all.

    joint.py EXTENSION [BOARDS]

data/joint.csv has the values of small boards, which joint_reference.py computes by mpmath and another route;
posterior.py computes those of random boards.  Besides: what must hold on every board, corner cases, three real boards
(data/ORIGIN.md), and how often P(best) is right, on BOARDS simulated ones of each kind, 200 unless given.
"""
import collections
import csv
import json
import math
import pathlib
import random
import sqlite3
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import posterior  # noqa: E402
from checks import check, finish  # noqa: E402
from small_boards import SMALL, TASKS  # noqa: E402

DATA = ROOT / "tests/board/data"
EXTENSION = str(pathlib.Path(sys.argv[1]).resolve().with_suffix(""))
# What 48 nodes of tau leave; posterior.py has 384.
FINE = 1e-9
BY_TASK = '{"by":"task"}'


def opened(rows, scores=False):
    """A table of (model, task, item, answer)."""
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    db.execute(f"CREATE TABLE results(model, task, item, {'score' if scores else 'correct'})")
    db.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", rows)
    return db


def rows_of(table, tasks=None, names=None):
    """Rows of a board, and whether they have scores: means in quarters are four attempts."""
    known = {x for row in table for x in row if x is not None and not math.isnan(x)}
    scores = any(x not in (0, 0.25, 0.5, 0.75, 1) for x in known)
    attempts = 4 if not scores and known - {0, 1} else 1
    out = []
    for i, row in enumerate(table):
        for q, x in enumerate(row):
            if x is None or math.isnan(x):
                continue
            answers = [x] if scores else [int(k < x * attempts) for k in range(attempts)]
            out += [(names[i] if names else f"m{i:04d}", tasks[q] if tasks else "t", q, a) for a in answers]
    return out, scores


class Board:
    def __init__(self, rows, scores=False, options="{}"):
        db = opened(rows, scores)
        self.rows = {r[0]: r[1:] for r in db.execute("SELECT model, p_best, rank, rank_lo, rank_hi, accuracy, rank_note FROM eval_leaderboard('results', ?)", (options,))}
        self.best = {m: r[0] for m, r in self.rows.items()}
        self.ranges = {m: r[2:4] for m, r in self.rows.items()}
        self.notes = {r[5] for r in self.rows.values()}
        self.pairs = {}
        for a, b, prob, alone, diff, own in db.execute("SELECT model_a, model_b, prob_all, prob_a_better, diff_all, diff FROM eval_compare('results', ?)", (options,)):
            self.pairs[a, b] = prob, alone, diff, own
            self.pairs[b, a] = (None,) * 4 if prob is None else (1 - prob, 1 - alone, -diff, -own)


def coherent(name, board):
    """What must hold on every board that has an answer."""
    answered = [m for m, p in board.best.items() if p is not None]
    check(f"{name}: P(best) adds up to 1", abs(math.fsum(board.best[m] for m in answered) - 1) < 1e-9)
    check(f"{name}: ranks add up", abs(math.fsum(board.rows[m][1] for m in answered) - len(answered) * (len(answered) + 1) / 2) < 1e-8)
    for (a, b), (prob, _, _, _) in board.pairs.items():
        check(f"{name}: {a} is best with {board.best[a]}, and beats {b} with {prob}", board.best[a] <= prob + 1e-12)
    for m in answered:
        lo, hi = board.ranges[m]
        check(f"{name}: {m}'s expected rank is in its range", lo - 0.5 <= board.rows[m][1] <= hi + 0.5)


def near(x, y, within=1e-10):
    return x is not None and y is not None and abs(x - y) <= within


def references():
    wanted = collections.defaultdict(dict)
    with open(DATA / "joint.csv") as file:
        for r in csv.DictReader(file):
            wanted[r["board"]][r["what"], int(r["a"]), int(r["b"] or -1)] = float(r["value"])
    check("there are boards", len(wanted) == len(SMALL) >= 10)
    for name, values in wanted.items():
        table, tasks = SMALL[name], TASKS.get(name)
        board = Board(*rows_of(table, tasks), BY_TASK if tasks else "{}")
        models = sorted(board.rows)
        for (what, i, j), value in values.items():
            a, b = models[i], models[j]
            got = board.best[a] if what == "p_best" else board.pairs[a, b][0 if what == "prob_all" else 2]
            check(f"{name}: {what} of {i}, {j} is {got!r}, not {value!r}", near(got, value))
        prob = np.full((len(models), len(models)), 0.5)
        for (what, i, j), value in values.items():
            if what == "prob_all":
                prob[i, j], prob[j, i] = value, 1 - value
        for i, (lo, hi) in enumerate(zip(*posterior.ranges(prob))):
            check(f"{name}: the ranks of {i} are {board.ranges[models[i]]}, not {lo} to {hi}", board.ranges[models[i]] == (lo, hi))
            check(f"{name}: its mean rank", near(board.rows[models[i]][1], 0.5 + prob[:, i].sum()))
        coherent(name, board)


def simulated(draw, models, questions, sd, missing=0.0, graded=False, attempts=1):
    skill = draw.normal(0, sd, models)
    logit = skill[:, None] + draw.normal(0, 1.5, questions) + draw.normal(0, 0.7, (models, questions))
    p = 1 / (1 + np.exp(-logit))
    table = np.round(p, 3) if graded else draw.binomial(attempts, p) / attempts
    table = np.where(draw.random((models, questions)) < missing, np.nan, table)
    return skill, table


def random_boards():
    draw = np.random.default_rng(41)
    print("seed 41")
    for case in range(30):
        models, questions = int(draw.integers(3, 9)), int(draw.integers(2, 40))
        graded = draw.random() < 0.3
        _, table = simulated(draw, models, questions, draw.choice([0.1, 0.5, 2]), draw.choice([0, 0.2, 0.6]), graded, 1 if graded else draw.choice([1, 4]))
        tasks = [f"task {t}" for t in draw.integers(0, 3, questions)]
        for options in ("{}", BY_TASK):
            hold(f"random board {case} {options}", table, tasks, options)


def hold(name, table, tasks, options="{}"):
    table = table[[not np.isnan(row).all() for row in table]]
    if len(table) < 3:
        return
    board, found = Board(*rows_of(table, tasks), options), posterior.joint(table, tasks, options == BY_TASK)
    models = sorted(board.rows)
    if found is None:
        check(f"{name}: nothing joins the models: {board.notes}", set(board.best.values()) == {None} and len(board.notes) == 1 and "no shared questions join m0" in board.notes.pop())
        check(f"{name}: so pairs have no answer either", all(p[0] is p[2] is None for p in board.pairs.values()))
        return
    prob, best, plain = found
    for i, m in enumerate(models):
        check(f"{name}: P({m} is best) is {board.best[m]}, not {best[i]}", near(board.best[m], best[i], FINE))
    for (a, b), got in board.pairs.items():
        i, j = models.index(a), models.index(b)
        check(f"{name}: {a} beats {b} with {got[0]}, not {prob[i, j]}", near(got[0], prob[i, j], FINE))
        check(f"{name}: they differ by {got[2]}, not {plain[i] - plain[j]}", near(got[2], plain[i] - plain[j]))
    lo, hi = posterior.ranges(prob)
    check(f"{name}: ranks", [board.ranges[m] for m in models] == list(zip(lo, hi)))
    coherent(name, board)


def many():
    """More than forty contenders; and a hundred models of which few are."""
    draw = np.random.default_rng(42)
    print("seed 42")
    for models, questions, sd in ((45, 30, 0.1), (41, 10, 0.3), (70, 60, 1.5)):
        hold(f"{models} models", simulated(draw, models, questions, sd)[1], ["t"] * questions)


def complete():
    """On a board without gaps diff_all is diff, also by task."""
    draw = np.random.default_rng(43)
    for options in ("{}", BY_TASK):
        board = Board(*rows_of(simulated(draw, 5, 30, 0.5)[1], ["t"] * 20 + ["u"] * 10), options)
        check(f"no gaps {options}", all(near(p[2], p[3], 1e-12) for p in board.pairs.values()))


def orders():
    """The order of rows changes no digit; names that keep their order change none, others none but rounding errors."""
    draw = np.random.default_rng(44)
    _, table = simulated(draw, 7, 60, 0.3, 0.3, True)
    rows, scores = rows_of(table, ["t", "u", "v"] * 20)
    for options in ("{}", BY_TASK):
        whole = Board(rows, scores, options)
        for seed in range(3):
            shuffled = rows[:]
            random.Random(seed).shuffle(shuffled)
            other = Board(shuffled, scores, options)
            check("the order of rows changes no digit", other.rows == whole.rows and other.pairs == whole.pairs)
        turned = Board([(f"m{9 - int(m[1:])}", t, -q, x) for m, t, q, x in rows], scores, options)
        for m, p in whole.best.items():
            check("names change nothing", near(turned.best[f"m{9 - int(m[1:])}"], p, 1e-13))


def two():
    """Two models are compared as a pair is."""
    for table in ([[1, 1, 1, 0, 1], [0, 1, 1, 0, 0]], [[.9, .8, .3], [.5, .9, .1]], [[1, 1], [1, 1]],
                  [[1] * 9 + [None] * 2, [0] * 8 + [None, 1, 1]]):
        board = Board(*rows_of(table))
        (prob, alone, diff, own), *_ = board.pairs.values()
        check(f"{table}: as by itself", prob == alone == board.best["m0000"] and near(board.best["m0001"], 1 - prob, 0) and near(diff, own, 1e-15))
        check(f"{table}: its rank", near(board.rows["m0000"][1], 2 - prob, 1e-15))
        sure = 2 * min(prob, 1 - prob) <= 0.05
        check(f"{table}: its ranks {board.ranges}", board.ranges["m0000"] == ((1, 1) if sure and prob > 0.5 else (2, 2) if sure else (1, 2)))
        coherent(str(table), board)
    board = Board(*rows_of([[1, 1, 1, 0, 1], [0, 1, 1, 0, 0]], "ttuuv"), BY_TASK)
    check("by task too", next(iter(board.pairs.values()))[0] == board.best["m0000"])


def apart():
    """No two models share a question: independent errors, and so with counts."""
    draw = np.random.default_rng(45)
    for graded in (False, True):
        skill, table = simulated(draw, 4, 80, 0.8, graded=graded)
        table[:, :] = np.where(np.arange(80) // 20 == np.arange(4)[:, None], table, np.nan)
        hold(f"apart, graded {graded}", table, list("abcd") * 20)
        hold(f"apart, graded {graded}, by task", table, list("aabc") * 20, BY_TASK)
        check("and it is said", "questions are taken to be alike" in (Board(*rows_of(table)).notes.pop() or ""))
    rows, _ = rows_of(np.where(np.arange(80) // 20 == np.arange(4)[:, None], simulated(draw, 4, 80, 0.8)[1], np.nan))
    db = opened(rows)
    db.execute("CREATE VIEW counts AS SELECT model, sum(correct) AS k, count(*) AS n FROM results GROUP BY model")
    both = [db.execute(f"SELECT model, p_best, rank, rank_lo, rank_hi, rank_note FROM eval_leaderboard('{s}')").fetchall() for s in ("results", "counts")]
    check("counts are the same", both[0] == both[1])
    db.execute("CREATE VIEW pair AS SELECT * FROM counts WHERE model < 'm0002'")
    (k, n), (j, m) = db.execute("SELECT k, n FROM pair").fetchall()
    wanted = db.execute("SELECT prob_better_counts(?, ?, ?, ?)", (k, n, j, m)).fetchone()[0]
    got = dict(db.execute("SELECT model, p_best FROM eval_leaderboard('pair')"))
    check("two of them are as prob_better has it", got["m0000"] == wanted and near(got["m0001"], 1 - wanted, 0))


def corners():
    def best(rows, scores=False, options="{}"):
        return Board(rows, scores, options).best

    check("one model", Board([("a", "t", 1, 1)]).rows["a"][:4] == (1, 1, 1, 1) and best([("a", "t", i, 0.5) for i in range(9)], True) == {"a": 1})
    check("no answer, no chance", best([("a", "t", 1, 1), ("b", "t", 1, None)]) == {"a": 1, "b": None})
    check("nobody answered", best([("a", "t", 1, None), ("b", "t", 1, None)]) == {"a": None, "b": None})
    wrong = Board([("a", "t", 1, 1), ("b", "t", 1, None), ("c", "t", 1, 0)], options='{"errors":"wrong"}')
    check("errors that are wrong answers count", near(wrong.best["b"], wrong.best["c"], 1e-12) and wrong.best["a"] > 0.5)
    twins = best([(m, "t", i, int(i % 3 > 0 and (m < "c" or i % 2))) for m in "abc" for i in range(60)])
    check(f"twins share the rest: {twins}", near(twins["a"], twins["b"], 1e-12) and twins["a"] > 0.45 > twins["c"])
    none = best([(m, "t", i, int(i % 7 < 5)) for m in (None, 1, 2.5, "x") for i in range(30)])
    check("models of any name, and without one", all(near(p, 0.25, 1e-9) for p in none.values()))
    pair = best([(m, "t", i, int(i % 7 < 5)) for m in (None, 1) for i in range(30)])
    check("a pair without a name", all(near(p, 0.5, 1e-9) for p in pair.values()))
    large = Board([(m, "t", i, (i * 7 % 100 + (i % 50 == 0) * (m == "a")) / 100 * 0.9) for m in "abc" for i in range(20000)], True)
    check(f"twenty thousand questions, the same on nearly all: {large.best}", large.best["a"] > 0.999999 and large.ranges["a"] == (1, 1))
    chain = Board(*rows_of([[1, 1, 0, None, None], [None, None, 1, 0, None], [None, None, None, 1, 1]]))
    check("a chain joins models that share nothing", all(p is not None for p in chain.best.values()))
    cut = Board(*rows_of([[1, 1, None, None], [1, 0, None, None], [None, None, 1, 0], [None, None, 1, 1]]))
    check(f"two halves: {cut.notes}", cut.notes == {"no shared questions join m0000 and m0002"} and set(cut.best.values()) == {None})
    crowd = Board([(f"m{i:04d}", "t", q, i % 2) for i in range(1001) for q in (1, 2)])
    check(f"a thousand and one: {crowd.notes}", crowd.notes == {"1001 models, more than 1000"} and set(crowd.best.values()) == {None})
    rows, scores = rows_of(simulated(np.random.default_rng(5), 5, 40, 1)[1])
    check("P(best) does not depend on the level", best(rows) == best(rows, options='{"level":0.5}') == best(rows, options='{"level":0.999999}'))
    wide, narrow = (Board(rows, scores, f'{{"level":{level}}}').ranges for level in (0.999999, 0.5))
    check("ranks do", all(w[0] <= n[0] and w[1] >= n[1] for w, n in zip(wide.values(), narrow.values())) and wide != narrow)


def stored(name):
    """The rows of a board in data/, and whether it has scores."""
    rows, scores = [], False
    with open(DATA / f"{name}.csv") as file:
        for line in csv.DictReader(file):
            item = line.pop("item")
            for model, cell in line.items():
                right, slash, of = cell.partition("/")
                scores |= bool(cell) and not slash
                if cell:
                    rows += [(model, "t", item, int(i < int(right))) for i in range(int(of))] if slash else [(model, "t", item, float(cell))]
    return rows, scores


def real():
    """Boards on which P(best) once contradicted the pairs, or the questions that models were asked."""
    for name in ("matharena", "swebench_pro", "livebench"):
        board = Board(*stored(name))
        coherent(name, board)
        first, second, *_ = sorted(board.best, key=lambda m: -board.best[m])
        print(f"{name}: {first} {board.best[first]:.4f}, {second} {board.best[second]:.4f}; of the two {board.pairs[first, second][0]:.4f}")
        check(f"{name}: the first two", board.best[first] <= board.pairs[first, second][0] and board.ranges[first][0] == 1)


def hardest():
    """Five equal models, one of which was asked only the hardest 60 of 200 questions: it is not the worst."""
    draw, shares = np.random.default_rng(46), []
    for _ in range(60):
        hard = np.sort(draw.normal(0, 1.5, 200))[::-1]
        table = (draw.random((5, 200)) < 1 / (1 + np.exp(hard + 0.7 * draw.normal(size=(5, 200))))).astype(float)
        table[0, 60:] = np.nan
        shares.append(Board(*rows_of(table)).best["m0000"])
    print(f"asked the hardest 30%: P(best) {np.mean(shares):.3f} on average, at least {min(shares):.3f}")
    check(f"P(best) of the fifth model is {np.mean(shares):.3f}", abs(np.mean(shares) - 0.2) < 0.05 and min(shares) > 0.005)


SETTINGS = ((6, 15, 0, 1, 1), (6, 50, 0, 1, 1), (12, 100, 0, 1, 1), (6, 100, 0.4, 1, 1), (12, 15, 0, 4, 1), (6, 60, 0, 1, 4))


def calibrated(cases):
    """P(best) against the truth, over models whose skills have standard deviations of 0.1, 0.2, 0.4 and 1 in logits: a
    probability of p is right in p of the cases, within 0.03 and three times the error of so few boards."""
    draw, bins, leaders, held = np.random.default_rng(47), collections.defaultdict(list), [], []
    print(f"seed 47, {cases} boards of each kind")
    for models, questions, missing, attempts, tasks in SETTINGS:
        of = [str(min(t, tasks)) for t in sorted(map(math.isqrt, range(questions)))] if tasks > 1 else None  # of different sizes
        mine = []
        for case in range(cases):
            skill, table = simulated(draw, models, questions, (0.1, 0.2, 0.4, 1)[case % 4], missing, attempts=attempts)
            found = opened(rows_of(table, of)[0]).execute("SELECT p_best, rank_lo, rank_hi FROM eval_leaderboard('results', ?) ORDER BY model", (BY_TASK if of else "{}",)).fetchall()
            chances, best = [p for p, _, _ in found], int(np.argmax(skill))
            held.append(all(lo <= rank <= hi for (_, lo, hi), rank in zip(found, 1 + np.argsort(np.argsort(-skill)))))
            mine.append((max(chances), int(np.argmax(chances)) == best))
            for i, p in enumerate(chances):
                bins[min(4, int(5 * p))].append((p, i == best))
        leaders += mine
        print(f"{models} models, {questions} questions, {missing:.0%} missing, {attempts} attempts, {tasks} tasks: the leader is said to be best in {said_and_true(mine)}")
    check(f"the leader: {said_and_true(leaders)}", calibrates(leaders))
    print(f"all ranks are in their ranges in {np.mean(held):.4f} of the boards")
    check(f"all ranks are in their ranges in {np.mean(held):.4f}", np.mean(held) > 0.95)
    for k, found in sorted(bins.items()):
        print(f"P(best) from {k / 5}: {said_and_true(found)}")
        check(f"P(best) from {k / 5}: {said_and_true(found)}", calibrates(found))


def said_and_true(found):
    return f"{np.mean([p for p, _ in found]):.3f} of {len(found)}, is in {np.mean([r for _, r in found]):.3f}"


def calibrates(found):
    said, true = (np.mean(x) for x in zip(*found))
    return abs(said - true) < 0.03 + 3 * math.sqrt(said * (1 - said) / len(found))


def main():
    references()
    random_boards()
    many()
    complete()
    orders()
    two()
    apart()
    corners()
    real()
    hardest()
    calibrated(int(sys.argv[2]) if len(sys.argv) > 2 else 200)
    finish()


if __name__ == "__main__":
    main()
