#!/usr/bin/python3
"""Puts small faults into ext/, one at a time, and runs the suites that can see each.

    mutate.py [--jobs N] [--only TEXT]

make mutate builds what it needs and runs this.  A fault that no suite sees is printed as a survivor; so is one that the
list expects to survive, with the reason given there.  The list is tests/faults/mutations.txt, in blocks:

    FILE [FUNCTION]: SUITE...
    - text of a line, which must stand there once: in the file, or in the function when that is named
    + what stands there instead
    = why it is no fault, when it is expected to survive

A text that is not found once, or a fault that does not compile, is an error of the list.  Suites are run in the order
given, up to the first that fails; one that takes far longer than without a fault fails.  Each of the workers has a copy of ext/ and
of the objects, so that a fault costs the compilation of one file and the linking of what its suites run.
"""
import argparse
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIST = ROOT / "tests/faults/mutations.txt"
WORK = ROOT / "build/mutate"
PYTHON = sys.executable
COMPILE = ["gcc", "-std=c11", "-D_DEFAULT_SOURCE", "-ffp-contract=off", "-O1", "-g", "-w", "-fPIC", "-MMD"]
WRAP = [f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc", "free")]
LONGEST = 600  # seconds, of anything without a fault
SLOWED = 10  # what takes so many times as long with a fault, and a minute, never ends
MOST_SURVIVORS = 9

# What a program is linked from, besides its own source: stats, or all of ext/ built in (core) or to be loaded.
PROGRAMS = {
    "numeric": ("tests/numeric/numeric.c", "stats", []),
    "models": ("tests/numeric/models.c", "stats", []),
    "decisions": ("tests/numeric/decisions.c", "stats", []),
    "references": ("tests/numeric/references.c", "core", ["-lsqlite3"]),
    "properties": ("tests/numeric/properties.c", "core", ["-lsqlite3"]),
    "sqllogictest": ("tests/sql/sqllogictest.c", "core", ["-lsqlite3", "-lmd"]),
    "internals": ("tests/sql/internals.c", "core", ["-lsqlite3"]),
    "oom": ("tests/faults/oom.c", "core", [*WRAP, "-lsqlite3"]),
    "replay-sql": ("tests/faults/fuzz/sql.c", "core", ["-lsqlite3"]),
    "replay-interval": ("tests/faults/fuzz/interval.c", "core", ["-lsqlite3"]),
    "hosts": ("tests/faults/hosts.c", "loaded", ["-lsqlite3"]),
    "evalci.so": (None, "loaded", ["-shared", "-Wl,--exclude-libs,ALL"]),
}
# The program that a suite needs, and how it is run.
SUITES = {
    "numeric": ("numeric", "build/numeric"),
    "models": ("models", "build/models"),
    "decisions": ("decisions", "build/decisions tests/numeric/reference/stats/ranks.csv"),
    "references": ("references", "build/references tests/numeric/reference/*.csv"),
    "properties": ("properties", "build/properties 3000"),
    "sql": ("sqllogictest", "build/sqllogictest tests/sql/*.test"),
    "internals": ("internals", "build/internals"),
    "oom": ("oom", "build/oom"),
    "fuzzed": ("replay-sql", "build/replay-sql tests/faults/fuzz/sql.corpus"),
    "intervals": ("replay-interval", "build/replay-interval tests/faults/fuzz/interval.corpus"),
    "hosts": ("hosts", "build/hosts"),
    "pictures": ("evalci.so", f"{PYTHON} tests/views/pictures.py build/evalci.so"),
    "surface": ("evalci.so", f"{PYTHON} tests/sql/surface.py build/evalci.so"),
    "locale": ("evalci.so", f"{PYTHON} tests/faults/decimal_comma.py build/evalci.so"),
}


class ListError(Exception):
    """The list does not fit the tree."""


@dataclass
class Fault:
    line: int
    file: str
    function: str
    suites: list
    before: str = ""
    after: str = None
    reason: str = ""
    seen_by: str = ""
    error: str = ""

    def __str__(self):
        return f"{LIST.name}:{self.line}: {self.file}: {self.before.strip()}  ->  {self.after.strip()}"

    def apply(self, text):
        """The text with the fault in it."""
        start, end = 0, len(text)
        if self.function:
            # A definition begins at the margin and ends with a brace there.
            found = list(re.finditer(rf"^\w[^\n;]*\b{self.function}\b[^;]*?{{.*?^}}", text, re.M | re.S))
            if len(found) != 1:
                raise ListError(f"{self}: there are {len(found)} definitions of {self.function}")
            start, end = found[0].span()
        if text.count(self.before, start, end) != 1:
            raise ListError(f"{self}: the text stands there {text.count(self.before, start, end)} times")
        at = text.index(self.before, start)
        return text[:at] + self.after + text[at + len(self.before):]


def read_faults():
    faults = []
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        mark, _, rest = line.partition(" ")
        if not line or mark == "#":
            continue
        if mark not in "-+=":
            head, _, suites = line.partition(":")
            file, _, function = head.partition(" ")
            faults.append(Fault(number, file, function, suites.split()))
            unknown = set(faults[-1].suites) - set(SUITES)
            if unknown or not faults[-1].suites:
                raise ListError(f"{LIST.name}:{number}: no such suite: {', '.join(unknown) or 'none is named'}")
        elif mark == "-":
            faults[-1].before = rest
        elif mark == "+":
            faults[-1].after = rest
        else:
            faults[-1].reason = rest
    for fault in faults:
        if not fault.before or fault.after is None:
            raise ListError(f"{LIST.name}:{fault.line}: a block needs lines that begin with - and +")
        fault.apply((ROOT / fault.file).read_text())
    return faults


def run(command, folder, shell=False, longest=LONGEST):
    """Whether it ended well, and what it said."""
    process = subprocess.Popen(command, cwd=folder, shell=shell, text=True, errors="replace", stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        said, _ = process.communicate(timeout=longest)
        return process.returncode == 0, said
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return False, "it took too long"


class Tree:
    """A copy of ext/ with its objects."""

    def __init__(self, folder, times=None):
        self.folder = folder
        self.times = times  # {suite: seconds} without a fault, when they are known

    def make(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "build").mkdir(parents=True)
        shutil.copytree(ROOT / "ext", self.folder / "ext")
        # Copies, for tests include headers of ext/ by their place.
        shutil.copytree(ROOT / "tests", self.folder / "tests")
        for name in ("sql", "README.md"):
            (self.folder / name).symlink_to(ROOT / name)

    def copy_of(self, other):
        self.make()
        shutil.copytree(other.folder / "build", self.folder / "build", dirs_exist_ok=True)

    def object(self, source, mode):
        return self.folder / "build" / mode / (source.replace("/", "+") + ".o")

    def objects(self, kind):
        """(source, mode) of what is linked for a kind of program; stats know nothing of how they are loaded."""
        for path in sorted((self.folder / "ext").glob("*/*.c")):
            source = str(path.relative_to(self.folder))
            if "/stats/" in source:
                yield source, "stats"
            elif kind != "stats":
                yield source, kind

    def compile(self, source, mode):
        target = self.object(source, mode)
        target.parent.mkdir(exist_ok=True)
        flags = ["-DSQLITE_CORE", "-DREPLAY"] if mode == "core" else []
        return run([*COMPILE, *flags, "-c", "-o", str(target.relative_to(self.folder)), source], self.folder)

    def everything(self):
        made = set()
        for source, kind, _ in PROGRAMS.values():
            made.update(self.objects(kind))
            if source:
                made.add((source, kind))
        return sorted(made)

    def depending_on(self, file):
        """What has to be compiled anew: .d files name what an object was made from."""
        for source, mode in self.everything():
            text = self.object(source, mode).with_suffix(".d").read_text().replace("\\\n", " ")
            if any(os.path.normpath(word) == file for word in text.split(":", 1)[1].split()):
                yield source, mode

    def link(self, program):
        source, kind, flags = PROGRAMS[program]
        objects = [*self.objects(kind), *([(source, kind)] if source else [])]
        return run(["gcc", "-o", f"build/{program}", *(str(self.object(*o).relative_to(self.folder)) for o in objects),
                    "-Wl,-Bstatic", "-lgsl", "-lgslcblas", "-Wl,-Bdynamic", *flags, "-lm"], self.folder)

    def suite(self, name):
        """Whether it passes, and the last line it printed."""
        program, command = SUITES[name]
        linked, said = self.link(program)
        if not linked:
            raise ListError(f"{program} cannot be linked:\n{said}")
        longest = max(60, SLOWED * self.times[name]) if self.times else LONGEST
        passed, said = run(command, self.folder, shell=True, longest=longest)
        return passed, said.strip().rpartition("\n")[2][:200]

    def try_fault(self, fault):
        """Puts the fault in, runs its suites, and takes it out."""
        path = self.folder / fault.file
        whole = path.read_text()
        path.write_text(fault.apply(whole))
        stale = list(self.depending_on(fault.file))
        try:
            for source, mode in stale:
                done, said = self.compile(source, mode)
                if not done:
                    fault.error = said
                    return
            for name in fault.suites:
                if not self.suite(name)[0]:
                    fault.seen_by = name
                    return
        finally:
            path.write_text(whole)
            for source, mode in stale:
                self.compile(source, mode)


def parallel(jobs, items, work):
    """work(number of the worker, item) for each item; the first error ends it."""
    waiting, errors = queue.Queue(), []
    for item in items:
        waiting.put(item)

    def worker(number):
        while not errors:
            try:
                work(number, waiting.get_nowait())
            except queue.Empty:
                return
            except Exception as error:
                errors.append(error)
    threads = [threading.Thread(target=worker, args=(i,)) for i in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def prepare(jobs, suites):
    """A tree without a fault, on which every suite passes, and a copy for each worker."""
    whole, times = Tree(WORK / "whole"), {}
    whole.make()

    def compile_one(_, item):
        done, said = whole.compile(*item)
        if not done:
            raise ListError(said)

    def check_one(_, name):
        start = time.monotonic()
        passed, said = whole.suite(name)
        times[name] = time.monotonic() - start
        print(f"without a fault, {name}: {said} ({times[name]:.1f} s)", flush=True)
        if not passed:
            raise ListError(f"{name} fails without a fault")

    parallel(jobs, whole.everything(), compile_one)
    parallel(jobs, suites, check_one)
    trees = [Tree(WORK / f"worker{i}", times) for i in range(jobs)]
    for tree in trees:
        tree.copy_of(whole)
    return trees


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--only", default="", help="faults whose file, function or text has this in it")
    given = arguments.parse_args()
    faults = [f for f in read_faults() if given.only in f"{f.file} {f.function} {f.before}"]
    start = time.monotonic()
    trees = prepare(given.jobs, sorted({name for f in faults for name in f.suites}))
    tried = [0]

    def try_one(number, fault):
        trees[number].try_fault(fault)
        tried[0] += 1
        if sys.stderr.isatty():
            print(f"\r{tried[0]} of {len(faults)}", end="", file=sys.stderr, flush=True)

    parallel(given.jobs, faults, try_one)
    for fault in (f for f in faults if f.error):
        print(f"does not compile: {fault}\n{fault.error}")
    survivors = [f for f in faults if not f.seen_by and not f.error]
    for fault in survivors:
        print(f"survives: {fault}\n  {fault.reason or 'NOT EXPECTED: no suite of ' + ' '.join(fault.suites) + ' sees it'}")
    for fault in faults:
        if fault.seen_by and fault.reason:
            print(f"seen by {fault.seen_by}, though expected to survive: {fault}")
    wrong = [f for f in faults if f.error or bool(f.seen_by) == bool(f.reason)]
    print(f"{len(faults)} faults, {len(survivors)} survive, {time.monotonic() - start:.0f} s")
    if len(survivors) > MOST_SURVIVORS:
        print(f"more than {MOST_SURVIVORS} survive")
    print(f"{len(faults) - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(len(wrong) > 0 or len(survivors) > MOST_SURVIVORS)


if __name__ == "__main__":
    try:
        main()
    except ListError as error:
        sys.exit(f"mutate.py: {error}")
