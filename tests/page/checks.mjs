/* Counting checks, for the suites in JavaScript: each ends with `N passed, M failed`. */

/* Of the sqlite3 shell: no settings of its user, nothing of a database that runs, and a wait for locks. */
export const SQLITE = ["-batch", "-init", "/dev/null", "-cmd", "PRAGMA trusted_schema=OFF", "-cmd", ".timeout 5000"];

let passed = 0, failed = 0;

export function check(what, ok) {
  if (ok) passed++;
  else failed++;
  if (!ok) console.log(`failed: ${what}`);
  return Boolean(ok);
}

/* Two values that must be equal, as JSON shows them. */
export function same(what, got, wanted) {
  const [a, b] = [got, wanted].map((value) => JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `${v}n` : v)));
  return check(a === b ? what : `${what}\n  expected: ${b}\n  actual:   ${a}`, a === b);
}

export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed > 0 ? 1 : 0);
}
