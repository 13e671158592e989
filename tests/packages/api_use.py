"""Prints the results of sqlite_evalci as JSON, for api.py to compare; run in a folder that it may write to.

    api_use.py [--program]      as a Python that loads no extensions, with --program
"""
import contextlib
import doctest
import itertools
import json
import os
import shutil
import sqlite3
import sys
import warnings
from pathlib import Path

import sqlite_evalci
from sqlite_evalci import _ask, _show

VERBS = ("leaderboard", "compare", "tasks", "passes", "slices", "questions", "noise")
NAMES = ("model", "task", "item", "attempt", "correct")
# Files whose names are those of options, of standard input, and of other files as URIs.
NAMED = ("-o", "--help", "-", "--", "file:answers.db?mode=memory", "file:none", "a?b#c%20d")
ROWS = [(model, task, f"q{item}", attempt, None if (item, attempt, skill) == (3, 1, 5) else int((item * 7 + attempt * 5 + skill * 3) % 11 < skill))
        for (model, skill), (task, items), attempt in itertools.product((("small \"'; --", 5), ("<b>large", 9), ("漢", 6)), (("math", 12), ("code", 8)), (1, 2))
        for item in range(items)]
DICTS = [dict(zip(NAMES, row)) for row in ROWS]


VOTES = [dict(zip(("model_a", "model_b", "winner"), vote)) for vote in
         7 * [("a", "b", "model_a")] + 3 * [("b", "a", "model_a")] + 2 * [("a", "b", "tie")] + 4 * [("c", "b", "model_b")] + [("c", "a", "model_a")]]


def said(call, *args, **named):
    try:
        return f"no error: {call(*args, **named)!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def records(table):
    """The result of a verb as lists, of whatever type it is."""
    rows = table.astype(object).where(table.notna(), None).to_dict("records") if hasattr(table, "notna") else table
    return [[row[name] for name in row] for row in rows]


def written():
    """The same answers as files."""
    with sqlite3.connect("answers.db") as db:
        db.execute("CREATE TABLE runs(model, task, item, attempt, correct)")
        db.executemany("INSERT INTO runs VALUES (?, ?, ?, ?, ?)", ROWS)
        db.execute("CREATE VIEW results AS SELECT * FROM runs")
    db.close()
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in DICTS), encoding="utf-8")
    halves = ROWS[:40], ROWS[40:]
    for name, half in zip(("one.jsonl", "two.jsonl"), halves):
        Path(name).write_text("".join(json.dumps(dict(zip(NAMES, row))) + "\n" for row in half), encoding="utf-8")
    Path("renamed.csv").write_text("engine,q,ok\n" + "".join(f"m{i % 2},{i // 2},{int(i % 5 > 0)}\n" for i in range(60)))
    Path("votes.csv").write_text("model_a,model_b,winner\n" + "".join(",".join(vote.values()) + "\n" for vote in VOTES))
    Path("nameless.csv").write_text("item,correct\n1,1\n2,0\n")
    Path("counts.csv").write_text("model,k,n\na,18,20\nb,12,20\n")


def sources():
    yield "dicts", DICTS, {}
    yield "path", "answers.db", {}
    yield "table of a path", Path("answers.db"), {"table": "runs"}
    yield "json lines", "answers.jsonl", {}
    yield "two files", ["one.jsonl", "two.jsonl"], {}
    for name in NAMED if os.name != "nt" else ():
        yield f"a database named {name}", shutil.copy("answers.db", f"./{name}") and name, {}
        yield f"json lines named {name}", shutil.copy("answers.jsonl", f"./{name}") and name, {}
    db = sqlite3.connect("answers.db")
    yield "connection", db, {}
    db.row_factory = sqlite3.Row
    yield "sqlite3.Row", db.execute("SELECT * FROM runs").fetchall(), {}
    db.row_factory = None
    db.execute("ATTACH ':memory:' AS other")
    for table in ("uncommitted", 'temp."q""u.o"', "other.runs"):
        db.execute(f"CREATE TABLE {table}(model, task, item, attempt, correct)")
        db.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", ROWS)
    yield "what is not committed", db, {"table": "uncommitted"}
    yield "a temporary table", db, {"table": '"q""u.o"'}
    yield "an attached database", db, {"table": "other.runs"}
    db.rollback()
    db.close()
    yield "a generator", (row for row in DICTS), {}
    if _show.pandas:
        frame = _show.pandas.DataFrame(DICTS)
        yield "DataFrame", frame, {}
        yield "DataFrame with an index", frame.set_index(["model", "item"]), {}
        types = {"model": "category", "correct": "Int64", "attempt": "int8"}
        yield "DataFrame of other types", frame.astype(types), {}
        yield "DataFrame whose index is a column too", frame.set_index("item", drop=False), {}
        yield "DataFrame with hashes and dates", frame.assign(prompt=2**70, asked=_show.pandas.Timestamp("2026-01-01")), {}


def boards():
    for name, data, options in sources():
        # A generator gives its rows once.
        each = itertools.tee(data, len(VERBS)) if name == "a generator" else [data] * len(VERBS)
        yield name, {verb: records(getattr(sqlite_evalci, verb)(rows, **options)) for verb, rows in zip(VERBS, each)}


def functions():
    s = sqlite_evalci
    return {
        "interval": s.bayes_ci(18, 20), "level": s.bayes_ci(18, 20, level=0.9), "prior": s.bayes_ci(18, 20, a=2, b=3),
        "rows": s.bayes_ci([1, 0, 1, 1]), "each": s.bayes_ci_counts([18, 10, 0], [20, 20, 0]), "one": s.bayes_ci_counts([18], [20]),
        "aggregate of counts": s.clustered_ci_counts([1, 2, 3], [4, 5, 6], prior="icc"), "alone": s.clustered_ci(3, 5),
        "clusters": s.clustered_ci([1, 0, 1, 1], ["a", "a", "b", "b"]), "json": s.clustered_each_counts(["a", "b"], [1, 2], [4, 5]),
        "each prior": s.diff_ci(18, 20, 12, 20, alpha=0.5, beta=2), "cells": s.f1_ci(8, 2, 3, alpha=0.5),
        "text": s.ci_text(s.diff_ci(18, 20, 12, 20)), "ends": s.ci_hi(s.fisher_or_ci(5, 5, 0, 5)), "nothing": s.bayes_ci(0, 0),
        "number": s.mean_ci([0.1, 0.2, 0.7], lo=-1, hi=2), "whole": s.plan_n(0.8, 0.1), "p": s.paired_p([1, 0, 1], [0, 0, 1]),
        "picture": s.forest_svg(["a"], [0.5], [(0.25, 0.75)], {"title": "T & T"}), "methods": records(s.ci_methods(18, 20)),
        "third": s.bayes_ci(1, 3, level=1 / 3), "range": s.mean_ci([1, 2, 5], hi=5), "sure": s.plan_gate_n(0.9, 0.8, power=0.9), "version": s.evalci_version(),
    }


def errors():
    s = sqlite_evalci
    with contextlib.closing(sqlite3.connect("answers.db")) as db:
        of_database = {"no table": said(s.leaderboard, db, table="none"), "overwrite a database": said(s.report, db, "answers.db")}
    return {
        **of_database,
        "column": said(s.leaderboard, [{"engine": "a", "item": 1, "correct": 1}]), "value": said(s.leaderboard, [{"model": "a", "item": 1, "correct": 2}]),
        "option": said(s.leaderboard, DICTS, modle="x"), "model": said(s.compare, DICTS, a="nobody"), "empty": said(s.leaderboard, []),
        "file": said(s.leaderboard, "none.csv"), "unreadable": said(s.leaderboard, "renamed.csv"), "counts": said(s.bayes_ci, 21, 20),
        "few": said(s.bayes_ci, 18), "named": said(s.bayes_ci, 18, 20, width=3), "left out": said(s.plan_n, 0.8, level=0.9),
        "ragged": said(s.bayes_ci_counts, [1, 2], [3]), "no function": said(lambda: s.nothing_ci), "not ours": said(lambda: s.abs),
        "gate": said(s.gate, DICTS, "<b>large"), "gate's model": said(s.gate, DICTS, "<b>large", "nobody"), "overwrite": said(s.report, "renamed.csv", "renamed.csv"),
        "a folder": said(s.report, DICTS, "."),
        "tuples": said(s.leaderboard, [DICTS[0], *ROWS]), "nothing": said(s.leaderboard, None), "twice": said(s.leaderboard, [{"model": 1, "Model": 2}]),
        "no rows": said(s.mean_ci, (0.1, 0.5, 1)),
        "a large count": said(s.bayes_ci, 2**70, 2**71),
    }


def changed():
    """How a table is shown whose cells the caller changed."""
    board = sqlite_evalci.leaderboard(DICTS)
    if _show.pandas:
        cells = [_show.pandas.Timestamp("2026-01-02"), [1, 2], _show.pandas.NA]
        return board.assign(note=cells, p_best=float("inf"))._repr_html_() + repr(board.assign(note=cells).convert_dtypes())
    for row, cell in zip(board, ("2026-01-02", [1, 2], None)):
        row.update(note=cell, p_best=float("inf"))
    return board._repr_html_() + repr(board)


def main():
    if "--program" in sys.argv:
        _ask.LOADS = False
    written()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        s = sqlite_evalci
        out = {
            "path": s.loadable_path(), "loads": _ask.LOADS, "pandas": bool(_show.pandas), "functions": functions(), "boards": dict(boards()),
            "errors": errors(), "calls": {name: getattr(s, name)(*columns) for name, columns in json.loads(Path("calls.json").read_text())}, "dir": [name for name in dir(s) if name[0] != "_"], "about": s.wilson_ci.__doc__,
            "undocumented": [name for name in dir(s) if name[0] != "_" and not (getattr(s, name).__doc__ or "").split("\n\n")[-1]],
            "renamed": records(s.leaderboard("renamed.csv", model="engine", item="q", correct="ok", level=0.9)),
            "renamed rows": records(s.leaderboard([{"engine": f"m{i % 2}", "q": i // 2, "ok": int(i % 5 > 0)} for i in range(60)],
                                                  model="engine", item="q", correct="ok", level=0.9)),
            "votes": [records(s.votes(data, anchor="b")) for data in (VOTES, "votes.csv")], "rated": s.votes(VOTES)._repr_html_(),
            "counts": records(s.leaderboard("counts.csv")), "from": records(s.leaderboard("nameless.csv", from_="csv", model_name="all")),
            "named": records(s.compare(DICTS, a="<b>large", b="small \"'; --")), "first": records(s.compare(DICTS, a="漢")),
            "gate": [dict(s.gate(DICTS, "<b>large", "漢", margin=0.1)), bool(s.gate(DICTS, "<b>large", "漢", margin=0.1)), bool(s.gate(DICTS, "漢", min=0.9))],
            "odd report": os.name == "nt" or [s.report(name, f"{name}.html") == f"{name}.html" and os.path.getsize(f"./{name}.html") > 10000 for name in NAMED],
            "report": s.report("answers.db", "page.html", title="<T>"), "page": Path("page.html").read_text(encoding="utf-8"),
            "page of rows": s.report(DICTS, note="a note"), "html": s.leaderboard(DICTS)._repr_html_(), "pairs": s.compare(DICTS)._repr_html_(),
            "pair": s.compare(DICTS, a="<b>large", b="small \"'; --")._repr_html_(),
            "chances": [s._show.chance(name, x) for name, x in (("p_best", 1.0), ("p_all", 1.0), ("p", 0.9996), ("p_bh", 0.0004), ("p", 0.03), ("p", None))],
            "changed": changed(), "none drawn": said(lambda: s.ci_methods(18, 20)._repr_html_()),
        }
        out["doctest"] = list(doctest.testmod(sqlite_evalci))
        # The same again: the thread's connection keeps nothing from earlier calls.
        out["again"] = s.bayes_ci(18, 20) == tuple(out["functions"]["interval"])
    out["warned"] = [(warning.category.__name__, str(warning.message), Path(warning.filename).name) for warning in warned]
    print(json.dumps(out))


main()
