#!/usr/bin/python3
"""What decides the verdicts of sql/views.sql, measured by simulation: make verdicts.

    /usr/bin/python3 tests/measured/verdicts.py build/evalci.so [--out DIR]

Two questions.  Which p, held to all pairs by Holm's method, calls some pair of equal models different in at most 5% of
evals?  And how are two models compared on questions that were asked several times?  Seeded; every number from the
extension, through SQL.  Writes verdicts.md, the same bytes on every run; if what the views do misses its bar, the
script says so and exits with status 1.
"""
import argparse
import functools
import json
import math
import pathlib
import sqlite3
import sys

try:
    import numpy as np
    sqlite3.Connection.enable_load_extension
except (ImportError, AttributeError) as e:
    sys.exit(f"verdicts.py: {e}; it needs Debian's /usr/bin/python3 and python3-numpy (make verdicts installs them)")

SEED = 2025
MODELS = 30
RUNS = 1000
DRAWS = 1500
LEVEL = 0.95


class Extension:
    def __init__(self, path):
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        self.db.load_extension(str(pathlib.Path(path).resolve().with_suffix("")))

    @functools.cache
    def value(self, sql, *arguments):
        return self.db.execute(sql, arguments).fetchone()[0]

    def over(self, function, rows):
        """An aggregate over rows of numbers."""
        columns = ", ".join(f"json_extract(value, '$[{i}]')" for i in range(len(rows[0])))
        return self.db.execute(f"SELECT {function}({columns}) FROM json_each(?)", (json.dumps(rows),)).fetchone()[0]


# Equal models, all pairs


def tails(ext, both, only_a, only_b, n):
    """Three p of one pair: McNemar's mid-p, and 2 min(P, 1 - P) of the two posteriors."""
    probit = ext.value("SELECT paired_prob_better_counts(?, ?, ?, ?)", both, only_a, only_b, n - both - only_a - only_b)
    means = ext.value("SELECT paired_mean_prob_better_counts(column1, column2) FROM (VALUES (1.0, ?), (-1.0, ?), (0.0, ?)) WHERE column2 > 0",
                      only_a, only_b, n - only_a - only_b)
    return (ext.value("SELECT mcnemar_p_counts(?, ?)", min(only_a, only_b), max(only_a, only_b)),
            2 * min(probit, 1 - probit), 2 * min(means, 1 - means))


def family(ext, n, spread, accuracy):
    """How often some pair of equal models is called different: by each p held to all pairs, and by pairs on their own.

    Holm's method calls some pair different when the least p is at most 0.05 over the number of pairs.  The two
    posteriors are asked of the three pairs that McNemar finds furthest apart, since the least is among them.
    """
    random = np.random.default_rng([SEED, n, int(10 * spread), int(100 * accuracy)])
    first, second = np.triu_indices(MODELS, 1)
    bar, called = (1 - LEVEL) / len(first), np.zeros(4)
    for _ in range(RUNS):
        logit = random.normal(0, spread, n) + math.log(accuracy / (1 - accuracy))
        right = (random.random((MODELS, n)) < 1 / (1 + np.exp(-logit))).astype(int)
        both, k = (right @ right.T)[first, second], right.sum(axis=1)
        only_a, only_b = k[first] - both, k[second] - both
        mcnemar = np.array([ext.value("SELECT mcnemar_p_counts(?, ?)", int(min(a, b)), int(max(a, b))) for a, b in zip(only_a, only_b)])
        furthest = np.argsort(mcnemar, kind="stable")[:3]
        least = np.min([tails(ext, int(both[i]), int(only_a[i]), int(only_b[i]), n) for i in furthest], axis=0)
        called += [*(least <= bar), mcnemar.min() <= 1 - LEVEL]
    return called / RUNS


def family_again(ext, questions, tries, own):
    """The same of questions asked several times, by paired_mean_prob_better of their means.

    The models are equal over all questions like these: on each question alike, or with a normal effect of their own.
    """
    random = np.random.default_rng([SEED, questions, tries, int(10 * own)])
    first, second = np.triu_indices(MODELS, 1)
    bar, called = (1 - LEVEL) / len(first), 0
    for _ in range(RUNS):
        logit = random.normal(0, 1.5, questions) + random.normal(0, own, (MODELS, questions))
        means = (random.random((tries, MODELS, questions)) < 1 / (1 + np.exp(-logit))).mean(axis=0)
        diff = means[first] - means[second]
        apart = np.abs(diff.mean(axis=1)) / np.sqrt(diff.var(axis=1) + 1 / questions ** 2)
        probs = [ext.over("paired_mean_prob_better", list(zip(means[first[i]].tolist(), means[second[i]].tolist())))
                 for i in np.argsort(-apart, kind="stable")[:5]]
        called += min(min(p, 1 - p) for p in probs) * 2 <= bar
    return called / RUNS


# Two models, questions asked several times


def attempts(ext, questions, tries, missing, apart, spread):
    """Coverage of the difference over all questions like these, and width, of three ways to compare.

    A question's two chances to be answered share a normal effect, and each model has one of its own.  Its truth is the
    mean difference of chances, from a million questions.
    """
    random = np.random.default_rng([SEED, questions, tries, int(100 * missing), int(100 * apart), int(10 * spread)])

    def chances(size):
        shared = random.normal(0, spread, size)
        return [1 / (1 + np.exp(-(shared + random.normal(0, spread / 2, size) + shift))) for shift in (apart, 0)]

    a, b = chances(1_000_000)
    truth = float(np.mean(a - b))
    found = {name: [] for name in ("first attempts", "question means", "attempts, clustered")}
    for _ in range(DRAWS):
        chance = np.array(chances(questions))
        right = (random.random((2, questions, tries)) < chance[:, :, None]).astype(int)
        known = random.random((2, questions, tries)) >= missing
        known[:, :, 0] = True
        means = (right * known).sum(axis=2) / known.sum(axis=2)
        pairs = [(int(right[0, q, t]), int(right[1, q, t]), q) for q in range(questions) for t in range(tries) if known[:, q, t].all()]
        first = right[:, :, 0]
        cells = [int(np.sum((first[0] == x) & (first[1] == y))) for x, y in ((1, 1), (1, 0), (0, 1), (0, 0))]
        found["first attempts"].append(ext.value("SELECT paired_diff_ci_counts(?, ?, ?, ?)", *cells))
        found["question means"].append(ext.over("paired_mean_diff_ci", means.T.tolist()))
        found["attempts, clustered"].append(ext.over("clustered_diff_ci", pairs))
    bounds = {name: np.array([json.loads(text) for text in texts]) for name, texts in found.items()}
    return {name: (float(np.mean((b[:, 0] <= truth) & (truth <= b[:, 1]))), float(np.mean(b[:, 1] - b[:, 0]))) for name, b in bounds.items()}


def page(ext):
    """The page, and whether the views hold what they say."""
    lines = ["# Verdicts", "",
             "Written by `make verdicts`. Simulated, seeded; the standard error of a share near 5% is 0.7 points, near 95% 0.6.", "",
             f"## {MODELS} equal models, every pair", "",
             f"How often, of {RUNS:,} evals, some pair is called different: by three p held to all {MODELS * (MODELS - 1) // 2} pairs with Holm's method, and by each pair on its own at 5%. Questions are alike, or differ in difficulty (a normal logit with standard deviation 1.5).",
             "", "| questions | alike | accuracy | mcnemar_p | 2 min(P, 1-P), paired_prob_better | 2 min(P, 1-P), paired_mean_prob_better | pairs on their own |",
             "|---|---|---|---|---|---|---|"]
    held = True
    for n in (20, 100, 500):
        for spread in (0, 1.5):
            for accuracy in (0.5, 0.8):
                shares = family(ext, n, spread, accuracy)
                held &= bool(shares[0] <= 0.05)
                lines.append(f"| {n} | {'no' if spread else 'yes'} | {accuracy} | " + " | ".join(f"{s:.1%}" for s in shares) + " |")
    lines += ["", "With every question asked several times, by the tail of paired_mean_prob_better; the models are equal on each question, or only over all questions like these:",
              "", "| questions | attempts | equal on each | 2 min(P, 1-P), paired_mean_prob_better |", "|---|---|---|---|"]
    for questions, tries, own in ((15, 4, 0), (15, 4, 1), (50, 4, 0), (50, 4, 1)):
        share = family_again(ext, questions, tries, own)
        held &= share <= 0.05
        lines.append(f"| {questions} | {tries} | {'no' if own else 'yes'} | {share:.1%} |")
    lines += ["", "mcnemar_p stays within 5% everywhere, paired_prob_better's tail does not with 20 questions. So `verdict_all` goes by mcnemar_p where questions were asked once and answers are right or wrong; of means there is no such test, and their tail stays within 5% here.",
              "", "## Two models, every question asked several times", "",
              f"Coverage of the true difference and mean width of 95% intervals, {DRAWS:,} evals each: `paired_diff_ci` of first attempts alone, `paired_mean_diff_ci` of question means, `clustered_diff_ci` of attempts paired by number, clustered by question. Missing is the share of attempts that errored, beyond the first.",
              "", "| questions | attempts | missing | first attempts | question means | attempts, clustered |", "|---|---|---|---|---|---|"]
    for questions, tries, missing, apart, spread in ((15, 4, 0, 0.5, 1.5), (15, 4, 0.3, 0.5, 1.5), (15, 4, 0, 0, 3), (50, 4, 0, 0.5, 1.5),
                                                     (50, 4, 0.5, 0.5, 1.5), (50, 8, 0.3, 0.5, 3), (200, 4, 0.3, 0.5, 1.5)):
        cells = attempts(ext, questions, tries, missing, apart, spread)
        held &= cells["question means"][0] >= 0.93
        lines.append(f"| {questions} | {tries} | {missing:.0%} | " + " | ".join(f"{coverage:.1%}, {width:.3f}" for coverage, width in cells.values()) + " |")
    lines += ["", "Question means use every attempt, also of models that were asked a different number of times, and are never wider; with as many attempts at each question the two are the same interval. So `compare` goes by question means."]
    return "\n".join(lines) + "\n", held


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("extension")
    parser.add_argument("--out", default=str(pathlib.Path(__file__).parent))
    options = parser.parse_args()
    text, held = page(Extension(options.extension))
    (pathlib.Path(options.out) / "verdicts.md").write_text(text)
    if not held:
        sys.exit("verdicts.py: a verdict misses its bar, see verdicts.md")


if __name__ == "__main__":
    main()
