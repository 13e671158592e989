"""References for the intervals that hold at every number of questions.

Independent of the C code: gamma functions and bisection at 60 digits, and for a paired
difference the largest likelihood found by a search over p01 instead of its closed form.
"""
import mpmath as mp

mp.mp.dps = 60

HEADER = ["method", "k", "n", "level", "prior_a", "prior_b", "both", "only_a", "only_b", "neither", "lo", "hi"]
DIGITS = 25


def xlogy(x, y):
    return mp.mpf(0) if x == 0 else x * mp.log(y) if y > 0 else -mp.inf


def edge(inside, within, outside):
    """The point between two others at which `inside` changes, to 40 digits of its distance from the outer point or of itself."""
    for _ in range(2000):
        middle = (within + outside) / 2
        if inside(middle):
            within = middle
        else:
            outside = middle
        if abs(within - outside) < abs(middle) * mp.mpf(10) ** -35 or abs(within - outside) < mp.mpf(10) ** -50:
            return middle
    raise ValueError("no end")


def proportion(k, n, level, a, b):
    a, b = mp.mpf(a), mp.mpf(b)
    least = mp.log(mp.beta(a + k, b + n - k)) if n < 1000 else mp.loggamma(a + k) + mp.loggamma(b + n - k) - mp.loggamma(a + b + n)
    least += mp.log(1 - mp.mpf(level)) - (mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b))

    def inside(p):
        return xlogy(k, p) + xlogy(n - k, 1 - p) > least
    estimate = mp.mpf(k) / n
    # the search is for the logarithms of the ends, which may be tiny
    lo = mp.exp(edge(lambda t: inside(mp.exp(t)), mp.log(estimate), mp.mpf(-10000))) if k > 0 else mp.mpf(0)
    hi = 1 - mp.exp(edge(lambda t: inside(1 - mp.exp(t)), mp.log(1 - estimate), mp.mpf(-10000))) if k < n else mp.mpf(1)
    return lo, hi


def peak(f, lo, hi):
    """The largest value of a concave function, by golden section search."""
    ratio = (mp.sqrt(5) - 1) / 2
    x, y = hi - ratio * (hi - lo), lo + ratio * (hi - lo)
    fx, fy = f(x), f(y)
    for _ in range(170):
        if fx > fy:
            hi, y, fy = y, x, fx
            x = hi - ratio * (hi - lo)
            fx = f(x)
        else:
            lo, x, fx = x, y, fy
            y = lo + ratio * (hi - lo)
            fy = f(y)
    return max(fx, fy, f(lo), f(hi))


def paired(both, only_a, only_b, neither, level):
    rest = both + neither
    n = rest + only_a + only_b
    least = mp.log(2) + sum(mp.loggamma(x + 1) for x in (only_a, only_b, rest)) - mp.loggamma(n + 3) + mp.log(1 - mp.mpf(level))

    def inside(d):
        def ln_likelihood(p01):
            return xlogy(only_a, p01 + d) + xlogy(only_b, p01) + xlogy(rest, max(1 - 2 * p01 - d, mp.mpf(0)))
        return peak(ln_likelihood, max(mp.mpf(0), -d), (1 - d) / 2) > least
    estimate = mp.mpf(only_a - only_b) / n
    lo = edge(inside, estimate, mp.mpf(-1)) if not inside(mp.mpf(-1)) else mp.mpf(-1)
    hi = edge(inside, estimate, mp.mpf(1)) if not inside(mp.mpf(1)) else mp.mpf(1)
    return lo, hi


def row_of_proportion(k, n, level, a=1, b=1):
    lo, hi = proportion(k, n, level, a, b)
    return ["anytime", str(k), str(n), repr(level), repr(a), repr(b), *"0000", mp.nstr(lo, DIGITS), mp.nstr(hi, DIGITS)]


def row_of_pairs(cells, level):
    lo, hi = paired(*cells, level)
    return ["anytime_paired_diff", "0", "0", repr(level), "1", "1", *map(str, cells), mp.nstr(lo, 18), mp.nstr(hi, 18)]


PROPORTIONS = [
    (18, 20, 0.95), (20, 20, 0.95), (0, 10, 0.95), (700, 1000, 0.95), (0, 1, 0.95), (1, 1, 0.5), (1, 2, 0.999999), (1, 2, 1e-6),
    (3, 10, 0.9), (500, 1000, 0.5), (1, 10**6, 0.95), (10**6 - 1, 10**6, 0.99), (0, 10**9, 0.95), (10**9, 10**9, 0.95),
    (5 * 10**8, 10**9, 0.95), (1, 9 * 10**15, 0.95), (45 * 10**14, 9 * 10**15, 0.999999),
    (18, 20, 0.95, 0.5, 0.5), (0, 5, 0.95, 0.5, 0.5), (3, 7, 0.95, 2.5, 30.0), (3, 7, 0.95, 1e6, 1e6), (3, 7, 0.95, 0.001, 10.0),
    (700, 1000, 0.9, 80.0, 20.0), (3, 7, 0.95, 1e-300, 1e-300), (5, 5, 0.95, 1e15, 1e-5),
]
PAIRS = [
    ((75, 25, 2, 0), 0.95), ((53, 16, 8, 9), 0.95), ((1, 0, 0, 0), 0.95), ((0, 1, 0, 0), 0.95), ((0, 0, 1, 0), 0.95), ((0, 1, 1, 0), 0.5),
    ((0, 9, 0, 0), 0.95), ((12, 6, 0, 2), 0.95), ((100, 0, 0, 100), 0.95), ((5, 3, 3, 5), 0.999999), ((5, 3, 3, 5), 1e-6), ((0, 40, 2, 1), 0.9),
    ((500, 120, 90, 290), 0.95), ((10**6, 3000, 2900, 10**6), 0.95), ((10**9, 10**6, 0, 10**9), 0.95), ((10**15, 10, 12, 10**15), 0.95),
    ((0, 10**6, 1, 0), 0.95), ((2, 10**4, 10**4, 0), 0.99),
]


def rows():
    return [(row_of_proportion, c) for c in PROPORTIONS] + [(row_of_pairs, c) for c in PAIRS]
