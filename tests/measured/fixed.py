"""Measures the tables with a fixed truth: means.py and gates.py list the cases, coverage.py prints the tables.

A case is one population or design at one size.  It yields data sets with their weights (equal if they are drawn,
probabilities if all are enumerated) and names the methods.  There are as many processes as cores.  The seed of a case
is made from its name, so that the page does not depend on how the cases are distributed.
"""
import functools
import json
import multiprocessing
import os
import zlib
from dataclasses import dataclass
from typing import Callable

import numpy as np

from settings import SEED, Extension, progress

SLOW = 200
ROUNDING = 1e-12  # a bound that equals the truth up to rounding contains it


@dataclass
class Case:
    name: str
    size: object  # the number of questions, clusters or tasks; and whatever else distinguishes cases of one name
    data: Callable  # data(rng): an iterable of (weight, truth, data set), data sets hashable
    methods: dict  # name: method(data set), an interval or whether it rejects
    range: tuple = (0, 1)  # widths are measured inside it
    slow: tuple = ()  # slow methods, which are computed for the first SLOW data sets only


@dataclass
class Result:
    coverage: float
    width: float
    apart: float  # how often the interval excludes 0


def drawn(draws, draw):
    """Data sets from draw(rng), which gives a truth and a data set."""
    return lambda rng: ((1 / draws, *draw(rng)) for _ in range(draws))


class Library:
    """An extension that each process loads when it first needs it."""

    def __init__(self):
        self.path = None

    @functools.cached_property
    def loaded(self):
        return Extension(self.path)

    def interval(self, call):
        """A method: a call over rows, in which the columns are value ->> 0 and so on."""
        return lambda rows: self.loaded.over(call, rows)

    def value(self, call, rows):
        """The result of a call over rows that is not an interval."""
        return self.loaded.value(f"{call} FROM json_each(?)", json.dumps(rows))


NOW = Library()
CASES = []  # the cases under measurement; the processes inherit them


def summary(case, found):
    """Result of one method from (weight, truth, lo, hi)."""
    weight, truth, lo, hi = np.array(found).T
    weight = weight / weight.sum()
    inside = np.clip(hi, *case.range) - np.clip(lo, *case.range)
    return Result(float(weight @ ((lo <= truth + ROUNDING) & (truth - ROUNDING <= hi))), float(weight @ inside),
                  float(weight @ ((lo > ROUNDING) | (hi < -ROUNDING))))


def run(which):
    case = CASES[which]
    rng = np.random.default_rng((SEED, 5, zlib.crc32(f"{case.name}, {case.size}".encode())))
    methods = {name: functools.cache(method) for name, method in case.methods.items()}
    found = {name: [] for name in methods}
    for i, (weight, truth, data) in enumerate(case.data(rng)):
        for name, method in methods.items():
            if i < SLOW or name not in case.slow:
                found[name].append((weight, truth, *method(data)))
    return {name: summary(case, rows) for name, rows in found.items()}


def measure(what, cases):
    """{(name, size): {method: Result}}."""
    CASES[:] = cases
    results = []
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for result in pool.imap(run, range(len(cases)), chunksize=1):
            results.append(result)
            progress(f"{what}: {len(results)} of {len(cases)} cases")
    return {(case.name, case.size): result for case, result in zip(cases, results)}


# Tables


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1),
                      *("| " + " | ".join(map(str, row)) + " |" for row in rows)]) + "\n"


def covered(result, student=None):
    """Coverage and, in brackets, the width as a multiple of Student's."""
    if result is None:
        return "–"
    share = f" ({result.width / student.width:.2f})" if student and student.width > 0 else ""
    return f"{100 * result.coverage:.1f}{share}"


def separated(result, student=None):
    """Coverage, how often the interval excludes 0, and the width."""
    if result is None:
        return "–"
    share = f" ({result.width / student.width:.2f})" if student and student.width > 0 else ""
    return f"{100 * result.coverage:.1f} / {100 * result.apart:.0f}{share}"


def by_size(symbol, results, sizes, cell=covered, against="Student"):
    """A table for each size: a line for each case, a column for each method."""
    parts = []
    for size in sizes:
        lines = {name: found for (name, s), found in results.items() if s == size}
        methods = list(dict.fromkeys(m for found in lines.values() for m in found))
        parts.append(table([f"{symbol} = {size}", *methods],
                           [[name, *(cell(found.get(m), found.get(against)) for m in methods)] for name, found in lines.items()]))
    return "\n".join(parts)


def by_case(symbol, results, sizes, cell):
    """A line for each case, a column for each size: cell(the results of its methods)."""
    rows = [[name, *(cell(results[name, size]) for size in sizes)] for name in dict.fromkeys(name for name, _ in results)]
    return table(["", *(f"{symbol} = {size}" for size in sizes)], rows)


def worst(results, sizes, accept=lambda name: True):
    """The least coverage of each method at each size."""
    at = {size: [found for (name, s), found in results.items() if s == size and accept(name)] for size in sizes}
    methods = list(dict.fromkeys(m for cases in at.values() for found in cases for m in found))
    rows = [[m, *(f"{100 * min(found[m].coverage for found in at[size] if m in found):.1f}" for size in sizes)] for m in methods]
    return rows
