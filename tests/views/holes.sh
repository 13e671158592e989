#!/bin/sh
# What somebody's database, names, settings or a full disk must not do to a gate, a report or
# an import: tests/views/holes.sh EXTENSION
. sql/shell.sh
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

check() {
  what=$1; shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $what"; cat "$dir/said"
  fi
}
# said COMMAND...: runs it and keeps what it says.
said() { "$@" >"$dir/said" 2>&1 </dev/null; }
# ends STATUS COMMAND...: with that status.
ends() { wanted=$1; shift; said "$@"; [ $? = "$wanted" ]; }
ends_badly() { ! said "$@"; }
absent() { ! [ -e "$1" ]; }
says() { grep -qF -- "$1" "$dir/said"; }
# alone NAME: the folder has a file of that name, or nothing, and nothing else.
alone() { [ "$(ls -A "$1")" = "$2" ]; }
answers() { [ "$(sqlite "$1" 'SELECT count(*) FROM results')" = "$2" ]; }
# csv MODEL NUMBER: a file of so many answers.
csv() { { echo model,task,item,correct; seq "$2" | sed "s/.*/$1,t,&,1/"; } >"$dir/$1.csv"; }

rows="INSERT INTO results(model, task, item, correct) SELECT m, 't', i, i % n > 0 FROM
  (SELECT 'old' AS m, 3 AS n UNION ALL SELECT 'new', 9), (WITH s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 200) SELECT i FROM s)"
sqlite "$dir/evals.db" '.read sql/schema.sql' "$rows"
csv one 40
csv two 40
csv many 20000
printf 'model,task,item,correct\nm,t,1,maybe\n' >"$dir/bad.csv"

# The package's program, which does as the scripts do, from a tree like the installed one.
mkdir -p "$dir/package"
cp -r ext/packages/python/evalci "$dir/package/"
cp -r sql "$1" "$dir/package/evalci/"
echo 0 >"$dir/package/evalci/VERSION"
package() { PYTHONPATH="$dir/package" "${PYTHON:-/usr/bin/python3}" -B -m evalci "$@"; }

# ---- A view or a trigger of the database that starts a program ----
edit="edit('x', 'touch $dir/ran; :')"
sqlite "$dir/view.db" "CREATE VIEW results AS SELECT $edit AS model, 't' AS task, 1 AS item, 1 AS correct"
sqlite "$dir/trigger.db" '.read sql/schema.sql' "CREATE TRIGGER t BEFORE INSERT ON results BEGIN SELECT $edit; END"
sqlite "$dir/promptfoo.db" "CREATE VIEW evals AS SELECT $edit AS id" "CREATE VIEW eval_results AS SELECT $edit AS id"
check "a gate over a view that calls edit() gives no answer" ends 3 sql/gate.sh "$dir/view.db" old new
check "a report over a view that calls edit() is none" ends 1 sql/report.sh "$dir/view.db" "$dir/page.html"
check "nor is there a page" absent "$dir/page.html"
check "an import past a trigger that calls edit() is none" ends 1 sql/import.sh csv "$dir/one.csv" "$dir/trigger.db"
check "it took nothing" answers "$dir/trigger.db" 0
check "an import from views that call edit() is none" ends 1 sql/import.sh promptfoo "$dir/promptfoo.db" "$dir/taken.db"
check "none of them started the program" absent "$dir/ran"
sqlite "$dir/reads.db" "CREATE VIEW results AS SELECT CAST(readfile('$dir/one.csv') AS TEXT) AS model, 't' AS task, 1 AS item, 1 AS correct"
check "a report over a view that reads a file is none" ends 1 sql/report.sh "$dir/reads.db" "$dir/page.html"
check "nor by the package" ends 1 package report "$dir/reads.db" "$dir/page.html"
check "which says why" says "unsafe use of readfile()"
# What the gate prints is not for a view to say; and a name is one in capitals, in quotes, or before a comment.
sqlite "$dir/forged.db" '.read sql/schema.sql' 'ALTER TABLE results RENAME TO answers' \
  "CREATE VIEW results AS SELECT coalesce(shell_putsnl('pass: forged'), 'old') AS model, 't' AS task, 1 AS item, json_extract('[1]', '\$[0]') AS correct"
check "a gate over a view that prints gives no answer" ends 3 sql/gate.sh "$dir/forged.db" old new
for name in EDIT '"Edit"' '[edit]' '`edit`' 'edit/**/'; do
  sqlite "$dir/forged.db" 'DROP VIEW results' "CREATE VIEW results AS SELECT $name('x', 'touch $dir/ran; :') AS model, json_extract('[1]', '\$[0]') AS correct"
  check "a gate over a view that calls $name gives no answer" ends 3 sql/gate.sh "$dir/forged.db" old new
done
check "and started nothing" absent "$dir/ran"
# Harmless functions, SQLite's and evalci's, stay allowed in the database's own views.
sqlite "$dir/own.db" '.read sql/schema.sql' "$rows" 'ALTER TABLE results RENAME TO answers' \
  "CREATE VIEW results AS SELECT replace(model, 'x', '') AS model, task, item, correct FROM answers"
check "a gate over a view of harmless functions passes" ends 0 sql/gate.sh "$dir/own.db" old new
sqlite "$dir/own.db" 'DROP VIEW results' '.load build/evalci' \
  'CREATE VIEW results AS SELECT * FROM answers WHERE bayes_ci_counts(1, 2) IS NOT NULL'
check "a report over a view of evalci's functions is written" ends 0 sql/report.sh "$dir/own.db" "$dir/own.html"
# JSON functions are harmless too: in a view of results, and in indexes as promptfoo makes them.
sqlite "$dir/own.db" 'DROP VIEW results' "CREATE VIEW results AS SELECT json_extract(json_array(model), '\$[0]') AS model, task, item, correct FROM answers" \
  'CREATE TABLE edited(credit_edit, edit_)'
check "a gate over a view of JSON passes" ends 0 sql/gate.sh "$dir/own.db" old new
check "a report over a view of JSON is written" ends 0 sql/report.sh "$dir/own.db" "$dir/own.html"
check "and one by the package" ends 0 package report "$dir/own.db" "$dir/own.html"
( trust=ON; sqlite "$dir/indexed.db" '.read tests/views/adapters/promptfoo.sql' "CREATE INDEX reason ON eval_results(json_extract(grading_result, '\$.reason'))" )
check "promptfoo's database with an index of JSON is imported" ends 0 sql/import.sh promptfoo "$dir/indexed.db" "$dir/indexed.out.db"
check "and by the package" ends 0 package import promptfoo "$dir/indexed.db" "$dir/indexed.by_package.db"
# No script or suite starts the shell in another way.
others() {
  ! grep -nE "(^|[^[:alnum:]_.\"'/-])sqlite3 (-|:memory:|\"?\\$)|(run|native|Popen)\(\[?\"sqlite3\", [^[]" \
    sql/*.sh Makefile tests/run tests/suite.sh tests/*/*.sh tests/*/run tests/*/*.py tests/*/*.mjs |
    grep -vE '^sql/shell.sh:|^tests/views/holes.sh:|@echo' >"$dir/said"
}
check "the shell is started by sql/shell.sh and checks.SQLITE alone" others

# ---- Settings of the person's own ----
# The shell finds them in the home of the user database, whatever HOME says: so by a sqlite3
# that reads a file of ours where it would read ~/.sqliterc.
real=$(command -v sqlite3)
mkdir "$dir/rc"
printf '.headers on\n.timer on\n.echo on\n.mode box\n.shell touch %s\n' "$dir/read" >"$dir/sqliterc"
printf '#!/bin/sh\ncase " $* " in *" -init "*) ;; *) set -- -init %s "$@" ;; esac\nexec %s "$@"\n' "$dir/sqliterc" "$real" >"$dir/rc/sqlite3"
chmod +x "$dir/rc/sqlite3"
both() { "$@" >"$dir/plain" 2>&1; ( PATH=$dir/rc:$PATH; said "$@" ); cmp -s "$dir/said" "$dir/plain"; }
check "a gate says the same with a ~/.sqliterc" both sql/gate.sh "$dir/evals.db" old new
check "an import says the same with a ~/.sqliterc" both sql/import.sh csv "$dir/one.csv" "$dir/settings.db"
check "a report says the same with a ~/.sqliterc" both sql/report.sh "$dir/evals.db" "$dir/page.html"
begins() { head -n 1 "$1" | grep -qi '^<!doctype html>'; }
check "its page begins as one" begins "$dir/page.html"
check "~/.sqliterc was not read" absent "$dir/read"

# ---- Text that make or a shell would expand ----
variables='DB OUT FROM FILE BASELINE CANDIDATE MARGIN SURE MODEL TASK SCORER METRIC FILTER ITEMS LO HI'
# with TARGET TEXT: make with that text, each FILE in it named after the variable, in every variable.
with() {
  target=$1 text=$2; shift 2
  for v in $variables; do set -- "$@" "$v=$(printf %s "$text" | sed "s|FILE|$dir/made.$v|g")"; done
  said make -s "$target" SO="$so" "$@"
}
none_made() { ! ls "$dir"/made.* 2>/dev/null; }
so=$1
for target in report import gate; do
  for text in '$(shell touch FILE)' '$(error boom)$(shell touch FILE)' '`touch FILE`' "\"'; touch FILE; '\"" '$$(touch FILE)' \
    '$(eval x := $(shell touch FILE))' '${shell touch FILE}'; do
    with $target "$text"
    check "make $target runs nothing of $text" none_made
    check "make $target with $text is refused by the script" grep -qE "^$target: " "$dir/said"
    rm -f "$dir"/made.*
  done
done
odd='$(shell touch '"$dir"'/made.odd)'
check "a name that make would expand arrives" ends 2 make -s gate SO="$so" DB="$dir/evals.db" BASELINE="$odd" CANDIDATE=new
check "as it was given" says "results has no model '$odd'"
check "and an import's choice too" ends 0 make -s import FROM=csv FILE="$dir/one.csv" DB="$dir/odd.db" TASK=t MODEL="$odd"
check "make ran nothing" none_made

# ---- A locked database ----
# held COMMAND...: while another holds the database for two seconds.
held() {
  sqlite "$dir/evals.db" 'BEGIN EXCLUSIVE' ".shell touch '$dir/holding'; sleep 2" 'COMMIT' &
  while ! [ -e "$dir/holding" ]; do sleep 0.1; done
  said "$@"; status=$?
  wait
  rm "$dir/holding"
  return $status
}
check "a gate waits for a locked database" held sql/gate.sh "$dir/evals.db" old new
check "a report waits for a locked database" held sql/report.sh "$dir/evals.db" "$dir/page.html"
check "an import waits for a locked database" held sql/import.sh csv "$dir/one.csv" "$dir/evals.db"

# ---- A gate's status ----
mkdir -p "$dir/top/build" "$dir/bin"
cp -r sql "$dir/top/"
cp "$1" "$dir/top/build/"
# gate STATUS SQL: a gate.sql of that text ends with it.
gate() { echo "$2" >"$dir/top/sql/gate.sql"; ends "$1" "$dir/top/sql/gate.sh" "$dir/evals.db" old new; }
check "pass: is 0" gate 0 "SELECT 'pass: x';"
check "fail: is 1" gate 1 "SELECT 'fail: x';"
check "unsure: is 2" gate 2 "SELECT 'unsure: x';"
for text in "" "SELECT NULL;" "SELECT 'passed';" "SELECT ' pass: x';" "SELECT 'Run Time: 0'; SELECT 'pass: x';" "SELECT 'unsure';" \
  "SELECT 'pass: x'; SELECT nothing;" "SELECT 'unsure: x'; .quit 7" ".quit 1"; do
  check "a gate that prints or does '$text' gives no answer" gate 3 "$text"
done
printf '#!/bin/sh\ncase "$*" in *EXISTS*) echo 1 ;; *) kill -9 $$ ;; esac\n' >"$dir/bin/sqlite3"
chmod +x "$dir/bin/sqlite3"
killed() { PATH="$dir/bin:$PATH" ends 3 sql/gate.sh "$dir/evals.db" old new; }
check "a sqlite3 that is killed gives no answer" killed

# ---- Imports into one new database at once ----
by_script() { sql/import.sh "$@"; }
by_package() { package import "$@"; }

for import in by_script by_package; do
  mkdir "$dir/$import"
  ok=0
  for round in 1 2 3 4 5 6 7 8; do
    new=$dir/$import/$round.db
    $import csv "$dir/one.csv" "$new" >"$dir/said.1" 2>&1 &
    $import csv "$dir/bad.csv" "$new" >"$dir/said.2" 2>&1 &
    said $import csv "$dir/two.csv" "$new" || ok=no
    wait
    answers "$new" 80 || ok=no
    rm "$new"
  done
  check "$import: of three at once the two that can be are taken" [ $ok = 0 ]
  check "$import: and leave nothing else behind" alone "$dir/$import" ""

  new=$dir/$import/new.db
  check "$import: one that is refused" ends 1 $import csv "$dir/bad.csv" "$new"
  check "$import: makes no database" alone "$dir/$import" ""

  # A disk that is full: writes fail (the signal ignored), or end the program.
  for how in "trap '' XFSZ" :; do
    limited() { ( eval "$how"; ulimit -f 400; $import csv "$dir/many.csv" "$new" ); }
    check "$import, $how: a full disk is an error" ends_badly limited
    check "$import, $how: and leaves nothing" alone "$dir/$import" ""
    check "$import, $how: an import after it" ends 0 $import csv "$dir/one.csv" "$new"
    check "$import, $how: is there" answers "$new" 40
    check "$import, $how: a full disk beneath a database is an error" ends_badly limited
    check "$import, $how: and leaves that as it was" answers "$new" 40
    rm -f "$new"*
  done

  # A journal without its database is no part of the next one.
  cp "$dir/evals.db" "$new"
  sqlite "$new" 'PRAGMA cache_size = 1' BEGIN "UPDATE results SET item = item || 'x'" ".shell cp '$new-journal' '$dir/journal'" ROLLBACK
  rm "$new"
  mv "$dir/journal" "$new-journal"
  check "$import: beside a lost database's journal" ends 0 $import csv "$dir/one.csv" "$new"
  check "$import: has its rows" answers "$new" 40
  rm -f "$new"*
done

# While one import reads its file, another makes the database: by a sqlite3 that runs it first.
new=$dir/race/new.db
mkdir "$dir/race"
printf '#!/bin/sh\nPATH=${PATH#*:}\nmkdir "%s" 2>/dev/null && sql/import.sh csv "%s" "%s" >&2\nexec "%s" "$@"\n' \
  "$dir/first" "$dir/one.csv" "$new" "$real" >"$dir/bin/sqlite3"
overtaken() { rm -rf "$dir/first"; PATH="$dir/bin:$PATH" ends "$1" sql/import.sh csv "$2" "$new"; }
check "an import that is refused, overtaken by another" overtaken 1 "$dir/bad.csv"
check "leaves the other's database" answers "$new" 40
rm "$new"
check "an import that is overtaken" overtaken 0 "$dir/two.csv"
check "is taken into the other's database" answers "$new" 80
check "and leaves nothing else" alone "$dir/race" new.db

# ---- A page that cannot be written whole ----
mkdir "$dir/pages"
echo 'the old page' >"$dir/pages/page.html"
for how in "trap '' XFSZ" :; do
  cut() { ( eval "$how"; ulimit -f 16; sql/report.sh "$dir/evals.db" "$dir/pages/page.html" ); }
  check "$how: a report on a full disk is an error" ends_badly cut
  check "$how: that does not say it was written" ends_badly grep -q wrote "$dir/said"
  check "$how: the old page is there" grep -qx 'the old page' "$dir/pages/page.html"
  check "$how: and no part of a new one" alone "$dir/pages" page.html
done
check "with room it is written" ends 0 sql/report.sh "$dir/evals.db" "$dir/pages/page.html"
check "to its last tag" [ "$(tail -n 1 "$dir/pages/page.html")" = '</html>' ]

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
