"""References for rerun_ci and rerun_prob: one new attempt at each of the questions of the hierarchy of hierarchy.py, 'icc'.

Given theta and d a question with k of n right is right again with probability (d theta + k)/(d + n).  At every node of
the posterior's panels the number of right answers is convolved question by question, and the results are mixed: no
Fourier transform.  Everything is done twice, the second time with finer panels; E(S) is compared with its formula, and
one small case with mpmath.
"""
import functools

import mpmath as mp
import numpy as np
from scipy import special

import hierarchy

HEADER = ["method", "level", "lo", "hi", "rows"]
TOLERANCE = 1e-11


def mixed(text, fineness, cut):
    """[P(S = s)]"""
    lines = hierarchy.Lines(text, "icc", fineness, cut)
    clusters = hierarchy.parse(text)
    weight = lines.mass_at.astype(float).ravel()
    s = lines.s.astype(float).ravel()
    d = np.exp(np.broadcast_to(lines.v[:, None, None], lines.s.shape)).ravel().astype(float)
    kept = weight > 1e-18
    weight, s, d = weight[kept], s[kept], d[kept]
    total = np.zeros(sum(m for _, _, m in clusters) + 1)
    for part in np.array_split(np.arange(len(weight)), max(1, len(weight) * len(total) // 10**6)):
        chance = np.zeros((len(part), len(total)))
        chance[:, 0] = 1
        done = 0
        for k, n, m in clusters:
            right = ((d[part] * special.expit(s[part]) + k) / (d[part] + n))[:, None]
            wrong = ((d[part] * special.expit(-s[part]) + n - k) / (d[part] + n))[:, None]
            for _ in range(m):
                done += 1
                chance[:, 1:done + 1] = chance[:, 1:done + 1] * wrong + chance[:, :done] * right
                chance[:, :1] *= wrong
        total += weight[part] @ chance
    return total


def by_mpmath(text):
    clusters = hierarchy.parse(text)

    def terms(rho, theta):
        d = (1 - rho) / rho
        weight = mp.fprod((mp.rf(d * theta, k) * mp.rf(d * (1 - theta), n - k) / mp.rf(d, n)) ** m for k, n, m in clusters)
        chance = [weight]
        for k, n, m in clusters:
            p = (d * theta + k) / (d + n)
            for _ in range(m):
                chance = [(chance[i] if i < len(chance) else 0) * (1 - p) + (chance[i - 1] * p if i else 0) for i in range(len(chance) + 1)]
        return chance

    count = sum(m for _, _, m in clusters) + 1
    with mp.workdps(15):
        found = [mp.quad(lambda r: mp.quad(lambda t: terms(r, t)[s], [0, 1]), [0, 1]) for s in range(count)]
        return [float(f / mp.fsum(found)) for f in found]


@functools.lru_cache(maxsize=None)
def scores(text, check=False):
    sparse, dense = mixed(text, 1.0, 45.0), mixed(text, 1.3, 50.0)
    assert np.max(np.abs(sparse - dense)) < TOLERANCE and abs(dense.sum() - 1) < TOLERANCE, text
    if check:
        assert np.max(np.abs(dense - by_mpmath(text))) < 1e-10, text
    return dense / dense.sum()


def attempts(clusters):
    """[(right answers, attempts)], a question each."""
    return [(k, n) for k, n, m in clusters for _ in range(m)]


def once(y, item, times):
    return f"{y}/{item}" + (f"x{times}" if times > 1 else "")


def rerun(level, text, check):
    p = scores(text, check)
    tail, questions = (1 - level) / 2, len(p) - 1
    below, above = np.cumsum(p), np.cumsum(p[::-1])[::-1]
    assert np.min(np.abs(np.concatenate([below, above]) / tail - 1)) > 1e-6, "rounding would decide"
    lo, hi = int(np.argmax(below > tail)), questions - int(np.argmax(above[::-1] > tail))
    rows = " ".join(once(y, i + 1, times) for i, (k, n) in enumerate(attempts(hierarchy.parse(text))) for y, times in ((1, k), (0, n - k)) if times)
    return ["rerun_ci", repr(level), repr(lo / questions), repr(hi / questions), rows]


def ahead(a, b):
    """One row per attempt; both models have the same number at every question."""
    x, y = scores(a), scores(b)
    p = sum(x[i] * (y[:i].sum() + y[i] / 2) for i in range(len(x)))
    both = list(zip(attempts(hierarchy.parse(a)), attempts(hierarchy.parse(b))))
    assert len(x) == len(y) and all(n == m for (_, n), (_, m) in both)
    rows = " ".join(f"{int(i < k)}/{int(i < j)}/{item + 1}" for item, ((k, n), (j, _)) in enumerate(both) for i in range(n))
    return ["rerun_prob", "-", repr(float(p)), repr(float(p)), rows]


A, A2 = "3/3x8 2/3x3 1/3x2 0/3x5", "3/3x7 2/3x3 1/3x2 0/3x6"
CASES = [(A, False), ("5/5x20", False), ("2/4x12", False), ("0/2 1/2 2/2", True), ("1/2", True), ("0/3", False), ("1/2 0/1x20 1/1x79", False),
         ("1/2x3 0/7 19/20 30/100", False), ("0/4x40 1/4x20 2/4x10 3/4x30 4/4x100", False), ("8/8x50 0/8x50", False)]
PAIRS = [(A, A2), (A2, A), (A, A), ("5/5x20", "4/5x20"), ("5/5x20", "5/5x20"), ("2/2", "0/2"), ("1/2", "2/2"), ("2/4x12", "3/4x12"), ("2/2x6 0/2x4", "1/2x10"),
         ("0/3x10 3/3x10", "3/3x10 0/3x10"), ("1/1x5 2/3x10 0/2x3", "0/1x5 3/3x10 1/2x3"), ("9/10x8", "8/10x8"), ("3/3x30 0/3x10", "3/3x29 2/3 0/3x10"),
         ("4/4x60 0/4x40", "3/4x60 1/4x40"), ("1/2x4", "1/2x4"), ("7/7x3 1/2x9", "6/7x3 2/2x9")]


def rows():
    cases = [(rerun, (level, text, check)) for text, check in CASES for level in (0.95, 0.5, 0.999999)]
    return cases + [(ahead, pair) for pair in PAIRS]
