"""python3 -m evalci: the program evalci, which the installer put where commands are."""
import importlib.metadata
import os
import pathlib
import subprocess
import sys

NAME = "evalci.exe" if os.name == "nt" else "evalci"


def program():
    """Its path, by the installer's list of files; beside the package after pip's --target."""
    beside = pathlib.Path(__file__).resolve().parent.parent / "bin" / NAME
    listed = [file.locate() for file in importlib.metadata.files("evalci") or () if file.name == NAME]
    for path in (beside, *listed):
        if os.path.isfile(path):
            return str(path)
    sys.stderr.write(f"evalci: the program {NAME} is not where the package was installed; install it again\n")
    sys.exit(3)


def main():
    command = [program(), *sys.argv[1:]]
    # Windows starts another program in place of this one, and the prompt does not wait for it.
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
