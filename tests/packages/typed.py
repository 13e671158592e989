"""A program that a checker of types accepts; packages.py runs mypy on it."""
import pathlib
import sqlite3

import sqlite_evalci
from sqlite_evalci import Verdict, gate, report

board = sqlite_evalci.leaderboard("results.csv", model="llm", level=0.9)
models = list(board["model"])
pairs = sqlite_evalci.compare([{"model": "a", "item": 1, "correct": 1}], a="a", b="b")
tasks = sqlite_evalci.tasks(["one.csv", "two.csv"], table="runs")
questions = sqlite_evalci.questions({"model": "a", "item": i, "correct": i % 2} for i in range(9))
verdict: Verdict = gate(pathlib.Path("results.csv"), "new", "old", margin=0.01)
message: str = verdict["message"] if verdict else ""
page: str = report(sqlite3.connect("evals.db"), "page.html", title="Spring")
lo, hi = sqlite_evalci.bayes_ci(18, 20)
sqlite_evalci.load(sqlite3.connect(":memory:"))
