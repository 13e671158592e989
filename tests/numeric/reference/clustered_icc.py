"""References for clustered_ci under the prior 'icc', p(d) = (1+d)^-2, on the data sets of clustered.py.

hierarchy.py integrates the posterior; every bound is computed twice, the second time with 1.4 times the nodes on both axes
of every panel, 1.4 times the panels along theta and a wider range, and the two must agree within TOLERANCE.  The likelihood
is compared with 40-digit arithmetic at points all over the posterior, and the same code under the paper's prior with
clustered.py, which integrates in another way.  Sizes all one have the closed form Beta(k+1, n-k+1) whatever the prior.
"""
import functools

import mpmath as mp
import numpy as np
from scipy import special

import betaref
import clustered
import hierarchy

HEADER = ["method", "prior", "level", "lo", "hi", "rows"]
TOLERANCE = 1e-11


@functools.lru_cache(maxsize=4)
def pair_of_lines(text, prior):
    """The posterior with two densities of nodes."""
    sparse, dense = hierarchy.Lines(text, prior), hierarchy.Lines(text, prior, 1.4, 52.0)
    check_likelihood(sparse)
    return sparse, dense


def exact(clusters, prior, s, v):
    """ln density of (logit theta, ln d) by 40-digit ln Gammas."""
    # the rising factorials cancel at large d, which takes more digits
    with mp.workdps(70):
        d = mp.exp(v)
        theta, other = 1 / (1 + mp.exp(-s)), 1 / (1 + mp.exp(s))
        a, b = d * theta, d * other
        ln_prior = v - d if prior == "gamma" else v - 2 * mp.log1p(d)
        return ln_prior + mp.log(theta) + mp.log(other) + mp.fsum(
            m * (mp.loggamma(a + k) - mp.loggamma(a) + mp.loggamma(b + (n - k)) - mp.loggamma(b)
                 - mp.loggamma(d + n) + mp.loggamma(d)) for k, n, m in clusters)


def check_likelihood(lines):
    """An error of the log density moves a bound by at most that share of the posterior's width, and by less where the
    posterior has little mass."""
    clusters = hierarchy.parse(lines.text)
    theta = special.expit(lines.s.astype(float))
    width = float(np.sqrt(np.sum((theta - np.sum(theta * lines.mass_at)) ** 2 * lines.mass_at)))
    below = np.cumsum(np.sum(lines.mass, axis=1))
    rows = [(np.argmax(below > share), allowed) for share, allowed in
            ((0.5, 1), (0.01, 1), (0.2, 1), (0.8, 1), (0.99, 1), (1e-9, 1e5), (1 - 1e-9, 1e5))]
    points = [(lines.edges[w, j], lines.v[w], allowed) for w, allowed in rows for j in (lines.panels - 1, lines.panels + 2)]
    off = [mp.mpf(clustered.repr_ld(lines.f(s, v))) - exact(clusters, lines.prior, mp.mpf(float(s)), mp.mpf(float(v)))
           for s, v, _ in points]
    for (s, v, allowed), error in zip(points, off):
        assert abs(error - off[0]) * width < allowed * TOLERANCE / 2, (lines.text, lines.prior, s, v, float(error - off[0]))


def bounds(level, text, prior):
    """Both bounds of theta, and how far those with fewer nodes are from them."""
    sparse, dense = (special.expit(hierarchy.theta_bounds(lines, level)) for lines in pair_of_lines(text, prior))
    return dense, np.max(np.abs(dense - sparse))


def clustered_icc(level, text):
    (lo, hi), change = bounds(level, text, "icc")
    assert change < TOLERANCE, (level, text, change)
    groups = hierarchy.parse(text)
    if all(n == 1 for _, n, _ in groups):
        k, n = sum(k * m for k, _, m in groups), sum(m for _, _, m in groups)
        for ours, upper in ((lo, False), (hi, True)):
            closed = betaref.quantile(k + 1, n - k + 1, (1 - mp.mpf(level)) / 2, upper)
            assert abs(ours - closed) < 1e-12, (level, text, ours, closed)
    return ["clustered", "icc", repr(level), repr(float(lo)), repr(float(hi)), text]


def check_paper_prior(text):
    """Compares hierarchy.py with clustered.py under the prior that both have."""
    ours, _ = bounds(0.95, text, "gamma")
    theirs, _ = clustered.bounds(0.95, text)
    assert np.max(np.abs(ours - np.array(theirs, float))) < TOLERANCE, (text, ours, theirs)


def rows():
    check_paper_prior("0/2 1/4 3/5 5/5")
    check_paper_prior("0/5x4000 5/5x6000")
    return [(clustered_icc, (level, text)) for text, levels in clustered.CASES for level in levels]
