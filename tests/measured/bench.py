#!/usr/bin/python3
"""Measures speed as ratios to peers in the same run: make bench, or bench.py EXTENSION DUCKDB [SMALLER], where SMALLER
divides the sizes of the tables.

Every pair is timed alternately, in several rounds; the ratio compares the two best
times, and the spread is the range of the rounds' ratios.  The page is printed as it
grows, and written to benchmark.md beside this file, with growth.svg; with SMALLER,
to build.
"""
import csv
import pathlib
import platform
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import pandas
    import scipy
    from scipy import integrate, optimize, stats
    from statsmodels.stats import proportion

    import boards
    import growth
    import peers
    import samplers
    sqlite3.Connection.enable_load_extension
except (ImportError, AttributeError) as e:
    sys.exit(f"bench.py: {e}; it needs Debian's /usr/bin/python3 with scipy, statsmodels and pandas (make bench installs them)")

HERE = pathlib.Path(__file__).resolve().parent
SIZES = (100_000, 1_000_000, 10_000_000)
CLUSTERS = 100_000
ROUNDS = 5
REFERENCE_LEVEL = "0.95"
INTRO = """\
# How fast is it?

`make bench` writes this page. It times each function and its peer alternately in the same run. A ratio compares the best
times, and its spread is the range over the rounds; 1/140 means 140 times as fast.
"""
# The bars for the ratios to the paper's sampler.
AIMS = {"`clustered_ci_counts`, 15 of 4": 1 / 100, "`clustered_ci_counts`, 1,000 of 20": 1 / 1000,
        "N = 20": 1 / 20, "N = 5,000": 1 / 40}
lines = []


def progress(what):
    print(f"\r{what} ...".ljust(100) + "\r", end="", file=sys.stderr, flush=True)


def say(line=""):
    progress("")
    print(line, flush=True)
    lines.append(line)


def table(title, *columns):
    say()
    say(f"**{title}**")
    say()
    say("| " + " | ".join(columns) + " |")
    say("|" + "---|" * len(columns))


def seconds(run, clock=time.perf_counter):
    start = clock()
    run()
    return clock() - start


def timed(name, ours, peer, ours_calls=1, peer_calls=1, forget=lambda: None, clock=time.perf_counter):
    """The cells of a row: microseconds per call of ours and of the peer, their ratio and its spread; and the seconds of each round."""
    progress(name)
    times = []
    for _ in range(ROUNDS):
        forget()
        times.append((seconds(ours, clock) / ours_calls, seconds(peer, clock) / peer_calls))
    best, best_peer = min(t[0] for t in times), min(t[1] for t in times)
    rounds = sorted(a / b for a, b in times)
    spread = f"{ratio(rounds[0])} to {ratio(rounds[-1])}"
    return (f"{best * 1e6:,.1f}", f"{best_peer * 1e6:,.1f}", ratio(best / best_peer), spread), times


def measure(*measured, **settings):
    """As timed(), with the ratio of the best times in place of the seconds."""
    shown, times = timed(*measured, **settings)
    return shown, min(t[0] for t in times) / min(t[1] for t in times)


def ratio(r):
    """A ratio as text: 0.93, or 1/140 if it is small."""
    return f"{r:.2f}" if r > 0.5 else f"1/{1 / r:.1f}" if r > 0.05 else f"1/{1 / r:,.0f}"


def compare(name, peer_name, *measured):
    say("| " + " | ".join((name, peer_name, *measure(name, *measured)[0])) + " |")


COLUMNS = "ours", "peer", "ours, µs", "peer, µs", "ratio", "spread"


def fill(query):
    """Results of a model in three sizes, results in clusters, counts, a matrix of 20 models."""
    for size in SIZES:
        progress(f"filling a table of {size:,} rows")
        query(f"CREATE TABLE t{size}(model TEXT, correct INTEGER)")
        query(f"""WITH r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < {size})
                  INSERT INTO t{size} SELECT 'model ' || (i % 10), (i * 31 % 97) % 3 > 0 FROM r""")
    progress("filling a table of clusters")
    query("CREATE TABLE clusters(cluster INTEGER, y INTEGER)")
    query(f"INSERT INTO clusters SELECT rowid * 7919 % {CLUSTERS}, correct FROM t{SIZES[-1]}")
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
    table("Rows: against SQLite's own aggregates over the same table", *COLUMNS)
    for size in SIZES:
        for call in ("bayes_ci(correct)", "bayes_ci(correct, 0.9)", "paired_diff_ci(correct, correct)"):
            compare(f"`{call}`, {size:,} rows", "`sum(correct)`", lambda: query(f"SELECT {call} FROM t{size}"),
                    lambda: query(f"SELECT sum(correct) FROM t{size}"))
        compare(f"`paired_diff_ci(correct, correct)`, {size:,} rows", "`sum(correct), total(correct)`, two aggregates for its two arguments",
                lambda: query(f"SELECT paired_diff_ci(correct, correct) FROM t{size}"),
                lambda: query(f"SELECT sum(correct), total(correct) FROM t{size}"))
    compare(f"`clustered_ci(y, cluster)`, {SIZES[-1]:,} rows in {CLUSTERS:,} clusters", "`GROUP BY cluster`, sum and count",
            lambda: query("SELECT clustered_ci(y, cluster) FROM clusters"),
            lambda: query("SELECT count(*) FROM (SELECT cluster, sum(y), count(*) FROM clusters GROUP BY cluster)"))


def bootstrap(rng, scores):
    """The percentile interval of the mean, by 10,000 resamples."""
    return np.percentile(rng.choice(scores, (10_000, len(scores))).mean(axis=1), [2.5, 97.5])


# On an idle machine the processor time of one thread is the time that passes; on a busy one it still can be compared with an aim.
PROCESSOR = time.process_time

# The aims: 3 times avg(), 1/100 of the bootstrap, or a number of seconds.
DISTINCT_SECONDS, EACH_SECONDS = 1, 3


def met(ok):
    return "met" if ok else "missed"


def scores(query):
    """Graded scores, and attempts, with their aims."""
    table("Graded scores and attempts", *COLUMNS, "aim")
    size, few, many = SIZES[-1], 101, SIZES[1]

    def line(name, peer_name, aim, *measured):
        shown, exactly = measure(name, *measured)
        say("| " + " | ".join((name, peer_name, *shown, f"{ratio(aim)}, {met(exactly <= aim)}")) + " |")

    progress("filling tables of scores")
    query(f"CREATE TABLE few AS SELECT (rowid * 7919 % {few}) / {few - 1.0} AS score FROM t{size}")
    query(f"CREATE TABLE many AS SELECT (rowid * 7919 % 1000003) / 1000003.0 AS score FROM t{many}")
    line(f"`mean_ci(score)`, {size:,} rows, {few} different scores", "`avg(score)`", 3,
         lambda: query("SELECT mean_ci(score) FROM few"), lambda: query("SELECT avg(score) FROM few"))
    rng = np.random.default_rng(3)
    twenty = rng.random(20)
    query("CREATE TABLE twenty(score)")
    query.many("INSERT INTO twenty VALUES (?)", ((float(x),) for x in twenty))
    calls = 200
    line("`mean_ci(score)`, 20 different scores", "numpy, 10,000 bootstrap resamples", 1 / 100,
         lambda: [query("SELECT mean_ci(score) FROM twenty") for _ in range(calls)], lambda: bootstrap(rng, twenty), calls)
    query("CREATE TABLE twenty_more AS SELECT score AS a, 1 - score / 2 AS b FROM twenty")
    for call in ("mean_diff_ci(a, b)", "mean_prob_better(a, b)", "paired_mean_diff_ci(a, b)"):
        best = min(seconds(lambda: query(f"SELECT {call} FROM twenty_more")) for _ in range(ROUNDS))
        say(f"| `{call}`, 20 different scores each | | {best * 1e6:,.1f} | | | | |")
    # mean_clt_ci reads the rows into the same state, so the time beyond its own is that of the model.
    name = f"`mean_ci(score)`, {many:,} different scores, after the rows are in"
    progress(name)
    whole = min(seconds(lambda: query("SELECT mean_ci(score) FROM many")) for _ in range(ROUNDS))
    state = min(seconds(lambda: query("SELECT mean_clt_ci(score) FROM many")) for _ in range(ROUNDS))
    say(f"| {name} | | {(whole - state) * 1e6:,.1f} | | | | {DISTINCT_SECONDS} s, {met(whole - state < DISTINCT_SECONDS)} |")
    name = f"`clustered_each(y, cluster)`, {SIZES[-1]:,} rows in {CLUSTERS:,} clusters, beyond `clustered_clt_ci`"
    progress(name)
    whole = min(seconds(lambda: query("SELECT clustered_each(y, cluster) FROM clusters")) for _ in range(3))
    state = min(seconds(lambda: query("SELECT clustered_clt_ci(y, cluster) FROM clusters")) for _ in range(3))
    say(f"| {name} | | {(whole - state) * 1e6:,.1f} | | | | {EACH_SECONDS} s, {met(whole - state < EACH_SECONDS)} |")


def bootstraps(query, program):
    """Graded scores against the bootstrap, of numpy and of R's boot, with 10,000 resamples."""
    table("Graded scores: against the bootstrap with 10,000 resamples", *COLUMNS)
    rng = np.random.default_rng(4)
    program("library(boot); average <- function(x, i) mean(x[i])")
    for size in (20, 200, 2000):
        scores = np.round(rng.random(size), 3)
        query(f"CREATE TABLE scores{size}(a, b)")
        query.many(f"INSERT INTO scores{size} VALUES (?, ?)", zip(map(float, scores), map(float, scores[::-1])))
        program(f"x <- c({', '.join(map(str, scores))})")
        calls = 50
        ours = lambda call: lambda: [query(f"SELECT {call} FROM scores{size}") for _ in range(calls)]
        compare(f"`mean_ci(a)`, {size:,} scores", "numpy", ours("mean_ci(a)"), lambda: bootstrap(rng, scores), calls)
        compare(f"`paired_mean_diff_ci(a, b)`, {size:,} scores", "numpy", ours("paired_mean_diff_ci(a, b)"),
                lambda: bootstrap(rng, scores - scores[::-1]), calls)
        compare(f"`mean_ci(a)`, {size:,} scores", "R, `boot::boot` and `boot.ci`", ours("mean_ci(a)"),
                lambda: program("invisible(boot.ci(boot(x, average, 10000), type = 'perc'))"), calls)


# What R computes of counts, in its own stats and in packages; Debian has epitools, CRAN the others.
R_INTERVALS = (
    ("bayes_ci_counts(k, n)", "stats", "qbeta(c(0.025, 0.975), k[i] + 1, n[i] - k[i] + 1)"),
    ("bayes_ci_counts(k, n)", "binom", "binom.bayes(k[i], n[i], prior.shape1 = 1, prior.shape2 = 1, type = 'central')"),
    ("bayes_ci_counts(k, n, 0.95, 0.5, 0.5)", "DescTools", "BinomCI(k[i], n[i], method = 'jeffreys')"),
    ("hdi_ci_counts(k, n)", "binom", "binom.bayes(k[i], n[i], prior.shape1 = 1, prior.shape2 = 1)"),
    ("cp_ci_counts(k, n)", "stats", "binom.test(k[i], n[i])"),
    ("cp_ci_counts(k, n)", "epitools", "binom.exact(k[i], n[i])"),
    ("cp_ci_counts(k, n)", "binom", "binom.confint(k[i], n[i], methods = 'exact')"),
    ("cp_ci_counts(k, n)", "DescTools", "BinomCI(k[i], n[i], method = 'clopper-pearson')"),
    ("wilson_ci_counts(k, n)", "stats", "prop.test(k[i], n[i], correct = FALSE)"),
    ("wilson_ci_counts(k, n)", "epitools", "binom.wilson(k[i], n[i])"),
    ("wilson_ci_counts(k, n)", "binom", "binom.wilson(k[i], n[i])"),
    ("wilson_ci_counts(k, n)", "DescTools", "BinomCI(k[i], n[i])"),
    ("diff_clt_ci_counts(k, n, 20, 30)", "stats", "prop.test(c(k[i], 20), c(n[i], 30), correct = FALSE)"),
    ("diff_clt_ci_counts(k, n, 20, 30)", "DescTools", "BinomDiffCI(k[i], n[i], 20, 30, method = 'wald')"),
    ("fisher_or_ci_counts(k, n, 20, 30)", "stats", "fisher.test(matrix(c(k[i], n[i] - k[i], 20, 10), 2))"),
)


def in_r(query, program):
    """R's functions, which compute one interval at a time."""
    (r,) = program("writeLines(as.character(getRversion()))")
    versions, missing = {"stats": r}, []
    for package in ("epitools", "binom", "DescTools"):
        found = program(f"if (requireNamespace('{package}', quietly = TRUE)) writeLines(as.character(packageVersion('{package}')))")
        if found:
            (versions[package],) = found
        else:
            missing.append(package)
    title = ", ".join(f"{package} {version}" for package, version in versions.items() if package != "stats")
    table(f"One interval from counts: against R {r} and its {title}" + (f" (not installed: {', '.join(missing)})" if missing else ""), *COLUMNS)
    pairs = [(int(k), int(n)) for k, n in query("SELECT k, n FROM counts LIMIT 40")]
    program(f"k <- c({', '.join(str(k) for k, _ in pairs)}); n <- c({', '.join(str(n) for _, n in pairs)})")
    for call, package, peer in R_INTERVALS:
        if package in versions:
            peer = f"{package}::{peer}"
            compare(f"`{call}`", f"`{peer}`", lambda: query(f"SELECT max({call}) FROM counts"),
                    lambda: program(f"for (i in rep(seq_along(k), 5)) suppressWarnings({peer})"), 20000, 5 * len(pairs))


ERROR_BAR = "avg({0}), 1.96 * stddev_samp({0}) / sqrt(count(*))"


def engines(query, *programs):
    """The same table in other engines, with the error bar that people compute in SQL there."""
    size = SIZES[1]
    query(f"CREATE TABLE bars AS SELECT model, correct, (rowid * 7919 % 101) / 100.0 AS score FROM t{size}")
    (wanted,) = query("SELECT count(*), sum(correct), sum(score) FROM bars")
    for name, program, setting in programs:
        progress(f"filling {name}")
        program(setting)
        program("CREATE TABLE bars AS SELECT 'model ' || (i % 10) AS model, CASE WHEN (i * 31 % 97) % 3 > 0 THEN 1 ELSE 0 END AS correct,"
                f" CAST(i * 7919 % 101 AS DOUBLE PRECISION) / 100 AS score FROM generate_series(1, CAST({size} AS BIGINT)) AS g(i);")
        got = [float(x) for x in program("SELECT count(*), sum(correct), sum(score) FROM bars;")[0].split("|")]
        if not np.allclose(got, wanted, rtol=1e-12):
            raise ValueError(f"{name} has another table: {got} instead of {wanted}")
    table(f"Other engines: against avg ± 1.96 stddev/√n there, over the same {size:,} rows, one thread each", *COLUMNS)
    for call, column, group in (("bayes_ci", "correct", ""), ("bayes_ci", "correct", " GROUP BY model"), ("mean_ci", "score", ""),
                                ("mean_ci", "score", " GROUP BY model")):
        for name, program, _ in programs:
            compare(f"`{call}({column})`{group and ', by' + group[9:]}", name, lambda: query(f"SELECT {call}({column}) FROM bars{group}"),
                    lambda: program(f"SELECT {ERROR_BAR.format(column)} FROM bars{group};"))


def grow(name, sizes, sql, query, rounds=3, prepare=None):
    """[(size, seconds)] of sql(size), up to the first size that takes seconds."""
    points = []
    for size in sizes:
        progress(f"{name}, {size:,}")
        if prepare:
            prepare(size)
        points.append((size, min(seconds(lambda: query(sql(size)), PROCESSOR) for _ in range(rounds))))
        if points[-1][1] > 3:
            break
    return points


def eval_of(query, models):
    """A hundred questions that all the models answered."""
    query("DELETE FROM results")
    rng = np.random.default_rng(5)
    right = rng.normal(0.5, 0.5, models)[:, None] - rng.normal(0, 1, 100) + rng.normal(0, 1, (models, 100)) > 0
    query.many("INSERT INTO results(model, task, item, correct) VALUES (?, 't', ?, ?)",
               ((f"m{m}", q, int(right[m, q])) for m in range(models) for q in range(100)))


def growing(query, extension, smaller):
    decades = [size for size in (10, 100, 1000, 10_000, 100_000, 1_000_000) if size * smaller <= 1_000_000 or size <= 1000]
    over = lambda call, source: lambda size: f"SELECT {call} FROM {source} WHERE rowid <= {size}"
    most = [size for size in (1000, 10_000, 100_000, 1_000_000, 10_000_000) if size <= SIZES[-1]]
    panels = {"Rows": {f"{call}": grow(call, most, over(call, source), query) for call, source in (
        ("bayes_ci(correct)", f"t{SIZES[-1]}"), ("paired_diff_ci(correct, 1 - correct)", f"t{SIZES[-1]}"),
        ("clustered_ci(y, cluster)", "clusters"), ("mean_ci(score)", "few"), ("sum(correct)", f"t{SIZES[-1]}"))}}
    board = Query(extension)
    board.db.executescript((HERE.parent.parent / "sql/schema.sql").read_text())
    models = [size for size in (5, 10, 20, 40, 80) if size * smaller <= 80 or size <= 10]
    panels["Models, of 100 questions each"] = {
        name: grow(name, models, lambda size: f"SELECT * FROM {name}", board, 2, lambda size: eval_of(board, size))
        for name in ("eval_leaderboard", "eval_compare", "eval_tasks")}
    query(f"""CREATE TABLE grown AS
             SELECT i AS id, n, i * 7919 % (n + 1) AS k, 0.5 * (i * 31 % 997) / 997 * n AS total, i / 1000003.0 AS a, (i * 7919 % 1000003) / 1000003.0 AS b
             FROM (SELECT rowid AS i, 5 + rowid * 13 % 90 AS n FROM t{SIZES[-1]} LIMIT 1000000)""")
    panels["Clusters of 5 to 94 questions"] = {
        call: grow(call, decades, over(call, "grown"), query) for call in (
            "clustered_ci_counts(k, n)", "clustered_ci_counts(k, n, 0.95, 'icc')", "clustered_mean_ci_counts(total, n)", "clustered_each_counts(id, k, n)")}
    panels["Different scores"] = {
        call: grow(call, decades, over(call, "grown"), query) for call in (
            "mean_ci(a)", "mean_lmt_ci(a)", "paired_mean_diff_ci(a, b)", "mean_diff_ci(a, b)")}
    table("Growth, in processor time", "over", "what", "from", "to", "times the size", "times the time")
    for title, lines_of in panels.items():
        for name, points in lines_of.items():
            (small, fast), (large, slow) = points[0], points[-1]
            say(f"| {title} | `{name}` | {small:,}: {fast * 1e6:,.1f} µs | {large:,}: {slow * 1e6:,.1f} µs | {large // small:,} | {slow / fast:,.1f} |")
    say()
    say("![How time grows with rows, models, clusters and different scores](growth.svg)")
    return growth.picture(panels)


def hdi(k, n):
    posterior = stats.beta(k + 1, n - k + 1)
    return optimize.minimize_scalar(lambda p: posterior.ppf(p + 0.95) - posterior.ppf(p), bounds=(0, 0.05), method="bounded")


def better(a, n, b, m):
    return integrate.quad(lambda x: stats.beta.pdf(x, a + 1, n - a + 1) * stats.beta.cdf(x, b + 1, m - b + 1), 0, 1)


def f1(tp, fp, fn):
    return 2 / (1 + 1 / stats.beta.ppf([0.025, 0.975], tp + 1, fp + fn + 2))


def intervals(query):
    table("One interval from counts: against scipy and statsmodels", *COLUMNS)
    pairs = [(int(k), int(n)) for k, n in query("SELECT k, n FROM counts LIMIT 40")]
    for call, peer_name, peer in (
        ("bayes_ci_counts(k, n)", "scipy `beta(...).interval(0.95)`", lambda k, n: stats.beta(k + 1, n - k + 1).interval(0.95)),
        ("bayes_ci_counts(k, n, 0.95, 0.5, 0.5)", "statsmodels Jeffreys", lambda k, n: proportion.proportion_confint(k, n, method="jeffreys")),
        ("hdi_ci_counts(k, n)", "scipy `minimize_scalar`", hdi),
        ("wilson_ci_counts(k, n)", "statsmodels Wilson", lambda k, n: proportion.proportion_confint(k, n, method="wilson")),
        ("wilson_ci_counts(k, n)", "scipy `binomtest` Wilson", lambda k, n: stats.binomtest(k, n).proportion_ci(0.95, "wilson")),
        ("cp_ci_counts(k, n)", "statsmodels `beta`", lambda k, n: proportion.proportion_confint(k, n, method="beta")),
        ("cp_ci_counts(k, n)", "scipy `binomtest` exact", lambda k, n: stats.binomtest(k, n).proportion_ci(0.95)),
        ("clt_ci_counts(k, n)", "statsmodels normal", lambda k, n: proportion.proportion_confint(k, n)),
        ("prob_better_counts(k, n, 20, 30)", "scipy `quad`", lambda k, n: better(k, n, 20, 30)),
        ("diff_clt_ci_counts(k, n, 20, 30)", "statsmodels, Wald",
         lambda k, n: proportion.confint_proportions_2indep(k, n, 20, 30, method="wald")),
        ("fisher_or_ci_counts(k, n, 20, 30)", "scipy `odds_ratio`, conditional",
         lambda k, n: stats.contingency.odds_ratio([[k, n - k], [20, 10]]).confidence_interval()),
        ("f1_ci_counts(k, n, 5)", "scipy `beta.ppf`", lambda k, n: f1(k, n, 5)),
    ):
        few = 2000 if "better" in call or "fisher" in call else 20000
        compare(f"`{call}`", peer_name, lambda: query(f"SELECT max({call}) FROM (SELECT * FROM counts LIMIT {few})"),
                lambda: [peer(k, n) for k, n in pairs], few, len(pairs))
    for call in ("diff_ci_counts(k, n, 20, 30)", "odds_ratio_ci_counts(k, n, 20, 30)"):
        best = min(seconds(lambda: query(f"SELECT max({call}) FROM (SELECT * FROM counts LIMIT 500)")) for _ in range(3))
        say(f"| `{call}` | none that does not sample | {best / 500 * 1e6:,.1f} | | | |")


def references(name):
    with open(HERE.parent / "numeric/reference" / name) as file:
        return [r for r in csv.reader(file) if REFERENCE_LEVEL in r]


def errors(ours, sampled, exact):
    """The error of our worse bound, and the root mean square error of the sampler's."""
    ours, exact = np.array(ours), np.array(exact)
    return f"{abs(ours - exact).max():.0e}", f"{np.sqrt(((np.array(sampled) - exact) ** 2).mean(axis=0)).max():.0e}"


def against_sampler(query, name, sql, sampler, exact):
    sampled = []
    # The connection keeps the last posterior of pairs, so another one is computed between calls.
    times, exactly = measure(name, lambda: query(sql), lambda: sampled.append(sampler()[:2]),
                             forget=lambda: query("SELECT paired_diff_ci_counts(1, 0, 0, 0)"))
    aim = next((aim for case, aim in AIMS.items() if name.endswith(case)), None)
    wished = "" if aim is None else f"1/{1 / aim:,.0f}, {'met' if exactly <= aim else 'missed'}"
    lo, hi = map(float, query(sql)[0][0].strip("[]").split(","))
    say("| " + " | ".join((name, *times, wished, *errors([lo, hi], sampled, exact))) + " |")


def models(query):
    """Against the paper's importance samplers, on data whose exact interval is in tests/numeric/reference."""
    table("The paper's models: against its importance sampler with 10,000 points, and both against the exact value",
          "ours", "ours, µs", "sampler, µs", "ratio", "spread", "aim", "our error", "sampler's error")
    rng = np.random.default_rng(2)
    query("CREATE TABLE tasks(k, n)")
    wanted = {(4, 16): "4 of 2 to 5", (15, 60): "15 of 4", (20, 100): "20 of 5", (60, 300): "60 of 5", (1000, 20000): "1,000 of 20"}
    for row in references("clustered.csv"):
        clusters = [(int(k), int(n)) for k, n, times in re.findall(r"(\d+)/(\d+)(?:x(\d+))?", row[-1]) for _ in range(int(times or 1))]
        shape = wanted.pop((len(clusters), sum(n for k, n in clusters)), None) if row[0] == "clustered" else None
        if not shape:
            continue
        query("DELETE FROM tasks")
        query.many("INSERT INTO tasks VALUES (?, ?)", clusters)
        k, n = np.array(clusters).T
        against_sampler(query, f"`clustered_ci_counts`, {shape}", "SELECT clustered_ci_counts(k, n) FROM tasks",
                        lambda: samplers.clustered(rng, k, n), [float(row[2]), float(row[3])])
    known = {tuple(map(int, r[1:5])): r for r in references("paired.csv") if r[0] == "paired_diff"}
    for cells in ((3, 7, 8, 2), (5, 5, 5, 5), (12, 6, 0, 2), (53, 16, 8, 9), (700, 120, 80, 100), (3000, 700, 500, 800)):
        against_sampler(query, f"`paired_diff_ci_counts{cells}`, N = {sum(cells):,}", f"SELECT paired_diff_ci_counts{cells}",
                        lambda: samplers.paired(rng, cells), list(map(float, known[cells][6:8])))


def pandas_route(path):
    """Reads the table, and counts and computes in Python."""
    with sqlite3.connect(path) as db:
        frame = pandas.read_sql("SELECT model, correct FROM t", db)
    counts = frame.groupby("model")["correct"].agg(["sum", "count"])
    k, n = counts["sum"], counts["count"]
    return pandas.DataFrame({"lo": stats.beta.ppf(0.025, k + 1, n - k + 1), "hi": stats.beta.ppf(0.975, k + 1, n - k + 1)})


# Runs one query, or the way by pandas, in a process of its own.
ONE_QUERY = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.enable_load_extension(True)
db.load_extension(sys.argv[2].rsplit(".", 1)[0])
db.execute(sys.argv[3]).fetchall()
print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
"""
READ_OUT = """
import sqlite3, sys
import pandas
frame = pandas.read_sql(sys.argv[3], sqlite3.connect(sys.argv[1]))
print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
"""


def peak_memory(script, *arguments):
    """The most memory of the process, in MiB; getrusage would count this process before the exec."""
    done = subprocess.run([sys.executable, "-c", script, *arguments], check=True, capture_output=True, text=True)
    return int(done.stdout) / 1024


BY_MODEL = "SELECT model, bayes_ci(correct) FROM t GROUP BY model"


def routes(query, extension):
    rows_of = SIZES[1]
    with tempfile.TemporaryDirectory() as scratch:
        path = f"{scratch}/bench.db"
        progress("copying tables to disk")
        query(f"ATTACH '{path}' AS disk")
        query(f"CREATE TABLE disk.t AS SELECT * FROM t{rows_of}")
        query("CREATE TABLE disk.clusters AS SELECT * FROM clusters")
        query("CREATE TABLE disk.many AS SELECT * FROM many")
        query.db.commit()
        query("DETACH disk")
        table(f"Without the extension: a database of {rows_of:,} rows of ten models, read into pandas and computed in scipy", *COLUMNS)
        compare(f"`{BY_MODEL}`", "pandas, scipy", lambda: Query(extension, path)(BY_MODEL), lambda: pandas_route(path))
        table("Memory: the most a process held, beyond what it takes to open the database", "what", "MiB")
        for name, script, sql in (
                (f"`sum(correct)`, {rows_of:,} rows", ONE_QUERY, "SELECT sum(correct) FROM t"),
                (f"`bayes_ci(correct)`, {rows_of:,} rows", ONE_QUERY, "SELECT bayes_ci(correct) FROM t"),
                (f"`clustered_ci(y, cluster)`, {SIZES[-1]:,} rows in {CLUSTERS:,} clusters", ONE_QUERY,
                 "SELECT clustered_ci(y, cluster) FROM clusters"),
                ("`GROUP BY cluster`, sum and count, of the same", ONE_QUERY,
                 "SELECT count(*) FROM (SELECT cluster, sum(y), count(*) FROM clusters GROUP BY cluster)"),
                (f"`mean_ci(score)`, {SIZES[1]:,} different scores", ONE_QUERY, "SELECT mean_ci(score) FROM many"),
                (f"pandas, {rows_of:,} rows read out", READ_OUT, "SELECT model, correct FROM t")):
            progress(name)
            idle = peak_memory(script, path, extension, "SELECT 1")
            say(f"| {name} | {peak_memory(script, path, extension, sql) - idle:.1f} |")


def matrix(query):
    best = min(seconds(lambda: query("""
        SELECT a.model, b.model, paired_diff_ci(a.correct, b.correct)
        FROM results AS a JOIN results AS b USING (question)
        WHERE a.model < b.model GROUP BY a.model, b.model""")) for _ in range(3))
    say()
    say(f"All 190 pairs of 20 models over 1,000 questions, `paired_diff_ci` with the self-join: {best:.2f} s.")


def held(limit, best):
    return f"{limit * 1000:g} ms, {met(best < limit)}" if limit < 0.1 else f"{limit:g} s, {met(best < limit)}"


def on_board(query, shape, asked, remark=""):
    for what, sql, limit in asked:
        name = f"{boards.name_of(shape)}{remark}: {what}"
        shown, times = timed(name, lambda: query(sql), lambda: query(boards.peer(shape)), clock=PROCESSOR)
        say("| " + " | ".join((name, *shown, held(limit, min(t[0] for t in times)))) + " |")


def board(extension, smaller):
    """eval_leaderboard and the other tables, with their aims in seconds, beside the averages that people compute."""
    table("The board, in processor time: against `SELECT model, avg(correct) FROM results GROUP BY model` over the same table",
          "ours", "ours, µs", "peer, µs", "ratio", "spread", "aim")
    for shape, asked in boards.HELD[:-1]:
        query, shape = Query(extension), boards.smaller(shape, smaller)
        boards.fill(query, shape)
        on_board(query, shape, asked)
    shape, asked = boards.HELD[-1]
    shape, memory = boards.smaller(shape, smaller), []
    with tempfile.TemporaryDirectory() as scratch:
        for remark in ("", ", with an index"):
            path = f"{scratch}/{len(remark)}.db"
            query = Query(extension, path)
            progress(f"filling {boards.name_of(shape)}{remark}")
            boards.fill(query, shape, bool(remark))
            query.db.commit()
            on_board(query, shape, asked, remark)
            memory.append((f"{boards.name_of(shape)}{remark}: {asked[0][0]}", path, boards.LEADERBOARD, boards.LARGEST_MIB))
        small, path = boards.HELD[0][0], f"{scratch}/small.db"
        query = Query(extension, path)
        boards.fill(query, small)
        query.db.commit()
        none = f"{boards.LEADERBOARD} LIMIT 0"
        prepared = min(seconds(lambda: [query(none) for _ in range(100)], PROCESSOR) / 100 for _ in range(ROUNDS))
        say(f"| {boards.name_of(small)}: prepared, and ended before the first row | {prepared * 1e6:,.1f} | | | | {held(1e-4, prepared)} |")
        memory.append((f"{boards.name_of(small)}: the leaderboard", path, boards.LEADERBOARD, 1))
        table("Memory of the board: the most a process held, beyond what it takes to open the database", "what", "MiB", "aim")
        for name, path, sql, most in memory:
            took = peak_memory(ONE_QUERY, path, extension, sql) - peak_memory(ONE_QUERY, path, extension, "SELECT 1")
            say(f"| {name} | {took:.1f} | {most} MiB, {met(took < most)} |")


def pages(extension):
    """Datasette's, as it reads them."""
    table("Datasette's pages, ms of processor time", "page", *(boards.name_of(shape) for shape, _ in boards.PAGE_SHAPES))
    taken = {name: [] for name in boards.pages()}
    for shape, limit in boards.PAGE_SHAPES:
        query = Query(extension)
        boards.fill(query, shape)
        for name, sql in boards.pages().items():
            progress(f"Datasette's {name}, {boards.name_of(shape)}")
            best = min(seconds(lambda: query.db.execute(sql).fetchmany(boards.PAGE_ROWS), PROCESSOR) for _ in range(3))
            taken[name].append(f"{best * 1000:.1f}{'' if best < limit else ', missed'}")
    for name, cells in taken.items():
        say(f"| {name} | " + " | ".join(cells) + " |")
    say("| aim | " + " | ".join(f"{limit * 1000:g}" for _, limit in boards.PAGE_SHAPES) + " |")


class Query:
    def __init__(self, extension, path=":memory:"):
        self.db = sqlite3.connect(path, cached_statements=0)
        self.db.enable_load_extension(True)
        self.db.load_extension(extension.rsplit(".", 1)[0])

    def __call__(self, sql):
        return self.db.execute(sql).fetchall()

    def many(self, sql, values):
        self.db.executemany(sql, values)


def processor():
    names = re.findall(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{len(names)} x {names[0]}" if names else platform.processor()


def main(extension, duckdb, smaller="1"):
    global SIZES, CLUSTERS, ROUNDS
    out = HERE
    if int(smaller) > 1:
        SIZES, CLUSTERS, ROUNDS = tuple(size // int(smaller) for size in SIZES), CLUSTERS // int(smaller), 2
        out = HERE.parent.parent / "build"
    query = Query(extension)
    say(INTRO)
    say(f"Measured on {processor()}, SQLite {sqlite3.sqlite_version}, scipy {scipy.__version__}, by `make bench`.")
    fill(query)
    rows(query)
    intervals(query)
    with peers.r() as program:
        in_r(query, program)
        bootstraps(query, program)
    with tempfile.TemporaryDirectory() as scratch:
        pathlib.Path(scratch).chmod(0o711)
        with peers.Postgres(pathlib.Path(scratch)) as server, peers.psql(server) as postgres, peers.duckdb(duckdb) as duck:
            engines(query, ("PostgreSQL " + postgres("SHOW server_version;")[0].split()[0], postgres, "SET max_parallel_workers_per_gather = 0;"),
                    ("DuckDB " + duck("SELECT version()")[0].lstrip("v"), duck, "SET threads = 1"))
    models(query)
    scores(query)
    matrix(query)
    board(extension, int(smaller))
    pages(extension)
    routes(query, extension)
    drawn = growing(query, extension, int(smaller))
    (out / "benchmark.md").write_text("\n".join(lines) + "\n")
    (out / "growth.svg").write_text(drawn)


if __name__ == "__main__":
    main(*sys.argv[1:])
