"""References for bounded_ci: the accuracy of right, wrong and ungraded answers.

    X ~ Beta(1+right, 1+wrong+not_graded), Y ~ Beta(1+right+not_graded, 1+wrong),
    L = the tau-quantile of X, U = the upper tau-quantile of Y,
    min(P(L < X < U), P(L < Y < U)) = level

Tails and quantiles are those of betaref.py, in 40 digits, and so is tau, by Newton's method from scipy's.  Where there are
at most 200 answers the tails are also finite sums.  shares_between() checks that no share of the ungraded answers between
none and all is covered less.
"""
import mpmath as mp
import numpy as np
from scipy import optimize, stats

import betaref

HEADER = ["method", "right", "wrong", "not_graded", "level", "lo", "hi"]
DIGITS = 25
LEVELS = (0.95, 0.5, 0.999999)


def ends(right, wrong, unknown, tau):
    """The logits of L and U."""
    x, y = (1 + right, 1 + wrong + unknown), (1 + right + unknown, 1 + wrong)
    return (betaref.lower_quantile(mp.mpf(x[0]), mp.mpf(x[1]), tau), -betaref.lower_quantile(mp.mpf(y[1]), mp.mpf(y[0]), tau))


def step(right, wrong, unknown, tau, level):
    """Newton's method for the tau at which the less likely of X and Y lies outside with probability 1 - level."""
    x, y = [(mp.mpf(1 + right), mp.mpf(1 + wrong + unknown)), (mp.mpf(1 + right + unknown), mp.mpf(1 + wrong))]
    lo, hi = ends(right, wrong, unknown, tau)
    above, below = betaref.lower_tail(x[1], x[0], -hi), betaref.lower_tail(*y, lo)
    ln_x, ln_y = (betaref.density(*shapes)[0] for shapes in (x, y))
    slope = mp.exp(ln_x(hi) - ln_y(hi)) if above > below else mp.exp(ln_y(lo) - ln_x(lo))
    return (tau + max(above, below) - (1 - mp.mpf(level))) / (1 + slope)


def rough(right, wrong, unknown, level):
    """tau by scipy, which only saves steps."""
    x, y = stats.beta(1 + right, 1 + wrong + unknown), stats.beta(1 + right + unknown, 1 + wrong)
    outside = lambda tau: tau + max(x.sf(y.isf(tau)), y.cdf(x.ppf(tau))) - (1 - level)
    low, high = (1 - level) * 0.49, (1 - level) * 1.01
    return optimize.brentq(outside, low, high, rtol=1e-12) if outside(low) < 0 < outside(high) else 1 - level


def tau_of(right, wrong, unknown, level):
    tau = mp.mpf(rough(right, wrong, unknown, level))
    for _ in range(30):
        by = step(right, wrong, unknown, tau, level)
        tau -= by
        # Newton's method doubles the digits
        if abs(by) < mp.mpf(10) ** -13 * tau:
            return tau
    raise ArithmeticError((right, wrong, unknown, level))


def finite_tail(a, b, x):
    """P(Beta(a, b) <= x) of whole shapes."""
    n = a + b - 1
    return mp.fsum(mp.binomial(n, j) * x**j * (1 - x) ** (n - j) for j in range(a, n + 1))


def check_sums(right, wrong, unknown, level, lo, hi):
    x, y = (1 + right, 1 + wrong + unknown), (1 + right + unknown, 1 + wrong)
    inside = [finite_tail(*shapes, hi) - finite_tail(*shapes, lo) for shapes in (x, y)]
    assert abs(min(inside) - mp.mpf(level)) < mp.mpf(10) ** -22, (right, wrong, unknown, level, inside)
    assert abs(finite_tail(*x, lo) - (1 - finite_tail(*y, hi))) < mp.mpf(10) ** -22


def bounded(right, wrong, unknown, level):
    tau = (1 - mp.mpf(level)) / 2 if unknown == 0 else tau_of(right, wrong, unknown, level)
    lo, hi = map(betaref.expit, ends(right, wrong, unknown, tau))
    if right + wrong + unknown <= 200:
        check_sums(right, wrong, unknown, level, lo, hi)
    return ["bounded", right, wrong, unknown, repr(level), mp.nstr(lo, DIGITS), mp.nstr(hi, DIGITS)]


def shares_between(right, wrong, unknown, level=0.95):
    """P(p_right + s p_unknown in [L, U]) is least at s = 0 or 1: checked with the same random draws for every s."""
    lo, hi = (float(betaref.expit(e)) for e in ends(right, wrong, unknown, tau_of(right, wrong, unknown, level)))
    p = np.random.default_rng(1).dirichlet([1 + right, 1 + wrong, unknown], 10**6)
    inside = [np.mean((lo <= q) & (q <= hi)) for q in (p[:, 0] + s * p[:, 2] for s in np.linspace(0, 1, 9))]
    assert min(inside) > level - 0.001 and min(inside) == min(inside[0], inside[-1]), inside


CASES = [(16, 2, 2), (16, 4, 0), (80, 10, 10), (0, 0, 5), (20, 0, 0), (700, 280, 20), (0, 1, 1),
         # the smallest; all right, all wrong, none graded
         (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (20, 0, 1), (0, 20, 1), (20, 0, 20), (0, 20, 20), (0, 0, 100), (1, 1, 1000),
         (9, 1, 1), (50, 50, 1), (45, 45, 10), (300, 100, 600),
         # many
         (10**6, 0, 1), (10**6, 0, 10**6), (700000, 299999, 1), (7 * 10**8, 3 * 10**8 - 10**4, 10**4), (5 * 10**8, 4 * 10**8, 10**8),
         (10**9 - 1, 0, 1), (0, 10**9 - 30, 30), (0, 0, 10**9), (333333333, 666666666, 1)]


def rows():
    for case in ((16, 2, 2), (3, 1, 6), (0, 1, 1)):
        shares_between(*case)
    return [(bounded, (*case, level)) for case in CASES for level in LEVELS]
