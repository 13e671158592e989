"""The coverage of 95% intervals where the truth is fixed and no prior's: graded scores, clusters more and less alike,
attempts, clustered differences, means over tasks.  coverage.py calls settings() and writes the tables.

Every data set is drawn anew from a seed of its own setting; a coverage carries its Monte Carlo standard error.
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


# Graded scores

GRADED_SIZES = (5, 10, 20, 50)
GRADED_DRAWS = 3000
SHAPES = (  # title, mean, scores
    ("93% ones, the rest 0.5", 0.965, lambda rng, n: np.where(rng.random(n) < 0.93, 1.0, 0.5)),
    ("uniform", 0.5, lambda rng, n: rng.random(n)),
    ("a judge's ratings, Beta(5,2)", 5 / 7, lambda rng, n: rng.beta(5, 2, n)),
    ("80% zeros, 5% ones, the rest uniform", 0.125,
     lambda rng, n: rng.choice([0.0, 1.0, 2.0], n, p=[0.8, 0.05, 0.15])),
    ("0, 0.5 and 1 in 20%, 30% and 50%", 0.65, lambda rng, n: rng.choice([0.0, 0.5, 1.0], n, p=[0.2, 0.3, 0.5])),
    ("five stars in 2%, 3%, 10%, 35% and 50%", 0.82,
     lambda rng, n: rng.choice([0.0, 0.25, 0.5, 0.75, 1.0], n, p=[0.02, 0.03, 0.1, 0.35, 0.5])),
)


def graded_draw(mean, scores, n):
    def draw(rng):
        drawn = scores(rng, n)
        partial = drawn > 1  # a score still to be drawn
        drawn[partial] = rng.random(np.sum(partial))
        return mean, drawn.tolist()
    return draw


def graded(ext, which):
    title, mean, scores = SHAPES[which]
    methods = {name: lambda rows, name=name: ext.over(f"{name}(value)", rows) for name in ("mean_ci", "mean_lmt_ci", "mean_clt_ci")}
    columns = [column(f"graded, {title}, n = {n}", (1, which, n), GRADED_DRAWS, graded_draw(mean, scores, n), methods)
               for n in GRADED_SIZES]
    return Setting(f"Graded scores: {title}", title, "N", GRADED_SIZES, by_method(columns), (),
                   f"Mean {mean:.3g}; {GRADED_DRAWS:,} data sets each.")


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


# Attempts

ITEMS = (5, 20, 100)
TRIES, OF = 5, 5
ATTEMPT_DRAWS = 600
ATTEMPT_TRUTHS = {"pass_at_k": lambda theta, d, k: -np.expm1(ln_all_right(1 - theta, d, k)),
                  "pass_hat_k": lambda theta, d, k: np.exp(ln_all_right(theta, d, k))}


def ln_all_right(theta, d, k):
    """ln E[theta_t^k]."""
    return special.betaln(d * theta + k, d * (1 - theta)) - special.betaln(d * theta, d * (1 - theta))


def attempts_draw(quantity, items, drawn):
    """theta and d from the paper's prior, or fixed at 0.6 and 2."""
    def draw(rng):
        theta, d = (rng.random(), rng.gamma(1, 1)) if drawn else (0.6, 2.0)
        right = rng.binomial(TRIES, rng.beta(d * theta, d * (1 - theta), items))
        return ATTEMPT_TRUTHS[quantity](theta, d, OF), [[int(c), TRIES] for c in right]
    return draw


def attempts(ext, quantity, drawn):
    name = f"{quantity}_ci"
    arguments = f"value ->> 0, value ->> 1, {OF}"
    methods = {name if prior == "gamma" else f"{name}, 'icc'":
               lambda rows, prior=prior: ext.over(f"{name}_counts({arguments}, 0.95, '{prior}')", rows) for prior in PRIORS}
    methods[f"mean_clt_ci of {quantity}"] = lambda rows: ext.over(f"mean_clt_ci({quantity}({arguments}))", rows)
    columns = [column(f"{quantity}, {items} items", (3, len(quantity), drawn, items), ATTEMPT_DRAWS,
                      attempts_draw(quantity, items, drawn), methods) for items in ITEMS]
    source = "theta ~ U(0,1) and d ~ Gamma(1,1)" if drawn else "theta = 0.6, d = 2"
    return Setting(f"Attempts: {quantity}, k = {OF}, {source}", quantity, "T", ITEMS, by_method(columns),
                   (name,) if drawn else (), f"T items of {TRIES} attempts each; what is sought is the chance at a new item. "
                   f"{ATTEMPT_DRAWS:,} data sets each.")


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


# The mean over these very tasks

MACRO_TASKS = (10, 57)
MACRO_SIZE = 5
MACRO_DRAWS = 300
MACRO_TRUTHS = ((0.8, 5), (0.5, 20))  # theta and d


def macro_draw(tasks, theta, d):
    def draw(rng):
        theta_t = rng.beta(d * theta, d * (1 - theta), tasks)
        return float(np.mean(theta_t)), [[int(k), MACRO_SIZE] for k in rng.binomial(MACRO_SIZE, theta_t)]
    return draw


def macro(ext, which):
    theta, d = MACRO_TRUTHS[which]
    pair = "value ->> 0, value ->> 1"
    methods = {f"macro_ci, '{prior}'": lambda rows, prior=prior: ext.over(f"macro_ci_counts({pair}, 0.95, '{prior}')", rows)
               for prior in PRIORS}
    methods["clustered_ci, 'icc', of tasks like them"] = lambda rows: ext.over(f"clustered_ci_counts({pair}, 0.95, 'icc')", rows)
    methods["mean_clt_ci of the tasks' means"] = lambda rows: ext.over("mean_clt_ci(1.0 * (value ->> 0) / (value ->> 1))", rows)
    columns = [column(f"macro, {tasks} tasks", (5, which, tasks), MACRO_DRAWS, macro_draw(tasks, theta, d), methods)
               for tasks in MACRO_TASKS]
    return Setting(f"The mean of these tasks: theta {theta}, d {d}", "macro", "T", MACRO_TASKS, by_method(columns), (),
                   f"T tasks of {MACRO_SIZE} questions, theta_t ~ Beta(d theta, d(1-theta)); what is sought is the plain mean of the "
                   f"tasks' own theta_t. {MACRO_DRAWS:,} data sets each.")


def settings(ext):
    """Every table of this file."""
    found = [graded(ext, which) for which in range(len(SHAPES))]
    found += [clusters_alike(ext, which) for which in range(len(CLUSTERS))]
    found += [attempts(ext, quantity, drawn) for quantity in ATTEMPT_TRUTHS for drawn in (True, False)]
    return found + [clustered_differences(ext)] + [macro(ext, which) for which in range(len(MACRO_TRUTHS))]
