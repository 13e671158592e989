#!/usr/bin/python3
"""Imports of promptfoo's output files, MLflow, Harbor and Terminal-Bench, DeepEval, Every Eval Ever by ext/import.

    trackers.py IMPORTER

The files are written here, with the keys that the tools write; expected rows were written down by hand.  Each format's
file in ext/import says on which files of the tool itself it was tested.
"""
import csv
import io
import json
import sqlite3
import sys

from importing import Suite

ALL = ("SELECT model, task, item, attempt, correct, score, error, cost, latency, tokens FROM results "
       "ORDER BY model, task, item, attempt")


def folder(t, files):
    """A folder of files: text, or what is written as JSON."""
    root = t.path()
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return root


def lines(records):
    return "".join(json.dumps(r) + "\n" for r in records)


def without(record, key):
    return {k: v for k, v in record.items() if k != key}


def result(test, prompt, success, score, provider="gpt", label="plain", x=None, **more):
    return {"testIdx": test, "promptIdx": prompt, "success": success, "score": score, "failureReason": 0 if success else 1,
            "provider": {"id": f"openai:{provider}", "label": provider}, "prompt": {"raw": f"say {x}", "label": label},
            "testCase": {"vars": {"x": test if x is None else x}, "assert": []}, "cost": 0, "latencyMs": 1500,
            "tokenUsage": {"total": 0}, "response": {"output": "one\n\"two\""}, **more}


def output(results, **more):
    return {"evalId": "eval-1", "results": {"version": 3, "timestamp": "2026-01-02T03:04:05.000Z", "prompts": [], "results": results,
                                            "stats": {}}, "config": {"description": "sums"}, **more}


def promptfoo(t):
    failed = result(1, 1, False, 0, "claude", error="refused", failureReason=2)
    two = [result(0, 0, True, 1, cost=0.25, tokenUsage={"total": 12}), result(0, 1, False, 0.25, "claude", error="Expected x"),
           result(1, 0, True, 1), failed]
    expected = [("claude", "sums", 0, 1, 0, 0.25, None, None, 1.5, None), ("claude", "sums", 1, 1, None, None, "refused", None, 1.5, None),
                ("gpt", "sums", 0, 1, 1, 1.0, None, 0.25, 1.5, 12), ("gpt", "sums", 1, 1, 1, 1.0, None, None, 1.5, None)]
    t.imports("promptfoo: a file", t.file("output.json", json.dumps(output(two))), expected, ALL)
    t.imports("promptfoo: a folder", folder(t, {"a/output.json": output(two), "a/other.json": {"x": 1}}), expected, ALL)
    as_lines = [(r[0], "output", *r[2:]) for r in expected]
    t.imports("promptfoo: lines", t.file("output.jsonl", lines(two)), as_lines, ALL)
    t.imports("promptfoo: without a description the id is the task", t.file("o.json", json.dumps(output(two, config={}))),
              [("eval-1",)], "SELECT DISTINCT task FROM results")

    # Columns: two prompts by one provider; a long prompt; two that share every name.
    long = "x" * 70
    named = [result(0, i, True, 1, label=label) for i, label in enumerate(["plain", "polite", long, long])]
    t.imports("promptfoo: names of columns", t.file("o.json", json.dumps(output(named))),
              [("gpt / plain",), ("gpt / polite",), (f"gpt / {long[:59]}… #2",), (f"gpt / {long[:59]}… #3",)],
              "SELECT model FROM results ORDER BY 1")

    # --repeat 2 of tests a, b and again a: a a b b a a, or a b a b of a test with two values.
    repeated = [result(i, 0, i != 3, int(i != 3), x=x) for i, x in enumerate("aabbaa")]
    pairs = [(0, 1, 1), (0, 2, 1), (2, 1, 1), (2, 2, 0), (4, 1, 1), (4, 2, 1)]
    query = "SELECT item, attempt, correct FROM results ORDER BY 1, 2"
    for where in ({"runtimeOptions": {"repeat": 2}}, {"config": {"evaluateOptions": {"repeat": 2}}}):
        t.imports(f"promptfoo: {where}", t.file("o.json", json.dumps(output(repeated, **where))), pairs, query)
    thrice = [result(i, 0, i != 1, int(i != 1), x="a") for i in range(6)]
    t.imports("promptfoo: --repeat 3", t.file("o.json", json.dumps(output(thrice, runtimeOptions={"repeat": 3}))),
              [(0, 1, 1), (0, 2, 0), (0, 3, 1), (3, 1, 1), (3, 2, 1), (3, 3, 1)], query)
    t.imports("promptfoo: equal tests are so many questions", t.file("o.json", json.dumps(output(repeated))),
              [(i, 1, int(i != 3)) for i in range(6)], query)

    for key in ("testIdx", "promptIdx", "success", "failureReason", "provider"):
        bad = t.file("o.json", json.dumps(output([two[0], without(two[2], key)])))
        t.refuses(f"promptfoo without {key}", bad, f"result 2: has no {key}")
    old = output(two)
    old["results"]["version"] = 2
    t.refuses("promptfoo's version 2", t.file("o.json", json.dumps(old)), "version 2")

    def table(status="ERROR"):
        text = io.StringIO()
        cells = ["Status", "Score", "Named Scores", "Grader Reason", "Comment"]
        csv.writer(text).writerows([
            ["Description", "x", "[gpt] plain", *cells, "[claude] plain", *cells],
            ["", "1", "one\n\"two\"", "PASS", "1.00", "", "", "", "no", "FAIL", "0.25", "", "Expected x", ""],
            ["", "2", "one", "PASS", "1.00", "", "", "", "", status, "0.00", "", "", ""],
            ["", "3", "one", "FAIL", "0.00", "", "", "", "", "", "", "", "", ""]])
        return t.file("output.csv", text.getvalue())
    t.imports("promptfoo: CSV", table(), [
        ("claude", "output", 0, 1, 0, 0.25, None), ("claude", "output", 1, 1, None, None, "errored"),
        ("gpt", "output", 0, 1, 1, 1.0, None), ("gpt", "output", 1, 1, 1, 1.0, None), ("gpt", "output", 2, 1, 0, 0.0, None)])
    t.refuses("promptfoo: CSV with another status", table("MAYBE"), "test 2: has Status MAYBE, not PASS, FAIL or ERROR")


SCHEMA = """
CREATE TABLE experiments(experiment_id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE runs(run_uuid TEXT PRIMARY KEY, name TEXT, lifecycle_stage TEXT, status TEXT, experiment_id INTEGER);
CREATE TABLE logged_models(model_id TEXT PRIMARY KEY, name TEXT, status INTEGER);
CREATE TABLE trace_info(request_id TEXT PRIMARY KEY, experiment_id INTEGER, timestamp_ms INTEGER, execution_time_ms INTEGER, status TEXT,
  request_preview TEXT);
CREATE TABLE trace_request_metadata(key TEXT, value TEXT, request_id TEXT, PRIMARY KEY (key, request_id));
CREATE TABLE assessments(assessment_id TEXT PRIMARY KEY, trace_id TEXT, name TEXT, assessment_type TEXT, value TEXT, error TEXT,
  created_timestamp INTEGER, source_type TEXT, source_id TEXT, run_id TEXT, overrides TEXT, valid BOOLEAN);
INSERT INTO experiments VALUES (1, 'qa');
INSERT INTO runs VALUES ('aaaaaaaa1', 'small', 'active', 'FINISHED', 1), ('bbbbbbbb2', 'large', 'active', 'FINISHED', 1),
  ('cccccccc3', 'gone', 'deleted', 'FINISHED', 1);
"""


def mlflow_db(t, more=""):
    """Runs small and large on questions q0 to q3, and one that was deleted."""
    path = t.path("mlflow.db")
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)
    said = 0

    def says(trace, name, value, source="LLM_JUDGE", kind="feedback", **columns):
        nonlocal said
        said += 1
        row = {"assessment_id": f"a-{said}", "trace_id": trace, "name": name, "assessment_type": kind, "value": json.dumps(value),
               "created_timestamp": said, "source_type": source, "valid": 1, **columns}
        db.execute(f"INSERT INTO assessments({','.join(row)}) VALUES ({','.join('?' * len(row))})", list(row.values()))
        return row["assessment_id"]

    for run, name in (("aaaaaaaa1", "small"), ("bbbbbbbb2", "large"), ("cccccccc3", "gone")):
        for q in range(4):
            trace = f"tr-{name}-{q}"
            failed = name == "small" and q == 3
            db.execute("INSERT INTO trace_info VALUES (?, 1, 0, 2500, ?, ?)", (trace, "ERROR" if failed else "OK", f"q{q}"))
            db.executemany("INSERT INTO trace_request_metadata VALUES (?, ?, ?)", [
                ("mlflow.sourceRun", run, trace), ("mlflow.trace.cost", '{"total_cost": 0.5}', trace),
                ("mlflow.trace.tokenUsage", '{"total_tokens": 15}', trace)])
            if failed:
                continue
            verdict = says(trace, "correctness", "yes" if q else "no", run_id=run)
            says(trace, "length", 0.25 * q, "CODE")
            says(trace, "tone", "formal")
            says(trace, "expected_response", "a", "HUMAN", "expectation")
            if q == 0:  # The person agrees, after an earlier different judgement.
                says(trace, "correctness", True, "HUMAN", created_timestamp=0)
                says(trace, "correctness", False, "HUMAN")
            if q == 1:  # The person replaces the judgement.
                says(trace, "correctness", "no", "HUMAN", overrides=verdict)
                db.execute("UPDATE assessments SET valid = 0 WHERE assessment_id = ?", (verdict,))
    db.execute("UPDATE assessments SET value = 'null', error = ? WHERE trace_id = 'tr-large-2' AND name = 'correctness'",
               (json.dumps({"error_code": "SCORER_ERROR", "error_message": "boom"}),))
    # Judged again; the first judgement is marked invalid.
    says("tr-large-3", "correctness", "no", valid=0)
    db.executescript(more)
    db.commit()
    db.close()
    return path


def mlflow(t):
    beside = (0.5, 2.5, 15)
    expected = [("large", "qa", "q0", 1, 0, 0.0, None, *beside), ("large", "qa", "q1", 1, 1, 1.0, None, *beside),
                ("large", "qa", "q2", 1, None, None, "boom", *beside), ("large", "qa", "q3", 1, 1, 1.0, None, *beside),
                ("small", "qa", "q0", 1, 0, 0.0, None, *beside), ("small", "qa", "q1", 1, 1, 1.0, None, *beside),
                ("small", "qa", "q2", 1, 1, 1.0, None, *beside),
                ("small", "qa", "q3", 1, None, None, "the trace ended with an error", *beside)]
    db = mlflow_db(t)
    before = db.read_bytes()
    t.imports("MLflow: a file", db, expected, ALL)
    t.imports("MLflow: a folder", db.parent, expected, ALL)
    t.check("MLflow: the database is as it was", db.read_bytes() == before, True)
    t.imports("MLflow: judge and human, side by side", db, [
        ("large", "q0", 0, 0), ("large", "q1", 1, 0), ("large", "q2", None, None), ("large", "q3", 1, None),
        ("small", "q0", 0, 0), ("small", "q1", 1, 0), ("small", "q2", 1, None), ("small", "q3", None, None)],
        "SELECT model, item, judge, human FROM results ORDER BY 1, 2")
    plain = t.file("plain.csv", "model,task,item,correct\nother,qa,q0,1\n")
    t.imports("MLflow: beside a table without them", [db, plain], [("large", 3), ("other", 0), ("small", 3)],
              "SELECT model, count(judge) FROM results GROUP BY 1")
    t.imports("a table without them gets no such columns", plain, [(0,)],
              "SELECT count(*) FROM pragma_table_info('results') WHERE name IN ('judge', 'human')")
    t.imports("a table with them keeps them", t.file("own.csv", "model,item,correct,Judge,human\nm,1,1,1,0\nm,2,0,0,\n"), [("1", "0"), ("0", "")],
              "SELECT judge, human FROM results ORDER BY item")
    t.imports("MLflow: another assessment", db, [("large", 4, 0, 1.5), ("small", 3, 1, 0.75)],
              "SELECT model, count(score), count(error), sum(score) FROM results GROUP BY 1", metric="length")
    t.refuses("MLflow: an assessment that is not there", db, "no assessment named tone", "correctness", "length", metric="tone")
    t.refuses("MLflow: nothing but words", mlflow_db(t, "DELETE FROM assessments WHERE name <> 'tone'"), "no assessments")
    t.imports("MLflow: two runs of a name", mlflow_db(t, "UPDATE runs SET name = 'same'"), [("same aaaaaaaa",), ("same bbbbbbbb",)],
              "SELECT DISTINCT model FROM results ORDER BY 1")
    t.imports("MLflow: a request that was cut pairs nothing",
              mlflow_db(t, "UPDATE trace_info SET request_preview = printf('%.1000c', 'x')"), [(8, 8)],
              "SELECT count(*), count(DISTINCT item) FROM results")
    t.imports("MLflow: traces of a logged model, and of nothing", mlflow_db(
        t, "INSERT INTO logged_models VALUES ('m-1', 'agent', 1); DELETE FROM trace_request_metadata WHERE key = 'mlflow.sourceRun';"
           "INSERT INTO trace_request_metadata SELECT 'mlflow.modelId', 'm-1', request_id FROM trace_info WHERE request_id GLOB '*small*';"
           "UPDATE assessments SET run_id = NULL"), [("agent", 3), ("qa", 8)], "SELECT model, count(*) FROM results GROUP BY 1")
    # Values that are no JSON: a database that somebody edited.
    t.imports("MLflow: broken values", mlflow_db(
        t, "UPDATE assessments SET value = '{', error = 'x' WHERE trace_id = 'tr-small-0' AND source_type <> 'HUMAN'"),
        [("large", 4), ("small", 4)], "SELECT model, count(*) FROM results GROUP BY 1")


def trial(task, number, reward=None, exception=None, **more):
    return {"id": f"{task}{number}", "task_name": task, "trial_name": f"{task}__{number}", "trial_uri": "file:///x", "source": "tb",
            "task_checksum": "c", "config": {"agent": {"name": "terminus"}},
            "agent_info": {"name": "terminus", "version": "2", "model_info": {"name": "opus", "provider": "anthropic"}},
            "agent_result": {"n_input_tokens": 10, "n_cache_tokens": 1, "n_output_tokens": 5, "cost_usd": 0.25},
            "verifier_result": None if reward is None else {"rewards": reward if isinstance(reward, dict) else {"reward": reward}},
            "exception_info": exception and {"exception_type": exception, "exception_message": "why", "exception_traceback": "t"},
            "agent_execution": {"started_at": "2026-01-01T10:00:00.250000Z", "finished_at": "2026-01-01T10:01:30.500000Z"}, **more}


def harbor(t):
    trials = [trial("a", 1, 1.0), trial("a", 2, 0), trial("b", 1, 0.0, "AgentTimeoutError"), trial("b", 2, 1), trial("c", 1)]
    job = {f"job/{r['trial_name']}/result.json": r for r in trials}
    job |= {f"job/{r['trial_name']}/config.json": {"agent": {"name": "x"}} for r in trials}
    job["job/result.json"] = {"id": "j", "n_total_trials": 5, "stats": {"n_completed_trials": 5}}
    beside = (0.25, 90.25, 15)
    rows = [("terminus / opus", "tb", "a", 0, 0.0, None, *beside), ("terminus / opus", "tb", "a", 1, 1.0, None, *beside),
            ("terminus / opus", "tb", "b", None, None, "AgentTimeoutError: why", *beside), ("terminus / opus", "tb", "b", 1, 1.0, None, *beside),
            ("terminus / opus", "tb", "c", None, None, "score is missing", *beside)]
    query = ("SELECT model, task, item, correct, score, error, cost, latency, tokens FROM results ORDER BY item, correct")
    t.imports("Harbor: a folder", folder(t, job), rows, query)
    t.imports("Harbor: trials are attempts", folder(t, job), [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1)],
              "SELECT item, attempt FROM results ORDER BY 1, 2")
    t.imports("Harbor: a trial", folder(t, job) / "job/a__1/result.json", [rows[1]], query)
    t.refuses("Harbor: a job's summary", folder(t, job) / "job/result.json", "give its folder")

    def one(**more):
        return t.file("result.json", json.dumps(trial("a", 1, **more)))
    score = "SELECT score, correct FROM results"
    t.imports("Harbor: a reward of any name", one(reward={"tests": 0.5}), [(0.5, None)], score)
    t.imports("Harbor: of several the one named reward", one(reward={"a": 0, "reward": 1}), [(1.0, 1)], score)
    t.imports("Harbor: or the one that is chosen", one(reward={"a": 0, "reward": 1}), [(0.0, 0)], score, metric="a")
    t.refuses("Harbor: several", one(reward={"a": 0, "b": 1}), "a__1: has no reward named reward; choose one of a, b by --metric")
    t.refuses("Harbor: none of that name", one(reward={"a": 0, "b": 1}), "a__1: has no reward named c; choose one of a, b by --metric", metric="c")
    t.imports("Harbor: an agent without a model, tasks of no dataset", one(reward=1, agent_info={"name": "oracle"}, source=None),
              [("oracle", "adhoc")], "SELECT model, task FROM results")
    t.refuses("Harbor: a trial without a task", t.file("result.json", json.dumps(trial(None, 1, 1))), "has no task_name")


def terminal_bench(t):
    def resolved(task, number, verdict, mode="unset"):
        return {"trial_name": f"{task}.{number}-of-2", "task_id": task, "is_resolved": verdict, "failure_mode": mode,
                "total_input_tokens": 0, "total_output_tokens": 0, "agent_started_at": "2026-01-01T10:00:00+00:00",
                "agent_ended_at": "2026-01-01T10:00:02.5+00:00"}
    trials = [resolved("a", 1, True), resolved("a", 2, False, "agent_timeout"), resolved("b", 1, None, "test_timeout"), resolved("b", 2, None)]
    run = {"results": trials, "n_resolved": 1, "accuracy": 0.25}
    about = {"agent_name": "chaterm", "model_name": "sonnet", "dataset_name": "core", "end_time": "2026-01-02T00:00:00+00:00"}
    rows = [("a", 1, 1, None), ("a", 2, 0, None), ("b", 1, None, "test_timeout"), ("b", 2, None, "score is missing")]
    query = "SELECT item, attempt, correct, error FROM results ORDER BY 1, 2"
    files = {"run/results.json": run, "run/run_metadata.json": about,
             **{f"run/{r['task_id']}/{r['trial_name']}/results.json": r for r in trials}}
    t.imports("Terminal-Bench: a folder", folder(t, files), rows, query)
    t.imports("Terminal-Bench: a file", folder(t, files) / "run/results.json", rows, query)
    t.imports("Terminal-Bench: a trial", folder(t, files) / "run/b/b.1-of-2/results.json", [rows[2]], query)
    names = "SELECT DISTINCT model, task, latency, tokens FROM results"
    t.imports("Terminal-Bench: model and task", folder(t, files), [("chaterm / sonnet", "core", 2.5, None)], names)
    t.imports("Terminal-Bench: without run_metadata.json", folder(t, {"mine/results.json": run}), [("mine", "terminal-bench", 2.5, None)], names)
    twice = {**files, "again/results.json": run, "again/run_metadata.json": about}
    t.imports("Terminal-Bench: runs are attempts", folder(t, twice), [("a", 4), ("b", 4)], "SELECT item, count(*) FROM results GROUP BY 1")


def case(number, success, *metrics, **more):
    return {"name": f"test_case_{number}", "input": f"question {number}", "actualOutput": "x", "success": success, "order": number,
            "metricsData": list(metrics), **more}


def measured(name, score, threshold=0.5, **more):
    return {"name": name, "score": score, "threshold": threshold, "success": score is not None and score >= threshold, "strictMode": False, **more}


def deepeval(t):
    failed = measured("Faithful", None, error="no answer")
    cases = [case(0, True, measured("Relevant", 0.75), measured("Faithful", 0.5), tokenCost=0.25, completionTime=1.5),
             case(1, False, measured("Relevant", 0.25), measured("Faithful", 0.75)), case(2, False, measured("Relevant", 0.75), failed),
             case(3, False, measured("Relevant", 0.25), failed), case(4, True, measured("Relevant", 0.75), measured("Faithful", 0, flaky=True)),
             case(5, None)]
    talk = {"name": "c", "success": True, "metricsData": [measured("Relevant", 1)], "scenario": "a talk", "turns": [], "order": 0}
    run = {"testFile": "test_x.py", "testCases": cases, "conversationalTestCases": [talk], "identifier": "july",
           "metricsScores": [{"metric": "Relevant", "scores": []}, {"metric": "Faithful", "scores": []}],
           "hyperparameters": {"Model": "gpt", "prompt": "p"}, "testPassed": 3, "testFailed": 3}
    rows = [("july", "test_x.py", "a talk", 1, 1, 1.0, None, None, None, None),
            ("july", "test_x.py", "question 0", 1, 1, None, None, 0.25, 1.5, None), ("july", "test_x.py", "question 1", 1, 0, None, None, None, None, None),
            ("july", "test_x.py", "question 2", 1, None, None, "Faithful: no answer", None, None, None),
            ("july", "test_x.py", "question 3", 1, 0, None, None, None, None, None), ("july", "test_x.py", "question 4", 1, 1, 0.75, None, None, None, None),
            ("july", "test_x.py", "question 5", 1, None, None, "was not evaluated", None, None, None)]
    t.imports("DeepEval: a file", t.file("test_run_20260102_030405.json", json.dumps(run)), rows, ALL)
    t.imports("DeepEval: .latest_test_run.json", t.file(".latest_test_run.json", json.dumps({"testRunData": run})), rows, ALL)
    t.imports("DeepEval: its folder has the run twice", folder(t, {".latest_run_full.json": run, ".latest_test_run.json": {"testRunData": run},
                                                                  ".deepeval-cache.json": {"test_cases_lookup_map": {}}}), rows, ALL)
    t.imports("DeepEval: a metric", t.file("a.json", json.dumps(run)),
              [("question 0", 1, 0.5, None), ("question 1", 1, 0.75, None), ("question 2", None, None, "Faithful: no answer"),
               ("question 3", None, None, "Faithful: no answer"), ("question 4", 0, 0.0, None)],
              "SELECT item, correct, score, error FROM results ORDER BY 1", metric="Faithful")
    t.refuses("DeepEval: a metric that is not there", t.file("a.json", json.dumps(run)), "no metric named x", "Relevant, Faithful", metric="x")
    names = "SELECT DISTINCT model, task FROM results"
    t.imports("DeepEval: the hyperparameter", t.file("a.json", json.dumps(without(run, "identifier"))), [("gpt", "test_x.py")], names)
    t.imports("DeepEval: the file's name", t.file("a.json", json.dumps(without(without(without(run, "identifier"), "hyperparameters"), "testFile"))),
              [("a", "deepeval")], names)
    later = {**run, "testCases": [case(0, False, measured("Relevant", 0))], "conversationalTestCases": []}
    t.imports("DeepEval: the later run of a name", folder(t, {"test_run_20260203_000000.json": later, "test_run_20260102_000000.json": run}),
              [(0,)], "SELECT correct FROM results WHERE item = 'question 0'")
    t.refuses("DeepEval: a case without an input", t.file("a.json", json.dumps({**run, "testCases": [{"success": True, "metricsData": []}]})),
              "record 1: has no input")


def mixed(t):
    """A metric of one tool, in a folder that has files of others too."""
    run = {"testCases": [case(0, True, measured("Faithful", 0.5))], "identifier": "july", "metricsScores": [{"metric": "Faithful", "scores": []}]}
    trial = {"task_name": "q", "trial_name": "q__1", "agent_info": {"name": "a"}, "verifier_result": {"rewards": {"Faithful": 1, "other": 0}}}
    answer = {"doc_id": 0, "doc": {}, "target": "4", "arguments": {}, "resps": [["4"]], "filtered_resps": ["4"], "filter": "none", "metrics": ["acc"],
              "doc_hash": "h", "prompt_hash": "p", "target_hash": "t", "acc": 1.0}
    lm = {"m/samples_x_2026-01-02T03-04-05.000000.jsonl": lines([answer])}
    query = "SELECT model, item, score FROM results ORDER BY 1"
    for what, files, row in (("DeepEval", {"d/a.json": run}, ("july", "question 0", 0.5)),
                             ("Every Eval Ever", {"e/x_samples.jsonl": lines([sample(0, 0.25, "Faithful")])}, ("org/m", "s0", 0.25)),
                             ("Harbor", {"h/q__1/result.json": trial}, ("a", "q", 1.0))):
        t.imports(f"{what} beside lm_eval: its metric", folder(t, {**files, **lm}), sorted([row, ("m", 0, 1.0)]), query, metric="Faithful")
    t.refuses("a metric that none of them has", folder(t, {"d/a.json": run, **lm}), "--metric must be one of acc, got x", metric="x")
    both = folder(t, {"d/a.json": run})
    (both / "mlflow.db").write_bytes(mlflow_db(t).read_bytes())
    t.imports("MLflow without it is left out", both, [("july", "question 0", 0.5)], query, metric="Faithful")
    t.imports("MLflow has it, and DeepEval not", both, [("large", 4), ("small", 3)], "SELECT model, count(score) FROM results GROUP BY 1", metric="length")


def sample(number, score, result=None, **more):
    return {"schema_version": "0.3.0", "evaluation_id": "e", "model_id": "org/m", "evaluation_name": "bench", "evaluation_result_id": result,
            "sample_id": f"s{number}", "interaction_type": "single_turn", "input": {"raw": "x", "reference": []}, "answer_attribution": [],
            "evaluation": {"score": score, "is_correct": score > 0 if score is not None else False},
            "token_usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}, "performance": {"latency_ms": 250}, **more}


def every_eval_ever(t):
    averages = {"schema_version": "0.3.0", "evaluation_id": "e", "evaluation_timestamp": "1750000000", "model_info": {"id": "org/m"},
                "evaluation_results": [{"evaluation_name": "bench", "metric_config": {"lower_is_better": False}}]}
    samples = [sample(0, 1.0), sample(1, 0.0), sample(2, 0.0, error="timeout"), sample(2, 1.0), sample(3, None, token_usage=None, performance=None)]
    beside = (None, 0.25, 3)
    rows = [("org/m", "bench", "s0", 1, 1, 1.0, None, *beside), ("org/m", "bench", "s1", 1, 0, 0.0, None, *beside),
            ("org/m", "bench", "s2", 1, None, None, "timeout", *beside), ("org/m", "bench", "s2", 2, 1, 1.0, None, *beside),
            ("org/m", "bench", "s3", 1, None, None, "score is missing", None, None, None)]
    path = "data/c/org/m/11111111-1111-4111-8111-111111111111"
    files = {f"{path}.json": averages, f"{path}_samples.jsonl": lines(samples)}
    t.imports("Every Eval Ever: a folder", folder(t, files), rows, ALL)
    t.imports("Every Eval Ever: a file", t.file("x_samples.jsonl", lines(samples)), rows, ALL)
    t.refuses("Every Eval Ever: averages", folder(t, files) / f"{path}.json", "give its _samples.jsonl")
    t.imports("Every Eval Ever: graded, whatever is_correct says", t.file("x.jsonl", lines([sample(0, 0.25), sample(1, 1.0)])),
              [(None, 0.25), (None, 1.0)], "SELECT correct, score FROM results ORDER BY item")
    both = [sample(0, 1.0, "exact"), sample(0, 0.5, "f1"), sample(1, 0.0, "exact"), sample(1, 0.25, "f1")]
    both += [sample(0, 0.5, "f1", evaluation_name="other")]
    query = "SELECT task, item, score FROM results ORDER BY 1, 2"
    t.imports("Every Eval Ever: the first metric of each task", t.file("x.jsonl", lines(both)),
              [("bench", "s0", 1.0), ("bench", "s1", 0.0), ("other", "s0", 0.5)], query)
    t.imports("Every Eval Ever: the chosen metric", t.file("x.jsonl", lines(both)),
              [("bench", "s0", 0.5), ("bench", "s1", 0.25), ("other", "s0", 0.5)], query, metric="f1")
    t.imports("Every Eval Ever: a task without it is left out", t.file("x.jsonl", lines(both)),
              [("bench", "s0", 1.0), ("bench", "s1", 0.0)], query, metric="exact")
    t.refuses("Every Eval Ever: a metric that is not there", t.file("x.jsonl", lines(both)), "choose one of exact, f1", metric="bleu")
    files[f"{path}.json"]["evaluation_results"][0]["metric_config"]["lower_is_better"] = True
    said = t.imports("Every Eval Ever: lower is better", folder(t, files), rows, ALL)
    t.check("Every Eval Ever: which is said", "bench: lower is better" in said, True)
    for key in ("model_id", "sample_id"):
        t.refuses(f"Every Eval Ever without {key}", t.file("x.jsonl", lines([samples[0], without(samples[1], key)])), f"record 2: has no {key}")


def parquet(t):
    t.refuses("Parquet", t.file("details_task.parquet", b"PAR1" + bytes(100) + b"PAR1"), "Parquet", "duckdb", "lighteval")


def main():
    t = Suite(sys.argv[1])
    for part in (promptfoo, mlflow, harbor, terminal_bench, deepeval, every_eval_ever, mixed, parquet):
        part(t)
    t.end()


if __name__ == "__main__":
    main()
