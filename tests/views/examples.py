#!/usr/bin/python3
"""Runs the examples of every .md file and compares what they print.

Each page gets a directory of its own, with the project's folders as its reader has
them, and its blocks run there in order:

    ```sql          in the real sqlite3 shell, on one database, evals.db
    ```sh           as a script; its last line must succeed
    ```c            is written to the file that its first line names
    ```python       as a program
    ```yaml         its steps' commands, as a script; tests/packages/action.py runs the action itself
    ```text         is what the block before it must print, errors included; of
                    make, part of what it prints

The other languages are those of clients, which tests/clients/run starts.  What is
not run stands in ELSEWHERE with where it is: a block that is neither fails.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("", "packages")]
from api import laid_out  # noqa: E402
from checks import SQLITE, check, finish  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
# Commands that other suites run, or that change the machine.
ELSEWHERE = {
    "sudo make install": "installs",
    "pip install": "tests/packages/packages.py",
    "npm install": "tests/packages/packages.py",
    "tar xzf evalci-": "tests/packages/dist.py",
    "sqlite-utils query": "tests/clients/run",
    "datasette evals.db": "tests/packages/host.py, and tests/views/views.py runs its queries",
    "echo 'SELECT model, ci FROM eval_leaderboard' |": "tests/clients/run",
    "psql -X -f sql/pushdown/asked.sql": "tests/pushdown/run.py",
}
CLIENTS = {"js": "node", "java": "java", "r": "Rscript"}
# Statements that say what is meant, at the head of a page: results need not be there.
SLOGANS = ("SELECT model, bayes_ci(correct) FROM results GROUP BY model;\n", "SELECT * FROM eval_leaderboard;\n")


# The program evalci where commands are and sqlite_evalci where Python finds it, as installed ones are.
INSTALLED = {**os.environ, "PATH": f"{ROOT}/build/bin:{os.environ['PATH']}"}


def pages():
    return [p for p in sorted(ROOT.rglob("*.md")) if "build" not in p.relative_to(ROOT).parts[:1]]


def blocks(text):
    """(line, language, body, expected or None), expected being a text block that is the next; a text block
    that is of no other comes by itself."""
    found = list(BLOCK.finditer(text))
    for before, block, after in zip([None] + found, found, found[1:] + [None]):
        if block[1] != "text" or before is None or before[1] == "text":
            expected = after[2] if after and after[1] == "text" and block[1] != "text" else None
            yield text.count("\n", 0, block.start()) + 1, block[1], block[2], expected


def run(command, folder, stdin=None):
    return subprocess.run(command, input=stdin, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=INSTALLED)


def example(language, body, folder):
    """The output and status of a block, or None if it is run elsewhere."""
    if language == "sql" and body not in SLOGANS:
        return run([*SQLITE, "evals.db"], folder, body)
    if language == "python":
        return run([sys.executable, "-c", body], folder)
    if language == "sh" and not any(command in body for command in ELSEWHERE):
        return run(["sh", "-e"], folder, body)
    if language == "yaml":
        steps = yaml.safe_load(body)
        done = run(["sh", "-e"], folder, "".join(step["run"] + "\n" for step in steps if "run" in step))
        check(f"steps succeed:\n{done.stdout}", done.returncode == 0)
        for step in (step for step in steps if "uses" in step):
            declared = yaml.safe_load((ROOT / step["uses"] / "action.yml").read_text())["inputs"]
            check(f"inputs are the action's: {step}", set(step["with"]) <= set(declared))
    elif language == "c":
        (folder / re.match(r"/\* (\S+) \*/", body)[1]).write_text(body)
    elif language in CLIENTS:
        check(f"{language} is started by tests/clients/run", CLIENTS[language] in (ROOT / "tests/clients/run").read_text())
    else:
        check(f"{language} is run: {body}", language in ("sql", "sh"))
    return None


def page(path):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for part in ROOT.iterdir():
            if part.name[0] != ".":
                (folder / part.name).symlink_to(part)
        for line, language, body, expected in blocks(path.read_text()):
            where = f"{path.relative_to(ROOT)}:{line}"
            if language == "text" and path.parent.name == "measured":
                continue  # an output that depends on the machine
            done = example(language, body, folder)
            if done is None:
                check(f"{where}: what it prints is compared", expected is None)
                continue
            wanted = expected or ""
            printed = wanted in done.stdout if body.startswith("make") else wanted == done.stdout
            check(f"{where}: prints\n{done.stdout}instead of\n{wanted}", printed)
            check(f"{where}: ends with status {done.returncode}", (done.returncode != 0) == ("error near line" in wanted or wanted.startswith("evalci ")))


def links(path):
    """Every link of a page leads to something that exists."""
    text = BLOCK.sub("", path.read_text())
    for target in re.findall(r"\]\(([^)#]*)(?:#[^)]*)?\)", text):
        if "://" not in target:
            check(f"{path.relative_to(ROOT)} links to {target}", target and (path.parent / target).exists())


def files_named():
    """Every file that a source or a page names by its path exists; NAME stands for any. The changelog names removed
    files."""
    name = re.compile(r"(?<![\w/.+-])(?:ext|sql|tests)/[\w/.-]*\w\.(?:[ch]|py|sh|sql|md|mk|txt|test|svg|m?js)\b")
    found = [p for folder in ("ext", "sql", "tests") for p in (ROOT / folder).rglob("*") if p.is_file()]
    for path in (ROOT / "README.md", ROOT / "Makefile", *found):
        if path.name == "CHANGELOG.md" or "__pycache__" in path.parts:
            continue
        try:
            named = set(name.findall(path.read_text()))
        except UnicodeDecodeError:
            continue  # no text
        for target in sorted(t for t in named if "/NAME." not in t):
            check(f"{path.relative_to(ROOT)} names {target}", (ROOT / target).exists())


def cited(folder):
    """The numbers of the promises that the files below a folder cite, one or several after the word."""
    numbers = set()
    for path in (p for p in (ROOT / folder).rglob("*") if p.suffix in (".c", ".h", ".py", ".sh", ".test")):
        for words in re.findall(r"[Cc]ontract (\d+(?:(?:, | and | to )\d+)*)", path.read_text()):
            for first, last in re.findall(r"(\d+)(?: to (\d+))?", words):
                numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def promises():
    """The promises of the contract are numbered in order; every one is cited by a test, and every cited number
    exists."""
    numbers = [int(n) for n in re.findall(r"^(\d+)\. ", (ROOT / "ext/CONTRACT.md").read_text(), re.M)]
    check("promises are numbered in turn", numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 25)
    tested = cited("tests")
    for number in numbers:
        check(f"a test cites promise {number}", number in tested)
    check("what is cited is there", cited("ext") | tested <= set(numbers))


def building_in():
    """The header says what the example does."""
    words = re.search(r"^\*\* +(cc .*?-lm)$", (ROOT / "ext/evalci.h").read_text(), re.M | re.S)[1]
    command = words.replace("\n**     ", "\n").replace("program", "leaderboard")
    check("ext/evalci.h builds in as ext/CLIENTS.md does", command in (ROOT / "ext/CLIENTS.md").read_text())


def parting(folder):
    """The command that the demo prints opens a prompt, and its query works there; then the demo runs the program."""
    said = run(["make", "-s", "demo"], ROOT).stdout.splitlines()
    words = said.index("Go on, at a prompt with the extension loaded:")
    command, query = said[words + 1].strip(), said[words + 3].strip()
    rows = [line.split()[1:3] for line in said[words + 4:]]
    check("the demo ends with the program's leaderboard", ["claude-2.1", "100.0%"] in rows and ["llama-v2-13b-chat", "0.0%"] in rows)
    typed = f"{query}\n.quit\n"
    # script gives it a terminal, without which the shell has no prompt.
    shown = run(["script", "-qec", command, f"{folder}/typescript"], ROOT, typed).stdout
    check(f"{command} opens a prompt:\n{shown}", "sqlite> " in shown)
    check(f"{query} is answered:\n{shown}", "agresti_coull" in shown and "Error" not in shown)


def main():
    found = pages()
    check("the pages are found", len(found) >= 8)
    front, header = (ROOT / "README.md").read_text(), (ROOT / "ext/evalci.h").read_text()
    check("the front page has at most 200 lines", len(front.splitlines()) <= 200)
    version = re.search(r'EVALCI_VERSION "(.*)"', header)[1]
    check(f"it names the archives of {version}", set(re.findall(r"evalci-(\d+\.\d+\.\d+)-", front)) == {version})
    with tempfile.TemporaryDirectory() as target:
        INSTALLED.update(laid_out(pathlib.Path(target) / "python", ROOT / "build/evalci.so", ROOT / "build/bin/evalci"), PATH=INSTALLED["PATH"])
        for path in found:
            page(path)
            links(path)
    files_named()
    promises()
    building_in()
    with tempfile.TemporaryDirectory() as scratch:
        parting(scratch)
    finish()


if __name__ == "__main__":
    main()
