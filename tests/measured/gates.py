"""How often a gate passes or a test rejects wrongly, and the cases in which intervals of right and wrong answers do badly.

As in means.py, each section returns Markdown, and the truth is fixed.
"""
import bisect
import functools
import math

import numpy as np
from scipy import stats

import decisions
from fixed import NOW, Case, covered, drawn, measure, table
from means import PAIR, counted, se, trinomial, uncounted
from settings import LEVEL

# The gate: may a candidate that loses the margin pass?

MARGINS = (0.02, 0.03, 0.05)
GATE_SIZES = (50, 100, 150, 200, 300, 500)
NO_LOSS_SIZE = 200
GATE_DRAWS = 2000
SURE = 0.95


def breaks(loss, depth, others):
    """Differences with as many questions on which the candidate fails outright as lose the given share; others(rng, n) on the rest."""
    return lambda rng, n: np.where(rng.random(n) < loss / depth, -depth, others(rng, n))


def four_attempts(rng, p_new, p_old):
    return (rng.binomial(4, p_new) - rng.binomial(4, p_old)) / 4


def attempts_spread(loss):
    def draw(rng, n):
        p = rng.uniform(0.1, 1, n)
        return four_attempts(rng, p - loss, p)
    return draw


def attempts_break(loss):
    def draw(rng, n):
        p = rng.beta(3, 1, n)  # of mean 3/4
        return four_attempts(rng, np.where(rng.random(n) < loss / 0.75, 0, p), p)
    return draw


GATES = {  # name: a loss to differences(rng, n)
    "right or wrong, rare: nothing else differs": lambda loss: breaks(loss, 1, lambda rng, n: np.zeros(n)),
    "right or wrong, rare: 2% differ either way": lambda loss: breaks(loss, 1, trinomial(0.02, 0.02).draw),
    "right or wrong, spread: 10% and 10% more": lambda loss: trinomial(0.1, 0.1 + loss).draw,
    "graded, rare: 0.9 lost, else tight": lambda loss: breaks(loss, 0.9, lambda rng, n: rng.normal(0, 0.03, n)),
    "graded, rare: all lost, else a rubric": lambda loss: breaks(loss, 1, lambda rng, n: rng.choice([0.25, -0.25, 0], n, p=[0.1, 0.1, 0.8])),
    "graded, spread: normal, deviation 0.1": lambda loss: lambda rng, n: rng.normal(-loss, 0.1, n),
    "four attempts, rare: some questions never right": attempts_break,
    "four attempts, spread: each a little worse": attempts_spread,
}


def passes(p):
    """An interval that excludes 0 if the gate passes."""
    return (1, 1) if p >= SURE else (0, 0)


def student_passes(margin):
    def decide(d):
        x = uncounted(d)
        bound = np.mean(x) - stats.t.ppf(SURE, len(x) - 1) * np.std(x, ddof=1) / math.sqrt(len(x))
        return (1, 1) if bound > -margin else (0, 0)
    return decide


def posterior_passes(margin):
    """By paired_prob_better where answers are right or wrong, else by paired_mean_prob_better."""
    def decide(d):
        if all(x in (-1, 0, 1) for x, _ in d):
            better, worse, same = (sum(n for x, n in d if x == value) for value in (1, -1, 0))
            return passes(NOW.loaded.value("paired_prob_better_counts(?, ?, ?, 0, ?)", same, better, worse, -margin))
        return passes(NOW.value(f"paired_mean_prob_better_counts({PAIR}, {-margin})", d))
    return decide


def gate(name, margin, loss, n):
    methods = {"no_worse_prob": lambda d: passes(NOW.value(f"no_worse_prob_counts({PAIR}, {margin})", d)),
               "Student": student_passes(margin), "posterior": posterior_passes(margin)}
    draw = GATES[name](loss)
    return Case((name, margin, loss), n, drawn(GATE_DRAWS, lambda rng: (0, counted(np.clip(draw(rng, n), -1, 1)))), methods)


def gate_section():
    results = measure("gates", [gate(name, margin, loss, n) for name in GATES for margin in MARGINS
                                for loss, sizes in ((margin, GATE_SIZES), (0, (NO_LOSS_SIZE,))) for n in sizes])

    def passed(name, margin, loss, n, method):
        return 100 * results[(name, margin, loss), n][method].apart

    rows = []
    for name in GATES:
        for m in MARGINS:
            ours = [f"{passed(name, m, m, n, 'no_worse_prob'):.1f}" for n in GATE_SIZES]
            most = [f"{max(passed(name, m, m, n, method) for n in GATE_SIZES):.1f}" for method in ("Student", "posterior")]
            equal = [f"{passed(name, m, 0, NO_LOSS_SIZE, method):.0f}" for method in ("no_worse_prob", "Student", "posterior")]
            rows.append([f"{name}; {m:.0%}", *ours, *most, " / ".join(equal)])
    needed = ", ".join(f"{math.ceil(math.log(1 - SURE) / math.log(1 - m))} for {m:.0%}" for m in MARGINS)
    return f"""\
## The gate: passes of a candidate that loses the margin

The true loss equals the margin, so a pass is a mistake; at {SURE:.0%} sure at most {1 - SURE:.0%} of evals should make it. The loss is
rare (a few questions fail outright) or spread. The first columns are `no_worse_prob` >= {SURE}, by N; the next two have the
largest values over these N for Student's one-sided bound and for the posterior tail (`paired_prob_better`, for scores
`paired_mean_prob_better`); the last says how often, in percent, the three pass at N = {NO_LOSS_SIZE} without a loss. {GATE_DRAWS:,} data sets each: 5% has a standard error of {se(GATE_DRAWS)}.

{table(["loss = margin", *(f"N = {n}" for n in GATE_SIZES), "Student, most", "posterior, most", "no loss"], rows)}
When no answer differs at all, `no_worse_prob` passes from N questions on: {needed}.
"""


# The sign-flip test

# Right answers of 19 models in four attempts at each of 15 questions, AIME 2025 II by MathArena, as in
# data/matharena_aime_II.csv of sambowyer/no_clt_paper (MIT).  A line is a question.
MATHARENA = np.array([[int(c) for c in line] for line in """
2444444344444424444 0444444444444444444 0320332004000003404 0441444144444404444 0130223111000012303
0440222223204214443 0320131023004103402 0140114004001004303 0340142042033103431 0030244024200004444
0320010003004004413 0040344244204104424 0000000000001002201 0140232013000003414 0010000000000000403
""".split()]) / 4
TEST_DRAWS = 2000
TESTS = {  # name: differences(rng, n)
    "equal, MathArena's questions": lambda rng, n: aime(rng, n, 0),
    "better by 0.15, MathArena's questions": lambda rng, n: aime(rng, n, 0.15),
    "equal, right or wrong, 10% and 10%": lambda rng, n: trinomial(0.1, 0.1).draw(rng, n),
    "right or wrong, 30% and 5%": lambda rng, n: trinomial(0.3, 0.05).draw(rng, n),
    "equal, normal": lambda rng, n: rng.normal(0, 0.1, n),
    "better by half a deviation, normal": lambda rng, n: rng.normal(0.05, 0.1, n),
}
TEST_SIZES = (10, 15, 30)


def aime(rng, n, gain):
    """Four attempts each at questions as hard as MathArena's."""
    p = rng.choice(MATHARENA.mean(axis=1), n)
    return four_attempts(rng, np.clip(p + gain, 0, 1), p)


def student_p(x):
    deviation = np.std(x, ddof=1)
    return 1.0 if deviation == 0 else 2 * stats.t.sf(abs(np.mean(x)) / deviation * math.sqrt(len(x)), len(x) - 1)


def posterior_p(d):
    p = NOW.value(f"paired_mean_prob_better_counts({PAIR})", d)
    return 2 * min(p, 1 - p)


P_VALUES = {"paired_p": lambda d: NOW.value(f"paired_p_counts({PAIR})", d), "Student": lambda d: student_p(uncounted(d)),
            "posterior": posterior_p}


def test_case(name, n):
    methods = {m: lambda d, p=p: (1, 1) if p(d) <= 1 - LEVEL else (0, 0) for m, p in P_VALUES.items()}
    return Case(name, n, drawn(TEST_DRAWS, lambda rng: (0, counted(TESTS[name](rng, n)))), methods)


def holm(p_values):
    """How many are rejected at 5% in all."""
    smaller = np.sort(p_values) * np.arange(len(p_values), 0, -1) <= 1 - LEVEL
    return len(p_values) if smaller.all() else int(np.argmin(smaller))


def told_apart():
    models = MATHARENA.shape[1]
    pairs = [counted(MATHARENA[:, a] - MATHARENA[:, b]) for a in range(models) for b in range(a)]
    found = {m: np.array([p(d) for d in pairs]) for m, p in P_VALUES.items()}
    return len(pairs), {m: (holm(p), int(np.sum(p <= 1 - LEVEL))) for m, p in found.items()}


def test_section():
    results = measure("tests", [test_case(name, n) for n in TEST_SIZES for name in TESTS])
    rows = [[name, *(" / ".join(f"{100 * results[name, n][m].apart:.1f}" for m in P_VALUES) for n in TEST_SIZES)] for name in TESTS]
    pairs, apart = told_apart()
    told = [[m, *apart[m]] for m in P_VALUES]
    return f"""\
## The sign-flip test

How often p <= 5%, in percent: `paired_p`, Student's t, and twice the smaller tail of `paired_mean_prob_better`. These are
false alarms if the models are equal, else power. {TEST_DRAWS:,} data sets each: 5% has a standard error of {se(TEST_DRAWS)}.

{table(["", *(f"N = {n}" for n in TEST_SIZES)], rows)}
MathArena's 19 models at 15 questions of AIME 2025 II, four attempts each: how many of the {pairs} pairs are separated at 5%.

{table(["", "after Holm's correction", "each alone"], told)}"""


# Right and wrong answers


RATES, RATE_SIZES = (0.5, 0.9, 0.95, 0.99), (10, 20, 50, 100)
RATE_METHODS = ("bayes", "jeffreys", "wilson", "cp", "midp")
ALL_RATES = np.concatenate([np.linspace(0.001, 0.05, 150), np.linspace(0.05, 0.95, 300), np.linspace(0.95, 0.999, 150)])


@functools.cache
def bounds_of(method, n):
    return np.array([NOW.loaded.methods(k, n)[method] for k in range(n + 1)]).T


def rate_coverage(method, n, rates):
    """Per accuracy: the coverage, and the mean width."""
    chances = stats.binom.pmf(np.arange(n + 1), n, np.reshape(rates, (-1, 1)))
    lo, hi = bounds_of(method, n)
    held = (lo <= np.reshape(rates, (-1, 1))) & (np.reshape(rates, (-1, 1)) <= hi)
    return np.sum(chances * held, axis=1), chances @ (hi - lo)


def least_cell(method, n):
    coverage, width = rate_coverage(method, n, ALL_RATES)
    return f"{100 * np.min(coverage):.1f} ({np.mean(width):.4f})"


def rate_section():
    rows = [[f"p = {p:g}, {method}", *(f"{100 * rate_coverage(method, n, p)[0][0]:.1f}" for n in RATE_SIZES)]
            for p in RATES for method in RATE_METHODS]
    least = [[method, *(least_cell(method, n) for n in RATE_SIZES)] for method in RATE_METHODS]
    return f"""\
## Right and wrong answers at a fixed accuracy

Exact. Near an end, every method is far from 95% at some size: at p = 0.99 and N = 20, `bayes_ci` contains p only if every answer
is right. `cp_ci` never covers less than its level.

{table(["", *(f"N = {n}" for n in RATE_SIZES)], rows)}
The least coverage over 600 accuracies from 0.001 to 0.999, a quarter of them in either twentieth at an end; in brackets the mean
width over them.

{table(["", *(f"N = {n}" for n in RATE_SIZES)], least)}"""


JUDGES = {  # name: the shares that it calls right among right and among wrong answers
    "right on 95% of the right and 80% of the wrong": (0.95, 0.2),
    "right on 99.5% of the right and half of the wrong": (0.995, 0.5),
}
JUDGED_ACCURACY, JUDGED_LABELS, JUDGED_DRAWS = 0.99, (20, 50, 100, 200), 600


def judge(name, labels):
    sensitivity, false = JUDGES[name]
    q = JUDGED_ACCURACY * sensitivity + (1 - JUDGED_ACCURACY) * false
    u, v = JUDGED_ACCURACY * sensitivity / q, JUDGED_ACCURACY * (1 - sensitivity) / (1 - q)

    def draw(rng):
        """judge_once() draws the truth and says whether each interval holds it; here an interval begins at 0, the truth, if so."""
        return 0, tuple((0 if held else 1, width) for held, width in decisions.judge_once(rng, NOW.loaded, labels, 1, q, u, v))
    methods = {m: lambda outcome, i=i: (outcome[i][0], outcome[i][0] + outcome[i][1])
               for i, m in enumerate(("judged_ci", "the verdicts as if true", "the labels alone"))}
    return Case(name, labels, drawn(JUDGED_DRAWS, draw), methods, (0, 2))


def judged_section():
    results = measure("judges", [judge(name, labels) for name in JUDGES for labels in JUDGED_LABELS])
    methods = list(next(iter(results.values())))
    rows = [[f"{name}; {labels}", *(f"{covered(found[m])} ({found[m].width:.3f})" for m in methods)] for (name, labels), found in results.items()]
    return f"""\
## A judge, and a model that is nearly always right

The accuracy is {JUDGED_ACCURACY}; {decisions.ANSWERS:,} answers have a verdict and some have a label. Coverage, and mean width in brackets; {JUDGED_DRAWS} data
sets each, standard error at 95% {se(JUDGED_DRAWS)}. Hardly any labelled answer is wrong, so that much rests on the priors of `judged_ci`.

{table(["judge; labels", *methods], rows)}"""


UNGRADED = [(n, right, none, share) for n in (20, 50) for right, none in ((0.7, 0.05), (0.7, 0.2), (0.9, 0.05), (0.45, 0.1)) for share in (0, 0.5, 1)]


def ungraded_row(n, right, none, share):
    counts = [(k, f, n - k - f) for k in range(n + 1) for f in range(n + 1 - k)]
    chances = stats.multinomial.pmf(counts, n, [right, 1 - right - none, none])
    likely = [(w, c) for w, c in zip(chances, counts) if w > 1e-9]
    ask = NOW.loaded.interval
    found = [(w, ask("bounded_ci_counts", *c), ask("bayes_ci_counts", c[0], c[0] + c[1]), ask("bayes_ci_counts", c[0], n)) for w, c in likely]
    truth = right + share * none
    cells = []
    for i in (1, 2, 3):
        held = sum(row[0] for row in found if row[i] and row[i][0] <= truth <= row[i][1])
        width = sum(row[0] * (row[i][1] - row[i][0]) for row in found if row[i])
        cells.append(f"{100 * held:.1f} ({width:.3f})")
    return [f"N = {n}: {right:.0%} right, {none:.0%} not graded, of which {share:.0%} right", *cells]


def ungraded_section():
    return f"""\
## Answers that were not graded

Exact: the sum over every table of right, wrong and not graded. The truth counts an ungraded answer as what it really was.
Coverage, and mean width in brackets, of `bounded_ci`, of `bayes_ci` without the ungraded answers, and of `bayes_ci` that
counts them as wrong.

{table(["", "bounded_ci", "dropped", "counted wrong"], [ungraded_row(*row) for row in UNGRADED])}"""


# The gate: may a model at the threshold pass?

THRESHOLDS = (0.5, 0.8, 0.9, 0.95)
THRESHOLD_SIZES = (20, 50, 100, 200, 500)
ALL_THRESHOLDS = np.arange(50, 100) / 100
MOST_FROM = (10, 20, 50, 100, 200)
PLANNED = ((0.87, 0.8), (0.85, 0.8), (0.95, 0.9), (0.7, 0.5), (0.99, 0.95))


def least_passing(n, t):
    """The least number of right answers of n that passes; n + 1 if none does."""
    return bisect.bisect_left(range(n + 1), SURE, key=lambda k: NOW.loaded.value("prob_above_counts(?, ?, ?)", k, n, t))


def passing(n, t):
    """How often a model at the threshold passes."""
    return float(stats.binom.sf(least_passing(n, t) - 1, n, t))


def of_clusters(rng, n, t):
    """Passages of five questions, intraclass correlation 0.2."""
    return tuple((int(k), 5) for k in rng.binomial(5, rng.beta(4 * t, 4 * (1 - t), n // 5)))


def of_rubric(rng, n, t):
    """Scores 0, 1/2 and 1."""
    return counted(rng.choice([0, 0.5, 1], n, p=[0.6 * (1 - t), 0.8 * (1 - t), 1 - 1.4 * (1 - t)]))


def threshold_case(name, n, t):
    call, draw = {
        "clustered_prob_above": (f"clustered_prob_above_counts(value->>0, value->>1, {t})", of_clusters),
        "mean_prob_above": (f"mean_prob_above_counts(value->>0, value->>1, {t})", of_rubric)}[name]
    return Case((name, t), n, drawn(GATE_DRAWS, lambda rng: (0, draw(rng, n, t))), {name: lambda d: passes(NOW.value(call, d))})


def threshold_section():
    names = "clustered_prob_above", "mean_prob_above"
    results = measure("thresholds", [threshold_case(name, n, t) for name in names for t in THRESHOLDS[1:3] for n in (50, 100, 200)])
    exact = [[f"{t:.0%}", *(f"{100 * passing(n, t):.1f}" for n in THRESHOLD_SIZES)] for t in THRESHOLDS]
    every = [(passing(n, t), n, t) for t in ALL_THRESHOLDS for n in range(MOST_FROM[0], THRESHOLD_SIZES[-1] + 1)]
    most = [max(found for found in every if found[1] >= least) for least in MOST_FROM]
    drawn_rows = [[f"{name}, {t:.0%}", *(f"{100 * results[(name, t), n][name].apart:.1f}" for n in (50, 100, 200))]
                  for name in names for t in THRESHOLDS[1:3]]

    def power(p, t, n):
        return 100 * stats.binom.sf(least_passing(n, t) - 1, n, p)

    planned = []
    for p, t in PLANNED:
        n = int(NOW.loaded.value("plan_gate_n(?, ?)", p, t))
        planned.append([f"{p:.0%}, above {t:.0%}", n, f"{power(p, t, n):.1f}", f"{power(p, t, n - 1):.1f}", f"{min(power(p, t, m) for m in range(n, n + 40)):.1f}"])
    return f"""\
## The gate against a threshold: passes of a model at the threshold

How often, in percent, a model whose accuracy is the threshold passes at {SURE:.0%} sure. By `prob_above`, exactly, by the number of questions:

{table(["accuracy = threshold", *(f"N = {n}" for n in THRESHOLD_SIZES)], exact)}
Few numbers of right answers are near the threshold, so that it may be more than 5%; at a high one the uniform prior keeps it lower. The most
over all thresholds of {ALL_THRESHOLDS[0]:.0%}, {ALL_THRESHOLDS[1]:.0%}, ..., {ALL_THRESHOLDS[-1]:.0%} and over the numbers of questions from the head of the column to {THRESHOLD_SIZES[-1]}:

{table(["", *(f"N from {n}" for n in MOST_FROM)], [["most", *(f"{100 * p:.1f}" for p, _, _ in most)], ["at", *(f"{t:.0%}, N = {n}" for _, n, t in most)]])}
By the two others, {GATE_DRAWS:,} data sets each, 5% has a standard error of {se(GATE_DRAWS)}: passages of five questions with an intraclass correlation of 0.2, and scores 0, 1/2 and 1.

{table(["", *(f"N = {n}" for n in (50, 100, 200))], drawn_rows)}
`plan_gate_n` asks for a chance of 80% to pass: the chance with so many questions, with one fewer, and the least with up to 39 more.

{table(["accuracy", "questions", "chance", "one fewer", "least"], planned)}"""


def sections():
    return [gate_section(), threshold_section(), test_section(), rate_section(), judged_section(), ungraded_section()]
