#!/bin/sh
# sqlite-utils, one process per statement: see check.py.
set -e
database=$1 extension=$2 setup=$3 queries=$4
query() { sqlite-utils query "$database" "$@" --load-extension "$extension"; }

sqlite-utils create-database "$database"
while IFS= read -r statement; do query "$statement" >/dev/null; done <"$setup"
while IFS= read -r statement; do query "$statement" --arrays --nl; done <"$queries"
