/*
** Imports and reports in WebAssembly against those of the command line, sql/import.sh and
** sql/report.sh, on the same files: the same rows, the same tables shown, the same
** errors, the same pages.
**
**     node tests/page/imports.mjs LIBRARY.so
**
** LIBRARY is that of `make dist`, whose libm is the same.
*/
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";

import { load } from "../../build/page/evalci.mjs";
import { SQLITE, check, finish, same } from "./checks.mjs";

const ROWS = "SELECT * FROM results ORDER BY task, item, model, attempt";
const FIXTURES = "tests/views/adapters";
const scratch = mkdtempSync(join(tmpdir(), "evalci-"));
const evalci = await load();

// A home for the scripts, with the library that has the same libm.
const home = join(scratch, "home");
mkdirSync(join(home, "build"), { recursive: true });
cpSync("sql", join(home, "sql"), { recursive: true });
copyFileSync(process.argv[2], join(home, "build/evalci.so"));

function run(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28, ...options });
  return { status: done.status, out: done.stdout, err: done.stderr };
}

const sqlite = (database, ...commands) => run("sqlite3", [...SQLITE, database, ...commands]).out;

/* The cells of what the shell's box mode prints, its heads among them. */
function cells(text) {
  return text.split("\n").filter((line) => line.startsWith("│")).map((line) => line.split("│").slice(1, -1).map((cell) => cell.trim()));
}

/* Rows as the shell has them; a blob or a number beyond JavaScript's is in none of them. */
const tableOf = (database) => JSON.parse(sqlite(database, ".mode json", ROWS) || "[]").map(Object.values);

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

/* The files under a directory of the project. */
function under(directory) {
  const names = readdirSync(directory, { recursive: true }).filter((name) => statSync(join(directory, name)).isFile());
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name))]));
}

/* One import, both ways; kind is also what the files are taken for. */
function importing(what, kind, files, { path = "", detected = kind, ...choices } = {}) {
  const folder = give(files), database = join(folder, "../evals.db");
  same(`${what}: what it is`, evalci.detect(), detected);
  const environment = Object.fromEntries(Object.entries(choices).map(([name, value]) => [`IMPORT_${name.toUpperCase()}`, value]));
  const shell = run(join(home, "sql/import.sh"), [kind, join(folder, path), database], { cwd: folder, env: { ...process.env, ...environment } });
  let got, error;
  try {
    const told = { ...choices, ...(choices.items ? { items: `/files/${choices.items}` } : {}) };
    got = evalci.importFiles(kind, path ? `/files/${path}` : undefined, told);
  } catch (refused) {
    error = refused;
  }
  const said = (got ?? error).said ?? [];
  const shown = cells(shell.status === 0 ? shell.out : shell.err).map((row) => row.map((cell) => (cell.replace(/\/$/, "") === folder ? "/files" : cell.replaceAll(`${folder}/`, "/files/"))));
  same(`${what}: what is shown`, said.flatMap(({ columns, rows }) => [columns, ...rows.map((row) => row.map((value) => (value ?? "").trim()))]), shown);
  if (shell.status !== 0) {
    if (check(`${what}: refused, as by the shell`, error)) check(`${what}: by the same error, "${error.message}"\n${shell.err}`, shell.err.includes(error.message));
    check(`${what}: nothing is left of it`, !evalci.files.has("/databases/evals.db"));
    got?.db.close();
    return;
  }
  if (!check(`${what}: taken, as by the shell: ${error?.message}`, got)) return;
  same(`${what}: the sum of it`, got.summary, shell.out.trim().split("\n").at(-1));
  same(`${what}: its rows`, got.db.query(ROWS).rows, tableOf(database));
  reporting(what, database);
  got.db.close();
  evalci.files.remove("/databases/evals.db");
}

/* The page over a database, both ways. */
function reporting(what, database) {
  utimesSync(database, 1767322800, 1767322800);
  const page = join(scratch, "page.html"), shell = run(join(home, "sql/report.sh"), [database, page]);
  evalci.files.clear();
  const db = evalci.open(evalci.files.add(relative(scratch, database), readFileSync(database), 1767322800000));
  const timeless = (text) => text.replace(/this page was made on [-0-9: ]+ UTC/, "");
  let got;
  try {
    got = evalci.report(db);
  } catch (error) {
    got = error.message;
  }
  db.close();
  if (shell.status !== 0) check(`${what}: no report, by the same error: ${got}\n${shell.err}`, shell.err.includes(got));
  else check(`${what}: the report is the shell's`, timeless(got) === timeless(readFileSync(page, "utf8")) && got.length > 4000);
}

const HEAD = "model,task,item,attempt,correct,score\n";
const DIFFERENT = { "named.csv": `${HEAD}m,t,1,1,1,0.7\nm,t,1,2,0,0.2\n"n,""1""",u,007,1,yes,\n` };

function tables() {
  importing("csv", "csv", DIFFERENT, { path: "named.csv" });
  importing("csv of Windows", "csv", { "w.csv": "\ufeffmodel;item;correct\r\na;\"1\n2\";1\r\na;2;0\r\nb;2;ja\r\n" }, { path: "w.csv" });
  importing("csv by tabs", "csv", { "w.tsv": "model\titem\tscore\na\t1\t0.5\na\t2\t0.25\n" }, { path: "w.tsv" });
  importing("csv with a range", "csv", { "r.csv": "item,score\n1,3\n2,10\n3,1\n" }, { path: "r.csv", model: "m", task: "it's", lo: "1", hi: "10" });
  importing("csv with a range that is too narrow", "csv", { "r.csv": "item,score\n1,3\n2,10\n3,1\n" }, { path: "r.csv", model: "m", lo: "1", hi: "9" });
  for (const [what, text] of Object.entries({
    "words that are none": `${HEAD}m,t,1,1,maybe,\nm,t,2,1,1,\nm,t,3,1,0.5,\nm,t,4,1,,good\nm,t,5,1,,1e999\n`,
    "blanks": `${HEAD},t,1,1,1,\nm,t,,1,1,\nm,t,3,,1,\nm,t,3,1.5,1,\n`,
    "repeated rows": "model,item,correct\nm,1,1\nm,2,1\n\nm,1,0\n",
    "rows of another length": `${HEAD}m,t,1,1\nm,t,2,1,1,,\n`,
    "a quote that stays open": `${HEAD}m,t,1,1,1,\nm,"t,2,1,1,\nm,t,3,1,1,\n`,
    "no item": "model,question,correct\nm,1,1\n",
    "a header alone": HEAD,
    "UTF-16": Buffer.from(`\ufeff${HEAD}`, "utf16le"),
    "Latin-1": Buffer.from("model,item,correct\né,1,1\n", "latin1"),
    "many bad lines": HEAD + "m,t,1,1,maybe,\n".repeat(30),
    "hostile labels": "model,task,item,correct\n<script>alert(1)</script>,\"</style><img src=x onerror=alert(1)>\",'; DROP TABLE results; --,1\n\u202eevil,t,1,0\n",
  })) importing(`csv, ${what}`, "csv", { "bad.csv": text }, { path: "bad.csv" });
}

function logs() {
  importing("lm_eval", "lm_eval", under(`${FIXTURES}/lm_eval`));
  importing("lm_eval, one file", "lm_eval", { "out/samples_t_2025-01-02T03-04-05.678901.jsonl": '{"doc_id": 1, "filter": "none", "metrics": ["acc"], "acc": 1}\n' });
  importing("lm_eval, a metric", "lm_eval", under(`${FIXTURES}/lm_eval`), { metric: "acc_norm", model: "one" });
  importing("lm_eval without ids", "lm_eval", { "m/samples_t_2025-01-02T03-04-05.678901.jsonl": '{"filter": "none", "metrics": ["acc"], "acc": 1}\n' });
  const inspect = under(`${FIXTURES}/inspect`);
  importing("inspect", "inspect", inspect);
  // The same samples as Inspect's archives hold them, stored and deflated by SQLite.
  const log = JSON.parse(inspect["2025-03-01T10-00-00+00-00_arith_a.json"].toString());
  const parts = { "header.json": JSON.stringify({ ...log, samples: undefined }) };
  log.samples.forEach((sample, i) => { parts[`samples/${i}.json`] = JSON.stringify(sample); });
  const archive = join(scratch, "made.eval"), list = Object.entries(parts).map(([name, text]) => `('${name}', '${text.replaceAll("'", "''")}')`);
  sqlite(":memory:", `SELECT writefile('${archive}', zipfile(column1, column2)) FROM (VALUES ${list.join(", ")})`);
  importing("inspect, an archive", "inspect", { "made.eval": readFileSync(archive) });
  importing("inspect, an archive cut short", "inspect", { "made.eval": readFileSync(archive).subarray(0, 300) });
  importing("inspect, NaN", "inspect", { "a.json": '{"eval": {"model": "m", "task": "t"}, "status": "success", "samples": [{"id": 1, "epoch": 1, "scores": {"s": {"value": NaN}}}, {"id": 2, "epoch": 1, "scores": {"s": {"value": "C"}}}]}' });
  importing("inspect, a sample without an id", "inspect", { "a.json": { eval: { model: "m", task: "t" }, status: "success", samples: [{ epoch: 1 }] } });
}

function benchmarks() {
  const ids = { resolved_ids: ["django__django-1"], unresolved_ids: ["django__django-2"], empty_patch_ids: [], error_ids: ["a-b__c-d-8"], incomplete_ids: ["odd"] };
  importing("swebench", "swebench", { "gpt.run1.json": ids, "other.json": { a: 1 }, "pro/claude/eval_results.json": { [`instance_own__repo-${"0123456789".repeat(4)}`]: true } });
  importing("swebench, a list", "swebench", { "agent/results/results.json": { resolved: ["django__django-1"], no_logs: [] } }, { path: "agent" });
  importing("swebench, a list and what was asked", "swebench", { "agent/results/results.json": { resolved: ["django__django-1"] }, "ids.txt": "django__django-1\ndjango__django-2\n" },
            { path: "agent", items: "ids.txt" });
  const trial = (task_id, number, reward, name = "cancel_reservation") => ({ task_id, trial: number, reward, info: { task: { actions: [{ name }] } }, traj: [] });
  importing("tau_bench", "tau_bench", { "gpt-4o_range_0.json": [trial(0, 0, 1), trial(0, 1, 0), trial(1, 0, 0.5)], "empty.json": [] });
  importing("tau_bench, no task", "tau_bench", { "a.json": [trial(0, 0, 1), { reward: 1 }] });
  const stats = (instance_id, mean) => ({ instance_id, train_trial_index: 0, stats: [{ name: { name: "exact_match" }, mean }] });
  importing("helm", "helm", { "s/mmlu/per_instance_stats.json": [stats("id1", 1), stats("id2", 0)],
                              "s/mmlu/run_spec.json": { name: "mmlu:subject=anatomy,model=gpt", adapter_spec: { model: "openai/gpt" } }, "s/mmlu/stats.json": [] });
  importing("helm, another metric", "helm", { "s/mmlu/per_instance_stats.json": [stats("id1", 1)], "s/mmlu/run_spec.json": { name: "mmlu", adapter_spec: { model: "m" } } }, { metric: "f1_score" });
}

function databases() {
  for (const tool of ["promptfoo", "phoenix"]) {
    const made = join(scratch, `${tool}.db`);
    sqlite(made, `.read ${FIXTURES}/${tool}.sql`);
    importing(tool, tool, { [`${tool}.db`]: readFileSync(made) }, { path: `${tool}.db` });
    sqlite(made, "PRAGMA journal_mode = wal");
    importing(`${tool} in WAL mode`, tool, { "a b%20?#.db": readFileSync(made) }, { path: "a b%20?#.db", model: "one" });
  }
  sqlite(join(scratch, "demo.db"), `.load ${join(home, "build/evalci")}`, ".read sql/demo.sql");
  give({ "demo.db": readFileSync(join(scratch, "demo.db")) });
  same("a database of results: what it is", evalci.detect(), "results");
  reporting("a database of results", join(scratch, "demo.db"));
  sqlite(join(scratch, "columns.db"), "CREATE TABLE results(model, verdict); INSERT INTO results VALUES ('a', 1)");
  reporting("a table of other columns", join(scratch, "columns.db"));
  sqlite(join(scratch, "none.db"), "CREATE TABLE results(model, task, item, correct)");
  reporting("a table without rows", join(scratch, "none.db"));
  sqlite(join(scratch, "view.db"), "CREATE TABLE \"my answers\"(m, q, ok); INSERT INTO \"my answers\" VALUES ('x', 1, 1), ('x', 2, 0), ('y', 1, 1);" +
         "CREATE VIEW results AS SELECT m AS model, 't' AS task, q AS item, ok AS correct FROM \"my answers\"");
  reporting("a view", join(scratch, "view.db"));
  const many = join(scratch, "many.db");
  sqlite(many, ".read sql/schema.sql", "INSERT INTO results(model, task, item, attempt, correct, score, error) SELECT 'model ' || m.value, 'task ' || (q.value % 4), q.value, a.value, " +
         "iif(q.value % 4 = 3, NULL, (q.value * 7919 + m.value * 104729 + a.value * 31) % 97 < 40 + 3 * m.value), iif(q.value % 4 = 3, (q.value * m.value % 10) / 10.0, NULL), NULL " +
         "FROM generate_series(1, 12) AS m, generate_series(1, 400) AS q, generate_series(1, 2) AS a");
  reporting("12 models, graded and asked again", many);
  gating(many);
}

/* sql/gate.sql, by the shell of evalci.mjs. */
function gating(database) {
  const shell = run(join(home, "sql/gate.sh"), [database, "model 1", "model 12"]), lines = [];
  const db = evalci.open(evalci.files.add("gate.db", readFileSync(database)));
  const parameters = { baseline: "model 1", candidate: "model 12", margin: 0.02, sure: 0.95 };
  new evalci.Shell(db, ({ rows }) => lines.push(...rows.map((row) => `${row.join("|")}\n`)), parameters, { asText: true }).read("gate");
  db.close();
  check("a gate has lines", shell.out.includes('"result"'));
  same("a gate", lines.join(""), shell.out);
}

/* Files that are nothing of this: what is said of them. */
function others() {
  const said = (files) => {
    give(files);
    return evalci.detect().error;
  };
  const db = join(scratch, "other.db");
  sqlite(db, "CREATE TABLE notes(x)");
  const other = readFileSync(db);
  same("no file", said({}), "there are no files");
  same("an empty file", said({ "a.csv": "" }), '"a.csv" is empty');
  same("a database of something else", said({ "x.db": other }),
       '"x.db" is a database without a table results, and neither promptfoo\'s nor Phoenix\'s; its tables: notes');
  same("two databases", said({ "x.db": other, "y.db": other }), '"x.db" and "y.db" are databases; take one at a time');
  same("half a database", said({ "x.db": other.subarray(0, 50) }), '"x.db": database disk image is malformed');
  const damaged = Buffer.from(other);
  damaged.fill(255, 100, 4096);
  same("a damaged database", said({ "x.db": damaged }), '"x.db": database disk image is malformed');
  same("a picture", said({ "a.png": Buffer.from("89504e470d0a1a0a0000", "hex") }).slice(0, 28), '"a.png" is none of: a databa');
  same("JSON of something else", said({ "a.json": { a: 1 } }).slice(0, 29), '"a.json" is none of: a databa');
  same("what is not JSON", said({ "a.json": "{" }), '"a.json" is not JSON');
  check("lm_eval's results without its samples", /lm_eval writes them to samples_\*\.jsonl/.test(said({ "results_2025.json": { results: {} } })));
  check("lines of JSON by another name", /not named as lm_eval names/.test(said({ "mine.jsonl": "{}\n" })));
  const refusal = (call) => { try { call(); return null; } catch (error) { return error.message; } };
  same("no such tool", refusal(() => evalci.importFiles("nothing")), 'no tool "nothing"; there are csv, helm, inspect, lm_eval, phoenix, promptfoo, swebench, tau_bench');
  same("no such path", refusal(() => evalci.importFiles("csv", "/files/absent.csv")), 'there is no "/files/absent.csv" to import');
  give({ "a.csv": "model,item,correct\na,1,1\n", "b.csv": "model,item,correct\nb,1,0\n" });
  const both = evalci.importFiles(evalci.detect());
  same("two tables together", both.db.query(ROWS).rows.map((row) => row.slice(0, 3)), [["a", "a", 1], ["b", "b", 1]]);
  both.db.close();
}

tables();
logs();
benchmarks();
databases();
others();
rmSync(scratch, { recursive: true });
finish();
