/*
** Tests what evalci.mjs promises about connections, files and errors:  node tests/page/api.mjs
*/
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { load } from "../../build/page/evalci.mjs";
import { SQLITE, check, finish, same } from "./checks.mjs";

const scratch = mkdtempSync(join(tmpdir(), "evalci-"));
const evalci = await load();

/* What a call throws, or what it gives. */
function refusal(call) {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

function values() {
  const db = evalci.open();
  const bytes = Uint8Array.of(0, 255, 1);
  const given = [1, -1.5, null, "naïve \u{1F600} \0 end", "\ufeffmarked", bytes, 2n ** 62n, true, 9007199254740991, 1e300, "", new Uint8Array(0), undefined];
  const [row] = db.query(`SELECT ${given.map(() => "?").join(", ")}`, given).rows;
  same("values come back", row.slice(0, 5), given.slice(0, 5));
  check("a blob", row[5] instanceof Uint8Array && row[5].join() === "0,255,1");
  same("the rest", row.slice(6, 11), [2n ** 62n, 1, 9007199254740991, 1e300, ""]);
  check("a blob of nothing", row[11] === null || row[11].length === 0);
  same("undefined is NULL", row[12], null);
  same("by name", db.query("SELECT @a, :b, $c, @missing", { a: 1, b: "two", c: 3.5 }).rows, [[1, "two", 3.5, null]]);
  same("types", db.query("SELECT typeof(?), typeof(?), typeof(?), typeof(?)", [1, 1.5, "1", bytes]).rows, [["integer", "real", "text", "blob"]]);
  same("as texts", db.run("SELECT 1.0, 2, NULL, 0.1, 9007199254740993", [], { asText: true })[0].rows, [["1.0", "2", null, "0.1", "9007199254740993"]]);
  same("every statement that has rows", db.run("SELECT 1 AS a; CREATE TABLE t(x); SELECT 2 AS b WHERE 0; -- end\n").map(({ columns, rows }) => [columns, rows]),
       [[["a"], [[1]]], [["b"], []]]);
  same("nothing", db.query(" -- nothing"), { columns: [], rows: [] });
  check("no value", refusal(() => db.query("SELECT ?", [{}])) instanceof TypeError);
  check("an integer too large", refusal(() => db.query("SELECT ?", [2n ** 64n])) instanceof TypeError);
  const seen = [];
  db.each("SELECT value FROM generate_series(1, 1000000)", [], ([value]) => { seen.push(value); return value < 3; });
  same("each() ends when it is told", seen, [1, 2, 3]);
  const wide = db.query("SELECT value, value * 2 FROM generate_series(1, 100000)").rows;
  same("many rows", [wide.length, wide.at(-1)], [100000, [100000, 200000]]);
  db.close();
}

function errors() {
  const db = evalci.open();
  const syntax = refusal(() => db.query("SELECT 'é';\nSELECT 1 FROM nowhere WHERE"));
  same("what cannot be read", [syntax.name, syntax.message, syntax.code], ["SqliteError", "incomplete input", 1]);
  const absent = refusal(() => db.query("SELECT 'é'; SELECT absent"));
  same("the place of an error", [absent.message, absent.offset], ["no such column: absent", 19]);
  const counts = refusal(() => db.query("SELECT bayes_ci_counts(21, 20)"));
  same("evalci's own", counts.message, "bayes_ci_counts: k must be at most n, got k = 21 and n = 20; k is how many of n");
  db.run("CREATE TABLE t(x UNIQUE); INSERT INTO t VALUES (1)");
  same("a constraint", refusal(() => db.run("INSERT INTO t VALUES (1)")).message, "UNIQUE constraint failed: t.x");
  same("and the connection goes on", db.query("SELECT count(*) FROM t").rows, [[1]]);
  const deep = `SELECT ${"(".repeat(2000)}1${")".repeat(2000)}`;
  check("nested deeply", /parser stack overflow|Expression tree is too large/.test(refusal(() => db.query(deep)).message));
  same("a sum of a thousand", db.query(`SELECT ${Array(999).fill("1").join("+")}`).rows, [[999]]);
  same("a sum of too many", refusal(() => db.query(`SELECT ${Array(5000).fill("1").join("+")}`)).message, "Expression tree is too large (maximum depth 1000)");
  same("JSON as deep as SQLite reads it", db.query("SELECT json_valid(?)", [`${"[".repeat(1999)}${"]".repeat(1999)}`]).rows, [[1]]);
  const large = refusal(() => db.query("WITH r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM (SELECT x, zeroblob(100000000) AS b FROM r ORDER BY b)"));
  check(`more than the memory there is: ${large.message}`, /out of memory|database or disk is full/.test(large.message));
  const many = db.query("SELECT macro_ci_counts(value % 1000, 1000 + value) FROM generate_series(1, 400000)").rows[0][0];
  same("four hundred thousand tasks", many.slice(0, 12), "[0.007280577");
  same("and goes on", db.query("SELECT bayes_ci_counts(18, 20)").rows[0][0].slice(0, 8), "[0.69622");
  db.close();
  same("nothing is left of it", evalci.memoryUsed(), 0);
  check("a file that is no database", /file is not a database/.test(refusal(() => {
    const other = evalci.open(evalci.files.add("no.db", "this is text, and long enough to be read as a page".repeat(100)));
    try { return other.query("SELECT * FROM sqlite_schema"); } finally { other.close(); }
  }).message));
  check("a file that is not there", /unable to open database file/.test(refusal(() => evalci.open("/files/absent.db").query("SELECT * FROM t")).message));
  evalci.files.clear();
}

function stopping() {
  const db = evalci.open(), endless = "WITH r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r";
  let asked = 0;
  evalci.progress = () => ++asked === 20;
  same("progress stops it", refusal(() => db.query(endless)).message, "interrupted");
  same("after it was asked", asked, 20);
  evalci.progress = () => { asked++; db.interrupt(); };
  same("so does interrupt()", refusal(() => db.query(endless)).message, "interrupted");
  evalci.progress = undefined;
  same("and the connection goes on", db.query("SELECT 1").rows, [[1]]);
  db.close();
}

/* A Blob that Node reads as a worker would. */
class Bytes extends Blob {
  constructor(bytes) {
    super([]);
    this.bytes = bytes;
  }
  get size() { return this.bytes.length; }
  slice(from, to) { Bytes.read.push(from); return new Bytes(this.bytes.subarray(from, to)); }
  static read = [];
  static gone = false;
}

function files() {
  const path = join(scratch, "evals.db");
  const db = evalci.open();
  db.run("CREATE TABLE results(model, task, item, correct); INSERT INTO results SELECT 'm' || value % 3, 't', value, value % 7 > 2 FROM generate_series(1, 200000)");
  writeFileSync(path, db.serialize());
  const query = "SELECT model, bayes_ci(correct) FROM results GROUP BY model ORDER BY model", wanted = db.query(query).rows;
  same("a database serialized is one for SQLite",
       execFileSync("sqlite3", [...SQLITE, path, "PRAGMA integrity_check; SELECT count(*) FROM results"], { encoding: "utf8" }), "ok\n200000\n");
  db.close();

  check("a Blob outside of a worker", /needs a worker/.test(refusal(() => evalci.files.add("evals.db", new Bytes(new Uint8Array(1)))).message));
  globalThis.FileReaderSync = class {
    readAsArrayBuffer(blob) {
      if (Bytes.gone) throw new Error("the file has changed");
      return Uint8Array.from(blob.bytes).buffer;
    }
  };
  const bytes = readFileSync(path);
  const given = evalci.files.add("folder/../evals.db", new Bytes(bytes), Date.UTC(2026, 0, 2, 3, 4));
  same("its path", given, "/files/folder/evals.db");
  same("nothing of it is read before it is asked for", Bytes.read.length, 0);
  const reader = evalci.open(given);
  same("a database that is read by pieces", reader.query(query).rows, wanted);
  check(`each piece once, ${Bytes.read.length} for ${bytes.length} bytes`, Bytes.read.length <= Math.ceil(bytes.length / 2 ** 20));
  same("cannot be written", refusal(() => reader.run("DELETE FROM results")).message, "attempt to write a readonly database");
  check("the report has its name and its time", /evals\.db<\/span>; this page was made on \d{4}(-\d\d){2} \d\d:\d\d UTC/.test(evalci.report(reader)));
  reader.close();
  check("its bytes", Buffer.compare(Buffer.from(evalci.files.read(given)), bytes) === 0);
  same("listed", evalci.files.list(), ["/files/folder/evals.db"]);
  evalci.files.add("evals.db", new Bytes(bytes));
  const lost = evalci.open("/files/evals.db");
  lost.query("SELECT 1 FROM sqlite_schema");
  Bytes.gone = true;
  same("a file that went away", refusal(() => lost.query("SELECT count(*), sum(item) FROM results")).message, "disk I/O error");
  Bytes.gone = false;
  same("and is there again", lost.query("SELECT count(*) FROM results").rows, [[200000]]);
  lost.close();
  evalci.files.clear();
  same("forgotten", [evalci.files.list(), evalci.files.has(given)], [[], false]);
  check("no name", /not the name of a file/.test(refusal(() => evalci.files.add("../..", "x")).message));

  // In WAL mode: with all rows in the file, and with the latest in the log.
  execFileSync("sqlite3", [...SQLITE, path, "PRAGMA journal_mode = wal", "INSERT INTO results VALUES ('late', 't', 1, 1)"]);
  evalci.files.add("evals.db", new Bytes(readFileSync(path)));
  const whole = evalci.open("/files/evals.db");
  same("a database in WAL mode", whole.query("SELECT count(*) FROM results").rows, [[200001]]);
  whole.close();
  execFileSync("sqlite3", [...SQLITE, path, "PRAGMA wal_autocheckpoint = 0", "INSERT INTO results VALUES ('later', 't', 1, 1)", `.shell cp ${path} ${path}.copy; cp ${path}-wal ${path}.copy-wal`]);
  for (const suffix of ["", "-wal"]) evalci.files.add(`evals.db${suffix}`, new Bytes(readFileSync(`${path}.copy${suffix}`)));
  const logged = evalci.open("/files/evals.db");
  same("and its log", logged.query("SELECT count(*) FROM results").rows, [[200002]]);
  logged.close();
  evalci.files.clear();
}

function module_() {
  same("the version", evalci.version, /EVALCI_VERSION "(.*)"/.exec(readFileSync("ext/evalci.h", "utf8"))[1]);
  same("a file of sql/", evalci.sql("schema"), readFileSync("sql/schema.sql", "utf8"));
  const files = readdirSync("sql", { recursive: true }).filter((name) => name.endsWith(".sql"));
  same("all of them", [...evalci.sqlNames].sort(), files.sort());
  check("no such file", /no file "nothing"; there are .*schema\.sql/.test(refusal(() => evalci.sql("nothing")).message));
  const text = readFileSync("build/page/evalci.mjs", "utf8");
  for (const told of ["GNU General Public License", "Rich Felker", "Emscripten Authors", "zlib", "Meta Platforms", "WITHOUT WARRANTY"])
    check(`the module names ${told}`, text.includes(told));
  check("no code is made from text", !/\beval\(|new Function/.test(text));
}

async function loading() {
  const bytes = readFileSync("build/page/evalci.wasm");
  for (const [what, wasm] of [["bytes", bytes], ["a module", new WebAssembly.Module(bytes)], ["a response", new Response(bytes)]])
    same(`load() by ${what}`, (await load({ wasm })).version, evalci.version);
  const error = await load({ wasm: Uint8Array.of(1, 2, 3, 4) }).catch((refused) => refused);
  check(`load() of something else: ${error}`, error instanceof WebAssembly.CompileError);
}

values();
errors();
stopping();
files();
module_();
await loading();
rmSync(scratch, { recursive: true });
finish();
