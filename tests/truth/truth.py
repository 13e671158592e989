#!/usr/bin/python3
"""Whether the board, the gate, the program, Python and the report say the same, and the truth, on random boards.

    truth.py EXTENSION PROGRAM [--seconds S] [--seed N] [--boards N] [--only TEXT]

Boards are drawn one after the other, from seeds that are printed, until S seconds of the processor are used.  Every check
of CHECKS is asked about every board; it yields what is wrong.  At the end each check that failed is shown once, with the
number of boards and the first of them: --seed N --boards 1 draws that one again.
"""
import argparse
import collections
import contextlib
import csv
import io
import itertools
import json
import math
import pathlib
import random
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/views"), str(ROOT / "tests/packages")]
import checks  # noqa: E402
from api import laid_out  # noqa: E402
from boards import Board, Known, holm  # noqa: E402
from report import Page  # noqa: E402

# The columns that tell the rows of a table apart.  Those from `compare` on need questions, not counts.
KEYS = {"leaderboard": ("model",), "tasks": ("task", "model"), "compare": ("model_a", "model_b"), "common": ("model",),
        "passes": ("model", "task", "k"), "noise": ("model",), "slices": ("model_a", "model_b", "task"), "questions": ("task", "item")}
OF_COUNTS = ("leaderboard", "tasks")
# A point, its interval, and the ends of the point's range.
INTERVALS = [("leaderboard", "accuracy", "ci", 0, 1), ("leaderboard", "macro", "macro_ci", 0, 1), ("leaderboard", "accuracy", "bounded_ci", 0, 1),
             ("leaderboard", "cost", "cost_ci", 0, None), ("leaderboard", "cost_per_right", "cost_per_right_ci", 0, None),
             ("leaderboard", "latency", "latency_ci", 0, None), ("leaderboard", "latency_p95", "latency_p95_ci", 0, None),
             ("tasks", "accuracy", "ci", 0, 1), ("common", "accuracy", "ci", 0, 1), ("compare", "diff", "ci", -1, 1), ("compare", "diff", "ci_unseen", -1, 1),
             ("slices", "diff", "ci", -1, 1), ("passes", "pass_at_k", "at_ci", 0, 1), ("passes", "pass_hat_k", "hat_ci", 0, 1),
             ("noise", "task_share", "task_ci", 0, 1), ("noise", "question_share", "question_ci", 0, 1), ("noise", "rerun_share", "rerun_ci", 0, 1),
             ("questions", "difficulty", "ci", 0, 1), ("questions", "item_rest", "item_rest_ci", -1, 1)]
CHECKS = []


def check(name, questions=True):
    """A check of boards without a score out of its range; with `questions`, not of counts."""
    def register(function):
        CHECKS.append((name, function, questions))
        return function
    return register


def near(a, b, within=1e-9):
    return a == b or (None not in (a, b) and not isinstance(a, str) and abs(a - b) <= within * max(1, abs(b)))


def ends(interval):
    """The bounds of [lo,hi], or None."""
    return interval and [float(x) for x in interval.strip("[]").split(",")]


def wrong(what, got, wanted, within=1e-9):
    if not near(got, wanted, within):
        yield f"{what}: {got!r}, not {wanted!r}"


class Asked:
    """A board in a database, asked with every surface."""

    def __init__(self, board, folder):
        self.board, self.known = board, None if board.counted or board.outside else Known(board)
        self.path = folder / f"{board.seed}.db"
        board.write(self.path)
        self.db = self.opened(self.path)
        self.kept = {}

    @staticmethod
    def opened(path):
        db = sqlite3.connect(path)
        db.row_factory = sqlite3.Row
        db.enable_load_extension(True)
        db.load_extension(EXTENSION)
        return db

    def sql(self, text, *arguments):
        return [dict(row) for row in self.db.execute(text, arguments)]

    def tables(self):
        return OF_COUNTS if self.board.counted else tuple(KEYS)

    def call(self, table, **changed):
        quoted = self.board.arguments(**changed).replace("'", "''")
        return f"eval_{table}('results', '{quoted}')"

    def table(self, table, **changed):
        """All rows with all columns, asked once."""
        call = self.call(table, **changed)
        if call not in self.kept:
            self.kept[call] = self.sql(f"SELECT * FROM {call}")
        return self.kept[call]

    def by_key(self, table, **changed):
        return {tuple(row[k] for k in KEYS[table]): row for row in self.table(table, **changed)}

    def page(self):
        if "page" not in self.kept:
            self.kept["page"] = self.sql("SELECT eval_report('results', ?) AS page", self.board.arguments())[0]["page"]
        return self.kept["page"]

    def run(self, *words):
        """The program's answer to a verb, and its status."""
        given = [f"--{k}={v}" for k, v in self.board.options.items()]
        done = subprocess.run([PROGRAM, words[0], self.path, *words[1:], *given], capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr


# Points and intervals


def at_least(spent):
    return len(spent) == 1 or all(right == answers for _, right, answers in spent)


@check("an interval holds its point", questions=False)
def holds(b):
    for table, point, interval, _, _ in INTERVALS:
        for row in b.table(table) if table in b.tables() else ():
            x, bounds = row[point], ends(row.get(interval))
            if x is None or bounds is None:
                continue
            lo, hi = bounds
            # The bounds of the cost of a right answer stop short of it, by less than their width, if there is one question, or
            # no wrong answer.
            short = hi - lo if point == "cost_per_right" and at_least(b.known.spent[row["model"]]) else 0
            if not lo - 1e-12 - short <= x <= hi + 1e-12 + short:
                yield f"{table}.{interval} {row[interval]} of {point} {x}, {[row[k] for k in KEYS[table]]}, {row.get('method')}"


@check("lo, hi, err_lo and err_hi are those of the interval", questions=False)
def parts(b):
    for table, point, interval, _, _ in INTERVALS:
        for row in b.table(table) if table in b.tables() else ():
            stem, bounds = f"{interval}_" if interval == "ci_unseen" else interval.removesuffix("ci"), ends(row[interval])
            for i, end in enumerate(("lo", "hi")):
                yield from wrong(f"{table}.{stem}{end}", row.get(f"{stem}{end}"), bounds and bounds[i], 0)
                if interval == "ci" and f"err_{end}" in row and bounds:
                    yield from wrong(f"{table}.err_{end}", row[f"err_{end}"], max(0, (row[point] - bounds[0], bounds[1] - row[point])[i]))


@check("the cost of a right answer is all costs over all right answers")
def costs(b):
    for (model,), row in b.by_key("leaderboard").items():
        total, right, _ = map(math.fsum, zip(*b.known.spent[model])) if b.known.spent[model] else (0, 0, 0)
        if row["cost_per_right"] is not None or right:
            yield from wrong(f"the cost of a right answer of {model}", row["cost_per_right"], total / right if right else None)


@check("accuracy is the mean of the questions' means")
def accuracies(b):
    for model, row in b.by_key("leaderboard").items():
        known = b.known.means[model[0]]
        yield from wrong(f"accuracy of {model}", row["accuracy"], b.known.accuracy(*model))
        yield from wrong(f"questions of {model}", row["questions"], len(known))
        yield from wrong(f"answers of {model}", row["n"], sum(map(len, b.known.shares[model[0]].values())))
        yield from wrong(f"errored of {model}", row["errored"], b.known.errored[model[0]])
    for (task, model), row in b.by_key("tasks").items():
        yield from wrong(f"accuracy of {model} on {task}", row["accuracy"], b.known.accuracy(model, task))
        if task in b.known.ranges:
            yield from wrong(f"the range of {task}", (row["score_lo"], row["score_hi"]) == b.known.ranges[task], True)
    for row in b.table("compare"):
        yield from wrong(f"difference of {row['model_a']} and {row['model_b']}", row["diff"],
                         b.known.over_tasks(b.known.shared(row["model_a"], row["model_b"])))


# Who is best


@check("P(best) sums to 1, or is NULL for all", questions=False)
def sums(b):
    best = [row["p_best"] for row in b.table("leaderboard")]
    answered = [p for p, row in zip(best, b.table("leaderboard")) if row["accuracy"] is not None]
    if any(p is not None for p in best):
        yield from wrong(f"the sum of {best}", sum(p or 0 for p in best), 1, 1e-6)
        if None in answered:
            yield f"NULL for one of {best}"


@check("P(best) is at most the probability of each of the model's pairs")
def coherent(b):
    best = {row["model"]: row["p_best"] for row in b.table("leaderboard")}
    for row in b.table("compare"):
        for model, p in ((row["model_a"], row["prob_all"]), (row["model_b"], row["prob_all"] and 1 - row["prob_all"])):
            if None not in (p, best[model]) and best[model] > p + 1e-9:
                yield f"P(best) of {model} is {best[model]}, in the pair {row['model_a']}, {row['model_b']} it is {p}"


def held_ranks(pairs, models, alpha):
    """Holm's ranges of the pairs' probabilities of being ahead."""
    lo, hi = dict.fromkeys(models, 1), dict.fromkeys(models, len(models))
    for (a, b, p), held in zip(pairs, holm([2 * min(p, 1 - p) for _, _, p in pairs])):
        if held <= alpha:
            ahead, behind = (a, b) if p > 0.5 else (b, a)
            lo[behind], hi[ahead] = lo[behind] + 1, hi[ahead] - 1
    return {model: (lo[model], hi[model]) for model in models}


@check("ranks are those of the pairs")
def ranks(b):
    rows = {row["model"]: row for row in b.table("leaderboard") if row["p_best"] is not None}
    pairs = [(row["model_a"], row["model_b"], row["prob_all"]) for row in b.table("compare") if row["prob_all"] is not None]
    if len(pairs) < len(rows) * (len(rows) - 1) / 2:
        return
    alpha = 1 - b.board.level
    for model, (lo, hi) in held_ranks(pairs, list(rows), alpha).items():
        row = rows[model]
        yield from wrong(f"ranks of {model}", (row["rank_lo"], row["rank_hi"]) == (lo, hi), True)
        if not lo <= round(row["rank"]) <= hi:  # the expected rank keeps a rest of what Holm's method rejects
            yield f"the rank {row['rank']} of {model} is not in {lo} to {hi}"


# Pairs


@check("a pair's verdict is that of its interval")
def verdicts(b):
    for row in b.table("compare"):
        if row["ci"] is None:
            continue
        (lo, hi), unseen = ends(row["ci"]), ends(row["ci_unseen"])
        better = "A" if lo > 0 else "B" if hi < 0 else None
        wanted = f"{better} better" if better else "tied" if b.known.alike(row["model_a"], row["model_b"]) else "not separated"
        shared = b.known.shared(row["model_a"], row["model_b"])
        graded = any(task in b.known.graded or task in b.known.ranges for task, _ in shared)
        if better and graded and any(x not in (-1, 0, 1) for x in shared.values()) and unseen[0] <= 0 <= unseen[1]:
            wanted += " unless it sometimes fails outright"
        yield from wrong(f"{row['model_a']}, {row['model_b']}, {row['ci']} {unseen}", row["verdict"], wanted)


@check("p_all is Holm's, and verdict_all that of p_all")
def corrected(b):
    rows = [row for row in b.table("compare") if row["p"] is not None]
    for row, wanted in zip(rows, holm([row["p"] for row in rows])):
        yield from wrong(f"p_all of {row['model_a']}, {row['model_b']}", row["p_all"], wanted)
        word = "A better" if row["diff"] > 0 else "B better"
        if row["p_all"] > 1 - b.board.level:
            word = "tied" if b.known.alike(row["model_a"], row["model_b"]) else "not separated"
        yield from wrong(f"verdict_all with p_all {row['p_all']}", row["verdict_all"], word)


@check("every pair can be asked for in either order")
def turned(b):
    pairs = b.by_key("compare")
    for model in b.known.means:
        mine = b.sql(f"SELECT * FROM {b.call('compare')} WHERE model_a = ?", model)
        yield from wrong(f"the others of {model}", sorted(r["model_b"] for r in mine) == sorted(y if x == model else x for x, y in pairs if model in (x, y)), True)
        for row in mine:
            same = pairs.get((model, row["model_b"]))
            other = same or pairs.get((row["model_b"], model))
            sign = 1 if same else -1
            yield from wrong(f"the difference of {model} and {row['model_b']}", row["diff"], other and other["diff"] and sign * other["diff"])
            yield from wrong("and its p_all", row["p_all"], other and other["p_all"])


@check("where all questions are shared, a difference is that of the accuracies")
def differences(b):
    everyone = b.by_key("leaderboard")
    for row in b.table("compare"):
        a, c = row["model_a"], row["model_b"]
        if b.known.means[a].keys() == b.known.means[c].keys():
            yield from wrong(f"{a} and {c}", row["diff"], everyone[a,]["accuracy"] - everyone[c,]["accuracy"])
            yield from wrong(f"mean of {a}", row["mean_a"], everyone[a,]["accuracy"])


# One thing in several tables


def same(b, what, rows, others, columns):
    for key, row in rows.items():
        for column in columns:
            got = row[column]
            wanted = others[key][column] if key in others else "a row"
            yield from wrong(f"{what}: {column} of {key}", got, wanted, 0)


@check("with one task, its row is the leaderboard's", questions=False)
def one_task(b):
    tasks = {row["task"] for row in b.board.rows}
    if len(tasks) == 1:
        there = {(model,): row for (_, model), row in b.by_key("tasks").items()}
        yield from same(b, "tasks", b.by_key("leaderboard"), there, ("n", "correct", "errored", "accuracy", "ci", "questions", "method"))
        if not b.board.counted:
            slices = {key[:2]: row for key, row in b.by_key("slices").items()}
            yield from same(b, "slices", b.by_key("compare", by=None), slices, ("n", "diff", "ci", "p", "only_a", "only_b"))


@check("where all answered everything, common questions are all questions")
def common(b):
    if len({frozenset(x) for x in b.known.means.values()}) == 1:
        yield from same(b, "common", b.by_key("common"), b.by_key("leaderboard"), ("n", "correct", "accuracy", "ci", "questions"))


@check("pass@1 is the accuracy of the task")
def pass_one(b):
    tasks = b.by_key("tasks")
    for (model, task, k), row in b.by_key("passes").items():
        if k == 1:
            yield from wrong(f"pass@1 of {model} on {task}", row["pass_at_k"], tasks[task, model]["accuracy"])


@check("a gate says of a pair what the board says")
def gates(b):
    options = b.board.arguments(by=None)
    pairs = b.by_key("compare", by=None)
    for (old, new), row in itertools.islice(pairs.items(), 4):
        gate, = b.sql("SELECT * FROM eval_gate('results', ?, ?, ?, 0.0, ?)", options, old, new, b.board.level)
        what = f"{new} for {old}"
        yield from wrong(f"the difference, {what}", gate["diff"], row["diff"] and -row["diff"])
        yield from wrong(f"its lower bound, {what}", gate["lo"], -row["hi"])
        yield from wrong(f"its upper bound, {what}", gate["hi"], -row["lo"])
        yield from wrong(f"questions, {what}", gate["questions"], row["n"])


@check("a gate at the lower bound of the interval is as sure as the interval")
def thresholds(b):
    options = b.board.arguments(by=None)
    for (model,), row in b.by_key("leaderboard", by=None).items():
        if row["lo"] is None or not 1e-6 < row["lo"] < 1 - 1e-6 or row["lo"] == row["hi"]:
            continue
        gate, = b.sql("SELECT * FROM eval_gate('results', ?, ?, ?)", options, row["lo"], model)
        yield from wrong(f"accuracy of {model}", gate["accuracy_candidate"], row["accuracy"])
        yield from wrong(f"prob of {model} above {row['lo']}, {row['method']}", gate["prob"], 1 - (1 - b.board.level) / 2, 1e-6)


# Caches


def quoted(column):
    """`both` and `right` are words of SQL."""
    return f'"{column}"'


@check("a column does not depend on the others that are asked", questions=False)
def caches(b):
    chance = random.Random(b.board.seed)
    for _ in range(6):
        chosen = {}
        for table in chance.sample(b.tables(), chance.randint(1, min(3, len(b.tables())))):
            # Bounds come from the interval.
            columns = [c for row in b.table(table)[:1] for c in row if not c.endswith(("lo", "hi")) or c.startswith("rank")]
            if columns:
                chosen[table] = chance.sample(columns, chance.randint(1, min(8, len(columns))))
        width = max(map(len, chosen.values()), default=0)
        # One statement has one board, which all its tables ask.
        text = " UNION ALL ".join(f"SELECT '{table}', {', '.join([quoted(c) for c in columns] + ['NULL'] * (width - len(columns)))} FROM {b.call(table)}"
                                  for table, columns in chosen.items())
        if not chosen:
            continue
        found = collections.defaultdict(list)
        for row in b.db.execute(text):
            found[row[0]].append(tuple(row)[1:])
        for table, columns in chosen.items():
            wanted = [tuple(row[c] for c in columns) for row in b.table(table)]
            got = [row[:len(columns)] for row in found[table]]
            if got != wanted:
                first = next((f"{c} is {x!r}, not {y!r}" for g, w in zip(got, wanted) for c, x, y in zip(columns, g, w) if x != y), "rows")
                yield f"{table}: {first}, in {text}"


@check("the order of rows changes no digit", questions=False)
def order(b):
    path = b.path.with_suffix(".turned.db")
    b.board.write(path, sorted(b.board.rows, key=lambda row: json.dumps(row, sort_keys=True)))
    with contextlib.closing(Asked.opened(path)) as db:
        for table in b.tables():
            if [dict(row) for row in db.execute(f"SELECT * FROM {b.call(table)}")] != b.table(table):
                yield table
        if not b.board.counted:
            page = db.execute("SELECT eval_report('results', ?)", (b.board.arguments(),)).fetchone()[0]
            yield from wrong("the report", page.replace(path.name, b.path.name) == b.page(), True)


@check("two calls joined by OR have the rows of both", questions=False)
def either(b):
    for table in b.tables():
        both = [b.board.arguments(), b.board.arguments(level=0.5)]
        rows = b.sql(f"SELECT options FROM eval_{table} WHERE (source = 'results' AND options = ?) OR (source = 'results' AND options = ?)", *both)
        yield from wrong(f"rows of {table}", len(rows), 2 * len(b.table(table)))


@check("every row of a table has a number of its own", questions=False)
def rowids(b):
    for table in b.tables():
        numbers = [row["rowid"] for row in b.sql(f"SELECT rowid FROM {b.call(table)}")]
        yield from wrong(f"numbers of the rows of {table}", len(set(numbers)), len(numbers))


# Surfaces


def cell(value):
    """A cell of JSON, Python or the page as SQL has it; pandas has NaN for NULL."""
    if value == "" or value != value:
        return None
    if isinstance(value, (tuple, list)):
        return [float(x) for x in value]
    if isinstance(value, str) and re.fullmatch(r"\[[^,\]]*,[^,\]]*\]", value):
        return ends(value)
    return value


def some(b, surface):
    """Tables that a surface is asked for: the first and three others; the program and Python do not show `common`."""
    others = [table for table in b.tables()[1:] if table != "common"]
    return ["leaderboard", *random.Random(f"{surface} {b.board.seed}").sample(others, min(3, len(others)))]


def as_sql(b, surface, table, rows):
    wanted = b.table(table)
    yield from wrong(f"{surface}: rows of {table}", len(rows), len(wanted))
    for got, row in zip(rows, wanted):
        for column, value in row.items():
            if cell(got.get(column)) != cell(value):
                yield f"{surface}: {table}.{column} is {got.get(column)!r}, not {value!r}"


@check("the program's JSON and CSV are SQL's", questions=False)
def program(b):
    for table in some(b, "program"):
        status, out, err = b.run(table, "--json")
        if status:
            yield f"{table} ends with {status}: {err}"
            continue
        yield from as_sql(b, "--json", table, json.loads(out))
    _, out, _ = b.run("leaderboard", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    for got, row in zip(rows, b.table("leaderboard")):
        for column in ("model", "method"):
            yield from wrong(f"--csv: {column}", got[column], row[column] or "")
        for column in ("accuracy", "lo", "p_best", "rank_lo"):
            yield from wrong(f"--csv: {column}", float(got[column]) if got[column] else None, row[column], 0)


@check("Python's tables are SQL's", questions=False)
def python(b):
    import sqlite_evalci
    for table in some(b, "Python"):
        got = getattr(sqlite_evalci, table)(str(b.path), **b.board.options)
        yield from as_sql(b, "Python", table, got.to_dict("records") if hasattr(got, "to_dict") else got)


@check("the program's and Python's gates are SQL's")
def other_gates(b):
    import sqlite_evalci
    models, options = list(b.known.means), {k: v for k, v in b.board.options.items() if k != "by"}
    if len(models) < 2 or not b.known.shared(*models[:2]):
        return
    wanted, = b.sql("SELECT * FROM eval_gate('results', ?, ?, ?, 0.02, 0.95)", json.dumps(options), *models[:2])
    got = sqlite_evalci.gate(str(b.path), models[1], models[0], **options)
    given = [f"--{k}={v}" for k, v in options.items()]
    done = subprocess.run([PROGRAM, "gate", b.path, "--baseline", models[0], "--candidate", models[1], "--json", *given],
                          capture_output=True, text=True, timeout=60, check=False)
    said = json.loads(done.stdout) if done.stdout else {}
    yield from wrong("the status", done.returncode, ("pass", "fail", "unsure").index(wanted["result"]))
    for column, value in wanted.items():
        yield from wrong(f"Python's {column}", got.get(column), value, 0)
        if column in said:
            yield from wrong(f"the program's {column}", said[column], value, 0)


NUMBER = re.compile(r"[−-]?[\d,]+(?:\.\d+)?")


def shown(text, values, unit=100):
    """Whether the numbers of a text are these, rounded as the text rounds them."""
    found = [x.replace("−", "-").replace(",", "") for x in NUMBER.findall(text)]
    if "<" in text or ">" in text:
        return True
    return len(found) == len(values) and all(abs(float(x) - unit * v) <= 0.5000001 * 10 ** -len(x.partition(".")[2]) for x, v in zip(found, values))


# Headings of the page's tables, by their beginnings, and the columns of SQL that they show.
SHOWN = {
    "leaderboard": [("accuracy", "accuracy"), ("score", "accuracy"), ("% interval", "ci"), ("chance of being best", "p_best"), ("questions", "questions"),
                    ("answers", "n"), ("errored", "errored"), ("interval incl. errored", "bounded_ci")],
    "compare": [("difference, points", "diff"), ("% interval", "ci"), ("questions", "n")],
    "tasks": [("accuracy", "accuracy"), ("score", "accuracy"), ("% interval", "ci"), ("questions", "questions"), ("answers", "n")],
    "across": [("mean of the tasks", "macro"), ("% interval", "macro_ci"), ("on other tasks like these", "task_ci")],
}


def read_pair(b, cells):
    """The row of SQL of a pair on the page, in its order."""
    names = cells["model"][0], cells["against"][0]
    return b.sql(f"SELECT * FROM {b.call('compare')} WHERE model_a = ? AND model_b = ?", *names)[0]


@check("the report's numbers are SQL's")
def report(b):
    page = Page(b.page())
    rows = {"leaderboard": lambda c: b.by_key("leaderboard")[c["model"][0],], "across": lambda c: b.by_key("leaderboard")[c["model"][0],],
            "tasks": lambda c: b.by_key("tasks")[c["task"][0], c["model"][0]], "compare": lambda c: read_pair(b, c)}
    if "leaderboard" not in page.tables:
        yield "no leaderboard"
    for table in SHOWN.keys() & page.tables.keys():
        for cells in page.columns(table):
            row = rows[table](cells)
            for head, column in SHOWN[table]:
                for text, value, _ in (c for h, c in cells.items() if h != "shade" and (h.endswith(head) if head[0] == "%" else h == head)):
                    # Without missing answers the interval that includes them is not repeated.
                    wanted = cell(row[column]) if column != "bounded_ci" or row["errored"] else None
                    got = ends(value) if value.startswith("[") else float(value) if value else None
                    # A pair may have been computed in the other order.
                    if not all(map(near, got, wanted)) if isinstance(got, list) and wanted else got != wanted:
                        yield f"{table}, {head}: data-value {value!r}, not {wanted!r}"
                    elif value and not shown(text, got if isinstance(got, list) else [got], 1 if column in ("questions", "n", "errored") else 100):
                        yield f"{table}, {head}: {text!r} of {value}"
        if table == "leaderboard":
            order = [c["model"][0] for c in page.columns(table)]
            yield from wrong("the order of models", order == [row["model"] for row in b.table("leaderboard")], True)
            for cells in page.columns(table):
                row = rows[table](cells)
                if cells.get("rank", [""])[0]:
                    yield from wrong(f"rank of {row['model']}", cells["rank"][1], f"{row['rank_lo']}-{row['rank_hi']}")
    for text in page.tables.get("leaderboard", [[]])[0]:
        if text[0].endswith("% interval"):
            yield from wrong("the level on the page", float(text[0].split("%")[0]) / 100, b.board.level)


@check("the report's sentence on missing answers is that of SQL")
def missing(b):
    found = re.search(r"If they were wrong, it would have ([\d.]+%)", b.page())
    if found:
        leader = b.table("leaderboard")[0]["model"]
        worst = b.by_key("leaderboard", errors="wrong")[leader,]["accuracy"]
        if not shown(found[1], [worst]):
            yield f"if they were wrong, {leader} would have {found[1]}, not {worst}"


def outside(b):
    """A score out of its range leaves nobody a rank: every surface says the range seen, and what to declare."""
    for name in b.tables():
        try:
            yield f"eval_{name} has {len(b.table(name))} rows, beside a score of 1000"
        except sqlite3.OperationalError as error:
            if "1000" not in str(error) or "score_hi" not in str(error) and '"hi":1000' not in str(error):
                yield f"eval_{name}: {error}"
    status, _, err = b.run("leaderboard")
    if status != 3 or "1000" not in err or "score_hi" not in err and "--hi 1000" not in err:
        yield f"the program ends with {status}: {err!r}"


def ask(name, function, b, failures):
    try:
        found = list(function(b))
    except Exception as error:  # an error of evalci where there should be an answer
        found = [f"{type(error).__name__}: {error}"]
    checks.passed, checks.failed = checks.passed + (not found), checks.failed + bool(found)
    if found:
        failures[name].append((b.board, found[0]))


def main():
    global EXTENSION, PROGRAM
    arguments = argparse.ArgumentParser()
    arguments.add_argument("extension", type=pathlib.Path)
    arguments.add_argument("program", type=pathlib.Path)
    arguments.add_argument("--seconds", type=float, default=30, help="of the processor")
    arguments.add_argument("--seed", type=int, default=1, help="of the first board")
    arguments.add_argument("--boards", type=int, default=10**9, help="at most so many")
    arguments.add_argument("--only", default="", help="checks whose names have this in them")
    given = arguments.parse_args()
    EXTENSION, PROGRAM = str(given.extension.resolve().with_suffix("")), str(given.program.resolve())
    failures, asked, last = collections.defaultdict(list), collections.Counter(), given.seed
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        laid_out(folder / "target", given.extension, given.program)
        sys.path.insert(0, str(folder / "target"))
        while used() < given.seconds and last < given.seed + given.boards:
            b = Asked(Board(last), folder)
            applies = [("a score out of range leaves no ranks", outside)] if b.board.outside else [(n, f) for n, f, q in CHECKS if not (q and b.board.counted)]
            for name, function in applies:
                if given.only in name:
                    asked[name] += 1
                    ask(name, function, b, failures)
            b.db.close()
            last += 1
    print(f"boards from the seeds {given.seed} to {last - 1}")
    for name, found in failures.items():
        print(f"FAILED on {len(found)} of {asked[name]} boards: {name}")
        for board, what in found[:3]:
            print(f"    {board}: {what}"[:700])
    checks.finish()


def used():
    """Seconds of the processor, also of the programs that were started."""
    return sum(x.ru_utime + x.ru_stime for x in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


if __name__ == "__main__":
    main()
