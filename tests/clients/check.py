#!/usr/bin/python3
"""Really starts one client, and compares its output with that of the sqlite3 shell.

    check.py [--text] [--say OLD=NEW] HEADING COMMAND...

COMMAND gets four more arguments (a new database, the extension, a file of
statements to run, a file of queries to run and print) and prints one row per line
as a JSON array.  Every number must equal the shell's to the last bit, every text
to the last byte.  With --text the command prints what the shell's list mode
prints, for clients that return no numbers.

Then the first code block of ext/CLIENTS.md's "## HEADING" is run as it stands, with
OLD replaced by NEW, beside an evals.db: it must print every model's interval.
The shell itself is checked by HEADING alone.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = str(ROOT / "tests"), str(ROOT / "tests/views")
import catalogue  # noqa: E402
from checks import SQLITE  # noqa: E402
from examples import BLOCK  # noqa: E402

HERE = ROOT / "tests/clients"
WORK = ROOT / "build/clients"
HOME = WORK / "home"  # the reader's folder: evals.db, build/ and sql/
EXTENSION = ROOT / "build/evalci"
SETUP = [ROOT / "sql/schema.sql", HERE / "rows.sql", catalogue.TABLE]
RUN = {
    "sh": ["sh"],
    "python": [sys.executable],
    "js": ["node"],
    "java": ["java"],
    "r": ["Rscript"],
}
ENDING = {"python": "py", "java": "java", "r": "R"}
# Java and R write text in the locale's encoding; Java finds its driver by this.
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "CLASSPATH": "/usr/share/java/sqlite-jdbc.jar"}
LITERAL = re.compile(r"'((?:[^']|'')*)'|([^,\n]+)|(\n)")


def functions():
    """A statement for each function of the catalogue, at every arity."""
    listed, examples = catalogue.read()
    for f in listed:
        calls = [f.call(arity, examples) for arity in f.arities]
        if f.kind == "t":
            yield f"SELECT t.i, f.* FROM t, {calls[-1]} AS f;"
        elif (f.kind == "a" and f.result == "text") or f.result == "board":  # not every client gives a long text whole
            yield f"SELECT {', '.join(f'length({call}), substr({call}, -280)' for call in calls)} FROM t;"
        else:
            yield f"SELECT {', '.join(calls)} FROM t;"


def statements(*scripts):
    """Each statement on one line: isql and R take no more than one at a time."""
    for script in scripts:
        sql = re.sub(r"('(?:[^']|'')*')|--[^\n]*", lambda m: m[1] or "", script)
        for piece in re.findall(r"(?:'(?:[^']|'')*'|[^';])+", sql):
            if piece.strip():
                yield " ".join(line.strip() for line in piece.strip().splitlines())


def run(command, **options):
    try:
        return subprocess.run(command, text=True, encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=ENVIRONMENT, timeout=600, **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", f"{error}\n")


def shell(*words):
    done = run([*SQLITE, *map(str, words)], cwd=ROOT)
    if done.returncode or done.stderr:
        sys.exit(f"the sqlite3 shell failed: {done.stderr}0 passed, 1 failed")
    return done.stdout


def literals(text):
    """Rows of the shell's quote mode, which gives every double all its digits."""
    rows, row = [], []
    for string, plain, end in LITERAL.findall(text):
        if end:
            rows.append(row)
            row = []
        elif not plain:
            row.append(string.replace("''", "'"))
        elif plain == "NULL":
            row.append(None)
        else:
            row.append(int(plain) if re.fullmatch(r"-?\d+", plain) else float(plain))
    return rows


def prepare():
    """The files for the clients, a reader's folder, and the shell's results."""
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir(parents=True)
    for target in (ROOT / "build", ROOT / "sql", WORK / "node/node_modules"):
        (HOME / target.name).symlink_to(target)
    asked = WORK / "queries.sql"
    (WORK / "setup.sql").write_text("".join(line + "\n" for line in statements(*(path.read_text() for path in SETUP))))
    asked.write_text("".join(line + "\n" for line in statements((HERE / "queries.sql").read_text(), *functions())))
    terminated = WORK / "terminated.sql"
    terminated.write_text(asked.read_text().replace("\n", ";\n"))
    database = HOME / "evals.db"
    shell(database, *(f".read {path}" for path in SETUP))
    quoted, listed, intervals = (
        shell(database, f".load {EXTENSION}", f".mode {mode}", ask)
        for mode, ask in (("quote", f".read {terminated}"), ("list", f".read {terminated}"),
                          ("quote", "SELECT model, ci FROM eval_leaderboard WHERE ci IS NOT NULL")))
    return literals(quoted), listed.splitlines(), literals(intervals)


def same(wanted, got):
    # JSON has no infinity, and most clients write null for it.
    if wanted in (float("inf"), float("-inf")) and got is None:
        return True
    if isinstance(wanted, float):
        # A client without integers of its own, as JavaScript, prints 1.0 as 1.
        return type(got) in (int, float) and struct.pack("d", wanted) == struct.pack("d", got)
    return type(wanted) is type(got) and wanted == got


class Tally:
    """Counts checks, and prints the first few failures."""
    passed = failed = 0

    def check(self, what, ok, problem=""):
        self.passed, self.failed = self.passed + bool(ok), self.failed + (not ok)
        if not ok and self.failed <= 5:
            print(f"FAILED {what}{problem and ': '}{problem}")


def compare(tally, rows, command, text):
    database = WORK / "evals.db"  # the report shows the name
    database.unlink(missing_ok=True)
    done = run([*command, database, EXTENSION, WORK / "setup.sql", WORK / "queries.sql"], cwd=ROOT)
    tally.check(f"{' '.join(map(str, command))} runs", done.returncode == 0 and done.stdout,
                f"status {done.returncode}, it says\n{done.stderr.strip()}")
    try:
        got = done.stdout.splitlines() if text else [json.loads(line) for line in done.stdout.splitlines()]
    except json.JSONDecodeError as error:
        tally.check("prints a JSON array a row", False, str(error))
        return
    if not got:
        return
    print(f"SQLite {got[0] if text else got[0][0]}")
    tally.check("prints as many rows", len(got) == len(rows), f"{len(got)}, the shell {len(rows)}")
    for line, (wanted, row) in enumerate(zip(rows[1:], got[1:]), 2):
        if text:
            tally.check(f"row {line}", wanted == row, f"wanted\n{wanted}\ngot\n{row}")
            continue
        tally.check(f"columns of row {line}", len(wanted) == len(row))
        for column, pair in enumerate(zip(wanted, row), 1):
            tally.check(f"row {line}, column {column}", same(*pair), "wanted {!r}, got {!r}".format(*pair))


def documented(tally, intervals, heading, say):
    text = (ROOT / "ext/CLIENTS.md").read_text()
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^##)", text, re.M | re.S)
    block = section and BLOCK.search(section[1])
    if not block:
        tally.check(f'ext/CLIENTS.md has "## {heading}" with a code block', False)
        return
    language, body = block[1], block[2]
    for old, new in say:
        body = body.replace(old, new)
    script = HOME / f"example.{ENDING.get(language, language)}"
    script.write_text(body)
    done = run([*RUN[language], script.name], cwd=HOME)
    # R shows a backslash doubled.
    lines = done.stdout.replace("\\\\", "\\").splitlines()
    for model, ci in intervals:
        tally.check(f"the example prints {model} with {ci}",
                    any(model in line and ci in line for line in lines), f"it prints\n{done.stdout}{done.stderr}")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--text", action="store_true")
    arguments.add_argument("--say", action="append", default=[], type=lambda pair: pair.split("=", 1))
    arguments.add_argument("heading")
    arguments.add_argument("command", nargs=argparse.REMAINDER)
    given = arguments.parse_args()
    tally = Tally()
    rows, lines, intervals = prepare()
    if given.command:
        compare(tally, lines if given.text else rows, given.command, given.text)
    else:
        print(f"SQLite {rows[0][0]}")
    documented(tally, intervals, given.heading, given.say)
    print(f"{tally.passed} passed, {tally.failed} failed")
    sys.exit(tally.failed > 0)


if __name__ == "__main__":
    main()
