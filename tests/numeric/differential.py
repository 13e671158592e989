#!/usr/bin/python3
"""Random cases against independent programs, and the worst error of each.

    differential.py EXTENSION [--beta N] [--models N] [--seconds S] [--seed N]

bayes and cp: a million (k, n, level, prior) against scipy's beta quantiles
(Boost's).  Where the two differ by more than the bar, and at the largest
differences below it, mpmath at 40 digits says which one is wrong.

clustered and paired: against the quadratures of tests/numeric/reference/ at a lower
density, each an independent program.  Every fiftieth case is repeated at the
density of the references, which tells the error of the lower one.  A paired case
takes about a second, so ten thousand take hours: --seconds ends it earlier.

A run of all four writes what it found to tests/measured/differential.md.
"""
import argparse
import functools
import os
import random
import sqlite3
import sys
import time
import warnings

import numpy as np
from scipy import stats

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference"))
import betaref   # noqa: E402
import clustered  # noqa: E402
import paired    # noqa: E402

BATCH = 20_000
ARBITRATED = 10     # of each method, bound and decade of n


PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../measured/differential.md")
INTRO = """\
# Random cases against other programs

`make differential` writes this page: `bayes_ci` and `cp_ci` against scipy's beta quantiles, with mpmath at 40 digits to say
which of the two is wrong where they differ most; `clustered_ci` and `paired_diff_ci` against the programs that make their
references. `DIFFERENTIAL="--seconds 600"` ends it earlier.

"""
found = []


def say(line):
    print(line, flush=True)
    found.append(line)


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{text:78}", end="", file=sys.stderr, flush=True)


def connect(extension):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(extension.rsplit(".", 1)[0])
    return db


def apart(ours, theirs):
    """The larger distance of two bounds, or NaN if either is; max() would lose it."""
    return float(np.max(np.abs(np.subtract(ours, theirs))))


class Tally:
    """The worst error, and whose it was; the first that is no number is the worst of all."""

    def __init__(self):
        self.worst, self.case, self.count = 0.0, None, 0

    def add(self, error, case):
        self.count += 1
        if not error <= self.worst and self.worst == self.worst:
            self.worst, self.case = float(error), case


#
# bayes and cp
#
def beta_cases(rng, size):
    """n to 10^9; k anywhere, or near either end; priors from 0.05 to 1000, half of them uniform."""
    n = np.floor(10 ** rng.uniform(0, 9, size))
    k = np.floor(rng.uniform(0, 1, size) * (n + 1))
    near = np.floor(10 ** (rng.uniform(0, 1, size) * np.log10(n + 1))) - 1
    kind = rng.integers(0, 4, size)
    k = np.minimum(n, np.select([kind == 0, kind == 1], [near, n - near], k))
    usual = rng.choice([0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.999999], size)
    level = np.where(rng.integers(0, 2, size), usual, rng.uniform(0.01, 0.999999, size))
    prior = 10 ** rng.uniform(np.log10(0.05), 3, (2, size))
    a, b = np.where(rng.integers(0, 2, size), 1.0, prior)
    return k, n, level, a, b


def ours_beta(db, function, columns):
    db.execute("DROP TABLE IF EXISTS cases")
    db.execute("CREATE TEMP TABLE cases(id INTEGER PRIMARY KEY, k, n, level, a, b)")
    db.executemany("INSERT INTO cases(k, n, level, a, b) VALUES (?, ?, ?, ?, ?)", zip(*(c.tolist() for c in columns)))
    arguments = "k, n, level, a, b" if function == "bayes" else "k, n, level"
    sql = f"SELECT {function}_ci_counts({arguments}) FROM cases ORDER BY id"
    return np.array([tuple(map(float, ci[1:-1].split(","))) for (ci,) in db.execute(sql)]).T


def scipy_beta(function, k, n, level, a, b):
    """Lower and upper bound, and the parameters that each is a quantile of."""
    tail = (1 - level) / 2
    if function == "bayes":
        low = high = (a + k, b + (n - k))
    else:
        low, high = (np.maximum(k, 1e-9), n - k + 1), (k + 1, np.maximum(n - k, 1e-9))
    lo, hi = stats.beta.ppf(tail, *low), stats.beta.isf(tail, *high)
    if function == "cp":
        lo, hi = np.where(k == 0, 0, lo), np.where(k == n, 1, hi)
    return (lo, low), (hi, high)


def compare_beta(db, function, size, rng):
    """How many of ours, of those arbitrated, miss the bar.

    Arbitrated are the largest differences of each decade of n: scipy loses more digits the larger n
    is, and would hide ours where n is small."""
    largest, done, over, nothing = {}, 0, 0, 0
    while done < size:
        columns = beta_cases(rng, min(BATCH, size - done))
        ours = ours_beta(db, function, columns)
        theirs = scipy_beta(function, *columns)
        for upper in (False, True):
            want, (a, b) = theirs[upper]
            got = ours[int(upper)]
            with np.errstate(all="ignore"):
                error = np.where(got == want, 0, np.abs(got - want) / np.abs(want))
            error = np.where(np.isfinite(error), error, np.inf)
            bar = np.where(columns[1] <= 1e4, 1e-12, 1e-10)
            over += int(np.sum(error > bar))
            nothing += int(np.sum(~np.isfinite(want)))
            for decade in range(9):
                within = np.flatnonzero(np.floor(np.log10(columns[1])) == decade)
                found = largest.setdefault((upper, decade), [])
                for i in within[np.argsort(error[within])[-ARBITRATED:]]:
                    found.append((error[i], upper, a[i], b[i], columns[2][i], got[i], want[i], columns[1][i]))
                found.sort(key=lambda f: -f[0])
                del found[ARBITRATED:]
        done += len(columns[0])
        progress(f"{function}: {done:,} of {size:,}")
    mine, scipys, beyond = Tally(), Tally(), 0
    found = [tuple(map(float, f)) for kind in largest.values() for f in kind if f[0] > 0]
    for j, (error, upper, a, b, level, got, want, n) in enumerate(found):
        progress(f"{function}: arbitrating {j + 1} of {len(found)}")
        exact = betaref.quantile(a, b, (1 - betaref.mp.mpf(level)) / 2, bool(upper))
        case = f"Beta({a!r}, {b!r}), level {level!r}, {'upper' if upper else 'lower'}"
        off = abs(got - exact) / exact
        beyond += not off <= (1e-12 if n <= 1e4 else 1e-10)
        mine.add(off, case)
        scipys.add(abs(want - exact) / exact, case)
    progress("")
    say(f"{function}: {done:,} cases, {2 * done:,} bounds; {over:,} differ from scipy by more than the bar "
        f"({nothing:,} have no answer from scipy)")
    say(f"  of {mine.count} arbitrated at 40 digits: ours is off by {mine.worst:.1e} relative at the worst, "
        f"scipy by {scipys.worst:.1e}")
    say(f"    ours at {mine.case}\n    scipy at {scipys.case}")
    return beyond


#
# clustered and paired
#
def clustered_case(rng):
    theta, d = rng.random(), 10 ** rng.uniform(-1, 2)
    kinds = rng.randint(1, 12)
    most = rng.choice([1, 5, 20, 300])
    sizes = [(rng.randint(1, most), rng.choice([1, 1, 2, 10, 200])) for _ in range(kinds)]
    return clustered.drawn(rng.random(), sizes, min(max(theta, 0.01), 0.99), d)


def clustered_bounds(text, tail, dense):
    m = clustered.Marginal(clustered.parse(text), *((10, 45) if dense else (6, 38)))
    return float(m.quantile(tail, False)), float(m.quantile(tail, True))


def ours_clustered(db, text, level):
    rows = [(k, n) for k, n, times in clustered.parse(text) for _ in range(times)]
    db.execute("DROP TABLE IF EXISTS cases")
    db.execute("CREATE TEMP TABLE cases(k, n)")
    db.executemany("INSERT INTO cases VALUES (?, ?)", rows)
    ci = db.execute("SELECT clustered_ci_counts(k, n, ?) FROM cases", (level,)).fetchone()[0]
    return tuple(map(float, ci[1:-1].split(",")))


def paired_case(rng):
    """A table of 1 to 10^5 questions with any of its cells small."""
    n = int(10 ** rng.uniform(0, 5))
    weights = [10 ** rng.uniform(-3, 0) for _ in range(4)]
    counts = [int(n * w / sum(weights) + rng.random()) for w in weights]
    return tuple(counts) if sum(counts) else (1, 0, 0, 0)


FINE_CLIMB = paired.climb
# A tenth of the work: grids of 5 points an axis still overlap.
COARSE_CLIMB = functools.partial(FINE_CLIMB, points_an_axis=5)


def paired_bounds(counts, tail, dense):
    paired.climb = FINE_CLIMB if dense else COARSE_CLIMB
    p = paired.Posterior(counts, *((10, 40) if dense else (8, 36)))
    return float(p.tail(tail, False)), float(p.tail(tail, True))


def ours_paired(db, counts, level):
    ci = db.execute("SELECT paired_diff_ci_counts(?, ?, ?, ?, ?)", (*counts, level)).fetchone()[0]
    return tuple(map(float, ci[1:-1].split(",")))


def compare_model(db, name, case_of, reference, ours, size, seconds, rng):
    mine, own, refused = Tally(), Tally(), 0
    start = time.time()
    for i in range(size):
        if time.time() - start > seconds:
            break
        case, level = case_of(rng), rng.choice([0.5, 0.8, 0.9, 0.95, 0.95, 0.99, 0.999])
        tail = (1 - level) / 2
        try:
            want = reference(case, tail, False)
            if i % 50 == 0:
                denser = reference(case, tail, True)
                own.add(apart(want, denser), (case, level))
                want = denser
        except (ArithmeticError, ValueError):
            refused += 1    # the reference found no root at this density
            continue
        error = apart(want, ours(db, case, level))
        if not error <= 1e-9:
            # which is it?
            try:
                denser = reference(case, tail, True)
            except (ArithmeticError, ValueError):
                refused += 1
                continue
            own.add(apart(want, denser), (case, level))
            error = apart(denser, ours(db, case, level))
        mine.add(error, (case, level))
        progress(f"{name}: {i + 1:,} of {size:,}, worst {mine.worst:.1e}")
    progress("")
    say(f"{name}: {mine.count:,} cases in {time.time() - start:.0f} s, off by {mine.worst:.1e} at the worst, at {mine.case}")
    say(f"  the reference itself: {own.worst:.1e} at the worst of {own.count} repeated at a higher density; "
        f"no answer in {refused}")
    # the paired reference loses its tails in one table of nine, the large and lopsided
    if mine.count < 0.8 * (mine.count + refused) or mine.count == 0:
        say(f"  FAILED: only {mine.count:,} of {mine.count + refused:,} cases were compared")
        return True
    return not mine.worst <= 1e-8


def main():
    p = argparse.ArgumentParser()
    p.add_argument("extension")
    p.add_argument("--beta", type=int, default=1_000_000)
    p.add_argument("--models", type=int, default=10_000)
    p.add_argument("--seconds", type=float, default=float("inf"), help="for each of clustered and paired")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", choices=["bayes", "cp", "clustered", "paired"])
    given = p.parse_args()
    # scipy's and the references' own corners, where the answer tells
    warnings.simplefilter("ignore", RuntimeWarning)
    db = connect(given.extension)
    failed = 0
    for function in ("bayes", "cp"):
        if given.only in (None, function):
            failed += compare_beta(db, function, given.beta, np.random.default_rng(given.seed))
    for name, *how in (("clustered", clustered_case, clustered_bounds, ours_clustered),
                       ("paired", paired_case, paired_bounds, ours_paired)):
        if given.only in (None, name):
            failed += compare_model(db, name, *how, given.models, given.seconds, random.Random(given.seed))
    if not given.only:
        with open(PAGE, "w", encoding="utf-8") as page:
            page.write(INTRO + "```text\n" + "\n".join(found) + "\n```\n")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
