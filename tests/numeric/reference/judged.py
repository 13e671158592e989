"""References for the accuracy behind a judge's verdicts.

The C code integrates over q and along a line of (u, v).  Here P(theta <= x), theta = q u + (1-q) v, is a double integral over
u and v of the distribution function of q, at (x - v) / (u - v), by dense Gauss-Legendre rules.  u and v are squared sines of
angles, in which Jeffreys' densities are analytic; panels end where u, v or q are at their quantiles, and shrink toward u = x
and v = x, where that quotient is not continuous.  Every number is computed twice, the second time with more nodes, and the
two must agree within TOLERANCE.  With one verdict and no labels theta is uniform.
"""
import numpy as np
from scipy import optimize, special

HEADER = ["method", "right_right", "right_wrong", "wrong_right", "wrong_wrong", "judged_right", "judged", "level", "lo", "hi"]
RULES = [np.polynomial.legendre.leggauss(n) for n in (13, 16)]
SHARES = [1e-18, 1e-14, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 0.02, 0.15, 0.5]
NEAR = 4.0 ** -np.arange(1, 14)
TOLERANCE = 1e-10


def marks(a, b):
    """Quantiles from one end to the other."""
    return np.concatenate([special.btdtri(a, b, SHARES), (1 - special.btdtri(b, a, SHARES))[::-1]])


def angle(x):
    return np.arcsin(np.sqrt(np.clip(x, 0, 1)))


def parts(points, low, high, rule):
    points = np.unique(np.concatenate([[low, high], points[(points > low) & (points < high)]]))
    half = np.diff(points) / 2
    x = points[:-1, None] + half[:, None] * (rule[0] + 1)
    return x.ravel(), (half[:, None] * rule[1]).ravel()


def density(a, b, at):
    """Of the angle."""
    return 2 * np.exp((2 * a - 1) * np.log(np.sin(at)) + (2 * b - 1) * np.log(np.cos(at)) - special.betaln(a, b))


class Judge:
    def __init__(self, rr, rw, wr, ww, judged_right, judged):
        self.q = (1 + rr + rw + judged_right, 1 + wr + ww + judged - judged_right)
        self.u, self.v = (0.5 + rr, 0.5 + rw), (0.5 + wr, 0.5 + ww)
        self.marks = {name: marks(*getattr(self, name)) for name in "quv"}

    def side(self, x, upper, rule):
        """The part of P(theta <= x), or of P(theta > x), from u > x > v and from u < x < v."""
        sum_, middle = 0.0, angle(x)
        for u_above in (True, False):
            u_ends = (middle, np.pi / 2) if u_above else (0, middle)
            v_ends = (0, middle) if u_above else (middle, np.pi / 2)
            near = middle + NEAR * ((u_ends[1] - middle) if u_above else -middle)
            q = self.marks["q"]  # at these u the steps of q leave the range of v
            with np.errstate(divide="ignore", invalid="ignore"):
                leave = np.nan_to_num(np.concatenate([x / q, (x - 1 + q) / q]), nan=0, posinf=0, neginf=0)
            u, weight = parts(np.concatenate([angle(self.marks["u"]), near, angle(leave)]), *u_ends, rule)
            weight = weight * density(*self.u, u)
            for at, w in zip(u[weight > 1e-16], weight[weight > 1e-16]):
                known = np.sin(at) ** 2
                with np.errstate(divide="ignore", invalid="ignore"):
                    steps = np.nan_to_num((x - self.marks["q"] * known) / (1 - self.marks["q"]), nan=0, posinf=0, neginf=0)
                near = middle + NEAR * (-middle if u_above else (v_ends[1] - middle))
                v, each = parts(np.concatenate([angle(self.marks["v"]), near, angle(steps)]), *v_ends, rule)
                with np.errstate(divide="ignore", invalid="ignore"):  # a panel as narrow as rounding
                    share = np.sin(middle - v) * np.sin(middle + v) / (np.sin(at - v) * np.sin(at + v))
                share = np.clip(np.nan_to_num(share), 0, 1)  # (x - sin^2 v) / (sin^2 u - sin^2 v)
                low_q, high_q = special.btdtr(*self.q, share), special.btdtr(*self.q[::-1], 1 - share)
                sum_ += w * np.sum(each * density(*self.v, v) * (low_q if u_above != upper else high_q))
        return sum_

    def tail(self, x, upper, rule):
        if upper:
            both = special.btdtr(*self.u[::-1], 1 - x) * special.btdtr(*self.v[::-1], 1 - x)
        else:
            both = special.btdtr(*self.u, x) * special.btdtr(*self.v, x)
        return both + self.side(x, upper, rule)


def row(counts, level):
    judge = Judge(*counts)
    tail, bounds = (1 - level) / 2, []
    for upper in (False, True):
        gap = lambda z, rule: np.log(max(judge.tail(special.expit(z), upper, rule), 1e-300) / tail)
        sparse = optimize.brentq(gap, -14, 14, args=(RULES[0],), xtol=1e-11)
        step = 1e-7  # the second rule's root is a secant step away
        first, last = gap(sparse, RULES[1]), gap(sparse + step, RULES[1])
        at = sparse - first * step / (last - first)
        bounds.append(float(special.expit(at)))
        assert abs(bounds[-1] - special.expit(sparse)) < TOLERANCE, (counts, level, bounds[-1], special.expit(sparse))
    if counts == (0, 0, 0, 0, 0, 1):
        assert np.allclose(bounds, (tail, 1 - tail), atol=1e-9)
    return ["judged", *map(str, counts), repr(level), *map(repr, bounds)]


CASES = [
    ((45, 5, 4, 46, 700, 1000), 0.95), ((0, 0, 0, 0, 0, 1), 0.95), ((0, 0, 0, 0, 1, 1), 0.5), ((0, 0, 0, 0, 70, 100), 0.95),
    ((20, 0, 0, 0, 0, 0), 0.95), ((20, 0, 0, 20, 0, 0), 0.99), ((10, 0, 0, 10, 50, 100), 0.95), ((5, 1, 0, 4, 0, 0), 0.95),
    ((1, 0, 0, 0, 0, 0), 0.95), ((0, 0, 4, 16, 90, 100), 0.95), ((30, 30, 30, 30, 50, 100), 0.9), ((0, 20, 20, 0, 3, 5), 0.95),
    ((3, 1, 1, 3, 600, 1000), 0.95), ((90, 10, 20, 80, 0, 0), 0.999), ((8, 2, 1, 9, 180, 300), 0.5), ((17, 3, 2, 18, 12, 20), 0.95),
    ((150, 2, 30, 18, 4000, 5000), 0.95), ((0, 3, 0, 2, 9, 10), 0.95), ((30, 69, 101, 0, 348, 800), 0.95),
    ((1000, 0, 0, 0, 1000, 1000), 0.95), ((0, 0, 0, 300, 0, 700), 0.99),
]


def rows():
    return [(row, case) for case in CASES]
