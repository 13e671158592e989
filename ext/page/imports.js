/*
** Other tools' results into a database, by ext/import, and the report over one.
*/
const CHOICES = ["model", "task", "scorer", "metric", "filter", "split", "items", "lo", "hi"];
const MAGIC = "SQLite format 3\0";
const DATE = "strftime('%Y-%m-%d %H:%M', 'now') || ' UTC'";

class Imports {
  constructor(files, open) {
    this.files = files;
    this.open = open;
  }

  isDatabase(path) {
    return decoder.decode(this.files.read(path, MAGIC.length)) === MAGIC;
  }

  /* The one database among the files, if it has results: it is read as it lies. */
  inPlace(path = FILES.slice(0, -1)) {
    const paths = this.files.list(path).filter((name) => !/-(wal|shm|journal)$/.test(name));
    if (paths.length !== 1 || !this.isDatabase(paths[0])) return undefined;
    const db = this.open(paths[0]);
    try {
      const { rows } = db.query("SELECT 1 FROM sqlite_schema WHERE type IN ('table', 'view') AND name = 'results' COLLATE NOCASE");
      return rows.length > 0 ? paths[0] : undefined;
    } finally {
      db.close();
    }
  }

  /* Reads what tools wrote into a database, all of it or nothing.  Gives the database, the
  ** format, and what was taken of each file, { columns, rows }. */
  importFiles(path = FILES.slice(0, -1), choices = {}) {
    const database = choices.database ?? "/databases/evals.db", fresh = !this.files.has(database);
    const db = this.open(database);
    try {
      const given = ["from", ...CHOICES].filter((name) => (choices[name] ?? "") !== "").map((name) => [name, String(choices[name])]);
      db.importFiles(path, given);
      const told = db.query("SELECT * FROM temp.import_told");
      const formats = new Set(db.query("SELECT format FROM temp.import_told WHERE n > 0 OR errored > 0").rows.flat());
      return { db, told, format: formats.size === 1 ? [...formats][0] : "several" };
    } catch (error) {
      db.close();
      if (fresh) this.files.remove(database);
      throw error;
    }
  }

  /* The page over a database, as text. */
  report(db, options = {}) {
    return db.query(`SELECT eval_report('results', json_set(?, '$.date', ${DATE}))`, [JSON.stringify(options)]).rows[0][0];
  }
}
