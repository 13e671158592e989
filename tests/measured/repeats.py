"""The coverage of nested_ci, nested_each and noise where questions were asked again.  coverage.py calls sections().

The truth is not the model: tasks' logits are normal about a mean, questions' logits about their task's, and a question is
attempted four times.  theta and the shares are the population's; a task's accuracy, on new questions, is that of the task drawn.
"""
import functools
import json

import numpy as np

from fixed import NOW, Case, measure, table

SUITES, NOISE_SUITES = 100, 50
ATTEMPTS = 4
# name: tasks, questions, mean logit, its sd over tasks, and over the questions of a task
POPULATIONS = {"8 x 15, tasks differ": (8, 15, 0.5, 1.2, 2.5), "8 x 15, tasks alike": (8, 15, 0.5, 0.2, 2.5),
               "8 x 10, theta near 0.9": (8, 10, 4.0, 1.0, 2.5), "5 x 20, noisy questions": (5, 20, 0.5, 0.8, 0.8)}
PARTS = ("tasks", "questions", "reruns")

Z, W = np.polynomial.hermite_e.hermegauss(80)
W = W / W.sum()


def expit(x):
    return 1 / (1 + np.exp(-x))


def means(logits, within):
    """For tasks with these logits: the accuracy, and the mean square of the accuracies of their questions."""
    p = expit(np.asarray(logits)[..., None] + within * Z)
    return p @ W, p**2 @ W


def population(mean, between, within):
    """theta, and the shares of its variance."""
    task, square = means(mean + between * Z, within)
    theta = task @ W
    shares = np.array([(task - theta)**2 @ W, (square - task**2) @ W, (task - square) @ W]) / (theta * (1 - theta))
    return theta, dict(zip(PARTS, shares))


def suites(count, tasks, questions, mean, between, within):
    """(tasks' logits, rows of (task, k, n)) for each suite."""
    def draw(rng):
        logits = mean + between * rng.standard_normal(tasks)
        p = expit(logits[:, None] + within * rng.standard_normal((tasks, questions)))
        k = rng.binomial(ATTEMPTS, p)
        return logits, tuple((t, int(k[t, q]), ATTEMPTS) for t in range(tasks) for q in range(questions))
    return lambda rng: (draw(rng) for _ in range(count))


TASK, K, N = "value ->> 0", "value ->> 1", "value ->> 2"


@functools.lru_cache(maxsize=8)
def asked(call, rows):
    return json.loads(NOW.value(call, rows))


def by_task(rows):
    sums = {}
    for task, k, n in rows:
        sums[task] = (task, sums.get(task, (0, 0, 0))[1] + k, sums.get(task, (0, 0, 0))[2] + n)
    return tuple(sums.values())


def interval(call):
    return lambda rows: asked(call, rows)


def of_task(each):
    return lambda data: (each(data[0])[data[1]]["lo"], each(data[0])[data[1]]["hi"])


THETA = {"nested_ci": interval(f"nested_ci_counts({K}, {N}, {TASK})"),
         "clustered_ci by task": lambda rows: asked(f"clustered_ci_counts({K}, {N}, 0.95, 'icc')", by_task(rows)),
         "clustered_ci by item": interval(f"clustered_ci_counts({K}, {N}, 0.95, 'icc')")}
EACH = {"nested_each": of_task(lambda rows: asked(f"nested_each_counts({TASK}, {K}, {N})", rows)),
        "clustered_each of attempts": of_task(lambda rows: asked(f"clustered_each_counts({TASK}, {K}, {N})", by_task(rows))),
        "clustered_ci by item, in the task": lambda data: asked(f"clustered_ci_counts({K}, {N}, 0.95, 'icc')", tuple(r for r in data[0] if r[0] == data[1])),
        "bayes_ci of attempts": lambda data: asked(f"bayes_ci_counts({K}, {N})", (by_task(data[0])[data[1]],))}


def share(part):
    def bounds(rows):
        found = asked(f"noise_counts({K}, {N}, {TASK})", rows)[part]
        return found["lo"], found["hi"]
    return bounds


def cases():
    out = []
    for name, spec in POPULATIONS.items():
        (theta, shares), drawn = population(*spec[2:]), suites(SUITES, *spec)
        out.append(Case(name, "theta", lambda rng, drawn=drawn, theta=theta: ((1, theta, rows) for _, rows in drawn(rng)), THETA))
        out.append(Case(name, "each", lambda rng, drawn=drawn, within=spec[4]: (
            (1, float(truth), (rows, t)) for logits, rows in drawn(rng) for t, truth in enumerate(means(logits, within)[0])), EACH))
        for part in PARTS:
            out.append(Case(name, part, lambda rng, drawn=suites(NOISE_SUITES, *spec), truth=shares[part]: ((1, truth, rows) for _, rows in drawn(rng)),
                            {part: share(part)}))
    return out


def cell(result):
    return f"{100 * result.coverage:.1f} ({result.width:.3f})"


def sections():
    results = measure("questions asked again", cases())
    parts = []
    for size, methods in (("theta", THETA), ("each", EACH)):
        head = "theta, on tasks like these" if size == "theta" else "each task, on new questions"
        parts.append(table([head, *methods], [[name, *(cell(results[name, size][m]) for m in methods)] for name in POPULATIONS]))
    parts.append(table(["share of the variance", *PARTS], [[name, *(cell(results[name, part][part]) for part in PARTS)] for name in POPULATIONS]))
    return [f"""\
## Tasks, questions and attempts

Tasks x questions, {ATTEMPTS} attempts at each. The truth is not the model: logits of tasks and of their questions are normal. The
standard deviation over tasks is 1.2, 0.2, 1.0 and 0.8 in the four populations, that over the questions of a task 2.5 and in
the last 0.8. {SUITES} suites each, {NOISE_SUITES} for shares: coverage in per cent, in brackets the mean width. The standard error of
a coverage is about 2 points for theta, 3 for shares and 1 for each task. `clustered_each` of attempts takes attempts for
questions, as `bayes_ci` does; the questions of the task alone, clustered by item, are right and wider. Where tasks are alike their true
share of the variance is near 0, where an equal-tailed interval seldom begins: it covers less than 95%.

""" + "\n".join(parts)]
