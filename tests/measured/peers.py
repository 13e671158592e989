"""Other programs that bench.py measures against: R, PostgreSQL and DuckDB.

Each is started once and gets its commands line by line, so that no figure includes its start.
"""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "pushdown"))
import run as pushdown  # noqa: E402

DONE = "that is all"


class Program:
    """A program that runs each line and prints its output; the line `end` makes it print that it is done."""

    def __init__(self, command, end=""):
        self.end = end
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, statement):
        self.process.stdin.write(f"{statement}\n{self.end}")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.rstrip("\n") == DONE:
                return lines
            lines.append(line.rstrip("\n"))
        raise RuntimeError(f"{self.process.args[0]} ended at: {statement}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


R_LOOP = f"""
input <- file("stdin", "r")
while (length(line <- readLines(input, 1))) {{ eval(parse(text = line)); cat("{DONE}\\n"); flush(stdout()) }}
"""

DUCKDB_LOOP = f"""
import {{ createRequire }} from "node:module";
import {{ createInterface }} from "node:readline";
const {{ DuckDBInstance }} = createRequire(process.argv[1] + "/")("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:")).connect();
for await (const line of createInterface({{ input: process.stdin }})) {{
  for (const row of (await connection.runAndReadAll(line)).getRows()) console.log(row.join("|"));
  console.log("{DONE}");
}}
"""


def r():
    return Program(["Rscript", "--vanilla", "-e", R_LOOP])


def duckdb(library):
    return Program(["node", "--input-type=module", "-e", DUCKDB_LOOP, str(pathlib.Path(library).resolve())])


def psql(server):
    """On a server that pushdown.Postgres started."""
    return Program(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", str(server.home), "-U", "postgres", "-d", "postgres"],
                   f"SELECT '{DONE}';\n")


Postgres = pushdown.Postgres
