#!/usr/bin/python3
"""Digits must not change if the host has set a locale whose decimal point is a comma
or takes two bytes (contract 5).  Creates such locales, sets them, and calls the
loaded extension."""
import locale
import os
import sqlite3
import subprocess
import sys
import tempfile

LOCALES = {"de_DE": ",", "ps_AF": "\u066b"}
CHECKS = [
    ("wilson_ci_counts(18, 20)", "[0.6989663547715128,0.9721335187862318]"),
    ("bayes_ci_counts(0, 1000000000000)", "[2.5317807984264276e-14,3.688879454103443e-12]"),
    ("ci_lo('[0.25,5e-1]')", 0.25),
    ("ci_hi('[0,2.5e-40]')", 2.5e-40),
    ("ci_text('[0.6962,0.9695]', 2)", "69.62%–96.95%"),
]


def main(extension):
    if "LOCPATH" not in os.environ:
        with tempfile.TemporaryDirectory() as made:
            for name in LOCALES:
                subprocess.run(["localedef", "-i", name, "-f", "UTF-8", f"{made}/{name}.UTF-8"], check=True)
            sys.exit(subprocess.run([sys.executable, *sys.argv], env={**os.environ, "LOCPATH": made}).returncode)
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(extension.rsplit(".", 1)[0])
    passed = failed = 0
    results = []
    for name, point in LOCALES.items():
        locale.setlocale(locale.LC_ALL, f"{name}.UTF-8")
        results += [(sql, wanted, db.execute(f"SELECT {sql}").fetchone()[0]) for sql, wanted in CHECKS]
        results.append((f"{name} is in force", point, locale.localeconv()["decimal_point"]))
    for sql, wanted, got in results:
        passed, failed = passed + (got == wanted), failed + (got != wanted)
        if got != wanted:
            print(f"FAILED {sql}: got {got!r}, wanted {wanted!r}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(sys.argv[1])
