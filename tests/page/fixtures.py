#!/usr/bin/python3
"""Writes files of other tools, by the suites of tests/import, for those of tests/page: tests/page/fixtures.py FOLDER

A folder for each: jsonl, promptfoo, zstd (Inspect's log), harbor, mlflow, deepeval, every_eval_ever, counts, votes.
"""
import json
import pathlib
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/import"))
from tools import FILES, zipped  # noqa: E402
from trackers import case, lines, measured, mlflow_db, output, result, sample, trial  # noqa: E402


def inspect_log():
    log = json.loads((FILES / "inspect/2025-03-01T11-00-00+00-00_arith_b.json").read_text())
    samples = log.pop("samples")
    return zipped({**{f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}, "header.json": log}, 93)


def files():
    # Not half between two numbers of three digits, of which SQLite's printf() shows one or the other, as long double is.
    took = {"agent_execution": {"started_at": "2026-01-01T10:00:00Z", "finished_at": "2026-01-01T10:01:30Z"}}
    trials = [trial(task, i, float(i % 2), "AgentTimeoutError" if task == "c" else None, **took) for task in "abc" for i in range(2)]
    return {
        "jsonl/answers.jsonl": lines({"model": m, "task": "sums", "question_id": q, "is_correct": (q * (i + 2)) % 3 > 0} for i, m in enumerate(("small", "large"))
                                     for q in range(12)),
        "promptfoo/output.json": output([result(t, p, (t + p) % 3 > 0, float((t + p) % 3 > 0), m) for t in range(6) for p, m in enumerate(("gpt", "claude"))]),
        "zstd/arith.eval": inspect_log(),
        **{f"harbor/job/{t['trial_name']}/result.json": t for t in trials},
        "harbor/job/result.json": {"id": "j", "n_total_trials": 6, "stats": {"n_completed_trials": 6}},
        "deepeval/test_run_20260102_030405.json": {"testFile": "test_x.py", "identifier": "july", "testCases": [
            case(i, i % 2 > 0, measured("Relevant", 0.75 if i % 2 else 0.25)) for i in range(6)], "conversationalTestCases": [],
            "metricsScores": [{"metric": "Relevant", "scores": []}], "testPassed": 3, "testFailed": 3},
        "every_eval_ever/x_samples.jsonl": lines(sample(i, float(i % 3 > 0)) for i in range(7)),
        "counts/counts.csv": "model,task,k,n\nsmall,sums,12,20\nlarge,sums,18,20\nsmall,words,7,10\nlarge,words,9,10\n",
        "votes/votes.jsonl": lines({"model_a": a, "model_b": b, "winner": w} for a, b, w in (("x", "y", "model_a"), ("y", "z", "tie"), ("x", "z", "model_b"))),
    }


def make(folder):
    folder = pathlib.Path(folder)
    for name, content in files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content)).encode())
    (folder / "mlflow").mkdir()
    mlflow_db(types.SimpleNamespace(path=lambda name: folder / "mlflow" / name))


if __name__ == "__main__":
    make(sys.argv[1])
