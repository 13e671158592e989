#!/usr/bin/python3
"""The program writes a file whole or not at all: imports and pages despite kill -9, full disks, locks and
concurrent runs (contract 48).  Read-only databases, and files that change while they are read.

    writing.py PROGRAM [KILLS]

build/faulty.so makes the system fail at a chosen moment.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

from running import EVALCI, HERE, ROOT, check, csv, ends, finish, left, run, seeded

MOMENTS = seeded(22)
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 6
ROWS, SOME = 60000, 3000
one, two = csv("one.csv", {"one": 0.5}, 40), csv("two.csv", {"two": 0.5}, 40)
many = csv("many.csv", {"many": 0.5}, ROWS)
some = csv("some.csv", {"some": 0.5}, SOME)
bad = csv("bad.csv", {"bad": 0.5}, 3)
bad.write_text(bad.read_text() + "bad,t,9,maybe\n")


def folder(name):
    made = HERE / name
    made.mkdir()
    return made


def answers(path):
    """The number of answers in a database that passes its integrity check; 0 if there is none."""
    if not path.exists():
        return 0
    db = sqlite3.connect(path)
    try:
        check(f"{path} is sound", db.execute("PRAGMA integrity_check").fetchone() == ("ok",))
        return db.execute("SELECT count(*) FROM results").fetchone()[0]
    finally:
        db.close()


def start(*arguments, **others):
    return subprocess.Popen([EVALCI, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **others)


def silenced(what, made, *arguments):
    """Contract 46: if the file that -o names is complete and only standard output fails, the status is 0 and standard
    error says so."""
    for how in (">&-", ">/dev/full"):
        made.unlink(missing_ok=True)
        done = subprocess.run(["sh", "-c", f'"$@" {how}', "sh", EVALCI, *map(str, arguments), "-o", str(made)], stderr=subprocess.PIPE, text=True)
        check(f"{what} {how}: {done.returncode} {done.stderr}", done.returncode == 0 and f"'{made}' is complete" in done.stderr)
        check(f"{what} {how} is there", made.stat().st_size > 1000)
        done = subprocess.run(["sh", "-c", f'"$@" {how}', "sh", EVALCI, *map(str, arguments), "-o", str(made), "--quiet"], stderr=subprocess.PIPE, text=True)
        check(f"{what} {how}, with nothing to tell: {done.returncode} {done.stderr}", done.returncode == 0 and done.stderr == "")


def test_no_output():
    home = folder("silent")
    silenced("an import", home / "evals.db", "import", one)
    check("with all answers", answers(home / "evals.db") == 40)
    silenced("a page", home / "page.html", "report", one)
    for how in (">&-", ">/dev/full"):
        done = subprocess.run(["sh", "-c", f'"$@" {how}', "sh", EVALCI, "report", str(one), "-o", "-"], stderr=subprocess.PIPE, text=True)
        check(f"a page to standard output {how}: {done.returncode} {done.stderr}", done.returncode == 3 and "cannot write" in done.stderr)


def test_names():
    """Contract 47: a name with control characters is shown in the form in which a shell reads it."""
    home = folder("names")
    for name in ("a b.db", "it's.db", "a\nNext: evalci sql x.db", "\033[2Jit's\\.db", "\u202ebd.db", "\u0085.db", b"\xff.db", "é.db"):
        target = os.fsencode(home) + b"/" + os.fsencode(name)
        done = subprocess.run([EVALCI, "import", one, "-o", target], capture_output=True)
        check(f"{name!r}: {done}", done.returncode == 0 and os.path.exists(target))
        told = done.stdout.decode()
        check(f"{name!r} steers nothing: {told!r}", all(c == "\n" or c.isprintable() for c in told))
        last = told.splitlines()[-1]
        check(f"{name!r} stands on one line: {told!r}", last.startswith("Next: evalci leaderboard ") and told.count("\nNext:") == 1)
        echoed = subprocess.run(["bash", "-c", "printf %s " + last.removeprefix("Next: evalci leaderboard ")], capture_output=True).stdout
        check(f"{name!r} is read back: {echoed!r}", echoed == target)
        page = subprocess.run([EVALCI, "report", one, "-o", target + b".html"], capture_output=True)
        told = page.stdout.decode()
        check(f"{name!r} of a page: {told!r}", page.returncode == 0 and told.count("\n") == 1 and told[:-1].isprintable())


def test_import():
    home = folder("import")
    new = home / "evals.db"
    out = ends("into a new database", 0, "import", one, "-o", new, says=["one.csv", "40 answers", f"Next: evalci leaderboard {new}"])
    check("no word of a metric where there is none", "metric" not in out)
    out = ends("an import of lm_eval's", 0, "import", ROOT / "tests/views/adapters/lm_eval", "-o", home / "lm_eval.db")
    check("which metric was taken is said", "metric" in out and "exact_match" in out)
    (home / "lm_eval.db").unlink()
    check("a summary fits 80 columns", all(len(line) <= 80 for line in out.splitlines() if "/" not in line))
    check("nothing lies beside it", left(home, "evals.db"))
    check("it may be read as other files may", new.stat().st_mode & 0o777 == 0o666 & ~mask())
    before = new.read_bytes()
    ends("again", 0, "import", one, "-o", new, says="40 answers")
    check("changes nothing", answers(new) == 40 and dump(before, new))
    ends("more", 0, "import", two, "-o", new, says="80 answers")
    ends("one that is refused", 3, "import", bad, "-o", new, says="maybe")
    check("leaves what was there", answers(new) == 80)
    ends("one of two that is refused", 3, "import", many, bad, "-o", home / "none.db", says="maybe")
    check("makes nothing", left(home, "evals.db"))
    check("quiet says nothing", run("import", one, "-o", home / "quiet.db", "--quiet") == (0, "", ""))
    ends("no -o", 3, "import", one, says="-o must name a database, got none")
    ends("a folder for a database", 3, "import", one, "-o", home, says="-o must name a database")
    ends("nothing to read", 3, "import", "-o", new, says="RESULTS must be named")
    ends("into itself", 3, "import", new, "-o", new, says="cannot be imported into itself")
    os.symlink(new, home / "link.db")
    ends("into itself by another name", 3, "import", home / "link.db", "-o", new, says="into itself")
    ends("through a link", 0, "import", many, "-o", home / "link.db", says="60,080 answers")
    check("the link is one still", (home / "link.db").is_symlink() and answers(new) == ROWS + 80)
    (home / "text.db").write_text("these are notes, not a database; " * 50)
    ends("into a file that is not a database", 3, "import", one, "-o", home / "text.db", says="not a database")
    check("which is as it was", (home / "text.db").read_text().startswith("these are notes"))
    ends("where there is no folder", 3, "import", one, "-o", home / "none/evals.db", says="No such file")
    spaced = home / "it's here.db"
    ends("a name with a space and a quote", 0, "import", one, "-o", spaced, says="'\\''s here.db'")
    done = subprocess.run([EVALCI, "import", "-", "-o", home / "input.db"], input=one.read_text(), capture_output=True, text=True)
    check(f"standard input: {done.stderr}", done.returncode == 0 and answers(home / "input.db") == 40)


def mask():
    old = os.umask(0)
    os.umask(old)
    return old


def dump(before, path):
    """The rows of a database, given as bytes."""
    copy = HERE / "before.db"
    copy.write_bytes(before)
    return all(list(a) == list(b) for a, b in zip(*(sqlite3.connect(p).execute("SELECT * FROM results") for p in (copy, path))))


def killed(what, target, wanted, which):
    """Kills an import at a random moment: afterwards all answers are there, or none."""
    began = time.time()
    whole = start("import", many, "-o", HERE / "timed.db")
    whole.communicate()
    (HERE / "timed.db").unlink()
    process = start("import", many, "-o", target)
    time.sleep(MOMENTS.random() * 1.1 * (time.time() - began))
    process.send_signal(which)
    out, err = process.communicate()
    there = answers(target)
    ended = process.returncode
    check(f"{what}: it was killed or is done, {ended} {err}", ended in (0, -which))
    check(f"{what}: {there} answers, all or none", there in wanted and (ended or there == wanted[-1]))
    check(f"{what}: says nothing of success before it is done", ended == 0 or "now has" not in out or there == wanted[-1])
    return ended


def test_kill():
    home = folder("kill")
    new = home / "evals.db"
    for i in range(KILLS):
        killed(f"new, kill {i}", new, (0, ROWS), signal.SIGKILL)
        others = [name for name in os.listdir(home) if name != "evals.db"]
        check(f"what is left is a part, not {others}", all(name.startswith(".evalci-") for name in others))
        shutil.rmtree(home)
        home.mkdir()
        ends("a database", 0, "import", one, "-o", new)
        killed(f"in place, kill {i}", new, (40, ROWS + 40), signal.SIGKILL)
        ends("an import after that", 0, "import", two, "-o", new)
        check("is there", answers(new) in (80, ROWS + 80))
        shutil.rmtree(home)
        home.mkdir()
    for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for i in range(2):
            killed(f"new, signal {which}", new, (0, ROWS), which)
            check(f"a signal {which} leaves nothing", left(home, *[n for n in os.listdir(home) if n == "evals.db"]))
            new.unlink(missing_ok=True)
            ends("a database", 0, "import", one, "-o", new)
            killed(f"in place, signal {which}", new, (40, ROWS + 40), which)
            check(f"a signal {which} leaves no journal", left(home, "evals.db"))
            new.unlink()
    waiting = start("import", "-", "-o", new, stdin=subprocess.PIPE)
    time.sleep(0.2)
    waiting.send_signal(signal.SIGINT)
    waiting.wait(10)
    waiting.communicate()
    check("one that waits for input is ended too", waiting.returncode == -signal.SIGINT and left(home))


def faulty(fault, *arguments, **settings):
    """Runs the program while the system fails as faulty.c says."""
    return subprocess.run([EVALCI, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                          env={**os.environ, "LD_PRELOAD": str(ROOT / "build/faulty.so"), "FAULT": fault, **{key: str(to) for key, to in settings.items()}})


READING = (("leaderboard",), ("tasks",), ("compare",), ("questions",), ("noise",), ("slices",), ("passes",), ("report",), ("gate", "--min", "0.1", "--candidate", "one"))


def counted(path):
    """The number of answers that the program itself finds."""
    code, out, err = run("sql", path, "SELECT count(*) AS n FROM results", "--csv")
    check(f"the answers are counted: {code} {err}", code == 0)
    return int(out.split()[1]) if code == 0 else None


def read_first(what, i, target, wanted):
    """The first to read a database after something went wrong is a verb of the program: each of them in turn, and an
    import into another database."""
    copied = HERE / "copied"
    shutil.rmtree(copied, ignore_errors=True)
    shutil.copytree(target.parent, copied)
    verb, *more = READING[i % len(READING)]
    code, _, err = run(verb, target, *more)
    check(f"{what}: {verb} reads it: {code} {err}", code in (0, 1, 2) and err == "")
    there = counted(target)
    check(f"{what}: {there} answers, all or none", there in wanted)
    code, _, err = run("import", copied / target.name, "-o", HERE / "copied.db", "--quiet")
    check(f"{what}: it is imported elsewhere: {code} {err}", code == 0 and answers(HERE / "copied.db") == there)
    (HERE / "copied.db").unlink(missing_ok=True)
    return there


def test_each_kill():
    """An import into a database that is killed at each change it makes to a file: the database can be read at once."""
    home = folder("each")
    target = home / "evals.db"
    for mode in ("DELETE", "TRUNCATE", "PERSIST", "WAL"):
        first = HERE / f"first-{mode}.db"
        ends("a database", 0, "import", one, "-o", first)
        with contextlib.closing(sqlite3.connect(first)) as db:
            db.execute(f"PRAGMA journal_mode = {mode}")
        seen, kills, whole = set(), 0, False
        while not whole and kills < 400:
            kills += 1
            for name in os.listdir(home):
                (home / name).unlink()
            shutil.copy(first, target)
            if mode == "PERSIST":  # the mode is the connection's: an old journal lies there, its head cleared
                (home / "evals.db-journal").write_bytes(bytes(4096))
            done = faulty(f"kill:{kills}", "import", some, "-o", target)
            whole = done.returncode == 0
            check(f"{mode}, kill {kills}: {done.returncode} {done.stderr}", done.returncode in (0, -signal.SIGKILL))
            seen.add(read_first(f"{mode}, kill {kills}", kills, target, (40, SOME + 40)))
        check(f"{mode}: {kills} kills, {seen}", 20 < kills < 400 and seen == {40, SOME + 40} and whole)
    shutil.rmtree(home)
    home.mkdir()
    kills = 1
    while faulty(f"kill:{kills}", "import", some, "-o", target).returncode:
        check(f"a new database, kill {kills}", counted(target) == SOME if target.exists() else all(name.endswith(".part") for name in os.listdir(home)))
        target.unlink(missing_ok=True)
        kills += 1
    check(f"a new database: {kills} kills", kills > 10 and counted(target) == SOME)


def test_each_full():
    """A disk that is full from each change on, or fails at it once: the import says so, and undoes what it did before it ends."""
    home = folder("each-full")
    target, first = home / "evals.db", HERE / "first.db"
    ends("a database", 0, "import", one, "-o", first)
    # Rows of 4 MB do not fit SQLite's cache, so they reach the file before the transaction ends.
    wide = csv("wide.csv", {"wide": 0.5}, 20000)
    wide.write_text(wide.read_text().replace(",t,", f",t,{'x' * 200}"))
    for source, moments in ((some, range(1, 60)), (wide, [*range(1, 40, 4), *range(40, 2000, 150)])):
        for fault, says in (("full", "disk is full"), ("once", "disk I/O error")):
            failed = 0
            for i, at in enumerate(moments):
                shutil.copy(first, target)
                done = faulty(f"{fault}:{at}", "import", source, "-o", target)
                what = f"{source.name}, {fault} {at}"
                if done.returncode == 0:
                    check(f"{what}: all is there", counted(target) > SOME)
                    continue
                failed += 1
                check(f"{what}: {done.returncode} {done.stderr}", done.returncode == 3 and says in done.stderr)
                journal = home / "evals.db-journal"  # one without its head may be left, and counts for nothing
                check(f"{what}: nothing is to be put back", not journal.exists() or journal.read_bytes()[:1] == b"\0")
                check(f"{what}: the database is as it was", target.read_bytes() == first.read_bytes())
                read_first(what, i, target, (40,))
                journal.unlink(missing_ok=True)
            check(f"{source.name}, {fault}: at {failed} of {len(moments)} moments", 6 < failed < len(moments))


def test_committed():
    """A lock that cannot be let go does not undo a transaction that is done."""
    home = folder("committed")
    target = home / "evals.db"
    ends("a database", 0, "import", one, "-o", target)
    done = faulty("unlock:0", "import", two, "-o", target)
    there = counted(target)
    check(f"what was imported is said to be: {there} {done.returncode} {done.stderr}", (there, done.returncode, done.stderr) == (80, 0, ""))


def cut_off(target):
    """Kills an import when its journal is on the disk, with its head; returns the journal's path."""
    journal = pathlib.Path(f"{target}-journal")
    for kills in range(1, 400):
        faulty(f"kill:{kills}", "import", some, "-o", target)
        if journal.exists() and journal.stat().st_size > 2000 and journal.read_bytes()[:4] != bytes(4):
            return journal
    raise AssertionError("no journal")


def test_foreign_journal():
    """A journal that names another file, which SQLite deletes when it plays the journal back, is not played back by a
    verb that reads."""
    home = folder("foreign")
    target, other = home / "evals.db", home / "other"
    ends("a database", 0, "import", one, "-o", target)
    journal = cut_off(target)
    other.write_text("not a list of journals")
    name = os.fsencode(other)
    plain = journal.read_bytes()
    page = int.from_bytes(plain[24:28], "big")
    journal.write_bytes(plain + (2 ** 30 // page + 1).to_bytes(4, "big") + name + len(name).to_bytes(4, "big") + (sum(b if b < 128 else b - 256 for b in name) % 2 ** 32).to_bytes(4, "big") + bytes.fromhex("d9d505f920a163d7"))
    kept = home / "kept"
    kept.write_bytes(journal.read_bytes())
    ends("is left alone, and how to undo the change is said", 3, "leaderboard", target, says=["evals.db-journal' holds a change that was cut off", "sqlite3"])
    ends("by an import too", 3, "import", target, "-o", home / "new.db", says="holds a change that was cut off")
    check("the other file is there", other.read_text() == "not a list of journals" and journal.read_bytes() == kept.read_bytes())
    with contextlib.closing(sqlite3.connect(target)) as db:
        check("SQLite itself would have deleted it", db.execute("SELECT count(*) FROM results").fetchone() == (40,) and not other.exists())


def test_left_over():
    """Parts that killed programs left are removed after a day: those of this program, of this user, of no process."""
    home = folder("left-over")
    ended = subprocess.Popen(["true"])
    ended.wait()
    old, now = time.time() - 2 * 86400, time.time() - 3600
    names = {f".evalci-{ended.pid}-0.part": (old, False), f".evalci-{ended.pid}-17.part": (old, False), f".evalci-{ended.pid}-1.part": (now, True),
             f".evalci-{os.getpid()}-0.part": (old, True), f".evalci-{ended.pid}-0.part.txt": (old, True), f".evalci-0{ended.pid}-0.part": (old, True),
             f".evalci-{ended.pid}.part": (old, True), ".evalci-x-0.part": (old, True), ".evalci--1-0.part": (old, True), f"evalci-{ended.pid}-0.part": (old, True)}
    for make, made in (("import", "evals.db"), ("report", "page.html")):
        for name, (when, _) in names.items():
            (home / name).write_text("x")
            os.utime(home / name, (when, when))
        (home / f".evalci-{ended.pid}-2.part").mkdir(exist_ok=True)
        os.utime(home / f".evalci-{ended.pid}-2.part", (old, old))
        (home / f".evalci-{ended.pid}-3.part").unlink(missing_ok=True)
        (home / f".evalci-{ended.pid}-3.part").symlink_to(one)
        os.utime(home / f".evalci-{ended.pid}-3.part", (old, old), follow_symlinks=False)
        kept = [name for name, (_, stays) in names.items() if stays] + [f".evalci-{ended.pid}-2.part", f".evalci-{ended.pid}-3.part"]
        if os.geteuid() == 0:
            (home / f".evalci-{ended.pid}-4.part").write_text("another user's")
            os.chown(home / f".evalci-{ended.pid}-4.part", 65534, 65534)
            os.utime(home / f".evalci-{ended.pid}-4.part", (old, old))
            kept.append(f".evalci-{ended.pid}-4.part")
        ends(f"{make} beside them", 0, make, one, "-o", home / made)
        check(f"what {make} leaves: {sorted(os.listdir(home))}", left(home, made, *kept))
        (home / made).unlink()


def test_synced():
    """The folder is on the disk before the program says that a file is there."""
    home = folder("synced")
    log = HERE / "log"
    for make, how, made in (("import", "link", "evals.db"), ("report", "rename", "page.html")):
        log.unlink(missing_ok=True)
        done = faulty("log:0", make, one, "-o", home / made, FAULT_LOG=log)
        told = [line.split() for line in log.read_text().splitlines()]
        check(f"{make}: {told} {done.stderr}", done.returncode == 0 and [line[0] for line in told] == [how, "sync"] and told[0][2] == str(home / made))


def test_changing():
    """A file that changes while it is read is refused by its name, by every verb and in every form."""
    home = folder("changing")
    lines = some.read_text()
    objects = "".join('{"model":"m","item":%d,"correct":1,"text":"%s"}\n' % (i, "x" * 50) for i in range(3000))
    for name, text in (("grows.csv", lines), ("grows.jsonl", objects)):
        path = home / name
        for piece in range(1, 9):
            path.write_text(text)
            done = faulty(f"append:{piece}", *(("import", path, "-o", home / "evals.db") if piece % 2 else ("leaderboard", home)), FAULT_FILE=path)
            grown = path.stat().st_size > len(text)
            check(f"{name} grows at piece {piece}: {done.returncode} {done.stderr}",
                  done.returncode == 3 and f"{path}: it changed while it was read" in done.stderr if grown else done.returncode == 0)
            check(f"{name}, piece {piece}: {os.listdir(home)}", left(home, name) if grown else piece > 4)
            (home / "evals.db").unlink(missing_ok=True)
        path.unlink()


def test_at_once():
    home = folder("once")
    new = home / "evals.db"
    for i in range(8):
        some = [start("import", path, "-o", new) for path in (one, bad, two)]
        ends_of = [process.communicate() and process.returncode for process in some]
        check(f"of three at once two are taken: {ends_of}", ends_of == [0, 3, 0] and answers(new) == 80)
        check("and nothing else is left", left(home, "evals.db"))
        new.unlink()
    for name, there in (("one", 40), ("two", 80)):
        slow = start("import", many, "-o", new)
        time.sleep(0.02)
        slow.send_signal(signal.SIGSTOP)
        code = run("import", HERE / f"{name}.csv", "-o", new)[0]
        slow.send_signal(signal.SIGCONT)
        _, err = slow.communicate()
        check(f"an import that is overtaken is done in place: {err}", code == slow.returncode == 0 and answers(new) == ROWS + 40)
        check("and leaves nothing else", left(home, "evals.db"))
        new.unlink()
    refused = start("import", "-", "-o", new, stdin=subprocess.PIPE)
    refused.stdin.write(one.read_text())
    refused.stdin.flush()
    time.sleep(0.2)
    ends("meanwhile", 0, "import", two, "-o", new)
    out, err = refused.communicate()
    check(f"input that cannot be read again: {err}", refused.returncode in (0, 3) and answers(new) == (80 if refused.returncode == 0 else 40))
    check("leaves nothing else", left(home, "evals.db"))


def test_locked():
    home = folder("locked")
    new = home / "evals.db"
    ends("a database", 0, "import", one, "-o", new)
    holder = sqlite3.connect(new, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    began = time.time()
    ends("a locked database", 3, "import", two, "-o", new, says="is locked by another program; nothing was imported")
    check("was waited for, 5 seconds", 4.5 < time.time() - began < 15)
    waiting = start("import", two, "-o", new)
    time.sleep(1)
    holder.execute("COMMIT")
    waiting.communicate()
    check("one that is let go is taken", waiting.returncode == 0 and answers(new) == 80)
    holder.execute("PRAGMA journal_mode = WAL")
    holder.execute("BEGIN")
    holder.execute("SELECT count(*) FROM results").fetchone()
    ends("a log, while another reads", 0, "import", many, "-o", new)
    check("the reader reads on", holder.execute("SELECT count(*) FROM results").fetchone() == (80,))
    holder.execute("COMMIT")
    check("and then sees it", holder.execute("SELECT count(*) FROM results").fetchone() == (ROWS + 80,))
    ends("a leaderboard beside it", 0, "leaderboard", new, says="many")
    holder.close()


def test_lone_journal():
    """A journal that lies without its database is not applied to a new one."""
    home = folder("journal")
    new, other = home / "evals.db", HERE / "hot.db"
    ends("a database", 0, "import", many, "-o", other)
    db = sqlite3.connect(other, isolation_level=None)
    db.executescript("PRAGMA cache_size = 1; BEGIN; UPDATE results SET item = item || 'x'")
    shutil.copy(f"{other}-journal", f"{new}-journal")
    db.execute("ROLLBACK")
    ends("beside a lost database's journal", 0, "import", one, "-o", new)
    check("it has its own rows", answers(new) == 40)


def limited(command, blocks, ignored):
    trap = "trap '' XFSZ; " if ignored else ""
    return subprocess.run(["sh", "-c", f'{trap}ulimit -f {blocks}; exec "$@"', "sh", EVALCI, *map(str, command)], capture_output=True, text=True)


def test_full():
    home = folder("full")
    new = home / "evals.db"
    for ignored in (True, False):
        done = limited(["import", many, "-o", new], 400, ignored)
        check(f"no room for a new database: {done.returncode} {done.stderr}", done.returncode == 3 and done.stderr.startswith("evalci import: "))
        check("leaves nothing", left(home))
        ends("a small one", 0, "import", one, "-o", new)
        done = limited(["import", many, "-o", new], 400, ignored)
        check(f"no room in a database: {done.returncode} {done.stderr}", done.returncode == 3)
        check("leaves that as it was", answers(new) == 40 and left(home, "evals.db"))
        new.unlink()
    disk = folder("disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True).returncode:
        print("skipped: a real full disk needs root and mount")
        return
    try:
        new = disk / "evals.db"
        code, _, err = run("import", many, "-o", new)
        check(f"a full disk: {err}", code == 3 and "nothing was imported" in err and left(disk))
        ends("a small one fits", 0, "import", one, "-o", new)
        code, _, err = run("import", many, "-o", new)
        check(f"a full disk beneath a database: {err}", code == 3 and answers(new) == 40 and left(disk, "evals.db"))
        page = disk / "page.html"
        page.write_text("the old page")
        with open(disk / "filler", "wb", buffering=0) as filler:
            with contextlib.suppress(OSError):
                while filler.write(b"x" * 4096):
                    pass
        code, out, err = run("report", one, "-o", page)
        check(f"a page on a full disk: {err}", code == 3 and "wrote" not in out and "No space left" in err)
        check("the old page is there, and no part of a new one", page.read_text() == "the old page" and left(disk, "evals.db", "filler", "page.html"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_read_only():
    home = folder("ro")
    new = home / "evals.db"
    ends("a database", 0, "import", one, "-o", new)
    disk = folder("ro-disk")
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(disk)], capture_output=True).returncode:
        print("skipped: a file system that is read only needs root and mount")
        return
    try:
        db = sqlite3.connect(disk / "wal.db")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE results(model, item, correct)")
        db.executemany("INSERT INTO results VALUES ('m', ?, 1)", [(i,) for i in range(30)])
        db.commit()
        db.close()
        shutil.copy(new, disk / "evals.db")
        shutil.copy(disk / "wal.db", disk / "100% #1?.db")
        (disk / "with.db").write_bytes((disk / "wal.db").read_bytes())
        (disk / "with.db-wal").write_bytes(b"x" * 5000)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for name in ("wal.db", "100% #1?.db"):
            ends(f"an import of {name}", 0, "import", disk / name, "-o", home / "taken.db", says="30 answers")
            (home / "taken.db").unlink(missing_ok=True)
        ends("not if its log has answers", 3, "import", disk / "with.db", "-o", home / "taken.db", says="copy both elsewhere")
        ends("into a file system that is read only", 3, "import", one, "-o", disk / "new.db", says="Read-only file system")
        ends("into a database that is read only", 3, "import", two, "-o", disk / "evals.db", says="readonly")
        ends("a report of a database that is read only", 0, "report", disk / "evals.db", "-o", home / "page.html")
        ends("a database with a log can be read there", 0, "leaderboard", disk / "wal.db", says="m")
        ends("whatever its name", 0, "report", disk / "100% #1?.db", "-o", home / "page.html")
        ends("not if its log has answers", 3, "leaderboard", disk / "with.db", says="copy both elsewhere")
        ends("a page cannot be written there", 3, "report", new, "-o", disk / "page.html", says="Read-only file system")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def as_nobody(*arguments):
    """The status and what is printed, for a user who may write nothing here."""
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run([HERE / "evalci", *map(str, arguments)], capture_output=True, text=True, cwd="/", **nobody)
    return done.returncode, done.stdout, done.stderr


def test_forbidden():
    """Databases in a folder that one may not write: EACCES, where a read-only file system has EROFS."""
    home, out = folder("forbidden"), folder("out")
    shutil.copy(EVALCI, HERE / "evalci")
    ends("a database", 0, "import", one, "-o", home / "plain.db")
    for name in ("closed.db", "open.db", "log.db"):
        shutil.copy(home / "plain.db", home / name)
        with contextlib.closing(sqlite3.connect(home / name)) as db:
            db.execute("PRAGMA journal_mode = WAL")
    holder = sqlite3.connect(home / "open.db", isolation_level=None)
    holder.execute("UPDATE results SET model = 'two'")
    shutil.copy(home / "open.db-wal", home / "log.db-wal")
    shutil.copy(home / "plain.db", home / "cut.db")
    cut_off(home / "cut.db")
    shutil.copy(home / "log.db", home / "secret.db")
    shutil.copy(home / "log.db-wal", home / "secret.db-wal")
    for path in (HERE, home, *home.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (home / "secret.db-wal").chmod(0o000)
    home.chmod(0o555)
    out.chmod(0o777)
    try:
        code, _, err = as_nobody("import", one, "-o", home / "new.db")
        check(f"nothing can be written there: {err}", code == 3 and "Permission denied" in err)
        for name, model in (("plain.db", "one"), ("closed.db", "one"), ("open.db", "two")):
            for verb in (("leaderboard", home / name), ("compare", home / name), ("report", home / name, "-o", out / "page.html"), ("import", home / name, "-o", out / "taken.db")):
                code, told, err = as_nobody(*verb)
                check(f"{verb[0]} of {name}: {code} {err}", code == 0 and err == "")
                check(f"{verb[0]} of {name} reads the latest answers: {told}", verb[0] not in ("leaderboard", "import") or model in told)
            (out / "taken.db").unlink(missing_ok=True)
        for name, says in (("log.db", "log.db-wal' holds answers that can be read only where files can be made; copy both elsewhere"), ("secret.db", "secret.db-wal' holds answers"), ("cut.db", "cut.db-journal' holds a change that was cut off")):
            for verb in (("leaderboard", home / name), ("import", home / name, "-o", out / "taken.db")):
                code, _, err = as_nobody(*verb)
                check(f"{verb[0]} of {name}: {code} {err}", code == 3 and says in err and "readonly" not in err and left(out, "page.html"))
    finally:
        home.chmod(0o755)
    ends("where one may write the log is read", 0, "leaderboard", home / "log.db", says="two")
    ends("and the change is undone", 0, "leaderboard", home / "cut.db", says="one")
    holder.close()


def test_odd_names():
    """Names that mean something else to SQLite are names of files all the same."""
    home = folder("odd")
    (home / "file:sub").mkdir()
    for name in ("file:a.db", "file:b.db?mode=memory", "file::memory:?cache=shared", ":memory:", "file:sub/c.db", "file:%41.db", "FILE:d.db", "file:///tmp/e.db".replace("/", "_")):
        for target in (name, home / name):
            done = subprocess.run([EVALCI, "import", one, "-o", target], capture_output=True, text=True, cwd=home)
            check(f"{target} is made: {done.stderr}", done.returncode == 0 and left(home, "file:sub", *([name] if "/" not in name else [])) and answers_of(home / name) == 40)
            done = subprocess.run([EVALCI, "import", two, "-o", target], capture_output=True, text=True, cwd=home)
            check(f"{target} is written to: {done.stderr}", done.returncode == 0 and answers_of(home / name) == 80)
            for verb in (("leaderboard", target), ("import", target, "-o", HERE / "taken.db")):
                done = subprocess.run([EVALCI, *verb], capture_output=True, text=True, cwd=home)
                check(f"{verb[0]} of {target}: {done.stderr}", done.returncode == 0 and "two" in done.stdout)
            (HERE / "taken.db").unlink(missing_ok=True)
            (home / name).unlink(missing_ok=True)
    for name in ("file:page.html", "file:sub/page.html"):
        done = subprocess.run([EVALCI, "report", one, "-o", name], capture_output=True, text=True, cwd=home)
        check(f"a page named {name}: {done.stderr}", done.returncode == 0 and (home / name).exists())
    (home / "file:a.csv").write_text(one.read_text())
    done = subprocess.run([EVALCI, "leaderboard", "file:a.csv"], capture_output=True, text=True, cwd=home)
    check(f"answers in file:a.csv: {done.stderr}", done.returncode == 0 and "one" in done.stdout)
    check("nothing else was made", left(home, "file:sub", "file:page.html", "file:a.csv") and left(home / "file:sub", "page.html"))


def answers_of(path):
    """answers() of a file whose name SQLite would take for something else."""
    plain = HERE / "plain.db"
    if not path.exists():
        return 0
    shutil.copy(path, plain)
    return answers(plain)


def test_permissions():
    """A page that replaces another has its permissions."""
    home = folder("permissions")
    page = home / "page.html"
    ends("a new page", 0, "report", one, "-o", page)
    check("has the usual ones", page.stat().st_mode & 0o777 == 0o666 & ~mask())
    (home / "link.html").symlink_to(page)
    for mode in (0o600, 0o640, 0o444, 0o664, 0o666, 0o755):
        page.write_text("the old page")
        page.chmod(mode)
        if os.geteuid() == 0:
            os.chown(page, 65534, 65533)
        ends(f"a page of mode {mode:o} is replaced", 0, "report", one, "-o", home / "link.html" if mode == 0o640 else page)
        now = page.stat()
        check(f"mode {mode:o} stays, not {now.st_mode:o}", now.st_mode & 0o7777 == mode and "<!doctype" in page.read_text().lower()[:20])
        check("and so does the owner", os.geteuid() != 0 or (now.st_uid, now.st_gid) == (65534, 65533))


def test_lines():
    """The list of files ends after twenty, and says how many more there are."""
    home = folder("lines")
    for count, says in ((20, None), (21, "... and 1 more line\n"), (23, "... and 3 more lines\n")):
        for i in range(count):
            csv(f"lines/{i:02}.csv", {f"model {i}": 0.5}, 3)
        out = ends(f"{count} files", 0, "import", home, "-o", HERE / "lines.db")
        check(f"{count} files: {out}", out.count(".csv") == 20 and (says in out if says else "more line" not in out))


def test_report():
    home = folder("report")
    page = home / "page.html"
    check("a page to a file", run("report", one, "-o", page) == (0, f"wrote {page}\n", ""))
    text = page.read_text()
    check("is whole", text.lower().startswith("<!doctype html>") and text.endswith("</html>\n") and left(home, "page.html"))
    check("a page to a pipe is the same", strip(run("report", one)[1]) == strip(text))
    check("and by -o -", strip(run("report", one, "-o", "-")[1]) == strip(text))
    out = run("report", one, "--title", "<Spring & 'Co'>", "--note", "a \"note\"", "--level", "0.9", "--by", "task", "--errors", "wrong")[1]
    check("a title and a note are text", "&lt;Spring &amp; " in out and "<Spring" not in out and "90%" in out)
    check("it says what was read", "one.csv</span>" in text and "evals.db</span>" in run("report", database(home))[1])
    check("and that there is more", "one.csv and 1 more</span>" in run("report", one, two)[1])
    ends("over what is read", 3, "report", one, "-o", one, says="which is read")
    ends("over a database", 3, "report", one, "-o", database(home), says="the database")
    ends("over a folder", 3, "report", one, "-o", home, says="the folder")
    ends("nowhere", 3, "report", one, "-o", home / "none/page.html", says="No such file")
    ends("no name", 3, "report", one, "-o", "", says="-o must name a file")
    ends("to a device", 0, "report", one, "-o", "/dev/null")
    ends("to a full one", 3, "report", one, "-o", "/dev/full", says="No space left")
    (home / "link.html").symlink_to(page)
    ends("through a link", 0, "report", two, "-o", home / "link.html")
    check("which stays one", (home / "link.html").is_symlink() and "two" in page.read_text())
    page.write_text("the old page")
    for ignored in (True, False):
        done = limited(["report", one, "-o", page], 16, ignored)
        check(f"a page that cannot be written whole: {done.stderr}", done.returncode == 3 and "wrote" not in done.stdout)
        check("leaves the old one", page.read_text() == "the old page" and not [n for n in os.listdir(home) if n.endswith(".part")])


def strip(page):
    """The page without its date."""
    return "\n".join(line for line in page.split("\n") if "this page was made" not in line)


def database(home):
    path = pathlib.Path(home) / "evals.db"
    run("import", one, "-o", path)
    return path


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
finish()
