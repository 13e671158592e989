#!/usr/bin/python3
"""The promptfoo adapter on a database that promptfoo itself wrote.

    promptfoo.py EXTENSION INSTALLATION

make test-promptfoo installs promptfoo and runs this.  promptfoo runs the configs of
tests/views/adapters/promptfoo: its echo provider, and one of which the answers are known.
"""
import os
import pathlib
import shutil
import subprocess
import sys

from adapters import BOARD, FILES, FITS, RESULTS, ROOT, UNIQUE, Suite


def evaluate(installation, home, config, *options):
    node = next(installation.glob("node_modules/node-linux-*/bin/node"))
    done = subprocess.run([node, installation / "node_modules/promptfoo/dist/src/entrypoint.js", "eval", "-c", f"{FILES}/promptfoo/{config}",
                           "--no-cache", "--no-progress-bar", "--no-table", "--no-share", *options],
                          cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "PROMPTFOO_CONFIG_DIR": str(home), "PROMPTFOO_DISABLE_TELEMETRY": "1",
                               "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1"})
    # It ends with 100 when tests failed, as some here should.
    if done.returncode not in (0, 100):
        sys.exit(f"{done.stdout}\npromptfoo ended with status {done.returncode}")


def main():
    t = Suite(sys.argv[1].rsplit(".", 1)[0])
    installation = pathlib.Path(sys.argv[2]).resolve()
    home = installation / "home"
    shutil.rmtree(home, ignore_errors=True)
    evaluate(installation, home, "config.yaml", "--repeat", "2")
    evaluate(installation, home, "twins.yaml")
    db = t.path("promptfoo.db")
    t.shell(str(home / "promptfoo.db"), f".backup {db}")
    t.check("the adapter says nothing", t.shell(db, ".read sql/adapters/promptfoo.sql"), "")

    ids = dict(t.rows(db, "SELECT description, id FROM evals"))
    # alpha, beta, gamma, delta, boom: the first test_idx of each, as --repeat 2
    # spreads them, and the score that each model gets.  gamma and delta are
    # graded, by the answer's length, and pass with any score above 0.
    first = (0, 2, 4, 5, 8)
    plain, polite = 5 / 14, 12 / 14
    came = {"echo / plain": (1, 1, plain, plain, 1), "echo / polite": (1, 0, polite, polite, 1),
            "other / plain": (1, 0, plain, plain, None), "other / polite": (1, 0, polite, polite, None)}
    repeated = [(model, ids["repeated"], item, attempt,
                 *((None, None, "the model is down") if score is None else (int(score > 0), round(score, 12), None)))
                for model, scores in came.items() for item, score in zip(first, scores) for attempt in (1, 2)]
    twins = [(f"echo #{i}", ids["twins"], item, 1, 1 - item, 1 - item, None) for i in (0, 1) for item in (0, 1)]
    t.check("rows", t.rows(db, RESULTS.replace(" score,", " round(score, 12),")), twins + repeated)
    t.check("rows are unique", t.number(db, f"({UNIQUE})"), 0)
    t.check("leaderboard", t.rows(db, BOARD, ".read sql/leaderboard.sql"),
            [("echo / plain", 10, 10, 0), ("echo / polite", 10, 8, 0), ("other / plain", 8, 6, 2), ("other / polite", 8, 6, 2),
             ("echo #0", 2, 1, 0), ("echo #1", 2, 1, 0)])
    t.check("promptfoo's own count", t.rows(db, "SELECT sum(success), sum(failure_reason = 1), sum(failure_reason = 2) FROM eval_results"),
            t.rows(db, "SELECT sum(correct), sum(correct = 0), sum(correct IS NULL) FROM results"))
    t.check("fits the canonical table", t.rows(db, "SELECT count(*) FROM results", *FITS), [(44,)])
    t.end()


if __name__ == "__main__":
    main()
