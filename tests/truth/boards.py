"""Random boards, and what is known of them without evalci.

A board is drawn from one number: models of close or different skill, tasks of very different sizes, right or wrong or
graded, in ranges that the rows or the options declare; gaps, errors, attempts with and without numbers, exact
duplicates, models that were asked other questions, costs and latencies; or counts.  Its options are drawn, too.
"""
import collections
import json
import math
import random
import sqlite3

NAMES = ["alpha", "beta 2", "Gamma", "<i>delta</i> & co", "it's, \"quoted\"", "ζ-large", "theta", "10"]
KINDS = {  # of a task: the ranges that its rows declare, and the scores
    "right": ([], None),
    "graded": ([], [0, 0.25, 0.5, 0.75, 1]),
    "fine": ([], [i / 1000 for i in range(1001)]),
    "declared": ([(1, 5), (0, 5), (1, 10)], [1, 2, 3, 4, 5]),
    "percent": ([], list(range(101))),  # the options declare it
}
MISSING = (None, None, None, None, None, "")  # what stands for an answer that is not known
LEVELS = (0.8, 0.9, 0.95, 0.99, 0.999)


class Board:
    """rows: dicts; options: of the board's functions, without the names of columns that have their own."""

    def __init__(self, seed):
        self.seed, chance = seed, random.Random(seed)
        self.chance = chance
        self.models = sorted(chance.sample(NAMES, chance.randint(2, 6)))
        self.level = chance.choice(LEVELS)
        self.options = {"level": self.level, "by": chance.choice(("question", "task")), "errors": chance.choice(("skip", "wrong"))}
        self.counted = chance.random() < 0.08
        # One score beyond its range.
        self.outside = not self.counted and chance.random() < 0.08
        self.tasks = [f"task {t}" for t in range(chance.choice((1, 1, 2, 3, 6)))]
        self.rows = self.counts() if self.counted else self.answers()
        chance.shuffle(self.rows)
        self.columns = list(dict.fromkeys(key for row in self.rows for key in row))

    def __str__(self):
        return f"board {self.seed} {self.arguments()}, {len(self.rows)} rows, {len(self.models)} models, {len(self.tasks)} tasks"

    def arguments(self, **changed):
        return json.dumps({k: v for k, v in {**self.options, **changed}.items() if v is not None})

    def counts(self):
        chance, rows = self.chance, []
        for model in self.models:
            for task in self.tasks:
                for _ in range(chance.choice((1, 1, 2))):
                    n = chance.choice((1, 5, 40, 300))
                    rows.append({"model": model, "task": task, "k": round(n * chance.uniform(0.4, 1)), "n": n})
        return rows

    def answers(self):
        chance, rows = self.chance, []
        self.repeats = chance.choice(("once", "once", "once", "numbered", "unnumbered"))
        if chance.random() < 0.15:
            kind = "percent"
            self.options |= {"hi": 100} | ({"lo": 0} if chance.random() < 0.5 else {})
            self.kinds = dict.fromkeys(self.tasks, "percent")
        else:
            kind = chance.choice(("right", "mixed", "mixed"))
            self.kinds = {task: kind if kind == "right" else chance.choice(("right", "right", "graded", "fine", "declared")) for task in self.tasks}
        sizes = {task: chance.choice((1, 2, 5, 12, 30 if self.repeats == "once" else 8)) for task in self.tasks}
        close = chance.choice((0, 0.5, 2))
        skills = {model: close * chance.gauss(0, 1) + 1 for model in self.models}
        gaps, errors = chance.choice((0, 0, 0.2)), chance.choice((0, 0, 0.15))
        spent = chance.random() < 0.5
        # A model that was asked other questions: some of them, or all.
        other, apart = chance.choice((None, None, None, self.models[0])), chance.choice((0.5, 1))
        missing = chance.choice(MISSING)
        for task, size in sizes.items():
            ranges, scores = KINDS[self.kinds[task]]
            declared = chance.sample(ranges, chance.randint(1, len(ranges))) if ranges else [(None, None)]
            for item in range(size):
                hard = chance.gauss(0, 1)
                for model in self.models:
                    if chance.random() < gaps:
                        continue
                    asked = f"other {item}" if model == other and item < apart * size else item
                    for attempt in range(1, 1 + (1 if self.repeats == "once" else chance.choice((1, 2, 4)))):
                        row = {"model": model, "task": task, "item": asked, "correct": None, "score": None, "error": None}
                        ability = 1 / (1 + math.exp(hard - skills[model]))
                        if chance.random() < errors:
                            row |= {"error": "timeout"} if chance.random() < 0.5 else {"correct": missing}
                        elif scores is None:
                            row["correct"] = int(chance.random() < ability)
                        else:
                            row["score"] = scores[min(len(scores) - 1, int(len(scores) * chance.betavariate(1 + 4 * ability, 3)))]
                        row |= dict(zip(("score_lo", "score_hi"), chance.choice(declared)))
                        row |= {"attempt": attempt} if self.repeats == "numbered" else {}
                        if spent:
                            row |= {"cost": chance.choice((None, *[round(chance.expovariate(9), 4) for _ in range(9)])), "latency": round(chance.expovariate(1), 3)}
                        rows.append(row)
        if self.outside:
            scored = [row for row in rows if row["score"] is not None]
            self.outside = bool(scored)
            if scored:
                chance.choice(scored)["score"] = 1000
        return rows or [{"model": self.models[0], "task": "task 0", "item": 1, "correct": 1, "score": None, "error": None}]

    def write(self, path, rows=None):
        """A database with the rows as its table results."""
        rows = rows or self.rows
        with sqlite3.connect(path) as db:
            db.execute(f"CREATE TABLE results({', '.join(self.columns)})")
            db.executemany(f"INSERT INTO results VALUES ({', '.join('?' * len(self.columns))})", [[row.get(c) for c in self.columns] for row in rows])
        db.close()


class Known:
    """What the rows say, by plain sums: shares[model][task, item] are those of the attempts."""

    def __init__(self, board):
        self.by_task, wrong = board.options["by"] == "task", board.options["errors"] == "wrong"
        self.shares = {model: collections.defaultdict(list) for model in sorted({r["model"] for r in board.rows})}
        self.errored, self.usual = collections.Counter(), (board.options.get("lo", 0), board.options.get("hi", 1))
        self.ranges, self.graded = {}, set()
        for row in board.rows:
            task = row["task"]
            if row.get("score_lo") is not None:
                lo, hi = self.ranges.get(task, (math.inf, -math.inf))
                self.ranges[task] = min(lo, row["score_lo"]), max(hi, row["score_hi"])
            if row["score"] is not None:
                self.graded.add(task)
        for row in board.rows:
            lo, hi = self.range(row["task"])
            share = row["correct"] if row["score"] is None else (row["score"] - lo) / (hi - lo)
            if share in (None, ""):
                self.errored[row["model"]] += 1
                share = 0 if wrong else None
            if share is not None:
                self.shares[row["model"]][row["task"], str(row["item"])].append(share)
        # What a question cost a model, how many of the answers were right, and how many there were.
        self.spent = {model: collections.defaultdict(lambda: [0, 0, 0]) for model in self.shares}
        for row in board.rows:
            lo, hi = self.range(row["task"])
            share = row["correct"] if row["score"] is None else (row["score"] - lo) / (hi - lo)
            for i, x in enumerate((row.get("cost") if row.get("cost") is not None else math.nan, share or 0, 1)):
                self.spent[row["model"]][row["task"], str(row["item"])][i] += x
        self.spent = {model: [x for x in of.values() if not math.isnan(x[0])] for model, of in self.spent.items()}
        self.means = {model: {q: math.fsum(s) / len(s) for q, s in of.items()} for model, of in self.shares.items()}

    def range(self, task):
        return self.ranges.get(task, self.usual)

    def over_tasks(self, values):
        """The mean of {(task, item): value}: over questions, or over tasks of their means."""
        if not values:
            return None
        if not self.by_task:
            return math.fsum(values.values()) / len(values)
        tasks = collections.defaultdict(list)
        for (task, _), value in values.items():
            tasks[task].append(value)
        return math.fsum(math.fsum(x) / len(x) for x in tasks.values()) / len(tasks)

    def accuracy(self, model, task=None):
        mine = self.means[model]
        return self.over_tasks({q: x for q, x in mine.items() if task in (None, q[0])})

    def shared(self, a, b):
        """The differences of two models' question means."""
        return {q: self.means[a][q] - self.means[b][q] for q in self.means[a].keys() & self.means[b].keys()}

    def alike(self, a, b):
        return self.means[a].keys() == self.means[b].keys() and not any(self.shared(a, b).values())


def holm(ps):
    """Each p corrected for testing all of them: the greatest of p times the number of those not below it, over p and all
    smaller ones."""
    return [min(1, max(q * sum(r >= q for r in ps) for q in ps if q <= p)) for p in ps]
