"""References for the paired model (bivariate probit) and paired_diff_clt.

Independent of the C code: the four cells come from Owen's T (scipy), not from
Plackett's integral, and the posterior is integrated by composite Gauss-Legendre
panels in three unbounded coordinates,
    s: delta = theta_A - theta_B = tanh(s/2),
    x: logit of where theta_B stands in the interval that delta leaves it,
    b: logit of acos(rho)/pi,
nested, with the range of (x, b) found again at each s. The two signs of delta are integrated separately, because without a discordant pair
the density has a kink at 0, and so that 1 - P keeps its relative precision.  Everything is computed twice, the second
time with twice the nodes on each axis and ranges reaching farther, and the two
must agree within TOLERANCE.
"""
import functools

import mpmath as mp
import numpy as np
from numpy.polynomial import legendre
from scipy import optimize, special

import betaref  # noqa: F401, sets 40 digits

HEADER = ["method", "both", "only_a", "only_b", "neither", "level", "lo", "hi"]
TOLERANCE = 2e-10
DIGITS = 20

# Panel edges as fractions of the distance from the peak to where the integrand is negligible, denser at the peak; or to the kink at delta
# = 0, denser there too.
OUTWARD = np.array([0, 0.05, 0.15, 0.35, 0.6, 1])
OUTWARD_FROM_KINK = np.array([0, 0.01, 0.04, 0.1, 0.2, 0.4, 0.65, 1])
TO_KINK = np.array([0, 0.1, 0.3, 0.6, 0.8, 0.93, 0.98, 1])


def phi2(h, k, rho_gap, rho_sum, sine):
    """Bivariate normal CDF by Owen's T; rho_gap = 1 - rho, rho_sum = 1 + rho, sine = sqrt(1 - rho^2)."""
    near_one = rho_gap < 1
    # k - rho h and h - rho k, in the form that keeps the distance of rho from +-1
    k_rest = np.where(near_one, (k - h) + rho_gap * h, (k + h) - rho_sum * h)
    h_rest = np.where(near_one, (h - k) + rho_gap * k, (h + k) - rho_sum * k)
    owen = special.owens_t(h, k_rest / (h * sine)) + special.owens_t(k, h_rest / (k * sine))
    return (special.ndtr(h) + special.ndtr(k)) / 2 - owen - np.where(h * k < 0, 0.5, 0)


def probit(p, rest):
    return np.where(p < rest, special.ndtri(np.minimum(p, rest)), -special.ndtri(np.minimum(p, rest)))


@np.errstate(all="ignore")
def ln_posterior(counts, s, x, b):
    """ln density of (s, x, b) for s > 0, up to a constant; -inf where a search strays out of floating range."""
    both, only_a, only_b, neither = counts
    ln_width = np.log(2) - s - np.log1p(np.exp(-s))     # 1 - delta = 2 e^-s / (1 + e^-s)
    delta, width = np.tanh(s / 2), np.exp(ln_width)
    part, rest = special.expit(x), special.expit(-x)
    wrong_a, right_b = width * rest, width * part
    right_a, wrong_b = delta + right_b, delta + wrong_a
    quarter = np.pi / 2
    rho_gap, rho_sum = (2 * np.sin(quarter * special.expit(t)) ** 2 for t in (b, -b))
    sine = np.sin(np.pi * special.expit(-abs(b)))
    p11 = phi2(probit(right_a, wrong_a), probit(right_b, wrong_b), rho_gap, rho_sum, sine)
    p01 = right_b - p11
    # prior of rho, d(rho)/db, d(theta_B)/dx, d(delta)/ds
    total = (3 * np.log(rho_sum) + np.log(rho_gap) + np.log(sine) + special.log_expit(b) + special.log_expit(-b)
             + ln_width + special.log_expit(x) + special.log_expit(-x)
             + np.log1p(delta) + ln_width)
    for count, cell in ((both, p11), (only_a, right_a - p11), (only_b, p01), (neither, wrong_a - p01)):
        if count:
            # a cell below its rounding error counts as 0
            total = total + count * np.log(np.maximum(cell, 1e-300))
    return np.where(np.isnan(total), -np.inf, total)


def climb(f, centre, half, rounds, points_an_axis=11):
    """Roughly the maximum of f: ever smaller grids, each around the best point of the last."""
    grid = np.linspace(-1, 1, points_an_axis)
    mesh = np.meshgrid(*[grid] * len(centre), indexing="ij")
    for _ in range(rounds):
        points = [c + h * m for c, h, m in zip(centre, half, mesh)]
        value = f(*points)
        best = np.unravel_index(np.argmax(value), value.shape)
        centre = [p[best] for p in points]
        half = [0.7 * h for h in half]
    return centre, value[best]


def reach(falls, start):
    """The distance, within an eighth, at which falls(distance) becomes true."""
    far = start
    while not falls(far):
        far *= 2
    near = far / 2
    for _ in range(2):
        middle = (near + far) / 2
        near, far = (near, middle) if falls(middle) else (middle, far)
    return far


def nodes(edges, order):
    t, w = special.roots_legendre(order)
    half = np.diff(edges)[:, None] / 2
    middle = (edges[:-1, None] + edges[1:, None]) / 2
    return middle + half * t, half * w


def around(peak, left, right):
    return np.concatenate([peak - left * OUTWARD[::-1], (peak + right * OUTWARD)[1:]])


class HalfLine:
    """The posterior of s on s > 0."""

    def __init__(self, counts, order, cut):
        self.order, self.cut = order, cut
        self.f = lambda s, x, b: ln_posterior(counts, s, x, b)
        # in ln s, so that peaks at delta = 1e-6 and at the kink, s -> 0, are found
        best = [-10, 0, 0]
        for scale in (40, 1, 0.1, 0.01, 1e-3):
            # if the first grid is too coarse for (x, b), its s is arbitrary: go on from there with finer grids
            best, self.peak = climb(lambda y, x, b: self.f(np.exp(y), x, b), best, [14, scale, scale], 40)
        s, self.centre = np.exp(best[0]), best[1:]
        # the rectangle at the peak is where the search for every other one starts from
        self.size = self.rectangle(s, self.centre, self.peak, np.full(4, 1e-7))
        start, end = self.ends(s)
        if s < 1e-3 * (end - s):
            self.edges = OUTWARD_FROM_KINK * end
        elif start == 0:
            self.edges = np.concatenate([(s - s * TO_KINK)[::-1], (s + (end - s) * OUTWARD)[1:]])
        else:
            self.edges = around(s, s - start, end - s)
        at, weight = nodes(self.edges, order)
        self.at_nodes = np.array([[self.density(a) for a in panel] for panel in at])
        self.mass = np.sum(self.at_nodes * weight, axis=1)

    def ends(self, s):
        def low(t):
            return self.profile(t)[1] < self.peak - self.cut

        end = s + reach(lambda r: low(s + r), 1e-7)
        start = s - reach(lambda r: r >= s or low(s - r), s * 1e-7)
        return max(start, 0), end

    def profile(self, s):
        left, right, below, above = self.size
        return climb(lambda x, b: self.f(s, x, b), self.centre, [2 * (left + right), 2 * (below + above)], 26)

    def rectangle(self, s, centre, top, size):
        """How far from the centre (left, right, below, above) the integrand is nil on all four sides."""
        t = np.linspace(0, 1, 25)
        size = size.copy()
        while True:
            left, right, below, above = size
            x = centre[0] - left + (left + right) * t
            b = centre[1] - below + (below + above) * t
            ends = np.ones_like(t)
            values = self.f(s, np.array([x[0] * ends, x[-1] * ends, x, x]), np.array([b, b, b[0] * ends, b[-1] * ends]))
            short = np.max(values, axis=1) > top - self.cut
            if not short.any():
                return size
            size[short] *= 1.3

    def density(self, s):
        """Relative to the peak of the joint density."""
        centre, top = self.profile(s)
        left, right, below, above = self.rectangle(s, centre, top, self.size / 20)
        x, wx = (a.ravel() for a in nodes(around(centre[0], left, right), self.order))
        b, wb = (a.ravel() for a in nodes(around(centre[1], below, above), self.order))
        return wx @ np.exp(self.f(s, x[:, None], b[None, :]) - self.peak) @ wb

    def interpolated(self, panel, target):
        """The point from which the panel's interpolating polynomial has the mass `target` up to its outer edge."""
        t, w = special.roots_legendre(self.order)
        degree = np.arange(self.order)[:, None]
        series = np.sum((degree + 0.5) * special.eval_legendre(degree, t) * w * self.at_nodes[panel], axis=1)
        near, far = self.edges[panel], self.edges[panel + 1]
        from_left = legendre.legint(series, lbnd=-1) * (far - near) / 2
        root = optimize.brentq(lambda t: legendre.legval(t, from_left) - (self.mass[panel] - target), -1, 1)
        return (near + far) / 2 + (far - near) / 2 * root

    def beyond(self, target):
        """The s with that mass outward of it: that of the interpolant, corrected by Newton steps on the density."""
        outside = np.cumsum(self.mass[::-1])
        i = int(np.searchsorted(outside, target))
        before = outside[i - 1] if i else 0.0
        panel = len(self.mass) - 1 - i
        s = self.interpolated(panel, target - before)
        for _ in range(8):
            at, weight = nodes(np.array([s, self.edges[panel + 1]]), self.order)
            mass = sum(self.density(a) * w for a, w in zip(at[0], weight[0]))
            step = (before + mass - target) / self.density(s)
            s += step
            # Newton doubles the digits
            if abs(step) < 1e-8 * s:
                return s
        raise ArithmeticError(f"no quantile: mass {target} beyond s = {s}")


class Posterior:
    def __init__(self, counts, order, cut):
        both, only_a, only_b, neither = counts
        self.above = HalfLine((both, only_a, only_b, neither), order, cut)
        self.below = self.above if only_a == only_b else HalfLine((both, only_b, only_a, neither), order, cut)
        # each side is relative to its own peak
        with np.errstate(over="ignore"):
            odds = np.exp(self.above.peak - self.below.peak) * np.sum(self.above.mass) / np.sum(self.below.mass)
        self.prob = odds / (1 + odds) if odds < np.inf else 1.0, 1 / (1 + odds)

    def tail(self, mass, upper):
        """delta with that mass above it (upper) or below it."""
        above, below = (self.above, self.prob[0], 1), (self.below, self.prob[1], -1)
        (side, share, sign), other = (above, below) if upper else (below, above)
        if mass > share:
            (side, share, sign), mass = other, 1 - mass
        return sign * np.tanh(side.beyond(mass / share * np.sum(side.mass)) / 2)


@functools.lru_cache(maxsize=2)
def posteriors(counts):
    return Posterior(counts, 10, 40), Posterior(counts, 20, 48)


def agreed(pairs, relative):
    """The bounds of the denser rule, if those of the sparser one are close enough."""
    for sparse, dense in zip(*pairs):
        assert abs(sparse - dense) <= TOLERANCE * (max(sparse, dense) if relative else 1), pairs
    return [repr(float(v)) for v in pairs[1]]


def paired_diff(both, only_a, only_b, neither, level):
    counts, mass = (both, only_a, only_b, neither), (1 - level) / 2
    pairs = [(p.tail(mass, False), p.tail(mass, True)) for p in posteriors(counts)]
    return ["paired_diff", *map(str, counts), repr(level), *agreed(pairs, relative=False)]


def paired_prob_better(both, only_a, only_b, neither, level):
    counts = (both, only_a, only_b, neither)
    pairs = [p.prob for p in posteriors(counts)]
    return ["paired_prob_better", *map(str, counts), repr(level), *agreed(pairs, relative=True)]


def paired_diff_clt(both, only_a, only_b, neither, level):
    counts = (both, only_a, only_b, neither)
    n = mp.mpf(sum(counts))
    mean = (only_a - only_b) / n
    half = mp.sqrt(2) * mp.erfinv(mp.mpf(level)) * mp.sqrt((only_a + only_b) / n - mean**2) / mp.sqrt(n)
    return ["paired_diff_clt", *map(str, counts), repr(level), mp.nstr(mean - half, DIGITS), mp.nstr(mean + half, DIGITS)]


CASES = [
    # N = 1
    ((1, 0, 0, 0), (0.5, 0.95, 0.999)),
    ((0, 1, 0, 0), (0.95, 0.999)),
    ((0, 0, 1, 0), (0.95,)),
    ((0, 0, 0, 1), (0.95,)),
    # N = 2, 3, 5
    ((1, 0, 0, 1), (0.95,)),
    ((0, 1, 1, 0), (0.5, 0.95)),
    ((2, 0, 1, 0), (0.95,)),
    ((1, 2, 1, 1), (0.9, 0.95)),
    ((5, 0, 0, 0), (0.95, 0.999)),
    # N = 10
    ((0, 0, 0, 10), (0.95,)),
    ((0, 5, 5, 0), (0.95,)),
    ((0, 10, 0, 0), (0.95, 0.999)),
    ((4, 1, 0, 5), (0.95, 0.99)),
    # N = 20
    ((12, 6, 0, 2), (0.5, 0.9, 0.95, 0.99, 0.999)),
    ((10, 0, 0, 10), (0.95, 0.999)),
    ((20, 0, 0, 0), (0.95,)),
    ((5, 5, 5, 5), (0.95,)),
    ((3, 7, 8, 2), (0.95,)),
    # N = 86, 100
    ((53, 16, 8, 9), (0.5, 0.9, 0.95, 0.99, 0.999)),
    # more discordant pairs than others
    ((1, 7, 2, 3), (0.9,)),
    ((5, 25, 7, 5), (0.95,)),
    ((8, 39, 14, 12), (0.999,)),
    ((13, 38, 7, 36), (0.999999,)),
    ((14, 22, 3, 7), (0.99,)),
    ((60, 0, 0, 40), (0.5, 0.95, 0.999)),
    ((0, 60, 40, 0), (0.95,)),
    ((90, 0, 10, 0), (0.95, 0.99)),
    ((97, 1, 2, 0), (0.95,)),
    # N = 1000
    ((700, 120, 80, 100), (0.95, 0.999)),
    ((1000, 0, 0, 0), (0.95,)),
    ((0, 0, 0, 1000), (0.95,)),
    ((500, 0, 0, 500), (0.95,)),
    ((0, 500, 500, 0), (0.95,)),
    ((950, 30, 0, 20), (0.95,)),
    ((300, 200, 200, 300), (0.95,)),
    # N = 5000
    ((3000, 700, 500, 800), (0.95, 0.99)),
    ((4990, 0, 0, 10), (0.95,)),
    ((1200, 1300, 1400, 1100), (0.95,)),
    # N = 10^5, 10^6
    ((60000, 15000, 14800, 10200), (0.5, 0.95, 0.999)),
    ((70000, 0, 0, 30000), (0.95,)),
    ((99000, 1, 0, 999), (0.95,)),
    ((650000, 110000, 109500, 130500), (0.95, 0.99)),
    ((1000000, 0, 0, 0), (0.95,)),
    ((800000, 0, 0, 200000), (0.95,)),
    ((999000, 400, 500, 100), (0.95,)),
    # a bound beside the corner at 0, which is 1.6e-8 off when the corner is not kept
    ((14, 2, 0, 5), (0.775,)),
    # N = 5000 to 2 * 10^6 with empty cells, or nearly so
    ((3500, 600, 900, 0), (0.95, 0.999)),
    ((0, 5000, 0, 0), (0.95,)),
    ((0, 600, 4400, 0), (0.95,)),
    ((0, 2500, 2500, 0), (0.95,)),
    ((10000, 4000, 3000, 0), (0.95,)),
    ((15000, 5000, 0, 0), (0.95,)),
    ((0, 20000, 0, 0), (0.95, 0.999)),
    ((20000, 3, 0, 0), (0.95,)),
    ((0, 19990, 7, 3), (0.95,)),
    ((1500, 12000, 8000, 2), (0.95,)),
    ((0, 1000000, 0, 0), (0.999999,)),
    ((600000, 400000, 0, 0), (0.95,)),
    ((0, 600000, 400000, 0), (0.95,)),
    # N = 24,000 to 7 * 10^6: dense nodes
    ((5000000, 0, 0, 0), (0.95,)),
    ((0, 5000000, 0, 0), (0.95, 0.999)),
    ((0, 3000000, 2000000, 0), (0.95,)),
    ((4000000, 2500000, 0, 0), (0.95,)),
    ((0, 4000000, 0, 2000000), (0.95,)),
    ((3000000, 600000, 400000, 0), (0.95,)),
    ((3000000, 5, 0, 400), (0.95,)),
    ((3000000, 700000, 3, 900000), (0.95, 0.999)),
    ((0, 3000000, 9, 400), (0.95,)),
    ((12000, 5000, 4000, 3000), (0.95, 0.999)),
    # 9e-8 of P and 3e-8 of a bound off when the corner at 0 is not kept
    ((7, 0, 1, 2), (0.95,)),
    ((1, 0, 6, 0), (0.999,)),
]


def rows():
    jobs = []
    for counts, levels in CASES:
        jobs += [(paired_diff, (*counts, level)) for level in levels] + [(paired_prob_better, (*counts, 0.95))]
    levels = (0.95, 0.5, 0.99, 0.9, 0.999)
    return jobs + [(paired_diff_clt, (*counts, levels[i % len(levels)])) for i, (counts, _) in enumerate(CASES)]
