/*
** evalci as a module: the object that load() returns.
*/
/* The address by which SQLite opens a user's file: read-only, and immutable if no log beside
** it holds later changes, so that no file has to be made beside it. */
function addressOf(files, path) {
  const name = `file:${encodeURI(path).replace(/[?#]/g, encodeURIComponent)}`;
  const logged = ["-wal", "-journal"].some((ending) => files.size(path + ending) > 0);
  return logged ? `${name}?mode=ro` : `${name}?mode=ro&immutable=1`;
}

/* The text of a file of sql/: "schema", "adapters/promptfoo", with or without .sql. */
function sqlText(name) {
  const text = SQL_FILES[name] ?? SQL_FILES[`${name}.sql`];
  if (text === undefined) throw new Error(`evalci.sql: no file ${JSON.stringify(name)}; there are ${Object.keys(SQL_FILES).join(", ")}`);
  return text;
}

/* A module of Node, imported by a computed name, which bundlers do not follow. */
const ofNode = (name) => import(`node:${name}`);

/* Instantiates the WebAssembly, given as its bytes, a compiled module, a Response or a URL. */
async function instantiate(wasm, imports) {
  if (wasm instanceof URL && wasm.protocol === "file:" && typeof process === "object")
    wasm = await (await ofNode("fs/promises")).readFile(wasm);
  else if (wasm instanceof URL || typeof wasm === "string") wasm = await fetch(wasm);
  if (typeof Response !== "undefined" && wasm instanceof Response) wasm = await wasm.arrayBuffer();
  if (wasm instanceof WebAssembly.Module) return { module: wasm, instance: await WebAssembly.instantiate(wasm, imports) };
  return WebAssembly.instantiate(wasm, imports);
}

async function loadEvalci({ wasm, progress }) {
  let failed;
  const loaded = new Promise((_, refuse) => { failed = refuse; });
  const module = await Promise.race([loaded, instantiateEvalci({
    instantiateWasm(imports, take) {
      instantiate(wasm, imports).then(({ instance, module: compiled }) => take(instance, compiled), failed);
      return {};
    },
  })]);
  const evalci = { progress };
  // Asked every few milliseconds while SQL runs; 1 stops it.
  module.asked = module.addFunction(() => (evalci.progress?.() === true ? 1 : 0), "ii");
  const files = new Files(module.FS);
  const isGiven = (path) => path.startsWith(FILES);
  const open = (path = ":memory:") => {
    const db = new Database(module, isGiven(path) ? addressOf(files, path) : path, { readOnly: isGiven(path) });
    db.path = path;
    return db;
  };
  const imports = new Imports(files, open);
  const db = open();
  const [[version, sqliteVersion]] = db.query("SELECT evalci_version(), sqlite_version()").rows;
  db.close();
  return Object.assign(evalci, {
    version, sqliteVersion, files, open,
    sql: sqlText,
    sqlNames: Object.keys(SQL_FILES),
    inPlace: (path) => imports.inPlace(path),
    isDatabase: (path) => imports.isDatabase(path),
    tableOf: (of) => imports.tableOf(of),
    importFiles: (path, choices) => imports.importFiles(path, choices),
    report: (of, options) => imports.report(of, options),
    memoryUsed: () => Number(module._sqlite3_memory_used()),
  });
}
