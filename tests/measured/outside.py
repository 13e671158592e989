"""The coverage of 95% intervals for truths that are fixed, not drawn from a prior: clusters more and less alike, and
clustered differences.  coverage.py calls settings() and writes the tables.

Each setting draws its data sets from a seed of its own; a coverage has its Monte Carlo standard error.
"""
import math

import numpy as np
from scipy import special

from settings import SEED, Cell, Setting, by_method, progress

PRIORS = ("gamma", "icc")


def column(name, seed, draws, draw, methods):
    """{method: Cell} over data sets: draw(rng) gives a truth and rows, methods[...](rows) an interval."""
    rng = np.random.default_rng((SEED, 4, *seed))
    found = {method: [] for method in methods}
    truths = []
    for i in range(draws):
        if i % 50 == 0:
            progress(f"{name}: {i} of {draws} data sets")
        truth, rows = draw(rng)
        truths.append(truth)
        for method, interval in methods.items():
            found[method].append(interval(rows))
    cells = {}
    for method, intervals in found.items():
        lo, hi = np.array(intervals).T
        # a bound that is the truth but for rounding holds it
        held = np.mean((lo <= np.array(truths) + 1e-12) & (np.array(truths) - 1e-12 <= hi))
        cells[method] = Cell(held, np.mean(hi - lo), math.sqrt(held * (1 - held) / draws))
    return cells


# Clusters more and less alike

STRENGTHS = (1, 5, 20, 100)
CLUSTERS = ((6, 10, 0.8), (11, 56, 0.06), (57, 50, 0.95))  # clusters, size, theta
CLUSTER_DRAWS = 1000


def cluster_draw(clusters, size, theta, d):
    def draw(rng):
        theta_t = rng.beta(d * theta, d * (1 - theta), clusters)
        return theta, [[int(k), size] for k in rng.binomial(size, theta_t)]
    return draw


def clusters_alike(ext, which):
    clusters, size, theta = CLUSTERS[which]
    methods = {f"clustered_ci, '{prior}'":
               lambda rows, prior=prior: ext.over(f"clustered_ci_counts(value ->> 0, value ->> 1, 0.95, '{prior}')", rows)
               for prior in PRIORS}
    for name in ("clustered_mean_ci", "clustered_clt_ci"):
        methods[name] = lambda rows, name=name: ext.over(f"{name}_counts(value ->> 0, value ->> 1)", rows)
    columns = [column(f"{clusters} clusters, d = {d}", (2, which, d), CLUSTER_DRAWS, cluster_draw(clusters, size, theta, d), methods)
               for d in STRENGTHS]
    return Setting(f"Clusters more and less alike: {clusters} of {size} questions, theta {theta}", f"{clusters} clusters", "d",
                   STRENGTHS, by_method(columns), (),
                   f"theta = {theta}, theta_t ~ Beta(d theta, d(1-theta)): the larger d, the more alike the clusters. "
                   f"{CLUSTER_DRAWS:,} data sets each.")


# Clustered differences

DIFF_CLUSTERS = (5, 20, 60)
DIFF_SIZE = 10
DIFF_DRAWS = 1500
DIFF_SHIFTS = 0.9, 0.6  # of models A and B, on the normal scale
SHARED, OWN = 0.8, 0.5  # standard deviations of what a cluster has in common, and of a model's luck with it


def diff_draw(clusters):
    spread = math.sqrt(1 + SHARED**2 + OWN**2)
    truth = special.ndtr(DIFF_SHIFTS[0] / spread) - special.ndtr(DIFF_SHIFTS[1] / spread)

    def draw(rng):
        common = SHARED * rng.standard_normal(clusters)
        shares = [special.ndtr(shift + common + OWN * rng.standard_normal(clusters)) for shift in DIFF_SHIFTS]
        answers = [rng.random((clusters, DIFF_SIZE)) < share[:, None] for share in shares]
        return truth, [[int(a), int(b), t] for t in range(clusters) for a, b in zip(answers[0][t], answers[1][t])]
    return draw


def clustered_differences(ext):
    pair = "value ->> 0, value ->> 1"
    methods = {
        "clustered_diff_ci": lambda rows: ext.over(f"clustered_diff_ci({pair}, value ->> 2)", rows),
        "paired_mean_diff_ci, ignoring clusters": lambda rows: ext.over(f"paired_mean_diff_ci({pair})", rows),
        "paired_diff_ci, ignoring clusters": lambda rows: ext.over(f"paired_diff_ci({pair})", rows),
    }
    columns = [column(f"clustered differences, {t} clusters", (4, t), DIFF_DRAWS, diff_draw(t), methods) for t in DIFF_CLUSTERS]
    return Setting("Two models, the same questions, in clusters", "clustered differences", "T", DIFF_CLUSTERS, by_method(columns),
                   (), f"T clusters of {DIFF_SIZE} questions that both models answer. A cluster is hard or easy for both, and each "
                   f"model has luck of its own with it: theta = Phi(mu + {SHARED} z + {OWN} w), mu {DIFF_SHIFTS[0]} and "
                   f"{DIFF_SHIFTS[1]}. {DIFF_DRAWS:,} data sets each.")


def settings(ext):
    """Every table of this file."""
    return [clusters_alike(ext, which) for which in range(len(CLUSTERS))] + [clustered_differences(ext)]
