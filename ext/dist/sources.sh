#!/bin/sh
# The sources that a platform is built from, as Debian keeps them: GSL and musl, whose
# parts go into the library, SQLite and libmd, which run its tests; and zlib, by which the
# page in a browser reads archives.
#
#   ext/dist/sources.sh DIRECTORY
set -e
apt=$(cd "$(dirname "$0")" && pwd)/apt.sh
mkdir -p "$1" && cd "$1"
packages="gsl sqlite3 musl libmd zlib libzstd"
"$apt" . deb-src "$(dpkg --print-architecture)" source --download-only $packages
for package in $packages; do
  rm -rf "$package"
  dpkg-source --no-check -x "$package"_*.dsc "$package" >/dev/null
done

# GSL's headers are where each part has them; its programs include them from one place.
mkdir -p gsl/include/gsl
find "$PWD/gsl" -name 'gsl_*.h' -not -path '*/include/*' -exec ln -sf -t gsl/include/gsl {} +

# SQLite in one file.
(cd sqlite3 && ./configure --disable-tcl >/dev/null && make -s sqlite3.c >/dev/null)

# What the built files are made of, for whoever asks for the source.
for package in gsl musl; do
  echo "$package $(sed -n 's/^Version: //p' "$package"_*.dsc | tail -n 1)"
done >versions.txt
