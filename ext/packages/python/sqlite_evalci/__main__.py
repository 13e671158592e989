"""python3 -m sqlite_evalci: the program evalci."""
import os
import subprocess
import sys

from ._program import program


def main():
    try:
        command = [program(), *sys.argv[1:]]
    except FileNotFoundError as error:
        sys.stderr.write(f"evalci: {error}\n")
        sys.exit(3)
    # Windows starts another program in place of this one, and the prompt does not wait for it.
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
