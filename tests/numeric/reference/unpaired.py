"""References for two independent proportions.

Independent of the C code: P, the difference and the odds ratio are integrals of
one beta density times the other's distribution function, both as polynomial
interpolants on Gauss-Legendre panels in 40-digit arithmetic.  (The same code in
long doubles gives Newton's start.)  With a prior that is not whole a density has
a power at each end, towards which panels then shrink by factors of four.  P itself
is its exact finite sum if the prior's a is whole and the sum short, and must agree
with the quadrature.  The Fisher bounds are Newton roots of the noncentral
hypergeometric tails, summed term by term and checked against scipy.
"""
import functools
import random
import sys

import mpmath as mp
import numpy as np
from scipy import optimize, special, stats

import betaref  # noqa: F401, sets 40 digits

HEADER = ["method", "k_a", "n_a", "k_b", "n_b", "margin", "level", "alpha", "beta", "lo", "hi"]
DIGITS = 20
ORDER = 20
LD = np.longdouble

# Panel edges around a mode, in standard deviations; farther ones by factors of FARTHER.
NEAR = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
FARTHER = 1.5


class Exact:
    """40 digits, one number at a time."""

    number = mp.mpf
    exp, log = (staticmethod(np.frompyfunc(f, 1, 1)) for f in (mp.exp, mp.log))


class Fast:
    """Long doubles."""

    number = LD
    exp, log = np.exp, np.log


@functools.lru_cache(maxsize=None)
def rule(arithmetic):
    """Gauss-Legendre nodes and weights, and the matrix of integrals from -1 to each node."""
    if arithmetic is Fast:
        return tuple(np.array([[LD(mp.nstr(v, 25)) for v in row] for row in np.atleast_2d(a)]).squeeze()
                     for a in rule(Exact))
    nodes = []
    for guess in special.roots_legendre(ORDER)[0]:
        nodes.append(mp.findroot(lambda t: mp.legendre(ORDER, t), mp.mpf(float(guess))))
    weights = [2 / ((1 - t * t) * mp.diff(lambda s: mp.legendre(ORDER, s), t) ** 2) for t in nodes]
    # sum over degrees of (2j+1)/2 P_j(t_k) w_k times the integral of P_j from -1 to t_i
    legendre = [[mp.legendre(j, t) for t in nodes] for j in range(ORDER + 1)]
    integral = [[1 + t for t in nodes]] + [
        [(legendre[j + 1][i] - legendre[j - 1][i]) / (2 * j + 1) for i in range(ORDER)] for j in range(1, ORDER)]
    upto = [[mp.fsum((2 * j + 1) * legendre[j][k] * integral[j][i] for j in range(ORDER)) * weights[k] / 2
             for k in range(ORDER)] for i in range(ORDER)]
    return np.array(nodes), np.array(weights), np.array(upto)


def compare(f, g, edges, arithmetic):
    """(integral of f times G, of f times 1 - G, of f g), all over the integral of f times that of g.

    G is the distribution function of g."""
    nodes, weights, upto = rule(arithmetic)
    edges = np.array([arithmetic.number(e) for e in edges])
    half = (edges[1:] - edges[:-1])[:, None] / 2
    t = (edges[1:] + edges[:-1])[:, None] / 2 + half * nodes
    f, g = f(t), g(t)
    mass = (g @ weights) * half[:, 0]
    left = np.concatenate([[0 * mass[0]], np.cumsum(mass)[:-1]])
    right = np.concatenate([np.cumsum(mass[::-1])[::-1][1:], [0 * mass[0]]])
    # Summed inward from both ends, so that a small tail is not the difference of large ones.
    below = left[:, None] + (g @ upto.T) * half
    above = right[:, None] + (g @ upto[::-1, ::-1].T) * half
    f = f * weights * half
    low, high = np.sum(f * below), np.sum(f * above)
    return low / (low + high), high / (low + high), np.sum(f * g) / (low + high)


def spread(mode, sd, lowest, highest):
    """Edges around the mode out to the two ends."""
    out = {lowest, highest}
    for sign in (-1, 1):
        steps = list(NEAR)
        while lowest < mode + sign * sd * steps[-1] < highest:
            steps.append(steps[-1] * FARTHER)
        out |= {mode + sign * sd * step for step in steps}
    return {e for e in out if lowest <= e <= highest}


def graded(points):
    """Panels that shrink towards every point, for powers there: down to 1e-79, below which is 1e-20 of a power of 1/4."""
    points = sorted(points)
    out = set(points)
    for low, high in zip(points, points[1:]):
        for j in range(130):
            part = (high - low) / 2 / mp.mpf(4) ** j
            out |= {low + part, high - part}
    return out


class Theta:
    """Beta(k+a, n-k+b) as a density of theta, unnormalised: a polynomial if a and b are whole."""

    def __init__(self, k, n, a=1, b=1):
        self.right, self.wrong = mp.mpf(k) + a - 1, mp.mpf(n - k) + b - 1
        self.whole = a == int(a) and b == int(b)
        right, wrong = self.right + 1, self.wrong + 1
        self.mode = mp.mpf(k) / n if (a, b) == (1, 1) else right / (right + wrong)
        sd = mp.sqrt(right * wrong / (right + wrong + 1)) / (right + wrong)
        self.edges = spread(self.mode, sd, mp.mpf(0), mp.mpf(1))

    def density(self, arithmetic, shift):
        """As a function of t, theta = t + shift."""
        k, rest = arithmetic.number(self.right), arithmetic.number(self.wrong)
        mode, wrong = arithmetic.number(self.mode), arithmetic.number(1 - self.mode)

        def f(t):
            theta = t + shift
            inside = (theta > 0) & (theta < 1)
            theta = np.where(inside, theta, arithmetic.number(0.5))
            value = 0 * theta
            if k:
                value = value + k * arithmetic.log(theta / mode)
            if rest:
                value = value + rest * arithmetic.log((1 - theta) / wrong)
            return np.where(inside, arithmetic.exp(value), 0 * theta)

        return f


class Logit:
    """The same as a density of t = logit(theta), which is smooth whatever a and b are."""

    whole = True

    def __init__(self, k, n, a=1, b=1):
        self.a, self.b = mp.mpf(k) + a, mp.mpf(n - k) + b
        self.mode = mp.log(self.a / self.b)
        # beyond, less than e^-110 of the peak: the tails fall like e^(a t) and e^(-b t)
        sd = mp.sqrt(1 / self.a + 1 / self.b)
        self.edges = spread(self.mode, sd, self.mode - max(120 / self.a, 16 * sd), self.mode + max(120 / self.b, 16 * sd))

    def density(self, arithmetic, shift):
        a, b = arithmetic.number(self.a), arithmetic.number(self.b)
        mode = arithmetic.number(self.mode)
        part, rest = a / (a + b), b / (a + b)

        def f(t):
            odds = arithmetic.exp(t + shift - mode)
            return arithmetic.exp(-a * arithmetic.log(part + rest / odds) - b * arithmetic.log(rest + part * odds))

        return f


def difference(a, b, c, arithmetic):
    """P(A - B < c), P(A - B > c) and the density at c."""
    edges = b.edges | {e - c for e in a.edges}
    if not (a.whole and b.whole):
        edges |= graded({mp.mpf(0), mp.mpf(1), -c, 1 - c})
    edges = sorted(edges)
    return compare(b.density(arithmetic, 0), a.density(arithmetic, arithmetic.number(c)), edges, arithmetic)


def bound(a, b, tail, upper, lowest, highest):
    """The c with that mass beyond it."""
    side = 1 if upper else 0

    def excess(c):
        # far out, rounding may make it negative
        share = max(difference(a, b, mp.mpf(c), Fast)[side], LD("1e-4000"))
        return float(np.log(share)) - float(mp.log(tail))

    c = mp.mpf(optimize.brentq(excess, lowest, highest, xtol=1e-300, rtol=1e-14))
    for _ in range(6):
        value = difference(a, b, c, Exact)
        step = (tail - value[side]) / value[2] * (-1 if upper else 1)
        c += step
        # Newton doubles the digits, in units of the tail's own width
        if abs(step) * value[2] < tail * mp.mpf(10) ** -9:
            return c
    raise ArithmeticError(f"no bound at {c}")


def short_sum(ka, na, kb, nb, a, b):
    """P(theta_A > theta_B) if a is whole: the sum over i < ka + a, the posteriors being Beta(ka+a, na-ka+b) and so on."""
    wrong_a, right_b, wrong_b = na - ka + mp.mpf(b), kb + mp.mpf(a), nb - kb + mp.mpf(b)
    return mp.fsum(mp.exp(ln_beta(right_b + i, wrong_a + wrong_b) - ln_beta(mp.mpf(1 + i), wrong_a) - ln_beta(right_b, wrong_b))
                   / (wrong_a + i) for i in range(ka + int(a)))


def finite_sum(ka, na, kb, nb):
    """P(theta_A > theta_B), the exact sum of ka+1 positive terms, outward from the largest."""
    if nb - kb < ka:
        # the same as P(1 - theta_B > 1 - theta_A), with fewer terms
        ka, na, kb, nb = nb - kb, nb, na - ka, na
    # term i: B(kb+1+i, na-ka+nb-kb+2) / ((na-ka+1+i) B(1+i, na-ka+1) B(kb+1, nb-kb+1))
    right_b, wrong_a, wrong_b = kb + 1, na - ka + 1, nb - kb + 1
    whole = right_b + wrong_a + wrong_b
    top = min(ka, max(0, (right_b * wrong_a - whole) // (wrong_b + 1)))
    with mp.workdps(70):
        ln_top = (ln_beta(right_b + top, wrong_a + wrong_b) - mp.log(wrong_a + top)
                  - ln_beta(1 + top, wrong_a) - ln_beta(right_b, wrong_b))
    # Terms in units of the largest, in fixed point: whole numbers are exact and quick.
    one = 1 << 200
    nil = one >> 120
    total, term, i = one, one, top
    while i < ka and term > nil:
        term = term * ((right_b + i) * (wrong_a + i)) // ((whole + i) * (i + 1))
        total += term
        i += 1
    term, i = one, top
    while i > 0 and term > nil:
        i -= 1
        term = term * ((whole + i) * (i + 1)) // ((right_b + i) * (wrong_a + i))
        total += term
    return mp.exp(ln_top) * total / one


def ln_beta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def text(x):
    return "inf" if x == mp.inf else mp.nstr(mp.mpf(x), DIGITS)


def line(method, ka, na, kb, nb, level, lo, hi, a=1, b=1):
    return [method, str(ka), str(na), str(kb), str(nb), "0", repr(level), repr(a), repr(b), text(lo), text(hi)]


def tail_of(level):
    return (1 - mp.mpf(level)) / 2


def prob_better(ka, na, kb, nb, level, a=1, b=1):
    worse, better, _ = difference(Logit(ka, na, a, b), Logit(kb, nb, a, b), mp.mpf(0), Exact)
    if (a, b) == (1, 1):
        exact = finite_sum(ka, na, kb, nb), finite_sum(kb, nb, ka, na)
    elif a == int(a) and max(ka, kb) <= 2000:
        exact = short_sum(ka, na, kb, nb, a, b), short_sum(kb, nb, ka, na, a, b)
    else:
        exact = better, worse
    assert abs(sum(exact) - 1) < mp.mpf(10) ** -25, (ka, na, kb, nb, exact)
    for quadrature, value in zip((better, worse), exact):
        assert abs(quadrature - value) < mp.mpf(10) ** -18 * value + mp.mpf(10) ** -30, (ka, na, kb, nb, quadrature, value)
    # what underflows is 0
    return line("prob_better", ka, na, kb, nb, level, *(p if p > sys.float_info.min else 0 for p in exact), a, b)


def diff(ka, na, kb, nb, level, a=1, b=1):
    thetas = Theta(ka, na, a, b), Theta(kb, nb, a, b)
    with mp.workdps(40 if thetas[0].whole else 120):
        ends = [bound(*thetas, tail_of(level), upper, -1, 1) for upper in (False, True)]
    return line("diff", ka, na, kb, nb, level, *ends, a, b)


def odds_ratio(ka, na, kb, nb, level, a=1, b=1):
    thetas = Logit(ka, na, a, b), Logit(kb, nb, a, b)
    ends = (mp.exp(bound(*thetas, tail_of(level), upper, -100, 100)) for upper in (False, True))
    return line("odds_ratio", ka, na, kb, nb, level, *ends, a, b)


def diff_clt(ka, na, kb, nb, level):
    pa, pb = mp.mpf(ka) / na, mp.mpf(kb) / nb
    half = mp.sqrt(2) * mp.erfinv(mp.mpf(level)) * mp.sqrt(pa * (1 - pa) / na + pb * (1 - pb) / nb)
    return line("diff_clt", ka, na, kb, nb, level, pa - pb - half, pa - pb + half)


def from_here(ka, na, kb, nb, psi, step):
    """Sum of the noncentral hypergeometric terms beyond ka that way, over ka's, and of their distances from ka."""
    m = ka + kb
    x, term, total, moment = ka, mp.mpf(1), mp.mpf(0), mp.mpf(0)
    while True:
        if step > 0:
            term *= psi * ((na - x) * (m - x)) / ((x + 1) * (nb - m + x + 1))
        else:
            term *= (x * (nb - m + x)) / (psi * ((na - x + 1) * (m - x + 1)))
        x += step
        total += term
        moment += term * (x - ka)
        # Terms rise to the mode and then fall ever faster; a zero term is the end of the support.
        if term <= total * mp.mpf(10) ** -30:
            return total, moment


def fisher_bound(ka, na, kb, nb, tail, upper):
    """The odds ratio at which P(X <= ka) (upper) or P(X >= ka) is `tail`: Newton on ln P, concave in ln psi."""
    side = -1 if upper else 1
    # The ends of the support have one term on one side: nothing to solve.
    m = ka + kb
    if upper and ka == min(na, m):
        return mp.inf
    if not upper and ka == max(0, m - nb):
        return mp.mpf(0)
    ln_psi = mp.log(mp.mpf((2 * ka + 1) * (2 * (nb - kb) + 1)) / ((2 * kb + 1) * (2 * (na - ka) + 1)))
    for _ in range(60):
        psi = mp.exp(ln_psi)
        (up, moment_up), (down, moment_down) = (from_here(ka, na, kb, nb, psi, step) for step in (1, -1))
        inside, moment_in = (up, moment_up) if side > 0 else (down, moment_down)
        everything = 1 + up + down
        slope = moment_in / (1 + inside) - (moment_up + moment_down) / everything
        step = (mp.log(tail) - mp.log((1 + inside) / everything)) / slope
        ln_psi += step
        if abs(step) < mp.mpf(10) ** -12:
            return mp.exp(ln_psi)
    raise ArithmeticError(f"no Fisher bound at {(ka, na, kb, nb, tail)}")


def fisher_or(ka, na, kb, nb, level):
    tail = tail_of(level)
    ends = [fisher_bound(ka, na, kb, nb, tail, upper) for upper in (False, True)]
    if max(na, nb) <= 100 and 0 < ka + kb < na + nb:
        theirs = stats.contingency.odds_ratio([[ka, na - ka], [kb, nb - kb]], kind="conditional").confidence_interval(level)
        for ours, other in zip(ends, theirs):
            assert abs(ours - other) <= 1e-6 * abs(ours) or ours == other, (ka, na, kb, nb, level, ours, other)
    return line("fisher_or", ka, na, kb, nb, level, *ends)


LEVELS = [0.95, 0.5, 0.9, 0.99, 0.999999]
SIZES = [1, 2, 3, 5, 10, 20, 50, 148, 1000, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9]

TABLES = [
    # published, and the smallest
    (20, 20, 18, 20), (18, 20, 12, 20), (2, 9, 8, 10), (0, 1, 0, 1), (0, 1, 1, 1), (1, 1, 0, 1), (1, 1, 1, 1),
    # all right, all wrong, one of each, the same on both sides
    (0, 10, 0, 10), (10, 10, 10, 10), (10, 10, 0, 10), (0, 1000, 0, 1000), (1000, 1000, 1000, 1000), (0, 20, 20, 20),
    (0, 10**6, 0, 10**6), (10**6, 10**6, 10**6, 10**6), (10**9, 10**9, 10**9, 10**9), (0, 10**9, 0, 10**9),
    (10**9, 10**9, 0, 10**9), (0, 10**9, 10**9, 10**9), (7, 10, 7, 10), (500, 1000, 500, 1000), (3 * 10**8, 10**9, 3 * 10**8, 10**9),
    # sizes far apart
    (2, 3, 600000, 10**6), (0, 3, 10**6, 10**6), (3, 3, 0, 10**6), (3, 3, 999990, 10**6), (1, 1, 5, 10**9), (0, 1, 10**9, 10**9),
    (17, 20, 850000000, 10**9), (900, 1000, 9, 10), (1, 10**6, 0, 5), (40, 50, 79000000, 10**8), (3, 10**5, 2, 10**9),
    # nearly equal at large n
    (500000000, 10**9, 500050000, 10**9), (123456789, 10**9, 123460000, 10**9), (999999990, 10**9, 999999970, 10**9),
    (50000, 10**5, 50300, 10**5), (990000, 10**6, 990100, 10**6), (10, 10**9, 20, 10**9), (5 * 10**6, 10**7, 4999000, 10**7),
]

# P(A > B) from 1e-6 down past 1e-15
SEPARATED = [
    (1, 10, 10, 10), (2, 20, 18, 20), (1, 30, 29, 30), (0, 20, 20, 20), (0, 25, 25, 25), (0, 30, 30, 30), (10, 50, 40, 50),
    (5, 50, 43, 50), (400, 1000, 550, 1000), (400, 1000, 580, 1000), (2900, 10**4, 3500, 10**4), (0, 3, 999500, 10**6),
    (0, 3, 999900, 10**6), (0, 5, 999, 1000), (50000, 10**5, 51700, 10**5), (499000, 10**6, 504600, 10**6),
    (4 * 10**8, 10**9, 400175000, 10**9), (100, 10**8, 240, 10**8), (0, 10**9, 40, 10**9), (0, 10**6, 5, 20), (1, 10**9, 1, 2),
]

# Odds ratios at the least and the highest levels: of all right and all wrong, whose tails fall like one power or like two
# alike, of hardly any questions, and of as many as there may be
FAR = [
    (0, 1, 0, 1, 1 - 1e-15), (1, 1, 0, 1, 1 - 1e-12), (5, 5, 0, 5, 1 - 1e-12), (5, 5, 0, 5, 0.5), (2, 3, 1, 3, 1 - 1e-9),
    (0, 10, 0, 10, 1 - 1e-15), (0, 437, 500, 1000, 1 - 1e-15), (0, 1000, 0, 1000, 1 - 1e-12), (0, 1, 500, 1000, 0.01),
    (3, 20, 12, 20, 0.01), (3, 20, 12, 20, 1 - 1e-12), (500, 1000, 520, 1000, 1e-6), (500, 1000, 520, 1000, 1 - 1e-15),
    (1, 1, 4005866542444054, 2**53, 0.95), (3056787941493604, 2**53, 2, 2, 1 - 1e-15), (2**53, 2**53, 2**53, 2**53, 1 - 1e-12),
    (6 * 10**14, 10**15, 599999 * 10**9, 10**15, 1 - 1e-12), (7 * 10**12, 10**15, 3, 10**15, 0.01),
]

# Differences at levels so high that a tail is the product of two small densities near the middle; and very unequal sizes, where the larger
# one should not matter.
HIGH = 1 - 1e-12
DEEP = [
    (3, 20, 12, 20, HIGH), (6, 16, 12, 16, HIGH), (0, 20, 20, 20, HIGH), (6, 6, 0, 5, 1 - 1e-9),
    (300, 1000, 700, 1000, HIGH), (0, 1000, 3, 1000, HIGH), (1, 2, 3, 1000, HIGH), (990, 1000, 5, 5, HIGH),
    (500000, 10**6, 2, 2, HIGH), (0, 1, 0, 1, 0.01), (8, 441, 0, 22, 0.01), (1, 1, 9235, 9246, 0.01),
    (2, 5, 75780498201995, 191810176341812, 0.95), (137, 157, 94486256269331, 105156917997339, 0.01),
]


# Beta(a, b) priors, with and without a model that is all right or all wrong
PRIORS = [(0.5, 0.5), (1 / 3, 1 / 3), (2, 5), (1, 0.25), (3, 0.5), (0.7, 12.3), (90, 10)]
WITH_PRIORS = [
    (18, 20, 12, 20), (0, 1, 1, 1), (20, 20, 20, 20), (0, 20, 20, 20), (3, 9, 3, 9), (0, 10, 0, 10), (20, 20, 17, 20), (1, 1, 999, 1000),
    (0, 3, 10**6, 10**6), (700, 1000, 650, 1000), (10**6, 10**6, 2, 2), (7, 10**6, 0, 10**9), (5, 7, 3, 1000),
]


def with_priors(tables):
    """Every table with two of the priors."""
    return [(*table, LEVELS[i % len(LEVELS)], *PRIORS[(3 * i + j) % len(PRIORS)]) for i, table in enumerate(tables) for j in (0, 1)]


def drawn(seed, count, sizes):
    """Tables of mixed sizes, with counts that are similar, at an end, or arbitrary."""
    rng = random.Random(seed)
    out = []
    for _ in range(count):
        na, nb = rng.choice(sizes), rng.choice(sizes)
        p = rng.random()
        ka = rng.choice([0, na, na // 2, round(p * na), rng.randint(0, na), min(na, rng.randint(0, 5))])
        kb = rng.choice([0, nb, nb // 2, round(p * nb), round(p * nb), nb - min(nb, rng.randint(0, 5))])
        out.append((ka, na, kb, nb))
    return out


def spread_levels(tables):
    return [(*table, LEVELS[i % len(LEVELS)]) for i, table in enumerate(tables)]


def rows():
    both_ways = SEPARATED + [(kb, nb, ka, na) for ka, na, kb, nb in SEPARATED[::3]]
    prob = TABLES + both_ways + drawn(1, 82, SIZES)
    interval = TABLES + SEPARATED[::2] + drawn(2, 69, SIZES)
    fisher = ([t for t in TABLES + SEPARATED if max(t[1], t[3]) <= 10**6] + drawn(3, 34, SIZES[:9]) + drawn(4, 8, SIZES[9:12]))
    jobs = [(prob_better, (*table, 0.95)) for table in prob]
    for function, tables in ((diff, interval), (odds_ratio, interval), (fisher_or, fisher), (diff_clt, interval[::4])):
        jobs += [(function, args) for args in spread_levels(tables)]
        if function is diff:
            jobs += [(diff, args) for args in DEEP]
    jobs += [(odds_ratio, args) for args in FAR]
    jobs += [(function, args) for function in (prob_better, diff, odds_ratio) for args in with_priors(WITH_PRIORS)[::1 + (function is diff)]]
    return jobs
