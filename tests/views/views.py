#!/usr/bin/python3
"""Checks every number of the board, also in Datasette, in the tables of materialize.sql and in the gate.

    views.py EXTENSION

The expected values of eval_leaderboard and the other tables are computed here from the rows, in Python: which tasks are graded, which
questions have several attempts, counts, means, McNemar's p, Holm's steps, ranks.  The functions over counts then give the intervals.
"""
import base64
import collections
import functools
import itertools
import json
import math
import pathlib
import re
import sqlite3
import sys
import tempfile
import time
import types
from unittest import mock

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/board")]
import posterior  # noqa: E402
from checks import check, finish, seeded  # noqa: E402

EXTENSION = str(pathlib.Path(sys.argv[1]).resolve().with_suffix(""))
COLUMNS = ("model", "task", "item", "attempt", "correct", "score", "error", "score_lo", "score_hi")
TABLES = ("leaderboard", "compare", "tasks", "common", "passes", "noise", "slices", "questions")


def opened(path=":memory:", timeout=5):
    db = sqlite3.connect(path, timeout=timeout)
    db.row_factory = sqlite3.Row
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    return db


def filled(rows, path=":memory:"):
    db = opened(path)
    db.executescript((ROOT / "sql/schema.sql").read_text())
    db.executemany(f"INSERT INTO results({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})", rows)
    db.commit()
    return db


def loose(rows, path=":memory:", columns=COLUMNS):
    """As filled(), in a table that takes anything."""
    db = opened(path)
    db.execute(f"CREATE TABLE results({', '.join(columns)})")
    db.executemany(f"INSERT INTO results VALUES ({', '.join('?' * len(columns))})", rows)
    db.commit()
    return db


def table(db, sql, *arguments):
    return [dict(row) for row in db.execute(sql, arguments)]


# The expected board


class Expected:
    def __init__(self, db, rows):
        self.db = db
        rows = [dict(zip(COLUMNS, row)) for row in rows]
        scored = [r for r in rows if r["correct"] is None and r["score"] is not None and r["error"] is None]
        self.graded = {r["task"] for r in scored} | {r["task"] for r in rows if r["score_lo"] is not None}
        declared = collections.defaultdict(list)
        for r in rows:
            if r["score_lo"] is not None:
                declared[r["task"]].append((r["score_lo"], r["score_hi"]))
        self.range = {t: (min(d[0] for d in ds), max(d[1] for d in ds)) for t, ds in declared.items()}
        self.models = sorted({r["model"] for r in rows})
        self.answers = collections.defaultdict(lambda: collections.defaultdict(list))  # model: (task, item): shares
        self.errored = collections.Counter()
        for r in rows:
            share = self.share(r)
            if share is None:
                self.errored[r["model"], r["task"]] += 1
            else:
                self.answers[r["model"]][r["task"], str(r["item"])].append(share)

    def share(self, r):
        if r["task"] not in self.graded:
            return r["correct"]
        if r["correct"] is None and (r["score"] is None or r["error"] is not None):
            return None
        lo, hi = self.range.get(r["task"], (0, 1))
        return r["correct"] if r["score"] is None else (r["score"] - lo) / (hi - lo)

    def over(self, function, rows, *more):
        """An aggregate over rows; None where there are none."""
        width = len(rows[0]) if rows else 1
        columns = ", ".join([f"json_extract(value, '$[{i}]')" for i in range(width)] + [repr(m) for m in more])
        text = self.db.execute(f"SELECT {function}({columns}) FROM json_each(?)", (json.dumps(rows),)).fetchone()[0]
        return text and tuple(json.loads(text))

    def interval(self, questions, tasks):
        """(method, accuracy, interval) of shares by question."""
        shares = [s for ss in questions.values() for s in ss]
        graded, again = bool(tasks & self.graded), any(len(ss) > 1 for ss in questions.values())
        if not shares:
            return None, None, None
        means = [sum(ss) / len(ss) for ss in questions.values()]
        ci = self.over("mean_ci", [(m,) for m in means])
        return "mean of questions" if again else "mean" if graded else "bayes", sum(means) / len(means), ci

    def right_or_wrong(self, model):
        """(task, k, n) of every question of a task that is not graded."""
        return [(task, sum(ss), len(ss)) for (task, _), ss in self.answers[model].items() if task not in self.graded and ss]

    def by_task(self, model):
        found = collections.defaultdict(dict)
        for (task, item), shares in self.answers[model].items():
            found[task][item] = shares
        return found

    def pair(self, a, b):
        """A row of eval_compare, without the columns that depend on other pairs."""
        both = sorted(set(self.answers[a]) & set(self.answers[b]))
        shares = [(self.answers[a][q], self.answers[b][q]) for q in both]
        means = [tuple(sum(s) / len(s) for s in pair) for pair in shares]
        row = {"model_a": a, "model_b": b, "n": len(both), **dict.fromkeys(("both", "only_a", "only_b", "neither"))}
        row["mean_a"], row["mean_b"] = (sum(m[i] for m in means) / len(means) for i in (0, 1))
        row["diff"] = sum(x - y for x, y in means) / len(means)
        if any(q[0] in self.graded for q in both) or any(len(s) > 1 for pair in shares for s in pair):
            prob, p = self.db.execute("SELECT paired_mean_prob_better(a, b), paired_p(a, b) FROM (SELECT json_extract(value, '$[0]') AS a, json_extract(value, '$[1]') AS b "
                                      "FROM json_each(?))", (json.dumps(means),)).fetchone()
            ci, graded = self.over("paired_mean_diff_ci", means), any(q[0] in self.graded for q in both)
            return {**row, **self.unseen(means, ci if graded else [-1, 1]), "method": "paired means", "p": p, "prob_a_better": prob, "lo": ci[0], "hi": ci[1]}
        cells = [sum(m == want for m in means) for want in ((1, 1), (1, 0), (0, 1), (0, 0))]
        ci, prob = self.db.execute("SELECT paired_diff_ci_counts(?1, ?2, ?3, ?4), paired_prob_better_counts(?1, ?2, ?3, ?4)", cells).fetchone()
        lo, hi = json.loads(ci)
        lo, hi = -1 if cells[2] == len(means) else lo, 1 if cells[1] == len(means) else hi  # it holds the difference
        return {**row, **self.unseen(means, [-1, 1]), **dict(zip(("both", "only_a", "only_b", "neither"), cells)), "method": "paired", "p": mcnemar(*cells[1:3]),
                "prob_a_better": prob, "lo": lo, "hi": hi}

    def unseen(self, means, ci):
        """The interval of a mean of differences from -1 to 1; and the verdict where only the pair's own interval separates
        the two, of which graded pairs are told."""
        lo, hi = json.loads(self.db.execute("SELECT mean_ci(value, 0.95, -1, 1) FROM json_each(?)", (json.dumps([x - y for x, y in means]),)).fetchone()[0])
        hedge = (ci[0] > 0 or ci[1] < 0) and lo <= 0 <= hi and any(abs(x - y) not in (0, 1) for x, y in means)
        return {"ci_unseen_lo": lo, "ci_unseen_hi": hi, "verdict": f"{'AB'[ci[1] < 0]} better unless it sometimes fails outright" if hedge else None}

    def same_data(self, a, b):
        one, other = ({q: sum(s) / len(s) for q, s in self.answers[m].items()} for m in (a, b))
        return one == other

    @functools.cached_property
    def pairs(self):
        rows = [self.pair(a, b) for a in self.models for b in self.models if a < b and set(self.answers[a]) & set(self.answers[b])]
        tested = sorted((r for r in rows if r["p"] is not None), key=lambda r: r["p"])
        step = 0
        for i, row in enumerate(tested):
            step = max(step, min(1, row["p"] * (len(tested) - i)))
            row["p_all"] = step
            open = "tied" if self.same_data(row["model_a"], row["model_b"]) else "not separated"
            row["verdict_all"] = open if step > 0.05 else "A better" if row["diff"] > 0 else "B better"
            row["verdict"] = row["verdict"] or ("A better" if row["lo"] > 0 else "B better" if row["hi"] < 0 else open)
        return rows

    def common(self):
        able = [m for m in self.models if self.answers[m]]
        return set.intersection(*(set(self.answers[m]) for m in able)) if able else set()


def mcnemar(b, c):
    """Two-sided mid-p."""
    if b == c:
        return 1.0
    n, k = b + c, min(b, c)
    return (2 * sum(math.comb(n, i) for i in range(k)) + math.comb(n, k)) / 2 ** n


# Comparing the board with it


def near(a, b, slack=1e-9):
    if a is None or b is None or isinstance(a, str) or isinstance(b, str):
        return a == b
    return abs(a - b) <= slack


def same(what, row, **wanted):
    for name, value in wanted.items():
        check(f"{what}: {name} is {row[name]!r}, not {value!r}", near(row[name], value))


def bars(what, row, point):
    """err_lo and err_hi reach from the point to the interval, and are never negative."""
    if row["ci"] is None:
        check(f"{what}: no interval, no bars", row["err_lo"] is None and row["err_hi"] is None and row["lo"] is None)
        return
    check(f"{what}: ci, lo and hi agree", tuple(json.loads(row["ci"])) == (row["lo"], row["hi"]))
    same(what, row, err_lo=max(0, row[point] - row["lo"]), err_hi=max(0, row["hi"] - row[point]))


def hold_tasks(name, db, e):
    rows = {(r["model"], r["task"]): r for r in table(db, "SELECT * FROM eval_tasks")}
    check(f"{name}: every model and task", set(rows) == {(m, t) for m in e.models for t in e.by_task(m)} | set(e.errored))
    for (model, task), row in rows.items():
        what, questions = f"{name}: {model} on {task}", e.by_task(model)[task]
        method, mean, ci = e.interval(questions, {task})
        shares = [s for ss in questions.values() for s in ss]
        graded, (lo, hi) = task in e.graded, e.range.get(task, (0, 1))
        same(what, row, n=len(shares), questions=len(questions), errored=e.errored[model, task], method=method, accuracy=mean,
             correct=None if graded or not shares else sum(shares), lo=ci and ci[0], hi=ci and ci[1],
             mean=mean if mean is None or not graded else lo + mean * (hi - lo), score_lo=lo if graded else None, score_hi=hi if graded else None)
        bars(what, row, "accuracy")


def turned(row):
    """A row of eval_compare with A and B exchanged; without the text of its intervals."""
    back = {"A": "B", "B": "A"}
    ends = {key: key.replace("lo", "hi") if "lo" in key else key.replace("hi", "lo") for key in row if key.split("_")[-1] in ("lo", "hi")}
    sides = {key: f"{key[:-1]}{back[key[-1].upper()].lower()}" for key in row if key[-2:] in ("_a", "_b")}
    out = {key: row[{**sides, **ends}.get(key, key)] for key in row if key not in ("ci", "ci_unseen")}
    for key in ("diff", "lo", "hi", "ci_unseen_lo", "ci_unseen_hi", "diff_all", "prob_a_better", "prob_all"):
        if out.get(key) is not None:
            out[key] = 1 - out[key] if key.startswith("prob") else -out[key] or 0.0
    return {key: back[x[0]] + x[1:] if "verdict" in key and x and x[:1] in back else x for key, x in out.items()}


def hold_pairs(name, db, e):
    rows = table(db, "SELECT * FROM eval_compare")
    order = [r["model"] for r in table(db, "SELECT model FROM eval_leaderboard")]
    check(f"{name}: each pair once, in the order of the leaderboard", [(r["model_a"], r["model_b"]) for r in rows] ==
          [(a, b) for a, b in itertools.combinations(order, 2) if any({p["model_a"], p["model_b"]} == {a, b} for p in e.pairs)])
    rows = {(r["model_a"], r["model_b"]): r for r in rows}
    rows |= {(b, a): {**turned(r), "ci": json.dumps([-r["hi"], -r["lo"]]) if r["ci"] else None} for (a, b), r in rows.items()}
    check(f"{name}: every pair", len(rows) == 2 * len(e.pairs) and set(rows) >= {(p["model_a"], p["model_b"]) for p in e.pairs})
    for pair in e.pairs:
        row = rows.get((pair["model_a"], pair["model_b"]))
        if row:
            same(f"{name}: {pair['model_a']} against {pair['model_b']}", row, **pair)
            bars(f"{name}: {pair['model_a']} against {pair['model_b']}", row, "diff")


def macro_of(e, model):
    """macro and its interval; None with one task"""
    tasks = e.by_task(model)
    means = {t: [sum(ss) / len(ss) for ss in qs.values()] for t, qs in tasks.items()}
    if len(tasks) < 2:
        return None, None
    return sum(sum(m) / len(m) for m in means.values()) / len(means), e.over("macro_ci", [(m, t) for t, ms in means.items() for m in ms])


def hold_board(name, db, e):
    rows = table(db, "SELECT * FROM eval_leaderboard")
    check(f"{name}: every model", sorted(r["model"] for r in rows) == e.models)
    order = [(-r["accuracy"], r["model"]) for r in rows if r["accuracy"] is not None]
    check(f"{name}: the best first", order == sorted(order))
    places, among_all = posterior.of_answers(e.models, e.answers, two=e.pairs[0].get("prob_a_better") if len(e.pairs) == 1 else None)
    for a, b, prob, diff in db.execute("SELECT model_a, model_b, prob_all, diff_all FROM eval_compare"):
        same(f"{name}: {a} against {b}", dict(prob=prob, diff=diff), **dict(zip(("prob", "diff"), among_all.get((a, b), (None, None)))))
    for row in rows:
        model = row["model"]
        what, questions, tasks = f"{name}: {model}", e.answers[model], set(e.by_task(model))
        method, mean, ci = e.interval(questions, tasks)
        shares = [s for ss in questions.values() for s in ss]
        same(what, row, n=len(shares), questions=len(questions), tasks=len(tasks), errored=sum(n for (m, _), n in e.errored.items() if m == model),
             method=method, accuracy=mean, lo=ci and ci[0], hi=ci and ci[1], common=len(e.common()),
             correct=None if tasks & e.graded or not shares else sum(shares),
             **dict(zip(("p_best", "rank", "rank_lo", "rank_hi"), places.get(model, (None,) * 4))))
        bars(what, row, "accuracy")
        if mean is not None:
            macro, macro_ci = macro_of(e, model)  # tests/board/anew.py has task_ci
            same(what, row, macro=macro, macro_lo=macro_ci and macro_ci[0], macro_hi=macro_ci and macro_ci[1])
    if places:
        check(f"{name}: the chances of being best add up to 1", near(sum(r["p_best"] for r in rows if r["model"] in places), 1))


def hold_common(name, db, e):
    shared = e.common()
    rows = table(db, "SELECT * FROM eval_common")
    able = [m for m in e.models if e.answers[m]]
    check(f"{name}: common has every model", sorted(r["model"] for r in rows) == (able if shared else []))
    wanted = {m: e.interval({q: e.answers[m][q] for q in shared}, {q[0] for q in shared}) for m in able}
    board = {r["model"]: r for r in table(db, "SELECT * FROM eval_leaderboard")}
    for row in rows:
        method, mean, ci = wanted[row["model"]]
        same(f"{name}: {row['model']} on common questions", row, method=method, accuracy=mean, questions=len(shared), lo=ci and ci[0], hi=ci and ci[1],
             rank_lo=board[row["model"]]["rank_lo"], rank_hi=board[row["model"]]["rank_hi"])
        if mean is not None:
            same(f"{name}: {row['model']} on common questions", row, rank=1 + sum(m is not None and m > mean + 1e-12 for _, m, _ in wanted.values()))
        bars(f"{name}: {row['model']} on common questions", row, "accuracy")


def hold_passes(name, db, e):
    rows = {(r["model"], r["task"], r["k"]): r for r in table(db, "SELECT * FROM eval_passes")}
    wanted = set()
    for model in e.models:
        for task, questions in e.by_task(model).items():
            most = max(map(len, questions.values()))
            if task in e.graded or most < 2:
                continue
            for k in {1, most} | {2 ** i for i in range(1, most.bit_length()) if 2 ** i <= most}:
                wanted.add((model, task, k))
                counts = [(sum(ss), len(ss)) for ss in questions.values() if len(ss) >= k]
                at = sum(1 - math.comb(n - c, k) / math.comb(n, k) for c, n in counts) / len(counts)
                hat = sum(math.comb(c, k) / math.comb(n, k) for c, n in counts) / len(counts)
                if (model, task, k) in rows:
                    at_ci, hat_ci = (e.over(f"{f}_ci_counts", [(c, n, k) for c, n in counts]) for f in ("pass_at_k", "pass_hat_k"))
                    same(f"{name}: {model} on {task}, k = {k}", rows[model, task, k], questions=len(counts), pass_at_k=at, pass_hat_k=hat,
                         at_lo=at_ci[0], at_hi=at_ci[1], hat_lo=hat_ci[0], hat_hi=hat_ci[1])
    check(f"{name}: every k", set(rows) == wanted)


def hold_noise(name, db, e):
    rows = {r["model"]: r for r in table(db, "SELECT * FROM eval_noise")}
    check(f"{name}: noise where something was asked again", set(rows) == {m for m in e.models if any(n > 1 for _, _, n in e.right_or_wrong(m))})
    for model, row in rows.items():
        counts = e.right_or_wrong(model)
        text = e.db.execute("SELECT noise_counts(value->>1, value->>2, value->>0) FROM json_each(?)", (json.dumps(counts),)).fetchone()[0]
        parts = json.loads(text)
        same(f"{name}: noise of {model}", row, tasks=len({t for t, _, _ in counts}), questions=len(counts), n=sum(n for _, _, n in counts),
             **{f"{one}_{what}": parts[f"{one}s"][what] for one in ("task", "question", "rerun") for what in ("share", "lo", "hi")})
        check(f"{name}: noise of {model} as text", [json.loads(row[f"{one}_ci"]) for one in ("task", "rerun")] ==
              [[row[f"{one}_lo"], row[f"{one}_hi"]] for one in ("task", "rerun")])


def hold(name, rows):
    db = filled(rows)
    e = Expected(db, rows)
    for part in (hold_tasks, hold_pairs, hold_board, hold_common, hold_passes, hold_noise):
        part(name, db, e)
    return db


# The tables of results


def answers(seed, models, tasks, questions, attempts=1, graded=(), ranges={}, error=0.05, missing=0.0, grades=4):
    """Random rows; tasks in `graded` have scores in quarters of their range, or other grades."""
    chance = seeded(seed)
    rows = []
    for t in range(tasks):
        task, (lo, hi) = f"task {t}", ranges.get(t, (0, 1))
        for q in range(questions):
            hard = chance.gauss(0, 1)
            for m in range(models):
                if chance.random() < missing:
                    continue
                for attempt in range(1, 1 + (attempts if isinstance(attempts, int) else attempts[(m + q) % len(attempts)])):
                    level = hard + chance.gauss(0, 1) + m / models
                    key = (f"model {m}", task, q, attempt)
                    declared = (lo, hi) if t in ranges else (None, None)
                    if chance.random() < error:
                        rows.append((*key, None, None, "down", *declared))
                    elif t in graded:
                        score = lo + (hi - lo) * min(grades, max(0, round(grades / 2 * (1 + level)))) / grades
                        rows.append((*key, None, float(score), None, *declared))
                    else:
                        rows.append((*key, int(level > 0), None, None, None, None))
    return rows


def shapes():
    hold("asked once", answers(1, 4, 6, 50))
    hold("asked again", answers(2, 4, 2, 12, attempts=4))
    hold("one model asked again", answers(3, 3, 5, 9, attempts=(1, 1, 3)))
    hold("graded", answers(4, 4, 5, 10, graded=(0, 1, 2, 3, 4)))
    hold("graded and not", answers(5, 4, 5, 10, graded=(1, 3)))
    hold("graded and asked again", answers(6, 3, 2, 8, attempts=3, graded=(1,)))
    hold("a range of its own", answers(7, 3, 2, 10, graded=(0, 1), ranges={1: (1, 10)}))
    hold("different questions", answers(8, 4, 3, 45, missing=0.3))
    hold("nothing in common", [(f"m{i}", "t", i, 1, 1, None, None, None, None) for i in range(3)])
    hold("more than a word", answers(9, 3, 1, 130, error=0.2))
    hold("one answer", [("m", "t", 1, 1, 1, None, None, None, None)])
    hold("no answer", [("m", "t", 1, 1, None, None, "down", None, None), ("k", "t", 1, 1, 1, None, None, None, None)])
    hold("all right", [(m, "t", i, 1, 1, None, None, None, None) for m in "ab" for i in range(20)])
    hold("nothing", [])
    # Scores beside a verdict, as promptfoo's, are not what counts; one score alone makes a task graded for every model.
    beside = [(m, "t", i, 1, i % 2, 0.3, None, None, None) for m in "ab" for i in range(8)]
    hold("a verdict with a score beside it", beside)
    hold("one score makes a task graded", beside + [("c", "t", 0, 1, None, 0.5, None, None, None)])
    hold("a verdict without a score in a graded task", [(*r[:5], 3.0, *r[6:]) for r in beside] + [("c", "t", 0, 1, None, 5.0, None, 1, 9), ("c", "t", 1, 1, 1, None, None, 1, 9)])
    # Ratings that are all 1, the lowest rating.
    hold("a declared range makes a task graded", [(m, "t", i, 1, 1, 1.0, None, 1, 10) for m in "ab" for i in range(8)])
    hold("only errors in a graded task", answers(16, 3, 1, 9) + [("model 1", "g", 1, 1, None, None, "down", None, None), ("x", "g", 1, 1, None, 0.5, None, None, None)])
    # The score of an answer with an error does not count.
    hold("errors with scores", beside + [("a", "t", 50, 1, None, 0.7, "down", None, None)])


def order_of_attempts():
    """Which attempt comes first changes nothing."""
    rows = answers(11, 5, 1, 15, attempts=4, error=0)
    turned = [(*r[:3], 5 - r[3], *r[4:]) for r in rows]
    one, other = (table(filled(r), "SELECT * FROM eval_compare") for r in (rows, turned))
    check("the order of attempts changes nothing", one == other and any(r["verdict"] != "not separated" for r in one))


def order_of_rows():
    """The order of rows changes nothing, in a table without a key and with scores whose sums are rounded."""
    rows = [(*r[:5], r[5] and r[5] * 0.7, *r[6:]) for r in answers(12, 4, 5, 30, attempts=3, graded=(0, 1, 2, 3))]
    found = []
    for seed in range(3):
        seeded(seed).shuffle(rows)
        db = opened()
        db.execute(f"CREATE TABLE results({', '.join(COLUMNS)})")
        db.executemany(f"INSERT INTO results VALUES ({', '.join('?' * len(COLUMNS))})", rows)
        found.append({name: repr(table(db, f"SELECT * FROM eval_{name}")) for name in TABLES})
    for name in TABLES:
        check(f"the order of rows changes no digit of eval_{name}", found[0][name] == found[1][name] == found[2][name])


def items_as_text():
    """One import may write 7, another '7' and a third 7.0, in words and in questions alike."""
    rows = [("a", "t", 7, 1, 1, None, None, None, None), ("b", "t", "7", 1, 0, None, None, None, None), ("c", "t", 7.0, 1, 0, None, None, None, None)]
    for what, more in (("asked once", []), ("asked again", [("a", "t", 7, 2, 1, None, None, None, None)])):
        db = filled(rows + more)
        pairs = [(r["model_a"], r["model_b"], r["n"], r["diff"]) for r in table(db, "SELECT * FROM eval_compare")]
        check(f"7, '7' and 7.0 are one question, {what}: {pairs}", pairs == [("a", "b", 1, 1), ("a", "c", 1, 1), ("b", "c", 1, 0)])
        check(f"and common to all, {what}", [r["common"] for r in table(db, "SELECT common FROM eval_leaderboard")] == [1] * 3 == [r["questions"] for r in table(db, "SELECT questions FROM eval_common")])


def names():
    """A table of the user's own may have any names, also NULL."""
    db = opened()
    db.executescript("CREATE TABLE results(model, task, item, correct); INSERT INTO results VALUES "
                     "(1, NULL, 1, 1), (2, NULL, 1, 0), (NULL, '', 1, '1'), (NULL, '', 1, 0), (x'0102', '', 1, 1), ('a' || char(1), '', 1, 1), ('a' || char(1) || 'z', '', 1, 0)")
    rows = table(db, "SELECT * FROM eval_leaderboard")
    check(f"names of any kind: {rows}", [r["common"] for r in rows] == [1] * 6 and near(sum(r["p_best"] for r in rows), 1))
    check("no name, asked again", [(r["method"], r["ci"] is None) for r in rows if r["model"] is None] == [("mean of questions, repeated rows as attempts", False)])
    check("pairs of any kind but no name", len(table(db, "SELECT * FROM eval_compare")) == 10 and len(table(db, "SELECT * FROM eval_common")) == 6)
    db.execute("DELETE FROM results WHERE rowid = 4")
    check("the same, asked once", len(table(db, "SELECT * FROM eval_compare")) == 10 and len(table(db, "SELECT * FROM eval_common")) == 6)


def families():
    """Among equal models hardly any pair is called different, although single pairs would be in nearly every eval."""
    alone = held = 0
    for seed in range(20):
        chance = seeded(seed)
        db = filled([(f"m{m}", "t", q, 1, int(chance.random() < 0.7), None, None, None, None) for m in range(30) for q in range(40)])
        pairs = table(db, "SELECT p, verdict_all FROM eval_compare")
        alone += any(r["p"] < 0.05 for r in pairs)
        held += any(r["verdict_all"] != "not separated" for r in pairs)
    check(f"30 equal models: some pair differs in {held} of 20 evals, and in {alone} on its own", held <= 3 and alone >= 17)


def paired_by_few_questions():
    """Two models answered 80 questions alternately and 4 both: the pair has these 4, wherever they are among the 84."""
    for first in range(0, 81, 8):
        both = range(first, first + 4)
        db = filled([(model, "t", f"{q:02}", 1, q % 3 % 2, None, None, None, None) for q in range(84) for i, model in enumerate("ab")
                     if q in both or q % 2 == i])
        check(f"4 questions from {first} on", table(db, "SELECT n FROM eval_compare") == [{"n": 4}])
        check(f"4 questions from {first} on, in common", [r["n"] for r in table(db, "SELECT n FROM eval_common")] == [4, 4])


# The same numbers in other places


def shown_picture(value):
    """What Datasette's plugin makes of a cell: None, or the picture inside an image.  The plugin is loaded with only
    those parts of Datasette that it uses."""
    datasette, markupsafe = types.ModuleType("datasette"), types.ModuleType("markupsafe")
    datasette.hookimpl, markupsafe.Markup = (lambda function: function), type("Markup", (str,), {})
    plugin = types.ModuleType("evalci_pictures")
    with mock.patch.dict(sys.modules, datasette=datasette, markupsafe=markupsafe):
        exec((ROOT / "sql/datasette/plugins/evalci_pictures.py").read_text(), plugin.__dict__)
    html = plugin.render_cell(value=value)
    if html is None:
        return None
    image = re.fullmatch(r'<img alt="[\w ]*" style="[\w:%-]*" src="data:image/svg\+xml;base64,([A-Za-z0-9+/=]*)">', html)
    check("a cell with a picture is an image and nothing else", image and type(html).__name__ == "Markup")
    return base64.b64decode(image[1]).decode()


def datasette_pictures():
    """Pictures are shown as such, and any other cell is left to Datasette."""
    db = opened()
    svg = db.execute("SELECT forest_svg('漢 <&>', 0.5, '[0.4,0.6]')").fetchone()[0]
    hostile = svg[:60] + '"><script>alert(1)</script>'
    check("the plugin shows the whole picture", shown_picture(svg) == svg and shown_picture(hostile) == hostile)
    check("and leaves the rest", all(shown_picture(v) is None for v in (None, 5, 0.5, b"<svg", "text", "<svg>", "")))


def empty_form(sql):
    return [""] * len(set(re.findall(r":(\w+)", sql)))


COUNTING = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 1000000) SELECT sum(i * i % 7) FROM r"


def least_time(ask):
    """Processor time, the least of three runs, since the machine may be busy."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        ask()
        taken.append(time.process_time() - began)
    return min(taken)


def datasette_costs():
    """The time of a page relative to SQLite counting to a million: at most half of that for 500 rows, and 12 times for
    100,000, half of them graded or none; the most seen was 6 times.  `make bench` has the seconds, which Datasette
    limits to 1.  Datasette takes 1,001 rows of a page."""
    queries = yaml.safe_load((ROOT / "sql/datasette/metadata.yaml").read_text())["databases"]["evals"]["queries"]
    for limit, models, questions in ((0.5, 5, 10), (12, 20, 500), (12, 100, 100)):
        for graded in ((), range(5)):
            db = filled(answers(17, models, 10, questions, graded=graded, grades=100))
            counting = least_time(lambda: db.execute(COUNTING).fetchall())
            for name, query in queries.items():
                cost = least_time(lambda: db.execute(query["sql"], empty_form(query["sql"])).fetchmany(1001)) / counting
                check(f"Datasette's {name} of {models} models, 10 tasks of {questions}, {len(graded)} graded costs {cost:.1f}",
                      cost < limit)


def shows(db, name, shown, rows):
    """A page has these rows, in any order, with their cells to the digits shown."""
    key = [c for c in ("model", "task", "item", "model_a", "model_b", "k") if c in shown[0]]
    rows = {tuple(r[c] for c in key): r for r in rows}
    check(f"Datasette's {name} has every row", sorted(rows) == sorted(tuple(r[c] for c in key) for r in shown))
    for r in shown:
        row = rows[tuple(r[c] for c in key)]
        for column in set(r) & set(row):
            value = db.execute("SELECT ci_text(?)", (row[column],)).fetchone()[0] if column.endswith("ci") else row[column]
            check(f"Datasette's {name}: {column} of {key}", near(r[column], value, 5.1e-5))


def datasette():
    """The canned queries, as Datasette runs them: with every parameter of a form not yet filled in, an empty text."""
    db = filled(answers(13, 4, 6, 12, attempts=(1, 2), graded=(2,)))
    queries = yaml.safe_load((ROOT / "sql/datasette/metadata.yaml").read_text())["databases"]["evals"]["queries"]
    source = {"ranking": "leaderboard", "on_common": "common", "pairs": "compare", "tasks": "tasks", "attempts": "passes", "not_separated": "leaderboard",
              "questions": "questions"}
    drawn = {"forest": "forest_svg", "heatmap": "heatmap_svg"}
    check("every canned query is tried", set(queries) == set(source) | set(drawn) | {"slices"})
    for name in drawn:
        picture, = table(db, queries[name]["sql"])
        check(f"Datasette's plugin shows {name}", shown_picture(picture["picture"]))
    squares = sorted(map(float, re.findall(r"<title>([^<]*)</title></rect>", picture["picture"])))
    chances = sorted(p for r in table(db, "SELECT prob_a_better FROM eval_compare") for p in (r["prob_a_better"], 1 - r["prob_a_better"]))
    check("the heatmap has every probability, both ways", len(chances) == len(squares) == 12 and all(map(near, squares, chances)))
    for name, read in source.items():
        shown = table(db, queries[name]["sql"], *empty_form(queries[name]["sql"]))
        only = " WHERE model = (SELECT model FROM eval_leaderboard LIMIT 1)" if name == "tasks" else ""
        shows(db, name, shown, table(db, f"SELECT * FROM eval_{read}{only}"))
    ranges = {r["model"]: (r["rank_lo"], r["rank_hi"]) for r in table(db, "SELECT * FROM eval_leaderboard")}
    for r in table(db, queries["ranking"]["sql"]):
        lo, hi = ranges[r["model"]]
        check("Datasette's ranks are ranges", str(r["ranks"]) == (str(lo) if lo == hi else f"{lo}–{hi}"))
    open_pairs = table(db, "SELECT model_a, model_b FROM eval_compare WHERE verdict_all NOT LIKE '% better'")
    for r in table(db, queries["not_separated"]["sql"]):
        check("every pair that is not separated counts", r["others"] == sum(r["model"] in p.values() for p in open_pairs))
        check("and is named", (r["not_separated_from"] or "").count("model") == r["others"])
    sql = queries["tasks"]["sql"]
    check("one model's tasks", len(table(db, sql, "model 1")) == 6 and table(db, sql, "nobody") == [])
    check("one task's questions", len(table(db, queries["questions"]["sql"], "task 1")) == 12)
    new, old = [r["model"] for r in table(db, "SELECT model FROM eval_leaderboard LIMIT 2")]
    for form, pair in ((("", ""), (old, new)), (("model 1", "model 3"),) * 2, (("", "model 3"), (old, "model 3"))):
        shows(db, "slices", table(db, queries["slices"]["sql"], *form),
              table(db, "SELECT * FROM eval_slices WHERE model_a = ? AND model_b = ?", *pair))


def materialized(folder):
    """The tables have the board's columns and values, can be read without the extension, and are created all or none."""
    path, rows = f"{folder}/bi.db", answers(14, 4, 6, 12, attempts=(1, 2), graded=(2,))
    db, script = filled(rows, path), (ROOT / "sql/materialize.sql").read_text()
    for turn in ("once", "again"):
        wanted = {name: table(db, f"SELECT * FROM eval_{name}") for name in TABLES}
        db.executescript(script)
        plain = sqlite3.connect(path)
        plain.row_factory = sqlite3.Row
        made = {r["name"] for r in table(plain, "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")}
        check(f"materialized {turn}: tables alone", made == {"results"} | {f"evals_{name}" for name in TABLES})
        for name in TABLES:
            check(f"materialized {turn}: {name}", table(plain, f"SELECT * FROM evals_{name}") == wanted[name])
            types = {r["name"]: r["type"] for r in table(plain, f"SELECT name, type FROM pragma_table_info('evals_{name}')")}
            check(f"materialized {turn}: {name} has types but for names: {types}",
                  {n for n, t in types.items() if t not in ("TEXT", "INT", "REAL")} <= {"model", "task", "item", "model_a", "model_b"})
        plain.close()
        db.execute("DELETE FROM results WHERE model = 'model 3'")
        db.commit()
    db.execute("INSERT INTO results(model, task, item, score) VALUES ('model 3', 'task 2', 99, 0.5)")
    db.commit()
    try:
        db.executescript(script.replace("eval_passes;", "eval_nothing;"))
        check("materialize.sql fails", False)
    except sqlite3.OperationalError:
        db.rollback()
    left = {name: table(db, f"SELECT * FROM evals_{name}") for name in TABLES}
    check("all of the tables or none", left == wanted)


def dropped_views(folder):
    """drop_views.sql names the views of earlier releases, but none of the user's own or of finish.sql."""
    path = f"{folder}/old.db"
    db = filled(answers(18, 3, 2, 5), path)
    db.executescript((ROOT / "tests/board/oracle.sql").read_text())
    script = (ROOT / "sql/drop_views.sql").read_text()
    old = {r["name"] for r in table(db, "SELECT name FROM sqlite_master WHERE type = 'view'")}
    lines = [r[0] for r in db.execute(script)]
    check(f"every old view is dropped: {lines}", len(old) == 13 and {f"DROP VIEW {name};" for name in old} == set(lines))
    db.executescript("".join(lines))
    db.executescript("CREATE TABLE common(x); CREATE VIEW questions AS SELECT DISTINCT item FROM results; CREATE VIEW compare AS SELECT model FROM results")
    check("a person's own are left", db.execute(script).fetchall() == [])
    counts = opened()
    counts.executescript((ROOT / "sql/pushdown/finish.sql").read_text())
    check("and those of finish.sql", counts.execute(script).fetchall() == [])


# The gate


def gates():
    names = ["old 'one'", 'new "two" $(x)', "worse\\", "same", "-graded", "elsewhere"]
    rows = []
    for q in range(400):
        right = [q % 5 != 0, q % 5 != 0 or q % 10 == 0, q % 2 == 0, q % 5 != 1]
        rows += [(m, "t", q, 1, int(r), None, None, None, None) for m, r in zip(names, right)]
        rows.append((names[4], "g", q, 1, None, 0.25 * (q % 5), None, None, None))
        rows.append((names[0], "g", q, 1, None, 0.25 * (q % 5) - 0.25 * (q % 5 > 2), None, None, None))
    rows.append(("elsewhere", "u", 1, 1, 1, None, None, None, None))
    db = filled(rows)
    for base, candidate, result in ((0, 1, "pass"), (0, 2, "fail"), (1, 3, "fail"), (0, 3, "unsure"), (0, 4, "pass"), (0, 5, "unsure")):
        said = table(db, "SELECT *, baseline, candidate, margin, sure FROM eval_gate(NULL, NULL, ?, ?)", names[base], names[candidate])[0]
        pair = table(db, "SELECT * FROM eval_compare WHERE model_a IN (?1, ?2) AND model_b IN (?1, ?2)", names[base], names[candidate])
        check("the gate names both", (said["baseline"], said["candidate"], said["result"]) == (names[base], names[candidate], result))
        check("the gate's defaults", (said["margin"], said["sure"]) == (0.02, 0.95))
        if pair:
            sign = 1 if pair[0]["model_a"] == names[candidate] else -1
            same("the gate and compare", {**pair[0], "questions": pair[0]["n"]}, questions=said["questions"], method=said["method"], diff=sign * said["diff"],
                 **({"lo": said["lo"], "hi": said["hi"]} if sign > 0 else {"lo": -said["hi"], "hi": -said["lo"]}))
        check("only an unsure gate wants more", (said["more"] is not None) == (result == "unsure" and bool(pair)))
        if said["more"] is not None and pair[0]["method"] == "paired":
            # The plan has the same variance of the differences, and as mean the distance from the margin.
            only = sorted((pair[0]["only_a"], pair[0]["only_b"]))
            beyond = said["diff"] + said["margin"]
            discordant = sum(only) / said["questions"] - said["diff"] ** 2 + beyond ** 2
            needed = db.execute("SELECT plan_paired_n(?, ?, 0.8, 0.9)", ((discordant + beyond) / 2, (discordant - beyond) / 2)).fetchone()[0]
            check(f"the gate asks for {said['more']} more, not {needed} in all", abs(said["more"] - (needed - said["questions"])) <= 1)


def main():
    shapes()
    order_of_attempts()
    order_of_rows()
    items_as_text()
    names()
    families()
    paired_by_few_questions()
    datasette_pictures()
    datasette()
    datasette_costs()
    with tempfile.TemporaryDirectory() as folder:
        materialized(folder)
        dropped_views(folder)
    gates()
    finish()


if __name__ == "__main__":
    main()
