/*
** What a file is, other tools' results into a database, and a page over one: what
** sql/import.sh and sql/report.sh do, by the same files of sql/.
*/
// Of the tables that only such a database has; the adapters say which versions.
const TOOLS_WITH_DATABASES = { promptfoo: ["evals", "eval_results"], phoenix: ["experiments", "experiment_runs", "datasets"] };
const READERS = ["csv", "lm_eval", "inspect", "swebench", "tau_bench", "helm"];
const CHOICES = ["model", "task", "scorer", "metric", "filter", "items", "lo", "hi"];
const SUMMARY = `
SELECT 'now there: answers ' || count(*) || ', models ' || count(DISTINCT model) || ', tasks ' || count(DISTINCT task) ||
       ', questions ' || (SELECT count(*) FROM (SELECT DISTINCT task, item FROM results)) FROM results`;
const MAGIC = "SQLite format 3\0";

/* Which of the tools that write JSON made a text, by what the adapters look for. */
const KIND_OF_JSON = `
WITH told AS (SELECT CAST(readfile(@path) AS TEXT) AS text),
log AS (
  SELECT CASE WHEN json_valid(text) THEN text
              ELSE replace(replace(replace(text, ' NaN', ' null'), ' -Infinity', ' null'), ' Infinity', ' null') END AS body FROM told)
SELECT CASE WHEN NOT json_valid(body) THEN 'not JSON'
            WHEN json_type(body, '$.eval.model') IS NOT NULL AND json_type(body, '$.eval.task') IS NOT NULL THEN 'inspect'
            WHEN json_type(body, '$.simulations') = 'array' OR json_type(body, '$[0].task_id') IS NOT NULL THEN 'tau_bench'
            WHEN json_type(body, '$.resolved_ids') = 'array' OR json_type(body, '$.resolved') = 'array' THEN 'swebench'
            WHEN json_type(body) = 'object' AND body <> '{}' AND
                 NOT EXISTS (SELECT 1 FROM json_each(body) AS k WHERE CASE k.type WHEN 'object' THEN coalesce(json_type(k.value, '$.resolved'), '') ELSE k.type END NOT IN ('true', 'false'))
            THEN 'swebench'
            ELSE 'unknown' END
FROM log`;

class Imports {
  constructor(files, open) {
    this.files = files;
    this.open = open;
  }

  /* What kind of results is at a path: "results", a tool's name, or { error }. */
  detect(path = FILES.slice(0, -1)) {
    const paths = this.files.list(path).filter((name) => !/(-wal|-shm|-journal)$/.test(name));
    const shown = (name) => JSON.stringify(name.replace(FILES, ""));
    const named = (pattern) => paths.some((name) => pattern.test(name));
    if (paths.length === 0) return { error: "there are no files" };
    if (paths.every((name) => this.files.size(name) === 0)) return { error: `${shown(paths[0])} is empty` };
    const databases = paths.filter((name) => this.#isDatabase(name));
    if (databases.length > 1) return { error: `${databases.map(shown).join(" and ")} are databases; take one at a time` };
    if (databases.length === 1) return this.#kindOfDatabase(databases[0], shown(databases[0]));
    if (named(/(^|\/)samples_[^/]*\.jsonl$/)) return "lm_eval";
    if (named(/\.eval$/)) return "inspect";
    if (named(/\/per_instance_stats\.json$/)) return "helm";
    if (named(/\.(csv|tsv)$/i)) return "csv";
    return this.#kindOfTexts(paths, shown);
  }

  #isDatabase(path) {
    return decoder.decode(this.files.read(path, MAGIC.length)) === MAGIC;
  }

  #kindOfDatabase(path, shown) {
    let db;
    try {
      db = this.open(path);
      const { rows } = db.query("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY name");
      const tables = rows.map(([name]) => name);
      if (tables.includes("results")) return "results";
      for (const [tool, needed] of Object.entries(TOOLS_WITH_DATABASES))
        if (needed.every((name) => tables.includes(name))) return tool;
      return { error: `${shown} is a database without a table results, and neither promptfoo's nor Phoenix's; ` +
                      `its tables: ${tables.join(", ") || "none"}` };
    } catch (error) {
      return { error: `${shown}: ${error.message}` };
    } finally {
      db?.close();
    }
  }

  #kindOfTexts(paths, shown) {
    const db = this.open();
    try {
      const found = paths.filter((name) => name.endsWith(".json")).map((path) => [path, db.query(KIND_OF_JSON, { path }).rows[0][0]]);
      const known = found.find(([, kind]) => READERS.includes(kind));
      if (known) return known[1];
      if (found.length > 0 && found[0][1] === "not JSON") return { error: `${shown(found[0][0])} is not JSON` };
      if (paths.some((name) => /(^|\/)results_[^/]*\.json$/.test(name)))
        return { error: `${shown(paths[0])} has no answers in it; lm_eval writes them to samples_*.jsonl, with --log_samples` };
      if (paths.some((name) => name.endsWith(".jsonl"))) return { error: `${shown(paths[0])} is not named as lm_eval names its answers, samples_*.jsonl` };
      return { error: `${shown(paths[0])} is none of: a database, CSV, lm_eval's samples, ` +
                      "JSON of Inspect, SWE-bench or tau-bench, or HELM's per_instance_stats.json" };
    } catch (error) {
      return { error: `${shown(paths[0])}: ${error.message}` };
    } finally {
      db.close();
    }
  }

  /* Reads what a tool wrote into a database, all of it or nothing.  Gives the database and
  ** what was said, a list of { columns, rows }; an error has what was said before it. */
  importFiles(kind, path = FILES.slice(0, -1), choices = {}) {
    const said = [], database = choices.database ?? "/databases/evals.db";
    const copied = kind in TOOLS_WITH_DATABASES;
    if (!copied && !READERS.includes(kind))
      throw new Error(`no tool ${JSON.stringify(kind)}; there are ${[...READERS, ...Object.keys(TOOLS_WITH_DATABASES)].sort().join(", ")}`);
    if (!this.files.has(path)) throw new Error(`there is no ${JSON.stringify(path)} to import`);
    const fresh = !this.files.has(database);
    let db;
    try {
      const given = CHOICES.filter((name) => (choices[name] ?? "") !== "").map((name) => [name, String(choices[name])]);
      const parameters = { ...Object.fromEntries(given), within: FILES };
      if (copied) parameters.copy = this.#copy(kind, path, said);
      db = this.open(database);
      const shell = new Shell(db, (result) => said.push(result), parameters, { asText: true });
      db.run("BEGIN IMMEDIATE");
      shell.read("schema");
      for (const one of kind === "csv" ? this.files.list(path) : [path]) {
        shell.parameters.path = one;
        shell.read(`adapters/${copied ? "copy" : kind}`);
      }
      db.run("COMMIT");
      return { db, said: said.filter(({ rows }) => rows.length > 0), summary: db.query(SUMMARY).rows[0][0] };
    } catch (error) {
      db?.close();
      if (fresh) this.files.remove(database);
      error.said = said.filter(({ rows }) => rows.length > 0);
      throw error;
    } finally {
      this.files.remove("/databases/copy.db");
    }
  }

  /* Another tool's database, read through its adapter's views into a copy of results. */
  #copy(tool, path, said) {
    const copy = "/databases/copy.db", db = this.open(copy);
    try {
      db.run("ATTACH ? AS source", [addressOf(this.files, path)]);
      new Shell(db, (result) => said.push(result), {}, { asText: true }).run(
        `.read "|sed 's/^CREATE VIEW/CREATE TEMP VIEW/; s/^DROP VIEW IF EXISTS /&temp./' sql/adapters/${tool}.sql"\n` +
        "CREATE TABLE main.answers AS SELECT model, task, item, attempt, correct, score, error FROM temp.results;" +
        `CREATE TABLE main.skipped AS SELECT what, note FROM temp.${tool}_skipped;`);
    } finally {
      db.close();
    }
    return copy;
  }

  /* The page of sql/report.sql over a database, as text. */
  report(db) {
    const lines = [];
    new Shell(db, ({ rows }) => lines.push(...rows.map((row) => `${row.join("")}\n`))).read("report");
    return lines.join("");
  }
}
