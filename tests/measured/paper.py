"""The settings of Bowyer, Aitchison and Ivanova (ICML 2025): truths drawn from a prior, at every level, and from another prior.

If there are few enough data sets, all are enumerated and the sum is exact; the clustered and paired settings are simulated.
coverage.py measures DESIGNS and prints them, level_section() and mismatch_section().
"""
import functools
import math

import numpy as np
from scipy import special, stats

from fixed import table
from settings import LEVEL, SEED, Cell, Design, progress

SIZES = (3, 10, 30, 100)
F1_SIZES = (10, 30, 100)
CLUSTER_SIZE = 5
CLUSTERED_DRAWS = {2: 100_000, 6: 100_000, 20: 40_000, 60: 40_000}
PAIRED_DRAWS = {3: 100_000, 10: 100_000, 30: 10_000, 100: 10_000}


# Widths


def mean_width(lo, hi, weights):
    return np.average(hi - lo, weights=weights)


def median_factor(lo, hi, weights):
    """The weighted median of hi/lo, infinite where lo is 0."""
    factors = np.divide(hi, lo, out=np.full(len(lo), math.inf), where=lo > 0)
    order = np.argsort(factors)
    cumulative = np.cumsum(np.asarray(weights)[order])
    return factors[order][np.searchsorted(cumulative, cumulative[-1] / 2)]


def exact_cell(intervals, masses, weights, width=mean_width):
    """The average over data sets of the posterior mass of each interval, and their width."""
    lo, hi = np.asarray(intervals, dtype=float).T
    return Cell(np.average(masses, weights=weights), width(lo, hi, weights))


# IID: exact


def beta_mass(a, b, lo, hi):
    """Beta(a, b) probability of [lo, hi], which may leave [0, 1]."""
    return special.betainc(a, b, np.clip(hi, 0, 1)) - special.betainc(a, b, np.clip(lo, 0, 1))


def iid_column(ext, n, level=LEVEL, a=1, b=1):
    """theta ~ Beta(a, b), so k is beta-binomial and theta given k is Beta(a+k, b+n-k); the methods do not know this prior."""
    k = np.arange(n + 1)
    weights = stats.betabinom.pmf(k, n, a, b)
    intervals = [ext.methods(int(i), n, level) for i in k]
    column = {}
    for method in intervals[0]:
        bounds = np.array([found[method] for found in intervals])
        masses = beta_mass(a + k, b + n - k, bounds[:, 0], bounds[:, 1])
        column[method] = exact_cell(bounds, masses, weights)
    return column


IID = Design("IID questions", "IID questions", "N", SIZES, iid_column, ("bayes", "hdi"),
             "theta ~ U(0,1), N independent questions. Exact: the sum over every k. Methods as `ci_methods` names them.")


def iid_mismatched(a, b, also=""):
    return Design(f"IID questions, another truth: Beta({a},{b})", f"IID, Beta({a},{b})", "N", SIZES,
                  functools.partial(iid_column, a=a, b=b), (),
                  f"theta ~ Beta({a},{b}), mean {a / (a + b):.2f}, while `bayes` and `hdi` go on assuming U(0,1). Exact.{also}")


IID_MISMATCHED = (iid_mismatched(10, 10), iid_mismatched(100, 20, " Beta(20,100) is its mirror image: the figures are the same."))


# Unpaired: exact


gauss_legendre = functools.cache(np.polynomial.legendre.leggauss)


def difference_mass(n, k_a, k_b, lo, hi):
    """Posterior probability that lo <= theta_A - theta_B <= hi, uniform priors.

    The integral over theta_B of its density times A's CDF: polynomials of degree 2n+1 between the
    points where theta_B + bound enters or leaves [0, 1], so n+1 Gauss-Legendre nodes are exact.
    """
    nodes, node_weights = gauss_legendre(n + 1)
    edges = np.unique(np.clip([0, 1, -lo, 1 - lo, -hi, 1 - hi], 0, 1))
    half = np.diff(edges)[:, None] / 2
    theta_b = edges[:-1, None] + half * (1 + nodes)
    density = np.exp(special.xlogy(k_b, theta_b) + special.xlog1py(n - k_b, -theta_b) - special.betaln(k_b + 1, n - k_b + 1))
    return np.sum(half * node_weights * density * beta_mass(k_a + 1, n - k_a + 1, theta_b + lo, theta_b + hi))


LOGITS = np.linspace(-30, 30, 601)


def odds_ratio_mass(n, k_a, k_b, lo, hi):
    """Posterior probability that the odds ratio lies in [lo, hi]: the trapezoid rule over the logit of theta_B."""
    log_density = ((k_b + 1) * special.log_expit(LOGITS) + (n - k_b + 1) * special.log_expit(-LOGITS)
                   - special.betaln(k_b + 1, n - k_b + 1))
    with np.errstate(divide="ignore"):
        theta_lo, theta_hi = special.expit(LOGITS + np.log(lo)), special.expit(LOGITS + np.log(hi))
    step = LOGITS[1] - LOGITS[0]
    return step * np.sum(np.exp(log_density) * beta_mass(k_a + 1, n - k_a + 1, theta_lo, theta_hi))


def unpaired_tables(n):
    """Every (k_a, k_b), each as likely as the next; swapping A and B mirrors an interval, so half of them, weighted."""
    tables = [(k_a, k_b) for k_a in range(n + 1) for k_b in range(k_a + 1)]
    return tables, [1 if k_a == k_b else 2 for k_a, k_b in tables]


def unpaired_intervals(ext, function, n, tables, level):
    intervals = []
    for i, (k_a, k_b) in enumerate(tables):
        if i % 50 == 0:
            progress(f"unpaired, {function}, N = {n}: {i} of {len(tables)} tables")
        intervals.append(ext.interval(function, k_a, n, k_b, n, level))
    return intervals


def unpaired_column(ext, n, level, functions, mass, width=mean_width):
    tables, weights = unpaired_tables(n)
    column = {}
    for function in functions:
        intervals = unpaired_intervals(ext, function + "_counts", n, tables, level)
        masses = [mass(n, *table, *interval) for table, interval in zip(tables, intervals)]
        column[function] = exact_cell(intervals, masses, weights, width)
    return column


def difference_column(ext, n, level):
    return unpaired_column(ext, n, level, ("diff_ci", "diff_clt_ci"), difference_mass)


def odds_ratio_column(ext, n, level):
    return unpaired_column(ext, n, level, ("odds_ratio_ci", "fisher_or_ci"), odds_ratio_mass, median_factor)


DIFFERENCE = Design("Two models, different questions: the difference", "Unpaired difference", "N", SIZES, difference_column, ("diff_ci",),
                    "theta_A, theta_B ~ U(0,1), N questions each. Exact: the sum over every pair of counts.")
ODDS_RATIO = Design("Two models, different questions: the odds ratio", "Unpaired odds ratio", "N", SIZES, odds_ratio_column,
                    ("odds_ratio_ci",),
                    "The same tables. Exact. A width means little on this scale, and Fisher's interval has none (it ends at 0 or "
                    "infinity) whenever a cell is empty, so the table has the median of hi/lo over the data sets.",
                    "median hi/lo")


# Clustered and paired: simulated


def simulated_column(name, truths, data, methods):
    """Coverage and width over data sets (rows of counts); each method computes each distinct one once."""
    distinct, which = np.unique(data, axis=0, return_inverse=True)
    found = {method: np.empty((len(distinct), 2)) for method in methods}
    for i, counts in enumerate(distinct.tolist()):
        if i % 20 == 0:
            progress(f"{name}: {i} of {len(distinct)} distinct data sets")
        for method, interval in methods.items():
            found[method][i] = interval(counts)
    column = {}
    for method, intervals in found.items():
        lo, hi = intervals[which].T
        coverage = np.mean((lo <= truths) & (truths <= hi))
        column[method] = Cell(coverage, np.mean(hi - lo), math.sqrt(coverage * (1 - coverage) / len(truths)))
    return column


def draws_note(draws, symbol):
    return ", ".join(f"{count:,} at {symbol} = {size}" for size, count in draws.items())


def draw_clustered(rng, clusters, draws, theta=None):
    """theta, uniform if not given, and the numbers of right answers of the clusters, sorted: their order does not matter."""
    theta = rng.random(draws) if theta is None else np.full(draws, theta)
    d = rng.gamma(1, 1, draws)
    theta_t = rng.beta((d * theta)[:, None], (d * (1 - theta))[:, None], (draws, clusters))
    return theta, np.sort(rng.binomial(CLUSTER_SIZE, theta_t), axis=1)


def clustered_methods(ext, level):
    def ignoring(function):
        return lambda counts: ext.interval(function + "_counts", sum(counts), CLUSTER_SIZE * len(counts), level)

    def respecting(function):
        return lambda counts: ext.clustered(function + "_counts", counts, CLUSTER_SIZE, level)

    return {
        "clustered_ci": respecting("clustered_ci"),
        "clustered_clt_ci": respecting("clustered_clt_ci"),
        "bayes_ci, ignoring clusters": ignoring("bayes_ci"),
        "clt_ci, ignoring clusters": ignoring("clt_ci"),
    }


def clustered_column(ext, t, level, most=None):
    draws = min(CLUSTERED_DRAWS[t], most or math.inf)
    return simulated_column(f"clustered, T = {t}", *draw_clustered(np.random.default_rng((SEED, 1, t)), t, draws),
                            clustered_methods(ext, level))


CLUSTERED = Design("Clustered questions", f"Clustered, {CLUSTER_SIZE} questions each", "T", tuple(CLUSTERED_DRAWS), clustered_column,
                   ("clustered_ci",),
                   f"T clusters of {CLUSTER_SIZE} questions: theta ~ U(0,1), d ~ Gamma(1,1), "
                   f"theta_t ~ Beta(d theta, d(1-theta)). Simulated data sets: {draws_note(CLUSTERED_DRAWS, 'T')}.")


def draw_paired(rng, n, draws, theta=None, rho=None):
    """theta_A - theta_B, and the counts (both, only_a, only_b, neither); theta, of both, and rho from the prior if not given."""
    theta_a, theta_b = rng.random((2, draws)) if theta is None else np.full((2, draws), theta)
    rho = (2 * rng.beta(4, 2, draws) - 1 if rho is None else np.full(draws, rho))[:, None]
    z, other = rng.standard_normal((2, draws, n))
    a = special.ndtri(theta_a)[:, None] + z > 0
    b = special.ndtri(theta_b)[:, None] + rho * z + np.sqrt(1 - rho ** 2) * other > 0
    return theta_a - theta_b, np.stack([np.sum(cell, axis=1) for cell in (a & b, a & ~b, ~a & b, ~a & ~b)], axis=1)


def paired_methods(ext, level):
    def ignoring(counts):
        both, only_a, only_b, neither = counts
        n = sum(counts)
        return ext.interval("diff_ci_counts", both + only_a, n, both + only_b, n, level)

    return {
        "paired_diff_ci": lambda counts: ext.interval("paired_diff_ci_counts", *counts, level),
        "paired_diff_clt_ci": lambda counts: ext.interval("paired_diff_clt_ci_counts", *counts, level),
        "diff_ci, ignoring the pairing": ignoring,
    }


def paired_column(ext, n, level, most=None):
    draws = min(PAIRED_DRAWS[n], most or math.inf)
    return simulated_column(f"paired, N = {n}", *draw_paired(np.random.default_rng((SEED, 2, n)), n, draws), paired_methods(ext, level))


PAIRED = Design("Two models, the same questions", "Paired difference", "N", tuple(PAIRED_DRAWS), paired_column, ("paired_diff_ci",),
                "N shared questions: theta_A, theta_B ~ U(0,1), rho = 2 Beta(4,2) - 1, bivariate probit. "
                f"Simulated data sets: {draws_note(PAIRED_DRAWS, 'N')}.")


# F1: exact


def delta_method_f1(tp, errors, n, level):
    """The CLT's interval of F1: with p = tp/n and e = (fp+fn)/n its variance is 4 p e (p+e) / (n (2p+e)^4)."""
    p, e = tp / n, errors / n
    f1 = 2 * p / (2 * p + e)
    half = special.ndtri((1 + level) / 2) * math.sqrt(4 * p * e * (p + e) / n) / (2 * p + e) ** 2
    return f1 - half, f1 + half


def f1_column(ext, n, level):
    """Cells ~ Dirichlet(1,1,1,1): every table of n rows is as likely as the next, and e errors split in e+1 ways.

    F1 = 2B/(1+B) with B ~ Beta(tp+1, e+2) given the table, so B = F1/(2-F1).
    """
    tables = [(tp, e) for e in range(n + 1) for tp in range(n - e + 1) if tp + e > 0]
    found = {
        "f1_ci": [ext.interval("f1_ci_counts", tp, e // 2, e - e // 2, level) for tp, e in tables],
        "clt (delta method)": [delta_method_f1(tp, e, n, level) for tp, e in tables],
    }
    tp, e = np.array(tables).T
    column = {}
    for method, intervals in found.items():
        lo, hi = np.clip(intervals, 0, 1).T
        column[method] = exact_cell(intervals, beta_mass(tp + 1, e + 2, lo / (2 - lo), hi / (2 - hi)), e + 1)
    return column


UNDEFINED = ", ".join(f"1 in {math.comb(n + 3, 3):,} at N = {n}" for n in F1_SIZES)
F1 = Design("F1", "F1", "N", F1_SIZES, f1_column, ("f1_ci",),
            "Cells ~ Dirichlet(1,1,1,1), N rows. Exact: the sum over every table. The table without a true positive, "
            f"false positive or false negative has no F1: `f1_ci` gives NULL, and it does not count ({UNDEFINED}).")

DESIGNS = (IID, CLUSTERED, DIFFERENCE, ODDS_RATIO, PAIRED, F1)


# Other levels

LEVELS = (0.8, 0.85, 0.9, 0.98, 0.99, 0.995)
LEVEL_DRAWS = 10_000


def at_levels(ext):
    """{(design, method): {level: a Cell for each size}}."""
    found = {}
    for design in DESIGNS:
        column = functools.partial(design.column, most=LEVEL_DRAWS) if design in (CLUSTERED, PAIRED) else design.column
        for level in LEVELS:
            progress(f"{design.label} at {level}")
            columns = [column(ext, size, level) for size in design.sizes]
            for method in columns[0]:
                found.setdefault((design.label, method), {})[level] = [c[method] for c in columns]
    return found


def level_section(found):
    sizes = {design.label: f"{design.symbol} = {', '.join(map(str, design.sizes))}" for design in DESIGNS}
    rows = [[f"{label}, {method}: {sizes[label]}", *(" / ".join(f"{100 * cell.coverage:.1f}" for cell in cells) for cells in levels.values())]
            for (label, method), levels in found.items()]
    return f"""\
## The same settings at other levels

Coverage in percent at each size, for intervals at levels from {LEVELS[0]:.0%} to {LEVELS[-1]:.1%}. A method that keeps its level has the head of its
column in every place. The clustered and paired settings: {LEVEL_DRAWS:,} data sets, standard error at most {50 / math.sqrt(LEVEL_DRAWS):.1f} points.

{table(["setting, method: sizes", *(f"{100 * level:g}%" for level in LEVELS)], rows)}"""


# Clusters and pairs under another prior

THETAS = (0.5, 0.8, 0.95)
RHOS = (-0.5, 0, 0.5)
MISMATCHED_DRAWS = 4_000


def mismatched(ext, seed, size, draw, methods, **fixed):
    rng = np.random.default_rng((SEED, seed, size, *(int(1000 * (x + 1)) for x in fixed.values() if x is not None)))
    return simulated_column(f"another prior, {fixed}, size {size}", *draw(rng, size, MISMATCHED_DRAWS, **fixed), methods)


def line(name, columns):
    return [name, *(" / ".join(f"{100 * cell.coverage:.1f}" for cell in column.values()) for column in columns)]


def mismatch_section(ext):
    clusters = {**clustered_methods(ext, LEVEL), "icc": lambda counts: ext.clustered("clustered_ci_counts", counts, CLUSTER_SIZE, LEVEL, "icc")}
    clusters = {m: clusters[m] for m in ("clustered_ci", "icc", "clustered_clt_ci", "bayes_ci, ignoring clusters")}
    pairs = paired_methods(ext, LEVEL)
    by_theta = [line(f"{theta:g}", [mismatched(ext, 10, t, draw_clustered, clusters, theta=theta) for t in CLUSTERED.sizes]) for theta in THETAS]
    by_rho = [line(f"{'both ' + format(theta, 'g') if theta else 'U(0,1)'}; {rho:g}",
                   [mismatched(ext, 11, n, draw_paired, pairs, theta=theta, rho=rho) for n in PAIRED.sizes])
              for theta in (None, *THETAS) for rho in RHOS]
    return f"""\
## Clusters and pairs, another truth

theta or rho is fixed, while the Bayesian intervals go on assuming their priors. Coverage in percent, {MISMATCHED_DRAWS:,} data sets each: 95% has a
standard error of {100 * math.sqrt(0.95 * 0.05 / MISMATCHED_DRAWS):.1f} points. Clusters of {CLUSTER_SIZE} questions, d ~ Gamma(1,1): `clustered_ci` / `clustered_ci` with `'icc'` / `clustered_clt_ci` / `bayes_ci`, ignoring
clusters.

{table(["theta", *(f"T = {t}" for t in CLUSTERED.sizes)], by_theta)}
Two models, the same questions; the prior of rho has the mean 1/3. `paired_diff_ci` / `paired_diff_clt_ci` / `diff_ci`, ignoring the pairing.

{table(["theta_A and theta_B; rho", *(f"N = {n}" for n in PAIRED.sizes)], by_rho)}"""
