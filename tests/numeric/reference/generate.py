#!/usr/bin/python3
"""Writes the numeric references that the C tests compare with: make reference.

Each module has HEADER and rows(), a list of (function, args) whose results are rows
of <module>.csv, or of its PATH.  None of them runs the code under test.  With
arguments, only the named modules run.  The output is deterministic.
"""
import csv
import importlib
import multiprocessing
import os
import pathlib
import sys
import time

# The pool already fills the cores.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

HERE = pathlib.Path(__file__).parent
MODULES = ["proportion", "clustered", "paired", "unpaired", "metrics", "mean", "clustered_icc", "mcnemar",
           "ranks", "anytime", "attempts", "judged", "macro", "power", "each", "above", "bounded", "clustered_above", "sign_flip", "quantile",
           "ratio", "icc", "rerun", "nested", "nested_each", "votes", "judged_mean", "agreement",
           "ratings"]


def row(job):
    function, args = job
    return function(*args)


def write(name, pool):
    try:
        module = importlib.import_module(name)
    except ImportError as e:
        sys.exit(f"generate.py: {e}; it needs Debian's python3-mpmath, python3-scipy and "
                 "python3-statsmodels under /usr/bin/python3 (make reference installs them)")
    jobs = module.rows()
    done = []
    start = time.monotonic()
    # Neighbouring jobs share a posterior that the module caches: hand them out together.
    for out in pool.imap(row, jobs, chunksize=4):
        done.append(out)
        print(f"\r{name}: {len(done)}/{len(jobs)} rows, {time.monotonic() - start:.0f} s",
              end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    with open(HERE / getattr(module, "PATH", f"{name}.csv"), "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(module.HEADER)
        out.writerows(done)


def main():
    with multiprocessing.Pool() as pool:
        for name in sys.argv[1:] or MODULES:
            write(name, pool)


if __name__ == "__main__":
    main()
