"""What a user of the wheel does, run by the Python that it was installed in:
use.py VERSION.  Prints JSON that packages.py looks at."""
import json
import sqlite3
import sys

import evalci


def said(call, *args):
    try:
        call(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


class Without:
    """A connection of a Python that was built without extensions."""


def reloaded(db):
    db.execute("SELECT load_extension(?)", (evalci.loadable_path(),))


db = sqlite3.connect(":memory:")
evalci.load(db)
print(json.dumps({
    "version": evalci.__version__,
    "same": db.execute("SELECT evalci_version()").fetchone()[0],
    "interval": db.execute("SELECT bayes_ci_counts(18, 20)").fetchone()[0],
    "path": evalci.loadable_path(),
    "python": sys.executable,
    "schema": evalci.sql("schema") == evalci.sql("schema.sql"),
    "adapter": "CREATE VIEW" in evalci.sql("adapters/promptfoo"),
    "no file": said(evalci.sql, "nothing"),
    "cannot": said(evalci.load, Without()),
    "closed again": said(reloaded, db),
}))
