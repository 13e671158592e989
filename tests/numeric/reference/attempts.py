"""References for pass_at_k_ci and pass_hat_k_ci, under both priors.

At a new question all of k attempts are right with the chance g = E[theta_t^k] = (d theta)_k / (d)_k given theta and d: the
likelihood of a cluster with k of k, which hierarchy.py has.  g rises with theta, so P(g <= x) is the mass of the posterior
below the curve g = x, line by line of constant d.  The curve crosses a line's whole width where d changes by little, so
the lines are laid closer and closer until two meshes agree within TOLERANCE.  At least one right is the complement of all
wrong: the same question of the mirrored clusters.

k = 1 is theta's own interval.  With one attempt an item d has its prior and theta its Beta, independent of each other:
check() integrates that in 30 digits.
"""
import mpmath as mp
import numpy as np

import clustered_icc
import hierarchy

HEADER = ["method", "prior", "level", "attempts", "lo", "hi", "rows"]
TOLERANCE = 2e-11
# fineness, cut and the longest panel of ln d
MESHES = ((1.0, 45.0, 1.5), (1.4, 50.0, 0.7), (1.4, 50.0, 0.25), (1.4, 50.0, 0.08), (1.4, 50.0, 0.03))


class Chance:
    """ln g at (logit theta, ln d)."""

    def __init__(self, k):
        self.large, self.small = (hierarchy.Form([(k, k, 1)], np.longdouble, rising) for rising in (False, True))
        self.crossing = np.log(30.0 * k)
        self.constant = self.large(np.longdouble(0), self.crossing) - self.small(np.longdouble(0), self.crossing)

    def __call__(self, s, v):
        s, v = np.asarray(s, np.longdouble), np.asarray(v, np.longdouble)
        below = v < self.crossing
        out = np.empty(s.shape, np.longdouble)
        out[below] = self.small(s[below], v[below]) + self.constant
        out[~below] = self.large(s[~below], v[~below])
        return np.minimum(out, -np.longdouble(1e-300))


def crossing(chance, z, lines):
    """On each line the logit theta at which ln(-ln g), which falls with it, is z; bisection within the line's range."""
    low, high = lines.edges[:, 0].astype(np.longdouble), lines.edges[:, -1].astype(np.longdouble)
    for _ in range(64):
        middle = (low + high) / 2
        above = np.log(-chance(middle, lines.v)) > z
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return (low + high) / 2


def scale(chance, lines):
    """The mean and the standard deviation of ln(-ln g)."""
    s = np.stack([lines.edges[:, lines.panels - 1], lines.edges[:, lines.panels + 1]], axis=1)
    z = np.log(-chance(s, np.repeat(lines.v[:, None], 2, axis=1)))
    weight = np.repeat(np.sum(lines.mass, axis=1)[:, None] / 2, 2, axis=1)
    mean = float(np.sum(weight * z))
    return mean, max(1e-6, float(np.sqrt(np.sum(weight * (z - mean) ** 2))))


def all_right(level, k, lines):
    """Both bounds of g."""
    chance, tail = Chance(k), (1 - level) / 2
    start, step = scale(chance, lines)
    bounds = []
    for upper in (False, True):
        z = hierarchy.solve(lambda z: lines.tail(crossing(chance, z, lines), upper), tail, start, step)
        bounds.append(float(np.exp(-np.exp(np.longdouble(z)))))
    return np.array(bounds)


def refined(level, k, text, prior):
    """all_right() on meshes ever closer, until two agree."""
    last = None
    for mesh in MESHES:
        bounds = all_right(level, k, lines_of(text, prior, *mesh))
        if last is not None and np.max(np.abs(bounds - last)) < TOLERANCE:
            return bounds
        last = bounds
    raise ArithmeticError((level, k, text, prior, bounds))


KEPT = {}


def lines_of(text, prior, fineness, cut, longest):
    """Kept while neighbouring rows ask for the same."""
    key = text, prior, fineness, longest
    if key not in KEPT:
        if any(kept[:2] != key[:2] for kept in KEPT):
            KEPT.clear()
        KEPT[key] = hierarchy.Lines(text, prior, fineness, cut, longest=longest)
        if fineness == 1.0:
            clustered_icc.check_likelihood(KEPT[key])
    return KEPT[key]


def attempts(method, prior, level, k, text):
    if method == "pass_hat_k":
        lo, hi = refined(level, k, text, prior)
    else:
        lo, hi = 1 - refined(level, k, hierarchy.mirrored(text), prior)[::-1]
    return [method, prior, repr(level), str(k), repr(float(lo)), repr(float(hi)), text]


# --- one attempt an item ------------------------------------------------------------

def single(k, right, wrong, x, prior):
    """P(g <= x) when so many items had one attempt each, right or wrong: an integral over d of a Beta's distribution."""
    def ln_chance(theta, d):
        return mp.fsum(mp.log((d * theta + j) / (d + j)) for j in range(k))

    def below(d):
        theta = mp.findroot(lambda t: ln_chance(t, d) - mp.log(x), (mp.mpf("1e-12"), 1 - mp.mpf("1e-12")), solver="anderson",
                            tol=1e-20)
        return mp.betainc(right + 1, wrong + 1, 0, theta, regularized=True)

    with mp.workdps(30):
        if prior == "icc":
            return mp.quad(lambda share: below(1 / share - 1), mp.linspace(0, 1, 9))
        return mp.quad(lambda d: mp.exp(-d) * below(d), [0, 0.01, 0.1, 0.5, 1, 2, 4, 8, 16, 32, 70])


def check(prior):
    lo, hi = refined(0.9, 3, "0/1x3 1/1x7", prior)
    for bound, mass in ((lo, 0.05), (hi, 0.95)):
        exact = single(3, 7, 3, mp.mpf(bound), prior)
        assert abs(exact - mass) < 1e-9, (prior, bound, float(exact))


FEW = "0/2 1/4 3/5 5/5"
CASES = [
    (FEW, [(0.95, 1), (0.95, 2), (0.95, 5), (0.95, 100), (0.95, 10**6), (0.5, 5), (0.999999, 5)]),
    # one item
    ("3/5", [(0.95, 2)]), ("1/1", [(0.95, 2)]), ("400000/1000000", [(0.95, 5)]),
    # one attempt an item
    ("0/1x3 1/1x7", [(0.95, 5)]),
    # every item all right, all wrong, or one of both
    ("5/5x6", [(0.95, 2), (0.95, 10**6), (0.999999, 5)]), ("0/4x15", [(0.95, 5)]), ("0/5x3 5/5x4", [(0.5, 100)]),
    # unequal n; many attempts; many items
    ("1/2x3 0/7 19/20 30/100", [(0.95, 2)]), ("120/200x5 80/200x4 199/200", [(0.95, 5)]),
    ("0/4x14 1/4x12 2/4x10 3/4x4 4/4x10", [(0.95, 4), (0.95, 100)]),
]


def rows():
    for prior in hierarchy.PRIORS:
        check(prior)
    return [(attempts, (method, prior, level, k, text)) for text, asked in CASES for prior in hierarchy.PRIORS
            for method in ("pass_at_k", "pass_hat_k") for level, k in asked]
