"""Shared by coverage.py, paper.py and outside.py: the extension, called through SQL, and the tables that they fill."""
import functools
import json
import os
import sqlite3
import sys
from dataclasses import dataclass
from typing import Callable

SEED = 20250
LEVEL = 0.95  # every function's default


class Extension:
    """evalci, in a connection of its own."""

    def __init__(self, path):
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        stem = os.path.splitext(os.path.abspath(path))[0]
        self.db.execute("SELECT load_extension(?, 'sqlite3_evalci_init')", (stem,))

    def value(self, expression, *arguments):
        return self.db.execute("SELECT " + expression, arguments).fetchone()[0]

    @functools.cache
    def interval(self, function, *counts):
        """(lo, hi) of a scalar over counts; None where it gives NULL."""
        text = self.value(f"{function}({', '.join('?' * len(counts))})", *counts)
        return text and tuple(json.loads(text))

    def over(self, call, rows):
        """(lo, hi) of a call over rows, in which the columns are value ->> 0 and so on, or value if there is one."""
        return tuple(json.loads(self.value(f"{call} FROM json_each(?)", json.dumps(rows))))

    def clustered(self, function, counts, size, level=LEVEL, *prior):
        """(lo, hi) of an aggregate over clusters of that size; counts are their right answers."""
        options = ", ?" * len(prior)
        text = self.value(f"{function}(value, ?, ?{options}) FROM json_each(?)", size, level, *prior, json.dumps(counts))
        return tuple(json.loads(text))

    def methods(self, k, n, level=LEVEL):
        """{method: (lo, hi)} of ci_methods."""
        rows = self.db.execute("SELECT method, lo, hi FROM ci_methods(?, ?, ?)", (k, n, level))
        return {method: (lo, hi) for method, lo, hi in rows}


@dataclass
class Cell:
    """One method at one size."""
    coverage: float
    width: float
    error: float = 0.0  # Monte Carlo standard error of the coverage; 0 when exact


@dataclass
class Setting:
    title: str
    label: str  # the title, short, for the figure
    symbol: str  # what the sizes count: N or T
    sizes: tuple
    rows: dict  # method: a Cell for each size
    own_prior: tuple  # methods that must cover LEVEL
    note: str
    width_name: str = "mean width"


@dataclass(frozen=True)
class Design:
    """A Setting before it is measured: column(ext, size, level) gives {method: Cell}."""
    title: str
    label: str
    symbol: str
    sizes: tuple
    column: Callable
    own_prior: tuple
    note: str
    width_name: str = "mean width"

    def measured(self, ext):
        rows = by_method([self.column(ext, size, LEVEL) for size in self.sizes])
        return Setting(self.title, self.label, self.symbol, self.sizes, rows, self.own_prior, self.note, self.width_name)


def progress(text):
    print(f"\r{text:<70}", end="", file=sys.stderr, flush=True)


def by_method(columns):
    """[{method: Cell} for each size] to {method: [Cell for each size]}."""
    return {method: [column[method] for column in columns] for method in columns[0]}
