#!/bin/sh
# Other tools' results into a database: sql/import.sh csv results.csv evals.db
#
# make import FROM=csv FILE=results.csv DB=evals.db runs this.  What a tool wrote is
# read by sql/adapters/FROM.sql; where that leaves a choice, IMPORT_MODEL and the like
# in the environment make it.  The whole import is one transaction: whatever stops it,
# a field that cannot be read or a full disk, leaves the database as it was, and no
# database where there was none.  It removes no database but the one it made itself.
home=$(cd "$(dirname "$0")/.." && pwd) && . "$home/sql/shell.sh" || exit 1

refuse() { echo "import: $1; as in make import FROM=csv FILE=results.csv DB=evals.db" >&2; exit 1; }

# Names may hold anything: whole paths, so that none of them reads as an option, and
# texts as SQL writes them.  Not every shell has made a home of the ~ after FILE=.
whole() {
  case $1 in
  /* | '') printf %s "$1" ;;
  '~/'*) printf %s "$HOME/${1#??}" ;;
  *) printf %s "$PWD/$1" ;;
  esac
}
quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/'/''/g")"; }

from=$1 file=$(whole "$2") database=$(whole "$3") items=$(whole "$IMPORT_ITEMS")
case $from in
csv | lm_eval | inspect | swebench | tau_bench | helm) reader=$from ;;
promptfoo | phoenix) reader=copy ;;
*) refuse "FROM must be csv, promptfoo, phoenix, lm_eval, inspect, swebench, tau_bench or helm, not '$from'" ;;
esac
test -e "$file" || refuse "there is no '$2' to import"
test -n "$3" && ! test -d "$database" || refuse "DB must name a database, not '$3'"
! test "$file" -ef "$database" || refuse "FILE and DB are the same"
here=$PWD
cd "$home" && scratch=$(mktemp -d) || exit 1
beside=
trap 'rm -rf "$scratch" ${beside:+"$beside"}' EXIT
trap 'exit 1' HUP INT TERM

# Another tool's database is read through the adapter's views, as it lies, in a
# database of their own: where names are looked up, none of yours is in the way.
if test "$reader" = copy; then
  source="file://$(printf %s "$file" | sed 's/%/%25/g; s/?/%3f/g; s/#/%23/g')?mode=ro"
  judge "$file"
  sqlite -bail "$scratch/copy.db" <<END >&2 || refuse "'$2' cannot be read as a database of $from"
ATTACH $(quoted "$source") AS source;
.read "|sed 's/^CREATE VIEW/CREATE TEMP VIEW/; s/^DROP VIEW IF EXISTS /&temp./' sql/adapters/$from.sql"
CREATE TABLE main.answers AS SELECT model, task, item, attempt, correct, score, error FROM temp.results;
CREATE TABLE main.skipped AS SELECT what, note FROM temp.${from}_skipped;
END
fi

parameters() {
  set -- path "$file" within "$here/" copy "$scratch/copy.db" model "$IMPORT_MODEL" task "$IMPORT_TASK" scorer "$IMPORT_SCORER" \
    metric "$IMPORT_METRIC" filter "$IMPORT_FILTER" items "$items" lo "$IMPORT_LO" hi "$IMPORT_HI"
  while test $# -gt 0; do
    test -z "$2" || printf "INSERT INTO temp.sqlite_parameters VALUES ('@%s', %s);\n" "$1" "$(quoted "$2")"
    shift 2
  done
}

# into DATABASE: the import; what it said is in the file said.
into() {
  judge "$1"
  sqlite -bail "$1" <<END >"$scratch/said" 2>&1
.parameter init
$(parameters)
.mode box --wrap 0
BEGIN IMMEDIATE;
.read sql/schema.sql
.read sql/adapters/$reader.sql
COMMIT;
.mode list
.headers off
SELECT 'now there: answers ' || count(*) || ', models ' || count(DISTINCT model) || ', tasks ' || count(DISTINCT task) ||
       ', questions ' || (SELECT count(*) FROM (SELECT DISTINCT task, item FROM results)) FROM results;
END
}
failed() {
  cat "$scratch/said" >&2
  echo "import: nothing was imported from '$2'" >&2
  exit 1
}

# A new database is made in a directory of its own beside its place, and linked into its
# place when it is complete.  A link never replaces a file: when another import has made
# the database meanwhile, or the file system has no links, this import is done again, in
# place.  In place, too, where a journal lies without its database: SQLite deletes such a
# journal when it makes a database, but would play it back into one that is linked there.
if ! test -e "$database" && ! test -e "$database-journal" && ! test -e "$database-wal" &&
  beside=$(mktemp -d "$(dirname "$database")/.import.XXXXXX" 2>/dev/null); then
  into "$beside/new.db" || failed "$@"
  ln "$beside/new.db" "$database" 2>/dev/null && { cat "$scratch/said"; exit; }
fi
into "$database" || failed "$@"
cat "$scratch/said"
