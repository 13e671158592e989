#!/usr/bin/python3
"""Compares sqlite_evalci in Python with SQL on a connection of the test's own, both by the extension and by the
program:

    api.py LIBRARY PROGRAM      laid out as pip's --target does, in this Python

packages.py does the same with the wheel, in Pythons with and without pandas, and in one that loads no extensions.
"""
import ast
import itertools
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import catalogue  # noqa: E402
from checks import check, finish  # noqa: E402

USE = ROOT / "tests/packages/api_use.py"
# Costs and latencies come last; an import makes columns for them, which say how many are missing.
BEFORE_COSTS = 27


def constants(*names):
    """Of api_use.py, without running it."""
    found = [node for node in ast.parse(USE.read_text(encoding="utf-8")).body if isinstance(node, ast.Assign) and node.targets[0].id in names]
    made = {"itertools": itertools}
    exec(compile(ast.Module(found, []), USE, "exec"), made)
    return [made[name] for name in names]


VERBS, NAMES, ROWS, VOTES = constants("VERBS", "NAMES", "ROWS", "VOTES")


def calls():
    """Every function of the catalogue over its rows: its name, and a list for each argument.  noise is a verb here."""
    functions, examples = catalogue.read()
    with sqlite3.connect(":memory:") as db:
        db.create_function("wilson_ci_counts", 2, lambda k, n: None if k is None else "[0.25,0.75]")
        db.executescript(catalogue.TABLE.read_text())
        made = [(f, [[x for x, in db.execute(f"SELECT {examples[name]} FROM t ORDER BY i")] for name in f.arguments])
                for f in functions if f.kind in "as" and not f.name.startswith("eval_") and f.name != "noise"]
    db.close()
    return made


def used(python, scratch, name, *options, env=None):
    """The output of api_use.py in this Python, run in a new folder."""
    folder = scratch / name
    folder.mkdir()
    (folder / "calls.json").write_text(json.dumps([(f.name, columns) for f, columns in calls()]))
    done = subprocess.run([python, USE, *options], cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(f"{name}: sqlite_evalci is used: {done.stderr[-2000:]}", done.returncode == 0)
    check(f"{name}: no file is left half written", not list(folder.glob("*.part")))
    return json.loads(done.stdout) if done.returncode == 0 else None


def plainly(value):
    """A cell of SQL as the API gives it: intervals as lists."""
    return json.loads(value) if isinstance(value, str) and value[:1] in ("[", "{") else value


class Direct:
    """SQL over the same answers, with the same library."""

    def __init__(self, library, database):
        self.db = sqlite3.connect(database)
        self.db.enable_load_extension(True)
        self.db.load_extension(library)

    def rows(self, sql, *values):
        return [[plainly(x) for x in row] for row in self.db.execute(sql, values)]

    def one(self, sql):
        return self.rows(f"SELECT {sql}")[0][0]


def check_boards(name, got, sql):
    for source, boards in got["boards"].items():
        for verb in VERBS:
            wanted, rows = sql.rows(f"SELECT * FROM eval_{verb}"), boards[verb]
            if verb == "leaderboard" and (source == "two files" or source.startswith("json lines")):
                wanted, rows = ([row[:BEFORE_COSTS] for row in table] for table in (wanted, rows))
            check(f"{name}: {verb} of {source} is that of SQL", rows == wanted and len(rows) > 2)
    voted = sql.rows("SELECT * FROM eval_votes('votes', '{\"anchor\":\"b\"}')")
    check(f"{name}: votes of dicts and of a file", got["votes"] == [voted, voted] and len(voted) == 3)
    check(f"{name}: columns by keyword", [row[0] for row in got["renamed"]] == ["m0", "m1"]
          and [row[:BEFORE_COSTS] for row in got["renamed"]] == [row[:BEFORE_COSTS] for row in got["renamed rows"]])
    check(f"{name}: counts", [row[:3] for row in got["counts"]] == [["a", 20, 18], ["b", 20, 12]])
    check(f"{name}: options of an import", [row[:3] for row in got["from"]] == [["all", 2, 1]])
    pair = "SELECT * FROM eval_compare WHERE model_a = ? AND model_b = ?"
    check(f"{name}: a pair by its names, in that order", got["named"] == sql.rows(pair, "<b>large", "small \"'; --"))
    own = sql.rows("SELECT p, verdict FROM eval_compare WHERE model_a = ? AND model_b = ?", "<b>large", "small \"'; --")[0]
    check(f"{name}: pairs are shown with the verdict of all, one with its own", all(f">{head}</th>" in got["pairs"] and f">{head}</th>" not in got["pair"] for head in ("p_all", "verdict_all"))
          and f">{own[0]:.3f}<" in got["pair"] and f">{own[1]}<" in got["pair"])
    check(f"{name}: all pairs of a model", [row[:2] for row in got["first"]] == [["漢", "<b>large"], ["漢", "small \"'; --"]])
    verdict, passes, reaches = got["gate"]
    wanted = sql.db.execute("SELECT * FROM eval_gate('results', NULL, '漢', '<b>large', 0.1, 0.95)")
    check(f"{name}: gate", verdict == dict(zip([c[0] for c in wanted.description], wanted.fetchone())) and passes is True and reaches is False)


def check_functions(name, got, sql):
    wanted = {
        "interval": "bayes_ci_counts(18, 20)", "level": "bayes_ci_counts(18, 20, 0.9)", "prior": "bayes_ci_counts(18, 20, 0.95, 2, 3)",
        "rows": "bayes_ci(column1) FROM (VALUES (1), (0), (1), (1))", "alone": "clustered_ci_counts(3, 5)",
        "aggregate of counts": "clustered_ci_counts(column1, column2, 0.95, 'icc') FROM (VALUES (1, 4), (2, 5), (3, 6))",
        "clusters": "clustered_ci(column1, column2) FROM (VALUES (1, 'a'), (0, 'a'), (1, 'b'), (1, 'b'))",
        "json": "clustered_each_counts(column1, column2, column3) FROM (VALUES ('a', 1, 4), ('b', 2, 5))",
        "each prior": "diff_ci_counts(18, 20, 12, 20, 0.95, 0.5, 2)", "cells": "f1_ci_counts(8, 2, 3, 0.95, 0.5)",
        "text": "ci_text(diff_ci_counts(18, 20, 12, 20))", "ends": "ci_hi(fisher_or_ci_counts(5, 5, 0, 5))", "nothing": "NULL",
        "number": "mean_ci(column1, 0.95, -1, 2) FROM (VALUES (0.1), (0.2), (0.7))", "whole": "plan_n(0.8, 0.1)",
        "p": "paired_p(column1, column2) FROM (VALUES (1, 0), (0, 0), (1, 1))", "third": "bayes_ci_counts(1, 3, 1 / 3.0)",
        "range": "mean_ci(column1, 0.95, 0, 5) FROM (VALUES (1), (2), (5))", "sure": "plan_gate_n(0.9, 0.8, 0.95, 0.9)",
        "picture": "forest_svg('a', 0.5, '[0.25,0.75]', '{\"title\":\"T & T\"}')", "version": "evalci_version()",
    }
    for key, call in wanted.items():
        check(f"{name}: {call} is {got['functions'][key]}", got["functions"][key] == sql.one(call))
    interval, fifty = sql.one("bayes_ci_counts(18, 20)"), sql.one("bayes_ci_counts(10, 20)")
    check(f"{name}: a scalar of lists has a result for each", got["functions"]["each"] == [interval, fifty, None])
    check(f"{name}: even of one", got["functions"]["one"] == [interval] and got["again"])
    check(f"{name}: the methods", got["functions"]["methods"] == sql.rows("SELECT * FROM ci_methods(18, 20)"))
    listed = {f.name for f in catalogue.read()[0] if f.kind in "as" and not f.name.startswith("eval_")}
    check(f"{name}: dir() has every function: {listed - set(got['dir'])}", listed <= set(got["dir"]))
    check(f"{name}: each says what it is: {got['undocumented']}", got["undocumented"] == []
          and "\n\nWilson score interval; exactly 0 at k = 0 and 1 at k = n\n\n" in got["about"])
    check(f"{name}: and nothing that the module imports", not {"os", "re", "json", "Any", "datetime"} & set(got["dir"]))


def check_calls(name, got, sql):
    for f, columns in calls():
        # Without arguments there is one row.
        rows = list(zip(*columns)) or [()]
        names = [f"x{i}" for i in range(len(columns))] or ["x"]
        sql.db.execute("DROP TABLE IF EXISTS called")
        sql.db.execute(f"CREATE TEMP TABLE called({', '.join(names)})")
        sql.db.executemany(f"INSERT INTO called VALUES ({', '.join('?' * len(names))})", [row or (None,) for row in rows])
        wanted = [row[0] for row in sql.rows(f"SELECT {f.name}({', '.join(names[:len(columns)])}) FROM called")]
        check(f"{name}: {f.name} is called: {got[f.name]}, not {wanted}", got[f.name] == (wanted if f.kind == "s" and columns else wanted[0]))


def check_errors(name, got):
    wanted = {
        "column": "no column model", "value": 'name it as a keyword, score="correct"|named as a keyword, score="correct"',
        "option": 'options has no key "modle"', "model": "results has no model 'nobody'; leaderboard() lists them", "empty": "ValueError: data must have rows",
        "file": "FileNotFoundError: no file or folder 'none.csv'", "unreadable": 'say which it is by model="COLUMN"',
        "counts": "k must be at most n", "few": "call it as bayes_ci_counts(k, n [, level [, a, b]])", "named": "unexpected argument 'width'",
        "left out": "argument 'width' is missing", "ragged": "as many in every argument, got 1 and 2", "no function": "AttributeError",
        "not ours": "AttributeError", "gate": "one of baseline, a model, and min", "gate's model": "no model 'nobody'; leaderboard() lists them",
        "overwrite": "the page would replace 'renamed.csv'", "overwrite a database": "the page would replace 'answers.db'", "a folder": "IsADirectoryError",
        "tuples": "a list of dicts, a path (or several) or a connection of sqlite3, got rows of type tuple", "nothing": "got NoneType",
        "twice": "duplicate column name: Model; rename", "no table": 'no such table: none; give the name of a table or view, as in table="results"',
        "no rows": "rows must be a list, a Series or an array of one dimension, got a tuple", "a large count": "k must be a whole number from 0 to 2^53",
    }
    for key, words in wanted.items():
        check(f"{name}: the error of {key}: {got['errors'][key]}", any(word in got["errors"][key] for word in words.split("|")))


def check_pages(name, got):
    check(f"{name}: the report's path and page", got["report"] == "page.html" and "<h1>&lt;T&gt;</h1>" in got["page"] and got["page"].endswith("</html>\n"))
    check(f"{name}: pages of files with odd names: {got['odd report']}", got["odd report"] is True or all(got["odd report"]))
    check(f"{name}: which says of what", "answers.db</span>; this page was made on" in got["page"]
          and "a list</span>; this page was made on" in got["page of rows"])
    rating = next(row[1] for row in got["votes"][0] if row[0] == "b")
    check(f"{name}: ratings are shown as they are", rating == 1000 and got["rated"].count("<svg") == 3 and "%" not in got["rated"])
    for what, models in (("html", 3), ("pairs", 3)):
        html = got[what]
        check(f"{name}: a notebook's {what} draws every row, its text escaped: {html[:200]}",
              html.count("<svg") == html.count("<circle") == models and html.count("<tr>") == models + 1 and "<b>" not in html and "&lt;b&gt;large" in html)
    check(f"{name}: a chance is never rounded to 0 or 1: {got['chances']}", got["chances"] == [">0.999", "1.000", ">0.999", "<0.001", "0.030", ""])
    check(f"{name}: a table with other cells is shown: {got['changed']}", all(text in got["changed"] for text in ("2026-01-02", "[1, 2]", ">inf<")))
    check(f"{name}: what has nothing to draw is shown as it is", "<svg" not in got["none drawn"])


def check_used(name, got, pandas, loads):
    """Checks everything in one Python; LOADS says whether its sqlite3 loads extensions."""
    if got is None:
        return
    with tempfile.TemporaryDirectory() as made:
        database = pathlib.Path(made) / "answers.db"
        answers_into(database)
        sql = Direct(got["path"], database)
        check(f"{name}: pandas is there: {got['pandas']}, and what loads: {got['loads']}", (got["pandas"], got["loads"]) == (pandas, loads))
        check_boards(name, got, sql)
        check_functions(name, got, sql)
        check_calls(name, got["calls"], sql)
        sql.db.close()
    check_errors(name, got)
    check_pages(name, got)
    check(f"{name}: the examples: {got['doctest']}", got["doctest"][0] == 0 and got["doctest"][1] >= 25)
    warned = got["warned"]
    check(f"{name}: it says once when the program answers, and where: {warned}", warned == [] if loads else
          len(warned) == 1 and warned[0][0] == "RuntimeWarning" and warned[0][2] == "api_use.py" and "the program evalci instead" in warned[0][1])


def answers_into(database):
    with sqlite3.connect(database) as db:
        db.execute(f"CREATE TABLE results({', '.join(NAMES)})")
        db.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?)", ROWS)
        db.execute("CREATE TABLE votes(model_a, model_b, winner)")
        db.executemany("INSERT INTO votes VALUES (:model_a, :model_b, :winner)", VOTES)
    db.close()


def laid_out(target, library, program):
    """The package as pip's --target does it; an environment that has it."""
    package = target / "sqlite_evalci"
    shutil.copytree(ROOT / "ext/packages/python/sqlite_evalci", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "sql", package / "sql")
    shutil.copy(ROOT / "ext/FUNCTIONS.md", package)
    shutil.copy(library, package)
    (target / "bin").mkdir()
    shutil.copy(program, target / "bin")
    (package / "VERSION").write_text("0\n")
    return {**os.environ, "PYTHONPATH": str(target), "PYTHONDONTWRITEBYTECODE": "1"}


def main(library, program):
    with tempfile.TemporaryDirectory() as made:
        scratch = pathlib.Path(made).resolve()
        env = laid_out(scratch / "target", library, program)
        pandas = subprocess.run([sys.executable, "-c", "import pandas"], stderr=subprocess.DEVNULL).returncode == 0
        check_used("by the extension", used(sys.executable, scratch, "extension", env=env), pandas, True)
        check_used("by the program", used(sys.executable, scratch, "program", "--program", env=env), pandas, False)
    finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
