"""References for the accuracy behind a judge's verdicts.

Independent of the C code, which integrates a density: the distribution function of theta = q u + (1-q) v, as E_q of the
integral of v's density times u's distribution function, by dense Gauss-Legendre rules between the points where either
is not smooth, with scipy's beta functions; a bound is a bracketed root.
"""
import numpy as np
from scipy import optimize, special, stats

HEADER = ["method", "right_right", "right_wrong", "wrong_right", "wrong_wrong", "judged_right", "judged", "level", "lo", "hi"]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
SHARES = [1e-25, 1e-18, 1e-14, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 0.02, 0.15, 0.5]


def marks(a, b):
    """Quantiles from one end to the other."""
    return np.concatenate([special.btdtri(a, b, SHARES), (1 - special.btdtri(b, a, SHARES))[::-1]])


def parts(points, least, most):
    points = np.unique(np.concatenate([[least, most], points[(points > least) & (points < most)]]))
    half = np.diff(points) / 2
    x = points[:-1, None] + half[:, None] * (NODES + 1)
    return x.ravel(), (half[:, None] * WEIGHTS).ravel()


class Judge:
    def __init__(self, rr, rw, wr, ww, judged_right, judged):
        self.q = (1 + rr + rw + judged_right, 1 + wr + ww + judged - judged_right)
        self.u, self.v = (1 + rr, 1 + rw), (1 + wr, 1 + ww)
        self.marks = {name: marks(*getattr(self, name)) for name in "quv"}

    def below(self, x, q):
        """P(q u + (1-q) v <= x) at one q."""
        least, most = max(0, (x - q) / (1 - q)), min(1, x / (1 - q))
        sure = special.btdtr(*self.v, least) if least > 0 else 0
        v, weight = parts(np.concatenate([self.marks["v"], (x - q * self.marks["u"]) / (1 - q)]), least, most)
        u = np.clip((x - (1 - q) * v) / q, 0, 1)
        return sure + np.sum(weight * stats.beta.pdf(v, *self.v) * special.btdtr(*self.u, u))

    def cdf(self, x):
        """The ends of the panels of q: its own quantiles, x and 1-x, and the q at which u and v are at their quantiles."""
        points = [self.marks["q"], [x, 1 - x]]
        for u in self.marks["u"][::3]:
            v = self.marks["v"][::3]
            with np.errstate(divide="ignore", invalid="ignore"):
                points.append(np.nan_to_num((x - v) / (u - v), nan=-1, posinf=-1, neginf=-1)[::2])
        edges = self.marks["q"]
        q, weight = parts(np.concatenate(points), max(edges[0], 1e-300), min(edges[-1], 1 - 1e-16))
        density = stats.beta.pdf(q, *self.q)
        keep = density * weight > 1e-17
        return sum(w * d * self.below(x, y) for y, w, d in zip(q[keep], weight[keep], density[keep]))


def row(counts, level):
    judge = Judge(*counts)
    tail = (1 - level) / 2
    bounds = [optimize.brentq(lambda x: judge.cdf(x) - p, 1e-9, 1 - 1e-9, xtol=1e-12, rtol=1e-13) for p in (tail, 1 - tail)]
    return ["judged", *map(str, counts), repr(level), *map(repr, bounds)]


CASES = [
    ((45, 5, 4, 46, 700, 1000), 0.95), ((0, 0, 0, 0, 0, 1), 0.95), ((0, 0, 0, 0, 1, 1), 0.5), ((0, 0, 0, 0, 70, 100), 0.95),
    ((20, 0, 0, 0, 0, 0), 0.95), ((20, 0, 0, 20, 0, 0), 0.99), ((10, 0, 0, 10, 50, 100), 0.95), ((5, 1, 0, 4, 0, 0), 0.95),
    ((1, 0, 0, 0, 0, 0), 0.95), ((0, 0, 4, 16, 90, 100), 0.95), ((30, 30, 30, 30, 50, 100), 0.9), ((0, 20, 20, 0, 3, 5), 0.95),
    ((3, 1, 1, 3, 600, 1000), 0.95), ((90, 10, 20, 80, 0, 0), 0.999), ((8, 2, 1, 9, 180, 300), 0.5), ((17, 3, 2, 18, 12, 20), 0.95),
    ((150, 2, 30, 18, 4000, 5000), 0.95), ((0, 3, 0, 2, 9, 10), 0.95), ((30, 69, 101, 0, 348, 800), 0.95),
    ((1000, 0, 0, 0, 1000, 1000), 0.95), ((0, 0, 0, 300, 0, 700), 0.99),
]


def rows():
    return [(row, case) for case in CASES]
