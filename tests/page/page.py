#!/usr/bin/python3
"""Tests the page in a real browser: tests/page/page.py build/dist/PLATFORM build/page/evalci.html

The extension and the program in build/dist/PLATFORM have the page's functions of math.h.

Opens the page from its file in headless Chromium, without a network, and gives it files
by drop and by dialog: the page must recognise each, and its report must be that of
`evalci report` to the byte, except its date and the last digits of numbers.  Further tests
are of counts and votes, wrong files, names that no page should trust, a database of
200 MB, SQL, downloads, the keyboard alone, a phone's and a desktop's width, light and
dark.  The screenshots are left in build/page/pictures.
"""
import contextlib
import csv
import functools
import http.server
import io
import json
import pathlib
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/page")]
from browser import CTRL, SHIFT, Browser, profile  # noqa: E402
import fixtures  # noqa: E402
from checks import check, finish  # noqa: E402

NATIVE, HTML = (pathlib.Path(p).resolve() for p in sys.argv[1:])
PICTURES = ROOT / "build/page/pictures"
FIXTURES = ROOT / "tests/views/adapters"
IDLE = "document.getElementById('working').hidden"
OFFLINE = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
RESULTS = "SELECT model, task, item, attempt, correct, score, error FROM results ORDER BY 1, 2, 3, 4"
# How far a digit may be from the native library's, in units of the last place.
UNITS = 4


def text_of(page, name):
    return page.run(f"document.getElementById({name!r}).innerText")


class Page(Browser):
    """The page, and what its reader does with it."""

    def load(self):
        self.open(HTML.as_uri())

    def give(self, act, timeout=60):
        """Gives files to the page by `act`, and waits: the page's message, and its refusal."""
        self.run("for (const id of ['said', 'refused']) document.getElementById(id).replaceChildren()")
        act()
        self.wait(f"{IDLE} && (document.getElementById('said').textContent || document.getElementById('refused').textContent)", timeout)
        return text_of(self, "said"), text_of(self, "refused")

    def dropped(self, *paths, **how):
        return self.give(lambda: self.drop(paths), **how)

    def chosen(self, *paths, selector="#files", **how):
        return self.give(lambda: self.choose(selector, paths), **how)

    def report(self):
        return self.run("document.getElementById('report-frame').srcdoc")

    def tab(self, name):
        self.run(f"document.getElementById('tab-{name}').click()")

    def ask(self, sql, timeout=60):
        """Runs SQL in the box: the rows as shown, and the error."""
        self.tab("sql")
        self.run(f"document.getElementById('query').value = {json.dumps(sql)}; document.querySelector('#asking button').click()")
        self.wait(f"{IDLE} && (document.getElementById('answered').textContent || document.getElementById('query-refused').textContent)", timeout)
        rows = self.run("[...document.querySelectorAll('#answers tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))")
        return rows, text_of(self, "query-refused")

    def save(self, name):
        """What a button of the downloads saves."""
        self.tab("downloads")
        self.run(f"[...document.querySelectorAll('#savings button')].find((b) => b.textContent === {json.dumps(name)}).click()")
        return self.download(name)

    def silent(self, what):
        """Checks that nothing is on the console and nothing was requested from a network."""
        self.drain()
        check(f"{what}: nothing on the console: {self.console[:3]}", not self.console)
        beyond = [url[:100] for url in self.asked.values() if not url.startswith(("file:", "blob:", "data:", "about:"))]
        check(f"{what}: nothing asked of a network: {beyond}", not beyond)
        self.console.clear()


# ---- Native: what the program makes of the same files ----

def native(*command):
    done = subprocess.run([NATIVE / "bin/evalci", *command], cwd=ROOT, text=True, capture_output=True)
    return done.returncode, done.stdout, done.stderr


def native_report(*files):
    status, printed, errors = native("report", *files)
    check(f"evalci report {files[0]}: {errors}", status == 0)
    return printed.removesuffix("\n")


def connect(path):
    db = sqlite3.connect(path)
    db.enable_load_extension(True)
    db.load_extension(str(NATIVE / "evalci"))
    return db


def units(a, b):
    """How many doubles lie between two of them."""
    ordered = [struct.unpack("<q", struct.pack("<d", float(x)))[0] for x in (a, b)]
    return abs(int.__sub__(*[n if n >= 0 else -(n & 0x7FFFFFFFFFFFFFFF) for n in ordered]))


NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
DATE = re.compile(r"this page was made on [-0-9: ]+ UTC")


def without_script(text):
    """The report as the page shows it, in a frame without scripts."""
    return re.sub(r"<script>.*</script>\n", "", text, flags=re.S)


def same_report(what, shown, wanted):
    """Compares reports to the byte, except the date and the last digits of numbers with all digits."""
    shown, wanted = (DATE.sub("", text) for text in (shown or "", without_script(wanted)))
    check(f"{what}: the report has what the program writes", NUMBER.sub("#", shown) == NUMBER.sub("#", wanted) and len(wanted) > 4000)
    pairs = [(a, b) for a, b in zip(NUMBER.findall(shown), NUMBER.findall(wanted)) if a != b]
    # A number of 15 digits, as SQLite writes one, is up to 45 units from its neighbours.
    far = [(a, b) for a, b in pairs if units(a, b) > (UNITS if len(re.sub(r"\D", "", a)) > 15 else 46)]
    check(f"{what}: and its digits, {len(pairs)} of them another last one: {far[:3]}", not far)


# ---- What people have ----

def fill(path, rows, columns="model, task, item, attempt, correct, score"):
    db = sqlite3.connect(path)
    db.executescript((ROOT / "sql/schema.sql").read_text())
    db.executemany(f"INSERT INTO results({columns}) VALUES ({', '.join('?' * (columns.count(',') + 1))})", rows)
    db.commit()
    db.close()
    return path


def simulated(models=4, questions=60, tasks=3, attempts=1):
    """Models from good to bad, with answers by a rule, so that every run has the same."""
    for m in range(models):
        for q in range(questions):
            for a in range(attempts):
                yield f"model {m}", f"task {q % tasks}", q, a + 1, int((q * q * 7 + m * 13 + a * 5 + q) % 10 < 9 - 2 * m), None


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def script(path, sql):
    db = sqlite3.connect(path)
    db.executescript(sql.read_text())
    db.close()
    return path


def swebench(folder):
    for model, resolved in (("openai__gpt-5.run1", ["a__b-1", "a__b-2"]), ("other.run1", ["a__b-1"])):
        write(folder / f"{model}.json", {"schema_version": 2, "completed_ids": ["a__b-1", "a__b-2", "c__d-3"], "resolved_ids": resolved,
                                         "unresolved_ids": [i for i in ("a__b-1", "a__b-2", "c__d-3") if i not in resolved]})
    write(folder / "notes.json", {"a": 1})
    return folder


def tau_bench(folder):
    write(folder / "sonnet-retail.json", [{"task_id": i, "trial": t, "reward": float((i + t) % 3 > 0), "traj": [],
                                          "info": {"task": {"actions": [{"name": "cancel_pending_order"}]}}} for i in range(5) for t in range(2)])
    write(folder / "two.json", {"info": {"agent_info": {"llm": "gpt-5"}, "environment_info": {"domain_name": "telecom"}}, "tasks": [],
                                "simulations": [{"task_id": f"[{i}]", "trial": 0, "termination_reason": "user_stop", "reward_info": {"reward": float(i % 2)}}
                                                for i in range(6)]})
    return folder


def helm(folder):
    for model in ("openai/gpt-4", "openai/gpt-5"):
        run = folder / f"mmlu:model={model.replace('/', '_')}"
        write(run / "run_spec.json", {"name": f"mmlu:subject=anatomy,model={model.replace('/', '_')}", "adapter_spec": {"model": model}})
        write(run / "per_instance_stats.json", [{"instance_id": f"id{i}", "train_trial_index": 0, "stats": [
            {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": i % 3 > 0, "mean": float((i + len(model)) % 3 > 0)}]} for i in range(8)])
    return folder


def table(path):
    return write(path, "model,task,item,correct\n" + "".join(f"{m},{t},{q},{c}\n" for m, t, q, _, c, _ in simulated()))


def inputs(path):
    """For each kind of file: its path, the files given to the page if they differ, and the page's message."""
    inspect = sorted(f for f in (FIXTURES / "inspect").glob("*.json") if f.name != "logs.json")
    shutil.copytree(FIXTURES / "inspect", path / "logs")
    write(path / "logs/notes.json", {})
    fixtures.make(path / "made")
    made = path / "made"
    return {
        "a database": (fill(path / "evals.db", simulated()), None, "evals.db is a database of results: 4 models, 3 tasks, 240 answers."),
        "attempts": (fill(path / "again.db", simulated(3, 12, 2, 3)), None, "again.db is a database of results: 3 models, 2 tasks, 108 answers."),
        "promptfoo": (script(path / "promptfoo.db", FIXTURES / "promptfoo.sql"), None, "promptfoo.db is promptfoo’s database: 4 models,"),
        "Phoenix": (script(path / "phoenix.db", FIXTURES / "phoenix.sql"), None, "phoenix.db is Phoenix’s database: "),
        "MLflow": (made / "mlflow/mlflow.db", None, "mlflow.db is MLflow’s database: 2 models, 1 task, 8 answers."),
        "a CSV": (table(path / "results.csv"), None, "1 CSV file: 4 models, 3 tasks, 240 answers."),
        "JSON lines": (made / "jsonl/answers.jsonl", None, "1 JSON file: 2 models, 1 task, 24 answers."),
        "promptfoo's output": (made / "promptfoo/output.json", None, "1 file of promptfoo’s output: 2 models, 1 task, 12 answers."),
        "lm_eval": (FIXTURES / "lm_eval", None, " files of lm_eval’s samples: 2 models, 3 tasks,"),
        "Inspect": (path / "logs", None, " files of Inspect’s logs: 2 models,"),
        "Inspect's files": (FIXTURES / "inspect", inspect, " files of Inspect’s logs: 2 models,"),
        "Inspect by zstd": (made / "zstd/arith.eval", None, "1 file of Inspect’s logs: 1 model, 1 task, 8 answers."),
        "Harbor": (made / "harbor", None, "6 files of Harbor’s trials: 1 model, 1 task, 6 answers"),
        "DeepEval": (made / "deepeval", None, "1 file of DeepEval’s test runs: 1 model, 1 task, 6 answers."),
        "Every Eval Ever": (made / "every_eval_ever", None, "1 file of Every Eval Ever’s samples: 1 model, 1 task, 7 answers."),
        "SWE-bench": (swebench(path / "swe"), None, "2 files of SWE-bench’s reports: 2 models, 2 tasks, 6 answers."),
        "tau-bench": (tau_bench(path / "tau"), None, "2 files of tau-bench’s trajectories: 2 models, 2 tasks, 16 answers."),
        "HELM": (helm(path / "helm"), None, "2 files of HELM’s runs: 2 models, 1 task, 16 answers."),
    }


def each_input(page, path):
    for name, (source, several, words) in inputs(path).items():
        files = several or [source]
        wanted = native_report(*files)
        counts = re.search(r"<br>([\d,]+) models?, ([\d,]+) tasks?, ([\d,]+) answers?", wanted)
        for way in ("drop", "dialog"):
            what = f"{name} by {way}"
            if way == "drop":
                said, refused = page.dropped(*files)
                if name == "HELM" and "choose the folder by the button" in refused:
                    continue  # Chromium hides names with a colon from what is dropped on a page that is a file
            else:
                said, refused = page.chosen(*files, selector="#folder" if source.is_dir() and not several else "#files")
            check(f"{what}: it says what it is: {said!r} {refused!r}", words in said and not refused)
            told = [re.search(rf"([\d,]+) {word}", said) for word in ("model", "task")]
            check(f"{what}: as many as the program counts: {said!r}", all(told) and [t[1] for t in told] == list(counts.groups()[:2]))
            same_report(what, page.report(), wanted)
        page.silent(name)


def other_tables(page, path):
    """Counts have no report: the page says so, and shows their leaderboard. Votes have one of their own."""
    said, refused = page.dropped(path / "made/counts/counts.csv")
    check(f"counts: {said!r} {refused!r}", "1 file of counts: 2 models, 2 tasks, 60 answers." in said and "These are counts (k right of n)" in said and not refused)
    _, printed, _ = native("leaderboard", path / "made/counts/counts.csv", "--csv")
    wanted = {row["model"]: row for row in csv.DictReader(io.StringIO(printed))}
    page.wait(f"{IDLE} && document.querySelector('#answers table')")
    shown = page.run("[...document.querySelectorAll('#answers tbody tr')].map((r) => [...r.cells].map((c) => c.dataset.value ?? c.textContent))")
    check(f"counts: the program's leaderboard: {shown} {printed}", [row[1] for row in shown] == list(wanted) == ["large", "small"] and
          all(row[2] == wanted[row[1]]["n"] and alike(row[4], wanted[row[1]]["ci"]) for row in shown))
    examples = page.run("[...document.querySelectorAll('#examples button')].filter((b) => !b.hidden).map((b) => b.textContent)")
    for name in examples:
        page.run(f"[...document.querySelectorAll('#examples button')].find((b) => b.textContent === {name!r}).click()")
        page.wait(f"{IDLE} && (document.getElementById('answered').textContent || document.getElementById('query-refused').textContent)")
        check(f"counts: example {name}", text_of(page, "query-refused") == "")
    check(f"counts: examples that are of counts: {examples}", examples == ["Leaderboard", "By task", "Every method", "Picture"])
    check("counts: their tasks can be saved", page.save("tasks.csv").count(b"\r\n") == 5)
    check("counts: drawn", b"<svg" in page.save("forest.svg"))
    page.tab("report")
    check("counts: the report's place says why there is none", "which a report needs" in text_of(page, "report"))
    votes = path / "made/votes/votes.jsonl"
    said, refused = page.dropped(votes)
    check(f"votes: {said!r} {refused!r}", "1 file of votes: 3 models, 3 votes." in said and not refused)
    same_report("votes", page.report(), native_report(votes))
    page.tab("sql")
    page.run("[...document.querySelectorAll('#examples button')].find((b) => b.textContent === 'Votes').click()")
    page.wait(f"{IDLE} && document.querySelector('#answers table')")
    rated = page.run("[...document.querySelectorAll('#answers tbody tr')].map((r) => [...r.cells].map((c) => c.dataset.value ?? c.textContent))")
    wanted = list(csv.DictReader(io.StringIO(native("votes", votes, "--csv")[1])))
    check(f"votes: the program's ratings: {rated} {wanted}", [row[1] for row in rated] == [row["model"] for row in wanted] and len(rated) == 3 and
          all(alike(row[3], w["ci"]) for row, w in zip(rated, wanted)))
    kept = path / "votes.db"
    kept.write_bytes(page.save("evals.db"))
    check("votes: saved", sqlite3.connect(kept).execute("SELECT count(*) FROM votes").fetchone() == (3,))
    said, refused = page.dropped(kept)
    check(f"votes of a database: {said!r} {refused!r}", "1 file of votes: 3 models, 3 votes." in said)
    page.silent("counts and votes")


def with_its_log(page, path):
    """A database of which the latest rows are in the log beside it."""
    db = sqlite3.connect(path / "busy.db")
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript((ROOT / "sql/schema.sql").read_text())
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.executemany("INSERT INTO results(model, task, item, correct) VALUES ('m', 't', ?, 1)", [[i] for i in range(9)])
    db.commit()
    copies = [shutil.copy(path / f"busy.db{end}", path / f"copy.db{end}") for end in ("", "-wal")]
    said, refused = page.dropped(*copies)
    check(f"a database and its log: {said!r} {refused!r}", "copy.db is a database of results: 1 model, 1 task, 9 answers." in said)
    said, refused = page.dropped(copies[0])
    check(f"without the log it says that one may be missing: {said!r} {refused!r}", "0 answers" in said and "-wal" in said)
    db.close()


# ---- What cannot be read ----

def wrong_files(page, path):
    good = fill(path / "good.db", simulated()).read_bytes()
    write(path / "bad.csv", "model,item,score\nlarge,1,0.5\nlarge,2,good\n")
    write(path / "short.csv", "model,item,correct\na,1,1\na,2\n")
    write(path / "nameless.csv", "item,correct\n1,1\n2,0\n3,1\n")
    (path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    (path / "empty.db").write_bytes(b"")
    (path / "empty.csv").write_bytes(b"")
    (path / "broken.db").write_bytes(good[:100] + bytes(reversed(good[100:])))
    (path / "cut.db").write_bytes(good[:len(good) // 2])
    (path / "header.db").write_bytes(good[:60])
    sqlite3.connect(path / "other.db").execute("CREATE TABLE evals(x)").connection.close()
    write(path / "log.json", '{"eval": {"model": "m", "ta')
    write(path / "list.jsonl", '{"doc_id": 1}\n')
    write(path / "odd.json", {"some": "thing"})
    shutil.copy(path / "good.db", path / "other good.db")
    # What each must say, and the program too.
    for name, words in {"bad.csv": "line 3: score must be a number, got 'good'", "short.csv": "line 3: it must have 3 fields",
                        "nameless.csv": "there is no column model; there are: item, correct", "picture.png": "picture.png: ", "empty.db": "empty.db: it is empty",
                        "empty.csv": "empty.csv: it is empty", "broken.db": "malformed", "cut.db": "malformed", "header.db": "header.db: ",
                        "other.db": "other.db: ", "log.json": "log.json: ", "list.jsonl": "list.jsonl: there is no column model; there are: doc_id",
                        "odd.json": "odd.json: there is no column model"}.items():
        said, refused = page.dropped(path / name)
        status, _, errors = native("import", path / name, "-o", path / "none.db")
        shown = refused or text_of(page, "report-refused")
        check(f"{name}: {words!r} in {shown!r} and {errors!r}", words in shown and (status != 0 and words in errors or name == "cut.db"))
        check(f"{name}: in the page's words: {shown!r}", "/files" not in shown and "--" not in shown and "evalci" not in shown)
        check(f"{name}: nothing is shown of it", not refused or page.run("document.getElementById('results').hidden"))
    page.silent("wrong files")
    together(page, path)
    choices(page, path)
    broken_answers(page, path)
    said, refused = page.dropped(path / "good.db")
    check("after wrong files the right one is read", "240 answers" in said and not refused)


def together(page, path):
    """Of several files, those that are not recognised are named."""
    said, refused = page.dropped(path / "results.csv", path / "nameless.csv")
    check(f"a CSV and another: {said!r} {refused!r}", "1 CSV file: 4 models, 3 tasks, 240 answers; 1 file not recognized: nameless.csv." in said)
    said, refused = page.dropped(path / "good.db", path / "other good.db")
    check(f"two databases: {said!r} {refused!r}", "databases: 4 models, 3 tasks, 240 answers" in said or "database: 4 models, 3 tasks, 240 answers" in said)


def choose(page, give, **choices):
    """Gives it files with choices; they are gone after it."""
    for name, value in choices.items():
        page.run(f"document.querySelector('#choices [name={name}]').value = {json.dumps(value)}")
    try:
        return give()
    finally:
        page.run("document.getElementById('choices').reset()")


def choices(page, path):
    """Choices supply what a file lacks."""
    said, refused = page.dropped(path / "nameless.csv")
    check(f"a message names choices by their labels: {refused!r}",
          "say which it is by Choices, “column of models”, or name the model by Choices, “name of the model, if files have none”" in refused)
    said, refused = choose(page, lambda: page.give(lambda: page.run("document.getElementById('again').click()")), model="mine <b>")
    check(f"a model's name as a choice: {said!r} {refused!r}", "1 CSV file: 1 model, 1 task, 3 answers." in said)
    check("the chosen name is in the report", "mine &lt;b&gt;" in page.report())
    write(path / "swe/list/agent/results/results.json", {"no_generation": [], "no_logs": [], "resolved": ["a__b-1"]})
    write(path / "swe/list/asked.txt", "a__b-1\na__b-2\n")
    helm_splits(path / "splits/run")
    write(path / "odd columns.csv", "who,asked,right,part\na,1,1,x\na,2,0,x\nb,1,1,x\n")
    sqlite3.connect(path / "mine.db").executescript("CREATE TABLE mine(model, item, correct); INSERT INTO mine VALUES ('a', 1, 1), ('b', 1, 0)").connection.close()
    for what, files, given, options, words in (
            ("a list of what was asked", path / "swe/list", {"items": "asked.txt"}, ["--items", path / "swe/list/asked.txt"], "2 answers"),
            ("a task", path / "results.csv", {"task": "all"}, ["--task-name", "all"], "4 models, 1 task,"),
            ("a task of a database", path / "good.db", {"task": "all"}, ["--task-name", "all"], "good.db is a database: 4 models, 1 task,"),
            ("a metric", FIXTURES / "lm_eval", {"metric": "acc_norm"}, ["--metric", "acc_norm"], "2 models"),
            ("a metric of MLflow", path / "made/mlflow/mlflow.db", {"metric": "length"}, ["--metric", "length"], "2 models"),
            ("a split", path / "splits", {"split": "valid"}, ["--split", "valid"], "1 model, 1 task, 3 answers"),
            ("columns", path / "odd columns.csv", {"model_column": "who", "item_column": "asked", "correct_column": "right", "task_column": "part"},
             ["--model", "who", "--item", "asked", "--correct", "right", "--task", "part"], "2 models, 1 task, 3 answers"),
            ("a range", path / "made/jsonl/answers.jsonl", {"lo": "-1", "hi": "3"}, ["--lo=-1", "--hi=3"], "24 answers")):
        said, refused = choose(page, lambda files=files: page.dropped(files), **given)
        check(f"{what} as a choice: {said!r} {refused!r}", words in said)
        same_report(f"{what} as a choice", page.report(), native_report(files, *options))
    said, refused = choose(page, lambda: page.dropped(path / "mine.db"), table="mine")
    check(f"a table as a choice: {said!r} {refused!r}", "mine.db is a database: 2 models, 1 task, 2 answers." in said)
    for name, value, words in (("metric", "none such", "none such"), ("lo", "low", "the lowest score must be a number, got 'low'")):
        said, refused = choose(page, lambda: page.dropped(FIXTURES / "lm_eval"), **{name: value})
        check(f"a choice that is not there: {refused!r}", words in refused and not said)


def helm_splits(run):
    write(run / "run_spec.json", {"name": "mmlu:subject=anatomy,model=m", "adapter_spec": {"model": "m"}})
    write(run / "per_instance_stats.json", [{"instance_id": f"id{i}", "train_trial_index": 0, "stats": [
        {"name": {"name": "exact_match", "split": split}, "count": 1, "sum": 1, "mean": float(i % 2)}]} for split, n in (("test", 5), ("valid", 3)) for i in range(n)])


def broken_answers(page, path):
    """A database with answers from which no report can be made."""
    db = sqlite3.connect(path / "two.db")
    db.execute("CREATE TABLE results(model, task, item, correct)")
    db.executemany("INSERT INTO results VALUES ('m', 't', ?, ?)", [(1, 1), (2, 2)])
    db.commit()
    db.close()
    said, _ = page.dropped(path / "two.db")
    refused = text_of(page, "report-refused")
    _, _, errors = native("report", path / "two.db")
    check(f"an invalid answer: {refused!r} is what the program says: {errors!r}", refused and refused.strip().removeprefix("eval_report: ") in errors)
    rows, error = page.ask("SELECT count(*) FROM results")
    check(f"it can still be asked: {rows} {error}", rows == [["2"]])


# ---- Names that no page should trust ----

HOSTILE = ["</script><script>window.hacked = 1</script>", "<img src=x onerror=\"window.hacked = 2\">", "\"><svg onload=window.hacked=3>",
           "אבג דהו 123", "‮reversed", "🤖🇺🇳👩‍🚀", "x" * 10000, "--></style><style>*{display:none}</style>", "=HYPERLINK(\"http://a\")",
           "{{style}}", "a\nb\tc", "&lt;b&gt; &amp;"]


def hostile(page, path):
    db = fill(path / "hostile.db", [(m, t, q, 1, int((q + i) % 7 > i % 4), None) for i, m in enumerate(HOSTILE)
                                    for t in ("<b>task</b>", "משימה") for q in range(6)])
    named = path / "<img src=x onerror=window.hacked=4>.db"
    shutil.copy(db, named)
    said, refused = page.dropped(named)
    check(f"a file's name is text: {said!r} {refused!r}", "<img src=x onerror=window.hacked=4>.db is a database of results: 12 models" in said)
    same_report("hostile names", page.report(), native_report(named))
    names = page.run("[...document.getElementById('report-frame').contentDocument.querySelectorAll('#leaderboard td.name')].map((td) => td.textContent)")
    check("the report has every name, line breaks as blanks and the longest cut",
          sorted(n[:200] for n in names) == sorted(re.sub("[\n\t]", " ", n[:200]) for n in HOSTILE))
    rows, error = page.ask("SELECT model, ci FROM eval_leaderboard ORDER BY model")
    check(f"SQL shows every name: {error}", sorted(r[0].split("…")[0][:200] for r in rows) == sorted(n[:200] for n in HOSTILE))
    saved = list(csv.reader(io.StringIO(page.save("leaderboard.csv").decode(), newline="")))
    check("the CSV has every name whole", sorted(r[0] for r in saved[1:]) == sorted(HOSTILE))
    page.ask("SELECT '</script><script>window.hacked = 5</script>' AS \"<img src=x onerror=window.hacked=6>\", "
             "'<svg xmlns=\"http://www.w3.org/2000/svg\"><script>window.hacked = 7</script><image href=\"http://127.0.0.1/x\"/></svg>'")
    page.ask("SELECT nothing FROM \"<img src=x onerror=window.hacked=8>\"")
    write(path / "<img src=x onerror=window.hacked=9>.csv", "model,item,score\n<img src=x onerror=window.hacked=10>,1,<b>good</b>\n")
    said, refused = page.dropped(path / "<img src=x onerror=window.hacked=9>.csv")
    check(f"a refusal is text: {refused!r}", "<b>good</b>" in refused and "<img" in refused)
    time.sleep(0.3)
    check("no name was run", page.run("window.hacked === undefined && document.getElementById('report-frame').contentWindow.hacked === undefined"))
    check("no name became an element", page.run("document.querySelectorAll('main img, main script, main b, main style').length === 0"))
    page.silent("hostile names")


# ---- SQL ----

def sql_box(page, path):
    page.dropped(path / "good.db")
    db = connect(path / "good.db")
    examples = page.run("[...document.querySelectorAll('#examples button')].filter((b) => !b.hidden).map((b) => b.textContent)")
    page.tab("sql")
    for name in examples:
        page.run(f"[...document.querySelectorAll('#examples button')].find((b) => b.textContent === {name!r}).click()")
        page.wait(f"{IDLE} && (document.getElementById('answered').textContent || document.getElementById('query-refused').textContent)")
        sql = page.run("document.getElementById('query').value")
        wanted = [[None if v is None else str(v) for v in row] for row in db.execute(sql)]
        shown = page.run("[...document.querySelectorAll('#answers tbody tr')].map((r) => [...r.cells].map((c) => c.dataset.value ?? (c.className === 'null' ? null : "
                         "c.querySelector('img') ? decodeURIComponent(c.querySelector('img').src.replace('data:image/svg+xml,', '')) : c.textContent)))")
        check(f"example {name}: the rows of the native library, {len(wanted)}", len(shown) == len(wanted) > 0 and
              all(alike(a, b) for one, two in zip(shown, wanted) for a, b in zip(one, two)))
        if name == "Picture":
            check("a picture is shown", page.run("(async () => { const i = document.querySelector('#answers img'); await i.decode(); return i.naturalWidth > 100; })()"))
    rows, error = page.ask("SELECT 1;\nSELECT nowhere FROM results")
    check(f"an error has its place: {error!r}", "no such column: nowhere (line 2, character 8)" in error and not rows)
    rows, error = page.ask("SELECT wilson_ci(18, 20)")
    check(f"evalci's own error: {error!r}", "wilson_ci: " in error and "wilson_ci_counts(18, 20)" in error)
    rows, error = page.ask("DELETE FROM results")
    check(f"a database that was given is only read: {error!r}", "readonly" in error)
    rows, _ = page.ask("SELECT value FROM generate_series(1, 1234567); SELECT 'after'")
    check("a long result is cut, and the next follows", len(rows) == 501 and rows[-1] == ["after"])
    rows, _ = page.ask("SELECT value, 'a,\"b\"' AS text, NULL AS none, 0.1 + 0.2 AS sum FROM generate_series(1, 5000)")
    check("it says that there is more", len(rows) == 500 and "The first 500 rows; the CSV has all of them" in text_of(page, "answered"))
    page.run("document.getElementById('save-result').click()")
    saved = list(csv.reader(io.StringIO(page.download("result.csv").decode(), newline="")))
    check("the CSV has all rows and all digits", len(saved) == 5001 and saved[0] == ["value", "text", "none", "sum"] and
          saved[5000] == ["5000", 'a,"b"', "", "0.30000000000000004"])
    rows, _ = page.ask("SELECT 9007199254740993, x'00ff', NULL, '', 1e400, -0.5, randomblob(3) IS NULL")
    check(f"values of every kind: {rows}", rows == [["9007199254740993", "2 bytes", "NULL", "", "∞", "−0.5", "0"]])
    rows, error = page.ask("CREATE TEMP TABLE mine(x); INSERT INTO mine VALUES (1), (2); SELECT sum(x) FROM mine")
    check(f"several statements: {rows} {error}", rows == [["3"]])
    intervals_drawn(page)
    db.close()
    changing(page, path)


def alike(a, b):
    """Whether texts differ only in the last digits of numbers."""
    if a == b or a is None or b is None:
        return a == b
    with contextlib.suppress(ValueError):
        return units(a, b) <= UNITS
    numbers = list(zip(NUMBER.findall(a), NUMBER.findall(b)))
    return NUMBER.sub("#", a) == NUMBER.sub("#", b) and all(x == y or units(x, y) <= UNITS for x, y in numbers)


def intervals_drawn(page):
    """Each interval is drawn at its numbers on the axis, whose ends are labelled."""
    page.ask("SELECT '[0.1,0.35]' AS ci, 0.2 AS p, '[0.15,0.9]' AS of_p UNION ALL SELECT '[0.5,1]', 0.8, '[0.5,9e999]'")
    drawn = page.run("""[...document.querySelectorAll('#answers tbody td.interval')].map((cell) => {
      const box = (e) => e.getBoundingClientRect(), axis = [...cell.querySelectorAll('.axis')].map((e) => box(e).left);
      const at = (x) => (x - axis[0]) / (axis[1] - axis[0]), bar = box(cell.querySelector('.bar')), point = cell.querySelector('.point');
      return [at(bar.left), at(bar.right), point && at(box(point).left)]; })""")
    wanted = [(0.1, 0.35, None), (0.15, 0.9, 0.2), (0.5, 1, None), (0.5, 1, 0.8)]
    check(f"intervals are drawn where they lie: {drawn}", len(drawn) == 4 and all(
        abs(x - y) < 0.02 if y is not None else x is None for one, two in zip(drawn, wanted) for x, y in zip(one, two)))
    ends = page.run("[...document.querySelectorAll('#answers th .ends')].map((e) => e.innerText.split(/\\s+/).join(' '))")
    check(f"the axis tells its ends: {ends}", ends == ["0 1", "0 1"])
    page.ask("SELECT '[-0.1,0.3]' AS diff")
    check("a difference has its zero", page.run("document.querySelectorAll('#answers .zero').length === 1"))
    rows, _ = page.ask("SELECT '[1,2' AS a, '[2,1]' AS b, '[x,y]' AS c, '[1,2,3]' AS d")
    check("what is no interval is text", rows == [["[1,2", "[2,1]", "[x,y]", "[1,2,3]"]] and page.run("!document.querySelector('#answers svg')"))


def changing(page, path):
    """Imported answers can be changed by SQL, and the report changes with them."""
    page.dropped(path / "results.csv")
    before = page.report()
    rows, error = page.ask("UPDATE results SET model = 'renamed' WHERE model = 'model 0'")
    page.wait(f"{IDLE} && document.getElementById('report-frame').srcdoc.includes('renamed')")
    check(f"an update, and the report after it: {error}", "renamed" in page.report() and "renamed" not in before)
    for task, n in (("few", 5), ("many", 600)):
        page.ask(f"INSERT INTO results(model, task, item, correct) SELECT 'once', '{task}', value, 1 FROM generate_series(1, {n}) RETURNING item")
        page.run("document.getElementById('save-result').click()")
        if n == 5:
            check("what a change returned can be saved", page.download("result.csv") == b"item\r\n1\r\n2\r\n3\r\n4\r\n5\r\n")
        page.wait(IDLE)
        rows, _ = page.ask(f"SELECT count(*) FROM results WHERE task = '{task}'")
        check(f"a change is not made again to save what it returned: {rows}", rows == [[str(n)]])


def over_the_report(page, path):
    """A file dropped on the report's frame, which would by default show the file, is read as elsewhere on the page."""
    page.dropped(path / "good.db")
    x, y = page.run("(() => { const f = document.getElementById('report-frame'); f.scrollIntoView({block: 'start'}); const b = f.getBoundingClientRect();"
                    "return [b.left + 100, b.top + 200]; })()")
    said, refused = page.give(lambda: page.drop([path / "results.csv"], x, y))
    check(f"a file dropped on the report: {said!r} {refused!r}", "1 CSV file: 4 models" in said)
    page.run("scrollTo(0, 0)")


def gone(page, path):
    """A file that changes after it was given cannot be read any more: an error, after which other files can be read."""
    shutil.copy(path / "good.db", path / "gone.db")
    page.dropped(path / "gone.db")
    (path / "gone.db").write_bytes(b"something else")
    rows, error = page.ask("SELECT count(*) FROM results NOT INDEXED WHERE model LIKE '%'")
    check(f"a file that changed is an error or what was read before: {rows} {error!r}", error or rows == [["240"]])
    said, refused = page.dropped(path / "good.db")
    check(f"and others can be read: {said!r} {refused!r}", "240 answers" in said)


def stopping(page, path):
    page.dropped(path / "good.db")
    page.tab("sql")
    page.run("document.getElementById('query').value = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n';"
             "document.querySelector('#asking button').click()")
    page.wait("!document.getElementById('working').hidden && document.getElementById('elapsed').textContent !== ''", 20)
    begun = time.monotonic()
    page.run("document.getElementById('stop').click()")
    page.wait(IDLE)
    check(f"Stop ends what does not end: {time.monotonic() - begun:.1f} s", "Stopped." in text_of(page, "said"))
    rows, error = page.ask("SELECT count(*) FROM results")
    check(f"and what was given can be asked again: {rows} {error}", rows == [["240"]])
    page.silent("stopping")


# ---- Downloads ----

def downloads(page, path):
    page.dropped(path / "good.db")
    db = connect(path / "good.db")
    check("report.html is the report", without_script(page.save("report.html").decode()) == page.report())
    for name in ("leaderboard", "compare", "tasks"):
        saved = list(csv.reader(io.StringIO(page.save(f"{name}.csv").decode(), newline="")))
        asked = db.execute(f"SELECT * FROM eval_{name}")
        wanted = [["" if v is None else str(v) for v in row] for row in asked]
        check(f"{name}.csv has the board's columns", saved[0] == [d[0] for d in asked.description])
        check(f"{name}.csv has its rows", len(saved) == len(wanted) + 1 and all(
            alike(a, b) for one, two in zip(saved[1:], wanted) for a, b in zip(one, two)))
    for name in ("forest.svg", "heatmap.svg"):
        svg = page.save(name).decode()
        root = xml.etree.ElementTree.fromstring(svg)
        texts = "".join(root.itertext())
        check(f"{name} is a picture of the models", root.tag == "{http://www.w3.org/2000/svg}svg" and all(f"model {m}" in texts for m in range(4)))
    check("a database that was given is not offered again", not page.run("document.getElementById('savings').lastElementChild.checkVisibility()"))
    page.dropped(path / "results.csv")
    kept = path / "kept.db"
    kept.write_bytes(page.save("evals.db"))
    check("evals.db has the answers", sqlite3.connect(kept).execute(RESULTS).fetchall() == [
        (*row[:5], None, None) for row in db.execute(RESULTS).fetchall()])
    db.close()
    fill(path / "alone.db", simulated(1, 5, 1))
    page.dropped(path / "alone.db")
    check("one model has no comparisons to save", page.save("compare.csv").count(b"\r\n") == 1)
    page.tab("report")
    page.silent("downloads")


# ---- A database of 200 MB ----

def huge(page, path):
    """Ten models with 20,000 questions, and beside each answer the text that a tool keeps of it."""
    file = path / "huge.db"
    db = sqlite3.connect(file)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("CREATE TABLE results(model TEXT, task TEXT, item INTEGER, correct INTEGER, output TEXT)")
    words = "the model thought about it for a while and then it wrote this " * 16
    db.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?)",
                   ((f"model {m}", f"task {q % 20}", q, int((q * 7919 + m * 104729) % 100 < 80 - m), f"{q}{words}")
                    for m in range(10) for q in range(20000)))
    db.commit()
    db.close()
    size = file.stat().st_size
    check(f"it has {size / 1e6:.0f} MB", size > 200e6)
    page.run("window.ticks = 0; window.ticking = setInterval(() => { window.ticks += 1; }, 50)")
    begun = time.monotonic()
    said, refused = page.dropped(file, timeout=170)
    took = time.monotonic() - begun
    ticks = page.run("clearInterval(window.ticking), window.ticks")
    print(f"   a database of {size / 1e6:.0f} MB took {took:.1f} s")
    check(f"{size / 1e6:.0f} MB: {said!r} {refused!r}", "huge.db is a database of results: 10 models, 20 tasks, 200,000 answers." in said)
    check(f"within a minute: {took:.1f} s", took < 60)
    check(f"the page stays alive meanwhile: {ticks} ticks of 50 ms", ticks > 10 * took)
    same_report("a large database", page.report(), native_report(file))
    file.unlink()
    page.silent("a large database")


# ---- Keyboard, sizes, schemes ----

FOCUSED = """(() => { const e = document.activeElement, s = getComputedStyle(e), p = e.closest('label') ?? e, o = getComputedStyle(p);
  return [e.id || e.textContent, o.outlineStyle !== 'none' && parseFloat(o.outlineWidth) >= 2]; })()"""


def tab_to(page, wanted, most=40):
    """Presses Tab until the element has the focus; every element on the way must show the focus."""
    for _ in range(most):
        page.key("Tab")
        found, seen = page.run(FOCUSED)
        check(f"the focus on {found[:30]!r} can be seen", seen)
        if found == wanted:
            return True
    check(f"Tab reaches {wanted!r}", False)
    return False


def keyboard(page, path):
    page.load()
    page.send("Page.setInterceptFileChooserDialog", enabled=True)
    tab_to(page, "files")
    said, refused = page.give(lambda: (page.key("Enter"), page.answer_chooser([path / "good.db"])))
    check(f"a file by Enter and the dialog: {said!r} {refused!r}", "240 answers" in said)
    tab_to(page, "tab-report")
    page.key("ArrowRight")
    check("an arrow moves to the next tab", page.run(FOCUSED)[0] == "tab-sql" and page.run("!document.getElementById('sql').hidden"))
    for key, wanted in (("End", "tab-downloads"), ("ArrowRight", "tab-report"), ("ArrowLeft", "tab-downloads"), ("Home", "tab-report"), ("ArrowRight", "tab-sql")):
        page.key(key)
        selected = page.run("[...document.querySelectorAll('[role=tab][aria-selected=true]')].map((e) => e.id)")
        check(f"{key}: {selected}", selected == [wanted] and page.run(FOCUSED)[0] == wanted)
    tab_to(page, "query")
    for letter in "a":
        page.key(letter, CTRL)
    page.send("Input.insertText", text="SELECT 6 * 7 AS answer")
    page.key("Enter", CTRL)
    page.wait(f"{IDLE} && document.getElementById('answered').textContent")
    check("Ctrl+Enter runs the SQL", page.run("document.querySelector('#answers td').innerText") == "42")
    page.key("Tab", SHIFT)
    check("Shift+Tab goes back out of the box", page.run(FOCUSED)[0] == "Picture")
    page.key("Home")
    tab_to(page, "save-result")
    page.key("Enter")
    check("the CSV is saved by Enter", page.download("result.csv") == b"answer\r\n42\r\n")
    page.load()
    tab_to(page, "sample")
    said, refused = page.give(lambda: page.key(" "))
    check(f"the sample by Space: {said!r} {refused!r}", "The sample: 9 models, 1 task, 180 answers." in said)
    names = [node for node in page.send("Accessibility.getFullAXTree")["nodes"] if not node["ignored"] and
             any(p["name"] == "focusable" and p["value"]["value"] for p in node.get("properties", [])) and node["role"]["value"] != "RootWebArea"]
    bare = [node["role"]["value"] for node in names if not node.get("name", {}).get("value")]
    check(f"whatever takes the focus has a name: {bare} of {len(names)}", not bare and len(names) >= 9)
    page.silent("the keyboard")


SEEN = """(() => {
  const page = document.documentElement, frame = document.getElementById('report-frame'), inner = frame.hidden ? null : frame.contentDocument;
  const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map((v) => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
                         return .2126 * r + .7152 * g + .0722 * b; };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
  const faint = [];
  for (const e of document.querySelectorAll('main *, footer *')) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility() || e.closest('svg') || e.matches(':disabled')) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(ground(e))], contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (contrast < 4.5) faint.push([e.textContent.slice(0, 20), contrast]);
  }
  return { width: page.scrollWidth, ground: light(getComputedStyle(document.body).backgroundColor), faint,
           inner: inner && [inner.documentElement.scrollWidth, frame.clientWidth, inner.documentElement.scrollHeight, frame.clientHeight,
                            light(frame.contentWindow.getComputedStyle(inner.body).backgroundColor)] };
})()"""


def sizes(page, path):
    """At a desktop's and a phone's width, light and dark: nothing scrolls sideways, and every text has enough
    contrast."""
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    for width in (1200, 390):
        for scheme in ("light", "dark"):
            page.look(width, scheme)
            page.load()
            looked(page, width, scheme, "start")
            page.dropped(path / "bad.csv")
            looked(page, width, scheme, "refused")
            page.dropped(path / "logs")
            for tab in ("report", "downloads", "sql"):
                page.tab(tab)
                if tab == "sql":
                    page.run("document.querySelector('#examples button').click()")
                    page.wait(f"{IDLE} && document.querySelector('#answers table')")
                looked(page, width, scheme, tab)
            page.dropped(path / "hostile.db")
            looked(page, width, scheme, "hostile", deep=False)
    page.look(1200)
    page.silent("every size")


def looked(page, width, scheme, name, deep=True):
    what = f"{name} at {width}, {scheme}"
    page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    seen = page.run(SEEN)
    check(f"{what}: does not scroll sideways: {seen['width']}", seen["width"] <= width)
    check(f"{what}: has its ground: {seen['ground']:.3f}", (seen["ground"] < 0.05) == (scheme == "dark"))
    check(f"{what}: its texts stand out: {seen['faint'][:3]}", not seen["faint"])
    if seen["inner"] and name in ("report", "hostile"):
        inside, frame, high, height, ground = seen["inner"]
        check(f"{what}: the report does not scroll in its frame: {seen['inner']}", inside <= frame and high <= height + 1)
        check(f"{what}: the report has its ground", (ground < 0.05) == (scheme == "dark"))
    if deep:
        page.screenshot(PICTURES / f"{name}-{width}-{scheme}.png")


# ---- From a server ----

class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def served(page, path):
    """The page from a server: dropped files come by another API, and nothing but the page is requested."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=HTML.parent))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/{HTML.name}"
    try:
        page.send("Network.emulateNetworkConditions", **{**OFFLINE, "offline": False})
        page.asked.clear()
        page.open(address)
        said, refused = page.dropped(path / "helm")
        check(f"a folder dropped on a page that was served: {said!r} {refused!r}", "2 files of HELM’s runs: 2 models, 1 task, 16 answers." in said)
        said, refused = page.dropped(path / "good.db")
        check(f"a database likewise: {said!r} {refused!r}", "240 answers" in said)
        page.drain()
        check(f"nothing else was asked for: {list(page.asked.values())[:3]}",
              {url for url in page.asked.values() if not url.startswith(("blob:", "data:", "about:"))} == {address})
        page.asked.clear()
    finally:
        server.shutdown()
        server.server_close()
    page.send("Network.emulateNetworkConditions", **OFFLINE)
    page.load()
    page.silent("from a server")


# ---- Alone ----

def alone(page):
    """The page is one file that may request nothing: its policy says so, and the browser enforces it."""
    html = HTML.read_text()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[1]
    check(f"the policy allows nothing by default: {policy}", policy.startswith("default-src 'none'") and "http" not in policy and
          "connect-src" not in policy and "unsafe-eval'" not in policy.replace("'wasm-unsafe-eval'", ""))
    check(f"at most 3 MB: {len(html.encode())}", len(html.encode()) <= 3_000_000)
    check("it says that nothing leaves", "Nothing leaves this machine" in text_of(page, "private"))
    page.silent("all of it")
    # What breaks the policy is told on the console, so this comes last.
    for attempt in ("fetch('https://example.com/')", "fetch('data:,x')", "new Promise((give, refuse) => { const i = new Image(); i.onload = give; i.onerror = refuse;"
                    " i.src = 'https://example.com/x.png'; })", "new Promise((give, refuse) => { const s = new WebSocket('wss://example.com'); s.onopen = give; s.onerror = refuse; })",
                    "new Promise((give, refuse) => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s); window.ran ? give() : refuse(); })",
                    "Promise.resolve().then(() => eval('1'))"):
        check(f"refused: {attempt[:60]}", page.run(f"Promise.resolve().then(() => {attempt}).then(() => false, () => true)"))
    page.console.clear()
    page.drain()
    left = [url for url in page.asked.values() if url.startswith(("http", "ws"))]
    check(f"none of it left: {left}", not left)


def main():
    with profile() as own, tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch)
        page = Page(own)
        try:
            page.send("Network.emulateNetworkConditions", **OFFLINE)
            page.look(1200)
            page.load()
            for test in (each_input, other_tables, with_its_log, wrong_files, hostile, sql_box, over_the_report, gone, stopping, downloads, huge, keyboard, sizes,
                         served):
                begun = time.monotonic()
                test(page, path)
                print(f"   {test.__name__.replace('_', ' ')}: {time.monotonic() - begun:.0f} s")
            alone(page)
        finally:
            page.close()
    finish()


if __name__ == "__main__":
    main()
