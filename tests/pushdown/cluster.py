#!/usr/bin/python3
"""Counts on three PostgreSQL servers at once, added up by a fourth and finished in
SQLite, must equal evalci over the same rows to the digit: make test-cluster, or
cluster.py EXTENSION [HUNDREDS], for rows.sql with as many hundreds of tasks, of
1.5 million rows each.

Each server is a PostgreSQL cluster of its own and listens on loopback.  The rows are
inserted into the partitioned table of sql/pushdown/cluster.sql, which sends each to
the server of its question.  That only counts travel is read from the plans as they
ran; that a server's end is an error, from ending one while it counts.
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
from run import HERE, ROOT, Postgres, answers_of, check, connect, differences, finish, timed

SHARDS = 3
VIEWS = {"models": "model_counts", "tasks": "task_counts", "items": "item_counts", "pairs": "pair_counts",
         "scores": "score_counts", "diffs": "diff_counts"}
# Those that group once.
SENT = ("models", "tasks", "scores")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server(Postgres):
    """One that others reach by TCP, with a password, on loopback alone."""

    def __init__(self, scratch, name):
        (scratch / name).mkdir(mode=0o711)
        super().__init__(scratch / name)
        self.name, self.port, self.password = name, free_port(), secrets.token_hex(16)

    def settings(self):
        return {**super().settings(), "listen_addresses": "127.0.0.1", "port": self.port,
                # In a quarter of the memory of the one server of run.py, and no more.
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
        shard.script("sql/pushdown/servers.sql")
    servers = ["CREATE EXTENSION postgres_fdw;"]
    for shard in shards:
        servers.append(
            f"CREATE SERVER {shard.name} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '{shard.port}',"
            " dbname 'postgres', async_capable 'true', batch_size '5000');"
            f"CREATE USER MAPPING FOR CURRENT_USER SERVER {shard.name}"
            f" OPTIONS (user 'postgres', password '{shard.password}');")
    coordinator.psql("-c", "".join(servers))
    coordinator.script("sql/pushdown/cluster.sql")


def rows_sql(hundreds):
    """rows.sql with so many hundreds of tasks, in place of its two."""
    text = (HERE / "rows.sql").read_text()
    if text.count("c.x < 2\n") != 1:
        raise LookupError("rows.sql does not choose its tasks by c.x < 2")
    return text.replace("c.x < 2\n", f"c.x < {hundreds}\n")


def fetched(plan):
    """Of a plan as it ran: (rows, remote SQL) of each scan of another server."""
    scans = re.split(r"Foreign Scan", plan)[1:]
    return [(int(re.search(r"actual .*?rows=(\d+)", scan).group(1)), re.search(r"Remote SQL: (.*)", scan).group(1))
            for scan in scans]


def check_plans(coordinator, shards):
    for query, view in VIEWS.items():
        plan = coordinator.psql("-A", "-t", "-c", f"EXPLAIN (ANALYZE, VERBOSE) TABLE {view}")
        scans = fetched(plan)
        rows = sum(count for count, _ in scans)
        print(f"  {view}: {rows} rows fetched from {len(scans)} servers; {scans[0][1]}", flush=True)
        check(f"{view}: every server counts", len(scans) == SHARDS, plan)
        check(f"{view}: at the same time", plan.count("Async Foreign Scan") == SHARDS, plan)
        check(f"{view}: counts travel, not answers", rows <= 50000, plan)
        if query in SENT:
            check(f"{view}: the grouping is in the remote SQL", all("GROUP BY" in sql for _, sql in scans), plan)
        else:
            check(f"{view}: the remote SQL reads the server's counts",
                  all(f"FROM public.{view}" in sql for _, sql in scans), plan)
            there = shards[0].psql("-A", "-t", "-c", "EXPLAIN " + scans[0][1])
            check(f"{view}: which it groups", "Aggregate" in there or "Group" in there, there)


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
    """What counting pairs says and gives when the server ends after it began."""
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
                       + text.replace("answers", "results") + (ROOT / "sql/views.sql").read_text())
    return rows


def compare(extension, scratch, hundreds, coordinator, shards):
    text = rows_sql(hundreds)
    cluster(coordinator, shards)
    _, seconds = timed(lambda: coordinator.psql("-f", "-", input=text.replace("answers", "results")))
    print(f"inserted through the partitioned table in {seconds:.0f} s", flush=True)
    for server in shards:
        server.psql("-c", "VACUUM ANALYZE results")
    total = check_partitions(coordinator, shards)
    counts, spent = {}, {}
    for name, view in VIEWS.items():
        counts[name], spent[name] = timed(count, coordinator, view)
    check_plans(coordinator, shards)
    check_loss(coordinator, shards, sorted(counts["pairs"].split("\n")), spent["pairs"])
    got, finishing = timed(lambda: answers_of(finish(extension, counts, scratch / "counts"), 1))
    rows = rows_database(extension, str(scratch / "rows.db"), text)
    wanted, over_rows = timed(answers_of, rows, 0)
    print(f"{total:,} rows: {', '.join(f'{name} {seconds:.1f}' for name, seconds in spent.items())}, finish {finishing:.1f} s; {sum(map(len, counts.values())):,} bytes"
          f" of counts; {over_rows:.1f} s over the rows in SQLite", flush=True)
    check("as many rows here", rows.execute("SELECT count(*) FROM results").fetchone() == (total,))
    check("six models and ten pairs", (len(wanted["leaderboard"][1]), len(wanted["compare"][1])) == (6, 10))
    for what in wanted:
        if what == "compare":
            continue  # over rows that asks every attempt, over counts the first
        difference = differences(wanted[what], got[what])
        check(f"the cluster, {what}", not difference, difference)


def main(extension, hundreds="7"):
    extension = os.path.abspath(extension).rsplit(".", 1)[0]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as made, contextlib.ExitStack() as stack:
        scratch = pathlib.Path(made)
        scratch.chmod(0o711)
        servers = [stack.enter_context(Server(scratch, name))
                   for name in ("coordinator", *(f"shard_{i + 1}" for i in range(SHARDS)))]
        compare(extension, scratch, int(hundreds), servers[0], servers[1:])
    print(f"{pushdown.passed} passed, {pushdown.failed} failed")
    sys.exit(pushdown.failed > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
