"""References for icc_ci: quantiles of rho = 1/(1+d) in the hierarchy of hierarchy.py under 'icc'.

The density of v = ln d at any v is an integral over logit theta on a line of its own (hierarchy.Lines).  Over v there
are composite Gauss-Legendre panels; a bound is found by integrating part of a panel anew.  Everything is done twice,
the second time with finer panels on both axes, and the two must agree within TOLERANCE. Small cases are also compared
with mpmath's quadrature over (rho, theta), and one attempt at every question with the uniform distribution.
"""
import copy
import functools

import mpmath as mp
import numpy as np
from scipy import optimize, special

import hierarchy

HEADER = ["method", "level", "lo", "hi", "rows"]
TOLERANCE = 1e-11


class Correlation:
    """The posterior of v = ln d by panels."""

    def __init__(self, text, panels, order, fineness):
        self.lines = hierarchy.Lines(text, "icc", fineness, 50.0)
        self.fineness = fineness
        self.x, self.w = special.roots_legendre(order)
        self.edges = np.linspace(self.lines.v.min(), self.lines.v.max(), panels + 1)
        self.mass = np.array([self.between(a, b) for a, b in zip(self.edges[:-1], self.edges[1:])])
        self.total = self.mass.sum()

    def density(self, v):
        """Of v, but for a factor: lines of their own at these values."""
        other = copy.copy(self.lines)
        other.v = np.asarray(v, float)
        scale = other.scale
        other.place_panels(other.cut)
        s, weight = other.nodes(other.edges[:, :-1], other.edges[:, 1:])
        return np.sum(np.exp(other.f(s, other.v[:, None, None]) - scale) * weight, axis=(1, 2)).astype(float)

    def between(self, low, high):
        half = (high - low) / 2
        return float(np.sum(self.density((low + high) / 2 + half * self.x) * self.w)) * half

    def bound(self, tail, upper):
        """The v with that share of the mass above it, or below it, summed from that side."""
        mass = self.mass[::-1] if upper else self.mass
        edges = self.edges[::-1] if upper else self.edges
        beyond = np.concatenate([[0.0], np.cumsum(mass)])
        i = int(np.searchsorted(beyond, tail * self.total)) - 1
        excess = lambda v: np.log((beyond[i] + self.between(*sorted((edges[i], v)))) / (tail * self.total))
        start = edges[i] + 1e-9 * (edges[i + 1] - edges[i])
        return optimize.brentq(excess, start, edges[i + 1], xtol=1e-14, rtol=1e-14)

    def interval(self, level):
        tail = (1 - level) / 2
        return [float(special.expit(-self.bound(tail, upper))) for upper in (True, False)]


@functools.lru_cache(maxsize=4)
def pair(text):
    return Correlation(text, 70, 14, 1.0), Correlation(text, 100, 18, 1.3)


def share_below(text, r):
    """P(rho <= r) by mpmath."""
    clusters = hierarchy.parse(text)

    def likelihood(rho, theta):
        d = (1 - rho) / rho
        return mp.fprod((mp.rf(d * theta, k) * mp.rf(d * (1 - theta), n - k) / mp.rf(d, n)) ** m for k, n, m in clusters)

    along = lambda rho: mp.quad(lambda theta: likelihood(rho, theta), [0, 0.1, 0.5, 0.9, 1])
    with mp.workdps(20):
        below, above = mp.quad(along, [0, r / 2, r]), mp.quad(along, [r, (1 + r) / 2, 1])
        return below / (below + above)


def icc(level, text, check):
    if all(n == 1 for _, n, _ in hierarchy.parse(text)):
        bounds = [(1 - level) / 2, 1 - (1 - level) / 2]
    else:
        sparse, bounds = (c.interval(level) for c in pair(text))
        assert np.max(np.abs(np.subtract(sparse, bounds))) < TOLERANCE, (text, level, sparse, bounds)
    if check:
        for bound, p in zip(bounds, ((1 - level) / 2, (1 + level) / 2)):
            assert abs(share_below(text, mp.mpf(bound)) - p) < 1e-10, (text, level, bound)
    return ["icc", repr(level), *map(repr, bounds), text]


LEVELS = (0.95, 0.5, 0.999999)
SMALL = "0/2 1/2 2/2"
CASES = [("0/3x5 1/3x2 2/3x3 3/3x8", False), ("5/5x20", False), ("0/1x4 1/1x6", False), ("2/4x12", False), (SMALL, True),
         # one question, asked twice, often, very often; all wrong; one right of many
         ("1/2", True), ("2/2", False), ("3/5", False), ("371/1000", False), ("500000000/1000000000", False), ("0/1000000", False), ("1/1000000", False),
         # mostly one attempt; different numbers of attempts; many questions; many attempts, with nearly equal and with very different
         # questions
         ("1/2 0/1x20 1/1x79", False), ("1/2x3 0/7 19/20 30/100", False), ("0/5x1500 1/5x1000 2/5x1000 3/5x1500 4/5x2000 5/5x3000", False),
         ("499/1000x30 501/1000x30 500/1000x40", False), ("0/8x300 8/8x700", False), ("0/8x300 1/8 8/8x699", False), ("2/2x10000", False)]


def rows():
    return [(icc, (level, text, check and level == 0.95)) for text, check in CASES for level in LEVELS]
