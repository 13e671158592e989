"""The coverage of ratings from votes, beside the sandwich intervals of lmarena/arena-rank.

As in means.py, each section returns Markdown, and the truth is fixed.  arena-rank fits Bradley and Terry's model by maximum
likelihood with a tie as half a win for each, adds 1e-5 of the votes to the Hessian's diagonal, and takes the sandwich covariance and
z; its truth is what infinitely many votes would give that fit.  A pair is of neighbours in ability.
"""
import functools
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
    """The estimate and its covariance, from the wins, losses and ties of each pair."""
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


def rows_of(pairs, counts):
    return ", ".join(f"('{i:03}', '{j:03}', {w}, {l}, {t})" for (i, j), (w, l, t) in zip(pairs, counts))


def asked(call, pairs, counts, options=NATURAL):
    """The result of bt_ratings_counts or bt_pairs_counts for the votes."""
    return json.loads(NOW.loaded.db.execute(
        f"SELECT {call}(column1, column2, column3, column4, column5, {LEVEL}, ?) FROM (VALUES {rows_of(pairs, counts)})", [options]).fetchone()[0])


class Arena:
    def __init__(self, models, spread, votes, nu):
        self.models, self.votes = models, votes
        self.pairs = [(i, j) for i in range(models) for j in range(i + 1, models)]
        self.ability = abilities(models, spread)
        self.p = chances(self.ability, self.pairs, nu)
        self.halves = sandwich_fit(models, self.pairs, 1e6 * self.p)[0]

    def draw(self, rng):
        """The interval of a random model; votes are wins, losses and ties of each pair."""
        counts = np.array([rng.multinomial(self.votes, p) for p in self.p])
        return 0.0, (int(rng.integers(self.models)), tuple(map(tuple, counts.tolist())))

    def rated(self, data):
        place, counts = data
        return next(row for row in asked("bt_ratings_counts", self.pairs, counts) if row["model"] == f"{place:03}")

    def ours(self, data):
        row, truth = self.rated(data), self.ability[data[0]] - self.ability.mean()
        return row["lo"] - truth, row["hi"] - truth

    def ranks(self, data):
        """A league of models whose abilities rise with their number."""
        row, truth = self.rated(data), self.models - data[0]
        return row["rank_lo"] - truth, row["rank_hi"] - truth

    def pair(self, data):
        """The probability that a model beats the next one; the last one, the one before."""
        place, counts = data
        names = {f"{place:03}", f"{place + 1 if place + 1 < self.models else place - 1:03}"}
        row = next(r for r in asked("bt_pairs_counts", self.pairs, counts) if {r["a"], r["b"]} == names)
        truth = 1 / (1 + np.exp(self.ability[int(row["b"])] - self.ability[int(row["a"])]))
        return row["lo"] - truth, row["hi"] - truth

    def sandwich(self, data):
        place, counts = data
        ability, covariance = sandwich_fit(self.models, self.pairs, counts)
        c = contrast(self.models, place)
        centre, half = c @ (ability - self.halves), Z * np.sqrt(c @ covariance @ c)
        return centre - half, centre + half


class Placed(Arena):
    """Every pair in both orders; the model shown first has an advantage."""

    ADVANTAGE = 0.4

    def __init__(self, models, spread, votes, nu):
        super().__init__(models, spread, votes, nu)
        self.pairs = [(i, j) for i in range(models) for j in range(models) if i != j]
        d = np.array([self.ability[i] - self.ability[j] + self.ADVANTAGE for i, j in self.pairs])
        p = np.stack([np.exp(d / 2), np.exp(-d / 2), np.full(len(d), nu)], axis=1)
        self.p = p / p.sum(axis=1, keepdims=True)

    def rated(self, data):
        place, counts = data
        rated = asked("bt_ratings_counts", self.pairs, counts, json.dumps({**json.loads(NATURAL), "position": True}))
        return next(row for row in rated if row["model"] == f"{place:03}")

    def first(self, data):
        row, truth = self.rated(data), 1 / (1 + np.exp(-self.ADVANTAGE))
        return row["first_place_lo"] - truth, row["first_place_hi"] - truth


class Probit(Arena):
    """Votes from another model than the assumed one: people see normal abilities, and call close ones a tie."""

    def __init__(self, models, spread, votes, tie):
        super().__init__(models, spread, votes, 0)
        d = np.array([self.ability[i] - self.ability[j] for i, j in self.pairs]) * np.sqrt(np.pi / 8)
        lost, won = stats.norm.cdf(-tie - d), stats.norm.cdf(d - tie)
        self.p = np.stack([won, lost, 1 - won - lost], axis=1)

    @functools.cached_property
    def limit(self):
        """The ratings that infinitely many votes would give."""
        counts = np.rint(1e8 * self.p).astype(int).tolist()
        return {row["model"]: row["rating"] for row in asked("bt_ratings_counts", self.pairs, counts)}

    def ours(self, data):
        row = self.rated(data)
        return row["lo"] - self.limit[row["model"]], row["hi"] - self.limit[row["model"]]


ARENAS = ((5, 0.5, 2, 0), (5, 0.5, 10, 0), (5, 1.5, 10, 0), (5, 1.5, 10, 0.8), (5, 0.5, 50, 0.8), (10, 0.5, 2, 0), (10, 1.5, 5, 0.8), (20, 0.5, 10, 0.8))
PLACED = ((5, 0.5, 2, 0), (5, 1.5, 5, 0.8), (10, 0.5, 5, 0.8))
PROBIT = ((5, 1.5, 10, 0.2), (10, 1.5, 5, 0.2))


def sections():
    cases, placed, probit = {}, {}, {}

    def add(to, arena, name, methods):
        to[name, arena.votes] = Case(name, arena.votes, drawn(DRAWS, arena.draw), methods, (-50, 50))
    for models, spread, votes, nu in ARENAS:
        arena = Arena(models, spread, votes, nu)
        add(cases, arena, f"{models} models, abilities of standard deviation {spread}, {'no ties' if nu == 0 else 'ties'}",
            {"bt_ratings": arena.ours, "sandwich": arena.sandwich, "bt_pairs": arena.pair, "ranks": arena.ranks})
    for models, spread, votes, nu in PLACED:
        arena = Placed(models, spread, votes, nu)
        add(placed, arena, f"{models} models in both orders, {spread}, {'no ties' if nu == 0 else 'ties'}", {"bt_ratings": arena.ours, "first": arena.first})
    for models, spread, votes, tie in PROBIT:
        arena = Probit(models, spread, votes, tie)
        add(probit, arena, f"{models} models, {spread}, by a probit", {"bt_ratings": arena.ours, "ranks": arena.ranks})
    results = measure("votes", [*cases.values(), *placed.values(), *probit.values()])

    def lines(of, methods):
        return [[f"{name}, {votes} votes per pair", *(covered(results[name, votes][m]) for m in methods)] for name, votes in of]
    return [f"""\
## Ratings from votes

One model's rating, drawn among all, relative to the mean; every pair has as many votes. {DRAWS:,} arenas each, standard error at 95% 0.7
points. `sandwich` is lmarena/arena-rank's interval, for which a tie is half a win each, judged by what infinitely many votes would give it; with
ties the two measure abilities on different scales, so that only coverage can be compared. `bt_pairs` must hold the chance of the model against
its neighbour in ability, `ranks` the model's rank; these ranges are corrected for all pairs by Holm's method.

{table(["", "bt_ratings", "sandwich", "bt_pairs", "ranks"], lines(cases, ["bt_ratings", "sandwich", "bt_pairs", "ranks"]))}
With `position`, where the model shown first wins {100 / (1 + np.exp(-Placed.ADVANTAGE)):.0f}% against an equal: `first_place` must hold that.

{table(["", "bt_ratings", "first_place"], lines(placed, ["bt_ratings", "first"]))}
Votes by another model: normal abilities, and a tie where two are close. The truth is what infinitely many votes would give `bt_ratings`.

{table(["", "bt_ratings", "ranks"], lines(probit, ["bt_ratings", "ranks"]))}"""]
