#!/usr/bin/python3
"""The report in a real browser: tests/views/report.py build/evalci.so

Makes a database with names that no page should trust, the report by
`make report`, and opens it in headless Chromium at a desktop's and a phone's
width: no word on the console, the numbers on the page those of the views,
every label within its picture.  The screenshots are left in build/report.
"""
import html.parser
import json
import pathlib
import re
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
            "--enable-logging=stderr", "--log-level=0"]
MODELS = ["claude-2.1", "gpt-4-1106-preview", "<script>alert(1)</script>", "\"quotes\" & 'apostrophes' 🤖",
          "W" * 200, "漢" * 100, "nobody answered"]
TASKS = ["math", "<b>code</b>", "a task with a name that goes on " * 6]
# What every text of every picture is measured by, once the page is drawn.
MEASURE = """<script>
addEventListener("load", () => {
  const out = {page: document.documentElement.scrollWidth, window: innerWidth, beyond: [], overlaps: []};
  for (const svg of document.querySelectorAll("svg")) {
    const box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const t = text.getBoundingClientRect();
      if (t.left < box.left || t.right > box.right || t.top < box.top || t.bottom > box.bottom)
        out.beyond.push(text.textContent.slice(-60));
    }
    const grid = svg.querySelector(".grid");
    if (grid)
      for (const text of svg.querySelectorAll("text.ink[text-anchor=end]"))
        if (text.getBoundingClientRect().right > grid.getBoundingClientRect().left) out.overlaps.push(text.textContent);
  }
  const pre = document.createElement("pre");
  pre.id = "measured";
  pre.textContent = JSON.stringify(out);
  document.body.append(pre);
});
</script>"""


class Page(html.parser.HTMLParser):
    """The cells of each table, as (text, data-value), and the elements there are."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.tags, self.cell, self.measured = {}, set(), None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.add(tag)
        if tag == "table":
            self.rows = self.tables[given["id"]] = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.cell = ["", given.get("data-value")]
            self.rows[-1].append(self.cell)
        elif given.get("id") == "measured":
            self.measured = ""

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.cell = None

    def handle_data(self, data):
        if self.cell:
            self.cell[0] += data
        elif self.measured == "":
            self.measured = data


def make_database(path):
    db = sqlite3.connect(path)
    db.executescript((ROOT / "sql/schema.sql").read_text())
    for m, model in enumerate(MODELS):
        for i in range(45):
            correct = None if i % 11 == m or m == len(MODELS) - 1 else int((i * i * (m + 3) + i) % 10 < 9 - m)
            db.execute("INSERT INTO results(model, task, item, correct) VALUES (?, ?, ?, ?)",
                       (model, TASKS[i % 3], i, correct))
    db.commit()
    db.enable_load_extension(True)
    db.load_extension(str(pathlib.Path(sys.argv[1]).resolve().with_suffix("")))
    return db


def chromium(*arguments):
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run([*CHROMIUM, f"--user-data-dir={profile}", *arguments], text=True, timeout=120,
                              capture_output=True)
    check("chromium ends well", done.returncode == 0)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    check(f"nothing on the console: {console}", not console)
    return done.stdout


def numbers(db, page):
    """Each number on the page is the view's, to the digit."""
    def digits(values):
        return ["" if v is None else v if isinstance(v, str) else str(db.execute("SELECT CAST(? AS TEXT)", [v]).fetchone()[0])
                for v in values]
    for table, names, columns, sql in (
            ("leaderboard", [0], [1, 2, 3], "SELECT model, accuracy, ci, task_ci FROM leaderboard"),
            ("compare", [0, 1], [3, 4, 5], """SELECT model_a, model_b, diff, ci, prob_a_better FROM compare
              ORDER BY model_a, model_b"""),
            ("tasks", [0, 1], [3, 4], """SELECT task, model, avg(correct), bayes_ci(correct) FROM results
              GROUP BY task, model ORDER BY task, model""")):
        rows = page.tables[table][1:]
        shown = [[row[i][0] for i in names] + [row[i][1] for i in columns] for row in rows]
        wanted = [digits(row) for row in db.execute(sql)]
        if table != "leaderboard":
            shown.sort()
            wanted.sort()
        check(f"{table} has the view's digits", shown == wanted)
    for row in page.tables["leaderboard"][1:]:
        accuracy, ci = row[1], row[2]
        if not accuracy[1]:
            check("what is not known is not 0", accuracy[0] == "" and ci[0] == "no answers")
        else:
            check("what is read is what is meant", accuracy[0] == f"{100 * float(accuracy[1]):.1f}%" and
                  ci[0] == "–".join(f"{100 * x:.1f}%" for x in json.loads(ci[1])))


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch)
        db = make_database(path / "evals.db")
        made = subprocess.run(["make", "-s", "report", f"DB={path}/evals.db", f"OUT={path}/report.html"], cwd=ROOT,
                              text=True, capture_output=True)
        check(f"make report: {made.stderr}", made.returncode == 0)
        check("the database is left as it was", db.execute("SELECT group_concat(name) FROM sqlite_master").fetchone()[0] == "results")
        for view in ("leaderboard", "compare"):
            db.executescript((ROOT / f"sql/{view}.sql").read_text())
        text = (path / "report.html").read_text()
        check("the page needs nothing else", not re.search(r"(src|href)=|@import|url\(", text))
        (path / "measured.html").write_text(text.replace("</body>", MEASURE + "</body>"))
        for width in (1200, 390):
            window = f"--window-size={width},2400"
            page = Page(chromium(window, "--dump-dom", f"file://{path}/measured.html"))
            measured = json.loads(page.measured)
            check(f"at {width} the page does not scroll sideways", measured["page"] <= max(width, measured["window"]))
            check(f"at {width} every text is in its picture: {measured['beyond']}", not measured["beyond"])
            check(f"at {width} labels leave the plot free: {measured['overlaps']}", not measured["overlaps"])
            chromium(window, f"--screenshot={OUT}/report-{width}.png", f"file://{path}/report.html")
            check(f"at {width} there is a picture", (OUT / f"report-{width}.png").stat().st_size > 20000)
        numbers(db, page)
        check("names stay text", page.tags.isdisjoint({"b", "img", "iframe"}))
        refused = subprocess.run(["make", "-s", "report", f"DB={path}/none.db", f"OUT={path}/none.html"], cwd=ROOT,
                                 text=True, capture_output=True)
        check("no database, no page", refused.returncode != 0 and "none.db" in refused.stderr and
              not (path / "none.html").exists() and not (path / "none.db").exists())
        sqlite3.connect(path / "empty.db").execute("CREATE TABLE other(x)").connection.close()
        refused = subprocess.run(["make", "-s", "report", f"DB={path}/empty.db", f"OUT={path}/empty.html"], cwd=ROOT,
                                 text=True, capture_output=True)
        check("no results, no page", refused.returncode != 0 and "results" in refused.stderr and
              not (path / "empty.html").exists())
    finish()


if __name__ == "__main__":
    main()
