#!/usr/bin/python3
"""Measures the coverage of every 95% interval, in the settings of Bowyer, Aitchison and Ivanova (ICML 2025): make coverage.

    /usr/bin/python3 tests/measured/coverage.py build/evalci.so BEFORE.so [--out DIR]

BEFORE.so is evalci at commit 38e56c8, which the rules for means are compared with; make coverage builds it.

It measures how often each method's interval contains the truth if the truth is drawn from a known prior, and how wide it
is.  If there are few enough data sets, all are enumerated and the sum is exact; the clustered and paired settings are
simulated with a seed, and have their Monte Carlo standard error.  Every interval comes from the extension, through SQL,
except a few for comparison: the delta method for F1, the bootstrap, Welch's and Satterthwaite's t.
Fixed truths are in outside.py, means.py, gates.py, spending.py, repeats.py and arena.py.

Writes coverage.md and coverage.svg, the same bytes on every run.  A Bayesian method under its own prior must cover
95%: if one does not, or if a published figure is missed, the script says so and exits with status 1.
"""
import argparse
import functools
import math
import os
import sqlite3
import sys

try:
    import numpy as np
    from scipy import special, stats

    import arena
    import fixed
    import gates
    import labelled
    import means
    import outside
    import raters
    import repeats
    import samplers
    import spending
    from settings import LEVEL, SEED, Cell, Extension, Setting, by_method, progress
    sqlite3.Connection.enable_load_extension
except (ImportError, AttributeError) as e:
    sys.exit(f"coverage.py: {e}; it needs Debian's /usr/bin/python3 and python3-scipy (make coverage installs them)")

SIZES = (3, 10, 30, 100)
F1_SIZES = (10, 30, 100)
CLUSTER_SIZE = 5
CLUSTERED_DRAWS = {2: 100_000, 6: 100_000, 20: 40_000, 60: 40_000}
PAIRED_DRAWS = {3: 100_000, 10: 100_000, 30: 10_000, 100: 10_000}
MISMATCHED_PRIORS = ((10, 10), (100, 20), (20, 100))
SAMPLER_RUNS = 10

# IID, uniform prior, N = 3, 10, 30, 100: known to four digits.
KNOWN_COVERAGE = {
    "clt": (0.4957, 0.7693, 0.8749, 0.9223),
    "wilson": (0.9560, 0.9541, 0.9524, 0.9511),
    "cp": (0.9946, 0.9838, 0.9734, 0.9646),
    "bayes": (0.95, 0.95, 0.95, 0.95),
}


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


def iid_column(ext, n, a, b):
    """theta ~ Beta(a, b), so k is beta-binomial and theta given k is Beta(a+k, b+n-k); the methods do not know this prior."""
    k = np.arange(n + 1)
    weights = stats.betabinom.pmf(k, n, a, b)
    intervals = [ext.methods(int(i), n) for i in k]
    column = {}
    for method in intervals[0]:
        bounds = np.array([found[method] for found in intervals])
        masses = beta_mass(a + k, b + n - k, bounds[:, 0], bounds[:, 1])
        column[method] = exact_cell(bounds, masses, weights)
    return column


def iid(ext, a=1, b=1):
    rows = by_method([iid_column(ext, n, a, b) for n in SIZES])
    if (a, b) == (1, 1):
        return Setting("IID questions", "IID questions", "N", SIZES, rows, ("bayes", "hdi"),
                       "theta ~ U(0,1), N independent questions. Exact: the sum over every k. "
                       "Methods as `ci_methods` names them.")
    return Setting(f"IID questions, another truth: Beta({a},{b})", f"IID, Beta({a},{b})", "N", SIZES, rows, (),
                   f"theta ~ Beta({a},{b}), mean {a / (a + b):.2f}, while `bayes` and `hdi` go on assuming U(0,1). Exact.")


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


def unpaired_intervals(ext, function, n, tables):
    intervals = []
    for i, (k_a, k_b) in enumerate(tables):
        if i % 50 == 0:
            progress(f"unpaired, {function}, N = {n}: {i} of {len(tables)} tables")
        intervals.append(ext.interval(function, k_a, n, k_b, n))
    return intervals


def unpaired_column(ext, n, functions, mass, width=mean_width):
    tables, weights = unpaired_tables(n)
    column = {}
    for function in functions:
        intervals = unpaired_intervals(ext, function + "_counts", n, tables)
        masses = [mass(n, *table, *interval) for table, interval in zip(tables, intervals)]
        column[function] = exact_cell(intervals, masses, weights, width)
    return column


def unpaired_difference(ext):
    columns = [unpaired_column(ext, n, ("diff_ci", "diff_clt_ci"), difference_mass) for n in SIZES]
    return Setting("Two models, different questions: the difference", "Unpaired difference", "N", SIZES,
                   by_method(columns), ("diff_ci",),
                   "theta_A, theta_B ~ U(0,1), N questions each. Exact: the sum over every pair of counts.")


def unpaired_odds_ratio(ext):
    columns = [unpaired_column(ext, n, ("odds_ratio_ci", "fisher_or_ci"), odds_ratio_mass, median_factor) for n in SIZES]
    return Setting("Two models, different questions: the odds ratio", "Unpaired odds ratio", "N", SIZES,
                   by_method(columns), ("odds_ratio_ci",),
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


def draw_clustered(rng, clusters, draws):
    """theta, and the numbers of right answers of the clusters, sorted, because their order does not matter."""
    theta = rng.random(draws)
    d = rng.gamma(1, 1, draws)
    theta_t = rng.beta((d * theta)[:, None], (d * (1 - theta))[:, None], (draws, clusters))
    return theta, np.sort(rng.binomial(CLUSTER_SIZE, theta_t), axis=1)


def clustered(ext):
    def ignoring(function):
        return lambda counts: ext.interval(function + "_counts", sum(counts), CLUSTER_SIZE * len(counts))

    def respecting(function):
        return lambda counts: ext.clustered(function + "_counts", counts, CLUSTER_SIZE)

    methods = {
        "clustered_ci": respecting("clustered_ci"),
        "clustered_clt_ci": respecting("clustered_clt_ci"),
        "bayes_ci, ignoring clusters": ignoring("bayes_ci"),
        "clt_ci, ignoring clusters": ignoring("clt_ci"),
    }
    columns = []
    for t, draws in CLUSTERED_DRAWS.items():
        truths, data = draw_clustered(np.random.default_rng((SEED, 1, t)), t, draws)
        columns.append(simulated_column(f"clustered, T = {t}", truths, data, methods))
    return Setting("Clustered questions", f"Clustered, {CLUSTER_SIZE} questions each", "T", tuple(CLUSTERED_DRAWS),
                   by_method(columns), ("clustered_ci",),
                   f"T clusters of {CLUSTER_SIZE} questions: theta ~ U(0,1), d ~ Gamma(1,1), "
                   f"theta_t ~ Beta(d theta, d(1-theta)). Simulated data sets: {draws_note(CLUSTERED_DRAWS, 'T')}.")


def draw_paired(rng, n, draws):
    """theta_A - theta_B, and the counts (both, only_a, only_b, neither)."""
    theta_a, theta_b = rng.random((2, draws))
    rho = 2 * rng.beta(4, 2, draws)[:, None] - 1
    z, other = rng.standard_normal((2, draws, n))
    a = special.ndtri(theta_a)[:, None] + z > 0
    b = special.ndtri(theta_b)[:, None] + rho * z + np.sqrt(1 - rho ** 2) * other > 0
    return theta_a - theta_b, np.stack([np.sum(cell, axis=1) for cell in (a & b, a & ~b, ~a & b, ~a & ~b)], axis=1)


def paired(ext):
    def ignoring(counts):
        both, only_a, only_b, neither = counts
        n = sum(counts)
        return ext.interval("diff_ci_counts", both + only_a, n, both + only_b, n)

    methods = {
        "paired_diff_ci": lambda counts: ext.interval("paired_diff_ci_counts", *counts),
        "paired_diff_clt_ci": lambda counts: ext.interval("paired_diff_clt_ci_counts", *counts),
        "diff_ci, ignoring the pairing": ignoring,
    }
    columns = []
    for n, draws in PAIRED_DRAWS.items():
        truths, data = draw_paired(np.random.default_rng((SEED, 2, n)), n, draws)
        columns.append(simulated_column(f"paired, N = {n}", truths, data, methods))
    return Setting("Two models, the same questions", "Paired difference", "N", tuple(PAIRED_DRAWS),
                   by_method(columns), ("paired_diff_ci",),
                   "N shared questions: theta_A, theta_B ~ U(0,1), rho = 2 Beta(4,2) - 1, bivariate probit. "
                   f"Simulated data sets: {draws_note(PAIRED_DRAWS, 'N')}.")


# F1: exact


def delta_method_f1(tp, errors, n):
    """The CLT's interval of F1: with p = tp/n and e = (fp+fn)/n its variance is 4 p e (p+e) / (n (2p+e)^4)."""
    p, e = tp / n, errors / n
    f1 = 2 * p / (2 * p + e)
    half = special.ndtri((1 + LEVEL) / 2) * math.sqrt(4 * p * e * (p + e) / n) / (2 * p + e) ** 2
    return f1 - half, f1 + half


def f1_column(ext, n):
    """Cells ~ Dirichlet(1,1,1,1): every table of n rows is as likely as the next, and e errors split in e+1 ways.

    F1 = 2B/(1+B) with B ~ Beta(tp+1, e+2) given the table, so B = F1/(2-F1).
    """
    tables = [(tp, e) for e in range(n + 1) for tp in range(n - e + 1) if tp + e > 0]
    found = {
        "f1_ci": [ext.interval("f1_ci_counts", tp, e // 2, e - e // 2) for tp, e in tables],
        "clt (delta method)": [delta_method_f1(tp, e, n) for tp, e in tables],
    }
    tp, e = np.array(tables).T
    column = {}
    for method, intervals in found.items():
        lo, hi = np.clip(intervals, 0, 1).T
        column[method] = exact_cell(intervals, beta_mass(tp + 1, e + 2, lo / (2 - lo), hi / (2 - hi)), e + 1)
    return column


def f1(ext):
    undefined = ", ".join(f"1 in {math.comb(n + 3, 3):,} at N = {n}" for n in F1_SIZES)
    return Setting("F1", "F1", "N", F1_SIZES, by_method([f1_column(ext, n) for n in F1_SIZES]), ("f1_ci",),
                   "Cells ~ Dirichlet(1,1,1,1), N rows. Exact: the sum over every table. The table without a true positive, "
                   f"false positive or false negative has no F1: `f1_ci` gives NULL, and it does not count ({undefined}).")


# The paper's importance sampler


CLUSTERED_15 = (0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4)
CLUSTERED_60 = (0,) * 6 + (1,) * 6 + (2,) * 8 + (3,) * 10 + (4,) * 12 + (5,) * 18
PAIRED_TABLES = ((12, 6, 0, 2), (600, 120, 80, 200), (3000, 600, 400, 1000))


def sampler_comparison(ext):
    """Rows of (data set, our interval, the sampler's runs as an array of lo, hi, ess)."""
    cases = []
    for counts, size in ((CLUSTERED_15, 4), (CLUSTERED_60, 5)):
        cases.append((f"clustered, {len(counts)} clusters of {size}", ext.clustered("clustered_ci_counts", counts, size),
                      lambda rng, counts=counts, size=size: samplers.clustered(rng, counts, [size] * len(counts))))
    for counts in PAIRED_TABLES:
        cases.append((f"paired, N = {sum(counts):,}", ext.interval("paired_diff_ci_counts", *counts),
                      lambda rng, counts=counts: samplers.paired(rng, counts)))
    compared = []
    for i, (name, ours, sample) in enumerate(cases):
        progress(f"the paper's sampler: {name}")
        generators = [np.random.default_rng((SEED, 3, i, run)) for run in range(SAMPLER_RUNS)]
        compared.append((name, ours, np.array([sample(rng) for rng in generators])))
    return compared


# Checks


def failures(settings):
    """Descriptions of what a bug would break: methods that miss their level or a published figure."""
    wrong = []
    for setting in settings:
        for method in setting.own_prior:
            for size, cell in zip(setting.sizes, setting.rows[method]):
                if abs(cell.coverage - LEVEL) > (4 * cell.error or 1e-8):
                    wrong.append(f"{setting.title}: {method} covers {cell.coverage:.10f} under its own prior "
                                 f"at {setting.symbol} = {size}")
    for method, known in KNOWN_COVERAGE.items():
        for size, expected, cell in zip(SIZES, known, settings[0].rows[method]):
            if abs(cell.coverage - expected) > 5e-5:
                wrong.append(f"IID: {method} covers {cell.coverage:.6f} at N = {size}, known to be {expected}")
    return wrong


# Markdown


INTRO = f"""\
# Do the error bars cover?

A 95% interval should contain the truth 95 times in 100. Here the truth is drawn from a known prior, the data are drawn from
the truth, and each method computes its interval. The tables say how often it contains the truth, and its mean width. The
settings are those of Bowyer, Aitchison and Ivanova (ICML 2025). `make coverage` writes this page and the figure; every
interval comes from the extension, through SQL, except those named Student, Welch, Satterthwaite, bootstrap and delta method.

Exact figures are sums over every possible data set. Simulated ones (seed {SEED}) carry their Monte Carlo standard error, ±.
The CLT's widths include the parts below 0 and above 1.

![Coverage of 95% intervals against sample size, one panel per setting](coverage.svg)
"""

OUTSIDE_INTRO = """\
# Fixed truths

The paper's settings draw the truth from the prior that the method assumes. In the tables below the truth is fixed, and the
methods do not know it: here an interval may cover less than its level, and the tables show where. "before" is evalci at
commit 38e56c8, before its rules for means, tasks and attempts changed.
"""

CLOSING = """\
## Reading this

If the truth is drawn from the prior, the Bayesian intervals cover 95% by construction, at every size; the tables check that
the extension computes them correctly. If it is drawn from another distribution (the Beta tables), coverage is off in either
direction, by a few points at N = 3 and by a fraction of a point at N = 100. The CLT's intervals cover too little because they
collapse to a point when every answer is the same, and because small samples are not normal; more questions help slowly. If
clusters are ignored, more clusters do not help. If a pairing is ignored, the interval covers, and is wider than necessary.

For fixed truths, know these cases:

- `bayes_ci` covers 79% and less at some accuracies near 0 or 1 with up to 100 questions, and 0% with 20 and fewer; `midp_ci`, about
  as wide, covers 92% and more at all of them with 10 questions or more.
- `mean_ci` covers 93% and more from N = 20 on, except where nearly all scores are at one end of the range: with 99% ones it covers
  82% at N = 20 and 91% at N = 50, as `bayes_ci` does. `mean_lmt_ci` is at 95% or more in every table, and up to a quarter wider.
- If scores are close together, `mean_ci` is two to seven times as wide as Student's interval, because nothing in the data
  excludes an unseen failure. If you can exclude failures, take `mean_t_ci` or a narrower range. If you cannot, Student's covers
  26 to 70% with 2 to 5% of zeros and N = 20 or fewer.
- `paired_mean_diff_ci` has Student's width and power. Skewed differences of fewer than 20 questions separate equal models in 7 to
  8% of evals, and with two values it can fall to 88%, as at N = 50 where one question in 20 fails outright.
- `mean_diff_ci` covers 96 to 100% and is up to six times as wide as Welch's interval if scores are close together.
- `clustered_mean_ci` covers 93% and more from 5 clusters on, on these populations (elsewhere 88.6 to 91.2% was measured, with
  20 to 100 clusters of lognormal sizes if large clusters are harder); near an end of the range it is up to six times as wide as Student's.
- `clustered_ci` estimates the clusters' mean. If large clusters are harder, it contains the questions' mean in 26 to 32% of
  evals. Under its default prior it covers down to 23% if clusters are alike and theta is near 0 or 1: take `'icc'`.
- `macro_ci` covers 92% and more, except if one or two tasks have a single question and the others have many: 77 to 94%.
  Ask those tasks another question, or leave them out.
- `pass_at_k_ci` and `pass_hat_k_ci` cover 92.7% and more on these populations; elsewhere 89.4% was measured (pass^2 of 15
  questions).
- `no_worse_prob` passes a candidate that loses the margin in at most 5% of evals, whether the loss is rare or spread. Student's
  bound and the posterior tail pass up to 36 and 33% if a few questions fail outright.
- `judged_ci` covers 75 to 89% with 50 to 200 labels if the model is nearly always right and the judge fails some right answers.
- `judged_mean_ci` and `judged_diff_ci` cover 93% and more with 10 to 50 labels, where the normal interval of prediction-powered
  inference covers 61 to 97%, and the judge's scores taken for the truth 0 to 97%.
- `icc_ci` covers 94% and more with 20 to 50 questions, where the F interval covers 44 to 95%.
- A paired difference that ignores clusters covers 82% here, however many clusters there are.
"""


def number(x):
    """Three digits."""
    if math.isinf(x):
        return "∞"
    return f"{x:,.0f}" if x >= 100 else f"{x:#.3g}"


def percent(cell):
    error = f" ± {100 * cell.error:.2f}" if cell.error else ""
    return f"{100 * cell.coverage:.2f}{error}%"


def setting_markdown(setting):
    heads = "".join(f" {setting.symbol} = {size} | {setting.width_name} |" for size in setting.sizes)
    lines = [f"## {setting.title}", "", setting.note, "", f"| method |{heads}", "|---|" + "---:|---:|" * len(setting.sizes)]
    for method, cells in setting.rows.items():
        lines.append(f"| {method} |" + "".join(f" {percent(cell)} | {number(cell.width)} |" for cell in cells))
    return "\n".join(lines) + "\n"


SAMPLER_INTRO = f"""\
## Where the exact posterior and the paper's sampler differ

The paper draws {samplers.K:,} points from the prior, weights each by its likelihood, resamples and takes percentiles. The
extension integrates the same posterior without random numbers. The table has the sampler as the paper describes it, but
with exact bivariate normal cells, over {SAMPLER_RUNS} seeds: the mean of each bound and, after ±, its standard deviation from
run to run; the width as a share of the exact one, mean and range; the median effective sample size.

| data | ours, exact | sampler, lower | sampler, upper | width / exact | effective points |
|---|---|---:|---:|---:|---:|"""

SAMPLER_NOTE = f"""
The data: clusters with 0, 1, 2, ... right, {', '.join(map(str, np.bincount(CLUSTERED_15)))} of the 15 and
{', '.join(map(str, np.bincount(CLUSTERED_60)))} of the 60;
pairs (both, only A, only B, neither) {', '.join(map(str, PAIRED_TABLES))}.

If the data say little, the two agree except for the sampler's noise. The more the data say, the fewer of the prior's points
lie where the posterior is. Once only a handful is effective, the sampler's interval is the spread of that handful: a
different one each run, sometimes a single point. The exact interval has no such limit.
"""


def sampler_markdown(compared):
    lines = [SAMPLER_INTRO]
    for name, (lo, hi), runs in compared:
        bounds = " | ".join(f"{np.mean(bound):.4f} ± {np.std(bound, ddof=1):.4f}" for bound in runs.T[:2])
        shares = (runs[:, 1] - runs[:, 0]) / (hi - lo)
        share = f"{np.mean(shares):.2f} ({np.min(shares):.2f} to {np.max(shares):.2f})"
        lines.append(f"| {name} | [{lo:.6f}, {hi:.6f}] | {bounds} | {share} | {number(np.median(runs[:, 2]))} |")
    return "\n".join(lines + [SAMPLER_NOTE])


# SVG

# Okabe and Ito's colours, grey for their black.
BLUE, SKY, GREEN, ORANGE, RED, PURPLE, GREY = "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#8A8A8A"
LOOKS = {  # by method: colour, marker
    "bayes": (BLUE, "circle"), "hdi": (SKY, "ring"), "jeffreys": (PURPLE, "diamond"), "wilson": (GREEN, "square"),
    "cp": (ORANGE, "up"), "midp": (ORANGE, "diamond"), "agresti_coull": (GREY, "down"), "clt": (RED, "cross"),
    "clustered_ci": (BLUE, "circle"), "clustered_clt_ci": (RED, "cross"),
    "bayes_ci, ignoring clusters": (SKY, "ring"), "clt_ci, ignoring clusters": (ORANGE, "up"),
    "diff_ci": (BLUE, "circle"), "diff_clt_ci": (RED, "cross"),
    "odds_ratio_ci": (BLUE, "circle"), "fisher_or_ci": (GREEN, "square"),
    "paired_diff_ci": (BLUE, "circle"), "paired_diff_clt_ci": (RED, "cross"), "diff_ci, ignoring the pairing": (SKY, "ring"),
    "f1_ci": (BLUE, "circle"), "clt (delta method)": (RED, "cross"),
}
SHAPES = {
    "square": "M-3.5-3.5h7v7h-7z", "diamond": "M0-5L5 0L0 5L-5 0z", "up": "M0-5L4.5 3.5H-4.5z",
    "down": "M0 5L4.5-3.5H-4.5z", "cross": "M-4-4L4 4M-4 4L4-4",
}
STYLE = """\
.paper { fill: #ffffff } .ink { fill: #24292f } .soft { fill: #57606a } .grid { stroke: #d8dee4 } .level { stroke: #24292f }
@media (prefers-color-scheme: dark) {
  .paper { fill: #0d1117 } .ink { fill: #e6edf3 } .soft { fill: #9da7b1 } .grid { stroke: #30363d } .level { stroke: #e6edf3 }
}
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 12px }
.title { font-size: 14px; font-weight: 600 } .head { font-size: 18px; font-weight: 600 }"""

PANEL_W, PANEL_H = 330, 400
PLOT_X, PLOT_Y, PLOT_W, PLOT_H = 46, 40, 264, 244
LEGEND_Y, LEGEND_STEP = 334, 17
DODGE = 4  # between the markers of two methods at one size
HEAD_H = 62
COLUMNS = 3


def text(x, y, content, kind="ink", anchor="start"):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{content}</text>'


def marker(x, y, colour, shape):
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.8" fill="{colour}"/>'
    if shape == "ring":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="none" stroke="{colour}" stroke-width="1.8"/>'
    paint = f'fill="none" stroke="{colour}" stroke-width="2.2"' if shape == "cross" else f'fill="{colour}"'
    return f'<path transform="translate({x:.1f} {y:.1f})" d="{SHAPES[shape]}" {paint}/>'


def axes(setting, x_of, y_of, floor):
    """The grid, the 95% line and the labels of one panel."""
    parts = [text(PLOT_X, PLOT_Y - 14, setting.label, "ink title")]
    right, bottom = PLOT_X + PLOT_W, PLOT_Y + PLOT_H
    for tick in range(floor, 101, 10):
        y = y_of(tick / 100)
        parts.append(f'<line class="grid" x1="{PLOT_X}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(text(PLOT_X - 6, y + 4, f"{tick}%", "soft", "end"))
    y = y_of(LEVEL)
    parts.append(f'<line class="level" x1="{PLOT_X}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke-dasharray="5 4"/>')
    parts += [text(x_of(size), bottom + 17, size, "soft", "middle") for size in setting.sizes]
    parts.append(text(right, bottom + 32, f"{setting.symbol}, log scale", "soft", "end"))
    return parts


def legend(methods):
    """Below the plot: one column of up to four, or two."""
    rows = 4
    parts = []
    for i, method in enumerate(methods):
        x, y = PLOT_X + PLOT_W / 2 * (i // rows), LEGEND_Y + LEGEND_STEP * (i % rows)
        colour, shape = LOOKS[method]
        parts.append(f'<line x1="{x:.1f}" x2="{x + 22:.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="1.6"/>')
        parts += [marker(x + 11, y, colour, shape), text(x + 29, y + 4, method)]
    return parts


def panel(setting, floor):
    first, last = math.log(setting.sizes[0]), math.log(setting.sizes[-1])
    x_of = lambda size: PLOT_X + 26 + (PLOT_W - 52) * (math.log(size) - first) / (last - first)
    y_of = lambda coverage: PLOT_Y + PLOT_H * (1 - (coverage - floor / 100) / (1 - floor / 100))
    parts = axes(setting, x_of, y_of, floor)
    for i, (method, cells) in reversed(list(enumerate(setting.rows.items()))):
        colour, shape = LOOKS[method]
        shift = DODGE * (i - (len(setting.rows) - 1) / 2)
        points = [(x_of(size) + shift, y_of(cell.coverage)) for size, cell in zip(setting.sizes, cells)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        parts += [marker(x, y, colour, shape) for x, y in points]
    return parts + legend(setting.rows)


def figure(settings):
    floor = 10 * math.floor(10 * min(cell.coverage for s in settings for cells in s.rows.values() for cell in cells))
    width, height = COLUMNS * PANEL_W + 10, HEAD_H + PANEL_H * math.ceil(len(settings) / COLUMNS)
    size = f'width="{width}" height="{height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {size} role="img">',
             "<title>Coverage of 95% intervals against sample size</title>", f"<style>\n{STYLE}\n</style>",
             f'<rect class="paper" {size}/>',
             text(PLOT_X, 30, "How often a 95% interval holds the truth", "ink head"),
             text(PLOT_X, 50, "Coverage, averaged over the model's own prior; the dashed line is 95%", "soft")]
    for i, setting in enumerate(settings):
        parts.append(f'<g transform="translate({i % COLUMNS * PANEL_W} {HEAD_H + i // COLUMNS * PANEL_H})">')
        parts += panel(setting, floor) + ["</g>"]
    return "\n".join(parts + ["</svg>"]) + "\n"


def write(directory, name, content):
    with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
        file.write(content)


def main():
    parser = argparse.ArgumentParser(description="Coverage of every method: writes coverage.md and coverage.svg.")
    parser.add_argument("extension")
    parser.add_argument("before")
    parser.add_argument("--out", default=os.path.dirname(os.path.abspath(__file__)), help="where to write, tests/measured/ unless given")
    arguments = parser.parse_args()
    ext = Extension(arguments.extension)
    fixed.NOW.path, fixed.BEFORE.path = arguments.extension, arguments.before

    own = [iid(ext), clustered(ext), unpaired_difference(ext), unpaired_odds_ratio(ext), paired(ext), f1(ext)]
    mismatched = [iid(ext, a, b) for a, b in MISMATCHED_PRIORS]
    clusters = outside.settings(ext)
    sections = means.sections() + gates.sections() + spending.sections() + labelled.sections() + repeats.sections() + arena.sections() + raters.sections()
    compared = sampler_comparison(ext)
    progress("")
    print(file=sys.stderr)

    settings = [own[0], *mismatched, *own[1:]]
    page = [INTRO, *map(setting_markdown, settings), sampler_markdown(compared), OUTSIDE_INTRO,
            *sections, *map(setting_markdown, clusters), CLOSING]
    write(arguments.out, "coverage.md", "\n".join(page))
    write(arguments.out, "coverage.svg", figure(own))
    wrong = failures(settings + clusters)
    for line in wrong:
        print(f"WRONG: {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
