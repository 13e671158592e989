"""The importance samplers of Bowyer et al. 2025, as the peers of make bench.

Written from the paper's description: K points from the prior, weighted by the
likelihood, resampled with replacement, and percentiles taken.  The bivariate
normal is exact, by Owen's T.
"""
import numpy as np
from scipy import special, stats

K = 10_000


def percentiles(values, ln_likelihood, rng):
    weights = np.exp(ln_likelihood - ln_likelihood.max())
    drawn = rng.choice(values, K, p=weights / weights.sum())
    return np.percentile(drawn, [2.5, 97.5])


def clustered(k, n, rng):
    theta, d = rng.random(K), rng.gamma(1, 1, K)
    ln_likelihood = np.zeros(K)
    for k_t, n_t in zip(k, n):
        ln_likelihood += stats.betabinom.logpmf(k_t, n_t, d * theta, d * (1 - theta))
    return percentiles(theta, ln_likelihood, rng)


def both_below(h, k, rho):
    """P(X <= h, Y <= k) for a standard bivariate normal: Owen 1956, equation 2.1."""
    root = np.sqrt(1 - rho**2)
    t = special.owens_t(h, (k / h - rho) / root) + special.owens_t(k, (h / k - rho) / root)
    half = np.where((h * k > 0) | ((h * k == 0) & (h + k >= 0)), 0, 0.5)
    return (special.ndtr(h) + special.ndtr(k)) / 2 - t - half


def paired(both, only_a, only_b, neither, rng):
    theta_a, theta_b, rho = rng.random(K), rng.random(K), 2 * rng.beta(4, 2, K) - 1
    none = both_below(-special.ndtri(theta_a), -special.ndtri(theta_b), rho)
    cells = [theta_a + theta_b - 1 + none, 1 - theta_b - none, 1 - theta_a - none, none]
    ln_likelihood = sum(n * np.log(np.maximum(p, 1e-300)) for n, p in zip((both, only_a, only_b, neither), cells))
    return percentiles(theta_a - theta_b, ln_likelihood, rng)
