#!/bin/sh
# isql over SQLite's ODBC driver, which gives numbers as text: see check.py.
set -e
database=$1 extension=$2 setup=$3 queries=$4
ask() { isql -b "$@" -k "Driver=SQLite3;Database=$database;LoadExt=$extension"; }

ask <"$setup" >/dev/null
ask '-d|' <"$queries"
