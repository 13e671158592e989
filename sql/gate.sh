#!/bin/sh
# A gate for CI: sql/gate.sh evals.db BASELINE CANDIDATE [MARGIN [SURE [OPTIONS]]]
#
# BASELINE is a model, or a number between 0 and 1 that the candidate's accuracy is to reach.
# OPTIONS are those of eval_gate, as '{"errors":"skip"}'.  Prints the two lines of gate.sql and ends with
#   0  pass: the candidate is no worse than the margin, that surely
#   1  fail: it is worse than the margin, that surely
#   2  unsure: there are not enough questions to say
#   3  no answer: no such database or model, a wrong argument, or sqlite3 failed
#
# make gate DB= BASELINE= CANDIDATE= [MARGIN= SURE=] builds the extension and runs
# this; make ends with 2 for each of 1, 2 and 3.
home=$(cd "$(dirname "$0")/.." && pwd) && . "$home/sql/shell.sh" || exit 3

refuse() { echo "gate: $1; as in sql/gate.sh evals.db old new 0.02 0.95" >&2; exit 3; }

# Names may hold anything: a whole path, so that it does not read as an option, and
# models as hexadecimal digits.
test -f "$1" || refuse "there is no database '$1'"
case $1 in /*) database=$1 ;; *) database=$PWD/$1 ;; esac
text() { printf "CAST(x'%s' AS TEXT)" "$(printf %s "$1" | od -An -v -tx1 | tr -d ' \n')"; }
number() { case $1 in *[!0-9.]* | *.*.* | .) refuse "$2, not '$1'" ;; esac; }

margin=${4:-0.02} sure=${5:-0.95}
number "$margin" "MARGIN must be a number from 0 to 1"
number "$sure" "SURE must be a number between 0.5 and 1"
case $margin in 0 | 0.* | .*) ;; *) refuse "MARGIN must be below 1, not '$margin'" ;; esac
case $sure in 0.[5-9]* | .[5-9]*) ;; *) refuse "SURE must be between 0.5 and 1, not '$sure'" ;; esac
test -n "$2" && test -n "$3" || refuse "BASELINE and CANDIDATE must be named"
cd "$home" || exit 3
judge "$database"
lines=$(sqlite -bail -readonly "$database" '.load build/evalci' '.parameter init' \
  "INSERT INTO temp.sqlite_parameters VALUES ('@baseline', $(text "$2")), ('@candidate', $(text "$3")), ('@margin', $margin), ('@sure', $sure), ('@options', nullif($(text "$6"), ''))" \
  '.read sql/gate.sql') || exit 3
printf '%s\n' "$lines"
case $lines in pass:*) exit 0 ;; fail:*) exit 1 ;; unsure:*) exit 2 ;; *) refuse "sqlite3 gave no answer" ;; esac
