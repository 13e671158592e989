#!/usr/bin/python3
"""Checks the drawings of forest_svg and heatmap_svg: as XML, as text, as geometry (contract 23).

    tests/views/pictures.py build/evalci.so [--write]

With --write, the pictures of the demo in sql/README.md are redrawn.
"""
import json
import math
import pathlib
import re
import sqlite3
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from checks import check, finish, seeded  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    "</text></svg><img src=x onerror=alert(1)>",
    "\" onload=\"alert(1)",
    "'; DROP TABLE results; --",
    "&amp; &lt; &#0; ]]>",
    "🤖 emoji 👩‍👩‍👧 and 漢字",
    "line\nbreak\ttab\x01control\x7f",
    "nul\0inside",
    "e\u0301 combining, \u202eright to left",
    "W" * 200,
    "漢" * 200,
    "👩‍👩‍👧" * 67,
    "i" * 200,
    "x" * 5000,
    "",
]
NOT_TEXT = ["CAST(x'ff00c328' AS TEXT)", "CAST(x'eda080' AS TEXT)", "CAST(x'f4908080' AS TEXT)",
            "CAST(x'c080' AS TEXT)", "CAST(x'e282' AS TEXT)", "x'ff'", "12.5", "NULL"]


def connect():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(str(pathlib.Path(sys.argv[1]).resolve().with_suffix("")))
    return db


def shown(element):
    """The text of an element, its tooltip left out."""
    return (element.text or "") + "".join(child.tail or "" for child in element)


def texts(svg, kind=None):
    return [t for t in svg.iter(SVG + "text") if kind is None or t.get("class") == kind]


def hostile_labels(db):
    for label in HOSTILE + NOT_TEXT:
        bound = label not in NOT_TEXT
        what = "?" if bound else label
        for sql in (f"SELECT forest_svg({what}, 0.5, '[0.4,0.6]')", f"SELECT heatmap_svg({what}, {what}, 0.5)"):
            try:
                text = db.execute(sql, [label] * sql.count("?")).fetchone()[0]
                svg = ElementTree.fromstring(text)
            except (sqlite3.Error, ElementTree.ParseError) as e:
                check(f"{sql} of {label[:40]!r}: {e}", False)
                continue
            kinds = {e.tag.removeprefix(SVG) for e in svg.iter()}
            check(f"{label[:40]!r} stays text", kinds <= {"svg", "title", "style", "rect", "path", "text", "circle", "g"})
            attributes = {name for e in svg.iter() for name in e.keys()}
            check(f"{label[:40]!r} adds no attribute", not any(name.startswith("on") for name in attributes))
            check(f"{label[:40]!r} keeps the document short", len(text) < 12000)
            if bound and label.isprintable() and len(label) < 20:
                check(f"{label!r} reads back", label in [shown(t) for t in texts(svg, "ink")])
    cut = ElementTree.fromstring(db.execute("SELECT forest_svg(?, 0.5, NULL)", ["long " * 20]).fetchone()[0])
    label = texts(cut, "ink")[0]
    check("a label that is cut has an ellipsis in its middle", re.fullmatch(r"long .*…\S* ?.*long ", shown(label)) and len(shown(label)) < 60)
    check("a label that is cut has its whole text in a tooltip", label.find(SVG + "title").text == "long " * 20)
    # Twenty ems have room for nine characters of 1.02 ems, the ellipsis of 1.1 ems, and eight more; the last ellipsis is the tooltip's.
    cut = ElementTree.fromstring(db.execute("SELECT forest_svg(?, 0.5, NULL)", ["W" * 400]).fetchone()[0])
    label = texts(cut, "ink")[0]
    check("a label that is cut leaves room for its ellipsis", shown(label) == "W" * 9 + "…" + "W" * 8 + "…")
    check("a tooltip that is cut ends in an ellipsis", label.find(SVG + "title").text == "W" * 300 + "…")
    names = [f"gpt-4.1-2025-04-14-preview-{end}" for end in ("high", "low", "mini-high")]
    drawn = [shown(t) for t in texts(forest(db, [(n, 0.5, None) for n in names]), "ink")]
    check(f"long names that differ at their ends read differently: {drawn}", len(set(drawn)) >= 3)
    for names in ([f"a-rather-long-organisation/model-name-{i:02d}-2026-01-31-preview" for i in range(12)],
                  [f"organisation/m{i:02d}-of-some-length-that-goes-on-and-on-until-the-end" for i in range(12)],
                  [f"organisation/model-{i:02d}-of-some-length-that-goes-on-and-on-until-the-end" for i in range(12)]):
        drawn = [shown(t) for t in texts(forest(db, [(n, None, None) for n in names]), "ink") if shown(t)]
        cells = db.execute("SELECT heatmap_svg(value, 1, 0.5) FROM json_each(?)", [json.dumps(names)]).fetchone()[0]
        rows = [shown(t) for t in texts(ElementTree.fromstring(cells), "ink")]
        check(f"names that differ in the middle read differently: {drawn[:2]}, {rows[:2]}", len(set(drawn)) == 12 and len(set(rows)) == 13)
    twice = [shown(t) for t in texts(forest(db, [(n, None, None) for n in [names[0], *names]]), "ink") if shown(t)]
    check("they do beside one that comes twice", len(set(twice)) == 12)
    marked = "e\u0301" * 60
    label = texts(forest(db, [(marked, 0.5, None)]), "ink")[0]
    check("what follows the ellipsis is no mark without its letter", shown(label).split("…")[1].startswith("e"))


# Invalid UTF-8, and its text in the picture: one replacement character per invalid byte.
MENDED = {
    "61c0af62": "a��b",  # a slash in two bytes, in three and in four
    "61e080af62": "a���b",
    "61f08080af62": "a����b",
    "61e28262": "a��b",  # an incomplete character, before another one and at the end
    "61f09f9862": "a���b",
    "61e282": "a��",
    "61f09f98": "a���",
    "61eda08062": "a�b",  # half a surrogate pair
    "61f490808062": "a����b",  # beyond the last code point
    "61f88888888062": "a�����b",
    "618062": "a�b",
    "61ff62": "a�b",
    "61efbfbe62": "a�b",  # noncharacters
    "61efbfbf62": "a�b",
    "61f09fbfbe62": "a�b",
    "61c28562": "a�b",  # controls
    "617f62": "a�b",
    "610b62": "a�b",
    "610a0d0962": "a   b",
    "61f48fbfbd62": "a\U0010fffdb",  # the last valid code point
    "61efbfbd62": "a�b",
    "61c2a062": "a\u00a0b",
}


def mended_labels(db):
    for label, wanted in MENDED.items():
        text = db.execute(f"SELECT forest_svg(CAST(x'{label}' AS TEXT), 0.5, NULL)").fetchone()[0]
        got = shown(texts(ElementTree.fromstring(text), "ink")[0])
        check(f"x'{label}' is shown as {wanted!r}, not {got!r}", got == wanted)


def escaped_labels(db):
    """No character that could end a text or an attribute is unescaped."""
    for sql in ("SELECT forest_svg(?1, 0.5, NULL)", "SELECT heatmap_svg(?1, ?1, 0.5)"):
        text = db.execute(sql, ["<a>&\"'"]).fetchone()[0]
        check(f"{sql} escapes", "&lt;a&gt;&amp;&quot;&#39;</text>" in text)


def numbers(path):
    """The numbers of a path's description."""
    return [float(x) for x in "".join(c if c in "0123456789.-" else " " for c in path.get("d")).split()]


def number(text):
    """The value of a number in a picture, whose minus sign is not ASCII's hyphen."""
    check(f"a minus is no hyphen in {text}", "-" not in text)
    return float(text.rstrip("%").replace("−", "-")) / (100 if text.endswith("%") else 1)


def tick_texts(svg):
    """The numbers under the axis, which stand in one line; the title of the axis stands below them."""
    middle = [t for t in texts(svg, "soft") if t.get("text-anchor") == "middle"]
    return [shown(t) for t in middle if float(t.get("y")) == min(float(m.get("y")) for m in middle)]


def figures(svg):
    """The numbers beside the rows and under them, without the headings above."""
    return [shown(t) for t in texts(svg, "soft") if shown(t) not in ("estimate", "interval")]


def scale(svg):
    """The function from a value to x, derived from the ticks and their labels."""
    grid = [numbers(p)[0] for p in svg.iter(SVG + "path") if p.get("class") == "grid"]
    values = [number(m) for m in tick_texts(svg)]
    check("every mark of the scale has a number", len(grid) == len(values) and len(values) > 1)
    slope = (grid[-1] - grid[0]) / (values[-1] - values[0])
    leading = f"{(values[-1] - values[0]) / (len(values) - 1):.3e}"[:5]
    check(f"marks are 1, 2 or 5 apart, not {leading}", leading in ("1.000", "2.000", "5.000"))
    for x, value in zip(grid, values):
        check(f"the mark {value} is where it belongs", abs(grid[0] + slope * (value - values[0]) - x) < 0.11)
    return lambda value: grid[0] + slope * (value - values[0])


def forest(db, rows, **options):
    db.execute("CREATE TEMP TABLE IF NOT EXISTS rows(label, point, ci)")
    db.execute("DELETE FROM rows")
    db.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
    options = {key.rstrip("_"): value for key, value in options.items()}
    drawn = db.execute("SELECT forest_svg(label, point, ci, ?) FROM rows", [json.dumps(options)]).fetchone()[0]
    return ElementTree.fromstring(drawn)


def forest_geometry(db):
    for rows in ([("b", 0.9, "[0.7,0.97]"), ("a", 0.25, "[0.0,0.4]"), ("c", 0.5, "[0.5,0.5]")],
                 [("d", -0.1, "[-0.25,0.04]"), ("e", 0.2, "[0.1,0.31]")],
                 [("CLT", 0.95, "[0.88,1.03]")],
                 [("odds", 3, "[0.5,17.25]"), ("more odds", 40, "[20,88]")]):
        svg = forest(db, rows)
        x = scale(svg)
        dots = list(svg.iter(SVG + "circle"))
        bars = [numbers(p) for p in svg.iter(SVG + "path") if p.get("class") == "bar" and "H" in p.get("d")]
        check("a dot and a bar a row", len(dots) == len(bars) == len(rows))
        for (label, point, ci), dot, bar in zip(rows, dots, bars):
            lo, hi = map(float, ci.strip("[]").split(","))
            check(f"{label}'s dot is at its point", abs(float(dot.get("cx")) - x(point)) < 0.11)
            check(f"{label}'s bar is its interval", abs(bar[0] - x(lo)) < 0.11 and abs(bar[2] - x(hi)) < 0.11)
            check(f"{label}'s bar and dot are on one line", bar[1] == float(dot.get("cy")))
        right = max(numbers(p)[0] for p in svg.iter(SVG + "path") if p.get("class") == "grid")
        check("the scale holds everything", all(bar[2] <= right + 0.1 for bar in bars))
        heights = [float(d.get("cy")) for d in dots]
        check("rows are in the order they came", heights == sorted(heights))
        check("labels are in the order they came",
              [shown(t) for t in texts(svg, "ink") if t.get("text-anchor") == "end"] == [r[0] for r in rows])
    svg = forest(db, [("inf", 2, "[0.5,9e999]")])
    arrows = [p for p in svg.iter(SVG + "path") if p.get("class") == "dot"]
    check("an infinite bound is an arrow, and written so", len(arrows) == 1 and "∞" in "".join(svg.itertext()))
    check("it goes on beyond the point", numbers(arrows[0])[0] - float(next(svg.iter(SVG + "circle")).get("cx")) > 40)
    svg = forest(db, [("share", 0.5, "[0.25,9e999]")])
    check("beside infinity a scale ends soon after what is finite", tick_texts(svg)[-1] in ("0.5", "0.6", "0.7"))
    svg = forest(db, [("small", -1e-9, "[-0.5,0.5]")])
    check("what is shown as zero has no sign", "0.0%" in [shown(t) for t in texts(svg, "ink")])
    svg = forest(db, [("far", 4e9, "[2e9,8e9]"), ("near", 0.5, "[0.4,0.6]")])
    check("an interval beyond the scale is one arrow", len([p for p in svg.iter(SVG + "path") if p.get("class") == "dot"]) == 1)
    check("and no bar", len([p for p in svg.iter(SVG + "path") if p.get("class") == "bar" and "H" in p.get("d")]) == 1)
    svg = forest(db, [("Fisher", 5, "[2.5,9e999]")])
    bar = next(numbers(p) for p in svg.iter(SVG + "path") if p.get("class") == "bar" and "H" in p.get("d"))
    check("a half-infinite interval has length", bar[2] - bar[0] > 40)
    for ci in ("[-0.001,0.002]", "[0.9996,1.0]", "[0.00002,0.00018]", "[-0.00031,-0.00012]"):
        lo, hi = map(float, ci.strip("[]").split(","))
        svg = forest(db, [("small", (lo + hi) / 2, ci)])
        written = figures(svg)
        check(f"the scale of {ci} tells its marks apart", len(set(written)) == len(written))
        ends = [number(x) for x in written[-1].replace(" to ", "–").split("–")]
        check(f"the figures of {ci} tell its ends apart", abs(ends[0] - lo) < (hi - lo) / 10 and abs(ends[1] - hi) < (hi - lo) / 10)
        check(f"no minus before a zero with {ci}", not any(f.startswith("−0%") for f in written))
    svg = forest(db, [("odds", 1234567.0, "[123456.5,2345678.5]")])
    check("large numbers are short", all(len(shown(t)) < 22 for t in texts(svg)))
    check("and rounded to four digits", "1235000.0" in [shown(t) for t in texts(svg, "ink")])
    svg = forest(db, [("huge", 0.5, "[-1e300,1e300]")])
    check("a bound beyond sense is an arrow", len([p for p in svg.iter(SVG + "path") if p.get("class") == "dot"]) == 2)


def forest_units(db):
    """Per cent for numbers up to 1.5, which the CLT reaches; plain numbers if any is larger."""
    for rows, percent in (([("a", 1.5, "[0.5,1.5]")], True), ([("a", 0.5, "[-1.5,0.5]")], True),
                          ([("a", 1.51, "[0.5,1.2]")], False), ([("a", 0.5, "[0.5,1.51]")], False),
                          ([("a", 0.5, "[-1.51,0.5]")], False),
                          ([("a", 0.5, "[0.4,0.6]"), ("b", 2, "[1,3]")], False)):
        check(f"{rows} in per cent: {percent}", {f.endswith("%") for f in figures(forest(db, rows))} == {percent})


def forest_axis(db):
    """The axis is fitted to data far from 0 and 1, and goes from 0 to 1 otherwise; the options fix its ends."""
    for ci, ends in (("[0.80,0.88]", ("80%", "88%")), ("[0.93,0.99]", ("93%", "99%")), ("[0.2,0.9]", ("0%", "100%")),
                     ("[0.0,0.03]", ("0.0%", "3.0%")), ("[0.3,0.3]", ("24%", "36%")), ("[-0.3,-0.2]", ("−30%", "0%")),
                     ("[0.1,1.2]", ("0%", "120%")), ("[7.1,7.9]", ("7.0", "8.0")), ("[2,3.5]", ("2.0", "3.6")),
                     ("[0.5,3]", ("0.0", "3.0"))):
        lo, hi = json.loads(ci)
        ticks = tick_texts(forest(db, [("a", (lo + hi) / 2, ci)]))
        check(f"the axis of {ci} goes from {ends[0]} to {ends[1]}, not {ticks}", (ticks[0], ticks[-1]) == ends)
    # Of 1, 2, 5 and 10 the step is the one that goes about five times into the axis; a tie takes the longer.
    for to, step in ((7.4, 1), (7.5, 2), (9, 2), (17.4, 2), (17.5, 5), (20, 5), (37.4, 5), (37.5, 10), (45, 10), (0.74, 0.1), (750, 200)):
        ticks = [number(t) for t in tick_texts(forest(db, [("a", to / 2, None)], from_=0, to=to, unit=""))]
        wanted = [i * step for i in range(int(to / step + 1e-9) + 1)]
        check(f"an axis to {to} has ticks at {wanted}, not {ticks}", len(ticks) == len(wanted) and all(abs(a - b) < 1e-9 for a, b in zip(ticks, wanted)))
    rows = [("a", 0.84, "[0.8,0.88]"), ("b", 0.5, "[0.1,0.85]")]
    for options, ends in (({"from_": 0, "to": 1}, ("0%", "100%")), ({"from_": 0.5}, ("50%", "100%")),
                          ({"from_": -1, "to": 0}, ("−100%", "0%")), ({"to": 0.05}, ("0%", "5%")),
                          ({"unit": "", "from_": 0, "to": 1}, ("0.0", "1.0"))):
        svg = forest(db, rows, **options)
        ticks = tick_texts(svg)
        check(f"{options} draws from {ends[0]} to {ends[1]}, not {ticks}", (ticks[0], ticks[-1]) == ends)
        left, right = (scale(svg)(number(t)) for t in (ticks[0], ticks[-1]))
        within = [numbers(p)[0] for p in svg.iter(SVG + "path")] + [float(c.get("cx")) for c in svg.iter(SVG + "circle")]
        check(f"{options} keeps all within the axis", all(left - 30 < x < right + 30 for x in within))
    svg = forest(db, rows, from_=0.5, to=1)
    check("what lies beyond a fixed end is an arrow", len([p for p in svg.iter(SVG + "path") if p.get("class") == "dot"]) == 1)
    svg = forest(db, [("a", 0.8, "[0.4,1.3]")], line=0.5, unit="")
    lines = [numbers(p)[0] for p in svg.iter(SVG + "path") if p.get("class") == "zero"]
    check("a line is drawn where it is asked for", len(lines) == 1 and abs(lines[0] - scale(svg)(0.5)) < 0.11)
    svg = forest(db, rows, title="Who & what", axis="share, in per cent")
    written = [shown(t) for t in texts(svg)]
    check("the title and the axis's are there", "Who & what" in written and "share, in per cent" in written)
    check("so are headings over the figures", "estimate" in written and "interval" in written)
    check("the description is the title", svg.find(SVG + "title").text == "Who & what")


def forest_logarithmic(db):
    """On a log scale equal ratios are equal distances; 1 has its line; 0 is an arrow."""
    rows = [("a", 0.8, "[0.4,1.3]"), ("b", 12, "[3,9e999]"), ("c", 0.1, "[0,0.7]")]
    svg = forest(db, rows, scale="log", axis="odds ratio")
    grid = [numbers(p)[0] for p in svg.iter(SVG + "path") if p.get("class") == "grid"]
    values = [number(t) for t in tick_texts(svg)]
    check(f"ticks are powers of ten or 1, 2, 5 of them: {values}", len(values) > 1 and len(values) == len(grid))
    slope = (grid[-1] - grid[0]) / math.log(values[-1] / values[0])
    def x(value):
        return grid[0] + slope * math.log(value / values[0])
    for place, value in zip(grid, values):
        check(f"the tick {value} is where its logarithm is", abs(place - x(value)) < 0.11)
    dots = list(svg.iter(SVG + "circle"))
    check("a dot a row", len(dots) == len(rows))
    for dot, (label, point, _) in zip(dots, rows):
        check(f"{label} is where its logarithm is", abs(float(dot.get("cx")) - x(point)) < 0.11)
    lines = [numbers(p)[0] for p in svg.iter(SVG + "path") if p.get("class") == "zero"]
    check("there is a line at 1", len(lines) == 1 and abs(lines[0] - x(1)) < 0.11)
    check("an infinite and a zero bound are arrows", len([p for p in svg.iter(SVG + "path") if p.get("class") == "dot"]) == 2)
    check("nothing is in per cent", {"%" in t for t in figures(svg)} == {False})
    bar = [numbers(p) for p in svg.iter(SVG + "path") if p.get("class") == "bar" and "H" in p.get("d")][0]
    check("0.8 [0.4, 1.3] is drawn so", abs(bar[0] - x(0.4)) < 0.11 and abs(bar[2] - x(1.3)) < 0.11)
    for options, wanted in (({"from_": 0.1, "to": 10}, ["0.1", "0.2", "0.5", "1", "2", "5", "10"]), ({"from_": 1.1, "to": 1.9}, None),
                            ({"from_": 1e-9, "to": 1e9}, None), ({"from_": 100}, None), ({"to": 0.001}, None)):
        ticks = tick_texts(forest(db, rows[:1], scale="log", **options))
        check(f"{options} has ticks that differ: {ticks}", 2 <= len(ticks) == len(set(ticks)) and (not wanted or ticks == wanted))


EXTREMES = [0, 1, -1, 0.3, 1e-9, -1e-9, 1e9, -1e9, 1e300, -1e300, 5e-324, 1e-300, 2.5, 1.5, 0.9999999, 123456.789, -3e-7]


def forest_extremes(db):
    """Numbers of any size on any axis: everything is drawn within the picture, and the axis has ticks."""
    random = seeded(7)
    for _ in range(500):
        options = {"scale": "log"} if random.random() < 0.4 else {}
        places = [x for x in EXTREMES if abs(x) <= 1e9 and (x >= 1e-9 or not options)]
        if random.random() < 0.3:
            options["unit"] = random.choice(["%", ""])
        for key in ("from", "to", "line"):
            if random.random() < 0.4:
                options[key] = random.choice(places)
        if options.get("from", -1e10) >= options.get("to", 1e10) - 1e-6 * abs(options.get("from", 0)):
            del options["to"]
        rows = []
        for label in "ab":
            lo, hi = sorted(random.choices(EXTREMES, k=2))
            ends = (lo if random.random() < 0.9 else "-9e999", hi if random.random() < 0.9 else "9e999")
            rows.append((label, random.choice([None, *EXTREMES]), random.choice([None, f"[{ends[0]},{ends[1]}]"])))
        svg = forest(db, rows, **options)
        width = float(svg.get("width"))
        drawn = [numbers(p)[0] for p in svg.iter(SVG + "path")] + [float(c.get("cx")) for c in svg.iter(SVG + "circle")]
        check(f"{rows} with {options} stay in the picture", all(0 <= x <= width for x in drawn))
        check(f"{rows} with {options} have ticks", 2 <= len(tick_texts(svg)) <= 16)


GIVEN = ['{}', '{"title":"a\\u00e9\\"b\\\\"}', ' { "axis" : "x y" , "title":null } ', '{"unit":"%","scale":"log"}',
         '{"from":-1.5e-1,"to":2E+2,"line":0}', '{"title":"\\ud83e\\udd16","unit":""}']


def readable(text):
    """Whether options are an object of JSON, as Python reads it."""
    def members(pairs):
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError
        return dict(pairs)
    def no_constant(_):
        raise ValueError
    try:
        return isinstance(json.loads(text, object_pairs_hook=members, parse_constant=no_constant), dict)
    except ValueError:
        return False


def mangled_options(db):
    """Options with a character removed, inserted or replaced: text that is not JSON is refused, and any other refusal
    names the key."""
    random = seeded(23)
    for _ in range(4000):
        text = list(random.choice(GIVEN))
        for _ in range(random.randrange(1, 3)):
            place = random.randrange(len(text) + 1)
            text[place:place + random.randrange(2)] = random.choice(['', *'"\\{}:,[]01e-+. ntu\t\nx'])
        text = "".join(text)
        try:
            ElementTree.fromstring(db.execute("SELECT forest_svg('m', 2, '[1,3]', ?)", [text]).fetchone()[0])
            check(f"{text!r} is drawn, and JSON", readable(text))
        except sqlite3.Error as error:
            refused = "must be an object of JSON" in str(error)
            named = re.search(r"options has (no|the) key|(title|axis|unit|scale|from|to|line) in options", str(error))
            check(f"{text!r}: {error}", named if readable(text) else refused or named)


def heatmap_figures(db):
    """Only 0 and 1 are written as 0 and 100; other numbers are rounded, but never to these."""
    for p, wanted in ((0, "0"), (1e-300, "<1"), (0.004999, "<1"), (0.005, "1"), (0.0149, "1"), (0.015, "2"),
                      (0.985, "99"), (0.9949, "99"), (0.99499, "99"), (0.995, ">99"), (1 - 1e-16, ">99"), (1, "100")):
        svg = ElementTree.fromstring(db.execute("SELECT heatmap_svg('a', 'b', ?)", [p]).fetchone()[0])
        got = shown(texts(svg, "cell")[0])
        check(f"{p} is {wanted}, not {got}", got == wanted)


def heatmap_order(db):
    """Columns with the names of rows have the order of the rows, and the others follow as they come; a legend explains
    the colours, and no probability is shown as certain."""
    db.execute("CREATE TEMP TABLE pairs(r, c, p)")
    db.executemany("INSERT INTO pairs VALUES (?, ?, ?)", [("b", "x", None), ("b", "a", 1), ("a", "b", 0), ("c", "a", 0.5), ("c", "y", 0.5)])
    svg = ElementTree.fromstring(db.execute("SELECT heatmap_svg(r, c, p) FROM pairs").fetchone()[0])
    names = [shown(t) for t in texts(svg, "ink")]
    check(f"columns in the order of the rows: {names}", names == ["b", "a", "c", "b", "a", "x", "y"])
    squares = [r for r in svg.iter(SVG + "rect") if r.get("class") == "empty"]
    filled = [i for i, r in enumerate(squares) if r.find(SVG + "title") is not None]
    check("values stand in their cells", filled == [1, 4, 9, 11])
    check("neither is certain", [shown(t) for t in texts(svg, "cell")] == [">99", "<1", "50", "50"])
    check("a legend says who beats whom", "% sure that the row beats the column" in [shown(t) for t in texts(svg, "soft")])
    drawn = db.execute("""SELECT heatmap_svg(r, c, p, '{"title":"A & B","axis":"how sure"}') FROM pairs""").fetchone()[0]
    svg = ElementTree.fromstring(drawn)
    check("title and legend are the options'", {"A & B", "how sure"} <= {shown(t) for t in texts(svg)} and
          svg.find(SVG + "title").text == "A & B")
    svg = ElementTree.fromstring(db.execute("SELECT heatmap_svg('m', 'task', 0.5)").fetchone()[0])
    check("other matrices are of nobody against anybody", not any("beats" in shown(t) for t in texts(svg)))


def heatmap_labels(db):
    """Labels that look equal once they are cut are still different rows; a NULL value for a cell changes nothing,
    before or after its value."""
    for a, b in (("a\n", "a\t"), ("x" * 300 + "1", "x" * 300 + "2"), (None, "")):
        svg = ElementTree.fromstring(db.execute("""SELECT heatmap_svg(column1, 'c', 0.5)
            FROM (VALUES (?), (?))""", [a, b]).fetchone()[0])
        check(f"{str(a)[:9]!r} is not {str(b)[:9]!r}", len(texts(svg, "cell")) == 2)
    drawn = [db.execute(f"SELECT heatmap_svg('a', 'b', column1) FROM (VALUES {v})").fetchone()[0]
             for v in ("(NULL), (0.6)", "(0.6), (NULL)", "(0.6)")]
    check("a NULL beside a value changes nothing", len(set(drawn)) == 1)


def heatmap(db):
    cells = {("a", "x"): 0, ("a", "y"): 0.5, ("b", "x"): 1, ("b", "y"): 0.9999, ("c", "y"): 0.0001}
    db.execute("CREATE TEMP TABLE cells(r, c, p)")
    db.executemany("INSERT INTO cells VALUES (?, ?, ?)", [(*k, p) for k, p in cells.items()])
    svg = ElementTree.fromstring(db.execute("SELECT heatmap_svg(r, c, p) FROM cells").fetchone()[0])
    drawn = [t for t in texts(svg, "cell")]
    check("a cell a value", [shown(t) for t in drawn] == ["0", "50", "100", ">99", "<1"])
    squares = [r for r in svg.iter(SVG + "rect") if r.get("class") == "empty"]
    check("a square a cell, empty ones too", len(squares) == 6 and sum("style" not in r.keys() for r in squares) == 1)
    check("a square's tooltip has all digits", squares[3].find(SVG + "title").text == "0.9999")
    fills = [r.get("style", "fill:#")[6:] for r in squares]
    rgb = [tuple(int(f[i:i + 2], 16) for i in (0, 2, 4)) if f else None for f in fills]
    check("orange for no, blue for yes, neither for a half",
          rgb[0][0] > rgb[0][2] + 100 and rgb[2][2] > rgb[2][0] + 100 and max(rgb[1]) - min(rgb[1]) < 10)
    for text, square in zip(drawn, [squares[0], squares[1], squares[2], squares[3], squares[5]]):
        check("figures stand in their cell",
              float(square.get("x")) < float(text.get("x")) < float(square.get("x")) + float(square.get("width")))


def contrast(a, b):
    """The contrast of two colours as WCAG 2 defines it."""
    def luminance(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def colours(db):
    """Figures can be read on every colour a cell can have, and marks on both grounds."""
    for i in range(101):
        svg = ElementTree.fromstring(db.execute("SELECT heatmap_svg('a', 'b', ?)", [i / 100]).fetchone()[0])
        square = next(r for r in svg.iter(SVG + "rect") if r.get("class") == "empty")
        ink = 2 * texts(svg, "cell")[0].get("fill").lstrip("#")
        check(f"{i}% can be read on its colour", contrast(square.get("style")[5:], "#" + ink) > 4.5)
    for ground, marks in (("#ffffff", ("#1b1f24", "#57606a", "#0b5fa5")), ("#14181d", ("#e6edf3", "#9aa4af", "#7cc0ff"))):
        style = svg.find(SVG + "style").text
        for mark in marks:
            check(f"{mark} on {ground}", mark in style and contrast(ground, mark) > 4.5)


def shown_query(name):
    """What sql/README.md says draws this picture."""
    return re.search(rf"^\.once build/{name}\n(.*?;)$", (ROOT / "sql/README.md").read_text(), re.M | re.S)[1]


def demo(db):
    """The pictures in sql/README.md are what the queries above them draw."""
    script = (ROOT / "sql/demo.sql").read_text()
    db.executescript(script[:script.index("-- The leaderboard.")])
    for name in ("forest.svg", "heatmap.svg"):
        drawn, file = db.execute(shown_query(name)).fetchone()[0], ROOT / "tests/views" / name
        if "--write" in sys.argv:
            file.write_text(drawn)
        check(f"tests/views/{name} is what is drawn", file.read_text() == drawn)
    columns = [shown(t) for t in texts(ElementTree.fromstring(drawn), "ink")]
    check("the columns are in the order of the rows", columns[:9] == columns[9:] and len(columns) == 18)


def main():
    db = connect()
    for part in (hostile_labels, mended_labels, escaped_labels, forest_geometry, forest_units, forest_axis,
                 forest_logarithmic, forest_extremes, mangled_options, heatmap_labels, heatmap_order, heatmap,
                 heatmap_figures, colours, demo):
        part(db)
    finish()


if __name__ == "__main__":
    main()
