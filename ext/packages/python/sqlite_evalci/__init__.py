"""evalci: error bars for LLM evals.

    import sqlite_evalci

    sqlite_evalci.leaderboard("results.csv")              # of a file, a DataFrame, a list of dicts, a connection
    sqlite_evalci.compare(frame, model="llm", correct="ok")
    sqlite_evalci.report("results.csv", "report.html")
    sqlite_evalci.bayes_ci(18, 20)                        # every function of SQL, of counts
    sqlite_evalci.mean_ci([0.5, 1, 0.75])                 # and of rows: a list, a Series, an array

    db = sqlite3.connect("evals.db")                      # and in SQL
    sqlite_evalci.load(db)
    db.execute("SELECT model, bayes_ci(correct) FROM results GROUP BY model")

leaderboard, compare, tasks, passes, slices, questions, noise and votes return a DataFrame where pandas is there, else a
list of dicts; in a notebook either draws its bars.  The command evalci, or python3 -m sqlite_evalci, is the program.
"""
import contextlib
import datetime
import json
import os
import re
import sqlite3
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Union

from . import _ask
from ._ask import Error, load, loadable_path

if TYPE_CHECKING:
    from typing import Protocol

    import pandas

    Path = Union[str, "os.PathLike[str]"]
    Data = Union["pandas.DataFrame", Iterable[Mapping[str, Any]], Path, Sequence[Path], sqlite3.Connection]

    class Verb(Protocol):
        """A DataFrame where pandas is there; else a list of dicts."""

        def __call__(self, data: Data, *, table: Optional[str] = None, **options: Any) -> "pandas.DataFrame":
            ...

__all__ = ["leaderboard", "compare", "tasks", "passes", "slices", "questions", "noise", "votes", "gate", "report", "ci_methods",
           "load", "loadable_path", "sql", "Error", "Interval", "Verdict", "__version__"]

__version__ = (_ask.HOME / "VERSION").read_text(encoding="ascii").strip()

# Examples below are run as tests, on these answers.
_ANSWERS = [{"model": model, "item": item, "correct": int(item % every > 0)} for model, every in (("new", 9), ("old", 3)) for item in range(60)]


class Interval(NamedTuple):
    """The ends of an interval."""

    lo: float
    hi: float


class Verdict(Dict[str, Any]):
    """What gate() says; true if it passes."""

    def __bool__(self) -> bool:
        return bool(self["result"] == "pass")


def _parsed(value: Any) -> Any:
    """A value of SQL in Python: an interval as a tuple, other JSON parsed."""
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return value
    try:
        found = json.loads(value)
    except ValueError:
        return value
    pair = isinstance(found, list) and len(found) == 2 and all(isinstance(x, (int, float)) for x in found)
    return Interval(*map(float, found)) if pair else found


def _table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> "pandas.DataFrame":
    """pandas is imported by the first table."""
    from . import _show
    return _show.table(names, rows)


# ---- The board ----

def _options(given: Mapping[str, Any]) -> Dict[str, Any]:
    """from_ is the option from, a word of Python."""
    return {key.rstrip("_"): value for key, value in given.items()}


def _arguments(source: _ask.Source, **more: Any) -> str:
    """The arguments of the board's functions: the table's name and the options."""
    given = {key: _ask.plain(value) for key, value in {**source.options, **more}.items() if value is not None}
    return f"{_ask.literal(source.table)}, {_ask.literal(json.dumps(given))}"


def _pairs(named: Mapping[str, Any]) -> str:
    """A WHERE clause for every pair of the models that are named, in the places named."""
    given = [f"{column} = {_ask.literal(model)}" for column, model in named.items() if model is not None]
    return " WHERE " + " AND ".join(given) if given else ""


def _verb(name: str, about: str, pairs: bool = False, usual: str = "results") -> "Verb":
    """The table of a verb of the program over any data; a and b may name the models of a pair."""
    def verb(data: "Data", *, table: Optional[str] = None, **options: Any) -> "pandas.DataFrame":
        named = {f"model_{key}": options.pop(key, None) for key in ("a", "b") if pairs}
        with _ask.opened(data, table, _options(options), usual) as source:
            names, rows = source.ask(f"SELECT * FROM eval_{name}({_arguments(source)}){_pairs(named)}")
            if not rows:
                names = [column for column, in source.ask(f"SELECT name FROM pragma_table_info('eval_{name}')")[1]]
        parsed = {i for i, column in enumerate(names) if re.fullmatch("shrunken|(.*_)?ci(_unseen)?", column)}
        return _table(names, [tuple(_parsed(x) if i in parsed else x for i, x in enumerate(row)) for row in rows])

    verb.__name__ = verb.__qualname__ = name
    verb.__doc__ = f"""{about}

    data is a DataFrame, a list of dicts, a path (or several) of any format that `evalci formats` lists, or a connection
    of sqlite3.  A column of another name is named by keyword, as model="llm"; level=0.95, by="task", errors="wrong",
    lo=1, hi=5 and the like are options, as of the program (`evalci help {name}`).  table="runs" names a database's table.
    """
    return verb


leaderboard = _verb("leaderboard", """Each model with its accuracy, its interval, and the ranks that are open to it, the best first.

    >>> import sqlite_evalci
    >>> board = sqlite_evalci.leaderboard([
    ...     {"model": "large", "item": 1, "correct": 1}, {"model": "large", "item": 2, "correct": 1},
    ...     {"model": "small", "item": 1, "correct": 1}, {"model": "small", "item": 2, "correct": 0}])
    >>> list(board["model"]), [round(hi, 3) for hi in board["hi"]]
    (['large', 'small'], [1.0, 0.906])""")
compare = _verb("compare", """Every two models on the questions that both answered: the difference A - B, and whether it is real.

    a="new", b="old" compares these two alone; a="new" compares it with every other.  Without either each pair is there
    once, the model that is higher in the leaderboard as A.

    >>> import sqlite_evalci
    >>> pairs = sqlite_evalci.compare(sqlite_evalci._ANSWERS, a="new", b="old")
    >>> pairs["n"][0], round(pairs["diff"][0], 3), pairs["verdict"][0]
    (60, 0.217, 'A better')""", pairs=True)
tasks = _verb("tasks", """Each model on each task (benchmark, suite, category).

    >>> import sqlite_evalci
    >>> list(sqlite_evalci.tasks(sqlite_evalci._ANSWERS, level=0.9)["questions"])
    [60, 60]""")
passes = _verb("passes", """Where questions were asked several times: that at least one of k attempts is right (pass@k), or all (pass^k).

    >>> import sqlite_evalci
    >>> asked = [{"model": "m", "item": item, "attempt": attempt, "correct": item % 2} for item in range(9) for attempt in (1, 2)]
    >>> list(sqlite_evalci.passes(asked)["k"])
    [1, 2]""")
slices = _verb("slices", """Two models task by task: which tasks regressed?  a is the old model and b the new one.

    >>> import sqlite_evalci
    >>> len(sqlite_evalci.slices(sqlite_evalci._ANSWERS, a="old", b="new"))
    1""", pairs=True)
questions = _verb("questions", """Each question: how difficult it is, and whether its key may be wrong.

    >>> import sqlite_evalci
    >>> len(sqlite_evalci.questions(sqlite_evalci._ANSWERS))
    60""")
noise = _verb("noise", """Where questions were asked several times: how much of an answer's variance is the tasks', questions' and reruns'.

    The shares miss where questions are of two kinds, nearly always right and mostly wrong, and were asked many times.

    >>> import sqlite_evalci
    >>> asked = [{"model": "m", "item": item, "attempt": attempt, "correct": item % 2} for item in range(9) for attempt in (1, 2)]
    >>> sqlite_evalci.noise(asked)["questions"][0]
    9""")
votes = _verb("votes", """Models that were voted on two at a time: each with its rating and the ranks that are open to it, the best first.

    The columns are model_a, model_b and winner: model_a, model_b, tie or both_bad.

    >>> import sqlite_evalci
    >>> cast = [{"model_a": "new", "model_b": "old", "winner": winner} for winner in 6 * ["model_a"] + 2 * ["model_b"] + ["tie"]]
    >>> ratings = sqlite_evalci.votes(cast, anchor="old")
    >>> list(ratings["model"]), round(ratings["rating"][1])
    (['new', 'old'], 1000)""", usual="votes")

def gate(data: "Data", candidate: Any, baseline: Any = None, *, min: Optional[float] = None, margin: float = 0.02,
         sure: float = 0.95, table: Optional[str] = None, **options: Any) -> Verdict:
    """May the candidate replace the baseline: is it at most `margin` worse, with the certainty `sure`? Or does its
    accuracy reach `min`?

    The verdict is true if it passes; it has result (pass, fail or unsure), message, diff, lo, hi and others.

    >>> import sqlite_evalci
    >>> verdict = sqlite_evalci.gate(sqlite_evalci._ANSWERS, "new", "old", margin=0.05)
    >>> bool(verdict), verdict["result"], verdict["questions"]
    (True, 'pass', 60)
    >>> sqlite_evalci.gate(sqlite_evalci._ANSWERS, "old", min=0.8)["result"]
    'fail'
    """
    if (baseline is None) == (min is None):
        raise TypeError("gate: one of baseline, a model, and min, an accuracy, must be given")
    numbers = ", ".join(_ask.literal(float(x)) for x in (margin, sure))
    against = _ask.literal(baseline if min is None else float(min))
    with _ask.opened(data, table, _options(options)) as source:
        names, rows = source.ask(f"SELECT * FROM eval_gate({_arguments(source)}, {against}, {_ask.literal(candidate)}, {numbers})")
    return Verdict(zip(names, rows[0]))


def _write(path: str, text: str) -> None:
    """Whole or not at all, where there is a file or nothing."""
    part = f"{path}.evalci-{os.getpid()}.part" if os.path.isfile(path) or not os.path.exists(path) else path
    try:
        with open(part, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        if part != path:
            os.replace(part, path)
    except BaseException:
        if part != path and os.path.exists(part):
            os.remove(part)
        raise


def report(data: "Data", path: "Optional[Path]" = None, *, title: Optional[str] = None, note: Optional[str] = None,
           table: Optional[str] = None, **options: Any) -> str:
    """A page of HTML to read and to send, written to path; without one, its text.

    >>> import sqlite_evalci
    >>> page = sqlite_evalci.report(sqlite_evalci._ANSWERS, title="Spring eval")
    >>> page[:15], "Spring eval" in page
    ('<!DOCTYPE html>', True)
    """
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    if path is not None and os.path.exists(path) and any(os.path.exists(read) and os.path.samefile(read, path) for read in _ask.paths_of(data)):
        raise Error(f"report: the page would replace {os.fspath(path)!r}, which is read; name another file")
    with _ask.opened(data, table, _options(options)) as source:
        (page,), = source.ask(f"SELECT eval_report({_arguments(source, title=title, note=note, date=date, origin=_ask.origin_of(data))})")[1]
    if path is None:
        return str(page)
    _write(os.path.realpath(path), f"{page}\n")
    return os.fspath(path)


def ci_methods(k: int, n: int, level: float = 0.95) -> "pandas.DataFrame":
    """The interval of every method for one proportion.

    >>> import sqlite_evalci
    >>> list(sqlite_evalci.ci_methods(18, 20)["method"])[:3]
    ['bayes', 'jeffreys', 'hdi']
    """
    with _ask.of_rows("args", ["k", "n", "level"], [(k, n, level)], {}) as source:
        return _table(*source.ask("SELECT m.* FROM args, ci_methods(k, n, level) AS m"))


# ---- Functions ----

# The defaults of optional arguments, for calls that give only a later one.
_USUAL = {"level": 0.95, "sure": 0.95, "margin": 0, "a": 1, "b": 1, "alpha": 1, "beta": 1, "power": 0.8, "lo": 0, "hi": 1, "point": None, "digits": 1}


def _signature(name: str) -> Optional[str]:
    """The signature in SQL, such as bayes_ci(y [, level [, a, b]]); None if evalci has no such function.

    Asked with more arguments than it can have a function says how to call it.
    """
    with _ask.of_rows("args", ["x"], [(0,)], {}) as source:
        try:
            source.ask(f"SELECT {name}({', '.join('x' * 30)}) FROM args")
        except Exception as error:
            found = re.search(r"wrong number of arguments, got 30; call it as (\w+\([^)]*\))", str(error))
            return found[1] if found else None
    return None


def _rows_of(values: Sequence[Any]) -> Optional[int]:
    """The number of rows of a call: lists, Series and arrays are rows, and a number is the same on each."""
    for value in values:
        # A tuple of two is an interval, a dict is options.
        known = hasattr(value, "ndim") or isinstance(value, (list, str, bytes, dict)) or (isinstance(value, tuple) and len(value) == 2)
        if getattr(value, "ndim", 0) > 1 or (isinstance(value, Iterable) and not known):
            raise TypeError(f"rows must be a list, a Series or an array of one dimension, got a {type(value).__name__}")
    sizes = {len(x) for x in values if isinstance(x, list) or getattr(x, "ndim", 0) == 1}
    if len(sizes) > 1:
        raise ValueError(f"rows must be as many in every argument, got {' and '.join(map(str, sorted(sizes)))}")
    return sizes.pop() if sizes else None


def _placed(signature: str, args: Sequence[Any], named: Dict[str, Any]) -> List[Any]:
    """The arguments in order; those left out before a named one have their defaults."""
    required = len(re.findall(r"\w+", signature.split("(", 1)[1].split("[")[0]))
    names = re.findall(r"\w+", signature.split("(", 1)[1])
    values = list(args)
    unknown = [name for name in named if name not in names[len(args):]]
    if unknown:
        raise TypeError(f"{signature}: unexpected argument {unknown[0]!r}")
    for place, name in enumerate(names[len(args):], len(args)):
        if not named:
            break
        if name not in named and (place < required or name not in _USUAL):
            raise TypeError(f"{signature}: argument {name!r} is missing")
        values.append(named.pop(name) if name in named else _USUAL[name])
    return values


def _call(name: str, values: Sequence[Any]) -> Any:
    count = _rows_of(values)
    columns = [list(x) if isinstance(x, list) or getattr(x, "ndim", 0) == 1 else [x] * (1 if count is None else count) for x in values]
    names = [f"x{i}" for i in range(len(values))]
    with _ask.of_rows("args", names, zip(*columns), {}) if values else _ask.of_rows("args", ["x"], [(0,)], {}) as source:
        call = f"SELECT {name}({', '.join(names)}) AS y FROM args"
        rows = [_parsed(y) for y, in source.ask(call)[1]]
        # An aggregate has one result, even without rows.
        each = count is not None and not source.ask(f"{call} WHERE 0")[1]
    return rows if each else rows[0]


def _about(name: str) -> str:
    """What a function is: the last cell of its row in FUNCTIONS.md."""
    listed = (_ask.HOME / "FUNCTIONS.md").read_text(encoding="utf-8").split("## All of them")[1]
    row = next(line for line in listed.splitlines() if f"`{name}(" in line)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", row.rsplit("|", 2)[1].strip())


def _function(name: str) -> "Optional[Callable[..., Any]]":
    of_rows, of_counts = _signature(name), _signature(f"{name}_counts")
    if of_rows is None:
        return None

    def function(*args: Any, **named: Any) -> Any:
        signature = of_rows if of_counts is None or _rows_of([*args, *named.values()]) is not None else of_counts
        return _call(signature.split("(")[0], _placed(signature, args, named))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "\n\n".join([f"{of_counts}, of numbers, or {of_rows}, of rows: lists, Series or arrays." if of_counts else of_rows,
                                    _about(name), "Intervals are (lo, hi); other JSON is parsed."])
    return function


def __getattr__(name: str) -> "Callable[..., Any]":
    """Every function of SQL by its name; bayes_ci(18, 20) is bayes_ci_counts(18, 20), bayes_ci([1, 0, 1]) is of rows.

    >>> import sqlite_evalci
    >>> lo, hi = sqlite_evalci.bayes_ci(18, 20)
    >>> round(lo, 3), round(hi, 3)
    (0.696, 0.97)
    >>> sqlite_evalci.ci_text(sqlite_evalci.diff_ci(18, 20, 12, 20, level=0.9))
    '6.5%–47.6%'
    >>> round(sqlite_evalci.paired_p([1, 1, 1, 1, 0], [0, 0, 0, 1, 0]), 3)
    0.125
    """
    if re.fullmatch(r"[a-z][a-z0-9_]*", name) and not name.startswith("eval_"):
        function = _function(name)
        if function:
            globals()[name] = function
            return function
    raise AttributeError(f"module 'sqlite_evalci' has no attribute {name!r}")


def __dir__() -> List[str]:
    """The names of the module and of all functions that evalci adds to SQLite."""
    listed = "SELECT DISTINCT name FROM pragma_function_list WHERE name NOT LIKE 'eval!_%' ESCAPE '!'"
    with _ask.of_rows("args", ["x"], [(0,)], {}) as source:
        there = {name for name, in source.ask(listed)[1]}
    with contextlib.closing(sqlite3.connect(":memory:")) as bare:
        without = {name for name, in bare.execute(listed)}
    return sorted({*__all__, *(name for name in there - without if _signature(name))})


# ---- The files of sql/ ----

def sql(name: str) -> str:
    """The text of a file of sql/: 'schema', 'adapters/promptfoo', with or without .sql.

    Where it only reads another file of sql/, that stands in its place, so that a text
    without other commands of the sqlite3 shell runs by executescript().
    """
    home = _ask.HOME / "sql"
    names = {path.relative_to(home).as_posix(): path for path in home.rglob("*") if path.is_file()}
    path = names.get(name) or names.get(f"{name}.sql")
    if path is None:
        raise ValueError(f"sqlite_evalci.sql: no file {name!r}; there are {', '.join(sorted(names))}")
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^\.read sql/(\S+)$", lambda found: sql(found.group(1)), text, flags=re.M)
