"""The beta distribution at 40 digits, by mpmath.

Independent of ext/stats/beta.c: tails are tanh-sinh quadratures of the density
of t = logit(x), and quantiles are Newton iterations on them in 40-digit
arithmetic.  `check()` compares the quadrature with mpmath's own hypergeometric
betainc where that is affordable.
"""
import math

import mpmath as mp
from scipy import stats

mp.mp.dps = 40


def density(a, b):
    """ln of the density of logit(x), and its derivative, as functions of t."""
    ln_B = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)

    def ln_w(t):
        # log(1+e^t) without overflow on either side
        soft = t + mp.log1p(mp.exp(-t)) if t > 0 else mp.log1p(mp.exp(t))
        return a * t - (a + b) * soft - ln_B

    def slope(t):
        return a - (a + b) / (1 + mp.exp(-t))

    return ln_w, slope


def lower_tail(a, b, t):
    """P(logit X <= t), integrated outward from t."""
    ln_w, slope = density(a, b)
    # Left of t the density falls at least as fast as at t.  If it still rises to the left, the panels are as wide as its standard
    # deviation.
    sd = 1 / mp.sqrt((a + b) * (a / (a + b)) * (b / (a + b)))
    reach = sd if slope(t) <= 0 else min(sd, 1 / slope(t))
    peak = mp.log(a / b)
    edges = {t - reach * f for f in (0, 4, 16, 64, 128)}
    if peak < t:
        edges |= {peak + sd * f for f in (-12, -6, -2, 2, 6, 12)}
    edges = sorted(e for e in edges if e <= t)
    # Go on outward until the remaining mass is negligible.
    top = max(ln_w(e) for e in edges)  # quad's tolerance is absolute
    while ln_w(edges[0]) > top - 100:
        edges.insert(0, edges[0] - 2 * (t - edges[0]) - 10 / a)
    return mp.exp(top) * mp.quad(lambda s: mp.exp(ln_w(s) - top), edges)


def lower_quantile(a, b, p):
    """The logit t with P(logit X <= t) = p."""
    ln_w, _ = density(a, b)
    # ln P is concave in t, so Newton's method converges from any start. scipy's answer saves steps; if it has none, the start is the power
    # law of the tail, or six standard deviations out.
    guess = stats.beta.ppf(float(p), float(a), float(b))
    if 0 < guess < 1 and math.isfinite(guess):
        t = mp.log(mp.mpf(guess) / (1 - mp.mpf(guess)))
    else:
        t = (mp.log(p) + mp.log(a) + mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)) / a
        t = max(t, mp.log(a / b) - 6 / mp.sqrt((a + b) * (a / (a + b)) * (b / (a + b))))
    for _ in range(60):
        P = lower_tail(a, b, t)
        step = P * mp.exp(-ln_w(t)) * (mp.log(p) - mp.log(P))
        t += step
        # Newton doubles the digits: a step below 1e-15 leaves 1e-30.
        if abs(step) < mp.mpf(10) ** -15 * max(1, abs(t)):
            return t
    raise ArithmeticError(f"no convergence at Beta({a}, {b}), p = {p}")


def expit(t):
    return 1 / (1 + mp.exp(-t))


def quantile(a, b, p, upper=False):
    """The quantile with lower tail p, or with upper tail p."""
    a, b, p = mp.mpf(a), mp.mpf(b), mp.mpf(p)
    return expit(-lower_quantile(b, a, p)) if upper else expit(lower_quantile(a, b, p))


def hdi(a, b, level):
    """Highest-density interval: equal density of x at both ends, mass = level."""
    a, b, level = mp.mpf(a), mp.mpf(b), mp.mpf(level)
    if a <= 1:
        return mp.mpf(0), quantile(a, b, 1 - level, upper=True)
    if b <= 1:
        return quantile(a, b, 1 - level), mp.mpf(1)
    ln_w, slope = density(a, b)

    def ln_f(t):
        return ln_w(t) - mp.log(expit(t)) - mp.log(expit(-t))

    def dln_f(t):
        return slope(t) - 1 + 2 * expit(t)

    # Solves for the log ratio of the masses outside on the two sides.
    outside = 1 - level
    least, most, s = mp.mpf(-1e6), mp.mpf(1e6), mp.mpf(0)
    for _ in range(200):
        below, above = outside * expit(s), outside * expit(-s)
        l = lower_quantile(a, b, below)
        u = -lower_quantile(b, a, above)
        gap = ln_f(l) - ln_f(u)
        least, most = (least, s) if gap > 0 else (s, most)
        slope_s = (dln_f(l) * mp.exp(-ln_w(l)) - dln_f(u) * mp.exp(-ln_w(u))) * below * above / outside
        step = -gap / slope_s
        if abs(step) < mp.mpf(10) ** -22:
            return expit(l), expit(u)
        s = s + step if least < s + step < most else (least + most) / 2
    raise ArithmeticError(f"no HDI at Beta({a}, {b}), level {level}")


def check():
    for a, b, x in ((1, 11, 0.01), (19, 3, 0.7), (0.05, 20.05, 1e-9), (501, 501, 0.45), (3000.5, 2.5, 0.998)):
        a, b, x = mp.mpf(a), mp.mpf(b), mp.mpf(x)
        ours = lower_tail(a, b, mp.log(x / (1 - x)))
        theirs = mp.betainc(a, b, 0, x, regularized=True)
        assert abs(ours / theirs - 1) < mp.mpf(10) ** -25, (a, b, x, ours, theirs)
