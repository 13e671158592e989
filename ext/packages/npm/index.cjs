// The library for this machine, from the package that npm installed for it.
//
// Each package is resolved by a literal name, so that a bundler recognises it as external, and
// the place of this file does not matter.
"use strict";

// Node reports a glibc version only where it runs on glibc, not on musl.
const musl = () => !process.report.getReport().header.glibcVersionRuntime;

const packages = {
  "linux-x64-glibc": () => require.resolve("sqlite-evalci-linux-x64-glibc/evalci.so"),
  "linux-x64-musl": () => require.resolve("sqlite-evalci-linux-x64-musl/evalci.so"),
  "linux-arm64-glibc": () => require.resolve("sqlite-evalci-linux-arm64-glibc/evalci.so"),
  "win32-x64": () => require.resolve("sqlite-evalci-win32-x64/evalci.dll"),
  "darwin-arm64": () => require.resolve("sqlite-evalci-darwin-arm64/evalci.dylib"),
  "darwin-x64": () => require.resolve("sqlite-evalci-darwin-x64/evalci.dylib"),
};

function getLoadablePath() {
  const libc = process.platform === "linux" ? (musl() ? "-musl" : "-glibc") : "";
  const name = `${process.platform}-${process.arch}${libc}`;
  if (!packages[name])
    throw new Error(`sqlite-evalci: no library for ${name}; there are ${Object.keys(packages).join(", ")}, or build it from source`);
  try {
    return packages[name]();
  } catch (cause) {
    const error = new Error(`sqlite-evalci: package sqlite-evalci-${name} is not installed; install it, or install without --omit=optional`);
    error.cause = cause;
    throw error;
  }
}

function load(db) {
  db.loadExtension(getLoadablePath());
}

module.exports = { getLoadablePath, load };
