#!/usr/bin/python3
"""Counts in PostgreSQL and in DuckDB, finished in SQLite, must equal evalci over
the same rows to the digit: make test-pushdown, or run.py EXTENSION DUCKDB [TASKS],
for rows.sql with as many tasks, of 15,000 rows each.

Every engine makes the rows of rows.sql itself.  The counting queries of sql/pushdown run
there, the real sqlite3 shell imports their CSV, and the views of finish.sql are compared
with eval_leaderboard and eval_compare over the rows, value by value and type by type.  The
methods that these do not use are compared likewise.
"""
import contextlib
import csv
import glob
import io
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from checks import SQLITE  # noqa: E402

HERE = ROOT / "tests/pushdown"
ORACLE = (ROOT / "tests/board/oracle.sql").read_text()
# The range in which tasks are imagined is not computed in whole numbers.
TASKS = ", round(task_lo, 12) AS task_lo, round(task_hi, 12) AS task_hi"
COLUMNS = {"leaderboard": "model, n, correct, errored, accuracy, ci, lo, hi, method, tasks, bar, err_lo, err_hi" + TASKS, "compare":
           "model_a, model_b, n, both, only_a, only_b, neither, diff, ci, lo, hi, prob_a_better, verdict, p, p_all, verdict_all, method, mean_a, mean_b, err_lo, err_hi"}
# Each pair once, the first in the alphabet as A.
BOARD = {"leaderboard": "eval_leaderboard", "compare": "(SELECT c.* FROM eval_leaderboard AS a JOIN eval_leaderboard AS b ON a.model < b.model "
         "JOIN eval_compare AS c ON c.model_a = a.model AND c.model_b = b.model ORDER BY a.model, b.model)"}
COUNTS = ["models", "tasks", "items", "pairs", "scores", "diffs"]
PARTITIONS = 4
TABLE = ("CREATE TABLE answers(model TEXT NOT NULL, task TEXT NOT NULL, item BIGINT NOT NULL,"
         " attempt INTEGER NOT NULL, correct INTEGER, score DOUBLE PRECISION, error TEXT,"
         " score_lo DOUBLE PRECISION, score_hi DOUBLE PRECISION)")

# What results is, of all answers; and a method that the leaderboard must then name, and
# compare.  Of ten tasks SCORED grades two, from 1 to 10 and from 0 to 1, by scores whose
# sums round.
SCORED = """SELECT model, task, item, attempt, CASE WHEN task LIKE 'task %1' OR task LIKE 'task %2' THEN NULL ELSE correct END AS correct,
                   CASE WHEN task LIKE 'task %1' THEN 1 + 9 * score ELSE score * 0.7 END AS score, error,
                   CASE WHEN task LIKE 'task %1' THEN CAST(1 AS DOUBLE PRECISION) END AS score_lo,
                   CASE WHEN task LIKE 'task %1' THEN CAST(10 AS DOUBLE PRECISION) END AS score_hi
            FROM answers WHERE """
STAGES = {
    "a sample, asked once": ("SELECT * FROM answers WHERE attempt = 1 AND item % 50 = 1", "bayes", "paired"),
    "a sample, graded": (SCORED + "attempt = 1 AND item % 50 = 1", "mean", "paired means"),
    "a sample, graded and asked again": (SCORED + "item % 50 < 2", "mean of questions", "paired means"),
    "all": ("SELECT * FROM answers", "mean of questions", "paired means"),
}

# What the board gives over counts too, where answers are right or wrong and asked once.
COUNTED = "model, n, correct, accuracy, ci, lo, hi, method, tasks, task_ci, bar, questions, err_lo, err_hi, macro, macro_ci"

# Methods that finish.sql does not use: (over the rows, over the counts).  questions is of ORACLE.
PAIR = "'a-small', 'Ångström 7b'"
BOTH = f"""WITH asked AS MATERIALIZED (SELECT model, task, item, total / n AS mean, n, graded, outside FROM questions
                                       WHERE model IN ({PAIR}) AND n > 0)"""
MET = "asked AS a JOIN asked AS b USING (task, item) JOIN (VALUES (" + PAIR + ")) AS pair ON a.model = column1 AND b.model = column2"
METHODS = {
    "one model": (
        """SELECT model, hdi_ci(correct), wilson_ci(correct, 0.9), cp_ci(correct), clt_ci(correct),
                  clustered_clt_ci(correct, task)
           FROM results GROUP BY model ORDER BY model""",
        """SELECT model, hdi_ci_counts(m.k, m.n), wilson_ci_counts(m.k, m.n, 0.9), cp_ci_counts(m.k, m.n),
                  clt_ci_counts(m.k, m.n), clustered_clt_ci_counts(t.k, t.n)
           FROM model_counts AS m LEFT JOIN task_counts AS t USING (model) GROUP BY model ORDER BY model"""),
    "the board over counts": (
        f"SELECT {COUNTED} FROM eval_leaderboard WHERE method = 'bayes'",
        f"""SELECT {COUNTED} FROM eval_leaderboard('task_counts')
            WHERE model IN (SELECT model FROM leaderboard WHERE method = 'bayes')"""),
    "different questions": (
        f"""WITH pair(a, b) AS (VALUES ({PAIR})),
                 y(a, b) AS (SELECT CASE WHEN model = a THEN correct END, CASE WHEN model = b THEN correct END
                             FROM results, pair)
            SELECT prob_better(a, b), diff_ci(a, b), odds_ratio_ci(a, b), fisher_or_ci(a, b), diff_clt_ci(a, b)
            FROM y""",
        f"""WITH pair(a, b) AS (VALUES ({PAIR}))
            SELECT prob_better_counts(a.k, a.n, b.k, b.n), diff_ci_counts(a.k, a.n, b.k, b.n),
                   odds_ratio_ci_counts(a.k, a.n, b.k, b.n), fisher_or_ci_counts(a.k, a.n, b.k, b.n),
                   diff_clt_ci_counts(a.k, a.n, b.k, b.n)
            FROM pair JOIN model_counts AS a ON a.model = pair.a JOIN model_counts AS b ON b.model = pair.b"""),
    "the same questions, asked once": (
        f"""{BOTH} SELECT paired_diff_clt_ci(a.mean, b.mean) FROM {MET} WHERE a.n = 1 AND b.n = 1 AND NOT a.graded""",
        f"""SELECT paired_diff_clt_ci_counts(sum(items * (total_a = 1 AND total_b = 1)), sum(items * (total_a = 1 AND total_b = 0)),
                                             sum(items * (total_a = 0 AND total_b = 1)), sum(items * (total_a = 0 AND total_b = 0)))
            FROM pair_counts WHERE (model_a, model_b) = ({PAIR}) AND n_a = 1 AND n_b = 1 AND NOT graded"""),
    "scores": (
        """SELECT model, count(score), mean_ci(score), mean_lmt_ci(score, 0.9), mean_clt_ci(score)
           FROM results WHERE score IS NOT NULL GROUP BY model ORDER BY model""",
        """SELECT s.model, s.n, s.ci, mean_lmt_ci_counts(c.score, c.n, 0.9), mean_clt_ci_counts(c.score, c.n)
           FROM scores AS s JOIN score_counts AS c USING (model) GROUP BY s.model ORDER BY s.model"""),
    "attempts": (
        """SELECT model, pass_at_k_ci(correct, item, 2), pass_hat_k_ci(correct, item, 3, 0.9)
           FROM results WHERE correct IS NOT NULL AND (model, task, item) IN (
             SELECT model, task, item FROM results WHERE correct IS NOT NULL GROUP BY 1, 2, 3 HAVING count(*) > 2)
           GROUP BY model ORDER BY model""",
        """WITH again(model, k, n, items) AS (
             SELECT model, total, n, items FROM item_counts WHERE n > 2
             UNION ALL SELECT model, k, n, items - 1 FROM again WHERE items > 1)
           SELECT model, pass_at_k_ci_counts(k, n, 2), pass_hat_k_ci_counts(k, n, 3, 0.9)
           FROM again GROUP BY model ORDER BY model"""),
    "the same questions, by task": (
        f"""{BOTH} SELECT count(DISTINCT a.task), count(*),
                          clustered_diff_ci(a.mean, b.mean, a.task) FILTER (WHERE NOT a.outside AND NOT b.outside),
                          clustered_prob_better(a.mean, b.mean, a.task) FILTER (WHERE NOT a.outside AND NOT b.outside)
            FROM {MET} HAVING NOT max(a.outside OR b.outside)""",
        f"SELECT tasks, n, ci, prob_a_better FROM task_compare WHERE (model_a, model_b) = ({PAIR}) AND ci IS NOT NULL"),
}
# Those of right and wrong answers alone, and of scores from 0 to 1.
UNGRADED = ("one model", "the board over counts", "different questions", "scores", "attempts")

passed = failed = 0


def check(what, ok, why=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED {what}{why and ': ' + why}", flush=True)


def run(command, **how):
    """Its standard output; an error carries what it said.  The sqlite3 shell says which
    rows an import left out, and need not end with a status for that."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
    if done.returncode or (command[0] == "sqlite3" and done.stderr):
        raise RuntimeError(f"{command[0]} ended with status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def timed(call, *args):
    start = time.perf_counter()
    return call(*args), time.perf_counter() - start


class Postgres:
    """A private server, on a socket of its own and on no port."""
    name = "PostgreSQL"

    def __init__(self, scratch):
        self.home = scratch / "postgres"
        self.home.mkdir(mode=0o700)
        self.data = str(self.home / "data")
        # The newest of the versions that Debian keeps side by side, off the PATH.
        homes = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        self.bin = homes[-1] if homes else os.path.dirname(shutil.which("initdb") or "/initdb is not installed")
        # The server refuses to run as root.
        self.user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        if self.user:
            shutil.chown(self.home, "postgres")

    def admin(self, program, *args):
        # Into a file, because pg_ctl leaves a server behind that would hold a pipe open.
        log = self.home / "log"
        with open(self.home / "said", "w+") as said:
            done = subprocess.run([*self.user, f"{self.bin}/{program}", "-D", self.data, *args], cwd="/",
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)
            said.seek(0)
            if done.returncode:
                raise RuntimeError(f"{program} ended with status {done.returncode}: {said.read()}"
                                   + (log.read_text() if log.exists() else ""))

    def settings(self):
        return {
            "listen_addresses": "", "unix_socket_directories": self.home,
            "fsync": "off", "wal_level": "minimal", "max_wal_senders": 0, "max_wal_size": "4GB",
            "shared_buffers": "256MB", "work_mem": "128MB",
            "max_parallel_workers_per_gather": 2, "parallel_setup_cost": 0, "parallel_tuple_cost": 0,
            "enable_partitionwise_aggregate": "on", "enable_partitionwise_join": "on",
        }

    def initdb(self, *options):
        # A language's collation, not C: a warehouse need not order models as SQLite does.
        self.admin("initdb", "--auth-local=trust", "--username=postgres", "--no-sync", "--encoding=UTF8",
                   "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US", *options)

    def start(self):
        options = " ".join(f"-c {name}='{value}'" for name, value in self.settings().items())
        self.admin("pg_ctl", "-w", "-l", str(self.home / "log"), "-o", options, "start")

    def __enter__(self):
        try:
            self.initdb()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        with contextlib.suppress(RuntimeError):
            self.admin("pg_ctl", "-w", "-m", "immediate", "stop")

    def psql(self, *args, **how):
        return run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", str(self.home), "-U", "postgres", "-d", "postgres",
                    *args], **how)

    def load(self, rows):
        partitions = "".join(f"CREATE TABLE answers_{i} PARTITION OF answers "
                             f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {i});" for i in range(PARTITIONS))
        self.psql("-c", TABLE + " PARTITION BY HASH (item);" + partitions)
        self.psql("-f", "-", input=rows)
        self.psql("-c", "ANALYZE answers")
        self.version = self.psql("-A", "-t", "-c", "SHOW server_version").split()[0]

    def execute(self, statements):
        self.psql("-c", statements)

    def count(self, query):
        return self.psql("--csv", "-f", str(query))

    def plan(self, query):
        return self.psql("-A", "-t", "-c", "EXPLAIN " + query.read_text())


class Duck:
    name = "DuckDB"

    def __init__(self, scratch, library):
        self.command = ["node", str(HERE / "duckdb.mjs"), os.path.abspath(library), str(scratch / "rows.duckdb")]

    def load(self, rows):
        self.execute(TABLE)
        self.execute(rows)
        self.version = self.execute("SELECT version() AS version").split()[1]

    def execute(self, statements):
        return run(self.command, input=statements)

    def count(self, query):
        return self.execute(query.read_text())


class Lite:
    """SQLite as the warehouse: an ordinary table, as an import makes it.  Its results are
    written here, since the shell writes 15 digits of a score."""
    name = "SQLite"
    version = sqlite3.sqlite_version

    def __init__(self, rows):
        self.rows = rows

    def execute(self, statements):
        self.heap = sqlite3.connect(":memory:")
        results = self.rows.execute("SELECT * FROM results")
        self.heap.execute(f"CREATE TABLE results({', '.join(column[0] for column in results.description)})")
        self.heap.executemany(f"INSERT INTO results VALUES ({', '.join('?' * len(results.description))})", results)
        self.heap.executescript((ROOT / "sql/pushdown/asked.sql").read_text())

    def count(self, query):
        counted = self.heap.execute(query.read_text())
        text = io.StringIO()
        csv.writer(text).writerows([[column[0] for column in counted.description], *counted])
        return text.getvalue()


def connect(database, extension):
    db = sqlite3.connect(database)
    db.enable_load_extension(True)
    db.load_extension(extension)
    return db


def rows_sql(tasks):
    """rows.sql with so many tasks, in place of its 200."""
    text = (HERE / "rows.sql").read_text()
    if text.count("100 * c.x < 200\n") != 1:
        raise LookupError("rows.sql does not choose its tasks by their number")
    return text.replace("100 * c.x < 200\n", f"100 * c.x < {tasks}\n")


def answers_of(db, which, graded=False):
    """What a user sees: the rows of the two tables, in the columns that counts can give, and the results of the other
    methods, by name."""
    found = {name: db.execute(f"SELECT {columns} FROM {name if which else BOARD[name]}") for name, columns in COLUMNS.items()}
    found.update((name, db.execute(queries[which])) for name, queries in METHODS.items() if not graded or name not in UNGRADED)
    return {name: ([column[0] for column in rows.description] if name in COLUMNS else None,
                   rows.fetchall()) for name, rows in found.items()}


def finish(extension, counts, folder):
    """Imports the counts with the shell, as finish.sql says, and opens the database."""
    folder.mkdir(exist_ok=True)
    database = str(folder / "counts.db")
    for name, text in counts.items():
        (folder / f"{name}.csv").write_text(text)
    imports = [f".import --csv --skip 1 {folder}/{name}.csv {name[:-1]}_counts" for name in counts]
    run([*SQLITE, "-bail", database, f".load {extension}", ".read sql/pushdown/finish.sql", *imports], cwd=ROOT)
    return connect(database, extension)


def differences(wanted, got):
    columns = [f"columns {got[0]} instead of {wanted[0]}"] if wanted[0] != got[0] else []
    lines = [f"{g!r} instead of {w!r}" for w, g in zip(wanted[1], got[1]) if repr(w) != repr(g)]
    missing = [f"{len(got[1])} rows instead of {len(wanted[1])}"] if len(wanted[1]) != len(got[1]) else []
    return "; ".join((columns + missing + lines)[:3])


def refusals(extension, scratch):
    """Counts that the import must refuse: of results that are not 0 or 1, of scores out of range, and the same counts
    twice."""
    def said_of(rows, folder, times):
        table = "CREATE TABLE results(model, correct, score, error); INSERT INTO results(model, correct) VALUES " + rows + ";"
        counts = run([*SQLITE, "-csv", "-header", ":memory:"],
                     input=table + (ROOT / "sql/pushdown/models.sql").read_text())
        try:
            for _ in range(times):
                finish(extension, {"models": counts}, scratch / folder)
        except RuntimeError as error:
            return str(error)
        return "nothing"

    for what, rows, times, wanted in (("good counts", "('m', 1), ('m', NULL)", 1, "nothing"),
                                      ("a result of 2", "('m', 1), ('m', 2)", 1, "a result must be 0 or 1"),
                                      ("a result of 2 among good counts", "('m', 2), ('o', 1)", 1, "a result must be 0 or 1"),
                                      ("counts imported twice", "('m', 1), ('m', 0)", 2, "UNIQUE")):
        said = said_of(rows, what.replace(" ", "-"), times)
        check(f"what is said of {what}", wanted in said, said)
    for name in ("tasks", "items", "pairs", "diffs"):
        heap = Lite(sqlite3.connect(":memory:"))
        heap.rows.executescript((ROOT / "sql/schema.sql").read_text() + "INSERT INTO results(model, task, item, score) VALUES ('m', 't', 1, 2), ('o', 't', 1, 1)")
        heap.execute("")
        said = "nothing"
        try:
            finish(extension, {name: heap.count(ROOT / f"sql/pushdown/{name}.sql")}, scratch / f"range-{name}")
        except RuntimeError as error:
            said = str(error)
        check(f"what is said of {name} of a score out of its range", "a score must be in its task's range" in said, said)


def compare_engines(rows, engines, extension, scratch):
    asked = (ROOT / "sql/pushdown/asked.sql").read_text()
    for stage, (definition, method, paired) in STAGES.items():
        drop = "".join(f"DROP VIEW IF EXISTS {name};" for name in ("met", "asked", "shares", "results"))
        view = f"{drop} CREATE VIEW results AS {definition};"
        rows.executescript(view)
        graded = "score" in stage or "graded" in stage
        wanted, seconds = timed(answers_of, rows, 0, graded)
        (size,) = rows.execute("SELECT count(*) FROM results").fetchone()
        print(f"{stage}: {size:,} rows, {seconds:.1f} s over the rows", flush=True)
        # That there is something to compare, and that it is what the stage is for.
        check(f"{stage}: six models", len(wanted["leaderboard"][1]) == 6)
        check(f"{stage}: ten pairs", len(wanted["compare"][1]) == 10)
        for name, wish in (("leaderboard", method), ("compare", paired)):
            at = wanted[name][0].index("method")
            check(f"{stage}: a method of {name}", wish in [row[at] for row in wanted[name][1]])
        for engine in engines:
            if isinstance(engine, Lite) and stage == "all":
                continue
            engine.execute(view + asked)
            counts, spent = {}, []
            for name in COUNTS:
                query = ROOT / f"sql/pushdown/{name}.sql"
                counts[name], seconds = timed(engine.count, query)
                spent.append(f"{name} {seconds:.1f}")
                if isinstance(engine, Postgres) and stage == "all":
                    plan = engine.plan(query)
                    check(f"{name}.sql is counted in parallel", "Gather" in plan and "Parallel" in plan, plan)
            folder = scratch / f"{engine.name} {stage}".replace(" ", "-")
            got, seconds = timed(lambda: answers_of(finish(extension, counts, folder), 1, graded))
            print(f"  {engine.name} {engine.version}: {', '.join(spent)}, finish {seconds:.1f} s; "
                  f"{sum(map(len, counts.values())):,} bytes of counts", flush=True)
            for what in wanted:
                difference = differences(wanted[what], got[what])
                check(f"{engine.name}, {stage}, {what}", not difference, difference)


def main(extension, library, tasks="200"):
    extension = os.path.abspath(extension).rsplit(".", 1)[0]
    # So that the server stops when this program is told to.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as made, contextlib.ExitStack() as stack:
        scratch = pathlib.Path(made)
        scratch.chmod(0o711)
        rows = connect(str(scratch / "rows.db"), extension)
        rows.executescript((ROOT / "sql/schema.sql").read_text() + "ALTER TABLE results RENAME TO answers;"
                           + "PRAGMA journal_mode = off;" + rows_sql(tasks))
        rows.executescript("CREATE VIEW results AS SELECT * FROM answers;" + ORACLE)
        engines = [Lite(rows)]
        for start in (lambda: stack.enter_context(Postgres(scratch)), lambda: Duck(scratch, library)):
            try:
                engine = start()
                engine.load(rows_sql(tasks))
                engines.append(engine)
            except (OSError, LookupError, RuntimeError) as error:
                check("an engine to count in", False, str(error))
        compare_engines(rows, engines, extension, scratch)
        refusals(extension, scratch)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
