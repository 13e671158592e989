"""The coverage of intervals of questions with several attempts whose difficulties are not a Beta: lumps, and others to compare.

As in means.py, each section returns Markdown, and the truth is fixed.
"""
import json
import math

import numpy as np
from scipy import special

import repeats
from fixed import NOW, SLOW, Case, drawn, measure, table
from gates import SURE, passes
from labelled import analysis_of_variance
from means import PAIR
from settings import LEVEL

DRAWS = 500


def lumps(values, shares):
    return lambda rng, n: rng.choice(values, n, p=shares), np.dot(values, shares), np.dot(np.square(values), shares)


DIFFICULTIES = {  # name: the accuracies of n questions, and the means of them and of their squares
    "61% 0.2, 39% 0.98": lumps([0.2, 0.98], [0.61, 0.39]),
    "50% always right, 50% 0.5": lumps([1.0, 0.5], [0.5, 0.5]),
    "30% never right, 70% 0.8": lumps([0, 0.8], [0.3, 0.7]),
    "10% never right, 90% 0.97": lumps([0, 0.97], [0.1, 0.9]),
    "20% always right, 80% 0.1": lumps([1.0, 0.1], [0.2, 0.8]),
    "40% 0.02, 20% 0.5, 40% 0.98": lumps([0.02, 0.5, 0.98], [0.4, 0.2, 0.4]),
    "logits normal, mean 1, deviation 2": (lambda rng, n: special.expit(rng.normal(1, 2, n)), *repeats.means(1, 2)),
    "Beta(0.5,0.5)": (lambda rng, n: rng.beta(0.5, 0.5, n), 0.5, 0.375),
}
ASKED = ((30, 4), (300, 4), (100, 10), (300, 10))  # questions, attempts
MEAN = "mean_ci(1.0 * (value ->> 0) / (value ->> 1))"


def moments(name):
    """The mean accuracy, and the intraclass correlation of attempts."""
    _, mean, square = DIFFICULTIES[name]
    return float(mean), float((square - mean**2) / (mean * (1 - mean)))


def answers(name, questions, attempts, truth):
    accuracies = DIFFICULTIES[name][0]
    return drawn(DRAWS, lambda rng: (truth, tuple((int(k), attempts) for k in rng.binomial(attempts, accuracies(rng, questions)))))


def theta_case(name, questions, attempts):
    mean, _ = moments(name)

    def gate(call):
        return lambda rows: passes(NOW.value(call, rows))
    methods = {**{prior: NOW.interval(f"clustered_ci_counts({PAIR}, {LEVEL}, '{prior}')") for prior in ("gamma", "icc")}, "mean": NOW.interval(MEAN),
               "clustered gate": gate(f"clustered_prob_above_counts({PAIR}, {mean})"),
               "mean gate": gate(f"mean_prob_above(1.0 * (value ->> 0) / (value ->> 1), {mean})")}
    return Case(name, (questions, attempts), answers(name, questions, attempts, mean), methods)


def theta_section():
    results = measure("lumps", [theta_case(name, *size) for name in DIFFICULTIES for size in ASKED])

    def rows(methods, cell):
        return [[f"{name}: {moments(name)[0]:.3f}", *(" / ".join(cell(results[name, size][m]) for m in methods) for size in ASKED)] for name in DIFFICULTIES]
    head = ["", *(f"{questions} x {attempts}" for questions, attempts in ASKED)]
    return f"""\
## Several attempts, and difficulty in lumps

Questions x attempts, right or wrong; the questions' accuracies are drawn as named, with the mean that is said. Coverage of that mean by
`clustered_ci` by question under `'gamma'` / under `'icc'` / by `mean_ci` of the questions' means. The model of `clustered_ci` is a Beta, whose
mean is not that of lumps; the more attempts, the more it matters. {DRAWS} data sets each, standard error at 95% {100 * math.sqrt(0.95 * 0.05 / DRAWS):.1f} points.

{table(head, rows(("gamma", "icc", "mean"), lambda r: f"{100 * r.coverage:.1f}"))}
How often, in percent, a model passes a gate whose threshold is its accuracy, at {SURE:.0%} sure: by `clustered_prob_above` / by `mean_prob_above` of the
questions' means.

{table(head, rows(("clustered gate", "mean gate"), lambda r: f"{100 * r.apart:.1f}"))}"""


# The intraclass correlation, and the questions' share of the noise

SHARED = ((30, 3), (100, 4), (300, 10))


def questions_share(rows):
    """Of noise, in which the questions belong to five tasks that are alike."""
    share = json.loads(NOW.value(f"noise_counts({PAIR}, value ->> 2)", [(k, n, i % 5) for i, (k, n) in enumerate(rows)]))["questions"]
    return share["lo"], share["hi"]


def share_case(name, questions, attempts):
    _, icc = moments(name)
    methods = {"icc_ci": NOW.interval(f"icc_ci_counts({PAIR})"), "noise": questions_share, "F interval": analysis_of_variance}
    return Case(f"{name}, shares", (questions, attempts), answers(name, questions, attempts, icc), methods, slow=("noise",))


def share_section():
    results = measure("shares in lumps", [share_case(name, *size) for name in DIFFICULTIES for size in SHARED])
    rows = [[f"{name}: {moments(name)[1]:.3f}", *(" / ".join(f"{100 * r.coverage:.1f}" for r in results[f"{name}, shares", size].values()) for size in SHARED)]
            for name in DIFFICULTIES]
    return f"""\
## The questions' share of the variance, and difficulty in lumps

The same questions; the truth is the variance of their accuracies as a share of that of an answer. Coverage by `icc_ci` / by the questions' share of
`noise`, with the questions in five tasks that are alike / by the F interval of ICC(1). `noise` takes difficulties for a Beta. {DRAWS} data sets each, {SLOW} for `noise`.

{table(["", *(f"{questions} x {attempts}" for questions, attempts in SHARED)], rows)}"""


def sections():
    return [theta_section(), share_section()]
