#!/usr/bin/python3
"""Makes the packages from the files of `make dist`: build.py VERSION DIRECTORY

Makes wheels, npm tarballs and .debs, whose bytes do not depend on who makes them: names are sorted, there is no owner,
and the only time is SOURCE_DATE_EPOCH. The version is defined in ext/evalci.h alone.
"""
import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).parent.parent.parent
HERE = ROOT / "ext/packages"
BUILT = ROOT / "build/dist"
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
LICENCE = "GPL-3.0-or-later"
# By the custom of SQLite's extensions, and because another project is called evalci on PyPI;
# the library, the functions and the program are called evalci everywhere.
NAME, DEB = "sqlite-evalci", "sqlite3-evalci"
MAINTAINER = "evalci maintainers <maintainers@evalci.invalid>"
SUMMARY = "Error bars for LLM evals: a program, and a SQLite extension"

# By platform: the tag of its wheel; its npm package, with what npm asks of a machine; its
# architecture in Debian, with the triplet and the glibc.  A manylinux tag names the glibc
# that tests/packages/dist.py reads from the symbols, macOS's the oldest that the file names.
WHEELS = {
    "linux-x86_64": "manylinux_2_14_x86_64.manylinux2014_x86_64",
    "linux-aarch64": "manylinux_2_17_aarch64.manylinux2014_aarch64",
    "musl-x86_64": "musllinux_1_2_x86_64",
    "windows-x86_64": "win_amd64",
    "macos-arm64": "macosx_11_0_arm64",
    "macos-x86_64": "macosx_11_0_x86_64",
}
NPM = {
    "linux-x86_64": ("linux-x64-glibc", {"os": ["linux"], "cpu": ["x64"], "libc": ["glibc"]}),
    "linux-aarch64": ("linux-arm64-glibc", {"os": ["linux"], "cpu": ["arm64"], "libc": ["glibc"]}),
    "musl-x86_64": ("linux-x64-musl", {"os": ["linux"], "cpu": ["x64"], "libc": ["musl"]}),
    "windows-x86_64": ("win32-x64", {"os": ["win32"], "cpu": ["x64"]}),
    "macos-arm64": ("darwin-arm64", {"os": ["darwin"], "cpu": ["arm64"]}),
    "macos-x86_64": ("darwin-x64", {"os": ["darwin"], "cpu": ["x64"]}),
}
ENDINGS = {"windows": "dll", "macos": "dylib"}
DEBIAN = {
    "linux-x86_64": ("amd64", "x86_64-linux-gnu", "2.14"),
    "linux-aarch64": ("arm64", "aarch64-linux-gnu", "2.17"),
}


def library(platform):
    return BUILT / platform / f"evalci.{ENDINGS.get(platform.split('-')[0], 'so')}"


def program(platform):
    return BUILT / platform / ("bin/evalci.exe" if platform.startswith("windows") else "bin/evalci")


def notices():
    """The licences of the code that library and program include."""
    return (BUILT / "sources/notices.txt").read_bytes()


def runs(name):
    """Whether a file in a package is a program."""
    return name.endswith(("/evalci", "/evalci.exe", "/command.cjs"))


def tree(folder, prefix=""):
    """The files below a folder, by their names in the package, sorted."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {prefix + path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def write_zip(target, files):
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(EPOCH)[:6])
            entry.external_attr = (stat.S_IFREG | (0o755 if runs(name) else 0o644)) << 16
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            archive.writestr(entry, data)


def write_tar(target, files):
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=EPOCH) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(data), EPOCH, 0o755 if runs(name) else 0o644
            archive.addfile(entry, io.BytesIO(data))


def digest(data):
    """A hash as a wheel's RECORD writes it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write_wheel(out, name, version, tag, files, needs=(), entry_points=""):
    """A wheel as PEP 427 defines it, made without a build tool and without a network."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    about = f"{SUMMARY}. This makes the extension known to {needs[0]}." if needs else (ROOT / "README.md").read_text(encoding="utf-8")
    metadata = [
        "Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Summary: {SUMMARY}", f"License: {LICENCE}",
        "Classifier: License :: OSI Approved :: GNU General Public License v3 or later (GPLv3+)",
        "Classifier: Topic :: Scientific/Engineering", "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown", *(f"Requires-Dist: {need}" for need in needs), "",
        about]
    tags = [f"Tag: {'-'.join(tag.split('-')[:2])}-{one}" for one in tag.split("-")[2].split(".")]
    wheel = ["Wheel-Version: 1.0", "Generator: evalci", f"Root-Is-Purelib: {str(tag.endswith('any')).lower()}", *tags, ""]
    files = {**files, f"{info}/LICENSE": (ROOT / "LICENSE").read_bytes(), f"{info}/METADATA": "\n".join(metadata).encode(),
             f"{info}/WHEEL": "\n".join(wheel).encode()}
    if entry_points:
        files[f"{info}/entry_points.txt"] = entry_points.encode()
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    write_zip(out / f"{module}-{version}-{tag}.whl", files)


def wheels(version, out):
    module = NAME.replace("-", "_")
    for platform, tag in WHEELS.items():
        files = {**tree(HERE / "python"), **tree(ROOT / "sql", f"{module}/sql/"), f"{module}/VERSION": version.encode() + b"\n",
                 f"{module}/FUNCTIONS.md": (ROOT / "ext/FUNCTIONS.md").read_bytes(), f"{module}/NOTICES.txt": notices(),
                 f"{module}/{library(platform).name}": library(platform).read_bytes(),
                 # pip installs the files in this folder where commands are.
                 f"{module}-{version}.data/scripts/{program(platform).name}": program(platform).read_bytes()}
        write_wheel(out, NAME, version, f"py3-none-{tag}", files)
    pictures = (ROOT / "sql/datasette/plugins/evalci_pictures.py").read_bytes()
    for host, group, more in (("datasette", "datasette", {f"datasette_{module}_pictures.py": pictures}), ("sqlite-utils", "sqlite_utils", {})):
        modules = {**tree(HERE / group), **more}
        points = "".join(f"{name.split('.')[0]} = {name.split('.')[0]}\n" for name in modules)
        write_wheel(out, f"{host}-{NAME}", version, "py3-none-any", modules, (host, NAME), f"[{group}]\n{points}")


def npm_package(out, name, version, files, **more):
    manifest = {"name": name, "version": version, "description": SUMMARY, "license": LICENCE, **more}
    files = {**files, "package.json": (json.dumps(manifest, indent=2) + "\n").encode(),
             "LICENSE": (ROOT / "LICENSE").read_bytes()}
    write_tar(out / f"{name}-{version}.tgz", {f"package/{path}": data for path, data in sorted(files.items())})


def npm(version, out):
    names = {}
    for platform, (name, machine) in NPM.items():
        names[f"{NAME}-{name}"] = version
        files = {path.relative_to(BUILT / platform).as_posix(): path.read_bytes() for path in (library(platform), program(platform))}
        files["NOTICES.txt"] = notices()
        npm_package(out, f"{NAME}-{name}", version, files, **machine)
    exports = {".": {"import": {"types": "./index.d.mts", "default": "./index.mjs"},
                     "require": {"types": "./index.d.ts", "default": "./index.cjs"}}, "./sql/*": "./sql/*"}
    files = {**tree(HERE / "npm"), **tree(ROOT / "sql", "sql/"), "README.md": (ROOT / "README.md").read_bytes()}
    files["index.d.mts"] = files["index.d.ts"]
    npm_package(out, NAME, version, files, main="./index.cjs", module="./index.mjs", types="./index.d.ts",
                bin={"evalci": "./command.cjs"}, exports=exports, optionalDependencies=names, keywords=["sqlite", "sqlite-extension", "evals", "statistics"], engines={"node": ">=16"})


def debs(version, out):
    for platform in DEBIAN:
        with tempfile.TemporaryDirectory() as made:
            deb(version, out, platform, pathlib.Path(made))


def deb_documents(version, doc):
    """The documentation that Debian's policy requires of a package."""
    doc.mkdir(parents=True)
    inside = "".join(f" {line.strip() or '.'}\n" for line in notices().decode().splitlines())
    (doc / "copyright").write_text((HERE / "deb/copyright").read_text() + inside)
    (doc / "README.md.gz").write_bytes(gzip.compress((ROOT / "README.md").read_bytes(), 9, mtime=EPOCH))
    when = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(EPOCH))
    log = f"{DEB} ({version}) unstable; urgency=medium\n\n  * Release {version}.\n\n -- {MAINTAINER}  {when}\n"
    (doc / "changelog.gz").write_bytes(gzip.compress(log.encode(), 9, mtime=EPOCH))


def deb(version, out, platform, root):
    architecture, triplet, glibc = DEBIAN[platform]
    share, lib, control = root / "usr/share/evalci", root / f"usr/lib/{triplet}/sqlite3", root / "DEBIAN"
    commands, man, overrides = root / "usr/bin", root / "usr/share/man/man1", root / "usr/share/lintian/overrides"
    for folder in (share, lib, commands, man, overrides):
        folder.mkdir(parents=True)
    shutil.copy(library(platform), lib / "evalci.so")
    shutil.copy(program(platform), commands / "evalci")
    shutil.copy(HERE / "deb/overrides", overrides / DEB)
    (man / "evalci.1.gz").write_bytes(gzip.compress((HERE / "deb/evalci.1").read_bytes(), 9, mtime=EPOCH))
    shutil.copytree(ROOT / "sql", share / "sql")
    (share / "build").symlink_to(os.path.relpath(lib, share))
    deb_documents(version, root / "usr/share/doc" / DEB)
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    size = sum(path.stat().st_size for path in files) // 1024
    control.mkdir()
    (control / "md5sums").write_text("".join(
        f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n" for path in files))
    (control / "control").write_text((HERE / "deb/control").read_text().format(
        version=version, architecture=architecture, glibc=glibc, size=size, maintainer=MAINTAINER))
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.suffix == ".sh" or path.parent == commands else 0o644)
        os.utime(path, (EPOCH, EPOCH), follow_symlinks=False)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, out / f"{DEB}_{version}_{architecture}.deb"],
                   check=True, stdout=subprocess.DEVNULL)


def main(version, directory):
    out = pathlib.Path(directory)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    wheels(version, out)
    npm(version, out)
    debs(version, out)
    (out / "checksums.txt").write_text("".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(out.iterdir())))


if __name__ == "__main__":
    main(*sys.argv[1:])
