#!/bin/sh
# What the built file is: one exported symbol, GSL private, hardened, and
# loadable by its bare name in the real shell.
so=$1 passed=0 failed=0

check() {
  what=$1; shift
  if "$@" >/dev/null 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $what"
  fi
}
exports() { [ "$(nm -D --defined-only "$so" | awk '{print $3}')" = sqlite3_evalci_init ]; }
gsl_private() { ! readelf -d "$so" | grep -q 'NEEDED.*gsl'; }
relro() { readelf -lW "$so" | grep -q GNU_RELRO && readelf -d "$so" | grep -qE 'BIND_NOW|FLAGS.*NOW'; }
stack() { readelf -lW "$so" | grep -E 'GNU_STACK.* RW '; }
protector() { nm -D "$so" | grep -q __stack_chk_fail; }
textrel() { ! readelf -d "$so" | grep -q TEXTREL; }
version() { sed -n 's/^.define EVALCI_VERSION "\(.*\)"/\1/p' ext/evalci.h; }
# Two readings of one aggregate cost one pass: one step in the program.
once() { [ "$(sqlite3 :memory: '.load build/evalci' 'CREATE TABLE t(y)' 'EXPLAIN SELECT bayes_ci(y)->>0, bayes_ci(y)->>1 FROM t' | grep -c AggStep)" = 1 ]; }
loads() { [ "$(sqlite3 :memory: '.load build/evalci' 'SELECT evalci_version()')" = "$(version)" ]; }
twice() { sqlite3 :memory: '.load build/evalci' "SELECT load_extension('build/evalci')" 2>&1 | grep -q 'evalci is loaded in this connection already'; }

check "exports sqlite3_evalci_init and nothing else" exports
check "needs no libgsl at run time" gsl_private
check "has full RELRO" relro
check "has no executable stack" stack
check "has a stack protector" protector
check "has no text relocations" textrel
check "loads in the sqlite3 shell and tells the header's version" loads
check "says so when SQL loads it a second time" twice
check "computes identical calls once" once

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
