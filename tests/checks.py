"""Shared by the suites in Python: they count checks, so that each ends with `N passed, M failed` and fails if it checked
nothing; they print the seeds of their random numbers; and they start the sqlite3 shell."""
import random
import sys

# Without ~/.sqliterc.
SQLITE = ("sqlite3", "-batch", "-init", "/dev/null")

passed = failed = 0
seeds = {}  # in the order of their first use


def check(what, ok):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"failed: {what}")


def seeded(seed):
    """Random numbers; the seed is printed at the end."""
    seeds[seed] = True
    return random.Random(seed)


def print_seeds():
    if seeds:
        print("seeds:", *seeds)


def finish():
    print_seeds()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)
