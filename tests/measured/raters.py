"""The coverage of intervals of raters' agreement. As in means.py, each section returns Markdown, and the truth is fixed.
"""
import itertools

import numpy as np
from scipy import special, stats

from fixed import NOW, SLOW, Case, drawn, measure, table
from settings import LEVEL

Z = stats.norm.ppf((1 + LEVEL) / 2)
TAILS = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
RESAMPLES = 300


def coefficient(p, distance, ac1=False):
    """Kappa, or AC1, of tables of shares in the last two axes."""
    r, c = p.sum(-1), p.sum(-2)
    seen = (distance * p).sum((-1, -2))
    m = (r + c) / 2
    expected = 1 - (1 - (m * m).sum(-1)) / (p.shape[-1] - 1) if ac1 else np.einsum("...a,ab,...b", r, distance, c)
    return 1 - seen / expected


def percentiles(values):
    """A NULL, for an undefined coefficient, becomes an interval that contains nothing."""
    values = values[np.isfinite(values)]
    return tuple(np.quantile(values, TAILS)) if len(values) > 10 else (2.0, 2.0)


def bootstrap(counts, distance, ac1=False):
    counts = np.array(counts)
    p = counts / counts.sum()
    resampled = np.random.default_rng(counts.ravel()).multinomial(counts.sum(), p.ravel(), RESAMPLES).reshape(-1, *p.shape)
    with np.errstate(all="ignore"):
        return percentiles(coefficient(resampled / counts.sum(), distance, ac1))


def wald(counts):
    """Fleiss, Cohen and Everitt's standard error of kappa, as statsmodels and others have it."""
    p = np.array(counts) / np.sum(counts)
    r, c, po = p.sum(1), p.sum(0), np.trace(p)
    pe = r @ c
    if pe == 1:
        return 2.0, 2.0
    kappa = (po - pe) / (1 - pe)
    a = sum(p[i, i] * (1 - (r[i] + c[i]) * (1 - kappa)) ** 2 for i in range(len(p)))
    b = (1 - kappa) ** 2 * sum(p[i, j] * (r[j] + c[i]) ** 2 for i, j in itertools.permutations(range(len(p)), 2))
    se = np.sqrt(max(a + b - (kappa - pe * (1 - kappa)) ** 2, 0) / np.sum(counts)) / (1 - pe)
    return kappa - Z * se, kappa + Z * se


# Two raters, right and wrong

BINARY = 1 - np.eye(2)
TRUTHS = ((0.5, 0.5, 0.6), (0.5, 0.5, 0.9), (0.8, 0.8, 0.6), (0.9, 0.85, 0.5), (0.9, 0.9, 0.8), (0.7, 0.7, 0.0), (0.95, 0.5, 0.05))
BINARY_DRAWS = 500


def shares(a, b, kappa):
    agree = a * b + (1 - a) * (1 - b)
    differ = (1 - agree) * (1 - kappa)
    only_a, only_b = (differ + a - b) / 2, (differ - a + b) / 2
    return np.array([[1 - a - only_b, only_b], [only_a, a - only_a]])


def every_table(n, p):
    """All tables with their probabilities, except the least likely ones, which have 10^-6 together."""
    def data(rng):
        tables = np.array([(a, b, c, n - a - b - c) for a in range(n + 1) for b in range(n + 1 - a) for c in range(n + 1 - a - b)])
        log = special.gammaln(n + 1) - special.gammaln(tables + 1).sum(1) + tables @ np.log(p.ravel())
        for t, weight in zip(tables, np.exp(log)):
            if weight > 1e-6:
                yield weight, tuple(map(tuple, t.reshape(2, 2).tolist()))
    return data


def drawn_tables(n, p, draws):
    return lambda rng: ((1 / draws, tuple(map(tuple, t.reshape(p.shape).tolist()))) for t in rng.multinomial(n, p.ravel(), draws))


def of_counts(function):
    return lambda t: NOW.loaded.interval(function, t[1][1], t[1][0], t[0][1], t[0][0])


def binary_case(truth, n, ac1):
    p = shares(*truth)
    true = float(coefficient(p, BINARY, ac1))
    tables = every_table(n, p) if n <= 20 else drawn_tables(n, p, BINARY_DRAWS)
    methods = {"AC1": of_counts("ac1_ci_counts"), "bootstrap of AC1": lambda t: bootstrap(t, BINARY, True)} if ac1 else {
        "kappa": of_counts("kappa_ci_counts"), "Wald": wald, "bootstrap": lambda t: bootstrap(t, BINARY)}
    data = lambda rng: ((weight, true, t) for weight, t in tables(rng))
    return Case(f"{truth}{' AC1' if ac1 else ''}", n, data, methods, (-1, 1))


def shown(result):
    return f"{100 * result.coverage:.1f} ({result.width:.2f})"


def binary_section():
    sizes = (20, 50)
    found = measure("two raters", [binary_case(t, n, ac1) for t in TRUTHS for n in sizes for ac1 in (False, True)])
    rows = []
    for t in TRUTHS:
        for n in sizes:
            kappa, ac1 = found[str(t), n], found[f"{t} AC1", n]
            rows.append([f"{t[0]:.0%}, {t[1]:.0%}, {t[2]}", n, *(shown(kappa[m]) for m in ("kappa", "Wald", "bootstrap")),
                         *(shown(ac1[m]) for m in ("AC1", "bootstrap of AC1"))])
    return f"""\
## Agreement of two raters, right and wrong

`kappa_ci_counts` and `ac1_ci_counts`: the percentage of intervals that hold the truth and, in brackets, their mean width. Rater A calls
the first share of all answers right, rater B the second; the third number is kappa. "Wald" is kappa -+ z standard errors, the
bootstrap has {RESAMPLES} resamples; tables on which they are undefined count as not covered. N = 20: every table, by its
probability; else {BINARY_DRAWS} draws.

{table(["A right, B right, kappa", "N", "kappa_ci", "Wald", "bootstrap", "ac1_ci", "bootstrap of AC1"], rows)}"""


# Grades, and more raters

SHARES = {2: np.array([0.5, 0.5]), 3: np.array([0.5, 0.3, 0.2]), 5: np.array([0.1, 0.2, 0.3, 0.25, 0.15])}
DRAWS = 1000


def rating_shares(k, same, far):
    """The probabilities of a rating for each true category: right with probability `same`, else a neighbour, or
    anything with probability `far`."""
    m = np.eye(k) * same
    for c in range(k):
        near = [x for x in (c - 1, c + 1) if 0 <= x < k]
        m[c, near] += (1 - same) * (1 - far) / len(near)
        m[c, [x for x in range(k) if x != c]] += (1 - same) * far / (k - 1)
    return m


def distances(k):
    steps = np.abs(np.subtract.outer(np.arange(k), np.arange(k))) / (k - 1)
    return {"nominal": (steps > 0) * 1.0, "linear": steps, "quadratic": steps**2}


def kappa_of_grades(k, weights, same, far, n):
    m = rating_shares(k, same, far)
    p = (m.T * SHARES[k]) @ m
    distance = distances(k)[weights]
    true = float(coefficient(p, distance))
    call = f"kappa_table_ci(value ->> 0, value ->> 1, value ->> 2, {LEVEL}, '{weights}')"

    def ours(t):
        ci = NOW.value(call, [(a, b, n) for a, row in enumerate(t) for b, n in enumerate(row) if n])
        return tuple(map(float, ci.strip("[]").split(",")))

    data = lambda rng: ((w, true, t) for w, t in drawn_tables(n, p, DRAWS)(rng))
    where = "next to the truth" if far == 0 else f"{far:.0%} anywhere"
    return Case(f"kappa, {k} grades, {weights}; right {same:.0%}, errors {where}", n, data,
                {"ours": ours, "bootstrap": lambda t: bootstrap(t, distance)}, (-1, 1), ("bootstrap",))


def alpha_of(units, distance):
    """Alpha of arrays of units x categories along the last two axes."""
    m = units.sum(-1)
    seen = (np.einsum("...a,ab,...b", units, distance, units) / (m - 1)).sum(-1) / m.sum(-1)
    pi = units.sum(-2) / m.sum(-1, keepdims=True)
    return 1 - seen / np.einsum("...a,ab,...b", pi, distance, pi)


def alpha_case(k, weights, raters, same, far, missing, n):
    m = rating_shares(k, same, far)
    p, distance = (m.T * SHARES[k]) @ m, distances(k)[weights]
    true = float(1 - (distance * p).sum() / (p.sum(0) @ distance @ p.sum(0)))

    def draw(rng):
        truth = rng.choice(k, n, p=SHARES[k])
        units = np.zeros((n, k), int)
        for _ in range(raters):
            said, there = (rng.random(n)[:, None] > m[truth].cumsum(1)).sum(1), rng.random(n) >= missing
            units[np.arange(n)[there], said[there]] += 1
        return true, tuple(map(tuple, units[units.sum(1) >= 2].tolist()))

    def ours(units):
        ci = NOW.value(f"alpha_ci(value ->> 0, value ->> 1, {LEVEL}, '{'interval' if weights == 'quadratic' else weights}')", [(c, u) for u, row in enumerate(units) for c, times in enumerate(row) for _ in range(times)])
        return tuple(map(float, ci.strip("[]").split(","))) if ci else (2.0, 2.0)

    def resampled(units):
        units = np.array(units)
        draws = units[np.random.default_rng(units.sum(0)).integers(0, len(units), (RESAMPLES, len(units)))]
        with np.errstate(all="ignore"):
            return percentiles(alpha_of(draws, distance))

    kind = "" if (k, weights) == (3, "nominal") else f"{k} grades, {'interval' if weights == 'quadratic' else weights}; "
    return Case(f"alpha, {kind}{raters} raters, {missing:.0%} of ratings missing; right {same:.0%}", n, drawn(DRAWS, draw),
                {"ours": ours, "bootstrap": resampled}, (-1, 1), ("bootstrap",))


def grades_section():
    designs = [(3, "nominal", 0.85, 0), (3, "nominal", 0.97, 0), (5, "nominal", 0.8, 0), (5, "linear", 0.8, 0), (5, "quadratic", 0.9, 0),
               (5, "quadratic", 0.95, 0), (5, "quadratic", 0.95, 1), (5, "quadratic", 0.8, 0.5)]
    rated = [(3, "nominal", 3, 0.8, 1, 0.2), (3, "nominal", 3, 0.95, 1, 0.2), (5, "quadratic", 5, 0.9, 0, 0.3), (5, "quadratic", 3, 0.7, 0, 0),
             (5, "quadratic", 2, 0.95, 0, 0), (2, "nominal", 3, 0.8, 0, 0.2)]
    cases = [kappa_of_grades(*d, n) for d in designs for n in (20, 50)] + [alpha_case(*d, n) for d in rated for n in (20, 50)]
    found = measure("grades", cases)
    rows = [[name, n, shown(f["ours"]), shown(f["bootstrap"])] for (name, n), f in found.items()]
    return f"""\
## Agreement on grades, and of more raters

`kappa_ci` with weights, and `alpha_ci`: {DRAWS:,} tables each, {SLOW} for the bootstrap of {RESAMPLES} resamples. Quadratic weights rest on the few
disagreements that are far apart, and cover least where these are rare.

{table(["", "N", "evalci", "bootstrap"], rows)}"""


def sections():
    return [binary_section(), grades_section()]
