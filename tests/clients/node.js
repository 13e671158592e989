// better-sqlite3 or libsql, by the name of the package: see check.py.
const { readFileSync } = require("fs");

const [name, database, extension, setup, queries] = process.argv.slice(2);
const Database = require(`../../build/clients/node/node_modules/${name}`);
const statements = (path) => readFileSync(path, "utf8").trim().split("\n");

const db = new Database(database);
db.loadExtension(extension);
for (const statement of statements(setup)) db.exec(statement);
for (const query of statements(queries))
  for (const row of db.prepare(query).raw().all()) console.log(JSON.stringify(row));
