"""The joint posterior of a board in doubles, by the route of joint_reference.py: a parameter for every question,
differences from the last model, all of tau."""
import math

import numpy as np
from scipy.special import log_ndtr, ndtr

LIMIT, HALF, MANY = 0.5, 60, 40


def joined(asked):
    """A model's component, by chains of shared questions, for every model."""
    mine = np.arange(len(asked))
    for q in asked.T:
        found = mine[q]
        for other in found:
            mine[mine == other] = found.min()
    return mine


def weights(asked, tasks):
    names = sorted(set(tasks))
    size = {t: asked[:, [x == t for x in tasks]].sum() / len(asked) for t in names}
    if len(names) == 1:
        return np.ones(len(tasks)), size[names[0]]
    total = len(names) ** 2 / sum(1 / n for n in size.values())
    return np.array([total / (len(names) * size[t]) for t in tasks]), total


class Fit:
    def __init__(self, table, weight, imagined):
        self.models, questions = table.shape
        if imagined:
            table, weight = np.column_stack([table, np.zeros(self.models)]), np.append(weight, 1)
        self.i, self.k = np.nonzero(~np.isnan(table))
        value, self.w = table[self.i, self.k], weight[self.k]
        x = np.zeros((len(value), self.models + table.shape[1]))
        x[np.arange(len(value)), self.i] = 1
        x[np.arange(len(value)), self.models + self.k] = 1
        self.x = np.delete(x, self.models - 1, axis=1)
        self.inverse = np.linalg.inv(self.x.T @ (self.w[:, None] * self.x))
        self.theta = self.inverse @ (self.x.T @ (self.w * value))
        self.residuals = value - self.x @ self.theta
        self.full = np.append(self.theta[:self.models - 1], 0)

    def moved(self, by):
        """How the differences move if the residuals of the rows are these."""
        return (self.inverse @ (self.x.T @ (self.w * by)))[:self.models - 1]


def spread(x):
    d = np.diag(x)
    return d.sum() + (d[:, None] + d - 2 * x)[np.tril_indices(len(x), -1)].sum()


def centred(x):
    m = len(x) + 1
    x = np.pad(x, (0, 1))
    middle = np.eye(m) - 1 / m
    return middle @ x @ middle


def estimates(table, tasks):
    models = len(table)
    asked = ~np.isnan(table)
    keep = asked.sum(0) > 1
    table, asked, tasks = table[:, keep], asked[:, keep], [t for t, k in zip(tasks, keep) if k]
    weight, n = weights(asked, tasks)
    plain, fit = (Fit(table, weight, imagined) for imagined in (False, True))
    d = (table[:, None] - table[None])[np.tril_indices(models, -1)]
    d = d[abs(d) > 1e-9]
    usual = (d * d).mean() if abs(plain.residuals).max() > 1e-9 else 1
    s = np.zeros((models - 1, models - 1))
    for k in range(table.shape[1]):
        x = fit.moved(np.where(fit.k == k, fit.residuals, 0))
        s += np.outer(x, x)
    last = fit.k == table.shape[1]
    for i in range(models):
        x = fit.moved(np.where(last & (fit.i == i), 1.0, 0))
        s += usual / 2 * np.outer(x, x)
    x = fit.moved(np.where(last, (fit.full - fit.full.mean())[fit.i], 0))
    s = (s + np.outer(x, x)) * (n + 1) / (n + 2)
    alike = fit.inverse[:models - 1, :models - 1]
    alike = alike * spread(s) / spread(alike)
    share = HALF / (HALF + n)
    return fit.full, centred((1 - share) * s + share * alike), np.diag(centred(alike)) * models / (models - 1), plain.full


def alone(table, tasks, by_task):
    """Means and variances of independent errors: questions of a task have the same weight, and so have tasks, beside an
    imagined right and an imagined wrong question."""
    y, v = [], []
    for row in table:
        mine = [(x, t) for x, t in zip(row, tasks) if not math.isnan(x)]
        size = {t: sum(u == t for _, u in mine) for _, t in mine} if by_task else {}
        n = len(size) ** 2 / sum(1 / k for k in size.values()) if len(size) > 1 else len(mine)
        values = [(x, n / (len(size) * size[t]) if len(size) > 1 else 1) for x, t in mine] + [(0, 1), (1, 1)]
        mean = math.fsum(w * x for x, w in values) / (n + 2)
        y.append(mean)
        v.append(math.fsum(w * (x - mean) ** 2 for x, w in values) / (n + 2) / (n + 3))
    return np.array(y), np.diag(v), np.array(v)


def nodes(y, s, v):
    if len(y) == 2:
        return [(1, y, s)]
    x, w = np.polynomial.legendre.leggauss(24)
    edges, found, models = LIMIT * (np.arange(17) / 16) ** 2, [], len(y)
    for a, b in zip(edges, edges[1:]):
        for tau, weight in zip((a + b) / 2 + (b - a) / 2 * x, (b - a) / 2 * w):
            k = np.full((models - 1, models - 1), v[-1] + tau ** 2) + np.diag(v[:-1] + tau ** 2)
            d = y[:-1] - y[-1]
            ln = -(d @ np.linalg.solve(k, d)) / 2 - np.linalg.slogdet(k)[1] / 2
            found.append((math.log(weight) + ln, tau))
    top = max(ln for ln, _ in found)
    found = [(math.exp(ln - top), tau) for ln, tau in found if ln > top - 45]
    total = math.fsum(w for w, _ in found)
    out = []
    for w, tau in found:
        o = 1 / (tau ** 2 + v)
        mu, b = (o @ y) / o.sum(), tau ** 2 * o
        out.append((w / total, mu + b * (y - mu), np.sqrt(np.outer(b, b)) * s + np.outer(1 - b, 1 - b) / o.sum()))
    return out


def ahead(i, order, m, c):
    mu = m[i] - m[order]
    s = c[np.ix_(order, order)] - c[order, i][:, None] - c[order, i] + c[i, i]
    ln = 0
    for k in range(len(order)):
        sd = math.sqrt(s[k, k])
        a = mu[k] / sd
        factor = log_ndtr(a)
        mills, column = math.exp(-a * a / 2 - factor) / math.sqrt(2 * math.pi), s[:, k] / sd
        ln += factor
        mu = mu + mills * column
        s = s - mills * (mills + a) * np.outer(column, column)
    return math.exp(ln)


def of_many(held, who):
    p = np.zeros(len(who))
    for w, m, c in held:
        m, c = m[who], c[np.ix_(who, who)]
        d = np.diag(c)
        v = d[:, None] + d - 2 * c
        n, total = len(who), v.sum() / (2 * (len(who) - 1))
        sd = np.sqrt(np.maximum((v.sum(1) - total) / (n - 2), total / n / 1000))
        x = np.linspace((m - 9 * sd).max() - 3 * sd.max(), (m + 9 * sd).max(), 4001)
        z = (x[:, None] - m) / sd
        tails = log_ndtr(z)
        share = np.exp(-z * z / 2 - np.log(sd) - tails + tails.sum(1)[:, None]).sum(0)
        p += w * share / share.sum()
    return p


def scaled(best, bound):
    lo, hi = 0, 1
    while np.minimum(hi * best, bound).sum() < 1 - 1e-12 and hi < 1e6:
        hi *= 2
    for _ in range(200):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if np.minimum(middle * best, bound).sum() < 1 else (lo, middle)
    return np.minimum(hi * best, bound)


def pooled(y, s, v):
    """prob_all and p_best."""
    held, models = nodes(y, s, v), len(y)
    prob = np.zeros((models, models))
    for w, m, c in held:
        d = np.diag(c)
        prob += w * ndtr((m[:, None] - m) / np.sqrt(np.maximum(d[:, None] + d - 2 * c, 1e-300)))
    prob[np.eye(models) > 0] = 0.5
    bound = np.where(np.eye(models) > 0, 1, prob).min(1)
    who, best = np.flatnonzero(bound > 1e-10), np.zeros(models)
    if len(who) > MANY:
        best[who] = of_many(held, who)
    else:
        for i in who:
            order = sorted((j for j in who if j != i), key=lambda j: (round(prob[i, j], 12), j))
            best[i] = math.fsum(w * ahead(i, order, m, c) for w, m, c in held)
    return prob, scaled(best, bound)


def ranges(prob, level=0.95):
    """Ranks by Holm's steps on the smaller probabilities of the pairs, doubled."""
    models = len(prob)
    pairs = sorted((min(prob[i][j], prob[j][i]), i, j) for i in range(models) for j in range(i))
    lo, hi = [1] * models, [models] * models
    for k, (p, i, j) in enumerate(pairs):
        if 2 * p * (len(pairs) - k) > 1 - level:
            break
        first, second = (i, j) if prob[i][j] > 0.5 else (j, i)
        lo[second] += 1
        hi[first] -= 1
    return lo, hi


def joint(table, tasks=None, by_task=False):
    """prob_all, p_best and the plain fit of a board with three models or more; None if no chain joins them."""
    table = np.asarray(table, float)
    each = list(tasks) if by_task else ["all"] * table.shape[1]
    asked = ~np.isnan(table)
    if (asked.sum(0) < 2).all():
        y, s, v = alone(table, list(tasks or each), by_task)
        return *pooled(y, s, v), y
    if joined(asked).any():
        return None
    y, s, v, plain = estimates(table, each)
    return *pooled(y, s, v), plain


def of_answers(models, answers, by_task=False, two=None):
    """Of a board as {model: {(task, ...): [shares]}}, the models in the order of their names: {model: (p_best, rank,
    rank_lo, rank_hi)} and {(a, b): (prob_all, diff_all)}, both empty if there is no answer.  `two` is the probability
    that the first of two models with shared questions is better."""
    mine = [m for m in models if answers[m]]
    if any(not 0 <= s <= 1 for m in mine for shares in answers[m].values() for s in shares):
        return {}, {}
    if len(mine) == 1:
        return {mine[0]: (1, 1, 1, 1)}, {}
    questions = sorted({q for m in mine for q in answers[m]}, key=str)
    table = np.array([[math.fsum(answers[m][q]) / len(answers[m][q]) if q in answers[m] else math.nan for q in questions] for m in mine])
    found = joint(table, [q[0] for q in questions], by_task) if mine else None
    if found is None:
        return {}, {}
    prob, best, plain = found
    if len(mine) == 2 and two is not None:
        prob, best = np.array([[0.5, two], [1 - two, 0.5]]), (two, 1 - two)
    lo, hi = ranges(prob)
    return ({m: (best[i], 0.5 + prob[:, i].sum(), lo[i], hi[i]) for i, m in enumerate(mine)},
            {(a, b): (prob[i, j], plain[i] - plain[j]) for i, a in enumerate(mine) for j, b in enumerate(mine) if i != j})
