"""References for the sign-flip test of paired scores: stats/sign_flip.csv, read by tests/numeric/sign_flip.c.

Independent of the C code: T = sum s_i d_i with fair signs, p = P(|T| > |t|) + P(|T| = |t|)/2 = 2 P(X < x) + P(X = x),
X the sum of a random half of the |d| and x the smaller of the sums of either sign.

 - whole(): differences that are whole multiples of a unit, by polynomials over whole numbers, exact.
 - halves(): decimals of nine places, all sums of both halves in whole numbers, exact.
 - one_large(): a size that came up to 10^15 times beside a few others: every sum of those, and the binomial
   distribution from mpmath, by its sum or by the quadrature of mcnemar.py.
 - convolved(): multiples of a unit in long doubles, a binomial per size; all terms are positive.
 - listed(): fractions rounded to some places, every different sum in a list with its probability in long doubles.

The rows paired_p are for the method that is exact, paired_p_inverted for the inversion of the characteristic function, within 1e-7.
"""
import collections
import fractions
import itertools
import random

import mpmath as mp
import numpy as np

import mcnemar

mp.mp.dps = 40

HEADER = ["method", "p", "rows"]
PATH = "stats/sign_flip.csv"
PLACES = 10**9


def text_of(rows):
    return " ".join(repr(float(d)) + (f"x{n}" if n > 1 else "") for d, n in rows)


def output(method, p, rows):
    return [method, mp.nstr(p, 20), text_of(rows)]


def quotient(p):
    return mp.mpf(p.numerator) / p.denominator


def split(rows):
    """Sizes with their times, and x."""
    times = collections.Counter()
    for d, n in rows:
        times[abs(d)] += n
    times.pop(0, None)
    sides = [sum(d * n for d, n in rows if d > 0), -sum(d * n for d, n in rows if d < 0)]
    return times, min(sides), sides[0] == sides[1]


def whole(method, unit, rows):
    """rows of whole multiples of 1/unit."""
    times, x, even = split(rows)
    counts = [1] + [0] * x
    for d, n in times.items():
        for _ in range(n):
            for i in range(x, d - 1, -1):
                counts[i] += counts[i - d]
    p = fractions.Fraction(1 if even else 2 * sum(counts[:-1]) + counts[-1], 1 if even else 2 ** sum(times.values()))
    return output(method, quotient(p), [(d / unit, n) for d, n in rows])


def subset_sums(sizes):
    sums = np.zeros(1, np.int64)
    for d in sizes:
        sums = np.sort(np.concatenate([sums, sums + d]))
    return sums


def halves(method, diffs):
    sizes, x, _ = split([(round(v * PLACES), 1) for v in diffs])
    sizes = list(sizes.elements())
    a, b = subset_sums(sizes[::2]), subset_sums(sizes[1::2])
    total = int(np.searchsorted(b, x - a, "left").sum()) + int(np.searchsorted(b, x - a, "right").sum())
    return output(method, quotient(fractions.Fraction(total, 2 ** len(sizes))), [(v, 1) for v in diffs])


def twice_below(n, y):
    """2 P(Y < y) + P(Y = y) of Y ~ Bin(n, 1/2), and P(Y = y) on its own."""
    if y < 0 or y > n:
        return mp.mpf(0 if y < 0 else 2), mp.mpf(0)
    at = mp.exp(mp.loggamma(n + 1) - mp.loggamma(y + 1) - mp.loggamma(n - y + 1) - n * mp.log(2))
    if n > 10**5 and 0 < y < n:
        return (mcnemar.by_quadrature(y, n) if 2 * y <= n else 2 - mcnemar.by_quadrature(n - y, n)), at
    return 2 * mp.fsum(mp.binomial(n, i) for i in range(y)) / mp.mpf(2) ** n + at, at


def one_large(method, rows):
    """The size that came most is 1; the others are doubles, all in all few."""
    times, x, _ = split([(fractions.Fraction(d), n) for d, n in rows])
    many = times.pop(1)
    total = mp.mpf(0)
    for taken in itertools.product(*(range(n + 1) for n in times.values())):
        weight = mp.mpf(1)
        for n, k in zip(times.values(), taken):
            weight *= mp.binomial(n, k) / mp.mpf(2) ** n
        left = x - sum(d * k for d, k in zip(times, taken))
        below, at = twice_below(many, left.numerator // left.denominator)
        total += weight * (below if left.denominator == 1 else below + at)
    return output(method, total, rows)


def convolved(method, unit, rows):
    times, x, _ = split(rows)
    p = np.zeros(x + 1, np.longdouble)
    p[0] = 1
    for d, n in times.items():
        if n < 50:
            for _ in range(n):
                p[d:] = p[d:] + p[:-d]
                p /= 2
            continue
        weights = np.zeros(d * n + 1, np.longdouble)
        weights[d * (n // 2)] = np.longdouble(mp.nstr(mp.binomial(n, n // 2) / mp.mpf(2) ** n, 25))
        for k in range(n // 2, n):  # outward from the mode, below which 2^-n underflows
            weights[d * (k + 1)] = weights[d * k] * (n - k) / (k + 1)
        for k in range(n // 2, 0, -1):
            weights[d * (k - 1)] = weights[d * k] * k / (n - k + 1)
        p = np.convolve(p, weights[:x + 1])[:x + 1]
    total = 2 * p[:-1].sum() + p[-1]
    return [method, np.format_float_scientific(total, precision=19), text_of([(d / unit, n) for d, n in rows])]


def listed(method, places, parts, count, seed):
    """Shares of `parts` that were rounded."""
    r = random.Random(seed)
    diffs = [round(r.randint(-parts, parts + 1) / parts, places) for _ in range(count)]
    times, x, _ = split([(round(d * 10**places), n) for d, n in collections.Counter(diffs).items()])
    sums, p = np.zeros(1, np.int64), np.ones(1, np.longdouble)
    for d in times.elements():
        both, weights = np.concatenate([sums, sums + d]), np.concatenate([p, p]) / 2
        order = np.argsort(both, kind="stable")
        sums, starts = np.unique(both[order], return_index=True)
        p = np.add.reduceat(weights[order], starts)
        sums, p = sums[sums <= x], p[sums <= x]
    total = 2 * p[sums < x].sum() + p[sums == x].sum()
    return [method, np.format_float_scientific(total, precision=19), text_of(sorted(collections.Counter(diffs).items()))]


def drawn(seed, count, shape):
    """Random differences of a given shape, with nine decimals."""
    r = random.Random(seed)
    draw = {"normal": lambda: r.gauss(0.2, 1), "shifted": lambda: r.gauss(1, 1), "skew": lambda: r.random() ** 4 - 0.1,
            "one large": lambda: r.gauss(0, 0.01)}[shape]
    return [round(draw(), 9) for _ in range(count)] + [1.0] * (shape == "one large")


def drawn_whole(seed, count, most, shift=0.1):
    """Random whole numbers from -most to most, as rows."""
    r = random.Random(seed)
    found = collections.Counter(round(max(-1, min(1, r.gauss(shift, 0.5))) * most) for _ in range(count))
    return sorted(found.items())


WHOLE = [
    (1, [(1, 1)]), (1, [(1, 16), (-1, 8), (0, 62)]), (1, [(0, 5)]), (1, [(1, 3), (-1, 3)]), (2, [(1, 1), (2, 1)]), (2, [(1, 2), (-2, 1)]),
    (4, [(1, 3), (-2, 1), (3, 2), (4, 2), (0, 7)]), (3, [(1, 4), (-1, 2), (2, 3), (-3, 1)]), (10, [(1, 2), (2, 2), (-3, 1), (7, 1), (-9, 1)]),
    (1, [(5, 1), (3, 1), (-8, 1), (1, 9)]), (1, [(100, 1), (1, 20), (-1, 2)]), (7, [(1, 1), (2, 1), (3, 1), (4, 1), (-5, 1), (6, 1)]),
    (1, [(1, 300), (2, 300)]), (1, [(1, 600), (2, 370), (-3, 10)]), (1, [(1, 1500), (2, 1), (-1, 200)]), (1000, [(123, 1), (-77, 2), (451, 1), (999, 1)]),
    (1, [(1, 2), (2, 3), (-(10**6), 1), (10**6 + 4, 2)]),
] + [(most, drawn_whole(seed, count, most)) for seed, (count, most) in enumerate(
    ((15, 4), (15, 12), (20, 4), (30, 10), (40, 100), (50, 4), (60, 100), (100, 4), (100, 10), (250, 4), (400, 3), (500, 2)))]
EXACT = [(seed, n, shape) for seed, (n, shape) in enumerate(
    ((2, "normal"), (5, "normal"), (9, "skew"), (12, "shifted"), (15, "one large"), (18, "normal"), (20, "skew"), (22, "normal"), (27, "shifted"),
     (31, "normal"), (34, "one large"), (36, "skew"), (40, "normal"), (39, "skew"),
     (42, "shifted"), (44, "skew")))]
TOO_MANY = [(seed, n, shape) for seed, (n, shape) in enumerate(
    ((41, "normal"), (41, "skew"), (42, "one large"), (42, "normal"), (43, "normal"), (44, "normal"), (44, "one large"), (45, "normal")))]
ROOT = 2**0.5
OFTEN = [
    [(1, 5100), (-1, 4900), (0.25, 2), (-0.5, 1)], [(1, 10**5 + 400), (-1, 10**5), (ROOT, 2), (-0.7, 1)], [(1, 10**6), (-1, 10**6 - 3000), (0.25, 2), (-0.5, 3)],
    [(1, 10**8), (-1, 10**8 - 10**4), (0.25, 1), (-0.25, 2)],
]
LARGE = [
    [(1, 10**9), (-1, 10**9 - 10**5), (ROOT, 1), (-0.3, 1)],
    [(1, 10**9), (-1, 10**9 + 10**6), (0.5, 4)], [(1, 4 * 10**15), (-1, 4 * 10**15 - 10**8), (0.75, 3)],
]
CONVOLVED = [("paired_p", most, drawn_whole(seed, count, most, shift)) for seed, (count, most, shift) in enumerate(
    ((20000, 4, 0.001), (20000, 4, 0.05), (60000, 2, 0.004), (300, 1009, 0.1), (300, 1009, 0.5), (1000, 501, 0.02), (8000, 10, 0.01),
     (2500, 101, 0.01), (3000, 499, 0.03)))]

ROUNDED = [(6, 6, 500, 1), (9, 7, 500, 2), (9, 3, 700, 3)]


def rows():
    jobs = [(whole, ("paired_p", unit, data)) for unit, data in WHOLE]
    # as subtraction leaves them: 0.3 - 0.1 is not 0.2
    jobs.append((rounded, ()))
    jobs += [(halves, ("paired_p", drawn(*case))) for case in EXACT]
    jobs += [(halves, ("paired_p_inverted", drawn(*case))) for case in TOO_MANY]
    jobs += [(one_large, ("paired_p", data)) for data in OFTEN] + [(one_large, ("paired_p_inverted", data)) for data in LARGE]
    jobs += [(convolved, case) for case in CONVOLVED]
    jobs += [(listed, ("paired_p", *case)) for case in ROUNDED]
    return jobs


def rounded():
    pairs = [(3, 1), (9, 7), (1, 0), (10, 8), (2, 6), (7, 4), (10, 9), (0, 2), (6, 5), (8, 3), (5, 3), (9, 8)]
    _, p, _ = whole("paired_p", 10, [(a - b, 1) for a, b in pairs])
    return ["paired_p", p, text_of([(a / 10 - b / 10, 1) for a, b in pairs])]


if __name__ == "__main__":
    for function, args in rows():
        print(",".join(function(*args))[:150])
