/*
** The page: takes files, lets a worker read and query them, and shows the results. Everything from a file is
** put on the page as text.
*/
"use strict";

const $ = (id) => document.getElementById(id);

// For each format of ext/import: whose database it is, and what its files hold.
const DATABASES = { promptfoo: "promptfoo’s", phoenix: "Phoenix’s", mlflow: "MLflow’s", database: "a" };
const KINDS = {
  lm_eval: "lm_eval’s samples", inspect: "Inspect’s logs", swebench: "SWE-bench’s reports", tau_bench: "tau-bench’s trajectories",
  helm: "HELM’s runs", promptfoo_output: "promptfoo’s output", harbor: "Harbor’s trials", deepeval: "DeepEval’s test runs",
  every_eval_ever: "Every Eval Ever’s samples", counts: "counts", votes: "votes", several: "several tools",
};

// For each kind of table: what its rows are, which tables can be queried, and which examples and downloads it cannot give.
const SOURCES = {
  results: { unit: "answer", ask: "Leaderboard", tables: ["eval_leaderboard", "eval_compare", "eval_tasks", "eval_common", "eval_passes"], lacks: ["Votes"] },
  counts: { unit: "answer", ask: "Leaderboard", tables: ["eval_leaderboard('counts')", "eval_tasks('counts')"], lacks: ["Compare", "Ranks", "Votes", "report.html", "compare.csv", "heatmap.svg"],
            why: "These are counts (k right of n) without the answers that were counted, which a report needs. The SQL tab has their leaderboard and tasks." },
  votes: { unit: "vote", ask: "Votes", tables: ["eval_votes"], lacks: ["Leaderboard", "Compare", "Ranks", "By task", "Picture", "leaderboard.csv", "compare.csv", "tasks.csv", "forest.svg", "heatmap.svg"] },
};

const EXAMPLES = {
  Leaderboard: "SELECT rank_lo || '–' || rank_hi AS rank, model, n, accuracy, ci, p_best\nFROM eval_leaderboard;",
  Compare: "SELECT model_a, model_b, n, diff, ci, prob_a_better, verdict_all\nFROM eval_compare\nORDER BY abs(diff) DESC;",
  Ranks: "SELECT value->>'label' AS model, value->>'p_best' AS p_best, value->>'rank' AS expected_rank,\n" +
         "       value->>'lo' AS lowest, value->>'hi' AS highest\n" +
         "FROM json_each((SELECT ranks(model, correct) FROM results));",
  "By task": "SELECT task, model, n, accuracy, ci, method\nFROM eval_tasks;",
  "Every method": "SELECT method, lo, hi, json_array(lo, hi) AS interval\nFROM ci_methods(18, 20);",
  Votes: "SELECT rank_lo || '–' || rank_hi AS rank, model, rating, ci, votes, wins, losses, ties\nFROM eval_votes;",
  Picture: "SELECT forest_svg(model, accuracy, ci, '{\"axis\":\"accuracy, with its 95% interval\"}') AS picture\n" +
           "FROM (SELECT model, accuracy, ci FROM eval_leaderboard LIMIT 50);",
};

const FOREST = `
SELECT forest_svg(model, accuracy, ci, '{"axis":"accuracy, with its 95% interval"}')
FROM (SELECT model, accuracy, ci FROM eval_leaderboard LIMIT 1000)`;
const HEATMAP = `
WITH first AS MATERIALIZED (SELECT row_number() OVER () AS place, model FROM eval_leaderboard LIMIT 30)
SELECT heatmap_svg(a, b, p)
FROM (SELECT a.model AS a, b.model AS b, prob_a_better AS p
      FROM first AS a CROSS JOIN first AS b
      LEFT JOIN eval_compare ON model_a = a.model AND model_b = b.model
      ORDER BY a.place, b.place)`;

/* The same statement over counts, if there are no results. */
const over = (sql) => (opened?.source === "counts" ? sql.replace(/\beval_\w+/g, "$&('counts')") : sql);

/* The downloads: name of the file, description, and the function that makes it. */
const SAVINGS = [
  ["report.html", "the report, a page of its own", () => new Blob([reportText ?? refuseReport()], { type: "text/html" })],
  ["leaderboard.csv", "one row per model, every column", () => ask("csv", { sql: over("SELECT * FROM eval_leaderboard") })],
  ["compare.csv", "one row per pair of models", () => ask("csv", { sql: "SELECT * FROM eval_compare" })],
  ["tasks.csv", "one row per model and task", () => ask("csv", { sql: over("SELECT * FROM eval_tasks") })],
  ["forest.svg", "the models and their intervals, drawn", () => ask("picture", { sql: over(FOREST) })],
  ["heatmap.svg", "the probability that each model is better than each other, drawn", () => ask("picture", { sql: HEATMAP })],
  ["evals.db", "the answers that were read, a SQLite database", () => ask("database")],
];

/* Makes an element from its name, attributes and children; strings become text nodes. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/* A name from a file, isolated from the direction of the text around it and cut to a line or two. */
function named(text) {
  return element("bdi", text.length > 100 ? { title: text.slice(0, 1000) } : {}, text.length > 100 ? `${text.slice(0, 99)}…` : text);
}

function counted(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/* ---- The worker ---- */

class Stopped extends Error {}

/* The WebAssembly is compiled once; each worker instantiates it with its own memory. */
async function compiled() {
  if (typeof DecompressionStream === "undefined" || typeof WebAssembly === "undefined")
    throw new Error("this browser is too old for the page: it lacks WebAssembly or DecompressionStream");
  const packed = Uint8Array.from(atob($("wasm").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

class Session {
  #worker;
  #waiting = new Map();
  #asked = 0;

  constructor() {
    const url = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));
    this.#worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.#worker.onmessage = ({ data }) => this.#answer(data);
    this.#worker.onerror = (event) => this.end(new Error(event.message || "the worker failed"));
  }

  ask(task, argument) {
    const id = ++this.#asked;
    return new Promise((give, refuse) => {
      this.#waiting.set(id, { give, refuse });
      this.#worker.postMessage({ id, task, argument });
    });
  }

  #answer({ id, stage, error, value }) {
    if (stage) return tellStage(stage);
    const { give, refuse } = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) refuse(Object.assign(new Error(error.message), error));
    else give(value);
  }

  end(reason = new Stopped()) {
    this.#worker.terminate();
    for (const { refuse } of this.#waiting.values()) refuse(reason);
    this.#waiting.clear();
  }
}

let module;           // a promise of the WebAssembly
let session;          // the worker that holds the files
let given;            // the task that opened them: { task, argument }
let opened;           // what it found in them, once it is done
let reportText;       // the report, once it is made
let lastQuery;        // whose result is shown

const ask = (task, argument) => session.ask(task, argument);

async function start() {
  session?.end();
  const mine = session = new Session();
  module ??= compiled();
  const { version, sqliteVersion } = await mine.ask("start", { wasm: await module });
  $("versions").textContent = `evalci ${version}, SQLite ${sqliteVersion}`;
}

/* ---- What it is doing ---- */

let tasks = 0, begun, clock;

function tellStage(text) {
  $("stage").textContent = `${text}…`;
}

/* Shows progress until the awaited task ends. */
async function during(text, work) {
  tellStage(text);
  if (tasks++ === 0) {
    begun = performance.now();
    $("elapsed").textContent = "";
    clock = setInterval(() => { $("elapsed").textContent = `${Math.round((performance.now() - begun) / 1000)} s`; }, 1000);
    $("working").hidden = false;
  }
  try {
    return await work();
  } finally {
    if (--tasks === 0) {
      clearInterval(clock);
      $("stage").textContent = "";
      $("working").hidden = true;
    }
  }
}

/* A message of the program as the page shows it: files by their names, options by their labels. */
function onPage(text) {
  const labels = new Map([...$("choices").elements].filter((input) => input.dataset.option).map((input) => [input.dataset.option, input.labels[0].textContent.trim()]));
  return text.replace(/(^|[\s"'])\/files\//g, "$1").replace("see evalci formats, and --from FORMAT", "see What it reads")
    .replace("see evalci formats", "see What it reads").replace(/(--[a-z-]+)( [A-Z]+)?\b/g, (all, option) => (labels.has(option) ? `Choices, “${labels.get(option)}”` : all));
}

function refuse(where, error) {
  where.replaceChildren();
  if (error instanceof Stopped) return;
  const lines = error.message.split("\n").map((line) => element("p", {}, element("bdi", {}, onPage(line))));
  where.append(element("div", { class: "refused" }, ...lines));
}

/* Ends the worker, and lets another open the same files. */
async function stop() {
  const again = opened && given;
  session.end();
  $("said").append(element("p", {}, "Stopped."));
  if (!again) return;
  try {
    await during("Opening it again", async () => {
      await start();
      await ask(again.task, again.argument);
    });
  } catch (error) {
    refuse($("refused"), error);
  }
}

/* ---- What was given ---- */

async function take(what) {
  given = what;
  opened = reportText = lastQuery = undefined;
  for (const id of ["said", "refused", "report-refused", "query-refused", "answered", "answers"]) $(id).replaceChildren();
  $("results").hidden = $("report-frame").hidden = $("save-result").hidden = $("make-report").hidden = true;
  $("again").disabled = what.task !== "open";
  try {
    await during("Starting", async () => {
      await start();
      tellStage("Reading");
      opened = await ask(what.task, what.argument);
    });
  } catch (error) {
    refuse($("refused"), error);
    if (what.mayHide) $("refused").append(element("p", {}, "This browser hides files with a colon in their names, such as HELM’s, from a dropped folder: choose the folder by the button instead."));
    return;
  }
  $("said").append(...described(opened));
  document.body.classList.add("opened");
  $("inviting").textContent = "Drop other files to start again.";
  $("results").hidden = false;
  await showResults(SOURCES[opened.source]);
}

/* Shows the report, or a table if there is no report. */
async function showResults({ ask: example, tables, lacks, why }) {
  $("tables").replaceChildren(...[opened.source, ...tables].flatMap((table, i) => [i > 0 ? ", " : "", element("code", {}, table)]));
  for (const button of document.querySelectorAll("#examples button, #savings button"))
    (button.closest("li") ?? button).hidden = lacks.includes(button.textContent);
  if (opened.kind === "given") $("savings").lastElementChild.hidden = true; // which is there already
  $("query").value = over(EXAMPLES[example]);
  choose(why ? $("tab-sql") : $("tab-report"));
  if (!why) return makeReport();
  $("report-refused").replaceChildren(element("p", {}, why));
  $("said").append(element("p", {}, why));
  return run();
}

function takeFiles(files, mayHide = false) {
  const choices = Object.fromEntries(new FormData($("choices")));
  if (files.length > 0 || mayHide) take({ task: "open", argument: { files, choices }, mayHide });
}

/* Says what was opened, what was imported, and what was not and why. */
function described({ kind, source, name, said, passed = [], answers, models, tasks: tasksFound, lacksLog, isNameless }) {
  const number = (n, unit) => (Number.isFinite(n) ? [counted(n, unit)] : []);
  const counts = [...number(models, "model"), ...number(tasksFound, "task"), ...number(answers, SOURCES[source].unit)].join(", ");
  if (kind === "sample")
    return [element("p", {}, `The sample: ${counts}. LangChain’s typewriter task, as published in Bowyer, Aitchison and Ivanova (ICML 2025). It was not published which questions each model got right, so models are not compared in pairs.`)];
  const sentence = element("p"), table = said ? byName(said) : [], amount = counts ? `: ${counts}` : "";
  if (kind === "given") sentence.append(named(name), ` is a database of ${source}${amount}`);
  else if (kind in DATABASES && name) sentence.append(named(name), ` is ${DATABASES[kind]} database: ${counts}`);
  else sentence.append(`${filesOf(kind, new Set(table.filter(taken).map((row) => row.path)).size)}: ${counts}`);
  for (const [reason, n] of skips(table)) sentence.append(`; ${n.toLocaleString("en")} skipped: `, element("bdi", {}, onPage(reason)));
  if (passed.length > 0) sentence.append(`; ${counted(passed.length, "file")} not recognized: `, named(passed.join(", ")));
  sentence.append(".");
  const told = [sentence];
  if (lacksLog) told.push(element("p", { class: "soft" }, "While a program has this database open, its latest rows are in a file beside it whose name ends in -wal. If there is one, drop both together."));
  if (isNameless) told.push(element("p", { class: "soft" }, "A model is called files, because the folder that names it was not chosen. Choose the whole folder, or name the model under Choices."));
  if (said) told.push(element("details", {}, element("summary", {}, "What was imported, line by line"), tableOf(legible(said))));
  return told;
}

function filesOf(kind, n) {
  if (kind in KINDS) return `${counted(n, "file")} of ${KINDS[kind]}`;
  return counted(n, kind in DATABASES ? "database" : `${kind.toUpperCase()} file`);
}

/* The list of an import, without empty columns, and with the names that people know. */
function legible({ columns, rows }) {
  const kept = columns.flatMap((column, i) => (rows.some((row) => row[i] !== null) ? [i] : []));
  const value = (cell) => (typeof cell === "string" ? onPage(cell) : cell ?? "");
  return { columns: kept.map((i) => columns[i]), rows: rows.map((row) => kept.map((i) => value(row[i]))) };
}

const byName = ({ columns, rows }) => rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
const taken = (row) => row.n > 0 || row.errored > 0;

/* The number of files that were skipped, by reason. */
function skips(table) {
  const reasons = new Map();
  for (const row of table.filter((one) => !taken(one))) {
    const reason = (row.note ?? "it has no answers").replace(/^not imported: /, "");
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return [...reasons];
}

/* ---- The report ---- */

function refuseReport() {
  throw new Error("there is no report yet");
}

async function makeReport() {
  $("report-refused").replaceChildren();
  $("make-report").hidden = true;
  try {
    reportText = await during("Making the report", () => ask("report"));
    // The frame runs no script; the report saved as a file has its own.
    $("report-frame").srcdoc = reportText.replace(/<script>[^]*<\/script>\n/, "");
    $("report-frame").hidden = false;
  } catch (error) {
    refuse($("report-refused"), error);
    $("make-report").hidden = reportText !== undefined;
  }
}

/* Makes the frame as high as its content, whose height changes when parts of it are opened. */
const heights = new ResizeObserver(([{ target }]) => {
  const height = Math.ceil(target.getBoundingClientRect().height);
  if (height > 0) $("report-frame").style.height = `${height}px`;
});

$("report-frame").addEventListener("load", () => {
  heights.disconnect();
  heights.observe($("report-frame").contentDocument.body);
  takesDrops($("report-frame").contentWindow);
});

/* ---- Results of SQL ---- */

const INTERVAL = /^\[(-?[\d.]+(?:e[-+]?\d+)?),(-?[\d.]+(?:e[-+]?\d+)?)\]$/i;

function intervalOf(value) {
  const [, lo, hi] = (typeof value === "string" && value.length < 80 && INTERVAL.exec(value)) || [];
  return lo !== undefined && Number(lo) <= Number(hi) ? [Number(lo), Number(hi)] : null;
}

/* Shows six digits; the cell's title has all. */
function written(number) {
  if (!Number.isFinite(number)) return number < 0 ? "−∞" : "∞";
  return String(Number.isInteger(number) ? number : Number(number.toPrecision(6))).replace("-", "−");
}

/* A bound of an interval, a hundred times as precise as its axis shows. */
function writtenOn([from, to], end) {
  if (!Number.isFinite(end)) return written(end);
  const decimals = Math.min(20, Math.max(0, 4 - Math.floor(Math.log10(to - from))));
  return end.toFixed(decimals).replace("-", "−");
}

/* The axis: from 0 to 1, or a shorter one if less than half of that is used; its ends are whole steps. */
function axisOf(values) {
  const finite = values.filter(Number.isFinite);
  const lo = Math.min(...finite), hi = Math.max(...finite), isShare = lo >= 0 && hi <= 1;
  const least = lo < 0 && hi > 0 ? -Math.max(-lo, hi) : lo, most = lo < 0 && hi > 0 ? -least : hi;
  for (let step = 1e-6; step < 1e300; step *= 10)
    for (const part of [step, 2 * step, 5 * step]) {
      const first = Math.floor(least / part + 1e-9), last = Math.max(Math.ceil(most / part - 1e-9), first + 1);
      if (last - first > 6) continue;
      return isShare && (last - first) * part > 0.501 ? [0, 1] : [first * part, last * part];
    }
  return [least, most];
}

/* The axis of a column of intervals, and its points: the numbers before
** it, where they lie in or near the interval in every row. */
function plotOf(rows, i) {
  const intervals = rows.map((row) => intervalOf(row[i]));
  const found = intervals.filter(Boolean);
  if (found.length === 0 || rows.some((row, r) => !intervals[r] && row[i] !== null)) return null;
  const isPoint = (point, [lo, hi]) => Number.isFinite(point) && point >= lo - (hi - lo) / 4 - 0.01 && point <= hi + (hi - lo) / 4 + 0.01;
  const points = i > 0 && rows.every((row, r) => !intervals[r] || isPoint(row[i - 1], intervals[r])) ? rows.map((row) => row[i - 1]) : null;
  return { intervals, points, axis: axisOf([...found.flat(), ...(points ?? []).filter(Number.isFinite)]) };
}

/* An interval and its point as a line on its axis. */
function drawn([lo, hi], point, [from, to]) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const at = (value) => 100 * Math.min(1, Math.max(0, (value - from) / (to - from)));
  const line = (kind, x1, y1, x2, y2) => {
    const made = document.createElementNS(svg.namespaceURI, "line");
    for (const [key, value] of Object.entries({ class: kind, x1, y1, x2, y2 })) made.setAttribute(key, value);
    svg.append(made);
  };
  const attributes = { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" };
  for (const [key, value] of Object.entries(attributes)) svg.setAttribute(key, value);
  for (const x of [0, 100]) line("axis", x, 0, x, 10);
  if (from < 0 && to > 0) line("zero", at(0), 0, at(0), 10);
  line("bar", at(lo), 5, at(hi), 5);
  for (const end of [lo, hi]) if (end >= from && end <= to) line("ends-of-bar", at(end), 2, at(end), 8);
  if (Number.isFinite(point)) line("point", at(point), 5, at(point), 5);
  return svg;
}

function cellOf(value, plot, r) {
  if (value === null) return element("td", { class: "null" }, "NULL");
  const interval = plot?.intervals[r];
  if (interval)
    return element("td", { class: "interval", "data-value": value, title: value },
                   element("div", {}, element("span", {}, `[${interval.map((end) => writtenOn(plot.axis, end)).join(", ")}]`),
                           drawn(interval, plot.points?.[r], plot.axis)));
  if (typeof value === "number" || typeof value === "bigint")
    return element("td", { class: "number", "data-value": String(value), title: String(value) }, typeof value === "number" ? written(value) : String(value));
  const text = value.cut ?? value;
  // An image runs nothing and loads nothing, whatever its labels contain.
  if (/^<svg[ >]/.test(text))
    return element("td", {}, element("img", { alt: "The picture that the query draws", src: `data:image/svg+xml,${encodeURIComponent(text)}` }));
  return element("td", { dir: "auto", class: text.length > 30 || text.includes("\n") ? "long" : "short" }, text);
}

function tableOf({ columns, rows }) {
  const plots = columns.map((_, i) => plotOf(rows, i));
  const heads = columns.map((column, i) => {
    const head = element("th", { scope: "col" }, element("bdi", {}, column.length > 100 ? `${column.slice(0, 99)}…` : column));
    if (plots[i]) {
      head.className = "interval";
      head.replaceChildren(element("div", {}, element("bdi", {}, column),
                                   element("span", { class: "ends" }, ...plots[i].axis.map((end) => element("span", {}, written(end))))));
    } else if (rows.length > 0 && rows.every((row) => row[i] === null || typeof row[i] === "number" || typeof row[i] === "bigint")) {
      head.className = "number";
    }
    return head;
  });
  const body = rows.map((row, r) => element("tr", {}, ...row.map((value, i) => cellOf(value, plots[i], r))));
  return element("div", { class: "wide", role: "region", "aria-label": "A table", tabindex: "0" },
                 element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body)));
}

/* The line and the character at which SQLite stopped parsing. */
function placeOf(sql, offset) {
  const before = sql.slice(0, offset).split("\n");
  return `line ${before.length}, character ${before.at(-1).length + 1}`;
}

async function run() {
  const sql = $("query").value;
  if (sql.trim() === "") return;
  for (const id of ["query-refused", "answered", "answers"]) $(id).replaceChildren();
  $("save-result").hidden = true;
  try {
    const { results, changed } = await during("Asking", () => ask("query", { sql }));
    const last = results.at(-1);
    lastQuery = sql;
    $("answers").append(...results.map(tableOf));
    $("answered").textContent = results.length === 0 ? "Done. The statements returned no rows."
      : last.more ? `The first ${counted(last.rows.length, "row")}; the CSV has all of them.` : `${counted(last.rows.length, "row")}.`;
    $("save-result").hidden = results.length === 0;
    if (changed) await makeReport();
  } catch (error) {
    if (error.offset !== undefined) error.message += ` (${placeOf(sql, error.offset)})`;
    refuse($("query-refused"), error);
  }
}

/* ---- Downloads ---- */

function save(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

async function saving(name, make, refused) {
  refused.replaceChildren();
  try {
    save(name, await during(`Making ${name}`, async () => make()));
  } catch (error) {
    refuse(refused, error);
  }
}

/* ---- Tabs: one is selected, arrow keys move between them ---- */

const TABS = [...document.querySelectorAll("[role=tab]")];

function choose(tab) {
  for (const other of TABS) {
    other.setAttribute("aria-selected", String(other === tab));
    other.tabIndex = other === tab ? 0 : -1;
    $(other.getAttribute("aria-controls")).hidden = other !== tab;
  }
}

function moved(key, i) {
  return { ArrowRight: (i + 1) % TABS.length, ArrowLeft: (i + TABS.length - 1) % TABS.length, Home: 0, End: TABS.length - 1 }[key];
}

TABS.forEach((tab, i) => {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const to = moved(event.key, i);
    if (to === undefined) return;
    event.preventDefault();
    choose(TABS[to]);
    TABS[to].focus();
  });
});

/* ---- Files, chosen and dropped ---- */

/* The files of a dropped folder, each with its folders before its name. */
async function entriesUnder(entry, prefix = "") {
  if (entry.isFile) return [{ name: prefix + entry.name, file: await new Promise((give, refuse) => entry.file(give, refuse)) }];
  const reader = entry.createReader(), found = [];
  for (;;) {
    const some = await new Promise((give, refuse) => reader.readEntries(give, refuse));
    if (some.length === 0) return found;
    for (const one of some) found.push(...await entriesUnder(one, `${prefix}${entry.name}/`));
  }
}

/* The same if the page itself was opened from a disk, where Chromium reads no entries. Its handles leave out
** names that it considers unsafe, such as those with a colon. */
async function handlesUnder(handle, prefix = "") {
  if (handle.kind === "file") return [{ name: prefix + handle.name, file: await handle.getFile() }];
  const found = [];
  for await (const one of handle.values()) found.push(...await handlesUnder(one, `${prefix}${handle.name}/`));
  return found;
}

/* The dropped files, and whether the browser may hide some of them.  All entries must be
** requested before the first await. */
async function dropped(transfer) {
  let mayHide = false;
  const found = [...transfer.items].filter((item) => item.kind === "file").map((item) => {
    const entry = item.webkitGetAsEntry(), file = item.getAsFile();
    if (!entry?.isDirectory) return [{ name: file.name, file }];
    if (location.protocol !== "file:" || !item.getAsFileSystemHandle) return entriesUnder(entry);
    mayHide = true;
    return item.getAsFileSystemHandle().then((handle) => handlesUnder(handle));
  });
  return { files: (await Promise.all(found)).flat(), mayHide };
}

for (const id of ["files", "folder"])
  $(id).addEventListener("change", ({ target }) => {
    takeFiles([...target.files].map((file) => ({ name: file.webkitRelativePath || file.name, file })));
    target.value = ""; // so that the same file can be chosen again
  });

const isDropping = (on) => document.body.classList.toggle("dropping", on);

/* Anywhere on the page, and on the report within it. */
function takesDrops(window) {
  window.addEventListener("dragover", (event) => { event.preventDefault(); isDropping(true); });
  window.addEventListener("dragleave", (event) => { if (event.relatedTarget === null) isDropping(false); });
  window.addEventListener("drop", async (event) => {
    event.preventDefault();
    isDropping(false);
    try {
      const { files, mayHide } = await dropped(event.dataTransfer);
      takeFiles(files, mayHide);
    } catch (error) {
      refuse($("refused"), error);
    }
  });
}
takesDrops(window);

/* ---- The rest ---- */

$("sample").addEventListener("click", () => take({ task: "sample" }));
$("stop").addEventListener("click", stop);
$("make-report").addEventListener("click", makeReport);
$("choices").addEventListener("submit", (event) => {
  event.preventDefault();
  takeFiles(given.argument.files, given.mayHide);
});
$("asking").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
$("query").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
$("save-result").addEventListener("click", () => saving("result.csv", () => ask("csv", { sql: lastQuery }), $("query-refused")));
for (const [name, sql] of Object.entries(EXAMPLES)) {
  const button = element("button", { type: "button" }, name);
  button.addEventListener("click", () => {
    $("query").value = over(sql);
    run();
  });
  $("examples").append(button);
}
for (const [name, what, make] of SAVINGS) {
  const button = element("button", { type: "button" }, name), refused = element("div", { role: "alert" });
  button.addEventListener("click", () => saving(name, make, refused));
  $("savings").append(element("li", {}, button, element("span", {}, what), refused));
}
$("query").value = EXAMPLES.Leaderboard;
