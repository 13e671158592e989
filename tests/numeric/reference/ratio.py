"""References for ratio_ci: sum G_t total_t / sum G_t count_t with G_t ~ Gamma(1), over the rows and two imagined ones, a
count of 0 with the greatest total and the greatest count, at least 1, with the least total.

P(ratio <= x) = P(Q <= 0), Q = sum G_t d_t with d_t = total_t - x count_t.  P(Q > 0) is minus the sum of the residues of
e^K(s)/s, K = -sum a_t ln(1 - s d_t), at the poles s = 1/d_t > 0: finite sums, in 60 digits.  A second way, Gil-Pelaez'
integral along a line, checks some.
"""
import mpmath as mp

HEADER = ["method", "rows", "level", "lo", "hi"]
DIGITS = 25


def atoms_of(rows):
    """{(total, count): weight}, with the imagined rows."""
    totals, counts = [r[0] for r in rows], [r[1] for r in rows]
    found = {}
    for total, count, times in [*rows, (max(totals), 0, 1), (min(totals), max(1, *counts), 1)]:
        key = (mp.mpf(total), mp.mpf(count))
        found[key] = found.get(key, 0) + times
    return found


def excesses(atoms, x):
    """{d: weight}, without those that are 0."""
    found = {}
    for (total, count), weight in atoms.items():
        d = total - x * count
        if d:
            found[d] = found.get(d, 0) + weight
    return found


def residue(s0, d0, order, others):
    """Of e^K(s)/s at s0 = 1/d0, a pole of this order: the Taylor coefficient of the rest at s0."""
    # (1 - s d0)^-order = (-d0)^-order (s - s0)^-order
    series = [mp.mpf(0)] * order  # of ln of the rest, from the first power on
    value = 1 / s0
    for d, a in others:
        value *= (1 - s0 * d) ** -a
    for k in range(1, order):
        series[k] = mp.fsum([(-1) ** k / (k * s0**k)] + [a * (d / (1 - s0 * d)) ** k / k for d, a in others])
    coefficients = [value]  # of exp of the series
    for n in range(1, order):
        coefficients.append(mp.fsum(k * series[k] * coefficients[n - k] for k in range(1, n + 1)) / n)
    return coefficients[-1] * (-d0) ** -order


def below(atoms, x):
    """P(ratio <= x)."""
    d = excesses(atoms, x)
    positive = [e for e in d if e > 0]
    if not positive:
        return mp.mpf(1)
    if len(positive) == len(d):
        return mp.mpf(0)
    # for P(Q > 0) the contour is closed around the poles above 0
    above = -mp.fsum(residue(1 / e, e, int(d[e]), [(o, a) for o, a in d.items() if o != e]) for e in positive)
    return 1 - above


def by_a_line(atoms, x):
    d = excesses(atoms, x)
    c = 1 / (3 * max(d))

    def f(t):
        z = c + 1j * t
        return (mp.exp(-mp.fsum(a * mp.log(1 - z * e) for e, a in d.items())) / z).real

    unit = 1 / mp.sqrt(mp.fsum(a * e * e for e, a in d.items()))
    return 1 - mp.quad(f, [0] + [unit * mp.mpf(2) ** k for k in range(-2, 60)]) / mp.pi


def bound(atoms, p):
    """The ratio with the probability p at or below it: bisection on its logarithm, then the secant method."""
    low, high = mp.mpf("1e-30"), mp.mpf("1e30")
    for _ in range(60):
        middle = mp.sqrt(low * high)
        low, high = (middle, high) if below(atoms, middle) < p else (low, middle)
    return mp.findroot(lambda t: below(atoms, mp.exp(t)) - p, (mp.log(low), mp.log(high)), solver="anderson", tol=mp.mpf(10) ** -45)


def ratio(rows, level, check=False):
    with mp.workdps(60):
        atoms = atoms_of(rows)
        tail = (1 - mp.mpf(level)) / 2
        ends = [mp.exp(bound(atoms, p)) for p in (tail, 1 - tail)]
        if check:
            with mp.workdps(25):
                for x, p in zip(ends, (tail, 1 - tail)):
                    assert abs(by_a_line(atoms, x) - p) < mp.mpf(10) ** -12, (rows, level)
        shown = " ".join(f"{total!r}/{float(count)!r}" + (f"x{times}" if times > 1 else "") for total, count, times in rows)
        return ["ratio_ci", shown, repr(level), *(mp.nstr(e, DIGITS) for e in ends)]


MIXED = [(1.0, 1, 1), (2.0, 1, 1), (1.5, 1, 1), (4.0, 0, 1), (3.0, 1, 1), (1.0, 1, 1), (2.5, 0, 1), (6.0, 0, 1)]
CASES = [([(2.0, 1, 7), (2.0, 0, 3)], True), (MIXED, True), ([(1.0, 0, 1), (2.0, 0, 1), (1.5, 0, 1), (4.0, 0, 1)], True), ([(3.0, 1, 1)], True),
         ([(3.0, 0, 1)], False), ([(0.25, 1, 20)], False), ([(0.25, 0, 20)], False), ([(0.0, 1, 3), (5.0, 0, 2)], False), ([(0.0, 0, 3), (5.0, 1, 2)], False),
         ([(0.001 * 1.37**i, int(i % 3 > 0), 1) for i in range(25)], False),  # costs from 0.001 to 1.9
         ([(0.0625, 1, 60), (0.5, 0, 40)], False), ([(0.01, 1, 1), (100.0, 0, 1)], False), ([(1e-9, 1, 5), (3e-9, 0, 5)], False), ([(2e12, 1, 5), (7e12, 0, 2)], False),
         ([(4.0, 4, 3), (6.0, 2, 2), (3.5, 0, 1), (5.0, 3, 2)], True),  # questions asked again
         ([(1.0, 0.5, 2), (2.0, 0.75, 3), (1.5, 0.0, 1)], True)]  # graded


def rows():
    return [(ratio, (case, level, check and level == 0.95)) for case, check in CASES for level in (0.95, 0.5, 0.999999)]
