/*
** Compares imports and reports in WebAssembly with those of the program evalci, on the same files:
** rows, summaries, errors and pages must be the same.
**
**     PYTHON=python3 node tests/page/imports.mjs EVALCI
**
** EVALCI is the program of `make dist`, which has the same libm.
*/
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

import { load } from "../../build/page/evalci.mjs";
import { SQLITE, check, finish, same } from "./checks.mjs";

const FIXTURES = "tests/views/adapters";
const PROGRAM = resolve(process.argv[2]);
const MOST_TOLD = 20; // lines that the program prints
const scratch = mkdtempSync(join(tmpdir(), "evalci-"));
const evalci = await load();

function run(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28, ...options });
  return { status: done.status, out: done.stdout, err: done.stderr };
}

const sqlite = (database, ...commands) => run("sqlite3", [...SQLITE, database, ...commands]).out;

/* Runs the program on a terminal so wide that no cell is wrapped. */
function wide(args) {
  const quoted = [PROGRAM, ...args].map((arg) => `'${arg.replaceAll("'", "'\\''")}'`).join(" ");
  return run("script", ["-qec", `stty cols 4000; exec ${quoted}`, "/dev/null"]).out.replaceAll("\r", "").replace(/\x1b\[\d*m/g, "");
}

/* The cells of a table that the program printed, by the line under its heads. */
function cells(text) {
  const [head, rule, ...rows] = text.split("\n"), places = [];
  for (const { index, 0: { length } } of rule.matchAll(/─+/g)) places.push([index, index + length]);
  const cut = (line) => places.map(([from, to]) => line.slice(from, to).trim());
  return [head, ...rows.slice(0, rows.indexOf(""))].map(cut);
}

/* The summary as the program prints it, without empty columns. */
function printed({ columns, rows }) {
  const names = { path: "file", n: "rows" }, written = { mean: (value) => String(Number(value.toPrecision(4))), errored: (value) => (value ? String(value) : "") };
  const shown = ["path", "model", "task", "metric", "n", "mean", "errored", "note"].map((name) => {
    const values = rows.slice(0, MOST_TOLD).map((row) => row[columns.indexOf(name)]);
    return [names[name] ?? name, ...values.map((value) => (value === null ? "" : (written[name] ?? String)(value).trim()))];
  }).filter(([head, ...values]) => head === "file" || head === "rows" || values.some((value) => value !== ""));
  return shown[0].map((_, i) => shown.map((column) => column[i]));
}

/* A choice as an option of the program. */
function option([name, value]) {
  if (["model", "task"].includes(name)) return [`--${name}-name`, value];
  return [`--${name.replace("_column", "")}`, value];
}

let cases = 0;
/* A folder of these files, by name, on disk; and given to evalci under the same names. */
function give(files) {
  const folder = join(scratch, `case${++cases}`, "files");
  evalci.files.clear();
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const bytes = typeof content === "string" || content instanceof Uint8Array ? content : JSON.stringify(content);
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
    evalci.files.add(name, Buffer.from(bytes));
  }
  return folder;
}

/* The files under a directory. */
function under(directory) {
  const names = readdirSync(directory, { recursive: true }).filter((name) => statSync(join(directory, name)).isFile());
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name))]));
}

const timeless = (text) => text.replace(/this page was made on [-0-9: ]+ UTC/, "");

/* One import, both ways. */
function importing(what, format, files, { path = "", refused = false, ...choices } = {}) {
  const folder = give(files), database = join(folder, "../evals.db"), given = join(folder, path);
  const options = Object.entries(choices).map(([name, value]) => [name, name === "items" ? join(folder, value) : value]).flatMap(option);
  const onPage = { ...choices, ...(choices.items ? { items: `/files/${choices.items}` } : {}) };
  const native = run(PROGRAM, ["import", given, "-o", database, ...options]);
  check(`${what}: ${refused ? "refused" : "taken"} by the program: ${native.err}`, (native.status !== 0) === refused);
  const sameFolder = (text) => text.replaceAll(folder, "/files");
  let got;
  try {
    got = evalci.importFiles(path ? `/files/${path}` : undefined, onPage);
  } catch (error) {
    same(`${what}: the program's error`, `evalci import: ${error.message}\n`, sameFolder(native.err));
    check(`${what}: nothing is left of it`, !evalci.files.has("/databases/evals.db"));
    return;
  }
  if (check(`${what}: taken, as by the program: ${native.err}`, native.status === 0)) {
    same(`${what}: its format`, got.format, format);
    const rows = `SELECT * FROM ${got.table} ORDER BY 1, 2, 3, 4`;
    const wanted = JSON.parse(sqlite(database, ".mode json", rows)).map(Object.values);
    same(`${what}: its rows`, got.db.query(rows).rows.map((row) => row.map((value) => (got.table === "votes" && typeof value === "string" ? value.replace("/files", folder) : value))), wanted);
    same(`${what}: what is told`, printed(got.told), cells(wide(["import", given, "-o", join(folder, "../again.db"), ...options])).map((row) => row.map(sameFolder)));
    const forReport = options.filter((_, i) => ![options[i], options[i - 1]].includes("--keep"));
    // The program reads a table of a database in place.
    if (!choices.table) reporting(what, got.db, { source: got.table, origin: basename(given) }, run(PROGRAM, ["report", given, ...forReport]));
  }
  got.db.close();
  evalci.files.remove("/databases/evals.db");
}

/* The report over a table, and the program's report over the same. */
function reporting(what, db, options, native) {
  let got;
  try {
    got = `${evalci.report(db, options)}\n`;
  } catch (error) {
    const [reason] = error.message.replace(/^eval_\w+: /, "").split(/;|, which options/);
    check(`${what}: no report, for the same reason: ${reason}\n${native.err}`, native.err.includes(reason) && native.status === 3);
    return;
  }
  check(`${what}: the report is the program's: ${native.err}`, timeless(got) === timeless(native.out) && got.length > 4000);
}

/* A database read in place, both ways. */
function inPlace(what, database) {
  evalci.files.clear();
  const path = evalci.files.add(basename(database), readFileSync(database));
  same(`${what}: it is read as it lies`, evalci.inPlace(), path);
  const db = evalci.open(path);
  reporting(what, db, { source: evalci.tableOf(db) }, run(PROGRAM, ["report", database]));
  db.close();
}

const HEAD = "model,task,item,attempt,correct,score\n";

function tables() {
  importing("csv", "csv", { "named.csv": `${HEAD}m,t,1,1,1,0.7\nm,t,1,2,0,0.2\n"n,""1""",u,007,1,yes,\n` }, { path: "named.csv" });
  importing("csv of Windows", "csv", { "w.csv": "\ufeffmodel;item;correct\r\na;\"1\n2\";1\r\na;2;0\r\nb;2;yes\r\n" }, { path: "w.csv" });
  importing("csv by tabs", "csv", { "w.tsv": "model\titem\tscore\na\t1\t0.5\na\t2\t0.25\n" }, { path: "w.tsv" });
  importing("csv with a range", "csv", { "r.csv": "item,score\n1,3\n2,10\n3,1\n" }, { path: "r.csv", model: "m", task: "it's", lo: "1", hi: "10" });
  importing("csv with a range that is too narrow", "csv", { "r.csv": "item,score\n1,3\n2,10\n3,1\n" }, { path: "r.csv", model: "m", lo: "1", hi: "9", refused: true });
  importing("csv of other columns", "csv", { "c.csv": "who,asked,try,right,of\na,1,1,1,x\na,2,1,0,y\n" },
            { path: "c.csv", model_column: "who", item_column: "asked", attempt_column: "try", correct_column: "right", task_column: "of", keep: "of" });
  importing("two tables together", "csv", { "a.csv": "model,item,correct\na,1,1\n", "b.csv": "model,item,correct\nb,1,0\n" });
  importing("JSON lines, told so", "json", { "a.jsonl": '{"model": "m", "item": 1, "correct": true}\n' }, { path: "a.jsonl", from: "json" });
  importing("csv, repeated rows", "csv", { "bad.csv": "model,item,correct\nm,1,1\nm,2,1\n\nm,1,0\n" }, { path: "bad.csv" });
  importing("csv, hostile labels", "csv", { "bad.csv": "model,task,item,correct\n<script>alert(1)</script>,\"</style><img src=x onerror=alert(1)>\",'; DROP TABLE results; --,1\nevil,t,1,0\n" },
            { path: "bad.csv" });
  for (const [what, text] of Object.entries({
    "invalid words": `${HEAD}m,t,1,1,maybe,\nm,t,2,1,1,\nm,t,3,1,0.5,\nm,t,4,1,,good\nm,t,5,1,,1e999\n`,
    "blanks": `${HEAD},t,1,1,1,\nm,t,,1,1,\nm,t,3,,1,\nm,t,3,1.5,1,\n`,
    "rows of another length": `${HEAD}m,t,1,1\nm,t,2,1,1,,\n`,
    "a quote that stays open": `${HEAD}m,t,1,1,1,\nm,"t,2,1,1,\nm,t,3,1,1,\n`,
    "no item": "model,correct\nm,1\n",
    "a header alone": HEAD,
    "nothing": "",
    "UTF-16": Buffer.from(`\ufeff${HEAD}`, "utf16le"),
    "Latin-1": Buffer.from("model,item,correct\né,1,1\n", "latin1"),
    "many bad lines": HEAD + "m,t,1,1,maybe,\n".repeat(30),
  })) importing(`csv, ${what}`, "csv", { "bad.csv": text }, { path: "bad.csv", refused: true });
}

function logs() {
  importing("lm_eval", "lm_eval", under(`${FIXTURES}/lm_eval`));
  importing("lm_eval, one file", "lm_eval", { "out/samples_t_2025-01-02T03-04-05.678901.jsonl": '{"doc_id": 1, "filter": "none", "metrics": ["acc"], "acc": 1}\n' });
  importing("lm_eval, a metric", "lm_eval", under(`${FIXTURES}/lm_eval`), { metric: "acc_norm", model: "one" });
  importing("lm_eval, a metric that is not there", "lm_eval", under(`${FIXTURES}/lm_eval`), { metric: "none such", refused: true });
  importing("lm_eval without ids", "lm_eval", { "m/samples_t_2025-01-02T03-04-05.678901.jsonl": '{"filter": "none", "metrics": ["acc"], "acc": 1}\n' }, { refused: true });
  importing("inspect", "inspect", under(`${FIXTURES}/inspect`));
  importing("inspect, NaN", "inspect", { "a.json": '{"eval": {"model": "m", "task": "t"}, "status": "success", "samples": [{"id": 1, "epoch": 1, "scores": {"s": {"value": NaN}}}, {"id": 2, "epoch": 1, "scores": {"s": {"value": "C"}}}]}' });
  importing("inspect, a sample without an id", "inspect", { "a.json": { eval: { model: "m", task: "t" }, status: "success", samples: [{ epoch: 1 }] } }, { refused: true });
}

/* What tests/import writes of each tool. */
function made() {
  const home = join(scratch, "made");
  execFileSync(process.env.PYTHON ?? "python3", ["tests/page/fixtures.py", home]);
  const formats = { jsonl: "json", promptfoo: "promptfoo_output", zstd: "inspect" };
  for (const name of readdirSync(home)) importing(`made: ${name}`, formats[name] ?? name, under(join(home, name)));
  const archive = readFileSync(join(home, "zstd/arith.eval"));
  importing("inspect, an archive cut short", "inspect", { "made.eval": archive.subarray(0, 300) }, { path: "made.eval", refused: true });
  importing("MLflow, a metric", "mlflow", under(join(home, "mlflow")), { path: "mlflow.db", metric: "length" });
  importing("MLflow, a metric that is not there", "mlflow", under(join(home, "mlflow")), { path: "mlflow.db", metric: "none such", refused: true });
  importing("counts and answers", "", { ...under(join(home, "counts")), ...under(join(home, "jsonl")) }, { refused: true });
}

function benchmarks() {
  const ids = { resolved_ids: ["django__django-1"], unresolved_ids: ["django__django-2"], empty_patch_ids: [], error_ids: ["a-b__c-d-8"], incomplete_ids: ["odd"] };
  importing("swebench", "swebench", { "gpt.run1.json": ids, "other.json": { a: 1 }, "pro/claude/eval_results.json": { [`instance_own__repo-${"0123456789".repeat(4)}`]: true } });
  importing("swebench, a list", "swebench", { "agent/results/results.json": { resolved: ["django__django-1"], no_logs: [] } }, { path: "agent", refused: true });
  importing("swebench, a list and what was asked", "swebench", { "agent/results/results.json": { resolved: ["django__django-1"] }, "ids.txt": "django__django-1\ndjango__django-2\n" },
            { path: "agent", items: "ids.txt" });
  const trial = (task_id, number, reward, name = "cancel_reservation") => ({ task_id, trial: number, reward, info: { task: { actions: [{ name }] } }, traj: [] });
  importing("tau_bench", "tau_bench", { "gpt-4o_range_0.json": [trial(0, 0, 1), trial(0, 1, 0), trial(1, 0, 0.5)], "empty.json": [] });
  importing("tau_bench, no task", "tau_bench", { "a.json": [trial(0, 0, 1), { reward: 1 }] }, { refused: true });
  const stats = (instance_id, mean, split = "test") => ({ instance_id, train_trial_index: 0, stats: [{ name: { name: "exact_match", split }, mean }] });
  const helm = { "s/mmlu/per_instance_stats.json": [stats("id1", 1), stats("id2", 0), stats("id3", 1, "valid")],
                 "s/mmlu/run_spec.json": { name: "mmlu:subject=anatomy,model=gpt", adapter_spec: { model: "openai/gpt" } }, "s/mmlu/stats.json": [] };
  importing("helm", "helm", helm);
  importing("helm, a split", "helm", helm, { split: "valid" });
  importing("helm, a metric that is not there", "helm", helm, { metric: "f1_score", refused: true });
}

function databases() {
  for (const tool of ["promptfoo", "phoenix"]) {
    const file = join(scratch, `${tool}.db`);
    sqlite(file, `.read ${FIXTURES}/${tool}.sql`);
    importing(tool, tool, { [`${tool}.db`]: readFileSync(file) }, { path: `${tool}.db` });
    sqlite(file, "PRAGMA journal_mode = wal");
    importing(`${tool} in WAL mode`, tool, { "a b%20?#.db": readFileSync(file) }, { path: "a b%20?#.db", model: "one" });
  }
  const made = (name, ...sql) => {
    sqlite(join(scratch, name), ...sql);
    return join(scratch, name);
  };
  inPlace("a database of results", made("demo.db", `\n${evalci.sql("demo").split("\n\n")[0]}`));
  inPlace("a table of other columns", made("columns.db", "CREATE TABLE results(model, verdict); INSERT INTO results VALUES ('a', 1)"));
  inPlace("a table without rows", made("none.db", "CREATE TABLE results(model, task, item, correct)"));
  inPlace("a view", made("view.db", "CREATE TABLE \"my answers\"(m, q, ok); INSERT INTO \"my answers\" VALUES ('x', 1, 1), ('x', 2, 0), ('y', 1, 1);" +
                         "CREATE VIEW results AS SELECT m AS model, 't' AS task, q AS item, ok AS correct FROM \"my answers\""));
  inPlace("counts", made("counts.db", "CREATE TABLE counts(model, task, k, n); INSERT INTO counts VALUES ('a', 't', 3, 10)"));
  inPlace("12 models, graded and asked again", made("many.db", ".read sql/schema.sql", "INSERT INTO results(model, task, item, attempt, correct, score, error) SELECT 'model ' || m.value, 'task ' || (q.value % 4), q.value, a.value, " +
         "iif(q.value % 4 = 3, NULL, (q.value * 7919 + m.value * 104729 + a.value * 31) % 97 < 40 + 3 * m.value), iif(q.value % 4 = 3, (q.value * m.value % 10) / 10.0, NULL), NULL " +
         "FROM generate_series(1, 12) AS m, generate_series(1, 400) AS q, generate_series(1, 2) AS a"));
  importing("a table of another name", "database", { "mine.db": readFileSync(made("mine.db", "CREATE TABLE mine(model, item, correct); INSERT INTO mine VALUES ('a', 1, 1), ('a', 2, 0)")) },
            { path: "mine.db", table: "mine" });
}

/* Files of no known format, and wrong calls. */
function others() {
  const file = join(scratch, "other.db");
  sqlite(file, "CREATE TABLE notes(x)");
  const other = readFileSync(file), damaged = Buffer.from(other);
  damaged.fill(255, 100, 4096);
  for (const [what, files, path] of [["no file", {}], ["a database of something else", { "x.db": other }, "x.db"], ["two of them", { "x.db": other, "y.db": other }],
                                     ["half a database", { "x.db": other.subarray(0, 50) }, "x.db"], ["a damaged database", { "x.db": damaged }, "x.db"],
                                     ["a picture", { "a.png": Buffer.from("89504e470d0a1a0a0000", "hex") }, "a.png"], ["JSON of something else", { "a.json": { a: 1 } }, "a.json"],
                                     ["what is not JSON", { "a.json": "{" }, "a.json"], ["gzip", { "a.csv": Buffer.from("1f8b0800", "hex") }, "a.csv"],
                                     ["Parquet", { "a.parquet": "PAR1PAR1" }, "a.parquet"], ["a path that is not there", {}, "absent.csv"]]) {
    importing(what, "", files, { path, refused: true });
    same(`${what}: not to be read as it lies`, evalci.inPlace(), undefined);
  }
  const refusal = (call) => { try { call(); return null; } catch (error) { return error.message; } };
  give({ "a.csv": "model,item,correct\na,1,1\n" });
  same("no such choice", refusal(() => evalci.importFiles("/files/a.csv", { modle: "m" })), "there is no choice 'modle'");
  same("no such format", refusal(() => evalci.importFiles("/files/a.csv", { from: "nothing" })), "there is no format nothing; see evalci formats");
  same("a choice that would be two", refusal(() => evalci.importFiles("/files/a.csv", { model: "m\0" })), "evalci: a path or a choice must be a text without \\0");
  same("a range of words", refusal(() => evalci.importFiles("/files/a.csv", { lo: "low" })), "the lowest score must be a number, got 'low'");
  same("a range from above to below", refusal(() => evalci.importFiles("/files/a.csv", { lo: 2 })), "a range of scores must be two numbers, the lower first, got 2.0 and 1.0");
  const once = evalci.importFiles("/files/a.csv", { database: "/databases/mine.db" });
  once.db.close();
  check("into a database that is there, a refusal leaves what it had", refusal(() => evalci.importFiles("/files/absent.csv", { database: "/databases/mine.db" })));
  give({ "b.csv": "model,item,correct\nb,1,0\n" });
  const again = evalci.importFiles("/files/b.csv", { database: "/databases/mine.db" });
  same("and another import adds to it", again.db.query("SELECT model FROM results ORDER BY 1").rows, [["a"], ["b"]]);
  again.db.close();
  evalci.files.clear();
  same("no memory is left in use", evalci.memoryUsed(), 0);
}

tables();
logs();
made();
benchmarks();
databases();
others();
rmSync(scratch, { recursive: true });
finish();
