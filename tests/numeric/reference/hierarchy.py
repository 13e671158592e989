"""The posterior of (theta, d) of the beta-binomial hierarchy, by lines of constant d.

    theta ~ U(0,1), Y_t ~ BetaBinomial(N_t, d theta, d (1-theta)), and d ~ Gamma(1,1) ("gamma")
    or 1/(1+d) ~ U(0,1), that is p(d) = (1+d)^-2 ("icc")

clustered.py integrates the same posterior on one rectangle of (logit theta, ln d).  Under "icc" d reaches e^45, where
theta is far narrower than at small d, so here each node of ln d has its own line of logit theta.  Its mode, scale and
range are found from the density along it, and composite Gauss-Legendre panels cover it.  The likelihood is written as

    sum Y ln theta + sum (N-Y) ln(1-theta) + R_Y(d theta) + R_{N-Y}(d (1-theta)) - R_N(d),   R_n(x) = sum_{i<n} ln(1 + i/x)

which loses nothing as d grows; and where d is below 30 times the mean size of the clusters with

    P_n(x) = ln (x)_n - ln (n-1)! - ln x = sum_{0<i<n} ln(1 + x/i)

instead, which loses nothing as d falls.  Long doubles where there are many questions.
"""
import copy

import numpy as np
from scipy import optimize, special

from clustered import parse

LD = np.longdouble
DIRECT = 32          # of R_n: the number of terms added one by one; Stirling's series has the rest
SINGLE = 300        # the number of questions up to which doubles suffice
PRIORS = ("gamma", "icc")
STIRLING = ((1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156), (-3617, 122400), (43867, 244188))


def mirrored(text):
    """The same clusters with right and wrong exchanged."""
    return " ".join(f"{n - k}/{n}" + (f"x{m}" if m > 1 else "") for k, n, m in parse(text))


def log1p_ratio(t):
    """ln(1+t)/t - 1."""
    small = np.clip(t, -0.05, 0.05)
    series = 0 * small
    for i in range(16, 0, -1):
        series = small * ((-1) ** i * small.dtype.type(1) / (i + 1) + series)
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(t) <= 0.05, series, np.log1p(t) / t - 1)


def stirling(z):
    """ln Gamma(z) - [(z - 1/2) ln z - z + ln(2 pi)/2], for z >= DIRECT."""
    total = 0 * z
    for numerator, denominator in reversed(STIRLING):
        total = total / (z * z) + z.dtype.type(numerator) / denominator
    return total / z


class Rest:
    """sum over counts n (with multiplicities) of R_n(x), or of P_n(x), as a function of ln x."""

    def __init__(self, counts, dtype, rising):
        self.dtype, self.rising = dtype, rising
        self.head = [(i, sum(m for n, m in counts.items() if n > i)) for i in range(1, DIRECT)]
        self.head = [(i, m) for i, m in self.head if m]
        self.tail = [(n, m) for n, m in counts.items() if n > DIRECT]
        self.table = {}
        self.tabulated = len(self.head) + 3 * len(self.tail) > 12

    def direct(self, ln_x):
        ln_x = np.asarray(ln_x, self.dtype)
        x, inverse = np.exp(ln_x), np.exp(-ln_x)
        beyond = self.beyond_rising if self.rising else self.beyond
        total = 0 * ln_x
        for i, m in self.head:
            total = total + m * np.log1p(x / i if self.rising else i * inverse)
        for n, m in self.tail:
            total = total + m * beyond(n, x, inverse)
        if self.tail:
            total = total - sum(m for _, m in self.tail) * beyond(DIRECT, x, inverse)
        return total

    @staticmethod
    def beyond(n, x, inverse):
        """ln Gamma(x + n) - n ln x, less what depends on x alone."""
        half = x.dtype.type(0.5)
        return (n - half) * np.log1p(n * inverse) + n * log1p_ratio(n * inverse) + stirling(x + n)

    @staticmethod
    def beyond_rising(n, x, inverse):
        """ln Gamma(x + n) - ln Gamma(n), less what depends on x alone and a constant."""
        half = x.dtype.type(0.5)
        return (n - half) * np.log1p(x / n) + x * np.log(x + n) + stirling(x + n)

    DEGREE = 20

    def panel(self, j):
        """Chebyshev coefficients on [j, j+1]: the nearest singularities are pi away, so 20 give 20 digits."""
        k = np.arange(self.DEGREE, dtype=self.dtype)
        angle = (k + self.dtype(0.5)) * (np.arctan(self.dtype(1)) * 4 / self.DEGREE)
        middle = self.direct(j + self.dtype(0.5))
        values = self.direct(j + (1 + np.cos(angle)) / 2) - middle
        c = np.array([2 * np.sum(values * np.cos(i * angle)) / self.DEGREE for i in range(self.DEGREE)], self.dtype)
        c[0] = c[0] / 2 + middle
        return c

    def __call__(self, ln_x):
        if not self.head or not np.size(ln_x):
            return np.zeros(np.shape(ln_x), self.dtype)
        if not self.tabulated:
            return self.direct(ln_x)
        ln_x = np.asarray(ln_x, self.dtype)
        at = np.floor(ln_x).astype(int)
        kinds, which = np.unique(at, return_inverse=True)
        for j in kinds:
            if j not in self.table:
                self.table[j] = self.panel(int(j))
        c = np.array([self.table[j] for j in kinds]).T
        which = which.reshape(at.shape)
        z = 2 * (ln_x - at) - 1
        b1 = b2 = np.zeros_like(z)
        for i in range(self.DEGREE - 1, 0, -1):
            b1, b2 = 2 * z * b1 - b2 + c[i][which], b1
        return z * b1 - b2 + c[0][which]


def gathered(pairs):
    out = {}
    for n, m in pairs:
        out[n] = out.get(n, 0) + m
    return out


def ln_expit(s):
    return -np.logaddexp(s.dtype.type(0), -s)


class Form:
    """ln likelihood of (logit theta, ln d), up to a constant, in one of its two forms."""

    def __init__(self, clusters, dtype, rising):
        right, wrong, every = (gathered(pairs) for pairs in zip(*[((k, m), (n - k, m), (n, m)) for k, n, m in clusters]))
        # the powers of theta, of 1-theta and of d that stand before the rests of the rising factorials
        power = lambda counts: sum((1 if rising else n) * m for n, m in counts.items() if n)
        self.power_right, self.power_wrong = power(right), power(wrong)
        self.power_d = self.power_right + self.power_wrong - power(every)
        self.rest_right, self.rest_wrong, self.rest_all = (Rest(counts, dtype, rising) for counts in (right, wrong, every))

    def __call__(self, s, v):
        ln_theta, ln_other = ln_expit(s), ln_expit(-s)
        return (self.power_right * ln_theta + self.power_wrong * ln_other + self.power_d * v
                + self.rest_right(v + ln_theta) + self.rest_wrong(v + ln_other) - self.rest_all(v))


class LnPosterior:
    """ln density of (s, v) = (logit theta, ln d), up to a constant."""

    def __init__(self, clusters, prior, dtype=None):
        assert prior in PRIORS
        self.prior = prior
        questions, count = sum(n * m for _, n, m in clusters), sum(m for _, _, m in clusters)
        self.dtype = dtype or (LD if questions > SINGLE else np.float64)
        self.large, self.small = (Form(clusters, self.dtype, rising) for rising in (False, True))
        self.crossing = self.dtype(np.log(30 * questions / count))
        zero = self.dtype(0)
        self.constant = self.large(zero, self.crossing) - self.small(zero, self.crossing)

    def __call__(self, s, v):
        s, v = np.broadcast_arrays(np.asarray(s, self.dtype), np.asarray(v, self.dtype))
        below = v < self.crossing
        out = np.empty(s.shape, self.dtype)
        out[below] = self.small(s[below], v[below]) + self.constant
        out[~below] = self.large(s[~below], v[~below])
        ln_prior = v - np.exp(v) if self.prior == "gamma" else v - 2 * np.logaddexp(self.dtype(0), v)
        return out + ln_expit(s) + ln_expit(-s) + ln_prior


def argmax(f, low, high, tolerance):
    """The argument of the single maximum of f, vectorised: golden section search."""
    golden = (np.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = f(left), f(right)
    while np.max(high - low) > tolerance:
        keep = at_left > at_right  # the maximum is below `right`
        low, high = np.where(keep, low, left), np.where(keep, right, high)
        trial = np.where(keep, high - golden * (high - low), low + golden * (high - low))
        value = f(trial)
        left, right, at_left, at_right = (np.where(keep, trial, right), np.where(keep, left, trial),
                                          np.where(keep, value, at_right), np.where(keep, at_left, value))
    return (low + high) / 2


def fall(f, top, start, cut):
    """The distance at which f(distance) has fallen by `cut` below top, vectorised: bisection of its logarithm."""
    low, high = np.full(len(top), np.log(1e-12)), np.full(len(top), np.log(start))
    for _ in range(20):
        middle = (low + high) / 2
        above = f(np.exp(middle)) > top - cut
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.exp(high)


class Lines:
    """Nodes of ln d, and along each the panels of logit theta; `fineness` scales the nodes on both axes, `cut` is how far
    the density falls within the range, `longest` bounds the panels of ln d.

    v, weight: the nodes of ln d and their weights; edges[w, j]: the panels' ends on line w; mass[w, j]: their integrals,
    the weight of the line included, so that they sum to 1."""

    def __init__(self, text, prior, fineness=1.0, cut=45.0, dtype=None, longest=1.5):
        self.text, self.prior, self.cut = text, prior, cut
        clusters = parse(text)
        self.f, self.rough = LnPosterior(clusters, prior, dtype), LnPosterior(clusters, prior, np.float64)
        self.order = round(10 * fineness)
        self.panels = round(10 * fineness)
        self.x, self.w = special.roots_legendre(self.order)
        self.place_lines(cut, longest)
        self.place_panels(cut)
        self.integrate()

    def ridge(self, v):
        """The argmax of the density along lines."""
        return argmax(lambda s: self.rough(s, v), np.full(len(v), -64.0), np.full(len(v), 64.0), 1e-7)

    def profile(self, v):
        v = np.atleast_1d(np.asarray(v, float))
        s = self.ridge(v)
        top = self.rough(s, v)
        width = sum(fall(lambda r: self.rough(s + sign * r, v), top, 200.0, 0.5) for sign in (-1, 1))
        return top + np.log(width)

    def place_lines(self, cut, longest):
        grid = np.linspace(-90, 90, 181)
        middle, half = grid[np.argmax(self.profile(grid))], 2.0
        for _ in range(10):
            near = middle + half * np.linspace(-1, 1, 13)
            middle, half = near[np.argmax(self.profile(near))], half * 0.25
        top = self.profile(middle)
        spread = []
        for sign in (-1, 1):
            distance = 120.0 * 1.2 ** -np.arange(150)
            height = self.profile(middle + sign * distance) - top
            unit, end = (distance[np.argmax(height > -drop) - 1] for drop in (0.5, cut))
            edges = [0.0]
            while edges[-1] < end:
                edges.append(edges[-1] + min(longest, unit + edges[-1] / 4))
            spread.append(sign * np.array(edges))
        edges = middle + np.concatenate([spread[0][::-1], spread[1][1:]])
        half = np.diff(edges)[:, None] / 2
        self.v = ((edges[:-1, None] + half) + half * self.x).ravel()
        self.weight = (half * self.w).ravel()

    def place_panels(self, cut):
        v = self.v
        s = self.ridge(v)
        top = self.rough(s, v)
        sides = []
        for sign in (-1, 1):
            f = lambda r: self.rough(s + sign * r, v)
            unit, end = fall(f, top, 200.0, 0.5), fall(f, top, 400.0, cut)
            growth = np.arcsinh(end / unit)
            sides.append(sign * unit[:, None] * np.sinh(growth[:, None] * np.arange(self.panels + 1) / self.panels))
        self.edges = s[:, None] + np.concatenate([sides[0][:, :0:-1], sides[1]], axis=1)
        self.scale = np.max(top + np.log(np.ptp(self.edges, axis=1)))

    def across(self, v, fineness):
        """Nodes of logit theta on lines at other values of ln d, and their masses, which sum to 1 on each."""
        other = copy.copy(self)
        other.v, other.order, other.panels = np.asarray(v, float), round(10 * fineness), round(10 * fineness)
        other.x, other.w = special.roots_legendre(other.order)
        other.place_panels(self.cut)
        s, weight = other.nodes(other.edges[:, :-1], other.edges[:, 1:])
        s, weight = s.reshape(len(v), -1), weight.reshape(len(v), -1)
        ln_mass = other.f(s, other.v[:, None])
        mass = np.exp(ln_mass - np.max(ln_mass, axis=1, keepdims=True)) * weight
        return s, mass / np.sum(mass, axis=1, keepdims=True)

    def nodes(self, low, high):
        """Nodes and weights of theta's panels [low, high], arrays over the lines first; one more axis."""
        half = (high - low)[..., None] / 2
        return (low + high)[..., None] / 2 + half * self.x, half * self.w

    def density(self, s):
        """At s[w, ...]: of the joint, times the weight of the line."""
        shape = (-1,) + (1,) * (s.ndim - 1)
        return np.exp(self.f(s, self.v.reshape(shape)) - self.scale) * self.weight.reshape(shape)

    def integrate(self):
        s, weight = self.nodes(self.edges[:, :-1], self.edges[:, 1:])
        self.s, self.mass_at = s, self.density(s) * weight
        total = np.sum(self.mass_at)
        self.scale = self.scale + np.log(total)
        self.mass_at = self.mass_at / total
        self.mass = np.sum(self.mass_at, axis=2)

    def beyond(self, s, upper):
        """On each line, the mass of logit theta below s[w], or above it, summed from that side."""
        rows = np.arange(len(s))
        s = np.clip(s, self.edges[:, 0], self.edges[:, -1])
        j = np.clip(np.sum(self.edges <= s[:, None], axis=1) - 1, 0, self.mass.shape[1] - 1)
        if upper:
            whole = np.cumsum(self.mass[:, ::-1], axis=1)[:, ::-1] - self.mass
            near, far = s, self.edges[rows, j + 1]
        else:
            whole = np.cumsum(self.mass, axis=1) - self.mass
            near, far = self.edges[rows, j], s
        at, weight = self.nodes(near, far)
        return whole[rows, j] + np.sum(self.density(at) * weight, axis=1)

    def tail(self, s, upper):
        return np.sum(self.beyond(s, upper))


def solve(tail_of, tail, start, step):
    """The x at which ln tail_of(x) = ln tail; tail_of is monotone in x."""
    excess = lambda x: float(np.log(np.maximum(tail_of(x), 1e-300)) - np.log(tail))
    low, high = start - step, start + step
    at_low, at_high = excess(low), excess(high)
    while at_low * at_high > 0:
        step *= 2
        # toward the end whose tail is closer to the one wanted
        if abs(at_low) < abs(at_high):
            low, high, at_high = low - step, low, at_low
            at_low = excess(low)
        else:
            low, high, at_low = high, high + step, at_high
            at_high = excess(high)
    return optimize.brentq(excess, low, high, xtol=1e-15 * max(1, abs(low)), rtol=1e-15, maxiter=200)


def theta_bounds(lines, level):
    """The logits of the equal-tailed bounds of theta."""
    tail = (1 - level) / 2
    start = float(np.sum(lines.s * lines.mass_at))
    step = float(np.sqrt(np.sum((lines.s - start) ** 2 * lines.mass_at)))
    return [solve(lambda s: lines.tail(np.full(len(lines.v), s), upper), tail, start, step) for upper in (False, True)]
