#!/usr/bin/python3
"""The canned queries of sql/datasette/metadata.yaml, run as Datasette runs them:
on the database that its head describes, with every parameter of a form not yet
filled in, which is an empty text, and then with one filled in."""
import pathlib
import re
import sqlite3
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Of forty questions in four tasks every thirteenth errored; one model gets every
# second wrong, the other every fifth.
ROWS = """
INSERT INTO results(model, task, item, correct)
WITH q(q) AS (SELECT 0 UNION ALL SELECT q + 1 FROM q WHERE q < 39)
SELECT model, 'task ' || (q % 4), q, CASE WHEN q % 13 <> 0 THEN q % m > 0 END
FROM q, (SELECT 2 AS m, 'worse' AS model UNION ALL SELECT 5, 'better')
"""
# How many rows each gives, and what its first row ends in, from the counts.
WANTED = {
    ("ranking", ""): (2, "SELECT ci_text(clustered_ci_counts(column1, 9)) FROM (VALUES (8), (7), (7), (7))"),
    ("pairs", ""): (1, "SELECT 'A better'"),
    ("by_task", ""): (8, "SELECT ci_bar(bayes_ci_counts(8, 9), 8 / 9.0)"),
    ("by_task", "level=0.5"): (8, "SELECT ci_bar(bayes_ci_counts(8, 9, 0.5), 8 / 9.0)"),
    ("by_task", "model=worse"): (4, "SELECT ci_bar(bayes_ci_counts(0, 9), 0)"),
    ("by_task", "model=nobody"): (0, "SELECT NULL"),
}


def main(extension):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(extension.rsplit(".", 1)[0])
    for script in ("schema", "leaderboard", "compare"):
        db.executescript((ROOT / f"sql/{script}.sql").read_text())
    db.execute(ROWS)
    queries = yaml.safe_load((ROOT / "sql/datasette/metadata.yaml").read_text())["databases"]["evals"]["queries"]
    failures = [f"{name}: not tried" for name in set(queries) - {name for name, _ in WANTED}]
    for (name, filled), (count, last) in WANTED.items():
        sql = queries[name]["sql"]
        parameters = dict.fromkeys(re.findall(r":(\w+)", sql), "")
        parameters.update(pair.split("=") for pair in filled.split())
        rows = db.execute(sql, parameters).fetchall()
        got, wanted = (len(rows), rows[0][-1] if rows else None), (count, db.execute(last).fetchone()[0])
        if got != wanted:
            failures.append(f"{name} {filled}: {got} instead of {wanted}")
    print("".join(f"FAILED {failure}\n" for failure in failures), end="")
    print(f"{len(WANTED) - len(failures)} passed, {len(failures)} failed")
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main(sys.argv[1])
