"""Computes in plain Python, from the rows, the values of the board for which the views of oracle.sql have an older
rule, or none: p of a pair is paired_p of the questions' mean differences; "tied" means that two models have the same
data; P(best) allows for shared questions (the Beta posteriors are integrated here on a grid); and the interval for
other tasks has its imagined tasks near the observed ones.
"""
import itertools
import json
import math

CONTENDERS, REACH = 10, 3


class Anew:
    def __init__(self, db):
        kinds = {r["task"]: r for r in db.execute("SELECT * FROM kinds")}
        self.db, self.answers = db, {}
        for row in map(dict, db.execute("SELECT * FROM results")):
            kind = kinds[row.get("task") or ""]
            share = self.share(row, kind["graded"], kind["score_lo"], kind["score_hi"])
            mine = self.answers.setdefault(row["model"], {})
            if share is not None:
                item = db.execute("SELECT CAST(? AS TEXT)", (row["item"],)).fetchone()[0]
                item = item[:-2] if item.endswith(".0") else item
                mine.setdefault((row.get("task") or "", item, kind["graded"]), []).append(share)
        self.able = [m for m, qs in self.answers.items() if qs and all(0 <= s <= 1 for shares in qs.values() for s in shares)]

    @staticmethod
    def share(row, graded, lo, hi):
        correct, score = row["correct"], row.get("score")
        if correct is None and (score is None or row.get("error") is not None):
            return None
        return (score - lo) / (hi - lo) if graded and score is not None else int(correct)

    def mean(self, model, question):
        shares = self.answers[model][question]
        return math.fsum(shares) / len(shares)

    # Pairs

    def pair(self, a, b):
        """p of two models, whether they have the same data, the sum of differences, and the interval of a mean from -1 to 1
        with the verdict if it alone does not separate them; None if they share no question."""
        both = self.answers[a].keys() & self.answers[b].keys()
        if not both or not all(0 <= s <= 1 for m in (a, b) for q in both for s in self.answers[m][q]):
            return None
        means = [(self.mean(a, q), self.mean(b, q)) for q in both]
        p = self.db.execute(f"SELECT paired_p(column1, column2) FROM (VALUES {', '.join(f'({x!r}, {y!r})' for x, y in means)})").fetchone()[0]
        own, unseen = (json.loads(x) for x in self.db.execute(f"SELECT paired_mean_diff_ci(column1, column2), mean_ci(column1 - column2, 0.95, -1, 1) FROM (VALUES {', '.join(f'({x!r}, {y!r})' for x, y in means)})").fetchone())
        hedged = any(q[2] for q in both) and any(abs(x - y) not in (0, 1) for x, y in means) and not own[0] <= 0 <= own[1] and unseen[0] <= 0 <= unseen[1]
        same = all(x == y for x, y in means) and len(both) == len(self.answers[a]) == len(self.answers[b])
        return p, same, math.fsum(x - y for x, y in means), unseen, f"{'AB'[own[1] < 0]} better unless it sometimes fails outright" if hedged else None

    def held(self):
        """The row of eval_compare for every pair, in either order; and the possible ranks of every model."""
        named = [m for m in self.answers if m is not None]
        tested = {(a, b): found for a, b in itertools.combinations(named, 2) if (found := self.pair(a, b))}
        step, won, lost, out = 0, dict.fromkeys(self.answers, 0), dict.fromkeys(self.answers, 0), {}
        for i, ((a, b), (p, tied, total, unseen, hedge)) in enumerate(sorted(tested.items(), key=lambda x: x[1][0])):
            step = max(step, p * (len(tested) - i))
            word = "tied" if tied else "not separated"
            if step <= 0.05:
                word = "A better" if total > 0 else "B better"
                won[a if total > 0 else b] += 1
                lost[b if total > 0 else a] += 1
            out[a, b] = {"p": p, "p_all": min(1, step), "verdict_all": word, "tied": tied, "unseen": unseen, "hedge": hedge}
            out[b, a] = {**out[a, b], "verdict_all": {"A better": "B better", "B better": "A better"}.get(word, word),
                         "unseen": [-unseen[1], -unseen[0]], "hedge": hedge and "BA"[hedge[0] == "B"] + hedge[1:]}
        return out, {m: (1 + lost[m], len(self.able) - won[m]) for m in self.able}

    # Other tasks

    def other_tasks(self, model):
        """The interval of the mean on other tasks like these; two times None with fewer than five."""
        tasks = {}
        for question in self.answers[model]:
            tasks.setdefault(question[0], []).append(self.mean(model, question))
        if len(tasks) < 5 or model not in self.able:
            return None, None
        totals, sizes = [math.fsum(s) for s in tasks.values()], [len(s) for s in tasks.values()]
        mean, each = math.fsum(totals) / sum(sizes), sum(sizes) / len(sizes)
        values, own = [mean + (s - mean * n) / each for s, n in zip(totals, sizes)], [s / n for s, n in zip(totals, sizes)]
        least, most, lo, hi = min(values), max(values), 0, 1
        if most - least > 1e-12:
            beyond, skew = 2 * (most - least) / (max(2, sum(sizes) ** 2 / sum(n * n for n in sizes)) - 1.75), 2 * mean - least - most
            lo, hi = min([max(0, least - beyond - max(0, skew)), *own]), max([min(1, most + beyond + max(0, -skew)), *own])
        rows = ", ".join(f"({s!r}, {n})" for s, n in zip(totals, sizes))
        return json.loads(self.db.execute(f"SELECT clustered_mean_ci_counts(column1, column2, 0.95, ?, ?) FROM (VALUES {rows})", (lo, hi)).fetchone()[0])

    # P(best)

    def worth(self, model):
        """The effective numbers of right answers and of answers."""
        mine = self.answers[model]
        answers, n = sum(map(len, mine.values())), len(mine)
        graded = any(q[2] for q in mine)
        means = [self.mean(model, q) for q in mine]
        accuracy = math.fsum(means) / n
        if not graded and answers == n:
            return accuracy * n, n
        squared = math.fsum((x - accuracy) ** 2 for x in means) / (n * (n + 1))
        most = n ** 3 if graded else answers
        size = min(most, accuracy * (1 - accuracy) / squared - 1 if squared > 1e-20 else most)
        return accuracy * max(1, size), max(1, size)

    def correlation(self, a, b):
        both = sorted(self.answers[a].keys() & self.answers[b].keys())
        x, y = ([self.mean(m, q) for q in both] for m in (a, b))
        n = len(both)
        if n < 2:
            return 0
        mx, my = math.fsum(x) / n, math.fsum(y) / n
        xx, yy, xy = (math.fsum((u - mu) * (v - mv) for u, v in zip(us, vs)) for us, mu, vs, mv in ((x, mx, x, mx), (y, my, y, my), (x, mx, y, my)))
        if min(xx, yy) < 1e-12:
            return 0
        return min(xy / math.sqrt(xx * yy), 1 - n ** -2) * n / math.sqrt(len(self.answers[a]) * len(self.answers[b]))

    def rho(self, worth):
        """The mean correlation of the contenders, which are the leading models within three standard deviations of the
        first."""
        mean = {m: (k + 1) / (n + 2) for m, (k, n) in worth.items()}
        variance = {m: mean[m] * (1 - mean[m]) / (n + 3) for m, (k, n) in worth.items()}
        order = self.db.execute("SELECT model FROM eval_leaderboard ORDER BY model")
        leading = sorted((r[0] for r in order if r[0] in worth), key=lambda m: -mean[m])[:CONTENDERS]
        near = [m for i, m in enumerate(leading) if i < 2 or (mean[leading[0]] - mean[m]) ** 2 < REACH ** 2 * (variance[leading[0]] + variance[m])]
        pairs = [self.correlation(a, b) for a, b in itertools.combinations(near, 2)]
        return max(0, math.fsum(pairs) / len(pairs)) if pairs else 0

    def best(self):
        """P(best) of each model; empty if it is that of ranks_counts, because questions were asked once and none are
        shared."""
        worth = {m: self.worth(m) for m in self.able}
        rho = self.rho(worth)
        if rho == 0 and all(len(shares) == 1 and not q[2] for m in self.able for q, shares in self.answers[m].items()):
            return {}
        return dict(zip(worth, chances([(1 + k / (1 - rho), 1 + (n - k) / (1 - rho)) for k, n in worth.values()])))


def chances(posteriors):
    """The probability that each of several independent Beta variables is the largest: extrapolated from two grids,
    whose errors fall as the square of the step."""
    return [(4 * fine - coarse) / 3 for fine, coarse in zip(grid_chances(posteriors, 6000), grid_chances(posteriors, 3000))]


def grid_chances(posteriors, nodes):
    """Sums over a grid of logits."""
    spans = []
    for a, b in posteriors:
        middle, width = math.log(a / b), 14 * math.sqrt(1 / a + 1 / b) + (30 / min(a, b) if min(a, b) < 20 else 0)
        spans += [middle - width, middle + width]
    start, step = min(spans), (max(spans) - min(spans)) / nodes
    logits = [start + i * step for i in range(nodes + 1)]
    logs = [(-math.log1p(math.exp(-t)) if t > -700 else t, -math.log1p(math.exp(t)) if t < 700 else -t) for t in logits]
    densities, tails = [], []
    for a, b in posteriors:
        ln_b = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
        density = [math.exp(max(-745, a * x + b * y - ln_b)) for x, y in logs]
        total, below = math.fsum(density), 0.0
        tails.append([])
        for f in density:
            tails[-1].append((below + f / 2) / total)
            below += f
        densities.append([f / total for f in density])
    product = [math.prod(column) for column in zip(*tails)]
    return [math.fsum(f * p / t for f, p, t in zip(density, product, tail) if t > 0) for density, tail in zip(densities, tails)]
