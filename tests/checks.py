"""Shared by the suites in Python: they count checks, so that each ends with `N passed, M failed` and fails if it checked
nothing; and they start the sqlite3 shell."""
import sys

# Without ~/.sqliterc.
SQLITE = ("sqlite3", "-batch", "-init", "/dev/null")

passed = failed = 0


def check(what, ok):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"failed: {what}")


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)
