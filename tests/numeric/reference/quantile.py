"""References for quantile_ci: order statistics x_(l) and x_(u) of n values.

    l the largest with P(B <= l-1) <= alpha/2, u the smallest with P(B >= u) <= alpha/2,  B ~ Binomial(n, q)

Tails are sums of exact fractions up to 2,000 values, and beyond that beta tails by betaref.py in 40 digits, for the
exact values of the doubles q and level.  Each case has one value at x_(l), one at x_(u), and others below, between and
above them, so that a wrong position changes the result.
"""
import functools
from fractions import Fraction

import mpmath as mp
from scipy import stats

import betaref

HEADER = ["method", "rows", "q", "level", "lo", "hi"]
EXACT = 2000


@functools.lru_cache(None)
def tails(n, q):
    """[P(B <= k)] of k from -1 on, exactly."""
    q = Fraction(q)
    term, total, found = (1 - q) ** n, Fraction(0), [Fraction(0)]
    for k in range(n + 1):
        total += term
        found.append(total)
        term = term * (n - k) / (k + 1) * q / (1 - q)
    assert total == 1
    return found


def at_most(k, n, q):
    if n <= EXACT:
        return tails(n, q)[k + 1]
    if k < 0:
        return mp.mpf(0)
    q = mp.mpf(q)
    return betaref.lower_tail(mp.mpf(n - k), mp.mpf(k + 1), mp.log(1 - q) - mp.log(q)) if k < n else mp.mpf(1)


def tail_of(n, level):
    tail = (1 - Fraction(level)) / 2
    return tail if n <= EXACT else mp.mpf(tail.numerator) / tail.denominator


def place(inside, guess):
    """The largest k with inside(k), which turns from true to false once."""
    while not inside(guess):
        guess -= 1
    while inside(guess + 1):
        guess += 1
    return guess


def quantile(n, q, level):
    tail = tail_of(n, level)
    l = place(lambda k: at_most(k - 1, n, q) <= tail, int(stats.binom.ppf((1 - level) / 2, n, q)))
    u = 1 + place(lambda k: 1 - at_most(k - 1, n, q) > tail, int(stats.binom.isf((1 - level) / 2, n, q)))
    for p in (at_most(l - 1, n, q), at_most(l, n, q), 1 - at_most(u - 1, n, q), 1 - at_most(u - 2, n, q)):
        assert p == tail or abs(float(p / tail) - 1) > 1e-9, "rounding would decide, and it is no tie"
    counts = [(1, max(0, l - 1)), (2, int(l > 0)), (3, u - l - 1 if l else u - 1), (4, int(u <= n))]
    counts.append((5, n - sum(c for _, c in counts)))
    assert 0 <= l < u <= n + 1 and all(c >= 0 for _, c in counts), (n, q, level, l, u, counts)
    rows = " ".join(f"{x}/{c}" for x, c in counts if c > 0)
    return ["quantile", rows, repr(q), repr(level), "2" if l else "-inf", "4" if u <= n else "inf"]


CASES = [(n, q, level) for n in (1, 2, 6, 20, 71, 72, 73, 367, 368, 1000) for q in (0.5, 0.95, 0.99, 0.01) for level in (0.95, 0.5, 0.999999)]
CASES += [(n, q, level) for n in (10**4, 10**6, 10**9) for q in (0.5, 0.9, 0.001) for level in (0.95, 0.999999)]
CASES += [(2, 0.5, 0.5), (3, 0.5, 0.75), (5, 0.25, 0.9), (100, 1e-9, 0.95), (100, 1 - 1e-9, 0.95)]


def rows():
    return [(quantile, case) for case in CASES]
