/*
** Computes every reference by the shipped evalci.wasm, and compares each digit with those of the
** native library, which `references --digits` printed to a file:
**
**     node tests/page/digits.mjs DIGITS.txt FILE.csv...
**
** A line of a file becomes a call as in tests/numeric/references.c, which also checks how far each
** result is from its reference.
*/
import { readFileSync } from "node:fs";

import { load } from "../../build/page/evalci.mjs";
import { check, finish } from "./checks.mjs";

const MOST_APART = 4; // units in the last place
const evalci = await load();
const db = evalci.open();

/* The functions that have references: their arguments by name, and whether each is a word. */
function catalogue() {
  const lines = readFileSync("tests/catalogue.txt", "utf8").split("\n").map((line) => line.trim().split(/\s+/));
  const words = new Set(lines.filter(([what, , kind]) => what === "argument" && kind.startsWith("word")).map(([, name]) => name));
  const functions = new Map();
  for (const [what, kind, result, , , , , bar, ...signature] of lines)
    if (what === "function" && bar !== "-") {
      const [name, ...args] = signature.join(" ").split(/[(),[\]\s]+/).filter(Boolean);
      functions.set(name, { name, args, kind, result });
    }
  return { functions, words };
}

const { functions, words } = catalogue();

/* A whole number is an integer; NULL is null. */
function number(text) {
  if (text === "NULL") return null;
  const value = Number(text);
  return Number.isInteger(value) && Math.abs(value) < 2 ** 60 ? BigInt(value) : value;
}

/* Fills the table input; gives how many columns it has. */
function readRows(text) {
  const rows = text.trim().split(" ").map((row) => row.split("x")), columns = rows[0][0].split("/").length;
  db.run(`DROP TABLE IF EXISTS input; CREATE TABLE input(${Array.from({ length: columns }, (_, i) => `c${i}`).join(", ")}); BEGIN`);
  const insert = `INSERT INTO input SELECT ${"?, ".repeat(columns).slice(0, -2)} FROM generate_series(1, ?)`;
  for (const [values, times = "1"] of rows) db.run(insert, [...values.split("/").map(number), number(times)]);
  db.run("COMMIT");
  return columns;
}

/* Lower and upper bound, or the probability in both; of the models exchanged, k_b for
** k_a and so on. */
function ask(f, given, exchanged) {
  const columns = given.rows ? readRows(given.rows) : 0, values = [];
  for (const name of f.args.slice(columns)) {
    const text = given[exchanged ? name.replace(/_([ab])$/, (_, model) => (model === "a" ? "_b" : "_a")) : name];
    /* The columns lo and hi are the bounds; the range of scores, which comes last, is 0 to 1. */
    if (text === undefined || name === "lo") break;
    values.push(words.has(name) ? text : number(text));
  }
  const call = [...Array.from({ length: columns }, (_, i) => `c${i}`), ...values.map(() => "?")].join(", ");
  const [[result]] = db.query(`SELECT ${f.name}(${call})${columns ? " FROM input" : ""}`, values).rows;
  if (typeof result === "number") return [result, result];
  return typeof result === "string" ? result.slice(1, -1).split(",").map(Number) : [NaN, NaN];
}

/* C's %a. */
function fromHex(text) {
  const [, sign, whole, fraction = "", exponent] = /^(-?)0x(\d)\.?([0-9a-f]*)p([-+]\d+)$/.exec(text) ?? [];
  if (whole === undefined) return text.includes("inf") ? (text.startsWith("-") ? -Infinity : Infinity) : NaN;
  const size = parseInt(whole + fraction, 16) * 2 ** (-4 * fraction.length);
  return (sign ? -1 : 1) * size * 2 ** Math.max(exponent, -1000) * 2 ** Math.min(Number(exponent) + 1000, 0);
}

/* A double as a whole number, of which neighbours are one apart. */
function place(value) {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const whole = bits.getBigInt64(0);
  return whole < 0n ? -(whole & 0x7fffffffffffffffn) : whole;
}

function apart(a, b) {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b) ? 0 : Infinity;
  return Math.abs(Number(place(a) - place(b)));
}

const [native, ...files] = process.argv.slice(2);
const wanted = readFileSync(native, "utf8").split("\n").filter((line) => line.startsWith("digits ")).map((line) => line.split(" ").slice(1));
const worst = new Map();
let asked = 0;
for (const file of files) {
  const [head, ...lines] = readFileSync(file, "utf8").trimEnd().split(/\r?\n/).map((line) => line.split(","));
  for (const line of lines) {
    const given = Object.fromEntries(head.map((name, i) => [name, line[i]]));
    const f = ["", "_ci_counts", "_counts"].map((ending) => functions.get(given.method + ending)).find(Boolean);
    const [name, ...digits] = wanted[asked++] ?? [];
    if (!check(`${file}: ${line.join(",").slice(0, 90)}: asked as ${name}`, f && name === f.name)) continue;
    const got = ask(f, given, false);
    if (f.result === "probability") [got[1]] = ask(f, given, true);
    const units = Math.max(...got.map((value, i) => apart(value, fromHex(digits[i]))));
    worst.set(name, Math.max(worst.get(name) ?? 0, units));
    check(`${name}: ${line.join(",").slice(0, 90)}: ${got} is ${units} units in the last place from the native library`, units <= MOST_APART);
  }
}
check(`as many references as the native library had, ${asked} of ${wanted.length}`, asked === wanted.length && asked > 3000);
check("every function that has references", worst.size === functions.size);
const other = [...worst].filter(([, units]) => units > 0);
console.log(`${asked} references of ${worst.size} functions, digits ${other.length ? `apart by units in the last place: ${other.map(([name, units]) => `${name} ${units}`).join(", ")}` : "equal"}`);
finish();
