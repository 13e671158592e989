#!/usr/bin/python3
"""Speed as ratios to peers measured in the same run: make bench.

Every pair is timed alternately, several rounds, and the ratio is of the two
best times; the spread is the range of the rounds' own ratios.
"""
import sqlite3
import sys
import time

try:
    import numpy as np
    from scipy import stats

    import samplers
    sqlite3.Connection.enable_load_extension
except (ImportError, AttributeError) as e:
    sys.exit(f"bench.py: {e}; it needs Debian's /usr/bin/python3 and python3-scipy (make bench installs them)")

ROWS = 10_000_000
CLUSTERS = 100_000
ROUNDS = 5


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compare(name, ours, peer_name, peer, ours_calls=1, peer_calls=1):
    """Prints ours against the peer, per call."""
    print(f"\r{name} ...", end="", file=sys.stderr, flush=True)
    times = [(seconds(ours) / ours_calls, seconds(peer) / peer_calls) for _ in range(ROUNDS)]
    best, best_peer = min(t[0] for t in times), min(t[1] for t in times)
    rounds = sorted(a / b for a, b in times)
    print("\r" + " " * 70 + "\r", end="", file=sys.stderr)
    print(f"| {name} | {peer_name} | {best * 1e6:,.1f} | {best_peer * 1e6:,.1f} | {best / best_peer:.4f} "
          f"| {rounds[0]:.4f}..{rounds[-1]:.4f} |")


def fill(query):
    """Results of a model, results in clusters, counts, and a matrix of 20 models."""
    print(f"filling tables of {ROWS:,} rows ...", end="", file=sys.stderr, flush=True)
    query("CREATE TABLE t(model TEXT, correct INTEGER)")
    query(f"""WITH r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < {ROWS})
              INSERT INTO t SELECT 'model', i % 3 > 0 FROM r""")
    query("CREATE TABLE clusters(cluster INTEGER, y INTEGER)")
    query(f"""INSERT INTO clusters SELECT rowid * 7919 % {CLUSTERS}, (rowid * 31 % 97) % 3 > 0 FROM t""")
    query("CREATE TABLE counts(k, n)")
    query("""WITH r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i < 19999)
             INSERT INTO counts SELECT i * 7919 % (n + 1), n
             FROM (SELECT i, (10 + i % 200) AS n FROM r)""")
    query("CREATE TABLE results(model INTEGER, question INTEGER, correct INTEGER, PRIMARY KEY(question, model))")
    rng = np.random.default_rng(1)
    ability, hardness = rng.normal(0.5, 0.5, 20), rng.normal(0, 1, 1000)
    right = ability[:, None] - hardness + rng.normal(0, 1, (20, 1000)) > 0
    query.many("INSERT INTO results VALUES (?, ?, ?)",
               ((m, q, int(right[m, q])) for m in range(20) for q in range(1000)))


def rows(query):
    for call in ("bayes_ci(correct)", "wilson_ci(correct)", "bayes_ci(correct, 0.9)"):
        compare(f"`{call}` over {ROWS:,} rows", lambda: query(f"SELECT {call} FROM t"),
                "`sum(correct)`", lambda: query("SELECT sum(correct) FROM t"))
    compare(f"`clustered_ci(y, cluster)`, {ROWS:,} rows in {CLUSTERS:,} clusters",
            lambda: query("SELECT clustered_ci(y, cluster) FROM clusters"),
            "`GROUP BY cluster`, sum and count",
            lambda: query("SELECT count(*) FROM (SELECT cluster, sum(y), count(*) FROM clusters GROUP BY cluster)"))


def intervals(query):
    pairs = query("SELECT k, n FROM counts LIMIT 200")
    for call, peer_name, peer in (
        ("bayes_ci_counts(k, n)", "scipy `beta(...).interval(0.95)`", lambda k, n: stats.beta(k + 1, n - k + 1).interval(0.95)),
        ("cp_ci_counts(k, n)", "scipy `binomtest` exact", lambda k, n: stats.binomtest(k, n).proportion_ci(0.95)),
        ("wilson_ci_counts(k, n)", "scipy `binomtest` Wilson", lambda k, n: stats.binomtest(k, n).proportion_ci(0.95, "wilson")),
    ):
        compare(f"`{call}`", lambda: query(f"SELECT max({call}) FROM counts"),
                peer_name, lambda: [peer(k, n) for k, n in pairs], 20000, len(pairs))


def models(query):
    """Against the paper's importance samplers, one data set a call."""
    rng = np.random.default_rng(2)
    for tasks, size in ((15, 4), (60, 5), (1000, 20)):
        theta = rng.beta(2, 1, tasks)
        k, n = rng.binomial(size, theta), np.full(tasks, size)
        query("CREATE TABLE IF NOT EXISTS tasks(k, n)")
        query("DELETE FROM tasks")
        query.many("INSERT INTO tasks VALUES (?, ?)", zip(map(int, k), map(int, n)))
        compare(f"`clustered_ci_counts(k, n)`, {tasks} x {size}",
                lambda: query("SELECT clustered_ci_counts(k, n) FROM tasks"),
                "importance sampler", lambda: samplers.clustered(rng, k, n))
    for cells in ((11, 4, 2, 3), (12, 6, 0, 2), (2500, 1000, 900, 600)):
        compare(f"`paired_diff_ci_counts{cells}`, N = {sum(cells)}",
                lambda: query(f"SELECT paired_diff_ci_counts{cells}"),
                "importance sampler", lambda: samplers.paired(rng, cells))


def matrix(query):
    seconds_taken = min(seconds(lambda: query("""
        SELECT a.model, b.model, paired_diff_ci(a.correct, b.correct)
        FROM results AS a JOIN results AS b USING (question)
        WHERE a.model < b.model GROUP BY a.model, b.model""")) for _ in range(3))
    print(f"\n190 pairs of 20 models over 1,000 questions, self-join included: {seconds_taken:.2f} s")


class Query:
    def __init__(self, extension):
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        self.db.load_extension(extension.rsplit(".", 1)[0])

    def __call__(self, sql):
        return self.db.execute(sql).fetchall()

    def many(self, sql, values):
        self.db.executemany(sql, values)


def main(extension):
    query = Query(extension)
    fill(query)
    print("| ours | peer | ours, µs | peer, µs | ratio | spread |")
    print("|---|---|---:|---:|---:|---|")
    rows(query)
    intervals(query)
    models(query)
    matrix(query)


if __name__ == "__main__":
    main(sys.argv[1])
