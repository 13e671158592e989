// DuckDB as a command, which npm has only as a library:
//   node duckdb.mjs LIBRARY DATABASE < statements.sql > result.csv
// Runs the statements and prints the last one's result as CSV, with a header.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [library, database] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(library + "/")("@duckdb/node-api");

const field = (value) => {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const connection = await (await DuckDBInstance.create(database)).connect();
const result = await connection.runAndReadAll(readFileSync(0, "utf8"));
const lines = [result.columnNames(), ...result.getRows()].map((row) => row.map(field).join(",") + "\n");
process.stdout.write(lines.join(""));
connection.closeSync();
