#!/usr/bin/python3
"""Broken files: encodings, pipes, folders, links, sizes, archives; and random ones.

    hostile.py IMPORTER [SANITIZED]

Memory is measured with the first program; random files are read by the second, if it is given.
"""
import json
import os
import pathlib
import socket
import sqlite3
import struct
import subprocess
import sys
import zipfile

from importing import Suite
from checks import seeded  # noqa: E402

CSV = "model,item,correct\nm,1,1\n"
ROWS = [("m", "a", 1, 1, 1, None, None)]


def encodings(t):
    french = CSV.replace("m,", "modèle,")
    for encoding, named in (("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16"), ("utf-32", "UTF-32"), ("latin-1", "Latin-1"), ("cp1252", "Latin-1")):
        for name, text in (("a.csv", french), ("a.jsonl", '{"model":"modèle","item":1,"correct":1}')):
            t.refuses(f"{name} in {encoding}", t.file(name, text.encode(encoding)), named, "iconv")
    t.refuses("the line of a byte that is not UTF-8", t.file("a.csv", CSV.encode() * 3 + b"m\xe9,2,1\n"), "line 7: byte 0xE9 is not UTF-8")
    for bad in (b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xff"):
        t.refuses(f"bytes {bad}", t.file("a.csv", CSV.encode() + bad + b",2,1\n"), "is not UTF-8")
    t.refuses("half a character at the end", t.file("a.csv", CSV.encode() + b"m,2,\xe2\x82"), "it ends within a character")
    t.refuses("a zero byte", t.file("a.csv", CSV + "m,\0,1\n"), "line 3: a zero byte; this is not text")
    t.imports("a byte order mark", t.file("a.csv", b"\xef\xbb\xbf" + CSV.encode()), ROWS)
    t.imports("a byte order mark before JSON", t.file("a.jsonl", b'\xef\xbb\xbf{"model":"m","item":1,"correct":1}'), ROWS)
    long = "é" * 70000
    t.imports("characters over the ends of pieces", t.file("a.csv", CSV + "".join(f"{long[:n]},1,1\n" for n in (32767, 32768, 65536))), [(4,)], "SELECT count(*) FROM results")


def others(t):
    for what, content, *reasons in (
            ("gzip", b"\x1f\x8b\x08\0abc", "compressed by gzip"), ("Parquet", b"PAR1abcdef", "Parquet", "duckdb"),
            ("an empty file", b"", "it is empty"), ("a mark alone", b"\xef\xbb\xbf", "it is empty"), ("text", b"hello\nworld\n", "there is no column model; there are: hello"),
            ("a number", b"17", "there is no column model"), ("a zip archive", None, "no format is known")):
        path = t.file("what.bin", content or b"")
        if content is None:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("a/b.txt", "hello")
        t.refuses(what, path, *reasons)
    t.refuses("an unknown format", t.file("a.csv", CSV), "there is no format excel", **{"from": "excel"})
    t.refuses("what is not there", "/nowhere/a.csv", "/nowhere/a.csv: there is no such file or folder")
    t.refuses("an archive that is still written", t.file("a.eval", b"PK\3\4" + b"x" * 100), "no directory at its end")
    end = struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 1, 1, 60, 4, 0)
    t.refuses("a directory that is elsewhere", t.file("a.eval", b"PK\3\4" + b"x" * 100 + end[:12] + struct.pack("<IIH", 60, 1 << 30, 0)), "its directory lies outside")
    t.refuses("an invalid directory", t.file("a.eval", b"PK\3\4" + b"x" * 100 + end), "its directory is cut short")
    bomb = t.path("bomb.eval")
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b"0" * 100000)
    bytes_ = bytearray(bomb.read_bytes())
    at = bytes_.rindex(b"PK\1\2")
    bytes_[at + 24:at + 28] = struct.pack("<I", 0xFFFFFFF0)
    bomb.write_bytes(bytes_)
    t.refuses("more than an archive may hold", bomb, "unpacks to 4294967280 bytes")
    path = t.path("overlap.eval")
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(3):
            archive.writestr(f"{i}.json", b"x" * 1000)
    data = bytearray(path.read_bytes())
    at = 0
    while (at := data.find(b"PK\1\2", at)) >= 0:
        data[at + 20:at + 24] = struct.pack("<I", 1150)
        at += 4
    path.write_bytes(data)
    t.refuses("entries that overlap", path, "its entries overlap")


def places(t):
    folder = t.path()
    (folder / "a.csv").write_text(CSV)
    os.mkfifo(folder / "pipe.csv")
    (folder / "pipe").mkdir()
    t.imports("a folder, and no pipe in it", folder, ROWS)
    t.refuses("a pipe", folder / "pipe.csv", "this is a pipe or a device", "-, which is standard input")
    t.refuses("a device", "/dev/zero", "this is a pipe or a device")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket.csv"))
        t.imports("a folder, and no socket in it", folder, ROWS)
    (folder / "loop").symlink_to(folder)
    (folder / "pipe" / "up").symlink_to("..")
    (folder / "b.csv").symlink_to("b.csv")
    (folder / "gone.csv").symlink_to("nowhere")
    (folder / "same.csv").symlink_to("a.csv")
    said = t.imports("links that lead around", folder, ROWS)
    t.check("links that lead around are followed once", len(said.splitlines()), 2)
    t.refuses("a link to itself", folder / "b.csv", "there is no such file")
    deep = t.path()
    inner = deep
    for _ in range(80):
        inner = inner / "d"
    inner.mkdir(parents=True)
    (inner / "a.csv").write_text(CSV)
    (deep / "a.csv").write_text(CSV)
    t.imports("folders within each other", deep, ROWS)
    t.refuses("a folder without results", t.path(), "no file in it is of a known format")
    mixed = t.path()
    for name, text in (("a.csv", CSV), ("note.txt", "hello"), ("config.json", '{"a":1}'), ("broken.json", '{"a":'), ("latin.csv", b"model,item,correct\nm\xe9,1,1\n")):
        (mixed / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    said = t.imports("a folder with other files", mixed, ROWS)
    t.check("the summary lists unreadable files of a folder", ["broken.json" in said, "not imported: line 1: it ends" in said, "Latin-1" in said, "config" in said], [True, True, True, False])
    odd = t.path("o%dd 'n\"ame;\n.csv")
    odd.write_text(CSV)
    t.imports("any name", odd, [(odd.stem,)], "SELECT task FROM results")
    db = t.path("stdin.db")
    t.check("standard input", (t.run(db, "-", stdin=CSV.encode())[0], t.rows(db, "SELECT model, item FROM results")), (0, [("m", 1)]))
    with open(t.file("closed.csv", CSV)):
        t.check("standard input that is empty", t.run(t.path("e.db"), "-", stdin=b"")[0], 1)
    locked = t.path("locked.db")
    with sqlite3.connect(locked, isolation_level=None) as connection:
        connection.execute("CREATE TABLE mine(x)")
        connection.execute("BEGIN IMMEDIATE")
        t.check("a database that is locked", t.run(locked, folder / "a.csv"), (1, "the database cannot be written: database is locked\n"))


def memory(t, command):
    """The status, the output, and the most megabytes of memory."""
    before = "import resource,subprocess,sys; p = subprocess.run(sys.argv[1:], capture_output=True); " \
             "print(p.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10); print((p.stdout + p.stderr).decode()[:3000])"
    done = subprocess.run([sys.executable, "-c", before, *map(str, command)], capture_output=True, text=True)
    first, _, said = done.stdout.partition("\n")
    status, megabytes = map(int, first.split())
    return status, said, megabytes


def sizes(t):
    """Long fields, records and files, read in bounded memory."""
    long = "x" * 100_000_000
    for what, name, text, status, reason, most in (
            ("a field of 100 MB that nobody asks for", "a.csv", f"model,item,answer,correct\nm,1,{long},1\n", 0, "rows 1", 50),
            ("a field of 100 MB in quotes", "a.csv", f'model,item,answer,correct\nm,1,"{long}",1\n', 0, "rows 1", 50),
            ("an item of 100 MB", "a.csv", f"model,item,correct\nm,{long},1\n", 1, "line 2: its fields have over 67108864 bytes", 150),
            ("an item of 2 MB", "a.csv", f"model,item,correct\nm,{long[:2000000]},1\n", 1, "over a million bytes", 50),
            ("a first line of 100 MB", "a.csv", f"model,item,{long}\nm,1,1\n", 1, "line 1: its fields have over 67108864 bytes", 150),
            ("a million columns", "a.csv", "model,item,correct" + ",x" * 1000000, 1, "over 10000 columns", 50),
            ("a record of 100 MB", "a.jsonl", f'{{"model":"m","item":1,"correct":1,"answer":"{long}"}}\n', 1, "a record of 100000046 bytes is too large", 150),
            ("three million values", "a.jsonl", '{"model":"m","item":1,"correct":1,"x":[' + "1," * 3000000 + "1]}", 1, "is too large", 150),
            ("brackets", "a.json", "[" * 1000000, 1, "nested over 500 deep", 50),
            ("a million keys", "a.jsonl", "".join(f'{{"model":"m","item":{i},"correct":1,"k{i}":0}}\n' for i in range(200000)), 0, "rows 200000", 60)):
        got, said, megabytes = memory(t, [t.importer, t.path("m.db"), t.file(name, text)])
        t.check(what, (got, reason in said or said[:300], megabytes if megabytes > most else 0), (status, True, 0))
    del long
    rows = t.path("rows.csv")
    with open(rows, "w") as out:
        out.write("model,task,item,correct,text\n")
        for i in range(1_000_000):
            out.write(f"model {i % 10},task {i % 7},{i // 10},{i % 3 % 2},some text that is passed over\n")
    got, said, megabytes = memory(t, [t.importer, t.path("m.db"), rows])
    t.check("a million rows, under 50 MB", (got, said.splitlines()[-2:-1] or said.splitlines()[-1:], megabytes if megabytes > 50 else 0),
            (0, ["csv results: rows 1000000, models 10, tasks 7, questions 700000"], 0))


def mutated(t, program):
    """Random changes of valid files end with an import or a message, never with a crash or half an import."""
    chance = seeded(3)
    good = [("a.csv", ('model,task,item,attempt,correct,score\n' + "".join(f'm{i % 3},"t,{i % 2}",{i},1,{i % 2},\n' for i in range(20))).encode()),
            ("a.jsonl", "".join(json.dumps({"model": f"m{i % 3}", "item": f"é{i}\n", "score": i / 7, "x": [None, {"y": True}]}) + "\n" for i in range(20)).encode()),
            ("a.json", json.dumps([{"model": "m", "item": i, "correct": i % 2} for i in range(9)]).encode()),
            ("a.json", json.dumps({"a": 1, "rows": [{"model": "m", "item": i, "correct": i % 2} for i in range(9)], "b": {}}).encode()),
            ("v.csv", b"model_a,model_b,winner\nx,y,tie\ny,x,model_a\n")]
    base = t.path("good.db")
    with sqlite3.connect(base) as connection:
        connection.executescript("CREATE TABLE results(model, item, correct); INSERT INTO results VALUES ('m', 1, 1), ('m', 2, 0)")
    good.append(("a.db", base.read_bytes()))
    archive = t.path("a.eval")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("header.json", '{"eval":{"model":"m","task":"t"},"status":"success"}')
        for i in range(3):
            out.writestr(f"samples/{i}_epoch_1.json", json.dumps({"id": i, "epoch": 1, "scores": {"s": {"value": "C"}}}))
    good.append(("a.eval", archive.read_bytes()))
    odd = [b"\0", b"\xff", b'"', b"\\", b"[", b"{", b"}", b",", b"\n", b"\r", b"NaN", b"1e400", b"-", b"\xef\xbb\xbf", b"\\ud800", b"\\u0000", b"9" * 40]
    ends = []
    for i in range(400):
        name, text = chance.choice(good)
        text = bytearray(text)
        for _ in range(chance.choice((1, 1, 2, 5, 20))):
            at = chance.randrange(len(text) + 1)
            cut = chance.randrange(4) if chance.random() < .5 else 0
            text[at:at + cut] = chance.choice(odd) if chance.random() < .6 else bytes(chance.randrange(256) for _ in range(chance.randrange(5)))
        if chance.random() < .1:
            text = text[:chance.randrange(len(text) + 1)]
        db = t.path("x.db")
        done = subprocess.run([program, str(db), str(t.file(name, bytes(text)))], capture_output=True, timeout=60)
        tables = t.rows(db, "SELECT count(*) FROM sqlite_schema")[0][0]
        if done.returncode not in (0, 1) or done.stderr or (done.returncode == 0) != (tables > 0):
            ends.append((name, bytes(text), done.returncode, done.stderr[-1500:]))
    t.check("files that were changed at random", ends, [])


if __name__ == "__main__":
    suite = Suite(sys.argv[1])
    for part in (encodings, others, places, sizes):
        part(suite)
    mutated(suite, str(pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else sys.argv[1]).resolve()))
    suite.end()
