#!/usr/bin/python3
"""A host may have set a locale whose decimal point is a comma: digits must not
change.  Makes a German locale, sets it, and asks the loaded extension."""
import locale
import os
import sqlite3
import subprocess
import sys
import tempfile

CHECKS = [
    ("wilson_ci_counts(18, 20)", "[0.6989663547715128,0.9721335187862318]"),
    ("ci_lo('[0.25,5e-1]')", 0.25),
    ("ci_text('[0.6962,0.9695]', 2)", "69.62%–96.95%"),
]


def main(extension):
    if "LOCPATH" not in os.environ:
        with tempfile.TemporaryDirectory() as made:
            subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{made}/de_DE.UTF-8"], check=True)
            sys.exit(subprocess.run([sys.executable, *sys.argv], env={**os.environ, "LOCPATH": made}).returncode)
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(extension.rsplit(".", 1)[0])
    passed = failed = 0
    results = [(sql, wanted, db.execute(f"SELECT {sql}").fetchone()[0]) for sql, wanted in CHECKS]
    results.append(("the locale is in force", ",", locale.localeconv()["decimal_point"]))
    for sql, wanted, got in results:
        passed, failed = passed + (got == wanted), failed + (got != wanted)
        if got != wanted:
            print(f"FAILED {sql}: got {got!r}, wanted {wanted!r}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(sys.argv[1])
