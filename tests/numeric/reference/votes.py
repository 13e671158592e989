"""References for bt_ratings and bt_pairs: Bradley and Terry's model with Davidson's ties, and Laplace's marginals.

A vote is a multinomial logit: with features (X/2, 0), (-X/2, 0) and (0, 1) of winning, losing and a tie, H = sum n
Cov(feature).  For a contrast c, theta = x c/c'c + N z with N an orthonormal basis of what is orthogonal to c and to a
shift of all models; at many x at once, z is moved to its maximum by Newton's method, every x from the same start, and
N'HN is eliminated directly.  ext/stats never forms N: it has the determinant and the steps from one elimination of H,
whose lambdas it treats as a Laplacian, and goes from x to x.

Numbers have 80 bits, since 10^9 votes lose 9 digits.  The mass is computed by composite Gauss-Legendre panels, and a
bound is the point at which part of a panel, with nodes of its own, completes the tail.  Everything is done twice, the
second time with finer panels, and must agree within TOLERANCE standard deviations; two models without position must
give a Beta's bounds, and have its P.

Of more than ten models ext/stats has r* in place of the marginal, by derivatives at the maximum or by the profile, so that these
references say how near that is: of_few is of models with fewer than HANDFUL votes, of_many of others.
"""
import functools

import numpy as np
from scipy import optimize, special, stats

HEADER = ["method", "models", "position", "level", "i", "j", "at", "lo", "hi", "below", "votes"]
PATH = "stats/votes.csv"
TOLERANCE = 1e-10
REAL = np.longdouble
DROP = 42.0  # of ln density: e^-27 of the smallest tail


def cholesky(matrices):
    """Lower factors of positive definite matrices, stacked."""
    low = np.zeros_like(matrices)
    for k in range(matrices.shape[-1]):
        rest = matrices[:, k:, k] - np.einsum("bij,bj->bi", low[:, k:, :k], low[:, k, :k])
        low[:, k:, k] = rest / np.sqrt(rest[:, :1])
    return low


def solve(low, x):
    x = x.copy()
    size = x.shape[1]
    for k in range(size):
        x[:, k] = (x[:, k] - np.einsum("bj,bj->b", low[:, k, :k], x[:, :k])) / low[:, k, k]
    for k in reversed(range(size)):
        x[:, k] = (x[:, k] - np.einsum("bj,bj->b", low[:, k + 1:, k], x[:, k + 1:])) / low[:, k, k]
    return x


class Votes:
    def __init__(self, models, text, position):
        self.models = models
        cells = {}
        for row in text.split():
            i, j, *counts = (int(v) for v in row.split("/"))
            if not position and i > j:
                i, j, counts = j, i, [counts[1], counts[0], counts[2]]
            cells[i, j] = cells.get((i, j), 0) + np.array(counts, REAL)
        pairs = [(i, j) for i in range(models) for j in range(models) if i < j or (position and i != j)]
        imagined = np.array([1, 1, 0], REAL) / (models - 1) / (2 if position else 1)
        self.counts = np.array([cells.get(pair, 0) + imagined for pair in pairs])
        self.tied = self.counts[:, 2].sum() > 0
        self.size = models + int(self.tied) + int(position)
        self.features = np.zeros((len(pairs), 3, self.size), REAL)
        for k, (i, j) in enumerate(pairs):
            for outcome, sign in ((0, 1), (1, -1)):
                self.features[k, outcome, i] = sign / REAL(2)
                self.features[k, outcome, j] = -sign / REAL(2)
                if position:
                    self.features[k, outcome, -1] = sign / REAL(2)
            if self.tied:
                self.features[k, 2, models] = 1
        self.outcomes = 3 if self.tied else 2
        self.shift = np.zeros(self.size, REAL)
        self.shift[:models] = 1
        self.best = self.climb(self.basis([]), np.zeros((1, self.size), REAL))[0]
        self.at_best = self.evaluate(self.best[None], False)[0]

    def basis(self, contrasts):
        """Orthonormal columns orthogonal to the contrasts and to a shift of all models: Gram and Schmidt, twice."""
        kept = []
        for v in [self.shift, *contrasts, *np.eye(self.size, dtype=REAL)]:
            for _ in range(2):
                for k in kept:
                    v = v - k * (k @ v)
            norm = np.sqrt(v @ v)
            if norm > 1e-9:
                kept.append(v / norm)
        return np.array(kept[1 + len(contrasts):]).T

    def evaluate(self, theta, derivatives=True):
        exponents = np.einsum("kop,bp->bko", self.features, theta)[:, :, :self.outcomes]
        most = exponents.max(axis=2, keepdims=True)
        ln_z = most[:, :, 0] + np.log(np.exp(exponents - most).sum(axis=2))
        total = self.counts.sum(axis=1)
        ln = (np.einsum("ko,bko->b", self.counts[:, :self.outcomes], exponents - ln_z[:, :, None]))
        if not derivatives:
            return ln
        p = np.exp(exponents - ln_z[:, :, None])
        f = self.features[:, :self.outcomes]
        mean = np.einsum("bko,kop->bkp", p, f)
        gradient = np.einsum("ko,kop->p", self.counts[:, :self.outcomes], f) - np.einsum("k,bkp->bp", total, mean)
        away = f[None] - mean[:, :, None]
        hessian = np.einsum("k,bko,bkop,bkoq->bpq", total, p, away, away, optimize=True)
        return ln, gradient, hessian

    def climb(self, basis, theta):
        """The maximum along the basis from each theta: a step of at most 2, halved until ln post rises."""
        if basis.size == 0:
            return theta
        for _ in range(400):
            ln, gradient, hessian = self.evaluate(theta)
            low = cholesky(np.einsum("pi,bpq,qj->bij", basis, hessian, basis, optimize=True))
            step = solve(low, gradient @ basis) @ basis.T
            longest = np.abs(step).max(axis=1)
            step *= np.minimum(1, 2 / np.maximum(longest, 1e-30))[:, None]
            for _ in range(60):
                worse = self.evaluate(theta + step, False) < ln - 1e-17 * np.abs(ln)
                if not worse.any():
                    break
                step[worse] /= 2
            theta = theta + step
            if longest.max() < 1e-13:
                break
        return theta

    @functools.lru_cache(maxsize=None)
    def contrast(self, *c):
        return Contrast(self, np.array(c, REAL))


class Arena(Votes):
    """Many models, without ties or places: sums over a matrix of pairs."""
    def evaluate(self, theta, derivatives=True):
        m = self.models
        if not hasattr(self, "won"):
            self.won = np.zeros((m, m), REAL)
            for (won, lost, _), (i, j) in zip(self.counts, [(i, j) for i in range(m) for j in range(i + 1, m)]):
                self.won[i, j], self.won[j, i] = won, lost
        d = theta[:, :, None] - theta[:, None, :]
        ln_p = -np.logaddexp(REAL(0), -d)
        ln = (self.won * ln_p).sum(axis=(1, 2))
        if not derivatives:
            return ln
        p, n = np.exp(ln_p), self.won + self.won.T
        gradient = (self.won - n * p).sum(axis=2)
        hessian = -n * p * (1 - p)
        hessian[:, range(m), range(m)] = 0
        hessian[:, range(m), range(m)] = -hessian.sum(axis=2)
        return ln, gradient, hessian


class Contrast:
    def __init__(self, votes, c):
        self.votes, self.c = votes, c
        self.basis = votes.basis([c])
        self.value = c @ votes.best
        self.at_best = REAL(0)
        self.at_best, self.hessian = self.laplace(np.zeros(1, REAL))
        full = votes.basis([])
        inverse = solve(cholesky((full.T @ self.hessian[0] @ full)[None]), (c @ full)[None])[0]
        self.sd = np.sqrt(inverse @ (c @ full))

    def constrained(self, x):
        theta = self.votes.best + np.outer(x, self.c) / (self.c @ self.c)
        return self.votes.climb(self.basis, theta)

    def ln_det(self, hessian):
        if self.basis.size == 0:
            return REAL(0)
        low = cholesky(np.einsum("pi,bpq,qj->bij", self.basis, hessian, self.basis, optimize=True))
        return 2 * np.log(np.einsum("bii->bi", low)).sum(axis=1)

    def laplace(self, x):
        ln, _, hessian = self.votes.evaluate(self.constrained(x))
        return ln - self.votes.at_best - self.ln_det(hessian) / 2 - self.at_best, hessian

    def density(self, x):
        return np.exp(self.laplace(np.atleast_1d(np.asarray(x, REAL)))[0])

    def end(self, sign):
        x = self.sd
        while self.laplace(np.array([sign * x]))[0][0] > -DROP:
            x = x * 1.25
        return sign * x

    @functools.lru_cache(maxsize=None)
    def panels(self, count, order):
        edges = np.linspace(self.end(-1), self.end(1), count + 1)
        return edges, np.array([self.mass(a, b, order) for a, b in zip(edges[:-1], edges[1:])])

    def mass(self, a, b, order):
        x, w = special.roots_legendre(order)
        half = (b - a) / 2
        return (self.density((a + b) / 2 + half * x.astype(REAL)) * w).sum() * half

    def bound(self, tail, upper, count, order):
        edges, mass = self.panels(count, order)
        if upper:
            edges, mass = edges[::-1], mass[::-1]
        beyond = np.concatenate([[REAL(0)], np.cumsum(mass)])
        wanted = tail * beyond[-1]
        k = int(np.searchsorted(beyond, wanted)) - 1
        excess = lambda x: float(beyond[k] + abs(self.mass(edges[k], REAL(x), order)) - wanted) / float(wanted)
        low, high = sorted((float(edges[k]), float(edges[k + 1])))
        return REAL(optimize.brentq(excess, low, high, xtol=1e-15 * max(1, abs(low)), rtol=1e-15))

    def interval(self, level):
        tail = (1 - REAL(level)) / 2
        coarse, fine = ([self.bound(tail, upper, *panels) for upper in (False, True)] for panels in ((48, 20), (64, 24)))
        assert max(abs(a - b) for a, b in zip(coarse, fine)) < TOLERANCE * self.sd, (coarse, fine)
        return [self.value, self.value + fine[0], self.value + fine[1]]

    def rough_interval(self, level):
        """Within 1e-6 standard deviations."""
        tail = (1 - REAL(level)) / 2
        coarse, fine = ([self.bound(tail, upper, *panels) for upper in (False, True)] for panels in ((8, 10), (10, 12)))
        assert max(abs(a - b) for a, b in zip(coarse, fine)) < 1e-6 * self.sd, (coarse, fine)
        return [self.value, self.value + fine[0], self.value + fine[1]]

    def below(self):
        """P(contrast < 0) by r*; away from the maximum by at least 1e-3 standard deviations."""
        x = -self.value
        assert abs(x) > 1e-3 * self.sd
        theta = self.constrained(np.array([x]))
        ln, gradient, hessian = self.votes.evaluate(theta)
        r = np.sign(x) * np.sqrt(2 * (self.votes.at_best - ln[0]))
        slope = gradient[0] @ self.c / (self.c @ self.c)
        ratio = np.exp((self.ln_det(hessian) - self.ln_det(self.hessian)) / 2)
        q = -slope * self.sd * (ratio if np.ndim(ratio) == 0 else ratio[0])
        return stats.norm.cdf(float(r + np.log(q / r) / r))


@functools.lru_cache(maxsize=4)
def posterior(models, text, position):
    tied = any(int(row.split("/")[4]) for row in text.split())
    return (Votes if models <= 10 or tied or position else Arena)(models, text, position)


def drawn(models, per_pair, share, skew, seed, tied=0.0, position=False):
    """Votes of random pairs: a share of them met, and each model's number of votes varies by e^(skew N)."""
    rng = np.random.default_rng(seed)
    ability, popular = rng.normal(size=models), np.exp(skew * rng.normal(size=models))
    rows = []
    for i in range(models):
        for j in range(models):
            n = int(rng.poisson(per_pair * popular[i] * popular[j] / np.mean(popular) ** 2))
            if (i < j or (position and i != j)) and rng.random() < share and n:
                won, tie = 1 / (1 + np.exp(ability[j] - ability[i])), tied * rng.random()
                rows.append("/".join(str(k) for k in (i, j, *rng.multinomial(n, [won * (1 - tie), (1 - won) * (1 - tie), tie]))))
    return models, " ".join(rows), position


def count(text, model):
    """The model's votes."""
    rows = [[int(k) for k in row.split("/")] for row in text.split()]
    return sum(sum(row[2:]) for row in rows if model in row[:2])


def number(x):
    return np.format_float_positional(x, precision=17, unique=False, fractional=False, trim="-") if x else "0"


def reference(method, models, text, position, level, i, j):
    v = posterior(models, text, position)
    c = np.zeros(v.size, REAL)
    kind = method.removesuffix("_of_many").removesuffix("_of_few")
    if kind == "bt_ratings":
        c[:models] = -1 / REAL(models)
        c[i] += 1
    elif kind == "bt_pairs":
        c[i], c[j] = 1, -1
    else:
        c[-1] = 1
    contrast = v.contrast(*c)
    at, lo, hi = contrast.interval(level) if kind == method else contrast.rough_interval(level)
    two = kind == "bt_pairs" and models == 2 and not position
    if two:
        row = [int(n) for n in text.split("/")]
        beta = stats.beta(1 + row[2], 1 + row[3])
        assert np.max(np.abs(special.expit([float(lo), float(hi)]) / beta.ppf([(1 - level) / 2, (1 + level) / 2]) - 1)) < 1e-9, (text, level)
    distinct = kind == "bt_pairs" and abs(contrast.value) > 1e-3 * contrast.sd
    below = repr(float(beta.cdf(0.5) if two else contrast.below())) if two or distinct else "-1"
    return [method, models, int(position), repr(level), i, j, number(at), number(lo), number(hi), below, text]


HANDFUL = 50
LEVELS = (0.95, 0.5, 0.999999)
# models; votes as first/second/wins/losses/ties; whether the place counts
CASES = [(2, "0/1/7/3/0", False), (2, "0/1/7/3/5", False), (2, "0/1/1/0/0", False), (2, "0/1/0/0/4", False),
         (2, "0/1/9/4/2 1/0/6/8/3", True), (3, "0/1/6/4/0 1/2/7/3/0 0/2/9/1/0", False), (3, "0/1/5/3/2 1/2/6/2/2 0/2/7/0/3", False),
         (3, "0/1/10/0/0 0/2/10/0/0 1/2/5/5/0", False), (3, "0/1/0/0/10 1/2/0/0/4", False), (3, "0/1/5/3/2 1/0/4/4/1 1/2/6/2/2 0/2/7/0/3", True),
         (3, "0/1/500000000/300000000/200000000 1/2/600000000/200000000/200000000 0/2/700000000/100000000/200000000", False),
         (4, "0/1/8/2/0 2/3/3/7/0", False), (5, "0/1/1/0/0", False),
         (5, "0/1/30/10/4 1/2/25/20/9 2/3/40/1/2 3/4/12/11/10 4/0/2/33/1 1/3/8/3/0", False),
         # far out H is singular to 16 digits: two votes, nearly ties alone, a chain of two votes each
         (2, "0/1/1/0/1", True), (2, "0/1/26/0/986", True), (4, "0/1/0/2/0 1/2/2/0/0 2/3/0/2/0", False)]


# of more than ten models: the votes, and how many ratings and pairs
ARENAS = [(drawn(12, 60, 1, 0, 1), 4), (drawn(14, 40, 0.5, 0.5, 2, 0.5), 3), (drawn(12, 20, 1, 0.3, 3, 0.3, True), 3),
        (drawn(45, 40, 0.2, 0.5, 4), 3), (drawn(45, 8, 0.3, 1.2, 5), 3),
        (drawn(12, 1, 1, 0, 6), 4), (drawn(14, 2, 0.5, 0.5, 7, 0.5), 3), (drawn(45, 1, 0.2, 0, 8), 2)]


def rows():
    out = []
    for models, text, position in CASES:
        asked = [("bt_ratings", i, i) for i in range(models)] + [("bt_pairs", i, i + 1) for i in range(models - 1)]
        asked += [("bt_first_place", 0, 0)] * position
        out += [(reference, (method, models, text, position, level, i, j)) for method, i, j in asked for level in LEVELS]
    for (models, text, position), asked in ARENAS:
        for k in range(asked):
            i, j = k * (models // asked), (k + 1) * (models // asked) - 1
            for method, a, b in (("bt_ratings", i, i), ("bt_pairs", i, j)):
                name = f"{method}_of_{'few' if min(count(text, a), count(text, b)) < HANDFUL else 'many'}"
                out += [(reference, (name, models, text, position, level, a, b)) for level in LEVELS[:2]]
    return out
