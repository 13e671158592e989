"""References for clustered_each: the posterior of a cluster's own theta_t, under both priors.

Given theta and d, theta_t ~ Beta(d theta + k, d (1-theta) + n-k): the Beta(d theta, d (1-theta)) that it is drawn from,
times x^k (1-x)^(n-k), over the likelihood of the cluster, which hierarchy.py has.  Here the density of u = logit
theta_t is integrated over hierarchy.py's lines, and its own integral gives the bounds; ext/stats sums Betas over
thinned points of another mesh, and follows their logarithm in asinh u.  If d is large, the Beta is narrower than
theta's panels: such a line gets panels of its own, ever narrower toward u.  The mean is a sum of (d theta + k) / (d +
n).

Every number is computed twice, the second time with 1.4 times the nodes on every axis, and the two must agree within
TOLERANCE; the density must integrate to 1, and x times the density to the mean.
"""
import numpy as np
from scipy import special

import clustered_icc
import hierarchy

HEADER = ["method", "prior", "level", "k", "n", "mean", "lo", "hi", "rows"]
PATH = "stats/each.csv"
TOLERANCE = 5e-9  # between the two; the finer one is 100 times as close
END = 60.0        # of |u|: beyond it theta_t is 0 or 1, and the mass has a closed form
NARROWEST = 1e7   # d over the number of questions from which theta_t is as good as theta: the share of such d is as small
CUT = 45.0


def ln_expit(u):
    return -np.logaddexp(0, -u)


def stirling_rest(z):
    """ln Gamma(z) - [(z - 1/2) ln z - z + ln(2 pi)/2]."""
    large = z > 40
    z_large = np.where(large, z, 40.0)
    small = np.where(large, 40.0, z)
    direct = special.gammaln(small) - ((small - 0.5) * np.log(small) - small + 0.5 * np.log(2 * np.pi))
    return np.where(large, hierarchy.stirling(z_large), direct)


def ln_ratio_rest(t, ln_ratio):
    """ln(1+t)/t - 1, where ln(1+t) is known."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.abs(t) < 0.05, hierarchy.log1p_ratio(np.clip(t, -0.05, 0.05)), ln_ratio / t - 1)


def ln_beta_density(u, s, d):
    """ln of the density of u, the logit of a Beta(d theta, d (1-theta)), theta of logit s."""
    ln_theta, ln_other = ln_expit(s), ln_expit(-s)
    theta, other = np.exp(ln_theta), np.exp(ln_other)
    # x - theta without cancellation
    half = (u - s) / 2
    difference = 2 * np.sinh(np.clip(half, -300, 300)) * np.exp((ln_expit(u) + ln_expit(-u) + ln_theta + ln_other) / 2)
    up = ln_ratio_rest(difference / theta, ln_expit(u) - ln_theta)
    down = ln_ratio_rest(-difference / other, ln_expit(-u) - ln_other)
    rest = stirling_rest(d) - stirling_rest(d * theta) - stirling_rest(d * other)
    return d * difference * (up - down) + 0.5 * (np.log(d / (2 * np.pi)) + ln_theta + ln_other) + rest


class Own:
    """The posterior of u = logit theta_t of a cluster with k of n."""

    def __init__(self, text, prior, k, n, fineness):
        self.lines = hierarchy.Lines(text, prior, fineness, CUT)
        if fineness < 1:
            clustered_icc.check_likelihood(self.lines)
        self.k, self.n, self.fineness = k, n, fineness
        self.own = hierarchy.LnPosterior([(k, n, 1)], prior)
        self.d = np.exp(self.lines.v)
        self.collect_points()
        self.questions = sum(size * times for _, size, times in hierarchy.parse(text))
        self.place()

    def collect_points(self):
        """The nodes with non-negligible weight, in one row: their lines, and their Betas."""
        count = len(self.d)
        mass = self.lines.mass_at.reshape(count, -1).astype(float)
        self.line, column = np.nonzero(mass > 1e-19)
        s, self.mass = self.lines.s.reshape(count, -1).astype(float)[self.line, column], mass[self.line, column]
        d = self.d[self.line]
        theta, other = special.expit(s), special.expit(-s)
        self.a, self.b = d * theta + self.k, d * other + self.n - self.k
        tiny = np.finfo(float).tiny  # for Betas with all mass at an end, which have no density
        ln_prior_beta = special.gammaln(np.maximum(d * theta, tiny)) + special.gammaln(np.maximum(d * other, tiny)) - special.gammaln(d)
        at_half = -ln_beta_density(0.0, s, d) - d * np.log(2)
        self.ln_beta = np.where(d < 30, ln_prior_beta, at_half) + self.ln_cluster(s, self.lines.v[self.line])

    def ln_cluster(self, s, v):
        """ln of the cluster's likelihood: (d theta)_k (d (1-theta))_(n-k) / (d)_n."""
        s, v = np.broadcast_arrays(s, v)
        s, v = s.astype(self.own.dtype), v.astype(self.own.dtype)
        below = v < self.own.crossing
        out = np.empty(s.shape)
        out[below] = self.own.small(s[below], v[below]) + self.own.constant
        out[~below] = self.own.large(s[~below], v[~below])
        return out

    def ln_density(self, u, s, v, ln_own):
        return (ln_beta_density(u, s, np.exp(v)) + self.k * ln_expit(u) + (self.n - self.k) * ln_expit(-u) - ln_own)

    def density(self, u):
        """The density of u, mixed over theta and d."""
        lines = self.lines
        width = np.exp(-0.5 * (lines.v + ln_expit(u) + ln_expit(-u)))
        nearest = np.clip(np.sum(lines.edges <= u, axis=1), 1, lines.edges.shape[1] - 1)
        rows = np.arange(len(lines.v))
        panel = lines.edges[rows, nearest] - lines.edges[rows, nearest - 1]
        inside = (lines.edges[:, 0] - 64 * width < u) & (u < lines.edges[:, -1] + 64 * width)
        narrow = inside & (width < 1.5 * panel)
        point = narrow & (self.d > NARROWEST * self.questions)
        narrow &= ~point
        wide = inside & ~narrow & ~point | ~inside & (width > 0.1)  # else u is 64 widths away from every node of the line
        at = wide[self.line]
        total = np.sum(self.mass[at] * np.exp(self.a[at] * ln_expit(u) + self.b[at] * ln_expit(-u) - self.ln_beta[at]))
        for lines_of_kind, integral in ((narrow & (width < 0.1), self.normal_lines), (narrow & (width >= 0.1), self.narrow_lines)):
            if np.any(lines_of_kind):
                total += integral(u, lines_of_kind, width[lines_of_kind, None])
        point &= (lines.edges[:, 0] < u) & (u < lines.edges[:, -1])
        return float(total + np.sum(np.exp(lines.f(u, lines.v[point]) - lines.scale) * lines.weight[point]))

    def normal_lines(self, u, which, width):
        """Lines along which it is nearly normal: the trapezoid rule."""
        step = 0.25 / self.fineness
        s = u + width * np.arange(-10, 10 + step / 2, step)
        return np.sum(self.along(u, which, s) * (step * width))

    def narrow_lines(self, u, which, width):
        """Lines along which the Beta's density at u changes within a panel: with panels about u as well."""
        lines = self.lines
        outward = 2.0 ** np.arange(-1, 7)
        about = u + width * np.concatenate([-outward[::-1], [0.0], outward])
        edges = np.sort(np.concatenate([lines.edges[which].astype(float), about], axis=1), axis=1)
        first, last = lines.edges[which, :1], lines.edges[which, -1:]
        edges = np.clip(edges, np.maximum(first, about[:, :1]), np.minimum(last, about[:, -1:]))
        s, weight = lines.nodes(edges[:, :-1], edges[:, 1:])
        s = s.astype(float)
        count = len(s)
        return np.sum(self.along(u, which, s.reshape(count, -1)) * weight.reshape(count, -1))

    def along(self, u, which, s):
        """The joint density of theta and u at nodes s of some lines, times their weights."""
        v = np.broadcast_to(self.lines.v[which, None], s.shape)
        joint = np.exp(self.lines.f(s, v) - self.lines.scale) * self.lines.weight[which, None]
        return joint * np.exp(self.ln_density(u, s, v, self.ln_cluster(s, v)))

    def place(self):
        """Panels of u outward from its mean, until their mass is negligible or they reach END."""
        a, b = self.a, self.b
        self.mean = float(np.sum(self.mass * a / (a + b)))
        # if d is tiny, the spread of the logit is that of an exponential, and too wide for the middle
        logit = special.digamma(np.maximum(a, 0.3)) - special.digamma(np.maximum(b, 0.3))
        centre = float(np.sum(self.mass * logit))
        spread = special.polygamma(1, np.maximum(a, 0.3)) + special.polygamma(1, np.maximum(b, 0.3)) + (logit - centre) ** 2
        unit = float(np.sqrt(np.sum(self.mass * spread))) / 2
        order = round(12 * self.fineness)
        self.x, self.w = special.roots_legendre(order)
        sides = {}
        for sign in (-1, 1):
            sides[sign] = []
            at, step = centre, unit
            while abs(at) < END or at * sign < 0:
                to = float(np.clip(at + sign * step, -END, END))
                sides[sign].append(self.panel(min(at, to), max(at, to)))
                if sides[sign][-1][2] < 1e-17:
                    break
                at, step = to, min(1.3 * step, 3.0)
        panels = sides[-1][::-1] + sides[1]
        self.edges = np.array([p[0] for p in panels] + [panels[-1][1]])
        self.masses = np.array([p[2] for p in panels])
        self.beyond = [self.past_end(sign) if abs(edge) == END else 0.0
                       for sign, edge in ((-1, self.edges[0]), (1, self.edges[-1]))]
        whole = np.sum(self.masses) + sum(self.beyond)
        allowed = max(TOLERANCE, 1e-14 * self.n)  # a million logarithms' rounding, of what is alike at every u
        assert abs(whole - 1) < allowed, (self.lines.text, self.lines.prior, self.k, self.n, whole)
        mean = sum(p[3] for p in panels) + self.beyond[1]
        assert abs(mean - self.mean) < allowed, (self.lines.text, self.k, self.n, mean, self.mean)

    def panel(self, low, high):
        """A panel's ends, its mass, and its part of the mean."""
        u = (low + high) / 2 + (high - low) / 2 * self.x
        q = np.array([self.density(x) for x in u]) * (high - low) / 2 * self.w
        return low, high, float(np.sum(q)), float(np.sum(q * special.expit(u)))

    def past_end(self, sign):
        """There the density of u falls as exp(-a |u|), a the Beta's own exponent."""
        exponent = self.a if sign < 0 else self.b
        there = exponent < 1e-280  # a Beta with all its mass there
        some = ~there
        return float(np.sum(self.mass[there])
                     + np.sum(self.mass[some] * np.exp(-exponent[some] * END - self.ln_beta[some]) / exponent[some]))

    def bound(self, tail, upper):
        """The theta_t with that mass beyond it, summed from that side."""
        outside = self.beyond[1] if upper else self.beyond[0]
        if outside >= tail:
            return 1.0 if upper else 0.0
        order = range(len(self.masses) - 1, -1, -1) if upper else range(len(self.masses))
        for i in order:
            if outside + self.masses[i] >= tail:
                break
            outside += self.masses[i]
        low, high = self.edges[i], self.edges[i + 1]
        between = lambda u: self.panel(u, high)[2] if upper else self.panel(low, u)[2]
        a, b = low, high
        start = (low + high) / 2
        for _ in range(60):
            excess = outside + between(start) - tail
            a, b = (start, b) if (excess < 0) != upper else (a, start)
            step = -excess / self.density(start) * (-1 if upper else 1)
            if abs(step) < 1e-12:
                break
            start = start + step if a < start + step < b else (a + b) / 2
        return float(special.expit(start + step))


KEPT = {}


def posterior(*key):
    if key not in KEPT:
        if any(kept[:4] != key[:4] for kept in KEPT):
            KEPT.clear()
        KEPT[key] = Own(*key)
    return KEPT[key]


def each(prior, level, k, n, text):
    sparse, dense = (posterior(text, prior, k, n, fineness) for fineness in (0.7, 1.0))
    tail = (1 - level) / 2
    numbers = [(own.mean, own.bound(tail, False), own.bound(tail, True)) for own in (sparse, dense)]
    change = np.max(np.abs(np.subtract(*numbers)))
    assert change < TOLERANCE, (text, prior, k, n, level, numbers)
    return ["clustered_each", prior, repr(level), str(k), str(n), *map(repr, numbers[1]), text]


FEW = "0/2 1/4 3/5 5/5"
CASES = [
    (FEW, 3, 5, (0.5, 0.95, 0.999999)),
    # one cluster; one question each
    ("3/5", 3, 5, (0.95,)), ("1/1", 1, 1, (0.5, 0.95)), ("0/1x3 1/1x7", 1, 1, (0.95,)),
    # all right, all wrong
    ("5/5x6", 5, 5, (0.95, 0.999999)), ("0/4x15", 0, 4, (0.95,)),
    # unequal sizes; many clusters
    ("1/2x3 0/7 19/20 30/100", 0, 7, (0.95,)), ("0/4x14 1/4x12 2/4x10 3/4x4 4/4x10", 2, 4, (0.95,)),
]


def rows():
    return [(each, (prior, level, k, n, text)) for text, k, n, levels in CASES for prior in hierarchy.PRIORS for level in levels]
