#!/bin/sh
# Installs the Debian packages that a make target needs.
#
#   ext/dist/need.sh PACKAGE...          installs the missing ones, as root or by sudo, and says which
#   ext/dist/need.sh --name PACKAGE...   names the missing ones, installs nothing, fails if there are any
name=
if [ "$1" = --name ]; then name=1; shift; fi
missing=
for package; do
  dpkg-query -W -f '${Status}' "$package" 2>&- | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
  if [ -n "$name" ]; then
    echo "missing:$missing (Debian's names); install the packages of this system that correspond" >&2
    exit 1
  fi
  echo "this is not a Debian machine; if the next step fails, install what corresponds to:$missing"
  exit 0
fi
if [ -n "$name" ]; then
  printf 'missing:%s\nto install: sudo apt-get install%s\n' "$missing" "$missing" >&2
  exit 1
fi

if [ "$(id -u)" = 0 ]; then sudo=; elif command -v sudo >/dev/null; then sudo=sudo; else sudo=false; fi
[ "$sudo" = false ] || echo "installing:$missing"
{ $sudo apt-get -qq update && $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 \
  install -y --no-install-recommends $missing; } >/dev/null || {
  echo "cannot install the missing packages; ask root for: apt-get install$missing" >&2
  exit 1
}
