"""Computes in plain Python, from the rows, the values of the board for which the views of oracle.sql have an older
rule, or none: p of a pair is paired_p of the questions' mean differences; "tied" means that two models have the same
data; P(best) and ranks are those of the joint posterior; and the interval for other tasks has its imagined tasks near
the observed ones.
"""
import itertools
import json
import math

import posterior

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
        """The row of eval_compare for every pair, in either order."""
        named = [m for m in self.answers if m is not None]
        tested = {(a, b): found for a, b in itertools.combinations(named, 2) if (found := self.pair(a, b))}
        step, out = 0, {}
        for i, ((a, b), (p, tied, total, unseen, hedge)) in enumerate(sorted(tested.items(), key=lambda x: x[1][0])):
            step = max(step, p * (len(tested) - i))
            word = "tied" if tied else "not separated"
            if step <= 0.05:
                word = "A better" if total > 0 else "B better"
            out[a, b] = {"p": p, "p_all": min(1, step), "verdict_all": word, "tied": tied, "unseen": unseen, "hedge": hedge}
            out[b, a] = {**out[a, b], "verdict_all": {"A better": "B better", "B better": "A better"}.get(word, word),
                         "unseen": [-unseen[1], -unseen[0]], "hedge": hedge and "BA"[hedge[0] == "B"] + hedge[1:]}
        return out

    def places(self):
        """P(best), rank, rank_lo and rank_hi of the models; prob_all and diff_all of the pairs."""
        models = [r[0] for r in self.db.execute("SELECT model FROM eval_leaderboard ORDER BY model")]
        pairs = [r[0] for r in self.db.execute("SELECT prob_a_better FROM compare")]
        return posterior.of_answers(models, self.answers, two=pairs[0] if len(pairs) == 1 else None)

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
