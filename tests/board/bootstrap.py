#!/usr/bin/python3
"""Writes data/best.csv, with which best.py compares P(best), and the simulated boards in data/.

    /usr/bin/python3 tests/board/bootstrap.py [SHARED]

It uses Debian's python3-numpy and a seed, and does not run the code under test.  In a joint Bayesian bootstrap over
questions, each draw gives every question of the board one weight, the same for all models, and the best model is the
one with the highest weighted mean over its own answers.  With SHARED, a folder of the extracts that data/ORIGIN.md
names, the real boards are rewritten too.
"""
import collections
import csv
import pathlib
import sys

import numpy as np

DATA = pathlib.Path(__file__).parent / "data"
DRAWS = 100_000
# Boards, the file of each, and models that are left out.
BOARDS = {"matharena": ("matharena", ()), "swebench_pro": ("swebench_pro", ()), "livebench": ("livebench", ()),
          "livebench, without o1": ("livebench", ("o1-preview-2024-09-12", "o1-mini-2024-09-12")),
          **{name: (name, ()) for name in ("drawn_attempts", "drawn_once", "drawn_graded", "drawn_half", "drawn_apart")}}


def write(name, models, questions):
    """One row per question and one column per model: right/attempts, a score, or nothing where not asked."""
    with open(DATA / f"{name}.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["item", *models])
        out.writerows([i + 1, *row] for i, row in enumerate(questions))


def extract(source, name, most=None):
    """The most accurate models of an extract, question by question."""
    cells = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(source) as file:
        for row in csv.DictReader(file):
            cells[row["model"]][row["task"], row["item"]].append(row.get("correct") or row["score"])
    mean = {m: np.mean([float(x) for xs in qs.values() for x in xs]) for m, qs in cells.items()}
    models = sorted(cells, key=lambda m: -mean[m])[:most]
    questions = sorted({q for m in models for q in cells[m]})
    graded = any("." in x for m in models for xs in cells[m].values() for x in xs)

    def cell(xs):
        if not xs:
            return ""
        return f"{float(xs[0]):.3g}" if graded else f"{xs.count('1')}/{len(xs)}"

    write(name, models, [[cell(cells[m].get(q)) for m in models] for q in questions])


def drawn():
    random = np.random.default_rng(2025)

    def right(models, questions, attempts, apart, own):
        logit = random.normal(0, 1.5, questions) + own * random.normal(size=(models, questions)) + apart * random.normal(size=(models, 1)) + 0.5
        return (random.random((attempts, models, questions)) < 1 / (1 + np.exp(-logit))).sum(axis=0)

    def put(name, table, keep=None):
        names = [f"model {i + 1}" for i in range(len(table))]
        write(name, names, [[x if keep is None or keep[m, q] else "" for m, x in enumerate(column)] for q, column in enumerate(table.T.tolist())])

    def over(table, attempts):
        return np.array([[f"{x}/{attempts}" for x in row] for row in table])

    put("drawn_attempts", over(right(6, 50, 4, 0.3, 0.3), 4))
    put("drawn_once", over(right(8, 200, 1, 0.2, 0.5), 1))
    scores = np.clip(random.normal(0.6, 0.25, 300) + 0.01 * random.normal(size=(10, 1)) + 0.1 * random.normal(size=(10, 300)), 0, 1)
    put("drawn_graded", np.array([[f"{x:.3f}" for x in row] for row in scores]))
    put("drawn_half", over(right(6, 300, 1, 0.2, 0.5), 1), random.random((6, 300)) < 0.6)
    put("drawn_apart", over(right(4, 400, 1, 0.2, 0.5), 1), np.arange(400) // 100 == np.arange(4)[:, None])


def bootstrap(name, left_out):
    with open(DATA / f"{name}.csv") as file:
        rows = list(csv.DictReader(file))
    models = [m for m in rows[0] if m != "item" and m not in left_out]
    total, answers = (np.array([[part(r[m]) for r in rows] for m in models]) for part in
                      (lambda c: float(c.split("/")[0] or 0), lambda c: float(c.partition("/")[2] or c != "")))
    random, best = np.random.default_rng(1), np.zeros(len(models))
    for _ in range(DRAWS // 500):
        weights = random.exponential(size=(500, len(rows)))
        means = weights @ total.T / (weights @ answers.T)
        first = means >= means.max(axis=1, keepdims=True) - 1e-12
        best += (first / first.sum(axis=1, keepdims=True)).sum(axis=0)
    return models, best / DRAWS


def main():
    DATA.mkdir(exist_ok=True)
    if len(sys.argv) > 1:
        shared = pathlib.Path(sys.argv[1])
        extract(shared / "matharena_aime_II.csv", "matharena")
        extract(shared / "swebench_pro.csv", "swebench_pro")
        extract(shared / "livebench_2025-01-13.csv", "livebench", 10)
    drawn()
    with open(DATA / "best.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["board", "file", "left_out", "model", "p_best"])
        for board, (name, left_out) in BOARDS.items():
            out.writerows([board, name, ";".join(left_out), m, f"{p:.5f}"] for m, p in zip(*bootstrap(name, left_out)))


if __name__ == "__main__":
    main()
