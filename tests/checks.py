"""Counting checks, for the suites in Python: each ends with `N passed, M failed`, and fails if it checked nothing."""
import sys

passed = failed = 0


def check(what, ok):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"failed: {what}")


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)
