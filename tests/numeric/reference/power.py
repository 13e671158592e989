"""References for planning: the probability that a test finds an existing difference.

Independent of the C code: every outcome is enumerated, with its own p-value or posterior probability.  scipy's
binomials, mid-p in whole numbers up to 1,000 pairs, and a 400-node Gauss-Legendre rule for P(theta_A > theta_B).  With
many questions, the boundary of the outcomes that are called different is found by bisection, for each number of pairs
or of right answers separately.
"""
from fractions import Fraction
from math import comb

import numpy as np
from scipy import stats

HEADER = ["method", "questions", "rate_a", "rate_b", "questions_a", "questions_b", "p_a", "p_b", "level", "lo", "hi"]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2


def mid_p(m):
    """Of 0, 1, ... m//2 of m pairs, in whole numbers."""
    below, out = 0, []
    for i in range(m // 2 + 1):
        out.append(float(Fraction(2 * below + comb(m, i), 2**m)) if 2 * i < m else 1.0)
        below += comb(m, i)
    return np.array(out)


def last_rejected(m, level):
    """The largest count of each m pairs whose mid-p is at most 1 - level, -1 for none."""
    low, high = np.full(len(m), -1), m // 2
    for j in np.nonzero(m <= 1000)[0]:
        rejects = np.nonzero(mid_p(int(m[j])) <= 1 - level)[0]
        low[j] = rejects[-1] if m[j] and len(rejects) else -1
        high[j] = low[j] + 1
    while (high - low > 1).any():
        i = (low + high) // 2
        rejects = 2 * stats.binom.cdf(i - 1, m, 0.5) + stats.binom.pmf(i, m, 0.5) <= 1 - level
        open_ = high - low > 1
        low, high = np.where(open_ & rejects, i, low), np.where(open_ & ~rejects, i, high)
    return low


def power_paired(n, a, b, level):
    d = a + b
    least, most = (max(0, int(n * d - 12 * (n * d) ** 0.5) - 20), min(n, int(n * d + 12 * (n * d) ** 0.5) + 40))
    m = np.arange(least, most + 1)
    c = last_rejected(m, level)
    given = np.where(c < 0, 0, stats.binom.cdf(c, m, a / d) + stats.binom.sf(m - c - 1, m, a / d))
    return stats.binom.pmf(m, n, d) @ given


def power_diff(n_a, n_b, p_a, p_b, level):
    densities = [stats.beta.pdf(NODES, k + 1, n_a - k + 1) for k in range(n_a + 1)]
    tails = [stats.beta.cdf(NODES, k + 1, n_b - k + 1) for k in range(n_b + 1)]
    better = (np.array(densities) * WEIGHTS) @ np.array(tails).T
    tail = (1 - level) / 2
    called = (better < tail) | (better > 1 - tail)
    return stats.binom.pmf(range(n_a + 1), n_a, p_a) @ called @ stats.binom.pmf(range(n_b + 1), n_b, p_b)


def prob_better(k_a, n_a, k_b, n_b):
    """The integral over at least nine standard deviations of theta_A on either side."""
    a, b = stats.beta(k_a + 1, n_a - k_a + 1), stats.beta(k_b + 1, n_b - k_b + 1)
    lo, hi = max(0, a.mean() - 9 * a.std() - 25 / n_a), min(1, a.mean() + 9 * a.std() + 25 / n_a)
    x = lo + (hi - lo) * NODES
    return (hi - lo) * WEIGHTS @ (a.pdf(x) * b.cdf(x)), (hi - lo) * WEIGHTS @ (a.pdf(x) * b.sf(x))


def power_diff_of_many(n_a, n_b, p_a, p_b, level):
    tail, total = (1 - level) / 2, 0.0
    sd = (n_a * p_a * (1 - p_a)) ** 0.5
    below = above = None
    for k in range(max(0, int(n_a * p_a - 9 * sd) - 25), min(n_a, int(n_a * p_a + 9 * sd) + 25) + 1):
        below = line(lambda j: prob_better(k, n_a, j, n_b)[1] <= tail, n_b + 1, below)
        above = line(lambda j: prob_better(k, n_a, j, n_b)[0] > tail, n_b + 1, above)
        total += stats.binom.pmf(k, n_a, p_a) * (stats.binom.cdf(below - 1, n_b, p_b) + stats.binom.sf(above - 1, n_b, p_b))
    return total


def line(holds, size, near):
    """How many of 0, 1, ... size - 1 fulfil a condition that the first ones fulfil, by bisection from the last boundary."""
    low, high = 0, size
    if near is not None:
        low, high = max(0, near - 1), min(size, near + 40)
        low, high = low if low == 0 or holds(low - 1) else 0, high if high == size or not holds(high) else size
    while low < high:
        i = (low + high) // 2
        low, high = (i + 1, high) if holds(i) else (low, i)
    return low


def row_of_pairs(n, a, b, level):
    p = repr(float(power_paired(n, a, b, level)))
    return ["power_paired", str(n), repr(a), repr(b), "1", "1", "0", "0", repr(level), p, p]


def row_of_diff(n_a, n_b, p_a, p_b, level):
    p = repr(float((power_diff if n_a * n_b < 10**5 else power_diff_of_many)(n_a, n_b, p_a, p_b, level)))
    return ["power_diff", "1", "0", "0", str(n_a), str(n_b), repr(p_a), repr(p_b), repr(level), p, p]


PAIRS = [
    (100, 0.15, 0.05, 0.95), (200, 0.15, 0.10, 0.95), (500, 0.12, 0.09, 0.95), (1, 0.5, 0.5, 0.95), (5, 1.0, 0.0, 0.95), (20, 0.5, 0.5, 0.95),
    (20, 0.5, 0.5, 0.5), (30, 0.3, 0.0, 0.95), (1000, 0.6, 0.4, 0.95), (1000, 0.02, 0.01, 0.99), (969, 0.071, 0.041, 0.95),
    (3000, 0.12, 0.09, 0.9), (50, 0.4, 0.1, 0.999999), (300, 1e-4, 0.05, 0.95), (2000, 0.51, 0.49, 0.95), (152, 0.15, 0.05, 0.95),
    (10**5, 0.003, 0.0026, 0.95), (40, 0.2, 0.1, 0.01), (20865, 0.495, 0.485, 0.5), (10**5, 0.5, 0.49, 0.95), (10**6, 0.1, 0.0985, 0.99),
    (3 * 10**6, 1e-5, 2e-5, 0.95), (10**8, 0.2001, 0.1999, 0.95),
]
DIFFS = [
    (20, 20, 0.9, 0.6, 0.95), (20, 20, 0.5, 0.5, 0.95), (30, 12, 0.9, 0.8, 0.95), (1, 1, 0.0, 1.0, 0.95), (3, 3, 0.0, 1.0, 0.95),
    (100, 100, 0.7, 0.5, 0.95), (100, 50, 0.9, 0.8, 0.9), (120, 120, 0.5, 0.4, 0.99), (15, 90, 0.2, 0.5, 0.95), (60, 60, 0.02, 0.1, 0.95),
    (40, 40, 1.0, 0.8, 0.95), (25, 25, 0.6, 0.4, 0.5), (25, 25, 0.6, 0.4, 0.999999), (50, 50, 0.3, 0.31, 0.01), (110, 7, 0.5, 0.9, 0.95),
    (150, 150, 0.66, 0.5, 0.95), (1377, 1377, 0.7, 0.65, 0.95), (3000, 3000, 0.001, 0.004, 0.95), (1000, 30000, 0.01, 0.02, 0.9),
    (39237, 39237, 0.5, 0.51, 0.95), (4000, 500, 0.95, 0.9, 0.999),
]


def rows():
    return [(row_of_pairs, c) for c in PAIRS] + [(row_of_diff, c) for c in DIFFS]
