"""References for prob_above: the mass of Beta(a+k, b+n-k) above t.

The tail is a quadrature in 40 digits (betaref.py), checked against scipy and, for few questions, against the finite sum
under a uniform prior.  `hi` is the same with the prior's parameters exchanged.
"""
import mpmath as mp
from scipy import special, stats

import betaref

HEADER = ["method", "k", "n", "threshold", "prior_a", "prior_b", "lo", "hi"]
DIGITS = 25
PUBLISHED = [(18, 20, 0.8, 1, 1), (20, 20, 0.95, 1, 1), (0, 5, 0.1, 1, 1), (850, 1000, 0.83, 1, 1), (9, 10, 0.9, 1, 1)]
SIZES = [1, 2, 5, 20, 148, 1000, 10**5, 10**7, 10**9, 10**12, 10**14]
PRIORS = [(1, 1), (0.5, 0.5), (3, 7), (0.05, 1000)]


def above(k, n, t, a, b):
    if t in (0, 1):
        return mp.mpf(1 - t)
    a, b, logit = mp.mpf(a) + k, mp.mpf(b) + (n - k), mp.log(mp.mpf(t)) - mp.log(1 - mp.mpf(t))
    # the smaller tail is integrated
    upper = logit > mp.log(a / b)
    tail = betaref.lower_tail(b, a, -logit) if upper else betaref.lower_tail(a, b, logit)
    return tail if upper else 1 - tail


def row(k, n, t, a, b):
    values = []
    for shapes in ((a, b), (b, a)):
        p = above(k, n, t, *shapes)
        theirs = stats.beta.sf(t, shapes[0] + k, shapes[1] + (n - k))
        assert n > 10**6 or abs(p - theirs) <= 1e-9 * p + mp.mpf(10) ** -300, (k, n, t, shapes, p, theirs)
        if shapes == (1, 1) and n < 200:
            x = mp.mpf(t)
            exact = mp.fsum(mp.binomial(n + 1, j) * x**j * (1 - x) ** (n + 1 - j) for j in range(k + 1))
            assert abs(p - exact) <= mp.mpf(10) ** -25 * p, (k, n, t, p, exact)
        # what underflows is 0
        values.append(mp.nstr(p if p > 3e-308 else mp.mpf(0), DIGITS))
    return ["prob_above", k, n, repr(float(t)), a, b, *values]


def thresholds(k, n, a, b):
    """Thresholds with little of the posterior below, about half, and little above."""
    shapes = a + k, b + (n - k)
    return [round(float(special.betaincinv(*shapes, share)), 9) for share in (1e-12, 0.03, 0.5, 0.9, 1 - 1e-6)]


def rows():
    betaref.check()
    cases = list(PUBLISHED)
    for i, n in enumerate(SIZES):
        for j, k in enumerate(sorted({0, n // 3, n - n // 50, n})):
            a, b = PRIORS[(i + j) % len(PRIORS)]
            cases += [(k, n, t, a, b) for t in thresholds(k, n, a, b)]
    cases += [(5 * 10**13, 10**14, t, 1, 1) for t in (0.5, 0.50000002)]
    cases += [(k, n, t, 1, 1) for k, n in ((0, 1), (1, 1), (7, 9), (10**9, 10**9)) for t in (0, 1e-9, 0.5, 1 - 2**-50, 1)]
    return [(row, case) for case in dict.fromkeys(cases)]
