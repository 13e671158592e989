#!/bin/sh
# A page over a database of results: sql/report.sh evals.db report.html
#
# make report DB=evals.db OUT=report.html builds the extension and runs this.  The
# views are temporary and the database is only read, so it may be one that this
# user cannot write, in a directory that this user cannot write.
home=$(cd "$(dirname "$0")/.." && pwd) && . "$home/sql/shell.sh" || exit 1

refuse() { echo "report: $1; as in make report DB=evals.db OUT=report.html" >&2; exit 1; }

# Names may hold anything: whole paths, so that none of them reads as an option.
whole() { case $1 in /*) printf %s "$1" ;; *) printf %s "$PWD/$1" ;; esac; }

test -f "$1" || refuse "there is no database '$1'"
test -n "$2" && ! test -d "$2" || refuse "OUT must name a file, not '$2'"
! test "$1" -ef "$2" || refuse "the page would replace the database"
database=$(whole "$1") page=$(whole "$2")

# SQLite reads a database in WAL mode together with files beside it, and makes those
# where they are missing.  In a directory that cannot be written, a database without
# a log or a journal is whole, and can be read as a file that nobody changes; with a
# log it needs the files that its writer made.
file=$(readlink -f "$database")
if ! test -w "$(dirname "$file")"; then
  if ! test -s "$file-wal" && ! test -s "$file-journal"; then
    database="file://$(printf %s "$file" | sed 's/%/%25/g; s/?/%3f/g; s/#/%23/g')?immutable=1"
  elif ! test -e "$file-shm" && ! test -s "$file-journal"; then
    refuse "'$file-wal' holds answers that can be read only where files can be made: copy both elsewhere"
  fi
fi

# A page that was not written whole takes nobody's place.  The sqlite3 shell ends with 0 on
# a full disk, so the last line is looked at.
part=$page.$$.part
trap 'rm -f "$part"' EXIT
trap 'exit 1' HUP INT TERM
judge "$database"
cd "$home" && sqlite -bail "$database" '.load build/evalci' '.read sql/report.sql' >"$part" || exit 1
test "$(tail -n 1 "$part")" = '</html>' || refuse "'$2' cannot be written whole, perhaps the disk is full"
mv "$part" "$page" && echo "wrote $2"
