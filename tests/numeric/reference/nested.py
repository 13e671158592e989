"""References for nested_ci, nested_each and noise: tasks, questions, attempts, without any lattice.

With p = theta_t, and (x)_k for the rising factorial, a task's likelihood prod (d2 p)_k (d2 (1-p))_(n-k) / (d2)_n is a
polynomial with positive coefficients in p and 1-p, whose integral against Beta(d1 theta, d1 (1-theta)) is a sum of (d1
theta)_i (d1 (1-theta))_j / (d1)_(i+j).  So tasks and questions are integrated exactly.  The result is a polynomial in
theta, which a Gauss-Legendre rule integrates exactly too.  In d1 and d2 it is rational, with poles at the negative
whole numbers: Gauss-Legendre panels in 1/(1+d) under 'icc' and in d under 'gamma'.

    theta    P(theta <= q) is the polynomial's integral to q.
    theta_t  P(theta_t <= q) is the same sum with incomplete Betas; in theta they are steps as wide as the Beta, about q, and get
             panels there, line by line of d1.
    shares   of tasks x1, questions (1-x1) x2, reruns (1-x1)(1-x2) with x = 1/(1+d): regions of (x1, x2), with panels of x1 that
             narrow toward the corner x1 = 1-q, and of x2 that end at the region's edge.

Every number is computed twice, the second time with more nodes on every axis, and the two must agree within TOLERANCE.
The sum over a task is compared with mpmath's quadrature of the product over p.
"""
import functools

import mpmath as mp
import numpy as np
from scipy import optimize, special

HEADER = ["method", "prior", "level", "lo", "hi", "rows"]
SHARES = ("tasks", "questions", "reruns")
TOLERANCE = 2e-10
# Panels of 1/(1+d), denser near the poles of many attempts; of d, until e^-d is negligible.
EDGES = {"icc": (0, 2e-4, 1e-3, 4e-3, 0.015, 0.05, 0.12, 0.25, 0.5, 0.8, 1), "gamma": (0, 0.05, 0.3, 1, 2.5, 5, 9, 15, 24, 40)}


def parse(text):
    """[[(k, n), ..] for each task] of k/n/task or k/n/taskx5."""
    tasks = {}
    for row in text.split():
        counts, _, times = row.partition("x")
        k, n, task = map(int, counts.split("/"))
        tasks.setdefault(task, []).extend([(k, n)] * int(times or 1))
    return list(tasks.values())


def panels(edges, order):
    x, w = special.roots_legendre(order)
    edges = np.asarray(edges, float)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half + half * x).ravel(), (half * w).ravel()


def within(edges, low, high):
    return [low, *(e for e in edges if low < e < high), high]


class Axis:
    """Nodes and weights of d under its prior, with x = 1/(1+d) from `low` to `high`."""

    def __init__(self, prior, order, low=0.0, high=1.0):
        if prior == "icc":
            x, self.w = panels(within(EDGES["icc"], low, high), order)
            self.d = (1 - x) / x
        else:
            end = EDGES["gamma"][-1]
            low_d, high_d = 1 / high - 1, min(end, 1 / low - 1 if low > 0 else end)
            if low_d >= high_d:
                self.d = self.w = np.zeros(0)
                return
            self.d, self.w = panels(within(EDGES["gamma"], low_d, high_d), order)
            self.w = self.w * np.exp(-self.d)


def powers(tasks, d2):
    """The coefficients of p^i and of (1-p)^j for each task; their products are the coefficients of p^i (1-p)^j."""
    out = []
    for task in tasks:
        right, wrong = np.ones((len(d2), 1)), np.ones((len(d2), 1))
        for k, n in task:
            for side, count in ((0, k), (1, n - k)):
                for m in range(count):
                    old = (right, wrong)[side]
                    new = np.zeros((len(d2), old.shape[1] + 1))
                    new[:, 1:] = old * d2[:, None]
                    new[:, :-1] += old * m
                    # each factor is divided by m + d2, so that nothing overflows
                    new /= (m + d2)[:, None]
                    right, wrong = (new, wrong) if side == 0 else (right, new)
            # (d2)_k (d2)_(n-k) / (d2)_n in place of the factors that were divided by
            ln = sum(special.gammaln(d2 + c) - special.gammaln(d2) for c in (k, n - k)) - special.gammaln(d2 + n) + special.gammaln(d2)
            right = right * np.exp(ln)[:, None]
        out.append((right, wrong))
    return out


def rising_ratios(a, b, i, j):
    """(a)_i (b)_j / (a+b)_(i+j) for all i and j, of arrays a, b."""
    ln = lambda x, count: np.concatenate([np.zeros((len(x), 1)), np.cumsum(np.log(x[:, None] + np.arange(count - 1)), 1)], 1)
    la, lb, lc = ln(a, i), ln(b, j), ln(a + b, i + j - 1)
    at = np.arange(i)[:, None] + np.arange(j)
    return np.exp(la[:, :, None] + lb[:, None, :] - lc[:, at])


class Posterior:
    def __init__(self, text, prior, order):
        self.tasks, self.prior, self.order = parse(text), prior, order
        self.first, self.second = Axis(prior, order), Axis(prior, order)
        self.powers = powers(self.tasks, self.second.d)
        degree = sum(n for task in self.tasks for _, n in task)
        self.theta_order = degree // 2 + 2 + order // 4
        self.total = self.mass(0, 1)

    def likelihoods(self, theta, d1, coefficients):
        """The likelihood of each task at points theta of a line d1, for each node of d2."""
        out = []
        for right, wrong in coefficients:
            ratios = rising_ratios(d1 * theta, d1 * (1 - theta), right.shape[1], wrong.shape[1])
            out.append(np.einsum("pij,bi,bj->pb", ratios, right, wrong, optimize=True))
        return out

    def mass(self, low, high, weigh=None):
        """The mass of theta between low and high, or the integral of weigh(d1, d2)."""
        theta, w = panels((low, high), self.theta_order)
        sum_ = 0.0
        for d1, w1 in zip(self.first.d, self.first.w):
            along = w @ np.prod(self.likelihoods(theta, d1, self.powers), 0)
            sum_ += w1 * along @ (self.second.w * (1 if weigh is None else weigh(d1, self.second.d)))
        return float(sum_)

    def theta_below(self, q):
        return self.mass(0, q) / self.total

    # each

    def task_nodes(self, d1, q):
        """Panels of theta about q, as wide as Beta(d1 theta, d1 (1-theta)) there."""
        sd = np.sqrt(q * (1 - q) / (1 + d1))
        out = [sd * f for f in (0, 0.7, 1.6, 2.8, 4.5, 7, 10)]
        edges = sorted({min(1.0, max(0.0, q + s * e)) for e in out for s in (-1, 1)} | {0.0, q / 3, (2 + q) / 3, 1.0})
        return panels(edges, self.order)

    def task_below(self, which, q):
        right, wrong = self.powers[which]
        shape = right.shape[1], wrong.shape[1]
        i, j = np.arange(shape[0])[:, None], np.arange(shape[1])
        sum_ = 0.0
        for d1, w1 in zip(self.first.d, self.first.w):
            theta, w = self.task_nodes(d1, q)
            all_ = self.likelihoods(theta, d1, self.powers)
            a, b = (d1 * theta)[:, None, None], (d1 * (1 - theta))[:, None, None]
            below = rising_ratios(d1 * theta, d1 * (1 - theta), *shape) * special.betainc(a + i, b + j, q)
            all_[which] = np.einsum("pij,bi,bj->pb", below, right, wrong, optimize=True)
            sum_ += w1 * (w @ np.prod(all_, 0)) @ self.second.w
        return float(sum_ / self.total)

    def task_mean(self, which):
        right, wrong = self.powers[which]
        shape = right.shape[1] + 1, wrong.shape[1]
        theta, w = panels((0, 1), self.theta_order + 1)
        sum_ = 0.0
        for d1, w1 in zip(self.first.d, self.first.w):
            all_ = self.likelihoods(theta, d1, self.powers)
            ratios = rising_ratios(d1 * theta, d1 * (1 - theta), *shape)[:, 1:]
            all_[which] = np.einsum("pij,bi,bj->pb", ratios, right, wrong, optimize=True)
            sum_ += w1 * (w @ np.prod(all_, 0)) @ self.second.w
        return float(sum_ / self.total)

    # shares

    def share_mean(self, name):
        weigh = {"tasks": lambda d1, d2: 1 / (1 + d1) + 0 * d2, "questions": lambda d1, d2: d1 / (1 + d1) / (1 + d2),
                 "reruns": lambda d1, d2: d1 / (1 + d1) * (d2 / (1 + d2))}[name]
        return self.mass(0, 1, weigh) / self.total

    def region(self, low, high, bounds):
        """Mass of x1 from low to high, and of x2 between bounds(x1)."""
        first = Axis(self.prior, self.order, low, high)
        theta, w = panels((0, 1), self.theta_order)
        sum_ = 0.0
        for d1, w1 in zip(first.d, first.w):
            second = Axis(self.prior, self.order, *bounds(1 / (1 + d1)))
            if len(second.d):
                along = w @ np.prod(self.likelihoods(theta, d1, powers(self.tasks, second.d)), 0)
                sum_ += w1 * along @ second.w
        return float(sum_)

    def share_below(self, name, q):
        whole = lambda x: (0.0, 1.0)
        if name == "tasks":
            return self.region(0, q, whole) / self.total
        inner = (lambda x: (0.0, q / (1 - x))) if name == "questions" else (lambda x: (1 - q / (1 - x), 1.0))
        edges = [0, *(1 - f * q for f in (300, 100, 30, 10, 4, 2, 1.3) if f * q < 1), 1 - q]
        return (self.region(1 - q, 1, whole) + sum(self.region(a, b, inner) for a, b in zip(edges[:-1], edges[1:]))) / self.total


def root(below, share, guess=None):
    """The q at which below(q) is the share, on the logit scale, by secants from a guess if there is one."""
    def excess(v):
        p = below(float(special.expit(v)))
        return p / share - 1 if share < 0.5 else 1 - (1 - p) / (1 - share)

    if guess is None:
        low, high = -3.0, 3.0
        while excess(low) > 0:
            low -= 3
        while excess(high) < 0:
            high += 3
        return float(special.expit(optimize.brentq(excess, low, high, xtol=1e-12)))
    before, v = special.logit(guess) - 1e-4, special.logit(guess)
    ln_before, ln = excess(before), excess(v)
    for _ in range(3):
        if ln == ln_before or abs(v - before) < 1e-13:
            break
        before, ln_before, v = v, ln, v - ln * (v - before) / (ln - ln_before)
        ln = excess(v)
    q = float(special.expit(v))
    assert abs(ln) < 1e-10 + 1e-15 / min(share, 1 - share, q, 1 - q), (guess, v, ln)
    return q


def twice(compute, fine, coarse, what):
    """A number with both densities of nodes; the coarse result is the first guess of the fine one."""
    first = compute(coarse, None)
    second = compute(fine, first)
    assert abs(first - second) < TOLERANCE, (what, first, second)
    return second


@functools.lru_cache(maxsize=4)
def pair(text, prior):
    return Posterior(text, prior, 16), Posterior(text, prior, 10)


def interval(below, level, text, prior):
    fine, coarse = pair(text, prior)
    return [twice(lambda p, guess: root(lambda q: below(p, q), share, guess), fine, coarse, (text, prior, level, share))
            for share in ((1 - level) / 2, (1 + level) / 2)]


@functools.lru_cache(maxsize=None)
def check_by_mpmath(text):
    """A task's likelihood at some points, by quadrature of the model over ln p and ln(1-p)."""
    half = [-300, -100, -40, -15, -6, -2, mp.log(0.5)]
    for theta, d1, d2 in ((0.3, 2.0, 0.7), (0.8, 0.9, 11.0), (0.55, 30.0, 2.0)):
        ours = Posterior.likelihoods(None, np.array([theta]), d1, powers(parse(text), np.array([d2])))
        for task, got in zip(parse(text), ours):
            a, b = mp.mpf(d1) * theta, d1 - mp.mpf(d1) * theta
            f = lambda x, y: x**(a - 1) * y**(b - 1) / mp.beta(a, b) * mp.fprod(
                mp.rf(d2 * x, k) * mp.rf(d2 * y, n - k) / mp.rf(d2, n) for k, n in task)
            low = lambda u: f(mp.exp(u), 1 - mp.exp(u)) * mp.exp(u)
            high = lambda u: f(1 - mp.exp(u), mp.exp(u)) * mp.exp(u)
            with mp.workdps(25):
                wanted = mp.quad(low, half) + mp.quad(high, half)
            assert abs(got[0, 0] / wanted - 1) < 1e-11, (text, task, got, wanted)


def theta(text, prior, level):
    if text != MANY_ATTEMPTS:
        check_by_mpmath(text)
    return ["nested", prior, repr(level), *map(repr, interval(Posterior.theta_below, level, text, prior)), text]


A = "1/3/1 3/3/1 0/2/1 2/3/2x2 0/3/3 1/3/3 3/3/3x2"
B = "1/2/1 2/2/1 1/2/2 0/2/2"
ALL_RIGHT = "2/2/1x2 3/3/2 2/2/3 1/1/3"
ALIKE = "0/3/1x2 2/3/2 1/3/2 3/3/3 0/3/3"
ONE_TASK = "4/4/1 0/4/1 2/4/1 3/4/1 4/4/1"
ONE_QUESTION = "1/2/1"
UNEQUAL = "5/8/1 1/1/1 0/1/2 12/16/2 2/3/3 1/1/3"
SURE = "4/4/1x2 0/4/1 4/4/2 0/4/2x2 4/4/3x3"
COIN = "2/4/1x3 2/4/2x3 2/4/3x3 2/4/4x3"
MANY_ATTEMPTS = "40/64/1 2/3/2"
WRONG = "0/2/1"
CASES = (A, B, ALL_RIGHT, ALIKE, ONE_TASK, ONE_QUESTION, UNEQUAL, SURE, COIN, MANY_ATTEMPTS, WRONG)


def rows():
    import nested_large  # which uses this module
    return [(theta, (text, prior, level)) for text in CASES
            for prior, level in (("icc", 0.95), ("icc", 0.5), ("icc", 0.999999), ("gamma", 0.95))] + [
                (nested_large.theta, (text, prior, 0.95)) for text, prior in nested_large.CASES]
