#!/usr/bin/python3
"""Puts small faults into ext/ and sql/, one at a time, and runs the suites that can detect each.

    mutate.py [--count N] [--seed N] [--minutes N] [--jobs N] [--only TEXT]... [--skip SUITE]... [--list]
              [--no-hand] [--check]

make mutate runs this: first the faults of tests/faults/by_hand.txt, then COUNT drawn ones (0: all there are).

1. A light tokenizer splits every source into words, numbers and marks; comments, strings, preprocessor lines and
   assertions are left out.
2. Five operators propose mutants: a constant changed, a sign turned, a comparison turned, a statement dropped, two
   arguments swapped.  A sixth changes SQL in the strings of C: signs, comparisons, AND and OR, IS NULL, ASC and DESC,
   the order in coalesce().  The same seed draws the same mutants, from each operator in turn.
3. Every worker has a copy of the tree, built once.  A mutant is written there, `make` builds what its suites run, and
   the suites of its area (AREAS) run until one fails: those first that saw a fault of the same file, then the quickest.
   A suite that takes ten times as long as without a fault fails, too.
4. A mutant that no suite sees is a survivor.  One that cannot be told from the source has its reason in by_hand.txt.

by_hand.txt has blocks; the text must occur exactly once in the file, or in the function if one is named:

    FILE [FUNCTION]: SUITE...        a fault that the suites must see
    - text of a line
    + what stands there instead

    FILE: survives                   a drawn mutant that is no fault
    - the line, without its margin
    + the line as the operator wrote it
    = why no test can see it
"""
import argparse
import collections
import itertools
import os
import pathlib
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIST = ROOT / "tests/faults/by_hand.txt"
WORK = ROOT / "build/mutate"
PYTHON = sys.executable
MAKE = ["make", "-s", "--no-print-directory", "CFLAGS=-O1 -w"]
CHECK = ["gcc", "-std=c11", "-D_DEFAULT_SOURCE", "-DSQLITE_CORE", "-Werror=int-conversion",
         "-Werror=incompatible-pointer-types", "-Werror=format", "-fsyntax-only", "-x", "c"]
LONGEST = 900  # seconds, of anything without a fault
SLOWED = 10  # a suite that takes this many times as long with a fault, and a minute, counts as endless

# What make builds for a suite, and how it is run.
SO, TOOL, READER = "build/evalci.so", "build/bin/evalci", "build/importer"
STATS = "tests/numeric/reference/stats"
SUITES = {
    "numeric": ("build/numeric", "build/numeric"),
    "models": ("build/models", "build/models"),
    "decisions": ("build/decisions", f"build/decisions {STATS}/ranks.csv"),
    "mean": ("build/mean", f"build/mean {STATS}/mean.csv"),
    "hierarchy": ("build/hierarchy", f"build/hierarchy {STATS}/each.csv {STATS}/nested.csv"),
    "votes": ("build/votes", f"build/votes {STATS}/votes.csv"),
    "sign_flip": ("build/sign_flip", f"build/sign_flip {STATS}/sign_flip.csv"),
    "references": ("build/references", "build/references tests/numeric/reference/*.csv"),
    "properties": ("build/properties", "build/properties 3000"),
    "sql": (f"{SO} build/sqllogictest", "build/sqllogictest --load build/evalci tests/sql/*.test"),
    "internals": ("build/internals", "build/internals"),
    "oom": ("build/oom", "build/oom 500"),
    "hosts": ("build/hosts", "build/hosts"),
    "surface": (SO, f"{PYTHON} tests/sql/surface.py {SO}"),
    "locale": (SO, f"{PYTHON} tests/faults/decimal_comma.py {SO}"),
    "pictures": (SO, f"{PYTHON} tests/views/pictures.py {SO}"),
    "board": (SO, f"{PYTHON} tests/board/board.py {SO}"),
    "gate": (SO, f"{PYTHON} tests/board/gate.py {SO}"),
    "joint": (SO, f"{PYTHON} tests/board/joint.py {SO}"),
    "slices": (SO, f"{PYTHON} tests/board/slices.py {SO}"),
    "cost": (SO, f"{PYTHON} tests/board/cost.py {SO}"),
    "cli": (f"{SO} {TOOL}", f"{PYTHON} tests/cli/verbs.py {TOOL} {SO}"),
    "cli_gate": (TOOL, f"{PYTHON} tests/cli/gate.py {TOOL}"),
    "writing": (f"{TOOL} build/faulty.so", f"{PYTHON} tests/cli/writing.py {TOOL}"),
    "tools": (READER, f"{PYTHON} tests/import/tools.py {READER}"),
    "trackers": (READER, f"{PYTHON} tests/import/trackers.py {READER}"),
    "memory": ("build/sanitized/memory", "build/sanitized/memory results=tests/import/files/three.csv "
               "counts=tests/import/files/counts.csv votes=tests/import/files/votes.csv"),
    "tables": (READER, f"{PYTHON} tests/import/tables.py {READER}"),
    "hostile": (READER, f"{PYTHON} tests/import/hostile.py {READER}"),
    "views": (SO, f"{PYTHON} tests/views/views.py {SO}"),
    "page_numbers": (SO, f"{PYTHON} tests/views/page_numbers.py {SO}"),
    "adapters": (SO, f"{PYTHON} tests/views/adapters.py {SO}"),
    "truth": (f"{SO} {TOOL}", f"{PYTHON} tests/truth/truth.py {SO} {TOOL}"),
    "tool_views": (SO, f"{PYTHON} tests/views/tools.py {SO}"),
}
# Which files are mutated, and which suites see a mutant of them: the first line that fits.  Not here: headers, whose
# mutants compile everything anew; ext/page and sql/pushdown, whose tests need a browser and servers.
AREAS = [
    (r"ext/(stats/pooled|board/joint)\.c$", "joint sql"),
    (r"ext/stats/(plan_\w+|binomial)\.c$", "references sql decisions"),
    (r"ext/stats/(ranks|chebyshev)\.c$", "models sql decisions"),
    (r"ext/stats/(sign_flip|flip_\w+)\.c$", "sql sign_flip"),
    (r"ext/stats/(item_rest|other_tasks)\.c$", "sql slices"),
    (r"ext/stats/(mean\w*|imagined|dirichlet\w*|atoms|macro|merge|ratio|quantile)\.c$", "references sql cost mean"),
    (r"ext/stats/(clustered|hierarchy\w*|icc|each|pass|rising|sinc|nested\w*|gauss)\.c$", "references models hierarchy sql"),
    (r"ext/stats/votes\w*\.c$", "votes sql"),
    (r"ext/stats/(agreement\w*|judged\w*|rerun|bounded)\.c$", "references sql"),
    (r"ext/stats/\w+\.c$", "numeric models references properties sql"),
    (r"ext/sqlite/(svg|axis|forest|heatmap|picture|drawing)\.c$", "pictures internals sql"),
    (r"ext/sqlite/report_\w+\.c$", "page_numbers sql oom"),
    (r"ext/(sqlite/board_\w+|board/\w+)\.c$", "sql gate slices cost oom board page_numbers truth"),
    (r"ext/sqlite/\w+\.c$", "sql internals surface hosts"),
    (r"ext/import/(?!views)\w+\.c$", "trackers tables tools hostile memory"),
    (r"ext/cli/\w+\.c$", "cli cli_gate writing"),
    (r"sql/adapters/\w+\.sql$", "adapters tool_views"),
    (r"sql/\w+\.sql$", "adapters views"),
]


class ListError(Exception):
    """The list does not fit the tree."""


# Sources as tokens

C_TOKEN = re.compile(r"""(?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:[^\n\\]|\\.)*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<number>0[xX][\da-fA-F.]+(?:[pP][+-]?\d+)?\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\w*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<mark>->|\+\+|--|<<=?|>>=?|[-+*/%&|^<>=!]=|&&|\|\||[^\s\w])""", re.X | re.S | re.M)
SQL_TOKEN = re.compile(r"""(?P<skip>--[^\n]*|/\*.*?\*/|^\.[^\n]*|'(?:[^']|'')*'|"[^"]*")
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<mark>->>?|<>|<=|>=|\|\||[^\s\w])""", re.X | re.S | re.M)
CONTROL = {"if", "for", "while", "switch", "return", "sizeof", "else", "do", "case", "goto", "break", "continue",
           "typedef", "static", "const", "struct", "enum", "union", "default"}
RELEASES = re.compile(r"\w*(free|close|finalize|destroy|forget)\w*$")  # a leak: for the sanitizers
TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
TURNED_SQL = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "=", "AND": "OR", "OR": "AND"}
SIGNS = {"+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}


@dataclass
class Token:
    kind: str
    text: str
    start: int
    depth: int  # of braces
    inside: int  # of parentheses

    @property
    def end(self):
        return self.start + len(self.text)


def tokens_of(text, pattern):
    """Without comments, strings and preprocessor lines; a skipped string stays as a mark, for it is an argument."""
    out, depth, inside = [], 0, 0
    for match in pattern.finditer(text):
        kind, word = match.lastgroup, match.group()
        if kind == "skip" and word[0] not in "\"'":
            continue
        depth, inside = depth - (word == "}"), inside - (word == ")")
        out.append(Token(kind, word, match.start(), depth, inside))
        depth, inside = depth + (word == "{"), inside + (word == "(")
    return out


def closing(tokens, i):
    """Where the bracket at i closes, or the end."""
    level = 0
    for j in range(i, len(tokens)):
        level += (tokens[j].text in "([{") - (tokens[j].text in ")]}")
        if level == 0:
            return j
    return len(tokens) - 1


def without_assertions(tokens):
    out, i = [], 0
    while i < len(tokens):
        if tokens[i].text in ("assert", "static_assert", "_Static_assert"):
            i = closing(tokens, i + 1) + 1
        else:
            out.append(tokens[i])
            i += 1
    return out


@dataclass
class Fault:
    """A mutant, or a fault by hand: text[start:end] is replaced by after."""
    file: str
    start: int
    end: int
    line: int
    operator: str
    after: str
    suites: list = field(default_factory=list)
    shown: tuple = ()  # the lines it changes, before and after, without margins
    seen_by: str = ""
    error: str = ""

    def __str__(self):
        return f"{self.file}:{self.line}: {self.operator}\n    - {self.shown[0]}\n    + {self.shown[1]}"

    def apply(self, text):
        return text[:self.start] + self.after + text[self.end:]


def fault_at(file, text, start, end, operator, after):
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    shown = [" ".join(t.split()) for t in (text[first:last], text[first:start] + after + text[end:last])]
    return Fault(file, start, end, text.count("\n", 0, start) + 1, operator, after, shown=tuple(shown))


# The operators: each yields (first token, token after the last, what stands there instead)

def spaced(text, token):
    """clang-format sets binary operators apart, and no others."""
    return text[token.start - 1:token.start].isspace() and text[token.end:token.end + 1].isspace()


def is_array_size(tokens, i):
    """A number in double x[3]; which may be larger without harm."""
    start = i
    while start > 0 and tokens[start - 1].text not in ";{}=":
        start -= 1
    return (tokens[i - 1].text == "[" and tokens[start - 1].text != "=" and tokens[start].kind == "word"
            and tokens[start].text != "return" and (tokens[start + 1].text == "*" or tokens[start + 1].kind == "word"))


def constants(text, tokens, is_sql):
    for i, t in enumerate(tokens):
        # Numbers with an exponent are mostly tolerances, and another value is as good; -1 and -2 are mostly codes.
        if (t.kind != "number" or re.search(r"[eExXpP]", t.text) or (i and not is_sql and is_array_size(tokens, i))
                or (i and tokens[i - 1].text == "-" and not spaced(text, tokens[i - 1]))):
            continue
        number = re.match(r"[\d.]+", t.text).group()
        changed = str(int(number) + 1) if number.isdigit() else repr(float(number) * 1.25 or 1.0)
        yield t.start, t.end, changed + t.text[len(number):]


def signs(text, tokens, is_sql):
    for i, t in enumerate(tokens):
        before = tokens[i - 1].text if i else ""
        if t.text in SIGNS and spaced(text, t) and before.upper() not in ("SELECT", ",", "("):
            yield t.start, t.end, SIGNS[t.text]
        elif t.text == "-" and not spaced(text, t) and not text[t.end].isspace() and tokens[i + 1].text != "1":
            yield t.start, t.end, ""


def comparisons(text, tokens, is_sql):
    for t in tokens:
        turned = (TURNED_SQL if is_sql else TURNED).get(t.text)
        if turned and spaced(text, t) and (is_sql or t.depth > 0):
            yield t.start, t.end, turned


def starts_declaration(tokens, i):
    """word word, or word *word."""
    stars = i + 1
    while tokens[stars].text == "*":
        stars += 1
    return tokens[stars].kind == "word" and tokens[i + 1].start > tokens[i].end


def dropped(text, tokens, is_sql):
    if is_sql:  # a condition that has its line for itself
        for line in re.finditer(r"^[ \t]*(AND|OR) [^\n;]*$", text, re.M):
            if line.group().count("(") == line.group().count(")") and "BETWEEN" not in line.group():
                yield line.start(), line.end(), ""
        return
    for i in range(1, len(tokens) - 2):
        t, before = tokens[i], tokens[i - 1].text
        if t.depth == 0 or t.inside or before not in (";", "{", "}", ")", "else") or t.kind != "word":
            continue
        end = i
        while tokens[end].text not in (";", "{", "}"):
            end = closing(tokens, end) + 1 if tokens[end].text in "([" else end + 1
        if tokens[end].text != ";":
            continue
        guard = t.text == "if" and tokens[closing(tokens, i + 1) + 1].text in ("return", "break", "continue", "goto")
        plain = (t.text not in CONTROL and not RELEASES.match(t.text) and not starts_declaration(tokens, i)
                 and re.search(r"[(=]|\+\+|--", text[t.start:tokens[end].start]))
        if guard or plain:
            yield t.start, tokens[end].start, ""


def swapped(text, tokens, is_sql):
    for i in range(len(tokens) - 1):
        t = tokens[i]
        if (t.kind != "word" or t.text in CONTROL or tokens[i + 1].text != "(" or tokens[i + 1].start != t.end
                or (not is_sql and (t.depth == 0 or t.text.isupper()))):
            continue
        end, at, commas = closing(tokens, i + 1), i + 2, []
        while at < end:
            if tokens[at].text == ",":
                commas.append(at)
            at = closing(tokens, at) + 1 if tokens[at].text in "([{" else at + 1
        ends = [i + 1, *commas, end]
        arguments = [(tokens[a + 1].start, tokens[b - 1].end) for a, b in zip(ends, ends[1:]) if b > a + 1]
        for (a, b), (c, d) in zip(arguments, arguments[1:]):
            if text[a:b] != text[c:d] and text[a] != '"' and text[c] != '"':
                yield a, d, text[c:d] + text[b:c] + text[a:b]


C_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
C_STRINGS = re.compile(rf"{C_STRING.pattern}(?:\s*{C_STRING.pattern})*")
SQL_WORDS = re.compile(r"\b(SELECT|FROM|WHERE|JOIN|UPDATE|INSERT|DELETE|GROUP BY|ORDER BY|CASE|iif\()\b")
# Word by word; the longer one first.
WORDS_SQL = {"IS NOT NULL": "IS NULL", "IS NULL": "IS NOT NULL", "NOT EXISTS": "EXISTS", "DESC": "ASC", "ASC": "DESC"}


def sql_in_c(text, tokens, is_sql):
    """Strings that follow each other are one text; it is SQL if one of its words is."""
    comments = [m.span() for m in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.S)] if not is_sql else []
    for strings in C_STRINGS.finditer(text) if not is_sql else ():
        if not SQL_WORDS.search(strings.group()) or any(a <= strings.start() < b for a, b in comments):
            continue
        for string in C_STRING.finditer(text, *strings.span()):
            at, inner = string.start() + 1, string.group()[1:-1]
            marks = tokens_of(inner, SQL_TOKEN)
            found = [*signs(inner, marks, True),
                     *(x for x in comparisons(inner, marks, True) if not re.search(r"BETWEEN \S+ $", inner[:x[0]])),
                     *(x for x in swapped(inner, marks, True) if re.search(r"\bcoalesce\($", inner[:x[0]]))]
            for word in re.finditer(r"(?<!IF )\b(" + "|".join(WORDS_SQL) + r")\b", inner):
                found.append((*word.span(), WORDS_SQL[word.group()]))
            for start, end, after in found:
                yield at + start, at + end, after


OPERATORS = {"constant": constants, "sign": signs, "comparison": comparisons, "dropped": dropped, "swapped": swapped,
             "SQL": sql_in_c}


def mutants_of(file):
    text, is_sql = (ROOT / file).read_text(), file.endswith(".sql")
    tokens = without_assertions(tokens_of(text, SQL_TOKEN if is_sql else C_TOKEN))
    for name, operator in OPERATORS.items():
        for start, end, after in operator(text, tokens, is_sql):
            yield fault_at(file, text, start, end, name, after)


# What is run

def suites_for(file):
    return next((suites.split() for pattern, suites in AREAS if re.match(pattern, file)), [])


def fault_by_hand(number, head, before, after):
    place, _, suites = head.partition(":")
    file, _, function = place.partition(" ")
    text = (ROOT / file).read_text()
    start, end = 0, len(text)
    if function:
        # A definition begins at the margin and ends with a brace there.
        found = list(re.finditer(rf"^\w[^\n;]*\b{function}\b[^;]*?{{.*?^}}", text, re.M | re.S))
        if len(found) != 1:
            raise ListError(f"{LIST.name}:{number}: there are {len(found)} definitions of {function} in {file}")
        start, end = found[0].span()
    if text.count(before, start, end) != 1:
        raise ListError(f"{LIST.name}:{number}: stands {text.count(before, start, end)} times in {place}: {before}")
    at = text.index(before, start)
    fault = fault_at(file, text, at, at + len(before), "by hand", after)
    fault.suites = suites.split()
    if not fault.suites or not set(fault.suites) <= set(SUITES):
        raise ListError(f"{LIST.name}:{number}: no such suite: {suites}")
    return fault


def read_list():
    """The faults by hand, and {(file, line before, line after): reason} of what is no fault."""
    faults, reasons = [], {}
    for block in re.split(r"\n\s*\n", re.sub(r"^#.*\n", "", LIST.read_text(), flags=re.M)):
        lines = block.strip().splitlines()
        if not lines:
            continue
        number = LIST.read_text()[:LIST.read_text().index(block.strip())].count("\n") + 1
        marked = {line[0]: line[2:] for line in lines[1:]}
        if not {"-", "+"} <= set(marked) <= {"-", "+", "="}:
            raise ListError(f"{LIST.name}:{number}: a block needs lines that begin with - and +")
        file, _, suites = lines[0].partition(":")
        if suites.strip() != "survives":
            faults.append(fault_by_hand(number, lines[0], marked["-"], marked["+"]))
        elif "=" not in marked or marked["-"] not in " ".join((ROOT / file).read_text().split()):
            raise ListError(f"{LIST.name}:{number}: no reason, or no such line in {file}: {marked['-']}")
        else:
            reasons[file, marked["-"], marked["+"]] = marked["="]
    return faults, reasons


def drawn(seed, only, reasons):
    """All mutants, in the order of the draw: from each operator in turn."""
    files = sorted(str(p.relative_to(ROOT)) for top in ("ext", "sql") for p in (ROOT / top).rglob("*.*"))
    by_operator = collections.defaultdict(list)
    for file in files:
        if not suites_for(file) or not any(o in file for o in only):
            continue
        for fault in mutants_of(file):
            if (file, *fault.shown) not in reasons:
                by_operator[fault.operator].append(fault)
    draw = random.Random(seed)
    for faults in by_operator.values():
        draw.shuffle(faults)
    longest = max(map(len, by_operator.values()), default=0)
    return [faults[i] for i in range(longest) for faults in by_operator.values() if i < len(faults)]


def compiles(fault):
    """Whether it compiles: the compiler, not a test, must see an argument of the wrong type."""
    path = ROOT / fault.file
    if path.suffix != ".c":
        return True
    return subprocess.run([*CHECK, "-I", str(path.parent), "-"], input=fault.apply(path.read_text()), text=True,
                          capture_output=True, check=False).returncode == 0


def run(command, folder, longest=LONGEST):
    """Whether it ended with status 0, and the last line that it printed."""
    process = subprocess.Popen(command, cwd=folder, shell=isinstance(command, str), text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        said, _ = process.communicate(timeout=longest)
        return process.returncode == 0, said.strip().rpartition("\n")[2][:200]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return False, "it took too long"


class Worker:
    """Runs faults in a copy of the tree."""

    def __init__(self, folder, times, seen):
        self.folder = folder
        self.times = times  # {suite: seconds} without a fault
        self.seen = seen  # {(file, suite): faults of the file that it saw}, of all workers

    def try_fault(self, fault):
        """Writes the fault, runs its suites until one fails, and takes it out."""
        path = self.folder / fault.file
        whole = path.read_text()
        path.write_text(fault.apply(whole))
        try:
            for suite in sorted(fault.suites, key=lambda s: (-self.seen.get((fault.file, s), 0), self.times[s])):
                targets, command = SUITES[suite]
                built, said = run([*MAKE, *targets.split()], self.folder)
                if not built:
                    fault.error = said
                    return
                passed, said = run(command, self.folder, max(60, SLOWED * self.times[suite]))
                if not passed:
                    fault.seen_by = f"{suite}: {said}"
                    self.seen[fault.file, suite] = self.seen.get((fault.file, suite), 0) + 1
                    return
        finally:
            path.write_text(whole)


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


def same(path, folder):
    copy = folder / path.relative_to(ROOT)
    return copy.exists() and copy.read_bytes() == path.read_bytes()


def prepare(jobs, faults):
    """A copy of the tree for each job, built, on which every suite passes."""
    whole, times, seen = WORK / "worker0", {}, {}
    whole.mkdir(parents=True, exist_ok=True)
    # Copies only the files that changed since the last run, so that make rebuilds nothing else.
    run(f"rm -rf sql tests; cp -a {ROOT}/sql {ROOT}/tests {ROOT}/README.md {ROOT}/LICENSE .", whole)
    changed = [p for p in (*ROOT.glob("ext/**/*"), ROOT / "Makefile") if p.is_file() and not same(p, whole)]
    for path in changed:
        (whole / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, whole / path.relative_to(ROOT))
    for path in (whole / "ext").rglob("*"):
        if not (ROOT / path.relative_to(whole)).exists():
            path.unlink()
    suites = sorted({suite for fault in faults for suite in fault.suites})
    targets = sorted({target for suite in suites for target in SUITES[suite][0].split()})
    built, said = run([*MAKE, f"-j{jobs}", *targets], whole, 3600)
    if not built:
        raise ListError(f"without a fault, make fails: {said}")

    def check_one(_, suite):
        start = time.monotonic()
        passed, said = run(SUITES[suite][1], whole)
        times[suite] = time.monotonic() - start
        if not passed:
            raise ListError(f"without a fault, {suite} fails: {said}")

    parallel(jobs, suites, check_one)
    print(f"{len(suites)} suites pass without a fault, in {sum(times.values()):.0f} s", flush=True)
    for i in range(1, jobs):
        run(f"rm -rf worker{i}; cp -a worker0 worker{i}", WORK)
    return [Worker(WORK / f"worker{i}", times, seen) for i in range(jobs)]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--count", type=int, default=60, help="how many are drawn; 0: all")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--minutes", type=float, default=60, help="none is begun later than that; 0: no limit")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--only", action="append", help="files whose names have one of these in them")
    arguments.add_argument("--list", action="store_true", help="print them, and run nothing")
    arguments.add_argument("--check", action="store_true", help="only that the texts of by_hand.txt stand in the sources")
    arguments.add_argument("--skip", action="append", default=[], help="a suite that is not run")
    arguments.add_argument("--no-hand", action="store_true", help="without those by hand")
    given = arguments.parse_args()
    only = given.only or [""]
    by_hand, reasons = read_list()
    if given.check:
        print(f"{len(by_hand) + len(reasons)} passed, 0 failed")
        return
    pool = drawn(given.seed, only, reasons)
    chosen = list(itertools.islice(filter(compiles, pool), given.count or None))
    for fault in chosen:
        fault.suites = [suite for suite in suites_for(fault.file) if suite not in given.skip]
    faults = [f for f in by_hand if any(o in f.file for o in only) and not given.no_hand] + chosen
    counts = collections.Counter(f.operator for f in pool)
    print(f"{len(pool)} mutants ({', '.join(f'{n} {o}' for o, n in counts.items())}), {len(chosen)} drawn with seed "
          f"{given.seed}; {len(faults) - len(chosen)} faults by hand", flush=True)
    if given.list or not faults:
        print(*faults, sep="\n")
        return
    workers = prepare(given.jobs, faults)
    tried, begun = [], time.monotonic()

    def try_one(number, fault):
        since = time.monotonic()
        if given.minutes and since - begun > 60 * given.minutes:
            return
        workers[number].try_fault(fault)
        tried.append(fault)
        outcome = f"seen by {fault.seen_by}" if fault.seen_by else fault.error and "not built" or "SURVIVES"
        print(f"{len(tried)} of {len(faults)}, {time.monotonic() - since:.0f} s: {fault}\n    {outcome}", flush=True)

    parallel(given.jobs, faults, try_one)
    survivors = [f for f in tried if not f.seen_by and not f.error]
    wrong = [f for f in tried if f.error]
    print("", *(f"survives: {f}" for f in survivors), *(f"not built: {f}\n{f.error}" for f in wrong), sep="\n")
    print(f"{len(tried)} of {len(faults)} tried in {time.monotonic() - begun:.0f} s, {len(wrong)} not built")
    print(f"{len(tried) - len(wrong) - len(survivors)} seen, {len(survivors)} survived")
    sys.exit(bool(survivors or wrong))


if __name__ == "__main__":
    try:
        main()
    except ListError as error:
        sys.exit(f"mutate.py: {error}")
