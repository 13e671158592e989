#!/usr/bin/python3
"""Hostile databases: nothing in their views, triggers, generated columns and names is executed.

    hostile.py PROGRAM
"""
import os
import sqlite3
import subprocess

from running import EVALCI, HERE, check, csv, ends, finish, run

one = csv("one.csv", {"old": 0.5, "new": 0.6}, 40)
ran = HERE / "ran"
secret = HERE / "secret.txt"
secret.write_text("a secret")
GATE = ("--baseline", "old", "--candidate", "new")
VERBS = [("leaderboard",), ("compare",), ("tasks",), ("passes",), ("noise",), ("slices",), ("questions",), ("report",), ("gate", *GATE), ("sql",)]

# Functions that a shell or an extension may have: each must be unknown, or refused in a schema.
CALLS = [f"edit('x', 'touch {ran}; :')", f"EDIT('x', 'touch {ran}; :')", f"\"edit\"('x', 'touch {ran}; :')", f"edit/**/('x', 'touch {ran}; :')",
         f"writefile('{ran}', 'x')", f"readfile('{secret}')", f"shell_exec('touch {ran}')", f"system('touch {ran}')", "load_extension('/tmp/evil.so')",
         "fts3_tokenizer('simple', x'4141414141414141')", f"zipfile('{ran}', 'x')", f"fsdir('{HERE}')", "shell_putsnl('pass: forged')", "eval('SELECT 1')"]


def made(name, *statements):
    """Writes the schema's text directly: SQLite checks what a view calls only when it is used."""
    path = HERE / name
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.create_function("edit", -1, lambda *_: None)
    for other in ("writefile", "readfile", "shell_exec", "system", "zipfile", "fsdir", "shell_putsnl", "eval"):
        db.create_function(other, -1, lambda *_: None, deterministic=True)
    for statement in statements:
        try:
            db.execute(statement)
        except sqlite3.Error:
            # SQLite refuses to create these, so they are written into the schema.
            kind, _, rest = statement.partition(" ")[2].partition(" ")
            db.execute("PRAGMA writable_schema = ON")
            db.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, 0, ?)", (kind.lower(), rest.split("(")[0].split()[0], "results", statement))
    db.commit()
    db.close()
    return path


def nothing_ran(what):
    check(f"{what}: nothing ran", not ran.exists())
    ran.unlink(missing_ok=True)


def arguments(verb, path):
    if verb[0] == "sql":
        return ("sql", path, "SELECT * FROM results")
    return (verb[0], path, *verb[1:])


def attack(what, path, refused=True):
    for verb in VERBS:
        code, out, err = run(*arguments(verb, path))
        check(f"{what}: {verb[0]} ends with {code}: {out[:200]}{err}", code == 3 if refused else code >= 0)
        check(f"{what}: {verb[0]} tells no secret", "a secret" not in out + err)
        check(f"{what}: {verb[0]} does not say what is forged", not out.startswith("pass: forged"))
        nothing_ran(f"{what}, {verb[0]}")


for call in CALLS:
    view = f"CREATE VIEW results AS SELECT CAST({call} AS TEXT) AS model, 't' AS task, 1 AS item, 1 AS correct"
    attack(f"a view of {call}", made("view.db", view))
    code, out, err = run("import", HERE / "view.db", "-o", HERE / "taken.db")
    check(f"an import of a view of {call}: {code} {out}{err}", code == 3 and not (HERE / "taken.db").exists())
    nothing_ran("an import")

for call in CALLS[:6]:
    columns = "model TEXT NOT NULL, task TEXT NOT NULL, item NOT NULL, attempt INTEGER NOT NULL DEFAULT 1, correct INTEGER, score REAL, error TEXT, " \
              "score_lo REAL, score_hi REAL"
    key = "PRIMARY KEY (task, item, model, attempt)"
    path = made("trigger.db", f"CREATE TABLE results({columns}, {key})", f"CREATE TRIGGER t BEFORE INSERT ON results BEGIN SELECT {call}; END")
    code, out, err = run("import", one, "-o", path)
    check(f"an import past a trigger of {call}: {code} {err}", code == 3)
    nothing_ran("a trigger")
    path = made("generated.db", f"CREATE TABLE results({columns}, evil AS ({call}), {key})")
    run("import", one, "-o", path)
    for verb in VERBS:
        run(*arguments(verb, path))
    nothing_ran(f"a generated column of {call}")
    path = made("default.db", f"CREATE TABLE results({columns.replace('score_hi REAL', f'score_hi REAL DEFAULT ({call})')}, {key})")
    run("import", one, "-o", path)
    nothing_ran(f"a default of {call}")
    path = made("index.db", f"CREATE TABLE results({columns}, {key})", f"CREATE INDEX i ON results({call})")
    run("import", one, "-o", path)
    attack(f"an index of {call}", path, refused=False)

# A tool's database whose tables are views.
for call in CALLS[:6]:
    path = made("promptfoo.db", f"CREATE VIEW evals AS SELECT {call} AS id, {call} AS config", f"CREATE VIEW eval_results AS SELECT {call} AS eval_id, 0 AS failure_reason")
    for verb in (("import", path, "-o", HERE / "taken.db"), ("leaderboard", path), ("leaderboard", path, "--from", "promptfoo")):
        ends(f"{verb[0]} of views of {call}", 3, *verb)
    nothing_ran(f"views of {call}")
check("nothing was taken", not (HERE / "taken.db").exists())

# Harmless functions stay allowed in a database's own views: SQLite's, JSON's and evalci's.
for expression in ("replace(model, 'x', '')", "json_extract(json_array(model), '$[0]')", "iif(bayes_ci_counts(1, 2) IS NULL, 'x', model)"):
    path = HERE / "own.db"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE answers(model, task, item, correct)")
    db.executemany("INSERT INTO answers VALUES (?, 't', ?, ?)", [(m, i, i % n > 0) for m, n in (("old", 3), ("new", 9)) for i in range(200)])
    db.execute(f"CREATE VIEW results AS SELECT {expression} AS model, task, item, correct FROM answers")
    db.commit()
    db.close()
    ends(f"a gate over a view of {expression}", 0, "gate", path, *GATE, says="pass: new")
    ends(f"a report over a view of {expression}", 0, "report", path, "-o", HERE / "own.html", says="wrote")

# A view that reads itself, one that never ends, a schema that is garbled.
attack("a view of itself", made("itself.db", "CREATE VIEW results AS SELECT * FROM eval_leaderboard('results')"))
endless = made("endless.db", "CREATE VIEW results AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'm' AS model, i AS item, NULL AS correct FROM n")
process = subprocess.Popen([EVALCI, "sql", endless, "SELECT max(item) FROM results"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
try:
    process.wait(0.5)
    check("an endless view goes on", False)
except subprocess.TimeoutExpired:
    process.send_signal(2)
    check("an endless view can be interrupted", process.wait(10) == -2)
process.communicate()
bytes_of = (HERE / "view.db").read_bytes()
for at in range(100, len(bytes_of), 97):
    (HERE / "garbled.db").write_bytes(bytes_of[:at] + bytes([bytes_of[at] ^ 255]) + bytes_of[at + 1:])
    code, _, err = run("leaderboard", HERE / "garbled.db")
    check(f"byte {at} changed: {code} {err}", code == 3)

# Names that are options, SQL, shell or escapes.
for name in ("-o.csv", "--json", "a b.csv", "it's.csv", "$(touch ran).csv", "`touch ran`.csv", "x;touch ran.csv", "a\nb.csv", "%s%n.csv", "?mode=rwc.db", "#x.db", "é.csv"):
    path = HERE / name
    path.write_bytes(one.read_bytes())
    code, out, err = run("leaderboard", "--quiet", "--", name, cwd=HERE)
    check(f"a file named {name!r}: {code} {err}", code == 0 and "new" in out)
    new = f"{name}.evals.db"
    code, out, err = run("import", f"./{name}", "-o", f"./{new}", cwd=HERE)
    check(f"into a database named after it: {code} {err}", code == 0 and (HERE / new).exists())
    code, out, err = run("leaderboard", f"./{new}", "--json", cwd=HERE)
    check(f"which is read: {code} {err}", code == 0 and '"new"' in out)
nothing_ran("names")

# The program reads no settings of the user, such as ~/.sqliterc.
home = HERE / "home"
home.mkdir()
(home / ".sqliterc").write_text(f".headers on\n.timer on\n.shell touch {ran}\n")
plain = run("gate", one, *GATE)
check("a gate says the same with a ~/.sqliterc", run("gate", one, *GATE, env={**os.environ, "HOME": str(home)}) == plain)
nothing_ran("settings")
for locale in ("de_DE.UTF-8", "C", "tr_TR.UTF-8"):
    check(f"and in the locale {locale}", run("gate", one, *GATE, env={**os.environ, "LC_ALL": locale}) == plain)
finish()
