#!/usr/bin/python3
"""Tests the promptfoo adapter on a database that promptfoo itself wrote.

    promptfoo.py EXTENSION PROGRAM INSTALLATION

make test-promptfoo installs promptfoo and runs this.  promptfoo runs the configs of
tests/views/adapters/promptfoo: its echo provider, and a provider with known answers.
"""
import os
import pathlib
import shutil
import subprocess
import sys

from adapters import ROOT, Suite
from tools import COUNTS, FILES, FITS, RESULTS, UNIQUE


def evaluate(installation, home, config, *options):
    node = next(installation.glob("node_modules/node-linux-*/bin/node"))
    done = subprocess.run([node, installation / "node_modules/promptfoo/dist/src/entrypoint.js", "eval", "-c", f"{FILES}/promptfoo/{config}",
                           "--no-cache", "--no-progress-bar", "--no-table", "--no-share", *options],
                          cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "PROMPTFOO_CONFIG_DIR": str(home), "PROMPTFOO_DISABLE_TELEMETRY": "1",
                               "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1"})
    # promptfoo's status is 100 if tests failed, as some must here.
    if done.returncode not in (0, 100):
        sys.exit(f"{done.stdout}\npromptfoo ended with status {done.returncode}")


def main():
    t = Suite(sys.argv[1].rsplit(".", 1)[0])
    program, installation = (pathlib.Path(name).resolve() for name in sys.argv[2:])
    home = installation / "home"
    shutil.rmtree(home, ignore_errors=True)
    evaluate(installation, home, "config.yaml", "--repeat", "2")
    # The eval runs twice; results has the second run.
    evaluate(installation, home, "twins.yaml")
    evaluate(installation, home, "twins.yaml")
    evaluate(installation, home, "equal.yaml")
    evaluate(installation, home, "twice.yaml")
    db = t.path("promptfoo.db")
    t.shell(str(home / "promptfoo.db"), f".backup {db}")
    t.check("the adapter says nothing", t.shell(db, ".read sql/adapters/promptfoo.sql"), "")

    # alpha, beta, gamma, delta, boom: the first test_idx of each, as --repeat 2
    # spreads them, and the score that each model gets.  gamma and delta are
    # graded, by the answer's length, and pass with any score above 0.
    first = (0, 2, 4, 5, 8)
    plain, polite = 5 / 14, 12 / 14
    came = {"echo / plain": (1, 1, plain, plain, 1), "echo / polite": (1, 0, polite, polite, 1),
            "other / plain": (1, 0, plain, plain, None), "other / polite": (1, 0, polite, polite, None)}
    repeated = [(model, "repeated", item, attempt,
                 *((None, None, "the model is down") if score is None else (int(score > 0), round(score, 12), None)))
                for model, scores in came.items() for item, score in zip(first, scores) for attempt in (1, 2)]
    # yes, yes, yes, no, no, maybe: as six questions, and as six questions asked twice.
    right = (1, 1, 1, 0, 0, 0)
    equal = [("echo", "equal", item, 1, score, score, None) for item, score in enumerate(right)]
    twice = [("echo", "equal, twice", 2 * item, attempt, score, score, None) for item, score in enumerate(right) for attempt in (1, 2)]
    twins = [(f"echo #{i}", "twins", item, 1, 1 - item, 1 - item, None) for i in (0, 1) for item in (0, 1)]
    t.check("rows", t.rows(db, RESULTS.replace(" score,", " round(score, 12),")), equal + twice + twins + repeated)
    t.check("rows are unique", t.number(db, f"({UNIQUE})"), 0)
    t.check("promptfoo's own count", t.rows(db, "SELECT sum(success), sum(failure_reason = 1), sum(failure_reason = 2) FROM eval_results"),
            t.rows(db, "SELECT sum(correct), sum(correct = 0), sum(correct IS NULL) FROM promptfoo_results"))
    runs = t.rows(db, "SELECT task, repeat, latest FROM promptfoo_runs ORDER BY created_at")
    t.check("runs", runs, [("repeated", 2, 1), ("twins", 1, 0), ("twins", 1, 1), ("equal", 1, 1), ("equal, twice", 2, 1)])
    copy = t.path("copy.db")
    done = subprocess.run([program, "import", home / "promptfoo.db", "-o", copy], text=True, capture_output=True)
    said = " ".join(done.stdout.split())
    t.check("an import of the database where it lies", (done.returncode, done.stderr, said.count("there is a later run of twins")), (0, "", 1))
    t.check("an import gives what the views show", t.rows(copy, COUNTS), t.rows(db, COUNTS))
    t.check("fits the canonical table", t.rows(db, "SELECT count(*) FROM results", *FITS), [(6 + 12 + 4 + 40,)])
    t.end()


if __name__ == "__main__":
    main()
