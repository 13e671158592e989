"""Uses the wheel in the Python in which it was installed:
use.py VERSION.  Prints JSON that packages.py checks."""
import json
import sqlite3
import sys

import sqlite_evalci


def said(call, *args):
    try:
        call(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


class Without:
    """A connection of a Python that was built without extensions."""


def reloaded(db):
    db.execute("SELECT load_extension(?)", (sqlite_evalci.loadable_path(),))


db = sqlite3.connect(":memory:")
sqlite_evalci.load(db)
print(json.dumps({
    "version": sqlite_evalci.__version__,
    "same": db.execute("SELECT evalci_version()").fetchone()[0],
    "interval": db.execute("SELECT bayes_ci_counts(18, 20)").fetchone()[0],
    "path": sqlite_evalci.loadable_path(),
    "python": sys.executable,
    "schema": sqlite_evalci.sql("schema") == sqlite_evalci.sql("schema.sql"),
    "adapter": "CREATE VIEW" in sqlite_evalci.sql("adapters/promptfoo"),
    "no file": said(sqlite_evalci.sql, "nothing"),
    "cannot": said(sqlite_evalci.load, Without()),
    "closed again": said(reloaded, db),
}))
