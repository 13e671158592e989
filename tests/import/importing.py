"""Shared by the suites of tests/import: starts importer with files that a suite writes."""
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from checks import print_seeds  # noqa: E402
RESULTS = "SELECT model, task, item, attempt, correct, score, error FROM results ORDER BY model, task, item, attempt"


class Suite:
    """Folder and checks of a suite; `importer` is the program."""

    def __init__(self, importer):
        self.importer = str(pathlib.Path(importer).resolve())
        self.passed = self.failed = self.count = 0
        self.scratch = tempfile.TemporaryDirectory()

    def path(self, name=""):
        """A new folder's file, so that it may have any name."""
        self.count += 1
        folder = pathlib.Path(self.scratch.name) / str(self.count)
        folder.mkdir()
        return folder / name if name else folder

    def file(self, name, content):
        path = self.path(name)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def check(self, what, actual, expected):
        ok = actual == expected
        self.passed, self.failed = self.passed + ok, self.failed + (not ok)
        if not ok:
            print(f"FAILED {what}\n  expected {expected!r}\n  actual   {actual!r}")

    def run(self, db, *paths, stdin=None, **choices):
        """The status and the output."""
        done = subprocess.run([self.importer, str(db), *(f"{k}={v}" for k, v in choices.items()), *map(str, paths)],
                              input=stdin, capture_output=True, timeout=120)
        return done.returncode, (done.stdout + done.stderr).decode()

    def rows(self, db, query=RESULTS):
        with sqlite3.connect(db) as connection:
            return connection.execute(query).fetchall()

    def imports(self, what, path, expected, query=RESULTS, **choices):
        """The rows of a new database after the import."""
        db = self.path("new.db")
        paths = path if isinstance(path, (list, tuple)) else [path]
        status, said = self.run(db, *paths, **choices)
        self.check(what, (status, self.rows(db, query) if status == 0 else said), (0, expected))
        return said

    def refuses(self, what, path, *reasons, **choices):
        """Checks that the import ends with 1, prints these words, and leaves the database as it was."""
        db = self.path("refused.db")
        with sqlite3.connect(db) as connection:
            connection.execute("CREATE TABLE mine(x)")
        paths = path if isinstance(path, (list, tuple)) else [path]
        status, said = self.run(db, *paths, **choices)
        self.check(what, (status, [reason for reason in reasons if reason not in said] and said,
                          self.rows(db, "SELECT name FROM sqlite_schema")), (1, [], [("mine",)]))

    def end(self):
        self.scratch.cleanup()
        print_seeds()
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(self.failed > 0 or self.passed == 0)
