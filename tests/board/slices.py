#!/usr/bin/python3
"""eval_slices, eval_questions, and boards of counts.

    slices.py EXTENSION

Counts, tests and correlations are computed here from the rows with numpy and scipy, the rank-sum test by listing every
selection of models; intervals come from the functions over counts.  Contract 42, contract 43, contract 44.
"""
import collections
import itertools
import json
import math
import pathlib
import sqlite3
import sys

import numpy
from scipy import stats

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/views")]
import posterior  # noqa: E402
import views  # noqa: E402
from board import ends_when_interrupted, fails, one, table  # noqa: E402
from checks import check, finish, seeded  # noqa: E402
from views import loose as filled  # noqa: E402


def reaching(ci, counts):
    """An interval of a difference; where every question separates the two models, it reaches 1 or -1."""
    lo, hi = ci.strip("[]").split(",")
    return f"[{'-1.0' if counts[2] == sum(counts) else lo},{'1.0' if counts[1] == sum(counts) else hi}]"


def right_or_wrong(db, k, n, level=0.95):
    """bayes_ci of k of n, which reaches the end where all are right, or all wrong."""
    text = one(db, "SELECT bayes_ci_counts(?, ?, ?)", k, n, level)
    lo, hi = text.strip("[]").split(",")
    return f"[{'0.0' if k == 0 else lo},{'1.0' if k == n else hi}]"


def made(sql):
    db = views.opened()
    db.executescript(sql)
    return db


def near(a, b, within=1e-12):
    return a is b is None or (a is not None and b is not None and abs(a - b) <= within)


# Held to each other, by definition and without sorting


def holm(ps):
    return [max(min(1, p * sum(q >= p for q in ps)) for p in ps if p <= mine) for mine in ps]


def bh(ps):
    return [min(1, *(p * len(ps) / sum(q <= p for q in ps) for p in ps if p >= mine)) for mine in ps]


def mcnemar(only_a, only_b):
    n, fewer = only_a + only_b, min(only_a, only_b)
    return 1.0 if only_a == only_b else 2 * stats.binom.cdf(fewer - 1, n, 0.5) + stats.binom.pmf(fewer, n, 0.5)


# Slices


def shared(rows, a, b):
    """{task: [(right a, right b)]} of questions asked once."""
    found = collections.defaultdict(dict)
    for row in rows:
        if row[4] is not None:
            found[row[1], row[2]][row[0]] = row[4]
    tasks = collections.defaultdict(list)
    for (task, _), answers in found.items():
        if a in answers and b in answers:
            tasks[task].append((answers[a], answers[b]))
    return tasks


def check_slices(name, rows, level=0.95):
    db = filled(rows)
    got = collections.defaultdict(list)
    for r in table(db, "SELECT * FROM eval_slices('results', ?)", json.dumps({"level": level})):
        got[r["model_a"], r["model_b"]].append(r)
    order = [r["model"] for r in table(db, "SELECT model FROM eval_leaderboard")]
    check(f"{name}: the better one is A", list(got) == [pair for pair in itertools.combinations(order, 2) if pair in got])
    for a, b in itertools.permutations(order, 2):
        tasks, found = shared(rows, a, b), table(db, "SELECT * FROM eval_slices('results', ?) WHERE model_a = ? AND model_b = ?", json.dumps({"level": level}), a, b)
        check(f"{name}: {a} and {b} named or listed", got.pop((a, b), found) == found)
        check(f"{name}: tasks of {a} and {b}, in order", [r["task"] for r in found] == sorted(tasks))
        counts = [[sum(x == (u, v) for x in tasks[t]) for u, v in ((1, 1), (1, 0), (0, 1), (0, 0))] for t in sorted(tasks)]
        ps = [mcnemar(c[1], c[2]) for c in counts]
        told = [(r["task"], c[2], c[1] + c[2]) for r, c in zip(found, counts) if c[1] + c[2]]
        each = {}
        if told:
            each = {e["cluster"]: e for e in json.loads(one(
                db, "SELECT clustered_each_counts(value ->> 0, value ->> 1, value ->> 2, 0.98, 'icc') FROM json_each(?)", json.dumps(told)))}
        for r, c, p, p_holm, p_bh in zip(found, counts, ps, holm(ps), bh(ps)):
            n, where = sum(c), f"{name}: {a} {b} {r['task']}"
            check(f"{where} counts", (r["n"], r["both"], r["only_a"], r["only_b"]) == (n, *c[:3]))
            check(f"{where} diff is A - B", near(r["diff"], (c[1] - c[2]) / n))
            check(f"{where} ci", r["ci"] == reaching(one(db, "SELECT paired_diff_ci_counts(?, ?, ?, ?, ?)", *c, level), c) and r["ci"] == f"[{r['lo']!r},{r['hi']!r}]")
            check(f"{where} p {r['p']} {p}", near(r["p"], p) and near(r["p_holm"], p_holm) and near(r["p_bh"], p_bh))
            e = each.get(r["task"])
            check(f"{where} shrunken", (r["shrunken_lo"], r["shrunken_hi"]) == ((e["lo"], e["hi"]) if e else (None, None)) and (r["shrunken"] is None) == (e is None))
            verdict = "not separated"
            if p_bh <= 1 - level and c[1] != c[2]:
                verdict = "regressed" if c[1] > c[2] else "improved"
            elif e and (e["hi"] < 0.5 or e["lo"] > 0.5):
                verdict = "perhaps regressed" if e["hi"] < 0.5 else "perhaps improved"
            check(f"{where} verdict {r['verdict']}", r["verdict"] == verdict)
            seen[verdict] += 1
    check(f"{name}: no other pair", not got)


seen = collections.Counter()


def slices():
    check_slices("asked once", views.answers(31, 4, 6, 50, error=0))
    check_slices("the better first", [(f"model {9 - int(r[0][-1])}", *r[1:]) for r in views.answers(31, 4, 6, 50, error=0)])
    check_slices("with gaps", views.answers(32, 4, 5, 20, missing=0.3))
    check_slices("at a level", views.answers(33, 3, 8, 30, error=0), 0.8)
    check_slices("all alike", [(m, t, q, 1, 1, None, None, None, None) for m in "ab" for t in "st" for q in range(5)])
    check_slices("one question each", [(m, t, 0, 1, int(m == "a"), None, None, None, None) for m in "ab" for t in "stuv"])
    check_slices("all lost", [(m, t, q, 1, int(m == "a"), None, None, None, None) for m in "ab" for t in "st" for q in range(20)])
    check(f"every verdict was seen: {seen}", set(seen) == {"regressed", "perhaps regressed", "improved", "perhaps improved", "not separated"})


def pairs_named():
    """A pair that WHERE names in either order; in the other order every value is mirrored."""
    rows = views.answers(35, 4, 6, 30, attempts=(1, 2), graded=(1, 4), missing=0.1)
    db = filled(rows)
    everything = table(db, "SELECT * FROM eval_slices")
    words = {"regressed": "improved", "perhaps regressed": "perhaps improved", "not separated": "not separated", None: None}
    words |= {v: k for k, v in words.items()}
    order = [r["model"] for r in table(db, "SELECT model FROM eval_leaderboard")]
    for a, b in itertools.combinations(order, 2):
        named = table(db, "SELECT * FROM eval_slices WHERE model_a = ? AND model_b = ?", a, b)
        check("a pair by its models", named == [r for r in everything if (r["model_a"], r["model_b"]) == (a, b)] and named)
        turned = table(db, "SELECT * FROM eval_slices WHERE model_a = ? AND model_b = ?", b, a)
        for r, t in zip(named, turned):
            check("turned", r["task"] == t["task"] and r["n"] == t["n"] and near(r["diff"], -t["diff"]) and near(r["lo"], -t["hi"]) and near(r["p_bh"], t["p_bh"]) and
                  r["only_a"] == t["only_b"] and words[r["verdict"]] == t["verdict"])
            check("shrunken is turned", near(r["shrunken_lo"], None if t["shrunken_hi"] is None else 1 - t["shrunken_hi"], 1e-7))
    pair = "SELECT * FROM eval_slices WHERE model_a = ? AND model_b = ?"
    others = [m for m in order if m != "model 1"]
    check("all of one", table(db, "SELECT * FROM eval_slices WHERE model_a = 'model 1'") == [r for m in others for r in table(db, pair, "model 1", m)])
    check("as the second", table(db, "SELECT * FROM eval_slices WHERE model_b = 'model 1'") == [r for m in others for r in table(db, pair, m, "model 1")])
    fails(db, "SELECT * FROM eval_slices WHERE model_a = 'nobody' AND model_b = 'model 1'", "eval_slices: results has no model 'nobody'")
    fails(db, "SELECT * FROM eval_slices WHERE model_b = 'model1'", "did you mean 'model 1'")
    check("itself", table(db, "SELECT * FROM eval_slices WHERE model_a = 'model 1' AND model_b = 'model 1'") == [])
    joined = table(db, "SELECT s.task, s.p_bh, c.p FROM eval_compare AS c JOIN eval_slices AS s ON s.model_a = c.model_a AND s.model_b = c.model_b")
    check("a join", len(joined) == len(everything))


def sign_flip(differences):
    """Two-sided mid-p of the sum with every choice of signs."""
    t = abs(sum(differences))
    sums = [abs(sum(c)) for c in itertools.product(*((d, -d) for d in differences))]
    return sum((s > t + 1e-9) + (abs(s - t) <= 1e-9) / 2 for s in sums) / len(sums)


def graded_slices():
    """p of graded and repeated tasks, by every choice of signs."""
    chance = seeded(37)
    rows = [(m, t, q, k, None if t == "g" else chance.randrange(2), round(chance.random(), 1) if t == "g" else None, None, None, None)
            for m in "ab" for t in "gr" for q in range(9) for k in range(1, 3)]
    means = collections.defaultdict(list)
    for r in rows:
        means[r[:3]].append(r[5] if r[1] == "g" else r[4])
    for r in table(filled(rows), "SELECT * FROM eval_slices"):
        p = sign_flip([sum(means["a", r["task"], q]) / 2 - sum(means["b", r["task"], q]) / 2 for q in range(9)])
        check(f"{r['task']}: {r['p']} {p}", near(r["p"], p) and r["p"] < 1)


def scored_slices():
    """A graded or repeated task has the values of eval_compare over that task alone; counts and the hierarchy leave it
    out."""
    db = filled(views.answers(36, 3, 6, 15, attempts=(1, 3), graded=(1, 4), missing=0.1))
    db.execute("DELETE FROM results WHERE task IN ('task 0', 'task 3') AND attempt > 1")
    rows = table(db, "SELECT * FROM eval_slices")
    for r in rows:
        db.executescript(f"DROP VIEW IF EXISTS alone; CREATE TEMP VIEW alone AS SELECT * FROM results WHERE task = '{r['task']}'")
        for options in ("{}", '{"by":"task"}'):
            alone, = table(db, "SELECT * FROM eval_compare('alone') WHERE model_a = ? AND model_b = ?", r["model_a"], r["model_b"])
            mine, = table(db, "SELECT * FROM eval_slices('results', ?) WHERE model_a = ? AND model_b = ? AND task = ?", options, r["model_a"], r["model_b"], r["task"])
            for column in ("n", "both", "only_a", "only_b", "diff", "ci", "lo", "hi", "p"):
                check(f"{r['task']} {column} {mine[column]} {alone[column]}", mine[column] == alone[column])
        scored = r["task"] not in ("task 0", "task 3")
        check("counts are of right and wrong", (r["only_a"] is None) == scored and (r["shrunken"] is None) == (scored or r["only_a"] + r["only_b"] == 0))
    for _, of in itertools.groupby(rows, lambda r: (r["model_a"], r["model_b"])):
        of = list(of)
        ps = [r["p"] for r in of]
        check("corrected for each other, scored or not", all(near(r["p_holm"], h) and near(r["p_bh"], q) for r, h, q in zip(of, holm(ps), bh(ps))))


def corners_of_slices():
    db = made("CREATE TABLE results(model, task, item, correct); INSERT INTO results VALUES ('a', 't', 1, 1)")
    check("one model", table(db, "SELECT * FROM eval_slices") == [])
    db.execute("INSERT INTO results VALUES ('b', 't', 2, 1), (NULL, 't', 1, 0), ('c', NULL, 1, 1), ('d', NULL, 1, 0)")
    check("no shared question, no name, no task", [(r["model_a"], r["model_b"], r["task"], r["p"]) for r in table(db, "SELECT * FROM eval_slices")] == [("c", "d", "", 0.5)])
    check("nothing", table(made("CREATE TABLE results(model, item, correct)"), "SELECT * FROM eval_slices") == [])
    fails(db, "SELECT * FROM eval_slices('nowhere')", "eval_slices: cannot read nowhere")


# Questions


def listed(y, rest):
    """The rank-sum test, by all selections of the right models."""
    ranks = stats.rankdata(rest) * 2
    k, s = int(sum(y)), round(sum(r for r, right in zip(ranks, y) if right))
    sums = [round(sum(c)) for c in itertools.combinations(ranks, k)]
    return (sum(t < s for t in sums) + sum(t == s for t in sums) / 2) / len(sums)


def expected_questions(rows, level=0.95):
    """{(task, item): its row}, for answers that are right or wrong, or scores from 0 to 1."""
    shares = collections.defaultdict(lambda: collections.defaultdict(list))
    graded = {r[1] for r in rows if r[5] is not None}
    asked = sorted({(r[1], str(r[2])) for r in rows})
    for r in rows:
        share = r[5] if r[1] in graded else r[4]
        if share is not None:
            shares[r[0]][r[1], str(r[2])].append(share)
    means = {m: {q: sum(s) / len(s) for q, s in of.items()} for m, of in shares.items()}
    found = {}
    for q in asked:
        y = {m: of[q] for m, of in means.items() if q in of}
        rest = {m: math.fsum(v for p, v in means[m].items() if p != q) / (len(means[m]) - 1) for m in y if len(means[m]) > 1}
        scored = q[0] in graded or any(len(shares[m][q]) > 1 for m in y)
        ys, rests = [y[m] for m in rest], [rest[m] for m in rest]
        e = {"models": len(y), "scored": scored, "y": list(y.values()), "item_rest": None, "auc": None, "p": None, "ci": None}
        if len(set(ys)) > 1 and len(set(rests)) > 1:
            e["item_rest"] = r = numpy.corrcoef(ys, rests)[0, 1]
            if len(ys) >= 4 and 1 - abs(r) > 1e-12:
                half = stats.norm.ppf((1 + level) / 2) / math.sqrt(len(ys) - 3)
                e["ci"] = [math.tanh(math.atanh(r) + half * sign) for sign in (-1, 1)]
        if not scored and 0 < sum(ys) < len(ys):
            rests = [round(x, 12) for x in rests]
            pairs = [(x > z) + (x == z) / 2 for x, right in zip(rests, ys) if right for z, other in zip(rests, ys) if not other]
            e["auc"] = sum(pairs) / len(pairs)
            e["p"] = listed(ys, rests) if len(ys) <= 12 else None
        found[q] = e
    tests = [q for q in asked if found[q]["p"] is not None]
    for q, p in zip(tests, bh([found[q]["p"] for q in tests])):
        found[q]["p_bh"] = p
    return found


def check_questions(name, rows, level=0.95, listing=True):
    db = filled(rows)
    wanted = expected_questions(rows, level)
    got = table(db, "SELECT * FROM eval_questions('results', ?)", json.dumps({"level": level}))
    check(f"{name}: one row per question, by task and name", [(r["task"], r["item"]) for r in got] == sorted(wanted))
    for r in got:
        e, where = wanted[r["task"], r["item"]], f"{name}: {r['task']} {r['item']}"
        mean = sum(e["y"]) / len(e["y"]) if e["y"] else None
        right = None if e["scored"] or not e["y"] else sum(e["y"])
        check(f"{where} models and right", r["models"] == e["models"] and r["right"] == right)
        check(f"{where} mean", near(r["mean"], mean) and near(r["difficulty"], None if mean is None else 1 - mean))
        if not e["y"]:
            check(f"{where} has nothing to say", all(r[c] is None for c in r if c not in ("task", "item", "models")))
            continue
        ci = (one(db, "SELECT mean_ci(1 - value, ?) FROM json_each(?)", level, json.dumps(e["y"])) if e["scored"] else
              right_or_wrong(db, len(e["y"]) - right, len(e["y"]), level))
        ends = json.loads(ci)
        check(f"{where} interval of its difficulty", near(r["lo"], ends[0]) and near(r["hi"], ends[1]) and r["ci"] == f"[{r['lo']!r},{r['hi']!r}]")
        check(f"{where} item_rest {r['item_rest']} {e['item_rest']}", near(r["item_rest"], e["item_rest"], 1e-9))
        check(f"{where} item_rest_ci {r['item_rest_ci']} {e['ci']}", (r["item_rest_ci"] is None) == (e["ci"] is None) and
              (e["ci"] is None or near(r["item_rest_lo"], e["ci"][0], 1e-9) and near(r["item_rest_hi"], e["ci"][1], 1e-9)))
        check(f"{where} auc", near(r["auc"], e["auc"]))
        if listing:
            check(f"{where} p {r['p_miskeyed']} {e['p']}", near(r["p_miskeyed"], e["p"]) and near(r["p_bh"], e.get("p_bh")))
            note = "always right" if mean == 1 else "always wrong" if mean == 0 else None
            if note is None and e["p"] is not None and e["p_bh"] <= 1 - level:
                note = "perhaps miskeyed"
            check(f"{where} note {r['note']}", r["note"] == note)
            notes[note] += 1
    return got


notes = collections.Counter()


def ability_board(seed, models, questions, miskeyed=(), task="t"):
    """Rows of models whose abilities differ; on miskeyed questions the better models are wrong."""
    chance = seeded(seed)
    hard = [chance.gauss(0, 1) for _ in range(questions)]
    rows = []
    for m in range(models):
        for q in range(questions):
            right = 3 * (m / models - 0.5) - hard[q] + chance.gauss(0, 0.5) > 0
            if q in miskeyed:
                right = m / models < 0.5
            rows.append((f"model {m:03}", task, q, 1, int(right), None, None, None, None))
    return rows


def questions():
    check_questions("few models", views.answers(41, 4, 2, 20))
    check_questions("gaps", views.answers(42, 7, 2, 15, missing=0.3, error=0.1))
    check_questions("graded", views.answers(43, 6, 2, 8, graded=(0,)))
    check_questions("asked again", views.answers(44, 5, 2, 8, attempts=(1, 2), graded=(1,)))
    check_questions("at a level", ability_board(45, 8, 12), 0.8)
    check_questions("a wrong key", ability_board(46, 12, 30, miskeyed=(3, 17)))
    check_questions("equal models", [(f"m{m}", "t", q, 1, int((m + q) % 4 == 0), None, None, None, None) for m in range(8) for q in range(8)])
    check(f"every note was seen: {notes}", set(notes) == {"always right", "always wrong", "perhaps miskeyed", None})


def counted(y, rest):
    """The rank-sum test, by the number of selections with each sum."""
    ranks, k = [int(r) for r in stats.rankdata(rest) * 2], int(sum(y))
    s = sum(r for r, right in zip(ranks, y) if right)
    ways = numpy.zeros((k + 1, sum(ranks) + 1))
    ways[0, 0] = 1
    for r in ranks:
        ways[1:, r:] += ways[:-1, :-r].copy()
    return (ways[k, :s].sum() + ways[k, s] / 2) / math.comb(len(y), k)


def many_models():
    """The test is exact for up to 200 models, and normal beyond."""
    for models, seed in ((13, 1), (40, 2), (41, 3), (60, 4)):
        data = ability_board(50 + seed, models, 12, miskeyed=(5,))
        right = {(r[0], r[2]): r[4] for r in data}
        names = sorted({r[0] for r in data})
        for r in check_questions(f"{models} models", data, listing=False):
            y = [right[m, int(r["item"])] for m in names]
            rest = [sum(right[m, q] for q in range(12) if q != int(r["item"])) for m in names]
            p = counted(y, rest) if 0 < sum(y) < models else None
            check(f"{models} models, {r['item']}: {r['p_miskeyed']} {p}", near(r["p_miskeyed"], p, 1e-12 * max(p or 0, 1e-3)))
    for models in (200, 201, 260):
        # Rests without ties: model m has m + 1 of the other questions right.
        chance = seeded(models)
        db = made("CREATE TABLE results(model, task, item, correct)")
        db.execute("INSERT INTO results WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i < ?1) SELECT m.i, 'rest', q.i, q.i <= m.i"
                   " FROM r AS m JOIN r AS q ON m.i < ?1", (models,))
        y = [int(chance.random() < (0.35 if m < models / 2 else 0.15)) for m in range(models)]
        db.executemany("INSERT INTO results VALUES (?, 'a', 'odd', ?)", enumerate(y))
        r, = table(db, "SELECT p_miskeyed, auc FROM eval_questions WHERE item = 'odd'")
        u = stats.mannwhitneyu([m for m in range(models) if y[m]], [m for m in range(models) if not y[m]], alternative="less",
                               method="asymptotic", use_continuity=False)
        wanted = counted(y, range(models)) if models <= 200 else u.pvalue
        check(f"{models}: {r['p_miskeyed']} {wanted}", near(r["p_miskeyed"], wanted, 1e-9 * wanted) and near(r["auc"], u.statistic / sum(y) / (models - sum(y))))


def corners_of_questions():
    db = made("CREATE TABLE results(model, item, correct); INSERT INTO results VALUES ('a', 1, 1), (NULL, 1, 0), ('c', 2, NULL)")
    rows = table(db, "SELECT * FROM eval_questions")
    check("one question", [(r["task"], r["item"], r["models"], r["right"], r["item_rest"], r["p_miskeyed"], r["note"]) for r in rows] ==
          [("", "1", 2, 1, None, None, None), ("", "2", 0, None, None, None, None)])
    db = made("CREATE TABLE results(model, item, correct); INSERT INTO results VALUES ('a', 1, 1)")
    check("one model", [(r["difficulty"], r["ci"], r["note"]) for r in table(db, "SELECT * FROM eval_questions")] == [(0, right_or_wrong(db, 0, 1), "always right")])
    check("nothing", table(made("CREATE TABLE results(model, item, correct)"), "SELECT * FROM eval_questions") == [])
    line = filled([(f"m{m}", "t", q, 1, int(q < 2 or m < 3), None, None, None, None) for m in range(6) for q in range(4)])
    check("on a line there is no interval", all((r["item_rest"] is None or near(r["item_rest"], 1, 1e-12)) and r["item_rest_ci"] is None for r in table(line, "SELECT * FROM eval_questions")))
    db = filled(ability_board(47, 10, 20))
    check("an item is joined by its number", one(db, "SELECT count(*) FROM eval_questions AS q JOIN results AS r ON r.item = CAST(q.item AS INTEGER)") == 200)
    check("one question by WHERE", len(table(db, "SELECT * FROM eval_questions WHERE item = '7'")) == 1)
    check("every row has its rowid", one(db, "SELECT count(DISTINCT rowid + 0) FROM eval_questions") == 20)
    fails(db, "SELECT * FROM eval_questions('results', '{\"items\":1}')", "eval_questions: options has no key")


def order_of_rows():
    rows = [(*r[:5], r[5] and r[5] * 0.7, *r[6:]) for r in views.answers(48, 6, 4, 12, attempts=(1, 2), graded=(0, 2), missing=0.1)]
    found = []
    for seed in range(3):
        seeded(seed).shuffle(rows)
        db = filled(rows)
        found.append([repr(table(db, f"SELECT * FROM {t}")) for t in ("eval_slices", "eval_questions")])
    check("the order of rows changes no digit", found[0] == found[1] == found[2])


# Counts


def of_counts(rows, level):
    """P(best) and the ranks of models with k of n right: independent Beta posteriors, pooled."""
    y, n = (numpy.array(x) for x in zip(*(((k + 1) / (n + 2), n) for _, k, n in rows)))
    v = y * (1 - y) / (n + 3)
    prob, best = posterior.pooled(y, numpy.diag(v), v)
    return dict(zip((r[0] for r in rows), zip(best, *posterior.ranges(prob, level))))


def counts():
    db = made("""CREATE TABLE counts(model, k, n); INSERT INTO counts VALUES ('a', 18, 20), ('b', 10, 20), ('c', 0, 5), ('d', 7, 7), (NULL, 3, 9), (5, 400000000, 1000000000);
        CREATE TABLE aliased(LLM, Correct, Total); INSERT INTO aliased SELECT * FROM counts;
        CREATE TABLE numbered(id INTEGER PRIMARY KEY, model, right, questions); INSERT INTO numbered SELECT NULL, * FROM counts;
        CREATE TABLE named(model, id, hits, tries, correct); INSERT INTO named SELECT model, rowid, k, n, 1 FROM counts;
        CREATE TABLE halves(model, k, n); INSERT INTO halves SELECT model, k / 2, n / 2 FROM counts UNION ALL SELECT model, k - k / 2, n - n / 2 FROM counts;""")
    rows = table(db, "SELECT * FROM eval_leaderboard('counts')")
    for level in (0.5, 0.95, 0.999999):
        options = json.dumps({"level": level})
        ranks = of_counts(db.execute("SELECT model, k, n FROM counts ORDER BY model").fetchall(), level)
        for r in table(db, "SELECT * FROM eval_leaderboard('counts', ?)", options):
            k, n = db.execute("SELECT k, n FROM counts WHERE model IS ?", (r["model"],)).fetchone()
            mine = ranks[r["model"]]
            check(f"{r['model']} at {level}", (r["correct"], r["n"], r["questions"], r["errored"], r["accuracy"]) == (k, n, n, 0, k / n))
            check(f"{r['model']} at {level}: interval", r["ci"] == right_or_wrong(db, k, n, level) == r["bounded_ci"])
            check(f"{r['model']} at {level}: ranks", (r["rank_lo"], r["rank_hi"]) == mine[1:] and abs(r["p_best"] - mine[0]) < 1e-9 and "taken to be alike" in r["rank_note"])
            check(f"{r['model']} has no common questions", r["common"] is None and r["method"] == "bayes")
    check("the best first", [r["model"] for r in rows] == ["d", "a", "b", 5, None, "c"])
    for source, options in (("aliased", "{}"), ("numbered", "{}"), ("named", '{"k":"hits","n":"tries"}'), ("halves", "{}")):
        check(f"{source}", table(db, "SELECT * FROM eval_leaderboard(?, ?)", source, options) == rows)
    for function in ("eval_compare", "eval_common", "eval_passes", "eval_slices", "eval_questions", "eval_noise"):
        fails(db, f"SELECT * FROM {function}('counts')", f"{function}: needs an item column", "counts (k, n)")
    fails(db, "SELECT * FROM eval_gate('counts', NULL, 'a', 'b')", "eval_gate: needs an item column")
    fails(db, "SELECT * FROM eval_gate('counts', NULL, 0.5, 'b')", "eval_gate: needs an item column")
    fails(db, "SELECT eval_report('counts')", "eval_report: needs an item column")
    check("and again", len(table(db, "SELECT l.model FROM eval_leaderboard('counts') AS l, eval_tasks('counts') AS t ON t.model IS l.model")) == 6)
    fails(db, "SELECT * FROM eval_leaderboard('counts') AS l, eval_compare('counts')", "eval_compare: needs an item column")
    for sql, words in (("('named', '{\"k\":\"hits\"}')", ["no column n", '{"n":"..."}']), ("('named', '{\"n\":\"tries\",\"k\":\"gone\"}')", ["no column gone"]),
                       ("('named', '{\"k\":\"hits\",\"n\":\"tries\",\"item\":\"id\"}')", ["item", "name one of the two"])):
        fails(db, f"SELECT * FROM eval_leaderboard{sql}", *words)
    db.executescript("""CREATE TABLE both(model, k, n, item, correct); INSERT INTO both VALUES ('a', 5, 9, 1, 1);
        CREATE TABLE two(model, right, passed, n); CREATE TABLE k_only(model, k); CREATE TABLE wrong(model, k, n)""")
    check("answers are answers, whatever else there is", one(db, "SELECT n FROM eval_leaderboard('both')") == 1)
    fails(db, "SELECT * FROM eval_leaderboard('two')", "right", "passed", '{"k":"right"}')
    fails(db, "SELECT * FROM eval_leaderboard('k_only')", "no column item")
    check("no rows", table(db, "SELECT * FROM eval_leaderboard('wrong')") == [])
    for k, n, words in ((5, 3, ["k must be at most n", "k = 5", "n = 3"]), (-1, 3, ["k must be", "-1"]), (0.5, 3, ["k must be", "0.5"]), (None, 3, ["k must be", "NULL"]),
                        (1, None, ["n must be", "NULL"]), ("x", 3, ["k must be", "'x'"]), (1, 2**53 + 2, ["n must be"])):
        db.execute("DELETE FROM wrong")
        db.execute("INSERT INTO wrong VALUES ('a', ?, ?)", (k, n))
        fails(db, "SELECT * FROM eval_leaderboard('wrong')", "eval_leaderboard: ", *words)
    db.executescript(f"DELETE FROM wrong; INSERT INTO wrong VALUES ('a', 1, {2**53}), ('b', 0, 2)")
    fails(db, "SELECT * FROM eval_leaderboard('wrong')", "2^53")
    db.executescript("DELETE FROM wrong; INSERT INTO wrong VALUES ('a', 0, 0), ('b', '3', '4')")
    check("text of a number, and no question", [(r["model"], r["n"], r["ci"]) for r in table(db, "SELECT * FROM eval_leaderboard('wrong')")] ==
          [("b", 4, right_or_wrong(db, 3, 4)), ("a", 0, None)])
    db.executescript(f"DELETE FROM wrong; INSERT INTO wrong VALUES ('a', {2**52}, {2**53})")
    check("2^53 questions", one(db, "SELECT n FROM eval_leaderboard('wrong')") == 2**53 and one(db, "SELECT ci FROM eval_leaderboard('wrong')") == one(db, f"SELECT bayes_ci_counts({2**52}, {2**53})"))


def counts_by_task():
    """Counts by task give the board of answers with the same numbers of right ones, in every column except those that
    need pairs."""
    rows = views.answers(49, 4, 6, 30, error=0, missing=0.1)
    db = filled(rows)
    db.executescript("CREATE VIEW counts AS SELECT model, task, sum(correct) AS k, count(*) AS n FROM results GROUP BY model, task")
    of_pairs = {"rank", "rank_lo", "rank_hi", "rank_note", "common", "p_best"}
    for options in ("{}", '{"by":"task"}', '{"level":0.8}'):
        for function in ("eval_leaderboard", "eval_tasks"):
            wanted, got = (table(db, f"SELECT * FROM {function}('{t}', '{options}')") for t in ("results", "counts"))
            check(f"{function} {options}: as many rows", len(wanted) == len(got))
            for w, g in zip(wanted, got):
                for column in set(w) - of_pairs:
                    check(f"{function} {options}: {column} {g[column]!r} {w[column]!r}", g[column] == w[column])


def interrupts():
    db = filled(ability_board(61, 180, 150))
    for sql in ("SELECT sum(p_bh) FROM eval_questions", "SELECT count(ci), count(verdict) FROM eval_slices"):
        ends_when_interrupted(db, sql, 0.3)
    check("and the next reads", one(db, "SELECT count(*) FROM eval_questions") == 150)


def main():
    slices()
    pairs_named()
    graded_slices()
    scored_slices()
    corners_of_slices()
    questions()
    many_models()
    corners_of_questions()
    order_of_rows()
    counts()
    counts_by_task()
    interrupts()
    finish()


if __name__ == "__main__":
    main()
