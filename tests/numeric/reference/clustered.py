"""References for the clustered model (beta-binomial hierarchy) and clustered_clt.

Independent of the C code: the posterior is integrated by composite Gauss-Legendre panels in (logit theta, ln d), in
80-bit long doubles.  The rising factorials of the likelihood are relative to the mode, so that nothing cancels with
counts of 10^6 in 10^5 clusters.  A bound is found by Newton's method on the panels, summed from its own end.  Every
bound is computed twice, the second time with twice the nodes on both axes and a range reaching farther, and the two
must agree within TOLERANCE.  Sizes all one have the closed form Beta(k+1, n-k+1).
"""
import functools
import math
import random

import mpmath as mp
import numpy as np
from scipy import special

import betaref

HEADER = ["method", "level", "lo", "hi", "rows"]
TOLERANCE = 1e-11
DIGITS = 20
LD = np.longdouble

DIRECT = 32     # rising factorials are products up to here, Stirling's series beyond
LONGEST = 1.5   # the width of a panel, in units in which the integrand changes over about 1


def repr_ld(x):
    return np.format_float_scientific(x, unique=False, precision=DIGITS - 1)


def parse(text):
    """[(k, n, multiplicity)] of "3/5 5/5 1/4x10"."""
    out = []
    for word in text.split():
        ratio, _, times = word.partition("x")
        k, n = ratio.split("/")
        out.append((int(k), int(n), int(times or 1)))
    return out


def stirling_correction(z):
    """ln Gamma(z) - [(z - 1/2) ln z - z + ln(2 pi)/2], for z >= DIRECT."""
    y = 1 / (z * z)
    total = LD(0)
    for numerator, denominator in reversed(((1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360),
                                            (1, 156), (-3617, 122400), (43867, 244188))):
        total = total * y + LD(numerator) / LD(denominator)
    return total / z


def ln_gamma_ratio(z, dz):
    """ln Gamma(z + dz) - ln Gamma(z), for z and z + dz >= DIRECT."""
    return ((z + dz - LD(0.5)) * np.log1p(dz / z) + dz * (np.log(z) - 1)
            + stirling_correction(z + dz) - stirling_correction(z))


class LnRising:
    """sum_t ln (x)_{n_t}, relative to its value at x0, as a function of ln(x/x0)."""

    def __init__(self, counts, x0):
        self.x0 = LD(x0)
        self.head = [sum(m for n, m in counts.items() if n > i) for i in range(DIRECT)]
        self.tail = [(n, m) for n, m in counts.items() if n > DIRECT]

    def __call__(self, ln_ratio):
        dx = self.x0 * np.expm1(ln_ratio)
        total = self.head[0] * ln_ratio
        for i in range(1, DIRECT):
            if self.head[i]:
                total = total + self.head[i] * np.log1p(dx / (self.x0 + i))
        for n, m in self.tail:
            total = total + m * ln_gamma_ratio(self.x0 + n, dx)
        if self.tail:
            total = total - sum(m for _, m in self.tail) * ln_gamma_ratio(self.x0 + DIRECT, dx)
        return total


def tally(pairs):
    out = {}
    for n, m in pairs:
        out[n] = out.get(n, 0) + m
    return out


class LnPosterior:
    """ln density of (logit theta, ln d) at offsets (s, w) from a centre, relative to the centre."""

    def __init__(self, clusters, u0, v0):
        self.u0, self.v0 = LD(u0), LD(v0)
        self.d0 = np.exp(self.v0)
        self.theta0, self.rest0 = 1 / (1 + np.exp(-self.u0)), 1 / (1 + np.exp(self.u0))
        self.right = LnRising(tally((k, m) for k, n, m in clusters), self.d0 * self.theta0)
        self.wrong = LnRising(tally((n - k, m) for k, n, m in clusters), self.d0 * self.rest0)
        self.all = LnRising(tally((n, m) for k, n, m in clusters), self.d0)

    def __call__(self, s, w):
        # ln(theta/theta0) and ln((1-theta)/(1-theta0)) without cancellation
        ln_theta = -np.log1p(self.rest0 * np.expm1(-s))
        ln_rest = -np.log1p(self.theta0 * np.expm1(s))
        return (self.right(w + ln_theta) + self.wrong(w + ln_rest) - self.all(w)
                - self.d0 * np.expm1(w) + w + ln_theta + ln_rest)


def find_mode(clusters):
    """The approximate mode: ever smaller grids, each around the best point of the last."""
    u, v, half_u, half_v = 0.0, 0.0, 40.0, 40.0
    grid = np.linspace(LD(-1), LD(1), 17)
    for _ in range(40):
        value = LnPosterior(clusters, u, v)(half_u * grid[:, None], half_v * grid[None, :])
        i, j = np.unravel_index(np.argmax(value), value.shape)
        u, v = float(u + half_u * grid[i]), float(v + half_v * grid[j])
        half_u, half_v = 0.6 * half_u, 0.6 * half_v
    return u, v


def box(f, cut):
    """A rectangle around the mode, f below -cut on all its sides: ([left, right], [bottom, top])."""
    sides = [[-1e-7, 1e-7], [-1e-7, 1e-7]]
    grown = True
    while grown:
        grown = False
        for axis in (0, 1):
            along = np.linspace(LD(sides[1 - axis][0]), LD(sides[1 - axis][1]), 33)
            for end in (0, 1):
                at = np.full_like(along, sides[axis][end])
                if np.max(f(at, along) if axis == 0 else f(along, at)) > -cut:
                    sides[axis][end] *= 1.25
                    grown = True
    return sides


def edges(end, unit):
    """Panel edges from the mode at 0 out to end: `unit` long at first, growing, LONGEST at most."""
    out = [0.0]
    while out[-1] < abs(end):
        out.append(out[-1] + min(LONGEST, unit + out[-1] / 4))
    return math.copysign(1, end) * np.array(out)


def panels(side, f_along):
    """Edges over [side[0], side[1]], in units of the distance over which f_along falls by 1/2."""
    out = []
    for end in side:
        steps = end * LD(1.25) ** -np.arange(0, 90)
        near = steps[f_along(steps) > -0.5]
        out.append(edges(end, float(abs(near[0])) if len(near) else abs(end) / 1e8))
    return np.concatenate([out[0][::-1], out[1][1:]])


def nodes(edges_, order):
    x, w = special.roots_legendre(order)
    half = np.diff(edges_)[:, None].astype(LD) / 2
    middle = (edges_[:-1, None].astype(LD) + edges_[1:, None]) / 2
    return middle + half * x, half * w


class Marginal:
    """The density of s = logit theta - u0, up to a constant, and its integral."""

    def __init__(self, clusters, order, cut):
        u, v = find_mode(clusters)
        self.u0 = u
        self.f = LnPosterior(clusters, u, v)
        self.order = order
        across, along = box(self.f, cut)
        zero = LD(0)
        w, weight = nodes(panels(along, lambda w: self.f(zero, w)), order)
        self.w, self.weight = w.ravel(), weight.ravel()
        self.edges = panels(across, lambda s: self.f(s, zero))
        s, weight = nodes(self.edges, order)
        self.mass = np.array([np.sum(self.density(a) * b) for a, b in zip(s, weight)])

    def density(self, s):
        return np.sum(np.exp(self.f(s[:, None], self.w[None, :])) * self.weight, axis=1)

    def between(self, a, b):
        s, weight = nodes(np.array([a, b], dtype=LD), self.order)
        return np.sum(self.density(s[0]) * weight[0])

    def quantile(self, tail, upper):
        """The theta with that mass beyond it, summed from the nearer end."""
        mass, at = (self.mass[::-1], self.edges[::-1]) if upper else (self.mass, self.edges)
        target = LD(tail) * np.sum(self.mass)
        outside = np.cumsum(mass)
        i = int(np.searchsorted(outside, target))
        before = outside[i - 1] if i else LD(0)
        near, far = LD(at[i]), LD(at[i + 1])
        low, high, s = min(near, far), max(near, far), (near + far) / 2
        for _ in range(80):
            excess = before + abs(self.between(near, s)) - target
            low, high = (s, high) if (excess > 0) == upper else (low, s)
            step = -excess / self.density(np.array([s]))[0] * (-1 if upper else 1)
            if abs(step) < 1e-17 * max(1, abs(self.u0)):
                break
            s = s + step if low < s + step < high else (low + high) / 2
        u = self.u0 + s
        return 1 / (1 + np.exp(-u))


@functools.lru_cache(maxsize=2)
def marginals(text):
    clusters = parse(text)
    sparse, dense = Marginal(clusters, 10, 45), Marginal(clusters, 20, 55)
    check_likelihood(clusters, sparse)
    return sparse, dense


def check_likelihood(clusters, marginal):
    """The long doubles against 40 digits, at the corners of the main panels.

    An error of ln density moves a bound by about that much of the panels' width."""
    f = marginal.f

    def exact(u, v):
        d = mp.exp(v)
        theta = 1 / (1 + mp.exp(-u))
        a, b = d * theta, d * (1 - theta)
        return mp.log(theta) + mp.log(1 - theta) + v - d + mp.fsum(
            m * (mp.loggamma(a + k) - mp.loggamma(a) + mp.loggamma(b + (n - k)) - mp.loggamma(b)
                 - mp.loggamma(d + n) + mp.loggamma(d)) for k, n, m in clusters)

    u0, v0 = mp.mpf(float(f.u0)), mp.mpf(float(f.v0))
    middle = len(marginal.edges) // 2
    left, right = marginal.edges[middle - 2], marginal.edges[middle + 2]
    for s in (left, right):
        for w in (marginal.w[len(marginal.w) // 3], marginal.w[len(marginal.w) * 2 // 3]):
            ours = mp.mpf(repr_ld(f(LD(s), LD(w))))
            want = exact(u0 + mp.mpf(repr_ld(LD(s))), v0 + mp.mpf(repr_ld(LD(w)))) - exact(u0, v0)
            assert abs(ours - want) * (right - left) < 1e-13 * max(1, abs(want)), (clusters, s, w, ours, want)


def bounds(level, text):
    """The lower and the upper bound, and how far those of the sparser rule are from them."""
    sparse, dense = marginals(text)
    tail = (1 - level) / 2
    pairs = [(m.quantile(tail, False), m.quantile(tail, True)) for m in (sparse, dense)]
    return pairs[1], max(abs(a - b) for a, b in zip(*pairs))


def clustered(level, text):
    (lo, hi), change = bounds(level, text)
    assert change < TOLERANCE, (level, text, change)
    groups = parse(text)
    if all(n == 1 for _, n, _ in groups):
        k, n = sum(k * m for k, _, m in groups), sum(m for _, _, m in groups)
        tail = (1 - mp.mpf(level)) / 2
        for ours, upper in ((lo, False), (hi, True)):
            exact = betaref.quantile(k + 1, n - k + 1, tail, upper)
            assert abs(mp.mpf(repr_ld(ours)) - exact) < 1e-14, (level, text, ours, exact)
    return ["clustered", repr(level), repr_ld(lo), repr_ld(hi), text]


def clustered_clt(level, text):
    groups = parse(text)
    total = sum(n * m for _, n, m in groups)
    mean = mp.mpf(sum(k * m for k, _, m in groups)) / total
    half = (mp.sqrt(2) * mp.erfinv(mp.mpf(level))
            * mp.sqrt(mp.fsum(m * (k - n * mean) ** 2 for k, n, m in groups)) / total)
    return ["clustered_clt", repr(level), mp.nstr(mean - half, DIGITS), mp.nstr(mean + half, DIGITS), text]


def text_of(groups):
    """Clusters as text, equal ones gathered."""
    count = {}
    for k, n, m in groups:
        count[k, n] = count.get((k, n), 0) + m
    return " ".join(f"{k}/{n}" + (f"x{m}" if m > 1 else "") for (k, n), m in sorted(count.items()))


def drawn(seed, sizes, theta, d):
    """Clusters drawn from the model; d None for no spread between them."""
    rng = random.Random(seed)
    groups = []
    for n, m in sizes:
        p = theta if d is None else rng.betavariate(d * theta, d * (1 - theta))
        # a binomial draw where n is small, its mean where it is large: any counts will do
        k = sum(rng.random() < p for _ in range(n)) if n <= 1000 else round(n * p)
        groups.append((k, n, m))
    return text_of(groups)


def sizes_to_million(seed, kinds, total):
    """Sizes log-uniform on 1..10^6 with multiplicities that sum to `total` clusters."""
    rng = random.Random(seed)
    sizes = [min(10**6, int(10 ** rng.uniform(0, 6.01))) for _ in range(kinds)]
    cuts = sorted(rng.sample(range(1, total), kinds - 1))
    return [(n, b - a) for n, a, b in zip(sizes, [0] + cuts, cuts + [total])]


CASES = [
    # one cluster alone
    ("0/1", (0.5, 0.95, 0.999999)),
    ("1/1", (0.5, 0.95, 0.999999)),
    ("0/5", (0.95, 0.99)),
    ("3/5", (0.5, 0.95, 0.999999)),
    ("5/5", (0.9, 0.95)),
    ("0/1000", (0.95,)),
    ("371/1000", (0.5, 0.95, 0.999999)),
    ("0/1000000", (0.95,)),
    ("1/1000000", (0.95, 0.999999)),
    ("500000/1000000", (0.95, 0.999999)),
    ("1000000/1000000", (0.5, 0.95)),
    # small tables
    ("0/2 1/4 3/5 5/5", (0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.999999)),
    ("0/3 2/3", (0.95,)),
    ("2/5 2/5", (0.95, 0.999999)),
    ("1/2x3 0/7 19/20 300/1000", (0.95, 0.999999)),
    (drawn(1, [(5, 1)] * 2, 0.6, 2), (0.5, 0.95)),
    (drawn(2, [(5, 1)] * 6, 0.7, 1), (0.5, 0.95, 0.999999)),
    (drawn(3, [(5, 1)] * 20, 0.3, 3), (0.5, 0.95, 0.999999)),
    (drawn(4, [(5, 1)] * 60, 0.8, 1.5), (0.5, 0.95, 0.999999)),
    (drawn(5, [(4, 1)] * 15, 0.55, 1), (0.5, 0.95, 0.999999)),
    (drawn(6, [(5, 1)] * 60, 0.65, 0.3), (0.95, 0.99)),
    (drawn(7, [(20, 1)] * 1000, 0.42, 1.2), (0.5, 0.95, 0.999999)),
    (drawn(8, [(1 + i % 9, 1) for i in range(40)], 0.9, 0.7), (0.95, 0.999)),
    (drawn(9, [(n, 1) for n in (1, 2, 5, 10, 50, 200, 1000)], 0.2, 5), (0.95, 0.999999)),
    # all right, all wrong
    ("5/5x6", (0.5, 0.95, 0.999999)),
    ("0/4x15", (0.95, 0.999999)),
    ("20/20x1000", (0.95, 0.999999)),
    ("0/1000x20", (0.95,)),
    ("1/1 10/10 100/100 1000/1000 1000000/1000000", (0.95,)),
    ("0/7x100000", (0.5, 0.95)),
    # every cluster all right or all wrong
    ("0/5 5/5", (0.5, 0.95, 0.999999)),
    ("0/5x3 5/5x3", (0.95, 0.999999)),
    ("0/3x2 4/4x18", (0.95,)),
    ("0/5x4000 5/5x6000", (0.5, 0.95, 0.999999)),
    ("0/1000x3 1000/1000x5000", (0.95, 0.999999)),
    ("0/1000000x40 1000000/1000000x60", (0.95,)),
    # sizes all one: Beta(k+1, n-k+1)
    ("0/1x3 1/1x7", (0.5, 0.95, 0.999999)),
    ("0/1x99999 1/1", (0.95,)),
    ("0/1x300 1/1x700", (0.95, 0.999999)),
    ("1/1x1000", (0.95,)),
    # no spread at all, which drives d up; and the widest spread
    ("3/6x20", (0.95, 0.999999)),
    ("10/20x1000", (0.95, 0.999999)),
    ("250/1000x300", (0.95, 0.999999)),
    ("300000/1000000x1000", (0.95,)),
    ("1/20x5000", (0.95, 0.999999)),
    ("1/100x50 99/100x50", (0.95,)),
    ("1/1000000x20 999999/1000000x30", (0.95, 0.999999)),
    # many clusters of mixed sizes
    (drawn(10, sizes_to_million(11, 60, 10**5), 0.6, 1.5), (0.5, 0.95, 0.999999)),
    (drawn(12, sizes_to_million(13, 200, 10**5), 0.15, 0.8), (0.95,)),
    (drawn(14, sizes_to_million(15, 40, 10**5), 0.97, 4), (0.95, 0.999999)),
    (drawn(16, sizes_to_million(17, 40, 10**5), 0.5, None), (0.95,)),
    (drawn(18, [(n, 1) for n, _ in sizes_to_million(19, 100, 100)], 0.35, 2), (0.95, 0.999)),
    # theta and d are correlated: the posterior is a ridge, longer than the width of either
    ("1/2x394 12888/12913x568", (0.95,)),
    ("46/46x20 114783/121652 585505/815413x9 1034962/1034964x243", (0.95, 0.999999)),
    # one tail steep and the other exponential
    (" ".join(f"{n}/{n}" for n in range(1, 51)), (0.95, 0.999)),
    (" ".join(f"0/{n}" for n in range(1, 51)), (0.95,)),
    ("20/20x50", (0.95, 0.99)),
    ("19/20 20/20x49", (0.95,)),
    # clusters that may be alike, which under 'icc' is a peak or a bend as narrow as a binomial's
    ("80211/171535", (0.95,)),
    ("919216/935601", (0.5, 0.95)),
    ("5000/10000x4", (0.95,)),
    ("6977/7146 6989/7146 6999/7146 7002/7146", (0.95,)),
    ("0/100x11 1/100x3 2/100", (0.95,)),
    ("999/1000x3 1000/1000x2", (0.95,)),
    ("702074/702097x2", (0.95,)),
    (drawn(20, [(1000, 1)] * 50, 0.96, None), (0.95, 0.99)),
    ("123387/1000000x5", (0.99, 0.999999)),
    # most are all wrong and a few are not: theta falls steeply as d rises
    ("0/10000x60 1/10000x2 2/10000 8/10000x3 315/10000 954/10000 1867/10000", (0.5, 0.95)),
]


def rows():
    jobs = [(clustered, (level, text)) for text, levels in CASES for level in levels]
    levels = (0.95, 0.5, 0.999999, 0.9, 0.99)
    return jobs + [(clustered_clt, (levels[i % len(levels)], text)) for i, (text, _) in enumerate(CASES[::2])]
