#!/usr/bin/python3
"""Compares published powers and numbers of questions with the planning functions.  Contract 32.

    sample_sizes.py build/evalci.so

Each published number is first reproduced by the formula, or the test, for which it was published.  evalci's number belongs
to another test: McNemar's mid-p instead of the exact test, which rejects less often, or of a normal approximation, which
ignores that counts are whole; and diff_ci instead of a z test.  So evalci's power is reproduced too, by enumerating every
outcome, in whole numbers where rounding could decide.

Not found in print where we looked, though asked for: numbers from SAS (its pages on PAIREDFREQ show calls without results),
from PASS (pwrss, below, says that it was held to it), and Lachenbruch's own table.
"""
import functools
import math
import pathlib
import sqlite3
import sys
from fractions import Fraction
from statistics import NormalDist

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from checks import check, finish  # noqa: E402

Z, PHI = NormalDist().inv_cdf, NormalDist().cdf
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(sys.argv[1].rsplit(".", 1)[0])


def ours(call):
    return db.execute(f"SELECT {call}").fetchone()[0]


def same(what, got, wanted, tolerance):
    check(f"{what}: {got}, not {wanted}", abs(got - wanted) <= tolerance)


# Formulas
def connor(a, b, power, alpha=0.05):
    """Biometrics 43 (1987) 207-211."""
    d, apart = a + b, abs(a - b)
    return ((Z(1 - alpha / 2) * math.sqrt(d) + Z(power) * math.sqrt(d - apart**2)) / apart) ** 2


def connor_power(n, a, b, alpha=0.05):
    d, apart = a + b, abs(a - b)
    return PHI((apart * math.sqrt(n) - Z(1 - alpha / 2) * math.sqrt(d)) / math.sqrt(d - apart**2))


def lachenbruch(a, b, power, alpha=0.05):
    """Statist. Med. 11 (1992) 1521-1525, as sampleSizeMcNemar of R's biostatUZH has it: the sign test's number over the
    share of pairs that tell."""
    return 0.25 * (Z(1 - alpha / 2) + Z(power)) ** 2 / (0.5 - b / (a + b)) ** 2 / (a + b)


def prop_test_power(n, p, q, alpha=0.05):
    """R's power.prop.test."""
    pooled = math.sqrt((p + q) * (1 - (p + q) / 2))
    return PHI((math.sqrt(n) * abs(p - q) - Z(1 - alpha / 2) * pooled) / math.sqrt(p * (1 - p) + q * (1 - q)))


# Every outcome
def chance(k, n, p):
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


@functools.lru_cache(maxsize=None)
def at_most(k, m):
    """P(X <= k), X ~ Bin(m, 1/2), as a whole number of 2^-m."""
    return sum(math.comb(m, i) for i in range(k + 1))


def exact(k, m, alpha):
    return Fraction(2 * at_most(min(k, m - k), m), 2**m) <= alpha


def exact_upper(k, m, alpha):
    return Fraction(at_most(m - k, m), 2**m) <= alpha


def mid_p(k, m, alpha):
    fewer = min(k, m - k)
    return 2 * fewer < m and Fraction(2 * at_most(fewer, m) - math.comb(m, fewer), 2**m) <= alpha


def paired_power(n, a, b, rejects, alpha=Fraction(1, 20)):
    total = 0.0
    for m in range(n + 1):
        likely = chance(m, n, a + b)
        if likely > 1e-17:
            total += likely * sum(chance(k, m, a / (a + b)) for k in range(m + 1) if rejects(k, m, alpha))
    return total


def diff_power(n, p, q, tail=Fraction(1, 40)):
    """P(theta_A > theta_B) of whole counts is a sum of hypergeometric chances, a ratio of whole numbers."""
    whole = math.comb(2 * n + 2, n + 1)

    @functools.lru_cache(maxsize=None)
    def better(k, j):
        below = sum(math.comb(k + j + 1, i) * math.comb(2 * n + 1 - k - j, n + 1 - i) for i in range(min(k, k + j + 1) + 1))
        return Fraction(below, whole)
    a, b = ([chance(k, n, x) for k in range(n + 1)] for x in (p, q))
    return sum(a[k] * b[j] for k in range(n + 1) for j in range(n + 1) if not tail < better(k, j) < 1 - tail)


def gate_n(p, t, sure, power, most):
    """Right answers that pass by 1 - I_t(1+k, 1+n-k) = P(Bin(n+1, t) <= k), in whole numbers; the least n from which on, up to
    `most`, the power is enough."""
    p, t, sure, power = (Fraction(x) for x in (p, t, sure, power))
    last = 0
    for n in range(1, most):
        at_most_k, k = Fraction(0), -1
        while at_most_k < sure:
            k += 1
            at_most_k += math.comb(n + 1, k) * t**k * (1 - t) ** (n + 1 - k)
        if sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1)) < power:
            last = n
    return last + 1


# Connor, as powerandsamplesize.com has him: 23 pairs for .45 and .05
check("Connor's 23", math.ceil(connor(0.45, 0.05, 0.8)) == 23)
check("ours, 21, has the power", paired_power(21, 0.45, 0.05, mid_p) >= 0.8 > paired_power(20, 0.45, 0.05, mid_p))
check("and is what we plan", ours("plan_paired_n(0.45, 0.05)") == 21)
# R's lrstat, getDesignPairedPropMcNemar, the example of its manual and tests: 164 pairs for a discordant share of .16, a
# difference of .1 and power .9, which is .9001 then
check("lrstat's 164", math.ceil(connor(0.13, 0.03, 0.9)) == 164 and round(connor_power(164, 0.13, 0.03), 4) == 0.9001)
check("ours, 155, has the power", paired_power(155, 0.13, 0.03, mid_p) >= 0.9 > paired_power(154, 0.13, 0.03, mid_p))
check("and is what we plan", ours("plan_paired_n(0.13, 0.03, 0.9)") == 155)
# Miller 2024, arXiv:2411.00640: 969 for a difference of .03 whose variance is 1/9, in the normal approximation
check("Miller's 969", math.ceil((Z(0.975) + Z(0.8)) ** 2 / 9 / 0.03**2) == 969)
check("ours, 967", ours("plan_paired_n((1.0 / 9 + 0.0009 + 0.03) / 2, (1.0 / 9 + 0.0009 - 0.03) / 2)") == 967)
# Lachenbruch's example, accuracies of .8 and .9 and power .9, with both right on .7, .75 and .8 of the questions
for a, b, formula, plan in ((0.2, 0.1, 316, 308), (0.15, 0.05, 211, 199), (0.1, 0.0, 106, 78)):
    check(f"Lachenbruch's {formula}", math.ceil(lachenbruch(a, b, 0.9)) == formula)
    check(f"ours, {plan}", ours(f"plan_paired_n({a}, {b}, 0.9)") == plan)
    check(f"ours, {plan}, has the power", paired_power(plan, a, b, mid_p) >= 0.9 > paired_power(plan - 1, a, b, mid_p))
# R's pwrss, power.exact.mcnemar, whose tests have .373077084 for the exact test of 100 pairs, .2 and .1
same("pwrss's power", paired_power(100, 0.2, 0.1, exact), 0.373077084, 5e-10)
same("ours, of the mid-p", ours("power_paired(100, 0.2, 0.1)"), paired_power(100, 0.2, 0.1, mid_p), 1e-13)
# G*Power's manual, from O'Brien 2002: one-sided, 50 pairs, .32 and .08: .839 at an alpha that is .032
same("G*Power's power", paired_power(50, 0.32, 0.08, exact_upper), 0.839, 5e-4)
same("G*Power's alpha", paired_power(50, 0.2, 0.2, exact_upper), 0.0325, 5e-4)
same("ours, of the mid-p", ours("power_paired(50, 0.32, 0.08, 0.9)"), paired_power(50, 0.32, 0.08, mid_p, Fraction(1, 10)), 1e-13)
# R's power.prop.test, the examples of its manual: .740 for .5 and .75 of 50 each, and 76.7 each for power .9
same("R's power", prop_test_power(50, 0.5, 0.75), 0.740, 5e-4)
check("R's 76.7", prop_test_power(76.65, 0.5, 0.75) < 0.9 < prop_test_power(76.75, 0.5, 0.75))
same("ours, that diff_ci leaves 0 out", ours("power_diff(50, 50, 0.5, 0.75)"), diff_power(50, 0.5, 0.75), 1e-13)
check("ours, 76, has the power", diff_power(76, 0.5, 0.75) >= 0.9 > diff_power(75, 0.5, 0.75))
check("and is what we plan", ours("plan_diff_n(0.5, 0.75, 0.9)") == 76)
# A gate's threshold
for case, most in ((("0.9", "0.8", "0.95", "0.8"), 140), (("1", "0.9", "0.95", "0.8"), 60), (("0.7", "0.5", "0.9", "0.95"), 110),
                   (("0.3", "0.1", "0.99", "0.5"), 60), (("0.99", "0.9", "0.95", "0.9"), 120), (("0.95", "0.6", "0.6", "0.2"), 40)):
    check(f"a gate of {case}", ours(f"plan_gate_n({', '.join(case)})") == gate_n(*case, most))
finish()
