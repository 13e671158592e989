"""Runs the files of sql/ as the sqlite3 shell does, as far as they ask: statements,
.read of an edited file, .parameter, and the shell's functions readfile, fsdir and zipfile."""
import json
import os
import re
import shlex
import sqlite3
import sys
import zipfile

import evalci

# Commands that set how the shell shows results; Shell.show is told by its caller.
FORMATS = {".mode", ".headers", ".separator", ".bail", ".echo", ".nullvalue", ".width"}


def read_file(path):
    """The shell's readfile(): NULL where there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, TypeError, ValueError):
        return None


def slashed(path):
    """A path as the shell and the files of sql/ write it, on Windows too."""
    return path.replace(os.sep, "/")


def files_under(path):
    """Of the shell's fsdir() the names and times: of the path itself and all beneath it."""
    found = [path] if path is not None and os.path.lexists(path) else []
    for folder, folders, files in os.walk(path or ""):
        found += [slashed(os.path.join(folder, name)) for name in sorted(folders + files)]
    return [{"name": name, "mtime": int(os.lstat(name).st_mtime)} for name in found]


def from_sed(expression):
    """Sed's regular expression as Python's: a parenthesis and its like stand for themselves, as they do in brackets."""
    return re.sub(r"\[\^?\]?[^\]]*\]|[(){}+?|]", lambda found: found[0] if len(found[0]) > 1 else f"\\{found[0]}", expression)


def edited(script, text):
    """Lines as sed edits them, of the forms /X/d and s/X/Y/, where & is what was found."""
    lines = text.split("\n")
    for command in filter(None, map(str.strip, script.split(";"))):
        kind, old, new = command.split("/")[:3]
        if kind == "s":
            lines = [re.sub(from_sed(old), lambda found: new.replace("&", found[0]), line, count=1) for line in lines]
        else:
            lines = [line for line in lines if not re.search(from_sed(old), line)]
    return "\n".join(lines)


def empty(statement):
    """Whether it is nothing but comments."""
    return not re.sub(r"--.*", "", statement).strip()


class Shell:
    def __init__(self, connection, show, parameters=()):
        self.db, self.show = connection, show
        self.parameters = {name: value for name, value in dict(parameters).items() if value is not None}
        connection.create_function("readfile", 1, read_file)
        connection.create_function("evalci_fsdir", 1, lambda path: json.dumps(files_under(path)))

    def read(self, name):
        self.run(evalci.sql(name))

    def run(self, script):
        """Statements one by one, each up to the semicolon that ends it."""
        statement = ""
        for line in script.splitlines(keepends=True):
            if line.startswith(".") and empty(statement):
                self.command(line.strip())
                continue
            *ended, rest = re.split(r"(?<=;)", line)
            for part in ended:
                statement += part
                if sqlite3.complete_statement(statement):
                    self.statement(statement)
                    statement = ""
            statement += rest
        if not empty(statement):
            self.statement(statement)

    def command(self, line):
        name, *rest = shlex.split(line)
        if name == ".read" and rest[0].startswith("|"):
            _, script, *files = shlex.split(rest[0][1:])
            self.run("".join(edited(script, evalci.sql(file[len("sql/"):])) for file in files))
        elif name == ".parameter" and rest[0] == "set":
            self.parameters[rest[1].lstrip("@")] = rest[2].strip("'")
        elif name == ".parameter" and rest[0] == "unset":
            self.parameters.pop(rest[1].lstrip("@"), None)
        elif name not in FORMATS and name != ".parameter":
            raise ValueError(f"evalci: no command {name} here; run this file with the sqlite3 shell")

    def statement(self, text):
        text = re.sub(r"\bfsdir\(([^()]*)\)", r"(SELECT json_extract(value, '$.name') AS name, "
                      r"json_extract(value, '$.mtime') AS mtime FROM json_each(evalci_fsdir(\1)))", text)
        if "zipfile(" in text:
            self.open_archives()
            text = re.sub(r", zipfile\(([\w.]+)\) AS (\w+)", r" JOIN temp.evalci_zip AS \2 ON \2.archive = \1", text)
        bound = {name: self.parameters.get(name) for name in re.findall(r"@(\w+)", text)}
        rows = self.db.execute(text, bound)
        if rows.description:
            self.show([column[0] for column in rows.description], rows)

    def open_archives(self):
        """What the shell's zipfile() would give of every archive under @path."""
        self.db.execute("CREATE TEMP TABLE IF NOT EXISTS evalci_zip(archive, name, method, data, UNIQUE (archive, name))")
        for path in (file["name"] for file in files_under(self.parameters.get("path"))):
            if not os.path.isfile(path) or not zipfile.is_zipfile(path):
                continue
            with zipfile.ZipFile(path) as archive:
                for entry in archive.infolist():
                    readable = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
                    self.db.execute("INSERT OR IGNORE INTO temp.evalci_zip VALUES (?, ?, ?, ?)",
                                    (path, entry.filename, entry.compress_type, archive.read(entry) if readable else None))


def as_text(connection, value):
    """A value as SQLite writes it, numbers in its digits."""
    return "" if value is None else connection.execute("SELECT CAST(? AS TEXT)", (value,)).fetchone()[0]


def lines_to(connection, out):
    """Shows rows as the shell's list mode with no separator: a line a row."""
    def show(_, rows):
        for row in rows.fetchall():
            out.write("".join(as_text(connection, value) for value in row) + "\n")
    return show


def table_to(connection, out=None):
    """Shows rows in columns."""
    def show(names, rows):
        texts = [names] + [[as_text(connection, value) for value in row] for row in rows.fetchall()]
        widths = [max(map(len, column)) for column in zip(*texts)]
        for row in texts if len(texts) > 1 else []:
            line = "  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()
            (out or sys.stdout).write(line + "\n")
    return show
