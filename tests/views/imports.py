#!/usr/bin/python3
"""From other tools' storage to rows of results: sql/adapters and make import, in the real sqlite3 shell.

    imports.py EXTENSION

Each adapter runs on a small database or on files of its tool's shape, kept in
tests/views/adapters or written here; expected rows and counts were read off those by
eye.  What the views make of such rows is tested in adapters.py.
"""
import csv as writer
import json
import os
import pathlib
import random
import subprocess
import sys

from adapters import FILES, ROOT, Suite

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


def make(t, tool, path, db, command=("sql/import.sh",), **choices):
    """Runs an import as make does; gives its status, what it printed and its errors."""
    environment = {**os.environ, **{f"IMPORT_{name}": str(value) for name, value in choices.items()}}
    done = subprocess.run([*command, tool, str(path), str(db)], cwd=ROOT, text=True, capture_output=True, env=environment)
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


def refuses(t, what, tool, path, reasons, **choices):
    """An import that takes nothing lists why, ends with an error, and leaves the database as it was."""
    db = t.path("kept.db")
    t.shell(db, ".read sql/schema.sql", "INSERT INTO results(model, task, item, correct) VALUES ('kept', 't', 1, 1)")
    before = pathlib.Path(db).read_bytes()
    status, printed, errors = make(t, tool, path, db, **choices)
    t.check(f"{what}: the reasons are listed", [reason for reason in reasons if reason not in errors], [])
    t.check(f"{what}: it ends with an error", (status, printed, errors.splitlines()[-1][:8]), (1, "", "import: "))
    t.check(f"{what}: the database is as it was", pathlib.Path(db).read_bytes() == before, True)
    new = pathlib.Path(t.path("new.db"))
    make(t, tool, path, new, **choices)
    t.check(f"{what}: no database where there was none", new.exists(), False)


def views(t, tool, best):
    """A table of the person's own is not dropped; a read-only database is read through temporary views."""
    db = t.path("own.db")
    said = t.shell(db, "CREATE TABLE results(mine)", "INSERT INTO results VALUES (1)", f".read sql/adapters/{tool}.sql")
    t.check(f"{tool}: a table named results is kept", ("use DROP TABLE to delete table results" in said,
                                                      t.number(db, "mine FROM results")), (True, 1))
    db = t.path("readonly.db")
    t.shell(db, f".read {FILES}/{tool}.sql")
    pathlib.Path(db).chmod(0o444)
    made = subprocess.run(["sed", "s/^CREATE VIEW/CREATE TEMP VIEW/", f"sql/adapters/{tool}.sql"], cwd=ROOT, text=True, stdout=subprocess.PIPE).stdout
    script = t.path("views.sql")
    pathlib.Path(script).write_text(made)
    t.check(f"{tool}: read-only", t.shell(db, f".read {script}", "SELECT model FROM results GROUP BY model ORDER BY avg(correct) DESC LIMIT 1",
                                          options=["-readonly"]), best + "\n")


def copied(t, tool, skipped):
    """make import gives what the views show, reads the database where it lies, and tells what it left out."""
    source, db = t.path(f"{tool}'s \"own\" 100%.db"), t.path("copy.db")
    t.shell(source, f".read {FILES}/{tool}.sql")
    before = pathlib.Path(source).read_bytes()
    t.shell(db, "CREATE TABLE evals(mine)", "CREATE TABLE experiments(mine)")
    status, printed, errors = make(t, tool, source, db)
    t.check(f"{tool}: is imported, tables of yours or not", (status, errors, "now there: answers" in printed), (0, "", True))
    t.check(f"{tool}: its database is as it was", pathlib.Path(source).read_bytes() == before, True)
    t.check(f"{tool}: what was skipped is told", [line for line in skipped if line not in printed], [])
    t.check(f"{tool}: make import gives what the views show", t.rows(db, RESULTS), t.rows(source, RESULTS, f".read sql/adapters/{tool}.sql"))
    rows = t.rows(db, RESULTS)
    make(t, tool, source, db)
    t.check(f"{tool}: again changes nothing", t.rows(db, RESULTS), rows)
    refuses(t, f"{tool}: what is no database of it", tool, db, ["cannot be read as a database of"])


def promptfoo(t):
    db = t.path("promptfoo.db")
    t.check("promptfoo: says nothing", t.shell(db, f".read {FILES}/promptfoo.sql", ".read sql/adapters/promptfoo.sql"), "")
    big, mini = "openai:gpt-4.1", "mini"
    # Item by item: the two attempts at tests 0, 2, 4, 6, 8, 10.
    came = {f"{mini} / reasoned": "11 00 11 00 00 01", f"{mini} / short": "00 00 11 E0 11 00",
            f"{big} / reasoned": "11 11 11 11 11 01", f"{big} / short": "11 10 11 00 10 1E"}
    rows = [(model, "capitals", 2 * item, attempt + 1,
             *((None, None, "API error: 429") if one == "E" else (int(one), float(one), None)))
            for model, answers in came.items() for item, pair in enumerate(answers.split()) for attempt, one in enumerate(pair)]
    t.check("promptfoo: rows", t.rows(db, RESULTS), rows)
    t.check("promptfoo: where a row comes from", t.rows(
        db, "SELECT eval_id, test_idx, prompt_idx FROM results WHERE model = 'mini / short' AND item = 6 AND attempt = 2"),
        [("eval-Ab1-2025-05-01T09:00:00", 7, 3)])
    head = (ROOT / "sql/adapters/promptfoo.sql").read_text()
    t.shell(db, pasted(head, "To count errored runs as wrong:"))
    t.check("promptfoo: errored runs as wrong", t.rows(db, "SELECT model, count(correct), sum(correct), sum(score) FROM results GROUP BY model"), [
        (f"{mini} / reasoned", 12, 5, 5), (f"{mini} / short", 12, 4, 4), (f"{big} / reasoned", 12, 11, 11), (f"{big} / short", 12, 7, 7)])

    # Later evals: one prompt and twin providers; prompts that share their first 60
    # characters; tests without variables, which only their prompts tell apart; and
    # the twins' tests in another eval, at other places.
    long = "You are a careful assistant.\nAnswer in one word, with no more punctuation than "
    new = "INSERT INTO evals(id, created_at, results, config, runtime_options) VALUES ('{0}', {1}, '{{}}', '{2}', {3});"
    row = ("INSERT INTO eval_results(eval_id, prompt_idx, test_idx, test_case, prompt, provider, success, score, failure_reason, error) "
           "VALUES ('{}', {}, {}, '{}', json_object('raw', '{}', 'label', '{}'), '{}', {}, 0.5, {}, {});")
    one = '{{"vars":{{"q":"{}"}}}}'
    twins = ["openai:o3", "openai:o3", "openai:o4"]
    t.shell(db, ".read sql/adapters/promptfoo.sql", new.format("twins", 1746090000001, "{}", "NULL"), new.format("long", 1746090000002, "{}", "NULL"),
            new.format("bare", 1746090000003, '{"evaluateOptions":{"repeat":2}}', "NULL"), new.format("again", 1746090000000, "{}", "NULL"),
            *[row.format("again", 5, i + 3, one.format(i), "Say", "Say", '{"id":"openai:o4"}', 1, 0, "NULL") for i in range(2)],
            *[row.format("twins", c, i, one.format(i), "Say", "Say", json.dumps({"id": p}), (c + i) % 2, 0, "NULL")
              for c, p in enumerate(twins) for i in range(2)],
            *[row.format("long", c, 0, one.format(0), "x", label, '{"id":"echo"}', 1, 0, "NULL")
              for c, label in enumerate([long + "needed", long + "usual", "short"])],
            *[row.format("bare", 0, i, '{"assert":[]}', f"question {i // 2}", "p", '{"id":"echo","label":"E"}', 0, 2, "NULL") for i in range(4)])
    t.check("promptfoo: twins stay apart", t.rows(
        db, "SELECT model, item, attempt, correct FROM results WHERE task = 'twins' ORDER BY model, item"),
        [("openai:o3 #0", 0, 1, 0), ("openai:o3 #0", 1, 1, 1), ("openai:o3 #1", 0, 1, 1), ("openai:o3 #1", 1, 1, 0),
         ("openai:o4", 0, 1, 0), ("openai:o4", 1, 1, 1)])
    t.check("promptfoo: evals stay apart", t.rows(db, "SELECT model, item, attempt FROM results WHERE task = 'again' ORDER BY item"),
            [("openai:o4", 3, 1), ("openai:o4", 4, 1)])
    cut = "echo / " + long.replace("\n", " ")[:59] + "…"
    t.check("promptfoo: long prompts", t.rows(db, "SELECT model, attempt FROM results WHERE task = 'long' ORDER BY model"),
            [(cut + " #0", 1), (cut + " #1", 1), ("echo / short", 1)])
    t.check("promptfoo: tests without variables, repeated by the config", t.rows(
        db, "SELECT model, item, attempt, correct, score, error FROM results WHERE task = 'bare' ORDER BY test_idx"),
        [("E", item, attempt, None, None, "errored") for item in (0, 2) for attempt in (1, 2)])
    t.check("promptfoo: rows are unique", t.number(db, f"({UNIQUE})"), 0)
    t.check("promptfoo: fits the canonical table", t.rows(db, "SELECT count(*) FROM results", "BEGIN", *FITS), [(48 + 6 + 3 + 4 + 2,)])

    # Equal tests are questions of their own where nothing was repeated, whatever the
    # column of the command line's options holds; and each three where the eval was.
    equal = {"once": "NULL", "one": "'{\"repeat\":1}'", "none": "'{}'", "thrice": "'{\"repeat\":3,\"cache\":true}'", "uneven": "'{\"repeat\":4}'"}
    t.shell(db, *[new.format(name, 1746090000009, "{}", options) for name, options in equal.items()],
            *[row.format(name, 0, i, one.format("same"), "Say", "Say", '{"id":"e"}', i % 2, 0, "NULL") for name in equal for i in range(6)])
    apart, thrice = [(i, 1) for i in range(6)], [(3 * (i // 3), i % 3 + 1) for i in range(6)]
    for name, expected in (("once", apart), ("one", apart), ("none", apart), ("thrice", thrice), ("uneven", [(4 * (i // 4), i % 4 + 1) for i in range(6)])):
        t.check(f"promptfoo: equal tests, {name}", t.rows(db, f"SELECT item, attempt FROM results WHERE task = '{name}' ORDER BY test_idx"), expected)
    t.shell(db, "UPDATE evals SET config = '{\"evaluateOptions\":{\"repeat\":6}}' WHERE id IN ('one', 'once')")
    t.check("promptfoo: the command line goes before the config", t.rows(
        db, "SELECT task, count(DISTINCT item) FROM results WHERE task IN ('one', 'once') GROUP BY 1 ORDER BY 1"), [("once", 1), ("one", 6)])
    t.shell(db, "ALTER TABLE evals DROP COLUMN runtime_options")
    t.check("promptfoo: a database without the column", t.rows(
        db, "SELECT task, count(DISTINCT item) FROM results WHERE task IN ('one', 'thrice', 'bare') GROUP BY 1 ORDER BY 1"),
        [("bare", 2), ("one", 1), ("thrice", 6)])

    # Runs of one description: the latest with answers is what results shows.
    t.shell(db, "INSERT INTO evals(id, created_at, description, results, config) VALUES ('first', 5, 'daily', '{}', '{}'), "
                "('second', 9, 'daily', '{}', '{}'), ('stopped', 11, 'daily', '{}', '{}')",
            *[row.format(run, 0, i, one.format(i), "Say", "Say", '{"id":"e"}', run == "second", 0, "NULL") for run in ("first", "second") for i in range(2)])
    t.check("promptfoo: the latest run of a description", t.rows(
        db, "SELECT eval_id, item, correct FROM results WHERE task = 'daily' ORDER BY item"), [("second", 0, 1), ("second", 1, 1)])
    t.check("promptfoo: all runs beside it", t.rows(
        db, "SELECT task, sum(correct), count(*) FROM promptfoo_results WHERE task IN ('first', 'second') GROUP BY 1 ORDER BY 1"),
        [("first", 0, 2), ("second", 2, 2)])
    t.check("promptfoo: what is skipped", t.rows(db, "SELECT what, note FROM promptfoo_skipped"),
            [("first", "not imported: there is a later run of daily")])
    t.shell(db, pasted(head, "To see all runs, each a task of its own:"))
    t.check("promptfoo: all runs", t.number(db, "count(DISTINCT task) FROM results"), 12)
    copied(t, "promptfoo", ["openai:gpt-4.1 / reasoned", "capitals"])
    views(t, "promptfoo", f"{big} / reasoned")


def phoenix(t):
    db = t.path("phoenix.db")
    t.check("phoenix: says nothing", t.shell(db, f".read {FILES}/phoenix.sql", ".read sql/adapters/phoenix.sql"), "")
    right, wrong = (1, 1.0, None), (0, 0.0, None)
    support = {"baseline": [right, wrong, wrong, wrong, (None, None, "TimeoutError()"), right, wrong, wrong],
               "new prompt": [right] * 6 + [(None, None, "evaluator: rate limited"), (None, None, "score is missing")]}
    rows = ([(m, "support", 101 + i // 2, 1 + i % 2, *a) for m, came in support.items() for i, a in enumerate(came)] +
            [("nightly #3", "sql", 201, 1, None, 1.0, None), ("nightly #3", "sql", 202, 1, None, 0.8, None),
             ("nightly #3", "sql", 203, 1, None, None, "score is missing, and the label says neither: slow"),
             ("nightly #4", "sql", 201, 1, *wrong), ("nightly #4", "sql", 202, 1, 0, None, None), ("nightly #4", "sql", 203, 1, 1, None, None)])
    t.check("phoenix: rows", t.rows(db, RESULTS), rows)
    t.check("phoenix: the annotations chosen", t.rows(db, "SELECT dataset_id, annotation FROM phoenix_chosen ORDER BY 1"),
            [(1, "correctness"), (2, "runs")])
    t.shell(db, "UPDATE experiment_run_annotations SET label = 'fail' WHERE label = 'slow'")
    t.check("phoenix: labels that say right or wrong throughout", t.rows(
        db, "SELECT item, correct, score, error FROM results WHERE model = 'nightly #3' ORDER BY item"),
        [(201, 1, 1.0, None), (202, 1, 0.8, None), (203, 0, None, None)])
    head = (ROOT / "sql/adapters/phoenix.sql").read_text()
    t.shell(db, "UPDATE experiment_run_annotations SET label = 'slow' WHERE label = 'fail'", pasted(head, "To count errored runs as wrong:"))
    t.check("phoenix: errored runs as wrong", t.rows(db, COUNTS), [
        ("baseline", "support", 8, 2, 2, 0), ("new prompt", "support", 6, 6, 6, 2), ("nightly #3", "sql", 2, None, 1.8, 1), ("nightly #4", "sql", 3, 1, 0, 0)])
    t.shell(db, pasted(head, "every dataset:").replace("'correctness'", "'by hand'"))
    t.check("phoenix: another annotation", t.rows(db, "SELECT model, item, attempt, correct FROM results WHERE correct IS NOT NULL ORDER BY 3"),
            [("new prompt", 104, 1, 1), ("new prompt", 104, 2, 0)])
    t.shell(db, "DROP VIEW results", "CREATE VIEW results AS SELECT * FROM phoenix_results WHERE annotation = 'a tone'")
    t.check("phoenix: a graded annotation", t.rows(db, "SELECT DISTINCT correct, score, error FROM results WHERE task = 'support' ORDER BY error"),
            [(None, 0.25, None), (None, None, "TimeoutError()")])
    t.check("phoenix: back to the chosen", t.rows(db, "SELECT count(*) FROM results", ".read sql/adapters/phoenix.sql"), [(22,)])

    t.shell(db, "UPDATE experiments SET is_ephemeral = 1 WHERE id = 3", "DELETE FROM experiment_run_annotations WHERE name = 'correctness'")
    t.check("phoenix: an ephemeral experiment is no model, nor a namesake", t.rows(db, "SELECT DISTINCT model, task, annotation FROM results ORDER BY 1"),
            [("baseline", "support", "by hand"), ("new prompt", "support", "by hand"), ("nightly", "sql", "runs")])
    t.check("phoenix: what is skipped", t.rows(db, "SELECT what, note FROM phoenix_skipped ORDER BY 1"),
            [("nightly #3", "not imported: an ephemeral experiment"), ("support, a tone", "not imported: judged by by hand instead")])
    t.shell(db, "DROP INDEX IF EXISTS ix_experiments_ephemeral_updated_at", "ALTER TABLE experiments DROP COLUMN is_ephemeral")
    t.check("phoenix: a database without the column", t.rows(db, RESULTS.replace("ORDER", "WHERE task = 'sql' ORDER")), rows[16:])
    t.shell(db, "DELETE FROM experiment_run_annotations WHERE name = 'runs'")
    t.check("phoenix: nothing annotated", t.rows(db, "SELECT DISTINCT correct, error FROM results WHERE task = 'sql'"), [(None, "score is missing")])
    t.check("phoenix: rows are unique", t.number(db, f"({UNIQUE})"), 0)
    t.check("phoenix: fits the canonical table", t.rows(db, "SELECT count(*) FROM results", *FITS), [(22,)])
    copied(t, "phoenix", ["support, a tone", "not imported: judged by correctness instead"])
    views(t, "phoenix", "new prompt")


def leaves_settings(t, tool, path):
    """The shell's settings, its temporary tables and the parameters are as they were."""
    db = t.path("settings.db")
    setting = [".read sql/schema.sql", f".parameter set @path \"'{path}'\"", ".mode insert other", ".headers on", ".nullvalue none"]
    show = [".show", "SELECT name FROM temp.sqlite_master", "SELECT key, value FROM temp.sqlite_parameters"]
    before = t.shell(db, *setting, *show)
    after = t.shell(db, *setting, f".read sql/adapters/{tool}.sql", *show)
    t.check(f"{tool}: leaves the shell's settings", (after.endswith(before), "colseparator" in before, "@path" in before), (True, True, True))


def lm_eval(t):
    db = t.path("lm_eval.db")
    t.shell(db, ".read sql/schema.sql")
    exact, flexible = "strict-match, exact_match", "flexible-extract, exact_match"
    said = [("org__large", "arc_easy", None, 0, None, None, 0, "not imported: there is a later run"),
            ("org__large", "arc_easy", "none, acc", 5, 4, 0.8, 0, None), ("org__large", "gsm8k", exact, 8, 6, 0.75, 0, None),
            ("org/small", "arc_easy", "none, acc", 5, 3, 0.6, 0, None), ("org/small", "gsm8k", exact, 8, 3, 0.375, 0, None),
            ("org/small", "squad", "none, f1", 3, None, 0.5, 2, None)]
    t.check("lm_eval: imports", importing(t, db, "lm_eval", f"{FILES}/lm_eval"), said)
    plain = {("org/small", "gsm8k"): "10010100", ("org/small", "arc_easy"): "11001", ("org__large", "gsm8k"): "11110110", ("org__large", "arc_easy"): "11101"}
    squad = [(None, 0.5, None), (None, 1.0, None), (None, 0.0, None), (None, None, "score is missing"), (None, None, "score is not a number: [1,2]")]
    rows = sorted([(m, task, i, 1, int(c), float(c), None) for (m, task), came in plain.items() for i, c in enumerate(came)] +
                  [("org/small", "squad", i, 1, *a) for i, a in enumerate(squad)])
    t.check("lm_eval: rows", t.rows(db, RESULTS), rows)
    t.check("lm_eval: the same again", importing(t, db, "lm_eval", f"{FILES}/lm_eval"), said)
    t.check("lm_eval: changes nothing", t.rows(db, RESULTS), rows)
    head = (ROOT / "sql/adapters/lm_eval.sql").read_text()
    t.shell(db, pasted(head, "thing.  To count it as wrong:"))
    t.check("lm_eval: a missing score as wrong", t.rows(db, "SELECT correct, error FROM results WHERE task = 'squad' AND item = 3"), [(0, None)])
    t.shell(db, pasted(head, "To pass it from 0.5 up instead:"))
    t.check("lm_eval: a graded metric passed", t.rows(db, "SELECT item, correct FROM results WHERE task = 'squad' ORDER BY item"),
            [(0, 1), (1, 1), (2, 0), (3, 0), (4, None)])

    db = t.path("lm_eval.db")
    t.shell(db, ".read sql/schema.sql")
    t.check("lm_eval: another filter and metric", importing(t, db, "lm_eval", f"{FILES}/lm_eval", filter="flexible-extract", metric="acc_norm"),
            [said[0], ("org__large", "arc_easy", "none, acc_norm", 5, 3, 0.6, 0, None), ("org__large", "gsm8k", flexible, 8, 7, 0.875, 0, None),
             ("org/small", "arc_easy", "none, acc_norm", 5, 2, 0.4, 0, None), ("org/small", "gsm8k", flexible, 8, 5, 0.625, 0, None), said[5]])
    t.check("lm_eval: texts of booleans", t.rows(db, "SELECT correct FROM results WHERE model = 'org__large' AND task = 'arc_easy' ORDER BY item"),
            [(1,), (0,), (1,), (0,), (1,)])
    t.check("lm_eval: the first ones replace them", importing(t, db, "lm_eval", f"{FILES}/lm_eval"), said)
    one = f"{FILES}/lm_eval/org__small/samples_gsm8k_2025-01-02T03-04-05.678901.jsonl"
    t.check("lm_eval: one file, under another name", importing(t, db, "lm_eval", one, model="small 2", task="maths"),
            [("small 2", "maths", exact, 8, 3, 0.375, 0, None)])
    leaves_settings(t, "lm_eval", f"{FILES}/lm_eval")

    # Files as they come: a byte-order mark, carriage returns, empty lines, no end
    # of the last line; one cut short; one of another age; one without a home.
    folder = pathlib.Path(t.path("out"))
    (folder / "modèle").mkdir(parents=True)
    line = '{{"doc_id": {}, "doc": {{"q": "a {{b}}\\n{{c}} \U0001f642"}}, "filter": "none", "metrics": ["acc"], "acc": {}}}'
    texts = {"crlf": "\ufeff\r\n" + "\r\n\r\n".join(line.format(i, i % 2) for i in range(4)),
             "gaps": "\n\n" + "\n \n\n\n".join(line.format(i, ["true", "false", "null", "-Infinity"][i]) for i in range(4)) + "\n\n\n",
             "short": line.format(0, 1) + "\n" + line.format(1, 1)[:40], "empty": "",
             "old": '{"doc_id": 0, "acc": 1.0}\n', "my_task_2025-13-01": line.format("\"q\"", 1)}
    for name, text in texts.items():
        (folder / "modèle" / f"samples_{name}.jsonl").write_text(text, newline="")
    with open(folder / "modèle" / "samples_big_2025-01-01T00-00-00.jsonl", "w") as big:
        for i in range(20000):
            big.write(line.format(i, float(i % 5 == 0)).replace("a {", "long " * 60 + "{") + "\n")
    t.check("lm_eval: files as they come", importing(t, db, "lm_eval", folder), [
        ("modèle", "big", "none, acc", 20000, 4000, 0.2, 0, None), ("modèle", "crlf", "none, acc", 4, 2, 0.5, 0, None),
        ("modèle", "empty", None, 0, None, None, 0, "not imported: no filter and metrics in its records"),
        ("modèle", "gaps", "none, acc", 2, 1, 0.5, 2, None), ("modèle", "my_task_2025-13-01", "none, acc", 1, 1, 1.0, 0, None),
        ("modèle", "old", None, 0, None, None, 0, "not imported: no filter and metrics in its records"),
        ("modèle", "short", None, 0, None, None, 0, "not imported: not JSON lines")])
    t.check("lm_eval: a text for a question", t.rows(db, "SELECT item FROM results WHERE task LIKE 'my_task%'"), [("q",)])
    t.check("lm_eval: no such path", "cannot stat file: /nowhere" in importing(t, db, "lm_eval", "/nowhere"), True)
    t.check("lm_eval: needs the table", "no such table: results" in importing(t, t.path("bare.db"), "lm_eval", one), True)
    refuses(t, "lm_eval: nothing there", "lm_eval", "sql", ["nothing found: no samples_*.jsonl here"])

    # Repeats, as 0.5 writes them; eight rouge scores, none of which is 1.
    record = {"filter": "none", "metrics": ["pass@1(exact_match)", "pass@3(exact_match)"], "pass@3(exact_match)": 1.0}
    repeated = [{**record, "doc_id": i, "scores_per_repeat": {"exact_match": scores}} for i, scores in enumerate([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])]
    rouge = [{"doc_id": i, "filter": "none", "metrics": ["rougeL"], "rougeL": i / 8} for i in range(8)]
    out = folder_of(t, "repeats", {f"m/samples_{name}.jsonl": "\n".join(map(json.dumps, lines)) for name, lines in
                                   (("repeated", repeated), ("rouge", rouge))})
    t.check("lm_eval: repeats and graded scores", importing(t, db, "lm_eval", out), [
        ("m", "repeated", "none, exact_match", 6, 2, 0.333333, 0, None), ("m", "rouge", "none, rougeL", 8, None, 0.4375, 0, None)])
    t.check("lm_eval: repeats are attempts", t.rows(db, "SELECT item, attempt, correct FROM results WHERE task = 'repeated' ORDER BY 1, 2"),
            [(0, 1, 1), (0, 2, 0), (0, 3, 1), (1, 1, 0), (1, 2, 0), (1, 3, 0)])
    t.check("lm_eval: no rouge score is right or wrong, nor an error", t.rows(
        db, "SELECT count(*), count(correct), count(error), sum(score) FROM results WHERE task = 'rouge'"), [(8, 0, 0, 3.5)])


def essay_log(values, **fields):
    """A log of Inspect with one score a sample, as its value; None for a sample whose scores are null."""
    samples = [{"id": i + 1, "epoch": 1, "scores": None if v is None else {"rated": {"value": v}}} for i, v in enumerate(values)]
    return {"version": 2, "status": "success", "eval": {"model": "m", "task": "t", "created": "2025-01-01", "dataset": {"sample_ids": [1, 2, 3, 4]}},
            "samples": samples, **fields}


def inspect(t):
    db = t.path("inspect.db")
    t.shell(db, ".read sql/schema.sql")
    said = [("openai/a", "arith", "match", 8, 6, 0.75, 0, None), ("openai/a", "arith", "match", 8, 6, 0.75, 0, None),
            ("openai/b", "arith", "match", 8, 3, 0.375, 0, None), ("openai/a", "essay", "graded", 5, None, 0.55, 5, None),
            ("openai/a", "empty", None, 0, None, None, 0, "not imported: no samples in it"),
            (None, None, None, 0, None, None, 0, "not imported: not a log of Inspect")]
    t.check("inspect: imports", importing(t, db, "inspect", f"{FILES}/inspect"), said)
    arith = {"openai/a": "11 01 11 01", "openai/b": "10 00 10 01"}
    essay = [(None, 0.5, None), (None, 0.25, None), (None, 1.0, None), (None, 1.0, None), (None, 0.0, None), (None, None, "score is missing"),
             (None, None, 'score is not a number: {"style":1,"facts":0}'), (None, None, "score is not a number: A"),
             (None, 1.0, "RuntimeError('rate limit')"), (None, 1.0, "invalidated")]
    rows = [(m, "arith", item, epoch + 1, int(c), float(c), None) for m, came in arith.items()
            for item, pair in zip((1, 2, "four", "três"), came.split()) for epoch, c in enumerate(pair)]
    rows[8:8] = [("openai/a", "essay", i + 1, 1, *a) for i, a in enumerate(essay)]
    t.check("inspect: rows", t.rows(db, RESULTS), rows)
    t.check("inspect: the same again", importing(t, db, "inspect", f"{FILES}/inspect"), said)
    t.check("inspect: changes nothing", t.rows(db, RESULTS), rows)
    head = (ROOT / "sql/adapters/inspect.sql").read_text()
    errored = pasted(head, "score, or to count every errored sample as wrong:").splitlines()
    passed = pasted(head, "right or wrong instead, from 0.5 up:")
    for what, statement, settled in (("scores of errored samples", errored[0], {9: 1, 10: 1}), ("errored samples as wrong", errored[1], {9: 0, 10: 0}),
                                     ("partial credit passed", passed, {1: 1, 2: 0})):
        t.check(f"inspect: {what}", t.rows(db, "SELECT item, correct FROM results WHERE task = 'essay' AND item NOT IN (3, 4, 5) ORDER BY item",
                                           "BEGIN", statement), [(i, settled.get(i)) for i in (1, 2, 6, 7, 8, 9, 10)])
    essays = f"{FILES}/inspect/2025-03-02T09-00-00+00-00_essay_a.json"
    t.check("inspect: another scorer", importing(t, db, "inspect", essays, scorer="strict"), [("openai/a", "essay", "strict", 8, 4, 0.5, 2, None)])
    t.check("inspect: under another name", importing(t, db, "inspect", f"{FILES}/inspect/2025-03-01T10-00-00+00-00_arith_a.json", model="a, before", task="sums"),
            [("a, before", "sums", "match", 7, 5, 0.714286, 1, None)])
    t.check("inspect: an errored sample", t.rows(db, "SELECT item, attempt, correct, score, error FROM results WHERE model = 'a, before' AND correct IS NULL"),
            [("four", 1, None, None, "RuntimeError('rate limit')")])
    log = (ROOT / FILES / "inspect/2025-03-01T11-00-00+00-00_arith_b.json").read_text()
    folder = folder_of(t, "logs", {"cut.json": log[:2000], "crlf.json": log.replace("openai/b", "modèle").replace("\n", "\r\n"), "zipped.eval": "PK"})
    t.check("inspect: files as they come", importing(t, db, "inspect", folder), [
        ("modèle", "arith", "match", 8, 3, 0.375, 0, None), (None, None, None, 0, None, None, 0, "not imported: not JSON"),
        (None, None, None, 0, None, None, 0, "not imported: compressed with zstd or cut short, see inspect log convert")])
    refuses(t, "inspect: nothing there", "inspect", "sql", ["nothing found: no *.json or *.eval here"])
    t.check("inspect: needs the table", "no such table: results" in importing(t, t.path("bare.db"), "inspect", f"{FILES}/inspect"), True)
    leaves_settings(t, "inspect", f"{FILES}/inspect")

    # Ratings; a first sample whose scores are null; logs that did not end well.
    told = {"ratings": essay_log([1, 7, 10, 1]), "first": essay_log([None, "C", "I", "C"]), "stopped": essay_log(["C", "I"], status="cancelled"),
            "failed": essay_log(["C"], status="error", error={"message": "no quota"}), "running": essay_log(["I"], status="started")}
    folder = folder_of(t, "told", {f"{name}.json": {**log, "eval": {**log["eval"], "task": name}} for name, log in told.items()})
    t.check("inspect: what became of a log", importing(t, db, "inspect", folder), [
        ("m", "failed", "rated", 1, 1, 1.0, 0, "errored: 1 of 4 samples: no quota"), ("m", "first", "rated", 3, 2, 0.666667, 1, None),
        ("m", "ratings", "rated", 4, None, 4.75, 0, "scores from 1.0 to 10.0: import again with their range, lo and hi"),
        ("m", "running", "rated", 1, 0, 0.0, 0, "did not end: 1 of 4 samples"), ("m", "stopped", "rated", 2, 1, 0.5, 0, "cancelled: 2 of 4 samples")])
    t.check("inspect: scores of null are missing, the others are there", t.rows(
        db, "SELECT item, correct, error FROM results WHERE task = 'first' ORDER BY item"), [(1, None, "score is missing"), (2, 1, None), (3, 0, None), (4, 1, None)])
    ratings = "SELECT item, correct, score, score_lo, score_hi FROM results WHERE task = 'ratings' ORDER BY item"
    t.check("inspect: the lowest rating is not right", t.rows(db, ratings), [(1, None, 1.0, None, None), (2, None, 7.0, None, None), (3, None, 10.0, None, None), (4, None, 1.0, None, None)])
    t.check("inspect: a range declared", (importing(t, db, "inspect", folder / "ratings.json", lo=1, hi=10), t.rows(db, ratings)[0]),
            ([("m", "ratings", "rated", 4, None, 4.75, 0, None)], (1, None, 1.0, 1.0, 10.0)))
    (folder / "ratings.json").write_text(json.dumps(essay_log([1, 1, 1])))
    importing(t, db, "inspect", folder / "ratings.json", lo=1, hi=10, model="poor", task="ratings")
    t.check("inspect: nor where every rating is the lowest", t.rows(db, "SELECT DISTINCT correct, score, score_lo FROM results WHERE model = 'poor'"), [(None, 1.0, 1.0)])
    refuses(t, "inspect: a score outside its range", "inspect", folder / "ratings.json", ["sample 1 has score 1.0, outside the range from 2 to 10"], LO=2, HI=10)
    refuses(t, "inspect: half a range", "inspect", folder / "ratings.json", ["must be two numbers, the lower first, got 1 and nothing"], LO=1)
    refuses(t, "inspect: a range upside down", "inspect", folder / "ratings.json", ["must be two numbers, the lower first, got 10 and 1"], LO=10, HI=1)
    zipped(t)


def zipped(t):
    """A log as .eval: a zip of its header and samples, made by the sqlite3 shell's zipfile; one that SQLite cannot unpack."""
    log = json.loads((ROOT / FILES / "inspect/2025-03-01T11-00-00+00-00_arith_b.json").read_text())
    folder, db = pathlib.Path(t.path("evals")), t.path("zipped.db")
    folder.mkdir()
    samples = log.pop("samples")
    started = {key: log[key] for key in ("version", "eval")}
    members = {"_journal/start.json": started, **{f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}, "summaries.json": [], "header.json": log}
    texts = {name: json.dumps(value).replace("'", "''") for name, value in members.items()}
    whole = "".join(f"INSERT INTO z(name, data) VALUES ('{name}', '{text}');" for name, text in texts.items())
    broken = whole.replace("'samples/1_epoch_1.json', '{", "'samples/1_epoch_1.json', '")
    for name, statements in (("whole", whole), ("crashed", whole.replace("'header.json'", "'other.json'")), ("broken", broken)):
        t.shell(db, f"CREATE VIRTUAL TABLE temp.z USING zipfile('{folder}/{name}.eval'); {statements}")
    # The method of the first member becomes 93, zstd, in the directory at the end.
    bytes_ = (folder / "whole.eval").read_bytes()
    at = bytes_.rindex(b"PK\x01\x02") + 10
    (folder / "zstd.eval").write_bytes(bytes_[:at] + b"\x5d\x00" + bytes_[at + 2:])
    refuses(t, "inspect: a zipped sample that is not JSON", "inspect", folder / "broken.eval", ["samples/1_epoch_1.json has no id"])
    (folder / "broken.eval").unlink()
    t.shell(db, ".read sql/schema.sql")
    arith = ("openai/b", "arith", "match", 8, 3, 0.375, 0)
    t.check("inspect: zipped logs", importing(t, db, "inspect", folder), [
        (*arith, "did not end: 8 samples"), (*arith, None),
        ("openai/b", "arith", None, 0, None, None, 0, "not imported: compressed with zstd or cut short, see inspect log convert")])
    plain = t.path("plain.db")
    t.shell(plain, ".read sql/schema.sql")
    importing(t, plain, "inspect", f"{FILES}/inspect/2025-03-01T11-00-00+00-00_arith_b.json")
    t.check("inspect: zipped or not, the same rows", t.rows(db, RESULTS), t.rows(plain, RESULTS))


def table(t, name, text, newline="\n"):
    path = pathlib.Path(t.path(name))
    path.write_bytes(text.replace("\n", newline).encode() if isinstance(text, str) else text)
    return path


def csv(t):
    db = t.path("csv.db")
    plain = table(t, "plain.csv", "Model, TASK ,item,attempt,extra,correct\n" + "".join(
        f"m,t,{i},1,x,{word}\n" for i, word in enumerate(
            ["1", "0", "true", "FALSE", "Yes", "no", "C", "I", "pass", "Fail", "correct", "incorrect", "passed", "failed", "1.0", "0.0", "", "NA", "NaN", "null", "None"])))
    status, printed, errors = make(t, "csv", plain, db)
    t.check("csv: is imported, with a header and a summary", (status, errors, [word in printed for word in ("│ model │", "errored", "now there: answers 21, models 1, tasks 1")]),
            (0, "", [True] * 3))
    t.check("csv: words", t.rows(db, RESULTS), [("m", "t", i, 1, (i + 1) % 2, None, None) if i < 16 else ("m", "t", i, 1, None, None, "the answer is blank") for i in range(21)])

    # Fields in quotes, that hold separators, quotes and lines' ends; every end of a line.
    quoted = 'item,model,score,error\n"a, b","the ""best""",1,\n"two\nlines",  "c" ,0.25,\n"",x,1,\n'
    for newline in ("\n", "\r\n", "\r"):
        refuses(t, f"csv: a blank item after {newline!r}", "csv", table(t, "blank.csv", quoted, newline), ["line 5: item is blank"])
        file = table(t, "quoted.csv", "\ufeff" + quoted.replace('"",x,1,\n', '\n,,,\n"q""",x,,"no, quota"'), newline)
        db = t.path("quoted.db")
        t.check(f"csv: quotes, {newline!r}", make(t, "csv", file, db)[0], 0)
        t.check(f"csv: fields in quotes, {newline!r}", t.rows(db, RESULTS), [
            ("c", file.stem, "two\nlines", 1, None, 0.25, None), ('the "best"', file.stem, "a, b", 1, 1, 1.0, None), ("x", file.stem, 'q"', 1, None, None, "no, quota")])
    for mark in ";", "\t":
        db = t.path("mark.db")
        make(t, "csv", table(t, "mark.csv", f"model{mark}item{mark}score\nm{mark}1, 2{mark}0.5\n"), db)
        t.check(f"csv: fields between {mark!r}", t.rows(db, "SELECT model, item, score FROM results"), [("m", "1, 2", 0.5)])
    db = t.path("back.db")
    make(t, "csv", table(t, "back.csv", 'model,item,correct\na\\nb,"c\\",1\na\\nb,"d\\""e",0\n'), db)
    t.check("csv: backslashes are themselves", t.rows(db, "SELECT model, item, correct FROM results ORDER BY item"), [("a\\nb", "c\\", 1), ("a\\nb", 'd\\"e', 0)])

    # Python's writer of CSV is the judge of what a field is, whatever is in it.
    chance = random.Random(12)
    items = ["".join(chance.choice('ab,;"\n\t \'\\/éu001c🙂{[$%') for _ in range(chance.randrange(12))) + f"#{i}" for i in range(500)]
    for quoting in (writer.QUOTE_MINIMAL, writer.QUOTE_ALL, writer.QUOTE_NONNUMERIC):
        file, db = pathlib.Path(t.path("odd.csv")), t.path("odd.db")
        with open(file, "w", newline="") as out:
            writer.writer(out, quoting=quoting).writerows([["model", "item", "correct"], *(["m", item, i % 2] for i, item in enumerate(items))])
        make(t, "csv", file, db)
        t.check(f"csv: fields that Python wrote, {quoting}", sorted(t.rows(db, "SELECT item, correct FROM results")), sorted((item.strip(" "), i % 2) for i, item in enumerate(items)))

    # Verdict and score; numbers; the range; the same file again, and another after it.
    db = t.path("scores.db")
    scores = table(t, "it's.csv", "model,task,item,attempt,correct,score\nm,t,1,1,yes,0.7\nm,t,1,2,no,0.2\nm,u,007,1,1,1\n")
    for again in (1, 2):
        make(t, "csv", scores, db)
        t.check(f"csv: a verdict with its score, time {again}", t.rows(db, RESULTS), [
            ("m", "t", 1, 1, 1, 0.7, None), ("m", "t", 1, 2, 0, 0.2, None), ("m", "u", "007", 1, 1, 1.0, None)])
    make(t, "csv", table(t, "range.csv", "model,task,item,score\nm,r,1,1\nm,r,2,1e1\nm,r,3,+5\n"), db, LO="1", HI="10")
    t.check("csv: a range", t.rows(db, "SELECT item, correct, score, score_lo, score_hi FROM results WHERE task = 'r' ORDER BY item"),
            [(1, None, 1.0, 1.0, 10.0), (2, None, 10.0, 1.0, 10.0), (3, None, 5.0, 1.0, 10.0)])

    head = "model,task,item,attempt,correct,score\n"
    for what, text, reasons in (
            ("words that are none", head + "m,t,1,1,maybe,\nm,t,2,1,1,\nm,t,3,1,0.5,\nm,t,4,1,,good\nm,t,5,1,,1e999\n",
             ["line 2: correct must be 1 or 0", "got 'maybe'", "line 4: correct must be", "got 0.5; a number between belongs in a column score",
              "line 5: score must be a number, got 'good'", "line 6: score must be a number, got "]),
            ("blanks", head + ",t,1,1,1,\nm,t,,1,1,\nm,t,3,,1,\nm,t,3,1.5,1,\n",
             ["line 2: model is blank", "line 3: item is blank", "line 4: attempt must be a whole number, got ''", "line 5: attempt must be a whole number, got 1.5"]),
            ("repeated rows", "model,item,correct\nm,1,1\nm,2,1\n\nm,1,0\n", ["line 5: the same model, task, item and attempt as line 2"]),
            ("rows of another length", head + "m,t,1,1\nm,t,2,1,1,,\n", ["line 2 has 4 fields, and the first line 6", "line 3 has 7 fields"]),
            ("a quote that stays open", head + 'm,t,1,1,1,\nm,"t,2,1,1,\nm,t,3,1,1,\n', ["line 3: a quote is not closed"]),
            ("a quote inside a field", head + 'm,t,1,1,1,\nm,t,5" pipe or 6" pipe,1,1,\n', ["line 3: a quote within a field"]),
            ("text after a quote", head + 'm,"two\nlines",1,1,1,\nm,"t"x,2,1,1,\n', ["line 4: a quote within a field"]),
            ("no item", "model,question,correct\nm,1,1\n", ["there is no column item; there are: model, question, correct"]),
            ("no answer", "model,item\nm,1\n", ["there is no column correct or score"]),
            ("two of a name", "model,item,item,correct\nm,1,1,1\n", ["there are 2 columns item"]),
            ("a header alone", head, ["there are no answers in it"]),
            ("nothing at all", "", ["there is no column model; there are: none"]),
            ("UTF-16", head.encode("utf-16"), ["this is not text in UTF-8"]),
            ("many bad lines", head + "m,t,1,1,maybe,\n" * 30, ["line 21: correct", "and 39 more"])):
        refuses(t, f"csv: {what}", "csv", table(t, "bad.csv", text), reasons)
    leaves_settings(t, "csv", plain)


def command(t):
    """The command itself: names with anything in them, choices that are the command line's alone, and what it refuses."""
    folder = pathlib.Path(t.path("a $HOME `b` 'c' \"d\" 100%"))
    folder.mkdir()
    db = folder / "e's $(touch f).db"
    (folder / "-r.csv").write_text("model,item,correct\nm,1,1\n")
    environment = {**os.environ, "TASK": "the environment's", "MODEL": "the environment's"}
    for arguments, status, said in (
            ([f"FILE={folder}/-r.csv", f"DB={db}"], 0, "now there: answers 1"),
            (["FILE=/nowhere.csv", "DB=x.db"], 2, "import: there is no '/nowhere.csv' to import"),
            ([f"FILE={folder}/-r.csv", "DB="], 2, "import: DB must name a database, not ''"),
            ([f"FILE={folder}/-r.csv", f"DB={folder}"], 2, "import: DB must name a database"),
            ([f"FILE={folder}/-r.csv", f"DB={folder}/-r.csv"], 2, "import: FILE and DB are the same"),
            (["FROM=excel", f"FILE={folder}/-r.csv", "DB=x.db"], 2, "import: FROM must be csv, promptfoo,")):
        done = subprocess.run(["make", "-s", "import", "FROM=csv", *arguments], cwd=ROOT, text=True, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        t.check(f"make import {arguments}", (done.returncode, said in done.stdout), (status, True))
    t.check("make import: the task is the file's, not the environment's", t.rows(str(db), "SELECT model, task FROM results"), [("m", "-r")])
    t.check("make import: nothing was run from a name", sorted(path.name for path in folder.iterdir()), ["-r.csv", "e's $(touch f).db"])
    t.shell(str(db), "DROP TABLE results", "CREATE VIEW results AS SELECT 1 AS mine")
    refused = make(t, "csv", folder / "-r.csv", db)
    t.check("make import: a view named results is kept", (refused[0], "import: nothing was imported" in refused[2], t.number(str(db), "mine FROM results")), (1, True, 1))
    stops = t.path("stops.db")
    t.shell(stops, ".read sql/schema.sql", "CREATE TRIGGER stops BEFORE INSERT ON results WHEN new.item = 3 BEGIN SELECT RAISE(FAIL, 'the disk is full'); END")
    for tool, path in (("csv", table(t, "three.csv", "model,item,correct\n" + "".join(f"m,{i},1\n" for i in range(1, 6)))), ("lm_eval", f"{FILES}/lm_eval")):
        refused = make(t, tool, path, stops)
        t.check(f"make import {tool}: one that fails in the middle leaves nothing", (refused[0], "the disk is full" in refused[2], t.number(stops, "count(*) FROM results")), (1, True, 0))
    locked = t.path("locked.db")
    t.shell(locked, ".read sql/schema.sql")
    held = subprocess.Popen(["sqlite3", locked], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    held.stdin.write("BEGIN EXCLUSIVE; SELECT 'held';\n")
    held.stdin.flush()
    held.stdout.readline()
    refused = make(t, "csv", folder / "-r.csv", locked)
    held.communicate()
    t.check("make import: a database that another writes to", (refused[0], refused[1], "locked" in refused[2]), (1, "", True))


def swebench(t):
    run = {"schema_version": 2, "total_instances": 7, "completed_ids": ["django__django-11099", "django__django-2", "a-b__c-d-7"],
           "resolved_ids": ["django__django-11099"], "unresolved_ids": ["django__django-2", "a-b__c-d-7"], "empty_patch_ids": ["django__django-3"],
           "error_ids": ["a-b__c-d-8"], "incomplete_ids": ["a-b__c-d-9", "odd"], "infra_failure_ids": ["a-b__c-d-7"],
           "failure_reasons": {"a-b__c-d-7": "no space left"}}
    commit = "0123456789abcdef0123456789abcdef01234567"
    folder = folder_of(t, "swe", {
        "openai__gpt-5.run1.json": run, "predictions.json": [], "other.json": {"a": 1},
        "logs/run1/m__x/django__django-1/report.json": {"django__django-1": {"patch_is_None": False, "resolved": True}},
        "logs/run1/m__x/django__django-2/report.json": {"django__django-2": {"resolved": False}},
        "pro/claude/eval_results.json": {f"instance_own__repo-web-{commit}-vnan": True, f"instance_own__repo-{commit}": False, f"instance_own__repo-{commit}-v{commit}": True},
        "verified/agent/results/results.json": {"no_generation": ["django__django-2"], "no_logs": [], "resolved": ["django__django-1"]}})
    db = t.path("swe.db")
    t.shell(db, ".read sql/schema.sql")
    left, none = "2 instances without a prediction are left out", "not imported: not a report of SWE-bench"
    t.check("swebench: imports", importing(t, db, "swebench", folder), [
        ("m__x", "django/django", None, 2, 1, 0.5, 0, None), ("openai__gpt-5.run1", "2 tasks", None, 4, 1, 0.25, 1, left),
        (folder.name, None, None, 0, None, None, 0, none),
        (folder.name, None, None, 0, None, None, 0, none), ("claude", "2 tasks", None, 3, 2, 0.666667, 0, None),
        ("agent", None, None, 0, None, None, 0, "not imported: it lists what was resolved, not what was asked: name a file with the ids, items")])
    t.check("swebench: rows", t.rows(db, "SELECT task, item, attempt, correct, error FROM results WHERE model = 'openai__gpt-5.run1' ORDER BY item"), [
        ("a-b/c-d", "a-b__c-d-7", 1, None, "infrastructure: no space left"), ("a-b/c-d", "a-b__c-d-8", 1, 0, None), ("django/django", "django__django-11099", 1, 1, None),
        ("django/django", "django__django-2", 1, 0, None), ("django/django", "django__django-3", 1, 0, None)])
    t.check("swebench: repositories of Pro", t.rows(db, "SELECT task, count(*) FROM results WHERE model = 'claude' GROUP BY task ORDER BY task"), [("own/repo", 2), ("own/repo-web", 1)])
    ids = ["django__django-1", "django__django-2", "django__django-3", "a-b__c-d-7"]
    for form, text in (("lines", "\r\n".join(ids) + "\n"), ("JSON", json.dumps(ids))):
        t.shell(db, "DELETE FROM results")
        asked = table(t, "asked.txt", text)
        t.check(f"swebench: what was asked, as {form}", importing(t, db, "swebench", folder / "verified", items=asked), [("agent", "2 tasks", None, 4, 1, 0.25, 0, None)])
    t.check("swebench: by make, under another name", make(t, "swebench", folder / "verified", db, ITEMS=asked, MODEL="x", TASK="verified")[0], 0)
    t.check("swebench: rows by make", t.rows(db, "SELECT task, sum(correct), count(*) FROM results WHERE model = 'x' GROUP BY task"), [("verified", 1, 4)])
    refuses(t, "swebench: a list that is not there", "swebench", folder / "verified", ["there is no such file"], ITEMS="/nowhere")
    leaves_settings(t, "swebench", folder)


def tau_bench(t):
    def run(task, trial, reward, **info):
        return {"task_id": task, "trial": trial, "reward": reward, "info": {"task": {"actions": [{"name": "think"}, {"name": info.pop("action", "cancel_reservation")}]}, **info}, "traj": []}
    first = [run(0, 0, 1.0), run(0, 1, 0.0), run(1, 0, 1 - 1e-9), run(1, 1, 0.0, error="rate limit")]
    retail = [run(0, 0, 1.0, action="cancel_pending_order"), run(0, 1, 0.5, action="cancel_pending_order")]
    second = {"timestamp": "2026-01-01", "info": {"agent_info": {"llm": "gpt-5"}, "environment_info": {"domain_name": "telecom"}}, "tasks": [],
              "simulations": [{"task_id": f"[{i}]", "trial": j, "termination_reason": reason, "reward_info": reward and {"reward": float(reward)}}
                              for i, j, reason, reward in ((1, 0, "user_stop", "1"), (1, 1, "max_steps", "0"), (2, 0, "infrastructure_error", "0"), (2, 1, "user_stop", None))]}
    folder = folder_of(t, "tau", {"tool-calling-gpt-4o-0.0_range_0--1_user-gpt-4o-llm_1230.json": first, "sonnet-retail.json": retail, "two.json": second,
                                  "empty.json": [], "odd.json": [run(0, 0, 1.0, action="transfer")]})
    db = t.path("tau.db")
    t.shell(db, ".read sql/schema.sql")
    t.check("tau_bench: imports", importing(t, db, "tau_bench", folder), [
        ("empty", None, None, 0, None, None, 0, "not imported: no trajectories in it"), ("odd", None, None, 0, None, None, 0, "not imported: no domain is told, set the task"),
        ("sonnet-retail", "retail", None, 2, None, 0.75, 0, None), ("tool-calling-gpt-4o-0.0", "airline", None, 3, 2, 0.666667, 1, None),
        ("gpt-5", "telecom", None, 2, 1, 0.5, 2, None)])
    t.check("tau_bench: rows", t.rows(db, RESULTS), [
        ("gpt-5", "telecom", "[1]", 1, 1, 1.0, None), ("gpt-5", "telecom", "[1]", 2, 0, 0.0, None), ("gpt-5", "telecom", "[2]", 1, None, 0.0, "infrastructure_error"),
        ("gpt-5", "telecom", "[2]", 2, None, None, "score is missing"), ("sonnet-retail", "retail", 0, 1, None, 1.0, None), ("sonnet-retail", "retail", 0, 2, None, 0.5, None),
        *[("tool-calling-gpt-4o-0.0", "airline", i, j, *a) for i, j, *a in ((0, 1, 1, 1.0, None), (0, 2, 0, 0.0, None), (1, 1, 1, 1.0, None), (1, 2, None, 0.0, "rate limit"))]])
    head = (ROOT / "sql/adapters/tau_bench.sql").read_text()
    t.shell(db, pasted(head, "To count failed runs as wrong"))
    t.check("tau_bench: failed runs as wrong", t.rows(db, "SELECT model, sum(correct), count(correct), count(error) FROM results WHERE task <> 'retail' GROUP BY 1 ORDER BY 1"),
            [("gpt-5", 1, 3, 1), ("tool-calling-gpt-4o-0.0", 2, 4, 0)])
    refuses(t, "tau_bench: a run without its task", "tau_bench", folder_of(t, "bare", {"a.json": [*first, {"reward": 1}]}), ["run 5 has no task_id"])
    leaves_settings(t, "tau_bench", folder)


def helm(t):
    def instance(number, trial=0, perturbation=None, **means):
        stats = [{"name": {"name": name, "split": "test"}, "count": 1, "sum": mean, "mean": mean} for name, mean in means.items()]
        return {"instance_id": f"id{number}", "train_trial_index": trial, "stats": stats, **({"perturbation": perturbation} if perturbation else {})}
    spec = {"name": "mmlu:subject=anatomy,method=joint,model=openai_gpt-4,eval_split=test", "adapter_spec": {"model": "openai/gpt-4"}}
    folder = folder_of(t, "helm", {
        "suite/mmlu/per_instance_stats.json": [instance(1, num_references=4, quasi_exact_match=1.0, exact_match=0.0), instance(2, exact_match=1), instance(2, 1, exact_match=1),
                                               instance(3, num_references=4), instance(1, perturbation={"name": "typos"}, exact_match=0.0)],
        "suite/mmlu/run_spec.json": spec, "suite/mmlu/stats.json": [], "suite/lost/per_instance_stats.json": [instance(1, exact_match=1.0)],
        "suite/sum/per_instance_stats.json": [instance(1, rouge_l=0.25), instance(2, rouge_l=1.0)], "suite/sum/run_spec.json": {**spec, "name": "summarization:model=openai_gpt-4"},
        "suite/odd/per_instance_stats.json": [instance(1, elo=3.0, bytes=7)], "suite/odd/run_spec.json": {**spec, "name": "wild"}})
    db = t.path("helm.db")
    t.shell(db, ".read sql/schema.sql")
    mmlu, gpt = "mmlu:subject=anatomy,method=joint,eval_split=test", "openai/gpt-4"
    t.check("helm: imports", importing(t, db, "helm", folder), [
        (None, None, None, 0, None, None, 0, "not imported: no run_spec.json beside it that names the run and its model"),
        (gpt, mmlu, "exact_match", 3, 2, 0.666667, 1, "1 perturbed instances are left out"),
        (gpt, "wild", None, 0, None, None, 0, "not imported: set a metric, of bytes, elo"), (gpt, "summarization", "rouge_l", 2, None, 0.625, 0, None)])
    t.check("helm: rows", t.rows(db, RESULTS), [
        (gpt, mmlu, "id1", 1, 0, 0.0, None), (gpt, mmlu, "id2", 1, 1, 1.0, None), (gpt, mmlu, "id2", 2, 1, 1.0, None), (gpt, mmlu, "id3", 1, None, None, "score is missing"),
        (gpt, "summarization", "id1", 1, None, 0.25, None), (gpt, "summarization", "id2", 1, None, 1.0, None)])
    t.check("helm: another metric, by make", make(t, "helm", folder / "suite/mmlu", db, METRIC="quasi_exact_match", MODEL="m", TASK="t")[0], 0)
    t.check("helm: its rows", t.rows(db, "SELECT item, attempt, correct FROM results WHERE model = 'm' ORDER BY 1, 2"), [("id1", 1, 1), ("id2", 1, None), ("id2", 2, None), ("id3", 1, None)])
    refuses(t, "helm: an instance without its id", "helm", folder_of(t, "bare", {"a/per_instance_stats.json": [{"stats": [{"name": {"name": "f1_score"}, "mean": 1}]}],
                                                                             "a/run_spec.json": spec}), ["instance 1 has no instance_id"])
    leaves_settings(t, "helm", folder)


def all_or_nothing(t):
    """An import that cannot take every record takes none, by hand as by make, and says why in place of its summary;
    one that the database refuses says that and no more."""
    record = '{"doc_id": %s, "filter": "none", "metrics": ["acc"], "acc": 1}\n'
    no_id, no_filter = '{"filter": "none", "metrics": ["acc"], "acc": 1}\n', '{"doc_id": 4, "metrics": ["acc"], "acc": 1}\n'
    log = '{"eval": {"model": "m", "task": "t", "created": "2025-01-01"}, "status": "success", "samples": [%s]}'
    sample, no_epoch, bare = '{"id": %s, "epoch": 1}', '{"id": 7}', '{"epoch": 1}'
    for tool, files, listed in (
            ("lm_eval", {"samples_a.jsonl": record % 0 + record % 1 + no_id + no_id, "samples_b.jsonl": record % 0, "samples_c.jsonl": record % 1 + no_filter},
             ["a.jsonl|record 3 has no doc_id", "a.jsonl|record 4 has no doc_id", "c.jsonl|record 2 has no filter"]),
            ("inspect", {"a.json": log % ",".join((sample % 1, sample % 2, no_epoch, bare)), "b.json": log % (sample % 9), "c.json": log % f"5, {bare}"},
             ["a.json|sample 3 has no epoch", "a.json|sample 4 has no id", "c.json|sample 1 has no id", "c.json|sample 2 has no id"])):
        folder, db = folder_of(t, "mixed", files), t.path("mixed.db")
        t.shell(db, ".read sql/schema.sql", "INSERT INTO results(model, task, item, correct) VALUES ('kept', 't', 1, 1)")
        before = pathlib.Path(db).read_bytes()
        command = [f".parameter set @path \"'{folder}'\"", f".read sql/adapters/{tool}.sql"]
        for bail in ([], ["-bail"]):
            done = subprocess.run(["sqlite3", *bail, db, *command, "SELECT 'went on'"], cwd=ROOT, text=True, capture_output=True)
            lines = [line.removeprefix(f"{folder}/").removeprefix("samples_") for line in done.stdout.splitlines()]
            t.check(f"{tool} {bail}: lists what stopped it, and no more", lines, listed)
            t.check(f"{tool} {bail}: one error", (done.returncode, done.stderr.count("\n"), "nothing was imported" in done.stderr), (1, 1, True))
            t.check(f"{tool} {bail}: leaves the database as it was", pathlib.Path(db).read_bytes() == before, True)
        refuses(t, f"{tool}: by make", tool, folder, [line.split("|")[1] for line in listed])
        for name in ("samples_a.jsonl", "samples_c.jsonl", "a.json", "c.json"):
            (folder / name).unlink(missing_ok=True)
        done = subprocess.run(["sqlite3", "-readonly", db, *command], cwd=ROOT, text=True, capture_output=True)
        t.check(f"{tool}: a database that takes nothing", (done.returncode, done.stdout, done.stderr.count("\n"), "readonly" in done.stderr), (1, "", 1, True))
        done = subprocess.run(["sqlite3", "-bail", db, *command], cwd=ROOT, text=True, capture_output=True)
        t.check(f"{tool}: the rest is imported", (done.returncode, done.stdout.count("\n"), done.stderr), (0, 1, ""))
        t.check(f"{tool}: and is there", t.number(db, "count(*) FROM results"), 2)
        said = t.shell(db, ".parameter set @path \"'/nowhere'\"", command[1])
        t.check(f"{tool}: no such path, and no summary", (said.count("\n"), "cannot stat file: /nowhere" in said), (1, True))


def later(t):
    """Right or wrong is decided over all that a model answered of a task, whichever import brought it."""
    db = t.path("later.db")
    t.shell(db, ".read sql/schema.sql", "INSERT INTO results(model, task, item, correct) VALUES ('m', 't', 'own', 1)")
    text = "model,task,item,score\nm,t,1,1\nm,t,2,0\nn,t,1,1\n"
    rows = "SELECT model, item, correct, score FROM results ORDER BY model, item"
    for what, file, expected in (
            ("0 and 1", text, [("m", 1, 1, 1.0), ("m", 2, 0, 0.0), ("m", "own", 1, None), ("n", 1, 1, 1.0)]),
            ("0.5 comes", "model,task,item,score\nm,t,3,0.5\n", [("m", 1, None, 1.0), ("m", 2, None, 0.0), ("m", 3, None, 0.5), ("m", "own", 1, None), ("n", 1, 1, 1.0)]),
            ("and goes", "model,task,item,score\nm,t,3,1\n", [("m", 1, 1, 1.0), ("m", 2, 0, 0.0), ("m", 3, 1, 1.0), ("m", "own", 1, None), ("n", 1, 1, 1.0)])):
        path = t.path("scores.csv")
        pathlib.Path(path).write_text(file)
        t.check(f"later: {what} is imported", make(t, "csv", path, db)[0], 0)
        t.check(f"later: {what}", t.rows(db, rows), expected)


def main():
    t = Suite(sys.argv[1].rsplit(".", 1)[0])
    promptfoo(t)
    phoenix(t)
    lm_eval(t)
    inspect(t)
    csv(t)
    later(t)
    command(t)
    swebench(t)
    tau_bench(t)
    helm(t)
    all_or_nothing(t)
    t.end()


if __name__ == "__main__":
    main()
