"""References for agreement of more than two categories or raters: kappa_table_ci, ac1_ci, alpha_ci.

P(coefficient <= t) is that of a linear functional of a Dirichlet: the tangent, at p*, of (1-t) (disagreement expected) less
the disagreement seen, with the mean of the term left out, where p* is the mean tilted by the saddle point of that functional.
Here t is given and p* is iterated with damping, the saddle point found by Brent's method, and the functional inverted by the
trapezoid rule on a straight line through it; two tables are inverted by mpmath too.  The bound is Brent's in t.
Lower and upper bound have weights of their own: the imagined disagreement is the lower one's, but for AC1.  Alpha of pairs of
two categories is exact: agreement.py's integral, without the share of only_a.
"""
import itertools

import mpmath as mp
import numpy as np
from scipy import optimize

import agreement

HEADER = ["method", "level", "weights", "metric", "lo", "hi", "rows"]


def below_zero(a, x):
    """P(sum G x <= 0), G ~ Gamma(a) independent."""
    x = x / np.abs(x).max()
    s = saddle(a, x)
    sigma = 1 / np.sqrt((a * (x / (1 - s * x)) ** 2).sum())
    end = 1 / (x.max() if s >= 0 else x.min())
    c = np.copysign(max(abs(s), min(0.6 * sigma, abs(end) / 2)), end)
    last = None
    for n in (100, 200, 400, 800, 1600, 3200, 6400, 12800):
        u = (np.arange(n) + 0.5) * (min(6 + 40 / a.sum(), 60) / n)
        z = c + 1j * sigma * np.sinh(u)
        f = np.exp(-(a[:, None] * np.log(1 - np.outer(x, z))).sum(0)) / z
        value = (f.real * sigma * np.cosh(u)).sum() * (u[1] - u[0]) / np.pi
        if last is not None and abs(value - last) < 1e-13:
            break
        last = value
    return 1 - value if c > 0 else -value


def saddle(a, x):
    first = lambda s: (a * x / (1 - s * x)).sum()
    lo, hi = 1 / x.min(), 1 / x.max()
    return optimize.brentq(first, lo * (1 - 1e-12), hi * (1 - 1e-12), xtol=1e-300, rtol=8.9e-16)


def by_mpmath(a, x):
    with mp.workdps(25):
        a, x = [mp.mpf(v) for v in a], [mp.mpf(v) for v in x]
        c = 1 / (3 * max(x))
        f = lambda t: (mp.exp(-mp.fsum(w * mp.log(1 - (c + 1j * t) * v) for w, v in zip(a, x))) / (c + 1j * t)).real
        scale = 1 / mp.sqrt(mp.fsum(w * v * v for w, v in zip(a, x)))
        return 1 - mp.quad(f, [0] + [scale * mp.mpf(2) ** k for k in range(-2, 60)]) / mp.pi


class Functional:
    """Weights a of the atoms, those of the lower and of the upper bound; seen; expected(p) by kind."""

    def excess(self, t, settled=1e-11):
        p, there = self.a / self.a.sum(), self.a > 0
        for i in range(5000):
            x = (1 - t) * self.expected(p) - self.seen
            new = np.zeros(len(p))
            new[there] = self.a[there] / (1 - saddle(self.a[there], x[there]) * x[there])
            new /= new.sum()
            moved = np.abs(new[there] / p[there] - 1).max()
            p = p + (new - p) * (0.6 if i < 500 else 0.1)
            if moved < 1e-13:
                break
        assert moved < settled, (t, moved)
        return ((1 - t) * self.expected(p) - self.seen)[there]

    def below(self, t, settled=1e-11):
        x = self.excess(t, settled)
        return below_zero(self.a[self.a > 0], x) if x.min() < 0 < x.max() else float(x.max() <= 0)

    def interval(self, level, check=False, least=None):
        """Bounds below `least` are `least`."""
        tail, ends = (1 - level) / 2, []
        for p, self.a in zip((tail, 1 - tail), self.weights):
            if self.a @ self.seen == 0:
                ends.append(1.0)
                continue
            if least is not None:
                x = (1 - least) * self.expected(self.a / self.a.sum()) - self.seen
                there = self.below(least, 1e-6) if x[self.a > 0].min() < 0 else 0.0
                assert abs(there - p) > 1e-4 * min(p, 1 - p), (there, p)
                if there >= p:
                    ends.append(least)
                    continue
            start, step = 1 - (self.a @ self.seen) / (self.a @ self.expected(self.a / self.a.sum())), 0.05
            side = -1 if p < 0.5 else 1
            far = start
            while side * (self.below(far) - p) < 0:
                last, far = far, far + side * step if side < 0 else far + (1 - far) / 2
            ends.append(optimize.brentq(lambda t: self.below(t) - p, *sorted((last, far)), xtol=1e-14, rtol=1e-14))
            if check:
                assert abs(by_mpmath(self.a[self.a > 0], self.excess(ends[-1])) - p) < 1e-11
        return [float(e) for e in ends]


class Table(Functional):
    def __init__(self, counts, weights="nominal", ac1=False):
        n = np.array(counts, float)
        self.k, self.ac1 = len(n), ac1
        steps = np.abs(np.subtract.outer(np.arange(self.k), np.arange(self.k)))
        self.D = {"nominal": (steps > 0) * 1.0, "linear": steps / (self.k - 1), "quadratic": (steps / (self.k - 1)) ** 2}[weights]
        apart = np.where(steps > 0, 1.0 if weights == "nominal" else 1 / np.maximum(steps, 1), 0)
        agree = (n + np.eye(self.k) / self.k).ravel()
        both = agree + (apart / apart.sum()).ravel()
        self.weights = (both, both if ac1 else agree)
        self.seen = self.D.ravel()

    def expected(self, p):
        p, k, over = p.reshape(self.k, self.k), self.k, self.a.sum() + 1
        r, c = p.sum(1), p.sum(0)
        if self.ac1:
            m = (r + c) / 2
            z = [(np.eye(k)[a] + np.eye(k)[b]) / 2 for a, b in itertools.product(range(k), repeat=2)]
            spread = sum(w * v @ v for w, v in zip(p.ravel(), z)) - m @ m  # of m'm, times A+1
            return 1 - (1 - (m[:, None] + m[None, :] - m @ m + spread / over)).ravel() / (k - 1)
        mean = r @ self.D @ c
        return (self.D.T @ r)[None, :].repeat(k, 0).ravel() + (self.D @ c)[:, None].repeat(k, 1).ravel() - mean + ((p * self.D).sum() - mean) / over


class Units(Functional):
    def __init__(self, units, values, metric, times=None):
        U, k = np.array(units, float), len(values)
        m, times = U.sum(1), np.ones(len(U)) if times is None else np.array(times, float)
        size = times @ m / times.sum()
        v = np.array(values, float)
        if metric == "ordinal":
            totals = U.sum(0)
            between = lambda a, b: totals[min(a, b):max(a, b) + 1].sum() - (totals[a] + totals[b]) / 2
            self.D = np.array([[0 if a == b else between(a, b) ** 2 for b in range(k)] for a in range(k)])
        else:
            self.D = 1 - np.eye(k) if metric == "nominal" else np.subtract.outer(v, v) ** 2
        imagined = [(size * np.eye(k)[a], 1 / k) for a in range(k)]
        pairs = list(itertools.combinations(range(k), 2))
        share = np.array([1.0 if metric == "nominal" else 1 / (b - a) for a, b in pairs])
        imagined += [(size / 2 * (np.eye(k)[a] + np.eye(k)[b]), w) for (a, b), w in zip(pairs, share / share.sum())]
        self.N = np.vstack([U, *(n for n, _ in imagined)])
        both = np.concatenate([times, [w for _, w in imagined]])
        self.weights = (both, np.where(np.arange(len(both)) < len(U) + k, both, 0))
        own = np.einsum("uc,cd,ud->u", U, self.D, U) / (m - 1)
        self.seen = np.concatenate([own, np.zeros(k), [size * self.D[a, b] for a, b in pairs]])
        self.m = self.N.sum(1)

    def expected(self, p):
        size = p @ self.m
        pi = p @ self.N / size
        chance = pi @ self.D @ pi
        z = self.N - self.m[:, None] * pi
        q = p @ np.einsum("uc,cd,ud->u", z, self.D, z) / (size**2 * (self.a.sum() + 1))
        return 2 * self.N @ self.D @ pi - self.m * chance + self.m * q


class Pairs(agreement.Cells):
    """Alpha of pairs of ratings of two categories, all of them d, agreements s among them: exactly."""

    def __init__(self, both, differ, neither):
        self.n11, self.n10, self.n01, self.n00 = both + 0.5, differ / 2, differ / 2, neither + 0.5

    def alpha(self, t, panels):
        e = 1 - t
        return self.over_d(panels, [e / 2, 2 - 2 / e], lambda d, co: self.share_beyond(d, co, t, 1.0))


def pairs_interval(counts, level):
    tail, ends, differ = (1 - level) / 2, [], counts[1]
    for upper in (False, True):
        if upper and differ == 0:
            return [*ends, 1.0]
        cells = Pairs(counts[0], differ + (not upper), counts[2])
        gap = lambda z, panels: np.log(max(cells.alpha(np.tanh(z), panels)[int(upper)], 1e-300) / tail)
        at = optimize.brentq(gap, -16, 16, args=(agreement.COARSE,), xtol=1e-13)
        assert abs(gap(at, agreement.FINE)) < agreement.TOLERANCE, (counts, level, upper)
        ends.append(float(np.tanh(at)))
    return ends


T3 = [[8, 1, 0], [1, 5, 1], [0, 1, 3]]
T5 = [[4, 1, 0, 0, 0], [1, 5, 1, 0, 0], [0, 2, 6, 2, 0], [0, 0, 1, 8, 2], [0, 0, 0, 2, 5]]
P3 = [[7, 0, 0], [0, 7, 0], [0, 0, 6]]
ONE_SIDED = [[90, 4, 1], [6, 0, 0], [0, 0, 0]]
LARGE = [[40000000, 300000, 1000], [200000, 30000000, 40000], [5000, 60000, 20000000]]
KRIPPENDORFF = ["11-1", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", "-555", "--11", "--3-"]
SURE = [[1, 1], [2, 2, 2], [5, 5], [3, 3], [5, 5, 5, 5]]
BINARY = [[[0, 0]] * 4 + [[0, 1]] * 3 + [[1, 1]] * 8, [[0, 1]] * 6 + [[1, 1]], [[0, 0]] * 3 + [[1, 1]] * 9, [[0, 0]] * 40 + [[1, 0]] + [[1, 1]] * 30]
HALF = [[1, 1.5, 4], [1, 1], [4, 4, 4, 4], [1.5, 1], [4, 1.5], [1.5, 1.5, 1.5], [1, 1, 1]]


def cells(counts):
    return " ".join(f"{a + 1}/{b + 1}/{n}" for a, row_ in enumerate(counts) for b, n in enumerate(row_) if n)


def table(counts, weights, level, check=False):
    return ["kappa_table_ci", repr(level), weights, "nominal", *map(repr, Table(counts, weights).interval(level, check)), cells(counts)]


def ac1(counts, level):
    text = " ".join(f"{a + 1}/{b + 1}x{n}" for a, row_ in enumerate(counts) for b, n in enumerate(row_) if n)
    return ["ac1_ci", repr(level), "nominal", "nominal", *map(repr, Table(counts, ac1=True).interval(level)), text]


def alpha(ratings, metric, level):
    """Ratings by unit; a unit with one rating is among the rows and not in the reference."""
    kept = [r for r in ratings if len(r) > 1]
    values = sorted({v for r in kept for v in r})
    units = [[r.count(v) for v in values] for r in kept]
    exact = len(values) == 2 and all(len(r) == 2 for r in kept)
    found = (pairs_interval([sum(u == s for u in units) for s in ([0, 2], [1, 1], [2, 0])], level) if exact
             else Units(units, values, metric).interval(level))
    text = " ".join(f"{v}/{u}x1" for u, r in enumerate(ratings, 1) for v in r)
    return ["alpha_ci", repr(level), "nominal", metric, *map(repr, found), text]


def rows():
    kripp = [[int(c) for c in u if c != "-"] for u in KRIPPENDORFF]
    t3 = [[a + 1, b + 1] for a in range(3) for b in range(3) for _ in range(T3[a][b])]
    kinds = ("nominal", "linear", "quadratic")
    return ([(table, (t, w, 0.95, t is T3 and w == "nominal")) for t in (T3, T5, P3) for w in kinds]
            + [(table, (T3, w, level)) for w in kinds for level in (0.5, 0.999)] + [(table, (LARGE, w, 0.95)) for w in kinds]
            + [(ac1, (t, level)) for t in (T3, T5, P3, [[9, 0, 0], [0, 0, 1], [0, 0, 0]], [[1, 4, 1], [5, 1, 2], [1, 3, 1]]) for level in (0.5, 0.95, 0.99)]
            + [(alpha, (u, m, level)) for u in (kripp, t3, HALF, SURE) for m in ("nominal", "ordinal", "interval") for level in (0.95, 0.5)]
            + [(alpha, (u, "nominal", level)) for u in BINARY for level in (0.95, 0.5, 0.999)])
