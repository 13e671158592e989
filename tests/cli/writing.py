#!/usr/bin/python3
"""The program writes a file whole or not at all: imports and pages despite kill -9, full disks, locks and
concurrent runs (contract 48).

    writing.py PROGRAM [KILLS]
"""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

from running import EVALCI, HERE, ROOT, check, csv, ends, finish, left, run

KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 6
ROWS = 60000
one, two = csv("one.csv", {"one": 0.5}, 40), csv("two.csv", {"two": 0.5}, 40)
many = csv("many.csv", {"many": 0.5}, ROWS)
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
    time.sleep(random.random() * 1.1 * (time.time() - began))
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
    random.seed(22)
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
        ends("into a file system that is read only", 3, "import", one, "-o", disk / "new.db", says="Read-only file system")
        ends("into a database that is read only", 3, "import", two, "-o", disk / "evals.db", says="readonly")
        ends("a report of a database that is read only", 0, "report", disk / "evals.db", "-o", home / "page.html")
        ends("a database with a log can be read there", 0, "leaderboard", disk / "wal.db", says="m")
        ends("whatever its name", 0, "report", disk / "100% #1?.db", "-o", home / "page.html")
        ends("not if its log has answers", 3, "leaderboard", disk / "with.db", says="copy both elsewhere")
        ends("a page cannot be written there", 3, "report", new, "-o", disk / "page.html", says="Read-only file system")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


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
