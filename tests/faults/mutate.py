#!/usr/bin/python3
"""Puts small faults into ext/, one at a time, and runs the suites that can see each.

    mutate.py [--jobs N] [--only TEXT]...

make mutate runs this.  Every fault of the list has to be seen by a suite, save those that the list itself gives a
reason for, and those have to survive.  The list is tests/faults/mutations.txt, in blocks:

    FILE [FUNCTION]: SUITE...
    - text of a line, which must stand there once: in the file, or in the function when that is named
    + what stands there instead
    = why it is no fault, when it is expected to survive

A text that is not found once, or a fault that does not compile, is an error of the list.  A suite of many files is run
file by file, as parts of it; SUITE/FILE, as in references/paired, is one of them.  The parts of a fault's suites are
run up to the first that fails: those first that saw a fault of the same source before, and of the others the quickest.
A part that takes far longer than without a fault fails.  Each of the workers has a copy of ext/ and of the objects, so
that a fault costs the compilation of one file and the linking of what its suites run.
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
COMPILE = ["gcc", "-std=c11", "-D_DEFAULT_SOURCE", "-ffp-contract=off", "-O1", "-w", "-fPIC", "-MMD"]
WRAP = [f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc", "free")]
LONGEST = 600  # seconds, of anything without a fault
SLOWED = 10  # what takes so many times as long with a fault, and a minute, never ends

# What a program is linked from, besides its own source: stats, or all of ext/ built in (core) or to be loaded.
PROGRAMS = {
    "numeric": ("tests/numeric/numeric.c", "stats", []),
    "models": ("tests/numeric/models.c", "stats", []),
    "decisions": ("tests/numeric/decisions.c", "stats", []),
    "mean": ("tests/numeric/mean.c", "stats", []),
    "hierarchy": ("tests/numeric/hierarchy.c", "stats", []),
    "sign_flip": ("tests/numeric/sign_flip.c", "stats", []),
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
# The program that a suite needs, how it is run, and the files that are parts of it.
SUITES = {
    "numeric": ("numeric", "build/numeric", None),
    "models": ("models", "build/models", None),
    "decisions": ("decisions", "build/decisions tests/numeric/reference/stats/ranks.csv", None),
    "mean": ("mean", "build/mean tests/numeric/reference/stats/mean.csv", None),
    "hierarchy": ("hierarchy", "build/hierarchy tests/numeric/reference/stats/each.csv", None),
    "sign_flip": ("sign_flip", "build/sign_flip tests/numeric/reference/stats/sign_flip.csv", None),
    "references": ("references", "build/references --part", "tests/numeric/reference/*.csv"),
    "properties": ("properties", "build/properties 3000", None),
    "sql": ("sqllogictest", "build/sqllogictest", "tests/sql/*.test"),
    "internals": ("internals", "build/internals", None),
    # Without what takes milliseconds a call, as the sanitized run of it.
    "oom": ("oom", "build/oom 500", None),
    "fuzzed": ("replay-sql", "build/replay-sql tests/faults/fuzz/sql.corpus", None),
    "intervals": ("replay-interval", "build/replay-interval tests/faults/fuzz/interval.corpus", None),
    "hosts": ("hosts", "build/hosts", None),
    "pictures": ("evalci.so", f"{PYTHON} tests/views/pictures.py build/evalci.so", None),
    "board": ("evalci.so", f"{PYTHON} tests/board/board.py build/evalci.so", None),
    "slices": ("evalci.so", f"{PYTHON} tests/board/slices.py build/evalci.so", None),
    "cost": ("evalci.so", f"{PYTHON} tests/board/cost.py build/evalci.so", None),
    "surface": ("evalci.so", f"{PYTHON} tests/sql/surface.py build/evalci.so", None),
    "locale": ("evalci.so", f"{PYTHON} tests/faults/decimal_comma.py build/evalci.so", None),
}


@dataclass(frozen=True)
class Part:
    """What is run by one command, of a suite."""
    suite: str
    program: str
    command: str

    def __str__(self):
        return f"{self.suite} ({pathlib.Path(self.command).name})" if SUITES[self.suite][2] else self.suite


def parts_of(suites):
    """Of suites, or of single files of them."""
    for name in suites:
        suite, _, file = name.partition("/")
        if suite not in SUITES:
            raise ListError(f"no such suite: {name}")
        program, command, files = SUITES[suite]
        if not files:
            yield Part(suite, program, command)
            continue
        paths = [path for path in sorted(ROOT.glob(files)) if file in ("", path.stem)]
        if not paths:
            raise ListError(f"no such file of a suite: {name}")
        for path in paths:
            yield Part(suite, program, f"{command} {path.relative_to(ROOT)}")


class ListError(Exception):
    """The list does not fit the tree."""


@dataclass
class Fault:
    line: int
    file: str
    function: str
    parts: list
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
            faults.append(Fault(number, file, function, list(parts_of(suites.split()))))
            if not faults[-1].parts:
                raise ListError(f"{LIST.name}:{number}: no suite is named")
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
    """A copy of ext/ with its objects, and the programs that are linked of them."""

    def __init__(self, folder):
        self.folder = folder

    def make(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "build").mkdir(parents=True)
        shutil.copytree(ROOT / "ext", self.folder / "ext")
        # Copies, for tests include headers of ext/ by their place.
        shutil.copytree(ROOT / "tests", self.folder / "tests")
        for name in ("sql", "README.md"):
            (self.folder / name).symlink_to(ROOT / name)

    def object(self, source, mode):
        return self.folder / "build" / mode / (source.replace("/", "+") + ".o")

    def objects(self, program):
        """(source, mode) of what a program is linked from; stats know nothing of how they are loaded."""
        source, kind, _ = PROGRAMS[program]
        if source:
            yield source, kind
        for path in sorted((self.folder / "ext").glob("*/*.c")):
            name = str(path.relative_to(self.folder))
            if "/stats/" in name:
                yield name, "stats"
            elif kind != "stats":
                yield name, kind

    def compile(self, source, mode):
        target = self.object(source, mode)
        target.parent.mkdir(exist_ok=True)
        flags = ["-DSQLITE_CORE", "-DREPLAY"] if mode == "core" else []
        return run([*COMPILE, *flags, "-c", "-o", str(target.relative_to(self.folder)), source], self.folder)

    def depending_on(self, file, programs):
        """What of the programs has to be compiled anew: .d files name what an object was made from."""
        for source, mode in sorted({o for program in programs for o in self.objects(program)}):
            text = self.object(source, mode).with_suffix(".d").read_text().replace("\\\n", " ")
            if any(os.path.normpath(word) == file for word in text.split(":", 1)[1].split()):
                yield source, mode

    def link(self, program):
        objects = [str(self.object(*o).relative_to(self.folder)) for o in self.objects(program)]
        linked, said = run(["gcc", "-o", f"build/{program}", *objects, "-Wl,-Bstatic", "-lgsl", "-lgslcblas",
                            "-Wl,-Bdynamic", *PROGRAMS[program][2], "-lm"], self.folder)
        if not linked:
            raise ListError(f"{program} cannot be linked:\n{said}")

    def passes(self, part, longest=LONGEST):
        """Whether it does, and the last line it printed."""
        passed, said = run(part.command, self.folder, shell=True, longest=longest)
        return passed, said.strip().rpartition("\n")[2][:200]


class Worker:
    """Tries faults in a copy of the tree without one."""

    def __init__(self, folder, whole, times, seen):
        self.tree, self.whole = Tree(folder), whole
        self.times = times  # {part: seconds} without a fault
        self.seen = seen  # {(file, part): faults of the file that it saw}, of all workers
        self.tree.make()
        shutil.copytree(whole.folder / "build", folder / "build", dirs_exist_ok=True)

    def likeliest_first(self, fault):
        return sorted(fault.parts, key=lambda part: (-self.seen.get((fault.file, part), 0), self.times[part]))

    def run_parts(self, fault):
        linked = set()
        for part in self.likeliest_first(fault):
            if part.program not in linked:
                self.tree.link(part.program)
                linked.add(part.program)
            passed, said = self.tree.passes(part, max(60, SLOWED * self.times[part]))
            if not passed:
                fault.seen_by = f"{part}: {said}"
                self.seen[fault.file, part] = self.seen.get((fault.file, part), 0) + 1
                return

    def try_fault(self, fault):
        """Puts the fault in, runs its suites, and takes it out."""
        path = self.tree.folder / fault.file
        whole = path.read_text()
        stale = list(self.tree.depending_on(fault.file, {part.program for part in fault.parts}))
        path.write_text(fault.apply(whole))
        try:
            for source, mode in stale:
                done, said = self.tree.compile(source, mode)
                if not done:
                    fault.error = said
                    return
            self.run_parts(fault)
        finally:
            path.write_text(whole)
            for item in stale:
                shutil.copyfile(self.whole.object(*item), self.tree.object(*item))


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


def prepare(jobs, faults):
    """A tree without a fault, on which every suite passes, and a worker for each job."""
    whole, times, seen = Tree(WORK / "whole"), {}, {}
    parts = sorted({part for fault in faults for part in fault.parts}, key=str)
    programs = sorted({part.program for part in parts})
    whole.make()

    def compile_one(_, item):
        done, said = whole.compile(*item)
        if not done:
            raise ListError(said)

    def check_one(_, part):
        start = time.monotonic()
        passed, said = whole.passes(part)
        times[part] = time.monotonic() - start
        print(f"without a fault, {part}: {said} ({times[part]:.1f} s)", flush=True)
        if not passed:
            raise ListError(f"{part} fails without a fault")

    parallel(jobs, sorted({o for program in programs for o in whole.objects(program)}), compile_one)
    parallel(jobs, programs, lambda _, program: whole.link(program))
    parallel(jobs, parts, check_one)
    return [Worker(WORK / f"worker{i}", whole, times, seen) for i in range(jobs)]


def verdict(fault):
    """What is wrong with it, if anything."""
    if fault.error:
        return f"does not compile: {fault}\n{fault.error}"
    if fault.reason and fault.seen_by:
        return f"expected to survive, but seen by {fault.seen_by}: {fault}"
    if not fault.reason and not fault.seen_by:
        return f"NOT EXPECTED, survives {', '.join(dict.fromkeys(part.suite for part in fault.parts))}: {fault}"
    return ""


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--only", action="append", help="faults whose file, function or text has one of these in it")
    given = arguments.parse_args()
    faults = [f for f in read_faults() if any(o in f"{f.file} {f.function} {f.before}" for o in given.only or [""])]
    start = time.monotonic()
    workers = prepare(given.jobs, faults) if faults else []
    tried = [0]

    def try_one(number, fault):
        since = time.monotonic()
        workers[number].try_fault(fault)
        tried[0] += 1
        outcome = verdict(fault) or (f"survives, since {fault.reason}" if fault.reason else f"seen by {fault.seen_by}")
        print(f"{tried[0]} of {len(faults)}, {time.monotonic() - since:.1f} s, {fault}\n  {outcome}", flush=True)

    parallel(given.jobs, faults, try_one)
    wrong = [verdict(f) for f in faults if verdict(f)]
    print("", *wrong, sep="\n")
    survivors = sum(not f.seen_by and not f.error for f in faults)
    print(f"{len(faults)} faults, {survivors} survive, {time.monotonic() - start:.0f} s")
    print(f"{len(faults) - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(len(wrong) > 0)


if __name__ == "__main__":
    try:
        main()
    except ListError as error:
        sys.exit(f"mutate.py: {error}")
