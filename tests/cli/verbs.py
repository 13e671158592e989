#!/usr/bin/python3
"""Every verb of the program: its output, in every format and in 80 columns, and its errors.

    verbs.py PROGRAM EXTENSION

Contract 47.  The numbers must be those of the board, which Python's sqlite3 gets through the loadable extension.
"""
import csv as csvs
import fcntl
import io
import json
import os
import pathlib
import pty
import re
import resource
import sqlite3
import struct
import subprocess
import sys
import termios
import unicodedata

from running import EVALCI, HERE, ROOT, check, csv, ends, finish, run

EXTENSION = str(pathlib.Path(sys.argv[2]).resolve().with_suffix(""))
BOARDS = "leaderboard compare tasks passes noise slices questions".split()
FILES = ROOT / "tests/views/adapters"
# Control characters but line feeds, and characters that change the direction of text.
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
VERBS = BOARDS + "report import gate plan sql formats help".split()

results = csv("results.csv", {"old": 0.7, "new": 0.75, "a-model-with-a-name-that-is-long/2025-05-14": 0.6}, 60)
database = HERE / "evals.db"


def columns(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) and c != "\u200d" for c in line)


def fits(what, text, most=80):
    for line in text.split("\n"):
        check(f"{what}: {line!r} is within {most} columns", columns(line) <= most)


def asked(sql):
    db = sqlite3.connect(database)
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    db.row_factory = sqlite3.Row
    return [dict(row) for row in db.execute(sql)]


# Help


def test_help():
    code, out, err = run("--help")
    check("help is on standard output", code == 0 and not err and out.startswith("usage: "))
    fits("help", out)
    for verb in VERBS:
        check(f"help lists {verb}", re.search(rf"^  {verb} ", out, re.M))
        code, text, _ = run("help", verb)
        check(f"help {verb} has an example", code == 0 and f"  evalci {verb}" in text)
        fits(f"help {verb}", text, 79)
        check(f"{verb} --help is the same", run(verb, "--help") == (0, text, ""))
    check("help is the same in three ways", run("help") == run("-h") == run("--help"))
    code, out, err = run()
    check("no verb is an error, with help", code == 3 and not out and err.startswith("usage: "))
    code, out, _ = run("--version")
    check(f"the version, not {out!r}", code == 0 and re.fullmatch(r"evalci \d+\.\d+\.\d+, SQLite 3\.[\d.]+\n", out))


def test_usage():
    ends("an unknown verb", 3, "leaderbord", says="did you mean leaderboard?")
    ends("a file in place of a verb", 3, results, says="a verb must come first, got")
    ends("a verb far from any", 3, "xyzzy", says="evalci --help lists them")
    ends("help for an unknown verb", 3, "help", "gates", says="did you mean gate?")
    ends("an option first", 3, "--json", "leaderboard", says="a verb must come first")
    ends("an unknown option", 3, "leaderboard", results, "--jsn", says="did you mean --json?")
    ends("an option cut short", 3, "gate", results, "--cand", "x", says="did you mean --candidate?")
    ends("an option far from any", 3, "leaderboard", results, "--zzzzzzz", says="evalci leaderboard --help lists")
    ends("an option of another verb", 3, "leaderboard", results, "--margin", "1", says="--margin is not an option of this verb")
    ends("an option twice", 3, "leaderboard", results, "--level", "0.9", "--level=0.9", says="given twice")
    ends("an option without its value", 3, "leaderboard", results, "--level", says="must be followed by SHARE")
    ends("a flag with a value", 3, "leaderboard", results, "--json=1", says="takes no value, got '1'")
    ends("no results", 3, "leaderboard", says="RESULTS must be named")
    ends("no such file", 3, "leaderboard", HERE / "none.csv", says="none.csv")
    for level in ("0", "1", "x", "", "nan", "0x1", "1e999", "-1"):
        ends(f"level {level}", 3, "leaderboard", results, f"--level={level}", says="--level must be a number strictly between 0 and 1")
    ends("per cents", 3, "leaderboard", results, "--level", "95", says="did you mean 0.95?")
    ends("by", 3, "leaderboard", results, "--by", "model", says="--by must be question or task, got 'model'")
    ends("errors", 3, "leaderboard", results, "--errors", "right", says="--errors must be skip or wrong, got 'right'")
    ends("control characters are not printed", 3, "leaderboard", "\033[2J\x07.csv", says=" [2J .csv")
    ends("after -- a name may begin with -", 3, "leaderboard", "--", "-none.csv", says="-none.csv")


# The board


def same(what, got, wanted):
    check(f"{what}: {str(got)[:300]} is not {str(wanted)[:300]}", got == wanted)


def read(cell, like):
    """A cell of CSV as a value of the same kind."""
    return None if like is None and cell == "" else type(like)(cell)


def test_boards():
    ends("an import", 0, "import", results, "-o", database)
    for verb in BOARDS:
        wanted = asked(f"SELECT * FROM eval_{verb}")
        out = ends(f"{verb} --json", 0, verb, results, "--json")
        same(f"{verb} --json has the board's numbers", json.loads(out), wanted)
        same(f"{verb} over the database is the same", run(verb, database, "--json")[1], out)
        rows = list(csvs.reader(io.StringIO(ends(f"{verb} --csv", 0, verb, results, "--csv"))))
        same(f"{verb} --csv has its columns", rows[0], list(wanted[0]) if wanted else rows[0])
        same(f"{verb} --csv has its numbers", [[read(*pair) for pair in zip(cells, row.values())] for cells, row in zip(rows[1:], wanted)],
             [list(row.values()) for row in wanted])
        text = ends(verb, 0, verb, results)
        fits(verb, text)
        text = ends(f"{verb} --markdown", 0, verb, results, "--markdown")
        lines = text.splitlines()
        check(f"{verb} --markdown is a table: {text!r}", len(lines) >= 2 and all(line[0] == line[-1] == "|" for line in lines))


def test_words():
    out = ends("a leaderboard", 0, "leaderboard", results, says=["results.csv", "180 answers: 3 models, 1 task, 60 questions", "95% interval", "P(best)"])
    check("every model is whole, if in two lines", "".join(out.split()).count("2025-05-14") == 1)
    check("no column of errors without any", "errored" not in out)
    check("quiet has only the table", run("leaderboard", results, "--quiet")[1].startswith("rank"))
    ends("a level", 0, "leaderboard", results, "--level", "0.9", says="90% interval")
    ends("no attempts", 0, "passes", results, says="No question was asked more than once.")
    ends("no noise without them", 0, "noise", results, says="No question was asked more than once.")
    again = csv("again.csv", {"m": 0.5}, 20)
    again.write_text(again.read_text().replace("\nm,t,7,", "\nm,t,6,"))
    ends("noise of one task", 0, "noise", again, says="One task does not show how tasks differ")
    out = ends("a repeated question is an attempt", 0, "leaderboard", again)
    check(f"and that is said: {out}", "several times" in " ".join(out.split()))
    attempts = HERE / "attempts.csv"
    attempts.write_text("model,task,item,attempt,correct\n" + "".join(
        f"a-provider/a-model-of-a-long-name,task {i % 4},{i},{j},{int((i * 7 + j * i) % 5 > 1)}\n" for i in range(40) for j in range(1, 4)))
    out = ends("the noise is a table in 80 columns", 0, "noise", attempts, says=["reruns", "a-provider/"])
    fits("noise", out)
    check(f"with a row per model: {out}", re.search(r"^model +tasks +interval +questions +interval +reruns +interval$", out, re.M))
    fits("a plan of attempts", ends("a plan of attempts", 0, "plan", "0.8", "--width", "0.1", "--icc", "0.5", "--cost-question", "1",
                                    "--cost-attempt", "0.2", says="183 questions"))


def test_notes():
    """The notes under a table."""
    apart = csv("apart.csv", {"m": 0.5}, 20)
    apart.write_text(apart.read_text() + "".join(f"n,t,other {i},{i % 2}\n" for i in range(20)))
    ends("models without a common question", 0, "leaderboard", apart, says=["No question was answered by every model", "Ranks and P(best): no two models share a question"])
    halves = HERE / "halves.csv"
    halves.write_text("model,item,correct\na,1,1\nb,1,0\nc,2,1\nd,2,0\n")
    ends("models that nothing joins", 0, "leaderboard", halves, says="There are no ranks and no P(best): no shared questions join a and c.")
    check("others have none of that", "No question" not in run("leaderboard", results)[1])
    ends("tasks that count alike", 0, "leaderboard", results, "--by", "task")
    scores = HERE / "scores.db"
    db = sqlite3.connect(scores)
    db.execute("CREATE TABLE results(model, item, score)")
    db.executemany("INSERT INTO results VALUES ('m', ?, ?)", [(i, i % 5 + 1) for i in range(20)])
    db.commit()
    for verb in ("leaderboard", "compare", "tasks", "slices", "questions", "passes", "noise"):
        for form in ([], ["--json"], ["--csv"]):
            ends("scores out of range", 3, verb, scores, *form, says=f"evalci {verb}: scores go from 1 to 5; add --lo 1 --hi 5\n")
    ends("scores out of range", 3, "report", scores, "-o", HERE / "none.html", says="evalci report: scores go from 1 to 5; add --lo 1 --hi 5\n")
    db.executescript("ALTER TABLE results ADD COLUMN task; INSERT INTO results VALUES ('m', 1, 0.5, 'other')")
    ends("a range of one task", 3, "tasks", scores, says="scores go from 1 to 5, and those of other tasks from 0 to 1; --lo and --hi are for all tasks, so give the rows of this one 1 as score_lo and 5 as score_hi\n")
    db.executescript("DELETE FROM results WHERE task = 'other'; ALTER TABLE results DROP COLUMN task")
    check("and no page", not (HERE / "none.html").exists())
    check("which is then said", "50.0%" in ends("a range", 0, "leaderboard", scores, "--lo", "1", "--hi=5"))
    counts = HERE / "counts.db"
    db = sqlite3.connect(counts)
    db.execute("CREATE TABLE counts(model, k, n)")
    db.executemany("INSERT INTO counts VALUES (?, ?, 20)", [("old", 15), ("new", 18)])
    db.commit()
    out = ends("counts", 0, "leaderboard", counts, says="90.0%")
    check(f"which share no questions, and need none: {out}", "No question" not in out)
    ends("a comparison of counts", 3, "compare", counts, says="these are counts (k of n)")
    for text, says in (("model,k,n\nold,15,20\nnew,18,20\n", "90.0%"), ("model,correct,total\nold,15,20\nnew,18,20\n", "90.0%")):
        counted = HERE / "counts.csv"
        counted.write_text(text)
        ends("counts in a file", 0, "leaderboard", counted, says=["2 rows of 2 models", says])
    votes = HERE / "votes.csv"
    votes.write_text("model_a,model_b,winner\nx,y,model_a\nx,y,tie\n")
    ends("votes", 3, "leaderboard", votes, says=["these are votes", "evalci votes"])
    ends("votes into a database", 0, "import", votes, "-o", HERE / "votes.db", says=["2 rows", "Next: evalci votes"])


def test_votes():
    votes = HERE / "arena.csv"
    rows = [("m0", "m1", "model_a", 5), ("m0", "m1", "b", 3), ("m1", "m0", "tie", 2), ("m1", "m2", "A", 6), ("m1", "m2", "m2", 2),
            ("m1", "m2", "both_bad", 2), ("m0", "m2", "model_a", 7), ("m0", "m2", "tie (bothbad)", 3)]
    votes.write_text("model_a,model_b,winner\n" + "".join(f"{a},{b},{w}\n" * n for a, b, w, n in rows))
    out = ends("a table", 0, "votes", votes, says=["m0", "1141", "1024–1300", "Ratings from votes, with their 95% intervals", "30 rows of 3 models"])
    check(f"without what was not asked for: {out}", "shown first" not in out)
    rated = json.loads(ends("as JSON", 0, "votes", votes, "--json"))
    # of a prototype in Python
    same("ratings", [(row["model"], round(row["rating"], 6), round(row["lo"], 6), round(row["hi"], 6), row["votes"]) for row in rated],
         [("m0", 1141.014966, 1024.482037, 1299.835326, 20), ("m1", 1031.700786, 911.215103, 1161.700245, 20),
          ("m2", 827.284248, 655.604895, 946.004586, 20)])
    anchored = json.loads(ends("an anchor", 0, "votes", votes, "--json", "--anchor", "m1", "--base=1114", "--scale", "400"))
    same("is the base", [round(row["rating"], 6) for row in anchored], [1223.314181, 1114.0, 909.583463])
    narrow = json.loads(ends("a level", 0, "votes", votes, "--json", "--level", "0.5"))
    check("is narrower", narrow[0]["lo"] > rated[0]["lo"])
    ends("the place", 0, "votes", votes, "--position", says="shown first")
    ends("as Markdown", 0, "votes", votes, "--markdown", says="| m0")
    check("as CSV", ends("as CSV", 0, "votes", votes, "--csv").startswith("model,rating,ci,"))
    ends("into a database", 0, "import", votes, "-o", HERE / "arena.db", "--quiet")
    same("which is read in place", json.loads(ends("a database", 0, "votes", HERE / "arena.db", "--json")), rated)
    ends("a page of votes alone", 0, "report", votes, "-o", HERE / "arena.html", "--title", "Arena <1>", "--level", "0.5", "--quiet")
    page = (HERE / "arena.html").read_text()
    check("has the ratings alone", "<h1>Arena &lt;1&gt;</h1>" in page and "Ratings from votes" in page and "arena.csv" in page and "50% interval" in page and "Leaderboard" not in page)
    ends("results beside them", 0, "import", results, "-o", HERE / "arena.db", "--quiet")
    page = HERE / "both.html"
    ends("a page of both", 0, "report", HERE / "arena.db", "-o", page, "--quiet")
    check("has the ratings", "Ratings from votes" in page.read_text() and ">1024–1300<" in page.read_text())
    ends("no such anchor", 3, "votes", votes, "--anchor", "gpt", says="anchor in options must be one of the models, got 'gpt'")
    ends("a bad scale", 3, "votes", votes, "--scale", "0", says="--scale must be a number above 0")
    ends("answers", 3, "votes", results, says="evalci leaderboard")
    ends("no files", 3, "votes", says="must be named")
    said = HERE / "said.csv"
    said.write_text("left,right,said\n" + "".join(f"{a},{b},{w}\n" * n for a, b, w, n in rows) + "m0,m1,\n")
    ends("other names", 3, "votes", said, says="there are: left, right, said; name them by --model-a, --model-b and --winner")
    named = "--model-a", "left", "--model-b", "right", "--winner", "said"
    same("columns by name, and a vote without a winner", json.loads(ends("named", 0, "votes", said, "--json", *named)), rated)
    with sqlite3.connect(HERE / "arena.db") as db:
        db.execute("CREATE TABLE said AS SELECT model_a AS left, model_b AS right, winner AS said FROM votes")
    same("in a database too", json.loads(ends("named in place", 0, "votes", HERE / "arena.db", "--table", "said", "--json", *named)), rated)
    said.write_text("model_a,model_b,winner\n" + "".join(f"{a},{b},{ {'tie': 0.5, 'model_a': 1}.get(w, w)}\n" * n for a, b, w, n in rows))
    same("scores for winners", json.loads(ends("scores", 0, "votes", said, "--json")), rated)
    said.write_text("model_a,model_b,winner\nx,y,7\nx,x,tie\n")
    ends("values at fault", 3, "votes", said, says=["line 2: winner must be model_a, model_b, tie or both_bad, or 1, 0 or 0.5, got '7'",
                                                    "line 3: model_a and model_b must differ, got 'x'"])
    ends("help", 0, "help", "votes", says=["--anchor", "--position"])


def test_pairs():
    out = json.loads(ends("a pair", 0, "compare", results, "--a", "new", "--b", "old", "--json"))
    same("is that pair", [(row["model_a"], row["model_b"]) for row in out], [("new", "old")])
    same("as baseline and candidate", json.loads(ends("a pair", 0, "compare", results, "--baseline", "new", "--candidate", "old", "--json")), out)
    out = json.loads(ends("all of one", 0, "compare", results, "--a", "old", "--json"))
    same("each with A", {row["model_a"] for row in out}, {"old"})
    ends("no such model", 3, "compare", results, "--a", "none", says="has no model 'none'; evalci leaderboard lists them")
    ends("a name that is near", 3, "compare", results, "--a", "new", "--b", "OLDE", says="has no model 'OLDE'; did you mean 'old'?")
    ends("a part of a name", 3, "slices", results, "--a", "a-model", says="did you mean 'a-model-with-a-name-that-is-long/2025-05-14'?")
    ends("near names of a gate", 3, "gate", results, "--baseline", "odl", "--candidate", "new", says="did you mean 'old'?")
    ends("nor in slices", 3, "slices", results, "--candidate", "it's", says="has no model 'it's'")
    numbered = HERE / "numbered.db"
    db = sqlite3.connect(numbered)
    db.execute("CREATE TABLE results(model, item, correct)")
    db.executemany("INSERT INTO results VALUES (?, ?, ?)", [(m, i, i % (m + 1) > 0) for m in (7, 8) for i in range(30)])
    db.commit()
    out = json.loads(ends("a model that is a number", 0, "compare", numbered, "--a", "8", "--b", "7", "--json"))
    same("is found by its text", [(row["model_a"], row["model_b"]) for row in out], [(8, 7)])
    ends("and by a gate", 0, "gate", numbered, "--baseline", "7", "--candidate", "8", "--margin", "0.3")


def test_verdicts():
    """A pair that is named has its own p and verdict; a table of all pairs has the corrected ones, and says that intervals
    are each pair's own."""
    rows = [(m, q, q != 0 if m == "new" else q == 0 or q > 9) for m in ("new", *(f"old {i}" for i in range(7))) for q in range(60)]
    alike = HERE / "alike.db"
    with sqlite3.connect(alike) as db:
        db.execute("CREATE TABLE results(model, item, correct)")
        db.executemany("INSERT INTO results VALUES (?, ?, ?)", rows)
    pair = json.loads(ends("a pair", 0, "compare", alike, "--a", "new", "--b", "old 3", "--json"))[0]
    p = 2 * 1 / 2 ** 10 + 10 / 2 ** 10  # 9 questions for one and 1 for the other, two-sided mid-p
    check(f"p of the pair {pair['p']}, {p}, of all {pair['p_all']}", abs(pair["p"] - p) < 1e-12 and abs(pair["p_all"] - 28 * p) < 1e-12 and
          (pair["verdict"], pair["verdict_all"]) == ("A better", "not separated"))
    out = ends("in words", 0, "compare", alike, "--a", "new", "--b", "old 3")
    check(f"the pair's own: {out}", re.search(r"^A +B +n +A - B +interval +p +verdict$", out, re.M) and
          re.search(r"^new +old 3 +60 +\+13.3 +\S+ +0\.012 +A better$", out, re.M))
    same("as the old model", "−13.3" in ends("the other way", 0, "compare", alike, "--a", "old 3", "--b", "new"), True)
    for given in ((), ("--a", "new"), ("--b", "new")):
        out = ends(f"a table, {given}", 0, "compare", alike, *given, says="its own interval excludes 0")
        check(f"is of all pairs, and says so: {out}", re.search(r"^A +B +n +A - B +own interval +corrected p +verdict$", out, re.M) and
              re.search(r"^new +old 3 .* 0\.328 +not separated$" if given != ("--b", "new") else r"^old 3 +new .* 0\.328 +not separated$", out, re.M))
    check("p of 1 is 1", re.search(r"^old 0 +old 1 .* 1\.000 +tied$", ends("ties", 0, "compare", alike), re.M))
    graded = HERE / "graded.db"
    with sqlite3.connect(graded) as db:
        db.execute("CREATE TABLE results(model, item, score)")
        db.executemany("INSERT INTO results VALUES (?, ?, ?)", [(m, q, 0.6 + q % 7 / 50 + (m == "a") * (2 + q % 3) / 100) for m in "ab" for q in range(30)])
    for given in ((), ("--a", "a", "--b", "b")):
        out = ends(f"a hedge, {given}", 0, "compare", graded, *given, says="ci_unseen")
        check(f"in the verdict: {out}", "A better unless it sometimes fails outright" in " ".join(re.sub(r"^a .*?(A better)|^ {20,}", r"\1", out, flags=re.M).split()))
    check("for who needs it", "ci_unseen" not in ends("no hedge", 0, "compare", alike))


def test_chances():
    """A probability that would round to 1 or 0 is above .999 or below .001."""
    sure = HERE / "sure.csv"
    sure.write_text("model,item,correct\n" + "".join(f"{m},{q},{int(m == 'good' or q % 2)}\n" for m in ("good", "bad") for q in range(60)))
    out = ends("a leaderboard", 0, "leaderboard", sure)
    check(f"P(best): {out}", re.search(r"^ *1 +good .* >0\.999 +60$", out, re.M) and re.search(r"^ *2 +bad .* <0\.001 +60$", out, re.M))
    out = ends("a pair", 0, "compare", sure)
    check(f"p: {out}", re.search(r" <0\.001 +A better$", out, re.M) and "0.000" not in out)
    out = ends("a pair in Markdown", 0, "compare", sure, "--markdown")
    check(f"in Markdown: {out}", "| &lt;0.001 |" in out)
    out = ends("slices", 0, "slices", sure)
    check(f"of slices: {out}", re.search(r" <0\.001 +regressed$", out, re.M))


def test_questions():
    """Sorted by the number: 100.0% comes before 99.0%; then what needs a look is first, and counted."""
    some = HERE / "questions.csv"
    wrong = [(m, f"hard {q}", 0) for m in range(100) for q in range(2)]
    nearly = [(m, f"rare {q}", int(m == 0)) for m in range(100) for q in range(3)]
    easy = [(m, f"easy {q}", int(m < 91)) for m in range(100) for q in range(60)] + [(m, "given", 1) for m in range(100)]
    keyed = [(m, "keyed", int(m >= 91)) for m in range(100)]
    some.write_text("model,item,correct\n" + "".join(f"m{m},{q},{c}\n" for m, q, c in wrong + nearly + easy + keyed))
    out = ends("questions", 0, "questions", some)
    rows = re.findall(r"^\s*(?:\S+\s+)?(hard|rare|easy|given|keyed)\b.* (\S+%)  +\S+%–", out, re.M)
    same("the first are", [name for name, _ in rows[:7]], ["keyed", "hard", "hard", "rare", "rare", "rare", "easy"])
    same("with their difficulty", [share for _, share in rows[:7]], ["91.0%", "100.0%", "100.0%", "99.0%", "99.0%", "99.0%", "9.0%"])
    check(f"they are counted: {out}", "Of 67 questions, 2 are always wrong, 1 is perhaps miskeyed and 1 is always right. These are the first 50; --csv and --json have all."
          in " ".join(out.split()))
    wanted = json.loads(ends("as JSON", 0, "questions", some, "--json"))
    same("as the table says", [sum(r["note"] == note for r in wanted) for note in ("always wrong", "perhaps miskeyed", "always right")], [2, 1, 1])
    check("all of them", len(wanted) == 67)
    few = ends("few", 0, "questions", results)
    check(f"no more than there are: {few}", "Of 60 questions" in few)


def test_columns():
    own = csv("own.csv", {"m": 0.5, "n": 0.6}, 30, header="llm,suite,question,ok")
    ends("columns of other names", 3, "leaderboard", own, says=["suite", "question", "ok", "--correct"])
    ends("that are named", 0, "leaderboard", own, "--item", "question", "--correct", "ok", "--task", "suite", says="m")
    place = HERE / "own.db"
    db = sqlite3.connect(place)
    db.execute("CREATE TABLE runs(llm, question, ok)")
    db.executemany("INSERT INTO runs VALUES (?, ?, ?)", [(m, i, i % 3 > 0) for m in "mn" for i in range(30)])
    db.commit()
    ends("a table of one's own", 3, "leaderboard", place, "--table", "runs", says=["the columns are llm, question, ok", "--item"])
    ends("with its columns named", 0, "leaderboard", place, "--table", "runs", "--item", "question", "--correct=ok", says="runs")
    ends("a column that is not there", 3, "leaderboard", place, "--table", "runs", "--item", "q", says="has no column q")
    ends("a name is not SQL", 3, "leaderboard", place, "--table", "runs", "--item", 'q"; DROP TABLE runs; --', says="has no column")
    check("nothing was dropped", db.execute("SELECT count(*) FROM runs").fetchone() == (60,))


def test_names_of_files():
    name = "a\nevalci: forged\u200f\u061c\x1b[31m.csv"
    shown = "a evalci: forged   [31m.csv"
    err = run("leaderboard", name, cwd=HERE)[2]
    check(f"a file that is not there: {err!r}", shown in err and err.count("\n") == 1 and not STEERS.search(err))
    (HERE / name).write_text("model,item,correct\na,1,x\na,2,y\n")
    err = run("leaderboard", name, cwd=HERE)[2]
    check(f"faults of a file, a line of each kind: {err!r}", err.count(shown) == 1 and err.count("\n") == 2 and not STEERS.search(err))
    (HERE / name).write_text(results.read_text())
    for arguments in (("leaderboard", name), ("import", name, "-o", "odd\nevals.db"), ("report", name, "-o", "odd\npage.html"), ("leaderboard", "odd\nevals.db")):
        code, out, err = run(*arguments, cwd=HERE)
        check(f"{arguments}: {out!r} {err!r}", code == 0 and not err and not STEERS.search(out) and not re.search("^(evalci: forged|evals.db|page.html)", out, re.M))


def test_forms():
    odd = HERE / "odd.db"
    db = sqlite3.connect(odd)
    db.execute("CREATE TABLE results(model, item, correct)")
    names = ['a,b', 'c"d', "e\nf", "g|h<b>", "\x1b[31mred", "日本語モデル", "e\u0301", "‮rtl", "tab\t", "*x*_y_`z`", "\u200f\u061c\u200e\u2066rtl", "\ufeff\u00ad\u2060\u200b\u180e\U000e0041hidden",
             "\u2028\u2029lines", "👩\u200d💻"]
    db.executemany("INSERT INTO results VALUES (?, ?, ?)", [(m, i, i % 2) for m in names for i in range(4)])
    db.commit()
    same("CSV gives names back", {row[0] for row in csvs.reader(io.StringIO(run("leaderboard", odd, "--csv")[1]))} - {"model"}, set(names))
    same("JSON does", {row["model"] for row in json.loads(run("leaderboard", odd, "--json")[1])}, set(names))
    out = ends("a table of odd names", 0, "leaderboard", odd)
    fits("odd names", out)
    check("nothing steers the terminal", not STEERS.search(out))
    check("joiners stay", "👩\u200d💻" in out)
    widths = {columns(line) for line in out.splitlines()[4:]}
    check(f"rows are aligned: {widths}", len(widths) == 1)
    for verb in ("compare", "gate"):
        for b in names[1:]:
            _, said, err = run(verb, odd, *(("--a", names[0], "--b", b) if verb == "compare" else ("--baseline", names[0], "--candidate", b)))
            check(f"{verb} of {b!r} steers nothing: {said}{err}", names[0] in said and not STEERS.search(said + err))
    same("a gate's message is one line", run("gate", odd, "--baseline", "a,b", "--candidate", "e\nf")[1].count("\n"), 1)
    lone = subprocess.run([EVALCI, "sql", "SELECT 'a' || char(13) || 'b' AS x, 'c' || char(10) AS y, 'd' AS z", "--csv"], capture_output=True, check=True).stdout
    same("CSV quotes a lone carriage return", lone, b'x,y,z\n"a\rb","c\n",d\n')
    out = ends("odd names in Markdown", 0, "leaderboard", odd, "--markdown")
    same("each row is one line", len(out.splitlines()), 2 + len(names))
    check("a name makes no column, no tag", "g\\|h&lt;b>" in out)
    blob = ends("bytes that are no text", 0, "sql", "SELECT x'00ff' AS x, CAST(x'41ff42' AS TEXT) AS y, 1e999 AS z, NULL AS n", "--json")
    same("are valid JSON", json.loads(blob), [{"x": "00ff", "y": "A\ufffdB", "z": float("inf"), "n": None}])


def seen(arguments, environment, width=60):
    """The output on a terminal of that width."""
    primary, secondary = pty.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    done = subprocess.Popen([EVALCI, *map(str, arguments)], stdout=secondary, stderr=secondary, stdin=subprocess.DEVNULL, env=environment)
    os.close(secondary)
    text = b""
    while True:
        try:
            more = os.read(primary, 65536)
        except OSError:
            break
        if not more:
            break
        text += more
    os.close(primary)
    done.wait()
    return text.decode().replace("\r\n", "\n")


def test_terminal():
    environment = {"TERM": "xterm", "PATH": os.environ["PATH"]}
    out = seen(["leaderboard", results], environment)
    check(f"a heading is bold on a terminal: {out!r}", "\033[1m" in out)
    fits("a narrow terminal", re.sub("\033\\[\\d*m", "", out), 60)
    out = re.sub("\033\\[\\d*m", "", seen(["leaderboard", results], environment, 40))
    fits("a terminal too narrow for the table", out, 40)
    check(f"has a line for each cell: {out!r}", re.search(r"^rank +\S+\nmodel +\S.*\naccuracy +\d+\.\d%\ninterval +\S+–\S+%\n", out, re.M))
    fits("help on a narrow terminal", seen(["help"], environment, 50), 50)
    fits("a narrow comparison", re.sub("\033\\[\\d*m", "", seen(["compare", results], environment, 72)), 72)
    for dull in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        check(f"no colour with {dull}", "\033" not in seen(["leaderboard", results], {**environment, **dull}))
    check("a page is not for a terminal", "-o must name a file" in seen(["report", results], environment))
    check("no progress within a second", "\r" not in seen(["import", results, "-o", HERE / "terminal.db"], environment))


# The others


def test_sql():
    out = ends("a query", 0, "sql", results, "SELECT model, bayes_ci(correct) AS ci FROM results GROUP BY 1 ORDER BY 1", "--json")
    same("has evalci's functions", json.loads(out), asked("SELECT model, bayes_ci(correct) AS ci FROM results GROUP BY 1 ORDER BY 1"))
    ends("without results", 0, "sql", "SELECT wilson_ci_counts(18, 20) AS ci", says="[0.6989663547715128,0.9721335187862318]")
    ends("a table of numbers", 0, "sql", "SELECT 1 AS a, 22 AS b", says="a   b\n─  ──\n1  22\n")
    ends("no query", 3, "sql", says="a query must be given")
    ends("a file for a query", 3, "sql", results, says="a query must come last")
    ends("two statements", 3, "sql", "SELECT 1; SELECT 2", says="one statement must be given, got several")
    ends("a comment", 3, "sql", "/* nothing */", says="got none")
    ends("an error of SQL", 3, "sql", results, "SELECT nope FROM results", says="no such column: nope")
    ends("an error of a function", 3, "sql", "SELECT bayes_ci_counts(18, 20, 95)", says="did you mean 0.95?")
    made = HERE / "made.db"
    for statement in ("DELETE FROM results", "CREATE TABLE x(y)", "CREATE TEMP TABLE x(y)", f"ATTACH '{made}' AS made", f"VACUUM INTO '{made}'",
                      "PRAGMA writable_schema = 1", "PRAGMA journal_mode = WAL", "DROP TABLE results",
                      "INSERT INTO results SELECT * FROM results", "BEGIN", "PRAGMA trusted_schema = ON", "REINDEX", "ANALYZE"):
        ends(f"{statement} is refused", 3, "sql", database, statement, says="only reading is allowed")
    check("and nothing was made", not made.exists())
    # Some builds of SQLite have no such function.
    code, _, err = run("sql", "SELECT load_extension('x')")
    check(f"no extension is loaded: {err}", code == 3 and ("only reading is allowed" in err or "no such function: load_extension" in err))
    for call in ("fts3_tokenizer('simple', x'4141414141414141')", "fts3_tokenizer('simple')", "FTS3_TOKENIZER('simple', (SELECT max(x'41') FROM results))"):
        code, _, err = run("sql", results, f"SELECT {call}")
        check(f"{call} is refused: {err}", code == 3 and ("only reading is allowed" in err or "no such function: fts3_tokenizer" in err.lower()))
    ends("columns may be asked for", 0, "sql", results, "SELECT name FROM pragma_table_info('results')", says="correct")
    code, out, err = run("sql", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000) SELECT i FROM n", "--csv")
    same("many rows", (code, out.count("\n")), (0, 300001))


def test_plan():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    number = lambda sql: f"{db.execute(sql).fetchone()[0]:,} questions"  # noqa: E731
    ends("a width", 0, "plan", "0.8", "--width", "0.1", says=["10 points wide", number("SELECT plan_n(0.8, 0.1)")])
    out = ends("two accuracies", 0, "plan", "0.80", "0.75", says=["0.8 from 0.75", number("SELECT plan_diff_n(0.8, 0.75)")])
    fits("a plan", out)
    ends("the same questions", 0, "plan", "0.80", "0.85", "--disagree", "0.15", says=number("SELECT plan_paired_n(0.10, 0.05)"))
    ends("with another power", 0, "plan", "0.80", "0.85", "--disagree", "0.15", "--power", "0.9", "--level", "0.99",
         says=[number("SELECT plan_paired_n(0.10, 0.05, 0.9, 0.99)"), "power 0.9", "level 0.99"])
    found = 100 * db.execute("SELECT detectable_diff(300, 0.2)").fetchone()[0]
    ends("what so many find", 0, "plan", "--questions", "300", "--disagree", "0.2", says=f"{found:.1f} points")
    ends("attempts too", 0, "plan", "0.8", "--width", "0.1", "--icc", "0.5", "--cost-question", "1", "--cost-attempt", "0.2",
         says=["if 50% of an answer's variance comes from the question:", "183 questions, 2 attempts at each, at a cost of 256.2"])
    ends("one attempt", 0, "plan", "0.8", "--width", "0.1", "--icc", "0.5", "--cost-question", "0", "--cost-attempt", "2", says="1 attempt at each")
    ends("attempts without costs", 3, "plan", "0.8", "--width", "0.1", "--icc", "0.5", says="must be given together")
    ends("a negative cost", 3, "plan", "0.8", "--width", "0.1", "--icc", "0.5", "--cost-question=-1", "--cost-attempt", "1", says="0 or positive")
    ends("a gate", 0, "plan", "0.9", "--min", "0.8", says=[number("SELECT plan_gate_n(0.9, 0.8)"), "fewer than 13,"])
    ends("a surer gate", 0, "plan", "0.9", "--min", "0.8", "--sure", "0.99", "--power", "0.5", says=number("SELECT plan_gate_n(0.9, 0.8, 0.99, 0.5)"))
    ends("a gate that is too high", 3, "plan", "0.8", "--min", "0.9", says="p must be above t")
    ends("the least that may be said", 3, "plan", says="two accuracies")
    ends("an accuracy alone", 3, "plan", "0.8", says="--width")
    ends("per cents", 3, "plan", "80", "85", says="an accuracy must be from 0 to 1, got '80'")
    ends("models that agree too much", 3, "plan", "0.8", "0.9", "--disagree", "0.05", says="--disagree must be at least the difference 0.1")
    ends("models that do not differ", 3, "plan", "0.8", "0.8", says="must differ")
    ends("too few to find anything", 3, "plan", "--questions", "3", says="plan more questions")


def test_formats():
    out = ends("formats", 0, "formats", says=["csv", "known by", "becomes"])
    fits("formats", out)


def test_input():
    text = results.read_text()
    done = subprocess.run([EVALCI, "leaderboard", "-", "--json"], input=text, capture_output=True, text=True)
    same("standard input is read as a file is", (done.returncode, done.stdout), (0, run("leaderboard", results, "--json")[1]))
    two = csv("two.csv", {"third": 0.5}, 60)
    both = json.loads(ends("two files", 0, "leaderboard", results, two, "--json"))
    same("are read together", len(both), 4)
    both = json.loads(ends("a database and a file", 0, "leaderboard", database, two, "--json"))
    same("too", len(both), 4)
    for name in ("/dev/full",):
        with open(name, "w") as full:
            done = subprocess.run([EVALCI, "leaderboard", results], stdout=full, stderr=subprocess.PIPE, text=True)
        check(f"a full disk is an error: {done.stderr}", done.returncode == 3 and "cannot write" in done.stderr)
    empty = HERE / "empty.db"
    sqlite3.connect(empty).execute("CREATE TABLE results(model, item, correct)")
    ends("an empty table", 0, "leaderboard", empty)


def test_tools():
    """Other tools' small databases and files: known, right and errored answers, the mean of question means
    and the method; counted by hand."""
    made = HERE / "phoenix.db"
    db = sqlite3.connect(made)
    db.executescript((FILES / "phoenix.sql").read_text())
    db.close()
    for source, board in (
            (made, [("new prompt", 6, 6, 2, 1.0, "mean of questions"), ("nightly #3", 2, None, 1, 0.9, "mean"),
                    ("baseline", 7, 2, 1, 0.375, "mean of questions"), ("nightly #4", 3, None, 0, 0.333333, "mean")]),
            (FILES / "lm_eval", [("org__large", 13, 10, 0, 0.769231, "bayes"), ("org/small", 16, None, 2, 0.46875, "mean")]),
            (FILES / "inspect", [("openai/a", 13, None, 5, 0.638889, "mean of questions"), ("openai/b", 8, 3, 0, 0.375, "mean of questions")])):
        rows = json.loads(ends(f"a leaderboard of {source}", 0, "leaderboard", source, "--json"))
        same(f"{source}", [(r["model"], r["n"], r["correct"], r["errored"], round(r["accuracy"], 6), r["method"]) for r in rows], board)


def test_start():
    """A leaderboard of 500 rows takes at most 30 ms, unless the program has sanitizers."""
    if "sanitized" in EVALCI:
        return
    large = csv("500.csv", {"a": 0.7, "b": 0.6, "c": 0.5, "d": 0.8}, 125)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(5):
        run("leaderboard", large)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 5
    check(f"a leaderboard of 500 rows takes {1000 * spent:.0f} ms of processor, at most 30", spent < 0.03)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
own = HERE / "own.db"
with sqlite3.connect(own) as db:
    db.execute("CREATE TABLE results(model, question, correct)")
    db.executemany("INSERT INTO results VALUES (?, ?, ?)", [("m", f"why {i}?", i % 3 > 0) for i in range(30)])
check("a database's column question is the item", json.loads(run("leaderboard", own, "--json")[1])[0]["n"] == 30)
with sqlite3.connect(own) as db:
    db.execute("ALTER TABLE results ADD COLUMN id")
    db.execute("UPDATE results SET id = rowid % 10")
check("unless there is a better one", json.loads(run("leaderboard", own, "--json")[1])[0]["questions"] == 10)
lines = run("formats")[1].splitlines()
check("formats in columns", all(line[16] == " " and line[17] != " " for line in lines if line[0] != " "))

finish()
