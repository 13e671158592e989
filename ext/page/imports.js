/*
** Imports other tools' results into a database, by ext/import, and makes its report.
*/
const MAGIC = "SQLite format 3\0";
const TABLES = ["results", "counts", "votes"]; // that an import makes, and that a database may have
const DATE = "strftime('%Y-%m-%d %H:%M', 'now') || ' UTC'";

class Imports {
  constructor(files, open) {
    this.files = files;
    this.open = open;
  }

  isDatabase(path) {
    return decoder.decode(this.files.read(path, MAGIC.length)) === MAGIC;
  }

  /* The first of these tables that a database has. */
  tableOf(db) {
    const names = db.query("SELECT lower(name) FROM sqlite_schema WHERE type IN ('table', 'view')").rows.flat();
    return TABLES.find((table) => names.includes(table));
  }

  /* Opens the only file, if it is a database with results or counts; it is read without
  ** importing it.  If it cannot be read, an import says why. */
  inPlace(path = FILES.slice(0, -1)) {
    const paths = this.files.list(path).filter((name) => !BESIDE.test(name));
    if (paths.length !== 1 || !this.isDatabase(paths[0])) return undefined;
    let db;
    try {
      db = this.open(paths[0]);
      return ["results", "counts"].includes(this.tableOf(db)) ? paths[0] : undefined;
    } catch {
      return undefined;
    } finally {
      db?.close();
    }
  }

  /* Reads what tools wrote into a database, all of it or nothing. Returns the database, the format, the
  ** table, and what was imported from each file, { columns, rows }. */
  importFiles(path = FILES.slice(0, -1), { database = "/databases/evals.db", ...choices } = {}) {
    const fresh = !this.files.has(database), db = this.open(database);
    try {
      const { table, format } = db.importFiles(path, Object.entries(choices).filter(([, value]) => (value ?? "") !== "").map(([name, value]) => [name, String(value)]));
      return { db, told: db.query("SELECT * FROM temp.import_summary"), format, table };
    } catch (error) {
      db.close();
      if (fresh) this.files.remove(database);
      throw error;
    }
  }

  /* The report over a table, as text. */
  report(db, { source = "results", ...options } = {}) {
    return db.query(`SELECT eval_report(?, json_set(?, '$.date', ${DATE}))`, [source, JSON.stringify(options)]).rows[0][0];
  }
}
