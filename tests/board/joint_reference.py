#!/usr/bin/python3
"""Writes data/joint.csv: the posterior of the boards of small_boards.py, to 17 digits.

    /usr/bin/python3 tests/board/joint_reference.py

It uses Debian's python3-mpmath with 30 digits and another route than the code under test: normal equations with a
parameter for every question and differences from the last model; determinants of the differences' covariance; means
given tau from a linear system in the accuracies and mu; 12 panels of Gauss-Legendre nodes over all of tau; bisection
for the scale of P(best).
"""
import csv
import pathlib

import mpmath as mp
from small_boards import SMALL, TASKS

mp.mp.dps = 30
PATH = pathlib.Path(__file__).parent / "data/joint.csv"


def weights(board, tasks, questions):
    """Of each question, and the number of questions per model."""
    models, names = len(board), sorted(set(tasks[q] for q in questions))
    size = {t: mp.mpf(sum(row[q] is not None for row in board for q in questions if tasks[q] == t)) / models for t in names}
    if len(names) == 1:
        return [mp.mpf(1)] * len(questions), size[names[0]]
    total = len(names) ** 2 / mp.fsum(1 / n for n in size.values())
    return [total / (len(names) * size[tasks[q]]) for q in questions], total


class Fit:
    """Least squares with M - 1 differences from the last model and a parameter of every question."""

    def __init__(self, board, questions, weight, imagined):
        self.models, m = len(board), len(board) - 1
        n = m + len(questions) + imagined
        self.rows = [(i, k, mp.mpf(board[i][q]), weight[k]) for k, q in enumerate(questions) for i in range(len(board)) if board[i][q] is not None]
        if imagined:
            self.rows += [(i, len(questions), mp.mpf(0), mp.mpf(1)) for i in range(len(board))]
        a, c = mp.zeros(n, n), mp.zeros(n, 1)
        for i, k, value, w in self.rows:
            x = self.line(n, i, k)
            a += w * x * x.T
            c += w * value * x
        self.size, self.inverse, self.theta = n, a ** -1, mp.lu_solve(a, c)

    def line(self, n, i, k):
        x = mp.zeros(n, 1)
        x[self.models - 1 + k] = 1
        if i < self.models - 1:
            x[i] = 1
        return x

    def residuals(self):
        return [(i, k, w, value - (self.line(self.size, i, k).T * self.theta)[0]) for i, k, value, w in self.rows]

    def moved(self, question, by):
        """How the differences move if the residuals of a question are these, by model."""
        s = mp.zeros(self.size, 1)
        for i, k, _, w in self.rows:
            if k == question:
                s += w * by[i] * self.line(self.size, i, k)
        return (self.inverse * s)[:self.models - 1, 0]


def spread(x):
    """The sum of the variances of all differences."""
    m = x.rows
    return mp.fsum(x[i, i] for i in range(m)) + mp.fsum(x[i, i] + x[j, j] - 2 * x[i, j] for i in range(m) for j in range(i))


def centred(x, models):
    """From the covariance of differences from the last model to that of differences from the mean."""
    def at(i, j):
        return x[i, j] if max(i, j) < models - 1 else mp.mpf(0)

    v = [[at(i, i) + at(j, j) - 2 * at(i, j) for j in range(models)] for i in range(models)]
    row = [mp.fsum(r) / models for r in v]
    mean = mp.fsum(row) / models
    return [[(row[i] + row[j] - mean - v[i][j]) / 2 for j in range(models)] for i in range(models)]


def estimates(board, tasks):
    """Differences from the last model, their covariance, the equal errors' variances, and the plain fit."""
    models, m = len(board), len(board) - 1
    questions = [q for q in range(len(board[0])) if sum(row[q] is not None for row in board) > 1]
    weight, n = weights(board, tasks, questions)
    plain, fit = (Fit(board, questions, weight, imagined) for imagined in (0, 1))
    pairs = [(mp.mpf(board[i][q]) - mp.mpf(board[j][q])) ** 2 for q in questions for i in range(models) for j in range(i)
             if board[i][q] is not None and board[j][q] is not None and board[i][q] != board[j][q]]
    varies = max(abs(r) for *_, r in plain.residuals()) > mp.mpf(10) ** -9
    usual = mp.fsum(pairs) / len(pairs) if varies else mp.mpf(1)
    s, left = mp.zeros(m, m), fit.residuals()
    for k in range(len(questions)):
        d = fit.moved(k, {i: r for i, question, _, r in left if question == k})
        s += d * d.T
    # The imagined question: independent errors of variance usual / 2, and the estimates as its residuals.
    full = [fit.theta[i] for i in range(m)] + [mp.mpf(0)]
    mean = mp.fsum(full) / models
    g = [fit.moved(len(questions), {j: mp.mpf(j == i) for j in range(models)}) for i in range(models)]
    s += usual / 2 * sum((x * x.T for x in g), mp.zeros(m, m))
    d = sum(((full[i] - mean) * g[i] for i in range(models)), mp.zeros(m, 1))
    s = (s + d * d.T) * (n + 1) / (n + 2)
    alike = fit.inverse[:m, :m]
    alike = alike * spread(s) / spread(alike)
    share = 60 / (60 + n)
    v = [x[i] * models / (models - 1) for i, x in enumerate(centred(alike, models))]
    return full, (1 - share) * s + share * alike, v, [plain.theta[i] for i in range(m)] + [mp.mpf(0)]


def nodes():
    found = mp.calculus.quadrature.GaussLegendre(mp.mp).calc_nodes(3, 100)
    edges = [(mp.mpf(k) / 12) ** 2 / 2 for k in range(13)]
    return [((b - a) / 2 * w, (a + b) / 2 + (b - a) / 2 * x) for a, b in zip(edges, edges[1:]) for x, w in found]


def given(tau, y, v, covariance):
    """The density of the differences, and the means and covariance of the accuracies."""
    models = len(y)
    k = mp.matrix(models - 1, models - 1)
    for i in range(models - 1):
        for j in range(models - 1):
            k[i, j] = v[-1] + tau ** 2 + (v[i] + tau ** 2 if i == j else 0)
    d = mp.matrix([x - y[-1] for x in y[:-1]])
    density = mp.exp(-(d.T * mp.lu_solve(k, d))[0] / 2) / mp.sqrt(mp.det(k))
    a, c = mp.zeros(models + 1, models + 1), mp.zeros(models + 1, 1)
    for i in range(models):
        a[i, i] = 1 / v[i] + 1 / tau ** 2
        a[i, models] = a[models, i] = -1 / tau ** 2
        a[models, models] += 1 / tau ** 2
        c[i] = y[i] / v[i]
    mean, inverse = mp.lu_solve(a, c), a ** -1
    b = [tau ** 2 / (tau ** 2 + x) for x in v]
    spreads = [[mp.sqrt(b[i] * b[j]) * covariance[i][j] + inverse[i, j] - (b[i] * v[i] if i == j else 0) for j in range(models)] for i in range(models)]
    return density, [mean[i] for i in range(models)], spreads


def ahead(i, order, mean, c):
    """Mendell and Elston's probability that a model is ahead of others, in this order."""
    mu = [mean[i] - mean[j] for j in order]
    s = [[c[j][k] - c[i][j] - c[i][k] + c[i][i] for k in order] for j in order]
    p = mp.mpf(1)
    for k in range(len(order)):
        sd = mp.sqrt(s[k][k])
        a = mu[k] / sd
        factor = mp.ncdf(a)
        mills, column = mp.npdf(a) / factor, [row[k] / sd for row in s]
        p *= factor
        mu = [x + mills * y for x, y in zip(mu, column)]
        s = [[s[r][q] - mills * (mills + a) * column[r] * column[q] for q in range(len(order))] for r in range(len(order))]
    return p


def scaled(best, bound):
    def total(scale):
        return mp.fsum(min(scale * p, b) for p, b in zip(best, bound))

    lo, hi = mp.mpf(0), mp.mpf(1)
    while total(hi) < 1 and hi < 10 ** 6:
        hi *= 2
    for _ in range(110):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if total(middle) < 1 else (lo, middle)
    return [min(hi * p, b) for p, b in zip(best, bound)]


def posterior(board, tasks):
    y, covariance, v, plain = estimates(board, tasks)
    models = len(board)
    covariance = centred(covariance, models)
    held = [(w, *given(tau, y, v, covariance)) for w, tau in nodes()]
    total = mp.fsum(w * density for w, density, _, _ in held)
    held = [(w * density / total, mean, c) for w, density, mean, c in held]
    prob = [[mp.fsum(w * mp.ncdf((m[i] - m[j]) / mp.sqrt(c[i][i] + c[j][j] - 2 * c[i][j])) for w, m, c in held) if i != j else mp.mpf(1) / 2
             for j in range(models)] for i in range(models)]
    best = []
    for i in range(models):
        order = sorted((j for j in range(models) if j != i), key=lambda j: (round(float(prob[i][j]), 12), j))
        best.append(mp.fsum(w * ahead(i, order, m, c) for w, m, c in held))
    bound = [min(prob[i][j] for j in range(models) if j != i) for i in range(models)]
    return prob, scaled(best, bound), plain


def main():
    with open(PATH, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["board", "what", "a", "b", "value"])
        for name, board in SMALL.items():
            prob, best, plain = posterior(board, TASKS.get(name, "a" * len(board[0])))
            for i, p in enumerate(best):
                out.writerow([name, "p_best", i, "", mp.nstr(p, 17)])
                for j in range(i):
                    out.writerow([name, "prob_all", i, j, mp.nstr(prob[i][j], 17)])
                    out.writerow([name, "diff_all", i, j, mp.nstr(plain[i] - plain[j], 17)])


if __name__ == "__main__":
    main()
