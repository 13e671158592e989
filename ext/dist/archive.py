#!/usr/bin/python3
"""Puts a platform's library and program into the file that people download:

    archive.py VERSION PLATFORM LIBRARY PROGRAM SOURCES DIRECTORY
    archive.py VERSION source DIRECTORY

or packs this tree, whose sources the licence requires.  The bytes do not depend on who makes
the file and where: names are sorted, there is no owner, and the only time is
SOURCE_DATE_EPOCH.  Rewrites DIRECTORY/checksums.txt.
"""
import gzip
import hashlib
import io
import os
import pathlib
import stat
import subprocess
import sys
import tarfile
import time
import zipfile

ROOT = pathlib.Path(__file__).parent.parent.parent
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
# For each platform, Debian's package of the C library that the program includes; macOS has its own.
C_LIBRARY = {"linux-x86_64": "libc6-dev", "linux-aarch64": "libc6-dev-arm64-cross", "musl-x86_64": "musl-dev",
             "windows-x86_64": "mingw-w64-x86-64-dev"}


def versions(sources, platform):
    """The included libraries, each with the version of its source."""
    ours = (sources / "versions.txt").read_bytes()
    if platform not in C_LIBRARY:
        return ours
    asked = ["dpkg-query", "-W", "-f", "${Package} ${Version}\n", C_LIBRARY[platform]]
    return ours + subprocess.run(asked, check=True, stdout=subprocess.PIPE).stdout


def contents(platform, library, program, sources):
    """The files of the archive by name: their bytes, and whether they are executable."""
    sql = sorted(path for path in (ROOT / "sql").rglob("*") if path.is_file())
    files = {str(path.relative_to(ROOT)): path for path in sql}
    files.update({"README.md": ROOT / "README.md", "LICENSE": ROOT / "LICENSE",
                  "NOTICES.txt": sources / "notices.txt", "Makefile": ROOT / "ext/dist/install.mk",
                  # Where README and the files of sql/ have them.
                  f"build/{library.name}": library, f"build/bin/{program.name}": program})
    read = {name: (path.read_bytes(), os.access(path, os.X_OK)) for name, path in files.items()}
    return dict(sorted({**read, "SOURCES.txt": (versions(sources, platform), False)}.items()))


def tree():
    """The project's own files."""
    top = [ROOT / name for name in (".ci .clang-format .gitignore LICENSE Makefile README.md ext sql tests").split()]
    files = sorted(path for name in top for path in ([name] if name.is_file() else name.rglob("*"))
                   if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(ROOT)): (path.read_bytes(), os.access(path, os.X_OK)) for path in files}


def write_tar(target, folder, files):
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=EPOCH) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (data, runs) in files.items():
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), EPOCH, 0o755 if runs else 0o644
            archive.addfile(entry, io.BytesIO(data))


def write_zip(target, folder, files):
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (data, runs) in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", time.gmtime(EPOCH)[:6])
            entry.external_attr = (stat.S_IFREG | (0o755 if runs else 0o644)) << 16
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            archive.writestr(entry, data)


def write_checksums(out):
    made = sorted(path for path in out.iterdir() if path.name != "checksums.txt")
    (out / "checksums.txt").write_text(
        "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made))


def main(version, platform, *rest):
    *built, directory = map(pathlib.Path, rest)
    directory.mkdir(parents=True, exist_ok=True)
    if platform == "source":
        folder, files = f"evalci-{version}", tree()
        write_tar(directory / f"{folder}-source.tar.gz", folder, files)
    else:
        folder, files = f"evalci-{version}-{platform}", contents(platform, *built)
        if platform.startswith("windows"):
            write_zip(directory / f"{folder}.zip", folder, files)
        else:
            write_tar(directory / f"{folder}.tar.gz", folder, files)
    write_checksums(directory)


if __name__ == "__main__":
    main(*sys.argv[1:])
