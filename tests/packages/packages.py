#!/usr/bin/python3
"""Installs every package of `make packages` where evalci is not installed, and uses it:
make test-packages, or packages.py VERSION DIRECTORY NODE.

If DATASETTE and SQLITE_UTILS in the environment are the paths of those programs' sources,
the plugins also run in the programs themselves.
"""
import glob
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).parent.parent.parent
HERE = ROOT / "tests/packages"
sys.path[:0] = [str(ROOT / "tests"), str(HERE)]
import action  # noqa: E402
from api import check_used, used  # noqa: E402
from checks import SQLITE, check, finish  # noqa: E402

INTERVAL = "[0.69622"


def run(*command, **how):
    """Status and output; what was said on both channels, unless how says otherwise."""
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          **{"stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL, **how})
    return done.returncode, done.stdout


def clean(**more):
    """An environment in which no other Python or Node module is to be found."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **more}


def demo(path):
    """The database of make demo."""
    run(*SQLITE, path, ".load build/evalci", ".read sql/demo.sql", cwd=ROOT)


def check_reproducible(version, packages, scratch):
    again = scratch / "again"
    status, said = run(sys.executable, ROOT / "ext/packages/build.py", version, again)
    check(f"the packages, made again: {said}", status == 0)
    check("have the same bytes", (again / "checksums.txt").read_text() == (packages / "checksums.txt").read_text())


def metadata_of(path):
    """The file that names the licence."""
    if path.suffix == ".whl":
        archive = zipfile.ZipFile(path)
        return next(archive.read(name).decode() for name in archive.namelist() if name.endswith("METADATA"))
    if path.suffix == ".tgz":
        return tarfile.open(path).extractfile("package/package.json").read().decode()
    return run("sh", "-c", f"dpkg-deb --fsys-tarfile '{path}' | tar -xO ./usr/share/doc/sqlite3-evalci/copyright")[1]


def check_licences(packages):
    for path in sorted(packages.glob("*")):
        if path.name != "checksums.txt":
            text = metadata_of(path)
            check(f"{path.name} names its licence", "GPL-3.0-or-later" in text or "License: GPL-3+\n" in text)


def venv(path, packages, *names, system=False, python="/usr/bin/python3"):
    run(python, "-m", "venv", *(["--system-site-packages"] if system else []), path)
    status, said = run(path / "bin/pip", "install", "--no-index", "--find-links", packages, *names, env=clean())
    check(f"pip installs {' '.join(names)} with no network: {said[-500:]}", status == 0)
    return path / "bin/python"


def check_wheel(version, packages, scratch):
    python = venv(scratch / "venv", packages, "sqlite-evalci")
    status, said = run(python, HERE / "use.py", env=clean(), cwd=scratch)
    check(f"the wheel is used: {said}", status == 0)
    if status:
        return python
    got = json.loads(said)
    check(f"the version: {got}", got["version"] == got["same"] == version)
    check(f"an interval: {got['interval']}", got["interval"].startswith(INTERVAL))
    check("the path is within what was installed", got["path"].startswith(str(scratch)))
    check("sql() by both names", got["schema"] and got["adapter"])
    check(f"sql() of no file: {got['no file']}", "'nothing'; there are README.md, adapters/" in got["no file"])
    check(f"a Python that cannot: {got['cannot']}", "pysqlite3" in got["cannot"]
          and got["cannot"].startswith("RuntimeError: sqlite_evalci.load: this connection cannot"))
    check(f"extensions are closed again: {got['closed again']}", "not authorized" in got["closed again"])
    for tag in ("manylinux_2_17_aarch64", "musllinux_1_2_x86_64", "win_amd64", "manylinux2014_x86_64", "manylinux_2_14_x86_64",
                "macosx_11_0_arm64", "macosx_15_0_arm64", "macosx_11_0_x86_64"):
        status, said = run(python, "-m", "pip", "download", "--no-index", "--no-deps", "--find-links", packages,
                           "--only-binary=:all:", "--platform", tag, "--dest", scratch / tag, "sqlite-evalci", env=clean())
        check(f"pip finds one for {tag}: {said[-300:]}", (status == 0) and len(os.listdir(scratch / tag)) == 1)
    return python


def check_commands(version, python, scratch):
    """The command that pip installed is the program, and python3 -m sqlite_evalci starts it."""
    program = python.parent / "evalci"
    built = ROOT / "build/dist" / f"linux-{os.uname().machine}" / "bin/evalci"
    check("the command is the program that was tested", program.read_bytes() == built.read_bytes() and os.access(program, os.X_OK))
    demo(scratch / "demo.db")
    check_verbs("pip", version, [program], scratch)
    status, said = run(python, "-m", "sqlite_evalci", "leaderboard", "demo.db", env=clean(PYTHONIOENCODING="cp1252"), cwd=scratch)
    check(f"by python3 -m sqlite_evalci the same: {said}", (status, said) == run(program, "leaderboard", "demo.db", env=clean(), cwd=scratch))
    # 20 right of 20 are surely above 0.01, and too few to say whether they are above 0.999.
    for least, wanted in (("0.01", 0), ("0.999", 2), ("", 3)):
        got = run(python, "-m", "sqlite_evalci", "gate", "demo.db", "--candidate", "claude-2.1", "--min", least, env=clean(), cwd=scratch)
        check(f"and its status is the program's: {got}", got[0] == wanted)
    program.rename(scratch / "moved")
    status, said = run(python, "-m", "sqlite_evalci", "formats", env=clean(), cwd=scratch)
    check(f"without the program: {said}", status == 3 and said.startswith("evalci: the program evalci is not where"))
    (scratch / "moved").rename(program)


def check_verbs(what, version, command, folder):
    """Leaderboard, report, import and gate, by a command that was installed; the folder has demo.db."""
    def evalci(*words):
        return run(*command, *words, env=clean(), cwd=folder)

    got = evalci("--version")
    check(f"{what}: the version: {got}", got[0] == 0 and got[1].startswith(f"evalci {version}, SQLite "))
    status, said = evalci("leaderboard", "demo.db", "--json")
    rows = json.loads(said) if status == 0 else []
    check(f"{what}: leaderboard: {said[:300]}", len(rows) == 9
          and all(row["lo"] < row["accuracy"] < row["hi"] or row["accuracy"] in (0, 1) for row in rows))
    status, said = evalci("report", "demo.db", "-o", "page.html")
    check(f"{what}: report: {said}", (status, said) == (0, "wrote page.html\n") and "</html>" in (folder / "page.html").read_text())
    # Of "like" few answers are there.
    answers = [f"{model},t,{item},{int(item % modulus > 0)}\n" for model, modulus, asked in (("old", 3, 200), ("new", 9, 200), ("like", 3, 20))
               for item in range(asked)]
    (folder / "results.csv").write_text("model,task,item,correct\n" + "".join(answers))
    status, said = evalci("import", "results.csv", "-o", "gate.db")
    check(f"{what}: import: {said}", status == 0 and "'gate.db' now has 420 answers" in said)
    with sqlite3.connect(folder / "gate.db") as db:
        got = [",".join(map(str, row)) + "\n" for row in db.execute("SELECT model, task, item, correct FROM results")]
    check(f"{what}: import: the file's rows", sorted(got) == sorted(answers))
    for baseline, candidate, wanted in (("old", "new", 0), ("new", "old", 1), ("old", "like", 2), ("old", "absent", 3)):
        got = evalci("gate", "gate.db", "--baseline", baseline, "--candidate", candidate)
        check(f"{what}: gate of {candidate} against {baseline}: {got}", got[0] == wanted)


def check_plugins(version, packages, scratch):
    run("/usr/bin/python3", "-m", "venv", "--system-site-packages", scratch / "hosts")
    status, said = run(scratch / "hosts/bin/pip", "install", "--no-index", "--no-deps", "--find-links", packages, "sqlite-evalci",
                       "datasette-sqlite-evalci", "sqlite-utils-sqlite-evalci", env=clean())
    check(f"pip installs the plugins: {said[-300:]}", status == 0)
    python = scratch / "hosts/bin/python"
    for group, module in (("datasette", "datasette_sqlite_evalci"), ("sqlite_utils", "sqlite_utils_sqlite_evalci")):
        for source in filter(lambda path: path is not None, ("", os.environ.get(group.upper()))):
            where = source or "a host that is played"
            folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
            got = run(python, HERE / "host.py", group, module, *([source] if source else []), env=clean(), cwd=folder)
            # One page fewer where the host has one of its own.
            pages = {"datasette": 10 if source else 9, "sqlite_utils": 0}[group]
            check(f"{group}'s plugin in {where}: {got[1][-500:]}", got[0] == 0 and got[1].split()[-2:] == [str(pages), version])


def check_notebook(packages, scratch):
    """pandas, a plot with error bars, and the SVG, in a notebook run without a screen."""
    folder = scratch / "notebook"
    folder.mkdir()
    demo(folder / "demo.db")
    shutil.copy(HERE / "notebook.ipynb", folder)
    python = venv(scratch / "pandas", packages, "sqlite-evalci", system=True)
    (library,) = glob.glob(str(scratch / "pandas/lib/python3*/site-packages"))
    homes = {name: str(folder) for name in ("JUPYTER_CONFIG_DIR", "IPYTHONDIR", "MPLCONFIGDIR")}
    status, said = run(python, "-m", "nbconvert", "--execute", "--to", "notebook", "--output", "run.ipynb", "notebook.ipynb",
                       cwd=folder, env=clean(PYTHONPATH=library, **homes))
    check(f"the notebook runs: {said[-800:]}", status == 0)
    if status:
        return
    outputs = [output for cell in json.loads((folder / "run.ipynb").read_text())["cells"] for output in cell["outputs"]]
    pages = ["".join(output["data"]["text/html"]) for output in outputs if "text/html" in output.get("data", {})]
    check("a DataFrame of nine models, and the leaderboard", [page.count("<tr") for page in pages] == [10, 10])
    check("which draws nine bars", pages[-1:] and pages[-1].count("<svg") == 9 and "83.9%–100.0%" in pages[-1])
    shown = {kind: "".join(data) for output in outputs for kind, data in output.get("data", {}).items()}
    check("a plot", len(shown.get("image/png", "")) > 5000)
    check("the SVG", shown.get("image/svg+xml", "").startswith("<svg") and "</svg>" in shown["image/svg+xml"])


def check_ten_seconds(packages, scratch):
    """From nothing but Python and a folder of packages to a leaderboard of a CSV file: three commands."""
    folder = scratch / "ten seconds"
    folder.mkdir()
    (folder / "results.csv").write_text("model,item,correct\n" + "".join(
        f"{model},{item},{int(item % modulus > 0)}\n" for model, modulus in (("new", 9), ("old", 3)) for item in range(60)))
    begun = time.monotonic()
    for command in ("/usr/bin/python3 -m venv env", f"env/bin/pip install --no-index --find-links '{packages}' sqlite-evalci",
                    "env/bin/evalci leaderboard results.csv"):
        status, said = run("sh", "-c", command, cwd=folder, env=clean())
        check(f"{command}: {said[-300:]}", status == 0)
    check(f"a leaderboard after three commands: {said}", re.search(r"1 +new +88\.3%", said) and re.search(r"2 +old +66\.7%", said))
    print(f"from nothing to a leaderboard by pip: {time.monotonic() - begun:.1f} s")


def check_api(packages, python, scratch):
    """sqlite_evalci as pandas users have it: without pandas, with it, and in a Python that loads no extensions."""
    check_used("the wheel", used(python, scratch, "without pandas", env=clean()), False, True)
    with_pandas = venv(scratch / "system", packages, "sqlite-evalci", system=True)
    check_used("the wheel, with pandas", used(with_pandas, scratch, "with pandas", env=clean()), True, True)
    check_used("the wheel, by the program", used(with_pandas, scratch, "by the program", "--program", env=clean()), True, False)
    asked = "import sqlite3, venv; print(hasattr(sqlite3.Connection, 'enable_load_extension'))"
    others = [other for other in dict.fromkeys(map(shutil.which, ("python3", "python3.12", "python3.10", "python3.8")))
              if other and run(other, "-c", asked) == (0, "False\n")]
    for i, other in enumerate(others):
        own = venv(scratch / f"no extensions {i}", packages, "sqlite-evalci", python=other)
        check_used(f"{other}, which loads no extensions", used(own, scratch, f"used {i}", env=clean()), False, False)
    print(f"{len(others)} Pythons here load no extensions")


def check_types(python, scratch):
    """The hints, by mypy."""
    shutil.copy(HERE / "typed.py", scratch)
    checked = ("mypy", "--strict", "--python-executable", python)
    status, said = run(*checked, "typed.py", env=clean(), cwd=scratch)
    check(f"the hints: {said}", status == 0)
    (scratch / "wrong.py").write_text("import sqlite_evalci\nsqlite_evalci.gate('results.csv')\nsqlite_evalci.leaderboard('results.csv', table=1)\n")
    status, said = run(*checked, "wrong.py", env=clean(), cwd=scratch)
    check(f"which refuse what is wrong: {said}", status != 0 and all(f"wrong.py:{line}: error" in said for line in (2, 3)))


def check_npm(version, packages, node, scratch):
    app = scratch / "app"
    app.mkdir()
    (app / "package.json").write_text('{"private": true}')
    machine = run("node", "-p", "process.arch")[1].strip()
    tarballs = [packages / f"sqlite-evalci-{version}.tgz", packages / f"sqlite-evalci-linux-{machine}-glibc-{version}.tgz"]
    status, said = run("npm", "install", "--no-audit", "--no-fund", *tarballs, cwd=app)
    check(f"npm installs it: {said[-500:]}", status == 0)
    installed = sorted(path.name for path in (app / "node_modules").glob("*evalci*"))
    check(f"with the library of this machine alone: {installed}", installed == ["sqlite-evalci", f"sqlite-evalci-linux-{machine}-glibc"])
    shutil.copy(HERE / "npm.mjs", app)
    modules = ROOT / "build/clients/node/node_modules"
    (newer,) = glob.glob(str(node / "node_modules/node-linux-*/bin/node"))
    for client, program in (("better-sqlite3", "node"), ("libsql", "node"), ("node:sqlite", newer)):
        status, said = run(program, "npm.mjs", client, modules / client, cwd=app, stderr=subprocess.PIPE)
        got = json.loads(said) if status == 0 else {}
        check(f"{client}: {said}", got.get("version") == version and got.get("ci", "").startswith(INTERVAL))
        check(f"{client}: ESM and CommonJS agree", got.get("both") is True and got.get("path", "").endswith("evalci.so"))
    demo(app / "demo.db")
    check_verbs("npm", version, [app / "node_modules/.bin/evalci"], app)
    check_tools(app, node, version)
    shutil.rmtree(app / f"node_modules/sqlite-evalci-linux-{machine}-glibc")
    status, said = run("node", "-p", "require('sqlite-evalci').getLoadablePath()", cwd=app)
    check(f"without the library's package: {said}", status != 0 and f"package sqlite-evalci-linux-{machine}-glibc is not installed" in said)
    got = run(app / "node_modules/.bin/evalci", "formats", cwd=app)
    check(f"nor has the command a program: {got}", got[0] == 3 and f"package sqlite-evalci-linux-{machine}-glibc is not installed" in got[1])
    elsewhere = "Object.defineProperty(process, 'platform', {value: 'sunos'}); require('sqlite-evalci').getLoadablePath()"
    status, said = run("node", "-e", elsewhere, cwd=app)
    check("on another platform", status != 0 and f"no library for sunos-{machine}; there are linux-x64-glibc" in said)


def check_tools(app, node, version):
    """The types, by TypeScript, and a program that a bundler made one file of."""
    shutil.copy(HERE / "types.ts", app)
    status, said = run(node / "node_modules/.bin/tsc", "--noEmit", "--strict", "--module", "node16", "types.ts", cwd=app)
    check(f"the types: {said}", status == 0)
    (app / "wrong.ts").write_text('import { load } from "sqlite-evalci";\nload(1);\n')
    status, said = run(node / "node_modules/.bin/tsc", "--noEmit", "--module", "node16", "wrong.ts", cwd=app)
    check(f"which refuse what is no database: {said}", status != 0 and "wrong.ts(2," in said)
    (app / "program.js").write_text('import { load } from "sqlite-evalci";\nimport Database from "better-sqlite3";\n'
                                    'const db = new Database(":memory:");\nload(db);\n'
                                    'console.log(db.prepare("SELECT evalci_version() AS v").get().v);\n')
    modules = ROOT / "build/clients/node/node_modules"
    for name in ("better-sqlite3", "bindings", "file-uri-to-path"):
        (app / "node_modules" / name).symlink_to(modules / name)
    status, said = run(node / "node_modules/.bin/esbuild", "--bundle", "--platform=node", "--external:better-sqlite3",
                       "--outfile=out/deep/program.js", "program.js", cwd=app)
    check(f"esbuild bundles it: {said}", status == 0)
    check("and the bundle runs", run("node", "out/deep/program.js", cwd=app) == (0, version + "\n"))


def check_deb(version, packages):
    architecture = run("dpkg", "--print-architecture")[1].strip()
    for path in sorted(packages.glob("*.deb")):
        status, said = run("lintian", "--fail-on", "error", path)
        check(f"lintian of {path.name}: {said}", status == 0 and "E: " not in said)
    sudo = [] if os.getuid() == 0 else ["sudo"]
    deb = packages.resolve() / f"sqlite3-evalci_{version}_{architecture}.deb"
    apt = [*sudo, "apt-get", "-o", "DPkg::Lock::Timeout=300", "-qq", "-y"]
    status, said = run(*apt, "install", "--no-install-recommends", deb)
    check(f"apt installs it: {said[-300:]}", status == 0)
    got = run(*SQLITE, ":memory:", ".load build/evalci", "SELECT evalci_version(), bayes_ci_counts(18, 20)", cwd="/usr/share/evalci")
    check(f"it loads as its description says: {got}", got[1].startswith(f"{version}|{INTERVAL}"))
    with tempfile.TemporaryDirectory() as made:
        demo(pathlib.Path(made) / "demo.db")
        check_verbs("apt", version, ["/usr/bin/evalci"], pathlib.Path(made))
    status, said = run(*apt, "purge", "sqlite3-evalci")
    check(f"apt removes it, and nothing is left: {said[-300:]}", status == 0
          and not os.path.exists("/usr/share/evalci") and not os.path.exists("/usr/bin/evalci"))


def main(version, packages, node):
    packages, node = pathlib.Path(packages).resolve(), pathlib.Path(node).resolve()
    with tempfile.TemporaryDirectory() as made:
        scratch = pathlib.Path(made).resolve()
        check_reproducible(version, packages, scratch)
        check_licences(packages)
        check_ten_seconds(packages, scratch)
        python = check_wheel(version, packages, scratch)
        check_commands(version, python, scratch)
        check_api(packages, python, scratch)
        check_types(python, scratch)
        action.check_installs(packages)
        check_plugins(version, packages, scratch)
        check_notebook(packages, scratch)
        check_npm(version, packages, node, scratch)
    check_deb(version, packages)
    finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
