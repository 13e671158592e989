/*
** Runs the files of sql/ as the sqlite3 shell does, as far as they ask: statements,
** .read of an edited file, .parameter.  readfile, fsdir and zipfile are SQLite's own.
*/
// Commands that set how the shell shows results; Shell's caller says that.
const FORMATS = new Set([".mode", ".headers", ".separator", ".bail", ".echo", ".nullvalue", ".width"]);

/* The text of a file of sql/: "schema", "adapters/promptfoo", with or without .sql.
** Where it only reads another file of sql/, that stands in its place. */
function sqlText(name) {
  const text = SQL_FILES[name] ?? SQL_FILES[`${name}.sql`];
  if (text === undefined) throw new Error(`evalci.sql: no file ${JSON.stringify(name)}; there are ${Object.keys(SQL_FILES).join(", ")}`);
  return text.replace(/^\.read sql\/(\S+)$/gm, (_, other) => sqlText(other));
}

/* Words as a shell parts them: by blanks, unless they are in quotes. */
function words(line) {
  const found = line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g);
  return Array.from(found, ([, double, single, plain]) => double ?? single ?? plain);
}

/* Sed's regular expression as JavaScript's: a parenthesis and its like stand for themselves,
** as they do in brackets. */
function fromSed(expression) {
  return new RegExp(expression.replace(/\[\^?\]?[^\]]*\]|[(){}+?|]/g, (found) => (found.length > 1 ? found : `\\${found}`)));
}

/* Lines as sed edits them, of the forms /X/d and s/X/Y/, where & is what was found. */
function edited(script, text) {
  let lines = text.split("\n");
  for (const command of script.split(";").map((part) => part.trim()).filter(Boolean)) {
    const [kind, old, replacement] = command.split("/"), found = fromSed(old);
    if (kind === "s") lines = lines.map((line) => line.replace(found, (what) => replacement.replaceAll("&", () => what)));
    else lines = lines.filter((line) => !found.test(line));
  }
  return lines.join("\n");
}

/* Whether it is nothing but comments. */
function isEmpty(statement) {
  return statement.replace(/--.*/g, "").trim() === "";
}

class Shell {
  /* show is called with each result, { columns, rows }. */
  constructor(db, show, parameters = {}, { asText = false } = {}) {
    this.db = db;
    this.show = show;
    this.asText = asText;
    this.parameters = { ...parameters };
  }

  read(name) {
    this.run(sqlText(name));
  }

  /* Statements one by one, each up to the semicolon that ends it. */
  run(script) {
    let statement = "";
    for (const line of script.match(/[^\n]*\n|[^\n]+/g) ?? []) {
      if (line.startsWith(".") && isEmpty(statement)) {
        this.command(line.trim());
        continue;
      }
      for (const part of line.match(/[^;]*;|[^;]+/g)) {
        statement += part;
        if (part.endsWith(";") && this.db.complete(statement)) {
          this.statement(statement);
          statement = "";
        }
      }
    }
    if (!isEmpty(statement)) this.statement(statement);
  }

  command(line) {
    const [name, what, ...rest] = words(line);
    if (name === ".read" && what.startsWith("|")) {
      const [, script, ...files] = words(what.slice(1));
      this.run(files.map((file) => edited(script, sqlText(file.slice("sql/".length)))).join(""));
    } else if (name === ".parameter") {
      if (what === "set") this.parameters[rest[0].slice(1)] = rest[1];
      if (what === "unset") delete this.parameters[rest[0].slice(1)];
    } else if (!FORMATS.has(name)) {
      throw new Error(`evalci: no command ${name} here; run this file with the sqlite3 shell`);
    }
  }

  statement(text) {
    for (const result of this.db.run(text, this.parameters, { asText: this.asText })) this.show(result);
  }
}

/* A result in columns, as text; nothing where there are no rows. */
function asTable({ columns, rows }) {
  const texts = [columns, ...rows.map((row) => row.map((value) => (value === null ? "" : String(value))))];
  const widths = columns.map((_, i) => Math.max(...texts.map((row) => row[i].length)));
  const lines = texts.map((row) => row.map((text, i) => text.padEnd(widths[i])).join("  ").trimEnd());
  return rows.length > 0 ? `${lines.join("\n")}\n` : "";
}
