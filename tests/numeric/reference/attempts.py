"""References for pass_at_k_ci and pass_hat_k_ci: the interval of the questions' mean unbiased estimate.

A question's estimate is a quotient of binomial coefficients, in whole numbers; the interval of their mean is mean.py's.
"""
import fractions
import math

import mpmath as mp

import mean

HEADER = ["method", "level", "attempts", "lo", "hi", "rows"]


def estimate(method, c, n, k):
    chance = fractions.Fraction(math.comb(c if method == "pass_hat_k" else n - c, k), math.comb(n, k))
    chance = chance if method == "pass_hat_k" else 1 - chance
    return mp.mpf(chance.numerator) / chance.denominator


def attempts(method, level, k, text):
    scores = []
    for row in text.split():
        counts, _, times = row.partition("x")
        c, n = map(int, counts.split("/"))
        scores.append((estimate(method, c, n, k), mp.mpf(1), int(times or 1)))
    scores, tail = mean.merged(scores), mean.tail_of(level)
    bounds = [mean.bound(mean.merged(scores + [(x, mp.mpf(1), 1) for x in imagined]), tail, upper, False)
              for upper, imagined in enumerate(mean.imagined_for_mean(scores, mp.mpf(0), mp.mpf(1)))]
    return [method, repr(level), str(k), *(mp.nstr(b, 20) for b in bounds), text]


CASES = [
    ("0/2 1/4 3/5 5/5", [(0.95, 1), (0.95, 2), (0.5, 2), (0.999999, 2)]), ("3/5", [(0.95, 2), (0.95, 5)]), ("1/1", [(0.95, 1)]),
    ("0/1x3 1/1x7", [(0.95, 1)]), ("5/5x6", [(0.95, 2)]), ("0/4x15", [(0.95, 4)]), ("0/5x3 5/5x4", [(0.5, 3)]),
    ("1/2x3 0/7 19/20 30/100", [(0.95, 2)]), ("120/200x5 80/200x4 199/200", [(0.95, 5), (0.95, 100)]),
    ("0/4x14 1/4x12 2/4x10 3/4x4 4/4x10", [(0.95, 1), (0.95, 4), (0.9, 2)]), ("4/8x10 8/8x10", [(0.95, 8)]),
]


def rows():
    return [(attempts, (method, level, k, text)) for text, asked in CASES for method in ("pass_at_k", "pass_hat_k")
            for level, k in asked]
