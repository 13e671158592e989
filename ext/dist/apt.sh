#!/bin/sh
# Debian's apt-get for what this machine has not: its sources, or another architecture.
#
#   ext/dist/apt.sh DIRECTORY deb-src|deb ARCHITECTURE ARGUMENT...
#
# apt is given lists of its own in DIRECTORY/apt, as of a machine where nothing is
# installed, so that this one needs no lines for them and is left as it was; what it
# fetches is checked by Debian's signature.
set -e
mkdir -p "$1/apt" && apt=$(cd "$1/apt" && pwd)
type=$2 architecture=$3
shift 3
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts"
: >"$apt/status"
# Debian's own lines, in whichever of the two formats; not those of others.
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  test -f "$file" && grep -q 'debian\.org\|/debian' "$file" || continue
  case $file in
    *.sources) sed "s/^Types:.*/Types: $type/" "$file" >"$apt/parts/$(basename "$file")" ;;
    *.list) sed -n "s/^deb \(.*debian.*\)/$type \1/p" "$file" >"$apt/parts/$(basename "$file")" ;;
  esac
done
apt_get() {
  apt-get -qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$apt/parts" -o "Dir::State::Lists=$apt/lists" \
    -o "Dir::State::Status=$apt/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root \
    -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" "$@"
}
apt_get update
apt_get "$@"
