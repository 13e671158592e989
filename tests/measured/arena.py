"""The coverage of ratings from votes, beside the sandwich intervals of lmarena/arena-rank.

As in means.py, each section returns Markdown, and the truth is fixed.  arena-rank fits Bradley and Terry's model by maximum
likelihood with a tie as half a win for each, adds 1e-5 of the votes to the Hessian's diagonal, and takes the sandwich covariance and
z; its truth is what infinitely many votes would give that fit.  A pair is of neighbours in ability.
"""
import json

import numpy as np
from scipy import stats

from fixed import NOW, Case, covered, drawn, measure, table
from settings import LEVEL

DRAWS = 1000
NATURAL = json.dumps({"scale": float(np.log(10)), "base": 0})
Z = stats.norm.ppf(0.5 + LEVEL / 2)


def abilities(models, spread):
    q = stats.norm.ppf((np.arange(models) + 0.5) / models)
    return spread * q / q.std()


def chances(ability, pairs, nu):
    d = np.array([ability[i] - ability[j] for i, j in pairs])
    p = np.stack([np.exp(d / 2), np.exp(-d / 2), np.full(len(d), nu)], axis=1)
    return p / p.sum(axis=1, keepdims=True)


def sandwich_fit(models, pairs, counts):
    """The estimate and its covariance; counts are wins, losses and ties of each pair."""
    y = np.tile([1.0, 0.0, 0.5], len(pairs))
    n = np.asarray(counts, float).ravel()
    x = np.zeros((len(pairs), models))
    for k, (i, j) in enumerate(pairs):
        x[k, i], x[k, j] = 1, -1
    x = np.repeat(x, 3, axis=0)
    ability = np.zeros(models)
    for _ in range(100):
        p = 1 / (1 + np.exp(-x @ ability))
        hessian = x.T @ (x * (n * p * (1 - p))[:, None]) + 1e-5 * n.sum() * np.eye(models)
        step = np.linalg.solve(hessian, x.T @ (n * (y - p)))
        ability = ability + step * min(1, 2 / np.abs(step).max())
        if np.abs(step).max() < 1e-9:
            break
    inverse = np.linalg.inv(hessian)
    return ability, inverse @ (x.T @ (x * (n * (y - p) ** 2)[:, None])) @ inverse


def contrast(models, place):
    c = np.full(models, -1 / models)
    c[place] += 1
    return c


class Arena:
    def __init__(self, models, spread, votes, nu):
        self.models, self.votes = models, votes
        self.pairs = [(i, j) for i in range(models) for j in range(i + 1, models)]
        self.ability = abilities(models, spread)
        self.p = chances(self.ability, self.pairs, nu)
        self.halves = sandwich_fit(models, self.pairs, 1e6 * self.p)[0]

    def draw(self, rng):
        """The model is one of all, in turn at random; votes are wins, losses and ties of each pair."""
        counts = np.array([rng.multinomial(self.votes, p) for p in self.p])
        return 0.0, (int(rng.integers(self.models)), tuple(map(tuple, counts.tolist())))

    def ours(self, data):
        place, counts = data
        rows = ", ".join(f"('{i:03}', '{j:03}', {w}, {l}, {t})" for (i, j), (w, l, t) in zip(self.pairs, counts))
        rated = json.loads(NOW.loaded.db.execute(
            f"SELECT bt_ratings_counts(column1, column2, column3, column4, column5, {LEVEL}, ?) FROM (VALUES {rows})", [NATURAL]).fetchone()[0])
        model = next(row for row in rated if row["model"] == f"{place:03}")
        truth = self.ability[place] - self.ability.mean()
        return model["lo"] - truth, model["hi"] - truth

    def sandwich(self, data):
        place, counts = data
        ability, covariance = sandwich_fit(self.models, self.pairs, counts)
        c = contrast(self.models, place)
        centre, half = c @ (ability - self.halves), Z * np.sqrt(c @ covariance @ c)
        return centre - half, centre + half


ARENAS = ((5, 0.5, 2, 0), (5, 0.5, 10, 0), (5, 1.5, 10, 0), (5, 1.5, 10, 0.8), (5, 0.5, 50, 0.8), (10, 0.5, 2, 0), (10, 1.5, 5, 0.8), (20, 0.5, 10, 0.8))


def sections():
    cases = {}
    for models, spread, votes, nu in ARENAS:
        arena = Arena(models, spread, votes, nu)
        name = f"{models} models, abilities of standard deviation {spread}, {'no ties' if nu == 0 else 'ties'}"
        cases[name, votes] = Case(name, votes, drawn(DRAWS, arena.draw), {"bt_ratings": arena.ours, "sandwich": arena.sandwich}, (-50, 50))
    results = measure("votes", list(cases.values()))
    rows = [[f"{name}, {votes} votes per pair", covered(results[name, votes]["bt_ratings"]), covered(results[name, votes]["sandwich"])]
            for name, votes in cases]
    return [f"""\
## Ratings from votes

One model's rating, drawn among all, relative to the mean; every pair has as many votes. {DRAWS:,} arenas each, standard error at 95% 0.7
points. `sandwich` is lmarena/arena-rank's interval, for which a tie is half a win each, judged by what infinitely many votes would give it; with
ties the two measure abilities on different scales, so that only coverage can be compared.

{table(["", "bt_ratings", "sandwich"], rows)}"""]
