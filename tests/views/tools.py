#!/usr/bin/python3
"""Tests the views of sql/adapters over other tools' databases in the real sqlite3 shell.

    tools.py EXTENSION

Each runs on a small database of its tool's form, kept in tests/views/adapters; expected rows and counts were written down
by hand.  adapters.py tests the board over such rows, and tests/import tests imports.
"""
import json
import sys

from adapters import ROOT, Suite, over

FILES = "tests/views/adapters"
RESULTS = "SELECT model, task, item, attempt, correct, score, error FROM results ORDER BY model, task, item, attempt"
# For each model and task: known answers, right ones, the sum of scores, and unknown answers.
COUNTS = ("SELECT model, task, count(*) FILTER (WHERE error IS NULL), sum(correct), round(sum(score), 6), count(error) "
          "FROM results GROUP BY model, task ORDER BY model, task")
UNIQUE = "SELECT count(*) - count(DISTINCT json_array(model, task, item, attempt)) FROM results"
# The table of schema.sql must accept every row of a view.
FITS = ("CREATE TEMP TABLE seen AS SELECT * FROM results; DROP VIEW IF EXISTS results;",
        ".read sql/schema.sql",
        "INSERT INTO results(model, task, item, attempt, correct, score, error) "
        "SELECT model, task, item, attempt, correct, score, error FROM temp.seen;")


def pasted(text, after):
    """The statements in the head of a file under a heading, as a user would paste them."""
    lines = text[text.index(after):].splitlines()[2:]
    return "\n".join(line[5:] for line in lines[:next(i for i, line in enumerate(lines) if not line.startswith("--   "))])


def own_table(t, tool):
    """A table of the user's own is not dropped."""
    db = t.path("own.db")
    said = t.shell(db, "CREATE TABLE results(mine)", "INSERT INTO results VALUES (1)", f".read sql/adapters/{tool}.sql")
    t.check(f"{tool}: a table named results is kept", ("use DROP TABLE to delete table results" in said,
                                                      t.number(db, "mine FROM results")), (True, 1))


def promptfoo_database(t):
    """A database in promptfoo's form with the adapter's views."""
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
    names = [f"{model} / {prompt}" for model in (big, mini) for prompt in ("reasoned", "short")]  # by the leaderboard
    over(t, "promptfoo", db,
         [(f"{big} / reasoned", 12, 11, 0), (f"{big} / short", 11, 7, 1), (f"{mini} / reasoned", 12, 5, 0), (f"{mini} / short", 11, 4, 1)],
         [(a, b, 6, None, None, None, None, None) for i, a in enumerate(names) for b in names[i + 1:]])
    head = (ROOT / "sql/adapters/promptfoo.sql").read_text()
    t.shell(db, pasted(head, "To count errored runs as wrong:"))
    t.check("promptfoo: errored runs as wrong", t.rows(db, "SELECT model, count(correct), sum(correct), sum(score) FROM results GROUP BY model"), [
        (f"{mini} / reasoned", 12, 5, 5), (f"{mini} / short", 12, 4, 4), (f"{big} / reasoned", 12, 11, 11), (f"{big} / short", 12, 7, 7)])


def promptfoo_names(t):
    """Models and tests that must be kept apart."""
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
    """When equal tests are attempts at one question."""
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
    """Of several runs with one description, results shows the latest that has answers."""
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
    t.shell(db, pasted(head, "To see all runs, each as a task of its own:"))
    t.check("promptfoo: all runs", t.number(db, "count(DISTINCT task) FROM results"), 3)


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


def main():
    t = Suite(sys.argv[1].rsplit(".", 1)[0])
    promptfoo(t)
    promptfoo_names(t)
    promptfoo_repeats(t)
    promptfoo_runs(t)
    phoenix(t)
    own_table(t, "promptfoo")
    own_table(t, "phoenix")
    t.end()


if __name__ == "__main__":
    main()
