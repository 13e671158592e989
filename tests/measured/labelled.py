"""The coverage of intervals of judged scores, of the intraclass correlation, and of a rerun's score.

As in means.py, each section returns Markdown, and the truth is fixed.
"""
import itertools
import json

import numpy as np
from scipy import stats

from fixed import NOW, Case, covered, drawn, measure, table
from settings import LEVEL, SEED

Z = stats.norm.ppf((1 + LEVEL) / 2)
UNLABELLED = 300
JUDGED_DRAWS = 150
METHODS = ["labels alone", "judged", "PPI++, normal", "judge alone"]


def split(rows):
    """The judge's scores and the labels of the labelled answers, and the judge's scores of the others."""
    labelled = np.array([r for r in rows if r[1] is not None], float)
    return labelled[:, 0], labelled[:, 1], np.array([r[0] for r in rows if r[1] is None], float)


def normal_ppi(rows):
    """Angelopoulos, Duchi and Zrnic 2023, with the coefficient cut to [0, 1]."""
    f, y, rest = split(rows)
    variance = f.var(ddof=1)
    c = float(np.clip(np.cov(f, y)[0, 1] / (variance * (1 + len(f) / len(rest))), 0, 1)) if variance > 0 else 1.0
    error = c * f - y
    middle, sd = c * rest.mean() - error.mean(), np.sqrt(c * c * rest.var(ddof=1) / len(rest) + error.var(ddof=1) / len(f))
    return middle - Z * sd, middle + Z * sd


def judge_alone(rows):
    f = np.array([r[0] for r in rows], float)
    return f.mean() - Z * f.std(ddof=1) / np.sqrt(len(f)), f.mean() + Z * f.std(ddof=1) / np.sqrt(len(f))


def over_labels(call):
    return lambda rows: NOW.loaded.over(call, [r[1] for r in rows if r[1] is not None])


def judged_scores(labels, accuracy, strength):
    def draw(rng):
        right = (rng.random(labels + UNLABELLED) < accuracy) * 1.0
        noise = rng.standard_normal(len(right))
        said = np.round(1 / (1 + np.exp(-(strength * 0.8 * (2 * right - 1) + noise + 0.5))), 2)
        return accuracy, tuple((float(f), float(y) if i < labels else None) for i, (f, y) in enumerate(zip(said, right)))

    methods = {"labels alone": over_labels("mean_ci(value)"), "judged": NOW.interval("judged_mean_ci(value->>0, value->>1)"),
               "PPI++, normal": normal_ppi, "judge alone": judge_alone}
    return Case(f"accuracy {accuracy}, {'weak' if strength == 1 else 'strong'} judge", labels, drawn(JUDGED_DRAWS, draw), methods)


def judged_differences(labels, name, hits):
    """Two models; a judge that passes right and wrong answers of either at these rates."""
    def draw(rng):
        common = 0.7 * rng.standard_normal(labels + UNLABELLED)
        truth = [common + 0.7 * rng.standard_normal(len(common)) < cut for cut in (0.6, 0.3)]
        said = [rng.random(len(common)) < np.where(t, right, wrong) for t, (right, wrong) in zip(truth, hits)]
        difference = float(stats.norm.cdf(0.6 / np.sqrt(0.98)) - stats.norm.cdf(0.3 / np.sqrt(0.98)))
        f, y = said[0] * 1.0 - said[1], truth[0] * 1.0 - truth[1]
        return difference, tuple((float(f[i]), float(y[i]) if i < labels else None) for i in range(len(f)))

    methods = {"labels alone": over_labels("paired_mean_diff_ci_counts(value, 1)"),
               "judged": NOW.interval("judged_diff_ci_counts(value->>0, value->>1, 1)"),
               "PPI++, normal": normal_ppi, "judge alone": judge_alone}
    return Case(name, labels, drawn(JUDGED_DRAWS, draw), methods, (-1, 1))


def lines(cases, results):
    return table(["", *METHODS], [[f"{case.size} labels, {case.name}",
                                   *(f"{covered(results[case.name, case.size][m])} ({results[case.name, case.size][m].width:.3f})" for m in METHODS)] for case in cases])


def judged_section():
    means = [judged_scores(*case) for case in itertools.product((10, 20, 50), (0.7, 0.9), (1, 3))]
    pairs = {"even judge": ((0.9, 0.2), (0.9, 0.2)), "judge that favours B": ((0.9, 0.2), (0.95, 0.5)), "good judge": ((0.97, 0.05), (0.97, 0.05))}
    differences = [judged_differences(labels, name, hits) for labels in (20, 50) for name, hits in pairs.items()]
    results = measure("judged scores", means + differences)
    return f"""\
## A judge's scores, and the labels of a person

`judged_mean_ci` of answers that are right or wrong, which a judge scores between 0 and 1 and a person labels; {UNLABELLED} more answers
have no label. {JUDGED_DRAWS} evals a line, standard error at 95% 1.8 points; mean widths in brackets. "labels alone" is `mean_ci` of the labels,
"PPI++, normal" the interval of prediction-powered inference by the normal approximation, with the same coefficient, "judge alone"
takes the scores for the truth.

{lines(means, results)}
`judged_diff_ci` of two models on the same questions, by verdicts; "labels alone" is `paired_mean_diff_ci`.

{lines(differences, results)}"""


# Asking again

ICC_DRAWS = 300
RERUNS = 2000  # for a true chance
PREDICTED = ((20, 3, 0.75, 0.65, 0.5), (50, 2, 0.75, 0.65, 0.3), (50, 5, 0.8, 0.75, 0.6), (30, 3, 0.95, 0.9, 0.5))


def analysis_of_variance(rows):
    """The F interval of ICC(1), as pingouin has it; rows are (right, attempts)."""
    k, n = np.array(rows, float).T
    questions, attempts = len(k), n[0]
    between = attempts * ((k / n - k.sum() / n.sum()) ** 2).sum() / (questions - 1)
    within = (k * (n - k) / n).sum() / (questions * (attempts - 1))
    if within == 0:
        return 1.0, 1.0
    freedom = questions - 1, questions * (attempts - 1)
    tail = (1 + LEVEL) / 2
    low = between / within / stats.f.ppf(tail, *freedom)
    high = between / within * stats.f.ppf(tail, *freedom[::-1])
    return (low - 1) / (low + attempts - 1), (high - 1) / (high + attempts - 1)


def attempts_at(questions, attempts, theta, icc, truth):
    d = 1 / icc - 1

    def draw(rng):
        p = rng.beta(d * theta, d * (1 - theta), questions)
        rows = tuple((int(k), attempts) for k in rng.binomial(attempts, p))
        return truth(rng, p), rows
    return draw


def icc_case(questions, attempts, theta, icc):
    return Case(f"theta {theta}, icc {icc}", (questions, attempts), drawn(ICC_DRAWS, attempts_at(questions, attempts, theta, icc, lambda rng, p: icc)),
                {"icc_ci": NOW.interval("icc_ci_counts(value->>0, value->>1)"), "F interval": analysis_of_variance})


def rerun_interval(rows):
    """A call over one row per attempt, with its result and the question."""
    return NOW.loaded.over("rerun_ci(value->>0, value->>1)", [(int(j < k), i) for i, (k, n) in enumerate(rows) for j in range(n)])


def rerun_case(questions, attempts, theta, icc):
    return Case(f"theta {theta}, icc {icc}, rerun", (questions, attempts),
                drawn(ICC_DRAWS, attempts_at(questions, attempts, theta, icc, lambda rng, p: rng.binomial(1, p).mean())), {"rerun_ci": rerun_interval})


def ahead(questions, attempts, theta_a, theta_b, icc):
    """The averages of rerun_prob and of the true probability, in thirds by rerun_prob."""
    rng = np.random.default_rng((SEED, 9, questions, attempts, int(100 * theta_a)))
    d = 1 / icc - 1
    found = []
    for _ in range(ICC_DRAWS):
        both = np.stack([rng.beta(d * theta, d * (1 - theta), questions) for theta in (theta_a, theta_b)])
        k = rng.binomial(attempts, both)
        rows = [(int(j < k[0][i]), int(j < k[1][i]), i) for i in range(questions) for j in range(attempts)]
        said = NOW.loaded.value("rerun_prob(value->>0, value->>1, value->>2) FROM json_each(?)", json.dumps(rows))
        a, b = rng.binomial(1, np.broadcast_to(both, (RERUNS, *both.shape))).sum(axis=2).T
        found.append((said, np.mean(a > b) + np.mean(a == b) / 2))
    return [" / ".join(f"{x:.2f}" for x in np.mean(third, axis=0)) for third in np.array_split(sorted(found), 3)]


def again_section():
    cases = [icc_case(*size, theta, icc) for size in ((20, 3), (50, 2), (50, 5)) for theta in (0.6, 0.9) for icc in (0.1, 0.5, 0.8)]
    reruns = [rerun_case(20, 3, 0.75, 0.5), rerun_case(50, 2, 0.75, 0.3), rerun_case(50, 5, 0.8, 0.6), rerun_case(30, 3, 0.95, 0.5)]
    results = measure("asking again", cases + reruns)

    def row(case, methods):
        found = results[case.name, case.size]
        return [f"{case.size[0]} x {case.size[1]}, {case.name.removesuffix(', rerun')}", *(covered(found[m]) for m in methods)]
    return f"""\
## Questions asked again: the intraclass correlation, and the next run

Questions x attempts, whose accuracies are Beta with that mean and intraclass correlation; {ICC_DRAWS} evals a line, standard error at 95% 1.3
points. "F interval" is that of ICC(1) by the analysis of variance. `rerun_ci` must hold the score of one new attempt at every question.

{table(["", "icc_ci", "F interval"], [row(case, ["icc_ci", "F interval"]) for case in cases])}
{table(["", "rerun_ci"], [row(case, ["rerun_ci"]) for case in reruns])}
`rerun_prob` predicts that the first model is ahead in the next run, and this is the true chance of that, each on average over the evals with the
least, the middle and the highest predictions. The questions of an eval are drawn anew, and the two models' accuracies on a question are independent.

{table(["questions x attempts; mean accuracies, icc", "lowest third", "middle", "highest"], [[f"{q} x {n}; {a}, {b}, {icc}", *ahead(q, n, a, b, icc)] for q, n, a, b, icc in PREDICTED])}"""


# Calibration

STATED = {"uniform": (1, 1), "Beta(4,1.5)": (4, 1.5)}
STATED_SIZES, BINS, STATED_DRAWS = (50, 200, 1000), 10, 4000


def calibration_error(rng, n, a, b):
    """The expected calibration error of n answers that are right with the probability that is stated."""
    p = rng.beta(a, b, n)
    excess = np.bincount(np.minimum((p * BINS).astype(int), BINS - 1), p - (rng.random(n) < p))
    return np.abs(excess).sum() / n


def calibration_section():
    rng = np.random.default_rng((SEED, 12))
    rows = [[f"{name}, mean {a / (a + b):.2f}", *(f"{np.mean([calibration_error(rng, n, a, b) for _ in range(STATED_DRAWS)]):.3f}" for n in STATED_SIZES)]
            for name, (a, b) in STATED.items()]
    return f"""\
## The expected calibration error of a calibrated model

A model that is right as often as it says has a true calibration error of 0. The mean of what is measured in {BINS} bins of equal width, by the
distribution of the probabilities that it states; {STATED_DRAWS:,} evals each, without evalci, which has no interval of it:

{table(["", *(f"N = {n:,}" for n in STATED_SIZES)], rows)}"""


def sections():
    return [judged_section(), again_section(), calibration_section()]
