"""References for judged_mean_ci and judged_diff_ci: theta = c F - R of two independent means under Dirichlet weights.

Unlike in the C code, nothing is tabulated and all contours are straight: P(theta <= x) is the integral of the density
of F times a tail of R, each along a straight line through its saddle point, at tanh-sinh nodes between the points where
either is not smooth.  `check()` compares with 0/1 scores and c = 1, where F is a Beta and R is S (2V - 1) with S and V
Betas, with mpmath's integral of the density of a small case, and with a mean of labels alone, by mean.py's recursion in
40 digits.
"""
import functools
import math

import numpy as np
from scipy import optimize, stats

HEADER = ["method", "level", "lo", "hi", "rows"]


# --- one mean ----------------------------------------------------------------------

class Mean:
    """sum w v under w ~ Dirichlet(a)."""

    def __init__(self, values, weights):
        together = {}
        for v, a in zip(values, weights):
            together[float(v)] = together.get(float(v), 0) + a
        self.v = np.array(sorted(together))
        self.a = np.array([together[v] for v in self.v])
        self.mean = self.a @ self.v / self.a.sum()
        self.sd = math.sqrt(self.a @ (self.v - self.mean) ** 2 / self.a.sum() / (self.a.sum() + 1))

    def integral(self, d, tail):
        """By excesses d over places m, a row each: of prod (1 - s d)^-a times 1/s or sum a/(1 - s d) along a line, over
        pi, by the trapezoid rule in sinh u."""
        low, high, s = 1 / d.min(axis=1), 1 / d.max(axis=1), np.zeros(len(d))
        ends = low, high
        for _ in range(100):
            e = d / (1 - s[:, None] * d)
            first, second = e @ self.a, (e * e) @ self.a
            low, high = np.where(first > 0, low, s), np.where(first > 0, s, high)
            newton = s - first / second
            s = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        sigma = 1 / np.sqrt(second)
        if tail:  # away from the pole at 0
            end = np.where(s < 0, *ends)
            s = np.where(abs(s) < sigma, np.sign(end) * np.maximum(abs(s), np.minimum(sigma, abs(end) / 2)), s)
        # It falls at least as e^(-(w-1) u), where w is the weight of all values but the heaviest.
        total, step, end = None, 0.1, min(80, 8 + 45 / max(self.a.sum() - self.a.max() - 1, 0.5))
        while True:
            u = np.arange(0, end, step) if total is None else np.arange(step / 2, end, step)
            z = s[:, None] + 1j * sigma[:, None] * np.sinh(u)
            ln, more = np.zeros_like(z), np.zeros_like(z)
            for i, a in enumerate(self.a):
                factor = 1 - d[:, i, None] * z
                ln -= a * np.log(factor)
                more += a / factor
            value = (np.exp(ln) * (1 / z if tail else more)).real * sigma[:, None] * np.cosh(u) / math.pi
            if total is None:
                total = (value.sum(axis=1) - value[:, 0] / 2) * step
                continue
            last, total = total, (total + value.sum(axis=1) * step) / 2
            # Within 1e-14 of a value, where it falls too late, the mass is negligible.
            if np.all((abs(total - last) <= 1e-12 * abs(total) + 1e-30) | (abs(d).min(axis=1) < 1e-14)):
                return total, s
            assert step > 1e-3, (d, self.a)
            step /= 2

    def density(self, end, away):
        """The density at end + away, possibly close to a value at which it is unbounded."""
        return np.maximum(0, self.integral((self.v - end) - away[:, None], False)[0])

    def above(self, m):
        """P(mean > m)"""
        m = np.asarray(m, float)
        found, within = (m <= self.v[0]).astype(float), (m > self.v[0]) & (m < self.v[-1])
        if within.any():
            total, s = self.integral(self.v - m[within, None], True)
            found[within] = np.where(s > 0, total, 1 + total)
        return found

    def below(self, m):
        return Mean(-self.v, self.a).above(-np.asarray(m))


class Beta(Mean):
    """Of 0 and 1 alone."""

    def density(self, end, away):
        return stats.beta.pdf(-away, *self.a) if end == 1 else stats.beta.pdf(end + away, *self.a[::-1])


# --- theta ---------------------------------------------------------------------------

# Tanh-sinh nodes of the half of [0, 1] that is near to 0, and their weights, half of that at 1/2.
T = np.arange(-60, 1) / 16
NEAR = 1 / (1 + np.exp(-math.pi * np.sinh(T)))
NEAR_WEIGHT = math.pi / 4 * np.cosh(T) / np.cosh(math.pi / 2 * np.sinh(T)) ** 2 / 16 * np.where(T == 0, 0.5, 1)


def mass(F, R, c, x, above):
    """P(c F - R <= x), or > x."""
    ends = [F.v[0], F.v[-1]]
    inner = [v for v in list(F.v) + [(r + x) / c for r in R.v] if ends[0] < v < ends[1]]
    if len(inner) > 60:  # smooth there
        inner = []
    for mean, sd in ((F.mean, F.sd), ((R.mean + x) / c, R.sd / c)):
        inner += [mean + k * sd for k in (-30, -15, -8, -4, -2, 0, 2, 4, 8, 15, 30) if ends[0] < mean + k * sd < ends[1]]
    edges = sorted(set(ends + inner))
    total = 0.0
    for p, q in zip(edges, edges[1:]):
        if q - p < 1e-13 or F.a.sum() > 100 and (q < F.mean - 60 * F.sd or p > F.mean + 60 * F.sd):
            continue
        for end, away in ((p, (q - p) * NEAR), (q, (p - q) * NEAR)):
            weight = F.density(end, away) * NEAR_WEIGHT * (q - p)
            m, weight = (end + away)[weight > 1e-19], weight[weight > 1e-19]
            if len(m):
                total += weight @ (R.below(c * m - x) if above else R.above(c * m - x))
    return total


def coefficient(labelled, unlabelled):
    n, N = sum(t for _, _, t in labelled), sum(t for _, t in unlabelled)
    if N == 0 or n == 1:
        return 0.0
    f = np.repeat([r[0] for r in labelled], [r[2] for r in labelled])
    y = np.repeat([r[1] for r in labelled], [r[2] for r in labelled])
    if n == 0 or f.min() == f.max():
        return 1.0
    return float(np.clip(np.cov(f, y)[0, 1] / (f.var(ddof=1) * (1 + n / N)), 0, 1))


def means(labelled, unlabelled, lo):
    """F and R of scores from lo, 0 or -1, to 1."""
    c = coefficient(labelled, unlabelled)
    F = Mean([f for f, _ in unlabelled] + [lo, 1], [t for _, t in unlabelled] + [0.5, 0.5])
    if len(F.v) == 2 and lo == 0:
        F = Beta(F.v, F.a)
    R = Mean([c * f - y for f, y, _ in labelled] + [c * lo - 1, c - lo], [t for _, _, t in labelled] + [0.5, 0.5])
    return F, R, c


def bounds(labelled, unlabelled, level, lo):
    F, R, c = means(labelled, unlabelled, lo)
    tail, found = (1 - level) / 2, []
    for above in (False, True):
        def gap(x):
            # below about 1e-15 there is only rounding error
            p = (R.below([-x]) if above else R.above([-x]))[0] if c == 0 else mass(F, R, c, x, above)
            return math.log(max(p, 1e-16) / tail)

        ends = (c * lo - (c - lo), c - (c * lo - 1))
        outside = gap(1 if above else lo)
        if outside >= 0:  # the bound is cut
            found.append(1.0 if above else float(lo))
        else:
            mean, sd = c * F.mean - R.mean, math.hypot(c * F.sd, R.sd)
            a, b = max(mean - 2 * sd, ends[0] + 1e-12), min(mean + 2 * sd, ends[1] - 1e-12)
            while gap(a) * (1 if above else -1) < 0:
                a = max(a - sd, (a + ends[0]) / 2)
            while gap(b) * (1 if above else -1) > 0:
                b = min(b + sd, (b + ends[1]) / 2)
            found.append(optimize.brentq(gap, a, b, xtol=1e-13, rtol=1e-14))
    return [min(max(x, lo), 1) for x in found]


# --- rows ----------------------------------------------------------------------------

def text(values, times):
    shown = "/".join("NULL" if v is None else repr(float(v)) for v in values)
    return shown + (f"x{times}" if times != 1 else "")


def mean_row(level, labelled, unlabelled):
    low, high = bounds(labelled, unlabelled, level, 0)
    rows = [text((f, y), t) for f, y, t in labelled] + [text((f, None), t) for f, t in unlabelled]
    return ["judged_mean_ci", repr(level), repr(low), repr(high), " ".join(rows)]


def diff_row(level, labelled, unlabelled):
    """Rows of (judge a, judge b, truth a, truth b, times) and (judge a, judge b, times)."""
    low, high = bounds([(a - b, x - y, t) for a, b, x, y, t in labelled], [(a - b, t) for a, b, t in unlabelled], level, -1)
    rows = [text(r[:4], r[4]) for r in labelled] + [text(r[:2] + (None, None), r[2]) for r in unlabelled]
    return ["judged_diff_ci", repr(level), repr(low), repr(high), " ".join(rows)]


UNLABELLED = [(f, 1) for f in (.9, .8, .95, .4, .7, .85, .3, .9, .6, .75, .2, .99)]
LABELLED = [(.9, 1, 1), (.3, 0, 1), (.8, 1, 1), (.7, 0, 1), (.95, 1, 1), (.6, 1, 1)]
AGREED = [(1, 1, 16), (0, 0, 4)]
MEANS = [
    (LABELLED, UNLABELLED), (LABELLED, []), ([(.9, 1, 1)], UNLABELLED), ([(.9, .5, 1)], []), ([], UNLABELLED), ([], [(.5, 3)]), ([], [(1, 1000)]), ([(.4, 1, 12), (.4, 0, 4)], [(.4, 30)]),
    ([(1, 1, 45), (1, 0, 5), (0, 1, 4), (0, 0, 46)], [(1, 700), (0, 300)]), (AGREED, [(1, 80), (0, 20)]), ([(1, 1, 20)], [(1, 100)]),
    ([(.5, 1, 12), (.5, 0, 4)], [(.5, 30)]), ([(0, 1, 3), (1, 0, 3), (.5, .5, 2)], [(.25, 8)]),
    ([(.25, .2, 9), (.5, .6, 12), (.75, .9, 30), (1, .95, 20)], [(.25, 100), (.5, 150), (.75, 300), (1, 450)]),
    ([((i * 37 % 101) / 101, (i * 37 % 101 + i % 7 * 3) / 121, 1) for i in range(1, 7)], [((i * 53 % 103) / 103, 1) for i in range(1, 9)]),
    ([(.7, .8, 2), (.2, .1, 1)], [(.4, 1)]), ([(1, 0, 10), (.9, 1, 2)], [(1, 40), (.9, 10)]), ([(.1, .9, 2), (.1, .8, 1)], [(.9, 50)]),
]
DIFFS = [
    ([(1, 0, 1, 0, 9), (1, 1, 1, 1, 40), (0, 1, 0, 1, 4), (1, 0, 1, 1, 3), (0, 0, 1, 0, 2), (0, 0, 0, 0, 12)], [(1, 0, 80), (1, 1, 350), (0, 1, 40), (0, 0, 130)]),
    ([(.5, .25, .75, .25, 4), (1, .5, .75, .5, 3), (.25, .5, .25, .75, 3)], [(.5, .25, 20), (.25, .75, 12), (1, 1, 30)]),
    ([(.5, .5, 1, 0, 2), (.5, .5, 0, 0, 5)], [(.5, .5, 40)]), ([(1, 0, 1, 0, 1)], [(1, 0, 9), (0, 0, 9)]), ([], [(1, 0, 3), (0, 1, 2)]),
    ([(1, 0, 1, 0, 6), (0, 1, 0, 1, 6)], [(1, 0, 30), (0, 1, 30)]), ([(1, .75, .5, .5, 8), (0, .5, 0, .75, 8), (.5, .5, .5, .25, 9)], []),
    ([(.875, .25, .75, .5, 3), (.5, .375, .625, .25, 5), (.125, .5, .25, .25, 2)], [((i * 5 % 8) / 8, (i * 3 % 8) / 8, 1) for i in range(40)]),
]


def rows():
    jobs = []
    for row, cases in ((mean_row, MEANS), (diff_row, DIFFS)):
        jobs += [(row, (level, *case)) for i, case in enumerate(cases) for level in sorted({0.95, (0.95 if row is mean_row else 0.5, 0.5, 0.999999)[i % 3]})]
    return jobs


# --- the ways against each other --------------------------------------------------------

def check():
    import mpmath as mp

    import mean as recursion
    # Right or wrong, c = 1: R has the values -1, 0 and 1.
    k, N, more, less, same, x = 80, 100, 3, 5, 12, 0.7
    F = Beta([0, 1], [N - k + .5, k + .5])
    near, G = np.array([-.1, -1e-9, -1e-25]), Beta([0, 1], [.5, 100.5])
    assert np.max(abs(G.density(1, near) / Mean.density(G, 1, near) - 1)) < 1e-11
    R = Mean([-1, 0, 1], [less + .5, same, more + .5])
    with mp.workdps(20):
        s_of, v_of = stats.beta(more + less + 1, same), stats.beta(more + .5, less + .5)

        def inner(s):
            return mp.quad(lambda v: v_of.pdf(float(v)) * stats.beta.cdf(x + float(s) * (2 * float(v) - 1), k + .5, N - k + .5), [0, .5, 1])

        wanted = mp.quad(lambda s: s_of.pdf(float(s)) * inner(s), [0, .25, .5, .75, 1])
    assert abs(mass(F, R, 1.0, x, False) - wanted) < 1e-10, (mass(F, R, 1.0, x, False), wanted)
    assert abs(mass(F, R, 1.0, x, False) + mass(F, R, 1.0, x, True) - 1) < 1e-12
    # The labels alone, in 40 digits.
    data = [(recursion.number(y), recursion.mpf(1), t) for _, y, t in ((0, .5, 2), (0, .75, 3), (0, .125, 1))]
    wanted = recursion.above_halves(data, recursion.mpf(.6), (0, 1), (1, 1))
    got = Mean([.5, .75, .125, 0, 1], [2, 3, 1, .5, .5]).above([.6])[0]
    assert abs(got - wanted) < 1e-13, (got, wanted)
    # The prototype of the method found these to ten digits, before the upper one is cut.
    F, R, c = means(LABELLED, UNLABELLED, 0)
    for x, p in ((0.2517041472, 0.025), (1.0161512114, 0.975)):
        assert abs(mass(F, R, c, x, False) - p) < 1e-9, x


if __name__ == "__main__":
    check()
