#!/bin/sh
# Debian's apt-get for packages that this machine's own cannot give: sources, or another
# architecture.
#
#   ext/dist/apt.sh DIRECTORY deb-src|deb ARCHITECTURE ARGUMENT...
#
# apt gets lists of its own in DIRECTORY/apt, as on a machine where nothing is installed, so
# this machine's configuration stays as it is.  Debian's signature verifies what it fetches.
set -e
mkdir -p "$1/apt" && apt=$(cd "$1/apt" && pwd)
type=$2 architecture=$3
shift 3
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts"
: >"$apt/status"
# Only Debian's own lines, in either of the two formats.
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
