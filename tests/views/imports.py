#!/usr/bin/python3
"""From eval tools' storage to rows of results: sql/adapters in the real sqlite3 shell.

    imports.py EXTENSION

Each adapter runs on a small database or on files of its tool's shape, kept in
tests/views/adapters or written here; expected rows and counts were read off those by
eye.  What the board makes of such rows is tested in adapters.py.
"""
import json
import pathlib
import subprocess
import sys

from adapters import ROOT, Suite, over
from importing import COUNTS, FILES, FITS, RESULTS, UNIQUE, folder_of, importing, leaves_settings, make, pasted, refuses


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
    status, printed, errors = make(tool, source, db)
    t.check(f"{tool}: is imported, tables of yours or not", (status, errors, "now there: answers" in printed), (0, "", True))
    t.check(f"{tool}: its database is as it was", pathlib.Path(source).read_bytes() == before, True)
    t.check(f"{tool}: what was skipped is told", [line for line in skipped if line not in printed], [])
    t.check(f"{tool}: make import gives what the views show", t.rows(db, RESULTS), t.rows(source, RESULTS, f".read sql/adapters/{tool}.sql"))
    rows = t.rows(db, RESULTS)
    make(tool, source, db)
    t.check(f"{tool}: again changes nothing", t.rows(db, RESULTS), rows)
    refuses(t, f"{tool}: what is no database of it", tool, db, ["cannot be read as a database of"])


def promptfoo_database(t):
    """A database of promptfoo's shape with the adapter's views."""
    db = t.path("promptfoo.db")
    t.check("promptfoo: says nothing", t.shell(db, f".read {FILES}/promptfoo.sql", ".read sql/adapters/promptfoo.sql"), "")
    return db


# Further evals and results of them.
EVAL = "INSERT INTO evals(id, created_at, results, config, runtime_options) VALUES ('{0}', {1}, '{{}}', '{2}', {3});"
ANSWER = ("INSERT INTO eval_results(eval_id, prompt_idx, test_idx, test_case, prompt, provider, success, score, failure_reason, error) "
          "VALUES ('{}', {}, {}, '{}', json_object('raw', '{}', 'label', '{}'), '{}', {}, 0.5, {}, {});")
TEST = '{{"vars":{{"q":"{}"}}}}'


def promptfoo(t):
    db = promptfoo_database(t)
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
    names = sorted(came)
    over(t, "promptfoo", db,
         [(f"{big} / reasoned", 12, 11, 0), (f"{big} / short", 11, 7, 1), (f"{mini} / reasoned", 12, 5, 0), (f"{mini} / short", 11, 4, 1)],
         [(a, b, 6, None, None, None, None, None) for i, a in enumerate(names) for b in names[i + 1:]])
    head = (ROOT / "sql/adapters/promptfoo.sql").read_text()
    t.shell(db, pasted(head, "To count errored runs as wrong:"))
    t.check("promptfoo: errored runs as wrong", t.rows(db, "SELECT model, count(correct), sum(correct), sum(score) FROM results GROUP BY model"), [
        (f"{mini} / reasoned", 12, 5, 5), (f"{mini} / short", 12, 4, 4), (f"{big} / reasoned", 12, 11, 11), (f"{big} / short", 12, 7, 7)])


def promptfoo_names(t):
    """Models and tests that have to be told apart."""
    db = promptfoo_database(t)
    # Later evals: one prompt and twin providers; prompts that share their first 60
    # characters; tests without variables, which only their prompts tell apart; and
    # the twins' tests in another eval, at other places.
    long = "You are a careful assistant.\nAnswer in one word, with no more punctuation than "
    twins = ["openai:o3", "openai:o3", "openai:o4"]
    t.shell(db, EVAL.format("twins", 1746090000001, "{}", "NULL"), EVAL.format("long", 1746090000002, "{}", "NULL"),
            EVAL.format("bare", 1746090000003, '{"evaluateOptions":{"repeat":2}}', "NULL"), EVAL.format("again", 1746090000000, "{}", "NULL"),
            *[ANSWER.format("again", 5, i + 3, TEST.format(i), "Say", "Say", '{"id":"openai:o4"}', 1, 0, "NULL") for i in range(2)],
            *[ANSWER.format("twins", c, i, TEST.format(i), "Say", "Say", json.dumps({"id": p}), (c + i) % 2, 0, "NULL")
              for c, p in enumerate(twins) for i in range(2)],
            *[ANSWER.format("long", c, 0, TEST.format(0), "x", label, '{"id":"echo"}', 1, 0, "NULL")
              for c, label in enumerate([long + "needed", long + "usual", "short"])],
            *[ANSWER.format("bare", 0, i, '{"assert":[]}', f"question {i // 2}", "p", '{"id":"echo","label":"E"}', 0, 2, "NULL") for i in range(4)])
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


def promptfoo_repeats(t):
    """What makes equal tests attempts at one question."""
    db = promptfoo_database(t)
    # Equal tests are questions of their own where nothing was repeated, whatever the
    # column of the command line's options holds; and each three where the eval was.
    equal = {"once": "NULL", "one": "'{\"repeat\":1}'", "none": "'{}'", "thrice": "'{\"repeat\":3,\"cache\":true}'", "uneven": "'{\"repeat\":4}'"}
    t.shell(db, *[EVAL.format(name, 1746090000009, "{}", options) for name, options in equal.items()],
            *[ANSWER.format(name, 0, i, TEST.format("same"), "Say", "Say", '{"id":"e"}', i % 2, 0, "NULL") for name in equal for i in range(6)])
    apart, thrice = [(i, 1) for i in range(6)], [(3 * (i // 3), i % 3 + 1) for i in range(6)]
    for name, expected in (("once", apart), ("one", apart), ("none", apart), ("thrice", thrice), ("uneven", [(4 * (i // 4), i % 4 + 1) for i in range(6)])):
        t.check(f"promptfoo: equal tests, {name}", t.rows(db, f"SELECT item, attempt FROM results WHERE task = '{name}' ORDER BY test_idx"), expected)
    t.shell(db, "UPDATE evals SET config = '{\"evaluateOptions\":{\"repeat\":6}}' WHERE id IN ('one', 'once')")
    t.check("promptfoo: the command line goes before the config", t.rows(
        db, "SELECT task, count(DISTINCT item) FROM results WHERE task IN ('one', 'once') GROUP BY 1 ORDER BY 1"), [("once", 1), ("one", 6)])
    t.shell(db, "ALTER TABLE evals DROP COLUMN runtime_options")
    t.check("promptfoo: a database without the column", t.rows(
        db, "SELECT task, count(DISTINCT item) FROM results WHERE task IN ('one', 'thrice') GROUP BY 1 ORDER BY 1"),
        [("one", 1), ("thrice", 6)])


def promptfoo_runs(t):
    """Runs of one description: the latest with answers is what results shows."""
    db = promptfoo_database(t)
    t.shell(db, "INSERT INTO evals(id, created_at, description, results, config) VALUES ('first', 5, 'daily', '{}', '{}'), "
                "('second', 9, 'daily', '{}', '{}'), ('stopped', 11, 'daily', '{}', '{}')",
            *[ANSWER.format(run, 0, i, TEST.format(i), "Say", "Say", '{"id":"e"}', run == "second", 0, "NULL") for run in ("first", "second") for i in range(2)])
    t.check("promptfoo: the latest run of a description", t.rows(
        db, "SELECT eval_id, item, correct FROM results WHERE task = 'daily' ORDER BY item"), [("second", 0, 1), ("second", 1, 1)])
    t.check("promptfoo: all runs beside it", t.rows(
        db, "SELECT task, sum(correct), count(*) FROM promptfoo_results WHERE task IN ('first', 'second') GROUP BY 1 ORDER BY 1"),
        [("first", 0, 2), ("second", 2, 2)])
    t.check("promptfoo: what is skipped", t.rows(db, "SELECT what, note FROM promptfoo_skipped"),
            [("first", "not imported: there is a later run of daily")])
    head = (ROOT / "sql/adapters/promptfoo.sql").read_text()
    t.shell(db, pasted(head, "To see all runs, each a task of its own:"))
    t.check("promptfoo: all runs", t.number(db, "count(DISTINCT task) FROM results"), 3)
    copied(t, "promptfoo", ["openai:gpt-4.1 / reasoned", "capitals"])
    views(t, "promptfoo", "openai:gpt-4.1 / reasoned")


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
    t.shell(db, "DELETE FROM experiment_run_annotations WHERE name = 'by hand'", "INSERT INTO experiment_run_annotations(experiment_run_id, name, annotator_kind, score, "
                "metadata, start_time, end_time) SELECT id, 'a few', 'LLM', 0.5, '{}', '', '' FROM experiment_runs WHERE experiment_id = 1 LIMIT 2")
    t.check("phoenix: where nothing is right or wrong, the most scores", t.rows(db, "SELECT DISTINCT annotation FROM results WHERE task = 'support'"), [("a tone",)])
    t.shell(db, "DROP INDEX IF EXISTS ix_experiments_ephemeral_updated_at", "ALTER TABLE experiments DROP COLUMN is_ephemeral")
    t.check("phoenix: a database without the column", t.rows(db, RESULTS.replace("ORDER", "WHERE task = 'sql' ORDER")), rows[16:])
    t.shell(db, "DELETE FROM experiment_run_annotations WHERE name = 'runs'")
    t.check("phoenix: nothing annotated", t.rows(db, "SELECT DISTINCT correct, error FROM results WHERE task = 'sql'"), [(None, "score is missing")])
    t.check("phoenix: rows are unique", t.number(db, f"({UNIQUE})"), 0)
    t.check("phoenix: fits the canonical table", t.rows(db, "SELECT count(*) FROM results", *FITS), [(22,)])
    copied(t, "phoenix", ["support, a tone", "not imported: judged by correctness instead"])
    views(t, "phoenix", "new prompt")


def lm_eval_said():
    """The summary of the files of tests/views/adapters/lm_eval."""
    exact = "strict-match, exact_match"
    return [("org__large", "arc_easy", None, 0, None, None, 0, "not imported: there is a later run"),
            ("org__large", "arc_easy", "none, acc", 5, 4, 0.8, 0, None), ("org__large", "gsm8k", exact, 8, 6, 0.75, 0, None),
            ("org/small", "arc_easy", "none, acc", 5, 3, 0.6, 0, None), ("org/small", "gsm8k", exact, 8, 3, 0.375, 0, None),
            ("org/small", "squad", "none, f1", 3, None, 0.5, 2, None)]


def lm_eval(t):
    db = t.path("lm_eval.db")
    t.shell(db, ".read sql/schema.sql")
    said = lm_eval_said()
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


def lm_eval_choices(t):
    """Another filter, metric, model and task."""
    said, flexible = lm_eval_said(), "flexible-extract, exact_match"
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
            [("small 2", "maths", "strict-match, exact_match", 8, 3, 0.375, 0, None)])
    leaves_settings(t, "lm_eval", f"{FILES}/lm_eval")


def lm_eval_files(t):
    """Files as they come, and what is no samples file."""
    db = t.path("lm_eval.db")
    t.shell(db, ".read sql/schema.sql")
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
    t.check("lm_eval: needs the table", "no such table: results" in importing(t, t.path("bare.db"), "lm_eval", f"{FILES}/lm_eval"), True)
    refuses(t, "lm_eval: nothing there", "lm_eval", "sql", ["nothing found: no samples_*.jsonl here"])


def lm_eval_repeats(t):
    """Repeats, as 0.5 writes them; eight rouge scores, none of which is 1."""
    db = t.path("lm_eval.db")
    t.shell(db, ".read sql/schema.sql")
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


def inspect_files(t):
    """Other scorers and names; files as they come."""
    db = t.path("inspect.db")
    t.shell(db, ".read sql/schema.sql")
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
        (None, None, None, 0, None, None, 0, f"not imported: compressed with zstd, or cut short; inspect log convert {folder}/zipped.eval --to json --output-dir logs_json")])
    refuses(t, "inspect: nothing there", "inspect", "sql", ["nothing found: no *.json or *.eval here"])
    t.check("inspect: needs the table", "no such table: results" in importing(t, t.path("bare.db"), "inspect", f"{FILES}/inspect"), True)
    leaves_settings(t, "inspect", f"{FILES}/inspect")


def inspect_ends(t):
    """Ratings; a first sample whose scores are null; logs that did not end well."""
    db = t.path("inspect.db")
    t.shell(db, ".read sql/schema.sql")
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
    odd = essay_log(["C", "I"])
    odd["samples"][0]["scores"] = "none"
    (folder / "ratings.json").write_text(json.dumps(odd))
    t.check("inspect: scores that are no object", importing(t, db, "inspect", folder / "ratings.json", task="odd"), [("m", "odd", "rated", 1, 0, 0.0, 1, None)])
    (folder / "ratings.json").write_text(json.dumps(essay_log([1, 1, 1])))
    importing(t, db, "inspect", folder / "ratings.json", lo=1, hi=10, model="poor", task="ratings")
    t.check("inspect: nor where every rating is the lowest", t.rows(db, "SELECT DISTINCT correct, score, score_lo FROM results WHERE model = 'poor'"), [(None, 1.0, 1.0)])
    refuses(t, "inspect: a score outside its range", "inspect", folder / "ratings.json", ["sample 1 has score 1.0, outside the range from 2 to 10"], LO=2, HI=10)
    refuses(t, "inspect: half a range", "inspect", folder / "ratings.json", ["must be two numbers, the lower first, got 1 and nothing"], LO=1)
    refuses(t, "inspect: a range upside down", "inspect", folder / "ratings.json", ["must be two numbers, the lower first, got 10 and 1"], LO=10, HI=1)


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
        ("openai/b", "arith", None, 0, None, None, 0, f"not imported: compressed with zstd, or cut short; inspect log convert {folder}/zstd.eval --to json --output-dir logs_json")])
    plain = t.path("plain.db")
    t.shell(plain, ".read sql/schema.sql")
    importing(t, plain, "inspect", f"{FILES}/inspect/2025-03-01T11-00-00+00-00_arith_b.json")
    t.check("inspect: zipped or not, the same rows", t.rows(db, RESULTS), t.rows(plain, RESULTS))


def through(t):
    """What the board shows of each tool's small database or files: answers known, right ones, errored, their mean, and how."""
    for tool, board in (
            ("phoenix", [("new prompt", 6, 6, 2, 1.0, "clustered by item"), ("nightly #3", 2, None, 1, 0.9, "mean"),
                         ("nightly #4", 3, None, 0, 0.333333, "mean"), ("baseline", 7, 2, 1, 0.285714, "clustered by item")]),
            ("lm_eval", [("org__large", 13, 10, 0, 0.769231, "bayes"), ("org/small", 16, None, 2, 0.46875, "mean")]),
            ("inspect", [("openai/a", 13, None, 5, 0.673077, "mean, clustered by item"), ("openai/b", 8, 3, 0, 0.375, "clustered by item")])):
        source, db = f"{FILES}/{tool}", t.path("through.db")
        if tool == "phoenix":
            source = t.path("phoenix.db")
            t.shell(source, f".read {FILES}/phoenix.sql")
        make(tool, source, db)
        t.check(f"{tool}: on the board", t.rows(
            db, "SELECT model, n, correct, errored, round(accuracy, 6) AS mean, method FROM eval_leaderboard"), board)


def main():
    t = Suite(sys.argv[1].rsplit(".", 1)[0])
    promptfoo(t)
    promptfoo_names(t)
    promptfoo_repeats(t)
    promptfoo_runs(t)
    phoenix(t)
    lm_eval(t)
    lm_eval_choices(t)
    lm_eval_files(t)
    lm_eval_repeats(t)
    inspect(t)
    inspect_files(t)
    inspect_ends(t)
    zipped(t)
    through(t)
    t.end()


if __name__ == "__main__":
    main()
