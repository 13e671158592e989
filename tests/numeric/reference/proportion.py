"""Intervals for one proportion: every method, over the whole range promised.

Every value comes from mpmath at 40 digits, through formulas written here and in
betaref.py; the methods that statsmodels has are checked against it on the way.
"""
import random

import mpmath as mp
from statsmodels.stats.proportion import proportion_confint

import betaref

HEADER = ["method", "k", "n", "level", "prior_a", "prior_b", "lo", "hi"]
DIGITS = 25



def wilson(k, n, level, a, b):
    z = mp.sqrt(2) * mp.erfinv(mp.mpf(level))
    k, n = mp.mpf(k), mp.mpf(n)
    centre = (k + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * mp.sqrt(k * (n - k) / n + z * z / 4)
    return (0 if k == 0 else centre - half), (1 if k == n else centre + half)


def clt(k, n, level, a, b):
    z = mp.sqrt(2) * mp.erfinv(mp.mpf(level))
    p = mp.mpf(k) / n
    half = z * mp.sqrt(p * (1 - p) / n)
    return p - half, p + half


def agresti_coull(k, n, level, a, b):
    z = mp.sqrt(2) * mp.erfinv(mp.mpf(level))
    m = n + z * z
    p = (k + z * z / 2) / m
    half = z * mp.sqrt(p * (1 - p) / m)
    return p - half, p + half


def bayes(k, n, level, a, b):
    tail = (1 - mp.mpf(level)) / 2
    a, b = mp.mpf(a) + k, mp.mpf(b) + (n - k)
    return betaref.quantile(a, b, tail), betaref.quantile(a, b, tail, upper=True)


def jeffreys(k, n, level, a, b):
    return bayes(k, n, level, 0.5, 0.5)


def cp(k, n, level, a, b):
    tail = (1 - mp.mpf(level)) / 2
    return (0 if k == 0 else betaref.quantile(k, n - k + 1, tail),
            1 if k == n else betaref.quantile(k + 1, n - k, tail, upper=True))


def midp_lower(k, n, tail):
    """The q at which P(X > k) + P(X = k)/2 is the tail: Newton's method in logit q."""
    if k == 0:
        return mp.mpf(0)
    if k == n:
        return mp.exp(mp.log(2 * tail) / n)
    ln_choose = mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)
    # between Clopper-Pearson's bounds of k and of k + 1
    t = (betaref.lower_quantile(mp.mpf(k), mp.mpf(n - k + 1), tail) + betaref.lower_quantile(mp.mpf(k + 1), mp.mpf(n - k), tail)) / 2
    for _ in range(60):
        q, p = betaref.expit(t), betaref.expit(-t)
        exactly = mp.exp(ln_choose + k * mp.log(q) + (n - k) * mp.log(p))
        beyond = betaref.lower_tail(mp.mpf(k + 1), mp.mpf(n - k), t)
        step = (tail - beyond - exactly / 2) / (exactly * ((n - k) * q + (k - n * q) / 2))
        t += step
        if abs(step) < mp.mpf(10) ** -18 * max(1, abs(t)):
            return betaref.expit(t)
    raise ArithmeticError(f"no mid-p bound at {k} of {n}, {tail}")


def midp(k, n, level, a, b):
    """1 minus the lower bound of the wrong answers is the upper one; of small counts all is checked by plain sums."""
    tail = (1 - mp.mpf(level)) / 2
    lo, hi = midp_lower(k, n, tail), 1 - midp_lower(n - k, n, tail)
    if n <= 50:
        pmf = lambda x, q: mp.binomial(n, x) * q ** x * (1 - q) ** (n - x)  # noqa: E731
        assert k == 0 or abs(mp.fsum(pmf(x, lo) for x in range(k + 1, n + 1)) + pmf(k, lo) / 2 - tail) < 1e-30
        assert k == n or abs(mp.fsum(pmf(x, hi) for x in range(k)) + pmf(k, hi) / 2 - tail) < 1e-30
    return lo, hi


def hdi(k, n, level, a, b):
    return betaref.hdi(mp.mpf(a) + k, mp.mpf(b) + (n - k), level)


SIZES = [1, 2, 3, 5, 10, 15, 20, 29, 50, 148, 1000, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9]
LEVELS = [0.01, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.999999]
PRIORS = [(1, 1), (0.5, 0.5), (0.05, 0.05), (0.05, 1000), (1000, 0.05), (1000, 1000), (3, 7), (0.3, 2.5)]


def counts(n):
    return sorted(k for k in {0, 1, 2, 5, n // 100, n // 3, n // 2, n - n // 50, n - 1, n} if k <= n)


def grid(priors):
    return [(k, n, level, a, b) for n in SIZES for k in counts(n) for level in LEVELS for a, b in priors]


def thinned(rows, keep):
    """A fixed sample, in the order of the grid."""
    return sorted(random.Random(2025).sample(rows, min(keep, len(rows))), key={r: i for i, r in enumerate(rows)}.get)


PLAN = [
    (bayes, thinned(grid(PRIORS), 900)),
    (cp, thinned(grid([(1, 1)]), 350)),
    (midp, thinned(grid([(1, 1)]), 350)),
    (hdi, thinned(grid(PRIORS[:3] + PRIORS[5:]), 120)),
    (wilson, grid([(1, 1)])),
    (clt, thinned(grid([(1, 1)]), 200)),
    (agresti_coull, thinned(grid([(1, 1)]), 200)),
    (jeffreys, thinned(grid([(1, 1)]), 60)),
]

STATSMODELS = {wilson: "wilson", cp: "beta", jeffreys: "jeffreys", clt: "normal", agresti_coull: "agresti_coull"}


def agrees_with_statsmodels(method, k, n, level, bounds):
    """statsmodels clips the normal and Agresti-Coull intervals to [0,1]."""
    theirs = proportion_confint(k, n, alpha=1 - level, method=STATSMODELS[method])
    for ours, other in zip(bounds, theirs):
        if method in (clt, agresti_coull):
            ours = min(1, max(0, ours))
        if abs(ours - mp.mpf(float(other))) > 1e-8:
            raise AssertionError((method.__name__, k, n, level, ours, other))


def line(method, args):
    k, n, level, a, b = args
    lo, hi = method(*args)
    if method in STATSMODELS and n <= 10**5:
        agrees_with_statsmodels(method, k, n, level, (lo, hi))
    return [method.__name__, k, n, repr(level), a, b, mp.nstr(mp.mpf(lo), DIGITS), mp.nstr(mp.mpf(hi), DIGITS)]


def rows():
    betaref.check()
    return [(line, (method, args)) for method, plan in PLAN for args in plan]
