#!/usr/bin/python3
"""Imports of users' own tables: CSV, JSON, databases; and of answers that occur twice.

    tables.py IMPORTER

Expected rows were written down by hand from the files; Python's csv and json modules define what a field is.
"""
import csv
import io
import json
import re
import sqlite3
import sys

from importing import ROOT, Suite
from checks import seeded  # noqa: E402

WORDS = ["1", "0", "true", "FALSE", "Yes", "no", "C", "I", "pass", "Fail", "correct", "incorrect", "passed", "failed", "1.0", "0.0",
         "", "NA", "NaN", "null", "None"]


def words(t):
    expected = [("m", "t", i, 1, (i + 1) % 2, None, None) if i < 16 else ("m", "t", i, 1, None, None, "the answer is blank")
                for i in range(21)]
    t.imports("words in CSV", t.file("plain.csv", "Model, TASK ,item,attempt,extra,correct\n" + "".join(
        f"m,t,{i},1,x,{word}\n" for i, word in enumerate(WORDS))), expected)
    t.imports("words in JSON", t.file("plain.jsonl", "".join(
        json.dumps({"model": "m", "task": "t", "item": i, "attempt": 1, "correct": word}) + "\n" for i, word in enumerate(WORDS))), expected)
    t.imports("values of JSON", t.file("a.json", '[{"model":"m","item":"a","correct":true},{"model":"m","item":"b","correct":false},'
                                       '{"model":"m","item":"c","correct":null},{"model":"m","item":"d","correct":1, "score": NaN}]'),
              [("m", "a", "a", 1, 1, None, None), ("m", "a", "b", 1, 0, None, None), ("m", "a", "c", 1, None, None, "the answer is blank"),
               ("m", "a", "d", 1, 1, None, None)])


def blank_verdicts(t):
    """An empty text among verdicts is a missing answer, as a reader of CSV leaves it."""
    expected = [("m", "t", 1, 1, 1, None, None), ("m", "t", 2, 1, None, None, "the answer is blank"), ("m", "t", 3, 1, 0, None, None),
                ("m", "t", 4, 1, None, 0.5, None), ("m", "t", 5, 1, None, None, "quota")]
    rows = [(1, "1", "", ""), (2, "", "", ""), (3, "0", "", ""), (4, "", "0.5", ""), (5, "", "", "quota")]
    for kind in ("TEXT", "INTEGER", "BLOB"):
        source = t.path("source.db")
        with sqlite3.connect(source) as connection:
            connection.execute(f"CREATE TABLE results(model, task, item, correct {kind}, score, error)")
            connection.executemany("INSERT INTO results VALUES ('m', 't', ?, ?, ?, ?)", rows)
        t.imports(f"'' in a column {kind} of a table", source, expected)
    t.imports("'' in CSV", t.file("t.csv", "model,item,correct,score,error\n" + "".join(f"m,{i},{c},{s},{e}\n" for i, c, s, e in rows)), expected)
    t.imports("'' in quotes in CSV", t.file("t.csv", "model,item,correct,score,error\n" + "".join(f'm,{i},"{c}","{s}","{e}"\n' for i, c, s, e in rows)), expected)
    t.imports("'' in JSON", t.file("t.json", json.dumps([{"model": "m", "item": i, "correct": c, "score": s, "error": e} for i, c, s, e in rows])), expected)


def separators(t):
    """Of two separators that the first line has equally often the comma goes before the semicolon, and that before the
    tab; a line without any is one column."""
    t.imports("commas before semicolons", t.file("s.csv", "model,item,correct,a;b;c;d\nm,1,1,x;y;z;w\n"), [("m", 1, 1)], "SELECT model, item, correct FROM results")
    t.imports("commas before tabs", t.file("s.csv", "model,item,correct,a\tb\tc\td\nm,1,0,x\n"), [("m", 1, 0)], "SELECT model, item, correct FROM results")
    t.imports("semicolons before tabs", t.file("s.csv", "model;item;score;a\tb\tc\td\nm;1;0,5;x\n"), [("m", 1, 0.5)], "SELECT model, item, score FROM results")
    t.refuses("one column", t.file("s.csv", "model\nm,1\n"), "there is no column item", "there are: model; ")
    t.refuses("one column, of whose lines one has a comma", t.file("s.csv", "item\n1\n2,3\n"), "there is no column correct or score", model_name="m")


def fields(t):
    """Quoted fields that contain separators, quotes and line ends; every kind of line end."""
    quoted = 'item,model,score,error\n"a, b","the ""best""",1,\n"two\nlines",  "c" ,0.25,\n'
    for newline in ("\n", "\r\n", "\r"):
        t.refuses(f"a blank item after {newline!r}", t.file("blank.csv", (quoted + '"",x,1,\n').replace("\n", newline)), "line 5: item is blank")
        t.imports(f"fields in quotes, {newline!r}", t.file("q.csv", "\ufeff" + (quoted + '\n,,,\n"q""",x,,"no, quota"').replace("\n", newline)), [
            ("c", "q", "two\nlines", 1, None, 0.25, None), ('the "best"', "q", "a, b", 1, 1, 1.0, None), ("x", "q", 'q"', 1, None, None, "no, quota")])
    for mark in ";", "\t":
        t.imports(f"fields between {mark!r}", t.file("mark.csv", f"model{mark}item{mark}score\nm{mark}1, 2{mark}0.5\n"), [("m", "1, 2", 0.5)],
                  "SELECT model, item, score FROM results")
    # The separator is the mark most often in the header, outside quotes.
    t.imports("separators in a quoted name", t.file("name.csv", 'model;item;correct;"note, one, two, three, four"\nm;1, 2;1;x\n'), [("m", "1, 2", 1)],
              "SELECT model, item, correct FROM results")
    t.imports("backslashes are themselves", t.file("back.csv", 'model,item,correct\na\\nb,"c\\",1\na\\nb,"d\\""e",0\n'),
              [("a\\nb", "c\\", 1), ("a\\nb", 'd\\"e', 0)], "SELECT model, item, correct FROM results ORDER BY item")
    chance = seeded(12)
    items = ["".join(chance.choice('ab,;"\n\t \'\\/éu001c🙂{[$%') for _ in range(chance.randrange(12))) + f"#{i}" for i in range(500)]
    expected = sorted((item.strip(" "), i % 2) for i, item in enumerate(items))
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC):
        out = io.StringIO(newline="")
        csv.writer(out, quoting=quoting).writerows([["model", "item", "correct"], *(["m", item, i % 2] for i, item in enumerate(items))])
        t.imports(f"fields that Python wrote, {quoting}", t.file("odd.csv", out.getvalue().encode()), expected, "SELECT item, correct FROM results ORDER BY item")
    for ascii in True, False:
        text = "\r\n".join(json.dumps({"model": "m", "nested": {"item": 0, "a": ["}", '"']}, "item": item, "correct": bool(i % 2)}, ensure_ascii=ascii)
                           for i, item in enumerate(items))
        t.imports(f"strings that Python wrote, ascii {ascii}", t.file("odd.jsonl", text), sorted((item, i % 2) for i, item in enumerate(items)),
                  "SELECT item, correct FROM results ORDER BY item")


def scores(t):
    text = "model,task,item,attempt,correct,score\nm,t,1,1,yes,0.7\nm,t,1,2,no,0.2\nm,u,007,1,1,1\n"
    both = [("m", "t", 1, 1, 1, 0.7, None), ("m", "t", 1, 2, 0, 0.2, None), ("m", "u", "007", 1, 1, 1.0, None)]
    t.imports("a verdict with its score", t.file("it's.csv", text), both)
    t.imports("a model and a task that have no column", t.file("alone.csv", "item,correct\n1,yes\n"), [("named", "told", 1, 1, 1, None, None)],
              model_name="named", task_name="told")
    t.imports("a model and a task for all answers", t.file("all.csv", "model,item,correct\na,1,yes\n"), [("named", "all", 1, 1, 1, None, None)], model_name="named")
    t.imports("a range", t.file("range.csv", "model,task,item,score\nm,r,1,1\nm,r,2,1e1\nm,r,3,+5\n"),
              [(1, None, 1.0, 1.0, 10.0), (2, None, 10.0, 1.0, 10.0), (3, None, 5.0, 1.0, 10.0)],
              "SELECT item, correct, score, score_lo, score_hi FROM results ORDER BY item", lo=1, hi=10)
    db, again = t.path("again.db"), t.file("again.csv", "model,task,item,score\nm,r,1,2\n")
    for lo in 1, 0:
        t.run(db, again, lo=lo, hi=10)
    t.check("an import again changes one end of a range", t.rows(db, "SELECT score, score_lo, score_hi FROM results"), [(2.0, 0.0, 10.0)])
    said = t.imports("the summary says that scores need a range", t.file("wide.csv", "model,item,score\nm,1,7\nm,2,-0.5\n"), [(None, 7.0), (None, -0.5)],
                     "SELECT correct, score FROM results ORDER BY item")
    t.check("scores without a range: the note", "scores from -0.5 to 7" in said, True)
    t.refuses("a score outside the range", t.file("range.csv", "model,task,item,score\nm,r,1,11\n"), "line 2: score is outside the range", lo=1, hi=10)
    t.refuses("an invalid range", t.file("range.csv", "model,task,item,score\nm,r,1,1\n"), "the lower first", lo=10, hi=1)
    numbers = ["0.1", "-0.25", "123456789012345", "1e-3", "1E+2", "0.30000000000000004", "4.9e-324", "1.7976931348623157e308", ".5", "5.", "0.1234567890123456789"]
    t.imports("numbers", t.file("numbers.csv", "model,item,score\n" + "".join(f"m,{i},{x}\n" for i, x in enumerate(numbers))),
              [(float(x),) for x in numbers], "SELECT score FROM results ORDER BY item")


def kept(t):
    text = "model,item,correct,cost,latency,tokens,lang,note\nm,1,1,0.25,1.5,70,de,x\nm,2,0,,,,fr,\"y, z\"\n"
    t.imports("cost, latency and tokens", t.file("kept.csv", text), [(0.25, 1.5, 70), (None, None, None)],
              "SELECT cost, latency, tokens FROM results ORDER BY item")
    t.imports("columns that are asked for", t.file("kept.csv", text), [("de", "x"), ("fr", "y, z")], "SELECT lang, note FROM results ORDER BY item", keep="lang, note,cost")
    t.imports("keys that are asked for", t.file("kept.jsonl", '{"model":"m","item":1,"correct":1,"total_tokens":5,"lang":"d\\u0065"}\n{"model":"m","item":2,"correct":1}\n'),
              [(5, "de"), (None, None)], "SELECT tokens, lang FROM results ORDER BY item", keep="lang")
    t.refuses("a column to keep that is not there", t.file("kept.csv", text), "there is no column colour to keep; there are: model, item", keep="colour")
    old = t.path("old.db")
    with sqlite3.connect(old) as connection:
        connection.execute("CREATE TABLE results(model, task, item, attempt, correct, score, error, score_lo, score_hi, UNIQUE (model, task, item, attempt))")
    t.check("a table of an earlier version", t.run(old, t.file("kept.csv", text), keep="lang")[0], 0)
    own, helps = t.path("own.db"), []
    with sqlite3.connect(own) as connection:
        connection.executescript("CREATE TABLE results(model, task, item, correct); INSERT INTO results VALUES ('a', 't', 1, 0)")
    while (done := t.run(own, t.file("own.csv", "model,task,item,correct\nb,t,1,1\n")))[0] and len(helps) < 9:
        helps += re.findall(r" by ((?:ALTER|CREATE) .*)", done[1])
        with sqlite3.connect(own) as connection:
            connection.execute(helps[-1])
    t.check(f"a table of one's own is refused with what would help: {helps}", (done[0], t.rows(own, "SELECT model, correct FROM results ORDER BY 1")), (0, [("a", 0), ("b", 1)]))
    t.check("a table of an earlier version gains columns", t.rows(old, "SELECT cost, tokens, lang FROM results ORDER BY item"), [(0.25, 70, "de"), (None, None, "fr")])


def columns(t):
    t.imports("aliases", t.file("alias.csv", "model_name,benchmark,question_id,epoch,is_correct\nm,t,1,2,1\n"), [("m", "t", 1, 2, 1, None, None)])
    t.imports("aliases as people write them", t.file("alias.csv", "Model Name,Question ID,Is-Correct\nm,1,1\n"), [("m", "alias", 1, 1, 1, None, None)])
    for name, text in (("q.csv", "model,question,correct\nm,why,1\n"), ("q.json", '[{"model":"m","question":"why","correct":1}]')):
        t.imports(f"a question is an item, {name}", t.file(name, text), [("m", "q", "why", 1, 1, None, None)])
    for name, text in (("q.csv", "model,question,id,correct\nm,why,7,1\n"), ("q.csv", "item,model,question,correct\n7,m,why,1\n"), ("q.json", '[{"model":"m","question":"why","qid":7,"correct":1}]')):
        t.imports(f"unless there is a better name, {text}", t.file(name, text), [("m", "q", 7, 1, 1, None, None)])
    t.refuses("all that is missing at once", t.file("x.csv", "who,q,ok\nm,1,1\n"), "no column model; there are: who, q, ok; ", "--model COLUMN", "no column item (the question) either: --item COLUMN", "no column correct or score either: --correct COLUMN")
    for first in ("", "sep=;\r\n", "\ufeffsep=;\n"):
        t.imports(f"a spreadsheet's decimal commas, {first!r}", t.file("s.csv", first + "model;item;score;cost\r\nm;1,5;0,25;1,5\r\nm;2;-0,5;\r\nm;3;1.0;2\r\n"),
                  [("1,5", 0.25, 1.5), (2, -0.5, None), (3, 1.0, 2.0)], "SELECT item, score, cost FROM results ORDER BY score <> 0.25, item")
    t.imports("a separator that is named", t.file("s.csv", "sep=,\nmodel,item,score\nm,1;2;3;4,0.5\n"), [("1;2;3;4", 0.5)], "SELECT item, score FROM results")
    t.refuses("a decimal comma between commas", t.file("s.csv", 'model,item,score\nm,1,"0,25"\n'), "line 2: score must be a number, got '0,25'")
    t.refuses("two commas", t.file("s.csv", "model;item;score\nm;1;1,234,5\n"), "got '1")
    t.refuses("per cents", t.file("s.csv", "model,item,score\nm,1,75%\n"), "without a per cent sign (and --hi 100), got '75%'")
    t.imports("a name goes before an alias", t.file("alias.csv", "id,item,llm,success\n9,1,m,0\n"), [("m", "alias", 1, 1, 0, None, None)])
    for name, text in (("mine.csv", "who,q,ok,set\nm,1,1,t\n"), ("mine.json", '[{"who":"m","q":1,"ok":1,"set":"t"}]')):
        t.imports(f"columns that are named, {name}", t.file(name, text), [("m", "t", 1, 1, 1, None, None)], model="who", item="q", correct="ok", task="set")
        t.refuses(f"the columns there are, {name}", t.file(name, text), "there is no column model; there are: who, q, ok, set; ", "--model COLUMN", "--model-name NAME")
        t.refuses(f"no item, {name}", t.file(name, text), "there is no column item", "--item COLUMN", model="who")
        t.refuses(f"no answer, {name}", t.file(name, text), "there is no column correct or score", "--correct COLUMN", model="who", item="q")
        t.refuses(f"a column that is not there, {name}", t.file(name, text), "there is no column what, which --model names", model="what", item="q", correct="ok")
    for name, text in (("two.csv", "model,qid,id,correct\nm,1,1,1\n"), ("two.json", '{"model":"m","qid":1,"id":1,"correct":1}')):
        t.refuses(f"two aliases, {name}", t.file(name, text), "both qid and id may be the item", "--item")
        t.imports(f"one of two aliases, {name}", t.file(name, text), [("m", "two", 1, 1, 1, None, None)], item="id")
    for name, text in (("three.csv", "model,qid,id,item,correct\nm,8,9,1,1\n"), ("three.json", '{"model":"m","qid":8,"id":9,"item":1,"correct":1}')):
        t.imports(f"a name goes before two aliases, {name}", t.file(name, text), [("m", "three", 1, 1, 1, None, None)])
    t.imports("a column whose name begins like JSON", t.file("odd.csv", "[x,model,item,correct\n1,m,1,1\n"), [("m", "odd", 1, 1, 1, None, None)])
    t.imports("a key that comes late", t.file("late.jsonl", '{"model":"m","item":1,"correct":1}\n{"model":"m","item":2,"correct":null,"error":"quota"}\n'),
              [("m", "late", 1, 1, 1, None, None), ("m", "late", 2, 1, None, None, "quota")])
    t.imports("records within an object", t.file("in.json", '{"version":2,"rows":[],"data":[{"model":"m","item":1,"correct":1},{"model":"m","item":2,"correct":0}],"end":{}}'),
              [("m", "in", 1, 1, 1, None, None), ("m", "in", 2, 1, 0, None, None)])
    t.imports("one object is one record", t.file("one.json", '{"model":"m","item":1,"correct":1}'), [("m", "one", 1, 1, 1, None, None)])


def refused(t):
    head = "model,task,item,attempt,correct,score\n"
    for what, text, *reasons in (
            ("invalid words", head + "m,t,1,1,maybe,\nm,t,2,1,1,\nm,t,3,1,0.5,\nm,t,4,1,,good\nm,t,5,1,,1e999\n",
             "line 2: correct must be 1 or 0", "got 'maybe' (and 1 more like it)\n", "line 5: score must be a number, got 'good' (and 1 more like it)\n", "nothing was imported"),
            ("records of two lines", head + 'm,"t\nu",1,1,1,\nm,t,2,1,maybe,\n', "line 4: correct must be"),
            ("blanks", head + ",t,1,1,1,\nm,t,,1,1,\nm,t,3,,1,\nm,t,3,1.5,1,\n",
             "line 2: model is blank", "line 3: item is blank", "line 4: attempt must be a whole number, got '' (and 1 more like it)"),
            ("repeated attempts", head + "m,t,1,1,1,\nm,t,2,1,1,\n\nm,t,1,1,0,\n", "the same model, task, item and attempt"),
            ("rows of another length", head + "m,t,1,1\nm,t,2,1,1,,\n", "line 2: it must have 6 fields, as the first line has, got 4 (and 1 more like it)"),
            ("a quote that stays open", head + 'm,t,1,1,1,\nm,"t,2,1,1,\nm,t,3,1,1,\n', "line 3: a quote is not closed"),
            ("a quote inside a field", head + 'm,t,1,1,1,\nm,t,5" pipe or 6" pipe,1,1,\n', "line 3: a quote within a field"),
            ("text after a quote", head + 'm,"two\nlines",1,1,1,\nm,"t"x,2,1,1,\n', "line 4: a quote within a field"),
            ("two of a name", "model,item,Item,correct\nm,1,1,1\n", "there are two columns Item"),
            ("a header alone", head, "there are no answers in it"),
            ("nothing at all", "", "it is empty"),
            ("blank lines alone", "\n \n", "it is empty"),
            ("many bad lines", head + "m,t,1,1,maybe,\n" * 30, "line 2: correct", "got 'maybe' (and 29 more like it)\nnothing was imported")):
        t.refuses(f"CSV: {what}", t.file("bad.csv", text), *reasons)
    kinds = t.path()
    for i in range(27):
        (kinds / f"{i:02}.json").write_text('{"a":' + "\n" * i + "x}")
    status, said = t.run(t.path("kinds.db"), kinds)
    t.check(f"twenty kinds at most: {said}", (status, said.count("x is not a value"), said.endswith("\nand 7 others\nnothing was imported\n")), (1, 20, True))
    (kinds / "00.json").write_text((kinds / "05.json").read_text())
    t.check("two files of a kind", "05.json" not in (said := t.run(t.path("kinds.db"), kinds)[1]) and "00.json: not imported: line 6: this is not JSON: x is not a value (and 1 more like it)" in said, True)
    for what, text, *reasons in (
            ("a record that is cut", '{"model":"m","item":1,"correct":1}\n{"model":"m","it', "line 2: it ends within a value"),
            ("a comma too many", '{"model":"m","item":1,"correct":1,}\n', "line 1: this is not JSON: expected a name in quotes, got }"),
            ("no comma", '[{"model":"m","item":1,"correct":1}\n{"model":"m","item":2,"correct":1}]', "line 2: this is not JSON: expected a comma or ], got {"),
            ("a word", '{"model":"m","item":1,"correct":yes}', "line 1: this is not JSON: yes is not a value"),
            ("a number", '{"model":"m","item":01,"correct":1}', "01 is not a value"),
            ("an array of numbers", "[1, 2]", "record 1 is not an object"),
            ("text after it", '[{"model":"m","item":1,"correct":1}] x', "expected the end of the file, got x"),
            ("an item that is null", '{"model":"m","item":null,"correct":1}', "record 1: item is blank"),
            ("a zero in a name", '{"model":"m\\u0000","item":1,"correct":1}', "record 1: a model, task or item holds a zero character"),
            ("1e400", '{"model":"m","item":1,"score":1e400}', "record 1: score must be a number, got '1e400'"),
            ("a control character", '{"model":"m\n","item":1,"correct":1}', "line 1: this is not JSON: expected the end of a string, got character 10"),
            ("an escape", '{"model":"\\x41","item":1,"correct":1}', "this is not JSON"),
            ("nested too deep", '{"model":"m","item":1,"correct":1,"deep":' + "[" * 600 + "]" * 600 + "}", "nested over 500 deep")):
        t.refuses(f"JSON: {what}", t.file("bad.jsonl", text), *reasons)
    t.imports("NaN within names stays", t.file("nan.jsonl", '{"model":"a NaN, Infinity","item":" NaN","score":NaN,"x":[-Infinity,Infinity]}\n'
                                               '{"model":"a NaN, Infinity","item":"b","score":1}'),
              [("a NaN, Infinity", "nan", " NaN", 1, None, None, "the answer is blank"), ("a NaN, Infinity", "nan", "b", 1, 1, 1.0, None)])


def twice(t):
    """Importing again; attempts without numbers; several files with the same answers."""
    db = t.path("twice.db")
    text = "model,task,item,correct\nm,t,1,1\nm,t,2,0\nm,t,1,0\nm,t,1,1\n"
    file = t.file("again.csv", text)
    rows = [("m", "t", 1, 1, 1, None, None), ("m", "t", 1, 2, 0, None, None), ("m", "t", 1, 3, 1, None, None), ("m", "t", 2, 1, 0, None, None)]
    for time in 1, 2:
        said = t.run(db, file)[1]
        t.check(f"attempts that are counted, time {time}", t.rows(db), rows)
        t.check(f"the summary says that attempts were counted, time {time}", "1 questions occur several times without an attempt" in said, True)
        content = content if time > 1 else db.read_bytes()
    t.check("the same again leaves the database as it is, byte for byte", content == db.read_bytes(), True)
    t.check("what is there", said.splitlines()[-1], "csv results: rows 4, models 1, tasks 1, questions 2")
    other = t.file("b.csv", "model,task,item,correct\nm,t,1,0\nn,t,1,1\n")
    first = t.file("a.csv", "model,task,item,correct\nm,t,1,1\nm,t,2,1\n")
    t.imports("of two files the one named later is taken", [first, other],
              [("m", "t", 1, 1, 0, None, None), ("m", "t", 2, 1, 1, None, None), ("n", "t", 1, 1, 1, None, None)])
    t.imports("the same file twice is once", [first, first], [("m", "t", 1, 1, 1, None, None), ("m", "t", 2, 1, 1, None, None)])


def later(t):
    """Whether answers are right or wrong, or graded, is decided for all answers of a model to a task, also those of
    earlier imports."""
    db = t.path("later.db")
    t.run(db, t.file("own.csv", "model,task,item,correct\nm,t,own,1\n"))
    rows = "SELECT model, item, correct, score FROM results ORDER BY model, item"
    for what, text, expected in (
            ("0 and 1", "m,t,1,1\nm,t,2,0\nn,t,1,1\n", [("m", 1, 1, 1.0), ("m", 2, 0, 0.0), ("m", "own", 1, None), ("n", 1, 1, 1.0)]),
            ("0.5 comes", "m,t,3,0.5\n", [("m", 1, None, 1.0), ("m", 2, None, 0.0), ("m", 3, None, 0.5), ("m", "own", 1, None), ("n", 1, 1, 1.0)]),
            ("and goes", "m,t,3,1\n", [("m", 1, 1, 1.0), ("m", 2, 0, 0.0), ("m", 3, 1, 1.0), ("m", "own", 1, None), ("n", 1, 1, 1.0)])):
        t.check(f"{what} is imported", t.run(db, t.file("scores.csv", "model,task,item,score\n" + text))[0], 0)
        t.check(what, t.rows(db, rows), expected)
    # Answers that are replaced do not count: the guess of the stage is corrected.
    t.imports("a graded answer that is replaced", [t.file("1.csv", "model,task,item,score\nm,t,1,0.5\nm,t,2,1\n"), t.file("2.csv", "model,task,item,score\nm,t,1,0\n")],
              [(1, 0, 0.0), (2, 1, 1.0)], "SELECT item, correct, score FROM results ORDER BY item")


def databases(t):
    own = t.path("own 100% #?.db")
    with sqlite3.connect(own) as connection:
        connection.executescript("CREATE TABLE results(model, item, correct, price); INSERT INTO results VALUES ('m', 1, 1, 5), ('m', 'b', 0, 6);"
                                 "CREATE VIEW other AS SELECT model AS llm, item AS qid, 1 - correct AS passed FROM results")
    t.imports("a database", own, [("m", "own 100% #?", 1, 1, 1, None, None), ("m", "own 100% #?", "b", 1, 0, None, None)])
    t.imports("a view of it, by name", own, [("m", "t", 1, 1, 0, None, None), ("m", "t", "b", 1, 1, None, None)], table="other", task_name="t")
    t.imports("its columns are kept", own, [(5,), (6,)], "SELECT price FROM results ORDER BY item", keep="price")
    t.refuses("a table that is not there", own, "the table missing cannot be read: no such table: missing; there are: ", "--table", table="missing")
    with sqlite3.connect(own) as connection:
        connection.executescript("PRAGMA journal_mode = WAL; INSERT INTO results VALUES ('m', 'c', 1, 7)")
    t.imports("a database with a write-ahead log", own, [(3,)], "SELECT count(*) FROM results")
    t.refuses("what only begins like one", t.file("cut.db", b"SQLite format 3\0" + b"x" * 200), "the database cannot be read")
    hostile = t.path("hostile.db")
    with sqlite3.connect(hostile) as connection:
        connection.executescript("CREATE VIEW results AS SELECT load_extension('x') AS model, 1 AS item, 1 AS correct;"
                                 "CREATE VIEW missing AS SELECT edit('x') AS model, 1 AS item, 1 AS correct; CREATE TABLE a(x)")
    t.refuses("a view that loads an extension", hostile, "unsafe use of load_extension()")
    t.refuses("a view that calls a function of the shell's", hostile, "no such function: edit", table="missing")
    with sqlite3.connect(t.path("view.db")) as view:
        view.execute("CREATE VIEW results AS SELECT 1 AS mine")
        path = view.execute("PRAGMA database_list").fetchone()[2]
    t.check("a view named results is kept", (t.run(path, t.file("a.csv", "model,item,correct\nm,1,1\n"))[1].splitlines()[0], t.rows(path, "SELECT mine FROM results")),
            ("results is a view here; import into another database", [(1,)]))
    stops = t.path("stops.db")
    t.run(stops, t.file("a.csv", "model,item,correct\nm,1,1\n"))
    with sqlite3.connect(stops) as connection:
        connection.execute("CREATE TRIGGER stops BEFORE INSERT ON results WHEN new.item = 3 BEGIN SELECT RAISE(FAIL, 'no more'); END")
    status, said = t.run(stops, t.file("b.csv", "model,item,correct\n" + "".join(f"m,{i},1\n" for i in range(1, 6))))
    t.check("all or nothing", (status, "no more" in said, t.rows(stops, "SELECT count(*) FROM results")), (1, True, [(1,)]))


def votes(t):
    text = "model_a,model_b,winner,turn\nx,y,model_a,1\nx,z,tie (bothbad),2\ny,z,z,1\ny,x,tie,1\n"
    rows = [("x", "y", "model_a"), ("x", "z", "both_bad"), ("y", "z", "model_b"), ("y", "x", "tie")]
    query = "SELECT model_a, model_b, winner FROM votes ORDER BY record"
    said = t.imports("votes", t.file("votes.csv", text), rows, query)
    t.check("votes: what is there", said.splitlines()[-1], "votes votes: rows 4, models 3, tasks 0, questions 0")
    t.check("votes: a line for the file", said.splitlines()[0].split("|")[1:], ["votes", "", "", "", "4", "", "", "0", ""])
    t.imports("votes: columns to keep", t.file("votes.csv", text), [("1",), ("2",), ("1",), ("1",)], "SELECT turn FROM votes ORDER BY record", keep="turn")
    t.imports("votes in JSON", t.file("votes.json", '[{"model_a":"x","model_b":"y","winner":"model_b","conversation":[{}]}]'), [("x", "y", "model_b")], query)
    db, file = t.path("v.db"), t.file("votes.csv", text)
    for content, expected in ((text, rows), (text, rows), ("model_a,model_b,winner\nx,y,tie\n", [("x", "y", "tie")])):
        file.write_text(content)
        t.run(db, file)
        t.check("votes: the file again", t.rows(db, query), expected)
    t.refuses("votes: invalid winners", t.file("votes.csv", "model_a,model_b,winner\nx,y,maybe\nx,x,tie\n,y,tie\n"), 
              "line 2: winner must be model_a, model_b, tie or both_bad, or 1, 0 or 0.5, got 'maybe'",
              "line 3: model_a and model_b must differ, got 'x'", "line 4: model_a and model_b must be names, got ''")
    scores = "left,right,won\nx,y,1\nx,y,0.0\nx,y,.5\nx,y,\n"
    t.imports("votes: scores of columns with other names; none is skipped", t.file("scores.csv", scores),
              [("x", "y", "model_a"), ("x", "y", "model_b"), ("x", "y", "tie")], query, model_a="left", model_b="right", winner="won")
    t.refuses("votes: a word that is the other model's name", t.file("votes.csv", "model_a,model_b,winner\na,b,b\nb,a,b\n"),
              "line 3: winner must have one meaning, and is also a model's name: write model_a, model_b or tie, got 'b'")
    t.refuses("votes and answers", [file, t.file("a.csv", "model,item,correct\nm,1,1\n")], "some of the files are votes and some are answers")


def counts(t):
    query = "SELECT model, task, k, n FROM counts ORDER BY model, task"
    t.imports("counts", t.file("c.csv", "model,task,k,n\na,t,3,5\nb,t,5,5\n"), [("a", "t", 3, 5), ("b", "t", 5, 5)], query)
    t.imports("counts by aliases", t.file("c.jsonl", '{"llm":"a","correct":3,"total":5}\n{"llm":"b","correct":0,"total":0}'), [("a", "c", 3, 5), ("b", "c", 0, 0)], query)
    t.refuses("invalid counts", t.file("c.csv", "model,k,n\na,6,5\nb,x,5\n,1,1\n"), "line 2: k and n must be whole numbers, k at most n, got k = '6' and n = '5' (and 1 more like it)", "line 4: model is blank")
    t.refuses("counts and votes", [t.file("c.csv", "model,k,n\na,1,5\n"), t.file("v.csv", "model_a,model_b,winner\nx,y,tie\n")], "these are votes, and others are counts")


def schema(t):
    """The table is that of sql/schema.sql."""
    def told(db):
        return [t.rows(db, f"PRAGMA {what}(results)") for what in ("table_xinfo", "index_list")] + \
            [sorted(re.findall(r"CHECK \((?:[^()]|\([^()]*(?:\([^()]*\))?[^()]*\))*\)", re.sub(r"--.*", "", t.rows(db, "SELECT sql FROM sqlite_schema WHERE type = 'table'")[0][0])))]
    made, own = t.path("made.db"), t.path("own.db")
    t.run(made, t.file("a.csv", "model,item,correct\nm,1,1\n"))
    with sqlite3.connect(own) as connection:
        connection.executescript((ROOT / "sql/schema.sql").read_text())
    t.check("the table is that of sql/schema.sql", told(made), told(own))
    t.check("the table has its checks", len(told(own)[2]), 6)


def many(t):
    """More rows than fit into the memory of the sort, in another order than that of the key."""
    count = 150000
    text = "model,task,item,attempt,score\n" + "".join(f"m{i * 7 % 20},task {i % 3},{'q' if i % 2 else ''}{i * 7919 % count},{i},{i % 2}\n" for i in range(count))
    t.imports("more than memory holds", t.file("many.csv", text), [(count, sum(i % 2 for i in range(count)), sum(range(count)))],
              "SELECT count(*), sum(correct), sum(attempt) FROM results")
    models = "model,item,correct\n" + "".join(f"m{i % 20000},{i // 20000},1\n" for i in range(60000))
    db = t.path("models.db")
    for time in 1, 2:
        status, said = t.run(db, t.file("models.csv", models))
        t.check(f"20,000 models, time {time}", (status, said.splitlines()[-1]), (0, "csv results: rows 60000, models 20000, tasks 1, questions 3"))


if __name__ == "__main__":
    suite = Suite(sys.argv[1])
    for part in (words, blank_verdicts, separators, fields, scores, kept, columns, refused, twice, later, databases, votes, counts, schema, many):
        part(suite)
    suite.end()
