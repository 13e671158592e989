#!/usr/bin/python3
"""The error of every function against its references: make accuracy.

    accuracy.py build/references

Runs that program over tests/numeric/reference/*.csv, adds what the references range over, and writes accuracy.md beside
this file.  The status is the program's: 1 if an error is beyond its bar.
"""
import csv
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REFERENCES = sorted((HERE.parent / "numeric/reference").glob("*.csv"))
LINE = re.compile(r"^(\w+) +(\d+) +([\d.e+-]+) +([\d.e+-]+) +([\d.e-]+ (?:relative|absolute))$", re.M)
ENDINGS = "_ci_counts", "_counts", ""
NO_COUNT = re.compile("method|level|prior_.*|lo|hi|rows")
INTRO = """\
# How far off is it?

`make accuracy` writes this page: every row of the references in `tests/numeric/reference/`, asked of the extension through
SQL by `tests/numeric/references.c`. The references are mpmath at 40 digits, scipy, and dense quadratures in Python; none of
them uses the extension's code, and those that scipy or statsmodels have too were cross-checked with them.

Errors are the worst of both bounds, of all rows below 10^9 questions and of those from there on; relative or absolute, as
the bar is that they are held to. Counts are the largest of any cell in a row, or the number of rows that an aggregate got.
A function over rows gives the digits of its twin over counts. From 10^9 questions on, where the last digit of a theta is
worth as much, a bar below 1e-11 is 1e-11 for what is no share; of a probability below 1e-12 nine digits are asked, and it is
left out of the table.

| function | references | counts to | levels | worst | from 10^9 on | bar |
|---|---:|---:|---|---:|---:|---|
"""


def size(row):
    """The largest count of a reference, or its number of rows."""
    if "rows" in row:
        return sum(int(times or 1) for times in re.findall(r"[^ x]+(?:x(\d+))?", row["rows"]))
    return max(int(float(value)) for name, value in row.items() if not NO_COUNT.fullmatch(name))


def ranges(functions):
    """{function: (largest size, levels)}"""
    found = {name: (0, set()) for name in functions}
    for path in REFERENCES:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                name = next(row["method"] + e for e in ENDINGS if row["method"] + e in found)
                largest, levels = found[name]
                found[name] = max(largest, size(row)), levels | {float(row["level"])}
    return found


def shown(n):
    power = len(str(n)) - 1
    return f"{n:,}" if n < 10**5 else f"10^{power}" if n == 10**power else f"{n / 10**power:.1f}e{power}"


def main(program):
    done = subprocess.run([program, *map(str, REFERENCES)], text=True, stdout=subprocess.PIPE)
    print(done.stdout, end="")
    measured = LINE.findall(done.stdout)
    found = ranges([name for name, *_ in measured])
    page = INTRO
    for name, rows, worst, of_many, bar in measured:
        largest, levels = found[name]
        of_many = "" if float(of_many) == 0 else of_many
        span = f"{min(levels):g} to {max(levels):g}" if len(levels) > 1 else ""
        page += (f"| `{name}` | {int(rows):,} | {shown(largest)} | {span} | "
                 f"{worst} | {of_many} | {bar} |\n")
    if not measured:
        sys.exit(f"accuracy.py: {program} printed no table")
    (HERE / "accuracy.md").write_text(page)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main(sys.argv[1])
