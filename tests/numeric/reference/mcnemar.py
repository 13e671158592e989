"""References for McNemar's mid-p.

Independent of the C code: up to 10^5 discordant pairs the sum of binomial coefficients
in whole numbers, exact; beyond that mpmath's integral of the beta density at 40 digits,
on panels of its standard deviation, and the chance of the count itself from gamma
functions.
"""
import fractions

import mpmath as mp

mp.mp.dps = 40

HEADER = ["method", "only_a", "only_b", "lo", "hi"]
EXACT = 10**5


def exact(m, n):
    term = total = 1  # C(n, i), and the sum up to i
    for i in range(1, m + 1):
        term = term * (n - i + 1) // i
        total += term
    p = fractions.Fraction(2 * total - term, 2**n)
    return mp.mpf(p.numerator) / p.denominator


def by_quadrature(m, n):
    ln_at = mp.loggamma(n + 1) - mp.loggamma(m + 1) - mp.loggamma(n - m + 1) - n * mp.log(2)
    # P(X < m) is the upper tail of Beta(m, n-m+1) at 1/2; in units of the density there,
    # because mpmath stops at an absolute error
    ln_B = mp.loggamma(m) + mp.loggamma(n - m + 1) - mp.loggamma(n + 1)
    sd = 1 / (2 * mp.sqrt(n))
    area = mp.quad(lambda u: mp.exp((m - 1) * mp.log1p(2 * sd * u) + (n - m) * mp.log1p(-2 * sd * u)),
                   [mp.mpf(i) / 2 for i in range(41)])
    return 2 * sd * area * mp.exp(-(n - 1) * mp.log(2) - ln_B) + mp.exp(ln_at)


def row(only_a, only_b):
    m, n = min(only_a, only_b), only_a + only_b
    p = mp.mpf(1) if 2 * m == n else exact(m, n) if n <= EXACT else by_quadrature(m, n)
    # hi is the result with the models exchanged, which is the same
    return ["mcnemar_p", str(only_a), str(only_b), mp.nstr(p, 25), mp.nstr(p, 25)]


COUNTS = [
    (0, 0), (0, 1), (1, 0), (3, 3), (6, 0), (16, 8), (1, 7), (6, 16), (2, 25), (0, 40), (5, 6), (100, 64), (500, 400),
    (0, 1000), (65, 66), (64, 65), (64, 128), (65, 129), (100, 164), (100, 165), (2999, 3001), (3000, 3065), (3001, 3500),
    (3100, 2900), (30000, 30500), (49000, 51000), (10, 300),
    (10**6, 10**6 + 1), (10**6, 10**6 + 1000), (10**6, 10**6 + 20000), (10**8, 10**8 + 10**4), (10**9, 10**9 + 64),
    (10**9, 10**9 + 65), (10**9, 10**9 + 10**5), (4 * 10**15, 4 * 10**15 + 1), (4 * 10**15, 4 * 10**15 + 70),
    (4 * 10**15, 4 * 10**15 + 10**8), (4 * 10**15 + 10**9, 4 * 10**15),
]


def rows():
    return [(row, counts) for counts in COUNTS]
