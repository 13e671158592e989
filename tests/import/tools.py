#!/usr/bin/python3
"""Imports of other tools' files by ext/import.

    tools.py IMPORTER

IMPORTER is build/importer.  The files are kept in tests/views/adapters or written here; expected rows and counts were
written down by hand from them.
"""
import itertools
import json
import os
import random
import sqlite3
import struct
import subprocess
import sys
import zlib

from importing import RESULTS, ROOT, Suite

FILES = ROOT / "tests/views/adapters"


class Tools(Suite):
    def files(self, files):
        """A folder of files: of a name, its text, or what is written as JSON."""
        folder = self.path()
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text if isinstance(text, bytes) else (text if isinstance(text, str) else json.dumps(text)).encode())
        return folder

    def told(self, db, *paths, **choices):
        """The summary of an import, as rows without path and format; or its error."""
        status, said = self.run(db, *paths, **choices)
        if status:
            return said
        rows = []
        for line in said.splitlines()[:-1]:
            _, _, *texts, n, correct, mean, errored, note = [field or None for field in line.split("|")]
            rows.append((*texts, int(n), correct and int(correct), mean and round(float(mean), 6), int(errored), note))
        return rows


def lm_eval_said():
    """The summary for the files of tests/views/adapters/lm_eval."""
    exact = "strict-match, exact_match"
    return [("org__large", "arc_easy", "none, acc", 0, None, None, 0, "not imported: there is a later run"),
            ("org__large", "arc_easy", "none, acc", 5, 4, 0.8, 0, None), ("org__large", "gsm8k", exact, 8, 6, 0.75, 0, None),
            ("org/small", "arc_easy", "none, acc", 5, 3, 0.6, 0, None), ("org/small", "gsm8k", exact, 8, 3, 0.375, 0, None),
            ("org/small", "squad", "none, f1", 3, None, 0.5, 2, None)]


def lm_eval(t):
    db, said = t.path("lm_eval.db"), lm_eval_said()
    t.check("lm_eval: imports", t.told(db, f"{FILES}/lm_eval"), said)
    plain = {("org/small", "gsm8k"): "10010100", ("org/small", "arc_easy"): "11001", ("org__large", "gsm8k"): "11110110", ("org__large", "arc_easy"): "11101"}
    squad = [(None, 0.5, None), (None, 1.0, None), (None, 0.0, None), (None, None, "score is missing"), (None, None, "score is not a number: [1,2]")]
    rows = sorted([(m, task, i, 1, int(c), float(c), None) for (m, task), came in plain.items() for i, c in enumerate(came)] +
                  [("org/small", "squad", i, 1, *a) for i, a in enumerate(squad)])
    t.check("lm_eval: rows", t.rows(db), rows)
    t.check("lm_eval: the same again", t.told(db, f"{FILES}/lm_eval"), said)
    t.check("lm_eval: changes nothing", t.rows(db), rows)


def lm_eval_choices(t):
    """The choice of a filter, metric, model and task; a choice that no file has."""
    said, flexible, db = lm_eval_said(), "flexible-extract, exact_match", t.path("lm_eval.db")
    no_filter, no_metric = "there is no filter flexible-extract in it", "there is no metric acc_norm in it"
    t.check("lm_eval: another filter and metric, where a file has them", t.told(db, f"{FILES}/lm_eval", filter="flexible-extract", metric="acc_norm"),
            [("org__large", "arc_easy", "none, acc", *said[0][3:]), ("org__large", "arc_easy", "none, acc_norm", 5, 3, 0.6, 0, no_filter), ("org__large", "gsm8k", flexible, 8, 7, 0.875, 0, no_metric),
             ("org/small", "arc_easy", "none, acc_norm", 5, 2, 0.4, 0, no_filter), ("org/small", "gsm8k", flexible, 8, 5, 0.625, 0, no_metric),
             (*said[5][:7], f"{no_filter}; {no_metric}")])
    t.check("lm_eval: texts of booleans", t.rows(db, "SELECT correct FROM results WHERE model = 'org__large' AND task = 'arc_easy' ORDER BY item"),
            [(1,), (0,), (1,), (0,), (1,)])
    t.check("lm_eval: the first ones replace them", t.told(db, f"{FILES}/lm_eval"), said)
    one = f"{FILES}/lm_eval/org__small/samples_gsm8k_2025-01-02T03-04-05.678901.jsonl"
    t.check("lm_eval: one file, under another name", t.told(db, one, model_name="small 2", task_name="maths"),
            [("small 2", "maths", "strict-match, exact_match", 8, 3, 0.375, 0, None)])
    t.refuses("lm_eval: a metric that no file has", f"{FILES}/lm_eval", "--metric must be one of", "acc, acc_norm", "exact_match", "got acc_nrom", metric="acc_nrom")
    t.refuses("lm_eval: a filter that no file has", one, "--filter must be one of", "strict-match", "flexible-extract", "got strict", filter="strict")
    t.refuses("lm_eval: a choice that these files have not", one, "--scorer", scorer="match")


def lm_eval_files(t):
    """Unusual files, and files that are not samples."""
    db = t.path("lm_eval.db")
    line = '{{"doc_id": {}, "doc": {{"q": "a {{b}}\\n{{c}} \U0001f642"}}, "filter": "none", "metrics": ["acc"], "acc": {}}}'
    lines = [line.format(i, c) for i, c in enumerate("1001")]
    date = "2025-01-01T00-00-00"
    texts = {f"samples_crlf_{date}.jsonl": "\ufeff" + "\r\n\r\n".join(lines), f"samples_my_task_2025-13-01_{date}.jsonl": line.format('"q"', 1),
             f"samples_gaps_{date}.jsonl": "\n".join(line.format(i, c) for i, c in enumerate(("1", "NaN", "-Infinity", "0"))),
             f"samples_names_{date}.jsonl": line.format('"a NaN, b"', 1), f"samples_old_{date}.jsonl": '{"doc_id": 0, "resps": [], "acc": 1}'}
    folder = t.files({f"modèle/{name}": text for name, text in texts.items()})
    with open(folder / f"modèle/samples_big_{date}.jsonl", "w") as big:
        for i in range(20000):
            big.write(line.format(i, float(i % 5 == 0)).replace("a {", "long " * 60 + "{") + "\n")
    t.check("lm_eval: files as they come", t.told(db, folder), [
        ("modèle", "big", "none, acc", 20000, 4000, 0.2, 0, None), ("modèle", "crlf", "none, acc", 4, 2, 0.5, 0, None),
        ("modèle", "gaps", "none, acc", 2, 1, 0.5, 2, None), ("modèle", "my_task_2025-13-01", "none, acc", 1, 1, 1.0, 0, None),
        ("modèle", "names", "none, acc", 1, 1, 1.0, 0, None),
        ("modèle", "old", None, 0, None, None, 0, "not imported: no filter and metrics in its records")])
    t.check("lm_eval: a text for a question, NaN in it or not", t.rows(db, "SELECT item FROM results WHERE task IN ('names') OR task LIKE 'my_task%' ORDER BY 1"),
            [("a NaN, b",), ("q",)])
    # As lm_eval writes them where --output_path is a file: the samples beside it, and no folder of the model's.
    beside = t.files({f"samples_t_{date}.jsonl": lines[0], f"my_run_{date}.json": {"model_name": "org/m"}, "my_run_2024-01-01T00-00-00.json": {"model_name": "other"}})
    t.check("lm_eval: the model of results under a name of their own", t.told(t.path("b.db"), beside), [("org/m", "t", "none, acc", 1, 1, 1.0, 0, None)])


def lm_eval_same(t):
    """Of two runs of a model on a task the later one is taken; of two with the same time, the one that is read last."""
    line = '{{"doc_id": 0, "doc": {{}}, "filter": "none", "metrics": ["acc"], "acc": {}}}'
    early, late = "2025-01-01T00-00-00", "2025-01-02T00-00-00"
    for what, dates, right in (("the later", (late, early), 1), ("the last path of the same time", (late, late), 0)):
        folder = t.files({f"{run}/m/samples_t_{date}.jsonl": line.format(y) for run, date, y in zip("ab", dates, (1, 0))})
        for order, wanted in (("ab", right), ("ba", right if len(set(dates)) > 1 else 1 - right)):
            db = t.path(f"{order}.db")
            t.told(db, *(folder / run for run in order))
            t.check(f"lm_eval: {what}, {order}", t.rows(db, "SELECT correct FROM results"), [(wanted,)])


def lm_eval_repeats(t):
    """Repeats, as version 0.5 writes them; eight rouge scores, none of them 1."""
    db = t.path("lm_eval.db")
    record = {"filter": "none", "metrics": ["pass@1(exact_match)", "pass@3(exact_match)"], "pass@3(exact_match)": 1.0}
    repeated = [{**record, "doc_id": i, "scores_per_repeat": {"exact_match": scores}} for i, scores in enumerate([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])]
    rouge = [{"doc_id": i, "filter": "none", "metrics": ["rougeL"], "rougeL": i / 8} for i in range(8)]
    out = t.files({f"m/samples_{name}.jsonl": "\n".join(map(json.dumps, lines)) for name, lines in (("repeated", repeated), ("rouge", rouge))})
    t.check("lm_eval: repeats and graded scores", t.told(db, out), [
        ("m", "repeated", "none, exact_match", 6, 2, 0.333333, 0, None), ("m", "rouge", "none, rougeL", 8, None, 0.4375, 0, None)])
    t.check("lm_eval: repeats are attempts", t.rows(db, "SELECT item, attempt, correct FROM results WHERE task = 'repeated' ORDER BY 1, 2"),
            [(0, 1, 1), (0, 2, 0), (0, 3, 1), (1, 1, 0), (1, 2, 0), (1, 3, 0)])
    t.check("lm_eval: no rouge score is right or wrong, nor an error", t.rows(
        db, "SELECT count(*), count(correct), count(error), sum(score) FROM results WHERE task = 'rouge'"), [(8, 0, 0, 3.5)])
    t.check("lm_eval: repeats under the name of what became of them", t.told(db, out / "m/samples_repeated.jsonl", metric="pass@3(exact_match)")[0][3:6], (6, 2, 0.333333))


def essay_log(values, **fields):
    """A log of Inspect with one score a sample, as its value; None for a sample whose scores are null."""
    samples = [{"id": i + 1, "epoch": 1, "scores": None if v is None else {"rated": {"value": v}}} for i, v in enumerate(values)]
    return {"version": 2, "status": "success", "eval": {"model": "m", "task": "t", "created": "2025-01-01", "dataset": {"sample_ids": [1, 2, 3, 4]}},
            "samples": samples, **fields}


def inspect(t):
    db = t.path("inspect.db")
    said = [("openai/a", "arith", "match", 8, 6, 0.75, 0, None), ("openai/a", "arith", "match", 8, 6, 0.75, 0, None),
            ("openai/b", "arith", "match", 8, 3, 0.375, 0, None), ("openai/a", "essay", "graded", 5, None, 0.55, 5, None),
            ("openai/a", "empty", None, 0, None, None, 0, "not imported: no samples in it")]
    t.check("inspect: imports", [row for row in t.told(db, f"{FILES}/inspect") if row[0]], said)
    arith = {"openai/a": "11 01 11 01", "openai/b": "10 00 10 01"}
    essay = [(None, 0.5, None), (None, 0.25, None), (None, 1.0, None), (None, 1.0, None), (None, 0.0, None), (None, None, "score is missing"),
             (None, None, 'score is not a number: {"style":1,"facts":0}'), (None, None, "score is not a number: A"),
             (None, 1.0, "RuntimeError('rate limit')"), (None, 1.0, "invalidated")]
    rows = [(m, "arith", item, epoch + 1, int(c), float(c), None) for m, came in arith.items()
            for item, pair in zip((1, 2, "four", "três"), came.split()) for epoch, c in enumerate(pair)]
    rows[8:8] = [("openai/a", "essay", i + 1, 1, *a) for i, a in enumerate(essay)]
    t.check("inspect: rows", t.rows(db), rows)
    t.check("inspect: the same again", [row for row in t.told(db, f"{FILES}/inspect") if row[0]], said)
    t.check("inspect: changes nothing", t.rows(db), rows)


def inspect_files(t):
    """Other scorers and names; files as they come."""
    db = t.path("inspect.db")
    essays = f"{FILES}/inspect/2025-03-02T09-00-00+00-00_essay_a.json"
    t.check("inspect: another scorer", t.told(db, essays, scorer="strict"), [("openai/a", "essay", "strict", 8, 4, 0.5, 2, None)])
    t.check("inspect: under another name", t.told(db, f"{FILES}/inspect/2025-03-01T10-00-00+00-00_arith_a.json", model_name="a, before", task_name="sums"),
            [("a, before", "sums", "match", 7, 5, 0.714286, 1, None)])
    t.check("inspect: an errored sample", t.rows(db, "SELECT item, attempt, correct, score, error FROM results WHERE model = 'a, before' AND correct IS NULL"),
            [("four", 1, None, None, "RuntimeError('rate limit')")])
    t.refuses("inspect: a scorer that no log has", essays, "--scorer must be one of", "graded", "strict", "got strickt", scorer="strickt")
    log = (FILES / "inspect/2025-03-01T11-00-00+00-00_arith_b.json").read_text()
    folder = t.files({"crlf.json": log.replace("openai/b", "modèle").replace("\n", "\r\n")})
    t.check("inspect: files as they come", t.told(db, folder), [("modèle", "arith", "match", 8, 3, 0.375, 0, None)])
    used = essay_log(["C"])
    used["samples"][0].update(total_time=2.5, model_usage={"m": {"total_tokens": 30, "total_cost": 0.25}, "judge": {"total_tokens": 12}})
    t.told(db, t.files({"used.json": used}), task_name="used")
    t.check("inspect: cost, time and tokens", t.rows(db, "SELECT cost, latency, tokens FROM results WHERE task = 'used'"), [(0.25, 2.5, 42)])


def inspect_ends(t):
    """Ratings; a first sample whose scores are null; logs that errored or were cancelled; two logs with the same
    time."""
    db = t.path("inspect.db")
    told = {"ratings": essay_log([1, 7, 10, 1]), "first": essay_log([None, "C", "I", "C"]), "stopped": essay_log(["C", "I"], status="cancelled"),
            "failed": essay_log(["C"], status="error", error={"message": "no quota"}), "running": essay_log(["I"], status="started")}
    folder = t.files({f"{name}.json": {**log, "eval": {**log["eval"], "task": name}} for name, log in told.items()})
    said = t.told(db, folder)
    t.check("inspect: what became of a log", said[:2] + said[3:], [
        ("m", "failed", "rated", 1, 1, 1.0, 0, "errored: 1 of 4 samples: no quota"), ("m", "first", "rated", 3, 2, 0.666667, 1, None),
        ("m", "running", "rated", 1, 0, 0.0, 0, "did not end: 1 of 4 samples"), ("m", "stopped", "rated", 2, 1, 0.5, 0, "cancelled: 2 of 4 samples")])
    t.check("inspect: ratings need their range", (said[2][:7], said[2][7].startswith("scores from 1.0 to 10.0")), (("m", "ratings", "rated", 4, None, 4.75, 0), True))
    t.check("inspect: scores of null are missing, the others are there", t.rows(
        db, "SELECT item, correct, error FROM results WHERE task = 'first' ORDER BY item"), [(1, None, "score is missing"), (2, 1, None), (3, 0, None), (4, 1, None)])
    several = essay_log(["C", "I"], status="cancelled")
    several["eval"]["config"] = {"epochs": 3}
    t.check("inspect: every epoch is a sample that is expected", t.told(t.path("epochs.db"), t.files({"epochs.json": several})), [("m", "t", "rated", 2, 1, 0.5, 0, "cancelled: 2 of 12 samples")])
    ratings = "SELECT item, correct, score, score_lo, score_hi FROM results WHERE task = 'ratings' ORDER BY item"
    t.check("inspect: the lowest rating is not right", t.rows(db, ratings), [(1, None, 1.0, None, None), (2, None, 7.0, None, None), (3, None, 10.0, None, None), (4, None, 1.0, None, None)])
    t.check("inspect: a range declared", (t.told(db, folder / "ratings.json", lo=1, hi=10), t.rows(db, ratings)[0]),
            ([("m", "ratings", "rated", 4, None, 4.75, 0, None)], (1, None, 1.0, 1.0, 10.0)))
    odd = essay_log(["C", "I"])
    odd["samples"][0]["scores"] = "none"
    (folder / "ratings.json").write_text(json.dumps(odd))
    t.check("inspect: scores that are no object", t.told(db, folder / "ratings.json", task_name="odd"), [("m", "odd", "rated", 1, 0, 0.0, 1, None)])
    (folder / "ratings.json").write_text(json.dumps(essay_log([1, 1, 1])))
    t.told(db, folder / "ratings.json", lo=1, hi=10, model_name="poor", task_name="ratings")
    t.check("inspect: nor where every rating is the lowest", t.rows(db, "SELECT DISTINCT correct, score, score_lo FROM results WHERE model = 'poor'"), [(None, 1.0, 1.0)])
    t.refuses("inspect: a score outside its range", folder / "ratings.json", "sample 1: score is outside the range", lo=2, hi=10)


def inspect_same(t):
    """Of the same answer in two logs the later one is taken; of two with the same time, the one that is read last. A
    folder is read in the order of names, and paths in the order of the command line."""
    def log(right, created):
        logged = essay_log(["C" if right else "I"])
        logged["eval"]["created"] = created
        return logged
    early, late = "2025-03-01T12:00:00+02:00", "2025-03-01T11:00:00+00:00"
    for what, files, right in (("the later, by time and not by text", {"a.json": log(1, late), "b.json": log(0, early)}, 1),
                               ("the last path of the same time", {"a.json": log(0, late), "b.json": log(1, late)}, 1),
                               ("the same the other way round", {"b.json": log(0, late), "a.json": log(1, late)}, 0),
                               ("the last path where no time is known", {"a.json": log(0, None), "b.json": log(1, None)}, 1),
                               ("a time goes before none", {"a.json": log(1, early), "b.json": log(0, None)}, 1)):
        folder, db = t.files(files), t.path("same.db")
        t.told(db, folder)
        t.check(f"inspect: {what}", t.rows(db, "SELECT correct FROM results"), [(right,)])
        again = t.path("again.db")
        t.told(again, folder / "b.json", folder / "a.json")
        by_time = "time" in what and "same" not in what and "no time" not in what
        t.check(f"inspect: {what}, named the other way round", t.rows(again, "SELECT correct FROM results"), [(right if by_time else 1 - right,)])


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout


def deflate(data):
    squeeze = zlib.compressobj(wbits=-15)
    return squeeze.compress(data) + squeeze.flush()


METHODS = {0: lambda data: data, 8: deflate, 93: zstd, 930: lambda data: zstd(data[:7]) + zstd(data[7:])}


def zipped(members, method, wide=False):
    """A zip archive of texts, or of packed bytes with their size and checksum.  Method 930 is zstd in two frames, as
    Inspect writes large entries.  If it is wide, all sizes and offsets are the 64-bit ones."""
    out, directory = b"", b""
    for name, text in members.items():
        name = name.encode()
        if isinstance(text, tuple):
            packed, size, checksum = text
        else:
            data = text if isinstance(text, bytes) else json.dumps(text).encode()
            packed, size, checksum = METHODS[method](data), len(data), zlib.crc32(data)
        begin, none = struct.pack("<HHHHHI", 45, 0, min(method, 93), 0, 0, checksum), 0xFFFFFFFF
        extra = struct.pack("<HHQQQ", 1, 24, size, len(packed), len(out)) if wide else b""
        lengths = (none, none, len(name), len(extra)) if wide else (len(packed), size, len(name), 0)
        directory += b"PK\x01\x02" + struct.pack("<H", 45) + begin + struct.pack("<IIHHHHHII", *lengths, 0, 0, 0, 0, none if wide else len(out)) + name + extra
        out += b"PK\x03\x04" + begin + struct.pack("<IIHH", *lengths) + name + extra + packed
    ends = (0, 0, len(members), len(members), len(directory), len(out), 0)
    if wide:
        directory += b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, *ends[2:6]) + b"PK\x06\x07" + struct.pack("<IQI", 0, len(out) + ends[4], 1)
        ends = (0, 0, 0xFFFF, 0xFFFF, none, none, 0)
    return out + directory + b"PK\x05\x06" + struct.pack("<HHHHIIH", *ends)


def inspect_zipped(t):
    """A log as .eval: a zip of its header and samples, stored, deflated and by zstd."""
    log = json.loads((FILES / "inspect/2025-03-01T11-00-00+00-00_arith_b.json").read_text())
    samples = log.pop("samples")
    members = {"_journal/start.json": {key: log[key] for key in ("version", "eval")},
               **{f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}, "summaries.json": [], "header.json": log}
    plain = t.path("plain.db")
    t.told(plain, f"{FILES}/inspect/2025-03-01T11-00-00+00-00_arith_b.json")
    arith = ("openai/b", "arith", "match", 8, 3, 0.375, 0)
    for method, wide in itertools.product(METHODS, (False, True)):
        db, folder = t.path("zipped.db"), t.files({"whole.eval": zipped(members, method, wide)})
        t.check(f"inspect: zipped by {method}, wide {wide}", t.told(db, folder), [(*arith, None)])
        t.check(f"inspect: zipped by {method} or not, wide {wide}, the same rows", t.rows(db), t.rows(plain))
    crashed = {name: value for name, value in members.items() if name != "header.json"}
    t.check("inspect: zipped, and did not end", t.told(t.path("c.db"), t.files({"crashed.eval": zipped(crashed, 8)})), [(*arith, "did not end: 8 samples")])
    broken = {**members, "samples/1_epoch_1.json": b"{" + json.dumps(samples[0]).encode()}
    t.refuses("inspect: a zipped sample that is not JSON", t.files({"broken.eval": zipped(broken, 8)}) / "broken.eval", "samples/1_epoch_1.json")
    bare = {**members, "samples/1_epoch_1.json": {"epoch": 1}}
    t.refuses("inspect: a zipped sample without its id", t.files({"bare.eval": zipped(bare, 93)}) / "bare.eval", "sample 1: there is no id")
    whole = zipped(members, 93)
    t.refuses("inspect: an archive cut short", t.files({"short.eval": whole[:-40]}) / "short.eval", "cut short")


def inspect_damaged(t):
    """A bit that flips anywhere in an archive: it is refused, or the very same rows are imported."""
    log = essay_log([])
    del log["samples"]
    chance = random.Random(31)
    print("bits flipped at random, seed 31")
    members = {f"samples/{i}_epoch_1.json": {"id": i, "epoch": 1, "scores": {"rated": {"value": "CCI"[i % 3]}}, "input": "x" * 40 * i} for i in range(4)}
    # Over one piece of 64 KB, after which comes what is not JSON.
    members["samples/4_epoch_1.json"] = json.dumps({"id": 4, "epoch": 1, "scores": {"rated": {"value": "I"}}, "input": "".join(chance.choices("abcdefgh", k=65000))}).encode() + b" " * 9000
    members["header.json"] = log
    rows = [("m", "t", i, 1, int(i % 3 < 2 and i < 4), float(i % 3 < 2 and i < 4), None) for i in range(5)]
    for method, wide in [*itertools.product(METHODS, (False,)), (0, True), (8, True)]:
        whole = zipped(members, method, wide)
        path, ends = t.file("a.eval", whole), {0: 0, 1: 0}
        t.imports(f"damaged {method}: unharmed", path, rows)
        # The long entry takes most of the bytes; half of the flips are elsewhere.
        long = whole.index(b"samples/4_epoch_1.json")
        most = len(METHODS[method](members["samples/4_epoch_1.json"]))
        others = [*range(long), *range(long + most, len(whole))]
        bad = []
        for i in range(100):
            at, bit = (chance.choice(others) if i % 2 else chance.randrange(len(whole))), 1 << chance.randrange(8)
            path.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1:])
            db = t.path("d.db")
            status, said = t.run(db, path)
            ends[status] += 1
            if status == 0 and t.rows(db) != rows or status and not said.startswith(str(path)):
                bad.append((at, bit, status, said))
        t.check(f"damaged {method}, wide {wide}: {ends}", bad, [])
        t.check(f"damaged {method}, wide {wide}: flips are found: {ends}", ends[1] > 30, True)
    for method in METHODS:
        whole, name = zipped(members, method), "samples/4_epoch_1.json"
        entry = f"a.eval/{name}: this entry of the archive is damaged: it"
        at = whole.index(name.encode()) + len(name)
        directory = whole.rindex(b"PK\1\2", 0, whole.rindex(name.encode()))

        def with_field(offset, change):
            value = struct.unpack_from("<I", whole, directory + offset)[0]
            return t.file("a.eval", whole[:directory + offset] + struct.pack("<I", value + change) + whole[directory + offset + 4:])
        t.refuses(f"damaged {method}: another checksum", with_field(16, 1), entry + "s bytes do not have the checksum (CRC-32) that the directory says")
        t.refuses(f"damaged {method}: a longer entry", with_field(24, -1), entry + " is longer than the directory says")
        t.refuses(f"damaged {method}: one that ends at a piece, and goes on", with_field(24, 65536 - len(members[name])), entry + " is longer than the directory says")
        t.refuses(f"damaged {method}: a shorter entry", with_field(24, 1), entry + " is shorter than the directory says")
        t.refuses(f"damaged {method}: no entry", with_field(24, -len(members[name])), entry + " is longer than the directory says")
        if method == 0:
            t.refuses("damaged: a byte of a stored entry", t.file("a.eval", whole[:at + 100] + b"z" + whole[at + 101:]), entry + "s bytes do not have the checksum")
            t.refuses("damaged: a byte of the white space after a document", t.file("a.eval", whole[:at + len(members[name]) - 1] + b"\n" + whole[at + len(members[name]):]), entry + "s bytes do not have the checksum")
    fewer = zipped(members, 8)
    t.refuses("damaged: a directory with fewer entries", t.file("a.eval", fewer[:-12] + struct.pack("<H", 5) + fewer[-10:]), "its directory is cut short")
    t.refuses("damaged: a name that is another in the directory", t.file("a.eval", fewer[::-1].replace(b"samples/3_epoch_1.json"[::-1], b"samplez/3_epoch_1.json"[::-1], 1)[::-1]), "an entry is not where its directory says")
    two = {**members, "samples/3_epoch_1.json": json.dumps({"id": 3, "epoch": 1}).encode() * 2}
    t.refuses("damaged: two documents in an entry", t.file("a.eval", zipped(two, 8)), "samples/3_epoch_1.json: it has more than one document")


def bomb(path, *pieces):
    """An archive, packed by zstd, with one sample of texts that are repeated many times; it is made without holding it
    in memory."""
    log = essay_log([])
    del log["samples"]
    checksum = 0
    with open(f"{path}.zst", "w+b") as packed:
        pack = subprocess.Popen(["zstd", "-q", "-c"], stdin=subprocess.PIPE, stdout=packed)
        for text, count in pieces:
            for start in range(0, count, 100_000):
                pack.stdin.write(text * min(100_000, count - start))
                checksum = zlib.crc32(text * min(100_000, count - start), checksum)
        pack.communicate()
        packed.seek(0)
        path.write_bytes(zipped({"header.json": log, "samples/1_epoch_1.json": (packed.read(), sum(len(text) * count for text, count in pieces), checksum)}, 93))


def inspect_hostile(t):
    """Archives that unpack to far more than their size are refused, or read in bounded memory."""
    begin, scores = b'{"id": 1, "epoch": 1, ', b'"scores": {"s": {"value": "C"}}'
    for what, taken, pieces in (("one long text", 1, [(begin + b'"input": "', 1), (b"a", 300_000_000), (b'", ' + scores + b"}", 1)]),
                                ("many messages", 1, [(begin + b'"messages": [0', 1), (b',{"role":"user"}', 10_000_000), (b"], " + scores + b"}", 1)]),
                                ("a long id", 0, [(b'{"epoch": 1, ' + scores + b', "id": "', 1), (b"a", 300_000_000), (b'"}', 1)]),
                                ("many scores", 0, [(begin + b'"scores": {"s": [0', 1), (b",1", 10_000_000), (b"]}}", 1)]),
                                ("deep lists", 0, [(begin + b'"scores": ', 1), (b"[", 30_000_000)])):
        path = t.path("bomb.eval")
        bomb(path, *pieces)
        started = subprocess.Popen([t.importer, t.path("hostile.db"), path], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        said = started.stdout.read()
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = status
        t.check(f"inspect: {what}, in under 200 MB, taken or refused: {said}", (usage.ru_maxrss < 200_000 or usage.ru_maxrss, os.waitstatus_to_exitcode(status)), (True, 1 - taken))


def swebench(t):
    run = {"schema_version": 2, "total_instances": 7, "completed_ids": ["django__django-11099", "django__django-2", "a-b__c-d-7"],
           "resolved_ids": ["django__django-11099"], "unresolved_ids": ["django__django-2", "a-b__c-d-7"], "empty_patch_ids": ["django__django-3"],
           "error_ids": ["a-b__c-d-8"], "incomplete_ids": ["a-b__c-d-9", "odd"], "infra_failure_ids": ["a-b__c-d-7"],
           "failure_reasons": {"a-b__c-d-7": "no space left"}}
    commit = "0123456789abcdef0123456789abcdef01234567"
    folder = t.files({
        "openai__gpt-5.run1.json": run, "predictions.json": [], "other.json": {"a": 1},
        "logs/run1/m__x/django__django-1/report.json": {"django__django-1": {"patch_is_None": False, "resolved": True}},
        "logs/run1/m__x/django__django-2/report.json": {"django__django-2": {"resolved": False}},
        "logs/run1/m__x/a-b__c-1/report.json": {"a-b__c-1": {"resolved": True}},
        "pro/claude/eval_results.json": {f"instance_own__repo-web-{commit}-vnan": True, f"instance_own__repo-{commit}": False, f"instance_own__repo-{commit}-v{commit}": True},
        "verified/agent/results/results.json": {"no_generation": ["django__django-2"], "no_logs": [], "resolved": ["django__django-1"]}})
    db = t.path("swe.db")
    left = "2 instances without a prediction are left out"
    t.check("swebench: imports", [row for row in t.told(db, folder) if row[0]], [
        ("m__x", "2 tasks", None, 3, 2, 0.666667, 0, None),
        ("openai__gpt-5.run1", "2 tasks", None, 4, 1, 0.25, 1, left), ("claude", "2 tasks", None, 3, 2, 0.666667, 0, None),
        ("agent", None, None, 0, None, None, 0, "not imported: it lists the resolved instances alone; name a file with the ids of all by --items FILE")])
    t.check("swebench: rows", t.rows(db, "SELECT task, item, attempt, correct, error FROM results WHERE model = 'openai__gpt-5.run1' ORDER BY item"), [
        ("a-b/c-d", "a-b__c-d-7", 1, None, "infrastructure: no space left"), ("a-b/c-d", "a-b__c-d-8", 1, 0, None), ("django/django", "django__django-11099", 1, 1, None),
        ("django/django", "django__django-2", 1, 0, None), ("django/django", "django__django-3", 1, 0, None)])
    t.check("swebench: repositories of Pro", t.rows(db, "SELECT task, count(*) FROM results WHERE model = 'claude' GROUP BY task ORDER BY task"), [("own/repo", 2), ("own/repo-web", 1)])
    ids = ["django__django-1", "django__django-2", "django__django-3", "a-b__c-d-7"]
    for form, text in (("lines", "\r\n".join(ids) + "\n"), ("JSON", json.dumps(ids))):
        asked = t.files({"asked.txt": text}) / "asked.txt"
        t.check(f"swebench: what was asked, as {form}", t.told(t.path("asked.db"), folder / "verified", items=asked), [("agent", "2 tasks", None, 4, 1, 0.25, 0, None)])
    t.told(db, folder / "verified", items=asked, model_name="x", task_name="verified")
    t.check("swebench: under another name", t.rows(db, "SELECT task, sum(correct), count(*) FROM results WHERE model = 'x' GROUP BY task"), [("verified", 1, 4)])
    t.refuses("swebench: a list that is not there", folder / "verified", "/nowhere", items="/nowhere")


def tau_bench(t):
    def run(task, trial, reward, **info):
        return {"task_id": task, "trial": trial, "reward": reward, "info": {"task": {"actions": [{"name": "think"}, {"name": info.pop("action", "cancel_reservation")}]}, **info}, "traj": []}
    first = [run(0, 0, 1.0), run(0, 1, 0.0), run(1, 0, 1 - 1e-9), run(1, 1, 0.0, error="rate limit")]
    retail = [run(0, 0, 1.0, action="cancel_pending_order"), run(0, 1, 0.5, action="cancel_pending_order")]
    info = {"agent_info": {"llm": "gpt-5"}, "environment_info": {"domain_name": "telecom"}}
    second = {"timestamp": "2026-01-01", "info": info, "tasks": [],
              "simulations": [{"task_id": f"[{i}]", "trial": j, "termination_reason": reason, "reward_info": reward and {"reward": float(reward)}, "agent_cost": 0.5, "duration": 2}
                              for i, j, reason, reward in ((1, 0, "user_stop", "1"), (1, 1, "max_steps", "0"), (2, 0, "infrastructure_error", "0"), (2, 1, "user_stop", None))]}
    voice = {"timestamp": "2026-01-01", "info": {**info, "agent_info": {"llm": "voice"}}, "tasks": [],
             "simulation_index": [{"id": "x", "task_id": "20", "trial": 0, "reward": 1.0, "termination_reason": "user_stop"}]}
    folder = t.files({"tool-calling-gpt-4o-0.0_range_0--1_user-gpt-4o-llm_1230.json": first, "sonnet-retail.json": retail, "two.json": second,
                             "odd.json": [run(0, 0, 1.0, action="transfer")], "voice/results.json": voice, "voice/simulations/x.json": {"id": "x", "task_id": "20", "trial": 0}})
    db = t.path("tau.db")
    t.check("tau_bench: imports", [row for row in t.told(db, folder) if row[0]], [
        ("odd", None, None, 0, None, None, 0, "not imported: the domain is unknown; name it by --task-name NAME"),
        ("sonnet-retail", "retail", None, 2, None, 0.75, 0, None), ("tool-calling-gpt-4o-0.0", "airline", None, 3, 2, 0.666667, 1, None),
        ("gpt-5", "telecom", None, 2, 1, 0.5, 2, None), ("voice", "telecom", None, 1, 1, 1.0, 0, None)])
    t.check("tau_bench: rows", t.rows(db), [
        ("gpt-5", "telecom", "[1]", 1, 1, 1.0, None), ("gpt-5", "telecom", "[1]", 2, 0, 0.0, None), ("gpt-5", "telecom", "[2]", 1, None, 0.0, "infrastructure_error"),
        ("gpt-5", "telecom", "[2]", 2, None, None, "score is missing"), ("sonnet-retail", "retail", 0, 1, None, 1.0, None), ("sonnet-retail", "retail", 0, 2, None, 0.5, None),
        *[("tool-calling-gpt-4o-0.0", "airline", i, j, *a) for i, j, *a in ((0, 1, 1, 1.0, None), (0, 2, 0, 0.0, None), (1, 1, 1, 1.0, None), (1, 2, None, 0.0, "rate limit"))],
        ("voice", "telecom", 20, 1, 1, 1.0, None)])
    t.check("tau_bench: cost and time", t.rows(db, "SELECT DISTINCT cost, latency FROM results WHERE model = 'gpt-5'"), [(0.5, 2.0)])
    t.check("tau_bench: a task told", t.told(t.path("odd.db"), folder / "odd.json", task_name="banking"), [("odd", "banking", None, 1, 1, 1.0, 0, None)])
    t.refuses("tau_bench: a run without its task", t.files({"a.json": [*first, {"reward": 1}]}), "run 5: there is no task_id")


def instance(number, trial=0, perturbation=None, split="test", **means):
    stats = [{"name": {"name": name, "split": split}, "count": 1, "sum": mean, "mean": mean} for name, mean in means.items()]
    return {"instance_id": f"id{number}", "train_trial_index": trial, "stats": stats, **({"perturbation": perturbation} if perturbation else {})}


def helm(t):
    spec = {"name": "mmlu:subject=anatomy,method=joint,model=openai_gpt-4,eval_split=test", "adapter_spec": {"model": "openai/gpt-4"}}
    folder = t.files({
        "suite/mmlu/per_instance_stats.json": [instance(1, num_references=4, quasi_exact_match=1.0, exact_match=0.0), instance(2, exact_match=1), instance(2, 1, exact_match=1),
                                               instance(3, num_references=4), instance(1, perturbation={"name": "typos"}, exact_match=0.0)],
        "suite/mmlu/run_spec.json": spec, "suite/mmlu/stats.json": [], "suite/lost/per_instance_stats.json": [instance(1, exact_match=1.0)],
        "suite/sum/per_instance_stats.json": [instance(1, rouge_l=0.25), instance(2, rouge_l=1.0)], "suite/sum/run_spec.json": {**spec, "name": "summarization:model=openai_gpt-4"},
        "suite/odd/per_instance_stats.json": [instance(1, elo=3.0, bytes=7)], "suite/odd/run_spec.json": {**spec, "name": "wild"}})
    db, mmlu, gpt = t.path("helm.db"), "mmlu:subject=anatomy,method=joint,eval_split=test", "openai/gpt-4"
    t.check("helm: imports", [row for row in t.told(db, folder) if row[0] or row[7].startswith("not imported: no run_spec")], [
        (None, None, "exact_match, test", 0, None, None, 0, "not imported: no run_spec.json beside it that names the run and its model"),
        (gpt, mmlu, "exact_match, test", 3, 2, 0.666667, 1, "1 perturbed instances are left out"),
        (gpt, "wild", None, 0, None, None, 0, "not imported: none of the usual metrics is in it; choose one of bytes, elo by --metric"),
        (gpt, "summarization", "rouge_l, test", 2, None, 0.625, 0, None)])
    t.check("helm: rows", t.rows(db), [
        (gpt, mmlu, "id1", 1, 0, 0.0, None), (gpt, mmlu, "id2", 1, 1, 1.0, None), (gpt, mmlu, "id2", 2, 1, 1.0, None), (gpt, mmlu, "id3", 1, None, None, "score is missing"),
        (gpt, "summarization", "id1", 1, None, 0.25, None), (gpt, "summarization", "id2", 1, None, 1.0, None)])
    t.told(db, folder / "suite/mmlu", metric="quasi_exact_match", model_name="m", task_name="t")
    t.check("helm: another metric", t.rows(db, "SELECT item, attempt, correct FROM results WHERE model = 'm' ORDER BY 1, 2"), [("id1", 1, 1), ("id2", 1, None), ("id2", 2, None), ("id3", 1, None)])
    t.refuses("helm: a metric that no run has", folder / "suite/mmlu", "--metric must be one of", "exact_match", "got exact_mach", metric="exact_mach")
    t.refuses("helm: an instance without its id", t.files({"a/per_instance_stats.json": [{"stats": [{"name": {"name": "f1_score"}, "mean": 1}]}], "a/run_spec.json": spec}), "instance 1: there is no instance_id")


def helm_splits(t):
    """Splits are never pooled; the schema has the main metric and split of a run."""
    spec = {"name": "narrative_qa:model=m", "adapter_spec": {"model": "m"}, "groups": ["narrative_qa"]}
    both = [instance(1, split="valid", exact_match=1, f1_score=0.5), instance(2, split="test", exact_match=0, f1_score=0.25), instance(3, split="valid", exact_match=1, f1_score=0.75)]
    files = {"run/per_instance_stats.json": both, "run/run_spec.json": spec}
    yaml = ("metrics:\n  - name: f1_score\n    main_name: no\nrun_groups:\n  - name: core\n    subgroups:\n      - narrative_qa\n  - name: narrative_qa # the books\n"
            "    environment:\n      main_name: f1_score\n      main_split: valid\n  - name: gsm\n    environment: {main_name: \"exact_match\", main_split: test}\n")
    written = {"run_groups": [{"name": "narrative_qa", "environment": {"main_name": "f1_score", "main_split": "test"}}]}
    left, taken = "{} instances of other splits are left out", lambda metric, n, correct, mean, note: [("m", "narrative_qa", metric, n, correct, mean, 0, note)]
    for what, more, choices, said in (
            ("no schema", {}, {}, taken("exact_match, test", 1, 0, 0.0, left.format(2))),
            ("a split chosen", {}, {"split": "valid"}, taken("exact_match, valid", 2, 2, 1.0, left.format(1))),
            ("a schema in YAML, above", {"schema_lite.yaml": yaml}, {}, taken("f1_score, valid", 2, None, 0.625, left.format(1))),
            ("a schema in YAML, and a metric chosen", {"run/schema.yaml": yaml}, {"metric": "exact_match"}, taken("exact_match, valid", 2, 2, 1.0, left.format(1))),
            ("helm-summarize's schema goes before", {"schema.json": written, "schema_lite.yaml": yaml}, {}, taken("f1_score, test", 1, None, 0.25, left.format(2))),
            ("a schema without the group", {"schema.yaml": yaml.replace("narrative_qa #", "other #")}, {}, taken("exact_match, test", 1, 0, 0.0, left.format(2))),
            ("the schema's metric is not there", {"schema.yaml": yaml.replace("f1_score", "classification_macro_f1")}, {},
             [("m", "narrative_qa", None, 0, None, None, 0, "not imported: the schema's main metric, classification_macro_f1, is not in it; choose one of exact_match, f1_score by --metric")])):
        t.check(f"helm: {what}", t.told(t.path("helm.db"), t.files({**files, **more}), **choices)[-1:] if "not there" not in what else
                t.told(t.path("helm.db"), t.files({**files, **more, "z/per_instance_stats.json": both, "z/run_spec.json": {**spec, "groups": []}}), **choices)[:1], said)
    mixed = instance(1, exact_match=1)
    mixed["stats"] += instance(1, split="valid", exact_match=0)["stats"]
    for split, right in (("test", 1), ("valid", 0)):
        db = t.path("mixed.db")
        t.told(db, t.files({**files, "run/per_instance_stats.json": [mixed]}), split=split)
        t.check(f"helm: an instance of two splits, {split}", t.rows(db, "SELECT correct FROM results"), [(right,)])
    t.refuses("helm: a split that no run has", t.files(files), "--split must be one of", "test", "valid", "got dev", split="dev")


def database(t, script, *more):
    path = t.path("tool's \"own\" 100%.db")
    connection = sqlite3.connect(path)
    connection.executescript((FILES / script).read_text())
    for statement in more:
        connection.executescript(statement)
    connection.close()
    return path


def viewed(source, tool):
    """What the views of sql/adapters show of a copy of the database."""
    connection = sqlite3.connect(":memory:")
    sqlite3.connect(source).backup(connection)
    connection.executescript((ROOT / f"sql/adapters/{tool}.sql").read_text())
    return connection.execute(RESULTS).fetchall()


def databases(t):
    """promptfoo's and Phoenix's databases: what the views show is what is imported, and nothing is written to them."""
    for tool, note in (("promptfoo", "not imported: there is a later run of daily"), ("phoenix", "not imported: judged by correctness instead")):
        more = []
        if tool == "promptfoo":
            more = ["INSERT INTO evals(id, created_at, description, results, config) VALUES ('first', 5, 'daily', '{}', '{}'), ('second', 9, 'daily', '{}', '{}');",
                    *[f"INSERT INTO eval_results(eval_id, prompt_idx, test_idx, test_case, prompt, provider, success, score, failure_reason, cost, latency_ms) "
                      f"VALUES ('{run}', 0, 0, '{{}}', '{{\"raw\":\"Say\"}}', '{{\"id\":\"e\"}}', 1, 0.5, 0, 0.25, 1500);" for run in ("first", "second")]]
        source, db = database(t, f"{tool}.sql", *more), t.path("own.db")
        connection = sqlite3.connect(db)
        connection.executescript("CREATE TABLE evals(mine); CREATE TABLE experiments(mine);")
        connection.close()
        before = source.read_bytes()
        said = t.told(db, source)
        t.check(f"{tool}: is imported, tables of yours or not", isinstance(said, list), True)
        t.check(f"{tool}: its database is as it was", source.read_bytes() == before, True)
        t.check(f"{tool}: the summary lists what was skipped", any(note in (row[7] or "") for row in said), True)
        t.check(f"{tool}: the import gives what the views show", t.rows(db), viewed(source, tool))
        again = t.rows(db)
        t.told(db, source)
        t.check(f"{tool}: again changes nothing", t.rows(db), again)
        if tool == "promptfoo":
            indexed = database(t, "promptfoo.sql", "CREATE INDEX reason ON eval_results(json_extract(grading_result, '$.reason'));")
            t.imports("promptfoo: an index of JSON, as it has some", indexed, viewed(indexed, "promptfoo"))
            t.check("promptfoo: cost and time", t.rows(db, "SELECT cost, latency FROM results WHERE task = 'daily'"), [(0.25, 1.5)])
        else:
            t.told(db, source, metric="by hand", model_name="h")
            t.check("phoenix: another annotation", t.rows(db, "SELECT item, attempt, correct FROM results WHERE model = 'h' AND correct IS NOT NULL ORDER BY 2"), [(104, 1, 1), (104, 2, 0)])
            t.refuses("phoenix: an annotation that is not there", source, "--metric must be one of", "a tone", "by hand", "correctness", "got tone", metric="tone")


def other_types(t):
    """Values of types that the tool does not write count as missing or are refused; none ends the import with a message
    of SQLite."""
    record = {"doc_id": 1, "filter": "none", "metrics": ["acc"], "acc": 1}
    report = {"resolved_ids": ["a__b-1"], "unresolved_ids": "none", "infra_failure_ids": {}, "failure_reasons": 3, "incomplete_ids": "x"}
    run = {"task_id": 1, "trial": 0, "reward": 1, "traj": [], "info": {"task": {"actions": ["text", {"name": 3}, {"name": "an_order"}]}}}
    log = essay_log(["C", "I"])
    log["samples"][0].update(scores={"rated": "text"}, model_usage={"m": "text"}, error=None)
    spec = {"name": "n", "adapter_spec": {"model": "m"}, "groups": [1, "g"]}
    for tool, files, counts in (("lm_eval", {"m/samples_a.jsonl": "\n".join(json.dumps({**record, "doc_id": i, "scores_per_repeat": r}) for i, r in enumerate(("x", {"acc": "x"}, [1])))}, (3, 3, 0)),
                                ("swebench", {"m.json": report}, (1, 1, 0)), ("tau_bench", {"a.json": [run]}, (1, 1, 0)), ("inspect", {"a.json": log}, (2, 0, 1)),
                                ("helm", {"r/per_instance_stats.json": [{**instance(1, exact_match=1), "stats": ["x", {"name": "y"}, *instance(1, exact_match=1)["stats"]]}],
                                          "r/run_spec.json": spec, "schema.json": {"run_groups": ["x", {"name": "g", "environment": "y"}]}}, (1, 1, 0))):
        db = t.path("odd.db")
        said = t.run(db, t.files(files))
        t.check(f"{tool}: other types", (said if said[0] else 0, t.rows(db, "SELECT count(*), sum(correct), count(error) FROM results")), (0, [counts]))
    ids = t.file("ids.txt", "a__b-1\n\\n\"x\"\n")
    db = t.path("ids.db")
    t.run(db, t.files({"v/results/results.json": {"resolved": ["a__b-1"]}}), items=ids)
    t.check("swebench: ids of any characters", t.rows(db, "SELECT item FROM results ORDER BY 1"), [('\\n"x"',), ("a__b-1",)])


def all_or_nothing(t):
    """An import that cannot read every record imports none, and says why."""
    record = '{"doc_id": %s, "filter": "none", "metrics": ["acc"], "acc": 1}\n'
    no_id, no_filter = '{"filter": "none", "metrics": ["acc"], "acc": 1}\n', '{"doc_id": 4, "metrics": ["acc"], "acc": 1}\n'
    log = '{"eval": {"model": "m", "task": "t", "created": "2025-01-01"}, "status": "success", "samples": [%s]}'
    sample, no_epoch, bare = '{"id": %s, "epoch": 1}', '{"id": 7}', '{"epoch": 1}'
    for tool, files, listed in (
            ("lm_eval", {"m/samples_a.jsonl": record % 0 + record % 1 + no_id + no_id, "m/samples_b.jsonl": record % 0, "m/samples_c.jsonl": record % 1 + no_filter},
             ["a.jsonl: record 3: there is no doc_id (and 1 more like it)\n", "c.jsonl: record 2: there is no filter\n"]),
            ("inspect", {"a.json": log % ",".join((sample % 1, sample % 2, no_epoch, bare)), "b.json": log % (sample % 9), "c.json": log % f"5, {bare}"},
             ["a.json: sample 3: there is no epoch\n", "a.json: sample 4: there is no id (and 2 more like it)\n"])):
        t.refuses(tool, t.files(files), *listed)


def main():
    t = Tools(sys.argv[1])
    for suite in (lm_eval, lm_eval_choices, lm_eval_files, lm_eval_same, lm_eval_repeats, inspect, inspect_files, inspect_ends, inspect_same, inspect_zipped,
                  inspect_damaged, inspect_hostile, swebench, tau_bench, helm, helm_splits, databases, other_types, all_or_nothing):
        suite(t)
    t.end()


if __name__ == "__main__":
    main()
