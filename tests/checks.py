"""What the suites in Python share: counting checks, so that each ends with `N passed, M failed` and fails if it checked
nothing; and how they start the sqlite3 shell."""
import sqlite3
import sys

# As sql/shell.sh starts it, and for its reasons; the databases are the suites' own.
TRUST = "ON" if (3, 38) <= sqlite3.sqlite_version_info < (3, 41) else "OFF"
SQLITE = ("sqlite3", "-batch", "-init", "/dev/null", "-cmd", f"PRAGMA trusted_schema={TRUST}", "-cmd", ".timeout 5000")

passed = failed = 0


def check(what, ok):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"failed: {what}")


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)
