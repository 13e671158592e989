#!/bin/sh
# Checks the built file: one exported symbol, a private GSL, hardened, and loadable
# by its bare name in the real shell.  Contract 13 and 24.
sqlite() { sqlite3 -batch -init /dev/null "$@"; }
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
writable_code() { ! readelf -lW "$so" | grep -qE 'LOAD .* RWE '; }
# It needs glibc alone, found where the host's is.
needs() { ! readelf -d "$so" | grep NEEDED | grep -qvE '\[(libm|libc|ld-linux[^]]*)\.so\.[0-9]+\]'; }
run_path() { ! readelf -d "$so" | grep -qE 'RPATH|RUNPATH'; }
# It imports no function that opens files, starts programs, uses the network, reads the
# time or the environment, or draws random numbers. stderr and abort are imported by
# GSL's own error handler, which is switched off.
imports() {
  ! nm -D --undefined-only "$so" | sed 's/.* //; s/@.*//' | grep -xE \
    '(f|fd|p|sh)?open(at|dir)?(64)?|creat(64)?|freopen(64)?|tmpfile(64)?|mk[a-z]*temp|unlink(at)?|rename|remove|mkdir|truncate(64)?|p?(read|write)v?(64)?|m(map|protect)(64)?|system|exec[lv][a-z]*|v?fork|posix_spawn[a-z]*|clone|syscall|dl(open|sym|mopen)|socket|connect|bind|listen|accept|send[a-z]*|recv[a-z]*|getaddrinfo|(secure_)?getenv|(set|put|unset)env|setlocale|s?rand(om)?(_r)?|[a-z]rand48|getrandom|getentropy|arc4random[a-z_]*|time|clock[a-z_]*|gettimeofday|kill|raise|signal|sigaction|sleep|usleep|nanosleep|pthread_create'
}
no_assertions() { ! nm -D --undefined-only "$so" | grep -q __assert; }
fortified() { nm -D "$so" | grep -q '__[a-z]*printf_chk'; }
version() { sed -n 's/^.define EVALCI_VERSION "\(.*\)"/\1/p' ext/evalci.h; }
# Two uses of one aggregate take one pass: the program has one step for it.
once() { [ "$(sqlite :memory: '.load build/evalci' 'CREATE TABLE t(y)' 'EXPLAIN SELECT bayes_ci(y)->>0, bayes_ci(y)->>1 FROM t' | grep -c AggStep)" = 1 ]; }
loads() { [ "$(sqlite :memory: '.load build/evalci' 'SELECT evalci_version()')" = "$(version)" ]; }
twice() { sqlite :memory: '.load build/evalci' "SELECT load_extension('build/evalci')" 2>&1 | grep -q 'evalci is loaded in this connection already'; }

check "exports sqlite3_evalci_init and nothing else" exports
check "needs no libgsl at run time" gsl_private
check "is compiled without assertions" no_assertions
check "has full RELRO" relro
check "has no executable stack" stack
check "has a stack protector" protector
check "has no text relocations" textrel
check "has no memory both writable and executable" writable_code
check "is compiled with fortified library calls" fortified
check "needs nothing but the C library" needs
check "names no place to look for libraries" run_path
check "imports nothing that reaches beyond memory" imports
check "loads in the sqlite3 shell and tells the header's version" loads
check "says so when SQL loads it a second time" twice
check "computes identical calls once" once

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
