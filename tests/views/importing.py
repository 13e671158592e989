"""What the suites of imports share: running one, by hand and as make does, and what holds of all of them."""
import json
import os
import pathlib
import subprocess

from adapters import ROOT

FILES = "tests/views/adapters"
RESULTS = "SELECT model, task, item, attempt, correct, score, error FROM results ORDER BY model, task, item, attempt"
# Of a model and task: answers known, right ones, the sum of scores, and those not known.
COUNTS = ("SELECT model, task, count(*) FILTER (WHERE error IS NULL), sum(correct), round(sum(score), 6), count(error) "
          "FROM results GROUP BY model, task ORDER BY model, task")
UNIQUE = "SELECT count(*) - count(DISTINCT json_array(model, task, item, attempt)) FROM results"
# Every row of a view must be one that the canonical table takes.
FITS = ("CREATE TEMP TABLE seen AS SELECT * FROM results; DROP VIEW IF EXISTS results;",
        ".read sql/schema.sql",
        "INSERT INTO results(model, task, item, attempt, correct, score, error) "
        "SELECT model, task, item, attempt, correct, score, error FROM temp.seen;")


def make(tool, path, db, **choices):
    """Runs an import as make does; gives its status, what it printed and its errors."""
    environment = {**os.environ, **{f"IMPORT_{name}": str(value) for name, value in choices.items()}}
    done = subprocess.run(["sql/import.sh", tool, str(path), str(db)], cwd=ROOT, text=True, capture_output=True, env=environment)
    return done.returncode, done.stdout, done.stderr


def pasted(text, after):
    """The statements that a head offers under a heading, as they would be pasted."""
    lines = text[text.index(after):].splitlines()[2:]
    return "\n".join(line[5:] for line in lines[:next(i for i, line in enumerate(lines) if not line.startswith("--   "))])


def importing(t, db, tool, path, **parameters):
    """Runs an import by hand; gives what it printed, as rows without the files' names."""
    setting = [f".parameter set @{name} \"'{value}'\"" for name, value in dict(path=path, **parameters).items()]
    text = t.shell(db, *setting, ".mode json", f".read sql/adapters/{tool}.sql")
    try:
        return [tuple(v for k, v in row.items() if k != "path") for row in json.loads(text)]
    except ValueError:
        return text


def folder_of(t, name, files):
    folder = pathlib.Path(t.path(name))
    folder.mkdir()
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text if isinstance(text, str) else json.dumps(text))
    return folder


def table(t, name, text, newline="\n"):
    path = pathlib.Path(t.path(name))
    path.write_bytes(text.replace("\n", newline).encode() if isinstance(text, str) else text)
    return path


def refuses(t, what, tool, path, reasons, **choices):
    """An import that takes nothing lists why, ends with an error, and leaves the database as it was."""
    db = t.path("kept.db")
    t.shell(db, ".read sql/schema.sql", "INSERT INTO results(model, task, item, correct) VALUES ('kept', 't', 1, 1)")
    before = pathlib.Path(db).read_bytes()
    status, printed, errors = make(tool, path, db, **choices)
    t.check(f"{what}: the reasons are listed", [reason for reason in reasons if reason not in errors], [])
    t.check(f"{what}: it ends with an error", (status, printed, errors.splitlines()[-1][:8]), (1, "", "import: "))
    t.check(f"{what}: the database is as it was", pathlib.Path(db).read_bytes() == before, True)
    new = pathlib.Path(t.path("new.db"))
    make(tool, path, new, **choices)
    t.check(f"{what}: no database where there was none", new.exists(), False)


def leaves_settings(t, tool, path):
    """The shell's settings, its temporary tables and the parameters are as they were."""
    db = t.path("settings.db")
    setting = [".read sql/schema.sql", f".parameter set @path \"'{path}'\"", ".mode insert other", ".headers on", ".nullvalue none"]
    show = [".show", "SELECT name FROM temp.sqlite_master", "SELECT key, value FROM temp.sqlite_parameters"]
    before = t.shell(db, *setting, *show)
    after = t.shell(db, *setting, f".read sql/adapters/{tool}.sql", *show)
    t.check(f"{tool}: leaves the shell's settings", (after.endswith(before), "colseparator" in before, "@path" in before), (True, True, True))
