#!/usr/bin/python3
"""Checks ext/CONTRIBUTING.md: the picture of the folders has an arrow for every include and no other, and
compile_commands.json compiles every C file.

    house.py
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from checks import check, finish  # noqa: E402

ELSEWHERE = {"ext/page/import.c", "tests/packages/macho.c"}  # compiled by emscripten, and by ext/dist/platform.mk, alone


def picture():
    """Each #include of a file in another folder is an arrow; each folder of ext/ is a box."""
    svg = (ROOT / "ext/house.svg").read_text()
    drawn = set(re.findall(r'data-from="(\S+)" data-to="(\S+)"', svg))
    # ../stats/beta.h; ../../build/sql/phoenix.inc, which is made of a file in sql/.
    there = re.compile(r'^#include "\.\./(?:\.\./build/(sql)|(\w+))/', re.M)
    included = set()
    for file in ROOT.glob("ext/*/*.[ch]"):
        for sql, folder in there.findall(file.read_text()):
            included.add((f"ext/{file.parent.name}", sql or f"ext/{folder}"))
    for a, b in sorted(drawn ^ included):
        check(f"{a} -> {b} is {'drawn' if (a, b) in drawn else 'included'} alone; run make house", False)
    check("arrows are found", len(drawn & included) >= 7)
    folders = {f"ext/{f.name}" for f in (ROOT / "ext").iterdir() if f.is_dir()} | {"sql", "tests"}
    boxes = set(re.findall(r'class="box" id="(\S+)"', svg))
    check(f"a box for each folder, not {sorted(boxes ^ folders)}", boxes == folders)
    done = subprocess.run([sys.executable, "ext/dist/house.py"], cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True)
    check("it is what make house draws", done.stdout == svg)


def compile_commands():
    subprocess.run(["make", "-s", "compile_commands.json"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    entries = {e["file"]: e for e in json.loads((ROOT / "build/compile_commands.json").read_text())}
    files = {str(f.relative_to(ROOT)) for folder in ("ext", "tests") for f in (ROOT / folder).rglob("*.c")} - ELSEWHERE
    check(f"every C file, not {sorted(files ^ set(entries))}", files == set(entries))
    # Of the library, of the program, of the tests.
    for file in ("ext/sqlite/evalci.c", "ext/cli/main.c", "ext/import/views.c", "tests/numeric/models.c"):
        done = subprocess.run([*entries[file]["arguments"], "-fsyntax-only"], cwd=entries[file]["directory"], check=False)
        check(f"the command of {file} compiles it", done.returncode == 0)


if __name__ == "__main__":
    picture()
    compile_commands()
    finish()
