#!/usr/bin/python3
"""evalci gate: exit status 0 for pass, 1 fail, 2 unsure, and 3 for every error (contract 46).

    gate.py PROGRAM
"""
import json
import os
import signal
import sqlite3
import subprocess
import time

from running import EVALCI, HERE, check, csv, ends, finish, run, seeded

results = csv("results.csv", {"old": 0.7, "new": 0.7, "better": 0.9, "worse": 0.4, "slightly": 0.69}, 200)
small = csv("small.csv", {"old": 0.7, "new": 0.7}, 20)
database = HERE / "evals.db"
ends("an import", 0, "import", results, "-o", database)


def gate(what, status, *arguments, says=(), source=database, **others):
    return ends(what, status, "gate", source, *arguments, says=says, **others)


# Answers

PAIR = ("--baseline", "old", "--candidate")
gate("better", 0, *PAIR, "better", says="pass: better")
gate("worse", 1, *PAIR, "worse", says="fail: worse")
gate("too few questions", 2, *PAIR, "new", source=small, says=["unsure: new", "more would probably decide"])
gate("the same over the file", 0, *PAIR, "better", source=results, says="pass: better")
gate("a threshold", 0, "--candidate", "better", "--min", "0.8", says="pass: better is not below 80.0%")
gate("a threshold that is missed", 1, "--candidate", "worse", "--min", "0.8", says="fail: worse is below 80.0%")
gate("a threshold that is near", 2, "--candidate", "old", "--min", "0.7", says="unsure: old")
gate("a wider margin", 0, *PAIR, "slightly", "--margin", "0.2", says="20.0 points")
gate("less sure", 0, *PAIR, "new", "--sure", "0.51", "--margin", "0.1", says="pass")
gate("a level", 0, *PAIR, "better", "--level", "0.9", says="90% interval")
for model, status, result in (("better", 0, "pass"), ("worse", 1, "fail")):
    row = json.loads(gate(f"{model} as JSON", status, *PAIR, model, "--json"))
    check(f"it is the row: {row}", row["result"] == result and row["baseline"] == "old" and row["candidate"] == model
          and row["margin"] == 0.02 and row["sure"] == 0.95 and row["questions"] == 200 and row["lo"] < row["diff"] < row["hi"])
odd = ["old 'one'", 'new "two" @x\n$(touch y) `z`\\', "-graded"]
named = HERE / "named.db"
db = sqlite3.connect(named)
db.execute("CREATE TABLE results(model, item, correct)")
db.executemany("INSERT INTO results VALUES (?, ?, 1)", [(m, i) for m in odd for i in range(200)])
db.commit()
for candidate in odd[1:]:
    row = json.loads(gate(f"a model named {candidate!r}", 0, "--baseline", odd[0], f"--candidate={candidate}", "--json", source=named))
    check(f"is compared: {row}", (row["baseline"], row["candidate"]) == (odd[0], candidate))
out = gate("quiet is the same", 0, *PAIR, "better", "--quiet")
check("one line", out.count("\n") == 1)

errors = HERE / "errors.db"
db = sqlite3.connect(errors)
db.execute("CREATE TABLE results(model, item, correct, error)")
db.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", [(m, i, None if m == "new" and i < 8 else i % 5 > 0, "timeout" if m == "new" and i < 8 else None)
                                                           for m in ("old", "new") for i in range(300)])
db.commit()
check("errors count as wrong", "8 errored answers of new counted as wrong" in run("gate", errors, *PAIR, "new")[1])
code, out, _ = run("gate", errors, *PAIR, "new", "--errors", "skip")
check(f"or are left out: {out}", "8 errored answers of new" in out and "counted as wrong" not in out)

# No answer

for what, says, *arguments in (
    ("no candidate", "--candidate must name a model", "--baseline", "old"),
    ("no baseline", "--baseline must name a model, or --min an accuracy, got neither", "--candidate", "new"),
    ("nothing", "--candidate must name a model"),
    ("both gates", "must not both be given", *PAIR, "new", "--min", "0.8"),
    ("a margin of a threshold", "--margin must not be given with --min", "--candidate", "new", "--min", "0.8", "--margin", "0.1"),
    ("an unknown candidate", "has no model 'none'; evalci leaderboard lists them", *PAIR, "none"),
    ("an unknown baseline", "has no model 'none'", "--baseline", "none", "--candidate", "new"),
    ("an empty baseline", "has no model ''", "--baseline", "", "--candidate", "new"),
    ("the same model", "candidate must not be the baseline", *PAIR, "old"),
    ("per cents of a baseline", "did you mean 0.85?", "--baseline", "85", "--candidate", "new"),
    ("a margin of words", "--margin must be a number from 0 to below 1, got 'x'", *PAIR, "new", "--margin", "x"),
    ("a margin of per cents", "did you mean 0.02?", *PAIR, "new", "--margin", "2"),
    ("a margin below 0", "--margin must be a number from 0", *PAIR, "new", "--margin", "-0.1"),
    ("a margin of 1", "--margin must be a number from 0 to below 1", *PAIR, "new", "--margin", "1"),
    ("an empty margin", "--margin must be a number", *PAIR, "new", "--margin", ""),
    ("sure of nothing", "--sure must be a number strictly between 0.5 and 1, got '0.5'", *PAIR, "new", "--sure", "0.5"),
    ("sure of all", "--sure must be a number strictly between 0.5 and 1", *PAIR, "new", "--sure", "1"),
    ("sure in per cents", "did you mean 0.95?", *PAIR, "new", "--sure", "95"),
    ("a least of words", "--min must be a number strictly between 0 and 1", "--candidate", "new", "--min", "high"),
    ("a least of per cents", "did you mean 0.85?", "--candidate", "new", "--min", "85"),
    ("with its sign", "must be a number strictly between 0 and 1, got '85%'; did you mean 0.85?", "--candidate", "new", "--min", "85%"),
    ("a half per cent", "did you mean 0.005?", *PAIR, "new", "--margin", "0.5%"),
    ("too many per cent", "--min must be a number strictly between 0 and 1, got '850%'; evalci gate --help", "--candidate", "new", "--min", "850%"),
    ("a sign alone", "got '%'; evalci gate --help", "--candidate", "new", "--min", "%"),
    ("a long one", "evalci gate --help", "--candidate", "new", "--min", "0" * 40 + "85%"),
    ("per cents of what has none", "--lo must be a number", *PAIR, "new", "--lo", "85%"),
    ("a least of 0", "--min must be a number", "--candidate", "new", "--min", "0"),
    ("a level", "--level must be a number", *PAIR, "new", "--level", "2"),
    ("errors", "--errors must be skip or wrong", *PAIR, "new", "--errors", "maybe"),
    ("by task", "--by is not an option of this verb", *PAIR, "new", "--by", "task"),
    ("an unknown option", "did you mean --candidate?", "--candidat", "new"),
    ("an option without a value", "--candidate must be followed by MODEL", "--candidate"),
    ("an option twice", "given twice", *PAIR, "new", "--candidate", "new"),
    ("CSV", "--csv is not an option of this verb", *PAIR, "new", "--csv"),
    ("a column that is not there", "has no column q", *PAIR, "new", "--item", "q"),
    ("a table that is not there", "nothere", *PAIR, "new", "--table", "nothere"),
    ("an unknown format", "nothing", *PAIR, "new", "--from", "nothing"),
    ("scores the wrong way round", "--lo must be below --hi, got 1 and 0", *PAIR, "new", "--lo", "1", "--hi", "0"),
    ("a bound of words", "--lo must be a number", *PAIR, "new", "--lo", "low"),
):
    gate(what, 3, *arguments, says=says)
GATE = (*PAIR, "new")
graded = HERE / "graded.csv"
graded.write_text("model,item,score\n" + "".join(f"{m},{i},{50 + i % 2 * 40}\n" for m in ("old", "new") for i in range(200)))
for way in (PAIR[:2], ("--min", "0.5")):
    gate("scores outside their range", 3, "--candidate", "new", *way, source=graded, says="scores of task 'graded' go from 50 to 90; add --lo 0 --hi 100")
gate("scores in the range that is given", 0, *GATE, "--hi", "100", source=graded, says="pass: new")
apart = [csv("first.csv", {"old": 0.7}, 200, header="model,note,item,correct"), csv("second.csv", {"new": 0.7}, 200, header="model,note,item,correct")]
ends("a file per model, no column task", 2, "gate", *apart, *GATE, says=["no question was asked of both", "add --task-name NAME"])
ends("one task's name", 0, "gate", *apart, *GATE, "--task-name", "t", says="pass: new")
ends("no results", 3, "gate", *GATE, says="RESULTS must be named")
gate("no such file", 3, *GATE, source=HERE / "none.db", says="none.db")
gate("an empty file", 3, *GATE, source="/dev/null")
(HERE / "folder").mkdir()
gate("an empty folder", 3, *GATE, source=HERE / "folder")
cut = HERE / "cut.db"
cut.write_bytes(database.read_bytes()[:6000])
gate("a database that was cut", 3, *GATE, source=cut)
garbled = HERE / "garbled.db"
garbled.write_bytes(b"SQLite format 3\0" + seeded(126).randbytes(5000))
gate("a file that is not a database", 3, *GATE, source=garbled)
bad = csv("bad.csv", {"old": 0.5}, 3)
bad.write_text(bad.read_text() + "new,t,1,maybe\n")
code, out, err = run("gate", bad, *GATE)
check(f"an answer that is neither: {err}", code == 3 and "maybe" in err and not out)
words = HERE / "words.db"
db = sqlite3.connect(words)
db.execute("CREATE TABLE results(model, item, correct)")
db.executemany("INSERT INTO results VALUES (?, 1, ?)", [("old", "yes"), ("new", "no")])
db.commit()
gate("answers in words, in a database", 3, *GATE, source=words, says="yes")
counts = HERE / "counts.db"
db = sqlite3.connect(counts)
db.execute("CREATE TABLE results(model, k, n)")
db.executemany("INSERT INTO results VALUES (?, ?, 20)", [("old", 15), ("new", 18)])
db.commit()
gate("counts have no questions", 3, *GATE, source=counts)
if os.getuid():
    locked = HERE / "unreadable.db"
    locked.write_bytes(database.read_bytes())
    locked.chmod(0)
    gate("a file that may not be read", 3, *GATE, source=locked)
holder = sqlite3.connect(database, isolation_level=None)
holder.execute("BEGIN EXCLUSIVE")
gate("a database that stays locked", 3, *GATE, says="is locked by another program")
waiting = [subprocess.Popen([EVALCI, *arguments], stdout=subprocess.PIPE) for arguments in
           (("gate", database, *PAIR, "better"), ("report", database), ("leaderboard", database))]
time.sleep(1)
holder.execute("ROLLBACK")
for process in waiting:
    out, _ = process.communicate()
    check(f"one that is let go is read: {process.args[1]}", process.returncode == 0 and out)
with open("/dev/full", "w") as full:
    done = subprocess.run([EVALCI, "gate", str(database), *PAIR, "better"], stdout=full, stderr=subprocess.PIPE, text=True)
check(f"an answer that cannot be printed: {done.returncode} {done.stderr}", done.returncode == 3 and "cannot write" in done.stderr)
done = subprocess.run(f"'{EVALCI}' gate '{database}' --baseline old --candidate better >&-", shell=True, capture_output=True, text=True)
check(f"nor to a closed output: {done.returncode} {done.stderr}", done.returncode == 3)
# A sanitizer reserves more than that for itself.
memory = "unlimited" if "sanitized" in EVALCI else 30000
limited = subprocess.run(["sh", "-c", f"ulimit -v {memory}; '{EVALCI}' gate '{database}' --baseline old --candidate better"], capture_output=True, text=True)
check(f"with little memory it passes or says that it cannot: {limited.returncode} {limited.stderr}", limited.returncode in (0, 3))

# One that is killed gives no answer either.
endless = subprocess.Popen([EVALCI, "gate", "-", *GATE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
endless.send_signal(signal.SIGTERM)
out, err = endless.communicate()
check("a signal ends it", endless.returncode == -signal.SIGTERM and not out)
finish()
