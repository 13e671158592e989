#!/bin/sh
# Checks that the extension and the program's verbs compile as one translation unit, loadable and
# built in: no static name has two meanings.  ext/import is left out, because zlib has names such
# as compress() that ext/stats has too.
unit=build/one_unit.c passed=0 failed=0
for file in ext/board/*.c ext/cli/*.c ext/sqlite/*.c ext/stats/*.c; do echo "#include \"../$file\""; done >$unit

for core in "" -DSQLITE_CORE; do
  if said=$(${CC:-cc} -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Wpedantic $core -Werror -fsyntax-only $unit 2>&1); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s\n' "$said" | grep -E 'error|declared here|definition of' | head -40
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
