"""The coverage of the intervals of means for fixed truths: scores, differences, clusters, tasks and attempts.

Each section is a function that returns Markdown; coverage.py prints sections().  The methods are evalci's, or a few lines here:
the percentile bootstrap, Student's t over linearised clusters, Satterthwaite's and Welch's.
"""
import functools
import itertools
import math
import zlib
from dataclasses import dataclass
from typing import Callable

import numpy as np
from scipy import special, stats

from fixed import NOW, Case, by_case, by_size, covered, drawn, measure, separated, table, worst
from settings import LEVEL, SEED

T_QUANTILE = functools.cache(lambda df: float(stats.t.ppf((1 + LEVEL) / 2, df)))
SIZES = (5, 10, 20, 50, 200)

# A mean of scores

PAIR = "value ->> 0, value ->> 1"
RESAMPLES = 1000
NEGLIGIBLE = 1e-7  # samples less likely than this are left out of sums over every sample


def bootstrap(scores):
    """The percentile bootstrap, seeded by the data."""
    values = uncounted(scores)
    means = np.random.default_rng((SEED, zlib.crc32(values.tobytes()))).choice(values, (RESAMPLES, len(values))).mean(axis=1)
    return np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])


MEAN_METHODS = {"mean_ci": NOW.interval(f"mean_ci_counts({PAIR})"), "Student": NOW.interval(f"mean_t_ci_counts({PAIR})"),
                "bootstrap": bootstrap, "mean_lmt_ci": NOW.interval(f"mean_lmt_ci_counts({PAIR})")}


def counted(values):
    """A sample as sorted (value, how often)."""
    return tuple(zip(*(column.tolist() for column in np.unique(values, return_counts=True))))


def uncounted(sample):
    return np.repeat([v for v, _ in sample], [n for _, n in sample])


@dataclass
class Population:
    mean: float
    draw: Callable  # draw(rng, n): n values
    values: tuple = ()  # if they are few, and their shares
    shares: tuple = ()

    def data(self, n, draws):
        """Samples of size n: every sample if there are at most three values, else random draws."""
        if 0 < len(self.values) <= 3:
            return lambda rng: self.every_sample(n)
        return drawn(draws, lambda rng: (self.mean, counted(self.draw(rng, n))))

    def every_sample(self, n):
        counts = [c for c in itertools.product(range(n + 1), repeat=len(self.values) - 1) if sum(c) <= n]
        counts = [(*c, n - sum(c)) for c in counts]
        for chance, count in zip(stats.multinomial.pmf(counts, n, self.shares), counts):
            if chance > NEGLIGIBLE:
                yield chance, self.mean, tuple((v, c) for v, c in zip(self.values, count) if c > 0)


def discrete(values, shares):
    values, shares = np.array(values, dtype=float), np.array(shares, dtype=float) / np.sum(shares)
    return Population(float(values @ shares), lambda rng, n: rng.choice(values, n, p=shares), tuple(values.tolist()), tuple(shares.tolist()))


def rare(share):
    """Scores near 0.9, of which that share is 0."""
    return Population(0.9 * (1 - share), lambda rng, n: np.where(rng.random(n) < share, 0, np.clip(rng.normal(0.9, 0.02, n), 0, 1)))


def beta(a, b):
    return Population(a / (a + b), lambda rng, n: rng.beta(a, b, n))


FIFTHS = (0, 0.25, 0.5, 0.75, 1)
TWENTIETHS = np.arange(21) / 20
# Scores of 32 models by LiveBench (livebench.ai, Apache-2.0), release of 2025-01-13, as in examples/data of
# sambowyer/bayes_evals (MIT): how often each came, those of the last three tasks rounded to twentieths.
LIVEBENCH = {
    "story_generation": ((0, 0.125, 1 / 6, 0.25, 1 / 3, 0.375, 1), (98, 3, 22, 226, 61, 82, 1108)),
    "connections": ((0, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1), (570, 215, 192, 152, 7, 6, 458)),
    "tablejoin": (TWENTIETHS, (673, 0, 19, 65, 62, 58, 59, 68, 65, 26, 129, 34, 11, 66, 1, 22, 35, 18, 16, 0, 173)),
    "plot_unscrambling": (TWENTIETHS, (10, 36, 79, 89, 114, 116, 114, 116, 122, 88, 59, 72, 37, 46, 54, 23, 14, 37, 21, 1, 32)),
    "olympiad": (TWENTIETHS, (46, 57, 65, 74, 117, 94, 129, 128, 105, 147, 103, 124, 93, 75, 64, 60, 34, 19, 15, 1, 286)),
}
POPULATIONS = {
    **{f"Beta({a},{b})": beta(a, b) for a, b in ((1, 30), (18, 1), (40, 60), (2, 2))},
    "rubric, spread": discrete(FIFTHS, (1, 1, 1, 1, 1)),
    "rubric, two heaps": discrete(FIFTHS, (8, 1, 2, 1, 8)),
    "rubric, 70% full marks": discrete(FIFTHS, (2, 3, 5, 20, 70)),
    "rubric, 90% full marks": discrete(FIFTHS, (1, 1, 2, 6, 90)),
    "rubric, 60% none": discrete(FIFTHS, (60, 20, 10, 5, 5)),
    "stars, half of them five": discrete(FIFTHS, (1, 2, 7, 40, 50)),
    "stars, 80% five": discrete(FIFTHS, (2, 0, 3, 15, 80)),
    **{f"LiveBench, {task}": discrete(*scores) for task, scores in LIVEBENCH.items()},
    **{f"near 0.9, {share:.0%} zeros": rare(share) for share in (0.01, 0.02, 0.05)},
}
MEAN_DRAWS = {5: 2000, 10: 2000, 20: 2000, 50: 2000, 200: 1000}


ONES, OTHERS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99), (0, 0.2, 0.5, 0.8, 0.95)


def two_values(p, other):
    return discrete((other, 1), (1 - p, p))


def grid(results, n):
    rows = [[f"{p:g} of the scores are 1", *(covered(results[(p, v), n]["mean_ci"], results[(p, v), n]["Student"]) for v in OTHERS)]
            for p in ONES]
    return table([f"N = {n}, the others are", *(f"{v:g}" for v in OTHERS)], rows)


def below(results, method, n, bar):
    return sum(found[method].coverage < bar for (_, size), found in results.items() if size == n)


def graded_cell(found):
    student = found["Student"]
    return f"{covered(found['mean_ci'], student)} / {covered(student)} / {covered(found['bootstrap'])} / {covered(found['mean_lmt_ci'], student)}"


def mean_section():
    two = measure("two values", [Case((p, v), n, two_values(p, v).data(n, 0), MEAN_METHODS) for n in SIZES for p in ONES for v in OTHERS])
    graded = measure("graded", [Case(name, n, scores.data(n, MEAN_DRAWS[n]), MEAN_METHODS) for n in SIZES for name, scores in POPULATIONS.items()])
    counts = [[m, *(f"{w} / {below(two, m, n, 0.90)} / {below(two, m, n, 0.93)}" for n, w in zip(SIZES, line))]
              for m, *line in worst(two, SIZES)]
    return f"""\
## The mean of graded scores

Scores in [0, 1]. Each cell has the coverage in percent and, in brackets, the mean width as a multiple of Student's, both cut
to the range. "bootstrap" is the percentile bootstrap of {RESAMPLES:,} resamples.

**Two values: 1 and another.** Exact: the sum over every sample. `mean_ci` first:

{grid(two, 20)}
{grid(two, 200)}
All methods over these {len(ONES) * len(OTHERS)} populations: the least coverage, and in how many it is below 90% and below 93%:

{table(["", *(f"N = {n}" for n in SIZES)], counts)}
**Other populations.** {MEAN_DRAWS[5]:,} data sets each, {MEAN_DRAWS[200]:,} at N = 200: a coverage of 95% has a standard error of {se(MEAN_DRAWS[5])},
{se(MEAN_DRAWS[200])} at N = 200. Coverage by `mean_ci`, in brackets its width / by Student / by the bootstrap / by `mean_lmt_ci`, and its width.

{by_case("N", graded, SIZES, graded_cell)}
The least coverage of each method over the populations above:

{table(["", *(f"N = {n}" for n in SIZES)], worst(graded, SIZES))}"""


def se(draws):
    return f"{100 * math.sqrt(0.95 * 0.05 / draws):.1f} points"


# A mean difference over the same questions


def student(values):
    n = len(values)
    mean, half = np.mean(values), T_QUANTILE(n - 1) * np.std(values, ddof=1) / math.sqrt(n)
    return mean - half, mean + half


def trinomial(plus, minus):
    return discrete((-1, 0, 1), (minus, 1 - plus - minus, plus))


def attempts_differ(gain):
    """Means of four attempts by each model at questions of uniform difficulty; the second model gains the same at each."""
    def draw(rng, n):
        p = rng.uniform(0, 1 - gain, n)
        return (rng.binomial(4, p + gain) - rng.binomial(4, p)) / 4
    return Population(gain, draw)


def skewed(mean):
    return Population(mean, lambda rng, n: np.minimum(1, mean + 0.03 * (np.exp(rng.normal(0, 0.6, n)) - math.exp(0.18))))


def normal(mean):
    return Population(mean, lambda rng, n: rng.normal(mean, 0.03, n))


def breaking(share, gain, sd):
    """Differences of sd about a gain, of which that share is -1: no two are equal, and the mean is seen by luck alone."""
    return Population(gain * (1 - share) - share, lambda rng, n: np.where(rng.random(n) < share, -1, rng.normal(gain, sd, n)))


DIFFERENCES = {
    "tight, equal": normal(0),
    "tight, better by 0.02": normal(0.02),
    "skewed, equal": skewed(0),
    "skewed, better by 0.02": skewed(0.02),
    "80% ties, equal": Population(0, lambda rng, n: np.where(rng.random(n) < 0.8, 0, rng.normal(0, 0.1, n))),
    "rubric, 20% differ, equal": discrete((-0.25, 0, 0.25), (1, 8, 1)),
    "rubric, better by 0.1": discrete((-0.25, 0, 0.25), (1, 4, 5)),
    "right or wrong, 10% and 10%": trinomial(0.1, 0.1),
    "right or wrong, 20% and 5%": trinomial(0.2, 0.05),
    "right or wrong, 5% and none": trinomial(0.05, 0),
    "means of four attempts, equal": attempts_differ(0),
    "means of four attempts, better by 0.1": attempts_differ(0.1),
    "0.05 better, but 5% break outright": discrete((-1, 0.05), (0.05, 0.95)),
    "0.05 better, give or take 0.01, but 5% break": breaking(0.05, 0.05, 0.01),
    "0.02 better, give or take 0.02, but 2% break": breaking(0.02, 0.02, 0.02),
}
PAIRED_DRAWS = 2000
PAIRED_METHODS = {"paired_mean_diff_ci": NOW.interval(f"paired_mean_diff_ci_counts({PAIR})"), "Student": lambda d: student(uncounted(d)),
                  "mean_ci on [-1, 1]": NOW.interval(f"mean_ci_counts({PAIR}, {LEVEL}, -1, 1)")}

WRONG_WAY = {"5% fail outright, the others gain 0.02": (0.05, 0.02), "3% fail outright, the others gain 0.01": (0.03, 0.01)}
WRONG_WAY_SIZES = (15, 25, 40, 60, 100)


def wrong_way(name, n):
    """Scores near 0.75 of B; A gains a little or has 0.  Intervals become one that excludes 0 if they lie above it."""
    share, gain = WRONG_WAY[name]

    def draw(rng):
        b = np.clip(rng.normal(0.75, 0.08, n), 0, 1)
        a = np.where(rng.random(n) < share, 0, np.clip(b + rng.normal(gain, 0.015, n), 0, 1))
        return 0, counted(a - b)

    def above(method):
        return lambda d: (1, 1) if method(d)[0] > 0 else (0, 0)
    return Case(name, n, drawn(PAIRED_DRAWS, draw), {m: above(method) for m, method in PAIRED_METHODS.items()}, (-1, 1))


def paired_section():
    results = measure("paired means", [Case(name, n, d.data(n, PAIRED_DRAWS), PAIRED_METHODS, (-1, 1))
                                       for n in SIZES for name, d in DIFFERENCES.items()])
    wrong = measure("the wrong way", [wrong_way(name, n) for name in WRONG_WAY for n in WRONG_WAY_SIZES])
    rows = [[name, *(" / ".join(f"{100 * found.apart:.1f}" for found in wrong[name, n].values()) for n in WRONG_WAY_SIZES)] for name in WRONG_WAY]
    return f"""\
## The mean difference on the same questions

Differences of two models' scores in [0, 1]. Each cell has the coverage in percent, after the stroke how often the interval
excludes 0 (false separations if the models are equal, else power), and in brackets the width as a multiple of Student's.
With two or three values the figures are exact sums over every sample; otherwise {PAIRED_DRAWS:,} data sets, standard error {se(PAIRED_DRAWS)}.
`mean_ci` of the differences on [-1, 1] imagines one that is as bad as can be.

{by_size("N", results, SIZES, separated)}
**The wrong way.** A model that fails outright on a few questions and gains a little on the others is worse, by 1.9 points where 5% fail
and by 1.3 where 3% do. How often, in percent, the interval says that it is better: {" / ".join(PAIRED_METHODS)}.

{table(["", *(f"N = {n}" for n in WRONG_WAY_SIZES)], rows)}"""


# A mean difference over different questions

UNPAIRED = {  # name: the populations of A and B
    "Beta(40,60), both": ("Beta(40,60)", "Beta(40,60)"),
    "Beta(2,2), both": ("Beta(2,2)", "Beta(2,2)"),
    "Beta(18,1), both": ("Beta(18,1)", "Beta(18,1)"),
    "Beta(18,1) and Beta(2,2)": ("Beta(18,1)", "Beta(2,2)"),
    "rubric, 90% and 70% full marks": ("rubric, 90% full marks", "rubric, 70% full marks"),
    "near 0.9, 5% zeros, both": ("near 0.9, 5% zeros", "near 0.9, 5% zeros"),
}
UNPAIRED_SIZES = (10, 20, 50)
UNPAIRED_DRAWS = 400


def welch(rows):
    a, b = (np.array([row[i] for row in rows if row[i] is not None]) for i in (0, 1))
    parts = [np.var(x, ddof=1) / len(x) for x in (a, b)]
    spread = sum(parts)
    df = spread**2 / sum(v**2 / (len(x) - 1) for v, x in zip(parts, (a, b))) if spread > 0 else 1
    half = stats.t.ppf((1 + LEVEL) / 2, df) * math.sqrt(spread)
    return a.mean() - b.mean() - half, a.mean() - b.mean() + half


def unpaired(name, n):
    a, b = (POPULATIONS[p] for p in UNPAIRED[name])

    def draw(rng):
        return a.mean - b.mean, tuple((x, None) for x in a.draw(rng, n).tolist()) + tuple((None, x) for x in b.draw(rng, n).tolist())
    methods = {"mean_diff_ci": NOW.interval(f"mean_diff_ci({PAIR})"), "Welch": welch}
    return Case(name, n, drawn(UNPAIRED_DRAWS, draw), methods, (-1, 1))


def unpaired_section():
    results = measure("unpaired means", [unpaired(name, n) for n in UNPAIRED_SIZES for name in UNPAIRED])
    return f"""\
## The mean difference on different questions

N scores of each model, from the populations above. Coverage, how often 0 is excluded, and the width as a multiple of Welch's.
{UNPAIRED_DRAWS:,} data sets each, standard error {se(UNPAIRED_DRAWS)}.

{by_size("N", results, UNPAIRED_SIZES, separated, "Welch")}"""


# Clusters

CLUSTERS = (5, 10, 20, 40)
CLUSTER_DRAWS = 2000


def cluster_sizes(rng, clusters):
    """From 1 to 40, most of them below 10."""
    return np.minimum(40, np.ceil(rng.lognormal(2, 0.8, clusters))).astype(int)


def right_of(p, icc):
    def totals(rng, sizes):
        d = 1 / icc - 1 if icc else 0
        return rng.binomial(sizes, rng.beta(p * d, (1 - p) * d, len(sizes)) if icc else p)
    return p, totals


def graded_clusters(rng, sizes):
    return sizes * np.clip(rng.beta(40, 10, len(sizes)) + rng.normal(0, 0.1, len(sizes)) / np.sqrt(sizes), 0, 1)


def cluster_gain(gain, spread):
    """Right or wrong answers of two models: clusters are easy or hard for both, and the second gains, with a spread."""
    def totals(rng, sizes):
        p = rng.uniform(0.2, 0.8, len(sizes))
        other = np.clip(p + gain + rng.uniform(-spread, spread, len(sizes)), 0, 1)
        return (rng.binomial(sizes, other) - rng.binomial(sizes, p)).astype(float)
    return gain, totals


def tight_gain(gain):
    def totals(rng, sizes):
        return sizes * (gain + rng.normal(0, 0.01, len(sizes)) + rng.normal(0, 0.05, len(sizes)) / np.sqrt(sizes))
    return gain, totals


CLUSTERED = {  # name: mean, and the clusters' totals(rng, sizes)
    "right or wrong, 0.9, ICC 0.1": right_of(0.9, 0.1),
    "right or wrong, 0.95, ICC 0.1": right_of(0.95, 0.1),
    "right or wrong, 0.97, alike": right_of(0.97, 0),
    "right or wrong, 0.7, ICC 0.2": right_of(0.7, 0.2),
    "right or wrong, 0.5, ICC 0.1": right_of(0.5, 0.1),
    "graded, 0.8": (0.8, graded_clusters),
}
CLUSTERED_DIFFERENCES = {
    "right or wrong, equal": cluster_gain(0, 0.1),
    "right or wrong, better by 0.1": cluster_gain(0.1, 0.1),
    "tight, equal": tight_gain(0),
    "tight, better by 0.02": tight_gain(0.02),
}


def linearised_t(rows):
    """Student's t over r + (S - r n) / mean n, r = sum S / sum n."""
    total, n = np.array(rows).T
    ratio = total.sum() / n.sum()
    return student(ratio + (total - ratio * n) / n.mean())


def clustered(kind, name, clusters):
    """kind: mean or diff."""
    mean, totals = (CLUSTERED if kind == "mean" else CLUSTERED_DIFFERENCES)[name]

    def draw(rng):
        sizes = cluster_sizes(rng, clusters)
        return mean, tuple(zip(totals(rng, sizes).tolist(), sizes.tolist()))
    methods = {f"clustered_{kind}_ci": NOW.interval(f"clustered_{kind}_ci_counts({PAIR})"), "Student": linearised_t}
    if name.startswith("right") and kind == "mean":
        methods["clustered_ci, 'icc'"] = NOW.interval(f"clustered_ci_counts({PAIR}, {LEVEL}, 'icc')")
    return Case(name, clusters, drawn(CLUSTER_DRAWS, draw), methods, (0, 1) if kind == "mean" else (-1, 1))


def clustered_section():
    means = measure("clusters", [clustered("mean", name, t) for t in CLUSTERS for name in CLUSTERED])
    diffs = measure("clustered differences", [clustered("diff", name, t) for t in CLUSTERS for name in CLUSTERED_DIFFERENCES])
    return f"""\
## The mean over clusters of unequal size

T clusters of 1 to 40 questions, most of them below 10; sizes are independent of difficulty. "Student" is Student's t over the
linearised clusters, r + (S - r n) / mean n. Coverage, and width against Student's; {CLUSTER_DRAWS:,} data sets each, standard error {se(CLUSTER_DRAWS)}.

{by_size("T", means, CLUSTERS)}
**The difference of two models over such clusters:** coverage, how often 0 is excluded, width.

{by_size("T", diffs, CLUSTERS, separated)}"""


TRUTH_DRAWS = 400_000
MEAN_SIZES = (10, 20, 40, 100)


def two_kinds(large_accuracy):
    """Three quarters of the clusters have 6 questions and a mean accuracy of 0.85, the others 60 and that."""
    def clusters(rng, count):
        large = rng.random(count) < 0.25
        middle = np.where(large, large_accuracy, 0.85)
        return np.where(large, 60, 6), rng.beta(20 * middle, 20 * (1 - middle))
    return clusters


def harder(sizes, slope):
    """Logits of accuracy fall with the size: 2 + slope(n), with a standard deviation of 1/2."""
    def clusters(rng, count):
        n = sizes(rng, count)
        return n, special.expit(2 + slope(n) + 0.5 * rng.standard_normal(count))
    return clusters


def lognormal_sizes(rng, count):
    return np.maximum(1, np.rint(rng.lognormal(1.5, 1, count))).astype(int)


UNEQUAL = {  # name: the sizes and accuracies of clusters(rng, count)
    "6 or 60 questions, as easy": two_kinds(0.85),
    "6 or 60 questions, large ones harder": two_kinds(0.5),
    "1 to 10 questions, large ones harder": harder(lambda rng, count: rng.integers(1, 11, count), lambda n: -0.25 * n),
    "lognormal sizes, as easy": lambda rng, count: (lognormal_sizes(rng, count), rng.beta(3.2, 0.8, count)),
    "lognormal sizes, large ones harder": harder(lognormal_sizes, lambda n: -0.8 * np.log(n)),
}
WHICH_MEAN = {  # of the clusters, and of the questions: the methods that estimate it, or are taken to
    "clusters": {"clustered_ci, 'icc'": NOW.interval(f"clustered_ci_counts({PAIR}, {LEVEL}, 'icc')"),
                 "mean_ci of the clusters' means": NOW.interval("mean_ci(1.0 * (value ->> 0) / (value ->> 1))")},
    "questions": {"clustered_mean_ci": NOW.interval(f"clustered_mean_ci_counts({PAIR})"),
                  "clustered_ci, 'icc'": NOW.interval(f"clustered_ci_counts({PAIR}, {LEVEL}, 'icc')")},
}


@functools.cache
def both_means(name):
    """Of the clusters' accuracies, and of the questions."""
    n, p = UNEQUAL[name](np.random.default_rng((SEED, 13)), TRUTH_DRAWS)
    return {"clusters": float(np.mean(p)), "questions": float(np.average(p, weights=n))}


def unequal_case(name, which, count):
    truth = both_means(name)[which]

    def draw(rng):
        n, p = UNEQUAL[name](rng, count)
        return truth, tuple(zip(rng.binomial(n, p).tolist(), n.tolist()))
    return Case((name, which), count, drawn(CLUSTER_DRAWS, draw), WHICH_MEAN[which])


def which_mean_section():
    results = measure("which mean", [unequal_case(name, which, t) for name in UNEQUAL for which in WHICH_MEAN for t in MEAN_SIZES])
    rows = [[f"{name}: {both_means(name)['clusters']:.3f} and {both_means(name)['questions']:.3f}",
             *("; ".join(" / ".join(f"{100 * r.coverage:.1f}" for r in results[(name, which), t].values()) for which in WHICH_MEAN) for t in MEAN_SIZES)]
            for name in UNEQUAL]
    return f"""\
## Which mean: of the clusters, or of the questions?

If large clusters are harder, the mean of the clusters' accuracies is not the share of all questions that are right.
`clustered_ci` estimates the former, `clustered_mean_ci` and the plain accuracy the latter. T clusters; three quarters have 6 questions
and an accuracy of 0.85 on average, the others 60 questions and 0.85 or 0.5, within either kind Beta with d = 20; or their sizes are uniform or
lognormal, exp(1.5 + z), and the logits of their accuracies 2 - n/4 or 2 - 0.8 ln n, with a standard deviation of 0.5. Both
true means are named. Coverage of that of the clusters by `clustered_ci` with `'icc'` and by `mean_ci` of the clusters' means; after the semicolon, of that
of the questions by `clustered_mean_ci` and by `clustered_ci`. {CLUSTER_DRAWS:,} data sets each, standard error {se(CLUSTER_DRAWS)}.

{table(["", *(f"T = {t}" for t in MEAN_SIZES)], rows)}"""


# The mean over tasks


def fixed_rates(tasks, lo, hi):
    """The tasks' own means, the same in every run: evenly spread, then shuffled."""
    return np.random.default_rng((SEED, 7, tasks)).permutation(np.linspace(lo, hi, tasks))


def mixed_sizes(tasks):
    return np.rint(np.geomspace(3, 60, tasks)).astype(int)


def bernoulli(rng, mean, n):
    return (rng.random(n) < mean).astype(float)


def tight(rng, mean, n):
    return np.clip(rng.normal(mean, 0.05, n), 0, 1)


def spread(rng, mean, n):
    return rng.beta(10 * mean, 10 * (1 - mean), n)


def nearly_full(rng, mean, n):
    """Full marks except for a share of the scores, half of which are 1/2 and half 0."""
    return rng.choice([1, 0.5, 0], n, p=[1 - 4 / 3 * (1 - mean), *[2 / 3 * (1 - mean)] * 2])


def even_suite(tasks, n, scores=bernoulli, lo=0.3, hi=0.95):
    return fixed_rates(tasks, lo, hi), np.full(tasks, n), scores


def few_small(tasks, few, small, large, at=0.5, others=0.8, scores=bernoulli):
    """So many small tasks at one mean, and large ones at another."""
    is_small = np.arange(tasks) < few
    return np.where(is_small, at, others), np.where(is_small, small, large), scores


MIXED = mixed_sizes(20)
SUITES = {  # name: the tasks' means, sizes, and scores(rng, mean, n)
    **{f"{t} tasks of {n}": even_suite(t, n) for t in (5, 20, 60) for n in (3, 10, 50)},
    "20 tasks of 3 to 60, easier with size": (np.linspace(0.3, 0.95, 20), MIXED, bernoulli),
    "20 tasks of 3 to 60, harder with size": (np.linspace(0.95, 0.3, 20), MIXED, bernoulli),
    "5 alike tasks of 20 at 0.95": even_suite(5, 20, lo=0.95, hi=0.95),
    "20 tasks of 10 at 0.9 to 0.99": even_suite(20, 10, lo=0.9, hi=0.99),
    "20 tasks, half of one question, half of 10": (fixed_rates(20, 0.3, 0.95), np.repeat([1, 10], 10), bernoulli),
    "60 tasks of one question": (fixed_rates(60, 0.3, 0.95), np.ones(60, dtype=int), bernoulli),
    "5 tasks, one of one question, the others of 10": (fixed_rates(5, 0.3, 0.95), np.array([1, 10, 10, 10, 10]), bernoulli),
    "20 tasks, one of one question, the others of 10": (fixed_rates(20, 0.3, 0.95), np.array([1] + [10] * 19), bernoulli),
    "20 tasks, one of one question, the others of 50": (fixed_rates(20, 0.3, 0.95), np.array([1] + [50] * 19), bernoulli),
    "20 tasks, two of one question, the others of 50": (fixed_rates(20, 0.3, 0.95), np.array([1] * 2 + [50] * 18), bernoulli),
    "5 tasks, one of 2 at 0.5, the others of 200 at 0.8": few_small(5, 1, 2, 200),
    "5 tasks, two of 2 at 0.5, the others of 200 at 0.8": few_small(5, 2, 2, 200),
    "8 tasks, one of 4 at 0.5, the others of 500 at 0.8": few_small(8, 1, 4, 500),
    "8 tasks, one of 4, the others of 500, all at 0.9": few_small(8, 1, 4, 500, 0.9, 0.9),
    "12 tasks, three of one at 0.5, the others of 100 at 0.8": few_small(12, 3, 1, 100),
    "3 tasks of 8, 30 and 200 at 0.3, 0.6 and 0.9": (np.array([0.3, 0.6, 0.9]), np.array([8, 30, 200]), bernoulli),
    "8 tasks of 10 to 1,000 at 0.95": (np.full(8, 0.95), np.array([10, 20, 40, 80, 150, 300, 600, 1000]), bernoulli),
    "5 tasks of 10, tight scores": even_suite(5, 10, tight),
    "20 tasks of 3, tight scores": even_suite(20, 3, tight),
    "5 tasks of 10, spread scores": even_suite(5, 10, spread),
    "20 tasks of 10, spread scores": even_suite(20, 10, spread),
    "5 tasks of 10, nearly full marks": even_suite(5, 10, nearly_full, 0.93, 0.99),
    "20 tasks of 10, nearly full marks": even_suite(20, 10, nearly_full, 0.93, 0.99),
    "20 tasks of 3 to 60, spread scores, easier with size": (np.linspace(0.3, 0.95, 20), MIXED, spread),
    "8 tasks, two of 3, the others of 200, tight scores at 0.6": few_small(8, 2, 3, 200, 0.6, 0.6, tight),
    "12 tasks, one of one, the others of 50, tight scores at 0.7": few_small(12, 1, 1, 50, 0.7, 0.7, tight),
    "8 tasks, two of 3, the others of 200, nearly full marks, 0.95": few_small(8, 2, 3, 200, 0.95, 0.95, nearly_full),
}
SUITE_DRAWS = 1000


def satterthwaite(rows):
    """Student's t for a mean over strata, each task of at least two questions."""
    scores, task = np.array(rows).T
    task = task.astype(int)
    n = np.bincount(task)
    means = np.bincount(task, scores) / n
    parts = np.bincount(task, (scores - means[task]) ** 2) / (n - 1) / n / len(n) ** 2
    df = parts.sum() ** 2 / np.sum(parts**2 / (n - 1)) if parts.any() else 1
    half = stats.t.ppf((1 + LEVEL) / 2, df) * math.sqrt(parts.sum())
    return means.mean() - half, means.mean() + half


def suite(name):
    means, sizes, scores = SUITES[name]

    def draw(rng):
        drawn_scores = [scores(rng, m, n) for m, n in zip(means, sizes)]
        return float(np.mean(means)), tuple((x, t) for t, row in enumerate(drawn_scores) for x in row.tolist())
    methods = {"macro_ci": NOW.interval(f"macro_ci({PAIR})")}
    if sizes.min() > 1:
        methods["Satterthwaite"] = satterthwaite
    return Case(name, "suite", drawn(SUITE_DRAWS, draw), methods)


def macro_section():
    results = measure("suites", [suite(name) for name in SUITES])
    rows = [[name, *(covered(found.get(m), found.get("Satterthwaite") or found["macro_ci"]) for m in ("macro_ci", "Satterthwaite"))]
            for (name, _), found in results.items()]
    return f"""\
## The mean over these tasks

`macro_ci`: every task counts the same, and the tasks are fixed. Their means are spread evenly from 0.3 to 0.95 unless said
otherwise. "Satterthwaite" is Student's t for strata, which needs two questions in every task. Coverage, and the width as a
multiple of Satterthwaite's or, if there is none, of `macro_ci`'s; {SUITE_DRAWS:,} data sets each, standard error {se(SUITE_DRAWS)}.

{table(["suite", "macro_ci", "Satterthwaite"], rows)}"""


# Attempts

# Right answers of gpt-4o in four trials at each of the 50 airline tasks of tau-bench (sierra-research/tau-bench,
# historical_trajectories, MIT): how many tasks had 0, 1, 2, 3 and 4.
TAU_BENCH = np.repeat(np.arange(5) / 4, (14, 12, 10, 4, 10))
DIFFICULTIES = {  # name: p(rng, items), and E[f(p)] by draws of it
    "half always right, half 0.5": lambda rng, items: rng.choice([1.0, 0.5], items),
    "90% always right, the rest 0.3": lambda rng, items: rng.choice([1.0, 0.3], items, p=[0.9, 0.1]),
    "Beta(1.2,0.8)": lambda rng, items: rng.beta(1.2, 0.8, items),
    "Beta(0.2,0.8)": lambda rng, items: rng.beta(0.2, 0.8, items),
    "tau-bench's rates": lambda rng, items: rng.choice(TAU_BENCH, items),
    "all 0.7": lambda rng, items: np.full(items, 0.7),
    "60% 0.2, 40% 0.98": lambda rng, items: rng.choice([0.2, 0.98], items, p=[0.6, 0.4]),
}
QUANTITIES = {"pass_at_k": lambda p, k: 1 - (1 - p) ** k, "pass_hat_k": lambda p, k: p**k}
TRIED = ((4, 4), (8, 4), (10, 5))  # attempts at each question, and k
ITEMS = (10, 15, 50, 200)
ATTEMPT_DRAWS = 1000


def attempts(quantity, name, n, k, items):
    rates = DIFFICULTIES[name]
    truth = float(np.mean(QUANTITIES[quantity](rates(np.random.default_rng((SEED, 8)), TRUTH_DRAWS), k)))

    def draw(rng):
        right = rng.binomial(n, rates(rng, items))
        return truth, tuple((int(c), n) for c in np.sort(right))
    methods = {"ours": NOW.interval(f"{quantity}_ci_counts({PAIR}, {k})"), "Student": NOW.interval(f"mean_t_ci({quantity}({PAIR}, {k}))")}
    return Case(f"{quantity}, k = {k} of {n}: {name}", items, drawn(ATTEMPT_DRAWS, draw), methods)


def attempts_section():
    results = measure("attempts", [attempts(quantity, name, n, k, items) for items in ITEMS for quantity in QUANTITIES
                                   for n, k in TRIED for name in DIFFICULTIES])

    def cell(found):
        return f"{covered(found['ours'], found['Student'])} / {covered(found['Student'])}"
    return f"""\
## Attempts: at least one, or all, of k

T questions with n attempts each, with the named difficulties; the truth is pass@k or pass^k at a new question. Coverage of
`pass_at_k_ci` or `pass_hat_k_ci`, in brackets its width as a multiple of that of Student's interval of the same estimates, and
Student's coverage; {ATTEMPT_DRAWS:,} data sets each, standard error {se(ATTEMPT_DRAWS)}.

{by_case("T", results, ITEMS, cell)}
The least coverage over these populations:

{table(["", *(f"T = {t}" for t in ITEMS)], worst(results, ITEMS))}"""


def sections():
    """Markdown, section by section."""
    return [mean_section(), paired_section(), unpaired_section(), clustered_section(), which_mean_section(), macro_section(),
            attempts_section()]
