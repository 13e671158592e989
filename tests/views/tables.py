#!/usr/bin/python3
"""From tables and benchmarks' files to rows of results: make import, and sql/adapters in the real sqlite3 shell.

    tables.py EXTENSION

Files are written here in the shape that their tool gives them; expected rows were read
off them by eye.
"""
import csv as writer
import json
import os
import pathlib
import random
import subprocess
import sys

from adapters import ROOT, SQLITE, Suite
from importing import FILES, RESULTS, folder_of, importing, leaves_settings, make, pasted, refuses, table


def csv(t):
    db = t.path("csv.db")
    plain = table(t, "plain.csv", "Model, TASK ,item,attempt,extra,correct\n" + "".join(
        f"m,t,{i},1,x,{word}\n" for i, word in enumerate(
            ["1", "0", "true", "FALSE", "Yes", "no", "C", "I", "pass", "Fail", "correct", "incorrect", "passed", "failed", "1.0", "0.0", "", "NA", "NaN", "null", "None"])))
    status, printed, errors = make("csv", plain, db)
    t.check("csv: is imported, with a header and a summary", (status, errors, [word in printed for word in ("│ model │", "errored", "now there: answers 21, models 1, tasks 1")]),
            (0, "", [True] * 3))
    t.check("csv: words", t.rows(db, RESULTS), [("m", "t", i, 1, (i + 1) % 2, None, None) if i < 16 else ("m", "t", i, 1, None, None, "the answer is blank") for i in range(21)])
    leaves_settings(t, "csv", plain)


def csv_fields(t):
    """Fields in quotes, that hold separators, quotes and lines' ends; every end of a line."""
    quoted = 'item,model,score,error\n"a, b","the ""best""",1,\n"two\nlines",  "c" ,0.25,\n"",x,1,\n'
    for newline in ("\n", "\r\n", "\r"):
        refuses(t, f"csv: a blank item after {newline!r}", "csv", table(t, "blank.csv", quoted, newline), ["line 5: item is blank"])
        file = table(t, "quoted.csv", "\ufeff" + quoted.replace('"",x,1,\n', '\n,,,\n"q""",x,,"no, quota"'), newline)
        db = t.path("quoted.db")
        t.check(f"csv: quotes, {newline!r}", make("csv", file, db)[0], 0)
        t.check(f"csv: fields in quotes, {newline!r}", t.rows(db, RESULTS), [
            ("c", file.stem, "two\nlines", 1, None, 0.25, None), ('the "best"', file.stem, "a, b", 1, 1, 1.0, None), ("x", file.stem, 'q"', 1, None, None, "no, quota")])
    for mark in ";", "\t":
        db = t.path("mark.db")
        make("csv", table(t, "mark.csv", f"model{mark}item{mark}score\nm{mark}1, 2{mark}0.5\n"), db)
        t.check(f"csv: fields between {mark!r}", t.rows(db, "SELECT model, item, score FROM results"), [("m", "1, 2", 0.5)])
    db = t.path("back.db")
    make("csv", table(t, "back.csv", 'model,item,correct\na\\nb,"c\\",1\na\\nb,"d\\""e",0\n'), db)
    t.check("csv: backslashes are themselves", t.rows(db, "SELECT model, item, correct FROM results ORDER BY item"), [("a\\nb", "c\\", 1), ("a\\nb", 'd\\"e', 0)])

    # Python's writer of CSV is the judge of what a field is, whatever is in it.
    chance = random.Random(12)
    items = ["".join(chance.choice('ab,;"\n\t \'\\/éu001c🙂{[$%') for _ in range(chance.randrange(12))) + f"#{i}" for i in range(500)]
    for quoting in (writer.QUOTE_MINIMAL, writer.QUOTE_ALL, writer.QUOTE_NONNUMERIC):
        file, db = pathlib.Path(t.path("odd.csv")), t.path("odd.db")
        with open(file, "w", newline="") as out:
            writer.writer(out, quoting=quoting).writerows([["model", "item", "correct"], *(["m", item, i % 2] for i, item in enumerate(items))])
        make("csv", file, db)
        t.check(f"csv: fields that Python wrote, {quoting}", sorted(t.rows(db, "SELECT item, correct FROM results")), sorted((item.strip(" "), i % 2) for i, item in enumerate(items)))


def csv_scores(t):
    """Verdict and score; numbers; the range; the same file again, and another after it."""
    db = t.path("scores.db")
    scores = table(t, "it's.csv", "model,task,item,attempt,correct,score\nm,t,1,1,yes,0.7\nm,t,1,2,no,0.2\nm,u,007,1,1,1\n")
    for again in (1, 2):
        make("csv", scores, db)
        t.check(f"csv: a verdict with its score, time {again}", t.rows(db, RESULTS), [
            ("m", "t", 1, 1, 1, 0.7, None), ("m", "t", 1, 2, 0, 0.2, None), ("m", "u", "007", 1, 1, 1.0, None)])
    make("csv", table(t, "alone.csv", "item,correct\n1,yes\n"), db, MODEL="named", TASK="told")
    t.check("csv: a model and a task that have no column", t.rows(db, RESULTS.replace("ORDER", "WHERE model = 'named' ORDER")), [("named", "told", 1, 1, 1, None, None)])
    make("csv", scores, db, MODEL="named", TASK="told")
    t.check("csv: columns go before them", t.number(db, "count(*) FROM results WHERE model = 'named' OR task = 'told'"), 1)
    make("csv", table(t, "range.csv", "model,task,item,score\nm,r,1,1\nm,r,2,1e1\nm,r,3,+5\n"), db, LO="1", HI="10")
    t.check("csv: a range", t.rows(db, "SELECT item, correct, score, score_lo, score_hi FROM results WHERE task = 'r' ORDER BY item"),
            [(1, None, 1.0, 1.0, 10.0), (2, None, 10.0, 1.0, 10.0), (3, None, 5.0, 1.0, 10.0)])


def csv_refused(t):
    """What cannot be read is told with its line, and nothing is imported."""
    head = "model,task,item,attempt,correct,score\n"
    for what, text, reasons in (
            ("words that are none", head + "m,t,1,1,maybe,\nm,t,2,1,1,\nm,t,3,1,0.5,\nm,t,4,1,,good\nm,t,5,1,,1e999\n",
             ["line 2: correct must be 1 or 0", "got 'maybe'", "line 4: correct must be", "got 0.5; a number between belongs in a column score",
              "line 5: score must be a number, got 'good'", "line 6: score must be a number, got "]),
            ("records of two lines", head + 'm,"t\nu",1,1,maybe,\nm,t,2,1,maybe,\n', ["line 2: correct must be", "line 4: correct must be"]),
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
        t.check(f"later: {what} is imported", make("csv", path, db)[0], 0)
        t.check(f"later: {what}", t.rows(db, rows), expected)


def command(t):
    """The command itself: names with anything in them, choices that are the command line's alone, and what it refuses."""
    folder = pathlib.Path(t.path("a $HOME `b` 'c' \"d\" 100% \\n\\\\e"))
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
    homely = {**os.environ, "HOME": str(folder)}
    done = subprocess.run(["sql/import.sh", "csv", "~/-r.csv", "~/home.db"], cwd=ROOT, text=True, env=homely, capture_output=True)
    t.check("make import: a ~ that no shell has expanded", (done.returncode, (folder / "home.db").exists()), (0, True))
    (folder / "home.db").unlink()
    t.check("make import: the task is the file's, not the environment's", t.rows(str(db), "SELECT model, task FROM results"), [("m", "-r")])
    t.check("make import: nothing was run from a name", sorted(path.name for path in folder.iterdir()), ["-r.csv", "e's $(touch f).db"])
    unheard = t.path("unheard.db")
    subprocess.run(["sh", "-c", 'sql/import.sh csv "$1" "$2" >&-', "sh", str(folder / "-r.csv"), unheard], cwd=ROOT, capture_output=True)
    t.check("make import: what nobody hears of is imported all the same", t.number(unheard, "count(*) FROM results"), 1)
    t.shell(str(db), "DROP TABLE results", "CREATE VIEW results AS SELECT 1 AS mine")
    refused = make("csv", folder / "-r.csv", db)
    t.check("make import: a view named results is kept", (refused[0], "import: nothing was imported" in refused[2], t.number(str(db), "mine FROM results")), (1, True, 1))
    stops = t.path("stops.db")
    t.shell(stops, ".read sql/schema.sql", "CREATE TRIGGER stops BEFORE INSERT ON results WHEN new.item = 3 BEGIN SELECT RAISE(FAIL, 'the disk is full'); END")
    for tool, path in (("csv", table(t, "three.csv", "model,item,correct\n" + "".join(f"m,{i},1\n" for i in range(1, 6)))), ("lm_eval", f"{FILES}/lm_eval")):
        refused = make(tool, path, stops)
        t.check(f"make import {tool}: one that fails in the middle leaves nothing", (refused[0], "the disk is full" in refused[2], t.number(stops, "count(*) FROM results")), (1, True, 0))
    locked = t.path("locked.db")
    t.shell(locked, ".read sql/schema.sql")
    held = subprocess.Popen([*SQLITE, locked], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    held.stdin.write("BEGIN EXCLUSIVE; SELECT 'held';\n")
    held.stdin.flush()
    held.stdout.readline()
    refused = make("csv", folder / "-r.csv", locked)
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
    t.check("swebench: by make, under another name", make("swebench", folder / "verified", db, ITEMS=asked, MODEL="x", TASK="verified")[0], 0)
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
    t.check("helm: another metric, by make", make("helm", folder / "suite/mmlu", db, METRIC="quasi_exact_match", MODEL="m", TASK="t")[0], 0)
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
            done = subprocess.run([*SQLITE, *bail, db, *command, "SELECT 'went on'"], cwd=ROOT, text=True, capture_output=True)
            lines = [line.removeprefix(f"{folder}/").removeprefix("samples_") for line in done.stdout.splitlines()]
            t.check(f"{tool} {bail}: lists what stopped it, and no more", lines, listed)
            t.check(f"{tool} {bail}: one error", (done.returncode, done.stderr.count("\n"), "nothing was imported" in done.stderr), (1, 1, True))
            t.check(f"{tool} {bail}: leaves the database as it was", pathlib.Path(db).read_bytes() == before, True)
        refuses(t, f"{tool}: by make", tool, folder, [line.split("|")[1] for line in listed])
        for name in ("samples_a.jsonl", "samples_c.jsonl", "a.json", "c.json"):
            (folder / name).unlink(missing_ok=True)
        done = subprocess.run([*SQLITE, "-readonly", db, *command], cwd=ROOT, text=True, capture_output=True)
        t.check(f"{tool}: a database that takes nothing", (done.returncode, done.stdout, done.stderr.count("\n"), "readonly" in done.stderr), (1, "", 1, True))
        done = subprocess.run([*SQLITE, "-bail", db, *command], cwd=ROOT, text=True, capture_output=True)
        t.check(f"{tool}: the rest is imported", (done.returncode, done.stdout.count("\n"), done.stderr), (0, 1, ""))
        t.check(f"{tool}: and is there", t.number(db, "count(*) FROM results"), 2)
        said = t.shell(db, ".parameter set @path \"'/nowhere'\"", command[1])
        t.check(f"{tool}: no such path, and no summary", (said.count("\n"), "cannot stat file: /nowhere" in said), (1, True))


def other_tables(t):
    """A table of the person's own, or of an earlier version, is taken as it is or refused with what would help."""
    file, more = table(t, "more.csv", "model,task,item,correct\nb,t,1,1\n"), []
    earlier = ("CREATE TABLE results(model TEXT NOT NULL, task TEXT NOT NULL, item NOT NULL, attempt INTEGER NOT NULL DEFAULT 1, correct INTEGER, "
               "score REAL, error TEXT, PRIMARY KEY (task, item, model, attempt)) WITHOUT ROWID")
    for name, made, wanted in (("earlier", earlier, ["score_lo", "score_hi"]),
                               ("own", "CREATE TABLE results(model, task, item, correct)", ["attempt", "score", "error", "score_lo", "score_hi", "UNIQUE"])):
        db = t.path(f"{name}.db")
        t.shell(db, made, "INSERT INTO results(model, task, item, correct) VALUES ('a', 't', 1, 0)")
        said = t.shell(db, "SELECT model, n FROM eval_leaderboard")
        t.check(f"{name}: the board reads it", said, "a|1\n")
        for i in range(8):
            before = pathlib.Path(db).read_bytes()
            status, printed, errors = make("csv", file, db)
            if status == 0:
                break
            helps = [line.rsplit(" by ", 1)[1].rstrip(" │") for line in errors.splitlines() if " by ALTER " in line or " by CREATE " in line]
            t.check(f"{name}: refused, and as it was: {errors}", (printed, pathlib.Path(db).read_bytes() == before, len(helps) > 0), ("", True, True))
            more += [word for word in wanted if any(word in line.split() for line in helps)]
            t.shell(db, *helps)
        t.check(f"{name}: what is missing is named", more, wanted)
        t.check(f"{name}: with that it is imported", (status, t.rows(db, "SELECT model, correct FROM results ORDER BY model")), (0, [("a", 0), ("b", 1)]))
        more = []
    db = t.path("viewed.db")
    t.shell(db, "CREATE VIEW results AS SELECT 'a' AS model, 't' AS task, 1 AS item, 1 AS correct")
    t.check("a view is not imported into", "results is a view here: import into another database" in make("csv", file, db)[2], True)
    t.check("no table at all", ".read sql/schema.sql" in t.shell(t.path("none.db"), f".parameter set @path \"'{file}'\"", ".read sql/adapters/csv.sql"), True)


def main():
    t = Suite(sys.argv[1].rsplit(".", 1)[0])
    csv(t)
    csv_fields(t)
    csv_scores(t)
    csv_refused(t)
    later(t)
    command(t)
    swebench(t)
    tau_bench(t)
    helm(t)
    all_or_nothing(t)
    other_tables(t)
    t.end()


if __name__ == "__main__":
    main()
