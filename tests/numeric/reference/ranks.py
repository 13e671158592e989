"""References for the ranks of models with independent Beta posteriors.

Exact, in whole numbers.  For whole shapes P(theta_j <= x) is a sum of e_i x^i (1-x)^(N-i)
with whole e_i, and so is P(theta_j > x); the chance that r models are above model i is a
sum of products of those, and the integral of x^i (1-x)^j is i! j! / (i+j+1)!.  Only the
last division is rounded.
"""
from math import comb, factorial

import mpmath as mp

mp.mp.dps = 40

HEADER = ["level", "models", "which", "mean", "rank", "lo", "hi", "chances"]
PATH = "stats/ranks.csv"


def times(x, y):
    """The product of two lists of coefficients, by one multiplication of large numbers."""
    bits = max(max(x).bit_length() + max(y).bit_length() + min(len(x), len(y)).bit_length() + 1, 8)
    bits += -bits % 8
    size = bits // 8

    def packed(c):
        return int.from_bytes(b"".join(e.to_bytes(size, "little") for e in c), "little")
    count = len(x) + len(y) - 1
    product = (packed(x) * packed(y)).to_bytes(size * (count + 1), "little")
    return [int.from_bytes(product[i * size:(i + 1) * size], "little") for i in range(count)]


def plus(x, y):
    return [a + b for a, b in zip(x, y)]


def trial(k, n):
    """P(theta <= x) and P(theta > x) of Beta(k+1, n-k+1), of degree n+1."""
    terms = [comb(n + 1, i) for i in range(n + 2)]
    return [e if i > k else 0 for i, e in enumerate(terms)], [e if i <= k else 0 for i, e in enumerate(terms)]


def chances(models, which):
    """P(rank = 1), P(rank = 2), ..."""
    counts = [[1]]  # by how many are above
    for k, n in models[:which] + models[which + 1:]:
        below, above = trial(k, n)
        old = [times(c, below) for c in counts] + [None]
        new = [None] + [times(c, above) for c in counts]
        counts = [x if y is None else y if x is None else plus(x, y) for x, y in zip(old, new)]
    k, n = models[which]
    degree = len(counts[0]) - 1 + n
    density = factorial(n + 1) // (factorial(k) * factorial(n - k))
    powers = [factorial(i + k) * factorial(degree - i - k) for i in range(len(counts[0]))]
    return [mp.mpf(density * sum(e * p for e, p in zip(c, powers))) / factorial(degree + 1) for c in counts]


def bounds(p, tail):
    """Ranks with at most `tail` beyond them on either side; exactly `tail` counts as at most."""
    near = mp.mpf(10) ** -14
    lo = max(r for r in range(len(p)) if sum(p[:r]) <= tail + near) + 1
    hi = min(r for r in range(len(p)) if sum(p[r + 1:]) <= tail + near) + 1
    return lo, hi


def row(models, which, level):
    p = chances(models, which)
    assert abs(sum(p) - 1) < 1e-35
    k, n = models[which]
    rank = sum((r + 1) * x for r, x in enumerate(p))
    lo, hi = bounds(p, (1 - mp.mpf(level)) / 2)
    return [repr(level), " ".join(f"{k}/{n}" for k, n in models), str(which), mp.nstr(mp.mpf(k + 1) / (n + 2), 20),
            mp.nstr(rank, 20), str(lo), str(hi), " ".join(mp.nstr(x, 20) for x in p)]


def same(k, n, count):
    return [(k, n)] * count


CASES = [
    # LangChain's nine
    (0.95, [(k, 20) for k in (20, 18, 12, 10, 8, 5, 2, 1, 0)]),
    (0.95, [(14, 20), (13, 20), (11, 20)]),
    (0.95, [(0, 1)]), (0.5, [(1, 1), (0, 1)]), (0.95, same(3, 5, 4)), (0.999999, [(0, 3), (3, 3), (1, 3), (1, 3)]),
    (0.8, [(7, 10), (70, 100), (700, 1000)]), (0.95, [(0, 2000), (0, 20), (1, 2000)]),
    (0.95, [(1, 2), (50, 100), (1000, 2000), (1001, 2000)]), (0.5, same(9, 20, 6) + same(11, 20, 6)),
    (0.95, [(990, 1000), (999, 1000), (1000, 1000), (10, 10), (1, 1)]),
    (0.9, [(int(30 * (0.3 + 0.03 * i)), 30) for i in range(14)]),
    (0.95, [(300, 500), (301, 500), (302, 500), (310, 500), (330, 500)]),
]


def rows():
    return [(row, (models, which, level)) for level, models in CASES for which in range(len(models))]
