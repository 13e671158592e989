#!/usr/bin/python3
"""Takes the pictures of the report and the page in README.md: make screenshots, or
screenshots.py PROGRAM DATABASE HTML DIRECTORY, with the database of make demo.

pngquant reduces each to eight bits per pixel.  The same on a phone is left in
build/page/pictures, to look at.
"""
import pathlib
import subprocess
import sys
import tempfile

from browser import Browser, profile

WIDE, HIGH, PHONE = 1200, 1088, 390
PHONES = pathlib.Path("build/page/pictures")
SHOWN = "!document.getElementById('results').hidden && document.getElementById('working').hidden"


def take(browser, name, folder, last=None):
    """At both widths, down to the end of an element, or to where a desktop's window ends."""
    for width, target in ((PHONE, PHONES / f"{name}-phone.png"), (WIDE, folder / f"{name}.png")):
        browser.look(width, height=HIGH)
        end = browser.run(f"Math.ceil(document.querySelector({last!r}).getBoundingClientRect().bottom) + 4") if last else HIGH
        browser.screenshot(target, clip={"x": 0, "y": 0, "width": width, "height": end, "scale": 1})
        subprocess.run(["pngquant", "--force", "--strip", "--ext", ".png", "64", target], check=True)


def main(program, database, html, folder):
    folder = pathlib.Path(folder)
    for path in (folder, PHONES):
        path.mkdir(parents=True, exist_ok=True)
    with profile() as scratch, tempfile.TemporaryDirectory() as made:
        browser = Browser(scratch)
        try:
            report = pathlib.Path(made) / "report.html"
            subprocess.run([program, "report", database, "-o", report, "--title", "Tool use, 20 questions each", "--quiet"], check=True)
            browser.open(report.as_uri())
            take(browser, "report", folder, "#leaderboard")
            browser.open(pathlib.Path(html).resolve().as_uri())
            browser.drop([pathlib.Path(database).resolve()])
            browser.wait(SHOWN)
            take(browser, "page", folder)
        finally:
            browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
