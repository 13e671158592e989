#!/usr/bin/env node
// The command evalci: starts the program from the package of this machine, and ends as it does.
"use strict";
const { spawn } = require("node:child_process");
const { dirname, join } = require("node:path");
const { getLoadablePath } = require("./index.cjs");

function fail(error) {
  console.error(error.message);
  process.exit(3);
}

function programPath() {
  try {
    return join(dirname(getLoadablePath()), "bin", process.platform === "win32" ? "evalci.exe" : "evalci");
  } catch (error) {
    return fail(error);
  }
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
const program = spawn(programPath(), process.argv.slice(2), { stdio: "inherit" });
for (const signal of signals) process.on(signal, () => program.kill(signal));
program.on("error", fail);
program.on("exit", (status, signal) => {
  for (const name of signals) process.removeAllListeners(name);
  if (signal) process.kill(process.pid, signal);
  else process.exitCode = status;
});
