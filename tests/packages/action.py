#!/usr/bin/python3
"""The GitHub Action of ext/action, its steps run as a runner does: action.py PROGRAM

A composite action: inputs with their defaults, expressions filled in, each `run` by the shell that it names, with the
files that GitHub gives in GITHUB_OUTPUT and GITHUB_STEP_SUMMARY.  Steps that use another action are not run; their
inputs are checked.
"""
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from checks import check, finish  # noqa: E402

ACTION = ROOT / "ext/action"
# What GitHub runs for `shell: bash`.
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
# Models that differ much and little, on the same questions; names that a shell might trip over.
NEW, OLD, LIKE = "new $(touch pwned)", "old'; exit 0; '", "like | `id`"


class Job:
    """One use of the action in a job: whether it succeeded, its outputs, summary, words and uploads."""

    def __init__(self, folder, program=None, env=None, **inputs):
        self.action = yaml.safe_load((ACTION / "action.yml").read_text())
        declared = self.action["inputs"]
        unknown = set(inputs) - set(declared)
        check(f"inputs are the action's: {unknown}", not unknown)
        self.inputs = {name: str(inputs.get(name, given.get("default", ""))) for name, given in declared.items()}
        if program:
            self.inputs["program"] = str(program)
        self.folder, self.env = folder, env or {}
        self.files = {name: folder / f".{name}" for name in ("output", "summary")}
        self.outputs_of, self.words, self.uploads, self.succeeded = {}, "", [], True
        for file in self.files.values():
            file.write_text("")
        for step in self.action["runs"]["steps"]:
            self.step(step)
        self.summary = self.files["summary"].read_text()
        self.outputs = {name: self.filled(given["value"]) for name, given in self.action.get("outputs", {}).items()}

    def value(self, expression):
        """Evaluates the expressions that occur in the action."""
        words = expression.strip().split(".")
        if words[0] == "inputs":
            return self.inputs[words[1]]
        if words[:2] == ["github", "action_path"]:
            return str(ACTION)
        check(f"an expression that GitHub knows: {expression}", words[0] == "steps" and words[2] == "outputs")
        return self.outputs_of.get(words[1], {}).get(words[3], "")

    def filled(self, text):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda found: self.value(found[1]), text)

    def step(self, step):
        # Without a condition a step is run as long as all before it succeeded.
        condition = re.fullmatch(r"(inputs\.\w+) != ''", step["if"]) if "if" in step else None
        check(f"a condition that this test knows: {step.get('if')}", condition or "if" not in step)
        if not self.succeeded or (condition and not self.value(condition[1])):
            return
        if "uses" in step:
            self.uploads.append((step["uses"], {name: self.filled(text) for name, text in step["with"].items()}))
            return
        self.files["output"].write_text("")
        script = self.folder / ".step.sh"
        script.write_text(self.filled(step["run"]))
        check("no input becomes a part of a script", "${{ inputs" not in step["run"] and step["shell"] == "bash")
        env = {**os.environ, **self.env, **{name: self.filled(text) for name, text in step.get("env", {}).items()},
               "GITHUB_OUTPUT": str(self.files["output"]), "GITHUB_STEP_SUMMARY": str(self.files["summary"]), "RUNNER_TEMP": str(self.folder / ".temp")}
        done = subprocess.run([*BASH, script], cwd=self.folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.words += done.stdout
        self.succeeded = done.returncode == 0
        lines = self.files["output"].read_text().splitlines()
        self.outputs_of[step.get("id")] = dict(line.split("=", 1) for line in lines)


def results(folder):
    """Writes the answers to two files, one of which has a space in its name."""
    rows = [f'"{model}",{item},{int(item % every > 0)}\n' for model, every, asked in ((NEW, 9, 200), (OLD, 3, 200), (LIKE, 4, 12)) for item in range(asked)]
    (folder / "a b.csv").write_text("llm,item,correct\n" + "".join(rows[:250]))
    (folder / "more.csv").write_text("llm,item,correct\n" + "".join(rows[250:]))


def check_results(program, folder):
    how = {"program": program, "results": "  a b.csv \n\nmore.c*\n", "options": "--model llm --task-name all"}
    job = Job(folder, **how, title="Nightly & <b>")
    check(f"without a gate it succeeds: {job.words}", job.succeeded and job.outputs["result"] == "" and job.words == "")
    check(f"the summary has every model: {job.summary[:500]}", job.summary.startswith("## Nightly & <b>\n\n| rank |") and job.summary.count("\n|") >= 8)
    check("and every two models", "<details><summary>Every two models</summary>" in job.summary and "A better" in job.summary)
    report = folder / "evalci-report.html"
    check("the report is there and uploaded", "</html>" in report.read_text() and job.outputs["report"] == report.name
          and job.uploads == [("actions/upload-artifact@v4", {"name": "evalci-report", "path": report.name})])
    check("no name of a model was run", not (folder / "pwned").exists())
    job = Job(folder, **how, artifact="", report="other folder/other page.html")
    check("a report of another name, not uploaded", job.succeeded and not job.uploads and (folder / "other folder/other page.html").exists())
    (folder / "spaced.csv").write_text("the llm,item,correct\n" + "".join(f"a,{item},1\n" for item in range(5)))
    job = Job(folder, program=program, results="spaced.csv", options="--model 'the llm' --task-name \"my $(touch pwned) task\"")
    check(f"options in quotes: {job.words}", job.succeeded and not (folder / "pwned").exists())
    (folder / "--quiet.csv").write_text((folder / "spaced.csv").read_text())
    job = Job(folder, program=program, results="--*.csv\n--quiet.csv", options="\n  --model \"the llm\"\n--task-name all\n", title="two\n# lines")
    check(f"a file whose name is like an option, options on lines, a title of two: {job.words}",
          job.succeeded and "| the llm |" not in job.summary and job.summary.startswith("## two # lines\n"))


def check_gates(program, folder):
    how = {"program": program, "results": "*.csv", "options": "--model llm --task-name all"}
    for given, succeeds, result, sign in (
            ({"candidate": NEW, "baseline": OLD}, True, "pass", "✅"), ({"candidate": OLD, "baseline": NEW}, False, "fail", "❌"),
            ({"candidate": LIKE, "baseline": OLD}, True, "unsure", "⚠️"), ({"candidate": LIKE, "baseline": OLD, "unsure": "fail"}, False, "unsure", "⚠️"),
            ({"candidate": NEW, "min": "0.8"}, True, "pass", "✅"), ({"candidate": OLD, "min": "0.8"}, False, "fail", "❌"),
            ({"candidate": NEW, "min": "0.88", "sure": "0.51"}, True, "pass", "✅"), ({"candidate": NEW, "min": "0.88"}, True, "unsure", "⚠️"),
            ({"candidate": OLD, "baseline": NEW, "margin": "0.5"}, True, "pass", "✅")):
        job = Job(folder, **how, **given)
        check(f"{given}: {job.succeeded}, {job.outputs}, {job.words}", job.succeeded is succeeds and job.outputs["result"] == result
              and job.outputs["message"].startswith(f"{result}: ") and f"\n<p>{sign} {html.escape(job.outputs['message'], quote=False)}</p>\n\n" in job.summary)
        wanted = {"pass": "", "fail": "::error::fail: ", "unsure": "::warning::unsure: "}[result]
        check(f"{given}: it says so where a pull request shows it: {job.words}", job.words.startswith(wanted) and bool(job.words) == bool(wanted))
        check(f"{given}: the report is uploaded whatever the gate says", len(job.uploads) == 1)
    check("no name of a model was run", not (folder / "pwned").exists())
    shown = "![x](https://example.org/x.png) <img src=x> &amp;\n\n# [y](z) `w`"
    (folder / "shown.csv").write_text("model,item,correct\n" + "".join(f'"{shown}",{item},1\n' for item in range(60)))
    job = Job(folder, program=program, results="shown.csv", candidate=shown, min="0.5")
    line = next((line for line in job.summary.split("\n") if "✅" in line), "")
    check(f"a name in the summary is text, on one line: {job.words} {line}", job.outputs["result"] == "pass" and
          line.startswith("<p>✅ ") and "![x](https://example.org/x.png) &lt;img src=x&gt; &amp;amp;??# [y](z) `w`" in line and line.endswith("</p>"))
    check(f"and in its table: {job.summary}", "<img" not in job.summary.replace(line, "") and "![" not in job.summary.replace(line, ""))


def check_path(program, folder):
    """What is called evalci on the PATH is not run; here pip, which would install the program, fails."""
    tools = folder / "tools"
    tools.mkdir()
    for name, says in (("evalci", "touch owned"), ("python3", "echo no pip here; exit 1"), ("python", "echo no pip here; exit 1")):
        (tools / name).write_text(f"#!/bin/sh\n{says}\n")
        (tools / name).chmod(0o755)
    env = {"PATH": f"{tools}:{os.environ['PATH']}"}
    job = Job(folder, env=env, results="*.csv", options="--model llm")
    check(f"without a program it is installed: {job.words}", not job.succeeded and "no pip here" in job.words and not (folder / "owned").exists())
    job = Job(folder, program=program, env=env, results="*.csv", options="--model llm --task-name all")
    check(f"the one that is named is used: {job.words}", job.succeeded and not (folder / "owned").exists())


def check_errors(program, folder):
    (folder / "commands.txt").write_text('model,item,"correct\n::warning::owned"\na,1,1\n')
    (folder / "faults.txt").write_text("model,item,correct\na,1,x\na,2,y\n")
    for what, given, words in (
            ("a file that is not there", {"results": "none.csv"}, "none.csv"), ("a pattern without a file", {"results": "*.none"}, "there is no file '*.none'"),
            ("no file", {"results": " \n"}, "results names no file"), ("a column that is not there", {"results": "*.csv", "options": "--item question"}, "there is no column question"),
            ("a model that is not there", {"results": "*.csv", "options": "--model llm", "candidate": "nobody", "min": "0.5"}, "no model 'nobody'"),
            ("a minimum of nobody", {"results": "*.csv", "options": "--model llm", "min": "0.9"}, "only with candidate"),
            ("a baseline of nobody", {"results": "*.csv", "options": "--model llm", "baseline": OLD}, "only with candidate"),
            ("half a quote", {"results": "*.csv", "options": "--model 'llm"}, "a quote without its end: --model 'llm"),
            ("neither warn nor fail", {"results": "*.csv", "options": "--model llm", "unsure": "ignore"}, "unsure must be warn or fail, got 'ignore'"),
            ("a command to GitHub in a model's name", {"results": "commands.txt"}, "correct ::warning::owned"), ("an error of several lines", {"results": "faults.txt"}, "got 'x' (and 1 more like it)%0A"),
            ("a gate of nothing", {"results": "*.csv", "options": "--model llm", "candidate": NEW}, "--baseline must name a model")):
        job = Job(folder, program=program, **given)
        errors = [line for line in job.words.splitlines() if line.startswith("::error::")]
        check(f"{what} is an error that says so: {job.words}", not job.succeeded and len(errors) == 1 and words in errors[0]
              and sum(line.startswith("::") for line in job.words.splitlines()) == 1)


def check_installs(packages):
    """Without a program the action installs it by pip; called by packages.py, with a folder of packages."""
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made).resolve()
        (folder / ".temp").mkdir()
        results(folder)
        # A machine that has no evalci.
        tools = folder / ".bin"
        tools.mkdir()
        for tool in ("bash", "mktemp", "cat", "rm", "sed", "wc", "xargs", "printf"):
            (tools / tool).symlink_to(shutil.which(tool))
        (tools / "python3").symlink_to("/usr/bin/python3")
        env = {"PATH": str(tools), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(packages), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        job = Job(folder, env=env, results="*.csv", options="--model llm --task-name all", candidate=NEW, baseline=OLD)
        check(f"the action installs the program by pip: {job.words}", job.succeeded and job.outputs["result"] == "pass")
        job = Job(folder, env=env, results="*.csv", options="--model llm", version="0.0.1")
        check(f"a version that is not there is an error: {job.words}", not job.succeeded and "sqlite-evalci==0.0.1" in job.words)


def main(program):
    program = pathlib.Path(program).resolve()
    for part in (check_results, check_gates, check_path, check_errors):
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made).resolve()
            results(folder)
            part(program, folder)
    finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
