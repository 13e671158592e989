"""Python's sqlite3: see check.py."""
import json
import sqlite3
import sys

database, extension, setup, queries = sys.argv[1:]
db = sqlite3.connect(database)
db.enable_load_extension(True)
db.load_extension(extension)
with open(setup, encoding="utf-8") as file:
    db.executescript(";".join(file))
with open(queries, encoding="utf-8") as file:
    for query in file:
        for row in db.execute(query):
            print(json.dumps(row))
