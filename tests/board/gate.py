#!/usr/bin/python3
"""eval_gate: its numbers, all its results and errors, and how often it passes a model that it should not.

    gate.py EXTENSION

The expected numbers come from closed forms of Dirichlet means, scipy's Beta, and counts made here.  Those that have
references of their own (no_worse_prob of graded scores, mean_prob_above and intervals) come from the SQL function over
the rows that Python made.
"""
import fractions
import json
import math
import pathlib
import sqlite3
import sys
import tempfile

from scipy import integrate, stats

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/views")]
from checks import check, finish, seeded  # noqa: E402
from views import COLUMNS, loose, opened  # noqa: E402

SHOWN = "*, baseline, candidate, margin, sure"


def filled(rows, path=":memory:"):
    """A table of answers without a range of scores."""
    return loose(rows, path, COLUMNS[:7])


def once(model, answers, task="t"):
    """Right (1), wrong (0), errored (None), or not asked (-1), question by question."""
    return [(model, task, i, 1, y, None, None if y is not None else "timeout") for i, y in enumerate(answers) if y != -1]


def gate(db, baseline, candidate, *others, options=None, source=None):
    marks = ", ".join("?" * (4 + len(others)))
    rows = db.execute(f"SELECT {SHOWN} FROM eval_gate({marks})", (source, options, baseline, candidate, *others)).fetchall()
    check("a gate is one row", len(rows) == 1)
    return dict(rows[0])


def near(what, got, wanted, slack=1e-9):
    ok = got == wanted if None in (got, wanted) else abs(got - wanted) <= slack
    check(f"{what}: {got}, not {wanted}", ok)


def says(what, row, *words):
    for word in words:
        check(f"{what}: {row['message']!r} has {word!r}", word in row["message"])
    check(f"{what}: the message begins with the result", row["message"].startswith(row["result"] + ": "))
    check(f"{what}: {row['message']!r} asks for a number above 0", "about 0 " not in row["message"] and "nan" not in row["message"])
    check(f"{what}: more is {row['more']}", row["more"] is None or row["more"] >= 1)


# What the numbers should be


def no_worse(better, same, worse, margin):
    """P(W+ - W- > -margin), (W+, W0, W-) ~ Dirichlet(better, same, worse + 1)."""
    if better == 0:
        return stats.beta.cdf(margin, worse + 1, same) if same else float(margin >= 1)

    def above(x):
        need = (x - margin) / (1 - x)
        return stats.beta.sf(need, better, same) if same else float(need < 1)
    x_law = stats.beta(worse + 1, better + same)
    return integrate.quad(lambda x: x_law.pdf(x) * above(x), 0, 1, points=[margin], limit=500, epsabs=1e-13)[0]


def mean_above(atoms, t):
    """P(mean > t) for different atoms with weight 1 each: a divided difference, computed exactly."""
    atoms, t = [fractions.Fraction(a) for a in atoms], fractions.Fraction(t)
    return float(sum((a - t) ** (len(atoms) - 1) / math.prod(a - b for b in atoms if b != a) for a in atoms if a > t))


def least(margin, sure):
    n = 1
    while 1 - (1 - margin) ** n < sure:
        n += 1
    return n


# Against a model


def closed_forms():
    for better, same, worse, margin in ((0, 149, 0, .02), (0, 148, 0, .02), (5, 90, 3, .02), (3, 300, 12, .02), (0, 40, 9, .1),
                                        (20, 0, 0, .05), (0, 0, 20, .05), (7, 1, 2, 0), (1, 0, 0, .02), (0, 1, 0, .5), (0, 0, 1, .5), (30, 900, 30, .03)):
        old = [0] * better + [1] * same + [1] * worse
        new = [1] * better + [1] * same + [0] * worse
        db, what = filled(once("old", old) + once("new", new)), f"{better} better, {same} alike, {worse} worse, margin {margin}"
        for sure in (.51, .8, .95, .999):
            row = gate(db, "old", "new", margin, sure)
            prob, fails = no_worse(better, same, worse, margin), no_worse(worse, same, better, -margin) if margin else no_worse(worse, same, better, 0)
            near(f"{what}: prob", row["prob"], prob)
            result = "pass" if prob >= sure else "fail" if fails >= sure else "unsure"
            check(f"{what}, sure {sure}: {row['result']}, not {result}", row["result"] == result)
            near(f"{what}: diff", row["diff"], (better - worse) / len(old), 1e-12)
            check(f"{what}: questions", row["questions"] == len(old) and row["method"] == "paired")
            lo, hi = db.execute("SELECT ci_lo(ci), ci_hi(ci) FROM (SELECT paired_diff_ci_counts(?, ?, ?, 0) AS ci)", (same, better, worse)).fetchone()
            # It holds the difference where every question separates the two.
            check(f"{what}: the interval", (row["lo"], row["hi"]) == (-1 if worse == len(old) else lo, 1 if better == len(old) else hi))
            check(f"{what}: more only if unsure", row["result"] == "unsure" or row["more"] is None)
            says(what, row)
    # No atom twice, so a divided difference; the imagined question fails outright.
    for margin in (0, .1, .25):
        scores = [(.5, .25), (.125, .75), (1, .0625), (.75, .5625), (.375, .5)]
        db = filled([("new", "t", i, 1, None, c, None) for i, (c, _) in enumerate(scores)] + [("old", "t", i, 1, None, b, None) for i, (_, b) in enumerate(scores)])
        row = gate(db, "old", "new", margin)
        near(f"graded, margin {margin}", row["prob"], mean_above([c - b for c, b in scores] + [-1], -margin))
        check("graded", row["method"] == "paired means")


def needed():
    for margin, sure in ((.02, .95), (.02, .9), (.05, .95), (.1, .99), (.3, .6), (.01, .999), (.5, .75), (.9, .9)):
        n = least(margin, sure)
        for questions, result in ((n, "pass"), (n - 1, "unsure")):
            if questions == 0:
                continue
            row = gate(filled(once("old", [1, 0] * (questions // 2) + [1] * (questions % 2)) + once("new", [1, 0] * (questions // 2) + [1] * (questions % 2))), "old", "new", margin, sure)
            check(f"{questions} questions without a difference, margin {margin}, sure {sure}: {row['message']}", row["result"] == result)
            if result == "unsure":
                says("needed", row, f"needs {n} questions even if nothing differs", "about 1 more would probably decide")
                check("one more", row["more"] == 1)
    check("149 for two points", least(.02, .95) == 149)
    # Ahead, fewer may do than if nothing differs; behind the margin, that number does not matter.
    row = gate(filled(once("old", [0] * 4 + [1] * 6) + once("new", [1] * 10)), "old", "new")
    check(f"ahead: {row['message']}", row["result"] == "unsure" and row["more"] < 100 and "needs" not in row["message"])
    row = gate(filled(once("old", [1] * 10) + once("new", [0] * 2 + [1] * 8)), "old", "new")
    check(f"behind: {row['message']}", row["result"] == "unsure" and row["more"] > 0 and "needs" not in row["message"])
    for old, new, margin in (([0], [1], .3), ([1], [0], .9), ([0, 0], [1, 1], .02)):
        row = gate(filled(once("old", old) + once("new", new)), "old", "new", margin, .99)
        check(f"all better or all worse: {row['message']}", row["result"] == "unsure" and row["more"] >= 1)
    # On the margin no number of questions would decide, nor at a margin of 0 without a difference.
    for margin, new in ((0, [1, 0] * 50), (.02, [0, 0] + [1, 0] * 49)):
        row = gate(filled(once("old", [1, 0] * 50) + once("new", new)), "old", "new", margin)
        if margin:
            row = gate(filled(once("old", [1] * 100) + once("new", [0, 0] + [1] * 98)), "old", "new", margin)
        says("on the margin", row, "more questions are unlikely to decide")
        check("on the margin there is no number", row["more"] is None and row["result"] == "unsure")


def planned():
    """The expected `more`: plan_paired_n with the same distance from the margin and the same variance."""
    better, same, worse, margin = 30, 340, 30, .02
    db = filled(once("old", [0] * better + [1] * (same + worse)) + once("new", [1] * (better + same) + [0] * worse))
    row = gate(db, "old", "new")
    n = better + same + worse
    discordant = (better + worse) / n + margin ** 2
    wanted = db.execute("SELECT plan_paired_n(?, ?, 0.8, 0.9)", ((discordant + margin) / 2, (discordant - margin) / 2)).fetchone()[0] - n
    check(f"more is {row['more']}, not {wanted}", row["result"] == "unsure" and abs(row["more"] - wanted) <= 1)


def false_passes():
    """How often a candidate passes that fails outright on as many questions as the margin allows: a sum over all
    numbers of failures."""
    for n, margin in ((149, .02), (150, .02), (250, .02), (400, .02), (60, .05), (100, .05)):
        passes = 0
        for broken in range(n):
            row = gate(filled(once("old", [1] * n) + once("new", [0] * broken + [1] * (n - broken))), "old", "new", margin)
            if row["result"] != "pass":
                break
            passes += stats.binom.pmf(broken, n, margin)
        check(f"{n} questions, margin {margin}: {passes:.4f} pass", 0 < passes <= .055)


# Errors, and questions that one was not asked


def errors():
    # 61 of 100 wrong answers of the candidate became timeouts.
    old, wrong = [1] * 39 + [0] * 61, [1] * 39 + [None] * 61
    db = filled(once("old", old) + once("new", wrong))
    row = gate(db, "old", "new", .1)
    near("errors are wrong", row["prob"], no_worse(0, 100, 0, .1))
    check("they are counted", (row["errored_baseline"], row["errored_candidate"], row["questions"]) == (0, 61, 100))
    says("errors", row, "61 errored answers of new counted as wrong")
    # Skipped: what is left agrees, and the worst case does too.
    row = gate(db, "old", "new", .1, options='{"errors":"skip"}')
    near("errors are skipped", row["prob"], no_worse(0, 39, 0, .1))
    check("skipped and safe", row["result"] == "pass" and row["questions"] == 39 and row["errored_candidate"] == 61)
    says("skipped", row, "61 errored answers of new left out")
    # The same where the baseline is right on them: it passes on what is known, and must not.
    db = filled(once("old", [1] * 200) + once("new", [1] * 170 + [None] * 30))
    row = gate(db, "old", "new", options='{"errors":"skip"}')
    near("on what is known", row["prob"], no_worse(0, 170, 0, .02))
    check(f"errored answers could turn it: {row['message']}", row["prob"] >= .95 and row["result"] == "unsure" and row["more"] is None)
    says("turned", row, "30 errored answers of new were wrong", "by the answers that are known", "<0.1% sure")
    check("fails where they are wrong", gate(db, "old", "new")["result"] == "fail")
    # Errored answers of the baseline: wrong where errors are, right in the worst case.
    db = filled(once("old", [1] * 170 + [None] * 30) + once("new", [1] * 170 + [0] * 30))
    check("the baseline's are wrong", gate(db, "old", "new")["result"] == "pass")
    row = gate(db, "old", "new", options='{"errors":"skip"}')
    check(f"or right: {row['message']}", row["result"] == "unsure" and row["errored_baseline"] == 30)
    says("the baseline's", row, "30 errored answers of old right")
    for few in range(4):
        db = filled(once("old", [1] * 300) + once("new", [None] * few + [1] * (300 - few)))
        row = gate(db, "old", "new", options='{"errors":"skip"}')
        check(f"{few} errored of 300: {row['message']}", row["result"] == ("pass" if no_worse(0, 300 - few, few, .02) >= .95 else "unsure"))
    # Nothing is left: unsure.
    db = filled(once("old", [1] * 200) + once("new", [None] * 200))
    row = gate(db, "old", "new", options='{"errors":"skip"}')
    check("all errored", row["result"] == "unsure" and row["prob"] is None and row["questions"] == 0)
    says("all errored", row, "no question was answered by both")
    # A question without a row is no errored answer.
    db = filled(once("old", [1] * 200) + once("new", [1] * 160 + [-1] * 40 + [1] * 7))
    row = gate(db, "old", "new")
    check("not asked", (row["questions"], row["errored_candidate"]) == (160, 0))
    says("not asked", row, "40 questions asked of only old", "7 questions asked of only new")
    # Of attempts: the mean of a question has those that are not known as wrong.
    rows = [("old", "t", i, 1, 1, None, None) for i in range(20)] + [("new", "t", i, a, [1, None, 0][a], None, None) for i in range(20) for a in range(3)]
    row = gate(filled(rows), "old", "new")
    near("attempts", row["diff"], 1 / 3 - 1, 1e-9)
    check("attempts are counted", row["errored_candidate"] == 20 and row["method"] == "paired means")
    near("attempts, skipped", gate(filled(rows), "old", "new", options='{"errors":"skip"}')["diff"], -.5, 1e-9)


def oracle(rows, baseline, candidate, skip, worst=False):
    """The question means of both models, {question: (candidate, baseline)}, and the numbers of errored answers."""
    asked = {}
    for model, task, item, _, correct, score, error in rows:
        known = correct if correct is not None else score if error is None else None
        asked.setdefault((task, item), {}).setdefault(model, []).append(known)
    means, errored = [], {baseline: 0, candidate: 0}
    for answers in asked.values():
        if not {baseline, candidate} <= set(answers):
            continue
        pair = []
        for model, share in ((candidate, 0), (baseline, 1 if worst else 0)):
            errored[model] += answers[model].count(None)
            known = [y if y is not None else share for y in answers[model] if y is not None or not skip]
            pair.append(sum(known) / len(known) if known else None)
        if None not in pair:
            means.append(tuple(pair))
    return means, errored


def at_random(draws=150):
    luck = seeded(7)
    for draw in range(draws):
        rows, graded, most = [], draw % 3 == 2, luck.choice((1, 1, 3))
        for model, skill in (("old", .7), ("new", luck.choice((.6, .7, .8))), ("third", .5)):
            for item in range(luck.choice((1, 5, 60, 250))):
                if luck.random() < .1:
                    continue
                for attempt in range(luck.randint(1, most)):
                    right = int(luck.random() < skill)
                    known = luck.random() < .9
                    score = luck.choice((0, .25, .5, 1)) if graded and item % 2 else None
                    rows.append((model, "g" if graded and item % 2 else "t", item, attempt, right if known and score is None else None, score if known else None, None if known else "down"))
        skip, margin, sure = luck.random() < .5, luck.choice((0, .02, .1, .3)), luck.choice((.6, .8, .95))
        means, errored = oracle(rows, "old", "new", skip)
        worst, _ = oracle(rows, "old", "new", False, True)
        if not {"old", "new"} <= {row[0] for row in rows}:
            continue
        luck.shuffle(rows)
        db = filled(rows)
        options = json.dumps({"errors": "skip"}) if skip else luck.choice((None, '{"errors":"wrong"}'))
        row = gate(db, "old", "new", margin, sure, options=options)

        def ask(pairs, what):
            if not pairs:
                return None
            db.execute("CREATE TEMP TABLE IF NOT EXISTS pair(c, b)")
            db.execute("DELETE FROM pair")
            db.executemany("INSERT INTO pair VALUES (?, ?)", pairs)
            return db.execute(f"SELECT {what} FROM pair").fetchone()[0]
        what = f"draw {draw}"
        prob, worse, bound = (ask(p, w) for p, w in ((means, f"no_worse_prob(c, b, {margin})"), (means, f"no_worse_prob(b, c, {-margin})"), (worst, f"no_worse_prob(c, b, {margin})")))
        near(f"{what}: prob", row["prob"], prob)
        check(f"{what}: questions", row["questions"] == len(means))
        check(f"{what}: errored", (row["errored_baseline"], row["errored_candidate"]) == (errored["old"], errored["new"]))
        near(f"{what}: diff", row["diff"], sum(c - b for c, b in means) / len(means) if means else None, 1e-9)
        result = "unsure"
        if prob is not None:
            result = ("pass" if not skip or bound >= sure else "unsure") if prob >= sure else "fail" if worse >= sure else "unsure"
        check(f"{what}: {row['result']}, not {result}", row["result"] == result)
        says(what, row)
        luck.shuffle(rows)
        check(f"{what}: in another order of rows", gate(filled(rows), "old", "new", margin, sure, options=options) == row)


# Against a threshold


def thresholds():
    for k, n in ((190, 200), (27, 27), (28, 28), (0, 5), (5, 5), (80, 100), (1, 1)):
        db = filled(once("new", [1] * k + [0] * (n - k)))
        for t in (.1, .8, .85, .9, .99):
            row, prob = gate(db, t, "new"), stats.beta.sf(t, 1 + k, 1 + n - k)
            what = f"{k} of {n} at {t}"
            near(what, row["prob"], prob, 1e-12)
            # Answers that are all right never fail.
            result = "pass" if prob >= .95 else "fail" if 1 - prob >= .95 and k / n < t else "unsure"
            check(f"{what}: {row['result']}, not {result}", row["result"] == result)
            check(f"{what}: what it is of", (row["baseline"], row["margin"], row["errored_baseline"], row["questions"]) == (t, None, None, n))
            near(f"{what}: diff", row["diff"], k / n - t, 1e-12)
            lo, hi = stats.beta.ppf([.025, .975], 1 + k, 1 + n - k)
            lo, hi = 0 if k == 0 else lo, 1 if k == n else hi  # the interval holds the accuracy
            near(f"{what}: lo", row["lo"], lo - t, 1e-9)
            near(f"{what}: hi", row["hi"], hi - t, 1e-9)
            says(what, row)
            check(f"{what}: as text", {**gate(db, str(t), "new")} == row)
    says("27 of 27", gate(filled(once("new", [1] * 27)), .9, "new"), "90.0% needs 28 questions even if all answers are right", "about 1 more would probably decide")
    check("28 of 28 pass at 0.9", gate(filled(once("new", [1] * 28)), .9, "new")["result"] == "pass")
    check("graded 28 too", gate(filled([("new", "t", i, 1, None, 1.0, None) for i in range(28)]), .9, "new")["result"] == "pass")
    check("graded 27 not", gate(filled([("new", "t", i, 1, None, 1.0, None) for i in range(27)]), .9, "new")["result"] == "unsure")
    # What it asks for settles it about 8 times of 10, by exact sums.
    for k, n, t in ((44, 50, .8), (93, 100, .9), (65, 100, .7), (30, 60, .55)):
        row = gate(filled(once("new", [1] * k + [0] * (n - k))), t, "new")
        total = n + row["more"]
        above = [stats.beta.sf(t, 1 + j, 1 + total - j) for j in range(total + 1)]
        settled = sum(stats.binom.pmf(j, total, k / n) for j in range(total + 1) if (above[j] if k / n > t else 1 - above[j]) >= .95)
        check(f"{k} of {n} at {t}: {total} questions settle it in {settled:.3f}", .75 <= settled <= .87)
    says("on the threshold", gate(filled(once("new", [1, 0] * 20)), .5, "new"), "more questions are unlikely to decide")
    # Asked again, and graded.
    luck = seeded(3)
    rows = [("new", "t", i, a, int(luck.random() < .2 + .7 * (i % 4 > 0)), None, None) for i in range(40) for a in range(4)]
    db = filled(rows)
    row = gate(db, .6, "new")
    means = "(SELECT avg(correct) AS m FROM results GROUP BY item)"
    near("asked again", row["prob"], db.execute(f"SELECT mean_prob_above(m, 0.6) FROM {means}").fetchone()[0])
    ci = json.loads(db.execute(f"SELECT mean_ci(m) FROM {means}").fetchone()[0])
    check("asked again", row["method"] == "mean of questions" and row["questions"] == 40)
    check("and its interval", (row["lo"], row["hi"]) == tuple(x - .6 for x in ci))
    lumps()
    rows = [("new", "t", i, a, None, luck.choice((0, .5, .75, 1)), None) for i in range(40) for a in range(1 + i % 2)]
    db = filled(rows)
    row = gate(db, .5, "new")
    near("graded", row["prob"], db.execute("SELECT mean_prob_above(m, 0.5) FROM (SELECT avg(score) AS m FROM results GROUP BY item)").fetchone()[0])
    # Errored answers are wrong; skipped, they are so in the worst case.
    db = filled(once("new", [1] * 95 + [None] * 5))
    near("errored", gate(db, .9, "new")["prob"], stats.beta.sf(.9, 96, 6))
    row = gate(db, .9, "new", options='{"errors":"skip"}')
    near("skipped", row["prob"], stats.beta.sf(.9, 96, 1))
    check(f"skipped: {row['message']}", stats.beta.sf(.9, 96, 6) < .95 <= row["prob"] and row["result"] == "unsure" and row["more"] is None)
    says("skipped", row, "5 errored answers of new were wrong")
    check("at 0.8 either way", gate(db, .8, "new", options='{"errors":"skip"}')["result"] == "pass")
    check("without an answer", gate(filled(once("new", [None] * 9)), .1, "new", options='{"errors":"skip"}')["result"] == "unsure")


def lumps():
    """300 questions of which 120 are always right and 180 are right twice of ten times: accuracy 52%."""
    db = filled([("new", "t", i, a, int(i < 120 or a < 2), None, None) for i in range(300) for a in range(10)])
    row = gate(db, .54, "new")
    check(f"52% is not surely above 54%: {row['message']}", row["result"] == "unsure" and row["prob"] < .5)
    near("its accuracy", row["accuracy_candidate"], .52)
    check("which its interval holds", row["lo"] < .52 - .54 < row["hi"])
    check("nor surely below it", gate(db, .5, "new")["result"] == "unsure")

    def above(k, n, t=.54):
        return db.execute("SELECT mean_prob_above_counts(s, n, ?3) FROM (SELECT 1.0 AS s, ?1 AS n UNION ALL SELECT 0.2, ?2)", (k, n - k, t)).fetchone()[0]

    # What it asks for settles it about 8 times of 10: of n questions a binomial number are always right.
    n = 300 + row["more"]
    below = max(k for k in range(int(.3 * n), int(.5 * n)) if above(k, n) <= .05)
    settled = stats.binom.cdf(below, n, .4)
    check(f"{n} questions in two lumps settle it in {settled:.3f}", .75 <= settled <= .87)
    # Of such models, each at its threshold, it passes about one in twenty.
    for questions, share in ((100, .4), (300, .4), (300, .1), (100, .7)):
        least = min(k for k in range(1, questions) if above(k, questions, share + .2 * (1 - share)) >= .95)
        passes = stats.binom.sf(least - 1, questions, share)
        check(f"{questions} questions, {share} always right: {passes:.3f} pass at the truth", .02 <= passes <= .06)


# Names


def names():
    rows = once("old", [1] * 150) + once("0.85", [1] * 150) + once(7, [1] * 150) + once("a\nb", [1] * 150) + once("8", [1] * 150)
    db = filled(rows)
    check("the name of a model is no threshold", gate(db, "0.85", "old")["method"] == "paired")
    check("a number is", gate(db, .85, "old")["method"] == "bayes")
    check("a whole number may be a model", gate(db, 7, "old")["method"] == "paired" and gate(db, "7", "old")["baseline"] == 7)
    check("its text, too", gate(db, "old", "7")["candidate"] == 7 and gate(db, "old", 8)["candidate"] == "8")
    check("one line", "\n" not in gate(db, "old", "a\nb")["message"])
    check("the source is results", gate(db, "old", 7) == gate(db, "old", 7, source="") == gate(db, "old", 7, source="main.results"))
    db.execute("CREATE VIEW other AS SELECT model AS m, item AS i, correct AS c FROM results")
    check("columns by options", gate(db, "old", "7", source="other", options='{"model":"m","item":"i","correct":"c"}')["result"] == "pass")
    two = db.execute("SELECT candidate FROM eval_gate WHERE baseline = 'old' AND (candidate = '7' OR candidate = '8')").fetchall()
    check("an OR has both", len(two) == 2)
    joined = db.execute("SELECT m.model, g.result FROM (SELECT DISTINCT model FROM results WHERE model <> 'old') AS m, eval_gate(NULL, NULL, 'old', m.model) AS g").fetchall()
    check("a join", len(joined) == 4 and all(row[1] == "pass" for row in joined))
    check("with another level", gate(db, "old", 7, options='{"level":0.5}')["hi"] < gate(db, "old", 7)["hi"])


# Never pass


def refused(db, call, *words):
    try:
        got = [tuple(row) for row in db.execute(f"SELECT result, message FROM {call}")]
    except sqlite3.Error as error:
        check(f"{call}: {error}", all(word in str(error) for word in words))
    else:
        check(f"{call} is an error, not {got}", False)
    check(f"after {call}", db.execute("SELECT 1").fetchone()[0] == 1)


def refusals():
    # Where everything else would pass.
    db = filled(once("old", [1] * 200) + once("new", [1] * 200))
    check("it passes", gate(db, "old", "new")["result"] == "pass")
    start = "eval_gate: "
    for call, words in (
            ("eval_gate", ["baseline must be a model"]), ("eval_gate()", ["baseline must be"]), ("eval_gate('results', NULL, 'old')", ["candidate must be a model, got none"]),
            ("eval_gate(NULL, NULL, NULL, 'new')", ["baseline must be a model, or a number between 0 and 1, got NULL"]), ("eval_gate(NULL, NULL, 'old', NULL)", ["candidate must be", "NULL"]),
            ("eval_gate(NULL, NULL, 'old', 'new', NULL)", ["margin must be a number from 0 to below 1, got NULL"]),
            ("eval_gate(NULL, NULL, 'old', 'new', 0.02, NULL)", ["sure must be a number between 0.5 and 1, got NULL"]),
            ("eval_gate(NULL, NULL, 'old', 'nobody')", ["results has no model 'nobody'"]), ("eval_gate(NULL, NULL, 'nobody', 'new')", ["results has no model 'nobody'"]),
            ("eval_gate(NULL, NULL, '', 'new')", ["results has no model ''"]), ("eval_gate(NULL, NULL, x'00', 'new')", ["no model"]),
            ("eval_gate(NULL, NULL, 'new', 'new')", ["candidate must not be the baseline"]), ("eval_gate(NULL, NULL, 0.5, 0.5)", ["no model 0.5"]),
            ("eval_gate(NULL, NULL, 'old', 'new', -0.01)", ["margin", "-0.01"]), ("eval_gate(NULL, NULL, 'old', 'new', 1)", ["margin"]),
            ("eval_gate(NULL, NULL, 'old', 'new', 2)", ["margin", "did you mean 0.02?"]), ("eval_gate(NULL, NULL, 'old', 'new', 9e999)", ["margin"]),
            ("eval_gate(NULL, NULL, 'old', 'new', 'much')", ["margin", "'much'"]), ("eval_gate(NULL, NULL, 'old', 'new', x'01')", ["margin"]),
            *((f"eval_gate(NULL, NULL, 'old', 'new', 0.02, {sure})", ["sure must be a number between 0.5 and 1"]) for sure in ("0.5", "0", "1", "-1", "9e999", "'very'", "0.4")),
            ("eval_gate(NULL, NULL, 'old', 'new', 0.02, 95)", ["did you mean 0.95?"]),
            ("eval_gate(NULL, NULL, 85, 'new')", ["got 85; did you mean 0.85?"]), ("eval_gate(NULL, NULL, '85', 'new')", ["got '85'; did you mean 0.85?"]),
            *((f"eval_gate(NULL, NULL, {t}, 'new')", ["number between 0 and 1"]) for t in ("0", "1", "-0.5", "9e999", "'1e999'", "100")),
            ("eval_gate('nowhere', NULL, 'old', 'new')", ["cannot read nowhere"]), ("eval_gate(7, NULL, 'old', 'new')", ["source must be the name"]),
            ("eval_gate(NULL, '{', 'old', 'new')", ["options must be"]), ("eval_gate(NULL, '{\"error\":1}', 'old', 'new')", ["error in options"]),
            ("eval_gate(NULL, '{\"errors\":\"right\"}', 'old', 'new')", ["errors in options"]), ("eval_gate(NULL, '{\"errors\":\"skip\",\"errors\":\"wrong\"}', 'old', 'new')", ["twice"]),
            ("eval_gate(NULL, '{\"by\":\"task\"}', 'old', 'new')", ["by in options"]), ("eval_gate(NULL, '{\"by\":\"task\"}', 0.5, 'new')", ["by in options"]),
            ("eval_gate(NULL, '{\"item\":\"nothing\"}', 'old', 'new')", ["no column nothing"])):
        refused(db, call, start, *words)
    refused(db, "eval_gate(NULL, NULL, 'old', 'new', 0.02, 0.95, 1)")
    # What is there and cannot be judged.
    db = filled(once("old", [1] * 200) + once("new", [1] * 200, "other"))
    row = gate(db, "old", "new")
    check("no shared question", row["result"] == "unsure" and row["prob"] is None and row["more"] is None and row["questions"] == 0)
    says("no shared question", row, "no question was asked of both", "200 questions asked of only new and 200 questions asked of only old")
    for score, said in ((1.5, "scores of task 't' go from 1 to 1.5; add \"lo\":1,\"hi\":5 to options"), ("good", "a score of task 't' is not a number")):
        rows = [("new", "t", i, 1, None, score if i == 3 else 1, None) for i in range(200)]
        for options in (None, '{"errors":"skip"}'):
            for baseline in ("old", .5):
                db = filled([("old", "t", i, 1, None, 1, None) for i in range(200)] + rows)
                refused(db, f"eval_gate(NULL, {'NULL' if options is None else repr(options)}, {baseline!r}, 'new')", "eval_gate: ", said)
    refused(filled(once("old", [1] * 200) + once("new", [1] * 199 + ["maybe"])), "eval_gate(NULL, NULL, 'old', 'new')", "correct must be 0, 1")
    refused(opened(), "eval_gate(NULL, NULL, 'old', 'new')", "cannot read results")
    refused(filled([]), "eval_gate(NULL, NULL, 'old', 'new')", "has no model")


def stopped():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/evals.db"
        filled(once("old", [1] * 2000) + once("new", [1] * 2000), path).close()
        holder, db = sqlite3.connect(path, isolation_level=None), opened(path, 0.1)
        holder.execute("BEGIN EXCLUSIVE")
        refused(db, "eval_gate(NULL, NULL, 'old', 'new')", "locked")
        holder.execute("ROLLBACK")
        check("and then passes", gate(db, "old", "new")["result"] == "pass")
        db.set_progress_handler(lambda: 1, 100)
        refused_while(db)
        db.set_progress_handler(None, 0)
        check("after an interrupt", gate(db, "old", "new")["result"] == "pass")
        db.execute("CREATE VIEW again AS SELECT candidate AS model, 1 AS item, 1 AS correct FROM eval_gate('again', NULL, 'old', 'new')")
        refused(db, "eval_gate('again', NULL, 'old', 'new')", "reads itself")
        db.execute("DROP VIEW again")
        db.set_authorizer(lambda action, table, column, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_READ and column == "correct" else sqlite3.SQLITE_OK)
        refused(db, "eval_gate(NULL, '{\"correct\":\"correct\"}', 'old', 'new')")
        db.set_authorizer(None)
        # An older reader of a file that is none.
        pathlib.Path(path).write_bytes(b"not a database" * 100)
        broken = opened(path)
        try:
            check(f"no database: {broken.execute('SELECT result FROM eval_gate(NULL, NULL, 1, 2)').fetchall()}", False)
        except sqlite3.Error:
            check("no database", True)


def refused_while(db):
    try:
        check(f"interrupted: {db.execute('SELECT result FROM eval_gate(NULL, NULL, ?, ?)', ('old', 'new')).fetchall()}", False)
    except sqlite3.Error as error:
        check(f"interrupted: {error}", "interrupted" in str(error))


def main():
    closed_forms()
    needed()
    planned()
    false_passes()
    errors()
    at_random()
    thresholds()
    names()
    refusals()
    stopped()
    finish()


if __name__ == "__main__":
    main()
