#!/usr/bin/python3
"""Speed as ratios to peers measured in the same run: make bench.

Every pair is timed alternately, several rounds, and the ratio is of the two
best times; the spread is the range of the rounds' own ratios.
"""
import sqlite3
import sys
import time

try:
    from scipy import stats
    sqlite3.Connection.enable_load_extension
except (ImportError, AttributeError) as e:
    sys.exit(f"bench.py: {e}; it needs Debian's /usr/bin/python3 and python3-scipy (make bench installs them)")

ROWS = 10_000_000
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


def main(extension):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(extension.rsplit(".", 1)[0])
    query = lambda sql: db.execute(sql).fetchall()
    print(f"filling a table of {ROWS:,} rows ...", end="", file=sys.stderr, flush=True)
    query("CREATE TABLE t(model TEXT, correct INTEGER)")
    query(f"""WITH r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < {ROWS})
              INSERT INTO t SELECT 'model', i % 3 > 0 FROM r""")
    query("CREATE TABLE counts(k, n)")
    query("""WITH r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i < 19999)
             INSERT INTO counts SELECT i * 7919 % (n + 1), n
             FROM (SELECT i, (10 + i % 200) AS n FROM r)""")

    print("| ours | peer | ours, µs | peer, µs | ratio | spread |")
    print("|---|---|---:|---:|---:|---|")
    scan = f"over {ROWS:,} rows"
    for call in ("bayes_ci(correct)", "wilson_ci(correct)", "bayes_ci(correct, 0.9)"):
        compare(f"`{call}` {scan}", lambda: query(f"SELECT {call} FROM t"),
                "`sum(correct)`", lambda: query("SELECT sum(correct) FROM t"))
    intervals = [
        ("bayes_ci_counts(k, n)", "scipy `beta(...).interval(0.95)`", lambda k, n: stats.beta(k + 1, n - k + 1).interval(0.95)),
        ("cp_ci_counts(k, n)", "scipy `binomtest` exact", lambda k, n: stats.binomtest(k, n).proportion_ci(0.95)),
        ("wilson_ci_counts(k, n)", "scipy `binomtest` Wilson", lambda k, n: stats.binomtest(k, n).proportion_ci(0.95, "wilson")),
    ]
    pairs = query("SELECT k, n FROM counts LIMIT 200")
    for call, peer_name, peer in intervals:
        compare(f"`{call}`", lambda: query(f"SELECT max({call}) FROM counts"),
                peer_name, lambda: [peer(k, n) for k, n in pairs], 20000, len(pairs))


if __name__ == "__main__":
    main(sys.argv[1])
