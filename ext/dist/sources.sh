#!/bin/sh
# Fetches the sources that a platform is built from, from Debian: GSL and musl, of which parts
# go into the library; SQLite, zlib and zstd, which also go into the program and the page; and
# libmd, which the tests need.
#
#   ext/dist/sources.sh DIRECTORY
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && cd "$1"
packages="gsl sqlite3 musl libmd zlib libzstd"
"$here/apt.sh" . deb-src "$(dpkg --print-architecture)" source --download-only $packages
for package in $packages; do
  rm -rf "$package"
  dpkg-source --no-check -x "$package"_*.dsc "$package" >/dev/null
done

# GSL keeps each header beside its part, but includes them from one folder.
mkdir -p gsl/include/gsl
find "$PWD/gsl" -name 'gsl_*.h' -not -path '*/include/*' -exec ln -sf -t gsl/include/gsl {} +

# The amalgamation of SQLite.
(cd sqlite3 && ./configure --disable-tcl >/dev/null && make -s sqlite3.c >/dev/null)

# The licences and versions of the included libraries, for those who ask for the source.
for licence in musl/COPYRIGHT zlib/LICENSE libzstd/LICENSE; do
  printf '\n----------------------------------------\n\n'
  cat $licence
done | cat "$here/notices.txt" - >notices.txt
for package in gsl musl sqlite3 zlib libzstd; do
  echo "$package $(sed -n 's/^Version: //p' "$package"_*.dsc | tail -n 1)"
done >versions.txt
