"""References for F1, precision and recall under a Dirichlet prior of equal weights.

Independent of the C code: quantiles of betaref.py, at 40 digits.
"""
import mpmath as mp

import betaref

HEADER = ["method", "tp", "fp", "fn", "level", "alpha", "lo", "hi"]
DIGITS = 25


def row(method, tp, fp, fn, level, alpha, b, transform):
    tail = (1 - mp.mpf(level)) / 2
    ends = (transform(betaref.quantile(tp + mp.mpf(alpha), b, tail, upper)) for upper in (False, True))
    return [method, str(tp), str(fp), str(fn), repr(level), repr(alpha), *(mp.nstr(end, DIGITS) for end in ends)]


def f1(tp, fp, fn, level, alpha=1):
    return row("f1", tp, fp, fn, level, alpha, fp + fn + 2 * mp.mpf(alpha), lambda b: 2 * b / (1 + b))


def precision(tp, fp, fn, level, alpha=1):
    return row("precision", tp, fp, fn, level, alpha, fp + mp.mpf(alpha), lambda b: b)


def recall(tp, fp, fn, level, alpha=1):
    return row("recall", tp, fp, fn, level, alpha, fn + mp.mpf(alpha), lambda b: b)


COUNTS = [
    (8, 2, 3), (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 5, 7), (20, 0, 0), (3, 1, 2), (45, 5, 12), (1, 99, 0),
    (500, 20, 80), (0, 1000, 1000), (10**4, 3, 2), (7, 10**5, 10**4), (10**6, 10**6, 10**6), (10**6, 0, 1),
    (10**9, 10**8, 10**7), (0, 10**9, 0), (10**9, 0, 0), (5 * 10**8, 1, 10**9),
]
ALPHAS = [0.5, 1 / 3, 2, 1e-3, 40]
LEVELS = [0.95, 0.5, 0.99, 0.9, 0.999999]


def rows():
    jobs = [(f1, (8, 2, 3, level)) for level in LEVELS[1:]]
    for i, (tp, fp, fn) in enumerate(COUNTS):
        level = LEVELS[i % len(LEVELS)]
        # without data there is no interval
        jobs += [(f, counts) for f, counts in ((f1, (tp, fp, fn, level)), (precision, (tp, fp, 0, level)), (recall, (tp, 0, fn, level)))
                 if sum(counts[:3]) > 0]
    jobs += [(f, (*counts, level, alpha)) for counts, level, alpha in zip(COUNTS[:1] + COUNTS[5:14], LEVELS * 2, ALPHAS * 2)
             for f in (f1, precision, recall) if counts[0] + (f is not recall) * counts[1] + (f is not precision) * counts[2] > 0]
    return jobs
