"""References for nested_each and noise, by nested.py: mean and interval of a task, and of a share of the variance."""
import nested
import nested_large
from nested import A, ALL_RIGHT, B, ONE_QUESTION, Posterior

HEADER = ["method", "prior", "level", "part", "mean", "lo", "hi", "rows"]
PATH = "stats/nested.csv"


def row(method, prior, level, part, mean, bounds, text):
    return [method, prior, repr(level), part, repr(mean), *map(repr, bounds), text]


def each(text, prior, level, task):
    mean = nested.twice(lambda p, _: p.task_mean(task), *nested.pair(text, prior), (text, prior, task))
    bounds = nested.interval(lambda p, q: p.task_below(task, q), level, text, prior)
    return row("nested_each", prior, level, str(task), mean, bounds, text)


def noise(text, prior, level, share):
    mean = nested.twice(lambda p, _: p.share_mean(share), *nested.pair(text, prior), (text, prior, share))
    bounds = nested.interval(lambda p, q: p.share_below(share, q), level, text, prior)
    return row("noise", prior, level, share, mean, bounds, text)


TASKS = [(B, prior, level, (0, 1)) for prior in ("icc", "gamma") for level in (0.95, 0.5, 0.999)] + [
    (ONE_QUESTION, "icc", 0.95, (0,)), (ONE_QUESTION, "gamma", 0.95, (0,)), (A, "icc", 0.95, (0, 2))]
SHARED = [(B, prior, level) for prior in ("icc", "gamma") for level in (0.95, 0.5)] + [(ALL_RIGHT, "icc", 0.95), (A, "icc", 0.95)]


def rows():
    return [(each, (text, prior, level, task)) for text, prior, level, tasks in TASKS for task in tasks] + [
        (noise, (text, prior, level, share)) for text, prior, level in SHARED for share in nested.SHARES] + [
        (nested_large.each, (text, prior, 0.95, 0)) for text, prior in nested_large.CASES] + [
        (nested_large.noise, (text, prior, 0.95, share)) for text, prior in nested_large.CASES for share in nested.SHARES]
