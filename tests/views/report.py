#!/usr/bin/python3
"""Tests the report in a real browser: tests/views/report.py EXTENSION PROGRAM

Makes databases of several kinds, one with names that no page should trust, writes their reports by `evalci report`, and
opens these in headless Chromium at a desktop's and a phone's width, light and dark.  The console must be empty, the
numbers those of the board's tables, every interval in its place, and nothing beyond the edge; a heading sorts, a chart
can be saved, and everything is readable without script.  Contract 45.  The screenshots are left in build/report.
"""
import html.parser
import json
import pathlib
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from checks import check, finish, seeded  # noqa: E402

OUT = ROOT / "build/report"
CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--enable-logging=stderr", "--log-level=0", "--allow-file-access-from-files"]
DARK = "--blink-settings=preferredColorScheme=0"
PHONE = 390
MODELS = ["claude-2.1", "gpt-4-1106-preview", "<script>alert(1)</script>", "\"quotes\" & 'apostrophes' 🤖",
          "W" * 200, "漢" * 100, "nobody answered"]
TASKS = ["math", "<b>code</b>", "a task with a name that goes on " * 6]
# Chromium's windows cannot be as narrow as a phone, so the page is opened and measured in a frame of that width.
FRAME = """<!DOCTYPE html><body style="margin:0"><iframe src="%s" style="width:%dpx;height:%dpx;border:0"></iframe>
<pre id="measured"></pre><script>
addEventListener("load", () => {
  const frame = document.querySelector("iframe"), page = frame.contentDocument, out = {clipped: [], rows: [], saved: [], painted: []};
  const box = (element) => element.getBoundingClientRect();
  out.page = page.documentElement.scrollWidth;
  out.ground = frame.contentWindow.getComputedStyle(page.body).backgroundColor;
  const view = frame.contentWindow, board = page.querySelector("#leaderboard");
  const names = () => [...board.tBodies[0].rows].map((row) => row.querySelector(".name").textContent);
  const head = [...board.tHead.rows[0].cells].find((cell) => cell.className.includes("name"));
  out.keys = [...page.querySelectorAll(".key span")].map((entry) => entry.textContent);
  out.before = names();
  if (out.buttons = page.querySelectorAll("button").length) {
    head.click();
    out.clicked = names();
    head.dispatchEvent(new view.KeyboardEvent("keydown", {key: "Enter", cancelable: true}));
    out.entered = names();
    out.sorted = head.getAttribute("aria-sort");
    const fillText = view.CanvasRenderingContext2D.prototype.fillText;
    view.CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { out.painted.push(text); fillText.call(this, text, ...rest); };
    view.HTMLAnchorElement.prototype.click = function () { out.saved.push([this.download, this.href.slice(0, 22), this.href.length]); };
    for (const button of page.querySelectorAll("button")) button.click();
    for (const name of out.before) for (const row of [...board.tBodies[0].rows])
      if (row.querySelector(".name").textContent === name) board.tBodies[0].append(row);
  }
  for (const name of page.querySelectorAll("td.name"))
    if (name.scrollWidth > name.clientWidth + 1) out.clipped.push(name.textContent);
  const cells = (row) => [...row.cells].filter((cell) => cell.matches(".keep")).map((cell) => {
    const range = page.createRange();
    range.selectNodeContents(cell);
    return [...range.getClientRects()].filter((part) => part.width);
  }).flat();
  out.overlaps = [...page.querySelectorAll("#leaderboard tr, #votes tr")].filter((row) => cells(row).some((x, i, all) => all.some((y, j) =>
    i < j && x.left < y.right - 1 && y.left < x.right - 1 && x.top < y.bottom - 1 && y.top < x.bottom - 1))).map((row) => row.textContent);
  for (const row of page.querySelectorAll("#leaderboard tr, #compare tr, #tasks tr, #votes tr")) {
    const plot = row.querySelector(".plot"), details = row.closest("details");
    if (details) details.open = true;
    if (!plot) continue;
    const p = box(plot), i = box(plot.querySelector("i")), u = box(plot.querySelector("u"));
    out.rows.push({table: row.closest("table").id, left: p.left, width: p.width, height: p.height,
      lo: (i.left - p.left) / p.width, hi: (i.right - p.left) / p.width, point: ((u.left + u.right) / 2 - p.left) / p.width});
  }
  out.scrolls = [...page.querySelectorAll(".wide, #triangle, #triangle i, #triangle em")].filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth).map((e) => e.id + e.textContent.slice(0, 40));
  document.querySelector("#measured").textContent = JSON.stringify(out);
});
</script>"""


class Row(list):
    """The cells of a row, and how it is shaded."""


class Page(html.parser.HTMLParser):
    """Reads from a page the cells of each table, as (text, data-value), the ends of its axis, the texts of elements
    with an id, and the names of its elements."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.tags, self.texts, self.ticks = {}, [], {}, {}
        self.cell, self.id = None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append(tag)
        if tag == "table":
            self.table = given["id"]
            self.rows = self.tables[self.table] = []
        elif tag == "tr":
            self.rows.append(Row())
            self.rows[-1].shade = given.get("class")
        elif tag in ("td", "th"):
            self.cell = ["", given.get("data-value"), given.get("class") or ""]
            self.rows[-1].append(self.cell)
        if "id" in given:
            self.id = given["id"]
            self.texts.setdefault(self.id, "")
        if tag == "span" and self.cell and "picture" in self.cell[2] and "style" in given and len(self.rows) == 1:
            self.ticks.setdefault(self.table, []).append("")

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.cell = None
        elif tag in ("p", "table", "div"):
            self.id = None

    def handle_data(self, data):
        if self.cell and "picture" in self.cell[2]:
            if len(self.rows) == 1 and data.strip():
                self.ticks[self.table][-1] += data
        elif self.cell:
            self.cell[0] += data
        if self.id:
            self.texts[self.id] += data

    def columns(self, table):
        """{heading: [text, data-value]} for each row after the heading."""
        heads = [cell[0] if "picture" not in cell[2] else "picture" for cell in self.tables[table][0]]
        return [dict(zip(heads, row), shade=row.shade) for row in self.tables[table][1:]]


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
    draw = seeded(seed)
    easy = [draw.uniform(-0.25, 0.25) for _ in range(questions)]
    for m in range(models):
        for q in range(questions):
            for attempt in range(attempts):
                p = 0.9 - 0.5 * m / max(1, models - 1) + easy[q]
                yield f"model {m:03d}", f"task {q % tasks}", q, attempt + 1, int(draw.random() < p), None


def graded_and_unequal():
    """Scores, some of them partial; some models did not answer every question."""
    draw = seeded(3)
    for m, model in enumerate(("gpt-4.1", "gpt-4.1-mini", "another model")):
        for q in range(90):
            if q % 7 != m:
                yield model, f"task {q % 6}", q, 1, None, min(1, max(0, round(draw.uniform(0.2, 1.1) - 0.1 * m, 1)))


def errored():
    """A model whose wrong answers timed out, which then leads; one with a few missing; two without."""
    draw = seeded(9)
    for m, (model, p) in enumerate((("timeouts", 0.4), ("steady", 0.93), ("some missing", 0.88), ("weak", 0.5))):
        for q in range(100):
            correct = int(draw.random() < p)
            yield model, "task", q, 1, None if (m == 0 and not correct) or (m == 2 and q % 20 == 0) else correct, None


def apart():
    """Two models share some questions, two others share others, one shares none, and one has no answer."""
    draw = seeded(8)
    for m in range(5):
        for q in range(25):
            yield f"model {m}", "task", f"{m // 2}/{q}", 1, int(draw.random() < 0.9 - 0.4 * (m % 2)), None
    for q in range(5):
        yield "silent", "graded", q, 1, None, None


def halves():
    """Two pairs of models, each with questions of its own."""
    draw = seeded(10)
    for m in range(4):
        for q in range(30):
            yield f"model {m}", "task", f"{m // 2}/{q}", 1, int(draw.random() < 0.9 - 0.4 * (m % 2)), None


def strangers():
    """Three models that share no question."""
    draw = seeded(11)
    for m in range(3):
        for q in range(40):
            yield f"model {m}", "task", f"{m}/{q}", 1, int(draw.random() < 0.9 - 0.3 * m), None


def twins():
    """Two models with the same data, and one that is worse."""
    for q in range(40):
        for model, right in (("first", q % 4), ("second", q % 4), ("third", q % 3 == 0)):
            yield model, "task", q, 1, int(bool(right)), None


def votes(db):
    """Votes between the models: five per pair, of which the better model wins three; the last model wins none."""
    models = [model for model, in db.execute("SELECT DISTINCT model FROM results ORDER BY model")]
    db.execute("CREATE TABLE votes(model_a, model_b, winner)")
    for i, model in enumerate(models):
        for other in models[i + 1:]:
            words = ["a"] * 5 if other == models[-1] else ["a", "model_b", "tie", 1, "a"]
            db.executemany("INSERT INTO votes VALUES (?, ?, ?)", [(model, other, word) for word in words])
    db.commit()


VOTED = ("hostile", "forty")
SHAPES = {
    "hostile": hostile,
    "apart": apart,
    "halves": halves,
    "strangers": strangers,
    "errored": errored,
    "one": lambda: simulated(1, 30, 1, 1),
    "two": lambda: simulated(2, 60, 1, 2),
    "graded": graded_and_unequal,
    "repeated": lambda: simulated(5, 12, 2, 4, attempts=3),
    "forty": lambda: simulated(40, 60, 5, 5),
    "attempts": lambda: simulated(12, 15, 1, 7, attempts=4),
    "tasks": lambda: simulated(5, 400, 80, 6, attempts=2),
    "twins": twins,
}


def chromium(*arguments):
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run([*CHROMIUM, f"--user-data-dir={profile}", *arguments], text=True, timeout=300,
                              capture_output=True)
    check("chromium ends well", done.returncode == 0)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    check(f"nothing on the console: {console}", not console)
    return done.stdout


def same(shown, value):
    """Whether a data-value has all digits of a cell."""
    if value is None or shown == "":
        return value is None and shown == ""
    if isinstance(value, str):
        return all(abs(x - y) < 1e-15 for x, y in zip(json.loads(shown), json.loads(value), strict=True))
    return float(shown) == value


def near(a, b):
    return (a is None and b == "") or abs(float(a) - float(b)) < 1e-12


def reads(text, value, digits=1):
    """Whether a text is a share in per cent, rounded."""
    return re.fullmatch(r"\d+(\.\d)?%", text) and abs(float(text[:-1]) - 100 * value) <= 0.5 * 10 ** -digits + 1e-9


def percent(p):
    return ">99%" if p >= 0.995 else "<1%" if p < 0.005 else f"{100 * p:.0f}%"


def leaderboard_numbers(db, page, name):
    rows = db.execute("""SELECT model, accuracy, ci, n, errored, rank_lo, rank_hi, p_best, method, questions, bounded_ci
                         FROM eval_leaderboard""").fetchall()
    shown = page.columns("leaderboard")
    check(f"{name}: every model is there, in the board's order", [r["model"][0] for r in shown] == [r[0] for r in rows])
    graded = db.execute("SELECT count(*) FROM eval_leaderboard WHERE accuracy IS NOT NULL AND correct IS NULL").fetchone()[0]
    measure = "score" if graded else "accuracy"
    repeated = any(r[9] != r[3] for r in rows)
    for row, (model, accuracy, ci, n, errors, lo, hi, best, method, questions, bounded) in zip(shown, rows):
        what = f"{name}: {model[:20]}"
        check(f"{what}: the board's digits", same(row[measure][1], accuracy) and same(row["95% interval"][1], ci) and
              row["questions"][1] == str(questions) and ("answers" in row) == repeated)
        if repeated:
            check(f"{what}: its answers", row["answers"][1] == str(n))
        if ci is None:
            check(f"{what}: what is not known is not 0", row[measure][0] == "" and
                  row["95% interval"][0] == (method or "no answers"))
            continue
        ends = row["95% interval"][0].removesuffix("%").split("–")
        check(f"{what}: what is read is what is meant", reads(row[measure][0], accuracy) and
              all(reads(f"{end}%", x) for end, x in zip(ends, json.loads(ci), strict=True)) and
              row["questions"][0] == f"{questions:,}")
        placed = best is not None and sum(r[2] is not None for r in rows) > 1
        check(f"{what}: a rank where there is one", ("rank" in row) == placed)
        if placed:
            check(f"{what}: the rank is a range", row["rank"][:2] == [str(lo) if lo == hi else f"{lo}–{hi}", f"{lo}-{hi}"])
        chances = [head for head in row if head.startswith("chance of being best")]
        for head in chances:
            check(f"{what}: how sure that it is best", row[head][0] == percent(best) and same(row[head][1], best))
        check(f"{what}: a chance likewise", len(chances) == placed)
        if "errored" in row:
            check(f"{what}: answers not known", row["errored"][1] == str(errors))
            check(f"{what}: whatever they were", not errors or same(row["interval incl. errored"][1], bounded))
    check(f"{name}: errors are shown where there are any", ("errored" in shown[0]) == any(r[4] for r in rows))
    return [r[0] for r in rows if r[2] is not None]


def compare_numbers(db, page, name, models):
    """The pairs of the first 30, each once, the better model first: by the posterior of all models, or, where there is
    none, by the two alone."""
    first, wanted = set(models[:30]), {}
    rows = db.execute("SELECT model_a, model_b, diff, lo, hi, prob_all, prob_a_better, n, verdict, verdict_all FROM eval_compare").fetchall()
    known = [m for m, in db.execute("SELECT model FROM eval_leaderboard WHERE p_best IS NOT NULL")]
    table = [[0.5] * len(known) for _ in known]
    for a, b, _, _, _, prob, *_ in rows:
        if prob is not None:
            table[known.index(a)][known.index(b)], table[known.index(b)][known.index(a)] = prob, 1 - prob
    pairs, least = sorted(min(p, 1 - p) for i, row in enumerate(table) for p in row[:i]), -1
    for k, p in enumerate(pairs):
        if 2 * p * (len(pairs) - k) > 0.05:
            break
        least = p
    for a, b, diff, lo, hi, prob, alone, n, verdict, among in rows:
        if not {a, b} <= first:
            continue
        p = alone if prob is None else prob
        low = None if p is None else min(p, 1 - p)
        clearly, probably = (among.endswith("better"), " better" in verdict) if prob is None else (low <= least, low <= 0.025)
        words = "clearly better" if clearly else "probably better" if probably else "tied" if verdict == "tied" else "not separated"
        words += " unless it sometimes fails outright" if (clearly or probably) and verdict.endswith("outright") else ""
        for x, y, sign in ((a, b, 1), (b, a, -1)):
            wanted[x, y] = (sign * diff, *((lo, hi) if sign > 0 else (-hi, -lo)), p if sign > 0 else 1 - p, n, words)
    shown = page.columns("compare")
    check(f"{name}: every pair once: {len(shown)}", len({frozenset((r["model"][0], r["against"][0])) for r in shown}) ==
          len(shown) == len(wanted) // 2)
    for row in shown:
        diff, lo, hi, p, n, words = wanted.get((row["model"][0], row["against"][0]), [None] * 6)
        what = f"{name}: {row['model'][0][:20]} against {row['against'][0][:20]}"
        interval = json.loads(row["95% interval"][1])
        check(f"{what}: the board's digits", near(diff, row["difference, points"][1]) and near(p, row["sure"][1]) and
              all(abs(x - y) < 1e-12 for x, y in zip(interval, (lo, hi))) and row["questions"][1] == str(n))
        check(f"{what}: the better one first", p >= 0.5 - 1e-12)
        check(f"{what}: in words {row['verdict'][0]!r}", row["verdict"][0] == words)
        check(f"{what}: what is read is what is meant", row["sure"][0] == percent(p) and
              abs(float(row["difference, points"][0].replace("−", "-")) - 100 * diff) <= 0.05 + 1e-9)
    return wanted


def triangle_numbers(text, name, models, wanted):
    """Half of the matrix: each pair once, with undecided pairs in colour."""
    block = re.search(r'<div id="triangle".*?</div>', text, re.S)
    check(f"{name}: a triangle where there are three", bool(block) == (len(models) > 2))
    if not block:
        return
    first = models[:30]
    rows = [re.findall(r'<i class="(\w+)"(?: data-value="([^"]*)"[^>]*)?>([^<]*)</i>', row) for row in block[0].split("<span><b>")[1:]]
    check(f"{name}: one row per model, half of it filled", [len(row) for row in rows] == list(range(len(first))))
    for i, row in enumerate(rows):
        for j, (shade, value, words) in enumerate(row):
            pair = wanted.get((first[j], first[i]))
            if pair is None:
                check(f"{name}: nothing where there is nothing to compare", (shade, value, words) == ("none", "", ""))
                continue
            shades = {"clearly better": "apart", "probably better": "single"}
            check(f"{name}: the square of {first[j][:20]} and {first[i][:20]}", abs(float(value) - pair[3]) < 1e-12 and
                  html.unescape(words) + "%" == percent(float(value)) and shades.get(pair[5], "open") == shade)


def task_numbers(db, page, text, name, models):
    tasks = db.execute("SELECT count(DISTINCT task) FROM eval_tasks").fetchone()[0]
    check(f"{name}: tasks are shown where there are several", ("tasks" in page.tables) == (tasks > 1))
    if tasks == 1:
        return
    measure = "score" if "score" in [c[0] for c in page.tables["tasks"][0]] else "accuracy"
    shown = sorted(page.columns("tasks"), key=lambda r: (r["task"][0], r["model"][0]))
    first = set(models[:30])
    wanted = sorted(row for row in db.execute("SELECT task, model, accuracy, ci, n, questions FROM eval_tasks") if row[1] in first)
    check(f"{name}: every task and model is there", [(r["task"][0], r["model"][0]) for r in shown] == [w[:2] for w in wanted])
    for row, (_, _, accuracy, ci, n, questions) in zip(shown, wanted):
        check(f"{name}: every task has the board's digits", same(row[measure][1], accuracy) and same(row["95% interval"][1], ci) and
              [row["answers"][1], row["questions"][1]] == [str(n), str(questions)])
    panels(text, name, models, shown)
    wanted = db.execute("SELECT model, macro, macro_ci, task_ci FROM eval_leaderboard WHERE ci IS NOT NULL LIMIT 30").fetchall()
    shown = page.columns("across")
    others = "on other tasks like these"
    check(f"{name}: other tasks where somebody has enough", (others in shown[0]) == any(w[3] is not None for w in wanted))
    check(f"{name}: across tasks every model", [r["model"][0] for r in shown] == [w[0] for w in wanted])
    for row, (_, macro, ci, task_ci) in zip(shown, wanted):
        check(f"{name}: across tasks the board's digits", same(row["mean of the tasks"][1], macro) and
              same(row["95% interval"][1], ci) and (others not in row or same(row[others][1], task_ci)))


def panels(text, name, models, shown):
    """A panel for each task, or, if there are many, for those on which the best and the worst of the first 12 models are farthest apart."""
    titles = [html.unescape(t) for t in re.findall(r'<section class="panel"><h3>(.*?)</h3>', text, re.S)]
    ends = {}
    for row in shown:
        if row["model"][0] in models[:12] and row["95% interval"][1]:
            ends.setdefault(row["task"][0], []).append(json.loads(row["95% interval"][1]))
    gaps = {task: max(lo for lo, _ in of) - min(hi for _, hi in of) for task, of in ends.items()}
    check(f"{name}: a panel a task, or 18 of them", len(titles) == min(18, len(gaps)) == len(set(titles)))
    check(f"{name}: panels that tell models apart best", min(gaps[t] for t in titles) >=
          max((gap for task, gap in gaps.items() if task not in titles), default=-1))
    check(f"{name}: which is said", (f"Of {len(gaps)} tasks, here are the 18" in text) == (len(gaps) > 18))


def pass_numbers(db, page, name, models):
    first = set(models[:30])
    wanted = [row for row in db.execute("""SELECT task, model, k, pass_at_k, at_ci, pass_hat_k, hat_ci, questions
                                           FROM eval_passes""") if row[1] in first]
    check(f"{name}: attempts are shown where there are some", ("attempts" in page.tables) == bool(wanted))
    most = {(row[0], row[1]): row[2] for row in wanted}
    of_table = {"attempts": [row for row in wanted if row[2] == most[row[:2]]], "passes": wanted}
    for table in of_table.keys() & page.tables.keys():
        heads = len(page.tables[table][0])
        shown = {tuple(cell[0] for cell in row[:heads - 5]): row[heads - 5:] for row in page.tables[table][1:]}
        check(f"{name}: {table} has every row", len(shown) == len(page.tables[table]) - 1 == len(of_table[table]))
        for task, model, k, *numbers in of_table[table]:
            cells = shown.get((task, model, str(k)) if heads == 8 else (model, str(k)), [])
            check(f"{name}: {table} of {model} at {k}", len(cells) == 5 and
                  all(same(cell[1], value) for cell, value in zip(cells, numbers)))


def vote_numbers(db, page, name):
    check(f"{name}: ratings where there are votes", ("votes" in page.tables) == (name in VOTED))
    if name not in VOTED:
        return
    wanted = db.execute("SELECT model, rating, ci, lo, hi, rank_lo, rank_hi, votes, wins, losses, ties FROM eval_votes").fetchall()
    shown = page.columns("votes")
    check(f"{name}: every rated model", [r["model"][0] for r in shown] == [w[0] for w in wanted])
    for row, (model, rating, ci, lo, hi, first, last, *counts) in zip(shown, wanted):
        check(f"{name}: ratings have the digits of eval_votes", same(row["rating"][1], rating) and same(row["95% interval"][1], ci) and
              [row[head][1] for head in ("votes", "won", "lost", "tied")] == [str(n) for n in counts])
        check(f"{name}: the rating of {model[:20]} is read as meant", row["rating"][0] == f"{rating:.0f}" and
              row["95% interval"][0] == f"{lo:.0f}–{hi:.0f}" and row["rank"][0] == (str(first) if first == last else f"{first}–{last}"))


def first_sentence(db, page, name, models):
    """Which models may be the best, who has the highest accuracy, and what missing answers could do to that."""
    said = page.texts["summary"]
    rows = db.execute("SELECT model, accuracy, errored, n, p_best, rank_lo, rank_note FROM eval_leaderboard WHERE accuracy IS NOT NULL").fetchall()
    leader, accuracy, errors, n, *_ = rows[0]
    if len(models) == 1:
        check(f"{name}: {said!r} says how sure", said.startswith(leader) and "between" in said and "(95% sure)" in said)
        return
    # whether the leader stays first if all missing answers count against it
    shaken = errors and any(a * m + e > accuracy * n * (m + e) / (n + errors) - 1e-9 for _, a, e, m, *_ in rows[1:])
    check(f"{name}: {said!r} calls nobody best too soon", ("cannot be called the best" in said) == bool(shaken))
    if shaken:
        check(f"{name}: {said!r} counts what is missing", f"{errors} of its {n + errors} answers are missing" in said)
        return
    check(f"{name}: {said!r} has the highest", re.search(r"highest (accuracy|score), " + f"{100 * accuracy:.0f}%", said) and leader in said)
    shades = {r["model"][0]: r["shade"] for r in page.columns("leaderboard")}
    if rows[0][4] is None:
        check(f"{name}: {said!r} says why nobody is best", f"it cannot be said which model is the best: {rows[0][6]}." in said)
        check(f"{name}: nobody is shaded", set(shades.values()) == {None})
        return
    order = sorted(rows, key=lambda r: -round(r[4], 12))
    favourites = next(k for k in range(1, len(order) + 1) if sum(r[4] for r in order[:k]) >= 0.95)
    named = order[:favourites if favourites <= 5 else 4]
    parts = [f"{r[0]} ({chance(r[4])})" for r in named]
    if favourites > 5:
        parts.append(f"one of {favourites - 4} others ({chance(sum(r[4] for r in order[4:favourites]))})")
    wanted = f"{order[0][0]} is the best ({chance(order[0][4])})." if favourites == 1 else f"The best is {', '.join(parts[:-1])} or {parts[-1]}."
    check(f"{name}: {said!r} begins with {wanted!r}", said.startswith(wanted))
    behind = [r[0] for r in order[favourites:] if r[5] > 1]
    likely = [r[0] for r in order[favourites:] if r[5] == 1]
    for words, of in (("Clearly behind another model: ", behind), ("Probably not the best: ", likely)):
        check(f"{name}: {said!r} says {words}", (words in said) == bool(of))
        if of:
            listed = said.split(words)[1]
            check(f"{name}: {said!r} lists {of}", all(m in listed for m in of) if len(of) <= 5 else f" and {len(of) - 4} others." in listed)
    check(f"{name}: shaded are those that may be the best, lightly those that probably are not", not (behind or likely) or
          all([*(shades[r[0]] == "near" for r in order[:favourites]), *(shades[m] == "likely" for m in likely), *(shades[m] is None for m in behind)]))


def chance(p):
    return ">99.9%" if p >= 0.9995 else f"{100 * p:.1f}%" if p >= 0.99 else f"{100 * p:.0f}%"


def common_numbers(db, page, text, name):
    common, questions = db.execute("SELECT max(common), max(questions) FROM eval_leaderboard WHERE accuracy IS NOT NULL").fetchone()
    wanted = db.execute("SELECT model, accuracy, ci, rank_lo, rank_hi FROM eval_common WHERE accuracy IS NOT NULL").fetchall()
    overall = [m for m, in db.execute("SELECT model FROM eval_leaderboard WHERE accuracy IS NOT NULL")]
    # models with equal accuracy on the common questions keep their order
    order = sorted(wanted, key=lambda row: (-row[1], overall.index(row[0])))
    differs = 0 < common < questions and [row[0] for row in order] != overall[:len(order)]
    check(f"{name}: the common questions where the order differs", ("common" in page.tables) == bool(differs))
    check(f"{name}: of which questions each number is", ("did not all answer the same questions" in text) == (common < questions))
    check(f"{name}: none is common", ("No question was answered by all" in text) == (common == 0))
    if differs:
        measure = page.tables["common"][0][2][0]
        shown = page.columns("common")
        check(f"{name}: the order there", [r["model"][0] for r in shown] == [row[0] for row in order])
        for row, (_, accuracy, ci, lo, hi) in zip(shown, order):
            check(f"{name}: on common questions the board's digits", same(row[measure][1], accuracy) and
                  same(row["95% interval"][1], ci) and row["rank"][1] == f"{lo}-{hi}")


def drawn(page, measured, name):
    """Every interval is drawn where its numbers lie on the axis above it."""
    for table, rows in page.tables.items():
        plots = [r for r in measured["rows"] if r["table"] == table]
        if table not in page.ticks:
            continue
        unit = 1 if table == "votes" else 100
        ends = [float(t.rstrip("%").replace("−", "-")) / unit for t in (page.ticks[table][0], page.ticks[table][-1])]
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
    check(f"{name} at {width}: charts can be saved: {measured['saved']}", measured["buttons"] == len(measured["saved"]) > 0 and
          all(kind == "data:image/png;base64," and size > 4000 for _, kind, size in measured["saved"]))
    check(f"{name} at {width}: with the keys to their colours {measured['keys']}", set(measured["keys"]) <= set(measured["painted"]))
    check(f"{name} at {width}: a heading sorts, by a click and by a key", len(measured["before"]) == 1 or
          (measured["clicked"] == measured["entered"][::-1] and sorted(measured["clicked"]) == sorted(measured["before"]) and
           measured["sorted"] == "descending"))
    check(f"{name} at {width}: names are whole: {measured['clipped']}", not measured["clipped"])
    check(f"{name} at {width}: no text is over another: {measured['overlaps']}", not measured["overlaps"])
    check(f"{name} at {width}: nothing is beyond a phone's edge: {measured['scrolls']}", width > PHONE or not measured["scrolls"])
    for row in measured["rows"]:
        if row["table"] in ("leaderboard", "votes"):
            check(f"{name} at {width}: an interval is in sight", row["left"] >= 0 and row["left"] + row["width"] <= width and
                  row["width"] > 150 and row["height"] > 8)
    dark = sum(map(int, re.findall(r"\d+", measured["ground"]))) < 150
    check(f"{name}{scheme} has its ground", dark == bool(scheme))
    picture = OUT / f"{name}-{width}{scheme}.png"
    chromium(*flags, f"--window-size={max(width, 600)},2400", f"--screenshot={picture}", f"file://{frame}")
    check(f"{name} at {width}: there is a picture", picture.stat().st_size > 15000)
    return measured


def run(path, name):
    return subprocess.run([sys.argv[2], "report", path / f"{name}.db", "-o", path / f"{name}.html"], text=True, capture_output=True)


def report(path, name):
    made = run(path, name)
    check(f"a report of {name}: {made.stderr}", made.returncode == 0)
    return (path / f"{name}.html").read_text()


def filled(path, name, rows):
    db = connect(path / f"{name}.db")
    insert(db, rows())
    if name in VOTED:
        votes(db)
    return db


def numbers(db, text, name):
    """Everything that can be read from the page's text."""
    page = Page(text)
    models = leaderboard_numbers(db, page, name)
    pairs = db.execute("SELECT count(*) FROM eval_compare WHERE p_all IS NOT NULL").fetchone()[0]
    check(f"{name}: pairs where there are some", ("compare" in page.tables) == (pairs > 0))
    if pairs:
        wanted = compare_numbers(db, page, name, models)
        triangle_numbers(text, name, models, wanted)
        common_numbers(db, page, text, name)
    first_sentence(db, page, name, models)
    pass_numbers(db, page, name, models)
    task_numbers(db, page, text, name, models)
    vote_numbers(db, page, name)
    check(f"{name}: names stay text", set(page.tags).isdisjoint({"img", "iframe"}) and page.tags.count("script") == 1)
    return page


def shape(path, name, rows):
    db = filled(path, name, rows)
    text = report(path, name)
    tables = "results,votes" if name in VOTED else "results"
    check(f"{name}: the database is left as it was", db.execute("SELECT group_concat(name) FROM sqlite_master").fetchone()[0] == tables)
    check(f"{name}: the page needs nothing else", not re.search(r"(src|href)=|@import|url\(|https?:", text))
    check(f"{name}: the database and the date are named", f"{name}.db" in text and
          re.search(r"this page was made on 20\d\d-\d\d-\d\d \d\d:\d\d UTC", text))
    page = numbers(db, text, name)
    without_script(path, name, text)
    for width in (1200, PHONE):
        measured = opened(path, name, width)
        if width == 1200:
            drawn(page, measured, name)
    return page


def without_script(path, name, text):
    """The script adds no content: without it the page has the same cells."""
    bare = re.sub(r"<script>.*</script>\n", "", text, flags=re.S)
    check(f"{name}: one script, at the end", bare != text and "<script" not in bare)
    (path / f"{name}-bare.html").write_text(bare)
    frame = path / "bare.html"
    frame.write_text(FRAME % (f"{name}-bare.html", 1200, 2400))
    dom = chromium("--window-size=1200,2400", "--virtual-time-budget=3000", "--dump-dom", f"file://{frame}")
    measured = json.loads(html.unescape(re.search(r'<pre id="measured">(.*?)</pre>', dom, re.S)[1]))
    check(f"{name}: without script no button, every row", measured["buttons"] == 0 and measured["before"] ==
          [row["model"][0] for row in Page(text).columns("leaderboard")])


def options(path):
    """The texts of the options are on the page, as text."""
    db = connect(path / "options.db")
    insert(db, errored())
    text = db.execute("SELECT eval_report('results', ?)", [json.dumps({
        "title": "<b>Spring</b> & co", "note": "</p><script>alert(1)</script>", "level": 0.9, "errors": "wrong"})]).fetchone()[0]
    page = Page(text)
    check("a title and a note are text", page.tags.count("script") == 1 and "<h1>&lt;b&gt;Spring&lt;/b&gt; &amp; co</h1>" in text and
          "&lt;/p&gt;&lt;script&gt;alert(1)" in text)
    check("the level is the one asked for", "90% interval" in page.columns("leaderboard")[0])
    check("errors that count as wrong shake nobody", "steady has the highest" in page.texts["summary"] and "interval incl. errored" not in text)
    check("which the page says", "count as wrong" in text)
    for given, words in (({"title": 3}, "title in options must be text"), ({"heading": "x"}, "title, note")):
        try:
            db.execute("SELECT eval_report('results', ?)", [json.dumps(given)])
            refused = ""
        except sqlite3.OperationalError as error:
            refused = str(error)
        check(f"{given} is refused: {refused}", words in refused)


def large(path):
    """100 models and 500 questions: the whole report takes less than 0.6 seconds of a processor."""
    insert(connect(path / "large.db"), simulated(100, 500, 5, 6))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    page = Page(report(path, "large"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    check(f"100 models and 500 questions take {took:.1f} s", took < 0.6)
    check("100 models are ranked, 30 of them in pairs", len(page.tables["leaderboard"]) == 101 and len(page.tables["compare"]) == 436)


def refusals(path):
    refused = run(path, "none")
    check("no database, no page", refused.returncode == 3 and "none.db" in refused.stderr and
          not (path / "none.html").exists() and not (path / "none.db").exists())
    sqlite3.connect(path / "empty.db").execute("CREATE TABLE other(x)").connection.close()
    refused = run(path, "empty")
    check("no results, no page", refused.returncode == 3 and "results" in refused.stderr and
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
        options(path)
        large(path)
        refusals(path)
    finish()


if __name__ == "__main__":
    main()
