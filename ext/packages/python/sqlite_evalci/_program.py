"""Finds the program evalci, which pip installed where commands are."""
import functools
import importlib.metadata
import os
import pathlib

NAME = "evalci.exe" if os.name == "nt" else "evalci"


@functools.lru_cache(maxsize=None)
def program():
    """Its path, by pip's list of files; beside the package after pip's --target."""
    beside = pathlib.Path(__file__).resolve().parent.parent / "bin" / NAME
    try:
        listed = [file.locate() for file in importlib.metadata.files("sqlite-evalci") or () if file.name == NAME]
    except importlib.metadata.PackageNotFoundError:
        listed = []
    for path in (beside, *listed):
        if os.path.isfile(path):
            return str(path)
    raise FileNotFoundError(f"the program {NAME} is not where the package was installed; install it again")
