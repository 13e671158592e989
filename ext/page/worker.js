/*
** The page's worker, which opens the files and queries them. The page stops a task by ending the worker: all
** that it keeps can be made again from the same files.
*/
"use strict";

const ROWS_SHOWN = 500;
const TEXT_SHOWN = 2000;
const PICTURE = /^<svg[ >]/;

const COUNTS = {
  results: "SELECT count(*), count(DISTINCT model), count(DISTINCT coalesce(task, '')) FROM results",
  counts: "SELECT sum(n), count(DISTINCT model), count(DISTINCT coalesce(task, '')) FROM counts",
  votes: "SELECT count(*), (SELECT count(*) FROM (SELECT model_a FROM votes UNION SELECT model_b FROM votes)), NULL FROM votes",
};

let evalci, db, source, origin, last;

/* The numbers of answers, models and tasks; none if the columns have other names, which only the report resolves. */
function counts() {
  try {
    const [[answers, models, tasks]] = db.query(COUNTS[source]).rows;
    return { answers, models, tasks };
  } catch {
    return {};
  }
}

/* Whether a database keeps changes in a log beside it, and came without that log. */
function lacksLog(path) {
  const [writes, reads] = evalci.files.read(path, 20).slice(18);
  return writes === 2 && reads === 2 && !evalci.files.has(`${path}-wal`);
}

/* The choice "items" names one of the files. */
function chosen(choices, paths) {
  const items = choices.items && (paths.find((path) => path === FILES + choices.items || path.endsWith(`/${choices.items}`)) ?? FILES + choices.items);
  return { ...choices, ...(items && { items }) };
}

/* Whether a model has the name of this worker's own folder: for some tools the folder names the model, and
** these files were given without theirs. */
function isNameless() {
  const folder = FILES.split("/").at(-2);
  return evalci.files.list().some((path) => path.lastIndexOf("/") < FILES.length) && db.query("SELECT 1 FROM results WHERE model = ?", [folder]).rows.length > 0;
}

/* The path to import: one file, or the folder of all files. */
function commonPath(paths) {
  return paths.length === 1 ? paths[0] : FILES.slice(0, -1);
}

/* The names of the files and folders. */
const topsOf = (paths) => [...new Set(paths.map((path) => path.slice(FILES.length).split("/")[0]))];

/* Files that are in no folder and that the import does not mention. */
function passedOver(paths, told, items) {
  const read = new Set(told.rows.map(([path]) => path));
  return paths.filter((path) => path.lastIndexOf("/") < FILES.length && path !== items && !read.has(path)).map((path) => path.slice(FILES.length));
}

/* Imports all files into a database named after the only file or folder. */
function importAll(paths, path, choices) {
  const tops = topsOf(paths), name = tops.length === 1 ? tops[0].replace(/(?<=.)\.\w+$/, "") : "evals", given = chosen(choices, paths);
  const { db: made, format, told, table } = evalci.importFiles(path, { ...given, database: `/databases/${name}.db` });
  db = made;
  source = table;
  origin = tops.length > 1 ? `${tops[0]} and ${tops.length - 1} more` : tops[0];
  return { kind: format, said: told, passed: passedOver(paths, told, given.items) };
}

/* Opens a database without importing it. */
function openInPlace(path) {
  db = evalci.open(path);
  source = evalci.tableOf(db);
  origin = undefined;
  return { kind: "given" };
}

const TASKS = {
  async start({ wasm }) {
    evalci = await loadEvalci({ wasm });
    return { version: evalci.version, sqliteVersion: evalci.sqliteVersion };
  },

  open({ files, choices }, tell) {
    for (const { name, file } of files) evalci.files.add(name, file);
    const paths = evalci.files.list().filter((path) => !BESIDE.test(path)), path = commonPath(paths);
    tell("Reading the answers");
    // before a log is made
    const isDatabase = paths.length === 1 && evalci.isDatabase(path), missesLog = isDatabase && lacksLog(path);
    // Choices need an import.
    const isGiven = Object.values(choices).every((value) => value === "") && evalci.inPlace();
    const found = isGiven ? openInPlace(path) : importAll(paths, path, choices);
    return { ...found, source, name: path.slice(FILES.length), ...counts(), lacksLog: missesLog,
             isNameless: !isDatabase && source === "results" && isNameless() };
  },

  sample() {
    db = evalci.open("/databases/demo.db");
    db.run(evalci.sql("demo").split("\n\n")[0]); // the answers; what follows is for the sqlite3 shell
    source = "results";
    return { kind: "sample", source, ...counts() };
  },

  /* Uses a connection of its own, which the user's SQL cannot disturb. */
  report() {
    const reader = evalci.open(db.path);
    try {
      return evalci.report(reader, { source, origin });
    } finally {
      reader.close();
    }
  },

  /* Returns the shown part of every statement's result, and keeps the last. */
  query({ sql }) {
    const results = [], changes = () => db.query("SELECT total_changes()").rows[0][0];
    const before = changes();
    last = undefined;
    db.each(sql, {}, (row) => {
      const result = results.at(-1);
      if (result.rows.length === ROWS_SHOWN) result.more = true;
      else result.rows.push(row);
      return !result.more;
    }, { head: (columns) => results.push({ columns, rows: [], more: false }) });
    last = { sql, ...results.at(-1) };
    return { results: results.map((result) => ({ ...result, rows: result.rows.map((row) => row.map(shown)) })), changed: changes() !== before };
  },

  /* The whole last result: the kept rows, or all rows from running the statement again, with its changes
  ** undone. */
  csv({ sql }) {
    let lines = [];
    if (last?.sql === sql && !last.more) {
      lines = [last.columns, ...last.rows].map(csvLine);
    } else {
      db.run("SAVEPOINT asked");
      try {
        db.each(sql, {}, (row) => { lines.push(csvLine(row)); }, { head: (columns) => { lines = [csvLine(columns)]; } });
      } finally {
        db.run("ROLLBACK TO asked; RELEASE asked");
      }
    }
    return new Blob(lines, { type: "text/csv" });
  },

  picture({ sql }) {
    const [[svg]] = db.query(sql).rows;
    if (svg === null) throw new Error("there is nothing to draw");
    return new Blob([svg], { type: "image/svg+xml" });
  },

  database: () => new Blob([db.serialize()], { type: "application/vnd.sqlite3" }),
};

/* A value as the page gets it: a long text is cut, a blob is described. */
function shown(value) {
  if (value instanceof Uint8Array) return { cut: `${value.length.toLocaleString("en")} bytes` };
  if (typeof value !== "string" || value.length <= TEXT_SHOWN) return value;
  if (PICTURE.test(value)) return value;
  // not in the middle of a character
  return { cut: `${value.slice(0, TEXT_SHOWN).replace(/[\ud800-\udbff]$/, "")}… (${value.length.toLocaleString("en")} characters)` };
}

/* CSV by RFC 4180; numbers with all their digits, blobs as SQL writes them. */
function csvLine(row) {
  const fields = row.map((value) => {
    if (value === null) return "";
    const text = value instanceof Uint8Array ? `x'${Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("")}'` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${fields.join(",")}\r\n`;
}

addEventListener("message", async ({ data: { id, task, argument } }) => {
  try {
    postMessage({ id, value: await TASKS[task](argument, (stage) => postMessage({ id, stage })) });
  } catch (error) {
    postMessage({ id, error: { message: error.message, offset: error.offset } });
  }
});
