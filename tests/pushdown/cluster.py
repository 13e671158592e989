#!/usr/bin/python3
"""Counts on three PostgreSQL servers at once, added up by a fourth and finished in
SQLite, must equal evalci over the same rows to the digit: make test-cluster, or
cluster.py EXTENSION [TASKS], for rows.sql with as many tasks, of 15,000 rows each.

Each server is a PostgreSQL cluster of its own and listens on loopback.  The rows are
inserted into the partitioned table of sql/pushdown/cluster.sql, which sends each to
the server of its question.  The plans, as they ran, show that only counts travel;
stopping a server while it counts shows that this is an error.
"""
import contextlib
import os
import pathlib
import re
import secrets
import signal
import socket
import sys
import tempfile
import threading

import run as pushdown
from run import ORACLE, ROOT, Postgres, answers_of, check, connect, differences, finish, rows_sql, timed

SHARDS = 3
VIEWS = {"models": "model_counts", "tasks": "task_counts", "items": "item_counts", "pairs": "pair_counts",
         "scores": "score_counts", "diffs": "diff_counts"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server(Postgres):
    """A server that the others reach by TCP, with a password, on loopback alone."""

    def __init__(self, scratch, name):
        (scratch / name).mkdir(mode=0o711)
        super().__init__(scratch / name)
        self.name, self.port, self.password = name, free_port(), secrets.token_hex(16)

    def settings(self):
        return {**super().settings(), "listen_addresses": "127.0.0.1", "port": self.port,
                # With a quarter of the memory of the single server of run.py.
                "shared_buffers": "128MB", "work_mem": "256MB"}

    def initdb(self, *options):
        secret = self.home / "password"
        secret.write_text(self.password)
        super().initdb("--auth-host=scram-sha-256", f"--pwfile={secret}", *options)

    def psql(self, *args, **how):
        return super().psql("-p", str(self.port), *args, **how)

    def script(self, path):
        self.psql("-f", path, cwd=ROOT)


def cluster(coordinator, shards):
    """The tables and views of sql/pushdown, on all servers."""
    for shard in shards:
        shard.psql("-c", pushdown.TABLE.replace("answers", "results"))
        shard.script("sql/pushdown/asked.sql")
    servers = ["CREATE EXTENSION postgres_fdw;"]
    for shard in shards:
        servers.append(
            f"CREATE SERVER {shard.name} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '{shard.port}',"
            " dbname 'postgres', async_capable 'true', batch_size '5000');"
            f"CREATE USER MAPPING FOR CURRENT_USER SERVER {shard.name}"
            f" OPTIONS (user 'postgres', password '{shard.password}');")
    coordinator.psql("-c", "".join(servers))
    coordinator.script("sql/pushdown/cluster.sql")


def fetched(plan):
    """(rows, remote SQL) for each scan of another server in a plan, as it ran."""
    scans = re.split(r"Foreign Scan", plan)[1:]
    return [(int(re.search(r"actual .*?rows=(\d+)", scan).group(1)), re.search(r"Remote SQL: (.*)", scan).group(1))
            for scan in scans]


def check_plans(coordinator):
    for view in VIEWS.values():
        plan = coordinator.psql("-A", "-t", "-c", f"EXPLAIN (ANALYZE, VERBOSE) TABLE {view}")
        scans = fetched(plan)
        rows = sum(count for count, _ in scans)
        print(f"  {view}: {rows} rows fetched from {len(scans)} servers; {scans[0][1]}", flush=True)
        check(f"{view}: every server counts", len(scans) == SHARDS, plan)
        check(f"{view}: at the same time", plan.count("Async Foreign Scan") == SHARDS, plan)
        check(f"{view}: counts travel, not answers", rows <= 50000, plan)
        check(f"{view}: the grouping is in the remote SQL", all("GROUP BY" in sql for _, sql in scans), plan)


def check_partitions(coordinator, shards):
    """Questions of a user's own, over the partitioned table."""
    def explain(query):
        return coordinator.psql("-A", "-t", "-c", "EXPLAIN (VERBOSE) " + query)
    one = explain("SELECT * FROM results WHERE task = 'task 1' AND item = 2501")
    check("a question is looked for on one server", one.count("Remote SQL") == 1, one)
    grouped = explain("SELECT model, task, item, count(*) FROM results GROUP BY model, task, item")
    check("a grouping by question is sent to each", grouped.count("GROUP BY") == SHARDS, grouped)
    joined = explain("SELECT a.item FROM results AS a JOIN results AS b USING (task, item)"
                     " WHERE a.model = 'a-small' AND b.model = '1.10'")
    check("a pairing of models is sent to each", len(re.findall("Remote SQL.*INNER JOIN", joined)) == SHARDS, joined)
    parts = [int(shard.psql("-A", "-t", "-c", "SELECT count(*) FROM results")) for shard in shards]
    print(f"  rows: {', '.join(f'{part:,}' for part in parts)}", flush=True)
    check("the servers share the rows evenly", min(parts) > 0.95 * max(parts), str(parts))
    return sum(parts)


def count(coordinator, view):
    return coordinator.psql("--csv", "-c", f"TABLE {view}")


def ended(coordinator, shard, seconds):
    """The error and the output of counting pairs if a server stops while it counts."""
    timer = threading.Timer(seconds, lambda: shard.admin("pg_ctl", "-m", "immediate", "stop"))
    timer.start()
    try:
        return count(coordinator, "pair_counts"), "nothing"
    except RuntimeError as error:
        return "", str(error)
    except BaseException:
        timer.cancel()
        raise
    finally:
        timer.join()


def check_loss(coordinator, shards, whole, seconds):
    given, said = ended(coordinator, shards[1], seconds / 3)
    check("a server that ends while it counts is an error", "closed the connection" in said or "terminat" in said, said)
    check("and gives no counts", given == "", given)
    for view in VIEWS.values():
        try:
            given, said = count(coordinator, view), "nothing"
        except RuntimeError as error:
            given, said = "", str(error)
        check(f"{view}: a server that is down is an error", "could not connect" in said, said)
        check(f"{view}: and gives no counts", given == "", given)
    shards[1].start()
    check("the server is back, and the counts are", sorted(count(coordinator, "pair_counts").split("\n")) == whole)


def rows_database(extension, path, text):
    rows = connect(path, extension)
    rows.executescript((ROOT / "sql/schema.sql").read_text() + "PRAGMA journal_mode = off;"
                       + text.replace("answers", "results") + ORACLE)
    return rows


# What makes a part of the rows of rows.sql graded, as run.SCORED does.
GRADED = """DELETE FROM results WHERE item % 50 > 1;
            UPDATE results SET correct = NULL, score = 1 + 9 * score, score_lo = 1, score_hi = 10 WHERE task LIKE 'task %1';
            UPDATE results SET correct = NULL, score = 0.7 * score WHERE task LIKE 'task %2';"""


def compare_graded(extension, scratch, coordinator, shards, rows):
    for shard in shards:
        shard.psql("-c", GRADED + "ANALYZE results")
    rows.executescript(GRADED)
    counts = {name: count(coordinator, view) for name, view in VIEWS.items()}
    got, wanted = answers_of(finish(extension, counts, scratch / "graded"), 1, True), answers_of(rows, 0, True)
    methods = {row[wanted[view][0].index("method")] for view in ("leaderboard", "compare") for row in wanted[view][1]}
    check("graded and asked again", {"mean of questions", "paired means"} <= methods, str(methods))
    for what in wanted:
        difference = differences(wanted[what], got[what])
        check(f"the cluster, graded, {what}", not difference, difference)


def check_kinds(extension, scratch, coordinator, shards):
    """A task that is graded on one server and not on the others."""
    shards[0].psql("-c", "UPDATE results SET correct = NULL WHERE task = 'task 3'")
    try:
        finish(extension, {"tasks": count(coordinator, "task_counts")}, scratch / "kinds")
        said = "nothing"
    except RuntimeError as error:
        said = str(error)
    check("what is said of a task that is graded on one server", "a task must be graded on all servers or on none" in said, said)


def compare(extension, scratch, tasks, coordinator, shards):
    text = rows_sql(tasks)
    cluster(coordinator, shards)
    _, seconds = timed(lambda: coordinator.psql("-f", "-", input=text.replace("answers", "results")))
    print(f"inserted through the partitioned table in {seconds:.0f} s", flush=True)
    for server in shards:
        server.psql("-c", "VACUUM ANALYZE results")
    total = check_partitions(coordinator, shards)
    counts, spent = {}, {}
    for name, view in VIEWS.items():
        counts[name], spent[name] = timed(count, coordinator, view)
    check_plans(coordinator)
    check_loss(coordinator, shards, sorted(counts["pairs"].split("\n")), spent["pairs"])
    got, finishing = timed(lambda: answers_of(finish(extension, counts, scratch / "counts"), 1))
    rows = rows_database(extension, str(scratch / "rows.db"), text)
    wanted, over_rows = timed(answers_of, rows, 0)
    print(f"{total:,} rows: {', '.join(f'{name} {seconds:.1f}' for name, seconds in spent.items())}, finish {finishing:.1f} s; {sum(map(len, counts.values())):,} bytes"
          f" of counts; {over_rows:.1f} s over the rows in SQLite", flush=True)
    check("as many rows here", rows.execute("SELECT count(*) FROM results").fetchone() == (total,))
    check("six models and ten pairs", (len(wanted["leaderboard"][1]), len(wanted["compare"][1])) == (6, 10))
    for what in wanted:
        difference = differences(wanted[what], got[what])
        check(f"the cluster, {what}", not difference, difference)
    compare_graded(extension, scratch, coordinator, shards, rows)
    check_kinds(extension, scratch, coordinator, shards)


def main(extension, tasks="700"):
    extension = os.path.abspath(extension).rsplit(".", 1)[0]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as made, contextlib.ExitStack() as stack:
        scratch = pathlib.Path(made)
        scratch.chmod(0o711)
        servers = [stack.enter_context(Server(scratch, name))
                   for name in ("coordinator", *(f"shard_{i + 1}" for i in range(SHARDS)))]
        compare(extension, scratch, int(tasks), servers[0], servers[1:])
    print(f"{pushdown.passed} passed, {pushdown.failed} failed")
    sys.exit(pushdown.failed > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
