#!/usr/bin/python3
"""Measures the verdicts of the board by simulation: make verdicts.

    /usr/bin/python3 tests/measured/verdicts.py build/evalci.so [--out DIR]

Which p, corrected for all pairs by Holm's method, calls some pair of equal models different in at most 5% of evals, and
how many pairs of real boards does it separate?  How should two models be compared on questions with several attempts?
How well does the interval for other tasks cover?  How often is a model called better that gains a little on most questions
and fails outright on a few?  The simulations have a seed; every number comes from the extension,
through SQL.  Writes verdicts.md, the same bytes on every run; the exit status is 1 if the board misses a bar.
"""
import argparse
import csv
import functools
import itertools
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

BOARDS = pathlib.Path(__file__).resolve().parent.parent / "board/data"
SEED = 2025
MODELS = 30
RUNS = 1000
DRAWS = 1500
TASKS = (5, 10, 20, 60)
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
    """How often some pair of equal models is called different: by each p corrected for all pairs, and by single pairs.

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


def family_of_means(ext, questions, tries, own):
    """The same of question means, by paired_p, by the tail of paired_mean_prob_better, and by t tests.

    The models are equal over all questions like these: on each question alike, or with a normal effect of their own.
    Without tries, each answer is graded: its score is the chance of being right, with some noise of the logit.
    """
    random = np.random.default_rng([SEED, questions, tries, int(10 * own)])
    first, second = np.triu_indices(MODELS, 1)
    bar, called = (1 - LEVEL) / len(first), np.zeros(3)
    for _ in range(RUNS):
        logit = random.normal(0, 1.5, questions) + random.normal(0, own, (MODELS, questions))
        if tries:
            means = (random.random((tries, MODELS, questions)) < 1 / (1 + np.exp(-logit))).mean(axis=0)
        else:
            means = 1 / (1 + np.exp(-logit - random.normal(0, 0.5, logit.shape)))
        diff = means[first] - means[second]
        apart = np.abs(diff.mean(axis=1)) / np.sqrt(diff.var(axis=1) + 1 / questions ** 2)
        furthest = [list(zip(means[first[i]].tolist(), means[second[i]].tolist())) for i in np.argsort(-apart, kind="stable")[:5]]
        probs = [ext.over("paired_mean_prob_better", pair) for pair in furthest]
        called += [min(ext.over("paired_p", pair) for pair in furthest) <= bar, min(min(p, 1 - p) for p in probs) * 2 <= bar,
                   min(student(np.subtract(*np.transpose(pair))) for pair in furthest) <= bar]
    return called / RUNS


def student(diff):
    """The two-sided p of Student's t test: the tail over an angle, t = sqrt(df) tan(angle)."""
    df, spread = len(diff) - 1, diff.std(ddof=1)
    if spread == 0:
        return 0.0 if diff[0] else 1.0
    angle = math.atan(abs(diff.mean()) / spread * math.sqrt(len(diff) / df))
    nodes = np.linspace(angle, math.pi / 2, 4001)
    density = np.cos(nodes) ** (df - 1)
    return float(2 * math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi) * (density.sum() - density[[0, -1]].sum() / 2) * (nodes[1] - nodes[0]))


# Real boards


def told_apart(ext, name):
    """Pairs, and how many of them Holm's method tells apart by paired_p (the board's), by the posterior's tail and by t tests."""
    with open(BOARDS / f"{name}.csv") as file:
        table = list(csv.DictReader(file))
    models = [m for m in table[0] if m != "item"]
    cells = {m: {q["item"]: q[m].partition("/") for q in table if q[m]} for m in models}
    graded = not any(slash for m in models for _, slash, _ in cells[m].values())
    ext.db.execute("DROP TABLE IF EXISTS results")
    ext.db.execute(f"CREATE TABLE results(model, item, {'score' if graded else 'correct'})")
    for m in models:
        ext.db.executemany("INSERT INTO results VALUES (?, ?, ?)", [(m, q, float(x)) if graded else (m, q, int(i < int(x)))
                                                                    for q, (x, _, n) in cells[m].items() for i in range(int(n or 1))])
    board = ext.db.execute("SELECT sum(verdict_all IN ('A better', 'B better')) FROM eval_compare").fetchone()[0]
    tail, tests = [], []
    for a, b in itertools.combinations(models, 2):
        pairs = [tuple(float(x) / float(n or 1) for x, _, n in (cells[a][q], cells[b][q])) for q in cells[a] if q in cells[b]]
        prob = ext.over("paired_mean_prob_better", pairs)
        tail.append(2 * min(prob, 1 - prob))
        tests.append(student(np.subtract(*np.transpose(pairs))))
    return len(tests), board, holm(tail), holm(tests)


def holm(ps):
    """How many are below 1 - LEVEL, one after the other from the least."""
    ok = [p * (len(ps) - i) <= 1 - LEVEL for i, p in enumerate(sorted(ps))]
    return ok.index(False) if False in ok else len(ok)


# Other tasks


def other_tasks(ext, tasks, mean, spread):
    """Coverage of the mean over all tasks like these, and width, of task_ci; each draw is a model of one board.

    A task's mean is Beta, and so are its questions about it, with 3/4 of the variance that they could have left out.
    """
    random = np.random.default_rng([SEED, tasks, int(1000 * mean), int(1000 * spread)])
    size, draws = mean * (1 - mean) / spread ** 2 - 1, 30000 // (10 + tasks)
    ext.db.execute("DROP TABLE IF EXISTS results")
    ext.db.execute("CREATE TABLE results(model, task, item, score)")
    for draw in range(draws):
        means = np.clip(random.beta(mean * size, (1 - mean) * size, tasks), 1e-6, 1 - 1e-6)
        for task, (m, n) in enumerate(zip(means, np.minimum(60, np.ceil(random.lognormal(2, 0.8, tasks))).astype(int))):
            scores = random.beta(3 * m, 3 * (1 - m), n)
            ext.db.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", [(draw, task, i, s) for i, s in enumerate(scores.tolist())])
    bounds = np.array(ext.db.execute("SELECT task_lo, task_hi FROM eval_leaderboard").fetchall())
    return float(np.mean((bounds[:, 0] <= mean) & (mean <= bounds[:, 1]))), float(np.mean(bounds[:, 1] - bounds[:, 0]))


# Two models, several attempts per question


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


# Two models, failures that were not seen


def judged(random, n, fails):
    """A judge's scores from 1 to 10; A gains a step on some questions."""
    b = np.round(np.clip(random.normal(7, 1, n), 2, 9)) / 9 - 1 / 9
    a = b + (random.random(n) < 9 * b * fails / (1 - fails)) / 9
    return a, b


def close(random, n, fails):
    """Scores without ties; A gains a little on all questions."""
    b = np.clip(0.75 + 0.08 * random.standard_normal(n), 0.5, 0.9)
    return b / (1 - fails) + np.clip(0.015 * random.standard_normal(n), -0.05, 0.05), b


def tried(tries):
    """Right or wrong, asked several times."""
    def draw(random, n, fails):
        chance = random.uniform(0.4, 0.9, n)
        return (random.binomial(tries, np.minimum(1, chance / (1 - fails))) / tries, random.binomial(tries, chance) / tries)
    return draw


def apart(random, n, gap):
    """Graded scores all over their range; A is better by the gap."""
    b = random.uniform(0.2, 0.8, n)
    return tuple(np.clip(x + random.normal(0, 0.15, n), 0, 1) for x in (b + gap, b))


def fifths(random, n, gap):
    """The same in fifths."""
    b = random.uniform(0, 1, n)
    return tuple(np.round(4 * np.clip(x + random.normal(0, 0.25, n), 0, 1)) / 4 for x in (b + gap, b))


POPULATIONS = (("graded, no ties", close, 0.03), ("a judge's 1 to 10", judged, 0.03), ("a judge's 1 to 10", judged, 0.06),
               ("right or wrong, 4 attempts", tried(4), 0.05), ("right or wrong, 10 attempts", tried(10), 0.05),
               ("graded, spread", apart, None), ("graded, fifths", fifths, None))
ASKED = (15, 30, 60, 100)


def unseen(ext, population, n):
    """How often A is called better: by paired_mean_diff_ci, and by mean_ci of the differences from -1 to 1 too.  A fails
    outright on a share of questions, so that its mean is B's; without such a share it is better."""
    _, draw, fails = POPULATIONS[population]
    random = np.random.default_rng([SEED, n, population])
    called = np.zeros(2)
    for _ in range(RUNS):
        a, b = draw(random, n, fails or 0.5 / math.sqrt(n))
        if fails:
            a = np.where(random.random(n) < fails, 0, a)
        own, wide = ext.db.execute("""SELECT paired_mean_diff_ci(value ->> 0, value ->> 1), mean_ci((value ->> 0) - (value ->> 1), 0.95, -1, 1)
                                      FROM json_each(?)""", (json.dumps(list(zip(a.tolist(), b.tolist()))),)).fetchone()
        called += [json.loads(own)[0] > 0, json.loads(own)[0] > 0 and json.loads(wide)[0] > 0]
    return called / RUNS


def unseen_lines(ext):
    lines = ["## Two models, failures that were not seen", "",
             f"How often A is called better, of {RUNS:,} evals: by `ci` of `eval_compare`, which is `paired_mean_diff_ci`, and, after the comma, by `ci_unseen` as well. In the first five rows A fails outright on a share of questions and gains a little on the others, so that it is no better; 2.5% is right. In the last two it is better, by 0.5 over the root of the number of questions.",
             "", "| scores | fails outright | " + " | ".join(f"{n} questions" for n in ASKED) + " |", "|---|---|" + "---|" * len(ASKED)]
    for i, (words, _, fails) in enumerate(POPULATIONS):
        cells = [unseen(ext, i, n) for n in ASKED]
        lines.append(f"| {words} | {f'{fails:.0%}' if fails else 'never'} | " + " | ".join(f"{own:.1%}, {wide:.1%}" for own, wide in cells) + " |")
    return [*lines, "", "An interval knows only differences like those seen. Of graded answers a few unseen failures can undo many small gains, and `verdict` says `A better unless it sometimes fails outright` where `ci_unseen` does not exclude 0. Right or wrong answers, also asked several times, have no gains that are so small, and `verdict` does not say it."]


def page(ext):
    """The page, and whether the board holds what it says."""
    lines = ["# Verdicts", "",
             "Written by `make verdicts`. Simulated, seeded; the standard error of a share near 5% is 0.7 points, near 95% 0.6.", "",
             f"## {MODELS} equal models, every pair", "",
             f"How often, of {RUNS:,} evals, some pair is called different: by three p corrected for all {MODELS * (MODELS - 1) // 2} pairs by Holm's method, and by each pair on its own at 5%. Questions are alike, or differ in difficulty (a normal logit with standard deviation 1.5).",
             "", "| questions | alike | accuracy | mcnemar_p | 2 min(P, 1-P), paired_prob_better | 2 min(P, 1-P), paired_mean_prob_better | pairs on their own |",
             "|---|---|---|---|---|---|---|"]
    held = True
    for n in (20, 100, 500):
        for spread in (0, 1.5):
            for accuracy in (0.5, 0.8):
                shares = family(ext, n, spread, accuracy)
                held &= bool(shares[0] <= 0.05)
                lines.append(f"| {n} | {'no' if spread else 'yes'} | {accuracy} | " + " | ".join(f"{s:.1%}" for s in shares) + " |")
    lines += ["", "With several attempts at every question, or graded; the models are equal on each question, or only on average over all questions like these:",
              "", "| questions | attempts | equal on each | paired_p | 2 min(P, 1-P), paired_mean_prob_better | t test |", "|---|---|---|---|---|---|"]
    for questions, tries, own in ((15, 4, 0), (15, 4, 1), (50, 4, 0), (50, 4, 1), (20, 0, 0), (20, 0, 1), (100, 0, 1), (500, 0, 1)):
        shares = family_of_means(ext, questions, tries, own)
        held &= bool(shares[0] <= 0.05)
        lines.append(f"| {questions} | {tries or 'graded'} | {'no' if own else 'yes'} | " + " | ".join(f"{s:.1%}" for s in shares) + " |")
    lines += ["", "The sign-flip test, paired_p, stays within 5% everywhere; for right or wrong answers with one attempt per question it is mcnemar_p. The tail of paired_prob_better exceeds 5% with 20 questions. So `verdict_all` uses paired_p.",
              "", "## Pairs of real boards", "", "The number of pairs that Holm's method separates at 95%, by each p; the boards are in [tests/board/data](../board/data/ORIGIN.md).",
              "", "| board | pairs | paired_p | 2 min(P, 1-P), paired_mean_prob_better | t test |", "|---|---|---|---|---|"]
    for name, words in (("matharena", "MathArena AIME 2025 II, 15 questions, 4 attempts"), ("livebench", "LiveBench, graded, ten models"), ("swebench_pro", "SWE-bench Pro")):
        lines.append(f"| {words} | " + " | ".join(map(str, told_apart(ext, name))) + " |")
    lines += ["", "With 15 questions paired_p is at least 2^-15, and each question on which two models are equal doubles that bound, so t tests separate more pairs of MathArena. They also stay within 5% above, but they need nearly normal differences; paired_p only assumes that signs are fair.",
              "", "## Other tasks, graded", "", "Coverage of the mean over all tasks like these and mean width of `task_ci`; unequal tasks of 1 to 60 questions, and Beta task means with a mean and a standard deviation.",
              "", "| task means | " + " | ".join(f"{t} tasks" for t in TASKS) + " |", "|---|" + "---|" * len(TASKS)]
    for mean, spread in ((0.17, 0.04), (0.3, 0.2), (0.5, 0.15), (0.8, 0.06), (0.9, 0.08)):
        cells = [other_tasks(ext, tasks, mean, spread) for tasks in TASKS]
        held &= mean == 0.9 or all(0.92 <= coverage <= 0.98 for coverage, _ in cells)
        lines.append(f"| {mean} ± {spread} | " + " | ".join(f"{coverage:.1%}, {width:.3f}" for coverage, width in cells) + " |")
    lines += ["", "The bar is 92 to 98% in all rows but the last. There, most task means are close to an end of the range, and the observed ones say nothing about the rare low ones.",
              "", "## Two models, several attempts at every question", "",
              f"Coverage of the true difference and mean width of 95% intervals, {DRAWS:,} evals each: `paired_diff_ci` of first attempts alone, `paired_mean_diff_ci` of question means, `clustered_diff_ci` of attempts paired by number, clustered by question. Missing is the share of attempts that errored, beyond the first.",
              "", "| questions | attempts | missing | first attempts | question means | attempts, clustered |", "|---|---|---|---|---|---|"]
    for questions, tries, missing, apart, spread in ((15, 4, 0, 0.5, 1.5), (15, 4, 0.3, 0.5, 1.5), (15, 4, 0, 0, 3), (50, 4, 0, 0.5, 1.5),
                                                     (50, 4, 0.5, 0.5, 1.5), (50, 8, 0.3, 0.5, 3), (200, 4, 0.3, 0.5, 1.5)):
        cells = attempts(ext, questions, tries, missing, apart, spread)
        held &= cells["question means"][0] >= 0.93
        lines.append(f"| {questions} | {tries} | {missing:.0%} | " + " | ".join(f"{coverage:.1%}, {width:.3f}" for coverage, width in cells.values()) + " |")
    lines += ["", "Question means use every attempt, also if the models have different numbers of attempts, and their interval is never wider; with equal numbers of attempts at each question the two intervals are the same. So `eval_compare` uses question means.", "", *unseen_lines(ext)]
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
