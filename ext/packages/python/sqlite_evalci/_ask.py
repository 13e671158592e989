"""From data to a database, and from SQL to rows: by the extension; or by the program evalci,
where Python's sqlite3 loads no extensions.

Both are asked the same SQL and give the same rows, to the bit.  To the program everything goes
by a file, numbers too, since a database keeps them as they are.
"""
import contextlib
import functools
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterable
from typing import Any

from ._program import program

HOME = pathlib.Path(__file__).resolve().parent
LOADS = hasattr(sqlite3.Connection, "enable_load_extension")
CANNOT = (
    "sqlite_evalci.load: this connection cannot load extensions, because its Python was built without that; "
    "use a Python that can, as Debian's, conda's, Homebrew's or uv's, "
    "or pip install pysqlite3-binary and connect with pysqlite3 in place of sqlite3"
)
INSTEAD = (
    "this Python's sqlite3 loads no extensions: sqlite_evalci starts the program evalci instead, "
    "with the same results, some milliseconds slower"
)
# Options of an import of files alone, and options that an import and the board share.
IMPORTING = ("from", "model_name", "task_name", "scorer", "metric", "filter", "split", "items", "keep", "tokens")
OURS = ("results", "counts", "votes")  # what an import makes
SHARED = ("model", "task", "item", "attempt", "correct", "score", "error", "cost", "latency", "lo", "hi")
_thread = threading.local()


def loadable_path() -> str:
    """The library's path without its ending, as SQLite's load_extension takes it."""
    return str(HOME / "evalci")


def load(connection: Any) -> None:
    """Makes evalci's functions known to a connection of sqlite3, pysqlite3 or apsw.

    >>> import sqlite3, sqlite_evalci
    >>> db = sqlite3.connect(":memory:")
    >>> sqlite_evalci.load(db)                                      # doctest: +SKIP
    >>> db.execute("SELECT bayes_ci_counts(18, 20)").fetchone()     # doctest: +SKIP
    ('[0.6962255930860759,0.9695110323784845]',)
    """
    if not hasattr(connection, "enable_load_extension"):
        raise RuntimeError(CANNOT)
    # apsw spells it in one word.
    load_extension = getattr(connection, "load_extension", None) or connection.loadextension
    connection.enable_load_extension(True)
    try:
        load_extension(loadable_path())
    finally:
        connection.enable_load_extension(False)


def identifier(name):
    return '"' + str(name).replace('"', '""') + '"'


def literal(value):
    """A name or a number, quoted for SQL."""
    value = plain(value)
    if isinstance(value, (int, float)):
        return repr(value) if isinstance(value, float) else str(int(value))
    return "'" + str(value).replace("'", "''") + "'"


def plain(value):
    """A value as SQLite stores it: numpy's numbers as Python's, missing values as NULL, intervals and options as JSON,
    and whole numbers beyond 64 bits, such as hashes, as text."""
    if value is None or isinstance(value, (str, bytes)):
        return value
    if isinstance(value, int):
        return value if -2**63 <= value < 2**63 else str(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(x, (int, float)) for x in value):
        return "[" + ",".join(repr(float(x)).replace("inf", "9e999") for x in value) + "]"
    if isinstance(value, dict):
        return json.dumps(value, default=plain)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        return plain(value.item())
    return float(value) if hasattr(value, "__float__") else str(value)


# ---- Asking ----

def _by_connection(connection, sql):
    cursor = connection.cursor()
    cursor.row_factory = None
    try:
        cursor.execute(sql)
        rows = cursor.fetchall()
    except sqlite3.Error as error:
        raise refused(str(error)) from None
    return [column[0] for column in cursor.description], rows


def run(*words):
    """The program's output; its error message becomes an exception."""
    done = subprocess.run([program(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise refused(done.stderr.decode("utf-8", "replace"))
    return done.stdout.decode("utf-8")


def _file(path):
    """The path as the program takes it, to which - is its standard input and file: may begin a URI."""
    return os.path.join(os.curdir, path) if path == "-" or path.startswith("file:") else path


def _by_program(path, table, sql):
    rows = json.loads(run("sql", "--json", f"--table={table}", "--quiet", "--", _file(path), sql))
    return list(rows[0]) if rows else [], [tuple(row.values()) for row in rows]


@functools.lru_cache(maxsize=None)
def says_so():
    """Warns that the program answers, once, at the line that called this package."""
    depth, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in ("sqlite_evalci", "contextlib"):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(INSTEAD, RuntimeWarning, stacklevel=depth)


class Error(ValueError, sqlite3.OperationalError):
    """An error of evalci, with what to do about it."""


def refused(message):
    """A message of the extension or the program, with its advice in terms of Python."""
    message = re.sub(r"^(eval_\w+|evalci \w+): ", "", message.strip())
    message = re.sub(r'\b(in )?options, as in \{"(\w+)":"(.*?)"\}', r'as a keyword, \2="\3"', message)
    message = re.sub(r"--([a-z]+(?:-[a-z]+)*)( [A-Z]+\b)?",
                     lambda found: found[1].replace("-", "_") + (f'="{found[2].strip()}"' if found[2] else "="), message)
    message = re.sub(r"(SELECT model FROM eval_leaderboard|evalci leaderboard) lists them", "leaderboard() lists them", message)
    message = re.sub(r"pass (the name of a table or view), as in eval_\w+\('(\w+)'\)", r'give \1, as in table="\2"', message)
    return Error(message)


class Source:
    """Data to be queried: a table of a database."""

    def __init__(self, table, options, connection=None, path=None):
        self.table, self.options, self.connection, self.path = table, options, connection, path

    def ask(self, sql):
        """The names of the columns, and the rows."""
        if self.connection is not None:
            return _by_connection(self.connection, sql)
        return _by_program(self.path, self.table, sql)


def _loaded(connection):
    try:
        connection.execute("SELECT evalci_version()")
    except Exception:  # sqlite3's, pysqlite3's or apsw's
        load(connection)
    return connection


def _create(connection, table, names, rows):
    columns = ", ".join(map(identifier, names))
    connection.execute(f"DROP TABLE IF EXISTS {identifier(table)}")
    try:
        connection.execute(f"CREATE TABLE {identifier(table)}({columns})")
    except sqlite3.OperationalError as error:
        raise Error(f"data cannot become a table of SQL: {error}; rename or leave out columns; case does not distinguish them") from None
    connection.executemany(f"INSERT INTO {identifier(table)} VALUES ({', '.join('?' * len(names))})", rows)
    connection.commit()


def own_connection():
    """A connection of this thread, to a database in memory, with the extension."""
    if not hasattr(_thread, "connection"):
        _thread.connection = sqlite3.connect(":memory:")
        load(_thread.connection)
    return _thread.connection


@contextlib.contextmanager
def of_rows(table, names, rows, options):
    """A source made of rows."""
    rows = [tuple(map(plain, row)) for row in rows]
    if LOADS:
        connection = own_connection()
        _create(connection, table, names, rows)
        try:
            yield Source(table, options, connection)
        finally:
            connection.execute(f"DROP TABLE IF EXISTS {identifier(table)}")
            # A database in memory keeps the room of what was dropped.
            if len(rows) > 10_000:
                connection.close()
                del _thread.connection
        return
    says_so()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.db")
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            _create(connection, table, names, rows)
        yield Source(table, options, path=path)


def _rows_in(connection, table):
    """Columns and rows of a table by its name, which may be quoted or have a schema, as the board reads it."""
    names = [identifier(table)]
    if re.fullmatch(r'("([^"]|"")*"\.)?"([^"]|"")*"', table):
        names.append(table)
    names += [f"{identifier(table[:at])}.{identifier(table[at + 1:])}" for at, letter in enumerate(table) if letter == "."]
    errors = []
    for name in names:
        try:
            return _by_connection(connection, f"SELECT * FROM {name}")
        except Error as error:
            errors.append(error)
    raise Error(f'cannot read {table}: {errors[0]}; give the name of a table or view, as in table="results"')


@contextlib.contextmanager
def of_connection(connection, table, options):
    if LOADS if isinstance(connection, sqlite3.Connection) else hasattr(connection, "enable_load_extension"):
        yield Source(table, options, _loaded(connection))
        return
    # The program cannot see what only this connection does: its temporary tables, and what it has not committed.
    with of_rows(table, *_rows_in(connection, table), options) as source:
        yield source


def _read_only(path):
    return contextlib.closing(sqlite3.connect(f"{pathlib.Path(path).resolve().as_uri()}?mode=ro", uri=True))


def _table_in(path, tables):
    """The first of these tables that a database file has; None if it has none, or cannot be read."""
    with open(path, "rb") as file:
        if file.read(16) != b"SQLite format 3\0":
            return None
    try:
        with _read_only(path) as connection:
            there = {name.lower() for name, in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    except sqlite3.OperationalError:
        return None  # a log beside it that this user may not read: the program's error says what to do
    return next((table for table in tables if table.lower() in there), None)


def _import(paths, database, table, options):
    """Imports files into a database, by the program."""
    given = {"table": table, **{key: options.get(key) for key in (*IMPORTING, *SHARED)}}
    words = [f"--{key.replace('_', '-')}={value}" for key, value in given.items() if value is not None]
    run("import", f"-o={database}", "--quiet", *words, "--", *map(_file, paths))


@contextlib.contextmanager
def of_files(paths, table, usual, options):
    """Opens a database in place if it has the table; the program imports anything else."""
    for path in paths:
        if not os.path.exists(path):
            raise FileNotFoundError(f"no file or folder {path!r}")
    with contextlib.ExitStack() as stack:
        wanted = (table,) if table else (usual, *OURS)
        imports = len(paths) > 1 or os.path.isdir(paths[0]) or any(options.get(key) is not None for key in IMPORTING)
        path, found = paths[0], None if imports else _table_in(paths[0], wanted)
        if not found:
            path = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "imported.db")
            _import(paths, path, table, options)
            found = _table_in(path, (usual, *OURS))
            options = {key: value for key, value in options.items() if key not in (*IMPORTING, *SHARED)}
        if LOADS:
            yield Source(found, options, _loaded(stack.enter_context(_read_only(path))))
        else:
            says_so()
            yield Source(found, options, path=path)


def _is_path(data):
    return isinstance(data, (str, os.PathLike))


def _is_connection(data):
    """Of sqlite3, or of pysqlite3."""
    return isinstance(data, sqlite3.Connection) or hasattr(data, "enable_load_extension")


def paths_of(data):
    """The files that are read: paths, or the database of a connection."""
    if _is_connection(data):
        return [path for _, schema, path in _by_connection(data, "PRAGMA database_list")[1] if schema == "main" and path]
    if _is_path(data):
        return [os.fspath(data)]
    return [os.fspath(path) for path in data] if isinstance(data, (list, tuple)) and all(map(_is_path, data)) else []


def _columns_and_rows(data):
    """The columns and rows of a DataFrame, or of dicts or other mappings."""
    if hasattr(data, "itertuples"):
        levels = [i for i, name in enumerate(data.index.names) if name is not None and name not in data.columns]
        if levels:
            data = data.reset_index(levels)
        data = data.astype(object).where(data.notna(), None)
        return [str(name) for name in data.columns], data.itertuples(index=False, name=None)
    rows = list(data) if isinstance(data, Iterable) else None
    if rows is None or not all(hasattr(row, "keys") for row in rows):
        kind = type(data if rows is None else next(row for row in rows if not hasattr(row, "keys")))
        raise TypeError("data must be a DataFrame of pandas, a list of dicts, a path (or several) or a connection of sqlite3, "
                        f"got {'rows of type ' if rows else ''}{kind.__module__}.{kind.__qualname__}".replace("builtins.", ""))
    rows = [row if hasattr(row, "get") else dict(row) for row in rows]  # sqlite3.Row has keys alone
    names = list({name: None for row in rows for name in row})
    return names, ([row.get(name) for name in names] for row in rows)


def opened(data, table, options, usual="results"):
    """A source for data of any supported type; its table is the usual one unless named."""
    if _is_connection(data):
        return of_connection(data, table or usual, options)
    paths = paths_of(data)
    if paths:
        return of_files(paths, table, usual, options)
    names, rows = _columns_and_rows(data)
    if not names:
        raise ValueError("data must have rows with columns, as model, item and correct; got none")
    return of_rows(table or usual, names, rows, options)


def origin_of(data):
    """The origin that a report shows."""
    if _is_path(data) or _is_connection(data):
        return "".join(map(os.path.basename, paths_of(data))) or "a database"
    return f"a {type(data).__name__}"
