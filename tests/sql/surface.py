#!/usr/bin/python3
"""The SQL surface: the extension registers exactly the functions of tests/catalogue.txt,
ext/FUNCTIONS.md names them, and the error for any other number of arguments says how to call them.
Contract 1, 5 and 8.

    surface.py build/evalci.so
"""
import pathlib
import re
import sqlite3
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import catalogue  # noqa: E402
from checks import check, finish  # noqa: E402

KINDS = {"a": "w", "s": "s"}
DETERMINISTIC, INNOCUOUS, DIRECT_ONLY = 0x800, 0x200000, 0x80000
# A function registered for any number of arguments has a negative narg, and only reports the right numbers.
REGISTERED = "SELECT name, narg, type, flags FROM pragma_function_list WHERE narg >= 0"
MODULES = "SELECT name FROM pragma_module_list"


def load(db):
    db.enable_load_extension(True)
    db.load_extension(sys.argv[1].rsplit(".", 1)[0])
    return db


def brought(sql):
    """The rows that a query has with the extension and not without it."""
    db = sqlite3.connect(":memory:")
    before = set(db.execute(sql))
    return set(load(db).execute(sql)) - before


def signature(f):
    """As a message shows it: name(k, n [, level [, a, b]])."""
    shown = {"attempts": "k", "threshold": "t", "loss": "margin", "tries_right": "c", "tried": "n"}
    shown |= {"questions": "n", "questions_a": "n_a", "questions_b": "n_b", "rate_a": "only_a", "rate_b": "only_b",
              "precision": "width", "loss": "margin"}
    shown |= {"reading": "options", "voting": "options", "arena": "source", "amount": "total", "counted": "count", "human": "truth", "judging": "options"}
    shown |= {"grade": "rating", "rated": "unit", "grade_a": "a", "grade_b": "b"}
    names = [shown.get(n, n.removeprefix("prior_").removeprefix("score_")) for n in f.arguments]
    parts = [", ".join(names[:f.arities[0]])]
    parts += [", " + ", ".join(names[a:b]) for a, b in zip(f.arities, f.arities[1:])]
    inside = f"{' ['.join(parts)}{']' * (len(parts) - 1)}"
    return f"{f.name}({inside.replace(' [, ', '[', 1) if f.arities[0] == 0 else inside})"


def wrong_arities(db, functions):
    for f in functions:
        for arity in set(range(8)) - set(f.arities):
            sql = f"SELECT {f.name}({', '.join(['0.5'] * arity)})"
            wanted = f"{f.name}: wrong number of arguments, got {arity}; call it as {signature(f)}"
            try:
                got = str(db.execute(sql).fetchall())
            except sqlite3.Error as error:
                got = str(error)
            check(f"{sql} says {wanted!r}, not {got!r}", got == wanted)


def main():
    functions, _ = catalogue.read()
    wanted = {(f.name, arity, KINDS[f.kind]) for f in functions if f.kind in KINDS for arity in f.arities}
    registered = brought(REGISTERED)
    there = {(name, arity, kind) for name, arity, kind, _ in registered}
    for call in sorted(wanted | there):
        check(f"{call} is registered", call in there)
        check(f"{call} is in tests/catalogue.txt", call in wanted)
    boards = {f.name for f in functions if f.result == "board"}
    for name, arity, _, flags in sorted(registered):
        wanted = 0 if name in boards else DETERMINISTIC | INNOCUOUS
        check(f"{name}/{arity} is deterministic and innocuous, unless it reads a table",
              flags & (DETERMINISTIC | INNOCUOUS | DIRECT_ONLY) == wanted)
    tables = {f.name for f in functions if f.kind == "t"}
    modules = {name for name, in brought(MODULES)}
    check(f"the tables are {tables}", modules == tables)
    check("no function is listed twice", len({f.name for f in functions}) == len(functions))
    wrong_arities(load(sqlite3.connect(":memory:")), [f for f in functions if f.kind in KINDS])
    page = (ROOT / "ext/FUNCTIONS.md").read_text()
    for f in functions:
        check(f"ext/FUNCTIONS.md names {f.name}", re.search(rf"\b{f.name}\b", page))
    finish()


if __name__ == "__main__":
    main()
