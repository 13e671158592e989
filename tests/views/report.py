#!/usr/bin/python3
"""The report in a real browser: tests/views/report.py build/evalci.so

Makes databases of several shapes, one with names that no page should trust, the
reports by `make report`, and opens them in headless Chromium at a desktop's and a
phone's width, light and dark: no word on the console, the numbers on the page those
of the views, every interval drawn where it lies, every label within its picture.
The screenshots are left in build/report.
"""
import html.parser
import json
import pathlib
import random
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from checks import check, finish  # noqa: E402

OUT = ROOT / "build/report"
CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--enable-logging=stderr", "--log-level=0", "--allow-file-access-from-files"]
DARK = "--blink-settings=preferredColorScheme=0"
PHONE = 390
MODELS = ["claude-2.1", "gpt-4-1106-preview", "<script>alert(1)</script>", "\"quotes\" & 'apostrophes' 🤖",
          "W" * 200, "漢" * 100, "nobody answered"]
TASKS = ["math", "<b>code</b>", "a task with a name that goes on " * 6]
# Chromium's windows are not as narrow as a phone: the page is opened in a frame of the width, and measured there.
FRAME = """<!DOCTYPE html><body style="margin:0"><iframe src="%s" style="width:%dpx;height:%dpx;border:0"></iframe>
<pre id="measured"></pre><script>
addEventListener("load", () => {
  const frame = document.querySelector("iframe"), page = frame.contentDocument, out = {beyond: [], clipped: [], rows: []};
  const box = (element) => element.getBoundingClientRect();
  out.page = page.documentElement.scrollWidth;
  out.ground = frame.contentWindow.getComputedStyle(page.body).backgroundColor;
  for (const svg of page.querySelectorAll("svg"))
    for (const text of svg.querySelectorAll("text")) {
      const s = box(svg), t = box(text);
      if (t.left < s.left - .5 || t.right > s.right + .5 || t.top < s.top - .5 || t.bottom > s.bottom + .5)
        out.beyond.push(text.textContent.slice(-60));
    }
  for (const name of page.querySelectorAll("td.name"))
    if (name.scrollWidth > name.clientWidth + 1) out.clipped.push(name.textContent);
  for (const row of page.querySelectorAll("#leaderboard tr, #compare tr, #tasks tr")) {
    const plot = row.querySelector(".plot"), details = row.closest("details");
    if (details) details.open = true;
    if (!plot) continue;
    const p = box(plot), i = box(plot.querySelector("i")), u = box(plot.querySelector("u"));
    out.rows.push({table: row.closest("table").id, left: p.left, width: p.width, height: p.height,
      lo: (i.left - p.left) / p.width, hi: (i.right - p.left) / p.width, point: ((u.left + u.right) / 2 - p.left) / p.width});
  }
  out.scrolls = [...page.querySelectorAll(".wide, #squares, #squares *")].filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth).map((e) => e.id + e.textContent.slice(0, 40));
  document.querySelector("#measured").textContent = JSON.stringify(out);
});
</script>"""


class Page(html.parser.HTMLParser):
    """The cells of each table, as (text, data-value), the ends of its axis, the items of each list, the text of what
    has an id, and the elements there are."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.tags, self.texts, self.items, self.ticks = {}, set(), {}, [], {}
        self.open, self.cell, self.id = [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.add(tag)
        if tag == "table":
            self.table = given["id"]
            self.rows = self.tables[self.table] = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.cell = ["", given.get("data-value"), given.get("class") or ""]
            self.rows[-1].append(self.cell)
        elif tag == "li":
            self.items.append([self.id, ""])
        if "id" in given:
            self.id = given["id"]
            self.texts.setdefault(self.id, "")
        if tag == "span" and self.cell and "picture" in self.cell[2] and "style" in given and len(self.rows) == 1:
            self.ticks.setdefault(self.table, []).append("")

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.cell = None
        elif tag == "ul":
            self.id = None

    def handle_data(self, data):
        if self.cell and "picture" in self.cell[2]:
            if len(self.rows) == 1 and data.strip():
                self.ticks[self.table][-1] += data
        elif self.cell:
            self.cell[0] += data
        elif self.items and self.id == "ties":
            self.items[-1][1] += data
        if self.id:
            self.texts[self.id] += data

    def columns(self, table):
        """Of each row but the heading {heading: [text, data-value]}."""
        heads = [cell[0] if "picture" not in cell[2] else "picture" for cell in self.tables[table][0]]
        return [dict(zip(heads, row)) for row in self.tables[table][1:]]


def connect(path):
    db = sqlite3.connect(path)
    db.enable_load_extension(True)
    db.load_extension(str(pathlib.Path(sys.argv[1]).resolve().with_suffix("")))
    db.executescript((ROOT / "sql/schema.sql").read_text())
    return db


def insert(db, rows):
    db.executemany("INSERT INTO results(model, task, item, attempt, correct, score) VALUES (?, ?, ?, ?, ?, ?)", rows)
    db.commit()


def hostile():
    for m, model in enumerate(MODELS):
        for i in range(45):
            correct = None if i % 11 == m or m == len(MODELS) - 1 else int((i * i * (m + 3) + i) % 10 < 9 - m)
            yield model, TASKS[i % 3], i, 1, correct, None


def simulated(models, questions, tasks, seed, attempts=1):
    """Models from good to bad, questions from easy to hard."""
    draw = random.Random(seed)
    easy = [draw.uniform(-0.25, 0.25) for _ in range(questions)]
    for m in range(models):
        for q in range(questions):
            for attempt in range(attempts):
                p = 0.9 - 0.5 * m / max(1, models - 1) + easy[q]
                yield f"model {m:03d}", f"task {q % tasks}", q, attempt + 1, int(draw.random() < p), None


def graded_and_unequal():
    """Scores of which some are partial, some questions left out by some models."""
    draw = random.Random(3)
    for m, model in enumerate(("gpt-4.1", "gpt-4.1-mini", "another model")):
        for q in range(90):
            if q % 7 != m:
                yield model, f"task {q % 6}", q, 1, None, min(1, max(0, round(draw.uniform(0.2, 1.1) - 0.1 * m, 1)))


def apart():
    """Two models on some questions, two on others, one on its own, and one whose scores are out of their range."""
    draw = random.Random(8)
    for m in range(5):
        for q in range(25):
            yield f"model {m}", "task", f"{m // 2}/{q}", 1, int(draw.random() < 0.9 - 0.4 * (m % 2)), None
    for q in range(5):
        yield "stars", "graded", q, 1, None, 1.0 + q


SHAPES = {
    "hostile": hostile,
    "apart": apart,
    "one": lambda: simulated(1, 30, 1, 1),
    "two": lambda: simulated(2, 60, 1, 2),
    "graded": graded_and_unequal,
    "repeated": lambda: simulated(5, 12, 2, 4, attempts=3),
    "forty": lambda: simulated(40, 60, 5, 5),
}


def chromium(*arguments):
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run([*CHROMIUM, f"--user-data-dir={profile}", *arguments], text=True, timeout=300,
                              capture_output=True)
    check("chromium ends well", done.returncode == 0)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    check(f"nothing on the console: {console}", not console)
    return done.stdout


def digits(value):
    """A value of a view as the page's data-value has it."""
    return "" if value is None else value if isinstance(value, str) else sqlite3.connect(":memory:").execute(
        "SELECT CAST(? AS TEXT)", [value]).fetchone()[0]


def near(a, b):
    return a == b or (a and b and abs(float(a) - float(b)) < 1e-12)


def percent(p):
    return ">99%" if p >= 0.995 else "<1%" if p < 0.005 else f"{100 * p:.0f}%"


def signed(x):
    return "0.0" if f"{100 * x:.1f}" in ("0.0", "-0.0") else f"{100 * x:+.1f}".replace("-", "−")


def leaderboard_numbers(db, page, name):
    rows = db.execute("""SELECT model, accuracy, ci, n, errored, rank_lo, rank_hi, p_best, method FROM leaderboard""").fetchall()
    shown = page.columns("leaderboard")
    check(f"{name}: every model is there, in the view's order", [r["model"][0] for r in shown] == [r[0] for r in rows])
    measure = "score" if any((r[8] or "").startswith("mean") for r in rows) else "accuracy"
    for row, (model, accuracy, ci, n, errored, lo, hi, best, method) in zip(shown, rows):
        what = f"{name}: {model[:20]}"
        check(f"{what}: the view's digits", [row[measure][1], row["95% interval"][1], row["answers"][1]] ==
              [digits(accuracy), digits(ci), digits(n)])
        if ci is None:
            check(f"{what}: what is not known is not 0", row[measure][0] == "" and
                  row["95% interval"][0] == (method or "no answers"))
            continue
        check(f"{what}: what is read is what is meant", row[measure][0] == f"{100 * accuracy:.1f}%" and
              row["95% interval"][0] == "–".join(f"{100 * x:.1f}%" for x in json.loads(ci)) and
              row["answers"][0] == f"{n:,}")
        if "rank" in row:
            check(f"{what}: the rank is a range", row["rank"][:2] == [str(lo) if lo == hi else f"{lo}–{hi}", f"{lo}-{hi}"])
            check(f"{what}: how sure that it is best", row["P(best)"][:2] == [percent(best), digits(best)])
        if "not known" in row:
            check(f"{what}: answers not known", row["not known"][1] == str(errored))
    check(f"{name}: ranks where there are two models", ("rank" in shown[0]) == (sum(r[2] is not None for r in rows) > 1))
    return [r[0] for r in rows if r[2] is not None]


def compare_numbers(db, page, name, models):
    """The pairs of the first 30, each once, the better model first."""
    first = set(models[:30])
    wanted = {}
    for a, b, diff, lo, hi, p, n, verdict, all_pairs in db.execute("""SELECT model_a, model_b, diff, lo, hi, prob_a_better, n,
            verdict, verdict_all FROM compare"""):
        if not {a, b} <= first:
            continue
        words = "better" if all_pairs != "not separated" else \
            "better only as a single pair" if verdict != "not separated" else "tied"
        wanted[a, b] = (diff, lo, hi, p, n, words)
        wanted[b, a] = (-diff, -hi, -lo, 1 - p, n, words)
    shown = page.columns("compare")
    check(f"{name}: every pair once: {len(shown)}", len({frozenset((r["model"][0], r["against"][0])) for r in shown}) ==
          len(shown) == len(wanted) // 2)
    for row in shown:
        diff, lo, hi, p, n, words = wanted.get((row["model"][0], row["against"][0]), [None] * 6)
        what = f"{name}: {row['model'][0][:20]} against {row['against'][0][:20]}"
        interval = json.loads(row["95% interval"][1])
        check(f"{what}: the view's digits", near(row["difference, points"][1], digits(diff)) and near(row["sure"][1], digits(p)) and
              all(abs(x - y) < 1e-12 for x, y in zip(interval, (lo, hi))) and row["questions"][1] == str(n))
        check(f"{what}: the better one first", diff >= 0)
        check(f"{what}: in words {row['verdict'][0]!r}", row["verdict"][0] == words)
        check(f"{what}: what is read is what is meant", row["difference, points"][0] == signed(diff) and row["sure"][0] == percent(p))


def square_numbers(db, text, name, models):
    """What a phone shows in place of the heatmap has every probability, both ways, and in words what the table has."""
    first = set(models[:30])
    wanted = sorted(x for a, b, p in db.execute("SELECT model_a, model_b, prob_a_better FROM compare")
                    if {a, b} <= first and p is not None for x in (p, 1 - p))
    block = re.search(r'<div id="squares".*?</div>', text, re.S)
    shown = re.findall(r'<i style="[^"]*" data-value="([^"]*)">([^<]*)</i>', block[0] if block else "")
    check(f"{name}: a square a pair and way: {len(shown)}", len(shown) == (len(wanted) if len(models) > 2 else 0))
    check(f"{name}: the squares' digits", all(abs(float(v) - p) < 1e-12 for (v, _), p in zip(sorted(shown, key=lambda s: float(s[0])), wanted)))
    check(f"{name}: the squares' words", all(html.unescape(words) + "%" == percent(float(v)) for v, words in shown))


def task_numbers(db, page, name, models):
    tasks = db.execute("SELECT count(DISTINCT task) FROM by_task").fetchone()[0]
    check(f"{name}: tasks are shown where there are several", ("tasks" in page.tables) == (tasks > 1))
    if tasks == 1:
        check(f"{name}: nothing about other tasks", not any("tasks" in text for text in page.texts.values()))
        return
    measure = "score" if "score" in [c[0] for c in page.tables["tasks"][0]] else "accuracy"
    shown = sorted((r["task"][0], r["model"][0], r[measure][1], r["95% interval"][1], r["answers"][1]) for r in page.columns("tasks"))
    first = set(models[:30])
    wanted = sorted((task, model, digits(accuracy), digits(ci), digits(n)) for task, model, accuracy, ci, n in
                    db.execute("SELECT task, model, accuracy, ci, n FROM by_task") if model in first)
    check(f"{name}: every task has the view's digits", shown == wanted)
    wanted = [(model, digits(macro), digits(ci), digits(task_ci)) for model, macro, ci, task_ci in
              db.execute("SELECT model, macro, macro_ci, task_ci FROM leaderboard WHERE ci IS NOT NULL LIMIT 12")]
    shown = [(r["model"][0], r["mean of the tasks"][1], r["95% interval"][1], r.get("on other tasks", ["", ""])[1])
             for r in page.columns("across")]
    check(f"{name}: across tasks the view's digits", shown == wanted)
    check(f"{name}: what is not known across tasks is not 0",
          all((r["mean of the tasks"][0] == "") == (r["mean of the tasks"][1] == "") for r in page.columns("across")))


def ties(db, page, name, models):
    tied, met = {model: set() for model in models}, dict.fromkeys(models, 0)
    pairs = apart = 0
    for a, b, verdict in db.execute("SELECT model_a, model_b, verdict_all FROM compare"):
        pairs, apart = pairs + 1, apart + (verdict != "not separated")
        met[a], met[b] = met[a] + 1, met[b] + 1
        if verdict == "not separated":
            tied[a].add(b)
            tied[b].add(a)
    said = [text for where, text in page.items if where == "ties"]
    check(f"{name}: a sentence for each of the first 30", len(said) == min(30, len(models)))
    for model, text in zip(models, said):
        rest = text.strip().removeprefix(model)
        if not met[model]:
            good = rest == " is compared with no other model: none answered its questions."
        elif not tied[model]:
            good = rest == " is told apart from every " + (
                "other model." if met[model] == len(models) - 1 else "model that answered its questions.")
        elif len(tied[model]) == len(models) - 1 and len(models) > 2:
            good = rest == " is tied with every other model."
        else:
            listed = [m for m in models if m in tied[model]]
            good = all(m in rest for m in listed[:7]) and (len(listed) <= 8 or f"{len(listed) - 7} others" in rest)
        check(f"{name}: {text[:60]!r} is what compare says", good)
    summary = page.texts["summary"]
    if pairs > 1:
        check(f"{name}: {summary!r} counts pairs", f"Of {pairs:,} pairs of models {apart:,} " in summary)
    leaders = [m for m, in db.execute("SELECT model FROM leaderboard WHERE rank_lo = 1")]
    check(f"{name}: it names the first", all(m in summary for m in leaders[:7]) and
          ("tied for the first place" in summary) == (len(leaders) > 1))


def common_numbers(db, page, name):
    common, questions = db.execute("SELECT max(common), max(questions) FROM leaderboard").fetchone()
    check(f"{name}: questions in common are told where they differ", ("common" in page.tables) == (0 < common < questions))
    check(f"{name}: so are models that have none", ("no question was answered by all" in page.texts["summary"]) == (common == 0))
    if 0 < common < questions:
        wanted = [(m, digits(a), digits(ci)) for m, a, ci in db.execute("SELECT model, accuracy, ci FROM common")]
        measure = page.tables["common"][0][2][0]
        check(f"{name}: on common questions the view's digits",
              [(r["model"][0], r[measure][1], r["95% interval"][1]) for r in page.columns("common")] == wanted)
        check(f"{name}: the summary says so", f"{common:,} of up to {questions:,} are common to all" in page.texts["summary"])


def drawn(page, measured, name):
    """Every interval is drawn where its numbers lie on the axis above it."""
    for table, rows in page.tables.items():
        plots = [r for r in measured["rows"] if r["table"] == table]
        if table not in page.ticks:
            continue
        ends = [float(t.rstrip("%").replace("−", "-")) / 100 for t in (page.ticks[table][0], page.ticks[table][-1])]
        heads = [c[0] for c in rows[0]]
        point = heads.index("difference, points") if table == "compare" else heads.index("95% interval") - 1
        known = [r for r in rows[1:] if r[point][1]]
        check(f"{name}: a drawing for each row of {table}", len(plots) == len(known))
        for row, plot in zip(known, plots):
            lo, hi = json.loads(row[point + 1][1])
            for what, value in (("lo", lo), ("hi", hi), ("point", float(row[point][1]))):
                place = (value - ends[0]) / (ends[1] - ends[0])
                slack = 0.0002 + 2.5 / plot["width"]
                check(f"{name}: {what} of {row[0][0][:20]} in {table} is at {place:.3f}, not {plot[what]:.3f}",
                      abs(plot[what] - place) < slack)


def opened(path, name, width, scheme=""):
    frame = path / "frame.html"
    frame.write_text(FRAME % (f"{name}.html", width, 2400))
    flags = [DARK] if scheme else []
    dom = chromium(*flags, f"--window-size={max(width, 600)},2400", "--virtual-time-budget=3000", "--dump-dom", f"file://{frame}")
    measured = json.loads(html.unescape(re.search(r'<pre id="measured">(.*?)</pre>', dom, re.S)[1]))
    check(f"{name} at {width} does not scroll sideways: {measured['page']}", measured["page"] <= width)
    check(f"{name} at {width}: every text is in its picture: {measured['beyond']}", not measured["beyond"])
    check(f"{name} at {width}: names are whole: {measured['clipped']}", not measured["clipped"])
    check(f"{name} at {width}: nothing is beyond a phone's edge: {measured['scrolls']}", width > PHONE or not measured["scrolls"])
    for row in measured["rows"]:
        if row["table"] == "leaderboard":
            check(f"{name} at {width}: an interval is in sight", row["left"] >= 0 and row["left"] + row["width"] <= width and
                  row["width"] > 150 and row["height"] > 8)
    dark = sum(map(int, re.findall(r"\d+", measured["ground"]))) < 150
    check(f"{name}{scheme} has its ground", dark == bool(scheme))
    picture = OUT / f"{name}-{width}{scheme}.png"
    chromium(*flags, f"--window-size={max(width, 600)},2400", f"--screenshot={picture}", f"file://{frame}")
    check(f"{name} at {width}: there is a picture", picture.stat().st_size > 15000)
    return measured


def report(path, name):
    made = subprocess.run(["make", "-s", "report", f"DB={path}/{name}.db", f"OUT={path}/{name}.html"], cwd=ROOT,
                          text=True, capture_output=True)
    check(f"make report of {name}: {made.stderr}", made.returncode == 0)
    return (path / f"{name}.html").read_text()


def shape(path, name, rows):
    db = connect(path / f"{name}.db")
    insert(db, rows())
    text = report(path, name)
    check(f"{name}: the database is left as it was", db.execute("SELECT group_concat(name) FROM sqlite_master").fetchone()[0] == "results")
    db.executescript((ROOT / "sql/views.sql").read_text())
    check(f"{name}: the page needs nothing else", not re.search(r"(src|href)=|@import|url\(|<script", text))
    check(f"{name}: the database and the date are named", f"{name}.db" in text and
          re.search(r"last changed 20\d\d-\d\d-\d\d \d\d:\d\d UTC; this page was made on 20\d\d-\d\d-\d\d \d\d:\d\d UTC", text))
    page = Page(text)
    models = leaderboard_numbers(db, page, name)
    check(f"{name}: pairs where there are two models", ("compare" in page.tables) == (len(models) > 1))
    check(f"{name}: a heatmap where there are three", (text.count("<svg") == 1) == (len(models) > 2))
    if len(models) > 1:
        compare_numbers(db, page, name, models)
        square_numbers(db, text, name, models)
        ties(db, page, name, models)
        common_numbers(db, page, name)
    task_numbers(db, page, name, models)
    check(f"{name}: names stay text", page.tags.isdisjoint({"b", "img", "iframe", "script"}))
    for width in (1200, PHONE):
        measured = opened(path, name, width)
        if width == 1200:
            drawn(page, measured, name)
    return page


def large(path):
    """100 models and 500 questions: the whole report takes less than three seconds of a processor."""
    insert(connect(path / "large.db"), simulated(100, 500, 5, 6))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    page = Page(report(path, "large"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    check(f"100 models and 500 questions take {took:.1f} s", took < 3)
    check("100 models are ranked, 30 of them in pairs", len(page.tables["leaderboard"]) == 101 and len(page.tables["compare"]) == 436)


def refusals(path):
    refused = subprocess.run(["make", "-s", "report", f"DB={path}/none.db", f"OUT={path}/none.html"], cwd=ROOT,
                             text=True, capture_output=True)
    check("no database, no page", refused.returncode != 0 and "none.db" in refused.stderr and
          not (path / "none.html").exists() and not (path / "none.db").exists())
    sqlite3.connect(path / "empty.db").execute("CREATE TABLE other(x)").connection.close()
    refused = subprocess.run(["make", "-s", "report", f"DB={path}/empty.db", f"OUT={path}/empty.html"], cwd=ROOT,
                             text=True, capture_output=True)
    check("no results, no page", refused.returncode != 0 and "results" in refused.stderr and
          not (path / "empty.html").exists())
    connect(path / "nothing.db").close()
    check("a table without rows gives a page that says so", "No answers yet" in report(path, "nothing"))


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch)
        for name, rows in SHAPES.items():
            shape(path, name, rows)
        opened(path, "hostile", 1200, "-dark")
        opened(path, "hostile", PHONE, "-dark")
        large(path)
        refusals(path)
    finish()


if __name__ == "__main__":
    main()
