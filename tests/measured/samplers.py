"""The importance samplers of Bowyer et al. 2025, with which make bench and make coverage compare.

They follow the paper's description: K points are drawn from the prior, weighted by
their likelihood and resampled with replacement; the interval is their percentiles.
Only the bivariate normal is better than the paper's: exact, by Owen's T.
"""
import numpy as np
from scipy import special, stats

K = 10_000


def percentiles(rng, points, ln_likelihood):
    """The 95% interval, and the effective sample size behind it."""
    weights = np.exp(ln_likelihood - ln_likelihood.max())
    weights /= weights.sum()
    lo, hi = np.percentile(rng.choice(points, K, p=weights), [2.5, 97.5])
    return lo, hi, 1 / np.sum(weights**2)


def clustered(rng, k, n):
    """Of theta, from right answers and questions, one of each a cluster."""
    theta, d = rng.random(K), rng.gamma(1, 1, K)
    ln_likelihood = sum(stats.betabinom.logpmf(k_t, n_t, d * theta, d * (1 - theta)) for k_t, n_t in zip(k, n))
    return percentiles(rng, theta, ln_likelihood)


def bivariate_normal_cdf(h, k, rho):
    """P(X <= h, Y <= k), standard normals of correlation rho, by Owen's T; h and k not 0."""
    root = np.sqrt(1 - rho**2)
    owen = special.owens_t(h, (k / h - rho) / root) + special.owens_t(k, (h / k - rho) / root)
    return (special.ndtr(h) + special.ndtr(k) - (h * k < 0)) / 2 - owen


def paired(rng, counts):
    """Of theta_A - theta_B, from (both, only A, only B, neither)."""
    theta_a, theta_b = rng.random((2, K))
    rho = 2 * rng.beta(4, 2, K) - 1
    both = bivariate_normal_cdf(special.ndtri(theta_a), special.ndtri(theta_b), rho)
    cells = (both, theta_a - both, theta_b - both, 1 - theta_a - theta_b + both)
    ln_likelihood = sum(special.xlogy(n, np.clip(cell, 0, 1)) for n, cell in zip(counts, cells))
    return percentiles(rng, theta_a - theta_b, ln_likelihood)
