#!/bin/sh
# The sources that a platform is built from, as Debian keeps them: GSL and musl, whose
# parts go into the library, SQLite and libmd, which run its tests; and zlib, by which the
# page in a browser reads archives.
#
#   ext/dist/sources.sh DIRECTORY
#
# apt is given lists of its own in DIRECTORY, so that a machine without deb-src lines
# needs none and is left as it was; what it fetches is checked by Debian's signature.
set -e
mkdir -p "$1" && cd "$1"
mkdir -p apt/lists/partial apt/cache apt/parts
# Debian's own lines, in whichever of the two formats; not those of others.
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  test -f "$file" && grep -q 'debian\.org\|/debian' "$file" || continue
  case $file in
    *.sources) sed 's/^Types:.*/Types: deb-src/' "$file" >"apt/parts/$(basename "$file")" ;;
    *.list) sed -n 's/^deb \(.*debian.*\)/deb-src \1/p' "$file" >"apt/parts/$(basename "$file")" ;;
  esac
done
fetch() {
  apt-get -qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$PWD/apt/parts" \
    -o "Dir::State::Lists=$PWD/apt/lists" -o "Dir::Cache=$PWD/apt/cache" -o APT::Sandbox::User=root "$@"
}
fetch update
packages="gsl sqlite3 musl libmd zlib"
fetch source --download-only $packages
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
