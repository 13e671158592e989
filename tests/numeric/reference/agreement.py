"""References for kappa_ci_counts and ac1_ci_counts: two raters, two categories, Dirichlet(1/2) on the four cells.

The C code integrates over s (the share of 1 among agreements) and u (the share of only_a among disagreements), with the
incomplete Beta of d (the share of disagreements) inside.  Here d and u are outside and the incomplete Beta of s is inside:
with x = 2s - 1, y = 2u - 1 and e = 1 - t the event kappa <= t is x^2 >= h2, h2 = (1 + d^2 y^2 - 2d/e) / (1-d)^2, and AC1 <= t is
x^2 <= (2d/e - 1) / (1-d)^2.  The integrand is not smooth where h2 is 0 or 1: Gauss-Legendre panels shrink geometrically
toward these points.  Each bound is checked with other panels; small cases by mpmath too.
"""
import mpmath as mp
import numpy as np
from scipy import optimize, special

HEADER = ["method", "level", "both", "only_a", "only_b", "neither", "lo", "hi"]
NEGLIGIBLE = 42.0  # in logarithms
TOLERANCE = 1e-9   # of a tail, relative


class Panels:
    def __init__(self, order, levels, wide):
        self.x, self.w = special.roots_legendre(order)
        self.levels, self.wide = levels, wide

    def nodes(self, lo, hi, corners, levels):
        """Nodes and weights on [lo, hi]; panels halve toward the corners."""
        inside = sorted(c for c in corners if lo < c < hi)
        edges = set(np.linspace(lo, hi, max(self.wide, int((hi - lo) * self.wide / 48)) + 1)) | set(inside)
        for c in inside:
            for side in (lo - c, hi - c):
                edges |= {c + side * 2.0 ** -j for j in range(levels)}
        edges = np.array(sorted(edges))
        half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
        return (middle[:, None] + half[:, None] * self.x).ravel(), (half[:, None] * self.w).ravel()


ROUGH, COARSE, FINE = Panels(6, 5, 8), Panels(14, 22, 16), Panels(16, 26, 21)


def logit_density(a, b, z):
    return -a * np.logaddexp(0, -z) - b * np.logaddexp(0, z) - special.betaln(a, b)


def logit_range(a, b):
    """The range in which the density of logit Beta(a, b) is not negligible."""
    top = np.log(a / b)
    excess = lambda z: logit_density(a, b, z) - logit_density(a, b, top) + NEGLIGIBLE
    ends = []
    for side in (-1, 1):
        step = 1e-6
        while excess(top + side * step) > 0:
            step *= 2
        ends.append(optimize.brentq(excess, *sorted((top, top + side * step))))
    return ends


class Cells:
    def __init__(self, counts):
        self.n11, self.n10, self.n01, self.n00 = (c + 0.5 for c in counts)

    def share_beyond(self, d, co, t, omy):
        """P(x^2 >= h2) for kappa; d and co = 1 - d are arrays."""
        e, yy = 1 - t, 1 - omy
        under = d * (2 * t / e + d * omy) / co**2  # 1 - h2
        h2 = np.where(under > 0.5, (1 + d * d * yy - 2 * d / e) / co**2, 1 - under)
        h = np.sqrt(np.clip(h2, 0, 1))
        small = np.clip(under, 0, 1) / (1 + h) / 2  # (1-h)/2
        p = special.betainc(self.n11, self.n00, small) + special.betainc(self.n00, self.n11, small)
        q = special.betainc(self.n11, self.n00, (1 + h) / 2) - special.betainc(self.n11, self.n00, (1 - h) / 2)
        none = h2 >= 1
        return np.where(h2 <= 0, 1.0, np.where(none, 0.0, p)), np.where(h2 <= 0, 0.0, np.where(none, 1.0, q))

    def over_d(self, panels, corners, tails):
        a, b = self.n10 + self.n01, self.n11 + self.n00
        with np.errstate(divide="ignore"):
            z, w = panels.nodes(*logit_range(a, b), [np.log(c / (1 - c)) for c in corners if 0 < c < 1], panels.levels)
        density = w * np.exp(logit_density(a, b, z))
        p, q = tails(special.expit(z), special.expit(-z))
        return np.array([density @ p, density @ q]) / density.sum()

    def kappa(self, t, panels):
        """P(kappa <= t) and its complement."""
        e = 1 - t
        corners = [1 / e] + ([np.sqrt((1 + t) / e)] if t < 0 else [])
        corners = [np.log1p(y) - np.log1p(-y) for y in corners if 0 < y < 1]
        z, w = panels.nodes(*logit_range(self.n10, self.n01), corners + [-c for c in corners], panels.levels // 4)
        density = w * np.exp(logit_density(self.n10, self.n01, z))
        density /= density.sum()
        out = np.zeros(2)
        for z_u, weight in zip(z, density):
            if weight < 1e-15:
                continue
            omy = 4 * special.expit(z_u) * special.expit(-z_u)
            root = 1 - e * e * (1 - omy)
            at = [e / (1 + np.sqrt(root))] if root >= 0 else []
            if t < 0:
                at.append(-2 * t / (e * omy))
            out += weight * self.over_d(panels, at, lambda d, co: self.share_beyond(d, co, t, omy))
        return out

    def ac1(self, t, panels):
        e = 1 - t
        b = 2 + 2 / e

        def tails(d, co):
            h2 = (2 * d / e - 1) / co**2
            h = np.sqrt(np.clip(h2, 0, 1))
            beyond = special.betainc(self.n11, self.n00, (1 - h) / 2) + special.betainc(self.n00, self.n11, (1 - h) / 2)
            inside = special.betainc(self.n11, self.n00, (1 + h) / 2) - special.betainc(self.n11, self.n00, (1 - h) / 2)
            return np.where(h2 <= 0, 0.0, np.where(h2 >= 1, 1.0, inside)), np.where(h2 <= 0, 1.0, np.where(h2 >= 1, 0.0, beyond))

        return self.over_d(panels, [e / 2, (b - np.sqrt(b * b - 8)) / 2], tails)


def exactly(counts, t):
    """P(AC1 <= t) by mpmath over d."""
    with mp.workdps(20):
        a, b, c, d0 = (mp.mpf(v) + mp.mpf(1) / 2 for v in counts)
        e = 1 - mp.mpf(t)

        def f(d):
            h2 = (2 * d / e - 1) / (1 - d) ** 2
            h = mp.sqrt(min(max(h2, 0), 1))
            return d ** (b + c - 1) * (1 - d) ** (a + d0 - 1) * mp.betainc(a, d0, (1 - h) / 2, (1 + h) / 2, regularized=True)

        middle = 2 + 2 / e
        points = sorted({mp.mpf(0), min(e / 2, mp.mpf(1)), min((middle - mp.sqrt(middle**2 - 8)) / 2, mp.mpf(1)), mp.mpf(1)})
        return mp.quad(f, points) / mp.beta(b + c, a + d0)


def interval(method, level, counts, check):
    cells = Cells(counts)
    tails, tail = getattr(cells, method), (1 - level) / 2
    ends = []
    for upper in (False, True):
        gap = lambda z, panels: np.log(max(tails(np.tanh(z), panels)[int(upper)], 1e-300) / tail)
        at = optimize.brentq(gap, -16, 16, args=(ROUGH,), xtol=1e-4)
        last, last_gap, step = at, gap(at, COARSE), 1e-3
        while abs(step) > 1e-10:
            at = last + step
            now = gap(at, COARSE)
            step, last, last_gap = -now * (at - last) / (now - last_gap), at, now
        at += step
        p = tails(np.tanh(at), FINE)[int(upper)]
        assert abs(p / tail - 1) < TOLERANCE, (method, level, counts, upper, p)
        ends.append(float(np.tanh(at)))
    if check and method == "ac1":
        for t, p in zip(ends, (tail, 1 - tail)):
            assert abs(exactly(counts, t) - p) < 1e-9 * tail
    return [method, repr(level), *(repr(int(c)) for c in counts), *map(repr, ends)]


SMALL = [(9, 1, 2, 8), (20, 0, 0, 0), (10, 0, 0, 10), (40, 3, 5, 2), (1, 0, 0, 0), (0, 1, 0, 0), (0, 5, 5, 0), (0, 10, 0, 0)]
LARGE = [(450, 30, 20, 500), (2000, 0, 0, 0), (970, 12, 18, 0), (5, 90, 5, 5), (500, 250, 240, 10)]


def rows():
    return ([(interval, (m, 0.95, c, True)) for c in SMALL for m in ("kappa", "ac1")]
            + [(interval, (m, 0.95, c, False)) for c in LARGE for m in ("kappa", "ac1")]
            + [(interval, (m, level, c, False)) for c in SMALL[:1] for level in (0.5, 0.999999) for m in ("kappa", "ac1")])
