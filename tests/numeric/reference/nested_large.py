"""References for nested_ci, nested_each and noise where tasks have hundreds of answers, for which nested.py's polynomials are too long.

Everything is integrated by panels of Gauss and Legendre, each quantity on its own scale:

    d1          in 1/(1+d1), or in d1 under 'gamma', as nested.py does; d2, which the data know well, in ln d2
    theta       on each line of d1, in logit theta, from where its density begins to where it ends
    theta_t     at each point (theta, d1): where Beta(d1 theta, d1 (1-theta)) is narrow, between the places where it has fallen by
                e^-42; where it is wide, on fixed panels of logit theta_t, which grow in length beyond 8

A distribution function is a sum of whole panels and of the integral of Legendre's series in the panel that is cut.  The density
of theta_t at a place is an integral over theta on panels about that place, where the Betas of a line are narrow.  Of a share, the
mass of d2 on each line of d1 is cut where the share's region ends.  Every number is computed twice, the second time with more
nodes in every panel.
"""
import functools
import random
import statistics

import numpy as np
from scipy import special

import nested
from nested import panels, parse

# A Beta with d1 theta (1-theta) above this is narrow: its logit has an sd below 0.16.
NARROW = 40
DROP = 42
# Of the two computations of a number, where the bar is 1e-8; and of a bound of a share, where it is 1e-6.
TOLERANCE, SHARE_TOLERANCE = 5e-9, 1e-7


def ln_logistic(v):
    return -np.logaddexp(0, -v)


def ln_beta_density(v, s, d1):
    """ln of the density of logit theta_t at v, given logit theta = s."""
    a, b = d1 * special.expit(s), d1 * special.expit(-s)
    return a * ln_logistic(v) + b * ln_logistic(-v) - special.betaln(a, b)


def reach(s, d1, way):
    """How far from s that density has fallen by DROP."""
    top, low, high = ln_beta_density(s, s, d1), np.zeros_like(s), np.full_like(s, 1e4)
    for _ in range(80):
        mid = (low + high) / 2
        near = ln_beta_density(s + way * mid, s, d1) > top - DROP
        low, high = np.where(near, mid, low), np.where(near, high, mid)
    return high


@functools.lru_cache(maxsize=None)
def legendre(order):
    """Nodes, weights, and the matrix from values at the nodes to coefficients of Legendre's series."""
    x, w = special.roots_legendre(order)
    k = np.arange(order)
    return x, w, (np.polynomial.legendre.legvander(x, order - 1) * w[:, None]).T * (k + 0.5)[:, None]


def partial(edges, order, values, q):
    """The integral up to q of a function given at the nodes of panels."""
    x, w, to_series = legendre(order)
    values = values.reshape(len(edges) - 1, order)
    half = np.diff(edges) / 2
    whole = half * (values @ w)
    at = int(np.clip(np.searchsorted(edges, q) - 1, 0, len(edges) - 2))
    u = np.clip((q - edges[at]) / half[at] - 1, -1, 1)
    series = np.polynomial.legendre.legint(to_series @ values[at], lbnd=-1)
    return whole[:at].sum() + half[at] * np.polynomial.legendre.legval(u, series)


def interpolate(edges, order, values, at):
    """Values [node, ..] of a smooth function at other places, each by its panel's series."""
    _, _, to_series = legendre(order)
    values = values.reshape(len(edges) - 1, order, -1)
    which = np.clip(np.searchsorted(edges, at) - 1, 0, len(edges) - 2)
    out = np.empty((len(at), values.shape[2]))
    for i in np.unique(which):
        here = which == i
        u = 2 * (at[here] - edges[i]) / (edges[i + 1] - edges[i]) - 1
        out[here] = np.polynomial.legendre.legvander(u, order - 1) @ (to_series @ values[i])
    return out


class Line:
    """Of one d1: panels of s = logit theta, and ln of the posterior at their nodes, by nodes of d2."""

    def __init__(self, index, d1, w1):
        self.index, self.d1, self.w1 = index, d1, w1


class Posterior:
    def __init__(self, text, prior, order):
        tasks = [tuple(sorted(task)) for task in parse(text)]
        kinds = list(dict.fromkeys(tasks))
        self.kind = [kinds.index(task) for task in tasks]
        self.times = np.array([tasks.count(kind) for kind in kinds], float)
        most = max(n for task in kinds for _, n in task)
        above = lambda count: np.array([[sum(count(k, n) > i for k, n in task) for i in range(most)] for task in kinds], float)
        self.right, self.wrong, self.all = above(lambda k, n: k), above(lambda k, n: n - k), above(lambda k, n: n)
        self.prior, self.order = prior, order
        outer = [8 * 1.35**i for i in range(45)]
        inner = np.linspace(-8, 8, 129)
        self.v, self.v_weight = panels([*(-e for e in outer[:0:-1]), *inner, *outer[1:]], order)
        self.first = nested.Axis(prior, order)
        self.place_second()
        self.table = np.exp(self.ln_likelihood(self.v, self.d2) - self.most[:, None, :])
        self.lines = [Line(i, *at) for i, at in enumerate(zip(self.first.d, self.first.w))]
        for line in self.lines:
            self.place_line(line)
        most = max(line.rough for line in self.lines)
        self.lines = [line for line in self.lines if line.rough > most - DROP]
        for line in self.lines:
            line.each = self.ln_each(line.s, line.d1)
            line.ln = np.tensordot(line.each, self.times, (1, 0)) + (ln_logistic(line.s) + ln_logistic(-line.s))[:, None]
        peak = max(line.ln.max() for line in self.lines)
        for line in self.lines:
            line.mass = line.w1 * self.w2 * np.exp(line.ln - peak)   # [s, b], before the weights of s
        self.total = sum((line.w @ line.mass).sum() for line in self.lines)

    def ln_likelihood(self, v, d2):
        """[kind, v, b]"""
        i = np.arange(1, self.all.shape[1])
        ln_d2 = np.log(d2)
        out = np.zeros((len(self.times), len(v), len(d2)))
        for counts, ln_p in ((self.right, ln_logistic(v)), (self.wrong, ln_logistic(-v))):
            ln = np.log(i[:, None, None] + np.exp(ln_p)[:, None] * d2)
            out += counts[:, :1, None] * (ln_p[:, None] + ln_d2) + np.tensordot(counts[:, 1:], ln, 1)
        return out - (self.all[:, 1:] @ np.log(i[:, None] + d2) + self.all[:, :1] * ln_d2)[:, None, :]

    def place_second(self):
        """Panels of ln d2, by a coarse scan with theta_t uniform: the data know d2 well."""
        r = np.arange(-9, 12.01, 0.1)
        ln = self.ln_likelihood(self.v, np.exp(r))
        flat = np.log(self.v_weight) + ln_logistic(self.v) + ln_logistic(-self.v)
        profile = self.times @ special.logsumexp(ln + flat[:, None], 1)
        weight = np.exp(profile - profile.max())
        mean = weight @ r / weight.sum()
        sd = np.sqrt(weight @ (r - mean)**2 / weight.sum())
        assert sd < 0.4, sd
        self.edges = np.linspace(mean - 12 * sd, mean + 12 * sd, 9)
        r, self.slope = panels(self.edges, self.order)
        self.d2 = np.exp(r)
        self.w2 = self.slope * self.d2 * ((1 + self.d2)**-2 if self.prior == "icc" else np.exp(-self.d2))
        self.most = self.ln_likelihood(self.v, self.d2).max(1)

    def ln_each(self, s, d1, some=slice(None)):
        """ln of each kind's likelihood at points of a line: [point, kind, b], of all b or some."""
        most, d2 = self.most[:, some], self.d2[some]
        out = np.empty((len(s), *most.shape))
        wide = d1 * special.expit(s) * special.expit(-s) <= NARROW
        if wide.any():
            kernel = np.exp(ln_beta_density(self.v, s[wide][:, None], d1)) * self.v_weight
            with np.errstate(divide="ignore"):
                out[wide] = np.log(np.einsum("pj,tjb->ptb", kernel, self.table[:, :, some], optimize=True)) + most
        low, high = reach(s, d1, -1), reach(s, d1, 1)
        for i in np.nonzero(~wide)[0]:
            v, w = panels([s[i] - low[i], s[i] - low[i] / 2.5, s[i], s[i] + high[i] / 2.5, s[i] + high[i]], self.order)
            ln = self.ln_likelihood(v, d2) + (ln_beta_density(v, s[i], d1) + np.log(w))[:, None]
            top = ln.max(1, keepdims=True)
            out[i] = np.log(np.exp(ln - top).sum(1)) + top[:, 0]
        return out

    def place_line(self, line):
        """Panels from where the line's density begins to where it ends, each at most 2.5 sd long; and ln of its mass, roughly."""
        some = slice(len(self.d2) // 16, None, len(self.d2) // 8)
        low, high = -36.0, 36.0
        for _ in range(4):
            s = np.linspace(low, high, 25)
            each = np.tensordot(self.ln_each(s, line.d1, some), self.times, (1, 0))
            ln = special.logsumexp(each, 1) + ln_logistic(s) + ln_logistic(-s)
            near = np.nonzero(ln > ln.max() - DROP)[0]
            low, high = s[max(0, near[0] - 1)], s[min(24, near[-1] + 1)]
        weight = np.exp(ln - ln.max())
        mean = weight @ s / weight.sum()
        sd = np.sqrt(weight @ (s - mean)**2 / weight.sum())
        line.rough = ln.max() + np.log(sd * line.w1)
        line.edges = np.linspace(low, high, 1 + int(np.ceil((high - low) / min(2, 2.5 * sd))))
        line.s, line.w = panels(line.edges, self.order)

    def theta_below(self, q):
        s = special.logit(q)
        return sum(partial(line.edges, self.order, line.mass.sum(1), s) for line in self.lines) / self.total

    # each

    @functools.lru_cache(maxsize=4)
    def task_density(self, kind):
        """Panels of logit theta_t, and the density at their nodes."""
        mean = square = 0
        for line in self.lines:
            # given a point theta_t is about theta and about the task's own share: enough to place panels by
            a = line.d1 * special.expit(line.s)
            p = (a + self.right[kind].sum()) / (line.d1 + self.all[kind].sum())
            w = line.w * line.mass.sum(1) / self.total
            mean, square = mean + w @ special.logit(p), square + w @ special.logit(p)**2
        sd = np.sqrt(max(0, square - mean**2) + 4 / self.all[kind].sum())
        edges = mean + sd * np.concatenate([np.linspace(-30, -7, 24)[:-1], np.linspace(-7, 7, 71), np.linspace(7, 30, 24)[1:]])
        v, w = panels(edges, self.order)
        like = self.ln_likelihood(v, self.d2)[kind]   # [v, b]
        out = np.zeros(len(v))
        for line in self.lines:
            with np.errstate(divide="ignore"):
                others = np.log(line.mass) - line.each[:, kind]
            if line.d1 / 4 <= NARROW:
                kernel = np.exp(ln_beta_density(v, line.s[:, None], line.d1)) * line.w[:, None]
                most = others.max(0)
                out += (np.exp(like + most) * (kernel.T @ np.exp(others - most))).sum(1)
                continue
            others = np.maximum(others, others.max(0) - 200)
            width = 9.5 / np.sqrt(line.d1 * special.expit(v) * special.expit(-v))
            at, weight = panels([-1, -0.4, 0, 0.4, 1], self.order)
            for i in range(len(v)):
                s = v[i] + width[i] * at
                inside = (s > line.edges[0]) & (s < line.edges[-1])
                if not inside.any():
                    continue
                ln = interpolate(line.edges, self.order, others, s[inside]) + like[i] + ln_beta_density(v[i], s[inside], line.d1)[:, None]
                out[i] += width[i] * weight[inside] @ np.exp(ln).sum(1)
        assert abs(w @ out / self.total - 1) < 1e-9, (kind, w @ out / self.total - 1)
        return edges, v, w, out / self.total

    def task_below(self, which, q):
        edges, _, _, density = self.task_density(self.kind[which])
        return partial(edges, self.order, density, special.logit(q))

    def task_mean(self, which):
        _, v, w, density = self.task_density(self.kind[which])
        return float(w @ (density * special.expit(v)))

    # shares

    def share_mean(self, name):
        weigh = {"tasks": lambda d1, d2: 1 / (1 + d1) + 0 * d2, "questions": lambda d1, d2: d1 / (1 + d1) / (1 + d2),
                 "reruns": lambda d1, d2: d1 / (1 + d1) * (d2 / (1 + d2))}[name]
        return float(sum((line.w @ line.mass) @ weigh(line.d1, self.d2) for line in self.lines) / self.total)

    def share_below(self, name, q):
        by_line = [line.w @ line.mass / self.total for line in self.lines]   # [b] of each
        if name == "tasks":
            density = np.zeros(len(self.first.d))
            for line, mass in zip(self.lines, by_line):
                density[line.index] = mass.sum()
            density /= panels(nested.EDGES[self.prior], self.order)[1]
            if self.prior == "icc":
                return partial(nested.EDGES["icc"], self.order, density, q)
            return 1 - partial(nested.EDGES["gamma"], self.order, density, 1 / q - 1)
        below = 0.0
        for line, mass in zip(self.lines, by_line):
            share = q * (1 + 1 / line.d1)   # of what is within tasks
            odds = np.inf if share >= 1 else share / (1 - share)
            at = np.log(odds) if name == "reruns" else -np.log(odds) if odds > 0 else np.inf
            part = partial(self.edges, self.order, mass / self.slope, at)
            below += part if name == "reruns" else mass.sum() - part
        return below


@functools.lru_cache(maxsize=2)
def pair(text, prior):
    return Posterior(text, prior, 16), Posterior(text, prior, 12)


def twice(compute, text, prior, tolerance=TOLERANCE):
    """A number by both, of which the coarse one is the other's first guess."""
    fine, coarse = pair(text, prior)
    first = compute(coarse, None)
    second = compute(fine, first)
    assert abs(first - second) < tolerance, (text, prior, first, second)
    return second


def interval(below, level, text, prior, tolerance=TOLERANCE):
    return [twice(lambda p, guess: nested.root(lambda q: below(p, q), share, guess), text, prior, tolerance)
            for share in ((1 - level) / 2, (1 + level) / 2)]


def theta(text, prior, level):
    return ["nested", prior, repr(level), *map(repr, interval(Posterior.theta_below, level, text, prior)), text]


def row(method, prior, level, part, mean, below, text, tolerance=TOLERANCE):
    found = twice(lambda p, _: mean(p), text, prior)
    return [method, prior, repr(level), part, repr(found), *map(repr, interval(below, level, text, prior, tolerance)), text]


def each(text, prior, level, task):
    return row("nested_each", prior, level, str(task), lambda p: p.task_mean(task), lambda p, q: p.task_below(task, q), text)


def noise(text, prior, level, share):
    return row("noise", prior, level, share, lambda p: p.share_mean(share), lambda p, q: p.share_below(share, q), text,
               SHARE_TOLERANCE)


def suite(seed, tasks, questions, attempts, between, within):
    """Tasks and questions with normal logits."""
    draw = random.Random(seed).random
    normal = statistics.NormalDist().inv_cdf
    out = []
    for task in range(tasks):
        logit, counts = 0.5 + between * normal(draw()), {}
        for _ in range(questions):
            p = special.expit(logit + within * normal(draw()))
            k = sum(draw() < p for _ in range(attempts))
            counts[k] = counts.get(k, 0) + 1
        out += [f"{k}/{attempts}/{task + 1}x{times}" for k, times in sorted(counts.items())]
    return " ".join(out)


# Tasks that differ; tasks alike, where Betas are narrow.
CASES = [(suite(1, 20, 50, 4, 1.2, 2.0), "icc"), (suite(2, 12, 30, 4, 0.0, 2.0), "icc")]
