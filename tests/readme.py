#!/usr/bin/python3
"""Runs README.md's examples and compares what they print.

Each ```sql block runs in the real sqlite3 shell, in order, on one database;
when a ```text block follows it, that is what the shell must print, errors
included.  A ```text block that follows a ```sh block must be part of what its
last command prints.  Other ```sh blocks, which install things, are not run.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks(text):
    """(line, language, body, expected or None), expected being the next text block."""
    found = [(text.count("\n", 0, m.start()) + 1, m[1], m[2]) for m in BLOCK.finditer(text)]
    for i, (line, language, body) in enumerate(found):
        if language == "text":
            continue
        after = found[i + 1] if i + 1 < len(found) and found[i + 1][1] == "text" else None
        yield line, language, body, after[2] if after else None


def run(command, stdin=None):
    done = subprocess.run(command, input=stdin, cwd=ROOT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, shell=isinstance(command, str))
    return done.stdout


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        database = str(pathlib.Path(scratch) / "readme.db")
        for line, language, body, expected in blocks((ROOT / "README.md").read_text()):
            if language == "sql" and (expected is not None or "CREATE" in body):
                actual = run(["sqlite3", database], body)
                ok = actual == (expected or "")
            elif language == "sh" and expected is not None:
                actual = run(body.strip().splitlines()[-1])
                ok = expected in actual
            else:
                continue
            passed, failed = passed + ok, failed + (not ok)
            if not ok:
                print(f"README.md:{line}: prints\n{actual}instead of\n{expected}")
    if passed + failed < 6:
        print(f"README.md: found only {passed + failed} examples")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
