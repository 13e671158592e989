#!/usr/bin/python3
"""Draws ext/house.svg: the folders, and which includes files of which.

    house.py >ext/house.svg        run by make house

1. A folder that has C files, or is compiled into one, is a box; an arrow leads from a folder to each that it includes.
2. A box stands one row below the lowest that includes it.  A row of two fills both columns; a box alone takes the left
   column in even rows and the right one in odd rows, so that an arrow past a row passes beside its box.
3. Folders without arrows follow below.
"""
import os
import pathlib
import re
from html import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORDS = {
    "ext/cli": "the program evalci: its verbs",
    "ext/page": "the same in a browser",
    "ext/import": "files of results to rows",
    "ext/sqlite": "functions and tables in SQL",
    "ext/board": "rows to leaderboard and gate",
    "ext/stats": "the mathematics, without SQL",
    "sql": "SQL that people read and run",
    "ext/dist": "a file for each platform",
    "ext/packages": "wheels, npm, .deb",
    "ext/action": "report and gate in GitHub's CI",
    "tests": "one concern per folder",
}
WIDTH, BOX, HIGH, ROW, GAP, TOP = 500, 232, 48, 88, 12, 12
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def folder_of(path):
    """The box that a file belongs to."""
    parts = os.path.normpath(path).split(os.sep)
    return "/".join(parts[:2]) if parts[0] == "ext" and len(parts) > 2 else parts[0]


def includes():
    """{(folder, folder that it includes)}; build/sql/ is made of sql/."""
    pairs = set()
    for file in ROOT.glob("ext/*/*.[ch]"):
        here = file.relative_to(ROOT)
        for name in INCLUDE.findall(file.read_text()):
            there = os.path.normpath(here.parent / name).replace("build/sql", "sql")
            pairs.add((folder_of(here), folder_of(there)))
    return {(a, b) for a, b in pairs if a != b and b != "ext"}  # ext/evalci.h is everybody's


def rows_of(arrows):
    """[[folder]]: the rows from the top."""
    row = {folder: 0 for pair in arrows for folder in pair}
    for _ in row:  # as many steps as there are folders reach the end of any chain
        for a, b in arrows:
            row[b] = max(row[b], row[a] + 1)
    return [sorted(f for f in row if row[f] == i) for i in range(max(row.values()) + 1)]


def places(rows):
    """{folder: its upper left corner}"""
    at = {}
    for i, row in enumerate(rows):
        for j, folder in enumerate(row):
            column = j if len(row) > 1 else i % 2
            at[folder] = (GAP + column * (WIDTH - 2 * GAP - BOX), TOP + i * ROW)
    return at


def box(folder, x, y):
    text = f'<text x="{x + BOX / 2:g}" y='
    return (f'<g class="box" id="{folder}"><rect x="{x}" y="{y}" width="{BOX}" height="{HIGH}" rx="6"/>'
            f'{text}"{y + 20}" class="name">{folder}/</text>{text}"{y + 38}">{escape(WORDS[folder])}</text></g>')


def arrow(a, b, at):
    """From the lower edge to the upper one; those that go across end toward where they came from."""
    (ax, ay), (bx, by) = at[a], at[b]
    lean = (bx > ax) - (bx < ax)
    x1, x2 = ax + BOX / 2 + lean * BOX / 4, bx + BOX / 2 - lean * BOX / 4
    return (f'<line class="arrow" data-from="{a}" data-to="{b}" x1="{x1:g}" y1="{ay + HIGH}" x2="{x2:g}" y2="{by - 2}" '
            f'marker-end="url(#head)"><title>{a} includes {b}</title></line>')


def main():
    arrows = includes()
    rows = rows_of(arrows)
    drawn = {folder for row in rows for folder in row}
    rest = [folder for folder in WORDS if folder not in drawn]
    at = places(rows)
    below = TOP + len(rows) * ROW - 14
    others = [rest[i:i + 2] for i in range(0, len(rest), 2)]
    for i, row in enumerate(others):
        for j, folder in enumerate(row):
            at[folder] = (GAP + j * (WIDTH - 2 * GAP - BOX), below + 14 + i * (HIGH + 14))
    height = below + 14 + len(others) * (HIGH + 14)
    print(f"""<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">
<title>The folders of evalci: an arrow leads from a folder to one whose files it includes</title>
<style>
text {{ font: 14px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; text-anchor: middle }} .name {{ font-weight: bold }}
.paper {{ fill: #fff }} text {{ fill: #24292f }} .box rect {{ fill: #f3f6fa; stroke: #57606a }}
.arrow {{ stroke: #0b5fa5; stroke-width: 1.5 }} .head {{ fill: #0b5fa5 }} .rule {{ stroke: #afb8c1; stroke-dasharray: 4 4 }}
@media (prefers-color-scheme: dark) {{
  .paper {{ fill: #0d1117 }} text {{ fill: #e6edf3 }} .box rect {{ fill: #161b22; stroke: #9da7b1 }}
  .arrow {{ stroke: #58a6ff }} .head {{ fill: #58a6ff }} .rule {{ stroke: #57606a }}
}}
</style>
<defs><marker id="head" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto"><path class="head" d="M0 0 9 4 0 8z"/></marker></defs>
<rect width="{WIDTH}" height="{height}" class="paper"/>""")
    print(*(arrow(a, b, at) for a, b in sorted(arrows)), sep="\n")
    print(f'<line class="rule" x1="{GAP}" x2="{WIDTH - GAP}" y1="{below}" y2="{below}"/>')
    print(*(box(folder, *at[folder]) for folder in at), "</svg>", sep="\n")


if __name__ == "__main__":
    main()
