#!/bin/sh
# A machine that lacks what make needs: who may install it does, who may not is
# told what to ask root for.  The machine is played by a directory of programs
# that stands for PATH; nothing is installed here.
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
passed=0 failed=0
mkdir "$dir/bin"
for tool in sh make uname sed grep printf mkdir rm test; do ln -s "$(command -v $tool)" "$dir/bin/$tool"; done
ln -s "$(command -v env)" "$dir/bin/env"

# play NAME BODY: a program of that name for the machine.
play() { printf '#!/bin/sh\n%s\n' "$2" >"$dir/bin/$1"; chmod +x "$dir/bin/$1"; }
play dpkg-query 'exit 1'
play apt-get "echo \"\$@\" >>$dir/installed"

# expect STATUS TEXT NAME MAKE...: make ends so, and says TEXT.
expect() {
  status=$1 text=$2 name=$3; shift 3
  : >"$dir/installed"
  out=$(PATH="$dir/bin" make -s CC=absent SO=build/absent.so "$@" 2>&1); rc=$?
  if [ "$rc" = "$status" ] && printf '%s\n' "$out" | grep -qF -- "$text"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED %s: expected status %s and "%s", got status %s and:\n%s\n' "$name" "$status" "$text" "$rc" "$out"
  fi
}
# installed PACKAGES: by the last make, these and no others.
installed() {
  wanted=${1:+"-qq update
-qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $1"}
  if [ "$(cat "$dir/installed")" = "$wanted" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED wanted '$1' to be installed, got:"; cat "$dir/installed"
  fi
}
build='gcc libc6-dev libgsl-dev libsqlite3-dev zlib1g-dev libzstd-dev'

play id 'echo 1000'
expect 2 "ask root for: apt-get install $build" "neither root nor sudo, make" all
installed ''
expect 2 "ask root for: apt-get install $build sqlite3" "neither root nor sudo, make demo" demo
installed ''
play sudo 'echo "sudo: not for you" >&2; exit 1'
expect 2 "ask root for: apt-get install $build" "sudo refuses" all
installed ''
play sudo 'exec "$@"'
expect 2 "installing: $build" "by sudo" all
installed "$build"
play id 'echo 0'
rm "$dir/bin/sudo"
expect 2 "installing: $build" "as root" all
installed "$build"
rm "$dir/bin/apt-get"
expect 2 "not a Debian machine; if what follows fails, install the like of: $build" "elsewhere" all

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
