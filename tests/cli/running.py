"""Shared by the suites of the program: runs it, and checks its output."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from checks import check, finish, seeded  # noqa: E402,F401

# A background job of a shell ignores these signals, and the program would inherit that.
for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(which, signal.SIG_DFL)

EVALCI = str(pathlib.Path(sys.argv[1]).resolve())
FOLDER = tempfile.TemporaryDirectory()
HERE = pathlib.Path(FOLDER.name)


def run(*arguments, **others):
    """Status, standard output and standard error."""
    others = {"stdin": subprocess.DEVNULL, **others}
    done = subprocess.run([EVALCI, *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=120, **others)
    return done.returncode, done.stdout, done.stderr


def ends(what, status, *arguments, says=(), **others):
    """It ends with that status and prints all words of `says`: on standard error if the status is an error, and nothing
    there otherwise."""
    code, out, err = run(*arguments, **others)
    said = err if status == 3 else out
    check(f"{what}: status {code}, not {status}: {err}", code == status)
    for word in [says] if isinstance(says, str) else says:
        check(f"{what}: {said!r} has {word!r}", word in said)
    if status == 3:
        check(f"{what}: {err!r} begins with the program's name", err.startswith("evalci"))
    else:
        check(f"{what}: nothing on standard error, not {err!r}", err == "")
    return out


def csv(name, models, questions, task="t", header="model,task,item,correct"):
    """Writes a file of answers, in which each model has the given share of right ones."""
    lines = [header]
    for model, share in models.items():
        lines += [f"{model},{task},{i},{int(i * 7919 % 1000 < 1000 * share)}" for i in range(questions)]
    path = HERE / name
    path.write_text("\n".join(lines) + "\n")
    return path


def left(folder, *names):
    """Checks that the folder has these files and no others."""
    return sorted(os.listdir(folder)) == sorted(names)
