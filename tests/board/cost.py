#!/usr/bin/python3
"""Costs and latencies of eval_leaderboard, its frontier, and its intervals for missing answers.

    cost.py EXTENSION

Means, quantiles and verdicts are computed here from the rows with numpy and scipy; cost per right answer, tests and
intervals of a mean by the functions over rows, which have references of their own.
Contract 37, contract 45, contract 51.
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
import views  # noqa: E402
from board import ends_when_interrupted, fails, one, table  # noqa: E402
from checks import check, finish, seeded  # noqa: E402
from report import Page  # noqa: E402
from slices import holm, made, near  # noqa: E402

COLUMNS = (*views.COLUMNS, "cost", "latency")
COSTS = ("cost", "cost_ci", "cost_lo", "cost_hi", "cost_per_right", "cost_per_right_ci", "cost_per_right_lo", "cost_per_right_hi", "no_cost",
         "latency", "latency_ci", "latency_lo", "latency_hi", "latency_p95", "latency_p95_ci", "latency_p95_lo", "latency_p95_hi", "no_latency", "frontier")


def filled(rows, columns=COLUMNS):
    db = views.opened()
    db.execute(f"CREATE TABLE results({', '.join(columns)})")
    db.executemany(f"INSERT INTO results VALUES ({', '.join('?' * len(columns))})", rows)
    db.commit()
    return db


def spent(rows, seed=1, missing=0.0, apart=0.3):
    """Answers with costs, which rise with the number of the model, and latencies; some of them unknown."""
    chance = seeded(seed)
    found = []
    for r in rows:
        cost = math.exp(chance.gauss(apart * int(r[0][-1]), 0.5)) / 100
        latency = math.exp(chance.gauss(0, 0.8))
        found.append((*r, None if chance.random() < missing else cost, None if chance.random() < missing else latency))
    return found


def shares(rows):
    """{model: {question: [share, or None if it is unknown]}}, for scores from 0 to 1 or in a declared range."""
    graded = {r[1] for r in rows if r[4] is None and r[5] is not None and r[6] is None}
    ranges = {}
    for r in rows:
        if r[7] is not None:
            ranges[r[1]] = (r[7], r[8])
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for r in rows:
        lo, hi = ranges.get(r[1], (0, 1))
        share = None
        if r[4] is not None or (r[5] is not None and r[6] is None):
            share = (r[5] - lo) / (hi - lo) if r[1] in graded and r[5] is not None else r[4]
        found[r[0]][r[1], r[2]].append(share)
    return found


def by_question(rows, place):
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for r in rows:
        found[r[0]][r[1], r[2]].append(r[place])
    return found


def values(db, call, rows, *more):
    return one(db, f"SELECT {call} FROM json_each(?)", *more, json.dumps(rows))


def mean_interval(db, questions, level):
    """The interval of a mean over questions, with imagined questions just beyond those seen."""
    totals, sizes = [math.fsum(q) for q in questions], [len(q) for q in questions]
    own = [s / n for s, n in zip(totals, sizes)]
    if len(own) < 2 or min(own) == max(own):
        return (own[0], own[0]) if len(own) > 1 else (None, None)
    mean, each, far = math.fsum(totals) / sum(sizes), sum(sizes) / len(sizes), 16 * max(own)
    linear = [min(far, max(0, mean + (s - mean * n) / each)) for s, n in zip(totals, sizes)]
    least, most = min(linear), max(linear)
    beyond, skew = 2 * (most - least) / (max(2, sum(sizes) ** 2 / sum(n * n for n in sizes)) - 1.75), 2 * mean - least - most
    lo, hi = min([max(0, least - beyond - max(0, skew)), *own]), max([min(far, most + beyond + max(0, -skew)), *own])
    return tuple(json.loads(values(db, "clustered_mean_ci_counts(value ->> 0, value ->> 1, ?, ?, ?)", list(zip(totals, sizes)), level, lo, hi)))


def quantile_interval(questions, q, level):
    """The interval of a quantile: positions among the sorted answers, by scipy's binomial of the number of
    questions."""
    x, n = sorted(v for of in questions for v in of), len(questions)
    tail = (1 - level) / 2
    l = max([l for l in range(n + 1) if stats.binom.cdf(l - 1, n, q) <= tail])
    u = min([u for u in range(1, n + 2) if stats.binom.sf(u - 1, n, q) <= tail])
    part = len(x) / n
    lo = x[math.floor((l - 1) * part + 1e-9)] if l else 0
    return lo, x[math.ceil(u * part - 1e-9) - 1] if u <= n else math.inf


def frontier(db, rows, level):
    """{model: word}, with every p computed and corrected for all pairs."""
    costs, right = by_question(rows, 9), shares(rows)
    known = {m: {q: [s for s in of if s is not None] for q, of in qs.items()} for m, qs in right.items()}
    models = sorted(m for m in costs if m is not None and any(c is not None for q in costs[m].values() for c in q) and any(known[m].values()))
    verdicts = {}
    for name, means in (("better", {m: {q: math.fsum(s) / len(s) for q, s in known[m].items() if s} for m in known}),
                        ("cheaper", {m: {q: -math.fsum(paid) / len(paid) for q, c in costs[m].items() if (paid := [x for x in c if x is not None])} for m in models})):
        listed = {}
        for a, b in itertools.combinations(sorted(m for m in means if m is not None), 2):
            if both := means[a].keys() & means[b].keys():
                most = max(max(abs(means[m][q]) for m in (a, b)) for q in both) or 1
                listed[a, b] = (values(db, "paired_p(value ->> 0, value ->> 1)", [(means[a][q] / most, means[b][q] / most) for q in both]),
                                math.fsum(means[a][q] - means[b][q] for q in both))
        for (pair, (_, diff)), p in zip(listed.items(), holm([p for p, _ in listed.values()])):
            sign = (diff > 0) - (diff < 0) if p <= (1 - level) / 2 else 0
            verdicts[name, pair], verdicts[name, pair[::-1]] = sign, -sign
    words = {}
    for m in models:
        others = [(verdicts.get(("better", (m, o)), 0), verdicts.get(("cheaper", (m, o)), 0)) for o in models if o != m]
        words[m] = None if (-1, -1) in others else "sure" if all(1 in pair for pair in others) else "open"
    return words


seen = collections.Counter()


def hold(name, rows, level=0.95):
    """Checks every cell of cost and latency."""
    db = filled(rows)
    got = table(db, "SELECT * FROM eval_leaderboard('results', ?)", json.dumps({"level": level}))
    costs, times, right = by_question(rows, 9), by_question(rows, 10), shares(rows)
    words = frontier(db, rows, level)
    for r in got:
        m, where = r["model"], f"{name}: {r['model']}"
        paid = [of for q in costs[m].values() if (of := [c for c in q if c is not None])]
        every = sorted(c for of in paid for c in of)
        check(f"{where} no_cost", r["no_cost"] == sum(c is None for q in costs[m].values() for c in q))
        check(f"{where} cost {r['cost']}", near(r["cost"], math.fsum(every) / len(every) if every else None, 1e-15))
        if paid:
            lo, hi = mean_interval(db, paid, level)
            check(f"{where} cost_ci {r['cost_ci']} {lo} {hi}", near(r["cost_lo"], lo, 1e-13) and near(r["cost_hi"], hi, 1e-13))
        units = [(math.fsum(sorted(c)), math.fsum(s for s in right[m][q] if s is not None)) for q, c in costs[m].items() if None not in c]
        bought = math.fsum(s for _, s in units)
        check(f"{where} cost_per_right", near(r["cost_per_right"], math.fsum(c for c, _ in units) / bought if bought else None, 1e-12))
        wanted = json.loads(values(db, "ratio_ci(value ->> 0, value ->> 1, ?)", units, level) or "[null, null]")
        scale = wanted[1] or 1
        check(f"{where} cost_per_right_ci {r['cost_per_right_ci']} {wanted}", near(r["cost_per_right_lo"], wanted[0], 1e-12 * scale) and near(r["cost_per_right_hi"], wanted[1], 1e-12 * scale))
        waited = [of for q in times[m].values() if (of := [c for c in q if c is not None])]
        flat = [v for of in waited for v in of]
        check(f"{where} no_latency", r["no_latency"] == sum(c is None for q in times[m].values() for c in q))
        for column, q in (("latency", 0.5), ("latency_p95", 0.95)):
            check(f"{where} {column}", near(r[column], float(numpy.percentile(flat, 100 * q)) if flat else None))
            lo, hi = quantile_interval(waited, q, level) if waited else (None, None)
            check(f"{where} {column}_ci {r[column + '_ci']} {lo} {hi}", (r[column + "_lo"], r[column + "_hi"]) == (lo, hi))
        for column in ("cost", "cost_per_right", "latency", "latency_p95"):
            text, lo, hi = (r[f"{column}_{part}"] for part in ("ci", "lo", "hi"))
            check(f"{where} {column}_ci as text", text is lo is None or (ends := json.loads(text.replace("9e999", "Infinity"))) == [lo, hi] and ends)
        check(f"{where} frontier {r['frontier']} {words.get(m)}", r["frontier"] == words.get(m))
        seen[r["frontier"]] += 1


def boards():
    hold("asked once", spent(views.answers(71, 4, 2, 40)))
    hold("far apart", spent(views.answers(72, 5, 1, 60, error=0), apart=1.0))
    hold("the more expensive models are worse", spent([(f"model {7 - int(r[0][-1])}", *r[1:]) for r in views.answers(72, 5, 1, 150, error=0)], apart=0.8))
    hold("with gaps", spent(views.answers(73, 4, 3, 20, missing=0.3), missing=0.2))
    hold("asked again", spent(views.answers(74, 3, 2, 15, attempts=(1, 3, 2)), missing=0.1))
    hold("asked four times", spent(views.answers(75, 3, 2, 25, attempts=4, error=0)))
    hold("one model asked more often", spent([r for r in views.answers(75, 2, 2, 40, attempts=4, error=0) if r[0] == "model 1" or r[3] == 1], apart=0.0))
    hold("graded", spent(views.answers(76, 3, 3, 15, graded=(0, 2), ranges={2: (1, 5)})))
    hold("graded and asked again", spent(views.answers(77, 3, 3, 15, attempts=(1, 2), graded=(1,)), missing=0.1))
    hold("at a level", spent(views.answers(78, 3, 2, 30)), 0.5)
    hold("at a high level", spent(views.answers(78, 3, 2, 30)), 0.999999)
    hold("tasks", spent(views.answers(79, 3, 4, 10, error=0)), 0.9)
    hold("few", spent(views.answers(80, 3, 1, 2, error=0)))
    hold("one question", spent(views.answers(81, 3, 1, 1, error=0)))
    hold("costs alike", [(*r[:9], 0.25, 3.0) for r in spent(views.answers(82, 3, 1, 12, error=0))])
    hold("no costs at all", [(*r[:9], None, None) for r in spent(views.answers(83, 3, 1, 12, error=0))])
    check(f"every word was seen: {seen}", set(seen) == {"sure", "open", None})


def by_task_changes_nothing():
    db = filled(spent(views.answers(79, 3, 4, 10)))
    columns = ", ".join(c for c in COSTS if c != "frontier")
    rows = [sorted(map(repr, table(db, f"SELECT model, {columns} FROM eval_leaderboard('results', ?)", o))) for o in ("{}", '{"by":"task"}', '{"errors":"wrong"}')]
    check("costs are of answers, whatever by and errors are", rows[0] == rows[1] == rows[2])


def functions_say_the_same():
    db = filled(spent(views.answers(84, 3, 1, 80)))
    for r in table(db, """SELECT l.model, cost_per_right_ci, latency_ci, latency_p95_ci, a, b, c FROM eval_leaderboard AS l JOIN
            (SELECT model, ratio_ci(cost, coalesce(correct, 0)) AS a, quantile_ci(latency, 0.5) AS b, quantile_ci(latency, 0.95) AS c FROM results GROUP BY model) USING (model)"""):
        check(f"{r['model']} as the functions", (r["cost_per_right_ci"], r["latency_ci"], r["latency_p95_ci"]) == (r["a"], r["b"], r["c"]))


def corners():
    free = made("CREATE TABLE results(model, item, correct, cost); INSERT INTO results VALUES ('a', 1, 1, 0), ('a', 2, 0, 0), ('b', 1, 0, 0.5), ('b', 2, 0, 0.25), ('c', 1, 1, 3)")
    a, b, c = (r for _, r in sorted((r["model"], r) for r in table(free, "SELECT * FROM eval_leaderboard")))
    check("what costs nothing", (a["cost"], a["cost_ci"], a["cost_per_right"], a["cost_per_right_ci"]) == (0, "[0.0,0.0]", 0, "[0.0,0.0]"))
    check("nothing right", b["cost_per_right"] is None and 0 < b["cost_per_right_lo"] < b["cost_per_right_hi"] < math.inf)
    check("one answer has no interval of a mean", (c["cost"], c["cost_ci"], c["no_cost"]) == (3, None, 0) and c["cost_per_right_lo"] > 3)
    check("no latency", all(a[column] is None for column in COSTS if column.startswith("latency") or column == "no_latency"))
    alone = made("CREATE TABLE results(model, item, correct, cost); INSERT INTO results VALUES ('a', 1, 1, 2)")
    check("one model is beaten by nobody", one(alone, "SELECT frontier FROM eval_leaderboard") == "sure")
    none = made("CREATE TABLE results(model, item, correct); INSERT INTO results VALUES ('a', 1, 1); CREATE TABLE counts(model, k, n, cost); INSERT INTO counts VALUES ('a', 3, 5, 1)")
    for source in ("results", "counts"):
        row, = table(none, f"SELECT * FROM eval_leaderboard('{source}')")
        check(f"{source} without costs", all(row[c] is None for c in COSTS) and row["ci"] is not None)
    nobody = made("CREATE TABLE results(model, item, correct, cost); INSERT INTO results VALUES (NULL, 1, 1, 2), ('a', 1, 0, 1), ('b', 1, NULL, 1)")
    words = {r["model"]: (r["cost"], r["frontier"]) for r in table(nobody, "SELECT * FROM eval_leaderboard")}
    check(f"no word without a name or an accuracy {words}", words == {None: (2, None), "a": (1, "sure"), "b": (1, None)})
    check("no rows", table(made("CREATE TABLE results(model, item, correct, cost, latency)"), "SELECT * FROM eval_leaderboard") == [])
    text = made("CREATE TABLE results(model, item, correct, cost, latency); INSERT INTO results VALUES ('a', 1, 1, '0.5', '2'), ('a', 2, 1, '1.5', NULL)")
    check("numbers as text", [one(text, f"SELECT {c} FROM eval_leaderboard") for c in ("cost", "latency", "no_latency")] == [1, 2, 1])


def errors():
    for column, value in itertools.product(("cost", "latency"), (-1, "n/a", "", -0.001, math.inf, b"1", 1e200)):
        db = made("CREATE TABLE results(model, item, correct, cost, latency); INSERT INTO results VALUES ('a', 1, 1, 1, 1)")
        db.execute(f"INSERT INTO results(model, item, correct, {column}) VALUES ('the model', 'the item', 1, ?)", (value,))
        fails(db, "SELECT * FROM eval_leaderboard", f"eval_leaderboard: {column} must be a number", "'the model'", "'the item'", "NULL", f'{{"{column}":"..."}}')
        fails(db, "SELECT eval_report()", f"eval_report: {column} must be")
        check("which nobody sees who does not ask", one(db, "SELECT count(ci) FROM eval_leaderboard") == 2)
    db = made("""CREATE TABLE two(model, item, correct, cost_usd, total_cost, seconds); INSERT INTO two VALUES ('a', 1, 1, 2, 3, 5);
        CREATE TABLE aliased(model, item, correct, Total_Cost, LATENCY_S); INSERT INTO aliased VALUES ('a', 1, 1, 2, 3);
        CREATE TABLE named(model, item, correct, price, latency_ms); INSERT INTO named VALUES ('a', 1, 1, 2, 3000)""")
    fails(db, "SELECT cost FROM eval_leaderboard('two')", "cost_usd", "total_cost", '{"cost":"cost_usd"}')
    check("two costs matter to nobody who asks for neither", one(db, "SELECT accuracy FROM eval_leaderboard('two')") == 1)
    check("one of two", table(db, "SELECT cost, latency FROM eval_leaderboard('two', '{\"cost\":\"total_cost\"}')") == [{"cost": 3, "latency": 5}])
    check("aliases", table(db, "SELECT cost, latency FROM eval_leaderboard('aliased')") == [{"cost": 2, "latency": 3}])
    check("milliseconds are no alias", table(db, "SELECT cost, latency FROM eval_leaderboard('named')") == [{"cost": None, "latency": None}])
    check("but may be named", table(db, "SELECT cost, latency FROM eval_leaderboard('named', '{\"cost\":\"price\",\"latency\":\"latency_ms\"}')") == [{"cost": 2, "latency": 3000}])
    fails(db, "SELECT n FROM eval_leaderboard('named', '{\"cost\":\"gone\"}')", "no column gone", "its cost")


def not_asked_for():
    """Costs that no column needs are not read."""
    db = filled(spent(views.answers(85, 3, 1, 10)))
    db.execute("UPDATE results SET cost = 'none', latency = 'none'")
    for sql in ("SELECT model, ci, rank_lo, p_best, bounded_ci FROM eval_leaderboard", "SELECT * FROM eval_compare", "SELECT * FROM eval_tasks", "SELECT count(*) FROM eval_leaderboard",
                "SELECT * FROM eval_gate('results', NULL, 'model 0', 'model 1')"):
        check(f"{sql} reads none", len(table(db, sql)) > 0)
    for sql in ("SELECT frontier FROM eval_leaderboard", "SELECT model FROM eval_leaderboard WHERE no_latency = 0", "SELECT * FROM eval_leaderboard", "SELECT model FROM eval_leaderboard ORDER BY cost_hi"):
        fails(db, sql, "cost must be a number")
    fails(db, "SELECT a.model FROM eval_leaderboard AS a JOIN eval_leaderboard AS b ON a.model = b.model WHERE b.cost > 0", "cost must be a number")


def joined():
    """A board that was read without costs is not used for a query of costs; one read with them serves both."""
    db = filled(spent(views.answers(86, 3, 1, 10)))
    both = table(db, "SELECT a.model, a.ci, b.cost_ci FROM eval_leaderboard AS a JOIN eval_leaderboard AS b ON a.model = b.model ORDER BY 1")
    check("joined", both == table(db, "SELECT model, ci, cost_ci FROM eval_leaderboard ORDER BY 1") and all(r["cost_ci"] for r in both))
    again = table(db, "SELECT model, (SELECT cost FROM eval_leaderboard AS b WHERE b.model = a.model) AS cost FROM eval_leaderboard AS a ORDER BY 1")
    check("correlated", again == table(db, "SELECT model, cost FROM eval_leaderboard ORDER BY 1"))


def order_of_rows():
    rows = spent(views.answers(87, 4, 3, 15, attempts=(1, 3), graded=(1,)), missing=0.1)
    alike = [(*r[:5], r[5] and r[5] * 0.7, *r[6:9], 0.1, 1.0) for r in spent(views.answers(88, 3, 1, 60, graded=(0,)))]
    for name, mine in (("mixed", rows), ("costs alike", alike)):
        found = set()
        for seed in range(6):
            seeded(seed).shuffle(mine)
            found.add(repr(table(filled(mine), "SELECT * FROM eval_leaderboard")))
        check(f"{name}: the order of rows changes no digit", len(found) == 1)


# Missing answers that are graded or asked again


def with_missing(rows, share):
    """The rows with every unknown answer as wrong, or as right; in a graded task, as an end of its range."""
    graded = {r[1]: (r[7], r[8]) if r[7] is not None else (0, 1) for r in rows if r[4] is None and r[5] is not None}
    found = []
    for r in rows:
        if r[4] is None and r[5] is None:
            r = (*r[:4], None if r[1] in graded else share, float(graded[r[1]][share]) if r[1] in graded else None, None, *r[7:])
        found.append(r)
    return found


def bounded():
    shapes = {"graded": views.answers(91, 3, 1, 20, graded=(0,), error=0.2), "asked again": views.answers(92, 3, 1, 15, attempts=3, error=0.2),
              "graded and asked again": views.answers(93, 3, 2, 12, attempts=(1, 2), graded=(1,), ranges={1: (1, 5)}, error=0.3),
              "one task graded": views.answers(94, 3, 3, 10, graded=(1,), error=0.1), "tasks": views.answers(95, 3, 6, 8, error=0.2),
              "some known, some not, of a question": views.answers(96, 2, 1, 20, attempts=2, error=0.5),
              "none known": [("a", "t", q, k, None, None, "down", 0, 5) for q in range(5) for k in (1, 2)] + [("b", "t", q, 1, None, 2.5, None, 0, 5) for q in range(5)]}
    for name, rows in shapes.items():
        for options in ({}, {"by": "task"}, {"level": 0.8}):
            if name == "tasks" and "by" not in options:
                continue
            o = json.dumps(options)
            low, high = ({r["model"]: r for r in table(filled(with_missing(rows, s), views.COLUMNS), "SELECT * FROM eval_leaderboard('results', ?)", o)} for s in (0, 1))
            for r in table(filled(rows, views.COLUMNS), "SELECT * FROM eval_leaderboard('results', ?)", o):
                m = r["model"]
                check(f"{name} {o} {m}: {r['bounded_ci']} {low[m]['lo']} {high[m]['hi']}", near(r["bounded_lo"], low[m]["lo"]) and near(r["bounded_hi"], high[m]["hi"]))
                check(f"{name} {o} {m}: holds the interval of what is known", r["ci"] is None or r["errored"] == 0 or r["bounded_lo"] < r["lo"] + 0.02 and r["bounded_hi"] > r["hi"] - 0.02)
                check(f"{name} {o} {m}: as text", r["bounded_ci"] == f"[{r['bounded_lo']!r},{r['bounded_hi']!r}]")
            wrong = table(filled(rows, views.COLUMNS), "SELECT * FROM eval_leaderboard('results', ?)", json.dumps({**options, "errors": "wrong"}))
            check(f"{name} {o}: nothing is open where they are wrong", all(r["bounded_ci"] == r["ci"] for r in wrong))


def reported():
    """The report's table has the digits of the board, and is present if some answer has a cost or a latency."""
    rows = spent(views.answers(98, 4, 2, 80), missing=0.1)
    words = {"sure": "no", "open": "undecided", None: "yes"}
    for left_out in ((), (9,), (10,), (9, 10)):
        db = filled([tuple(None if i in left_out else x for i, x in enumerate(r)) for r in rows])
        page = Page(one(db, "SELECT eval_report()"))
        if len(left_out) == 2:
            check("no table where all are NULL", "costs" not in page.tables)
            continue
        head, *body = page.tables["costs"]
        wanted = [c for c in COSTS if c.split("_")[-1] not in ("lo", "hi") and not c.startswith("no_") and not (9 in left_out and c[0] in "cf") and not (10 in left_out and c[0] == "l")]
        if "frontier" in wanted:
            wanted.insert(4, wanted.pop())
        check(f"headings {len(head)} {wanted}", len(head) == 1 + len(wanted))
        for cells, r in zip(body, table(db, "SELECT * FROM eval_leaderboard"), strict=True):
            check("in the board's order", cells[0][0] == r["model"])
            for (text, value, _), column in zip(cells[1:], wanted):
                if column == "frontier":
                    check(f"{r['model']} beaten {text}", text == words[r["frontier"]])
                elif column.endswith("_ci"):
                    check(f"{r['model']} {column} {value}", value == r[column] and text.count("–") == 1)
                else:
                    check(f"{r['model']} {column} {value} {text}", float(value) == r[column] and abs(float(text) / r[column] - 1) < 0.006)


def interrupts():
    db = filled(spent([r for r in views.answers(97, 9, 20, 120, error=0)], apart=0.0))
    ends_when_interrupted(
        db, "SELECT a.frontier, b.cost_per_right_ci FROM eval_leaderboard AS a, eval_leaderboard('results', '{\"level\":0.9}') AS b", 0.1)
    check("and the next reads", one(db, "SELECT count(cost) FROM eval_leaderboard") == 9)


def main():
    boards()
    by_task_changes_nothing()
    functions_say_the_same()
    corners()
    errors()
    not_asked_for()
    joined()
    order_of_rows()
    bounded()
    reported()
    interrupts()
    finish()


if __name__ == "__main__":
    main()
