#!/bin/sh
# The report over databases that can only be read: tests/views/readonly.sh EXTENSION
#
# Permissions do not hold for root, which reads as nobody here; so that nobody
# reaches them, the scripts and the extension are copied.
. sql/shell.sh
dir=$(mktemp -d); trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
passed=0 failed=0
mkdir -p "$dir/home/build" "$dir/home/sql" "$dir/out"
cp "$1" "$dir/home/build/"
cp sql/*.sql sql/report.sh sql/shell.sh "$dir/home/sql/"
chmod 755 "$dir"
chmod 777 "$dir/out"
reader=
[ "$(id -u)" != 0 ] || reader="setpriv --reuid=65534 --regid=65534 --clear-groups"

rows="INSERT INTO results(model, task, item, correct) VALUES ('a', 't', 1, 1), ('a', 't', 2, 0), ('b', 't', 1, 1), ('b', 't', 2, 1);"
# database NAME JOURNAL: one in a directory of its own, which nobody but its owner writes.
database() {
  mkdir -p "$dir/$1"
  sqlite "$dir/$1/evals.db" "PRAGMA journal_mode = $2" ".read sql/schema.sql" "$rows" >"$dir/out/said"
}
check() {
  what=$1; shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $what"; cat "$dir/out/said"
  fi
}
# report NAME: makes the page, as one who may only read.
report() { $reader "$dir/home/sql/report.sh" "$dir/$1/evals.db" "$dir/out/$1.html" >"$dir/out/said" 2>&1; }
lines() { grep -cE '<td class="name keep">[ab]</td>' "$dir/out/$1.html"; }
whole() { [ "$(lines "$1")" = 3 ] && grep -q '</html>' "$dir/out/$1.html"; }
untouched() { [ "$(ls "$dir/$1")" = "$2" ] && cmp -s "$dir/$1/evals.db" "$dir/out/before"; }

# over NAME MODE-OF-DIRECTORY: the file read-only, and perhaps its directory.
over() {
  cp "$dir/$1/evals.db" "$dir/out/before"
  chmod 444 "$dir/$1/evals.db"
  chmod "$2" "$dir/$1"
  check "$1: make a report" report "$1"
  check "$1: all of it" whole "$1"
}
database "read-only file" delete
over "read-only file" 755
check "read-only file: as it was" untouched "read-only file" evals.db
database "read-only directory, 100% #1?" delete
over "read-only directory, 100% #1?" 555
check "read-only directory: as it was" untouched "read-only directory, 100% #1?" evals.db
database "WAL" wal
over "WAL" 555
check "WAL: as it was" untouched "WAL" evals.db

# A log that was not yet merged is part of the database: read, or refused aloud.
database "unmerged" wal
rm -f "$dir/out/copy"*
sqlite "$dir/unmerged/evals.db" "INSERT INTO results(model, task, item, correct) VALUES ('c', 't', 1, 1)" \
  ".shell cp '$dir/unmerged/evals.db' '$dir/out/copy'; cp '$dir/unmerged/evals.db-wal' '$dir/out/copy-wal'"
mv "$dir/out/copy" "$dir/unmerged/evals.db"
mv "$dir/out/copy-wal" "$dir/unmerged/evals.db-wal"
chmod 444 "$dir/unmerged/"*
chmod 555 "$dir/unmerged"
refused() { ! report unmerged && grep -q 'evals.db-wal' "$dir/out/said" && ! test -e "$dir/out/unmerged.html"; }
check "unmerged: no page without the log's rows" refused
chmod 777 "$dir/unmerged"
check "unmerged: a report" report unmerged
check "unmerged: with the log's rows" grep -q '<td class="name keep">c</td>' "$dir/out/unmerged.html"

# The shell's own way, and views of the same names in the database.
database "views" delete
sqlite "$dir/views/evals.db" "CREATE VIEW leaderboard AS SELECT 1 AS mine" "CREATE TABLE pairs(mine)" "CREATE TABLE tasks(mine)"
cp "$dir/views/evals.db" "$dir/out/before"
by_hand() {
  sqlite -bail -readonly "$dir/views/evals.db" ".load build/evalci" '.read sql/report.sql' >"$dir/out/views.html" 2>"$dir/out/said"
}
check "views: -readonly" by_hand
check "views: all of it" whole "views"
check "views: as it was" untouched "views" evals.db

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
