"""The coverage of intervals of costs and latencies, and the errors of the column frontier.

As in means.py, each section returns Markdown, and the truth is fixed.
"""
import math

import numpy as np
from scipy import stats

from fixed import NOW, Case, covered, drawn, measure, table
from settings import LEVEL

RESAMPLES = 500
TAIL = (1 - LEVEL) / 2


def bootstrap(statistic):
    """The percentile bootstrap, with a generator whose seed depends on the rows."""
    def interval(rows):
        x = np.array(rows)
        resampled = x[np.random.default_rng(len(x)).integers(0, len(x), (RESAMPLES, len(x)))]
        return tuple(np.quantile(statistic(resampled), [TAIL, 1 - TAIL], method="inverted_cdf"))
    return interval


# Quantiles

QUANTILES = ((20, 0.5), (50, 0.5), (200, 0.5), (20, 0.9), (50, 0.9), (50, 0.95), (100, 0.95), (200, 0.95), (1000, 0.95), (100, 0.99), (400, 0.99))
LATENCY_DRAWS = 2000
SPREAD = 0.8


def latencies(n, q):
    truth = math.exp(SPREAD * stats.norm.ppf(q))
    return Case(f"q = {q}", n, drawn(LATENCY_DRAWS, lambda rng: (truth, tuple(np.exp(SPREAD * rng.standard_normal(n))))),
                {"bootstrap": bootstrap(lambda x: np.quantile(x, q, axis=1))}, (0, 100))


def exact_coverage(n, q):
    """The coverage for any continuous distribution, from the positions of the bounds."""
    lo, hi = NOW.loaded.over(f"quantile_ci(value, {q})", list(range(1, n + 1)))
    return stats.binom.cdf(hi - 1, n, q) - stats.binom.cdf(lo - 1, n, q), math.isinf(hi)


def quantile_section():
    results = measure("quantiles", [latencies(n, q) for n, q in QUANTILES])
    rows = []
    for n, q in QUANTILES:
        coverage, unbounded = exact_coverage(n, q)
        rows.append([f"N = {n}, q = {q}", f"{100 * coverage:.1f}{', no upper bound' if unbounded else ''}", covered(results[f"q = {q}", n]["bootstrap"])])
    return f"""\
## Quantiles

`quantile_ci`: exact, and the same for every continuous distribution. The percentile bootstrap of {RESAMPLES} resamples: {LATENCY_DRAWS:,} samples of
lognormal latencies.

{table(["", "quantile_ci", "bootstrap"], rows)}"""


# Questions asked again

AGAIN_DRAWS, ATTEMPTS = 1000, 4


def board(columns, rows, wanted):
    """A row of eval_leaderboard over rows."""
    db = NOW.loaded.db
    db.execute(f"CREATE TEMP TABLE IF NOT EXISTS b_{len(columns)}(model, item, correct, {', '.join(columns)})")
    db.execute(f"DELETE FROM b_{len(columns)}")
    db.executemany(f"INSERT INTO b_{len(columns)} VALUES (?, ?, ?, {', '.join('?' * len(columns))})", rows)
    return db.execute(f"SELECT {wanted} FROM eval_leaderboard('b_{len(columns)}')").fetchall()


def board_interval(column):
    """An interval of a board with one model; rows are (question, cost, latency)."""
    def interval(rows):
        (lo, hi), = board(("cost", "latency"), [("m", int(q), 1, cost, latency) for q, cost, latency in rows], f"{column}_lo, {column}_hi")
        return lo, hi
    return interval


def asked_again(share, n, q):
    """Latencies for which a share of the variance of the logarithm comes from the question."""
    truth = math.exp(SPREAD * stats.norm.ppf(q))

    def draw(rng):
        mine = math.sqrt(share) * np.repeat(rng.standard_normal(n), ATTEMPTS) + math.sqrt(1 - share) * rng.standard_normal(n * ATTEMPTS)
        return truth, tuple(zip(np.repeat(np.arange(n), ATTEMPTS).tolist(), [1.0] * n * ATTEMPTS, np.exp(SPREAD * mine).tolist()))
    column = "latency" if q == 0.5 else "latency_p95"
    return Case(f"{share:.0%} of the variance is the question's, q = {q}", n, drawn(AGAIN_DRAWS, draw),
                {"eval_leaderboard": board_interval(column), "quantile_ci of all rows": lambda rows: NOW.loaded.over(f"quantile_ci(value ->> 2, {q})", rows)}, (0, 100))


def again_section():
    cases = [asked_again(share, n, q) for share in (0.0, 0.5, 0.9) for n in (25, 100) for q in (0.5, 0.95)]
    results = measure("asked again", cases)
    rows = [[f"N = {n}: {name}", *(f"{covered(found[m])} ({found[m].width:.2f})" for m in found)] for (name, n), found in results.items()]
    return f"""\
## Latency with several attempts per question

Every question {ATTEMPTS} times, lognormal latencies. Coverage, and mean width in brackets, cut at 100; {AGAIN_DRAWS:,} data sets each, standard error at 95% {100 * math.sqrt(0.05 * 0.95 / AGAIN_DRAWS):.1f}
points. `eval_leaderboard` takes the order statistics for as many values as there are questions.

{table(["", "eval_leaderboard", "quantile_ci of all rows"], rows)}"""


# Cost per right answer

RATIO_DRAWS = 2000
RIGHT, DEVIATIONS = (0.3, 0.8), (0.0, 0.5, 1.0, 1.5, 2.0)


def paid(n, p, sd):
    """Failures cost twice."""
    mean = math.exp(sd * sd / 2)

    def draw(rng):
        y = (rng.random(n) < p) * 1.0
        return (p + 2 * (1 - p)) * mean / p, tuple(zip((np.exp(sd * rng.standard_normal(n)) * (2 - y)).tolist(), y.tolist()))
    return Case(f"{p:.0%} right, log cost's deviation {sd}", n, drawn(RATIO_DRAWS, draw),
                {"ratio_ci": NOW.interval("ratio_ci(value ->> 0, value ->> 1)"), "delta method": delta,
                 "bootstrap": bootstrap(lambda x: x[:, :, 0].sum(1) / np.maximum(x[:, :, 1].sum(1), 1e-300))}, (0, 1000))


def delta(rows):
    """On the log scale; all, where nothing is right."""
    cost, y = np.array(rows).T
    if y.sum() == 0:
        return 0, math.inf
    ratio, error = cost.mean() / y.mean(), np.std(cost / cost.mean() - y / y.mean(), ddof=1) / math.sqrt(len(y))
    return tuple(ratio * math.exp(sign * stats.norm.ppf(1 - TAIL) * error) for sign in (-1, 1))


def ratio_section():
    results = measure("cost per right answer", [paid(n, p, sd) for n in (10, 20, 50, 200) for p in RIGHT for sd in DEVIATIONS])
    rows = [[f"N = {n}: {p:.0%} right", *(" / ".join(covered(r) for r in results[paid(n, p, sd).name, n].values()) for sd in DEVIATIONS)]
            for n in (10, 20, 50, 200) for p in RIGHT]
    return f"""\
## Cost per right answer

Lognormal costs; a wrong answer costs twice as much. {RATIO_DRAWS:,} data sets each, standard error at 95% {100 * math.sqrt(0.05 * 0.95 / RATIO_DRAWS):.1f} points. If no answer is
right, as in 3% of the data sets with 10 questions and 30%, the delta method counts as covering, and the bootstrap as not covering. By the
standard deviation of the logarithm of a cost: `ratio_ci` / delta method / bootstrap.

{table(["", *(f"{sd}" for sd in DEVIATIONS)], rows)}"""


# The mean cost of an answer

COST_DRAWS = 1000
COSTS = {"normal, deviation a tenth of the mean": (lambda rng, n: rng.normal(10, 1, n), 10), "lognormal, deviation of the log 0.5": (lambda rng, n: np.exp(0.5 * rng.standard_normal(n)), math.exp(0.125)),
         "exponential": (lambda rng, n: rng.exponential(1, n), 1), "lognormal, deviation of the log 1": (lambda rng, n: np.exp(rng.standard_normal(n)), math.exp(0.5)),
         "lognormal, deviation of the log 2": (lambda rng, n: np.exp(2 * rng.standard_normal(n)), math.exp(2))}


def answers_cost(name, n):
    draw, truth = COSTS[name]
    return Case(name, n, drawn(COST_DRAWS, lambda rng: (truth, tuple(zip(range(n), np.maximum(draw(rng, n), 0).tolist(), [1.0] * n)))),
                {"eval_leaderboard": board_interval("cost"), "mean_t_ci": lambda rows: NOW.loaded.over("mean_t_ci(value ->> 1)", rows)}, (0, 100))


def cost_section():
    results = measure("mean cost", [answers_cost(name, n) for name in COSTS for n in (10, 20, 50, 200)])
    rows = [[f"{name}, N = {n}", *(f"{covered(found[m])} ({found[m].width:.3f})" for m in found)] for (name, n), found in results.items()]
    return f"""\
## The mean cost of an answer

`cost_ci` of `eval_leaderboard` beside Student's. Coverage, and mean width in brackets; {COST_DRAWS:,} data sets each, standard error at 95% {100 * math.sqrt(0.05 * 0.95 / COST_DRAWS):.1f} points.

{table(["", "eval_leaderboard", "mean_t_ci"], rows)}"""


# The frontier

FRONTIER_DRAWS = 300
FRONTIERS = {  # name: (accuracy, mean cost) of each model
    "six equal models": [(0.7, 1)] * 6,
    "six equal models, costs 1 to 2": [(0.7, 1 + i / 5) for i in range(6)],
    "one of five beaten": [(0.5, 1), (0.6, 2), (0.7, 4), (0.8, 3), (0.85, 8)],
    "two of five beaten": [(0.5, 1), (0.45, 3), (0.7, 4), (0.8, 3), (0.85, 8)],
}


def true_words(models):
    """Whether another model is better on both."""
    return [any(a > x and c < y for a, c in models) for x, y in models]


def frontier_row(name, n):
    models, rng = FRONTIERS[name], np.random.default_rng((n, len(name)))
    beaten, wrong, told, nothing = true_words(models), 0, 0, 0
    for _ in range(FRONTIER_DRAWS):
        hard, rows = rng.standard_normal(n), []
        for m, (accuracy, cost) in enumerate(models):
            right = (hard + rng.standard_normal(n)) / math.sqrt(2) < stats.norm.ppf(accuracy)
            paid_for = cost * np.exp(0.5 * rng.standard_normal(n) - 0.125)
            rows += [(m, q, int(right[q]), float(paid_for[q])) for q in range(n)]
        words = dict(board(("cost",), rows, "model, frontier"))
        definite = [(words[m], beaten[m]) for m in range(len(models)) if words[m] != "open"]
        wrong += any((word is None) != truth for word, truth in definite)
        told += len(definite)
    return [f"{name}, N = {n}", f"{100 * wrong / FRONTIER_DRAWS:.1f}", f"{told / FRONTIER_DRAWS:.1f} of {len(models)}"]


def frontier_section():
    rows = [frontier_row(name, n) for name in FRONTIERS for n in (20, 100, 500)]
    return f"""\
## Which models nobody beats on both accuracy and cost

The column `frontier` of `eval_leaderboard` at 0.95: the percentage of boards with a wrong word ("sure" for a model that another beats on both,
or NULL for one that no other does), and how many models get one of these two words. Correlated answers, lognormal costs; {FRONTIER_DRAWS} boards each.

{table(["", "boards with a wrong word", "models told"], rows)}"""


def sections():
    return [quantile_section(), again_section(), ratio_section(), cost_section(), frontier_section()]
