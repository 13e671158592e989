#!/usr/bin/python3
"""The numbers on the report's page are those of SQL: page_numbers.py EXTENSION

Reads the page's HTML without a browser: the leaderboard, pairs, tasks, attempts and votes of every database of
report.py, as there; and what no picture shows: signs of tiny differences, costs and what is missing of them, and the
level of every interval.  Contract 45.
"""
import json
import pathlib
import re
import tempfile

import report
from checks import check, finish

PAGE = "SELECT eval_report('results', ?)"


def page_of(db, **options):
    return db.execute(PAGE, [json.dumps(options)]).fetchone()[0]


def points(x):
    """A difference in points: with a sign, unless it rounds to 0."""
    return "0.0" if abs(100 * x) < 0.05 else f"{100 * x:+.1f}".replace("-", "−")


def tiny():
    """Pairs that differ by a hundredth of a point, a twentieth, and 3 points, and hardly vary."""
    for m, more in enumerate((0.03, 0.0007, 0.0001, 0)):
        for q in range(60):
            yield f"model {m}", "task", q, 1, None, 0.5 + q / 200 + more + (q * (m + 3) % 7 - 3) / 1e5


def signs(path):
    db = report.filled(path, "tiny", tiny)
    pairs = report.Page(page_of(db)).columns("compare")
    check("every pair", len(pairs) == 6)
    for row in pairs:
        text, value = row["difference, points"][:2]
        check(f"{value} is {points(float(value))}, not {text}", text == points(float(value)))
        ends, text = json.loads(row["95% interval"][1]), row["95% interval"][0]
        check(f"{ends} is {text}", text == " to ".join(map(points, ends)))
    shown = {row["difference, points"][0] for row in pairs}
    check(f"of every kind: {shown}", {"0.0", "+0.1"} < shown)


def costs(path):
    """Three answers have no cost and five no latency; one model has neither."""
    db = report.connect(path / "costs.db")
    rows = [(m, q, int((q * q + 3 * m) % 5 > m), None if m == 3 or (m == 1 and q < 3) else round(0.01 * (m + 1) + q / 1e4, 6),
             None if m == 3 or (m == 2 and q < 5) else 1.5 + m + q % 9 / 4) for m in range(4) for q in range(40)]
    db.executemany("INSERT INTO results(model, task, item, attempt, correct, cost, latency) VALUES ('model ' || ?, 't', ?, 1, ?, ?, ?)", rows)
    for level in (0.95, 0.8):
        text = page_of(db, level=level)
        shown = report.Page(text).columns("costs")
        wanted = db.execute(f"""SELECT model, cost, cost_per_right, latency, latency_p95, cost_ci, cost_per_right_ci, latency_ci, latency_p95_ci,
                                CASE frontier WHEN 'sure' THEN 'no' WHEN 'open' THEN 'undecided' END AS word, no_cost, no_latency
                                FROM eval_leaderboard('results', '{{"level":{level}}}')""").fetchall()
        check("every model's costs", [row["model"][0] for row in shown] == [row[0] for row in wanted])
        heads = [cell[0] for cell in report.Page(text).tables["costs"][0]]
        check(f"each interval at {level}: {heads}", heads.count(f"{100 * level:.0f}% interval") == 4)
        for (model, *values, word, _, _), cells in zip(wanted, report.Page(text).tables["costs"][1:]):
            numbers, intervals = [cells[i] for i in (1, 3, 6, 8)], [cells[i] for i in (2, 4, 7, 9)]
            check(f"{model}: costs and latencies", all(map(report.same, (cell[1] for cell in numbers), values[:4])))
            check(f"{model}: their intervals", all(same_ends(cell[1], ci) for cell, ci in zip(intervals, values[4:])))
            check(f"{model}: in words, {cells[5][0]!r}", cells[5][0] == (word or ("yes" if values[0] is not None else "")))
            check(f"{model}: as read", all(value is None or abs(float(cell[0]) - value) <= 0.005 * value + 1e-12 for cell, value in zip(numbers, values)))
        words = re.sub("<[^>]*>", "", text)
        missing = [sum(row[i] for row in wanted) for i in (-2, -1)]
        check(f"what is missing: {missing}", missing == [43, 45] and f"{missing[0]} answers without a cost are left out" in words and
              f"{missing[1]} answers without a latency are left out" in words)


def same_ends(shown, ci):
    """An interval with every digit; one end may be infinite."""
    if ci is None or shown == "":
        return ci is None and shown == ""
    return [float(x) for x in shown.strip("[]").split(",")] == [float(x) for x in json.loads(ci)]


def levels(path):
    """The level is that of every interval, those of votes too."""
    db = report.filled(path, "forty", report.SHAPES["forty"])
    page = report.Page(page_of(db, level=0.8))
    for table, key, sql in (("leaderboard", ("model",), "SELECT model, ci FROM eval_leaderboard('results', '{\"level\":0.8}')"),
                            ("votes", ("model",), "SELECT model, ci FROM eval_votes('votes', '{\"level\":0.8}')"),
                            ("tasks", ("task", "model"), "SELECT task, model, ci FROM eval_tasks('results', '{\"level\":0.8}')")):
        wanted = {tuple(names): ci for *names, ci in db.execute(sql)}
        shown = {tuple(row[k][0] for k in key): row["80% interval"][1] for row in page.columns(table)}
        check(f"{table}: {len(shown)} intervals at the level", len(shown) >= 40 and all(report.same(ci, wanted[name]) for name, ci in shown.items()))


def hedged(path):
    """A model that gains a little on every question."""
    db = report.connect(path / "hedged.db")
    report.insert(db, [(m, "t", q, 1, None, 0.6 + q % 7 / 50 + (m == "a") * (2 + q % 3) / 100) for m in "ab" for q in range(30)])
    row, = report.Page(page_of(db)).columns("compare")
    check(f"is better unless: {row['verdict'][0]}", row["verdict"][0] == "clearly better unless it sometimes fails outright" and
          db.execute("SELECT verdict FROM eval_compare").fetchone()[0] == "A better unless it sometimes fails outright")
    check("which is explained", "could undo the lead" in page_of(db))
    db.execute("UPDATE results SET score = score / 4 WHERE model = 'b'")
    check("where there is such a pair", "could undo" not in page_of(db) and report.Page(page_of(db)).columns("compare")[0]["verdict"][0] == "clearly better")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch)
        for name, rows in report.SHAPES.items():
            (path / name).mkdir()
            db = report.filled(path / name, name, rows)
            report.numbers(db, page_of(db), name)
        for test in (signs, costs, levels, hedged):
            test(path)
    finish()


if __name__ == "__main__":
    main()
