"""References for clustered_prob_above, under both priors: the mass of theta above t, on the data sets of clustered.py.

hierarchy.py integrates the posterior, as for clustered_icc.py: twice, the second time on a closer mesh, and the two
must agree within TOLERANCE.  Data sets of more than MOST questions are left out: the bar is promised up to there.
Sizes all one have the closed form of above.py.
"""
import numpy as np
from scipy import special

import above
import clustered
import clustered_icc
import hierarchy

HEADER = ["method", "prior", "threshold", "lo", "hi", "rows"]
TOLERANCE = 1e-11
MOST = 10**7


def thresholds(lines):
    """Thresholds in the middle, in the tails and far out, rounded as a person would write them."""
    mean = float(np.sum(lines.s * lines.mass_at))
    sd = float(np.sqrt(np.sum((lines.s - mean) ** 2 * lines.mass_at)))
    return [float(f"{special.expit(mean + away * sd):.6g}") for away in (-2, 0.3, 4.5)]


def share_above(lines, t):
    s = np.full(len(lines.v), np.log(t) - np.log1p(-t))
    upper = float(lines.tail(s, True))
    return upper if upper < 0.5 else 1 - float(lines.tail(s, False))


def clustered_above(text, prior, which):
    sparse, dense = clustered_icc.pair_of_lines(text, prior)
    t = thresholds(sparse)[which]
    p = share_above(dense, t)
    assert abs(p - share_above(sparse, t)) < TOLERANCE, (text, prior, t, p)
    groups = hierarchy.parse(text)
    if all(n == 1 for _, n, _ in groups):
        k, n = sum(k * m for k, _, m in groups), sum(m for _, _, m in groups)
        assert abs(p - above.above(k, n, t, 1, 1)) < 1e-12, (text, t, p)
    return ["clustered_prob_above", prior, repr(t), repr(p), repr(p), text]


def questions(text):
    return sum(n * m for _, n, m in hierarchy.parse(text))


def rows():
    return [(clustered_above, (text, prior, which)) for i, (text, _) in enumerate(clustered.CASES) if questions(text) <= MOST
            for prior in hierarchy.PRIORS[i % 3 > 0:] for which in range(3)]
