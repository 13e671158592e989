"""References for macro_ci: the mean of the tasks' accuracies under the hierarchy, in real space.

hierarchy.py gives nodes of (logit theta, ln d).  At each, every task's Beta is put on a grid of [0,1] with cells of width
h: the mass of a cell goes to its two ends so that its mean stays where it is, from two incomplete beta functions an edge.
The sum of the tasks is then an exact convolution of masses, and its distribution at each node is added up.  Only the grid
errs, by the variance that the splitting adds, of order h^2; the bound is extrapolated from three grids, each half as wide,
and must not move by more than TOLERANCE between the last two extrapolations.  No characteristic function is inverted and
no node is shared with the extension.

Where no task is mixed M may be at an end but for less than any cell.  If every task is within END of it with at least the
chance of the tail, so is M, and the bound is END / 2 from it, give or take as much.
"""
import functools

import numpy as np
from scipy import fft, special

import hierarchy

HEADER = ["method", "prior", "level", "lo", "hi", "rows"]
TOLERANCE = 3e-7
NEGLIGIBLE = 1e-12
FAR = 5000
END = 1e-7
LEVELS = (0.8, 0.9, 0.95, 0.99)
FAR_OUT = 0.999999

# (tasks, cells of the widest grid); bounds that lie in an end's first cells are beyond it
CASES = [
    ("0/2 1/4 3/5 5/5", 128),
    ("1/1 0/1", 256),
    ("1/2 1/3", 128),
    ("0/5x5 1/5x7 2/5x10 3/5x10 4/5x10 5/5x15", 32),
]
ONE_SIDED = [("5/5x3", 128), ("1/1x2", 256), ("0/2 0/3 0/10", 128)]


class Posterior:
    """Nodes of (d theta, d (1-theta)) with weights, for d below FAR; beyond, lines on which M is its mean."""

    def __init__(self, text, prior):
        self.clusters = [(float(k), float(n), float(m)) for k, n, m in hierarchy.parse(text)]
        self.tasks = sum(m for _, _, m in self.clusters)
        self.lines = lines = hierarchy.Lines(text, prior, 0.7, 34.0, longest=1.5)
        self.d = np.exp(lines.v.astype(float))
        a, b, weight = [], [], []
        for w in np.flatnonzero(self.d < FAR):
            s, mass = lines.s[w].ravel(), lines.mass_at[w].ravel()
            if self.d[w] > 30:
                # M at a node is narrow: nodes closer together
                s, share = lines.across(lines.v[w:w + 1], 0.8 * (self.d[w] / 30) ** 0.25)
                s, mass = s[0], share[0] * np.sum(mass)
            s, mass = s.astype(float), mass.astype(float)
            keep = mass > NEGLIGIBLE
            a.append(self.d[w] * special.expit(s[keep]))
            b.append(self.d[w] * special.expit(-s[keep]))
            weight.append(mass[keep])
        self.a, self.b, self.weight = (np.concatenate(x) for x in (a, b, weight))

    def far(self, m):
        """P(M <= m and d >= FAR): M is the mean of (d theta + k) / (d + n), linear in theta."""
        slope = sum(times * self.d / (self.d + n) for _, n, times in self.clusters) / self.tasks
        start = sum(times * k / (self.d + n) for k, n, times in self.clusters) / self.tasks
        theta = np.clip((m - start) / slope, 1e-300, 1 - 1e-16)
        s = np.clip(special.logit(theta), -600, 600)
        return float(np.sum(self.lines.beyond(s, False)[self.d >= FAR]))


@functools.lru_cache(maxsize=2)
def posterior(text, prior):
    return Posterior(text, prior)


def masses(a, b, cells):
    """Of Beta(a[i], b[i]), at the edges of cells: rows i."""
    edges = np.linspace(0, 1, cells + 1)
    below = special.betainc(a[:, None], b[:, None], edges)
    moment = special.betainc(a[:, None] + 1, b[:, None], edges) * (a / (a + b))[:, None]
    mass, mean = np.diff(below, axis=1), np.diff(moment, axis=1)
    right = np.clip((mean - edges[:-1] * mass) * cells, 0, mass)
    out = np.zeros((len(a), cells + 1))
    out[:, :-1] += mass - right
    out[:, 1:] += right
    return out


@functools.lru_cache(maxsize=8)
def distribution(text, prior, cells):
    """P(mean <= i / (cells * tasks)), taking half of what is at a grid point."""
    p = posterior(text, prior)
    a, b, weight, clusters, tasks = p.a, p.b, p.weight, p.clusters, int(p.tasks)
    size = fft.next_fast_len(tasks * cells + 1, real=True)
    total = np.zeros(size // 2 + 1, complex)
    chunk = max(1, 2 ** 22 // size)
    for i in range(0, len(a), chunk):
        part = slice(i, i + chunk)
        wave = np.ones((len(a[part]), size // 2 + 1), complex)
        for k, n, times in clusters:
            wave *= fft.rfft(masses(a[part] + k, b[part] + n - k, cells), size, axis=1) ** int(times)
        total += weight[part] @ wave
    mass = fft.irfft(total, size)[:tasks * cells + 1]
    return np.cumsum(mass) - mass / 2


def quantile(text, prior, cells, p):
    """Where the distribution on a grid is p: a cubic through the four values about it."""
    below, far = distribution(text, prior, cells), posterior(text, prior).far
    value = lambda i: below[i] + far(i / (len(below) - 1))
    i, after = 0, len(below) - 1
    while after - i > 1:
        middle = (i + after) // 2
        i, after = (middle, after) if value(middle) < p else (i, middle)
    i = min(max(i, 1), len(below) - 3)
    near = [value(j) for j in range(i - 1, i + 3)]
    low, high = 0.0, 1.0
    for _ in range(60):
        x = (low + high) / 2
        t = x + 1
        value = (-near[0] * (t - 1) * (t - 2) * (t - 3) + 3 * near[1] * t * (t - 2) * (t - 3)
                 - 3 * near[2] * t * (t - 1) * (t - 3) + near[3] * t * (t - 1) * (t - 2)) / 6
        low, high = (x, high) if value < p else (low, x)
    return (i + low) / (len(below) - 1)


def chance_at_end(text, prior, upper):
    """That every task is within END of it."""
    p = posterior(text, prior)
    chance = p.weight
    for k, n, times in p.clusters:
        a, b = p.a + k, p.b + n - k
        chance = chance * (special.betainc(b, a, END) if upper else special.betainc(a, b, END)) ** times
    return float(np.sum(chance))


def bound(level, text, prior, cells, upper):
    tail = (1 - level) / 2
    if chance_at_end(text, prior, upper) > tail:
        return (1 - END / 2 if upper else END / 2), END / 2
    found = [quantile(text, prior, cells * f, 1 - tail if upper else tail) for f in (1, 2, 4)]
    once = [(4 * found[1] - found[0]) / 3, (4 * found[2] - found[1]) / 3]
    return once[1], abs(once[1] - once[0])


def macro(level, text, prior, cells):
    (lo, off_lo), (hi, off_hi) = (bound(level, text, prior, cells, upper) for upper in (False, True))
    assert max(off_lo, off_hi) < TOLERANCE, (level, text, prior, off_lo, off_hi)
    return ["macro", prior, repr(level), repr(float(lo)), repr(float(hi)), text]


def rows():
    jobs = [(macro, (level, text, prior, cells)) for text, cells in CASES + ONE_SIDED for prior in ("gamma", "icc")
            for level in LEVELS]
    return jobs + [(macro, (FAR_OUT, text, "gamma", cells)) for text, cells in ONE_SIDED[:2]]
