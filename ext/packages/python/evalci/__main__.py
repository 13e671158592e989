"""python3 -m evalci: reports, imports, leaderboards and gates, by the files of sql/."""
import argparse
import io
import json
import os
import pathlib
import sqlite3
import sys
import tempfile
import urllib.parse

import evalci
from evalci.shell import Shell, lines_to, slashed, table_to

# Of the leaderboard's columns those that fit on a line.
SHOWN = 'model, n, correct, errored, round(accuracy, 4) AS accuracy, ci_text(ci) AS "95%", method, bar'


class Refused(Exception):
    """What the user is told, with the way out last."""


def connect(path, mode):
    address = urllib.parse.quote(os.path.abspath(path))
    connection = sqlite3.connect(f"file:{address}?mode={mode}", uri=True, isolation_level=None)
    evalci.load(connection)
    distrust(connection, "main")
    return connection


def distrust(connection, schema):
    """Views and triggers of a database may call harmless functions only: not readfile(), which Shell adds.  SQLite 3.38 to
    3.40 counts its own JSON functions among the others, so there only a schema that has such a name is distrusted."""
    mistaken = (3, 38) <= sqlite3.sqlite_version_info < (3, 41)
    harmful = f"SELECT count(*) FROM {schema}.sqlite_schema WHERE sql LIKE '%readfile%' OR sql LIKE '%evalci_fsdir%'"
    if not mistaken or connection.execute(harmful).fetchone()[0]:
        connection.execute("PRAGMA trusted_schema = OFF")


def existing(path):
    if not os.path.isfile(path):
        raise Refused(f"there is no database {path!r}")
    return connect(path, "ro")


def report(given):
    db, page = existing(given.database), pathlib.Path(given.page)
    if page.exists() and os.path.samefile(given.database, page):
        raise Refused("the page would replace the database; name another file")
    part = page.with_name(page.name + ".part")
    try:
        with open(part, "w", encoding="utf-8", newline="\n") as out:
            Shell(db, lines_to(db, out)).read("report")
        os.replace(part, page)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    print(f"wrote {given.page}")


def leaderboard(given):
    db = existing(given.database)
    rows = db.execute(f"SELECT {'*' if given.json else SHOWN} FROM eval_leaderboard")
    if given.json:
        names = [column[0] for column in rows.description]
        print(json.dumps([dict(zip(names, row)) for row in rows], ensure_ascii=False, indent=1))
    else:
        table_to(db)([column[0] for column in rows.description], rows)


def foreign(tool, path, scratch):
    """Another tool's database, read through its adapter's views into a copy of results."""
    copy = os.path.join(scratch, "copy.db")
    db = sqlite3.connect(copy, isolation_level=None, uri=True)
    db.execute("ATTACH ? AS source", (f"file:{urllib.parse.quote(os.path.abspath(path))}?mode=ro",))
    distrust(db, "source")
    Shell(db, table_to(db, sys.stderr)).run(
        ".read \"|sed 's/^CREATE VIEW/CREATE TEMP VIEW/; s/^DROP VIEW IF EXISTS /&temp./' sql/adapters/" + tool + ".sql\"\n"
        "CREATE TABLE main.answers AS SELECT model, task, item, attempt, correct, score, error FROM temp.results;"
        f"CREATE TABLE main.skipped AS SELECT what, note FROM temp.{tool}_skipped;")
    db.close()
    return copy


def tools():
    """The readers of sql/adapters, by name; the rest there is what they share."""
    shared = {"copy", "files", "stage", "take"}
    home = pathlib.Path(evalci.__file__).parent / "sql/adapters"
    return sorted(path.stem for path in home.glob("*.sql") if path.stem not in shared)


def bring(given):
    if given.tool not in tools():
        raise Refused(f"no tool {given.tool!r}; there are {', '.join(tools())}")
    if not os.path.exists(given.path):
        raise Refused(f"there is no {given.path!r} to import")
    with tempfile.TemporaryDirectory() as scratch:
        path = slashed(os.path.abspath(given.path))
        parameters = {"within": slashed(os.getcwd()) + "/", **vars(given), "path": path}
        reader = given.tool
        if f"{given.tool}_skipped" in evalci.sql(f"adapters/{given.tool}"):
            parameters["copy"], reader = foreign(given.tool, given.path, scratch), "copy"
        parameters = {name: value for name, value in parameters.items() if isinstance(value, str)}
        said = as_new(given.database, reader, parameters)
        print(said if said is not None else into(given.database, reader, parameters), end="")


def into(database, reader, parameters):
    """An import, all or nothing; gives what it says."""
    db, said = connect(database, "rwc"), io.StringIO()
    shell = Shell(db, table_to(db, said), parameters)
    try:
        db.execute("BEGIN IMMEDIATE")
        shell.read("schema")
        shell.read(f"adapters/{reader}")
        db.execute("COMMIT")
        there = db.execute("SELECT count(*), count(DISTINCT model), count(DISTINCT task) FROM results").fetchone()
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        print(said.getvalue(), end="")
        raise
    finally:
        # It may have the copy attached, and Windows deletes no file that is open.
        db.close()
    return said.getvalue() + "now there: answers {}, models {}, tasks {}\n".format(*there)


def as_new(database, reader, parameters):
    """An import into a database that is not there yet, made beside its place and linked there when it is complete,
    as sql/import.sh does, and for its reasons; gives what it says, or None where it is to be done in place."""
    if any(os.path.lexists(database + suffix) for suffix in ("", "-journal", "-wal")):
        return None
    with tempfile.TemporaryDirectory(prefix=".import.", dir=os.path.dirname(os.path.abspath(database))) as beside:
        made = os.path.join(beside, "new.db")
        said = into(made, reader, parameters)
        try:
            os.link(made, database)
        except OSError:
            return None
    return said


def gate(given):
    """The lines of sql/gate.sql; 0 pass, 1 fail, 2 unsure, by the JSON in its last."""
    db, lines = existing(given.database), []
    parameters = {"baseline": given.baseline, "candidate": given.candidate, "margin": given.margin, "sure": given.sure,
                  "options": given.errors and json.dumps({"errors": given.errors})}
    Shell(db, lambda _, rows: lines.extend(rows.fetchone()[0].split("\n")), parameters).read("gate")
    print("\n".join(lines))
    return {"pass": 0, "fail": 1, "unsure": 2}.get(json.loads(lines[-1])["result"], 3)


def commands():
    parser = argparse.ArgumentParser(prog="python3 -m evalci", description="Error bars for LLM evals, inside SQL.")
    parser.add_argument("--version", action="version", version=evalci.__version__)
    which = parser.add_subparsers(dest="command", required=True)

    def command(name, call, what, *names):
        one = which.add_parser(name, help=what, description=what)
        one.set_defaults(call=call)
        for argument in names:
            one.add_argument(argument)
        return one

    command("report", report, "write a page over a database of results", "database", "page")
    command("leaderboard", leaderboard, "each model with its interval, the best first", "database").add_argument(
        "--json", action="store_true", help="every column, as JSON")
    one = command("import", bring, "read another tool's results into a database", "tool", "path", "database")
    for option in ("model", "task", "scorer", "metric", "filter", "items", "lo", "hi"):
        one.add_argument(f"--{option}", help="as the head of the tool's file in sql/adapters says")
    one = command("gate", gate, "is a candidate no worse than a baseline? status 0 yes, 1 no, 2 not enough to say", "database")
    one.add_argument("--baseline", required=True, help="a model, or a number between 0 and 1 that the accuracy is to reach")
    one.add_argument("--candidate", required=True)
    one.add_argument("--margin", type=float, default=0.02)
    one.add_argument("--sure", type=float, default=0.95)
    one.add_argument("--errors", choices=("wrong", "skip"), help="what an answer that is not known counts as; wrong unless given")
    return parser


def main(arguments=None):
    given = commands().parse_args(arguments)
    try:
        return given.call(given) or 0
    except (Refused, RuntimeError, ValueError, OSError, sqlite3.Error) as error:
        print(f"evalci {given.command}: {error}", file=sys.stderr)
        return 3 if given.command == "gate" else 1


if __name__ == "__main__":
    # To a file or a pipe as the sqlite3 shell writes, whatever the system's own code page.
    for stream in (sys.stdout, sys.stderr):
        if not stream.isatty():
            stream.reconfigure(encoding="utf-8")
    sys.exit(main())
