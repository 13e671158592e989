/*
** Runs test files in the format of SQLite's sqllogictest on evalci.mjs, with the evalci.wasm that
** is shipped:
**
**     node tests/page/sqllogictest.mjs [--within NAME] FILE...
**
** The format and the messages are those of tests/sql/sqllogictest.c; tests/sql/runner.sh tests
** both.
*/
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { load } from "../../build/page/evalci.mjs";

const HASH_THRESHOLD = 8;
const given = process.argv.slice(2);
const engines = ["sqlite"];
if (given[0] === "--within") engines.push(given.splice(0, 2)[1].toLowerCase());
const evalci = await load();

/* A script's lines that are no comments, with their numbers; "" where one is blank. */
function linesOf(path) {
  const lines = readFileSync(path, "latin1").split("\n").map((text, i) => ({ text: text.replace(/\r$/, ""), number: i + 1 }));
  if (lines.at(-1).text === "") lines.pop();
  return lines.filter(({ text }) => !text.startsWith("#")).map((line) => ({ ...line, text: /^\s*$/.test(line.text) ? "" : line.text }));
}

const words = (line) => line.split(/\s+/).filter(Boolean);
const sqlOf = (lines) => Buffer.from(lines.map(({ text }) => text).join("\n"), "latin1").toString("utf8");

/* %.3f of C, which gives a tie to the even digit and JavaScript to the larger; and of
** SQLite's own printf, which stops at 16 significant digits. */
function real(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
  const size = Math.abs(value), sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (size >= 1e13) {
    const [digits, exponent] = size.toExponential(15).replace(".", "").split("e"), whole = Number(exponent) + 1;
    const all = digits.padEnd(whole + 3, "0");
    return `${sign}${all.slice(0, whole)}.${all.slice(whole, whole + 3)}`;
  }
  const exact = size.toFixed(60).slice(0, -57), rest = size.toFixed(60).slice(-57);
  const half = `5${"0".repeat(56)}`, up = rest > half || (rest === half && Number(exact.at(-1)) % 2 === 1);
  const thousandths = BigInt(exact.replace(".", "")) + (up ? 1n : 0n), text = String(thousandths).padStart(4, "0");
  return `${sign}${text.slice(0, -3)}.${text.slice(-3)}`;
}

/* A value as sqlite3_column_double has it: of text, the number that it begins with. */
function number(value) {
  if (typeof value === "string" || value instanceof Uint8Array) {
    const text = typeof value === "string" ? value : Buffer.from(value).toString("latin1");
    return Number(/^\s*([-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?)?/i.exec(text)[1] ?? 0);
  }
  return Number(value);
}

/* As sqlite3_column_int has it, the last 32 bits of a whole number. */
function integer(value) {
  const whole = typeof value === "bigint" ? value : BigInt(Math.trunc(Math.max(-(2 ** 63), Math.min(2 ** 63, number(value)))));
  return String(BigInt.asIntN(32, whole === 2n ** 63n ? whole - 1n : whole));
}

/* One column of a row as the original program renders it. */
function render(value, text, type) {
  if (value === null) return "NULL";
  if (type === "I") return integer(value);
  if (type === "R") return real(number(value));
  const shown = text.split("\0")[0];
  return Buffer.from(shown === "" ? "(empty)" : shown).toString("latin1").replace(/[^ -~]/g, "@");
}

const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const compareRows = (a, b) => a.map((value, i) => byBytes(value, b[i])).find((order) => order !== 0) ?? 0;

function digest(values) {
  return createHash("md5").update(values.map((value) => `${value}\n`).join("")).digest("hex");
}

class Script {
  passed = 0;
  failed = 0;
  skipped = 0;
  #threshold = HASH_THRESHOLD;
  #labels = new Map();

  constructor(path) {
    this.path = path;
    this.lines = linesOf(path);
    this.db = evalci.open();
    while (this.lines.length > 0) {
      const line = this.lines.shift();
      if (line.text !== "" && !this.#record(line)) break;
    }
    this.db.close();
    if (evalci.memoryUsed() > 0) {
      this.#say(0, `the connection leaks ${evalci.memoryUsed()} bytes`);
      this.failed++;
    }
  }

  #say(line, message) {
    console.log(`${this.path}:${line}: ${message}`);
    return false;
  }

  /* Lines up to the record's end, or to one that is "----". */
  #read() {
    const lines = [];
    for (let line; (line = this.lines.shift()) && line.text !== "";) {
      if (line.text === "----") return { lines, separated: true };
      lines.push(line);
    }
    return { lines, separated: false };
  }

  /* Runs the record that begins at a line; false when the script is to stop. */
  #record(line) {
    let skip = false;
    const first = line.number;
    for (let [word, name] = words(line.text); name && (word === "skipif" || word === "onlyif"); [word, name] = words(line.text)) {
      if (engines.includes(name.toLowerCase()) === (word === "skipif")) skip = true;
      line = this.lines.shift();
      if (!line) return false;
    }
    const [word, ...rest] = words(line.text);
    let right;
    if (skip) {
      right = this.#skip(line, first);
      this.skipped += right;
    } else if (word === "statement") {
      right = this.#statement(first, rest[0] ?? "", /^\S+\s+\S+\s+(.*)$/.exec(line.text)?.[1] ?? "");
      this.passed += right;
    } else if (word === "query") {
      right = this.#query(first, ...rest);
      this.passed += right;
    } else if (word === "hash-threshold") {
      right = /^-?\d+/.test(rest[0] ?? "") || this.#say(first, "hash-threshold takes a number");
      if (right) this.#threshold = parseInt(rest[0], 10);
    } else {
      right = word === "halt" || this.#say(first, `unknown record '${word}'`);
      this.failed += !right;
      return false;
    }
    this.failed += !right;
    return true;
  }

  #statement(first, verdict, wanted) {
    const sql = sqlOf(this.#read().lines);
    let message = null;
    if (verdict !== "ok" && verdict !== "error") return this.#say(first, `expected 'statement ok' or 'statement error', got '${verdict}'`);
    try {
      this.db.run(sql);
    } catch (error) {
      message = error.message;
    }
    if (verdict === "ok") return message === null || this.#say(first, `statement failed\n  sql:    ${sql}\n  error:  ${message}`);
    const expected = Buffer.from(wanted, "latin1").toString("utf8");
    return (message !== null && message.includes(expected)) ||
           this.#say(first, `statement should fail\n  sql:      ${sql}\n  expected: ${wanted || "an error"}\n  actual:   ${message ?? "ok"}`);
  }

  #query(first, types = "", sort = "", label = "") {
    const { lines, separated } = this.#read(), sql = sqlOf(lines), wanted = separated ? this.#read().lines : [];
    if (!/^[TIR]+$/.test(types)) return this.#say(first, `types must be one or more of T, I and R, got '${types}'`);
    let rows;
    try {
      rows = this.#rows(sql, types);
    } catch (error) {
      if (!error.ran || error.rows > 0 || wanted.length > 0) return this.#say(first, `query failed\n  sql:    ${sql}\n  error:  ${error.message}`);
      rows = [];
    }
    if (!["", "nosort", "rowsort", "valuesort"].includes(sort)) return this.#say(first, `unknown sort mode '${sort}'`);
    if (sort === "rowsort") rows.sort(compareRows);
    const values = rows.flat();
    if (sort === "valuesort") values.sort(byBytes);
    const right = this.#match(first, values, wanted);
    return (label === "" || this.#agrees(first, label, digest(values))) && right;
  }

  /* The rendered rows. Texts are SQLite's own, so a query with texts and numbers runs twice. For a
  ** query that failed while it ran, also the error and the number of rows before it. */
  #rows(sql, types) {
    let ran = false, count = 0;
    const read = (asText) => {
      const rows = [];
      const head = (columns) => {
        ran = true;
        if (columns.length !== types.length) throw Object.assign(new Error(`expected ${types.length} columns, got ${columns.length}`), { rows: 1 });
      };
      this.db.each(sql, [], (row) => { rows.push(row); count = rows.length; }, { asText, head });
      return rows;
    };
    try {
      const texts = read(true), values = /[IR]/.test(types) ? read(false) : texts;
      if (!ran) throw new Error(`expected ${types.length} columns, got 0`);
      return values.map((row, i) => row.map((value, j) => render(value, texts[i][j], types[j])));
    } catch (error) {
      throw Object.assign(error, { ran, rows: error.rows ?? count });
    }
  }

  /* Values against the lines of the script, or the hash of many against its one line. */
  #match(first, values, wanted) {
    if (this.#threshold > 0 && values.length > this.#threshold) {
      const text = `${values.length} values hashing to ${digest(values)}`;
      return (wanted.length === 1 && wanted[0].text === text) ||
             this.#say(first, `wrong hash\n  expected: ${wanted[0]?.text ?? "nothing"}\n  actual:   ${text}`);
    }
    const wrong = values.findIndex((value, i) => i < wanted.length && value !== wanted[i].text);
    if (wrong >= 0) return this.#say(wanted[wrong].number, `wrong value\n  expected: ${wanted[wrong].text}\n  actual:   ${values[wrong]}`);
    return values.length === wanted.length || this.#say(first, `expected ${wanted.length} values, got ${values.length}`);
  }

  /* Results of one label must all have one hash.  A label's first use sets it. */
  #agrees(first, label, hash) {
    if (!this.#labels.has(label)) this.#labels.set(label, hash);
    return this.#labels.get(label) === hash || this.#say(first, `result differs from an earlier one labelled '${label}'`);
  }

  /* Passes over a record.  A query still holds its label to the results in the script. */
  #skip(line, first) {
    const [word, , , label] = words(line.text), { separated } = this.#read();
    if (word !== "query" || !separated) return true;
    const wanted = this.#read().lines.map(({ text }) => text);
    if (!label || wanted.length === 0) return true;
    return this.#agrees(first, label, / values hashing to (.*)/.exec(wanted[0])?.[1] ?? digest(wanted));
  }
}

const totals = { passed: 0, failed: 0, skipped: 0 };
for (const path of given) {
  const script = new Script(path);
  for (const count of Object.keys(totals)) totals[count] += script[count];
}
console.log(`${totals.passed} passed, ${totals.failed} failed${totals.skipped ? `, ${totals.skipped} skipped` : ""}`);
process.exit(totals.failed ? 1 : 0);
