#!/bin/sh
# Tests a machine that lacks packages.  Plain make names them and touches nothing.  The
# targets that install packages do so if they may, and else print the command for root.
# A directory of programs, used as PATH, imitates the machine, and make runs in a copy of
# the tree; the test installs nothing.
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
passed=0 failed=0
mkdir "$dir/bin" "$dir/tree"
cp -R Makefile ext sql "$dir/tree"
(cd "$dir/tree" && find . | sort) >"$dir/before"
for tool in sh make uname sed grep printf mkdir rm test env; do ln -s "$(command -v $tool)" "$dir/bin/$tool"; done

# play NAME BODY: puts a program of that name on the imitated machine.
play() { printf '#!/bin/sh\n%s\n' "$2" >"$dir/bin/$1"; chmod +x "$dir/bin/$1"; }
play dpkg-query 'exit 1'
play apt-get "echo \"\$@\" >>$dir/installed"

# check NAME COMMAND...: checks that the command succeeds.
check() {
  name=$1; shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $name"; fi
}
# expect STATUS TEXT NAME MAKE...: checks that make exits with STATUS and prints TEXT.
expect() {
  status=$1 text=$2 name=$3; shift 3
  : >"$dir/installed"
  out=$(PATH="$dir/bin" make -s -C "$dir/tree" --no-print-directory CC="${cc:-absent}" "$@" 2>&1); rc=$?
  if [ "$rc" = "$status" ] && printf '%s\n' "$out" | grep -qF -- "$text"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED %s: expected status %s and "%s", got status %s and:\n%s\n' "$name" "$status" "$text" "$rc" "$out"
  fi
}
# installed PACKAGES: checks that the last make installed these and no others.
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
untouched() { (cd "$dir/tree" && find . | sort) | cmp -s - "$dir/before"; }
build='gcc libc6-dev libgsl-dev libsqlite3-dev zlib1g-dev libzstd-dev'

play id 'echo 0'
expect 2 "missing: $build" "plain make, as root, names what is missing"
installed ''
expect 2 "to install: sudo apt-get install $build" "plain make names the command that installs it"
installed ''
# A compiler that finds every header but GSL's.
play cc 'while read -r line; do case $line in *gsl*) exit 1;; esac; done'
cc=cc
expect 2 "to install: sudo apt-get install libgsl-dev" "without GSL alone, plain make names GSL alone"
installed ''
check "of which nothing else is named" [ "$(printf '%s\n' "$out" | grep -c 'missing: libgsl-dev$')" = 1 ]
check "plain make touches nothing" untouched
cc=absent

play id 'echo 1000'
expect 2 "ask root for: apt-get install $build sqlite3" "neither root nor sudo, make demo" demo
installed ''
expect 2 "ask root for: apt-get install $build sqlite3 libmd-dev" "neither root nor sudo, make test" test
installed ''
play sudo 'echo "sudo: not for you" >&2; exit 1'
expect 2 "ask root for: apt-get install $build sqlite3" "sudo refuses" demo
installed ''
play sudo 'exec "$@"'
expect 2 "installing: $build sqlite3" "by sudo" demo
installed "$build sqlite3"
play id 'echo 0'
rm "$dir/bin/sudo"
expect 2 "installing: $build sqlite3" "as root" demo
installed "$build sqlite3"
rm "$dir/bin/apt-get"
expect 2 "not a Debian machine; if the next step fails, install what corresponds to: $build sqlite3" "elsewhere" demo
expect 2 "missing: $build (Debian's names)" "elsewhere, plain make"

# In a fresh tree each program makes the files that its sources include.
for program in build/bin/evalci build/sanitized/evalci; do
  made=$(make -n -C "$dir/tree" "$program" 2>&1)
  check "$program is made of sources alone" test "$(printf '%s\n' "$made" | grep -c '>build/sql/.*\.inc$')" = 2
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
