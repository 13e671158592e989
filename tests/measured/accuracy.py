#!/usr/bin/python3
"""Measures the error of every function against its references: make accuracy.

    accuracy.py BUILD

Runs BUILD/references over tests/numeric/reference/*.csv, and BUILD/mean, BUILD/hierarchy, BUILD/sign_flip and BUILD/votes over those in its folder stats;
adds the ranges of the references, and writes accuracy.md beside this file.  The exit status is 1 if an error exceeds its bar.
"""
import csv
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parent / "numeric/reference"
REFERENCES = sorted(FOLDER.glob("*.csv"))
DIRECT = {"mean": [FOLDER / "stats/mean.csv"], "hierarchy": [FOLDER / "stats/each.csv", FOLDER / "stats/nested.csv"],
          "sign_flip": [FOLDER / "stats/sign_flip.csv"], "votes": [FOLDER / "stats/votes.csv"]}
LINE = re.compile(r"^(\w+) +(\d+) +([\d.e+-]+) +([\d.e+-]+) +([\d.e-]+ (?:relative|absolute|of the range))$", re.M)
ENDINGS = "_ci_counts", "_counts", "_ci", ""
NO_COUNT = re.compile("method|level|margin|alpha|beta|prior_.*|lo|hi|rows")
INTRO = """\
# How accurate is it?

`make accuracy` writes this page. `tests/numeric/references.c` computes every row of the references in
`tests/numeric/reference/` by the extension, through SQL. The references are mpmath at 40 digits, scipy, and dense quadratures
in Python; none of them uses the extension's code. Those that scipy or statsmodels also have were cross-checked with them.

The means of graded scores and `clustered_each` have large input, or results that are not a single interval. `ext/stats` itself
computes them, in `tests/numeric/mean.c` and `tests/numeric/hierarchy.c`: graded scores with up to 10^6 different values, at
levels from 0.01 to 0.999999 and in ranges from [0,1] to [-10^6,10^6].

`tests/numeric/sign_flip.c` computes `paired_p`; `paired_p_inverted` is the same function for differences without a unit that are
too many for its tables, so that it inverts a moment generating function; `paired_p_of_many` is it for more than 30 differences of
24 sizes or more.

`tests/numeric/votes.c` computes the ratings of `bt_ratings` and the differences of `bt_pairs`, on the scale of logits;
`bt_first_place` is the advantage of the model that is shown first. Those `of_many` and `of_few` are of more than ten models, with
50 votes and more and with fewer; their errors are relative to the width of the interval. `kappa_table_ci` is `kappa_ci` with
counts.

The error of an interval is the larger one of its two bounds' errors. "worst" is the worst over all rows below 10^9 questions,
"from 10^9 on" over the others, and "bar" the error that the tests allow: relative, absolute, or relative to the range of the
scores. "counts to" is the largest count of any row, or the number of rows of an aggregate. A function over rows gives the digits of its twin over counts.
From 10^9 questions on, a bar below 1e-11 becomes 1e-11 except for shares, because the last digit of a theta is worth as much.
Probabilities below 1e-12 must have nine correct digits, and are left out of the table.

| function | references | counts to | levels | worst | from 10^9 on | bar |
|---|---:|---:|---|---:|---:|---|
"""


def size(row):
    """The largest count of a reference, or its number of rows."""
    if ":" in row.get("rows", ""):
        return int(row["rows"].split(":")[1])
    if "rows" in row:
        return sum(int(times or 1) for times in re.findall(r"[^ x]+(?:x(\d+))?", row["rows"]))
    if "votes" in row:
        return max(int(count) for votes in row["votes"].split() for count in votes.split("/")[2:])
    return max(int(float(value)) for name, value in row.items() if not NO_COUNT.fullmatch(name))


def ranges(functions, files):
    """{function: (largest size, levels)}"""
    found = {name: (0, set()) for name in functions}
    for path in files:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                for name in {row["method"] + e for e in ENDINGS} & found.keys():
                    largest, levels = found[name]
                    found[name] = max(largest, size(row)), levels | {float(x) for x in (row.get("level"),) if x and x != "-"}
    return found


def shown(n):
    power = len(str(n)) - 1
    return f"{n:,}" if n < 10**5 else f"10^{power}" if n == 10**power else f"{n / 10**power:.1f}e{power}"


def run(program, files):
    """What it printed of each function, the ranges of its references, and its status."""
    done = subprocess.run([program, *map(str, files)], text=True, stdout=subprocess.PIPE)
    print(done.stdout, end="", flush=True)
    lines = LINE.findall(done.stdout)
    if not lines:
        sys.exit(f"accuracy.py: {program} printed no table")
    return lines, ranges([name for name, *_ in lines], files), done.returncode


def main(build):
    page, worst_status = INTRO, 0
    for program, files in ({"references": REFERENCES} | DIRECT).items():
        lines, found, status = run(f"{build}/{program}", files)
        worst_status = max(worst_status, status)
        for name, rows, worst, of_many, bar in lines:
            largest, levels = found[name]
            of_many = "" if float(of_many) == 0 else of_many
            span = f"{min(levels):g} to {max(levels):.15g}" if len(levels) > 1 else ""
            page += (f"| `{name}` | {int(rows):,} | {shown(largest)} | {span} | "
                     f"{worst} | {of_many} | {bar} |\n")
    (HERE / "accuracy.md").write_text(page)
    sys.exit(worst_status)


if __name__ == "__main__":
    main(sys.argv[1])
