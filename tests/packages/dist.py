#!/usr/bin/python3
"""Tests the files of `make dist` after each platform's tests have run: make test-dist, or
dist.py VERSION PLATFORM...

Compares every digit that the tests printed under build/dist/PLATFORM with those of
linux-x86_64; checks what the files export, import and need; runs every program except
macOS's, natively or by an emulation, and compares its functions with the library's;
unpacks and installs one on a machine without a compiler, played by a PATH; and builds
everything again in another directory, packages included, which must give the same bytes.
"""
import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import catalogue  # noqa: E402
from checks import SQLITE, check, finish  # noqa: E402
from macho import MachO  # noqa: E402

BUILT = ROOT / "build/dist"
ENDINGS = {"windows": "dll", "macos": "dylib"}
# The oldest glibc, by the symbols: of x86_64 memcpy's, of aarch64 the first there was.
GLIBC = {"linux-x86_64": (2, 14), "linux-aarch64": (2, 17)}
# How a program is run that this machine cannot run by itself.
EMULATION = {"linux-aarch64": ["qemu-aarch64"], "windows-x86_64": [ROOT / "ext/dist/wine.sh"]}
# A larger program would contain something twice: the largest, which includes glibc, has 3.0 MB.
LARGEST = 3_500_000
# Functions that round once by definition, or do not compute.
NOT_ROUNDED = {"fma"}
MATHEMATICS = set("""acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp10 exp2 expm1 fma fmod frexp
hypot ldexp lgamma log log10 log1p log2 modf pow sin sincos sinh sqrt tan tanh tgamma __exp10 __sincos_stret""".split())


def run(*command, **how):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **how)
    return done.returncode, done.stdout


def library(platform):
    return BUILT / platform / f"evalci.{ENDINGS.get(platform.split('-')[0], 'so')}"


def program(platform):
    return BUILT / platform / ("bin/evalci.exe" if platform.startswith("windows") else "bin/evalci")


def passed(path):
    """The counts at the end of what a suite printed."""
    return counted(path.read_text())


def counted(text):
    last = (text.strip().splitlines() or [""])[-1]
    found = re.match(r"(\d+) passed, (\d+) failed", last)
    return (int(found.group(1)), int(found.group(2))) if found else (0, 1)


def digits(platform):
    lines = (BUILT / platform / "digits.txt").read_text().splitlines()
    return [line.split()[1:] for line in lines if line.startswith("digits ")]


def apart(a, b):
    """Units in the last place between two numbers, as C prints them in base 16."""
    a, b = (float("nan") if "nan" in text else float.fromhex(text) for text in (a, b))
    if a == b or (a != a and b != b):
        return 0
    return abs(a - b) / math.ulp(max(abs(a), abs(b)))


def check_run(platform, whole):
    for suite, least in (("sql.txt", 300), ("digits.txt", 7000)):
        right, wrong = passed(BUILT / platform / suite)
        check(f"{platform}: {suite[:-4]}, {right} passed, {wrong} failed", wrong == 0 and right >= least)
    mine = digits(platform)
    check(f"{platform}: as many digits as linux-x86_64", len(mine) == len(whole) > 3000)
    worst = {}
    for (name, *want), (_, *got) in zip(whole, mine):
        worst[name] = max([worst.get(name, 0)] + [apart(w, g) for w, g in zip(want, got)])
    other = {name: units for name, units in worst.items() if units > 0}
    print(f"  {platform}: {len(mine)} references, digits " + (f"apart by ulps: {other}" if other else "equal"), flush=True)
    check(f"{platform}: the digits of linux-x86_64", not other)


def check_elf(platform):
    so = str(library(platform))
    symbols = run("readelf", "-W", "--dyn-syms", so)[1]
    rows = [line.split() for line in symbols.splitlines() if re.match(r"\s+\d+:", line)]
    exported = [row[7] for row in rows if row[6] != "UND" and row[4] == "GLOBAL"]
    imported = {row[7].split("@")[0] for row in rows if row[6] == "UND" and len(row) > 7}
    check(f"{platform}: one exported symbol, not {exported}", exported == ["sqlite3_evalci_init"])
    check(f"{platform}: computes by itself, not with {imported & MATHEMATICS - NOT_ROUNDED}",
          not imported & MATHEMATICS - NOT_ROUNDED)
    check(f"{platform}: stack protector", "__stack_chk_fail" in imported)
    head, dynamic = run("readelf", "-lW", so)[1], run("readelf", "-dW", so)[1]
    check(f"{platform}: relro, bound at once, stack not executable",
          "GNU_RELRO" in head and re.search("BIND_NOW|FLAGS.*NOW", dynamic) and re.search("GNU_STACK.* RW ", head))
    check(f"{platform}: stripped", ".symtab" not in run("readelf", "-SW", so)[1])
    needed = set(re.findall(r"NEEDED.*\[([^\]]*)\]", dynamic))
    check(f"{platform}: needs the C library alone, not {needed}",
          needed <= {"libm.so.6", "libc.so.6", "ld-linux-aarch64.so.1", "libc.so"})
    if platform in GLIBC:
        oldest = max(tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_(\d+\.\d+)", symbols))
        check(f"{platform}: runs with glibc {GLIBC[platform]}, found {oldest}", oldest <= GLIBC[platform])
        check(f"{platform}: fortified", any(name.endswith("_chk") for name in imported))


def fused(path):
    """How many multiply-adds that round once are in an ARM file."""
    return len(re.findall(r"\tf(?:n?m(?:add|sub)|ml[as])\s", run("aarch64-linux-gnu-objdump", "-d", str(path))[1]))


def check_fused(platform):
    """Fused multiply-adds on ARM come from calls of fma() alone: none from musl and GSL, and none in a file of ours that
    does not call it on x86_64, where it is a function. None but these is in the library."""
    here, called = BUILT / platform, BUILT / "linux-x86_64"
    ours = {path.relative_to(here): fused(path) for path in (here / "ext").rglob("*.o")}
    asked = {path.relative_to(called) for path in (called / "ext").rglob("*.o") if re.search(r"\bU fma$", run("nm", "-u", str(path))[1], re.M)}
    there = {path.name: fused(path) for path in (here / "libgsl.a", here / "libmath.a")}
    check(f"{platform}: none in GSL and musl: {there}", not any(there.values()))
    check(f"{platform}: of ours in {ours}, asked for in {asked}", asked and {path for path, count in ours.items() if count} == asked)
    check(f"{platform}: {fused(library(platform))} in the library", 0 < fused(library(platform)) <= sum(ours.values()))


def check_dll(platform):
    text = run("x86_64-w64-mingw32-objdump", "-p", str(library(platform)))[1]
    needed = set(re.findall(r"DLL Name: (\S+)", text))
    names = text.split("[Ordinal/Name Pointer] Table")[1].split("\n\n")[0]
    exported = re.findall(r"\[\s*\d+\]\s+(?:\+base\[\s*\d+\]\s+\S+\s+)?([A-Za-z_]\w*)", names)
    check(f"{platform}: one exported symbol, not {exported}", exported == ["sqlite3_evalci_init"])
    check(f"{platform}: needs Windows alone, not {needed}", needed <= {"ADVAPI32.dll", "KERNEL32.dll", "msvcrt.dll"})
    for flag in ("DYNAMIC_BASE", "NX_COMPAT", "HIGH_ENTROPY_VA"):
        check(f"{platform}: {flag}", flag in text)


def check_macho(platform, path, kind, exports):
    """Checks what macOS's loader requires of a file, as far as the file shows it."""
    read, what = MachO(path.read_bytes()), f"{platform}: {path.name}"
    check(f"{what}: a {kind} for that processor, not {read.kind} {read.cpu}", (read.kind, f"macos-{read.cpu}") == (kind, platform))
    check(f"{what}: for macOS 11, not {read.minimum}", read.minimum == (11, 0))
    check(f"{what}: needs the C library alone, not {read.libraries}", read.libraries == ["/usr/lib/libSystem.B.dylib"])
    check(f"{what}: exports {read.exports}", read.exports == exports)
    check(f"{what}: its signature fits its bytes", read.signed())
    other = bytearray(read.data)
    other[len(other) // 2] ^= 1
    check(f"{what}: and fits no others", not MachO(bytes(other)).signed())
    check(f"{what}: nothing is written and run", all(rights & 6 != 6 for rights in read.rights.values()))
    check(f"{what}: at any address", kind == "library" or read.independent)
    check(f"{what}: stack protector, fortified", {"__stack_chk_fail", "__memcpy_chk"} <= read.imports)
    check(f"{what}: computes by itself, not with {read.imports & MATHEMATICS - NOT_ROUNDED}",
          not read.imports & MATHEMATICS - NOT_ROUNDED)
    check(f"{what}: rounds each product", read.cpu != "arm64" or read.fused() == 0)
    check(f"{what}: no path of this machine", str(ROOT).encode() not in read.data)


def check_library_macho(platform):
    path = library(platform)
    check_macho(platform, path, "library", ["_sqlite3_evalci_init"])
    check(f"{platform}: its own name", MachO(path.read_bytes()).name == "@rpath/evalci.dylib")


def check_program_macho(platform):
    check_macho(platform, program(platform), "program", ["__mh_execute_header"])


def check_program_elf(platform):
    path = str(program(platform))
    head, dynamic = run("readelf", "-lW", path)[1], run("readelf", "-dW", path)[1]
    check(f"{platform}: the program needs no library", "NEEDED" not in dynamic and "INTERP" not in head)
    check(f"{platform}: the program at any address, relro, stack not executable",
          re.search("FLAGS_1.*PIE", dynamic) and "GNU_RELRO" in head and re.search("GNU_STACK.* RW ", head))
    check(f"{platform}: the program is stripped", ".symtab" not in run("readelf", "-SW", path)[1])


def check_program_exe(platform):
    text = run("x86_64-w64-mingw32-objdump", "-p", str(program(platform)))[1]
    needed = set(re.findall(r"DLL Name: (\S+)", text))
    check(f"{platform}: the program needs Windows alone, not {needed}", needed <= {"ADVAPI32.dll", "KERNEL32.dll", "msvcrt.dll"})
    for flag in ("DYNAMIC_BASE", "NX_COMPAT", "HIGH_ENTROPY_VA"):
        check(f"{platform}: the program: {flag}", flag in text)


def functions():
    """One SELECT of every function of the catalogue but tables and boards, each with its digits."""
    listed, examples = catalogue.read()
    calls = [f.call(f.arities[-1], examples) for f in listed if f.kind != "t" and f.result != "board"]
    return "SELECT " + " UNION ALL SELECT ".join(f"{i} AS i, {call} AS value FROM t" for i, call in enumerate(calls))


def check_answers(platform, scratch):
    """Every function in the program gives the library's digits, and the verbs work."""
    folder = scratch / platform
    folder.mkdir()
    run(*SQLITE, str(folder / "t.db"), f".read {catalogue.TABLE}")
    db = sqlite3.connect(folder / "t.db")
    db.enable_load_extension(True)
    db.load_extension(str(library("linux-x86_64")))
    wanted = [list(row) for row in db.execute(functions())]
    board = db.execute("SELECT model, ci FROM eval_leaderboard").fetchall()

    def evalci(*words):
        command = [*EMULATION.get(platform, []), program(platform), *words]
        done = subprocess.run([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", env={**os.environ, "LC_ALL": "C.UTF-8"})
        return done.returncode, done.stdout, done.stderr

    check(f"{platform}: the program's version", re.match(r"evalci \d+\.\d+\.\d+, SQLite 3\.", evalci("--version")[1]))
    status, out, err = evalci("sql", "t.db", functions(), "--json")
    got = [list(row.values()) for row in json.loads(out)] if status == 0 else err
    check(f"{platform}: every function in the program has the library's digits: {str(got)[:300]}", got == wanted and len(wanted) > 100)
    status, out, err = evalci("leaderboard", "t.db", "--json")
    got = [(row["model"], row["ci"]) for row in json.loads(out)] if status == 0 else err
    check(f"{platform}: its leaderboard is the library's: {got}", got == board and len(board) == 3)
    # A name beyond ASCII, of a file and in it.
    answers = [(model, item, int(item % modulus > 0)) for model, modulus in (("älter", 3), ("new", 9)) for item in range(200)]
    text = "model,item,correct\n" + "".join(f"{model},{item},{correct}\n" for model, item, correct in answers)
    (folder / "ü.csv").write_text(text, encoding="utf-8")
    status, out, err = evalci("import", "ü.csv", "-o", "ü.db")
    check(f"{platform}: import: {out} {err}", status == 0 and "'ü.db' now has 400 answers" in out)
    rows = sqlite3.connect(folder / "ü.db").execute("SELECT model, CAST(item AS INTEGER), correct FROM results").fetchall()
    check(f"{platform}: import: the file's rows", sorted(rows) == sorted(answers))
    status, out, err = evalci("report", "ü.db", "-o", "ü.html")
    page = (folder / "ü.html").read_text(encoding="utf-8") if status == 0 else ""
    check(f"{platform}: report: {out} {err}", page.rstrip().endswith("</html>") and "älter" in page)
    for baseline, candidate, wanted_status in (("älter", "new", 0), ("new", "älter", 1), ("älter", "älter", 3), ("absent", "new", 3)):
        got = evalci("gate", "ü.db", "--baseline", baseline, "--candidate", candidate)
        check(f"{platform}: gate of {candidate} against {baseline}: {got}", got[0] == wanted_status)


def check_program(platform, scratch):
    size = program(platform).stat().st_size
    print(f"  {platform}: the library has {library(platform).stat().st_size:,} bytes, the program {size:,}", flush=True)
    check(f"{platform}: the program is no larger than {LARGEST}, {size}", size <= LARGEST)
    {"windows": check_program_exe, "macos": check_program_macho}.get(platform.split("-")[0], check_program_elf)(platform)
    if platform.startswith("macos"):
        return
    check_answers(platform, scratch)
    if platform in EMULATION:
        return
    for suite in ("verbs", "gate"):
        said = run("/usr/bin/python3", f"tests/cli/{suite}.py", str(program(platform)), str(library("linux-x86_64")))[1]
        right, wrong = counted(said)
        check(f"{platform}: the program's {suite}: {said[-500:]}", right > 100 and wrong == 0)


def names_in(path):
    if path.suffix == ".zip":
        return zipfile.ZipFile(path).namelist()
    return tarfile.open(path).getnames()


def check_files(version, platforms):
    files = BUILT / "files"
    listed = dict(line.split()[::-1] for line in (files / "checksums.txt").read_text().splitlines())
    for name, checksum in listed.items():
        check(f"{name}: its checksum", hashlib.sha256((files / name).read_bytes()).hexdigest() == checksum)
    wanted = {f"evalci-{version}-source.tar.gz"}
    for platform in platforms:
        name = f"evalci-{version}-{platform}"
        name += ".zip" if platform.startswith("windows") else ".tar.gz"
        wanted.add(name)
        inside = {path.split("/", 1)[1] for path in names_in(files / name)}
        sql = {str(path.relative_to(ROOT)) for path in (ROOT / "sql").rglob("*") if path.is_file()}
        check(f"{name}: library, program, sql, README and licences",
              inside >= sql | {f"build/{library(platform).name}", f"build/bin/{program(platform).name}", "README.md", "LICENSE",
                               "NOTICES.txt", "SOURCES.txt", "Makefile"})
    check("these files and no others", set(listed) == wanted)


def check_install(version, scratch):
    """Unpacks and installs the file on a machine without a compiler, and loads it as `make install` says."""
    tarfile.open(BUILT / f"files/evalci-{version}-linux-x86_64.tar.gz").extractall(scratch)
    tools = scratch / "bin"
    tools.mkdir()
    for tool in ("sh", "make", "install", "cp", "ln", "echo"):
        (tools / tool).symlink_to(shutil.which(tool))
    top, prefix = scratch / f"evalci-{version}-linux-x86_64", scratch / "usr"
    status, said = run("make", "-s", "install", f"PREFIX={prefix}", cwd=top, env={"PATH": str(tools)})
    check(f"make install without a compiler: {said}", status == 0)
    line = re.search(r"\.load \S+", said)
    check("it says how to load it", line)
    got = run(*SQLITE, ":memory:", line.group(0) if line else "", "SELECT evalci_version()")
    check(f"which works, and gives the version: {got}", got == (0, version + "\n"))
    db = scratch / "evals.db"
    run(*SQLITE, str(db), ".read sql/schema.sql", "INSERT INTO results(model, task, item, correct) VALUES ('m', 't', 1, 1)",
        cwd=prefix / "share/evalci")
    status, said = run(str(prefix / "bin/evalci"), "report", str(db), "-o", str(scratch / "page.html"))
    check(f"and so does the program that was installed: {said}", status == 0 and "</html>" in (scratch / "page.html").read_text())


def check_same_bytes(scratch, platforms):
    """Builds libraries and programs again, in another directory and from other copies of the sources."""
    other = scratch / "elsewhere"
    shutil.copytree(ROOT, other, ignore=lambda folder, names: [n for n in names if n in ("build", ".git")])
    (other / "build/dist").mkdir(parents=True)
    shutil.copytree(BUILT / "sources", other / "build/dist/sources", symlinks=True,
                    ignore=lambda folder, names: [n for n in names if n in ("apt", "www", "doc", "test")])
    for platform in platforms:
        status, said = run("make", "-s", f"-j{os.cpu_count()}", "-f", "ext/dist/platform.mk", f"PLATFORM={platform}", "library",
                           "program", cwd=other, env={**os.environ, "MAKEFLAGS": "", "ZIG": str(ROOT / "build/zig")})
        check(f"{platform} builds elsewhere: {said[-300:]}", status == 0)
        for made in (library(platform), program(platform)):
            check(f"{platform}: the same bytes of {made.name}",
                  status == 0 and (other / made.relative_to(ROOT)).read_bytes() == made.read_bytes())
    here, there = (packed(top, platforms, scratch / out) for top, out in ((ROOT, "here"), (other, "there")))
    check(f"the same archives and packages: {set(here) ^ set(there)}", here == there and len(here) >= 3 * len(platforms))


def packed(top, platforms, out):
    """The checksums of the archives and packages that a tree makes."""
    archive = [sys.executable, "ext/dist/archive.py", "0"]
    commands = [[*archive, "source", out / "files"], [sys.executable, "ext/packages/build.py", "0", out / "packages"]]
    for platform in platforms:
        built = [path.relative_to(ROOT) for path in (library(platform), program(platform))]
        commands.append([*archive, platform, *built, "build/dist/sources", out / "files"])
    for command in commands:
        status, said = run(*map(str, command), cwd=top)
        check(f"{command[1]} in {top}: {said[-300:]}", status == 0)
    return [line for part in ("files", "packages") for line in (out / part / "checksums.txt").read_text().splitlines()]


def main(version, *platforms):
    os.chdir(ROOT)
    whole = digits("linux-x86_64")
    for platform in platforms:
        check_run(platform, whole)
        {"windows": check_dll, "macos": check_library_macho}.get(platform.split("-")[0], check_elf)(platform)
        if platform.endswith("aarch64"):
            check_fused(platform)
    check_files(version, platforms)
    with tempfile.TemporaryDirectory() as made:
        for platform in platforms:
            check_program(platform, pathlib.Path(made))
        check_install(version, pathlib.Path(made))
        check_same_bytes(pathlib.Path(made), platforms)
    finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
