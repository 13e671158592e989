"""References for means of graded scores: linear functionals of a Dirichlet.

Independent of the C code, which inverts a moment generating function.  Here, where
weights are whole, P(sum G_t d_t > 0) comes from a recursion over the positive and the
negative d, one Gamma(1) at a time,

    F(P + p, N + q) = (p F(P + p, N) - q F(P, N + q)) / (p - q),

in which every term is positive; it is that of divided differences of x_+^k, so the density is k (F(P + p, N) - F(P, N +
q)) / (p - q).  40 digits, or long doubles for thousands of rows.  Two imagined weights of 1/2 are one of 1 at a point
that has the arcsine distribution between them, over which F is integrated.  A difference of two means is an integral of
piecewise polynomials, exact by Gauss-Legendre.  If weights are millions and one side has different d of weight 1 each,
P(that side is larger) is a sum of products, sum_q c_q prod_p (1 + p/|q|)^-a_p; a d of weight 2 is taken as two that
hardly differ.  A line integral is used only if both sides are heavy, or there are many rows: on a straight line with
even steps, in 40 digits, or in long doubles over all rows.  `check()` compares the ways.
"""
import functools
import sys

import mpmath as mp
import numpy as np
from scipy import special

import betaref

HEADER = ["method", "level", "range_lo", "range_hi", "margin", "lo", "hi", "rows", "others"]
# Of functions that SQL does not reach.
PATH = "stats/mean.csv"
DIGITS = 20
mpf = mp.mpf
LD = np.longdouble
HALF = mpf(1) / 2


# --- the recursion ---------------------------------------------------------------

def parted(atoms, m):
    """The excesses over m of (total, size, weight), positive and negative ones apart, each repeated by its weight."""
    excess = [(total - m * size, int(weight)) for total, size, weight in atoms]
    positive = sorted(d for d, weight in excess for _ in range(weight) if d > 0)
    negative = sorted((d for d, weight in excess for _ in range(weight) if d < 0), reverse=True)
    return positive, negative


def column(positive, negative):
    """F of the first i positives and all negatives."""
    f = [mpf(0)] + [mpf(1)] * len(positive)
    for q in negative:
        for i, p in enumerate(positive, 1):
            f[i] = (p * f[i] - q * f[i - 1]) / (p - q)
    return f


def above_mp(atoms, m):
    return column(*parted(atoms, m))[-1]


def density(atoms, m):
    """Of the mean at m, for sizes of 1."""
    positive, negative = parted(atoms, m)
    if not positive or not negative:
        return mpf(0)
    p, q = positive[-1], negative[-1]
    with_p, with_q = column(positive, negative[:-1])[-1], column(positive[:-1], negative)[-1]
    return (len(positive) + len(negative) - 1) * (with_p - with_q) / (p - q)


def above_ld(atoms, m):
    """In long doubles, a diagonal at a time."""
    positive, negative = (np.array([LD(mp.nstr(d, 25)) for d in side]) for side in parted(atoms, m))
    rows, columns = len(positive), len(negative)
    f = np.zeros(rows + 1, LD)  # f[i] is F(i, j) on the diagonal i + j
    if not rows:
        return mpf(0)
    f[1] = 1
    for diagonal in range(2, rows + columns + 1):
        low, high = max(1, diagonal - columns), min(rows, diagonal - 1)
        i = np.arange(low, high + 1)
        p, q = positive[i - 1], negative[diagonal - i - 1]
        inner = (p * f[i] - q * f[i - 1]) / (p - q)
        if diagonal <= rows:
            f[diagonal] = 1
        f[i] = inner
        f[0] = 0
    return mpf(np.format_float_scientific(f[rows], 25))


# --- one light side ---------------------------------------------------------------

def larger(light, heavy):
    """P(sum of light > sum of heavy), of positive d: light ones differ and weigh 1."""
    total = mpf(0)
    for q in light:
        others = mp.fprod(q / (q - other) for other in light if other != q)
        total += others * mp.exp(-mp.fsum(a * mp.log1p(p / q) for p, a in heavy))
    return total


def above_light(atoms, m):
    """The probability if one side is light; None if neither is."""
    excess = [(total - m * size, weight) for total, size, weight in atoms]
    sides = [[(abs(d), a) for d, a in excess if d * sign > 0] for sign in (1, -1)]
    for light, heavy, complement in ((sides[0], sides[1], False), (sides[1], sides[0], True)):
        if sum(a for _, a in light) <= 4:
            # A point of weight 2 is two that hardly differ, in as many more digits as they cost.
            with mp.workdps(150):
                points = [d * (1 + i * mpf(10) ** -30) for d, a in light for i in range(int(a))]
                tail = larger(points, heavy)
            return +(1 - tail) if complement else +tail
    return None


# --- half weights at the ends -----------------------------------------------------

def over_arcsine(f, ends):
    """The mean of f over a point with the arcsine distribution between the ends, split at 0."""
    zero = mp.acos(mp.sqrt(ends[0] / (ends[0] - ends[1]))) if ends[0] * ends[1] < 0 else mp.pi / 4
    return mp.quad(lambda angle: f(ends[0] * mp.sin(angle) ** 2 + ends[1] * mp.cos(angle) ** 2),
                   [0, zero / 2, zero, (zero + mp.pi / 2) / 2, mp.pi / 2]) * 2 / mp.pi


def above_halves(atoms, m, low, high):
    """With two atoms of weight 1/2 at low and high, which are (total, size)."""
    ends = [total - m * size for total, size in (low, high)]
    excess = [(total - m * size, weight) for total, size, weight in atoms if total != m * size]
    if all(d > 0 for d, _ in excess):
        return 1 - over_arcsine(lambda d: larger([-d], excess) if d < 0 else mpf(0), ends)
    if all(d < 0 for d, _ in excess):
        return over_arcsine(lambda d: larger([d], [(-q, a) for q, a in excess]) if d > 0 else mpf(0), ends)
    positive, negative = parted(atoms, m)
    by_positive = column(positive, negative)                    # F(i, all)
    mirrored = column([-d for d in negative], [-d for d in positive])
    by_negative = [1 - f for f in mirrored]                     # F(all, j)

    def with_point(d):
        if d > 0:
            f = mpf(1)
            for j, q in enumerate(negative, 1):
                f = (d * f - q * by_negative[j]) / (d - q)
        else:
            f = mpf(0)
            for i, p in enumerate(positive, 1):
                f = (p * by_positive[i] - d * f) / (p - d)
        return f

    return over_arcsine(with_point, ends)


# --- a line integral ---------------------------------------------------------------

def above_line(atoms, m):
    """Any weights: along Re s = c, with even steps until two agree."""
    excess = [(total - m * size, weight) for total, size, weight in atoms if total != m * size]
    low, high = 1 / min(d for d, _ in excess), 1 / max(d for d, _ in excess)

    def slope(s):
        return mp.fsum(a * d / (1 - s * d) for d, a in excess)

    for _ in range(200):
        c = (low + high) / 2
        low, high = (low, c) if slope(c) > 0 else (c, high)
    sigma = 1 / mp.sqrt(mp.fsum(a * (d / (1 - c * d)) ** 2 for d, a in excess))
    if abs(c) < sigma / 4:
        c = sigma / 4
    ends = [1 / min(d for d, _ in excess), 1 / max(d for d, _ in excess)]
    assert ends[0] < c < ends[1]

    def value(t):
        s = mp.mpc(c, t)
        return (mp.exp(-mp.fsum(a * mp.log(1 - s * d) for d, a in excess)) / s).real

    def total(first, step):
        peak, sum_, t = abs(value(mpf(0))), mpf(0), first
        quiet = 0
        while quiet < 4:
            term = value(t)
            sum_ += term / 2 if t == 0 else term
            quiet = quiet + 1 if abs(term) < peak * mpf(10) ** -26 else 0
            t += step
        return sum_ * step

    step = sigma / 4
    coarse = total(mpf(0), step)
    while True:
        fine = (coarse + total(step / 2, step)) / 2
        if abs(fine - coarse) < abs(fine) * mpf(10) ** -21:
            break
        coarse, step = fine, step / 2
    integral = fine / mp.pi
    return integral if c > 0 else 1 + integral


def above_rows(scores, m, low, high):
    """Long doubles over many rows of weight 1 and size 1, with imagined ones at low and high."""
    d = np.concatenate([scores, np.array([low, high], LD)]) - LD(mp.nstr(m, 25))
    s, (least, most) = LD(0), (1 / d.min(), 1 / d.max())
    while True:
        e = d / (1 - s * d)
        first, sigma = e.sum(), 1 / np.sqrt((e * e).sum())
        if abs(first * sigma) < 1e-6:
            break
        least, most = (least, s) if first > 0 else (s, most)
        s = s - first * sigma * sigma
        if not least < s < most:
            s = (least + most) / 2
    if abs(s) < sigma / 2:
        s = sigma / 2
    sum_, step, t = LD(0), sigma * LD("0.3"), LD(0)
    while t < 12 * sigma:
        ln, angle = LD(0), LD(0)
        for part in np.array_split(d, 64):
            ln += np.log1p(part * (-2 * s + part * (s * s + t * t))).sum() / 2
            angle += np.arctan2(-t * part, 1 - s * part).sum()
        term = np.exp(-ln) * (s * np.cos(angle) - t * np.sin(angle)) / (s * s + t * t)
        sum_ += term / 2 if t == 0 else term
        t += step
    integral = mpf(np.format_float_scientific(sum_ * step / LD(mp.nstr(mp.pi, 25)), 25))
    return integral if s > 0 else 1 + integral


# --- quantiles ---------------------------------------------------------------------

def near(atoms, low, high):
    """The part of a range within 30 standard deviations of the mean."""
    size = mp.fsum(a * n for _, n, a in atoms)
    mean = mp.fsum(a * t for t, _, a in atoms) / size
    sd = mp.sqrt(mp.fsum(a * (t - mean * n) ** 2 for t, n, a in atoms)) / size
    return max(low, mean - 30 * sd), min(high, mean + 30 * sd)


def quantile(above, mass, upper, low, high):
    """The root of ln tail = ln mass, in 40 digits: secants in a bracket, which is halved if they fail."""
    goal, tiny = mp.log(mass), mpf(10) ** -2000

    def gap(m):
        tail = above(m) if upper else 1 - above(m)
        return (goal - mp.log(max(tail, tiny))) * (1 if upper else -1)  # rises with m

    a, b = mpf(low), mpf(high)
    last, m, step = None, (a + b) / 2, b - a
    for i in range(400):
        at = gap(m)
        a, b = (a, m) if at > 0 else (m, b)
        secant = m - at * (m - last[0]) / (at - last[1]) if last and at != last[1] else None
        last = m, at
        if secant is not None and abs(secant - m) < (high - low) * mpf(10) ** -22:
            return secant
        if b - a < (high - low) * mpf(10) ** -24:
            return (a + b) / 2
        m = secant if secant is not None and a < secant < b and i % 4 != 3 else (a + b) / 2
    raise ArithmeticError("no root")


# --- rows ---------------------------------------------------------------------------

def number(x):
    """The double itself."""
    return mpf(float(x))


def text_of(rows):
    return " ".join("/".join(repr(float(x)) for x in row[:-1]) + (f"x{int(row[-1])}" if row[-1] != 1 else "")
                    for row in rows)


def output(method, level, span, margin, bounds, rows, others=(), digits=DIGITS):
    texts = [rows if isinstance(rows, str) else text_of(rows), text_of(others)]
    return [method, repr(float(level)), *(repr(float(x)) for x in span), repr(float(margin)),
            *(mp.nstr(b, digits) for b in bounds), *texts]


def data_atoms(rows, kind):
    """(total, size, weight) of rows that end in how often they are there."""
    if kind == "score":
        return [(number(x), mpf(1), n) for x, n in rows]
    if kind == "weighted":
        return [(number(x) * number(w), number(w), n) for x, w, n in rows]
    return [(number(t), number(n), times) for t, n, times in rows]


def mean_size(atoms):
    return mp.fsum(n * a for _, n, a in atoms) / mp.fsum(a for _, _, a in atoms)


def tail_of(level):
    return (1 - number(level)) / 2


KIND = {"mean": "score", "mean_lmt": "score", "weighted_mean": "weighted", "clustered_mean": "cluster",
        "paired_mean_diff": "score", "paired_mean_prob_better": "score",
        "clustered_diff": "cluster", "clustered_prob_better": "cluster"}


def above_heavy(atoms, m):
    light = above_light(atoms, m)
    return above_line(atoms, m) if light is None else light


def way(atoms, heavy):
    return functools.partial(above_heavy if heavy else above_mp, atoms)


def cut(value, low, high):
    return min(max(value, low), high)


def linearised(atoms, low, high):
    """The units' values as means of the mean size, cut to the range; their mean and their number."""
    size, total = mean_size(atoms), mp.fsum(n * a for _, n, a in atoms)
    mean = mp.fsum(t * a for t, _, a in atoms) / total
    values = [mean + (t - mean * n) / size for t, n, _ in atoms]
    number_of = total ** 2 / mp.fsum(a * n * n for _, n, a in atoms)
    return cut(min(values), low, high), cut(max(values), low, high), mean, number_of


def imagined_for_mean(atoms, lo, hi):
    """The two imagined values of the lower bound, and those of the upper."""
    least, most, _, _ = linearised(atoms, lo, hi)
    return (lo, most), (least, hi)


def imagined_for_diff(atoms, width):
    least, most, mean, number_of = linearised(atoms, -width, width)
    if most - least < 2 * width * mpf(10) ** -12:
        return (-width, most), (least, width)
    if any(t == 0 for t, _, _ in atoms):
        far = max(abs(least), abs(most))
        return (-far, far), (-far, far)
    reach, skew = 3 / (max(number_of, 2) - mpf(3) / 2) * (most - least), 2 * mean - least - most
    return ((cut(least - reach - max(0, skew), -width, width), most),
            (least, cut(most + reach + max(0, -skew), -width, width)))


def merged(atoms):
    """Equal atoms as one, for the ways that need them different."""
    weights = {}
    for total, size, weight in atoms:
        weights[total, size] = weights.get((total, size), 0) + weight
    return [(*key, weight) for key, weight in weights.items()]


def hull(atoms):
    own = [t / n for t, n, _ in atoms]
    return min(own), max(own)


def bound(posterior, mass, upper, heavy):
    """A quantile; of a posterior that is all at one value, that value."""
    ends = hull(posterior)
    if ends[0] == ends[1]:
        return ends[0]
    return quantile(way(posterior, heavy), mass, upper, *(near(posterior, *ends) if heavy else ends))


def one_model(method, level, span, rows, heavy=False):
    """mean, mean_lmt, weighted_mean and clustered_mean."""
    atoms = data_atoms(rows, KIND[method])
    size = mean_size(atoms)
    lo, hi = (number(x) for x in span)
    imagined = ((lo,), (hi,)) if method == "mean_lmt" else imagined_for_mean(atoms, lo, hi)
    bounds = [bound(merged(atoms + [(x * size, size, 1) for x in imagined[upper]]), tail_of(level), upper, heavy)
              for upper in (False, True)]
    return output(method, level, span, 0, bounds, rows)


def diff_tails(rows, kind, span, heavy):
    """P(mean > m) under the posterior of the lower bound and of the upper, and the ends of each."""
    atoms = data_atoms(rows, kind)
    size, width = mean_size(atoms), number(span[1]) - number(span[0])
    tails = []
    for low, high in imagined_for_diff(atoms, width):
        low, high = (low * size, size), (high * size, size)
        whole = merged(atoms + [(*low, HALF), (*high, HALF)])
        if heavy and len(atoms) > 1:
            above = functools.partial(above_line, whole)
        else:
            above = functools.partial(above_halves, atoms, low=low, high=high)
        tails.append((above, near(whole, *hull(whole)) if heavy else hull(whole)))
    return tails


def paired(method, level, span, rows, heavy=False):
    tails = diff_tails(rows, KIND[method], span, heavy)
    bounds = [quantile(above, tail_of(level), upper, *ends) if ends[0] < ends[1] else ends[0]
              for upper, (above, ends) in enumerate(tails)]
    return output(method, level, span, 0, bounds, rows)


def between(lower, upper):
    """P(mean > m) from the two posteriors, consistent with the interval at every level."""
    return lower if lower > HALF else upper if upper < HALF else HALF


def within(above, ends, m):
    return mpf(1) if m <= ends[0] else mpf(0) if m >= ends[1] else above(m)


def paired_probability(method, margin, span, rows, heavy=False):
    p = between(*(within(above, ends, number(margin)) for above, ends in diff_tails(rows, KIND[method], span, heavy)))
    return output(method, 0.95, span, margin, [p, 1 - p], rows)


def no_worse(margin, span, rows, heavy=False):
    width = number(span[1]) - number(span[0])
    posterior = merged(data_atoms(rows, "score") + [(-width, mpf(1), 1)])
    p = within(way(posterior, heavy), hull(posterior), -number(margin))
    return output("no_worse_prob", 0.95, span, margin, [p, 1 - p], rows)


def mean_above(threshold, span, rows, heavy=False):
    """mean_prob_above; the threshold stands in the column of margins."""
    atoms = data_atoms(rows, "score")
    sides = [merged(atoms + [(x, mpf(1), 1) for x in imagined])
             for imagined in imagined_for_mean(atoms, *(number(x) for x in span))]
    p = between(*(within(way(side, heavy), hull(side), number(threshold)) for side in sides))
    return output("mean_prob_above", 0.95, span, threshold, [p, 1 - p], rows)


@functools.lru_cache(maxsize=None)
def legendre(order):
    nodes = [mp.findroot(lambda t: mp.legendre(order, t), mpf(float(x))) for x in special.roots_legendre(order)[0]]
    return [(t, 2 / ((1 - t * t) * mp.diff(lambda s: mp.legendre(order, s), t) ** 2)) for t in nodes]


def posteriors(rows, span):
    """The atoms of one of two models, for the lower bound and for the upper bound of its mean."""
    atoms = data_atoms(rows, "score")
    ends = [number(x) for x in span]
    at_ends = all(t in ends for t, _, _ in atoms)
    imagined = (ends, ends) if at_ends else imagined_for_mean(atoms, *ends)
    return [atoms + [(x, mpf(1), 1) for x in pair] for pair in imagined]


def difference_above(a, b, delta):
    """P(mean of a - mean of b > delta), an integral of polynomials between knots."""
    low, high = min(t for t, _, _ in a), max(t for t, _, _ in a)
    knots = sorted({t for t, _, _ in a} | {t + delta for t, _, _ in b if low < t + delta < high})
    order = (sum(int(w) for _, _, w in a) + sum(int(w) for _, _, w in b)) // 2
    total = mpf(0)
    for left, right in zip(knots, knots[1:]):
        mid, half = (left + right) / 2, (right - left) / 2
        total += half * mp.fsum(w * density(a, mid + half * t) * (1 - above_mp(b, mid + half * t - delta))
                                for t, w in legendre(order))
    return total


def difference_tails(rows, others, span):
    """P(a - b > delta) under the posteriors of the lower bound and of the upper, and the ends of each."""
    a, b = posteriors(rows, span), posteriors(others, span)
    return [(functools.partial(difference_above, a[side], b[not side]),
             (hull(a[side])[0] - hull(b[not side])[1], hull(a[side])[1] - hull(b[not side])[0])) for side in (0, 1)]


def difference(level, span, rows, others):
    bounds = [quantile(above, tail_of(level), upper, *ends)
              for upper, (above, ends) in enumerate(difference_tails(rows, others, span))]
    return output("mean_diff", level, span, 0, bounds, rows, others)


def difference_probability(margin, span, rows, others):
    p = between(*(within(above, ends, number(margin)) for above, ends in difference_tails(rows, others, span)))
    return output("mean_prob_better", 0.95, span, margin, [p, 1 - p], rows, others)


def student(level, freedom):
    """The two-sided quantile of Student's t, by the incomplete beta function."""
    def outside(ln_t):
        t = mp.exp(ln_t)
        return mp.betainc(freedom / 2, HALF, 0, freedom / (freedom + t * t), regularized=True)

    goal = mp.log(1 - number(level))
    z = mp.sqrt(2) * mp.erfinv(number(level))
    start = mp.log(z if freedom > 2 else z + mp.tan(mp.pi * number(level) / 2))
    return mp.exp(mp.findroot(lambda x: mp.log(outside(x)) - goal, start))


def normal(method, level, rows):
    """mean_clt and mean_t."""
    n = mp.fsum(times for _, times in rows)
    mean = mp.fsum(times * number(x) for x, times in rows) / n
    sd = mp.sqrt(mp.fsum(times * (number(x) - mean) ** 2 for x, times in rows) / (n - 1))
    deviate = student(level, n - 1) if method == "mean_t" else mp.sqrt(2) * mp.erfinv(number(level))
    half = deviate * sd / mp.sqrt(n)
    return output(method, level, (0, 1), 0, [mean - half, mean + half], rows)


def size_and_mean(scores):
    n = sum(times for _, times in scores)
    return n, mp.fsum(x * times for x, times in scores) / n


def macro_group(level, lo, hi, tasks):
    """The mean of the means of tasks that are about as large; a task is a list of (score, times)."""
    mean = mp.fsum(size_and_mean(scores)[1] for scores in tasks) / len(tasks)
    names = range(len(tasks))
    together = [t for t in names if size_and_mean(tasks[t])[0] == 1]
    if len(together) == 1 and len(tasks) > 1:
        # joins the smallest other task; of several, the one whose mean is farthest from its own
        only = size_and_mean(tasks[together[0]])[1]
        together.append(min((t for t in names if t not in together),
                            key=lambda t: (size_and_mean(tasks[t])[0], -abs(size_and_mean(tasks[t])[1] - only))))
    strata = [[t] for t in names if t not in together] + [together] * bool(together)
    if len(tasks) == 1:
        z, low, high = [(x, mpf(1), times) for x, times in tasks[0]], lo, hi
    else:
        total = sum(size_and_mean(scores)[0] for scores in tasks)
        stretch, z = mpf(0), []
        for stratum in strata:
            own = mp.fsum(size_and_mean(tasks[t])[1] for t in stratum) / len(stratum)
            units = len(stratum) if len(stratum) > 1 else size_and_mean(tasks[stratum[0]])[0]
            for scores in (tasks[t] for t in stratum):
                weight = mpf(total) / len(tasks) / size_and_mean(scores)[0]
                stretch += weight / len(tasks)
                z += [(mean + weight * mp.sqrt(mpf(units) / (units - 1)) * (x - own), mpf(1), times)
                      for x, times in scores]
        low = min([mean + stretch * (lo - mean)] + [x for x, _, _ in z])
        high = max([mean + stretch * (hi - mean)] + [x for x, _, _ in z])
    z = [(x, n, a) for x, n, a in merged(z)]
    bounds = [cut(bound(merged(z + [(x, mpf(1), 1) for x in imagined]), tail_of(level), upper, False), lo, hi)
              for upper, imagined in enumerate(imagined_for_mean(z, low, high))]
    return mean, bounds


def macro(level, span, rows):
    """The mean of tasks' means; rows are (score, task, times).  Groups of tasks within a factor 4 of the
    smallest, and the root of the sum of their squared weighted distances."""
    lo, hi = (number(x) for x in span)
    by_name, groups = {}, []
    for score, task, times in rows:
        by_name.setdefault(task, []).append((number(score), times))
    for scores in sorted(by_name.values(), key=lambda s: size_and_mean(s)[0]):
        if not groups or size_and_mean(scores)[0] > 4 * size_and_mean(groups[-1][0])[0]:
            groups.append([])
        groups[-1].append(scores)
    found = [macro_group(level, lo, hi, group) for group in groups]
    share = [mpf(len(group)) / len(by_name) for group in groups]
    bounds = found[0][1]
    if len(groups) > 1:
        mean = mp.fsum(w * m for w, (m, _) in zip(share, found))
        away = [mp.sqrt(mp.fsum(max(0, w * (b[side] - m) * (2 * side - 1)) ** 2 for w, (m, b) in zip(share, found)))
                for side in (0, 1)]
        bounds = [cut(mean - away[0], lo, hi), cut(mean + away[1], lo, hi)]
    return output("macro", level, span, 0, bounds, rows)


def alike_lmt(score, n, level):
    """All scores alike: a bound is a share of the score with a power of a uniform."""
    x, share = number(score), tail_of(level) ** (1 / mpf(n))
    return output("mean_lmt", level, (0, 1), 0, [x * share, 1 - (1 - x) * share], [(score, n)])


def generated(n, shape):
    """Scores given by a formula: (i * 7919 mod a prime) / the prime, for i from 1 to n, and their squares."""
    prime = 10007 if n < 10007 else 1000003
    x = np.array([i * 7919 % prime for i in range(1, n + 1)], float) / prime
    return x if shape == "even" else x * x


def many(n, shape, level):
    """mean of so many scores, in long doubles."""
    scores = generated(n, shape)
    mean, sd = mpf(float(scores.mean())), mpf(float(scores.std())) / mp.sqrt(n)
    z = mp.sqrt(2) * mp.erfinv(number(level))
    bounds = []
    for upper, imagined in enumerate(((0.0, scores.max()), (scores.min(), 1.0))):
        if n <= 10007:
            atoms = [(mpf(float(x)), mpf(1), 1) for x in [*scores, *imagined]]
            above = functools.partial(above_ld, atoms)
        else:
            above = functools.partial(above_rows, scores.astype(LD), low=imagined[0], high=imagined[1])
        tail = above if upper else lambda m: 1 - above(m)
        guess = mean + (z if upper else -z) * sd
        bounds.append(secant(tail, tail_of(level), guess, sd))
    return output("mean", level, (0, 1), 0, bounds, f"{shape}:{n}", digits=14)


def secant(tail, mass, guess, sd):
    """As quantile(), to what long doubles can tell."""
    goal = mp.log(mass)
    a, b = guess, guess + sd / 100
    at_a = mp.log(tail(a)) - goal
    while True:
        at_b = mp.log(tail(b)) - goal
        if abs(at_b) < 1e-14 or at_a == at_b or abs(b - a) < sd * mpf(10) ** -15:
            return b
        a, at_a, b = b, at_b, b - at_b * (b - a) / (at_b - at_a)


UNIT = (0, 1)
STARS = (1, 5)
WIDE = (-1e6, 1e6)
LEVELS = [0.95, 0.01, 0.5, 0.9, 0.99, 0.999999]
FIVE = [(0.2, 1), (0.5, 1), (0.9, 1), (1, 1), (0.75, 1)]
TEN = [(0, 2), (0.5, 3), (1, 5)]
SCORES = [
    (UNIT, FIVE), (UNIT, TEN), (UNIT, [(0.7, 10)]), (UNIT, [(0.3, 1)]), (UNIT, [(1e-9, 1)]), (UNIT, [(1, 28), (0.5, 2)]),
    (UNIT, [(0.7 + i * 1e-12, 1) for i in range(8)]), (UNIT, [(0.999999, 12), (0.25, 1)]),
    (UNIT, [((i * 37 % 101) / 101, 1) for i in range(1, 21)]), (UNIT, [(i / 10, 1 + i % 4) for i in range(11)]),
    (UNIT, [(1e-15, 3), (1e-12, 2)]), (UNIT, [(0, 30), (1e-3, 1)]), (UNIT, [(1 - 1e-13, 9)]),
    (STARS, [(1, 2), (2, 1), (3, 4), (4, 9), (5, 6)]), (STARS, [(3.5, 1), (4, 2)]),
    (WIDE, [(-1e6, 1), (-3.25, 4), (12, 5), (999999, 1)]), (WIDE, [(0.001, 3), (0.002, 2)]), ((0, 100), [(61.5, 1), (70, 2), (88.25, 1)]),
]
HEAVY = [
    (UNIT, [(0.7, 10**9)]), (UNIT, [(0.25, 10**6), (0.5, 10**8), (0.875, 10**9)]), (UNIT, [(0, 10**9), (0.5, 1)]),
    (UNIT, [(1, 10**7), (0.5, 1), (0.25, 1)]), (STARS, [(1, 10**6), (5, 3 * 10**6), (3, 17)]),
]
WEIGHTED = [
    (UNIT, [(0.2, 1, 1), (0.9, 2, 1), (0.5, 0.25, 3)]), (UNIT, [(0.3, 1e9, 1), (0.8, 1, 5)]), (UNIT, [(0.3, 1, 1), (0.8, 1e-9, 6), (0.1, 7, 1)]),
    (STARS, [(2, 10, 1), (5, 1, 1), (4.5, 3, 2)]), (UNIT, [(1, 1e-9, 1), (0, 1, 1)]), (UNIT, [(0.4, 123.5, 1)]),
]
CLUSTERS = [
    (UNIT, [(3, 5, 1), (5, 5, 1), (1, 4, 1), (0, 2, 1)]), (UNIT, [(3, 5, 1)]), (UNIT, [(900, 1000, 1), (0, 1, 5)]),
    (UNIT, [(2.5, 4, 3), (1, 7, 2), (0.25, 1, 4)]), (STARS, [(12, 3, 1), (9, 4, 2)]), (UNIT, [(1e5, 123456, 1), (1, 2, 3), (3, 3, 2)]),
    (UNIT, [(5, 5, 6)]), (UNIT, [(0, 5, 4), (5, 5, 3)]), (UNIT, [(7.5, 8, 1), (1.25, 2, 1), (39, 40, 1), (0.75, 1, 2)]),
]
DIFFS = [
    (UNIT, [(1, 6), (0, 14)]), (UNIT, [(1, 16), (-1, 8), (0, 62)]), (UNIT, [(0, 5)]), (UNIT, [(1, 1)]), (UNIT, [(-0.25, 2), (0.5, 3), (0.125, 4)]),
    (STARS, [(4, 1), (-2, 2), (1, 5), (0, 3)]), (UNIT, [(-1, 1)]), (UNIT, [(0.1, 20)]), (WIDE, [(3, 4), (-100000, 1)]),
    (UNIT, [(x, 1) for x in (0.02, 0.05, -0.01, 0.03, 0.04, 0.0, 0.06, 0.01)]),
    (UNIT, [(x, 1) for x in (0.02, 0.05, -0.01, 0.03, 0.04, 0.015, 0.06, 0.01)]),
    (UNIT, [(0.25, 1), (-0.25, 1), (0, 3), (0.5, 1)]), (UNIT, [(0.3, 1)]), (UNIT, [(0.9, 1), (-0.95, 1)]), (UNIT, [(0, 20)]),
    (UNIT, [(0.5 + i * 1e-9, 1) for i in range(6)]),
]
HEAVY_DIFFS = [(UNIT, [(1, 10**6), (-1, 999000), (0, 10**8)]), (UNIT, [(0.125, 10**7)])]
DIFF_CLUSTERS = [
    (UNIT, [(2, 5, 1), (1, 5, 1), (0, 4, 1), (-1, 2, 1)]), (UNIT, [(0, 3, 4)]), (UNIT, [(40, 100, 1), (-1, 1, 3)]),
    (STARS, [(-6, 3, 1), (2, 2, 2), (0.5, 5, 1)]), (UNIT, [(0.5, 5, 1), (0.2, 2, 1), (0.4, 4, 1)]),
    (UNIT, [(1.5, 30, 1), (0.25, 4, 2), (-0.1, 1, 1), (0.9, 12, 1)]),
]
NO_WORSE = [
    (UNIT, [(0, 149)], 0.02), (UNIT, [(0, 148)], 0.02), (UNIT, [(1, 3), (-1, 4), (0, 193)], 0.05), (UNIT, [(-1, 2)], 0.1),
    (UNIT, [(0.1, 4), (-0.2, 3), (0.03, 5)], 0.02), (STARS, [(1, 6), (-2, 1), (0, 9)], 0.5), (UNIT, [(0.25, 1)], 0), (UNIT, [(0, 5)], 1),
    (UNIT, [(-0.5, 1), (0.5, 1)], 0.9), (UNIT, [(1, 10)], 0.01),
]
ABOVE = [
    (UNIT, FIVE, 0.6), (UNIT, FIVE, 0.3), (UNIT, FIVE, 0.95), (UNIT, TEN, 0.5), (UNIT, [(0.7, 10)], 0.7), (UNIT, [(0.7, 10)], 0.5),
    (UNIT, [(0.7, 10)], 0.75), (UNIT, [(1, 20)], 0.95), (UNIT, [(1, 20)], 0.99), (UNIT, [(1, 18), (0, 2)], 0.8), (STARS, [(4, 9), (5, 3)], 4.5),
    (UNIT, [(0.99, 20)], 0.9), (UNIT, [(0.001, 12), (0.25, 1)], 0.4), (UNIT, [(0.3, 1)], 0), (UNIT, [(0.3, 1)], 1),
]
MACRO = [
    (UNIT, [(1, 0, 3), (0, 0, 2), (1, 1, 5), (1, 2, 1), (0, 2, 3), (0, 3, 2)]), (UNIT, [(1, 0, 18), (0, 0, 2), (1, 1, 5), (0, 1, 5)]),
    (UNIT, [(1, 0, 20), (1, 1, 3), (1, 2, 7)]), (UNIT, [(0, t, 4) for t in range(5)]), (UNIT, [(1, 0, 7), (0, 0, 3)]),
    (UNIT, [(1, t, 1) for t in range(6)] + [(0, t, 1) for t in range(6, 9)]), (UNIT, [(1, 0, 1), (1, 1, 3), (0, 1, 2), (1, 2, 30), (0, 2, 10)]),
    (UNIT, [(0.25, 0, 1), (0.75, 0, 2), (1, 0, 1), (0.5, 1, 4), (0.1, 2, 1), (0.9, 3, 1), (0.3, 4, 3), (0.35, 4, 2)]),
    (STARS, [(4, 0, 3), (5, 0, 2), (1, 1, 1), (2, 1, 1), (3, 2, 6), (4, 2, 1)]), (UNIT, [(0.5, 0, 2), (0.5, 1, 3)]),
    (UNIT, [(1, t, 3 + t) for t in range(4)] + [(0, t, 2) for t in range(4)]), (UNIT, [(0.3, 0, 1), (0.8, 1, 1)]),
    (UNIT, [(1, 0, 40), (0, 0, 1), (1, 1, 2), (0, 1, 2), (1, 2, 1)]),
    (STARS, [(4, 0, 3), (5, 0, 2), (1, 1, 1), (2, 1, 1), (3, 2, 30), (4, 2, 9)]),
    ((-1, 1), [(-0.25, 0, 1), (0.5, 0, 1), (0, 1, 6), (0.25, 1, 2), (-1, 2, 3), (1, 2, 9), (0, 2, 40), (0.125, 3, 1)]),
]
MARGINS = [0, 0.02, -0.1, 0.4]
TWO = [
    (UNIT, [(0.3, 1)], [(0.8, 1)]), (UNIT, FIVE, [(0.1, 2), (0.6, 1), (1, 1)]), (UNIT, [(1, 3), (0.5, 1)], [(1, 2), (0.25, 2)]),
    (UNIT, [(0.7, 6)], [(0.65, 5)]), (STARS, [(4, 2), (5, 1)], [(1, 1), (3.5, 3)]), (UNIT, [(0, 2), (0.01, 1)], [(1, 2), (0.99, 1)]),
    (UNIT, FIVE, FIVE), (UNIT, [(0.9, 12), (0.2, 1)], [(0.5, 2)]), (UNIT, [(1, 6)], [(0, 4)]), (UNIT, [(1, 6)], [(0.9, 3), (0.95, 2)]),
    (UNIT, [(0.99, 10)], [(0.98, 9), (0.97, 1)]),
]


def rows():
    def level(i):
        return LEVELS[i % len(LEVELS)]

    jobs = []
    for i, (span, data) in enumerate(SCORES):
        for method in ("mean", "mean_lmt"):
            jobs += [(one_model, (method, lv, span, data)) for lv in sorted({0.95, level(i)})]
        if sum(times for _, times in data) > 1:
            jobs += [(normal, (method, level(i), data)) for method in ("mean_clt", "mean_t")]
    jobs += [(one_model, ("mean", lv, UNIT, FIVE)) for lv in LEVELS[1:]]
    jobs += [(one_model, (method, lv, span, data, True)) for i, (span, data) in enumerate(HEAVY)
             for method, lv in (("mean", 0.95), ("mean", level(i + 1)), ("mean_lmt", level(i)))]
    jobs += [(alike_lmt, (score, n, lv)) for score, n, lv in ((0.5, 1, 0.95), (0.7, 10, 0.99), (1e-6, 10**6, 0.95), (0.3, 10**9, 0.999999))]
    for method, cases in (("weighted_mean", WEIGHTED), ("clustered_mean", CLUSTERS)):
        jobs += [(one_model, (method, lv, span, data)) for i, (span, data) in enumerate(cases) for lv in sorted({0.95, level(i + 1)})]
    for kind, cases in (("paired_mean", DIFFS), ("clustered", DIFF_CLUSTERS)):
        for i, (span, data) in enumerate(cases):
            name = kind + "_diff"
            jobs += [(paired, (name, lv, span, data)) for lv in sorted({0.95, level(i + 1)})]
            width = span[1] - span[0]
            jobs += [(paired_probability, (kind + "_prob_better", m * width, span, data)) for m in sorted({0, MARGINS[i % 4]})]
    for span, data in HEAVY_DIFFS:
        jobs += [(paired, ("paired_mean_diff", lv, span, data, True)) for lv in (0.95, 0.999999)]
        jobs.append((paired_probability, ("paired_mean_prob_better", 0.0001, span, data, True)))
    jobs += [(no_worse, (margin, span, data)) for span, data, margin in NO_WORSE]
    jobs.append((no_worse, (0.0001, UNIT, [(0, 10**8), (-1, 5000), (1, 4000)], True)))
    jobs += [(mean_above, (t, span, data)) for span, data, t in ABOVE]
    jobs.append((mean_above, (0.7001, UNIT, [(0.7, 10**6), (0.75, 10**4)], True)))
    jobs += [(macro, (lv, span, data)) for i, (span, data) in enumerate(MACRO) for lv in sorted({0.95, level(i)})]
    for i, (span, data, others) in enumerate(TWO):
        jobs += [(difference, (lv, span, data, others)) for lv in sorted({0.95, level(i + 1)})]
        width = span[1] - span[0]
        jobs += [(difference_probability, (m * width, span, data, others)) for m in sorted({0, MARGINS[i % 4]})]
    jobs += [(many, (n, shape, lv)) for n, shape, lv in
             ((1000, "even", 0.95), (1000, "square", 0.999999), (10**4, "even", 0.95), (10**4, "square", 0.999999),
              (10**5, "square", 0.95), (10**6, "even", 0.95))]
    return jobs


def check():
    """Compares the algorithms with each other and with the beta distribution."""
    atoms = data_atoms([(x, 20) for x, _ in FIVE], "score") + [(mpf(0), mpf(1), 1), (mpf(1), mpf(1), 1)]
    m = mpf("0.6")
    for other in (above_line(atoms, m), above_ld(atoms, m)):
        assert abs(above_mp(atoms, m) / other - 1) < 1e-16, other
    light = data_atoms([(0.75, 40)], "score") + [(mpf(0), mpf(1), 1), (mpf(1), mpf(1), 1)]
    assert abs(above_mp(light, m) / above_light(light, m) - 1) < 1e-30
    zero_one = [(mpf(0), mpf(1), 1 + 2), (mpf(1), mpf(1), 1 + 18)]
    assert abs(above_mp(zero_one, betaref.quantile(19, 3, mpf("0.025"), True)) - mpf("0.025")) < 1e-30
    diffs = data_atoms([(2, 5, 25), (-1, 2, 30)], "cluster")
    halves = [(mpf(-3), mpf(3), HALF), (mpf(3), mpf(3), HALF)]
    by_halves = above_halves(diffs, mpf("0.1"), *(h[:2] for h in halves))
    assert abs(by_halves / above_line(diffs + halves, mpf("0.1")) - 1) < 1e-18, by_halves


if __name__ == "__main__":
    check()
    sys.exit(0)
