#!/usr/bin/python3
"""Measures intervals while an eval is watched, and behind a judge that errs: part of make coverage.

    /usr/bin/python3 tests/measured/decisions.py build/evalci.so [--out DIR]

For one proportion, the probability that an interval excludes the truth at some of 1,000 looks is exact: the probability
of every count is carried from one question to the next, and counts whose interval excludes the truth are removed.
Paired differences and judges are simulated with a seed, and have their Monte Carlo standard error.  Every interval comes
from the extension, through SQL.

Writes decisions.md, the same bytes on every run.  The script exits with status 1 if, by more than chance allows, an
anytime interval is ever wrong in more than 5% of the runs, or judged_ci does not cover 95% under its own prior.
"""
import argparse
import functools
import json
import multiprocessing
import os
import sqlite3
import sys

try:
    import numpy as np
    sqlite3.Connection.enable_load_extension
except (ImportError, AttributeError) as e:
    sys.exit(f"decisions.py: {e}; it needs Debian's /usr/bin/python3 and python3-scipy (make coverage installs them)")

SEED, LOOKS = 20251, 1000
ACCURACIES = (0.5, 0.7, 0.9, 0.98)
PAIRED_RUNS, PAIRED = 600, ((0.15, 0.15), (0.15, 0.05), (0.03, 0.01))
PAIRED_DIFF_RUNS, PAIRED_DIFF_EVERY = 300, 50
JUDGED_RUNS, ANSWERS, LABELS = 400, 1000, (20, 50, 100, 200)
# (description, whether it is the prior itself, how much likelier a wrong answer is to be labelled, (q, u, v))
JUDGES = (
    ("A judge as its prior has it: q uniform, u and v Beta(1/2,1/2)", True, 1, lambda rng: (rng.random(), *rng.beta(0.5, 0.5, 2))),
    ("A usual judge: calls 70% right, of which 85% are, and of the others 20%", False, 1, lambda rng: (0.7, 0.85, 0.2)),
    ("A judge that knows nothing: calls 70% right, of which half are, and of the others half", False, 1, lambda rng: (0.7, 0.5, 0.5)),
    ("A good model and a good judge: calls 97% right, of which 99% are, and of the others 30%", False, 1, lambda rng: (0.97, 0.99, 0.3)),
    ("The usual judge, but labels sought where answers look wrong: a wrong one is three times as likely to be labelled", False, 3,
     lambda rng: (0.7, 0.85, 0.2)),
)


class Extension:
    def __init__(self, path):
        self.path = path
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        self.db.load_extension(os.path.splitext(os.path.abspath(path))[0])

    @functools.lru_cache(maxsize=None)
    def interval(self, function, *arguments):
        sql = f"SELECT {function}({', '.join('?' * len(arguments))})"
        return tuple(json.loads(self.db.execute(sql, arguments).fetchone()[0]))

    def of_every_count(self, function, n):
        """Both bounds at every k of n."""
        rows = self.db.execute("WITH RECURSIVE c(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM c WHERE k < ?1) "
                               f"SELECT ci->>0, ci->>1 FROM (SELECT {function}(k, ?1) AS ci FROM c)", (n,))
        return np.array(rows.fetchall()).T


def watched(ext, function):
    """For each accuracy, the exact probability that some interval up to look 10, 100 and 1,000 excluded it."""
    alive = {p: np.array([1.0]) for p in ACCURACIES}
    out = {p: [] for p in ACCURACIES}
    for n in range(1, LOOKS + 1):
        lo, hi = ext.of_every_count(function, n)
        for p in ACCURACIES:
            mass = np.zeros(n + 1)
            mass[:-1] += alive[p] * (1 - p)
            mass[1:] += alive[p] * p
            mass[(p < lo) | (p > hi)] = 0
            alive[p] = mass
            if n in (10, 100, 1000):
                out[p].append(1 - mass.sum())
    return out


def watched_pairs(ext, function, only_a, only_b, runs, every):
    """The share of runs in which some interval excluded the difference, with a look after every `every`-th question;
    runs with the same counts share an interval."""
    rng = np.random.default_rng(SEED)
    draw = rng.random((runs, LOOKS))
    a, b = np.cumsum(draw < only_a, axis=1), np.cumsum((draw >= only_a) & (draw < only_a + only_b), axis=1)
    wrong = np.zeros(runs, dtype=bool)
    for n in range(every, LOOKS + 1, every):
        still = np.nonzero(~wrong)[0]
        counts, which = np.unique(np.column_stack((a[still, n - 1], b[still, n - 1])), axis=0, return_inverse=True)
        bounds = np.array([ext.interval(function, int(n - i - j), int(i), int(j), 0) for i, j in counts])
        missed = (only_a - only_b < bounds[:, 0]) | (only_a - only_b > bounds[:, 1])
        wrong[still] = missed[which.reshape(-1)]
    return wrong.mean()


def judge_once(rng, ext, labels, likelier, q, u, v):
    """(covered, width) of judged_ci, of the verdicts taken for truth, and of the labels alone."""
    verdict = rng.random(ANSWERS) < q
    truth = rng.random(ANSWERS) < np.where(verdict, u, v)
    odds = np.where(truth, 1.0, likelier)
    seen = np.zeros(ANSWERS, dtype=bool)
    seen[rng.choice(ANSWERS, labels, replace=False, p=odds / odds.sum())] = True
    cells = [int(np.sum(seen & (verdict == said) & (truth == is_so))) for said in (True, False) for is_so in (True, False)]
    rest = int(np.sum(~seen & verdict)), ANSWERS - labels
    theta = q * u + (1 - q) * v
    intervals = (ext.interval("judged_ci_counts", *cells, *rest), ext.interval("bayes_ci_counts", int(verdict.sum()), ANSWERS),
                 ext.interval("bayes_ci_counts", int((seen & truth).sum()), labels))
    return [(lo <= theta <= hi, hi - lo) for lo, hi in intervals]


def judged(path, judge, labels):
    """Coverage and mean width of each of the three."""
    _, _, likelier, shares = JUDGES[judge]
    rng, ext = np.random.default_rng(SEED + labels), Extension(path)
    return np.array([judge_once(rng, ext, labels, likelier, *shares(rng)) for _ in range(JUDGED_RUNS)], dtype=float).mean(axis=0)


def error(p, runs):
    return (p * (1 - p) / runs) ** 0.5


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1), *("| " + " | ".join(r) + " |" for r in rows), ""]


def proportion_part(ext, failures):
    lines = ["## Watching one model", "",
             "The probability that a 95% interval excludes the true accuracy at some look, with a look after every answer. Exact.", ""]
    rows = []
    for function in ("anytime_ci_counts", "bayes_ci_counts"):
        for p, missed in watched(ext, function).items():
            rows.append([function.removesuffix("_counts"), f"{p}", *(f"{m:.2%}" for m in missed)])
            if function.startswith("anytime") and missed[-1] > 0.05:
                failures.append(f"{function} at {p} misses {missed[-1]:.2%}")
    return lines + table(["interval", "accuracy", "within 10 looks", "within 100", "within 1,000"], rows)


def paired_part(ext, failures):
    lines = ["## Watching two models on the same questions", "",
             f"The share of {PAIRED_RUNS} runs of 1,000 questions in which `anytime_paired_diff_ci` ever excludes the true difference, "
             f"with a look after each question; and the same for `paired_diff_ci` over {PAIRED_DIFF_RUNS} runs, with a look at every {PAIRED_DIFF_EVERY}th. Simulated.", ""]
    rows = []
    for only_a, only_b in PAIRED:
        missed = watched_pairs(ext, "anytime_paired_diff_ci_counts", only_a, only_b, PAIRED_RUNS, 1)
        fixed = watched_pairs(ext, "paired_diff_ci_counts", only_a, only_b, PAIRED_DIFF_RUNS, PAIRED_DIFF_EVERY)
        rows.append([f"{only_a}, {only_b}", f"{missed:.1%} ± {error(missed, PAIRED_RUNS):.1%}", f"{fixed:.0%} ± {error(fixed, PAIRED_DIFF_RUNS):.0%}"])
        if missed > 0.05 + 3 * error(0.05, PAIRED_RUNS):
            failures.append(f"anytime_paired_diff_ci at {only_a}, {only_b} misses {missed:.1%}")
    return lines + table(["only_a, only_b", "anytime_paired_diff_ci", "paired_diff_ci"], rows)


def judged_part(ext, failures):
    with multiprocessing.Pool() as pool:
        jobs = [(ext.path, judge, labels) for judge in range(len(JUDGES)) for labels in LABELS]
        covered = dict(zip((job[1:] for job in jobs), pool.starmap(judged, jobs, chunksize=1)))
    lines = ["## Behind a judge", "", f"{ANSWERS:,} answers with a verdict, of which a person labelled some; {JUDGED_RUNS} runs each. "
             "Simulated; coverage, and mean width in brackets. Under its own prior `judged_ci` must cover 95%, and does; with fixed shares it need "
             "not, but stays close. If the judge knows nothing, it is hardly shorter than the interval of the labels alone. It fails in the last "
             "table, where the labels were not drawn at random.", ""]
    for judge, (name, own_prior, _, _) in enumerate(JUDGES):
        rows = []
        for labels in LABELS:
            results = covered[judge, labels]
            rows.append([str(labels), *(f"{c:.1%} ± {error(c, JUDGED_RUNS):.1%} ({w:.3f})" for c, w in results)])
            if own_prior and abs(results[0][0] - 0.95) > 3 * error(0.95, JUDGED_RUNS):
                failures.append(f"judged_ci with {labels} labels covers {results[0][0]:.1%}")
        lines += [f"**{name}.**", "", *table(["labels", "judged_ci", "the verdicts as if true", "the labels alone"], rows)]
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("extension")
    parser.add_argument("--out", default=os.path.dirname(os.path.abspath(__file__)))
    arguments = parser.parse_args()
    ext, failures = Extension(arguments.extension), []
    lines = ["# May I look, and may I trust a judge?", "",
             f"`make coverage` writes this page (seed {SEED}); every interval is a 95% one and comes from the extension, through SQL.", ""]
    for part in (proportion_part, paired_part, judged_part):
        lines += part(ext, failures)
    with open(os.path.join(arguments.out, "decisions.md"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines).rstrip("\n") + "\n")
    for failure in failures:
        print(f"decisions.py: {failure}", file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
