// What a user of the npm package does: npm.mjs CLIENT [PATH OF ITS MODULE]
// CLIENT is better-sqlite3, libsql or node:sqlite.
import { createRequire } from "node:module";
import evalci, { getLoadablePath, load } from "sqlite-evalci";

const [client, path] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const common = require("sqlite-evalci");
let db;
if (client === "node:sqlite") {
  const { DatabaseSync } = require("node:sqlite");
  db = new DatabaseSync(":memory:", { allowExtension: true });
} else {
  db = new (require(path))(":memory:");
}
load(db);
const row = db.prepare("SELECT evalci_version() AS version, bayes_ci_counts(18, 20) AS ci").get();
console.log(JSON.stringify({
  ...row, path: getLoadablePath(), both: common.getLoadablePath() === getLoadablePath() && evalci.load === common.load,
}));
