#!/bin/sh
# Provokes each message of "When a host refuses" in ext/CLIENTS.md: the host must print what
# the row of the table quotes.  Left out are a Python without extensions, an older glibc and
# a noexec disk, which a machine may not have.
sqlite() { sqlite3 -batch -init /dev/null "$@"; }
scratch=build/clients/refusals passed=0 failed=0
rm -rf $scratch
mkdir -p $scratch
cp build/evalci.so $scratch/renamed.so
cp README.md $scratch/text.so
# The fifth byte of an ELF file tells 32 bits from 64.
{ head -c 4 build/evalci.so; printf '\001'; tail -c +6 build/evalci.so; } >$scratch/class.so

# refusal MESSAGE COMMAND...: the page has the message and the command prints it.
refusal() {
  message=$1; shift
  wanted=$(printf %s "$message" | sed 's/NAME/renamed/')
  if ! grep -qF "\`$message" ext/CLIENTS.md; then
    failed=$((failed + 1))
    echo "FAILED ext/CLIENTS.md does not have: $message"
  elif ! "$@" 2>&1 | tee $scratch/said | grep -qF "$wanted"; then
    failed=$((failed + 1))
    echo "FAILED $*: wanted '$wanted', it says"
    cat $scratch/said
  else
    passed=$((passed + 1))
  fi
}
load() { sqlite :memory: ".load $1"; }
python() { "$PYTHON" -c "import sqlite3; db = sqlite3.connect(':memory:'); $1"; }
node_sql() { node -e "new (require('./build/clients/node/node_modules/$1'))(':memory:').exec(\"SELECT load_extension('build/evalci')\")"; }
r_sql() { Rscript -e 'DBI::dbGetQuery(DBI::dbConnect(RSQLite::SQLite(), loadable.extensions = FALSE), "SELECT load_extension(1)")'; }

refusal 'not authorized' python "db.execute('SELECT load_extension(1)')"
refusal 'not authorized' node_sql better-sqlite3
refusal 'not authorized' node_sql libsql
refusal 'not authorized' r_sql
refusal 'evalci.so.so: cannot open shared object file' load nowhere/evalci.so
refusal 'evalci.so: cannot open shared object file' load nowhere/evalci
refusal 'wrong ELF class' load $scratch/class
refusal 'invalid ELF header' load $scratch/text
refusal 'undefined symbol: sqlite3_NAME_init' load $scratch/renamed
refusal 'cannot run .load in safe mode' sqlite -safe :memory: '.load build/evalci'
refusal 'evalci is loaded in this connection already' sqlite :memory: '.load build/evalci' "SELECT load_extension('build/evalci')"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
