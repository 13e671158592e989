"""evalci: error bars for LLM evals, inside SQL.

    import sqlite3, evalci
    db = sqlite3.connect("evals.db")
    evalci.load(db)
    db.execute("SELECT model, bayes_ci(correct) FROM results GROUP BY model")

The command evalci, or python3 -m evalci, is the program, for reports, imports, leaderboards and gates.
"""
import pathlib
import re

__all__ = ["load", "loadable_path", "sql", "__version__"]

_HOME = pathlib.Path(__file__).resolve().parent

__version__ = (_HOME / "VERSION").read_text(encoding="ascii").strip()

_CANNOT = (
    "evalci.load: this connection cannot load extensions, because its Python was built without that; "
    "use a Python that can, as Debian's, conda's, Homebrew's or uv's, "
    "or pip install pysqlite3-binary and connect with pysqlite3 in place of sqlite3"
)


def loadable_path():
    """The library's path without its ending, as SQLite's load_extension takes it."""
    return str(_HOME / "evalci")


def load(connection):
    """Makes evalci's functions known to a connection of sqlite3, pysqlite3 or apsw."""
    if not hasattr(connection, "enable_load_extension"):
        raise RuntimeError(_CANNOT)
    # apsw spells it in one word.
    load_extension = getattr(connection, "load_extension", None) or connection.loadextension
    connection.enable_load_extension(True)
    try:
        load_extension(loadable_path())
    finally:
        connection.enable_load_extension(False)


def sql(name):
    """The text of a file of sql/: 'schema', 'adapters/promptfoo', with or without .sql.

    Where it only reads another file of sql/, that stands in its place, so that a text
    without other commands of the sqlite3 shell runs by executescript().
    """
    home = _HOME / "sql"
    names = {path.relative_to(home).as_posix(): path for path in home.rglob("*") if path.is_file()}
    path = names.get(name) or names.get(f"{name}.sql")
    if path is None:
        raise ValueError(f"evalci.sql: no file {name!r}; there are {', '.join(sorted(names))}")
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^\.read sql/(\S+)$", lambda found: sql(found.group(1)), text, flags=re.M)
